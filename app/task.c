#include "task.h"
#include "call.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Settings ---- */

const char *app_choice(const ga_run_settings *o, const char *name)
{
  ga_setting at;
  if (!ga_setting_find(name, &at) || at.type != GA_SETTING_CHOICE) return "unknown";
  const int chosen = *(const int *)(const void *)((const char *)o + at.offset);
  return chosen >= 0 && chosen < at.n_choices ? at.choices[chosen] : "unknown";
}

void app_scheme_text(const ga_run_settings *o, char *text, size_t size)
{
  if (o->scheme == GA_SCHEME_HHT)
    snprintf(text, size, "hht_alpha %g", o->hht_alpha);
  else if (o->scheme == GA_SCHEME_NEWMARK)
    snprintf(text, size, "newmark_beta %g", o->newmark_beta);
  else
    snprintf(text, size, "rho %g", o->rho);
}

void app_option_name(const ga_setting *at, char name[APP_OPTION_NAME])
{
  snprintf(name, APP_OPTION_NAME, "%s", at->option ? at->option : at->name);
  for (char *c = name; *c; c++)
    if (*c == '_') *c = '-';
}

/* ---- Reading ---- */

static const char *choice_at(const void *user, int i)
{
  return ((const char *const *)user)[i];
}

/* Index of the option's value in its choices. */
static int take_choice(const app_arguments *a, const char *option, const ga_setting *at, int *value)
{
  const char *text = app_text(a, option);
  char all[256] = "";
  for (int i = 0; i < at->n_choices; i++) {
    if (strcmp(text, at->choices[i]) == 0) return *value = i, APP_DONE;
    const size_t used = strlen(all);
    snprintf(all + used, sizeof all - used, "%s%s", i ? ", " : "", at->choices[i]);
  }
  const char *nearest = app_nearest(text, at->n_choices, choice_at, at->choices);
  return app_misused(a, "--%s: \"%s\" is none of %s%s%s", option, text, all,
                     nearest ? "; the nearest is " : "", nearest ? nearest : "");
}

static int take_flag(const app_arguments *a, const char *option, int *value)
{
  const char *text = app_text(a, option);
  const int yes = strcmp(text, "true") == 0;
  if (!yes && strcmp(text, "false") != 0)
    return app_misused(a, "--%s: \"%s\" is neither true nor false", option, text);
  *value = yes;
  return APP_DONE;
}

static int take_integer(const app_arguments *a, const char *option, const ga_setting *at, int *value)
{
  const char *text = app_text(a, option);
  long number = *value;
  if (text && at->zero_word && strcmp(text, at->zero_word) == 0) return *value = 0, APP_DONE;
  if (text && at->zero_word && !strpbrk(text, "0123456789"))
    return app_misused(a, "--%s: \"%s\" is neither %s nor a whole number", option, text, at->zero_word);
  const int code = app_integer(a, option, (long)at->least, (long)at->most, &number);
  *value = (int)number;
  return code;
}

/* 0 may be allowed although it is not in the range. */
static int take_number(const app_arguments *a, const char *option, const ga_setting *at, double *value)
{
  const int code = app_number(a, option, at->unit, at->or_zero ? 0.0 : at->least, at->most, value);
  if (code || !at->or_zero || *value == 0.0 || *value >= at->least) return code;
  return app_misused(a, "--%s: %s is neither 0 nor between %g and %g", option, app_text(a, option), at->least,
                     at->most);
}

int app_settings_take(const app_arguments *a, ga_run_settings *o)
{
  ga_setting at;
  char option[APP_OPTION_NAME];
  int code = APP_DONE;
  for (int i = 0; !code && ga_setting_at(i, &at); i++) {
    void *value = (char *)o + at.offset;
    app_option_name(&at, option);
    if (!app_has(a, option)) continue;
    if (at.type == GA_SETTING_CHOICE)
      code = take_choice(a, option, &at, value);
    else if (at.type == GA_SETTING_FLAG)
      code = take_flag(a, option, value);
    else if (at.type == GA_SETTING_INTEGER)
      code = take_integer(a, option, &at, value);
    else
      code = take_number(a, option, &at, value);
  }
  return code;
}

