/* Kinematics of models: mechanisms against closed forms of positions, velocities, accelerations and of the
 * power of their drives; redundant constraints; jumps; dead centres and branches; what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "galpha/galpha.h"
#include "galpha/model.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "seeds.h"

static const double pi = 3.14159265358979324;

typedef struct bench {
  ga_context *ctx;
  ga_model *model;
  ga_machine *machine;
  const ga_system *sys;
  double *q, *v, *x; /* initial values */
  ga_meter *meter;
  ga_kinematics *k;
} bench;

static void close_model(bench *b)
{
  ga_kinematics_destroy(&b->k);
  ga_meter_destroy(&b->meter);
  free(b->q);
  ga_model_destroy(&b->model);
  ga_context_destroy(&b->ctx);
}

static bench open_prescribed(const char *text, int n, const ga_prescription *list)
{
  bench b = {0};
  ga_model_opts opts = ga_model_defaults();
  opts.n_prescribe = n;
  opts.prescribe = list;
  assert_int_equal(ga_context_create(NULL, &b.ctx), GA_OK);
  const ga_status status = ga_model_read_text(b.ctx, "test", text, strlen(text), &opts, &b.model);
  if (status) fail_msg("%s", ga_context_error(b.ctx)->text);
  b.machine = ga_model_machine(b.model);
  b.sys = ga_machine_system(b.machine);
  const size_t nq = (size_t)ga_group_nq(ga_system_group(b.sys)),
               nv = (size_t)ga_system_size(b.sys, GA_BLOCK_V);
  b.q = calloc(nq + nv + (size_t)ga_system_size(b.sys, GA_BLOCK_X) + 1, sizeof *b.q);
  assert_non_null(b.q);
  b.v = b.q + nq;
  b.x = b.v + nv;
  assert_int_equal(ga_machine_initial(b.machine, b.q, b.v, b.x), GA_OK);
  assert_int_equal(ga_meter_create(b.ctx, b.machine, &b.meter), GA_OK);
  return b;
}

static bench open_model(const char *text)
{
  return open_prescribed(text, 0, NULL);
}

static ga_status try_start(bench *b, const ga_kinematics_opts *o, double t)
{
  if (!b->k) assert_int_equal(ga_kinematics_create(b->ctx, b->sys, o, &b->k), GA_OK);
  return ga_kinematics_start(b->k, t, b->q, b->v, b->x, NULL, NULL, NULL);
}

static void start(bench *b, double t)
{
  if (try_start(b, NULL, t)) fail_msg("%s", ga_context_error(b->ctx)->text);
  assert_int_equal(ga_meter_start(b->meter, ga_kinematics_state(b->k)), GA_OK);
}

/* GA_OK: there; otherwise why not. */
static ga_status try_reach(bench *b, double t)
{
  ga_status status;
  while ((status = ga_kinematics_step(b->k, t)) == GA_OK)
    assert_int_equal(ga_meter_update(b->meter, ga_kinematics_state(b->k)), GA_OK);
  return status == GA_STOPPED ? GA_OK : status;
}

static void reach(bench *b, double t)
{
  if (try_reach(b, t)) fail_msg("%s", ga_context_error(b->ctx)->text);
  assert_true(fabs(ga_kinematics_state(b->k)->t - t) <= 1e-14 * (1.0 + fabs(t)));
}

static double value(const bench *b, const char *name)
{
  const int index = ga_machine_find_signal(b->machine, name);
  double out = NAN;
  if (index < 0) fail_msg("there is no signal %s", name);
  assert_int_equal(ga_machine_signals(b->machine, b->meter, ga_kinematics_state(b->k), 1, &index, &out),
                   GA_OK);
  return out;
}

static void assert_near(const char *what, double t, double is, double should, double tolerance)
{
  if (!(fabs(is - should) <= tolerance * (1.0 + fabs(should))))
    fail_msg("%s at t = %g: %.17g instead of %.17g, off by %.3g", what, t, is, should, is - should);
}

static void assert_says(const bench *b, const char *part)
{
  if (!strstr(ga_context_error(b->ctx)->text, part))
    fail_msg("'%s' is not in '%s'", part, ga_context_error(b->ctx)->text);
}

/* ---- A slider-crank ---- */

static const char slider_crank[] =
    "galpha: 1\n"
    "gravity: [0, -9.81, 0]\n"
    "form: %s\n"
    "bodies:\n"
    "  crank: {type: rigid, mass: 2, inertia: [0.01, 0.02, 0.03], com: [0.1, 0, 0]}\n"
    "  rod: {type: rigid, mass: 1, inertia: [0.01, 0.02, 0.02], com: [0.3, 0, 0], position: [0.2, 0, 0]}\n"
    "  slider: {type: rigid, mass: 3, inertia: [1, 1, 1], position: [0.7, 0, 0]}\n"
    "markers:\n"
    "  crank_end: {body: crank, position: [0.2, 0, 0]}\n"
    "  rod_end: {body: rod, position: [0.5, 0, 0]}\n"
    "  rail: {body: ground, rotation: {z_axis: [1, 0, 0]}}\n"
    "  shoe: {body: slider, rotation: {z_axis: [1, 0, 0]}}\n"
    "joints:\n"
    "  main: {type: revolute, a: ground, b: crank}\n"
    "  pin: {type: revolute, a: crank_end, b: rod}\n"
    "  wrist: {type: %s, a: rod_end, b: slider}\n"
    "  guide: {type: prismatic, a: rail, b: shoe}\n"
    "functions: {turn: 10*t + 0.3*sin(3*t)}\n"
    "drives: {motor: {coordinate: main.angle, function: turn}}\n";

