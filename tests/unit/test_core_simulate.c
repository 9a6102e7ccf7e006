/* The simulator: options, output times, events, step sizes, failures, statistics, saving. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core_rig.h"
#include <float.h>

/* ---- A point on a line, and a diary of what the simulator reports ---- */

typedef enum toy_kind {
  TOY_FREE,   /* v stays: q = q0 + v0 t, whatever the steps */
  TOY_SPRING, /* q'' = −q */
  TOY_BALL,   /* q'' = −10 */
  TOY_JUMP,   /* q'' = 0 before t = 0.5, 1 from there on */
  TOY_WALL,   /* as SPRING, but nothing can be evaluated from t = 0.5 on */
  TOY_WILD,   /* a force that no iteration converges for from t = 0.5 on */
  TOY_BOUNCE, /* q'' = −10 + stiffness δ^1.5, δ = −depth − q where that is above 0 */
  TOY_PEAK    /* q'' = stiffness/(1e-8 + (t − depth)²) */
} toy_kind;

typedef struct toy {
  toy_kind kind;
  rig_random random;
  double fail_rate; /* share of the calls that ask for a smaller step, never two in a row */
  int failed;       /* the last call did */
  double narrow;    /* > 0: asks for one wherever a step is longer than this */
  double last_t;    /* end of the last accepted step */
  double hole;      /* > 0: nothing can be evaluated within 1.5e-3 of this time */
  long failures;
  double depth, stiffness; /* BOUNCE; PEAK: depth is a time [s] */
} toy;

static int toy_mass(void *user, const ga_point *p, double *out)
{
  (void)user;
  out[0] = p->vdot[0];
  return 0;
}

static int toy_force(void *user, const ga_point *p, double *out)
{
  toy *m = user;
  if ((m->hole > 0.0 && fabs(p->t - m->hole) < 1.5e-3) || (m->narrow > 0.0 && p->t > m->last_t + m->narrow) ||
      (m->fail_rate > 0.0 && !m->failed && rig_uniform(&m->random, 0.0, 1.0) < m->fail_rate)) {
    m->failures++;
    m->failed = 1;
    return 1;
  }
  m->failed = 0;
  const double constant[] = {[TOY_FREE] = 0.0, [TOY_BALL] = -10.0, [TOY_JUMP] = p->t < 0.5 ? 0.0 : 1.0};
  int varies = m->kind == TOY_SPRING || m->kind > TOY_JUMP;
  out[0] = varies ? -p->q[0] : constant[m->kind];
  if (m->kind == TOY_WILD && p->t > 0.5) out[0] = p->vdot[0] + 1e9 * sin(1e9 * p->q[0]) + 1.0;
  if (m->kind == TOY_BOUNCE) out[0] = -10.0 + m->stiffness * pow(fmax(-m->depth - p->q[0], 0.0), 1.5);
  if (m->kind == TOY_PEAK) out[0] = m->stiffness / (1e-8 + (p->t - m->depth) * (p->t - m->depth));
  return m->kind == TOY_WALL && p->t > 0.5;
}

static void toy_name(void *user, ga_equation_block block, int index, char *text, size_t size)
{
  (void)user, (void)block, (void)index;
  snprintf(text, size, "the trolley");
}

enum { MOST = 4096, MOST_EVENTS = 4 };

typedef struct diary {
  int n_out, n_event, n_steps;
  double out_t[MOST], out_q[MOST], event_t[MOST];
  int event[MOST];
  int stop_out, stop_step; /* number of the output, of the step, at which to stop; 0: never */
  int code;                /* answer of on_event */
  int changed;             /* 1: on_event was given q, v, x */
  double zero[MOST_EVENTS], slope[MOST_EVENTS]; /* event i: slope (q − zero) */
  int n_events;
  double fail_from; /* the event function answers with fail_code, or NaN, from this time on; 0: never */
  int fail_code;
  toy *m;
} diary;

static int note_output(void *user, const ga_state *s)
{
  diary *d = user;
  assert_true(d->n_out < MOST);
  d->out_t[d->n_out] = s->t;
  d->out_q[d->n_out] = s->q[0];
  return ++d->n_out == d->stop_out;
}

static int note_step(void *user, const ga_stepper *st)
{
  diary *d = user;
  if (d->m) d->m->last_t = ga_stepper_state(st)->t;
  return ++d->n_steps == d->stop_step;
}

static int watch_line(void *user, const ga_point *p, double *g)
{
  diary *d = user;
  for (int i = 0; i < d->n_events; i++) g[i] = d->slope[i] * (p->q[0] - d->zero[i]);
  if (d->fail_from > 0.0 && p->t >= d->fail_from && !d->fail_code) g[d->n_events - 1] = NAN;
  return d->fail_from > 0.0 && p->t >= d->fail_from ? d->fail_code : 0;
}

static int note_event(void *user, int event, const ga_state *s, double *q, double *v, double *x)
{
  diary *d = user;
  assert_true(d->n_event < MOST);
  d->event[d->n_event] = event;
  d->event_t[d->n_event++] = s->t;
  d->changed = q && v && x;
  assert_true(d->changed || (!q && !v && !x));
  return d->code;
}

/* A toy or a problem with a simulator on top of it. */
typedef struct bench {
  rig r;
  ga_simulate_opts o;
  ga_simulator *sim;
  ga_event events[MOST_EVENTS];
} bench;

static const ga_factor LINE[] = {{GA_RN, 1, GA_LEFT}};

static bench bench_open(const char *problem, toy *m, diary *d)
{
  bench b = {.r = rig_open(problem), .o = ga_simulate_defaults()};
  if (rig_brief()) b.o.defect_points = 30;
  if (!problem) {
    b.r.def.n_factors = 1;
    b.r.def.factors = LINE;
    b.r.def.mass = toy_mass;
    b.r.def.force = toy_force;
    b.r.def.name = toy_name;
    b.r.def.user = m;
  }
  b.o.t_end = problem ? b.r.problem->t_end : 1.0;
  b.o.user = d;
  if (d) {
    memset(d, 0, sizeof *d);
    d->m = m;
    b.o.output = note_output;
    b.o.observer = note_step;
  }
  return b;
}

/* Adds an event that crosses where q passes `zero`. */
static void bench_event(bench *b, diary *d, double zero, double slope, int direction, ga_event_action action)
{
  d->zero[d->n_events] = zero;
  d->slope[d->n_events] = slope;
  b->events[d->n_events++] = (ga_event){direction, action};
  b->o.n_events = d->n_events;
  b->o.event_function = watch_line;
  b->o.on_event = note_event;
}

static ga_status bench_begin(bench *b, double t0)
{
  static const double zero[1] = {0.0}, one[1] = {1.0};
  const ex_problem *p = b->r.problem;
  b->o.events = b->events;
  if (!b->r.st) rig_build(&b->r);
  ga_simulator_destroy(&b->sim);
  assert_status(b->r.ctx, ga_simulator_create(b->r.ctx, b->r.st, &b->o, &b->sim), GA_OK);
  return p ? ga_simulator_start(b->sim, NULL, t0, p->q0, p->v0, p->x0, p->lambda_guess, p->psi_guess, NULL)
           : ga_simulator_start(b->sim, NULL, t0, zero, one, NULL, NULL, NULL, NULL);
}

/* From 0 to the end, or to wherever it must stop. */
static ga_status bench_run(bench *b)
{
  assert_status(b->r.ctx, bench_begin(b, 0.0), GA_OK);
  return ga_simulator_run(b->sim);
}

static void bench_close(bench *b)
{
  ga_simulator_destroy(&b->sim);
  assert_null(b->sim);
  rig_close(&b->r);
}

static void assert_times(const double *t, int n, const double *expected, int n_expected, double tolerance)
{
  assert_int_equal(n, n_expected);
  for (int i = 0; i < n; i++) assert_near(t[i], expected[i], tolerance, "time");
}

/* ---- Arguments ---- */

static void options_refused(void **state)
{
  toy m = {.kind = TOY_FREE};
  diary d;
  (void)state;
  static const struct {
    const char *name;
    size_t at;
    int zero_too; /* 1: 0 is refused as well */
  } number[] = {{"fixed_h", offsetof(ga_simulate_opts, fixed_h), 0},
                {"h_first", offsetof(ga_simulate_opts, h_first), 0},
                {"h_min", offsetof(ga_simulate_opts, h_min), 0},
                {"h_max", offsetof(ga_simulate_opts, h_max), 0},
                {"rtol", offsetof(ga_simulate_opts, rtol), 0},
                {"atol", offsetof(ga_simulate_opts, atol), 1},
                {"rtol_v", offsetof(ga_simulate_opts, rtol_v), 0},
                {"atol_v", offsetof(ga_simulate_opts, atol_v), 1},
                {"rtol_x", offsetof(ga_simulate_opts, rtol_x), 0},
                {"atol_x", offsetof(ga_simulate_opts, atol_x), 1},
                {"output_every", offsetof(ga_simulate_opts, output_every), 0}};
  const double bad[] = {-1.0, NAN, INFINITY, 0.0};
  bench b = bench_open(NULL, &m, &d);
  rig_build(&b.r);
  for (size_t i = 0; i < sizeof number / sizeof *number; i++)
    for (int k = 0; k < 3 + number[i].zero_too; k++) {
      ga_simulate_opts o = b.o;
      memcpy((char *)&o + number[i].at, &bad[k], sizeof bad[k]);
      b.sim = (ga_simulator *)&o;
      assert_int_equal(ga_simulator_create(b.r.ctx, b.r.st, &o, &b.sim), GA_ERR_ARGUMENT);
      assert_null(b.sim);
      assert_call_error(b.r.ctx, GA_REASON_OUT_OF_RANGE, "simulator", number[i].name);
      assert_error_number(b.r.ctx, 0, bad[k]);
    }
  bench_close(&b);
}

