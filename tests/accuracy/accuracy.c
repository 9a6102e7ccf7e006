/* How accurate the program's results are, and whether its error bars hold: every model given is run by the
 * program itself and compared with a solution by small equal steps, extrapolated to step 0.
 *
 *   accuracy bars [--accuracy A] [--least SHARE] MODEL...     coverage of error bars
 *   accuracy defaults [--accuracy A] MODEL...                 models with nothing set: right, or told
 *   accuracy scan [--accuracy A] MODEL...                     errors against tolerances, as a table
 *
 * GALPHA names the program. One line for each model; exit code 1 where error bars hold in less than SHARE of
 * a model's records (default 0.95), or a model cannot be run. */
#define _POSIX_C_SOURCE 200809L
#include "galpha/galpha.h"
#include "galpha/model.h"
#include "galpha/result.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
  MOST_SECONDS = 10,  /* of the processor, for one run */
  RECORDS = 500,      /* intervals of the output */
  FIRST_STEPS = 4000, /* equal steps of the coarsest solution */
  MOST_LEVELS = 7,
  MOST_ARGUMENTS = 32
};
#define RESOLVED                                                                                             \
  3.0 /* as in src/result/band.c, of which this is the same with the truth instead of error bars */
#define STRONG 30.0
#define NOISE 1e-8
#define ABSENT 1e-9
#define DIGITS 1e-11
#define NOTHING 1e-15
#define ALONE 1e-1
#define POOR                                                                                                 \
  1e-4 /* of the largest range of the unit: so much doubt of what is true is too much for "constant" */
#define ROUNDING 1e-9    /* of that range: less is no error */
#define GOOD_TRUTH 2e-6  /* of the scale: the solution is good enough */
#define LEAST_TRUTH 1e-3 /* of the scale: less is no measure */
#define LONG_RUN 1.5     /* [s] of the processor: no smaller steps after that */

typedef struct table {
  long n;         /* records */
  int m, rows;    /* signals; and error bars */
  double *values; /* [rows][n] */
  double seconds; /* of the processor */
} table;

typedef struct subject {
  const char *model;
  char name[64];
  char folder[64]; /* for results */
  ga_context *ctx;
  double t_start, t_end, every;
  double gravity;    /* [m/s²] */
  ga_result *labels; /* names and units of the signals */
  table truth;
  double *doubt;         /* [m][n] how much the last two levels of the truth differ */
  double *scale, *noise; /* [m] what errors are compared with; what is rounding */
  double worst_doubt;    /* relative to the scales */
} subject;

static const char *program(void)
{
  const char *name = getenv("GALPHA");
  return name ? name : "galpha";
}

/* ---- Running the program ---- */