int app_settings_unused(const app_arguments *a, const ga_run_settings *o)
{
  ga_setting at, on;
  char option[APP_OPTION_NAME], by[APP_OPTION_NAME];
  for (int i = 0; ga_setting_at(i, &at); i++) {
    app_option_name(&at, option);
    if (!app_has(a, option)) continue;
    if (!ga_setting_is_used(&at, o) && ga_setting_find(at.depends, &on)) {
      app_option_name(&on, by);
      return app_misused(a, "--%s has no effect, since %s is %s; --%s changes that", option, on.name,
                         app_choice(o, on.name), by);
    }
    if (at.error_control && o->step > 0.0 && app_has(a, "step"))
      return app_misused(a, "--step and --%s exclude each other: equal steps have no error control", option);
    if (at.error_control && o->step > 0.0)
      return app_misused(
          a, "--%s has no effect, since the model has equal steps; --tol chooses error control", option);
  }
  return APP_DONE;
}

/* --a0 "0, -9.81, 0": plain numbers in SI units. */
static int take_a0(app_task *s, const app_arguments *a)
{
  const char *at = app_text(a, "a0");
  char *end;
  if (!at) return APP_DONE;
  s->a0 = calloc(strlen(at) + 1, sizeof *s->a0);
  if (!s->a0) return fputs("galpha: out of memory\n", stderr), APP_FAILED;
  s->settings.a0 = s->a0;
  s->settings.n_a0 = 0;
  for (;; at = end + 1) {
    s->a0[s->settings.n_a0++] = strtod(at, &end);
    const int read = end != at;
    end += strspn(end, " ");
    if (!read || (*end && *end != ','))
      return app_misused(a, "--a0: expected numbers in SI units with commas between them, found \"%s\"",
                         app_text(a, "a0"));
    if (!*end) return APP_DONE;
  }
}

/* One number for each velocity; not with error bars, whose second run begins by itself. */
static int check_a0(const app_task *s, const app_arguments *a)
{
  const int n = ga_system_size(ga_machine_system(s->machine), GA_BLOCK_V), given = s->settings.n_a0;
  char words[GA_ERROR_TEXT] = "", name[GA_ERROR_NAME];
  size_t used = 0;
  if (given == 0) return APP_DONE;
  if (s->settings.accuracy > 0.0)
    return app_misused(a, "a0: not with error bars (--accuracy); --step or --tol goes without them");
  if (given == n) return APP_DONE;
  for (int i = 0; i < n && used < sizeof words / 2; i++) {
    ga_machine_equation(s->machine, GA_BLOCK_V, i, name, sizeof name);
    used += (size_t)snprintf(words + used, sizeof words - used, "%s%s", i ? ", " : "", name);
  }
  return app_misused(a, "a0: %d number%s given, the model has %d velocities, in the order of %s%s", given,
                     given == 1 ? "" : "s", n, words, used >= sizeof words / 2 ? ", ..." : "");
}

#define MOST_STEPS 1e13 /* a year of the fastest ones */

/* Applies settings of the command line. */
static int take_settings(app_task *s, const app_arguments *a, const ga_method *method)
{
  ga_run_settings *o = &s->settings;
  int code = app_settings_take(a, o);
  if (!code) code = take_a0(s, a);
  if (!code) ga_run_choose_steps(o, app_has(a, "step"), app_has(a, "tol"), app_has(a, "accuracy"));
  if (!code && method) o->method = *method;
  if (!code && !method) code = app_settings_unused(a, o);
  if (!code && ga_run_check(s->ctx, o)) {
    app_call_keep_error(s->ctx);
    code = app_misused(a, "%s", ga_context_error(s->ctx)->text);
  }
  const double step = o->step > 0.0 ? o->step : o->max_step;
  if (!code && step > 0.0 && (o->t_end - o->t_start) / step > MOST_STEPS)
    code = app_misused(a, "%g steps of %g s up to t = %g s are too many", (o->t_end - o->t_start) / step,
                       step, o->t_end);
  return code ? code : check_a0(s, a);
}

