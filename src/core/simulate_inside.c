/* Checks within a step: residuals of the equations, and what the callback `hidden` reports. */
#include "core/simulate.h"

#include <math.h>
#include <string.h>

/* The search within a step divides it into nested pieces. A call of `hidden` costs about ten evaluations of
 * expressions: it is called for each step as a whole, and for as many pieces as there were residuals, times
 * HIDDEN_SHARE; some in advance, and again after something was found. While no calls are left, whole steps
 * are not examined either, since nothing could follow. */
enum { HIDDEN_DEPTH = 28 };
#define HIDDEN_SHARE 0.02
#define HIDDEN_ADVANCE 300.0
/* The first HIDDEN_STEPS steps of a run, all of them if steps are long, grant at least this many calls
 * each. */
#define HIDDEN_STEPS 1000
#define HIDDEN_WAGE 60.0
/* Calls for whole steps are not counted, except for those that were expensive. */
#define HIDDEN_CLOSER 1.0
#define SHORTER 0.99 /* [-] largest next size relative to a step within which something was found */

/* Length of a state within a step: outputs and, if the system needs the motion, q and v. */
static size_t instant_room(const ga_system *sys)
{
  return (size_t)sys->size[GA_BLOCK_Y] + (sys->def.hidden_motion ? (size_t)(sys->nq + sys->nv) : 0);
}

/* The equations are checked between steps at the distance of outputs, at most a thousandth of the run; at
 * most ten thousand times. */
#define MOST_POINTS 10000.0

void ga__sim_set_grid(ga_simulator *sim)
{
  const ga_simulate_opts *o = &sim->opts;
  sim->grid = o->defect_points > 0 ? ga__sim_run_length(sim) / o->defect_points : 0.0;
  if (sim->grid > 0.0 && o->output_every > 0.0)
    sim->grid = fmin(sim->grid, fmax(o->output_every, ga__sim_run_length(sim) / MOST_POINTS));
}

size_t ga__sim_hidden_room(const ga_system *sys)
{
  return (HIDDEN_DEPTH + 5) * instant_room(sys);
}

void ga__sim_reset_questions(ga_simulator *sim)
{
  sim->hidden_credit = HIDDEN_ADVANCE;
  sim->hidden_counted = (double)sim->st->stats.residuals;
}

/* coarse, plain: as of ga__inside. */
static ga_status interpolate(ga_simulator *sim, double t, int coarse, int plain)
{
  const ga__inside at = {.q = sim->q,
                         .v = sim->v,
                         .vdot = sim->vdot,
                         .lambda = sim->lambda,
                         .psi = sim->psi,
                         .x = sim->x,
                         .xdot = sim->xdot,
                         .y = sim->y,
                         .coarse = coarse,
                         .plain = plain};
  const ga_status status = ga__interpolate(sim->st, t, &at);
  sim->view = (ga_state){t,        sim->q, sim->v, sim->vdot, NULL, sim->lambda, /* a, η, w: of steps only */
                         sim->psi, NULL,   sim->x, sim->xdot, NULL, sim->y};
  return status;
}

ga_status ga__sim_interpolate(ga_simulator *sim, double t)
{
  return interpolate(sim, t, 0, 0);
}

ga_status ga__sim_interpolate_plainly(ga_simulator *sim, double t)
{
  return interpolate(sim, t, 0, 1);
}

/* ---- Defects of the equations ---- */

#define OFF_MOST 10.0 /* allowed error between the ends of a step, in tolerances */
enum { FEWEST_POINTS = 3 };
/* Steps shorter than the distance between points: their ends see what points do that are nearer to them than
 * this part of it, and see it more closely where errors are controlled. But all of them may miss the same, of
 * which each so many-th point tells. */
#define NEAR_END 0.25
/* Equations that are smooth are checked once in a step, [-] of it: off the nodes of all orders. It tells of
 * errors that the estimate has not seen. */
#define IN_SMOOTH 0.42
#define SPARSE_POINTS 4.0

