/* Inertia and weight of all nodes. The sweep over rigid bodies includes the ends of coincident points on them
 * (point3.c), so that the data of a body are read, and its forces summed, once.
 *
 * A rigid node's origin is the centre of mass, so that with ω in space and J_s = R J Rᵀ
 *   M vdot = (m u', J_s ω'),   f = (m g, −ω × J_s ω) */
#include "base/quad.h"
#include "mbs/element.h"
#include "mbs/selected.h"
#include "mbs/smooth.h"

#include "lie/mat3.h"
#include <string.h>

/* ---- Inertia, for single callbacks ---- */

/* y = R J Rᵀ x */
static void turned_inertia(double y[3], const double R[9], const double J[9], const double x[3])
{
  double a[3], c[3];
  ga__mat3_tmul_vec(a, R, x);
  ga__mat3_mul_vec(c, J, a);
  ga__mat3_mul_vec(y, R, c);
}

void ga__node_mass(const ga__eval *e, int i, double *out)
{
  const ga__node *node = GA__AT(e->b->node, ga__node, i);
  if (node->carried) return;
  const double *acc = e->kin[i].acc;
  double *to = out + node->v;
  for (int c = 0; c < 3; c++)
    if (node->column[c] >= 0) to[node->column[c]] = node->mass * acc[c];
  if (node->rigid) turned_inertia(to + 3, e->kin[i].R, node->J, acc + 3);
  if (node->planar) to[2] = node->J[8] * acc[5];
}

void ga__node_force(const ga__eval *e, int i, double *f)
{
  const double *g = e->m->opts.gravity;
  const ga__node *node = GA__AT(e->b->node, ga__node, i);
  if (node->carried) return;
  double *to = f + node->v;
  if (!node->scalar)
    for (int c = 0; c < 3; c++)
      if (node->column[c] >= 0) to[node->column[c]] += node->mass * g[c];
  if (node->rigid) {
    const double *w = e->kin[i].w + 3;
    double Jw[3], gyro[3];
    turned_inertia(Jw, e->kin[i].R, node->J, w);
    ga__vec3_cross(gyro, w, Jw);
    for (int c = 0; c < 3; c++) to[3 + c] -= gyro[c];
  }
}

static int mass(const ga__eval *e, const ga__element *el, double *out)
{
  (void)el;
  for (int i = 1; i < e->b->node.n; i++) ga__node_mass(e, i, out);
  return 0;
}

static int force(const ga__eval *e, const ga__element *el, double *f)
{
  (void)el;
  for (int i = 1; i < e->b->node.n; i++) ga__node_force(e, i, f);
  return 0;
}

static ga_status want(ga__mbs_model *b, ga__element *el)
{
  (void)el;
  for (int i = 1; i < b->node.n; i++) {
    const ga__node *node = GA__AT(b->node, ga__node, i);
    if (node->vector || node->carried) continue;
    unsigned tiles = 1u << GA__XX | (node->has >> 3 ? 1u << GA__RR : 0u);
    ga_status status = ga__want_pair(&b->pattern, i, i, tiles, 1u << GA__RR);
    if (status) return status;
  }
  return GA_OK;
}

static ga_status bind(ga__mbs_model *b, ga__element *el)
{
  (void)el;
  for (int i = 1; i < b->node.n; i++) {
    ga__node *node = GA__AT(b->node, ga__node, i);
    if (node->vector || node->carried) continue;
    node->self = ga__find_pair(&b->pattern, i, i);
    if (!node->rigid) continue;
    const ga__mbs_pair *pair = &b->pattern.pair[node->self];
    node->xx = pair->at[GA__XX];
    node->xx_full = (int)(pair->full >> GA__XX & 1u);
    node->rr = pair->at[GA__RR];
    ga__set_entries(&b->pattern, GA_WANT_D, node->xx, node->xx_full ? 9 : 3);
    if (!node->xx_full)
      ga__exclude_entries(&b->pattern, GA_WANT_Q, node->xx, 3); /* only inertia writes there */
    ga__set_entries(&b->pattern, GA_WANT_D | GA_WANT_Q, node->rr, 9);
  }
  return GA_OK;
}

/* ---- Ends by body ---- */

