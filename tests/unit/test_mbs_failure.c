/* Equations in words with their units, and why a step failed in terms of parts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "mbs_shop.h"

/* ---- Equations ---- */

/* 1: some equation of the block has these words and this unit. */
static int has(const shop *s, ga_equation_block block, const char *words, const char *unit)
{
  char text[160];
  for (int i = 0; i < ga_system_size(ga_machine_system(s->m), block); i++) {
    const char *its = ga_machine_equation(s->m, block, i, text, sizeof text);
    if (strcmp(text, words) == 0 && strcmp(its, unit) == 0) return 1;
  }
  return 0;
}

static void expect(const shop *s, ga_equation_block block, const char *words, const char *unit)
{
  char text[160];
  if (has(s, block, words, unit)) return;
  for (int i = 0; i < ga_system_size(ga_machine_system(s->m), block); i++) {
    const char *its = ga_machine_equation(s->m, block, i, text, sizeof text);
    print_message("there is: %s [%s]\n", text, its);
  }
  fail_msg("no equation '%s' [%s]", words, unit);
}

static void joint(shop *s, const char *name, ga_joint_kind kind, const char *a, const char *b, double x,
                  double y)
{
  ga_joint_def d = ga_joint_defaults();
  d.name = name, d.kind = kind, d.a = a, d.b = b;
  d.at_pose = 1;
  d.at = ga_pose_at(x, y, 0);
  SHOP_ADD(s, joint, &d);
}

static void drive(shop *s, const char *name, const char *coordinate, const ga_function *f)
{
  ga_drive_def d = ga_drive_defaults();
  d.name = name, d.coordinate = coordinate, d.function = f;
  SHOP_ADD(s, drive, &d);
}

static void rotor(shop *s, const char *name)
{
  ga_scalar_def d = ga_scalar_defaults();
  d.name = name, d.mass = 1, d.rotational = 1;
  SHOP_ADD(s, scalar, &d);
}

static void actuator(shop *s, const char *name, const char *coordinate, const char *expression)
{
  ga_actuator_def d = ga_actuator_defaults();
  d.name = name, d.coordinate = coordinate;
  d.force.expression = expression;
  SHOP_ADD(s, actuator, &d);
}

static void integrator(shop *s, const char *name, const char *input)
{
  const ga_block_integrator_opts o = ga_block_integrator_defaults();
  const ga_input in = {.expression = input};
  ga_control_block *block;
  assert_status(s->ctx, ga_block_create_integrator(s->ctx, &o, &block), GA_OK);
  SHOP_ADD(s, block, name, block, &in);
}

static void test_dynamics(void **state)
{
  (void)state;
  for (int form = GA_FORM_SPACE; form <= GA_FORM_SE3; form++) {
    shop s = shop_open((ga_form)form, -9.81);
    const int space = form == GA_FORM_SPACE;
    shop_rigid(&s, "car", 0, 0, 0);
    shop_planar(&s, "rod", 1, 0);
    shop_point(&s, "bead", 2, 0, 0);
    shop_scalar(&s, "slide", 0, 0);
    rotor(&s, "disk");
    shop_build(&s);
    expect(&s, GA_BLOCK_V,
           space ? "rigid body 'car': force along y" : "rigid body 'car': force along y of its own frame",
           "N");
    expect(&s, GA_BLOCK_V,
           space ? "rigid body 'car': torque about z" : "rigid body 'car': torque about z of its own frame",
           "N*m");
    expect(&s, GA_BLOCK_V, "planar body 'rod': force along x", "N");
    expect(&s, GA_BLOCK_V, "planar body 'rod': torque about z", "N*m");
    expect(&s, GA_BLOCK_V, "mass point 'bead': force along z", "N");
    expect(&s, GA_BLOCK_V, "scalar 'slide': force", "N");
    expect(&s, GA_BLOCK_V, "scalar 'disk': torque", "N*m");
    shop_close(&s);
  }
}

