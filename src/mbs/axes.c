/* Rows that hold the angle between two axes, e and f, fixed in rigid bodies or the ground: the gauge GA__DOT
 * alone in its row, written out, since every hinge has two of them. With d = ω_a − ω_b, t = e × f, z = e · f:
 *
 *   Φ = z − constant,   B_a = tᵀ = −B_b,   Φ' = t·d
 *   D_q(B v)_a = (d·e) f − z d,   D_q(B v)_b = z d − (d·f) e,   Φ'' at vdot = 0: D_q(B v)·(ω_a, ω_b)
 *   D_q(Bᵀλ) by rotations of (a, b), z on the diagonals:
 *     λ [ e fᵀ − z I,  z I − f eᵀ;  z I − e fᵀ,  f eᵀ − z I ] */
#include "mbs/mbs_impl.h"

#include "lie/mat3.h"

static const ga__node *node_at(const ga__built *b, int i)
{
  return GA__AT(b->node, ga__node, i);
}

/* ---- Which rows ---- */

static int is_rigid(const ga__built *b, int node)
{
  return node == 0 || node_at(b, node)->rigid;
}

/* An axis of a marker, in body axes. */
static void set_axis(double u[3], const ga__marker *marker, double scale, const double axis[3])
{
  ga__mat3_mul_vec(u, marker->A, axis);
  for (int i = 0; i < 3; i++) u[i] *= scale;
}

/* Takes the row over, once its entries are known. */
ga_status ga__axes_take(ga__built *b, ga__row *row)
{
  if (row->n_terms != 1 || row->target || row->wrap) return GA_OK;
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

void ga__axes_values(const ga__eval *e, double *out, int order)
{
  for (int i = 0; i < e->b->axes.n; i++) {
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
}

void ga__axes_force(const ga__eval *e, double *f)
{
  for (int i = 0; i < e->b->axes.n; i++) {
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
}

/* ---- Derivatives ---- */

static inline void put3(double *to, double scale, const double t[3])
{
  for (int i = 0; i < 3; i++) to[i] = scale * t[i];
}

/* array[tile φφ] += scale T, by columns */
static inline void add_tile(double *array, int at, double scale, const double T[9])
{
  for (int i = 0; at >= 0 && i < 9; i++) array[at + i] += scale * T[i];
}

static inline void curvature(double la, const ga__axes *x, const view *s, const ga_jacobian *J)
{
  double ef[9], fe[9];
  for (int i = 0; i < 9; i++) {
    const double z = i % 4 == 0 ? s->z : 0.0;
    ef[i] = s->e[i % 3] * s->f[i / 3] - z;
    fe[i] = s->f[i % 3] * s->e[i / 3] - z;
  }
  add_tile(J->Q, x->rr[0], la, ef);
  add_tile(J->Q, x->rr[1], -la, fe);
  add_tile(J->Q, x->rr[2], -la, ef);
  add_tile(J->Q, x->rr[3], la, fe);
}

static inline void jacobian(const ga__axes *x, const view *s, const double t[3], double la,
                            const ga_jacobian *J)
{
  double slope[2][3];
  if (J->want & GA_WANT_G) slopes(slope[0], slope[1], s);
  for (int k = 0; k < 2; k++) {
    const double sign = k == 0 ? 1.0 : -1.0;
    if (x->B[k] < 0) continue;
    if (J->want & (GA_WANT_Q | GA_WANT_B)) put3(J->Q + x->B[k], sign, t);
    if (J->want & GA_WANT_D) put3(J->D + x->Bt[k], sign, t);
    if (J->want & GA_WANT_G) put3(J->G + x->B[k], 1.0, slope[k]);
  }
  if (J->want & GA_WANT_Q) curvature(la, x, s, J);
}

void ga__axes_sweep(const ga__eval *e, const ga_sweep *sweep, const ga_jacobian *J)
{
  for (int i = 0; i < e->b->axes.n; i++) {
    const ga__axes *x = GA__AT(e->b->axes, ga__axes, i);
    const view s = view_of(e, x);
    const double la = e->p->lambda[x->lambda];
    double t[3];
    ga__vec3_cross(t, s.e, s.f);
    if (sweep) {
      sweep->phi[x->lambda] = s.z - x->constant;
      if (sweep->phi_dot) sweep->phi_dot[x->lambda] = ga__vec3_dot(t, s.d);
      for (int c = 0; c < 3; c++) {
        if (x->node[0]) sweep->dynamics[x->v[0] + 3 + c] += la * t[c];
        if (x->node[1]) sweep->dynamics[x->v[1] + 3 + c] -= la * t[c];
      }
    }
    if (J) jacobian(x, &s, t, la, J);
  }
}
