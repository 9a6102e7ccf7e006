/* Rows with the gauge GA__DOT alone, which hold the angle between two axes e and f fixed in rigid bodies or
 * the ground. They are written out for speed: every hinge has two. With d = ω_a − ω_b, t = e × f, z = e · f:
 *
 *   Φ = z − constant,   B_a = tᵀ = −B_b,   Φ' = t·d
 *   D_q(B v)_a = (d·e) f − z d,   D_q(B v)_b = z d − (d·f) e,   Φ'' at vdot = 0: D_q(B v)·(ω_a, ω_b)
 *   D_q(Bᵀλ) by rotations of (a, b), z on the diagonals:
 *     λ [ e fᵀ − z I,  z I − f eᵀ;  z I − e fᵀ,  f eᵀ − z I ] */
#include "base/quad.h"
#include "mbs/mbs_impl.h"

#include "lie/mat3.h"

static const ga__node *node_at(const ga__mbs_model *b, int i)
{
  return GA__AT(b->node, ga__node, i);
}

/* ---- Which rows ---- */

static int is_rigid(const ga__mbs_model *b, int node)
{
  return node == 0 || node_at(b, node)->rigid;
}

/* An axis of a marker, in body axes. */
static void set_axis(double u[3], const ga__marker *marker, double scale, const double axis[3])
{
  ga__mat3_mul_vec(u, marker->A, axis);
  for (int i = 0; i < 3; i++) u[i] *= scale;
}

/* Converts a row of gauges, after its entries are known; does nothing for other rows. */
ga_status ga__axes_add_row(ga__mbs_model *b, ga__row *row)
{
  if (row->n_terms != 1 || row->target || row->wrap || row->own || row->rate != 0.0) return GA_OK;
  const ga__term *term = GA__AT(b->term, ga__term, row->first_term);
  const ga__gauge *g = GA__AT(b->gauge, ga__gauge, term->gauge);
  const ga__marker *ma = GA__AT(b->marker, ga__marker, g->a), *mb = GA__AT(b->marker, ga__marker, g->b);
  if (g->kind != GA__DOT || ma->node == mb->node || !is_rigid(b, ma->node) || !is_rigid(b, mb->node))
    return GA_OK;
  ga__axes *x = ga__list_add(b->m->ctx, &b->axes);
  if (!x) return GA_ERR_MEMORY;
  x->lambda = row->lambda;
  x->constant = row->constant;
  x->node[0] = ma->node, x->node[1] = mb->node;
  set_axis(x->u[0], ma, term->c, g->u);
  set_axis(x->u[1], mb, 1.0, g->w);
  const int slot[2] = {term->slot_a, term->slot_b};
  for (int k = 0; k < 2; k++) {
    const ga__slot *s = slot[k] < 0 ? NULL : GA__AT(b->slot, ga__slot, row->first_slot + slot[k]);
    x->B[k] = s ? s->B : -1;
    x->Bt[k] = s ? s->Bt : -1;
    x->v[k] = node_at(b, x->node[k])->v;
    if (!s) continue;
    ga__set_entries(&b->pattern, GA_WANT_Q | GA_WANT_G, s->B, 3);
    ga__set_entries(&b->pattern, GA_WANT_D, s->Bt, 3);
  }
  for (int k = 0; k < 4; k++) x->rr[k] = term->pair[k] < 0 ? -1 : b->pattern.pair[term->pair[k]].at[GA__RR];
  row->by_axes = 1;
  return GA_OK;
}

/* ---- Values ---- */

typedef struct view {
  double e[3], f[3], d[3], z;
} view;

static inline view view_of(const ga__eval *e, const ga__axes *x)
{
  const ga__kin *a = &e->kin[x->node[0]], *b = &e->kin[x->node[1]];
  view s;
  ga__mat3_mul_vec(s.e, a->R, x->u[0]);
  ga__mat3_mul_vec(s.f, b->R, x->u[1]);
  for (int i = 0; i < 3; i++) s.d[i] = a->w[3 + i] - b->w[3 + i];
  s.z = ga__vec3_dot(s.e, s.f);
  return s;
}

/* D_q(B v) */
static inline void slopes(double a[3], double b[3], const view *s)
{
  const double de = ga__vec3_dot(s->d, s->e), df = ga__vec3_dot(s->d, s->f);
  for (int i = 0; i < 3; i++) {
    a[i] = de * s->f[i] - s->z * s->d[i];
    b[i] = s->z * s->d[i] - df * s->e[i];
  }
}

void ga__axes_value(const ga__eval *e, int i, double *out, int order)
{
  const ga__axes *x = GA__AT(e->b->axes, ga__axes, i);
  const view s = view_of(e, x);
  double t[3], a[3], b[3];
  if (order == 0) {
    out[x->lambda] = s.z - x->constant;
  } else if (order == 1) {
    ga__vec3_cross(t, s.e, s.f);
    out[x->lambda] = ga__vec3_dot(t, s.d);
  } else {
    slopes(a, b, &s);
    out[x->lambda] = ga__vec3_dot(a, e->kin[x->node[0]].w + 3) + ga__vec3_dot(b, e->kin[x->node[1]].w + 3);
  }
}

void ga__axes_values(const ga__eval *e, double *out, int order)
{
  for (int i = 0; i < e->b->axes.n; i++) ga__axes_value(e, i, out, order);
}

void ga__axes_torque(const ga__eval *e, int i, double *f)
{
  const ga__axes *x = GA__AT(e->b->axes, ga__axes, i);
  const view s = view_of(e, x);
  const double la = e->p->lambda[x->lambda];
  double t[3], *const to[2] = {f + x->v[0] + 3, f + x->v[1] + 3};
  ga__vec3_cross(t, s.e, s.f);
  for (int c = 0; c < 3; c++) {
    if (x->node[0]) to[0][c] -= la * t[c];
    if (x->node[1]) to[1][c] += la * t[c];
  }
}

