/* The adjoint of runs by collocation and by the automatic method beside their forward derivatives, which
 * test_core_sensitivity_collocation.c compares with complete runs. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "adjoint_rig.h"
#include "collocation_courses.h"
#include "core/simulate.h"

static void the_gradient_is_the_forward_one(void **state)
{
  static const int INTERVALS[] = {5, 1, 100};
  (void)state;
  for (int i = 0; i < N_PROBLEMS; i++)
    for (int k = 0; k < N_ORDERS; k++) {
      const course c = course_of(&PROBLEMS[i], ORDERS[k]);
      compare_adjoint(&c, INTERVALS[(i + k) % 3], 1e-10);
    }
}

static void dense_output(void **state)
{
  static const int INTERVALS[] = {5, 1, 100};
  (void)state;
  for (int i = 0; i < N_PROBLEMS; i++)
    for (int k = 0; k < N_ORDERS; k++) {
      const course c = course_of(&PROBLEMS[i], ORDERS[k]);
      compare_within(&c, INTERVALS[(i + k) % 3], 1e-10);
    }
}

static void orders_and_sizes_change(void **state)
{
  (void)state;
  for (int i = 0; i < N_PROBLEMS; i++)
    for (int k = 0; k < 4; k++) {
      course c = course_of(&PROBLEMS[i], k < 2 ? MIXED : 6);
      c.h *= 0.5;
      c.varies = k < 2;
      c.shares = k % 2;
      compare_adjoint(&c, 3 + 2 * k, 1e-10);
      compare_within(&c, 4 + 2 * k, 1e-10);
    }
}

/* Sweeps from node to node, with a matrix of the end of its own. */
static void stiff_steps(void **state)
{
  (void)state;
  for (int i = 0; i < N_PROBLEMS; i++)
    for (int k = 0; k < 8; k++) {
      course c = course_of(&PROBLEMS[i], 4 + k % 4);
      c.in_order = 1;
      c.shares = k / 4;
      compare_adjoint(&c, 6, 1e-10);
      compare_within(&c, 5, 1e-9); /* bounds of dense output act on noise: forwards alone */
    }
}

/* ---- All parameters at once ---- */

/* By MASS and ROWS, at p = 0, from the unchanged equations. */
static int pull_both(void *user, const ga_pullback *by, double *gradient)
{
  const changed *c = user;
  double inertia[RIG_MOST] = {0}, phi_now[RIG_MOST] = {0}, rate[RIG_MOST] = {0};
  const ga_point *p = by->end;
  int code = c->inner.mass(c->inner.user, p, inertia);
  if (!code && c->inner.phi) code = c->inner.phi(c->inner.user, p, phi_now);
  if (!code && c->inner.phi) code = c->inner.phi_dot(c->inner.user, p, rate);
  for (int i = 0; i < c->nv; i++) gradient[0] += by->residual[i] * weight_of(i) * inertia[i];
  for (int i = 0; i < c->inner.n_lambda; i++)
    gradient[1] +=
        by->residual[c->nv + i] * (weight_of(i) * phi_now[i] + weight_of(i + 1) * 0.3 * sin(3.0 * p->t)) +
        by->rate[i] * (weight_of(i) * rate[i] + weight_of(i + 1) * 0.9 * cos(3.0 * p->t));
  return code;
}

