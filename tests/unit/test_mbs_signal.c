/* Signals: names, units, numbers, poses, reactions; forces of drives and laws. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "mbs_rig.h"

enum { MOST = 64 };

static void add_point(const mbs_rig *r, const char *name, double x, double y, double z)
{
  ga_point_def d = ga_point_defaults();
  d.name = name;
  d.mass = 2;
  d.position[0] = x, d.position[1] = y, d.position[2] = z;
  mbs_ok(r, ga_machine_add_point(r->m, &d));
}

static void add_scalar(const mbs_rig *r, const char *name, int rotational)
{
  ga_scalar_def d = ga_scalar_defaults();
  d.name = name;
  d.mass = 3;
  d.rotational = rotational;
  mbs_ok(r, ga_machine_add_scalar(r->m, &d));
}

static void add_joint(const mbs_rig *r, const char *name, ga_joint_kind kind, const char *a, const char *b)
{
  ga_joint_def d = ga_joint_defaults();
  d.name = name;
  d.kind = kind;
  d.a = a;
  d.b = b;
  d.ratio = 2;
  mbs_ok(r, ga_machine_add_joint(r->m, &d));
}

/* ---- Names ---- */

/* Names with points in them, one the beginning of another. */
static void test_names(void **state)
{
  (void)state;
  static const char *const expected[][2] = {
      {"car.x", "m"},
      {"car.vz", "m/s"},
      {"car.ay", "m/s^2"},
      {"car.wx", "rad/s"},
      {"car.qw", ""},
      {"car.wheel.x", "m"},
      {"car.wheel.qz", ""},
      {"bob.az", "m/s^2"},
      {"seat.wz", "rad/s"},
      {"gear_in", "rad"},
      {"gear_in.rate", "rad/s"},
      {"rail.acc", "m/s^2"},
      {"hinge.angle", "rad"},
      {"hinge.angle_acc", "rad/s^2"},
      {"hinge.fz", "N"},
      {"hinge.mx", "N*m"},
      {"flat.angle", "rad"},
      {"rack.force", "N"},
      {"energy.balance", "J"},
      {"energy.kinetic", "J"},
  };
  static const ga_signal_kind kind[] = {
      GA_SIGNAL_POSITION,    GA_SIGNAL_RATE,         GA_SIGNAL_ACCELERATION, GA_SIGNAL_RATE,
      GA_SIGNAL_ORIENTATION, GA_SIGNAL_POSITION,     GA_SIGNAL_ORIENTATION,  GA_SIGNAL_ACCELERATION,
      GA_SIGNAL_RATE,        GA_SIGNAL_COORDINATE,   GA_SIGNAL_RATE,         GA_SIGNAL_ACCELERATION,
      GA_SIGNAL_COORDINATE,  GA_SIGNAL_ACCELERATION, GA_SIGNAL_REACTION,     GA_SIGNAL_REACTION,
      GA_SIGNAL_COORDINATE,  GA_SIGNAL_FORCE,        GA_SIGNAL_ENERGY,       GA_SIGNAL_ENERGY};
  static const char *const missing[] = {
      "car", "car.wheel", "bob.wx", "bob.qw", "seat.qw",   "hinge",        "ground.x",        "energy",
      "",    "gear_in.x", "car.",   ".x",     "car.angle", "hinge.angle_", "energy.kinetic.x"};
  mbs_rig r = mbs_open(GA_FORM_SPACE);
  ga_rigid_def car = mbs_body("car"), wheel = mbs_body("car.wheel");
  ga_planar_def flat = mbs_planar("flat");
  assert_int_equal(ga_machine_n_signals(r.m), 0);
  assert_null(ga_machine_signal_name(r.m, 0));
  assert_null(ga_machine_signal_unit(r.m, 0));
  assert_int_equal(ga_machine_find_signal(r.m, "car.x"), -1);
  mbs_ok(&r, ga_machine_add_rigid(r.m, &car));
  mbs_ok(&r, ga_machine_add_rigid(r.m, &wheel));
  mbs_ok(&r, ga_machine_add_planar(r.m, &flat));
  add_point(&r, "bob", 0, 0, 1);
  mbs_marker(&r, "seat", "car", 0);
  add_scalar(&r, "gear_in", 1);
  add_scalar(&r, "rail", 0);
  add_joint(&r, "hinge", GA_JOINT_REVOLUTE, "car", "car.wheel");
  add_joint(&r, "rack", GA_JOINT_RACK, "rail", "gear_in");
  mbs_ok(&r, ga_machine_build(r.m));
  const int n = ga_machine_n_signals(r.m);
  assert_int_equal(n, 19 + 19 + 20 + 9 + 15 + 3 + 3 + (3 + 6) + 1 + 5);
  for (int i = 0; i < n; i++) {
    const char *name = ga_machine_signal_name(r.m, i);
    assert_non_null(name);
    assert_int_equal(ga_machine_find_signal(r.m, name), i);
    assert_non_null(ga_machine_signal_unit(r.m, i));
    assert_ptr_equal(ga_machine_signal_name(r.m, i), name); /* stays */
  }
  for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
    const int k = ga_machine_find_signal(r.m, expected[i][0]);
    if (k < 0) fail_msg("there is no '%s'", expected[i][0]);
    assert_string_equal(ga_machine_signal_name(r.m, k), expected[i][0]);
    assert_string_equal(ga_machine_signal_unit(r.m, k), expected[i][1]);
    assert_int_equal(ga_machine_signal_kind(r.m, k), kind[i]);
  }
  for (size_t i = 0; i < sizeof missing / sizeof *missing; i++)
    if (ga_machine_find_signal(r.m, missing[i]) >= 0) fail_msg("'%s' is no signal", missing[i]);
  assert_null(ga_machine_signal_name(r.m, n));
  assert_null(ga_machine_signal_name(r.m, -1));
  assert_null(ga_machine_signal_unit(r.m, n));
  assert_int_equal(ga_machine_find_signal(r.m, NULL), -1);
  mbs_close(&r);
}

