/* Model files: what they make is what the builder makes of the same numbers; errors are reported with their
 * place. */
#define _XOPEN_SOURCE 700
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core_rig.h"
#include "galpha/model.h"
#include "mbs/parts.h"
#include "message_data.h"
#include "model/parameters.h"
#include <sys/stat.h>
#include <unistd.h>

/* Everything under the folder of the project is found from this file's own path. */
static void source_path(char *path, size_t size, const char *below)
{
  static const char here[] = "tests/unit/test_model_reader.c";
  const size_t root = strlen(__FILE__) - (sizeof here - 1);
  snprintf(path, size, "%.*s%s", (int)root, __FILE__, below);
}

static ga_model *read_text(ga_context *ctx, const char *text)
{
  ga_model *model = NULL;
  const ga_status status = ga_model_read_text(ctx, "model", text, strlen(text), NULL, &model);
  if (status) fail_msg("%s\n%s", ga_context_error(ctx)->text, text);
  return model;
}

/* ---- The same parts ---- */

static void compare_numbers(const double *a, const double *b, int n, const char *part, const char *field)
{
  for (int i = 0; i < n; i++)
    if (memcmp(&a[i], &b[i], sizeof *a) != 0)
      fail_msg("%s: %s[%d] is %.17g instead of %.17g", part, field, i, a[i], b[i]);
}

static void compare_texts(const char *a, const char *b, const char *part, const char *field)
{
  if (!a != !b || (a && strcmp(a, b) != 0))
    fail_msg("%s: %s is '%s' instead of '%s'", part, field, a ? a : "-", b ? b : "-");
}

static void compare_functions(const ga_function *a, const ga_function *b, const char *part, const char *field)
{
  if (!a != !b) fail_msg("%s: one of two has a %s", part, field);
  for (int k = 0; a && k < 23; k++) {
    double of_a[3] = {0}, of_b[3] = {0};
    const double t = -0.4 + 0.11 * k;
    assert_int_equal(ga_function_eval(a, t, 2, of_a, NULL), ga_function_eval(b, t, 2, of_b, NULL));
    compare_numbers(of_a, of_b, 3, part, field);
  }
}

static void compare_inputs(const ga_input *a, const ga_input *b, int n, const char *part, const char *field)
{
  for (int i = 0; i < n; i++) {
    compare_numbers(&a[i].value, &b[i].value, 1, part, field);
    compare_functions(a[i].function, b[i].function, part, field);
    compare_texts(a[i].expression, b[i].expression, part, field);
  }
}

static void compare_field(const ga__field *f, const char *a, const char *b, const char *part)
{
  const void *at = a + f->offset, *bt = b + f->offset;
  switch (f->rule) {
  case GA__RULE_TEXT:
  case GA__RULE_TEXT_NEEDED:
    compare_texts(*(const char *const *)at, *(const char *const *)bt, part, f->name);
    break;
  case GA__RULE_FLAG:
  case GA__RULE_CHOICE:
    if (memcmp(at, bt, sizeof(int)) != 0) fail_msg("%s: %s differs", part, f->name);
    break;
  case GA__RULE_POSE:
    compare_numbers(at, bt, 12, part, f->name);
    break;
  case GA__RULE_INPUT:
    compare_inputs(at, bt, f->count, part, f->name);
    break;
  case GA__RULE_FUNCTION:
  case GA__RULE_FUNCTION_NEEDED:
    compare_functions(*(const ga_function *const *)at, *(const ga_function *const *)bt, part, f->name);
    break;
  default:
    compare_numbers(at, bt, f->count, part, f->name);
  }
}

static void compare_blocks(const ga__block_def *a, const ga__block_def *b)
{
  enum { MOST = 16 };
  rig_random random = rig_seed(0);
  double u[MOST], x[MOST], of_a[2][MOST], of_b[2][MOST], Ja[MOST * MOST], Jb[MOST * MOST];
  const int n_in = ga_block_n_in(a->block), n_x = ga_block_n_x(a->block), n_out = ga_block_n_out(a->block);
  assert_int_equal(ga_block_get_kind(a->block), ga_block_get_kind(b->block));
  assert_int_equal(n_in, ga_block_n_in(b->block));
  assert_int_equal(n_x, ga_block_n_x(b->block));
  assert_int_equal(n_out, ga_block_n_out(b->block));
  compare_inputs(a->inputs, b->inputs, n_in, a->name, "inputs");
  ga_block_initial(a->block, of_a[0]);
  ga_block_initial(b->block, of_b[0]);
  compare_numbers(of_a[0], of_b[0], n_x, a->name, "initial state");
  for (int k = 0; k < 20; k++) {
    for (int i = 0; i < MOST; i++) u[i] = rig_uniform(&random, -3, 3);
    for (int i = 0; i < MOST; i++) x[i] = rig_uniform(&random, -3, 3);
    const ga_status status = ga_block_eval(a->block, 0.1 * k, u, x, of_a[0], of_a[1], NULL);
    assert_int_equal(status, ga_block_eval(b->block, 0.1 * k, u, x, of_b[0], of_b[1], NULL));
    assert_int_equal(ga_block_jacobian(a->block, 0.1 * k, u, x, Ja, NULL), status);
    assert_int_equal(ga_block_jacobian(b->block, 0.1 * k, u, x, Jb, NULL), status);
    if (status) continue;
    compare_numbers(of_a[0], of_b[0], n_x, a->name, "xdot");
    compare_numbers(of_a[1], of_b[1], n_out, a->name, "y");
    compare_numbers(Ja, Jb, (n_x + n_out) * (n_in + n_x), a->name, "Jacobian");
  }
}

/* Part by part, field by field, to the bit; the builder makes the same of the same. */
static void compare_machines(const ga_machine *a, const ga_machine *b)
{
  assert_int_equal(a->n_parts, b->n_parts);
  assert_int_equal(a->opts.form, b->opts.form);
  compare_numbers(a->opts.gravity, b->opts.gravity, 3, "machine", "gravity");
  for (int i = 1; i < a->n_parts; i++) {
    const ga__part *p = &a->part[i], *q = &b->part[i];
    assert_string_equal(p->name, q->name);
    assert_int_equal(p->kind, q->kind);
    const ga__part_type *kind = ga__part_type_of(p->kind);
    for (int k = 0; k < kind->n_fields; k++) compare_field(&kind->fields[k], p->def, q->def, p->name);
    if (p->kind == GA__PART_BLOCK) compare_blocks(p->def, q->def);
  }
}

/* The model, and what it is when it was written and read again. */
static void compare_with_c(ga_model *model, const ga_machine *by_c)
{
  ga_context *ctx = ga_machine_context(by_c);
  const char *text = NULL;
  compare_machines(ga_model_machine(model), by_c);
  assert_status(ctx, ga_model_write_text(model, &text, NULL), GA_OK);
  ga_model *again = read_text(ctx, text);
  compare_machines(ga_model_machine(again), by_c);
  ga_model_destroy(&again);
}

/* ---- Machines by C ---- */

static double quantity(ga_context *ctx, const char *text)
{
  double value = NAN;
  assert_status(ctx, ga_quantity_parse(ctx, text, NULL, &value, NULL, NULL), GA_OK);
  return value;
}

#define ADD(m, what, def) assert_status(ga_machine_context(m), ga_machine_add_##what(m, def), GA_OK)

static ga_function *expression(ga_context *ctx, const char *text)
{
  ga_function_expr_opts o = ga_function_expr_defaults();
  ga_function *f = NULL;
  o.text = text;
  assert_status(ctx, ga_function_create_expr(ctx, &o, NULL, &f), GA_OK);
  return f;
}

static const char bodies_text[] =
    "galpha: 1\n"
    "form: se3\n"
    "gravity: [0.1, -0.2, -9.81]\n"
    "parameters: {m: 2.5 kg, a: 30 deg}\n"
    "bodies:\n"
    "  full: {type: rigid, mass: m, inertia: [0.5, 0.7, 0.9, 0.05, -0.03, 0.04], com: [10 cm, -0.05, 0.07],\n"
    "         position: [1, 2, 3], rotation: {euler: [a, 20 deg, -0.3], sequence: xyz}, velocity: [1, 0, 3 "
    "km/s],\n"
    "         omega: [60 rpm, 0, 1], omega_in_body: true}\n"
    "  bare: {type: rigid, massless: yes, pose: {position: [0, 0, 5]}}\n"
    "  quat: {type: rigid, mass: 1, inertia: [1, 1, 1], rotation: {quaternion: [1, 2, 3, 4]}}\n"
    "  flat: {type: planar, mass: 3, inertia: 0.4, com: [0.1, 0.2], position: [4, 5], z: 6, angle: 400 deg,\n"
    "         velocity: [7, 8], rate: 9, massless: no}\n"
    "  ball: {type: point, mass: 2 g, position: [1, 2, 3], velocity: [4, 5, 6]}\n"
    "  rail: {type: scalar, mass: 2, position: 3 mm, velocity: 4}\n"
    "  rotor: {type: scalar, mass: 2 kg*m^2, position: 3 deg, velocity: 4 rpm, rotational: true}\n"
    "markers:\n"
    "  one: {body: full, position: [1, 2, 3], rotation: {axis: [1, 2, 3], angle: 1 rad}}\n"
    "  two: {body: ground, pose: [1, 0, 0]}\n"
    "  three: {body: one, rotation: {z_axis: [1, 2, 3], x_axis: [1, 0, 0]}}\n"
    "  four: {body: flat, rotation: {matrix: [[0, -1, 0], [1, 0, 0], [0, 0, 1]]}}\n"
    "  five: {body: ball, rotation: {z_axis: [0, 3, 0]}}\n";

static void bodies_by_c(ga_machine *m)
{
  ga_context *ctx = ga_machine_context(m);
  ga_rigid_def full = ga_rigid_defaults(), bare = full, quat = full;
  const double euler[3] = {quantity(ctx, "30 deg"), quantity(ctx, "20 deg"), -0.3}, wxyz[4] = {1, 2, 3, 4};
  const double inertia[6] = {0.5, 0.7, 0.9, 0.05, -0.03, 0.04};
  full.name = "full", full.mass = 2.5, memcpy(full.inertia, inertia, sizeof inertia);
  full.com[0] = 0.1, full.com[1] = -0.05, full.com[2] = 0.07;
  full.pose = ga_pose_at(1, 2, 3);
  full.velocity[0] = 1, full.velocity[2] = 3000;
  full.omega[0] = quantity(ctx, "60 rpm"), full.omega[2] = 1, full.omega_in_body = 1;
  assert_int_equal(ga_rotation_euler(ctx, "xyz", euler, full.pose.rotation), GA_OK);
  bare.name = "bare", bare.massless = 1, bare.pose.position[2] = 5;
  quat.name = "quat", quat.mass = 1, quat.inertia[0] = quat.inertia[1] = quat.inertia[2] = 1;
  assert_int_equal(ga_rotation_quaternion(ctx, wxyz, quat.pose.rotation), GA_OK);
  ADD(m, rigid, &full);
  ADD(m, rigid, &bare);
  ADD(m, rigid, &quat);
  ga_planar_def flat = {"flat", 3, 0.4, {0.1, 0.2},   {4, 5}, 6, quantity(ctx, "400 deg"),
                        {7, 8}, 9, 0,   GA_HOLD_NONE, 1};
  ga_point_def ball = {"ball", 2e-3, {1, 2, 3}, {4, 5, 6}, 0, GA_HOLD_NONE, 1};
  ga_scalar_def rail = {"rail", 2, 3e-3, 4, 0, 0, GA_HOLD_NONE, 1},
                rotor = {"rotor", 2, quantity(ctx, "3 deg"), quantity(ctx, "4 rpm"), 1, 0, GA_HOLD_NONE, 1};
  ADD(m, planar, &flat);
  ADD(m, point, &ball);
  ADD(m, scalar, &rail);
  ADD(m, scalar, &rotor);
}

static void markers_by_c(ga_machine *m)
{
  static const double matrix[9] = {0, -1, 0, 1, 0, 0, 0, 0, 1}, v[3] = {1, 2, 3}, x[3] = {1, 0, 0},
                      y[3] = {0, 3, 0};
  static const char *const name[] = {"one", "two", "three", "four", "five"};
  static const char *const body[] = {"full", "ground", "one", "flat", "ball"};
  ga_context *ctx = ga_machine_context(m);
  for (int i = 0; i < 5; i++) {
    ga_marker_def d = ga_marker_defaults();
    d.name = name[i], d.body = body[i];
    if (i == 0) d.pose = ga_pose_at(1, 2, 3), ga_rotation_axis_angle(ctx, v, 1, d.pose.rotation);
    if (i == 1) d.pose = ga_pose_at(1, 0, 0);
    if (i == 2) ga_rotation_z_axis(ctx, v, x, d.pose.rotation);
    if (i == 3) ga_rotation_matrix(ctx, matrix, d.pose.rotation);
    if (i == 4) ga_rotation_z_axis(ctx, y, NULL, d.pose.rotation);
    ADD(m, marker, &d);
  }
}

static void bodies_are_those_of_c(void **state)
{
  ga_context *ctx = rig_open_context();
  ga_machine_opts opts = {GA_FORM_SE3, {0.1, -0.2, -9.81}, 0.0};
  ga_machine *m = NULL;
  (void)state;
  ga_model *model = read_text(ctx, bodies_text);
  assert_int_equal(ga_machine_create(ctx, &opts, &m), GA_OK);
  bodies_by_c(m);
  markers_by_c(m);
  compare_with_c(model, m);
  ga_machine_destroy(&m);
  ga_model_destroy(&model);
  rig_close_context(&ctx);
}

/* Every kind of joint between the ground and a body, at a pose. */
static void joints_are_those_of_c(void **state)
{
  ga_context *ctx = rig_open_context();
  (void)state;
  for (int kind = 0; kind < GA_JOINT_GEAR; kind++) {
    char text[1000];
    const double axis[3] = {0, 1, 2};
    const int has_length = kind == GA_JOINT_DISTANCE || kind == GA_JOINT_ROD;
    snprintf(text, sizeof text,
             "galpha: 1\n"
             "bodies: {arm: {type: rigid, mass: 1, inertia: [1, 1, 1], position: [1, 0, 0]}}\n"
             "joints: {j: {type: %s, a: ground, b: arm%s}}\n",
             ga_joint_name((ga_joint_kind)kind),
             has_length ? ", length: 1 m"
             : kind == GA_JOINT_SCREW
                 ? ", pitch: 2 mm, at: {position: [1, 2, 3], rotation: {z_axis: [0, 1, 2]}}"
                 : ", at: {position: [1, 2, 3], rotation: {z_axis: [0, 1, 2]}}");
    ga_model *model = read_text(ctx, text);
    ga_machine *m = NULL;
    ga_rigid_def arm = ga_rigid_defaults();
    ga_joint_def j = ga_joint_defaults();
    arm.name = "arm", arm.mass = arm.inertia[0] = arm.inertia[1] = arm.inertia[2] = arm.pose.position[0] = 1;
    j.name = "j", j.kind = (ga_joint_kind)kind, j.a = "ground", j.b = "arm";
    if (has_length) {
      j.length = 1;
    } else {
      j.at_pose = 1, j.at = ga_pose_at(1, 2, 3);
      assert_int_equal(ga_rotation_z_axis(ctx, axis, NULL, j.at.rotation), GA_OK);
    }
    if (kind == GA_JOINT_SCREW) j.pitch = 2e-3;
    assert_int_equal(ga_machine_create(ctx, NULL, &m), GA_OK);
    ADD(m, rigid, &arm);
    ADD(m, joint, &j);
    compare_with_c(model, m);
    ga_machine_destroy(&m);
    ga_model_destroy(&model);
  }
  rig_close_context(&ctx);
}

