/* Limits of step sizes: ends, breaks, earlier failures; the first step. */
#include "core/simulate.h"

#include <float.h>
#include <math.h>

/* After a step whose iteration needed LABOUR factorisations the next one is not longer, except after HELD
 * such steps in a row, since iterations may be slow at any size. Inner unknowns that are iterates take one
 * more. */
enum { LABOUR = 3, HELD = 8 };
/* After a failure steps are limited to WARY of the failed size for some steps, twice as many each time it
 * fails again, until a step of that size has succeeded. */
#define WARY 0.5
enum { WARY_MOST = 256 };

double ga__sim_run_length(const ga_simulator *sim)
{
  return sim->opts.t_end - sim->t0;
}

/* The largest step depends on the distance of outputs, and on the period of inputs. */
#define PER_OUTPUT 10.0

double ga__sim_largest_step(const ga_simulator *sim)
{
  const ga_simulate_opts *o = &sim->opts;
  if (o->h_max > 0.0) return o->h_max;
  double most = 0.1 * ga__sim_run_length(sim);
  if (o->output_every > 0.0) most = fmin(most, PER_OUTPUT * o->output_every);
  return sim->breaks.known ? fmin(most, fmax(sim->breaks.next.h_max, 1e-6 * ga__sim_run_length(sim))) : most;
}

double ga__sim_stop_time(const ga_simulator *sim)
{
  return sim->breaks.known ? fmin(sim->breaks.next.before, sim->opts.t_end) : sim->opts.t_end;
}

/* Breaks may be close to each other in a long run: limits are relative to the piece between them. */
#define PIECE_LEAST 1e-3

double ga__sim_least_step(const ga_simulator *sim)
{
  const double stop = ga__sim_stop_time(sim), rest = stop - sim->piece;
  double least = sim->opts.h_min > 0.0 ? sim->opts.h_min : 1e-12 * ga__sim_run_length(sim);
  if (!(sim->opts.h_min > 0.0) && rest > 0.0) least = fmin(least, PIECE_LEAST * rest);
  return fmax(least, 16.0 * DBL_EPSILON * fmax(fabs(sim->t0), fabs(stop))); /* otherwise t would not change */
}

double ga__sim_time_resolution(const ga_simulator *sim)
{
  return fmax(1e-13 * ga__sim_run_length(sim),
              8.0 * DBL_EPSILON * fmax(fabs(sim->t0), fabs(sim->opts.t_end)));
}

/* The first step of order 2 is a part of the motion's time that falls with the tolerance's third root, that of
 * higher orders with a higher root; half of it. */
static double first_growth(const ga_simulator *sim)
{
  const double tol = fmin(sim->opts.rtol + sim->opts.atol, 1.0);
  return 0.5 * pow(tol, 1.0 / sim->st->family->error_power(sim->st) - 1.0 / 3.0);
}

double ga__sim_choose_first_step(ga_simulator *sim)
{
  ga_stepper *st = sim->st;
  const ga_system *sys = st->sys;
  double h = fmin(ga__sim_largest_step(sim), 1e-2 * ga__sim_run_length(sim)), kappa = fabs(ga__kappa(st, h)),
         ratio, ratio_x;
  ga__tally q = {0}, x = {0};
  for (int i = 0; i < sys->nv; i++) st->est_q[i] = fmax(kappa, GA__KAPPA_LEAST) * st->jerk_v[i];
  ga__tally_q(&q, &sim->opts, st, st->est_q, sim->weight);
  ga__tally_x(&x, &sim->opts, st, st->jerk_x);
  ratio = q.largest, ratio_x = x.largest;
  if (ratio > 0.0) h = fmin(h, 0.5 * cbrt(1.0 / ratio));
  if (ratio_x > 0.0) h = fmin(h, 0.5 * sqrt(1.0 / ratio_x));
  if (sim->opts.error != GA_PER_STEP && ratio > 0.0)
    h = fmin(h, 0.5 * sqrt(1.0 / (ratio * ga__sim_run_length(sim))));
  if (st->family->error_power) h = fmin(h * first_growth(sim), 1e-2 * ga__sim_run_length(sim));
  return fmax(h, ga__sim_least_step(sim));
}

