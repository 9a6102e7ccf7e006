/* galpha sensitivity with measures: their derivatives by parameters, forwards or by the adjoint of the run.
 */
#include "sensitivity.h"

#include "call.h"
#include "sweep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef enum way { AUTO, FORWARD, ADJOINT } way;

/* Up to this many parameters for each measure forward derivatives cost less (docs/sensitivity.md). */
enum { FEW = 6 };

typedef struct analysis {
  app_runner run;
  way way;
  int chosen;  /* 1: by the number of parameters */
  int repeats; /* 1: the run was begun before */
  app_by_list by;
  int n;
  char **texts, **labels; /* [n] */
  ga_measures *measures;
  ga_sensitivity *se;
  ga_adjoint *adjoint;
  double *values, *gradient; /* [n], [n × parameters] */
  int refused;               /* 1: the adjoint cannot follow this run */
  ga_status failed;          /* at an event */
} analysis;

static int no_memory(void)
{
  return fputs("galpha: out of memory\n", stderr), APP_FAILED;
}

/* ---- Options ---- */

static int take_way(analysis *s)
{
  static const char *const names[] = {"auto", "forward", "adjoint"};
  const char *text = app_text(s->run.a, "derivatives");
  for (int i = 0; text && i < 3; i++)
    if (strcmp(text, names[i]) == 0) return s->way = (way)i, APP_DONE;
  return text ? app_misused(s->run.a, "--derivatives: \"%s\" is none of auto, forward, adjoint", text)
              : APP_DONE;
}

/* ---- Creation ---- */

static ga_status create_measures(analysis *s, int *which)
{
  app_runner *r = &s->run;
  ga_study_parameter *known = calloc((size_t)s->by.n + 1, sizeof *known);
  if (!known) return GA_ERR_MEMORY;
  for (int j = 0; j < s->by.n; j++) {
    const app_by *p = &s->by.at[j];
    known[j] = (ga_study_parameter){p->name, strcmp(p->unit, "1") == 0 ? "" : p->unit, p->value};
  }
  const ga_status status = ga_measures_create(r->s.ctx, r->s.machine, s->n, (const char *const *)s->texts,
                                              s->by.n, known, which, &s->measures);
  free(known);
  return status;
}

/* Forward derivatives for few parameters, and for measures that have no other. */
static int choose_way(analysis *s)
{
  for (int i = 0; i < s->n; i++) {
    const char *note = ga_measures_adjoint_note(s->measures, i);
    if (!*note) continue;
    if (s->way == ADJOINT)
      return app_misused(s->run.a, "--derivatives adjoint: %s: %s; forward derivatives have them",
                         s->labels[i], note);
    s->way = FORWARD;
  }
  s->chosen = s->way == AUTO;
  if (s->way == AUTO) s->way = s->by.n > FEW * s->n ? ADJOINT : FORWARD;
  return APP_DONE;
}

static ga_status follow(analysis *s)
{
  app_runner *r = &s->run;
  ga_parameter *list = calloc((size_t)s->by.n + 1, sizeof *list);
  ga_measure_by *by = calloc((size_t)s->by.n + 1, sizeof *by);
  ga_status status = list && by ? GA_OK : GA_ERR_MEMORY;
  for (int j = 0; j < s->by.n && !status; j++) {
    list[j] = *ga_model_variation_parameter(s->by.at[j].variation);
    by[j] = (ga_measure_by){s->by.at[j].variation, j};
  }
  if (!status && s->way == FORWARD) {
    status = ga_sensitivity_create(r->s.ctx, r->s.stepper, s->by.n, list, &s->se);
    if (!status) status = app_by_use_events(r, &s->by, s->se);
    if (!status) status = ga_measures_differentiate(s->measures, s->se, s->by.n, by);
  } else if (!status) {
    status = ga_adjoint_create(r->s.ctx, r->s.stepper, s->by.n, list, NULL, &s->adjoint);
    if (!status) status = ga_measures_use_adjoint(s->measures, s->adjoint, s->by.n, by);
    s->refused = status == GA_ERR_ARGUMENT;
  }
  free(list);
  free(by);
  return status;
}

/* ---- The run ---- */

