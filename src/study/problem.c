/* Runs of a model as a function of some of its parameters. Derivatives are those of the runs themselves, by
 * sensitivities; where these are refused, differences of runs, whose steps follow from the noise of the runs.
 * Runs of one point are made by several threads; what they give does not depend on how many. */
#define _POSIX_C_SOURCE 200809L
#include "study/problem.h"

#include "mbs/name.h"
#include <float.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- Opening ---- */

static const char *parameter_at(const void *model, int i)
{
  ga_model_parameter p;
  return ga_model_parameter_at(model, i, &p) ? p.name : "";
}

/* Bounds may then be decades apart, and its own size is what matters. */
static int has_one_sign(const ga__varied *v)
{
  return v->lower >= 0.0 || v->upper <= 0.0;
}

/* What steps of derivatives are a part of: its size, and, where it may become 0, a part of its scale at
 * least. */
static double size_of(const ga__varied *v, double p, double part)
{
  const int never_zero = v->lower > 0.0 || v->upper < 0.0;
  return never_zero ? fabs(p) : fmax(fabs(p), (has_one_sign(v) ? fmin(part, 1e-2) : part) * v->scale);
}

static ga_status find_start(ga__problem *pr, ga__varied *v)
{
  ga_model_parameter p;
  const int at = ga_model_find_parameter(pr->model, v->name);
  int n = 0;
  char nearest[GA_TEXT_PIECE] = "";
  if (at < 0) {
    while (ga_model_parameter_at(pr->model, n, NULL)) n++;
    ga__name_nearest(nearest, v->name, (int)strlen(v->name), parameter_at, pr->model, n);
    return ga__study_refuse(pr->ctx, "parameter", v->name, NULL, nearest, "the model has none of this name");
  }
  ga_model_parameter_at(pr->model, at, &p);
  if (isnan(v->start)) {
    v->start = p.value;
    if (v->start < v->lower || v->start > v->upper)
      return ga__study_refuse(pr->ctx, "parameter", v->name, "a start, as NAME=START:LOWER:UPPER", NULL,
                              "the model's value, %.6g, is outside of its bounds, %.6g to %.6g", v->start,
                              v->lower, v->upper);
  }
  if (strcmp(p.unit, "1") != 0) snprintf(v->known, sizeof v->known, "%s", p.unit);
  const double span = v->upper - v->lower;
  v->scale = fabs(v->start);
  if (!has_one_sign(v) && isfinite(span) && v->scale < 1e-2 * span) v->scale = 1e-2 * span;
  if (v->scale == 0.0 && isfinite(v->lower)) v->scale = fabs(v->lower);
  if (v->scale == 0.0 && isfinite(v->upper)) v->scale = fabs(v->upper);
  if (v->scale == 0.0)
    return ga__study_refuse(pr->ctx, "parameter", v->name, "bounds, as NAME=0:-1:1", NULL,
                            "it starts at 0, and nothing says by how much it may change");
  return GA_OK;
}

static ga_status check_sets(ga__problem *pr)
{
  for (int e = -1; e < pr->n_experiments; e++) {
    const int n = e < 0 ? pr->n_set : pr->experiment[e].n_set;
    const char *const *set = e < 0 ? pr->set : pr->experiment[e].set;
    for (int i = 0; i < n; i++)
      for (int j = 0; j < pr->n; j++) {
        const size_t length = strlen(pr->varied[j].name), before = strspn(set[i], " ");
        if (strncmp(set[i] + before, pr->varied[j].name, length) == 0 &&
            set[i][before + length + strspn(set[i] + before + length, " ")] == '=')
          return ga__study_refuse(pr->ctx, "parameter", pr->varied[j].name, NULL, NULL,
                                  "it is both varied and set to a value");
      }
  }
  return GA_OK;
}

/* What the reader is given: constants, then the parameters that vary. Unit 1: with the units of their texts,
 * which are checked by it. */
typedef struct sets {
  int n;
  const char **set;
  char (*text)[3 * GA_TEXT_PIECE];
} sets;

static void free_sets(ga_context *ctx, sets *s)
{
  ga__free(ctx, s->set);
  ga__free(ctx, s->text);
}

