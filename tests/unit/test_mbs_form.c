/* The forms of rigid bodies: derivatives, agreement with the space form at single points, and the same motion
 * in all of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "lie/mat3.h"
#include "mbs_shop.h"

/* ---- Machines ---- */

static ga_function *drive_function; /* of the machine under test, borrowed by it */

static void add_spring(shop *s, const char *name, const char *a, const char *b)
{
  ga_spring_def d = ga_spring_defaults();
  d.name = name;
  d.a = a;
  d.b = b;
  d.stiffness = 30;
  d.damping = 2;
  d.preload = 1.5;
  d.rest = 0.4; /* that at the start is another in every form, where positions are off the constraints */
  SHOP_ADD(s, spring, &d);
}

static void add_joint(shop *s, const char *name, ga_joint_kind kind, const char *a, const char *b)
{
  ga_joint_def d = ga_joint_defaults();
  d.name = name;
  d.kind = kind;
  d.a = a;
  d.b = b;
  SHOP_ADD(s, joint, &d);
}

/* Forces and torques in ground and in body axes, off the centre of mass. */
static void add_wrench(shop *s, const char *name, const char *frame, ga_axes axes)
{
  ga_force_def d = ga_force_defaults();
  d.name = name;
  d.frame = frame;
  d.axes = axes;
  for (int i = 0; i < 3; i++) {
    d.force[i].value = 3 - 2 * i;
    d.torque[i].value = 1 + i;
  }
  SHOP_ADD(s, force, &d);
}

static void free_body(shop *s)
{
  shop_rigid(s, "a", 0, 0, 0);
  shop_marker(s, "tip", "a", 0.3, 0.5, -0.2);
  add_wrench(s, "push", "tip", GA_AXES_GROUND);
  add_wrench(s, "jet", "tip", GA_AXES_BODY);
}

/* Springs and bushings between every kind of body. */
static void sprung(shop *s)
{
  ga_bushing_def d = ga_bushing_defaults();
  shop_rigid(s, "a", 0, 0, 0);
  shop_point(s, "p", 1, 1, 0);
  shop_rigid(s, "b", 1, 0.5, 0.8);
  shop_planar(s, "flat", -1, 0.4);
  shop_marker(s, "a1", "a", 0.3, 0.5, -0.2);
  shop_marker(s, "b1", "b", -0.4, 0.1, 0.3);
  shop_marker(s, "wall", "ground", -1, -1, 1);
  add_spring(s, "s1", "wall", "a1");
  add_spring(s, "s2", "a1", "b1");
  add_spring(s, "s3", "b1", "p");
  add_spring(s, "s4", "flat", "b1");
  d.name = "rubber";
  d.a = "a1";
  d.b = "b1";
  for (int i = 0; i < 36; i++)
    d.stiffness[i] = i % 7 == 0 ? 5 + i : 0.1 * i, d.damping[i] = i % 7 == 0 ? 1 : 0.02 * i;
  SHOP_ADD(s, bushing, &d);
}

/* A loop with every kind of row, and a drive. */
static void jointed(shop *s)
{
  ga_drive_def d = ga_drive_defaults();
  shop_rigid(s, "a", 0, 0, 0);
  shop_rigid(s, "b", 1, 0.5, 0.8);
  shop_rigid(s, "c", 1.5, -0.5, 0.3);
  shop_point(s, "p", 1, 1, 0);
  shop_marker(s, "a1", "a", 0.3, 0.5, -0.2);
  shop_marker(s, "b1", "b", -0.4, 0.1, 0.3);
  shop_marker(s, "b2", "b", 0.4, 0.2, -0.3);
  shop_marker(s, "c1", "c", 0.1, 0.1, 0.5);
  add_joint(s, "hinge", GA_JOINT_REVOLUTE, "ground", "a");
  add_joint(s, "cross", GA_JOINT_UNIVERSAL, "a1", "b1");
  add_joint(s, "slide", GA_JOINT_CYLINDRICAL, "b2", "c1");
  add_joint(s, "bar", GA_JOINT_DISTANCE, "c1", "p");
  d.name = "motor";
  d.coordinate = "hinge.angle";
  d.function = drive_function;
  SHOP_ADD(s, drive, &d);
  add_wrench(s, "jet", "c1", GA_AXES_BODY);
}