static double weigh_defect(const void *user, const double *e)
{
  const ga_simulator *sim = user;
  const ga_simulate_opts *o = &sim->opts;
  const ga_stepper *st = sim->st;
  ga__tally t = {0};
  ga__tally_q(&t, o, st, e, sim->weight);
  ga__tally_x(&t, o, st, e + st->sys->nv);
  return o->error != GA_PER_STEP ? t.largest * ga__sim_run_length(sim) / st->now.scalar[GA__H_OLD]
                                 : t.largest;
}

/* *off: 1 if the equations are violated at t within the last step; 0 if they cannot be evaluated there. */
static ga_status defect_at(ga_simulator *sim, double t, int *off)
{
  *off = 0;
  ga_status status = interpolate(sim, t, 1, 1);
  if (!status) status = ga__defect(sim->st, &sim->view, sim->off_y, sim->off);
  if (!status && weigh_defect(sim, sim->off) > OFF_MOST) {
    const ga__defect_weight weight = {weigh_defect, sim, OFF_MOST};
    status = ga__defect_again(sim->st, &sim->view, &weight, sim->off_y, sim->off_room, sim->off, off);
  }
  if (status) *off = 0;
  sim->stats.unchecked += status > 0;
  return status < 0 ? status : GA_OK;
}

/* The first time within the last step at which the equations are violated; infinity: none. */
static ga_status find_defect(ga_simulator *sim, double *t)
{
  const double begin = sim->st->next.scalar[GA__T], end = sim->st->now.scalar[GA__T], h = end - begin;
  double number = floor((begin - sim->t0) / sim->grid);
  const double inside = ceil((end - sim->t0) / sim->grid) - 1.0 - number;
  const int few = inside < FEWEST_POINTS && h > 0.25 * (ga__sim_stop_time(sim) - sim->piece);
  const int is_short = !few && !(sim->opts.fixed_h > 0.0) && h < sim->grid;
  int off = 0;
  ga_status status = GA_OK;
  *t = INFINITY;
  if (sim->st->sys->def.smooth && inside > 1.0) {
    status = defect_at(sim, begin + IN_SMOOTH * h, &off);
    if (off) *t = begin + IN_SMOOTH * h;
    return status;
  }
  for (int i = 0; !status && i < (few ? FEWEST_POINTS : inside); i++) {
    const double at =
        few ? begin + h * (2.0 * i + 1.0) / (2.0 * FEWEST_POINTS) : sim->t0 + ++number * sim->grid;
    if (!(at > begin && at < end)) continue;
    const int is_seen = is_short && fmin(at - begin, end - at) < NEAR_END * sim->grid;
    if (is_seen && fmod(number, SPARSE_POINTS) != 0.0) continue;
    status = defect_at(sim, at, &off);
    if (off) return *t = at, status;
  }
  return status;
}

/* ---- What may hide ---- */

/* Whether forces at t would change velocities or states by more than their tolerance. The tolerance of
 * positions is no measure for a force that acts for a short time. */
static ga_status check_matters(ga_simulator *sim, double t, int *matters)
{
  const ga_simulate_opts *o = &sim->opts;
  const ga_stepper *st = sim->st;
  const int nv = st->sys->nv;
  const double h = st->now.scalar[GA__T] - st->next.scalar[GA__T];
  *matters = 0;
  ga_status status = ga__sim_interpolate_plainly(sim, t);
  if (!status) status = ga__defect(sim->st, &sim->view, sim->off_y, sim->off);
  for (int i = 0; !status && i < nv; i++)
    if (4.0 * fabs(sim->off[i]) > h * (ga__tolerance_v(o, st->now.v[i])))
      *matters = 1, ga__sim_test_velocity(sim, i);
  for (int i = 0; !status && i < st->sys->size[GA_BLOCK_X]; i++)
    if (2.0 * fabs(sim->off[nv + i]) > ga__tolerance_x(o, st->now.x[i])) *matters = 1;
  sim->stats.unchecked += status > 0;
  return status < 0 ? status : GA_OK;
}

