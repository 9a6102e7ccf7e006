/* galpha sweep: many runs of a model, with other parameters in each. */
#ifdef __linux__
#define _GNU_SOURCE /* sched_getaffinity */
#include <sched.h>
#else
#define _POSIX_C_SOURCE 200809L
#endif
#include "sweep.h"

#include "interrupt.h"
#include "sweep_ranks.h"

#include "galpha/result.h"
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define POLL 0.05       /* [s] between looks at progress and signals, */
#define POLL_RANKS 1e-4 /* and at messages of other ranks */
enum { FEW_FAILURES = 5, FEW_COLUMNS = 24 };

typedef struct sweep {
  app_study o;
  ga_study *study;
  char *out, *journal;
  long jobs, n_runs;
  int quiet;
  app_progress progress;
  double began;
  app_ranks ranks;
  app_sweep_ranks others; /* rank 0 */
  int has_journal;        /* 1: it is open, so that it is this sweep's */
  int lost;               /* 1: messages have failed */
} sweep;

/* ---- Files ---- */

/* Processors that this process may use. */
long app_n_processors(void)
{
#ifdef __linux__
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0) return CPU_COUNT(&set);
#endif
  const long n = sysconf(_SC_NPROCESSORS_ONLN);
  return n > 0 ? n : 1;
}

/* 1: the file is a table of a sweep, which may be replaced. */
static int is_table(const sweep *w, const char *path)
{
  char begin[5] = "", *format = NULL;
  int is = 0;
  if (app_ends_in(path, ".csv")) {
    FILE *file = fopen(path, "rb");
    is = file && fread(begin, 1, 4, file) == 4 && strcmp(begin, "run,") == 0;
    if (file) fclose(file);
    return is;
  }
  if (ga_tables_text(w->o.ctx, path, "format", &format) == GA_OK)
    is = strncmp(format, "galpha sweep ", 13) == 0;
  ga_tables_free(w->o.ctx, format);
  return is;
}

static int choose_files(sweep *w)
{
  const app_arguments *a = w->o.a;
  const char *given = app_text(a, "out");
  w->out = given ? calloc(strlen(given) + 1, 1) : app_beside(a->operands[0], "_sweep.h5");
  if (w->out && given) strcpy(w->out, given);
  w->journal = w->out ? calloc(strlen(w->out) + 6, 1) : NULL;
  if (!w->journal) return fputs("galpha: out of memory\n", stderr), APP_FAILED;
  strcat(strcpy(w->journal, w->out), ".runs");
  if (!app_ends_in(w->out, ".h5") && !app_ends_in(w->out, ".csv"))
    return app_misused(a, "-o: %s ends neither in .h5 nor in .csv", w->out);
  const int error = app_output_check(w->out);
  if (error) return app_output_refused(a, w->out, error);
  if (access(w->out, F_OK) == 0 && !is_table(w, w->out))
    return app_misused(a, "%s exists and is not the table of a sweep", w->out);
  return APP_DONE;
}

/* 1: the table on the disk has all runs of this sweep. */
static int is_complete(const sweep *w)
{
  char *digest = NULL, now[32];
  double *rows = NULL;
  int n = 0, columns = 0, is = 0;
  if (app_ends_in(w->out, ".csv") || access(w->out, F_OK) != 0) return 0;
  snprintf(now, sizeof now, "%016llx", ga_study_digest(w->study));
  if (ga_tables_text(w->o.ctx, w->out, "digest", &digest) == GA_OK)
    is = strcmp(digest, now) == 0 &&
         ga_tables_numbers(w->o.ctx, w->out, "values", &n, &columns, &rows) == GA_OK && n == w->n_runs;
  for (int i = 0; is && i < n; i++) is = rows[(size_t)i * (size_t)columns + (size_t)columns - 2] >= 0.0;
  ga_tables_free(w->o.ctx, digest);
  ga_tables_free(w->o.ctx, rows);
  return is;
}

/* ---- Creation ---- */

static int check_settings(sweep *w)
{
  ga_run_settings settings = *ga_model_settings(ga_study_model(w->study));
  const app_arguments *a = w->o.a;
  app_settings_take(a, &settings);
  ga_run_choose_steps(&settings, app_has(a, "step"), app_has(a, "tol"), app_has(a, "accuracy"));
  return app_settings_unused(a, &settings);
}

