/* Probes: derivatives of all that can be fed back, values against differences along a motion and against
 * Newton and Euler's laws. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "mbs_rig.h"
#include "lie/mat3.h"

#define TOL                                                                                                  \
  1e-6 /* the checker's; rows that are 0 by nature show rounding of 1e-13 against its floor of 1e-6 */

enum { MOST = 64 };

/* ---- A machine with something of everything ---- */

static void add_joint(const mbs_rig *r, const char *name, ga_joint_kind kind, const char *a, const char *b)
{
  ga_joint_def d = ga_joint_defaults();
  d.name = name;
  d.kind = kind;
  d.a = a;
  d.b = b;
  d.pitch = 0.3;
  mbs_ok(r, ga_machine_add_joint(r->m, &d));
}

static void add_sensor(const mbs_rig *r, const char *name, ga_sensor_kind kind, const char *of,
                       const char *from, const char *axes)
{
  ga_sensor_def d = ga_sensor_defaults();
  d.name = name;
  d.kind = kind;
  d.of = of;
  d.from = from;
  d.axes = axes;
  mbs_ok(r, ga_machine_add_sensor(r->m, &d));
}

/* A gain block of what is sensed, and an actuator that does what the block says. */
static void add_loop(const mbs_rig *r, const char *sensed)
{
  ga_block_gain_opts o = ga_block_gain_defaults();
  ga_control_block *block = NULL;
  ga_input in = {0.3, NULL, sensed};
  ga_actuator_def d = ga_actuator_defaults();
  o.gain = 1.4;
  mbs_ok(r, ga_block_create_gain(r->ctx, &o, &block));
  mbs_ok(r, ga_machine_add_block(r->m, "loop", block, &in));
  d.name = "push";
  d.a = "m1";
  d.b = "m2";
  d.force.expression = "2*loop";
  mbs_ok(r, ga_machine_add_actuator(r->m, &d));
}

static void add_scalar(const mbs_rig *r, const char *name)
{
  ga_scalar_def d = ga_scalar_defaults();
  d.name = name;
  d.mass = 0.7;
  d.position = 0.4;
  mbs_ok(r, ga_machine_add_scalar(r->m, &d));
}

static void add_point(const mbs_rig *r, const char *name)
{
  ga_point_def d = ga_point_defaults();
  d.name = name;
  d.mass = 0.9;
  for (int i = 0; i < 3; i++) d.position[i] = mbs_random();
  mbs_ok(r, ga_machine_add_point(r->m, &d));
}

static mbs_rig bodies(ga_form form)
{
  mbs_rig r = mbs_open(form);
  ga_rigid_def one = mbs_body("one"), two = mbs_body("two");
  ga_planar_def flat = mbs_planar("flat");
  mbs_ok(&r, ga_machine_add_rigid(r.m, &one));
  mbs_ok(&r, ga_machine_add_rigid(r.m, &two));
  mbs_ok(&r, ga_machine_add_planar(r.m, &flat));
  add_point(&r, "bob");
  mbs_marker(&r, "m1", "one", 0);
  mbs_marker(&r, "m2", "two", 0);
  mbs_marker(&r, "m3", "flat", 1);
  mbs_marker(&r, "g1", "ground", 0);
  return r;
}

/* ---- Derivatives ---- */

static void test_sensor_derivatives(void **state)
{
  (void)state;
  static const char *const frame[] = {"ground", "m1", "m2", "m3", "bob", "g1"};
  for (int form = 0; form < 3; form++)
    for (int kind = GA_SENSOR_POSITION; kind <= GA_SENSOR_ANGULAR_VELOCITY; kind++)
      for (int of = 1; of < 6; of++)
        for (int axes = 0; axes < 4; axes++) {
          mbs_rig r = bodies((ga_form)form);
          char what[64];
          add_sensor(&r, "eye", (ga_sensor_kind)kind, frame[of],
                     kind == GA_SENSOR_POSITION ? frame[(of + axes) % 6] : "ground", frame[axes]);
          add_loop(&r, "eye.x*(1 + eye.y) - 2*eye.z");
          mbs_ok(&r, ga_machine_build(r.m));
          snprintf(what, sizeof what, "form %d, sensor %d of %s in %s", form, kind, frame[of], frame[axes]);
          mbs_check(&r, what, 2, 0.3, TOL);
          mbs_close(&r);
        }
}

