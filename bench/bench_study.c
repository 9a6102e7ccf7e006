/* Sweeps: 1000 runs of a four-bar by one thread and by as many as there are processors; what reading the
 * model and measuring cost beside the steps. */
#define _POSIX_C_SOURCE 200809L
#include "galpha/study.h"
#include "report.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double seconds(clockid_t which)
{
  struct timespec now;
  clock_gettime(which, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static const char *const SET[] = {"crank_length=linspace(0.25,0.45,25)m", "start=linspace(0.8,1.6,40)rad"};
static const char *const MEASURES[] = {"max(hypot(A.fx, A.fy))", "rms(crank.wz)", "at(2 s, crank.angle)"};
enum { MEASURED = 3 };

/* Wall and processor time of all runs; 0: it failed. */
static int sweep(const char *model, int n_measures, int jobs, double *wall, double *cpu)
{
  ga_context *ctx = NULL;
  ga_design *design = NULL;
  ga_study *study = NULL;
  ga_design_opts d = ga_design_defaults();
  ga_study_opts o = ga_study_defaults();
  d.n_set = 2, d.set = SET;
  o.model = model, o.n_measures = n_measures, o.measures = MEASURES;
  ga_status status = ga_context_create(NULL, &ctx);
  if (!status) status = ga_design_create(ctx, &d, &design);
  o.design = design;
  if (!status) status = ga_study_create(ctx, &o, &study);
  *wall = seconds(CLOCK_MONOTONIC), *cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
  if (!status) status = ga_study_run(study, jobs, 1.0, NULL, NULL);
  *wall = seconds(CLOCK_MONOTONIC) - *wall, *cpu = seconds(CLOCK_PROCESS_CPUTIME_ID) - *cpu;
  const int good = !status && ga_study_n_failed(study) == 0;
  if (!good) fprintf(stderr, "%s\n", ctx ? ga_context_error(ctx)->text : "no memory");
  ga_study_destroy(&study);
  ga_design_destroy(&design);
  ga_context_destroy(&ctx);
  return good;
}

static double read_model(const char *path, int n)
{
  ga_context *ctx = NULL;
  const double began = seconds(CLOCK_PROCESS_CPUTIME_ID);
  if (ga_context_create(NULL, &ctx)) return NAN;
  for (int i = 0; i < n; i++) {
    ga_model *model = NULL;
    ga_model_read_file(ctx, path, NULL, &model);
    ga_model_destroy(&model);
  }
  ga_context_destroy(&ctx);
  return (seconds(CLOCK_PROCESS_CPUTIME_ID) - began) / n;
}

int main(int argc, char **argv)
{
  static report r;
  bench_options o;
  const char *model = "examples/models/four_bar.yaml";
  const int code = bench_options_read(&o, argc, argv, "threads parts");
  const int processors = (int)sysconf(_SC_NPROCESSORS_ONLN);
  double wall[2], cpu[2], bare_wall, bare;
  if (code >= 0) return code;
  puts("sweeps: 1000 runs of the four-bar, 2500 steps each");
  if (bench_wanted(&o, "threads")) {
    for (int i = 0; i < 2; i++) {
      const int jobs = i ? processors : 1;
      if (!sweep(model, MEASURED, jobs, &wall[i], &cpu[i])) return 1;
      printf("  %d thread%s: %.2f s, %.2f s of processors\n", jobs, jobs == 1 ? "" : "s", wall[i], cpu[i]);
    }
    printf("  %d threads are %.2f times as fast\n", processors, wall[0] / wall[1]);
    report_add(&r, wall[0], "study.four_bar.threads1_s");
    report_add(&r, wall[1], "study.four_bar.threads%d_s", processors);
    report_add(&r, wall[0] / wall[1], "study.four_bar.speedup%d", processors);
  }
  if (bench_wanted(&o, "parts")) {
    const double reading = read_model(model, 1000);
    if (!sweep(model, MEASURED, 1, &wall[0], &cpu[0]) || !sweep(model, 0, 1, &bare_wall, &bare)) return 1;
    printf("  a run: %.2f ms; of this reading the model %.2f ms, three measures %.2f ms\n", cpu[0],
           1e3 * reading, cpu[0] - bare);
    report_add(&r, cpu[0], "study.four_bar.run_ms");
    report_add(&r, 1e3 * reading, "study.four_bar.read_ms");
    report_add(&r, cpu[0] - bare, "study.four_bar.measures_ms");
  }
  return bench_finish(&r, &o);
}
