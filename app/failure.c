/* Reports of failures: the equation, recent changes, what to try. */
#include "failure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Values ---- */

static void print_value(double value, const char *unit)
{
  fprintf(stderr, "%.6g%s%s", value, unit[0] ? " " : "", unit);
}

static void print_change(const app_history *h, const app_finding *f)
{
  const char *unit = ga_machine_signal_unit(h->machine, f->signal);
  double least, most;
  app_history_range(h, f->signal, &least, &most);
  fprintf(stderr, "    %s: from ", ga_machine_signal_name(h->machine, f->signal));
  print_value(app_history_value(h, f->from, f->signal), unit);
  fprintf(stderr, " to ");
  print_value(app_history_value(h, f->to, f->signal), unit);
  fprintf(stderr, "; before that ");
  if (least == most) {
    fprintf(stderr, "always ");
    print_value(least, unit);
  } else {
    fprintf(stderr, "between ");
    print_value(least, unit);
    fprintf(stderr, " and ");
    print_value(most, unit);
  }
  fputc('\n', stderr);
}

/* Until when steps had their usual size, and why they were rejected since. */
static void print_steps(const app_history *h, const app_task *s, const ga_step_failure *f)
{
  const ga_simulate_stats *stats = ga_simulator_stats(s->simulator);
  const int last = h->n - 1 - h->trial;
  const double usual = 0.5 * app_history_step(h);
  int at = last;
  while (at > 0 && h->sample[at]->h < usual) at--;
  const app_sample *from = h->sample[at], *then = at < last ? h->sample[at + 1] : NULL;
  const double t = then ? then->t - then->h : from->t;
  const long step = then ? then->step - 1 : from->step;
  fprintf(stderr, "  step size: ");
  if (from->h > 0.0) fprintf(stderr, "%.3g s up to t = %.9g s; ", from->h, t);
  fprintf(stderr,
          "%.3g s was tried last. %s: %ld accepted; rejected %ld (error too large), %ld (Newton's iteration "
          "failed), "
          "%ld (a value was undefined)\n",
          f->h, from->h > 0.0 ? "Since then" : "Steps", h->sample[last]->step - step,
          stats->rejected_error - from->rejected[0], stats->rejected_newton - from->rejected[1],
          stats->rejected_callback - from->rejected[2]);
}

/* 1: the signal has its last value, up to the error of an iteration. */
static int is_as_last(const app_history *h, int sample, int signal)
{
  const double value = app_history_value(h, h->n - 1 - h->trial, signal);
  return fabs(app_history_value(h, sample, signal) - value) <= 1e-12 * fabs(value);
}

/* Reports signals of blocks or forces that recently became constant, as at limits and ends of tables. */
static void print_constant_signals(const app_history *h)
{
  const int last = h->n - 1 - h->trial, before = h->before;
  int said = 0;
  for (int i = 0; i < h->n_signals && said < 2; i++) {
    const int rank = app_history_rank(h, i);
    if (rank != 4 && rank != 5) continue;
    int stands = last;
    while (stands > 0 && is_as_last(h, stands - 1, i)) stands--;
    const long since = h->sample[stands]->step;
    if (stands == 0 || since > h->sample[last]->step - 2 || since < h->sample[before]->step - 8) continue;
    fprintf(stderr, "  %s is constant at ", ga_machine_signal_name(h->machine, i));
    print_value(app_history_value(h, last, i), ga_machine_signal_unit(h->machine, i));
    fprintf(stderr, " since t = %.6g s\n", h->sample[stands]->t);
    said++;
  }
}

/* Larger changes are caused by an iteration that did not converge. */
#define BELIEVABLE 1e3

static void print_changes(app_history *h, const ga_step_failure *f)
{
  app_finding found[APP_FINDINGS];
  const int last = h->n - 1 - h->trial, made = f->status == GA_OK;
  if (h->before <= 0) return;
  int n = app_history_changes(h, h->before, last, HUGE_VAL, APP_ALL_GROUPS, found);
  if (n) fprintf(stderr, "  changed unusually since t = %.9g s:\n", h->sample[h->before]->t);
  for (int i = 0; i < n; i++) print_change(h, &found[i]);
  print_constant_signals(h);
  if (!h->trial) return;
  n = app_history_changes(h, last, h->n - 1, made ? HUGE_VAL : BELIEVABLE,
                          made ? APP_ALL_GROUPS : APP_FORCES_ONLY, found);
  if (n) fprintf(stderr, "  would change in the step that failed, within %.3g s:\n", f->h);
  for (int i = 0; i < n; i++) print_change(h, &found[i]);
}

/* ---- What to try ---- */

static void print_try(const char *text)
{
  fprintf(stderr, "  try: %s\n", text);
}

#define OFF 1e-6 /* relative residual above which a constraint counts as violated */

static int is_constraint(int block)
{
  return block == GA_BLOCK_LAMBDA || block == GA_BLOCK_PSI || block == GA_BLOCK_ETA;
}

