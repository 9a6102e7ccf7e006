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

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(diverging_iterations_are_given_up),
                                     cmocka_unit_test(slow_iterations_do_not_hold_steps_for_good)};
  return cmocka_run_group_tests_name("core: effort", tests, NULL, NULL);
}
