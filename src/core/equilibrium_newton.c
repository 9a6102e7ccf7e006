/* Newton's iteration for an equilibrium.
 *
 *   [ K   r_λ  r_ψ  r_x  r_y ] [δq]     [ −f − (1−μ) r0 ]
 *   [ B   −ε   0    0    0   ] [δλ]     [ Φ             ]
 *   [ k_v 0    −ε   0    0   ] [δψ] = − [ 0             ]
 *   [ .   .    .    .    .   ] [δx]     [ −s − (1−μ) r0 ]
 *   [ .   .    .    .    .   ] [δy]     [ y − o         ]
 *
 * ε is small against B K⁻¹ Bᵀ: it acts on corrections of multipliers alone, which vanish in the solution, and
 * makes the matrix regular where constraints follow from others. Relaxation adds M/τ to K. Inner unknowns of
 * the system are iterates too; f and K have them eliminated (ga_system_def.inner). */
#include "core/equilibrium.h"
#include "core/evaluate.h"

#include <float.h>
#include <math.h>

/* ---- Unknowns ---- */

ga_point ga__balance_point(const ga_equilibrium *eq, const ga__balance *z)
{
  const ga_system *sys = eq->sys;
  const double *rest = z->rest - sys->nv;
  return (ga_point){.t = eq->t,
                    .q = z->q,
                    .v = eq->zero,
                    .vdot = eq->zero,
                    .lambda = rest + sys->start[GA_BLOCK_LAMBDA],
                    .psi = rest + sys->start[GA_BLOCK_PSI],
                    .x = rest + sys->start[GA_BLOCK_X],
                    .y = rest + sys->start[GA_BLOCK_Y],
                    .statics = &z->statics};
}

void ga__balance_copy(const ga_equilibrium *eq, ga__balance *to, const ga__balance *from)
{
  ga__copy_numbers(to->q, from->q, eq->sys->nq);
  ga__copy_numbers(to->rest, from->rest, eq->sys->n - eq->sys->nv + eq->sys->def.n_inner);
  to->statics.load = from->statics.load;
}

void ga__balance_move(ga_equilibrium *eq, ga__balance *to, const ga__balance *from, double factor,
                      const double *d)
{
  const int nv = eq->sys->nv;
  for (int i = 0; i < nv; i++) eq->move[i] = factor * d[i];
  ga_group_move(eq->sys->group, to->q, from->q, eq->move);
  for (int i = nv; i < eq->sys->n + eq->sys->def.n_inner; i++)
    to->rest[i - nv] = from->rest[i - nv] + factor * d[i];
}

ga_status ga__balance_follow(ga_equilibrium *eq, const ga__balance *z, double *d)
{
  const ga_point p = ga__balance_point(eq, z);
  return ga__inner_step(eq->sys, &p, d, d + eq->sys->n);
}

ga_status ga__balance_set_inner(ga_equilibrium *eq, ga__balance *z)
{
  const ga_point p = ga__balance_point(eq, z);
  return ga__inner_values(eq->sys, &p, z->rest + eq->sys->n - eq->sys->nv);
}

ga_status ga__balance_residual(ga_equilibrium *eq, const ga__balance *z, double *r)
{
  const ga_system *sys = eq->sys;
  const ga_point p = ga__balance_point(eq, z);
  const ga_status status = ga_evaluation_residual(eq->ev, &p, NULL, r, NULL);
  if (status) return status;
  for (int i = 0; i < sys->size[GA_BLOCK_PSI]; i++) r[sys->start[GA_BLOCK_PSI] + i] = 0.0;
  for (int i = 0; i < sys->n; i++) r[i] -= (1.0 - z->statics.load) * eq->out_of_balance[i];
  return GA_OK;
}

ga_status ga__balance_load_rate(ga_equilibrium *eq, const ga__balance *z, double *out)
{
  const ga_system *sys = eq->sys;
  ga_static_values values = z->statics;
  ga_point p = ga__balance_point(eq, z);
  p.statics = &values;
  values.load = 1.0;
  ga_status status = ga_evaluation_residual(eq->ev, &p, NULL, out, NULL);
  values.load = 0.0;
  if (!status) status = ga_evaluation_residual(eq->ev, &p, NULL, eq->b, NULL);
  for (int i = 0; i < sys->n; i++) out[i] = out[i] - eq->b[i] + eq->out_of_balance[i];
  for (int i = 0; i < sys->size[GA_BLOCK_PSI]; i++) out[sys->start[GA_BLOCK_PSI] + i] = 0.0;
  return status;
}

