/* Closes an assembly with redundant constraints: positions that satisfy them, or violate them least. */
#include "core/stepper.h"

#include <math.h>
#include <string.h>

enum { MAX_ITERATIONS = 60, MAX_TRIES = 12 };
#define LEAST_DAMPING 1e-8
#define MOST_DAMPING 0.1
#define MORE_DAMPING 10.0
#define CONVERGED 1e-14 /* relative moves below this are rounding */
#define STAGNATED 1e-9  /* and below this if they no longer halve */
/* Residuals that decrease by less than this factor STALLS times are at their minimum. */
#define HEADWAY 0.999
enum { STALLS = 5 };

/* out := Φ divided by the lengths of its rows; returns its norm. */
static double scaled(const ga_stepper *st, const double *phi, double *out)
{
  double sum = 0.0;
  for (int i = 0; i < st->sys->size[GA_BLOCK_LAMBDA]; i++) {
    out[i] = phi[i] / st->red.null.length[i];
    sum += out[i] * out[i];
  }
  return sqrt(sum);
}

/* δ = −M⁻¹Bᵀ(B M⁻¹ Bᵀ + E)⁻¹ Φ, with A δ = 0, into x of the Gram matrix. */
static ga_status move_of(ga_stepper *st, double damping, const double *phi)
{
  ga__gram *g = &st->red.gram;
  const ga__saddle *sd = &st->saddle;
  ga_status status = ga__gram_damped(g, sd->M, sd->Q, sd->A, st->red.null.length, damping);
  for (int i = 0; i < st->sys->nv + g->m; i++) g->x[i] = 0.0;
  scaled(st, phi, g->x + st->sys->nv);
  for (int i = 0; i < st->sys->size[GA_BLOCK_LAMBDA]; i++) g->x[st->sys->nv + i] *= -1.0;
  return status ? status : ga_lu_solve(g->lu, g->x);
}

/* M, B and A at now.q, and the lengths of the rows. */
static ga_status evaluate(ga_stepper *st)
{
  const ga__saddle *sd = &st->saddle;
  ga_point p = ga__state_point(&st->now);
  ga_status status = ga__saddle_evaluate(&st->saddle, &st->deriv, &p, 0);
  if (!status) ga__measure_rows(st->sys, sd->Q, sd->A, st->red.null.length);
  return status;
}

/* One move that reduces |Φ|, damped as needed: from next.q to now.q, Φ from phi to phi_new. *size: relative
 * size of the move; *ratio: change of |Φ|. */
static ga_status one_move(ga_stepper *st, double *phi, double *phi_new, double *size, double *ratio,
                          ga__scratch scratch)
{
  const ga_system *sys = st->sys;
  double *relative = ga__take(&scratch, sys->size[GA_BLOCK_LAMBDA]);
  ga__state *f = &st->now;
  size_t bytes = (size_t)sys->nq * sizeof(double);
  ga_point p = ga__state_point(f);
  ga_status status = evaluate(st);
  if (status) return status;
  double scale = 1.0 + ga__max_abs(f->q, sys->nq, NULL), before = scaled(st, phi, relative);
  double damping = fmin(MOST_DAMPING, fmax(LEAST_DAMPING, before / scale)), after = before;
  memcpy(st->next.q, f->q, bytes);
  for (int i = 0; i < MAX_TRIES; i++, damping *= MORE_DAMPING) {
    if ((status = move_of(st, damping, phi))) return status;
    *size = ga__max_abs(st->red.gram.x, sys->nv, NULL) / scale;
    if (!isfinite(*size)) continue;
    ga_group_move(sys->group, f->q, st->next.q, st->red.gram.x);
    if ((status = ga__call(sys, GA__PHI, &p, phi_new))) return status;
    after = scaled(st, phi_new, relative);
    if (after <= before || *size <= STAGNATED) break;
  }
  if (after > before && *size <= STAGNATED) { /* rounding: the position before was better */
    memcpy(f->q, st->next.q, bytes);
    memcpy(phi_new, phi, (size_t)sys->size[GA_BLOCK_LAMBDA] * sizeof(double));
    for (int i = 0; i < sys->nv; i++) st->red.gram.x[i] = 0.0;
    *size = 0.0;
    after = before;
  }
  *ratio = before > 0.0 ? after / before : 0.0;
  return GA_OK;
}

/* Damped least squares (Levenberg and Marquardt) with damping proportional to |Φ|, which converges fast in
 * spite of the rank deficiency. */
ga_status ga__close_positions(ga_stepper *st, const ga_start_opts *o, ga_start_change *c, int *closed,
                              ga__scratch scratch)
{
  const ga_system *sys = st->sys;
  ga__state *f = &st->now;
  int nl = sys->size[GA_BLOCK_LAMBDA], stalls = 0, consistent = 0;
  double *phi = ga__take(&scratch, nl), size = 0.0, last = HUGE_VAL, ratio = 0.0;
  ga_point p = ga__state_point(f);
  ga_status status = ga__call(sys, GA__PHI, &p, phi);
  if (!status && o->project && nl > 0) status = ga__within_rounding(st, 0, NULL, phi, &consistent, scratch);
  if (!status && !st->red.gram.ctx) status = ga__gram_create(sys, st->opts.lu, &st->red.gram);
  if (status) return status;
  double *phi_new = ga__take(&scratch, nl), *total = ga__take(&scratch, sys->nv);
  c->residual_before = c->residual_after = ga__max_abs(phi, nl, &c->worst_before);
  for (int i = 0; i < sys->nv; i++) total[i] = 0.0;
  if (consistent) status = evaluate(st); /* unchanged to the last bit */
  if (status) return status;
  for (c->iterations = 0; o->project && nl > 0 && !consistent && c->iterations < MAX_ITERATIONS;
       c->iterations++) {
    if ((status = one_move(st, phi, phi_new, &size, &ratio, scratch))) return status;
    if (c->iterations == 0 && size <= CONVERGED) { /* keep q to the last bit */
      memcpy(f->q, st->next.q, (size_t)sys->nq * sizeof(double));
      break;
    }
    memcpy(phi, phi_new, (size_t)nl * sizeof(double));
    for (int i = 0; i < sys->nv; i++) total[i] += st->red.gram.x[i];
    c->change = ga__max_abs(total, sys->nv, &c->worst_change);
    if (c->change > o->max_change * (1.0 + ga__max_abs(f->q, sys->nq, NULL))) break;
    stalls = ratio > HEADWAY ? stalls + 1 : 0;
    if (size <= CONVERGED || (size <= STAGNATED && size > 0.5 * last) || stalls == STALLS) break;
    last = size;
  }
  c->residual_after = ga__last_max_abs(phi, nl, &c->worst_after);
  double limit = o->max_gap * (1.0 + ga__max_abs(f->q, sys->nq, NULL));
  for (int i = 0; i < nl; i++) phi_new[i] = phi[i] / (o->project ? st->red.null.length[i] : 1.0);
  *closed = !o->project || ga__max_abs(phi_new, nl, NULL) <= limit;
  return GA_OK;
}
