/* Rolling without slipping on roads: derivatives, motions against minimal coordinates and against planes, orders,
 * energy, messages. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "lie/mat3.h"
#include "mbs_shop.h"

static const double R = 0.3, MASS = 2, G = 9.81;

static ga_rolling_def rolling_of(ga_rolling_kind kind, const char *body)
{
  ga_rolling_def d = ga_rolling_defaults();
  d.name = "roll", d.kind = kind, d.body = body, d.road = "road";
  if (kind != GA_ROLLING_KNIFE) d.radius = R;
  return d;
}

static void add_road(shop *s, const char *frame, const char *height)
{
  ga_road_def d = ga_road_defaults();
  d.name = "road", d.frame = frame, d.height = height;
  SHOP_ADD(s, road, &d);
}

static ga_rigid_def ball_at(double x, double y, double z)
{
  ga_rigid_def d = ga_rigid_defaults();
  d.name = "ball", d.mass = MASS, d.pose = ga_pose_at(x, y, z);
  d.inertia[0] = d.inertia[1] = d.inertia[2] = 0.4 * MASS * R * R;
  return d;
}

/* ---- Derivatives ---- */

static void derivatives_are_right(void **state)
{
  static const struct {
    const char *frame, *height;
  } ROAD[] = {{"tilted", NULL},
              {"tilted", "0.1*sin(2*x + y) + 0.05*x^2"},
              {"table", "0.05*x*y + 0.03*sin(t + y)"},
              {"table", NULL}};
  (void)state;
  for (int form = 0; form < 3; form++)
    for (int kind = 0; kind < 3; kind++)
      for (int r = 0; r < 4; r++) {
        rig_random random = rig_seed(100 * form + 10 * kind + r);
        shop s = shop_open((ga_form)form, -G);
        shop_rigid(&s, "body", 0.1, 0.2, 0.5);
        shop_rigid(&s, "base", 0.3, -0.2, -0.2);
        shop_turned(&s, "tilted", "ground", 0, 0, 0.02, 0, 0.2);
        shop_turned(&s, "table", "base", 0, 0, 0.2, 1, 0.3);
        shop_turned(&s, "hub", "body", 0.05, -0.1, 0.04, 0, 1.2);
        add_road(&s, ROAD[r].frame, ROAD[r].height);
        const ga_rolling_def d = rolling_of((ga_rolling_kind)kind, "hub");
        SHOP_ADD(&s, rolling, &d);
        ga_actuator_def feedback = ga_actuator_defaults();
        feedback.name = "feedback", feedback.a = "hub", feedback.b = "table";
        feedback.force.expression = kind == GA_ROLLING_KNIFE
                                        ? "0.1*roll.fx + 0.2*roll.fy*roll.fz"
                                        : "0.1*roll.fx + 0.2*roll.fy*roll.pz + 0.1*roll.normal + 0.3*roll.px*roll.py";
        SHOP_ADD(&s, actuator, &feedback);
        shop_build(&s);
        char what[64];
        snprintf(what, sizeof what, "form %d, kind %d, road %d", form, kind, r);
        shop_check(&s, &random, rig_brief() ? 1 : 2, 0.05, 2e-6, what);
        shop_close(&s);
      }
}

/* ---- A valley ---- */

/* The centre of a disk or sphere that rolls along z = f(x), f = 0.2 cos 2x, over x of the contact. */
static void centre_at(double x, double c[2])
{
  const double f = 0.2 * cos(2 * x), s = -0.4 * sin(2 * x), m = sqrt(1 + s * s);
  c[0] = x - R * s / m, c[1] = f + R / m;
}

/* v_C = R ω, so that all kinetic energy is ½ m (1 + j) |c'|² x'²; by differences of the curve. */
static void valley_slopes(const double u[2], double j, double out[2])
{
  const double d = 1e-4;
  double lo[2], hi[2], at[2];
  centre_at(u[0] - d, lo), centre_at(u[0] + d, hi), centre_at(u[0], at);
  double g = 0, h = 0;
  for (int i = 0; i < 2; i++) {
    const double slope = (hi[i] - lo[i]) / (2 * d), bend = (hi[i] - 2 * at[i] + lo[i]) / (d * d);
    g += slope * slope, h += slope * bend;
  }
  const double fall = (hi[1] - lo[1]) / (2 * d);
  out[0] = u[1], out[1] = -(h * u[1] * u[1] + G * fall / (1 + j)) / g;
}