static void other_options_refused(void **state)
{
  static const double falling[] = {0.1, 0.3, 0.2}, gap[] = {0.1, NAN};
  static const ga_event unknown[] = {{0, (ga_event_action)7}}, restarts[] = {{0, GA_EVENT_RESTART}};
  toy m = {.kind = TOY_FREE};
  diary d;
  (void)state;
  const ga_simulate_opts o = ga_simulate_defaults();
  ga_simulate_opts bad[9];
  for (int i = 0; i < 9; i++) bad[i] = o;
  bad[0].t_end = NAN;
  bad[1].error = (ga_error_mode)9;
  bad[2].n_output_times = 1;
  bad[3].n_output_times = -1;
  bad[4].n_output_times = 3, bad[4].output_times = falling;
  bad[5].n_output_times = 2, bad[5].output_times = gap;
  bad[6].n_events = 1;
  bad[7].n_events = 1, bad[7].events = unknown, bad[7].event_function = watch_line;
  bad[8].n_events = 1, bad[8].events = restarts, bad[8].event_function = watch_line;
  static const struct {
    ga_reason reason;
    const char *field;
    int item;
    double number;
  } expected[] = {{GA_REASON_NOT_FINITE, "t_end", -1, NAN},
                  {GA_REASON_NOT_A_CHOICE, "error", -1, 9},
                  {GA_REASON_COUNT_MISMATCH, "n_output_times", -1, 1},
                  {GA_REASON_OUT_OF_RANGE, "n_output_times", -1, -1},
                  {GA_REASON_NOT_ASCENDING, "output_times", 2, 0.2},
                  {GA_REASON_NOT_FINITE, "output_times", 1, NAN},
                  {GA_REASON_COUNT_MISMATCH, "n_events", -1, 1},
                  {GA_REASON_NOT_A_CHOICE, "events[0].action", -1, 7}};
  bench b = bench_open(NULL, &m, &d);
  rig_build(&b.r);
  for (int i = 0; i < 9; i++) {
    assert_int_equal(ga_simulator_create(b.r.ctx, b.r.st, &bad[i], &b.sim), GA_ERR_ARGUMENT);
    assert_null(b.sim);
    if (i == 8) {
      assert_call_error(b.r.ctx, GA_REASON_CALLBACK_MISSING, "simulator", "events[0].action");
      assert_string_equal(ga_context_error(b.r.ctx)->callback, "on_event");
      break;
    }
    assert_call_error(b.r.ctx, expected[i].reason, "simulator", expected[i].field);
    assert_int_equal(ga_context_error(b.r.ctx)->item, expected[i].item);
    assert_error_number(b.r.ctx, 0, expected[i].number);
  }
  bench_close(&b);
}

static void without_what_is_needed(void **state)
{
  toy m = {.kind = TOY_FREE};
  bench b = bench_open(NULL, &m, NULL);
  double saved[64] = {0.0};
  (void)state;
  rig_build(&b.r);
  b.sim = (ga_simulator *)&m;
  assert_int_equal(ga_simulator_create(NULL, b.r.st, &b.o, &b.sim), GA_ERR_ARGUMENT);
  assert_null(b.sim);
  assert_int_equal(ga_simulator_create(b.r.ctx, NULL, &b.o, &b.sim), GA_ERR_ARGUMENT);
  assert_call_error(b.r.ctx, GA_REASON_NULL_ARGUMENT, "ga_simulator_create", "st");
  assert_int_equal(ga_simulator_create(b.r.ctx, b.r.st, NULL, &b.sim), GA_ERR_ARGUMENT);
  assert_call_error(b.r.ctx, GA_REASON_NULL_ARGUMENT, "ga_simulator_create", "opts");
  assert_int_equal(ga_simulator_create(b.r.ctx, b.r.st, &b.o, NULL), GA_ERR_ARGUMENT);
  assert_call_error(b.r.ctx, GA_REASON_NULL_ARGUMENT, "ga_simulator_create", "out");
  assert_int_equal(ga_simulator_start(NULL, NULL, 0.0, NULL, NULL, NULL, NULL, NULL, NULL), GA_ERR_ARGUMENT);
  assert_int_equal(ga_simulator_step(NULL), GA_ERR_ARGUMENT);
  assert_int_equal(ga_simulator_run(NULL), GA_ERR_ARGUMENT);
  assert_int_equal(ga_simulator_save(NULL, saved), GA_ERR_ARGUMENT);
  assert_int_equal(ga_simulator_load(NULL, saved), GA_ERR_ARGUMENT);
  assert_int_equal(ga_simulator_saved_size(NULL), 0);
  assert_int_equal(ga_simulator_finished(NULL), 0);
  assert_int_equal(ga_simulator_last_event(NULL), -1);
  assert_true(ga_simulator_next_step(NULL) == 0.0);
  assert_null(ga_simulator_stats(NULL));
  ga_simulator_destroy(NULL);
  ga_simulator_destroy(&b.sim);

  assert_status(b.r.ctx, ga_simulator_create(b.r.ctx, b.r.st, &b.o, &b.sim), GA_OK);
  assert_int_equal(ga_simulator_step(b.sim), GA_ERR_ORDER);
  assert_call_error(b.r.ctx, GA_REASON_CALL_ORDER, "ga_simulator_step", NULL);
  assert_string_equal(ga_context_error(b.r.ctx)->text,
                      "ga_simulator_step: it must be called after ga_simulator_start()");
  assert_int_equal(ga_simulator_run(b.sim), GA_ERR_ORDER);
  assert_int_equal(ga_simulator_save(b.sim, saved), GA_ERR_ORDER);
  assert_int_equal(ga_simulator_save(b.sim, NULL), GA_ERR_ARGUMENT);
  assert_int_equal(ga_simulator_load(b.sim, NULL), GA_ERR_ARGUMENT);
  ga_simulator_destroy(&b.sim);
  for (int i = 0; i < 2; i++) {
    assert_int_equal(bench_begin(&b, i ? 2.0 : 1.0), GA_ERR_ARGUMENT);
    assert_call_error(b.r.ctx, GA_REASON_TIME_OUT_OF_RANGE, "simulator", "t_end");
    assert_error_number(b.r.ctx, 1, i ? 2.0 : 1.0);
    assert_int_equal(ga_simulator_step(b.sim), GA_ERR_ORDER);
  }
  bench_close(&b);
}

/* ---- Output ---- */

/* The times that output_every and output_times ask for, each once. */
static int expected_times(double *t, const ga_simulate_opts *o, double t0)
{
  int n = 0, listed = 0;
  double every = o->output_every > 0.0 ? t0 : HUGE_VAL;
  for (int k = 1;; n++) {
    while (listed < o->n_output_times && o->output_times[listed] < t0) listed++;
    double next = listed < o->n_output_times ? o->output_times[listed] : HUGE_VAL;
    t[n] = fmin(every, next);
    if (t[n] > o->t_end) return n;
    if (next == t[n]) listed++;
    if (every == t[n]) {
      every = t[n] == o->t_end ? HUGE_VAL : t0 + k++ * o->output_every;
      if (every < HUGE_VAL && every > o->t_end - 1e-9 * o->output_every) every = o->t_end;
    }
  }
}

static void outputs_as_asked(bench *b, diary *d, double t0)
{
  static double expected[MOST];
  d->n_out = 0;
  assert_status(b->r.ctx, bench_begin(b, t0), GA_OK);
  assert_status(b->r.ctx, ga_simulator_run(b->sim), GA_OK);
  assert_int_equal(ga_simulator_finished(b->sim), 1);
  assert_true(fabs(ga_stepper_state(b->r.st)->t - b->o.t_end) <=
              4.0 * DBL_EPSILON * fmax(fabs(t0), fabs(b->o.t_end)));
  int n = expected_times(expected, &b->o, t0);
  assert_int_equal(d->n_out, n);
  assert_int_equal(ga_simulator_stats(b->sim)->outputs, n);
  for (int i = 0; i < n; i++) {
    /* the last may be the step's own end, which is t_end but for rounding */
    double slack = expected[i] == b->o.t_end ? 4.0 * DBL_EPSILON * fmax(fabs(t0), fabs(b->o.t_end)) : 0.0;
    assert_near(d->out_t[i], expected[i], slack, "output time");
    assert_near(d->out_q[i], d->out_t[i] - t0, 1e-13 * (1.0 + fabs(t0)), "output");
  }
  assert_int_equal(ga_simulator_run(b->sim), GA_OK); /* and no more */
  assert_int_equal(ga_simulator_step(b->sim), GA_STOPPED);
  assert_int_equal(d->n_out, n);
}

