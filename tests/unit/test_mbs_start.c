/* Starts of machines: signals at the true state, initial values of joints, assembly, reports. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "mbs_shop.h"

/* ---- What the tests share ---- */

static void add_rod(shop *s, const char *name, double x, double y)
{
  ga_rigid_def d = ga_rigid_defaults();
  d.name = name;
  d.mass = 2.0;
  d.inertia[0] = 0.01, d.inertia[1] = d.inertia[2] = 0.2;
  d.com[0] = 0.5;
  d.pose.position[0] = x, d.pose.position[1] = y;
  SHOP_ADD(s, rigid, &d);
}

static void add_marker(shop *s, const char *name, const char *body, double x)
{
  ga_marker_def d = ga_marker_defaults();
  d.name = name;
  d.body = body;
  d.pose.position[0] = x;
  SHOP_ADD(s, marker, &d);
}

static void add_hinge(shop *s, const char *name, const char *a, const char *b)
{
  ga_joint_def d = ga_joint_defaults();
  d.name = name;
  d.kind = GA_JOINT_REVOLUTE;
  d.a = a;
  d.b = b;
  SHOP_ADD(s, joint, &d);
}

static ga_status start(shop *s, ga_start_report *report)
{
  double q[64], v[64], x[16];
  ga_stepper_opts o = ga_stepper_defaults();
  ga_start_opts so = ga_start_defaults();
  so.h = 1e-3;
  ga_stepper_destroy(&s->st);
  ga_status status = ga_machine_initial(s->m, q, v, x);
  if (!status) status = ga_stepper_create(s->ctx, ga_machine_system(s->m), &o, &s->st);
  return status ? status : ga_stepper_start(s->st, &so, 0.0, q, v, x, NULL, NULL, report);
}

static double signal(shop *s, const char *name)
{
  const int i = ga_machine_find_signal(s->m, name);
  double value;
  if (i < 0) fail_msg("there is no signal '%s'", name);
  assert_status(s->ctx, ga_machine_signals(s->m, NULL, ga_stepper_state(s->st), 1, &i, &value), GA_OK);
  return value;
}

/* ---- Signals in expressions ---- */

/* A rod on a hinge at the origin, along x, under gravity in y, with a force in y at its tip. */
static shop rod_with_force(ga_form form, const char *expression)
{
  shop s = shop_open(form, -9.81);
  ga_force_def f = ga_force_defaults();
  add_rod(&s, "rod", 0.01, 0.0); /* off the hinge by a centimetre */
  add_marker(&s, "tip", "rod", 1.0);
  add_hinge(&s, "hinge", "ground", "rod");
  f.name = "f";
  f.frame = "tip";
  f.force[1].expression = expression;
  SHOP_ADD(&s, force, &f);
  assert_status(s.ctx, ga_machine_build(s.m), GA_OK);
  return s;
}

static void expressions_see_the_true_state(void **state)
{
  static const char *const text[] = {"1/tip.x",          "sqrt(tip.x)",        "log(tip.x)",   "tip.y/tip.x",
                                     "1/(1 + hinge.mx)", "10/(hinge.fz + 10)", "2/hinge.fz^2", "1/tip.az"};
  (void)state;
  for (int form = GA_FORM_SPACE; form <= GA_FORM_SE3; form++)
    for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
      shop s = rod_with_force((ga_form)form, text[i]);
      ga_start_report report;
      const ga_status status = start(&s, &report);
      if (i == 7) { /* the hinge's axis is z: there is no acceleration along it */
        assert_status(s.ctx, status, GA_ERR_INCONSISTENT);
        assert_says(s.ctx, "force 'f': 1/tip.az is undefined while the start is computed, t = 0 (tip.az = ");
        assert_null(strstr(ga_context_error(s.ctx)->text, "smaller step"));
      } else {
        assert_status(s.ctx, status, GA_OK);
        assert_true(report.position.change > 1e-3); /* it was moved onto its hinge first */
      }
      if (i == 0) /* J' = 0.2 + 2·0.25 about the hinge */
        assert_near(signal(&s, "hinge.angle_acc"), 1.0 / (0.2 + 2.0 * 0.25), 1e-12, text[i]);
      shop_close(&s);
    }
}

static void undefined_expressions_are_named(void **state)
{
  static const struct {
    const char *text, *said;
  } cases[] = {{"1/tip.y", "force 'f': 1/tip.y is undefined while the start is computed, t = 0 (tip.y = 0)"},
               {"log(tip.x - 2)",
                "force 'f': log(tip.x - 2) is undefined while the start is computed, t = 0 (tip.x = 1)"},
               {"tip.y/tip.vx", "(tip.y = 0, tip.vx = 0)"},
               {"1/(hinge.fx - hinge.fx)", "(hinge.fx = "}};
  (void)state;
  for (int form = GA_FORM_SPACE; form <= GA_FORM_SE3; form++)
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
      shop s = rod_with_force((ga_form)form, cases[i].text);
      assert_status(s.ctx, start(&s, NULL), GA_ERR_INCONSISTENT);
      assert_says(s.ctx, cases[i].said);
      assert_null(strstr(ga_context_error(s.ctx)->text, "smaller step"));
      shop_close(&s);
    }
}

/* ---- Guesses ---- */

/* A box of 2 kg. What holds it up, N, and a force P(N) = N²/20 carry its weight W = 19.62 N, so that N² + 20
 * N = 20 W: two solutions, −10 ± √(100 + 20 W). The same equation for an acceleration, and for the output of
 * a block. */
enum { BY_RAIL, BY_DRIVE, BY_SENSOR, BY_ROLLING, BY_ACCELERATION, BY_BLOCK, N_GUESSED };
static const char *const GUESSED[] = {"rail.fz", "lift.force", "cell.z", "wheel.normal", "box.az", "loop"};

static void add_rail(shop *s, double x, double z)
{
  const double along[3] = {x, 0, z};
  ga_joint_def rail = ga_joint_defaults();
  rail.name = "rail", rail.kind = GA_JOINT_PRISMATIC, rail.a = "ground", rail.b = "box", rail.at_pose = 1;
  assert_int_equal(ga_rotation_z_axis(s->ctx, along, NULL, rail.at.rotation), GA_OK);
  SHOP_ADD(s, joint, &rail);
}

static void add_loop(shop *s)
{
  static const char *const names[] = {"y"}, *const texts[] = {"y - (y^2 + 20*y - 392.4)/20"};
  ga_control_block *block = NULL;
  ga_block_expression_opts o = ga_block_expression_defaults();
  const ga_input in = {0, NULL, "loop"};
  o.n_in = 1, o.inputs = names, o.texts = texts;
  assert_status(s->ctx, ga_block_create_expression(s->ctx, &o, NULL, NULL, &block), GA_OK);
  assert_status(s->ctx, ga_machine_add_block(s->m, "loop", block, &in), GA_OK);
}

