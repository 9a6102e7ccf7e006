/* Error against CPU time: galpha with its automatic order, each order, and every method of order 2, beside
 * SUNDIALS IDA, Simbody and MuJoCo with the best of their options. bench/README.md explains every figure. */
#define _GNU_SOURCE /* mkdir */
#include "contest.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const double targets[] = {1e-3, 1e-4, 1e-5,
                                 1e-6, 1e-7, 1e-8}; /* the errors at which times are compared */
enum { N_TARGETS = sizeof targets / sizeof *targets };
static const double least = 0.03; /* [s] of CPU for the repetitions of a point, about */
static const double near = 1.5;   /* points of peers this far from their front are not run again */
static const double once = 1.5;   /* [s] runs that take longer are made once */
static const double coarse = 0.7; /* [s] behind runs that take longer every other setting is left out */
enum { MOST_RUNS = 9 };
static const char folder[] = "build/bench";

/* ---- Curves -------------------------------------------------------------------------------------------- */

typedef struct entry { /* a code with one of its options */
  const contest_code *code;
  int option;
  curve curve;
  double next;     /* setting */
  int ended, lost; /* lost: points in a row that others have beaten by far */
} entry;

enum { MOST_ENTRIES = 128, MOST_FRONT = 256 };

typedef struct table { /* a problem's curves, and what they say */
  contest c;
  int n;
  entry at[MOST_ENTRIES];
  int n_front[CONTEST_CODES]; /* by code */
  const point *front[CONTEST_CODES][MOST_FRONT];
  double time[CONTEST_CODES][N_TARGETS]; /* [s] NaN: not reached */
} table;

typedef struct trial { /* what a run needs */
  contest *c;
  const entry *e;
} trial;

static int trial_run(void *user, point *out)
{
  const trial *t = user;
  return contest_run(t->c, t->e->code, t->e->option, out);
}

static void entries_make(table *t)
{
  t->n = 0;
  for (int k = 0; k < t->c.n_codes; k++) {
    const contest_code *code = &t->c.codes[k];
    for (int o = 0; code->options[o] && t->n < MOST_ENTRIES; o++) {
      entry *e = &t->at[t->n++];
      *e = (entry){.code = code, .option = o, .next = code->first};
      snprintf(e->curve.name, sizeof e->curve.name, "%.30s%s%.30s", code->title,
               *code->options[o] ? ", " : "", code->options[o]);
    }
  }
}

/* Whether another curve of the same code has a point as good in far less time; less is enough where runs are
 * long. */
static int is_far_behind(const table *t, const entry *e)
{
  const point *p = &e->curve.at[e->curve.n - 1];
  const double part = p->cpu > 0.3 ? 0.85 : 0.5;
  if (!(p->cpu > 0.02)) return 0; /* not worth the trouble */
  for (int k = 0; k < t->n; k++)
    for (int i = 0; t->at[k].code == e->code && &t->at[k] != e && i < t->at[k].curve.n; i++)
      if (t->at[k].curve.at[i].error <= p->error && t->at[k].curve.at[i].cpu < part * p->cpu) return 1;
  return 0;
}

/* [s] of CPU that the curves of a code took so far; runs that fail say nothing about tighter ones. */
static double time_of(const table *t, const contest_code *code)
{
  double sum = 0.0;
  for (int k = 0; k < t->n; k++)
    for (int i = 0; t->at[k].code == code && i < t->at[k].curve.n; i++)
      if (isfinite(t->at[k].curve.at[i].error)) sum += t->at[k].curve.at[i].cpu;
  return sum;
}

static void entry_extend(table *t, entry *e)
{
  const curve_plan plan = {.fine = e->code->fine, .enough = e->code->enough, .begun = targets[0]};
  trial run = {&t->c, e};
  const int rc = curve_extend(&e->curve, e->next, trial_run, &run);
  if (rc == SPATIAL_SKIPPED) {
    e->curve.n = 0;
    e->ended = 1;
    return;
  }
  const point *p = &e->curve.at[e->curve.n - 1];
  const int by_decades = p->cpu > coarse && strcmp(e->code->setting, "tolerance") == 0;
  e->next *= by_decades ? e->code->factor * e->code->factor : e->code->factor;
  e->lost = is_far_behind(t, e) ? e->lost + 1 : 0;
  e->ended = !curve_goes_on(&e->curve, &plan) || (isfinite(p->error) && p->cpu > t->c.limit) || e->lost > 1 ||
             time_of(t, e->code) > 4.0 * t->c.limit;
}

/* All curves from loose to tight, in rounds, so that options that are slow are given up early. */
static void curves_walk(table *t)
{
  for (int going = 1; going;) {
    going = 0;
    for (int k = 0; k < t->n; k++)
      if (!t->at[k].ended) entry_extend(t, &t->at[k]), going = 1;
  }
}

