/* Coincident origins of two frames on rigid bodies or the ground, the most frequent constraint: three rows at
 * once. With r from a node's origin to its end, in ground axes:
 *
 *   Φ = p_b − p_a,  B_b = [I, −r_b~],  Φ'' at vdot = 0: ω_b × (ω_b × r_b) − ω_a × (ω_a × r_a)
 *   D_q(B v)_b = −ω_b~ r_b~ = (ω·r) I − r ωᵀ,  D_q(B_bᵀ λ) = λ~ r_b~ = r λᵀ − (λ·r) I
 *
 * and those of a with the other sign. */
#include "mbs/mbs_impl.h"

#include "lie/mat3.h"

/* ---- Pattern ---- */

ga_status ga__points_want(ga__mbs_model *b)
{
  ga_status status = GA_OK;
  for (int i = 0; !status && i < 2 * b->point3.n; i++) {
    const ga__point3 *p = GA__AT(b->point3, ga__point3, i / 2);
    const int node = GA__AT(b->marker, ga__marker, i % 2 ? p->b : p->a)->node;
    status = ga__want_pair(&b->pattern, node, node, 1u << GA__RR, 1u << GA__RR);
  }
  return status;
}

/* Sets the arm of an end and its entries of B: the diagonal of x, then nine of φ, column by column. */
static int bind_end(ga__mbs_model *b, int marker, int lambda, ga__end *end)
{
  const ga__marker *mk = GA__AT(b->marker, ga__marker, marker);
  const ga__node *node = GA__AT(b->node, ga__node, mk->node);
  const int first = b->nv + lambda;
  int ok = 1;
  *end = (ga__end){mk->node, node->v, {mk->s[0], mk->s[1], mk->s[2]}, b->pattern.n, -1, node->rr};
  if (mk->node == 0) return ok;
  for (int i = 0; i < 3; i++) ok = ok && ga__own_entry(&b->pattern, first + i, node->v + i) >= 0;
  for (int i = 0; i < 9; i++) ok = ok && ga__own_entry(&b->pattern, first + i % 3, node->v + 3 + i / 3) >= 0;
  if (ok) ga__set_entries(&b->pattern, GA_WANT_Q | GA_WANT_G, end->B, 12);
  if (ok) ga__exclude_entries(&b->pattern, GA_WANT_G, end->B, 3);
  return ok;
}

/* Entries of Bᵀ column by column, in the order of storage: the body with the lower number first, each with
 * one of x and two of φ. */
static int bind_columns(ga__mbs_model *b, ga__point3 *p)
{
  const int lower = p->end[1].v < p->end[0].v && p->end[1].node ? 1 : 0, first = b->pattern.n;
  int ok = 1;
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 2; k++) {
      ga__end *end = &p->end[k == 0 ? lower : 1 - lower];
      const int column = b->nv + p->lambda + i;
      if (end->node == 0) continue;
      if (i == 0) end->Bt = b->pattern.n;
      ok = ok && ga__own_entry(&b->pattern, end->v + i, column) >= 0;
      for (int c = 0; c < 3; c++)
        if (c != i) ok = ok && ga__own_entry(&b->pattern, end->v + 3 + c, column) >= 0;
    }
  p->stride = (b->pattern.n - first) / 3;
  if (ok) ga__set_entries(&b->pattern, GA_WANT_D, first, 3 * p->stride);
  return ok;
}

/* First all B, which are in Q, then all Bᵀ, which are in D: so each array is written contiguously. */
ga_status ga__points_bind(ga__mbs_model *b)
{
  int ok = 1;
  for (int i = 0; ok && i < b->point3.n; i++) {
    ga__point3 *p = GA__AT(b->point3, ga__point3, i);
    ok = bind_end(b, p->a, p->lambda, &p->end[0]) && bind_end(b, p->b, p->lambda, &p->end[1]);
  }
  for (int i = 0; ok && i < b->point3.n; i++) ok = bind_columns(b, GA__AT(b->point3, ga__point3, i));
  return ok ? ga__list_body_ends(b) : GA_ERR_MEMORY;
}

/* ---- Values ---- */

/* Inlined, like those below, so that arms stay in registers. */
static inline void arm_of(double r[3], const ga__end *end, const ga__kin *kin)
{
  ga__mat3_mul_vec(r, kin->R, end->s);
}

/* Order 0, 1, 2: position, velocity and, at vdot = 0, acceleration of an end. */
static inline void end_value(double out[3], const ga__kin *kin, const double r[3], int order)
{
  double c[3];
  if (order == 0) {
    for (int i = 0; i < 3; i++) out[i] = kin->x[i] + r[i];
    return;
  }
  ga__vec3_cross(c, kin->w + 3, r);
  if (order == 1)
    for (int i = 0; i < 3; i++) out[i] = kin->w[i] + c[i];
  else
    ga__vec3_cross(out, kin->w + 3, c);
}

void ga__point_value(const ga__eval *e, int i, double *out, int order)
{
  const ga__point3 *p = GA__AT(e->b->point3, ga__point3, i);
  double value[2][3], r[3];
  for (int k = 0; k < 2; k++) {
    const ga__kin *kin = &e->kin[p->end[k].node];
    arm_of(r, &p->end[k], kin);
    end_value(value[k], kin, r, order);
  }
  for (int c = 0; c < 3; c++) out[p->lambda + c] = value[1][c] - value[0][c];
}

void ga__points_values(const ga__eval *e, double *out, int order)
{
  for (int i = 0; i < e->b->point3.n; i++) ga__point_value(e, i, out, order);
}

/* to += sign Bᵀλ */
static inline void pull(double *to, double sign, const double r[3], const double lambda[3])
{
  double torque[3];
  ga__vec3_cross(torque, r, lambda);
  for (int i = 0; i < 3; i++) to[i] += sign * lambda[i], to[3 + i] += sign * torque[i];
}

void ga__point_force(const ga__eval *e, int i, double *f)
{
  const ga__point3 *p = GA__AT(e->b->point3, ga__point3, i);
  for (int k = 0; k < 2; k++) {
    const ga__end *end = &p->end[k];
    double r[3];
    if (end->node == 0) continue;
    arm_of(r, end, &e->kin[end->node]);
    pull(f + end->v, k ? -1.0 : 1.0, r, e->p->lambda + p->lambda);
  }
}

void ga__points_force(const ga__eval *e, double *f)
{
  for (int i = 0; i < e->b->point3.n; i++) ga__point_force(e, i, f);
}
