/* Starts of the simulator, and restarts behind jumps, events and edges. */
#include "core/simulate.h"
#include "core/start.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* 1: equal steps are too long for a stiff motion: accelerations shortly after the start cannot be computed;
 * the run begins with those at the start alone. */
static int is_too_stiff(const ga_simulator *sim, const ga_start_opts *s, ga_status status)
{
  return sim->opts.fixed_h > 0.0 && s->shift_a && status > 0;
}

/* The same where they can be had, but change within a step by far more than they are: those of a damped stiff
 * motion, which no step follows. Without the shift positions are right. */
#define FAST 10.0

static int is_too_fast(const ga_simulator *sim, const ga_start_opts *s, const ga_start_report *r)
{
  return sim->opts.fixed_h > 0.0 && s->shift_a && r->jerk_change > FAST;
}

/* The start itself; `begun`: there is one with another h. */
static ga_status start_with(ga_simulator *sim, const ga_start_opts *s, int begun, double t, const double *q,
                            const double *v, const double *x, const double *lambda, const double *psi,
                            ga_start_report *report)
{
  ga_stepper *st = sim->st;
  int done = 0;
  const ga_status status = begun ? ga__start_resize(st, s, report, &done) : GA_OK;
  return status || done ? status : ga_stepper_start(st, s, t, q, v, x, lambda, psi, report);
}

ga_status ga__sim_start_stepper(ga_simulator *sim, double t, double h_given, const double *q, const double *v,
                                const double *x, const double *lambda, const double *psi,
                                ga_start_report *report)
{
  const ga_simulate_opts *o = &sim->opts;
  ga_start_opts s = sim->start;
  ga_start_report unused;
  if (!report) report = &unused;
  const ga_status found = ga__sim_find_next_break(sim, t);
  if (found) return found;
  const int jumps = sim->breaks.next.before <= t; /* a jump exactly here, if not just before */
  sim->piece = t;
  double room = fmax((jumps ? o->t_end : ga__sim_stop_time(sim)) - t, ga__sim_least_step(sim));
  int chosen = h_given > 0.0, begun = 0;
  ga__sim_warn_aliasing(sim, t);
  const int behind = sim->breaks.passed == t;
  s.forward = s.forward || jumps || behind || sim->behind_edge;
  ga__sides_forget(&sim->sides);
  if (behind) s.max_change = HUGE_VAL; /* velocities may jump by any amount if that is accepted */
  s.h = fmin(chosen ? h_given : 1e-3 * ga__sim_run_length(sim), room);
  for (;;) {
    const int provisional = sim->st->provisional = !chosen || sim->begins;
    sim->st->steps_adapt = o->fixed_h == 0.0;
    ga_status status = start_with(sim, &s, begun, t, q, v, x, lambda, psi, report);
    sim->st->on_grid = o->fixed_h > 0.0;
    sim->st->regular = o->fixed_h;
    sim->st->of_last = 0.0;
    sim->st->to_end = 0;
    sim->st->provisional = sim->st->steps_adapt = 0;
    if (status < 0) return status;
    if (is_too_stiff(sim, &s, status)) {
      ga__log(sim->ctx, GA_LOG_WARNING, GA_REASON_STIFF_START,
              &(ga__facts){.at = &(ga__fact_time){t, s.h, -1, -1}});
      s.shift_a = s.perturb_v = 0;
      continue;
    }
    if (!status && is_too_fast(sim, &s, report)) {
      ga__log(sim->ctx, GA_LOG_DEBUG, GA_REASON_FAST_START,
              &(ga__facts){.at = &(ga__fact_time){t, s.h, -1, -1}, GA__NUMBERS({report->jerk_change, NULL})});
      s.shift_a = s.perturb_v = 0;
      continue;
    }
    if (status > 0) {
      ga__sim_count_rejection(sim, status);
      if (o->fixed_h > 0.0)
        return ga__sim_fail_step(sim, t, "a step failed that may not be smaller than fixed_h", s.h);
      room = s.h *= GA__AFTER_FAILURE;
      if (s.h < ga__sim_least_step(sim))
        return ga__sim_fail_step(sim, t, "the step would fall below h_min", ga__sim_least_step(sim));
      continue;
    }
    sim->h_next = s.h;
    sim->n_first = 0;
    sim->err_old = sim->failed_h = sim->wary = sim->power = sim->held = 0.0;
    ga__sim_reset_questions(sim);
    ga__ringing_reset(&sim->ringing);
    sim->strict_most = sim->kick_end = -DBL_MAX;
    for (int i = 0; i < sim->st->sys->nv; i++) sim->strict[i] = -DBL_MAX;
    if (sim->begins) {
      int second = 0;
      sim->begins = 0;
      if ((status = ga__sim_choose_first_member(sim, &second))) return status;
      ga__member_use(sim->st, second);
    }
    if (!provisional) break;
    begun = 1;
    if (chosen) continue;
    chosen = 1;
    s.h = fmin(ga__sim_choose_first_step(sim), room);
    if (!s.shift_a)
      s.h = fmin(s.h, 1e-3 * ga__sim_run_length(sim)); /* without a jerk there was no basis for the choice */
  }
  ga__sim_begin_stiff(sim);
  return GA_OK;
}

void ga__sim_copy_state(ga_simulator *sim, const ga_state *s)
{
  const ga_system *sys = sim->st->sys;
  ga__copy_numbers(sim->q, s->q, sys->nq);
  ga__copy_numbers(sim->v, s->v, sys->nv);
  ga__copy_numbers(sim->x, s->x, sys->size[GA_BLOCK_X]);
  ga__copy_numbers(sim->lambda, s->lambda, sys->size[GA_BLOCK_LAMBDA]);
  ga__copy_numbers(sim->psi, s->psi, sys->size[GA_BLOCK_PSI]);
}

void ga__sim_restore_backup(ga_simulator *sim)
{
  ga_stepper *st = sim->st;
  memcpy(st->now.block, sim->backup, st->state_length * sizeof(double));
  ga__member_use(st, st->now.scalar[GA__SECOND] != 0.0);
  ga__forget_steps(st);
  st->has_state = 1;
  ga__state_changed(st);
  ga__state_show(st);
}

ga_status ga__sim_restart(ga_simulator *sim, double t, double h_given)
{
  ga_stepper *st = sim->st;
  memcpy(sim->backup, st->now.block, st->state_length * sizeof(double));
  const int changes = st->now.scalar[GA__SECOND] != ga__member_is_second(st);
  ga__start_again(st, sim->behind_edge          ? GA__PASSING
                      : sim->breaks.passed == t ? GA__BEHIND_JUMP
                      : changes                 ? GA__CHANGING
                                                : GA__AFTER_EVENT);
  ga_status status =
      ga__sim_start_stepper(sim, t, h_given, sim->q, sim->v, sim->x, sim->lambda, sim->psi, NULL);
  ga__start_first(st);
  if (st->fell_back) ga__sim_count_rejection(sim, st->fell_back);
  if (status) { /* keep the state before the restart */
    ga__sim_restore_backup(sim);
    return status;
  }
  ga__copy_numbers(st->now.plan, sim->backup + (st->now.plan - st->now.block), GA__N_PLAN);
  status = ga__sim_evaluate_events(sim, &st->view, sim->g);
  for (int i = 0; i < sim->opts.n_events; i++)
    if (sim->fired[i] >= t - ga__sim_time_resolution(sim)) sim->g[i] = 0.0;
  sim->stats.restarts += !status;
  return status;
}