/* ---- Warnings ---- */

static void print_warning(app_task *s, const char *message)
{
  if (s->quiet) return;
  app_progress_clear(&s->progress);
  fprintf(stderr, "warning: %s\n", message);
}

/* Notes on what a model asks for, as impacts; only the first few are printed. */
static void print_note(app_task *s, const char *message)
{
  enum { MOST_NOTES = 4 };
  s->n_notes++;
  if (s->quiet || s->n_notes > MOST_NOTES + 1) return;
  app_progress_clear(&s->progress);
  fprintf(stderr, "note: %s\n", s->n_notes <= MOST_NOTES ? message : "further notes are not shown");
}

/* Prints each warning once: a start is repeated by the search for the first step and by converge. */
static void log_warning(void *user, ga_log_level level, const ga_error *said)
{
  app_task *s = user;
  app_warnings *w = &s->warnings;
  const char *message = said->text;
  for (int i = 0; i < w->n; i++)
    if (strcmp(w->text[i], message) == 0) return;
  const size_t size = strlen(message) + 1;
  char *kept = w->n < APP_WARNINGS ? malloc(size) : NULL;
  if (kept) {
    w->reason[w->n] = said->reason;
    w->text[w->n++] = memcpy(kept, message, size);
  }
  if (kept && w->hold) return;
  if (kept) w->n_said = w->n;
  if (level == GA_LOG_WARNING)
    print_warning(s, message);
  else
    print_note(s, message);
}

/* Warnings whose contents are in app_task_report(), with names of parts. */
static int is_reported(ga_reason reason)
{
  return reason == GA_REASON_START_MOVED || reason == GA_REASON_REDUNDANT;
}

void app_task_hold_warnings(app_task *s)
{
  s->warnings.hold = 1;
}

void app_task_release_warnings(app_task *s, int reported)
{
  app_warnings *w = &s->warnings;
  w->hold = 0;
  for (; w->n_said < w->n; w->n_said++)
    if (!reported || !is_reported(w->reason[w->n_said])) print_warning(s, w->text[w->n_said]);
}

/* ---- The model ---- */

void app_print_messages(const ga_model *model)
{
  for (int i = 0; i < ga_model_n_messages(model); i++) {
    const ga_model_message *m = ga_model_message_at(model, i);
    if (m->file && *m->file) fprintf(stderr, "%s:", m->file);
    if (m->line > 0) fprintf(stderr, "%d:%d:", m->line, m->column);
    fprintf(stderr, "%s%s: %s\n", (m->file && *m->file) || m->line > 0 ? " " : "",
            m->level == GA_MESSAGE_ERROR ? "error" : "warning", m->text);
    app_call_keep_message(m);
  }
}

static int read_model(app_task *s, const app_arguments *a, const ga_form *form)
{
  ga_model_opts opts = ga_model_defaults();
  const char **set = calloc((size_t)a->n_given + 1, sizeof *set);
  const char *const *value;
  if (!set) return fputs("galpha: out of memory\n", stderr), APP_FAILED;
  while ((value = app_values(a, "set", opts.n_set)) != NULL) set[opts.n_set++] = value[0];
  opts.n_prescribe = s->prescribed.n;
  opts.prescribe = s->prescribed.list;
  opts.set = set;
  opts.form = form;
  opts.allow_library = app_has(a, "allow-library");
  const ga_status status = ga_model_read_file(s->ctx, a->operands[0], &opts, &s->model);
  free(set);
  if (s->model && !s->quiet) app_print_messages(s->model);
  int errors = 0;
  for (int i = 0; s->model && i < ga_model_n_messages(s->model); i++)
    errors += ga_model_message_at(s->model, i)->level == GA_MESSAGE_ERROR;
  if (errors > 0)
    fprintf(stderr, "%s: %d error%s\n", a->operands[0], errors, errors == 1 ? "" : "s");
  else if (status)
    app_task_explain(s, a, "the model cannot be read", status);
  return status == GA_ERR_MEMORY ? APP_FAILED : status ? APP_USAGE : APP_DONE;
}