/* A joint that has just one coordinate stands for it, with the units that this one has: by the table of
 * coordinates, whatever the joint. */
static void springs_have_the_units_of_coordinates(void **state)
{
  (void)state;
  static const char *const body[2] = {"type: rigid, mass: 1, inertia: [1, 1, 1]",
                                      "type: planar, mass: 1, inertia: 1"};
  static const char *const stiffness[2] = {"2 N/m", "2 N*m/rad"};
  ga_context *ctx = rig_open_context();
  int tried = 0;
  for (int kind = 0; kind < GA_JOINT_GEAR; kind++)
    for (int planar = 0; planar < 2; planar++)
      for (int unit = 0; unit < 2; unit++) {
        const ga_coordinate_info *info = ga_joint_coordinate((ga_joint_kind)kind, planar, 0);
        char text[1000];
        ga_model *model = NULL;
        if (!info || ga_joint_coordinate((ga_joint_kind)kind, planar, 1)) continue;
        snprintf(text, sizeof text,
                 "galpha: 1\nbodies: {arm: {%s}}\njoints: {j: {type: %s, a: ground, b: arm}}\n"
                 "forces: {s: {type: spring, coordinate: j, stiffness: %s, rest: 0 %s}}\n",
                 body[planar], ga_joint_name((ga_joint_kind)kind), stiffness[unit], info->unit[0]);
        const ga_status status = ga_model_read_text(ctx, "springs", text, strlen(text), NULL, &model);
        if ((status == GA_OK) != (unit == info->is_angle))
          fail_msg("%s, planar %d: %s is %s", ga_joint_name((ga_joint_kind)kind), planar, stiffness[unit],
                   status ? ga_model_message_at(model, 0)->text : "taken");
        ga_model_destroy(&model);
        tried++;
      }
  assert_true(tried >= 2 * 8); /* revolute, prismatic, point_on_line twice; parallel, spherical once */
  rig_close_context(&ctx);
}

static const char couplings_text[] =
    "galpha: 1\n"
    "bodies:\n"
    "  a: {type: scalar, mass: 1, rotational: true}\n"
    "  b: {type: scalar, mass: 1, rotational: true}\n"
    "  c: {type: scalar, mass: 1}\n"
    "  d: {type: scalar, mass: 1}\n"
    "  wheel: {type: rigid, mass: 1, inertia: [1, 1, 2], position: [0, 0, 0.5], rotation: {z_axis: [0, 1, "
    "0]}}\n"
    "  ball: {type: rigid, mass: 1, inertia: [1, 1, 1], position: [3, 0, 0.2]}\n"
    "  skate: {type: planar, mass: 1, inertia: 1}\n"
    "joints:\n"
    "  g: {type: gear, a: a, b: b, ratio: -2.5}\n"
    "  r: {type: rack_and_pinion, a: c, b: b, ratio: 20 mm}\n"
    "drives:\n"
    "  motor: {coordinate: d, function: ramp}\n"
    "rollings:\n"
    "  roll: {type: disk, body: wheel, radius: 0.5}\n"
    "  bowl: {type: sphere, body: ball, radius: 0.2 m, plane: ground}\n"
    "  edge: {type: knife, body: skate}\n"
    "constraints:\n"
    "  lead: {zero: ball.y - 0.1*sin(ball.x - 3), type: holonomic, unit: m}\n"
    "  slow: {zero: skate.wz - 0.2*skate.vx}\n"
    "functions:\n"
    "  ramp: {type: motion, law: cycloidal, t_start: 0.1, duration: 500 ms, from: 0, to: 2}\n"
    "sensors:\n"
    "  s0: {type: position, of: wheel, from: ball, axes: wheel}\n"
    "  s1: {type: velocity, of: wheel}\n"
    "  s2: {type: acceleration, of: wheel, axes: ball}\n"
    "  s3: {type: specific_force, of: wheel}\n"
    "  s4: {type: angular_velocity, of: wheel}\n"
    "  s5: {type: reaction_force, of: hold}\n"
    "  s6: {type: reaction_torque, of: hold, axes: ball}\n";

static void couplings_by_c(ga_machine *m, const ga_function *ramp)
{
  static const double y[3] = {0, 1, 0};
  static const char *const scalar[] = {"a", "b", "c", "d"};
  ga_context *ctx = ga_machine_context(m);
  for (int i = 0; i < 4; i++) {
    ga_scalar_def d = {scalar[i], 1, 0, 0, i < 2, 0, GA_HOLD_NONE, 1};
    ADD(m, scalar, &d);
  }
  ga_rigid_def wheel = ga_rigid_defaults(), ball = wheel;
  wheel.name = "wheel", wheel.mass = wheel.inertia[0] = wheel.inertia[1] = 1, wheel.inertia[2] = 2;
  wheel.pose.position[2] = 0.5;
  assert_int_equal(ga_rotation_z_axis(ctx, y, NULL, wheel.pose.rotation), GA_OK);
  ball.name = "ball", ball.mass = ball.inertia[0] = ball.inertia[1] = ball.inertia[2] = 1;
  ball.pose = ga_pose_at(3, 0, 0.2);
  ga_planar_def skate = ga_planar_defaults();
  skate.name = "skate", skate.mass = skate.inertia = 1;
  ADD(m, rigid, &wheel);
  ADD(m, rigid, &ball);
  ADD(m, planar, &skate);
  ga_joint_def g = ga_joint_defaults(), r = g, hold = g;
  g.name = "g", g.kind = GA_JOINT_GEAR, g.a = "a", g.b = "b", g.ratio = -2.5;
  r.name = "r", r.kind = GA_JOINT_RACK, r.a = "c", r.b = "b", r.ratio = 0.02;
  hold.name = "hold", hold.kind = GA_JOINT_SPHERICAL, hold.a = "wheel", hold.b = "ball", hold.at_pose = 1;
  ADD(m, joint, &g);
  ADD(m, joint, &r);
  ADD(m, joint, &hold);
  const ga_drive_def motor = {.name = "motor", .coordinate = "d", .function = ramp};
  const ga_rolling_def roll = {"roll", GA_ROLLING_DISK, "wheel", "ground", 0.5, NULL},
                       bowl = {"bowl", GA_ROLLING_SPHERE, "ball", "ground", 0.2, NULL},
                       edge = {"edge", GA_ROLLING_KNIFE, "skate", "ground", 0, NULL};
  ADD(m, drive, &motor);
  ADD(m, rolling, &roll);
  ADD(m, rolling, &bowl);
  ADD(m, rolling, &edge);
  const ga_constraint_def lead = {"lead", "ball.y - 0.1*sin(ball.x - 3)", GA_CONSTRAINT_HOLONOMIC, "m"},
                          slow = {"slow", "skate.wz - 0.2*skate.vx", GA_CONSTRAINT_AUTO, NULL};
  ADD(m, constraint, &lead);
  ADD(m, constraint, &slow);
  for (int i = 0; i < 7; i++) {
    ga_sensor_def s = ga_sensor_defaults();
    const char name[] = {'s', (char)('0' + i), '\0'};
    s.name = name, s.kind = (ga_sensor_kind)i, s.of = i < 5 ? "wheel" : "hold";
    if (i == 0) s.from = "ball";
    s.axes = i == 0 ? "wheel" : i == 2 || i == 6 ? "ball" : "ground";
    ADD(m, sensor, &s);
  }
}

static void couplings_and_sensors_are_those_of_c(void **state)
{
  ga_context *ctx = rig_open_context();
  ga_machine *m = NULL;
  ga_function *ramp = NULL;
  ga_motion_opts o = ga_motion_defaults();
  char text[4000];
  (void)state;
  const char *joints = strstr(couplings_text, "drives:");
  snprintf(text, sizeof text, "%.*s  hold: {type: spherical, a: wheel, b: ball, at: [0, 0, 0]}\n%s",
           (int)(joints - couplings_text), couplings_text, joints);
  ga_model *model = read_text(ctx, text);
  o.law = GA_MOTION_CYCLOIDAL, o.t_start = 0.1, o.duration = 0.5, o.to = 2;
  assert_int_equal(ga_function_create_motion(ctx, &o, &ramp), GA_OK);
  assert_int_equal(ga_machine_create(ctx, NULL, &m), GA_OK);
  couplings_by_c(m, ramp);
  compare_with_c(model, m);
  ga_machine_destroy(&m);
  ga_function_destroy(&ramp);
  ga_model_destroy(&model);
  rig_close_context(&ctx);
}

static const char forces_text[] =
    "galpha: 1\n"
    "parameters: {k: 3, d: 2 N*s/m, c: 7}\n"
    "bodies:\n"
    "  p: {type: rigid, mass: 1, inertia: [1, 1, 1], position: [1, 2, 3]}\n"
    "  r: {type: scalar, mass: 1, rotational: true}\n"
    "functions:\n"
    "  wave: {type: wave, offset: 1, amplitude: 2, frequency: 3 Hz, frequency_end: 6, phase: 90 deg, "
    "t_start: 0.1, sweep: 2}\n"
    "  soft: {type: table, rows: [[-1, -2], [0, 0], [1, 3]], interpolation: monotone, before: linear, after: "
    "linear}\n"
    "  text: {type: expression, expression: k*t + wave(t)}\n"
    "  same: {type: constant, value: 4 N}\n"
    "forces:\n"
    "  s1: {type: spring, a: ground, b: p, stiffness: 3 kN/m, damping: d, preload: 1, rest: 2 cm, force: "
    "soft, damper: text,\n"
    "       expression: k*l^2 - c*v + p.x}\n"
    "  s2: {type: spring, coordinate: r, stiffness: 3 N*m/rad, rest: 90 deg}\n"
    "  a1: {type: actuator, a: ground, b: p, force: {value: 2 N, function: wave, expression: -c*p.vx}}\n"
    "  a2: {type: actuator, coordinate: r, force: 3 N*m}\n"
    "  a3: {type: actuator, coordinate: r, force: k*r.rate}\n"
    "  f1: {type: friction, coordinate: r, level: 2*k, speed: 1 rpm}\n"
    "  b1: {type: bushing, a: ground, b: p, stiffness: [1 kN/m, 2, 3, 4 N*m/rad, 5, 6], damping: [[1, 2, 3, "
    "4, 5, 6],\n"
    "       [0, 0, 0, 0, 0, 0], [0, 0, 0, 7 N*s/rad, 0, 0], [8 N*s, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0], [0, "
    "0, 0, 0, 0, 9]],\n"
    "       preload: [1, 2, 3 N, 4 N*m, 5, 6]}\n"
    "  w1: {type: force, frame: p, axes: body, force: [1, 2*t, {function: same}], torque: [0, 0, p.vz]}\n"
    "  c1: {type: contact, plane: ground, point: p, radius: 1 cm, stiffness: 1e6, dissipation: 0.1, mu: 0.3, "
    "speed: 1 cm/s}\n"
    "  c2: {type: contact, plane: ground, point: p, stiffness: 2 kN/m, exponent: 1}\n";

static void lines_by_c(ga_machine *m, ga_function *const f[4])
{
  const double pi = 3.14159265358979324;
  ga_spring_def s1 = ga_spring_defaults(), s2 = s1;
  s1.name = "s1", s1.a = "ground", s1.b = "p", s1.stiffness = 3000, s1.damping = 2, s1.preload = 1,
  s1.rest = 0.02;
  s1.force = f[1], s1.damper = f[2], s1.expression = "3*l^2 - 7*v + p.x";
  s2.name = "s2", s2.coordinate = "r", s2.stiffness = 3, s2.rest = 90 * pi / 180;
  ADD(m, spring, &s1);
  ADD(m, spring, &s2);
  ga_actuator_def a1 = ga_actuator_defaults(), a2 = a1, a3 = a1;
  a1.name = "a1", a1.a = "ground", a1.b = "p", a1.force = (ga_input){2, f[0], "-7*p.vx"};
  a2.name = "a2", a2.coordinate = "r", a2.force.value = 3;
  a3.name = "a3", a3.coordinate = "r", a3.force.expression = "3*r.rate";
  ADD(m, actuator, &a1);
  ADD(m, actuator, &a2);
  ADD(m, actuator, &a3);
  ga_friction_def f1 = ga_friction_defaults();
  f1.name = "f1", f1.coordinate = "r", f1.level.value = 6, f1.speed = 2 * pi / 60;
  ADD(m, friction, &f1);
}

static void forces_by_c(ga_machine *m, ga_function *const f[4])
{
  lines_by_c(m, f);
  ga_bushing_def b = ga_bushing_defaults();
  b.name = "b1", b.a = "ground", b.b = "p";
  for (int i = 0; i < 6; i++) b.stiffness[7 * i] = b.damping[i] = b.preload[i] = i + 1;
  b.stiffness[0] = 1000, b.damping[15] = 7, b.damping[18] = 8, b.damping[35] = 9;
  ADD(m, bushing, &b);
  ga_force_def w = ga_force_defaults();
  w.name = "w1", w.frame = "p", w.axes = GA_AXES_BODY, w.force[0].value = 1, w.force[1].expression = "2*t";
  w.force[2].function = f[3], w.torque[2].expression = "p.vz";
  ADD(m, force, &w);
  ga_contact_def c1 = ga_contact_defaults(), c2 = c1;
  c1.name = "c1", c1.plane = "ground", c1.point = "p", c1.radius = 0.01, c1.stiffness = 1e6,
  c1.dissipation = 0.1;
  c1.mu = 0.3, c1.speed = 0.01;
  c2.name = "c2", c2.plane = "ground", c2.point = "p", c2.stiffness = 2000, c2.exponent = 1;
  ADD(m, contact, &c1);
  ADD(m, contact, &c2);
}

