/* Constraints by expressions: derivatives of all kinds of signals in every form, against joints and rolling
 * parts, against solutions of their own, energy, signals, and what is refused. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "mbs/meter.h"
#include "mbs_shop.h"

static void add_zero(shop *s, const char *name, const char *text)
{
  ga_constraint_def d = ga_constraint_defaults();
  d.name = name;
  d.zero = text;
  SHOP_ADD(s, constraint, &d);
}

/* ---- Derivatives ---- */

static void add_sensor(shop *s, const char *name, ga_sensor_kind kind, const char *of, const char *from,
                       const char *axes)
{
  ga_sensor_def d = ga_sensor_defaults();
  d.name = name;
  d.kind = kind;
  d.of = of;
  if (from) d.from = from;
  d.axes = axes;
  SHOP_ADD(s, sensor, &d);
}

/* Bodies of all kinds, joints whose coordinates are counted and not, sensors in axes that turn. */
static shop full_shop(ga_form form, int with_beam)
{
  shop s = shop_open(form, -9.81);
  ga_joint_def j = ga_joint_defaults();
  ga_spring_def spring = ga_spring_defaults();
  ga_beam_def beam = ga_beam_defaults();
  shop_rigid(&s, "arm", 0.3, -0.2, 0.4);
  shop_rigid(&s, "hand", 0.9, 0.1, 0.7);
  shop_planar(&s, "disk", 0.5, -0.8);
  shop_point(&s, "bead", 0.2, 0.6, -0.3);
  shop_scalar(&s, "charge", 0.4, 0.1);
  shop_marker(&s, "tip", "arm", 0.2, -0.1, 0.15);
  shop_marker(&s, "thumb", "hand", -0.1, 0.3, 0.1);
  shop_marker(&s, "slope", "ground", 0.1, 0.2, 0.3);
  j.name = "hinge";
  j.kind = GA_JOINT_CYLINDRICAL;
  j.a = "tip", j.b = "thumb";
  SHOP_ADD(&s, joint, &j);
  spring.name = "strut";
  spring.a = "thumb", spring.b = "bead";
  spring.stiffness = 3;
  SHOP_ADD(&s, spring, &spring);
  beam.name = "rod";
  beam.length = 0.8;
  beam.section = GA_SECTION_CIRCLE;
  beam.diameter = 0.1, beam.young = 1e4, beam.poisson = 0.3, beam.density = 800;
  beam.elements = 1;
  if (with_beam) SHOP_ADD(&s, beam, &beam);
  add_sensor(&s, "seen", GA_SENSOR_POSITION, "bead", "tip", "tip");
  add_sensor(&s, "looked", GA_SENSOR_POSITION, "thumb", "bead", "arm");
  add_sensor(&s, "slid", GA_SENSOR_POSITION, "tip", "disk", "slope");
  add_sensor(&s, "felt", GA_SENSOR_VELOCITY, "thumb", NULL, "tip");
  add_sensor(&s, "own", GA_SENSOR_VELOCITY, "tip", NULL, "tip");
  add_sensor(&s, "spun", GA_SENSOR_ANGULAR_VELOCITY, "thumb", NULL, "tip");
  add_sensor(&s, "turned", GA_SENSOR_ANGULAR_VELOCITY, "arm", NULL, "arm");
  return s;
}

static const char *const HOLONOMIC[] = {
    "bead.z - bead.x^2 + 0.3*sin(2*bead.y)",
    "tip.x*thumb.y - cos(bead.z + t)*tip.z",
    "hinge.angle^2 - 3*hinge.displacement + exp(0.3*hinge.angle*charge)",
    "charge - 0.2*sin(disk.angle) - t^2*disk.x",
    "hypot(seen.x, seen.z + 2) - 0.4*sqrt(2 + looked.y^2) + 0.1*slid.z*looked.x",
    "strut.length*sin(arm.z) - 0.3*rod.end.y + rod.x*rod.end.z",
    "atan(seen.y/(3 + seen.x)) - 0.3*tanh(thumb.z/(2 + slid.y^2))",
    "step5(bead.x, -2, 0, 3, 1) - step(tip.y, -3, 0, 4, 2)*cbrt(charge + 10)",
};

static const char *const NONHOLONOMIC[] = {
    "(bead.vx + 1)^2 + (bead.vy - 0.5)^2*bead.x - 1 - t",
    "bead.vz - sin(bead.x)*tip.vy + thumb.vx*thumb.wz",
    "(hinge.angle_rate + 1)*hinge.displacement_rate - sin(hinge.angle + t)",
    "felt.x*own.z - spun.y + turned.x^3 - 0.2*seen.x",
    "charge.rate*disk.wz - disk.vx*cos(disk.angle) - strut.rate*strut.length",
    "sqrt(3 + felt.y^2 + own.x^2)*spun.z - turned.z*looked.y + rod.end.vx*rod.wy",
    "own.y",
    "spun.x - 0.3*felt.z",
};

static void derivatives_are_exact(void **state)
{
  const int n[2] = {(int)(sizeof HOLONOMIC / sizeof *HOLONOMIC),
                    (int)(sizeof NONHOLONOMIC / sizeof *NONHOLONOMIC)};
  rig_random random = rig_seed(15);
  (void)state;
  for (int form = 0; form < 3; form++)
    for (int which = 0; which < 2; which++)
      for (int i = 0; i < n[which]; i++) {
        const char *text = (which ? NONHOLONOMIC : HOLONOMIC)[i];
        shop s = full_shop((ga_form)form, strstr(text, "rod") != NULL);
        char what[256];
        add_zero(&s, "cam", text);
        shop_build(&s);
        snprintf(what, sizeof what, "%s, %s", SHOP_FORM[form], text);
        assert_int_equal(ga_system_size(ga_machine_system(s.m), GA_BLOCK_PSI), which);
        shop_check(&s, &random, rig_brief() ? 1 : 4, 0.3, 1e-6, what);
        shop_close(&s);
      }
}

/* ---- Runs ---- */

/* n steps of one method to the end; the state is the stepper's. */
static const ga_state *run_with(shop *s, ga_method method, double t_end, int n)
{
  double q[RIG_MOST], v[RIG_MOST], x[RIG_MOST];
  const double h = t_end / n;
  ga_stepper_opts opts = ga_stepper_defaults();
  ga_start_opts o = ga_start_defaults();
  opts.method = method;
  o.h = h;
  if (!ga_machine_system(s->m)) shop_build(s);
  ga_stepper_destroy(&s->st);
  assert_status(s->ctx, ga_machine_initial(s->m, q, v, x), GA_OK);
  assert_status(s->ctx, ga_stepper_create(s->ctx, ga_machine_system(s->m), &opts, &s->st), GA_OK);
  assert_status(s->ctx, ga_stepper_start(s->st, &o, 0, q, v, x, NULL, NULL, NULL), GA_OK);
  for (int i = 0; i < n; i++) assert_status(s->ctx, ga_stepper_step(s->st, h), GA_OK);
  return ga_stepper_state(s->st);
}