/* The centre of mass of the rod, the slider, and the torque, from the crank's angle. */
typedef struct crank_motion {
  double angle, x, v, a, rod_y, rod_vy, rod_ay, torque;
} crank_motion;

static crank_motion crank_at(double t)
{
  const double r = 0.2, l = 0.5, g = 9.81, c = 0.1, d = 0.3;
  const double th = 10 * t + 0.3 * sin(3 * t), w = 10 + 0.9 * cos(3 * t), al = -2.7 * sin(3 * t);
  const double ph = -asin(r * sin(th) / l), phd = -r * cos(th) * w / (l * cos(ph));
  const double phdd = (-r * cos(th) * al + r * sin(th) * w * w + l * sin(ph) * phd * phd) / (l * cos(ph));
  crank_motion m = {.angle = th};
  m.x = r * cos(th) + l * cos(ph);
  m.v = -r * sin(th) * w - l * sin(ph) * phd;
  m.a = -r * cos(th) * w * w - r * sin(th) * al - l * cos(ph) * phd * phd - l * sin(ph) * phdd;
  const double vx = -r * sin(th) * w - d * sin(ph) * phd,
               ax = -r * (cos(th) * w * w + sin(th) * al) - d * (cos(ph) * phd * phd + sin(ph) * phdd);
  m.rod_y = r * sin(th) + d * sin(ph);
  m.rod_vy = r * cos(th) * w + d * cos(ph) * phd;
  m.rod_ay = r * (-sin(th) * w * w + cos(th) * al) + d * (-sin(ph) * phd * phd + cos(ph) * phdd);
  /* power of the drive = rate of kinetic and potential energy */
  const double power = (0.03 + 2 * c * c) * w * al + 2 * g * c * cos(th) * w +
                       1.0 * (vx * ax + m.rod_vy * m.rod_ay) + 0.02 * phd * phdd + 1.0 * g * m.rod_vy +
                       3.0 * m.v * m.a;
  m.torque = power / w;
  return m;
}

static void check_crank(const bench *b, double t)
{
  const crank_motion m = crank_at(t);
  assert_near("angle", t, value(b, "main.angle"), m.angle, 1e-14);
  assert_near("slider", t, value(b, "slider.x"), m.x, 1e-14);
  assert_near("its speed", t, value(b, "slider.vx"), m.v, 1e-13);
  assert_near("its acceleration", t, value(b, "slider.ax"), m.a, 1e-12);
  assert_near("torque", t, value(b, "motor.force"), m.torque, 1e-12);
}

/* wrist spherical: independent constraints; revolute: redundant ones. */
static void slider_crank_is_exact(void **state)
{
  static const char *const forms[] = {"space", "body", "se3"}, *const wrists[] = {"point_on_line",
                                                                                  "revolute"};
  (void)state;
  for (int i = 0; i < 6; i++) {
    char text[2048];
    snprintf(text, sizeof text, slider_crank, forms[i % 3], wrists[i / 3]);
    bench b = open_model(text);
    start(&b, 0.0);
    assert_int_equal(ga_kinematics_get_stats(b.k)->mobility, 0);
    assert_true(i < 3 || ga_kinematics_get_stats(b.k)->redundant > 0);
    for (double t = 0.0; t <= 3.0; t += 0.0625) { /* five turns */
      reach(&b, t);
      check_crank(&b, t);
    }
    close_model(&b);
  }
}

/* The times asked for before make no difference but rounding. */
static void other_times_make_no_difference(void **state)
{
  char text[2048];
  (void)state;
  snprintf(text, sizeof text, slider_crank, "space", "revolute");
  bench far = open_model(text), near = open_model(text);
  start(&far, 0.0);
  start(&near, 0.0);
  reach(&far, 4.0);
  for (int i = 1; i <= 1000; i++) reach(&near, 0.004 * i);
  const int n = ga_machine_n_signals(far.machine);
  double *a = calloc(2 * (size_t)n, sizeof *a);
  assert_non_null(a);
  assert_int_equal(ga_machine_signals(far.machine, far.meter, ga_kinematics_state(far.k), n, NULL, a), GA_OK);
  assert_int_equal(ga_machine_signals(near.machine, near.meter, ga_kinematics_state(near.k), n, NULL, a + n),
                   GA_OK);
  for (int i = 0; i < n; i++) {
    const char *name = ga_machine_signal_name(far.machine, i);
    if (strncmp(name, "energy.", 7) != 0) assert_near(name, 4.0, a[i], a[n + i], 1e-12);
  }
  assert_true(ga_kinematics_get_stats(near.k)->moves > 5 * ga_kinematics_get_stats(far.k)->moves);
  free(a);
  close_model(&far);
  close_model(&near);
}

/* ---- A four-bar ---- */

