/* Events: zeros of functions of the state, located within a step.
 *
 * g is known at both ends of a step and at its quarters. Between two of these times it may still pass zero
 * twice: where the polynomial through the five values comes close to zero, the extreme of g itself is
 * searched for; where bounds of g contain zero, event_search.c looks more closely. */
#include "core/simulate.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

/* If g = 0 at the beginning of a step, its side is evaluated at this part of the step, or of the time
 * between the event's last two occurrences, which may become shorter and shorter. */
#define PEEK 0.01
#define PEEK_AGAIN 1e-4
#define LATER 10.0
#define SOONER 0.1 /* [-] of that: earlier looks, for pulses that are over by then */
#define SMALL 0.01 /* [-] of g then: less is rounding, or the error of steps */
enum { MOST_SOONER = 7 };
/* The extreme of g is searched for where the polynomial comes closer to zero than this part of g's range in
 * the step. */
#define CLOSE_TO_ZERO 0.1
enum { MAX_LOCATE = 60 };
enum { PARTS = GA__EVENT_PARTS };
enum { SAMPLES = 8 };     /* of the polynomial, in each part */
enum { MAX_NARROW = 40 }; /* evaluations in search of an extreme */
/* Crossings before the one that was found: they are looked for up to this part of the way before it. */
#define BEFORE 0.02
#define NEAR_END 0.01 /* [-] of a step, in which g is taken to be a straight line, */
#define STRAIGHT 0.05 /* [-] if it does not bend by more than this part of its change there */
enum { MOST_COMING = 6 };
enum { MOST_EARLIER = 100, MOST_CHANGES = 10000 };

static void *user_of(const ga_simulate_opts *o)
{
  return o->event_user ? o->event_user : o->user;
}

const char *ga__sim_event_name(const ga_simulator *sim, int event, char number[16])
{
  if (sim->opts.event_names && event >= 0) return sim->opts.event_names[event];
  snprintf(number, 16, "%d", event);
  return number;
}

/* A callback has failed; what it has said itself is kept. */
static ga_status fail_callback(ga_simulator *sim, const char *callback, int event, double t, int code,
                               ga_status before)
{
  char number[16];
  ga_context *ctx = sim->ctx;
  if (ctx->error.status != GA_OK) {
    ctx->error.t = t;
    return ctx->error.status = GA_ERR_CALLBACK;
  }
  ctx->error.status = before;
  return ga__refuse(ctx, GA_ERR_CALLBACK, GA_REASON_CALLBACK,
                    &(ga__facts){.at = &(ga__fact_time){t, NAN, -1, event},
                                 .kind = event >= 0 ? "event" : NULL,
                                 .part = event >= 0 ? ga__sim_event_name(sim, event, number) : NULL,
                                 .callback = callback,
                                 .code = code});
}

ga_status ga__sim_evaluate_events(ga_simulator *sim, const ga_state *s, double *g)
{
  const ga_simulate_opts *o = &sim->opts;
  char number[16];
  if (o->n_events == 0) return GA_OK;
  ga_point p = {s->t, s->q, s->v, s->vdot, s->lambda, s->psi, s->x, s->y, 0, NULL};
  const ga_status before = ga__begin_callback(sim->ctx);
  const int code = o->event_function(user_of(o), &p, g);
  if (code) return fail_callback(sim, "event_function", -1, s->t, code, before);
  sim->ctx->error.status = before;
  const int bad = ga__first_bad(g, o->n_events);
  if (bad < 0) return GA_OK;
  return ga__refuse(sim->ctx, GA_ERR_NAN, GA_REASON_CALLBACK_NOT_FINITE,
                    &(ga__facts){.at = &(ga__fact_time){s->t, NAN, -1, bad},
                                 .kind = "event",
                                 .part = ga__sim_event_name(sim, bad, number),
                                 .callback = "event_function",
                                 GA__NUMBERS({g[bad], NULL})});
}

ga_status ga__sim_evaluate_events_at(ga_simulator *sim, double t)
{
  const ga_status status = ga__sim_interpolate(sim, t);
  return status ? status : ga__sim_evaluate_events(sim, &sim->view, sim->g_at);
}

/* Whether g leaves its side, also if it becomes 0. */
static int leaves_side(double before, double after)
{
  return before != 0.0 && !(before < 0.0 ? after < 0.0 : after > 0.0);
}

static int event_crosses(const ga_event *e, double before, double after)
{
  return leaves_side(before, after) && (e->direction == 0 || (e->direction > 0) == (before < 0.0));
}