static void test_constraints(void **state)
{
  (void)state;
  shop s = shop_open(GA_FORM_SPACE, -9.81);
  ga_function *f = shop_function(s.ctx, "0.1*t^2");
  ga_rolling_def ball = ga_rolling_defaults();
  shop_rigid(&s, "door", 0, 0, 0);
  shop_rigid(&s, "wheel", 5, 0, 0.4);
  shop_planar(&s, "rod", 1, 0);
  shop_planar(&s, "block", 3, 0);
  rotor(&s, "disk");
  joint(&s, "hinge", GA_JOINT_REVOLUTE, "ground", "door", 0, 0);
  joint(&s, "pin", GA_JOINT_REVOLUTE, "ground", "rod", 1, 0);
  joint(&s, "guide", GA_JOINT_PRISMATIC, "ground", "block", 3, 0);
  drive(&s, "push", "guide.displacement", f);
  drive(&s, "turn", "disk", f);
  ball.name = "ball", ball.kind = GA_ROLLING_SPHERE, ball.body = "wheel", ball.radius = 0.4;
  SHOP_ADD(&s, rolling, &ball);
  actuator(&s, "motor", "hinge.angle", "-2*hinge.angle");
  shop_build(&s);
  expect(&s, GA_BLOCK_LAMBDA, "joint 'hinge': position along x", "m");
  expect(&s, GA_BLOCK_LAMBDA, "joint 'hinge': rotation about x", "rad");
  expect(&s, GA_BLOCK_LAMBDA, "joint 'hinge': coordinate angle", "rad"); /* whose turns are counted */
  expect(&s, GA_BLOCK_V, "joint 'hinge': torque", "N*m");
  expect(&s, GA_BLOCK_LAMBDA, "joint 'pin': position along y", "m");
  expect(&s, GA_BLOCK_LAMBDA, "drive 'push': prescribed motion", "m");
  expect(&s, GA_BLOCK_LAMBDA, "drive 'turn': prescribed motion", "rad");
  expect(&s, GA_BLOCK_ETA, "drive 'turn': rate of the prescribed motion", "rad/s");
  expect(&s, GA_BLOCK_ETA, "joint 'pin': rate of the position along y", "m/s");
  expect(&s, GA_BLOCK_LAMBDA, "rolling 'ball': contact", "m");
  expect(&s, GA_BLOCK_PSI, "rolling 'ball': no slip along x", "m/s");
  ga_function_destroy(&f);
  shop_close(&s);
}

static void test_outputs(void **state)
{
  char text[160];
  (void)state;
  shop s = shop_open(GA_FORM_SPACE, -9.81);
  shop_scalar(&s, "slide", 0, 1);
  integrator(&s, "sum", "3*slide.rate");
  actuator(&s, "motor", "slide", "-2*sum - slide");
  rotor(&s, "disk");
  actuator(&s, "brake", "disk", "-3*disk.rate");
  integrator(&s, "heat", "disk.rate^2");
  shop_rigid(&s, "car", 5, 0, 0);
  ga_force_def push = ga_force_defaults();
  push.name = "push", push.frame = "car";
  push.force[1].expression = "1 - car.vy";
  push.torque[2].expression = "2 - car.wz";
  SHOP_ADD(&s, force, &push);
  assert_string_equal(ga_machine_equation(s.m, GA_BLOCK_V, 0, text, sizeof text), ""); /* not built */
  assert_string_equal(text, "");
  shop_build(&s);
  expect(&s, GA_BLOCK_X, "block 'sum': state 1", "");
  expect(&s, GA_BLOCK_Y, "block 'sum': output 1", "");
  expect(&s, GA_BLOCK_Y, "signal 'slide.rate'", "m/s");
  expect(&s, GA_BLOCK_Y, "actuator 'motor': expression '-2*sum - slide'", "N");
  expect(&s, GA_BLOCK_Y, "actuator 'brake': expression '-3*disk.rate'", "N*m");
  expect(&s, GA_BLOCK_Y, "force 'push': expression '1 - car.vy'", "N");
  expect(&s, GA_BLOCK_Y, "force 'push': expression '2 - car.wz'", "N*m");
  expect(&s, GA_BLOCK_Y, "block 'heat': expression 'disk.rate^2'", "");
  assert_string_equal(ga_machine_equation(s.m, GA_BLOCK_V, 8, text, sizeof text), "");
  assert_string_equal(ga_machine_equation(s.m, GA_BLOCK_PSI, 0, text, sizeof text), "");
  assert_string_equal(ga_machine_equation(s.m, (ga_equation_block)9, 0, text, sizeof text), "");
  assert_string_equal(ga_machine_equation(NULL, GA_BLOCK_V, 0, text, sizeof text), "");
  assert_string_equal(ga_machine_equation(s.m, GA_BLOCK_V, 0, text, 8), "N"); /* cut as snprintf does */
  assert_string_equal(text, "scalar ");
  shop_close(&s);
}

/* ---- Failures ---- */

static void fail_to_step(shop *s, double h, int most)
{
  ga_status status = GA_OK;
  for (int i = 0; i < most && !status; i++) status = ga_stepper_step(s->st, h);
  assert_true(status > 0);
}

static void says(shop *s, const char *const *words)
{
  char text[4096], cut[12];
  const ga_error error = *ga_context_error(s->ctx);
  const int length = ga_machine_failure(s->m, s->st, text, sizeof text);
  assert_int_equal(length, (int)strlen(text));
  assert_int_equal(ga_machine_failure(s->m, s->st, cut, sizeof cut), length);
  assert_int_equal(strlen(cut), sizeof cut - 1);
  assert_memory_equal(&error, ga_context_error(s->ctx), sizeof error);
  for (; *words; words++)
    if (!strstr(text, *words)) fail_msg("'%s' is not in\n%s", *words, text);
}

