/* Paths of equilibria: load steps, and arc length past turning points of the load.
 *
 *   R(z, μ) = r(z, μ) − (1 − μ) r0 = 0,   tangent (ż, μ̇):  W ż + μ̇ R_μ = 0
 *
 * A step along the arc begins at (z, μ) + ds (ż, μ̇) and is corrected at right angles to the tangent:
 *
 *   δz = a + δμ b,  W a = −R,  W b = −R_μ,   ⟨ż, δz⟩ + μ̇ δμ = 0
 *
 * ⟨ ⟩ counts moves alone, in the scales of q and against their size at the beginning. */
#include "core/equilibrium.h"

#include <math.h>
#include <stdio.h>

#define LEAST_STEP 1e-7 /* of the first step */
#define JUMP 5.0        /* times the move predicted by the tangents at both ends of a load step */

static double path_dot(const ga_equilibrium *eq, const double *a, const double *b)
{
  double sum = 0.0;
  for (int i = 0; i < eq->sys->nv; i++) sum += a[i] * b[i] / (eq->scale[i] * eq->scale[i]);
  return sum / (eq->path_scale * eq->path_scale);
}

ga_status ga__show_load(ga_equilibrium *eq, int iterations, const ga__stiffness *s)
{
  eq->report.load = eq->now.statics.load;
  eq->report.last_iterations = iterations;
  if (!eq->opts.observer) return GA_OK;
  ga__balance_copy(eq, &eq->last, &eq->now); /* what the state shows */
  eq->has_state = 1;
  const ga_load_point p = {.load = eq->now.statics.load,
                           .state = &eq->state,
                           .iterations = iterations,
                           .stability = s ? s->stability : GA_STABILITY_UNKNOWN,
                           .n_unstable = s ? s->n_unstable : 0};
  return eq->opts.observer(eq->opts.user, &p) ? GA_STOPPED : GA_OK;
}

static ga_status not_reached(ga_equilibrium *eq, const char *why)
{
  return ga__refuse(eq->ctx, GA_RETRY_NEWTON, GA_REASON_LOAD_NOT_REACHED,
                    &(ga__facts){GA__NUMBERS({eq->now.statics.load, NULL}, {eq->opts.load, NULL},
                                             {(double)eq->report.load_steps, NULL}),
                                 .detail = why});
}

/* ---- Load steps ---- */

ga_status ga__load_tangent(ga_equilibrium *eq, double *out, double *size)
{
  ga_status status = ga__balance_factor(eq, &eq->now, &ga__tangent_terms);
  if (!status) status = ga__balance_load_rate(eq, &eq->now, out);
  for (int i = 0; i < eq->sys->n; i++) out[i] = -out[i];
  if (!status) status = ga_lu_solve(eq->lu, out);
  if (!status) status = ga__balance_follow(eq, &eq->now, out);
  *size = status ? INFINITY : ga__move_size(eq, out);
  return status;
}

/* A load step that moved much more than its tangents predict has left the path. */
static void note_jump(ga_equilibrium *eq, double from, double slope, double slope_before)
{
  const double expected = (eq->now.statics.load - from) * fmax(slope, slope_before);
  ga_group_difference(eq->sys->group, eq->move, eq->kept.q, eq->now.q);
  const double moved = ga__move_size(eq, eq->move);
  if (!(moved > JUMP * expected)) return;
  if (eq->report.jumps++ == 0)
    ga__log(eq->ctx, GA_LOG_WARNING, GA_REASON_LOAD_JUMP,
            &(ga__facts){GA__NUMBERS({from, NULL}, {eq->now.statics.load, NULL})});
}