/* A name that cannot be stored is NULL once, and there the next time. */
static void test_name_memory(void **state)
{
  (void)state;
  mbs_rig r = mbs_open(GA_FORM_SPACE);
  add_point(&r, "bob", 0, 0, 1);
  mbs_ok(&r, ga_machine_build(r.m));
  rig_memory.fail_at = rig_memory.count + 1;
  assert_null(ga_machine_signal_name(r.m, 0));
  rig_memory.fail_at = 0;
  assert_string_equal(ga_machine_signal_name(r.m, 0), "bob.x");
  mbs_close(&r);
}

/* ---- Values ---- */

static void test_all_at_once(void **state)
{
  (void)state;
  mbs_rig r = mbs_open(GA_FORM_SE3);
  ga_rigid_def body = mbs_body("body");
  double all[64], one;
  mbs_ok(&r, ga_machine_add_rigid(r.m, &body));
  mbs_marker(&r, "m", "body", 0);
  assert_status(r.ctx, ga_machine_signals(r.m, NULL, NULL, 1, NULL, all), GA_ERR_ORDER);
  mbs_ok(&r, ga_machine_build(r.m));
  ga_stepper *st = mbs_start(&r, NAN, 0.01, -1);
  const ga_state *s = ga_stepper_state(st);
  const int n = ga_machine_n_signals(r.m);
  assert_true(n < 64);
  mbs_ok(&r, ga_machine_signals(r.m, NULL, s, 0, NULL, all));
  for (int i = 0; i < n; i++) {
    mbs_ok(&r, ga_machine_signals(r.m, NULL, s, 1, &i, &one));
    assert_true(one == all[i]);
  }
  assert_near(mbs_signal(&r, NULL, st, "body.vy"), body.velocity[1], 1e-14, "velocity of the frame");
  assert_near(mbs_signal(&r, NULL, st, "body.wz"), body.omega[2], 1e-14, "angular velocity");
  for (int bad = -1; bad <= n; bad += n + 1) {
    assert_status(r.ctx, ga_machine_signals(r.m, NULL, s, 1, &bad, &one), GA_ERR_ARGUMENT);
    assert_call_error(r.ctx, GA_REASON_NO_SUCH_INDEX, "ga_machine_signals", "index");
    assert_error_number(r.ctx, 0, bad);
    assert_error_number(r.ctx, 1, n);
  }
  assert_status(r.ctx, ga_machine_signals(r.m, NULL, NULL, 1, NULL, all), GA_ERR_ARGUMENT);
  assert_status(r.ctx, ga_machine_signals(r.m, NULL, s, 1, NULL, NULL), GA_ERR_ARGUMENT);
  assert_int_equal(ga_machine_signals(NULL, NULL, s, 1, NULL, all), GA_ERR_ARGUMENT);
  ga_stepper_destroy(&st);
  mbs_close(&r);
}

