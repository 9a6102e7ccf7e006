/* Markers on something that deforms: a bar on a rigid body, bent and stretched by two amplitudes.
 * Joints, springs, forces, contacts, sensors and expressions on such markers have right derivatives,
 * in every form. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/system.h"
#include "lie/mat3.h"
#include "mbs/channel.h"
#include "mbs/element.h"
#include "mbs_shop.h"

/* ---- The bar ---------------------------------------------------------------------------------------------
 *
 * Its point at (s, y, z) of the body's frame is at c = (s + s η₂, y + s² η₁, z), turned about z by 2 s η₁. */

enum { MODES = 2, MOST_FRAMES = 64 };

typedef struct bar_def {
  const char *body;
  double mass[MODES], stiffness[MODES], start[MODES];
} bar_def;

typedef struct bar {
  const bar_def *def;
  int body, modes; /* nodes */
  int self;
  int n_frames;
  double place[MOST_FRAMES][3];
} bar;

static ga_status create(ga_machine *m, ga__mbs_model *b, int part);

static ga_status want(ga__mbs_model *b, ga__element *el)
{
  const bar *u = el->data;
  return ga__want_block(b, u->modes, u->modes, 1);
}

static ga_status bind(ga__mbs_model *b, ga__element *el)
{
  bar *u = el->data;
  u->self = ga__find_pair(&b->pattern, u->modes, u->modes);
  return GA_OK;
}

static int mass(const ga__eval *e, const ga__element *el, double *out)
{
  const bar *u = el->data;
  const int v = GA__AT(e->b->node, ga__node, u->modes)->v;
  for (int i = 0; i < MODES; i++) out[v + i] += u->def->mass[i] * e->p->vdot[v + i];
  return 0;
}

static int force(const ga__eval *e, const ga__element *el, double *f)
{
  const bar *u = el->data;
  const ga__node *node = GA__AT(e->b->node, ga__node, u->modes);
  for (int i = 0; i < MODES; i++) f[node->v + i] -= u->def->stiffness[i] * e->p->q[node->q + i];
  return 0;
}

static int jacobian(const ga__eval *e, const ga__element *el, ga_jacobian *J)
{
  const bar *u = el->data;
  const double M[4] = {u->def->mass[0], 0, 0, u->def->mass[1]},
               K[4] = {u->def->stiffness[0], 0, 0, u->def->stiffness[1]};
  if (J->want & GA_WANT_D) ga__add_block(J->D, e->b, u->self, J->shift_vdot, M);
  if (ga__wants_forces(J) && J->want & GA_WANT_Q) ga__add_block(J->Q, e->b, u->self, 1, K);
  return 0;
}

static int powers(const ga__eval *e, const ga__element *el, ga__powers *out)
{
  const bar *u = el->data;
  const ga__node *node = GA__AT(e->b->node, ga__node, u->modes);
  for (int i = 0; i < MODES; i++) {
    const double q = e->p->q[node->q + i], v = e->p->v[node->v + i];
    out->kinetic += 0.5 * u->def->mass[i] * v * v;
    out->potential += 0.5 * u->def->stiffness[i] * q * q;
  }
  return 0;
}

/* A marker on the bar. */
static ga_status place(ga_machine *m, ga__mbs_model *b, int part, const ga_pose *pose, ga__marker *out)
{
  bar *u = ga__element_of(b, part)->data;
  const int carrier[2] = {u->body, u->modes};
  assert_true(u->n_frames < MOST_FRAMES);
  const double *com = GA__AT(b->node, ga__node, u->body)->com;
  for (int i = 0; i < 3; i++) u->place[u->n_frames][i] = pose->position[i] - com[i];
  memcpy(out->A, pose->rotation, sizeof out->A);
  return ga__carried_add(m, b, part, u->n_frames++, 2, carrier, &out->node);
}

/* ---- Its frames. With r = R c, g = R S η', h = R n ψ·η', n = z, and columns of δφ and δη ---- */

static void put_columns(double *to, int row, int column, int n, const double *M, int width, double scale)
{
  for (int r = 0; r < 3; r++)
    for (int c = 0; c < width; c++) to[(row + r) * n + column + c] += scale * M[width * r + c];
}