static void make_functions(ga_context *ctx, ga_function *f[4])
{
  static const double x[] = {-1, 0, 1}, y[] = {-2, 0, 3};
  const double pi = 3.14159265358979324;
  const ga_wave_opts w = {1, 2, 3, 6, 90 * pi / 180, 0.1, 2};
  const ga_table_opts t = {3, x, y, GA_INTERPOLATE_MONOTONE, GA_EXTRAPOLATE_LINEAR, GA_EXTRAPOLATE_LINEAR};
  assert_status(ctx, ga_function_create_wave(ctx, &w, &f[0]), GA_OK);
  assert_status(ctx, ga_function_create_table(ctx, &t, &f[1]), GA_OK);
  const ga_symbol wave = {.name = "wave", .kind = GA_SYMBOL_FUNCTION, .function = f[0]};
  const ga_function_expr_opts e = {"3*t + wave(t)", &wave, 1};
  assert_status(ctx, ga_function_create_expr(ctx, &e, NULL, &f[2]), GA_OK);
  assert_status(ctx, ga_function_create_constant(ctx, 4, &f[3]), GA_OK);
}

static void forces_and_functions_are_those_of_c(void **state)
{
  ga_context *ctx = rig_open_context();
  ga_machine *m = NULL;
  ga_function *f[4];
  (void)state;
  ga_model *model = read_text(ctx, forces_text);
  make_functions(ctx, f);
  assert_int_equal(ga_machine_create(ctx, NULL, &m), GA_OK);
  ga_rigid_def p = ga_rigid_defaults();
  ga_scalar_def r = {"r", 1, 0, 0, 1, 0, GA_HOLD_NONE, 1};
  p.name = "p", p.mass = p.inertia[0] = p.inertia[1] = p.inertia[2] = 1, p.pose = ga_pose_at(1, 2, 3);
  ADD(m, rigid, &p);
  ADD(m, scalar, &r);
  forces_by_c(m, f);
  compare_with_c(model, m);
  ga_machine_destroy(&m);
  for (int i = 0; i < 4; i++) ga_function_destroy(&f[i]);
  ga_model_destroy(&model);
  rig_close_context(&ctx);
}

/* ---- Blocks ---- */

static const char blocks_text[] =
    "galpha: 1\n"
    "parameters: {k: 3}\n"
    "bodies: {r: {type: scalar, mass: 1}}\n"
    "functions: {ramp: {type: expression, expression: t^2}}\n"
    "blocks:\n"
    "  gain: {type: gain, gain: 2*k, inputs: r}\n"
    "  both: {type: gain, matrix: [[1, 2], [3, k]], inputs: [r, 2*r.rate]}\n"
    "  sum: {type: sum, weights: [1, -1, k], inputs: [r, gain, 1]}\n"
    "  product: {type: product, gain: 2, divide: [false, true], inputs: [r, 3]}\n"
    "  constant: {type: constant, value: [1, 2, k]}\n"
    "  time: {type: function_of_time, function: ramp}\n"
    "  integrator: {type: integrator, gain: 2, initial: [0.5], lower: -1, upper: inf, smoothing: 0.1, "
    "tracking_time: 10 ms, inputs: r}\n"
    "  ss: {type: state_space, A: [[0, 1], [-k, -1]], B: [[0], [1]], C: [[1, 0], [0, 1]], D: [[0], [k]], x0: "
    "[1, 2], inputs: {force: r}}\n"
    "  tf: {type: transfer_function, num: [1, 2], den: [1, k, 5], steady_output: 1, inputs: r}\n"
    "  first: {type: first_order, gain: 2, time_constant: 20 ms, pass: high, initial_input: 1, inputs: {u: "
    "r}}\n"
    "  second: {type: second_order, gain: 2, frequency: 3 Hz, damping: 0.5, pass: band, initial_input: 1, "
    "inputs: r}\n"
    "  delay: {type: delay, time: 0.1 s, order: 4, initial_input: 1, inputs: r}\n"
    "  pid: {type: pid, kp: 10, ki: 5, kd: 1, filter_time: 1 ms, setpoint_weight: 0.5, "
    "setpoint_weight_derivative: 0.25, lower: -100,\n"
    "        upper: 100, smoothing: 1, tracking_time: 0.5, integral: 2, filtered: 3, inputs: {measurement: "
    "r, setpoint: {value: 1, function: ramp}}}\n"
    "  sat: {type: saturation, lower: -2, upper: 1, smoothing: 0.1, inputs: r}\n"
    "  dead: {type: dead_zone, lower: -2, upper: 1, inputs: r}\n"
    "  tanh: {type: tanh, gain: 2, scale: 3, inputs: r}\n"
    "  table: {type: table, function: {type: table, x: [0, 1, 2], y: [0, 1, 4], interpolation: spline}, "
    "inputs: r}\n"
    "  map: {type: table2d, x: [0, 1], y: [0, 1, 2], z: [[1, 2, 3], [4, 5, 6]], outside: linear, inputs: [r, "
    "r.rate]}\n"
    "  calc: {type: expression, expression: [k*a + ramp(b), a*b*t], inputs: {a: r, b: r.rate}}\n"
    "  valve: {type: orifice, coefficient: 2e-7, transition: 2 bar, check: true, check_width: 300 Pa, "
    "controlled: "
    "true,\n"
    "          inputs: {outlet: 1, inlet: r, opening: r.rate}}\n"
    "  oil: {type: chamber, bulk_modulus: 4e8 Pa, volume: 0.2 m^3, area: -10 cm^2, pressure: 3 bar, inputs: "
    "[valve, r, r.rate]}\n"
    "  motor: {type: dc_motor, resistance: 2 ohm, inductance: 3 mH, constant: 0.1, current: 1 A, inputs: "
    "[12, "
    "r.rate]}\n"
    "  box: {type: gearbox, ratio: -5, efficiency: 0.8, power: 2 W, inputs: [motor.y1, r.rate]}\n"
    "  program: {type: sum, inputs: [r, 1], sample_time: 20 ms, sample_offset: 5 ms}\n";

typedef struct block_made {
  const char *name;
  ga_control_block *block;
  ga_input inputs[3];
} block_made;

enum { N_MADE = 24 };

static void blocks_without_states(ga_context *ctx, const ga_function *ramp, block_made *b)
{
  static const double matrix[4] = {1, 2, 3, 3}, weights[3] = {1, -1, 3}, value[3] = {1, 2, 3};
  static const int divide[2] = {0, 1};
  const ga_input r = {0, NULL, "r"};
  ga_block_gain_opts gain = ga_block_gain_defaults(), both = gain;
  gain.gain = 6;
  b[0] = (block_made){"gain", NULL, {r}};
  assert_status(ctx, ga_block_create_gain(ctx, &gain, &b[0].block), GA_OK);
  both.n_in = both.n_out = 2, both.matrix = matrix;
  b[1] = (block_made){"both", NULL, {r, {0, NULL, "2*r.rate"}}};
  assert_status(ctx, ga_block_create_gain(ctx, &both, &b[1].block), GA_OK);
  const ga_block_sum_opts sum = {3, weights};
  b[2] = (block_made){"sum", NULL, {r, {0, NULL, "gain"}, {1, NULL, NULL}}};
  assert_status(ctx, ga_block_create_sum(ctx, &sum, &b[2].block), GA_OK);
  const ga_block_product_opts product = {2, 2, divide};
  b[3] = (block_made){"product", NULL, {r, {3, NULL, NULL}}};
  assert_status(ctx, ga_block_create_product(ctx, &product, &b[3].block), GA_OK);
  const ga_block_constant_opts constant = {3, value};
  b[4] = (block_made){.name = "constant"};
  assert_status(ctx, ga_block_create_constant(ctx, &constant, &b[4].block), GA_OK);
  const ga_block_function_of_time_opts time = {ramp};
  b[5] = (block_made){.name = "time"};
  assert_status(ctx, ga_block_create_function_of_time(ctx, &time, &b[5].block), GA_OK);
}

static void blocks_with_states(ga_context *ctx, const ga_function *ramp, block_made *b)
{
  static const double initial = 0.5, A[] = {0, 1, -3, -1}, B[] = {0, 1}, C[] = {1, 0, 0, 1}, D[] = {0, 3},
                      x0[] = {1, 2};
  static const double num[] = {1, 2}, den[] = {1, 3, 5};
  const ga_input r = {0, NULL, "r"};
  const ga_block_integrator_opts integrator = {1, 2, &initial, -1, INFINITY, 0.1, 0.01};
  b[6] = (block_made){"integrator", NULL, {r}};
  assert_status(ctx, ga_block_create_integrator(ctx, &integrator, &b[6].block), GA_OK);
  const ga_block_state_space_opts ss = {1, 2, 2, A, B, C, D, x0, {NULL, NULL, NULL}};
  b[7] = (block_made){"ss", NULL, {r}};
  assert_status(ctx, ga_block_create_state_space(ctx, &ss, &b[7].block), GA_OK);
  const ga_block_transfer_function_opts tf = {2, 3, num, den, 1};
  b[8] = (block_made){"tf", NULL, {r}};
  assert_status(ctx, ga_block_create_transfer_function(ctx, &tf, &b[8].block), GA_OK);
  const ga_block_first_order_opts first = {2, 0.02, GA_PASS_HIGH, 1};
  b[9] = (block_made){"first", NULL, {r}};
  assert_status(ctx, ga_block_create_first_order(ctx, &first, &b[9].block), GA_OK);
  const ga_block_second_order_opts second = {2, 3, 0.5, GA_PASS_BAND, 1};
  b[10] = (block_made){"second", NULL, {r}};
  assert_status(ctx, ga_block_create_second_order(ctx, &second, &b[10].block), GA_OK);
  const ga_block_delay_opts delay = {0.1, 4, 1};
  b[11] = (block_made){"delay", NULL, {r}};
  assert_status(ctx, ga_block_create_delay(ctx, &delay, &b[11].block), GA_OK);
  const ga_block_pid_opts pid = {10, 5, 1, 1e-3, 0.5, 0.25, -100, 100, 1, 0.5, 2, 3};
  b[12] = (block_made){"pid", NULL, {{1, ramp, NULL}, r}};
  assert_status(ctx, ga_block_create_pid(ctx, &pid, &b[12].block), GA_OK);
}

static void blocks_of_shapes(ga_context *ctx, const ga_function *ramp, const ga_function *table,
                             const ga_table2d *map, block_made *b)
{
  static const char *const texts[] = {"3*a + ramp(b)", "a*b*t"}, *const names[] = {"a", "b"};
  const ga_input r = {0, NULL, "r"}, rate = {0, NULL, "r.rate"};
  const ga_block_saturation_opts sat = {-2, 1, 0.1};
  b[13] = (block_made){"sat", NULL, {r}};
  assert_status(ctx, ga_block_create_saturation(ctx, &sat, &b[13].block), GA_OK);
  const ga_block_dead_zone_opts dead = {-2, 1, 0};
  b[14] = (block_made){"dead", NULL, {r}};
  assert_status(ctx, ga_block_create_dead_zone(ctx, &dead, &b[14].block), GA_OK);
  const ga_block_tanh_opts th = {2, 3};
  b[15] = (block_made){"tanh", NULL, {r}};
  assert_status(ctx, ga_block_create_tanh(ctx, &th, &b[15].block), GA_OK);
  const ga_block_table_opts of_one = {table};
  b[16] = (block_made){"table", NULL, {r}};
  assert_status(ctx, ga_block_create_table(ctx, &of_one, &b[16].block), GA_OK);
  const ga_block_table2d_opts of_two = {map};
  b[17] = (block_made){"map", NULL, {r, rate}};
  assert_status(ctx, ga_block_create_table2d(ctx, &of_two, &b[17].block), GA_OK);
  const ga_symbol symbol = {.name = "ramp", .kind = GA_SYMBOL_FUNCTION, .function = ramp};
  const ga_block_expression_opts calc = {2, names, 2, texts, NULL, &symbol, 1};
  b[18] = (block_made){"calc", NULL, {r, rate}};
  assert_status(ctx, ga_block_create_expression(ctx, &calc, NULL, NULL, &b[18].block), GA_OK);
}

static void blocks_of_machines(ga_context *ctx, block_made *b)
{
  const ga_input r = {0, NULL, "r"}, rate = {0, NULL, "r.rate"}, one = {1, NULL, NULL};
  const ga_block_orifice_opts valve = {2e-7, 2e5, 1, 300, 1};
  b[19] = (block_made){"valve", NULL, {r, one, rate}};
  assert_status(ctx, ga_block_create_orifice(ctx, &valve, &b[19].block), GA_OK);
  const ga_block_chamber_opts oil = {4e8, 0.2, -10e-4, 3e5};
  b[20] = (block_made){"oil", NULL, {{0, NULL, "valve"}, r, rate}};
  assert_status(ctx, ga_block_create_chamber(ctx, &oil, &b[20].block), GA_OK);
  const ga_block_dc_motor_opts motor = {2, 3e-3, 0.1, 1};
  b[21] = (block_made){"motor", NULL, {{12, NULL, NULL}, rate}};
  assert_status(ctx, ga_block_create_dc_motor(ctx, &motor, &b[21].block), GA_OK);
  const ga_block_gearbox_opts box = {-5, 0.8, 2};
  b[22] = (block_made){"box", NULL, {{0, NULL, "motor.y1"}, rate}};
  assert_status(ctx, ga_block_create_gearbox(ctx, &box, &b[22].block), GA_OK);
  const ga_block_sum_opts sum = ga_block_sum_defaults();
  const ga_block_sampled_opts sampled = {0.02, 0.005, NULL};
  ga_control_block *inner = NULL;
  b[23] = (block_made){"program", NULL, {r, one}};
  assert_status(ctx, ga_block_create_sum(ctx, &sum, &inner), GA_OK);
  assert_status(ctx, ga_block_create_sampled(ctx, &sampled, &inner, &b[23].block), GA_OK);
}

static void blocks_are_those_of_c(void **state)
{
  static const double x[] = {0, 1, 2}, y[] = {0, 1, 4}, z[] = {1, 2, 3, 4, 5, 6};
  ga_context *ctx = rig_open_context();
  ga_machine *m = NULL;
  block_made b[N_MADE];
  ga_function *ramp = expression(ctx, "t^2"), *table = NULL;
  ga_table2d *map = NULL;
  const ga_table_opts t = {3, x, y, GA_INTERPOLATE_SPLINE, GA_EXTRAPOLATE_HOLD, GA_EXTRAPOLATE_HOLD};
  const ga_table2d_opts t2 = {2, 3, x, x, z, GA_INTERPOLATE_LINEAR, GA_EXTRAPOLATE_LINEAR};
  (void)state;
  ga_model *model = read_text(ctx, blocks_text);
  assert_status(ctx, ga_function_create_table(ctx, &t, &table), GA_OK);
  assert_status(ctx, ga_table2d_create(ctx, &t2, &map), GA_OK);
  assert_int_equal(ga_machine_create(ctx, NULL, &m), GA_OK);
  const ga_scalar_def r = {"r", 1, 0, 0, 0, 0, GA_HOLD_NONE, 1};
  ADD(m, scalar, &r);
  blocks_without_states(ctx, ramp, b);
  blocks_with_states(ctx, ramp, b);
  blocks_of_shapes(ctx, ramp, table, map, b);
  blocks_of_machines(ctx, b);
  for (int i = 0; i < N_MADE; i++)
    assert_status(ctx, ga_machine_add_block(m, b[i].name, b[i].block, b[i].inputs), GA_OK);
  compare_with_c(model, m);
  ga_machine_destroy(&m);
  ga_function_destroy(&ramp);
  ga_function_destroy(&table);
  ga_table2d_destroy(&map);
  ga_model_destroy(&model);
  rig_close_context(&ctx);
}