ga_status ga__load_steps(ga_equilibrium *eq, double first, double largest)
{
  const double target = eq->opts.load;
  double step = first, slope_before = INFINITY, slope = INFINITY;
  ga__stiffness s;
  if (ga__load_tangent(eq, eq->tangent, &slope_before) < 0) return ga_context_error(eq->ctx)->status;
  while (eq->now.statics.load < target) {
    const double from = eq->now.statics.load, left = target - from;
    int iterations = 0;
    if (eq->report.load_steps >= eq->opts.max_steps) return not_reached(eq, "max_steps ends it there");
    ga__balance_copy(eq, &eq->kept, &eq->now);
    eq->now.statics.load = step < 0.999 * left ? from + step : target;
    ga_status status = ga__balance_newton(eq, GA__FULL_MOVES, &iterations);
    if (status < 0) return status;
    if (status) {
      ga__balance_copy(eq, &eq->now, &eq->kept);
      step *= 0.5;
      if (step < LEAST_STEP * first)
        return not_reached(
            eq, "Newton's iteration fails however short the load step is, as at a limit point of the load");
      continue;
    }
    status = ga__load_tangent(eq, eq->tangent, &slope);
    if (status < 0) return status;
    note_jump(eq, from, slope, slope_before);
    slope_before = slope;
    eq->report.load_steps++;
    if (eq->opts.observer && eq->opts.stability) status = ga__find_stiffness(eq, &s);
    if (status < 0) return status;
    status = ga__show_load(eq, iterations, eq->opts.observer && eq->opts.stability ? &s : NULL);
    if (status) return status;
    if (iterations <= 6) step = fmin(2.0 * step, largest);
  }
  return GA_OK;
}

/* ---- Arc length ---- */

/* A point of the path: eq->now, its tangent and what follows from it. */
typedef struct arc {
  double mu; /* of the tangent: dμ/ds */
  double ds; /* to the next one */
  ga__stiffness stiffness;
} arc;

/* Tangent at eq->now into eq->tangent, of length 1, in the direction of the one before. */
static ga_status find_tangent(ga_equilibrium *eq, const arc *before, double *mu)
{
  double size;
  const ga_status status = ga__load_tangent(eq, eq->tangent, &size);
  if (status) return status;
  if (!before) {
    eq->path_scale = 1.0;
    eq->path_scale = sqrt(path_dot(eq, eq->tangent, eq->tangent));
    if (!(eq->path_scale > 1e-9)) eq->path_scale = 1.0; /* nothing moves: no load, or rigid bodies alone */
  }
  const double length = sqrt(path_dot(eq, eq->tangent, eq->tangent) + 1.0);
  *mu = 1.0 / length;
  if (before && path_dot(eq, eq->tangent, eq->tangent_old) + before->mu < 0.0) *mu = -*mu;
  for (int i = 0; i < eq->sys->n + eq->sys->def.n_inner; i++) eq->tangent[i] *= *mu;
  return isfinite(*mu) ? GA_OK : GA_RETRY_SINGULAR;
}

/* eq->now := the point of the path at ds from `from`, along eq->tangent_old. */
static ga_status step_along(ga_equilibrium *eq, const ga__balance *from, const arc *a, double ds,
                            int *iterations)
{
  const int n = eq->sys->n;
  ga__convergence c = {0};
  ga__balance_move(eq, &eq->now, from, ds, eq->tangent_old);
  eq->now.statics.load = from->statics.load + ds * a->mu;
  for (*iterations = 1; *iterations <= eq->opts.max_iterations; ++*iterations) {
    ga_status status = ga__balance_residual(eq, &eq->now, eq->d);
    if (!status) status = ga__balance_factor(eq, &eq->now, &ga__tangent_terms);
    if (!status) status = ga__balance_load_rate(eq, &eq->now, eq->simplified);
    for (int i = 0; i < n; i++) eq->d[i] = -eq->d[i], eq->simplified[i] = -eq->simplified[i];
    if (!status) status = ga_lu_solve(eq->lu, eq->d);
    if (!status) status = ga_lu_solve(eq->lu, eq->simplified);
    if (status) return status;
    const double load =
        -path_dot(eq, eq->tangent_old, eq->d) / (path_dot(eq, eq->tangent_old, eq->simplified) + a->mu);
    for (int i = 0; i < n; i++) eq->d[i] += load * eq->simplified[i];
    status = ga__balance_follow(eq, &eq->now, eq->d);
    if (status) return status;
    const double size = fmax(ga__balance_size(eq, &eq->now, eq->d), fabs(load));
    eq->report.iterations++;
    const ga__progress progress = ga__judge_correction(&c, size, eq->opts.tol);
    if (progress == GA__DIVERGES || size > 10.0 * (1.0 + eq->opts.load)) return GA_RETRY_NEWTON;
    ga__balance_move(eq, &eq->now, &eq->now, 1.0, eq->d);
    eq->now.statics.load += load;
    if (progress == GA__CONVERGED) return ga__balance_set_inner(eq, &eq->now);
    status = ga__balance_close(eq);
    if (status) return status;
  }
  return GA_RETRY_NEWTON;
}