static ga_status make_sets(ga_context *ctx, const ga__problem *pr, const ga__experiment *e, const double *p,
                           int units, sets *out)
{
  const size_t n = (size_t)pr->n_set + (size_t)e->n_set + (size_t)pr->n;
  *out = (sets){.set = ga__alloc(ctx, n + 1, sizeof *out->set),
                .text = ga__alloc(ctx, (size_t)pr->n + 1, sizeof *out->text)};
  if (!out->set || !out->text) return ga__no_memory(ctx, "parameters of a run");
  for (int i = 0; i < pr->n_set; i++) out->set[out->n++] = pr->set[i];
  for (int i = 0; i < e->n_set; i++) out->set[out->n++] = e->set[i];
  for (int j = 0; j < pr->n && p; j++) {
    snprintf(out->text[j], sizeof out->text[j], "%s=%.17g %s", pr->varied[j].name, p[j],
             units ? pr->varied[j].unit : "");
    out->set[out->n++] = out->text[j];
  }
  return GA_OK;
}

/* The model with the values of a point; NULL: its own. */
static ga_status open_model(ga__problem *pr, const double *p)
{
  sets s;
  ga_run_settings settings;
  ga_model_destroy(&pr->model);
  ga_status status = make_sets(pr->ctx, pr, &pr->experiment[0], p, 1, &s);
  if (!status) status = ga__trial_open(pr->ctx, &pr->experiment[0].trial, s.n, s.set, &pr->model, &settings);
  free_sets(pr->ctx, &s);
  return status;
}

ga_status ga__problem_open(ga__problem *pr, int n, const char *const *vary)
{
  double start[GA__MOST_VARIED];
  if (n < 1)
    return ga__study_refuse(pr->ctx, "parameter", "", "NAME=START:LOWER:UPPER", NULL, "none is varied");
  if (n > GA__MOST_VARIED)
    return ga__study_refuse(pr->ctx, "parameter", vary[GA__MOST_VARIED], NULL, NULL,
                            "more than %d are varied", GA__MOST_VARIED);
  ga_status status = GA_OK;
  for (int j = 0; j < n && !status; j++) {
    status = ga__varied_read(pr->ctx, vary[j], &pr->varied[j]);
    for (int k = 0; k < j && !status; k++)
      if (strcmp(pr->varied[k].name, pr->varied[j].name) == 0)
        status = ga__study_refuse(pr->ctx, "parameter", vary[j], NULL, NULL, "it is given twice");
    pr->n = j + 1;
  }
  if (!status) status = check_sets(pr);
  if (!status) status = open_model(pr, NULL);
  for (int j = 0; j < n && !status; j++) {
    status = find_start(pr, &pr->varied[j]);
    start[j] = pr->varied[j].start;
  }
  return status ? status : open_model(pr, start);
}

void ga__problem_lay_out(ga__problem *pr)
{
  pr->n_values = 0;
  for (int e = 0; e < pr->n_experiments; e++) {
    const ga__trial *t = &pr->experiment[e].trial;
    pr->experiment[e].at = pr->n_values;
    pr->n_values += (size_t)t->n_measures + (size_t)t->n_signals * (size_t)t->n_times;
  }
}

void ga__problem_close(ga__problem *pr)
{
  ga_model_destroy(&pr->model);
}

int ga__problem_settings(const ga_run_settings *model, const ga_run_settings *given, int n_given,
                         const char *const *names, ga_run_settings *out)
{
  const double fine = 1e-6;
  int tolerance = 0;
  *out = *model;
  for (int i = 0; i < n_given; i++) {
    ga_setting at;
    if (!ga_setting_find(names[i], &at)) continue;
    memcpy((char *)out + at.offset, (const char *)given + at.offset,
           at.type == GA_SETTING_NUMBER ? sizeof(double) : sizeof(int));
    tolerance |= strcmp(at.name, "tolerance") == 0;
    if (strcmp(at.name, "step") == 0 || strcmp(at.name, "tolerance") == 0) out->accuracy = 0.0;
    if (strcmp(at.name, "tolerance") == 0) out->step = 0.0;
  }
  const int chosen = out->accuracy > 0.0 && !tolerance && out->step == 0.0;
  if (chosen) out->tolerance = fmin(out->tolerance, fine);
  out->accuracy = 0.0;
  return chosen;
}