static void test_poses(void **state)
{
  (void)state;
  mbs_rig r = mbs_open(GA_FORM_BODY);
  ga_rigid_def body = mbs_body("body");
  ga_pose pose;
  mbs_ok(&r, ga_machine_add_rigid(r.m, &body));
  add_scalar(&r, "rotor", 0);
  assert_status(r.ctx, ga_machine_pose(r.m, NULL, "body", &pose), GA_ERR_ORDER);
  mbs_ok(&r, ga_machine_build(r.m));
  ga_stepper *st = mbs_start(&r, NAN, 0.01, -1);
  const ga_state *s = ga_stepper_state(st);
  mbs_ok(&r, ga_machine_pose(r.m, s, "body", &pose));
  for (int i = 0; i < 3; i++) assert_near(pose.position[i], body.pose.position[i], 1e-15, "position");
  for (int i = 0; i < 9; i++) assert_near(pose.rotation[i], body.pose.rotation[i], 1e-15, "rotation");
  mbs_ok(&r, ga_machine_pose(r.m, s, "ground", &pose));
  assert_true(pose.position[0] == 0 && pose.rotation[0] == 1 && pose.rotation[1] == 0);
  assert_status(r.ctx, ga_machine_pose(r.m, s, "bady", &pose), GA_ERR_ARGUMENT);
  assert_error(r.ctx, GA_REASON_UNKNOWN_PART, NULL, "frame", "bady");
  assert_string_equal(ga_context_error(r.ctx)->nearest, "body");
  assert_status(r.ctx, ga_machine_pose(r.m, s, "rotor", &pose), GA_ERR_ARGUMENT);
  assert_status(r.ctx, ga_machine_pose(r.m, s, NULL, &pose), GA_ERR_ARGUMENT);
  ga_stepper_destroy(&st);
  mbs_close(&r);
}

/* ---- Reactions ---- */

/* A door on one hinge, or two. */
static mbs_rig door(int hinges)
{
  mbs_rig r = mbs_open(GA_FORM_SPACE);
  ga_rigid_def d = ga_rigid_defaults();
  r.m->opts.gravity[1] = 0;
  d.name = "door";
  d.mass = 20;
  d.inertia[0] = d.inertia[1] = d.inertia[2] = 2;
  d.com[0] = 0.5;
  mbs_ok(&r, ga_machine_add_rigid(r.m, &d));
  for (int i = 0; i < hinges; i++) {
    ga_joint_def h = ga_joint_defaults();
    h.name = i ? "upper" : "lower";
    h.kind = GA_JOINT_REVOLUTE;
    h.a = "ground";
    h.b = "door";
    h.at_pose = 1;
    h.at = ga_pose_at(0, 0, i);
    mbs_ok(&r, ga_machine_add_joint(r.m, &h));
  }
  mbs_ok(&r, ga_machine_build(r.m));
  return r;
}

