/* Events: zeros of functions of the state, located within a step. */
#include "core/simulate.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

/* If g = 0 at the beginning of a step, its side is evaluated at this part of the step, or of the time
 * between the event's last two occurrences, which may become shorter and shorter. */
#define PEEK 0.01
#define PEEK_AGAIN 1e-4
enum { MAX_LOCATE = 60 };

ga_status ga__sim_evaluate_events(ga_simulator *sim, const ga_state *s, double *g)
{
  const ga_simulate_opts *o = &sim->opts;
  if (o->n_events == 0) return GA_OK;
  ga_point p = {s->t, s->q, s->v, s->vdot, s->lambda, s->psi, s->x, s->y, 0, NULL};
  int code = o->event_function(o->user, &p, g), bad = code ? -1 : ga__first_bad(g, o->n_events);
  if (code)
    return ga__refuse(
        sim->ctx, GA_ERR_CALLBACK, GA_REASON_CALLBACK,
        &(ga__facts){.at = &(ga__fact_time){s->t, NAN, -1, -1}, .callback = "event_function", .code = code});
  if (bad >= 0) {
    char event[16];
    snprintf(event, sizeof event, "%d", bad);
    return ga__refuse(sim->ctx, GA_ERR_NAN, GA_REASON_CALLBACK_NOT_FINITE,
                      &(ga__facts){.at = &(ga__fact_time){s->t, NAN, -1, bad},
                                   .kind = "event",
                                   .part = event,
                                   .callback = "event_function",
                                   GA__NUMBERS({g[bad], NULL})});
  }
  return GA_OK;
}

/* Whether g leaves its side, also if it becomes 0. */
static int event_crosses(const ga_event *e, double before, double after)
{
  if (before == 0.0 || (before < 0.0 ? after < 0.0 : after > 0.0)) return 0;
  return e->direction == 0 || (e->direction > 0) == (before < 0.0);
}

/* First time in (ta, tb] at which event i crosses: bisection made faster by false position (Illinois). */
static ga_status locate_event(ga_simulator *sim, int i, double ta, double tb, double *t)
{
  double ga = sim->g[i], gb = sim->g_new[i];
  int side = 0, from_below = ga < 0.0;
  for (int k = 0; k < MAX_LOCATE && tb - ta > 4.0 * DBL_EPSILON * fmax(fabs(ta), fabs(tb)); k++) {
    double tc = k % 3 == 2 ? 0.5 * (ta + tb) : (ta * gb - tb * ga) / (gb - ga);
    if (!(tc > ta && tc < tb)) tc = 0.5 * (ta + tb);
    ga_status status = ga__sim_interpolate(sim, tc);
    if (!status) status = ga__sim_evaluate_events(sim, &sim->view, sim->g_at);
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

/* For g = 0 at the beginning of the step, as after a restart: uses the side it moves to. */
static ga_status resolve_zero_events(ga_simulator *sim)
{
  double beginning = sim->st->next.scalar[GA__T], end = sim->st->now.scalar[GA__T];
  for (int i = 0; i < sim->opts.n_events; i++) {
    if (sim->g[i] != 0.0) continue;
    double after =
        fmax(fmin(PEEK * (end - beginning), PEEK_AGAIN * sim->since[i]), ga__sim_time_resolution(sim));
    ga_status status = ga__sim_interpolate(sim, fmin(beginning + after, end));
    if (!status) status = ga__sim_evaluate_events(sim, &sim->view, sim->g_at);
    if (status) return status;
    sim->g[i] = sim->g_at[i];
  }
  return GA_OK;
}

/* The earliest event of the last step that has not been handled; −1: none; *t: its time. */
static ga_status find_first_event(ga_simulator *sim, int *event, double *t)
{
  const ga_stepper *st = sim->st;
  double beginning = st->next.scalar[GA__T];
  *event = -1;
  for (int i = 0; i < sim->opts.n_events; i++) {
    double when;
    if (sim->fired[i] > beginning || !event_crosses(&sim->events[i], sim->g[i], sim->g_new[i])) continue;
    ga_status status = locate_event(sim, i, beginning, st->now.scalar[GA__T], &when);
    if (status) return status;
    if (*event < 0 || when < *t) *event = i, *t = when;
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
  int code = o->on_event ? o->on_event(o->user, event, s, q, v, x) : 0;
  if (code < 0) {
    char name[16];
    snprintf(name, sizeof name, "%d", event);
    return ga__refuse(sim->ctx, GA_ERR_CALLBACK, GA_REASON_CALLBACK,
                      &(ga__facts){.at = &(ga__fact_time){s->t, NAN, -1, event},
                                   .kind = "event",
                                   .part = name,
                                   .callback = "on_event",
                                   .code = code});
  }
  return code > 0 ? GA_STOPPED : GA_OK;
}

/* Restarts that follow each other ever faster would never end, or be missed. */
static ga_status fail_restarts(ga_simulator *sim, int event)
{
  char name[16];
  snprintf(name, sizeof name, "%d", event);
  return ga__refuse(sim->ctx, GA_ERR_STEP, GA_REASON_RESTARTS_PILE_UP,
                    &(ga__facts){.at = &(ga__fact_time){sim->fired[event], NAN, -1, event},
                                 .kind = "event",
                                 .part = name,
                                 GA__NUMBERS({sim->since[event], NULL}, {ga__sim_least_step(sim), NULL})});
}

/* The stepper is at `event`: handles it, and others that have occurred by now. */
static ga_status handle_events_here(ga_simulator *sim, int event, double beginning)
{
  const ga_state *s = &sim->st->view;
  int restarts = 0, stops = 0;
  ga_status status = ga__sim_evaluate_events(sim, s, sim->g_at);
  ga__sim_copy_state(sim, s);
  for (int i = 0; i < sim->opts.n_events && status >= 0; i++) {
    ga_event_action action = sim->events[i].action;
    int again = action == GA_EVENT_RESTART;
    if (i != event && (sim->fired[i] > beginning || !event_crosses(&sim->events[i], sim->g[i], sim->g_at[i])))
      continue;
    status = report_event(sim, i, s, again ? sim->q : NULL, again ? sim->v : NULL, again ? sim->x : NULL);
    if (!status && again && sim->since[i] < ga__sim_least_step(sim)) status = fail_restarts(sim, i);
    restarts |= again;
    stops |= status == GA_STOPPED || action == GA_EVENT_STOP;
    if (action == GA_EVENT_STOP) sim->last_event = i;
  }
  if (status >= 0 && restarts) status = ga__sim_restart(sim, s->t, ga__sim_given_first_step(sim));
  return status < 0 ? status : stops ? GA_STOPPED : GA_OK;
}

ga_status ga__sim_handle_events(ga_simulator *sim, double err, int *gone)
{
  double t = 0.0, beginning = sim->st->next.scalar[GA__T];
  int event;
  *gone = 0;
  ga_status status = ga__sim_evaluate_events(sim, &sim->st->view, sim->g_new);
  if (!status) status = resolve_zero_events(sim);
  while (!status && !(status = find_first_event(sim, &event, &t)) && event >= 0) {
    if ((status = ga__sim_outputs_until(sim, t))) return status;
    if (sim->events[event].action == GA_EVENT_RECORD) {
      if (!(status = ga__sim_interpolate(sim, t)))
        status = report_event(sim, event, &sim->view, NULL, NULL, NULL);
      continue;
    }
    *gone = 1;
    status = ga__sim_step_onto(sim, t, err);
    return status ? status : handle_events_here(sim, event, beginning);
  }
  return status;
}
