/* Where everything is: places are the signals of their names, a state follows from them, and shapes stay
 * fixed to the movers that they name, in every form of rigid bodies. */
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

/* A machine of every kind of mover: a top whose frame is off its centre of mass, a planar pendulum, a point
 * on a spring, a beam, a cable, a body with modes, a rotor without a place, a wheel about y. */
static const char machine_text[] =
    "galpha: 1\n"
    "form: %s\n"
    "gravity: [0, 0, -9.81]\n"
    "bodies:\n"
    "  top: {type: rigid, mass: 2, inertia: [0.02, 0.03, 0.04], com: [0.1, 0.2, 0.3], omega: [1, 2, 9],\n"
    "        rotation: {axis: [1, 2, 3], angle: 2}}\n"
    "  arm: {type: planar, mass: 1, inertia: 0.1, com: [0.3, 0.1], angle: 1, rate: 5}\n"
    "  ball: {type: point, mass: 0.5, position: [1, 2, 3], velocity: [0, 1, 0]}\n"
    "  rotor: {type: scalar, mass: 1, velocity: 3}\n"
    "  blade: {type: beam, length: 1, elements: 3, position: [0, 3, 0], section: circle, diameter: 30 mm,\n"
    "          young: 10 MPa, poisson: 0.3, density: 1000}\n"
    "  rope: {type: cable, from: [0, 5, 0], to: [1, 5, 0], length: 1.2, elements: 3, stiffness: 400,\n"
    "         mass_per_length: 0.5, damping: 0.05}\n"
    "  rod: {type: modal, modes: 3, position: [0, 8, 0], interface: {left: 0, right: 1}, omega: [0, 3, 0],\n"
    "        beam: {length: 1, elements: 6, section: circle, diameter: 30 mm, young: 10 MPa, poisson: 0.3,\n"
    "               density: 1000}}\n"
    "  wheel: {type: rigid, mass: 5, inertia: [0.2, 0.3, 0.2], position: [0, 12, 0.29], velocity: [3, 0, "
    "0],\n"
    "          omega: [0, 10, 0]}\n"
    "markers:\n"
    "  eye: {body: top, position: [0.1, 0, 0]}\n"
    "joints:\n"
    "  tip: {type: spherical, a: ground, b: top}\n"
    "  hinge: {type: revolute, a: ground, b: arm}\n"
    "  root: {type: fixed, a: ground, b: blade, at: [0, 3, 0]}\n"
    "  hook: {type: spherical, a: ground, b: rope, at: [0, 5, 0]}\n"
    "  pivot: {type: spherical, a: ground, b: rod.left, at: [0, 8, 0]}\n"
    "forces:\n"
    "  coil: {type: spring, a: eye, b: ball, stiffness: 10}\n"
    "roads:\n"
    "  road: {}\n"
    "tyres:\n"
    "  tyre: {type: tanh, wheel: wheel, road: road, radius: 0.3, stiffness: 100 kN/m, damping: 600, mu: "
    "0.9,\n"
    "         slip_stiffness: 18, cornering_stiffness: 14}\n";

typedef struct scene {
  ga_context *ctx;
  ga_model *model;
  ga_machine *m;
  ga_stepper *st;
  double *q; /* [nq + nv + nx] as it starts */
  size_t nq;
} scene;

static void ok(const scene *s, ga_status status)
{
  if (status) fail_msg("%s", ga_context_error(s->ctx)->text);
}

static scene open_scene(const char *form)
{
  scene s = {NULL};
  char text[sizeof machine_text + 16];
  const int length = snprintf(text, sizeof text, machine_text, form);
  assert_int_equal(ga_context_create(NULL, &s.ctx), GA_OK);
  const ga_status status = ga_model_read_text(s.ctx, "scene.yaml", text, (size_t)length, NULL, &s.model);
  for (int i = 0; i < ga_model_n_messages(s.model); i++) {
    const ga_model_message *said = ga_model_message_at(s.model, i);
    if (said->level == GA_MESSAGE_ERROR) fail_msg("%d:%d: %s", said->line, said->column, said->text);
  }
  ok(&s, status);
  s.m = ga_model_machine(s.model);
  const ga_system *sys = ga_machine_system(s.m);
  const ga_stepper_opts opts = ga_stepper_defaults();
  ga_start_opts start = ga_start_defaults();
  const size_t nv = (size_t)ga_system_size(sys, GA_BLOCK_V), nx = (size_t)ga_system_size(sys, GA_BLOCK_X);
  s.nq = (size_t)ga_group_nq(ga_system_group(sys));
  s.q = test_calloc(s.nq + nv + nx, sizeof *s.q);
  start.h = 1e-3;
  start.max_change = 10;
  ok(&s, ga_machine_initial(s.m, s.q, s.q + s.nq, s.q + s.nq + nv));
  ok(&s, ga_stepper_create(s.ctx, sys, &opts, &s.st));
  ok(&s, ga_stepper_start(s.st, &start, 0, s.q, s.q + s.nq, s.q + s.nq + nv, NULL, NULL, NULL));
  return s;
}