static const ga_state *run(shop *s, double t_end, int n)
{
  return run_with(s, GA_STABILIZED, t_end, n);
}

/* The same with a meter: what the balance of energy is off by, and what was put in. */
static const ga_state *run_metered(shop *s, double t_end, int n, double *balance, double *input)
{
  const char *const name[2] = {"energy.balance", "energy.input"};
  double *const value[2] = {balance, input};
  ga_meter *meter = NULL;
  run(s, t_end / n, 1); /* the start, and a stepper */
  const double h = t_end / n;
  double q[RIG_MOST], v[RIG_MOST], x[RIG_MOST];
  ga_start_opts o = ga_start_defaults();
  o.h = h;
  assert_status(s->ctx, ga_machine_initial(s->m, q, v, x), GA_OK);
  assert_status(s->ctx, ga_stepper_start(s->st, &o, 0, q, v, x, NULL, NULL, NULL), GA_OK);
  assert_status(s->ctx, ga_meter_create(s->ctx, s->m, &meter), GA_OK);
  assert_status(s->ctx, ga_meter_start(meter, ga_stepper_state(s->st)), GA_OK);
  for (int i = 0; i < n; i++) {
    assert_status(s->ctx, ga_stepper_step(s->st, h), GA_OK);
    assert_status(s->ctx, ga_meter_update(meter, ga_stepper_state(s->st)), GA_OK);
  }
  for (int i = 0; i < 2; i++) {
    const int index = ga_machine_find_signal(s->m, name[i]);
    assert_status(s->ctx, ga_machine_signals(s->m, meter, ga_stepper_state(s->st), 1, &index, value[i]),
                  GA_OK);
  }
  ga_meter_destroy(&meter);
  return ga_stepper_state(s->st);
}

/* y[n] from 0 to t_end by the classical method of Runge and Kutta. */
typedef void (*slope_fn)(double t, const double *y, double *dy);
static void runge_kutta(slope_fn f, int n, double *y, double t_end, int steps)
{
  const double h = t_end / steps;
  for (int i = 0; i < steps; i++) {
    static const double at[4] = {0, 0.5, 0.5, 1}, weight[4] = {1, 2, 2, 1};
    double k[8] = {0}, z[8], sum[8] = {0};
    for (int stage = 0; stage < 4; stage++) {
      for (int c = 0; c < n; c++) z[c] = y[c] + h * at[stage] * k[c];
      f((i + at[stage]) * h, z, k);
      for (int c = 0; c < n; c++) sum[c] += weight[stage] * k[c];
    }
    for (int c = 0; c < n; c++) y[c] += h / 6 * sum[c];
  }
}

static void add_point(shop *s, const char *name, double mass, const double x[3], const double v[3])
{
  ga_point_def d = ga_point_defaults();
  d.name = name;
  d.mass = mass;
  memcpy(d.position, x, sizeof d.position);
  memcpy(d.velocity, v, sizeof d.velocity);
  SHOP_ADD(s, point, &d);
}

/* ---- A bead on a surface z = f(x, y, t) ---- */

static const double G = 9.81;

/* f and its derivatives: f, f_x, f_y, f_t, f_xx, f_xy, f_yy, f_xt, f_yt, f_tt. */
static void surface(double t, double x, double y, int moves, double f[10])
{
  const double w = moves ? 3 : 0, a = 0.2 * sin(2 * x + w * t), b = 0.4 * cos(2 * x + w * t);
  f[0] = a + 0.3 * x * y * y;
  f[1] = b + 0.3 * y * y;
  f[2] = 0.6 * x * y;
  f[3] = 0.5 * w * b;
  f[4] = -4 * a;
  f[5] = 0.6 * y;
  f[6] = 0.6 * x;
  f[7] = -2 * w * a;
  f[8] = 0;
  f[9] = -w * w * a;
}

/* In the minimal coordinates x and y: with n = (f_x, f_y), c = f'' without x'', y'',
 *   (1 + n nᵀ) (x'', y'') = −n (c + g);   the force along z on the bead is m (z'' + g) */
static void bead_slope(double t, const double *s, double *ds, int moves)
{
  double f[10];
  surface(t, s[0], s[1], moves, f);
  const double u = s[2], v = s[3];
  const double c = f[4] * u * u + 2 * f[5] * u * v + f[6] * v * v + 2 * f[7] * u + 2 * f[8] * v + f[9];
  const double push = -(c + G) / (1 + f[1] * f[1] + f[2] * f[2]);
  ds[0] = u, ds[1] = v, ds[2] = push * f[1], ds[3] = push * f[2];
}
static void bead_fixed(double t, const double *s, double *ds)
{
  bead_slope(t, s, ds, 0);
}
static void bead_moving(double t, const double *s, double *ds)
{
  bead_slope(t, s, ds, 1);
}

enum { N_SEEN = 10 }; /* x y z, vx vy vz, ax ay az, force */

static void bead_reference(int moves, double t_end, double out[N_SEEN])
{
  double s[4] = {0.4, -0.3, 0.5, 0.8}, ds[4], f[10];
  runge_kutta(moves ? bead_moving : bead_fixed, 4, s, t_end, 20000);
  (moves ? bead_moving : bead_fixed)(t_end, s, ds);
  surface(t_end, s[0], s[1], moves, f);
  const double u = s[2], v = s[3];
  const double c = f[4] * u * u + 2 * f[5] * u * v + f[6] * v * v + 2 * f[7] * u + 2 * f[8] * v + f[9];
  const double seen[N_SEEN] = {
      s[0], s[1], f[0], u, v, f[1] * u + f[2] * v + f[3], ds[2], ds[3], c + f[1] * ds[2] + f[2] * ds[3], 0};
  memcpy(out, seen, sizeof seen);
  out[9] = 1.7 * (out[8] + G); /* λ of Φ = z − f: the force along z */
}

static shop bead_shop(int moves)
{
  shop s = shop_open(GA_FORM_SPACE, -G);
  double f[10];
  surface(0, 0.4, -0.3, moves, f);
  add_point(&s, "bead", 1.7, (double[3]){0.4, -0.3, f[0]},
            (double[3]){0.5, 0.8, f[1] * 0.5 + f[2] * 0.8 + f[3]});
  add_zero(&s, "surface",
           moves ? "bead.z - 0.2*sin(2*bead.x + 3*t) - 0.3*bead.x*bead.y^2"
                 : "bead.z - 0.2*sin(2*bead.x) - 0.3*bead.x*bead.y^2");
  return s;
}

