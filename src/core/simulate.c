/* The simulator: options, memory, and one step: breaks, edges, an accepted step, events, outputs. */
#include "core/arrays.h"
#include "core/sample.h"
#include "core/simulate.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

ga_simulate_opts ga_simulate_defaults(void)
{
  ga_simulate_opts o;
  memset(&o, 0, sizeof o);
  o.rtol = o.rtol_v = o.rtol_x = 1e-4;
  o.atol = o.atol_v = o.atol_x = 1e-6;
  o.defect_points = 1000;
  return o;
}

/* ---- Creation ---- */

#define KIND "simulator"

static ga_status check_times(ga_context *ctx, const char *name, int n, const double *times)
{
  char count[GA_ERROR_WORD];
  snprintf(count, sizeof count, "n_%s", name);
  if (n < 0) return ga__refuse_number(ctx, KIND, count, n, ">= 0");
  if (n > 0 && !times) return ga__refuse_missing(ctx, KIND, count, n, name);
  for (int i = 0; i < n; i++)
    if (!isfinite(times[i]))
      return ga__refuse(
          ctx, GA_ERR_ARGUMENT, GA_REASON_NOT_FINITE,
          &(ga__facts){.kind = KIND, .field = name, .item = i + 1, GA__NUMBERS({times[i], NULL})});
  for (int i = 1; i < n; i++)
    if (!(times[i] > times[i - 1]))
      return ga__refuse(ctx, GA_ERR_ARGUMENT, GA_REASON_NOT_ASCENDING,
                        &(ga__facts){.kind = KIND,
                                     .field = name,
                                     .item = i + 1,
                                     GA__NUMBERS({times[i], NULL}, {times[i - 1], NULL})});
  return GA_OK;
}

static ga_status check_events(ga_context *ctx, const ga_simulate_opts *o)
{
  if (o->n_events < 0) return ga__refuse_number(ctx, KIND, "n_events", o->n_events, ">= 0");
  if (o->n_events > 0 && !o->events) return ga__refuse_missing(ctx, KIND, "n_events", o->n_events, "events");
  if (o->n_events > 0 && !o->event_function)
    return ga__refuse_missing(ctx, KIND, "n_events", o->n_events, "event_function");
  if (o->n_event_inputs < 0) return ga__refuse_number(ctx, KIND, "n_event_inputs", o->n_event_inputs, ">= 0");
  if (o->event_bounds && !o->event_inputs)
    return ga__refuse_missing(ctx, KIND, "n_event_inputs", o->n_event_inputs, "event_inputs");
  for (int i = 0; i < o->n_events; i++) {
    const ga_event *e = &o->events[i];
    char field[GA_ERROR_WORD];
    snprintf(field, sizeof field, "events[%d].direction", i);
    if (e->direction < -1 || e->direction > 1)
      return ga__refuse_number(ctx, KIND, field, e->direction, "-1, 0 or 1");
    snprintf(field, sizeof field, "events[%d].action", i);
    if (e->action < GA_EVENT_RECORD || e->action > GA_EVENT_RESTART)
      return ga__refuse_choice(ctx, KIND, field, (int)e->action, "ga_event_action", GA_EVENT_RESTART);
    if (e->action == GA_EVENT_RESTART && !o->on_event)
      return ga__refuse(
          ctx, GA_ERR_ARGUMENT, GA_REASON_CALLBACK_MISSING,
          &(ga__facts){.kind = KIND, .field = field, .callback = "on_event", .name = "GA_EVENT_RESTART"});
  }
  return GA_OK;
}

