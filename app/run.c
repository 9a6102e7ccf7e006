/* galpha run: simulates a model and writes its results. */
#include "interrupt.h"
#include "runner.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CHECK_EVERY = 256 }; /* steps between evaluations of constraint residuals */

/* ---- Statistics ---- */

static double larger(double a, double b)
{
  return a > b ? a : b;
}

app_totals app_runner_totals(const app_runner *r)
{
  const ga_simulate_stats *s = ga_simulator_stats(r->s.simulator);
  const ga_stats *n = ga_stepper_stats(r->s.stepper);
  app_totals t = r->before;
  t.steps += (double)s->steps;
  t.rejected_error += (double)s->rejected_error;
  t.rejected_newton += (double)s->rejected_newton;
  t.rejected_callback += (double)s->rejected_callback;
  t.rejected_defect += (double)s->rejected_defect;
  t.edges += (double)s->edges;
  t.iterations += (double)n->iterations;
  t.factorisations += (double)n->factorisations;
  if (s->steps > 0 && (t.h_smallest == 0.0 || s->h_smallest < t.h_smallest)) t.h_smallest = s->h_smallest;
  t.h_largest = larger(t.h_largest, s->h_largest);
  t.phi = larger(t.phi, r->worst.phi);
  t.phi_dot = larger(t.phi_dot, r->worst.phi_dot);
  t.nonholonomic = larger(t.nonholonomic, r->worst.nonholonomic);
  return t;
}

static void update_residuals(app_runner *r)
{
  double phi = 0.0, phi_dot = 0.0, k = 0.0;
  if (ga_stepper_constraint_residuals(r->s.stepper, &phi, &phi_dot, &k)) return;
  r->worst.phi = larger(r->worst.phi, phi);
  r->worst.phi_dot = larger(r->worst.phi_dot, phi_dot);
  r->worst.nonholonomic = larger(r->worst.nonholonomic, k);
}

/* ---- Preparation ---- */

static int take_options(app_runner *r)
{
  r->checkpoint_every = 500;
  r->flush_every = 1.0;
  r->bars.accuracy = r->s.settings.accuracy;
  int code = app_integer(r->a, "checkpoint-every", 0, 1000000000, &r->checkpoint_every);
  if (!code) code = app_number(r->a, "flush-every", "s", 0.0, 1e9, &r->flush_every);
  return code ? code : app_record_file(r);
}

/* Output at given times; the first one may come before the meter is started. Methods of higher order make
 * long steps, in which turns are counted from output to output. */
static int on_output(void *user, const ga_state *s)
{
  app_runner *r = user;
  ga_method_info method = {0};
  ga_method_at((int)r->s.settings.method, &method);
  if (!r->metered && (r->written = ga_meter_start(r->meter, s)) != GA_OK) return 1;
  if (!r->metered && (r->followed = app_bars_start(&r->bars, &r->s)) != GA_OK) return 1;
  r->metered = 1;
  if ((r->written = ga_meter_follow(r->meter, r->s.stepper)) != GA_OK) return 1;
  if (app_record_state(r, s) != GA_OK) return 1;
  const int within = s->t < ga_stepper_state(r->s.stepper)->t; /* at its end the step itself is metered */
  if (method.has_order && within) r->written = ga_meter_update(r->meter, s);
  return r->written != GA_OK;
}

/* An event is recorded with the state before its changes; the energy that these bring is input. */
static int on_event(void *user, int event, const ga_state *s)
{
  app_runner *r = user;
  app_events *e = &r->events;
  const int changes = ga_machine_event_changes(r->s.machine, event);
  ga_status status = GA_OK;
  r->bars.changed |= changes;
  r->bars.before_jump |= changes;
  if (!e->jumped && (!r->recorder || ga_recorder_time(r->recorder) < s->t)) status = app_record_state(r, s);
  if (!status && r->recorder) status = r->written = ga_recorder_event(r->recorder, s->t, event);
  if (!status && changes && !e->jumped) {
    status = r->written = ga_meter_follow(r->meter, r->s.stepper);
    if (!status) status = r->written = ga_meter_update(r->meter, s);
    if (!status) status = r->written = app_events_energy(&r->s, s, &e->energy);
  }
  e->jumped |= changes;
  e->n++;
  return status != GA_OK;
}

/* Behind the changes of events. */
static ga_status pass_jump(app_runner *r, const ga_state *s)
{
  double energy = 0.0;
  if (!r->events.jumped) return GA_OK;
  r->events.jumped = 0;
  const ga_status status = app_events_energy(&r->s, s, &energy);
  app_events_add_work(r->meter, r->events.watch, energy - r->events.energy);
  if (status || r->s.settings.output == 0.0) return status; /* every step is recorded anyway */
  return app_record_state(r, s);
}

/* Frees and resets what belongs to the previous round. */
static void reset_round(app_runner *r)
{
  const app_totals none = {0};
  ga_recorder_destroy(&r->recorder);
  ga_meter_destroy(&r->meter);
  app_watch_close(&r->watch);
  app_events_close(&r->events);
  r->before = r->worst = none;
  r->metered = r->has_saved = 0;
  r->followed = GA_OK;
  r->wait = 0;
}

