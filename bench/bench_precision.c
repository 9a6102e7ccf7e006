/* Error against CPU time: every method of galpha, with equal steps and with error control, beside SUNDIALS
 * IDA. bench/README.md explains every figure. */
#define _GNU_SOURCE /* mkdir */
#include "cases.h"
#include "plot.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static const double targets[] = {1e-3, 1e-5}; /* the errors at which times are compared */
enum { N_TARGETS = sizeof targets / sizeof *targets };
static const double fine = 9e-6;    /* curves end below this error */
static const double seconds = 15.0; /* of CPU time for a problem, about, unless its curves take longer */
static const char folder[] = "build/bench";

/* ---- Methods ------------------------------------------------------------------------------------------- */

typedef enum mode { EQUAL, PER_STEP, PER_UNIT_STEP, PEER, N_MODES } mode;

typedef struct method {
  const char *key, *label; /* in the figures; in tables and pictures */
  mode mode;
  ga_method ours;
  ida_form theirs;
  enum { ALWAYS, CONSTRAINED, FREE } when; /* without constraints some are the same as others */
} method;

static const method methods[] = {
#define EQUAL_STEPS(id, name, title, about) {.key = #name, .label = title, .ours = id},
    GA_METHOD_LIST(EQUAL_STEPS)
#undef EQUAL_STEPS
        {.key = "stabilized_per_step",
         .label = "stabilized, per step",
         .ours = GA_STABILIZED,
         .mode = PER_STEP},
    {.key = "stabilized_per_unit_step",
     .label = "stabilized, per unit step",
     .ours = GA_STABILIZED,
     .mode = PER_UNIT_STEP},
    {.key = "soi2_per_step", .label = "SOI2, per step", .ours = GA_SOI2, .mode = PER_STEP},
    {.key = "soi2_per_unit_step", .label = "SOI2, per unit step", .ours = GA_SOI2, .mode = PER_UNIT_STEP},
    {.key = "ida_ggl", .label = "IDA, GGL", .theirs = IDA_GGL, .mode = PEER, .when = CONSTRAINED},
    {.key = "ida_index1", .label = "IDA, index 1", .theirs = IDA_INDEX1, .mode = PEER, .when = CONSTRAINED},
    {.key = "ida", .label = "IDA", .theirs = IDA_GGL, .mode = PEER, .when = FREE},
};
enum { N_METHODS = sizeof methods / sizeof *methods };

static ga_method_info info_of(const method *m)
{
  ga_method_info info = {0};
  ga_method_at((int)m->ours, &info);
  return info;
}

/* Methods that keep positions alone are, without constraints, those that keep rates too; but HHT is not. */
static int applies(const method *m, const bench_task *t)
{
  const ga_method_info info = info_of(m);
  if (m->mode == EQUAL && !info.keeps_rates && !info.hht && t->def.n_lambda == 0) return 0;
  return m->when == ALWAYS || (m->when == FREE) == (t->def.n_lambda == 0);
}

/* ---- Problems ------------------------------------------------------------------------------------------ */

typedef struct problem {
  const char *name;      /* of the case */
  double first[N_MODES]; /* the coarsest number of steps, and the loosest tolerances */
} problem;

static const problem problems[] = {
    {"andrews", {100, 1e-3, 1e-1, 1e-4}},         {"heavy_top", {60, 1e-3, 1e-1, 1e-3}},
    {"heavy_top_papers", {60, 1e-2, 1e-1, 1e-3}}, {"spring_mass", {12, 1e-2, 1e-1, 1e-2}},
    {"chain10", {125, 1e-2, 1e1, 1e-2}},          {"chain100", {1000, 1e-2, 160, 2.5e-2}},
};
enum { N_PROBLEMS = sizeof problems / sizeof *problems };

/* From one point of a curve to the next, and how many must be fine enough: some errors scatter. */
static const double factors[N_MODES] = {
    [EQUAL] = 2.0, [PER_STEP] = 0.2, [PER_UNIT_STEP] = 0.25, [PEER] = 0.25};
static const int enough[N_MODES] = {[EQUAL] = 1, [PER_STEP] = 2, [PER_UNIT_STEP] = 1, [PEER] = 2};

typedef struct result { /* of one method */
  curve curve;
  double time[N_TARGETS]; /* [s] NaN: not reached */
} result;

/* ---- One curve ----------------------------------------------------------------------------------------- */

