/* Outputs at given times. */
#include "core/simulate.h"

#include <math.h>

ga_status ga__sim_hand_out_state(ga_simulator *sim, const ga_state *s)
{
  sim->stats.outputs++;
  return sim->opts.output && sim->opts.output(sim->opts.user, s) ? GA_STOPPED : GA_OK;
}

double ga__sim_next_output(const ga_simulator *sim, int *which)
{
  const ga_simulate_opts *o = &sim->opts;
  double every = HUGE_VAL, listed = HUGE_VAL;
  if (o->output_every > 0.0 && sim->next_every >= 0.0) {
    every = sim->t0 + sim->next_every * o->output_every;
    if (sim->next_every > 0.0 && every > o->t_end - 1e-9 * o->output_every) every = o->t_end;
  }
  if (sim->next_time < o->n_output_times) listed = o->output_times[sim->next_time];
  *which = listed < every;
  return fmin(every, listed);
}

void ga__sim_count_output(ga_simulator *sim, int which, double t)
{
  const ga_simulate_opts *o = &sim->opts;
  if (!which) sim->next_every = t >= o->t_end ? -1.0 : sim->next_every + 1.0;
  if (which || (sim->next_time < o->n_output_times && o->output_times[sim->next_time] == t)) sim->next_time++;
}

ga_status ga__sim_outputs_until(ga_simulator *sim, double t)
{
  const ga_stepper *st = sim->st;
  int which;
  double when;
  while ((when = ga__sim_next_output(sim, &which)) <= t) {
    int here = when >= st->now.scalar[GA__T] || !st->can_undo;
    ga__sim_count_output(sim, which, when);
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