static void add_rolling(shop *s, const char *name, const char *body, ga_rolling_kind kind)
{
  ga_rolling_def d = ga_rolling_defaults();
  d.name = name;
  d.kind = kind;
  d.body = body;
  d.radius = 0.5;
  SHOP_ADD(s, rolling, &d);
}

static void rolling(shop *s)
{
  shop_rigid(s, "disk", 0, 0, 0.4);
  shop_rigid(s, "ball", 1, 0, 0.5);
  shop_rigid(s, "blade", 0, 1, 0.5);
  shop_marker(s, "hub", "disk", 0.05, -0.04, 0.02);
  shop_marker(s, "edge", "blade", 0.3, 0.2, -0.1);
  add_rolling(s, "r1", "hub", GA_ROLLING_DISK);
  add_rolling(s, "r2", "ball", GA_ROLLING_SPHERE);
  add_rolling(s, "r3", "edge", GA_ROLLING_KNIFE);
  add_spring(s, "s1", "hub", "edge");
}

static void add_sensor(shop *s, const char *name, ga_sensor_kind kind, const char *of, const char *axes)
{
  ga_sensor_def d = ga_sensor_defaults();
  d.name = name;
  d.kind = kind;
  d.of = of;
  if (axes) d.axes = axes;
  SHOP_ADD(s, sensor, &d);
}

/* Everything that can be felt, fed back as forces: rows of y by positions, velocities, accelerations,
 * reactions. */
static void sensing(shop *s)
{
  ga_actuator_def d = ga_actuator_defaults();
  shop_rigid(s, "a", 0, 0, 0);
  shop_rigid(s, "b", 1, 0.5, 0.8);
  shop_marker(s, "a1", "a", 0.3, 0.5, -0.2);
  shop_marker(s, "b1", "b", -0.4, 0.1, 0.3);
  shop_marker(s, "wall", "ground", -1, -1, 1);
  add_joint(s, "ball", GA_JOINT_SPHERICAL, "a1", "b1");
  add_joint(s, "hinge", GA_JOINT_REVOLUTE, "ground", "a");
  add_sensor(s, "place", GA_SENSOR_POSITION, "b1", "a1");
  add_sensor(s, "speed", GA_SENSOR_VELOCITY, "b1", "a1");
  add_sensor(s, "felt", GA_SENSOR_SPECIFIC_FORCE, "b1", "b1");
  add_sensor(s, "gyro", GA_SENSOR_ANGULAR_VELOCITY, "b1", "b1");
  add_sensor(s, "pull", GA_SENSOR_REACTION_FORCE, "ball", "b1");
  d.name = "muscle";
  d.a = "wall";
  d.b = "b1";
  d.force.value = 2;
  d.force.expression =
      "place.x*speed.y + 0.3*felt.z + gyro.x^2 - 0.1*felt.x*gyro.y + 0.2*pull.y + hinge.angle";
  SHOP_ADD(s, actuator, &d);
}

typedef struct machine {
  const char *name;
  void (*make)(shop *);
  double reach;
} machine;

static const machine machines[] = {{"free body", free_body, 2.0},
                                   {"springs", sprung, 0.3},
                                   {"joints", jointed, 0.3},
                                   {"rolling", rolling, 0.2},
                                   {"sensors", sensing, 0.3}};
enum { N_MACHINES = (int)(sizeof machines / sizeof machines[0]), N_POINTS = 20 };

static shop open_machine(const machine *k, ga_form form)
{
  shop s = shop_open(form, -9.81);
  drive_function = shop_function(s.ctx, "0.3*sin(2*t) + t^2");
  k->make(&s);
  shop_build(&s);
  return s;
}

static void close_machine(shop *s)
{
  ga_stepper_destroy(&s->st);
  ga_machine_destroy(&s->m);
  ga_function_destroy(&drive_function);
  shop_close(s);
}

/* ---- Derivatives ---- */

/* A gyroscope in body axes does not see the body turn: rows of Q that are zero, of which differences leave
 * 1e-12. */
