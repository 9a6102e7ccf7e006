/* Accelerations, multipliers and outputs at given positions and velocities. */
#include "core/start.h"

#include <math.h>
#include <string.h>

/* Minus the residuals (M vdot − f, B vdot + Φ's acceleration, A vdot + k's, 0, y − o) into r[n], with B and A
 * of the saddle matrix. outputs 0: o is not evaluated, and y − o is 0. */
static ga_status acceleration_residual(ga_stepper *st, const ga__state *f, const ga_point *p, int outputs,
                                       double *r, ga__scratch scratch)
{
  const ga_system *sys = st->sys;
  const int *start = sys->start;
  double *force = ga__take(&scratch, sys->nv);
  ga_status status = ga__call(sys, GA__MASS, p, r);
  if (!status) status = ga__call(sys, GA__FORCE, p, force);
  if (status) return status;
  for (int i = 0; i < sys->nv; i++) r[i] -= force[i];
  if ((status = ga__phi_acc(&st->deriv, p, r + start[GA_BLOCK_LAMBDA]))) return status;
  ga__b_mul(sys, r + start[GA_BLOCK_LAMBDA], st->saddle.Q, f->vdot);
  if ((status = ga__k_acc(&st->deriv, p, r + start[GA_BLOCK_PSI]))) return status;
  ga__saddle_a_mul(&st->saddle, r + start[GA_BLOCK_PSI], f->vdot);
  for (int i = 0; i < sys->size[GA_BLOCK_X]; i++) r[start[GA_BLOCK_X] + i] = 0.0;
  double *y = r + start[GA_BLOCK_Y];
  if (outputs && (status = ga__call(sys, GA__OUTPUT, p, y))) return status;
  for (int i = 0; i < sys->size[GA_BLOCK_Y]; i++) y[i] = outputs ? f->y[i] - y[i] : 0.0;
  for (int i = 0; i < sys->n; i++) r[i] = -r[i];
  return GA_OK;
}

/* Adds the increment to f; its largest relative component. */
static double add_accelerations(const ga_system *sys, const double *increment, ga__state *f)
{
  double *const to[GA_N_BLOCKS] = {f->vdot, f->lambda, f->psi, NULL, f->y}, size = 0.0;
  double largest = size;
  for (int b = 0; b < GA_N_BLOCKS; b++) {
    if (!to[b]) continue;
    const double *d = increment + sys->start[b];
    for (int i = 0; i < sys->size[b]; i++) to[b][i] += d[i];
    double relative = ga__max_abs(d, sys->size[b], NULL) / (1.0 + ga__max_abs(to[b], sys->size[b], NULL));
    if (ga__first_bad(d, sys->size[b]) >= 0) return NAN;
    if (relative > largest) largest = relative;
  }
  return largest;
}

/* 1: derivatives of the dynamics by vdot, λ and ψ are the same at other values of these. The arrays of the
 * saddle matrix are lost. */
static int is_linear(ga_stepper *st, const ga_point *p, ga__scratch scratch)
{
  const double same = 1e-6;
  const ga_system *sys = st->sys;
  const ga_error said = sys->ctx->error;
  const int nv = sys->nv, nl = sys->size[GA_BLOCK_LAMBDA], np = sys->size[GA_BLOCK_PSI];
  ga__saddle *sd = &st->saddle;
  double *away = ga__take(&scratch, nv + nl + np), largest = 0.0, change = 0.0;
  ga_point other = *p;
  for (int i = 0; i < nv; i++) away[i] = 2.0 * p->vdot[i] + 1.0;
  for (int i = 0; i < nl; i++) away[nv + i] = 2.0 * p->lambda[i] + 1.0;
  for (int i = 0; i < np; i++) away[nv + nl + i] = 2.0 * p->psi[i] + 1.0;
  other.vdot = away, other.lambda = away + nv, other.psi = away + nv + nl;
  ga_jacobian J = {GA_WANT_D, 0.0, 1.0, sd->M, sd->A, sd->A}, J1 = {GA_WANT_D, 0.0, 1.0, sd->Q, sd->A, sd->A};
  ga_status status = ga__jacobian(&st->deriv, p, &J);
  if (!status) status = ga__jacobian(&st->deriv, &other, &J1);
  sys->ctx->error = said;
  for (int e = 0; !status && e < sys->n_entries; e++) {
    if (sys->row[e] >= nv || sys->col[e] >= sys->start[GA_BLOCK_X]) continue;
    largest = fmax(largest, fabs(sd->M[e]));
    change = fmax(change, fabs(sd->Q[e] - sd->M[e]));
  }
  return !status && change <= same * largest;
}

