/* Relaxation: to a stable equilibrium, from anywhere.
 *
 *   (M/τ + K) δq + Bᵀ δλ = −r,   B δq = −Φ,   (1/τ − s_x) δx − s_q δq − ... = s
 *
 * is an implicit step of length τ along M dq/dτ = f, on which a potential energy falls: for small τ the way
 * of steepest descent, for large τ Newton's iteration. Moves along which M/τ + K is negative would climb to a
 * saddle; τ is then made smaller. */
#include "core/equilibrium.h"

#include <float.h>
#include <math.h>

#define LONGEST_MOVE 0.25 /* longest move of a step, relative to the scales */
#define FIRST_MOVE 0.05
enum { MOST_STEPS = 2000, MOST_TRIES = 60, STILL = 20, ROUNDED = 4 };

/* d: the step for τ at eq->now, *size its move; *descends 0: M/τ + K is negative along it. r is kept. */
static ga_status find_step(ga_equilibrium *eq, double tau, const double *r, double *size, int *descends)
{
  const ga_system *sys = eq->sys;
  const ga__balance_terms terms = {.stiffness = 1.0, .mass = 1.0 / tau, .rate = 1.0 / tau, .coupled = 1};
  ga_status status = ga__balance_factor(eq, &eq->now, &terms);
  for (int i = 0; i < sys->n; i++) eq->d[i] = -r[i];
  if (!status) status = ga_lu_solve(eq->lu, eq->d);
  if (status) return status;
  *size = ga__balance_size(eq, &eq->now, eq->d);
  /* δqᵀ (M/τ + K) δq: of the rows of V without multipliers and outputs; the constraints' part of −δqᵀ r is
   * δqᵀ Bᵀ (λ + δλ) = −Φᵀ (λ + δλ), which vanishes on the constraints. */
  double work = 0.0, sum = 0.0;
  const int first = sys->start[GA_BLOCK_LAMBDA], end = sys->start[GA_BLOCK_X];
  for (int i = 0; i < sys->nv; i++) {
    work -= eq->d[i] * r[i];
    sum += fabs(eq->d[i] * r[i]);
  }
  const ga_sparse *W = eq->W;
  for (int c = first; c < end; c++)
    for (int p = W->col_start[c]; p < W->col_start[c + 1]; p++)
      if (W->row[p] < sys->nv) {
        work -= eq->d[W->row[p]] * W->value[p] * eq->d[c];
        sum += fabs(eq->d[W->row[p]] * W->value[p] * eq->d[c]);
      }
  *descends = work >= -1e-9 * sum;
  return GA_OK;
}

/* One step of a length that is not too long, into eq->now. *tau: its length; *moved: its size. */
static ga_status take_step(ga_equilibrium *eq, double longest, double *tau, double *moved)
{
  double size = 0.0;
  int descends = 0;
  ga_status status = ga__balance_residual(eq, &eq->now, eq->r);
  if (status) return status;
  for (int i = 0; i < MOST_TRIES; i++) {
    status = find_step(eq, *tau, eq->r, &size, &descends);
    if (status < 0) return status;
    if (status || !descends || !(size <= longest)) {
      *tau *= !status && descends && size < 10.0 * longest ? 0.8 * longest / size : 0.2;
      status = GA_RETRY_NEWTON;
      continue;
    }
    status = ga__balance_follow(eq, &eq->now, eq->d);
    if (status) return status;
    ga__balance_move(eq, &eq->trial, &eq->now, 1.0, eq->d);
    eq->trial.statics.load = eq->now.statics.load;
    status = ga__balance_residual(eq, &eq->trial, eq->simplified);
    if (status < 0) return status;
    if (!status) {
      *moved = size;
      ga__balance_copy(eq, &eq->now, &eq->trial);
      return ga__balance_close(eq);
    }
    *tau *= 0.2;
  }
  return status;
}

/* Forces at the beginning of the last step are rounding: of the stiffness times the scales, and of the forces
 * of constraints. Stiff parts, as links of steel, leave 1e-7 N, which would move free coordinates without end
 * as τ grows. */
static int forces_are_rounding(ga_equilibrium *eq)
{
  const ga_sparse *W = eq->W;
  const int nv = eq->sys->nv;
  double *stiff = eq->b, *held = eq->simplified;
  for (int i = 0; i < nv; i++) stiff[i] = held[i] = 0.0;
  for (int c = 0; c < W->cols; c++) {
    double *sum = c < nv ? stiff : held;
    const double size = c < nv ? eq->scale[c] : fabs(eq->now.rest[c - nv]);
    for (int p = W->col_start[c]; p < W->col_start[c + 1] && W->row[p] < nv; p++)
      sum[W->row[p]] += fabs(W->value[p]) * size;
  }
  const double most = ga__largest(held, nv);
  for (int i = 0; i < nv; i++)
    if (!(fabs(eq->r[i]) <= 8.0 * DBL_EPSILON * (stiff[i] + most))) return 0;
  return 1;
}

/* Newton's iteration from here; accepted if it stays near and does not lead to a saddle. */
static ga_status polish(ga_equilibrium *eq, int *found)
{
  int iterations;
  ga__stiffness s;
  *found = 0;
  ga__balance_copy(eq, &eq->kept, &eq->now);
  ga_status status = ga__balance_newton(eq, GA__FULL_MOVES, &iterations);
  if (status < 0) return status;
  if (!status) {
    ga_group_difference(eq->sys->group, eq->move, eq->kept.q, eq->now.q);
    *found = ga__move_size(eq, eq->move) <= LONGEST_MOVE;
    if (*found) status = ga__find_stiffness(eq, &s);
    if (status < 0) return status;
    *found = *found && !status && s.n_unstable == 0;
  }
  if (*found) eq->report.last_iterations = iterations;
  if (!*found) ga__balance_copy(eq, &eq->now, &eq->kept);
  return GA_OK;
}

/* Ends when steps of any length no longer move anything, or nothing but rounding does: the remaining
 * directions are free. */
ga_status ga__balance_relax(ga_equilibrium *eq)
{
  const double tol = eq->opts.tol;
  double tau = 1e-2, moved = 0.0, longest = FIRST_MOVE;
  int still = 0, rounded = 0;
  int wait = 0, pause = 1; /* steps until the next try to polish, and after that */
  eq->now.statics.load = 1.0;
  for (int i = 0; i < MOST_STEPS; i++) {
    ga_status status = take_step(eq, longest, &tau, &moved);
    if (status) return status;
    eq->report.relaxation_steps++;
    longest = fmin(LONGEST_MOVE, 2.0 * longest);
    still = moved <= tol ? still + 1 : 0;
    rounded = forces_are_rounding(eq) ? rounded + 1 : 0;
    if (moved <= 1e-3 && wait-- <= 0) {
      int found;
      status = polish(eq, &found);
      if (status || found) return status;
      wait = pause *= 2;
    }
    if (still > STILL || rounded > ROUNDED || (still > 0 && tau > 1e30)) return GA_OK;
    tau *= moved < 0.5 * longest ? 4.0 : 1.5;
  }
  return GA_RETRY_NEWTON;
}
