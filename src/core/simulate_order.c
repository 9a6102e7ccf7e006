/* The choice of the order: after each step, whether the next ones would take less work with another one. What
 * the orders next to the present one would need is predicted from derivatives of the motion; whether they do
 * is measured, and an order that needs more than the one before is left again, and tried later. Order 2,
 * which damps what it does not resolve, is for motions that are stiff or rough: it is tried where sweeps show
 * that, and left when they no longer do. Work is counted, not timed, so that runs can be repeated. */
#include "core/collocation.h"
#include "core/simulate.h"

#include <math.h>
#include <string.h>

static const int ORDERS[GA__N_ORDERS] = {2, 4, 6, 8, 10};

/* Orders to begin with, by the tolerance. */
static const struct {
  double from; /* [-] tolerance, and beyond */
  int order;
} BEGIN[] = {{4e-3, 4}, {4e-5, 6}, {1e-8, 8}, {0.0, 10}};

/* Work of evaluations: whole numbers, so that differences of sums have no rounding, and a resumed run the
 * same. */
enum { OF_RESIDUAL = 10, OF_JACOBIAN = 15, OF_FACTORS = 20, OF_SOLUTION = 7 };
/* Of a step of collocation: for each node, for each sweep of a node, and of its end. */
enum { NODE = OF_JACOBIAN + OF_FACTORS, SWEEP = OF_RESIDUAL + OF_SOLUTION, END = 55 };

#define GAIN 0.75   /* of the work per unit time, for which an order is changed */
#define SLOWER 0.35 /* relative growth of the number of sweeps if h grows by e */
#define LOSS 25.0   /* of this many steps one may be lost to trying another order than 2 */
#define ROUGH                                                                                                \
  2.0 /* work per step that shows a rough motion, relative to that of steps without rejections               \
       */
enum {
  TRIAL = 6,         /* steps until an order is compared with the one before, */
  TRIAL_2 = 12,      /* if one of them is 2, */
  EVERY = 3,         /* and between two searches for a better one */
  MEMORY = 24,       /* steps that the work of an order is averaged over, about */
  FIRST_WAIT = 16,   /* steps until an order that was worse is tried again, at first, */
  FIRST_WAIT_2 = 64, /* from order 2, */
  LAST_WAIT = 2048,  /* and at most */
  ROUGH_STEPS = 8,   /* steps of collocation that are looked at before order 2 is tried, */
  STIFF_STEPS = 2    /* if they are steps for stiff equations */
};

static int begin_order(double tolerance)
{
  int i = 0;
  while (tolerance > 0.0 && tolerance < BEGIN[i].from) i++;
  return BEGIN[i].order;
}

void ga__sim_begin_order(ga_stepper *st, const ga_simulate_opts *o, double part)
{
  const double tolerance = o->rtol > 0.0 ? o->rtol + fmin(o->atol, o->rtol) : o->atol;
  st->tolerance = o->fixed_h > 0.0 ? 0.0 : part * tolerance;
  ga__member_use(st, o->fixed_h == 0.0);
  if (st->opts.order == 0 && o->fixed_h == 0.0) st->order = begin_order(tolerance);
}

double ga__sim_work(const ga_stepper *st)
{
  const ga_stats *n = &st->stats;
  return (double)(OF_RESIDUAL * n->residuals + OF_JACOBIAN * n->jacobians + OF_FACTORS * n->factorisations +
                  OF_SOLUTION * n->solves);
}

static int may_choose(const ga_simulator *sim)
{
  const ga_stepper *st = sim->st;
  return st->opts.order == 0 && sim->opts.fixed_h == 0.0 && (st->method->has_order || ga__has_members(st));
}

static int index_of(int order)
{
  for (int i = 0; i < GA__N_ORDERS; i++)
    if (ORDERS[i] == order) return i;
  return -1;
}

/* ---- Predictions ---- */

/* Size of steps after one of size h with this error; without regard to how fast they may grow, which is the
 * same for all orders. */
static double size_by_error(const ga_simulator *sim, double h, double err, int order)
{
  return fmin(h * pow(GA__SAFETY / fmax(err, 1e-4), 1.0 / order), ga__sim_largest_step(sim));
}