/* ---- The matrix ---- */

const ga__balance_terms ga__tangent_terms = {.stiffness = 1.0, .coupled = 1};

#define PROXIMAL 1e-11 /* ε of a constraint, relative to its compliance */

/* Largest number of the rows and columns of V. */
static double largest_stiffness(const ga_equilibrium *eq)
{
  const ga_sparse *W = eq->W;
  const int nv = eq->sys->nv;
  double most = 0.0;
  for (int c = 0; c < nv; c++)
    for (int p = W->col_start[c]; p < W->col_start[c + 1] && W->row[p] < nv; p++)
      most = fmax(most, fabs(W->value[p]));
  return most;
}

/* Puts −ε on the diagonals of λ and ψ, proportional to the squared lengths of the rows: corrections that
 * relations leave free then have least norm, as a stepper's multipliers. Overwrites eq->b. */
static void regularise(ga_equilibrium *eq)
{
  const ga_sparse *W = eq->W;
  const ga_system *sys = eq->sys;
  const int first = sys->start[GA_BLOCK_LAMBDA], end = sys->start[GA_BLOCK_X];
  const double stiffness = largest_stiffness(eq);
  for (int i = first; i < end; i++) eq->b[i] = 0.0;
  for (int c = 0; c < sys->nv; c++)
    for (int p = W->col_start[c]; p < W->col_start[c + 1]; p++)
      if (W->row[p] >= first && W->row[p] < end) eq->b[W->row[p]] += W->value[p] * W->value[p];
  for (int i = first; i < end; i++)
    W->value[eq->diagonal[i]] -=
        PROXIMAL * (eq->b[i] > 0.0 ? eq->b[i] : 1.0) / (stiffness > 0.0 ? stiffness : 1.0);
}

/* Factor of one matrix of r by z in W. */
static double weight(const ga__balance_terms *terms, int rows, int by)
{
  if (!terms->coupled) {
    if (rows == GA_BLOCK_X || (rows == GA_BLOCK_V && (by == GA_BY_X || by == GA_BY_Y))) return 0.0;
    if (rows == GA_BLOCK_Y && by != GA_BY_Q && by != GA_BY_Y) return 0.0;
  }
  if (by == GA_BY_VDOT) return rows == GA_BLOCK_V ? terms->mass : 0.0;
  if (by == GA_BY_V) return rows == GA_BLOCK_PSI;
  if (by == GA_BY_Q) return rows == GA_BLOCK_PSI ? 0.0 : rows == GA_BLOCK_V ? terms->stiffness : 1.0;
  return 1.0;
}

ga_status ga__balance_matrix(ga_equilibrium *eq, const ga__balance *z, const ga__balance_terms *terms)
{
  const ga_system *sys = eq->sys;
  const ga_point p = ga__balance_point(eq, z);
  const ga_status status = ga_evaluation_jacobian(eq->ev, &p);
  if (status) return status;
  ga_sparse_zero(eq->W);
  for (int r = 0; r < GA_N_BLOCKS; r++)
    for (int b = 0; b < GA_N_BY; b++) {
      const ga_sparse *A = ga_evaluation_matrix(eq->ev, (ga_equation_block)r, (ga_by)b);
      const double factor = weight(terms, r, b);
      for (int i = 0; factor != 0.0 && i < A->nnz; i++)
        eq->W->value[eq->into[r][b][i]] += factor * A->value[i];
    }
  for (int i = 0; i < sys->size[GA_BLOCK_X]; i++)
    eq->W->value[eq->diagonal[sys->start[GA_BLOCK_X] + i]] += terms->rate;
  regularise(eq);
  return GA_OK;
}

