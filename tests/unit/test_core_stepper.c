/* The stepper: arguments, determinism, saving, failed steps, reuse of factors, and no allocation in a step.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core_rig.h"

/* Two rigs of one problem, in one context. */
typedef struct pair {
  rig a, b;
} pair;

static pair open_pair(const char *name)
{
  pair p = {.a = rig_open(name)};
  p.b = p.a;
  return p;
}

static void close_pair(pair *p)
{
  ga_stepper_destroy(&p->b.st);
  ga_system_destroy(&p->b.sys);
  rig_close(&p->a);
}

/* Builds both, starts both and takes n steps of size h with both. */
static void run_pair(pair *p, double h, int n)
{
  rig *const both[] = {&p->a, &p->b};
  for (int i = 0; i < 2; i++) {
    rig_build(both[i]);
    rig_start(both[i], h);
    rig_steps(both[i], h, n);
  }
}

/* ---- Arguments ---- */

static void options_refused(void **state)
{
  rig r = rig_open("pendulum");
  ga_stepper_opts o;
  (void)state;
  assert_status(r.ctx, ga_system_create(r.ctx, &r.def, &r.sys), GA_OK);
  struct {
    const char *field;
    double is, tol;
    int method, max_iterations, patience;
  } row[] = {{"method", 99, 1e-10, 99, 12, 4},
             {"method", -1, 1e-10, -1, 12, 4},
             {"newton.tol", 0, 0.0, 1, 12, 4},
             {"newton.tol", -1, -1.0, 1, 12, 4},
             {"newton.tol", 1, 1.0, 1, 12, 4},
             {"newton.tol", NAN, NAN, 1, 12, 4},
             {"newton.max_iterations", 0, 1e-10, 1, 0, 4},
             {"newton.patience", -1, 1e-10, 1, 12, -1}};
  for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
    ga_stepper *st = (ga_stepper *)&o;
    long live = rig_memory.live;
    o = ga_stepper_defaults();
    o.method = (ga_method)row[i].method;
    o.newton.tol = row[i].tol;
    o.newton.max_iterations = row[i].max_iterations;
    o.newton.patience = row[i].patience;
    ga_context_clear_error(r.ctx);
    assert_int_equal(ga_stepper_create(r.ctx, r.sys, &o, &st), GA_ERR_ARGUMENT);
    assert_null(st);
    assert_call_error(r.ctx, i < 2 ? GA_REASON_NOT_A_CHOICE : GA_REASON_OUT_OF_RANGE, "stepper",
                      row[i].field);
    assert_error_number(r.ctx, 0, row[i].is);
    assert_int_equal(rig_memory.live, live);
  }
  assert_int_equal(ga_stepper_create(NULL, r.sys, NULL, &r.st), GA_ERR_ARGUMENT);
  assert_int_equal(ga_stepper_create(r.ctx, NULL, NULL, &r.st), GA_ERR_ARGUMENT);
  assert_call_error(r.ctx, GA_REASON_NULL_ARGUMENT, "ga_stepper_create", "sys");
  assert_int_equal(ga_stepper_create(r.ctx, r.sys, NULL, NULL), GA_ERR_ARGUMENT);
  assert_call_error(r.ctx, GA_REASON_NULL_ARGUMENT, "ga_stepper_create", "out");
  assert_status(r.ctx, ga_stepper_create(r.ctx, r.sys, NULL, &r.st), GA_OK); /* the defaults */
  assert_ptr_equal(ga_stepper_system(r.st), r.sys);
  rig_close(&r);
}

static void before_the_start(void **state)
{
  rig r = rig_open("pendulum");
  double saved[256], phi;
  (void)state;
  rig_build(&r);
  assert_null(ga_stepper_state(r.st));
  assert_int_equal(ga_stepper_step(r.st, 1e-3), GA_ERR_ORDER);
  assert_call_error(r.ctx, GA_REASON_CALL_ORDER, "ga_stepper_step", NULL);
  assert_int_equal(ga_stepper_run(r.st, 1e-3, 1, NULL, NULL), GA_ERR_ORDER);
  assert_int_equal(ga_stepper_save(r.st, saved), GA_ERR_ORDER);
  assert_int_equal(ga_stepper_constraint_residuals(r.st, &phi, NULL, NULL), GA_ERR_ORDER);
  assert_int_equal(ga_stepper_stats(r.st)->steps, 0);
  rig_close(&r);
}

