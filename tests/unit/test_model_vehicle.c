/* Whole cars of examples/models: the steady circle against the closed form, locked wheels until standstill, a
 * wheel that lifts off, rest and fast straight running, error control. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "car_rig.h"

#include <stdio.h>
#include <stdlib.h>

static const double G = 9.81;

static car car_read(const char *file, int n_set, const char *const *set)
{
  car c = {0};
  ga_stepper_opts so = ga_stepper_defaults();
  car_read_file(&c, file, n_set, set);
  const ga_system *sys = ga_machine_system(c.m);
  const size_t nq = (size_t)ga_group_nq(ga_system_group(sys)), nv = (size_t)ga_system_size(sys, GA_BLOCK_V);
  c.q = calloc(nq + nv + (size_t)ga_system_size(sys, GA_BLOCK_X) + 1, sizeof *c.q);
  assert_non_null(c.q);
  c.v = c.q + nq, c.x = c.v + nv;
  assert_status(c.ctx, ga_scheme_rho(c.ctx, 0.9, &so.scheme), GA_OK);
  assert_status(c.ctx, ga_machine_initial(c.m, c.q, c.v, c.x), GA_OK);
  assert_status(c.ctx, ga_stepper_create(c.ctx, sys, &so, &c.st), GA_OK);
  return c;
}

static car car_open(const char *file, int n_set, const char *const *set, double h)
{
  car c = car_read(file, n_set, set);
  ga_start_opts start = ga_start_defaults();
  start.h = h;
  assert_status(c.ctx, ga_stepper_start(c.st, &start, 0, c.q, c.v, c.x, NULL, NULL, NULL), GA_OK);
  car_meter(&c);
  return c;
}

static const char *const TYRE[4] = {"front_tyre0", "front_tyre1", "rear_tyre0", "rear_tyre1"};

static double of_tyre(const car *c, int k, const char *signal)
{
  char name[64];
  snprintf(name, sizeof name, "%s.%s", TYRE[k], signal);
  return car_signal(c, name);
}

/* ---- A steady circle ----
 *
 * Side forces of both axles are proportional to their loads, and so are the masses that they move: the slips
 * of both are a/(14 g), and the car is neutral, ψ' = v δ/l, with the angle δ between the front and rear
 * wheels. */
static void circle_is_that_of_the_bicycle(void **state)
{
  static const char *const SET[] = {"rack_travel=1 mm"};
  const double h = 5e-3, l = 1.2 + 1.56;
  (void)state;
  if (rig_brief()) return;
  car c = car_open("car_step_steer", 1, SET, h);
  for (int i = 0; i < 800; i++) car_run(&c, h, 1);
  const double v = hypot(car_signal(&c, "chassis.vx"), car_signal(&c, "chassis.vy")),
               rate = car_signal(&c, "chassis.wz");
  const double front = 0.5 * (car_signal(&c, "front_upright0.yaw") + car_signal(&c, "front_upright1.yaw")),
               rear = 0.5 * (car_signal(&c, "rear_upright0.yaw") + car_signal(&c, "rear_upright1.yaw"));
  double side = 0;
  for (int k = 0; k < 4; k++) side += of_tyre(&c, k, "fy");
  for (int axle = 0; axle < 4; axle += 2)
    assert_near(0.5 * (of_tyre(&c, axle, "slip_angle") + of_tyre(&c, axle + 1, "slip_angle")) /
                    (-v * rate / (14 * G)),
                1, 2e-3, "slip of an axle");
  assert_true(fabs(rate) > 0.02);
  assert_near(rate / (v * (front - rear) / l), 1, 1e-3, "yaw rate");
  assert_near(side / (1673 * v * rate), 1, 1e-3, "side forces");
  car_close(&c);
}

/* ---- Locked wheels ----
 *
 * They slide with friction 0.9, whatever the load: the car loses 0.9 g. It rocks when it stops, as its body
 * has pitched, and then stands: below 0.1 m/s tyres are dampers. */

typedef struct braking {
  const car *c;
  double vx[2], most_x, least_grip; /* speeds at 2.4 and 3.1 s; farthest place of a wheel; least Σ F_x/(0.9 Σ
                                       F_z) while it slides */
} braking;

