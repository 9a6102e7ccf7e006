/* Control blocks in a machine: derivatives, loops, a controller, the mechatronic example of
 * the core, faults. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "mbs_rig.h"

#define TOL 1e-7

enum { MOST = 32 };

static void add_mass(const mbs_rig *r, const char *name, double mass, double position, double velocity)
{
  ga_scalar_def d = ga_scalar_defaults();
  d.name = name;
  d.mass = mass;
  d.position = position;
  d.velocity = velocity;
  mbs_ok(r, ga_machine_add_scalar(r->m, &d));
}

static void add_spring(const mbs_rig *r, const char *name, const char *coordinate, double stiffness)
{
  ga_spring_def d = ga_spring_defaults();
  d.name = name;
  d.coordinate = coordinate;
  d.stiffness = stiffness;
  d.rest = 0;
  mbs_ok(r, ga_machine_add_spring(r->m, &d));
}

static void add_actuator(const mbs_rig *r, const char *name, const char *coordinate, const char *force)
{
  ga_actuator_def d = ga_actuator_defaults();
  d.name = name;
  d.coordinate = coordinate;
  d.force.expression = force;
  mbs_ok(r, ga_machine_add_actuator(r->m, &d));
}

static void add_gain(const mbs_rig *r, const char *name, double gain, double offset, const char *input)
{
  ga_block_gain_opts o = ga_block_gain_defaults();
  ga_control_block *block = NULL;
  const ga_input in = {offset, NULL, input};
  o.gain = gain;
  mbs_ok(r, ga_block_create_gain(r->ctx, &o, &block));
  mbs_ok(r, ga_machine_add_block(r->m, name, block, &in));
}

static void add_sum(const mbs_rig *r, const char *name, const double weights[2], const char *u1,
                    const char *u2)
{
  ga_block_sum_opts o = ga_block_sum_defaults();
  ga_control_block *block = NULL;
  const ga_input in[2] = {{0, NULL, u1}, {0, NULL, u2}};
  o.weights = weights;
  mbs_ok(r, ga_block_create_sum(r->ctx, &o, &block));
  mbs_ok(r, ga_machine_add_block(r->m, name, block, in));
}

/* xdot = a x + b u, y = x */
static void add_lag(const mbs_rig *r, const char *name, double a, double b, const char *input)
{
  ga_block_state_space_opts o = ga_block_state_space_defaults();
  ga_control_block *block = NULL;
  const double one = 1;
  const ga_input in = {0, NULL, input};
  o.n_in = o.n_x = o.n_out = 1;
  o.A = &a;
  o.B = &b;
  o.C = &one;
  mbs_ok(r, ga_block_create_state_space(r->ctx, &o, &block));
  mbs_ok(r, ga_machine_add_block(r->m, name, block, &in));
}

/* ---- The controlled spring-mass system (Brüls & Arnold 2008), as a machine ---- */

static mbs_rig spring_mass(void)
{
  mbs_rig r = mbs_open(GA_FORM_SPACE);
  ga_block_tanh_opts o = ga_block_tanh_defaults();
  ga_control_block *block = NULL;
  const ga_input in = {0, NULL, "filter"};
  add_actuator(&r, "motor", "mass", "limit");
  mbs_ok(&r, ga_block_create_tanh(r.ctx, &o, &block));
  mbs_ok(&r, ga_machine_add_block(r.m, "limit", block, &in));
  add_lag(&r, "filter", -0.1, -1.4, "mass.acc");
  add_mass(&r, "mass", 1, 5, 0);
  add_spring(&r, "spring", "mass", 1);
  mbs_ok(&r, ga_machine_build(r.m));
  return r;
}

/* q, v, vdot, x and the force at t = 5 */
static void run_machine(double h, double end[5])
{
  mbs_rig r = spring_mass();
  ga_stepper *st = mbs_start(&r, 0.8, h, 0);
  mbs_ok(&r, ga_stepper_run(st, h, lround(5 / h), NULL, NULL));
  static const char *const name[5] = {"mass", "mass.rate", "mass.acc", "filter.x1", "limit"};
  for (int i = 0; i < 5; i++) end[i] = mbs_signal(&r, NULL, st, name[i]);
  ga_stepper_destroy(&st);
  mbs_close(&r);
}