static void blocks_have_units(void **state)
{
  static const char *const expected[][2] = {{"p", "kPa"},     {"two.y1", "V"},  {"two.y2", ""},
                                            {"same.y1", "A"}, {"same.y2", "A"}, {"f", ""},
                                            {"f.x1", ""}};
  ga_context *ctx = rig_open_context();
  (void)state;
  ga_model *model =
      read_text(ctx, "galpha: 1\n"
                     "bodies: {a: {type: scalar, mass: 1}}\n"
                     "blocks:\n"
                     "  p: {type: gain, gain: 2, inputs: a, unit: kPa}\n"
                     "  two: {type: expression, expression: [u, 2*u], inputs: {u: p}, unit: [V, 1]}\n"
                     "  same: {type: constant, value: [1, 2], unit: A}\n"
                     "  f: {type: first_order, time_constant: 1, inputs: two.y1}\n"
                     "simulation: {record: f}\n");
  assert_int_equal(ga_model_n_messages(model), 0); /* blocks with units need not be used */
  const ga_machine *m = ga_model_machine(model);
  for (int i = 0; i < (int)(sizeof expected / sizeof expected[0]); i++) {
    const int signal = ga_machine_find_signal(m, expected[i][0]);
    assert_true(signal >= 0);
    assert_string_equal(ga_machine_signal_unit(m, signal), expected[i][1]);
  }
  char text[200];
  int named = 0;
  for (int i = 0; i < ga_system_size(ga_machine_system(m), GA_BLOCK_Y); i++) {
    const char *unit = ga_machine_equation(m, GA_BLOCK_Y, i, text, sizeof text);
    if (strcmp(text, "block 'p': output 1") != 0) continue;
    assert_string_equal(unit, "kPa");
    named = 1;
  }
  assert_true(named);
  ga_model_destroy(&model);
  rig_close_context(&ctx);
}

/* Every kind of control.h is among those above, but for C functions, which come from libraries. */
static void every_kind_of_block_is_read(void **state)
{
  (void)state;
  for (int i = 0; i < GA_N_BLOCK_KINDS; i++) {
    char type[100];
    snprintf(type, sizeof type, "type: %s,", ga_block_kind_name((ga_block_kind)i));
    if (i != GA_KIND_USER && i != GA_KIND_SAMPLED && !strstr(blocks_text, type))
      fail_msg("no block has '%s'", type);
  }
}

/* ---- Settings ---- */

static void settings_are_read(void **state)
{
  ga_context *ctx = rig_open_context();
  (void)state;
  ga_model *model = read_text(
      ctx, "galpha: 1\ntitle: A title\nbodies: {p: {type: point, mass: 1}}\n"
           "simulation: {t_start: 1, t_end: 1 min, step: 2 ms, tolerance: 1e-6, method: soi2, rho: 0.5,\n"
           "  output: 10 ms, record: [p.x, p.*, energy.kinetic]}\n");
  const ga_run_settings *s = ga_model_settings(model);
  assert_string_equal(ga_model_title(model), "A title");
  const double expected[] = {1, 60, 0.002, 1e-6, 0.5, 0.01};
  const double read[] = {s->t_start, s->t_end, s->step, s->tolerance, s->rho, s->output};
  compare_numbers(read, expected, 6, "simulation", "settings");
  assert_int_equal(s->method, GA_SOI2);
  assert_int_equal(s->n_record, 3);
  assert_string_equal(s->record[1], "p.*");
  assert_non_null(strstr(ga_model_text(model), "title: A title"));
  ga_model_destroy(&model);
  assert_null(model);
  model = read_text(ctx, "galpha: 1\n");
  s = ga_model_settings(model);
  const double usual[] = {0, 1, 0, 1e-4, 0.8, 0};
  const double found[] = {s->t_start, s->t_end, s->step, s->tolerance, s->rho, s->output};
  compare_numbers(found, usual, 6, "simulation", "defaults");
  assert_int_equal(s->method, GA_STABILIZED);
  assert_int_equal(s->n_record, 0);
  assert_string_equal(ga_model_title(model), "");
  assert_int_equal(ga_model_n_messages(model), 0);
  ga_model_destroy(&model);
  rig_close_context(&ctx);
}

/* Every setting of the table can be read, and what is read is what steppers and starts get. */
static void options_of_the_method_are_read(void **state)
{
  ga_context *ctx = rig_open_context();
  (void)state;
  ga_stepper_opts o;
  const ga_run_settings run = ga_run_defaults();
  const ga_stepper_opts usual = ga_stepper_defaults();
  const ga_start_opts start = ga_run_start_opts(&run), usual_start = ga_start_defaults();
  assert_status(ctx, ga_run_stepper_opts(ctx, &run, &o), GA_OK);
  assert_memory_equal(&o, &usual, sizeof o);
  assert_true(start.h == usual_start.h && start.project == usual_start.project &&
              start.shift_a == usual_start.shift_a && start.perturb_v == usual_start.perturb_v &&
              start.max_change == usual_start.max_change && start.max_gap == usual_start.max_gap &&
              start.forward == usual_start.forward);
  ga_model *model = read_text(
      ctx, "galpha: 1\nsimulation: {method: index3, scheme: hht, hht_alpha: -0.2, commutator: false,\n"
           "  adjust: gamma, project: false, shift_a: false, perturb_v: false}\n");
  ga_scheme hht, newmark;
  assert_status(ctx, ga_scheme_hht(ctx, -0.2, &hht), GA_OK);
  assert_status(ctx, ga_scheme_newmark(ctx, 0.3, 0.5, &newmark), GA_OK);
  assert_status(ctx, ga_run_stepper_opts(ctx, ga_model_settings(model), &o), GA_OK);
  assert_memory_equal(&o.scheme, &hht, sizeof hht);
  assert_int_equal(o.method, GA_INDEX3);
  assert_int_equal(o.commutator, 0);
  assert_int_equal(o.adjust, GA_ADJUST_GAMMA);
  const ga_start_opts s = ga_run_start_opts(ga_model_settings(model));
  assert_true(!s.project && !s.shift_a && !s.perturb_v);
  ga_model_destroy(&model);
  model = read_text(ctx, "galpha: 1\nsimulation: {scheme: newmark, newmark_beta: 0.3, newmark_gamma: 1/2}\n");
  assert_status(ctx, ga_run_stepper_opts(ctx, ga_model_settings(model), &o), GA_OK);
  assert_memory_equal(&o.scheme, &newmark, sizeof newmark);
  ga_model_destroy(&model);
  ga_run_settings wrong = ga_run_defaults();
  wrong.scheme = (ga_scheme_kind)7;
  assert_status(ctx, ga_run_stepper_opts(ctx, &wrong, &o), GA_ERR_ARGUMENT);
  rig_close_context(&ctx);
}

/* The table of settings: defaults lie within its ranges, choices are among its names. */
static void settings_have_a_table(void **state)
{
  (void)state;
  const ga_run_settings usual = ga_run_defaults();
  ga_setting at;
  int n = 0;
  for (; ga_setting_at(n, &at); n++) {
    const void *member = (const char *)&usual + at.offset;
    assert_true(at.name[0] && at.about[0]);
    if (at.type == GA_SETTING_NUMBER) {
      const double value = *(const double *)member;
      assert_true((value >= at.least && value <= at.most) || (at.or_zero && value == 0));
    } else if (at.type == GA_SETTING_INTEGER) {
      const int value = *(const int *)member;
      assert_true(value >= at.least && value <= at.most);
    } else {
      const int value = *(const int *)member;
      assert_in_range(value, 0, at.type == GA_SETTING_FLAG ? 1 : at.n_choices - 1);
    }
  }
  assert_true(n > 20);
  for (int i = 0; ga_setting_at(i, &at);
       i++) { /* one that another decides on is used with some of its values */
    ga_setting on;
    if (at.depends) assert_true(ga_setting_find(at.depends, &on) && on.type == GA_SETTING_CHOICE);
    if (at.depends) assert_true(at.with != 0 && at.with < (1ul << on.n_choices));
    assert_true(ga_setting_find(at.name, &on) && strcmp(on.name, at.name) == 0);
  }
  assert_false(ga_setting_find("nothing", &at));
  assert_false(ga_setting_at(n, NULL));
  assert_false(ga_setting_at(-1, NULL));
  assert_true(ga_setting_at(0, NULL));
}

/* In C too, every setting is refused out of its range, and the error names it. */
static void settings_are_checked(void **state)
{
  ga_context *ctx = rig_open_context();
  ga_setting at;
  ga_stepper_opts stepper;
  ga_simulate_opts simulate = ga_simulate_defaults();
  (void)state;
  assert_status(ctx, ga_run_check(ctx, NULL), GA_OK);
  for (int i = 0; ga_setting_at(i, &at); i++) {
    const double wrong[] = {NAN, INFINITY, -INFINITY, at.most + 1, at.least - 1};
    for (int k = 0; k < 5; k++) {
      ga_run_settings s = ga_run_defaults();
      void *member = (char *)&s + at.offset;
      if (at.type == GA_SETTING_NUMBER && at.or_zero && wrong[k] == 0) continue;
      if (at.type == GA_SETTING_NUMBER)
        *(double *)member = wrong[k];
      else
        *(int *)member = k % 2 ? -7 : 2000000000;
      if (at.type == GA_SETTING_NUMBER && at.least - 1 >= at.least) continue;
      assert_status(ctx, ga_run_check(ctx, &s), GA_ERR_ARGUMENT);
      assert_string_equal(ga_context_error(ctx)->field, at.name);
      assert_int_equal(ga_context_error(ctx)->reason, GA_REASON_SETTING_RANGE);
      assert_status(ctx, ga_run_stepper_opts(ctx, &s, &stepper), GA_ERR_ARGUMENT);
      assert_status(ctx, ga_run_simulate_opts(ctx, &s, &simulate), GA_ERR_ARGUMENT);
    }
  }
  rig_close_context(&ctx);
}

/* Equal steps, tolerance and accuracy: which of those given counts. */
static void steps_are_chosen(void **state)
{
  static const struct {
    double step, accuracy; /* before */
    int given[3];          /* step, tolerance, accuracy */
    double step_after, accuracy_after;
  } cases[] = {
      {0, 1e-3, {0, 0, 0}, 0, 1e-3},   /* nothing is given */
      {0.1, 1e-3, {1, 0, 0}, 0.1, 0},  /* equal steps end error bars */
      {0, 1e-3, {1, 0, 0}, 0, 0},      /* step: 0 is error control with the tolerance */
      {0.1, 1e-3, {0, 1, 0}, 0, 0},    /* a tolerance ends both */
      {0.1, 1e-3, {0, 0, 1}, 0, 1e-3}, /* an accuracy ends equal steps */
      {0.1, 0, {0, 0, 1}, 0.1, 0},     /* but not one of 0 */
      {0, 1e-3, {0, 1, 1}, 0, 1e-3},   /* both: the first tolerance of the rounds */
      {0.1, 1e-3, {1, 1, 1}, 0.1, 0},  /* the step counts */
  };
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    ga_run_settings s = ga_run_defaults();
    s.step = cases[i].step;
    s.accuracy = cases[i].accuracy;
    ga_run_choose_steps(&s, cases[i].given[0], cases[i].given[1], cases[i].given[2]);
    assert_true(s.step == cases[i].step_after && s.accuracy == cases[i].accuracy_after);
    assert_int_equal(s.accuracy_by_default, i == 0);
  }
}

/* ---- Messages ---- */

typedef struct complaint {
  const char *text; /* after "galpha: 1\n", so that its first line is the second */
  int line, column;
  const char *data; /* as message_data.h writes it; NULL: only its place is compared */
} complaint;

#define ARM "bodies: {arm: {type: rigid, mass: 1, inertia: [1, 1, 1]}}\n"
#define HINGE ARM "joints: {j: {type: revolute, a: ground, b: arm}}\n"

