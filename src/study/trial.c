/* One run of a model: read with its parameters, simulated, measured. */
#include "study/study_impl.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- The model and its settings ---- */

/* Values of the settings that are given, in place of the model's. */
static ga_status take_settings(ga_context *ctx, const ga__trial *t, ga_run_settings *out)
{
  int step = 0, tolerance = 0, accuracy = 0;
  for (int i = 0; i < t->n_given; i++) {
    ga_setting at;
    if (!ga_setting_find(t->given[i], &at))
      return ga__study_refuse(ctx, "setting", t->given[i], NULL, NULL, "there is no such setting");
    const size_t size = at.type == GA_SETTING_NUMBER ? sizeof(double) : sizeof(int);
    memcpy((char *)out + at.offset, (const char *)t->settings + at.offset, size);
    step |= strcmp(at.name, "step") == 0;
    tolerance |= strcmp(at.name, "tolerance") == 0;
    accuracy |= strcmp(at.name, "accuracy") == 0;
  }
  if (t->n_given) ga_run_choose_steps(out, step, tolerance, accuracy);
  return ga_run_check(ctx, out);
}

ga_status ga__trial_open(ga_context *ctx, const ga__trial *t, int n_set, const char *const *set,
                         ga_model **out, ga_run_settings *settings)
{
  ga_model_opts opts = ga_model_defaults();
  opts.n_set = n_set;
  opts.set = set;
  opts.allow_library = t->allow_library;
  opts.without_meshes = 1;
  const ga_status status = ga_model_read_file(ctx, t->model, &opts, out);
  if (status) return status;
  *settings = *ga_model_settings(*out);
  return take_settings(ctx, t, settings);
}

void ga__trial_note(ga__outcome *out, const char *text)
{
  if (!*out->text) ga__cut_text(out->text, sizeof out->text, text);
}

/* ---- A run in progress ---- */

typedef struct run {
  ga_context *ctx;
  const ga__trial *t;
  const ga_machine *machine;
  const volatile int *stop;
  ga__outcome *out;
  ga_stepper *stepper;
  ga_simulator *simulator;
  ga_meter *meter;
  ga_event_watch *events;
  ga_measures *measures;
  int *signal;          /* [n_signals] */
  ga__derived *derived; /* NULL: derivatives are not wanted */
  ga_sensitivity *se;
  ga_measure_by *by;
  double *within;     /* q, v, ... of a state within a step */
  int next_derived;   /* of the times */
  double from;        /* [s] beginning of the present step */
  ga_event_variants *variants;
  int started, ended; /* ended 1: by an event */
  int next;           /* of the times */
  ga_status status;   /* of callbacks */
} run;

static ga_status derive_step(run *r);
static ga_status derive_until_now(run *r);

/* A state at one of the times. */
static int on_output(void *user, const ga_state *s)
{
  run *r = user;
  const ga__trial *t = r->t;
  double value[64];
  while (r->next < t->n_times && t->times[r->next] < s->t) r->next++; /* before the start */
  if (r->next >= t->n_times) return 0;
  if (r->started) r->status = ga_meter_follow(r->meter, r->stepper);
  if (!r->status)
    r->status =
        ga_machine_signals(r->machine, r->started ? r->meter : NULL, s, t->n_signals, r->signal, value);
  for (int i = 0; i < t->n_signals && !r->status; i++)
    r->out->series[(size_t)i * (size_t)t->n_times + (size_t)r->next] = value[i];
  r->next++;
  return r->status != GA_OK;
}

/* An event that changes the motion: the step that leads to it can be seen inside now, but not later. */
static int on_event(void *user, int event, const ga_state *s)
{
  run *r = user;
  (void)s;
  if (r->status) return 1; /* another event at the same time has failed */
  if (!ga_machine_event_changes(r->machine, event) || !r->started) return 0;
  r->status = derive_step(r);
  if (!r->status) r->status = ga_meter_follow(r->meter, r->stepper);
  if (!r->status) r->status = ga_measures_step(r->measures, r->stepper, r->meter);
  if (!r->status) r->status = derive_until_now(r);
  if (!r->status) r->status = ga_meter_update(r->meter, ga_stepper_state(r->stepper));
  return r->status != GA_OK;
}

