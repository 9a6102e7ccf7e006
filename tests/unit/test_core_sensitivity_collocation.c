/* Derivatives of runs by collocation and by the automatic method, against extrapolated differences of
 * complete runs with the same steps. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/collocation.h"
#include "core/simulate.h"
#include "collocation_courses.h"

#define MOST 1e-8

static void derivatives_are_those_of_the_run(void **state)
{
  (void)state;
  for (int i = 0; i < N_PROBLEMS; i++)
    for (size_t k = 0; k < N_ORDERS; k++) {
      const course c = course_of(&PROBLEMS[i], ORDERS[k]);
      examine(&c, MOST);
    }
}

static void orders_and_sizes_change(void **state)
{
  (void)state;
  for (int i = 0; i < N_PROBLEMS; i++)
    for (int shares = 0; shares < 2; shares++) {
      course c = course_of(&PROBLEMS[i], MIXED);
      c.h *= 0.5;
      c.varies = 1;
      c.shares = shares;
      examine(&c, MOST);
    }
}

/* Differences of dense output are between bounds; cases where a bound begins to act near the run are not
 * differentiable, and not among these. */
static void dense_output(void **state)
{
  static const double WITHIN[] = {0.15, 0.6};
  static const int SOME[] = {3, 4, 6, 7, MIXED};
  (void)state;
  for (int i = 0; i < N_PROBLEMS; i++)
    for (int k = 0; k < 10; k++) {
      course c = course_of(&PROBLEMS[i], SOME[k / 2]);
      c.varies = c.order == MIXED;
      c.h *= 0.5;
      c.within = WITHIN[k % 2];
      examine(&c, MOST);
    }
}

/* Sweeps from node to node, with a matrix of the end of its own. */
static void stiff_steps(void **state)
{
  (void)state;
  for (int i = 0; i < N_PROBLEMS; i++)
    for (int order = 4; order <= 7; order++) {
      course c = course_of(&PROBLEMS[i], order);
      c.in_order = 1;
      examine(&c, MOST);
    }
}

/* ---- Error control, and the automatic method ---- */

enum { MOST_STEPS = 2000 };

typedef struct taken { /* a step, or a restart of one of the members */
  double h;
  int order, restart, second;
  ga_start_opts begun;
} taken;

typedef struct record {
  taken step[MOST_STEPS];
  int n, changes, orders; /* bits */
} record;

static void note_step(record *all, const ga_stepper *st)
{
  assert_true(all->n < MOST_STEPS);
  taken *to = &all->step[all->n++];
  to->restart = st->now.scalar[GA__H_OLD] == 0.0;
  to->second = ga__member_is_second(st);
  to->order = ga_stepper_order(st);
  to->h = st->now.scalar[GA__H_OLD];
  to->begun = st->begun;
  all->changes += to->restart;
  if (!to->restart) all->orders |= 1 << to->order;
}

/* The run again, at another value, with the same steps and changes. */
static int repeat(const record *all, const course *c, int which, double by, const double *from, double *out)
{
  changed p;
  rig r;
  initial at;
  open_run(&r, c, &p, which, by);
  initial_set(&at, &r, ga_system_group(r.sys), which, by);
  for (int i = 0; i < all->n; i++) {
    const taken *s = &all->step[i];
    const ga_state *now = ga_stepper_state(r.st);
    if (s->restart && now) {
      ga__copy_numbers(at.q, now->q, r.st->sys->nq);
      ga__copy_numbers(at.v, now->v, r.st->sys->nv);
      ga__copy_numbers(at.x, now->x, r.st->sys->size[GA_BLOCK_X]);
      ga__start_again(r.st, GA__CHANGING);
    }
    if (s->restart) {
      ga__member_use(r.st, s->second);
      const double t = now ? now->t : 0.0;
      assert_status(r.ctx,
                    ga_stepper_start(r.st, &s->begun, t, at.q, at.v, at.x, r.problem->lambda_guess,
                                     r.problem->psi_guess, NULL),
                    GA_OK);
      ga__start_first(r.st);
      continue;
    }
    r.st->order = s->order;
    assert_status(r.ctx, ga_stepper_step(r.st, s->h), GA_OK);
  }
  const int n = list_numbers(r.st, c, from, out);
  close_run(&r);
  return n;
}

