/* Joints: every kind's derivatives, what it holds and leaves free, its reaction, its coordinates, its
 * messages. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "mbs_rig.h"

#define TOL 1e-7

static ga_joint_def joint(const char *name, ga_joint_kind kind, const char *a, const char *b)
{
  ga_joint_def d = ga_joint_defaults();
  d.name = name;
  d.kind = kind;
  d.a = a;
  d.b = b;
  d.pitch = 0.3;
  d.ratio = -1.7;
  return d;
}

/* Bodies one and two with frames m1, m2 on them, and g1 on the ground. */
static mbs_rig two_bodies(ga_form form, int planar)
{
  mbs_rig r = mbs_open(form);
  if (planar) {
    ga_planar_def one = mbs_planar("one"), two = mbs_planar("two");
    mbs_ok(&r, ga_machine_add_planar(r.m, &one));
    mbs_ok(&r, ga_machine_add_planar(r.m, &two));
  } else {
    ga_rigid_def one = mbs_body("one"), two = mbs_body("two");
    mbs_ok(&r, ga_machine_add_rigid(r.m, &one));
    mbs_ok(&r, ga_machine_add_rigid(r.m, &two));
  }
  mbs_marker(&r, "m1", "one", planar);
  mbs_marker(&r, "m2", "two", planar);
  mbs_marker(&r, "g1", "ground", planar);
  return r;
}

static int is_coupling(ga_joint_kind kind)
{
  return kind == GA_JOINT_GEAR || kind == GA_JOINT_RACK;
}

/* Every joint's coordinates are those of the public table: signals and their units by it, and no others that
 * have a rate. */
static void test_table_of_coordinates(void **state)
{
  (void)state;
  static const char *const suffix[3] = {"", "_rate", "_acc"};
  static const ga_signal_kind of[3] = {GA_SIGNAL_COORDINATE, GA_SIGNAL_RATE, GA_SIGNAL_ACCELERATION};
  int seen = 0;
  for (int planar = 0; planar < 2; planar++)
    for (int kind = 0; kind < GA_N_JOINTS; kind++) {
      mbs_rig r = two_bodies(GA_FORM_SPACE, planar);
      ga_joint_def d = joint("j", (ga_joint_kind)kind, "m1", "m2");
      const ga_coordinate_info *info;
      int n = 0, rates = 0;
      mbs_ok(&r, ga_machine_add_joint(r.m, &d));
      const int built = !is_coupling((ga_joint_kind)kind) && ga_machine_build(r.m) == GA_OK;
      for (; (info = ga_joint_coordinate((ga_joint_kind)kind, planar, n)) != NULL; n++)
        for (int k = 0; k < 3; k++) {
          char name[64];
          snprintf(name, sizeof name, "j.%s%s", info->name, suffix[k]);
          assert_true(built);
          const int signal = ga_machine_find_signal(r.m, name);
          assert_true(signal >= 0);
          assert_string_equal(ga_machine_signal_unit(r.m, signal), info->unit[k]);
          assert_int_equal(ga_machine_signal_kind(r.m, signal), of[k]);
          assert_string_equal(info->unit[GA_UNIT_FORCE], info->is_angle ? "N*m" : "N");
          assert_ptr_equal(ga_coordinate_find(info->name), info);
          seen++;
        }
      for (int i = 0; built && i < ga_machine_n_signals(r.m); i++) {
        const char *name = ga_machine_signal_name(r.m, i);
        const size_t length = strlen(name);
        rates += length > 5 && strncmp(name, "j.", 2) == 0 && strcmp(name + length - 5, "_rate") == 0;
      }
      assert_int_equal(rates, n);
      mbs_close(&r);
    }
  assert_true(seen > 0);
  assert_null(ga_coordinate_find("turn"));
  assert_null(ga_coordinate_find(""));
}

