/* galpha's core against SUNDIALS IDA, at equal error, in one run. bench/README.md explains every figure. */
#include "memory.h"
#include "peer_models.h"
#include "problem.h"
#include "report.h"

#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double target = 1e-5; /* the error at which times are compared */

typedef struct ladder { /* IDA's tolerances, a factor apart, each with every largest order; the fastest order
                           counts */
  double first, factor;
  int rungs;
  int orders[4]; /* 0 ends them */
} ladder;

typedef struct problem {
  const char *name;
  int rods; /* 0: Andrews' squeezer */
  double t_end;
  double reference[2]; /* tip [m], or β [rad] */

  double newton_tol; /* the loosest power of ten that does not show at the target */
  long first_steps;  /* rungs of the ladder: numbers of steps, a factor √2 apart */
  int rungs;

  ladder tolerances[IDA_N_FORMS];
  double v_atol, lambda_atol, first_step; /* see ida_opts */

  chain *chain; /* from here on set by problem_open() */
  ga_system_def def;
  ida_model peer;
  const double *q0, *v0;
} problem;

/* The tips at 1 s are those of chain_tip_by_extrapolation() with 12th order, converged to 1e-11: 10 rods in
 * 800 steps, 100 rods in 8000; at 0.2 s 1000 rods in 4000. */
static problem problems[] = {
    {.name = "chain10",
     .rods = 10,
     .t_end = 1.0,
     .reference = {-0.89431685236132, -0.14656506474687},
     .newton_tol = 1e-5,
     .first_steps = 1000,
     .rungs = 7,
     .tolerances = {[IDA_GGL] = {1e-4, 3.16, 6, {5}}, [IDA_INDEX1] = {3e-5, 3.16, 6, {5}}},
     .v_atol = 1.0,
     .lambda_atol = 1e3},
    {.name = "chain100",
     .rods = 100,
     .t_end = 1.0,
     .reference = {-0.90387531785526, -0.18078695422800},
     .newton_tol = 1e-5,
     .first_steps = 5000,
     .rungs = 5,
     .tolerances = {[IDA_GGL] = {1e-3, 3.16, 6, {5}}, [IDA_INDEX1] = {3e-5, 3.16, 5, {5}}},
     .v_atol = 1.0,
     .lambda_atol = 1e3},
    {.name = "chain1000_200ms",
     .rods = 1000,
     .t_end = 0.2,
     .reference = {0.93506367614245, -0.19620000000000},
     .newton_tol = 1e-5,
     .first_steps = 35,
     .rungs = 6,
     .tolerances = {[IDA_GGL] = {5.6e-3, 1.78, 4, {2, 3, 5}}, [IDA_INDEX1] = {3e-4, 3.16, 3, {2, 5}}},
     .v_atol = 1.0,
     .lambda_atol = 1e3},
    {.name = "andrews",
     .t_end = 0.03,
     .newton_tol = 1e-6,
     .first_steps = 1500,
     .rungs = 7,
     .tolerances = {[IDA_GGL] = {3e-7, 2.0, 9, {5}}, [IDA_INDEX1] = {3e-7, 2.0, 9, {5}}},
     .v_atol = 1e3,
     .lambda_atol = 1e3,
     .first_step = 1e-6},
};
enum { N_PROBLEMS = sizeof problems / sizeof *problems };

/* ---- One problem ----------------------------------------------------------------------------------------
 */

static int problem_open(problem *p)
{
  p->def = ga_system_defaults();
  if (p->rods > 0) {
    p->chain = chain_create(p->rods);
    if (!p->chain) return -1;
    chain_define(p->chain, &p->def);
    p->q0 = p->chain->q0;
    p->v0 = p->chain->v0;
    p->peer = chain_ida_model(p->chain);
  } else {
    const ex_problem *e = ex_problem_find("andrews");
    e->define(&p->def);
    p->q0 = e->q0;
    p->v0 = e->v0;
    p->reference[0] = e->reference.q[0];
    p->peer = andrews_ida_model();
  }
  return 0;
}

static double problem_error(const problem *p, const double *q)
{
  if (p->rods == 0) return fabs(q[0] - p->reference[0]);
  double tip[2];
  chain_tip(p->chain, q, tip);
  return fmax(fabs(tip[0] - p->reference[0]), fabs(tip[1] - p->reference[1]));
}

/* ---- One run of each code -------------------------------------------------------------------------------
 */

typedef struct task { /* what a curve varies one number of */
  const problem *p;
  ga_context *ctx;
  const ga_system *sys;
  ga_stepper_opts ours;
  ida_peer *ida;
  ida_opts theirs;
  double *q; /* [nv] work */
} task;