ga_status ga__balance_factor(ga_equilibrium *eq, const ga__balance *z, const ga__balance_terms *terms)
{
  const ga_status status = ga__balance_matrix(eq, z, terms);
  if (status) return status;
  eq->report.factorisations++;
  return ga_lu_factor(eq->lu);
}

/* ---- Sizes ---- */

double ga__move_size(const ga_equilibrium *eq, const double *d)
{
  double size = 0.0;
  for (int i = 0; i < eq->sys->nv; i++) size = fmax(size, fabs(d[i]) / eq->scale[i]);
  return size;
}

double ga__balance_size(const ga_equilibrium *eq, const ga__balance *z, const double *d)
{
  static const ga_equation_block blocks[] = {GA_BLOCK_X, GA_BLOCK_Y};
  const ga_system *sys = eq->sys;
  double size = ga__move_size(eq, d);
  for (int b = 0; b < 2; b++) {
    const int first = sys->start[blocks[b]], n = sys->size[blocks[b]];
    const double *value = z->rest + first - sys->nv;
    const double least = 1e-3 * ga__largest(value, n) + 1e-3 * ga__largest(d + first, n);
    for (int i = 0; i < n; i++)
      if (d[first + i] != 0.0) size = fmax(size, fabs(d[first + i]) / (fabs(value[i]) + least));
  }
  return isfinite(size) && ga__all_finite(d, sys->n) ? size : INFINITY;
}

/* ---- The iteration ---- */

/* The remaining error after a correction is its size times rate/(1 − rate). */
ga__progress ga__judge_correction(ga__convergence *c, double size, double tol)
{
  const double floor = 1e-8; /* below, corrections that no longer shrink are rounding */
  const double rate = c->n > 0 && c->last > 0.0 ? size / c->last : 1.0;
  const int first = c->n++ == 0;
  c->last = size;
  if (first) c->first = size;
  if (!isfinite(size)) return GA__DIVERGES;
  if (size == 0.0 || (!first && rate < 0.9 && size * rate / (1.0 - rate) <= tol && size <= 1e-3))
    return GA__CONVERGED;
  if (size <= tol || (!first && rate > 0.5 && size <= floor)) return GA__CONVERGED;
  return c->n > 5 && size > 1e4 * (1.0 + c->first) ? GA__DIVERGES : GA__GOES_ON;
}

/* Of the scales: the longest move of an iteration with inner unknowns. With them the linearised equations
 * hold for rotations of about this size, however stiff the beam is in other directions. */
static double longest_move(const ga_equilibrium *eq, ga__move_kind kind)
{
  if (eq->sys->def.n_inner == 0) return INFINITY;
  return kind == GA__SHORT_MOVES ? 0.125 : 0.5;
}

/* Shorter and shorter moves until the equations can be evaluated and, damped, the simplified correction
 * there, by the same factors, is shorter (natural monotonicity). eq->trial: where it leads. */
static ga_status choose_length(ga_equilibrium *eq, double length, int damped, double size)
{
  enum { HALVINGS = 12 };
  ga_status status = GA_OK;
  for (int i = 0; i < HALVINGS; i++, length *= 0.5) {
    ga__balance_move(eq, &eq->trial, &eq->now, length, eq->d);
    eq->trial.statics.load = eq->now.statics.load;
    status = ga__balance_residual(eq, &eq->trial, eq->simplified);
    if (status < 0) return status;
    if (status) continue;
    if (!damped) return GA_OK;
    for (int k = 0; k < eq->sys->n; k++) eq->simplified[k] = -eq->simplified[k];
    status = ga_lu_solve(eq->lu, eq->simplified);
    if (status) return status;
    if (ga__balance_size(eq, &eq->trial, eq->simplified) <= (1.0 - 0.25 * length) * size) return GA_OK;
    status = GA_RETRY_NEWTON;
  }
  return status ? status : GA_RETRY_NEWTON;
}

