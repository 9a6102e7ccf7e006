/* Newton's iteration for the equations of one step, for all families: convergence test, renewal of the
 * factors. */
#include "core/stepper.h"

#include <float.h>
#include <math.h>

/* The first increment gives no contraction, and the stored one grows while factors age: it is assumed to be
 * at least this, */
#define SLOWEST_FRESH 0.1
#define CAUTION 3.0 /* and this much larger than stored */
/* A measured contraction that is better than the stored one by this factor may be chance, and is limited;
 * likewise below LEAST_RATE. */
#define CHANCE 0.1
#define LEAST_RATE 1e-3
/* Number of steps that begin with new factors after reuse failed at once. */
#define FRESH_STEPS 20
/* Increments up to this many times the floor of rounding count as rounding. */
#define FLOOR_MARGIN 100.0
#define TIGHT_MARGIN 5.0 /* for quantities whose floor is known better */
#define MET_MARGIN 20.0  /* residuals relative to their own rounding */
#define MET_LIMIT 1.0
/* Above this, a stagnating iteration is a failure for any floor (small h). */
#define FLOOR_LIMIT 1e-3
/* Forces may cancel within a callback, so that their rounding is unknown: an iteration below this that
 * makes no progress for STALLED iterations with new factors also counts as at its floor. */
#define STALL_LIMIT 1e-6
#define HEADWAY 0.8
enum { STALLED = 3 };

/* r is restored: its increment is still needed. */
ga__measure ga__noise(ga_stepper *st, const ga__state *at)
{
  const ga_system *sys = st->sys;
  double *r = st->r, *out = st->saddle_rhs, *terms = st->scratch;
  ga_point p = ga__state_point(at);
  ga__measure none = {0.0, 0.0, 0.0};
  if (ga__call(sys, GA__MASS, &p, out) || ga__call(sys, GA__FORCE, &p, terms)) return none;
  for (int i = 0; i < sys->nv; i++) terms[i] = fabs(terms[i]) + fabs(out[i]);
  st->family->noise(st, terms, out);
  for (int i = 1; i < st->factors.n; i += 2)
    out[i] = -out[i]; /* alternating signs, so that it does not act as one force */
  st->r = out;
  ga__measure noise = st->family->solve(st) ? none : st->family->weigh(st, NULL);
  st->r = r;
  return noise;
}

/* Whether a stagnating iteration (contraction ρ) is at the floor of rounding. */
static int at_floor(ga_stepper *st, const ga__measure *m, double rho)
{
  if (!(rho > 0.5 && m->all < FLOOR_LIMIT)) return 0;
  ga__measure floor = st->family->floor(st);
  if (m->acc <= FLOOR_MARGIN * floor.acc && m->tight <= TIGHT_MARGIN * floor.tight) return 1;
  return m->all <= TIGHT_MARGIN * ga__noise(st, &st->next).all;
}

/* Remedy if rounding is the reason of the failure (larger steps); NULL: it is not. */
static const char *rounding_remedy(const ga_stepper *st, const ga__measure *m, double rate)
{
  int at_rounding = rate > 0.5 && m->all < STALL_LIMIT && m->all < 1e4 * st->family->floor(st).all;
  if (at_rounding && ga__has_offset(st))
    return "This is close to the floor of rounding, which rises as h falls: take a larger step, a larger "
           "newton.tol, or GA_STABILIZED, whose floor is far lower";
  if (at_rounding)
    return "This is close to the floor of rounding, which rises as h falls: take a larger step or a larger "
           "newton.tol";
  return NULL;
}

static ga_status fail_newton(ga_stepper *st, const ga__measure *m, double rate, int iterations)
{
  const ga_system *sys = st->sys;
  char what[192];
  int index, worst = 0;
  double t = st->next.scalar[GA__T];
  st->family->weigh(st, &worst);
  ga_equation_block block = ga__block_of(sys, st->family->row_of(st, worst), &index);
  ga__describe_unknown(sys, block, index, what, sizeof what);
  const char *rounding = rounding_remedy(st, m, rate);
  return ga__refuse(sys->ctx, GA_RETRY_NEWTON, rounding ? GA_REASON_NEWTON_ROUNDING : GA_REASON_NEWTON,
                    &(ga__facts){.at = &(ga__fact_time){t, st->h, (int)block, index},
                                 .equation = what,
                                 .detail = rounding,
                                 GA__NUMBERS({iterations, NULL}, {m->all, NULL}, {st->opts.newton.tol, NULL},
                                             {rate, NULL})});
}