static void test_derivatives(void **state)
{
  (void)state;
  rig_random random = rig_seed(0);
  for (int k = 0; k < N_MACHINES; k++)
    for (int form = GA_FORM_SPACE; form <= GA_FORM_SE3; form++) {
      char what[64];
      shop s = open_machine(&machines[k], (ga_form)form);
      snprintf(what, sizeof what, "%s, %s", machines[k].name, SHOP_FORM[form]);
      shop_check(&s, &random, rig_brief() ? 1 : N_POINTS, machines[k].reach, 1e-6, what);
      close_machine(&s);
    }
}

/* ---- Agreement with the space form at a point ---- */

/* Where rotations of the form are turned into those of space: R of the rigid body whose velocities hold index
 * i. */
static const double *rotation_of(const ga_machine *m, const double *q, int i, int *first)
{
  const ga__mbs_model *b = m->model;
  for (int n = 1; n < b->node.n; n++) {
    const ga__node *node = GA__AT(b->node, ga__node, n);
    const int part = (i - node->v) / 3;
    if (!node->rigid || i < node->v || i >= node->v + 6) continue;
    if (part == 0 && m->opts.form != GA_FORM_SE3) return NULL;
    *first = node->v + 3 * part;
    return q + node->q + 3;
  }
  return NULL;
}

/* to = X from (back 0) or Xᵀ from (back 1) */
static void convert(double *to, const double *from, const ga_machine *m, const double *q, int back)
{
  const int nv = m->model->nv;
  for (int i = 0; i < nv; i++) {
    int first = 0;
    const double *R = rotation_of(m, q, i, &first);
    to[i] = from[i];
    if (!R || i != first) continue;
    if (back)
      ga__mat3_tmul_vec(to + i, R, from + i);
    else
      ga__mat3_mul_vec(to + i, R, from + i);
    i += 2;
  }
}

/* vdot of the form → accelerations in space: SE3 has u' = R (U' + Ω × U). */
static void accelerations(double *to, const ga_machine *m, const rig_spot *spot)
{
  const ga__mbs_model *b = m->model;
  double vdot[RIG_MOST];
  memcpy(vdot, spot->vdot, (size_t)b->nv * sizeof *vdot);
  for (int n = 1; n < b->node.n; n++) {
    const ga__node *node = GA__AT(b->node, ga__node, n);
    double c[3];
    if (!node->rigid || m->opts.form != GA_FORM_SE3) continue;
    ga__vec3_cross(c, spot->v + node->v + 3, spot->v + node->v);
    for (int i = 0; i < 3; i++) vdot[node->v + i] += c[i];
  }
  convert(to, vdot, m, spot->q, 0);
}

static void call(const shop *s, ga__fn fn, const ga_point *p, double *out)
{
  assert_status(s->ctx, ga__call(ga_machine_system(s->m), fn, p, out), GA_OK);
}

static void assert_same(const double *a, const double *b, int n, const char *name, const char *what)
{
  double size = 1;
  for (int i = 0; i < n; i++) size = fmax(size, fabs(b[i]));
  for (int i = 0; i < n; i++)
    if (!(fabs(a[i] - b[i]) <= 1e-12 * size))
      fail_msg("%s: %s %d is %.15g, in space %.15g", name, what, i, a[i], b[i]);
}

/* B vdot, or k_v vdot, by the Jacobian; then the acceleration of the constraint itself. */
static void constraint_acc(double *out, const shop *s, ga_equation_block block, const ga_point *p)
{
  const ga_system *sys = ga_machine_system(s->m);
  const size_t n = (size_t)sys->n_entries;
  double *D = calloc(3 * n, sizeof *D);
  assert_non_null(D);
  ga_jacobian J = {GA_WANT_D | GA_WANT_Q | GA_WANT_B, 1, 0, D, D + n, D + 2 * n};
  assert_int_equal(sys->def.jacobian(sys->def.user, p, &J), 0);
  const double *array = block == GA_BLOCK_LAMBDA ? J.Q : J.D;
  call(s, block == GA_BLOCK_LAMBDA ? GA__PHI_ACC : GA__K_ACC, p, out);
  for (int e = 0; e < sys->n_entries; e++) {
    const int row = sys->row[e] - sys->start[block];
    if (row >= 0 && row < sys->size[block] && sys->col[e] < sys->nv)
      out[row] += array[e] * p->vdot[sys->col[e]];
  }
  free(D);
}