static void run_example(double h, double end[5])
{
  rig r = rig_open("spring_mass");
  ga_start_opts start = ga_start_defaults();
  rig_build(&r);
  start.h = h;
  start.shift_a = 0;
  assert_status(r.ctx, rig_try_start(&r, &start, NULL), GA_OK);
  rig_steps(&r, h, (int)lround(5 / h));
  const ga_state *s = ga_stepper_state(r.st);
  const double got[5] = {s->q[0], s->v[0], s->vdot[0], s->x[0], s->y[1]};
  memcpy(end, got, sizeof got);
  rig_close(&r);
}

static void test_spring_mass(void **state)
{
  static const double exact[5] = {-.566053023185347, 2.047440149690646, -.4314401971107706,
                                  -3.340324670314635, -.9974932202961176};
  static const double published[3][5] = {/* errors of q, vdot and x as measured elsewhere */
                                         {3.85e-3, 0, 3.80e-3, 8.33e-3, 0},
                                         {9.69e-4, 0, 9.58e-4, 2.09e-3, 0},
                                         {2.43e-4, 0, 2.40e-4, 5.23e-4, 0}};
  double error[4][5];
  (void)state;
  for (int k = 0; k < 4; k++) {
    const double h = 0.1 / (1 << k);
    double machine[5], example[5];
    run_machine(h, machine);
    run_example(h, example);
    for (int i = 0; i < 5; i++) {
      assert_near(machine[i], example[i], 1e-9, "machine against the equations by hand");
      error[k][i] = fabs(machine[i] - exact[i]);
      if (k < 3 && published[k][i] > 0)
        assert_near(error[k][i] / published[k][i], 1, 5e-3, "published error");
    }
  }
  for (int i = 0; i < 5; i++) assert_near(log2(error[2][i] / error[3][i]), 2, 0.05, "order");
}

/* ---- Derivatives ---- */

static int user_block(void *user, double t, const double *u, const double *x, double *xdot, double *y)
{
  (void)user;
  xdot[0] = sin(u[0]) - x[0] * x[1];
  xdot[1] = u[1] * u[0] + t;
  y[0] = x[0] * u[1];
  y[1] = x[1] * x[1];
  return 0;
}

static void test_derivatives(void **state)
{
  (void)state;
  mbs_rig r = mbs_open(GA_FORM_SPACE);
  ga_control_block *block = NULL;
  ga_block_pid_opts pid = ga_block_pid_defaults();
  ga_block_product_opts product = ga_block_product_defaults();
  ga_block_user_opts user = ga_block_user_defaults();
  ga_block_transfer_function_opts tf = ga_block_transfer_function_defaults();
  const double num[2] = {1, 3}, den[3] = {0.2, 1, 5};
  const ga_input pid_in[2] = {{0.5, NULL, "0.1*sin(t)"}, {0, NULL, "mass"}};
  const ga_input twice[2] = {{0.2, NULL, "pid"}, {0, NULL, "pid"}}; /* the same output at both inputs */
  const ga_input user_in[2] = {{0, NULL, "user.y1"}, {0, NULL, "mass.rate + user.y2*pid"}};
  const ga_input tf_in = {0, NULL, "user.x2"};
  add_mass(&r, "mass", 1.5, 0.3, 0.1);
  pid.ki = 2, pid.kd = 0.3, pid.lower = -3, pid.upper = 3, pid.smoothing = 0.5;
  mbs_ok(&r, ga_block_create_pid(r.ctx, &pid, &block));
  mbs_ok(&r, ga_machine_add_block(r.m, "pid", block, pid_in));
  mbs_ok(&r, ga_block_create_product(r.ctx, &product, &block));
  mbs_ok(&r, ga_machine_add_block(r.m, "square", block, twice));
  user.n_in = user.n_x = user.n_out = 2;
  user.function = user_block;
  mbs_ok(&r, ga_block_create_user(r.ctx, &user, &block));
  mbs_ok(&r, ga_machine_add_block(r.m, "user", block, user_in));
  tf.num = num, tf.den = den, tf.n_num = 2, tf.n_den = 3;
  mbs_ok(&r, ga_block_create_transfer_function(r.ctx, &tf, &block));
  mbs_ok(&r, ga_machine_add_block(r.m, "tf", block, &tf_in));
  add_actuator(&r, "motor", "mass", "square + pid*user.y1 - tf + pid^2");
  mbs_ok(&r, ga_machine_build(r.m));
  mbs_check(&r, "blocks", 30, 0.5, TOL);
  mbs_close(&r);
}