/* Accelerations and outputs did not converge: blames the outputs if their residuals are large. */
static ga_status fail_accelerations(ga_stepper *st, const ga_start_change *c, const ga_point *p,
                                    ga__scratch scratch)
{
  const ga_system *sys = st->sys;
  int n = sys->size[GA_BLOCK_Y], worst = -1;
  double off = 0.0, *difference = ga__take(&scratch, n);
  if (n > 0 && !ga__call(sys, GA__OUTPUT, p, difference)) {
    for (int i = 0; i < n; i++) difference[i] -= p->y[i];
    off = ga__max_abs(difference, n, &worst);
  }
  if (worst < 0 || !(off > 1e-6 * (1.0 + fabs(p->y[worst]))))
    return ga__start_fail_inconsistent(
        st, GA_BLOCK_V, c, "accelerations and multipliers", "solved for",
        is_linear(st, p, scratch)
            ? "no convergence, although f is linear in them: "
              "correct the Jacobian, ga_system_check() names the entry"
            : "no convergence; where f is nonlinear in them, give guesses for lambda and psi "
              "near their values, in a model in the section 'guesses'");
  char name[192];
  ga__describe(sys, GA_BLOCK_Y, worst, name, sizeof name);
  return ga__refuse(sys->ctx, GA_ERR_INCONSISTENT, GA_REASON_OUTPUTS_NOT_SOLVED,
                    &(ga__facts){.at = &(ga__fact_time){p->t, NAN, GA_BLOCK_Y, worst},
                                 .equation = name,
                                 GA__NUMBERS({off, NULL})});
}

ga_status ga__accelerations(ga_stepper *st, ga__state *f, ga_start_change *c, ga__scratch scratch)
{
  const ga_system *sys = st->sys;
  ga_point p = ga__state_point(f);
  ga_status status;
  double before = HUGE_VAL, size, *d = ga__take(&scratch, sys->n); /* the residual, then the increment */
  for (c->iterations = 0;; c->iterations++) {
    if (c->iterations == GA__START_ITERATIONS) return fail_accelerations(st, c, &p, scratch);
    if ((status = ga__saddle_at(st, &p, 1))) return status;
    if ((status = acceleration_residual(st, f, &p, 1, d, scratch))) return status;
    c->residual_after = ga__max_abs(d, sys->nv, c->iterations ? NULL : &c->worst_before);
    if (c->iterations == 0) c->residual_before = c->residual_after;
    if ((status = ga__saddle_solve(&st->saddle, &st->red.null, d))) return status;
    size = add_accelerations(sys, d, f);
    if (!isfinite(size))
      return ga__start_fail_inconsistent(st, GA_BLOCK_V, c, "accelerations and multipliers", "solved for",
                                         "diverged");
    if (ga__start_has_converged(size, &before)) break;
  }
  c->change = ga__max_abs(f->vdot, sys->nv, &c->worst_change);
  return ga__call(sys, GA__STATE, &p, f->xdot);
}

/* ---- How fast small changes of a motion grow ----
 * A change w of v and of the states, with h w of q, changes h vdot and h xdot by h² ∂vdot/∂q w + h ∂vdot/∂v w
 * and so on: for an oscillation of angular frequency ω by (hω)² w, for a damped motion by h/τ w. Applied
 * several times, the fastest part remains. */
enum { GROWTH_PASSES = 3 };
#define SMALL_CHANGE 1e-4 /* of velocities and states, */
#define LEAST_CHANGE 1e-7 /* and at least this of coordinates */

/* Change of accelerations and rates over h, from w[nv + n_x] of relative size `scale` to the same. r0[n]: the
 * residual without it. next is lost. */
