/* What a tolerance costs: every model of examples/models and bench/models under error control, from 1e-2 to
 * 1e-7. A looser tolerance is not to cost more than a tighter one: where it does, by more than 1.2, the row
 * is marked. Costs are counts, the same on every machine. bench/README.md explains the figures. */
#define _GNU_SOURCE /* scandir */
#include "galpha/model.h"
#include "report.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N_TOL = 6, PATH = 1000, MOST_MODELS = 200 };
static const double TOL[N_TOL] = {1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7};
static const double MOST_RATIO = 1.2;
/* A matrix made and factored, in evaluations of residuals with their solve: what it takes on small machines.
 */
static const double FACTOR = 2.0;

typedef struct cost {
  int done; /* 0: it failed */
  long steps, refused, failed, iterations, residuals, factorisations;
  double work; /* residuals + FACTOR · factorisations */
} cost;

/* Long machines, cut short; and one whose crossings of 1 µs no loose tolerance sees. */
static const struct {
  const char *name;
  double t_end;
} SHORTER[] = {{"chain", 0.5}};
static const char *const EXEMPT[] = {"light_cart_pole"};

static double end_of(const char *name, double t_end)
{
  for (size_t i = 0; i < sizeof SHORTER / sizeof *SHORTER; i++)
    if (strcmp(SHORTER[i].name, name) == 0) return SHORTER[i].t_end;
  return t_end;
}

static int is_exempt(const char *name)
{
  for (size_t i = 0; i < sizeof EXEMPT / sizeof *EXEMPT; i++)
    if (strcmp(EXEMPT[i], name) == 0) return 1;
  return 0;
}

/* ---- One run ---- */

static ga_status simulate(ga_context *ctx, ga_machine *m, const ga_run_settings *s, const char *name,
                          double tol, cost *c)
{
  const ga_system *sys = ga_machine_system(m);
  ga_stepper_opts o = ga_stepper_defaults();
  ga_simulate_opts so = ga_simulate_defaults();
  ga_start_opts start = ga_start_defaults();
  ga_stepper *st = NULL;
  ga_simulator *sim = NULL;
  const size_t nq = (size_t)ga_group_nq(ga_system_group(sys)), nv = (size_t)ga_system_size(sys, GA_BLOCK_V);
  double *q = calloc(nq + nv + (size_t)ga_system_size(sys, GA_BLOCK_X) + 1, sizeof *q);
  o.method = s->method;
  so.t_end = end_of(name, s->t_end);
  so.rtol = so.rtol_v = so.rtol_x = tol;
  so.atol = so.atol_v = so.atol_x = 1e-2 * tol;
  start.max_change = s->max_change;
  ga_status status = q ? ga_scheme_rho(ctx, s->rho, &o.scheme) : GA_ERR_MEMORY;
  if (!status) status = ga_stepper_create(ctx, sys, &o, &st);
  if (!status) status = ga_simulator_create(ctx, st, &so, &sim);
  if (!status) status = ga_machine_initial(m, q, q + nq, q + nq + nv);
  if (!status) status = ga_simulator_start(sim, &start, s->t_start, q, q + nq, q + nq + nv, NULL, NULL, NULL);
  if (!status) status = ga_simulator_run(sim);
  if (!status) {
    const ga_stats *a = ga_stepper_stats(st);
    const ga_simulate_stats *b = ga_simulator_stats(sim);
    *c = (cost){
        1,  b->steps, b->rejected_error, b->rejected_newton, a->iterations, a->residuals, a->factorisations,
        0.0};
    c->work = (double)c->residuals + FACTOR * (double)c->factorisations;
  }
  ga_simulator_destroy(&sim);
  ga_stepper_destroy(&st);
  free(q);
  return status;
}

static void measure(const char *path, const char *name, double tol, cost *c)
{
  ga_context *ctx = NULL;
  ga_model *model = NULL;
  memset(c, 0, sizeof *c);
  if (ga_context_create(NULL, &ctx)) return;
  ga_status status = ga_model_read_file(ctx, path, NULL, &model);
  if (!status) status = simulate(ctx, ga_model_machine(model), ga_model_settings(model), name, tol, c);
  if (status) printf("  %-22s %7.0e  %s\n", name, tol, ga_context_error(ctx)->text);
  ga_model_destroy(&model);
  ga_context_destroy(&ctx);
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
static int model_run(report *r, const char *folder, const char *file)
{
  char path[2 * PATH], name[64];
  cost c[N_TOL];
  int loose = 0, tight = 0, failed = 0;
  snprintf(name, sizeof name, "%.*s", (int)(strlen(file) - strlen(".yaml")), file);
  if ((size_t)snprintf(path, sizeof path, "%s/%s", folder, file) >= sizeof path) return 1;
  for (int i = 0; i < N_TOL; i++) {
    measure(path, name, TOL[i], &c[i]);
    failed += !c[i].done;
    if (!c[i].done) continue;
    printf("  %-22s %7.0e %8ld %6ld %6ld %9ld %9ld %8ld %9.0f\n", i ? "" : name, TOL[i], c[i].steps,
           c[i].refused, c[i].failed, c[i].iterations, c[i].residuals, c[i].factorisations, c[i].work);
    report_add(r, c[i].work, "tolerance_%s_work_%.0e", name, TOL[i]);
  }
  const double ratio = worst_ratio(c, &loose, &tight);
  const int bad = !is_exempt(name) && (ratio > MOST_RATIO || failed);
  report_add(r, ratio, "tolerance_%s_ratio", name);
  if (ratio > MOST_RATIO)
    printf("  %-22s %s %.0e costs %.2f times %.0e\n", "", bad ? "LOOSER COSTS MORE:" : "(exempt)", TOL[loose],
           ratio, TOL[tight]);
  return bad;
}

static int is_model(const struct dirent *entry)
{
  const size_t n = strlen(entry->d_name);
  return n > 5 && strcmp(entry->d_name + n - 5, ".yaml") == 0;
}

static int folder_run(report *r, const char *folder, const bench_options *o, int *models)
{
  char path[PATH], name[64];
  static const char here[] = "bench/bench_tolerance.c";
  struct dirent **list = NULL;
  int bad = 0;
  snprintf(path, sizeof path, "%.*s%s", (int)(strlen(__FILE__) - (sizeof here - 1)), __FILE__, folder);
  const int n = scandir(path, &list, is_model, alphasort);
  for (int i = 0; i < n; i++) {
    snprintf(name, sizeof name, "%.*s", (int)strlen(list[i]->d_name) - 5, list[i]->d_name);
    if (!o->only || strcmp(o->only, name) == 0) bad += model_run(r, path, list[i]->d_name), ++*models;
    free(list[i]);
  }
  free(list);
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
  int bad = folder_run(&r, "examples/models", &o, &models);
  bad += folder_run(&r, "bench/models", &o, &models);
  printf("%d of %d models cost more than %g times as much at a looser tolerance, or fail\n", bad, models,
         MOST_RATIO);
  report_add(&r, bad, "tolerance_violations");
  return bench_finish(&r, &o) || models == 0;
}