static void test_reaction_derivatives(void **state)
{
  (void)state;
  static const char *const pair[3][2] = {{"m1", "m2"}, {"g1", "m2"}, {"m1", "g1"}};
  static const char *const axes[4] = {"ground", "m1", "m2", "m3"};
  for (int kind = 0; kind < GA_JOINT_GEAR; kind++)
    for (int k = 0; k < 3; k++)
      for (int a = 0; a < 4; a++) {
        mbs_rig r = bodies((ga_form)((kind + k + a) % 3));
        add_joint(&r, "joint", (ga_joint_kind)kind, pair[k][0], pair[k][1]);
        add_sensor(&r, "f", GA_SENSOR_REACTION_FORCE, "joint", "ground", axes[a]);
        add_sensor(&r, "m", GA_SENSOR_REACTION_TORQUE, "joint", "ground", axes[(a + 1) % 4]);
        add_loop(&r, "f.x + 2*f.y - f.z + m.x - 0.7*m.y + m.z*f.x");
        mbs_ok(&r, ga_machine_build(r.m));
        mbs_check(&r, ga_joint_name((ga_joint_kind)kind), 2, 0.3, TOL);
        mbs_close(&r);
      }
}

/* Everything that can be named. */
static mbs_rig full(ga_form form)
{
  mbs_rig r = bodies(form);
  ga_spring_def spring = ga_spring_defaults();
  ga_friction_def friction = ga_friction_defaults();
  ga_bushing_def bushing = ga_bushing_defaults();
  ga_contact_def contact = ga_contact_defaults();
  ga_drive_def drive = ga_drive_defaults();
  ga_joint_def gear = ga_joint_defaults();
  static ga_function *f;
  ga_block_integrator_opts o = ga_block_integrator_defaults();
  ga_control_block *block = NULL;
  ga_input in[2] = {{0.1, NULL, "hinge.angle_rate"}, {0, NULL, "wheel"}};
  static ga_context *functions;
  if (!f) {
    mbs_ok(&r, ga_context_create(NULL, &functions));
    mbs_ok(&r, ga_function_create_constant(functions, 0.2, &f));
  }
  add_scalar(&r, "wheel");
  add_scalar(&r, "rotor");
  add_joint(&r, "hinge", GA_JOINT_REVOLUTE, "m1", "m2");
  add_joint(&r, "slide", GA_JOINT_CYLINDRICAL, "g1", "m1");
  add_joint(&r, "pin", GA_JOINT_REVOLUTE, "ground", "m3");
  gear.name = "gear";
  gear.kind = GA_JOINT_GEAR;
  gear.a = "wheel";
  gear.b = "rotor";
  gear.ratio = 2;
  mbs_ok(&r, ga_machine_add_joint(r.m, &gear));
  drive.name = "drive";
  drive.coordinate = "slide.displacement";
  drive.function = f;
  mbs_ok(&r, ga_machine_add_drive(r.m, &drive));
  spring.name = "spring";
  spring.a = "m1";
  spring.b = "bob";
  spring.stiffness = 3;
  mbs_ok(&r, ga_machine_add_spring(r.m, &spring));
  friction.name = "friction";
  friction.coordinate = "hinge.angle";
  friction.level.value = 0.3;
  friction.speed = 0.1;
  mbs_ok(&r, ga_machine_add_friction(r.m, &friction));
  bushing.name = "bushing";
  bushing.a = "g1";
  bushing.b = "m2";
  for (int i = 0; i < 3; i++) bushing.stiffness[7 * i] = 2 + i; /* its angles would jump at half a turn */
  mbs_ok(&r, ga_machine_add_bushing(r.m, &bushing));
  contact.name = "contact";
  contact.plane = "ground";
  contact.point = "bob";
  contact.stiffness = 2;
  contact.radius = 5; /* always in contact: differences do not like its corner */
  mbs_ok(&r, ga_machine_add_contact(r.m, &contact));
  o.n = 2;
  mbs_ok(&r, ga_block_create_integrator(r.ctx, &o, &block));
  mbs_ok(&r, ga_machine_add_block(r.m, "sums", block, in));
  add_sensor(&r, "eye", GA_SENSOR_VELOCITY, "m2", "ground", "m1");
  return r;
}

