/* Local errors of the last step, numerical minus exact, and what of them matters.
 *
 *   raw    e_q = κh³ vddot − (h³/12)[v, vdot] + correction,  vddot from a₁ − a; the bracket is not there with
 * the commutator term; the correction is −h B_nᵀη in the stabilized form, βh²(ã − a₁) with two sets of
 * unknowns index-3 and its like: the part of e_q along the constraints, since Φ = 0 holds raw    e_v = κ_v h³
 * D²vdot, κ_v = 1/12 + Δ(αf − ½), and then B e_v = −D_q(B v + Φ_t) e_q, A e_v = −k_q e_q e_x = κ_x h³ D²xdot,
 * κ_x = 1/12 + (δm − δf)(δf − ½) */
#include "core/core_impl.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Rates r at the end, at the beginning and, h_prev before it, earlier; right after a start `earlier` is their
 * derivative at the beginning, h_prev 0. */
typedef struct rates {
  const double *end, *beginning, *earlier;
  double h, h_prev;
  double noise; /* of the rates, from rounding and from Newton's iteration: what comes of it is no error */
} rates;

/* κ h³ D²r by divided differences. */
static void second_difference(double *out, const rates *r, int n, double kappa)
{
  double h = r->h, h_prev = r->h_prev;
  double factor = 2.0 * kappa * h * h * h / (h + h_prev),
         noise = 8.0 * fabs(factor) * r->noise * (1.0 / h + (h_prev > 0.0 ? 1.0 / h_prev : 0.0));
  for (int i = 0; i < n; i++) {
    double before = h_prev > 0.0 ? (r->beginning[i] - r->earlier[i]) / h_prev : r->earlier[i];
    out[i] = factor * ((r->end[i] - r->beginning[i]) / h - before);
    if (fabs(out[i]) < noise) out[i] = 0.0;
  }
}

static void raw_q(ga_stepper *st)
{
  const ga_system *sys = st->sys;
  const ga__full *n = &st->next, *m = &st->now; /* before and after the step */
  double h = m->scalar[GA__H_OLD], factor = m->scalar[GA__KAPPA_H2] * h / m->scalar[GA__SPAN];
  for (int i = 0; i < sys->nv; i++) st->est_q[i] = factor * (m->a[i] - m->a_prev[i]);
  if (!st->commutes && ga_group_n_blocks(sys->group) > 0) {
    ga_group_bracket(sys->group, st->tmp, n->v, n->vdot);
    for (int i = 0; i < sys->nv; i++) st->est_q[i] -= h * h * h / 12.0 * st->tmp[i];
  }
  if (st->stabilized)
    for (int i = 0; i < sys->n_b; i++) st->est_q[sys->b_col[i]] -= h * st->B_n[i] * m->eta[sys->b_row[i]];
  if (st->two_sets)
    for (int i = 0; i < sys->nv; i++) st->est_q[i] += st->opts.scheme.beta * h * h * (st->pt[i] - st->p[i]);
}

/* e := the e nearest to it in the metric of M with B e = b, A e = k, these being in the rows of st->solve. */
static ga_status onto_constraints(ga_stepper *st, double *e)
{
  const ga_system *sys = st->sys;
  ga_point p = ga__full_point(&st->now);
  p.vdot = e;
  ga_status status = ga__call(sys, GA__MASS, &p, st->solve);
  if (!status) status = ga_lu_solve(st->saddle.lu, st->solve);
  if (!status) memcpy(e, st->solve, (size_t)sys->nv * sizeof(double));
  return status;
}

static double size_of(const double *a, int n)
{
  return ga__max_abs(a, n, NULL);
}

/* What rounding and Newton's iteration leave in vdot after steps of at least h. Φ = 0 alone leaves ε|q| of
 * positions, which h² divides; B v + Φ_t = 0 leaves ε|v|. */
static double noise_of_vdot(const ga_stepper *st, double h)
{
  const ga_system *sys = st->sys;
  const ga__full *m = &st->now;
  double v = DBL_EPSILON * size_of(m->v, sys->nv);
  if (!st->stabilized && !st->two_sets && sys->size[GA_BLOCK_LAMBDA])
    v += DBL_EPSILON * size_of(m->q, sys->nq) / h;
  return st->c1 * v / h + st->opts.newton.tol * size_of(m->vdot, sys->nv);
}

static void clear_constraints(ga_stepper *st)
{
  for (int i = st->sys->nv; i < st->sys->n; i++) st->solve[i] = 0.0;
}