/* Crank 0.2, coupler 0.5, base 0.5 apart, and a rocker of length 0.2 + %s: near a parallelogram. */
static const char four_bar[] =
    "galpha: 1\n"
    "gravity: [0, -9.81, 0]\n"
    "bodies:\n"
    "  crank: {type: planar, mass: 2, inertia: 0.01, com: [0.1, 0], angle: 1}\n"
    "  coupler: {type: planar, mass: 1, inertia: 0.02, com: [0.25, 0], position: [0.2*cos(1), 0.2*sin(1)]}\n"
    "  rocker: {type: planar, mass: 2, inertia: 0.01, com: [0.1, 0], position: [0.5, 0], angle: 1}\n"
    "markers:\n"
    "  crank_end: {body: crank, position: [0.2, 0, 0]}\n"
    "  coupler_end: {body: coupler, position: [0.5, 0, 0]}\n"
    "  rocker_end: {body: rocker, position: [0.2 + %s, 0, 0]}\n"
    "  post: {body: ground, position: [0.5, 0, 0]}\n"
    "joints:\n"
    "  main: {type: revolute, a: ground, b: crank, angle: 1}\n"
    "  pin: {type: revolute, a: crank_end, b: coupler}\n"
    "  wrist: {type: revolute, a: rocker_end, b: coupler_end}\n"
    "  foot: {type: revolute, a: post, b: rocker}\n"
    "functions: {turn: 1 + 2*t + 0.5*t^2}\n"
    "drives: {motor: {coordinate: main.angle, function: turn}}\n";

/* The end of the rocker (length c about (0.5, 0)) at the distance 0.5 from that of the crank; of the two
 * circles' intersections the one on the given side of the line between their centres. */
static void rocker_end(double c, double angle, double side, double out[2])
{
  const double ax = 0.2 * cos(angle), ay = 0.2 * sin(angle), dx = 0.5 - ax, dy = -ay, d = hypot(dx, dy);
  const double along = (0.25 - c * c + d * d) / (2 * d), across = side * sqrt(0.25 - along * along);
  out[0] = ax + (along * dx - across * dy) / d;
  out[1] = ay + (along * dy + across * dx) / d;
}

static void check_rocker(const bench *b, double c, double t)
{
  double end[2];
  rocker_end(c, 1 + 2 * t + 0.5 * t * t, 1.0, end);
  assert_near("x", t, value(b, "rocker_end.x"), end[0], 1e-13);
  assert_near("y", t, value(b, "rocker_end.y"), end[1], 1e-13);
}

/* A rocker that is longer by a little: the crank turns fully, and at each flat position the motion turns off
 * sharply, on the same side of the circles' line. Long moves would cut that corner. */
static void close_branches_are_kept_apart(void **state)
{
  static const char *const more[] = {"0.1", "1e-3", "1e-5", "1e-7"};
  (void)state;
  for (int i = 0; i < 4; i++) {
    char text[2048];
    snprintf(text, sizeof text, four_bar, more[i]);
    bench b = open_model(text);
    start(&b, 0.0);
    for (int k = 1; k <= 4; k++) {
      reach(&b, 1.5 * k);
      check_rocker(&b, 0.2 + strtod(more[i], NULL), 1.5 * k);
    }
    close_model(&b);
  }
}

/* Velocities and forces against differences of the closed form, and the power balance. */
static void four_bar_obeys_the_power_balance(void **state)
{
  char text[2048];
  (void)state;
  snprintf(text, sizeof text, four_bar, "0.1");
  bench b = open_model(text);
  start(&b, 0.0);
  const int kinetic = ga_machine_find_signal(b.machine, "energy.kinetic"),
            potential = ga_machine_find_signal(b.machine, "energy.potential"), list[] = {kinetic, potential};
  for (double t = 0.3; t < 3.0; t += 0.37) {
    const double h = 1e-3;
    double e[5], two[2], power = 0.0;
    for (int k = 0; k < 5; k++) { /* t − 2h ... t + 2h */
      reach(&b, t + (k - 2) * h);
      assert_int_equal(ga_machine_signals(b.machine, b.meter, ga_kinematics_state(b.k), 2, list, two), GA_OK);
      e[k] = two[0] + two[1];
      if (k == 2) power = value(&b, "motor.force") * (2 + t);
    }
    assert_near("power", t, power, (e[0] - 8 * e[1] + 8 * e[3] - e[4]) / (12 * h), 1e-8);
  }
  close_model(&b);
}

/* A run with equal steps converges to it with order 2, multipliers too. */
static void runs_converge_to_it(void **state)
{
  static const char *const names[] = {"rocker.angle", "foot.angle_rate", "rocker.ax", "motor.force",
                                      "foot.fx"};
  char text[2048];
  double error[2][5];
  (void)state;
  snprintf(text, sizeof text, four_bar, "0.1");
  bench b = open_model(text);
  start(&b, 0.0);
  reach(&b, 1.0);
  for (int i = 0; i < 2; i++) {
    ga_stepper *st = NULL;
    ga_start_opts o = ga_start_defaults();
    o.h = i ? 0.001 : 0.002;
    assert_int_equal(ga_stepper_create(b.ctx, b.sys, NULL, &st), GA_OK);
    assert_int_equal(ga_stepper_start(st, &o, 0.0, b.q, b.v, b.x, NULL, NULL, NULL), GA_OK);
    assert_int_equal(ga_stepper_run(st, o.h, i ? 1000 : 500, NULL, NULL), GA_OK);
    for (int k = 0; k < 5; k++) {
      const int index = ga_machine_find_signal(b.machine, names[k]);
      double is;
      assert_int_equal(ga_machine_signals(b.machine, NULL, ga_stepper_state(st), 1, &index, &is), GA_OK);
      error[i][k] = fabs(is - value(&b, names[k]));
    }
    ga_stepper_destroy(&st);
  }
  /* positions and velocities are given by the constraints here, and those are met to rounding */
  for (int k = 0; k < 2; k++) assert_true(error[0][k] < 1e-9 && error[1][k] < 1e-9);
  for (int k = 2; k < 5; k++)
    if (!(error[0][k] < 1e-7) && !(fabs(log2(error[0][k] / error[1][k]) - 2.0) < 0.2))
      fail_msg("%s: errors %.3g, %.3g", names[k], error[0][k], error[1][k]);
  close_model(&b);
}