/* A piece of the last step, with g of one event at its ends. */
typedef struct piece {
  double a, b; /* [s] */
  double ga, gb;
} piece;

/* A time in (a, b] at which g of event i leaves its side: bisection made faster by false position (Illinois).
 */
static ga_status locate_event(ga_simulator *sim, int i, piece p, double *t)
{
  double ta = p.a, tb = p.b, ga = p.ga, gb = p.gb;
  int side = 0, from_below = ga < 0.0;
  for (int k = 0; k < MAX_LOCATE && tb - ta > 4.0 * DBL_EPSILON * fmax(fabs(ta), fabs(tb)); k++) {
    double tc = k % 3 == 2 ? 0.5 * (ta + tb) : (ta * gb - tb * ga) / (gb - ga);
    if (!(tc > ta && tc < tb)) tc = 0.5 * (ta + tb);
    const ga_status status = ga__sim_evaluate_events_at(sim, tc);
    if (status) return status;
    double gc = sim->g_at[i];
    if (gc == 0.0 || (gc < 0.0) != from_below) {
      tb = tc, gb = gc;
      if (side == 1) ga *= 0.5;
      side = 1;
      if (gc == 0.0) break;
    } else {
      ta = tc, ga = gc;
      if (side == -1) gb *= 0.5;
      side = -1;
    }
  }
  *t = tb;
  return GA_OK;
}

/* ---- Two crossings between known values ---- */

/* The polynomial through value[k] at k/PARTS, at s from 0 to 1 (Lagrange). */
static double polynomial(const double value[PARTS + 1], double s)
{
  double sum = 0.0;
  for (int k = 0; k <= PARTS; k++) {
    double term = value[k];
    for (int j = 0; j <= PARTS; j++)
      if (j != k) term *= (s * PARTS - j) / (k - j);
    sum += term;
  }
  return sum;
}

/* 1: the polynomial comes close to zero between its ends in part k of the step; *s: where it comes closest.
 */
static int comes_close(const double value[PARTS + 1], int k, double *s)
{
  const double side = value[k] < 0.0 ? -1.0 : 1.0;
  double low = value[0], high = value[0], least = INFINITY;
  int at = 0;
  for (int j = 1; j <= PARTS; j++) low = fmin(low, value[j]), high = fmax(high, value[j]);
  for (int j = 0; j <= SAMPLES; j++) {
    const double now = side * polynomial(value, (k + (double)j / SAMPLES) / PARTS);
    if (now < least) least = now, at = j;
  }
  *s = (k + (double)at / SAMPLES) / PARTS;
  return at > 0 && at < SAMPLES && least < CLOSE_TO_ZERO * (high - low);
}

/* g has the same sign at both ends of p. Searches for a time *t between them with the other sign or 0,
 * beginning at `guess`: golden section for the value closest to zero. *found: there is one, with g *value. */
static ga_status search_extreme(ga_simulator *sim, int i, const piece *p, double guess, int *found, double *t,
                                double *value)
{
  const double golden = 0.381966011250105, side = p->ga < 0.0 ? -1.0 : 1.0;
  const double width = (p->b - p->a) / SAMPLES;
  double a = fmax(p->a, guess - width), b = fmin(p->b, guess + width), best = INFINITY, x = guess;
  *found = 0;
  for (int k = 0; k < MAX_NARROW && b - a > 1e-9 * (p->b - p->a); k++) {
    const double at = k == 0 ? guess : x - a > b - x ? x - golden * (x - a) : x + golden * (b - x);
    if (!(at > a && at < b)) break;
    const ga_status status = ga__sim_evaluate_events_at(sim, at);
    if (status) return status;
    const double now = side * sim->g_at[i];
    *t = at, *value = sim->g_at[i];
    if ((*found = now <= 0.0)) return GA_OK;
    if (now < best) {
      if (at > x) a = x;
      if (at < x) b = x;
      x = at, best = now;
    } else if (at > x) {
      b = at;
    } else {
      a = at;
    }
  }
  return GA_OK;
}

/* The first time in (a, b] at which g leaves its side. The one that bisection finds may come after others,
 * which bounds of g show. */