static void valley_reference(double t, double j, double u[2])
{
  enum { N = 20000 };
  const double h = t / N;
  for (int i = 0; i < N; i++) {
    double k[4][2], w[2];
    for (int s = 0; s < 4; s++) {
      const double c = s == 0 ? 0 : s == 3 ? h : h / 2;
      for (int m = 0; m < 2; m++) w[m] = u[m] + (s ? c * k[s - 1][m] : 0);
      valley_slopes(w, j, k[s]);
    }
    for (int m = 0; m < 2; m++) u[m] += h / 6 * (k[0][m] + 2 * k[1][m] + 2 * k[2][m] + k[3][m]);
  }
}

static void add_valley_ball(shop *s, int disk)
{
  double c[2];
  centre_at(0.9, c);
  ga_rigid_def b = ball_at(c[0], 0, c[1]);
  if (disk) {
    b.inertia[0] = b.inertia[1] = 0.25 * MASS * R * R, b.inertia[2] = 0.5 * MASS * R * R;
    assert_int_equal(ga_rotation_axis_angle(s->ctx, (double[3]){1, 0, 0}, -acos(0.0), b.pose.rotation), GA_OK);
  }
  SHOP_ADD(s, rigid, &b);
  add_road(s, "ground", "0.2*cos(2*x)");
  const ga_rolling_def d = rolling_of(disk ? GA_ROLLING_DISK : GA_ROLLING_SPHERE, "ball");
  SHOP_ADD(s, rolling, &d);
}

static void valley_against_minimal_coordinates(void **state)
{
  (void)state;
  for (int disk = 0; disk < 2; disk++)
    for (int form = 0; form < 3; form++) {
      shop s = shop_open((ga_form)form, -G);
      double u[2] = {0.9, 0}, c[2], off[2];
      add_valley_ball(&s, disk);
      shop_start(&s);
      valley_reference(1.5, disk ? 0.5 : 0.4, u);
      centre_at(u[0], c);
      for (int i = 0; i < 1500; i++) assert_status(s.ctx, ga_stepper_step(s.st, 1e-3), GA_OK);
      off[0] = shop_now(&s, "ball.x") - c[0], off[1] = shop_now(&s, "ball.z") - c[1];
      assert_near(off[0], 0, 2e-5, "x");
      assert_near(off[1], 0, 2e-5, "z");
      assert_near(shop_now(&s, "roll.px"), u[0], 2e-5, "contact");
      assert_near(shop_now(&s, "ball.y"), 0, 1e-9, "y");
      shop_close(&s);
    }
}

/* ---- A bowl ---- */

/* About the bottom of a bowl of radius 2: ω² = g/((1 + 2/5) (2 − R)). */
static void small_motion_in_a_bowl(void **state)
{
  const double w = sqrt(G / (1.4 * (2 - R))), t = 2, x0 = 0.01;
  (void)state;
  shop s = shop_open(GA_FORM_SPACE, -G);
  ga_rigid_def b = ball_at(x0, 0, 2 - sqrt((2 - R) * (2 - R) - x0 * x0));
  SHOP_ADD(&s, rigid, &b);
  add_road(&s, "ground", "2 - sqrt(4 - x^2 - y^2)");
  const ga_rolling_def d = rolling_of(GA_ROLLING_SPHERE, "ball");
  SHOP_ADD(&s, rolling, &d);
  shop_start(&s);
  for (int i = 0; i < 2000; i++) assert_status(s.ctx, ga_stepper_step(s.st, t / 2000), GA_OK);
  assert_near(shop_now(&s, "ball.x") / x0, cos(w * t), 1e-3, "small motion");
  assert_near(shop_now(&s, "roll.normal"), MASS * G, 0.02, "normal force");
  shop_close(&s);
}

