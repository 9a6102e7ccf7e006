/* Elastic stops: derivatives, impacts against closed forms and a Runge-Kutta reference, play of a gear. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mbs_shop.h"

static ga_function *bend; /* of the depth */

static ga_stop_def stop_of(const char *name, double lower, double upper)
{
  ga_stop_def d = ga_stop_defaults();
  d.name = name;
  d.lower = lower, d.upper = upper;
  d.stiffness = 40;
  return d;
}

/* ---- Derivatives ---- */

static void hinge(shop *s, const char *name, const char *a, const char *b)
{
  ga_joint_def d = ga_joint_defaults();
  d.name = name;
  d.kind = GA_JOINT_REVOLUTE;
  d.a = a, d.b = b;
  SHOP_ADD(s, joint, &d);
}

/* Pressed at either limit, by all terms of the law, along all kinds of gauges. */
static void add_stops(shop *s)
{
  ga_stop_def d = stop_of("line", -INFINITY, 0.2);
  shop_rigid(s, "one", 0, 0, 0);
  shop_rigid(s, "two", 1.5, 0.4, 0.3);
  shop_rigid(s, "arm", 0, 2, 0);
  shop_marker(s, "p", "one", 0.2, -0.1, 0.3);
  shop_marker(s, "r", "two", -0.1, 0.2, 0.1);
  shop_marker(s, "pivot", "ground", 0, 2, 0);
  shop_scalar(s, "rotor", 0.3, 0);
  hinge(s, "hinge", "pivot", "arm");
  d.a = "p", d.b = "r";
  d.dissipation = 0.02, d.damping = 0.3;
  SHOP_ADD(s, stop, &d);
  d = stop_of("axis", 6, 9);
  d.a = "p", d.b = "r";
  d.direction = GA_STOP_Y;
  d.exponent = 2.2, d.depth = 0.5, d.dissipation = 0.01;
  SHOP_ADD(s, stop, &d);
  d = stop_of("limit", 5, INFINITY);
  d.coordinate = "hinge.angle";
  d.force = bend;
  d.damping = 0.2;
  SHOP_ADD(s, stop, &d);
  d = stop_of("play", -9, -8);
  d.coordinate = "rotor", d.other = "hinge.angle";
  d.ratio = -2.5;
  d.dissipation = 0.01;
  SHOP_ADD(s, stop, &d);
}

static void derivatives_are_exact(void **state)
{
  rig_random random = rig_seed(0);
  (void)state;
  for (int form = 0; form < 3; form++) {
    shop s = shop_open((ga_form)form, -9.81);
    bend = shop_function(s.ctx, "3*t + 2*t^3");
    add_stops(&s);
    shop_build(&s);
    shop_check(&s, &random, 8, 0.1, 1e-7, SHOP_FORM[form]);
    ga_machine_destroy(&s.m);
    ga_function_destroy(&bend);
    shop_close(&s);
  }
}

/* ---- Impacts ---- */

/* A mass of 3 kg at 0 with 2 m/s, and what it meets. */
static shop thrown(const ga_stop_def *stop)
{
  shop s = shop_open(GA_FORM_SPACE, 0);
  shop_scalar(&s, "mass", 0, 2);
  SHOP_ADD(&s, stop, stop);
  shop_build(&s);
  return s;
}

typedef struct ending {
  double x, v;
  ga_simulate_stats stats;
} ending;

/* Position and velocity at t_end; fixed_h 0: with error control of tolerance tol. */
static ending run(shop *s, ga_method method, double t_end, double fixed_h, double tol)
{
  ga_simulator *sim = shop_begin(s, &(shop_trial){method, t_end, fixed_h, tol}, NULL, NULL);
  assert_status(s->ctx, ga_simulator_run(sim), GA_OK);
  const ga_state *now = ga_stepper_state(s->st);
  const ending out = {now->q[0], now->v[0], *ga_simulator_stats(sim)};
  ga_simulator_destroy(&sim);
  ga_stepper_destroy(&s->st);
  return out;
}