static const complaint errors[] = {
    /* the model */
    {"gravty: [0, 0, 1]\n", 2, 1, "UNKNOWN_KEY the model 'gravty' ~gravity"},
    {"gravity: [0, 0]\n", 2, 10, "WRONG_COUNT the model/gravity =2"},
    {"gravity: [0, 0, 1 m]\n", 2, 19, "WRONG_DIMENSION the model/gravity 'm'"},
    {"gravity: 9.81\n", 2, 10, "WRONG_FORM the model/gravity 'a number'"},
    {"form: so3\n", 2, 7, "UNKNOWN_CHOICE the model/form 'so3' ~se3"},
    {"title: [a]\n", 2, 8, "WRONG_FORM the model/title 'a list'"},
    {"bodies: [a]\n", 2, 9, "WRONG_FORM the model/bodies 'a list'"},
    {"bodies: {a: 3}\n", 2, 13, "WRONG_FORM body/a 'a number'"},
    {"bodies: {a: {mass: 3}}\n", 2, 10, "KEY_MISSING body/a/type"},
    {"bodies: {a: {type: rigit}}\n", 2, 20, "UNKNOWN_CHOICE body/a/type 'rigit' ~rigid"},
    {ARM "markers: {arm: {body: ground}}\n", 3, 11, "GIVEN_TWICE the model 'arm'"},
    {"bodies: {2nd: {type: point, mass: 1}}\n", 2, 10, "NAME_SYNTAX mass point/2nd"},
    {"bodies: {t: {type: point, mass: 1}}\n", 2, 10, "NAME_RESERVED mass point/t"},
    /* bodies */
    {"bodies: {a: {type: point, mass: 2 m}}\n", 2, 35, "WRONG_DIMENSION mass point/a/mass 'm'"},
    {"bodies: {a: {type: point, mass: [1]}}\n", 2, 33, "WRONG_FORM mass point/a/mass 'a list'"},
    {"bodies: {a: {type: point, mass: x}}\n", 2, 33, "UNKNOWN_NAME mass point/a/mass 'x'"},
    {"bodies: {a: {type: point, mass: 0}}\n", 2, 33, "OUT_OF_RANGE mass point/a/mass =0 kg"},
    {"bodies: {a: {type: point, mass: 1, velocity: [1, 2]}}\n", 2, 46,
     "WRONG_COUNT mass point/a/velocity =2"},
    {"bodies: {a: {type: point, mass: 1, massles: true}}\n", 2, 36,
     "UNKNOWN_KEY mass point/a 'massles' ~massless"},
    {"bodies: {a: {type: point, mass: 1, massless: 3}}\n", 2, 46, "UNKNOWN_CHOICE mass point/a/massless '3'"},
    {"bodies: {a: {type: point, mass: 1, coordinate: x}}\n", 2, 36, "UNKNOWN_KEY mass point/a 'coordinate'"},
    {"bodies: {a: {type: planar, mass: 1, inertia: 1, com: [0,5, 0]}}\n", 2, 54,
     "WRONG_COUNT planar body/a/com =3"},
    {"bodies: {a: {type: point, mass: 1, 5 kg}}\n", 2, 36, "DECIMAL_COMMA mass point/a '5 kg'"},
    {"bodies: {a: {type: rigid, mass: 1, inertia: 1}}\n", 2, 45,
     "WRONG_FORM rigid body/a/inertia 'a number'"},
    {"bodies: {a: {type: rigid, mass: 1, inertia: [1, 1]}}\n", 2, 45, "WRONG_COUNT rigid body/a/inertia =2"},
    {"bodies: {a: {type: rigid, mass: 1, inertia: [1, 1, 5]}}\n", 2, 45,
     "INERTIA_IMPOSSIBLE rigid body/a/inertia =1 =1 =5 =3"},
    {"bodies: {a: {type: rigid, mass: 1, inertia: [1, 1, 1], pose: [1, 2, 3], rotation: {}}}\n", 2, 56,
     "BOTH_GIVEN rigid body/a 'pose'"},
    {"bodies: {a: {type: rigid, mass: 1, inertia: [1, 1, 1], pose: {positon: [1, 2, 3]}}}\n", 2, 63,
     "UNKNOWN_KEY rigid body/a/pose 'positon' ~position"},
    {"bodies: {a: {type: rigid, mass: 1, inertia: [1, 1, 1], rotation: {axis: [1, 2, 3]}}}\n", 2, 66,
     "GIVE_ONE_OF rigid body/a/rotation"},
    {"bodies: {a: {type: rigid, mass: 1, inertia: [1, 1, 1], rotation: {axis: [0, 0, 0], angle: 1}}}\n", 2,
     66, NULL},
    {"bodies: {a: {type: rigid, mass: 1, inertia: [1, 1, 1], rotation: {axis: [0, 0, 1], angle: 1 m}}}\n", 2,
     93, "WRONG_DIMENSION rigid body/a/rotation 'm'"},
    {"bodies: {a: {type: rigid, mass: 1, inertia: [1, 1, 1], rotation: {quaternion: [1, 2, 3]}}}\n", 2, 79,
     "WRONG_COUNT rigid body/a/rotation =3"},
    {"bodies: {a: {type: rigid, mass: 1, inertia: [1, 1, 1], rotation: {euler: [1, 2, 3], sequence: xyw}}}\n",
     2, 66, NULL},
    {"bodies: {a: {type: rigid, mass: 1, inertia: [1, 1, 1], rotation: 30 deg}}\n", 2, 66,
     "WRONG_FORM rigid body/a/rotation 'a text'"},
    {"bodies: {a: {type: scalar, mass: 1 kg*m^2}}\n", 2, 36, "WRONG_DIMENSION scalar/a/mass 'kg*m^2'"},
    {"bodies: {a: {type: scalar, mass: 1 kg, rotational: true}}\n", 2, 36,
     "WRONG_DIMENSION scalar/a/mass 'kg'"},
    /* markers, joints */
    {"markers: {a: {}}\n", 2, 11, "KEY_MISSING marker/a/body"},
    {ARM "markers: {a: {body: amr}}\n", 3, 21, "UNKNOWN_PART marker/a/body 'amr' ~arm"},
    {ARM "joints: {j: {a: ground, b: arm}}\n", 3, 10, "KEY_MISSING joint/j/type"},
    {ARM "joints: {j: {type: revolut, a: ground, b: arm}}\n", 3, 20,
     "UNKNOWN_CHOICE joint/j/type 'revolut' ~revolute"},
    {HINGE "drives: {d: {coordinate: j.angle, function: 2 rad/s*t}}\n", 4, 53,
     "TONNE_OR_TIME drive/d/function 't'"},
    {HINGE "blocks: {g: {type: gain, gain: 2, inputs: [2 N*t]}}\n", 4, 48,
     "TONNE_OR_TIME block/g/inputs[0] 't'"},
    {HINGE "drives: {d: {coordinate: j.angle, function: {type: motion, to: 1 m}}}\n", 4, 66,
     "WRONG_DIMENSION drive/d/function.to 'm'"},
    {HINGE "drives: {d: {coordinate: j.angle, function: {type: table, rows: [[0, 0], [1, 2 m]]}}}\n", 4, 80,
     "WRONG_DIMENSION drive/d/function.rows 'm'"},
    {HINGE "functions: {f: {type: wave, amplitude: 3 N}}\ndrives: {d: {coordinate: j.angle, function: f}}\n",
     4, 42, "WRONG_DIMENSION function/f/amplitude 'N'"},
    {HINGE "drives: {d: {coordinate: j.angle, function: [0, 1]}}\n", 4, 45,
     "WRONG_FORM drive/d/function 'a list'"},
    {HINGE "drives: {d: {coordinate: j.angle, function: arm.x}}\n", 4, 45,
     "UNKNOWN_REFERENCE drive/d/function 'arm.x'"},
    {HINGE "drives: {d: {coordinate: j.angle}}\n", 4, 10, "FIELD_MISSING drive/d/function"},
    {HINGE "drives: {d: {coordinate: j.angel}}\n", 4, 10, "FIELD_MISSING drive/d/function"},
    {ARM "t_end: 3\n", 3, 1, "FOREIGN_WORD the model 't_end'"},
    {ARM "joints: {j: {type: revolute, a: ground}}\n", 3, 10, "KEY_MISSING joint/j/b"},
    {ARM "joints: {j: {type: revolute, a: arm, b: arm}}\n", 3, 33, "BOTH_THE_SAME joint/j/a 'arm'"},
    {ARM "joints: {j: {type: rod, a: arm, b: ground, length: 1 s}}\n", 3, 54,
     "WRONG_DIMENSION joint/j/length 's'"},
    {ARM "joints: {j: {type: rod, a: arm, b: ground, length: -1}}\n", 3, 52,
     "OUT_OF_RANGE joint/j/length =-1 m"},
    {ARM "joints: {j: {type: gear, a: arm, b: ground, ratio: 1 m}}\n", 3, 54,
     "WRONG_DIMENSION joint/j/ratio 'm'"},
    {ARM "joints: {j: {type: gear, a: arm, b: ground}}\n", 3, 10, "KEY_MISSING joint/j/ratio"},
    {ARM "joints: {j: {type: rack_and_pinion, a: arm, b: ground}}\n", 3, 10, "KEY_MISSING joint/j/ratio"},
    {ARM "joints: {j: {type: gear, a: arm, b: ground, ratio: 0}}\n", 3, 52, "OUT_OF_RANGE joint/j/ratio =0"},
    {HINGE "drives: {d: {coordinate: j.angle}}\n", 4, 10, "FIELD_MISSING drive/d/function"},
    {HINGE "drives: {d: {coordinate: j.angle, function: 3 m}}\n", 4, 47,
     "WRONG_DIMENSION drive/d/function 'm'"},
    {HINGE "drives: {d: {coordinate: j.angle, function: rmap}}\nfunctions: {ramp: {type: motion}}\n", 4, 45,
     "UNKNOWN_REFERENCE drive/d/function 'rmap' ~ramp"},
    {HINGE "drives: {d: {coordinate: j.angle, function: 2*q}}\n", 4, 47,
     "UNKNOWN_REFERENCE drive/d/function 'q'"},
    {HINGE "drives: {d: {coordinate: j.angle, function: 2*(t}}\n", 4, 49, "SYNTAX drive/d/function"},
    {ARM "rollings: {r: {type: disk, body: arm, radius: 0}}\n", 3, 47, "OUT_OF_RANGE rolling/r/radius =0 m"},
    /* forces */
    {HINGE "forces: {s: {coordinate: j.angle}}\n", 4, 10, "KEY_MISSING force/s/type"},
    {HINGE "forces: {s: {type: spring, coordinate: j.angle, stiffness: 3 N/m}}\n", 4, 62,
     "WRONG_DIMENSION spring/s/stiffness 'N/m'"},
    {HINGE "forces: {s: {type: spring, coordinate: j, stiffness: 3 N/m}}\n", 4, 56,
     "WRONG_DIMENSION spring/s/stiffness 'N/m'"},
    {HINGE "forces: {s: {type: spring, a: ground, b: arm, stiffness: 3 N*m/rad}}\n", 4, 60,
     "WRONG_DIMENSION spring/s/stiffness 'N*m/rad'"},
    {HINGE "forces: {s: {type: spring, coordinate: j.angle, expression: 2*l + foo.x}}\n", 4, 67,
     "UNKNOWN_REFERENCE spring/s/expression 'foo.x'"},
    {HINGE "forces: {s: {type: spring, coordinate: j.angle, expression: 2*l + *}}\n", 4, 67,
     "SYNTAX spring/s/expression '*'"},
    {HINGE "parameters: {v: 1}\nforces: {s: {type: spring, coordinate: j.angle, expression: 2*v}}\n", 5, 63,
     "AMBIGUOUS_NAME spring/s/expression 'v'"},
    {HINGE "parameters: {g: 1}\nblocks: {g: {type: constant, value: 1}}\nforces: {s: {type: actuator, "
           "coordinate: j.angle, force: g*t}}\n",
     6, 58, "AMBIGUOUS_NAME actuator/s/force 'g'"},
    {HINGE "forces: {s: {type: actuator, coordinate: j.angle, force: pdi}}\nblocks: {pid: {type: constant, "
           "value: 1}}\n",
     4, 58, "UNKNOWN_REFERENCE actuator/s/force 'pdi' ~pid"},
    {HINGE "forces: {s: {type: actuator, coordinate: j.angle, force: 2*amr.wz}}\n", 4, 60,
     "UNKNOWN_REFERENCE actuator/s/force 'amr.wz' ~arm.wz"},
    {HINGE "parameters: {gain: 1}\nforces: {s: {type: actuator, coordinate: j.angle, force: gian*t}}\n", 5,
     58, "UNKNOWN_REFERENCE actuator/s/force 'gian' ~gain"},
    {HINGE "forces: {s: {type: actuator, coordinate: j.angle, force: 3 kg}}\n", 4, 60,
     "WRONG_DIMENSION actuator/s/force 'kg'"},
    {HINGE "forces: {s: {type: actuator, coordinate: j.angle, force: 3 knn}}\n", 4, 60,
     "UNKNOWN_UNIT actuator/s/force 'knn' ~nN"},
    {HINGE "forces: {s: {type: actuator, coordinate: j.angle, force: {valeu: 3}}}\n", 4, 59,
     "UNKNOWN_KEY actuator/s/force 'valeu' ~value"},
    {HINGE "forces: {s: {type: actuator, coordinate: j.angle, force: [1]}}\n", 4, 58,
     "WRONG_FORM actuator/s/force 'a list'"},
    {HINGE "forces: {s: {type: friction, coordinate: j.angle, level: 1}}\n", 4, 10,
     "KEY_MISSING friction/s/speed"},
    {HINGE "forces: {s: {type: friction, coordinate: j.angle, level: 1, speed: -1}}\n", 4, 68,
     "OUT_OF_RANGE friction/s/speed =-1 rad/s"},
    {HINGE "forces: {s: {type: bushing, a: ground, b: arm, stiffness: [1, 2, 3]}}\n", 4, 59,
     "WRONG_COUNT bushing/s/stiffness =3"},
    {HINGE "forces: {s: {type: bushing, a: ground, b: arm, stiffness: [1, 2, 3, 4 N/m, 5, 6]}}\n", 4, 71,
     "WRONG_DIMENSION bushing/s/stiffness 'N/m'"},
    {HINGE "forces: {s: {type: force, frame: arm, force: [1, 2]}}\n", 4, 46, "WRONG_COUNT force/s/force =2"},
    {HINGE "forces: {s: {type: force, frame: arm, axes: space}}\n", 4, 45,
     "UNKNOWN_CHOICE force/s/axes 'space'"},
    {HINGE "forces: {s: {type: contact, plane: ground, point: arm, stiffness: 3 N/m}}\n", 4, 69,
     "WRONG_DIMENSION contact/s/stiffness 'N/m'"},
    {HINGE "forces: {s: {type: contact, plane: ground, point: arm}}\n", 4, 10,
     "KEY_MISSING contact/s/stiffness"},
    /* functions */
    {"functions: {f: {value: 1}}\n", 2, 16, "KEY_MISSING function/f/type"},
    {"functions: {f: {type: constant}}\n", 2, 16, "KEY_MISSING function/f/value"},
    {"functions: {f: {type: expression}}\n", 2, 16, "KEY_MISSING function/f/expression"},
    {"functions: {f: {type: tabel}}\n", 2, 23, "UNKNOWN_CHOICE function/f/type 'tabel' ~table"},
    {"functions: {f: {type: table, x: [1, 2]}}\n", 2, 16, "GIVE_ONE_OF function/f"},
    {"functions: {f: {type: table, x: [1, 2], y: [1, 2], rows: []}}\n", 2, 16, "GIVE_ONE_OF function/f"},
    {"functions: {f: {type: table, x: [1, 2], y: [1, 2, 3]}}\n", 2, 44,
     "SIZES_DIFFER function/f/y 'y' =3 =2"},
    {"functions: {f: {type: table, rows: [[1, 2], [3]]}}\n", 2, 45, "WRONG_COUNT function/f/rows =1"},
    {"functions: {f: {type: table, rows: [[1, 2], [1, 2]]}}\n", 2, 16, NULL},
    {"functions: {f: {type: motion, duration: 0}}\n", 2, 41, "OUT_OF_RANGE function/f/duration =0 s"},
    {"functions: {f: {type: motion, expression: t}}\n", 2, 31, "UNKNOWN_KEY function/f 'expression'"},
    {"functions: {f: {type: wave, frequency: 3 s}}\n", 2, 42, "WRONG_DIMENSION function/f/frequency 's'"},
    {"functions: {f: {type: expression, expression: g(t)}, g: {type: expression, expression: f(t)}}\n", 2, 88,
     "CIRCULAR function/f"},
    {"functions: {f: {type: expression, expression: g(t)}}\n", 2, 47, "UNKNOWN_FUNCTION function/f 'g'"},
    {"functions: {f: g(t)}\n", 2, 16, "UNKNOWN_FUNCTION function/f 'g'"},
    {"functions: {f: 2*q}\n", 2, 18, "UNKNOWN_REFERENCE function/f 'q'"},
    {"parameters: {p: 3 rpm}\nfunctions: {f: 2*p*(t}\n", 3, 22, "SYNTAX function/f"},
    {"functions: {f: t + g, g: 1}\n", 2, 20, "FUNCTION_AS_VALUE function/f 'g'"},
    {"functions: {f: 2 mmm}\n", 2, 18, "UNKNOWN_UNIT function/f 'mmm' ~mm"},
    {"functions: {f: f(t)}\n", 2, 16, "CIRCULAR function/f"},
    {"functions: {f: [1, 2]}\n", 2, 16, "WRONG_FORM function/f 'a list'"},
    /* blocks */
    {"blocks: {b: {gain: 1}}\n", 2, 10, "KEY_MISSING block/b/type"},
    {"blocks: {b: {type: gian}}\n", 2, 20, "UNKNOWN_CHOICE block/b/type 'gian' ~gain"},
    {"blocks: {b: {type: gain}}\n", 2, 10, "WRONG_COUNT block/b/inputs =0"},
    {"blocks: {b: {type: gain, gian: 2, inputs: 1}}\n", 2, 26, "UNKNOWN_KEY block/b 'gian' ~gain"},
    {"blocks: {b: {type: pid, inputs: {setpoint: 1, measuremnt: 2}}}\n", 2, 47,
     "UNKNOWN_REFERENCE block/b/inputs 'measuremnt' ~measurement"},
    {"blocks: {b: {type: pid, inputs: {setpoint: 1}}}\n", 2, 33, "KEY_MISSING block/b/inputs.measurement"},
    {"blocks: {b: {type: gain, matrix: [[1, 2]], inputs: [1]}}\n", 2, 52,
     "SIZES_DIFFER block/b 'inputs' =1 =2"},
    {"blocks: {b: {type: state_space, A: [[1, 2], [3, 4]], B: [[1]], C: [[1, 2]]}}\n", 2, 57,
     "SIZES_DIFFER block/b/B 'B' =1 =2"},
    {"blocks: {b: {type: state_space, A: [[1, 2], [3]]}}\n", 2, 45, "WRONG_COUNT block/b/A =1"},
    {"blocks: {b: {type: delay, inputs: 1}}\n", 2, 10, "KEY_MISSING block/b/time"},
    {"blocks: {b: {type: delay, time: 1, order: 9, inputs: 1}}\n", 2, 43, "OUT_OF_RANGE block/b/order =9"},
    {"blocks: {b: {type: first_order, pass: band, inputs: 1}}\n", 2, 39,
     "UNKNOWN_CHOICE block/b/pass 'band'"},
    {"blocks: {b: {type: saturation, lower: 2, upper: 1, inputs: 1}}\n", 2, 10, NULL},
    {"blocks: {b: {type: table, inputs: 1}}\n", 2, 10, "KEY_MISSING block/b/function"},
    {"blocks: {b: {type: product, divide: [1.5, yes], inputs: [1, 2]}}\n", 2, 38,
     "UNKNOWN_CHOICE block/b/divide '1.5'"},
    {"blocks: {b: {type: expression, inputs: {a: 1}}}\n", 2, 10, "KEY_MISSING block/b/expression"},
    {"blocks: {b: {type: expression, expression: a, inputs: [1]}}\n", 2, 55,
     "WRONG_FORM block/b/inputs 'a list'"},
    {"blocks: {b: {type: expression, expression: a + c, inputs: {a: 1}}}\n", 2, 48,
     "UNKNOWN_NAME block/b/expression 'c'"},
    {"blocks: {b: {type: expression, expression: a, inputs: {a: nobody}}}\n", 2, 59,
     "UNKNOWN_REFERENCE block/b/inputs.a 'nobody'"},
    {"blocks: {b: {type: constant, value: 1, unit: Pas}}\n", 2, 46, "UNKNOWN_UNIT block/b/unit 'Pas' ~Pa*s"},
    {"blocks: {b: {type: constant, value: [1, 2], unit: [Pa]}}\n", 2, 51, "WRONG_COUNT block/b/unit =1"},
    {"blocks: {b: {type: constant, value: [1, 2], unit: [Pa, {}]}}\n", 2, 56,
     "WRONG_FORM block/b/unit 'a map'"},
    {"blocks: {b: {type: constant, value: 1, unit: }}\n", 2, 46, "WRONG_FORM block/b/unit 'nothing'"},
    {"blocks: {b: {type: gain, unit: m, inputs: nobody}}\n", 2, 43,
     "UNKNOWN_REFERENCE block/b/inputs[0] 'nobody'"},
    {"parameters: {L: 1 m}\nrepeat: {count: 1, from: 1, parts: {bodies: {'b{i}': {type: point, mass: "
     "L*i/i}}}}\n",
     3, 74, "WRONG_DIMENSION mass point/b1/mass 'L*i/i'"},
    {"blocks: {b: {type: library, symbol: f}}\n", 2, 37, "UNKNOWN_REFERENCE block/b 'f'"},
    {"blocks: {b: {type: library, library: x.so, symbol: f}}\n", 2, 38, "LIBRARY_NOT_ALLOWED block/b 'x.so'"},
    /* what only the builder sees */
    {HINGE "forces: {s: {type: spring, coordinate: j.angel}}\n", 4, 40,
     "NO_SUCH_MEMBER spring/s/coordinate 'j.angel'"},
    {HINGE "parameters: {k: 2}\nforces: {s: {type: actuator, coordinate: j.angle, force: k*j.angl}}\n", 5, 60,
     "UNKNOWN_SIGNAL actuator/s/force 'j.angl' ~j.angle"},
    {HINGE "blocks: {b: {type: gain, inputs: arm.angle}}\n", 4, 34,
     "UNKNOWN_SIGNAL block/b/inputs.u 'arm.angle' ~j.angle"},
    {HINGE "blocks: {b: {type: sum, inputs: [1, arm.angle]}}\n", 4, 37,
     "UNKNOWN_SIGNAL block/b/inputs.u1 'arm.angle' ~j.angle"},
    {HINGE "blocks: {b: {type: pid, inputs: {setpoint: 1, measurement: 2*arm.angle}}}\n", 4, 62,
     "UNKNOWN_SIGNAL block/b/inputs.measurement 'arm.angle' ~j.angle"},
    {HINGE "sensors: {s: {type: position, of: j}}\n", 4, 35, "WRONG_KIND sensor/s/of 'j'"},
    {HINGE "sensors: {s: {of: j}}\n", 4, 11, "KEY_MISSING sensor/s/type"},
    /* settings */
    {"simulation: {t_end: -1}\n", 2, 21, "SETTINGS_ORDER simulation/t_end =-1 s =0 s"},
    {"simulation: {rho: 2}\n", 2, 19, "SETTING_RANGE simulation/rho =2 =0 =1"},
    {"simulation: {hht_alpha: -0.1}\n", 2, 14, "SETTING_UNUSED simulation/hht_alpha 'rho'"},
    {"simulation: {scheme: hht, rho: 0.8}\n", 2, 27, "SETTING_UNUSED simulation/rho 'hht'"},
    {"simulation: {scheme: hht, hht_alpha: 0.1}\n", 2, 38,
     "SETTING_RANGE simulation/hht_alpha =0.1 =-0.333333333 =0"},
    {"simulation: {scheme: newmark, newmark_gamma: 0.6}\n", 2, 46,
     "SETTING_RANGE simulation/newmark_gamma =0.6 =0.5 =0.5"},
    {"simulation: {scheme: houbolt}\n", 2, 22, "UNKNOWN_CHOICE simulation/scheme 'houbolt'"},
    {"simulation: {adjust: no}\n", 2, 22, "UNKNOWN_CHOICE simulation/adjust 'no'"},
    {"simulation: {step: -1}\n", 2, 20, "OUT_OF_RANGE simulation/step =-1 s"},
    {"simulation: {tolerance: 0}\n", 2, 25, "OUT_OF_RANGE simulation/tolerance =0"},
    {"simulation: {tolerance: 2}\n", 2, 25, "SETTING_RANGE simulation/tolerance =2 =1e-14 =1"},
    {"simulation: {accuracy: 0.6}\n", 2, 24, "SETTING_RANGE simulation/accuracy =0.6 =1e-08 =0.5"},
    {"simulation: {step: 1e-16}\n", 2, 20, "SETTING_RANGE simulation/step =1e-16 s =1e-15 =1e+09 s"},
    {"simulation: {min_step: 2, max_step: 1}\n", 2, 37, "SETTINGS_ORDER simulation/max_step =1 s =2 s"},
    {"simulation: {newton_iterations: 0}\n", 2, 33, "OUT_OF_RANGE simulation/newton_iterations =0"},
    {"simulation: {newton_iterations: 2.5}\n", 2, 33, "NOT_WHOLE simulation/newton_iterations '2.5' =2.5"},
    {"simulation: {newton_iterations: 1e30}\n", 2, 33,
     "NOT_WHOLE simulation/newton_iterations '1e30' =1e+30"},
    {"simulation: {newton_tolerance: 1}\n", 2, 32,
     "SETTING_RANGE simulation/newton_tolerance =1 =1e-15 =0.001"},
    {"simulation: {newton_tolerance: .nan}\n", 2, 32, "VALUE_NOT_FINITE simulation/newton_tolerance '.nan'"},
    {"simulation: {newton_tolerance: 1e400}\n", 2, 32, "SYNTAX simulation/newton_tolerance '1e400'"},
    {"simulation: {newton_tolerance: 1 kg}\n", 2, 34, "WRONG_DIMENSION simulation/newton_tolerance 'kg'"},
    {"simulation: {newton_patience: -1}\n", 2, 31, "OUT_OF_RANGE simulation/newton_patience =-1"},
    {"simulation: {newton_factors: each_step, newton_patience: 2}\n", 2, 41,
     "SETTING_UNUSED simulation/newton_patience 'each_step'"},
    {"simulation: {mass_alpha: previous}\n", 2, 14, "SETTING_UNUSED simulation/mass_alpha 'stabilized'"},
    {"simulation: {method: weighted, full_solve: true}\n", 2, 32,
     "SETTING_UNUSED simulation/full_solve 'weighted'"},
    {"simulation: {move_offset: false}\n", 2, 14, "SETTING_UNUSED simulation/move_offset 'stabilized'"},
    {"simulation: {method: index3, eta_terms: full}\n", 2, 30,
     "SETTING_UNUSED simulation/eta_terms 'index3'"},
    {"simulation: {method: collocation, order: 9}\n", 2, 42, "OUT_OF_RANGE simulation/order =9"},
    {"simulation: {method: soi2, adjust: gamma}\n", 2, 36, "SETTING_NOT_OF_METHOD simulation/adjust 'gamma'"},
    {"simulation: {linear_solver: lapack}\n", 2, 29, "UNKNOWN_CHOICE simulation/linear_solver 'lapack'"},
    {"simulation: {redundant: true}\n", 2, 25, "UNKNOWN_CHOICE simulation/redundant 'true'"},
    {"simulation: {max_gap: 0}\n", 2, 23, "OUT_OF_RANGE simulation/max_gap =0"},
    {"simulation: {max_gap: 1e13}\n", 2, 23, "SETTING_RANGE simulation/max_gap =1e+13 =1e-15 =1e+12"},
    {"simulation: {t_end: 1e13}\n", 2, 21, "SETTING_RANGE simulation/t_end =1e+13 s =-1e+12 =1e+12 s"},
    {"simulation: {metod: soi2}\n", 2, 14, "UNKNOWN_KEY simulation 'metod' ~method"},
    {"simulation: {method: soi3}\n", 2, 22, "UNKNOWN_CHOICE simulation/method 'soi3' ~soi2"},
    {"simulation: 3\n", 2, 13, "WRONG_FORM simulation 'a number'"},
    {HINGE "simulation: {record: [j.angle, j.angl]}\n", 4, 32,
     "UNKNOWN_SIGNAL simulation/record 'j.angl' ~j.angle"},
    {HINGE "simulation: {record: k.*}\n", 4, 22, "UNKNOWN_SIGNAL simulation/record 'k.*'"},
    {HINGE "simulation: {record: ['*.angle', '*.angel']}\n", 4, 34,
     "UNKNOWN_SIGNAL simulation/record '*.angel' ~j.angle"},
};