static int open_task(app_task *s, const app_arguments *a, const ga_method *method, const ga_form *form)
{
  ga_context_opts opts = ga_context_defaults();
  opts.log = log_warning;
  opts.log_level = GA_LOG_INFO;
  opts.log_user = s;
  if (ga_context_create(&opts, &s->ctx)) return fputs("galpha: out of memory\n", stderr), APP_FAILED;
  int code = app_prescribed_take(&s->prescribed, s->ctx, a);
  if (!code) code = read_model(s, a, form);
  if (code) return code;
  s->machine = ga_model_machine(s->model);
  s->settings = *ga_model_settings(s->model);
  const int taken = take_settings(s, a, method);
  s->tolerance = s->settings.tolerance;
  return taken;
}

int app_task_open(app_task *s, const app_arguments *a)
{
  return app_task_open_as(s, a, NULL, NULL);
}

int app_task_open_as(app_task *s, const app_arguments *a, const ga_method *method, const ga_form *form)
{
  *s = (app_task){0};
  return open_task(s, a, method, form);
}

int app_task_open_again(app_task *s, const app_arguments *a)
{
  *s = (app_task){.quiet = 1};
  return open_task(s, a, NULL, NULL);
}

void app_task_close(app_task *s)
{
  ga_simulator_destroy(&s->simulator);
  ga_stepper_destroy(&s->stepper);
  ga_event_watch_destroy(&s->events);
  ga_model_destroy(&s->model);
  app_prescribed_free(&s->prescribed);
  free(s->a0);
  ga_context_destroy(&s->ctx);
  for (int i = 0; i < s->warnings.n; i++) free(s->warnings.text[i]);
}

/* ---- Preparation and start ---- */

/* Other given tolerances are scaled together with the main one, if --accuracy changes that. */
ga_status app_task_simulate_opts(const app_task *s, const ga_run_settings *settings, ga_simulate_opts *o)
{
  ga_run_settings scaled = *settings;
  const double part = s->tolerance > 0.0 ? settings->tolerance / s->tolerance : 1.0;
  double *const given[] = {&scaled.atol, &scaled.rtol_v, &scaled.atol_v, &scaled.rtol_x, &scaled.atol_x};
  for (size_t i = 0; i < sizeof given / sizeof *given; i++) *given[i] *= part;
  const ga_status status = ga_run_simulate_opts(s->ctx, &scaled, o);
  /* An absolute tolerance that is not given must not exceed what a small machine can move by. */
  const double size = ga_machine_size(s->machine);
  if (!status && settings->atol == 0.0 && size > 0.0) o->atol = fmin(o->atol, o->rtol * size);
  return status;
}

ga_status app_task_prepare(app_task *s, const ga_run_settings *settings, const ga_simulate_opts *opts)
{
  ga_stepper_opts stepper;
  ga_simulate_opts o = *opts;
  ga_simulator_destroy(&s->simulator);
  ga_stepper_destroy(&s->stepper);
  ga_event_watch_destroy(&s->events);
  ga_status status = ga_run_stepper_opts(s->ctx, settings, &stepper);
  if (!status) status = ga_stepper_create(s->ctx, ga_machine_system(s->machine), &stepper, &s->stepper);
  if (!status) status = app_task_simulate_opts(s, settings, &o);
  if (!status && o.n_events == 0 && ga_machine_n_events(s->machine) > 0) {
    status = ga_event_watch_create(s->ctx, s->machine, NULL, NULL, &s->events);
    ga_event_watch_use(s->events, &o);
  }
  if (!status) status = ga_simulator_create(s->ctx, s->stepper, &o, &s->simulator);
  return status;
}