/* Two names of one thing are one output, also within one formula. */
static void test_same_output(void **state)
{
  (void)state;
  mbs_rig r = mbs_open(GA_FORM_SPACE);
  ga_rigid_def body = mbs_body("one");
  ga_sensor_def eye = ga_sensor_defaults();
  mbs_ok(&r, ga_machine_add_rigid(r.m, &body));
  eye.name = "eye";
  eye.of = "one";
  mbs_ok(&r, ga_machine_add_sensor(r.m, &eye));
  add_gain(&r, "gain", 2, 0, "one.x*eye.x + eye.y");
  mbs_ok(&r, ga_machine_build(r.m));
  assert_int_equal(ga_system_size(ga_machine_system(r.m), GA_BLOCK_Y), 4); /* x, y, the formula, the gain */
  mbs_check(&r, "the same output twice", 3, 0.3, TOL);
  static const char *const name[4] = {"gain: output 1", "one.x", "eye.y", "gain: one.x*eye.x + eye.y"};
  for (int i = 0; i < 4; i++) {
    char text[64];
    ga_system_name(ga_machine_system(r.m), GA_BLOCK_Y, i, text, sizeof text);
    assert_string_equal(text, name[i]);
  }
  mbs_close(&r);
}

/* ---- Loops ---- */

/* Without states: a = b/2 + 1, b = −0.4 a + c; and a block that feeds itself. */
static void test_algebraic_loop(void **state)
{
  (void)state;
  mbs_rig r = mbs_open(GA_FORM_SPACE);
  const double weights[2] = {-0.4, 1};
  add_mass(&r, "mass", 2, 0.7, 0);
  add_spring(&r, "spring", "mass", 3);
  add_gain(&r, "a", 0.5, 2, "b");
  add_sum(&r, "b", weights, "a", "mass");
  add_gain(&r, "self", 0.5, 2, "self");
  mbs_ok(&r, ga_machine_build(r.m));
  ga_stepper *st = mbs_start(&r, 0.8, 0.01, 1);
  for (int k = 0; k < 20; k++) {
    const double c = mbs_signal(&r, NULL, st, "mass"), a = (1 + 0.5 * c) / 1.2;
    assert_near(mbs_signal(&r, NULL, st, "a"), a, 1e-9, "a");
    assert_near(mbs_signal(&r, NULL, st, "b"), c - 0.4 * a, 1e-9, "b");
    assert_near(mbs_signal(&r, NULL, st, "self"), 2, 1e-9, "self");
    mbs_ok(&r, ga_stepper_step(st, 0.01));
  }
  mbs_check(&r, "algebraic loop", 3, 0.5, TOL);
  ga_stepper_destroy(&st);
  mbs_close(&r);
}

/* Through the mechanics: a force of −0.3 times the acceleration is a mass of 0.3. */
static void test_acceleration_loop(void **state)
{
  (void)state;
  mbs_rig r = mbs_open(GA_FORM_SPACE);
  add_mass(&r, "mass", 1.7, 1, 0);
  add_spring(&r, "spring", "mass", 8);
  add_gain(&r, "feedback", -0.3, 0, "mass.acc");
  add_actuator(&r, "motor", "mass", "feedback");
  mbs_ok(&r, ga_machine_build(r.m));
  const double h = 1e-3;
  ga_stepper *st = mbs_start(&r, 0.9, h, 1);
  assert_near(mbs_signal(&r, NULL, st, "mass.acc"), -8.0 / 2.0, 1e-12, "acceleration");
  mbs_ok(&r, ga_stepper_run(st, h, 1000, NULL, NULL));
  assert_near(mbs_signal(&r, NULL, st, "mass"), cos(2.0), 1e-6, "a mass of 2 on a spring of 8");
  ga_stepper_destroy(&st);
  mbs_close(&r);
}

