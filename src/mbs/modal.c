/* Modal bodies as parts: a floating frame, which is a rigid body's node with the body's mass and inertia, and
 * amplitudes of modes. body.c has the inertia of the rigid body; what deformation adds is here.
 *
 * With ω, ω' in the frame's axes, modal.h's J, C, A_a = ∂J/∂η_a = J1_a + Σ_b η_b J2_ab, c_a = Σ_b η_b C_ba
 * and dJ = J − J₀ (Lagrange's equations for η, Euler's for the frame; translations are not coupled at all):
 *
 *   torque    dJ ω' + Σ c_a η''_a + J' ω + Σ_ab η'_a η'_b C_ba + ω × (dJ ω + Σ c_a η'_a)
 *   mode a    m η''_a + c_a·ω' + ω·Σ_b η'_b (C_ba − C_ab) − ½ ω·A_a ω + d_a η'_a + m λ_a η_a
 *
 * Weight does no work on modes, since these have no momentum. */
#include "expr/same.h"
#include "mbs/selected.h"
#include "mbs/modal.h"
#include "mbs/channel.h"

#include "lie/mat3.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* [m] of an interface node, relative to the size: where a marker is taken to be at it. */
#define AT_NODE 1e-6

typedef struct modal {
  const ga_modal_body *body;
  int node, eta;  /* nodes: floating frame, amplitudes */
  int pair[4];    /* node by node, node by eta, eta by node, eta by eta */
  int *frame;     /* [points] carried node at the interface node, −1: none */
  double *damper; /* [n] [kg/s] d_a */
  int damped;
} modal;

static const modal *modal_of(const ga__mbs_model *b, int part)
{
  const ga__element *el = ga__element_of(b, part);
  return el ? el->data : NULL;
}

/* ---- Creation ---- */

static ga_status create(ga_machine *m, ga__mbs_model *b, int part)
{
  const ga_modal_def *d = m->part[part].def;
  const ga_modal_body *body = d->body;
  const ga__element *el = ga__element_add(m, b, part, &ga__modal_type, 0, 0);
  if (!el) return GA_ERR_MEMORY;
  modal *u = el->data;
  u->body = body;
  u->damper = ga__alloc(m->ctx, (size_t)body->n, sizeof *u->damper);
  u->frame = ga__alloc(m->ctx, (size_t)body->n_points + 1, sizeof *u->frame);
  if (!u->damper || !u->frame) return ga__no_memory(m->ctx, "a modal body");
  for (int i = 0; i < body->n_points; i++) u->frame[i] = -1;
  for (int a = 0; a < body->n; a++) {
    const double ratio = body->ratio ? body->ratio[a] : d->damping, lambda = body->lambda[a];
    u->damper[a] = body->mass * (2 * ratio * sqrt(lambda) + d->mass_damping + d->stiffness_damping * lambda);
    u->damped |= u->damper[a] > 0;
  }
  double arm[3], x[3], turn[3];
  ga__mat3_mul_vec(arm, d->pose.rotation, body->centre);
  ga__vec3_cross(turn, d->omega, arm);
  for (int i = 0; i < 3; i++) x[i] = d->pose.position[i] + arm[i];
  ga_status status = ga__node_add_rigid(m, b, part, body->mass, body->J, x, d->pose.rotation, &u->node);
  if (status) return status;
  ga__node *node = GA__AT(b->node, ga__node, u->node);
  memcpy(node->com, body->centre, sizeof node->com);
  for (int i = 0; i < 3; i++) node->v0[i] = d->velocity[i] + turn[i], node->v0[3 + i] = d->omega[i];
  status = ga__node_add_vector(m, b, part, body->n, NULL, NULL, &u->eta);
  ga__marker *own = status ? NULL : ga__list_add(m->ctx, &b->marker);
  if (!own) return status ? status : GA_ERR_MEMORY;
  own->node = u->node;
  for (int i = 0; i < 3; i++) own->s[i] = -body->centre[i];
  own->A[0] = own->A[4] = own->A[8] = 1;
  b->part_node[part] = u->node;
  b->part_marker[part] = b->marker.n - 1;
  return GA_OK;
}

