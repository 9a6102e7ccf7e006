/* galpha sensitivity: a run with the derivatives of its signals by parameters of the model. */
#include "sensitivity.h"

#include "call.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct analysis {
  app_runner run;
  app_by_list by;
  ga_sensitivity *se;
  char *text; /* of names and units */
  const char **names, **units;
  double *low, *high; /* [signals] range of each */
  double *most;       /* [parameters][signals] largest |derivative| */
  double *block;      /* of a state within a step */
  ga_state within;
  long records, next;
  double from;       /* [s] beginning of the present step */
  ga_status refused; /* of derivatives at an event */
} analysis;

/* ---- Names and units of derivatives ---- */

static int name_derivatives(analysis *s)
{
  app_runner *r = &s->run;
  const ga_machine *m = r->s.machine;
  const size_t n = (size_t)r->n, all = n * (size_t)s->by.n;
  size_t longest = APP_DERIVATIVE_UNIT;
  for (int i = 0; i < r->n; i++) {
    const size_t length = strlen(ga_machine_signal_name(m, r->index[i]));
    longest = length > longest ? length : longest;
  }
  longest += 256;
  s->text = malloc(2 * all * longest + 1);
  s->names = calloc(2 * all + 1, sizeof *s->names);
  s->low = calloc(2 * n + 1, sizeof *s->low);
  s->most = calloc(all + 1, sizeof *s->most);
  double *values = realloc(
      r->values,
      (n + all + 1 + (size_t)ga_machine_n_places(m) + 2 * (size_t)ga_machine_n_signals(m)) * sizeof *values);
  if (values) r->values = values;
  if (!s->text || !s->names || !s->low || !s->most || !values)
    return fputs("galpha: out of memory\n", stderr), APP_FAILED;
  s->units = s->names + all;
  s->high = s->low + n;
  char *at = s->text;
  for (int i = 0; i < r->n; i++) s->low[i] = HUGE_VAL, s->high[i] = -HUGE_VAL;
  for (size_t k = 0; k < all; k++) {
    const app_by *p = &s->by.at[k / n];
    const int signal = r->index[k % n];
    char unit[APP_DERIVATIVE_UNIT];
    app_derivative_unit(r->s.ctx, ga_machine_signal_unit(m, signal), p->unit, unit);
    s->names[k] = at;
    at += sprintf(at, "d(%s)/d(%s)", ga_machine_signal_name(m, signal), p->name) + 1;
    s->units[k] = at;
    at += sprintf(at, "%s", unit) + 1;
  }
  r->n_own = (int)all;
  r->own_names = s->names;
  r->own_units = s->units;
  return APP_DONE;
}

/* ---- Records ---- */

static ga_direction direction_of(const ga_state *d)
{
  return (ga_direction){d->q, d->v, d->vdot, d->lambda, d->psi, d->x, d->y};
}

/* The state and its derivatives at the end of the last step, or within it. */
static ga_status record(analysis *s, const ga_state *state, double t, int inside)
{
  app_runner *r = &s->run;
  ga_status status = app_record_values(r, state);
  for (int j = 0; j < s->by.n && !status; j++) {
    const ga_machine *at[GA_PARAMETER_VALUES];
    const ga_state *d = ga_sensitivity_at(s->se, j);
    for (int k = 0; k < GA_PARAMETER_VALUES; k++)
      at[k] = ga_model_variation_machine(s->by.at[j].variation, k);
    if (inside) status = ga_sensitivity_inside(s->se, j, t, &d);
    if (status) break;
    const ga_direction along = direction_of(d);
    double *out = r->values + r->n + (size_t)j * (size_t)r->n;
    status = ga_machine_signal_sensitivities(r->s.machine, at,
                                             ga_model_variation_parameter(s->by.at[j].variation)->step, state,
                                             &along, r->n, r->index, out);
    for (int i = 0; i < r->n && !status; i++)
      s->most[j * r->n + i] = fmax(s->most[j * r->n + i], fabs(out[i]));
  }
  for (int i = 0; i < r->n && !status; i++) {
    s->low[i] = fmin(s->low[i], r->values[i]);
    s->high[i] = fmax(s->high[i], r->values[i]);
  }
  if (status) return status;
  if (!app_record_is_finite(r, t)) return r->written = GA_ERR_NAN;
  if (!r->recorder) r->written = app_record_open(r, 0);
  if (!r->written) r->written = ga_recorder_add(r->recorder, t, r->values);
  s->records++;
  return r->written;
}