typedef int (*run_fn)(const task *t, point *out);

/* From the creation of the stepper to the end time; out->setting steps. */
static int run_ours(const task *t, point *out)
{
  ga_stepper *st = NULL;
  ga_start_opts start = ga_start_defaults();
  start.h = t->p->t_end / out->setting;
  ga_status rc = ga_stepper_create(t->ctx, t->sys, &t->ours, &st);
  if (rc == GA_OK) rc = ga_stepper_start(st, &start, 0.0, t->p->q0, t->p->v0, NULL, NULL, NULL, NULL);
  if (rc == GA_OK) rc = ga_stepper_run(st, start.h, (long)out->setting, NULL, NULL);
  if (rc == GA_OK) {
    const ga_stats *s = ga_stepper_stats(st);
    out->error = problem_error(t->p, ga_stepper_state(st)->q);
    out->steps = (double)s->steps;
    out->iterations = (double)s->iterations;
    out->factorisations = (double)s->factorisations;
  }
  ga_stepper_destroy(&st);
  if (rc != GA_OK) snprintf(out->why, sizeof out->why, "%.150s", ga_context_error(t->ctx)->text);
  return rc;
}

static int run_theirs(const task *t, point *out)
{
  ida_opts opts = t->theirs;
  ida_counts n = {0};
  opts.tol = out->setting;
  const int rc = ida_peer_run(t->ida, &opts, t->p->t_end, t->q, &n);
  if (rc == 0) {
    out->error = problem_error(t->p, t->q);
    out->steps = (double)n.steps;
    out->iterations = (double)n.iterations;
    out->factorisations = (double)n.jacobians;
  } else
    snprintf(out->why, sizeof out->why, "IDA's flag %d", rc);
  return rc;
}

/* Fills a curve whose settings are there: the best CPU time of several passes over all of its points, so that
 * a disturbance of the machine does not fall on every repetition of one of them. At least two passes, unless
 * the first takes long; up to fifteen where they are short. */
static void measure(curve *c, const task *t, run_fn run)
{
  const double begin = cpu_now();
  for (int i = 0; i < c->n; i++) c->at[i].cpu = INFINITY;
  for (int pass = 0; pass < 15 && cpu_now() - begin < (pass < 2 ? 15.0 : 3.0); pass++)
    for (int i = 0; i < c->n; i++) {
      point p = {.setting = c->at[i].setting, .error = NAN};
      const double start = cpu_now();
      const int rc = run(t, &p);
      p.cpu = cpu_now() - start;
      if (rc != 0 || p.cpu < c->at[i].cpu) c->at[i] = p;
    }
}

/* ---- Curves ----------------------------------------------------------------------------------------------
 */

static double steps_curve(report *r, task *t, const char *kind)
{
  curve c = {.n = 0};
  snprintf(c.name, sizeof c.name, "galpha, %s", kind);
  for (int i = 0; i < t->p->rungs; i++) curve_add(&c, rint((double)t->p->first_steps * pow(2.0, 0.5 * i)));
  measure(&c, t, run_ours);
  curve_print(&c, "steps");
  const double time = curve_time_at(&c, target);
  const point *near = curve_nearest(&c, target);
  report_add(r, time, "core.%s.ours_%s_s", t->p->name, kind);
  if (near && isfinite(time)) {
    report_add(r, near->iterations / near->steps, "core.%s.ours_%s_iterations_per_step", t->p->name, kind);
    report_add(r, near->factorisations / near->steps, "core.%s.ours_%s_factorisations_per_step", t->p->name,
               kind);
    report_add(r, 1e6 * near->cpu / near->steps, "core.%s.ours_%s_us_per_step", t->p->name, kind);
  }
  return time;
}

static double tolerance_curves(report *r, task *t, ida_form form)
{
  static const char *const kind[IDA_N_FORMS] = {"ggl", "index1"};
  const ladder *tol = &t->p->tolerances[form];
  double best = NAN;
  for (const int *order = tol->orders; *order > 0; order++) {
    curve c = {.n = 0};
    snprintf(c.name, sizeof c.name, "IDA, %s, order up to %d", kind[form], *order);
    t->theirs = ida_peer_defaults(form);
    t->theirs.max_order = *order;
    t->theirs.v_atol = t->p->v_atol;
    t->theirs.lambda_atol = t->p->lambda_atol;
    t->theirs.first_step = t->p->first_step;
    for (int i = 0; i < tol->rungs; i++) curve_add(&c, tol->first * pow(tol->factor, -i));
    measure(&c, t, run_theirs);
    curve_print(&c, "tolerance");
    best = fmin(best, curve_time_at(&c, target)); /* fmin passes over NaN */
  }
  report_add(r, best, "core.%s.ida_%s_s", t->p->name, kind[form]);
  return best;
}

