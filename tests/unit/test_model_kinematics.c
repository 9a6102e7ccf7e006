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

static bench open_model(const char *text)
{
  bench b = {0};
  assert_int_equal(ga_context_create(NULL, &b.ctx), GA_OK);
  const ga_status status = ga_model_read_text(b.ctx, "test", text, strlen(text), NULL, &b.model);
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
  if (try_start(&b, &o, 0.0))
    fail_msg("%s", ga_context_error(b.ctx)->text); /* follows: "hold the states at their
                                                       initial values (hold_states)" */
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
      cmocka_unit_test(free_motions_are_named),
      cmocka_unit_test(states_are_named_or_held),
      cmocka_unit_test(rolling_is_refused),
      cmocka_unit_test(wrong_calls_are_refused),
  };
  return cmocka_run_group_tests_name("kinematics", tests, NULL, NULL);
}