static void release(ga_context *ctx, ga__element *el)
{
  modal *u = el->data;
  ga__free(ctx, u->damper);
  ga__free(ctx, u->frame);
}

/* ---- Frames ---- */

/* Markers are at interface nodes; several share one frame. */
static ga_status place(ga_machine *m, ga__mbs_model *b, int part, const ga_pose *pose, ga__marker *out)
{
  modal *u = ga__element_of(b, part)->data;
  const ga_modal_body *body = u->body;
  int nearest = -1;
  double least = HUGE_VAL;
  for (int i = 0; i < body->n_points; i++) {
    double square = 0.0;
    for (int c = 0; c < 3; c++) {
      const double d = pose->position[c] - body->point[i].place[c];
      square += d * d;
    }
    if (square < least) least = square, nearest = i;
  }
  if (nearest < 0 || !(sqrt(least) <= AT_NODE * body->size)) {
    char name[GA_ERROR_NAME] = "";
    if (nearest >= 0) snprintf(name, sizeof name, "%s.%s", m->part[part].name, body->point[nearest].name);
    return ga__refuse(
        m->ctx, GA_ERR_ARGUMENT, nearest < 0 ? GA_REASON_NO_INTERFACE : GA_REASON_OFF_INTERFACE,
        &(ga__facts){
            .field = "position", .name = m->part[part].name, .other = name, GA__NUMBERS({sqrt(least), "m"})});
  }
  const int carrier[2] = {u->node, u->eta};
  ga_status status = GA_OK;
  if (u->frame[nearest] < 0) status = ga__carried_add(m, b, part, nearest, 2, carrier, &u->frame[nearest]);
  out->node = u->frame[nearest];
  memcpy(out->A, pose->rotation, sizeof out->A);
  return status;
}

static void carry(const ga__mbs_model *b, const ga__element *el, int number, const ga__carrier *carrier,
                  ga__carried_motion *out)
{
  const modal *u = el->data;
  (void)b;
  ga__modal_carry(&u->body->point[number], u->body->centre, u->body->n, carrier, out);
}

/* ---- The pattern ---- */

static int node_at(const modal *u, int i)
{
  return i ? u->eta : u->node;
}

static ga_status want(ga__mbs_model *b, ga__element *el)
{
  const modal *u = el->data;
  ga_status status = GA_OK;
  for (int i = 0; i < 4 && !status; i++) status = ga__want_block(b, node_at(u, i / 2), node_at(u, i % 2), 1);
  return status;
}

static ga_status bind(ga__mbs_model *b, ga__element *el)
{
  modal *u = el->data;
  for (int i = 0; i < 4; i++) u->pair[i] = ga__find_pair(&b->pattern, node_at(u, i / 2), node_at(u, i % 2));
  return GA_OK;
}

/* ---- Evaluation ---- */

/* Of one evaluation, in axes of the frame. */
typedef struct view {
  int n;
  const ga_modal_body *body;
  const double *R, *eta, *rate, *acc; /* rotation of the frame; η, η', η'' (NULL: not there) */
  double w[3], a[3];                  /* ω, ω' */
  double dJ[9], J_rate[9];
  double c_rate[3], c_acc[3]; /* Σ c_a η'_a, Σ c_a η''_a */
  double twice[3];            /* Σ η'_a η'_b C_ba */
  double *A, *c;              /* [n][9], [n][3] */
  double *plus, *minus;       /* [n][3] Σ_b η'_b (C_ba + C_ab), Σ_b η'_b (C_ba − C_ab) */
  double *M;                  /* [(6 + n)²] room for a block */
} view;

static size_t scratch(const ga__element *el)
{
  const size_t n = (size_t)((const modal *)el->data)->body->n;
  return 18 * n + (6 + n) * (6 + n);
}

