/* Drives by speed, by acceleration and from signals: derivatives, closed forms with their forces in all forms
 * and by all methods, the start, energy, impacts, statics, refusals. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mbs_shop.h"
#include "mbs/meter.h"

/* ---- A rod of 2 kg on a hinge about y, under gravity ---- */

enum { SPEED, ACCELERATION, FOLLOW, FOLLOW_SPEED, N_LAWS };
static const char *const LAW[] = {"speed", "acceleration", "follow", "follow_speed"};

static const double M = 2, L = 0.5, J = 0.3, G = 9.81, LAG = 0.1, RATE0 = 0.4;

typedef struct bench {
  shop s;
  ga_function *f;
} bench;

static void add_rod(shop *s)
{
  ga_rigid_def d = ga_rigid_defaults();
  ga_joint_def hinge = ga_joint_defaults();
  d.name = "rod", d.mass = M, d.com[0] = L;
  d.inertia[0] = d.inertia[1] = d.inertia[2] = J;
  SHOP_ADD(s, rigid, &d);
  shop_turned(s, "axle", "ground", 0, 0, 0, 0,
              acos(-1) / 2); /* z of the hinge along −y: up for x turned by it */
  shop_turned(s, "eye", "rod", 0, 0, 0, 0, acos(-1) / 2);
  hinge.name = "hinge", hinge.kind = GA_JOINT_REVOLUTE, hinge.a = "axle", hinge.b = "eye";
  hinge.angle_rate = RATE0;
  SHOP_ADD(s, joint, &hinge);
}

/* A drive that takes its law's input from an expression. */
static ga_drive_def drive_of(bench *r, int law, const char *text)
{
  ga_drive_def d = ga_drive_defaults();
  d.name = "drive", d.coordinate = "hinge.angle";
  if (law == SPEED) d.speed = r->f = shop_function(r->s.ctx, text);
  if (law == ACCELERATION) d.acceleration.expression = text;
  if (law == FOLLOW) d.follow.expression = text, d.lag = LAG;
  if (law == FOLLOW_SPEED) d.follow_speed.expression = text, d.lag = LAG;
  return d;
}

static bench rod_bench(ga_form form, int law, const char *text)
{
  bench r = {shop_open(form, -G), NULL};
  add_rod(&r.s);
  const ga_drive_def d = drive_of(&r, law, text);
  SHOP_ADD(&r.s, drive, &d);
  return r;
}

static void bench_close(bench *r)
{
  ga_stepper_destroy(&r->s.st);
  ga_machine_destroy(&r->s.m);
  ga_function_destroy(&r->f);
  shop_close(&r->s);
}

/* ---- Derivatives ---- */

static void derivatives_are_right(void **state)
{
  static const char *const on[] = {"hinge.angle", "slide", "wheel", "bead"};
  (void)state;
  for (int form = 0; form < 3; form++)
    for (int law = 0; law < N_LAWS; law++)
      for (int k = 0; k < 4; k++) {
        if (rig_brief() && (form + law + k) % 4) continue;
        rig_random random = rig_seed(100 * form + 10 * law + k);
        bench r = {shop_open((ga_form)form, -G), NULL};
        ga_joint_def slide = ga_joint_defaults(), wheel = ga_joint_defaults();
        add_rod(&r.s);
        shop_rigid(&r.s, "box", 0.5, 0.2, -0.3);
        shop_planar(&r.s, "flat", 0.3, 0.1);
        shop_scalar(&r.s, "bead", 0.2, 0.3);
        shop_marker(&r.s, "tip", "rod", 0.4, 0.1, 0);
        slide.name = "slide", slide.kind = GA_JOINT_PRISMATIC, slide.a = "tip", slide.b = "box";
        wheel.name = "wheel", wheel.kind = GA_JOINT_REVOLUTE, wheel.a = "ground", wheel.b = "flat";
        SHOP_ADD(&r.s, joint, &slide);
        SHOP_ADD(&r.s, joint, &wheel);
        ga_drive_def d = drive_of(&r, law, law == SPEED ? "0.4 + sin(2*t)" : "sin(bead) + 0.2*rod.vx*t");
        d.coordinate = on[k];
        SHOP_ADD(&r.s, drive, &d);
        shop_build(&r.s);
        shop_check(&r.s, &random, rig_brief() ? 1 : 3, 0.1, 1e-6, LAW[law]);
        bench_close(&r);
      }
}

