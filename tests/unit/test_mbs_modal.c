/* Modal bodies: derivatives, kinetic energy against that of the nodes, the rigid limit, energy and momentum,
 * the mesh itself as a reference, and what is refused. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "lie/mat3.h"
#include "lin/lin_impl.h"
#include "mbs/modal.h"
#include "mbs_shop.h"
#include "modal_rig.h"

static ga_modal_body *reduce(ga_context *ctx, test_mesh *t, ga_reduction_kind kind, int modes)
{
  ga_reduction_opts o = ga_reduction_defaults();
  ga_modal_body *body = NULL;
  o.kind = kind;
  o.modes = modes;
  assert_status(ctx, ga_modal_body_create(ctx, mesh_close(ctx, t), &o, &body), GA_OK);
  mesh_free(ctx, &t);
  return body;
}

/* ---- Derivatives ---- */

static void add_arm(shop *s, const ga_modal_body *body)
{
  const double angle[3] = {0.3, -0.4, 0.7};
  ga_modal_def d = ga_modal_defaults();
  d.name = "arm", d.body = body, d.damping = 0.02, d.mass_damping = 0.1, d.stiffness_damping = 1e-4;
  d.pose = ga_pose_at(0.2, -0.1, 0.4);
  assert_int_equal(ga_rotation_euler(s->ctx, "xyz", angle, d.pose.rotation), GA_OK);
  SHOP_ADD(s, modal, &d);
}

static void add_user(shop *s, int k)
{
  if (k < 10) {
    static const ga_joint_kind kind[10] = {
        GA_JOINT_FIXED,     GA_JOINT_REVOLUTE,         GA_JOINT_PRISMATIC, GA_JOINT_UNIVERSAL,
        GA_JOINT_SPHERICAL, GA_JOINT_DISTANCE,         GA_JOINT_PLANAR,    GA_JOINT_POINT_ON_LINE,
        GA_JOINT_SCREW,     GA_JOINT_CONSTANT_VELOCITY};
    ga_joint_def d = ga_joint_defaults();
    d.name = "joint", d.kind = kind[k], d.a = k % 2 ? "off" : "toe", d.b = k % 2 ? "toe" : "arm.tip";
    d.pitch = 0.1;
    SHOP_ADD(s, joint, &d);
  } else if (k == 10) {
    ga_spring_def d = ga_spring_defaults();
    d.name = "spring", d.a = "arm.tip", d.b = "arm.root", d.stiffness = 30, d.damping = 2, d.rest = 0.2;
    SHOP_ADD(s, spring, &d);
  } else if (k == 11) {
    ga_bushing_def d = ga_bushing_defaults();
    d.name = "bushing", d.a = "arm.tip", d.b = "toe";
    for (int i = 0; i < 6; i++) d.stiffness[7 * i] = 10 + i, d.damping[7 * i] = 1;
    SHOP_ADD(s, bushing, &d);
  } else if (k == 12) {
    ga_force_def d = ga_force_defaults();
    d.name = "force", d.frame = "off", d.axes = GA_AXES_BODY;
    d.force[0].value = 3, d.force[1].expression = "2*arm.tip.vx + arm.tip.ay - arm.root.z";
    d.torque[2].value = -1;
    SHOP_ADD(s, force, &d);
  } else {
    ga_force_def d = ga_force_defaults();
    d.name = "force", d.frame = "bead";
    d.force[0].expression = "0.3*arm.tip.ax + 0.2*arm.wz", d.force[1].expression = "seen.x";
    ga_sensor_def see = ga_sensor_defaults();
    see.name = "seen", see.kind = GA_SENSOR_SPECIFIC_FORCE, see.of = "arm.root", see.axes = "arm";
    SHOP_ADD(s, sensor, &see);
    SHOP_ADD(s, force, &d);
  }
}

enum { N_USERS = 14 };

static shop arm_shop(ga_form form, const ga_modal_body *body, int user)
{
  shop s = shop_open(form, -9.81);
  shop_rigid(&s, "leg", 1.5, 0.4, -0.3);
  shop_point(&s, "bead", 0.3, -1.2, 0.8);
  add_arm(&s, body);
  shop_marker(&s, "off", "arm.tip", 0.1, -0.2, 0.3);
  shop_marker(&s, "toe", "leg", -0.2, 0.1, 0.3);
  add_user(&s, user);
  return s;
}

/* A curved and twisted beam with geometric stiffening, whose energy has third derivatives of all kinds. */
static ga_modal_body *reduce_bent_beam(ga_context *ctx)
{
  static const char *const name[2] = {"root", "tip"};
  static const double at[2] = {0, 1};
  ga_beam_def d = ga_beam_defaults();
  ga_reduction_opts o = ga_reduction_defaults();
  ga_modal_body *body = NULL;
  d.name = "beam", d.length = 1, d.elements = 3, d.section = GA_SECTION_NUMBERS, d.mass_per_length = 2;
  d.curvature[0] = 0.4, d.curvature[1] = -0.7, d.curvature[2] = 0.5;
  for (int i = 0; i < 6; i++) d.stiffness[7 * i] = i < 3 ? 200 + 20 * i : 3 + i;
  for (int i = 0; i < 3; i++) d.rotary_inertia[i] = 0.02 + 0.01 * i;
  o.modes = 2;
  assert_status(ctx, ga_modal_body_create_beam(ctx, &d, 2, at, name, &o, &body), GA_OK);
  assert_true(ga_modal_body_is_stiffened(body));
  return body;
}

static void derivatives_are_right(void **state)
{
  ga_context *ctx;
  (void)state;
  rig_memory = (rig_heap){0, 0, 0, 0};
  assert_int_equal(rig_context(&ctx), GA_OK);
  for (int which = 0; which < 3; which++) {
    ga_modal_body *body = which == 2 ? reduce_bent_beam(ctx)
                          : which    ? reduce(ctx, mesh_chain(40), GA_REDUCTION_CRAIG_BAMPTON, 2)
                                     : reduce(ctx, mesh_cage(40), GA_REDUCTION_FREE, 5);
    assert_int_equal(ga_modal_body_n_modes(body), which ? 8 : 5);
    const rig_heap kept = rig_memory;
    for (int form = 0; form < 3; form++)
      for (int k = 0; k < N_USERS; k++) {
        char what[60];
        rig_random random = rig_seed(1000 * which + 100 * form + k);
        shop s = arm_shop((ga_form)form, body, k);
        shop_build(&s);
        snprintf(what, sizeof what, "mesh %d, %s, number %d", which, SHOP_FORM[form], k);
        shop_check(&s, &random, rig_brief() ? 1 : 3, 0.1, 3e-6, what);
        shop_close(&s);
      }
    rig_memory = kept;
    ga_modal_body_destroy(&body);
  }
  ga_context_destroy(&ctx);
}