/* Second order in positions, velocities, accelerations and the force, by every method. */
static void bead_follows_its_surface(void **state)
{
  static const char *const name[N_SEEN] = {"bead.x",  "bead.y",  "bead.z",  "bead.vx", "bead.vy",
                                           "bead.vz", "bead.ax", "bead.ay", "bead.az", "surface.force"};
  (void)state;
  for (int moves = 0; moves < 2; moves++) {
    double exact[N_SEEN];
    bead_reference(moves, 0.8, exact);
    ga_method_info info;
    for (int m = 0; ga_method_at(m, &info); m++) {
      double error[2][N_SEEN];
      for (int level = 0; level < 2; level++) {
        shop s = bead_shop(moves);
        const ga_state *at = run_with(&s, info.method, 0.8, 200 << level);
        for (int i = 0; i < N_SEEN; i++) error[level][i] = fabs(shop_signal(&s, at, name[i]) - exact[i]);
        shop_close(&s);
      }
      for (int i = 0; i < N_SEEN; i++) {
        const double order = log2(error[0][i] / error[1][i]);
        if (error[1][i] > 1e-3 * (1 + fabs(exact[i])) || (error[1][i] > 1e-9 && (order < 1.7 || order > 2.4)))
          fail_msg("%s, %s: error %.3e, order %.2f", info.name, name[i], error[1][i], order);
      }
    }
  }
}

/* A surface that moves does work: energy.input is what the bead has more. */
static void moving_surface_does_work(void **state)
{
  double exact[N_SEEN], balance[2], input, first[10];
  (void)state;
  bead_reference(1, 0.8, exact);
  surface(0, 0.4, -0.3, 1, first);
  const double vz = first[1] * 0.5 + first[2] * 0.8 + first[3];
  const double before = 0.5 * (0.25 + 0.64 + vz * vz) + G * first[0];
  const double after = 0.5 * (exact[3] * exact[3] + exact[4] * exact[4] + exact[5] * exact[5]) + G * exact[2];
  for (int level = 0; level < 2; level++) {
    shop s = bead_shop(1);
    run_metered(&s, 0.8, 400 << level, &balance[level], &input);
    shop_close(&s);
  }
  assert_near(input, 1.7 * (after - before), 1e-3, "the work of the surface");
  assert_true(fabs(after - before) > 0.1 && fabs(balance[1]) < 1e-4);
  assert_true(fabs(balance[0]) > 3 * fabs(balance[1]));
}

/* ---- The same machine with a joint and by an expression ---- */

static void add_joint(shop *s, const char *name, ga_joint_kind kind, const char *a, const char *b)
{
  ga_joint_def d = ga_joint_defaults();
  d.name = name;
  d.kind = kind;
  d.a = a, d.b = b;
  if (kind == GA_JOINT_GEAR) d.ratio = 1.7;
  if (kind == GA_JOINT_SCREW) d.pitch = 0.3;
  if (kind == GA_JOINT_DISTANCE) d.length = 0.9;
  SHOP_ADD(s, joint, &d);
}

static void add_free(shop *s, const char *name, double x, double y, double z, const double omega[3])
{
  ga_rigid_def d = ga_rigid_defaults();
  const double inertia[6] = {0.5, 0.7, 0.9, 0.05, -0.03, 0.04};
  d.name = name;
  d.mass = 2.5;
  memcpy(d.inertia, inertia, sizeof inertia);
  d.pose = ga_pose_at(x, y, z);
  memcpy(d.omega, omega, sizeof d.omega);
  SHOP_ADD(s, rigid, &d);
}

/* A pendulum in space on a rod; two rotors with a gear; a nut on a screw; a hinge. */
static shop pair_shop(int what, int by_expression, ga_form form)
{
  shop s = shop_open(form, -G);
  add_free(&s, "arm", 0, 0, what == 0 ? -0.9 : 0, (double[3]){0, 0, what == 0 || what == 3 ? 0 : 2});
  if (what == 0) { /* from the origin of the ground to that of the body */
    if (by_expression)
      add_zero(&s, "hold", "sqrt(arm.x^2 + arm.y^2 + arm.z^2) - 0.9");
    else
      add_joint(&s, "hold", GA_JOINT_DISTANCE, "ground", "arm");
    ga_force_def f = ga_force_defaults();
    f.name = "push", f.frame = "arm", f.force[0].value = 3, f.torque[1].value = 1;
    SHOP_ADD(&s, force, &f);
  } else if (what == 1) {
    add_free(&s, "wheel", 1, 0, 0, (double[3]){0, 0, -2 / 1.7});
    shop_turned(&s, "away", "ground", 1, 0, 0, 2, 0);
    add_joint(&s, "first", GA_JOINT_REVOLUTE, "ground", "arm");
    add_joint(&s, "second", GA_JOINT_REVOLUTE, "away", "wheel");
    if (by_expression)
      add_zero(&s, "hold", "first.angle + 1.7*second.angle");
    else
      add_joint(&s, "hold", GA_JOINT_GEAR, "first.angle", "second.angle");
    ga_actuator_def a = ga_actuator_defaults();
    a.name = "motor", a.coordinate = "second.angle", a.force.expression = "4*cos(5*t) + first.angle";
    SHOP_ADD(&s, actuator, &a);
  } else if (what == 2) {
    add_joint(&s, "first", by_expression ? GA_JOINT_CYLINDRICAL : GA_JOINT_SCREW, "ground", "arm");
    if (by_expression) add_zero(&s, "hold", "first.displacement - 0.3/(2*pi)*first.angle");
  } else { /* a hinge about z of markers off the centre of mass */
    ga_force_def f = ga_force_defaults();
    shop_turned(&s, "on", "arm", -0.4, 0.2, 0.1, 0, 0.3);
    shop_turned(&s, "off", "ground", -0.4, 0.2, 0.1, 0, 0.3);
    f.name = "push", f.frame = "arm", f.force[0].value = 3, f.torque[1].value = 1, f.torque[0].value = 2;
    SHOP_ADD(&s, force, &f);
    if (!by_expression) {
      add_joint(&s, "hold", GA_JOINT_REVOLUTE, "off", "on");
      return s;
    }
    shop_turned(&s, "axle", "on", 0, 0, 1, 0, 0);
    shop_turned(&s, "pole", "off", 1, 0, 0, 0, 0);
    shop_turned(&s, "pile", "off", 0, 1, 0, 0, 0);
    add_zero(&s, "x", "on.x - off.x");
    add_zero(&s, "y", "on.y - off.y");
    add_zero(&s, "z", "on.z - off.z");
    for (int i = 0; i < 2; i++) {
      char text[256], name[2][5] = {"pole", "pile"};
      snprintf(text, sizeof text,
               "(axle.x - on.x)*(%s.x - off.x) + (axle.y - on.y)*(%s.y - off.y) + (axle.z - on.z)*(%s.z - "
               "off.z)",
               name[i], name[i], name[i]);
      add_zero(&s, i ? "about_x" : "about_y", text);
    }
  }
  return s;
}

