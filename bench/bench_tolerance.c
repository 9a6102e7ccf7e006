/* What a tolerance costs: every model of examples/models and bench/models under error control, from 1e-2 to
 * 1e-7. A looser tolerance is not to cost more than a tighter one: where it does, by more than 1.2, the row
 * is marked. Costs are counts, the same on every machine. bench/README.md explains the figures. */
#include "model_runs.h"
#include "report.h"

#include <stdio.h>
#include <string.h>

enum { N_TOL = 6 };
static const double TOL[N_TOL] = {1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7};
static const double MOST_RATIO = 1.2;
/* A matrix made and factored, in evaluations of residuals with their solve: what it takes
 * on small machines. */
static const double FACTOR = 2.0;

typedef struct cost {
  int done; /* 0: it failed */
  long steps, refused, failed, iterations, residuals, factorisations;
  double work; /* residuals + FACTOR · factorisations */
} cost;

static void measure(const char *path, const char *name, double tol, cost *c)
{
  const ga_simulate_opts o = ga_simulate_defaults();
  model_counts n;
  memset(c, 0, sizeof *c);
  if (model_run(path, name, tol, &o, &n)) return;
  *c = (cost){1,
              n.simulator.steps,
              n.simulator.rejected_error,
              n.simulator.rejected_newton,
              n.stepper.iterations,
              n.stepper.residuals,
              n.stepper.factorisations,
              0.0};
  c->work = (double)c->residuals + FACTOR * (double)c->factorisations;
}

/* ---- All of them ---- */

/* The largest work over that of a tighter tolerance, and whose. */
static double worst_ratio(const cost c[N_TOL], int *loose, int *tight)
{
  double worst = 0.0;
  for (int i = 0; i < N_TOL; i++)
    for (int k = i + 1; k < N_TOL; k++) {
      if (!c[i].done || !c[k].done || !(c[i].work > worst * c[k].work)) continue;
      worst = c[i].work / c[k].work;
      *loose = i, *tight = k;
    }
  return worst;
}

/* 1 where a looser tolerance costs too much, or fails. */
static int compare(void *user, const char *path, const char *name)
{
  report *r = user;
  cost c[N_TOL];
  int loose = 0, tight = 0, failed = 0;
  for (int i = 0; i < N_TOL; i++) {
    measure(path, name, TOL[i], &c[i]);
    failed += !c[i].done;
    if (!c[i].done) continue;
    printf("  %-22s %7.0e %8ld %6ld %6ld %9ld %9ld %8ld %9.0f\n", i ? "" : name, TOL[i], c[i].steps,
           c[i].refused, c[i].failed, c[i].iterations, c[i].residuals, c[i].factorisations, c[i].work);
    report_add(r, c[i].work, "tolerance_%s_work_%.0e", name, TOL[i]);
  }
  const double ratio = worst_ratio(c, &loose, &tight);
  const int bad = ratio > MOST_RATIO || failed;
  report_add(r, ratio, "tolerance_%s_ratio", name);
  if (ratio > MOST_RATIO)
    printf("  %-22s LOOSER COSTS MORE: %.0e costs %.2f times %.0e\n", "", TOL[loose], ratio, TOL[tight]);
  return bad;
}

int main(int argc, char **argv)
{
  static report r;
  bench_options o;
  int models = 0;
  const int code = bench_options_read(&o, argc, argv, "the name of a model");
  if (code >= 0) return code;
  printf("galpha %s, the cost of a tolerance; work: residuals + %g factorisations\n", ga_version(), FACTOR);
  printf("  %-22s %7s %8s %6s %6s %9s %9s %8s %9s\n", "model", "tol", "steps", "error", "newton",
         "iterations", "residuals", "factors", "work");
  int bad = models_each("examples/models", o.only, compare, &r, &models);
  bad += models_each("bench/models", o.only, compare, &r, &models);
  printf("%d of %d models cost more than %g times as much at a looser tolerance, or fail\n", bad, models,
         MOST_RATIO);
  report_add(&r, bad, "tolerance_violations");
  return bench_finish(&r, &o) || models == 0;
}