/* ---- Closed forms ---- */

/* Angle, rate and acceleration at t, beginning with angle 0 and RATE0. */
typedef struct law_case {
  int law;
  const char *text;
  void (*exact)(double t, double out[3]);
} law_case;

static void by_speed(double t, double out[3]) /* 0.4 + sin 3t */
{
  out[0] = 0.4 * t + (1 - cos(3 * t)) / 3;
  out[1] = 0.4 + sin(3 * t);
  out[2] = 3 * cos(3 * t);
}

static void by_acceleration(double t, double out[3]) /* 2 cos 2t */
{
  out[0] = RATE0 * t + 0.5 * (1 - cos(2 * t));
  out[1] = RATE0 + sin(2 * t);
  out[2] = 2 * cos(2 * t);
}

/* Towards 0.7: δ = s − 0.7 = (−0.7 + c t) e^(−t/T), with δ' = RATE0 at 0. */
static void by_follow(double t, double out[3])
{
  const double w = 1 / LAG, c = RATE0 - 0.7 * w, e = exp(-w * t), p = -0.7 + c * t;
  out[0] = 0.7 + p * e;
  out[1] = (c - w * p) * e;
  out[2] = (w * w * p - 2 * w * c) * e;
}

/* Towards 1.5 rad/s. */
static void by_follow_speed(double t, double out[3])
{
  const double e = exp(-t / LAG), d = RATE0 - 1.5;
  out[0] = 1.5 * t + d * LAG * (1 - e);
  out[1] = 1.5 + d * e;
  out[2] = -d / LAG * e;
}

static const law_case CASE[] = {{SPEED, "0.4 + sin(3*t)", by_speed},
                                {ACCELERATION, "2*cos(2*t)", by_acceleration},
                                {FOLLOW, "0.7", by_follow},
                                {FOLLOW_SPEED, "1.5", by_follow_speed}};

static ga_status start_rod(bench *r, ga_method method, double h)
{
  double q0[RIG_MOST], v0[RIG_MOST], x0[RIG_MOST];
  ga_stepper_opts opts = ga_stepper_defaults();
  ga_start_opts o = ga_start_defaults();
  opts.method = method;
  o.h = h;
  assert_status(r->s.ctx, ga_machine_initial(r->s.m, q0, v0, x0), GA_OK);
  ga_status status = ga_stepper_create(r->s.ctx, ga_machine_system(r->s.m), &opts, &r->s.st);
  return status ? status : ga_stepper_start(r->s.st, &o, 0, q0, v0, x0, NULL, NULL, NULL);
}