/* Linear: half a period in contact, then back with the same speed. Between two stops 0.3 m apart. */
static double exact_bounce(double t, double *v)
{
  const double w = sqrt(3000.0 / 3), half = acos(-1.0) / w, flight = 0.3 / 2;
  double x = 0, sign = 1, left = t - 0.1 / 2;
  if (left < 0) return *v = 2, 2 * t;
  for (int k = 0;; k++, sign = -sign) {
    x = sign > 0 ? 0.1 : -0.2;
    if (left < half) return *v = sign * 2 * cos(w * left), x + sign * 2 / w * sin(w * left);
    left -= half;
    if (left < flight) return *v = -sign * 2, x - sign * 2 * left;
    left -= flight;
  }
}

static void linear_stops_return_the_speed(void **state)
{
  (void)state;
  ga_stop_def d = stop_of("stop", -0.2, 0.1);
  d.coordinate = "mass";
  d.stiffness = 3000;
  shop s = thrown(&d);
  double v;
  for (int k = 0; k < 4; k++) { /* in flight, pressed, in flight, pressed at the other stop */
    const double t_end[4] = {0.2, 0.05 + 0.02, 0.9, 0.05 + 2 * (0.3 / 2 + acos(-1.0) / sqrt(1000)) + 0.05};
    const ending at = run(&s, GA_STABILIZED, t_end[k], 0, 1e-9);
    const double x = exact_bounce(t_end[k], &v);
    assert_near(at.x, x, 1e-6, "position");
    assert_near(at.v, v, 5e-5, "velocity");
  }
  shop_close(&s);
}

/* Order 2 by equal steps, though contacts begin and end within them. */
static void equal_steps_keep_order_two(void **state)
{
  static const ga_method METHOD[] = {GA_INDEX3, GA_STABILIZED, GA_SOI2};
  (void)state;
  ga_stop_def d = stop_of("stop", -0.2, 0.1);
  d.coordinate = "mass";
  d.stiffness = 3000;
  shop s = thrown(&d);
  for (int m = 0; m < 3; m++) {
    double error[2][2], v;
    for (int k = 0; k < 2; k++) {
      const ending at = run(&s, METHOD[m], 0.9, k ? 0.9 / 2880 : 0.9 / 1440, 0);
      error[k][0] = fabs(at.x - exact_bounce(0.9, &v));
      error[k][1] = fabs(at.v - v);
    }
    for (int i = 0; i < 2; i++)
      if (!(error[1][i] < error[0][i] / 3.4 && error[0][i] < 2e-3))
        fail_msg("method %d: errors %g and %g", m, error[0][i], error[1][i]);
  }
  shop_close(&s);
}

/* E (1 + d δ') + c δ', never negative, by small steps of Runge and Kutta from contact to its end. */
static void reference(const ga_stop_def *d, double *t, double *v)
{
  const double h = 1e-6;
  double z[2] = {0, 2};
  *t = 0;
  for (int n = 0; n < 1000000; n++) {
    double k[4][2], y[2] = {z[0], z[1]};
    for (int i = 0; i < 4; i++) {
      const double E = y[0] > 0 ? d->stiffness * y[0] * pow(y[0] / d->depth, d->exponent - 1) : 0;
      k[i][0] = y[1];
      k[i][1] = y[0] > 0 ? -fmax(0, E * (1 + d->dissipation * y[1]) + d->damping * y[1]) / 3 : 0;
      for (int j = 0; j < 2; j++) y[j] = z[j] + (i == 2 ? h : 0.5 * h) * k[i][j];
    }
    const double step0 = h / 6 * (k[0][0] + 2 * k[1][0] + 2 * k[2][0] + k[3][0]);
    if (n > 0 && z[0] + step0 < 0) { /* free again within this step */
      *t += -z[0] / z[1];
      *v = z[1];
      return;
    }
    for (int j = 0; j < 2; j++) z[j] += h / 6 * (k[0][j] + 2 * k[1][j] + 2 * k[2][j] + k[3][j]);
    *t += h;
  }
  fail_msg("no end of contact");
}