/* to[rows, 3 columns] += scale a~ b~ ..., given as a 3 × 3 matrix */
static void put_skew(double *to, int row, int column, int n, double scale, const double p[3])
{
  double M[9];
  ga__mat3_skew(M, scale, p);
  put_columns(to, row, column, n, M, 3, 1);
}

static void put_product(double *to, int row, int column, int n, double scale, const double p[3],
                        const double q[3])
{
  double P[9], Q[9], M[9];
  ga__mat3_skew(P, 1, p);
  ga__mat3_skew(Q, 1, q);
  ga__mat3_mul(M, P, Q);
  put_columns(to, row, column, n, M, 3, scale);
}

/* a × (columns of M) */
static void cross_columns(double out[6], const double a[3], const double M[6])
{
  for (int c = 0; c < MODES; c++) {
    const double x[3] = {M[c], M[MODES + c], M[2 * MODES + c]};
    double y[3];
    ga__vec3_cross(y, a, x);
    for (int r = 0; r < 3; r++) out[MODES * r + c] = y[r];
  }
}

static void carry(const ga__mbs_model *b, const ga__element *el, int number, const ga__carrier *carrier,
                  ga__carried_motion *out)
{
  enum { N = 6 + MODES };
  static const double zero[MODES] = {0, 0}, IDENTITY[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  const bar *u = el->data;
  const double *s = u->place[number], *eta = carrier[1].q;
  const double *rate = carrier[1].v ? carrier[1].v : zero, *acc = carrier[1].vdot ? carrier[1].vdot : zero;
  const ga__kin *k = carrier[0].kin;
  const double *w = k->w + 3, *a = k->acc + 3;
  const double S[6] = {0, s[0], s[0] * s[0], 0, 0, 0}, psi[MODES] = {2 * s[0], 0};
  const double c[3] = {s[0] + s[0] * eta[1], s[1] + s[0] * s[0] * eta[0], s[2]};
  const double turn = psi[0] * eta[0], Z[9] = {cos(turn), -sin(turn), 0, sin(turn), cos(turn), 0, 0, 0, 1};
  double r[3], RS[6], n[3] = {k->R[2], k->R[5], k->R[8]}, g[3] = {0}, gg[3] = {0}, h[3], hh[3], t[3], tt[3];
  (void)b;
  ga__mat3_mul_vec(r, k->R, c);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < MODES; j++) {
      RS[MODES * i + j] = 0;
      for (int l = 0; l < 3; l++) RS[MODES * i + j] += k->R[3 * i + l] * S[MODES * l + j];
      g[i] += RS[MODES * i + j] * rate[j];
      gg[i] += RS[MODES * i + j] * acc[j];
    }
  for (int i = 0; i < 3; i++) {
    h[i] = n[i] * (psi[0] * rate[0]);
    hh[i] = n[i] * (psi[0] * acc[0]);
    out->kin.x[i] = k->x[i] + r[i];
  }
  ga__mat3_mul(out->kin.R, k->R, Z);
  ga__vec3_cross(t, w, r);
  for (int i = 0; i < 3; i++) out->kin.w[i] = k->w[i] + t[i] + g[i], out->kin.w[3 + i] = w[i] + h[i];
  ga__vec3_cross(tt, w, t);
  for (int i = 0; i < 3; i++) out->kin.acc[i] = k->acc[i] + tt[i] + gg[i], out->kin.acc[3 + i] = a[i] + hh[i];
  ga__vec3_cross(t, a, r);
  ga__vec3_cross(tt, w, g);
  for (int i = 0; i < 3; i++) out->kin.acc[i] += t[i] + 2 * tt[i];
  ga__vec3_cross(t, w, h);
  for (int i = 0; i < 3; i++) out->kin.acc[3 + i] += t[i];
  if (!out->T) return;
  double npsi[6], wRS[6], wwRS[6], aRS[6], wnpsi[6];
  for (int i = 0; i < 3; i++) npsi[MODES * i] = n[i] * psi[0], npsi[MODES * i + 1] = 0;
  cross_columns(wRS, w, RS);
  cross_columns(wwRS, w, wRS);
  cross_columns(aRS, a, RS);
  cross_columns(wnpsi, w, npsi);
  double *const all[] = {out->T, out->rate_by_q, out->bias_by_v, out->acc_by_q};
  for (int i = 0; i < 4; i++) memset(all[i], 0, 6 * N * sizeof(double));
  put_columns(out->T, 0, 0, N, IDENTITY, 3, 1);
  put_columns(out->T, 3, 3, N, IDENTITY, 3, 1);
  put_skew(out->T, 0, 3, N, -1, r);
  put_columns(out->T, 0, 6, N, RS, MODES, 1);
  put_columns(out->T, 3, 6, N, npsi, MODES, 1);
  /* δ(ω × r) = −ω~ r~ δφ, δg = −g~ δφ, δ_η(ω × r) = ω × RS */
  put_product(out->rate_by_q, 0, 3, N, -1, w, r);
  put_skew(out->rate_by_q, 0, 3, N, -1, g);
  put_columns(out->rate_by_q, 0, 6, N, wRS, MODES, 1);
  put_skew(out->rate_by_q, 3, 3, N, -1, h);
  /* ω × (ω × r) + 2 ω × g by ω: −(ω × r)~ − ω~ r~ − 2 g~; by η': 2 ω × RS; ω × h: −h~, ω × nψ */
  ga__vec3_cross(t, w, r);
  put_skew(out->bias_by_v, 0, 3, N, -1, t);
  put_product(out->bias_by_v, 0, 3, N, -1, w, r);
  put_skew(out->bias_by_v, 0, 3, N, -2, g);
  put_columns(out->bias_by_v, 0, 6, N, wRS, MODES, 2);
  put_skew(out->bias_by_v, 3, 3, N, -1, h);
  put_columns(out->bias_by_v, 3, 6, N, wnpsi, MODES, 1);
  /* by φ: ω' × (δφ × r) + ω × (ω × (δφ × r)) + 2 ω × (δφ × g) + δφ × gg; by η: (ω' × + ω × ω ×) RS */
  double W[9], P[9], M[9];
  put_product(out->acc_by_q, 0, 3, N, -1, a, r);
  ga__mat3_skew(W, 1, w);
  ga__mat3_skew(P, 1, r);
  ga__mat3_mul(M, W, P);
  ga__mat3_mul(P, W, M);
  put_columns(out->acc_by_q, 0, 3, N, P, 3, -1);
  put_product(out->acc_by_q, 0, 3, N, -2, w, g);
  put_skew(out->acc_by_q, 0, 3, N, -1, gg);
  put_columns(out->acc_by_q, 0, 6, N, aRS, MODES, 1);
  put_columns(out->acc_by_q, 0, 6, N, wwRS, MODES, 1);
  put_product(out->acc_by_q, 3, 3, N, -1, w, h);
  put_skew(out->acc_by_q, 3, 3, N, -1, hh);
  /* Tᵀ p = (F, r × F + M, (RS)ᵀ F + (nψ)ᵀ M): by φ: F~ r~, (RS)ᵀ F~ + (nψ)ᵀ M~; by η: −F~ RS */
  const double *F = out->wrench, *Mo = out->wrench + 3;
  memset(out->force_by_q, 0, N * N * sizeof(double));
  put_product(out->force_by_q, 3, 3, N, 1, F, r);
  double FRS[6];
  cross_columns(FRS, F, RS);
  put_columns(out->force_by_q, 3, 6, N, FRS, MODES, -1);
  for (int i = 0; i < MODES; i++)
    for (int j = 0; j < 3; j++) {
      double sum = 0, Fs[9], Ms[9];
      ga__mat3_skew(Fs, 1, F);
      ga__mat3_skew(Ms, 1, Mo);
      for (int l = 0; l < 3; l++)
        sum += RS[MODES * l + i] * Fs[3 * l + j] + npsi[MODES * l + i] * Ms[3 * l + j];
      out->force_by_q[(6 + i) * N + 3 + j] = sum;
    }
}