static const complaint warnings[] = {
    {"bodies: {a: {type: point, mass: 1e7}}\n", 2, 33, "SUSPICIOUS_NUMBER mass point/a/mass =10000000 kg"},
    {"bodies: {a: {type: point, mass: 1e-10}}\n", 2, 33, "SUSPICIOUS_NUMBER mass point/a/mass =1e-10 kg"},
    {"bodies: {a: {type: planar, mass: 1, inertia: 1e5}}\n", 2, 46,
     "SUSPICIOUS_INERTIA planar body/a/inertia =100000 kg m² =1 kg =316.227766 m =1 m"},
    {"bodies: {a: {type: rigid, mass: 1, inertia: [2, 2, 2]}}\nmarkers: {m: {body: a, position: [0.1, 0, "
     "0]}}\n"
     "sensors: {s: {type: position, of: m}}\n",
     2, 45, "SUSPICIOUS_INERTIA rigid body/a/inertia =2 kg m² =1 kg =1.41421356 m =0.1 m"},
    {ARM "markers: {m: {body: arm}}\n", 3, 11, "NOT_USED marker/m"},
    {"bodies: {a: {type: planar, mass: 1, inertia: 1}}\n"
     "joints: {j: {type: prismatic, a: ground, b: a, at: {rotation: {z_axis: [1, 0, 0]}}}}\n",
     3, 52, "AXIS_LEAVES_PLANE joint/j/at"},
    {ARM "functions: {f: {type: motion}}\n", 3, 13, "NOT_USED function/f"},
    {ARM "blocks: {b: {type: constant, value: 1}}\n", 3, 10, "NOT_USED block/b"},
    {ARM "parameters: {k: 1}\n", 3, 14, "NOT_USED parameter/k"},
    {"parameters: {pi: 3}\nbodies: {a: {type: point, mass: pi}}\n", 2, 14, "REPLACES_CONSTANT parameter/pi"},
    {"parameters: {e: 3}\nbodies: {a: {type: point, mass: e}}\n", 2, 14, "REPLACES_CONSTANT parameter/e"},
    {ARM "simulation: {step: 1 ms, tolerance: 1e-6}\n", 3, 26,
     "SETTING_UNUSED simulation/tolerance '0.001 s: equal steps have no error control'"},
    {ARM "simulation: {step: 1 ms, max_step: 1}\n", 3, 26,
     "SETTING_UNUSED simulation/max_step '0.001 s: equal steps have no error control'"},
    {ARM "simulation: {step: 1, t_start: 1, t_end: 1.5}\n", 3, 20, "SUSPICIOUS_NUMBER simulation/step =1 s"},
    {"gravity: [0, 0, -9810]\n" ARM, 2, 10, "SUSPICIOUS_UNIT the model/gravity =9810 m/s²"},
    {"bodies: {a: {type: planar, mass: 1, inertia: 1, angle: 45}}\n", 2, 56,
     "SUSPICIOUS_UNIT planar body/a/angle =45 rad"},
    {"bodies: {a: {type: rigid, mass: 1, inertia: [1, 1, 1], rotation: {axis: [1, 0, 0], angle: 45}}}\n", 2,
     91, "SUSPICIOUS_UNIT rigid body/a/rotation =45 rad"},
    {"bodies: {a: {type: rigid, mass: 1, inertia: [1, 1, 1], rotation: {euler: [1, -90, 360 deg], sequence: "
     "xyz}}}\n",
     2, 78, "SUSPICIOUS_UNIT rigid body/a/rotation =-90 rad"},
    {ARM "joints: {j: {type: revolute, a: ground, b: arm, pitch: 1}}\n", 3, 49,
     "SETTING_UNUSED joint/j/pitch 'revolute'"},
};