static void test_reactions(void **state)
{
  (void)state;
  mbs_rig r = door(1);
  double F[3], T[3];
  int unique = -1;
  ga_stepper *st = mbs_start(&r, NAN, 0.01, -1);
  mbs_ok(&r, ga_machine_reaction(r.m, st, "lower", NULL, F, T, &unique));
  assert_near(F[2], 20 * 9.81, 1e-9, "weight");
  assert_near(T[1], -0.5 * 20 * 9.81, 1e-9, "its moment about y");
  assert_int_equal(unique, 1);
  assert_near(mbs_signal(&r, NULL, st, "lower.fz"), F[2], 0, "signal");
  assert_near(mbs_signal(&r, NULL, st, "lower.my"), T[1], 0, "signal");
  assert_status(r.ctx, ga_machine_reaction(r.m, st, "door", NULL, F, T, NULL), GA_ERR_ARGUMENT);
  assert_error(r.ctx, GA_REASON_WRONG_KIND, NULL, "joint", "door");
  assert_status(r.ctx, ga_machine_reaction(r.m, st, "lower", "doar", F, T, NULL), GA_ERR_ARGUMENT);
  assert_says(r.ctx, "did you mean 'door'?");
  assert_status(r.ctx, ga_machine_reaction(r.m, st, "lower", NULL, NULL, T, NULL), GA_ERR_ARGUMENT);
  assert_status(r.ctx, ga_machine_reaction(r.m, NULL, "lower", NULL, F, T, NULL), GA_ERR_ORDER);
  ga_stepper_destroy(&st);
  mbs_close(&r);
}

/* Two hinges hold what one would: how they share it is not determined, what they do together is. */
static void test_shared_reactions(void **state)
{
  (void)state;
  mbs_rig r = door(2);
  double F[3], T[3], F2[3], T2[3];
  int unique = -1;
  ga_stepper *st = mbs_start(&r, NAN, 0.01, -1);
  mbs_ok(&r, ga_machine_reaction(r.m, st, "lower", "door", F, T, &unique));
  assert_int_equal(unique, 0);
  unique = -1;
  mbs_ok(&r, ga_machine_reaction(r.m, st, "upper", NULL, F2, T2, &unique));
  assert_int_equal(unique, 0);
  assert_near(F[2] + F2[2], 20 * 9.81, 1e-8, "weight");
  assert_near(T[1] + T2[1] + 1 * F2[0], -0.5 * 20 * 9.81, 1e-8, "moment about y of the lower hinge");
  ga_stepper_destroy(&st);
  mbs_close(&r);
}

/* The same among rows without a point, and points without rows: two joints that hold the same. */
static void test_shared_axes(void **state)
{
  (void)state;
  for (int k = 0; k < 4; k++) {
    const ga_joint_kind kind = k < 2 ? GA_JOINT_PARALLEL : GA_JOINT_SPHERICAL;
    const int n = 1 + k % 2;
    mbs_rig r = mbs_open(GA_FORM_SPACE);
    ga_rigid_def body = ga_rigid_defaults();
    double F[3], T[3];
    int unique = -1;
    body.name = "body";
    body.mass = 1;
    body.inertia[0] = body.inertia[1] = body.inertia[2] = 1;
    mbs_ok(&r, ga_machine_add_rigid(r.m, &body));
    add_joint(&r, "one", kind, "ground", "body");
    if (n == 2) add_joint(&r, "two", kind, "ground", "body");
    mbs_ok(&r, ga_machine_build(r.m));
    ga_stepper *st = mbs_start(&r, NAN, 0.01, -1);
    mbs_ok(&r, ga_machine_reaction(r.m, st, "one", NULL, F, T, &unique));
    assert_int_equal(unique, n == 1);
    ga_stepper_destroy(&st);
    mbs_close(&r);
  }
}

/* ---- Forces of drives and laws ---- */