static void joints_are_the_same_by_expressions(void **state)
{
  static const char *const seen[] = {"arm.x",  "arm.y",  "arm.z",  "arm.qx", "arm.qz", "arm.vx",
                                     "arm.vz", "arm.wx", "arm.wz", "arm.ax", "arm.az", "arm.wy"};
  (void)state;
  for (int what = 0; what < 4; what++)
    for (int form = 0; form < 3; form++) {
      double value[2][12], force[2] = {0, 0};
      for (int k = 0; k < 2; k++) {
        shop s = pair_shop(what, k, (ga_form)form);
        const ga_state *at = run(&s, 1, 200);
        for (int i = 0; i < 12; i++) value[k][i] = shop_signal(&s, at, seen[i]);
        if (what == 1) force[k] = shop_signal(&s, at, "hold.force");
        if (what == 0 && k == 0)
          force[k] = sqrt(pow(shop_signal(&s, at, "hold.fx"), 2) + pow(shop_signal(&s, at, "hold.fy"), 2) +
                          pow(shop_signal(&s, at, "hold.fz"), 2));
        if (what == 0 && k == 1) force[k] = -shop_signal(&s, at, "hold.force"); /* it pulls inwards */
        shop_close(&s);
      }
      for (int i = 0; i < 12; i++)
        assert_near(value[1][i], value[0][i], 2e-9 * (1 + fabs(value[0][i])), seen[i]);
      assert_near(force[1], force[0], 1e-8 * (1 + fabs(force[0])), "the force");
      if (what < 2) assert_true(fabs(force[0]) > 1);
    }
}

/* A disk that rolls, by the part for it and by one holonomic and two nonholonomic expressions. With n its
 * axis, P − C = −R d, d = (e_z − n_z n)/m, m = √(1 − n_z²). */
static shop disk_shop(int by_expression, ga_form form)
{
  shop s = shop_open(form, -G);
  const double about[3] = {1, 0, 0};
  ga_rigid_def d = ga_rigid_defaults();
  d.name = "disk";
  d.mass = 2;
  d.inertia[0] = d.inertia[1] = 0.08, d.inertia[2] = 0.16;
  d.pose = ga_pose_at(0, 0, 0.4 * cos(0.2));
  assert_int_equal(ga_rotation_axis_angle(s.ctx, about, 0.5 * acos(-1.0) + 0.2, d.pose.rotation), GA_OK);
  d.omega[2] = 0.6;
  d.omega[1] = 5;
  d.velocity[0] = 0.4 * 5 * cos(0.2); /* made consistent by the start */
  SHOP_ADD(&s, rigid, &d);
  if (!by_expression) {
    ga_rolling_def r = ga_rolling_defaults();
    r.name = "roll", r.kind = GA_ROLLING_DISK, r.body = "disk", r.radius = 0.4;
    SHOP_ADD(&s, rolling, &r);
    return s;
  }
  shop_turned(&s, "axle", "disk", 0, 0, 1, 0, 0);
#define N(c) "(axle." c " - disk." c ")"
#define M "sqrt(1 - " N("z") "^2)"
  add_zero(&s, "contact", "disk.z - 0.4*" M);
  add_zero(&s, "along", "disk.vx - 0.4*(disk.wy*" M " + disk.wz*" N("z") "*" N("y") "/" M ")");
  add_zero(&s, "across", "disk.vy + 0.4*(disk.wz*" N("z") "*" N("x") "/" M " + disk.wx*" M ")");
  return s;
}

static void disk_rolls_the_same(void **state)
{
  static const char *const seen[] = {"disk.x",  "disk.y",  "disk.z",  "disk.qx", "disk.qy", "disk.vx",
                                     "disk.vy", "disk.wx", "disk.wy", "disk.wz", "disk.ax", "disk.az"};
  (void)state;
  for (int form = 0; form < 3; form++)
    for (int m = 0; m < 2; m++) {
      double value[2][12], normal[2];
      for (int k = 0; k < 2; k++) {
        shop s = disk_shop(k, (ga_form)form);
        const ga_state *at = run_with(&s, m ? GA_SOI2 : GA_STABILIZED, 1, 400);
        for (int i = 0; i < 12; i++) value[k][i] = shop_signal(&s, at, seen[i]);
        normal[k] = shop_signal(&s, at, k ? "contact.force" : "roll.normal");
        shop_close(&s);
      }
      for (int i = 0; i < 12; i++)
        assert_near(value[1][i], value[0][i], 3e-8 * (1 + fabs(value[0][i])), seen[i]);
      assert_near(normal[1], normal[0], 1e-7 * normal[0], "the normal force");
      assert_true(fabs(value[0][0]) > 0.5 && normal[0] > 10);
    }
}

/* ---- A cam: z = h + c cos(n φ), one freedom φ; with s = c n sin(nφ), z' = −s φ' ---- */

enum { CAM_N = 3 };
static const double CAM_C = 0.05, CAM_J = 0.02, CAM_M = 1.3;

static void cam_slope(double t, const double *y, double *dy)
{
  (void)t;
  const double s = CAM_C * CAM_N * sin(CAM_N * y[0]), c = CAM_C * CAM_N * CAM_N * cos(CAM_N * y[0]);
  /* (J + m s²) φ'' = −m s s' φ'² + m g s,  s' = c */
  dy[0] = y[1];
  dy[1] = (-CAM_M * s * c * y[1] * y[1] + CAM_M * G * s) / (CAM_J + CAM_M * s * s);
}

