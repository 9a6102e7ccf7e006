/* galpha sensitivity: a run with the derivatives of its signals by parameters of the model. */
#include "call.h"
#include "runner.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PARAMETERS = 64, UNIT = 64 };

typedef struct parameter {
  const char *name;   /* within the model */
  double value, step; /* step 0: not given */
  char unit[GA_PARAMETER_UNIT];
  ga_model_variation *variation;
} parameter;

typedef struct analysis {
  app_runner run;
  int n;
  parameter by[MOST_PARAMETERS];
  ga_sensitivity *se;
  char *text; /* of names and units */
  const char **names, **units;
  double *low, *high; /* [signals] range of each */
  double *most;       /* [parameters][signals] largest |derivative| */
  double *block;      /* of a state within a step */
  ga_state within;
  long records, next;
} analysis;

/* ---- Parameters ---- */

static const char *parameter_at(const void *model, int i)
{
  ga_model_parameter p;
  return ga_model_parameter_at(model, i, &p) ? p.name : "";
}

static int count_parameters(const ga_model *model)
{
  int n = 0;
  while (ga_model_parameter_at(model, n, NULL)) n++;
  return n;
}

/* NAME or NAME:STEP */
static int take_parameter(analysis *s, char *text)
{
  app_runner *r = &s->run;
  const ga_model *model = r->s.model;
  char *colon = strchr(text, ':');
  ga_model_parameter found;
  if (colon) *colon = '\0';
  const int i = ga_model_find_parameter(model, text);
  if (i < 0) {
    const char *nearest = app_nearest(text, count_parameters(model), parameter_at, model);
    return app_misused(r->a,
                       "--by: the model has no parameter \"%s\"%s%s; initial values count if they are "
                       "written with a parameter",
                       text, nearest ? "; the nearest is " : "", nearest ? nearest : "");
  }
  if (s->n == MOST_PARAMETERS) return app_misused(r->a, "--by: there are more than %d", MOST_PARAMETERS);
  ga_model_parameter_at(model, i, &found);
  parameter *p = &s->by[s->n];
  *p = (parameter){.name = found.name, .value = found.value};
  snprintf(p->unit, sizeof p->unit, "%s", found.unit);
  for (int k = 0; k < s->n; k++)
    if (strcmp(s->by[k].name, p->name) == 0) return app_misused(r->a, "--by: \"%s\" is there twice", p->name);
  if (colon && (ga_quantity_parse(r->s.ctx, colon + 1, p->unit, &p->step, NULL, NULL) || !(p->step > 0.0)))
    return app_misused(r->a, "--by: \"%s\" is no step of %s, in %s and above 0", colon + 1, p->name, p->unit);
  if (!colon && p->value == 0.0)
    return app_misused(r->a,
                       "--by: %s is 0: give a step, about a thousandth of a value that matters, as %s:1e-3",
                       p->name, p->name);
  s->n++;
  return APP_DONE;
}

static int take_parameters(analysis *s)
{
  const char *const *given;
  int code = APP_DONE;
  for (int k = 0; !code && (given = app_values(s->run.a, "by", k)) != NULL; k++)
    for (const char *at = given[0]; !code && *(at += strspn(at, " ,"));) {
      char text[256];
      const size_t length = strcspn(at, ", ");
      snprintf(text, sizeof text, "%.*s", (int)length, at);
      code = take_parameter(s, text);
      at += length;
    }
  if (!code && s->n == 0) return app_misused(s->run.a, "--by NAMES is missing: parameters of the model");
  return code;
}

/* The model at other values of each parameter. */
static int vary(analysis *s)
{
  const app_arguments *a = s->run.a;
  ga_model_opts opts = ga_model_defaults();
  const char **set = calloc((size_t)a->n_given + 1, sizeof *set);
  const char *const *value;
  int code = APP_DONE;
  if (!set) return fputs("galpha: out of memory\n", stderr), APP_FAILED;
  while ((value = app_values(a, "set", opts.n_set)) != NULL) set[opts.n_set++] = value[0];
  opts.set = set;
  opts.without_meshes = 0;
  opts.allow_library = app_has(a, "allow-library");
  for (int j = 0; j < s->n && !code; j++) {
    parameter *p = &s->by[j];
    if (!ga_model_variation_create(s->run.s.ctx, s->run.s.model, a->operands[0], &opts, p->name, p->step,
                                   &p->variation))
      continue;
    fprintf(stderr, "galpha sensitivity: %s\n", ga_context_error(s->run.s.ctx)->text);
    app_call_keep_error(s->run.s.ctx);
    code = APP_FAILED;
  }
  free(set);
  return code;
}

/* ---- Names and units of derivatives ---- */

