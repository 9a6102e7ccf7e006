/* Workers, which make the runs of a sweep, and threads of them. */
#define _POSIX_C_SOURCE 200809L
#include "study/study.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- One worker ---- */

struct ga_study_worker {
  const ga_study *study;
  const volatile int *stop;
  ga_context *ctx;
  ga__sets sets;
  ga__outcome out;         /* of the last run, */
  double *before, *scales; /* measures of the one before, [n_measures] each */
  char text[GA_ERROR_TEXT];
};

static void on_log(void *user, ga_log_level level, const ga_error *message)
{
  ga_study_worker *w = user;
  if (level != GA_LOG_WARNING) return;
  w->out.warnings++;
  ga__trial_note(&w->out, message->text);
}

void ga_study_worker_destroy(ga_study_worker **worker)
{
  if (!worker || !*worker) return;
  ga_study_worker *w = *worker;
  ga_context *ctx = w->ctx;
  if (ctx) {
    ga__study_sets_free(ctx, &w->sets);
    ga__free(ctx, w->out.measures);
    ga__free(ctx, w->before);
    ga_context_destroy(&ctx);
  }
  free(w);
  *worker = NULL;
}

ga_status ga_study_worker_create(const ga_study *study, const volatile int *stop, ga_study_worker **out)
{
  if (out) *out = NULL;
  if (!study) return GA_ERR_ARGUMENT;
  if (!out) return GA_ERR_ARGUMENT;
  ga_study_worker *w = calloc(1, sizeof *w);
  ga_context_opts opts = ga_context_defaults();
  const size_t width = (size_t)ga_study_width(study), n = (size_t)study->trial.n_measures;
  if (!w) return GA_ERR_MEMORY;
  opts.log = on_log;
  opts.log_user = w;
  w->study = study;
  w->stop = stop;
  ga_status status = ga_context_create(&opts, &w->ctx);
  if (!status) status = ga__study_sets_create(study, w->ctx, &w->sets);
  if (!status) {
    w->out.measures = ga__alloc(w->ctx, width + 1, sizeof(double));
    w->before = ga__alloc(w->ctx, 2 * n + 1, sizeof(double));
    if (!w->out.measures || !w->before) status = GA_ERR_MEMORY;
  }
  if (status) {
    ga_study_worker_destroy(&w);
    return status;
  }
  w->out.series = w->out.measures + n;
  w->out.scales = w->scales = w->before + n;
  *out = w;
  return GA_OK;
}

const ga_error *ga_study_worker_error(const ga_study_worker *worker)
{
  return worker ? ga_context_error(worker->ctx) : NULL;
}

/* ---- Rounds with smaller tolerances ---- */

enum { MOST_ROUNDS = 5 };
#define FINER 0.1 /* tolerance from round to round */
#define FINEST 1e-12

static int round_of(ga_study_worker *w, const ga_model *model, const ga_run_settings *settings,
                    ga_status *status)
{
  w->out.warnings = 0;
  w->out.text[0] = '\0';
  *status = ga__trial_run(w->ctx, &w->study->trial, model, settings, w->sets.n_varied, w->sets.parameter,
                          w->stop, &w->out, NULL);
  return *status == GA_OK;
}

/* The measure that has changed most from round to round, over what is allowed; NaN in one of both only
 * counts. */
static double largest_change(const ga_study_worker *w, double accuracy, int *worst)
{
  double most = 0.0;
  *worst = -1;
  for (int i = 0; i < w->study->trial.n_measures; i++) {
    const double a = w->before[i], b = w->out.measures[i];
    double change = fabs(a - b) / (accuracy * w->scales[i]);
    if (a == b || (isnan(a) && isnan(b))) change = 0.0;
    if (isnan(change)) change = INFINITY;
    if (change > most) most = change, *worst = i;
  }
  return most;
}

/* All tolerances by one factor. */
static void refine(ga_run_settings *o, double by)
{
  double *const all[] = {&o->tolerance, &o->atol, &o->rtol_v, &o->atol_v, &o->rtol_x, &o->atol_x};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) *all[i] *= by;
}

/* A smaller tolerance has failed: the round before counts, which is made again. */
static ga_status keep_last(ga_study_worker *w, const ga_model *model, ga_run_settings *settings,
                           ga_study_status *row)
{
  char why[GA_ERROR_TEXT / 2];
  ga_status status;
  ga__cut_text(why, sizeof why, ga_context_error(w->ctx)->text);
  refine(settings, 1.0 / FINER);
  *row = GA_STUDY_INACCURATE;
  if (round_of(w, model, settings, &status))
    snprintf(w->out.text, sizeof w->out.text, "a tolerance ten times smaller fails: %s", why);
  return status;
}