static void test_tangents(void **state)
{
  (void)state;
  const char *const pair[3][2] = {{"m1", "m2"}, {"g1", "m2"}, {"m1", "g1"}};
  for (int kind = 0; kind < GA_N_JOINTS; kind++)
    for (int k = 0; k < 3 && !is_coupling((ga_joint_kind)kind); k++) {
      mbs_rig r = two_bodies(GA_FORM_SPACE, 0);
      ga_joint_def d = joint("j", (ga_joint_kind)kind, pair[k][0], pair[k][1]);
      mbs_ok(&r, ga_machine_add_joint(r.m, &d));
      mbs_ok(&r, ga_machine_build(r.m));
      mbs_check(&r, ga_joint_name((ga_joint_kind)kind), 10, 0.3, TOL);
      mbs_close(&r);
    }
}

static void test_planar_tangents(void **state)
{
  (void)state;
  const ga_joint_kind kinds[] = {GA_JOINT_FIXED,         GA_JOINT_REVOLUTE, GA_JOINT_PRISMATIC,
                                 GA_JOINT_POINT_ON_LINE, GA_JOINT_DISTANCE, GA_JOINT_ROD,
                                 GA_JOINT_PARALLEL};
  const char *const pair[3][2] = {{"m1", "m2"}, {"g1", "m2"}, {"m1", "g1"}};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    for (int k = 0; k < 3; k++) {
      mbs_rig r = two_bodies(GA_FORM_SPACE, 1);
      ga_joint_def d = joint("j", kinds[i], pair[k][0], pair[k][1]);
      mbs_ok(&r, ga_machine_add_joint(r.m, &d));
      mbs_ok(&r, ga_machine_build(r.m));
      mbs_check(&r, ga_joint_name(kinds[i]), 10, 0.3, TOL);
      mbs_close(&r);
    }
}

/* Gears, racks, screws and drives between joints that share bodies, in space and in the plane. */
static void test_coupling_tangents(void **state)
{
  (void)state;
  for (int planar = 0; planar < 2; planar++) {
    mbs_rig r = two_bodies(GA_FORM_SPACE, planar);
    ga_motion_opts law = ga_motion_defaults();
    ga_function *f;
    mbs_ok(&r, ga_function_create_motion(r.ctx, &law, &f));
    ga_scalar_def rotor = ga_scalar_defaults();
    rotor.name = "rotor";
    rotor.mass = 0.1;
    mbs_ok(&r, ga_machine_add_scalar(r.m, &rotor));
    ga_joint_def j1 = joint("j1", GA_JOINT_REVOLUTE, "g1", "m1"),
                 j2 = joint("j2", GA_JOINT_REVOLUTE, "m1", "m2");
    ga_joint_def j3 = joint("j3", GA_JOINT_PRISMATIC, "g1", "m2");
    ga_joint_def gear = joint("gear", GA_JOINT_GEAR, "j1.angle", "j2"),
                 rack = joint("rack", GA_JOINT_RACK, "j3", "j2.angle");
    ga_joint_def motor = joint("motor", GA_JOINT_GEAR, "rotor", "j1");
    ga_drive_def drive = ga_drive_defaults(), slide = ga_drive_defaults();
    drive.name = "drive", drive.coordinate = "j2.angle", drive.function = f;
    slide.name = "slide", slide.coordinate = "j3", slide.function = f;
    const ga_joint_def *const all[] = {&j1, &j2, &j3, &gear, &rack, &motor};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) mbs_ok(&r, ga_machine_add_joint(r.m, all[i]));
    mbs_ok(&r, ga_machine_add_drive(r.m, &drive));
    mbs_ok(&r, ga_machine_add_drive(r.m, &slide));
    mbs_ok(&r, ga_machine_build(r.m));
    mbs_check(&r, planar ? "planar couplings" : "couplings", 20, 0.3, TOL);
    ga_machine_destroy(&r.m);
    ga_function_destroy(&f);
    mbs_close(&r);
  }
}

/* ---- What a joint does, on a running machine ---- */

typedef struct running {
  mbs_rig r;
  ga_stepper *st;
  double *q, *v;
} running;