static void output_times(void **state)
{
  static const double some[] = {-1.0, 0.0, 0.05, 0.1, 0.7, 1.0, 1.5};
  static const struct {
    double t0, t_end, every, fixed_h;
    int listed;
  } row[] = {{0.0, 1.0, 0.1, 0.0, 0},   {0.0, 1.0, 0.3, 0.0, 0},  {0.0, 1.0, 0.0, 0.0, 7},
             {0.0, 1.0, 0.1, 0.0, 7},   {0.0, 1.0, 0.25, 0.1, 7}, {0.0, 1.0, 2.0, 0.0, 0},
             {0.0, 1.0, 1e10, 0.0, 0},  {0.0, 1.0, 1e-3, 0.1, 0}, {-1.0, 0.0, 0.1, 0.03, 7},
             {1e3, 1001.0, 0.1, 0., 0}, {0.0, 1.0, 0.0, 0.0, 0},  {-1e3, 1e-3, 7.0, 0.0, 7},
             {0.0, 0.7, 0.1, 0.1, 5}};
  toy m = {.kind = TOY_FREE};
  static diary d;
  (void)state;
  for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
    bench b = bench_open(NULL, &m, &d);
    b.o.t_end = row[i].t_end;
    b.o.output_every = row[i].every;
    b.o.fixed_h = row[i].fixed_h;
    b.o.n_output_times = row[i].listed;
    b.o.output_times = some;
    outputs_as_asked(&b, &d, row[i].t0);
    bench_close(&b);
  }
}

static void output_times_at_random(void **state)
{
  toy m = {.kind = TOY_FREE};
  static diary d;
  rig_random random = rig_seed(0);
  bench b = bench_open(NULL, &m, &d);
  (void)state;
  for (int i = 0; i < (rig_brief() ? 50 : 500); i++) {
    double t0 = rig_uniform(&random, -3.0, 3.0) * pow(10.0, rig_uniform(&random, -3.0, 3.0));
    double span = pow(10.0, rig_uniform(&random, -2.0, 2.0));
    b.o.t_end = i % 5 == 0 && t0 < 0.0 ? 0.0 : t0 + span;
    span = b.o.t_end - t0;
    b.o.output_every = span / rig_uniform(&random, 0.5, 40.0);
    b.o.fixed_h = i % 3 ? 0.0 : span / rig_uniform(&random, 1.0, 40.0);
    b.o.h_max = i % 2 ? 0.0 : span / rig_uniform(&random, 5.0, 50.0);
    b.o.h_first = i % 3 == 1 ? 0.01 * span : 0.0;
    outputs_as_asked(&b, &d, t0);
  }
  bench_close(&b);
}

/* Output and recorded events only look. */
static void outputs_change_nothing(void **state)
{
  static const char *const name[] = {"heavy_top", "mechatronic", "test15"};
  static diary d;
  (void)state;
  for (size_t i = 0; i < sizeof name / sizeof *name; i++)
    for (int method = GA_INDEX3; method <= GA_SOI2; method++) {
      if (i == 1 && method > GA_STABILIZED) continue;
      bench b = bench_open(name[i], NULL, NULL);
      b.r.opts.method = (ga_method)method;
      b.o.t_end *= i ? 0.5 : 0.05;
      b.o.rtol = 1e-3;
      b.o.h_max = 0.1 * b.o.t_end; /* without it outputs say how long steps may be, */
      b.o.defect_points = 0;       /* and how closely they are looked into */
      assert_status(b.r.ctx, bench_run(&b), GA_OK);
      double *plain = rig_copy(&b.r);
      long steps = ga_simulator_stats(b.sim)->steps;
      b.o.user = &d;
      memset(&d, 0, sizeof d);
      b.o.output = note_output;
      b.o.output_every = b.o.t_end / 777.0;
      bench_event(&b, &d, b.r.st->now.q[0], 1.0, 0, GA_EVENT_RECORD);
      bench_event(&b, &d, 0.5 * (b.r.st->now.q[0] + b.r.problem->q0[0]), 1.0, 0, GA_EVENT_RECORD);
      assert_status(b.r.ctx, bench_run(&b), GA_OK);
      assert_int_equal(d.n_out, 778);
      assert_true(d.n_event > 0);
      assert_int_equal(ga_simulator_stats(b.sim)->steps, steps);
      if (!rig_same_bits(&b.r, plain)) fail_msg("%s, method %d: output changes the steps", name[i], method);
      free(plain);
      bench_close(&b);
    }
}

/* Outputs within steps of higher order: at equal distances, between those of other times and of events. */
typedef struct steps_seen {
  int n_out, n_steps, first[MOST]; /* number of the first output within a step */
  double out_t[MOST], out_q[MOST], end[MOST];
  int order[MOST];
} steps_seen;

static int see_output(void *user, const ga_state *s)
{
  steps_seen *seen = user;
  assert_true(seen->n_out < MOST);
  seen->out_t[seen->n_out] = s->t;
  seen->out_q[seen->n_out++] = s->q[0];
  return 0;
}

static int see_step(void *user, const ga_stepper *st)
{
  steps_seen *seen = user;
  assert_true(seen->n_steps < MOST - 1);
  seen->end[seen->n_steps] = ga_stepper_state(st)->t;
  seen->order[seen->n_steps++] = ga_stepper_order(st);
  seen->first[seen->n_steps] = seen->n_out;
  return 0;
}

static int every_third(void *user, const ga_point *p, double *g)
{
  (void)user;
  g[0] = p->q[0] - 0.3;
  return 0;
}

static void outputs_within_steps(void **state)
{
  static const struct {
    ga_method method;
    int order;
    double every, fixed_h;
    int restart;
  } row[] = {{GA_STABILIZED, 0, 0.0, 0.0, 0},  {GA_COLLOCATION, 4, 0.0, 0.0, 0},
             {GA_COLLOCATION, 10, 0.0, 0.3, 0}, {GA_COLLOCATION, 6, 0.07, 0.0, 0},
             {GA_COLLOCATION, 8, 0.0, 0.0, 1},  {GA_COLLOCATION, 0, 0.0, 0.0, 0},
             {GA_AUTOMATIC, 0, 0.0, 0.0, 1}};
  static steps_seen seen;
  toy m = {.kind = TOY_SPRING};
  (void)state;
  for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
    bench b = bench_open(NULL, &m, NULL);
    memset(&seen, 0, sizeof seen);
    b.r.opts.method = row[i].method, b.r.opts.order = row[i].order;
    b.o.t_end = 10.0;
    b.o.fixed_h = row[i].fixed_h;
    b.o.output_every = row[i].every;
    b.o.output_within = 1;
    b.o.output = see_output, b.o.observer = see_step, b.o.user = &seen;
    b.events[0] = (ga_event){1, GA_EVENT_RECORD};
    if (row[i].restart) b.o.n_events = 1, b.o.event_function = every_third;
    assert_status(b.r.ctx, bench_run(&b), GA_OK);
    int within = 0, of_times = 0;
    for (int k = 0; k < seen.n_out; k++) assert_near(seen.out_q[k], sin(seen.out_t[k]), 3e-3, "output");
    for (int k = 1; k < seen.n_out; k++) assert_true(seen.out_t[k] > seen.out_t[k - 1]);
    for (int k = 0; k < seen.n_steps; k++) {
      const double begin = k > 0 ? seen.end[k - 1] : 0.0, h = seen.end[k] - begin;
      const int parts = seen.order[k];
      int next = 1;
      for (int j = seen.first[k]; j < seen.first[k + 1]; j++) {
        const double off = seen.out_t[j] - (begin + next * h / parts);
        if (next < parts && fabs(off) <= 1e-14 * b.o.t_end)
          next++, within++;
        else
          of_times++;
      }
      assert_int_equal(next, parts > 2 ? parts : 1);
    }
    assert_int_equal(within + of_times, seen.n_out);
    assert_int_equal(of_times, row[i].every > 0.0 ? 1 + (int)ceil(b.o.t_end / row[i].every) : 0);
    assert_true(within > 0 || row[i].method == GA_STABILIZED);
    bench_close(&b);
  }
}

/* States given out between steps: what belongs to steps only is not there, xdot is that of its time. */
typedef struct rates_seen {
  rig *r;
  int between, at_steps;
  double worst; /* of xdot − s, relative */
} rates_seen;

static int see_rates(void *user, const ga_state *s)
{
  rates_seen *seen = user;
  const int n = seen->r->sys->size[GA_BLOCK_X], of_step = s == ga_stepper_state(seen->r->st);
  const ga_point p = {s->t, s->q, s->v, s->vdot, s->lambda, s->psi, s->x, s->y, 0, NULL};
  double exact[RIG_MOST];
  assert_int_equal(seen->r->def.state(seen->r->def.user, &p, exact), 0);
  for (int i = 0; i < n; i++)
    seen->worst = fmax(seen->worst, fabs(s->xdot[i] - exact[i]) / (1.0 + ga__max_abs(exact, n, NULL)));
  if (of_step)
    seen->at_steps++;
  else
    seen->between++;
  assert_true(of_step ? s->a && s->w && s->eta : !s->a && !s->w && !s->eta);
  return 0;
}

static void outputs_have_rates_of_their_time(void **state)
{
  (void)state;
  double worst[2];
  for (int i = 0; i < 2; i++) {
    bench b = bench_open("mechatronic", NULL, NULL);
    rates_seen seen = {&b.r, 0, 0, 0.0};
    b.o.t_end *= 0.5;
    b.o.output = see_rates;
    b.o.output_every = b.o.t_end / 777.0;
    b.o.user = &seen;
    b.o.fixed_h = b.o.t_end / (i ? 400.0 : 200.0);
    assert_status(b.r.ctx, bench_run(&b), GA_OK);
    assert_true(seen.between > 700 && seen.at_steps >= 2);
    worst[i] = seen.worst;
    bench_close(&b);
  }
  assert_below(worst[0], 1e-3, "xdot between steps");
  assert_true(log2(worst[0] / worst[1]) > 1.7);
}

