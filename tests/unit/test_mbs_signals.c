/* Roll, pitch and yaw, tensions, forces of laws and of what rolls, fed back and recorded; expressions of
 * signals under a name. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "mbs_shop.h"

static const double PI = 3.14159265358979324;

static void add_use(shop *s, const char *name, const char *expression)
{
  ga_force_def f = ga_force_defaults();
  f.name = name, f.frame = "box";
  f.force[1].expression = expression;
  SHOP_ADD(s, force, &f);
}

static void add_signal(shop *s, const char *name, const char *expression, const char *unit)
{
  const ga_signal_def d = {name, expression, unit};
  SHOP_ADD(s, signal, &d);
}

/* ---- Derivatives ---- */

static void add_laws(shop *s)
{
  ga_spring_def spring = ga_spring_defaults();
  ga_actuator_def actuator = ga_actuator_defaults();
  ga_friction_def friction = ga_friction_defaults();
  ga_bushing_def bushing = ga_bushing_defaults();
  ga_contact_def contact = ga_contact_defaults();
  spring.name = "spring", spring.a = "ground", spring.b = "tip";
  spring.stiffness = 30, spring.damping = 2, spring.rest = 0.4;
  spring.expression = "3*l*v + t*v + box.x*l";
  actuator.name = "actuator", actuator.a = "tip", actuator.b = "box", actuator.force.expression = "2*box.vy";
  friction.name = "friction", friction.a = "body", friction.b = "box";
  friction.level.expression = "1 + box.x^2", friction.speed = 0.5;
  bushing.name = "bushing", bushing.a = "tip", bushing.b = "box";
  for (int i = 0; i < 36; i++) bushing.stiffness[i] = 1 + i % 7, bushing.damping[i] = 0.1 * (i % 5);
  contact.name = "contact", contact.plane = "ground", contact.point = "body";
  contact.radius = 3, contact.stiffness = 10, contact.dissipation = 0.1, contact.mu = 0.3,
  contact.speed = 0.2;
  SHOP_ADD(s, spring, &spring);
  SHOP_ADD(s, actuator, &actuator);
  SHOP_ADD(s, friction, &friction);
  SHOP_ADD(s, bushing, &bushing);
  SHOP_ADD(s, contact, &contact);
}

static void derivatives_are_exact(void **state)
{
  (void)state;
  for (int form = 0; form < 3; form++) {
    rig_random random = rig_seed(form);
    shop s = shop_open((ga_form)form, -9.81);
    ga_joint_def rod = ga_joint_defaults();
    shop_rigid(&s, "body", 0.5, 0.2, 0.4);
    shop_rigid(&s, "box", 1.5, 0.3, 0.2);
    shop_marker(&s, "tip", "body", 0.2, -0.1, 0.15);
    rod.name = "rod", rod.kind = GA_JOINT_DISTANCE, rod.a = "tip", rod.b = "box";
    SHOP_ADD(&s, joint, &rod);
    add_laws(&s);
    add_use(&s, "angles", "body.roll*body.pitch + 2*body.yaw + tip.roll - tip.pitch*tip.yaw");
    add_use(&s, "pull", "rod.tension*sin(t) + 2*rod.fx");
    add_use(&s, "forces", "spring.force + 2*actuator.force*friction.force - contact.normal");
    add_use(&s, "bushes", "bushing.fx*bushing.fy + bushing.fz - bushing.mx*bushing.my + bushing.mz");
    add_signal(&s, "sum", "body.yaw*spring.force + other", NULL);
    add_signal(&s, "other", "rod.tension*t", NULL);
    add_use(&s, "named", "sum^2");
    shop_build(&s);
    shop_check(&s, &random, rig_brief() ? 1 : 4, 0.3, 1e-6, SHOP_FORM[form]);
    shop_close(&s);
  }
}