/* One body on the ground by a joint at a pose off its centre of mass. */
static mbs_rig hung(ga_joint_kind kind)
{
  mbs_rig r = mbs_open(GA_FORM_SPACE);
  ga_rigid_def body = mbs_body("body");
  ga_joint_def d = joint("j", kind, "ground", "body");
  mbs_ok(&r, ga_machine_add_rigid(r.m, &body));
  d.at_pose = 1;
  mbs_random_rotation(d.at.rotation);
  for (int i = 0; i < 3; i++) d.at.position[i] = mbs_random();
  if (kind == GA_JOINT_DISTANCE ||
      kind == GA_JOINT_ROD) { /* ends apart, the rod across z of the ground's end */
    ga_marker_def a = ga_marker_defaults(), b = ga_marker_defaults();
    a.name = "a", a.body = "ground", a.pose = d.at;
    b.name = "b", b.body = "body";
    mbs_ok(&r, ga_machine_add_marker(r.m, &a));
    mbs_ok(&r, ga_machine_add_marker(r.m, &b));
    d.a = "a", d.b = "b", d.at_pose = 0;
  }
  mbs_ok(&r, ga_machine_add_joint(r.m, &d));
  mbs_ok(&r, ga_machine_build(r.m));
  return r;
}

static running run_machine(mbs_rig r, double h, int steps)
{
  running u = {r, NULL, NULL, NULL};
  const ga_system *sys = ga_machine_system(r.m);
  ga_stepper_opts o = ga_stepper_defaults();
  ga_start_opts s = ga_start_defaults();
  u.q = test_calloc((size_t)ga_group_nq(ga_system_group(sys)), sizeof(double));
  u.v = test_calloc((size_t)ga_group_nv(ga_system_group(sys)), sizeof(double));
  mbs_ok(&r, ga_machine_initial(r.m, u.q, u.v, NULL));
  mbs_ok(&r, ga_stepper_create(r.ctx, sys, &o, &u.st));
  s.h = h;
  s.max_change = 1e3;
  mbs_ok(&r, ga_stepper_start(u.st, &s, 0.0, u.q, u.v, NULL, NULL, NULL, NULL));
  for (int i = 0; i < steps; i++) mbs_ok(&r, ga_stepper_step(u.st, h));
  return u;
}

static void stop_machine(running *u)
{
  ga_stepper_destroy(&u->st);
  test_free(u->q);
  test_free(u->v);
  mbs_close(&u->r);
}

static double signal_of(const running *u, const char *name)
{
  double value = NAN;
  int index = ga_machine_find_signal(u->r.m, name);
  if (index < 0) fail_msg("there is no signal '%s'", name);
  mbs_ok(&u->r, ga_machine_signals(u->r.m, NULL, ga_stepper_state(u->st), 1, &index, &value));
  return value;
}

/* Newton and Euler for the free body: F = m(a − g), M about the joint's origin = J ω' + ω × Jω + (c −
 * p) × F. */
static void free_body(const running *u, const double p[3], double F[3], double M[3])
{
  const ga_state *s = ga_stepper_state(u->st);
  const ga__node *node = GA__AT(u->r.m->model->node, ga__node, 1);
  const double *R = s->q + 3, *w = s->v + 3, *g = u->r.m->opts.gravity;
  double Jw[3] = {0, 0, 0}, Ja[3] = {0, 0, 0};
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      double Js = 0.0;
      for (int k = 0; k < 3; k++)
        for (int l = 0; l < 3; l++) Js += R[3 * i + k] * node->J[3 * k + l] * R[3 * j + l];
      Jw[i] += Js * w[j];
      Ja[i] += Js * s->vdot[3 + j];
    }
  for (int i = 0; i < 3; i++) F[i] = node->mass * (s->vdot[i] - g[i]);
  const double d[3] = {s->q[0] - p[0], s->q[1] - p[1], s->q[2] - p[2]};
  for (int i = 0; i < 3; i++) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    M[i] = Ja[i] + w[j] * Jw[k] - w[k] * Jw[j] + d[j] * F[k] - d[k] * F[j];
  }
}

