/* The end of a collocation step: positions and velocities on the constraints, and accelerations, multipliers,
 * rates of states and outputs that belong to them. Those of the collocation itself are of lower order, and
 * would spoil the next step. Solved by the factors of the last node, or where sweeps go from node to node by
 * those of a matrix of the end. */
#include "core/collocation.h"
#include "core/start.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { PROJECTIONS = 6, SOLUTIONS = 10 };
#define SETTLED 1e-15 /* [-] relative moves below this are rounding */
#define CLOSER 1e-3   /* part of the tolerance of the sweeps for what constraints may be off */
#define SLOW 0.5 /* contraction above which gaps are rounding, and a new matrix is made for accelerations */
#define TIGHTER 1e-1 /* part of the tolerance of the sweeps */
/* Factors of an earlier step are replaced where they contract less than this, and moves are not rounding. */
#define TOO_OLD 0.2
#define ROUNDING 1e-13

static ga_status solve_end(ga_stepper *st, double *r)
{
  return ga__colloc_solve(st, GA__COLLOC_END, r);
}

static void clear(double *r, int n)
{
  for (int i = 0; i < n; i++) r[i] = 0.0;
}

/* Relative moves that are not worth a further correction. */
static double settled(const ga_stepper *st)
{
  return fmax(SETTLED, st->tolerance > 0.0 ? CLOSER * ga__colloc_tolerance(st) : 0.0);
}

/* Corrections of q or v: gaps of the constraints, and the moves that close them. */
typedef struct closing {
  double size, gap; /* of the last one; 0: there was none */
  double scale;     /* of values, */
  double goal;      /* and for moves */
} closing;

/* Whether factors are of an earlier step and contract by rho only. size: relative, of the last move. */
static int are_too_old(const ga_stepper *st, double rho, double size)
{
  const ga__colloc *c = ga__colloc_of(st);
  return c->old_end && rho > TOO_OLD && size > ROUNDING;
}

/* A new matrix of the end in their place; the next step makes all of them. */
static ga_status renew_old_factors(ga_stepper *st)
{
  ga__colloc *c = ga__colloc_of(st);
  const ga__factor_state before = st->factors.now;
  c->old_end = 0;
  const ga_status status = ga__colloc_prepare_end(st);
  st->factors.now.age = before.age;
  st->factors.now.rate = before.rate;
  st->factors.worn = 1;
  return status;
}

/* Whether a gap is closed as far as is wanted: moves are proportional to gaps. Gaps that no longer halve are
 * rounding. */
static int is_closed(const ga_stepper *st, const closing *c, double gap)
{
  if (gap == 0.0 || !(c->gap > 0.0)) return gap == 0.0;
  const double rho = gap / c->gap;
  return c->size * rho <= c->goal || (rho > SLOW && !are_too_old(st, rho, c->size / c->scale));
}

/* d := the solution for −d, a gap. *stop: it is rounding. */
static ga_status solve_gap(ga_stepper *st, closing *c, double gap, double *d, int *stop)
{
  const ga_system *sys = st->sys;
  ga_status status = GA_OK;
  for (int k = 0; k < sys->n; k++) d[k] = -d[k];
  if (c->gap > 0.0 && are_too_old(st, gap / c->gap, c->size / c->scale)) status = renew_old_factors(st);
  if (!status) status = solve_end(st, d);
  const double size = status ? 0.0 : ga__max_abs(d, sys->nv, NULL);
  if (status) return status;
  if (!isfinite(size)) return GA_RETRY_NAN;
  *stop = c->gap > 0.0 && size > c->size;
  c->size = size, c->gap = gap;
  return GA_OK;
}

