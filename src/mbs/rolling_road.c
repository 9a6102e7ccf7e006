/* Rolling without slipping on a road, a surface z = f(t, x, y) over the plane of a frame that may move. With the point
 * of contact P, the normal e of the road there, ρ the distance from the centre C to P in the disk's plane, or along e
 * for a sphere, and m = |n × e|, n the disk's axis (sphere: m = 1):
 *
 *   Φ = ρ − R,   Φ' = e · s/m                  contact
 *   k = (t₁ · s, t₂ · s)                       no slip; t₁, t₂, e orthogonal
 *   s = v_b + ω_b × (P − x_b) − v_r − ω_r × (P − x_r) − f_t a₃
 *
 * the velocity of the body at P against the road. Φ' is exact for every state, not only where Φ = 0: of
 * P = C − ρ d, d in the disk's plane, e · δP is that of the road, and e · δd = −sin(camber) d · δn. The force on the
 * body is −λ e/m − ψ₁ t₁ − ψ₂ t₂ at P. A knife edge has the row t₂ · s at P = C alone, with t₂ the projection of its y
 * axis on the tangent plane below C.
 *
 * P, e, t₁, t₂ are computed with their derivatives by the poses and by time (dual.h); velocities and multipliers are
 * factors, so that all derivatives of rows and forces follow. */
#include "mbs/rolling.h"

#include "lie/mat3.h"
#include "mbs/tyre_contact.h"
#include "mbs/workspace.h"
#include <math.h>
#include <string.h>

/* Variables: pose of the body's node, time, pose of the road's node. */
enum { POSE = 0, TIME = 6, ROAD_POSE = 7, ALL = 13, ON_GROUND = 7 };
static const int FIRST[2] = {POSE, ROAD_POSE};
static const double SIGN[2] = {1, -1};
enum { NORMAL_ROW = 2 };
#define LOST 1e-6 /* [-] of the radius: P must be where the tangent plane was taken, but for this */

typedef struct contact_eval {
  ga__dual t, phi;
  ga__dual u[3][3]; /* directions of rows: t₁, t₂ (knife: t₂ first), e/m */
  ga__dual l[2][3]; /* from the nodes' origins to P */
  ga__dual rise;    /* f_t, along `up` */
  ga__dual up[3];
  ga__wheel wheel;
  ga__road_frame frame;
  ga__touch at;
} contact_eval;

static const ga__node *node_at(const ga__eval *e, int i)
{
  return GA__AT(e->b->node, ga__node, i);
}

/* ---- Geometry ---- */

static int fail(const ga__eval *e, const ga__rolling *r, ga_reason reason)
{
  if (!e->work) return 1;
  ga__refuse_part(e->work->ctx, &e->m->part[r->part], GA_RETRY_NAN, reason,
                  (ga__facts){.name = e->m->part[r->road->part].name, .at = &(ga__fact_time){e->p->t, NAN, -1, -1}});
  return 1;
}

/* out = a − (a·e) e, of length 1. Returns its length before. */
static double project(ga__dual out[3], const ga__dual a[3], const ga__dual e[3])
{
  const ga__dual along = ga__dual_dot(a, e), back = ga__dual_linear(&along, -1, 0);
  ga__dual_along(out, a, &back, e);
  const ga__dual square = ga__dual_dot(out, out);
  if (!(square.v > GA__FLAT * GA__FLAT)) return 0;
  const ga__dual length = ga__dual_root(&square);
  for (int i = 0; i < 3; i++) out[i] = ga__dual_div(&out[i], &length);
  return length.v;
}

static void body_at(contact_eval *c, const ga__eval *e, const ga__rolling *r, int n)
{
  ga__frame frame;
  ga__frame_at(&frame, GA__AT(e->b->marker, ga__marker, r->body), e->kin);
  const int column = r->kind == GA_ROLLING_KNIFE ? 1 : 2;
  const double axis[3] = {frame.A[column], frame.A[3 + column], frame.A[6 + column]};
  c->wheel.sphere = r->kind == GA_ROLLING_SPHERE;
  c->wheel.radius = r->radius, c->wheel.carcass = c->wheel.sphere ? r->radius : 0;
  ga__dual_turning(c->wheel.axis, n, POSE + 3, axis);
  ga__dual_turning(c->wheel.C, n, POSE + 3, frame.r);
  for (int i = 0; i < 3; i++) {
    c->wheel.C[i].v = frame.p[i];
    if (n > 0) c->wheel.C[i].d[POSE + i] = 1;
  }
}

