/* Corners of machines: reactions of a driven screw, names that two signals would share, frames turned over,
 * first values of blocks with several outputs, and misuse of signals and meters. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "mbs_shop.h"

#define PI 3.14159265358979323846

static void assert_message(const shop *s, const char *const *words)
{
  for (; *words; words++)
    if (!strstr(ga_context_error(s->ctx)->text, *words))
      fail_msg("'%s' is not in: %s", *words, ga_context_error(s->ctx)->text);
}

static void add_joint(shop *s, const char *name, ga_joint_kind kind, const char *a, const char *b)
{
  ga_joint_def d = ga_joint_defaults();
  d.name = name, d.kind = kind, d.a = a, d.b = b;
  d.pitch = kind == GA_JOINT_SCREW ? 0.05 : 0;
  d.ratio = kind == GA_JOINT_GEAR ? -3 : 0;
  SHOP_ADD(s, joint, &d);
}

/* A nut of 2 kg and 0.03 kg m² about the screw's axis z. */
static void add_nut(shop *s)
{
  ga_rigid_def d = ga_rigid_defaults();
  d.name = "nut";
  d.mass = 2;
  d.inertia[0] = d.inertia[1] = 0.02, d.inertia[2] = 0.03;
  SHOP_ADD(s, rigid, &d);
  add_joint(s, "screw", GA_JOINT_SCREW, "ground", "nut");
}

/* Whatever turns the nut, a motor, a spring, a gear: of the screw it feels the thread alone, which turns an
 * axial force F into the moment −F pitch/2π. */
static void test_screw(void **state)
{
  (void)state;
  for (int form = 0; form < 3; form++)
    for (int what = 0; what < 4; what++) {
      shop s = shop_open((ga_form)form, -9.81);
      ga_actuator_def motor = ga_actuator_defaults();
      ga_spring_def spring = ga_spring_defaults();
      ga_sensor_def sensor = ga_sensor_defaults();
      motor.name = "motor", motor.coordinate = "screw.angle", motor.force.value = 1.5;
      spring.name = "spring", spring.coordinate = "screw.angle", spring.preload = -1.5;
      sensor.name = "thread", sensor.kind = GA_SENSOR_REACTION_TORQUE, sensor.of = "screw";
      add_nut(&s);
      SHOP_ADD(&s, sensor, &sensor);
      if (what == 1) SHOP_ADD(&s, actuator, &motor);
      if (what == 2) SHOP_ADD(&s, spring, &spring);
      if (what == 3) {
        shop_scalar(&s, "rotor", 0, 0);
        add_joint(&s, "gear", GA_JOINT_GEAR, "rotor", "screw.angle");
      }
      const ga_state *at = shop_start(&s);
      const double k = 2 * PI / 0.05, J = what == 3 ? 0.03 + 9 * 3.0 : 0.03,
                   torque = what == 0 || what == 3 ? 0 : 1.5;
      const double acc = (torque * k - 2 * 9.81) / (2 + J * k * k), F = 2 * (acc + 9.81);
      assert_near(shop_signal(&s, at, "screw.displacement_acc"), acc, 1e-10, "screw.displacement_acc");
      assert_near(shop_signal(&s, at, "screw.fz"), F, 1e-9, "screw.fz");
      assert_near(shop_signal(&s, at, "screw.mz"), -F / k, 1e-9, "screw.mz");
      assert_near(shop_signal(&s, at, "thread.z"), -F / k, 1e-9, "thread.z");
      shop_close(&s);
    }
}

