/* What Newton's iteration takes, and what steps learn from it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core_rig.h"

/* A mass of 1 kg on a line. */
typedef struct slider {
  double force; /* [N] at 1.1 m: −force ∛(q − 0.1) */
  double wrong; /* what the derivative by vdot is multiplied by */
} slider;

static int slider_mass(void *user, const ga_point *p, double *out)
{
  (void)user;
  out[0] = p->vdot[0];
  return 0;
}

static int slider_force(void *user, const ga_point *p, double *out)
{
  const slider *s = user;
  out[0] = -s->force * cbrt(p->q[0] - 0.1);
  return 0;
}

static int slider_jacobian(void *user, const ga_point *p, ga_jacobian *J)
{
  const slider *s = user;
  const double x = cbrt(p->q[0] - 0.1);
  if (J->want & GA_WANT_D) J->D[0] = s->wrong * J->shift_vdot;
  if (J->want & GA_WANT_Q) J->Q[0] = s->force / (3.0 * x * x);
  return 0;
}

typedef struct bench {
  ga_context *ctx;
  ga_system *sys;
  ga_stepper *st;
} bench;

static bench bench_open(slider *s)
{
  static const ga_factor line = {GA_RN, 1, GA_LEFT};
  bench b = {rig_open_context(), NULL, NULL};
  ga_system_def def = ga_system_defaults();
  def.user = s, def.n_factors = 1, def.factors = &line;
  def.mass = slider_mass, def.force = slider_force, def.jacobian = slider_jacobian;
  assert_status(b.ctx, ga_system_create(b.ctx, &def, &b.sys), GA_OK);
  assert_status(b.ctx, ga_stepper_create(b.ctx, b.sys, NULL, &b.st), GA_OK);
  return b;
}

static void bench_close(bench *b)
{
  ga_stepper_destroy(&b->st);
  ga_system_destroy(&b->sys);
  rig_close_context(&b->ctx);
}

/* Newton's iteration for ∛x = 0 goes from x to −2x, with new factors every time: no use in going on. */
static void diverging_iterations_are_given_up(void **state)
{
  slider s = {1e9, 1.0};
  const double q = 0.0, v = 0.0;
  bench b = bench_open(&s);
  ga_start_opts o = ga_start_defaults();
  (void)state;
  o.h = 0.1;
  assert_status(b.ctx, ga_stepper_start(b.st, &o, 0.0, &q, &v, NULL, NULL, NULL, NULL), GA_OK);
  assert_status(b.ctx, ga_stepper_step(b.st, 0.1), GA_RETRY_NEWTON);
  assert_in_range(ga_stepper_stats(b.st)->iterations, 3, 9); /* of 12, and those of old factors */
  assert_status(b.ctx, ga_stepper_step(b.st, 1e-6), GA_OK);
  bench_close(&b);
}

/* Where iterations are slow at every size, here by a wrong derivative, steps grow all the same. */
static void slow_iterations_do_not_hold_steps_for_good(void **state)
{
  slider s = {1.0, 1.15};
  const double q = 0.0, v = 0.0;
  bench b = bench_open(&s);
  ga_simulate_opts o = ga_simulate_defaults();
  ga_simulator *sim = NULL;
  (void)state;
  o.t_end = 1.0, o.h_first = 1e-6;
  assert_status(b.ctx, ga_simulator_create(b.ctx, b.st, &o, &sim), GA_OK);
  assert_status(b.ctx, ga_simulator_start(sim, NULL, 0.0, &q, &v, NULL, NULL, NULL, NULL), GA_OK);
  assert_status(b.ctx, ga_simulator_run(sim), GA_OK);
  assert_true(ga_stepper_stats(b.st)->factorisations > 3 * ga_simulator_stats(sim)->steps);
  assert_in_range(ga_simulator_stats(sim)->steps, 20, 300);
  ga_simulator_destroy(&sim);
  bench_close(&b);
}

/* ---- Inner unknowns: 1 kg at the end of a rod of 1 m, whose force n = k(l − 1) is one ---- */

typedef struct rod {
  double k;              /* [N/m] */
  int code[2], calls[2]; /* returned by inner and inner_step; how often they were called */
} rod;