static void progressive_stop_with_losses(void **state)
{
  (void)state;
  for (int k = 0; k < 2; k++) {
    ga_stop_def d = stop_of("stop", -INFINITY, 0.1);
    double t = 0, v = 0;
    d.coordinate = "mass";
    d.stiffness = 900;
    d.exponent = 2.5, d.depth = 0.05;
    d.dissipation = k ? 0 : 0.3, d.damping = k ? 12 : 0;
    reference(&d, &t, &v);
    shop s = thrown(&d);
    const double t_end = 0.05 + t + 0.1;
    const ending at = run(&s, GA_STABILIZED, t_end, 0, 1e-8);
    assert_true(v < 0 && v > -1.99);
    assert_near(at.v, v, 1e-5, "velocity after contact");
    assert_near(at.x, 0.1 + 0.1 * v, 1e-6, "position after contact");
    shop_close(&s);
  }
}

/* A stop that is much narrower than a step is not passed unseen. */
static void thin_contact_is_seen(void **state)
{
  (void)state;
  ga_stop_def d = stop_of("stop", -INFINITY, 0.1);
  d.coordinate = "mass";
  d.stiffness = 3e9;
  shop s = thrown(&d);
  const ending at = run(&s, GA_STABILIZED, 1, 0, 0);
  assert_near(at.v, -2, 1e-3, "velocity");
  assert_true(at.stats.edges >= 2);
  shop_close(&s);
}

/* ---- Play between two coordinates ---- */

/* Pinion and wheel: coordinate + ratio other at rest in the middle of the play; then pressed by 0.02. */
static void play_couples_two_coordinates(void **state)
{
  (void)state;
  for (int pressed = 0; pressed < 2; pressed++) {
    shop s = shop_open(GA_FORM_SPACE, 0);
    ga_stop_def d = stop_of("play", pressed ? 0.02 : -0.01, pressed ? 1 : 0.01);
    shop_scalar(&s, "pinion", 0.7, 0);
    shop_scalar(&s, "wheel", -0.3, 0);
    d.coordinate = "pinion", d.other = "wheel";
    d.ratio = 4;
    d.stiffness = 600;
    SHOP_ADD(&s, stop, &d);
    const ga_state *now = shop_start(&s);
    const double F = pressed ? 600 * 0.02 : 0;
    assert_near(shop_signal(&s, now, "pinion.acc"), F / 3, 1e-9, "pinion");
    assert_near(shop_signal(&s, now, "wheel.acc"), 4 * F / 3, 1e-9, "wheel");
    assert_near(shop_signal(&s, now, "play.force"), F, 1e-9, "force");
    assert_near(shop_signal(&s, now, "play.depth"), pressed ? 0.02 : 0, 1e-12, "depth");
    shop_close(&s);
  }
}

/* A pinion at 2 rad/s meets a resting wheel through its play, elastically: momentum P = 3 ω₁ − (3/ratio) ω₂
 * and energy are those of an impact of masses 3 and 3/ratio². */
static void gear_with_play_strikes(void **state)
{
  (void)state;
  const double ratio = -2, m1 = 3, m2 = 3 / (ratio * ratio);
  shop s = shop_open(GA_FORM_SPACE, 0);
  ga_stop_def d = stop_of("play", -0.01, 0.01);
  shop_scalar(&s, "pinion", 0, 2);
  shop_scalar(&s, "wheel", 0, 0);
  d.coordinate = "pinion", d.other = "wheel";
  d.ratio = ratio;
  d.stiffness = 4e4;
  SHOP_ADD(&s, stop, &d);
  shop_build(&s);
  const double contact = acos(-1.0) / sqrt(4e4 * (1 / m1 + 1 / m2));
  const ending at = run(&s, GA_STABILIZED, 0.005 + contact + 0.004, 0, 1e-9);
  assert_near(at.v, 2 * (m1 - m2) / (m1 + m2), 1e-5, "pinion after the impact");
  shop_close(&s);
}

/* ---- Memory ---- */

static shop unbuilt(void)
{
  shop s = shop_open(GA_FORM_SPACE, 0);
  bend = NULL;
  add_stops(&s);
  return s;
}

static void memory_may_end(void **state)
{
  (void)state;
  shop_fail_memory(unbuilt);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(derivatives_are_exact),      cmocka_unit_test(linear_stops_return_the_speed),
      cmocka_unit_test(equal_steps_keep_order_two), cmocka_unit_test(progressive_stop_with_losses),
      cmocka_unit_test(thin_contact_is_seen),       cmocka_unit_test(play_couples_two_coordinates),
      cmocka_unit_test(gear_with_play_strikes),     cmocka_unit_test(memory_may_end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
