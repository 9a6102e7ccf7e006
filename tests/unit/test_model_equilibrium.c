/* Equilibria of models: a linkage against where a damped run ends, starts at an equilibrium. Those of beams
 * are in test_model_beams.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "model_statics.h"
#include "seeds.h"

/* ---- Where damped motion ends ---- */

static const char linkage[] =
    "galpha: 1\n"
    "gravity: [0, -9.81, 0]\n"
    "bodies:\n"
    "  crank: {type: planar, mass: 2, inertia: 0.1, com: [0.4, 0], angle: 60 deg}\n"
    "  coupler: {type: planar, mass: 3, inertia: 0.3, com: [0.7, 0], position: [0.4, 0.692820323027551], "
    "angle: 0.20944}\n"
    "  rocker: {type: planar, mass: 2.5, inertia: 0.2, com: [0.5, 0], position: [1.6, 0], angle: 80 deg}\n"
    "markers:\n"
    "  crank_end: {body: crank, position: [0.8, 0, 0]}\n"
    "  coupler_end: {body: coupler, position: [1.40434, 0, 0]}\n"
    "  rocker_end: {body: rocker, position: [1, 0, 0]}\n"
    "  base: {body: ground, position: [1.6, 0, 0]}\n"
    "joints:\n"
    "  pin_a: {type: revolute, a: ground, b: crank}\n"
    "  pin_b: {type: revolute, a: crank_end, b: coupler}\n"
    "  pin_c: {type: revolute, a: coupler_end, b: rocker_end}\n"
    "  pin_d: {type: revolute, a: base, b: rocker}\n"
    "forces:\n"
    "  spring: {type: spring, a: crank_end, b: base, stiffness: 30, rest: 0.9}\n"
    "  damper: {type: spring, coordinate: pin_a.angle, damping: 6, rest: 0}\n"
    "simulation: {t_end: 60, tolerance: 1e-8}\n";

static void damped_motion_ends_there(void **state)
{
  static const char *const names[] = {"crank.x", "coupler.x", "coupler.y", "pin_b.angle", "pin_d.angle"};
  (void)state;
  bench b = open_model(linkage);
  ga_stepper *st = NULL;
  ga_simulator *sim = NULL;
  ga_stepper_opts so;
  ga_simulate_opts o = ga_simulate_defaults();
  find(&b, NULL);
  assert_int_equal(b.report.stability, GA_STABLE);
  assert_int_equal(ga_run_stepper_opts(b.ctx, ga_model_settings(b.model), &so), GA_OK);
  assert_int_equal(ga_run_simulate_opts(b.ctx, ga_model_settings(b.model), &o), GA_OK);
  assert_int_equal(ga_stepper_create(b.ctx, b.sys, &so, &st), GA_OK);
  assert_int_equal(ga_simulator_create(b.ctx, st, &o, &sim), GA_OK);
  assert_int_equal(ga_simulator_start(sim, NULL, 0.0, b.q, b.v, b.x, NULL, NULL, NULL), GA_OK);
  if (!rig_brief()) {
    assert_int_equal(ga_simulator_run(sim), GA_OK);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
      const double rest = found(&b, names[i]), end = signal_at(&b, ga_stepper_state(st), names[i]);
      if (!(fabs(rest - end) <= 1e-8)) fail_msg("%s: %.12g at rest, %.12g after 60 s", names[i], rest, end);
    }
  }
  /* A run from there does not move. */
  const ga_state *at = ga_equilibrium_state(b.eq);
  ga_start_report report;
  assert_int_equal(ga_simulator_start(sim, NULL, 0.0, at->q, b.v, b.x, at->lambda, at->psi, &report), GA_OK);
  assert_true(report.acceleration.change < 1e-9);
  assert_true(report.position.change < 1e-12);
  ga_simulator_destroy(&sim);
  ga_stepper_destroy(&st);
  close_model(&b);
}

static void models_ask_for_it(void **state)
{
  (void)state;
  static const char asks[] =
      "galpha: 1\nbodies: {b: {type: scalar, mass: 1}}\nsimulation: {from_equilibrium: true}\n";
  bench b = open_model(asks);
  assert_int_equal(ga_model_settings(b.model)->from_equilibrium, 1);
  assert_int_equal(ga_run_defaults().from_equilibrium, 0);
  close_model(&b);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(damped_motion_ends_there),
                                     cmocka_unit_test(models_ask_for_it)};
  return cmocka_run_group_tests_name("model: equilibrium", tests, NULL, NULL);
}
