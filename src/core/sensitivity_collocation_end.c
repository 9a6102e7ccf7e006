/* The derivative of the end of a step by collocation (collocation_end.c). From the last node m = M, with the
 * matrix K of the end, made at an earlier point w, S = K⁻¹ (0, ·) the moves and multipliers of a projection,
 * and B, A, Φ, k without index those at the end:
 *
 *   q = move(q_M, S)       rows of Φ: Φ = 0,                       all others: K S = 0
 *   v = v_M + S            rows of Φ and k: B v + Φ_t = 0, k = 0,  all others: K S = 0
 *   M vdot = f,  Φ'' = 0,  k' = 0,  xdot = s,  y = o
 *
 *   K δS + δK S = 0,   B δq + ∂Φ/∂p = 0   or   B δv + D_q(B v + Φ_t) δq + ∂(B v + Φ_t)/∂p = 0, likewise k
 *
 * δK is that along the derivatives at w: those of the prediction, where the matrix was made in the first
 * sweep, or of the last node. */
#include "core/sensitivity_collocation.h"
#include "lin/lin_impl.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Moves below this, relative to q and v, are rounding: their derivatives are left out. */
#define ROUNDING 1e-13
#define MOVE 1e-3 /* [-] of q, and of v relative to 1 + its size, in differences */
/* Moves of the point of the matrix by a parameter and by the state may be made together up to this. */
#define TOGETHER 1e-2

static const double AT[GA__N_AT] = {-2.0, -1.0, 1.0, 2.0};
static const double WEIGHT[GA__N_AT] = {1.0, -8.0, 8.0, -1.0};

static int is_of_k(const ga_system *sys, int row)
{
  return row >= sys->start[GA_BLOCK_PSI] && row < sys->start[GA_BLOCK_X];
}

static int is_of_phi(const ga_system *sys, int row)
{
  return row >= sys->start[GA_BLOCK_LAMBDA] && row < sys->start[GA_BLOCK_PSI];
}

/* ---- The equations of the end ---- */

ga_status ga__colloc_end_create(ga_sensitivity *se)
{
  ga_stepper *st = se->st;
  ga__colloc_linear *s = se->colloc;
  ga__layout layout;
  for (int i = 0; i < GA__COLLOC_N_ENDS; i++) ga_lu_destroy(&s->lu[i]);
  ga__assembly_destroy(&s->assembly);
  ga_status status = ga__method_of(GA_COLLOCATION)->family->layout(st, GA__COMPLETE, s->leaves_out, &layout);
  layout.leaves_out = s->leaves_out;
  if (!status) status = ga__assembly_create(st->sys, &layout, st->opts.lu, &s->assembly);
  for (int i = 0; !status && i < GA__COLLOC_N_ENDS; i++)
    status = ga__assembly_lu(&s->assembly, st->opts.lu, &s->lu[i]);
  return status;
}

static ga_status factor(ga_sensitivity *se, int which)
{
  ga__colloc_linear *s = se->colloc;
  ga__lu_decouple(s->lu[which], s->assembly.n_left_out, s->assembly.left_out_column);
  return ga_lu_factor(s->lu[which]);
}

ga_point ga__colloc_matrix_point(const ga_sensitivity *se)
{
  const ga__colloc_linear *s = se->colloc;
  const int *start = se->st->sys->start;
  const double *z = s->at_z;
  return (ga_point){s->t,
                    s->at_q,
                    s->at_v,
                    z,
                    z + start[GA_BLOCK_LAMBDA],
                    z + start[GA_BLOCK_PSI],
                    s->at_x,
                    z + start[GA_BLOCK_Y],
                    0,
                    NULL};
}