/* Largest force of a single multiplier, from the derivatives of the last matrix. */
static double largest_reaction(const ga_stepper *st)
{
  const ga_system *sys = st->sys;
  double largest = 0.0;
  for (int e = 0; e < sys->n_entries; e++) {
    int index;
    ga_equation_block block = ga__block_of(sys, sys->col[e], &index);
    if (sys->row[e] >= sys->nv || (block != GA_BLOCK_LAMBDA && block != GA_BLOCK_PSI)) continue;
    double z = block == GA_BLOCK_LAMBDA ? st->next.lambda[index] : st->next.psi[index];
    largest = fmax(largest, fabs(st->jacobian_D[e] * z));
  }
  return largest;
}

/* Last resort of an iteration without progress: if the constraints are satisfied to rounding and the
 * dynamics to newton.tol of the largest force, the remaining increments are caused by a nearly singular
 * matrix, and the iteration is accepted. */
static int are_equations_met(ga_stepper *st, const ga__measure *m)
{
  const ga_system *sys = st->sys;
  double *out = st->saddle_rhs, *terms = st->scratch, largest = largest_reaction(st);
  ga_point p = ga__state_point(&st->next);
  if (!(m->all < MET_LIMIT)) return 0;
  st->family->trial(st);
  if (st->family->residual(st)) return 0;
  if (ga__call(sys, GA__MASS, &p, out) || ga__call(sys, GA__FORCE, &p, terms)) return 0;
  for (int i = 0; i < sys->nv; i++) largest = fmax(largest, fabs(terms[i]) + fabs(out[i]));
  for (int i = 0; i < sys->nv; i++) terms[i] = largest;
  st->family->noise(st, terms, out);
  for (int i = 0; i < st->factors.n; i++) {
    int row = st->family->row_of(st, i);
    double margin = row < sys->nv ? fmax(MET_MARGIN, st->opts.newton.tol / DBL_EPSILON) : MET_MARGIN;
    if (!(fabs(st->r[i]) <= margin * out[i])) return 0;
  }
  return 1;
}

/* If increments with old factors grow beyond this, the iteration restarts from the prediction: from here
 * new factors may find another solution, as the other side of a circle with a stiff spring. */
#define ASTRAY 1.0

/* Increments that have grown twice in a row with new factors, to this many times the smallest before,
 * diverge: the step is too long. */
#define DIVERGING 10.0
enum { GROWN_MOST = 2 };

/* Renewals of a reduced matrix within a step before the complete one is used. */
#define RENEWALS 0

typedef enum verdict { GO_ON, DONE, DONE_AT_FLOOR } verdict;

/* ρ: contraction between this and the last iteration; < 0 in the first one. */
static verdict judge_increment(ga_stepper *st, const ga__measure *m, double rho, int iteration)
{
  double tol = st->opts.newton.tol, rate = rho >= 0.0
                                               ? fmax(rho, fmax(CHANCE * st->factors.now.rate, LEAST_RATE))
                                               : fmax(CAUTION * st->factors.now.rate, SLOWEST_FRESH);
  if (m->all == 0.0) return DONE;
  if (rate < 1.0 && m->all * rate / (1.0 - rate) <= tol) return DONE;
  if (iteration >= 2 && at_floor(st, m, rho)) return DONE_AT_FLOOR;
  return GO_ON;
}

/* Iterations needed at the current contraction to reach the tolerance, or the floor if that is higher. */
static double iterations_needed(const ga_stepper *st, const ga__measure *m, double rho)
{
  double goal = fmax(st->opts.newton.tol, 10.0 * st->family->floor(st).all);
  if (m->all <= goal) return 0.0;
  if (!(rho < 1.0)) return HUGE_VAL;
  return rho > 0.0 ? log(m->all / goal) / -log(rho) : 0.0;
}

/* If factors are too old already in the step after their own, the next FRESH_STEPS steps begin with new
 * ones before reuse is tried again: finding out costs iterations. */
static void note_age(ga_stepper *st, int too_old)
{
  if (too_old && st->factors.now.age <= 1) st->factors.now.fresh_steps = FRESH_STEPS;
}

static int begins_with_new_factors(ga_stepper *st)
{
  if (st->opts.newton.reuse != GA_REUSE || !st->factors.now.valid || st->factors.worn ||
      st->h != st->factors.now.h)
    return 1;
  if (st->factors.now.fresh_steps == 0) return 0;
  st->factors.now.fresh_steps--;
  return 1;
}

static void finish_iteration(ga_stepper *st, verdict v, double rho, int too_old)
{
  st->stats.last_rate = rho > 0.0 ? rho : 0.0;
  st->stats.at_floor += v == DONE_AT_FLOOR;
  ga__terms_count_step(st);
  note_age(st, too_old);
  if (too_old) st->factors.worn = 1;
  st->factors.now.age++;
  st->family->trial(st);
}

static ga_status call_timed(ga_stepper *st, ga_status (*part)(ga_stepper *), double *seconds)
{
  double from = ga__seconds(st);
  ga_status status = part(st);
  *seconds += ga__seconds(st) - from;
  return status;
}

