/* The choice of the order: after each step, whether the next ones would take less work with another one. What
 * other orders would need is predicted from derivatives of the motion; whether they do is measured, and an order
 * that needs more than the one before is left again, and tried later. Work is counted, not timed, so that runs
 * can be repeated. */
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

/* Work of evaluations, relative to that of residuals. */
#define OF_JACOBIAN 1.5
#define OF_FACTORS 2.0
#define OF_SOLUTION 0.7
/* Of a step of order 2, and of one of collocation: for each node, for each sweep of a node, and of its end. */
#define ORDER_2 7.0
#define NODE (OF_JACOBIAN + OF_FACTORS)
#define SWEEP (1.0 + OF_SOLUTION)
#define END 5.5
#define SWEEPS 3.0 /* where none were made yet */

#define GAIN 0.75  /* of the work per unit time, for which an order is changed */
#define SLOWER 0.35 /* relative growth of the number of sweeps if h grows by e */
#define OF_MOTION 6.0 /* measured: errors of motions of order 2 over those of oscillations of one frequency */
enum {
  TRIAL = 6,       /* steps until an order is compared with the one before, */
  TRIAL_2 = 12,    /* if one of them is 2, */
  EVERY = 3,       /* and between two searches for a better one */
  MEMORY = 24,     /* steps that the work of an order is averaged over, about */
  FIRST_WAIT = 16, /* steps until an order that was worse is tried again, at first */
  LAST_WAIT = 1024,
  BLIND_WAIT = 64 /* steps of order 2, or of stiff ones, after which the other is tried without a prediction */
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
  return (double)n->residuals + OF_JACOBIAN * (double)n->jacobians + OF_FACTORS * (double)n->factorisations +
         OF_SOLUTION * (double)n->solves;
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

/* 1: the last step was one for stiff equations. */
static int is_stiff(const ga_stepper *st)
{
  return st->method->has_order && ga__colloc_of(st)->in_order;
}

/* ---- Predictions ---- */

/* Third derivative of v by the last two steps of order 2, or of the states' rates. */
static void third_derivatives(const ga_stepper *st, const double *now, const double *prev, const double *prev2,
                              int n, double *out)
{
  const double h = st->now.scalar[GA__H_OLD], h_old = st->next.scalar[GA__H_OLD];
  for (int i = 0; i < n; i++) {
    const double slope = (now[i] - prev[i]) / h, before = h_old > 0.0 ? (prev[i] - prev2[i]) / h_old : slope;
    out[i] = 2.0 * (slope - before) / (h + h_old);
  }
}

/* Second derivatives of v, or of x, by the largest slope between nodes. */
static void second_derivatives(const ga_stepper *st, double h, int at, int n, double *out)
{
  const ga__colloc *c = ga__colloc_of(st);
  for (int i = 0; i < n; i++) {
    out[i] = 0.0;
    for (int m = c->now->first; m < c->now->stages; m++) {
      const double *z = c->z + m * st->sys->n + at + i;
      out[i] = fmax(out[i], fabs(z[st->sys->n] - z[0]) / ((c->now->c[m + 1] - c->now->c[m]) * h));
    }
  }
}

/* As the error test of order 2 below: κ h² √(S |v''|). */
static void errors_of_order_2(ga_simulator *sim, double h, double *e_q, double *e_x)
{
  ga_stepper *st = sim->st;
  const ga_system *sys = st->sys;
  const int nx = sys->size[GA_BLOCK_X];
  const double S = ga__max_abs(st->now.v, sys->nv, NULL) + h * ga__max_abs(st->now.vdot, sys->nv, NULL),
               S_x = ga__max_abs(st->now.xdot, nx, NULL), kappa = fabs(ga__kappa(st, h));
  second_derivatives(st, h, 0, sys->nv, e_q);
  second_derivatives(st, h, sys->start[GA_BLOCK_X], nx, e_x);
  for (int i = 0; i < sys->nv; i++) e_q[i] = OF_MOTION * kappa * h * h * sqrt(S * e_q[i]);
  for (int i = 0; i < nx; i++) e_x[i] = OF_MOTION * kappa * h * h * sqrt(S_x * e_x[i]);
}

/* Size of steps of an order, by the last step of size h; 0: not known. */
static double predict_size(ga_simulator *sim, double h, int order)
{
  ga_stepper *st = sim->st;
  const ga_system *sys = st->sys;
  const ga__state *now = &st->now;
  const int nv = sys->nv, nx = sys->size[GA_BLOCK_X], from_2 = !st->method->has_order;
  double *e_q = sim->vdot, *e_x = sim->x; /* used as work space: only states between steps need them */
  ga__tally t = {0};
  if (from_2) {
    third_derivatives(st, now->vdot, now->vdot_prev, now->vdot_prev2, nv, e_q);
    third_derivatives(st, now->xdot, now->xdot_prev, now->xdot_prev2, nx, e_x);
    ga__colloc_error_of_motion(order, h, ga__max_abs(now->v, nv, NULL), e_q, nv, e_q);
    ga__colloc_error_of_motion(order, h, ga__max_abs(now->xdot, nx, NULL), e_x, nx, e_x);
  } else if (order == 2) {
    errors_of_order_2(sim, h, e_q, e_x);
  } else if (!ga__colloc_error_of(st, order, e_q, e_x)) {
    return 0.0;
  }
  ga__tally_x(&t, &sim->opts, st, e_x);
  ga__tally_q(&t, &sim->opts, st, e_q, sim->weight);
  if (!(t.largest > 0.0) || !isfinite(t.largest)) return 0.0;
  return fmin(h * pow(GA__SAFETY / t.largest, 1.0 / order), ga__sim_largest_step(sim));
}

static double work_of_step(int order, double sweeps)
{
  return order == 2 ? ORDER_2 : 0.5 * order * (NODE + SWEEP * sweeps) + END;
}

/* Work per unit time with another order relative to that of the present one; INFINITY: not known. */
static double predict_work(ga_simulator *sim, double h, int now, int other, double *size)
{
  const ga_stepper *st = sim->st;
  const double made = st->method->has_order ? ga__colloc_of(st)->sweeps : SWEEPS;
  if (!((*size = predict_size(sim, h, other)) > 0.0)) return INFINITY;
  const double sweeps = fmax(1.5, 1.0 + (made - 1.0) * (1.0 + SLOWER * log(*size / h)));
  const double steps = work_of_step(other, st->method->has_order ? sweeps : SWEEPS) / work_of_step(now, made);
  const double own = fmin(h * pow(GA__SAFETY / fmax(sim->err_old, 1e-4), 1.0 / now), GA__GROW * h);
  return steps * own / *size;
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
  if (size > 0.0)
    sim->h_next = fmin(fmax(size, GA__SHRINK * sim->h_next), GA__GROW * sim->h_next);
}

/* The order was changed TRIAL steps ago: back to the one before if that needed less. */
static int judge_change(ga_simulator *sim, int now, double work)
{
  double *plan = sim->st->now.plan;
  const int former = (int)plan[GA__PLAN_FORMER], trial = former == 2 || ORDERS[now] == 2 ? TRIAL_2 : TRIAL;
  if (former == 0 || plan[GA__PLAN_STEPS] < trial) return former != 0;
  plan[GA__PLAN_FORMER] = 0.0;
  if (work <= plan[GA__PLAN_FORMER_WORK]) {
    plan[GA__PLAN_SPAN + now] = FIRST_WAIT;
    return 0;
  }
  const double span = fmax(plan[GA__PLAN_SPAN + now], FIRST_WAIT);
  plan[GA__PLAN_WAIT + now] = span;
  plan[GA__PLAN_SPAN + now] = fmin(2.0 * span, LAST_WAIT);
  change_order(sim, former, 0.0, 0.0);
  return 1;
}

static void find_better(ga_simulator *sim, double h, int now, double work)
{
  ga_stepper *st = sim->st;
  const double *plan = st->now.plan;
  const int stiff = is_stiff(st), from_2 = !st->method->has_order, again = from_2 ? 2 : now + 1;
  double best = GAIN, size = 0.0;
  int order = 0;
  for (int k = from_2 ? again : now - 1; k <= again && !stiff; k += 2) {
    if (k < (ga__has_members(st) ? 0 : 1) || k >= GA__N_ORDERS || plan[GA__PLAN_WAIT + k] > 0.0) continue;
    double h_there;
    const double there = predict_work(sim, h, ORDERS[now], ORDERS[k], &h_there);
    if (there < best) best = there, size = h_there, order = ORDERS[k];
  }
  const int blind = ga__has_members(st) && (stiff || from_2) && plan[GA__PLAN_STEPS] >= BLIND_WAIT;
  const int other = stiff ? 0 : again;
  if (order == 0 && blind && !(plan[GA__PLAN_WAIT + other] > 0.0)) order = ORDERS[other];
  if (order != 0) change_order(sim, order, size, work);
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
  if (judge_change(sim, now, mean)) return;
  if (plan[GA__PLAN_STEPS] >= EVERY && fmod(floor(plan[GA__PLAN_STEPS]), EVERY) == 0.0)
    find_better(sim, h, now, mean);
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
  const ga_status status = ga__sim_restart(sim, st->now.scalar[GA__T], fmin(h_next, ga__sim_largest_step(sim)));
  return status;
}

/* ---- The error test of order 2 beside collocation ----
 * Tolerances of collocation are for errors of the motion over a time of 1/ω, not of one step. Those of a step
 * are κh³ S ω² here, and divided by hω
 *   κh² S ω = √(κh³ S ω² · κh S) */
void ga__sim_errors_of_motion(const ga_simulator *sim)
{
  ga_stepper *st = sim->st;
  const ga_system *sys = st->sys;
  const int nx = sys->size[GA_BLOCK_X];
  const double h = st->now.scalar[GA__H_OLD], kappa = fmax(fabs(st->now.scalar[GA__KAPPA_H2]) / (h * h), 1e-3);
  if (!ga__has_members(st) || st->method->has_order) return;
  const double of_q = kappa * h * (ga__max_abs(st->now.v, sys->nv, NULL) + h * ga__max_abs(st->now.vdot, sys->nv, NULL)),
               of_x = kappa * h * ga__max_abs(st->now.xdot, nx, NULL);
  for (int i = 0; i < sys->nv; i++) st->est_q[i] = OF_MOTION * sqrt(fabs(st->est_q[i]) * of_q);
  for (int i = 0; i < nx; i++) st->est_x[i] = OF_MOTION * sqrt(fabs(st->est_x[i]) * of_x);
}
