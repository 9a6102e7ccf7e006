/* Equilibria of models: a linkage against where a damped run ends, starts at an equilibrium, and beams
 * against closed forms and independent numbers (shooting with tight tolerances). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "galpha/galpha.h"
#include "galpha/model.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "seeds.h"

typedef struct bench {
  ga_context *ctx;
  ga_model *model;
  ga_machine *machine;
  const ga_system *sys;
  double *q, *v, *x; /* initial values */
  ga_equilibrium *eq;
  ga_equilibrium_report report;
} bench;

static bench open_model(const char *text)
{
  bench b = {0};
  assert_int_equal(ga_context_create(NULL, &b.ctx), GA_OK);
  const ga_status status = ga_model_read_text(b.ctx, "test", text, strlen(text), NULL, &b.model);
  if (status) fail_msg("%s", ga_model_message_at(b.model, 0)->text);
  b.machine = ga_model_machine(b.model);
  b.sys = ga_machine_system(b.machine);
  const size_t nq = (size_t)ga_group_nq(ga_system_group(b.sys)),
               nv = (size_t)ga_system_size(b.sys, GA_BLOCK_V);
  b.q = calloc(nq + nv + (size_t)ga_system_size(b.sys, GA_BLOCK_X) + 1, sizeof *b.q);
  assert_non_null(b.q);
  b.v = b.q + nq;
  b.x = b.v + nv;
  assert_int_equal(ga_machine_initial(b.machine, b.q, b.v, b.x), GA_OK);
  return b;
}

static void close_model(bench *b)
{
  ga_equilibrium_destroy(&b->eq);
  free(b->q);
  ga_model_destroy(&b->model);
  ga_context_destroy(&b->ctx);
}

static void find(bench *b, const ga_equilibrium_opts *o)
{
  assert_int_equal(ga_equilibrium_create(b->ctx, b->sys, o, &b->eq), GA_OK);
  const ga_status status = ga_equilibrium_solve(b->eq, 0.0, b->q, b->x, &b->report);
  if (status) fail_msg("%s", ga_context_error(b->ctx)->text);
}

static double signal_at(const bench *b, const ga_state *s, const char *name)
{
  const int index = ga_machine_find_signal(b->machine, name);
  double value = NAN;
  assert_true(index >= 0);
  assert_int_equal(ga_machine_signals(b->machine, NULL, s, 1, &index, &value), GA_OK);
  return value;
}

static double found(const bench *b, const char *name)
{
  return signal_at(b, ga_equilibrium_state(b->eq), name);
}

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

/* ---- Beams ---- */

static double error_at_end(const bench *b, const double expected[3], double scale)
{
  return sqrt(pow(found(b, "b.end.x") - expected[0], 2) + pow(found(b, "b.end.y") - expected[1], 2) +
              pow(found(b, "b.end.z") - expected[2], 2)) /
         scale;
}

/* M = 2π EI/L bends a cantilever to a full circle, whatever the number of elements. */
static void beams_roll_up(void **state)
{
  static const double origin[3] = {0, 0, 0};
  (void)state;
  for (int n = 4; n <= 8; n *= 2) {
    char text[1024];
    snprintf(text, sizeof text,
             "galpha: 1\n"
             "bodies:\n"
             "  b: {type: beam, from: [0, 0, 0], to: [1, 0, 0], elements: %d, stiffness: [1e4, 1e4, 1e4, 1, "
             "1, 1], "
             "mass_per_length: 1, rotary_inertia: [1e-2, 5e-3, 5e-3]}\n"
             "joints: {clamp: {type: fixed, a: ground, b: b}}\n"
             "forces: {m: {type: force, frame: b.end, torque: [0, 0, 6.283185307179586]}}\n",
             n);
    bench b = open_model(text);
    ga_equilibrium_opts o = ga_equilibrium_defaults();
    o.control = GA_LOAD_STEPS;
    o.load_step = 0.125;
    find(&b, &o);
    const double error = error_at_end(&b, origin, 1.0);
    if (!(error <= 1e-10)) fail_msg("%d elements: the circle is open by %.2e", n, error);
    close_model(&b);
  }
}