/* q := move(q, δ), B δ = −Φ */
static ga_status project_positions(ga_stepper *st, ga__scratch scratch)
{
  const ga_system *sys = st->sys;
  const int nl = sys->size[GA_BLOCK_LAMBDA], first = sys->start[GA_BLOCK_LAMBDA];
  double *q = st->next.q, *d = ga__take(&scratch, sys->n);
  ga_point p = ga__state_point(&st->next);
  closing c = {.scale = st->size_q, .goal = settled(st) * st->size_q};
  for (int i = 0, stop = 0; nl > 0 && !stop && i < PROJECTIONS; i++) {
    clear(d, sys->n);
    ga_status status = ga__call(sys, GA__PHI, &p, d + first);
    const double gap = ga__max_abs(d + first, nl, NULL);
    if (!status && is_closed(st, &c, gap)) break;
    if (!status) status = solve_gap(st, &c, gap, d, &stop);
    if (status) return status;
    if (!stop) ga_group_move(sys->group, q, q, d);
  }
  return GA_OK;
}

/* v := v + δ, B δ = −(B v + Φ_t), A δ = −k */
static ga_status project_velocities(ga_stepper *st, ga__scratch scratch)
{
  const ga_system *sys = st->sys;
  const int nl = sys->size[GA_BLOCK_LAMBDA], np = sys->size[GA_BLOCK_PSI],
            first = sys->start[GA_BLOCK_LAMBDA];
  double *v = st->next.v, *d = ga__take(&scratch, sys->n);
  ga_point p = ga__state_point(&st->next);
  closing c = {.scale = st->size_v, .goal = settled(st) * st->size_v};
  for (int i = 0, stop = 0; nl + np > 0 && !stop && i < PROJECTIONS; i++) {
    clear(d, sys->n);
    ga_status status = nl ? ga__phi_dot(&st->deriv, &p, d + first) : GA_OK;
    if (!status && np) status = ga__call(sys, GA__K, &p, d + sys->start[GA_BLOCK_PSI]);
    const double gap = ga__max_abs(d + first, nl + np, NULL);
    if (!status && is_closed(st, &c, gap)) break;
    if (!status) status = solve_gap(st, &c, gap, d, &stop);
    if (status) return status;
    for (int k = 0; !stop && k < sys->nv; k++) v[k] += d[k];
  }
  return GA_OK;
}

/* A place: its time, q, v and x, and where z belongs that is solved for. */
static ga_point point_of(double t, const ga__inside *at)
{
  return (ga_point){t, at->q, at->v, at->vdot, at->lambda, at->psi, at->x, at->y, 0, NULL};
}

/* Φ's acceleration and that of k at vdot = 0, into the rows of fixed[n]; B and A there into the arrays of the
 * Jacobian and of the saddle matrix. */
static ga_status constraint_accelerations(ga_stepper *st, const ga_point *p, double *fixed)
{
  const ga_system *sys = st->sys;
  const int *start = sys->start, *size = sys->size;
  ga_status status = GA_OK;
  clear(fixed, sys->n);
  if (size[GA_BLOCK_LAMBDA]) {
    ga_jacobian J = {GA_WANT_B, 0.0, 0.0, st->jacobian_D, st->jacobian_Q, st->jacobian_G};
    st->stats.constraint_jacobians++;
    if (!sys->def.jacobian) st->stats.difference_jacobians++;
    status = ga__b_alone(&st->deriv, p, &J, st->r);
    if (!status) status = ga__phi_acc(&st->deriv, p, fixed + start[GA_BLOCK_LAMBDA]);
  }
  if (status || !size[GA_BLOCK_PSI]) return status;
  ga__saddle *sd = &st->saddle;
  ga_jacobian J = {GA_WANT_D | GA_WANT_M, 1.0, 0.0, sd->A, sd->G, sd->G};
  sd->known = 0;
  status = ga__jacobian(&st->deriv, p, &J);
  return status ? status : ga__k_acc(&st->deriv, p, fixed + start[GA_BLOCK_PSI]);
}

