/* The automatic method: which orders it chooses, that they take no more work than the best one, order 2 for
 * stiff equations and for equal steps, runs that are saved and followed over changes, failing memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "core/collocation.h"
#include "core/simulate.h"
#include "core_rig.h"

typedef struct run {
  rig r;
  ga_simulator *sim;
} run;

static void open_run_of(run *a, const rig *r, ga_method method, int order, double tol, double h)
{
  a->r = *r;
  a->sim = NULL;
  a->r.opts.method = method, a->r.opts.order = order;
  rig_build(&a->r);
  const ex_problem *p = a->r.problem;
  ga_simulate_opts o = ga_simulate_defaults();
  o.t_end = p->reference.t;
  o.rtol = o.rtol_v = o.rtol_x = tol, o.atol = o.atol_v = o.atol_x = 0.01 * tol;
  o.defect_points = 0;
  o.fixed_h = h;
  assert_status(a->r.ctx, ga_simulator_create(a->r.ctx, a->r.st, &o, &a->sim), GA_OK);
}

static void open_run(run *a, const char *name, ga_method method, int order, double tol, double h)
{
  const rig r = rig_open(name);
  open_run_of(a, &r, method, order, tol, h);
}

static void start_run(run *a)
{
  const ex_problem *p = a->r.problem;
  assert_status(a->r.ctx,
                ga_simulator_start(a->sim, NULL, 0, p->q0, p->v0, p->x0, p->lambda_guess, p->psi_guess, NULL),
                GA_OK);
}

static void close_run(run *a)
{
  ga_simulator_destroy(&a->sim);
  rig_close(&a->r);
}

/* Two rigs share the count of memory. */
static void close_runs(run *a, run *b)
{
  run *const both[] = {a, b};
  for (int i = 0; i < 2; i++) {
    ga_simulator_destroy(&both[i]->sim);
    ga_stepper_destroy(&both[i]->r.st);
    ga_system_destroy(&both[i]->r.sys);
    ga_context_destroy(&both[i]->r.ctx);
  }
}

static double error_of(const run *a)
{
  double error = 0.0;
  for (int i = 0; i < a->r.sys->nq; i++)
    error = fmax(error, fabs(ga_stepper_state(a->r.st)->q[i] - a->r.problem->reference.q[i]));
  return error;
}

static double work_of(const char *name, ga_method method, int order, double tol, double *error)
{
  run a;
  open_run(&a, name, method, order, tol, 0.0);
  start_run(&a);
  assert_status(a.r.ctx, ga_simulator_run(a.sim), GA_OK);
  const double work = ga__sim_work(a.r.st);
  *error = error_of(&a);
  close_run(&a);
  return work;
}

/* Problems and tolerances that the constants of the choice were not chosen on, but for the first two. An
 * order that is more accurate may take the work that order 4 would need for the same error. */
static void as_little_work_as_the_best_order(void **state)
{
  static const char *const name[] = {"heavy_top",   "andrews",          "slider_crank", "rolling_disk",
                                     "spring_mass", "slider_crank_hht", "tumbling_top", "mechatronic"};
  (void)state;
  for (size_t i = 0; i < sizeof name / sizeof *name; i++)
    for (double tol = 1e-3; tol > 1e-10; tol *= 1e-2) {
      double best = HUGE_VAL, error, of_best = 0.0;
      for (int order = 4; order <= 10; order += 2) {
        const double work = work_of(name[i], GA_COLLOCATION, order, tol, &error);
        if (work < best) best = work, of_best = error;
      }
      const double work = work_of(name[i], GA_AUTOMATIC, 0, tol, &error);
      if (!(work < 1.3 * best * pow(fmax(of_best / error, 1.0), 0.25)))
        fail_msg("%s at %g: work %g, %g with the best order", name[i], tol, work, best);
      if (!(error < 10.0 * fmax(of_best, tol)))
        fail_msg("%s at %g: error %g, %g with the best order", name[i], tol, error, of_best);
    }
}

/* Orders that were used, as bits. */
static unsigned orders_used(run *a, long *changes)
{
  unsigned used = 0;
  int last = 0;
  *changes = 0;
  for (ga_status status = GA_OK; status == GA_OK;) {
    status = ga_simulator_step(a->sim);
    assert_true(status == GA_OK || ga_simulator_finished(a->sim));
    const int order = ga_stepper_order(a->r.st);
    *changes += order != last;
    last = order;
    used |= 1u << order;
  }
  return used;
}