static void derivatives_of_rolling_are_exact(void **state)
{
  (void)state;
  for (int kind = 0; kind < 3; kind++)
    for (int form = 0; form < 3; form++) {
      rig_random random = rig_seed(10 * kind + form);
      shop s = shop_open((ga_form)form, -9.81);
      ga_rolling_def d = ga_rolling_defaults();
      shop_rigid(&s, "wheel", 0.5, 0.2, 0.4);
      shop_rigid(&s, "box", 1.5, 0.3, 0.2);
      shop_marker(&s, "hub", "wheel", 0.2, -0.1, 0.15);
      shop_marker(&s, "slope", "ground", 0.1, -0.2, 0.3);
      d.name = "roll", d.kind = (ga_rolling_kind)kind, d.body = "hub", d.plane = "slope";
      if (kind != GA_ROLLING_KNIFE) d.radius = 0.4;
      SHOP_ADD(&s, rolling, &d);
      add_use(&s, "forces", "roll.fx*roll.fy + 2*roll.fz + t*roll.tangential");
      if (kind != GA_ROLLING_KNIFE) add_use(&s, "place", "roll.px*roll.py - 3*roll.pz + roll.normal");
      shop_build(&s);
      shop_check(&s, &random, rig_brief() ? 1 : 4, 0.4, 1e-6, SHOP_FORM[form]);
      shop_close(&s);
    }
}

/* ---- Values ---- */

/* Rz(yaw) Ry(pitch) Rx(roll) gives the rotation back, also where the x axis is vertical. */
static void angles_describe_the_rotation(void **state)
{
  static const double CASE[][3] = {
      {0.3, -0.7, 2.9}, {-3.0, 1.2, -3.1}, {0.4, 1.5707963267948966, 0.9}, {-2.0, -1.5707963267948966, 1.3},
      {0, 0, 3.14159},  {1e-3, 1.5707, -2}};
  (void)state;
  for (size_t i = 0; i < sizeof CASE / sizeof *CASE; i++)
    for (int form = 0; form < 3; form++) {
      shop s = shop_open((ga_form)form, 0);
      ga_rigid_def d = ga_rigid_defaults();
      d.name = "body", d.mass = 1;
      d.inertia[0] = d.inertia[1] = d.inertia[2] = 1;
      const double angle[3] = {CASE[i][2], CASE[i][1], CASE[i][0]};
      assert_int_equal(ga_rotation_euler(s.ctx, "zyx", angle, d.pose.rotation), GA_OK);
      SHOP_ADD(&s, rigid, &d);
      const ga_state *st = shop_start(&s);
      const double found[3] = {shop_signal(&s, st, "body.yaw"), shop_signal(&s, st, "body.pitch"),
                               shop_signal(&s, st, "body.roll")};
      double R[9];
      assert_int_equal(ga_rotation_euler(s.ctx, "zyx", found, R), GA_OK);
      for (int k = 0; k < 9; k++) assert_near(R[k], d.pose.rotation[k], 1e-13, "rotation");
      if (fabs(CASE[i][1]) < 1.5707)
        for (int k = 0; k < 3; k++) assert_near(found[k], angle[k], 1e-9, "angle");
      shop_close(&s);
    }
}

static void vertical_axis_is_refused_in_feedback(void **state)
{
  shop s = shop_open(GA_FORM_SPACE, 0);
  ga_rigid_def d = ga_rigid_defaults();
  double q[RIG_MOST], v[RIG_MOST], x[RIG_MOST];
  const ga_stepper_opts opts = ga_stepper_defaults();
  ga_start_opts o = ga_start_defaults();
  const double y[3] = {0, 1, 0};
  (void)state;
  o.h = 1e-3;
  d.name = "box", d.mass = 1;
  d.inertia[0] = d.inertia[1] = d.inertia[2] = 1;
  assert_int_equal(ga_rotation_axis_angle(s.ctx, y, PI / 2, d.pose.rotation), GA_OK);
  SHOP_ADD(&s, rigid, &d);
  add_use(&s, "use", "box.yaw");
  shop_build(&s);
  assert_status(s.ctx, ga_machine_initial(s.m, q, v, x), GA_OK);
  assert_status(s.ctx, ga_stepper_create(s.ctx, ga_machine_system(s.m), &opts, &s.st), GA_OK);
  assert_true(ga_stepper_start(s.st, &o, 0, q, v, x, NULL, NULL, NULL) != GA_OK);
  assert_non_null(strstr(ga_context_error(s.ctx)->text, "box.yaw"));
  assert_non_null(strstr(ga_context_error(s.ctx)->text, "vertical"));
  shop_close(&s);
}

