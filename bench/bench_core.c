/* galpha's core against SUNDIALS IDA, at equal error, in one run. bench/README.md explains every figure. */
#include "cases.h"
#include "memory.h"

#include <math.h>
#include <stdio.h>

static const double target = 1e-5; /* the error at which times are compared */
static const double seconds = 3.0; /* for a curve, see curve_measure() */

/* IDA's tolerances, a factor apart, each with every largest order; the fastest order counts. */
typedef struct ladder {
  double first, factor;
  int rungs;
  int orders[4]; /* 0 ends them */
} ladder;

typedef struct problem {
  const char *name; /* of the case */
  long first_steps; /* rungs of the ladder: numbers of steps, a factor √2 apart */
  int rungs;
  int slow; /* 1: only with --full, or when asked for by name */
  ladder tolerances[IDA_N_FORMS];
} problem;

static const problem problems[] = {
    {.name = "chain10",
     .first_steps = 1000,
     .rungs = 7,
     .tolerances = {[IDA_GGL] = {1e-4, 3.16, 6, {5}}, [IDA_INDEX1] = {3e-5, 3.16, 6, {5}}}},
    {.name = "chain100",
     .first_steps = 5000,
     .rungs = 5,
     .tolerances = {[IDA_GGL] = {1e-3, 3.16, 6, {5}}, [IDA_INDEX1] = {3e-5, 3.16, 5, {5}}}},
    {.name = "chain1000_200ms",
     .first_steps = 35,
     .rungs = 6,
     .slow = 1,
     .tolerances = {[IDA_GGL] = {5.6e-3, 1.78, 4, {2, 3, 5}}, [IDA_INDEX1] = {3e-4, 3.16, 3, {2, 5}}}},
    {.name = "andrews",
     .first_steps = 1500,
     .rungs = 7,
     .tolerances = {[IDA_GGL] = {3e-7, 2.0, 9, {5}}, [IDA_INDEX1] = {3e-7, 2.0, 9, {5}}}},
};
enum { N_PROBLEMS = sizeof problems / sizeof *problems };

/* ---- Curves ---- */

static double steps_curve(report *r, const problem *p, bench_task *t, const char *kind)
{
  curve c = {.n = 0};
  snprintf(c.name, sizeof c.name, "galpha, %s", kind);
  for (int i = 0; i < p->rungs; i++) curve_add(&c, rint((double)p->first_steps * pow(2.0, 0.5 * i)));
  curve_measure(&c, seconds, bench_steps, t);
  curve_print(&c, "steps");
  const double time = curve_time_at(&c, target);
  const point *near = curve_nearest(&c, target);
  report_add(r, time, "core.%s.ours_%s_s", p->name, kind);
  if (near && isfinite(time)) {
    report_add(r, near->iterations / near->steps, "core.%s.ours_%s_iterations_per_step", p->name, kind);
    report_add(r, near->factorisations / near->steps, "core.%s.ours_%s_factorisations_per_step", p->name,
               kind);
    report_add(r, 1e6 * near->cpu / near->steps, "core.%s.ours_%s_us_per_step", p->name, kind);
  }
  return time;
}

static double tolerance_curves(report *r, const problem *p, bench_task *t, ida_form form)
{
  static const char *const kind[IDA_N_FORMS] = {"ggl", "index1"};
  const ladder *tol = &p->tolerances[form];
  double best = NAN;
  for (const int *order = tol->orders; *order > 0; order++) {
    curve c = {.n = 0};
    snprintf(c.name, sizeof c.name, "IDA, %s, order up to %d", kind[form], *order);
    bench_theirs(t, form);
    t->theirs.max_order = *order;
    for (int i = 0; i < tol->rungs; i++) curve_add(&c, tol->first * pow(tol->factor, -i));
    curve_measure(&c, seconds, bench_ida, t);
    curve_print(&c, "tolerance");
    best = fmin(best, curve_time_at(&c, target)); /* fmin passes over NaN */
  }
  report_add(r, best, "core.%s.ida_%s_s", p->name, kind[form]);
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
static void problem_compare(report *r, const problem *p, bench_task *t)
{
  const char *name = p->name;
  printf("\n%s: %s; error: %s at the end\n", name, t->what->title, t->what->error);
  t->ours.newton.tol = ga_stepper_defaults().newton.tol;
  const double defaults = steps_curve(r, p, t, "defaults");
  t->ours.newton.tol = t->what->newton_tol;
  const double ours = steps_curve(r, p, t, "stabilized");
  t->ours.method = GA_INDEX3;
  const double index3 = steps_curve(r, p, t, "index3");
  const double ggl = t->ida ? tolerance_curves(r, p, t, IDA_GGL) : NAN;
  const double index1 = t->ida ? tolerance_curves(r, p, t, IDA_INDEX1) : NAN;
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

static int problem_run(report *r, const problem *p)
{
  bench_task t;
  const int rc = bench_open(&t, bench_case_find(p->name));
  if (rc == 0) problem_compare(r, p, &t);
  bench_close(&t);
  return rc;
}

/* ---- Growth with the number of rods ---- */

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

/* ---- Program ---- */

/* The reference of the cases against an integration here and now, for the chain where that is quick. */
static int reference_check(void)
{
  const bench_case *p = bench_case_find("chain10");
  chain *c = chain_create(p->rods);
  double tip[2] = {NAN, NAN};
  if (c) chain_tip_by_extrapolation(c, p->t_end, 800, 6, tip);
  chain_destroy(&c);
  const double off = fmax(fabs(tip[0] - p->tip[0]), fabs(tip[1] - p->tip[1]));
  printf("reference of %s: tip (%.12f, %.12f), off the table by %.1e\n", p->name, tip[0], tip[1], off);
  return off < 1e-10 ? 0 : -1;
}

int main(int argc, char **argv)
{
  static report r;
  bench_options o;
  const int code = bench_options_read(&o, argc, argv, "growth, chain10, chain100, chain1000_200ms, andrews");
  if (code >= 0) return code;
  printf("galpha %s against SUNDIALS IDA: %s\n", ga_version(),
         ida_peer_present() ? ida_peer_version() : "missing, its figures are absent");
  int failed = reference_check() != 0;
  if (bench_wanted(&o, "growth")) failed |= growth_run(&r) != 0;
  for (int i = 0; i < N_PROBLEMS; i++)
    if (bench_wanted(&o, problems[i].name) && (o.full || o.only || !problems[i].slow))
      failed |= problem_run(&r, &problems[i]) != 0;
  return bench_finish(&r, &o) || failed;
}