static void orders_follow_tolerance_and_stiffness(void **state)
{
  static const struct {
    const char *name;
    double tol;
    unsigned used, unused; /* at least one of these orders, and none of those */
  } of[] = {{"spring_mass", 1e-2, 1u << 4, 1u << 2 | 1u << 10},
            {"spring_mass", 1e-10, 1u << 10, 1u << 2 | 1u << 4},
            {"heavy_top", 1e-9, 1u << 10 | 1u << 8, 1u << 2 | 1u << 4},
            {"stiff_pair_1e9", 1e-5, 1u << 2 | 1u << 5 | 1u << 7, 0}};
  (void)state;
  for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
    run a;
    long changes;
    open_run(&a, of[i].name, GA_AUTOMATIC, 0, of[i].tol, 0.0);
    start_run(&a);
    const unsigned used = orders_used(&a, &changes);
    if (!(used & of[i].used) || (used & of[i].unused))
      fail_msg("%s at %g uses orders %#x", of[i].name, of[i].tol, used);
    close_run(&a);
  }
}

/* The stiff pair with a spring of any stiffness. */
static void open_pair(run *a, ga_method method, double *stiffness, double tol)
{
  rig r = rig_open("stiff_pair_1e6");
  r.def.user = stiffness;
  open_run_of(a, &r, method, 0, tol, 0.0);
  start_run(a);
}

/* Largest difference of places on the rod at the ends of two runs. */
static double rod_off(const run *a, const run *b)
{
  const double *q = ga_stepper_state(a->r.st)->q, *right = ga_stepper_state(b->r.st)->q;
  return fmax(fabs(q[0] - right[0]), fabs(q[1] - right[1]));
}

/* A motion on the border of stiffness begins with order 2, changes to collocation and back, and its error
 * stays that of order 2. */
static void members_change(void **state)
{
  double K = 1e5;
  run a, exact;
  long changes;
  (void)state;
  open_pair(&a, GA_AUTOMATIC, &K, 1e-6);
  const unsigned used = orders_used(&a, &changes);
  assert_true((used & 1u << 2) && (used & ~(1u << 2)));
  assert_true(changes >= 3);
  open_pair(&exact, GA_STABILIZED, &K, 1e-9);
  assert_status(exact.r.ctx, ga_simulator_run(exact.sim), GA_OK);
  assert_true(rod_off(&a, &exact) < 1e-3);
  close_runs(&a, &exact);
}

/* Steps from node to node: those that damp, and the others. */
static void count_in_order(run *a, int *damped, int *others)
{
  *damped = *others = 0;
  for (ga_status status = GA_OK; status == GA_OK;) {
    status = ga_simulator_step(a->sim);
    assert_true(status == GA_OK || ga_simulator_finished(a->sim));
    const ga__colloc *c = a->r.st->method->has_order ? ga__colloc_of(a->r.st) : NULL;
    if (c && c->in_order) ++*(c->damps ? damped : others);
    if (c && c->in_order) assert_int_equal(c->now->order % 2, c->damps);
  }
}

/* Where simple sweeps diverge in a motion that steps resolve all the same, the order remains, but for the
 * step that shows it; stiff ones are damped throughout. */
static void resolved_motions_are_not_damped(void **state)
{
  static const struct {
    double stiffness;
    int resolved;
  } of[] = {{2e3, 1}, {8e3, 1}, {2e4, 1}, {2e6, 0}, {1e9, 0}};
  (void)state;
  for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
    double K = of[i].stiffness;
    run a, exact;
    int damped, others;
    open_pair(&a, GA_COLLOCATION, &K, 1e-4);
    count_in_order(&a, &damped, &others);
    if (of[i].resolved ? !(others > 4 * damped) : !(damped > 0 && others == 0))
      fail_msg("K = %g: %d steps are damped, %d not", K, damped, others);
    open_pair(&exact, GA_STABILIZED, &K, 1e-9);
    assert_status(exact.r.ctx, ga_simulator_run(exact.sim), GA_OK);
    if (!(rod_off(&a, &exact) < 1e-4)) fail_msg("K = %g: off by %g", K, rod_off(&a, &exact));
    close_runs(&a, &exact);
  }
}