/* Lists the ends of all point3 by node, then by joint, and the first end of each node. */
ga_status ga__list_body_ends(ga__mbs_model *b)
{
  const int n = 2 * b->point3.n;
  b->end = ga__alloc(b->m->ctx, (size_t)n, sizeof *b->end);
  b->end_start = ga__alloc(b->m->ctx, (size_t)b->node.n + 2, sizeof *b->end_start);
  if (!b->end || !b->end_start) return GA_ERR_MEMORY;
  int *start = b->end_start + 1;
  for (int i = 0; i < n; i++) start[GA__AT(b->point3, ga__point3, i / 2)->end[i % 2].node + 1]++;
  for (int i = 0; i < b->node.n; i++) start[i + 1] += start[i];
  for (int i = 0; i < n; i++) {
    const ga__point3 *p = GA__AT(b->point3, ga__point3, i / 2);
    const ga__end *end = &p->end[i % 2];
    ga__body_end *to = &b->end[start[end->node]++];
    *to = (ga__body_end){
        {end->s[0], end->s[1], end->s[2]}, i % 2 ? 1.0 : -1.0, p->lambda, end->B, end->Bt, p->stride,
        end->node < p->end[1 - i % 2].node};
  }
  return GA_OK;
}

/* ---- Inertia in a sweep ---- */

static inline void put_mass(double *xx, int full, double m)
{
  if (full)
    for (int i = 0; i < 9; i++) xx[i] = i % 4 == 0 ? m : 0.0;
  else
    xx[0] = xx[1] = xx[2] = m;
}

/* Column j of p~ */
GA__INLINE ga__quad skew_column(ga__quad p, const int j)
{
  return j == 0   ? GA__SHUFFLE(p, p, 0, 2, 1, 3) * (ga__quad){0, 1, -1, 0}
         : j == 1 ? GA__SHUFFLE(p, p, 2, 1, 0, 3) * (ga__quad){-1, 0, 1, 0}
                  : GA__SHUFFLE(p, p, 1, 0, 2, 3) * (ga__quad){1, -1, 0, 0};
}

/* A body at a point, matrices by columns. */
typedef struct body {
  const ga__node *node;
  const double *x, *Rm, *v, *vdot; /* position, rotation by rows, twist, acceleration */
  ga__quad R[3];
  ga__quad w;    /* ω */
  ga__quad F, T; /* M vdot − f, accumulated */
  ga__quad Q[3]; /* D_q of T by φ, accumulated */
} body;

/* F = m (u' − g), T = N + ω × L with L = Js ω, N = Js ω', Js = R J Rᵀ. With δJs = φ~ Js − Js φ~ by a
 * rotation, δ(Js a) = (Js a~ − (Js a)~) φ:
 *
 *   D: shift_vdot Js + shift_v (A − L~),   A = ω~ Js
 *   Q: Js ω'~ − N~ + ω~ (Js ω~ − L~) = Js ω'~ − N~ + A ω~ − L ωᵀ + (ω·L) I
 *
 * Columns of A are ω × columns of Js; column j of X a~ is x_k a_l − x_l a_k, (k, l) the two after j. */
GA__INLINE void begin_body(body *b, const double *g, const ga_jacobian *J)
{
  const ga__node *node = b->node;
  const double *R = b->Rm, *w = b->v + 3, *acc = b->vdot + 3;
  const ga__quad RJ[3] = {ga__quad_times(b->R, node->J), ga__quad_times(b->R, node->J + 3),
                          ga__quad_times(b->R, node->J + 6)};
  const ga__quad Js[3] = {ga__quad_times(RJ, R), ga__quad_times(RJ, R + 3), ga__quad_times(RJ, R + 6)};
  const ga__quad L = ga__quad_times(Js, w), N = ga__quad_times(Js, acc);
  b->F = node->mass * (ga__quad_load(b->vdot) - ga__quad_load3(g));
  b->T = N + ga__quad_cross(b->w, L);
  if (!J) return;
  const ga__quad A[3] = {ga__quad_cross(b->w, Js[0]), ga__quad_cross(b->w, Js[1]),
                         ga__quad_cross(b->w, Js[2])};
  if (J->want & GA_WANT_D) {
    double *to = J->D + node->rr;
    put_mass(J->D + node->xx, node->xx_full, J->shift_vdot * node->mass);
    ga__quad_store3(to, J->shift_vdot * Js[0] + J->shift_v * (A[0] - skew_column(L, 0)));
    ga__quad_store3(to + 3, J->shift_vdot * Js[1] + J->shift_v * (A[1] - skew_column(L, 1)));
    ga__quad_store3(to + 6, J->shift_vdot * Js[2] + J->shift_v * (A[2] - skew_column(L, 2)));
  }
  const ga__quad p = b->w * L;
  const double wL = p[0] + p[1] + p[2];
#define Q_COLUMN(j, k, l)                                                                                    \
  ((Js[k] * acc[l] - Js[l] * acc[k]) + (A[k] * w[l] - A[l] * w[k]) - L * w[j] - skew_column(N, j) +          \
   wL * GA__QUAD_UNIT(j))
  b->Q[0] = Q_COLUMN(0, 1, 2);
  b->Q[1] = Q_COLUMN(1, 2, 0);
  b->Q[2] = Q_COLUMN(2, 0, 1);
#undef Q_COLUMN
}