static ga_status make_within(analysis *s)
{
  const ga_system *sys = ga_machine_system(s->run.s.machine);
  const size_t nq = (size_t)ga_group_nq(ga_system_group(sys)), nv = (size_t)ga_system_size(sys, GA_BLOCK_V),
               nl = (size_t)ga_system_size(sys, GA_BLOCK_LAMBDA),
               np = (size_t)ga_system_size(sys, GA_BLOCK_PSI), nx = (size_t)ga_system_size(sys, GA_BLOCK_X),
               ny = (size_t)ga_system_size(sys, GA_BLOCK_Y);
  double *at = s->block = calloc(nq + 2 * nv + nl + np + 2 * nx + ny + 1, sizeof *at);
  if (!at) return GA_ERR_MEMORY;
  s->within = (ga_state){.q = at, .v = at + nq, .vdot = at + nq + nv, .lambda = at + nq + 2 * nv};
  s->within.psi = s->within.lambda + nl;
  s->within.x = s->within.psi + np;
  s->within.xdot = s->within.x + nx;
  s->within.y = s->within.xdot + nx;
  return GA_OK;
}

static ga_status record_within(analysis *s, double t)
{
  const ga_state *w = &s->within;
  s->within.t = t;
  const ga_status status =
      ga_stepper_interpolate(s->run.s.stepper, t, (double *)w->q, (double *)w->v, (double *)w->vdot,
                             (double *)w->lambda, (double *)w->psi, (double *)w->x, (double *)w->y);
  return status ? status : record(s, w, t, 1);
}

/* Records at all output times up to the end of the last step, which began at s->from; or of each step. */
static ga_status record_step(analysis *s, int finished)
{
  const ga_run_settings *o = &s->run.s.settings;
  const ga_state *state = ga_stepper_state(s->run.s.stepper);
  const double every = o->output, close = 1e-9 * (state->t - s->from);
  ga_status status = GA_OK;
  if (every == 0.0) return state->t > s->from || !s->records ? record(s, state, state->t, 0) : GA_OK;
  for (;; s->next++) {
    const double t = o->t_start + (double)s->next * every;
    if (status || t > state->t + close || t > o->t_end + 1e-9 * every) break;
    status = t >= state->t - close ? record(s, state, t, 0) : record_within(s, t);
  }
  const double last = o->t_start + (double)(s->next - 1) * every;
  if (!status && finished && last < o->t_end - 1e-9 * every) status = record(s, state, state->t, 0);
  return status;
}

/* ---- Events ---- */

/* An event that changes the motion: the step that leads to it is recorded, and so is the state before its
 * changes. */
static ga_status record_event(analysis *s, const ga_state *state)
{
  app_runner *r = &s->run;
  ga_status status = s->refused = ga_sensitivity_step(s->se);
  if (!status) status = ga_meter_follow(r->meter, r->s.stepper);
  if (!status) status = record_step(s, 0);
  if (!status && ga_recorder_time(r->recorder) < state->t) status = record(s, state, state->t, 0);
  if (!status) status = ga_meter_update(r->meter, state);
  s->from = state->t;
  return status;
}

/* Of an event: the record before it may have an output time that is later by rounding. */
static double event_time(const analysis *s, const ga_state *state)
{
  return s->records > 0 ? fmax(state->t, ga_recorder_time(s->run.recorder)) : state->t;
}

static int on_event(void *user, int event, const ga_state *state)
{
  analysis *s = user;
  app_runner *r = &s->run;
  ga_status status = s->refused; /* another event at the same time may have failed */
  if (!status && ga_machine_event_changes(r->s.machine, event)) {
    if (!r->events.jumped) status = record_event(s, state);
    r->events.jumped = 1;
  }
  if (!status && r->recorder)
    status = r->written = ga_recorder_event(r->recorder, event_time(s, state), event);
  if (status && !s->refused) s->refused = status;
  return status != GA_OK;
}

/* Behind the changes of events. */
static ga_status pass_jump(analysis *s, const ga_state *state)
{
  if (!s->run.events.jumped) return GA_OK;
  s->run.events.jumped = 0;
  return record(s, state, event_time(s, state), 0);
}

/* ---- The run ---- */