/* Rounds until measures change by less than the accuracy. */
static ga_status make_rounds(ga_study_worker *w, const ga_model *model, ga_run_settings settings,
                             ga_study_status *row)
{
  const double accuracy = settings.accuracy;
  const size_t n = (size_t)w->study->trial.n_measures;
  int known = 0, worst = -1; /* 1: there is a round before */
  double change = INFINITY;
  ga_status status = GA_OK;
  for (int i = 0; i < MOST_ROUNDS && settings.tolerance >= FINEST; i++, refine(&settings, FINER)) {
    if (!round_of(w, model, &settings, &status)) {
      if (status == GA_STOPPED || status == GA_ERR_MEMORY) return status;
      if (known) return keep_last(w, model, &settings, row);
      continue; /* a smaller tolerance may do */
    }
    if (n == 0) return GA_OK;
    if (known && (change = largest_change(w, accuracy, &worst)) <= 1.0) return GA_OK;
    memcpy(w->before, w->out.measures, n * sizeof(double));
    known = 1;
  }
  if (status) return status;
  *row = GA_STUDY_INACCURATE;
  if (worst < 0)
    snprintf(w->out.text, sizeof w->out.text, "the tolerance is too small to be lowered");
  else
    snprintf(w->out.text, sizeof w->out.text,
             "%s changes by %.2g times the accuracy with a tolerance ten times smaller",
             w->study->labels[worst], change);
  return GA_OK;
}

/* ---- Runs ---- */

/* Why a model was not built, or a run failed. */
static void explain(ga_study_worker *w, const ga_model *model)
{
  for (int i = 0; model && i < ga_model_n_messages(model); i++) {
    const ga_model_message *m = ga_model_message_at(model, i);
    if (m->level != GA_MESSAGE_ERROR) continue;
    if (m->line > 0)
      snprintf(w->text, sizeof w->text, "%s:%d:%d: %s", m->file, m->line, m->column, m->text);
    else
      snprintf(w->text, sizeof w->text, "%s", m->text);
    return;
  }
  ga__cut_text(w->text, sizeof w->text, ga_context_error(w->ctx)->text);
}

ga_status ga_study_compute(ga_study_worker *worker, long run, ga_study_row *row)
{
  if (!worker || !row) return GA_ERR_ARGUMENT;
  ga_study_worker *w = worker;
  const int width = ga_study_width(w->study);
  ga_model *model = NULL;
  ga_run_settings settings;
  ga_study_status result = GA_STUDY_DONE;
  if (run < 0 || run >= w->study->n_runs)
    return ga__refuse_number(w->ctx, "sweep", "run", (double)run, "a number of its runs");
  ga_status status = ga_design_values(w->study->design, run, w->sets.value);
  if (!status) status = ga__study_sets_fill(w->study, run, &w->sets);
  w->out.text[0] = w->text[0] = '\0';
  if (!status) status = ga__trial_open(w->ctx, &w->study->trial, w->sets.n, w->sets.set, &model, &settings);
  if (ga_model_is_outdated(w->study->model)) {
    ga_model_destroy(&model);
    return ga__study_outdated(w->ctx, w->study->trial.model, "sweep");
  }
  w->out.warnings = 0;
  const int opened = !status;
  if (opened && settings.accuracy > 0.0)
    status = make_rounds(w, model, settings, &result);
  else if (opened)
    round_of(w, model, &settings, &status);
  if (status && status != GA_STOPPED && status != GA_ERR_MEMORY) {
    explain(w, opened ? NULL : model);
    for (int i = 0; i < w->study->trial.n_measures; i++) w->out.measures[i] = NAN;
    for (int i = w->study->trial.n_measures; !opened && i < width; i++) w->out.measures[i] = NAN;
    result = GA_STUDY_FAILED;
    status = GA_OK;
  }
  ga_model_destroy(&model);
  *row = (ga_study_row){.run = run,
                        .status = result,
                        .warnings = w->out.warnings,
                        .text = result == GA_STUDY_FAILED ? w->text : w->out.text,
                        .values = w->out.measures};
  return status;
}

/* ---- Threads ---- */

typedef struct crew {
  ga_study *study;
  volatile int stop;
  int working; /* threads; changed with the lock held, as status and error */
  ga_status status;
  ga_error error;
  pthread_mutex_t lock;
  pthread_cond_t changed;
} crew;