static ga_status prepare(app_runner *r)
{
  ga_simulate_opts opts = ga_simulate_defaults();
  reset_round(r);
  opts.output = on_output;
  opts.output_within = r->s.settings.output == 0.0;
  opts.user = r;
  ga_status status = app_events_open(&r->events, &r->s, on_event, r, &opts);
  if (!status) status = app_task_prepare(&r->s, &r->s.settings, &opts);
  if (!status) status = ga_meter_create(ga_machine_context(r->s.machine), r->s.machine, &r->meter);
  if (!status) status = app_bars_prepare(&r->bars, &r->s, r->n, r->index);
  if (!status) status = app_checkpoint_prepare(r);
  r->clock_saved = app_clock();
  if (!status && !app_watch_open(&r->watch, &r->s)) status = GA_ERR_MEMORY;
  return status;
}

static ga_status begin(app_runner *r)
{
  ga_status status = app_task_start(&r->s, !app_has(r->a, "quiet"));
  const ga_state *s = ga_stepper_state(r->s.stepper);
  if (r->written || r->followed) return r->written ? r->written : r->followed;
  if (!status && !r->metered) status = ga_meter_start(r->meter, s);
  if (!status && !r->metered) status = r->followed = app_bars_start(&r->bars, &r->s);
  r->metered = 1;
  ga_state first = *s;
  first.t = r->s.settings.t_start; /* behind samples the state is later by a rounding */
  if (!status && r->s.settings.output == 0.0) status = app_record_state(r, &first);
  return status;
}

/* ---- Steps ---- */

static long lesser(long a, long b)
{
  return a < b ? a : b;
}

/* Number of steps to the next multiple of `every`. */
static long steps_until(long step, long every)
{
  return every > 0 ? every - step % every : LONG_MAX;
}

/* What is done only after some steps: records, residuals, checkpoints, progress. finished 1: after the last
 * step. Residuals and checkpoints depend on the number of steps since the start of the run, with those before
 * a resume. */
static ga_status do_periodic_work(app_runner *r, const ga_state *s, int finished)
{
  const ga_simulate_stats *stats = ga_simulator_stats(r->s.simulator);
  const long step = stats->steps, all = (long)r->before.steps + step, every = r->checkpoint_every;
  const int records = r->s.settings.output == 0.0;
  app_progress *progress = &r->s.progress;
  ga_status status = records ? app_record_state(r, s) : GA_OK;
  if (step >= r->watch.next || app_rejected(stats) > r->watch.refused) app_watch_step(&r->watch, s, stats);
  if (all % CHECK_EVERY == 0 || finished) update_residuals(r);
  if (!status && every > 0 && (all % every == 0 || finished))
    status = app_checkpoint_keep(r, finished || app_stop_asked());
  if (app_progress_due(progress, s->t, step))
    app_progress_show(progress, s->t, ga_simulator_next_step(r->s.simulator));
  r->wait = lesser(lesser(steps_until(all, CHECK_EVERY), steps_until(all, every)),
                   lesser(r->watch.next, progress->next) - step);
  if (records) r->wait = 1;
  r->t_wait = progress->t_next;
  return status;
}

/* Stops at a checkpoint if one comes soon, so that nothing has to be computed again; otherwise at once. */
static int may_stop(const app_runner *r, double asked)
{
  const double wait = 0.5; /* [s] longest delay, apart from the present step */
  return r->checkpoint_every == 0 || (r->has_saved && ga_stepper_state(r->s.stepper)->t <= r->t_saved) ||
         app_clock() - asked > wait;
}

/* GA_OK: finished; GA_STOPPED: by a signal; < 0: failed. */
static ga_status run_steps(app_runner *r)
{
  const ga_state *s = ga_stepper_state(r->s.stepper);
  const ga_simulate_stats *stats = ga_simulator_stats(r->s.simulator);
  double asked = 0.0; /* [s] clock time of the signal */
  int finished = ga_simulator_finished(r->s.simulator);
  while (!finished) {
    if (app_stop_asked()) {
      if (asked == 0.0) asked = app_clock();
      if (may_stop(r, asked)) return GA_STOPPED;
    }
    ga_status status = ga_simulator_step(r->s.simulator);
    if (status != GA_OK) {
      if (r->written || r->followed) return r->written ? r->written : r->followed;
      if (status < 0) return status;
      finished = ga_simulator_finished(r->s.simulator);
      if (!finished) finished = r->events.ended = 1; /* an event has ended the run */
    }
    status = ga_meter_follow(r->meter, r->s.stepper);
    if (!status) status = ga_meter_update(r->meter, s);
    if (!status) status = pass_jump(r, s);
    if (!status) status = r->followed = app_bars_step(&r->bars, &r->s);
    if (status) return status;
    const int due = --r->wait <= 0 || s->t >= r->t_wait || app_rejected(stats) > r->watch.refused || finished;
    if (due && (status = do_periodic_work(r, s, finished)) != GA_OK) return status;
  }
  return GA_OK;
}

/* ---- The command ---- */