/* The time of the factorisation is counted separately, in ga__factor(). */
static ga_status renew_factors(ga_stepper *st)
{
  double factor = st->stats.time_factor;
  ga__factors_save_matrix(st);
  ga_status status = call_timed(st, st->family->prepare, &st->stats.time_jacobian);
  st->stats.time_jacobian -= st->stats.time_factor - factor;
  return status;
}

/* 1: slow or no progress with new factors of a reduced matrix: GA_RETRY_NEWTON at once, to try the complete
 * one. */
static int lacks_terms(const ga_stepper *st, int slow, int old_factors, double rho, int *renewals)
{
  if (!slow || old_factors || !ga__terms_lacking(st)) return 0;
  return ++*renewals > RENEWALS || rho > 1.0;
}

static ga_status iterate(ga_stepper *st)
{
  const ga_newton_opts *o = &st->opts.newton;
  int renew = begins_with_new_factors(st) || ga__factors_refactor(st), old_factors = !renew,
      limit = o->max_iterations;
  int stalled = 0, renewals = 0, grown = 0;
  double before = -1.0, rho = -1.0, best = HUGE_VAL;
  ga__measure m = {0.0, 0.0, 0.0};
  st->diverged = 0;
  if (renew) ga__terms_try_fewer(st);
  for (int it = 0; it < limit; it++) {
    ga_status status;
    st->family->trial(st);
    st->renewing = renew;
    status = call_timed(st, st->family->residual, &st->stats.time_residual);
    st->renewing = 0;
    if (status) return status;
    if (renew && (status = renew_factors(st))) return status;
    if (st->factors
            .form_changed) { /* restart from the prediction with the complete matrix; renew is still set */
      st->factors.form_changed = 0;
      if ((status = st->family->predict(st, st->h))) return status;
      before = rho = -1.0;
      limit = it + 1 + o->max_iterations;
      continue;
    }
    if ((status = call_timed(st, st->family->solve, &st->stats.time_solve))) return status;
    st->stats.solves++;
    st->stats.iterations++;
    ga__measure_sizes(st);
    m = st->family->weigh(st, NULL);
    if (!isfinite(m.all)) return fail_newton(st, &m, rho, it + 1);
    st->family->update(st);
    rho = before >= 0.0 ? m.all / before : -1.0;
    before = m.all;
    verdict v = judge_increment(st, &m, rho, it);
    stalled = m.all > HEADWAY * best && m.all < STALL_LIMIT && !old_factors ? stalled + 1 : 0;
    grown = renew && rho > 1.0 ? grown + 1 : 0;
    st->diverged = v == GO_ON && grown >= GROWN_MOST && m.all > DIVERGING * best && m.all > ASTRAY;
    if (st->diverged) return fail_newton(st, &m, rho, it + 1);
    best = fmin(best, m.all);
    if (v == GO_ON && stalled >= STALLED) v = DONE_AT_FLOOR;
    if (rho >= 0.0) st->factors.now.rate = fmax(rho, 0.3 * st->factors.now.rate);
    if (v != GO_ON) {
      finish_iteration(st, v, rho, old_factors && it > o->patience);
      return GA_OK;
    }
    if (old_factors && rho > 1.0 && m.all > ASTRAY) { /* restart from the prediction with new factors */
      if ((status = st->family->predict(st, st->h))) return status;
      note_age(st, 1);
      before = rho = -1.0;
      best = HUGE_VAL;
      renew = 1, old_factors = 0;
      limit = it + 1 + o->max_iterations;
      continue;
    }
    int late = old_factors && it >= 2 * o->patience;
    int slow = rho >= 0.0 && (late || iterations_needed(st, &m, rho) > o->patience) && !at_floor(st, &m, rho);
    if (lacks_terms(st, slow, old_factors, rho, &renewals)) return fail_newton(st, &m, rho, it + 1);
    renew = o->reuse == GA_FRESH_ITERATION || slow;
    if (renew && old_factors) { /* iterations with old factors do not count */
      note_age(st, 1);
      old_factors = 0;
      limit = it + 1 + o->max_iterations;
    }
  }
  if (!are_equations_met(st, &m)) return fail_newton(st, &m, rho, limit);
  finish_iteration(st, DONE_AT_FLOOR, rho, 0);
  return GA_OK;
}

ga_status ga__newton(ga_stepper *st)
{
  ga_status status = iterate(st);
  if ((status != GA_RETRY_NEWTON && status != GA_RETRY_SINGULAR) || !ga__terms_lacking(st)) return status;
  ga__terms_take_all(st);
  status = st->family->predict(st, st->h);
  return status ? status : iterate(st);
}