static void add_scaled(int n, double *to, double scale, const double *x)
{
  for (int i = 0; i < n; i++) to[i] += scale * x[i];
}

static view view_at(const ga__eval *e, const modal *u)
{
  const ga_modal_body *body = u->body;
  const ga__node *eta = GA__AT(e->b->node, ga__node, u->eta);
  const ga__kin *k = &e->kin[u->node];
  const int n = body->n;
  view v = {.n = n, .body = body, .R = k->R, .eta = e->p->q + eta->q};
  v.rate = e->p->v ? e->p->v + eta->v : NULL;
  v.acc = e->p->vdot ? e->p->vdot + eta->v : NULL;
  v.A = e->work->scratch;
  v.c = v.A + 9 * n;
  v.plus = v.c + 3 * n;
  v.minus = v.plus + 3 * n;
  v.M = v.minus + 3 * n;
  ga__mat3_tmul_vec(v.w, k->R, k->w + 3);
  ga__mat3_tmul_vec(v.a, k->R, k->acc + 3);
  memset(v.A, 0, 18 * (size_t)n * sizeof *v.A);
  for (int a = 0; a < n; a++) {
    const double rate = v.rate ? v.rate[a] : 0.0;
    memcpy(v.A + 9 * a, body->J1 + 9 * a, 9 * sizeof *v.A);
    for (int b = 0; b < n; b++) {
      const double *C_ba = body->C + 3 * (b * n + a), *C_ab = body->C + 3 * (a * n + b);
      add_scaled(9, v.A + 9 * a, v.eta[b], body->J2 + 9 * (a * n + b));
      add_scaled(3, v.c + 3 * a, v.eta[b], C_ba);
      if (!v.rate) continue;
      for (int i = 0; i < 3; i++) {
        v.plus[3 * a + i] += v.rate[b] * (C_ba[i] + C_ab[i]);
        v.minus[3 * a + i] += v.rate[b] * (C_ba[i] - C_ab[i]);
      }
    }
    for (int i = 0; i < 9; i++) v.dJ[i] += 0.5 * v.eta[a] * (body->J1[9 * a + i] + v.A[9 * a + i]);
    add_scaled(9, v.J_rate, rate, v.A + 9 * a);
    add_scaled(3, v.c_rate, rate, v.c + 3 * a);
    add_scaled(3, v.twice, 0.5 * rate, v.plus + 3 * a);
    if (v.acc) add_scaled(3, v.c_acc, v.acc[a], v.c + 3 * a);
  }
  return v;
}

/* Torque and forces on modes that accelerations need. */
static void inertia_of(const view *v, double torque[3], double *modes)
{
  ga__mat3_mul_vec(torque, v->dJ, v->a);
  add_scaled(3, torque, 1, v->c_acc);
  for (int a = 0; a < v->n; a++)
    modes[a] = (v->acc ? v->body->mass * v->acc[a] : 0.0) + ga__vec3_dot(v->c + 3 * a, v->a);
}

/* The same for all else. */
static void resistance_of(const modal *u, const view *v, double torque[3], double *modes)
{
  double Jw[3], x[3], y[3];
  ga__mat3_mul_vec(Jw, v->dJ, v->w);
  add_scaled(3, Jw, 1, v->c_rate);
  ga__vec3_cross(torque, v->w, Jw);
  ga__mat3_mul_vec(x, v->J_rate, v->w);
  for (int i = 0; i < 3; i++) torque[i] += x[i] + v->twice[i];
  for (int a = 0; a < v->n; a++) {
    ga__mat3_mul_vec(y, v->A + 9 * a, v->w);
    modes[a] = ga__vec3_dot(v->minus + 3 * a, v->w) - 0.5 * ga__vec3_dot(v->w, y) +
               v->body->mass * v->body->lambda[a] * v->eta[a] + (v->rate ? u->damper[a] * v->rate[a] : 0.0);
  }
}