/* ---- Derivatives ---- */

/* A failure of derivatives, not of the run. */
static ga_status refuse_derivatives(run *r, ga_status status)
{
  if (status && status != GA_ERR_MEMORY) {
    r->derived->refused = 1;
    if (!*r->derived->text)
      ga__cut_text(r->derived->text, sizeof r->derived->text, ga_context_error(r->ctx)->text);
  }
  return status;
}

static ga_status create_derivatives(run *r, const ga_run_settings *settings)
{
  const ga__derived *d = r->derived;
  const ga_system *sys = ga_machine_system(r->machine);
  const size_t room =
      (size_t)ga_group_nq(ga_system_group(sys)) + 2 * (size_t)ga_system_size(sys, GA_BLOCK_V) +
      (size_t)ga_system_size(sys, GA_BLOCK_LAMBDA) + (size_t)ga_system_size(sys, GA_BLOCK_PSI) +
      (size_t)ga_system_size(sys, GA_BLOCK_X) + (size_t)ga_system_size(sys, GA_BLOCK_Y);
  ga_parameter *list = ga__alloc(r->ctx, (size_t)d->n, sizeof *list);
  r->by = ga__alloc(r->ctx, (size_t)d->n, sizeof *r->by);
  r->within = ga__alloc(r->ctx, room + (size_t)r->t->n_signals + 1, sizeof *r->within);
  ga_status status = list && r->by && r->within ? GA_OK : ga__no_memory(r->ctx, "derivatives of a run");
  for (int j = 0; j < d->n && !status; j++) {
    status = ga_model_variation_check_span(d->by[j], settings->t_start, settings->t_end);
    list[j] = *ga_model_variation_parameter(d->by[j]);
    r->by[j] = (ga_measure_by){d->by[j], d->parameter ? d->parameter[j] : -1};
  }
  if (!status) status = ga_sensitivity_create(r->ctx, r->stepper, d->n, list, &r->se);
  if (!status) status = ga_model_variation_events(r->ctx, r->machine, d->n, d->by, &r->variants);
  if (!status && r->variants) {
    const ga_event_rule rule = ga_event_variants_rule(r->variants);
    status = ga_sensitivity_use_events(r->se, &rule);
  }
  if (!status && r->t->n_measures > 0) status = ga_measures_differentiate(r->measures, r->se, d->n, r->by);
  ga__free(r->ctx, list);
  return refuse_derivatives(r, status);
}

/* Slopes of the signals at one of the times, which lies within the last step. */
static ga_status derive_signals(run *r, int which)
{
  const ga__trial *t = r->t;
  const ga__derived *d = r->derived;
  const ga_system *sys = ga_machine_system(r->machine);
  const size_t sizes[] = {
      (size_t)ga_group_nq(ga_system_group(sys)), (size_t)ga_system_size(sys, GA_BLOCK_V),
      (size_t)ga_system_size(sys, GA_BLOCK_V),   (size_t)ga_system_size(sys, GA_BLOCK_LAMBDA),
      (size_t)ga_system_size(sys, GA_BLOCK_PSI), (size_t)ga_system_size(sys, GA_BLOCK_X),
      (size_t)ga_system_size(sys, GA_BLOCK_Y)};
  ga_state s = *ga_stepper_state(r->stepper);
  double *part[7], *at = r->within;
  const double time = t->times[which];
  const int inside = time != s.t;
  ga_status status = GA_OK;
  for (int i = 0; i < 7; i++) part[i] = at, at += sizes[i];
  double *slope = at;
  if (inside) {
    status = ga_stepper_interpolate(r->stepper, time, part[0], part[1], part[2], part[3], part[4], part[5],
                                    part[6]);
    s.t = time, s.q = part[0], s.v = part[1], s.vdot = part[2], s.lambda = part[3], s.psi = part[4];
    s.x = part[5], s.y = part[6];
  }
  for (int j = 0; j < d->n && !status; j++) {
    const ga_machine *others[GA_PARAMETER_VALUES];
    const ga_state *g = ga_sensitivity_at(r->se, j);
    for (int k = 0; k < GA_PARAMETER_VALUES; k++) others[k] = ga_model_variation_machine(d->by[j], k);
    if (inside) status = ga_sensitivity_inside(r->se, j, time, &g);
    if (status) break;
    const ga_direction along = {g->q, g->v, g->vdot, g->lambda, g->psi, g->x, g->y};
    status = ga_machine_signal_sensitivities(r->machine, others, ga_model_variation_parameter(d->by[j])->step,
                                             &s, &along, t->n_signals, r->signal, slope);
    for (int i = 0; i < t->n_signals && !status; i++)
      d->series[((size_t)j * (size_t)t->n_signals + (size_t)i) * (size_t)t->n_times + (size_t)which] =
          slope[i];
  }
  return status;
}