void ga__axes_force(const ga__eval *e, double *f)
{
  for (int i = 0; i < e->b->axes.n; i++) ga__axes_torque(e, i, f);
}

/* ---- Sweeping ---- */

/* Consecutive rows between the same two nodes, as those of a hinge: what they share, and their sums. Matrices
 * by columns. */
typedef struct hinge {
  ga__quad Ra[3], Rb[3];
  ga__quad d;            /* ω_a − ω_b */
  ga__quad T;            /* Σ λ t */
  ga__quad ef[3], fe[3]; /* Σ λ (e fᵀ − z I), Σ λ (f eᵀ − z I) */
} hinge;

GA__INLINE double dot3(ga__quad a, ga__quad b)
{
  const ga__quad p = a * b;
  return p[0] + p[1] + p[2];
}

GA__INLINE void begin_hinge(hinge *h, const ga__kin *a, const ga__kin *b)
{
  const ga__quad zero = {0, 0, 0, 0};
  ga__quad_columns(h->Ra, a->R);
  ga__quad_columns(h->Rb, b->R);
  h->d = ga__quad_load(a->w + 3) - ga__quad_load(b->w + 3);
  h->T = zero;
  for (int j = 0; j < 3; j++) h->ef[j] = h->fe[j] = zero;
}

GA__INLINE void row_jacobian(hinge *h, const ga__axes *x, ga__quad e, ga__quad f, ga__quad t, double z,
                             double la, const ga_jacobian *J)
{
  const ga__quad slope[2] = {dot3(h->d, e) * f - z * h->d, z * h->d - dot3(h->d, f) * e};
  for (int k = 0; k < 2; k++) {
    if (x->B[k] < 0) continue;
    if (J->want & (GA_WANT_Q | GA_WANT_B)) ga__quad_store3(J->Q + x->B[k], k == 0 ? t : -t);
    if (J->want & GA_WANT_D) ga__quad_store3(J->D + x->Bt[k], k == 0 ? t : -t);
    if (J->want & GA_WANT_G) ga__quad_store3(J->G + x->B[k], k == 0 ? slope[0] : slope[1]);
  }
  const double lz = la * z;
  const ga__quad le = la * e, lf = la * f;
  h->ef[0] += le * f[0] - lz * GA__QUAD_UNIT(0);
  h->ef[1] += le * f[1] - lz * GA__QUAD_UNIT(1);
  h->ef[2] += le * f[2] - lz * GA__QUAD_UNIT(2);
  h->fe[0] += lf * e[0] - lz * GA__QUAD_UNIT(0);
  h->fe[1] += lf * e[1] - lz * GA__QUAD_UNIT(1);
  h->fe[2] += lf * e[2] - lz * GA__QUAD_UNIT(2);
}

GA__INLINE void sweep_row(hinge *h, const ga__eval *eval, const ga__axes *x, const ga_sweep *s,
                          const ga_jacobian *J)
{
  const ga__quad e = ga__quad_times(h->Ra, x->u[0]), f = ga__quad_times(h->Rb, x->u[1]);
  const ga__quad t = ga__quad_cross(e, f);
  const double la = eval->p->lambda[x->lambda], z = dot3(e, f);
  h->T += la * t;
  if (s) s->phi[x->lambda] = z - x->constant;
  if (s && s->phi_dot) s->phi_dot[x->lambda] = dot3(t, h->d);
  if (J) row_jacobian(h, x, e, f, t, z, la, J);
}

/* array[tile φφ] += or −= T */
GA__INLINE void add_tile(double *array, int at, int minus, const ga__quad T[3])
{
  if (at < 0) return;
  for (int j = 0; j < 3; j++) {
    const ga__quad before = ga__quad_load3(array + at + 3 * j), by = minus ? -T[j] : T[j];
    ga__quad_store3(array + at + 3 * j, before + by);
  }
}

GA__INLINE void end_hinge(const hinge *h, const ga__axes *x, const ga_sweep *s, const ga_jacobian *J)
{
  for (int k = 0; s && k < 2; k++) {
    double *to = s->dynamics + x->v[k] + 3;
    if (x->node[k] == 0) continue;
    const ga__quad by = k == 0 ? h->T : -h->T;
    ga__quad_store3(to, ga__quad_load3(to) + by);
  }
  if (!J || !(J->want & GA_WANT_Q)) return;
  add_tile(J->Q, x->rr[0], 0, h->ef);
  add_tile(J->Q, x->rr[1], 1, h->fe);
  add_tile(J->Q, x->rr[2], 1, h->ef);
  add_tile(J->Q, x->rr[3], 0, h->fe);
}

GA__WIDE static void sweep_hinges(const ga__eval *e, const ga_sweep *s, const ga_jacobian *J)
{
  if (e->b->axes.n == 0) return;
  const ga__axes *x = e->b->axes.at, *end = x + e->b->axes.n;
  while (x < end) {
    const ga__axes *first = x;
    hinge h;
    begin_hinge(&h, &e->kin[x->node[0]], &e->kin[x->node[1]]);
    do sweep_row(&h, e, x++, s, J);
    while (x < end && x->node[0] == first->node[0] && x->node[1] == first->node[1]);
    end_hinge(&h, first, s, J);
  }
}

void ga__axes_sweep(const ga__eval *e, const ga_sweep *s, const ga_jacobian *J)
{
  sweep_hinges(e, s, J);
}