static void add_guess(shop *s, const char *name, const char *signal, double value)
{
  ga_guess_def g = ga_guess_defaults();
  g.name = name, g.signal = signal, g.value = value;
  SHOP_ADD(s, guess, &g);
}

/* f: of the drive, 0 for all time. power 2: as above; 3: the drive's force is held against the box by all but
 * its cube. */
static shop held_box(int by, int power, const ga_function *f)
{
  shop s = shop_open(GA_FORM_SPACE, -9.81);
  ga_rigid_def box = ga_rigid_defaults();
  ga_force_def force = ga_force_defaults();
  static const char *const text[] = {"rail.fz^2/20",
                                     "lift.force^2/20",
                                     "cell.z^2/20",
                                     "wheel.normal^2/20",
                                     "19.62 + 2*box.az + (box.az^2 + 20*box.az - 392.4)/20",
                                     "0*loop"};
  box.name = "box", box.mass = 2.0, box.inertia[0] = box.inertia[1] = box.inertia[2] = 0.1;
  box.pose.position[2] = by == BY_ROLLING ? 0.5 : 0.0;
  SHOP_ADD(&s, rigid, &box);
  if (by == BY_RAIL || by == BY_SENSOR) add_rail(&s, 1, 0);
  if (by == BY_SENSOR) {
    ga_sensor_def cell = ga_sensor_defaults();
    cell.name = "cell", cell.kind = GA_SENSOR_REACTION_FORCE, cell.of = "rail";
    SHOP_ADD(&s, sensor, &cell);
  }
  if (by == BY_DRIVE) {
    ga_drive_def lift = ga_drive_defaults();
    add_rail(&s, 0, 1);
    lift.name = "lift", lift.coordinate = "rail.displacement", lift.function = f;
    SHOP_ADD(&s, drive, &lift);
  }
  if (by == BY_ROLLING) {
    ga_rolling_def wheel = ga_rolling_defaults();
    wheel.name = "wheel", wheel.kind = GA_ROLLING_SPHERE, wheel.body = "box", wheel.radius = 0.5;
    SHOP_ADD(&s, rolling, &wheel);
  }
  if (by == BY_BLOCK) add_loop(&s);
  force.name = "P", force.frame = "box";
  force.force[2].expression = power == 2 ? text[by] : "lift.force^3/100 - lift.force";
  SHOP_ADD(&s, force, &force);
  return s;
}

static void guesses_choose_a_solution(void **state)
{
  static const double guess[] = {NAN, 5.0, -50.0};
  const double root = sqrt(100.0 + 20.0 * 19.62), expected[] = {root - 10.0, root - 10.0, -root - 10.0};
  (void)state;
  for (int by = 0; by < N_GUESSED; by++)
    for (int k = 0; k < 3; k++) {
      ga_function *f = NULL;
      ga_context *ctx = NULL;
      assert_int_equal(ga_context_create(NULL, &ctx), GA_OK);
      assert_int_equal(ga_function_create_constant(ctx, 0.0, &f), GA_OK);
      shop s = held_box(by, 2, f);
      if (!isnan(guess[k])) add_guess(&s, "near", GUESSED[by], guess[k]);
      assert_status(s.ctx, ga_machine_build(s.m), GA_OK);
      assert_status(s.ctx, start(&s, NULL), GA_OK);
      assert_near(signal(&s, GUESSED[by]), expected[k], 1e-10, GUESSED[by]);
      shop_close(&s);
      ga_function_destroy(&f);
      ga_context_destroy(&ctx);
    }
}

/* The force of the drive is −λ; the only force on the box along z is its cube, with derivative 0 at 0. */
static void guesses_where_zero_fails(void **state)
{
  (void)state;
  for (int given = 0; given < 2; given++) {
    ga_function *f = NULL;
    ga_context *ctx = NULL;
    assert_int_equal(ga_context_create(NULL, &ctx), GA_OK);
    assert_int_equal(ga_function_create_constant(ctx, 0.0, &f), GA_OK);
    shop s = held_box(BY_DRIVE, 3, f);
    if (given) add_guess(&s, "near", "lift.force", 10.0);
    assert_status(s.ctx, ga_machine_build(s.m), GA_OK);
    const ga_status status = start(&s, NULL);
    if (given) {
      assert_status(s.ctx, status, GA_OK);
      assert_near(signal(&s, "lift.force"), cbrt(1962.0), 1e-10, "force");
    } else {
      assert_true(status < 0);
      assert_says(s.ctx, "the section 'guesses' of a model");
      assert_says(s.ctx, "P: lift.force^3/100 - lift.force");
    }
    shop_close(&s);
    ga_function_destroy(&f);
    ga_context_destroy(&ctx);
  }
}

static void guesses_that_cannot_be(void **state)
{
  static const struct {
    const char *signal;
    ga_reason reason;
    const char *part;
  } cases[] = {{"box.vz", GA_REASON_GUESS_OF_KNOWN, "near"},
               {"rail.fx", GA_REASON_GUESS_UNUSED, "near"},
               {"rial.fz", GA_REASON_UNKNOWN_SIGNAL, "near"},
               {"energy.kinetic", GA_REASON_ENERGY_NOT_FED_BACK, "near"},
               {"rail.fz", GA_REASON_GUESS_TWICE, "twice"}};
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    shop s = held_box(BY_RAIL, 2, NULL);
    ga_force_def other = ga_force_defaults();
    other.name = "other", other.frame = "box", other.force[0].expression = "0.1*box.vz";
    SHOP_ADD(&s, force, &other);
    add_guess(&s, "near", cases[i].signal, 1.0);
    if (i == 4) add_guess(&s, "twice", cases[i].signal, 2.0);
    assert_status(s.ctx, ga_machine_build(s.m), GA_ERR_ARGUMENT);
    assert_error(s.ctx, cases[i].reason, cases[i].part, "signal", cases[i].signal);
    shop_close(&s);
  }
}

/* ---- Weights ---- */

/* Bodies A of 2 kg and B of 3 kg, 2 m apart, are tied to 1 m: of that m each is moved by the other's part of
 * mass times weight. kind 0: points, 1: planar bodies, 2: rigid ones. Returns how far A goes. */