/* A mass whose actuator switches with its acceleration: no step has a solution. */
static void test_switching_force(void **state)
{
  (void)state;
  shop s = shop_open(GA_FORM_SPACE, -9.81);
  const char *const words[] = {
      "a step of 0.01 s from t = ", " failed: Newton's iteration did not converge",
      "largest residual: actuator 'relay': expression 'if(slide + slide.rate > 0, -10, 10)' "
      "is off by ",
      " N\n", NULL};
  shop_scalar(&s, "slide", 1, 0);
  actuator(&s, "relay", "slide", "if(slide + slide.rate > 0, -10, 10)");
  shop_start(&s);
  assert_int_equal(ga_machine_failure(s.m, s.st, NULL, 0), 0);
  fail_to_step(&s, 0.01, 100);
  says(&s, words);
  assert_int_equal(ga_machine_failure(s.m, NULL, NULL, 0), 0);
  assert_int_equal(ga_machine_failure(NULL, s.st, NULL, 0), 0);
  shop_close(&s);
}

/* The force of a law is named where it is the largest of those that act on the body. */
static void test_largest_force(void **state)
{
  (void)state;
  shop s = shop_open(GA_FORM_SPACE, -9.81);
  ga_spring_def stiff = ga_spring_defaults(), soft = ga_spring_defaults();
  const char *const words[] = {"largest residual: mass point 'bead': force along x is off by ", " N, ",
                               " of the largest term; the largest force there is that of spring 'stiff', ",
                               NULL};
  shop_point(&s, "bead", 1, 0, 0);
  shop_marker(&s, "wall", "ground", 0, 0, 0);
  stiff.name = "stiff", stiff.a = "wall", stiff.b = "bead", stiff.rest = 0.5;
  stiff.expression = "if(t < 0.125, l, if(l + 0.01*v > 1.0009, 1e8*(l + 0.01*v), -1e8*l))";
  soft = stiff;
  soft.name = "soft", soft.expression = NULL, soft.stiffness = 10;
  SHOP_ADD(&s, spring, &soft);
  SHOP_ADD(&s, spring, &stiff);
  shop_start(&s);
  fail_to_step(&s, 0.01, 100);
  says(&s, words);
  shop_close(&s);
}

/* A slider that is driven to where its rod does not reach. */
static void test_drive(void **state)
{
  (void)state;
  shop s = shop_open(GA_FORM_SPACE, 0);
  ga_function *f = shop_function(s.ctx, "0.3*t^2");
  ga_joint_def rod = ga_joint_defaults();
  const char *const words[] = {"a step of 0.01 s from t = 1.33",
                               " failed: ",
                               "largest residual: ",
                               "drive 'push' prescribes guide.displacement = 0.5",
                               " m, rate 0.798 m/s",
                               "joint 'rod': length is off by ",
                               NULL};
  shop_planar(&s, "crank", 0, 0);
  shop_planar(&s, "slider", 0.8, 0);
  joint(&s, "main", GA_JOINT_REVOLUTE, "ground", "crank", 0, 0);
  joint(&s, "guide", GA_JOINT_PRISMATIC, "ground", "slider", 0.8, 0);
  shop_marker(&s, "end", "crank", 0.3, 0.4, 0);
  rod.name = "rod", rod.kind = GA_JOINT_DISTANCE, rod.a = "end", rod.b = "slider";
  SHOP_ADD(&s, joint, &rod);
  drive(&s, "push", "guide.displacement", f);
  shop_start(&s);
  fail_to_step(&s, 0.01, 300);
  says(&s, words);
  ga_function_destroy(&f);
  shop_close(&s);
}

/* A step taken back says how its drives would go on. */
static void test_jump(void **state)
{
  (void)state;
  shop s = shop_open(GA_FORM_SPACE, 0);
  ga_function *f = shop_function(s.ctx, "if(t < 0.095, 0.2*t^2, 0.5)"),
              *smooth = shop_function(s.ctx, "0.2*t^2");
  const char *const words[] = {"was made and taken back\n",
                               "drive 'lead' prescribes slide = 0.00162 m, rate 0.036 m/s, "
                               "and 0.5 m at the end of the step\n",
                               "drive 'follow' prescribes other = 0.00162 m, rate 0.036 m/s\n", NULL};
  shop_scalar(&s, "slide", 0, 0);
  shop_scalar(&s, "other", 0, 0);
  drive(&s, "lead", "slide", f);
  drive(&s, "follow", "other", smooth);
  shop_start(&s);
  for (int i = 0; i < 10; i++) assert_status(s.ctx, ga_stepper_step(s.st, 0.01), GA_OK);
  assert_status(s.ctx, ga_stepper_undo(s.st), GA_OK);
  says(&s, words);
  ga_function_destroy(&f);
  ga_function_destroy(&smooth);
  shop_close(&s);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_dynamics),      cmocka_unit_test(test_constraints),
      cmocka_unit_test(test_outputs),       cmocka_unit_test(test_switching_force),
      cmocka_unit_test(test_largest_force), cmocka_unit_test(test_drive),
      cmocka_unit_test(test_jump),
  };
  return cmocka_run_group_tests_name("mbs: failures", tests, NULL, NULL);
}