/* P = C; the tangent plane is that below it. */
static int touch_knife(contact_eval *c, const ga__eval *e, const ga__rolling *r)
{
  ga__dual place[2];
  ga__road_place(place, &c->frame, c->wheel.C);
  const int status = ga__road_plane_at_place(&c->at.plane, e, r->road, &c->frame, &c->t, place);
  if (status) return status;
  memcpy(c->at.P, c->wheel.C, sizeof c->at.P);
  if (!(project(c->u[0], c->wheel.axis, c->at.plane.normal) > 0)) return fail(e, r, GA_REASON_KNIFE_ON_ROAD);
  return 0;
}

static int touch_round(contact_eval *c, const ga__eval *e, const ga__rolling *r)
{
  const int status = ga__touch_find(&c->at, &c->wheel, e, r->road, &c->frame, &c->t);
  if (status) return status;
  if (!(c->at.m.v > GA__FLAT)) return fail(e, r, GA_REASON_DISK_FLAT_ON_ROAD);
  if (c->at.gap > LOST * r->radius) return fail(e, r, GA_REASON_NO_POINT_OF_ROAD);
  c->phi = ga__dual_linear(&c->at.rho, 1, c->wheel.sphere ? 0 : -r->radius);
  memcpy(c->u[0], c->at.ex, sizeof c->u[0]);
  if (c->wheel.sphere) project(c->u[0], c->frame.axis[0], c->at.plane.normal);
  ga__dual_cross(c->u[1], c->at.plane.normal, c->u[0]);
  for (int i = 0; i < 3; i++) c->u[NORMAL_ROW][i] = ga__dual_div(&c->at.plane.normal[i], &c->at.m);
  return 0;
}

static int eval_contact(contact_eval *c, const ga__eval *e, const ga__rolling *r, int with_slopes)
{
  const int n = !with_slopes ? 0 : r->n > 1 ? ALL : ON_GROUND;
  c->t = ga__dual_variable(n, TIME, e->p ? e->p->t : 0);
  body_at(c, e, r, n);
  ga__road_frame_at(&c->frame, e, r->road, n, r->n > 1 ? ROAD_POSE : -1);
  const int status = (r->kind == GA_ROLLING_KNIFE ? touch_knife : touch_round)(c, e, r);
  if (status) return status;
  for (int j = 0; j < 2; j++)
    for (int i = 0; i < 3; i++) {
      const ga__dual x = ga__dual_variable(n, j < r->n ? FIRST[j] + i : -1, e->kin[r->node[j]].x[i]);
      c->l[j][i] = ga__dual_sub(&c->at.P[i], &x);
    }
  c->rise = c->at.plane.rise;
  memcpy(c->up, c->frame.axis[2], sizeof c->up);
  return 0;
}

/* a = ±(u, l × u) of node j */
static void row_of(double a[6], const contact_eval *c, int i, int j)
{
  double l[3];
  for (int k = 0; k < 3; k++) a[k] = SIGN[j] * c->u[i][k].v, l[k] = c->l[j][k].v;
  ga__vec3_cross(a + 3, l, a);
}

/* u · s, with its derivatives at given velocities. */
static ga__dual row_rate(const contact_eval *c, const ga__eval *e, const ga__rolling *r, int i)
{
  const int n = c->t.n;
  ga__dual s[3], turn[3], omega[3];
  const ga__dual down = ga__dual_linear(&c->rise, -1, 0), zero = ga__dual_const(n, 0);
  for (int k = 0; k < 3; k++) s[k] = zero;
  ga__dual_along(s, s, &down, c->up);
  for (int j = 0; j < r->n; j++) {
    const double *w = e->kin[r->node[j]].w;
    for (int k = 0; k < 3; k++) omega[k] = ga__dual_const(n, w[3 + k]);
    ga__dual_cross(turn, omega, c->l[j]);
    for (int k = 0; k < 3; k++) {
      const ga__dual v = ga__dual_linear(&turn[k], SIGN[j], SIGN[j] * w[k]);
      s[k] = ga__dual_add(&s[k], &v);
    }
  }
  return ga__dual_dot(c->u[i], s);
}

/* Time derivative of a rate where velocities are constant. */
static double rate_of(const ga__dual *rate, const ga__eval *e, const ga__rolling *r)
{
  double sum = rate->d[TIME];
  for (int j = 0; j < r->n; j++)
    for (int k = 0; k < 6; k++) sum += rate->d[FIRST[j] + k] * e->kin[r->node[j]].w[k];
  return sum;
}

