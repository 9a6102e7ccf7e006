/* Parts that variables switch: derivatives on and off, bolts that break, couplings that engage, messages. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mbs_shop.h"

static void add_variable(shop *s, const char *name, double value)
{
  ga_variable_def d = ga_variable_defaults();
  d.name = name;
  d.value = value;
  SHOP_ADD(s, variable, &d);
}

static void add_event(shop *s, const char *name, const char *when, const char *set, const char *to)
{
  ga_event_def d = ga_event_defaults();
  d.name = name;
  d.when = when;
  d.direction = GA_DIRECTION_RISING;
  d.set = set, d.to = to;
  SHOP_ADD(s, event, &d);
}

static void add_joint(shop *s, const char *name, ga_joint_kind kind, const char *a, const char *b,
                      const char *active)
{
  ga_joint_def d = ga_joint_defaults();
  d.name = name;
  d.kind = kind;
  d.a = a, d.b = b;
  d.active = active;
  SHOP_ADD(s, joint, &d);
}

/* ---- Derivatives ---- */

static void add_forces(shop *s, const char *active)
{
  ga_spring_def spring = ga_spring_defaults();
  ga_bushing_def bushing = ga_bushing_defaults();
  ga_force_def force = ga_force_defaults();
  spring.name = "spring", spring.a = "p", spring.b = "r";
  spring.stiffness = 30, spring.damping = 2, spring.rest = 1;
  spring.active = active;
  SHOP_ADD(s, spring, &spring);
  bushing.name = "bushing", bushing.a = "p", bushing.b = "r";
  for (int i = 0; i < 6; i++) bushing.stiffness[7 * i] = 20 + i, bushing.damping[7 * i] = 2;
  bushing.active = active;
  SHOP_ADD(s, bushing, &bushing);
  force.name = "push", force.frame = "p";
  force.force[0].expression = "3*two.x";
  force.active = active;
  SHOP_ADD(s, force, &force);
}

/* Joints, a drive and forces between two bodies, switched by one variable. */
static shop switched(ga_form form, double value)
{
  shop s = shop_open(form, -9.81);
  shop_rigid(&s, "one", 0, 0, 0);
  shop_rigid(&s, "two", 1.5, 0.4, 0.3);
  shop_marker(&s, "p", "one", 0.2, -0.1, 0.3);
  shop_marker(&s, "r", "two", -0.1, 0.2, 0.1);
  add_variable(&s, "on", value);
  add_joint(&s, "weld", GA_JOINT_FIXED, "p", "r", "on");
  add_joint(&s, "rod", GA_JOINT_DISTANCE, "ground", "r", "on");
  add_joint(&s, "pin", GA_JOINT_SPHERICAL, "ground", "p", NULL);
  add_forces(&s, "on");
  return s;
}

static void derivatives_are_exact(void **state)
{
  rig_random random = rig_seed(0);
  (void)state;
  for (int form = 0; form < 3; form++) {
    shop s = switched((ga_form)form, 0);
    shop_build(&s);
    shop_check(&s, &random, 16, 0.1, 1e-7, SHOP_FORM[form]); /* the variable is random: on at some points */
    shop_close(&s);
  }
}

/* ---- A bolt that breaks ---- */

/* A mass of 1 kg on a massless rod of 1 m falls from the horizontal under 10 m/s²: the rod pulls with 30 sin
 * φ, so that a bolt of 21 N breaks at sin φ = 0.7, v² = 14; then it flies. */
static shop hung(ga_form form)
{
  shop s = shop_open(form, -10);
  ga_rigid_def d = ga_rigid_defaults();
  d.name = "bob";
  d.mass = 1;
  for (int i = 0; i < 3; i++) d.inertia[i] = 0.1;
  d.pose.position[0] = 1;
  SHOP_ADD(&s, rigid, &d);
  add_variable(&s, "whole", 1);
  add_joint(&s, "rod", GA_JOINT_DISTANCE, "ground", "bob", "whole");
  add_event(&s, "snap", "abs(rod.tension) - 21", "whole", "0");
  return s;
}

typedef struct flight {
  double error, force, lambda;
} flight;

static flight fly(ga_form form, const shop_trial *how, double after)
{
  shop s = hung(form);
  ga_event_watch *watch = NULL;
  const double sine = 0.7, cosine = sqrt(1 - sine * sine), speed = sqrt(20 * sine);
  /* time from the horizontal: ∫ dφ/√(20 sin φ), with φ = u² */
  double fall = 0;
  const int n = 20000;
  for (int i = 0; i < n; i++) {
    const double top = sqrt(asin(sine)), u = (i + 0.5) * top / n;
    fall += 2 * u / sqrt(20 * sin(u * u)) * top / n;
  }
  shop_build(&s);
  shop_trial trial = *how;
  trial.t_end = fall + after;
  ga_simulator *sim = shop_begin_watched(&s, &trial, NULL, NULL, &watch);
  assert_status(s.ctx, ga_simulator_run(sim), GA_OK);
  assert_true(ga_event_watch_switched(watch) && !ga_event_watch_switched(watch));
  const double X = cosine - speed * sine * after, Z = -sine - speed * cosine * after - 5 * after * after;
  const flight out = {hypot(shop_now(&s, "bob.x") - X, shop_now(&s, "bob.z") - Z),
                      shop_now(&s, "rod.tension"), ga_stepper_state(s.st)->lambda[0]};
  ga_simulator_destroy(&sim);
  ga_event_watch_destroy(&watch);
  shop_close(&s);
  return out;
}