static void fronts_make(table *t)
{
  for (int k = 0; k < t->c.n_codes; k++) {
    const curve *curves[MOST_ENTRIES];
    int n = 0;
    for (int i = 0; i < t->n; i++)
      if (t->at[i].code == &t->c.codes[k]) curves[n++] = &t->at[i].curve;
    t->n_front[k] = front_make(curves, n, t->front[k], MOST_FRONT);
    for (int i = 0; i < N_TARGETS; i++) t->time[k][i] = front_time_at(t->front[k], t->n_front[k], targets[i]);
  }
}

static int is_peer(const contest_code *code)
{
  return code->mode == CONTEST_IDA || code->mode == CONTEST_SPATIAL_PEER;
}

/* Whether a point is run again in this round: not if it is far from its peer's front, or long enough. */
static int is_repeated(const table *t, const entry *e, const point *p, int round)
{
  const long k = e->code - t->c.codes;
  if (!isfinite(p->error) || p->cpu > once || (round > 1 && p->cpu * round > least)) return 0;
  return !is_peer(e->code) || p->cpu < near * front_time_at(t->front[k], t->n_front[k], p->error);
}

/* In rounds over all curves, so that they share whatever else the machine is doing. */
static void curves_repeat(table *t)
{
  for (int round = 1; round < MOST_RUNS; round++)
    for (int k = 0; k < t->n; k++) {
      trial run = {&t->c, &t->at[k]};
      curve *c = &t->at[k].curve;
      for (int i = 0; i < c->n; i++)
        if (is_repeated(t, &t->at[k], &c->at[i], round)) curve_repeat(c, i, trial_run, &run);
    }
}

/* ---- Figures ------------------------------------------------------------------------------------------- */

/* Orders 4 to 10, one by one. */
static int is_order(const contest_code *code)
{
  return code->mode == CONTEST_AUTOMATIC && code->order > 0;
}

static const char *error_name(int i)
{
  static char text[16];
  snprintf(text, sizeof text, "1e%.0f", log10(targets[i]));
  return text;
}

/* Why a code does not reach an error. */
static void why_not(const table *t, int k, char *why, size_t size)
{
  const char *last = "";
  double slowest = 0.0;
  for (int i = 0; i < t->n; i++) {
    const curve *c = &t->at[i].curve;
    if (t->at[i].code != &t->c.codes[k]) continue;
    for (int j = 0; j < c->n; j++) {
      slowest = fmax(slowest, c->at[j].cpu);
      if (*c->at[j].why) last = c->at[j].why;
    }
  }
  const double best = t->n_front[k] > 0 ? t->front[k][t->n_front[k] - 1]->error : NAN;
  if (slowest > t->c.limit || time_of(t, &t->c.codes[k]) > 4.0 * t->c.limit)
    snprintf(why, size, "least error %.2g in runs of up to %.3g s of CPU", best, slowest);
  else
    snprintf(why, size, "least error %.2g%s%.50s", best, *last ? "; " : "", last);
}

static void peers_report(report *out, const table *t, int automatic)
{
  for (int k = 0; k < t->c.n_codes; k++)
    for (int i = 0; i < N_TARGETS && is_peer(&t->c.codes[k]); i++) {
      const char *name = t->c.what->name, *peer = t->c.codes[k].key, *at = error_name(i);
      char why[REPORT_NAME];
      const double ratio = t->time[k][i] / t->time[automatic][i];
      if (isfinite(ratio)) {
        report_add(out, ratio, "order.%s.%s_over_ours_%s", name, peer, at);
        continue;
      }
      why_not(t, isfinite(t->time[automatic][i]) ? k : automatic, why, sizeof why);
      report_add_missing(out, why, "order.%s.%s_over_ours_%s", name, peer, at);
    }
}

/* The order that would have been the fastest at an error; −1: none reached it. */
static int best_order(const table *t, int i)
{
  int best = -1;
  for (int k = 0; k < t->c.n_codes; k++)
    if (is_order(&t->c.codes[k]) && isfinite(t->time[k][i]) && (best < 0 || t->time[k][i] < t->time[best][i]))
      best = k;
  return best;
}

static void figures_report(report *out, const table *t)
{
  const char *name = t->c.what->name;
  int automatic = 0;
  while (strcmp(t->c.codes[automatic].key, "automatic") != 0) automatic++;
  for (int k = 0; k < t->c.n_codes; k++)
    for (int i = 0; i < N_TARGETS; i++)
      if (targets[i] >= t->c.codes[k].fine)
        report_add(out, t->time[k][i], "precision.%s.%s.cpu_at_%s", name, t->c.codes[k].key, error_name(i));
  peers_report(out, t, automatic);
  for (int i = 0; i < N_TARGETS; i++) {
    const int best = best_order(t, i);
    if (best < 0) continue;
    report_add(out, t->time[automatic][i] / t->time[best][i], "order.%s.automatic_over_best_%s", name,
               error_name(i));
    report_add(out, t->c.codes[best].order, "order.%s.best_order_%s", name, error_name(i));
  }
}