static ga_status check_opts(ga_context *ctx, const ga_simulate_opts *o)
{
  const struct {
    const char *name;
    double value;
    int may_be_zero;
  } number[] = {{"fixed_h", o->fixed_h, 1},
                {"h_first", o->h_first, 1},
                {"h_min", o->h_min, 1},
                {"h_max", o->h_max, 1},
                {"rtol", o->rtol, 1},
                {"atol", o->atol, 0},
                {"rtol_v", o->rtol_v, 1},
                {"atol_v", o->atol_v, 0},
                {"rtol_x", o->rtol_x, 1},
                {"atol_x", o->atol_x, 0},
                {"output_every", o->output_every, 1}};
  for (size_t i = 0; i < sizeof number / sizeof *number; i++)
    if (!(number[i].value >= 0.0 && isfinite(number[i].value)) ||
        (number[i].value == 0.0 && !number[i].may_be_zero))
      return ga__refuse_number(ctx, KIND, number[i].name, number[i].value,
                               number[i].may_be_zero ? "0 or positive" : "positive");
  if (o->h_max > 0.0 && o->h_min > o->h_max)
    return ga__refuse(ctx, GA_ERR_ARGUMENT, GA_REASON_OUT_OF_RANGE,
                      &(ga__facts){.kind = KIND,
                                   .field = "h_min",
                                   .expected = "at most h_max",
                                   GA__NUMBERS({o->h_min, NULL}, {o->h_max, NULL})});
  if (!isfinite(o->t_end))
    return ga__refuse(ctx, GA_ERR_ARGUMENT, GA_REASON_NOT_FINITE,
                      &(ga__facts){.kind = KIND, .field = "t_end", GA__NUMBERS({o->t_end, NULL})});
  if (o->error < GA_PER_STEP || o->error > GA_PER_UNIT_STEP_FILTERED)
    return ga__refuse_choice(ctx, KIND, "error", (int)o->error, "ga_error_mode", GA_PER_UNIT_STEP_FILTERED);
  if (o->norm != GA_NORM_MAX && o->norm != GA_NORM_RMS)
    return ga__refuse_choice(ctx, KIND, "norm", (int)o->norm, "ga_error_norm", GA_NORM_RMS);
  ga_status status = check_times(ctx, "output_times", o->n_output_times, o->output_times);
  if (!status) status = check_times(ctx, "breaks", o->n_breaks, o->breaks);
  if (status) return status;
  if (o->defect_points < 0)
    return ga__refuse_number(ctx, KIND, "defect_points", o->defect_points, "0 or positive");
  return check_events(ctx, o);
}

static ga_status take_memory(ga_simulator *sim)
{
  const ga_system *sys = sim->st->sys;
  size_t n = (size_t)sim->opts.n_events, n_inputs = (size_t)sim->opts.n_event_inputs;
  const size_t n_hidden = sys->def.hidden && sim->opts.defect_points > 0 ? ga__sim_hidden_room(sys) : 0;
  const size_t n_ring =
      sim->opts.fixed_h > 0.0 && ga__may_ring(sim->st) ? (size_t)sys->size[GA_BLOCK_LAMBDA] : 0;
  const ga__array need[] = {{&sim->ringing.last, n_ring},
                            {&sim->ringing.slope, n_ring},
                            {&sim->ringing.bend, n_ring},
                            {&sim->g, n},
                            {&sim->g_new, n},
                            {&sim->g_at, n},
                            {&sim->g_begin, n},
                            {&sim->g_inside, (GA__EVENT_PARTS - 1) * n},
                            {&sim->u_inside, (GA__EVENT_PARTS + 1) * n_inputs},
                            {&sim->u_ends, (GA__EVENT_DEPTH + 3) * n_inputs},
                            {&sim->u_range, 2 * n_inputs},
                            {&sim->hides, 2 * n},
                            {&sim->unsure, n},
                            {&sim->from, n},
                            {&sim->when, n},
                            {&sim->fired, n},
                            {&sim->since, n},
                            {&sim->strict, (size_t)sys->nv},
                            {&sim->weight, (size_t)sys->nv},
                            {&sim->off, (size_t)(sys->nv + sys->size[GA_BLOCK_X])},
                            {&sim->off_room, ga__defect_room(sys)},
                            {&sim->off_y, (size_t)sys->size[GA_BLOCK_Y]},
                            {&sim->backup, sim->st->state_length},
                            {&sim->q, (size_t)sys->nq},
                            {&sim->v, (size_t)sys->nv},
                            {&sim->vdot, (size_t)sys->nv},
                            {&sim->lambda, (size_t)sys->size[GA_BLOCK_LAMBDA]},
                            {&sim->psi, (size_t)sys->size[GA_BLOCK_PSI]},
                            {&sim->x, (size_t)sys->size[GA_BLOCK_X]},
                            {&sim->xdot, (size_t)sys->size[GA_BLOCK_X]},
                            {&sim->y, (size_t)sys->size[GA_BLOCK_Y]},
                            {&sim->hidden, n_hidden}};
  ga_status status = ga__arrays_create(sim->ctx, GA__ARRAYS(need), "a simulator", &sim->block, NULL);
  if (!n_hidden) sim->hidden = NULL;
  if (!n_ring) sim->ringing.last = NULL;
  if (!status) status = ga__sides_create(sim->ctx, sys, &sim->opts, &sim->sides);
  if (status) return status;
  sim->events = ga__alloc(sim->ctx, n, sizeof *sim->events);
  if (!sim->events) return ga__no_memory(sim->ctx, "a simulator");
  if (n) memcpy(sim->events, sim->opts.events, n * sizeof *sim->events);
  return GA_OK;
}