/* Stiff motions take little more work than the best of order 2 and the rules for stiff equations, at the same
 * tolerance, and are no less accurate than order 2. */
static void stiff_pairs_cost_little_more(void **state)
{
  static const char *const name[] = {"stiff_pair_1e6", "stiff_pair_1e9"};
  (void)state;
  for (int i = 0; i < 2; i++)
    for (double tol = 1e-2; tol > 5e-10; tol *= 0.1) {
      double error, of_2, unused, best = work_of(name[i], GA_STABILIZED, 0, tol, &of_2);
      for (int order = 5; order <= 7; order += 2)
        best = fmin(best, work_of(name[i], GA_COLLOCATION, order, tol, &unused));
      const double work = work_of(name[i], GA_AUTOMATIC, 0, tol, &error);
      if (!(work < 1.15 * best)) fail_msg("%s at %g: work %g, at best %g", name[i], tol, work, best);
      if (!(error < 1.5 * of_2)) fail_msg("%s at %g: error %g, %g with order 2", name[i], tol, error, of_2);
    }
}

/* Accelerations and forces at the ends of steps for stiff equations are accurate at loose tolerances too: the
 * stiffness does not amplify what sweeps leave. And it does not make steps short. */
static void stiff_forces_are_accurate(void **state)
{
  static const struct {
    double stiffness, tol, off;
    long most_steps;
  } of[] = {{1e6, 1e-3, 0.01, 100},
            {1e6, 1e-4, 0.003, 100},
            {1e7, 1e-3, 0.01, 100},
            {1e9, 1e-3, 0.01, 200},
            {1e9, 1e-5, 0.001, 120}};
  (void)state;
  for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
    double K = of[i].stiffness, most = 0.0;
    run a, exact;
    open_pair(&a, GA_COLLOCATION, &K, of[i].tol);
    open_pair(&exact, GA_COLLOCATION, &K, 1e-9);
    assert_status(a.r.ctx, ga_simulator_run(a.sim), GA_OK);
    assert_status(exact.r.ctx, ga_simulator_run(exact.sim), GA_OK);
    const ga_state *s = ga_stepper_state(a.r.st), *right = ga_stepper_state(exact.r.st);
    for (int k = 0; k < a.r.sys->nv; k++)
      most = fmax(most, fabs(s->vdot[k] - right->vdot[k]) / fabs(right->vdot[0]));
    most = fmax(most, fabs(s->lambda[0] / right->lambda[0] - 1.0));
    if (!(most < of[i].off)) fail_msg("K = %g at %g: off by %g", K, of[i].tol, most);
    const long steps = ga_simulator_stats(a.sim)->steps;
    if (steps > of[i].most_steps) fail_msg("K = %g at %g: %ld steps", K, of[i].tol, steps);
    close_runs(&a, &exact);
  }
}

/* Growth of small changes: with h² and with the stiffness of a spring. */
static void growth_is_that_of_the_stiffest(void **state)
{
  static const char *const name[] = {"stiff_pair_1e6", "stiff_pair_1e9"};
  (void)state;
  double growth[2][2];
  for (int i = 0; i < 2; i++) {
    run a;
    open_run(&a, name[i], GA_AUTOMATIC, 0, 1e-4, 0.0);
    start_run(&a);
    for (int k = 0; k < 2; k++)
      assert_status(a.r.ctx, ga__growth(a.r.st, k ? 2e-2 : 1e-2, &growth[i][k]), GA_OK);
    close_run(&a);
  }
  assert_float_equal((float)(growth[0][1] / growth[0][0]), 4.0f, 0.01f);
  assert_float_equal((float)(growth[1][0] / growth[0][0]), 1000.0f, 5.0f);
  assert_true(growth[0][0] > 10.0);
}

/* Stiff motions begin with order 2, and stay with it at loose tolerances; others begin with collocation,
 * those of fast spinning bodies too. */