void ga__problem_refine(ga__problem *pr)
{
  const double finer = 1e-8;
  for (int e = 0; e < pr->n_experiments; e++) {
    ga_run_settings *s = pr->experiment[e].chosen;
    if (s) s->tolerance = fmin(s->tolerance, finer);
  }
}

/* ---- Evaluations ---- */

ga_status ga__search_point_create(const ga__problem *pr, ga__search_point *e)
{
  const size_t n = (size_t)pr->n;
  *e = (ga__search_point){0};
  e->p = ga__alloc(pr->ctx, n + (n + 2) * pr->n_values + 1, sizeof *e->p);
  if (!e->p) return ga__no_memory(pr->ctx, "values of runs");
  e->values = e->p + n;
  e->scales = e->values + pr->n_values;
  e->slopes = e->scales + pr->n_values;
  return GA_OK;
}

void ga__search_point_destroy(const ga__problem *pr, ga__search_point *e)
{
  ga__free(pr->ctx, e->p);
  *e = (ga__search_point){0};
}

/* ---- One run ---- */

typedef struct task {
  int experiment, exact;
  const double *p;
  double *values, *scales; /* [n_values] of the point: the part of the experiment is written */
  double *slopes;          /* [n × n_values] likewise */
  ga_status status;        /* of the run; GA_ERR_MEMORY and GA_STOPPED are those of all */
  int refused;             /* 1: exact derivatives are */
  int outdated;            /* 1: the model's files have changed, which ends everything */
  char text[GA_ERROR_TEXT];
} task;

static void explain(task *k, const ga_context *ctx, const ga_model *model)
{
  for (int i = 0; model && i < ga_model_n_messages(model); i++) {
    const ga_model_message *m = ga_model_message_at(model, i);
    if (m->level != GA_MESSAGE_ERROR) continue;
    snprintf(k->text, sizeof k->text, "%s", m->text);
    return;
  }
  ga__cut_text(k->text, sizeof k->text, ga_context_error((ga_context *)ctx)->text);
}

/* δ of p ± 2δ, which are within the bounds unless p is as good as at one. */
static double step_within(const ga__varied *v, double p)
{
  const double step = 1e-3 * size_of(v, p, 1e-2), room = fmin(p - v->lower, v->upper - p);
  return 2.0 * step > room && 0.4 * room > 1e-3 * step ? 0.4 * room : step;
}

static ga_status vary_model(const ga__problem *pr, ga_context *ctx, const task *k, const ga_model *model,
                            const sets *s, ga_model_variation **variation)
{
  const ga__trial *t = &pr->experiment[k->experiment].trial;
  ga_model_opts opts = ga_model_defaults();
  ga_status status = GA_OK;
  opts.n_set = s->n;
  opts.set = s->set;
  opts.allow_library = t->allow_library;
  opts.without_meshes = 1;
  for (int j = 0; j < pr->n && !status; j++) {
    status = ga_model_variation_create(ctx, model, t->model, &opts, pr->varied[j].name,
                                       step_within(&pr->varied[j], k->p[j]), &variation[j]);
  }
  return status;
}

typedef struct bench {            /* memory of a run with derivatives */
  ga_model_variation **variation; /* [n] */
  int *number;                    /* [n] */
  ga_study_parameter *parameter;  /* [n] */
  double *slopes;                 /* [n × values of the experiment], measures of all, then series of all */
} bench;

static void free_bench(const ga__problem *pr, ga_context *ctx, bench *b)
{
  for (int j = 0; b->variation && j < pr->n; j++) ga_model_variation_destroy(&b->variation[j]);
  ga__free(ctx, b->variation);
  ga__free(ctx, b->number);
  ga__free(ctx, b->parameter);
  ga__free(ctx, b->slopes);
}