/* ---- Inertia ---- */

static ga_context *open_context(void)
{
  ga_context *ctx;
  rig_memory = (rig_heap){0, 0, 0, 0};
  assert_int_equal(rig_context(&ctx), GA_OK);
  return ctx;
}

static const char *const ALL[8] = {"n0", "n1", "n2", "n3", "n4", "n5", "n6", "n7"};

/* With every node as an interface. */
static void expose_all(test_mesh *t)
{
  t->n_interface = 0;
  for (int i = 0; i < t->n; i++) mesh_interface(t, i, ALL[i]);
}

/* w = Aᵀ A' of A = exp θ~: θ' − b θ × θ' + c θ × (θ × θ') */
static void turning(const double theta[3], const double rate[3], double w[3])
{
  const double f2 = ga__vec3_dot(theta, theta), f = sqrt(f2);
  const double b = (1 - cos(f)) / f2, c = (f - sin(f)) / (f2 * f);
  double x[3], y[3];
  ga__vec3_cross(x, theta, rate);
  ga__vec3_cross(y, theta, x);
  for (int i = 0; i < 3; i++) w[i] = rate[i] - b * x[i] + c * y[i];
}

/* exp(−θ~) x */
static void turn_back(const double theta[3], const double x[3], double out[3])
{
  const double f2 = ga__vec3_dot(theta, theta), f = sqrt(f2);
  double a[3], b[3];
  ga__vec3_cross(a, theta, x);
  ga__vec3_cross(b, theta, a);
  for (int i = 0; i < 3; i++) out[i] = x[i] - sin(f) / f * a[i] + (1 - cos(f)) / f2 * b[i];
}

/* Of nodes with masses and rotary inertia, without any approximation, less that of the translation. */
static double energy_of_nodes(const test_mesh *t, const ga_modal_body *body, const double *omega,
                              const double *eta, const double *rate)
{
  const int n = body->n, d = t->dofs;
  double T = 0;
  for (int k = 0; k < t->n; k++) {
    const ga__modal_point *p = &body->point[k];
    double x[3], v[3], theta[3], theta_rate[3], w[3], own[3];
    for (int i = 0; i < 3; i++) {
      x[i] = p->place[i] - body->centre[i] + ga__dot(n, p->phi + i * n, eta);
      theta[i] = ga__dot(n, p->psi + i * n, eta);
      theta_rate[i] = ga__dot(n, p->psi + i * n, rate);
    }
    ga__vec3_cross(v, omega, x);
    for (int i = 0; i < 3; i++) v[i] += ga__dot(n, p->phi + i * n, rate);
    T += 0.5 * t->M[d * k][d * k] * ga__vec3_dot(v, v);
    if (d == 3) continue;
    turn_back(theta, omega, own);
    turning(theta, theta_rate, w);
    for (int i = 0; i < 3; i++) w[i] += own[i];
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++) T += 0.5 * w[i] * t->M[6 * k + 3 + i][6 * k + 3 + j] * w[j];
  }
  return T;
}

/* The kinetic energy of the element is that of the nodes up to second order in amplitudes. */
static void kinetic_energy_is_that_of_nodes(void **state)
{
  (void)state;
  for (int which = 0; which < 2; which++) {
    ga_context *ctx = open_context();
    test_mesh *t = which ? mesh_chain(50) : mesh_cage(50);
    ga_reduction_opts o = ga_reduction_defaults();
    ga_modal_body *body = NULL;
    double off[2];
    expose_all(t);
    o.kind = GA_REDUCTION_FREE, o.modes = 9;
    assert_status(ctx, ga_modal_body_create(ctx, mesh_close(ctx, t), &o, &body), GA_OK);
    const rig_heap kept = rig_memory;
    for (int level = 0; level < 2; level++) {
      const double size = level ? 0.005 : 0.01;
      shop s = shop_open(GA_FORM_SPACE, 0);
      double q[RIG_MOST], v[RIG_MOST], x[1], omega[3] = {2, -1, 3}, Rw[3];
      add_arm(&s, body);
      shop_build(&s);
      assert_status(s.ctx, ga_machine_initial(s.m, q, v, x), GA_OK);
      ga__mat3_mul_vec(Rw, q + 3, omega);
      memcpy(v + 3, Rw, sizeof Rw);
      for (int i = 0; i < 9; i++) {
        q[12 + i] = size * cos(1 + 2 * i);
        v[6 + i] = size * 5 * sin(2 + 3 * i);
      }
      const ga_state at = {.q = q, .v = v, .vdot = v, .a = v};
      const double T = shop_signal(&s, &at, "energy.kinetic"),
                   nodes = energy_of_nodes(t, body, omega, q + 12, v + 6);
      off[level] = fabs(T - nodes);
      assert_true(off[level] < 1e-3 * nodes);
      if (which == 0) assert_near(T, nodes, 1e-11 * nodes, "kinetic energy of points");
      shop_close(&s);
    }
    if (which) assert_near(log2(off[0] / off[1]), 3, 0.2, "order of the kinetic energy in amplitudes");
    rig_memory = kept;
    mesh_free(ctx, &t);
    ga_modal_body_destroy(&body);
    ga_context_destroy(&ctx);
    assert_int_equal(rig_memory.live, 0);
  }
}

/* ---- Motion ---- */

/* A run of n equal steps to time T, after an assembly that may move what does not fit. */
static const ga_state *run(shop *s, double T, int n)
{
  double q0[RIG_MOST], v0[RIG_MOST], x0[RIG_MOST];
  const ga_stepper_opts opts = ga_stepper_defaults();
  ga_start_opts o = ga_start_defaults();
  o.h = T / n;
  if (!s->m || !ga_machine_system(s->m)) shop_build(s);
  assert_status(s->ctx, ga_machine_initial(s->m, q0, v0, x0), GA_OK);
  assert_status(s->ctx, ga_stepper_create(s->ctx, ga_machine_system(s->m), &opts, &s->st), GA_OK);
  assert_status(s->ctx, ga_stepper_start(s->st, &o, 0, q0, v0, x0, NULL, NULL, NULL), GA_OK);
  for (int i = 0; i < n; i++) assert_status(s->ctx, ga_stepper_step(s->st, T / n), GA_OK);
  return ga_stepper_state(s->st);
}