/* ---- Events ---- */

static void events_in_order(void **state)
{
  toy m = {.kind = TOY_FREE};
  static diary d;
  static const double when[] = {0.2, 0.21, 0.21, 0.23};
  (void)state;
  for (int every = 0; every < 2; every++) {
    bench b = bench_open(NULL, &m, &d);
    b.o.fixed_h = every ? 0.25 : 0.5; /* all within one step */
    bench_event(&b, &d, 0.23, 1.0, 0, GA_EVENT_RECORD);
    bench_event(&b, &d, 0.21, 1.0, 1, GA_EVENT_RECORD);
    bench_event(&b, &d, 0.21, -3.0, 0, GA_EVENT_RECORD); /* at the same time as the one before */
    bench_event(&b, &d, 0.20, -1.0, -1, GA_EVENT_RECORD);
    b.o.output_every = every ? 0.05 : 0.0;
    assert_status(b.r.ctx, bench_run(&b), GA_OK);
    assert_times(d.event_t, d.n_event, when, 4, 1e-14);
    assert_int_equal(d.event[0], 3);
    assert_int_equal(d.event[1] + d.event[2], 3); /* numbers 1 and 2 */
    assert_int_equal(d.event[3], 0);
    assert_int_equal(d.changed, 0);
    assert_int_equal(ga_simulator_stats(b.sim)->events, 4);
    assert_int_equal(ga_simulator_last_event(b.sim), -1);
    bench_close(&b);
  }
}

/* Through 0 upwards and downwards, on a swing: q = sin t passes 1/2 at π/6 and 5π/6. */
static void directions(void **state)
{
  static const double expected[] = {0.52359877559829887, 2.6179938779914944};
  toy m = {.kind = TOY_SPRING};
  static diary d;
  (void)state;
  for (int direction = -1; direction <= 1; direction++)
    for (int sign = -1; sign <= 1; sign += 2) {
      bench b = bench_open(NULL, &m, &d);
      b.o.t_end = 3.0;
      b.o.rtol = b.o.atol = 1e-9;
      bench_event(&b, &d, 0.5, sign, direction, GA_EVENT_RECORD);
      assert_status(b.r.ctx, bench_run(&b), GA_OK);
      int first = direction * sign < 0, n = direction ? 1 : 2;
      assert_times(d.event_t, d.n_event, expected + first, n, 1e-5);
      bench_close(&b);
    }
}

/* At t0 nothing happens; exactly at a step's end it does, once, from either side. */
static void events_at_the_ends_of_steps(void **state)
{
  toy m = {.kind = TOY_FREE};
  static diary d;
  static const double when[] = {0.5, 1.0};
  (void)state;
  for (int action = GA_EVENT_RECORD; action <= GA_EVENT_RESTART; action++)
    for (int sign = -1; sign <= 1; sign += 2) {
      bench b = bench_open(NULL, &m, &d);
      b.o.fixed_h = 0.125;
      bench_event(&b, &d, 0.0, sign, 0, GA_EVENT_RECORD);
      bench_event(&b, &d, 0.5, sign, sign, (ga_event_action)action);
      bench_event(&b, &d, 1.0, sign, 0, GA_EVENT_RECORD);
      ga_status status = bench_run(&b);
      assert_status(b.r.ctx, status, action == GA_EVENT_STOP ? GA_STOPPED : GA_OK);
      assert_times(d.event_t, d.n_event, when, action == GA_EVENT_STOP ? 1 : 2, 1e-15);
      assert_int_equal(d.event[0], 1);
      bench_close(&b);
    }
}

static void stopping_event(void **state)
{
  toy m = {.kind = TOY_FREE};
  static diary d;
  (void)state;
  for (int heard = 0; heard < 2; heard++) {
    bench b = bench_open(NULL, &m, &d);
    b.o.output_every = 0.05;
    b.o.h_max = 0.3;
    bench_event(&b, &d, 0.82, 1.0, 0, GA_EVENT_STOP);
    bench_event(&b, &d, 0.81, 1.0, 0, GA_EVENT_RECORD);
    bench_event(&b, &d, 0.83, 1.0, 0, GA_EVENT_RECORD);
    if (!heard) b.o.on_event = NULL;
    assert_status(b.r.ctx, bench_run(&b), GA_STOPPED);
    assert_int_equal(ga_simulator_last_event(b.sim), 0);
    assert_int_equal(ga_simulator_finished(b.sim), 0);
    assert_near(ga_stepper_state(b.r.st)->t, 0.82, 1e-15, "stopped at");
    assert_near(ga_stepper_state(b.r.st)->q[0], 0.82, 1e-14, "stopped at");
    assert_int_equal(d.n_event, heard ? 2 : 0);
    assert_int_equal(ga_simulator_stats(b.sim)->events, 2);
    assert_int_equal(d.n_out, 17);                          /* the last one at 0.8 */
    assert_int_equal(ga_simulator_step(b.sim), GA_STOPPED); /* and stays so */
    assert_int_equal(ga_simulator_run(b.sim), GA_STOPPED);
    assert_int_equal(ga_simulator_stats(b.sim)->events, 2);
    assert_int_equal(ga_simulator_stats(b.sim)->steps, ga_stepper_stats(b.r.st)->steps);
    bench_close(&b);
  }
}

/* A ball between two walls at 0.3 and −0.2: v turns its sign there, and q is a saw. */
static int bounce(void *user, int event, const ga_state *s, double *q, double *v, double *x)
{
  int code = note_event(user, event, s, q, v, x);
  assert_true(q[0] == s->q[0] && v[0] == s->v[0]);
  v[0] = -v[0];
  return code;
}

static void restarting_events(void **state)
{
  toy m = {.kind = TOY_FREE};
  static diary d;
  static const double when[] = {0.3, 0.8, 1.3, 1.8, 2.3, 2.8};
  (void)state;
  for (int fixed = 0; fixed < 2; fixed++)
    for (int direction = 0; direction < 2; direction++) {
      bench b = bench_open(NULL, &m, &d);
      b.o.t_end = 3.0;
      b.o.h_max = 0.2;
      b.o.fixed_h = fixed ? 0.1 : 0.0;
      b.o.output_every = 0.01;
      bench_event(&b, &d, 0.3, 1.0, direction, GA_EVENT_RESTART);
      bench_event(&b, &d, -0.2, -1.0, direction, GA_EVENT_RESTART);
      b.o.on_event = bounce;
      assert_status(b.r.ctx, bench_run(&b), GA_OK);
      assert_times(d.event_t, d.n_event, when, 6, 1e-13);
      for (int i = 0; i < 6; i++) assert_int_equal(d.event[i], i % 2);
      assert_int_equal(d.changed, 1);
      assert_int_equal(ga_simulator_stats(b.sim)->restarts, 6);
      assert_near(ga_stepper_state(b.r.st)->q[0], 0.0, 1e-13, "the saw's end");
      assert_int_equal(d.n_out, 301);
      for (int i = 0; i < d.n_out; i++) {
        double phase = fmod(d.out_t[i] + 0.2, 1.0);
        assert_near(d.out_q[i], phase < 0.5 ? phase - 0.2 : 0.8 - phase, 1e-13, "the saw");
      }
      bench_close(&b);
    }
}

/* A ball on the floor, each bounce with 0.8 of the speed: the impacts are at 1 − 0.8ᵏ, soon several of them
 * within what would be one step. */
static int bounce_back(void *user, int event, const ga_state *s, double *q, double *v, double *x)
{
  int code = note_event(user, event, s, q, v, x);
  v[0] *= -0.8;
  return code;
}

static void flights_shorter_than_steps(void **state)
{
  enum { IMPACTS = 20 };
  toy m = {.kind = TOY_BALL};
  static diary d;
  double when[IMPACTS];
  (void)state;
  for (int k = 0; k < IMPACTS; k++) when[k] = 1.0 - pow(0.8, k + 1);
  for (int fixed = 0; fixed < 2; fixed++) {
    bench b = bench_open(NULL, &m, &d);
    b.o.t_end = 0.99;
    b.o.fixed_h = fixed ? 0.02 : 0.0;
    bench_event(&b, &d, 0.0, 1.0, -1, GA_EVENT_RESTART);
    b.o.on_event = bounce_back;
    assert_status(b.r.ctx, bench_run(&b), GA_OK);
    assert_times(d.event_t, d.n_event, when, IMPACTS, 1e-12);
    bench_close(&b);
  }
}

/* Two restarts at one time, and one at the very end. */
static void restarts_at_once_and_at_the_end(void **state)
{
  toy m = {.kind = TOY_FREE};
  static diary d;
  (void)state;
  for (int i = 0; i < 4; i++) {
    bench b = bench_open(NULL, &m, &d);
    b.o.fixed_h = i % 2 ? 0.0 : 0.25;
    b.o.output_every = 0.1;
    double at = i < 2 ? 0.6 : 1.0 - 1e-14;
    bench_event(&b, &d, at, 1.0, 0, GA_EVENT_RESTART);
    bench_event(&b, &d, at, -2.0, 0, GA_EVENT_RESTART);
    assert_status(b.r.ctx, bench_run(&b), GA_OK);
    assert_int_equal(d.n_event, 2);
    for (int k = 0; k < 2; k++) assert_near(d.event_t[k], at, 1e-13, "restart");
    assert_int_equal(d.event[0] + d.event[1], 1);
    assert_int_equal(d.n_out, 11);
    assert_int_equal(ga_simulator_finished(b.sim), 1);
    bench_close(&b);
  }
}

