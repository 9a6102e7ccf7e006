#include "summary.h"
#include "app.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_MOVED = 4, MOST_NUMBERS = 20000000 };
#define ROUNDING 1e-9 /* of the largest value of the unit: less is no motion */

typedef struct extremes {
  double low, high, t_low, t_high;
} extremes;

typedef struct summary {
  ga_result *r;
  long n;
  double *t, *y;
  extremes *of; /* [n_signals] */
  int n_signals;
} summary;

static int read_extremes(summary *s)
{
  if (ga_result_read(s->r, -1, 0, s->n, s->t)) return 0;
  for (int i = 0; i < s->n_signals; i++) {
    extremes *e = &s->of[i];
    *e = (extremes){HUGE_VAL, -HUGE_VAL, 0.0, 0.0};
    if (ga_result_read(s->r, i, 0, s->n, s->y)) return 0;
    for (long k = 0; k < s->n; k++) {
      if (s->y[k] < e->low) e->low = s->y[k], e->t_low = s->t[k];
      if (s->y[k] > e->high) e->high = s->y[k], e->t_high = s->t[k];
    }
  }
  return 1;
}

static double span(const summary *s, int i)
{
  const double d = s->of[i].high - s->of[i].low;
  return isfinite(d) ? d : 0.0;
}

static double size(const summary *s, int i)
{
  return fmax(fabs(s->of[i].low), fabs(s->of[i].high));
}

static int has_unit(const summary *s, int i, const char *unit)
{
  return strcmp(ga_result_signal_unit(s->r, i), unit) == 0;
}

/* The largest value of a unit, by which rounding is known. */
static double scale_of(const summary *s, int i)
{
  double most = 0.0;
  for (int k = 0; k < s->n_signals; k++)
    if (strcmp(ga_result_signal_unit(s->r, k), ga_result_signal_unit(s->r, i)) == 0 && isfinite(size(s, k)))
      most = fmax(most, size(s, k));
  return most;
}

static int is_coordinate(const summary *s, int i)
{
  const char *name = ga_result_signal_name(s->r, i);
  return app_ends_in(name, ".angle") || app_ends_in(name, ".displacement");
}

static int is_place(const summary *s, int i)
{
  const char *name = ga_result_signal_name(s->r, i);
  return has_unit(s, i, "m") &&
         (app_ends_in(name, ".x") || app_ends_in(name, ".y") || app_ends_in(name, ".z"));
}

/* 1: a later signal is the same, as the angle of a joint is that of its body. */
static int is_repeated(const summary *s, int i)
{
  for (int k = i + 1; k < s->n_signals; k++)
    if (s->of[k].low == s->of[i].low && s->of[k].high == s->of[i].high && s->of[k].t_low == s->of[i].t_low &&
        strcmp(ga_result_signal_unit(s->r, k), ga_result_signal_unit(s->r, i)) == 0)
      return 1;
  return 0;
}

/* The signals of a kind that change most, in proportion to their units; returns their number. */
static int find_moved(const summary *s, int (*is_kind)(const summary *, int), int *found, int *all)
{
  double share[MOST_MOVED];
  int n = 0;
  *all = 0;
  for (int i = 0; i < s->n_signals; i++) {
    const double scale = is_kind(s, i) ? scale_of(s, i) : 0.0;
    const double part = scale > 0.0 ? span(s, i) / scale : 0.0;
    if (!(part > ROUNDING) || is_repeated(s, i)) continue;
    ++*all;
    int at = n < MOST_MOVED ? n++ : MOST_MOVED;
    for (; at > 0 && part > share[at - 1]; at--)
      if (at < MOST_MOVED) share[at] = share[at - 1], found[at] = found[at - 1];
    if (at < MOST_MOVED) share[at] = part, found[at] = i;
  }
  return n;
}

static void print_moved(const summary *s, FILE *out)
{
  int found[MOST_MOVED], all, n = find_moved(s, is_coordinate, found, &all);
  if (n == 0) n = find_moved(s, is_place, found, &all);
  if (n == 0) return;
  fputs("moved        ", out);
  for (int k = 0; k < n; k++)
    fprintf(out, "%s%s %.4g to %.4g %s", k ? ", " : "", ga_result_signal_name(s->r, found[k]),
            s->of[found[k]].low, s->of[found[k]].high, ga_result_signal_unit(s->r, found[k]));
  if (all > n) fprintf(out, "; %d more", all - n);
  fputc('\n', out);
}

/* The largest speed, acceleration, force and torque; none that is rounding. */
static void print_peaks(const summary *s, FILE *out)
{
  static const char *const units[] = {"m/s", "rad/s", "m/s^2", "N", "N*m"};
  int n = 0;
  for (size_t u = 0; u < sizeof units / sizeof *units; u++) {
    int largest = -1;
    for (int i = 0; i < s->n_signals; i++) {
      if (!has_unit(s, i, units[u]) || !isfinite(size(s, i))) continue;
      if (largest < 0 || size(s, i) > size(s, largest)) largest = i;
    }
    if (largest < 0 || !(size(s, largest) > 1e-12)) continue;
    const extremes *e = &s->of[largest];
    const int is_high = fabs(e->high) >= fabs(e->low);
    fprintf(out, "%s%s %.4g %s at t = %.4g s", n++ ? ", " : "peaks        ",
            ga_result_signal_name(s->r, largest), is_high ? e->high : e->low, units[u],
            is_high ? e->t_high : e->t_low);
  }
  if (n) fputc('\n', out);
}

void app_summary_print(ga_context *ctx, const char *file, FILE *out)
{
  summary s = {0};
  if (ga_result_open(ctx, file, &s.r)) return;
  s.n = ga_result_n_records(s.r);
  s.n_signals = ga_result_n_signals(s.r);
  const int fits = s.n > 1 && (double)s.n * s.n_signals < MOST_NUMBERS; /* reading more takes seconds */
  s.t = fits ? calloc(2 * (size_t)s.n, sizeof *s.t) : NULL;
  s.of = fits ? calloc((size_t)s.n_signals + 1, sizeof *s.of) : NULL;
  s.y = s.t ? s.t + s.n : NULL;
  if (s.t && s.of && read_extremes(&s)) {
    print_moved(&s, out);
    print_peaks(&s, out);
  }
  free(s.t);
  free(s.of);
  ga_result_close(&s.r);
}
