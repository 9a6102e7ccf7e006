#define _GNU_SOURCE /* getopt_long, clock_gettime */
#include "report.h"

#include <getopt.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int is_full(const report *r)
{
  if (r->n == REPORT_MAX) fprintf(stderr, "more than %d figures: the rest is left out\n", REPORT_MAX);
  return r->n == REPORT_MAX;
}

void report_add(report *r, double value, const char *format, ...)
{
  if (!isfinite(value) || is_full(r)) return;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(r->name[r->n], REPORT_NAME, format, arguments);
  va_end(arguments);
  r->why[r->n][0] = '\0';
  r->value[r->n++] = value;
}

void report_add_missing(report *r, const char *why, const char *format, ...)
{
  if (is_full(r)) return;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(r->name[r->n], REPORT_NAME, format, arguments);
  va_end(arguments);
  snprintf(r->why[r->n], REPORT_NAME, "%s", why);
  for (char *c = r->why[r->n]; *c; c++)
    if (*c == '"' || *c == '\\' || (unsigned char)*c < ' ') *c = '\'';
  r->value[r->n++] = NAN;
}

int report_write(const report *r, const char *path)
{
  FILE *f = fopen(path, "w");
  if (!f) return -1;
  fputs("{", f);
  for (int i = 0; i < r->n; i++) {
    const char *separator = i ? "," : "", *name = r->name[i];
    if (isfinite(r->value[i]))
      fprintf(f, "%s\n  \"%s\": %.6g", separator, name, r->value[i]);
    else
      fprintf(f, "%s\n  \"%s\": null,\n  \"%s_why\": \"%s\"", separator, name, name, r->why[i]);
  }
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

int curve_goes_on(const curve *c, const curve_plan *plan)
{
  int good = 0, below = 0, failures = 0; /* failures: one after the other, since `good` */
  for (int i = 0; i < c->n; i++) {
    const int failed = isnan(c->at[i].error);
    good |= !failed && !(plan->begun > 0.0 && c->at[i].error > plan->begun);
    below += c->at[i].error < plan->fine;
    failures = failed && good ? failures + 1 : 0;
  }
  return c->n < CURVE_MAX && below < plan->enough && failures < 2;
}

int curve_extend(curve *c, double setting, curve_run_fn run, void *user)
{
  point *p = &c->at[c->n++];
  const int rc = point_run(p, setting, run, user);
  if (rc != 0) p->error = NAN;
  return rc;
}

void curve_walk(curve *c, const curve_plan *plan, curve_run_fn run, void *user)
{
  for (int i = 0; curve_goes_on(c, plan); i++) curve_extend(c, plan->first * pow(plan->factor, i), run, user);
}

void curve_repeat(curve *c, int i, curve_run_fn run, void *user)
{
  point p;
  const int rc = point_run(&p, c->at[i].setting, run, user);
  if (rc != 0 || p.cpu < c->at[i].cpu) c->at[i] = p;
}

void curve_measure(curve *c, double seconds, curve_run_fn run, void *user)
{
  const double begin = cpu_now();
  for (int pass = 0; pass < 15 && cpu_now() - begin < (pass < 2 ? 5.0 : 1.0) * seconds; pass++)
    for (int i = 0; i < c->n; i++) curve_repeat(c, i, run, user);
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

/* Whether a is better than b in one and not worse in the other. */
static int beats(const point *a, const point *b)
{
  return a->error <= b->error && a->cpu <= b->cpu && (a->error < b->error || a->cpu < b->cpu);
}

static int is_beaten(const point *p, const curve *const *c, int n)
{
  for (int k = 0; k < n; k++)
    for (int i = 0; i < c[k]->n; i++)
      if (c[k]->at[i].error >= 0.0 && beats(&c[k]->at[i], p)) return 1; /* NaN falls out here */
  return 0;
}

int front_make(const curve *const *c, int n, const point **front, int most)
{
  int count = 0;
  for (int k = 0; k < n; k++)
    for (int i = 0; i < c[k]->n; i++) {
      const point *p = &c[k]->at[i];
      if (!(p->error >= 0.0) || is_beaten(p, c, n) || count == most) continue;
      int at = count++;
      for (; at > 0 && front[at - 1]->error < p->error; at--) front[at] = front[at - 1];
      front[at] = p;
    }
  return count;
}

double front_time_at(const point *const *front, int n, double error)
{
  int k = 0; /* the first point that is fine enough */
  while (k < n && front[k]->error > error) k++;
  if (k == n) return NAN;
  const point *b = front[k];
  if (k == 0 || !(b->error > 0.0)) return b->cpu;
  const point *a = front[k - 1];
  const double part = log(a->error / error) / log(a->error / b->error);
  return a->cpu * pow(b->cpu / a->cpu, part);
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
                                          {"seconds", required_argument, NULL, 's'},
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
    else if (option == 's')
      o->seconds = strtod(optarg, NULL);
    else {
      fprintf(option == 'h' ? stdout : stderr,
              "usage: %s [-o FILE] [--only NAME] [--full] [--seconds S]\n"
              "  -o, --json FILE   where the figures go (default build/bench.json)\n"
              "  --only NAME       one of %s\n"
              "  --full            the cases that take long too, where there are some\n"
              "  --seconds S       curves of bench_precision end behind a run of S seconds, a code after 4 S\n",
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