/* What is done at the end of each step, or at an event before it changes the motion. */
static ga_status follow_step(analysis *s)
{
  app_runner *r = &s->run;
  ga_status status = s->se ? ga_sensitivity_step(s->se) : ga_adjoint_step(s->adjoint);
  if (s->adjoint) s->refused = status == GA_ERR_ORDER || status == GA_ERR_ARGUMENT;
  if (!status) status = ga_meter_follow(r->meter, r->s.stepper);
  if (!status) status = ga_measures_step(s->measures, r->s.stepper, r->meter);
  if (!status) status = ga_meter_update(r->meter, ga_stepper_state(r->s.stepper));
  return status;
}

/* The step that leads to an event that changes the motion can be seen inside now, but not later. */
static int on_event(void *user, int event, const ga_state *state)
{
  analysis *s = user;
  (void)state;
  if (s->failed) return 1; /* another event at the same time has failed */
  if (!ga_machine_event_changes(s->run.s.machine, event)) return 0;
  if (s->adjoint) { /* behind an event it cannot go on */
    s->refused = 1;
    s->failed = GA_ERR_ORDER;
  } else {
    s->failed = follow_step(s);
  }
  return s->failed != GA_OK;
}

static ga_status begin(analysis *s)
{
  app_runner *r = &s->run;
  ga_simulate_opts opts = ga_simulate_defaults();
  ga_status status = app_events_open(&r->events, &r->s, on_event, s, &opts);
  if (!status) status = app_by_check_span(r, &s->by);
  if (!status) status = app_task_prepare(&r->s, &r->s.settings, &opts);
  if (!status) status = ga_meter_create(ga_machine_context(r->s.machine), r->s.machine, &r->meter);
  if (!status) status = follow(s);
  if (!status) status = app_task_start(&r->s, !app_has(r->a, "quiet"));
  if (!status) status = ga_meter_start(r->meter, ga_stepper_state(r->s.stepper));
  if (!status) status = s->se ? ga_sensitivity_begin(s->se) : ga_adjoint_begin(s->adjoint);
  s->refused |= s->adjoint && status == GA_ERR_ARGUMENT;
  if (!status) status = ga_measures_start(s->measures, r->s.stepper, r->meter);
  return status;
}

static ga_status run_steps(analysis *s)
{
  app_runner *r = &s->run;
  const ga_state *state = ga_stepper_state(r->s.stepper);
  ga_status status = GA_OK;
  int finished = 0;
  while (!status && !finished) {
    if (app_call_is_stopped()) return GA_STOPPED;
    status = ga_simulator_step(r->s.simulator);
    if (s->failed) { /* at an event: the simulator has cleared the message */
      const ga_status again = s->se ? ga_sensitivity_step(s->se) : GA_OK;
      return again ? again : s->failed;
    }
    finished = ga_simulator_finished(r->s.simulator);
    if (status == GA_STOPPED && !finished) finished = r->events.ended = 1;
    if (status == GA_STOPPED && r->events.ended && s->adjoint) return s->refused = 1, GA_ERR_ORDER;
    if (status == GA_STOPPED) status = GA_OK;
    if (!status) status = follow_step(s);
    const long steps = ga_simulator_stats(r->s.simulator)->steps;
    if (app_progress_due(&r->s.progress, state->t, steps)) app_progress_show(&r->s.progress, state->t, 0.0);
  }
  return status;
}

static ga_status finish(analysis *s)
{
  ga_status status = ga_measures_end(s->measures, s->values, NULL);
  for (int i = 0; i < s->n && !status; i++) {
    double *to = s->gradient + (size_t)i * (size_t)s->by.n;
    status = s->se ? ga_measures_slopes(s->measures, i, to) : ga_measures_gradient(s->measures, i, to);
    s->refused = s->adjoint && status == GA_ERR_ARGUMENT;
  }
  return status;
}

/* ---- What comes out ---- */

static const char *note_of(const analysis *s, int i)
{
  const char *note = ga_measures_note(s->measures, i);
  if (!*note && s->se) note = ga_measures_slope_note(s->measures, i);
  return note;
}

