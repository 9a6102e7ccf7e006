/* galpha kinematics: a motion that is prescribed wholly, and the forces that it needs. */
#include "call.h"
#include "runner.h"
#include "summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RECORDS = 500 }; /* where neither the model nor an option gives the time between them */

/* The force that a prescribed motion needs. */
typedef struct needed_force {
  int index;        /* of the signal; −1: there is none */
  double low, high; /* its range */
} needed_force;

typedef struct analysis {
  app_runner run;
  ga_kinematics *k;
  double t_from;       /* [s] where bodies are placed by the model; not later than the first record */
  double phi, phi_dot; /* largest residuals of constraints */
  int recorded;        /* 1: the present state is in the file */
  needed_force need[GA_MOST_PRESCRIBED];
  long jumps;        /* of accelerations */
  double first_jump; /* [s] */
} analysis;

/* ---- Records ---- */

static double larger(double a, double b)
{
  return a > b ? a : b;
}

/* Every state goes to the meter, which counts turns. */
static ga_status count(analysis *a)
{
  app_runner *r = &a->run;
  const ga_state *s = ga_kinematics_state(a->k);
  const ga_status status = r->metered ? ga_meter_update(r->meter, s) : ga_meter_start(r->meter, s);
  double phi = 0.0, phi_dot = 0.0;
  r->metered = 1;
  a->recorded = 0;
  const ga_jump_side side = ga_kinematics_jump(a->k);
  if (side == GA_JUMP_AFTER && a->jumps++ == 0) a->first_jump = s->t;
  if (!status && !ga_stepper_constraint_residuals(r->s.stepper, &phi, &phi_dot, NULL)) {
    a->phi = larger(a->phi, phi);
    a->phi_dot = larger(a->phi_dot, phi_dot);
  }
  return status;
}

static ga_status note_forces(analysis *a)
{
  const app_task *s = &a->run.s;
  ga_status status = GA_OK;
  for (int i = 0; i < s->prescribed.n && !status; i++) {
    needed_force *n = &a->need[i];
    double value;
    if (n->index < 0) continue;
    status = ga_machine_signals(s->machine, a->run.meter, ga_kinematics_state(a->k), 1, &n->index, &value);
    n->low = fmin(n->low, value);
    n->high = fmax(n->high, value);
  }
  return status;
}

/* The present state as that of time t. */
static ga_status record(analysis *a, double t)
{
  app_runner *r = &a->run;
  if (a->recorded) return GA_OK;
  a->recorded = 1;
  r->written = app_record_values(r, ga_kinematics_state(a->k));
  if (!r->written) r->written = note_forces(a);
  if (!r->written && !app_record_is_finite(r, t)) r->written = GA_ERR_NAN;
  if (!r->written && !r->recorder) r->written = app_record_open(r, 0);
  if (!r->written) r->written = ga_recorder_add(r->recorder, t, r->values);
  return r->written;
}

/* ---- The motion ---- */

static void find_forces(analysis *a)
{
  const app_task *s = &a->run.s;
  for (int i = 0; i < s->prescribed.n; i++) {
    const char *drive = ga_model_prescribed_by(s->model, i);
    char name[256];
    snprintf(name, sizeof name, "%s.force", drive ? drive : "");
    a->need[i] = (needed_force){drive ? ga_machine_find_signal(s->machine, name) : -1, HUGE_VAL, -HUGE_VAL};
  }
}

static ga_status begin(analysis *a)
{
  app_runner *r = &a->run;
  app_task *s = &r->s;
  const ga_system *sys = ga_machine_system(s->machine);
  const size_t nq = (size_t)ga_group_nq(ga_system_group(sys)), nv = (size_t)ga_system_size(sys, GA_BLOCK_V);
  double *q = calloc(nq + nv + (size_t)ga_system_size(sys, GA_BLOCK_X) + 1, sizeof *q);
  ga_kinematics_opts opts = ga_kinematics_defaults();
  if (!q) return GA_ERR_MEMORY;
  opts.lu = s->settings.linear_solver;
  opts.redundant = s->settings.redundant;
  opts.max_change = s->settings.max_change;
  opts.max_gap = s->settings.max_gap;
  opts.hold_states = app_has(r->a, "hold-states");
  if (!app_has(r->a, "quiet")) app_task_hold_warnings(s);
  a->t_from = fmin(ga_model_settings(s->model)->t_start, s->settings.t_start);
  ga_status status = ga_machine_check_drives(s->machine, a->t_from, s->settings.t_end);
  if (!status) status = ga_machine_initial(s->machine, q, q + nq, q + nq + nv);
  if (!status) status = ga_meter_create(s->ctx, s->machine, &r->meter);
  if (!status) status = ga_kinematics_create(s->ctx, sys, &opts, &a->k);
  if (!status) status = ga_kinematics_start(a->k, a->t_from, q, q + nq, q + nq + nv, NULL, NULL, &s->start);
  if (!status) s->stepper = ga_kinematics_stepper(a->k); /* for reports; lent */
  app_task_release_warnings(s, !status);
  free(q);
  return status;
}