/* The last step, or the restart behind it. */
static ga_status derive_step(run *r)
{
  return r->derived ? refuse_derivatives(r, ga_sensitivity_step(r->se)) : GA_OK;
}

/* A value at a given time has no derivative where an event that parameters move happens just then. */
static ga_status check_time(run *r, double t)
{
  const double now = ga_stepper_state(r->stepper)->t, close = 1e-9 * fmax(fabs(now), now - r->from);
  int moves = 0;
  for (int j = 0; j < r->derived->n; j++) moves |= ga_sensitivity_time(r->se, j) != 0.0;
  if (!moves || fabs(t - now) > close || ga_sensitivity_place(r->se) != GA_PLACE_EVENT) return GA_OK;
  r->derived->refused = 1;
  snprintf(r->derived->text, sizeof r->derived->text,
           "an event happens exactly at t = %.9g s, where a value is wanted, and parameters move it", t);
  return ga__refuse(r->ctx, GA_ERR_DERIVATIVE, GA_REASON_NO_SENSITIVITY,
                    &(ga__facts){.at = &(ga__fact_time){t, NAN, -1, -1},
                                 .kind = "sensitivities",
                                 .detail = r->derived->text});
}

/* Up to the end of the last step, which began at r->from; at the start: from < t. */
static ga_status derive_until_now(run *r)
{
  const ga__trial *t = r->t;
  const double now = ga_stepper_state(r->stepper)->t;
  ga_status status = GA_OK;
  if (!r->derived) return GA_OK;
  while (r->next_derived < t->n_times && t->times[r->next_derived] < r->from) r->next_derived++;
  for (; r->next_derived < t->n_times && t->times[r->next_derived] <= now && !status; r->next_derived++) {
    status = check_time(r, t->times[r->next_derived]);
    if (!status) status = derive_signals(r, r->next_derived);
  }
  if (!status && r->next_derived < t->n_times) status = check_time(r, t->times[r->next_derived]);
  return refuse_derivatives(r, status);
}

/* Those of measures. */
static ga_status finish_derivatives(run *r)
{
  ga__derived *d = r->derived;
  const int n = r->t->n_measures;
  double *slope = n > 0 ? ga__alloc(r->ctx, (size_t)d->n, sizeof *slope) : NULL;
  if (n > 0 && !slope) return ga__no_memory(r->ctx, "derivatives of a run");
  ga_status status = GA_OK;
  for (int i = 0; i < n && !status; i++) {
    const char *note = ga_measures_slope_note(r->measures, i);
    status = ga_measures_slopes(r->measures, i, slope);
    for (int j = 0; j < d->n; j++) d->measures[(size_t)j * (size_t)n + (size_t)i] = slope[j];
    if (note && *note && !*d->text) {
      const int missing = isnan(slope[0]);
      snprintf(d->text, sizeof d->text, "%s: %s", r->t->measures[i], note);
      d->refused |= missing;
    }
    for (int j = 0; j < d->n; j++) d->refused |= !isfinite(slope[j]);
  }
  ga__free(r->ctx, slope);
  return status;
}

static ga_status find_signals(run *r)
{
  r->signal = ga__alloc(r->ctx, (size_t)r->t->n_signals + 1, sizeof *r->signal);
  if (!r->signal) return ga__no_memory(r->ctx, "signals of a run");
  for (int i = 0; i < r->t->n_signals; i++) {
    r->signal[i] = ga_machine_find_signal(r->machine, r->t->signals[i]);
    if (r->signal[i] < 0)
      return ga__study_refuse(r->ctx, "signal", r->t->signals[i], NULL, NULL,
                              "the model has none of this name");
  }
  return GA_OK;
}

