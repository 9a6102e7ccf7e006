/* galpha run: simulates a model and writes its results. */
#define _POSIX_C_SOURCE 200809L
#include "failure.h"
#include "runner.h"

#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LOOK_EVERY = 256 }; /* steps between looks at the constraints: looking costs an evaluation */

/* ---- Being stopped ---- */

static volatile sig_atomic_t stop_signal;

static void on_signal(int number)
{
  stop_signal = number;
}

/* A second signal of the kind ends the program at once. */
static void catch_signals(void)
{
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART | (int)SA_RESETHAND;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
}

/* ---- Counting ---- */

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
  t.iterations += (double)n->iterations;
  t.factorisations += (double)n->factorisations;
  if (s->steps > 0 && (t.h_smallest == 0.0 || s->h_smallest < t.h_smallest)) t.h_smallest = s->h_smallest;
  t.h_largest = larger(t.h_largest, s->h_largest);
  t.phi = larger(t.phi, r->worst.phi);
  t.phi_dot = larger(t.phi_dot, r->worst.phi_dot);
  t.nonholonomic = larger(t.nonholonomic, r->worst.nonholonomic);
  return t;
}

static void look_at_constraints(app_runner *r)
{
  double phi = 0.0, phi_dot = 0.0, k = 0.0;
  if (ga_stepper_constraint_residuals(r->s.stepper, &phi, &phi_dot, &k)) return;
  r->worst.phi = larger(r->worst.phi, phi);
  r->worst.phi_dot = larger(r->worst.phi_dot, phi_dot);
  r->worst.nonholonomic = larger(r->worst.nonholonomic, k);
}

/* ---- Getting ready ---- */