static void without_a_stepper(void **state)
{
  double x = 0.0;
  (void)state;
  assert_int_equal(ga_stepper_step(NULL, 1e-3), GA_ERR_ARGUMENT);
  assert_int_equal(ga_stepper_run(NULL, 1e-3, 1, NULL, NULL), GA_ERR_ARGUMENT);
  assert_int_equal(ga_stepper_save(NULL, &x), GA_ERR_ARGUMENT);
  assert_int_equal(ga_stepper_load(NULL, &x), GA_ERR_ARGUMENT);
  assert_int_equal(ga_stepper_constraint_residuals(NULL, &x, NULL, NULL), GA_ERR_ARGUMENT);
  assert_null(ga_stepper_state(NULL));
  assert_null(ga_stepper_stats(NULL));
  assert_null(ga_stepper_system(NULL));
}

static void step_sizes_refused(void **state)
{
  rig r = rig_open("pendulum");
  const double h[] = {0.0, -1e-3, NAN, INFINITY, -INFINITY};
  (void)state;
  rig_build(&r);
  ga_start_opts o = ga_start_defaults();
  o.h = 1e-3;
  const ex_problem *p = r.problem;
  assert_status(r.ctx, ga_stepper_start(r.st, &o, 1000.0, p->q0, p->v0, NULL, NULL, NULL, NULL), GA_OK);
  double *before = rig_copy(&r);
  for (size_t i = 0; i < sizeof h / sizeof *h; i++) {
    assert_int_equal(ga_stepper_step(r.st, h[i]), GA_ERR_ARGUMENT);
    assert_call_error(r.ctx, GA_REASON_OUT_OF_RANGE, "ga_stepper_step", "h");
    assert_error_number(r.ctx, 0, h[i]);
    assert_int_equal(ga_stepper_run(r.st, h[i], 5, NULL, NULL), GA_ERR_ARGUMENT);
  }
  assert_int_equal(ga_stepper_step(r.st, 1e-14), GA_ERR_ARGUMENT);
  assert_string_equal(ga_context_error(r.ctx)->text,
                      "t = 1000: ga_stepper_step: h is 1e-14; it must be large enough to change the time");
  assert_true(ga_context_error(r.ctx)->t == 1000.0);
  assert_int_equal(ga_stepper_run(r.st, 1e-3, -1, NULL, NULL), GA_ERR_ARGUMENT);
  assert_true(rig_same_bits(&r, before));
  assert_int_equal(ga_stepper_stats(r.st)->steps, 0);
  free(before);
  rig_close(&r);
}

/* ---- Time, runs ---- */

static void time_does_not_accumulate(void **state)
{
  const double t0 = 0.3, h = 1e-3;
  rig r = rig_open("pendulum");
  ga_start_opts o = ga_start_defaults();
  (void)state;
  o.h = h;
  rig_build(&r);
  assert_status(r.ctx, ga_stepper_start(r.st, &o, t0, r.problem->q0, r.problem->v0, NULL, NULL, NULL, NULL),
                GA_OK);
  const ga_state *s = ga_stepper_state(r.st);
  for (int n = 1; n <= 1000; n++) {
    rig_steps(&r, h, 1);
    assert_true(s->t == t0 + n * h); /* the very same bits */
  }
  double base = s->t; /* counted anew from where h changes */
  for (int n = 1; n <= 10; n++) {
    rig_steps(&r, 0.7e-3, 1);
    assert_true(s->t == base + n * 0.7e-3);
  }
  rig_close(&r);
}

typedef struct watcher {
  int calls, stop_at;
  double last_t;
} watcher;

static int watch(void *user, const ga_stepper *st)
{
  watcher *w = user;
  w->last_t = ga_stepper_state(st)->t;
  return ++w->calls == w->stop_at;
}