static ga_status create(run *r, const ga_run_settings *settings, int n_parameters,
                        const ga_study_parameter *parameters)
{
  const ga_system *sys = ga_machine_system(r->machine);
  ga_stepper_opts stepper;
  ga_simulate_opts o = ga_simulate_defaults();
  ga_status status = ga_run_stepper_opts(r->ctx, settings, &stepper);
  if (!status) status = ga_stepper_create(r->ctx, sys, &stepper, &r->stepper);
  if (!status) status = ga_run_simulate_opts(r->ctx, settings, &o);
  if (status) return status;
  /* an absolute tolerance that is not given must not exceed what a small machine can move by */
  const double size = ga_machine_size(r->machine);
  if (settings->atol == 0.0 && size > 0.0) o.atol = fmin(o.atol, o.rtol * size);
  o.output_every = 0.0;
  o.n_output_times = r->t->n_times;
  o.output_times = r->t->times;
  o.output = r->t->n_times > 0 ? on_output : NULL;
  o.user = r;
  if (ga_machine_n_events(r->machine) > 0) {
    status = ga_event_watch_create(r->ctx, r->machine, on_event, r, &r->events);
    if (!status) ga_event_watch_use(r->events, &o);
  }
  if (!status) status = ga_simulator_create(r->ctx, r->stepper, &o, &r->simulator);
  if (!status) status = ga_meter_create(r->ctx, r->machine, &r->meter);
  if (!status) status = find_signals(r);
  if (!status)
    status = ga_measures_create(r->ctx, r->machine, r->t->n_measures, r->t->measures, n_parameters,
                                parameters, NULL, &r->measures);
  return !status && r->derived ? create_derivatives(r, settings) : status;
}

/* Replaces positions and states by those of a static equilibrium. */
static ga_status start_at_rest(run *r, const ga_run_settings *settings, double *q, double *v, double *x,
                               double *lambda, double *psi)
{
  const ga_system *sys = ga_machine_system(r->machine);
  ga_equilibrium_opts opts = ga_equilibrium_defaults();
  ga_equilibrium *eq = NULL;
  opts.lu = settings->linear_solver;
  opts.max_change = settings->max_change;
  opts.hold_free = 1;
  ga_status status = ga_equilibrium_create(r->ctx, sys, &opts, &eq);
  if (!status) status = ga_equilibrium_solve(eq, settings->t_start, q, x, NULL);
  if (!status) {
    const ga_state *at = ga_equilibrium_state(eq);
    status = ga_machine_move_velocities(r->machine, q, at->q, v);
    memcpy(q, at->q, (size_t)ga_group_nq(ga_system_group(sys)) * sizeof *q);
    memcpy(x, at->x, (size_t)ga_system_size(sys, GA_BLOCK_X) * sizeof *x);
    memcpy(lambda, at->lambda, (size_t)ga_system_size(sys, GA_BLOCK_LAMBDA) * sizeof *lambda);
    memcpy(psi, at->psi, (size_t)ga_system_size(sys, GA_BLOCK_PSI) * sizeof *psi);
  }
  for (int j = 0; r->derived && j < r->derived->n && !status; j++)
    status = refuse_derivatives(r, ga_model_variation_settle(r->derived->by[j], eq));
  ga_equilibrium_destroy(&eq);
  return status;
}

static ga_status start(run *r, const ga_run_settings *settings)
{
  const ga_system *sys = ga_machine_system(r->machine);
  const size_t nq = (size_t)ga_group_nq(ga_system_group(sys)), nv = (size_t)ga_system_size(sys, GA_BLOCK_V),
               nx = (size_t)ga_system_size(sys, GA_BLOCK_X),
               n_lambda = (size_t)ga_system_size(sys, GA_BLOCK_LAMBDA),
               n_psi = (size_t)ga_system_size(sys, GA_BLOCK_PSI);
  double *q = ga__alloc(r->ctx, nq + nv + nx + n_lambda + n_psi + 1, sizeof *q);
  if (!q) return ga__no_memory(r->ctx, "initial values");
  double *v = q + nq, *x = v + nv, *lambda = x + nx, *psi = lambda + n_lambda;
  const ga_start_opts opts = ga_run_start_opts(settings);
  ga_status status = ga_machine_check_drives(r->machine, settings->t_start, settings->t_end);
  if (!status) status = ga_machine_initial(r->machine, q, v, x);
  if (!status && settings->from_equilibrium) status = start_at_rest(r, settings, q, v, x, lambda, psi);
  if (!status)
    status = ga_simulator_start(r->simulator, &opts, settings->t_start, q, v, x, lambda, psi, NULL);
  if (!status) status = ga_meter_start(r->meter, ga_stepper_state(r->stepper));
  if (!status && r->derived) status = refuse_derivatives(r, ga_sensitivity_begin(r->se));
  if (!status) status = ga_measures_start(r->measures, r->stepper, r->meter);
  r->from = -INFINITY;
  if (!status) status = derive_until_now(r);
  r->started = !status;
  ga__free(r->ctx, q);
  return status;
}