static double tied(int kind, ga_form form, double weight_a, double weight_b, ga_hold hold_a)
{
  static const char *const names[] = {"A", "B"};
  shop s = shop_open(form, 0);
  ga_joint_def tie = ga_joint_defaults();
  for (int i = 0; i < 2; i++) {
    ga_point_def point = ga_point_defaults();
    ga_planar_def planar = ga_planar_defaults();
    ga_rigid_def rigid = ga_rigid_defaults();
    const double weight = i ? weight_b : weight_a, mass = i ? 3.0 : 2.0, x = 0.5 + 1.2 * i, y = 0.3 + 1.6 * i;
    const ga_hold hold = i ? GA_HOLD_NONE : hold_a;
    point.name = planar.name = rigid.name = names[i];
    point.mass = planar.mass = rigid.mass = mass;
    point.weight = planar.weight = rigid.weight = weight;
    point.hold = planar.hold = rigid.hold = hold;
    planar.inertia = rigid.inertia[0] = rigid.inertia[1] = rigid.inertia[2] = 0.1;
    point.position[0] = planar.position[0] = rigid.pose.position[0] = x;
    point.position[1] = planar.position[1] = rigid.pose.position[1] = y;
    if (kind == 0) SHOP_ADD(&s, point, &point);
    if (kind == 1) SHOP_ADD(&s, planar, &planar);
    if (kind == 2) SHOP_ADD(&s, rigid, &rigid);
  }
  tie.name = "tie", tie.kind = GA_JOINT_DISTANCE, tie.a = "A", tie.b = "B", tie.length = 1.0;
  SHOP_ADD(&s, joint, &tie);
  assert_status(s.ctx, ga_machine_build(s.m), GA_OK);
  assert_status(s.ctx, start(&s, NULL), GA_OK);
  const double ax = signal(&s, "A.x"), ay = signal(&s, "A.y"), bx = signal(&s, "B.x"), by = signal(&s, "B.y");
  assert_near(hypot(bx - ax, by - ay), 1.0, 1e-13, "length");
  assert_near((ax - 0.5) * 1.6, (ay - 0.3) * 1.2, 1e-12, "along the line");
  shop_close(&s);
  return hypot(ax - 0.5, ay - 0.3);
}

static void weights_are_moved_less(void **state)
{
  static const double weight[][2] = {{2, 1}, {1, 2}, {100, 1}, {0.01, 1}, {7, 7}, {1e9, 1}};
  (void)state;
  for (int kind = 0; kind < 3; kind++)
    for (int form = GA_FORM_SPACE; form <= GA_FORM_SE3; form++) {
      for (size_t i = 0; i < sizeof weight / sizeof *weight; i++) {
        const double a = 2.0 * weight[i][0], b = 3.0 * weight[i][1];
        assert_near(tied(kind, (ga_form)form, weight[i][0], weight[i][1], GA_HOLD_NONE), b / (a + b), 1e-12,
                    "move of A");
      }
      assert_true(tied(kind, (ga_form)form, 5, 1, GA_HOLD_POSE) < 1e-14); /* held: weights do not matter */
    }
}

/* ---- Initial values of joints ---- */

/* Which coordinates a joint has, with values to begin with and their rates. */
typedef struct initial {
  ga_joint_kind kind;
  int planar;
  const char *name[3];
  double value[3], rate[3];
} initial;

static const initial INITIAL[] = {
    {GA_JOINT_REVOLUTE, 0, {"angle"}, {2.5}, {-3}},
    {GA_JOINT_REVOLUTE, 0, {"angle"}, {-9.0}, {1}}, /* turns */
    {GA_JOINT_PRISMATIC, 0, {"displacement"}, {-0.4}, {0.3}},
    {GA_JOINT_CYLINDRICAL, 0, {"angle", "displacement"}, {3.0, 0.2}, {1, -2}},
    {GA_JOINT_UNIVERSAL, 0, {"angle_x", "angle_y"}, {0.9, -0.6}, {2, -1}},
    {GA_JOINT_PLANAR, 0, {"x", "y", "angle"}, {0.3, -0.2, -1.2}, {1, 2, 3}},
    {GA_JOINT_POINT_ON_LINE, 0, {"displacement"}, {0.6}, {-0.5}},
    {GA_JOINT_POINT_ON_PLANE, 0, {"x", "y"}, {0.6, 0.1}, {-0.5, 0.4}},
    {GA_JOINT_PARALLEL, 0, {"angle"}, {-0.8}, {5}},
    {GA_JOINT_SCREW, 0, {"angle", "displacement"}, {8.0, 0.4}, {2, NAN}},
    {GA_JOINT_REVOLUTE, 1, {"angle"}, {-2.5}, {3}},
    {GA_JOINT_REVOLUTE, 1, {"angle"}, {20.0}, {3}},
    {GA_JOINT_SPHERICAL, 1, {"angle"}, {1.5}, {-1}},
    {GA_JOINT_PRISMATIC, 1, {"displacement"}, {0.4}, {-0.3}},
    {GA_JOINT_POINT_ON_LINE, 1, {"displacement"}, {0.3}, {0.7}},
};
enum { N_INITIAL = sizeof INITIAL / sizeof *INITIAL };

static void set_initial(ga_joint_def *d, const char *name, double value, double rate)
{
  const struct {
    const char *name;
    double *value, *rate;
  } at[] = {{"angle", &d->angle, &d->angle_rate},
            {"displacement", &d->displacement, &d->displacement_rate},
            {"angle_x", &d->angle_x, &d->angle_x_rate},
            {"angle_y", &d->angle_y, &d->angle_y_rate},
            {"x", &d->x, &d->x_rate},
            {"y", &d->y, &d->y_rate}};
  for (int i = 0; i < 6; i++)
    if (strcmp(at[i].name, name) == 0) *at[i].value = value, *at[i].rate = rate;
}

static void add_body(shop *s, const char *name, int planar, double x)
{
  ga_rigid_def d = ga_rigid_defaults();
  ga_planar_def p = ga_planar_defaults();
  if (planar) {
    p.name = name;
    p.mass = 1.5, p.inertia = 0.2;
    p.com[0] = 0.2, p.com[1] = -0.1;
    p.position[0] = x;
    SHOP_ADD(s, planar, &p);
    return;
  }
  d.name = name;
  d.mass = 1.5;
  d.inertia[0] = 0.1, d.inertia[1] = 0.2, d.inertia[2] = 0.15;
  d.com[0] = 0.2, d.com[1] = -0.1, d.com[2] = 0.3;
  d.pose.position[0] = x;
  SHOP_ADD(s, rigid, &d);
}

static void add_frame(shop *s, const char *name, const char *body, int planar, double x, double angle)
{
  static const double about[2][3] = {{0.3, -0.5, 0.8}, {0, 0, 1}};
  ga_marker_def d = ga_marker_defaults();
  d.name = name;
  d.body = body;
  d.pose.position[0] = x;
  d.pose.position[1] = 0.2;
  d.pose.position[2] = planar ? 0.0 : 0.1;
  assert_status(s->ctx, ga_rotation_axis_angle(s->ctx, about[planar], angle, d.pose.rotation), GA_OK);
  SHOP_ADD(s, marker, &d);
}