/* Errors of angle, rate, acceleration and torque at t = 1, and of the energy balance. */
static void run_rod(const law_case *c, ga_form form, ga_method method, int n, double error[5])
{
  const char *const signal[] = {"hinge.angle", "hinge.angle_rate", "hinge.angle_acc", "drive.force"};
  bench r = rod_bench(form, c->law, c->text);
  ga_meter *meter = NULL;
  double exact[4], balance;
  shop_build(&r.s);
  assert_status(r.s.ctx, start_rod(&r, method, 1.0 / n), GA_OK);
  assert_status(r.s.ctx, ga_meter_create(r.s.ctx, r.s.m, &meter), GA_OK);
  assert_status(r.s.ctx, ga_meter_start(meter, ga_stepper_state(r.s.st)), GA_OK);
  for (int i = 0; i < n; i++) {
    assert_status(r.s.ctx, ga_stepper_step(r.s.st, 1.0 / n), GA_OK);
    assert_status(r.s.ctx, ga_meter_update(meter, ga_stepper_state(r.s.st)), GA_OK);
  }
  const ga_state *at = ga_stepper_state(r.s.st);
  c->exact(1.0, exact);
  exact[3] = (J + M * L * L) * exact[2] + M * G * L * cos(exact[0]);
  for (int i = 0; i < 4; i++) error[i] = fabs(shop_signal(&r.s, at, signal[i]) - exact[i]);
  const int index = ga_machine_find_signal(r.s.m, "energy.balance");
  assert_status(r.s.ctx, ga_machine_signals(r.s.m, meter, at, 1, &index, &balance), GA_OK);
  error[4] = fabs(balance);
  ga_meter_destroy(&meter);
  bench_close(&r);
}

static void closed_forms(void **state)
{
  static const char *const what[] = {"angle", "rate", "acceleration", "torque", "balance"};
  const int n = 200;
  (void)state;
  for (int form = 0; form < 3; form++)
    for (int m = GA_INDEX3; m <= GA_COLLOCATION; m++)
      for (size_t k = 0; k < sizeof CASE / sizeof *CASE; k++) {
        double coarse[5], fine[5];
        ga_method_info info;
        assert_true(ga_method_at(m, &info));
        if (CASE[k].law == SPEED && m == GA_HHT_SOI2) continue; /* it has no nonholonomic constraints */
        if (rig_brief() && (form + m + (int)k) % 5) continue;
        run_rod(&CASE[k], (ga_form)form, (ga_method)m, n, coarse);
        run_rod(&CASE[k], (ga_form)form, (ga_method)m, 2 * n, fine);
        for (int i = 0; i < 5; i++) {
          /* accelerations of weighted methods belong to another time, and are of first order */
          const double order = log2(coarse[i] / fine[i]);
          const int late = (i == 2 || i == 3) && m >= GA_WEIGHTED;
          if (fine[i] < 1e-7) continue; /* the law itself, to the tolerance of the iteration */
          if (fine[i] > (late ? 0.05 : 5e-3) || (!late && order < 1.8))
            fail_msg("%s, %s, %s: %s is off by %g, order %.2f", LAW[CASE[k].law], SHOP_FORM[form], info.name,
                     what[i], fine[i], order);
        }
        if (CASE[k].law == SPEED) assert_near(fine[1], 0, 1e-12, "a prescribed speed");
      }
}

/* ---- A signal of the motion: a cart whose acceleration depends on the pendulum that it carries ----
 *
 *   x'' = 3 sin φ − x',   φ'' = −(g sin φ + x'' cos φ)/l,   force M x'' + m (x'' + l (φ'' cos φ − φ'² sin φ))
 */

enum { CART_TIMES = 4000 };
static const double CART = 5, BOB = 2, ROD = 0.8;

static void cart_slopes(const double u[4], double out[4])
{
  const double a = 3 * sin(u[1]) - u[2];
  out[0] = u[2], out[1] = u[3], out[2] = a;
  out[3] = -(G * sin(u[1]) + a * cos(u[1])) / ROD;
}

static void cart_reference(double T, double u[4])
{
  for (int i = 0; i < CART_TIMES; i++) {
    double k[4][4], at[4];
    const double h = T / CART_TIMES;
    for (int j = 0; j < 4; j++) {
      for (int c = 0; c < 4; c++) at[c] = u[c] + (j == 0 ? 0 : j == 3 ? h : 0.5 * h) * (j ? k[j - 1][c] : 0);
      cart_slopes(at, k[j]);
    }
    for (int c = 0; c < 4; c++) u[c] += h / 6 * (k[0][c] + 2 * k[1][c] + 2 * k[2][c] + k[3][c]);
  }
}