static void table_print(const table *t)
{
  printf("  CPU time [s] at an error, and over that of the automatic choice\n    %-28s", "");
  for (int i = 0; i < N_TARGETS; i++) printf(" %17g", targets[i]);
  putchar('\n');
  for (int k = 0; k < t->c.n_codes; k++) {
    printf("    %-28s", t->c.codes[k].title);
    for (int i = 0; i < N_TARGETS; i++)
      if (isfinite(t->time[k][i]) && targets[i] >= t->c.codes[k].fine)
        printf(" %9.5f (%5.2f)", t->time[k][i], t->time[k][i] / t->time[0][i]);
      else
        printf(" %17s", "-");
    putchar('\n');
  }
}

/* ---- Files of the pictures ----------------------------------------------------------------------------- */

static int folder_make(void)
{
  return (mkdir("build", 0777) != 0 && errno != EEXIST) || (mkdir(folder, 0777) != 0 && errno != EEXIST);
}

/* build/bench/precision_P.dat, of which scripts/plot-precision makes pictures: a block of "time error" for
 * each code under a line "# key|title", behind "# problem|title|error". Of peers the front of all options. */
static void data_write(const table *t)
{
  char file[128];
  snprintf(file, sizeof file, "%s/precision_%s.dat", folder, t->c.what->name);
  FILE *out = folder_make() ? NULL : fopen(file, "w");
  if (!out) {
    fprintf(stderr, "cannot write %s\n", file);
    return;
  }
  fprintf(out, "# %s|%s|%s\n", t->c.what->name, t->c.title, t->c.error);
  for (int k = 0; k < t->c.n_codes; k++) {
    fprintf(out, "\n\n# %s|%s\n", t->c.codes[k].key, t->c.codes[k].title);
    for (int i = 0; is_peer(&t->c.codes[k]) && i < t->n_front[k]; i++)
      fprintf(out, "%.6g %.6g\n", t->front[k][i]->cpu, t->front[k][i]->error);
    for (int e = 0; !is_peer(&t->c.codes[k]) && e < t->n; e++)
      for (int i = 0; t->at[e].code == &t->c.codes[k] && i < t->at[e].curve.n; i++)
        if (t->at[e].curve.at[i].error > 0.0)
          fprintf(out, "%.6g %.6g\n", t->at[e].curve.at[i].cpu, t->at[e].curve.at[i].error);
  }
  if (fclose(out) != 0) fprintf(stderr, "cannot write %s\n", file);
}

/* ---- Program ------------------------------------------------------------------------------------------- */

static void curves_print(const table *t)
{
  for (int k = 0; k < t->n; k++) {
    const entry *e = &t->at[k];
    if (e->curve.n > 0) curve_print(&e->curve, e->code->setting);
    if (e->lost > 1) printf("    given up: far behind another option\n");
  }
}

static int problem_run(report *out, const contest_problem *p, const bench_options *o)
{
  static table t;
  const double begin = cpu_now();
  int bad = contest_open(&t.c, p, o->full);
  if (o->seconds > 0.0) t.c.limit = o->seconds;
  if (bad == 0) {
    const double off = contest_reference_off(&t.c);
    printf("\n%s: %s; error: %s at the end; reference met by order 10 to %.1e\n", p->name, t.c.title,
           t.c.error, off);
    report_add(out, off, "order.%s.reference_off", p->name);
    bad = !(off < 1e-10);
    entries_make(&t);
    curves_walk(&t);
    fronts_make(&t);
    curves_repeat(&t);
    fronts_make(&t);
    curves_print(&t);
    table_print(&t);
    figures_report(out, &t);
    data_write(&t);
    printf("%.0f s of CPU time\n", cpu_now() - begin);
  }
  contest_close(&t.c);
  return bad;
}

int main(int argc, char **argv)
{
  static report r;
  bench_options o;
  const contest_problem *p;
  char names[512] = "";
  for (int i = 0; (p = contest_problem_at(i)); i++)
    snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", i ? ", " : "", p->name);
  const int code = bench_options_read(&o, argc, argv, names);
  if (code >= 0) return code;
  printf("galpha %s, error against CPU time\n", ga_version());
  for (const char *const *missing = spatial_peers_missing(); *missing; missing++)
    printf("%s: not installed, its figures are absent\n", *missing);
  int bad = contest_check();
  for (int i = 0; (p = contest_problem_at(i)); i++)
    if (bench_wanted(&o, p->name) && (p->full != 1 || o.full || o.only)) bad |= problem_run(&r, p, &o);
  return bench_finish(&r, &o) || bad;
}