/* Around a bowl of radius 2 with spin; e is the normal at the contact. */
static ga_rigid_def bowl_ball(void)
{
  ga_rigid_def b = ball_at(0.8, 0, 2 - sqrt((2 - R) * (2 - R) - 0.64));
  const double e[3] = {-0.8 / (2 - R), 0, sqrt(1 - 0.64 / ((2 - R) * (2 - R)))}; /* ω = e × v/R + 3 e */
  b.velocity[1] = 2, b.omega[0] = -2 * e[2] / R + 3 * e[0], b.omega[2] = 2 * e[0] / R + 3 * e[2];
  return b;
}

/* A disk that leans by 0.3: C = P + R d, v = ω × (C − P). */
static ga_rigid_def bowl_disk(void)
{
  const double lean = 0.3, e[3] = {-0.4, 0, sqrt(1 - 0.16)}, across[3] = {e[2], 0, -e[0]};
  double n[3], d[3], side[3], arm[3];
  for (int i = 0; i < 3; i++) n[i] = cos(lean) * across[i] + sin(lean) * e[i];
  for (int i = 0; i < 3; i++) d[i] = (e[i] - sin(lean) * n[i]) / cos(lean), arm[i] = R * d[i];
  ga_rigid_def b = ball_at(arm[0] - 2 * e[0], arm[1], 2 + arm[2] - 2 * e[2]);
  b.inertia[0] = b.inertia[1] = 0.25 * MASS * R * R, b.inertia[2] = 0.5 * MASS * R * R;
  ga__vec3_cross(side, n, d);
  for (int i = 0; i < 3; i++) {
    b.pose.rotation[3 * i] = d[i], b.pose.rotation[3 * i + 1] = side[i], b.pose.rotation[3 * i + 2] = n[i];
    b.omega[i] = 8 * n[i] + 0.7 * e[i];
  }
  ga__vec3_cross(b.velocity, b.omega, arm);
  return b;
}

/* A body that flies through the bowl, and whose knife keeps it from moving along its y axis, as far as that is along
 * the bowl below. */
static ga_rigid_def bowl_knife(void)
{
  ga_rigid_def b = ball_at(0.8, 0, 1.5);
  b.inertia[0] = 0.1, b.inertia[1] = 0.15, b.inertia[2] = 0.2;
  b.velocity[0] = -1, b.velocity[2] = 0.5, b.omega[0] = 0.4, b.omega[1] = 0.3, b.omega[2] = 1.2;
  return b;
}

static shop open_bowl(ga_rolling_kind kind, double gravity)
{
  shop s = shop_open(GA_FORM_SPACE, gravity);
  const ga_rigid_def b = kind == GA_ROLLING_SPHERE ? bowl_ball() : kind == GA_ROLLING_DISK ? bowl_disk() : bowl_knife();
  SHOP_ADD(&s, rigid, &b);
  add_road(&s, "ground", "2 - sqrt(4 - x^2 - y^2)");
  const ga_rolling_def d = rolling_of(kind, "ball");
  SHOP_ADD(&s, rolling, &d);
  return s;
}

static void turn_in_bowl(ga_rolling_kind kind, ga_method method, double h, double out[4])
{
  static const char *const SIGNAL[] = {"ball.x", "ball.vy", "roll.tangential", "roll.normal"};
  shop s = open_bowl(kind, kind == GA_ROLLING_KNIFE ? -1 : -G);
  shop_build(&s);
  const shop_trial trial = {.method = method, .t_end = kind == GA_ROLLING_SPHERE ? 0.8 : 0.4, .fixed_h = h};
  ga_simulator *sim = shop_begin(&s, &trial, NULL, NULL);
  assert_status(s.ctx, ga_simulator_run(sim), GA_OK);
  for (int i = 0; i < (kind == GA_ROLLING_KNIFE ? 3 : 4); i++) out[i] = shop_now(&s, SIGNAL[i]);
  ga_simulator_destroy(&sim);
  shop_close(&s);
}