static ga_status begin(analysis *s)
{
  app_runner *r = &s->run;
  ga_simulate_opts opts = ga_simulate_defaults();
  ga_parameter *list = calloc((size_t)s->by.n + 1, sizeof *list);
  if (!list) return GA_ERR_MEMORY;
  for (int j = 0; j < s->by.n; j++) list[j] = *ga_model_variation_parameter(s->by.at[j].variation);
  ga_status status = app_events_open(&r->events, &r->s, on_event, s, &opts);
  if (!status) status = app_by_check_span(r, &s->by);
  if (!status) status = app_task_prepare(&r->s, &r->s.settings, &opts);
  if (!status) status = ga_meter_create(ga_machine_context(r->s.machine), r->s.machine, &r->meter);
  if (!status) status = ga_sensitivity_create(r->s.ctx, r->s.stepper, s->by.n, list, &s->se);
  free(list);
  if (!status) status = app_by_use_events(r, &s->by, s->se);
  if (!status) status = app_task_start(&r->s, !app_has(r->a, "quiet"));
  if (!status) status = ga_meter_start(r->meter, ga_stepper_state(r->s.stepper));
  r->metered = !status;
  if (!status) status = ga_sensitivity_begin(s->se);
  return status ? status : make_within(s);
}

/* Of what has failed at an event: the simulator has cleared the message. */
static ga_status say_again(analysis *s)
{
  const ga_status again = s->run.written ? GA_OK : ga_sensitivity_step(s->se);
  return again ? again : s->refused;
}

static ga_status run_steps(analysis *s)
{
  app_runner *r = &s->run;
  const ga_state *state = ga_stepper_state(r->s.stepper);
  ga_status status = record(s, state, r->s.settings.t_start, 0);
  s->next = 1;
  int finished = 0;
  while (!status && !finished) {
    s->from = state->t;
    if (app_call_is_stopped()) return GA_STOPPED;
    status = ga_simulator_step(r->s.simulator);
    if (s->refused) return say_again(s);
    finished = ga_simulator_finished(r->s.simulator);
    if (status == GA_STOPPED && !finished) finished = r->events.ended = 1;
    if (status == GA_STOPPED) status = GA_OK;
    if (!status) status = ga_sensitivity_step(s->se);
    if (!status) status = ga_meter_follow(r->meter, r->s.stepper);
    if (!status) status = ga_meter_update(r->meter, state);
    if (!status && r->events.jumped)
      status = pass_jump(s, state);
    else if (!status)
      status = record_step(s, finished);
    const long steps = ga_simulator_stats(r->s.simulator)->steps;
    if (app_progress_due(&r->s.progress, state->t, steps)) app_progress_show(&r->s.progress, state->t, 0.0);
  }
  return status;
}

/* ---- Words ---- */

static double scale_of(const app_by *p)
{
  return p->value != 0.0 ? fabs(p->value) : 1e3 * p->step;
}

/* How much of its range a signal would change if the parameter changed by its own value, to first order. */
static double influence(const analysis *s, int signal, int j)
{
  const double range = s->high[signal] - s->low[signal];
  return range > 0.0 ? s->most[j * s->run.n + signal] * scale_of(&s->by.at[j]) / range : 0.0;
}

static void print_influences(const analysis *s)
{
  enum { MOST_SIGNALS = 24, MOST_NAMES = 4 };
  const ga_machine *m = s->run.s.machine;
  int shown = 0;
  puts("influence    largest change of a signal for a change of a parameter by 100 %, to first order, over "
       "the signal's range");
  for (int i = 0; i < s->run.n && shown < MOST_SIGNALS; i++) {
    int used[MOST_NAMES] = {0}, any = 0;
    for (int k = 0; k < MOST_NAMES && k < s->by.n; k++) {
      int best = -1;
      for (int j = 0; j < s->by.n; j++) {
        int free_one = 1;
        for (int l = 0; l < k; l++) free_one = free_one && used[l] != j;
        if (free_one && (best < 0 || influence(s, i, j) > influence(s, i, best))) best = j;
      }
      if (!(influence(s, i, best) > 1e-9)) break;
      if (!any) printf("  %-23s ", ga_machine_signal_name(m, s->run.index[i]));
      printf("%s%s %.3g", any ? ", " : "", s->by.at[best].name, influence(s, i, best));
      used[k] = best;
      any = 1;
    }
    if (any) putchar('\n');
    shown += any;
  }
  if (shown == MOST_SIGNALS) puts("  ...");
}

/* By how much the time moves at which an event has ended the run. */
static void print_end(const analysis *s)
{
  const ga_state *state = ga_stepper_state(s->run.s.stepper);
  const int event = ga_event_watch_stopped_by(s->run.events.watch);
  printf("\nended by event '%s' at t = %.9g s\n", ga_machine_event_name(s->run.s.machine, event), state->t);
  for (int j = 0; j < s->by.n; j++) {
    char unit[APP_DERIVATIVE_UNIT];
    app_derivative_unit(s->run.s.ctx, "s", s->by.at[j].unit, unit);
    printf("  d(t)/d(%s) = %.9g%s%s\n", s->by.at[j].name, ga_sensitivity_time(s->se, j),
           strcmp(unit, "1") ? " " : "", strcmp(unit, "1") ? unit : "");
  }
}