/* Energy, and angular and linear momentum of all nodes, from their markers. */
static void measure(const shop *s, const ga_state *at, const double *mass, int n, double out[7])
{
  memset(out, 0, 7 * sizeof *out);
  out[0] = shop_signal(s, at, "energy.kinetic") + shop_signal(s, at, "energy.potential");
  for (int k = 0; k < n; k++) {
    static const char *const axis[] = {"x", "y", "z", "vx", "vy", "vz"};
    double x[6], L[3];
    for (int i = 0; i < 6; i++) {
      char name[32];
      snprintf(name, sizeof name, "arm.%s.%s", ALL[k], axis[i]);
      x[i] = shop_signal(s, at, name);
    }
    ga__vec3_cross(L, x, x + 3);
    for (int i = 0; i < 3; i++) out[1 + i] += mass[k] * L[i], out[4 + i] += mass[k] * x[3 + i];
  }
}

/* A free body that spins and vibrates: energy and momentum stay, up to the method's error, at second order.
 */
static void energy_and_momentum_stay(void **state)
{
  (void)state;
  for (int form = 0; form < 3; form++) {
    ga_context *ctx = open_context();
    test_mesh *t = mesh_cage(2000);
    double mass[8], drift[2][7];
    expose_all(t);
    for (int k = 0; k < t->n; k++) mass[k] = t->M[3 * k][3 * k];
    ga_modal_body *body = reduce(ctx, t, GA_REDUCTION_FREE, 6);
    const rig_heap kept = rig_memory;
    for (int level = 0; level < 2; level++) {
      double before[7], after[7];
      shop s = shop_open((ga_form)form, 0);
      ga_modal_def d = ga_modal_defaults();
      d.name = "arm", d.body = body;
      d.velocity[0] = 0.3, d.omega[0] = 2, d.omega[1] = -3, d.omega[2] = 1;
      SHOP_ADD(&s, modal, &d);
      shop_build(&s);
      const ga_state *at = run(&s, 1e-9, 1);
      measure(&s, at, mass, 7, before);
      ga_stepper_destroy(&s.st);
      at = run(&s, 1.0, 400 << level);
      measure(&s, at, mass, 7, after);
      for (int i = 0; i < 7; i++) drift[level][i] = fabs(after[i] - before[i]) / (1 + fabs(before[i]));
      shop_close(&s);
    }
    for (int i = 0; i < 7; i++) {
      assert_true(drift[1][i] < 2e-4);
      if (drift[1][i] > 1e-9) assert_true(drift[0][i] / drift[1][i] > 3.3);
    }
    rig_memory = kept;
    ga_modal_body_destroy(&body);
    ga_context_destroy(&ctx);
  }
}

/* The cage as points and springs of any motion: a spinning start, and where the tip is. */
static void run_points(double stiffness, double omega, double T, int n, double tip[3])
{
  static const char *const axis[] = {"n6.x", "n6.y", "n6.z"};
  test_mesh *t = mesh_cage(stiffness);
  shop s = shop_open(GA_FORM_SPACE, -9.81);
  for (int i = 0; i < 7; i++) {
    ga_point_def d = ga_point_defaults();
    d.name = ALL[i], d.mass = t->M[3 * i][3 * i];
    memcpy(d.position, t->position + 3 * i, sizeof d.position);
    d.velocity[0] = -omega * d.position[1], d.velocity[1] = omega * d.position[0];
    SHOP_ADD(&s, point, &d);
  }
  for (int i = 0; i < 7; i++)
    for (int j = 0; j < i; j++) {
      char name[16];
      ga_spring_def d = ga_spring_defaults();
      snprintf(name, sizeof name, "s%d%d", i, j);
      d.name = name, d.a = ALL[i], d.b = ALL[j], d.stiffness = stiffness * (1 + 0.1 * i + 0.03 * j);
      SHOP_ADD(&s, spring, &d);
    }
  const ga_state *at = run(&s, T, n);
  for (int i = 0; i < 3; i++) tip[i] = shop_signal(&s, at, axis[i]);
  shop_close(&s);
  free(t);
}

static void run_modal(double stiffness, int modes, double omega, double T, int n, double tip[3])
{
  static const char *const axis[] = {"arm.tip.x", "arm.tip.y", "arm.tip.z"};
  ga_context *ctx = open_context();
  ga_modal_body *body = reduce(ctx, mesh_cage(stiffness), GA_REDUCTION_FREE, modes);
  const rig_heap kept = rig_memory;
  shop s = shop_open(GA_FORM_SPACE, -9.81);
  ga_modal_def d = ga_modal_defaults();
  d.name = "arm", d.body = body, d.omega[2] = omega;
  SHOP_ADD(&s, modal, &d);
  const ga_state *at = run(&s, T, n);
  for (int i = 0; i < 3; i++) tip[i] = shop_signal(&s, at, axis[i]);
  shop_close(&s);
  rig_memory = kept;
  ga_modal_body_destroy(&body);
  ga_context_destroy(&ctx);
}

static double distance(const double a[3], const double b[3])
{
  return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) + (a[2] - b[2]) * (a[2] - b[2]));
}

/* With all modes it is the mesh, up to second order of deformation: against points and springs of any motion.
 * Fewer modes are less near. */
static void modal_body_moves_as_its_mesh(void **state)
{
  double off[2];
  (void)state;
  for (int level = 0; level < 2; level++) {
    const double k = level ? 4e2 : 1e2;
    double full[3], modal[3], few[3];
    run_points(k, 2, 1, 2000, full);
    run_modal(k, 15, 2, 1, 2000, modal);
    run_modal(k, 3, 2, 1, 2000, few);
    off[level] = distance(full, modal);
    assert_true(off[level] < 0.05 * distance(full, few));
  }
  assert_true(off[0] < 5e-4);
  assert_true(off[0] / off[1] > 6); /* 8: amplitude 1/k times the change of phase by stresses 1/√k */
}

/* ---- A pendulum ---- */

