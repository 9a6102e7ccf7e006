#define _GNU_SOURCE /* scandir */
#include "model_runs.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PATH = 1000 };

/* Long machines, cut short. */
static const struct {
  const char *name;
  double t_end;
} SHORTER[] = {{"chain", 0.5}};

static double end_of(const char *name, double t_end)
{
  for (size_t i = 0; i < sizeof SHORTER / sizeof *SHORTER; i++)
    if (strcmp(SHORTER[i].name, name) == 0) return SHORTER[i].t_end;
  return t_end;
}

static ga_status simulate(ga_context *ctx, ga_machine *m, const ga_run_settings *s,
                          const ga_simulate_opts *opts, model_counts *c)
{
  const ga_system *sys = ga_machine_system(m);
  ga_stepper_opts o = ga_stepper_defaults();
  ga_start_opts start = ga_start_defaults();
  ga_stepper *st = NULL;
  ga_simulator *sim = NULL;
  const size_t nq = (size_t)ga_group_nq(ga_system_group(sys)), nv = (size_t)ga_system_size(sys, GA_BLOCK_V);
  double *q = calloc(nq + nv + (size_t)ga_system_size(sys, GA_BLOCK_X) + 1, sizeof *q);
  o.method = s->method;
  start.max_change = s->max_change;
  ga_status status = q ? ga_scheme_rho(ctx, s->rho, &o.scheme) : GA_ERR_MEMORY;
  if (!status) status = ga_stepper_create(ctx, sys, &o, &st);
  if (!status) status = ga_simulator_create(ctx, st, opts, &sim);
  if (!status) status = ga_machine_initial(m, q, q + nq, q + nq + nv);
  const clock_t began = clock();
  if (!status) status = ga_simulator_start(sim, &start, s->t_start, q, q + nq, q + nq + nv, NULL, NULL, NULL);
  if (!status) status = ga_simulator_run(sim);
  c->seconds = (double)(clock() - began) / CLOCKS_PER_SEC;
  if (!status) c->stepper = *ga_stepper_stats(st), c->simulator = *ga_simulator_stats(sim);
  ga_simulator_destroy(&sim);
  ga_stepper_destroy(&st);
  free(q);
  return status;
}

ga_status model_run(const char *path, const char *name, double tol, const ga_simulate_opts *opts,
                    model_counts *counts)
{
  ga_context *ctx = NULL;
  ga_model *model = NULL;
  ga_simulate_opts o = *opts;
  if (ga_context_create(NULL, &ctx)) return GA_ERR_MEMORY;
  ga_status status = ga_model_read_file(ctx, path, NULL, &model);
  if (!status) {
    const ga_run_settings *s = ga_model_settings(model);
    o.t_end = end_of(name, s->t_end);
    o.rtol = o.rtol_v = o.rtol_x = tol;
    o.atol = o.atol_v = o.atol_x = 1e-2 * tol;
    status = simulate(ctx, ga_model_machine(model), s, &o, counts);
  }
  if (status) printf("  %-22s %7.0e  %s\n", name, tol, ga_context_error(ctx)->text);
  ga_model_destroy(&model);
  ga_context_destroy(&ctx);
  return status;
}

static int is_model(const struct dirent *entry)
{
  const size_t n = strlen(entry->d_name);
  return n > 5 && strcmp(entry->d_name + n - 5, ".yaml") == 0;
}

int models_each(const char *folder, const char *only,
                int (*visit)(void *user, const char *path, const char *name), void *user, int *n)
{
  static const char here[] = "bench/model_runs.c";
  char below[PATH], path[2 * PATH], name[64];
  struct dirent **list = NULL;
  int sum = 0;
  snprintf(below, sizeof below, "%.*s%s", (int)(strlen(__FILE__) - (sizeof here - 1)), __FILE__, folder);
  const int found = scandir(below, &list, is_model, alphasort);
  if (found < 0) return fprintf(stderr, "cannot read the folder %s\n", below), 1;
  for (int i = 0; i < found; i++) {
    snprintf(name, sizeof name, "%.*s", (int)strlen(list[i]->d_name) - 5, list[i]->d_name);
    snprintf(path, sizeof path, "%s/%s", below, list[i]->d_name);
    if (!only || strcmp(only, name) == 0) sum += visit(user, path, name), ++*n;
    free(list[i]);
  }
  free(list);
  return sum;
}