/* Replaces q and x by those of a static equilibrium, and computes its multipliers. */
static ga_status start_at_rest(app_task *s, double *q, double *v, double *x, double *lambda, double *psi)
{
  const ga_system *sys = ga_machine_system(s->machine);
  ga_equilibrium_opts opts = ga_equilibrium_defaults();
  ga_equilibrium *eq = NULL;
  opts.lu = s->settings.linear_solver;
  opts.max_change = s->settings.max_change;
  opts.hold_free = 1; /* a car stays where it is; a warning says so */
  ga_status status = ga_equilibrium_create(s->ctx, sys, &opts, &eq);
  if (!status) status = ga_equilibrium_solve(eq, s->settings.t_start, q, x, NULL);
  if (!status) {
    const ga_state *at = ga_equilibrium_state(eq);
    status = ga_machine_move_velocities(s->machine, q, at->q, v);
    memcpy(q, at->q, (size_t)ga_group_nq(ga_system_group(sys)) * sizeof *q);
    memcpy(x, at->x, (size_t)ga_system_size(sys, GA_BLOCK_X) * sizeof *x);
    memcpy(lambda, at->lambda, (size_t)ga_system_size(sys, GA_BLOCK_LAMBDA) * sizeof *lambda);
    memcpy(psi, at->psi, (size_t)ga_system_size(sys, GA_BLOCK_PSI) * sizeof *psi);
  }
  if (!status && s->settle) status = s->settle(s->settle_user, eq);
  ga_equilibrium_destroy(&eq);
  return status;
}

ga_status app_task_start(app_task *s, int report)
{
  const ga_system *sys = ga_machine_system(s->machine);
  const size_t nq = (size_t)ga_group_nq(ga_system_group(sys)), nv = (size_t)ga_system_size(sys, GA_BLOCK_V);
  const size_t nx = (size_t)ga_system_size(sys, GA_BLOCK_X);
  const size_t n_lambda = (size_t)ga_system_size(sys, GA_BLOCK_LAMBDA),
               n_psi = (size_t)ga_system_size(sys, GA_BLOCK_PSI);
  double *q = calloc(nq + nv + nx + n_lambda + n_psi + 1, sizeof *q);
  if (!q) return GA_ERR_MEMORY;
  double *lambda = q + nq + nv + nx, *psi = lambda + n_lambda;
  s->warnings.hold = report;
  const ga_start_opts start = ga_run_start_opts(&s->settings);
  ga_status status = ga_machine_check_drives(s->machine, s->settings.t_start, s->settings.t_end);
  if (!status) status = ga_machine_initial(s->machine, q, q + nq, q + nq + nv);
  if (!status && s->settings.from_equilibrium) status = start_at_rest(s, q, q + nq, q + nq + nv, lambda, psi);
  if (!status)
    status = ga_simulator_start(s->simulator, &start, s->settings.t_start, q, q + nq, q + nq + nv, lambda,
                                psi, &s->start);
  app_task_release_warnings(s, report && !status);
  free(q);
  return status;
}

ga_status app_task_reach(app_task *s, double at)
{
  const ga_simulate_opts opts = ga_simulate_defaults();
  const int runs = at > s->settings.t_start;
  s->settings.output = 0.0;
  if (runs) s->settings.t_end = at;
  ga_status status = app_task_prepare(s, &s->settings, &opts);
  if (!status) status = app_task_start(s, 0);
  if (!status && runs) status = ga_simulator_run(s->simulator);
  return status;
}

/* ---- Reports ---- */

void app_task_explain(const app_task *s, const app_arguments *a, const char *what, ga_status status)
{
  const ga_error *e = ga_context_error(s->ctx);
  fprintf(stderr, "galpha %s: %s: %s\n", a->command->name, what,
          e->status == status ? e->text : ga_status_text(status));
  if (e->status == status) app_call_keep_error(s->ctx);
  if (e->status == status) app_task_advise(s);
}