ga_status ga__sim_find_next_break(ga_simulator *sim, double t)
{
  const double fixed = sim->opts.fixed_h, reach = fmax(sim->opts.h_max, 0.1 * ga__sim_run_length(sim));
  return ga__breaks_find(&sim->breaks, t, t + (fixed > 0.0 ? 2.0 * fixed : reach));
}

double ga__sim_break_width(const ga_simulator *sim, double t)
{
  return 64.0 * DBL_EPSILON * fmax(fabs(sim->t0), fabs(t));
}

int ga__sim_ends_in_break(const ga_simulator *sim)
{
  const double t_end = sim->opts.t_end;
  return sim->breaks.known && t_end <= sim->breaks.next.after + ga__sim_break_width(sim, t_end);
}

int ga__sim_is_end(const ga_simulator *sim, double t)
{
  return sim->opts.t_end - t <= ga__sim_time_resolution(sim) ||
         (ga__sim_ends_in_break(sim) && t >= sim->breaks.next.before - ga__sim_break_width(sim, t));
}

/* Warns if the inputs oscillate too fast for equal steps. */
#define ALIASING 2.5

void ga__sim_warn_aliasing(ga_simulator *sim, double t)
{
  const double fixed = sim->opts.fixed_h, most = sim->breaks.next.h_max;
  if (!(fixed > ALIASING * most) || sim->warned_aliasing) return;
  sim->warned_aliasing = 1;
  ga__log(sim->ctx, GA_LOG_WARNING, GA_REASON_FAST_INPUT,
          &(ga__facts){.at = &(ga__fact_time){t, fixed, -1, -1}, GA__NUMBERS({most, "s"})});
}

double ga__sim_given_first_step(const ga_simulator *sim)
{
  return sim->opts.fixed_h > 0.0 ? sim->opts.fixed_h : sim->opts.h_first;
}

double ga__sim_fit_size(const ga_simulator *sim, double h)
{
  const double stop = ga__sim_stop_time(sim), rest = stop - sim->st->now.scalar[GA__T];
  if (sim->opts.fixed_h > 0.0) { /* the last of equal steps has the same size up to rounding */
    int equal = fabs(rest - h) <= 4.0 * DBL_EPSILON * fmax(fabs(sim->t0), fabs(stop));
    return !equal && rest < h * (1.0 + 1e-9) ? rest : h;
  }
  h = fmin(h, ga__sim_largest_step(sim));
  if (rest <= h * (1.0 + 1e-9)) return rest;
  return rest < 2.0 * h ? 0.5 * rest : h;
}

void ga__sim_limit_after_labour(ga_simulator *sim, double h, long matrices)
{
  const int stages = sim->st->family->stages ? sim->st->family->stages(sim->st) : 1;
  const int most = stages * LABOUR + sim->st->inner.used;
  const int holds = matrices >= most && sim->h_next > h && sim->held < HELD;
  sim->held = holds ? sim->held + 1.0 : 0.0;
  if (holds) sim->h_next = h;
}

void ga__sim_note_failure(ga_simulator *sim, ga_status status, double h, int count)
{
  const int again = sim->failed_h > 0.0;
  if (status == GA_RETRY_CALLBACK || status == GA_RETRY_NAN) return;
  if (count == 0) sim->wary_span = again ? fmin(2.0 * sim->wary_span, WARY_MOST) : GA__WARY_FIRST;
  sim->wary = sim->wary_span;
  sim->failed_h = h;
}

void ga__sim_limit_after_failure(ga_simulator *sim, double h)
{
  if (h >= sim->failed_h) sim->failed_h = sim->wary = 0.0;
  if (!(sim->wary > 0.0)) return;
  sim->wary -= 1.0;
  sim->h_next = fmin(sim->h_next, fmax(WARY * sim->failed_h, h));
}