/* Observed order of positions, velocities and forces. */
static void order_is_two_by_every_method(void **state)
{
  static const ga_method METHOD[] = {GA_STABILIZED, GA_INDEX3, GA_SOI2, GA_WEIGHTED};
  static const ga_rolling_kind KIND[] = {GA_ROLLING_SPHERE, GA_ROLLING_DISK, GA_ROLLING_KNIFE};
  (void)state;
  for (int c = 0; c < 3 * 4; c++) {
    double at[3][4];
    if (rig_brief() && c % 5 != 1) continue;
    for (int k = 0; k < 3; k++) turn_in_bowl(KIND[c / 4], METHOD[c % 4], 4e-3 / (1 << k), at[k]);
    for (int i = 0; i < (KIND[c / 4] == GA_ROLLING_KNIFE ? 3 : 4); i++) {
      const double order = log2(fabs((at[0][i] - at[1][i]) / (at[1][i] - at[2][i])));
      if (!(order > 1.8)) print_message("kind %d, method %d, signal %d: order %.2f\n", c / 4, c % 4, i, order);
      assert_true(order > 1.8);
    }
  }
}

/* Where gravity acts upwards, the disk that leans hangs on the road; what is reported is the force along the normal,
 * not the multiplier, which is less by cos 0.3. */
static void pulling_is_reported_by_the_normal_force(void **state)
{
  shop s = open_bowl(GA_ROLLING_DISK, 4 * G);
  ga_meter *meter = NULL;
  ga_pull pull;
  char text[1024];
  (void)state;
  const ga_state *now = shop_start(&s);
  assert_status(s.ctx, ga_meter_create(s.ctx, s.m, &meter), GA_OK);
  assert_status(s.ctx, ga_meter_start(meter, now), GA_OK);
  assert_int_equal(ga_meter_n_pulls(meter), 1);
  assert_status(s.ctx, ga_meter_pull(meter, 0, &pull), GA_OK);
  const double normal = shop_now(&s, "roll.normal");
  assert_true(normal < -10);
  assert_near(pull.worst, -normal, 1e-9 * fabs(normal), "force");
  assert_near(fabs(now->lambda[0]), -normal * cos(0.3), 1e-9 * fabs(normal), "multiplier");
  ga_meter_pull_text(meter, text, sizeof text);
  assert_non_null(strstr(text, "pulls at its road"));
  ga_meter_destroy(&meter);
  shop_close(&s);
}

/* ---- Planes ---- */

/* On the road 0.3 x it is as on a plane that is tilted so: a disk with spin, on a plane by the other element. */
static void tilted_road_is_a_plane(void **state)
{
  double at[2][6];
  static const char *const SIGNAL[] = {"ball.x", "ball.y", "ball.z", "roll.normal", "roll.fx", "roll.px"};
  (void)state;
  for (int road = 0; road < 2; road++) {
    shop s = shop_open(GA_FORM_SPACE, -G);
    const double slope = atan(0.3), lean = 0.3;
    ga_rigid_def b = ball_at(0, 0, 0);
    double turn[9], A[9], B[9];
    b.inertia[0] = b.inertia[1] = 0.25 * MASS * R * R, b.inertia[2] = 0.5 * MASS * R * R;
    assert_int_equal(ga_rotation_axis_angle(s.ctx, (double[3]){0, 1, 0}, -slope, turn), GA_OK);
    assert_int_equal(ga_rotation_axis_angle(s.ctx, (double[3]){1, 0, 0}, -acos(0.0) + lean, A), GA_OK);
    ga__mat3_mul(B, turn, A);
    memcpy(b.pose.rotation, B, sizeof B);
    for (int i = 0; i < 3; i++) {
      const double n = B[3 * i + 2], e = turn[3 * i + 2], s0 = sin(lean), m = cos(lean);
      b.pose.position[i] = R * (e - s0 * n) / m, b.omega[i] = 12 * n + 0.5 * e;
    }
    ga__vec3_cross(b.velocity, b.omega, b.pose.position); /* P is the origin */
    SHOP_ADD(&s, rigid, &b);
    add_road(&s, "ground", "0.3*x");
    ga_marker_def plane = ga_marker_defaults();
    plane.name = "plane", plane.body = "ground";
    memcpy(plane.pose.rotation, turn, sizeof turn);
    SHOP_ADD(&s, marker, &plane);
    ga_rolling_def d = rolling_of(GA_ROLLING_DISK, "ball");
    if (!road) d.road = NULL, d.plane = "plane";
    SHOP_ADD(&s, rolling, &d);
    shop_start(&s);
    for (int i = 0; i < 600; i++) assert_status(s.ctx, ga_stepper_step(s.st, 1e-3), GA_OK);
    for (int i = 0; i < 6; i++) at[road][i] = shop_now(&s, SIGNAL[i]);
    shop_close(&s);
  }
  for (int i = 0; i < 6; i++) assert_near(at[1][i], at[0][i], 2e-4 * (1 + fabs(at[0][i])), SIGNAL[i]);
}

