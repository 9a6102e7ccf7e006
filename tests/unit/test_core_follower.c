/* The follower: the steps of another run in parts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core_rig.h"
#include <float.h>

/* The same problem once more, in the same context. */
static rig twin_of(const rig *r)
{
  rig twin = *r;
  twin.def = ga_system_defaults();
  twin.problem->define(&twin.def);
  twin.st = NULL;
  twin.sys = NULL;
  rig_build(&twin);
  return twin;
}

static void twin_close(rig *twin)
{
  ga_stepper_destroy(&twin->st);
  ga_system_destroy(&twin->sys);
}

/* A simulator with a follower of the same system. */
typedef struct pair {
  rig r;
  ga_stepper *st;
  ga_simulator *sim;
  ga_follower *f;
  long seen; /* by the observer */
  double t_seen;
} pair;

static int see(void *user, const ga_stepper *st)
{
  pair *p = user;
  assert_true(ga_stepper_state(st)->t >= p->t_seen);
  p->t_seen = ga_stepper_state(st)->t;
  p->seen++;
  return 0;
}

static pair pair_of(rig r, int parts, double fixed_h, double t_end)
{
  pair p = {.r = r, .t_seen = -HUGE_VAL};
  ga_simulate_opts o = ga_simulate_defaults();
  ga_follower_opts fo = ga_follower_defaults();
  assert_status(p.r.ctx, ga_stepper_create(p.r.ctx, p.r.sys, &p.r.opts, &p.st), GA_OK);
  o.t_end = t_end;
  o.fixed_h = fixed_h;
  o.rtol = 1e-5;
  fo.parts = parts;
  assert_status(p.r.ctx, ga_simulator_create(p.r.ctx, p.r.st, &o, &p.sim), GA_OK);
  assert_status(p.r.ctx, ga_follower_create(p.r.ctx, p.st, &fo, &p.f), GA_OK);
  return p;
}

static pair pair_open(const char *name, int parts, double fixed_h, double t_end)
{
  rig r = rig_open(name);
  rig_build(&r);
  return pair_of(r, parts, fixed_h, t_end);
}

static void pair_start(pair *p)
{
  const ex_problem *x = p->r.problem;
  assert_status(
      p->r.ctx,
      ga_simulator_start(p->sim, NULL, 0.0, x->q0, x->v0, x->x0, x->lambda_guess, x->psi_guess, NULL), GA_OK);
  assert_status(p->r.ctx,
                ga_follower_start(p->f, NULL, ga_simulator_next_step(p->sim), ga_stepper_state(p->r.st)),
                GA_OK);
}

static ga_status pair_step(pair *p)
{
  const ga_status status = ga_simulator_step(p->sim);
  const double t = ga_stepper_state(p->r.st)->t;
  assert_true(status >= 0);
  assert_status(p->r.ctx, ga_follower_lead(p->f, t, 0), GA_OK);
  assert_status(p->r.ctx, ga_follower_reach(p->f, t, NULL), GA_OK);
  assert_true(fabs(ga_stepper_state(p->st)->t - t) <= 1e-9 * t);
  return status;
}

static void pair_close(pair *p)
{
  ga_follower_destroy(&p->f);
  ga_simulator_destroy(&p->sim);
  ga_stepper_destroy(&p->st);
  rig_close(&p->r);
}

/* In one part it does what the leader does. */
static void one_part_is_the_leader(void **state)
{
  static const char *const name[] = {"heavy_top", "mechatronic", "rolling_disk"};
  (void)state;
  for (int i = 0; i < 3; i++) {
    const double h = ex_problem_find(name[i])->h;
    pair p = pair_open(name[i], 1, h, 20.0 * h);
    pair_start(&p);
    while (pair_step(&p) == GA_OK) continue;
    const double size = 1.0 + ga__max_abs(p.st->now.v, p.r.sys->nv, NULL);
    for (int k = 0; k < p.r.sys->nq; k++) assert_near(p.r.st->now.q[k], p.st->now.q[k], 1e-12, name[i]);
    for (int k = 0; k < p.r.sys->nv; k++)
      assert_near(p.r.st->now.v[k], p.st->now.v[k], 1e-11 * size, name[i]);
    assert_int_equal(ga_follower_steps(p.f), 20);
    assert_int_equal(ga_follower_subdivided(p.f), 0);
    pair_close(&p);
  }
}