ga_status ga_simulator_create(ga_context *ctx, ga_stepper *st, const ga_simulate_opts *opts,
                              ga_simulator **out)
{
  if (out) *out = NULL;
  if (!ctx) return GA_ERR_ARGUMENT;
  if (!out || !st || !opts) return ga__refuse_null(ctx, __func__, !out ? "out" : !st ? "st" : "opts");
  if (st->ctx != ctx)
    return ga__refuse(ctx, GA_ERR_ARGUMENT, GA_REASON_OTHER_CONTEXT,
                      &(ga__facts){.function = __func__, .field = "st"});
  ga_status status = check_opts(ctx, opts);
  if (status) return status;
  ga_simulator *sim = ga__alloc(ctx, 1, sizeof *sim);
  if (!sim) return ga__no_memory(ctx, "a simulator");
  sim->ctx = ctx;
  sim->st = st;
  sim->opts = *opts;
  sim->last_event = -1;
  st->meets_samples = 1;
  ga__sim_begin_order(st, opts, 1.0);
  sim->breaks = (ga__breaks){.sys = st->sys, .n_times = opts->n_breaks, .times = opts->breaks};
  if ((status = take_memory(sim)))
    ga_simulator_destroy(&sim);
  else
    *out = sim;
  return status;
}

void ga_simulator_destroy(ga_simulator **sim)
{
  if (!sim || !*sim) return;
  ga_simulator *s = *sim;
  ga_context *ctx = s->ctx;
  ga__free(ctx, s->events);
  ga__free(ctx, s->block);
  ga__sides_free(&s->sides);
  ga__free(ctx, s);
  *sim = NULL;
}

void ga__sim_count_step(ga_simulator *sim, double h, double err)
{
  ga_simulate_stats *s = &sim->stats;
  s->steps++;
  s->h_smallest = s->steps == 1 || h < s->h_smallest ? h : s->h_smallest;
  s->h_largest = fmax(s->h_largest, h);
  s->worst_error = fmax(s->worst_error, err);
  s->worst_force_error = fmax(s->worst_force_error, sim->force_error);
  s->mean_error += (err - s->mean_error) / (double)s->steps;
}

void ga__sim_uncount_step(ga_simulator *sim, double err)
{
  ga_simulate_stats *s = &sim->stats;
  s->steps--;
  s->mean_error = s->steps > 0 ? s->mean_error + (s->mean_error - err) / (double)s->steps : 0.0;
}

/* No start was found behind a jump. A step over it usually fails, with a more specific error; one that
 * succeeds would continue from an unknown state. The state before is kept. */
static ga_status fail_behind_jump(ga_simulator *sim, double t, ga_status status)
{
  const ga_error why = sim->ctx->error;
  char text[GA_ERROR_TEXT];
  double err;
  const ga_status stepped = ga__sim_make_accepted_step(sim, &err);
  if (stepped) return stepped;
  ga__sim_restore_backup(sim);
  ga_error_say(&why, GA_SAY_ALL, text, sizeof text);
  return ga__refuse(sim->ctx, status < 0 ? status : GA_ERR_STEP, GA_REASON_NO_STATE_AFTER_JUMP,
                    &(ga__facts){.at = &(ga__fact_time){t, NAN, why.block, why.index},
                                 .equation = why.equation,
                                 .detail = text});
}

#define JUMP_EARLY (2.0 * DBL_EPSILON)

/* Handles the breaks at the current state. *restarted: the equations jump there, and the state is now
 * behind the jump. */