static ga_status grow_once(ga_stepper *st, double h, double scale, const double *r0, const double *unit,
                           double *w, ga__scratch scratch)
{
  const ga_system *sys = st->sys;
  const int nv = sys->nv, nx = sys->size[GA_BLOCK_X];
  const ga__state *now = &st->now;
  ga__state *next = &st->next;
  double *d = ga__take(&scratch, sys->n);
  ga__state_copy(st, next, now);
  for (int i = 0; i < nv; i++) {
    st->exponent[i] = h * scale * w[i];
    next->v[i] += scale * w[i];
  }
  for (int i = 0; i < nx; i++) next->x[i] += scale * unit[i] * w[nv + i];
  ga_group_move(sys->group, next->q, now->q, st->exponent);
  const ga_point p = ga__state_point(next);
  ga_status status = acceleration_residual(st, next, &p, 1, d, scratch);
  for (int i = 0; !status && i < sys->n; i++) d[i] -= r0[i];
  if (!status) status = ga__saddle_solve(&st->saddle, &st->red.null, d);
  if (status) return status;
  add_accelerations(sys, d, next);
  status = ga__call(sys, GA__STATE, &p, next->xdot);
  for (int i = 0; i < nv; i++) w[i] = h * d[i] / scale;
  for (int i = 0; !status && i < nx; i++) w[nv + i] = h * (next->xdot[i] - now->xdot[i]) / (scale * unit[i]);
  return status;
}

ga_status ga__growth(ga_stepper *st, double h, double *growth)
{
  const ga_system *sys = st->sys;
  const int nv = sys->nv, nx = sys->size[GA_BLOCK_X], n = nv + nx;
  ga__scratch scratch = ga__stack_begin(&st->scratch);
  double *w = ga__take(&scratch, n), *r0 = ga__take(&scratch, sys->n), *unit = ga__take(&scratch, nx);
  const ga__state *now = &st->now;
  const ga_point p = ga__state_point(now);
  const double speed = ga__max_abs(now->v, nv, NULL) + h * ga__max_abs(now->vdot, nv, NULL);
  const double scale =
      fmax(SMALL_CHANGE * speed, LEAST_CHANGE * (1.0 + ga__max_abs(now->q, sys->nq, NULL)) / h);
  for (int i = 0; i < nx; i++) /* relative to v, as scale is */
    unit[i] = fmax(fabs(now->x[i]) + h * fabs(now->xdot[i]), LEAST_CHANGE) * SMALL_CHANGE / scale;
  for (int i = 0; i < n; i++) w[i] = fmod(0.618033988749895 * (i + 1), 1.0) - 0.5; /* some of everything */
  *growth = 0.0;
  ga_status status = ga__saddle_at(st, &p, 1);
  st->stats.jacobians++, st->stats.factorisations++;
  st->stats.residuals += 1 + GROWTH_PASSES, st->stats.solves += GROWTH_PASSES;
  if (!status) status = acceleration_residual(st, now, &p, 1, r0, scratch);
  for (int pass = 0; !status && pass < GROWTH_PASSES; pass++) {
    const double before = ga__max_abs(w, n, NULL);
    for (int i = 0; i < n; i++) w[i] /= before;
    status = grow_once(st, h, scale, r0, unit, w, scratch);
    *growth = ga__max_abs(w, n, NULL);
    if (!(*growth > 0.0)) break;
  }
  return status ? status : ga__stack_check(st->ctx, &st->scratch);
}

ga_status ga__start_guess_outputs(ga_stepper *st)
{
  const ga_system *sys = st->sys;
  size_t bytes = (size_t)sys->size[GA_BLOCK_Y] * sizeof(double);
  if (!ga__has(sys, GA__OUTPUT_GUESS)) return GA_OK;
  ga_point p = ga__state_point(&st->now);
  ga_status status = ga__call(sys, GA__OUTPUT_GUESS, &p, st->next.y);
  if (!status) memcpy(st->now.y, st->next.y, bytes);
  return status;
}

/* Accelerations and multipliers with the forces of the current y, by [M Bᵀ Aᵀ; B; A]; outputs and their
 * derivatives are not evaluated. */
static ga_status solve_at_fixed_outputs(ga_stepper *st, ga__scratch scratch)
{
  double *d = ga__take(&scratch, st->sys->n);
  ga_point p = ga__state_point(&st->now);
  ga_status status = ga__saddle_at(st, &p, 0);
  if (!status) status = acceleration_residual(st, &st->now, &p, 0, d, scratch);
  if (!status) status = ga__saddle_solve(&st->saddle, &st->red.null, d);
  if (status) return status;
  return isfinite(add_accelerations(st->sys, d, &st->now)) ? GA_OK : GA_RETRY_NAN;
}