/* Unusual models that are right give no warning. */
static const char *const harmless[] = {
    "simulation: {step: 0, tolerance: 1e-6}\n",
    "simulation: {tolerance: 1e-6}\n",
    "simulation: {step: 1, t_start: 1, t_end: 2}\n",
    "gravity: [0, 0, -99]\n",
    "bodies: {a: {type: rigid, mass: 1, inertia: [1, 1, 1], rotation: {axis: [1, 0, 0], angle: 720 deg}}}\n",
    ("bodies: {a: {type: rigid, mass: 1, inertia: [1, 1, 1], rotation: {axis: [1, 0, 0], angle: "
     "'720[deg]'}}}\n"),
    "bodies: {a: {type: rigid, mass: 1, inertia: [1, 1, 1], rotation: {axis: [1, 0, 0], angle: -2*pi}}}\n",
};

/* That message, and no other. */
static int is_complaint(ga_context *ctx, const complaint *c, ga_message_level level)
{
  char text[2000], data[2000] = "";
  ga_model *model = NULL;
  ga__writer w = {data, sizeof data, 0};
  snprintf(text, sizeof text, "galpha: 1\n%s", c->text);
  const ga_status status = ga_model_read_text(ctx, "model", text, strlen(text), NULL, &model);
  const ga_model_message *m = ga_model_message_at(model, 0);
  if (m) write_error_data(&w, m->error);
  if (ga_model_n_messages(model) != 1 || (c->data && strcmp(data, c->data) != 0) || m->line != c->line ||
      m->column != c->column || m->level != level || strcmp(m->file, "model") != 0) {
    print_message("%s", text);
    for (int i = 0; i < ga_model_n_messages(model); i++) {
      m = ga_model_message_at(model, i);
      print_message("%s:%d:%d: %d: %s\n", m->file, m->line, m->column, (int)m->level, m->text);
    }
    print_message("%s\nexpected %d:%d: %s\n", data, c->line, c->column, c->data ? c->data : "");
    ga_model_destroy(&model);
    return 0;
  }
  assert_int_equal(status, level == GA_MESSAGE_ERROR ? GA_ERR_ARGUMENT : GA_OK);
  assert_true(!ga_model_machine(model) == (level == GA_MESSAGE_ERROR));
  ga_model_destroy(&model);
  return 1;
}

static void every_error_has_its_place(void **state)
{
  ga_context *ctx = rig_open_context();
  int wrong = 0;
  (void)state;
  for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
    wrong += !is_complaint(ctx, &errors[i], GA_MESSAGE_ERROR);
  rig_close_context(&ctx);
  assert_int_equal(wrong, 0);
}

static void suspicious_models_are_warned_of(void **state)
{
  ga_context *ctx = rig_open_context();
  int wrong = 0;
  (void)state;
  for (size_t i = 0; i < sizeof warnings / sizeof warnings[0]; i++)
    wrong += !is_complaint(ctx, &warnings[i], GA_MESSAGE_WARNING);
  for (size_t i = 0; i < sizeof harmless / sizeof harmless[0]; i++) {
    char text[2000];
    snprintf(text, sizeof text, "galpha: 1\n%s", harmless[i]);
    ga_model *model = read_text(ctx, text);
    if (ga_model_n_messages(model) > 0) fail_msg("%s\n%s", text, ga_model_message_at(model, 0)->text);
    ga_model_destroy(&model);
  }
  rig_close_context(&ctx);
  assert_int_equal(wrong, 0);
}

/* Parts of every kind that are wrong, and others that rest on them. */
static const char wrong_text[] = "galpha: 1\n"
                                 "bodies:\n"
                                 "  arm: {type: rigid, mass: -1, inertia: [1, 1, 1]}\n"
                                 "  rod: {type: planar, mass: 1, inertia: 1, position: [0, x]}\n"
                                 "  ball: {type: point, mass: 1 m}\n"
                                 "  mass: {type: scalar, mass: 0}\n"
                                 "  cube: {type: rigd}\n"
                                 "markers:\n"
                                 "  tip: {body: rod, position: 3}\n"
                                 "  top: {body: nobody}\n"
                                 "joints:\n"
                                 "  hinge: {type: revolute, a: grnd, b: arm}\n"
                                 "  slide: {type: prismatc, a: ground, b: rod}\n"
                                 "  pair: {type: gear, a: hinge.angle, b: mass, ratio: 0}\n"
                                 "forces:\n"
                                 "  s1: {type: spring, a: tip, b: rod}\n"
                                 "  s2: {type: spring, a: top, b: arm}\n"
                                 "  s3: {type: spring, coordinate: slide.displacement}\n"
                                 "  s4: {type: spring, coordinate: hinge.angel}\n"
                                 "  s5: {type: actuator, coordinate: mass, force: cube.x + low + s3.force}\n"
                                 "blocks:\n"
                                 "  low: {type: saturation, lower: 1, upper: 0, inputs: hinge.angle}\n"
                                 "  sum: {type: sum, inputs: [low, arm.x)]}\n"
                                 "  two: {type: constant}\n"
                                 "  last: {type: gain, inputs: sum + low + hinge.angl}\n"
                                 "simulation: {record: [two.y1, \"low*\", cube.x, hinge.angle, mass.rat]}\n";
static const int wrong_lines[] = {3, 4, 5, 6, 7, 9, 10, 12, 13, 14, 16, 19, 22, 23, 24, 25, 26};
enum { N_WRONG = sizeof wrong_lines / sizeof wrong_lines[0] };

static void errors_do_not_hide_others(void **state)
{
  ga_context *ctx = rig_open_context();
  ga_model *model = NULL;
  (void)state;
  assert_int_equal(ga_model_read_text(ctx, NULL, wrong_text, strlen(wrong_text), NULL, &model),
                   GA_ERR_ARGUMENT);
  for (int i = 0; i < ga_model_n_messages(model); i++) {
    const ga_model_message *m = ga_model_message_at(model, i);
    if (i >= N_WRONG || m->line != wrong_lines[i]) fail_msg("line %d: %s", m->line, m->text);
  }
  assert_int_equal(ga_model_n_messages(model), N_WRONG);
  ga_model_destroy(&model);
  rig_close_context(&ctx);
}

/* Those that reading finds, and those that only building does. */
static void all_errors_come_at_once(void **state)
{
  static const char text[] = "galpha: 1\n" HINGE "forces:\n"
                             "  a: {type: spring, coordinate: j.angel}\n"
                             "  b: {type: actuator, coordinate: j.angle, force: 3 kg}\n"
                             "  c: {type: actuator, coordinate: j.angle, force: j.angl}\n"
                             "  d: {type: actuator, coordinate: j.angle, force: a.force}\n"
                             "  e: {type: actuator, coordinate: arm, force: g}\n"
                             "blocks: {g: {type: gain, inputs: arm.angle}}\n";
  static const int lines[] = {5, 6, 7, 9, 10};
  ga_context *ctx = rig_open_context();
  ga_model *model = NULL;
  (void)state;
  assert_int_equal(ga_model_read_text(ctx, NULL, text, strlen(text), NULL, &model), GA_ERR_ARGUMENT);
  assert_int_equal(ga_model_n_messages(model), 5);
  for (int i = 0; i < 5; i++) assert_int_equal(ga_model_message_at(model, i)->line, lines[i]);
  const ga_error *e = ga_context_error(ctx);
  assert_int_equal(e->reason, GA_REASON_MODEL_WRONG);
  assert_true(e->number[0].value == 5);
  assert_says(ctx, "errors in the model: 5; the first: model:5:33: spring 'a'");
  ga_model_destroy(&model);
  rig_close_context(&ctx);
}

static void version_is_asked_for(void **state)
{
  static const char *const texts[] = {"title: x\n", "galpha: 2\n", "galpha: x\n"};
  static const ga_reason reasons[] = {GA_REASON_KEY_MISSING, GA_REASON_OUT_OF_RANGE, GA_REASON_UNKNOWN_NAME};
  ga_context *ctx = rig_open_context();
  (void)state;
  for (int i = 0; i < 3; i++) {
    ga_model *model = NULL;
    assert_int_equal(ga_model_read_text(ctx, "m", texts[i], strlen(texts[i]), NULL, &model), GA_ERR_ARGUMENT);
    assert_int_equal(ga_model_n_messages(model), 1);
    assert_int_equal(ga_model_message_at(model, 0)->error->reason, reasons[i]);
    assert_string_equal(ga_model_message_at(model, 0)->error->field, "galpha");
    ga_model_destroy(&model);
  }
  rig_close_context(&ctx);
}

static void wrong_calls_are_refused(void **state)
{
  ga_context *ctx = rig_open_context();
  ga_model *model = NULL;
  (void)state;
  assert_int_equal(ga_model_read_text(NULL, "m", "", 0, NULL, &model), GA_ERR_ARGUMENT);
  assert_int_equal(ga_model_read_text(ctx, "m", NULL, 0, NULL, &model), GA_ERR_ARGUMENT);
  assert_int_equal(ga_model_read_text(ctx, "m", "", 0, NULL, NULL), GA_ERR_ARGUMENT);
  assert_int_equal(ga_model_read_file(ctx, NULL, NULL, &model), GA_ERR_ARGUMENT);
  assert_null(model);
  assert_int_equal(ga_model_read_file(ctx, "/nowhere/at/all.yaml", NULL, &model), GA_ERR_ARGUMENT);
  assert_non_null(model);
  assert_null(ga_model_machine(model));
  assert_string_equal(ga_model_text(model), "");
  ga_model_destroy(&model);
  ga_model_destroy(NULL);
  assert_int_equal(ga_model_n_messages(NULL), 0);
  assert_null(ga_model_message_at(NULL, 0));
  rig_close_context(&ctx);
}

/* ---- Runs ---- */

/* All signals after some steps. */
static void run(ga_context *ctx, const ga_machine *m, double h, int steps, double *out)
{
  const ga_system *sys = ga_machine_system(m);
  double *q = calloc((size_t)(sys->nq + sys->nv + sys->size[GA_BLOCK_X]) + 1, sizeof *q);
  ga_start_opts start = ga_start_defaults();
  ga_stepper *st = NULL;
  assert_non_null(q);
  start.h = h;
  assert_status(ctx, ga_machine_initial(m, q, q + sys->nq, q + sys->nq + sys->nv), GA_OK);
  assert_status(ctx, ga_stepper_create(ctx, sys, NULL, &st), GA_OK);
  assert_status(ctx, ga_stepper_start(st, &start, 0, q, q + sys->nq, q + sys->nq + sys->nv, NULL, NULL, NULL),
                GA_OK);
  for (int i = 0; i < steps; i++) assert_status(ctx, ga_stepper_step(st, h), GA_OK);
  assert_status(ctx, ga_machine_signals(m, NULL, ga_stepper_state(st), ga_machine_n_signals(m), NULL, out),
                GA_OK);
  ga_stepper_destroy(&st);
  free(q);
}

static ga_model *read_example(ga_context *ctx, const char *name)
{
  char below[200], path[1000];
  ga_model *model = NULL;
  snprintf(below, sizeof below, "examples/models/%s.yaml", name);
  source_path(path, sizeof path, below);
  assert_status(ctx, ga_model_read_file(ctx, path, NULL, &model), GA_OK);
  if (ga_model_n_messages(model) > 0) fail_msg("%s: %s", name, ga_model_message_at(model, 0)->text);
  return model;
}

static void examples_run(void **state)
{
  static const char *const names[] = {"pendulum", "slider_crank_3d",     "four_bar_3d",
                                      "arm",      "quarter_car_skyhook", "chain"};
  ga_context *ctx = rig_open_context();
  (void)state;
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    ga_model *model = read_example(ctx, names[i]);
    const ga_machine *m = ga_model_machine(model);
    const int n = ga_machine_n_signals(m), balance = ga_machine_find_signal(m, "energy.kinetic");
    double *signals = calloc((size_t)n, sizeof *signals);
    assert_non_null(signals);
    assert_true(strlen(ga_model_title(model)) > 0);
    run(ctx, m, 1e-3, rig_brief() ? 3 : 50, signals);
    assert_true(signals[balance] >= 0);
    free(signals);
    ga_model_destroy(&model);
  }
  rig_close_context(&ctx);
}

/* The arm of docs/arm.c. */
static ga_machine *arm_by_c(ga_context *ctx, const ga_function *setpoint, double low)
{
  const double z[3] = {0, 0, 1};
  ga_machine_opts opts = ga_machine_defaults();
  ga_machine *m = NULL;
  opts.gravity[1] = -9.81;
  assert_status(ctx, ga_machine_create(ctx, &opts, &m), GA_OK);
  ga_rigid_def arm = ga_rigid_defaults();
  arm.name = "arm", arm.mass = 2, arm.com[0] = 0.5;
  arm.inertia[0] = 1e-3, arm.inertia[1] = arm.inertia[2] = 2.0 / 12;
  assert_status(ctx, ga_rotation_axis_angle(ctx, z, low, arm.pose.rotation), GA_OK);
  ADD(m, rigid, &arm);
  ga_joint_def hinge = ga_joint_defaults();
  hinge.name = "hinge", hinge.kind = GA_JOINT_REVOLUTE, hinge.a = "ground", hinge.b = "arm";
  ADD(m, joint, &hinge);
  ga_spring_def bearing = ga_spring_defaults();
  bearing.name = "bearing", bearing.coordinate = "hinge.angle", bearing.damping = 0.5;
  ADD(m, spring, &bearing);
  ga_actuator_def motor = ga_actuator_defaults();
  motor.name = "motor", motor.coordinate = "hinge.angle", motor.force.expression = "pid";
  ADD(m, actuator, &motor);
  ga_block_pid_opts pid = ga_block_pid_defaults();
  ga_control_block *block = NULL;
  const ga_input inputs[2] = {{0, setpoint, NULL}, {0, NULL, "hinge.angle"}};
  pid.kp = 200, pid.ki = 400, pid.kd = 30, pid.setpoint_weight_derivative = 1;
  pid.integral = 2 * 9.81 * 1 / 2 * cos(low);
  assert_status(ctx, ga_block_create_pid(ctx, &pid, &block), GA_OK);
  assert_status(ctx, ga_machine_add_block(m, "pid", block, inputs), GA_OK);
  assert_status(ctx, ga_machine_build(m), GA_OK);
  return m;
}