static const ga__element_type BAR = {
    .rank = GA__RANK_OTHER,
    .size = sizeof(bar),
    .create = {[GA__CREATE_BODIES] = create},
    .want = want,
    .bind = bind,
    .mass = mass,
    .force = force,
    .jacobian = jacobian,
    .place = place,
    .carry = carry,
    .powers = powers,
};

static ga_status create(ga_machine *m, ga__mbs_model *b, int part)
{
  const bar_def *d = ga__element_def_of(b, part);
  const ga__element *el = ga__element_add(m, b, part, &BAR, 0, 0);
  if (!el) return GA_ERR_MEMORY;
  bar *u = el->data;
  u->def = d;
  u->body = b->part_node[ga__find_part(m, d->body)];
  return ga__node_add_vector(m, b, part, MODES, d->start, NULL, &u->modes);
}

/* ---- Tests ---- */

static const bar_def BENT = {"arm", {0.3, 0.4}, {40, 90}, {0.2, -0.1}};

static shop bar_shop(ga_form form)
{
  static const ga__element_def bent = {"bar", &BAR, &BENT};
  shop s = shop_open(form, -9.81);
  shop_rigid(&s, "arm", 0, 0, 0);
  shop_rigid(&s, "leg", 1.5, 0.4, -0.3);
  shop_point(&s, "bead", 0.3, -1.2, 0.8);
  assert_status(s.ctx, ga__machine_add_element(s.m, &bent), GA_OK);
  shop_marker(&s, "tip", "bar", 1.1, 0.1, -0.2);
  shop_marker(&s, "middle", "bar", 0.6, -0.1, 0.1);
  shop_marker(&s, "toe", "leg", -0.2, 0.1, 0.3);
  return s;
}