static void event_functions_that_fail(void **state)
{
  static const struct {
    int code;
    ga_status status;
    ga_reason reason;
    const char *event;
  } row[] = {{2, GA_ERR_CALLBACK, GA_REASON_CALLBACK, ""},
             {-2, GA_ERR_CALLBACK, GA_REASON_CALLBACK, ""},
             {0, GA_ERR_NAN, GA_REASON_CALLBACK_NOT_FINITE, "1"}};
  toy m = {.kind = TOY_FREE};
  static diary d;
  (void)state;
  for (size_t i = 0; i < sizeof row / sizeof *row; i++)
    for (int at_start = 0; at_start < 2; at_start++) {
      bench b = bench_open(NULL, &m, &d);
      bench_event(&b, &d, 0.4, 1.0, 0, GA_EVENT_RECORD);
      bench_event(&b, &d, 0.5, 1.0, 0, GA_EVENT_RECORD);
      d.fail_code = row[i].code;
      d.fail_from = at_start ? 1.0 : 0.5;
      b.o.t_end = 2.0;
      ga_status status = bench_begin(&b, at_start ? 1.0 : 0.0);
      if (!at_start) {
        assert_status(b.r.ctx, status, GA_OK);
        status = ga_simulator_run(b.sim);
      }
      assert_status(b.r.ctx, status, row[i].status);
      assert_error(b.r.ctx, row[i].reason, row[i].event, NULL, NULL);
      assert_string_equal(ga_context_error(b.r.ctx)->callback, "event_function");
      assert_int_equal(ga_context_error(b.r.ctx)->code, row[i].code);
      if (at_start) assert_int_equal(ga_simulator_step(b.sim), GA_ERR_ORDER);
      bench_close(&b);
    }
}

static void answers_of_on_event(void **state)
{
  toy m = {.kind = TOY_FREE};
  static diary d;
  (void)state;
  for (int action = GA_EVENT_RECORD; action <= GA_EVENT_RESTART; action++)
    for (int code = -1; code <= 1; code++) {
      bench b = bench_open(NULL, &m, &d);
      bench_event(&b, &d, 0.4, 1.0, 0, (ga_event_action)action);
      d.code = code;
      ga_status expected = code < 0 ? GA_ERR_CALLBACK : code || action == GA_EVENT_STOP ? GA_STOPPED : GA_OK;
      assert_status(b.r.ctx, bench_run(&b), expected);
      if (code < 0) {
        assert_error(b.r.ctx, GA_REASON_CALLBACK, "0", NULL, NULL);
        assert_string_equal(ga_context_error(b.r.ctx)->callback, "on_event");
      }
      assert_int_equal(d.n_event, 1);
      assert_int_equal(ga_simulator_last_event(b.sim), action == GA_EVENT_STOP ? 0 : -1);
      assert_int_equal(ga_simulator_finished(b.sim), expected == GA_OK);
      if (expected == GA_STOPPED) { /* it stays there */
        double t = ga_stepper_state(b.r.st)->t;
        assert_int_equal(ga_simulator_run(b.sim), GA_STOPPED);
        assert_true(ga_stepper_state(b.r.st)->t == t);
        assert_int_equal(d.n_event, 1);
      }
      bench_close(&b);
    }
}

/* Output stops for good, an observer may be gone on from: at any step, the last one too. */
static void stopped_by_callbacks(void **state)
{
  toy m = {.kind = TOY_FREE};
  static diary d;
  (void)state;
  for (int number = 1; number <= 11; number += 5) {
    bench b = bench_open(NULL, &m, &d);
    b.o.output_every = 0.1;
    b.o.fixed_h = 0.25;
    d.stop_out = number;
    ga_status status = bench_begin(&b, 0.0);
    if (number > 1) {
      assert_status(b.r.ctx, status, GA_OK);
      status = ga_simulator_run(b.sim);
    }
    assert_status(b.r.ctx, status, GA_STOPPED);
    assert_near(d.out_t[number - 1], 0.1 * (number - 1), 1e-15, "stopped at");
    assert_int_equal(ga_simulator_run(b.sim), GA_STOPPED);
    assert_int_equal(d.n_out, number);
    bench_close(&b);
  }
  for (int number = 1; number <= 4; number++) {
    bench b = bench_open(NULL, &m, &d);
    b.o.fixed_h = 0.25;
    d.stop_step = number;
    assert_status(b.r.ctx, bench_run(&b), number < 4 ? GA_STOPPED : GA_OK);
    assert_true(ga_stepper_state(b.r.st)->t == 0.25 * number);
    assert_int_equal(ga_simulator_finished(b.sim), number == 4);
    assert_status(b.r.ctx, ga_simulator_run(b.sim), GA_OK);
    assert_true(ga_stepper_state(b.r.st)->t == 1.0);
    assert_int_equal(d.n_steps, 4);
    bench_close(&b);
  }
}

/* ---- Step sizes ---- */

static void fixed_steps(void **state)
{
  static const struct {
    double h;
    int steps;
    double last;
  } row[] = {{0.1, 10, 0.1},
             {0.3, 4, 0.1},
             {0.5, 2, 0.5},
             {2.0, 1, 1.0},
             {1.0 / 3.0, 3, 1. / 3},
             {0.333333333333, 3, 1.0 - 2 * 0.333333333333},
             {0.3333333334, 3, 1.0 - 2 * 0.3333333334}};
  toy m = {.kind = TOY_SPRING};
  static diary d;
  (void)state;
  for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
    bench b = bench_open(NULL, &m, &d);
    b.o.fixed_h = row[i].h;
    assert_status(b.r.ctx, bench_run(&b), GA_OK);
    const ga_simulate_stats *s = ga_simulator_stats(b.sim);
    assert_int_equal(s->steps, row[i].steps);
    assert_near(s->h_largest, fmin(row[i].h, 1.0), 1e-9, "h_largest");
    assert_near(s->h_smallest, fmin(row[i].last, row[i].h), 1e-15, "h_smallest");
    assert_near(ga_stepper_state(b.r.st)->t, 1.0, 1e-15, "t");
    assert_true(s->worst_error == 0.0 && s->rejected_error == 0);
    bench_close(&b);
  }
}

/* The same bits as the stepper alone. */
static void fixed_steps_are_the_steppers(void **state)
{
  static const char *const name[] = {"heavy_top", "mechatronic", "rolling_disk"};
  (void)state;
  for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
    bench b = bench_open(name[i], NULL, NULL);
    const double h = b.r.problem->h;
    b.o.fixed_h = h;
    b.o.t_end = 20.0 * h;
    assert_status(b.r.ctx, bench_run(&b), GA_OK);
    double *driven = rig_copy(&b.r);
    rig_start(&b.r, h);
    rig_steps(&b.r, h, 20);
    assert_true(rig_same_bits(&b.r, driven));
    free(driven);
    bench_close(&b);
  }
}

static void limits_of_steps(void **state)
{
  toy m = {.kind = TOY_SPRING};
  static diary d;
  (void)state;
  bench b = bench_open(NULL, &m, &d);
  b.o.t_end = 10.0;
  b.o.h_first = 1e-3;
  assert_status(b.r.ctx, bench_begin(&b, 0.0), GA_OK);
  assert_true(ga_simulator_next_step(b.sim) == 1e-3);
  assert_status(b.r.ctx, ga_simulator_step(b.sim), GA_OK);
  assert_true(ga_stepper_state(b.r.st)->t == 1e-3);
  assert_true(ga_simulator_next_step(b.sim) > 1e-3);

  b.o.rtol = b.o.atol = 1.0; /* nothing but h_max limits the steps */
  b.o.h_max = 0.07;
  assert_status(b.r.ctx, bench_run(&b), GA_OK);
  const ga_simulate_stats *s = ga_simulator_stats(b.sim);
  assert_true(s->h_largest == 0.07);
  b.o.h_max = 0.0; /* a tenth of the time by default */
  assert_status(b.r.ctx, bench_run(&b), GA_OK);
  assert_near(ga_simulator_stats(b.sim)->h_largest, 1.0, 0.0, "h_largest");

  b.o.h_first = 0.0;
  b.o.rtol = b.o.atol = 1e-6;
  assert_status(b.r.ctx, bench_run(&b), GA_OK);
  double usual = ga_simulator_stats(b.sim)->h_smallest,
         typical = 10.0 / (double)ga_simulator_stats(b.sim)->steps;
  assert_true(usual < typical);
  b.o.h_first = b.o.h_min = 0.5 * typical; /* never below, but for the last step */
  assert_status(b.r.ctx, bench_run(&b), GA_OK);
  assert_true(ga_simulator_stats(b.sim)->h_smallest >= b.o.h_min);
  b.o.h_min = b.o.h_first = 8.0 * typical; /* too much to ask */
  assert_status(b.r.ctx, bench_begin(&b, 0.0), GA_OK);
  assert_status(b.r.ctx, ga_simulator_run(b.sim), GA_ERR_STEP);
  assert_call_error(b.r.ctx, GA_REASON_TOLERANCE_NOT_MET, NULL, NULL);
  bench_close(&b);
}

