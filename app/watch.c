/* History of a run for the report of a failure: states of its last steps and of some before, and signals that
 * changed unusually. */
#include "watch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Watching ---- */

int app_watch_open(app_watch *w, const app_task *s)
{
  const ga_system *sys = ga_machine_system(s->machine);
  *w = (app_watch){.nq = ga_group_nq(ga_system_group(sys)),
                   .nv = ga_system_size(sys, GA_BLOCK_V),
                   .n_lambda = ga_system_size(sys, GA_BLOCK_LAMBDA),
                   .n_psi = ga_system_size(sys, GA_BLOCK_PSI),
                   .n_x = ga_system_size(sys, GA_BLOCK_X),
                   .n_y = ga_system_size(sys, GA_BLOCK_Y),
                   .h = s->settings.step,
                   .every = s->settings.step > 0.0 ? APP_EVERY : 1,
                   .stride = 1};
  const size_t n = w->n = (size_t)w->nq + 3 * (size_t)w->nv + 2 * (size_t)w->n_lambda + (size_t)w->n_psi +
                          3 * (size_t)w->n_x + (size_t)w->n_y;
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

/* Steps between two samples have equal size; the last may be shorter. */
static app_sample make_sample(const app_watch *w, const ga_state *s, const ga_simulate_stats *stats)
{
  const long passed = stats->steps - w->step;
  return (app_sample){s->t,
                      passed > 0 ? s->t - w->t - (double)(passed - 1) * w->h : 0.0,
                      stats->steps,
                      {stats->rejected_error, stats->rejected_newton, stats->rejected_callback},
                      NULL};
}

/* Copies a state, whose arrays are contiguous in memory. */
static void copy_sample(const app_watch *w, app_sample *m, const ga_state *s, const ga_simulate_stats *stats)
{
  double *numbers = m->numbers;
  *m = make_sample(w, s, stats);
  m->numbers = memcpy(numbers, s->q, w->n * sizeof *numbers);
}

/* Drops every second sample of the past. */
static void thin_out(app_watch *w)
{
  for (int i = 1; 2 * i < APP_PAST; i++) {
    const app_sample kept = w->past[2 * i];
    w->past[2 * i] = w->past[i];
    w->past[i] = kept;
  }
  w->n_past = APP_PAST / 2;
  w->stride *= 2;
}

static int n_recent(const app_watch *w)
{
  return w->n_recent < APP_RECENT ? (int)w->n_recent : APP_RECENT;
}

/* The i-th of the recent samples, in the order of time. */
static const app_sample *recent_at(const app_watch *w, int i)
{
  return &w->recent[(w->n_recent - n_recent(w) + i) % APP_RECENT];
}

void app_watch_step(app_watch *w, const ga_state *s, const ga_simulate_stats *stats)
{
  const long step = stats->steps, refused = app_rejected(stats);
  if (w->n_recent == 0) w->step = step; /* a resumed run has made some before */
  if (w->n_recent == 0 || refused > w->refused) w->careful = step + APP_RECENT;
  copy_sample(w, &w->recent[w->n_recent % APP_RECENT], s, stats);
  if (step >= w->due) {
    if (w->n_past == APP_PAST) thin_out(w);
    copy_sample(w, &w->past[w->n_past++], s, stats);
    w->due = step + w->stride;
  }
  w->n_recent++;
  w->step = step;
  w->t = s->t;
  w->refused = refused;
  w->next = step + (step < w->careful ? 1 : w->every);
}

/* ---- History ---- */

static ga_state state_of(const app_watch *w, const app_sample *m)
{
  ga_state s = {.t = m->t, .q = m->numbers};
  s.v = s.q + w->nq;
  s.vdot = s.v + w->nv;
  s.a = s.vdot + w->nv;
  s.lambda = s.a + w->nv;
  s.psi = s.lambda + w->n_lambda;
  s.eta = s.psi + w->n_psi;
  s.x = s.eta + w->n_lambda;
  s.xdot = s.x + w->n_x;
  s.w = s.xdot + w->n_x;
  s.y = s.w + w->n_x;
  return s;
}

int app_watch_range(const app_watch *w, const app_task *s, int signal, double range[2])
{
  range[0] = HUGE_VAL, range[1] = -HUGE_VAL;
  for (int i = 0; i <= w->n_past; i++) {
    const ga_state state = i < w->n_past ? state_of(w, &w->past[i]) : *ga_stepper_state(s->stepper);
    double value;
    if (ga_machine_signals(s->machine, NULL, &state, 1, &signal, &value)) return 0;
    range[0] = fmin(range[0], value);
    range[1] = fmax(range[1], value);
  }
  return 1;
}

double app_history_step(const app_history *h)
{
  const app_sample *first = h->sample[0], *end = h->sample[h->n - 1 - h->trial];
  return end->step > first->step ? (end->t - first->t) / (double)(end->step - first->step) : 0.0;
}

/* Changes are those within the last CHANGES mean step sizes, at least two steps. */
#define CHANGES 3.0

static int find_before(const app_history *h)
{
  const int last = h->n - 1 - h->trial;
  const double mean = app_history_step(h);
  const app_sample *end = h->sample[last];
  int before = last;
  while (before >= 0 &&
         (h->sample[before]->t > end->t - CHANGES * mean || h->sample[before]->step > end->step - 2))
    before--;
  return before;
}

double app_history_value(const app_history *h, int sample, int signal)
{
  return h->value[(size_t)sample * (size_t)h->n_signals + (size_t)signal];
}

static size_t unit_place(app_history *h, int signal)
{
  const char *unit = ga_machine_signal_unit(h->machine, signal);
  size_t i = 0;
  while (i < APP_UNITS - 1 && h->unit[i] && strcmp(h->unit[i], unit) != 0) i++;
  h->unit[i] = unit;
  return i;
}

static void measure_units(app_history *h)
{
  for (int i = 0; i < h->n_signals; i++) {
    double *largest = &h->largest[unit_place(h, i)];
    for (int k = 0; k <= h->before; k++) *largest = fmax(*largest, fabs(app_history_value(h, k, i)));
  }
}

void app_history_close(app_history *h)
{
  free(h->value);
  h->value = NULL;
}

static void list_samples(app_history *h, const app_watch *w, const app_task *s)
{
  for (int i = 0; i < w->n_past && w->past[i].step < recent_at(w, 0)->step; i++)
    h->sample[h->n++] = &w->past[i];
  for (int i = 0; i < n_recent(w); i++) h->sample[h->n++] = recent_at(w, i);
  const ga_simulate_stats *stats = ga_simulator_stats(s->simulator);
  if (h->n == 0 || stats->steps == w->step) return;
  h->now = make_sample(w, ga_stepper_state(s->stepper), stats);
  h->sample[h->n++] = &h->now;
}

int app_history_open(app_history *h, const app_watch *w, const app_task *s, const ga_step_failure *f)
{
  *h = (app_history){.machine = s->machine, .n_signals = ga_machine_n_signals(s->machine)};
  list_samples(h, w, s);
  if (h->n == 0) return 0;
  h->value = malloc((size_t)APP_SAMPLES * (size_t)h->n_signals * sizeof *h->value + 1);
  if (!h->value) return 0;
  for (int i = 0; i < h->n; i++) {
    const app_sample *m = h->sample[i];
    const ga_state state = m->numbers ? state_of(w, m) : *ga_stepper_state(s->stepper);
    if (ga_machine_signals(s->machine, NULL, &state, h->n_signals, NULL,
                           h->value + (size_t)i * (size_t)h->n_signals))
      return 0;
  }
  if (f && f->has_trial &&
      !ga_machine_signals(s->machine, NULL, &f->trial, h->n_signals, NULL,
                          h->value + (size_t)h->n * (size_t)h->n_signals)) {
    h->tried.t = f->trial.t;
    h->sample[h->n++] = &h->tried;
    h->trial = 1;
  }
  h->before = find_before(h);
  measure_units(h);
  return 1;
}

/* Angles may begin a new turn. */
static double change_between(const app_history *h, int from, int to, int signal)
{
  const double d = app_history_value(h, to, signal) - app_history_value(h, from, signal);
  const double turn = 6.283185307179586;
  return strcmp(ga_machine_signal_unit(h->machine, signal), "rad") == 0 && fabs(d) > 0.5 * turn
             ? d - turn * floor(d / turn + 0.5)
             : d;
}

int app_history_rank(const app_history *h, int signal)
{
  static const int RANK[] = {
      [GA_SIGNAL_NONE] = -1,        [GA_SIGNAL_COORDINATE] = 1,   [GA_SIGNAL_POSITION] = 2,
      [GA_SIGNAL_ORIENTATION] = -1, [GA_SIGNAL_RATE] = 3,         [GA_SIGNAL_BLOCK] = 4,
      [GA_SIGNAL_FORCE] = 5,        [GA_SIGNAL_ACCELERATION] = 6, [GA_SIGNAL_REACTION] = 7,
      [GA_SIGNAL_ENERGY] = -1,      [GA_SIGNAL_ERROR] = -1};
  return RANK[ga_machine_signal_kind(h->machine, signal)];
}

void app_history_range(const app_history *h, int signal, double *least, double *most)
{
  *least = HUGE_VAL, *most = -HUGE_VAL;
  for (int i = 0; i <= h->before; i++) {
    *least = fmin(*least, app_history_value(h, i, signal));
    *most = fmax(*most, app_history_value(h, i, signal));
  }
}

#define ROUNDING 1e-9 /* relative; smaller changes are rounding */
/* Changes below this, relative to the largest value of any signal in the same unit, are ignored. */
#define MATTERS 1e-3
#define NOTHING                                                                                              \
  1e-13 /* in the unit of a signal: less is rounding, also where all signals of the unit are 0 */

/* The largest change of a signal after sample `from`, relative to its range before. */
static app_finding find_change(const app_history *h, int signal, int from, int to)
{
  app_finding f = {.signal = signal, .rank = app_history_rank(h, signal), .from = from, .to = to};
  double least, most;
  app_history_range(h, signal, &least, &most);
  for (int i = from + 1; i <= to; i++) {
    const double d = change_between(h, from, i, signal);
    if (!(fabs(d) > fabs(f.change))) continue;
    f.change = d;
    f.to = i;
  }
  const double size = fmax(fabs(least), fabs(most)), range = most - least;
  const double scale = range > ROUNDING * size ? range : size;
  const double part = (h->sample[f.to]->t - h->sample[from]->t) / (h->sample[h->before]->t - h->sample[0]->t);
  f.ratio = scale > 0.0 ? fabs(f.change) / scale : f.change != 0.0 ? HUGE_VAL : 0.0;
  f.usual = range > ROUNDING * size ? fabs(f.change) / (range * part) : f.change != 0.0 ? HUGE_VAL : 0.0;
  return f;
}

/* Groups: motion, outputs of blocks and forces, and signals that follow from these. Some of each are
 * reported. */
enum { N_GROUPS = 3, MOST_OF_A_GROUP = APP_FINDINGS / N_GROUPS };

static int group_of(const app_finding *f)
{
  return f->rank <= 3 ? 0 : f->rank <= 5 ? 1 : 2;
}

static int comes_before(const app_finding *a, const app_finding *b)
{
  return a->rank != b->rank ? a->rank < b->rank : a->ratio > b->ratio;
}

/* The same change by another name, as an angle of a body and of its joint. */
static int same_change(const app_finding *a, const app_finding *b)
{
  return fabs(fabs(a->change) - fabs(b->change)) <= 1e-6 * fabs(a->change);
}

static void enter(app_finding *found, int *n, const app_finding *f)
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

/* Smallest reported change, relative to the range, and relative to the usual change. */
#define NOTABLE 0.05
#define UNUSUAL 4.0

int app_history_changes(app_history *h, int from, int to, double most, unsigned groups, app_finding *found)
{
  app_finding of[N_GROUPS][MOST_OF_A_GROUP];
  int n[N_GROUPS] = {0}, all = 0;
  for (int i = 0; i < h->n_signals; i++) {
    const app_finding f = find_change(h, i, from, to);
    const int group = f.rank < 0 ? 0 : group_of(&f);
    if (f.rank < 0 || !(groups >> group & 1u) || !(f.ratio > NOTABLE && f.usual > UNUSUAL) || f.ratio > most)
      continue;
    if (fabs(f.change) > fmax(NOTHING, MATTERS * h->largest[unit_place(h, i)]))
      enter(of[group], &n[group], &f);
  }
  for (int g = 0; g < N_GROUPS; g++)
    for (int i = 0; i < n[g]; i++) found[all++] = of[g][i];
  return all;
}