static ga_status make_bench(const ga__problem *pr, ga_context *ctx, const task *k, size_t width, bench *b)
{
  const size_t n = (size_t)pr->n;
  *b = (bench){.variation = ga__alloc(ctx, n, sizeof *b->variation),
               .number = ga__alloc(ctx, n, sizeof *b->number),
               .parameter = ga__alloc(ctx, n, sizeof *b->parameter),
               .slopes = ga__alloc(ctx, k->exact ? n * width + 1 : 1, sizeof *b->slopes)};
  if (!b->variation || !b->number || !b->parameter || !b->slopes)
    return ga__no_memory(ctx, "derivatives of a run");
  for (int j = 0; j < pr->n; j++) {
    b->number[j] = j;
    b->parameter[j] = (ga_study_parameter){pr->varied[j].name, pr->varied[j].known, k->p[j]};
  }
  return GA_OK;
}

static void keep_slopes(const ga__problem *pr, task *k, size_t width, const double *slopes)
{
  const ga__experiment *e = &pr->experiment[k->experiment];
  const size_t measures = (size_t)e->trial.n_measures, series = width - measures;
  for (size_t j = 0; j < (size_t)pr->n; j++) {
    double *to = k->slopes + j * pr->n_values + e->at;
    if (measures) memcpy(to, slopes + j * measures, measures * sizeof *to);
    if (series) memcpy(to + measures, slopes + (size_t)pr->n * measures + j * series, series * sizeof *to);
  }
}

static void make_run(const ga__problem *pr, ga_context *ctx, task *k, const volatile int *stop)
{
  const ga__experiment *e = &pr->experiment[k->experiment];
  const size_t width = (size_t)e->trial.n_measures + (size_t)e->trial.n_signals * (size_t)e->trial.n_times;
  ga_model *model = NULL;
  ga_run_settings settings;
  sets s = {0};
  bench b = {0};
  ga__outcome out = {.measures = k->values + e->at,
                     .scales = k->scales + e->at,
                     .series = k->values + e->at + e->trial.n_measures};
  k->refused = 0;
  k->status = make_sets(ctx, pr, e, k->p, 0, &s);
  if (!k->status) k->status = make_bench(pr, ctx, k, width, &b);
  if (!k->status) k->status = ga__trial_open(ctx, &e->trial, s.n, s.set, &model, &settings);
  if (!k->status && k->exact && (k->status = vary_model(pr, ctx, k, model, &s, b.variation)) != GA_OK)
    k->refused = 1;
  k->outdated = ga_model_is_outdated(pr->model);
  const int opened = model && ga_model_machine(model);
  if (!k->status) {
    ga__derived d = {.n = pr->n,
                     .by = b.variation,
                     .parameter = b.number,
                     .measures = b.slopes,
                     .series = b.slopes + (size_t)pr->n * (size_t)e->trial.n_measures};
    k->status =
        ga__trial_run(ctx, &e->trial, model, &settings, pr->n, b.parameter, stop, &out, k->exact ? &d : NULL);
    if (k->exact) {
      k->refused = d.refused;
      if (!k->status) keep_slopes(pr, k, width, b.slopes);
      if (*d.text) ga__cut_text(k->text, sizeof k->text, d.text); /* also of a corner */
    }
  }
  if (k->status && !(k->refused && *k->text)) explain(k, ctx, opened ? NULL : model);
  free_bench(pr, ctx, &b);
  free_sets(ctx, &s);
  ga_model_destroy(&model);
}

/* ---- Threads ---- */

typedef struct team {
  const ga__problem *pr;
  task *task;
  int n, next, working; /* changed with the lock held */
  volatile int stop;
  pthread_mutex_t lock;
  pthread_cond_t changed;
} team;

static task *take_task(team *t)
{
  pthread_mutex_lock(&t->lock);
  task *k = t->next < t->n && !t->stop ? &t->task[t->next++] : NULL;
  pthread_mutex_unlock(&t->lock);
  return k;
}

/* With one thread its memory is the caller's, who waits. */
static void *work(void *user)
{
  team *t = user;
  ga_context_opts opts = ga_context_defaults();
  ga_context *ctx = NULL;
  if (t->pr->jobs <= 1) {
    opts = t->pr->ctx->opts;
    opts.log = NULL;
  }
  const ga_status status = ga_context_create(&opts, &ctx);
  for (task *k; (k = take_task(t)) != NULL;) {
    k->status = status;
    if (!status) make_run(t->pr, ctx, k, &t->stop);
  }
  ga_context_destroy(&ctx);
  pthread_mutex_lock(&t->lock);
  t->working--;
  pthread_cond_signal(&t->changed);
  pthread_mutex_unlock(&t->lock);
  return NULL;
}