static void add_rows(const ga__eval *e, const modal *u, double scale, const double torque[3],
                     const double *modes, double *to)
{
  const ga__node *node = GA__AT(e->b->node, ga__node, u->node), *eta = GA__AT(e->b->node, ga__node, u->eta);
  double in_space[3];
  ga__mat3_mul_vec(in_space, e->kin[u->node].R, torque);
  add_scaled(3, to + node->v + 3, scale, in_space);
  add_scaled(u->body->n, to + eta->v, scale, modes);
}

/* [s²] In an assembly bodies are moved, and not deformed unless loops close in no other way. */
#define STAYS 1e4

/* While a machine is assembled, what is moved least: amplitudes count by their stiffness too, so that bodies
 * are not bent where they can be moved. */
static double extra_mass(const ga__eval *e, const modal *u, int a)
{
  return e->b->stage == GA__STAGE_MACHINE ? 0.0 : STAYS * u->body->mass * u->body->lambda[a];
}

static int mass(const ga__eval *e, const ga__element *el, double *out)
{
  const modal *u = el->data;
  const view v = view_at(e, u);
  double torque[3];
  inertia_of(&v, torque, v.M);
  for (int a = 0; a < v.n && v.acc; a++) v.M[a] += extra_mass(e, u, a) * v.acc[a];
  add_rows(e, u, 1, torque, v.M, out);
  return 0;
}

static int force(const ga__eval *e, const ga__element *el, double *f)
{
  const modal *u = el->data;
  const view v = view_at(e, u);
  double torque[3];
  resistance_of(u, &v, torque, v.M);
  add_rows(e, u, -1, torque, v.M, f);
  return 0;
}

/* ---- Derivatives ---- */

/* R X Rᵀ */
static void to_space(const double R[9], const double X[9], double out[9])
{
  double Rt[9], RX[9];
  ga__mat3_transpose(Rt, R);
  ga__mat3_mul(RX, R, X);
  ga__mat3_mul(out, RX, Rt);
}

/* The torque by (ω', ω) in the frame's axes. */
static void torque_by_w(const view *v, double X[9])
{
  double Jw[3], S[9], W[9], WJ[9];
  ga__mat3_mul_vec(Jw, v->dJ, v->w);
  add_scaled(3, Jw, 1, v->c_rate);
  ga__mat3_skew(S, 1, Jw);
  ga__mat3_skew(W, 1, v->w);
  ga__mat3_mul(WJ, W, v->dJ);
  for (int i = 0; i < 9; i++) X[i] = v->J_rate[i] - S[i] + WJ[i];
}

/* Mode a by ω: Σ_b η'_b (C_ba − C_ab) − A_a ω */
static void mode_by_w(const view *v, int a, double x[3])
{
  double Aw[3];
  ga__mat3_mul_vec(Aw, v->A + 9 * a, v->w);
  for (int i = 0; i < 3; i++) x[i] = v->minus[3 * a + i] - Aw[i];
}

/* The torque by η'_a: A_a ω + Σ_b η'_b (C_ba + C_ab) + ω × c_a */
static void torque_by_rate(const view *v, int a, double x[3])
{
  double Aw[3], wc[3];
  ga__mat3_mul_vec(Aw, v->A + 9 * a, v->w);
  ga__vec3_cross(wc, v->w, v->c + 3 * a);
  for (int i = 0; i < 3; i++) x[i] = Aw[i] + v->plus[3 * a + i] + wc[i];
}