static void runs_and_observers(void **state)
{
  pair p = open_pair("pendulum");
  const double h = 1e-3;
  watcher w = {0, 0, -1.0};
  (void)state;
  rig_build(&p.a);
  rig_start(&p.a, h);
  assert_status(p.a.ctx, ga_stepper_run(p.a.st, h, 0, watch, &w), GA_OK);
  assert_int_equal(w.calls, 1); /* at the start */
  assert_true(w.last_t == 0.0);
  assert_status(p.a.ctx, ga_stepper_run(p.a.st, h, 10, watch, &w), GA_OK);
  assert_int_equal(w.calls, 12);
  assert_true(w.last_t == 10 * h);
  assert_status(p.a.ctx, ga_stepper_run(p.a.st, h, 5, NULL, NULL), GA_OK);
  assert_int_equal(ga_stepper_stats(p.a.st)->steps, 15);
  w = (watcher){0, 4, 0.0}; /* at the start and after three steps */
  assert_int_equal(ga_stepper_run(p.a.st, h, 10, watch, &w), GA_STOPPED);
  assert_int_equal(ga_stepper_stats(p.a.st)->steps, 18);
  w = (watcher){0, 1, 0.0};
  assert_int_equal(ga_stepper_run(p.a.st, h, 10, watch, &w), GA_STOPPED);
  assert_int_equal(ga_stepper_stats(p.a.st)->steps, 18);
  rig_build(&p.b); /* a run is its steps */
  rig_start(&p.b, h);
  rig_steps(&p.b, h, 18);
  assert_true(rig_same_bits(&p.b, p.a.st->now.block));
  close_pair(&p);
}

static void constraint_residuals(void **state)
{
  rig r = rig_open("test15");
  double phi = -1.0, rate = -1.0, k = -1.0;
  (void)state;
  r.opts.method = GA_INDEX3;
  rig_build(&r);
  rig_start(&r, 0.01);
  rig_steps(&r, 0.01, 20);
  double *before = rig_copy(&r);
  assert_status(r.ctx, ga_stepper_constraint_residuals(r.st, &phi, &rate, &k), GA_OK);
  const double *q = r.st->now.q, *v = r.st->now.v;
  assert_true(phi == fabs(q[0] * q[0] * q[1] - 1.0));
  assert_true(rate == fabs(2.0 * q[0] * q[1] * v[0] + q[0] * q[0] * v[1]));
  assert_true(k == fabs(q[0] * v[0] * v[1] + 2.0));
  assert_below(phi, 1e-14, "phi");
  assert_below(k, 1e-13, "k");
  assert_true(rate > 1e-6); /* the index-3 form lets it drift */
  assert_status(r.ctx, ga_stepper_constraint_residuals(r.st, NULL, NULL, NULL), GA_OK);
  assert_true(rig_same_bits(&r, before));
  free(before);
  rig_close(&r);

  r = rig_open("spring_mass"); /* no constraints at all */
  rig_build(&r);
  rig_start(&r, 0.01);
  assert_status(r.ctx, ga_stepper_constraint_residuals(r.st, &phi, &rate, &k), GA_OK);
  assert_true(phi == 0.0 && rate == 0.0 && k == 0.0);
  rig_close(&r);
}

/* ---- Determinism, saving and loading ---- */

static void same_bits_twice(void **state)
{
  (void)state;
  for (int i = 0; ex_problem_at(i); i++) {
    pair p = open_pair(ex_problem_at(i)->name);
    run_pair(&p, p.a.problem->h, 30);
    if (!rig_same_bits(&p.b, p.a.st->now.block)) fail_msg("%s: two runs differ", p.a.problem->name);
    assert_memory_equal(&p.a.st->stats, &p.b.st->stats, sizeof(ga_stats));
    close_pair(&p);
  }
}