static ga_status run_steps(run *r)
{
  ga_status status = GA_OK;
  while (!status && !ga_simulator_finished(r->simulator) && !r->ended) {
    if (r->stop && *r->stop) return GA_STOPPED;
    r->from = ga_stepper_state(r->stepper)->t;
    status = ga_simulator_step(r->simulator);
    if (r->status) return r->status;
    if (status < 0) return status;
    if (status && !ga_simulator_finished(r->simulator)) r->ended = 1; /* an event has ended the run */
    status = derive_step(r);
    if (!status) status = ga_meter_follow(r->meter, r->stepper);
    if (!status) status = ga_measures_step(r->measures, r->stepper, r->meter);
    if (!status) status = derive_until_now(r);
    if (!status) status = ga_meter_update(r->meter, ga_stepper_state(r->stepper));
  }
  return status;
}

/* ---- The end ---- */

static void note_pulls(run *r)
{
  const int n = ga_meter_pull_text(r->meter, NULL, 0);
  char text[GA_ERROR_TEXT];
  if (n <= 0) return;
  ga_meter_pull_text(r->meter, text, sizeof text);
  text[strcspn(text, "\n")] = '\0';
  r->out->warnings++;
  ga__trial_note(r->out, text);
}

static ga_status finish(run *r)
{
  char text[GA_ERROR_TEXT];
  ga_status status = ga_measures_end(r->measures, r->out->measures, r->out->scales);
  if (status) return status;
  note_pulls(r);
  for (int i = 0; i < r->t->n_measures; i++) {
    const char *note = ga_measures_note(r->measures, i);
    if (!*note) continue;
    snprintf(text, sizeof text, "%s: %s", r->t->measures[i], note);
    ga__trial_note(r->out, text);
  }
  return r->derived ? finish_derivatives(r) : GA_OK;
}

ga_status ga__trial_run(ga_context *ctx, const ga__trial *t, const ga_model *model,
                        const ga_run_settings *settings, int n_parameters,
                        const ga_study_parameter *parameters, const volatile int *stop, ga__outcome *out,
                        ga__derived *derived)
{
  run r = {
      .ctx = ctx, .t = t, .machine = ga_model_machine(model), .stop = stop, .out = out, .derived = derived};
  for (size_t i = 0; derived && i < (size_t)derived->n * (size_t)t->n_signals * (size_t)t->n_times; i++)
    derived->series[i] = NAN;
  if (derived) derived->refused = 0, derived->text[0] = '\0';
  for (int i = 0; i < t->n_measures; i++) out->measures[i] = NAN;
  for (size_t i = 0; i < (size_t)t->n_signals * (size_t)t->n_times; i++) out->series[i] = NAN;
  ga_status status = create(&r, settings, n_parameters, parameters);
  if (!status) status = start(&r, settings);
  if (!status) status = run_steps(&r);
  if (!status) status = finish(&r);
  ga_measures_destroy(&r.measures);
  ga_sensitivity_destroy(&r.se);
  ga_event_variants_destroy(&r.variants);
  ga__free(ctx, r.by);
  ga__free(ctx, r.within);
  ga__free(ctx, r.signal);
  ga_meter_destroy(&r.meter);
  ga_simulator_destroy(&r.simulator);
  ga_event_watch_destroy(&r.events);
  ga_stepper_destroy(&r.stepper);
  return status;
}