/* Where the matrix of projections was made, and its derivatives. */
static ga_status know_matrix(ga_sensitivity *se)
{
  ga_stepper *st = se->st;
  ga__colloc_linear *s = se->colloc;
  const ga__colloc *c = ga__colloc_of(st);
  const ga_system *sys = st->sys;
  if (s->known && c->old_end) return GA_OK;
  s->known = 1;
  s->t = c->made_t;
  s->shift = c->made_shift;
  ga__copy_numbers(s->at_q, c->made_q, sys->nq);
  ga__copy_numbers(s->at_v, c->made_v, sys->nv);
  ga__copy_numbers(s->at_z, c->made_z, sys->n);
  ga__copy_numbers(s->at_x, c->made_x, sys->size[GA_BLOCK_X]);
  const ga_point p = ga__colloc_matrix_point(se);
  ga_jacobian J = {GA_WANT_D | GA_WANT_Q | GA_WANT_B | GA_WANT_G, s->shift, 1.0, s->at_D, s->at_Q, s->at_G};
  return ga__jacobian(&st->deriv, &p, &J);
}

/* The matrix of a projection: rows of Φ, and for v those of k too, are those of the end. */
static ga_status factor_projection(ga_sensitivity *se, int which)
{
  ga__colloc_linear *s = se->colloc;
  const ga_system *sys = se->st->sys;
  const double *Q = s->Q, d = s->shift;
  for (int e = 0; e < sys->n_entries; e++) {
    const int of_k = is_of_k(sys, sys->row[e]) && which == GA__COLLOC_OF_V;
    s->D[e] = of_k && sys->col[e] < sys->nv ? d * s->Dv[e] : s->at_D[e];
    s->Q_end[e] = of_k ? 0.0 : is_of_phi(sys, sys->row[e]) ? Q[e] : s->at_Q[e];
  }
  ga__colloc_fill(se->st, &s->assembly, s->D, s->Q_end, s->zero, d, 1.0 / d);
  return factor(se, which);
}

/* That of accelerations, multipliers, rates and outputs at a point. */
static ga_status factor_all(ga_sensitivity *se)
{
  ga__colloc_linear *s = se->colloc;
  const ga_system *sys = se->st->sys;
  for (int e = 0; e < sys->n_entries; e++)
    s->D[e] = sys->col[e] < sys->nv && !is_of_k(sys, sys->row[e]) ? s->Dm[e] : s->Dv[e];
  ga__colloc_fill(se->st, &s->assembly, s->D, s->Q, s->zero, 0.0, 1.0);
  return factor(se, GA__COLLOC_OF_ALL);
}

/* Multipliers of a projection, from what it has moved. size: of what is moved. */
static ga_status find_multipliers(ga_sensitivity *se, int which, double size, ga__colloc_move *m)
{
  ga__colloc_linear *s = se->colloc;
  const ga_system *sys = se->st->sys;
  m->counts = ga__max_abs(m->by, sys->nv, NULL) > ROUNDING * (1.0 + size);
  if (!m->counts) return GA_OK;
  for (int i = 0; i < sys->n; i++) m->full[i] = 0.0;
  for (int e = 0; e < sys->n_entries; e++) {
    const int row = sys->row[e], col = sys->col[e];
    if (col >= sys->nv) continue;
    if (is_of_phi(sys, row)) m->full[row] += s->Q[e] * m->by[col];
    if (is_of_k(sys, row) && which == GA__COLLOC_OF_V) m->full[row] += s->Dv[e] * m->by[col];
  }
  return ga__assembly_solve(&s->assembly, s->lu[which], m->full);
}

ga_status ga__colloc_place_make(ga_sensitivity *se, const ga_point *p)
{
  ga__colloc_linear *s = se->colloc;
  ga_status status = ga__colloc_differentiate(se, p, s->Dm, s->Dv, s->Q, s->G);
  if (!status && ga__needs_base(se)) status = ga__parameter_base(se, p);
  ga__copy_numbers(s->base, se->base, se->st->sys->n + se->st->sys->size[GA_BLOCK_LAMBDA]);
  if (!status) status = factor_all(se);
  if (status || se->st->red.null.r == 0) return status;
  const int entries = se->st->sys->n_entries;
  ga__copy_numbers(se->step.D, s->Dv, entries);
  ga__copy_numbers(se->step.Q, s->Q, entries);
  ga__copy_numbers(se->step.G, s->G, entries);
  return ga__least_make(se, p);
}