/* With equal steps, two parts are a run with half the step. */
static void two_parts_are_half_the_step(void **state)
{
  const double h = ex_problem_find("heavy_top")->h;
  pair p = pair_open("heavy_top", 2, h, 16.0 * h);
  (void)state;
  pair_start(&p);
  while (pair_step(&p) == GA_OK) continue;
  rig half = twin_of(&p.r);
  rig_start(&half, 0.5 * h);
  rig_steps(&half, 0.5 * h, 32);
  for (int i = 0; i < half.sys->nq; i++) assert_near(p.st->now.q[i], half.st->now.q[i], 1e-12, "q");
  twin_close(&half);
  pair_close(&p);
}

/* (leader − follower)/3 is the error of the follower, also with steps by error control and between them. */
static void difference_is_three_errors(void **state)
{
  static const char *const name[] = {"heavy_top", "test15", "rolling_disk"};
  (void)state;
  for (int i = 0; i < (rig_brief() ? 1 : 3); i++) {
    const ex_problem *x = ex_problem_find(name[i]);
    const double t_end = fmin(x->t_end, 400.0 * x->h);
    pair p = pair_open(name[i], 2, 0.0, t_end);
    pair_start(&p);
    while (pair_step(&p) == GA_OK) continue;
    rig fine = twin_of(&p.r);
    const int n = 1 << 15;
    rig_start(&fine, t_end / n);
    rig_steps(&fine, t_end / n, n);
    double worst = 0.0, size = 0.0;
    for (int k = 0; k < fine.sys->nq; k++) {
      const double estimate = (p.r.st->now.q[k] - p.st->now.q[k]) / 3.0,
                   error = p.st->now.q[k] - fine.st->now.q[k];
      worst = fmax(worst, fabs(estimate - error));
      size = fmax(size, fabs(error));
    }
    if (!(worst < 0.15 * size)) fail_msg("%s: off by %.2e of errors of %.2e", name[i], worst, size);
    twin_close(&fine);
    pair_close(&p);
  }
}

/* States at given times lie on dense output of the part they are in; the observer sees every step once. */
static void states_between(void **state)
{
  const double h = 1e-3;
  pair p = pair_open("heavy_top", 3, h, 10.0 * h);
  ga_follower_opts o = ga_follower_defaults();
  (void)state;
  ga_follower_destroy(&p.f);
  o.parts = 3;
  o.observer = see;
  o.user = &p;
  assert_status(p.r.ctx, ga_follower_create(p.r.ctx, p.st, &o, &p.f), GA_OK);
  pair_start(&p);
  assert_int_equal(p.seen, 1);
  double t = 0.0;
  for (int i = 0; i < 10; i++) {
    ga_simulator_step(p.sim);
    assert_status(p.r.ctx, ga_follower_lead(p.f, ga_stepper_state(p.r.st)->t, 0), GA_OK);
    for (int k = 1; k <= 10; k++) {
      const ga_state *s = NULL;
      const double at = fmin(h * (i + k / 10.0), ga_stepper_state(p.r.st)->t);
      assert_status(p.r.ctx, ga_follower_reach(p.f, at, &s), GA_OK);
      assert_true(fabs(s->t - at) < 1e-12 && s->t > t);
      assert_true((s->a == NULL) == (s != ga_stepper_state(p.st)));
      double d[RIG_MOST];
      ga_group_difference(p.r.sys->group, d, s->q, ga_stepper_state(p.st)->q);
      assert_below(ga__max_abs(d, p.r.sys->nv, NULL), 0.4 * h * 200.0, "a part is short");
      t = s->t;
    }
  }
  assert_int_equal(ga_follower_steps(p.f), 30);
  assert_int_equal(p.seen, 30); /* the last one is seen before the next */
  pair_close(&p);
}

/* A callback that fails at times of the part's end is passed by other parts. */
static double forbidden = HUGE_VAL;
static ga_eval_fn true_force;
static int force_but_not_there(void *user, const ga_point *p, double *out)
{
  if (fabs(p->t - forbidden) < 1e-9) return 1;
  return true_force(user, p, out);
}