GA__INLINE void end_body(const body *b, double *r, const ga_jacobian *J)
{
  if (r) {
    ga__quad_store3(r + b->node->v, b->F);
    ga__quad_store3(r + b->node->v + 3, b->T);
  }
  if (!J || !(J->want & GA_WANT_Q)) return;
  for (int j = 0; j < 3; j++) ga__quad_store3(J->Q + b->node->rr + 3 * j, b->Q[j]);
}

/* ---- Ends ---- */

/* With r the arm times the sign of the end: B = [±I, −r~] into Q, its transpose into D; (ω·r) I − r ωᵀ into
 * G; r λᵀ − (λ·r) I is added to the body's own tile. The fourth number of r is 0. */
GA__INLINE void end_jacobian(body *b, const ga__body_end *end, ga__quad r, const double *la,
                             const ga_jacobian *J)
{
  const double sign = end->sign, *w = b->v + 3;
  const ga__quad one = sign * GA__QUAD_UNIT(0);
  if (J->want & (GA_WANT_Q | GA_WANT_B)) { /* the diagonal, then (0 −z y), (z 0 −x), (−y x 0) */
    double *to = J->Q + end->B;
    *(ga__quad *)to = sign * (ga__quad){1, 1, 1, 0};
    *(ga__quad *)(to + 4) = GA__SHUFFLE(r, r, 2, 1, 2, 3) * (ga__quad){-1, 1, 1, 1};
    *(ga__quad *)(to + 8) = GA__SHUFFLE(r, r, 0, 1, 0, 3) * (ga__quad){-1, -1, 1, 1};
  }
  if (J->want & GA_WANT_D) { /* columns of r~ without its diagonal */
    double *to = J->D + end->Bt;
    ga__quad_store3(to, one + GA__SHUFFLE(r, r, 0, 2, 1, 3) * (ga__quad){0, 1, -1, 0});
    ga__quad_store3(to + end->stride, one + GA__SHUFFLE(r, r, 1, 2, 0, 3) * (ga__quad){0, -1, 1, 0});
    ga__quad_store3(to + 2 * end->stride, one + GA__SHUFFLE(r, r, 2, 1, 0, 3) * (ga__quad){0, 1, -1, 0});
  }
  if (J->want & GA_WANT_G) {
    double *to = J->G + end->B + 3, wr = r[0] * w[0] + r[1] * w[1] + r[2] * w[2];
    ga__quad_store3(to, wr * GA__QUAD_UNIT(0) - r * w[0]);
    ga__quad_store3(to + 3, wr * GA__QUAD_UNIT(1) - r * w[1]);
    ga__quad_store3(to + 6, wr * GA__QUAD_UNIT(2) - r * w[2]);
  }
  if (J->want & GA_WANT_Q) {
    const double lr = r[0] * la[0] + r[1] * la[1] + r[2] * la[2];
    b->Q[0] += r * la[0] - lr * GA__QUAD_UNIT(0);
    b->Q[1] += r * la[1] - lr * GA__QUAD_UNIT(1);
    b->Q[2] += r * la[2] - lr * GA__QUAD_UNIT(2);
  }
}

/* The first of two ends stores out[3], the second adds to it. */
GA__INLINE void put(double *out, int first, ga__quad value)
{
  if (first)
    ga__quad_store3(out, value);
  else
    ga__quad_store3(out, ga__quad_load3(out) + value);
}

GA__INLINE void sweep_end(const ga__eval *e, body *b, const ga__body_end *end, const ga_sweep *s,
                          const ga_jacobian *J)
{
  const double *la = e->p->lambda + end->lambda;
  const ga__quad r = ga__quad_only3(end->sign * ga__quad_times(b->R, end->s));
  if (s) {
    const ga__quad lambda = ga__quad_load3(la);
    put(s->phi + end->lambda, end->first, end->sign * ga__quad_load(b->x) + r);
    if (s->phi_dot)
      put(s->phi_dot + end->lambda, end->first, end->sign * ga__quad_load(b->v) + ga__quad_cross(b->w, r));
    b->F += end->sign * lambda;
    b->T += ga__quad_cross(r, lambda);
  }
  if (J && b->node->rigid) end_jacobian(b, end, r, la, J);
}

/* ---- All nodes ---- */