/* Every signal either feeds back with right derivatives or is refused for being an output only. */
static void test_every_signal(void **state)
{
  (void)state;
  mbs_rig first = full(GA_FORM_SPACE);
  int fed = 0, refused = 0;
  mbs_ok(&first, ga_machine_build(first.m));
  const int n = ga_machine_n_signals(first.m);
  for (int i = 0; i < n; i++) {
    char name[64];
    mbs_rig r;
    snprintf(name, sizeof name, "%s", ga_machine_signal_name(first.m, i));
    rig_heap heap = rig_memory;
    r = full((ga_form)(i % 3));
    add_loop(&r, name);
    ga_status status = ga_machine_build(r.m);
    if (status) {
      assert_status(r.ctx, status, GA_ERR_ARGUMENT);
      assert_says(r.ctx, "fed back");
      assert_says(r.ctx, name);
      assert_says(r.ctx, "block 'loop'");
      refused++;
    } else {
      mbs_check(&r, name, 1, 0.2, TOL);
      fed++;
    }
    mbs_close(&r);
    rig_memory = heap;
  }
  mbs_close(&first);
  assert_int_equal(fed + refused, n);
  /* quaternions, energies */
  assert_int_equal(refused, 3 * 4 + GA__N_ENERGIES);
}

/* The normal force of a rolling contact, added before or after who uses it. */
static void test_rolling(void **state)
{
  (void)state;
  for (int late = 0; late < 2; late++) {
    mbs_rig r = bodies(GA_FORM_BODY);
    ga_rolling_def d = ga_rolling_defaults();
    ga_force_def f = ga_force_defaults();
    d.name = "road";
    d.kind = GA_ROLLING_DISK;
    d.body = "m2";
    d.radius = 0.7;
    f.name = "brake";
    f.frame = "m1";
    f.force[0].expression = "0.3*road.normal";
    if (!late) mbs_ok(&r, ga_machine_add_rolling(r.m, &d));
    mbs_ok(&r, ga_machine_add_force(r.m, &f));
    if (late) mbs_ok(&r, ga_machine_add_rolling(r.m, &d));
    mbs_ok(&r, ga_machine_build(r.m));
    mbs_check(&r, "rolling", 3, 0.3, TOL);
    mbs_close(&r);
  }
}

/* ---- Values along a motion ---- */

typedef struct motion {
  mbs_rig *r;
  double q[MOST], v[MOST], vdot[MOST], lambda[MOST], x[MOST], y[MOST], q_moved[MOST];
  ga_state s;
} motion;

static void motion_open(motion *a, mbs_rig *r)
{
  const ga_system *sys = ga_machine_system(r->m);
  a->r = r;
  memset(a->x, 0, sizeof a->x);
  memset(a->y, 0, sizeof a->y);
  assert_true(sys->nq <= MOST && sys->n <= MOST);
  mbs_ok(r, ga_machine_initial(r->m, a->q, a->v, a->x));
  for (int i = 0; i < sys->nv; i++) a->v[i] = mbs_random(), a->vdot[i] = 2 * mbs_random();
  for (int i = 0; i < MOST; i++) a->lambda[i] = mbs_random();
  memset(&a->s, 0, sizeof a->s);
  a->s = (ga_state){.q = a->q, .v = a->v, .vdot = a->vdot, .lambda = a->lambda, .x = a->x, .y = a->y};
}

static double signal_at(motion *a, const char *name)
{
  const int i = ga_machine_find_signal(a->r->m, name);
  double value;
  if (i < 0) fail_msg("there is no signal '%s'", name);
  mbs_ok(a->r, ga_machine_signals(a->r->m, NULL, &a->s, 1, &i, &value));
  return value;
}

/* The signal at q moved by s v + s²/2 vdot. */
static double moved(motion *a, const char *name, double s)
{
  const ga_system *sys = ga_machine_system(a->r->m);
  double d[MOST];
  for (int i = 0; i < sys->nv; i++) d[i] = s * a->v[i] + 0.5 * s * s * a->vdot[i];
  ga_group_move(sys->group, a->q_moved, a->q, d);
  a->s.q = a->q_moved;
  const double value = signal_at(a, name);
  a->s.q = a->q;
  return value;
}