static int end(analysis *s, ga_status status, double seconds)
{
  app_runner *r = &s->run;
  const ga_error why = *ga_context_error(r->s.ctx);
  const double last = s->records > 0 ? ga_recorder_time(r->recorder) : 0.0;
  const ga_run_status how = !status ? GA_RUN_FINISHED : status == GA_STOPPED ? GA_RUN_STOPPED : GA_RUN_FAILED;
  const ga_status closed =
      r->recorder ? ga_recorder_finish(r->recorder, how, status ? ga_status_text(status) : NULL) : GA_OK;
  char elapsed[32];
  app_progress_clear(&r->s.progress);
  app_duration(elapsed, sizeof elapsed, seconds);
  if (!status && !closed && !app_has(r->a, "quiet")) {
    if (r->events.ended)
      print_end(s);
    else
      printf("\nfinished at t = %.9g s after %s\n", ga_stepper_state(r->s.stepper)->t, elapsed);
    print_influences(s);
    printf("results      %s: %ld record%s of %d signals and their derivatives by %d parameter%s\n", r->file,
           s->records, s->records == 1 ? "" : "s", r->n, s->by.n, s->by.n == 1 ? "" : "s");
  }
  fflush(stdout);
  for (int j = 0; j < s->by.n && s->se; j++) app_by_warn(&s->by.at[j], ga_sensitivity_doubt(s->se, j));
  if (!status && !closed) return APP_DONE;
  if (closed || r->written)
    app_task_explain(&r->s, r->a, *r->overflow ? r->overflow : "the results cannot be written",
                     closed ? closed : status);
  else if (app_call_is_stopped())
    fprintf(stderr, "galpha sensitivity: stopped at t = %.9g s\n", last);
  else if (why.status == status)
    fprintf(stderr, "galpha sensitivity: %s\n", why.text), app_call_keep_error(r->s.ctx);
  else
    fprintf(stderr, "galpha sensitivity: %s\n", ga_status_text(status));
  if (s->records > 0 && isfinite(last) && !closed)
    fprintf(stderr, "  results up to t = %.9g s are in %s\n", last, r->file);
  return APP_FAILED;
}

static void close_analysis(analysis *s)
{
  app_runner *r = &s->run;
  ga_recorder_destroy(&r->recorder);
  ga_meter_destroy(&r->meter);
  ga_sensitivity_destroy(&s->se);
  app_by_free(&s->by);
  app_events_close(&r->events);
  app_task_close(&r->s);
  app_record_free(r);
  free(s->text);
  free(s->names);
  free(s->low);
  free(s->most);
  free(s->block);
}

int app_sensitivity(const app_arguments *arguments)
{
  if (arguments->n_operands > 1 || app_has(arguments, "measure"))
    return app_sensitivity_of_measures(arguments);
  if (app_has(arguments, "derivatives"))
    return app_misused(arguments,
                       "--derivatives has no effect without measures, as 'final(tip.x)' behind the model");
  analysis s = {.run = {.a = arguments, .analysis = "sensitivity", .flush_every = 1.0}};
  app_runner *r = &s.run;
  int code = app_task_open(&r->s, arguments);
  r->s.settle = app_by_settle;
  r->s.settle_user = &s.by;
  r->s.settings.accuracy = 0.0; /* no error bars */
  if (!code && !app_has(arguments, "by"))
    code = app_misused(arguments, "--by NAMES is missing: parameters of the model, or all");
  if (!code) code = app_by_take(r, &s.by);
  if (!code) code = app_record_file(r);
  if (!code) code = app_record_choose(r);
  if (!code) app_record_drop_work(r);
  if (!code) code = app_by_vary(r, &s.by);
  if (!code) code = name_derivatives(&s);
  if (!code) {
    const int quiet = app_has(arguments, "quiet");
    const double began = app_clock();
    ga_status status = begin(&s);
    if (!status && !quiet) app_task_report(&r->s, stdout, 0, app_has(arguments, "verbose"));
    fflush(stdout);
    app_progress_start(&r->s.progress, quiet || status, r->s.settings.t_start, r->s.settings.t_start,
                       r->s.settings.t_end);
    if (!status) status = run_steps(&s);
    code = end(&s, status, app_clock() - began);
  }
  close_analysis(&s);
  return code;
}