static void continued_after_load(void **state)
{
  (void)state;
  for (int i = 0; ex_problem_at(i); i++) {
    pair p = open_pair(ex_problem_at(i)->name);
    const double h = p.a.problem->h;
    rig_build(&p.a);
    rig_build(&p.b);
    rig_start(&p.a, h);
    rig_steps(&p.a, h, 10);
    size_t n = ga_stepper_saved_size(p.a.st);
    double *saved = malloc(n * sizeof *saved);
    assert_non_null(saved);
    assert_status(p.a.ctx, ga_stepper_save(p.a.st, saved), GA_OK);
    rig_steps(&p.a, h, 10);
    rig_steps(&p.a, 0.7 * h, 3);
    assert_status(p.b.ctx, ga_stepper_load(p.b.st, saved), GA_OK); /* into a stepper never started */
    rig_steps(&p.b, h, 10);
    rig_steps(&p.b, 0.7 * h, 3);
    if (!rig_same_bits(&p.b, p.a.st->now.block)) fail_msg("%s: differs after load", p.a.problem->name);
    /* and into one that has gone on */
    assert_status(p.a.ctx, ga_stepper_load(p.a.st, saved), GA_OK);
    rig_steps(&p.a, h, 10);
    rig_steps(&p.a, 0.7 * h, 3);
    if (!rig_same_bits(&p.b, p.a.st->now.block)) fail_msg("%s: differs after load back", p.a.problem->name);
    free(saved);
    close_pair(&p);
  }
}

static void loads_refused(void **state)
{
  pair p = open_pair("pendulum");
  const double bad[] = {NAN, INFINITY};
  double saved[256];
  (void)state;
  run_pair(&p, 1e-3, 3);
  assert_true(ga_stepper_saved_size(p.a.st) <= 256);
  assert_int_equal(ga_stepper_save(p.a.st, NULL), GA_ERR_ARGUMENT);
  assert_status(p.a.ctx, ga_stepper_save(p.a.st, saved), GA_OK);
  double *before = rig_copy(&p.b);
  assert_int_equal(ga_stepper_load(p.b.st, NULL), GA_ERR_ARGUMENT);
  for (size_t i = 0; i < ga_stepper_saved_size(p.a.st); i++)
    for (int k = 0; k < 2; k++) {
      double keep = saved[i];
      saved[i] = bad[k];
      assert_true(ga_stepper_load(p.b.st, saved) < 0);
      saved[i] = keep;
    }
  saved[5] = NAN;
  assert_int_equal(ga_stepper_load(p.b.st, saved), GA_ERR_NAN);
  assert_call_error(p.b.ctx, GA_REASON_NOT_FINITE, "ga_stepper_load", "saved");
  assert_int_equal(ga_context_error(p.b.ctx)->item, 5);
  saved[0] += 1.0;
  assert_int_equal(ga_stepper_load(p.b.st, saved), GA_ERR_ARGUMENT);
  assert_call_error(p.b.ctx, GA_REASON_SAVED_STATE, "ga_stepper_load", "the length");
  assert_true(rig_same_bits(&p.b, before));
  rig_steps(&p.b, 1e-3, 1);
  free(before);
  close_pair(&p);
}

/* ---- Steps that fail ---- */

/* A step so large that Newton's iteration cannot follow; then a small one. */
static void failed_step_changes_nothing(void **state)
{
  static const char *const name[] = {"heavy_top", "pendulum", "mechatronic", "andrews", "andrews31"};
  (void)state;
  for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
    pair p = open_pair(name[i]);
    const double h = p.a.problem->h;
    p.a.opts.newton.max_iterations = p.b.opts.newton.max_iterations = 6;
    run_pair(&p, h, 3);
    double *before = rig_copy(&p.a);
    ga_status status = ga_stepper_step(p.a.st, 1e4 * h);
    if (status <= 0) fail_msg("%s: status %d from an impossible step", name[i], (int)status);
    const ga_reason reason = ga_context_error(p.a.ctx)->reason;
    assert_true(status == GA_RETRY_SINGULAR
                    ? reason == GA_REASON_SINGULAR_STEP
                    : reason == GA_REASON_NEWTON || reason == GA_REASON_NEWTON_ROUNDING);
    assert_true(rig_same_bits(&p.a, before));
    assert_true(ga_stepper_state(p.a.st)->t == 3 * h);
    assert_int_equal(ga_stepper_stats(p.a.st)->failed_steps, 1);
    assert_int_equal(ga_stepper_stats(p.a.st)->steps, 3);
    free(before);
    rig_steps(&p.a, 0.5 * h, 2); /* as if nothing had been */
    rig_steps(&p.b, 0.5 * h, 2);
    assert_below(rig_distance(&p.a, &p.b), 1e-9, name[i]);
    close_pair(&p);
  }
}