/* The moment of a screw fed back: its derivatives where the body is nowhere special. */
static void test_screw_derivatives(void **state)
{
  (void)state;
  for (int form = 0; form < 3; form++) {
    shop s = shop_open((ga_form)form, -9.81);
    rig_random random = rig_seed(0);
    const char *const axis[3] = {"thread.x", "thread.y", "thread.z"};
    ga_sensor_def sensor = ga_sensor_defaults();
    ga_force_def force = ga_force_defaults();
    shop_rigid(&s, "nut", 0.2, -0.3, 0.1);
    shop_rigid(&s, "frame", -0.4, 0.3, 0.2);
    shop_marker(&s, "a", "frame", 0.1, 0.2, 0.3);
    shop_marker(&s, "b", "nut", -0.2, 0.1, 0.2);
    add_joint(&s, "screw", GA_JOINT_SCREW, "a", "b");
    sensor.name = "thread", sensor.kind = GA_SENSOR_REACTION_TORQUE, sensor.of = "screw",
    sensor.axes = "frame";
    SHOP_ADD(&s, sensor, &sensor);
    force.name = "force", force.frame = "frame";
    for (int i = 0; i < 3; i++) force.force[i].expression = axis[i];
    SHOP_ADD(&s, force, &force);
    shop_build(&s);
    shop_check(&s, &random, 20, 0.3, 1e-6, SHOP_FORM[form]);
    shop_close(&s);
  }
}

/* A scalar body or block whose name is that of another part's signal. */
static void test_doubled_signal(void **state)
{
  (void)state;
  for (int what = 0; what < 4; what++) {
    static const char *const name[] = {"hinge.angle", "hinge.fx", "body.x", "hinge.other"};
    shop s = shop_open(GA_FORM_SPACE, 0);
    shop_rigid(&s, "body", 0, 0, 0);
    add_joint(&s, "hinge", GA_JOINT_REVOLUTE, "ground", "body");
    if (what == 1) {
      ga_block_gain_opts gain = ga_block_gain_defaults();
      ga_control_block *block;
      ga_input input = {.value = 1};
      assert_status(s.ctx, ga_block_create_gain(s.ctx, &gain, &block), GA_OK);
      SHOP_ADD(&s, block, name[what], block, &input);
    } else {
      shop_scalar(&s, name[what], 1, 0);
    }
    if (what == 3) { /* follows: "has a signal of this name already; give one of them another name" */
      shop_build(&s);
    } else {
      assert_status(s.ctx, ga_machine_build(s.m), GA_ERR_ARGUMENT);
      assert_message(&s, (const char *const[]){name[what], what == 2 ? "rigid body 'body'" : "joint 'hinge'",
                                               "signal of this name already", "another name", NULL});
    }
    shop_close(&s);
  }
}

/* Rows of axes across each other are also met by frames that are turned over. */
static void test_turned_over(void **state)
{
  (void)state;
  static const ga_joint_kind kind[] = {GA_JOINT_FIXED, GA_JOINT_PRISMATIC, GA_JOINT_REVOLUTE};
  for (int k = 0; k < 3; k++)
    for (int axis = 0; axis < 3; axis++) {
      shop s = shop_open(GA_FORM_SPACE, 0);
      shop_rigid(&s, "body", 0, 0, 0);
      shop_turned(&s, "b", "body", 0.1, 0.2, 0.3, axis, 0);
      shop_rigid(&s, "other", 0, 0, 0);
      shop_turned(&s, "c", "other", 0.1, 0.2, 0.3, axis, PI - 0.05);
      add_joint(&s, "joint", kind[k], "b", "c");
      if (kind[k] == GA_JOINT_REVOLUTE) {
        shop_build(&s); /* a hinge does not care */
      } else {
        assert_status(s.ctx, ga_machine_build(s.m), GA_ERR_INCONSISTENT);
        assert_message(
            &s, (const char *const[]){"'joint'", "'b'", "'c'", "opposite directions", "at_pose", NULL});
      }
      shop_close(&s);
    }
}

static void add_expression(shop *s, const char *name, int n_out, const char *const *texts, const char *input)
{
  static const char *const inputs[] = {"u"};
  ga_block_expression_opts o = ga_block_expression_defaults();
  ga_control_block *block;
  const ga_input in = {.expression = input};
  o.n_in = 1, o.inputs = inputs, o.n_out = n_out, o.texts = texts;
  assert_status(s->ctx, ga_block_create_expression(s->ctx, &o, NULL, NULL, &block), GA_OK);
  SHOP_ADD(s, block, name, block, &in);
}