/* An eighth of a circle of radius 100, loaded out of its plane: order 4, all of the load at once. */
static void bend_of_45_degrees(void **state)
{
  static const double tip[3] = {47.15043857362905, 15.684800534038754, 53.47485879182515};
  double before = 0.0;
  (void)state;
  for (int n = 4; n <= 16; n *= 2) {
    char text[1024];
    snprintf(text, sizeof text,
             "galpha: 1\n"
             "bodies:\n"
             "  b: {type: beam, pose: [0, 0, 0], length: 78.53981633974483, curvature: [0, 0, 0.01], "
             "elements: %d, "
             "stiffness: [1e7, 5e6, 5e6, 5e6/6, 1e7/12, 1e7/12], mass_per_length: 1, rotary_inertia: [0.1, "
             "0.05, 0.05]}\n"
             "joints: {clamp: {type: fixed, a: ground, b: b}}\n"
             "forces: {f: {type: force, frame: b.end, force: [0, 0, 600]}}\n",
             n);
    bench b = open_model(text);
    find(&b, NULL);
    const double error = error_at_end(&b, tip, 60.0);
    assert_int_equal(b.report.load_steps, 1);
    assert_int_equal(b.report.stability, GA_STABLE);
    if (n == 4 && !(error < 1e-3)) fail_msg("4 elements: %.2e", error);
    if (n == 16 && !(error < 1e-5)) fail_msg("16 elements: %.2e", error);
    if (n > 4 && !(log2(before / error) > 3.7)) fail_msg("%d elements: order %.2f", n, log2(before / error));
    before = error;
    close_model(&b);
  }
}

/* The Princeton beam at 45°: bending about both axes, and torsion. */
static void princeton_beam(void **state)
{
  static const double tip[3] = {0.508 - 0.014411824833466369, -0.00897919672270405, 0.10911311525517225};
  (void)state;
  for (int n = 4; n <= 16; n *= 4) {
    char text[1024];
    const double width = 12.3777e-3, height = 3.2024e-3, E = 71.7e9, G = E / 2.62, A = width * height;
    const double stiff = E * width * width * width * height / 12,
                 weak = E * width * height * height * height / 12;
    snprintf(text, sizeof text,
             "galpha: 1\n"
             "bodies:\n"
             "  b: {type: beam, from: [0, 0, 0], to: [0.508, 0, 0], up: [0, 0, 1], elements: %d, stiffness: "
             "[%.17g, "
             "%.17g, %.17g, %.17g, %.17g, %.17g], mass_per_length: 0.1, rotary_inertia: [2e-6, 1e-6, 1e-6]}\n"
             "joints: {clamp: {type: fixed, a: ground, b: b}}\n"
             "forces: {f: {type: force, frame: b.end, force: [0, -8.896*sqrt(0.5), 8.896*sqrt(0.5)]}}\n",
             n, E * A, G * A, G * A, 0.198 * G * (stiff + weak) / E, weak, stiff);
    bench b = open_model(text);
    find(&b, NULL);
    const double error = error_at_end(&b, tip, 0.11);
    if (!(error < (n == 4 ? 1e-4 : 1e-6))) fail_msg("%d elements: %.2e", n, error);
    assert_int_equal(b.report.load_steps, 1);
    close_model(&b);
  }
}

/* A thin frame of two legs at a right angle, loaded in its plane, buckles out of it at 1.0875 N. */
static void frames_buckle(void **state)
{
  static const char leg[] =
      "elements: 4, section: rectangle, width: 30 mm, height: 0.6 mm, young: 71240e6, poisson: "
      "0.31, density: 2700, torsion_constant: 2.16e-12}\n";
  char text[2048];
  (void)state;
  snprintf(
      text, sizeof text,
      "galpha: 1\n"
      "bodies:\n"
      "  a: {type: beam, from: [0, 0, 0], to: [0.24, 0, 0], up: [0, 0, 1], %s"
      "  b: {type: beam, from: [0.24, 0, 0], to: [0.24, -0.24, 0], up: [0, 0, 1], %s"
      "markers: {corner: {body: b, rotation: {axis: [0, 0, 1], angle: 90 deg}}}\n"
      "joints: {clamp: {type: fixed, a: ground, b: a}, corner_joint: {type: fixed, a: a.end, b: corner}}\n"
      "forces: {f: {type: force, frame: b.end, force: [1, 0, 0]}}\n",
      leg, leg);
  bench b = open_model(text);
  ga_equilibrium_opts o = ga_equilibrium_defaults();
  o.control = GA_LOAD_PATH;
  o.load = 1.2;
  o.max_step = 0.2;
  find(&b, &o);
  assert_int_equal(b.report.n_critical, 1);
  assert_int_equal(b.report.critical[0].kind, GA_BIFURCATION);
  if (!(fabs(b.report.critical[0].load - 1.0875) < 2e-4))
    fail_msg("buckles at %.6f N", b.report.critical[0].load);
  assert_int_equal(b.report.stability, GA_UNSTABLE);
  assert_int_equal(b.report.n_unstable, 1);
  close_model(&b);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(damped_motion_ends_there),
                                     cmocka_unit_test(models_ask_for_it),
                                     cmocka_unit_test(beams_roll_up),
                                     cmocka_unit_test(bend_of_45_degrees),
                                     cmocka_unit_test(princeton_beam),
                                     cmocka_unit_test(frames_buckle)};
  return cmocka_run_group_tests_name("model: equilibrium", tests, NULL, NULL);
}