/* Each tolerance has its say. */
static void tolerances(void **state)
{
  static const size_t at[] = {offsetof(ga_simulate_opts, rtol),   offsetof(ga_simulate_opts, atol),
                              offsetof(ga_simulate_opts, rtol_v), offsetof(ga_simulate_opts, atol_v),
                              offsetof(ga_simulate_opts, rtol_x), offsetof(ga_simulate_opts, atol_x)};
  long steps[6];
  (void)state;
  for (int mode = GA_PER_STEP; mode <= GA_PER_UNIT_STEP; mode++)
    for (int i = 0; i < 6; i++) {
      double *which;
      bench b = bench_open("spring_mass", NULL, NULL);
      b.o.error = (ga_error_mode)mode;
      for (int k = 0; k < 6; k += 2) { /* all wide but one pair, and of this one nearly all in one number */
        which = (double *)((char *)&b.o + at[k]);
        *which = k == i / 2 * 2 ? 1e-9 : 1.0;
        which = (double *)((char *)&b.o + at[k + 1]);
        *which = k == i / 2 * 2 ? 1e-9 : 1.0;
      }
      which = (double *)((char *)&b.o + at[i]);
      *which = 1e-4;
      assert_status(b.r.ctx, bench_run(&b), GA_OK);
      steps[i] = ga_simulator_stats(b.sim)->steps;
      int counts = mode == GA_PER_UNIT_STEP || i / 2 != 1;
      if (counts && steps[i] < 30) fail_msg("mode %d, tolerance %d: only %ld steps", mode, i, steps[i]);
      if (!counts && steps[i] > 30) fail_msg("mode %d, tolerance %d: %ld steps", mode, i, steps[i]);
      bench_close(&b);
    }
}

/* ---- Failures ---- */

static void smallest_step(void **state)
{
  static const struct {
    toy_kind kind;
    const char *says[3];
  } row[] = {
      {TOY_JUMP, {"h_min", "largest in the coordinate of 'the trolley'", "Is there a discontinuity"}},
      {TOY_WALL, {"h_min", "the callback 'force'", "smaller step"}},
      {TOY_WILD, {"h_min", "Newton's iteration did not converge", "the trolley"}},
  };
  static diary d;
  (void)state;
  for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
    toy m = {.kind = row[i].kind};
    bench b = bench_open(NULL, &m, &d);
    b.o.error = GA_PER_UNIT_STEP;
    b.o.output_every = 0.1;
    assert_status(b.r.ctx, bench_run(&b), GA_ERR_STEP);
    const ga_error *e = ga_context_error(b.r.ctx);
    for (int k = 0; k < 3; k++) assert_says(b.r.ctx, row[i].says[k]);
    assert_int_equal(e->block, GA_BLOCK_V);
    if (row[i].kind != TOY_WALL) assert_int_equal(e->index, 0);
    assert_near(e->t, 0.5, 1e-6, "time of the failure");
    assert_true(ga_stepper_state(b.r.st)->t == e->t); /* the last accepted step, and its outputs are there */
    assert_true(d.n_out >= 5);
    const ga_simulate_stats *s = ga_simulator_stats(b.sim);
    long rejected[] = {s->rejected_error, s->rejected_callback, s->rejected_newton};
    assert_true(rejected[i] > 3);
    bench_close(&b);
  }
}

/* Without error control too a step is taken in parts, until nothing helps. */
static void fixed_steps_that_fail(void **state)
{
  static diary d;
  (void)state;
  for (int kind = TOY_WALL; kind <= TOY_WILD; kind++) {
    toy m = {.kind = (toy_kind)kind};
    bench b = bench_open(NULL, &m, &d);
    b.o.fixed_h = 0.1;
    assert_status(b.r.ctx, bench_run(&b), GA_ERR_STEP);
    assert_says(b.r.ctx, kind == TOY_WALL ? "the callback 'force'" : "Newton's iteration did not converge");
    assert_says(b.r.ctx, "in all parts");
    assert_near(ga_stepper_state(b.r.st)->t, 0.5, 1e-3, "t");
    bench_close(&b);
  }
}

/* A time at which nothing can be evaluated is stepped over, and the equal steps' times are reached again. */
static void fixed_steps_over_a_hole(void **state)
{
  static diary d;
  (void)state;
  toy m = {.kind = TOY_SPRING, .hole = 0.35};
  bench b = bench_open(NULL, &m, &d);
  b.o.fixed_h = 0.01;
  assert_status(b.r.ctx, bench_run(&b), GA_OK);
  const ga_simulate_stats *stats = ga_simulator_stats(b.sim);
  const double t_end = b.o.t_end;
  assert_true(stats->rejected_callback >= 2);
  assert_near((double)stats->steps, t_end / 0.01 + 2.0, 0.5, "steps"); /* two parts before, one longer */
  assert_near(ga_stepper_state(b.r.st)->t, t_end, 1e-14, "t");
  assert_near(ga_simulator_next_step(b.sim), 0.01, 1e-15, "the step that comes next");
  bench_close(&b);
}

/* A callback that asks for smaller steps gets them, and what comes out is right. */
static void callbacks_that_ask_for_smaller_steps(void **state)
{
  static diary d;
  (void)state;
  for (int i = 0; i < 2; i++) {
    toy m = {
        .kind = TOY_SPRING, .random = rig_seed(0), .fail_rate = i ? 0.05 : 0.0, .narrow = i ? 0.0 : 2e-3};
    bench b = bench_open(NULL, &m, &d);
    b.o.defect_points = 0; /* calls that fail there refuse no steps */
    bench_event(&b, &d, 0.5, 1.0, 0, GA_EVENT_RESTART);
    assert_status(b.r.ctx, bench_begin(&b, 0.0), GA_OK); /* its first step is small enough at once */
    assert_status(b.r.ctx, ga_simulator_run(b.sim), GA_OK);
    const ga_simulate_stats *s = ga_simulator_stats(b.sim);
    assert_true(s->rejected_callback > 3);
    assert_int_equal(s->rejected_callback, m.failures);
    assert_int_equal(s->rejected_newton, 0);
    if (!i) assert_true(s->h_largest <= 2e-3);
    assert_near(ga_stepper_state(b.r.st)->q[0], sin(1.0), 2e-4, "q");
    bench_close(&b);
  }
}

/* The derivative without the spring: Newton's iteration converges up to a size of step, and fails beyond. */
static int springless(void *user, const ga_point *p, ga_jacobian *J)
{
  (void)user, (void)p;
  if (J->want & GA_WANT_D) J->D[0] = J->shift_vdot;
  return 0;
}

/* A size that failed is not tried again at once, and after a load the run goes on as without it. */
static void failed_size_is_not_retried_at_once(void **state)
{
  static diary d;
  toy m = {.kind = TOY_SPRING};
  double *saved = NULL, q[2];
  (void)state;
  for (int i = 0; i < 2; i++) {
    bench b = bench_open(NULL, &m, &d);
    b.o.t_end = 1000.0;
    b.o.output = NULL;
    b.o.rtol = b.o.atol = 1.0;
    b.r.def.jacobian = springless;
    assert_status(b.r.ctx, bench_begin(&b, 0.0), GA_OK);
    if (i) assert_status(b.r.ctx, ga_simulator_load(b.sim, saved), GA_OK);
    for (int k = 0; !i && k < 100; k++) assert_status(b.r.ctx, ga_simulator_step(b.sim), GA_OK);
    if (!i) saved = calloc(ga_simulator_saved_size(b.sim), sizeof *saved);
    if (!i) assert_status(b.r.ctx, ga_simulator_save(b.sim, saved), GA_OK);
    assert_status(b.r.ctx, ga_simulator_run(b.sim), GA_OK);
    const ga_simulate_stats *s = ga_simulator_stats(b.sim);
    if (!i) assert_true(s->rejected_newton > 3); /* it does fail */
    if (!i) assert_true(s->rejected_newton < s->steps / 20);
    q[i] = ga_stepper_state(b.r.st)->q[0];
    bench_close(&b);
  }
  assert_true(q[0] == q[1]);
  free(saved);
}

typedef struct listener {
  int warnings;
  char text[256];
} listener;

static void hear(void *user, ga_log_level level, const ga_error *message)
{
  listener *l = user;
  l->warnings += level == GA_LOG_WARNING;
  snprintf(l->text, sizeof l->text, "%s", message->text);
}

/* A tolerance below rounding is no reason to fail: what rounding leaves of the estimates is not counted as
 * error. */
static void tolerance_below_rounding(void **state)
{
  listener l = {0, ""};
  (void)state;
  bench b = bench_open("pendulum", NULL, NULL);
  b.r.ctx->opts.log = hear;
  b.r.ctx->opts.log_user = &l;
  b.o.t_end = 1e-4;
  b.o.error = GA_PER_UNIT_STEP;
  b.o.rtol = b.o.rtol_v = b.o.atol = b.o.atol_v = 1e-14;
  assert_status(b.r.ctx, bench_run(&b), GA_OK);
  assert_true(ga_stepper_state(b.r.st)->t == 1e-4);
  assert_int_equal(l.warnings,
                   ga_simulator_stats(b.sim)->at_rounding > 0); /* said once, whatever the count */
  bench_close(&b);
}

/* A ball that bounces, without loss, on a floor that is stiff: the contact is neither stepped over nor taken
 * for stiffness that needs no accuracy, nor is an error that grows when a shorter step is the first to end in
 * it rounding. Contacts last some ms, flights about a second. */