/* A pendulum of a point on a rope or rod: tension m g cos α + m v²/l. */
static void rope_pulls(void **state)
{
  const double alpha = 0.6, g = 9.81, speed = 1.7, length = 1.3, mass = 2;
  (void)state;
  for (int form = 0; form < 3; form++)
    for (int rope = 0; rope < 2; rope++) {
      shop s = shop_open((ga_form)form, -g);
      ga_point_def d = ga_point_defaults();
      ga_joint_def joint = ga_joint_defaults();
      d.name = "load", d.mass = mass;
      d.position[0] = length * sin(alpha), d.position[2] = -length * cos(alpha);
      d.velocity[0] = speed * cos(alpha), d.velocity[2] = speed * sin(alpha);
      SHOP_ADD(&s, point, &d);
      joint.name = "rope", joint.kind = GA_JOINT_DISTANCE, joint.rope = rope;
      joint.a = rope ? "ground" : "load", joint.b = rope ? "load" : "ground";
      SHOP_ADD(&s, joint, &joint);
      add_signal(&s, "factor", "rope.tension/19.62", "1");
      const ga_state *st = shop_start(&s);
      const double expected = mass * (g * cos(alpha) + speed * speed / length);
      assert_near(shop_signal(&s, st, "rope.tension"), expected, 1e-9, "tension");
      assert_near(shop_signal(&s, st, "factor"), expected / 19.62, 1e-9, "named signal");
      assert_string_equal(ga_machine_signal_unit(s.m, ga_machine_find_signal(s.m, "factor")), "");
      shop_close(&s);
    }
}

/* A ball on a slope: it is held back by 2/7 m g sin α, pressed by m g cos α, and touches below its centre. */
static void ball_on_a_slope(void **state)
{
  const double alpha = 0.3, g = 10, mass = 3, radius = 0.4;
  (void)state;
  for (int form = 0; form < 3; form++) {
    shop s = shop_open((ga_form)form, -g);
    ga_rigid_def ball = ga_rigid_defaults();
    ga_rolling_def roll = ga_rolling_defaults();
    shop_turned(&s, "slope", "ground", 0, 0, 0, 1, alpha);
    ball.name = "ball", ball.mass = mass;
    for (int i = 0; i < 3; i++) ball.inertia[i] = 0.4 * mass * radius * radius;
    ball.pose = ga_pose_at(radius * sin(alpha), 0, radius * cos(alpha));
    roll.name = "roll", roll.kind = GA_ROLLING_SPHERE, roll.body = "ball", roll.plane = "slope";
    roll.radius = radius;
    SHOP_ADD(&s, rigid, &ball);
    SHOP_ADD(&s, rolling, &roll);
    const ga_state *st = shop_start(&s);
    const double T = 2.0 / 7 * mass * g * sin(alpha), N = mass * g * cos(alpha);
    assert_near(shop_signal(&s, st, "roll.tangential"), T, 1e-9, "tangential force");
    assert_near(shop_signal(&s, st, "roll.fx"), N * sin(alpha) - T * cos(alpha), 1e-9, "force along x");
    assert_near(shop_signal(&s, st, "roll.fz"), N * cos(alpha) + T * sin(alpha), 1e-9, "force along z");
    for (int i = 0; i < 3; i++)
      assert_near(shop_signal(&s, st, (const char *const[]){"roll.px", "roll.py", "roll.pz"}[i]), 0, 1e-12,
                  "place");
    shop_close(&s);
  }
}

/* A spin about z, stopped by a torque that depends on the yaw: it jumps by a full turn at ±π, where a step
 * ends. With ψ'' = −yaw/4, yaw within half a turn, the motion between two jumps is that of an oscillator. */