/* Ground, joint, `one`, the same joint turned round, `two`, with nothing but the joints to say where they
 * are. */
static void chain_of(shop *s, const initial *at, int turned)
{
  add_body(s, "one", at->planar, 0.0);
  add_body(s, "two", at->planar, 0.0);
  add_frame(s, "g", "ground", at->planar, 0.5, 0.4);
  add_frame(s, "one.a", "one", at->planar, -0.3, -0.7);
  add_frame(s, "one.b", "one", at->planar, 0.8, 1.9);
  add_frame(s, "two.a", "two", at->planar, 0.1, -2.9);
  for (int k = 0; k < 2; k++) {
    ga_joint_def d = ga_joint_defaults();
    const int back = k == turned;
    d.name = k ? "second" : "first";
    d.kind = at->kind;
    d.a = k ? (back ? "two.a" : "one.b") : (back ? "one.a" : "g");
    d.b = k ? (back ? "one.b" : "two.a") : (back ? "g" : "one.a");
    if (at->kind == GA_JOINT_SCREW) d.pitch = 0.25;
    for (int c = 0; c < 3 && at->name[c]; c++) set_initial(&d, at->name[c], at->value[c], at->rate[c]);
    SHOP_ADD(s, joint, &d);
  }
}

static void joints_start_at_given_coordinates(void **state)
{
  (void)state;
  for (int form = GA_FORM_SPACE; form <= GA_FORM_SE3; form++)
    for (int i = 0; i < N_INITIAL; i++)
      for (int turned = 0; turned < 2; turned++) {
        const initial *at = &INITIAL[i];
        shop s = shop_open((ga_form)form, -9.81);
        ga_start_report report;
        char name[80], said[80];
        chain_of(&s, at, turned);
        assert_status(s.ctx, ga_machine_build(s.m), GA_OK);
        assert_status(s.ctx, start(&s, &report), GA_OK);
        assert_true(report.position.change < 1e-13 && report.velocity.change < 1e-13);
        for (int k = 0; k < 2; k++)
          for (int c = 0; c < 3 && at->name[c]; c++) {
            snprintf(said, sizeof said, "%s, form %d, joint %d, %s", ga_joint_name(at->kind), form, k,
                     at->name[c]);
            snprintf(name, sizeof name, "%s.%s", k ? "second" : "first", at->name[c]);
            assert_near(signal(&s, name), at->value[c], 1e-12, said);
            snprintf(name, sizeof name, "%s.%s_rate", k ? "second" : "first", at->name[c]);
            if (!isnan(at->rate[c])) assert_near(signal(&s, name), at->rate[c], 1e-12, said);
          }
        if (at->kind == GA_JOINT_SCREW)
          assert_near(signal(&s, "first.displacement_rate"), 0.25 * 2 / GA__TWO_PI, 1e-12, "thread");
        shop_close(&s);
      }
}

/* Bodies beyond a joint move with it, as they are given against each other. */
static void bodies_move_along(void **state)
{
  shop s = shop_open(GA_FORM_SPACE, -9.81);
  ga_joint_def d = ga_joint_defaults();
  (void)state;
  add_body(&s, "one", 1, 0.0);
  add_body(&s, "two", 1, 1.0);
  d.kind = GA_JOINT_REVOLUTE;
  d.at_pose = 1;
  d.name = "first", d.a = "ground", d.b = "one", d.angle = 0.5, d.angle_rate = 2.0;
  SHOP_ADD(&s, joint, &d);
  d = ga_joint_defaults();
  d.kind = GA_JOINT_REVOLUTE;
  d.at_pose = 1;
  d.at = ga_pose_at(1, 0, 0);
  d.name = "second", d.a = "one", d.b = "two";
  SHOP_ADD(&s, joint, &d);
  assert_status(s.ctx, ga_machine_build(s.m), GA_OK);
  assert_status(s.ctx, start(&s, NULL), GA_OK);
  assert_near(signal(&s, "second.angle"), 0.0, 1e-14, "angle");
  assert_near(signal(&s, "second.angle_rate"), 0.0, 1e-14, "rate");
  assert_near(signal(&s, "two.x"), cos(0.5), 1e-14, "x");
  assert_near(signal(&s, "two.vx"), -2.0 * sin(0.5), 1e-13, "vx");
  assert_near(signal(&s, "two.angle"), 0.5, 1e-14, "turned");
  char text[400];
  assert_true(ga_machine_moves(s.m, s.st, text, sizeof text) > 0);
  assert_non_null(
      strstr(text, "two was moved by 0.495 m and turned by 0.5 rad (28.6 deg)\none was "
                   "turned by 0.5 rad (28.6 deg)\n"));
  assert_true(ga_machine_coordinates(s.m, s.st, text, sizeof text) > 0);
  assert_string_equal(text, "first.angle = 0.5 rad (28.648 deg), given; rate 2 rad/s, given\n"
                            "second.angle = 0 rad (0 deg); rate 0 rad/s\n");
  shop_close(&s);
}

/* ---- Loops ---- */

/* A parallelogram of crank and rocker, 1 m, and coupler and ground, 2 m, upright. */
static void four_bar(shop *s, const ga_joint_def *crank, const ga_joint_def *rocker, ga_hold hold)
{
  static const struct {
    const char *name;
    double x, y, angle, length;
  } bar[3] = {
      {"crank", 0, 0, 0.25 * GA__TWO_PI, 1}, {"coupler", 0, 1, 0, 2}, {"rocker", 2, 0, 0.25 * GA__TWO_PI, 1}};
  static const char *const end[4][2] = {
      {"ground", "crank"}, {"crank", "coupler"}, {"coupler", "rocker"}, {"ground", "rocker"}};
  for (int i = 0; i < 3; i++) {
    ga_planar_def d = ga_planar_defaults();
    d.name = bar[i].name;
    d.mass = 1.0 + i, d.inertia = 0.1;
    d.com[0] = 0.5 * bar[i].length;
    d.position[0] = bar[i].x, d.position[1] = bar[i].y;
    d.angle = bar[i].angle;
    if (i == 2) d.hold = hold;
    SHOP_ADD(s, planar, &d);
  }
  for (int i = 0; i < 4; i++) {
    static const char *const name[4] = {"h1", "h2", "h3", "h4"};
    static const double x[4] = {0, 0, 2, 2}, y[4] = {0, 1, 1, 0};
    ga_joint_def d = i == 0 ? *crank : i == 3 ? *rocker : ga_joint_defaults();
    d.kind = GA_JOINT_REVOLUTE;
    d.name = name[i];
    d.a = end[i][0], d.b = end[i][1];
    d.at_pose = 1;
    d.at = ga_pose_at(x[i], y[i], 0);
    SHOP_ADD(s, joint, &d);
  }
}