/* The state at time t, with a record; both sides of jumps on the way are recorded too. Before the first
 * record is wanted there is none. */
static ga_status reach(analysis *a, double t)
{
  const int records = a->run.recorder != NULL;
  app_progress *progress = &a->run.s.progress;
  ga_status status;
  while ((status = ga_kinematics_step(a->k, t)) == GA_OK) {
    const ga_state *s = ga_kinematics_state(a->k);
    const long moves = ga_kinematics_get_stats(a->k)->moves;
    status = app_call_is_stopped() ? GA_STOPPED : count(a);
    if (!status && records && ga_kinematics_jump(a->k) != GA_JUMP_NONE) status = record(a, s->t);
    if (status) return status;
    if (app_progress_due(progress, s->t, moves)) app_progress_show(progress, s->t, 0.0);
  }
  return status == GA_STOPPED ? record(a, t) : status;
}

static ga_status follow(analysis *a)
{
  const ga_run_settings *o = &a->run.s.settings;
  const double span = o->t_end - o->t_start, every = o->output > 0.0 ? o->output : span / RECORDS;
  ga_status status = count(a);
  if (!status) status = a->t_from < o->t_start ? reach(a, o->t_start) : record(a, o->t_start);
  for (double i = 1.0; !status; i += 1.0) {
    const double t = o->t_start + i * every;
    const int last = t > o->t_end - 1e-9 * every;
    status = reach(a, last ? o->t_end : t);
    if (last) break;
  }
  return status;
}

/* ---- Words ---- */

static void print_report(const analysis *a, long records, double seconds)
{
  const ga_kinematics_stats *n = ga_kinematics_get_stats(a->k);
  char elapsed[32];
  app_duration(elapsed, sizeof elapsed, seconds);
  printf("\nfinished at t = %.9g s after %s\n", ga_kinematics_state(a->k)->t, elapsed);
  if (app_has(a->run.a, "verbose")) {
    printf("moves        %ld; %ld attempts were too long to be sure of the branch\n", n->moves, n->shortened);
    printf("constraints  worst residual %.2g of positions, %.2g of velocities; least independent at t = %.6g "
           "s\n",
           a->phi, a->phi_dot, n->least_t);
  }
  for (int i = 0; i < a->run.s.prescribed.n; i++)
    if (a->need[i].index >= 0)
      printf("needed       for %s: %s from %.6g to %.6g %s\n", a->run.s.prescribed.list[i].coordinate,
             ga_machine_signal_name(a->run.s.machine, a->need[i].index), a->need[i].low, a->need[i].high,
             ga_machine_signal_unit(a->run.s.machine, a->need[i].index));
  app_summary_print(a->run.s.ctx, a->run.file, a->run.meter, stdout);
  printf("results      %s: %ld record%s of %d signals\n", a->run.file, records, records == 1 ? "" : "s",
         a->run.n);
}

/* What to do where coordinates are free. */
static void advise_free(const analysis *a)
{
  char list[512];
  if (ga_machine_free_coordinates(a->run.s.machine, a->k, list, sizeof list) <= 0) return;
  fputs("  drives, or these options, prescribe the rest:", stderr);
  for (const char *at = list; *at; at += strspn(at, ", ")) {
    const int n = (int)strcspn(at, ",");
    fprintf(stderr, " --prescribe \"%.*s=FUNCTION\"", n, at);
    at += n;
  }
  fputc('\n', stderr);
}

/* Forces are as rough as accelerations. */
static void warn_of_jumps(const analysis *a)
{
  if (a->jumps == 0 || a->run.s.prescribed.n == 0) return;
  fprintf(stderr,
          "warning: the prescribed motion's acceleration jumps %ld time%s, first at t = %.9g s, and so do "
          "the forces "
          "(both sides are recorded); in tables, interpolation: spline has no jumps\n",
          a->jumps, a->jumps == 1 ? "" : "s", a->first_jump);
}