static ga_status locate_first(ga_simulator *sim, int i, piece p, double *t)
{
  ga_status status = locate_event(sim, i, p, t);
  for (int k = 0; k < MOST_EARLIER && !status && sim->opts.event_bounds; k++) {
    double before = *t - BEFORE * (*t - p.a), value;
    int found;
    if (!(before > p.a) || (status = ga__sim_evaluate_events_at(sim, before))) return status;
    value = sim->g_at[i];
    found = leaves_side(p.ga, value);
    if (!found) status = ga__sim_search_event(sim, i, p.a, before, p.ga, &found, &before, &value);
    if (status || !found) return status;
    status = locate_event(sim, i, (piece){p.a, before, p.ga, value}, t);
  }
  return status;
}

/* A time on the far side of p, with g there: just behind the change at t, where that can be seen. */
static ga_status come_behind(ga_simulator *sim, int i, double t, double from, piece *p)
{
  const double soon = t + ga__sim_time_resolution(sim);
  if (!(soon < p->b)) return GA_OK;
  const ga_status status = ga__sim_evaluate_events_at(sim, soon);
  if (!status && leaves_side(from, sim->g_at[i])) p->b = soon, p->gb = sim->g_at[i];
  return status;
}

/* The first time *t at which g of event i leaves its side in part k of the step, from p on; *behind: a time
 * from then on with g on the other side or 0; *found: there is one. */
static ga_status find_change(ga_simulator *sim, int i, const double value[PARTS + 1], int k, piece p,
                             int *found, double *t, piece *behind)
{
  const double beginning = sim->st->next.scalar[GA__T], h = sim->st->now.scalar[GA__T] - beginning;
  double s;
  ga_status status = GA_OK;
  *behind = p;
  *found = leaves_side(p.ga, p.gb);
  if (!*found && p.ga != 0.0 && comes_close(value, k, &s) && beginning + s * h > p.a)
    status = search_extreme(sim, i, &p, beginning + s * h, found, &behind->b, &behind->gb);
  if (!status && !*found && p.ga != 0.0 && sim->hides[2 * i + k / 2] > 0.0)
    status = ga__sim_search_event(sim, i, p.a, p.b, p.ga, found, &behind->b, &behind->gb);
  if (status || !*found) return status;
  status = locate_first(sim, i, *behind, t);
  return status ? status : come_behind(sim, i, *t, p.ga, behind);
}

/* The first crossing of event i after sim->from[i] within the last step; *when: HUGE_VAL: none. */
static ga_status find_crossing(ga_simulator *sim, int i, double *when)
{
  const double beginning = sim->st->next.scalar[GA__T], end = sim->st->now.scalar[GA__T];
  const int direction = sim->events[i].direction;
  double value[PARTS + 1], now = sim->g[i], t = sim->from[i];
  *when = HUGE_VAL;
  value[0] = sim->g_begin[i], value[PARTS] = sim->g_new[i];
  for (int k = 1; k < PARTS; k++) value[k] = sim->g_inside[(k - 1) * sim->opts.n_events + i];
  for (int k = 0; k < PARTS; k++) {
    const double next = k + 1 == PARTS ? end : beginning + (end - beginning) * (k + 1) / PARTS;
    if (next <= t) continue;
    piece p = {t, next, now, value[k + 1]};
    int found = 1;
    for (int n = 0; found && n < MOST_CHANGES && p.a < p.b; n++) {
      piece behind;
      double at;
      const ga_status status = find_change(sim, i, value, k, p, &found, &at, &behind);
      if (status) return status;
      const double side = p.ga < 0.0 ? 1.0 : -1.0; /* that it goes to */
      if (found && (direction == 0 || direction * side > 0.0)) return *when = at, GA_OK;
      p.a = behind.b, p.ga = side * fmax(side * behind.gb, DBL_MIN);
    }
    t = next, now = value[k + 1];
  }
  return GA_OK;
}

/* ---- The events of a step ---- */

/* The side of an event just behind a time t at which it has happened, and from when on it is looked for
 * again: `after` behind t, where g is no longer rounding. A narrow pulse may be over by then: g is looked at
 * sooner and sooner, and counts where it is large on the other side. */
static ga_status look_behind(ga_simulator *sim, int i, double t, double after)
{
  const double end = sim->st->now.scalar[GA__T];
  sim->from[i] = fmin(t + after, end);
  ga_status status = ga__sim_evaluate_events_at(sim, sim->from[i]);
  const double g = sim->g[i] = sim->g_at[i];
  double most = SMALL * fabs(g), soon = SOONER * after;
  for (int k = 0; k < MOST_SOONER && !status && sim->opts.event_bounds && g != 0.0; k++, soon *= SOONER) {
    if (!(t + soon < end) || soon < ga__sim_time_resolution(sim)) continue;
    status = ga__sim_evaluate_events_at(sim, t + soon);
    if (!status && sim->g_at[i] * g < 0.0 && fabs(sim->g_at[i]) > most)
      most = fabs(sim->g_at[i]), sim->from[i] = t + soon, sim->g[i] = sim->g_at[i];
  }
  return status || !sim->opts.event_bounds ? status : ga__sim_evaluate_events_at(sim, sim->from[i]);
}