static ga_status handle_breaks(ga_simulator *sim, int *restarted)
{
  ga__breaks *b = &sim->breaks;
  const double t = sim->st->now.scalar[GA__T], cut = sim->opts.fixed_h > 0.0 ? sim->h_next : 0.0;
  const double passed = b->passed;
  double first = INFINITY;
  int jumps = 0;
  ga_status status;
  *restarted = 0;
  while (!(status = ga__sim_find_next_break(sim, fmax(t, b->passed))) &&
         b->next.before <= t + ga__sim_break_width(sim, t) && !ga__sim_ends_in_break(sim)) {
    jumps |= b->next.restart;
    first = fmin(first, b->next.before);
    sim->stats.breaks++;
    ga__breaks_pass(b);
    sim->piece = t;
  }
  if (status || !jumps) return status;
  ga__sim_copy_state(sim, &sim->st->view);
  /* the time of a jump is known to rounding: a follower takes it to be later, and error bars show the
   * difference */
  ga__extrapolate_motion(sim->st, b->passed, JUMP_EARLY * fabs(b->passed), sim->q, sim->v, sim->x);
  status = ga__sample(sim->st, fmax(first, passed), b->passed, sim->q, sim->v, sim->x);
  if (status) return status;
  const double h_next = sim->h_next;
  status =
      ga__sim_restart(sim, fmax(t, b->passed), cut); /* equal steps: up to the end of the step that was cut */
  if (status && status != GA_ERR_MEMORY && status != GA_ERR_CALLBACK) {
    sim->h_next = h_next;
    sim->piece = t;
    if (ga__nothing_jumps(sim->st, fmax(t, b->passed))) return GA_OK;
    if (ga__sim_give_way(sim)) status = ga__sim_restart(sim, fmax(t, b->passed), cut);
  }
  if (status == GA_ERR_MEMORY || status == GA_ERR_CALLBACK) return status;
  if (status) return fail_behind_jump(sim, t, status);
  *restarted = 1;
  return GA_OK;
}

ga_status ga_simulator_start(ga_simulator *sim, const ga_start_opts *start, double t0, const double *q0,
                             const double *v0, const double *x0, const double *lambda_guess,
                             const double *psi_guess, ga_start_report *report)
{
  if (!sim) return GA_ERR_ARGUMENT;
  sim->started = sim->finished = sim->stopped = 0;
  sim->last_event = -1;
  if (!(sim->opts.t_end > t0))
    return ga__refuse(sim->ctx, GA_ERR_ARGUMENT, GA_REASON_TIME_OUT_OF_RANGE,
                      &(ga__facts){.kind = KIND,
                                   .field = "t_end",
                                   .expected = "after the start",
                                   GA__NUMBERS({sim->opts.t_end, NULL}, {t0, NULL})});
  if (sim->opts.output_every > 0.0 && (sim->opts.t_end - t0) / sim->opts.output_every > 1e9)
    return ga__refuse(
        sim->ctx, GA_ERR_ARGUMENT, GA_REASON_TOO_MANY,
        &(ga__facts){.kind = KIND,
                     .field = "outputs",
                     .detail = "raise output_every",
                     GA__NUMBERS({(sim->opts.t_end - t0) / sim->opts.output_every, NULL}, {1e9, NULL})});
  sim->t0 = t0;
  sim->start = start ? *start : ga_start_defaults();
  sim->begins = ga__has_members(sim->st) && sim->opts.fixed_h == 0.0;
  if (sim->begins) ga__member_use(sim->st, 1);
  ga__breaks_begin(&sim->breaks, sim->opts.t_end);
  ga__sim_set_grid(sim);
  sim->st->run_length = ga__sim_run_length(sim);
  memset(&sim->stats, 0, sizeof sim->stats);
  sim->next_every = 0.0;
  sim->next_time = 0;
  sim->edge_gap = sim->edge_h = sim->edge_quick = sim->edge_pause = sim->edge_brief = 0.0;
  sim->edge_last = -DBL_MAX;
  memset(sim->force_size, 0, sizeof sim->force_size);
  sim->warned_sliding = 0;
  for (int i = 0; i < sim->opts.n_events; i++)
    sim->fired[i] = -DBL_MAX, sim->since[i] = DBL_MAX, sim->unsure[i] = 0.0;
  while (sim->next_time < sim->opts.n_output_times && sim->opts.output_times[sim->next_time] < t0)
    sim->next_time++;
  ga_status status = ga__sim_start_stepper(sim, t0, ga__sim_given_first_step(sim), q0, v0, x0, lambda_guess,
                                           psi_guess, report);
  const ga_state *s = ga_stepper_state(sim->st);
  sim->start.a = NULL; /* borrowed for this start */
  if (!status) status = ga__sim_evaluate_events(sim, s, sim->g);
  if (status) return status;
  int restarted;
  unsigned due;
  if (sim->st->sys->def.sample && (status = handle_breaks(sim, &restarted)))
    return status; /* samples at t0 */
  sim->started = 1;
  s = ga_stepper_state(sim->st);
  double t;
  while ((t = ga__sim_next_output(sim, &due)) <= t0) {
    ga__sim_count_output(sim, due, t);
    sim->view = *s, sim->view.t = t; /* behind samples at t0 the state is later by a rounding */
    if (ga__sim_hand_out_state(sim, s->t == t ? s : &sim->view)) {
      sim->stopped = 1;
      return GA_STOPPED;
    }
  }
  return GA_OK;
}

