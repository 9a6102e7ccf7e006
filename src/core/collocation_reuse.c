/* Factors that several steps of collocation share. Matrices of nodes change with the motion: sweeps with
 * those of an earlier step contract less, and new factors cost as much as one to three sweeps. Work is
 * counted and compared: factors are made again as soon as the next step with the old ones is expected to take
 * more than the mean of the steps since they were made, their own work included. */
#include "core/collocation.h"

#include <math.h>

/* Work of the matrix of a node and its factors, in sweeps of this node: that of evaluations, and dense
 * factors grow with the number of unknowns relative to solutions. With up to SMALL there is nothing to gain.
 * Multipliers are not counted, so that redundant ones make no difference. */
enum { SMALL = 4 };
#define FACTORS_OF_NONE 1.0
#define FACTORS_BY_N 0.07
#define MOST_FACTORS 3.0
#define WORK_OF_SWEEP 2.0 /* of a node: a residual and a solution */
/* Step sizes, relative to that of the factors, at which they are used; where stiff equations are solved from
 * node to node, matrices depend on it. */
#define LONGEST 1.5
#define LONGEST_IN_ORDER 1.1
/* Sweeps that contract less than this are slow in any case; better contractions than LEAST_RATE are chance.
 */
#define SLOW_RATE 0.5
#define LEAST_RATE 0.02
#define SLOWER 1.5 /* than with their own factors: more than by chance */
/* Steps that begin with new factors after their reuse has cost more than it saved: at first, and at most. */
enum { FIRST_PAUSE = 16, LAST_PAUSE = 256 };

static int rule_of(const ga_stepper *st)
{
  const ga__colloc *c = ga__colloc_of(st);
  return c->in_order ? -c->now->order : c->now->order;
}

static double work_of(const ga_stepper *st)
{
  return (double)(st->stats.residuals + st->stats.solves);
}

static int count_unknowns(const ga_stepper *st)
{
  const int *start = st->sys->start;
  return st->sys->n - (start[GA_BLOCK_X] - start[GA_BLOCK_LAMBDA]);
}

/* Sweeps that new factors cost. */
static double sweeps_of_factors(const ga_stepper *st)
{
  return fmin(FACTORS_OF_NONE + FACTORS_BY_N * count_unknowns(st), MOST_FACTORS);
}

static double work_of_factors(const ga_stepper *st)
{
  return WORK_OF_SWEEP * sweeps_of_factors(st) * ga__colloc_of(st)->now->stages;
}

static int may_keep(const ga_stepper *st)
{
  const ga__factors *f = &st->factors;
  const double most = ga__colloc_of(st)->in_order ? LONGEST_IN_ORDER : LONGEST;
  if (count_unknowns(st) <= SMALL || st->opts.newton.reuse != GA_REUSE || !f->now.valid || f->worn ||
      f->now.rule != rule_of(st))
    return 0;
  return st->h <= most * f->now.h && f->now.h <= most * st->h;
}

int ga__colloc_keeps_factors(ga_stepper *st)
{
  ga__colloc *c = ga__colloc_of(st);
  ga__factor_state *f = &st->factors.now;
  c->work_before = work_of(st);
  c->old_factors = 0;
  if (may_keep(st)) {
    if (f->fresh_steps > 0)
      f->fresh_steps--;
    else
      c->old_factors = !ga__factors_refactor(st);
  }
  if (!c->old_factors) ga__factors_drop(st);
  return c->old_factors;
}

/* Further sweeps until increments of this size are below the tolerance. */
static double sweeps_left(const ga_stepper *st, double size, double rate)
{
  const double goal = ga__colloc_tolerance(st);
  return size > goal ? log(size / goal) / -log(fmax(rate, LEAST_RATE)) : 0.0;
}

/* Mean contraction since the first sweep. */
static double mean_rate(const ga__colloc_progress *p)
{
  return p->n > 1 && p->first > 0.0 ? pow(p->last / p->first, 1.0 / (p->n - 1)) : 0.0;
}

int ga__colloc_is_slower(const ga_stepper *st, const ga__colloc_progress *p)
{
  return mean_rate(p) > SLOWER * fmax(st->factors.now.rate, LEAST_RATE);
}

int ga__colloc_is_slow(const ga_stepper *st, const ga__colloc_progress *p)
{
  const double rate = st->factors.now.rate, mean = mean_rate(p);
  if (p->n < 2 || !(p->first > 0.0)) return 0;
  if (!(fmax(mean, p->rho) < SLOW_RATE)) return 1;
  return sweeps_left(st, p->size, fmax(mean, p->rho)) >
         sweeps_left(st, p->size, rate) + sweeps_of_factors(st);
}

/* Steps with new factors alone follow, more of them each time. */
static void pause_reuse(ga__factor_state *f)
{
  f->span = f->span > 0 ? (2 * f->span < LAST_PAUSE ? 2 * f->span : LAST_PAUSE) : FIRST_PAUSE;
  f->fresh_steps = f->span;
}

void ga__colloc_give_up_factors(ga_stepper *st)
{
  ga__colloc *c = ga__colloc_of(st);
  if (st->factors.now.age <= 1) pause_reuse(&st->factors.now);
  c->old_factors = 0;
  c->work_before = work_of(st);
}

void ga__colloc_note_work(ga_stepper *st, const ga__colloc_progress *p)
{
  const ga__colloc *c = ga__colloc_of(st);
  ga__factor_state *f = &st->factors.now;
  const double work = work_of(st) - c->work_before;
  if (!c->old_factors) {
    /* Where sweeps with old factors came first, these began nearer to the end. */
    const double spared = p->n < c->sweeps ? WORK_OF_SWEEP * c->now->stages : 0.0;
    f->rule = rule_of(st);
    f->n_stages = c->now->stages + c->own_end;
    f->work = work + spared;
    f->spent = work_of_factors(st);
    f->rate = mean_rate(p);
    f->age = 1;
    return;
  }
  const double more = fmax(work - f->work, 0.0);
  f->spent += more;
  f->age++;
  if (f->age == 2 && more >= work_of_factors(st))
    pause_reuse(f);
  else if (f->age > 2)
    f->span = 0;
  /* further work grows in proportion to their age */
  if (more * f->age / (f->age - 1) > f->spent / f->age) st->factors.worn = 1;
}