/* A chain of blocks that cannot be evaluated at 0, fed by the second output of a block whose first never
 * changes, and added from its end. */
static void test_first_values(void **state)
{
  (void)state;
  shop s = shop_open(GA_FORM_SPACE, 0);
  const char *const inverse[] = {"1/u"}, *const both[] = {"0*u", "u"};
  add_expression(&s, "third", 1, inverse, "second");
  add_expression(&s, "second", 1, inverse, "first");
  add_expression(&s, "first", 1, inverse, "two.y2");
  add_expression(&s, "two", 2, both, "rotor");
  shop_scalar(&s, "rotor", 4, 0);
  const ga_state *at = shop_start(&s);
  assert_near(shop_signal(&s, at, "third"), 0.25, 1e-14, "third");
  shop_close(&s);
}

static int answers[2]; /* of the function, of the Jacobian */

static int user_function(void *user, double t, const double *u, const double *x, double *xdot, double *y)
{
  (void)user, (void)t, (void)x, (void)xdot;
  y[0] = u[0];
  return answers[0];
}

static int user_jacobian(void *user, double t, const double *u, const double *x, double *J)
{
  (void)user, (void)t, (void)u, (void)x;
  J[0] = 1;
  return answers[1];
}

/* What a user's function says no to comes with its reason. */
static void test_user_block(void **state)
{
  (void)state;
  static const unsigned char depends[] = {0};
  static const struct {
    int answers[2], depends;
    const char *words;
  } cases[] = {{{1, 0}, 1, "block 'mine': its function asked for a smaller step"},
               {{-1, 0}, 1, "block 'mine': its function gave up"},
               {{0, -1}, 1, "block 'mine': its function gave up"},
               {{0, 0}, 0, "block 'mine': its Jacobian is not 0 where `depends` is"}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    shop s = shop_open(GA_FORM_SPACE, 0);
    ga_block_user_opts o = ga_block_user_defaults();
    ga_start_opts start = ga_start_defaults();
    ga_control_block *block;
    const ga_input in = {.value = 1};
    double q[1], v[1], x[1];
    start.h = 1e-3;
    memcpy(answers, cases[k].answers, sizeof answers);
    o.n_in = o.n_out = 1, o.function = user_function, o.jacobian = user_jacobian;
    o.depends = cases[k].depends ? NULL : depends;
    assert_status(s.ctx, ga_block_create_user(s.ctx, &o, &block), GA_OK);
    SHOP_ADD(&s, block, "mine", block, &in);
    shop_build(&s);
    assert_status(s.ctx, ga_machine_initial(s.m, q, v, x), GA_OK);
    assert_status(s.ctx, ga_stepper_create(s.ctx, ga_machine_system(s.m), NULL, &s.st), GA_OK);
    assert_int_not_equal(ga_stepper_start(s.st, &start, 0, q, v, x, NULL, NULL, NULL), GA_OK);
    assert_message(&s, (const char *const[]){cases[k].words, NULL});
    shop_close(&s);
  }
}

/* All signals without room for them; a meter that outlives its machine. */
static void test_misuse(void **state)
{
  (void)state;
  shop s = shop_open(GA_FORM_SPACE, 0);
  ga_meter *meter;
  shop_rigid(&s, "body", 0, 0, 0);
  const ga_state *at = shop_start(&s);
  assert_status(s.ctx, ga_machine_signals(s.m, NULL, at, 0, NULL, NULL), GA_ERR_ARGUMENT);
  assert_status(s.ctx, ga_meter_create(ga_machine_context(s.m), s.m, &meter), GA_OK);
  ga_stepper_destroy(&s.st);
  ga_machine_destroy(&s.m);
  ga_meter_destroy(&meter);
  assert_null(meter);
  shop_close(&s);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_screw),          cmocka_unit_test(test_screw_derivatives),
      cmocka_unit_test(test_doubled_signal), cmocka_unit_test(test_turned_over),
      cmocka_unit_test(test_first_values),   cmocka_unit_test(test_user_block),
      cmocka_unit_test(test_misuse),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