static void parts_that_fail(void **state)
{
  const double h = 0.01;
  pair p = {.r = rig_open("pendulum")};
  (void)state;
  true_force = p.r.def.force;
  p.r.def.force = force_but_not_there;
  p.r.def.sweep = NULL;
  rig_build(&p.r);
  assert_status(p.r.ctx, ga_stepper_create(p.r.ctx, p.r.sys, &p.r.opts, &p.st), GA_OK);
  assert_status(p.r.ctx, ga_follower_create(p.r.ctx, p.st, NULL, &p.f), GA_OK);
  forbidden = HUGE_VAL;
  rig_start(&p.r, h);
  assert_status(p.r.ctx, ga_follower_start(p.f, NULL, h, ga_stepper_state(p.r.st)), GA_OK);
  forbidden = 2.5 * h;
  for (int i = 0; i < 4; i++) {
    rig_steps(&p.r, h, 1);
    assert_status(p.r.ctx, ga_follower_lead(p.f, ga_stepper_state(p.r.st)->t, 0), GA_OK);
    assert_status(p.r.ctx, ga_follower_reach(p.f, ga_stepper_state(p.r.st)->t, NULL), GA_OK);
  }
  assert_int_equal(ga_follower_subdivided(p.f), 1);
  assert_near(p.st->now.q[0], p.r.st->now.q[0], 1e-3, "q");
  forbidden = HUGE_VAL;
  pair_close(&p);
}

/* A run saved and loaded goes on with the same bits. */
static void saved_and_loaded(void **state)
{
  const double h = 1e-3;
  pair p = pair_open("mechatronic", 2, 0.0, 200.0 * h), q = pair_of(twin_of(&p.r), 2, 0.0, 200.0 * h);
  (void)state;
  pair_start(&p);
  for (int i = 0; i < 12; i++) pair_step(&p);
  double *lead = calloc(ga_simulator_saved_size(p.sim), sizeof *lead),
         *follow = calloc(ga_follower_saved_size(p.f), sizeof *follow);
  assert_status(p.r.ctx, ga_simulator_save(p.sim, lead), GA_OK);
  assert_status(p.r.ctx, ga_follower_save(p.f, follow), GA_OK);
  assert_status(q.r.ctx, ga_simulator_load(q.sim, lead), GA_OK);
  assert_status(q.r.ctx, ga_follower_load(q.f, follow), GA_OK);
  while (pair_step(&p) == GA_OK) assert_int_equal(pair_step(&q) >= 0, 1);
  pair_step(&q);
  assert_memory_equal(p.st->now.block, q.st->now.block, p.st->state_length * sizeof(double));
  assert_int_equal(ga_follower_steps(p.f), ga_follower_steps(q.f));
  follow[ga_stepper_saved_size(p.st)] = NAN;
  assert_int_equal(ga_follower_load(q.f, follow), GA_ERR_NAN);
  free(lead);
  free(follow);
  ga_follower_destroy(&q.f);
  ga_simulator_destroy(&q.sim);
  ga_stepper_destroy(&q.st);
  twin_close(&q.r);
  pair_close(&p);
}

static void restarts_with_the_leader(void **state)
{
  const double h = 1e-3;
  pair p = pair_open("heavy_top", 2, h, 20.0 * h);
  (void)state;
  pair_start(&p);
  for (int i = 0; i < 5; i++) pair_step(&p);
  assert_status(p.r.ctx, ga_follower_restart(p.f, p.r.st->view.t, h), GA_OK);
  assert_true(p.st->now.scalar[GA__H_OLD] == 0.0);
  assert_true(fabs(p.st->view.t - p.r.st->view.t) < 1e-12);
  while (pair_step(&p) == GA_OK) continue;
  for (int i = 0; i < p.r.sys->nq; i++) assert_near(p.st->now.q[i], p.r.st->now.q[i], 1e-2, "q");
  pair_close(&p);
}

/* Steps that differ by little count as equal, but what lies behind the leader's end is not looked at: there
 * may be a jump. Nor does a start again lead back. */