static void yaw_jumps_are_met(void **state)
{
  shop s = shop_open(GA_FORM_SPACE, 0);
  ga_rigid_def d = ga_rigid_defaults();
  ga_force_def f = ga_force_defaults();
  ga_simulate_opts o = ga_simulate_defaults();
  ga_simulator *sim = NULL;
  double q[RIG_MOST], v[RIG_MOST], x[RIG_MOST];
  const ga_stepper_opts opts = ga_stepper_defaults();
  (void)state;
  d.name = "box", d.mass = 1, d.omega[2] = 2.5;
  d.inertia[0] = d.inertia[1] = d.inertia[2] = 1;
  SHOP_ADD(&s, rigid, &d);
  f.name = "brake", f.frame = "box", f.torque[2].expression = "-box.yaw/4";
  SHOP_ADD(&s, force, &f);
  shop_build(&s);
  assert_status(s.ctx, ga_machine_initial(s.m, q, v, x), GA_OK);
  assert_status(s.ctx, ga_stepper_create(s.ctx, ga_machine_system(s.m), &opts, &s.st), GA_OK);
  o.t_end = 3, o.rtol = o.rtol_v = 1e-9, o.atol = o.atol_v = 1e-11;
  assert_status(s.ctx, ga_simulator_create(s.ctx, s.st, &o, &sim), GA_OK);
  assert_status(s.ctx, ga_simulator_start(sim, NULL, 0, q, v, x, NULL, NULL, NULL), GA_OK);
  assert_status(s.ctx, ga_simulator_run(sim), GA_OK);
  /* ψ = 5 sin(t/2) until π at t = 2 asin(π/5); then from −π with the same rate */
  const double first = 2 * asin(PI / 5), rate = 2.5 * cos(first / 2), left = 3 - first;
  const double yaw = -PI * cos(left / 2) + 2 * rate * sin(left / 2);
  const ga_state *st = ga_stepper_state(s.st);
  assert_near(shop_signal(&s, st, "box.yaw"), yaw, 2e-6, "yaw behind its jump");
  ga_simulator_destroy(&sim);
  shop_close(&s);
}

/* ---- What is refused ---- */

static void refuse(shop *s, const char *word)
{
  assert_int_equal(ga_machine_build(s->m), GA_ERR_ARGUMENT);
  if (!strstr(ga_context_error(s->ctx)->text, word)) fail_msg("%s", ga_context_error(s->ctx)->text);
  shop_close(s);
}

static void wrong_definitions_are_refused(void **state)
{
  static const struct {
    const char *expression, *unit, *word;
  } CASE[] = {{"body.x + body.vx", NULL, "'odd'"}, {"body.x + 2", "kg", "mass"},
              {"body.x", "parsec", "unit"},        {"body.xx", NULL, "body.x"},
              {"energy.kinetic", NULL, "energy"},  {"2*", NULL, "ends too early"}};
  (void)state;
  for (size_t i = 0; i < sizeof CASE / sizeof *CASE; i++) {
    shop s = shop_open(GA_FORM_SPACE, 0);
    shop_rigid(&s, "body", 0, 0, 0);
    add_signal(&s, "odd", CASE[i].expression, CASE[i].unit);
    refuse(&s, CASE[i].word);
  }
  shop s = shop_open(GA_FORM_SPACE, 0);
  ga_constraint_def c = ga_constraint_defaults();
  shop_rigid(&s, "body", 0, 0, 0);
  c.name = "hold", c.zero = "body.yaw";
  SHOP_ADD(&s, constraint, &c);
  refuse(&s, "full turn");
}

static shop many_signals(void)
{
  shop s = shop_open(GA_FORM_SPACE, -9.81);
  shop_rigid(&s, "body", 0.5, 0.2, 0.4);
  shop_rigid(&s, "box", 1.5, 0.3, 0.2);
  shop_marker(&s, "tip", "body", 0.2, -0.1, 0.15);
  add_laws(&s);
  add_signal(&s, "one", "two + spring.force", "N");
  add_signal(&s, "two", "bushing.mx*body.roll", NULL);
  return s;
}

static void memory_may_fail(void **state)
{
  (void)state;
  shop_fail_memory(many_signals);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(derivatives_are_exact),
      cmocka_unit_test(derivatives_of_rolling_are_exact),
      cmocka_unit_test(angles_describe_the_rotation),
      cmocka_unit_test(vertical_axis_is_refused_in_feedback),
      cmocka_unit_test(rope_pulls),
      cmocka_unit_test(ball_on_a_slope),
      cmocka_unit_test(yaw_jumps_are_met),
      cmocka_unit_test(wrong_definitions_are_refused),
      cmocka_unit_test(memory_may_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
