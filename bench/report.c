#define _GNU_SOURCE /* getopt_long, clock_gettime */
#include "report.h"

#include <getopt.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

void report_add(report *r, double value, const char *format, ...)
{
  if (!isfinite(value) || r->n == REPORT_MAX) return;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(r->name[r->n], REPORT_NAME, format, arguments);
  va_end(arguments);
  r->value[r->n++] = value;
}

int report_write(const report *r, const char *path)
{
  FILE *f = fopen(path, "w");
  if (!f) return -1;
  fputs("{", f);
  for (int i = 0; i < r->n; i++) fprintf(f, "%s\n  \"%s\": %.6g", i ? "," : "", r->name[i], r->value[i]);
  fputs("\n}\n", f);
  const int bad = ferror(f);
  return fclose(f) != 0 || bad ? -1 : 0;
}

void curve_add(curve *c, double setting)
{
  if (c->n < CURVE_MAX) c->at[c->n++] = (point){.setting = setting, .error = NAN, .cpu = INFINITY};
}

static int point_run(point *p, double setting, curve_run_fn run, void *user)
{
  *p = (point){.setting = setting, .error = NAN};
  const double start = cpu_now();
  const int rc = run(user, p);
  p->cpu = cpu_now() - start;
  return rc;
}

void curve_walk(curve *c, const curve_plan *plan, curve_run_fn run, void *user)
{
  int good = 0, below = 0, failures = 0; /* failures: after a success, one after the other */
  for (int i = 0; c->n < CURVE_MAX && below < plan->enough && failures < 2; i++) {
    point *p = &c->at[c->n++];
    const int failed = point_run(p, plan->first * pow(plan->factor, i), run, user) != 0;
    good |= !failed;
    below += p->error < plan->fine;
    failures = failed && good ? failures + 1 : 0;
  }
}

void curve_measure(curve *c, double seconds, curve_run_fn run, void *user)
{
  const double begin = cpu_now();
  for (int pass = 0; pass < 15 && cpu_now() - begin < (pass < 2 ? 5.0 : 1.0) * seconds; pass++)
    for (int i = 0; i < c->n; i++) {
      point p;
      const int rc = point_run(&p, c->at[i].setting, run, user);
      if (rc != 0 || p.cpu < c->at[i].cpu) c->at[i] = p;
    }
}

void curve_print(const curve *c, const char *setting_name)
{
  printf("  %s\n    %10s %10s %10s %9s %10s %10s\n", c->name, setting_name, "error", "CPU [s]", "steps",
         "iter/step", "fact/step");
  for (int i = 0; i < c->n; i++) {
    const point *p = &c->at[i];
    if (isfinite(p->error))
      printf("    %10.6g %10.2e %10.5f %9.0f %10.2f %10.3f\n", p->setting, p->error, p->cpu, p->steps,
             p->iterations / p->steps, p->factorisations / p->steps);
    else
      printf("    %10.6g     failed: %s\n", p->setting, p->why);
  }
}

double curve_time_at(const curve *c, double error)
{
  double n = 0.0, sx = 0.0, sy = 0.0, sxx = 0.0, sxy = 0.0, low = INFINITY, high = -INFINITY;
  for (int i = 0; i < c->n; i++) {
    const double x = log(c->at[i].error / error), y = log(c->at[i].cpu);
    if (!(fabs(x) <= log(40.0))) continue; /* NaN falls out here too */
    n += 1.0, sx += x, sy += y, sxx += x * x, sxy += x * y;
    low = fmin(low, x), high = fmax(high, x);
  }
  if (n < 2.0 || low > 0.0 || high < 0.0 || low == high) return NAN;
  const double slope = (n * sxy - sx * sy) / (n * sxx - sx * sx);
  return exp((sy - slope * sx) / n);
}

const point *curve_nearest(const curve *c, double error)
{
  const point *best = NULL;
  for (int i = 0; i < c->n; i++) {
    const point *p = &c->at[i];
    if (isfinite(p->error) && (!best || fabs(log(p->error / error)) < fabs(log(best->error / error))))
      best = p;
  }
  return best;
}

double cpu_now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int bench_options_read(bench_options *o, int argc, char **argv, const char *names)
{
  static const struct option options[] = {{"json", required_argument, NULL, 'o'},
                                          {"only", required_argument, NULL, 'n'},
                                          {"full", no_argument, NULL, 'f'},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
  int option;
  *o = (bench_options){.json = "build/bench.json"};
  while ((option = getopt_long(argc, argv, "o:h", options, NULL)) != -1) {
    if (option == 'o')
      o->json = optarg;
    else if (option == 'n')
      o->only = optarg;
    else if (option == 'f')
      o->full = 1;
    else {
      fprintf(option == 'h' ? stdout : stderr,
              "usage: %s [-o FILE] [--only NAME] [--full]\n"
              "  -o, --json FILE   where the figures go (default build/bench.json)\n"
              "  --only NAME       one of %s\n"
              "  --full            the cases that take long too, where there are some\n",
              argv[0], names);
      return option == 'h' ? 0 : 2;
    }
  }
  setvbuf(stdout, NULL, _IOLBF, 0);
  return -1;
}

int bench_wanted(const bench_options *o, const char *name)
{
  return !o->only || strcmp(o->only, name) == 0;
}

int bench_finish(const report *r, const bench_options *o)
{
  if (report_write(r, o->json) != 0) {
    fprintf(stderr, "cannot write %s\n", o->json);
    return 1;
  }
  printf("\n%d figures written to %s\n", r->n, o->json);
  return 0;
}