/* What acts on a marker, one by one. */
static void add_user(shop *s, int k)
{
  if (k < 10) {
    static const ga_joint_kind kind[10] = {
        GA_JOINT_FIXED,     GA_JOINT_REVOLUTE,         GA_JOINT_PRISMATIC, GA_JOINT_UNIVERSAL,
        GA_JOINT_SPHERICAL, GA_JOINT_DISTANCE,         GA_JOINT_PLANAR,    GA_JOINT_POINT_ON_LINE,
        GA_JOINT_SCREW,     GA_JOINT_CONSTANT_VELOCITY};
    ga_joint_def d = ga_joint_defaults();
    d.name = "joint", d.kind = kind[k], d.a = k % 2 ? "tip" : "toe", d.b = k % 2 ? "toe" : "tip";
    d.pitch = 0.1;
    SHOP_ADD(s, joint, &d);
  } else if (k == 10) {
    ga_spring_def d = ga_spring_defaults();
    d.name = "spring", d.a = "tip", d.b = "middle", d.stiffness = 30, d.damping = 2, d.rest = 0.2;
    SHOP_ADD(s, spring, &d);
  } else if (k == 11) {
    ga_bushing_def d = ga_bushing_defaults();
    d.name = "bushing", d.a = "middle", d.b = "toe";
    for (int i = 0; i < 6; i++) d.stiffness[7 * i] = 10 + i, d.damping[7 * i] = 1;
    SHOP_ADD(s, bushing, &d);
  } else if (k == 12) {
    ga_force_def d = ga_force_defaults();
    d.name = "force", d.frame = "tip", d.axes = GA_AXES_BODY;
    d.force[0].value = 3, d.force[1].expression = "2*tip.vx + tip.ay - middle.z", d.torque[2].value = -1;
    SHOP_ADD(s, force, &d);
  } else if (k == 13) {
    ga_force_def d = ga_force_defaults();
    d.name = "force", d.frame = "bead";
    d.force[0].expression = "0.3*tip.ax + 0.2*middle.wz", d.force[1].expression = "seen.x";
    ga_sensor_def see = ga_sensor_defaults();
    see.name = "seen", see.kind = GA_SENSOR_SPECIFIC_FORCE, see.of = "middle", see.axes = "tip";
    SHOP_ADD(s, sensor, &see);
    SHOP_ADD(s, force, &d);
  } else if (k > 14 && k < 18) {
    static const char *const zero[] = {"tip.z*middle.x - sin(tip.y) - bead.y*t",
                                       "tip.vx*middle.wz + (tip.vy + 2)^2*toe.vz - tip.x",
                                       "middle.vz - 0.3*tip.vx*tip.y"};
    ga_constraint_def d = ga_constraint_defaults();
    d.name = "zero", d.zero = zero[k - 15];
    SHOP_ADD(s, constraint, &d);
  } else if (k > 18) { /* the plane is on the tip */
    ga_rolling_def d = ga_rolling_defaults();
    ga_force_def feel = ga_force_defaults();
    d.name = "roll", d.kind = (ga_rolling_kind)(k - 19);
    d.body = "toe", d.plane = "tip";
    if (d.kind != GA_ROLLING_KNIFE) d.radius = 0.3;
    feel.name = "feel", feel.frame = "bead";
    feel.force[0].expression =
        d.kind == GA_ROLLING_KNIFE ? "roll.fx - 2*roll.fz" : "roll.fx - 2*roll.fz + 3*roll.px - roll.pz";
    SHOP_ADD(s, rolling, &d);
    SHOP_ADD(s, force, &feel);
  } else {
    ga_contact_def d = ga_contact_defaults();
    d.name = "contact", d.plane = "ground", d.point = "tip", d.radius = 2, d.stiffness = 500, d.mu = 0.3;
    d.exponent = 1.5, d.dissipation = 0.1, d.speed = 0.1;
    SHOP_ADD(s, contact, &d);
  }
}