/* Returns how many threads work, after some time at most. */
static int wait_for_threads(team *t, double seconds)
{
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  const double whole = floor(seconds), rest = (double)until.tv_nsec + 1e9 * (seconds - whole);
  until.tv_sec += (time_t)whole + (rest >= 1e9);
  until.tv_nsec = (long)(rest >= 1e9 ? rest - 1e9 : rest);
  pthread_mutex_lock(&t->lock);
  if (t->working > 0) pthread_cond_timedwait(&t->changed, &t->lock, &until);
  const int left = t->working;
  pthread_mutex_unlock(&t->lock);
  return left;
}

static ga_status make_runs(ga__problem *pr, int n, task *list)
{
  team t = {.pr = pr, .task = list, .n = n};
  const int jobs = pr->jobs < 1 ? 1 : pr->jobs < n ? pr->jobs : n;
  pthread_t *thread = ga__alloc(pr->ctx, (size_t)jobs + 1, sizeof *thread);
  int started = 0, stopped = 0;
  if (!thread) return ga__no_memory(pr->ctx, "threads");
  for (int i = 0; i < n; i++) list[i].status = GA_STOPPED;
  pthread_mutex_init(&t.lock, NULL);
  pthread_cond_init(&t.changed, NULL);
  t.working = jobs;
  while (started < jobs && pthread_create(&thread[started], NULL, work, &t) == 0) started++;
  pthread_mutex_lock(&t.lock);
  t.working -= jobs - started;
  pthread_mutex_unlock(&t.lock);
  while (wait_for_threads(&t, pr->seconds) > 0)
    if (pr->poll && !stopped && pr->poll(pr->user)) stopped = t.stop = 1;
  for (int i = 0; i < started; i++) pthread_join(thread[i], NULL);
  pthread_cond_destroy(&t.changed);
  pthread_mutex_destroy(&t.lock);
  ga__free(pr->ctx, thread);
  if (started == 0) return ga__no_memory(pr->ctx, "a thread");
  if (!stopped && pr->poll && pr->poll(pr->user)) stopped = 1;
  for (int i = 0; i < n; i++) {
    if (list[i].status == GA_ERR_MEMORY) return ga__no_memory(pr->ctx, "a run");
    if (list[i].outdated) return ga__study_outdated(pr->ctx, pr->experiment[0].trial.model, "search");
    pr->runs += list[i].status != GA_STOPPED;
    pr->failed += list[i].status != GA_OK && list[i].status != GA_STOPPED && !list[i].refused;
  }
  return stopped ? GA_STOPPED : GA_OK;
}

/* All experiments at one point. */
static ga_status run_point(ga__problem *pr, int exact, ga__search_point *e, int *refused)
{
  task *list = ga__alloc(pr->ctx, (size_t)pr->n_experiments, sizeof *list);
  if (!list) return ga__no_memory(pr->ctx, "runs");
  for (int i = 0; i < pr->n_experiments; i++)
    list[i] = (task){.experiment = i,
                     .exact = exact,
                     .p = e->p,
                     .values = e->values,
                     .scales = e->scales,
                     .slopes = e->slopes};
  const ga_status status = make_runs(pr, pr->n_experiments, list);
  *refused = 0;
  e->failed = 0;
  e->text[0] = '\0';
  for (int i = 0; i < pr->n_experiments && !status; i++) {
    *refused |= list[i].refused;
    e->failed |= list[i].status != GA_OK && !list[i].refused;
    if (!*e->text) ga__cut_text(e->text, sizeof e->text, list[i].text);
  }
  ga__free(pr->ctx, list);
  return status;
}

/* ---- Differences of runs ---- */

enum { NOISE_POINTS = 7, MOST_POINTS = 2 * GA__MOST_VARIED };