/* The torque by η_b */
static void torque_by_eta(const view *v, int b, double x[3])
{
  const int n = v->n;
  double Jw[3] = {0, 0, 0}, y[3], rate[9] = {0};
  ga__mat3_mul_vec(x, v->A + 9 * b, v->a);
  ga__mat3_mul_vec(Jw, v->A + 9 * b, v->w);
  for (int a = 0; a < n; a++) {
    const double *C_ba = v->body->C + 3 * (b * n + a);
    if (v->acc) add_scaled(3, x, v->acc[a], C_ba);
    if (!v->rate) continue;
    add_scaled(9, rate, v->rate[a], v->body->J2 + 9 * (a * n + b));
    add_scaled(3, Jw, v->rate[a], C_ba);
  }
  ga__mat3_mul_vec(y, rate, v->w);
  add_scaled(3, x, 1, y);
  ga__vec3_cross(y, v->w, Jw);
  add_scaled(3, x, 1, y);
}

/* Column c of a block of 6 rows: a torque, turned to space. */
static void set_torque(const view *v, int c, int columns, const double x[3], double *M)
{
  double y[3];
  ga__mat3_mul_vec(y, v->R, x);
  for (int i = 0; i < 3; i++) M[(3 + i) * columns + c] = y[i];
}

static void clear(const view *v)
{
  memset(v->M, 0, (size_t)(6 + v->n) * (size_t)(6 + v->n) * sizeof *v->M);
}

static void set_square(const view *v, const double X[9])
{
  clear(v);
  for (int i = 0; i < 9; i++) v->M[(3 + i / 3) * 6 + 3 + i % 3] = X[i];
}

static void add_d(const ga__eval *e, const modal *u, const view *v, ga_jacobian *J)
{
  const int n = v->n, forces = ga__wants_forces(J);
  const double by_v = forces ? J->shift_v : 0.0, by_vdot = J->shift_vdot;
  double X[9], S[9], x[3], y[3];
  torque_by_w(v, X);
  for (int i = 0; i < 9; i++) X[i] = by_vdot * v->dJ[i] + by_v * X[i];
  to_space(v->R, X, S);
  set_square(v, S);
  ga__add_block(J->D, e->b, u->pair[0], 1, v->M);
  clear(v);
  for (int a = 0; a < n; a++) {
    torque_by_rate(v, a, x);
    for (int i = 0; i < 3; i++) x[i] = by_vdot * v->c[3 * a + i] + by_v * x[i];
    set_torque(v, a, n, x, v->M);
  }
  ga__add_block(J->D, e->b, u->pair[1], 1, v->M);
  clear(v);
  for (int a = 0; a < n; a++) {
    mode_by_w(v, a, x);
    for (int i = 0; i < 3; i++) x[i] = by_vdot * v->c[3 * a + i] + by_v * x[i];
    ga__mat3_mul_vec(y, v->R, x);
    memcpy(v->M + 6 * a + 3, y, sizeof y);
  }
  ga__add_block(J->D, e->b, u->pair[2], 1, v->M);
  for (int a = 0; a < n; a++)
    for (int b = 0; b < n; b++) {
      const double *C_ba = v->body->C + 3 * (b * n + a), *C_ab = v->body->C + 3 * (a * n + b);
      v->M[a * n + b] = by_v * (ga__vec3_dot(v->w, C_ba) - ga__vec3_dot(v->w, C_ab));
      if (a == b) v->M[a * n + b] += by_vdot * (v->body->mass + extra_mass(e, u, a)) + by_v * u->damper[a];
    }
  ga__add_block(J->D, e->b, u->pair[3], 1, v->M);
}

