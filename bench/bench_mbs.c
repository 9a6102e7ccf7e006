/* Machines from parts, measured on the spatial chain: where the time of a step goes, whether every step
 * converges. bench/README.md explains the figures. */
#define _GNU_SOURCE /* clock_gettime */
#include "report.h"
#include "spatial_machine.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static const char *const NAMES = "split, converge, converge.spherical100 (400, 1000; revolute...)";

static void name_of(char *text, size_t size, spatial_kind kind, int n)
{
  snprintf(text, size, "%s%d", spatial_kind_name(kind), n);
}

/* A stepper with its machine, at the chain's initial values. 0, or -1 after a message. */
static int start(const spatial_machine *m, const ga_stepper_opts *opts, double h, ga_stepper **st)
{
  ga_start_opts at = ga_start_defaults();
  at.h = h;
  ga_status status = ga_stepper_create(m->ctx, m->sys, opts, st);
  if (!status) status = ga_stepper_start(*st, &at, 0.0, m->q0, m->v0, NULL, NULL, NULL, NULL);
  if (status) fprintf(stderr, "chain of %d rods: %s\n", m->chain.n, ga_context_error(m->ctx)->text);
  return status ? -1 : 0;
}

/* ---- Where the time of a step goes ---- */

typedef struct split { /* [s] per step, but for the counts */
  double step, assembly, factor, solve, rest;
  double iterations, factorisations; /* per step */
  double alone;                      /* one assembly, one factorisation and one solve */
  size_t own, sparse;                /* allocations in all steps */
  int ok;
} split;

static const double split_h =
    5e-6; /* [s] small, so that one iteration per step will do, with 10000 rods too */

/* The parts are timed by the clock on the wall: so is the step, and a chunk that was
 * interrupted falls out. */
static double wall_now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static split split_of(const ga_stats *a, const ga_stats *b, double seconds)
{
  const double steps = (double)(b->steps - a->steps),
               factorisations = (double)(b->factorisations - a->factorisations),
               solves = (double)(b->solves - a->solves);
  split s = {.step = seconds / steps, .ok = 1};
  const double residual = b->time_residual - a->time_residual, jacobian = b->time_jacobian - a->time_jacobian;
  s.assembly = (residual + jacobian) / steps;
  s.factor = (b->time_factor - a->time_factor) / steps;
  s.solve = (b->time_solve - a->time_solve) / steps;
  s.rest = s.step - s.assembly - s.factor - s.solve;
  s.iterations = (double)(b->iterations - a->iterations) / steps;
  s.factorisations = factorisations / steps;
  s.alone = residual / (double)(b->residuals - a->residuals) + s.solve * steps / solves;
  if (factorisations > 0.0) s.alone += (jacobian + s.factor * steps) / factorisations;
  return s;
}

static int run_chunk(const spatial_machine *m, ga_stepper *st, int steps, split *best)
{
  const ga_stats a = *ga_stepper_stats(st);
  const double from = wall_now();
  for (int i = 0; i < steps; i++)
    if (ga_stepper_step(st, split_h) != GA_OK) {
      fprintf(stderr, "chain of %d rods: %s\n", m->chain.n, ga_context_error(m->ctx)->text);
      return -1;
    }
  const double seconds = wall_now() - from;
  const split s = split_of(&a, ga_stepper_stats(st), seconds);
  if (!best->ok || s.step < best->step) *best = s;
  return 0;
}

static split measure_split(spatial_kind kind, int n, ga_method method, ga_reuse reuse, ga_lu_kind lu)
{
  /* Short chunks, of which the fastest counts: the machine may have other work. With reuse they are long
   * enough for new factors to have their part. */
  const int fresh = reuse != GA_REUSE, least = n >= 10000 ? 4 : 40;
  const int steps = fresh ? (n >= 1000 ? 1 : 1000 / n) : (4000 / n > least ? 4000 / n : least);
  const int chunks = n >= 10000 ? (fresh ? 8 : 3) : fresh ? (n >= 1000 ? 80 : 200) : 8;
  split best = {.ok = 0};
  spatial_machine m;
  ga_stepper *st = NULL;
  ga_stepper_opts opts = ga_stepper_defaults();
  opts.method = method;
  opts.newton.reuse = reuse;
  opts.lu = lu;
  opts.newton.tol = 1e-3; /* one iteration per step, or nearly so */
  opts.timing = 1;
  int bad = spatial_machine_open(&m, kind, n) || start(&m, &opts, split_h, &st);
  for (int i = 0; i < 5 && !bad; i++) bad = ga_stepper_step(st, split_h) != GA_OK;
  const size_t own = m.memory.calls, sparse = m.memory.sparse;
  for (int i = 0; i < chunks && !bad; i++) bad = run_chunk(&m, st, steps, &best);
  best.own = m.memory.calls - own;
  best.sparse = m.memory.sparse - sparse;
  best.ok = !bad;
  ga_stepper_destroy(&st);
  spatial_machine_close(&m);
  return best;
}

