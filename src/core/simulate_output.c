/* Outputs at given times. */
#include "core/simulate.h"

#include <math.h>

/* What an output is due to; several may be at one time. */
enum { EVERY = 1, LISTED = 2, WITHIN = 4 };

ga_status ga__sim_hand_out_state(ga_simulator *sim, const ga_state *s)
{
  sim->stats.outputs++;
  return sim->opts.output && sim->opts.output(sim->opts.user, s) ? GA_STOPPED : GA_OK;
}

/* Lines between the ends of steps of order 2 follow the motion as closely as the steps do; steps of higher
 * order are longer. The next output within the last step, infinity: none. */
static double next_within(ga_simulator *sim)
{
  const ga_stepper *st = sim->st;
  const double begin = st->next.scalar[GA__T], end = st->now.scalar[GA__T];
  const int parts = ga_stepper_order(st);
  if (!sim->opts.output_within || !sim->opts.output || !st->can_undo || parts <= 2) return HUGE_VAL;
  if (sim->within[0] != begin || sim->within[1] != end) sim->next_within = 1;
  sim->within[0] = begin;
  sim->within[1] = end;
  return sim->next_within < parts ? begin + (end - begin) / parts * sim->next_within : HUGE_VAL;
}

double ga__sim_next_output(ga_simulator *sim, unsigned *due)
{
  const ga_simulate_opts *o = &sim->opts;
  double every = HUGE_VAL, listed = HUGE_VAL;
  const double within = next_within(sim);
  if (o->output_every > 0.0 && sim->next_every >= 0.0) {
    every = sim->t0 + sim->next_every * o->output_every;
    if (sim->next_every > 0.0 && every > o->t_end - 1e-9 * o->output_every) every = o->t_end;
  }
  if (sim->next_time < o->n_output_times) listed = o->output_times[sim->next_time];
  const double next = fmin(fmin(every, listed), within);
  *due = (every == next ? EVERY : 0u) | (listed == next ? LISTED : 0u) | (within == next ? WITHIN : 0u);
  return next;
}

void ga__sim_count_output(ga_simulator *sim, unsigned due, double t)
{
  if (due & EVERY) sim->next_every = t >= sim->opts.t_end ? -1.0 : sim->next_every + 1.0;
  if (due & LISTED) sim->next_time++;
  if (due & WITHIN) sim->next_within++;
}

ga_status ga__sim_outputs_until(ga_simulator *sim, double t)
{
  const ga_stepper *st = sim->st;
  unsigned due;
  double when;
  while ((when = ga__sim_next_output(sim, &due)) <= t) {
    int here = when >= st->now.scalar[GA__T] || !st->can_undo;
    ga__sim_count_output(sim, due, when);
    ga_status status = here ? GA_OK : ga__sim_interpolate(sim, when);
    const int beside = here && when != st->view.t; /* differs by rounding, or lies within a break */
    if (beside) sim->view = st->view, sim->view.t = when;
    if (!status) status = ga__sim_hand_out_state(sim, here && !beside ? &st->view : &sim->view);
    if (status) return status;
  }
  return GA_OK;
}

void ga__sim_find_next_outputs(ga_simulator *sim, double t)
{
  const ga_simulate_opts *o = &sim->opts;
  sim->finished = t >= o->t_end - ga__sim_time_resolution(sim);
  sim->next_time = 0;
  while (sim->next_time < o->n_output_times && o->output_times[sim->next_time] <= t) sim->next_time++;
  sim->next_every = sim->finished ? -1.0 : 0.0;
  if (o->output_every > 0.0 && !sim->finished) {
    sim->next_every = floor((t - sim->t0) / o->output_every);
    while (sim->t0 + sim->next_every * o->output_every <= t) sim->next_every += 1.0;
  }
}