static void cam_lifts_its_follower(void **state)
{
  double y[2] = {0.2, 9}, dy[2];
  (void)state;
  runge_kutta(cam_slope, 2, y, 1.5, 20000);
  cam_slope(0, y, dy);
  const double s = CAM_C * CAM_N * sin(CAM_N * y[0]), c = CAM_C * CAM_N * CAM_N * cos(CAM_N * y[0]);
  const double az = -s * dy[1] - c * y[1] * y[1];
  double error[2][3];
  for (int level = 0; level < 2; level++) {
    shop sh = shop_open(GA_FORM_SPACE, -G);
    ga_rigid_def shaft = ga_rigid_defaults(), follower = ga_rigid_defaults();
    ga_joint_def axle = ga_joint_defaults(), guide = ga_joint_defaults();
    const double y_axis[3] = {0, 1, 0};
    shaft.name = "shaft", shaft.mass = 1;
    shaft.inertia[0] = shaft.inertia[1] = shaft.inertia[2] = CAM_J;
    follower.name = "follower", follower.mass = CAM_M;
    follower.inertia[0] = follower.inertia[1] = follower.inertia[2] = 0.1;
    follower.pose = ga_pose_at(0, 0, 0.3 + CAM_C * cos(CAM_N * 0.2));
    follower.velocity[2] = -CAM_C * CAM_N * sin(CAM_N * 0.2) * 9;
    SHOP_ADD(&sh, rigid, &shaft);
    SHOP_ADD(&sh, rigid, &follower);
    axle.name = "axle", axle.kind = GA_JOINT_REVOLUTE, axle.a = "ground", axle.b = "shaft", axle.at_pose = 1;
    axle.at = ga_pose_at(0, 0, 0);
    assert_int_equal(ga_rotation_z_axis(sh.ctx, y_axis, NULL, axle.at.rotation), GA_OK);
    axle.angle = 0.2, axle.angle_rate = 9;
    SHOP_ADD(&sh, joint, &axle);
    guide.name = "guide", guide.kind = GA_JOINT_PRISMATIC, guide.a = "ground", guide.b = "follower";
    guide.at_pose = 1, guide.at = ga_pose_at(0, 0, 0);
    SHOP_ADD(&sh, joint, &guide);
    add_zero(&sh, "cam", "follower.z - 0.3 - 0.05*cos(3*axle.angle)");
    const ga_state *at = run(&sh, 1.5, 3000 << level);
    error[level][0] = fabs(shop_signal(&sh, at, "axle.angle") - y[0]);
    error[level][1] = fabs(shop_signal(&sh, at, "axle.angle_rate") - y[1]);
    error[level][2] = fabs(shop_signal(&sh, at, "cam.force") - CAM_M * (az + G));
    assert_true(fabs(shop_signal(&sh, at, "cam.error")) < 1e-12);
    assert_string_equal(ga_machine_signal_unit(sh.m, ga_machine_find_signal(sh.m, "cam.force")), "N");
    assert_string_equal(ga_machine_signal_unit(sh.m, ga_machine_find_signal(sh.m, "cam.error")), "m");
    shop_close(&sh);
  }
  assert_true(y[0] > 2 * 6.28);
  for (int i = 0; i < 3; i++) {
    const double order = log2(error[0][i] / error[1][i]);
    if (error[1][i] > 1e-2 || order < 1.8 || order > 2.2)
      fail_msg("%d: %.2e, order %.2f", i, error[1][i], order);
  }
}

/* ---- Nonholonomic: a sleigh, a constant speed ---- */

/* Chaplygin's sleigh, its knife a behind the centre of mass: u' = a ω², (J + m a²) ω' = −m a u ω. */
static void sleigh_slope(double t, const double *y, double *dy)
{
  const double a = 0.3, m = 1.5, J = 0.4;
  (void)t;
  dy[0] = a * y[1] * y[1];
  dy[1] = -m * a * y[0] * y[1] / (J + m * a * a);
  dy[2] = y[1];
  dy[3] = y[0] * cos(y[2]);
  dy[4] = y[0] * sin(y[2]);
}

static void sleigh_moves_as_chaplygins(void **state)
{
  double y[5] = {0.2, 2, 0.5, 0, 0}, error[2][4];
  (void)state;
  runge_kutta(sleigh_slope, 5, y, 2, 20000);
  for (int level = 0; level < 2; level++) {
    shop s = shop_open(GA_FORM_SPACE, 0);
    ga_planar_def d = ga_planar_defaults();
    d.name = "sleigh", d.mass = 1.5, d.inertia = 0.4, d.com[0] = 0.3;
    d.angle = 0.5, d.rate = 2, d.velocity[0] = 0.2 * cos(0.5), d.velocity[1] = 0.2 * sin(0.5);
    SHOP_ADD(&s, planar, &d);
    add_zero(&s, "knife", "sleigh.vy*cos(sleigh.angle) - sleigh.vx*sin(sleigh.angle)");
    const ga_state *at = run(&s, 2, 500 << level);
    error[level][0] = fabs(shop_signal(&s, at, "sleigh.x") - y[3]);
    error[level][1] = fabs(shop_signal(&s, at, "sleigh.y") - y[4]);
    error[level][2] = fabs(shop_signal(&s, at, "sleigh.angle") - y[2]);
    /* across the knife: m (a_com) · n = m (u ω + a ω') */
    double dy[5];
    sleigh_slope(0, y, dy);
    error[level][3] = fabs(shop_signal(&s, at, "knife.force") - 1.5 * (y[0] * y[1] + 0.3 * dy[1]));
    shop_close(&s);
  }
  for (int i = 0; i < 4; i++) {
    const double order = log2(error[0][i] / error[1][i]);
    if (error[1][i] > 1e-4 || order < 1.8 || order > 2.2)
      fail_msg("%d: %.2e, order %.2f", i, error[1][i], order);
  }
}

/* |v| = c under gravity, by Chetaev's rule: m v' = m g + μ v with v · v' = 0, so that v' = g − (g·v) v/c². */
static void speed_slope(double t, const double *y, double *dy)
{
  const double c2 = 4, along = -G * y[3] / c2;
  (void)t;
  dy[0] = y[2], dy[1] = y[3];
  dy[2] = -along * y[2];
  dy[3] = -G - along * y[3];
}