/* Tangent and stiffness at eq->now. */
static ga_status measure(ga_equilibrium *eq, const arc *before, arc *at)
{
  ga_status status = find_tangent(eq, before, &at->mu);
  if (!status) status = ga__find_stiffness(eq, &at->stiffness);
  if (!status && at->stiffness.stability == GA_NEUTRAL) status = GA_RETRY_SINGULAR;
  return status;
}

/* What changes along a step where a critical point is passed. */
typedef struct mark {
  double ds;
  double mu, least; /* of tangent and stiffness */
  int n_unstable;
} mark;

static mark mark_of(double ds, const arc *at)
{
  return (mark){ds, at->mu, at->stiffness.least, at->stiffness.n_unstable};
}

static int is_passed(const mark *from, const mark *to)
{
  return from->n_unstable != to->n_unstable || (from->mu < 0.0) != (to->mu < 0.0);
}

/* The first critical point between *low and high: by straight lines of the least stiffness, then by
 * bisection. *low: just behind it. */
static ga_status locate(ga_equilibrium *eq, const arc *before, mark *low, mark high)
{
  enum { STRAIGHT = 12, MOST = 60 };
  const double width = high.ds - low->ds;
  double load = eq->now.statics.load;
  int coordinate = -1;
  for (int i = 0; i < MOST && high.ds - low->ds > 1e-12 * width; i++) {
    const double a = low->least, b = high.least;
    const int straight = i < STRAIGHT && i % 3 != 2 && (a < 0.0) != (b < 0.0);
    double middle = low->ds + (high.ds - low->ds) * (straight ? a / (a - b) : 0.5);
    if (!(middle > low->ds && middle < high.ds)) middle = 0.5 * (low->ds + high.ds);
    int iterations;
    arc at = {0};
    ga_status status = step_along(eq, &eq->kept, before, middle, &iterations);
    if (!status) status = measure(eq, before, &at);
    if (status < 0) return status;
    load = eq->now.statics.load;
    if (status) break; /* singular to the last digit: this is the place */
    coordinate = at.stiffness.coordinate;
    const mark here = mark_of(middle, &at);
    const int exact = fabs(here.least) < 1e-13 * fmax(fabs(a), fabs(b));
    if (is_passed(low, &here))
      high = here;
    else
      *low = here;
    if (exact) break;
  }
  ga_equilibrium_report *r = &eq->report;
  if (r->n_critical < GA_MOST_CRITICAL)
    r->critical[r->n_critical++] = (ga_critical_point){
        (low->mu < 0.0) != (high.mu < 0.0) ? GA_LIMIT_POINT : GA_BIFURCATION, load, coordinate};
  *low = high;
  return GA_OK;
}

/* Locates all critical points of a step, as of two columns that buckle one after the other. Overwrites
 * eq->now. */
static ga_status locate_all(ga_equilibrium *eq, const arc *before, const arc *after, double ds)
{
  mark low = mark_of(0.0, before);
  const mark high = mark_of(ds, after);
  ga_status status = GA_OK;
  for (int i = 0; !status && i < GA_MOST_CRITICAL && is_passed(&low, &high); i++)
    status = locate(eq, before, &low, high);
  return status;
}

/* eq->now is beyond the load: moves it to where the load is reached, between eq->kept and there. */
static ga_status land(ga_equilibrium *eq, const arc *before, double ds, int *iterations)
{
  const double target = eq->opts.load, passed = eq->now.statics.load;
  double low = 0.0, high = ds, at_low = eq->kept.statics.load - target, at_high = passed - target;
  for (int i = 0; i < 60; i++) {
    double middle = i % 3 == 2 ? 0.5 * (low + high) : low + (high - low) * at_low / (at_low - at_high);
    if (!(middle > low && middle < high)) middle = 0.5 * (low + high);
    const ga_status status = step_along(eq, &eq->kept, before, middle, iterations);
    if (status) return status;
    const double here = eq->now.statics.load - target;
    if (fabs(here) <= 1e-6 * target) break;
    if ((here < 0.0) == (at_low < 0.0))
      low = middle, at_low = here;
    else
      high = middle, at_high = here;
  }
  eq->now.statics.load = target;
  return ga__balance_newton(eq, GA__FULL_MOVES, iterations);
}

