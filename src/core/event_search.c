/* Events that are narrower than a quarter of a step, by bounds of g.
 *
 * Within a piece of a step the numbers u that events are computed from are taken to be parabolas, through
 * their values at the ends and the middle: u stays in the range of u(a), u(b) and 2 u(m) − (u(a) + u(b))/2.
 * If the bounds of g over that range contain no 0, it has none there; otherwise the piece is bisected. */
#include "core/simulate.h"

#include <math.h>

enum { PARTS = GA__EVENT_PARTS, DEPTH = GA__EVENT_DEPTH };
enum { MOST_LOOKS = 200 }; /* evaluations in search of one crossing */
#define ROUNDING 1e-12     /* [-] of the largest |u| in a step: changes of u that mean nothing */
#define SLACK 0.02         /* [-] of the range of u, in which u may leave the parabola */

static void *user_of(const ga_simulate_opts *o)
{
  return o->event_user ? o->event_user : o->user;
}

void ga__sim_keep_event_inputs(ga_simulator *sim, double *u)
{
  if (sim->opts.event_bounds) sim->opts.event_inputs(user_of(&sim->opts), u);
}

int ga__sim_event_is_rounding(ga_simulator *sim, int event, double t)
{
  const int n = sim->opts.n_event_inputs;
  const double when[2] = {t, t};
  double *lo = sim->u_range, *hi = sim->u_range + n, *u = sim->u_ends, least = 0.0, most = 0.0;
  ga__sim_keep_event_inputs(sim, u);
  for (int i = 0; i < n; i++) {
    double size = fabs(u[i]);
    for (int k = 0; k <= PARTS; k++) size = fmax(size, fabs(sim->u_inside[k * n + i]));
    lo[i] = u[i] - ROUNDING * size, hi[i] = u[i] + ROUNDING * size;
  }
  const int known = sim->opts.event_bounds(user_of(&sim->opts), event, when, lo, hi, &least, &most);
  return !known || (least <= 0.0 && most >= 0.0);
}

/* 1: g of an event may be 0 between times with u at both ends and in the middle; 2: the same, and it may
 * jump there. */
static int may_vanish(ga_simulator *sim, int event, const double t[2], const double *a, const double *m,
                      const double *b)
{
  const int n = sim->opts.n_event_inputs;
  double *lo = sim->u_range, *hi = sim->u_range + n, least = 0.0, most = 0.0;
  for (int i = 0; i < n; i++) {
    const double turn = 2.0 * m[i] - 0.5 * (a[i] + b[i]);
    lo[i] = fmin(fmin(a[i], b[i]), turn), hi[i] = fmax(fmax(a[i], b[i]), turn);
    const double slack = SLACK * (hi[i] - lo[i]);
    lo[i] -= slack, hi[i] += slack;
  }
  const int known = sim->opts.event_bounds(user_of(&sim->opts), event, t, lo, hi, &least, &most);
  return known && least <= 0.0 && most >= 0.0 ? known : 0;
}

void ga__sim_find_hiding_events(ga_simulator *sim)
{
  const size_t n = (size_t)sim->opts.n_event_inputs;
  const double begin = sim->st->next.scalar[GA__T], h = sim->st->now.scalar[GA__T] - begin;
  if (!sim->opts.event_bounds) return;
  for (int i = 0; i < sim->opts.n_events; i++)
    for (int half = 0; half < 2; half++) {
      const double *u = sim->u_inside + 2 * (size_t)half * n;
      const double t[2] = {begin + 0.5 * half * h, begin + 0.5 * (half + 1) * h};
      sim->hides[2 * i + half] = may_vanish(sim, i, t, u, u + n, u + 2 * n);
    }
}

/* A search that has to be given up, of an expression that may jump. */
static void report_unsure(ga_simulator *sim, int event, double t)
{
  char number[16];
  if (sim->unsure[event] > 0.0) return;
  sim->unsure[event] = 1.0;
  ga__log(sim->ctx, GA_LOG_WARNING, GA_REASON_EVENT_UNSURE,
          &(ga__facts){.at = &(ga__fact_time){t, NAN, -1, event},
                       .kind = "event",
                       .part = ga__sim_event_name(sim, event, number)});
}

/* The pieces that are still to be searched end at end[0] > end[1] > ..., with u in sim->u_ends; `begin` is
 * where the next one begins, with u in front of them. */
ga_status ga__sim_search_event(ga_simulator *sim, int event, double begin, double last, double from_below,
                               int *found, double *t, double *value)
{
  const size_t n = (size_t)sim->opts.n_event_inputs;
  const double shortest = ldexp(last - begin, -DEPTH), side = from_below < 0.0 ? -1.0 : 1.0;
  double end[DEPTH + 1] = {last}, *u_begin = sim->u_ends, *u_end = u_begin + n;
  double *u_middle = sim->u_ends + (DEPTH + 2) * n;
  int waiting = 1, looks = 0;
  *found = 0;
  ga_status status = ga__sim_evaluate_events_at(sim, begin);
  if (!status) ga__sim_keep_event_inputs(sim, u_begin);
  if (!status) status = ga__sim_evaluate_events_at(sim, last);
  if (!status) ga__sim_keep_event_inputs(sim, u_end);
  while (!status && waiting > 0) {
    const double piece[2] = {begin, end[waiting - 1]}, middle = begin + 0.5 * (piece[1] - begin);
    if ((status = ga__sim_evaluate_events_at(sim, middle))) return status;
    ga__sim_keep_event_inputs(sim, u_middle);
    *t = middle, *value = sim->g_at[event];
    if ((*found = !(side * *value > 0.0))) return GA_OK;
    u_end = sim->u_ends + (size_t)waiting * n;
    const int hides = may_vanish(sim, event, piece, u_begin, u_middle, u_end);
    if (hides && waiting <= DEPTH - 1 && piece[1] - begin > shortest) {
      if (++looks > MOST_LOOKS) {
        if (hides > 1) report_unsure(sim, event, middle);
        return GA_OK;
      }
      end[waiting] = middle;
      ga__copy_numbers(sim->u_ends + (size_t)(waiting + 1) * n, u_middle, (int)n);
      waiting++;
      continue;
    }
    begin = piece[1];
    ga__copy_numbers(u_begin, u_end, (int)n);
    waiting--;
  }
  return status;
}