ga_status ga__colloc_end_make(ga_sensitivity *se)
{
  ga_stepper *st = se->st;
  ga__colloc_linear *s = se->colloc;
  const ga__colloc *c = ga__colloc_of(st);
  const ga_system *sys = st->sys;
  const int M = c->now->stages, nv = sys->nv;
  const ga_point end = ga__state_point(&st->now);
  ga_status status = know_matrix(se);
  if (!status) status = ga__colloc_place_make(se, &end);
  if (status) return status;
  ga_group_difference(sys->group, s->q.by, c->q + M * sys->nq, st->now.q);
  for (int i = 0; i < nv; i++) s->v.by[i] = st->now.v[i] - c->v[M * nv + i];
  ga_group_tangent(sys->group, s->T_end, s->q.by);
  if (sys->size[GA_BLOCK_LAMBDA]) status = factor_projection(se, GA__COLLOC_OF_Q);
  if (!status && sys->size[GA_BLOCK_LAMBDA] + sys->size[GA_BLOCK_PSI])
    status = factor_projection(se, GA__COLLOC_OF_V);
  if (!status) status = find_multipliers(se, GA__COLLOC_OF_Q, ga__max_abs(st->now.q, sys->nq, NULL), &s->q);
  return status ? status : find_multipliers(se, GA__COLLOC_OF_V, ga__max_abs(st->now.v, nv, NULL), &s->v);
}

/* ---- The change of the matrix of projections ---- */

/* out[n] += factor · K S without the rows of Φ, K by derivatives with the shift of the matrix. */
static void multiply(const ga_sensitivity *se, const double *D, double factor, const double *S, double *out)
{
  const ga_system *sys = se->st->sys;
  const double d = se->colloc->shift;
  for (int e = 0; e < sys->n_entries; e++) {
    const int row = sys->row[e], col = sys->col[e];
    const int of_x = col >= sys->start[GA_BLOCK_X] && col < sys->start[GA_BLOCK_Y];
    if (is_of_phi(sys, row) || (is_of_k(sys, row) && col >= sys->nv)) continue;
    out[row] += factor * (is_of_k(sys, row) ? 1.0 / d : of_x ? d : 1.0) * D[e] * S[col];
  }
}

/* The point of the matrix, moved by `by` times the derivatives there. */
static ga_point moved_point(ga_sensitivity *se, const ga__colloc_variation *of, double by)
{
  ga__colloc_linear *s = se->colloc;
  const ga_system *sys = se->st->sys;
  const int *start = sys->start;
  double *z = s->moved_z;
  for (int i = 0; i < sys->nv; i++) {
    se->one[i] = by * of->q[i];
    se->at_v[i] = s->at_v[i] + by * of->v[i];
  }
  ga_group_move(sys->group, se->at_q, s->at_q, se->one);
  for (int i = 0; i < sys->n; i++) z[i] = s->at_z[i] + by * of->z[i];
  for (int i = 0; i < sys->size[GA_BLOCK_X]; i++) s->moved_x[i] = s->at_x[i] + by * of->x[i];
  return (ga_point){s->t + by * of->t,
                    se->at_q,
                    se->at_v,
                    z,
                    z + start[GA_BLOCK_LAMBDA],
                    z + start[GA_BLOCK_PSI],
                    s->moved_x,
                    z + start[GA_BLOCK_Y],
                    0,
                    NULL};
}

/* Adds to q.turn and v.turn: by central differences over ±step of the state, and of the parameter if at is
 * not NULL. */
static ga_status add_turn(ga_sensitivity *se, const ga__colloc_variation *of, ga__variant *at, double step,
                          double move)
{
  ga_stepper *st = se->st;
  ga__colloc_linear *s = se->colloc;
  for (int k = 1; k <= 2; k++) {
    const ga_point p = moved_point(se, of, AT[k] * move);
    ga_jacobian J = {GA_WANT_D, s->shift, 1.0, s->D, se->spare, se->other};
    const ga_status status = ga__jacobian(at ? &at[k].deriv : &st->deriv, &p, &J);
    if (status) return status;
    if (s->q.counts) multiply(se, s->D, 0.5 * AT[k] / step, s->q.full, s->q.turn);
    if (s->v.counts) multiply(se, s->D, 0.5 * AT[k] / step, s->v.full, s->v.turn);
  }
  return GA_OK;
}