/* One step of the path from eq->now, with its critical points. *done: the load is reached. */
static ga_status advance(ga_equilibrium *eq, arc *at, double least, int *done)
{
  const double largest = eq->opts.max_step > 0.0 ? 2.0 * eq->opts.max_step : INFINITY;
  arc next = {0};
  int iterations = 0;
  ga__balance_copy(eq, &eq->kept, &eq->now);
  ga__copy_numbers(eq->tangent_old, eq->tangent, eq->sys->n + eq->sys->def.n_inner);
  for (;;) {
    if (at->ds < least) return GA_RETRY_NEWTON;
    ga_status status = step_along(eq, &eq->kept, at, at->ds, &iterations);
    if (!status) status = measure(eq, at, &next);
    if (status < 0) return status;
    /* A tangent that has turned too far means that a part of the path was skipped. */
    if (!status && path_dot(eq, eq->tangent, eq->tangent_old) + next.mu * at->mu >= 0.7) break;
    at->ds *= status == GA_RETRY_SINGULAR ? 0.9 : 0.5;
  }
  next.ds = fmin(at->ds * fmin(2.0, fmax(0.5, sqrt(5.0 / iterations))), largest);
  const mark begin = mark_of(0.0, at), end = mark_of(at->ds, &next);
  if (is_passed(&begin, &end)) {
    ga__balance_copy(eq, &eq->last, &eq->now);
    ga_status status = locate_all(eq, at, &next, at->ds);
    if (status < 0) return status;
    ga__balance_copy(eq, &eq->now, &eq->last);
    status = find_tangent(eq, at, &next.mu);
    if (status) return status;
  }
  *done = (eq->now.statics.load - eq->opts.load) * (eq->kept.statics.load - eq->opts.load) <= 0.0;
  if (*done) {
    const ga_status status = land(eq, at, at->ds, &iterations);
    if (status) return status;
    if (ga__find_stiffness(eq, &next.stiffness) < 0) return ga_context_error(eq->ctx)->status;
  }
  eq->report.load_steps++;
  *at = next;
  return ga__show_load(eq, iterations, &next.stiffness);
}

/* Reports the first equation without a tangent. */
ga_status ga__refuse_no_tangent(ga_equilibrium *eq)
{
  ga__stiffness s;
  char name[GA_ERROR_NAME] = "the system";
  int index = -1, block = -1;
  if (ga__find_stiffness(eq, &s) < 0) return ga_context_error(eq->ctx)->status;
  if (s.coordinate >= 0) {
    block = (int)ga__block_of(eq->sys, s.coordinate, &index);
    ga__describe_unknown(eq->sys, (ga_equation_block)block, index, name, sizeof name);
  }
  return ga__refuse(eq->ctx, GA_ERR_SINGULAR, GA_REASON_NO_TANGENT,
                    &(ga__facts){.at = &(ga__fact_time){eq->t, NAN, block, index}, .equation = name});
}

ga_status ga__load_path(ga_equilibrium *eq)
{
  arc at = {0};
  int done = 0;
  ga_status status = measure(eq, NULL, &at);
  if (status == GA_RETRY_SINGULAR) return ga__refuse_no_tangent(eq);
  if (status) return status;
  at.ds = eq->opts.load_step / at.mu;
  const double least = LEAST_STEP * at.ds;
  while (!done) {
    if (eq->report.load_steps >= eq->opts.max_steps) return not_reached(eq, "max_steps ends it there");
    status = advance(eq, &at, least, &done);
    if (status > 0 && status != GA_STOPPED) {
      ga__balance_copy(eq, &eq->now, &eq->kept);
      return not_reached(eq, "corrections fail however short the step along the path is");
    }
    if (status) return status;
  }
  return GA_OK;
}
