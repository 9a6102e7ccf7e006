/* Reports of failures: which equation, what changed last, what to try. */
#include "failure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Watching ---- */

static size_t numbers_of(const app_watch *w)
{
  return (size_t)w->nq + 2 * (size_t)w->nv + (size_t)w->n_lambda + (size_t)w->n_psi + (size_t)w->n_x +
         (size_t)w->n_y;
}

int app_watch_open(app_watch *w, const app_task *s)
{
  const ga_system *sys = ga_machine_system(s->machine);
  *w = (app_watch){.nq = ga_group_nq(ga_system_group(sys)),
                   .nv = ga_system_size(sys, GA_BLOCK_V),
                   .n_lambda = ga_system_size(sys, GA_BLOCK_LAMBDA),
                   .n_psi = ga_system_size(sys, GA_BLOCK_PSI),
                   .n_x = ga_system_size(sys, GA_BLOCK_X),
                   .n_y = ga_system_size(sys, GA_BLOCK_Y),
                   .stride = 1};
  const size_t n = numbers_of(w);
  w->room = calloc((APP_RECENT + APP_PAST) * n + 1, sizeof *w->room);
  for (size_t i = 0; w->room && i < APP_RECENT; i++) w->recent[i].numbers = w->room + i * n;
  for (size_t i = 0; w->room && i < APP_PAST; i++) w->past[i].numbers = w->room + (APP_RECENT + i) * n;
  return w->room != NULL;
}

void app_watch_close(app_watch *w)
{
  free(w->room);
  w->room = NULL;
}

static void keep(const app_watch *w, app_moment *m, const app_task *s)
{
  const ga_state *state = ga_stepper_state(s->stepper);
  const ga_simulate_stats *stats = ga_simulator_stats(s->simulator);
  const struct {
    const double *from;
    int n;
  } part[] = {{state->q, w->nq},      {state->v, w->nv},  {state->vdot, w->nv}, {state->lambda, w->n_lambda},
              {state->psi, w->n_psi}, {state->x, w->n_x}, {state->y, w->n_y}};
  double *to = m->numbers;
  for (size_t i = 0; i < sizeof part / sizeof *part; to += part[i].n, i++)
    if (part[i].n) memcpy(to, part[i].from, (size_t)part[i].n * sizeof *to);
  m->t = state->t;
  m->step = w->steps;
  m->rejected[0] = stats->rejected_error;
  m->rejected[1] = stats->rejected_newton;
  m->rejected[2] = stats->rejected_callback;
}

/* Every second one of the past goes when there is no more room. */
static void thin_out(app_watch *w)
{
  for (int i = 1; 2 * i < APP_PAST; i++) {
    const app_moment kept = w->past[2 * i];
    w->past[2 * i] = w->past[i];
    w->past[i] = kept;
  }
  w->n_past = APP_PAST / 2;
  w->stride *= 2;
}

void app_watch_step(app_watch *w, const app_task *s)
{
  if (w->n_recent == APP_RECENT) {
    const app_moment oldest = w->recent[0];
    memmove(w->recent, w->recent + 1, (APP_RECENT - 1) * sizeof *w->recent);
    w->recent[--w->n_recent] = oldest;
  }
  keep(w, &w->recent[w->n_recent++], s);
  if (w->steps % w->stride == 0) {
    if (w->n_past == APP_PAST) thin_out(w);
    if (w->steps % w->stride == 0) keep(w, &w->past[w->n_past++], s);
  }
  w->steps++;
}

/* ---- Looking back ---- */

enum { MOST_MOMENTS = APP_RECENT + APP_PAST + 1, MOST_UNITS = 16 };

/* Signals at moments in the order of time; the last one may be where the step that failed was going. */
typedef struct history {
  const ga_machine *machine;
  int n_signals, n; /* moments */
  int before;       /* the last moment before the changes asked for */
  int trial;        /* 1: the last moment is a trial */
  const app_moment *moment[MOST_MOMENTS];
  app_moment tried;
  double *value;                /* [n][n_signals] */
  const char *unit[MOST_UNITS]; /* of signals; NULL after the last */
  double largest[MOST_UNITS];   /* value in each, before the changes asked for */
} history;

static ga_state state_of(const app_watch *w, const app_moment *m)
{
  ga_state s = {.t = m->t, .q = m->numbers};
  s.v = s.q + w->nq;
  s.vdot = s.v + w->nv;
  s.lambda = s.vdot + w->nv;
  s.psi = s.lambda + w->n_lambda;
  s.x = s.psi + w->n_psi;
  s.y = s.x + w->n_x;
  return s;
}