/* −D_q(B v + Φ_t) e_q and −k_q e_q into the rows of st->solve. */
static ga_status velocity_rows(ga_stepper *st)
{
  const ga_system *sys = st->sys;
  ga_point p = ga__full_point(&st->now);
  ga_jacobian J = {GA_WANT_Q | GA_WANT_G | GA_WANT_B, 0.0, 0.0, st->D, st->Q, st->G};
  ga_status status = ga__jacobian(&st->deriv, &p, &J);
  if (status) return status;
  clear_constraints(st);
  int first = sys->start[GA_BLOCK_LAMBDA], psi = sys->start[GA_BLOCK_PSI], end = sys->start[GA_BLOCK_X];
  for (int e = 0; e < sys->n_entries; e++) {
    int row = sys->row[e];
    if (row < first || row >= end || sys->col[e] >= sys->nv) continue;
    st->solve[row] -= (row < psi ? st->G[e] : st->Q[e]) * st->est_q[sys->col[e]];
  }
  return GA_OK;
}

ga_status ga__estimate(ga_stepper *st, int with_v)
{
  const ga_system *sys = st->sys;
  const ga_scheme *s = &st->opts.scheme;
  const ga__full *n = &st->next, *m = &st->now;
  double h = m->scalar[GA__H_OLD], h_prev = n->scalar[GA__H_OLD], delta = s->delta_m - s->delta_f;
  int constrained = sys->size[GA_BLOCK_LAMBDA] + sys->size[GA_BLOCK_PSI] > 0;
  int along = !st->stabilized && !st->two_sets && sys->size[GA_BLOCK_LAMBDA] > 0;
  ga_point p = ga__full_point(m);
  ga_status status = GA_OK;
  raw_q(st);
  double first = st->next.scalar[GA__HAS_JERK] != 0.0 || h_prev > 0.0; /* 0: nothing to difference yet */
  double noise = noise_of_vdot(st, h_prev > 0.0 ? fmin(h, h_prev) : h), size_a = size_of(m->vdot, sys->nv);
  double size_x = size_of(m->xdot, sys->size[GA_BLOCK_X]);
  /* states fed by vdot share its noise, as far as can be told: by the sizes of both */
  double noise_x = st->opts.newton.tol * size_x + (size_a > 0.0 ? size_x / size_a * noise : 0.0);
  rates x = {m->xdot, n->xdot, n->xdot_prev, h, h_prev, noise_x};
  rates v = {m->vdot, n->vdot, n->vdot_prev, h, h_prev, noise};
  second_difference(st->est_x, &x, sys->size[GA_BLOCK_X], first * (1.0 / 12.0 + delta * (s->delta_f - 0.5)));
  if (constrained && (along || with_v)) status = ga__saddle_factor(&st->saddle, &st->deriv, &p, 0);
  if (!status && along) {
    clear_constraints(st); /* k = 0 says nothing of positions: A e_q stays what it is */
    ga__saddle_a_mul(&st->saddle, st->solve + sys->start[GA_BLOCK_PSI], st->est_q);
    status = onto_constraints(st, st->est_q);
  }
  if (status || !with_v) return status;
  second_difference(st->est_v, &v, sys->nv, first * (1.0 / 12.0 + st->alpha * (s->alpha_f - 0.5)));
  if (!constrained || first == 0.0) return GA_OK;
  status = velocity_rows(st);
  return status ? status : onto_constraints(st, st->est_v);
}

/* e_q → (M̂ + h²K_q)⁻¹ c₁M e_q: a mode with h²K ≫ M is damped by the step itself and needs no accuracy. */
ga_status ga__filter(ga_stepper *st)
{
  const ga_system *sys = st->sys;
  if (st->cheap) return GA_OK; /* chosen because no force is stiff */
  double c = st->family == &ga__exact ? st->c1 : 1.0 - st->opts.scheme.alpha_m;
  int at = st->two_sets ? sys->n : 0;
  ga_point p = ga__full_point(&st->now);
  p.vdot = st->est_q;
  for (int i = 0; i < st->assembly.n; i++) st->r[i] = 0.0;
  ga_status status = ga__call(sys, GA__MASS, &p, st->r + at);
  for (int i = 0; i < sys->nv; i++) st->r[at + i] *= c;
  if (!status) status = ga_lu_solve(st->lu, st->r);
  if (!status) memcpy(st->est_q, st->r + at, (size_t)sys->nv * sizeof(double));
  return status;
}

ga_status ga_stepper_error(ga_stepper *st, double *e_q, double *e_v, double *e_x)
{
  if (!st) return GA_ERR_ARGUMENT;
  if (!st->can_undo)
    return ga__fail(st->ctx, GA_ERR_ORDER, "ga_stepper_error: it is the error of a step just made");
  ga_status status = ga__estimate(st, e_v != NULL);
  if (status) return status;
  size_t nv = (size_t)st->sys->nv * sizeof(double);
  if (e_q) memcpy(e_q, st->est_q, nv);
  if (e_v) memcpy(e_v, st->est_v, nv);
  if (e_x) memcpy(e_x, st->est_x, (size_t)st->sys->size[GA_BLOCK_X] * sizeof(double));
  return GA_OK;
}
