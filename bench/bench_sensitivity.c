/* What derivatives cost: a run with equal steps, the same with forward derivatives by 1 and 8 parameters, by
 * differences and by a callback, and with the adjoint for 1, 8 and 64 parameters, in units of the run; and at
 * equal errors of the derivatives, beside IDAS. The run and everything else includes the starts.
 * bench/README.md explains the figures. */
#include "loaded.h"
#include "report.h"
#include "sensitivity_contest.h"

#include <math.h>
#include <stdio.h>

enum { REPEATS = 3 };

/* [s] of CPU time, the least of a few; negative: it failed. */
static double measure(loaded_task *t, const loaded_run *run)
{
  double least = HUGE_VAL;
  for (int i = 0; i < REPEATS; i++) {
    const double from = cpu_now();
    if (loaded_measure(t, run, NULL, NULL, NULL)) {
      fprintf(stderr, "%s: %s\n", t->problem->name, ga_context_error(t->ctx)->text);
      return -1.0;
    }
    least = fmin(least, cpu_now() - from);
  }
  return least;
}

static int measure_problem(report *r, const char *name, long steps)
{
  static const struct {
    loaded_kind kind;
    int n;
    const char *figure;
  } ROWS[] = {{LOADED_FORWARD, 1, "forward_1"},         {LOADED_FORWARD, 8, "forward_8"},
              {LOADED_FORWARD_EXACT, 1, "exact_1"},     {LOADED_FORWARD_EXACT, 8, "exact_8"},
              {LOADED_ADJOINT, 1, "adjoint_1"},         {LOADED_ADJOINT, 8, "adjoint_8"},
              {LOADED_ADJOINT_PULLED, 64, "adjoint_64"}};
  static loaded_task t;
  const ex_problem *problem = ex_problem_find(name);
  int failed = !problem || loaded_open(&t, problem, 1e-3) != GA_OK;
  loaded_run run = {
      .method = GA_STABILIZED, .steps = steps, .t_end = failed ? 0.0 : (double)steps * problem->h};
  const double alone = failed ? -1.0 : measure(&t, &run);
  if (alone > 0.0) printf("  %-16s %5ld steps, %8.3f ms alone;", name, steps, 1e3 * alone);
  for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS && alone > 0.0; i++) {
    run.kind = ROWS[i].kind, run.n = ROWS[i].n;
    const double with = measure(&t, &run);
    failed |= with < 0.0;
    if (with < 0.0) break;
    report_add(r, with / alone, "sensitivity_%s_%s", name, ROWS[i].figure);
    printf(" %s %.2f", ROWS[i].figure, with / alone);
  }
  putchar('\n');
  if (problem) loaded_close(&t);
  return failed || alone <= 0.0;
}

int main(int argc, char **argv)
{
  static const struct {
    const char *name;
    long steps;
  } PROBLEMS[] = {{"heavy_top", 10000}, {"slider_crank", 10000}, {"mechatronic", 10000}, {"andrews31", 3000}};
  static report r;
  bench_options o;
  int failed = 0;
  const int code = bench_options_read(&o, argc, argv, "the name of a problem");
  if (code >= 0) return code;
  printf("galpha %s, derivatives by parameters, in units of the run alone\n", ga_version());
  for (size_t i = 0; i < sizeof PROBLEMS / sizeof *PROBLEMS; i++)
    if (bench_wanted(&o, PROBLEMS[i].name))
      failed += measure_problem(&r, PROBLEMS[i].name, PROBLEMS[i].steps);
  failed += sensitivity_contest(&r, &o);
  return bench_finish(&r, &o) || failed;
}