/* Size of steps of another order of collocation, by the last step of size h; 0: not known. */
static double predict_size(ga_simulator *sim, double h, int order)
{
  ga_stepper *st = sim->st;
  double *e_q = sim->vdot, *e_x = sim->x; /* used as work space: only states between steps need them */
  ga__tally t = {0};
  if (!ga__colloc_error_of(st, order, e_q, e_x)) return 0.0;
  ga__tally_x(&t, &sim->opts, st, e_x);
  ga__tally_q(&t, &sim->opts, st, e_q, sim->weight);
  if (!(t.largest > 0.0) || !isfinite(t.largest)) return 0.0;
  return size_by_error(sim, h, t.largest, order);
}

static double work_of_step(int order, double sweeps)
{
  return 0.5 * order * (NODE + SWEEP * sweeps) + END;
}

/* Work per unit time with another order relative to that of the present one; INFINITY: not known. */
static double predict_work(ga_simulator *sim, double h, int now, int other, double *size)
{
  const double made = ga__colloc_of(sim->st)->sweeps;
  if (!((*size = predict_size(sim, h, other)) > 0.0)) return INFINITY;
  const double sweeps = fmax(1.5, 1.0 + (made - 1.0) * (1.0 + SLOWER * log(*size / h)));
  const double steps = work_of_step(other, sweeps) / work_of_step(now, made);
  return steps * size_by_error(sim, h, sim->err_old, now) / *size;
}

/* 1: the last step was one for stiff equations, or steps with this order are rejected more often than not. */
static int is_rough(const ga_stepper *st)
{
  const double *plan = st->now.plan;
  const ga__colloc *c = ga__colloc_of(st);
  const double made = plan[GA__PLAN_WORK] / fmax(plan[GA__PLAN_STEPS] - 1.0, 1.0);
  return c->in_order || made > ROUGH * work_of_step((int)plan[GA__PLAN_ORDER], c->sweeps);
}

/* ---- Changes ---- */

static void change_order(ga_simulator *sim, int order, double size, double former_work)
{
  ga_stepper *st = sim->st;
  double *plan = st->now.plan;
  plan[GA__PLAN_FORMER] = former_work > 0.0 ? plan[GA__PLAN_ORDER] : 0.0;
  plan[GA__PLAN_FORMER_WORK] = former_work;
  plan[GA__PLAN_ORDER] = order;
  plan[GA__PLAN_STEPS] = plan[GA__PLAN_TIME] = plan[GA__PLAN_WORK] = 0.0;
  sim->power = sim->err_old = 0.0;
  if (size > 0.0) sim->h_next = fmin(fmax(size, GA__SHRINK * sim->h_next), GA__GROW * sim->h_next);
}

/* At least `least` steps, and twice as many each time. */
static void wait_for(double *plan, int index, double first, double least)
{
  const double span = fmax(fmax(plan[GA__PLAN_SPAN + index], first), fmin(least, LAST_WAIT));
  plan[GA__PLAN_WAIT + index] = span;
  plan[GA__PLAN_SPAN + index] = fmin(2.0 * span, LAST_WAIT);
}

/* Steps of the former order that took as much work as trying the present one took in vain. */
static double steps_lost(const ga_simulator *sim)
{
  const double *plan = sim->st->now.plan;
  const double former = plan[GA__PLAN_FORMER_WORK], steps = plan[GA__PLAN_STEPS];
  const double lost = fmax(plan[GA__PLAN_WORK] - former * plan[GA__PLAN_TIME], 0.0);
  return lost * steps / fmax(steps - 1.0, 1.0) / (former * sim->h_next); /* the first step was not counted */
}

/* The order was changed some steps ago: back to the one before if that needed less work; to order 2 at once
 * where steps for stiff equations show it. 1: changed, or not known yet. */
static int judge_change(ga_simulator *sim, int now, double work)
{
  double *plan = sim->st->now.plan;
  const int former = (int)plan[GA__PLAN_FORMER], with_2 = former == 2 || ORDERS[now] == 2;
  const int more = work > plan[GA__PLAN_FORMER_WORK];
  const int is_clear = former == 2 && more && ga__colloc_of(sim->st)->in_order;
  if (former == 0 || (plan[GA__PLAN_STEPS] < (with_2 ? TRIAL_2 : TRIAL) && !is_clear)) return former != 0;
  plan[GA__PLAN_FORMER] = 0.0;
  if (!more) plan[GA__PLAN_SPAN + now] = 0.0;
  if (!more && ORDERS[now] == 2) /* the more collocation took, the later it is tried again */
    wait_for(plan, index_of(begin_order(sim->st->tolerance)), FIRST_WAIT_2,
             LOSS * STIFF_STEPS * plan[GA__PLAN_FORMER_WORK] / work);
  if (!more) return 0;
  const double least = former == 2 ? LOSS * steps_lost(sim) : 0.0;
  wait_for(plan, now, former == 2 ? FIRST_WAIT_2 : FIRST_WAIT, least);
  change_order(sim, former, 0.0, 0.0);
  return 1;
}