static ga_instant instant_in(const ga_system *sys, const double *at)
{
  const double *q = sys->def.hidden_motion ? at + sys->size[GA_BLOCK_Y] : NULL;
  return (ga_instant){at, q, q ? q + sys->nq : NULL};
}

static void keep_instant(const ga_system *sys, double *at, const ga__state *s)
{
  ga__copy_numbers(at, s->y, sys->size[GA_BLOCK_Y]);
  if (!sys->def.hidden_motion) return;
  ga__copy_numbers(at + sys->size[GA_BLOCK_Y], s->q, sys->nq);
  ga__copy_numbers(at + sys->size[GA_BLOCK_Y] + sys->nq, s->v, sys->nv);
}

static ga_status interpolate_instant(ga_simulator *sim, double t, double *at)
{
  const ga_system *sys = sim->st->sys;
  double *q = sys->def.hidden_motion ? at + sys->size[GA_BLOCK_Y] : NULL;
  return ga_stepper_interpolate(sim->st, t, q, q ? q + sys->nq : NULL, NULL, NULL, NULL, NULL, at);
}

/* Grants calls of `hidden` in proportion to residuals. */
static void earn_questions(ga_simulator *sim)
{
  const double residuals = (double)sim->st->stats.residuals - sim->hidden_counted;
  const double earned = fmax(HIDDEN_SHARE * residuals, sim->stats.steps < HIDDEN_STEPS ? HIDDEN_WAGE : 0.0);
  sim->hidden_credit = fmin(sim->hidden_credit + earned, HIDDEN_ADVANCE);
  sim->hidden_counted += residuals;
}

/* The first time found within `step` at which something acts that matters; infinity: none. The step is
 * bisected, and its pieces in which something may act. sim->hidden has, each of instant_room(), the ends of
 * the pieces still to be searched, the next one last, behind them its middle, and at the end, `begin_at`,
 * the beginning of the current one. */
static ga_status search_pieces(ga_simulator *sim, const ga_piece *step, double *begin_at, double *t)
{
  const ga_system *sys = sim->st->sys;
  const size_t room = instant_room(sys);
  const double shortest = ldexp(step->t[1] - step->t[0], -HIDDEN_DEPTH);
  double end[HIDDEN_DEPTH] = {step->t[1]}, begin = step->t[0];
  int waiting = 1, matters = 0;
  ga_status status = GA_OK;
  while (!status && waiting > 0 && sim->hidden_credit >= 1.0) {
    double *end_at = sim->hidden + (size_t)(waiting - 1) * room, *middle_at = end_at + room;
    const double middle = begin + 0.5 * (end[waiting - 1] - begin);
    const ga_piece piece = {{begin, end[waiting - 1]},
                            {instant_in(sys, begin_at), instant_in(sys, end_at)},
                            instant_in(sys, middle_at)};
    sim->hidden_credit -= 1.0;
    if (waiting < HIDDEN_DEPTH) status = interpolate_instant(sim, middle, middle_at);
    if (waiting == HIDDEN_DEPTH || end[waiting - 1] - begin <= shortest ||
        (!status && sys->def.hidden(sys->def.user, step, &piece) <= 0)) {
      begin = end[--waiting];
      memcpy(begin_at, end_at, room * sizeof(double));
      continue;
    }
    const ga_piece here = {{middle, middle}, {piece.middle, piece.middle}, piece.middle};
    if (!status && sys->def.hidden(sys->def.user, step, &here) > 0) {
      matters = ga__sides_switched_at(&sim->sides, sim->st, middle);
      if (!matters) status = check_matters(sim, middle, &matters);
    }
    if (!status && matters) return *t = middle, sim->hidden_credit = HIDDEN_ADVANCE, GA_OK;
    end[waiting++] = middle;
  }
  return status;
}