static void loops_close_around_what_is_given(void **state)
{
  (void)state;
  for (double angle = -1.4; angle < 1.5; angle += 0.4) { /* beyond, the parallelogram may change its branch */
    shop s = shop_open(GA_FORM_SPACE, 0);
    ga_joint_def crank = ga_joint_defaults(), rocker = crank;
    ga_start_report report;
    crank.angle = angle, crank.angle_rate = 2.0;
    four_bar(&s, &crank, &rocker, GA_HOLD_NONE);
    assert_status(s.ctx, ga_machine_build(s.m), GA_OK);
    assert_status(s.ctx, start(&s, &report), GA_OK);
    assert_true(report.position.change < 1e-13 && report.velocity.change < 1e-12);
    assert_near(signal(&s, "h1.angle"), angle, 1e-13, "given");
    assert_near(signal(&s, "h1.angle_rate"), 2.0, 1e-12, "given rate");
    assert_near(remainder(signal(&s, "h4.angle") - signal(&s, "h1.angle"), GA__TWO_PI), 0, 1e-12, "parallel");
    assert_near(signal(&s, "h4.angle_rate"), 2.0, 1e-11, "rate");
    shop_close(&s);
  }
}

static void contradictions_are_refused(void **state)
{
  static const struct {
    double crank, rocker, crank_rate, rocker_rate;
    ga_hold hold;
    const char *said[2];
  } cases[] = {{0.3, 0.4, NAN, NAN, GA_HOLD_NONE, {"h1.angle = 0.3 rad", "h4.angle = 0.4 rad"}},
               {NAN, NAN, 2.0, 1.0, GA_HOLD_NONE, {"h1.angle_rate = 2 rad/s", "h4.angle_rate = 1 rad/s"}},
               {0.3, NAN, NAN, NAN, GA_HOLD_POSE, {"h1.angle = 0.3 rad", "pose of 'rocker', which is held"}},
               {NAN,
                NAN,
                2.0,
                NAN,
                GA_HOLD_VELOCITY,
                {"h1.angle_rate = 2 rad/s", "velocity of 'rocker', which is held"}}};
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    shop s = shop_open(GA_FORM_SPACE, 0);
    ga_joint_def crank = ga_joint_defaults(), rocker = crank;
    crank.angle = cases[i].crank, crank.angle_rate = cases[i].crank_rate;
    rocker.angle = cases[i].rocker, rocker.angle_rate = cases[i].rocker_rate;
    four_bar(&s, &crank, &rocker, cases[i].hold);
    assert_status(s.ctx, ga_machine_build(s.m), GA_ERR_INCONSISTENT);
    assert_says(s.ctx, "joint 'h1': the ");
    assert_says(s.ctx, "given for the start cannot all be met by the joints: ");
    assert_says(s.ctx, cases[i].said[0]);
    assert_says(s.ctx, cases[i].said[1]);
    assert_null(ga_machine_system(s.m));
    shop_close(&s);
  }
}

/* What is given twice, but fits, is no fault; a body that is held keeps its bits and others come to it. */
static void held_bodies_stay(void **state)
{
  (void)state;
  for (int kind = 0; kind < 2; kind++) {
    shop s = shop_open(GA_FORM_SPACE, 0);
    ga_joint_def crank = ga_joint_defaults(), rocker = crank;
    double q[64], v[64];
    if (kind == 0) crank.angle = rocker.angle = 0.25;
    four_bar(&s, &crank, &rocker, kind ? GA_HOLD_BOTH : GA_HOLD_NONE);
    if (kind) { /* the rod at the side fits where the rocker is, and nowhere near itself */
      ga_point_def p = ga_point_defaults();
      ga_joint_def d = ga_joint_defaults();
      p.name = "bob", p.mass = 0.01, p.position[0] = 2.3, p.position[1] = -0.9;
      d.name = "cord", d.kind = GA_JOINT_DISTANCE, d.a = "rocker", d.b = "bob", d.length = 1.0;
      SHOP_ADD(&s, point, &p);
      SHOP_ADD(&s, joint, &d);
    }
    assert_status(s.ctx, ga_machine_build(s.m), GA_OK);
    assert_status(s.ctx, ga_machine_initial(s.m, q, v, NULL), GA_OK);
    assert_status(s.ctx, start(&s, NULL), GA_OK);
    if (kind) {
      const double c = 2.0 + 0.5 * cos(0.25 * GA__TWO_PI);
      assert_true(q[6] == c && q[7] == 0.5 && q[8] == 0.25 * GA__TWO_PI);
      assert_near(hypot(signal(&s, "bob.x") - 2.0, signal(&s, "bob.y")), 1.0, 1e-14, "cord");
    } else {
      assert_near(signal(&s, "h4.angle"), 0.25, 1e-13, "both");
    }
    shop_close(&s);
  }
}

/* ---- Angles and springs at the start ---- */

static void angles_begin_within_half_a_turn(void **state)
{
  static const struct {
    double body, given, angle;
  } cases[] = {{1.5, NAN, 0},   {4.712388980384690, NAN, 0},   {31.0, NAN, 0},
               {1.5, 3.0, 3.0}, {4.712388980384690, 9.0, 9.0}, {1.5, -40.0, -40.0}};
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    shop s = shop_open(GA_FORM_SPACE, 0);
    ga_planar_def d = ga_planar_defaults();
    ga_joint_def hinge = ga_joint_defaults();
    ga_spring_def k = ga_spring_defaults();
    d.name = "rod", d.mass = 1, d.inertia = 1, d.angle = cases[i].body;
    hinge.name = "hinge", hinge.kind = GA_JOINT_REVOLUTE, hinge.a = "ground", hinge.b = "rod",
    hinge.at_pose = 1;
    hinge.angle = cases[i].given;
    k.name = "k", k.coordinate = "hinge.angle", k.stiffness = 3000, k.rest = 0;
    SHOP_ADD(&s, planar, &d);
    SHOP_ADD(&s, joint, &hinge);
    SHOP_ADD(&s, spring, &k);
    assert_status(s.ctx, ga_machine_build(s.m), GA_OK);
    assert_status(s.ctx, start(&s, NULL), GA_OK);
    assert_near(signal(&s, "hinge.angle"), cases[i].angle, 1e-13, "angle");
    assert_near(signal(&s, "k.force"), 3000 * cases[i].angle, 1e-9, "torque");
    shop_close(&s);
  }
}