/* Keeps the first failure of a thread, and stops the others. */
static void fail(crew *c, ga_status status, const ga_error *error)
{
  pthread_mutex_lock(&c->lock);
  if (!c->status) {
    c->status = status;
    c->error = *error;
  }
  c->stop = 1;
  pthread_mutex_unlock(&c->lock);
}

static void *work(void *user)
{
  crew *c = user;
  ga_study_worker *w = NULL;
  ga_study_row row;
  ga_error none = {.status = GA_ERR_MEMORY, .reason = GA_REASON_MEMORY, .name = "a run"};
  ga_status status = ga_study_worker_create(c->study, &c->stop, &w);
  if (status) fail(c, status, &none);
  for (long run; !status && !c->stop && (run = ga_study_take(c->study)) >= 0;) {
    status = ga_study_compute(w, run, &row);
    if (status && status != GA_STOPPED) fail(c, status, ga_study_worker_error(w));
    if (!status && (status = ga_study_store(c->study, &row)) != GA_OK) fail(c, status, &c->study->ctx->error);
  }
  ga_study_worker_destroy(&w);
  pthread_mutex_lock(&c->lock);
  c->working--;
  pthread_cond_signal(&c->changed);
  pthread_mutex_unlock(&c->lock);
  return NULL;
}

/* Waits for threads, or for what other processes do, at most for some time. Returns how many threads work. */
static int wait_for_threads(crew *c, double seconds)
{
  struct timespec until;
  pthread_mutex_lock(&c->lock);
  const int none = c->working == 0;
  pthread_mutex_unlock(&c->lock);
  if (none) {
    const struct timespec pause = {(time_t)seconds, (long)(1e9 * fmod(seconds, 1.0))};
    nanosleep(&pause, NULL);
    return 0;
  }
  clock_gettime(CLOCK_REALTIME, &until);
  const double whole = floor(seconds), rest = (double)until.tv_nsec + 1e9 * (seconds - whole);
  until.tv_sec += (time_t)whole + (rest >= 1e9);
  until.tv_nsec = (long)(rest >= 1e9 ? rest - 1e9 : rest);
  pthread_mutex_lock(&c->lock);
  if (c->working > 0) pthread_cond_timedwait(&c->changed, &c->lock, &until);
  const int left = c->working;
  pthread_mutex_unlock(&c->lock);
  return left;
}

static int start_threads(crew *c, int jobs, pthread_t *thread)
{
  int n = 0;
  c->working = jobs;
  while (n < jobs && pthread_create(&thread[n], NULL, work, c) == 0) n++;
  pthread_mutex_lock(&c->lock);
  c->working -= jobs - n;
  pthread_mutex_unlock(&c->lock);
  return n;
}

ga_status ga_study_run(ga_study *study, int jobs, double poll_seconds, ga_study_poll_fn poll, void *user)
{
  enum { MOST_JOBS = 1024 };
  if (!study) return GA_ERR_ARGUMENT;
  if (jobs < 0 || jobs > MOST_JOBS) return ga__refuse_number(study->ctx, "sweep", "jobs", jobs, "0 to 1024");
  if (!(poll_seconds > 0.0))
    return ga__refuse_number(study->ctx, "sweep", "poll_seconds", poll_seconds, "> 0");
  crew c = {.study = study};
  int stopped = 0;
  pthread_t *thread = ga__alloc(study->ctx, (size_t)jobs + 1, sizeof *thread);
  if (!thread) return ga__no_memory(study->ctx, "threads");
  pthread_mutex_init(&c.lock, NULL);
  pthread_cond_init(&c.changed, NULL);
  const int n = start_threads(&c, jobs, thread);
  if (n == 0 && jobs > 0) c.status = ga__no_memory(study->ctx, "a thread"), c.error = study->ctx->error;
  while (!c.status) {
    const int working = wait_for_threads(&c, poll_seconds), asked = poll && !stopped ? poll(user, study) : 0;
    if (asked) c.stop = stopped = 1;
    if (working == 0 && (stopped || ga_study_n_done(study) == study->n_runs)) break;
  }
  c.stop |= c.status != GA_OK;
  for (int i = 0; i < n; i++) pthread_join(thread[i], NULL);
  if (!c.status && poll && !stopped) poll(user, study); /* for the last rows */
  pthread_cond_destroy(&c.changed);
  pthread_mutex_destroy(&c.lock);
  ga__free(study->ctx, thread);
  if (c.status) study->ctx->error = c.error;
  if (!c.status && !stopped) c.status = ga__study_check_model(study);
  return c.status ? c.status : stopped ? GA_STOPPED : GA_OK;
}