/* Σ u μ: the opposite of the force on the body. */
static void sum_of_forces(ga__dual E[3], const contact_eval *c, const ga__eval *e, const ga__rolling *r)
{
  for (int k = 0; k < 3; k++) E[k] = ga__dual_const(c->t.n, 0);
  for (int i = 0; i < 3; i++) {
    if (i < NORMAL_ROW ? i >= r->n_psi : r->lambda < 0) continue;
    const ga__dual mu = ga__dual_const(c->t.n, i < NORMAL_ROW ? e->p->psi[r->psi + i] : e->p->lambda[r->lambda]);
    ga__dual_along(E, E, &mu, c->u[i]);
  }
}

/* ---- Rows and forces ---- */

int ga__road_rolling_force(const ga__eval *e, const ga__element *el, double *f)
{
  const ga__rolling *r = el->data;
  contact_eval c;
  double a[6];
  const int status = eval_contact(&c, e, r, 0);
  for (int j = 0; !status && j < r->n; j++) {
    const ga__node *node = node_at(e, r->node[j]);
    for (int i = 0; i < 3; i++) {
      if (i < NORMAL_ROW ? i >= r->n_psi : r->lambda < 0) continue;
      row_of(a, &c, i, j);
      ga__add_six(f + node->v, node, i < NORMAL_ROW ? -e->p->psi[r->psi + i] : -e->p->lambda[r->lambda], a);
    }
  }
  return status;
}

/* A row's rate, or its time derivative. */
static double row_value(const contact_eval *c, const ga__eval *e, const ga__rolling *r, int i, int accelerations)
{
  const ga__dual rate = row_rate(c, e, r, i);
  return accelerations ? rate_of(&rate, e, r) : rate.v;
}

int ga__road_rolling_phi(const ga__eval *e, const ga__element *el, double *out, int order)
{
  const ga__rolling *r = el->data;
  contact_eval c;
  if (r->lambda < 0) return 0;
  const int status = eval_contact(&c, e, r, order == 2);
  if (status) return status;
  out[r->lambda] = order == 0 ? c.phi.v : row_value(&c, e, r, NORMAL_ROW, order == 2);
  return 0;
}

int ga__road_rolling_k(const ga__eval *e, const ga__element *el, double *out, int order)
{
  const ga__rolling *r = el->data;
  contact_eval c;
  const int status = eval_contact(&c, e, r, order == 1);
  for (int i = 0; !status && i < r->n_psi; i++) out[r->psi + i] = row_value(&c, e, r, i, order == 1);
  return status;
}

/* D_q(Σ a μ): rows of node i, columns of node j. */
static void add_geometric(const contact_eval *c, const ga__eval *e, const ga__rolling *r, int i, double *Q)
{
  ga__dual E[3], M[3];
  sum_of_forces(E, c, e, r);
  ga__dual_cross(M, c->l[i], E);
  for (int j = 0; j < r->n; j++) {
    double block[36];
    for (int k = 0; k < 36; k++)
      block[k] = (k < 18 ? E[k / 6] : M[k / 6 - 3]).d[FIRST[j] + k % 6];
    ga__add_block(Q, e->b, r->pair[i][j], SIGN[i], block);
  }
}

/* Row i of k, or the contact's. */
static void add_row(const contact_eval *c, const ga__eval *e, const ga__rolling *r, int i, ga_jacobian *J)
{
  const int is_slip = i < NORMAL_ROW;
  const ga__dual rate = row_rate(c, e, r, i);
  double a[6];
  for (int j = 0; j < r->n; j++) {
    const ga__node *node = node_at(e, r->node[j]);
    const int at = is_slip ? r->A[j] + i * node->n : r->B[j], below = is_slip ? r->At[j] + i * node->n : r->Bt[j];
    row_of(a, c, i, j);
    if (J->want & GA_WANT_D) ga__add_six(J->D + below, node, 1, a);
    if (is_slip && J->want & GA_WANT_D) ga__add_six(J->D + at, node, J->shift_v, a);
    if (is_slip && J->want & GA_WANT_Q) ga__add_six(J->Q + at, node, 1, rate.d + FIRST[j]);
    if (!is_slip && J->want & (GA_WANT_Q | GA_WANT_B)) ga__add_six(J->Q + at, node, 1, a);
    if (!is_slip && J->want & GA_WANT_G) ga__add_six(J->G + at, node, 1, rate.d + FIRST[j]);
  }
}