static void reference_of(const record *all, const course *c, int which, const double *from, double *out,
                         double *off)
{
  enum { LEVELS = 4 };
  static double table[LEVELS][LONGEST], there[LONGEST], back[LONGEST];
  int n = 0;
  for (int l = 0; l < LEVELS; l++) {
    const double by = 2.0 * c->width / (1 << l);
    n = repeat(all, c, which, by, from, there);
    repeat(all, c, which, -by, from, back);
    for (int i = 0; i < n; i++) table[l][i] = (there[i] - back[i]) / (2.0 * by);
  }
  extrapolate_differences(LEVELS, table, n, out, off);
}

/* A run by a simulator until t_end. */
static void run_with_control(study *s, const course *c, double t_end, double tol, record *all)
{
  ga_simulator *sim = NULL;
  ga_simulate_opts o = ga_simulate_defaults();
  const ex_problem *x = s->r.problem;
  ga_start_opts start = ga_start_defaults();
  start.max_change = 1.0;
  o.t_end = t_end;
  o.rtol = o.rtol_v = o.rtol_x = tol, o.atol = o.atol_v = o.atol_x = 0.01 * tol;
  o.defect_points = 0;
  assert_status(s->r.ctx, ga_simulator_create(s->r.ctx, s->r.st, &o, &sim), GA_OK);
  assert_status(
      s->r.ctx,
      ga_simulator_start(sim, &start, 0.0, s->at.q, s->at.v, s->at.x, x->lambda_guess, x->psi_guess, NULL),
      GA_OK);
  assert_status(s->r.ctx, ga_sensitivity_begin(s->se), GA_OK);
  note_step(all, s->r.st);
  while (!ga_simulator_finished(sim)) {
    const ga_status status = ga_simulator_step(sim);
    if (status != GA_STOPPED) assert_status(s->r.ctx, status, GA_OK);
    assert_status(s->r.ctx, ga_sensitivity_step(s->se), GA_OK);
    note_step(all, s->r.st);
    if (c->changes_at > 0 && all->n == c->changes_at) s->r.st->now.plan[GA__PLAN_ORDER] = 2.0;
  }
  ga_simulator_destroy(&sim);
}

static void controlled(const course *c, double t_end, double tol, record *all)
{
  static double is[LONGEST], should[LONGEST], off[LONGEST], from[RIG_MOST];
  static study s;
  memset(all, 0, sizeof *all);
  study_open(&s, c);
  run_with_control(&s, c, t_end, tol, all);
  for (int j = 0; j < N_ALL; j++) {
    double unsure = 0.0;
    if (j != INITIAL && !applies(&s.r.def, j)) continue;
    ga__copy_numbers(from, s.r.st->now.q, s.r.st->sys->nq);
    reference_of(all, c, j, from, should, off);
    list_derivatives(&s, c, j, is);
    const double e = compare(&s, is, should, &unsure, off);
    if (show)
      printf("# %-16s method %d, %d steps, %d starts, orders %x, by %d: %.1e (reference %.1e)\n", c->problem,
             (int)c->method, all->n, all->changes, (unsigned)all->orders, j, e, unsure);
    else if (!(e <= MOST))
      fail_msg("%s, parameter %d: off by %.2e, reference sure to %.2e", c->problem, j, e, unsure);
  }
  study_close(&s);
}

static void sizes_and_orders_of_error_control(void **state)
{
  static const struct {
    const char *problem;
    ga_method method;
    double t_end, tol;
  } CASES[] = {{"spring_mass", GA_COLLOCATION, 2.0, 1e-9},  {"slider_crank", GA_COLLOCATION, 0.3, 1e-9},
               {"heavy_top", GA_COLLOCATION, 0.03, 1e-9},   {"heavy_top_se3", GA_COLLOCATION, 0.03, 1e-9},
               {"rolling_disk", GA_COLLOCATION, 0.5, 1e-9}, {"mechatronic", GA_COLLOCATION, 0.5, 1e-9},
               {"heavy_top", GA_AUTOMATIC, 0.03, 1e-9},     {"mechatronic", GA_AUTOMATIC, 0.5, 1e-9}};
  static record all;
  int orders = 0;
  (void)state;
  for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
    const course c = {.problem = CASES[i].problem,
                      .method = CASES[i].method,
                      .h = 1e-3,
                      .commutator = 1,
                      .width = 5e-3,
                      .shares = 1};
    controlled(&c, CASES[i].t_end, CASES[i].tol, &all);
    orders |= all.orders;
  }
  assert_true((orders & 0x500) == 0x500); /* orders 8 and 10 */
}