static int observe_braking(void *user, const ga_stepper *st)
{
  braking *b = user;
  const double t = ga_stepper_state(st)->t;
  double force = 0, load = 0;
  if (t < 2.4 - 1e-9) return 0;
  for (int k = 0; k < 4; k++) {
    force += hypot(of_tyre(b->c, k, "fx"), of_tyre(b->c, k, "fy"));
    load += of_tyre(b->c, k, "fz");
  }
  if (t < 2.4 + 1e-9) b->vx[0] = car_signal(b->c, "chassis.vx");
  if (t < 3.1 + 1e-9)
    b->vx[1] = car_signal(b->c, "chassis.vx"), b->least_grip = fmin(b->least_grip, force / (0.9 * load));
  b->most_x = fmax(b->most_x, of_tyre(b->c, 0, "x"));
  return 0;
}

static void locked_wheels_stop_the_car(void **state)
{
  static const char *const SET[] = {"rack_travel=0 m", "front_torque=8000 N*m", "rear_torque=8000 N*m"};
  car c;
  braking b = {&c, {0, 0}, 0, 1};
  ga_simulate_opts o = ga_simulate_defaults();
  ga_simulator *sim = NULL;
  (void)state;
  if (rig_brief()) return;
  c = car_read("car_brake_in_turn", 3, SET);
  o.t_end = 5, o.fixed_h = 2e-3;
  o.observer = observe_braking, o.user = &b;
  assert_status(c.ctx, ga_simulator_create(c.ctx, c.st, &o, &sim), GA_OK);
  assert_status(c.ctx, ga_simulator_start(sim, NULL, 0, c.q, c.v, c.x, NULL, NULL, NULL), GA_OK);
  assert_status(c.ctx, ga_simulator_run(sim), GA_OK);
  assert_near((b.vx[0] - b.vx[1]) / (0.7 * 0.9 * G), 1, 0.01, "deceleration");
  assert_near(b.least_grip, 1, 1e-5, "friction");
  assert_near(car_signal(&c, "chassis.vx"), 0, 1e-3, "speed in the end");
  assert_near(car_signal(&c, "chassis.y"), 0, 1e-9, "straight");
  assert_true(b.most_x - of_tyre(&c, 0, "x") < 0.01); /* it rocks, and does not go back */
  ga_simulator_destroy(&sim);
  car_close(&c);
}

/* ---- A wheel that leaves the road ---- */

static void wheel_lifts_off(void **state)
{
  static const char *const SET[] = {"v=20 m/s", "bump_height=120 mm"};
  const double h = 2e-3;
  int off = 0;
  double most = 0, lost = 0;
  (void)state;
  if (rig_brief()) return;
  car c = car_open("car_bump", 2, SET, h);
  for (int i = 0; i < 1500; i++) {
    car_run(&c, h, 1);
    const double fz = of_tyre(&c, 0, "fz"), now = car_signal(&c, "energy.dissipated");
    assert_true(fz >= 0);
    if (fz == 0)
      off++, assert_near(hypot(of_tyre(&c, 0, "fx"), of_tyre(&c, 0, "fy")), 0, 0, "forces in the air");
    assert_true(now >= lost - 1e-9);
    most = fmax(most, fz), lost = now;
  }
  assert_true(off > 20 && most > 10000);
  assert_near(of_tyre(&c, 0, "fz"), 4533, 100, "load behind the bump");
  assert_near(car_signal(&c, "chassis.roll"), 0, 5e-3, "roll behind the bump");
  assert_near(car_signal(&c, "energy.balance") / lost, 0, 2e-3, "energy balance");
  car_close(&c);
}

/* ---- Rest, and straight ahead ---- */

