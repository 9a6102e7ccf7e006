/* What it costs to look into steps and to meet breaks: every model of examples/models under error control,
 * with the checks between the ends of steps and without; and the time that the system takes to find its
 * breaks, which is that of asking it again. bench/README.md explains the figures. */
#include "core/inside.h"
#include "model_runs.h"
#include "report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { REPEATS = 3, MANY = 2000 /* steps */ };
static const double TOL[] = {1e-3, 1e-6};
enum { N_TOL = sizeof TOL / sizeof *TOL };

typedef struct sums {
  report *report;
  double with, without, breaks;               /* [s] of all runs */
  double many_with, many_without, many_worst; /* of those with many steps */
} sums;

/* [s] of the processor for finding all breaks of a model. */
static double seconds_of_breaks(const char *path)
{
  ga_context *ctx = NULL;
  ga_model *model = NULL;
  double seconds = 0.0;
  if (ga_context_create(NULL, &ctx)) return 0.0;
  if (!ga_model_read_file(ctx, path, NULL, &model)) {
    const ga_system *sys = ga_machine_system(ga_model_machine(model));
    const ga_run_settings *s = ga_model_settings(model);
    ga__breaks b = {.sys = sys};
    const clock_t began = clock();
    ga__breaks_begin(&b, s->t_end);
    for (double t = s->t_start; t < s->t_end;) {
      if (ga__breaks_find(&b, t, s->t_end)) break;
      if (isinf(b.next.before)) break;
      t = b.next.after;
      ga__breaks_pass(&b);
    }
    seconds = (double)(clock() - began) / CLOCKS_PER_SEC;
  }
  ga_model_destroy(&model);
  ga_context_destroy(&ctx);
  return seconds;
}

/* The least of several runs. */
static int best_of(const char *path, const char *name, double tol, int points, model_counts *best)
{
  ga_simulate_opts o = ga_simulate_defaults();
  o.defect_points = points;
  memset(best, 0, sizeof *best);
  best->seconds = INFINITY;
  for (int i = 0; i < REPEATS; i++) {
    model_counts c;
    if (model_run(path, name, tol, &o, &c)) return 0;
    if (c.seconds < best->seconds) *best = c;
  }
  return 1;
}

static int compare(void *user, const char *path, const char *name)
{
  sums *s = user;
  const double breaks = seconds_of_breaks(path);
  for (int i = 0; i < N_TOL; i++) {
    model_counts with, without;
    if (!best_of(path, name, TOL[i], ga_simulate_defaults().defect_points, &with) ||
        !best_of(path, name, TOL[i], 0, &without))
      continue;
    const double ratio = with.seconds / without.seconds;
    printf("  %-22s %7.0e %8ld %8ld %6ld %10.3f %10.3f %7.2f %9.2f\n", i ? "" : name, TOL[i],
           without.simulator.steps, with.simulator.steps, with.simulator.rejected_defect,
           1e3 * without.seconds, 1e3 * with.seconds, ratio, 1e2 * breaks / with.seconds);
    report_add(s->report, ratio, "inside_%s_%.0e", name, TOL[i]);
    s->with += with.seconds, s->without += without.seconds, s->breaks += breaks;
    if (without.simulator.steps < MANY) continue;
    s->many_with += with.seconds, s->many_without += without.seconds;
    s->many_worst = fmax(s->many_worst, ratio);
  }
  return 0;
}

int main(int argc, char **argv)
{
  static report r;
  sums s = {.report = &r};
  bench_options o;
  int models = 0;
  const int code = bench_options_read(&o, argc, argv, "the name of a model");
  if (code >= 0) return code;
  printf("galpha %s, the cost of looking into steps\n", ga_version());
  printf("  %-22s %7s %8s %8s %6s %10s %10s %7s %9s\n", "model", "tol", "steps", "checked", "taken", "[ms]",
         "checked", "ratio", "breaks %");
  models_each("examples/models", o.only, compare, &s, &models);
  if (s.without > 0.0) {
    printf("all runs: checks %.1f %%, breaks %.2f %%\n", 1e2 * (s.with / s.without - 1.0),
           1e2 * s.breaks / s.with);
    report_add(&r, s.with / s.without, "inside_all");
    report_add(&r, s.breaks / s.with, "inside_breaks");
  }
  if (s.many_without > 0.0) {
    printf("runs of %d steps and more: checks %.1f %%, at most %.1f %%\n", (int)MANY,
           1e2 * (s.many_with / s.many_without - 1.0), 1e2 * (s.many_worst - 1.0));
    report_add(&r, s.many_with / s.many_without, "inside_many");
    report_add(&r, s.many_worst, "inside_many_worst");
  }
  return bench_finish(&r, &o) || models == 0;
}