static double children_seconds(void)
{
  struct rusage u;
  getrusage(RUSAGE_CHILDREN, &u);
  return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
         1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

/* Its exit code; −1: it could not be started. What it says goes to `log`. */
static int run_program(const char *const *argument, const char *log)
{
  int status = 0;
  const pid_t child = fork();
  if (child < 0) return -1;
  if (child == 0) {
    const struct rlimit most = {MOST_SECONDS, MOST_SECONDS + 1};
    setrlimit(RLIMIT_CPU, &most);
    if (!freopen(log, "w", stderr) || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) _exit(126);
    execvp(argument[0], (char *const *)(size_t)argument);
    _exit(127);
  }
  while (waitpid(child, &status, 0) < 0) continue;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

static ga_status read_table(subject *s, const char *file, table *out)
{
  ga_result *r = NULL;
  ga_status status = ga_result_open(s->ctx, file, &r);
  if (status) return status;
  out->n = ga_result_n_records(r);
  out->m = ga_result_n_signals(r);
  out->rows = ga_result_error(r, 0) < 0 ? out->m : 2 * out->m;
  out->values = calloc((size_t)out->rows * (size_t)out->n + 1, sizeof(double));
  if (!out->values) status = GA_ERR_MEMORY;
  for (int i = 0; !status && i < out->rows; i++)
    status = ga_result_read(r, i, 0, out->n, out->values + (size_t)i * (size_t)out->n);
  if (!s->labels && !status) /* open as long as the subject, so no other run may have its file */
    s->labels = r;
  else
    ga_result_close(&r);
  return status;
}

/* Runs the model with these options (NULL ends them) and reads its signals; 0: it could not be done. */
static int run_model(subject *s, const char *const options[], table *out)
{
  char file[128], log[128], every[64];
  const char *argument[MOST_ARGUMENTS] = {
      program(), "run", s->model, "-q", "-o", file, "--output", every, "--checkpoint-every", "0"};
  int n = 10;
  for (int i = 0; options[i] && n < MOST_ARGUMENTS - 1; i++) argument[n++] = options[i];
  snprintf(file, sizeof file, "%s/%s.h5", s->folder, s->labels ? "run" : "labels");
  snprintf(log, sizeof log, "%s/log.txt", s->folder);
  snprintf(every, sizeof every, "%.17g", s->every);
  const double before = children_seconds();
  const int code = run_program(argument, log);
  out->seconds = children_seconds() - before;
  if (code != 0 || read_table(s, file, out)) return 0;
  return 1;
}

static double *row(const table *t, int i)
{
  return t->values + (size_t)i * (size_t)t->n;
}

/* ---- The solution by equal steps ---- */

static int is_component(const char *name, const char *kind)
{
  const size_t n = strlen(name);
  return n > 3 && name[n - 3] == '.' && name[n - 2] == 'q' && strchr(kind, name[n - 1]) != NULL;
}

/* Where a quaternion has the other sign than that of `with`, it gets that. */
static void align(const subject *s, table *t, const table *with)
{
  for (int i = 0; i < t->m; i++) {
    if (!is_component(ga_result_signal_name(s->labels, i), "w")) continue;
    for (long k = 0; k < t->n; k++) {
      double same = 0.0;
      for (int j = i; j < i + 4 && j < t->m; j++) same += row(t, j)[k] * row(with, j)[k];
      for (int j = i; same < 0.0 && j < i + 4 && j < t->m; j++) row(t, j)[k] = -row(t, j)[k];
    }
  }
}

static int is_energy(const subject *s, int i)
{
  return strncmp(ga_result_signal_name(s->labels, i), "energy.", 7) == 0;
}

static int same_unit(const subject *s, int i, int j)
{
  if (is_energy(s, i) || is_energy(s, j)) return is_energy(s, i) && is_energy(s, j);
  return strcmp(ga_result_signal_unit(s->labels, i), ga_result_signal_unit(s->labels, j)) == 0;
}

static int same_object(const subject *s, int i, int j)
{
  const char *a = ga_result_signal_name(s->labels, i), *b = ga_result_signal_name(s->labels, j);
  const char *end = strrchr(a, '.');
  const size_t n = end ? (size_t)(end - a) + 1 : 0;
  return n > 0 && strncmp(a, b, n) == 0 && !strchr(b + n, '.');
}

typedef struct extent {
  double range, middle, size, doubt; /* of what is true; the largest doubt of it */
} extent;

static extent extent_of(const subject *s, int i)
{
  extent x = {0};
  double low = row(&s->truth, i)[0], high = low;
  for (long k = 0; k < s->truth.n; k++) {
    low = fmin(low, row(&s->truth, i)[k]);
    high = fmax(high, row(&s->truth, i)[k]);
    x.doubt = fmax(x.doubt, s->doubt[(size_t)i * (size_t)s->truth.n + (size_t)k]);
  }
  x.range = strcmp(ga_result_signal_name(s->labels, i), "energy.kinetic") == 0 ? high : high - low;
  x.middle = 0.5 * fabs(low + high);
  x.size = fmax(fabs(low), fabs(high));
  return x;
}

static int stands_out(const extent *x, double value, double known)
{
  return value > RESOLVED * x->doubt && value > fmax(DIGITS * x->size, NOTHING) &&
         (value > STRONG * x->doubt || value > (known > 0.0 ? NOISE * known : ABSENT));
}

/* What errors of signal i are compared with; 0: nothing has its unit and moves. */
static double scale_of(const subject *s, const extent *x, int i)
{
  double known = strcmp(ga_result_signal_unit(s->labels, i), "m/s^2") == 0 ? s->gravity : 0.0, near = 0.0;
  for (int j = 0; j < s->truth.m; j++) {
    if (!same_unit(s, i, j) || !stands_out(&x[j], x[j].range, 0.0)) continue;
    known = fmax(known, x[j].range);
    if (same_object(s, i, j)) near = fmax(near, x[j].range);
  }
  s->noise[i] = ROUNDING * known;
  if (is_energy(s, i)) return known;
  if (stands_out(&x[i], x[i].range, known) || (known > 0.0 && x[i].doubt > POOR * known)) return x[i].range;
  if (stands_out(&x[i], x[i].middle, known)) return known > 0.0 ? fmin(x[i].middle, known) : x[i].middle;
  return near > 0.0 ? near : ALONE * known;
}

static int find_scales(subject *s)
{
  const size_t m = (size_t)s->truth.m;
  extent *x = calloc(m + 1, sizeof *x);
  if (!s->scale) s->scale = calloc(m + 1, sizeof *s->scale);
  if (!s->noise) s->noise = calloc(m + 1, sizeof *s->noise);
  if (!x || !s->scale || !s->noise) return free(x), 0;
  for (size_t i = 0; i < m; i++) x[i] = extent_of(s, (int)i);
  for (size_t i = 0; i < m; i++) s->scale[i] = scale_of(s, x, (int)i);
  free(x);
  return 1;
}

/* fine + (fine − coarse)/3, into coarse. */
static void extrapolate(table *coarse, const table *fine)
{
  for (size_t i = 0; i < (size_t)coarse->m * (size_t)coarse->n; i++)
    coarse->values[i] = fine->values[i] + (fine->values[i] - coarse->values[i]) / 3.0;
}

/* What a and b differ by is what the truth is in doubt of; the largest of it over the scales. */
static double compare(subject *s, const table *a, const table *b)
{
  double worst = 0.0;
  for (size_t i = 0; i < (size_t)a->m * (size_t)a->n; i++) s->doubt[i] = fabs(a->values[i] - b->values[i]);
  if (!find_scales(s)) return HUGE_VAL;
  for (int i = 0; i < a->m; i++)
    for (long k = 0; s->scale[i] > 0.0 && k < a->n; k++)
      worst = fmax(worst, (s->doubt[(size_t)i * (size_t)a->n + (size_t)k] - s->noise[i]) / s->scale[i]);
  return worst;
}

/* Halves the step until two extrapolated solutions agree, or it takes too long. */
static int solve(subject *s)
{
  table coarse = {0}, fine = {0}, last = {0};
  char step[64];
  const char *options[] = {"--step", step, NULL};
  for (int level = 0; level <= MOST_LEVELS; level++) {
    snprintf(step, sizeof step, "%.17g", (s->t_end - s->t_start) / (FIRST_STEPS << level));
    if (!run_model(s, options, &fine)) return free(coarse.values), free(fine.values), last.values != NULL;
    if (coarse.values) {
      if (fine.n != coarse.n) return 0;
      align(s, &coarse, &fine);
      extrapolate(&coarse, &fine);
      s->truth = coarse;
      if (!s->doubt) s->doubt = calloc((size_t)coarse.m * (size_t)coarse.n + 1, sizeof(double));
      if (last.values) {
        align(s, &last, &coarse);
        s->worst_doubt = compare(s, &coarse, &last);
      } else {
        s->worst_doubt = HUGE_VAL;
      }
      free(last.values);
      last = coarse;
      if (s->worst_doubt < GOOD_TRUTH || fine.seconds > LONG_RUN) break;
    }
    coarse = fine;
    fine.values = NULL;
  }
  free(fine.values);
  return s->worst_doubt < HUGE_VAL;
}

static int open_subject(subject *s, const char *model)
{
  ga_model *m = NULL;
  ga_model_opts opts = ga_model_defaults();
  *s = (subject){.model = model};
  const char *slash = strrchr(model, '/');
  snprintf(s->name, sizeof s->name, "%.*s", (int)strcspn(slash ? slash + 1 : model, "."),
           slash ? slash + 1 : model);
  strcpy(s->folder, "/tmp/galpha-accuracy-XXXXXX");
  if (!mkdtemp(s->folder) || ga_context_create(NULL, &s->ctx)) return 0;
  if (ga_model_read_file(s->ctx, model, &opts, &m)) return ga_model_destroy(&m), 0;
  s->t_start = ga_model_settings(m)->t_start;
  s->t_end = ga_model_settings(m)->t_end;
  s->every = (s->t_end - s->t_start) / RECORDS;
  s->gravity = ga_machine_gravity(ga_model_machine(m));
  ga_model_destroy(&m);
  return solve(s);
}

static void close_subject(subject *s)
{
  char file[128];
  static const char *const left[] = {"labels.h5", "run.h5", "run.h5.part", "log.txt"};
  for (int i = 0; i < 4; i++) snprintf(file, sizeof file, "%s/%s", s->folder, left[i]), remove(file);
  remove(s->folder);
  ga_result_close(&s->labels);
  ga_context_destroy(&s->ctx);
  free(s->truth.values);
  free(s->doubt);
  free(s->scale);
  free(s->noise);
}

/* ---- Errors ---- */

/* Largest error over scale; *signal: whose. */
static double worst_error(const subject *s, const table *t, int *signal)
{
  double worst = 0.0;
  *signal = 0;
  for (int i = 0; i < t->m; i++)
    for (long k = 0; s->scale[i] > 0.0 && k < t->n; k++) {
      const double off = (fabs(row(t, i)[k] - row(&s->truth, i)[k]) - s->noise[i]) / s->scale[i];
      if (off > worst || off != off) worst = off, *signal = i;
    }
  return worst;
}

typedef struct coverage {
  long held, missed, unknown; /* numbers: signals at records */
  double worst;               /* error over error bar, the largest */
  double bar;                 /* largest error bar over scale */
  int signal;                 /* that misses most */
} coverage;

static coverage cover(const subject *s, const table *t)
{
  coverage c = {0};
  long most = 0;
  for (int i = 0; i < t->m; i++) {
    const double *value = row(t, i), *bar = row(t, t->m + i), *truth = row(&s->truth, i);
    long missed = 0;
    for (long k = 0; k < t->n; k++) {
      const double off = fabs(value[k] - truth[k]), doubt = s->doubt[(size_t)i * (size_t)t->n + (size_t)k];
      if (s->scale[i] > 0.0) c.bar = fmax(c.bar, bar[k] / s->scale[i]);
      if (off <= bar[k] + s->noise[i])
        c.held++;
      else if (doubt > 0.3 * off)
        c.unknown++;
      else
        missed++, c.worst = fmax(c.worst, off / bar[k]);
    }
    c.missed += missed;
    if (missed > most) most = missed, c.signal = i;
  }
  return c;
}

static int check_bars(subject *s, const char *accuracy, double least)
{
  const char *options[] = {"--accuracy", accuracy, NULL};
  table t = {0};
  if (!run_model(s, options, &t) || t.rows != 2 * t.m || t.n != s->truth.n) {
    printf("not ok - %s: the run with error bars failed\n", s->name);
    free(t.values);
    return 0;
  }
  align(s, &s->truth, &t);
  const coverage c = cover(s, &t);
  int signal;
  const double error = worst_error(s, &t, &signal), share = (double)c.held / (double)(c.held + c.missed);
  const int good = share >= least;
  printf("%s - %s: bars hold in %.4f of %ld numbers (%ld not known); largest bar %.2e, error %.2e (%s); "
         "truth to "
         "%.1e; %.2f s",
         good ? "ok" : "not ok", s->name, share, c.held + c.missed, c.unknown, c.bar, error,
         ga_result_signal_name(s->labels, signal), s->worst_doubt, t.seconds);
  if (c.missed) printf("; misses most: %s", ga_result_signal_name(s->labels, c.signal));
  putchar('\n');
  fflush(stdout);
  free(t.values);
  return good;
}

/* 1: the log of the last run says that the accuracy is not reached; the words are those of app/bars.c. */
static int was_told(const subject *s)
{
  char file[128], line[1024];
  int told = 0;
  snprintf(file, sizeof file, "%s/log.txt", s->folder);
  FILE *log = fopen(file, "r");
  while (log && fgets(line, sizeof line, log))
    told |= strstr(line, "is not reached") || strstr(line, "Smaller ones would take long");
  if (log) fclose(log);
  return told;
}

/* A run with nothing set: all signals within the accuracy, or a warning that they are not. */
static int check_defaults(subject *s, double accuracy)
{
  const char *options[] = {NULL};
  table t = {0};
  if (!run_model(s, options, &t) || t.rows != 2 * t.m || t.n != s->truth.n) {
    printf("not ok - %s: failed, or something is set in the model\n", s->name);
    free(t.values);
    return 0;
  }
  align(s, &s->truth, &t);
  int signal;
  const int told = was_told(s);
  const double error = worst_error(s, &t, &signal);
  const char *verdict = error <= accuracy              ? "right"
                        : told                         ? "told"
                        : s->worst_doubt > 0.3 * error ? "not known"
                                                       : "WRONG";
  printf("%s - %s: %s%s, largest error %.2e (%s); truth to %.1e; %.2f s\n",
         strcmp(verdict, "WRONG") ? "ok" : "not ok", s->name, verdict,
         told && error <= accuracy ? " but warned of" : "", error, ga_result_signal_name(s->labels, signal),
         s->worst_doubt, t.seconds);
  fflush(stdout);
  free(t.values);
  return strcmp(verdict, "WRONG") != 0;
}

/* Error and cost of every error control at tolerances 1e-2 to 1e-8: "name control tolerance error seconds
 * signal"; and of a run with error bars. */
static void scan(subject *s, const char *accuracy)
{
  if (s->worst_doubt > LEAST_TRUTH) { /* forces of n_four_bar where it lies flat */
    fprintf(stderr, "%s: what is true is known to %.1e only\n", s->name, s->worst_doubt);
    return;
  }
  static const char *const control[] = {"per_step", "per_unit_step", "per_unit_step_filtered", "accuracy"};
  for (int c = 0; c < 4; c++)
    for (int k = 2; k <= 8; k++) {
      char tolerance[16];
      const int bars = c == 3;
      const char *options[] = {bars ? "--accuracy" : "--tol", bars ? accuracy : tolerance,
                               bars ? NULL : "--error", control[c], NULL};
      table t = {0};
      int signal = 0;
      if ((bars && k > 2) || (c > 0 && !bars && (k % 2 || k > 6))) continue; /* every other one is enough */
      snprintf(tolerance, sizeof tolerance, "1e-%d", k);
      const int good = run_model(s, options, &t) && t.n == s->truth.n;
      if (good) align(s, &s->truth, &t);
      const double error = good ? worst_error(s, &t, &signal) : NAN;
      printf("%s %s %s %.3e %.4f %s\n", s->name, control[c], bars ? accuracy : tolerance, error, t.seconds,
             good ? ga_result_signal_name(s->labels, signal) : "failed");
      fflush(stdout);
      free(t.values);
    }
}

int main(int argc, char **argv)
{
  const char *accuracy = "1e-3";
  double least = 0.95;
  int bad = 0;
  const char *what = argc > 2 ? argv[1] : "";
  if (strcmp(what, "bars") != 0 && strcmp(what, "scan") != 0 && strcmp(what, "defaults") != 0)
    return fputs("accuracy: bars, defaults or scan, and models\n", stderr), 2;
  for (int i = 2; i < argc; i++) {
    subject s;
    if (strcmp(argv[i], "--accuracy") == 0 && i + 1 < argc) {
      accuracy = argv[++i];
      continue;
    }
    if (strcmp(argv[i], "--least") == 0 && i + 1 < argc) {
      least = strtod(argv[++i], NULL);
      continue;
    }
    if (!open_subject(&s, argv[i])) {
      printf("not ok - %s: no solution by equal steps\n", argv[i]);
      bad++;
    } else if (strcmp(what, "bars") == 0)
      bad += !check_bars(&s, accuracy, least);
    else if (strcmp(what, "defaults") == 0)
      bad += !check_defaults(&s, strtod(accuracy, NULL));
    else
      scan(&s, accuracy);
    close_subject(&s);
  }
  return bad > 0;
}