static void expect_rates(motion *a, const char *value, const char *rate, const char *acc)
{
  const double h = 2e-3;
  double f[7], first, second;
  for (int k = 0; k < 7; k++) f[k] = moved(a, value, (k - 3) * h);
  first = (f[6] - f[0] - 9 * (f[5] - f[1]) + 45 * (f[4] - f[2])) / (60 * h);
  second = (2 * (f[6] + f[0]) - 27 * (f[5] + f[1]) + 270 * (f[4] + f[2]) - 490 * f[3]) / (180 * h * h);
  assert_near(signal_at(a, rate), first, 1e-9 * (1 + fabs(first)), rate);
  assert_near(signal_at(a, acc), second, 1e-7 * (1 + fabs(second)), acc);
}

static void test_rates(void **state)
{
  (void)state;
  static const char *const frame[] = {"one", "two", "m1", "m2", "m3", "flat", "bob", "g1"};
  static const char *const coordinate[] = {"slide.displacement", "hinge.angle", "slide.angle", "pin.angle"};
  for (int form = 0; form < 3; form++) {
    mbs_rig r = full((ga_form)form);
    motion a;
    mbs_ok(&r, ga_machine_build(r.m));
    for (int k = 0; k < 5; k++) {
      motion_open(&a, &r);
      for (size_t i = 0; i < sizeof frame / sizeof *frame; i++)
        for (int c = 0; c < 3; c++) {
          char value[16], rate[16], acc[16];
          snprintf(value, sizeof value, "%s.%c", frame[i], "xyz"[c]);
          snprintf(rate, sizeof rate, "%s.v%c", frame[i], "xyz"[c]);
          snprintf(acc, sizeof acc, "%s.a%c", frame[i], "xyz"[c]);
          expect_rates(&a, value, rate, acc);
        }
      for (size_t i = 0; i < sizeof coordinate / sizeof *coordinate; i++) {
        char rate[32], acc[32];
        snprintf(rate, sizeof rate, "%s_rate", coordinate[i]);
        snprintf(acc, sizeof acc, "%s_acc", coordinate[i]);
        expect_rates(&a, coordinate[i], rate, acc);
      }
      expect_rates(&a, "wheel", "wheel.rate", "wheel.acc");
      assert_near(signal_at(&a, "flat.angle"), a.q[24 + 2], 0, "angle"); /* behind two rigid bodies */
    }
    mbs_close(&r);
  }
}

/* The matrix of a quaternion is that of the pose, and turns with ω. */
static void test_rotation(void **state)
{
  (void)state;
  mbs_rig r = full(GA_FORM_SPACE);
  motion a;
  ga_pose pose;
  mbs_ok(&r, ga_machine_build(r.m));
  for (int k = 0; k < 40; k++) {
    static const char *const name[4] = {"two.qw", "two.qx", "two.qy", "two.qz"};
    double q[4], qdot[4], w[3], R[9], h = 1e-3;
    motion_open(&a, &r);
    mbs_random_rotation(R); /* any rotation, so that each of the four is the largest at times */
    memcpy(a.q + 12 + 3, R, sizeof R);
    mbs_ok(&r, ga_machine_pose(r.m, &a.s, "two", &pose));
    for (int i = 0; i < 4; i++) q[i] = signal_at(&a, name[i]);
    assert_true(q[0] >= 0);
    assert_int_equal(ga_rotation_quaternion(r.ctx, q, R), GA_OK);
    for (int i = 0; i < 9; i++) assert_near(R[i], pose.rotation[i], 1e-14, "quaternion");
    if (q[0] < 0.05) continue; /* the sign may change within the differences */
    for (int i = 0; i < 4; i++)
      qdot[i] = (8 * (moved(&a, name[i], h) - moved(&a, name[i], -h)) - moved(&a, name[i], 2 * h) +
                 moved(&a, name[i], -2 * h)) /
                (12 * h);
    /* ω = 2 (w v' − w' v + v × v') */
    for (int i = 0; i < 3; i++) {
      const int j = (i + 1) % 3, l = (i + 2) % 3;
      w[i] = 2 * (q[0] * qdot[1 + i] - qdot[0] * q[1 + i] + q[1 + j] * qdot[1 + l] - q[1 + l] * qdot[1 + j]);
    }
    assert_near(signal_at(&a, "two.wx"), w[0], 1e-8, "wx");
    assert_near(signal_at(&a, "two.wy"), w[1], 1e-8, "wy");
    assert_near(signal_at(&a, "two.wz"), w[2], 1e-8, "wz");
  }
  mbs_close(&r);
}