static int create(sweep *w)
{
  const app_arguments *a = w->o.a;
  const int resume = app_has(a, "resume"), waits = access(w->journal, F_OK) == 0;
  ga_study_opts o = ga_study_defaults();
  o.model = a->operands[0];
  o.allow_library = app_has(a, "allow-library");
  o.design = w->o.design;
  o.n_measures = w->o.n_measures;
  o.measures = (const char *const *)w->o.measures;
  o.labels = (const char *const *)w->o.labels;
  o.n_signals = w->o.n_signals;
  o.signals = (const char *const *)w->o.signals;
  o.settings = &w->o.settings;
  o.n_given = w->o.n_given;
  o.given = w->o.given;
  o.resume = resume;
  o.journal = w->ranks.rank == 0 && (waits || !resume) ? w->journal : NULL;
  ga_status status = ga_study_create(w->o.ctx, &o, &w->study);
  const ga_model *model = ga_study_model(w->study);
  if (model && w->ranks.rank == 0 && (status || !w->quiet)) app_print_messages(model);
  if (status && model && !ga_model_machine(model))
    return fprintf(stderr, "%s: the model has errors\n", o.model), APP_USAGE;
  if (status) {
    const int code = app_study_explain(&w->o, status);
    if (ga_context_error(w->o.ctx)->reason != GA_REASON_JOURNAL_UNFINISHED) return code;
    fprintf(stderr, "  --resume continues it; without the file a sweep begins anew\n");
    return APP_USAGE;
  }
  w->has_journal = o.journal != NULL;
  w->n_runs = ga_design_n_runs(w->o.design);
  if (!resume || waits || w->ranks.rank > 0) return check_settings(w);
  if (is_complete(w)) return check_settings(w);
  ga_study_destroy(&w->study); /* there is no journal: one is begun */
  o.journal = w->journal;
  status = ga_study_create(w->o.ctx, &o, &w->study);
  w->has_journal = !status;
  return status ? app_study_explain(&w->o, status) : check_settings(w);
}

/* ---- Runs ---- */

static void show_progress(sweep *w)
{
  char text[120];
  const long done = ga_study_n_done(w->study), failed = ga_study_n_failed(w->study);
  if (!app_progress_count_due(&w->progress, (double)done)) return;
  snprintf(text, sizeof text, failed ? "%ld of %ld runs, %ld failed" : "%ld of %ld runs", done, w->n_runs,
           failed);
  app_progress_count_show(&w->progress, (double)done, text);
}

static int poll(void *user, ga_study *study)
{
  sweep *w = user;
  (void)study;
  if (w->ranks.f && !app_sweep_serve(&w->others, 0)) w->lost = 1;
  show_progress(w);
  return w->lost || app_stop_asked() != 0;
}

/* ---- The end ---- */

static void print_columns(const sweep *w)
{
  const int n = ga_study_n_measures(w->study);
  for (int i = 0; i < n && i < FEW_COLUMNS; i++) {
    double least = INFINITY, most = -INFINITY;
    long known = 0, at_least = 0, at_most = 0;
    for (long run = 0; run < w->n_runs; run++) {
      const double x = ga_study_values(w->study, run)[i];
      if (isnan(x)) continue;
      known++;
      if (x < least) least = x, at_least = run;
      if (x > most) most = x, at_most = run;
    }
    const char *unit = ga_study_unit(w->study, i);
    const int plain = strcmp(unit, "1") == 0;
    if (known == 0)
      printf("  %s: no run has a value\n", ga_study_label(w->study, i));
    else
      printf("  %s: %.6g%s%s (run %ld) to %.6g%s%s (run %ld)\n", ga_study_label(w->study, i), least,
             plain ? "" : " ", plain ? "" : unit, at_least, most, plain ? "" : " ", plain ? "" : unit,
             at_most);
    if (known > 0 && known < w->n_runs)
      printf("    %ld of %ld runs without a value\n", w->n_runs - known, w->n_runs);
  }
}

/* The first runs of a status, with their texts. */
static void list_runs(const sweep *w, ga_study_status status, long n, const char *what)
{
  int shown = 0;
  if (n == 0) return;
  fprintf(stderr, "warning: %ld of %ld runs %s:\n", n, w->n_runs, what);
  for (long run = 0; run < w->n_runs && shown < FEW_FAILURES; run++)
    if (ga_study_status_of(w->study, run) == status) {
      fprintf(stderr, "  run %ld: %s\n", run, ga_study_text(w->study, run));
      shown++;
    }
  if (shown < n) fprintf(stderr, "  and %ld more, with their texts in %s\n", n - shown, w->out);
}

static int report(sweep *w, int stopped)
{
  char time[32];
  const long done = ga_study_n_done(w->study);
  app_duration(time, sizeof time, app_clock() - w->began);
  list_runs(w, GA_STUDY_FAILED, ga_study_n_failed(w->study), "failed");
  list_runs(w, GA_STUDY_INACCURATE, ga_study_n_inaccurate(w->study), "did not reach the accuracy");
  if (stopped) {
    fprintf(stderr, "galpha %s: stopped after %ld of %ld runs; --resume continues\n", w->o.a->command->name,
            done, w->n_runs);
    return APP_FAILED;
  }
  if (!w->quiet) {
    printf("%ld run%s in %s\n", done, done == 1 ? "" : "s", time);
    print_columns(w);
    printf("table in %s\n", w->out);
  }
  return ga_study_n_failed(w->study) == w->n_runs ? APP_FAILED : APP_DONE;
}