/* Resets accelerations and multipliers to their values before the solution. */
static void forget_accelerations(ga_stepper *st)
{
  const ga_system *sys = st->sys;
  ga__state *f = &st->now;
  for (int i = 0; i < sys->nv; i++) f->vdot[i] = 0.0;
  if (sys->size[GA_BLOCK_LAMBDA])
    memcpy(f->lambda, st->begin_lambda, (size_t)sys->size[GA_BLOCK_LAMBDA] * sizeof(double));
  if (sys->size[GA_BLOCK_PSI])
    memcpy(f->psi, st->begin_psi, (size_t)sys->size[GA_BLOCK_PSI] * sizeof(double));
}

/* Starts from the outputs before a restart. If that fails, everything is left as before. */
static ga_status solve_from_former_outputs(ga_stepper *st, ga_start_change *c, int *found,
                                           ga__scratch scratch)
{
  const ga_system *sys = st->sys;
  const size_t bytes = (size_t)sys->size[GA_BLOCK_Y] * sizeof(double);
  const ga_error said = st->ctx->error;
  *found = 0;
  if (st->again == GA__FIRST || bytes == 0) return GA_OK;
  double *kept_y = ga__take(&scratch, sys->size[GA_BLOCK_Y]);
  memcpy(kept_y, st->now.y, bytes);
  memcpy(st->now.y, st->begin_y, bytes);
  const ga_status status = ga__accelerations(st, &st->now, c, scratch);
  *found = !status;
  if (!status || (status < 0 && status != GA_ERR_INCONSISTENT)) return status;
  st->fell_back = status > 0 ? status : st->fell_back;
  st->ctx->error = said;
  *c = ga__start_no_change();
  forget_accelerations(st);
  memcpy(st->now.y, kept_y, bytes);
  return GA_OK;
}

ga_status ga__start_solve_accelerations(ga_stepper *st, ga_start_change *c, ga__scratch scratch)
{
  enum { MOST_ROUNDS = 4 };
  const ga_system *sys = st->sys;
  ga__state *f = &st->now;
  int found;
  ga_status first = solve_from_former_outputs(st, c, &found, scratch), status = first;
  if (found || status) return status;
  first = status = ga__accelerations(st, f, c, scratch);
  const int loops = sys->size[GA_BLOCK_Y] > 0 && ga__has(sys, GA__OUTPUT_GUESS);
  if (!loops || (status != GA_RETRY_CALLBACK && status != GA_RETRY_NAN && status != GA_ERR_INCONSISTENT))
    return status;
  const ga_error said = st->ctx->error;
  for (int round = 1; status && round <= MOST_ROUNDS; round++) {
    forget_accelerations(st);
    status = ga__start_guess_outputs(st);
    for (int i = 0; !status && i < round; i++) {
      status = solve_at_fixed_outputs(st, scratch);
      if (!status) status = ga__start_guess_outputs(st);
    }
    if (status < 0) return status;
    if (status) break;
    *c = ga__start_no_change();
    status = ga__accelerations(st, f, c, scratch);
    if (status < 0 && status != GA_ERR_INCONSISTENT) return status;
  }
  if (!status) return GA_OK;
  st->ctx->error = said;
  return first;
}

ga_status ga__start_explain_by_guess(ga_stepper *st, ga_status status)
{
  const ga_system *sys = st->sys;
  char name[192];
  int index;
  if (status != GA_RETRY_SINGULAR && status != GA_RETRY_NAN && status != GA_ERR_INCONSISTENT) return status;
  forget_accelerations(st);
  const ga_point p = ga__state_point(&st->now);
  const int column = ga__vanishing_multiplier(&st->saddle, &st->deriv, &p);
  if (column < 0) return status;
  ga_equation_block block = ga__block_of(sys, column, &index);
  ga__describe(sys, block, index, name, sizeof name);
  return ga__refuse(
      sys->ctx, GA_ERR_SINGULAR, GA_REASON_MULTIPLIER_WITHOUT_FORCE,
      &(ga__facts){.at = &(ga__fact_time){p.t, NAN, (int)block, index},
                   .equation = name,
                   GA__NUMBERS({block == GA_BLOCK_LAMBDA ? p.lambda[index] : p.psi[index], NULL})});
}