static void print_measure(const analysis *s, int i)
{
  enum { MOST = 40 };
  const double *g = s->gradient + (size_t)i * (size_t)s->by.n;
  const char *unit = ga_measures_unit(s->measures, i);
  printf("%s = %.9g%s%s\n", s->labels[i], s->values[i], strcmp(unit, "1") ? " " : "",
         strcmp(unit, "1") ? unit : "");
  if (*note_of(s, i)) printf("  %s\n", note_of(s, i));
  if (s->by.n > MOST) printf("  the first %d of %d parameters:\n", MOST, s->by.n);
  for (int j = 0; j < s->by.n && j < MOST; j++) {
    const app_by *p = &s->by.at[j];
    char of[APP_DERIVATIVE_UNIT];
    app_derivative_unit(s->run.s.ctx, unit, p->unit, of);
    printf("  by %-20s %16.9g %-12s", p->name, g[j], strcmp(of, "1") ? of : "");
    if (p->value != 0.0 && isfinite(g[j]))
      printf(" 1 %% of it changes it by %.3g", 0.01 * fabs(p->value) * g[j]);
    putchar('\n');
  }
}

/* 0: a derivative is missing. */
static int has_all(const analysis *s)
{
  for (int k = 0; k < s->n * s->by.n; k++)
    if (!isfinite(s->gradient[k])) return 0;
  return 1;
}

static ga_status write_file(analysis *s)
{
  app_runner *r = &s->run;
  const size_t n = (size_t)s->n, n_by = (size_t)s->by.n, all = n * n_by;
  const char **texts = calloc(3 * n + 2 * n_by + all + 1, sizeof *texts);
  char(*units)[APP_DERIVATIVE_UNIT] = calloc(all + 1, sizeof *units);
  double *at = calloc(n_by + 1, sizeof *at);
  const char *attributes[] = {"derivatives", s->se ? "forward" : "adjoint"};
  ga_status status = texts && units && at ? GA_OK : GA_ERR_MEMORY;
  if (!status) {
    const char **unit = texts + n, **note = unit + n, **by = note + n, **by_unit = by + n_by,
               **of = by_unit + n_by;
    for (size_t i = 0; i < n; i++) {
      texts[i] = s->labels[i];
      unit[i] = ga_measures_unit(s->measures, (int)i);
      note[i] = note_of(s, (int)i);
      for (size_t j = 0; j < n_by; j++) {
        app_derivative_unit(r->s.ctx, unit[i], s->by.at[j].unit, units[i * n_by + j]);
        of[i * n_by + j] = units[i * n_by + j];
      }
    }
    for (size_t j = 0; j < n_by; j++)
      by[j] = s->by.at[j].name, by_unit[j] = s->by.at[j].unit, at[j] = s->by.at[j].value;
    const ga_table list[] = {{.name = "names", .rows = s->n, .texts = texts},
                             {.name = "units", .rows = s->n, .texts = unit},
                             {.name = "notes", .rows = s->n, .texts = note},
                             {.name = "values", .rows = s->n, .numbers = s->values},
                             {.name = "by", .rows = s->by.n, .texts = by},
                             {.name = "by_units", .rows = s->by.n, .texts = by_unit},
                             {.name = "by_values", .rows = s->by.n, .numbers = at},
                             {.name = "gradient", .rows = s->n, .cols = s->by.n, .numbers = s->gradient},
                             {.name = "gradient_units", .rows = (int)all, .texts = of}};
    status = ga_tables_write(r->s.ctx, r->file,
                             &(ga_tables){.format = "galpha gradient 1",
                                          .n = sizeof list / sizeof *list,
                                          .table = list,
                                          .model = ga_model_text(r->s.model),
                                          .n_attributes = 1,
                                          .attributes = attributes});
  }
  free(texts);
  free(units);
  free(at);
  return status;
}

static int explain(const analysis *s, ga_status status)
{
  const ga_error *why = ga_context_error(s->run.s.ctx);
  const char *text = why->status == status ? why->text : ga_status_text(status);
  if (s->adjoint && status == GA_ERR_ORDER && why->status != status)
    text = "an event ends the run or changes its motion, which the adjoint does not follow; forward "
           "derivatives do";
  fprintf(stderr, "galpha sensitivity: %s\n", text);
  if (why->status == status) app_call_keep_error(s->run.s.ctx);
  return APP_FAILED;
}