static void compare_point(const shop *form, const shop *space, const rig_spot *spot, const char *name)
{
  const ga_system *sys = ga_machine_system(form->m);
  double w[RIG_MOST], acc[RIG_MOST], a[RIG_MOST], b[RIG_MOST], c[RIG_MOST], r[RIG_MOST];
  ga_point p = spot->p;
  convert(w, spot->v, form->m, spot->q, 0);
  accelerations(acc, form->m, spot);
  p.v = w;
  p.vdot = acc;

  call(form, GA__MASS, &spot->p, a);
  call(form, GA__FORCE, &spot->p, b);
  for (int i = 0; i < sys->nv; i++) a[i] -= b[i];
  call(space, GA__MASS, &p, b);
  call(space, GA__FORCE, &p, c);
  for (int i = 0; i < sys->nv; i++) b[i] -= c[i];
  convert(r, b, form->m, spot->q, 1);
  assert_same(a, r, sys->nv, name, "residual");

  const struct {
    ga__fn fn;
    ga_equation_block block;
    const char *what;
  } rows[] = {{GA__PHI, GA_BLOCK_LAMBDA, "phi"},
              {GA__PHI_DOT, GA_BLOCK_LAMBDA, "phi_dot"},
              {GA__K, GA_BLOCK_PSI, "k"},
              {GA__OUTPUT, GA_BLOCK_Y, "output"}};
  for (int i = 0; i < 4; i++) {
    const int n = sys->size[rows[i].block];
    if (!n) continue;
    call(form, rows[i].fn, &spot->p, a);
    call(space, rows[i].fn, &p, b);
    assert_same(a, b, n, name, rows[i].what);
  }
  for (int block = GA_BLOCK_LAMBDA; block <= GA_BLOCK_PSI; block++) {
    if (!sys->size[block]) continue;
    constraint_acc(a, form, (ga_equation_block)block, &spot->p);
    constraint_acc(b, space, (ga_equation_block)block, &p);
    assert_same(a, b, sys->size[block], name, "acceleration of constraint");
  }
}

static void test_agreement(void **state)
{
  (void)state;
  rig_random random = rig_seed(0);
  for (int k = 0; k < N_MACHINES; k++)
    for (int f = GA_FORM_BODY; f <= GA_FORM_SE3; f++) {
      shop space = open_machine(&machines[k], GA_FORM_SPACE);
      ga_function *borrowed = drive_function;
      shop form = shop_open((ga_form)f, -9.81);
      drive_function = shop_function(form.ctx, "0.3*sin(2*t) + t^2");
      machines[k].make(&form);
      shop_build(&form);
      for (int n = 0; n < N_POINTS; n++) {
        rig_spot spot;
        shop_spot(&spot, &form, &random, machines[k].reach);
        compare_point(&form, &space, &spot, machines[k].name);
      }
      ga_machine_destroy(&form.m);
      ga_function_destroy(&drive_function);
      ga_context_destroy(&form.ctx);
      ga_machine_destroy(&space.m);
      ga_function_destroy(&borrowed);
      ga_context_destroy(&space.ctx);
    }
}

/* M vdot knows nothing of v, to the last bit, and is linear. */
static void test_mass(void **state)
{
  (void)state;
  rig_random random = rig_seed(0);
  for (int f = GA_FORM_BODY; f <= GA_FORM_SE3; f++) {
    shop s = open_machine(&machines[1], (ga_form)f);
    const int nv = ga_machine_system(s.m)->nv;
    rig_spot spot;
    double a[RIG_MOST], b[RIG_MOST];
    shop_spot(&spot, &s, &random, 1);
    call(&s, GA__MASS, &spot.p, a);
    rig_fill(spot.v, nv, &random);
    call(&s, GA__MASS, &spot.p, b);
    assert_memory_equal(a, b, (size_t)nv * sizeof *a);
    for (int i = 0; i < nv; i++) spot.vdot[i] *= -3;
    call(&s, GA__MASS, &spot.p, b);
    for (int i = 0; i < nv; i++) a[i] *= -3;
    assert_same(b, a, nv, "springs", "mass");
    close_machine(&s);
  }
}