static void test_forces(void **state)
{
  (void)state;
  mbs_rig r = mbs_open(GA_FORM_SPACE);
  ga_drive_def drive = ga_drive_defaults();
  ga_spring_def spring = ga_spring_defaults();
  ga_friction_def friction = ga_friction_defaults();
  ga_actuator_def actuator = ga_actuator_defaults();
  ga_bushing_def bushing = ga_bushing_defaults();
  ga_contact_def contact = ga_contact_defaults();
  ga_function_expr_opts fo = ga_function_expr_defaults();
  ga_function *f = NULL;
  ga_rigid_def body = ga_rigid_defaults();
  fo.text = "0.3 + 0.5*t + 2*t^2";
  mbs_ok(&r, ga_function_create_expr(r.ctx, &fo, NULL, &f));
  r.m->opts.gravity[1] = 0;
  add_scalar(&r, "cart", 0);
  add_scalar(&r, "rotor", 1);
  r.m->opts.gravity[2] = 0;
  drive.name = "drive";
  drive.coordinate = "cart";
  drive.function = f;
  mbs_ok(&r, ga_machine_add_drive(r.m, &drive));
  spring.name = "spring";
  spring.coordinate = "cart";
  spring.stiffness = 7;
  spring.damping = 2;
  spring.rest = 0;
  mbs_ok(&r, ga_machine_add_spring(r.m, &spring));
  actuator.name = "motor";
  actuator.coordinate = "rotor";
  actuator.force.value = 1.25;
  mbs_ok(&r, ga_machine_add_actuator(r.m, &actuator));
  friction.name = "brake";
  friction.coordinate = "cart";
  friction.level.value = 4;
  friction.speed = 0.5;
  mbs_ok(&r, ga_machine_add_friction(r.m, &friction));
  body.name = "body";
  body.mass = 1;
  body.inertia[0] = body.inertia[1] = body.inertia[2] = 1;
  body.pose = ga_pose_at(0.1, 0.2, -0.3);
  mbs_ok(&r, ga_machine_add_rigid(r.m, &body));
  bushing.name = "bushing";
  bushing.a = "ground";
  bushing.b = "body";
  for (int i = 0; i < 6; i++) bushing.stiffness[7 * i] = 10 * (i + 1);
  mbs_ok(&r, ga_machine_add_bushing(r.m, &bushing));
  contact.name = "floor";
  contact.plane = "ground";
  contact.point = "body";
  contact.stiffness = 100;
  contact.exponent = 1;
  mbs_ok(&r, ga_machine_add_contact(r.m, &contact));
  mbs_ok(&r, ga_machine_build(r.m));
  ga_stepper *st = mbs_start(&r, NAN, 0.01, -1);
  assert_near(mbs_signal(&r, NULL, st, "cart"), 0.3, 1e-12, "cart");
  assert_near(mbs_signal(&r, NULL, st, "cart.rate"), 0.5, 1e-12, "its rate");
  assert_near(mbs_signal(&r, NULL, st, "spring.length"), 0.3, 1e-12, "spring");
  assert_near(mbs_signal(&r, NULL, st, "spring.rate"), 0.5, 1e-12, "spring");
  assert_near(mbs_signal(&r, NULL, st, "spring.force"), 7 * 0.3 + 2 * 0.5, 1e-12, "spring");
  assert_near(mbs_signal(&r, NULL, st, "brake.force"), -4 * tanh(1), 1e-12, "friction");
  assert_near(mbs_signal(&r, NULL, st, "motor.force"), 1.25, 1e-15, "actuator");
  /* 3 kg · 4 m/s² against spring and brake */
  assert_near(mbs_signal(&r, NULL, st, "drive.force"), 3 * 4 + 7 * 0.3 + 2 * 0.5 + 4 * tanh(1), 1e-11,
              "drive");
  assert_near(mbs_signal(&r, NULL, st, "bushing.fy"), 20 * 0.2, 1e-13, "bushing");
  assert_near(mbs_signal(&r, NULL, st, "bushing.mz"), 0, 1e-13, "bushing");
  assert_near(mbs_signal(&r, NULL, st, "floor.normal"), 30, 1e-12, "contact");
  assert_string_equal(ga_machine_signal_unit(r.m, ga_machine_find_signal(r.m, "motor.force")), "N*m");
  assert_string_equal(ga_machine_signal_unit(r.m, ga_machine_find_signal(r.m, "drive.force")), "N");
  ga_stepper_destroy(&st);
  ga_machine_destroy(&r.m);
  ga_function_destroy(&f);
  mbs_close(&r);
}