/* δK S of both projections. */
static ga_status turn_matrix(ga_sensitivity *se, int j)
{
  ga__colloc_linear *s = se->colloc;
  const ga_system *sys = se->st->sys;
  const ga__colloc_variation *of = &s->of[j];
  ga__parameter *par = &se->parameter[j];
  for (int i = 0; i < sys->n; i++) s->q.turn[i] = s->v.turn[i] = 0.0;
  if (!s->q.counts && !s->v.counts) return GA_OK;
  const double size = fmax(ga__max_abs(of->q, sys->nv, NULL),
                           ga__max_abs(of->v, sys->nv, NULL) / (1.0 + ga__max_abs(s->at_v, sys->nv, NULL)));
  ga__variant *at = par->at[0].sys ? par->at : NULL;
  const double step = par->given.step;
  if (at && size * step <= TOGETHER) return add_turn(se, of, at, step, step);
  ga_status status = at ? add_turn(se, of, at, step, 0.0) : GA_OK;
  return status || !(size > 0.0) ? status : add_turn(se, of, NULL, MOVE / size, MOVE / size);
}

ga_status ga__colloc_turn_by_parameter(ga_sensitivity *se, int j)
{
  ga__colloc_linear *s = se->colloc;
  ga__parameter *par = &se->parameter[j];
  for (int i = 0; i < se->st->sys->n; i++) s->q.turn[i] = s->v.turn[i] = 0.0;
  if ((!s->q.counts && !s->v.counts) || !par->at[0].sys) return GA_OK;
  return add_turn(se, &s->of[j], par->at, par->given.step, 0.0);
}

/* ---- Accelerations of constraints ---- */

/* Φ'' and k' at vdot into out[n_lambda + n_psi]. */
static ga_status accelerate(ga_sensitivity *se, ga__deriv *w, const ga_point *p, double *out)
{
  ga__colloc_linear *s = se->colloc;
  const ga_system *sys = w->sys;
  const int nl = sys->size[GA_BLOCK_LAMBDA], np = sys->size[GA_BLOCK_PSI];
  ga_point at = *p;
  ga_status status = ga__phi_acc(w, p, out);
  at.v = p->vdot; /* B vdot + Φ_t, less Φ_t */
  if (!status && nl) status = ga__phi_dot(w, &at, s->rates);
  for (int i = 0; i < nl && !status; i++) out[i] += s->rates[i];
  if (!status && nl) {
    for (int i = 0; i < sys->nv; i++) se->two[i] = 0.0;
    at.v = se->two;
    status = ga__phi_dot(w, &at, s->rates);
    for (int i = 0; i < nl && !status; i++) out[i] -= s->rates[i];
  }
  if (status || !np) return status;
  ga_jacobian J = {GA_WANT_D | GA_WANT_M, 1.0, 0.0, s->D, se->spare, se->other};
  status = ga__k_acc(w, p, out + nl);
  if (!status) status = ga__jacobian(w, p, &J);
  for (int e = 0; e < sys->n_entries && !status; e++)
    if (is_of_k(sys, sys->row[e]) && sys->col[e] < sys->nv)
      out[sys->row[e] - sys->nv] += s->D[e] * p->vdot[sys->col[e]];
  return status;
}

