/* Saving and loading of the simulator. */
#include "core/simulate.h"

#include <float.h>
#include <limits.h>
#include <math.h>

/* Numbers saved after those of the stepper, in this order. Values that follow from t and the options are
 * computed again, so that a run can continue with another t_end or other outputs. */
typedef enum saved_form {
  NUMBER,
  TIME,  /* [s] where it is infinite, the largest number is saved */
  FLAG,  /* int, 0 or 1 */
  COUNT, /* int */
} saved_form;

static const struct {
  size_t place;
  saved_form form;
} SAVED[] = {
#define ROW(member, form)                                                                                    \
  {                                                                                                          \
    offsetof(ga_simulator, member), form                                                                     \
  }
    ROW(opts.n_events, COUNT),
    ROW(t0, NUMBER),
    ROW(h_next, NUMBER),
    ROW(err_old, NUMBER),
    ROW(stopped, FLAG),
    ROW(last_event, COUNT),
    ROW(start.project, FLAG),
    ROW(start.shift_a, FLAG),
    ROW(start.perturb_v, FLAG),
    ROW(start.max_change, NUMBER),
    ROW(start.max_gap, NUMBER),
    ROW(failed_h, NUMBER),
    ROW(wary, NUMBER),
    ROW(wary_span, NUMBER),
    ROW(piece, NUMBER),
    ROW(breaks.passed, NUMBER),
    ROW(breaks.known, FLAG),
    ROW(breaks.next.before, TIME),
    ROW(breaks.next.after, TIME),
    ROW(breaks.next.restart, FLAG),
    ROW(breaks.next.clear, TIME),
    ROW(breaks.next.h_max, TIME),
    ROW(power, NUMBER),
    ROW(hidden_credit, NUMBER),
    ROW(hidden_counted, NUMBER), /* minus the stepper's count of residuals */
    ROW(n_first, COUNT),
    ROW(held, NUMBER),
    ROW(kick_end, NUMBER),
    ROW(edge_gap, NUMBER),
    ROW(edge_last, NUMBER),
    ROW(edge_h, NUMBER),
    ROW(edge_quick, NUMBER),
    ROW(edge_pause, NUMBER),
    ROW(edge_brief, NUMBER),
    ROW(force_size[GA_BLOCK_V], NUMBER),
    ROW(force_size[GA_BLOCK_LAMBDA], NUMBER),
    ROW(force_size[GA_BLOCK_PSI], NUMBER),
    ROW(force_size[GA_BLOCK_Y], NUMBER),
#undef ROW
};
enum { N_SAVED = sizeof SAVED / sizeof *SAVED };

enum { SAVED_EVENTS = 0, SAVED_H_NEXT = 2 }; /* rows that are checked before loading */

/* Arrays that follow: g of every event, its last time, the time between its last two occurrences; then
 * `strict`. */
enum { N_ARRAYS = 4 };
typedef struct saved_array {
  double *array;
  int length;
} saved_array;

static void list_arrays(const ga_simulator *sim, saved_array list[N_ARRAYS])
{
  const int n = sim->opts.n_events;
  list[0] = (saved_array){sim->g, n};
  list[1] = (saved_array){sim->fired, n};
  list[2] = (saved_array){sim->since, n};
  list[3] = (saved_array){sim->strict, sim->st->sys->nv};
}

static int count_saved(const ga_simulator *sim)
{
  saved_array list[N_ARRAYS];
  int n = N_SAVED;
  list_arrays(sim, list);
  for (int k = 0; k < N_ARRAYS; k++) n += list[k].length;
  return n;
}

static void save_numbers(const ga_simulator *sim, double *s)
{
  ga_simulator copy = *sim;
  copy.hidden_counted -= (double)sim->st->stats.residuals;
  for (int i = 0; i < N_SAVED; i++) {
    const char *from = (const char *)&copy + SAVED[i].place;
    s[i] = SAVED[i].form == NUMBER || SAVED[i].form == TIME ? *(const double *)from : *(const int *)from;
    if (SAVED[i].form == TIME) s[i] = fmin(s[i], DBL_MAX);
  }
}

/* Numbers of a damaged file may be too large for an int. */
static int limit_count(double s, int least, int most)
{
  return s < least ? least : s > most ? most : (int)s;
}