static void members_change(void **state)
{
  static const char *const NAMES[] = {"heavy_top", "slider_crank", "mechatronic"};
  static const double T_END[] = {0.02, 0.2, 0.1};
  static record all;
  (void)state;
  for (int i = 0; i < 3; i++) {
    const course c = {.problem = NAMES[i],
                      .method = GA_AUTOMATIC,
                      .h = 1e-3,
                      .commutator = 1,
                      .width = 5e-3,
                      .shares = 1,
                      .changes_at = 6};
    controlled(&c, T_END[i], 1e-7, &all);
    assert_true(all.changes > 1 && (all.orders & 4) && (all.orders & ~4));
  }
}

/* ---- The run itself; and what is refused ---- */

static void the_run_is_not_changed_and_nothing_is_allocated(void **state)
{
  static study s;
  (void)state;
  for (int i = 0; i < N_PROBLEMS; i++) {
    course c = course_of(&PROBLEMS[i], 6);
    rig alone;
    changed p;
    initial at;
    const ga_start_opts o = start_of(&c);
    c.shares = 1;
    study_open(&s, &c);
    const long before = rig_memory.count;
    study_run(&s, &c);
    const long of_start = rig_memory.count;
    take_step(&c, s.r.st, c.n);
    assert_status(s.r.ctx, ga_sensitivity_step(s.se), GA_OK);
    assert_int_equal(rig_memory.count, of_start);
    assert_true(before < of_start);
    open_run(&alone, &c, &p, INITIAL, 0.0);
    initial_set(&at, &alone, ga_system_group(alone.sys), -1, 0.0);
    assert_status(alone.ctx,
                  ga_stepper_start(alone.st, &o, 0.0, at.q, at.v, at.x, alone.problem->lambda_guess,
                                   alone.problem->psi_guess, NULL),
                  GA_OK);
    for (int k_ = 0; k_ <= c.n; k_++) take_step(&c, alone.st, k_);
    assert_true(rig_same_bits(&s.r, alone.st->now.block));
    close_run(&alone);
    study_close(&s);
  }
}

/* By DAMPING, at p = 0. */
static int exact_damping(void *user, const ga_point *p, int parameter, ga_parameter_rates *out)
{
  const changed *c = user;
  (void)parameter;
  for (int i = 0; out->residual && i < c->nv; i++)
    out->residual[i] = weight_of(i) * p->v[i] + sin(3.0 * p->t);
  return 0;
}

static void exact_derivatives_agree_with_differences(void **state)
{
  static double by_differences[LONGEST], exact[LONGEST];
  static study s;
  const course c = course_of(&PROBLEMS[2], 6);
  double most = 0.0, off = 0.0;
  (void)state;
  study_open(&s, &c);
  study_run(&s, &c);
  const int n = list_derivatives(&s, &c, DAMPING, by_differences);
  ga_sensitivity_destroy(&s.se);
  ga_parameter one = s.parameter[DAMPING];
  one.name = "damping", one.derivative = exact_damping, one.user = &s.p;
  assert_status(s.r.ctx, ga_sensitivity_create(s.r.ctx, s.r.st, 1, &one, &s.se), GA_OK);
  study_run(&s, &c);
  list_derivatives(&s, &c, 0, exact);
  for (int i = 0; i < n; i++) {
    most = fmax(most, fabs(exact[i]));
    off = fmax(off, fabs(exact[i] - by_differences[i]));
  }
  assert_true(most > 0.0);
  assert_below(off, 1e-10 * most, "differences");
  ga_sensitivity_destroy(&s.se);
  for (int m = 0; m < GA_PARAMETER_VALUES; m++) one.at[m].sys = NULL;
  assert_status(s.r.ctx, ga_sensitivity_create(s.r.ctx, s.r.st, 1, &one, &s.se), GA_ERR_DERIVATIVE);
  assert_says(s.r.ctx, "damping");
  assert_says(s.r.ctx, "systems");
  study_close(&s);
}

int main(int argc, char **argv)
{
  show = argc > 1 && strcmp(argv[1], "show") == 0;
  const struct CMUnitTest tests[] = {cmocka_unit_test(derivatives_are_those_of_the_run),
                                     cmocka_unit_test(orders_and_sizes_change),
                                     cmocka_unit_test(dense_output),
                                     cmocka_unit_test(stiff_steps),
                                     cmocka_unit_test(sizes_and_orders_of_error_control),
                                     cmocka_unit_test(members_change),
                                     cmocka_unit_test(the_run_is_not_changed_and_nothing_is_allocated),
                                     cmocka_unit_test(exact_derivatives_agree_with_differences)};
  return cmocka_run_group_tests(tests, rig_hook_klu, NULL);
}