static void print_time(const char *what, double time, double ours)
{
  if (!isfinite(time))
    printf("    %-28s not reached\n", what);
  else
    printf("    %-28s %10.5f s   over ours: %.2f\n", what, time, time / ours);
}

/* All curves of one problem, and their times at the target over that of the stabilized form. */
static void problem_compare(report *r, task *t)
{
  const char *name = t->p->name;
  printf("\n%s: %g s; error: %s at the end\n", name, t->p->t_end,
         t->p->rods > 0 ? "tip position [m], largest component" : "angle beta [rad]");
  t->ours = ga_stepper_defaults();
  const double defaults = steps_curve(r, t, "defaults");
  t->ours.newton.tol = t->p->newton_tol;
  const double ours = steps_curve(r, t, "stabilized");
  t->ours.method = GA_INDEX3;
  const double index3 = steps_curve(r, t, "index3");
  const double ggl = t->ida ? tolerance_curves(r, t, IDA_GGL) : NAN;
  const double index1 = t->ida ? tolerance_curves(r, t, IDA_INDEX1) : NAN;
  printf("  CPU time at error %g\n", target);
  print_time("galpha, stabilized", ours, ours);
  print_time("galpha, stabilized, defaults", defaults, ours);
  print_time("galpha, index 3", index3, ours);
  if (t->ida) {
    print_time("IDA, GGL", ggl, ours);
    print_time("IDA, index 1", index1, ours);
  } else
    puts("    IDA is missing from this build: see bench/README.md");
  report_add(r, ggl / ours, "core.%s.ida_ggl_over_ours", name);
  report_add(r, index1 / ours, "core.%s.ida_index1_over_ours", name);
  report_add(r, ggl / index3, "core.%s.ida_ggl_over_ours_index3", name);
  report_add(r, index1 / index3, "core.%s.ida_index1_over_ours_index3", name);
}

static int problem_run(report *r, problem *p)
{
  task t = {.p = p};
  ga_system *sys = NULL;
  int rc = problem_open(p);
  if (rc == 0) rc = ga_context_create(NULL, &t.ctx);
  if (rc == 0) rc = ga_system_create(t.ctx, &p->def, &sys);
  if (rc == 0) {
    t.sys = sys;
    t.q = calloc((size_t)ga_system_size(sys, GA_BLOCK_V), sizeof *t.q);
    t.ida = ida_peer_create(t.ctx, &p->peer);
    if (t.q) problem_compare(r, &t);
  } else
    fprintf(stderr, "%s: %s\n", p->name, t.ctx ? ga_context_error(t.ctx)->text : "out of memory");
  ida_peer_destroy(&t.ida);
  free(t.q);
  ga_system_destroy(&sys);
  ga_context_destroy(&t.ctx);
  chain_destroy(&p->chain);
  return rc;
}

/* ---- Growth with the number of rods ----------------------------------------------------------------------
 */

typedef struct growth {
  double us_per_step, iterations, bytes;
} growth;

/* 200 steps of 20 µs, one new matrix per step: the cost of a step, the same work at every size. */
static int growth_measure(int rods, growth *g)
{
  const double h = 2e-5;
  const long n = 200;
  memory_count count;
  ga_context *ctx = NULL;
  ga_system *sys = NULL;
  ga_stepper *st = NULL;
  ga_system_def def = ga_system_defaults();
  ga_stepper_opts opts = ga_stepper_defaults();
  ga_start_opts start = ga_start_defaults();
  chain *c = chain_create(rods);
  if (!c) return -1;
  chain_define(c, &def);
  opts.newton.reuse = GA_FRESH_STEP;
  start.h = h;
  int rc = memory_context_begin(&count, &ctx);
  if (rc == GA_OK) rc = ga_system_create(ctx, &def, &sys);
  if (rc == GA_OK) rc = ga_stepper_create(ctx, sys, &opts, &st);
  g->us_per_step = INFINITY;
  for (int i = 0; i < 5 && rc == GA_OK; i++) {
    rc = ga_stepper_start(st, &start, 0.0, c->q0, c->v0, NULL, NULL, NULL, NULL);
    const long before = rc == GA_OK ? ga_stepper_stats(st)->iterations : 0;
    const double clock = cpu_now();
    if (rc == GA_OK) rc = ga_stepper_run(st, h, n, NULL, NULL);
    if (rc != GA_OK) break;
    g->us_per_step = fmin(g->us_per_step, 1e6 * (cpu_now() - clock) / (double)n);
    g->iterations = (double)(ga_stepper_stats(st)->iterations - before) / (double)n;
  }
  g->bytes = (double)count.peak;
  if (rc != GA_OK && ctx) fprintf(stderr, "growth, %d rods: %s\n", rods, ga_context_error(ctx)->text);
  ga_stepper_destroy(&st);
  ga_system_destroy(&sys);
  memory_context_end(&ctx);
  chain_destroy(&c);
  return rc;
}