static void unit_of(ga_context *ctx, const char *signal, const char *by, char out[UNIT])
{
  ga_dimension a = {{0}}, b = {{0}};
  double one;
  char text[GA_PARAMETER_UNIT + 8];
  if (*signal && strcmp(signal, "1") != 0) {
    snprintf(text, sizeof text, "1 %s", signal);
    if (ga_quantity_parse(ctx, text, NULL, &one, &a, NULL)) a = (ga_dimension){{0}};
  }
  if (strcmp(by, "1") != 0) {
    snprintf(text, sizeof text, "1 %s", by);
    if (ga_quantity_parse(ctx, text, NULL, &one, &b, NULL)) b = (ga_dimension){{0}};
  }
  for (size_t i = 0; i < sizeof a.power / sizeof *a.power; i++)
    a.power[i] = (signed char)(a.power[i] - b.power[i]);
  ga_dimension_unit(out, UNIT, &a);
}

static int name_derivatives(analysis *s)
{
  app_runner *r = &s->run;
  const ga_machine *m = r->s.machine;
  const size_t n = (size_t)r->n, all = n * (size_t)s->n;
  size_t longest = UNIT;
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
    const parameter *p = &s->by[k / n];
    const int signal = r->index[k % n];
    char unit[UNIT];
    unit_of(r->s.ctx, ga_machine_signal_unit(m, signal), p->unit, unit);
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
  for (int j = 0; j < s->n && !status; j++) {
    const ga_machine *at[GA_PARAMETER_VALUES];
    const ga_state *d = ga_sensitivity_at(s->se, j);
    for (int k = 0; k < GA_PARAMETER_VALUES; k++) at[k] = ga_model_variation_machine(s->by[j].variation, k);
    if (inside) status = ga_sensitivity_inside(s->se, j, t, &d);
    if (status) break;
    const ga_direction along = direction_of(d);
    double *out = r->values + r->n + (size_t)j * (size_t)r->n;
    status = ga_machine_signal_sensitivities(r->s.machine, at,
                                             ga_model_variation_parameter(s->by[j].variation)->step, state,
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

/* Records at all output times up to the end of the last step, which began at `from`; or of each step. */
static ga_status record_step(analysis *s, double from, int finished)
{
  const ga_run_settings *o = &s->run.s.settings;
  const ga_state *state = ga_stepper_state(s->run.s.stepper);
  const double every = o->output, close = 1e-9 * (state->t - from);
  ga_status status = GA_OK;
  if (every == 0.0) return state->t > from || !s->records ? record(s, state, state->t, 0) : GA_OK;
  for (;; s->next++) {
    const double t = o->t_start + (double)s->next * every;
    if (status || t > state->t + close || t > o->t_end + 1e-9 * every) break;
    status = t >= state->t - close ? record(s, state, t, 0) : record_within(s, t);
  }
  const double last = o->t_start + (double)(s->next - 1) * every;
  if (!status && finished && last < o->t_end - 1e-9 * every) status = record(s, state, state->t, 0);
  return status;
}

/* ---- The run ---- */

/* A start at an equilibrium, which moves with the parameters. */
static ga_status settle(void *user, ga_equilibrium *eq)
{
  analysis *s = user;
  ga_status status = GA_OK;
  for (int j = 0; j < s->n && !status; j++) status = ga_model_variation_settle(s->by[j].variation, eq);
  return status;
}

static ga_status begin(analysis *s)
{
  app_runner *r = &s->run;
  const ga_simulate_opts opts = ga_simulate_defaults();
  ga_parameter list[MOST_PARAMETERS];
  for (int j = 0; j < s->n; j++) list[j] = *ga_model_variation_parameter(s->by[j].variation);
  ga_status status = app_task_prepare(&r->s, &r->s.settings, &opts);
  if (!status) status = ga_meter_create(ga_machine_context(r->s.machine), r->s.machine, &r->meter);
  if (!status) status = ga_sensitivity_create(r->s.ctx, r->s.stepper, s->n, list, &s->se);
  if (!status) status = app_task_start(&r->s, !app_has(r->a, "quiet"));
  if (!status) status = ga_meter_start(r->meter, ga_stepper_state(r->s.stepper));
  r->metered = !status;
  if (!status) status = ga_sensitivity_begin(s->se);
  return status ? status : make_within(s);
}

static ga_status run_steps(analysis *s)
{
  app_runner *r = &s->run;
  const ga_state *state = ga_stepper_state(r->s.stepper);
  ga_status status = record(s, state, r->s.settings.t_start, 0);
  s->next = 1;
  while (!status && !ga_simulator_finished(r->s.simulator)) {
    const double from = state->t;
    if (app_call_is_stopped()) return GA_STOPPED;
    status = ga_simulator_step(r->s.simulator);
    if (status == GA_STOPPED && ga_simulator_finished(r->s.simulator)) status = GA_OK;
    if (!status) status = ga_sensitivity_step(s->se);
    if (!status) status = ga_meter_follow(r->meter, r->s.stepper);
    if (!status) status = ga_meter_update(r->meter, state);
    if (!status) status = record_step(s, from, ga_simulator_finished(r->s.simulator));
    const long steps = ga_simulator_stats(r->s.simulator)->steps;
    if (app_progress_due(&r->s.progress, state->t, steps)) app_progress_show(&r->s.progress, state->t, 0.0);
  }
  return status;
}

/* ---- Words ---- */

static double scale_of(const parameter *p)
{
  return p->value != 0.0 ? fabs(p->value) : 1e3 * p->step;
}

/* How much of its range a signal would change if the parameter changed by its own value, to first order. */
static double influence(const analysis *s, int signal, int j)
{
  const double range = s->high[signal] - s->low[signal];
  return range > 0.0 ? s->most[j * s->run.n + signal] * scale_of(&s->by[j]) / range : 0.0;
}

static void print_influences(const analysis *s)
{
  enum { MOST_SIGNALS = 24, MOST_NAMES = 4 };
  const ga_machine *m = s->run.s.machine;
  int shown = 0;
  puts("influence    largest change of a signal for a change of a parameter by 100 %, to first order, over "
       "the signal's range");
  for (int i = 0; i < s->run.n && shown < MOST_SIGNALS; i++) {
    int used[MOST_PARAMETERS] = {0}, any = 0;
    for (int k = 0; k < MOST_NAMES && k < s->n; k++) {
      int best = -1;
      for (int j = 0; j < s->n; j++)
        if (!used[j] && (best < 0 || influence(s, i, j) > influence(s, i, best))) best = j;
      if (!(influence(s, i, best) > 1e-9)) break;
      if (!any) printf("  %-23s ", ga_machine_signal_name(m, s->run.index[i]));
      printf("%s%s %.3g", any ? ", " : "", s->by[best].name, influence(s, i, best));
      used[best] = any = 1;
    }
    if (any) putchar('\n');
    shown += any;
  }
  if (shown == MOST_SIGNALS) puts("  ...");
}

static void warn_of_doubt(const analysis *s)
{
  const double sure = 1e-8;
  for (int j = 0; j < s->n && s->se; j++) {
    const double doubt = ga_sensitivity_doubt(s->se, j);
    if (doubt > sure)
      fprintf(stderr,
              "warning: derivatives by %s: differences of the equations have an estimated error of %.1e; a "
              "smaller step, as %s:%.1g, reduces it\n",
              s->by[j].name, doubt, s->by[j].name,
              ga_model_variation_parameter(s->by[j].variation)->step * 0.2);
  }
}

static int end(analysis *s, ga_status status, double seconds)
{
  app_runner *r = &s->run;
  const ga_error why = *ga_context_error(r->s.ctx);
  const double last = s->records > 0 ? ga_recorder_time(r->recorder) : 0.0;
  const ga_status closed = r->recorder
                               ? ga_recorder_finish(r->recorder, status ? GA_RUN_FAILED : GA_RUN_FINISHED,
                                                    status ? ga_status_text(status) : NULL)
                               : GA_OK;
  char elapsed[32];
  app_progress_clear(&r->s.progress);
  app_duration(elapsed, sizeof elapsed, seconds);
  if (!status && !closed && !app_has(r->a, "quiet")) {
    printf("\nfinished at t = %.9g s after %s\n", ga_stepper_state(r->s.stepper)->t, elapsed);
    print_influences(s);
    printf("results      %s: %ld record%s of %d signals and their derivatives by %d parameter%s\n", r->file,
           s->records, s->records == 1 ? "" : "s", r->n, s->n, s->n == 1 ? "" : "s");
  }
  fflush(stdout);
  warn_of_doubt(s);
  if (!status && !closed) return APP_DONE;
  if (closed || r->written)
    app_task_explain(&r->s, r->a, *r->overflow ? r->overflow : "the results cannot be written",
                     closed ? closed : status);
  else if (status == GA_STOPPED)
    fprintf(stderr,
            "galpha sensitivity: the run ended at t = %.9g s by an event, whose time depends on parameters; "
            "--t-end before it goes\n",
            last);
  else if (why.status == status)
    fprintf(stderr, "galpha sensitivity: %s\n", why.text), app_call_keep_error(r->s.ctx);
  else
    fprintf(stderr, "galpha sensitivity: %s\n", ga_status_text(status));
  if (s->records > 0) fprintf(stderr, "  results up to t = %.9g s are in %s\n", last, r->file);
  return APP_FAILED;
}

static void close_analysis(analysis *s)
{
  app_runner *r = &s->run;
  ga_recorder_destroy(&r->recorder);
  ga_meter_destroy(&r->meter);
  ga_sensitivity_destroy(&s->se);
  for (int j = 0; j < s->n; j++) ga_model_variation_destroy(&s->by[j].variation);
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
  analysis s = {.run = {.a = arguments, .analysis = "sensitivity", .flush_every = 1.0}};
  app_runner *r = &s.run;
  int code = app_task_open(&r->s, arguments);
  r->s.settle = settle;
  r->s.settle_user = &s;
  r->s.settings.accuracy = 0.0; /* no error bars */
  if (!code) code = take_parameters(&s);
  if (!code) code = app_record_file(r);
  if (!code) code = app_record_choose(r);
  if (!code) app_record_drop_work(r);
  if (!code) code = vary(&s);
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