/* Planar bodies in the plane x, y, gravity along −y. */
static shop cart(void)
{
  shop s = {NULL, NULL, NULL};
  ga_machine_opts o = ga_machine_defaults();
  ga_planar_def body = ga_planar_defaults(), bob = ga_planar_defaults();
  ga_joint_def rail = ga_joint_defaults(), pivot = ga_joint_defaults();
  ga_drive_def d = ga_drive_defaults();
  o.gravity[1] = -G;
  rig_memory = (rig_heap){0, 0, 0, 0};
  assert_int_equal(rig_context(&s.ctx), GA_OK);
  assert_status(s.ctx, ga_machine_create(s.ctx, &o, &s.m), GA_OK);
  body.name = "cart", body.mass = CART, body.inertia = 1;
  bob.name = "bob", bob.mass = BOB, bob.inertia = 1e-9, bob.com[1] = -ROD;
  SHOP_ADD(&s, planar, &body);
  SHOP_ADD(&s, planar, &bob);
  rail.name = "rail", rail.kind = GA_JOINT_PRISMATIC, rail.a = "ground", rail.b = "cart";
  rail.displacement_rate = 0.2;
  pivot.name = "pivot", pivot.kind = GA_JOINT_REVOLUTE, pivot.a = "cart", pivot.b = "bob";
  pivot.angle = 1, pivot.angle_rate = 0.5;
  SHOP_ADD(&s, joint, &rail);
  SHOP_ADD(&s, joint, &pivot);
  d.name = "drive", d.coordinate = "rail.displacement";
  d.acceleration.expression = "3*sin(pivot.angle) - rail.displacement_rate";
  SHOP_ADD(&s, drive, &d);
  return s;
}

static void a_signal_drives_the_cart(void **state)
{
  const char *const name[] = {"rail.displacement", "pivot.angle", "rail.displacement_rate",
                              "pivot.angle_rate", "drive.force"};
  double error[2][5];
  (void)state;
  for (int level = 0; level < 2; level++) {
    const int n = 400 << level;
    double u[4] = {0, 1, 0.2, 0.5}, slope[4];
    shop s = cart();
    shop_start(&s);
    for (int i = 0; i < n; i++) assert_status(s.ctx, ga_stepper_step(s.st, 2.0 / n), GA_OK);
    cart_reference(2.0, u);
    cart_slopes(u, slope);
    const double force =
        (CART + BOB) * slope[2] + BOB * ROD * (slope[3] * cos(u[1]) - u[3] * u[3] * sin(u[1]));
    for (int i = 0; i < 5; i++)
      error[level][i] = fabs(shop_signal(&s, ga_stepper_state(s.st), name[i]) - (i < 4 ? u[i] : force));
    shop_close(&s);
  }
  for (int i = 0; i < 5; i++) {
    assert_near(error[1][i], 0, i < 4 ? 5e-4 : 5e-3, name[i]);
    assert_near(log2(error[0][i] / error[1][i]), 2, 0.2, name[i]);
  }
}

/* ---- The start ---- */

/* Bodies at rest take the speed; a given one that contradicts it is refused. */
static void starts_with_its_speed(void **state)
{
  double q0[RIG_MOST], v0[RIG_MOST], x0[RIG_MOST];
  (void)state;
  for (int given = 0; given < 2; given++) {
    bench r = {shop_open(GA_FORM_SPACE, -G), NULL};
    ga_scalar_def d = ga_scalar_defaults();
    ga_drive_def drive = drive_of(&r, SPEED, "2 + t");
    ga_start_opts o = ga_start_defaults();
    d.name = "mass", d.mass = 3, d.velocity = given ? 5 : 0;
    SHOP_ADD(&r.s, scalar, &d);
    drive.coordinate = "mass";
    SHOP_ADD(&r.s, drive, &drive);
    shop_build(&r.s);
    assert_status(r.s.ctx, ga_machine_initial(r.s.m, q0, v0, x0), GA_OK);
    assert_status(r.s.ctx, ga_stepper_create(r.s.ctx, ga_machine_system(r.s.m), NULL, &r.s.st), GA_OK);
    o.h = 1e-3;
    o.max_change = 1e-6;
    const ga_status status = ga_stepper_start(r.s.st, &o, 0, q0, v0, x0, NULL, NULL, NULL);
    if (given) {
      assert_status(r.s.ctx, status, GA_ERR_INCONSISTENT);
    } else {
      assert_status(r.s.ctx, status, GA_OK);
      assert_near(shop_signal(&r.s, ga_stepper_state(r.s.st), "mass.rate"), 2, 1e-14, "speed");
      assert_near(shop_signal(&r.s, ga_stepper_state(r.s.st), "drive.force"), 3, 1e-12, "force");
    }
    bench_close(&r);
  }
}