static void speed_is_kept(void **state)
{
  double y[4] = {0, 0, 2 * cos(0.4), 2 * sin(0.4)}, error[2][4], balance[2];
  (void)state;
  runge_kutta(speed_slope, 4, y, 0.7, 20000);
  for (int level = 0; level < 2; level++) {
    shop s = shop_open(GA_FORM_SPACE, -G);
    double input;
    add_point(&s, "car", 1.4, (double[3]){0, 0, 0}, (double[3]){2 * cos(0.4), 0, 2 * sin(0.4)});
    add_zero(&s, "cruise", "car.vx^2 + car.vy^2 + car.vz^2 - 4");
    const ga_state *at = run_metered(&s, 0.7, 400 << level, &balance[level], &input);
    assert_near(input, 1.4 * G * y[1], 1e-3, "what keeps the speed");
    error[level][0] = fabs(shop_signal(&s, at, "car.x") - y[0]);
    error[level][1] = fabs(shop_signal(&s, at, "car.z") - y[1]);
    error[level][2] = fabs(shop_signal(&s, at, "car.vz") - y[3]);
    /* 2 v force = μ v: force = −m (g·v)/(2 c²) */
    error[level][3] = fabs(shop_signal(&s, at, "cruise.force") - 1.4 * G * y[3] / 8);
    shop_close(&s);
  }
  assert_true(fabs(balance[1]) < 1e-4 && fabs(balance[0]) > 3 * fabs(balance[1]));
  for (int i = 0; i < 4; i++) {
    const double order = log2(error[0][i] / error[1][i]);
    if (error[1][i] > 1e-4 || order < 1.8 || order > 2.2)
      fail_msg("%d: %.2e, order %.2f", i, error[1][i], order);
  }
}

/* ---- The start ---- */

/* A crank whose angle is given, and a slider on the end of its rod, all pins by expressions: loops are closed
 * through them. */
static void loops_are_closed(void **state)
{
  (void)state;
  shop s = shop_open(GA_FORM_SPACE, 0);
  ga_planar_def d = ga_planar_defaults();
  ga_joint_def axle = ga_joint_defaults(), guide = ga_joint_defaults();
  char report[512];
  d.mass = 1, d.inertia = 0.1;
  d.name = "crank", d.position[0] = 0;
  SHOP_ADD(&s, planar, &d);
  d.name = "rod", d.position[0] = 1;
  SHOP_ADD(&s, planar, &d);
  d.name = "slider", d.position[0] = 3.2;
  SHOP_ADD(&s, planar, &d);
  shop_turned(&s, "pin", "crank", 1, 0, 0, 2, 0);
  shop_turned(&s, "tip", "rod", 2, 0, 0, 2, 0);
  axle.name = "axle", axle.kind = GA_JOINT_REVOLUTE, axle.a = "ground", axle.b = "crank";
  axle.angle = 0.9, axle.angle_rate = 2;
  SHOP_ADD(&s, joint, &axle);
  guide.name = "guide", guide.kind = GA_JOINT_PRISMATIC, guide.a = "ground", guide.b = "slider";
  SHOP_ADD(&s, joint, &guide);
  add_zero(&s, "pin_x", "rod.x - pin.x");
  add_zero(&s, "pin_y", "rod.y - pin.y");
  add_zero(&s, "tip_x", "tip.x - slider.x");
  add_zero(&s, "tip_y", "tip.y - slider.y");
  const ga_state *at = shop_start(&s);
  assert_true(ga_machine_report(s.m, s.st, report, sizeof report) > 0);
  assert_non_null(strstr(report, "mobility 1"));
  assert_near(shop_signal(&s, at, "axle.angle"), 0.9, 1e-12, "the crank's angle");
  assert_near(shop_signal(&s, at, "slider.x"), cos(0.9) + sqrt(4 - sin(0.9) * sin(0.9)), 1e-12, "the slider");
  assert_near(shop_signal(&s, at, "slider.vx"),
              -2 * (sin(0.9) + sin(0.9) * cos(0.9) / sqrt(4 - sin(0.9) * sin(0.9))), 1e-11, "its velocity");
  shop_close(&s);
}

/* An angle that is counted by a node of its own, with a start that is to be assembled. */
static void counted_angles_are_assembled(void **state)
{
  (void)state;
  shop s = shop_open(GA_FORM_SE3, 0);
  ga_joint_def d = ga_joint_defaults();
  add_free(&s, "arm", 0, 0, 0, (double[3]){0, 0, 0});
  shop_scalar(&s, "load", 0, 0);
  d.name = "hinge", d.kind = GA_JOINT_REVOLUTE, d.a = "ground", d.b = "arm";
  d.angle = 7.5, d.angle_rate = 0.4;
  SHOP_ADD(&s, joint, &d);
  add_zero(&s, "cable", "load - 0.2*hinge.angle");
  const ga_state *at = shop_start(&s);
  assert_near(shop_signal(&s, at, "load"), 1.5, 1e-12, "the load, with the turns of the hinge");
  assert_near(shop_signal(&s, at, "load.rate"), 0.08, 1e-12, "its rate");
  shop_close(&s);
}

/* What a joint holds already is found, by name, and lived with. */
static void repetitions_are_named(void **state)
{
  static const char *const zero[] = {"arm.y", "hypot(arm.x, arm.z) - 1", "arm.vy",
                                     "0.5*(arm.x^2 + arm.z^2) - 0.5"};
  (void)state;
  for (int i = 0; i < 4; i++) {
    shop s = shop_open(GA_FORM_SPACE, -G);
    char report[512];
    ga_joint_def d = ga_joint_defaults();
    const double y_axis[3] = {0, 1, 0};
    add_free(&s, "arm", 1, 0, 0, (double[3]){0, 0, 0});
    d.name = "hinge", d.kind = GA_JOINT_REVOLUTE, d.a = "ground", d.b = "arm", d.at_pose = 1;
    d.at = ga_pose_at(0, 0, 0);
    assert_int_equal(ga_rotation_z_axis(s.ctx, y_axis, NULL, d.at.rotation), GA_OK);
    SHOP_ADD(&s, joint, &d);
    add_zero(&s, "again", zero[i]);
    run(&s, 0.5, 100);
    assert_true(ga_machine_report(s.m, s.st, report, sizeof report) > 0);
    if (!strstr(report, "again: expression is already fixed by hinge")) fail_msg("%s: %s", zero[i], report);
    assert_near(shop_signal(&s, ga_stepper_state(s.st), "again.error"), 0, 1e-9, zero[i]);
    shop_close(&s);
  }
}

/* ---- What is refused ---- */

typedef struct bad_case {
  const char *zero, *unit;
  ga_constraint_kind type;
  ga_reason reason;
} bad_case;