static void print_split(const char *name, const char *what, const split *s)
{
  printf("  %-15s %-6s %10.1f %10.1f %10.1f %10.1f %10.1f %6.2f %6.2f %6zu %6zu\n", name, what, 1e6 * s->step,
         1e6 * s->assembly, 1e6 * s->factor, 1e6 * s->solve, 1e6 * s->rest, s->iterations, s->factorisations,
         s->own, s->sparse);
}

static void split_one(report *r, spatial_kind kind, int n, ga_method method, double *step)
{
  char name[40];
  ga_method_info info;
  const char *form = ga_method_at((int)method, &info) ? info.name : "";
  name_of(name, sizeof name, kind, n);
  const split fresh = measure_split(kind, n, method, GA_FRESH_STEP, GA_LU_AUTO),
              old = measure_split(kind, n, method, GA_REUSE, GA_LU_AUTO),
              klu = measure_split(kind, n, method, GA_FRESH_STEP, GA_LU_SPARSE);
  if (!fresh.ok || !old.ok || !klu.ok) return;
  const double klu_parts = fresh.assembly + klu.factor + klu.solve;
  print_split(name, "fresh", &fresh);
  print_split(name, "reuse", &old);
  print_split(name, "KLU", &klu);
  printf("  %-22s %10.2f of assembly, KLU's refactorisation and solve\n", "", fresh.step / klu_parts);
  printf("  %-22s %10.2f of its parts, %.2f with reuse\n", "", fresh.step / fresh.alone,
         old.step / fresh.step);
  *step = fresh.step;
  report_add(r, 1e6 * fresh.step, "mbs.split.%s.%s.step_us", form, name);
  report_add(r, 1e6 * fresh.assembly, "mbs.split.%s.%s.assembly_us", form, name);
  report_add(r, 1e6 * fresh.factor, "mbs.split.%s.%s.factor_us", form, name);
  report_add(r, 1e6 * fresh.solve, "mbs.split.%s.%s.solve_us", form, name);
  report_add(r, 1e6 * klu.factor, "mbs.split.%s.%s.klu_factor_us", form, name);
  report_add(r, 1e6 * klu.solve, "mbs.split.%s.%s.klu_solve_us", form, name);
  report_add(r, fresh.step / klu_parts, "mbs.split.%s.%s.step_over_klu_parts", form, name);
  report_add(r, 1e6 * fresh.rest, "mbs.split.%s.%s.rest_us", form, name);
  report_add(r, fresh.iterations, "mbs.split.%s.%s.iterations_per_step", form, name);
  report_add(r, fresh.step / fresh.alone, "mbs.split.%s.%s.step_over_parts", form, name);
  report_add(r, 1e6 * old.step, "mbs.split.%s.%s.reuse_step_us", form, name);
  report_add(r, old.step / fresh.step, "mbs.split.%s.%s.reuse_over_fresh", form, name);
  report_add(r, (double)(fresh.own + old.own), "mbs.split.%s.%s.allocations", form, name);
  report_add(r, (double)(fresh.sparse + old.sparse), "mbs.split.%s.%s.pivot_allocations", form, name);
}

/* Of log(time) over log(n), by least squares. */
static double slope(int count, const int *n, const double *time)
{
  double x = 0.0, y = 0.0, xx = 0.0, xy = 0.0;
  for (int i = 0; i < count; i++) x += log(n[i]) / count, y += log(time[i]) / count;
  for (int i = 0; i < count; i++) {
    xx += (log(n[i]) - x) * (log(n[i]) - x);
    xy += (log(n[i]) - x) * (log(time[i]) - y);
  }
  return xy / xx;
}