/* out[n_lambda + n_psi] := their derivative along q and v. */
static ga_status accelerate_state(ga_sensitivity *se, const ga_point *at, const ga__tangent *d, double *out)
{
  ga_stepper *st = se->st;
  const ga_system *sys = st->sys;
  const int m = sys->start[GA_BLOCK_X] - sys->nv;
  const double size = fmax(ga__max_abs(d->q, sys->nv, NULL),
                           ga__max_abs(d->v, sys->nv, NULL) / (1.0 + ga__max_abs(at->v, sys->nv, NULL)));
  for (int i = 0; i < m; i++) out[i] = 0.0;
  if (!(size > 0.0)) return GA_OK;
  const double step = MOVE / size;
  for (int k = 0; k < GA__N_AT; k++) {
    ga_point p = *at;
    for (int i = 0; i < sys->nv; i++) {
      se->one[i] = AT[k] * step * d->q[i];
      se->at_v[i] = at->v[i] + AT[k] * step * d->v[i];
    }
    ga_group_move(sys->group, se->at_q, at->q, se->one);
    p.q = se->at_q, p.v = se->at_v;
    double *value = se->colloc->acceleration;
    const ga_status status = accelerate(se, &st->deriv, &p, value);
    if (status) return status;
    for (int i = 0; i < m; i++) out[i] += WEIGHT[k] / (12.0 * step) * value[i];
  }
  return GA_OK;
}

ga_status ga__colloc_accelerate_parameter(ga_sensitivity *se, int j, const ga_point *p, const double *later,
                                          double *out)
{
  const ga_system *sys = se->st->sys;
  ga__parameter *par = &se->parameter[j];
  const int np = sys->size[GA_BLOCK_PSI], m = sys->size[GA_BLOCK_LAMBDA] + np;
  const int moves = later || (par->at[0].sys && (np > 0 || par->moves_b));
  double *value = se->colloc->acceleration;
  for (int k = 0; k < GA__N_AT && m > 0 && moves; k++) {
    ga_point at;
    ga__variant *variant = ga__variant_at(se, j, k, p, later, &at);
    const ga_status status = accelerate(se, &variant->deriv, &at, value);
    if (status) return status;
    for (int i = 0; i < m; i++) out[i] += WEIGHT[k] / (12.0 * par->given.step) * value[i];
  }
  return GA_OK;
}

/* ---- One parameter ---- */

static ga_status solve(ga_sensitivity *se, int which, double *r)
{
  const ga__colloc_linear *s = se->colloc;
  for (int i = 0; i < se->st->sys->n; i++) r[i] = -r[i];
  const ga_status status = ga__assembly_solve(&s->assembly, s->lu[which], r);
  if (status) return status;
  return ga__first_bad(r, se->st->sys->n) >= 0 ? ga__refuse_sensitivity(se, "they are not finite", NULL)
                                               : GA_OK;
}

/* d->q from se->colloc->dq. g: derivatives of the equations by the parameter. */
static ga_status project_q(ga_sensitivity *se, const double *g, ga__tangent *d)
{
  ga__colloc_linear *s = se->colloc;
  const ga_system *sys = se->st->sys;
  const int nv = sys->nv, nl = sys->size[GA_BLOCK_LAMBDA], lambda = sys->start[GA_BLOCK_LAMBDA];
  double *r = s->end;
  for (int i = 0; i < nv; i++) se->one[i] = 0.0;
  ga__move_tangent(sys->group, s->T_end, s->q.by, s->dq, se->one, d->q);
  if (nl == 0) return GA_OK;
  ga__copy_numbers(r, s->q.turn, sys->n);
  for (int i = lambda; i < lambda + nl; i++) r[i] = g[i];
  for (int b = 0; b < sys->n_b; b++) r[lambda + sys->b_row[b]] += s->Q[sys->b_entry[b]] * d->q[sys->b_col[b]];
  const ga_status status = solve(se, GA__COLLOC_OF_Q, r);
  for (int i = 0; i < nv; i++) d->q[i] += r[i];
  return status;
}