static int rod_force(void *user, const ga_point *p, double *out)
{
  const rod *r = user;
  const double l = hypot(p->q[0], p->q[1]),
               n = r->k * (l - 1.0); /* f − f_n c_n⁻¹ c, since f is linear in n */
  out[0] = -n * p->q[0] / l;
  out[1] = -n * p->q[1] / l - 9.81;
  return 0;
}

static int rod_mass(void *user, const ga_point *p, double *out)
{
  (void)user;
  out[0] = p->vdot[0], out[1] = p->vdot[1];
  return 0;
}

/* K = k e eᵀ + n/l (I − e eᵀ) */
static int rod_jacobian(void *user, const ga_point *p, ga_jacobian *J)
{
  const rod *r = user;
  const double l = hypot(p->q[0], p->q[1]), e[2] = {p->q[0] / l, p->q[1] / l};
  const double n = p->statics && p->statics->inner ? p->statics->inner[0] : r->k * (l - 1.0);
  for (int i = 0; i < 4; i++) {
    const double along = e[i / 2] * e[i % 2], across = (i % 3 == 0) - along;
    if (J->want & GA_WANT_D) J->D[i] = (i % 3 == 0) * J->shift_vdot;
    if (J->want & GA_WANT_Q) J->Q[i] = r->k * along + n / l * across;
  }
  return 0;
}

static int rod_inner(void *user, const ga_point *p, double *n)
{
  rod *r = user;
  r->calls[0]++;
  n[0] = r->k * (hypot(p->q[0], p->q[1]) - 1.0);
  return r->code[0];
}

static int rod_inner_step(void *user, const ga_point *p, const double *dq, double *dn)
{
  rod *r = user;
  const double l = hypot(p->q[0], p->q[1]);
  r->calls[1]++;
  dn[0] = r->k * (l - 1.0 + (p->q[0] * dq[0] + p->q[1] * dq[1]) / l) - p->statics->inner[0];
  return r->code[1];
}

static bench rod_open(rod *r, int inner, ga_method method)
{
  static const ga_factor plane = {GA_RN, 2, GA_LEFT};
  bench b = {rig_open_context(), NULL, NULL};
  ga_system_def def = ga_system_defaults();
  ga_stepper_opts o = ga_stepper_defaults();
  o.method = method;
  def.user = r, def.n_factors = 1, def.factors = &plane;
  def.mass = rod_mass, def.force = rod_force, def.jacobian = rod_jacobian;
  if (inner) def.n_inner = 1, def.inner = rod_inner, def.inner_step = rod_inner_step;
  assert_status(b.ctx, ga_system_create(b.ctx, &def, &b.sys), GA_OK);
  assert_status(b.ctx, ga_stepper_create(b.ctx, b.sys, &o, &b.st), GA_OK);
  return b;
}

/* Swings for 1 s in n steps; failed ones are given up. *x: where it ends. */
static long rod_swing(bench *b, int n, double *x)
{
  const double q[] = {1.0, 0.0}, v[] = {0.0, 0.0};
  ga_start_opts o = ga_start_defaults();
  o.h = 1.0 / n;
  assert_status(b->ctx, ga_stepper_start(b->st, &o, 0.0, q, v, NULL, NULL, NULL, NULL), GA_OK);
  for (int i = 0; i < n; i++) assert_status(b->ctx, ga_stepper_step(b->st, o.h), GA_OK);
  *x = ga_stepper_state(b->st)->q[0];
  return ga_stepper_stats(b->st)->iterations;
}

/* Steps with the force as an iterate have the same solution, in fewer iterations, and factors. */
static void inner_unknowns_in_steps(void **state)
{
  ga_method_info info;
  (void)state;
  for (int m = 0; ga_method_at(m, &info) && !info.has_order; m++) { /* its steps have no iterates */
    double x[2];
    long iterations[2], factorisations[2];
    for (int inner = 0; inner < 2; inner++) {
      rod r = {1e8, {0, 0}, {0, 0}};
      bench b = rod_open(&r, inner, info.method);
      iterations[inner] = rod_swing(&b, 50, &x[inner]);
      factorisations[inner] = ga_stepper_stats(b.st)->factorisations;
      assert_int_equal(r.calls[1] > 0, inner);
      bench_close(&b);
    }
    if (!(fabs(x[1] - x[0]) < 1e-8 && iterations[1] < iterations[0] && factorisations[1] < factorisations[0]))
      fail_msg("%s: x %.12g, %.12g, iterations %ld, %ld, factorisations %ld, %ld", info.name, x[0], x[1],
               iterations[0], iterations[1], factorisations[0], factorisations[1]);
  }
}