/* A step taken back, and another size tried in between: the run goes on as if it had never been. */
static void steps_taken_back(void **state)
{
  (void)state;
  for (int i = 0; ex_problem_at(i); i++) {
    pair p = open_pair(ex_problem_at(i)->name);
    const double h = p.a.problem->h;
    run_pair(&p, h, 5);
    for (int k = 0; k < 5; k++) {
      double *before = rig_copy(&p.a);
      rig_steps(&p.a, k & 1 ? 0.5 * h : h, 1);
      assert_false(rig_same_bits(&p.a, before));
      assert_status(p.a.ctx, ga_stepper_undo(p.a.st), GA_OK);
      assert_true(rig_same_bits(&p.a, before));
      assert_true(ga_stepper_state(p.a.st)->t == before[p.a.st->now.scalar - p.a.st->now.block]);
      assert_int_equal(ga_stepper_undo(p.a.st), GA_ERR_ORDER); /* once only */
      assert_call_error(p.a.ctx, GA_REASON_CALL_ORDER, "ga_stepper_undo", NULL);
      free(before);
      rig_steps(&p.a, h, 1);
      rig_steps(&p.b, h, 1);
      if (!rig_same_bits(&p.a, p.b.st->now.block))
        fail_msg("%s: differs after a step back", p.a.problem->name);
    }
    assert_int_equal(ga_stepper_stats(p.a.st)->steps, 10);
    close_pair(&p);
  }
}

static void undo_without_a_step_is_refused(void **state)
{
  rig r = rig_open("pendulum");
  double saved[256];
  (void)state;
  assert_int_equal(ga_stepper_undo(NULL), GA_ERR_ARGUMENT);
  rig_build(&r);
  assert_int_equal(ga_stepper_undo(r.st), GA_ERR_ORDER);
  rig_start(&r, 1e-3);
  assert_int_equal(ga_stepper_undo(r.st), GA_ERR_ORDER);
  rig_steps(&r, 1e-3, 1);
  assert_status(r.ctx, ga_stepper_save(r.st, saved), GA_OK);
  assert_status(r.ctx, ga_stepper_load(r.st, saved), GA_OK);
  assert_int_equal(ga_stepper_undo(r.st), GA_ERR_ORDER);
  rig_steps(&r, 1e-3, 1);
  assert_status(r.ctx, ga_stepper_project_velocity(r.st, GA_PROJECT_PLAIN, NULL), GA_OK);
  assert_int_equal(ga_stepper_undo(r.st), GA_ERR_ORDER);
  rig_close(&r);
}

/* ---- Ways to the same result ---- */

static void reuse_policies_agree(void **state)
{
  static const char *const name[] = {"heavy_top",    "mechatronic", "test15",
                                     "rolling_disk", "andrews31",   "test71"};
  (void)state;
  for (size_t i = 0; i < sizeof name / sizeof *name; i++)
    for (int reuse = GA_FRESH_STEP; reuse <= GA_FRESH_ITERATION; reuse++) {
      pair p = open_pair(name[i]);
      p.b.opts.newton.reuse = (ga_reuse)reuse;
      run_pair(&p, 0.5 * p.a.problem->h, 50);
      const ga_stats *kept = ga_stepper_stats(p.a.st), *fresh = ga_stepper_stats(p.b.st);
      assert_below(rig_distance(&p.a, &p.b), 1e-8, name[i]);
      assert_true(kept->factorisations <= fresh->factorisations);
      if (reuse == GA_FRESH_STEP) assert_true(fresh->factorisations >= 50);
      /* the one of the start, and one per iteration */
      if (reuse == GA_FRESH_ITERATION) assert_int_equal(fresh->factorisations, 1 + fresh->iterations);
      close_pair(&p);
    }
}

static void predictors_agree(void **state)
{
  pair p = open_pair("heavy_top");
  (void)state;
  p.b.opts.newton.predictor = GA_PREDICT_CONSTANT;
  run_pair(&p, 1e-3, 50);
  assert_below(rig_distance(&p.a, &p.b), 1e-8, "predictors");
  close_pair(&p);
}

