/* Reports of failures: which equation, what changed last, what to try. */
#include "failure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Words ---- */

static void say_value(double value, const char *unit)
{
  fprintf(stderr, "%.6g%s%s", value, unit[0] ? " " : "", unit);
}

static void say_change(const app_history *h, const app_finding *f)
{
  const char *unit = ga_machine_signal_unit(h->machine, f->signal);
  double least, most;
  app_history_range(h, f->signal, &least, &most);
  fprintf(stderr, "    %s: from ", ga_machine_signal_name(h->machine, f->signal));
  say_value(app_history_value(h, f->from, f->signal), unit);
  fprintf(stderr, " to ");
  say_value(app_history_value(h, f->to, f->signal), unit);
  fprintf(stderr, "; before that ");
  if (least == most) {
    fprintf(stderr, "always ");
    say_value(least, unit);
  } else {
    fprintf(stderr, "between ");
    say_value(least, unit);
    fprintf(stderr, " and ");
    say_value(most, unit);
  }
  fputc('\n', stderr);
}

/* Up to when steps were as long as usual, and what refused such since. Between two samples there may be steps
 * that were not seen, as long as usual. */
static void say_steps(const app_history *h, const app_task *s, const ga_step_failure *f)
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
          "%.3g s was tried last. %s: %ld accepted, refused %ld by error, %ld by Newton, %ld not evaluated\n",
          f->h, from->h > 0.0 ? "Since then" : "Steps", h->sample[last]->step - step,
          stats->rejected_error - from->rejected[0], stats->rejected_newton - from->rejected[1],
          stats->rejected_callback - from->rejected[2]);
}

/* But for what an iteration leaves. */
static int is_as_last(const app_history *h, int sample, int signal)
{
  const double value = app_history_value(h, h->n - 1 - h->trial, signal);
  return fabs(app_history_value(h, sample, signal) - value) <= 1e-12 * fabs(value);
}

/* A signal of a block or force that began to stand still, or to move, not long ago: limits and ends of tables
 * look so. */
static void say_standing(const app_history *h)
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
    fprintf(stderr, "  %s stands at ", ga_machine_signal_name(h->machine, i));
    say_value(app_history_value(h, last, i), ga_machine_signal_unit(h->machine, i));
    fprintf(stderr, " since t = %.6g s\n", h->sample[stands]->t);
    said++;
  }
}

/* Changes of more than this are caused by an iteration that did not converge. */
#define BELIEVABLE 1e3

static void say_changes(app_history *h, const ga_step_failure *f)
{
  app_finding found[APP_FINDINGS];
  const int last = h->n - 1 - h->trial, made = f->status == GA_OK;
  if (h->before <= 0) return;
  int n = app_history_changes(h, h->before, last, HUGE_VAL, APP_ALL_GROUPS, found);
  if (n) fprintf(stderr, "  changed unusually since t = %.9g s:\n", h->sample[h->before]->t);
  for (int i = 0; i < n; i++) say_change(h, &found[i]);
  say_standing(h);
  if (!h->trial) return;
  n = app_history_changes(h, last, h->n - 1, made ? HUGE_VAL : BELIEVABLE,
                          made ? APP_ALL_GROUPS : APP_FORCES_ONLY, found);
  if (n) fprintf(stderr, "  would change in the step that failed, within %.3g s:\n", f->h);
  for (int i = 0; i < n; i++) say_change(h, &found[i]);
}

/* ---- What to try ---- */

static void say_try(const char *text)
{
  fprintf(stderr, "  try: %s\n", text);
}

#define OFF 1e-6 /* residuals below this, compared with their terms, are not */

static int is_constraint(int block)
{
  return block == GA_BLOCK_LAMBDA || block == GA_BLOCK_PSI || block == GA_BLOCK_ETA;
}

/* A constraint is off, or named by the message. */
static int of_constraint(const ga_step_failure *f)
{
  int is = is_constraint(f->error.block);
  for (int i = 0; i < f->n; i++) is |= is_constraint((int)f->residual[i].block) && f->residual[i].size > OFF;
  return is;
}

/* Equal steps that failed have been cut by the simulator, and longer ones tried, before it gave up: smaller
 * ones would not help. */
static void say_remedies(const app_task *s, const ga_step_failure *f)
{
  const int no_value = f->status == GA_RETRY_CALLBACK || f->status == GA_RETRY_NAN;
  if (f->status == GA_OK && s->settings.min_step > 0.0) {
    say_try("--min-step 0, which lets steps be as small as they have to");
    return;
  }
  if (f->status == GA_OK) {
    say_try("what jumps there, made smooth: step5(t, ...) or a function of type motion instead of if() and "
            "step()");
    fprintf(stderr,
            "  try: equal steps, which pass over it: --step %.2g; or a larger tolerance, --tol %.0e\n",
            1e-3 * (s->settings.t_end - s->settings.t_start), 100.0 * s->settings.tolerance);
    return;
  }
  if (f->status < 0) {
    say_try("why did the function named above return a number below 0? That ends a run at once; above 0 asks "
            "for smaller steps");
    return;
  }
  if (no_value && f->error.reason == GA_REASON_OUTSIDE_TABLE) {
    say_try("more points in the table, or before: and after: as hold or linear");
    return;
  }
  if (no_value && f->error.reason == GA_REASON_BEAM_TOO_BENT) {
    say_try("more elements of the beam; 30 deg in each are accurate");
    return;
  }
  if (no_value) {
    say_try("arguments that stay where the function has a value, as in log(max(u, 1e-9)), sqrt(max(u, 0))");
    return;
  }
  if (of_constraint(f)) {
    say_try(
        "is the position reached one that the joints allow? Look at lengths, and at drives that want more");
    say_try("a singular position is passed with some speed only, and not by a drive that asks for the "
            "impossible");
    return;
  }
  say_try(
      "a force that jumps with the motion made smooth: tanh(v/v0) instead of sign(v), step5 instead of if()");
  say_try("a softer or more damped force where it is named above; --rho 0 damps what is stiff");
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
    return "an equation has no value";
  case GA_ERR_CALLBACK:
    return "a function gave up";
  default:
    return NULL;
  }
}

void app_failure_report(const app_watch *w, const app_task *s)
{
  ga_step_failure f;
  app_history h;
  if (w->n_recent == 0 || !ga_stepper_failure(s->stepper, &f)) return;
  app_failure_equations(s);
  if (app_history_open(&h, w, s, &f)) {
    say_steps(&h, s, &f);
    say_changes(&h, &f);
  }
  app_history_close(&h);
  say_remedies(s, &f);
}