/* The order next to the present one that needs least work, if it is worth a change. */
static void find_better(ga_simulator *sim, double h, int now, double work)
{
  const double *plan = sim->st->now.plan;
  double best = GAIN, size = 0.0;
  int order = 0;
  for (int k = now - 1; k <= now + 1; k += 2) {
    double h_there;
    if (k < 1 || k >= GA__N_ORDERS || plan[GA__PLAN_WAIT + k] > 0.0) continue;
    const double there = predict_work(sim, h, ORDERS[now], ORDERS[k], &h_there);
    if (there < best) best = there, size = h_there, order = ORDERS[k];
  }
  if (order != 0) change_order(sim, order, size, work);
}

/* From collocation to order 2 and back, to see whether it is the better one here; 1: changed. */
static int try_member(ga_simulator *sim, double work)
{
  ga_stepper *st = sim->st;
  const double *plan = st->now.plan;
  const int other = ga__member_is_second(st) ? 2 : begin_order(st->tolerance);
  const double least = other != 2 ? 1.0 : ga__colloc_of(st)->in_order ? STIFF_STEPS : ROUGH_STEPS;
  if (!ga__has_members(st) || plan[GA__PLAN_STEPS] < least || plan[GA__PLAN_WAIT + index_of(other)] > 0.0)
    return 0;
  if (other == 2 && !is_rough(st)) return 0;
  change_order(sim, other, 0.0, work);
  return 1;
}

void ga__sim_choose_order(ga_simulator *sim, double h, double work)
{
  ga_stepper *st = sim->st;
  double *plan = st->now.plan;
  if (!may_choose(sim)) return;
  if (plan[GA__PLAN_ORDER] == 0.0) plan[GA__PLAN_ORDER] = st->method->has_order ? st->order : 2;
  const int now = index_of((int)plan[GA__PLAN_ORDER]);
  for (int k = 0; k < GA__N_ORDERS; k++) plan[GA__PLAN_WAIT + k] = fmax(plan[GA__PLAN_WAIT + k] - 1.0, 0.0);
  if (plan[GA__PLAN_STEPS] > MEMORY) /* a mean over twice as many steps forgets half of them */
    for (int i = GA__PLAN_STEPS; i <= GA__PLAN_WORK; i++) plan[i] *= 0.5;
  if (plan[GA__PLAN_STEPS] >= 1.0) plan[GA__PLAN_TIME] += h, plan[GA__PLAN_WORK] += work;
  plan[GA__PLAN_STEPS] += 1.0;
  if (now < 0 || !(plan[GA__PLAN_TIME] > 0.0)) return;
  const double mean = plan[GA__PLAN_WORK] / plan[GA__PLAN_TIME];
  if (judge_change(sim, now, mean) || try_member(sim, mean)) return;
  const int due = plan[GA__PLAN_STEPS] >= EVERY && fmod(floor(plan[GA__PLAN_STEPS]), EVERY) == 0.0;
  if (due && st->method->has_order && !ga__colloc_of(st)->in_order) find_better(sim, h, now, mean);
}

void ga__sim_use_order(const ga_simulator *sim)
{
  ga_stepper *st = sim->st;
  const int order = (int)st->now.plan[GA__PLAN_ORDER];
  if (may_choose(sim) && order > 2) st->order = order;
}

int ga__sim_wants_member(const ga_simulator *sim)
{
  const ga_stepper *st = sim->st;
  const double order = st->now.plan[GA__PLAN_ORDER];
  return ga__has_members(st) && may_choose(sim) && order > 0.0 && (order > 2.0) != ga__member_is_second(st);
}

ga_status ga__sim_change_member(ga_simulator *sim)
{
  ga_stepper *st = sim->st;
  const double h_next = sim->h_next;
  const int second = ga__member_is_second(st);
  ga__sim_copy_state(sim, &st->view);
  ga__member_use(st, !second);
  const ga_status status =
      ga__sim_restart(sim, st->now.scalar[GA__T], fmin(h_next, ga__sim_largest_step(sim)));
  return status;
}