static void never_beyond_the_leader(void **state)
{
  const double h = 1e-3;
  pair p = pair_open("heavy_top", 2, h, 20.0 * h);
  ga_follower_opts o = ga_follower_defaults();
  double t = 0.0;
  (void)state;
  o.observer = see;
  o.user = &p;
  ga_follower_destroy(&p.f);
  assert_status(p.r.ctx, ga_follower_create(p.r.ctx, p.st, &o, &p.f), GA_OK);
  pair_start(&p);
  for (int i = 0; i < 12; i++) {
    t += h * (1.0 - 4e-12 * i * (i % 2));
    assert_status(p.r.ctx, ga_follower_lead(p.f, t, 0), GA_OK);
    assert_status(p.r.ctx, ga_follower_reach(p.f, t, NULL), GA_OK);
    assert_true(p.st->view.t <= t * (1.0 + 4.0 * DBL_EPSILON));
    assert_true(p.st->view.t >= t - 1e-9 * h);
  }
  assert_status(p.r.ctx, ga_follower_restart(p.f, t, h), GA_OK);
  assert_status(p.r.ctx, ga_follower_lead(p.f, t + h, 0), GA_OK);
  assert_status(p.r.ctx, ga_follower_reach(p.f, t + h, NULL), GA_OK);
  pair_close(&p);
}

static void refused(void **state)
{
  pair p = pair_open("heavy_top", 2, 1e-3, 1e-2);
  ga_follower *f = NULL;
  ga_follower_opts o = ga_follower_defaults();
  double saved[1];
  (void)state;
  assert_int_equal(ga_follower_create(NULL, p.st, NULL, &f), GA_ERR_ARGUMENT);
  assert_int_equal(ga_follower_create(p.r.ctx, NULL, NULL, &f), GA_ERR_ARGUMENT);
  assert_int_equal(ga_follower_create(p.r.ctx, p.st, NULL, NULL), GA_ERR_ARGUMENT);
  for (int parts = -1; parts <= 65; parts += 66 - (parts < 0) * 65) {
    o.parts = parts;
    assert_int_equal(ga_follower_create(p.r.ctx, p.st, &o, &f), GA_ERR_ARGUMENT);
    assert_call_error(p.r.ctx, GA_REASON_OUT_OF_RANGE, "follower", "parts");
    assert_error_number(p.r.ctx, 0, parts);
    if (parts > 0) break;
  }
  assert_null(f);
  assert_int_equal(ga_follower_lead(NULL, 0.0, 0), GA_ERR_ARGUMENT);
  assert_int_equal(ga_follower_reach(NULL, 0.0, NULL), GA_ERR_ARGUMENT);
  assert_int_equal(ga_follower_save(NULL, saved), GA_ERR_ARGUMENT);
  assert_int_equal(ga_follower_load(NULL, saved), GA_ERR_ARGUMENT);
  assert_int_equal(ga_follower_saved_size(NULL), 0);
  assert_int_equal(ga_follower_lead(p.f, 1.0, 0), GA_ERR_ORDER);
  assert_int_equal(ga_follower_restart(p.f, 0.0, 1.0), GA_ERR_ORDER);
  assert_int_equal(ga_follower_start(p.f, NULL, 1e-3, NULL), GA_ERR_ARGUMENT);
  pair_start(&p);
  assert_int_equal(ga_follower_restart(p.f, 1.0, 1.0), GA_ERR_ARGUMENT);
  assert_int_equal(ga_follower_lead(p.f, 0.0, 0), GA_ERR_ARGUMENT);
  assert_int_equal(ga_follower_lead(p.f, NAN, 0), GA_ERR_ARGUMENT);
  assert_int_equal(ga_follower_reach(p.f, 1.0, NULL), GA_ERR_ARGUMENT);
  assert_call_error(p.r.ctx, GA_REASON_TIME_OUT_OF_RANGE, "ga_follower_reach", "t");
  assert_error_number(p.r.ctx, 0, 1.0);
  assert_error_number(p.r.ctx, 1, 0.0);
  pair_close(&p);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(one_part_is_the_leader),
                                     cmocka_unit_test(two_parts_are_half_the_step),
                                     cmocka_unit_test(difference_is_three_errors),
                                     cmocka_unit_test(states_between),
                                     cmocka_unit_test(parts_that_fail),
                                     cmocka_unit_test(saved_and_loaded),
                                     cmocka_unit_test(restarts_with_the_leader),
                                     cmocka_unit_test(never_beyond_the_leader),
                                     cmocka_unit_test(refused)};
  return cmocka_run_group_tests_name("core: the follower", tests, rig_hook_klu, NULL);
}