static int explain(const sweep *w, ga_status status)
{
  const int code = app_study_explain(&w->o, status);
  if (status == GA_ERR_FILE) fprintf(stderr, "  finished runs are in %s\n", w->journal);
  return code;
}

static int run(sweep *w)
{
  const long before = ga_study_n_done(w->study);
  if (w->others.idle) {
    if (!w->quiet) printf("%s has all %ld runs: nothing to do\n", w->out, w->n_runs);
    return APP_DONE;
  }
  if (before > 0 && !w->quiet) printf("%ld of %ld runs were finished before\n", before, w->n_runs);
  fflush(stdout);
  app_catch_signals();
  w->began = app_clock();
  app_progress_start(&w->progress, w->quiet, 0.0, (double)before, (double)w->n_runs);
  ga_status status = ga_study_run(w->study, (int)w->jobs, w->ranks.f ? POLL_RANKS : POLL, poll, w);
  app_progress_clear(&w->progress);
  if (status && status != GA_STOPPED) return explain(w, status);
  const int stopped = status == GA_STOPPED;
  if (w->lost) fprintf(stderr, "galpha %s: a rank cannot be reached any more\n", w->o.a->command->name);
  status = ga_study_write(w->study, w->out);
  if (status) return explain(w, status);
  if (!stopped) unlink(w->journal);
  return report(w, stopped);
}

/* Everything but the runs. */
static int prepare(sweep *w)
{
  const app_arguments *a = w->o.a;
  int code = app_integer(a, "jobs", 1, 1024, &w->jobs);
  if (!code && w->ranks.size > 1 && w->jobs > 1)
    code = app_misused(a, "--jobs %ld: with several ranks each makes one run at a time; more ranks make more",
                       w->jobs);
  if (!code && w->o.n_measures + w->o.n_signals == 0)
    code = app_misused(a, "MEASURE is missing: what is measured in each run, as 'max(NAME)' of a signal");
  if (!code) code = choose_files(w);
  if (!code) code = create(w);
  w->others = (app_sweep_ranks){.ranks = &w->ranks, .study = w->study};
  return code;
}

/* Whether messages go to the standard error: what one rank says, all would say. */
static void hear(int yes)
{
  static int kept = -1;
  fflush(stderr);
  if (!yes) {
    const int nowhere = open("/dev/null", O_WRONLY);
    kept = nowhere >= 0 ? dup(STDERR_FILENO) : -1;
    if (kept >= 0) dup2(nowhere, STDERR_FILENO);
    if (nowhere >= 0) close(nowhere);
  } else if (kept >= 0) {
    dup2(kept, STDERR_FILENO);
    close(kept);
    kept = -1;
  }
}

/* Rank 0 is told why a rank is not prepared. */
static int work_for_rank_0(sweep *w, int code)
{
  const ga_error *e = w->o.ctx ? ga_context_error(w->o.ctx) : NULL;
  return app_sweep_work(&w->others, code, e && *e->text ? e->text : "it is not prepared");
}

int app_sweep(const app_arguments *a)
{
  sweep w = {.quiet = app_has(a, "quiet")};
  int code = app_ranks_open(&w.ranks);
  if (code) return code;
  w.jobs = w.ranks.size > 1 ? 1 : app_n_processors();
  if (w.ranks.rank > 0) hear(0);
  code = app_study_open(&w.o, a);
  if (!code) code = prepare(&w);
  if (w.ranks.rank > 0) hear(1);
  w.others.ranks = &w.ranks;
  if (w.ranks.rank > 0) {
    code = work_for_rank_0(&w, code);
  } else {
    w.others.idle = !code && app_has(a, "resume") && is_complete(&w);
    if (w.ranks.f) code = app_sweep_greet(&w.others, code);
    if (!code) code = run(&w);
  }
  const int unused = w.has_journal && ga_study_n_done(w.study) == 0;
  const int gives_up =
      w.ranks.f && w.ranks.rank == 0 && w.study && !w.others.idle && ga_study_n_done(w.study) < w.n_runs;
  ga_study_destroy(&w.study);
  if (unused) unlink(w.journal);
  app_study_close(&w.o);
  free(w.out);
  free(w.journal);
  free(w.others.message);
  if (gives_up && code == APP_FAILED) w.ranks.f->give_up(code); /* others may wait, or compute for long */
  app_ranks_close(&w.ranks);
  return code;
}