static void close_scene(scene *s)
{
  ga_stepper_destroy(&s->st);
  ga_model_destroy(&s->model);
  ga_context_destroy(&s->ctx);
  test_free(s->q);
}

static void run_on(const scene *s, int steps)
{
  for (int i = 0; i < steps; i++) ok(s, ga_stepper_step(s->st, 1e-3));
}

static void assert_near(double a, double b, double tolerance, const char *what)
{
  if (!(fabs(a - b) <= tolerance)) fail_msg("%s: %.17g instead of %.17g", what, a, b);
}

static const char *const FORMS[] = {"space", "body", "se3"};

static void places_are_signals(void **state)
{
  (void)state;
  for (int f = 0; f < 3; f++) {
    scene s = open_scene(FORMS[f]);
    const int n = ga_machine_n_places(s.m);
    double *places = test_calloc((size_t)n, sizeof *places);
    int of_signals = 0, numbered = 0, amplitudes = 0;
    run_on(&s, 40);
    ok(&s, ga_machine_places(s.m, ga_stepper_state(s.st), places));
    for (int i = 0; i < n; i++) {
      char name[64], cut[5];
      double value;
      assert_true(ga_machine_place_name(s.m, i, name, sizeof name) == (int)strlen(name));
      assert_int_equal(ga_machine_place_name(s.m, i, cut, sizeof cut), strlen(name));
      assert_memory_equal(cut, name, 4);
      assert_int_equal(ga_machine_place_name(s.m, i, NULL, 0), strlen(name));
      const int signal = ga_machine_find_signal(s.m, name);
      numbered += strchr(name, ':') != NULL;
      amplitudes += strstr(name, "rod.amplitude") != NULL;
      if (signal < 0) continue;
      of_signals++;
      ok(&s, ga_machine_signals(s.m, NULL, ga_stepper_state(s.st), 1, &signal, &value));
      assert_near(places[i], value, 1e-14 * (1 + fabs(value)), name);
    }
    /* top 7, arm 3, ball 3, blade's root 7, rope's first point 3, rod 7 and its modes, wheel 7 */
    assert_in_range(amplitudes, 3, 20);
    assert_int_equal(of_signals, 37 + amplitudes);
    assert_int_equal(numbered, 3 * 7 + 3 * 3);
    assert_int_equal(n, of_signals + numbered);
    assert_int_equal(ga_machine_place_name(s.m, n, NULL, 0), 0);
    assert_int_equal(ga_machine_place_name(s.m, -1, NULL, 0), 0);
    test_free(places);
    close_scene(&s);
  }
}

static double distance(const ga_pose *a, const ga_pose *b)
{
  double most = 0;
  for (int i = 0; i < 3; i++) most = fmax(most, fabs(a->position[i] - b->position[i]));
  for (int i = 0; i < 9; i++) most = fmax(most, fabs(a->rotation[i] - b->rotation[i]));
  return most;
}

static void states_follow_from_places(void **state)
{
  (void)state;
  for (int f = 0; f < 3; f++) {
    scene s = open_scene(FORMS[f]);
    const int n = ga_machine_n_places(s.m);
    double *places = test_calloc((size_t)n, sizeof *places);
    run_on(&s, 60);
    const ga_state *now = ga_stepper_state(s.st), from = {.q = s.q};
    double moved = 0;
    ok(&s, ga_machine_places(s.m, now, places));
    for (int i = 0; i < n; i++) {
      char name[64];
      ga_machine_place_name(s.m, i, name, sizeof name);
      if (strcmp(name, "top.qw") == 0) /* any length, either sign */
        for (int k = 0; k < 4; k++) places[i + k] *= -3;
    }
    for (int pass = 0; pass < 2; pass++) {
      if (pass == 1) ok(&s, ga_machine_from_places(s.m, places, s.q));
      for (int i = 0; i < ga_machine_n_movers(s.m); i++) {
        ga_pose a, b;
        ok(&s, ga_machine_mover_pose(s.m, now, i, &a));
        ok(&s, ga_machine_mover_pose(s.m, &from, i, &b));
        if (pass == 0) moved = fmax(moved, distance(&a, &b));
        if (pass == 1) assert_near(distance(&a, &b), 0, 1e-13, "a pose by places");
      }
    }
    assert_true(moved > 0.1);
    test_free(places);
    close_scene(&s);
  }
}

