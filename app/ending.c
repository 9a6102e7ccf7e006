/* The end of a run: last record, summary, report of a failure, contents of the file. */
#define _XOPEN_SOURCE 700 /* SIGXCPU */
#include "call.h"
#include "failure.h"
#include "runner.h"
#include "summary.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

/* ---- Energies ---- */

typedef enum energy { KINETIC, POTENTIAL, DISSIPATED, INPUT, BALANCE, N_ENERGIES } energy;

typedef struct energies {
  int index[N_ENERGIES]; /* signals */
  double value[N_ENERGIES];
} energies;

static int read_energies(const app_runner *r, energies *e)
{
  static const char *const names[N_ENERGIES] = {"energy.kinetic", "energy.potential", "energy.dissipated",
                                                "energy.input", "energy.balance"};
  for (int i = 0; i < N_ENERGIES; i++)
    if ((e->index[i] = ga_machine_find_signal(r->s.machine, names[i])) < 0) return 0;
  const int bars = r->bars.accuracy > 0.0; /* then the follower's motion is recorded */
  return ga_machine_signals(r->s.machine, bars ? r->bars.meter : r->meter,
                            ga_stepper_state(bars ? r->bars.stepper : r->s.stepper), N_ENERGIES, e->index,
                            e->value) == GA_OK;
}

#define BALANCED 1e-2 /* accepted error, relative to the energy exchanged, */
#define ROUNDING 1e-8 /* or to a potential energy that does not change */
#define AT_REST 1e-26 /* [J] rounding in a machine that does not move; far less than the heat of one atom */
/* With a smaller tolerance or step than this, still smaller ones are not advised. */
#define SMALL_TOLERANCE 1e-7
#define SMALL_STEP 1e-5 /* [s] */

/* After a resume the balance is that of the whole run, but the motion before the resume is not known. */
static int was_resumed(const app_runner *r)
{
  return r->before.steps > 0.0;
}

/* 1: the balance is off by too much; *most: the largest energy exchanged. The motion between start and end is
 * only searched if the energies at the end are not sufficient to decide. */
static int is_unbalanced(const app_runner *r, const energies *e, double *most)
{
  const double off = fabs(e->value[BALANCE]);
  const double moved = fmax(fabs(e->value[DISSIPATED]), fabs(e->value[INPUT]));
  double kinetic[2], potential[2];
  if (off <= BALANCED * fmax(moved, fabs(e->value[KINETIC]))) return 0;
  if (!app_watch_range(&r->watch, &r->s, e->index[KINETIC], kinetic) ||
      !app_watch_range(&r->watch, &r->s, e->index[POTENTIAL], potential))
    return 0;
  *most = fmax(moved, fmax(kinetic[1], potential[1] - potential[0]));
  return off > AT_REST && off > BALANCED * *most &&
         off > ROUNDING * fmax(fabs(potential[0]), fabs(potential[1]));
}

static void print_energy(const app_runner *r, const energies *e)
{
  double most;
  printf("energy       kinetic %.6g J, potential %.6g J, dissipated %.6g J, input %.6g J; balance off by "
         "%.2g J%s\n",
         e->value[KINETIC], e->value[POTENTIAL], e->value[DISSIPATED], e->value[INPUT], e->value[BALANCE],
         was_resumed(r) && is_unbalanced(r, e, &most) ? " since the first start, not checked after --resume"
                                                      : "");
}

static void warn_of_energy(const app_runner *r, const energies *e)
{
  const double off = fabs(e->value[BALANCE]), step = r->s.settings.step, tolerance = r->s.settings.tolerance;
  double most;
  if (was_resumed(r) || !is_unbalanced(r, e, &most)) return;
  fprintf(stderr, "warning: the energy balance is off by %.3g J, ", off);
  if (off < most)
    fprintf(stderr, "%.2g %% of the largest energy exchanged, %.3g J: ", 100.0 * off / most, most);
  else
    fprintf(stderr, "more than the largest energy exchanged, %.3g J: ", most);
  const double wanted =
      0.5 * BALANCED * most / off; /* ratio of errors; order 2 in steps, at least 1/2 in tolerances */
  if (ga_simulator_stats(r->s.simulator)->ringing)
    fputs("forces of constraints ring, as reported above; ", stderr);
  else if (step > SMALL_STEP)
    fprintf(stderr, "the steps are too large; try --step %.2g, or error control, --tol 1e-4; ",
            step * fmin(0.25, sqrt(wanted)));
  else if (step > 0.0)
    fprintf(stderr, "the steps of %.2g s are small already, and smaller ones may not help; ", step);
  else if (tolerance > SMALL_TOLERANCE)
    fprintf(stderr, "the steps are too large; try --tol %.1g; ", tolerance * fmin(0.1, wanted * wanted));
  else
    fprintf(stderr, "the tolerance of %.1g is small already, and a smaller one may not help; ", tolerance);
  fputs("galpha converge shows the errors\n", stderr);
}