static const bad_case BAD[] = {
    {"1", NULL, GA_CONSTRAINT_AUTO, GA_REASON_HOLDS_NOTHING},
    {"sin(t) + pi", NULL, GA_CONSTRAINT_AUTO, GA_REASON_HOLDS_NOTHING},
    {"slope.x", NULL, GA_CONSTRAINT_AUTO, GA_REASON_HOLDS_NOTHING},
    {"bead.x +", NULL, GA_CONSTRAINT_AUTO, GA_REASON_SYNTAX},
    {"bead.q", NULL, GA_CONSTRAINT_AUTO, GA_REASON_UNKNOWN_SIGNAL},
    {"beat.x", NULL, GA_CONSTRAINT_AUTO, GA_REASON_UNKNOWN_SIGNAL},
    {"bead.ax", NULL, GA_CONSTRAINT_AUTO, GA_REASON_NOT_OF_MOTION},
    {"hinge.angle_acc", NULL, GA_CONSTRAINT_AUTO, GA_REASON_NOT_OF_MOTION},
    {"bead.x - hinge.fx", NULL, GA_CONSTRAINT_AUTO, GA_REASON_NOT_OF_MOTION},
    {"strut.force", NULL, GA_CONSTRAINT_AUTO, GA_REASON_NOT_OF_MOTION},
    {"arm.qx", NULL, GA_CONSTRAINT_AUTO, GA_REASON_NOT_OF_MOTION},
    {"bad.force", NULL, GA_CONSTRAINT_AUTO, GA_REASON_NOT_OF_MOTION},
    {"bad.error", NULL, GA_CONSTRAINT_AUTO, GA_REASON_NOT_OF_MOTION},
    {"energy.kinetic", NULL, GA_CONSTRAINT_AUTO, GA_REASON_ENERGY_NOT_FED_BACK},
    {"bead.x", NULL, GA_CONSTRAINT_NONHOLONOMIC, GA_REASON_OTHER_CONSTRAINT},
    {"bead.vx", NULL, GA_CONSTRAINT_HOLONOMIC, GA_REASON_OTHER_CONSTRAINT},
    {"bead.x - hinge.angle", NULL, GA_CONSTRAINT_AUTO, GA_REASON_SUM_OF_DIMENSIONS},
    {"bead.x + (1 - bead.vx)", NULL, GA_CONSTRAINT_AUTO, GA_REASON_SUM_OF_DIMENSIONS},
    {"bead.x", "rad", GA_CONSTRAINT_AUTO, GA_REASON_WRONG_DIMENSION},
    {"bead.x", "furlong", GA_CONSTRAINT_AUTO, GA_REASON_UNKNOWN_UNIT},
    {"bead.x - abs(bead.y)", NULL, GA_CONSTRAINT_AUTO, GA_REASON_CONSTRAINT_KINK},
    {"bead.x - max(bead.y, 1)", NULL, GA_CONSTRAINT_AUTO, GA_REASON_CONSTRAINT_KINK},
    {"bead.x + if(t > 1, 1, 2)", NULL, GA_CONSTRAINT_AUTO, GA_REASON_CONSTRAINT_KINK},
    {"bead.x*(bead.y > 0 && t > 0)", NULL, GA_CONSTRAINT_AUTO, GA_REASON_CONSTRAINT_KINK},
    {"bead.x - floor(bead.y)", NULL, GA_CONSTRAINT_AUTO, GA_REASON_CONSTRAINT_KINK},
    {"bead.x - step(t, 1)", NULL, GA_CONSTRAINT_AUTO, GA_REASON_CONSTRAINT_KINK},
    {"bead.x - mod(bead.y, 1)", NULL, GA_CONSTRAINT_AUTO, GA_REASON_CONSTRAINT_KINK},
    {"bead.x - atan2(bead.y, bead.x)", NULL, GA_CONSTRAINT_AUTO, GA_REASON_CONSTRAINT_KINK},
    {"bead.x - straight(bead.y)", NULL, GA_CONSTRAINT_AUTO, GA_REASON_CONSTRAINT_KINK},
    {"bead.x - ending(bead.y)", NULL, GA_CONSTRAINT_AUTO, GA_REASON_CONSTRAINT_KINK},
    {"bead.x - nested(bead.y)", NULL, GA_CONSTRAINT_AUTO, GA_REASON_CONSTRAINT_KINK},
    {"bead.x - moved(t)", NULL, GA_CONSTRAINT_AUTO, GA_REASON_CONSTRAINT_KINK},
    {"bead.x - bead.x", NULL, GA_CONSTRAINT_AUTO, GA_REASON_CONSTRAINT_SINGULAR},
    {"(bead.y - 0.6)^2", NULL, GA_CONSTRAINT_AUTO, GA_REASON_CONSTRAINT_SINGULAR},
    {"1e-11*bead.y", NULL, GA_CONSTRAINT_AUTO, GA_REASON_CONSTRAINT_SINGULAR},
    {"bead.vx^2 + bead.vy^2 - 1", NULL, GA_CONSTRAINT_AUTO, GA_REASON_CONSTRAINT_SINGULAR},
    {"1/(bead.x - 0.2)", NULL, GA_CONSTRAINT_AUTO, GA_REASON_UNDEFINED_AT_START},
    {"log(bead.z)", NULL, GA_CONSTRAINT_AUTO, GA_REASON_UNDEFINED_AT_START},
    {"sqrt(bead.y - 0.6)", NULL, GA_CONSTRAINT_AUTO, GA_REASON_UNDEFINED_AT_START},
    {"bead.x - within(bead.y - 3)", NULL, GA_CONSTRAINT_AUTO, GA_REASON_UNDEFINED_AT_START},
};

/* What is smooth: numbers decided once, tables that go on straight or end in rest. */
static const char *const GOOD[] = {"bead.x - abs(-0.2)",
                                   "bead.x - max(0.2, 0.1)*cos(bead.z)",
                                   "bead.x - smooth(bead.y) + 0.1",
                                   "bead.x - resting(bead.y)",
                                   "bead.x - trapezoid(t)",
                                   "bead.vx - 0.1*bead.vy^3"};

enum { N_FUNCTIONS = 8 };

static void add_functions(shop *s, ga_function *f[N_FUNCTIONS])
{
  static const double x[4] = {0, 1, 2, 3}, y[4] = {0, 1, 0.5, 0}, rest[4] = {0.2, 0.2, 0.2, 0.2};
  static const char *const name[N_FUNCTIONS] = {"straight", "ending", "within",    "smooth",
                                                "resting",  "moved",  "trapezoid", "nested"};
  ga_motion_opts motion = ga_motion_defaults();
  for (int i = 0; i < 5; i++) {
    ga_table_opts o = ga_table_defaults();
    o.n = 4, o.x = x, o.y = i == 4 ? rest : y;
    if (i > 0) o.interpolation = GA_INTERPOLATE_SPLINE;
    if (i == 2) o.before = o.after = GA_EXTRAPOLATE_ERROR;
    if (i == 3) o.before = o.after = GA_EXTRAPOLATE_LINEAR;
    assert_status(s->ctx, ga_function_create_table(s->ctx, &o, &f[i]), GA_OK);
  }
  motion.law = GA_MOTION_LINEAR;
  assert_status(s->ctx, ga_function_create_motion(s->ctx, &motion, &f[5]), GA_OK);
  motion.law = GA_MOTION_TRAPEZOID;
  assert_status(s->ctx, ga_function_create_motion(s->ctx, &motion, &f[6]), GA_OK);
  f[7] = shop_function(s->ctx, "2*t - abs(t)");
  for (int i = 0; i < N_FUNCTIONS; i++)
    assert_status(s->ctx, ga_machine_add_function(s->m, name[i], f[i]), GA_OK);
}