static int end_failed(analysis *a, ga_status status, const ga_error *why)
{
  app_runner *r = &a->run;
  char text[GA_ERROR_TEXT];
  if (r->written) {
    app_task_explain(&r->s, r->a, *r->overflow ? r->overflow : "the results cannot be written", status);
    return APP_FAILED;
  }
  const int of_model = why->reason == GA_REASON_NOT_PRESCRIBED || why->reason == GA_REASON_STATES_NEED_TIME ||
                       why->reason == GA_REASON_ROLLING_NEEDS_TIME;
  if (why->status == status) app_call_keep_error(r->s.ctx);
  ga_error_say(why, of_model ? GA_SAY_ALL & ~GA_SAY_ADVICE : GA_SAY_ALL, text, sizeof text);
  fprintf(stderr, "galpha kinematics: %s\n", why->status == status ? text : ga_status_text(status));
  if (why->reason == GA_REASON_NOT_PRESCRIBED) advise_free(a);
  if (why->reason == GA_REASON_STATES_NEED_TIME)
    fputs("  galpha run simulates the motion with them; --hold-states keeps them at their initial values\n",
          stderr);
  if (why->reason == GA_REASON_ROLLING_NEEDS_TIME) fputs("  galpha run simulates the motion\n", stderr);
  if (!ga_kinematics_state(a->k) && !of_model) app_task_advise(&r->s);
  return of_model ? APP_USAGE : APP_FAILED;
}

static int end(analysis *a, ga_status status, double seconds)
{
  app_runner *r = &a->run;
  const int quiet = app_has(r->a, "quiet");
  const ga_error why = *ga_context_error(r->s.ctx);
  const long records = r->recorder ? ga_recorder_n_records(r->recorder) : 0;
  const double last = records > 0 ? ga_recorder_time(r->recorder) : 0.0;
  const ga_status closed = r->recorder
                               ? ga_recorder_finish(r->recorder, status ? GA_RUN_FAILED : GA_RUN_FINISHED,
                                                    status ? ga_status_text(status) : NULL)
                               : GA_OK;
  ga_recorder_destroy(&r->recorder);
  app_progress_clear(&r->s.progress);
  if (!status && !closed && !quiet) print_report(a, records, seconds);
  fflush(stdout);
  if (r->metered) app_warn_of_pulls(r->meter);
  warn_of_jumps(a);
  int code = status ? end_failed(a, status, &why) : APP_DONE;
  if (closed && !r->written) {
    app_task_explain(&r->s, r->a, "the results cannot be written", closed);
    code = APP_FAILED;
  }
  if (status && records > 0 && !closed)
    fprintf(stderr, "  results up to t = %.9g s are in %s\n", last, r->file);
  return code;
}

/* The last state that was found is worth having. */
static void record_last(analysis *a)
{
  const ga_state *s = ga_kinematics_state(a->k);
  if (s && a->run.recorder && !a->run.written && s->t > ga_recorder_time(a->run.recorder)) record(a, s->t);
}

int app_kinematics(const app_arguments *arguments)
{
  analysis a = {.run = {.a = arguments, .analysis = "kinematics", .flush_every = 1.0}};
  app_runner *r = &a.run;
  int code = app_task_open(&r->s, arguments);
  r->s.settings.accuracy = 0.0; /* no error bars */
  if (!code) code = app_number(arguments, "flush-every", "s", 0.0, 1e9, &r->flush_every);
  if (!code)
    code = app_prescribed_covers(&r->s.prescribed, arguments, r->s.settings.t_start, r->s.settings.t_end);
  if (!code) code = app_record_file(r);
  if (!code) code = app_record_choose(r);
  if (!code) {
    const int quiet = app_has(arguments, "quiet");
    const double began = app_clock();
    app_record_drop_work(r);
    find_forces(&a);
    ga_status status = begin(&a);
    if (!status && !quiet) app_task_report(&r->s, stdout, 0, app_has(arguments, "verbose"));
    fflush(stdout);
    app_progress_start(&r->s.progress, quiet || status, r->s.settings.t_start, r->s.settings.t_start,
                       r->s.settings.t_end);
    if (!status && (status = follow(&a)) != GA_OK) record_last(&a);
    code = end(&a, status, app_clock() - began);
  }
  ga_recorder_destroy(&r->recorder);
  ga_meter_destroy(&r->meter);
  r->s.stepper = NULL;
  ga_kinematics_destroy(&a.k);
  app_task_close(&r->s);
  app_record_free(r);
  return code;
}