/* What these callbacks return, and NaN, is a failure of the step; the state before stays. */
static void inner_unknowns_that_fail(void **state)
{
  static const struct {
    int which, code;
    double k;
    ga_status status;
  } all[] = {{0, 1, 1e8, GA_RETRY_CALLBACK},
             {0, -1, 1e8, GA_ERR_CALLBACK},
             {1, 1, 1e8, GA_RETRY_CALLBACK},
             {1, -1, 1e8, GA_ERR_CALLBACK}};
  (void)state;
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    rod r = {all[i].k, {0, 0}, {0, 0}};
    bench b = rod_open(&r, 1, GA_STABILIZED);
    double x, q[2];
    rod_swing(&b, 50, &x);
    memcpy(q, ga_stepper_state(b.st)->q, sizeof q);
    r.code[all[i].which] = all[i].code;
    assert_status(b.ctx, ga_stepper_step(b.st, 0.02), all[i].status);
    assert_string_equal(ga_context_error(b.ctx)->callback, all[i].which ? "inner_step" : "inner");
    assert_memory_equal(q, ga_stepper_state(b.st)->q, sizeof q);
    r.code[all[i].which] = 0;
    assert_status(b.ctx, ga_stepper_step(b.st, 0.02), GA_OK);
    bench_close(&b);
  }
}

/* ---- States ---- */

/* A mass of 1 kg under the force of a state that follows its position: q'' = −400 x, x' = 30 (q − x). */
static int follower_force(void *user, const ga_point *p, double *out)
{
  (void)user;
  out[0] = -400.0 * p->x[0];
  return 0;
}

static int follower_state(void *user, const ga_point *p, double *out)
{
  (void)user;
  out[0] = 30.0 * (p->q[0] - p->x[0]);
  return 0;
}

/* Linear equations take one iteration of Newton's method, and one that finds nothing left, by every method.
 */
static void states_in_the_matrix_of_every_method(void **state)
{
  static const ga_factor line = {GA_RN, 1, GA_LEFT};
  const double q = 0.1, v = 0.0, x = 0.05, h = 0.02;
  ga_method_info method;
  (void)state;
  for (int i = 0; ga_method_at(i, &method); i++) {
    bench b = {rig_open_context(), NULL, NULL};
    ga_system_def def = ga_system_defaults();
    ga_stepper_opts o = ga_stepper_defaults();
    ga_start_opts start = ga_start_defaults();
    def.n_factors = 1, def.factors = &line, def.n_x = 1;
    def.mass = slider_mass, def.force = follower_force, def.state = follower_state;
    o.method = method.method, o.newton.reuse = GA_FRESH_ITERATION;
    start.h = h;
    assert_status(b.ctx, ga_system_create(b.ctx, &def, &b.sys), GA_OK);
    assert_status(b.ctx, ga_stepper_create(b.ctx, b.sys, &o, &b.st), GA_OK);
    assert_status(b.ctx, ga_stepper_start(b.st, &start, 0.0, &q, &v, &x, NULL, NULL, NULL), GA_OK);
    const long before = ga_stepper_stats(b.st)->iterations;
    for (int n = 0; n < 50; n++) assert_status(b.ctx, ga_stepper_step(b.st, h), GA_OK);
    assert_true(ga_stepper_stats(b.st)->iterations - before <= (method.has_order ? 50 * 12 : 100));
    bench_close(&b);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(diverging_iterations_are_given_up),
      cmocka_unit_test(slow_iterations_do_not_hold_steps_for_good), cmocka_unit_test(inner_unknowns_in_steps),
      cmocka_unit_test(inner_unknowns_that_fail), cmocka_unit_test(states_in_the_matrix_of_every_method)};
  return cmocka_run_group_tests_name("core: effort", tests, NULL, NULL);
}