static void measure_splits(report *r)
{
  static const int rods[] = {10, 100, 1000, 10000};
  enum { N = sizeof rods / sizeof *rods };
  static const ga_method methods[] = {GA_INDEX3, GA_STABILIZED};
  for (size_t m = 0; m < sizeof methods / sizeof *methods; m++)
    for (int kind = 0; kind < SPATIAL_N_KINDS; kind++) {
      double step[N] = {NAN, NAN, NAN, NAN};
      ga_method_info info;
      if (!ga_method_at((int)methods[m], &info)) continue;
      printf("\nsplit: steps of 5 us, %s form; microseconds per step\n", info.title);
      printf("  %-15s %-6s %10s %10s %10s %10s %10s %6s %6s %6s %6s\n", "", "", "step", "assembly", "factor",
             "solve", "rest", "iter", "fact", "alloc", "pivots");
      for (int i = 0; i < N; i++) split_one(r, (spatial_kind)kind, rods[i], methods[m], &step[i]);
      const char *form = info.name, *chain = spatial_kind_name((spatial_kind)kind);
      const double growth = log(step[3] / step[1]) / log((double)rods[3] / rods[1]),
                   fit = slope(N, rods, step);
      printf("  time per step ~ N^%.2f from %d to %d rods; all sizes together: N^%.2f\n", growth, rods[1],
             rods[3], fit);
      report_add(r, growth, "mbs.split.%s.%s.growth_exponent", form, chain);
      report_add(r, fit, "mbs.split.%s.%s.growth_exponent_fit", form, chain);
    }
}

/* ---- Does every step converge? ---- */

static const double converge_h = 1e-4;

/* A step that fails is passed with halves, and counts once. */
static ga_status pass(ga_stepper *st, double h, int depth)
{
  ga_status status = ga_stepper_step(st, h);
  if (status <= 0 || depth == 0) return status;
  status = pass(st, 0.5 * h, depth - 1);
  return status ? status : pass(st, 0.5 * h, depth - 1);
}

static void converge_one(report *r, spatial_kind kind, int n, double most_cpu)
{
  char name[40];
  spatial_machine m;
  ga_stepper *st = NULL;
  const ga_stepper_opts opts = ga_stepper_defaults();
  long steps = 0, failed = 0;
  ga_status status = GA_OK;
  name_of(name, sizeof name, kind, n);
  const double from = cpu_now();
  if (spatial_machine_open(&m, kind, n) == 0 && start(&m, &opts, converge_h, &st) == 0) {
    const long most = lround(m.chain.t_end / converge_h);
    for (; steps < most && cpu_now() - from < most_cpu && !status; steps++) {
      status = ga_stepper_step(st, converge_h);
      failed += status != GA_OK;
      if (status > 0) status = pass(st, 0.5 * converge_h, 4);
    }
    const ga_stats *s = ga_stepper_stats(st);
    const double error = steps == most && !status ? spatial_machine_error(&m, ga_stepper_state(st)) : NAN;
    printf("  %-15s %8ld %8.3f %8ld %9ld %8.2f %8.2f %9.1e %8.2f%s\n", name, steps, ga_stepper_state(st)->t,
           failed, s->at_floor, (double)s->iterations / (double)s->steps,
           (double)s->factorisations / (double)s->steps, error, cpu_now() - from,
           status ? "  ended by a failure" : "");
    report_add(r, (double)steps, "mbs.converge.%s.steps", name);
    report_add(r, (double)failed, "mbs.converge.%s.failed", name);
    report_add(r, (double)s->iterations / (double)s->steps, "mbs.converge.%s.iterations_per_step", name);
    report_add(r, error, "mbs.converge.%s.tip_error", name);
  }
  ga_stepper_destroy(&st);
  spatial_machine_close(&m);
}

static void measure_convergence(report *r, const bench_options *o)
{
  static const int rods[] = {100, 400, 1000};
  const double most_cpu = o->full ? 400.0 : 5.0;
  printf("\nconverge: steps of 0.1 ms with the stepper's defaults, %g s of CPU each at the most\n", most_cpu);
  printf("  %-15s %8s %8s %8s %9s %8s %8s %9s %8s\n", "", "steps", "t [s]", "failed", "at floor", "iter",
         "fact", "tip error", "CPU [s]");
  for (int kind = 0; kind < SPATIAL_N_KINDS; kind++)
    for (size_t i = 0; i < sizeof rods / sizeof *rods; i++) {
      char name[40];
      snprintf(name, sizeof name, "converge.%s%d", spatial_kind_name((spatial_kind)kind), rods[i]);
      if (bench_wanted(o, "converge") || bench_wanted(o, name))
        converge_one(r, (spatial_kind)kind, rods[i], most_cpu);
    }
}

int main(int argc, char **argv)
{
  static report r;
  bench_options o;
  const int code = bench_options_read(&o, argc, argv, NAMES);
  if (code >= 0) return code;
  if (bench_wanted(&o, "split")) measure_splits(&r);
  if (!o.only || strncmp(o.only, "converge", 8) == 0) measure_convergence(&r, &o);
  return bench_finish(&r, &o);
}