/* A hinge in space by half a turn: π, never −π, whatever rounding does. */
static void half_a_turn_is_positive(void **state)
{
  (void)state;
  for (int i = -2; i <= 2; i++) {
    static const double z[3] = {0, 0, 1};
    shop s = shop_open(GA_FORM_SPACE, 0);
    ga_rigid_def d = ga_rigid_defaults();
    d.name = "rod", d.mass = d.inertia[0] = d.inertia[1] = d.inertia[2] = 1;
    assert_status(s.ctx, ga_rotation_axis_angle(s.ctx, z, 0.5 * GA__TWO_PI + 1e-15 * i, d.pose.rotation),
                  GA_OK);
    SHOP_ADD(&s, rigid, &d);
    add_hinge(&s, "hinge", "ground", "rod");
    assert_status(s.ctx, ga_machine_build(s.m), GA_OK);
    assert_status(s.ctx, start(&s, NULL), GA_OK);
    assert_near(signal(&s, "hinge.angle"), 0.5 * GA__TWO_PI, 1e-12, "angle");
    shop_close(&s);
  }
}

/* A driven angle has the turns of its drive, unless they are given, which then contradict it. */
static void drives_have_turns(void **state)
{
  (void)state;
  for (int kind = 0; kind < 3; kind++) {
    shop s = shop_open(GA_FORM_SPACE, 0);
    ga_joint_def hinge = ga_joint_defaults();
    ga_drive_def d = ga_drive_defaults();
    ga_function *f = NULL;
    ga_function_expr_opts law = ga_function_expr_defaults();
    law.text = "13 + 2*t";
    assert_status(s.ctx, ga_function_create_expr(s.ctx, &law, NULL, &f), GA_OK);
    add_body(&s, "rod", 1, 0);
    hinge.name = "hinge", hinge.kind = GA_JOINT_REVOLUTE, hinge.a = "ground", hinge.b = "rod",
    hinge.at_pose = 1;
    if (kind == 1) hinge.angle = 13.0, hinge.angle_rate = 2.0;
    if (kind == 2) hinge.angle_rate = 1.0;
    SHOP_ADD(&s, joint, &hinge);
    d.name = "drive", d.coordinate = "hinge.angle", d.function = f;
    SHOP_ADD(&s, drive, &d);
    if (kind == 2) {
      assert_status(s.ctx, ga_machine_build(s.m), GA_ERR_INCONSISTENT);
      assert_says(s.ctx, "hinge.angle_rate = 1 rad/s");
    } else if (kind == 1) {
      assert_status(s.ctx, ga_machine_build(s.m), GA_OK);
      assert_status(s.ctx, start(&s, NULL), GA_OK);
      assert_near(signal(&s, "hinge.angle"), 13.0, 1e-13, "angle");
      assert_near(signal(&s, "hinge.angle_rate"), 2.0, 1e-13, "rate");
    }
    ga_stepper_destroy(&s.st);
    ga_machine_destroy(&s.m);
    ga_function_destroy(&f);
    shop_close(&s);
  }
}

/* A trolley that a drive moves at 1.2 m/s from the start on, and a load that hangs on it, 1.5 m below. */
static shop crane(const ga_planar_def *trolley, const ga_planar_def *load, ga_function **f)
{
  shop s = shop_open(GA_FORM_SPACE, -9.81);
  ga_joint_def rail = ga_joint_defaults(), pin = ga_joint_defaults();
  ga_drive_def d = ga_drive_defaults();
  ga_function_expr_opts law = ga_function_expr_defaults();
  law.text = "1.2*t";
  assert_status(s.ctx, ga_function_create_expr(s.ctx, &law, NULL, f), GA_OK);
  SHOP_ADD(&s, planar, trolley);
  SHOP_ADD(&s, planar, load);
  rail.name = "rail", rail.kind = GA_JOINT_PRISMATIC, rail.a = "ground", rail.b = "trolley";
  SHOP_ADD(&s, joint, &rail);
  pin.name = "pin", pin.kind = GA_JOINT_REVOLUTE, pin.a = "trolley", pin.b = "load", pin.at_pose = 1;
  SHOP_ADD(&s, joint, &pin);
  d.name = "go", d.coordinate = "rail.displacement", d.function = *f;
  SHOP_ADD(&s, drive, &d);
  assert_status(s.ctx, ga_machine_build(s.m), GA_OK);
  return s;
}

/* Speeds that drives begin with are taken on by bodies given at rest, as by an impact; what was given stays,
 * to the bit where it fits, and is refused where it does not. */
static void drives_begin_with_speeds(void **state)
{
  static const struct {
    double trolley, load, rate; /* given: m/s, m/s, rad/s */
    double vx, omega;           /* of the load at the start */
    const char *said;           /* by the moves, or by the refusal */
  } cases[] = {/* an impulse p at the pin: p/m + 1.5² p/J = 1.2, load.vx = p/m, rate = −1.5 p/J */
               {0.0, 0.0, 0.0, 0.075, -0.75,
                "trolley starts, by drives, with 1.2 m/s; it was given at rest\n"
                "load starts, by drives, with 0.075 m/s and 0.75 rad/s; it was given at rest\n"},
               {0.0, 1.2, 0.0, 1.2, 0.0, "trolley starts, by drives, with 1.2 m/s; it was given at rest\n"},
               {0.0, 0.0, 0.4, 1.8, 0.4, "load starts, by drives, with 1.8 m/s, which was not given\n"},
               {0.0, 1.5, 0.2, 1.5, 0.2, "trolley starts, by drives, with 1.2 m/s; it was given at rest\n"},
               {1.2, 1.5, 0.2, 1.5, 0.2, ""},
               {-1.2, 0.0, 0.0, 0, 0, "correcting it would move"},
               {0.0, 3.0, 2.0, 0, 0, "correcting it would move"}};
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    ga_planar_def trolley = ga_planar_defaults(), load = ga_planar_defaults();
    ga_function *f = NULL;
    char text[400];
    trolley.name = "trolley", trolley.mass = 5, trolley.inertia = 1, trolley.velocity[0] = cases[i].trolley;
    load.name = "load", load.mass = 2, load.inertia = 0.3, load.position[1] = -1.5;
    load.velocity[0] = cases[i].load, load.rate = cases[i].rate;
    shop s = crane(&trolley, &load, &f);
    const ga_status status = start(&s, NULL);
    if (i < 5) {
      assert_status(s.ctx, status, GA_OK);
      assert_near(signal(&s, "trolley.vx"), 1.2, 1e-14, "trolley");
      assert_near(signal(&s, "load.vx"), cases[i].vx, 1e-12, "load");
      assert_near(signal(&s, "pin.angle_rate"), cases[i].omega, 1e-12, "rate of the load");
      ga_machine_moves(s.m, s.st, text, sizeof text);
      if (cases[i].said[0])
        assert_non_null(strstr(text, cases[i].said));
      else
        assert_string_equal(text, "");
      if (cases[i].rate != 0.0) assert_true(signal(&s, "pin.angle_rate") == cases[i].rate);
    } else {
      assert_status(s.ctx, status, GA_ERR_INCONSISTENT);
      assert_says(s.ctx, cases[i].said);
    }
    ga_stepper_destroy(&s.st);
    ga_machine_destroy(&s.m);
    ga_function_destroy(&f);
    shop_close(&s);
  }
}