static void compare_pulled(const course *c)
{
  static study s;
  ga_adjoint *one = NULL, *all = NULL;
  ga_adjoint_opts opts = ga_adjoint_defaults();
  const ga_start_opts o = start_of(c);
  double gradient[2][2];
  study_open(&s, c);
  const ga_parameter list[2] = {s.parameter[MASS], s.parameter[ROWS]};
  const ex_problem *x = s.r.problem;
  opts.pullback = pull_both, opts.user = &s.p;
  assert_status(s.r.ctx, ga_adjoint_create(s.r.ctx, s.r.st, 2, list, NULL, &one), GA_OK);
  assert_status(s.r.ctx, ga_adjoint_create(s.r.ctx, s.r.st, 2, list, &opts, &all), GA_OK);
  assert_status(
      s.r.ctx, ga_stepper_start(s.r.st, &o, 0.0, s.at.q, s.at.v, s.at.x, x->lambda_guess, x->psi_guess, NULL),
      GA_OK);
  assert_status(s.r.ctx, ga_adjoint_begin(one), GA_OK);
  assert_status(s.r.ctx, ga_adjoint_begin(all), GA_OK);
  for (int i = 0; i < c->n; i++) {
    take_step(c, s.r.st, i);
    assert_status(s.r.ctx, ga_adjoint_step(one), GA_OK);
    assert_status(s.r.ctx, ga_adjoint_step(all), GA_OK);
  }
  ga_adjoint *const which[2] = {one, all};
  for (int inside = 0; inside < 2; inside++) {
    for (int k = 0; k < 2; k++) {
      dense_sum w = {s.r.st->sys, which[k], c, 0};
      assert_status(s.r.ctx,
                    ga_adjoint_gradient(which[k], inside ? seed_within : seed,
                                        inside ? (void *)&w : (void *)s.r.st->sys, gradient[k]),
                    GA_OK);
    }
    for (int j = 0; j < 2; j++) {
      const double off = fabs(gradient[0][j] - gradient[1][j]) / (fabs(gradient[0][j]) + 1e-3);
      if (show)
        printf("# pulled %s, order %d, inside %d, by %d: %.1e\n", c->problem, c->order, inside, j, off);
      else
        assert_below(off, 1e-9, c->problem);
    }
  }
  ga_adjoint_destroy(&one);
  ga_adjoint_destroy(&all);
  study_close(&s);
}

static void all_parameters_may_be_pulled_back_at_once(void **state)
{
  static const int WHICH[] = {0, 1, 2, 3, 5, 7};
  (void)state;
  for (size_t i = 0; i < sizeof WHICH / sizeof *WHICH; i++)
    for (int order = 4; order <= 7; order++) {
      const course c = course_of(&PROBLEMS[WHICH[i]], order);
      compare_pulled(&c);
    }
}

/* ---- Error control, and the automatic method ---- */

typedef struct controlled {
  const char *problem;
  ga_method method;
  double t_end, tol;
  int changes_at;
} controlled;

/* What a run by a simulator was. */
typedef struct seen {
  int restarts, orders; /* orders: bits */
} seen;

static void start_simulator(study *s, const controlled *c, ga_simulator **sim)
{
  const ex_problem *x = s->r.problem;
  ga_simulate_opts o = ga_simulate_defaults();
  ga_start_opts start = ga_start_defaults();
  start.max_change = 1.0;
  o.t_end = c->t_end;
  o.rtol = o.rtol_v = o.rtol_x = c->tol, o.atol = o.atol_v = o.atol_x = 0.01 * c->tol;
  o.defect_points = 0;
  assert_status(s->r.ctx, ga_simulator_create(s->r.ctx, s->r.st, &o, sim), GA_OK);
  assert_status(
      s->r.ctx,
      ga_simulator_start(*sim, &start, 0.0, s->at.q, s->at.v, s->at.x, x->lambda_guess, x->psi_guess, NULL),
      GA_OK);
}

static void run_both(study *s, const controlled *c, ga_adjoint *adjoint, double *forward, double *size,
                     seen *all)
{
  ga_simulator *sim = NULL;
  long step = 0;
  start_simulator(s, c, &sim);
  assert_status(s->r.ctx, ga_sensitivity_begin(s->se), GA_OK);
  assert_status(s->r.ctx, ga_adjoint_begin(adjoint), GA_OK);
  add_forward(s, step, forward, size);
  while (!ga_simulator_finished(sim)) {
    const ga_status status = ga_simulator_step(sim);
    if (status != GA_STOPPED) assert_status(s->r.ctx, status, GA_OK);
    assert_status(s->r.ctx, ga_sensitivity_step(s->se), GA_OK);
    assert_status(s->r.ctx, ga_adjoint_step(adjoint), GA_OK);
    add_forward(s, ++step, forward, size);
    const int restarted = s->r.st->now.scalar[GA__H_OLD] == 0.0;
    all->restarts += restarted;
    if (!restarted) all->orders |= 1 << ga_stepper_order(s->r.st);
    if (c->changes_at > 0 && step == c->changes_at) s->r.st->now.plan[GA__PLAN_ORDER] = 2.0;
  }
  ga_simulator_destroy(&sim);
}

