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

/* Work of order 2, beside that of collocation. At the same tolerance its errors are ten to a hundred times as
 * large where motions are smooth. */
#define STEP_OF_2 80.0    /* of a step, about */
#define STARTS 600.0      /* of changing to it and back, about */
#define MORE_ACCURATE 2.5 /* times the work that collocation may take there, from tolerance LOOSE on, */
#define LOOSE 1e-3
#define TIGHTER 1e-5    /* and the same work below TIGHTER */
#define ROUGH 2.0       /* times the work of a step without rejections: the motion is rough */
#define USUAL 4.0       /* sweeps of a step: those of the last one may be few */
#define OFTEN 0.25      /* or where so many attempts per step are rejected */
#define EVEN 1.25       /* predicted work of order 2 for which it is tried in the first case, */
#define LESS 0.4        /* and in the second */
#define FADES 0.9       /* of what earlier steps were like, with each step */
#define ENOUGH_SEEN 8.0 /* sum of such parts, for a judgement */
#define GROWS 1.15      /* steps that are followed by ones so much longer are not compared */

/* Growth of small changes of the motion in a step, ga__growth(). Sweeps of order 4 to 10 diverge at 20 to 80
 * for oscillations, at 8 to 20 for damped motions. */
#define STIFF 12.0 /* beyond this they are not tried; */
#define MILD 3.0   /* nor beyond this where little of the run is left: */
#define LONG 4e4   /* less work of order 2 than this */
/* In large systems factors decide, and those of order 2 take several times as long as those of a node: there
 * only motions that are stiffer by this are for order 2. Long chains have a growth of 50 to 300, flexible
 * machines of 1e6 and more. */
#define FEWER_FACTORS 300.0
#define SOFT 1.0             /* sweeps that fail below this do so for another reason */
#define RESOLVED 25.0        /* up to this, of any system, steps from node to node need no damping */
#define STILL_RESOLVED 100.0 /* and up to this where they did without */
#define LEAP 3.0       /* steps of collocation that are worth it are longer than those of order 2 by this, */
#define LEAST_LEAP 2.0 /* or at least by this */
#define EARLY 0.03     /* of the run: such steps, before any were made */
#define MANY_LEAPS 3.0 /* or these, by what order 2 needs at the start */
#define TIGHT 3e-7     /* tolerance below which steps for stiff equations take no more work than order 2 */
enum {
  STIFF_AT_ONCE = 10, /* such steps behind a change, where it is known that the motion is stiff */
  MANY = 300,         /* unknowns of a large system */
  RULE_EVERY = 40,    /* steps from node to node, between looks at their growth */
  FIRST_LOOK = 8,     /* steps of order 2 until it is looked whether it still is, at first, */
  LAST_LOOK = 512     /* and at most */
};

/* Steps as long as they may be. */
#define LIMIT 0.99 /* of the largest: not limited by errors */
#define SLOW 0.05  /* error over tolerance of order 2 in the largest: no other order is needed */
#define SHORT 0.5  /* of the largest: longer ones of order 2 do not become much fewer with another order */

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
  st->tolerances = (ga__tolerances){part * o->rtol, part * o->atol, part * o->rtol_x, part * o->atol_x};
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
  double *e_z = ga__sim_tests_forces(sim) ? st->est_z : NULL;
  ga__tally t = {0};
  if (!ga__colloc_error_of(st, order, e_q, e_x, e_z)) return 0.0;
  if (e_z) ga__tally_forces(&t, &sim->opts, st->sys, e_z, sim->force_size);
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

/* Error over tolerance of a step h of order 2 in which accelerations and rates of states change by dv and dx;
 * both are lost. */
static double error_of_2(ga_simulator *sim, double h, double *dv, double *dx)
{
  const ga_stepper *st = sim->st;
  const ga_scheme *s = &st->opts.scheme;
  const double kappa =
      fmax(fabs((1.0 - 6.0 * s->beta - 3.0 * (s->alpha_m - s->alpha_f)) / 6.0), GA__KAPPA_LEAST);
  ga__tally t = {0};
  for (int i = 0; i < st->sys->nv; i++) dv[i] *= kappa * h * h;
  for (int i = 0; i < st->sys->size[GA_BLOCK_X]; i++) dx[i] *= h;
  ga__tally_x(&t, &sim->opts, st, dx);
  ga__tally_q(&t, &sim->opts, st, dv, sim->weight);
  return t.largest;
}