/* Initial velocities are those given, whatever the form. */
static void test_initial(void **state)
{
  (void)state;
  for (int f = GA_FORM_SPACE; f <= GA_FORM_SE3; f++) {
    shop s = shop_open((ga_form)f, 0);
    const double velocity[3] = {1, -2, 3}, omega[3] = {0.4, 0.5, -0.6};
    double q[12], v[6], w[6];
    ga_rigid_def d = ga_rigid_defaults();
    const double angle[3] = {0.5, -0.7, 1.1};
    d.name = "a";
    d.mass = 1;
    d.inertia[0] = d.inertia[1] = d.inertia[2] = 1;
    d.pose = ga_pose_at(1, 2, 3);
    assert_int_equal(ga_rotation_euler(s.ctx, "xyz", angle, d.pose.rotation), GA_OK);
    memcpy(d.velocity, velocity, sizeof velocity);
    memcpy(d.omega, omega, sizeof omega);
    SHOP_ADD(&s, rigid, &d);
    shop_build(&s);
    assert_status(s.ctx, ga_machine_initial(s.m, q, v, NULL), GA_OK);
    if (f == GA_FORM_SPACE)
      memcpy(w, v, sizeof w);
    else
      convert(w, v, s.m, q, 0);
    assert_same(w, velocity, 3, "one body", "velocity");
    assert_same(w + 3, omega, 3, "one body", "angular velocity");
    shop_close(&s);
  }
}

/* At another position: the same velocity in space, the same angular velocity in the body's axes. */
static void test_moved_velocities(void **state)
{
  (void)state;
  for (int f = GA_FORM_SPACE; f <= GA_FORM_SE3; f++) {
    shop s = shop_open((ga_form)f, 0);
    const double velocity[3] = {1, -2, 3}, spin[3] = {0, 0, 5},
                 angle[2][3] = {{0.5, -0.7, 1.1}, {0.6, 0.2, -0.9}};
    double q[12], moved[12], v[6], w[6], R[9], omega[3];
    ga_rigid_def d = ga_rigid_defaults();
    d.name = "a";
    d.mass = 1;
    d.inertia[0] = d.inertia[1] = d.inertia[2] = 1;
    assert_int_equal(ga_rotation_euler(s.ctx, "xyz", angle[0], d.pose.rotation), GA_OK);
    memcpy(d.velocity, velocity, sizeof velocity);
    ga__mat3_mul_vec(d.omega, d.pose.rotation, spin);
    SHOP_ADD(&s, rigid, &d);
    shop_build(&s);
    assert_status(s.ctx, ga_machine_initial(s.m, q, v, NULL), GA_OK);
    memcpy(moved, q, sizeof q);
    assert_int_equal(ga_rotation_euler(s.ctx, "xyz", angle[1], R), GA_OK);
    memcpy(moved + 3, R, sizeof R);
    moved[0] += 7;
    ga__mat3_mul_vec(omega, R, spin);
    assert_status(s.ctx, ga_machine_move_velocities(s.m, q, moved, v), GA_OK);
    if (f == GA_FORM_SPACE)
      memcpy(w, v, sizeof w);
    else
      convert(w, v, s.m, moved, 0);
    assert_same(w, velocity, 3, "moved body", "velocity");
    assert_same(w + 3, omega, 3, "moved body", "angular velocity");
    shop_close(&s);
  }
}

/* Builds with the n-th allocation failing, for every n: nothing is left behind, and the machine can be built
 * afterwards. */
static void starve(shop *s)
{
  const long live = rig_memory.live;
  for (long n = 1;; n += rig_brief() ? 23 : 1) {
    const long fails = rig_memory.fail_at = rig_memory.count + n;
    const ga_status status = ga_machine_build(s->m);
    rig_memory.fail_at = 0;
    if (rig_memory.count < fails) {
      assert_status(s->ctx, status, GA_OK);
      assert_true(n > 20);
      return;
    }
    assert_status(s->ctx, status, GA_ERR_MEMORY);
    assert_null(ga_machine_system(s->m));
    assert_int_equal(rig_memory.live, live);
  }
}

/* All machines, since the pattern takes memory while it is widened in some of them only. */
static void test_memory(void **state)
{
  (void)state;
  for (int k = 0; k < N_MACHINES; k++)
    for (int f = GA_FORM_BODY; f <= GA_FORM_SE3; f++) {
      shop s = shop_open((ga_form)f, -9.81);
      drive_function = shop_function(s.ctx, "0.3*sin(2*t) + t^2");
      machines[k].make(&s);
      starve(&s);
      close_machine(&s);
    }
}