/* ---- Summary ---- */

/* "; rejected: 3 (error), 1 (Newton)" */
static void print_rejected(const app_totals *t)
{
  const struct {
    double n;
    const char *why;
  } part[] = {{t->rejected_error, "error too large"},
              {t->rejected_newton, "Newton's iteration failed"},
              {t->rejected_callback, "a value was undefined"},
              {t->rejected_defect, "something acted within them"}};
  int n = 0;
  for (size_t i = 0; i < sizeof part / sizeof *part; i++)
    if (part[i].n > 0.0) printf("%s%.0f (%s)", n++ ? ", " : "; rejected: ", part[i].n, part[i].why);
  putchar('\n');
}

/* What only users who know the methods need: -v. */
static void print_numerics(const app_runner *r, const app_totals *t)
{
  const ga_system *sys = ga_stepper_system(r->s.stepper);
  printf("steps        %.0f, of ", t->steps);
  if (t->h_largest - t->h_smallest > 1e-6 * t->h_largest) printf("%.2g s to ", t->h_smallest);
  printf("%.2g s", t->h_largest);
  print_rejected(t);
  if (t->edges > 0.0)
    printf("edges        %.0f steps end where a force jumps or has a corner with the motion\n", t->edges);
  if (r->bars.accuracy > 0.0)
    printf("half steps   %ld for the error bars, %ld of them subdivided; their results are recorded\n",
           ga_follower_steps(r->bars.follower), ga_follower_subdivided(r->bars.follower));
  printf("Newton       %.0f iterations, %.2f per step; %.0f factorisations\n", t->iterations,
         t->steps > 0.0 ? t->iterations / t->steps : 0.0, t->factorisations);
  if (ga_system_size(sys, GA_BLOCK_LAMBDA) + ga_system_size(sys, GA_BLOCK_PSI) > 0)
    printf("constraints  largest residual %.2g of positions, %.2g of velocities, %.2g nonholonomic\n", t->phi,
           t->phi_dot, t->nonholonomic);
}

static void print_summary(const app_runner *r, double seconds, const energies *e)
{
  const app_totals t = app_runner_totals(r);
  const ga_state *s = ga_stepper_state(r->s.stepper);
  char elapsed[32];
  app_duration(elapsed, sizeof elapsed, seconds);
  const int ended = ga_event_watch_stopped_by(r->events.watch);
  if (ended >= 0)
    printf("\nended by event '%s' at t = %.9g s after %s", ga_machine_event_name(r->s.machine, ended), s->t,
           elapsed);
  else
    printf("\n%s t = %.9g s after %s", ga_simulator_finished(r->s.simulator) ? "finished at" : "ended at",
           s->t, elapsed);
  if (seconds > 0.0) printf(", %.3g times real time", (s->t - r->s.progress.t_from) / seconds);
  putchar('\n');
  if (r->bars.accuracy == 0.0)
    printf("accuracy     unknown: %s; --accuracy 1e-3 instead computes error bars\n",
           r->s.settings.step > 0.0 ? "steps are equal" : "a tolerance limits the error of each step only");
  if (app_has(r->a, "verbose")) print_numerics(r, &t);
  if (e && ga_machine_n_bodies(r->s.machine) > 0) print_energy(r, e);
}

/* ---- The file ---- */

/* Adds a record where a run failed or was stopped, since this is the state of interest. It comes after the
 * last checkpoint, so a run that is resumed drops it. */
static void record_last(app_runner *r)
{
  const ga_state *s = ga_stepper_state(r->s.stepper);
  if (r->followed) return;
  if (!r->recorder || r->written || !(ga_recorder_time(r->recorder) < s->t)) return;
  if (app_record_values(r, s)) return;
  if (!app_record_is_finite(r, s->t)) return;
  ga_recorder_add(r->recorder, s->t, r->values); /* a failure of the file is reported when it is closed */
}

/* Writes everything to the disk, with the end of the run in words. */
static ga_status close_file(app_runner *r, ga_run_status how, const char *words)
{
  if (!r->recorder) return GA_OK;
  ga_status status = ga_recorder_finish(r->recorder, how, words);
  ga_recorder_destroy(&r->recorder);
  if (!r->in_part) return status;
  if (status || how != GA_RUN_FINISHED) /* the results of the previous round are kept */
    remove(r->part);
  else if (rename(r->part, r->file)) {
    fprintf(stderr, "galpha run: %s cannot be renamed to %s: %s\n", r->part, r->file, strerror(errno));
    status = GA_ERR_FILE;
  }
  return status;
}