/* g at the quarters of the last step. */
static ga_status look_inside(ga_simulator *sim)
{
  const double beginning = sim->st->next.scalar[GA__T], end = sim->st->now.scalar[GA__T];
  const int n = sim->opts.n_events;
  const size_t n_inputs = (size_t)sim->opts.n_event_inputs;
  ga__copy_numbers(sim->g_begin, sim->g, n);
  for (int k = sim->opts.event_bounds ? 0 : 1; k < PARTS; k++) {
    ga_status status = ga__sim_interpolate_plainly(sim, beginning + (end - beginning) * k / PARTS);
    if (!status) status = ga__sim_evaluate_events(sim, &sim->view, sim->g_at);
    if (status) return status;
    ga__sim_keep_event_inputs(sim, sim->u_inside + (size_t)k * n_inputs);
    if (k > 0) ga__copy_numbers(sim->g_inside + (k - 1) * n, sim->g_at, n);
  }
  ga__sim_find_hiding_events(sim);
  return GA_OK;
}

/* The earliest event of the last step that has not been handled, of those that are only recorded or of the
 * others; −1: none; *t: its time. */
static ga_status find_first_event(ga_simulator *sim, int recorded, int *event, double *t)
{
  *event = -1;
  for (int i = 0; i < sim->opts.n_events; i++) {
    if ((sim->events[i].action == GA_EVENT_RECORD) != recorded) continue;
    const ga_status status = find_crossing(sim, i, &sim->when[i]);
    if (status) return status;
    if (isfinite(sim->when[i]) && (*event < 0 || sim->when[i] < *t)) *event = i, *t = sim->when[i];
  }
  return GA_OK;
}

/* Calls on_event; q, v, x NULL if it may not change them. GA_STOPPED: it asked to stop. */
static ga_status report_event(ga_simulator *sim, int event, const ga_state *s, double *q, double *v,
                              double *x)
{
  const ga_simulate_opts *o = &sim->opts;
  sim->stats.events++;
  sim->since[event] = s->t - sim->fired[event];
  sim->fired[event] = s->t;
  const ga_status before = ga__begin_callback(sim->ctx);
  int code = o->on_event ? o->on_event(user_of(o), event, s, q, v, x) : 0;
  if (code < 0) return fail_callback(sim, "on_event", event, s->t, code, before);
  sim->ctx->error.status = before;
  return code > 0 ? GA_STOPPED : GA_OK;
}

/* Restarts that follow each other ever faster would never end, or be missed. */
static ga_status fail_restarts(ga_simulator *sim, int event)
{
  char number[16];
  return ga__refuse(sim->ctx, GA_ERR_STEP, GA_REASON_RESTARTS_PILE_UP,
                    &(ga__facts){.at = &(ga__fact_time){sim->fired[event], NAN, -1, event},
                                 .kind = "event",
                                 .part = ga__sim_event_name(sim, event, number),
                                 GA__NUMBERS({sim->since[event], NULL}, {ga__sim_least_step(sim), NULL})});
}

/* g = 0 at the beginning of the step, as after a restart: the side it moves to. Where that is rounding
 * `after` the beginning, later; if it takes longer than since the last time to see that g has not come back,
 * it was too short a flight to be seen. */
static ga_status resolve_zero_event(ga_simulator *sim, int i, double beginning, double end)
{
  const int way = sim->events[i].direction;
  double after =
      fmax(fmin(PEEK * (end - beginning), PEEK_AGAIN * sim->since[i]), ga__sim_time_resolution(sim));
  ga_status status = look_behind(sim, i, beginning, after);
  if (!status && sim->events[i].action != GA_EVENT_RECORD && (way == 0 || way * sim->g[i] > 0.0))
    ga__sensitivities_touch(sim->st, i);
  if (!sim->opts.event_bounds) sim->from[i] = beginning;
  if (status || !sim->opts.event_bounds || !ga__sim_event_is_rounding(sim, i, sim->from[i])) return status;
  while (!status && sim->from[i] < end && ga__sim_event_is_rounding(sim, i, sim->from[i]))
    status = look_behind(sim, i, beginning, after *= LATER);
  if (status || !(way * sim->g[i] > 0.0 && after >= sim->since[i])) return status;
  status = ga_stepper_undo(sim->st);
  return status ? status : fail_restarts(sim, i);
}

