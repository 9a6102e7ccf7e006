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

/* Progress of the iteration of one step. */
typedef struct progress {
  int iteration, limit; /* the current one, from 0 on, and the number of them at which it ends */
  int renew;            /* 1: the current iteration makes and factors the matrix */
  int old_factors;      /* 1: until now with the factors of an earlier step */
  int renewals;         /* of a reduced matrix */
  ga__measure size;     /* of the increment, */
  double before;        /* of the one before; < 0: there is none, */
  double rho;           /* their ratio, the contraction; < 0: there is none, */
  double best;          /* and the smallest size */
  int stalled, grown;   /* iterations one after the other in which it did not fall, or has grown */
} progress;

/* r is restored: its increment is still needed. */
ga__measure ga__noise(ga_stepper *st, const ga__state *at, ga__scratch scratch)
{
  const ga_system *sys = st->sys;
  double *r = st->r, *out = ga__take(&scratch, st->factors.n), *terms = ga__take(&scratch, sys->nv);
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

/* Whether a stagnating iteration is at the floor of rounding. */
static int is_at_floor(ga_stepper *st, const progress *p, ga__scratch scratch)
{
  const ga__measure *m = &p->size;
  if (!(p->rho > 0.5 && m->all < FLOOR_LIMIT)) return 0;
  ga__measure floor = st->family->floor(st);
  if (m->acc <= FLOOR_MARGIN * floor.acc && m->tight <= TIGHT_MARGIN * floor.tight) return 1;
  return m->all <= TIGHT_MARGIN * ga__noise(st, &st->next, scratch).all;
}

/* Remedy if rounding is the reason of the failure (larger steps); NULL: it is not. */
static const char *rounding_remedy(const ga_stepper *st, const progress *p)
{
  const double size = p->size.all;
  int at_rounding = p->rho > 0.5 && size < STALL_LIMIT && size < 1e4 * st->family->floor(st).all;
  if (at_rounding && ga__has_offset(st))
    return "This is close to the floor of rounding, which rises as h falls: take a larger step, a larger "
           "newton.tol, or GA_STABILIZED, whose floor is far lower";
  if (at_rounding)
    return "This is close to the floor of rounding, which rises as h falls: take a larger step or a larger "
           "newton.tol";
  return NULL;
}

static ga_status fail_newton(ga_stepper *st, const progress *p, int iterations)
{
  const ga_system *sys = st->sys;
  char what[192];
  int index, worst = 0;
  double t = st->next.scalar[GA__T];
  st->family->weigh(st, &worst);
  ga_equation_block block = ga__block_of(sys, st->family->row_of(st, worst), &index);
  ga__describe_unknown(sys, block, index, what, sizeof what);
  const char *rounding = rounding_remedy(st, p);
  return ga__refuse(sys->ctx, GA_RETRY_NEWTON, rounding ? GA_REASON_NEWTON_ROUNDING : GA_REASON_NEWTON,
                    &(ga__facts){.at = &(ga__fact_time){t, st->h, (int)block, index},
                                 .equation = what,
                                 .detail = rounding,
                                 GA__NUMBERS({iterations, NULL}, {p->size.all, NULL},
                                             {st->opts.newton.tol, NULL}, {p->rho, NULL})});
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
static int are_equations_met(ga_stepper *st, const progress *so_far, ga__scratch scratch)
{
  const ga_system *sys = st->sys;
  double *out = ga__take(&scratch, st->factors.n), *terms = ga__take(&scratch, sys->nv),
         largest = largest_reaction(st);
  ga_point p = ga__state_point(&st->next);
  if (!(so_far->size.all < MET_LIMIT)) return 0;
  st->family->trial(st);
  ga__inner_reset(st);
  if (st->family->residual(st, scratch)) return 0;
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

/* ---- Judgement of an increment ---- */

typedef enum verdict { GO_ON, CONVERGED, AT_FLOOR, DIVERGED, WENT_ASTRAY } verdict;

/* The remaining error is estimated by the contraction, m ρ/(1 − ρ). */
static verdict test_convergence(ga_stepper *st, const progress *p, ga__scratch scratch)
{
  const double size = p->size.all, known = st->factors.now.rate,
               rate = p->rho >= 0.0 ? fmax(p->rho, fmax(CHANCE * known, LEAST_RATE))
                                    : fmax(CAUTION * known, SLOWEST_FRESH);
  if (size == 0.0) return CONVERGED;
  if (rate < 1.0 && size * rate / (1.0 - rate) <= st->opts.newton.tol) return CONVERGED;
  if (p->iteration >= 2 && is_at_floor(st, p, scratch)) return AT_FLOOR;
  return GO_ON;
}

static verdict judge_increment(ga_stepper *st, progress *p, ga__scratch scratch)
{
  const double size = p->size.all, rho = p->rho;
  const verdict v = test_convergence(st, p, scratch);
  p->stalled = size > HEADWAY * p->best && size < STALL_LIMIT && !p->old_factors ? p->stalled + 1 : 0;
  p->grown = p->renew && rho > 1.0 ? p->grown + 1 : 0;
  if (v == GO_ON && p->grown >= GROWN_MOST && size > DIVERGING * p->best && size > ASTRAY) return DIVERGED;
  p->best = fmin(p->best, size);
  if (rho >= 0.0) st->factors.now.rate = fmax(rho, 0.3 * st->factors.now.rate);
  if (v != GO_ON) return v;
  if (p->stalled >= STALLED) return AT_FLOOR;
  return p->old_factors && rho > 1.0 && size > ASTRAY ? WENT_ASTRAY : GO_ON;
}

/* Iterations needed at the current contraction to reach the tolerance, or the floor if that is higher. */
static double iterations_needed(const ga_stepper *st, const progress *p)
{
  double goal = fmax(st->opts.newton.tol, 10.0 * st->family->floor(st).all);
  if (p->size.all <= goal) return 0.0;
  if (!(p->rho < 1.0)) return HUGE_VAL;
  return p->rho > 0.0 ? log(p->size.all / goal) / -log(p->rho) : 0.0;
}

/* ---- Old and new factors ---- */

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

static void allow_all_iterations(const ga_stepper *st, progress *p)
{
  p->limit = p->iteration + 1 + st->opts.newton.max_iterations;
}

/* The next iteration renews the factors of an earlier step; iterations with these do not count. */
static void give_up_old_factors(ga_stepper *st, progress *p)
{
  note_age(st, 1);
  p->renew = 1;
  p->old_factors = 0;
  allow_all_iterations(st, p);
}

/* Chooses whether the next iteration renews the factors. Slow or no progress with new factors of a reduced
 * matrix: GA_RETRY_NEWTON at once, to try the complete one. */
static ga_status choose_factors(ga_stepper *st, progress *p, ga__scratch scratch)
{
  const ga_newton_opts *o = &st->opts.newton;
  const int late = p->old_factors && p->iteration >= 2 * o->patience,
            unknown = p->rho < 0.0 || (p->renew && p->rho < 1.0), /* the contraction by these factors */
      slow = !unknown && (late || iterations_needed(st, p) > o->patience) && !is_at_floor(st, p, scratch);
  if (slow && !p->old_factors && ga__terms_lacking(st) && (++p->renewals > RENEWALS || p->rho > 1.0))
    return fail_newton(st, p, p->iteration + 1);
  p->renew = o->reuse == GA_FRESH_ITERATION || slow;
  if (p->renew && p->old_factors) give_up_old_factors(st, p);
  return GA_OK;
}

/* ---- The iteration ---- */

/* Residuals at the trial values and, to renew the factors, the matrix; the time of its factorisation is
 * counted separately, in ga__factor(). */
static ga_status evaluate(ga_stepper *st, int renew, ga__scratch scratch)
{
  st->family->trial(st);
  st->renewing = renew; /* a sweep gives derivatives too */
  const double begin = ga__seconds(st);
  ga_status status = ga__inner_follow(st);
  if (!status) status = st->family->residual(st, scratch);
  const double end = ga__seconds(st), factor = st->stats.time_factor;
  st->stats.time_residual += end - begin;
  st->renewing = 0;
  if (status || !renew) return status;
  ga__factors_save_matrix(st);
  status = st->family->prepare(st);
  st->stats.time_jacobian += ga__seconds(st) - end - (st->stats.time_factor - factor);
  return status;
}

/* The increment of the unknowns, its size, and its ratio to the one before. */
static ga_status solve(ga_stepper *st, progress *p)
{
  const double begin = ga__seconds(st);
  const ga_status status = st->family->solve(st);
  st->stats.time_solve += ga__seconds(st) - begin;
  if (status) return status;
  st->stats.solves++;
  st->stats.iterations++;
  ga__measure_sizes(st);
  p->size = st->family->weigh(st, NULL);
  if (!isfinite(p->size.all)) return fail_newton(st, p, p->iteration + 1);
  p->rho = p->before >= 0.0 ? p->size.all / p->before : -1.0;
  p->before = p->size.all;
  return GA_OK;
}

/* From the prediction again, with another matrix. */
static ga_status restart(ga_stepper *st, progress *p, ga__scratch scratch)
{
  ga__inner_reset(st);
  const ga_status status = st->family->predict(st, st->h, scratch);
  p->before = p->rho = -1.0;
  allow_all_iterations(st, p);
  return status;
}

static ga_status finish_iteration(ga_stepper *st, const progress *p, int at_floor, int too_old)
{
  st->stats.last_rate = p->rho > 0.0 ? p->rho : 0.0;
  st->stats.at_floor += at_floor;
  ga__terms_count_step(st);
  note_age(st, too_old);
  if (too_old) st->factors.worn = 1;
  st->factors.now.age++;
  st->family->trial(st);
  return GA_OK;
}

static ga_status iterate(ga_stepper *st, ga__scratch scratch)
{
  const int renew = begins_with_new_factors(st) || ga__factors_refactor(st);
  progress p = {.limit = st->opts.newton.max_iterations,
                .renew = renew,
                .old_factors = !renew,
                .before = -1.0,
                .rho = -1.0,
                .best = HUGE_VAL};
  st->diverged = 0;
  if (renew) ga__terms_try_fewer(st);
  for (; p.iteration < p.limit; p.iteration++) {
    ga_status status = evaluate(st, p.renew, scratch);
    if (status) return status;
    if (st->factors.form_changed) { /* the complete matrix is needed; renew is still set */
      st->factors.form_changed = 0;
      if ((status = restart(st, &p, scratch))) return status;
      continue;
    }
    if ((status = solve(st, &p))) return status;
    st->family->update(st);
    const verdict v = judge_increment(st, &p, scratch);
    if (v == CONVERGED || v == AT_FLOOR)
      return finish_iteration(st, &p, v == AT_FLOOR, p.old_factors && p.iteration > st->opts.newton.patience);
    st->diverged = v == DIVERGED;
    if (v == DIVERGED) return fail_newton(st, &p, p.iteration + 1);
    if (v == WENT_ASTRAY) {
      if ((status = restart(st, &p, scratch))) return status;
      give_up_old_factors(st, &p);
      p.best = HUGE_VAL;
    } else if ((status = choose_factors(st, &p, scratch))) {
      return status;
    }
  }
  if (!are_equations_met(st, &p, scratch)) return fail_newton(st, &p, p.limit);
  return finish_iteration(st, &p, 1, 0);
}

ga_status ga__newton(ga_stepper *st, ga__scratch scratch)
{
  ga__inner_reset(st);
  ga_status status = iterate(st, scratch);
  if ((status == GA_RETRY_NEWTON || status == GA_RETRY_SINGULAR) && ga__terms_lacking(st)) {
    ga__terms_take_all(st);
    ga__inner_reset(st);
    status = st->family->predict(st, st->h, scratch);
    if (!status) status = iterate(st, scratch);
  }
  ga__inner_reset(st);
  return status;
}