static void settings_set(bench_task *t, const method *m)
{
  t->ours.method = m->ours;
  t->ours.scheme = ga_stepper_defaults().scheme;
  if (info_of(m).hht) ga_scheme_hht(NULL, -1.0 / 9.0, &t->ours.scheme); /* ρ∞ = (1+α)/(1−α) = 0.8 */
  t->control.error = m->mode == PER_UNIT_STEP ? GA_PER_UNIT_STEP : GA_PER_STEP;
  if (m->mode == PEER) bench_theirs(t, m->theirs);
}

static void result_print(const result *r, const method *m)
{
  int n = 0;
  for (int i = 0; i < r->curve.n; i++) n += isfinite(r->curve.at[i].error);
  if (n > 0)
    curve_print(&r->curve, m->mode == EQUAL ? "steps" : "tolerance");
  else
    printf("  %s\n    nowhere: %s\n", r->curve.name,
           r->curve.n > 0 ? r->curve.at[0].why : "not in this build");
}

static const curve_run_fn runs[N_MODES] = {[EQUAL] = bench_steps,
                                           [PER_STEP] = bench_controlled,
                                           [PER_UNIT_STEP] = bench_controlled,
                                           [PEER] = bench_ida};

/* Finds the points of the curve. */
static void result_begin(result *r, const problem *p, const method *m, bench_task *t)
{
  const curve_plan plan = {p->first[m->mode], factors[m->mode], fine, enough[m->mode]};
  *r = (result){.curve = {.n = 0}};
  snprintf(r->curve.name, sizeof r->curve.name, "%s", m->label);
  if (!applies(m, t) || (m->mode == PEER && !t->ida)) return;
  settings_set(t, m);
  curve_walk(&r->curve, &plan, runs[m->mode], t);
}

/* In rounds over all methods, so that they share whatever else the machine is doing. */
static void results_measure(result r[N_METHODS], bench_task *t)
{
  const double begin = cpu_now();
  for (int round = 0; round < 4 && cpu_now() - begin < 0.75 * seconds; round++)
    for (int k = 0; k < N_METHODS; k++) {
      if (r[k].curve.n == 0) continue;
      settings_set(t, &methods[k]);
      curve_measure(&r[k].curve, 0.01 * seconds, runs[methods[k].mode], t);
    }
  for (int k = 0; k < N_METHODS; k++) {
    if (applies(&methods[k], t)) result_print(&r[k], &methods[k]);
    for (int i = 0; i < N_TARGETS; i++) r[k].time[i] = curve_time_at(&r[k].curve, targets[i]);
  }
}

/* ---- Comparison ---------------------------------------------------------------------------------------- */

static void comparison_print(const result r[N_METHODS], const bench_task *t, const double best[N_TARGETS])
{
  printf("  CPU time [s], and over that of galpha's fastest\n    %-28s", "at error");
  for (int i = 0; i < N_TARGETS; i++) printf("  %18g", targets[i]);
  putchar('\n');
  for (int k = 0; k < N_METHODS; k++) {
    if (!applies(&methods[k], t)) continue;
    printf("    %-28s", methods[k].label);
    for (int i = 0; i < N_TARGETS; i++)
      if (isfinite(r[k].time[i]))
        printf("  %10.5f (%5.2f)", r[k].time[i], r[k].time[i] / best[i]);
      else
        printf("  %18s", methods[k].mode == PEER && !t->ida ? "missing" : "-");
    putchar('\n');
  }
}

static const result *result_of(const result r[N_METHODS], const char *key)
{
  for (int k = 0; k < N_METHODS; k++)
    if (strcmp(methods[k].key, key) == 0) return &r[k];
  return NULL;
}

static void comparison_report(report *out, const result r[N_METHODS], const bench_task *t)
{
  const char *name = t->what->name;
  double best[N_TARGETS] = {NAN, NAN};
  for (int i = 0; i < N_TARGETS; i++) {
    const double ours = result_of(r, "stabilized")->time[i],
                 control = result_of(r, "stabilized_per_step")->time[i];
    char at[16];
    snprintf(at, sizeof at, "1e%.0f", log10(targets[i]));
    for (int k = 0; k < N_METHODS; k++) {
      report_add(out, r[k].time[i], "precision.%s.%s.cpu_at_%s", name, methods[k].key, at);
      if (methods[k].mode != PEER) best[i] = fmin(best[i], r[k].time[i]); /* fmin passes over NaN */
    }
    for (int k = 0; k < N_METHODS; k++) {
      if (methods[k].mode != PEER) continue;
      report_add(out, r[k].time[i] / ours, "precision.%s.%s_over_ours_%s", name, methods[k].key, at);
      report_add(out, r[k].time[i] / control, "precision.%s.%s_over_controlled_%s", name, methods[k].key, at);
      report_add(out, r[k].time[i] / best[i], "precision.%s.%s_over_best_%s", name, methods[k].key, at);
    }
  }
  comparison_print(r, t, best);
}