/* In space, with a frame that is not at the centre of mass, in all forms: v + ω × s is that of the joint. */
static void drives_turn_bodies_in_space(void **state)
{
  (void)state;
  for (int form = GA_FORM_SPACE; form <= GA_FORM_SE3; form++)
    for (int given = 0; given < 3; given++) {
      shop s = shop_open((ga_form)form, -9.81);
      ga_rigid_def d = ga_rigid_defaults();
      ga_joint_def hinge = ga_joint_defaults();
      ga_drive_def drive = ga_drive_defaults();
      ga_function_expr_opts law = ga_function_expr_defaults();
      ga_function *f = NULL;
      law.text = "-7*t";
      assert_status(s.ctx, ga_function_create_expr(s.ctx, &law, NULL, &f), GA_OK);
      d.name = "arm", d.mass = 2.0, d.inertia[0] = 0.1, d.inertia[1] = d.inertia[2] = 0.15;
      d.com[0] = 0.2, d.com[1] = 0.3;
      d.pose = ga_pose_at(0.5, 0, 0.1);
      if (given == 1) d.velocity[1] = -3.5;
      if (given == 2) d.omega[2] = -7.0;
      SHOP_ADD(&s, rigid, &d);
      hinge.name = "hinge", hinge.kind = GA_JOINT_REVOLUTE, hinge.a = "ground", hinge.b = "arm",
      hinge.at_pose = 1;
      SHOP_ADD(&s, joint, &hinge);
      drive.name = "turn", drive.coordinate = "hinge.angle", drive.function = f;
      SHOP_ADD(&s, drive, &drive);
      assert_status(s.ctx, ga_machine_build(s.m), GA_OK);
      assert_status(s.ctx, start(&s, NULL), GA_OK);
      assert_near(signal(&s, "hinge.angle_rate"), -7.0, 1e-12, "rate");
      assert_near(signal(&s, "arm.vy"), -3.5, 1e-12, "vy");
      assert_near(signal(&s, "arm.vx"), 0.0, 1e-12, "vx");
      ga_stepper_destroy(&s.st);
      ga_machine_destroy(&s.m);
      ga_function_destroy(&f);
      shop_close(&s);
    }
}

/* Springs without a rest have no force where the machine starts, not where its bodies are given. */
static void springs_rest_at_the_assembled_start(void **state)
{
  (void)state;
  for (int form = GA_FORM_SPACE; form <= GA_FORM_SE3; form++)
    for (int angular = 0; angular < 2; angular++) {
      shop s = shop_open((ga_form)form, -9.81);
      ga_spring_def k = ga_spring_defaults();
      ga_start_report report;
      add_rod(&s, "rod", 0.03, 0.02); /* off its hinge */
      add_marker(&s, "tip", "rod", 1.0);
      add_marker(&s, "wall", "ground", -2.0);
      add_hinge(&s, "hinge", "ground", "rod");
      k.name = "k", k.stiffness = 1e6;
      if (angular)
        k.coordinate = "hinge.angle";
      else
        k.a = "wall", k.b = "tip";
      SHOP_ADD(&s, spring, &k);
      assert_status(s.ctx, ga_machine_build(s.m), GA_OK);
      assert_status(s.ctx, start(&s, &report), GA_OK);
      assert_true(report.position.change > 1e-3);
      assert_true(signal(&s, "k.force") == 0.0);
      shop_close(&s);
    }
}

/* A gear holds the sum that its hinges start with; rates that do not fit are refused. */
static void gears_start_anywhere(void **state)
{
  (void)state;
  for (int kind = 0; kind < 2; kind++) {
    shop s = shop_open(GA_FORM_SPACE, 0);
    for (int i = 0; i < 2; i++) {
      ga_joint_def d = ga_joint_defaults();
      ga_planar_def wheel = ga_planar_defaults();
      wheel.name = i ? "b" : "a", wheel.mass = wheel.inertia = 1;
      wheel.position[0] = i, wheel.rate = i ? 0.5 : 0.0;
      SHOP_ADD(&s, planar, &wheel);
      d.name = i ? "hb" : "ha", d.kind = GA_JOINT_REVOLUTE, d.a = "ground", d.b = i ? "b" : "a",
      d.at_pose = 1;
      d.at = ga_pose_at(i, 0, 0);
      if (i == 0) d.angle = 0.7, d.angle_rate = 3.0;
      if (i == 1 && kind) d.angle_rate = 1.0;
      SHOP_ADD(&s, joint, &d);
    }
    ga_joint_def gear = ga_joint_defaults();
    gear.name = "gear", gear.kind = GA_JOINT_GEAR, gear.a = "ha.angle", gear.b = "hb.angle", gear.ratio = 2.0;
    SHOP_ADD(&s, joint, &gear);
    if (kind) {
      assert_status(s.ctx, ga_machine_build(s.m), GA_ERR_INCONSISTENT);
      assert_says(s.ctx, "ha.angle_rate = 3 rad/s");
      assert_says(s.ctx, "hb.angle_rate = 1 rad/s");
    } else {
      assert_status(s.ctx, ga_machine_build(s.m), GA_OK);
      assert_status(s.ctx, start(&s, NULL), GA_OK);
      assert_near(signal(&s, "ha.angle"), 0.7, 1e-14, "a");
      assert_near(signal(&s, "hb.angle"), 0.0, 1e-14, "b");
      assert_near(signal(&s, "ha.angle_rate"), 3.0, 1e-13, "rate of a");
      assert_near(signal(&s, "hb.angle_rate"), -1.5, 1e-13, "rate of b");
      char text[400]; /* the wheel was given another velocity */
      ga_machine_moves(s.m, s.st, text, sizeof text);
      assert_non_null(strstr(text, "b: its given velocity was changed by "));
    }
    shop_close(&s);
  }
}