static void test_reactions(void **state)
{
  (void)state;
  for (int kind = 0; kind < GA_N_JOINTS; kind++) {
    if (is_coupling((ga_joint_kind)kind)) continue;
    running u = run_machine(hung((ga_joint_kind)kind), 1e-3, 50);
    double F[3], M[3], force[3], torque[3];
    ga_pose at;
    mbs_ok(&u.r, ga_machine_pose(u.r.m, ga_stepper_state(u.st),
                                 kind == GA_JOINT_DISTANCE || kind == GA_JOINT_ROD ? "b" : "body", &at));
    if (kind != GA_JOINT_DISTANCE && kind != GA_JOINT_ROD) { /* the joint's own frame on the body */
      const ga__joint *j = GA__AT(u.r.m->model->joint, ga__joint, 0);
      const ga__marker *mk = GA__AT(u.r.m->model->marker, ga__marker, j->b);
      const double *q = ga_stepper_state(u.st)->q;
      for (int i = 0; i < 3; i++)
        at.position[i] = q[i] + q[3 + 3 * i] * mk->s[0] + q[4 + 3 * i] * mk->s[1] + q[5 + 3 * i] * mk->s[2];
    }
    free_body(&u, at.position, F, M);
    mbs_ok(&u.r, ga_machine_reaction(u.r.m, u.st, "j", NULL, force, torque, NULL));
    for (int i = 0; i < 3; i++) {
      if (!(fabs(force[i] - F[i]) < 1e-8))
        fail_msg("%s: force %d is %g, not %g", ga_joint_name((ga_joint_kind)kind), i, force[i], F[i]);
      if (!(fabs(torque[i] - M[i]) < 1e-8))
        fail_msg("%s: torque %d is %g, not %g", ga_joint_name((ga_joint_kind)kind), i, torque[i], M[i]);
    }
    stop_machine(&u);
  }
}

static ga_rigid_def still_body(const char *name, double x)
{
  ga_rigid_def d = mbs_body(name);
  d.pose = ga_pose_at(x, 0, 0);
  memset(d.velocity, 0, sizeof d.velocity);
  memset(d.omega, 0, sizeof d.omega);
  return d;
}

/* Heading: the yaw of a body that turns freely, tilted; in an expression a node follows it, and turns are
 * counted. */
static void test_heading(void **state)
{
  (void)state;
  for (int form = 0; form < 3; form++) {
    mbs_rig r = mbs_open((ga_form)form);
    ga_rigid_def body = still_body("car", 0);
    ga_joint_def turn = joint("turn", GA_JOINT_HEADING, "ground", "car");
    ga_signal_def copy = ga_signal_defaults();
    for (int i = 0; i < 6; i++) body.inertia[i] = i < 3 ? 2 : 0;
    body.omega[0] = 0.4, body.omega[2] = 3;
    mbs_ok(&r, ga_rotation_axis_angle(r.ctx, (double[3]){1, 0, 0}, 0.2, body.pose.rotation));
    mbs_ok(&r, ga_machine_add_rigid(r.m, &body));
    mbs_ok(&r, ga_machine_add_joint(r.m, &turn));
    copy.name = "followed", copy.expression = "1*turn.angle";
    mbs_ok(&r, ga_machine_add_signal(r.m, &copy));
    mbs_ok(&r, ga_machine_build(r.m));
    running u = run_machine(r, 2e-3, 1);
    double before = signal_of(&u, "car.yaw"), whole = before;
    for (int i = 0; i < 4000; i++) {
      mbs_ok(&r, ga_stepper_step(u.st, 2e-3));
      const double yaw = signal_of(&u, "car.yaw");
      whole += remainder(yaw - before, GA__TWO_PI);
      before = yaw;
    }
    assert_true(whole > 3 * GA__TWO_PI);
    assert_near(signal_of(&u, "followed"), whole, 1e-8, "heading");
    ga_stepper_destroy(&u.st);
    test_free(u.q);
    test_free(u.v);
    ga_machine_destroy(&r.m);
    mbs_close(&r);
  }
}

/* A driven hinge turns another by a gear, a rack and a screw, over many turns. */
/* A shaft along z that is driven turns one that is bent off by 40 degrees: at every moment at the same speed
 * by a joint of constant velocity, between cos 40° and 1/cos 40° of it by a universal one. */