static void compare_controlled(const controlled *c, int interval, double most, seen *all)
{
  static study s;
  ga_adjoint *adjoint = NULL;
  const ga_adjoint_opts opts = adjoint_of(interval);
  const course run = {.problem = c->problem, .method = c->method, .h = 1e-3, .commutator = 1, .shares = 1};
  double forward[N_ALL] = {0}, size[N_ALL] = {0}, gradient[N_ALL];
  study_open(&s, &run);
  assert_status(s.r.ctx, ga_adjoint_create(s.r.ctx, s.r.st, N_ALL, s.parameter, &opts, &adjoint), GA_OK);
  run_both(&s, c, adjoint, forward, size, all);
  assert_status(s.r.ctx, ga_adjoint_gradient(adjoint, seed, (void *)s.r.st->sys, gradient), GA_OK);
  for (int j = 0; j < N_ALL; j++) {
    const double off = fabs(gradient[j] - forward[j]) / (size[j] > 0.0 ? size[j] : 1.0);
    if (show)
      printf("# controlled %s, method %d, every %d, %d restarts, orders %x, by %d: %.1e\n", c->problem,
             (int)c->method, interval, all->restarts, (unsigned)all->orders, j, off);
    else if (!(off <= most))
      fail_msg("%s, method %d, every %d, parameter %d: %.15g backwards, %.15g forwards, off by %.1e",
               c->problem, (int)c->method, interval, j, gradient[j], forward[j], off);
  }
  ga_adjoint_destroy(&adjoint);
  study_close(&s);
}

static void sizes_and_orders_of_error_control(void **state)
{
  static const controlled CASES[] = {
      {"spring_mass", GA_COLLOCATION, 2.0, 1e-9, 0},  {"slider_crank", GA_COLLOCATION, 0.3, 1e-9, 0},
      {"slider_crank", GA_COLLOCATION, 0.3, 1e-4, 0}, {"heavy_top", GA_COLLOCATION, 0.03, 1e-9, 0},
      {"heavy_top", GA_COLLOCATION, 0.1, 1e-4, 0},    {"heavy_top_se3", GA_COLLOCATION, 0.03, 1e-9, 0},
      {"rolling_disk", GA_COLLOCATION, 0.5, 1e-6, 0}, {"mechatronic", GA_COLLOCATION, 0.5, 1e-6, 0},
      {"heavy_top", GA_AUTOMATIC, 0.03, 1e-9, 0},     {"mechatronic", GA_AUTOMATIC, 0.5, 1e-9, 0}};
  static const int INTERVALS[] = {3, 8, 100};
  seen all = {0, 0};
  (void)state;
  for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++)
    for (int k = 0; k < 3; k++) compare_controlled(&CASES[i], INTERVALS[k], 1e-10, &all);
  assert_true((all.orders & 0x500) == 0x500); /* orders 8 and 10 */
}

static void members_change(void **state)
{
  static const controlled CASES[] = {{"heavy_top", GA_AUTOMATIC, 0.02, 1e-7, 6},
                                     {"slider_crank", GA_AUTOMATIC, 0.2, 1e-7, 6},
                                     {"mechatronic", GA_AUTOMATIC, 0.1, 1e-7, 6},
                                     {"rolling_disk", GA_AUTOMATIC, 0.2, 1e-7, 6}};
  (void)state;
  for (int i = 0; i < 4; i++) {
    seen all = {0, 0};
    compare_controlled(&CASES[i], 7, 1e-9, &all);
    assert_true(all.restarts > 0 && (all.orders & 4) && (all.orders & ~4));
  }
}

int main(int argc, char **argv)
{
  show = argc > 1 && strcmp(argv[1], "show") == 0;
  const struct CMUnitTest tests[] = {cmocka_unit_test(the_gradient_is_the_forward_one),
                                     cmocka_unit_test(dense_output),
                                     cmocka_unit_test(orders_and_sizes_change),
                                     cmocka_unit_test(stiff_steps),
                                     cmocka_unit_test(all_parameters_may_be_pulled_back_at_once),
                                     cmocka_unit_test(sizes_and_orders_of_error_control),
                                     cmocka_unit_test(members_change)};
  return cmocka_run_group_tests(tests, rig_hook_klu, NULL);
}