/* All events are looked for from the beginning of the step on, or from just behind it. */
static ga_status resolve_zero_events(ga_simulator *sim)
{
  const double beginning = sim->st->next.scalar[GA__T], end = sim->st->now.scalar[GA__T];
  ga_status status = GA_OK;
  for (int i = 0; i < sim->opts.n_events && !status; i++) {
    sim->from[i] = beginning;
    if (sim->g[i] == 0.0) status = resolve_zero_event(sim, i, beginning, end);
  }
  return status;
}

/* One event at the current state s; *restarts, *stops: what it asks for. */
static ga_status handle_one(ga_simulator *sim, int i, const ga_state *s, int *restarts, int *stops)
{
  const ga_event_action action = sim->events[i].action;
  const int again = action == GA_EVENT_RESTART;
  if (action != GA_EVENT_RECORD) ga__sensitivities_meet(sim->st, i, ga__sim_is_end(sim, s->t));
  ga_status status =
      report_event(sim, i, s, again ? sim->q : NULL, again ? sim->v : NULL, again ? sim->x : NULL);
  if (!status && again && sim->since[i] < ga__sim_least_step(sim)) status = fail_restarts(sim, i);
  *restarts |= again;
  *stops |= status == GA_STOPPED || action == GA_EVENT_STOP;
  if (action == GA_EVENT_STOP) sim->last_event = i;
  return status < 0 ? status : GA_OK;
}

/* The stepper is at `event`: handles it, and others that have occurred by now, in the order of their numbers.
 * What a restart changes may make further events cross zero at the same time: they follow, each event once.
 */
ga_status ga__sim_act_on_event(ga_simulator *sim, int event)
{
  const ga_state *s = &sim->st->view;
  const int n = sim->opts.n_events;
  const double same = sim->when[event] + 4.0 * ga__sim_time_resolution(sim);
  int restarts = 0, stops = 0;
  ga_status status = ga__sim_evaluate_events(sim, s, sim->g_at);
  ga__sim_copy_state(sim, s);
  for (int i = 0; i < n && !status; i++) {
    const int now =
        i == event || sim->when[i] <= same || event_crosses(&sim->events[i], sim->g[i], sim->g_at[i]);
    sim->when[i] = now ? -HUGE_VAL : HUGE_VAL; /* handled, or not */
    if (now) status = handle_one(sim, i, s, &restarts, &stops);
  }
  while (!status && restarts) {
    ga__copy_numbers(sim->g_new, sim->g_at, n); /* before the jump */
    status = ga__sim_restart(sim, s->t, ga__sim_given_first_step(sim));
    if (!status) status = ga__sim_evaluate_events(sim, s, sim->g_at);
    if (!status) ga__sim_copy_state(sim, s);
    restarts = 0;
    for (int i = 0; i < n && !status; i++) {
      if (sim->when[i] < 0.0 || !event_crosses(&sim->events[i], sim->g_new[i], sim->g_at[i])) continue;
      sim->when[i] = -HUGE_VAL;
      status = handle_one(sim, i, s, &restarts, &stops);
    }
  }
  return status < 0 ? status : stops ? GA_STOPPED : GA_OK;
}

/* With g of before the jump, the next step crosses zero at its beginning. Events that have been handled at
 * this time have acted on the jump. */
void ga__sim_keep_sides_in_jump(ga_simulator *sim)
{
  const double recent = sim->st->now.scalar[GA__T] - ga__sim_time_resolution(sim);
  for (int i = 0; i < sim->opts.n_events; i++)
    if (sim->fired[i] < recent && event_crosses(&sim->events[i], sim->g_new[i], sim->g[i]))
      sim->g[i] = sim->g_new[i];
}

/* An event at t that is only recorded: it is looked for again behind t, from the side that g has there. */
static ga_status record_event(ga_simulator *sim, int event, double t)
{
  const double h = sim->st->now.scalar[GA__T] - sim->st->next.scalar[GA__T];
  const double side = sim->events[event].direction ? sim->events[event].direction
                      : sim->g[event] < 0.0        ? 1.0
                                                   : -1.0;
  ga_status status = ga__sim_interpolate(sim, t);
  if (!status) status = report_event(sim, event, &sim->view, NULL, NULL, NULL);
  if (status) return status;
  status = look_behind(sim, event, t, fmax(PEEK_AGAIN * h, ga__sim_time_resolution(sim)));
  if (sim->g[event] == 0.0) sim->g[event] = side * DBL_MIN;
  return status;
}