static int end(analysis *s, double seconds)
{
  app_runner *r = &s->run;
  char elapsed[32];
  const ga_status status = write_file(s);
  if (status) return explain(s, status);
  app_duration(elapsed, sizeof elapsed, seconds);
  if (!app_has(r->a, "quiet")) {
    if (r->events.ended)
      printf("\nended by event '%s' at t = %.9g s after %s\n",
             ga_machine_event_name(r->s.machine, ga_event_watch_stopped_by(r->events.watch)),
             ga_stepper_state(r->s.stepper)->t, elapsed);
    else
      printf("\nfinished at t = %.9g s after %s\n", ga_stepper_state(r->s.stepper)->t, elapsed);
    printf("derivatives  of %d measure%s by %d parameter%s, %s\n", s->n, s->n == 1 ? "" : "s", s->by.n,
           s->by.n == 1 ? "" : "s", s->se ? "forwards" : "by the adjoint");
    if (s->by.n_left > 0)
      printf("left out     %d parameter%s: zero, or no number that can be changed by a little: %s%s\n",
             s->by.n_left, s->by.n_left == 1 ? "" : "s", s->by.left, strlen(s->by.left) > 140 ? ", ..." : "");
    for (int i = 0; i < s->n; i++) print_measure(s, i);
    printf("results      %s\n", r->file);
  }
  fflush(stdout);
  for (int j = 0; j < s->by.n; j++)
    app_by_warn(&s->by.at[j], s->se ? ga_sensitivity_doubt(s->se, j) : ga_adjoint_doubt(s->adjoint, j));
  if (has_all(s)) return APP_DONE;
  fputs("galpha sensitivity: a measure has no value or no derivative", stderr);
  for (int i = 0; i < s->n; i++)
    if (*note_of(s, i)) fprintf(stderr, "; %s: %s", s->labels[i], note_of(s, i));
  fputc('\n', stderr);
  return APP_FAILED;
}

static void close_analysis(analysis *s)
{
  app_runner *r = &s->run;
  ga_measures_destroy(&s->measures);
  ga_adjoint_destroy(&s->adjoint);
  ga_sensitivity_destroy(&s->se);
  ga_meter_destroy(&r->meter);
  app_by_free(&s->by);
  app_events_close(&r->events);
  app_task_close(&r->s);
  app_record_free(r);
  app_measures_free(s->n, s->texts, s->labels);
  free(s->values);
  free(s->gradient);
}

static int open(analysis *s)
{
  app_runner *r = &s->run;
  int which = -1, code = s->repeats ? app_task_open_again(&r->s, r->a) : app_task_open(&r->s, r->a);
  r->s.settle = app_by_settle;
  r->s.settle_user = &s->by;
  r->s.settings.accuracy = 0.0; /* no error bars */
  if (!code && app_has(r->a, "record"))
    code = app_misused(r->a, "--record has no effect with measures; it is for derivatives of signals");
  if (!code) code = app_measures_take(r->a, &s->n, &s->texts, &s->labels);
  if (!code) code = app_by_take(r, &s->by);
  if (!code) code = app_record_file(r);
  if (!code) code = app_by_vary(r, &s->by);
  if (code) return code;
  s->values = calloc((size_t)s->n + 1, sizeof *s->values);
  s->gradient = calloc((size_t)s->n * (size_t)s->by.n + 1, sizeof *s->gradient);
  if (!s->values || !s->gradient) return no_memory();
  if (create_measures(s, &which)) {
    app_call_keep_error(r->s.ctx);
    return app_misused(r->a, "%s", ga_context_error(r->s.ctx)->text);
  }
  return choose_way(s);
}

/* *again 1: the choice was the adjoint, which cannot follow this run. */
static int analyse(const app_arguments *a, way as, int *again)
{
  analysis s = {.run = {.a = a, .analysis = "sensitivity"}, .way = as, .repeats = as != AUTO};
  app_runner *r = &s.run;
  int code = as == AUTO ? take_way(&s) : APP_DONE;
  if (!code) code = open(&s);
  if (!code) {
    const int quiet = app_has(a, "quiet");
    const double began = app_clock();
    ga_status status = begin(&s);
    if (!status && !quiet && as == AUTO) app_task_report(&r->s, stdout, 0, app_has(a, "verbose"));
    fflush(stdout);
    app_progress_start(&r->s.progress, quiet || status, r->s.settings.t_start, r->s.settings.t_start,
                       r->s.settings.t_end);
    if (!status) status = run_steps(&s);
    if (!status) status = finish(&s);
    app_progress_clear(&r->s.progress);
    *again = status && s.chosen && s.way == ADJOINT && s.refused;
    if (!*again) code = status ? explain(&s, status) : end(&s, app_clock() - began);
  }
  close_analysis(&s);
  return code;
}

int app_sensitivity_of_measures(const app_arguments *a)
{
  int again = 0;
  const int code = analyse(a, AUTO, &again);
  return again ? analyse(a, FORWARD, &again) : code;
}