/* On a hinge at its root, whose axis is along y of `turn`; gravity along −z of `turn`. */
static shop pendulum(const ga_modal_body *body, ga_form form, const double turn[9], int as_rigid)
{
  const double down[3] = {0, 0, -9.81};
  shop s = {NULL, NULL, NULL};
  ga_machine_opts o = ga_machine_defaults();
  ga_joint_def hinge = ga_joint_defaults();
  ga_marker_def anchor = ga_marker_defaults(), root = ga_marker_defaults();
  const double about[3] = {1, 0, 0};
  double axis[9];
  o.form = form;
  ga__mat3_mul_vec(o.gravity, turn, down);
  rig_memory = (rig_heap){0, 0, 0, 0};
  assert_int_equal(rig_context(&s.ctx), GA_OK);
  assert_status(s.ctx, ga_machine_create(s.ctx, &o, &s.m), GA_OK);
  assert_int_equal(ga_rotation_axis_angle(s.ctx, about, 0.5 * 3.14159265358979, axis), GA_OK);
  if (as_rigid) {
    ga_rigid_def d = ga_rigid_defaults();
    ga_marker_def tip = ga_marker_defaults();
    d.name = "arm";
    assert_int_equal(ga_modal_body_inertia(body, &d.mass, d.com, d.inertia), GA_OK);
    memcpy(d.pose.rotation, turn, sizeof d.pose.rotation);
    SHOP_ADD(&s, rigid, &d);
    root.name = "arm.root", root.body = "arm";
    SHOP_ADD(&s, marker, &root);
    tip.name = "arm.tip", tip.body = "arm";
    memcpy(tip.pose.position, body->point[1].place, sizeof tip.pose.position);
    SHOP_ADD(&s, marker, &tip);
  } else {
    ga_modal_def d = ga_modal_defaults();
    d.name = "arm", d.body = body;
    memcpy(d.pose.rotation, turn, sizeof d.pose.rotation);
    SHOP_ADD(&s, modal, &d);
  }
  anchor.name = "anchor", anchor.body = "ground";
  ga__mat3_mul(anchor.pose.rotation, turn, axis);
  SHOP_ADD(&s, marker, &anchor);
  root.name = "root", root.body = "arm.root";
  memcpy(root.pose.rotation, axis, sizeof axis);
  SHOP_ADD(&s, marker, &root);
  hinge.name = "hinge", hinge.kind = GA_JOINT_REVOLUTE, hinge.a = "anchor", hinge.b = "root";
  SHOP_ADD(&s, joint, &hinge);
  return s;
}