static void bolt_breaks(void **state)
{
  static const ga_method METHOD[] = {GA_INDEX3, GA_STABILIZED, GA_SOI2};
  (void)state;
  for (int k = 0; k < 9; k++) {
    const ga_method method = METHOD[k / 3];
    const flight by_tolerance = fly((ga_form)(k % 3), &(shop_trial){method, 0, 0, 1e-8}, 0.3),
                 coarse = fly((ga_form)(k % 3), &(shop_trial){method, 0, 2e-3, 0}, 0.3),
                 fine = fly((ga_form)(k % 3), &(shop_trial){method, 0, 1e-3, 0}, 0.3);
    const double order = log2(coarse.error / fine.error);
    assert_near(by_tolerance.error, 0, 5e-5, "flight");
    assert_true(by_tolerance.force == 0 && by_tolerance.lambda == 0);
    if (!(order > 1.8 && order < 2.2 && fine.error < 1e-4))
      fail_msg("method %d, form %d: errors %g, %g", k / 3, k % 3, coarse.error, fine.error);
  }
}

/* ---- A coupling that engages ---- */

/* A cart of 2 kg at 3 m/s meets one of 4 kg at rest and hooks on: both go on at 1 m/s, 6 J are lost. */
static shop carts(const char *ready)
{
  shop s = shop_open(GA_FORM_SPACE, 0);
  for (int k = 0; k < 2; k++) {
    ga_rigid_def d = ga_rigid_defaults();
    d.name = k ? "two" : "one";
    d.mass = k ? 4 : 2;
    for (int i = 0; i < 3; i++) d.inertia[i] = 1;
    d.pose.position[0] = k ? 1.5 : 0;
    d.velocity[0] = k ? 0 : 3;
    SHOP_ADD(&s, rigid, &d);
  }
  ga_marker_def nose = ga_marker_defaults();
  nose.name = "nose", nose.body = "one";
  nose.pose.position[0] = 0.5;
  SHOP_ADD(&s, marker, &nose);
  add_variable(&s, "coupled", 0);
  add_joint(&s, "hook", GA_JOINT_FIXED, "nose", "two", "coupled");
  add_event(&s, "meet", ready, "coupled", "1");
  add_event(&s, "part", "t - 1", "coupled", "0");
  return s;
}

static ga_status couple(shop *s, double t_end)
{
  ga_event_watch *watch = NULL;
  shop_build(s);
  ga_simulator *sim = shop_begin_watched(s, &(shop_trial){GA_STABILIZED, t_end, 0, 0}, NULL, NULL, &watch);
  const ga_status status = ga_simulator_run(sim);
  ga_simulator_destroy(&sim);
  ga_event_watch_destroy(&watch);
  return status;
}

static void coupling_engages(void **state)
{
  (void)state;
  shop s = carts("nose.x - two.x");
  assert_status(s.ctx, couple(&s, 1.5), GA_OK);
  assert_near(shop_now(&s, "one.vx"), 1, 1e-9, "speed of one");
  assert_near(shop_now(&s, "two.vx"), 1, 1e-9, "speed of two");
  assert_near(shop_now(&s, "two.x"), 1.5 + 1.5 - 1.0 / 3, 1e-8, "place of two");
  assert_near(shop_now(&s, "hook.fx"), 0, 1e-15, "force of the hook");
  shop_close(&s);
}

static void ends_that_do_not_match_are_refused(void **state)
{
  (void)state;
  shop s = carts("nose.x - two.x + 0.25");
  assert_true(couple(&s, 1.5) < 0);
  assert_int_equal(ga_context_error(s.ctx)->reason, GA_REASON_EVENT_APART);
  shop_close(&s);
}

/* ---- What is refused ---- */

static void only_variables_switch(void **state)
{
  static const char *const ACTIVE[] = {"one", "nothing", "sum"};
  (void)state;
  for (int k = 0; k < 3; k++) {
    shop s = shop_open(GA_FORM_SPACE, 0);
    ga_block_integrator_opts o = ga_block_integrator_defaults();
    ga_control_block *sum = NULL;
    ga_input in = {.value = 1};
    shop_rigid(&s, "one", 0, 0, 0);
    assert_status(s.ctx, ga_block_create_integrator(s.ctx, &o, &sum), GA_OK);
    SHOP_ADD(&s, block, "sum", sum, &in);
    add_joint(&s, "pin", GA_JOINT_SPHERICAL, "ground", "one", ACTIVE[k]);
    assert_status(s.ctx, ga_machine_build(s.m), GA_ERR_ARGUMENT);
    assert_int_equal(ga_context_error(s.ctx)->reason, GA_REASON_ACTIVE_NO_VARIABLE);
    shop_close(&s);
  }
}

static void servos_are_not_switched(void **state)
{
  (void)state;
  shop s = shop_open(GA_FORM_SPACE, 0);
  ga_drive_def d = ga_drive_defaults();
  shop_scalar(&s, "mass", 0, 0);
  add_variable(&s, "on", 1);
  d.name = "drive", d.coordinate = "mass", d.active = "on";
  d.acceleration.value = 2;
  SHOP_ADD(&s, drive, &d);
  assert_status(s.ctx, ga_machine_build(s.m), GA_ERR_ARGUMENT);
  assert_int_equal(ga_context_error(s.ctx)->reason, GA_REASON_ACTIVE_SERVO);
  shop_close(&s);
}

static shop unbuilt(void)
{
  return switched(GA_FORM_SPACE, 0);
}

static void memory_may_end(void **state)
{
  (void)state;
  shop_fail_memory(unbuilt);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(derivatives_are_exact), cmocka_unit_test(bolt_breaks),
      cmocka_unit_test(coupling_engages),      cmocka_unit_test(ends_that_do_not_match_are_refused),
      cmocka_unit_test(only_variables_switch), cmocka_unit_test(servos_are_not_switched),
      cmocka_unit_test(memory_may_end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