static void test_constant_velocity(void **state)
{
  const double tilt = 40 * GA__TWO_PI / 360, speed = 3, about_y[3] = {0, 1, 0};
  (void)state;
  for (int universal = 0; universal < 2; universal++) {
    mbs_rig r = mbs_open(GA_FORM_SPACE);
    ga_rigid_def in = mbs_body("in"), out = mbs_body("out");
    ga_marker_def bent = ga_marker_defaults();
    ga_joint_def hinge = joint("hinge", GA_JOINT_REVOLUTE, "ground", "in");
    ga_joint_def axis = joint("axis", GA_JOINT_PARALLEL, "bent", "out");
    ga_joint_def bend =
        joint("bend", universal ? GA_JOINT_UNIVERSAL : GA_JOINT_CONSTANT_VELOCITY, "in", "out");
    ga_drive_def drive = ga_drive_defaults();
    ga_function_expr_opts turn = ga_function_expr_defaults();
    ga_function *f = NULL;
    turn.text = "3*t";
    mbs_ok(&r, ga_function_create_expr(r.ctx, &turn, NULL, &f));
    in.pose = out.pose = ga_pose_identity();
    mbs_ok(&r, ga_rotation_axis_angle(r.ctx, about_y, tilt, out.pose.rotation));
    bent.name = "bent", bent.body = "ground", bent.pose = out.pose;
    drive.name = "drive", drive.coordinate = "hinge.angle", drive.function = f;
    mbs_ok(&r, ga_machine_add_rigid(r.m, &in));
    mbs_ok(&r, ga_machine_add_rigid(r.m, &out));
    mbs_ok(&r, ga_machine_add_marker(r.m, &bent));
    mbs_ok(&r, ga_machine_add_joint(r.m, &hinge));
    mbs_ok(&r, ga_machine_add_joint(r.m, &axis));
    mbs_ok(&r, ga_machine_add_joint(r.m, &bend));
    mbs_ok(&r, ga_machine_add_drive(r.m, &drive));
    mbs_ok(&r, ga_machine_build(r.m));
    double low = INFINITY, high = 0;
    running u = run_machine(r, 2e-3, 1);
    for (int i = 0; i < 600; i++) {
      mbs_ok(&r, ga_stepper_step(u.st, 2e-3));
      const double now = sin(tilt) * signal_of(&u, "out.wx") + cos(tilt) * signal_of(&u, "out.wz");
      low = fmin(low, now);
      high = fmax(high, now);
    }
    const double least = universal ? speed * cos(tilt) : speed, most = universal ? speed / cos(tilt) : speed;
    assert_near(low, least, universal ? 1e-4 : 1e-9, "the least speed");
    assert_near(high, most, universal ? 1e-4 : 1e-9, "the largest speed");
    u.r.m = r.m;
    ga_stepper_destroy(&u.st);
    test_free(u.q);
    test_free(u.v);
    ga_machine_destroy(&r.m);
    ga_function_destroy(&f);
    mbs_close(&r);
  }
}

static void test_many_turns(void **state)
{
  (void)state;
  mbs_rig r = mbs_open(GA_FORM_SPACE);
  const char *const name[] = {"wheel", "pinion", "bar", "nut"};
  const ga_joint_kind kind[] = {GA_JOINT_REVOLUTE, GA_JOINT_REVOLUTE, GA_JOINT_PRISMATIC, GA_JOINT_SCREW};
  const char *const hinge[] = {"h0", "h1", "h2", "h3"};
  ga_function_expr_opts turn = ga_function_expr_defaults();
  ga_function *f;
  turn.text = "30*t^3";
  mbs_ok(&r, ga_function_create_expr(r.ctx, &turn, NULL, &f));
  for (int i = 0; i < 4; i++) {
    ga_rigid_def d = still_body(name[i], i);
    ga_joint_def j = joint(hinge[i], kind[i], "ground", name[i]);
    j.at_pose = 1;
    j.at = ga_pose_at(i, 0, 0);
    mbs_ok(&r, ga_machine_add_rigid(r.m, &d));
    mbs_ok(&r, ga_machine_add_joint(r.m, &j));
  }
  ga_joint_def gear = joint("gear", GA_JOINT_GEAR, "h1", "h0"),
               rack = joint("rack", GA_JOINT_RACK, "h2", "h0.angle"),
               drum = joint("drum", GA_JOINT_GEAR, "h3.angle", "h0");
  gear.ratio = 2.5, rack.ratio = 0.2, drum.ratio = -3.0;
  ga_drive_def drive = ga_drive_defaults();
  drive.name = "drive", drive.coordinate = "h0.angle", drive.function = f;
  mbs_ok(&r, ga_machine_add_joint(r.m, &gear));
  mbs_ok(&r, ga_machine_add_joint(r.m, &rack));
  mbs_ok(&r, ga_machine_add_joint(r.m, &drum));
  mbs_ok(&r, ga_machine_add_drive(r.m, &drive));
  mbs_ok(&r, ga_machine_build(r.m));
  running u = run_machine(r, 2e-3, 500);
  const double angle = 30.0, rate = 90.0;
  const struct {
    const char *signal;
    double value;
  } expected[] = {{"h0.angle", angle},
                  {"h0.angle_rate", rate},
                  {"h1.angle", -2.5 * angle},
                  {"h1.angle_rate", -2.5 * rate},
                  {"h2.displacement", 0.2 * angle},
                  {"h2.displacement_rate", 0.2 * rate},
                  {"h3.angle", 3.0 * angle},
                  {"h3.displacement", 0.3 * 3.0 * angle / GA__TWO_PI}};
  for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
    if (!(fabs(signal_of(&u, expected[i].signal) - expected[i].value) <
          1e-9 * (1.0 + fabs(expected[i].value))))
      fail_msg("%s is %.12g, not %.12g", expected[i].signal, signal_of(&u, expected[i].signal),
               expected[i].value);
  ga_stepper_destroy(&u.st);
  ga_machine_destroy(&u.r.m);
  ga_function_destroy(&f);
  stop_machine(&u);
}