/* ---- Bad input ---- */

static void refusals(void **state)
{
  shop s = shop_open(GA_FORM_SPACE, -G);
  (void)state;
  ga_rigid_def b = ball_at(0, 0, R);
  SHOP_ADD(&s, rigid, &b);
  ga_rolling_def d = rolling_of(GA_ROLLING_SPHERE, "ball");
  d.plane = "ball";
  assert_int_equal(ga_machine_add_rolling(s.m, &d), GA_ERR_ARGUMENT);
  assert_int_equal(ga_context_error(s.ctx)->reason, GA_REASON_PLANE_AND_ROAD);
  d.plane = "ground", d.road = "raod";
  SHOP_ADD(&s, rolling, &d);
  add_road(&s, "ground", "0.1*x");
  assert_int_equal(ga_machine_build(s.m), GA_ERR_ARGUMENT);
  assert_non_null(strstr(ga_context_error(s.ctx)->text, "raod"));
  shop_close(&s);
}

/* A disk that lies flat has no lowest point. */
static void flat_disk(void **state)
{
  double q0[64], v0[64], x0[8];
  (void)state;
  shop s = shop_open(GA_FORM_SPACE, -G);
  ga_rigid_def b = ball_at(0, 0, R);
  SHOP_ADD(&s, rigid, &b);
  add_road(&s, "ground", "0.1*x^2");
  const ga_rolling_def d = rolling_of(GA_ROLLING_DISK, "ball");
  SHOP_ADD(&s, rolling, &d);
  shop_build(&s);
  ga_stepper_opts opts = ga_stepper_defaults();
  ga_start_opts start = ga_start_defaults();
  start.h = 1e-3;
  assert_status(s.ctx, ga_machine_initial(s.m, q0, v0, x0), GA_OK);
  assert_status(s.ctx, ga_stepper_create(s.ctx, ga_machine_system(s.m), &opts, &s.st), GA_OK);
  assert_int_not_equal(ga_stepper_start(s.st, &start, 0, q0, v0, x0, NULL, NULL, NULL), GA_OK);
  assert_non_null(strstr(ga_context_error(s.ctx)->text, "lies flat on road"));
  shop_close(&s);
}

static shop with_everything(void)
{
  shop s = shop_open(GA_FORM_SPACE, -G);
  add_valley_ball(&s, 0);
  return s;
}

static void memory_may_fail(void **state)
{
  (void)state;
  shop_fail_memory(with_everything);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(derivatives_are_right),     cmocka_unit_test(valley_against_minimal_coordinates),
      cmocka_unit_test(small_motion_in_a_bowl),    cmocka_unit_test(order_is_two_by_every_method),
      cmocka_unit_test(tilted_road_is_a_plane),    cmocka_unit_test(refusals),
      cmocka_unit_test(flat_disk),                 cmocka_unit_test(pulling_is_reported_by_the_normal_force),
      cmocka_unit_test(memory_may_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