/* The changes asked for are those of the last CHANGES steps, as long as steps are on the average. */
#define CHANGES 3.0

static int find_before(const history *h)
{
  const int last = h->n - 1 - h->trial;
  const app_moment *first = h->moment[0], *end = h->moment[last];
  const double mean = end->step > first->step ? (end->t - first->t) / (double)(end->step - first->step) : 0.0;
  int before = last - 2;
  while (before > 0 && h->moment[before]->t > end->t - CHANGES * mean) before--;
  return before;
}

static int open_history(history *h, const app_watch *w, const app_task *s, const ga_step_failure *f)
{
  *h = (history){.machine = s->machine, .n_signals = ga_machine_n_signals(s->machine)};
  for (int i = 0; i < w->n_past && w->n_recent && w->past[i].step < w->recent[0].step; i++)
    h->moment[h->n++] = &w->past[i];
  for (int i = 0; i < w->n_recent; i++) h->moment[h->n++] = &w->recent[i];
  if (h->n == 0) return 0;
  h->value = malloc((size_t)MOST_MOMENTS * (size_t)h->n_signals * sizeof *h->value + 1);
  if (!h->value) return 0;
  for (int i = 0; i < h->n; i++) {
    const ga_state state = state_of(w, h->moment[i]);
    if (ga_machine_signals(s->machine, NULL, &state, h->n_signals, NULL,
                           h->value + (size_t)i * (size_t)h->n_signals))
      return 0;
  }
  if (f && f->has_trial &&
      !ga_machine_signals(s->machine, NULL, &f->trial, h->n_signals, NULL,
                          h->value + (size_t)h->n * (size_t)h->n_signals)) {
    h->tried.t = f->trial.t;
    h->moment[h->n++] = &h->tried;
    h->trial = 1;
  }
  h->before = find_before(h);
  return 1;
}

static double value_at(const history *h, int moment, int signal)
{
  return h->value[(size_t)moment * (size_t)h->n_signals + (size_t)signal];
}

/* Angles may begin a new turn. */
static double change_between(const history *h, int from, int to, int signal)
{
  const double d = value_at(h, to, signal) - value_at(h, from, signal);
  const double turn = 6.283185307179586;
  return strcmp(ga_machine_signal_unit(h->machine, signal), "rad") == 0 && fabs(d) > 0.5 * turn
             ? d - turn * floor(d / turn + 0.5)
             : d;
}

static int ends_in(const char *name, const char *ending)
{
  const size_t n = strlen(name), m = strlen(ending);
  return n > m && strcmp(name + n - m, ending) == 0;
}

/* What is nearer to the cause stands first: coordinates of joints and bodies, rates, what blocks and forces
 * give, then what follows from all that. −1: not worth telling. */
static int rank_of(const history *h, int signal)
{
  static const char *const units[] = {"m", "rad", "m/s", "rad/s", "", "N", "N*m"};
  static const int ranks[] = {1, 1, 3, 3, 4, 5, 5};
  const char *name = ga_machine_signal_name(h->machine, signal);
  const char *unit = ga_machine_signal_unit(h->machine, signal);
  if (!name || strncmp(name, "energy.", 7) == 0) return -1;
  for (const char *q = "wxyz"; *q; q++)
    if (ends_in(name, (char[]){'.', 'q', *q, '\0'})) return -1;
  for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
    if (strcmp(unit, units[i]) != 0) continue;
    if (ranks[i] == 1) return ends_in(name, ".x") || ends_in(name, ".y") || ends_in(name, ".z") ? 2 : 1;
    if (ranks[i] == 5) return ends_in(name, ".force") || ends_in(name, ".normal") ? 5 : 7;
    return ranks[i];
  }
  return 6;
}

typedef struct finding {
  int signal, rank;
  int from, to;  /* moments */
  double change; /* from the one to the other */
  double ratio;  /* to what it had been ranging over before */
  double usual;  /* to what it usually changes by in as much time */
} finding;

static void range_before(const history *h, int signal, double *least, double *most)
{
  *least = HUGE_VAL, *most = -HUGE_VAL;
  for (int i = 0; i <= h->before; i++) {
    *least = fmin(*least, value_at(h, i, signal));
    *most = fmax(*most, value_at(h, i, signal));
  }
}

#define ROUNDING 1e-9 /* of a number, what is nothing */
/* Changes this much smaller than the largest value of any signal in the same unit matter to nobody. */
#define MATTERS 1e-3

static size_t unit_place(history *h, int signal)
{
  const char *unit = ga_machine_signal_unit(h->machine, signal);
  size_t i = 0;
  while (i < MOST_UNITS - 1 && h->unit[i] && strcmp(h->unit[i], unit) != 0) i++;
  h->unit[i] = unit;
  return i;
}