/* A sensor's numbers are the frame's, seen from another and along its axes. */
static void test_axes(void **state)
{
  (void)state;
  static const struct {
    ga_sensor_kind kind;
    const char *name, *channel;
  } kind[] = {{GA_SENSOR_POSITION, "p", ""},
              {GA_SENSOR_VELOCITY, "v", "v"},
              {GA_SENSOR_ACCELERATION, "a", "a"},
              {GA_SENSOR_SPECIFIC_FORCE, "s", "a"},
              {GA_SENSOR_ANGULAR_VELOCITY, "w", "w"}};
  mbs_rig r = bodies(GA_FORM_BODY);
  motion a;
  ga_pose pose, from;
  for (size_t k = 0; k < 5; k++) add_sensor(&r, kind[k].name, kind[k].kind, "m1", k ? "ground" : "m3", "m2");
  mbs_ok(&r, ga_machine_build(r.m));
  motion_open(&a, &r);
  mbs_ok(&r, ga_machine_pose(r.m, &a.s, "m2", &pose));
  mbs_ok(&r, ga_machine_pose(r.m, &a.s, "m3", &from));
  for (size_t k = 0; k < 5; k++)
    for (int c = 0; c < 3; c++) {
      char name[16];
      double expected = 0;
      for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "m1.%s%c", kind[k].channel, "xyz"[i]);
        double along = signal_at(&a, name);
        if (k == 0) along -= from.position[i];
        if (kind[k].kind == GA_SENSOR_SPECIFIC_FORCE) along -= r.m->opts.gravity[i];
        expected += pose.rotation[3 * i + c] * along;
      }
      snprintf(name, sizeof name, "%s.%c", kind[k].name, "xyz"[c]);
      assert_near(signal_at(&a, name), expected, 1e-13, name);
    }
  mbs_close(&r);
}

/* ---- Reactions against the laws of motion ---- */

/* A body on one joint with the ground: F = m (a − g), T = (J ω)' − (marker − centre) × F... seen from the
 * marker. */
static void check_newton(const mbs_rig *r, ga_stepper *st, int body_is_b, const ga_rigid_def *d,
                         const char *what)
{
  const double J[9] = {d->inertia[0], d->inertia[3], d->inertia[4], d->inertia[3], d->inertia[1],
                       d->inertia[5], d->inertia[4], d->inertia[5], d->inertia[2]};
  const ga_state *s = ga_stepper_state(st);
  const double *R = s->q + 3, *w = s->v + 3, *alpha = s->vdot + 3;
  double F[3], T[3], wb[3], ab[3], Jw[3], Ja[3], gyro[3], moment[3], lever[3], c[3], force[3];
  int unique = -1;
  ga_pose at;
  mbs_ok(r, ga_machine_reaction(r->m, st, "joint", NULL, F, T, &unique));
  mbs_ok(r, ga_machine_pose(r->m, s, body_is_b ? "m2" : "g1", &at));
  for (int i = 0; i < 3; i++) {
    wb[i] = R[i] * w[0] + R[3 + i] * w[1] + R[6 + i] * w[2];
    ab[i] = R[i] * alpha[0] + R[3 + i] * alpha[1] + R[6 + i] * alpha[2];
  }
  for (int i = 0; i < 3; i++) {
    Jw[i] = J[3 * i] * wb[0] + J[3 * i + 1] * wb[1] + J[3 * i + 2] * wb[2];
    Ja[i] = J[3 * i] * ab[0] + J[3 * i + 1] * ab[1] + J[3 * i + 2] * ab[2];
  }
  for (int i = 0; i < 3; i++)
    gyro[i] = wb[(i + 1) % 3] * Jw[(i + 2) % 3] - wb[(i + 2) % 3] * Jw[(i + 1) % 3] + Ja[i];
  const double sign = body_is_b ? 1 : -1;
  for (int i = 0; i < 3; i++) {
    moment[i] = R[3 * i] * gyro[0] + R[3 * i + 1] * gyro[1] + R[3 * i + 2] * gyro[2];
    force[i] = d->mass * (s->vdot[i] - r->m->opts.gravity[i]);
    lever[i] = at.position[i] - s->q[i];
  }
  for (int i = 0; i < 3; i++)
    c[i] = lever[(i + 1) % 3] * force[(i + 2) % 3] - lever[(i + 2) % 3] * force[(i + 1) % 3];
  /* as exact as the iteration is, which goes by the largest of the forces */
  const double size = fmax(1, sqrt(ga__vec3_dot(force, force)) + sqrt(ga__vec3_dot(moment, moment)));
  for (int i = 0; i < 3; i++) {
    assert_near(F[i], sign * force[i], 1e-9 * size, what);
    assert_near(T[i], sign * (moment[i] - c[i]), 1e-9 * size, what);
  }
  assert_int_equal(unique, 1);
}