void app_task_advise(const app_task *s)
{
  char text[GA_ERROR_TEXT];
  if (ga_machine_start_advice(s->machine, ga_context_error(s->ctx), text, sizeof text) > 0)
    fprintf(stderr, "  %s", text);
}

/* 1: initial values were changed by more than rounding; the threshold of the library's own warning. */
static int was_moved(const ga_start_change *c)
{
  return c->change > 1e-6;
}

/* Prints lines with an indent. */
static void print_lines(FILE *out, const char *before, const char *text)
{
  while (*text) {
    const size_t end = strcspn(text, "\n");
    fprintf(out, "  %s%.*s\n", before, (int)end, text);
    text += end + (text[end] == '\n');
  }
}

/* What a start has changed; verbose 1: also residuals, accelerations and the start of the method. */
static void print_start(FILE *out, const app_task *s, int verbose, char *text, size_t size)
{
  const struct {
    int part, moved;
  } parts[] = {{GA_START_POSITIONS, was_moved(&s->start.position)},
               {GA_START_VELOCITIES, was_moved(&s->start.velocity)},
               {GA_START_ACCELERATIONS, 0},
               {GA_START_METHOD, 0}};
  const int any = parts[0].moved || parts[1].moved;
  fputs(any || verbose ? "start\n" : "start        positions and velocities satisfy the constraints\n", out);
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    if (!parts[i].moved && !verbose) continue;
    ga_start_report_say(ga_machine_system(s->machine), &s->start, parts[i].part, text, size);
    print_lines(out, parts[i].moved ? "warning: " : "", text);
  }
}

/* 1: nothing moves, perhaps because gravity was forgotten. */
static int is_at_rest(const app_task *s)
{
  const ga_state *state = ga_stepper_state(s->stepper);
  const int n = state ? ga_system_size(ga_machine_system(s->machine), GA_BLOCK_V) : 0;
  for (int i = 0; i < n; i++)
    if (state->v[i] != 0.0 || state->vdot[i] != 0.0) return 0;
  return n > 0;
}

void app_warn_of_pulls(const ga_meter *meter)
{
  const int need = ga_meter_pull_text(meter, NULL, 0);
  char *text = need > 0 ? malloc((size_t)need + 1) : NULL;
  if (!text) return;
  ga_meter_pull_text(meter, text, (size_t)need + 1);
  for (const char *line = text; *line;) {
    const size_t end = strcspn(line, "\n");
    fprintf(stderr, "warning: %.*s\n", (int)end, line);
    line += end + (line[end] == '\n');
  }
  free(text);
}

void app_task_report(const app_task *s, FILE *out, int coordinates, int verbose)
{
  const ga_system *sys = ga_machine_system(s->machine);
  const int need[] = {ga_start_report_text(sys, &s->start, NULL, 0),
                      ga_machine_report(s->machine, s->stepper, NULL, 0),
                      ga_machine_moves(s->machine, s->stepper, NULL, 0),
                      ga_machine_coordinates(s->machine, s->stepper, NULL, 0)};
  size_t size = 1;
  for (int i = 0; i < 4; i++)
    if ((size_t)need[i] >= size) size = (size_t)need[i] + 1;
  char *text = malloc(size);
  if (!text) return;
  ga_machine_report(s->machine, s->stepper, text, size);
  fputs(text, out);
  print_start(out, s, verbose, text, size);
  ga_machine_moves(s->machine, s->stepper, text, size);
  print_lines(out, "", text);
  if (coordinates && ga_machine_coordinates(s->machine, s->stepper, text, size) > 0)
    print_lines(out, "", text);
  if (is_at_rest(s) && ga_model_gives_gravity(s->model))
    fputs("  at rest under the gravity given: all velocities and accelerations are 0\n", out);
  else if (is_at_rest(s))
    fputs("  at rest: all velocities and accelerations are 0 (no gravity: the model has no key 'gravity')\n",
          out);
  free(text);
}