static void measure_units(history *h)
{
  for (int i = 0; i < h->n_signals; i++) {
    double *largest = &h->largest[unit_place(h, i)];
    for (int k = 0; k <= h->before; k++) *largest = fmax(*largest, fabs(value_at(h, k, i)));
  }
}

/* The largest change from one moment on, over the range that the signal had before. */
static finding look_at(const history *h, int signal, int from, int to)
{
  finding f = {.signal = signal, .rank = rank_of(h, signal), .from = from, .to = to};
  double least, most;
  range_before(h, signal, &least, &most);
  for (int i = from + 1; i <= to; i++) {
    const double d = change_between(h, from, i, signal);
    if (!(fabs(d) > fabs(f.change))) continue;
    f.change = d;
    f.to = i;
  }
  const double size = fmax(fabs(least), fabs(most)), range = most - least;
  const double scale = range > ROUNDING * size ? range : size;
  const double part = (h->moment[f.to]->t - h->moment[from]->t) / (h->moment[h->before]->t - h->moment[0]->t);
  f.ratio = scale > 0.0 ? fabs(f.change) / scale : f.change != 0.0 ? HUGE_VAL : 0.0;
  f.usual = range > ROUNDING * size ? fabs(f.change) / (range * part) : f.change != 0.0 ? HUGE_VAL : 0.0;
  return f;
}

/* Motion, what blocks and forces give, and what follows from these: some of each are told. */
enum { MOST_OF_A_GROUP = 2, N_GROUPS = 3, MOST_FINDINGS = MOST_OF_A_GROUP * N_GROUPS };

static int group_of(const finding *f)
{
  return f->rank <= 3 ? 0 : f->rank <= 5 ? 1 : 2;
}

static int comes_before(const finding *a, const finding *b)
{
  return a->rank != b->rank ? a->rank < b->rank : a->ratio > b->ratio;
}

/* The same change by another name, as an angle of a body and of its joint. */
static int same_change(const finding *a, const finding *b)
{
  return fabs(fabs(a->change) - fabs(b->change)) <= 1e-6 * fabs(a->change);
}

static void enter(finding *found, int *n, const finding *f)
{
  int at = 0;
  for (int i = 0; i < *n; i++)
    if (same_change(&found[i], f)) return;
  while (at < *n && !comes_before(f, &found[at])) at++;
  if (at == MOST_OF_A_GROUP) return;
  if (*n < MOST_OF_A_GROUP) ++*n;
  memmove(found + at + 1, found + at, (size_t)(*n - at - 1) * sizeof *found);
  found[at] = *f;
}

/* A change counts that is this much of its range, and this many times what is usual. */
#define NOTABLE 0.05
#define UNUSUAL 4.0

/* The signals whose changes count, up to `most` of their range; groups: which, as bits. */
static int find_changes(history *h, int from, int to, double most, unsigned groups, finding *found)
{
  finding of[N_GROUPS][MOST_OF_A_GROUP];
  int n[N_GROUPS] = {0}, all = 0;
  for (int i = 0; i < h->n_signals; i++) {
    const finding f = look_at(h, i, from, to);
    const int group = f.rank < 0 ? 0 : group_of(&f);
    if (f.rank < 0 || !(groups >> group & 1u) || !(f.ratio > NOTABLE && f.usual > UNUSUAL) || f.ratio > most)
      continue;
    if (fabs(f.change) > MATTERS * h->largest[unit_place(h, i)]) enter(of[group], &n[group], &f);
  }
  for (int g = 0; g < N_GROUPS; g++)
    for (int i = 0; i < n[g]; i++) found[all++] = of[g][i];
  return all;
}

/* ---- Words ---- */

static void say_value(double value, const char *unit)
{
  fprintf(stderr, "%.6g%s%s", value, unit[0] ? " " : "", unit);
}