/* What is there and no result is not ours to replace. */
static int check_file(const app_runner *r)
{
  static const unsigned char hdf5[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
  unsigned char begin[8];
  FILE *f = fopen(r->file, "rb");
  if (!f) return APP_DONE;
  const size_t n = fread(begin, 1, sizeof begin, f);
  fclose(f);
  if (n == 0 || (n == sizeof begin && memcmp(begin, hdf5, sizeof hdf5) == 0)) return APP_DONE;
  return app_misused(r->a, "%s is there already and is no result file; it is left as it is", r->file);
}

static int take_options(app_runner *r)
{
  const char *file = app_text(r->a, "out");
  r->checkpoint_every = 500;
  r->flush_every = 1.0;
  r->file = file ? malloc(strlen(file) + 1) : app_beside(r->a->operands[0], ".h5");
  if (!r->file) return fputs("galpha: out of memory\n", stderr), APP_FAILED;
  if (file) strcpy(r->file, file);
  int code = app_integer(r->a, "checkpoint-every", 0, 1000000000, &r->checkpoint_every);
  if (!code) code = app_number(r->a, "flush-every", "s", 0.0, 1e9, &r->flush_every);
  return code ? code : check_file(r);
}

/* Output at given times; the first one may come before the meter has begun. */
static int on_output(void *user, const ga_state *s)
{
  app_runner *r = user;
  if (!r->metered && (r->written = ga_meter_start(r->meter, s)) != GA_OK) return 1;
  r->metered = 1;
  return app_record_state(r, s) != GA_OK;
}

static ga_status prepare(app_runner *r)
{
  ga_simulate_opts opts = ga_simulate_defaults();
  opts.output_every = r->s.settings.output;
  opts.output = on_output;
  opts.user = r;
  ga_status status = app_task_prepare(&r->s, &r->s.settings, &opts);
  if (!status) status = ga_meter_create(r->s.machine, &r->meter);
  if (!status) status = app_checkpoint_prepare(r);
  r->clock_saved = app_clock();
  if (!status && !app_watch_open(&r->watch, &r->s)) status = GA_ERR_MEMORY;
  return status;
}

static ga_status begin(app_runner *r)
{
  ga_status status = app_task_start(&r->s);
  const ga_state *s = ga_stepper_state(r->s.stepper);
  if (r->written) return r->written;
  if (!status && !r->metered) status = ga_meter_start(r->meter, s);
  r->metered = 1;
  if (!status && r->s.settings.output == 0.0) status = app_record_state(r, s);
  return status;
}

/* ---- Going ---- */

static long lesser(long a, long b)
{
  return a < b ? a : b;
}

/* Steps until the next one that can be divided by `every`. */
static long steps_until(long step, long every)
{
  return every > 0 ? every - step % every : LONG_MAX;
}

/* What is not done after every step; finished: this was the last one. Constraints and checkpoints go by the
 * number of steps from the run's beginning, that before it was resumed included. */
static ga_status now_and_then(app_runner *r, const ga_state *s, int finished)
{
  const ga_simulate_stats *stats = ga_simulator_stats(r->s.simulator);
  const long step = stats->steps, all = (long)r->before.steps + step, every = r->checkpoint_every;
  const int records = r->s.settings.output == 0.0;
  app_progress *progress = &r->s.progress;
  ga_status status = records ? app_record_state(r, s) : GA_OK;
  if (step >= r->watch.next || app_refused(stats) > r->watch.refused) app_watch_step(&r->watch, s, stats);
  if (all % LOOK_EVERY == 0 || finished) look_at_constraints(r);
  if (!status && every > 0 && (all % every == 0 || finished))
    status = app_checkpoint_keep(r, finished || stop_signal);
  if (app_progress_due(progress, s->t, step))
    app_progress_show(progress, s->t, ga_simulator_next_step(r->s.simulator));
  r->wait = lesser(lesser(steps_until(all, LOOK_EVERY), steps_until(all, every)),
                   lesser(r->watch.next, progress->next) - step);
  if (records) r->wait = 1;
  r->t_wait = progress->t_next;
  return status;
}

/* At once, unless the next checkpoint may be near: then nothing has to be computed again. */
static int may_stop(const app_runner *r, double asked)
{
  const double wait = 0.5; /* [s] that a user is made to wait at most, or one step */
  return r->checkpoint_every == 0 || (r->has_saved && ga_stepper_state(r->s.stepper)->t <= r->t_saved) ||
         app_clock() - asked > wait;
}

/* GA_OK: at the end; GA_STOPPED: by a signal; < 0: failed. */
static ga_status go(app_runner *r)
{
  const ga_state *s = ga_stepper_state(r->s.stepper);
  const ga_simulate_stats *stats = ga_simulator_stats(r->s.simulator);
  double asked = 0.0; /* [s] when it was asked to stop */
  int finished = ga_simulator_finished(r->s.simulator);
  while (!finished) {
    if (stop_signal) {
      if (asked == 0.0) asked = app_clock();
      if (may_stop(r, asked)) return GA_STOPPED;
    }
    ga_status status = ga_simulator_step(r->s.simulator);
    if (status != GA_OK) {
      if (r->written) return r->written;
      if (status < 0) return status;
      finished = ga_simulator_finished(r->s.simulator);
    }
    status = ga_meter_update(r->meter, s);
    if (status) return status;
    const int due = --r->wait <= 0 || s->t >= r->t_wait || app_refused(stats) > r->watch.refused || finished;
    if (due && (status = now_and_then(r, s, finished)) != GA_OK) return status;
  }
  return GA_OK;
}

/* ---- Words ---- */

static void print_energy(const app_runner *r)
{
  static const char *const names[] = {"energy.kinetic", "energy.potential", "energy.dissipated",
                                      "energy.input", "energy.balance"};
  enum { N = sizeof names / sizeof *names };
  int index[N];
  double e[N];
  for (int i = 0; i < N; i++)
    if ((index[i] = ga_machine_find_signal(r->s.machine, names[i])) < 0) return;
  if (ga_machine_signals(r->s.machine, r->meter, ga_stepper_state(r->s.stepper), N, index, e)) return;
  printf("energy       kinetic %.6g J, potential %.6g J, dissipated %.6g J, input %.6g J; balance off by "
         "%.2g J\n",
         e[0], e[1], e[2], e[3], e[4]);
}

static void print_summary(const app_runner *r, double seconds)
{
  const app_totals t = app_runner_totals(r);
  const ga_state *s = ga_stepper_state(r->s.stepper);
  const ga_system *sys = ga_stepper_system(r->s.stepper);
  char elapsed[32];
  app_duration(elapsed, sizeof elapsed, seconds);
  printf("\n%s t = %.9g s after %s", ga_simulator_finished(r->s.simulator) ? "finished at" : "ended at", s->t,
         elapsed);
  if (seconds > 0.0) printf(", %.3g times real time", (s->t - r->s.progress.t_from) / seconds);
  printf("\nsteps        %.0f, from %.2g s to %.2g s; rejected: %.0f by error, %.0f by Newton, %.0f not "
         "evaluated\n",
         t.steps, t.h_smallest, t.h_largest, t.rejected_error, t.rejected_newton, t.rejected_callback);
  printf("Newton       %.0f iterations, %.2f for a step; %.0f factorisations\n", t.iterations,
         t.steps > 0.0 ? t.iterations / t.steps : 0.0, t.factorisations);
  print_energy(r);
  if (ga_system_size(sys, GA_BLOCK_LAMBDA) + ga_system_size(sys, GA_BLOCK_PSI) > 0)
    printf("constraints  worst residual %.2g of positions, %.2g of velocities, %.2g nonholonomic\n", t.phi,
           t.phi_dot, t.nonholonomic);
}

static const char *signal_name(int number)
{
  return number == SIGINT ? "an interrupt (SIGINT)" : "SIGTERM";
}

static void print_resume(const app_runner *r)
{
  if (r->has_saved)
    fprintf(stderr, "  --resume goes on from t = %.9g s\n", r->t_saved);
  else
    fputs("  there is no checkpoint yet: --resume would begin again; see --checkpoint-every\n", stderr);
}

/* ---- Ending ---- */

/* Everything to the disk, and how it ended. */
static ga_status close_file(app_runner *r, const char *how)
{
  if (!r->recorder) return GA_OK;
  const ga_status status = ga_recorder_finish(r->recorder, how);
  ga_recorder_destroy(&r->recorder);
  return status;
}

/* A text that was cut may end within a character of several bytes: all of the last such one is left out. */
static void drop_half_character(char *text)
{
  size_t n = strlen(text);
  while (n > 0 && (text[n - 1] & 0xC0) == 0x80) n--;
  if (n > 0 && (text[n - 1] & 0xC0) == 0xC0) text[n - 1] = '\0';
}

/* Why it did not come to its end; returns the exit code. */
static int tell_failure(app_runner *r, ga_status status, int started)
{
  const ga_state *s = started ? ga_stepper_state(r->s.stepper) : NULL;
  char what[96], how[256]; /* of a status 255 bytes are kept */
  const ga_error error = *ga_context_error(r->s.ctx);
  const char *text = error.status == status ? error.text : ga_status_text(status);
  const char *words = text;
  if (r->written)
    snprintf(what, sizeof what, "the results cannot be written");
  else if (!started)
    snprintf(what, sizeof what, "the simulation cannot be started");
  else {
    snprintf(what, sizeof what, "the simulation failed at t = %.9g s after %.0f steps", s->t,
             app_runner_totals(r).steps);
    words = app_failure_headline(&r->s, text);
  }
  fprintf(stderr, "galpha run: %s: %.*s\n", what, app_failure_length(words), words);
  if (started && !r->written) app_failure_report(&r->watch, &r->s);
  snprintf(how, sizeof how, "failed: %.*s", (int)(sizeof how - sizeof "failed: "), text);
  drop_half_character(how);
  const int had_file = r->recorder != NULL;
  const ga_status closed = close_file(r, how);
  if (closed && !r->written) app_task_explain(&r->s, r->a, "the results cannot be written", closed);
  if (s && had_file) fprintf(stderr, "  results up to t = %.9g s are in %s\n", s->t, r->file);
  if (s && had_file && r->written) print_resume(r);
  return APP_FAILED;
}

static int tell_end(app_runner *r, ga_status status, double seconds)
{
  const int quiet = app_has(r->a, "quiet"), stopped = status == GA_STOPPED;
  const double t = ga_stepper_state(r->s.stepper)->t;
  const long records = ga_recorder_n_records(r->recorder);
  const ga_status closed = close_file(r, stopped ? "stopped" : "finished");
  if (closed) return app_task_explain(&r->s, r->a, "the results cannot be written", closed), APP_FAILED;
  if (!quiet) {
    print_summary(r, seconds);
    printf("results      %s: %ld records of %d signals\n", r->file, records, r->n);
    fflush(stdout);
  }
  if (!stopped) return APP_DONE;
  fprintf(stderr, "galpha run: stopped by %s at t = %.9g s; results up to there are in %s\n",
          signal_name((int)stop_signal), t, r->file);
  print_resume(r);
  return APP_FAILED;
}

/* ---- The command ---- */

/* Starts anew, or where the file's checkpoint is; *started: there is a state. */
static int start_run(app_runner *r, int *started, ga_status *status)
{
  const int quiet = app_has(r->a, "quiet");
  int resumed = 0, code = APP_DONE;
  if (app_has(r->a, "resume") && (code = app_checkpoint_resume(r, &resumed)) != APP_DONE) return code;
  *status = resumed ? r->written = app_record_open(r, 1) : begin(r);
  if (*status) return APP_DONE;
  *started = 1;
  app_watch_step(&r->watch, ga_stepper_state(r->s.stepper), ga_simulator_stats(r->s.simulator));
  const double t = ga_stepper_state(r->s.stepper)->t;
  if (!quiet && resumed) printf("%s goes on from t = %.9g s\n", r->file, t);
  if (!quiet && !resumed && app_has(r->a, "resume"))
    printf("%s has no checkpoint: from the beginning\n", r->file);
  if (!quiet && !resumed) app_task_report(&r->s, stdout);
  fflush(stdout);
  app_progress_start(&r->s.progress, quiet, r->s.settings.t_start, t, r->s.settings.t_end);
  return APP_DONE;
}

static int simulate(app_runner *r)
{
  int started = 0;
  ga_status status = prepare(r);
  const double began = app_clock();
  if (!status) {
    const int code = start_run(r, &started, &status);
    if (code) return code;
  }
  catch_signals();
  if (!status) status = go(r);
  app_progress_clear(&r->s.progress);
  return status == GA_OK || status == GA_STOPPED ? tell_end(r, status, app_clock() - began)
                                                 : tell_failure(r, status, started);
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
  app_task_close(&r.s);
  free(r.index);
  free(r.values);
  app_watch_close(&r.watch);
  free(r.saved);
  free(r.file);
  return code;
}