/* 1: many attempts are rejected, for what is rough. */
static int is_often_rejected(const double *plan)
{
  return plan[GA__PLAN_SEEN] > ENOUGH_SEEN && plan[GA__PLAN_REJECTED] > OFTEN * plan[GA__PLAN_SEEN];
}

/* 1: steps with sweeps from node to node have just begun. */
static int has_begun_in_order(const ga_stepper *st)
{
  const double *own = st->now.own;
  return st->method->has_order && own[GA__COLLOC_STIFF] > 0.0 &&
         own[GA__COLLOC_STIFF] == own[GA__COLLOC_SPAN];
}

/* Whether it is looked at how stiff the motion is: then, and from time to time. */
static int is_rule_due(const ga_stepper *st)
{
  const double left = st->method->has_order ? st->now.own[GA__COLLOC_STIFF] : 0.0;
  return has_begun_in_order(st) || (left > 0.0 && fmod(left, RULE_EVERY) == 0.0);
}

/* The last step was one for stiff equations, and not the first, behind which it is looked whether they are.
 */
static int is_in_stiff_steps(const ga_stepper *st)
{
  return ga__colloc_of(st)->damps && !has_begun_in_order(st);
}

/* 1: the last step was one for stiff equations; or steps are rejected often, or the motion has been one for
 * order 2 before, and this is predicted to take much less work. */
static int is_rough(const ga_stepper *st)
{
  const double *plan = st->now.plan;
  const ga__colloc *c = ga__colloc_of(st);
  const double made = plan[GA__PLAN_WORK] / fmax(plan[GA__PLAN_STEPS] - 1.0, 1.0);
  const int costly = made > ROUGH * work_of_step((int)plan[GA__PLAN_ORDER], fmax(c->sweeps, USUAL));
  const int seen = plan[GA__PLAN_SEEN] > ENOUGH_SEEN && plan[GA__PLAN_ENTERED] == 1.0;
  const double share = costly ? EVEN : seen || is_often_rejected(plan) ? LESS : 0.0;
  return c->damps || plan[GA__PLAN_TAKEN_2] < share * plan[GA__PLAN_TAKEN];
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
  plan[GA__PLAN_FAIR] = 1.0;
  plan[GA__PLAN_FIRST] = plan[GA__PLAN_SKIPPED] = 0.0;
  if (order > 2 && st->method->has_order) sim->power = sim->err_old = 0.0; /* a restart does that too */
  if (size > 0.0) sim->h_next = fmin(fmax(size, GA__SHRINK * sim->h_next), GA__GROW * sim->h_next);
}

/* At least `least` steps, and twice as many each time. */
static void wait_for(double *plan, int index, double first, double least)
{
  const double span = fmax(fmax(plan[GA__PLAN_SPAN + index], first), fmin(least, LAST_WAIT));
  plan[GA__PLAN_WAIT + index] = span;
  plan[GA__PLAN_SPAN + index] = fmin(2.0 * span, LAST_WAIT);
}

/* Steps of the former order that took as much work as trying the present one took in vain, with both starts.
 */
static double steps_lost(const ga_simulator *sim)
{
  const double *plan = sim->st->now.plan;
  const double former = plan[GA__PLAN_FORMER_WORK];
  const double lost = plan[GA__PLAN_WORK] - former * plan[GA__PLAN_TIME] + plan[GA__PLAN_SKIPPED];
  const double size = plan[GA__PLAN_FIRST] > 0.0 ? plan[GA__PLAN_FIRST] / LEAP : sim->h_next;
  return (fmax(lost, 0.0) + STARTS) / (former * size);
}

/* The first steps behind a change grow: they are not counted. */
static int still_grows(ga_simulator *sim)
{
  double *plan = sim->st->now.plan;
  if (!(sim->h_next > GROWS * sim->st->now.scalar[GA__H_OLD]) || plan[GA__PLAN_STEPS] > TRIAL) return 0;
  plan[GA__PLAN_SKIPPED] += plan[GA__PLAN_WORK] - plan[GA__PLAN_FORMER_WORK] * plan[GA__PLAN_TIME];
  plan[GA__PLAN_TIME] = plan[GA__PLAN_WORK] = 0.0;
  return 1;
}