/* By δφ: ω and ω' are turned in the frame, δ(Rᵀ z) = Rᵀ z~ δφ, and the torque is turned with it. */
static void add_q(const ga__eval *e, const modal *u, const view *v, ga_jacobian *J)
{
  const int n = v->n;
  const ga__kin *k = &e->kin[u->node];
  double torque[3], more[3], in_space[3], X[9], Y[9], W[9], A[9], P[9], S[9], x[3], y[3], z[3];
  ga__mat3_skew(W, 1, k->w + 3);
  ga__mat3_skew(A, 1, k->acc + 3);
  inertia_of(v, torque, v->M);
  resistance_of(u, v, more, v->M);
  add_scaled(3, torque, 1, more);
  ga__mat3_mul_vec(in_space, v->R, torque);
  torque_by_w(v, X);
  to_space(v->R, X, Y);
  ga__mat3_mul(S, Y, W);
  to_space(v->R, v->dJ, Y);
  ga__mat3_mul(P, Y, A);
  for (int i = 0; i < 9; i++) S[i] += P[i];
  ga__mat3_skew(P, 1, in_space);
  for (int i = 0; i < 9; i++) S[i] -= P[i];
  set_square(v, S);
  ga__add_block(J->Q, e->b, u->pair[0], 1, v->M);
  clear(v);
  for (int a = 0; a < n; a++) {
    torque_by_eta(v, a, x);
    set_torque(v, a, n, x, v->M);
  }
  ga__add_block(J->Q, e->b, u->pair[1], 1, v->M);
  clear(v);
  for (int a = 0; a < n; a++) { /* xᵀ Rᵀ z~ δφ = −(z × R x)·δφ */
    mode_by_w(v, a, x);
    ga__mat3_mul_vec(y, v->R, x);
    ga__vec3_cross(z, y, k->w + 3);
    memcpy(v->M + 6 * a + 3, z, sizeof z);
    ga__mat3_mul_vec(y, v->R, v->c + 3 * a);
    ga__vec3_cross(z, y, k->acc + 3);
    add_scaled(3, v->M + 6 * a + 3, 1, z);
  }
  ga__add_block(J->Q, e->b, u->pair[2], 1, v->M);
  for (int a = 0; a < n; a++)
    for (int b = 0; b < n; b++) {
      ga__mat3_mul_vec(y, v->body->J2 + 9 * (a * n + b), v->w);
      v->M[a * n + b] = ga__vec3_dot(v->body->C + 3 * (b * n + a), v->a) - 0.5 * ga__vec3_dot(v->w, y) +
                        (a == b ? v->body->mass * v->body->lambda[a] : 0.0);
    }
  ga__add_block(J->Q, e->b, u->pair[3], 1, v->M);
}

static int jacobian(const ga__eval *e, const ga__element *el, ga_jacobian *J)
{
  const modal *u = el->data;
  if (!(J->want & (GA_WANT_D | GA_WANT_Q))) return 0;
  const view v = view_at(e, u);
  if (J->want & GA_WANT_D) add_d(e, u, &v, J);
  if (ga__wants_forces(J) && J->want & GA_WANT_Q) add_q(e, u, &v, J);
  return 0;
}

/* ---- Energy ---- */

static double stored_energy(const ga_modal_body *body, const double *eta)
{
  double energy = 0.0;
  for (int a = 0; a < body->n; a++) energy += 0.5 * body->mass * body->lambda[a] * eta[a] * eta[a];
  return energy;
}

static int powers(const ga__eval *e, const ga__element *el, ga__powers *out)
{
  const modal *u = el->data;
  const view v = view_at(e, u);
  double Jw[3];
  ga__mat3_mul_vec(Jw, v.dJ, v.w);
  out->kinetic += 0.5 * ga__vec3_dot(v.w, Jw) + ga__vec3_dot(v.w, v.c_rate);
  for (int a = 0; a < v.n && v.rate; a++) {
    out->kinetic += 0.5 * v.body->mass * v.rate[a] * v.rate[a];
    out->lost += u->damper[a] * v.rate[a] * v.rate[a];
  }
  out->potential += stored_energy(v.body, v.eta);
  return 0;
}

static int list_work(const ga__mbs_model *b, const ga__element *el, ga__work_term *work)
{
  (void)b;
  work->needs_kin = 1;
  return ((const modal *)el->data)->damped;
}

/* Without geometric stiffening stresses caused by a spin Ω are not part of the stiffness of modes. Of a rod
 * that is clamped at one end they raise the square of its first frequency ω by the factor 1 + 1.2 (Ω/ω)², and
 * ω is a sixth of the first frequency of the free rod: at this ratio to the latter, which is known, the error
 * is 2 % there and less elsewhere. */