static void say_change(const history *h, const finding *f)
{
  const char *unit = ga_machine_signal_unit(h->machine, f->signal);
  double least, most;
  range_before(h, f->signal, &least, &most);
  fprintf(stderr, "    %s: from ", ga_machine_signal_name(h->machine, f->signal));
  say_value(value_at(h, f->from, f->signal), unit);
  fprintf(stderr, " to ");
  say_value(value_at(h, f->to, f->signal), unit);
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

/* Where the step size began to fall, and what refused larger ones. */
static void say_steps(const app_watch *w, const app_task *s, const ga_step_failure *f)
{
  const ga_simulate_stats *stats = ga_simulator_stats(s->simulator);
  const app_moment *end = &w->recent[w->n_recent - 1];
  double largest = 0.0;
  int at = w->n_recent - 1;
  for (int i = w->n_recent - 1; i > 0; i--) {
    const double h = w->recent[i].t - w->recent[i - 1].t;
    if (h > 1.5 * largest || (at == i + 1 && h > largest)) largest = h, at = i;
  }
  const app_moment *from = &w->recent[at];
  const long refused[3] = {stats->rejected_error - from->rejected[0],
                           stats->rejected_newton - from->rejected[1],
                           stats->rejected_callback - from->rejected[2]};
  fprintf(stderr, "  step size: ");
  if (largest > 0.0) fprintf(stderr, "%.3g s up to t = %.9g s; ", largest, from->t);
  fprintf(stderr,
          "%.3g s was tried last. %s: %ld accepted, refused %ld by error, %ld by Newton, %ld not evaluated\n",
          f->h, largest > 0.0 ? "Since then" : "Steps", end->step - from->step, refused[0], refused[1],
          refused[2]);
}

/* A signal of a block or force that began to stand still, or to move, not long ago: limits and ends of tables
 * look so. */
static void say_standing(const history *h)
{
  const int last = h->n - 1 - h->trial;
  int said = 0;
  for (int i = 0; i < h->n_signals && said < 2; i++) {
    const int rank = rank_of(h, i);
    if (rank != 4 && rank != 5) continue;
    int stands = last;
    while (stands > 0 && value_at(h, stands - 1, i) == value_at(h, last, i)) stands--;
    if (stands == 0 || stands > last - 2 || stands < h->before - 8) continue;
    fprintf(stderr, "  %s stands at ", ga_machine_signal_name(h->machine, i));
    say_value(value_at(h, last, i), ga_machine_signal_unit(h->machine, i));
    fprintf(stderr, " since t = %.6g s\n", h->moment[stands]->t);
    said++;
  }
}

/* Changes of more than this are the doing of an iteration that did not converge. */
#define BELIEVABLE 1e3
enum { ALL_GROUPS = 7, FORCES_ONLY = 2 };

static void say_changes(history *h, const ga_step_failure *f)
{
  finding found[MOST_FINDINGS];
  const int last = h->n - 1 - h->trial, made = f->status == GA_OK;
  if (h->before <= 0) return;
  measure_units(h);
  int n = find_changes(h, h->before, last, HUGE_VAL, ALL_GROUPS, found);
  if (n) fprintf(stderr, "  changed unusually since t = %.9g s:\n", h->moment[h->before]->t);
  for (int i = 0; i < n; i++) say_change(h, &found[i]);
  say_standing(h);
  if (!h->trial) return;
  n = find_changes(h, last, h->n - 1, made ? HUGE_VAL : BELIEVABLE, made ? ALL_GROUPS : FORCES_ONLY, found);
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
  int is = is_constraint(f->block);
  for (int i = 0; i < f->n; i++) is |= is_constraint((int)f->residual[i].block) && f->residual[i].size > OFF;
  return is;
}

static void say_smaller(const app_task *s)
{
  const double step = s->settings.step;
  if (step > 0.0)
    fprintf(stderr, "  try: a smaller step, --step %.2g, or error control, --tol 1e-4\n", 0.1 * step);
}

static void say_remedies(const app_task *s, const ga_step_failure *f)
{
  const int no_value = f->status == GA_RETRY_CALLBACK || f->status == GA_RETRY_NAN;
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
  if (no_value && strstr(f->text, "outside of the table")) {
    say_try("more points in the table, or before: and after: as hold or linear");
    return;
  }
  if (no_value) {
    say_try("arguments that stay where the function has a value, as in log(max(u, 1e-9)), sqrt(max(u, 0))");
    say_smaller(s);
    return;
  }
  if (of_constraint(f)) {
    say_try(
        "is the position reached one that the joints allow? Look at lengths, and at drives that want more");
    say_try("a singular position is passed with some speed only, and not by a drive that asks for the "
            "impossible");
    say_smaller(s);
    return;
  }
  say_smaller(s);
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

const char *app_failure_headline(const app_task *s, const char *text)
{
  ga_step_failure f;
  if (!ga_stepper_failure(s->stepper, &f)) return text;
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
    return text;
  }
}

void app_failure_report(const app_watch *w, const app_task *s)
{
  ga_step_failure f;
  history h;
  if (w->n_recent == 0 || !ga_stepper_failure(s->stepper, &f)) return;
  app_failure_equations(s);
  say_steps(w, s, &f);
  if (open_history(&h, w, s, &f)) say_changes(&h, &f);
  free(h.value);
  say_remedies(s, &f);
}