/* ---- Where the motion ends ---- */

static void dead_centres_are_found(void **state)
{
  char text[2048];
  (void)state;
  /* the rocker is the shortest: where crank and coupler, and the rocker, form a triangle, the crank stops */
  snprintf(text, sizeof text, four_bar, "-0.05");
  bench b = open_model(text);
  start(&b, 0.0);
  const double opposite = 0.5 + 0.15; /* coupler and rocker in line, from the crank's end to the post */
  const double angle = acos((0.04 + 0.25 - opposite * opposite) / (2 * 0.2 * 0.5));
  const double ends = -2 + sqrt(4 + 2 * (angle - 1));
  assert_int_equal(try_reach(&b, 5.0), GA_ERR_SINGULAR);
  assert_int_equal(ga_context_error(b.ctx)->reason, GA_REASON_SINGULAR_MOTION);
  assert_near("dead centre", 0.0, ga_kinematics_state(b.k)->t, ends, 1e-8);
  assert_true(ga_kinematics_state(b.k)->t <= ends);
  assert_says(&b, "a dead centre");
  assert_int_equal(ga_kinematics_step(b.k, 5.0), GA_ERR_SINGULAR); /* and again */
  close_model(&b);
}

static void branches_that_meet_are_found(void **state)
{
  char text[2048];
  (void)state;
  snprintf(text, sizeof text, four_bar, "0");
  bench b = open_model(text);
  start(&b, 0.0);
  const double flat = -2 + sqrt(4 + 2 * (pi - 1));
  reach(&b, flat - 0.01);
  assert_near("coupler", flat, value(&b, "coupler.angle"), 0.0, 1e-12);
  assert_int_equal(try_reach(&b, flat + 0.3), GA_ERR_SINGULAR); /* over it, */
  assert_near("branches", 0.0, ga_kinematics_state(b.k)->t, flat, 1e-4);
  assert_says(&b, "two motions branch off");
  assert_int_equal(try_reach(&b, flat), GA_ERR_SINGULAR); /* and to it */
  assert_says(&b, "'");
  close_model(&b);
}

/* ---- Jumps ---- */

static void both_sides_of_jumps_are_given(void **state)
{
  static const char text[] =
      "galpha: 1\n"
      "bodies: {rod: {type: planar, mass: 2, inertia: 0.1, com: [0.5, 0]}}\n"
      "joints: {hinge: {type: revolute, a: ground, b: rod}}\n"
      "functions: {up: {type: motion, law: trapezoid, to: 1, duration: 1, t_start: 0.5}}\n"
      "drives: {lift: {coordinate: hinge.angle, function: up}}\n";
  static const double at[] = {0.5, 0.75, 1.25, 1.5}, sign[] = {0, 1, 0, -1, 0};
  const double a = 1 / (0.25 * 0.75), J = 0.1 + 2 * 0.25;
  (void)state;
  bench b = open_model(text);
  start(&b, 0.0);
  int n = 0;
  ga_status status;
  while ((status = ga_kinematics_step(b.k, 2.0)) == GA_OK) {
    const ga_jump_side side = ga_kinematics_jump(b.k);
    if (side == GA_JUMP_NONE) continue;
    assert_int_equal(side, n % 2 ? GA_JUMP_AFTER : GA_JUMP_BEFORE);
    assert_near("time", at[n / 2], ga_kinematics_state(b.k)->t, at[n / 2], 1e-13);
    assert_near("torque", at[n / 2], value(&b, "lift.force"), J * a * sign[(n + 1) / 2], 1e-12);
    n++;
  }
  assert_int_equal(status, GA_STOPPED);
  assert_int_equal(n, 8);
  assert_int_equal(try_start(&b, NULL, 0.5), GA_OK); /* a start at a jump is behind it */
  assert_near("torque", 0.5, value(&b, "lift.force"), J * a, 1e-12);
  close_model(&b);
}

/* ---- Inverse dynamics ---- */

/* A robot arm in space: a column that turns about z, and two links about y; actuators that would do something
 * else, and initial angles that are others. */
static const char robot_parts[] =
    "galpha: 1\n"
    "gravity: [0, 0, -9.81]\n"
    "form: %s\n"
    "bodies:\n"
    "  column: {type: rigid, mass: 5, inertia: [0.2, 0.3, 0.1], com: [0.02, 0.01, 0.2]}\n"
    "  upper: {type: rigid, mass: 3, inertia: [0.06, 0.2, 0.18, 0.01, -0.02, 0.005], com: [0.25, 0.03, "
    "0.01],\n"
    "          position: [0, 0, 0.4]}\n"
    "  lower: {type: rigid, mass: 2, inertia: [0.05, 0.1, 0.09, 0.003, 0.004, -0.002], com: [0.2, -0.02, "
    "0.03],\n"
    "          position: [0.5, 0.1, 0.4]}\n"
    "markers:\n"
    "  top: {body: column, position: [0, 0, 0.4], rotation: {z_axis: [0, 1, 0]}}\n"
    "  root: {body: upper, rotation: {z_axis: [0, 1, 0]}}\n"
    "  end: {body: upper, position: [0.5, 0.1, 0], rotation: {z_axis: [0, 1, 0]}}\n"
    "  bore: {body: lower, rotation: {z_axis: [0, 1, 0]}}\n"
    "joints:\n"
    "  base: {type: revolute, a: ground, b: column, %s}\n"
    "  shoulder: {type: revolute, a: top, b: root, %s}\n"
    "  elbow: {type: revolute, a: end, b: bore, angle: 0, angle_rate: 0}\n";