static const double STRAIGHT[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
static const char *const TIP[3] = {"arm.tip.x", "arm.tip.y", "arm.tip.z"};

/* With increasing stiffness it tends to the rigid body of its mass, centre and inertia. */
static void stiff_modal_bodies_are_rigid(void **state)
{
  double off[2];
  (void)state;
  for (int level = 0; level < 2; level++) {
    ga_context *ctx = open_context();
    ga_modal_body *body = reduce(ctx, mesh_chain(level ? 1e8 : 1e6), GA_REDUCTION_CRAIG_BAMPTON, 3);
    const rig_heap kept = rig_memory;
    double tip[2][3];
    for (int as_rigid = 0; as_rigid < 2; as_rigid++) {
      shop s = pendulum(body, GA_FORM_SPACE, STRAIGHT, as_rigid);
      const ga_state *at = run(&s, 0.5, 500);
      for (int i = 0; i < 3; i++) tip[as_rigid][i] = shop_signal(&s, at, TIP[i]);
      shop_close(&s);
    }
    off[level] = distance(tip[0], tip[1]);
    rig_memory = kept;
    ga_modal_body_destroy(&body);
    ga_context_destroy(&ctx);
  }
  assert_true(off[0] < 1e-3 && off[1] < 1e-5);
  assert_true(off[0] / off[1] > 50);
}

/* Order 2 in positions, velocities, accelerations and multipliers, with every form. */
static void order_is_two(void **state)
{
  ga_context *ctx = open_context();
  ga_modal_body *body = reduce(ctx, mesh_chain(300), GA_REDUCTION_CRAIG_BAMPTON, 1);
  const rig_heap kept = rig_memory;
  (void)state;
  for (int form = 0; form < 3; form++) {
    enum { LEVELS = 3 };
    static double q[LEVELS][4][RIG_MOST];
    int n[4] = {0};
    for (int level = 0; level < LEVELS; level++) {
      shop s = pendulum(body, (ga_form)form, STRAIGHT, 0);
      const ga_state *at = run(&s, 0.4, 400 << level);
      const double *from[4] = {at->q, at->v, at->vdot, at->lambda};
      const ga_system *sys = ga_machine_system(s.m);
      const int size[4] = {sys->nq, sys->nv, sys->nv, sys->size[GA_BLOCK_LAMBDA]};
      for (int k = 0; k < 4; k++) memcpy(q[level][k], from[k], (size_t)(n[k] = size[k]) * sizeof(double));
      shop_close(&s);
    }
    for (int k = 0; k < 4; k++) {
      double d[2] = {0, 0};
      for (int l = 0; l < 2; l++)
        for (int i = 0; i < n[k]; i++) d[l] = fmax(d[l], fabs(q[l + 1][k][i] - q[l][k][i]));
      assert_near(log2(d[0] / d[1]), 2, 0.25, "order");
    }
  }
  rig_memory = kept;
  ga_modal_body_destroy(&body);
  ga_context_destroy(&ctx);
}

/* Turned as a whole, the machine moves as before, turned. */
static void turned_machines_move_alike(void **state)
{
  const double angle[3] = {0.7, -1.1, 2.3};
  double turn[9], tip[2][3], expected[3];
  ga_context *ctx = open_context();
  ga_modal_body *body = reduce(ctx, mesh_chain(300), GA_REDUCTION_CRAIG_BAMPTON, 2);
  (void)state;
  assert_int_equal(ga_rotation_euler(ctx, "xyz", angle, turn), GA_OK);
  const rig_heap kept = rig_memory;
  for (int k = 0; k < 2; k++) {
    shop s = pendulum(body, GA_FORM_SE3, k ? turn : STRAIGHT, 0);
    const ga_state *at = run(&s, 0.5, 200);
    for (int i = 0; i < 3; i++) tip[k][i] = shop_signal(&s, at, TIP[i]);
    shop_close(&s);
  }
  ga__mat3_mul_vec(expected, turn, tip[0]);
  assert_true(distance(tip[0], (double[3]){2, 0.4, 0}) > 0.3);
  assert_true(distance(tip[1], expected) < 1e-9);
  rig_memory = kept;
  ga_modal_body_destroy(&body);
  ga_context_destroy(&ctx);
}

/* ---- Modes ---- */

/* Frequencies of the free structure from the whole matrices, by LAPACK: [N] squares, ascending. */
static void dense_modes(ga_context *ctx, const test_mesh *t, double *lambda)
{
  const int N = t->n * t->dofs;
  static double H[MESH_MOST * MESH_MOST], G[MESH_MOST * MESH_MOST];
  int found;
  for (int i = 0; i < N * N; i++) H[i] = t->K[i / N][i % N], G[i] = t->M[i / N][i % N];
  assert_status(ctx, ga__eigen_symmetric(ctx, N, H, G, lambda, &found), GA_OK);
  assert_int_equal(found, 1);
}

/* A long chain: ARPACK. Free modes are those of the whole matrices; with Craig–Bampton they are above these,
 * and close to them for the first; all of them are the whole. */
static void modes_are_those_of_the_mesh(void **state)
{
  static double lambda[MESH_MOST];
  static const int keep[] = {2, 5};
  ga_context *ctx = open_context();
  (void)state;
  for (int k = 0; k < 5; k++) {
    test_mesh *t = mesh_new(40, 6);
    const double D[6] = {1e6, 1e6, 1e6, 1e4, 1e4, 1e4}, I[6] = {0.001, 0.001, 0.001, 0, 0, 0};
    for (int i = 0; i < 40; i++) {
      mesh_point(t, i, 0.05 * i, 0, 0, 0.1);
      mesh_rotary(t, i, I);
    }
    for (int i = 0; i + 1 < 40; i++) mesh_spring(t, i, i + 1, D);
    mesh_interface(t, 0, "root");
    mesh_interface(t, 39, "tip");
    dense_modes(ctx, t, lambda);
    ga_reduction_opts o = ga_reduction_defaults();
    ga_modal_body *body = NULL;
    o.kind = k < 2 ? GA_REDUCTION_FREE : GA_REDUCTION_CRAIG_BAMPTON;
    o.modes = 12;
    if (k == 4) o.modes = 228; /* all */
    if (k == 1) o.max_frequency = 1.01 * sqrt(lambda[9]) / 6.283185307179586;
    if (k == 3) o.n_keep = 2, o.keep = keep;
    assert_status(ctx, ga_modal_body_create(ctx, mesh_close(ctx, t), &o, &body), GA_OK);
    assert_int_equal(ga_modal_body_n_modes(body), k == 0 ? 12 : k == 1 ? 4 : k == 2 ? 18 : k == 3 ? 2 : 234);
    for (int i = 0; i < body->n; i++) {
      const int number = k == 3 ? o.keep[i] - 1 : i;
      const double exact = lambda[6 + number], off = body->lambda[i] / exact - 1;
      if (k < 2) assert_true(fabs(off) < 1e-9);
      if (k == 2 || k == 3) assert_true(off > -1e-9 && (number > 1 || off < 3e-3));
      if (k == 4) assert_true(fabs(off) < 1e-8);
      assert_near(ga_modal_body_frequency(body, i), sqrt(body->lambda[i]) / 6.283185307179586, 1e-12, "Hz");
    }
    assert_true(isnan(ga_modal_body_frequency(body, body->n)));
    mesh_free(ctx, &t);
    ga_modal_body_destroy(&body);
  }
  ga_context_destroy(&ctx);
  assert_int_equal(rig_memory.live, 0);
}

/* Damping of one mode: its amplitude dies with the ratio given. */
static void damping_is_as_given(void **state)
{
  for (int k = 0; k < 3; k++) {
    const double ratio[5] = {0.05, 0.1, 0.02, 0.03, 0.04};
    ga_context *ctx = open_context();
    test_mesh *t = mesh_cage(1000);
    ga_reduction_opts o = ga_reduction_defaults();
    ga_modal_body *body = NULL;
    (void)state;
    o.kind = GA_REDUCTION_FREE, o.modes = 5;
    if (k == 1) o.n_damping = 5, o.damping = ratio;
    assert_status(ctx, ga_modal_body_create(ctx, mesh_close(ctx, t), &o, &body), GA_OK);
    mesh_free(ctx, &t);
    const rig_heap kept = rig_memory;
    shop s = shop_open(GA_FORM_SPACE, 0);
    ga_modal_def d = ga_modal_defaults();
    const double w = sqrt(body->lambda[1]);
    d.name = "arm", d.body = body;
    if (k == 0) d.damping = 0.1;
    if (k == 2) d.mass_damping = 0.1 * w, d.stiffness_damping = 0.1 / w;
    SHOP_ADD(&s, modal, &d);
    shop_build(&s);
    double q[RIG_MOST], v[RIG_MOST], x[1];
    const double T = 0.3, zeta = 0.1, wd = w * sqrt(1 - zeta * zeta);
    const int n = 4000;
    ga_start_opts so = ga_start_defaults();
    const ga_stepper_opts opts = ga_stepper_defaults();
    so.h = T / n;
    assert_status(s.ctx, ga_machine_initial(s.m, q, v, x), GA_OK);
    v[7] = 1e-6;
    assert_status(s.ctx, ga_stepper_create(s.ctx, ga_machine_system(s.m), &opts, &s.st), GA_OK);
    assert_status(s.ctx, ga_stepper_start(s.st, &so, 0, q, v, x, NULL, NULL, NULL), GA_OK);
    for (int i = 0; i < n; i++) assert_status(s.ctx, ga_stepper_step(s.st, T / n), GA_OK);
    assert_near(shop_signal(&s, ga_stepper_state(s.st), "arm.amplitude2"),
                1e-6 * exp(-zeta * w * T) * sin(wd * T) / wd, 1e-10 / w, "amplitude");
    shop_close(&s);
    rig_memory = kept;
    ga_modal_body_destroy(&body);
    ga_context_destroy(&ctx);
  }
}

/* Displacements and rotations at markers, and a recovery matrix, are what poses say. */
static void signals_are_right(void **state)
{
  ga_context *ctx = open_context();
  test_mesh *t = mesh_chain(300);
  static double row[MESH_MOST];
  static const char *const name[] = {"stress"}, *const unit[] = {"Pa"};
  ga_modal_body *body = NULL;
  (void)state;
  row[24] = 2, row[0] = -2; /* twice the stretch along x between the ends */
  mesh_close(ctx, t);
  t->mesh.n_recovered = 1, t->mesh.recovery = row;
  t->mesh.recovered_name = name, t->mesh.recovered_unit = unit;
  assert_status(ctx, ga_modal_body_create(ctx, &t->mesh, NULL, &body), GA_OK);
  mesh_free(ctx, &t);
  const rig_heap kept = rig_memory;
  shop s = pendulum(body, GA_FORM_SPACE, STRAIGHT, 0);
  const ga_state *at = run(&s, 0.3, 300);
  ga_pose frame, tip;
  double arm[3], x[3];
  assert_status(s.ctx, ga_machine_pose(s.m, at, "arm", &frame), GA_OK);
  assert_status(s.ctx, ga_machine_pose(s.m, at, "arm.tip", &tip), GA_OK);
  for (int i = 0; i < 3; i++) arm[i] = tip.position[i] - frame.position[i];
  ga__mat3_tmul_vec(x, frame.rotation, arm);
  assert_near(x[0] - 2, shop_signal(&s, at, "arm.tip.displacement_x"), 1e-12, "displacement");
  assert_near(x[2], shop_signal(&s, at, "arm.tip.displacement_z"), 1e-12, "displacement");
  assert_true(fabs(x[2]) > 1e-3);
  double A[9], Rt[9];
  ga__mat3_transpose(Rt, frame.rotation);
  ga__mat3_mul(A, Rt, tip.rotation);
  assert_near(0.5 * (A[2] - A[6]), shop_signal(&s, at, "arm.tip.rotation_y"), 1e-4, "rotation");
  assert_near(
      shop_signal(&s, at, "arm.stress"),
      2 * (shop_signal(&s, at, "arm.tip.displacement_x") - shop_signal(&s, at, "arm.root.displacement_x")),
      1e-14, "what is recovered");
  assert_true(shop_signal(&s, at, "arm.strain_energy") > 0);
  shop_close(&s);
  rig_memory = kept;
  ga_modal_body_destroy(&body);
  ga_context_destroy(&ctx);
}

/* ---- What is refused ---- */

typedef struct bad_mesh {
  void (*spoil)(test_mesh *t, ga_reduction_opts *o);
  const char *text;
} bad_mesh;

static void few_nodes(test_mesh *t, ga_reduction_opts *o)
{
  (void)o, t->mesh.n_nodes = 6;
}
static void not_symmetric(test_mesh *t, ga_reduction_opts *o)
{
  (void)o, t->K[3][4] *= 1.01;
}
static void negative_mass(test_mesh *t, ga_reduction_opts *o)
{
  (void)o, t->M[3][3] *= -1;
}
static void indefinite_mass(test_mesh *t, ga_reduction_opts *o)
{
  (void)o, t->M[3][4] = t->M[4][3] = 5;
}
static void other_mass(test_mesh *t, ga_reduction_opts *o)
{
  (void)o, t->M[3][3] *= 1.5;
}
static void held_node(test_mesh *t, ga_reduction_opts *o)
{
  (void)o, t->K[0][0] += 10;
}
static void other_positions(test_mesh *t, ga_reduction_opts *o)
{
  (void)o, t->position[4] += 0.3;
}
static void unknown_node(test_mesh *t, ga_reduction_opts *o)
{
  (void)o, t->node[1] = 7;
}
static void same_name(test_mesh *t, ga_reduction_opts *o)
{
  (void)o, t->name[1] = "root";
}
static void no_name(test_mesh *t, ga_reduction_opts *o)
{
  (void)o, t->name[1] = "a b";
}
static void same_place(test_mesh *t, ga_reduction_opts *o)
{
  o->kind = GA_REDUCTION_FREE;
  memcpy(t->position + 18, t->position, 3 * sizeof(double));
  memset(t->K, 0, sizeof t->K);
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < i; j++) mesh_bar(t, i, j, 100);
  for (int i = 1; i < 6; i++) mesh_bar(t, 6, i, 100);
}
static void two_interfaces(test_mesh *t, ga_reduction_opts *o)
{
  (void)o, t->n_interface = 2;
}
static void many_modes(test_mesh *t, ga_reduction_opts *o)
{
  (void)t, o->modes = 13;
}
static void many_free(test_mesh *t, ga_reduction_opts *o)
{
  (void)t, o->kind = GA_REDUCTION_FREE, o->modes = 16;
}
static void far_mode(test_mesh *t, ga_reduction_opts *o)
{
  static const int keep[] = {1, 99};
  (void)t, o->n_keep = 2, o->keep = keep;
}
static void loose_node(test_mesh *t, ga_reduction_opts *o)
{
  (void)o;
  for (int i = 0; i < 21; i++)
    for (int c = 0; c < 3; c++) t->K[12 + c][i] = t->K[i][12 + c] = 0;
}
static void ratios(test_mesh *t, ga_reduction_opts *o)
{
  static const double ratio[] = {0.1, 0.2};
  (void)t, o->n_damping = 2, o->damping = ratio;
}
/* Two triangles of interface nodes, joined by one bar: six relative motions, less one. */
static void hinge_within(test_mesh *t, ga_reduction_opts *o)
{
  o->modes = 0;
  memset(t->K, 0, sizeof t->K);
  for (int i = 0; i < 3; i++) mesh_bar(t, i, (i + 1) % 3, 100), mesh_bar(t, 3 + i, 3 + (i + 1) % 3, 100);
  for (int i = 0; i < 3; i++) mesh_bar(t, 6, i, 100);
  mesh_bar(t, 0, 3, 100);
  t->n_interface = 0;
  for (int i = 0; i < 6; i++) mesh_interface(t, i, ALL[i]);
}
static void not_finite(test_mesh *t, ga_reduction_opts *o)
{
  (void)o, t->K[5][5] = NAN;
}
static void three_dofs(test_mesh *t, ga_reduction_opts *o)
{
  (void)o, t->mesh.dofs = 4;
}