static void derivatives_are_right(void **state)
{
  (void)state;
  for (int form = 0; form < 3; form++)
    for (int k = 0; k < 22; k++) {
      char what[40];
      rig_random random = rig_seed(100 * form + k);
      shop s = bar_shop((ga_form)form);
      add_user(&s, k);
      shop_build(&s);
      assert_true(ga_machine_system(s.m)->def.sweep != NULL);
      snprintf(what, sizeof what, "%s, number %d", SHOP_FORM[form], k);
      shop_check(&s, &random, rig_brief() ? 1 : 3, 0.1, 3e-6, what);
      shop_close(&s);
    }
}

/* Frames are no unknowns: there may be more of them than velocities, with nodes behind them. */
static void frames_may_be_many(void **state)
{
  enum { N = 60 };
  static char name[N][20];
  rig_random random = rig_seed(7);
  (void)state;
  shop s = bar_shop(GA_FORM_SPACE);
  for (int i = 0; i < N; i++) {
    snprintf(name[i], sizeof name[i], "frame%d", i);
    shop_marker(&s, name[i], "bar", 0.02 * i, 0, 0);
  }
  add_user(&s, 8);
  shop_build(&s);
  assert_true(ga_system_size(ga_machine_system(s.m), GA_BLOCK_V) < N);
  shop_check(&s, &random, 1, 0.1, 3e-6, "many frames");
  shop_close(&s);
}

/* A frame's velocity and acceleration are the rates of its place, along a motion of the machine. */
static void frames_move_as_they_say(void **state)
{
  static const char *const name[] = {"tip.x", "tip.y", "tip.z", "tip.vx", "tip.vy", "tip.vz"},
                           *const rate[] = {"tip.vx", "tip.vy", "tip.vz", "tip.ax", "tip.ay", "tip.az"};
  const double h = 1e-3;
  (void)state;
  shop s = bar_shop(GA_FORM_SPACE);
  add_user(&s, 10);
  shop_start(&s);
  for (int i = 0; i < 200; i++) assert_status(s.ctx, ga_stepper_step(s.st, h), GA_OK);
  for (int i = 0; i < 6; i++) {
    double at[3], speed = 0;
    for (int k = 0; k < 3; k++) {
      at[k] = shop_signal(&s, ga_stepper_state(s.st), name[i]);
      if (k == 1) speed = shop_signal(&s, ga_stepper_state(s.st), rate[i]);
      assert_status(s.ctx, ga_stepper_step(s.st, h), GA_OK);
    }
    assert_near((at[2] - at[0]) / (2 * h), speed, 2e-3 * (1 + fabs(speed)), name[i]);
  }
  shop_close(&s);
}