static void report_resume(double t, size_t saved)
{
  if (saved > 0)
    fprintf(stderr, "  --resume continues from t = %.9g s\n", t);
  else
    fputs("  there is no checkpoint yet: --resume would start from the beginning; see --checkpoint-every\n",
          stderr);
}

/* Reports what is in the file after it was closed. */
static void report_file(const app_runner *r, int with_resume)
{
  if (access(r->file, F_OK) != 0) {
    fprintf(stderr, "  %s%s%s no longer exist%s: unless moved, the results of this run are lost. ", r->file,
            r->in_part ? " and " : "", r->in_part ? r->part : "", r->in_part ? "" : "s");
    fputs("Something else deletes files of this folder; write elsewhere (-o) and run it again\n", stderr);
    return;
  }
  if (r->in_part) {
    fprintf(stderr,
            "  the complete results of the previous round, with their error bars, are in %s\n"
            "  --resume tries again with a smaller tolerance\n",
            r->file);
    return;
  }
  ga_result *result = NULL;
  double last = 0.0, t = 0.0;
  size_t saved = 0;
  ga_status status = ga_result_open(r->s.ctx, r->file, &result);
  const long n = status ? 0 : ga_result_n_records(result);
  if (!status && n > 0) status = ga_result_read(result, -1, n - 1, 1, &last);
  if (!status) status = ga_result_checkpoint(result, &t, &saved, NULL);
  if (status)
    fprintf(stderr, "  %s cannot be read back\n", r->file);
  else if (n > 0)
    fprintf(stderr, "  results up to t = %.9g s are in %s\n", last, r->file);
  else
    fprintf(stderr, "  there are no records in %s\n", r->file);
  if (!status && with_resume) report_resume(t, saved);
  ga_result_close(&result);
}

/* ---- The end ---- */

/* Cuts a long text after a word, so that it fits into the file. */
static void shorten(char *words, size_t size, const char *text)
{
  static const char more[] = " \u2026";
  const int length = snprintf(words, size, "%s", text);
  if (length < (int)size) return;
  size_t end = size - sizeof more;
  while (end > 0 && words[end] != ' ') end--;
  strcpy(words + end, more);
}

static void describe_failure(const app_runner *r, ga_status status, int pieces, char text[GA_ERROR_TEXT])
{
  const ga_error *error = ga_context_error(r->s.ctx);
  if (*r->overflow)
    snprintf(text, GA_ERROR_TEXT, "%s", r->overflow);
  else if (error->status == status)
    ga_error_say(error, pieces, text, GA_ERROR_TEXT), app_call_keep_error(r->s.ctx);
  else
    snprintf(text, GA_ERROR_TEXT, "%s", ga_status_text(status));
}

int app_end_failed(app_runner *r, ga_status status, int started)
{
  const ga_state *s = started ? ga_stepper_state(r->s.stepper) : NULL;
  const ga_state *follower =
      r->followed ? ga_stepper_state(r->bars.stepper) : NULL; /* none: a new start failed */
  char what[96], kept[256];                                   /* the file has room for 255 bytes */
  char text[GA_ERROR_TEXT], brief[GA_ERROR_TEXT];             /* brief: without advice for programmers */
  const char *words = NULL;
  describe_failure(r, status, GA_SAY_ALL, text);
  describe_failure(r, status, GA_SAY_ALL & ~GA_SAY_ADVICE, brief);
  if (r->written)
    snprintf(what, sizeof what, *r->overflow ? "the simulation failed" : "the results cannot be written");
  else if (!started)
    snprintf(what, sizeof what, "the simulation cannot be started");
  else if (r->followed)
    snprintf(what, sizeof what, "the run in halved steps, for the error bars, failed at t = %.9g s",
             follower ? follower->t : s->t);
  else
    snprintf(what, sizeof what, "the simulation failed at t = %.9g s after %.0f steps", s->t,
             app_runner_totals(r).steps);
  if (started && !r->written) words = app_failure_headline(&r->s);
  if (!words) words = started && !r->written ? brief : text;
  fprintf(stderr, "galpha run: %s: %s\n", what, words);
  if (!started && !r->written) app_task_advise(&r->s);
  if (started && !r->written) {
    app_task failed = r->s;
    if (r->followed && follower) failed.stepper = r->bars.stepper;
    app_failure_report(&r->watch, &failed);
  }
  if (!started || r->written || !app_failure_cause(&r->s, brief, sizeof brief)) strcpy(brief, text);
  shorten(kept, sizeof kept, brief);
  const int had_file = r->recorder != NULL;
  if (s) record_last(r);
  const ga_status closed = close_file(r, GA_RUN_FAILED, kept);
  if (closed && !r->written) app_task_explain(&r->s, r->a, "the results cannot be written", closed);
  if (had_file || r->in_part) report_file(r, r->written != GA_OK);
  return APP_FAILED;
}

