#include "spatial_sweep.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct plan { /* the ladder of a peer, scanned by hand to begin somewhat above an error of 1e-5 */
  const char *peer;
  spatial_kind kind;
  int most_rods;        /* the first plan that fits is taken */
  double first, factor; /* the first setting, and from one to the next */
  int enough;           /* ends after so many points below the target: 2 where errors scatter */
} plan;

static const plan plans[] = {
    {"ida_ggl", SPATIAL_SPHERICAL, 20, 8e-6, 0.6, 2},    {"ida_ggl", SPATIAL_SPHERICAL, 100, 4e-5, 0.6, 2},
    {"ida_ggl", SPATIAL_REVOLUTE, 20, 1.6e-5, 0.6, 2},   {"ida_ggl", SPATIAL_REVOLUTE, 100, 1e-4, 0.6, 2},
    {"ida_index1", SPATIAL_SPHERICAL, 20, 2e-6, 0.6, 2}, {"ida_index1", SPATIAL_SPHERICAL, 100, 3e-6, 0.6, 2},
    {"ida_index1", SPATIAL_REVOLUTE, 20, 3e-6, 0.6, 2},  {"ida_index1", SPATIAL_REVOLUTE, 100, 4e-6, 0.6, 2},
    {"simbody", SPATIAL_SPHERICAL, 100, 1e-3, 0.6, 2},   {"simbody", SPATIAL_SPHERICAL, 400, 5e-4, 0.6, 1},
    {"simbody", SPATIAL_REVOLUTE, 100, 1e-3, 0.6, 2},    {"mujoco", SPATIAL_SPHERICAL, 10, 4e-3, 0.8, 1},
    {"mujoco", SPATIAL_SPHERICAL, 20, 2e-3, 0.8, 1},     {"mujoco", SPATIAL_SPHERICAL, 100, 2.75e-4, 0.9, 1},
    {"mujoco", SPATIAL_REVOLUTE, 20, 6e-3, 0.8, 1},      {"mujoco", SPATIAL_REVOLUTE, 100, 1.6e-3, 0.8, 1},
};

typedef struct task {
  const spatial_peer *peer;
  const spatial_chain *chain;
  void *model;
} task;

static const double quick = 10.0; /* [s] curves that take longer are run once only */

static int task_run(void *user, point *out)
{
  const task *t = user;
  spatial_outcome o = {.why = ""};
  const int rc = t->peer->run(t->model, out->setting, &o);
  if (rc != 0) {
    memcpy(out->why, o.why, sizeof out->why);
    return rc;
  }
  out->error = spatial_chain_error(t->chain, o.tip);
  out->steps = o.steps;
  out->iterations = o.iterations;
  out->factorisations = o.factorisations;
  if (isfinite(out->error)) return 0;
  snprintf(out->why, sizeof out->why, "the tip is lost");
  return -1;
}

static const plan *plan_find(const char *peer, const spatial_chain *c)
{
  for (size_t i = 0; i < sizeof plans / sizeof *plans; i++)
    if (strcmp(plans[i].peer, peer) == 0 && plans[i].kind == c->kind && c->n <= plans[i].most_rods)
      return &plans[i];
  return NULL;
}

void spatial_sweep(curve *c, const spatial_peer *peer, const spatial_chain *chain, double target)
{
  const plan *p = plan_find(peer->name, chain);
  *c = (curve){.n = 0};
  snprintf(c->name, sizeof c->name, "%.39s", peer->title);
  if (!p) return;
  task t = {.peer = peer, .chain = chain, .model = peer->open(chain)};
  if (!t.model) {
    printf("  %s\n    cannot take a chain of %d rods\n", peer->title, chain->n);
    return;
  }
  const curve_plan ladder = {.first = p->first, .factor = p->factor, .fine = target, .enough = p->enough};
  const double begin = cpu_now();
  curve_walk(c, &ladder, task_run, &t);
  if (cpu_now() - begin < quick) curve_measure(c, 1.0, task_run, &t);
  peer->close(t.model);
  curve_print(c, peer->setting);
}

double spatial_least_time(const curve *c, const spatial_chain *chain, double target)
{
  double least = NAN;
  for (int i = 0; i < c->n; i++)
    if (c->at[i].error <= target) least = fmin(least, c->at[i].cpu); /* fmin passes over NaN */
  return least / chain->t_end;
}

void spatial_sweep_peers(report *r, spatial_kind kind, int n)
{
  const double target = 1e-5;
  const spatial_chain chain = spatial_chain_make(kind, n);
  for (const spatial_peer *const *peer = spatial_peers(); *peer; peer++) {
    curve c;
    if (!plan_find((*peer)->name, &chain)) continue;
    spatial_sweep(&c, *peer, &chain, target);
    const double time = spatial_least_time(&c, &chain, target);
    if (isfinite(time))
      printf("    %.5f s of CPU per simulated second at a tip error of at most %g\n", time, target);
    else if (c.n > 0)
      printf("    a tip error of %g is not reached\n", target);
    report_add(r, time, "spatial.%s%d.%s_s", spatial_kind_name(kind), n, (*peer)->name);
  }
  for (const char *const *name = spatial_peers_missing(); *name; name++)
    printf("  %s: not installed\n", *name);
}