/* The pose and the shapes of what is on a bent tip are where its signals have it. */
static void tips_are_seen_where_they_are(void **state)
{
  static const char *const axis[] = {"tip.x", "tip.y", "tip.z"};
  ga_pose pose;
  int coils = 0;
  (void)state;
  shop s = bar_shop(GA_FORM_SPACE);
  add_user(&s, 10);
  shop_start(&s);
  for (int i = 0; i < 100; i++) assert_status(s.ctx, ga_stepper_step(s.st, 1e-3), GA_OK);
  const ga_state *at = ga_stepper_state(s.st);
  assert_status(s.ctx, ga_machine_pose(s.m, at, "tip", &pose), GA_OK);
  for (int i = 0; i < 3; i++)
    assert_near(pose.position[i], shop_signal(&s, at, axis[i]), 1e-14, "the pose of the tip");
  for (int i = 0; i < ga_machine_n_shapes(s.m); i++) {
    ga_shape shape;
    assert_status(s.ctx, ga_machine_shape(s.m, at, i, &shape), GA_OK);
    if (shape.kind != GA_SHAPE_COIL) continue;
    coils++;
    assert_string_equal(shape.part, "spring");
    assert_int_equal(shape.n_ends, 2);
    for (int k = 0; k < 3; k++)
      assert_near(shape.end[0].position[k], pose.position[k], 1e-14, "the spring's end");
  }
  assert_int_equal(coils, 1);
  ga_shape none;
  assert_status(s.ctx, ga_machine_shape(s.m, at, ga_machine_n_shapes(s.m), &none), GA_ERR_ARGUMENT);
  assert_status(s.ctx, ga_machine_shape(s.m, at, -1, &none), GA_ERR_ARGUMENT);
  shop_close(&s);
}

/* A bar that hangs on the ground by a hinge at its bent tip and swings: energy is kept, at second order. */
static void energy_is_kept(void **state)
{
  double off[2];
  (void)state;
  for (int level = 0; level < 2; level++) {
    shop s = bar_shop(GA_FORM_SPACE);
    ga_joint_def d = ga_joint_defaults();
    ga_meter *meter = NULL;
    const int n = 200 << level;
    d.name = "hinge", d.kind = GA_JOINT_REVOLUTE, d.a = "anchor", d.b = "tip";
    ga_marker_def anchor = ga_marker_defaults();
    anchor.name = "anchor", anchor.body = "ground";
    anchor.pose = ga_pose_at(1.2, 0.6, 0.1);
    SHOP_ADD(&s, marker, &anchor);
    SHOP_ADD(&s, joint, &d);
    shop_build(&s);
    const ga_stepper_opts opts = ga_stepper_defaults();
    ga_start_opts o = ga_start_defaults();
    double q0[RIG_MOST], v0[RIG_MOST], x0[RIG_MOST];
    o.h = 1.0 / n;
    o.max_change = HUGE_VAL;
    assert_status(s.ctx, ga_machine_initial(s.m, q0, v0, x0), GA_OK);
    assert_status(s.ctx, ga_stepper_create(s.ctx, ga_machine_system(s.m), &opts, &s.st), GA_OK);
    assert_status(s.ctx, ga_stepper_start(s.st, &o, 0, q0, v0, x0, NULL, NULL, NULL), GA_OK);
    assert_status(s.ctx, ga_meter_create(s.ctx, s.m, &meter), GA_OK);
    assert_status(s.ctx, ga_meter_start(meter, ga_stepper_state(s.st)), GA_OK);
    for (int i = 0; i < n; i++) {
      assert_status(s.ctx, ga_stepper_step(s.st, 1.0 / n), GA_OK);
      assert_status(s.ctx, ga_meter_update(meter, ga_stepper_state(s.st)), GA_OK);
    }
    const int index = ga_machine_find_signal(s.m, "energy.balance");
    assert_status(s.ctx, ga_machine_signals(s.m, meter, ga_stepper_state(s.st), 1, &index, &off[level]),
                  GA_OK);
    assert_near(shop_signal(&s, ga_stepper_state(s.st), "tip.x"), 1.2, 1e-9, "the hinge holds the tip");
    ga_meter_destroy(&meter);
    shop_close(&s);
  }
  assert_true(fabs(off[1]) < 1e-2);
  assert_near(log2(fabs(off[0] / off[1])), 2, 0.4, "order of the energy balance");
}