/* 1: a constraint is violated, or named by the message. */
static int of_constraint(const ga_step_failure *f)
{
  int is = is_constraint(f->error.block);
  for (int i = 0; i < f->n; i++) is |= is_constraint((int)f->residual[i].block) && f->residual[i].size > OFF;
  return is;
}

/* The simulator has already tried smaller steps before it gave up, so these are not advised. */
static void print_remedies(const app_task *s, const ga_step_failure *f)
{
  const int no_value = f->status == GA_RETRY_CALLBACK || f->status == GA_RETRY_NAN;
  if (f->status == GA_OK && s->settings.min_step > 0.0) {
    print_try("--min-step 0, which allows smaller steps");
    return;
  }
  if (f->status == GA_OK) {
    print_try(
        "a smooth function instead of what jumps there: step5(t, ...) or a function of type motion instead "
        "of if() and step()");
    fprintf(
        stderr,
        "  try: equal steps, which are not reduced there: --step %.2g; or a larger tolerance, --tol %.0e\n",
        1e-3 * (s->settings.t_end - s->settings.t_start), 100.0 * s->settings.tolerance);
    return;
  }
  if (f->status < 0) {
    print_try(
        "find out why the function named above returned a number below 0, which ends a run; a number above 0 "
        "asks for smaller steps");
    return;
  }
  if (no_value && f->error.reason == GA_REASON_OUTSIDE_TABLE) {
    print_try("more points in the table, or before: and after: as hold or linear; of a grid, outside:");
    return;
  }
  if (no_value && f->error.reason == GA_REASON_BEAM_TOO_BENT) {
    print_try("more elements of the beam; 30 deg in each are accurate");
    return;
  }
  if (no_value && f->error.reason == GA_REASON_SLID_OFF) {
    print_try("an earlier t_end, or a force on its coordinate that keeps it from the end");
    return;
  }
  if (no_value) {
    print_try("arguments that stay where the function has a value, as in log(max(u, 1e-9)), sqrt(max(u, 0))");
    return;
  }
  if (of_constraint(f)) {
    print_try(
        "check whether the joints allow this position: lengths of bodies, and drives that go beyond it");
    print_try(
        "at a singular position: pass it with some speed, and not with a drive that prescribes an impossible "
        "motion");
    return;
  }
  print_try(
      "a force that jumps with the motion made smooth: tanh(v/v0) instead of sign(v), step5 instead of if()");
  print_try("a softer or more damped force where it is named above; --rho 0 damps what is stiff");
}

/* ---- The report ---- */

static void print_indented(const char *text)
{
  for (const char *c = text; *c; c++) {
    if (c == text || c[-1] == '\n') fputs("  ", stderr);
    fputc(*c, stderr);
  }
}

void app_failure_equations(const app_task *s)
{
  const int n = ga_machine_failure(s->machine, s->stepper, NULL, 0);
  char *text = n > 0 ? malloc((size_t)n + 1) : NULL;
  if (!text) return;
  ga_machine_failure(s->machine, s->stepper, text, (size_t)n + 1);
  print_indented(text);
  free(text);
}

const char *app_failure_headline(const app_task *s)
{
  ga_step_failure f;
  if (!ga_stepper_failure(s->stepper, &f)) return NULL;
  switch (f.status) {
  case GA_RETRY_NEWTON:
    return "the equations of a step cannot be solved";
  case GA_RETRY_SINGULAR:
    return "the equations of a step are singular";
  case GA_RETRY_CALLBACK:
  case GA_RETRY_NAN:
    return f.error.reason == GA_REASON_SLID_OFF ? "a slider reached the end of what it slides on"
                                                : "an equation has no value";
  case GA_ERR_CALLBACK:
    return "a function of the user failed";
  default:
    return NULL;
  }
}

int app_failure_cause(const app_task *s, char *text, size_t size)
{
  ga_step_failure f;
  char cause[GA_ERROR_TEXT];
  const char *headline = app_failure_headline(s);
  if (!headline || !ga_stepper_failure(s->stepper, &f)) return 0;
  if ((f.status != GA_RETRY_CALLBACK && f.status != GA_RETRY_NAN) || f.error.status == GA_OK) return 0;
  ga_error_say(&f.error, GA_SAY_PART, cause, sizeof cause);
  snprintf(text, size, "t = %.9g s: %s: %s", f.t, headline, cause);
  return 1;
}

void app_failure_report(const app_watch *w, const app_task *s)
{
  ga_step_failure f;
  app_history h;
  if (w->n_recent == 0 || !ga_stepper_failure(s->stepper, &f)) return;
  app_failure_equations(s);
  if (app_history_open(&h, w, s, &f)) {
    print_steps(&h, s, &f);
    print_changes(&h, &f);
  }
  app_history_close(&h);
  print_remedies(s, &f);
}