static shop bad_shop(ga_function *f[N_FUNCTIONS], const char *zero, const char *unit, ga_constraint_kind type)
{
  shop s = full_shop(GA_FORM_SPACE, 0);
  ga_constraint_def d = ga_constraint_defaults();
  add_functions(&s, f);
  d.name = "bad", d.zero = zero, d.unit = unit, d.type = type;
  SHOP_ADD(&s, constraint, &d);
  return s;
}

static void bad_shop_close(shop *s, ga_function *f[N_FUNCTIONS])
{
  ga_machine_destroy(&s->m);
  for (int i = 0; i < N_FUNCTIONS; i++) ga_function_destroy(&f[i]);
  shop_close(s);
}

static void what_cannot_be_held_is_refused(void **state)
{
  ga_function *f[N_FUNCTIONS];
  (void)state;
  for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
    const char *zero = BAD[i].zero;
    shop s = bad_shop(f, zero, BAD[i].unit, BAD[i].type);
    const ga_status status = ga_machine_build(s.m);
    const ga_error *error = ga_context_error(s.ctx);
    if (status >= 0 || error->reason != BAD[i].reason || strcmp(error->part, "bad") != 0)
      fail_msg("'%s': status %d, reason %d, part '%s': %s", zero, (int)status, (int)error->reason,
               error->part, error->text);
    assert_string_equal(error->kind, "constraint");
    assert_null(ga_machine_system(s.m));
    bad_shop_close(&s, f);
  }
  for (size_t i = 0; i < sizeof GOOD / sizeof *GOOD; i++) {
    shop s = bad_shop(f, GOOD[i], NULL, GA_CONSTRAINT_AUTO);
    assert_status(s.ctx, ga_machine_build(s.m), GA_OK);
    bad_shop_close(&s, f);
  }
}

/* A run that comes to where the expression ends says so, and does not go on. */
static void undefined_later_is_reported(void **state)
{
  (void)state;
  shop s = shop_open(GA_FORM_SPACE, 0);
  add_point(&s, "bead", 1, (double[3]){0, 0, 1}, (double[3]){1, 0, -0.5});
  add_zero(&s, "curve", "bead.z - sqrt(1 - bead.x)");
  run(&s, 0.5, 50);
  ga_status status = GA_OK;
  for (int i = 0; i < 200 && !status; i++) status = ga_stepper_step(s.st, 0.01);
  assert_true(status > 0);
  const ga_error *error = ga_context_error(s.ctx);
  if (error->reason != GA_REASON_UNDEFINED && error->reason != GA_REASON_NEWTON)
    fail_msg("%d: %s", (int)error->reason, error->text);
  shop_close(&s);
}

static shop memory_shop(void)
{
  shop s = full_shop(GA_FORM_BODY, 0);
  add_zero(&s, "held", "hinge.angle^2 - 3*hinge.displacement + seen.x");
  add_zero(&s, "kept", "spun.x - 0.3*felt.z*hinge.angle");
  return s;
}

static void memory_may_fail(void **state)
{
  (void)state;
  shop_fail_memory(memory_shop);
}

/* Equations and signals in words. */
static void words_and_units(void **state)
{
  static const struct {
    const char *zero, *given, *unit, *force;
  } unit[] = {{"bead.x", NULL, "m", "N"},
              {"hinge.angle - 0.1", NULL, "rad", "N*m"},
              {"bead.vx - bead.vy", NULL, "m/s", "N"},
              {"hinge.angle_rate", NULL, "rad/s", "N*m"},
              {"bead.x*bead.y", NULL, "", ""},
              {"bead.x*bead.y", "m^2", "m^2", "N/m"},
              {"(bead.vx + 1)^2 - 3*bead.vz", "m^2/s^2", "m^2/s^2", "kg/s"},
              {"sin(hinge.angle)", "1", "1", "N*m"}};
  (void)state;
  for (size_t i = 0; i < sizeof unit / sizeof *unit; i++) {
    shop s = full_shop(GA_FORM_SPACE, 0);
    ga_constraint_def d = ga_constraint_defaults();
    char text[80];
    d.name = "cam", d.zero = unit[i].zero, d.unit = unit[i].given;
    SHOP_ADD(&s, constraint, &d);
    shop_build(&s);
    const int force = ga_machine_find_signal(s.m, "cam.force"),
              error = ga_machine_find_signal(s.m, "cam.error");
    assert_string_equal(ga_machine_signal_unit(s.m, error), unit[i].unit);
    assert_string_equal(ga_machine_signal_unit(s.m, force), unit[i].force);
    assert_int_equal(ga_machine_signal_kind(s.m, force), GA_SIGNAL_FORCE);
    assert_int_equal(ga_machine_signal_kind(s.m, error), GA_SIGNAL_ERROR);
    const int holonomic = ga_system_size(ga_machine_system(s.m), GA_BLOCK_PSI) == 0;
    const ga_equation_block block = holonomic ? GA_BLOCK_LAMBDA : GA_BLOCK_PSI;
    const int last = ga_system_size(ga_machine_system(s.m), block) - 1;
    assert_string_equal(ga_machine_equation(s.m, block, last, text, sizeof text), unit[i].unit);
    assert_string_equal(text, "constraint 'cam': expression");
    shop_close(&s);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(derivatives_are_exact),
      cmocka_unit_test(bead_follows_its_surface),
      cmocka_unit_test(moving_surface_does_work),
      cmocka_unit_test(joints_are_the_same_by_expressions),
      cmocka_unit_test(disk_rolls_the_same),
      cmocka_unit_test(cam_lifts_its_follower),
      cmocka_unit_test(sleigh_moves_as_chaplygins),
      cmocka_unit_test(speed_is_kept),
      cmocka_unit_test(loops_are_closed),
      cmocka_unit_test(counted_angles_are_assembled),
      cmocka_unit_test(repetitions_are_named),
      cmocka_unit_test(what_cannot_be_held_is_refused),
      cmocka_unit_test(undefined_later_is_reported),
      cmocka_unit_test(words_and_units),
      cmocka_unit_test(memory_may_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