/* d->v from that at the last node. */
static ga_status project_v(ga_sensitivity *se, const double *g, ga__tangent *d)
{
  ga__colloc_linear *s = se->colloc;
  const ga_system *sys = se->st->sys;
  const int nv = sys->nv, nl = sys->size[GA_BLOCK_LAMBDA], np = sys->size[GA_BLOCK_PSI],
            M = ga__colloc_of(se->st)->now->stages;
  double *r = s->end;
  ga__copy_numbers(d->v, s->dv + M * nv, nv);
  if (nl + np == 0) return GA_OK;
  ga__copy_numbers(r, s->v.turn, sys->n);
  for (int i = 0; i < nl; i++) r[sys->start[GA_BLOCK_LAMBDA] + i] = g[sys->n + i];
  for (int i = sys->start[GA_BLOCK_PSI]; i < sys->start[GA_BLOCK_X]; i++) r[i] = g[i];
  for (int e = 0; e < sys->n_entries; e++) {
    const int row = sys->row[e], col = sys->col[e];
    if (col >= nv) continue;
    if (is_of_phi(sys, row)) r[row] += s->Q[e] * d->v[col] + s->G[e] * d->q[col];
    if (is_of_k(sys, row)) r[row] += s->Dv[e] * d->v[col] + s->Q[e] * d->q[col];
  }
  const ga_status status = solve(se, GA__COLLOC_OF_V, r);
  for (int i = 0; i < nv; i++) d->v[i] += r[i];
  return status;
}

/* d's vdot, λ, ψ, xdot and y from its q, v and x; r[n]: derivatives of the equations that do not come from
 * these.
 */
static ga_status solve_place(ga_sensitivity *se, ga__tangent *d, double *r)
{
  ga__colloc_linear *s = se->colloc;
  const ga_system *sys = se->st->sys;
  const int *start = sys->start, *size = sys->size;
  for (int e = 0; e < sys->n_entries; e++) {
    const int row = sys->row[e], col = sys->col[e];
    if (is_of_phi(sys, row) || is_of_k(sys, row)) continue;
    if (col < sys->nv)
      r[row] += s->Q[e] * d->q[col] + s->Dv[e] * d->v[col];
    else if (col >= start[GA_BLOCK_X] && col < start[GA_BLOCK_Y])
      r[row] += s->Dv[e] * d->x[col - start[GA_BLOCK_X]];
  }
  const ga_status status = solve(se, GA__COLLOC_OF_ALL, r);
  double *const to[GA_N_BLOCKS] = {d->vdot, d->lambda, d->psi, d->xdot, d->y};
  for (int b = 0; b < GA_N_BLOCKS && !status; b++) ga__copy_numbers(to[b], r + start[b], size[b]);
  return status;
}

ga_status ga__colloc_place_forward(ga_sensitivity *se, int j, const ga_point *p, const double *later,
                                   const double *g, ga__tangent *d)
{
  const ga_system *sys = se->st->sys;
  const int *start = sys->start;
  double *r = se->colloc->end;
  ga_status status = accelerate_state(se, p, d, r + sys->nv);
  if (!status) status = ga__colloc_accelerate_parameter(se, j, p, later, r + sys->nv);
  if (status) return status;
  ga__copy_numbers(r, g, sys->nv);
  ga__copy_numbers(r + start[GA_BLOCK_X], g + start[GA_BLOCK_X], sys->n - start[GA_BLOCK_X]);
  if ((status = solve_place(se, d, r))) return status;
  return ga__least_forward(se, j, later, d);
}

ga_status ga__colloc_evaluate_place(ga_sensitivity *se, const ga_point *p, double *out)
{
  ga_stepper *st = se->st;
  const ga_system *sys = st->sys;
  const ga_status status =
      sys->def.sweep ? ga__sweep(sys, p, out, NULL, NULL, se->room) : ga__residual(sys, p, out, se->room);
  return status ? status : accelerate(se, &st->deriv, p, out + sys->nv);
}

/* Along the motion q' = v, v' = vdot, x' = xdot, which dense output ends with, and with time, which is
 * differenced before the end: that may be a break. */