static void test_reactions(void **state)
{
  (void)state;
  for (int kind = 0; kind < GA_JOINT_GEAR; kind++)
    for (int b = 0; b < 2; b++) {
      mbs_rig r = mbs_open(GA_FORM_SPACE);
      ga_rigid_def two = mbs_body("two");
      ga_stepper *st = NULL;
      ga_stepper_opts o = ga_stepper_defaults();
      ga_start_opts start = ga_start_defaults();
      ga_marker_def marker = ga_marker_defaults();
      double q[MOST], v[MOST], x[MOST];
      mbs_ok(&r, ga_machine_add_rigid(r.m, &two));
      mbs_marker(&r, "m2", "two", 0);
      /* both frames at the same place at the start, but for rods */
      marker.name = "g1";
      marker.body = "ground";
      marker.pose = two.pose;
      const double *s = ((const ga_marker_def *)r.m->part[2].def)->pose.position;
      const double *A = ((const ga_marker_def *)r.m->part[2].def)->pose.rotation, *R = two.pose.rotation;
      for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
          marker.pose.rotation[3 * i + j] = 0;
          for (int k = 0; k < 3; k++) marker.pose.rotation[3 * i + j] += R[3 * i + k] * A[3 * k + j];
          marker.pose.position[i] += R[3 * i + j] * s[j];
        }
      if (kind == GA_JOINT_DISTANCE || kind == GA_JOINT_ROD)
        for (int i = 0; i < 3; i++) marker.pose.position[i] += marker.pose.rotation[3 * i] * 0.7;
      mbs_ok(&r, ga_machine_add_marker(r.m, &marker));
      add_joint(&r, "joint", (ga_joint_kind)kind, b ? "g1" : "m2", b ? "m2" : "g1");
      mbs_ok(&r, ga_machine_build(r.m));
      mbs_ok(&r, ga_machine_initial(r.m, q, v, x));
      mbs_ok(&r, ga_stepper_create(r.ctx, ga_machine_system(r.m), &o, &st));
      start.max_change = 100;
      start.h = 1e-3;
      mbs_ok(&r, ga_stepper_start(st, &start, 0, q, v, x, NULL, NULL, NULL));
      check_newton(&r, st, b, &two, ga_joint_name((ga_joint_kind)kind));
      for (int k = 0; k < 20; k++) mbs_ok(&r, ga_stepper_step(st, 1e-3));
      check_newton(&r, st, b, &two, ga_joint_name((ga_joint_kind)kind));
      ga_stepper_destroy(&st);
      mbs_close(&r);
    }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_sensor_derivatives),
      cmocka_unit_test(test_reaction_derivatives),
      cmocka_unit_test(test_every_signal),
      cmocka_unit_test(test_rolling),
      cmocka_unit_test(test_rates),
      cmocka_unit_test(test_rotation),
      cmocka_unit_test(test_axes),
      cmocka_unit_test(test_reactions),
  };
  return cmocka_run_group_tests_name("mbs probes", tests, NULL, NULL);
}