static void bad_meshes_are_refused(void **state)
{
  static const bad_mesh bad[] = {
      {few_nodes, "its mass matrix is 21 x 21, but 6 nodes with 3 degrees of freedom each make 18"},
      {not_symmetric, "its stiffness matrix is not symmetric: row 5, column 4 is "},
      {negative_mass, "its mass matrix is not positive definite: the entry in row 4, column 4 is -0.4, and"},
      {indefinite_mass,
       "its mass matrix is not positive definite: the entry in row 5, column 4 is 5, and the "
       "diagonal allows at most 0.4"},
      {other_mass, "rigid motions along x, y and z have the masses 4.4"},
      {held_node, "it is not free: stiffness resists its translation along x, which has a frequency of "},
      {other_positions, "it is not free: stiffness resists its rotation about "},
      {unknown_node, "interface node 'tip' is node 8, but there are 7"},
      {same_name, "interface nodes 'root' and 'root' have one name"},
      {no_name, "a b"},
      {same_place, "interface nodes 'root' and 'tip' are at the same place"},
      {two_interfaces, "its 2 interface nodes do not hold it"},
      {many_modes, "modes asks for 13, but there are 12"},
      {many_free, "modes asks for 16, but there are 15"},
      {far_mode, "keep asks for 99, but there are 8"},
      {loose_node, "node 5 can move without being deformed"},
      {ratios, "damping has 2 ratios, but 8 modes are kept"},
      {hinge_within, "it has 7 motions without stiffness, and a free body has six"},
      {not_finite, "stiffness is nan"},
      {three_dofs, "dofs is 4"},
  };
  (void)state;
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    ga_context *ctx = open_context();
    test_mesh *t = mesh_cage(100);
    ga_reduction_opts o = ga_reduction_defaults();
    ga_modal_body *body = NULL;
    o.modes = 5;
    bad[i].spoil(t, &o);
    const ga_mesh given = t->mesh;
    mesh_close(ctx, t);
    if (given.n_nodes) t->mesh.n_nodes = given.n_nodes;
    if (given.dofs) t->mesh.dofs = given.dofs;
    const ga_status status = ga_modal_body_create(ctx, &t->mesh, &o, &body);
    if (status != GA_ERR_ARGUMENT) fail_msg("%zu: %s", i, ga_context_error(ctx)->text);
    assert_null(body);
    assert_says(ctx, bad[i].text);
    mesh_free(ctx, &t);
    ga_context_destroy(&ctx);
    assert_int_equal(rig_memory.live, 0);
  }
}