ga_status ga__colloc_rates(ga_sensitivity *se, ga__tangent *rate)
{
  static const double ONE_SIDED[] = {25.0, -48.0, 36.0, -16.0, 3.0};
  ga_stepper *st = se->st;
  const ga_system *sys = st->sys;
  const ga__state *now = &st->now;
  const ga_point end = ga__state_point(now);
  const double way = MOVE * now->scalar[GA__H_OLD];
  double *by_t = se->g, *value = se->rhs, *r = se->colloc->end;
  if (ga__colloc_is_stiff(st) || st->red.null.r > 0)
    return ga__times_slope(se, 2 * ga__colloc_of(st)->now->stages - 1, rate);
  ga__copy_numbers(rate->q, now->v, sys->nv);
  ga__copy_numbers(rate->v, now->vdot, sys->nv);
  ga__copy_numbers(rate->x, now->xdot, sys->size[GA_BLOCK_X]);
  for (int i = 0; i < sys->n; i++) by_t[i] = 0.0;
  ga_status status = GA_OK;
  for (int k = 0; k < 5 && !status; k++) {
    ga_point p = end;
    p.t -= k * way;
    status = ga__colloc_evaluate_place(se, &p, value);
    for (int i = 0; i < sys->n && !status; i++) by_t[i] += ONE_SIDED[k] / (12.0 * way) * value[i];
  }
  if (!status) status = accelerate_state(se, &end, rate, r + sys->nv);
  if (status) return status;
  for (int i = 0; i < sys->n; i++) {
    const int of_constraint = i >= sys->nv && i < sys->start[GA_BLOCK_X];
    r[i] = by_t[i] + (of_constraint ? r[i] : 0.0);
  }
  return solve_place(se, rate, r);
}

/* dz[GA__NODES][n] := derivatives of z as it was predicted, from those at the beginning of the step and at
 * the nodes of the one before. */
static void predict_z(ga_sensitivity *se, int j, double *dz)
{
  const ga_stepper *st = se->st;
  const ga_system *sys = st->sys;
  const ga__colloc *c = ga__colloc_of(st);
  const ga__state *begin = &st->next;
  const ga__tangent *d = &se->parameter[j].before;
  const ga__colloc_rule *old = ga__colloc_last_rule(st, begin);
  const double *const rates[GA_N_BLOCKS] = {d->vdot_prev, d->lambda_prev, d->psi_prev, NULL, d->y_prev};
  const double *nodes = se->colloc->of[j].nodes, h_old = begin->scalar[GA__H_OLD];
  const int n = sys->n, started = !(h_old > 0.0) && begin->scalar[GA__HAS_JERK] != 0.0;
  ga__colloc_collect_tangent(sys, d, dz);
  for (int m = 1; m <= c->now->stages; m++) {
    double *to = dz + m * n, w[GA__NODES];
    ga__copy_numbers(to, dz, n);
    if (ga__colloc_predicts(old, st->h, h_old, c->now->c[m], w)) {
      for (int i = 0; i < n; i++) to[i] *= w[old->stages];
      for (int l = old->first; l < old->stages; l++)
        for (int i = 0; i < n; i++) to[i] += w[l] * nodes[l * n + i];
    }
    for (int b = 0; started && b < GA_N_BLOCKS; b++) /* those of xdot are not known, and of little effect */
      for (int i = 0; rates[b] && i < sys->size[b]; i++)
        to[sys->start[b] + i] += c->now->c[m] * st->h * rates[b][i];
  }
}