/* The normal force of a ball that rolls. */
static void test_rolling(void **state)
{
  (void)state;
  mbs_rig r = mbs_open(GA_FORM_SPACE);
  ga_rigid_def ball = ga_rigid_defaults();
  ga_rolling_def d = ga_rolling_defaults();
  r.m->opts.gravity[1] = 0;
  ball.name = "ball";
  ball.mass = 1.5;
  ball.inertia[0] = ball.inertia[1] = ball.inertia[2] = 0.1;
  ball.pose = ga_pose_at(0, 0, 0.5);
  mbs_ok(&r, ga_machine_add_rigid(r.m, &ball));
  d.name = "road";
  d.kind = GA_ROLLING_SPHERE;
  d.body = "ball";
  d.radius = 0.5;
  mbs_ok(&r, ga_machine_add_rolling(r.m, &d));
  mbs_ok(&r, ga_machine_build(r.m));
  ga_stepper *st = mbs_start(&r, NAN, 0.01, -1);
  assert_near(mbs_signal(&r, NULL, st, "road.normal"), 1.5 * 9.81, 1e-10, "normal force");
  ga_stepper_destroy(&st);
  mbs_close(&r);
}

/* Sensors that point nowhere. */
static void test_sensor_messages(void **state)
{
  (void)state;
  static const struct {
    ga_sensor_kind kind;
    const char *of, *axes, *says;
  } bad[] = {{GA_SENSOR_POSITION, "bady", "ground", "did you mean 'body'?"},
             {GA_SENSOR_POSITION, "body", "bod", "axes"},
             {GA_SENSOR_REACTION_FORCE, "body", "ground", "a joint between frames is needed"},
             {GA_SENSOR_REACTION_FORCE, "ghost", "ground", "a joint between frames is needed"}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    mbs_rig r = mbs_open(GA_FORM_SPACE);
    ga_rigid_def body = mbs_body("body");
    ga_sensor_def d = ga_sensor_defaults();
    mbs_ok(&r, ga_machine_add_rigid(r.m, &body));
    d.name = "eye";
    d.kind = bad[i].kind;
    d.of = bad[i].of;
    d.axes = bad[i].axes;
    mbs_ok(&r, ga_machine_add_sensor(r.m, &d));
    assert_status(r.ctx, ga_machine_build(r.m), GA_ERR_ARGUMENT);
    assert_says(r.ctx, "sensor 'eye'");
    assert_says(r.ctx, bad[i].says);
    mbs_close(&r);
  }
}

/* Thousands of signals are numbers only, until their names are asked for. */
static void test_many(void **state)
{
  (void)state;
  enum { N = 2000 };
  mbs_rig r = mbs_open(GA_FORM_SPACE);
  char name[32];
  for (int i = 0; i < N; i++) {
    snprintf(name, sizeof name, "bob%d", i);
    add_point(&r, name, i, 0, 0);
  }
  mbs_ok(&r, ga_machine_build(r.m));
  const int n = ga_machine_n_signals(r.m);
  assert_int_equal(n, 9 * N + GA__N_ENERGIES);
  const long before = rig_memory.live;
  for (int i = 0; i < n; i += 97)
    assert_int_equal(ga_machine_find_signal(r.m, ga_machine_signal_name(r.m, i)), i);
  assert_true(rig_memory.live - before <= n / 97 + 1);
  assert_int_equal(ga_machine_find_signal(r.m, "bob1999.az"), 9 * N - 1);
  mbs_close(&r);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_names),       cmocka_unit_test(test_name_memory),
      cmocka_unit_test(test_all_at_once), cmocka_unit_test(test_poses),
      cmocka_unit_test(test_reactions),   cmocka_unit_test(test_shared_reactions),
      cmocka_unit_test(test_shared_axes), cmocka_unit_test(test_forces),
      cmocka_unit_test(test_rolling),     cmocka_unit_test(test_sensor_messages),
      cmocka_unit_test(test_many),
  };
  return cmocka_run_group_tests_name("mbs signals", tests, NULL, NULL);
}