/* Markers and joints where there is no interface. */
static void markers_off_the_interface_are_refused(void **state)
{
  ga_context *ctx = open_context();
  ga_modal_body *body = reduce(ctx, mesh_chain(40), GA_REDUCTION_CRAIG_BAMPTON, 2);
  const rig_heap kept = rig_memory;
  (void)state;
  for (int k = 0; k < 3; k++) {
    shop s = shop_open(GA_FORM_SPACE, 0);
    ga_joint_def d = ga_joint_defaults();
    add_arm(&s, body);
    if (k == 0) shop_marker(&s, "off", "arm", 0.5, 0.1, 0);
    d.name = "joint", d.kind = GA_JOINT_SPHERICAL, d.a = "ground", d.b = k == 1 ? "arm" : "arm.top";
    if (k) SHOP_ADD(&s, joint, &d);
    assert_status(s.ctx, ga_machine_build(s.m), GA_ERR_ARGUMENT);
    assert_says(
        s.ctx, k == 0 ? "its position is not that of an interface node of 'arm': the nearest is 0.51 m away, "
                        "'arm.root', which markers can be fixed to"
               : k == 1 ? "b is 'arm', whose own frame floats and is no place on it"
                        : "'arm.top'");
    shop_close(&s);
  }
  rig_memory = kept;
  ga_modal_body_destroy(&body);
  ga_context_destroy(&ctx);
}

/* ---- Beams ---- */

static ga_beam_def test_beam(void)
{
  ga_beam_def d = ga_beam_defaults();
  d.name = "arm", d.length = 1, d.elements = 6, d.section = GA_SECTION_RECTANGLE;
  d.width = 0.02, d.height = 0.01, d.young = 70e9, d.poisson = 0.33, d.density = 2700;
  return d;
}

static const double ENDS[2] = {0, 1};
static const char *const END_NAMES[2] = {"root", "end"};

static ga_modal_body *reduce_beam(ga_context *ctx, ga_reduction_kind kind, int modes)
{
  const ga_beam_def d = test_beam();
  ga_reduction_opts o = ga_reduction_defaults();
  ga_modal_body *body = NULL;
  o.kind = kind, o.modes = modes;
  assert_status(ctx, ga_modal_body_create_beam(ctx, &d, 2, ENDS, END_NAMES, &o, &body), GA_OK);
  return body;
}

/* Mass, inertia and frequencies of a slender beam are those of closed forms. */
static void beams_are_reduced(void **state)
{
  static const double root[3] = {4.730040744862704, 7.853204624095838, 10.99560783800167};
  ga_context *ctx = open_context();
  ga_modal_body *body = reduce_beam(ctx, GA_REDUCTION_FREE, 8);
  double mass, centre[3], J[6];
  (void)state;
  assert_int_equal(ga_modal_body_inertia(body, &mass, centre, J), GA_OK);
  assert_near(mass, 0.54, 1e-12, "mass");
  assert_near(centre[0], 0.5, 1e-12, "centre");
  assert_near(J[0], 0.54 * (0.02 * 0.02 + 0.01 * 0.01) / 12, 1e-9, "Jxx");
  assert_near(J[1] / (0.54 * (1 + 0.01 * 0.01) / 12), 1, 5e-3, "Jyy"); /* rotary inertia of halves at nodes */
  for (int i = 0; i < 2; i++) { /* bending about y, the weak axis, comes first, third is the second of it */
    const double w = root[i] * root[i] * sqrt(70e9 * 0.02 * 1e-6 / 12 / 0.54);
    assert_near(sqrt(body->lambda[i == 0 ? 0 : 2]) / w, 1, 6e-3, "frequency of bending");
  }
  ga_modal_body_destroy(&body);
  ga_context_destroy(&ctx);
  assert_int_equal(rig_memory.live, 0);
}