/* Angles beyond a turn, and 0 as an input. */
static void turns_and_zero(void **state)
{
  bench r = {shop_open(GA_FORM_BODY, -G), NULL};
  ga_drive_def d = ga_drive_defaults();
  (void)state;
  add_rod(&r.s);
  d.name = "drive", d.coordinate = "hinge", d.has_acceleration = 1;
  SHOP_ADD(&r.s, drive, &d);
  shop_start(&r.s);
  for (int i = 0; i < 2000; i++) assert_status(r.s.ctx, ga_stepper_step(r.s.st, 0.02), GA_OK);
  const ga_state *at = ga_stepper_state(r.s.st);
  assert_near(shop_signal(&r.s, at, "rod.wy"), -RATE0, 1e-9,
              "rate after 2.5 turns"); /* z of the hinge is −y */
  assert_near(shop_signal(&r.s, at, "drive.force"), M * G * L * cos(RATE0 * 40), 1e-4, "torque");
  bench_close(&r);
}

/* ---- Impacts: what hits a driven wall returns, and the wall keeps its speed ---- */

static void impact_leaves_the_drive(void **state)
{
  double q0[RIG_MOST], v0[RIG_MOST], x0[RIG_MOST];
  shop s = shop_open(GA_FORM_SPACE, 0);
  ga_point_def wall = ga_point_defaults(), ball = ga_point_defaults();
  ga_joint_def rail = ga_joint_defaults();
  ga_rigid_stop_def stop = ga_rigid_stop_defaults();
  ga_drive_def d = ga_drive_defaults();
  ga_simulate_opts o = ga_simulate_defaults();
  ga_simulator *sim = NULL;
  (void)state;
  wall.name = "wall", wall.mass = 1, wall.velocity[2] = 1;
  ball.name = "ball", ball.mass = 4, ball.position[2] = 1;
  SHOP_ADD(&s, point, &wall);
  SHOP_ADD(&s, point, &ball);
  rail.name = "rail", rail.kind = GA_JOINT_POINT_ON_LINE, rail.a = "ground", rail.b = "wall";
  SHOP_ADD(&s, joint, &rail);
  d.name = "drive", d.coordinate = "rail", d.has_acceleration = 1;
  SHOP_ADD(&s, drive, &d);
  stop.name = "stop", stop.a = "wall", stop.b = "ball", stop.lower = 0.5, stop.restitution = 1;
  SHOP_ADD(&s, rigid_stop, &stop);
  shop_build(&s);
  o.t_end = 1;
  assert_status(s.ctx, ga_machine_initial(s.m, q0, v0, x0), GA_OK);
  assert_status(s.ctx, ga_stepper_create(s.ctx, ga_machine_system(s.m), NULL, &s.st), GA_OK);
  assert_status(s.ctx, ga_simulator_create(s.ctx, s.st, &o, &sim), GA_OK);
  assert_status(s.ctx, ga_simulator_start(sim, NULL, 0, q0, v0, x0, NULL, NULL, NULL), GA_OK);
  assert_status(s.ctx, ga_simulator_run(sim), GA_OK);
  assert_near(shop_signal(&s, ga_stepper_state(s.st), "wall.vz"), 1, 1e-8, "wall");
  assert_near(shop_signal(&s, ga_stepper_state(s.st), "ball.vz"), 2, 1e-8, "ball");
  assert_near(shop_signal(&s, ga_stepper_state(s.st), "ball.z"), 2, 1e-6, "place of the ball");
  ga_simulator_destroy(&sim);
  shop_close(&s);
}