/* ---- A PID-controlled hinge ---- */

static mbs_rig pendulum(void)
{
  mbs_rig r = mbs_open(GA_FORM_SPACE);
  ga_rigid_def arm = ga_rigid_defaults();
  ga_joint_def hinge = ga_joint_defaults();
  ga_block_pid_opts pid = ga_block_pid_defaults();
  ga_control_block *block = NULL;
  const ga_input in[2] = {{2.2, NULL, NULL}, {0, NULL, "hinge.angle"}};
  const double x[3] = {1, 0, 0}; /* gravity is across it */
  r.m->opts.gravity[1] = 0;
  arm.name = "arm";
  arm.mass = 2;
  arm.inertia[0] = arm.inertia[1] = arm.inertia[2] = 0.1;
  arm.com[0] = 0.4;
  assert_int_equal(ga_rotation_z_axis(r.ctx, x, NULL, arm.pose.rotation), GA_OK);
  mbs_ok(&r, ga_machine_add_rigid(r.m, &arm));
  hinge.name = "hinge";
  hinge.kind = GA_JOINT_REVOLUTE;
  hinge.a = "ground";
  hinge.b = "arm";
  hinge.at_pose = 1;
  hinge.at = arm.pose;
  mbs_ok(&r, ga_machine_add_joint(r.m, &hinge));
  pid.kp = 30;
  pid.ki = 40;
  pid.kd = 8;
  mbs_ok(&r, ga_block_create_pid(r.ctx, &pid, &block));
  mbs_ok(&r, ga_machine_add_block(r.m, "pid", block, in));
  add_actuator(&r, "motor", "hinge.angle", "pid");
  mbs_ok(&r, ga_machine_build(r.m));
  return r;
}

static void test_pid(void **state)
{
  (void)state;
  mbs_rig r = pendulum();
  ga_pose pose;
  mbs_check(&r, "hinge under control", 5, 0.3, TOL);
  ga_stepper *st = mbs_start(&r, 0.8, 5e-3, 1);
  mbs_ok(&r, ga_stepper_run(st, 5e-3, 4000, NULL, NULL));
  assert_near(mbs_signal(&r, NULL, st, "hinge.angle"), 2.2, 1e-6, "angle");
  assert_near(mbs_signal(&r, NULL, st, "hinge.angle_rate"), 0, 1e-6, "rate");
  /* the motor holds what gravity pulls: about x, with the lever of the centre of mass across the vertical */
  mbs_ok(&r, ga_machine_pose(r.m, ga_stepper_state(st), "arm", &pose));
  const double lever = 0.4 * pose.rotation[3]; /* y of the body's x axis */
  assert_near(mbs_signal(&r, NULL, st, "pid"), 2 * 9.81 * lever, 1e-5, "torque");
  assert_near(mbs_signal(&r, NULL, st, "motor.force"), mbs_signal(&r, NULL, st, "pid"), 1e-12,
              "what the motor does");
  assert_near(mbs_signal(&r, NULL, st, "hinge.fz"), 2 * 9.81, 1e-6, "the hinge carries the weight");
  ga_stepper_destroy(&st);
  mbs_close(&r);
}

/* ---- What can go wrong ---- */

static ga_status build_with(const mbs_rig *r, const char *input)
{
  add_gain(r, "gain", 1, 0, input);
  return ga_machine_build(r->m);
}