static void first_orders(void **state)
{
  static const struct {
    const char *name;
    int begins_with_2, stays;
  } of[] = {{"stiff_pair_1e6", 1, 1}, {"stiff_pair_1e9", 1, 1}, {"heavy_top", 0, 0},
            {"andrews", 0, 0},        {"slider_crank", 0, 0},   {"mechatronic", 0, 0}};
  (void)state;
  for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
    run a;
    long changes;
    open_run(&a, of[i].name, GA_AUTOMATIC, 0, 1e-4, 0.0);
    start_run(&a);
    assert_true(ga_simulator_step(a.sim) >= 0);
    if ((ga_stepper_order(a.r.st) == 2) != of[i].begins_with_2)
      fail_msg("%s begins with order %d", of[i].name, ga_stepper_order(a.r.st));
    const unsigned used = orders_used(&a, &changes);
    if (of[i].stays && used != 1u << 2) fail_msg("%s uses orders %#x", of[i].name, used);
    close_run(&a);
  }
}

/* Where the other member cannot be started, the run goes on with the one it has. */
static void goes_on_without_a_change(void **state)
{
  (void)state;
  run a;
  open_run(&a, "spring_mass", GA_AUTOMATIC, 0, 1e-4, 0.0);
  start_run(&a);
  for (int k = 0; k < 10; k++) assert_status(a.r.ctx, ga_simulator_step(a.sim), GA_OK);
  ga_stepper *st = a.r.st;
  const int order = ga_stepper_order(st), restarts = (int)ga_simulator_stats(a.sim)->restarts;
  assert_true(order > 2);
  st->now.plan[GA__PLAN_ORDER] = 2.0; /* as if it had been chosen */
  st->now.plan[GA__PLAN_FORMER] = order;
  st->now.plan[GA__PLAN_FORMER_WORK] = 1.0;
  const double q = st->now.q[0];
  st->now.q[0] = NAN; /* no start succeeds from here */
  int changed = 1;
  assert_status(a.r.ctx, ga__sim_change_member(a.sim, &changed), GA_OK);
  assert_false(changed);
  st->now.q[0] = q;
  assert_int_equal(ga__member_is_second(st), 1);
  assert_int_equal((int)st->now.plan[GA__PLAN_ORDER], order);
  assert_status(a.r.ctx, ga_simulator_run(a.sim), GA_OK);
  assert_int_equal((int)ga_simulator_stats(a.sim)->restarts, restarts);
  assert_true(error_of(&a) < 1e-3);
  close_run(&a);
}

/* Equations that cannot be evaluated by collocation from some time on, at any size of its steps. */
static struct {
  ga_eval_fn force;
  const ga_stepper *st;
  double from;
} hostile;

static int hostile_force(void *user, const ga_point *p, double *out)
{
  const int second = hostile.st->method->has_order || ga__member_is_second(hostile.st);
  return p->t > hostile.from && second ? 1 : hostile.force(user, p, out);
}

/* Where steps of collocation fail at all sizes, order 2 goes on; collocation alone has to end there, and so
 * has a run whose errors of forces are tested, of which order 2 has none. */
static void order_2_goes_on_where_collocation_fails(void **state)
{
  (void)state;
  for (int k = 0; k < 3; k++) {
    run a;
    open_run(&a, "spring_mass", k == 1 ? GA_COLLOCATION : GA_AUTOMATIC, 0, 1e-5, 0.0);
    a.sim->opts.error_forces = k == 2;
    ga_system *sys = (ga_system *)a.r.st->sys;
    hostile.force = sys->def.force;
    hostile.st = a.r.st;
    hostile.from = 0.4 * a.r.problem->reference.t;
    start_run(&a);
    for (int i = 0; i < 3; i++) assert_status(a.r.ctx, ga_simulator_step(a.sim), GA_OK);
    assert_true(ga_stepper_order(a.r.st) > 2);
    sys->def.force = hostile_force;
    const ga_status status = ga_simulator_run(a.sim);
    if (k) {
      assert_int_equal(status, GA_ERR_STEP);
      assert_true(ga_stepper_state(a.r.st)->t <= hostile.from);
    } else {
      assert_status(a.r.ctx, status, GA_OK);
      assert_int_equal(ga_stepper_order(a.r.st), 2);
      assert_true(error_of(&a) < 5e-3);
    }
    sys->def.force = hostile.force;
    close_run(&a);
  }
}

static int jumping_force(void *user, const ga_point *p, double *out)
{
  const int failed = hostile_force(user, p, out);
  if (!failed && p->t > hostile.from) out[0] += 1.0;
  return failed;
}