/* Nothing turns a symmetric top about its axis: its spin about it is what it was, exactly in the body's axes,
 * and but for the method's own second order in space. The weighted family needs M where the rotation really
 * leads for that. */
static void spin_of_a_top(void **state)
{
  static const ga_method method[] = {GA_STABILIZED, GA_SOI2, GA_HHT_SOI2, GA_WEIGHTED};
  (void)state;
  for (size_t i = 0; i < sizeof method / sizeof *method; i++)
    for (int left = 0; left < 2; left++) {
      double drift[2];
      for (int k = 0; k < 2; k++) {
        rig r = rig_open(left ? "heavy_top_left" : "heavy_top");
        r.opts.method = method[i];
        if (method[i] == GA_HHT_SOI2) assert_int_equal(ga_scheme_hht(r.ctx, -0.05, &r.opts.scheme), GA_OK);
        rig_build(&r);
        rig_start(&r, 1e-3 / (k + 1));
        rig_steps(&r, 1e-3 / (k + 1), 1000 * (k + 1));
        const double *R = ga_stepper_state(r.st)->q + 3, *w = ga_stepper_state(r.st)->v + 3;
        drift[k] = fabs((left ? w[1] : R[1] * w[0] + R[4] * w[1] + R[7] * w[2]) - 150.0);
        rig_close(&r);
      }
      assert_below(drift[0], left ? 1e-9 : 4e-4, "spin after 1 s");
      assert_below(drift[1], left ? 1e-9 : 1e-4, "spin with half the step");
    }
}

static void eta_terms_agree(void **state)
{
  static const char *const name[] = {"heavy_top", "mechatronic", "test15", "andrews31"};
  (void)state;
  for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
    pair p = open_pair(name[i]);
    p.a.opts.newton.eta_terms = GA_ETA_FULL;
    p.b.opts.newton.eta_terms = GA_ETA_TRIANGULAR;
    run_pair(&p, p.a.problem->h, 50);
    assert_below(rig_distance(&p.a, &p.b), 1e-8, name[i]);
    close_pair(&p);
  }
}

static void dense_and_sparse_agree(void **state)
{
  (void)state;
  for (int i = 0; ex_problem_at(i); i++)
    for (int method = 0; method < 2; method++) {
      pair p = open_pair(ex_problem_at(i)->name);
      p.a.opts.method = p.b.opts.method = (ga_method)method;
      p.a.opts.newton.reuse = p.b.opts.newton.reuse = GA_FRESH_ITERATION;
      p.a.opts.newton.tol = p.b.opts.newton.tol = 1e-12;
      p.a.opts.lu = GA_LU_DENSE;
      p.b.opts.lu = GA_LU_SPARSE;
      run_pair(&p, p.a.problem->h, 20);
      assert_below(rig_distance(&p.a, &p.b), 1e-9, p.a.problem->name);
      close_pair(&p);
    }
}

/* ---- The state ---- */

/* One copy takes all of it, as core.h promises. */
static void arrays_without_gaps(void **state)
{
  (void)state;
  for (int i = 0; ex_problem_at(i); i++) {
    rig r = rig_open(ex_problem_at(i)->name);
    rig_build(&r);
    rig_start(&r, r.problem->h);
    for (int k = 0; k < 3; k++) {
      const ga_state *s = ga_stepper_state(r.st);
      const int nv = r.sys->nv, nl = ga_system_size(r.sys, GA_BLOCK_LAMBDA),
                np = ga_system_size(r.sys, GA_BLOCK_PSI), nx = ga_system_size(r.sys, GA_BLOCK_X);
      assert_ptr_equal(s->v, s->q + r.sys->nq);
      assert_ptr_equal(s->vdot, s->v + nv);
      assert_ptr_equal(s->a, s->vdot + nv);
      assert_ptr_equal(s->lambda, s->a + nv);
      assert_ptr_equal(s->psi, s->lambda + nl);
      assert_ptr_equal(s->eta, s->psi + np);
      assert_ptr_equal(s->x, s->eta + nl);
      assert_ptr_equal(s->xdot, s->x + nx);
      assert_ptr_equal(s->w, s->xdot + nx);
      assert_ptr_equal(s->y, s->w + nx);
      rig_steps(&r, 0.1 * r.problem->h, 1);
    }
    rig_close(&r);
  }
}