/* Nodes of elements may lie between those of bodies: these are placed by joints as ever. */
static void bodies_are_placed_behind_it(void **state)
{
  static const ga__element_def bent = {"bar", &BAR, &BENT};
  ga_joint_def d = ga_joint_defaults();
  (void)state;
  shop s = shop_open(GA_FORM_SPACE, 0);
  shop_rigid(&s, "arm", 0, 0, 0);
  assert_status(s.ctx, ga__machine_add_element(s.m, &bent), GA_OK);
  shop_rigid(&s, "leg", 1.5, 0.4, -0.3);
  d.name = "hinge", d.kind = GA_JOINT_REVOLUTE, d.a = "ground", d.b = "leg", d.angle = 0.7;
  SHOP_ADD(&s, joint, &d);
  const ga_state *at = shop_start(&s);
  assert_near(shop_signal(&s, at, "hinge.angle"), 0.7, 1e-12, "the angle that was given");
  assert_near(at->q[12], 0.2, 1e-12, "the amplitude that was given");
  shop_close(&s);
}

/* A tip that is joined to the ground, of a bar on a body that is held: amplitudes and their rates alone can
 * meet that, s (1 + η₂) = 1.0 and y + s² η₁ = 0.36, s η₂' = −0.3 and s² η₁' = −0.2. They are found once, as
 * the machine is built: the start has nothing to move. */
static void amplitudes_are_assembled(void **state)
{
  static const ga__element_def bent = {"bar", &BAR, &BENT};
  const double expected[4] = {0.26 / 1.21, -0.1 / 1.1, -0.2 / 1.21, -0.3 / 1.1};
  double q0[RIG_MOST], v0[RIG_MOST], x0[RIG_MOST];
  ga_rigid_def arm = ga_rigid_defaults();
  ga_joint_def d = ga_joint_defaults();
  char text[400];
  (void)state;
  shop s = shop_open(GA_FORM_SE3, -9.81);
  arm.name = "arm", arm.mass = 2, arm.hold = GA_HOLD_BOTH;
  arm.inertia[0] = arm.inertia[1] = arm.inertia[2] = 1;
  arm.velocity[0] = 0.3, arm.velocity[1] = 0.2;
  SHOP_ADD(&s, rigid, &arm);
  assert_status(s.ctx, ga__machine_add_element(s.m, &bent), GA_OK);
  shop_marker(&s, "tip", "bar", 1.1, 0.1, -0.2);
  shop_marker(&s, "anchor", "ground", 1.0, 0.36, -0.2);
  d.name = "ball", d.kind = GA_JOINT_SPHERICAL, d.a = "anchor", d.b = "tip";
  SHOP_ADD(&s, joint, &d);
  const ga_state *at = shop_start(&s);
  assert_status(s.ctx, ga_machine_initial(s.m, q0, v0, x0), GA_OK);
  for (int i = 0; i < 2; i++) {
    assert_near(q0[12 + i], expected[i], 1e-12, "an amplitude as it is assembled");
    assert_near(v0[6 + i], expected[2 + i], 1e-12, "its rate");
    assert_near(at->q[12 + i], q0[12 + i], 1e-15, "an amplitude at the start");
    assert_near(at->v[6 + i], v0[6 + i], 1e-12, "its rate");
  }
  assert_true(ga_machine_moves(s.m, s.st, text, sizeof text) > 0);
  assert_string_equal(text,
                      "bar: its coordinates were changed by up to 0.0149, their rates by up to 0.273\n");
  shop_close(&s);
}

static shop hinged_bar(void)
{
  shop s = bar_shop(GA_FORM_SE3);
  add_user(&s, 1);
  return s;
}

static void memory_may_fail(void **state)
{
  (void)state;
  shop_fail_memory(hinged_bar);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(derivatives_are_right),        cmocka_unit_test(frames_move_as_they_say),
      cmocka_unit_test(tips_are_seen_where_they_are), cmocka_unit_test(energy_is_kept),
      cmocka_unit_test(bodies_are_placed_behind_it),  cmocka_unit_test(memory_may_fail),
      cmocka_unit_test(frames_may_be_many),           cmocka_unit_test(amplitudes_are_assembled),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