#define FAST_SPIN 0.02

static int spin_limit(const ga__mbs_model *b, const ga__element *el, ga__spin_limit *out)
{
  const modal *u = el->data;
  if (u->body->stiffened || u->body->n == 0) return 0;
  *out = (ga__spin_limit){.v = GA__AT(b->node, ga__node, u->node)->v + 3,
                          .limit = FAST_SPIN * sqrt(u->body->lambda[0]),
                          .neglect = "modes are not stiffened by the stresses of a spin, as a beam is"};
  return 1;
}

/* ---- Signals: energy, amplitudes, what is recovered, then six of each interface node ---- */

static int n_signals(const ga__mbs_model *b, int part)
{
  const ga_modal_body *body = ((const ga_modal_def *)b->m->part[part].def)->body;
  return ga__n_rigid_signals(b, part) + 1 + body->n + body->n_recovered;
}

static void signal(const ga__mbs_model *b, int part, int i, ga__signal_def *out)
{
  const ga_modal_body *body = ((const ga_modal_def *)b->m->part[part].def)->body;
  const int number = i - ga__n_rigid_signals(b, part), row = number - 1 - body->n;
  if (number < 0) {
    ga__frame_signal(b, part, i, out);
    return;
  }
  if (number == 0)
    ga__signal_set(out, "strain_energy", "J", GA__PROBE_ELEMENT, number);
  else if (row < 0)
    ga__signal_set(out, "amplitude", "m", GA__PROBE_ELEMENT, number);
  else
    ga__signal_set(out, body->recovered_name[row], body->recovered_unit[row], GA__PROBE_ELEMENT, number);
  if (number > 0 && row < 0) out->number = number;
  out->probe.owner = part;
}

static int n_node_signals(const ga__mbs_model *b, int part)
{
  (void)b, (void)part;
  return 6;
}

static void node_signal(const ga__mbs_model *b, int part, int node, int i, ga__signal_def *out)
{
  static const char *const name[] = {"displacement_x", "displacement_y", "displacement_z",
                                     "rotation_x",     "rotation_y",     "rotation_z"};
  const modal *u = modal_of(b, part);
  int point = 0;
  while (point + 1 < u->body->n_points && u->frame[point] != node) point++;
  ga__signal_set(out, name[i], i < 3 ? "m" : "rad", GA__PROBE_ELEMENT,
                 1 + u->body->n + u->body->n_recovered + 6 * point + i);
  out->probe.owner = part;
}

static int value_of_signal(const ga__eval *e, const ga__element *el, int i, double *value)
{
  const modal *u = el->data;
  const ga_modal_body *body = u->body;
  const double *eta = e->p->q + GA__AT(e->b->node, ga__node, u->eta)->q;
  const int n = body->n, row = i - 1 - n, at = row - body->n_recovered;
  if (i == 0) {
    *value = stored_energy(body, eta);
  } else if (row < 0) {
    *value = eta[i - 1];
  } else if (at < 0) {
    *value = ga__dot(n, body->recovered + (size_t)row * (size_t)n, eta);
  } else {
    const ga__modal_point *p = &body->point[at / 6];
    *value = ga__dot(n, (at % 6 < 3 ? p->phi : p->psi) + at % 3 * n, eta);
    for (int a = 0; a < n && p->second; a++)
      *value += 0.5 * eta[a] * ga__dot(n, p->second + (at % 6 * n + a) * n, eta);
  }
  return 0;
}

/* ---- Their derivatives, where they are fed back: all depend on amplitudes alone ---- */

static int value_columns(const ga__mbs_model *b, const ga__element *el, int i, int *column, int room)
{
  const modal *u = el->data;
  const ga__node *eta = GA__AT(b->node, ga__node, u->eta);
  (void)i;
  for (int a = 0; a < u->body->n && a < room; a++) column[a] = eta->v + a;
  return u->body->n;
}