/* Where collocation cannot start behind a jump, order 2 does. */
static void order_2_goes_on_behind_a_jump(void **state)
{
  (void)state;
  run a;
  open_run(&a, "spring_mass", GA_AUTOMATIC, 0, 1e-5, 0.0);
  ga_system *sys = (ga_system *)a.r.st->sys;
  hostile.force = sys->def.force;
  hostile.st = a.r.st;
  hostile.from = 0.4 * a.r.problem->reference.t;
  sys->def.force = jumping_force;
  a.sim->breaks.n_times = 1;
  a.sim->breaks.times = &hostile.from;
  start_run(&a);
  assert_true(ga_stepper_order(a.r.st) > 2);
  while (ga_stepper_order(a.r.st) > 2) assert_status(a.r.ctx, ga_simulator_step(a.sim), GA_OK);
  assert_true(ga_stepper_state(a.r.st)->t > hostile.from); /* not from before it */
  assert_status(a.r.ctx, ga_simulator_run(a.sim), GA_OK);
  assert_int_equal(ga_stepper_order(a.r.st), 2);
  sys->def.force = hostile.force;
  close_run(&a);
}

/* With a given order it is that method alone, to the last bit; equal steps are those of order 2. */
static void given_orders(void **state)
{
  static const struct {
    int order;
    ga_method method;
    int theirs;
  } of[] = {{2, GA_STABILIZED, 0}, {6, GA_COLLOCATION, 6}, {5, GA_COLLOCATION, 5}};
  (void)state;
  for (size_t i = 0; i < 2 * sizeof of / sizeof *of; i++) {
    const size_t k = i / 2;
    const int equal = i % 2;
    run a, b;
    open_run(&a, "slider_crank", GA_AUTOMATIC, equal && k == 0 ? 0 : of[k].order, 1e-5, equal ? 2e-3 : 0.0);
    open_run(&b, "slider_crank", of[k].method, of[k].theirs, 1e-5, equal ? 2e-3 : 0.0);
    start_run(&a), start_run(&b);
    assert_status(a.r.ctx, ga_simulator_run(a.sim), GA_OK);
    assert_status(b.r.ctx, ga_simulator_run(b.sim), GA_OK);
    assert_memory_equal(a.r.st->now.q, b.r.st->now.q, sizeof(double) * (size_t)a.r.sys->nq);
    assert_memory_equal(a.r.st->now.lambda, b.r.st->now.lambda,
                        sizeof(double) * (size_t)a.r.sys->size[GA_BLOCK_LAMBDA]);
    assert_int_equal(ga_stepper_order(a.r.st), ga_stepper_order(b.r.st));
    close_runs(&a, &b);
  }
}

/* Saved at many steps, with either member, a run goes on with the same bits. */
static void resumed(void **state)
{
  static const struct {
    const char *name;
    double stiffness, tol; /* 0: the problem's */
  } of[] = {{"andrews", 0, 1e-6},
            {"stiff_pair_1e6", 0, 1e-6},
            {"stiff_pair_1e6", 1e5, 1e-6}, /* changes members */
            {"stiff_pair_1e9", 0, 1e-8},   /* begins with steps for stiff equations */
            {"mechatronic", 0, 1e-6}};
  (void)state;
  for (size_t i = 0; i < sizeof of / sizeof *of; i++)
    for (int at = 5; at < 60; at += 9) {
      double K = of[i].stiffness;
      run a, b;
      for (int k = 0; k < 2; k++) {
        rig r = rig_open(of[i].name);
        if (K > 0.0) r.def.user = &K;
        open_run_of(k ? &b : &a, &r, GA_AUTOMATIC, 0, of[i].tol, 0.0);
      }
      start_run(&a);
      for (int k = 0; k < at && !ga_simulator_finished(a.sim); k++) ga_simulator_step(a.sim);
      double *saved = calloc(ga_simulator_saved_size(a.sim), sizeof *saved);
      assert_status(a.r.ctx, ga_simulator_save(a.sim, saved), GA_OK);
      assert_status(b.r.ctx, ga_simulator_load(b.sim, saved), GA_OK);
      free(saved);
      if (!ga_simulator_finished(a.sim)) {
        assert_status(a.r.ctx, ga_simulator_run(a.sim), GA_OK);
        assert_status(b.r.ctx, ga_simulator_run(b.sim), GA_OK);
      }
      const size_t bytes = sizeof(double) * (size_t)a.r.sys->nv;
      assert_true(ga_stepper_state(a.r.st)->t == ga_stepper_state(b.r.st)->t);
      assert_memory_equal(a.r.st->now.v, b.r.st->now.v, bytes);
      assert_memory_equal(a.r.st->now.vdot, b.r.st->now.vdot, bytes);
      assert_memory_equal(a.r.st->now.plan, b.r.st->now.plan, sizeof(double) * GA__N_PLAN);
      close_runs(&a, &b);
    }
}