static void impacts(void **state)
{
  (void)state;
  static const struct {
    double stiffness, tol, loss; /* of the energy, by the method */
  } row[] = {{5e6, 1e-4, 0.06}, {5e7, 1e-4, 0.06}, {5e6, 1e-5, 0.01}, {5e7, 1e-5, 0.01}, {5e7, 1e-6, 0.002}};
  static const double depth[] = {0.4, 0.9, 1.0, 1.5, 3.0};
  for (int i = 0; i < 25; i += rig_brief() ? 6 : 1)
    for (int rho = 0; rho < 10; rho += rig_brief() ? 9 : 1) {
      toy m = {.kind = TOY_BOUNCE, .stiffness = row[i % 5].stiffness, .depth = depth[i / 5]};
      bench b = bench_open(NULL, &m, NULL);
      assert_status(b.r.ctx, ga_scheme_rho(b.r.ctx, 0.1 * rho, &b.r.opts.scheme), GA_OK);
      b.o.t_end = 3.0;
      b.o.rtol = b.o.atol = b.o.rtol_v = b.o.atol_v = row[i % 5].tol;
      assert_status(b.r.ctx, bench_run(&b), GA_OK);
      const ga_state *s = ga_stepper_state(b.r.st);
      const double in = fmax(-m.depth - s->q[0], 0.0), all = 0.5 + 10.0 * m.depth;
      const double energy =
          0.5 * s->v[0] * s->v[0] + 10.0 * (m.depth + s->q[0]) + 0.4 * m.stiffness * pow(in, 2.5);
      assert_near(energy, all, row[i % 5].loss * all, "energy");
      assert_int_equal(ga_simulator_stats(b.sim)->at_rounding, 0);
      assert_true(ga_simulator_stats(b.sim)->steps < 3000);
      bench_close(&b);
    }
}

/* Nor is it rounding where a force has a sharp peak, so that errors grow as shorter steps end closer to it.
 */
static void peaks(void **state)
{
  (void)state;
  for (int i = 0; i < 400; i += rig_brief() ? 21 : 1) {
    toy m = {.kind = TOY_PEAK, .depth = 0.3 + 0.03 * (i % 20), .stiffness = 1e-5 * pow(10.0, 0.2 * (i / 20))};
    bench b = bench_open(NULL, &m, NULL);
    b.o.t_end = 1.5;
    b.o.rtol = b.o.atol = 1e-5;
    assert_status(b.r.ctx, bench_run(&b), GA_OK);
    assert_int_equal(ga_simulator_stats(b.sim)->at_rounding, 0);
    bench_close(&b);
  }
}

static int driven_force(void *user, const ga_point *p, double *out)
{
  (void)user;
  out[0] = -p->lambda[0];
  return 0;
}

static int driven_phi(void *user, const ga_point *p, double *out)
{
  (void)user;
  out[0] = p->q[0] - sin(p->t);
  return 0;
}

static int driven_phi_dot(void *user, const ga_point *p, double *out)
{
  (void)user;
  out[0] = p->v[0] - cos(p->t);
  return 0;
}

static int driven_phi_acc(void *user, const ga_point *p, double *out)
{
  (void)user;
  out[0] = sin(p->t);
  return 0;
}

static int driven_output(void *user, const ga_state *s)
{
  double *worst = user;
  worst[0] = fmax(worst[0], fabs(s->vdot[0] + sin(s->t)));
  worst[1] = fmax(worst[1], fabs(s->lambda[0] - sin(s->t)));
  return 0;
}

/* A motion that is prescribed has no errors of q and v; those of accelerations and forces follow the
 * tolerance all the same, with (steps)⁻² ~ tol^(2/3). */
static void driven(void **state)
{
  (void)state;
  static const ga_method method[] = {GA_INDEX3, GA_STABILIZED, GA_SOI2};
  for (int i = 0; i < 9; i++) {
    toy m = {.kind = TOY_FREE};
    double worst[2] = {0}, tol = pow(100.0, -2 - i / 3);
    bench b = bench_open(NULL, &m, NULL);
    b.r.def.n_lambda = 1;
    b.r.def.force = driven_force;
    b.r.def.phi = driven_phi;
    b.r.def.phi_dot = driven_phi_dot;
    b.r.def.phi_acc = driven_phi_acc;
    b.r.opts.method = method[i % 3];
    b.o.t_end = 6.0;
    b.o.rtol = b.o.atol = tol;
    b.o.output = driven_output;
    b.o.output_every = 0.01;
    b.o.user = worst;
    assert_status(b.r.ctx, bench_run(&b), GA_OK);
    assert_true(fmax(worst[0], worst[1]) < 20.0 * pow(tol, 2.0 / 3.0));
    bench_close(&b);
  }
}

/* ---- Statistics ---- */

static void statistics(void **state)
{
  static const char *const name[] = {"heavy_top", "andrews", "mechatronic", "rolling_disk", "pendulum"};
  static diary d;
  (void)state;
  for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
    bench b = bench_open(name[i], NULL, &d);
    b.o.t_end *= 0.2;
    b.o.h_first = 0.1 * b.o.t_end; /* too large: there will be rejections */
    bench_event(&b, &d, b.r.problem->q0[0] + 1e-3, 1.0, 0, GA_EVENT_RESTART);
    assert_status(b.r.ctx, bench_run(&b), GA_OK);
    const ga_simulate_stats *s = ga_simulator_stats(b.sim);
    const ga_stats *st = ga_stepper_stats(b.r.st);
    assert_int_equal(s->steps, st->steps);
    assert_int_equal(s->steps, d.n_steps); /* the observer sees them all */
    assert_int_equal(s->rejected_newton + s->rejected_callback, st->failed_steps);
    assert_true(s->rejected_error + s->rejected_newton > 0);
    assert_true(s->h_smallest > 0.0 && s->h_smallest <= s->h_largest && s->h_largest <= 0.1 * b.o.t_end);
    assert_true(s->worst_error <= 1.0 && s->mean_error <= s->worst_error && s->mean_error > 0.0);
    assert_int_equal(s->events, d.n_event);
    assert_int_equal(s->restarts, s->events);
    assert_int_equal(s->outputs, 0);
    assert_true(s->h_largest * (double)s->steps >= b.o.t_end * (1.0 - 1e-12));
    bench_close(&b);
  }
}

/* ---- The same bits, whatever happened on the way ---- */

/* A run saved and loaded at random moments, into another simulator too, ends with the same bits as one that
 * was only saved then. */
static void continued_after_load(void **state)
{
  static const struct {
    const char *problem;
    ga_method method;
    ga_error_mode mode;
  } row[] = {{"heavy_top", GA_STABILIZED, GA_PER_STEP},    {"andrews31", GA_STABILIZED, GA_PER_STEP},
             {"mechatronic", GA_INDEX3, GA_PER_UNIT_STEP}, {"test15", GA_SOI2, GA_PER_UNIT_STEP},
             {"pendulum", GA_WEIGHTED, GA_PER_STEP},       {"spring_mass", GA_STABILIZED, GA_PER_UNIT_STEP}};
  static diary d, e;
  rig_random random = rig_seed(0);
  (void)state;
  for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
    bench a = bench_open(row[i].problem, NULL, &d);
    a.r.opts.method = row[i].method;
    a.o.error = row[i].mode;
    a.o.t_end *= 0.1;
    a.o.rtol = a.o.rtol_v = a.o.rtol_x = 1e-2;
    a.o.output_every = a.o.t_end / 50.0;
    bench_event(&a, &d, a.r.problem->q0[0] + 1e-4, 1.0, 0, GA_EVENT_RESTART);
    bench_event(&a, &d, a.r.problem->q0[0] - 1e-4, 1.0, 0, GA_EVENT_RESTART);
    bench b = a;
    e = d;
    b.o.user = &e;
    rig_build(&b.r);
    b.o.events = b.events;
    assert_status(b.r.ctx, ga_simulator_create(b.r.ctx, b.r.st, &b.o, &b.sim), GA_OK); /* never started */
    assert_status(a.r.ctx, bench_begin(&a, 0.0), GA_OK);
    double saved[1024];
    assert_true(ga_simulator_saved_size(a.sim) <= 1024);
    int moment = (int)rig_uniform(&random, 0.0, 12.0), loaded = 0;
    ga_status status = GA_OK;
    for (int k = 0; !status; k++) {
      if (k == moment) {
        assert_status(a.r.ctx, ga_simulator_save(a.sim, saved), GA_OK);
        e.n_out = d.n_out;
        e.n_event = d.n_event;
        memcpy(e.out_t, d.out_t, sizeof d.out_t);
        loaded = 1;
      }
      status = ga_simulator_step(a.sim);
    }
    assert_status(a.r.ctx, status, GA_STOPPED);
    assert_int_equal(loaded, 1);
    for (int again = 0; again < 2; again++) { /* the second time into one that has gone on */
      e.n_out = again ? 0 : e.n_out;
      assert_status(b.r.ctx, ga_simulator_load(b.sim, saved), GA_OK);
      assert_status(b.r.ctx, ga_simulator_run(b.sim), GA_OK);
      if (!rig_same_bits(&b.r, a.r.st->now.block)) fail_msg("%s: differs after load", row[i].problem);
      if (again) continue;
      assert_int_equal(d.n_out, 51);
      assert_int_equal(e.n_out, 51);
      assert_memory_equal(d.out_t, e.out_t, 51 * sizeof(double));
    }
    ga_simulator_destroy(&b.sim);
    ga_stepper_destroy(&b.r.st);
    ga_system_destroy(&b.r.sys);
    bench_close(&a);
  }
}

