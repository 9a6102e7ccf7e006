/* Machines that know that nothing in them acts for a short time, and what such a system is checked for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/system.h"
#include "galpha/model.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

/* A pendulum of a point on a line spring, and what is added to it. */
static const char BODIES[] = "galpha: 1\n"
                             "gravity: [0, 0, -9.81]\n"
                             "bodies:\n"
                             "  bob: {type: point, mass: 1 kg, position: [1, 0, 0]}\n"
                             "forces:\n"
                             "  line: {type: spring, a: ground, b: bob, stiffness: 100 N/m, rest: 1 m}\n";

static const struct {
  const char *what, *more;
  int smooth;
} VARIANTS[] = {
    {"a spring", "", 1},
    {"a damper", "  damper: {type: spring, a: ground, b: bob, damping: 1 N*s/m}\n", 1},
    {"a constant force", "  push: {type: force, frame: bob, force: [1, 0, 0]}\n", 1},
    {"a force over time", "  push: {type: force, frame: bob, force: [\"exp(-((t - 5)/0.01)^2)\", 0, 0]}\n",
     0},
    {"a force along the motion",
     "  push: {type: force, frame: bob, force: [\"exp(-(bob.x/0.01)^2)\", 0, 0]}\n", 0},
    {"an expression", "  soft: {type: spring, a: ground, b: bob, expression: \"20*(l - 1)^3\"}\n", 0},
    {"a floor", "  floor: {type: contact, plane: ground, point: bob, stiffness: 1e5, radius: 0.1}\n", 0},
    {"a limit", "  end: {type: spring, a: ground, b: bob, expression: \"max(0, 1000*(l - 1))\"}\n", 0},
    {"a filter",
     "blocks:\n  filter: {type: first_order, inputs: bob.x, time_constant: 0.1}\n  twice: {type: gain, "
     "inputs: filter, "
     "gain: 2}\n",
     1},
    {"a saturation", "blocks:\n  most: {type: saturation, inputs: bob.x, lower: -1, upper: 1}\n", 0},
    {"a sampled block", "blocks:\n  held: {type: gain, inputs: bob.x, gain: 2, sample_time: 0.1}\n", 0},
};

static void machines_know(void **state)
{
  (void)state;
  for (int i = 0; i < COUNT(VARIANTS); i++) {
    ga_context *ctx = NULL;
    ga_model *model = NULL;
    char text[2000];
    snprintf(text, sizeof text, "%s%s", BODIES, VARIANTS[i].more);
    assert_int_equal(ga_context_create(NULL, &ctx), GA_OK);
    if (ga_model_read_text(ctx, "text", text, strlen(text), NULL, &model))
      fail_msg("%s: %s", VARIANTS[i].what, ga_context_error(ctx)->text);
    const ga_system *sys = ga_machine_system(ga_model_machine(model));
    if (sys->def.smooth != VARIANTS[i].smooth) fail_msg("%s: smooth %d", VARIANTS[i].what, sys->def.smooth);
    ga_model_destroy(&model);
    ga_context_destroy(&ctx);
  }
}

/* ---- Checks of a system of one's own ---- */

typedef struct bell {
  double height; /* of a force that acts for some ms; 0: none */
  long asked;    /* evaluations of the force */
} bell;

static int mass(void *user, const ga_point *p, double *out)
{
  (void)user;
  out[0] = p->vdot[0];
  return 0;
}

static int force(void *user, const ga_point *p, double *out)
{
  bell *k = user;
  const double s = (p->t - 4.4) / 0.02;
  k->asked++;
  out[0] = -p->q[0] + k->height * exp(-s * s);
  return 0;
}

/* Velocity at the end of a motion that begins at rest, or nearly so. */
static double end_of(ga_method method, bell *k, int smooth, double q0)
{
  const ga_factor factor = {GA_RN, 1, GA_LEFT};
  ga_context *ctx = NULL;
  ga_system *sys = NULL;
  ga_stepper *st = NULL;
  ga_simulator *sim = NULL;
  ga_system_def def = ga_system_defaults();
  ga_stepper_opts so = ga_stepper_defaults();
  ga_simulate_opts o = ga_simulate_defaults();
  const double v0 = 0.0;
  def.n_factors = 1, def.factors = &factor;
  def.user = k;
  def.mass = mass, def.force = force;
  def.smooth = smooth;
  so.method = method;
  o.t_end = 10.0;
  assert_int_equal(ga_context_create(NULL, &ctx), GA_OK);
  assert_int_equal(ga_system_create(ctx, &def, &sys), GA_OK);
  assert_int_equal(ga_stepper_create(ctx, sys, &so, &st), GA_OK);
  assert_int_equal(ga_simulator_create(ctx, st, &o, &sim), GA_OK);
  assert_int_equal(ga_simulator_start(sim, NULL, 0.0, &q0, &v0, NULL, NULL, NULL, NULL), GA_OK);
  k->asked = 0;
  assert_int_equal(ga_simulator_run(sim), GA_OK);
  const double v = ga_stepper_state(st)->v[0];
  ga_simulator_destroy(&sim);
  ga_stepper_destroy(&st);
  ga_system_destroy(&sys);
  ga_context_destroy(&ctx);
  return v;
}

/* Not declared smooth, a bell of 20 ms that begins at rest is met; the motion of one that is has the same end
 * with a fraction of the evaluations. */
static void checks_are_fewer(void **state)
{
  static const ga_method method[] = {GA_STABILIZED, GA_COLLOCATION, GA_AUTOMATIC};
  (void)state;
  for (int i = 0; i < COUNT(method); i++) {
    bell k = {.height = 10.0};
    const double impulse = 10.0 * 0.02 * sqrt(acos(-1.0)); /* ∫ of the bell, which is short for the motion */
    const double hit = end_of(method[i], &k, 0, 0.0), expected = impulse * cos(10.0 - 4.4);
    if (!(fabs(hit - expected) < 2e-2 * impulse)) fail_msg("method %d: %g, not %g", method[i], hit, expected);
    k.height = 0.0;
    const double slow = end_of(method[i], &k, 0, 1.0);
    const long many = k.asked;
    const double fast = end_of(method[i], &k, 1, 1.0);
    assert_true(slow == fast);
    if (!(k.asked + 500 < many)) fail_msg("method %d: %ld evaluations of %ld", method[i], k.asked, many);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(machines_know),
      cmocka_unit_test(checks_are_fewer),
  };
  return cmocka_run_group_tests_name("mbs: smooth machines", tests, NULL, NULL);
}
