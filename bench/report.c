#define _POSIX_C_SOURCE 199309L
#include "report.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
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
  if (c->n < CURVE_MAX) c->at[c->n++] = (point){.setting = setting, .error = NAN};
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