static ga_status after_restart(ga_simulator *sim)
{
  ga__sim_keep_sides_in_jump(sim);
  const ga_status status = ga__sim_outputs_until(sim, sim->st->now.scalar[GA__T]);
  sim->stopped = status == GA_STOPPED;
  const int wish = sim->opts.observer && status >= 0 && sim->opts.observer(sim->opts.user, sim->st);
  return status || !wish ? status : GA_STOPPED;
}

/* Once, after the first step that ends at project_at or later. */
static ga_status project_velocity(ga_simulator *sim, double before)
{
  const double at = sim->opts.project_at, close = 1e-9 * fabs(at);
  if (!(at > 0.0) || !(before < at - close) || sim->st->now.scalar[GA__T] < at - close) return GA_OK;
  return ga_stepper_project_velocity(sim->st, sim->opts.projection, NULL);
}

ga_status ga_simulator_step(ga_simulator *sim)
{
  if (!sim) return GA_ERR_ARGUMENT;
  const double before = sim->started ? sim->st->now.scalar[GA__T] : 0.0;
  if (!sim->started) return ga__refuse_order(sim->ctx, __func__, "after ga_simulator_start()");
  if (sim->finished || sim->stopped || sim->last_event >= 0) return GA_STOPPED;
  double err = 0.0, t_end = sim->opts.t_end;
  int gone, restarted, moved = 0;
  ga__copy_numbers(sim->g_new, sim->g, sim->opts.n_events);
  ga_status status = handle_breaks(sim, &restarted);
  if (!status && !restarted) status = ga__sim_pass_edge(sim, &moved, &restarted);
  if (!status && !restarted && !moved) status = ga__sim_choose_rule(sim);
  if (!status && !restarted && !moved && ga__sim_wants_member(sim))
    status = ga__sim_change_member(sim, &restarted);
  if (!status && !restarted && !moved) status = ga__sim_make_accepted_step(sim, &err);
  if (status == GA__AT_EDGE) {
    status = ga__sim_pass_edge(sim, &moved, &restarted);
    if (!status && !moved)
      sim->edge_pause = 1.0, status = ga__sim_make_accepted_step(sim, &err); /* the end is nearer */
  }
  if (status == GA_ERR_STEP && !moved) status = ga__sim_fall_back(sim, status, &restarted);
  if (!status && restarted) return after_restart(sim);
  if (status) return status;
  sim->st->busy = 1; /* until all outputs and events of the step have been reported */
  status = ga__sim_handle_events(sim, err, &gone);
  if (!gone && !moved) {
    ga__sim_count_step(sim, sim->st->now.scalar[GA__H_OLD], err);
    sim->edge_pause = fmax(sim->edge_pause - 1.0, 0.0);
    ga__ringing_watch(&sim->ringing, sim->st, &sim->stats);
    if (sim->st->now.scalar[GA__H_OLD] >= sim->edge_brief) sim->edge_brief = 0.0;
  }
  if (gone) sim->edge_gap = 0.0;
  double t = sim->st->now.scalar[GA__T];
  int at_end = ga__sim_is_end(sim, t);
  if (!status && !gone) ga__copy_numbers(sim->g, sim->g_new, sim->opts.n_events);
  if (!status && (!gone || at_end)) status = ga__sim_outputs_until(sim, at_end ? fmax(t, t_end) : t);
  sim->st->busy = 0;
  sim->stopped = status == GA_STOPPED;
  if (status < 0) return status;
  const ga_status projected = project_velocity(sim, before);
  if (projected) return projected;
  sim->finished = !status && at_end;
  if (sim->finished && !gone) ga__sensitivities_end(sim->st, sim->opts.n_events, sim->events);
  int wish = sim->opts.observer && sim->opts.observer(sim->opts.user, sim->st);
  return status || sim->finished || wish ? GA_STOPPED : GA_OK;
}

ga_status ga_simulator_run(ga_simulator *sim)
{
  ga_status status;
  do status = ga_simulator_step(sim);
  while (status == GA_OK);
  return status == GA_STOPPED && sim->finished ? GA_OK : status;
}

int ga_simulator_finished(const ga_simulator *sim)
{
  return sim && sim->finished;
}

int ga_simulator_last_event(const ga_simulator *sim)
{
  return sim ? sim->last_event : -1;
}

double ga_simulator_next_step(const ga_simulator *sim)
{
  return sim ? sim->h_next : 0.0;
}

const ga_simulate_stats *ga_simulator_stats(const ga_simulator *sim)
{
  return sim ? &sim->stats : NULL;
}