/* Values at several points, one after the other in `values` [n_points × n_values]; failed[n_points]. */
static ga_status run_points(ga__problem *pr, int n_points, const double *points, double *values,
                            double *scales, int *failed)
{
  const int n = n_points * pr->n_experiments;
  task *list = ga__alloc(pr->ctx, (size_t)n + 1, sizeof *list);
  if (!list) return ga__no_memory(pr->ctx, "runs");
  for (int i = 0; i < n; i++) {
    const size_t point = (size_t)(i / pr->n_experiments);
    list[i] = (task){.experiment = i % pr->n_experiments,
                     .p = points + point * (size_t)pr->n,
                     .values = values + point * pr->n_values,
                     .scales = scales};
  }
  const ga_status status = make_runs(pr, n, list);
  for (int i = 0; i < n_points; i++) failed[i] = 0;
  for (int i = 0; i < n; i++) failed[i / pr->n_experiments] |= list[i].status != GA_OK;
  ga__free(pr->ctx, list);
  return status;
}

/* The noise of values in a table of differences over equal steps (Hamming; Moré and Wild 2011), relative to
 * the largest of the values of the same series or measure. */
static double noise_of(const ga__problem *pr, const double *values)
{
  double sum = 0.0;
  long n = 0;
  for (int e = 0; e < pr->n_experiments; e++) {
    const ga__trial *t = &pr->experiment[e].trial;
    const size_t parts = (size_t)t->n_measures + (size_t)t->n_signals;
    for (size_t part = 0; part < parts; part++) {
      const int series = part >= (size_t)t->n_measures;
      const size_t length = series ? (size_t)t->n_times : 1,
                   at = pr->experiment[e].at +
                        (series ? (size_t)t->n_measures + (part - (size_t)t->n_measures) * (size_t)t->n_times
                                : part);
      double size = 0.0;
      for (size_t i = 0; i < length; i++) size = fmax(size, fabs(values[at + i]));
      if (!(size > 0.0)) continue;
      for (size_t i = 0; i < length; i++) {
        double d[NOISE_POINTS], factor = 1.0;
        for (int k = 0; k < NOISE_POINTS; k++) d[k] = values[(size_t)k * pr->n_values + at + i];
        for (int order = 1; order <= 4; order++) {
          for (int k = 0; k < NOISE_POINTS - order; k++) d[k] = d[k + 1] - d[k];
          factor *= (double)order / (2.0 * (2.0 * order - 1.0)); /* (order!)²/(2 order)! */
        }
        for (int k = 0; k < NOISE_POINTS - 4; k++)
          if (isfinite(d[k])) sum += factor * d[k] * d[k] / (size * size), n++;
      }
    }
  }
  return n > 0 ? sqrt(sum / (double)n) : 0.0;
}

/* Steps of differences: the cube root of the noise, at which noise and curvature are alike. */
static ga_status find_steps(ga__problem *pr, const ga__search_point *e)
{
  const double apart = 3e-5, least = 1e-5, most = 1e-2;
  const size_t n = (size_t)pr->n;
  double *values = ga__alloc(pr->ctx, NOISE_POINTS * (pr->n_values + n) + pr->n_values + 1, sizeof *values);
  int failed[NOISE_POINTS], any = 0;
  if (!values) return ga__no_memory(pr->ctx, "the noise of runs");
  double *points = values + NOISE_POINTS * pr->n_values;
  for (size_t k = 0; k < NOISE_POINTS; k++)
    for (size_t j = 0; j < n; j++) { /* towards the middle of the bounds */
      const ga__varied *v = &pr->varied[j];
      const double size = size_of(v, e->p[j], 1.0);
      const double side = e->p[j] + apart * NOISE_POINTS * size > v->upper ? -1.0 : 1.0;
      points[k * n + j] = e->p[j] + side * apart * (double)k * size;
    }
  const ga_status status = run_points(pr, NOISE_POINTS, points, values, points + NOISE_POINTS * n, failed);
  for (int k = 0; k < NOISE_POINTS; k++) any |= failed[k];
  const double noise = any || status ? 1e-9 : fmax(noise_of(pr, values), DBL_EPSILON);
  for (size_t j = 0; j < n; j++) pr->varied[j].step = fmin(fmax(cbrt(3.0 * noise), least), most);
  ga__free(pr->ctx, values);
  return status;
}