/* ---- Statistics ---- */

static void statistics(void **state)
{
  rig r = rig_open("heavy_top");
  const ga_stats *s;
  (void)state;
  rig_build(&r);
  rig_start(&r, 1e-3);
  s = ga_stepper_stats(r.st);
  assert_int_equal(s->steps, 0);
  assert_int_equal(s->factorisations, 1); /* so that the first step finds one */
  rig_steps(&r, 1e-3, 20);
  assert_int_equal(s->steps, 20);
  assert_int_equal(s->failed_steps, 0);
  assert_int_equal(s->iterations, s->residuals);
  assert_int_equal(s->iterations, s->solves);
  assert_int_equal(s->jacobians, s->factorisations);
  assert_int_equal(s->constraint_jacobians, 20); /* B_n of each step; the start's serves the first */
  assert_int_equal(s->difference_jacobians, 0);
  assert_true(s->rcond > 1e-6 && s->rcond <= 1.0);
  rig_close(&r);
}

/* ---- Memory ---- */

/* None, but where KLU has to search for pivots anew, which lin.h announces. */
static void no_allocation_in_steps(void **state)
{
  static const char *const name[] = {"heavy_top", "mechatronic", "test71", "andrews31"};
  (void)state;
  for (size_t i = 0; i < sizeof name / sizeof *name; i++)
    for (int lu = i < 3 ? GA_LU_DENSE : GA_LU_SPARSE; lu <= GA_LU_SPARSE; lu++)
      for (int reuse = GA_REUSE; reuse <= GA_FRESH_ITERATION; reuse++) {
        rig r = rig_open(name[i]);
        const double h = 0.3 * r.problem->h; /* all of the 200 steps within the problem's time */
        double saved[1024], change = 0.0;
        r.opts.lu = (ga_lu_kind)lu;
        r.opts.newton.reuse = (ga_reuse)reuse;
        rig_build(&r);
        rig_start(&r, h);
        long searched = ga_lu_get_info(ga__matrix_in_use(r.st)->lu)->n_factor;
        long before = rig_memory.count;
        for (int k = 0; k < 200 && ga_stepper_state(r.st)->t + h < r.problem->t_end; k++) rig_steps(&r, h, 1);
        assert_true(ga_stepper_saved_size(r.st) <= 1024);
        assert_status(r.ctx, ga_stepper_save(r.st, saved), GA_OK);
        assert_status(r.ctx, ga_stepper_load(r.st, saved), GA_OK);
        assert_status(r.ctx, ga_stepper_constraint_residuals(r.st, &change, &change, &change), GA_OK);
        long repivoted = ga_lu_get_info(ga__matrix_in_use(r.st)->lu)->n_factor - searched;
        if (rig_memory.count != before && !(lu == GA_LU_SPARSE && repivoted))
          fail_msg("%s, lu %d, reuse %d: %ld allocations", name[i], lu, reuse, rig_memory.count - before);
        rig_close(&r);
      }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(options_refused),
      cmocka_unit_test(before_the_start),
      cmocka_unit_test(without_a_stepper),
      cmocka_unit_test(step_sizes_refused),
      cmocka_unit_test(time_does_not_accumulate),
      cmocka_unit_test(runs_and_observers),
      cmocka_unit_test(constraint_residuals),
      cmocka_unit_test(same_bits_twice),
      cmocka_unit_test(continued_after_load),
      cmocka_unit_test(loads_refused),
      cmocka_unit_test(failed_step_changes_nothing),
      cmocka_unit_test(steps_taken_back),
      cmocka_unit_test(undo_without_a_step_is_refused),
      cmocka_unit_test(reuse_policies_agree),
      cmocka_unit_test(predictors_agree),
      cmocka_unit_test(spin_of_a_top),
      cmocka_unit_test(eta_terms_agree),
      cmocka_unit_test(dense_and_sparse_agree),
      cmocka_unit_test(arrays_without_gaps),
      cmocka_unit_test(statistics),
      cmocka_unit_test(no_allocation_in_steps),
  };
  return cmocka_run_group_tests_name("core: stepper", tests, rig_hook_klu, NULL);
}