static const char *signal_name(int number)
{
  return number == SIGINT    ? "an interrupt (SIGINT)"
         : number == SIGHUP  ? "the closing of its terminal (SIGHUP)"
         : number == SIGXCPU ? "the limit of CPU time (SIGXCPU)"
                             : "SIGTERM";
}

/* Energies may overflow even if the recorded signals do not. */
static int is_finite(const energies *e)
{
  double sum = 0.0;
  for (int i = 0; i < N_ENERGIES; i++) sum += e->value[i];
  return isfinite(sum);
}

/* From this tolerance on the method automatic takes less work than order 2 at equal errors, but for stiff machines
 * (docs/choose.md). */
#define FOR_HIGHER_ORDER 1e-6

static void hint_at_orders(const app_runner *r, double tolerance)
{
  if (r->s.settings.method == GA_STABILIZED && tolerance <= FOR_HIGHER_ORDER &&
      r->s.settings.tolerance > FOR_HIGHER_ORDER)
    printf("  hint: --method automatic needs much less work at such tolerances where motions are smooth\n");
}

ga_status app_end_round(app_runner *r, double tolerance, double seconds)
{
  char elapsed[32];
  double most;
  const int worst = ga_band_worst(r->bars.band, &most);
  const ga_status closed = close_file(r, GA_RUN_FINISHED, NULL);
  app_duration(elapsed, sizeof elapsed, seconds);
  if (!app_has(r->a, "quiet") && !closed) {
    printf(
        "round %d      tolerance %.1g, %.0f steps, %s: error bars up to %.2g %% (%s); next tolerance %.1g\n",
        r->bars.n_rounds, r->s.settings.tolerance, app_runner_totals(r).steps, elapsed, 100.0 * most,
        worst >= 0 ? ga_machine_signal_name(r->s.machine, r->index[worst]) : "", tolerance);
    hint_at_orders(r, tolerance);
  }
  fflush(stdout);
  if (closed) app_task_explain(&r->s, r->a, "the results cannot be written", closed);
  return closed;
}

void app_end_retried(app_runner *r, double tolerance)
{
  const double t = ga_stepper_state(r->s.stepper)->t, old = r->s.settings.tolerance;
  close_file(r, GA_RUN_FAILED, NULL);
  app_bars_drop(&r->bars);
  if (app_has(r->a, "quiet")) return;
  printf("round %d      tolerance %.1g, failed near t = %.6g s; next tolerance %.1g\n", r->bars.n_rounds + 1,
         old, t, tolerance);
  fflush(stdout);
}

int app_end_reported(app_runner *r, int stopped_by, double seconds)
{
  const int quiet = app_has(r->a, "quiet");
  const double t = ga_stepper_state(r->s.stepper)->t;
  energies e;
  const int has_energies = read_energies(r, &e);
  if (stopped_by) record_last(r);
  const long records = ga_recorder_n_records(r->recorder);
  const ga_status closed = close_file(r, stopped_by ? GA_RUN_STOPPED : GA_RUN_FINISHED, NULL);
  if (!quiet) {
    print_summary(r, seconds, has_energies ? &e : NULL);
    app_bars_print(&r->bars, stdout);
    if (!closed) app_summary_print(r->s.ctx, r->file, r->meter, stdout);
    if (!closed && r->events.watch) app_events_print(r->s.ctx, r->file, stdout);
    if (!closed) printf("results      %s: %ld records of %d signals", r->file, records, r->n);
    if (!closed) app_record_print_left_out(r), putchar('\n');
    fflush(stdout);
  }
  if (has_energies && is_finite(&e)) warn_of_energy(r, &e);
  app_warn_of_pulls(r->meter);
  if (!stopped_by) app_bars_explain(&r->bars);
  if (stopped_by) fprintf(stderr, "galpha run: stopped by %s at t = %.9g s\n", signal_name(stopped_by), t);
  if (closed) app_task_explain(&r->s, r->a, "the results cannot be written", closed);
  if (has_energies && !is_finite(&e)) {
    fprintf(stderr,
            "galpha run: the energies of the machine are infinite or not a number at t = %.9g s: the model's "
            "numbers are too large or too small to compute with; check their units\n",
            t);
    return APP_FAILED;
  }
  if (!closed && !stopped_by) return APP_DONE;
  report_file(r, 1);
  return APP_FAILED;
}