static void test_unknown_signal(void **state)
{
  (void)state;
  mbs_rig r = mbs_open(GA_FORM_SPACE);
  add_mass(&r, "mass", 1, 0, 0);
  assert_status(r.ctx, build_with(&r, "mess"), GA_ERR_ARGUMENT);
  assert_error(r.ctx, GA_REASON_UNKNOWN_SIGNAL, "gain", "inputs", "mess");
  assert_int_equal(ga_context_error(r.ctx)->item, 0);
  assert_string_equal(ga_context_error(r.ctx)->item_name, "u");
  assert_string_equal(ga_context_error(r.ctx)->nearest, "mass");
  /* the machine is as before: what is missing may be added */
  add_mass(&r, "mess", 1, 0, 0);
  mbs_ok(&r, ga_machine_build(r.m));
  mbs_close(&r);

  r = mbs_open(GA_FORM_SPACE);
  add_mass(&r, "mass", 1, 0, 0);
  assert_status(r.ctx, build_with(&r, "mass.rat"), GA_ERR_ARGUMENT);
  assert_says(
      r.ctx, "there is no signal 'mass.rat'; scalar 'mass' has itself, rate, acc; did you mean 'mass.rate'?");
  mbs_close(&r);

  r = mbs_open(GA_FORM_SPACE);
  add_mass(&r, "mass", 1, 0, 0);
  assert_status(r.ctx, build_with(&r, "2*qqqqqqqq + 1"), GA_ERR_ARGUMENT);
  assert_error(r.ctx, GA_REASON_UNKNOWN_SIGNAL, "gain", "inputs", "qqqqqqqq");
  assert_string_equal(ga_context_error(r.ctx)->nearest, "");
  mbs_close(&r);

  r = mbs_open(GA_FORM_SPACE);
  add_mass(&r, "mass", 1, 0, 0);
  assert_status(r.ctx, build_with(&r, "energy.kinetic"), GA_ERR_ARGUMENT);
  assert_error(r.ctx, GA_REASON_ENERGY_NOT_FED_BACK, "gain", "inputs", "energy.kinetic");
  mbs_close(&r);

  r = mbs_open(GA_FORM_SPACE);
  add_mass(&r, "mass", 1, 0, 0);
  add_spring(&r, "spring", "mass", 2);
  mbs_ok(&r, build_with(&r, "spring.force"));
  mbs_close(&r);
}

static int refuse(void *user, double t, const double *u, const double *x, double *xdot, double *y)
{
  (void)t, (void)x, (void)xdot;
  y[0] = u[0];
  return *(int *)user;
}

static void test_faults(void **state)
{
  (void)state;
  for (int answer = -1; answer <= 1; answer++) {
    mbs_rig r = mbs_open(GA_FORM_SPACE);
    ga_block_user_opts user = ga_block_user_defaults();
    ga_block_product_opts product = ga_block_product_defaults();
    const int divide[2] = {0, 1};
    ga_control_block *block = NULL;
    const ga_input in[2] = {{1, NULL, NULL}, {0, NULL, "mass"}};
    ga_stepper *st = NULL;
    ga_stepper_opts o = ga_stepper_defaults();
    ga_start_opts start = ga_start_defaults();
    double q[1] = {0}, v[1] = {0}, x[1];
    add_mass(&r, "mass", 1, 0, 0);
    if (answer) {
      user.n_in = user.n_out = 1;
      user.function = refuse;
      user.user = &answer;
      mbs_ok(&r, ga_block_create_user(r.ctx, &user, &block));
    } else {
      product.divide = divide;
      mbs_ok(&r, ga_block_create_product(r.ctx, &product, &block));
    }
    mbs_ok(&r, ga_machine_add_block(r.m, "odd", block, in));
    mbs_ok(&r, ga_machine_build(r.m));
    mbs_ok(&r, ga_stepper_create(r.ctx, ga_machine_system(r.m), &o, &st));
    start.h = 0.1;
    const ga_status status = ga_stepper_start(st, &start, 0, q, v, x, NULL, NULL, NULL);
    assert_true(status != GA_OK);
    if (answer < 0) assert_status(r.ctx, status, GA_ERR_CALLBACK);
    assert_says(r.ctx, "odd"); /* the block is named */
    ga_stepper_destroy(&st);
    mbs_close(&r);
  }
}