/* A follower takes the leader's orders; the difference of both is near the error. */
static void followed(void **state)
{
  static const char *const name[] = {"heavy_top", "stiff_pair_1e6", "mechatronic"};
  (void)state;
  for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
    run a, b;
    ga_follower *f = NULL;
    ga_follower_opts opts = ga_follower_defaults();
    open_run(&a, name[i], GA_AUTOMATIC, 0, 1e-5, 0.0), open_run(&b, name[i], GA_AUTOMATIC, 0, 1e-5, 0.0);
    start_run(&a);
    opts.leader = &a.sim->opts;
    assert_status(b.r.ctx, ga_follower_create(b.r.ctx, b.r.st, &opts, &f), GA_OK);
    assert_status(b.r.ctx,
                  ga_follower_start(f, NULL, ga_simulator_next_step(a.sim), ga_stepper_state(a.r.st)), GA_OK);
    double apart = 0.0, most = 0.0;
    while (!ga_simulator_finished(a.sim)) {
      const long restarts = ga_simulator_stats(a.sim)->restarts;
      assert_true(ga_simulator_step(a.sim) >= 0);
      const ga_state *s = ga_stepper_state(a.r.st);
      const int order = ga_stepper_order(a.r.st);
      const ga_status status = ga_simulator_stats(a.sim)->restarts != restarts
                                   ? ga_follower_restart(f, s->t, ga_simulator_next_step(a.sim))
                                   : ga_follower_lead(f, s->t, order);
      assert_status(b.r.ctx, status, GA_OK);
      assert_status(b.r.ctx, ga_follower_reach(f, s->t, NULL), GA_OK);
      if (ga_simulator_stats(a.sim)->restarts == restarts)
        assert_int_equal(ga_stepper_order(b.r.st) == 2, order == 2);
      for (int k = 0; k < a.r.sys->nq; k++) {
        apart = fmax(apart, fabs(s->q[k] - ga_stepper_state(b.r.st)->q[k]));
        most = fmax(most, fabs(s->q[k]));
      }
    }
    if (!(apart < 1e-2 * most)) fail_msg("%s: both runs are %g apart", name[i], apart);
    const double error = error_of(&a), after = error_of(&b);
    if (!(after < fmax(1.5 * error, 1e-9)))
      fail_msg("%s: error %g, of halved steps %g", name[i], error, after);
    ga_follower_destroy(&f);
    close_runs(&a, &b);
  }
}

/* Every allocation fails in turn. */
static void memory_fails(void **state)
{
  (void)state;
  rig r = rig_open("mechatronic");
  assert_status(r.ctx, ga_system_create(r.ctx, &r.def, &r.sys), GA_OK);
  r.opts.method = GA_AUTOMATIC;
  ga_status status = GA_ERR_MEMORY;
  int n = 1;
  for (; status && n < 2000; n++) {
    rig_memory.fail_at = rig_memory.count + n;
    status = ga_stepper_create(r.ctx, r.sys, &r.opts, &r.st);
    assert_true(status == GA_OK || status == GA_ERR_MEMORY);
  }
  rig_memory.fail_at = 0;
  assert_int_equal(status, GA_OK);
  assert_true(n > 10);
  rig_close(&r);
}

/* As if order 2 had been chosen. */
static void choose_order_2(ga_stepper *st)
{
  st->now.plan[GA__PLAN_FORMER] = 0.0;
  st->now.plan[GA__PLAN_ORDER] = 2.0;
}