/* Starts from the beginning or from the file's checkpoint. *started: there is a state. The file of a run that
 * is already finished is not opened. */
static int start_run(app_runner *r, int *started, ga_status *status)
{
  const int quiet = app_has(r->a, "quiet");
  int resumed = 0, code = APP_DONE;
  const int resume = app_has(r->a, "resume") && !r->in_part && !r->retried;
  if (resume && (code = app_checkpoint_resume(r, &resumed)) != APP_DONE) return code;
  r->had_finished = r->had_finished && resumed && ga_simulator_finished(r->s.simulator);
  if (r->had_finished) return APP_DONE;
  *status = resumed ? r->written = app_record_open(r, 1) : begin(r);
  if (*status) return APP_DONE;
  *started = 1;
  app_watch_step(&r->watch, ga_stepper_state(r->s.stepper), ga_simulator_stats(r->s.simulator));
  const double t = ga_stepper_state(r->s.stepper)->t;
  if (!quiet && resumed) printf("%s continues from t = %.9g s\n", r->file, t);
  if (!quiet && !resumed && resume) printf("%s has no checkpoint: starting from the beginning\n", r->file);
  if (!quiet && !resumed && !r->in_part) app_task_report(&r->s, stdout, 0, app_has(r->a, "verbose"));
  fflush(stdout);
  app_progress_start(&r->s.progress, quiet, r->s.settings.t_start, t, r->s.settings.t_end);
  return APP_DONE;
}

static int nothing_to_do(const app_runner *r)
{
  if (app_has(r->a, "quiet")) return APP_DONE;
  printf("%s had finished at t = %.9g s: nothing to do", r->file, ga_stepper_state(r->s.stepper)->t);
  puts(r->bars.accuracy > 0.0 ? "" : "; a later --t-end continues from there");
  return APP_DONE;
}

/* 1: the round may be repeated with another tolerance. If Newton's iteration fails only in the run for the
 * error bars, or only in a later round, the cause is where steps happen to end, as near a singular position.
 * *tolerance depends only on the last one, so that a resumed run does the same. */
static int may_repeat_round(app_runner *r, ga_status status, double *tolerance)
{
  enum { MOST = 8 };
  const double down = 0.1, up = 1.5, least = 1e-10, now = r->s.settings.tolerance;
  ga_step_failure why;
  if (r->bars.accuracy == 0.0 || status != GA_ERR_STEP || r->written || !(r->followed || r->in_part))
    return 0;
  if (!ga_stepper_failure(r->followed ? r->bars.stepper : r->s.stepper, &why) ||
      why.status != GA_RETRY_NEWTON)
    return 0;
  *tolerance = down * now >= least ? down * now : up * now;
  return r->retried < MOST;
}

/* One run to its end, or until it fails or is stopped. *again 1: the accuracy is not reached, and another
 * round with the tolerance now in the settings follows. */
static int run_round(app_runner *r, int *again)
{
  int started = 0;
  double next = 0.0;
  ga_status status = prepare(r);
  const double began = app_clock();
  *again = 0;
  if (!status) {
    const int code = start_run(r, &started, &status);
    if (code) return code;
    if (r->had_finished && r->bars.accuracy == 0.0) return nothing_to_do(r);
  }
  app_catch_signals();
  if (!status && !r->had_finished) status = run_steps(r);
  app_progress_clear(&r->s.progress);
  if (status != GA_OK && status != GA_STOPPED) {
    *again = may_repeat_round(r, status, &next);
    if (!*again) return app_end_failed(r, status, started);
    app_end_retried(r, next);
    r->retried++;
    r->s.settings.tolerance = next;
    return APP_DONE;
  }
  if (status == GA_OK && r->bars.accuracy > 0.0) {
    *again = app_bars_end(&r->bars, &r->s, app_runner_totals(r).steps, &next) == APP_TRY_AGAIN;
    if (r->had_finished && !*again) return nothing_to_do(r);
  }
  if (!*again) return app_end_reported(r, status ? app_stop_asked() : 0, app_clock() - began);
  status = app_end_round(r, next, app_clock() - began);
  r->s.settings.tolerance = next;
  r->in_part = 1;
  return status ? APP_FAILED : APP_DONE;
}

/* Rounds after the first are recorded in a second file, which replaces the first one when it is complete. */
static int simulate(app_runner *r)
{
  int again, code = app_has(r->a, "resume") ? app_checkpoint_tolerance(r) : APP_DONE;
  if (code) return code;
  do code = run_round(r, &again);
  while (again && !code);
  return code;
}

int app_run(const app_arguments *a)
{
  app_runner r = {.a = a};
  int code = app_task_open(&r.s, a);
  if (!code) code = take_options(&r);
  if (!code) code = app_record_choose(&r);
  if (!code) code = simulate(&r);
  ga_recorder_destroy(&r.recorder);
  ga_meter_destroy(&r.meter);
  app_events_close(&r.events);
  app_bars_close(&r.bars);
  app_task_close(&r.s);
  app_record_free(&r);
  app_watch_close(&r.watch);
  free(r.saved);
  return code;
}