/* Loops without a solution are named, with a way out; those with one are solved, whatever their gain. */
static void test_loops(void **state)
{
  (void)state;
  static const struct {
    const char *input;
    ga_status status;
  } cases[] = {{"loop+1", GA_ERR_SINGULAR},     {"loop^2+1", GA_ERR_INCONSISTENT},
               {"mass.acc+1", GA_ERR_SINGULAR}, {"0.5*loop+1", GA_OK},
               {"-30*loop^3+1", GA_OK},         {"5*loop-mass.acc+1", GA_OK}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    mbs_rig r = mbs_open(GA_FORM_SPACE);
    ga_stepper *st = NULL;
    ga_start_opts start = ga_start_defaults();
    double q[1], v[1], x[1];
    add_mass(&r, "mass", 1, 0, 0);
    add_actuator(&r, "push", "mass", "loop");
    add_gain(&r, "loop", 1, 0, cases[i].input);
    mbs_ok(&r, ga_machine_build(r.m));
    mbs_ok(&r, ga_machine_initial(r.m, q, v, x));
    mbs_ok(&r, ga_stepper_create(r.ctx, ga_machine_system(r.m), NULL, &st));
    start.h = 0.1;
    const ga_status status = ga_stepper_start(st, &start, 0, q, v, x, NULL, NULL, NULL);
    assert_status(r.ctx, status, cases[i].status);
    if (status) {
      assert_says(r.ctx, "loop");
      assert_says(r.ctx, "filter");
    }
    ga_stepper_destroy(&st);
    mbs_close(&r);
  }
}

/* Signals that expressions cannot bear at 0 have their values when the start needs them, along a chain. */
static void test_first_values(void **state)
{
  (void)state;
  mbs_rig r = mbs_open(GA_FORM_SPACE);
  add_mass(&r, "mass", 1, 2, 0.5);
  add_actuator(&r, "push", "mass", "1/inverse-log(root)");
  add_gain(&r, "inverse", 2, 0, "1/mass");
  add_gain(&r, "root", 1, 0, "sqrt(inverse)/mass");
  mbs_ok(&r, ga_machine_build(r.m));
  ga_stepper *st = mbs_start(&r, 0.8, 0.01, 1);
  int index = ga_machine_find_signal(r.m, "push.force");
  double force;
  mbs_ok(&r, ga_machine_signals(r.m, NULL, ga_stepper_state(st), 1, &index, &force));
  assert_true(fabs(force - (1.0 - log(0.5))) < 1e-9);
  ga_stepper_destroy(&st);
  mbs_close(&r);
}

/* Every allocation of a build fails once; nothing is lost, and the machine can be built afterwards. */
static void test_memory(void **state)
{
  (void)state;
  for (long k = 1;; k++) {
    mbs_rig r = mbs_open(GA_FORM_BODY);
    ga_rigid_def body = mbs_body("one");
    const double weights[2] = {1, 2};
    mbs_ok(&r, ga_machine_add_rigid(r.m, &body));
    add_mass(&r, "mass", 1, 0, 0);
    add_lag(&r, "lag", -1, 2, "one.ax + mass.acc");
    add_sum(&r, "sum", weights, "lag", "eye.y");
    ga_sensor_def eye = ga_sensor_defaults();
    eye.name = "eye";
    eye.kind = GA_SENSOR_SPECIFIC_FORCE;
    eye.of = eye.axes = "one";
    mbs_ok(&r, ga_machine_add_sensor(r.m, &eye));
    add_actuator(&r, "motor", "mass", "sum");
    rig_memory.fail_at = rig_memory.count + k;
    const ga_status status = ga_machine_build(r.m);
    const int failed = rig_memory.count >= rig_memory.fail_at;
    rig_memory.fail_at = 0;
    if (failed) {
      assert_status(r.ctx, status, GA_ERR_MEMORY);
      assert_null(ga_machine_system(r.m));
      mbs_ok(&r, ga_machine_build(r.m));
    } else {
      mbs_ok(&r, status);
    }
    mbs_check(&r, "after a failure", 1, 0.2, 1e-6);
    mbs_close(&r);
    if (!failed) break;
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_spring_mass),
      cmocka_unit_test(test_derivatives),
      cmocka_unit_test(test_same_output),
      cmocka_unit_test(test_algebraic_loop),
      cmocka_unit_test(test_acceleration_loop),
      cmocka_unit_test(test_pid),
      cmocka_unit_test(test_unknown_signal),
      cmocka_unit_test(test_faults),
      cmocka_unit_test(test_first_values),
      cmocka_unit_test(test_loops),
      cmocka_unit_test(test_memory),
  };
  return cmocka_run_group_tests_name("mbs blocks", tests, NULL, NULL);
}