/* NaN leaves a mover where it is, and so does a quaternion of length 0. */
static void what_is_unknown_stays(void **state)
{
  (void)state;
  scene s = open_scene("space");
  const int n = ga_machine_n_places(s.m);
  double *places = test_calloc((size_t)n, sizeof *places), *before = test_calloc(s.nq, sizeof *before);
  memcpy(before, s.q, s.nq * sizeof *before);
  for (int i = 0; i < n; i++) places[i] = NAN;
  ok(&s, ga_machine_from_places(s.m, places, s.q));
  assert_memory_equal(before, s.q, s.nq * sizeof *before);
  for (int i = 0; i < 7; i++) places[i] = 0; /* of the top, the first */
  ok(&s, ga_machine_from_places(s.m, places, s.q));
  assert_memory_equal(before, s.q, s.nq * sizeof *before);
  places[3] = 1;
  ok(&s, ga_machine_from_places(s.m, places, s.q));
  assert_memory_not_equal(before, s.q, s.nq * sizeof *before);
  test_free(before);
  test_free(places);
  close_scene(&s);
}

/* Rᵀ(p − x), Rᵀ A */
static void seen_from(const ga_pose *on, const ga_pose *end, ga_pose *out)
{
  for (int i = 0; i < 3; i++) {
    out->position[i] = 0;
    for (int k = 0; k < 3; k++)
      out->position[i] += on->rotation[3 * k + i] * (end->position[k] - on->position[k]);
    for (int j = 0; j < 3; j++) {
      out->rotation[3 * i + j] = 0;
      for (int k = 0; k < 3; k++)
        out->rotation[3 * i + j] += on->rotation[3 * k + i] * end->rotation[3 * k + j];
    }
  }
}

static void shapes_are_fixed_to_their_movers(void **state)
{
  enum { MOST = 64 };
  ga_pose first[MOST][2];
  (void)state;
  scene s = open_scene("se3");
  const int n = ga_machine_n_shapes(s.m);
  int wheels = 0, beams = 0, joints = 0;
  assert_in_range(n, 15, MOST);
  for (int pass = 0; pass < 2; pass++) {
    const ga_state *now = ga_stepper_state(s.st);
    for (int i = 0; i < n; i++) {
      ga_shape shape;
      ok(&s, ga_machine_shape(s.m, now, i, &shape));
      for (int k = 0; k < shape.n_ends; k++) {
        ga_pose on, here;
        ok(&s, ga_machine_mover_pose(s.m, now, shape.on[k], &on));
        seen_from(&on, &shape.end[k], &here);
        if (pass == 0) first[i][k] = here;
        assert_near(distance(&here, &first[i][k]), 0, 1e-12, shape.part);
      }
      beams += shape.kind == GA_SHAPE_BEAM;
      if (shape.kind == GA_SHAPE_WHEEL) wheels++, assert_string_equal(shape.type, "tyre");
      if (shape.kind == GA_SHAPE_JOINT) joints++, assert_int_equal(shape.n_ends, 2);
      if (strcmp(shape.part, "tip") == 0) {
        assert_string_equal(shape.type, "spherical");
        assert_int_equal(shape.on[1], 0);
      }
    }
    if (pass == 0) run_on(&s, 60);
  }
  assert_int_equal(wheels, 2);
  assert_int_equal(beams, 6);
  assert_int_equal(joints, 10);
  close_scene(&s);
}

static void movers_have_the_mass(void **state)
{
  (void)state;
  scene s = open_scene("space");
  double mass = 0, g[3];
  int without = 0;
  ga_mover mover;
  for (int i = 0; i < ga_machine_n_movers(s.m); i++) {
    ok(&s, ga_machine_mover(s.m, i, &mover));
    if (mover.has_pose) mass += mover.mass;
    without += !mover.has_pose;
    if (strcmp(mover.part, "top") == 0) {
      const double inertia[6] = {0.02, 0.03, 0.04, 0, 0, 0};
      for (int k = 0; k < 6; k++) assert_near(mover.inertia[k], inertia[k], 0, "inertia");
    }
    if (strcmp(mover.part, "ball") == 0) assert_true(mover.point && !mover.planar);
    if (strcmp(mover.part, "arm") == 0) assert_true(mover.planar && !mover.point);
  }
  const double pi = 3.14159265358979324, beam = 1000 * pi / 4 * 0.03 * 0.03;
  assert_near(mass, 2 + 1 + 0.5 + beam + 0.6 + beam + 5, 1e-12, "the mass of all movers");
  assert_int_equal(without, 2); /* the rotor, and the amplitudes of the rod */
  assert_int_equal(ga_machine_mover(s.m, ga_machine_n_movers(s.m), &mover), GA_ERR_ARGUMENT);
  assert_int_equal(ga_machine_mover(s.m, -1, &mover), GA_ERR_ARGUMENT);
  ga_machine_gravity_vector(s.m, g);
  assert_near(g[2], -9.81, 0, "gravity");
  ga_machine_gravity_vector(NULL, g);
  assert_near(g[2], 0, 0, "gravity of nothing");
  close_scene(&s);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(places_are_signals),    cmocka_unit_test(states_follow_from_places),
      cmocka_unit_test(what_is_unknown_stays), cmocka_unit_test(shapes_are_fixed_to_their_movers),
      cmocka_unit_test(movers_have_the_mass),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
