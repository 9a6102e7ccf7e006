/* Saving and loading. */
#include "core/simulate.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Numbers that are saved behind those of the stepper, and for every event: its g, when it happened last, and
 * how long after the time before; then `strict`. What follows from t and the
 * options is found anew, so that a run can go on with another t_end or other outputs. */
enum { N_SAVED = 34, PER_EVENT = 3 };

static int count_saved(const ga_simulator *sim)
{
  return N_SAVED + PER_EVENT * sim->opts.n_events + sim->st->sys->nv;
}

/* Infinite times are saved as the largest number. */
static double saved_time(double t)
{
  return fmin(t, DBL_MAX);
}

static double loaded_time(double s)
{
  return s < DBL_MAX ? s : INFINITY;
}

static void save_numbers(const ga_simulator *sim, double *s)
{
  const ga_start_opts *o = &sim->start;
  const ga_breakpoint *b = &sim->breaks.next;
  const double number[N_SAVED] = {sim->opts.n_events,
                                  sim->t0,
                                  sim->h_next,
                                  sim->err_old,
                                  sim->stopped,
                                  sim->last_event,
                                  o->project,
                                  o->shift_a,
                                  o->perturb_v,
                                  o->max_change,
                                  o->max_gap,
                                  sim->failed_h,
                                  sim->wary,
                                  sim->wary_span,
                                  sim->piece,
                                  sim->breaks.passed,
                                  sim->breaks.known,
                                  saved_time(b->before),
                                  saved_time(b->after),
                                  b->restart,
                                  saved_time(b->clear),
                                  saved_time(b->h_max),
                                  sim->power,
                                  sim->hidden_credit,
                                  sim->hidden_counted - (double)sim->st->stats.residuals,
                                  sim->n_first,
                                  sim->held,
                                  sim->kick_end,
                                  sim->edge_gap,
                                  sim->edge_last,
                                  sim->edge_h,
                                  sim->edge_quick,
                                  sim->edge_pause,
                                  sim->edge_brief};
  memcpy(s, number, sizeof number);
}

static void load_numbers(ga_simulator *sim, const double *s)
{
  ga_start_opts *o = &sim->start;
  sim->t0 = s[1];
  sim->h_next = s[2];
  sim->err_old = s[3];
  sim->stopped = s[4] != 0.0;
  sim->last_event = s[5] >= 0.0 && s[5] < sim->opts.n_events ? (int)s[5] : -1;
  o->project = s[6] != 0.0;
  o->shift_a = s[7] != 0.0;
  o->perturb_v = s[8] != 0.0;
  o->max_change = s[9];
  o->max_gap = s[10];
  sim->failed_h = s[11];
  sim->wary = s[12];
  sim->wary_span = s[13];
  sim->piece = s[14];
  ga__breaks_begin(&sim->breaks, sim->opts.t_end);
  sim->breaks.passed = s[15];
  sim->breaks.known = s[16] != 0.0;
  sim->breaks.next = (ga_breakpoint){loaded_time(s[17]), loaded_time(s[18]), s[19] != 0.0, loaded_time(s[20]),
                                     loaded_time(s[21])};
  ga__sim_set_grid(sim);
  sim->power = s[22];
  sim->hidden_credit = s[23];
  sim->hidden_counted = s[24] + (double)sim->st->stats.residuals;
  sim->n_first = s[25] < GA__FIRST_STEPS ? (int)s[25] : GA__FIRST_STEPS;
  sim->held = s[26];
  sim->kick_end = s[27];
  sim->edge_gap = s[28];
  sim->edge_last = s[29];
  sim->edge_h = s[30];
  sim->edge_quick = s[31];
  sim->edge_pause = s[32];
  sim->edge_brief = s[33];
  ga__sides_forget(&sim->sides);
  sim->started = 1;
}

size_t ga_simulator_saved_size(const ga_simulator *sim)
{
  return sim ? ga_stepper_saved_size(sim->st) + (size_t)count_saved(sim) : 0;
}

ga_status ga_simulator_save(ga_simulator *sim, double *saved)
{
  if (!sim || !saved) return GA_ERR_ARGUMENT;
  ga_status status = ga_stepper_save(sim->st, saved);
  if (status) return status;
  double *s = saved + ga_stepper_saved_size(sim->st);
  saved[0] = -saved[0];
  save_numbers(sim, s);
  double *const per_event[] = {sim->g, sim->fired, sim->since};
  for (int k = 0; k < PER_EVENT; k++)
    ga__copy_numbers(s + N_SAVED + k * sim->opts.n_events, per_event[k], sim->opts.n_events);
  ga__copy_numbers(s + N_SAVED + PER_EVENT * sim->opts.n_events, sim->strict, sim->st->sys->nv);
  return GA_OK;
}

static ga_status check_saved(ga_simulator *sim, const double *saved)
{
  ga_status status = ga__check_saved(sim->st, saved);
  if (status) return status;
  if (saved[0] > 0.0)
    return ga__fail(sim->ctx, GA_ERR_ARGUMENT,
                    "ga_simulator_load: saved by ga_stepper_save(), with nothing of a simulator behind it");
  const double *s = saved + ga_stepper_saved_size(sim->st);
  if (s[0] != sim->opts.n_events)
    return ga__fail(sim->ctx, GA_ERR_ARGUMENT,
                    "ga_simulator_load: saved with %g events, this simulator has %d", s[0],
                    sim->opts.n_events);
  int bad = ga__first_bad(s, count_saved(sim));
  if (bad >= 0)
    return ga__fail(sim->ctx, GA_ERR_NAN, "ga_simulator_load: number %d of what the simulator saved is %g",
                    bad, s[bad]);
  double t = ga__saved_time(sim->st, saved);
  if (!(t <= sim->opts.t_end) || !(s[2] > 0.0))
    return ga__fail(sim->ctx, GA_ERR_ARGUMENT,
                    "ga_simulator_load: saved at t = %g with a next step of %g; t_end is %g", t, s[2],
                    sim->opts.t_end);
  return GA_OK;
}

ga_status ga_simulator_load(ga_simulator *sim, const double *saved)
{
  if (!sim || !saved) return GA_ERR_ARGUMENT;
  ga_status status = check_saved(sim, saved);
  if (!status) status = ga_stepper_load(sim->st, saved);
  if (status) return status;
  const double *s = saved + ga_stepper_saved_size(sim->st);
  load_numbers(sim, s);
  ga__sim_find_next_outputs(sim, sim->st->now.scalar[GA__T]);
  double *const per_event[] = {sim->g, sim->fired, sim->since};
  for (int k = 0; k < PER_EVENT; k++)
    ga__copy_numbers(per_event[k], s + N_SAVED + k * sim->opts.n_events, sim->opts.n_events);
  ga__copy_numbers(sim->strict, s + N_SAVED + PER_EVENT * sim->opts.n_events, sim->st->sys->nv);
  sim->strict_most = -DBL_MAX;
  for (int i = 0; i < sim->st->sys->nv; i++) sim->strict_most = fmax(sim->strict_most, sim->strict[i]);
  return GA_OK;
}