/* Whether order 2 would need this much more work than the last steps took, as predicted, roughly: the motion
 * was easier where its work was measured, as at rest. */
#define HARDER 8.0
#define HARDER_TIGHT 3.0 /* at tolerances below TIGHT */

static int has_become_harder(const ga_stepper *st)
{
  const double *plan = st->now.plan, harder = st->tolerance < TIGHT ? HARDER_TIGHT : HARDER;
  return plan[GA__PLAN_TAKEN_2] > harder * plan[GA__PLAN_TAKEN];
}

/* The order was changed some steps ago: back to the one before if that needed less work; to order 2 at once
 * where steps for stiff equations show it. 1: changed, or not known yet. */
static int judge_change(ga_simulator *sim, int now, double work)
{
  double *plan = sim->st->now.plan;
  const int former = (int)plan[GA__PLAN_FORMER], with_2 = former == 2 || ORDERS[now] == 2;
  const int hard = former == 2 && (is_in_stiff_steps(sim->st) || is_often_rejected(plan));
  const double fair = hard ? 1.0 : plan[GA__PLAN_FAIR];
  const int harder = former == 2 && !hard && has_become_harder(sim->st);
  const int more = !harder && work > fair * plan[GA__PLAN_FORMER_WORK];
  const int is_clear = former == 2 && more && is_in_stiff_steps(sim->st);
  if (former != 0 && with_2 && still_grows(sim)) return 1;
  if (former == 0 || (plan[GA__PLAN_STEPS] < (with_2 ? TRIAL_2 : TRIAL) && !is_clear)) return former != 0;
  plan[GA__PLAN_FORMER] = 0.0;
  if (!more) plan[GA__PLAN_SPAN + now] = 0.0;
  if (!more && former == 2) { /* both have just been compared */
    plan[GA__PLAN_ENTERED] = 1.0 + FIRST_WAIT_2;
    if (hard) wait_for(plan, index_of(2), FIRST_WAIT_2, 0.0);
  }
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

/* to[n]: the largest slope between nodes of the last step, over its size, of a block of z. */
static void steepest(const ga_stepper *st, int block, double *to)
{
  const ga__colloc *c = ga__colloc_of(st);
  const int n = st->sys->size[block], all = st->sys->n;
  const double *z = c->z + st->sys->start[block];
  for (int i = 0; i < n; i++) {
    to[i] = 0.0;
    for (int m = 1; m <= c->now->stages; m++)
      to[i] = fmax(to[i], fabs(z[m * all + i] - z[(m - 1) * all + i]) / (c->now->c[m] - c->now->c[m - 1]));
  }
}

/* Error over tolerance of a step of order 2 in place of the last one of collocation. */
static double change_with_2(ga_simulator *sim, double h)
{
  double *dv = sim->vdot, *dx = sim->x; /* used as work space: only states between steps need it */
  steepest(sim->st, GA_BLOCK_V, dv);
  steepest(sim->st, GA_BLOCK_X, dx);
  return error_of_2(sim, h, dv, dx);
}

static double size_of_2(ga_simulator *sim, double h)
{
  return size_by_error(sim, h, change_with_2(sim, h), 3);
}

static void remember(ga_simulator *sim, double h, double work, int rejected)
{
  double *plan = sim->st->now.plan;
  const double last[] = {1.0, rejected, work, STEP_OF_2 * h / size_of_2(sim, h)};
  for (int i = GA__PLAN_SEEN; i <= GA__PLAN_TAKEN_2; i++) plan[i] = FADES * plan[i] + last[i - GA__PLAN_SEEN];
}

/* 1: steps of collocation are as long as they may be, and those of order 2 would be too. */
static int is_as_long_with_2(ga_simulator *sim)
{
  const double h = sim->st->now.scalar[GA__H_OLD], most = ga__sim_largest_step(sim);
  return h >= LIMIT * most && sim->h_next >= LIMIT * most && change_with_2(sim, h) <= SLOW;
}

/* Work of collocation over that of order 2 that its smaller errors are worth: those of tight tolerances have
 * a work that is no larger, where the motion is smooth. */
static double work_for_accuracy(double tolerance)
{
  const double powers = log10(tolerance / TIGHTER) / log10(LOOSE / TIGHTER);
  return 1.0 + (MORE_ACCURATE - 1.0) * fmin(fmax(powers, 0.0), 1.0);
}

/* From collocation to order 2 and back, to see whether it is the better one here; 1: changed. */
static int try_member(ga_simulator *sim, double work)
{
  ga_stepper *st = sim->st;
  const double *plan = st->now.plan;
  const int other = ga__member_is_second(st) ? 2 : begin_order(st->tolerance);
  const double least = other != 2 ? 1.0 : ga__colloc_of(st)->damps ? STIFF_STEPS : ROUGH_STEPS;
  if (other == 2 && sim->opts.error_forces) return 0;
  if (!ga__has_members(st) || plan[GA__PLAN_STEPS] < least || plan[GA__PLAN_WAIT + index_of(other)] > 0.0)
    return 0;
  if (other == 2 && !is_rough(st) && !is_as_long_with_2(sim)) return 0;
  if (other != 2 && !(sim->h_next < SHORT * ga__sim_largest_step(sim))) return 0;
  const double first = other == 2 ? size_of_2(sim, st->now.scalar[GA__H_OLD]) : LEAP * sim->h_next;
  change_order(sim, other, 0.0, work);
  st->now.plan[GA__PLAN_FIRST] = first;
  st->now.plan[GA__PLAN_FAIR] = other != 2 ? work_for_accuracy(st->tolerance) : 1.0;
  st->now.plan[GA__PLAN_ENTERED] = 0.0;
  for (int i = GA__PLAN_SEEN; i <= GA__PLAN_TAKEN_2; i++) st->now.plan[i] = 0.0;
  return 1;
}

void ga__sim_choose_order(ga_simulator *sim, double h, double work, int rejected)
{
  ga_stepper *st = sim->st;
  double *plan = st->now.plan;
  if (!may_choose(sim)) return;
  if (plan[GA__PLAN_ORDER] == 0.0) {
    plan[GA__PLAN_ORDER] = st->method->has_order ? st->order : 2;
    if (!st->method->has_order) plan[GA__PLAN_WAIT + index_of(begin_order(st->tolerance))] = FIRST_LOOK;
  }
  const int now = index_of((int)plan[GA__PLAN_ORDER]);
  for (int k = 0; k < GA__N_ORDERS; k++) plan[GA__PLAN_WAIT + k] = fmax(plan[GA__PLAN_WAIT + k] - 1.0, 0.0);
  if (plan[GA__PLAN_STEPS] > MEMORY) /* a mean over twice as many steps forgets half of them */
    for (int i = GA__PLAN_STEPS; i <= GA__PLAN_WORK; i++) plan[i] *= 0.5;
  if (plan[GA__PLAN_STEPS] >= 1.0) plan[GA__PLAN_TIME] += h, plan[GA__PLAN_WORK] += work;
  if (plan[GA__PLAN_ENTERED] > 1.0) plan[GA__PLAN_ENTERED] -= 1.0;
  if (ga__member_is_second(st)) remember(sim, h, work, rejected);
  plan[GA__PLAN_STEPS] += 1.0;
  if (now < 0 || !(plan[GA__PLAN_TIME] > 0.0)) return;
  const double mean = plan[GA__PLAN_WORK] / plan[GA__PLAN_TIME];
  if (judge_change(sim, now, mean) || try_member(sim, mean)) return;
  const int due = plan[GA__PLAN_STEPS] >= EVERY && fmod(floor(plan[GA__PLAN_STEPS]), EVERY) == 0.0;
  if (due && st->method->has_order && ga__colloc_of(st)->now->order % 2 == 0) find_better(sim, h, now, mean);
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

/* After an attempt that is not vital: what it has reported is dropped, unless the run has to end. */
static ga_status forgive(ga_simulator *sim, const ga_error *said, ga_status status)
{
  if (status == GA_OK || status == GA_ERR_MEMORY || status == GA_ERR_CALLBACK) return status;
  sim->ctx->error = *said;
  return GA_OK;
}

/* Whether sweeps that are not for stiff equations would diverge in steps of h. Not known: they would not. */
static ga_status is_stiff(ga_simulator *sim, double h, double limit, int *yes)
{
  const ga_error said = sim->ctx->error;
  double growth = 0.0;
  const ga_status status = ga__growth(sim->st, h, &growth);
  *yes = !status && growth > (sim->st->sys->n > MANY ? FEWER_FACTORS : 1.0) * limit;
  return forgive(sim, &said, status);
}

ga_status ga__sim_choose_rule(ga_simulator *sim)
{
  ga_stepper *st = sim->st;
  const ga_error said = sim->ctx->error;
  double growth = HUGE_VAL;
  if (!may_choose(sim) || !is_rule_due(st)) return GA_OK;
  const ga_status status = ga__growth(st, st->now.scalar[GA__H_OLD], &growth);
  const double most = st->now.own[GA__COLLOC_DAMPS] > 0.0 ? RESOLVED : STILL_RESOLVED;
  if (!status) st->now.own[GA__COLLOC_DAMPS] = !(growth < most);
  return forgive(sim, &said, status);
}

/* The longest step of collocation in which no body turns too far. */
static double largest_turn(const ga_stepper *st)
{
  const ga_group *g = st->sys->group;
  double most = 0.0;
  for (int b = 0; b < ga_group_n_blocks(g); b++) {
    int start, size = ga_group_block(g, b, &start);
    double sum = 0.0;
    for (int i = start + size - 3; i < start + size; i++) sum += st->now.v[i] * st->now.v[i];
    most = fmax(most, sqrt(sum));
  }
  return most > 0.0 ? GA__TURN_MOST / most : HUGE_VAL;
}

/* Whether order 2 needs steps no shorter than those allowed, by the start; *size: those it needs, by its
 * jerk. */
static ga_status is_slow(ga_simulator *sim, int *yes, double *size)
{
  ga_stepper *st = sim->st;
  const ga_error said = sim->ctx->error;
  const double h = ga__sim_largest_step(sim);
  const int nv = st->sys->nv, nx = st->sys->size[GA_BLOCK_X];
  double *dv = sim->vdot, *dx = sim->x;
  *yes = 0;
  for (int i = 0; i < nv; i++) dv[i] = h * st->jerk_v[i];
  for (int i = 0; i < nx; i++) dx[i] = h * st->jerk_x[i];
  const double err = error_of_2(sim, h, dv, dx);
  *size = h / cbrt(fmax(err, 1e-18));
  if (err > SLOW) return GA_OK;
  const ga_status status = ga__change_along(st, h, dv, dx);
  *yes = !status && error_of_2(sim, h, dv, dx) <= SLOW;
  return forgive(sim, &said, status);
}

/* The next steps are those for stiff equations. */
static void begin_stiff_steps(ga_stepper *st)
{
  st->now.own[GA__COLLOC_STIFF] = STIFF_AT_ONCE;
  st->now.own[GA__COLLOC_DAMPS] = 1.0;
}

ga_status ga__sim_choose_first_member(ga_simulator *sim, int *second)
{
  int slow = 0, stiff = 0;
  *second = 0;
  if (!may_choose(sim)) return GA_OK;
  if (sim->opts.error_forces) return *second = 1, GA_OK; /* order 2 has no estimates of them */
  double size;
  ga_status status = is_slow(sim, &slow, &size);
  const double turn = largest_turn(sim->st), long_run = EARLY * ga__sim_run_length(sim);
  const double h = fmin(ga__sim_largest_step(sim), fmin(long_run, MANY_LEAPS * LEAP * size));
  if (!status && !slow) status = is_stiff(sim, fmin(h, turn), STIFF, &stiff);
  *second = !slow && (!stiff || sim->st->tolerance < TIGHT);
  sim->begins_stiff = *second && stiff;
  return status;
}

void ga__sim_begin_stiff(ga_simulator *sim)
{
  ga_stepper *st = sim->st;
  double *plan = st->now.plan;
  if (!sim->begins_stiff) return;
  sim->begins_stiff = 0;
  begin_stiff_steps(st);
  plan[GA__PLAN_WAIT + index_of(2)] = plan[GA__PLAN_SPAN + index_of(2)] = LAST_LOOK;
}

/* Whether collocation would take no less work than order 2, with steps of its next size: because it is stiff,
 * or bodies turn too far. */
static ga_status cannot_pay(ga_simulator *sim, int *yes)
{
  const ga_stepper *st = sim->st;
  const double turn = largest_turn(st), h = fmin(LEAP * sim->h_next, ga__sim_largest_step(sim));
  const double left = STEP_OF_2 * (sim->opts.t_end - st->now.scalar[GA__T]) / sim->h_next;
  *yes = turn < LEAST_LEAP * sim->h_next;
  return *yes ? GA_OK : is_stiff(sim, fmin(h, turn), h > turn || left > LONG ? STIFF : MILD, yes);
}

/* To go on with the member in use. */
static void stay(ga_simulator *sim, double first)
{
  ga_stepper *st = sim->st;
  double *plan = st->now.plan;
  const int wanted = index_of((int)plan[GA__PLAN_ORDER]);
  if (plan[GA__PLAN_FORMER] > 0.0) {
    plan[GA__PLAN_ORDER] = plan[GA__PLAN_FORMER];
    plan[GA__PLAN_FORMER] = 0.0;
  } else
    plan[GA__PLAN_ORDER] = st->method->has_order ? st->order : 2;
  const double span = fmin(fmax(plan[GA__PLAN_SPAN + wanted], first), LAST_LOOK);
  plan[GA__PLAN_WAIT + wanted] = span;
  plan[GA__PLAN_SPAN + wanted] = 2.0 * span;
}

ga_status ga__sim_change_member(ga_simulator *sim, int *changed)
{
  ga_stepper *st = sim->st;
  const double h_next = sim->h_next;
  const int second = ga__member_is_second(st);
  const ga_error said = sim->ctx->error;
  ga_status status = GA_OK;
  int stiff = 0;
  *changed = 0;
  if (!second) status = cannot_pay(sim, &stiff);
  if (status) return status;
  if (stiff && st->tolerance > TIGHT) {
    stay(sim, FIRST_LOOK);
    return GA_OK;
  }
  if (second && st->now.own[GA__COLLOC_STIFF] > 0.0) { /* or else sweeps failed for another reason */
    stiff = st->now.own[GA__COLLOC_DAMPS] > 0.0;
    if (stiff) status = is_stiff(sim, st->now.scalar[GA__H_OLD], SOFT, &stiff);
    if (status) return status;
    if (!stiff) {
      stay(sim, FIRST_LOOK);
      return GA_OK;
    }
  }
  const double first = st->now.plan[GA__PLAN_FIRST], h = first > 0.0 ? first : h_next;
  ga__sim_copy_state(sim, &st->view);
  ga__member_use(st, !second);
  status = ga__sim_restart(sim, st->now.scalar[GA__T],
                           fmin(second ? fmin(h, h_next) : h, ga__sim_largest_step(sim)));
  *changed = !status;
  if (!status && !second && stiff) begin_stiff_steps(st);
  if (!status) return GA_OK;
  sim->h_next = h_next;
  stay(sim, FIRST_WAIT_2);
  return forgive(sim, &said, status);
}

int ga__sim_give_way(ga_simulator *sim)
{
  ga_stepper *st = sim->st;
  double *plan = st->now.plan;
  if (!ga__has_members(st) || !may_choose(sim) || !ga__member_is_second(st) || !st->has_state) return 0;
  if (sim->opts.error_forces) return 0; /* order 2 would not test what was asked for */
  for (int i = 0; i < GA__N_ORDERS; i++)
    if (ORDERS[i] > 2) {
      plan[GA__PLAN_SPAN + i] = fmin(2.0 * fmax(plan[GA__PLAN_SPAN + i], FIRST_WAIT_2), LAST_LOOK);
      plan[GA__PLAN_WAIT + i] = plan[GA__PLAN_SPAN + i];
    }
  plan[GA__PLAN_ORDER] = 2.0;
  plan[GA__PLAN_FORMER] = 0.0;
  ga__member_use(st, 0);
  return 1;
}

ga_status ga__sim_fall_back(ga_simulator *sim, ga_status failed, int *changed)
{
  const ga_error said = sim->ctx->error;
  if (!ga__sim_give_way(sim)) return failed;
  ga__sim_copy_state(sim, &sim->st->view);
  const ga_status status = ga__sim_restart(sim, sim->st->now.scalar[GA__T], 0.0);
  *changed = !status;
  if (!status || status == GA_ERR_MEMORY || status == GA_ERR_CALLBACK) return status;
  sim->ctx->error = said;
  return failed;
}