/* ---- The same motion ---- */

/* A spinning body on a ball joint, another on it by a hinge and a spring, driven by a body-fixed torque. */
static void top(shop *s)
{
  ga_joint_def hinge = ga_joint_defaults();
  shop_rigid(s, "a", 0, 0, 0);
  shop_rigid(s, "b", 0.6, 0.2, 0.5);
  shop_marker(s, "a1", "a", 0.3, 0.5, 0.2);
  shop_marker(s, "wall", "ground", -1, -1, 1);
  add_joint(s, "ball", GA_JOINT_SPHERICAL, "ground", "a");
  hinge.name = "hinge";
  hinge.kind = GA_JOINT_REVOLUTE;
  hinge.a = "a";
  hinge.b = "b";
  hinge.at_pose = 1;
  hinge.at = ga_pose_at(0.5, 0.3, 0.3);
  SHOP_ADD(s, joint, &hinge);
  add_spring(s, "s1", "wall", "b");
  add_wrench(s, "jet", "a1", GA_AXES_BODY);
}

enum { TOP_NQ = 24, TOP_NV = 12, TOP_LAMBDA = 8 };
typedef struct outcome {
  double q[TOP_NQ], w[TOP_NV], lambda[TOP_LAMBDA];
} outcome;

static outcome run_top(ga_form form, int steps)
{
  shop s = shop_open(form, -9.81);
  outcome out;
  double q0[TOP_NQ], v0[TOP_NV];
  const double t_end = 0.4;
  const ga_stepper_opts opts = ga_stepper_defaults();
  ga_start_opts o = ga_start_defaults();
  top(&s);
  shop_build(&s);
  const ga_system *sys = ga_machine_system(s.m);
  assert_int_equal(sys->nq, TOP_NQ);
  assert_int_equal(sys->size[GA_BLOCK_LAMBDA], TOP_LAMBDA);
  assert_status(s.ctx, ga_machine_initial(s.m, q0, v0, NULL), GA_OK);
  assert_status(s.ctx, ga_stepper_create(s.ctx, sys, &opts, &s.st), GA_OK);
  o.h = t_end / steps;
  assert_status(s.ctx, ga_stepper_start(s.st, &o, 0, q0, v0, NULL, NULL, NULL, NULL), GA_OK);
  assert_status(s.ctx, ga_stepper_run(s.st, o.h, steps, NULL, NULL), GA_OK);
  const ga_state *state = ga_stepper_state(s.st);
  memcpy(out.q, state->q, sizeof out.q);
  memcpy(out.lambda, state->lambda, sizeof out.lambda);
  if (form == GA_FORM_SPACE)
    memcpy(out.w, state->v, sizeof out.w);
  else
    convert(out.w, state->v, s.m, state->q, 0);
  shop_close(&s);
  return out;
}

static double apart(const double *a, const double *b, int n)
{
  double worst = 0;
  for (int i = 0; i < n; i++) worst = fmax(worst, fabs(a[i] - b[i]));
  return worst;
}

static void test_same_motion(void **state)
{
  (void)state;
  for (int f = GA_FORM_BODY; f <= GA_FORM_SE3; f++) {
    double gap[3][3];
    for (int k = 0; k < 3; k++) {
      const int steps = 80 << k;
      const outcome a = run_top((ga_form)f, steps), b = run_top(GA_FORM_SPACE, steps);
      gap[k][0] = apart(a.q, b.q, TOP_NQ);
      gap[k][1] = apart(a.w, b.w, TOP_NV);
      gap[k][2] = apart(a.lambda, b.lambda, TOP_LAMBDA);
    }
    for (int i = 0; i < 3; i++) {
      const double order = log2(gap[1][i] / gap[2][i]);
      if (!(order > 1.9 && order < 2.15 && gap[2][i] > 0))
        fail_msg("%s, quantity %d: gaps %.3e %.3e %.3e, order %.2f", SHOP_FORM[f], i, gap[0][i], gap[1][i],
                 gap[2][i], order);
    }
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_derivatives),
      cmocka_unit_test(test_agreement),
      cmocka_unit_test(test_mass),
      cmocka_unit_test(test_initial),
      cmocka_unit_test(test_moved_velocities),
      cmocka_unit_test(test_memory),
      cmocka_unit_test(test_same_motion),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