/* M vdot − f, −s, −o into r[n]; other rows are lost. */
static ga_status dynamics_at(const ga_system *sys, const ga_point *p, double *r, double *force)
{
  const int *start = sys->start;
  if (sys->def.sweep) return ga__sweep(sys, p, r, NULL, NULL, force);
  ga_status status = ga__call(sys, GA__MASS, p, r);
  if (!status) status = ga__call(sys, GA__FORCE, p, force);
  if (!status) status = ga__call(sys, GA__STATE, p, r + start[GA_BLOCK_X]);
  if (!status) status = ga__call(sys, GA__OUTPUT, p, r + start[GA_BLOCK_Y]);
  if (status) return status;
  for (int i = 0; i < sys->nv; i++) r[i] -= force[i];
  for (int i = start[GA_BLOCK_X]; i < sys->n; i++) r[i] = -r[i];
  return GA_OK;
}

/* −(M vdot − f, B vdot + ..., A vdot + ..., xdot − s, y − o) into r[n] */
static ga_status residual_at(ga_stepper *st, double t, const ga__inside *at, const double *fixed, double *r,
                             ga__scratch scratch)
{
  const ga_system *sys = st->sys;
  const int *start = sys->start, *size = sys->size;
  double *force = ga__take(&scratch, sys->nv);
  ga_point p = point_of(t, at);
  p.motion = ++st->motion;
  const ga_status status = dynamics_at(sys, &p, r, force);
  if (status) return status;
  ga__copy_numbers(r + sys->nv, fixed + sys->nv, start[GA_BLOCK_X] - sys->nv);
  if (size[GA_BLOCK_LAMBDA]) ga__b_mul(sys, r + start[GA_BLOCK_LAMBDA], st->jacobian_Q, at->vdot);
  if (size[GA_BLOCK_PSI]) ga__saddle_a_mul(&st->saddle, r + start[GA_BLOCK_PSI], at->vdot);
  for (int i = 0; i < size[GA_BLOCK_X]; i++) r[start[GA_BLOCK_X] + i] += at->xdot[i];
  for (int i = 0; i < size[GA_BLOCK_Y]; i++) r[start[GA_BLOCK_Y] + i] += at->y[i];
  for (int i = 0; i < sys->n; i++) r[i] = -r[i];
  return GA_OK;
}

/* z += d; its largest relative component. */
static double add_to(const ga_system *sys, const ga__inside *at, const double *d)
{
  double *const to[GA_N_BLOCKS] = {at->vdot, at->lambda, at->psi, at->xdot, at->y};
  double largest = 0.0;
  for (int b = 0; b < GA_N_BLOCKS; b++) {
    const double *from = d + sys->start[b];
    for (int i = 0; i < sys->size[b]; i++) to[b][i] += from[i];
    const double relative =
        ga__max_abs(from, sys->size[b], NULL) / (1.0 + ga__max_abs(to[b], sys->size[b], NULL));
    if (sys->size[b] && (relative > largest || !(relative == relative))) largest = relative;
  }
  return largest;
}

/* By Newton's iteration with the matrix of the end itself. Failures depend on the step: they are recoverable.
 */
static ga_status solve_accurately(ga_stepper *st, ga__scratch scratch)
{
  ga_start_change change = ga__start_no_change();
  const ga__colloc *c = ga__colloc_of(st);
  ga__colloc_distribute(st->sys, c->z + c->now->stages * st->sys->n, &st->next);
  const ga_status status = ga__accelerations(st, &st->next, &change, scratch);
  if (status != GA_ERR_INCONSISTENT) return status;
  st->ctx->error.status = GA_RETRY_NEWTON;
  return GA_RETRY_NEWTON;
}