/* ---- Refusals ---- */

static ga_status try_drive(shop *s, const ga_drive_def *d)
{
  *s = shop_open(GA_FORM_SPACE, -G);
  shop_scalar(s, "mass", 0, 0);
  return ga_machine_add_drive(s->m, d);
}

static void refusals(void **state)
{
  const ga_input one = {.value = 1};
  ga_drive_def d = ga_drive_defaults(), e;
  shop s;
  (void)state;
  d.name = "drive", d.coordinate = "mass";
  assert_int_equal(try_drive(&s, &d), GA_ERR_ARGUMENT);
  assert_says(s.ctx, "function is missing");
  shop_close(&s);
  e = d, e.follow = one;
  assert_int_equal(try_drive(&s, &e), GA_ERR_ARGUMENT);
  assert_says(s.ctx, "lag is 0 s");
  shop_close(&s);
  e.lag = 0.1, e.follow_speed = one;
  assert_int_equal(try_drive(&s, &e), GA_ERR_ARGUMENT);
  assert_says(s.ctx, "follow and follow_speed are both given");
  shop_close(&s);
  e = d, e.acceleration = one, e.lag = 0.1;
  assert_int_equal(try_drive(&s, &e), GA_ERR_ARGUMENT);
  assert_says(s.ctx, "lag is 0.1 s");
  shop_close(&s);
  e = d, e.acceleration = one, e.accept_impact = 1;
  assert_int_equal(try_drive(&s, &e), GA_ERR_ARGUMENT);
  assert_says(s.ctx, "accept_impact and acceleration");
  shop_close(&s);
  e = d, e.acceleration.value = NAN;
  assert_int_equal(try_drive(&s, &e), GA_ERR_ARGUMENT);
  shop_close(&s);
  e = d, e.acceleration = one;
  assert_int_equal(try_drive(&s, &e), GA_OK);
  e.name = "other";
  SHOP_ADD(&s, drive, &e);
  assert_int_equal(ga_machine_build(s.m), GA_ERR_ARGUMENT);
  assert_says(s.ctx, "drive 'other' prescribes mass too");
  shop_close(&s);
}

/* A speed that jumps is refused before a run. */
static void speed_must_not_jump(void **state)
{
  (void)state;
  for (int k = 0; k < 2; k++) {
    bench r = rod_bench(GA_FORM_SPACE, SPEED, k ? "0.4 + max(t - 0.5, 0)" : "if(t < 0.5, 0.4, 0.5)");
    shop_build(&r.s);
    assert_int_equal(ga_machine_check_drives(r.s.m, 0, 1), k ? GA_OK : GA_ERR_INCONSISTENT);
    if (!k) assert_says(r.s.ctx, "its speed jumps from 0.4 to 0.5");
    bench_close(&r);
  }
}

static shop memory_machine(void)
{
  return cart();
}

static void memory_may_fail(void **state)
{
  (void)state;
  shop_fail_memory(memory_machine);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(derivatives_are_right),
      cmocka_unit_test(closed_forms),
      cmocka_unit_test(a_signal_drives_the_cart),
      cmocka_unit_test(starts_with_its_speed),
      cmocka_unit_test(turns_and_zero),
      cmocka_unit_test(impact_leaves_the_drive),
      cmocka_unit_test(refusals),
      cmocka_unit_test(speed_must_not_jump),
      cmocka_unit_test(memory_may_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