static void stays_and_runs_straight(void **state)
{
  static const char *const FILES[] = {"car", "car_semi_active"};
  (void)state;
  for (int k = 0; k < 2; k++) {
    for (int fast = 0; fast < 2; fast++) {
      const char *const set[] = {"rack_travel=0 m", fast ? "v=30 m/s" : "v=0 m/s"};
      const double h = 1e-2;
      car c = car_open(FILES[k], 2, set, h);
      for (int i = 0; i < (rig_brief() ? 3 : 200); i++) car_run(&c, h, 1);
      const double x = fast ? 30 * ga_stepper_state(c.st)->t : 0;
      assert_near(car_signal(&c, "chassis.x"), x, 1e-10, "x");
      assert_near(car_signal(&c, "chassis.y"), 0, 1e-11, "y");
      assert_near(car_signal(&c, "chassis.z"), 0.55, 1e-10, "z");
      assert_near(car_signal(&c, "chassis.yaw"), 0, 1e-11, "yaw");
      car_close(&c);
    }
  }
}

/* ---- Error control: a smaller tolerance gives a smaller error, and a larger one never takes more work ----
 */

enum { TIMES = 9 }; /* every 0.25 s */

typedef struct controlled {
  const car *c;
  int n;
  double y[TIMES + 1], roll[TIMES + 1];
  long steps, iterations;
} controlled;

static int keep(void *user, const ga_state *s)
{
  controlled *r = user;
  const int index[2] = {ga_machine_find_signal(r->c->m, "chassis.y"),
                        ga_machine_find_signal(r->c->m, "chassis.roll")};
  double out[2];
  if (r->n == TIMES || ga_machine_signals(r->c->m, NULL, s, 2, index, out)) return 1;
  r->y[r->n] = out[0], r->roll[r->n++] = out[1];
  return 0;
}

static void run_controlled(const char *file, double tol, controlled *r)
{
  car c = car_read(file, 0, NULL);
  ga_simulate_opts o = ga_simulate_defaults();
  ga_simulator *sim = NULL;
  *r = (controlled){.c = &c};
  o.t_end = 2, o.output_every = 0.25, o.output = keep, o.user = r;
  o.rtol = o.rtol_v = o.rtol_x = tol;
  o.atol = o.atol_v = o.atol_x = 1e-2 * tol;
  assert_status(c.ctx, ga_simulator_create(c.ctx, c.st, &o, &sim), GA_OK);
  assert_status(c.ctx, ga_simulator_start(sim, NULL, 0, c.q, c.v, c.x, NULL, NULL, NULL), GA_OK);
  assert_status(c.ctx, ga_simulator_run(sim), GA_OK);
  assert_int_equal(r->n, TIMES);
  r->steps = ga_simulator_stats(sim)->steps;
  r->iterations = ga_stepper_stats(c.st)->iterations;
  ga_simulator_destroy(&sim);
  car_close(&c);
}

/* The largest difference of y [m] and of roll, in parts of 0.04 rad. */
static double largest_difference(const controlled *a, const controlled *b)
{
  double most = 0;
  for (int i = 0; i < TIMES; i++)
    most = fmax(most, fmax(fabs(a->y[i] - b->y[i]), fabs(a->roll[i] - b->roll[i]) / 0.04));
  return most;
}

static void errors_fall_with_the_tolerance(void **state)
{
  static const struct {
    const char *file;
    int n; /* tolerances 1e-2, 1e-3, ...; the last one is the reference */
  } RUN[] = {{"car", 5}, {"car_semi_active", 3}};
  (void)state;
  if (rig_brief()) return;
  for (size_t k = 0; k < sizeof RUN / sizeof *RUN; k++) {
    controlled r[5];
    double before = HUGE_VAL;
    for (int i = 0; i < RUN[k].n; i++) run_controlled(RUN[k].file, pow(10, -2 - i), &r[i]);
    for (int i = 0; i + 1 < RUN[k].n; i++) {
      const double error = largest_difference(&r[i], &r[RUN[k].n - 1]);
      assert_true(error < before && error < 100 * pow(10, -2 - i));
      assert_true(r[i].steps < r[i + 1].steps && r[i].iterations < r[i + 1].iterations);
      before = error;
    }
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(circle_is_that_of_the_bicycle),
      cmocka_unit_test(locked_wheels_stop_the_car),
      cmocka_unit_test(wheel_lifts_off),
      cmocka_unit_test(stays_and_runs_straight),
      cmocka_unit_test(errors_fall_with_the_tolerance),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