/* A pendulum of a beam, or of the same reduced: the tip after T = 0.05 s. */
static void run_beam(const ga_modal_body *body, double tip[3], double *deflection)
{
  static const char *const END[3] = {"arm.end.x", "arm.end.y", "arm.end.z"};
  const double about[3] = {1, 0, 0};
  shop s = shop_open(GA_FORM_SPACE, -9.81);
  ga_joint_def hinge = ga_joint_defaults();
  ga_marker_def anchor = ga_marker_defaults(), root = ga_marker_defaults();
  if (body) {
    ga_modal_def d = ga_modal_defaults();
    d.name = "arm", d.body = body;
    SHOP_ADD(&s, modal, &d);
  } else {
    const ga_beam_def d = test_beam();
    SHOP_ADD(&s, beam, &d);
  }
  anchor.name = "anchor", anchor.body = "ground";
  assert_int_equal(ga_rotation_axis_angle(s.ctx, about, 0.5 * 3.14159265358979, anchor.pose.rotation), GA_OK);
  root = anchor;
  root.name = "root", root.body = body ? "arm.root" : "arm";
  SHOP_ADD(&s, marker, &anchor);
  SHOP_ADD(&s, marker, &root);
  hinge.name = "hinge", hinge.kind = GA_JOINT_REVOLUTE, hinge.a = "anchor", hinge.b = "root";
  SHOP_ADD(&s, joint, &hinge);
  const ga_state *at = run(&s, 0.05, 500);
  for (int i = 0; i < 3; i++) tip[i] = shop_signal(&s, at, END[i]);
  if (body) *deflection = fabs(shop_signal(&s, at, "arm.end.displacement_z"));
  shop_close(&s);
}

/* Reduced, a beam moves as it does itself; with more modes it comes closer. */
static void reduced_beams_move_as_beams(void **state)
{
  static const int modes[3] = {0, 2, 8};
  double full[3], tip[3], off[3], deflection = 0;
  (void)state;
  run_beam(NULL, full, NULL);
  for (int k = 0; k < 3; k++) {
    ga_context *ctx = open_context();
    ga_modal_body *body = reduce_beam(ctx, GA_REDUCTION_CRAIG_BAMPTON, modes[k]);
    const rig_heap kept = rig_memory;
    run_beam(body, tip, &deflection);
    off[k] = distance(full, tip);
    rig_memory = kept;
    ga_modal_body_destroy(&body);
    ga_context_destroy(&ctx);
  }
  assert_true(off[1] < 0.3 * off[0] && off[2] < 0.1 * off[1]);
  assert_true(off[2] < 0.01 * deflection);
}

/* What a beam refuses, and where its interface may be. */
static void wrong_beams_are_refused(void **state)
{
  ga_context *ctx = open_context();
  ga_beam_def d = test_beam();
  ga_modal_body *body = NULL;
  const double beyond[2] = {0, 1.5};
  (void)state;
  assert_status(ctx, ga_modal_body_create_beam(ctx, &d, 2, beyond, END_NAMES, NULL, &body), GA_ERR_ARGUMENT);
  assert_says(ctx, "goes from 0 to 1 m");
  d.young = 0;
  assert_status(ctx, ga_modal_body_create_beam(ctx, &d, 2, ENDS, END_NAMES, NULL, &body), GA_ERR_ARGUMENT);
  assert_says(ctx, "young");
  assert_null(body);
  ga_context_destroy(&ctx);
  assert_int_equal(rig_memory.live, 0);
}

static void memory_for_beams_may_fail(void **state)
{
  ga_context *ctx = open_context();
  const ga_beam_def d = test_beam();
  (void)state;
  for (long n = 1, failed = 1; failed; n += rig_brief() ? 37 : 5) {
    ga_modal_body *body = NULL;
    const long live = rig_memory.live;
    rig_memory.fail_at = rig_memory.count + n;
    const ga_status status = ga_modal_body_create_beam(ctx, &d, 2, ENDS, END_NAMES, NULL, &body);
    failed = rig_memory.count >= rig_memory.fail_at;
    rig_memory.fail_at = 0;
    assert_int_equal(status, failed ? GA_ERR_MEMORY : GA_OK);
    ga_modal_body_destroy(&body);
    assert_int_equal(rig_memory.live, live);
  }
  ga_context_destroy(&ctx);
}

static ga_modal_body *failing_body;
static shop failing_arm(void)
{
  return arm_shop(GA_FORM_SE3, failing_body, 1);
}

static void memory_may_fail(void **state)
{
  ga_context *ctx = open_context();
  (void)state;
  for (long n = 1, failed = 1; failed; n += rig_brief() ? 11 : 1) {
    test_mesh *t = mesh_chain(40);
    ga_modal_body *body = NULL;
    mesh_close(ctx, t);
    const long live = rig_memory.live;
    rig_memory.fail_at = rig_memory.count + n;
    const ga_status status = ga_modal_body_create(ctx, &t->mesh, NULL, &body);
    failed = rig_memory.count >= rig_memory.fail_at;
    rig_memory.fail_at = 0;
    assert_int_equal(status, failed ? GA_ERR_MEMORY : GA_OK);
    ga_modal_body_destroy(&body);
    assert_int_equal(rig_memory.live, live);
    mesh_free(ctx, &t);
  }
  failing_body = reduce(ctx, mesh_chain(40), GA_REDUCTION_CRAIG_BAMPTON, 2);
  shop_fail_memory(failing_arm);
  rig_memory = (rig_heap){0, 0, 0, 0};
  ga_modal_body_destroy(&failing_body);
  ga_context_destroy(&ctx);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(derivatives_are_right),
      cmocka_unit_test(kinetic_energy_is_that_of_nodes),
      cmocka_unit_test(energy_and_momentum_stay),
      cmocka_unit_test(modal_body_moves_as_its_mesh),
      cmocka_unit_test(stiff_modal_bodies_are_rigid),
      cmocka_unit_test(order_is_two),
      cmocka_unit_test(turned_machines_move_alike),
      cmocka_unit_test(modes_are_those_of_the_mesh),
      cmocka_unit_test(damping_is_as_given),
      cmocka_unit_test(signals_are_right),
      cmocka_unit_test(bad_meshes_are_refused),
      cmocka_unit_test(markers_off_the_interface_are_refused),
      cmocka_unit_test(memory_may_fail),
      cmocka_unit_test(beams_are_reduced),
      cmocka_unit_test(reduced_beams_move_as_beams),
      cmocka_unit_test(wrong_beams_are_refused),
      cmocka_unit_test(memory_for_beams_may_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