/* The same within the last step, which is first examined as a whole; most steps need no more. */
static ga_status find_hidden(ga_simulator *sim, double *t)
{
  const ga_system *sys = sim->st->sys;
  const ga__state *before = &sim->st->next, *now = &sim->st->now;
  const size_t room = instant_room(sys);
  double *begin_at = sim->hidden + (HIDDEN_DEPTH + 1) * room, *of_step = begin_at + room;
  const ga_piece step = {{before->scalar[GA__T], now->scalar[GA__T]},
                         {instant_in(sys, of_step), instant_in(sys, of_step + room)},
                         instant_in(sys, of_step + 2 * room)};
  *t = INFINITY;
  keep_instant(sys, of_step, before);
  keep_instant(sys, of_step + room, now);
  ga_status status = interpolate_instant(sim, step.t[0] + 0.5 * (step.t[1] - step.t[0]), of_step + 2 * room);
  earn_questions(sim);
  const int asks = !status && sim->hidden_credit >= 1.0;
  const int hides = asks ? sys->def.hidden(sys->def.user, &step, &step) : 0;
  if (hides < 0) sim->hidden_credit -= HIDDEN_CLOSER;
  if (hides > 0) {
    memcpy(begin_at, of_step, room * sizeof(double));
    memcpy(sim->hidden, of_step + room, room * sizeof(double));
    status = search_pieces(sim, &step, begin_at, t);
  }
  return status < 0 ? status : GA_OK;
}

/* Whether the error test has rejected a step before or after something narrow in it was found must not
 * matter: velocities that it changes count either way, until the end of that step. */
ga_status ga__sim_inspect_rejected(ga_simulator *sim)
{
  double t;
  return sim->hidden ? find_hidden(sim, &t) : GA_OK;
}

ga_status ga__sim_inspect_step(ga_simulator *sim, int beside_singular, double *again)
{
  const double h = sim->st->now.scalar[GA__H_OLD];
  double t = INFINITY;
  ga_status status = sim->grid > 0.0 && !beside_singular ? find_defect(sim, &t) : GA_OK;
  *again = status ? GA__AFTER_FAILURE * h : 0.0; /* as if the step could not be tested */
  if (status) return status;
  const double begin = sim->st->next.scalar[GA__T];
  if (isfinite(t)) {
    *again = fmin(0.5 * h, fmax(GA__SHRINK * h, t - begin));
    status = ga__sim_inspect_rejected(sim);
  } else if (sim->hidden) {
    status = find_hidden(sim, &t);
    if (status) *again = GA__AFTER_FAILURE * h;
    /* shorter in any case: an action that begins at the end of the step would be found before it again and
     * again */
    if (!status && isfinite(t) && t - begin > ga__sim_least_step(sim)) *again = fmin(t - begin, SHORTER * h);
  }
  sim->stats.rejected_defect += !status && *again > 0.0;
  return status;
}

/* Once something was found only switches are searched for, as more of it would change nothing. */
ga_status ga__sim_report_unseen(ga_simulator *sim, double *again)
{
  double t = INFINITY;
  *again = 0.0;
  if (sim->stats.unseen > 0 && sim->st->sys->def.n_switches == 0) return GA_OK;
  ga_status status = sim->grid > 0.0 ? find_defect(sim, &t) : GA_OK;
  if (!status && !isfinite(t) && sim->hidden) status = find_hidden(sim, &t);
  if (status) ga_stepper_undo(sim->st);
  if (status || !isfinite(t)) return status;
  if (ga__sides_switched_at(&sim->sides, sim->st, t)) return *again = t - sim->st->next.scalar[GA__T], GA_OK;
  if (sim->stats.unseen > 0) return GA_OK;
  sim->stats.unseen = 1;
  sim->stats.t_unseen = t;
  ga__log(sim->ctx, GA_LOG_WARNING, GA_REASON_NOT_SEEN_BY_STEPS,
          &(ga__facts){.at = &(ga__fact_time){t, sim->opts.fixed_h, -1, -1}, GA__NUMBERS({OFF_MOST, NULL})});
  return GA_OK;
}