static void load_numbers(ga_simulator *sim, const double *s)
{
  ga__breaks_begin(&sim->breaks, sim->opts.t_end);
  for (int i = 0; i < N_SAVED; i++) {
    char *to = (char *)sim + SAVED[i].place;
    switch (SAVED[i].form) {
    case NUMBER:
      *(double *)to = s[i];
      break;
    case TIME:
      *(double *)to = s[i] < DBL_MAX ? s[i] : INFINITY;
      break;
    case FLAG:
      *(int *)to = s[i] != 0.0;
      break;
    case COUNT:
      *(int *)to = limit_count(s[i], -1, INT_MAX);
      break;
    }
  }
  sim->hidden_counted += (double)sim->st->stats.residuals;
  sim->n_first = limit_count(sim->n_first, 0, GA__FIRST_STEPS);
  if (sim->last_event >= sim->opts.n_events) sim->last_event = -1;
  ga__sim_set_grid(sim);
  sim->st->run_length = ga__sim_run_length(sim);
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
  saved_array list[N_ARRAYS];
  ga_status status = ga_stepper_save(sim->st, saved);
  if (status) return status;
  double *s = saved + ga_stepper_saved_size(sim->st);
  saved[0] = -saved[0];
  save_numbers(sim, s);
  list_arrays(sim, list);
  s += N_SAVED;
  for (int k = 0; k < N_ARRAYS; s += list[k++].length) ga__copy_numbers(s, list[k].array, list[k].length);
  return GA_OK;
}

#define LOAD "ga_simulator_load"

static ga_status refuse(ga_simulator *sim, const char *field, double is, double must_be, const char *detail)
{
  return ga__refuse(
      sim->ctx, GA_ERR_ARGUMENT, GA_REASON_SAVED_STATE,
      &(ga__facts){
          .function = LOAD, .field = field, .detail = detail, GA__NUMBERS({is, NULL}, {must_be, NULL})});
}

static ga_status check_saved(ga_simulator *sim, const double *saved)
{
  ga_status status = ga__check_saved(sim->st, saved);
  if (status) return status;
  if (saved[0] > 0.0)
    return refuse(sim, "the length of the simulator's part", 0.0, count_saved(sim),
                  "Save it by ga_simulator_save().");
  const double *s = saved + ga_stepper_saved_size(sim->st);
  if (s[SAVED_EVENTS] != sim->opts.n_events)
    return refuse(sim, "the number of events", s[SAVED_EVENTS], sim->opts.n_events, NULL);
  int bad = ga__first_bad(s, count_saved(sim));
  if (bad >= 0) return ga__refuse_saved(sim->ctx, LOAD, (size_t)(s - saved) + (size_t)bad, s[bad]);
  double t = ga__saved_time(sim->st, saved);
  if (!(t <= sim->opts.t_end))
    return ga__refuse(sim->ctx, GA_ERR_ARGUMENT, GA_REASON_TIME_OUT_OF_RANGE,
                      &(ga__facts){.function = LOAD,
                                   .field = "t of the saved state",
                                   .expected = "at most t_end",
                                   GA__NUMBERS({t, NULL}, {sim->opts.t_end, NULL})});
  if (!(s[SAVED_H_NEXT] > 0.0))
    return ga__refuse(sim->ctx, GA_ERR_ARGUMENT, GA_REASON_SAVED_STATE,
                      &(ga__facts){.function = LOAD,
                                   .field = "the next step",
                                   .expected = "> 0",
                                   GA__NUMBERS({s[SAVED_H_NEXT], NULL})});
  return GA_OK;
}

ga_status ga_simulator_load(ga_simulator *sim, const double *saved)
{
  if (!sim || !saved) return GA_ERR_ARGUMENT;
  saved_array list[N_ARRAYS];
  ga_status status = check_saved(sim, saved);
  if (!status) status = ga_stepper_load(sim->st, saved);
  if (status) return status;
  const double *s = saved + ga_stepper_saved_size(sim->st);
  load_numbers(sim, s);
  ga__sim_find_next_outputs(sim, sim->st->now.scalar[GA__T]);
  list_arrays(sim, list);
  s += N_SAVED;
  for (int k = 0; k < N_ARRAYS; s += list[k++].length) ga__copy_numbers(list[k].array, s, list[k].length);
  sim->strict_most = -DBL_MAX;
  for (int i = 0; i < sim->st->sys->nv; i++) sim->strict_most = fmax(sim->strict_most, sim->strict[i]);
  return GA_OK;
}