/* g at the end and within the last step. */
static ga_status survey_step(ga_simulator *sim)
{
  ga_status status = ga__sim_evaluate_events(sim, &sim->st->view, sim->g_new);
  if (!status) ga__sim_keep_event_inputs(sim, sim->u_inside + PARTS * (size_t)sim->opts.n_event_inputs);
  if (!status) status = resolve_zero_events(sim);
  return status ? status : look_inside(sim);
}

/* *by: how much later than the end of the step g of an event is 0, where it is `g` at the end, by a straight
 * line through its value `part` before; *straight 0: it does not look like one there, as where it jumps. */
static ga_status find_move(ga_simulator *sim, int event, double g, double part, double *by, int *straight)
{
  const double end = sim->st->now.scalar[GA__T];
  ga_status status = ga__sim_evaluate_events_at(sim, end - 0.5 * part);
  const double middle = sim->g_at[event];
  if (!status) status = ga__sim_evaluate_events_at(sim, end - part);
  const double change = g - sim->g_at[event], bend = g - 2.0 * middle + sim->g_at[event];
  *by = -part * g / change;
  *straight = fabs(bend) <= STRAIGHT * fabs(change);
  return status;
}

/* 1: the last step has ended at a singular position, where every step costs, and warns. */
static int is_singular(const ga_stepper *st)
{
  return st->now.scalar[GA__REDUNDANT] != st->next.scalar[GA__REDUNDANT];
}

/* The step that ends on an event is not the one in which it was found, so that it is off by the errors of
 * both. It is made again with its end where g is 0, and behind that by a rounding: before the event, this
 * would be found once more. Not beyond `last`. */
static ga_status come_to_event(ga_simulator *sim, int event, double last, double err)
{
  const double side = sim->g[event], close = ga__sim_time_resolution(sim);
  ga_status status = GA_OK;
  for (int k = 0; k < MOST_COMING && !status; k++) {
    const double end = sim->st->now.scalar[GA__T], part = NEAR_END * (end - sim->st->next.scalar[GA__T]);
    double by;
    int straight;
    if ((status = ga__sim_evaluate_events(sim, &sim->st->view, sim->g_new))) return status;
    const double g = sim->g_new[event];
    const int passed = !(g * side > 0.0);
    if (g == 0.0 || (passed && is_singular(sim->st))) return GA_OK;
    if ((status = find_move(sim, event, g, part, &by, &straight))) return status;
    if (!(fabs(by) < part) || (passed ? !straight || !(-by > 2.0 * close) : !(by > 0.0))) return GA_OK;
    const double t = end + by + (passed && k == 0 ? 0.0 : close);
    if (!(t < last)) return GA_OK;
    ga__sim_uncount_step(sim, err);
    status = ga__sim_step_onto(sim, t, err);
    sim->when[event] = t;
  }
  return status;
}

/* The step is the one that stays when events are reported: it ends on the first stop or restart. */
ga_status ga__sim_reach_event(ga_simulator *sim, double err, int *event)
{
  double t = 0.0;
  int recorded = -1;
  *event = -1;
  if (sim->opts.n_events == 0) return GA_OK;
  ga_status status = survey_step(sim);
  if (!status) status = find_first_event(sim, 0, event, &t);
  if (!status && *event >= 0) {
    const double last = sim->st->now.scalar[GA__T];
    status = ga__sim_step_onto(sim, t, err);
    if (!status && sim->st->can_undo) status = come_to_event(sim, *event, last, err);
    if (!status) status = ga__sim_outputs_until(sim, sim->st->now.scalar[GA__T]);
    if (status || !sim->st->can_undo) return status; /* it was at the beginning */
    status = survey_step(sim);
  }
  while (!status && !(status = find_first_event(sim, 1, &recorded, &t)) && recorded >= 0)
    if (!(status = ga__sim_outputs_until(sim, t))) status = record_event(sim, recorded, t);
  return status;
}

ga_status ga__sim_handle_events(ga_simulator *sim, double err, int *gone)
{
  int event;
  const ga_status status = ga__sim_reach_event(sim, err, &event);
  *gone = event >= 0;
  return status || event < 0 ? status : ga__sim_act_on_event(sim, event);
}