static int growth_run(report *r)
{
  static const int rods[] = {10, 100, 1000};
  growth g[3];
  printf("\nGrowth of a stabilized step with the number of rods, one factorisation per step\n");
  printf("    %6s %12s %10s %14s %12s\n", "rods", "us/step", "iter/step", "peak bytes", "bytes/rod");
  for (int i = 0; i < 3; i++) {
    if (growth_measure(rods[i], &g[i]) != 0) return -1;
    printf("    %6d %12.2f %10.2f %14.0f %12.0f\n", rods[i], g[i].us_per_step, g[i].iterations, g[i].bytes,
           g[i].bytes / rods[i]);
    report_add(r, g[i].us_per_step, "core.chain.us_per_step_%d", rods[i]);
    report_add(r, g[i].iterations, "core.chain.iterations_per_step_%d", rods[i]);
    report_add(r, g[i].bytes / rods[i], "core.chain.memory_bytes_per_body_%d", rods[i]);
  }
  const double time = log10(g[2].us_per_step / g[1].us_per_step);
  const double long_time = 0.5 * log10(g[2].us_per_step / g[0].us_per_step);
  const double bytes = log10(g[2].bytes / g[1].bytes);
  printf("    exponents: time %.3f (100 to 1000), %.3f (10 to 1000), memory %.3f (100 to 1000)\n", time,
         long_time, bytes);
  report_add(r, time, "core.chain.growth_exponent");
  report_add(r, long_time, "core.chain.growth_exponent_10_1000");
  report_add(r, bytes, "core.chain.memory_growth_exponent");
  return 0;
}

/* ---- Program ---------------------------------------------------------------------------------------------
 */

/* The constants above against an integration here and now, for the chain where that is quick. */
static int reference_check(void)
{
  const problem *p = &problems[0];
  chain *c = chain_create(p->rods);
  double tip[2] = {NAN, NAN};
  if (c) chain_tip_by_extrapolation(c, p->t_end, 800, 6, tip);
  chain_destroy(&c);
  const double off = fmax(fabs(tip[0] - p->reference[0]), fabs(tip[1] - p->reference[1]));
  printf("reference of %s: tip (%.12f, %.12f), off the table by %.1e\n", p->name, tip[0], tip[1], off);
  return off < 1e-10 ? 0 : -1;
}

static int usage(FILE *out, int code)
{
  fputs("bench_core [-o FILE] [--only NAME]\n"
        "  -o, --json FILE   where the figures go (default build/bench.json)\n"
        "  --only NAME       one of growth, chain10, chain100, chain1000_200ms, andrews\n",
        out);
  return code;
}

int main(int argc, char **argv)
{
  static const struct option options[] = {{"json", required_argument, NULL, 'o'},
                                          {"only", required_argument, NULL, 'n'},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
  static report r;
  const char *path = "build/bench.json", *only = NULL;
  for (int o; (o = getopt_long(argc, argv, "o:h", options, NULL)) != -1;) {
    if (o == 'o')
      path = optarg;
    else if (o == 'n')
      only = optarg;
    else
      return o == 'h' ? usage(stdout, 0) : usage(stderr, 2);
  }
  setvbuf(stdout, NULL, _IOLBF, 0);
  printf("galpha %s against SUNDIALS IDA: %s\n", ga_version(),
         ida_peer_present() ? ida_peer_version() : "missing, its figures are absent");
  int failed = reference_check() != 0;
  if (!only || strcmp(only, "growth") == 0) failed |= growth_run(&r) != 0;
  for (int i = 0; i < N_PROBLEMS; i++)
    if (!only || strcmp(only, problems[i].name) == 0) failed |= problem_run(&r, &problems[i]) != 0;
  if (report_write(&r, path) != 0) {
    fprintf(stderr, "cannot write %s\n", path);
    return 1;
  }
  printf("\n%d figures written to %s\n", r.n, path);
  return failed;
}