static const char robot_forces[] =
    "forces:\n"
    "  m1: {type: actuator, coordinate: base.angle, force: 100 - 50*base.angle}\n"
    "  m2: {type: actuator, coordinate: shoulder, force: 77*sin(t)}\n"
    "repeat: {count: 2, from: 3, parts: {forces: {'m{i}': {type: actuator, coordinate: elbow.angle, force: "
    "1}}}}\n";

static void write_robot(char text[4096], const char *form)
{
  const int n = snprintf(text, 4096, robot_parts, form, "angle: 0.2", "angle: 1.1, angle_rate: 3");
  snprintf(text + n, 4096 - (size_t)n, "%s", robot_forces);
}

typedef struct vec {
  double x, y, z;
} vec;

static vec add(vec a, vec b)
{
  return (vec){a.x + b.x, a.y + b.y, a.z + b.z};
}
static vec times(double c, vec a)
{
  return (vec){c * a.x, c * a.y, c * a.z};
}
static vec cross(vec a, vec b)
{
  return (vec){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
static double dot(vec a, vec b)
{
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
/* a turned about a unit vector (Rodrigues) */
static vec turned(vec a, vec axis, double angle)
{
  return add(add(times(cos(angle), a), times(sin(angle), cross(axis, a))),
             times((1 - cos(angle)) * dot(axis, a), axis));
}

/* The joints' angles with two derivatives. */
static void robot_angles(double t, double q[3][3])
{
  const double all[3][3] = {{0.8 * sin(1.3 * t), 0.8 * 1.3 * cos(1.3 * t), -0.8 * 1.69 * sin(1.3 * t)},
                            {0.4 - 0.7 * cos(2 * t), 1.4 * sin(2 * t), 2.8 * cos(2 * t)},
                            {0.5 * t * t, t, 1}};
  memcpy(q, all, sizeof all);
}
static const ga_prescription robot_motion[3] = {
    {"base.angle", "0.8*sin(1.3*t)"}, {"shoulder.angle", "0.4 - 0.7*cos(2*t)"}, {"elbow", "0.5*t^2"}};

/* Recursive Newton and Euler: outwards accelerations, inwards forces and moments, all in ground axes. */
static void newton_euler(const double q[3][3], double torque[3])
{
  static const double mass[3] = {5, 3, 2};
  static const vec com[3] = {{0.02, 0.01, 0.2}, {0.25, 0.03, 0.01}, {0.2, -0.02, 0.03}};
  static const vec hinge[3] = {{0, 0, 0}, {0, 0, 0.4}, {0.5, 0.1, 0}},
                   about[3] = {{0, 0, 1}, {0, 1, 0}, {0, 1, 0}};
  static const double J[3][6] = {{0.2, 0.3, 0.1, 0, 0, 0},
                                 {0.06, 0.2, 0.18, 0.01, -0.02, 0.005},
                                 {0.05, 0.1, 0.09, 0.003, 0.004, -0.002}}; /* xx yy zz xy xz yz */
  vec e[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, w = {0, 0, 0}, al = {0, 0, 0}, o = {0, 0, 0},
      a = {0, 0, 9.81};
  vec origin[3], axis[3], c[3], force[3], moment[3];
  for (int i = 0; i < 3; i++) {
    const vec h = hinge[i], arm = add(add(times(h.x, e[0]), times(h.y, e[1])), times(h.z, e[2]));
    a = add(a, add(cross(al, arm), cross(w, cross(w, arm))));
    o = add(o, arm);
    axis[i] = add(add(times(about[i].x, e[0]), times(about[i].y, e[1])), times(about[i].z, e[2]));
    for (int k = 0; k < 3; k++) e[k] = turned(e[k], axis[i], q[i][0]);
    al = add(al, add(times(q[i][2], axis[i]), cross(w, times(q[i][1], axis[i]))));
    w = add(w, times(q[i][1], axis[i]));
    const vec r = add(add(times(com[i].x, e[0]), times(com[i].y, e[1])), times(com[i].z, e[2]));
    const double wb[3] = {dot(w, e[0]), dot(w, e[1]), dot(w, e[2])},
                 ab[3] = {dot(al, e[0]), dot(al, e[1]), dot(al, e[2])};
    const double *j = J[i];
    const double M[3][3] = {{j[0], j[3], j[4]}, {j[3], j[1], j[5]}, {j[4], j[5], j[2]}};
    vec Ja = {0, 0, 0}, Jw = {0, 0, 0};
    for (int k = 0; k < 3; k++) {
      Ja = add(Ja, times(M[k][0] * ab[0] + M[k][1] * ab[1] + M[k][2] * ab[2], e[k]));
      Jw = add(Jw, times(M[k][0] * wb[0] + M[k][1] * wb[1] + M[k][2] * wb[2], e[k]));
    }
    origin[i] = o;
    c[i] = add(o, r);
    force[i] = times(mass[i], add(a, add(cross(al, r), cross(w, cross(w, r)))));
    moment[i] = add(Ja, cross(w, Jw));
  }
  for (int i = 0; i < 3; i++) {
    vec n = {0, 0, 0};
    for (int k = i; k < 3; k++) n = add(n, add(moment[k], cross(add(c[k], times(-1, origin[i])), force[k])));
    torque[i] = dot(n, axis[i]);
  }
}

static void robot_arm_agrees_with_newton_and_euler(void **state)
{
  static const char *const forms[] = {"space", "body", "se3"};
  static const char *const names[] = {"prescribed_base_angle.force", "prescribed_shoulder_angle.force",
                                      "prescribed_elbow.force"};
  (void)state;
  for (int i = 0; i < 3; i++) {
    char text[4096];
    write_robot(text, forms[i]);
    bench b = open_prescribed(text, 3, robot_motion);
    start(&b, 0.0);
    for (double t = 0.0; t < 5.0; t += 0.21) { /* the elbow makes two turns */
      double q[3][3], torque[3];
      robot_angles(t, q);
      newton_euler((const double(*)[3])q, torque);
      reach(&b, t);
      for (int k = 0; k < 3; k++) assert_near(names[k], t, value(&b, names[k]), torque[k], 1e-11);
      assert_near("angle", t, value(&b, "elbow.angle"), q[2][0], 1e-13);
      assert_near("actuator", t, value(&b, "m1.force"), 0.0, 0.0);
      assert_near("actuator", t, value(&b, "m4.force"), 0.0, 0.0);
    }
    assert_string_equal(ga_model_prescribed_by(b.model, 0), "prescribed_base_angle");
    assert_null(ga_model_prescribed_by(b.model, 3));
    close_model(&b);
  }
}

/* The torques as functions of time in a run give the motion back, with the run's order 2. */
static void torques_give_the_motion_back(void **state)
{
  enum { N = 1001 };
  static const char *const joints[] = {"base.angle", "shoulder.angle", "elbow.angle"},
                           *const forces[] = {"prescribed_base_angle.force",
                                              "prescribed_shoulder_angle.force", "prescribed_elbow.force"};
  const double t_end = 1.0;
  char text[4096], *big = malloc(3 * N * 60 + 4096), *at = big;
  double *torque = malloc(3 * N * sizeof *torque), error[2] = {0, 0}, end[3];
  (void)state;
  assert_true(big && torque);
  write_robot(text, "space");
  bench b = open_prescribed(text, 3, robot_motion);
  start(&b, 0.0);
  for (int i = 0; i < N; i++) {
    reach(&b, t_end * i / (N - 1));
    for (int k = 0; k < 3; k++) torque[k * N + i] = value(&b, forces[k]);
  }
  for (int k = 0; k < 3; k++) end[k] = value(&b, joints[k]);
  close_model(&b);
  at += sprintf(at, robot_parts, "space", "angle: 0, angle_rate: 1.04", "angle: -0.3, angle_rate: 0");
  at += sprintf(at, "forces:\n");
  for (int k = 0; k < 3; k++)
    at += sprintf(at, "  m%d: {type: actuator, coordinate: %s, force: {function: f%d}}\n", k, joints[k], k);
  at += sprintf(at, "functions:\n");
  for (int k = 0; k < 3; k++) {
    at += sprintf(at, "  f%d: {type: table, interpolation: spline, rows: [", k);
    for (int i = 0; i < N; i++)
      at += sprintf(at, "%s[%.17g, %.17g]", i ? ", " : "", t_end * i / (N - 1), torque[k * N + i]);
    at += sprintf(at, "]}\n");
  }
  bench forward = open_model(big);
  for (int i = 0; i < 2; i++) {
    ga_stepper *st = NULL;
    ga_start_opts o = ga_start_defaults();
    const int steps = i ? 1000 : 500;
    o.h = t_end / steps;
    assert_int_equal(ga_stepper_create(forward.ctx, forward.sys, NULL, &st), GA_OK);
    if (ga_stepper_start(st, &o, 0.0, forward.q, forward.v, forward.x, NULL, NULL, NULL))
      fail_msg("%s", ga_context_error(forward.ctx)->text);
    assert_int_equal(ga_stepper_run(st, o.h, steps, NULL, NULL), GA_OK);
    for (int k = 0; k < 3; k++) {
      const int index = ga_machine_find_signal(forward.machine, joints[k]);
      double is;
      assert_int_equal(ga_machine_signals(forward.machine, NULL, ga_stepper_state(st), 1, &index, &is),
                       GA_OK);
      error[i] = fmax(error[i], fabs(is - end[k]));
    }
    ga_stepper_destroy(&st);
  }
  if (!(error[1] < 2e-6 && fabs(log2(error[0] / error[1]) - 2.0) < 0.1))
    fail_msg("errors %.3g, %.3g: order %.3g", error[0], error[1], log2(error[0] / error[1]));
  close_model(&forward);
  free(big);
  free(torque);
}

/* A drive that the model has gets another function, and keeps its name; a scalar body. */
static void drives_can_be_replaced(void **state)
{
  static const char text[] = "galpha: 1\n"
                             "parameters: {w: 3}\n"
                             "bodies: {m: {type: scalar, mass: 2, position: 5}, n: {type: scalar, mass: 1}}\n"
                             "functions: {law: cos(t), wave: sin(w*t)}\n"
                             "drives: {old: {coordinate: n, function: law}}\n";
  static const ga_prescription simple[2] = {{"n", "wave"}, {"m", "2 + w*t^2"}};
  (void)state;
  bench b = open_prescribed(text, 2, simple);
  assert_string_equal(ga_model_prescribed_by(b.model, 0), "old");
  assert_string_equal(ga_model_prescribed_by(b.model, 1), "prescribed_m");
  assert_non_null(strstr(ga_model_text(b.model), "prescribed_m")); /* what is kept with results says so */
  start(&b, 0.0);
  reach(&b, 0.7);
  assert_near("n", 0.7, value(&b, "old.force"), -9 * sin(2.1), 1e-13);
  assert_near("m", 0.7, value(&b, "prescribed_m.force"), 2 * 6.0, 1e-13);
  assert_near("m", 0.7, value(&b, "m"), 2 + 3 * 0.49, 1e-14);
  close_model(&b);
}

static void wrong_prescriptions_are_reported(void **state)
{
  static const char text[] = "galpha: 1\nbodies: {m: {type: scalar, mass: 2}}\n";
  static const struct {
    ga_prescription list[2];
    int n;
    const char *words;
  } wrong[] = {{{{"k", "t"}}, 1, "there is no part of that name"},
               {{{"m", "2*"}}, 1, "m:1:"},
               {{{"m", "q + t"}}, 1, "q"},
               {{{"m", "[1, 2]"}}, 1, "list"},
               {{{"m", "{type: tabel}"}}, 1, "tabel"},
               {{{"m", "'"}}, 1, "m:1:"},
               {{{"m", "t"}, {"m", "2*t"}}, 2, "m"},
               {{{"m", "2 kg"}}, 1, "kg"},
               {{{"m", NULL}}, 1, "prescribe"},
               {{{NULL, "t"}}, 1, "prescribe"},
               {{{"m", "t"}}, GA_MOST_PRESCRIBED + 1, "n_prescribe"},
               {{{"m", ""}}, 1, "m:1:1"}};
  (void)state;
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    ga_context *ctx = NULL;
    ga_model *model = NULL;
    ga_model_opts opts = ga_model_defaults();
    opts.n_prescribe = wrong[i].n;
    opts.prescribe = wrong[i].list;
    assert_int_equal(ga_context_create(NULL, &ctx), GA_OK);
    const ga_status status = ga_model_read_text(ctx, "test", text, strlen(text), &opts, &model);
    if (status != GA_ERR_ARGUMENT) fail_msg("row %d: status %d", (int)i, (int)status);
    if (!strstr(ga_context_error(ctx)->text, wrong[i].words))
      fail_msg("row %d: '%s' is not in '%s'", (int)i, wrong[i].words, ga_context_error(ctx)->text);
    ga_model_destroy(&model);
    ga_context_destroy(&ctx);
  }
}

/* ---- What is refused ---- */

static void free_motions_are_named(void **state)
{
  static const char text[] =
      "galpha: 1\n"
      "bodies:\n"
      "  upper: {type: planar, mass: 2, inertia: 0.1, com: [0.5, 0]}\n"
      "  lower: {type: planar, mass: 2, inertia: 0.1, com: [0.5, 0], position: [1, 0]}\n"
      "  third: {type: planar, mass: 2, inertia: 0.1, position: [2, 0]}\n"
      "joints:\n"
      "  shoulder: {type: revolute, a: ground, b: upper, at: [0, 0, 0]}\n"
      "  elbow: {type: revolute, a: upper, b: lower, at: [1, 0, 0]}\n"
      "  hand: {type: prismatic, a: lower, b: third}\n"
      "functions: {turn: sin(t)}\n"
      "drives: {motor: {coordinate: elbow.angle, function: turn}}\n";
  char list[128];
  (void)state;
  bench b = open_model(text);
  assert_int_equal(try_start(&b, NULL, 0.0), GA_ERR_ARGUMENT);
  assert_int_equal(ga_context_error(b.ctx)->reason, GA_REASON_NOT_PRESCRIBED);
  assert_int_equal(ga_kinematics_n_free(b.k), 2);
  assert_null(ga_kinematics_state(b.k));
  assert_true(ga_machine_free_coordinates(b.machine, b.k, list, sizeof list) > 0);
  assert_string_equal(list, "shoulder.angle, hand.displacement");
  double *v = calloc((size_t)ga_system_size(b.sys, GA_BLOCK_V), sizeof *v);
  assert_non_null(v);
  ga_state s = *ga_kinematics_free_state(b.k);
  s.v = v;
  for (int i = 0; i < 2; i++) { /* they keep the driven angle, and the hinges closed */
    const int index = ga_machine_find_signal(b.machine, "elbow.angle_rate");
    double rate;
    assert_int_equal(ga_kinematics_free_motion(b.k, i, v), GA_OK);
    assert_int_equal(ga_machine_signals(b.machine, NULL, &s, 1, &index, &rate), GA_OK);
    assert_near("rate", 0, rate, 0.0, 1e-14);
  }
  assert_int_equal(ga_kinematics_free_motion(b.k, 2, v), GA_ERR_ARGUMENT);
  assert_int_equal(ga_kinematics_step(b.k, 1.0), GA_ERR_ORDER);
  free(v);
  close_model(&b);
}

static const char with_state[] =
    "galpha: 1\n"
    "bodies: {m: {type: scalar, mass: 2}}\n"
    "functions: {turn: sin(t)}\n"
    "drives: {motor: {coordinate: m, function: turn}}\n"
    "blocks: {lag: {type: transfer_function, num: [1], den: [1, 1], inputs: [m]}}\n"
    "forces: {f: {type: actuator, coordinate: m, force: 3*lag}}\n";

static void states_are_named_or_held(void **state)
{
  (void)state;
  bench b = open_model(with_state);
  assert_int_equal(ga_kinematics_create(b.ctx, b.sys, NULL, &b.k), GA_ERR_ARGUMENT);
  assert_null(b.k);
  assert_int_equal(ga_context_error(b.ctx)->reason, GA_REASON_STATES_NEED_TIME);
  assert_says(&b, "lag");
  ga_kinematics_opts o = ga_kinematics_defaults();
  o.hold_states = 1;
  b.x[0] = 0.7;
  /* follows the advice "hold the states at their initial values (hold_states)" */
  if (try_start(&b, &o, 0.0)) fail_msg("%s", ga_context_error(b.ctx)->text);
  assert_int_equal(ga_meter_start(b.meter, ga_kinematics_state(b.k)), GA_OK);
  reach(&b, 1.0);
  assert_near("force", 1.0, value(&b, "motor.force"), -2 * sin(1.0) - 3 * 0.7, 1e-13);
  close_model(&b);
}

/* A ball on a plane: its position is the integral of its turning. */
static void rolling_is_refused(void **state)
{
  static const char text[] =
      "galpha: 1\n"
      "bodies: {ball: {type: rigid, mass: 1, inertia: [1, 1, 1], position: [0, 0, 0.5]}}\n"
      "rollings: {r: {type: sphere, body: ball, plane: ground, radius: 0.5}}\n";
  (void)state;
  bench b = open_model(text);
  assert_int_equal(ga_kinematics_create(b.ctx, b.sys, NULL, &b.k), GA_ERR_ARGUMENT);
  assert_int_equal(ga_context_error(b.ctx)->reason, GA_REASON_ROLLING_NEEDS_TIME);
  assert_says(&b, "r:");
  close_model(&b);
}

static void wrong_calls_are_refused(void **state)
{
  char text[2048];
  (void)state;
  snprintf(text, sizeof text, slider_crank, "space", "point_on_line");
  bench b = open_model(text);
  ga_kinematics_opts o = ga_kinematics_defaults();
  static const struct {
    size_t offset;
    double value;
    const char *name;
  } wrong[] = {{offsetof(ga_kinematics_opts, max_change), 0.0, "max_change"},
               {offsetof(ga_kinematics_opts, max_gap), -1.0, "max_gap"},
               {offsetof(ga_kinematics_opts, max_move), 2.0, "max_move"},
               {offsetof(ga_kinematics_opts, max_move), NAN, "max_move"}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    ga_kinematics_opts bad = o;
    *(double *)(void *)((char *)&bad + wrong[i].offset) = wrong[i].value;
    assert_int_equal(ga_kinematics_create(b.ctx, b.sys, &bad, &b.k), GA_ERR_ARGUMENT);
    assert_null(b.k);
    assert_says(&b, wrong[i].name);
  }
  assert_int_equal(ga_kinematics_create(b.ctx, b.sys, &o, &b.k), GA_OK);
  assert_int_equal(ga_kinematics_step(b.k, 1.0), GA_ERR_ORDER); /* before a start */
  assert_null(ga_kinematics_state(b.k));
  assert_int_equal(ga_kinematics_start(b.k, NAN, b.q, NULL, NULL, NULL, NULL, NULL), GA_ERR_ARGUMENT);
  assert_int_equal(ga_kinematics_start(b.k, 0.0, b.q, NULL, NULL, NULL, NULL, NULL), GA_OK);
  assert_int_equal(ga_kinematics_step(b.k, -1.0), GA_ERR_ARGUMENT);
  assert_int_equal(ga_kinematics_step(b.k, NAN), GA_ERR_ARGUMENT);
  assert_int_equal(ga_kinematics_step(b.k, 0.0), GA_STOPPED);
  b.q[0] += 3.0; /* far off */
  assert_int_equal(ga_kinematics_start(b.k, 0.0, b.q, NULL, NULL, NULL, NULL, NULL), GA_ERR_INCONSISTENT);
  assert_null(ga_kinematics_state(b.k));
  close_model(&b);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(slider_crank_is_exact),
      cmocka_unit_test(other_times_make_no_difference),
      cmocka_unit_test(close_branches_are_kept_apart),
      cmocka_unit_test(four_bar_obeys_the_power_balance),
      cmocka_unit_test(runs_converge_to_it),
      cmocka_unit_test(dead_centres_are_found),
      cmocka_unit_test(branches_that_meet_are_found),
      cmocka_unit_test(both_sides_of_jumps_are_given),
      cmocka_unit_test(robot_arm_agrees_with_newton_and_euler),
      cmocka_unit_test(torques_give_the_motion_back),
      cmocka_unit_test(drives_can_be_replaced),
      cmocka_unit_test(wrong_prescriptions_are_reported),
      cmocka_unit_test(free_motions_are_named),
      cmocka_unit_test(states_are_named_or_held),
      cmocka_unit_test(rolling_is_refused),
      cmocka_unit_test(wrong_calls_are_refused),
  };
  return cmocka_run_group_tests_name("kinematics", tests, NULL, NULL);
}
