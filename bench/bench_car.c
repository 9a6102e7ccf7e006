/* Cars of examples/models in their lane change, passive and semi-active, with equal steps of 10 ms: time per
 * step, beside that of one assembly of the iteration matrix, one factorisation and one solution, which is
 * what a step takes at least if its matrix is new; and how much faster than real time this is. */
#include "model_runs.h"
#include "report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { STEPS = 600, REPEATS = 3 };
static const double H = 1e-2;

typedef struct costs { /* CPU [s] of one of each; numbers per step */
  double step, residual, assembly, factor, solve;
  double iterations, factorisations, retries;
} costs;

typedef struct run {
  ga_context *ctx;
  ga_model *model;
  ga_stepper *st;
  ga_simulator *sim;
  double *q;
} run;

static void run_close(run *r)
{
  ga_simulator_destroy(&r->sim);
  ga_stepper_destroy(&r->st);
  ga_model_destroy(&r->model);
  ga_context_destroy(&r->ctx);
  free(r->q);
}

/* The full car starts at its equilibrium, as galpha run does by `from_equilibrium`. */
static ga_status find_rest(run *r, const ga_machine *m, double *v, double *x)
{
  const ga_system *sys = ga_machine_system(m);
  ga_equilibrium_opts o = ga_equilibrium_defaults();
  ga_equilibrium *eq = NULL;
  o.hold_free = 1;
  ga_status status = ga_equilibrium_create(r->ctx, sys, &o, &eq);
  if (!status) status = ga_equilibrium_solve(eq, 0, r->q, x, NULL);
  const ga_state *at = status ? NULL : ga_equilibrium_state(eq);
  if (at) status = ga_machine_move_velocities(m, r->q, at->q, v);
  if (at) memcpy(r->q, at->q, (size_t)ga_group_nq(ga_system_group(sys)) * sizeof *r->q);
  if (at && at->x) memcpy(x, at->x, (size_t)ga_system_size(sys, GA_BLOCK_X) * sizeof *x);
  ga_equilibrium_destroy(&eq);
  return status;
}

static ga_status run_open(run *r, const char *path, int timing)
{
  ga_stepper_opts o = ga_stepper_defaults();
  ga_simulate_opts so = ga_simulate_defaults();
  ga_start_opts start = ga_start_defaults();
  ga_status status = ga_context_create(NULL, &r->ctx);
  if (!status) status = ga_model_read_file(r->ctx, path, NULL, &r->model);
  if (!status) status = ga_scheme_rho(r->ctx, 0.9, &o.scheme);
  if (status) return status;
  ga_machine *m = ga_model_machine(r->model);
  const ga_system *sys = ga_machine_system(m);
  const size_t nq = (size_t)ga_group_nq(ga_system_group(sys)), nv = (size_t)ga_system_size(sys, GA_BLOCK_V);
  if (!(r->q = calloc(nq + nv + (size_t)ga_system_size(sys, GA_BLOCK_X) + 1, sizeof *r->q)))
    return GA_ERR_MEMORY;
  o.timing = timing;
  so.t_end = STEPS * H, so.fixed_h = H, so.defect_points = 0;
  start.h = H;
  status = ga_machine_initial(m, r->q, r->q + nq, r->q + nq + nv);
  if (!status && ga_model_settings(r->model)->from_equilibrium)
    status = find_rest(r, m, r->q + nq, r->q + nq + nv);
  if (!status) status = ga_stepper_create(r->ctx, sys, &o, &r->st);
  if (!status) status = ga_simulator_create(r->ctx, r->st, &so, &r->sim);
  if (!status)
    status = ga_simulator_start(r->sim, &start, 0, r->q, r->q + nq, r->q + nq + nv, NULL, NULL, NULL);
  return status;
}

static double clock_now(void)
{
  struct timespec t;
  timespec_get(&t, TIME_UTC);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* One of each, from the statistics of a run; `share` of the clock's time was this process's. */
static void take_parts(const ga_stats *s, double share, costs *c)
{
  c->residual = share * s->time_residual / (double)s->residuals;
  c->assembly = share * s->time_jacobian / (double)s->jacobians;
  c->factor = share * s->time_factor / (double)s->factorisations;
  c->solve = share * s->time_solve / (double)s->solves;
  c->iterations = (double)s->iterations / STEPS;
  c->factorisations = (double)s->factorisations / STEPS;
  c->retries = (double)s->failed_steps;
}

/* The best of several runs; their parts from one more run, since clocks take time too. */
static ga_status measure(const char *path, costs *c)
{
  ga_status status = GA_OK;
  *c = (costs){.step = HUGE_VAL};
  for (int k = 0; k <= REPEATS && !status; k++) {
    run r = {NULL, NULL, NULL, NULL, NULL};
    status = run_open(&r, path, k == REPEATS);
    const double begin = cpu_now(), clock = clock_now();
    if (!status) status = ga_simulator_run(r.sim);
    const double seconds = cpu_now() - begin, passed = clock_now() - clock;
    if (status)
      fprintf(stderr, "%s: %s\n", path, r.ctx ? ga_context_error(r.ctx)->text : "no context");
    else if (k < REPEATS)
      c->step = fmin(c->step, seconds / STEPS);
    else
      take_parts(ga_stepper_stats(r.st), fmin(1, seconds / passed), c);
    run_close(&r);
  }
  return status;
}

static void print_costs(const char *name, const costs *c, report *figures)
{
  const double least = c->assembly + c->factor + c->solve;
  printf("  %-20s %8.0f %9.0f %9.0f %7.0f %9.0f %7.1f %11.2f %9.2f %8.0f %10.1f\n", name, 1e6 * c->step,
         1e6 * c->assembly, 1e6 * c->factor, 1e6 * c->solve, 1e6 * c->residual, c->step / least,
         c->iterations, c->factorisations, c->retries, H / c->step);
  report_add(figures, c->step, "car.%s.step_s", name);
  report_add(figures, least, "car.%s.assembly_factor_solve_s", name);
  report_add(figures, c->step / least, "car.%s.step_by_assembly_factor_solve", name);
  report_add(figures, c->iterations, "car.%s.iterations_per_step", name);
  report_add(figures, c->factorisations, "car.%s.factorisations_per_step", name);
  report_add(figures, H / c->step, "car.%s.times_real_time", name);
}

typedef struct session {
  report figures;
  const bench_options *options;
} session;

static int visit(void *user, const char *path, const char *name)
{
  static const char *const CARS[] = {"car", "car_semi_active", "full_car", "full_car_semi_active"};
  session *s = user;
  costs c;
  for (size_t i = 0; i < sizeof CARS / sizeof *CARS; i++) {
    if (strcmp(name, CARS[i]) != 0 || !bench_wanted(s->options, name)) continue;
    if (measure(path, &c)) return 1;
    print_costs(name, &c, &s->figures);
  }
  return 0;
}

int main(int argc, char **argv)
{
  static session s;
  bench_options options;
  int n = 0;
  const int code =
      bench_options_read(&options, argc, argv, "car car_semi_active full_car full_car_semi_active");
  if (code >= 0) return code;
  s.options = &options;
  printf("cars in a lane change of 6 s, stabilized, steps of 10 ms; CPU in µs\n");
  printf("  %-20s %8s %9s %9s %7s %9s %7s %11s %9s %8s %10s\n", "", "step", "assembly", "factor", "solve",
         "residual", "step/afs", "iterations", "factors", "retries", "real time");
  const int failed = models_each("examples/models", NULL, visit, &s, &n);
  return bench_finish(&s.figures, &options) || failed;
}