static void a_run_has_the_bits_of_c(void **state)
{
  ga_context *ctx = rig_open_context();
  ga_function *setpoint = NULL;
  ga_motion_opts law = ga_motion_defaults();
  double low = 0, of_file[100], of_c[100];
  (void)state;
  assert_int_equal(ga_quantity_parse(ctx, "-60 deg", "rad", &low, NULL, NULL), GA_OK);
  law.from = low, law.to = -low;
  assert_status(ctx, ga_function_create_motion(ctx, &law, &setpoint), GA_OK);
  ga_model *model = read_example(ctx, "arm");
  ga_machine *m = arm_by_c(ctx, setpoint, low);
  compare_with_c(model, m);
  const int n = ga_machine_n_signals(m);
  assert_true(n <= 100);
  assert_int_equal(n, ga_machine_n_signals(ga_model_machine(model)));
  run(ctx, m, 2e-3, 200, of_c);
  run(ctx, ga_model_machine(model), 2e-3, 200, of_file);
  compare_numbers(of_file, of_c, n, "arm", "signals");
  ga_machine_destroy(&m);
  ga_model_destroy(&model);
  ga_function_destroy(&setpoint);
  rig_close_context(&ctx);
}

/* ---- Shared libraries ---- */

static const char library_code[] =
    "int twice(void *user, double t, const double *u, const double *x, double *xdot, double *y)\n"
    "{ (void)user; (void)t; xdot[0] = u[0] - x[0]; y[0] = 2*u[0] + x[0]; return 0; }\n"
    "int slope(void *user, double t, const double *u, const double *x, double *J)\n"
    "{ (void)user; (void)t; (void)u; (void)x; J[0] = 1; J[1] = -1; J[2] = 2; J[3] = 1; return 0; }\n";

static void write_file(const char *folder, const char *name, const char *text)
{
  char path[400];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  assert_true(fputs(text, file) >= 0);
  assert_int_equal(fclose(file), 0);
}

/* A library in a folder of its own; 0: there is no compiler here. */
static int make_library(char folder[40])
{
  char command[500];
  snprintf(folder, 40, "/tmp/galpha_library_XXXXXX");
  assert_non_null(mkdtemp(folder));
  write_file(folder, "code.c", library_code);
  snprintf(command, sizeof command, "cc -shared -fPIC -o %s/lib.so %s/code.c 2>/dev/null", folder, folder);
  return system(command) == 0;
}

static void remove_library(const char *folder)
{
  static const char *const names[] = {"code.c", "lib.so", "m.yaml"};
  for (int i = 0; i < 3; i++) {
    char path[400];
    snprintf(path, sizeof path, "%s/%s", folder, names[i]);
    (void)unlink(path);
  }
  assert_int_equal(rmdir(folder), 0);
}

static ga_status read_library(ga_context *ctx, const char *folder, const char *block, ga_model **model)
{
  char text[600], path[400];
  ga_model_opts opts = ga_model_defaults();
  opts.allow_library = 1;
  snprintf(text, sizeof text,
           "galpha: 1\nbodies: {r: {type: scalar, mass: 1, position: 3}}\nblocks: {b: {type: library, %s, "
           "inputs: r}}\n",
           block);
  write_file(folder, "m.yaml", text);
  snprintf(path, sizeof path, "%s/m.yaml", folder);
  return ga_model_read_file(ctx, path, &opts, model);
}

static void libraries_are_loaded_on_request(void **state)
{
  static const struct {
    const char *keys;
    ga_reason reason;
    const char *name; /* NULL: whatever it is */
  } wrong[] = {
      {"library: none.so, symbol: twice, n_out: 1", GA_REASON_FILE_ACCESS, "read"},
      {"library: lib.so, symbol: thrice, n_out: 1", GA_REASON_UNKNOWN_REFERENCE, "thrice"},
      {"library: lib.so, symbol: twice, jacobian: none, n_out: 1", GA_REASON_UNKNOWN_REFERENCE, "none"},
      {"library: ../lib.so, symbol: twice, n_out: 1", GA_REASON_PATH_REFUSED, "../lib.so"},
      {"library: sub/../../lib.so, symbol: twice, n_out: 1", GA_REASON_PATH_REFUSED, "sub/../../lib.so"},
      {"library: /lib.so, symbol: twice, n_out: 1", GA_REASON_PATH_REFUSED, "/lib.so"},
      {"library: lib.so, symbol: twice", GA_REASON_NONE, NULL},
      {"library: lib.so, n_out: 1", GA_REASON_KEY_MISSING, ""}};
  ga_context *ctx = rig_open_context();
  ga_model *model = NULL;
  char folder[40];
  (void)state;
  if (!make_library(folder)) {
    remove_library(folder);
    rig_close_context(&ctx);
    skip();
  }
  assert_status(
      ctx,
      read_library(ctx, folder, "library: lib.so, symbol: twice, jacobian: slope, x0: [5], n_out: 1", &model),
      GA_OK);
  const ga_machine *m = ga_model_machine(model);
  double signals[20];
  assert_true(ga_machine_n_signals(m) <= 20);
  run(ctx, m, 1e-3, 0, signals);
  assert_true(signals[ga_machine_find_signal(m, "b")] == 11);
  ga_model_destroy(&model);
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    assert_int_equal(read_library(ctx, folder, wrong[i].keys, &model), GA_ERR_ARGUMENT);
    const ga_error *e = ga_model_message_at(model, 0)->error;
    assert_string_equal(e->part, "b");
    if (wrong[i].reason) assert_int_equal(e->reason, wrong[i].reason);
    if (wrong[i].name) assert_string_equal(e->name, wrong[i].name);
    assert_int_equal(ga_model_message_at(model, 0)->line, 3);
    ga_model_destroy(&model);
  }
  remove_library(folder);
  rig_close_context(&ctx);
}

/* ---- The format ---- */

static char *whole_text(size_t (*write)(char *text, size_t size))
{
  const size_t n = write(NULL, 0);
  char *text = calloc(n + 1, 1), few[8] = "xxxxxxx";
  assert_non_null(text);
  assert_int_equal(write(text, n + 1), n);
  assert_int_equal(strlen(text), n);
  assert_int_equal(write(few, sizeof few), n);
  assert_int_equal(strncmp(few, text, sizeof few - 1), 0);
  return text;
}

/* The shape that a value refers to. */
static ga__tree *defined(ga__tree *definitions, ga__tree *value)
{
  static const char lead[] = "#/definitions/";
  const ga__tree *reference = ga__map_get(value, "$ref");
  assert_non_null(reference);
  assert_int_equal(strncmp(reference->text, lead, sizeof lead - 1), 0);
  ga__tree *found = ga__map_get(definitions, reference->text + sizeof lead - 1);
  if (!found) fail_msg("there is no %s", reference->text);
  return found;
}

static void check_references(ga__tree *tree, ga__tree *definitions)
{
  if (tree->kind == GA__TREE_MAP && ga__map_peek(tree, "$ref")) defined(definitions, tree);
  for (int i = 0; i < tree->n; i++) check_references(tree->child[i], definitions);
}

/* JSON is YAML: the schema is read as a model would be. */
static void schema_is_json(void **state)
{
  static const char *const keys[] = {
      "galpha",  "parameters", "include", "repeat",      "bodies",     "markers",   "joints",
      "drives",  "rollings",   "sliders", "constraints", "forces",     "functions", "sensors",
      "signals", "guesses",    "blocks",  "simulation",  "gravity",    "form",      "roads",
      "tyres",   "variables",  "events",  "colliders",   "collisions", "shapes"};
  ga_context *ctx = rig_open_context();
  ga__messages *messages = ga__messages_create(ctx);
  ga__pool pool = {.ctx = ctx};
  ga__forest forest = {&pool, messages, 100000, 10};
  ga__tree *tree = NULL;
  char *text = whole_text(ga_model_schema);
  (void)state;
  assert_int_equal(ga__tree_read(&forest, 0, text, strlen(text), &tree), GA_OK);
  assert_non_null(tree);
  assert_int_equal(ga__errors(messages), 0);
  ga__tree *properties = ga__map_get(tree, "properties");
  for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
    if (!ga__map_get(properties, keys[i])) fail_msg("the schema does not know '%s'", keys[i]);
  assert_int_equal(properties->n, sizeof keys / sizeof keys[0] + 1); /* and the title */
  ga__tree *definitions = ga__map_get(tree, "definitions");
  check_references(tree, definitions);
  for (int i = 0; i < definitions->n; i++)
    if (!definitions->child[i]->used)
      fail_msg("nothing refers to the shape '%s'", definitions->child[i]->key);
  assert_string_equal(ga__map_get(defined(definitions, ga__map_get(properties, "galpha")), "const")->text,
                      "1");
  ga__tree *rotation = ga__map_get(ga__map_get(definitions, "rotation"), "properties");
  assert_string_equal(
      ga__map_get(defined(definitions, ga__map_get(rotation, "quaternion")), "maxItems")->text, "4");
  ga__tree *repeat = ga__map_get(ga__map_get(definitions, "one_repeat"), "properties");
  ga__tree *types = ga__map_get(defined(definitions, ga__map_get(repeat, "count")), "type");
  assert_string_equal(types->child[0]->text, "integer");
  ga__pool_destroy(&pool);
  ga__messages_destroy(&messages);
  free(text);
  rig_close_context(&ctx);
}

/* ---- Starts ---- */

/* A four-bar given apart, its crank turned into place, with all that a start may have. */
static const char start_text[] =
    "galpha: 1\n"
    "bodies:\n"
    "  crank: {type: planar, mass: 1, inertia: 0.1, angle: 60 deg, weight: 2}\n"
    "  bar: {type: planar, mass: 2, inertia: 0.3, position: [0.6, 0.9], weight: 1/4}\n"
    "  rocker: {type: planar, mass: 1, inertia: 0.2, position: [2.1, 0.1], angle: 80 deg}\n"
    "  rotor: {type: scalar, mass: 1, rotational: true, weight: 3}\n"
    "markers:\n"
    "  a: {body: crank, position: [1, 0, 0]}\n"
    "  b: {body: bar, position: [2, 0, 0]}\n"
    "  c: {body: rocker, position: [1.2, 0, 0]}\n"
    "  far: {body: ground, position: [2, 0, 0]}\n"
    "joints:\n"
    "  h1: {type: revolute, a: ground, b: crank, angle: 80 deg, angle_rate: 1}\n"
    "  h2: {type: revolute, a: a, b: bar}\n"
    "  h3: {type: revolute, a: b, b: c}\n"
    "  h4: {type: revolute, a: far, b: rocker}\n"
    "drives: {turn: {coordinate: rotor, function: 0.3 + t}}\n"
    "forces: {load: {type: actuator, coordinate: h4.angle, force: 0.1*h1.fx + 0.01*turn.force^2}}\n"
    "guesses:\n"
    "  pull: {signal: h1.fx, value: 2 N}\n"
    "  twist: {signal: turn.force, value: 0.5 N*m}\n";

static void starts_are_read(void **state)
{
  (void)state;
  ga_context *ctx = rig_open_context();
  ga_model *model = read_text(ctx, start_text);
  const ga_machine *m = ga_model_machine(model);
  const struct {
    const char *name;
    double weight;
  } weights[] = {{"crank", 2.0}, {"bar", 0.25}, {"rocker", 1.0}};
  for (int i = 0; i < 3; i++)
    assert_true(((const ga_planar_def *)m->part[ga__find_part(m, weights[i].name)].def)->weight ==
                weights[i].weight);
  assert_true(((const ga_scalar_def *)m->part[ga__find_part(m, "rotor")].def)->weight == 3.0);
  const ga_guess_def *pull = m->part[ga__find_part(m, "pull")].def,
                     *twist = m->part[ga__find_part(m, "twist")].def;
  assert_string_equal(pull->signal, "h1.fx");
  assert_true(pull->value == 2.0 && twist->value == 0.5);
  ga_model_destroy(&model);
  rig_close_context(&ctx);
}

/* ---- Lack of memory ---- */

static void memory_may_end_anywhere(void **state)
{
  static const char *const texts[] = {forces_text, blocks_text, wrong_text, start_text};
  (void)state;
  for (int k = 0; k < 4; k++) {
    long failures = 0;
    for (long at = 1;; at += rig_brief() ? 17 : 1) {
      ga_context *ctx = rig_open_context();
      ga_model *model = NULL;
      rig_memory.fail_at = rig_memory.count + at;
      const ga_status status = ga_model_read_text(ctx, "m", texts[k], strlen(texts[k]), NULL, &model);
      const int failed = rig_memory.count >= rig_memory.fail_at;
      rig_memory.fail_at = 0;
      if (failed) assert_int_equal(status, GA_ERR_MEMORY);
      if (failed && model) assert_null(ga_model_machine(model));
      ga_model_destroy(&model);
      rig_close_context(&ctx);
      if (!failed) {
        assert_int_equal(status, texts[k] == wrong_text ? GA_ERR_ARGUMENT : GA_OK);
        break;
      }
      failures++;
    }
    assert_true(failures > 10);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bodies_are_those_of_c),
      cmocka_unit_test(joints_are_those_of_c),
      cmocka_unit_test(springs_have_the_units_of_coordinates),
      cmocka_unit_test(couplings_and_sensors_are_those_of_c),
      cmocka_unit_test(forces_and_functions_are_those_of_c),
      cmocka_unit_test(blocks_are_those_of_c),
      cmocka_unit_test(every_kind_of_block_is_read),
      cmocka_unit_test(blocks_have_units),
      cmocka_unit_test(settings_are_read),
      cmocka_unit_test(options_of_the_method_are_read),
      cmocka_unit_test(settings_have_a_table),
      cmocka_unit_test(settings_are_checked),
      cmocka_unit_test(steps_are_chosen),
      cmocka_unit_test(every_error_has_its_place),
      cmocka_unit_test(suspicious_models_are_warned_of),
      cmocka_unit_test(all_errors_come_at_once),
      cmocka_unit_test(errors_do_not_hide_others),
      cmocka_unit_test(version_is_asked_for),
      cmocka_unit_test(wrong_calls_are_refused),
      cmocka_unit_test(examples_run),
      cmocka_unit_test(a_run_has_the_bits_of_c),
      cmocka_unit_test(libraries_are_loaded_on_request),
      cmocka_unit_test(schema_is_json),
      cmocka_unit_test(starts_are_read),
      cmocka_unit_test(memory_may_end_anywhere),
  };
  return cmocka_run_group_tests_name("model_reader", tests, NULL, NULL);
}