/* Moves that are shortened do not count as iterations, up to a limit. */
ga_status ga__balance_newton(ga_equilibrium *eq, ga__move_kind kind, int *iterations)
{
  const int most = eq->opts.max_iterations, damped = kind == GA__DAMPED_MOVES;
  const double longest = longest_move(eq, kind);
  ga__convergence c = {0};
  int counted = 0;
  *iterations = 0;
  while (counted < most && *iterations < 3 * most) {
    ga_status status = ga__balance_residual(eq, &eq->now, eq->d);
    if (!status) status = ga__balance_factor(eq, &eq->now, &ga__tangent_terms);
    if (status) return status;
    for (int i = 0; i < eq->sys->n; i++) eq->d[i] = -eq->d[i];
    status = ga_lu_solve(eq->lu, eq->d);
    if (status) return status;
    status = ga__balance_follow(eq, &eq->now, eq->d);
    if (status) return status;
    const double size = ga__balance_size(eq, &eq->now, eq->d);
    const ga__progress progress = ga__judge_correction(&c, size, eq->opts.tol);
    eq->report.iterations++;
    ++*iterations;
    if (progress == GA__DIVERGES) return GA_RETRY_NEWTON;
    const double move = ga__move_size(eq, eq->d);
    counted += !damped && move <= longest;
    status =
        choose_length(eq, move > longest ? longest / move : 1.0, damped && progress != GA__CONVERGED, size);
    if (status) return status;
    ga__balance_copy(eq, &eq->now, &eq->trial);
    if (progress == GA__CONVERGED) return ga__balance_set_inner(eq, &eq->now);
    status = ga__balance_close(eq);
    if (status) return status;
  }
  return GA_RETRY_NEWTON;
}

ga_status ga__balance_close(ga_equilibrium *eq)
{
  return eq->report.redundant > 0 ? ga__balance_project(eq) : GA_OK;
}

/* M a + Bᵀλ = f, B a = 0: forces of constraints before anything moves. Without them constraints would have
 * no geometric stiffness. */
ga_status ga__balance_guess(ga_equilibrium *eq)
{
  const ga__balance_terms terms = {.mass = 1.0, .rate = 1.0};
  const ga_system *sys = eq->sys;
  ga_status status = ga__balance_residual(eq, &eq->now, eq->r);
  if (!status) status = ga__balance_factor(eq, &eq->now, &terms);
  for (int i = 0; i < sys->n; i++) eq->d[i] = i < sys->nv ? -eq->r[i] : 0.0;
  if (!status) status = ga_lu_solve(eq->lu, eq->d);
  for (int i = sys->start[GA_BLOCK_LAMBDA]; !status && i < sys->start[GA_BLOCK_X]; i++)
    eq->now.rest[i - sys->nv] += eq->d[i];
  return status;
}

/* M δq + Bᵀν = 0, B δq = −Φ, and y − o = 0 with λ, ψ and x as they are. */
ga_status ga__balance_project(ga_equilibrium *eq)
{
  const ga__balance_terms terms = {.mass = 1.0, .rate = 1.0};
  const ga_system *sys = eq->sys;
  const int first = sys->start[GA_BLOCK_LAMBDA], end = sys->start[GA_BLOCK_Y];
  ga__convergence c = {0};
  for (int i = 0; i < eq->opts.max_iterations; i++) {
    ga_status status = ga__balance_residual(eq, &eq->now, eq->d);
    if (!status) status = ga__balance_factor(eq, &eq->now, &terms);
    for (int k = 0; k < sys->n; k++) eq->d[k] = -eq->d[k];
    for (int k = 0; k < sys->nv; k++) eq->d[k] = 0.0;
    for (int k = sys->start[GA_BLOCK_X]; k < end; k++) eq->d[k] = 0.0;
    if (!status) status = ga_lu_solve(eq->lu, eq->d);
    if (status) return status;
    for (int k = first; k < end; k++) eq->d[k] = 0.0;
    for (int k = 0; k < sys->def.n_inner; k++) eq->d[sys->n + k] = 0.0;
    const ga__progress progress =
        ga__judge_correction(&c, ga__balance_size(eq, &eq->now, eq->d), eq->opts.tol);
    if (progress == GA__DIVERGES) return GA_RETRY_NEWTON;
    ga__balance_move(eq, &eq->now, &eq->now, 1.0, eq->d);
    if (progress == GA__CONVERGED) return GA_OK;
  }
  return GA_RETRY_NEWTON;
}