int ga__road_rolling_jacobian(const ga__eval *e, const ga__element *el, ga_jacobian *J)
{
  const ga__rolling *r = el->data;
  contact_eval c;
  const int status = eval_contact(&c, e, r, 1);
  if (status) return status;
  for (int i = 0; i < r->n_psi; i++) add_row(&c, e, r, i, J);
  if (r->lambda >= 0) add_row(&c, e, r, NORMAL_ROW, J);
  for (int i = 0; i < r->n && J->want & GA_WANT_Q; i++) add_geometric(&c, e, r, i, J->Q);
  return 0;
}

/* ---- Signals ---- */

/* A signal with its derivatives by poses, at given multipliers. */
static ga__dual signal_of(const contact_eval *c, const ga__eval *e, const ga__rolling *r, int i)
{
  const double *psi = e->p->psi + r->psi;
  if (i == GA__ROLLING_TANGENTIAL) return ga__dual_const(c->t.n, r->n_psi == 1 ? -psi[0] : hypot(psi[0], psi[1]));
  if (i == GA__ROLLING_NORMAL) {
    const ga__dual force = ga__dual_const(c->t.n, -e->p->lambda[r->lambda]);
    return ga__dual_div(&force, &c->at.m);
  }
  if (i < GA__ROLLING_FORCE) return c->at.P[i - GA__ROLLING_PLACE];
  ga__dual E[3];
  sum_of_forces(E, c, e, r);
  return ga__dual_linear(&E[i - GA__ROLLING_FORCE], -1, 0);
}

int ga__road_rolling_value(const ga__eval *e, const ga__element *el, int i, double *out)
{
  contact_eval c;
  const int status = eval_contact(&c, e, el->data, 0);
  *out = status ? NAN : signal_of(&c, e, el->data, i).v;
  return status;
}

/* By a multiplier: ψ number k, or λ (NORMAL_ROW). */
static double by_multiplier(const contact_eval *c, const ga__eval *e, const ga__rolling *r, int i, int k)
{
  const double *psi = e->p->psi + r->psi, size = r->n_psi == 1 ? 0 : hypot(psi[0], psi[1]);
  if (i == GA__ROLLING_TANGENTIAL) return k == NORMAL_ROW ? 0 : r->n_psi == 1 ? -1 : size > 0 ? psi[k] / size : 0;
  if (i == GA__ROLLING_NORMAL) return k == NORMAL_ROW ? -1 / c->at.m.v : 0;
  return i < GA__ROLLING_FORCE ? 0 : -c->u[k][i - GA__ROLLING_FORCE].v;
}

int ga__road_rolling_slopes(const ga__eval *e, const ga__element *el, int i, double *d, double *dq)
{
  const ga__rolling *r = el->data;
  contact_eval c;
  int n = 0;
  const int status = eval_contact(&c, e, r, 1);
  if (status) return status;
  const ga__dual s = signal_of(&c, e, r, i);
  for (int j = 0; j < r->n; j++) {
    const ga__node *node = node_at(e, r->node[j]);
    const int first = n;
    for (; n < first + node->n; n++) d[n] = dq[n] = 0;
    ga__add_six(dq + first, node, 1, s.d + FIRST[j]);
  }
  for (int k = 0; k < r->n_psi; k++, n++) d[n] = by_multiplier(&c, e, r, i, k), dq[n] = 0;
  if (r->lambda >= 0) d[n] = by_multiplier(&c, e, r, i, NORMAL_ROW), dq[n] = 0;
  return 0;
}

/* ---- The run ---- */

int ga__road_rolling_side(const ga__eval *e, const ga__element *el, unsigned *number)
{
  const ga__rolling *r = el->data;
  contact_eval c;
  if (!r->road) return 0;
  const int status = eval_contact(&c, e, r, 0);
  return status ? status : ga__road_side(e, r->road, c.at.P, number);
}

/* What a surface that rises by itself puts in: the power of the constraint forces. */
int ga__road_rolling_powers(const ga__eval *e, const ga__element *el, ga__powers *out)
{
  const ga__rolling *r = el->data;
  contact_eval c;
  ga__dual E[3];
  if (!r->road) return 0;
  const int status = eval_contact(&c, e, r, 0);
  if (status) return status;
  sum_of_forces(E, &c, e, r);
  for (int k = 0; k < 3; k++) out->in -= E[k].v * c.rise.v * c.up[k].v;
  return 0;
}

double ga__road_rolling_doubt(const ga__eval *e, const ga__element *el, double at[2])
{
  const ga__rolling *r = el->data;
  contact_eval c;
  if (eval_contact(&c, e, r, 0)) return 0;
  if (c.wheel.sphere) memcpy(c.at.ex, c.u[0], sizeof c.at.ex);
  return ga__touch_doubt(&c.at, &c.wheel, e, r->road, &c.frame, &c.t, at);
}