/* ---- Picture ------------------------------------------------------------------------------------------- */

/* Colours by method, dashes by code, and marks by how steps are chosen. */
static void curve_style(FILE *out, const method *m)
{
  static const char *const colours[] = {"#d55e00", "#0072b2", "#999999", "#009e73", "#cc79a7", "#56b4e9"};
  enum { N_COLOURS = sizeof colours / sizeof *colours };
  static const int marks[N_MODES] = {[EQUAL] = 7, [PER_STEP] = 8, [PER_UNIT_STEP] = 4, [PEER] = 2};
  const char *colour = m->mode != PEER        ? colours[(int)m->ours % N_COLOURS]
                       : m->theirs == IDA_GGL ? "black"
                                              : "#e69f00";
  fprintf(out, "with linespoints linewidth 2 pointsize 0.7 linecolor rgb '%s' dashtype %d pointtype %d",
          colour, m->mode == PEER ? 2 : 1, marks[m->mode]);
}

static void picture_write(FILE *out, const result r[N_METHODS], const bench_task *t)
{
  for (int k = 0; k < N_METHODS; k++) {
    fprintf(out, "$curve%d << EOD\n", k);
    for (int i = 0; i < r[k].curve.n; i++)
      if (r[k].curve.at[i].error > 0.0)
        fprintf(out, "%.6g %.6g\n", r[k].curve.at[i].cpu, r[k].curve.at[i].error);
    fputs("EOD\n", out);
  }
  fputs("set title ", out);
  ex_plot_quoted(out, t->what->title);
  fputs(" noenhanced\nset logscale xy\nset format xy '10^{%T}'\nset grid\nset key outside right top Left "
        "reverse\n"
        "set xlabel 'CPU time [s]'\nset ylabel 'error at the end: ",
        out);
  fprintf(out, "%s' noenhanced\nplot [][1e-6:0.1]", t->what->error);
  const char *separator = "";
  for (int k = 0; k < N_METHODS; k++) {
    if (!curve_nearest(&r[k].curve, fine)) continue;
    fprintf(out, "%s $curve%d using 1:2 title ", separator, k);
    ex_plot_quoted(out, methods[k].label);
    fputc(' ', out);
    curve_style(out, &methods[k]);
    separator = ",";
  }
  fputc('\n', out);
}

static void picture_make(const result r[N_METHODS], const bench_task *t)
{
  char file[128];
  snprintf(file, sizeof file, "%s/precision_%s.svg", folder, t->what->name);
  if ((mkdir("build", 0777) != 0 && errno != EEXIST) || (mkdir(folder, 0777) != 0 && errno != EEXIST)) {
    fprintf(stderr, "no picture: cannot make the folder %s\n", folder);
    return;
  }
  FILE *out = ex_plot_open(file, 950, 600);
  if (!out) return;
  picture_write(out, r, t);
  ex_plot_close(out, file);
}

/* ---- Program ------------------------------------------------------------------------------------------- */

static int problem_run(report *out, const problem *p)
{
  static result r[N_METHODS];
  bench_task t;
  const int rc = bench_open(&t, bench_case_find(p->name));
  if (rc == 0) {
    const double begin = cpu_now();
    printf("\n%s: %s; error: %s at the end\n", p->name, t.what->title, t.what->error);
    for (int k = 0; k < N_METHODS; k++) result_begin(&r[k], p, &methods[k], &t);
    results_measure(r, &t);
    comparison_report(out, r, &t);
    picture_make(r, &t);
    printf("%.0f s of CPU time\n", cpu_now() - begin);
  }
  bench_close(&t);
  return rc;
}

int main(int argc, char **argv)
{
  static report r;
  bench_options o;
  char names[256] = "";
  for (int i = 0; i < N_PROBLEMS; i++)
    snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", i ? ", " : "", problems[i].name);
  const int code = bench_options_read(&o, argc, argv, names);
  if (code >= 0) return code;
  printf("galpha %s, error against CPU time; SUNDIALS IDA: %s\n", ga_version(),
         ida_peer_present() ? ida_peer_version() : "missing, its figures are absent");
  int failed = 0;
  for (int i = 0; i < N_PROBLEMS; i++)
    if (bench_wanted(&o, problems[i].name)) failed |= problem_run(&r, &problems[i]) != 0;
  return bench_finish(&r, &o) || failed;
}