/* The derivatives of q, v, z at the prediction of the last node. */
static void predict_point(ga_sensitivity *se, int j)
{
  enum { PASSES = 3 };
  ga_stepper *st = se->st;
  ga__colloc_linear *s = se->colloc;
  const ga_system *sys = st->sys;
  const ga__colloc_rule *rule = ga__colloc_of(st)->now;
  const ga__colloc_variation *of = &s->of[j];
  const ga__tangent *d = &se->parameter[j].before;
  const int n = sys->n, nv = sys->nv, M = rule->stages;
  const size_t blocks = (size_t)ga_group_blocks_length(sys->group);
  double *dz = s->change.further, *dv = s->change.v_inside, *omega = s->change.omega,
         *rate = s->change.omega_rate;
  predict_z(se, j, dz);
  ga__copy_numbers(rate, d->v, nv);
  for (int m = 1; m <= M; m++) {
    double *v = dv + m * nv;
    ga__copy_numbers(v, d->v, nv);
    ga__colloc_add(rule, st->h, rule->A[m], dz, n, v, nv);
    for (int i = 0; i < nv; i++) omega[m * nv + i] = rule->c[m] * st->h * d->v[i];
  }
  for (int pass = 0; pass < PASSES; pass++) {
    for (int m = 1; m <= M; m++) {
      ga__mul_blocks(sys->group, rate + m * nv, s->inverse + m * blocks, dv + m * nv, 1.0, 0);
      ga__mul_blocks(sys->group, se->one, s->turn + m * blocks, omega + m * nv, 0.0, 0);
      for (int i = 0; i < nv; i++) rate[m * nv + i] += se->one[i];
    }
    for (int i = 0; i < M * nv; i++) omega[nv + i] = 0.0;
    for (int m = 1; m <= M; m++) ga__colloc_add(rule, st->h, rule->A[m], rate, nv, omega + m * nv, nv);
  }
  ga__mul_blocks(sys->group, of->q, s->T + M * blocks, omega + M * nv, 1.0, 0);
  for (int i = 0; i < nv; i++) of->q[i] += s->carried[M * nv + i];
  ga__copy_numbers(of->v, dv + M * nv, nv);
  ga__copy_numbers(of->z, dz + M * n, n);
}

/* Where the matrix of projections was made in this step. */
static void keep_matrix_point(ga_sensitivity *se, int j)
{
  const ga__parameter *par = &se->parameter[j];
  ga__colloc_linear *s = se->colloc;
  const ga_system *sys = se->st->sys;
  const int nv = sys->nv, nx = sys->size[GA_BLOCK_X], M = ga__colloc_of(se->st)->now->stages;
  const ga__colloc_variation *of = &s->of[j];
  ga__copy_numbers(of->q, s->dq, nv);
  ga__copy_numbers(of->v, s->dv + M * nv, nv);
  ga__copy_numbers(of->z, s->dz + M * sys->n, sys->n);
  ga__copy_numbers(of->x, s->dx + M * nx, nx);
  s->of[j].t = par->dt;
  /* Where sizes of steps depend on the parameter, those of the last node are near enough. */
  if (ga__colloc_of(se->st)->made_early && par->dh == 0.0 && par->dh_old == 0.0) predict_point(se, j);
}

ga_status ga__colloc_end_forward(ga_sensitivity *se, int j)
{
  ga_stepper *st = se->st;
  ga__colloc_linear *s = se->colloc;
  const ga__colloc *c = ga__colloc_of(st);
  const ga_system *sys = st->sys;
  const int nv = sys->nv, nx = sys->size[GA_BLOCK_X];
  ga__tangent *d = &se->parameter[j].now;
  const ga_point end = ga__state_point(&st->now);
  const double *later = se->parameter[j].dt != 0.0 ? se->parameter[j].to : NULL;
  if (!c->old_end) keep_matrix_point(se, j);
  ga_status status = ga__colloc_by_parameter(se, j, &end, s->base, later, se->g);
  if (!status) status = turn_matrix(se, j);
  if (!status) status = project_q(se, se->g, d);
  if (!status) status = project_v(se, se->g, d);
  ga__copy_numbers(d->x, s->dx + c->now->stages * nx, nx);
  if (st->red.null.r > 0) ga__copy_numbers(se->by_p, se->g, sys->n + sys->size[GA_BLOCK_LAMBDA]);
  if (!status) status = ga__colloc_place_forward(se, j, &end, later, se->g, d);
  if (!status) status = ga__least_check(se, j);
  if (status) return status;
  ga__copy_numbers(d->a_prev, d->a, nv);
  ga__copy_numbers(d->w_prev, d->w, nx);
  ga__copy_numbers(d->a, d->vdot, nv);
  ga__copy_numbers(d->w, d->xdot, nx);
  return GA_OK;
}