static void step_with_order_2(run *a)
{
  assert_status(a->r.ctx, ga_simulator_step(a->sim), GA_OK);
  assert_int_equal(ga_stepper_order(a->r.st), 2);
}

/* Matrices of order 2 are made where a run takes it for the first time: every allocation fails in turn there,
 * and the run goes on from the same state; the step then allocates nothing. */
static void memory_fails_at_the_change(void **state)
{
  (void)state;
  run a;
  int changed = 0, n = 1;
  open_run(&a, "spring_mass", GA_AUTOMATIC, 0, 1e-4, 0.0);
  start_run(&a);
  for (int k = 0; k < 10; k++) assert_status(a.r.ctx, ga_simulator_step(a.sim), GA_OK);
  ga_stepper *st = a.r.st;
  assert_int_equal(ga__member_is_second(st), 1);
  for (ga_status status = GA_ERR_MEMORY; status; n++) {
    choose_order_2(st);
    const ga_state before = *ga_stepper_state(st);
    const double q = before.q[0], v = before.v[0];
    rig_memory.fail_at = rig_memory.count + n;
    status = ga__sim_change_member(a.sim, &changed);
    rig_memory.fail_at = 0;
    assert_int_equal(changed, status == GA_OK);
    assert_int_equal(ga__member_is_second(st), status != GA_OK);
    if (!status) break;
    assert_int_equal(status, GA_ERR_MEMORY);
    assert_says(a.r.ctx, "out of memory for");
    const ga_state *after = ga_stepper_state(st);
    assert_true(after->t == before.t && after->q[0] == q && after->v[0] == v);
  }
  assert_true(n > 20);
  const long count = rig_memory.count;
  step_with_order_2(&a);
  assert_int_equal(rig_memory.count, count);
  close_run(&a);
}

/* And where a stepper that has not made them yet takes over a state of order 2. */
static void memory_fails_at_a_load(void **state)
{
  (void)state;
  run a, b;
  int n = 1;
  open_run(&a, "stiff_pair_1e6", GA_AUTOMATIC, 0, 1e-4, 0.0),
      open_run(&b, "stiff_pair_1e6", GA_AUTOMATIC, 0, 1e-4, 0.0);
  start_run(&a);
  step_with_order_2(&a);
  double *saved = malloc(ga_stepper_saved_size(a.r.st) * sizeof(double));
  assert_status(a.r.ctx, ga_stepper_save(a.r.st, saved), GA_OK);
  for (ga_status status = GA_ERR_MEMORY; status; n++) {
    rig_memory.fail_at = rig_memory.count + n;
    status = ga_stepper_load(b.r.st, saved);
    rig_memory.fail_at = 0;
    if (!status) break;
    assert_int_equal(status, GA_ERR_MEMORY);
    assert_null(ga_stepper_state(b.r.st));
  }
  assert_true(n > 20);
  const double h = a.r.st->now.scalar[GA__H_OLD];
  assert_status(a.r.ctx, ga_stepper_step(a.r.st, h), GA_OK);
  assert_status(b.r.ctx, ga_stepper_step(b.r.st, h), GA_OK);
  assert_true(ga_stepper_state(a.r.st)->q[0] == ga_stepper_state(b.r.st)->q[0]);
  free(saved);
  close_runs(&a, &b);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(as_little_work_as_the_best_order),
      cmocka_unit_test(orders_follow_tolerance_and_stiffness),
      cmocka_unit_test(members_change),
      cmocka_unit_test(resolved_motions_are_not_damped),
      cmocka_unit_test(stiff_pairs_cost_little_more),
      cmocka_unit_test(stiff_forces_are_accurate),
      cmocka_unit_test(growth_is_that_of_the_stiffest),
      cmocka_unit_test(first_orders),
      cmocka_unit_test(goes_on_without_a_change),
      cmocka_unit_test(order_2_goes_on_where_collocation_fails),
      cmocka_unit_test(order_2_goes_on_behind_a_jump),
      cmocka_unit_test(given_orders),
      cmocka_unit_test(resumed),
      cmocka_unit_test(followed),
      cmocka_unit_test(memory_fails),
      cmocka_unit_test(memory_fails_at_the_change),
      cmocka_unit_test(memory_fails_at_a_load),
  };
  return cmocka_run_group_tests_name("core: automatic method", tests, NULL, NULL);
}