/* What stopped a run is still so after loading. */
static void stops_survive_loading(void **state)
{
  toy m = {.kind = TOY_FREE};
  static diary d;
  (void)state;
  for (int finished = 0; finished < 2; finished++) {
    bench b = bench_open(NULL, &m, &d);
    bench_event(&b, &d, finished ? 2.0 : 0.4, 1.0, 0, GA_EVENT_STOP);
    ga_status expected = finished ? GA_OK : GA_STOPPED;
    double saved[128];
    assert_status(b.r.ctx, bench_run(&b), expected);
    assert_true(ga_simulator_saved_size(b.sim) <= 128);
    assert_status(b.r.ctx, ga_simulator_save(b.sim, saved), GA_OK);
    assert_status(b.r.ctx, bench_begin(&b, 0.0), GA_OK); /* a new one */
    assert_status(b.r.ctx, ga_simulator_load(b.sim, saved), GA_OK);
    assert_status(b.r.ctx, ga_simulator_run(b.sim), expected);
    assert_int_equal(ga_simulator_last_event(b.sim), finished ? -1 : 0);
    assert_int_equal(ga_simulator_finished(b.sim), finished);
    assert_near(ga_stepper_state(b.r.st)->t, finished ? 1.0 : 0.4, 1e-15, "t");
    bench_close(&b);
  }
}

static void loads_refused(void **state)
{
  toy m = {.kind = TOY_FREE};
  static diary d;
  double saved[128];
  (void)state;
  bench b = bench_open(NULL, &m, &d);
  bench_event(&b, &d, 0.4, 1.0, 0, GA_EVENT_RECORD);
  assert_status(b.r.ctx, bench_begin(&b, 0.0), GA_OK);
  assert_status(b.r.ctx, ga_simulator_step(b.sim), GA_OK);
  assert_status(b.r.ctx, ga_simulator_save(b.sim, saved), GA_OK);
  double *before = rig_copy(&b.r);
  for (size_t i = 0; i < ga_simulator_saved_size(b.sim); i++) {
    double keep = saved[i];
    saved[i] = NAN;
    if (ga_simulator_load(b.sim, saved) >= 0) fail_msg("NaN as number %zu was accepted", i);
    assert_true(rig_same_bits(&b.r, before));
    saved[i] = keep;
  }
  assert_status(b.r.ctx, ga_simulator_load(b.sim, saved), GA_OK);
  assert_status(b.r.ctx, ga_simulator_run(b.sim), GA_OK);
  free(before);
  bench_close(&b);
}

/* Steps taken back at random, and steps that failed, leave no trace. */
static int fail_once(rig_meddle *m, int fn, double *out, ga_jacobian *J)
{
  (void)fn, (void)out, (void)J;
  if (m->calls != m->fault_at) return 0;
  m->struck = 1;
  return 1;
}

static void no_trace_of_rejections(void **state)
{
  static const struct {
    const char *problem;
    ga_method method;
    ga_lu_kind lu;
  } row[] = {{"heavy_top", GA_STABILIZED, GA_LU_DENSE},  {"heavy_top", GA_INDEX3, GA_LU_DENSE},
             {"heavy_top", GA_SOI2, GA_LU_DENSE},        {"andrews31", GA_STABILIZED, GA_LU_SPARSE},
             {"mechatronic", GA_STABILIZED, GA_LU_AUTO}, {"mechatronic", GA_INDEX3, GA_LU_SPARSE},
             {"test15", GA_WEIGHTED, GA_LU_AUTO},        {"rolling_disk", GA_STABILIZED, GA_LU_AUTO}};
  rig_random random = rig_seed(0);
  (void)state;
  for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
    rig_meddle m = {.after = fail_once};
    rig a = rig_open(row[i].problem);
    a.opts.method = row[i].method;
    a.opts.lu = row[i].lu;
    rig b = a;
    const double h = a.problem->h;
    rig_build(&a);
    rig_meddle_install(&m, &b.def, a.sys->nv);
    rig_build(&b);
    rig_start(&a, h);
    rig_start(&b, h);
    int undone = 0, failed = 0;
    for (int k = 0; k < 60; k++) {
      double size = k % 20 < 13 ? h : 0.8 * h;
      rig_steps(&a, size, 1);
      double what = rig_uniform(&random, 0.0, 1.0);
      if (what < 0.3) { /* a step of some size, seen and taken back */
        rig_steps(&b, size * rig_uniform(&random, 0.2, 1.2), 1);
        if (what < 0.1) assert_status(b.ctx, ga_stepper_error(b.st, NULL, b.st->est_v, NULL), GA_OK);
        assert_status(b.ctx, ga_stepper_undo(b.st), GA_OK);
        undone++;
      } else if (what < 0.6) { /* one that fails on its way */
        m.calls = m.struck = 0;
        m.fault_at = 1 + (long)rig_uniform(&random, 0.0, 6.0);
        assert_int_equal(ga_stepper_step(b.st, size), GA_RETRY_CALLBACK);
        assert_int_equal(m.struck, 1);
        m.fault_at = 0;
        failed++;
      }
      rig_steps(&b, size, 1);
      if (!rig_same_bits(&b, a.st->now.block))
        fail_msg("%s, method %d: differs at step %d after %d undone and %d failed steps", row[i].problem,
                 (int)row[i].method, k, undone, failed);
    }
    assert_true(undone > 5 && failed > 5);
    assert_int_equal(ga_stepper_stats(b.st)->steps, 60);
    ga_stepper_destroy(&b.st);
    ga_system_destroy(&b.sys);
    rig_close(&a);
  }
}

static void undo_refused(void **state)
{
  rig r = rig_open("pendulum");
  (void)state;
  assert_int_equal(ga_stepper_undo(NULL), GA_ERR_ARGUMENT);
  rig_build(&r);
  assert_int_equal(ga_stepper_undo(r.st), GA_ERR_ORDER);
  rig_start(&r, 1e-3);
  assert_int_equal(ga_stepper_undo(r.st), GA_ERR_ORDER); /* no step yet */
  assert_call_error(r.ctx, GA_REASON_CALL_ORDER, "ga_stepper_undo", NULL);
  rig_steps(&r, 1e-3, 3);
  double *before = rig_copy(&r), saved[256];
  rig_steps(&r, 1e-3, 1);
  assert_status(r.ctx, ga_stepper_undo(r.st), GA_OK);
  assert_true(rig_same_bits(&r, before));
  assert_int_equal(ga_stepper_undo(r.st), GA_ERR_ORDER); /* once only */
  rig_steps(&r, 1e-3, 1);
  assert_int_equal(ga_stepper_step(r.st, -1.0), GA_ERR_ARGUMENT); /* changes nothing */
  assert_status(r.ctx, ga_stepper_undo(r.st), GA_OK);
  assert_true(rig_same_bits(&r, before));
  rig_steps(&r, 1e-3, 1);
  assert_true(ga_stepper_saved_size(r.st) <= 256);
  assert_status(r.ctx, ga_stepper_save(r.st, saved), GA_OK);
  assert_int_equal(ga_stepper_undo(r.st), GA_ERR_ORDER);
  free(before);
  rig_close(&r);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(options_refused),
      cmocka_unit_test(other_options_refused),
      cmocka_unit_test(without_what_is_needed),
      cmocka_unit_test(output_times),
      cmocka_unit_test(output_times_at_random),
      cmocka_unit_test(outputs_change_nothing),
      cmocka_unit_test(outputs_within_steps),
      cmocka_unit_test(outputs_have_rates_of_their_time),
      cmocka_unit_test(events_in_order),
      cmocka_unit_test(directions),
      cmocka_unit_test(events_at_the_ends_of_steps),
      cmocka_unit_test(stopping_event),
      cmocka_unit_test(restarting_events),
      cmocka_unit_test(flights_shorter_than_steps),
      cmocka_unit_test(restarts_at_once_and_at_the_end),
      cmocka_unit_test(event_functions_that_fail),
      cmocka_unit_test(answers_of_on_event),
      cmocka_unit_test(stopped_by_callbacks),
      cmocka_unit_test(fixed_steps),
      cmocka_unit_test(fixed_steps_are_the_steppers),
      cmocka_unit_test(limits_of_steps),
      cmocka_unit_test(tolerances),
      cmocka_unit_test(smallest_step),
      cmocka_unit_test(fixed_steps_that_fail),
      cmocka_unit_test(fixed_steps_over_a_hole),
      cmocka_unit_test(callbacks_that_ask_for_smaller_steps),
      cmocka_unit_test(failed_size_is_not_retried_at_once),
      cmocka_unit_test(tolerance_below_rounding),
      cmocka_unit_test(impacts),
      cmocka_unit_test(peaks),
      cmocka_unit_test(driven),
      cmocka_unit_test(statistics),
      cmocka_unit_test(continued_after_load),
      cmocka_unit_test(stops_survive_loading),
      cmocka_unit_test(loads_refused),
      cmocka_unit_test(no_trace_of_rejections),
      cmocka_unit_test(undo_refused),
  };
  return cmocka_run_group_tests_name("core: simulator", tests, rig_hook_klu, NULL);
}