static void sweep_other(const ga__eval *e, const ga__node *node, const ga__kin *k, double *r,
                        const ga_jacobian *J)
{
  const double *g = e->m->opts.gravity;
  for (int c = 0; r && c < 3; c++)
    if (node->column[c] >= 0)
      r[node->v + node->column[c]] = node->mass * (k->acc[c] - (node->scalar ? 0.0 : g[c]));
  if (r && node->planar) r[node->v + 2] = node->J[8] * k->acc[5];
  if (!J || !(J->want & GA_WANT_D)) return;
  const double mass[9] = {node->mass, 0, 0, 0, node->mass, 0, 0, 0, node->mass};
  ga__add_tile(J->D, e->b, node->self, GA__XX, J->shift_vdot, mass);
  if (node->planar) ga__add_tile(J->D, e->b, node->self, GA__RR, J->shift_vdot, node->J);
}

/* Ends on the ground contribute to Φ only. */
GA__WIDE static void sweep_nodes(const ga__eval *e, ga__kin_use use, const ga_sweep *s, const ga_jacobian *J)
{
  const ga__mbs_model *model = e->b;
  const ga_point *p = e->p;
  double *r = s ? s->dynamics : NULL;
  const ga_jacobian *tiles = J && J->want & (GA_WANT_D | GA_WANT_Q) ? J : NULL;
  for (int i = 0; i < model->node.n; i++) {
    const ga__node *node = GA__AT(model->node, ga__node, i);
    ga__kin *kin = &e->work->kin[i];
    body b = {.node = node};
    if (node->rigid && use != GA__KIN_CURRENT) { /* read from q and v: kin is not available yet */
      b.x = p->q + node->q, b.v = p->v + node->v, b.vdot = p->vdot + node->v;
      b.Rm = b.x + 3;
      if (use == GA__KIN_UPDATE) ga__kin_rigid(node, p->q, p->v, p->vdot, kin);
    } else if (node->rigid || i == 0) {
      b.x = kin->x, b.Rm = kin->R, b.v = kin->w, b.vdot = kin->acc;
    } else {
      if (node->carried) continue;
      if (node->vector) { /* its element adds to it later */
        if (r) memset(r + node->v, 0, (size_t)node->n * sizeof *r);
        continue;
      }
      if (use != GA__KIN_CURRENT) ga__kin_other(node, p->q, p->v, p->vdot, kin);
      sweep_other(e, node, kin, r, J);
      continue;
    }
    ga__quad_columns(b.R, b.Rm);
    b.w = ga__quad_load3(b.v + 3);
    if (i > 0 && (s || tiles)) begin_body(&b, e->m->opts.gravity, tiles);
    for (int k = model->end_start[i]; k < model->end_start[i + 1]; k++)
      sweep_end(e, &b, &model->end[k], s, J);
    if (i > 0) end_body(&b, r, J);
  }
}

static int sweep(const ga__eval *e, const ga__element *el, const ga_sweep *s, const ga_jacobian *J)
{
  (void)el;
  sweep_nodes(e, e->work->use, s, J);
  return 0;
}

/* ---- Energy ---- */

/* ½ m u² + ½ Ω · J Ω, Ω = Rᵀω */
static double kinetic_of(const ga__node *node, const ga__kin *k)
{
  double energy = 0.5 * node->mass * ga__vec3_dot(k->w, k->w), omega[3], moment[3];
  if (!node->rigid && !node->planar) return energy;
  ga__mat3_tmul_vec(omega, k->R, k->w + 3);
  ga__mat3_mul_vec(moment, node->J, omega);
  return energy + 0.5 * ga__vec3_dot(omega, moment);
}

static int powers(const ga__eval *e, const ga__element *el, ga__powers *out)
{
  (void)el;
  for (int i = 1; i < e->b->node.n; i++) {
    const ga__node *node = GA__AT(e->b->node, ga__node, i);
    if (node->vector || node->carried) continue;
    out->kinetic += kinetic_of(node, &e->kin[i]);
    if (!node->scalar) out->potential -= node->mass * ga__vec3_dot(e->m->opts.gravity, e->kin[i].x);
  }
  return 0;
}

/* No work to integrate: kinetic and potential energy are functions of the state. */
static int list_work(const ga__mbs_model *b, const ga__element *el, ga__work_term *work)
{
  (void)b, (void)el, (void)work;
  return 0;
}

const ga__element_type ga__bodies_type = {
    .rank = GA__RANK_BODIES,
    .is_smooth = ga__always_smooth,
    .want = want,
    .bind = bind,
    .mass = mass,
    .force = force,
    .sweep = sweep,
    .powers = powers,
    .work_term = list_work,
};