static void coordinates_that_a_joint_has_not(void **state)
{
  shop s = shop_open(GA_FORM_SPACE, 0);
  ga_joint_def d = ga_joint_defaults();
  (void)state;
  add_body(&s, "one", 0, 0);
  d.name = "ball", d.kind = GA_JOINT_SPHERICAL, d.a = "ground", d.b = "one", d.displacement = 1.0;
  assert_status(s.ctx, ga_machine_add_joint(s.m, &d), GA_ERR_ARGUMENT);
  assert_error(s.ctx, GA_REASON_NOT_OF_THIS_JOINT, "ball", "displacement", NULL);
  d.displacement = NAN, d.angle = 1.0; /* in the plane it has one */
  SHOP_ADD(&s, joint, &d);
  assert_status(s.ctx, ga_machine_build(s.m), GA_ERR_ARGUMENT);
  assert_error(s.ctx, GA_REASON_NOT_OF_THIS_JOINT, "ball", "angle", NULL);
  shop_close(&s);
}

/* ---- Contacts that pull and ropes that push ---- */

/* A ball that rolls under a force upwards of 20 t, and a bob on a rope with one of 8 t. */
static void one_sided_machine(shop *s)
{
  ga_rigid_def wheel = ga_rigid_defaults();
  ga_point_def bob = ga_point_defaults();
  ga_joint_def rope = ga_joint_defaults();
  ga_rolling_def tread = ga_rolling_defaults();
  ga_force_def f = ga_force_defaults();
  wheel.name = "wheel", wheel.mass = 1, wheel.inertia[0] = wheel.inertia[1] = wheel.inertia[2] = 0.01;
  wheel.pose.position[2] = 0.2;
  bob.name = "bob", bob.mass = 0.5, bob.position[0] = 3, bob.position[2] = -1;
  tread.name = "tread", tread.kind = GA_ROLLING_SPHERE, tread.body = "wheel", tread.radius = 0.2;
  rope.name = "rope", rope.kind = GA_JOINT_DISTANCE, rope.a = "hook", rope.b = "bob", rope.rope = 1;
  SHOP_ADD(s, rigid, &wheel);
  SHOP_ADD(s, point, &bob);
  add_marker(s, "hook", "ground", 3.0);
  SHOP_ADD(s, rolling, &tread);
  SHOP_ADD(s, joint, &rope);
  f.name = "lift", f.frame = "wheel", f.force[2].expression = "20*t";
  SHOP_ADD(s, force, &f);
  f.name = "gust", f.frame = "bob", f.force[2].expression = "8*t";
  SHOP_ADD(s, force, &f);
  assert_status(s->ctx, ga_machine_build(s->m), GA_OK);
}

static void pushing_ropes_are_reported(void **state)
{
  shop s = shop_open(GA_FORM_SPACE, -9.81);
  ga_meter *meter = NULL, *other = NULL;
  ga_pull pull;
  char text[1000];
  double saved[40];
  (void)state;
  one_sided_machine(&s);
  assert_status(s.ctx, start(&s, NULL), GA_OK);
  assert_status(s.ctx, ga_meter_create(ga_machine_context(s.m), s.m, &meter), GA_OK);
  assert_status(s.ctx, ga_meter_start(meter, ga_stepper_state(s.st)), GA_OK);
  assert_int_equal(ga_meter_n_pulls(meter), 0);
  assert_int_equal(ga_meter_pull_text(meter, text, sizeof text), 0);
  for (int i = 0; i < 100; i++) {
    assert_status(s.ctx, ga_stepper_step(s.st, 0.01), GA_OK);
    assert_status(s.ctx, ga_meter_update(meter, ga_stepper_state(s.st)), GA_OK);
    if (i == 59) { /* the wheel, 9.81/20 = 0.49 s; of the rope, 4.905/8 = 0.613 s, nothing yet */
      assert_int_equal(ga_meter_n_pulls(meter), 1);
      assert_true(ga_meter_saved_size(meter) <= sizeof saved / sizeof *saved);
      ga_meter_save(meter, saved);
      assert_status(s.ctx, ga_meter_create(ga_machine_context(s.m), s.m, &other), GA_OK);
      assert_status(s.ctx, ga_meter_load(other, saved), GA_OK);
    }
    if (i > 59) assert_status(s.ctx, ga_meter_update(other, ga_stepper_state(s.st)), GA_OK);
  }
  assert_int_equal(ga_meter_n_pulls(meter), 2);
  for (int k = 0; k < 2; k++) {
    const ga_meter *which = k ? other : meter;
    assert_status(s.ctx, ga_meter_pull(which, 1, &pull), GA_OK);
    assert_string_equal(pull.part, "tread");
    assert_near(pull.since, 0.50, 1e-9, "since");
    assert_near(pull.worst_t, 1.0, 1e-9, "worst_t");
    assert_near(pull.worst, 20.0 - 9.81, 1e-6, "worst");
    assert_status(s.ctx, ga_meter_pull(which, 0, &pull), GA_OK);
    assert_string_equal(pull.part, "rope");
    assert_near(pull.since, 0.62, 1e-9, "since");
    assert_near(pull.worst, 8.0 - 4.905, 1e-6, "worst");
  }
  assert_status(s.ctx, ga_meter_pull(meter, 2, &pull), GA_ERR_ARGUMENT);
  assert_status(s.ctx, ga_meter_pull(meter, 0, NULL), GA_ERR_ARGUMENT);
  ga_meter_pull_text(meter, text, sizeof text);
  assert_non_null(
      strstr(text, "rolling 'tread' pulls at its plane, which nothing can that rolls, at t = 0.5 s"));
  assert_non_null(strstr(text, "joint 'rope' pushes, which no rope can, at t = 0.62 s"));
  ga_meter_destroy(&meter);
  ga_meter_destroy(&other);
  shop_close(&s);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(expressions_see_the_true_state),
      cmocka_unit_test(undefined_expressions_are_named),
      cmocka_unit_test(guesses_choose_a_solution),
      cmocka_unit_test(guesses_where_zero_fails),
      cmocka_unit_test(guesses_that_cannot_be),
      cmocka_unit_test(weights_are_moved_less),
      cmocka_unit_test(joints_start_at_given_coordinates),
      cmocka_unit_test(bodies_move_along),
      cmocka_unit_test(loops_close_around_what_is_given),
      cmocka_unit_test(contradictions_are_refused),
      cmocka_unit_test(held_bodies_stay),
      cmocka_unit_test(angles_begin_within_half_a_turn),
      cmocka_unit_test(half_a_turn_is_positive),
      cmocka_unit_test(drives_have_turns),
      cmocka_unit_test(drives_begin_with_speeds),
      cmocka_unit_test(drives_turn_bodies_in_space),
      cmocka_unit_test(springs_rest_at_the_assembled_start),
      cmocka_unit_test(gears_start_anywhere),
      cmocka_unit_test(coordinates_that_a_joint_has_not),
      cmocka_unit_test(pushing_ropes_are_reported),
  };
  return cmocka_run_group_tests_name("mbs: starts", tests, rig_hook_klu, NULL);
}