static void refused(mbs_rig *r, const char *const words[], ga_status expected)
{
  assert_int_equal(ga_machine_build(r->m), expected);
  assert_null(ga_machine_system(r->m));
  for (int i = 0; words[i]; i++) assert_says(r->ctx, words[i]);
  mbs_close(r);
}

static void test_messages(void **state)
{
  (void)state;
  const struct {
    ga_joint_kind kind;
    const char *a, *b;
    int planar;
    ga_status status;
    const char *words[4];
  } cases[] = {
      {GA_JOINT_REVOLUTE, "m1", "m3", 0, GA_ERR_ARGUMENT, {"joint 'j'", "m3", "'m1'", NULL}},
      {GA_JOINT_REVOLUTE, "one", "m1", 0, GA_ERR_ARGUMENT, {"joint 'j'", "same body", NULL}},
      {GA_JOINT_UNIVERSAL, "m1", "m2", 1, GA_ERR_ARGUMENT, {"joint 'j'", "universal", "planar", NULL}},
      {GA_JOINT_DISTANCE, "one", "at_one", 0, GA_ERR_INCONSISTENT, {"joint 'j'", "coincide", NULL}},
      {GA_JOINT_REVOLUTE, "m1", "speck", 0, GA_ERR_ARGUMENT, {"joint 'j'", "speck", "point", NULL}},
      {GA_JOINT_GEAR, "m1", "m2", 0, GA_ERR_ARGUMENT, {"joint 'j'", "coordinate", NULL}},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    mbs_rig r = two_bodies(GA_FORM_SPACE, cases[i].planar);
    ga_point_def speck = ga_point_defaults();
    ga_pose at = ga_pose_identity();
    speck.name = "speck", speck.mass = 1.0;
    mbs_ok(&r, ga_machine_add_point(r.m, &speck));
    if (!cases[i].planar) at = ((const ga_rigid_def *)r.m->part[ga__find_part(r.m, "one")].def)->pose;
    ga_marker_def here = ga_marker_defaults();
    here.name = "at_one", here.body = "ground", here.pose = at;
    mbs_ok(&r, ga_machine_add_marker(r.m, &here));
    ga_joint_def j = joint("j", cases[i].kind, cases[i].a, cases[i].b);
    mbs_ok(&r, ga_machine_add_joint(r.m, &j));
    refused(&r, cases[i].words, cases[i].status);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_table_of_coordinates),
                                     cmocka_unit_test(test_tangents),
                                     cmocka_unit_test(test_planar_tangents),
                                     cmocka_unit_test(test_coupling_tangents),
                                     cmocka_unit_test(test_reactions),
                                     cmocka_unit_test(test_constant_velocity),
                                     cmocka_unit_test(test_heading),
                                     cmocka_unit_test(test_many_turns),
                                     cmocka_unit_test(test_messages)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