/* Two points for each parameter: on both sides, or, at a bound, at h and 2h on one side. */
static void place_points(const ga__problem *pr, const ga__search_point *e, double *points, int *side)
{
  const size_t n = (size_t)pr->n;
  for (size_t j = 0; j < n; j++) {
    const ga__varied *v = &pr->varied[j];
    const double step = v->step * size_of(v, e->p[j], 1.0), span = v->upper - v->lower,
                 h = isfinite(span) ? fmin(step, 0.25 * span) : step;
    side[j] = e->p[j] + h > v->upper ? -1 : e->p[j] - h < v->lower ? 1 : 0;
    for (size_t k = 0; k < 2; k++) {
      double *point = points + (2 * j + k) * n;
      memcpy(point, e->p, n * sizeof *point);
      point[j] += side[j] == 0 ? (k == 0 ? -h : h) : side[j] * h * (double)(k + 1);
    }
  }
}

ga_status ga__problem_difference(ga__problem *pr, ga__search_point *e)
{
  const size_t n = (size_t)pr->n, room = 2 * n * (pr->n_values + n) + pr->n_values + 1;
  int side[GA__MOST_VARIED], failed[MOST_POINTS];
  ga_status status = pr->varied[0].step > 0.0 ? GA_OK : find_steps(pr, e);
  double *values = status ? NULL : ga__alloc(pr->ctx, room, sizeof *values);
  if (!status && !values) return ga__no_memory(pr->ctx, "differences of runs");
  if (status) return status;
  double *points = values + 2 * n * pr->n_values;
  place_points(pr, e, points, side);
  status = run_points(pr, 2 * pr->n, points, values, points + 2 * n * n, failed);
  e->derived = status ? GA__NO_SLOPES : GA__DIFFERENCES;
  for (size_t j = 0; j < n && !status; j++) {
    const double *a = values + 2 * j * pr->n_values, *b = a + pr->n_values;
    const double ha = points[2 * j * n + j] - e->p[j], hb = points[(2 * j + 1) * n + j] - e->p[j];
    if (failed[2 * j] && failed[2 * j + 1]) {
      e->derived = GA__NO_SLOPES;
      snprintf(e->text, sizeof e->text, "runs beside it, with other values of %.60s, fail",
               pr->varied[j].name);
    }
    for (size_t i = 0; i < pr->n_values; i++) {
      const double y = e->values[i];
      double *out = &e->slopes[j * pr->n_values + i];
      if (failed[2 * j + 1])
        *out = (a[i] - y) / ha;
      else if (failed[2 * j])
        *out = (b[i] - y) / hb;
      else /* the parabola through three points, wherever these are */
        *out = ((a[i] - y) * hb / ha - (b[i] - y) * ha / hb) / (hb - ha);
    }
  }
  pr->n_differences += !status;
  ga__free(pr->ctx, values);
  return status;
}

/* 1: all that matter are numbers. */
static int has_slopes(const ga__problem *pr, const ga__search_point *e)
{
  for (size_t i = 0; i < pr->n_values; i++)
    for (size_t j = 0; j < (size_t)pr->n && isfinite(e->values[i]); j++)
      if (!isfinite(e->slopes[j * pr->n_values + i])) return 0;
  return 1;
}

ga_status ga__problem_evaluate(ga__problem *pr, int slopes, ga__search_point *e)
{
  int refused = 0;
  ga_status status = run_point(pr, slopes && !pr->differences, e, &refused);
  e->derived = GA__NO_SLOPES;
  if (status || e->failed) return status;
  if (slopes && !pr->differences) {
    if (!refused && has_slopes(pr, e)) {
      e->derived = GA__EXACT_SLOPES;
      return GA_OK;
    }
    ga__cut_text(pr->why, sizeof pr->why, *e->text ? e->text : "they are not finite");
    pr->differences = 1; /* for good, so that all gradients are of one kind */
    ga__problem_refine(pr);
    status = run_point(pr, 0, e, &refused);
    if (status || e->failed) return status;
  }
  return slopes ? ga__problem_difference(pr, e) : GA_OK;
}