static ga_status solve_accelerations(ga_stepper *st, ga__scratch scratch)
{
  const ga_system *sys = st->sys;
  const double goal = fmax(TIGHTER * ga__colloc_tolerance(st), 4.0 * DBL_EPSILON);
  double *fixed = ga__take(&scratch, sys->n), *d = ga__take(&scratch, sys->n), before = HUGE_VAL;
  const ga__state *next = &st->next;
  const double t = next->scalar[GA__T];
  const ga__inside end = {next->q, next->v, next->vdot, next->lambda, next->psi, next->x, next->xdot,
                          next->y, 0,       0};
  const ga_point p = point_of(t, &end);
  ga_status status = constraint_accelerations(st, &p, fixed);
  for (int i = 0; !status && i < SOLUTIONS; i++) {
    st->stats.residuals++;
    status = residual_at(st, t, &end, fixed, d, scratch);
    if (!status) status = solve_end(st, d);
    if (status) return status;
    const double size = add_to(sys, &end, d), rho = size / before;
    if (!isfinite(size)) return solve_accurately(st, scratch);
    if (size == 0.0 || (i > 0 && rho < 1.0 && size * rho / (1.0 - rho) <= goal)) return GA_OK;
    if (i > 0 && are_too_old(st, rho, size)) {
      status = renew_old_factors(st);
      before = HUGE_VAL, i = -1; /* without a ratio again */
      continue;
    }
    if (i > 0 && rho > SLOW) return size < 1e-13 ? GA_OK : solve_accurately(st, scratch);
    before = size;
  }
  return status ? status : solve_accurately(st, scratch);
}

/* Factors of the end; where its matrix is singular, those of the last node serve. */
ga_status ga__colloc_begin_end(ga_stepper *st)
{
  ga__colloc *c = ga__colloc_of(st);
  c->old_end = c->old_factors;
  c->own_end = c->in_order && c->old_factors && st->factors.now.n_stages > c->now->stages;
  if (!c->in_order || c->old_factors) return GA_OK;
  const ga_status status = ga__colloc_prepare_end(st);
  c->own_end = status == GA_OK;
  return status == GA_RETRY_SINGULAR ? GA_OK : status;
}

/* r = (M vdot − f, 0, 0, xdot − s, y − o) at the last node, solved by the matrix of the end. */
ga_status ga__colloc_noise(ga_stepper *st, double *noise, ga__scratch scratch)
{
  const ga_system *sys = st->sys;
  const ga__colloc *c = ga__colloc_of(st);
  const int M = c->now->stages, *start = sys->start;
  const double *z = c->z + M * sys->n;
  double *r = ga__take(&scratch, sys->n), *force = ga__take(&scratch, sys->nv);
  ga_point p = ga__colloc_point(st, M);
  p.motion = ++st->motion;
  st->stats.residuals++;
  clear(r, sys->n);
  ga_status status = dynamics_at(sys, &p, r, force);
  if (status) return status;
  clear(r + sys->nv, start[GA_BLOCK_X] - sys->nv);
  for (int i = start[GA_BLOCK_X]; i < sys->n; i++) r[i] += z[i];
  status = solve_end(st, r);
  *noise = status ? 0.0 : ga__colloc_part_of_error(st, r);
  return status;
}

ga_status ga__colloc_finish(ga_stepper *st, ga__scratch scratch)
{
  ga_status status = project_positions(st, scratch);
  if (!status) status = project_velocities(st, scratch);
  return status ? status : solve_accelerations(st, scratch);
}

/* ---- Within the step ---- */

enum { SOLUTIONS_INSIDE = 8 };
#define DIVERGES 0.7 /* contraction above which it is not waited for */

ga_status ga__colloc_solve_at(ga_stepper *st, int m, double t, const ga__inside *at, int *found,
                              ga__scratch scratch)
{
  const ga_system *sys = st->sys;
  const double goal = fmax(TIGHTER * ga__colloc_tolerance(st), 4.0 * DBL_EPSILON);
  double *fixed = ga__take(&scratch, sys->n), *d = ga__take(&scratch, sys->n), before = HUGE_VAL;
  const ga_point p = point_of(t, at);
  *found = 0;
  ga_status status = constraint_accelerations(st, &p, fixed);
  for (int i = 0; !status && !*found && i < SOLUTIONS_INSIDE; i++) {
    status = residual_at(st, t, at, fixed, d, scratch);
    if (!status) status = ga__colloc_solve(st, m, d);
    if (status) break;
    const double size = add_to(sys, at, d), rho = size / before;
    if (!isfinite(size)) break;
    *found = size <= ROUNDING || (i > 0 && rho < 1.0 && size * rho / (1.0 - rho) <= goal);
    if (i > 0 && rho > DIVERGES) break;
    before = size;
  }
  return status;
}