static int value_slopes(const ga__eval *e, const ga__element *el, int i, double shift_v, double shift_vdot,
                        double *d, double *dq)
{
  const modal *u = el->data;
  const ga_modal_body *body = u->body;
  const double *eta = e->p->q + GA__AT(e->b->node, ga__node, u->eta)->q;
  const int n = body->n, row = i - 1 - n, at = row - body->n_recovered;
  const ga__modal_point *p = at < 0 ? NULL : &body->point[at / 6];
  (void)shift_v, (void)shift_vdot;
  for (int a = 0; a < n; a++) {
    d[a] = 0.0;
    if (i == 0)
      dq[a] = body->mass * body->lambda[a] * eta[a];
    else if (row < 0)
      dq[a] = a == i - 1;
    else if (!p)
      dq[a] = body->recovered[(size_t)row * (size_t)n + (size_t)a];
    else
      dq[a] = (at % 6 < 3 ? p->phi : p->psi)[at % 3 * n + a] +
              (p->second ? ga__dot(n, p->second + (at % 6 * n + a) * n, eta) : 0.0);
  }
  return 0;
}

/* ---- The kind ---- */

static int n_shapes(const ga__mbs_model *b, int part)
{
  (void)b, (void)part;
  return 1;
}

static void shape(const ga__mbs_model *b, int part, int i, ga__drawing *out)
{
  (void)i;
  *out = (ga__drawing){.kind = GA_SHAPE_FRAME, .a = b->part_marker[part], .b = -1, .size = 0};
}

/* ---- Comparison ---- */

static int point_same(const ga__modal_point *a, const ga__modal_point *b, size_t n)
{
  return ga__numbers_same(a->place, b->place, 3) && ga__numbers_same(a->phi, b->phi, 3 * n) &&
         ga__numbers_same(a->psi, b->psi, 3 * n) && a->turns == b->turns &&
         ga__numbers_same(a->second, b->second, 6 * n * n);
}

static int body_same(const ga_modal_body *a, const ga_modal_body *b)
{
  if (a == b) return 1;
  if (a->n != b->n || a->n_points != b->n_points || a->stiffened != b->stiffened) return 0;
  const size_t n = (size_t)a->n;
  for (int i = 0; i < a->n_points; i++)
    if (!point_same(&a->point[i], &b->point[i], n)) return 0;
  return ga__numbers_same(&a->mass, &b->mass, 1) && ga__numbers_same(a->centre, b->centre, 3) &&
         ga__numbers_same(a->J, b->J, 9) && ga__numbers_same(a->lambda, b->lambda, n) &&
         ga__numbers_same(a->J1, b->J1, 9 * n) && ga__numbers_same(a->J2, b->J2, 9 * n * n) &&
         ga__numbers_same(a->C, b->C, 3 * n * n);
}

static int same(const ga__comparison *c, const ga__element *a, const ga__element *b)
{
  const modal *x = a->data, *y = b->data;
  (void)c;
  return x->node == y->node && x->eta == y->eta && body_same(x->body, y->body) &&
         ga__numbers_same(x->damper, y->damper, (size_t)x->body->n);
}

const ga__element_type ga__modal_type = {
    .rank = GA__RANK_OTHER,
    .size = sizeof(modal),
    .same = same,
    .floats = 1,
    .create = {[GA__CREATE_BODIES] = create},
    .want = want,
    .bind = bind,
    .release = release,
    .mass = mass,
    .force = force,
    .jacobian = jacobian,
    .scratch = scratch,
    .place = place,
    .carry = carry,
    .powers = powers,
    .work_term = list_work,
    .spin_limit = spin_limit,
    .n_signals = n_signals,
    .signal = signal,
    .value = value_of_signal,
    .value_columns = value_columns,
    .value_slopes = value_slopes,
    .n_node_signals = n_node_signals,
    .node_signal = node_signal,
    .n_shapes = n_shapes,
    .shape = shape,
};
