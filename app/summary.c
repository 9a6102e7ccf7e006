#include "summary.h"
#include "app.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_MOVED = 4, MOST_LIMITS = 6, MOST_NUMBERS = 20000000 };
#define ROUNDING 1e-9 /* of the largest value of the unit: less is no motion */
#define ALIKE                                                                                                \
  0.005 /* of their ranges: coordinates that differ by less, as of four wheels, are one of a kind */
#define SMALL 1e-3 /* of the largest way of a body: coordinates in m that change by less are not listed */
#define MORE 1.05  /* what changes by less than this more is listed in the order of the model */
#define NO_MOTION 1e-12 /* [m], [rad]; also of the largest value, where derivatives are errors */

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

/* Of joints, or a scalar body itself. */
static int is_coordinate(const summary *s, int i)
{
  char rate[512];
  const char *name = ga_result_signal_name(s->r, i);
  if (app_ends_in(name, ".angle") || app_ends_in(name, ".displacement")) return 1;
  return !strchr(name, '.') && snprintf(rate, sizeof rate, "%s.rate", name) < (int)sizeof rate &&
         ga_result_find(s->r, rate) >= 0;
}

static int is_place(const summary *s, int i)
{
  const char *name = ga_result_signal_name(s->r, i);
  return has_unit(s, i, "m") &&
         (app_ends_in(name, ".x") || app_ends_in(name, ".y") || app_ends_in(name, ".z"));
}

/* 1: the angle of a body, which has an angular velocity beside it, and not of a joint. */
static int is_of_body(const summary *s, int i)
{
  char rate[512];
  const char *name = ga_result_signal_name(s->r, i), *dot = strrchr(name, '.');
  return dot && strcmp(dot, ".angle") == 0 &&
         snprintf(rate, sizeof rate, "%.*s.wz", (int)(dot - name), name) < (int)sizeof rate &&
         ga_result_find(s->r, rate) >= 0;
}

/* 1: a later signal of the kind is the same: a place of another part, or the angle of the joint of a body. */
static int is_repeated(const summary *s, int i, int (*is_kind)(const summary *, int))
{
  if (is_kind == is_coordinate && !is_of_body(s, i)) return 0;
  for (int k = i + 1; k < s->n_signals; k++)
    if (is_kind(s, k) && s->of[k].low == s->of[i].low && s->of[k].high == s->of[i].high &&
        s->of[k].t_low == s->of[i].t_low &&
        strcmp(ga_result_signal_unit(s->r, k), ga_result_signal_unit(s->r, i)) == 0)
      return 1;
  return 0;
}

/* 1: both have the same range, but for a small part of it. */
static int is_alike(const summary *s, int i, int k)
{
  const double most = ALIKE * fmin(span(s, i), span(s, k));
  return has_unit(s, i, ga_result_signal_unit(s->r, k)) && fabs(s->of[i].low - s->of[k].low) <= most &&
         fabs(s->of[i].high - s->of[k].high) <= most;
}

/* 1: a signal of the kind before it is alike. */
static int has_alike_before(const summary *s, int i, int (*is_kind)(const summary *, int))
{
  for (int k = 0; k < i; k++)
    if (is_kind(s, k) && is_alike(s, i, k) && !is_repeated(s, k, is_kind)) return 1;
  return 0;
}

/* How many more of the kind are like i. */
static int count_alike(const summary *s, int i, int (*is_kind)(const summary *, int))
{
  int n = 0;
  for (int k = i + 1; k < s->n_signals; k++)
    n += is_kind(s, k) && is_alike(s, i, k) && !is_repeated(s, k, is_kind);
  return n;
}

/* The largest way of a body along an axis. */
static double largest_way(const summary *s)
{
  double most = 0.0;
  for (int i = 0; i < s->n_signals; i++)
    if (is_place(s, i)) most = fmax(most, span(s, i));
  return most;
}

/* The signals of a kind that change most, in proportion to their units; returns their number. Of those that
 * are alike the first one is taken. */
static int find_moved(const summary *s, int (*is_kind)(const summary *, int), int *found, int *all)
{
  const double way = largest_way(s);
  double share[MOST_MOVED];
  int n = 0;
  for (int i = 0; i < s->n_signals; i++) {
    const double scale = is_kind(s, i) ? scale_of(s, i) : 0.0;
    const double part = scale > 0.0 ? span(s, i) / scale : 0.0;
    if (!(part > ROUNDING) || !(span(s, i) > NO_MOTION)) continue;
    if (is_repeated(s, i, is_kind) || has_alike_before(s, i, is_kind)) continue;
    if (has_unit(s, i, "m") && span(s, i) < SMALL * way) continue;
    ++*all;
    int at = n < MOST_MOVED ? n++ : MOST_MOVED;
    for (; at > 0 && part > MORE * share[at - 1]; at--)
      if (at < MOST_MOVED) share[at] = share[at - 1], found[at] = found[at - 1];
    if (at < MOST_MOVED) share[at] = part, found[at] = i;
  }
  return n;
}

/* Without what rounding leaves of a 0. */
static double shown(const summary *s, int i, double value)
{
  return fabs(value) > 1e-12 * span(s, i) ? value : 0.0;
}

/* "hinge.angle 0 to 1.2 rad" */
static void print_range(const summary *s, int i, const char *before, FILE *out)
{
  const char *unit = ga_result_signal_unit(s->r, i);
  fprintf(out, "%s%s %.4g to %.4g%s%s", before, ga_result_signal_name(s->r, i), shown(s, i, s->of[i].low),
          shown(s, i, s->of[i].high), *unit && strcmp(unit, "1") != 0 ? " " : "",
          strcmp(unit, "1") != 0 ? unit : "");
}

/* "hub0.angle 0 to 187 rad (and 3 alike), chassis.x 0 to 59.6 m; 5 more". Returns how many signals were
 * printed. */
static int print_moved(const summary *s, FILE *out)
{
  int found[2 * MOST_MOVED], all = 0, places = 0, n = find_moved(s, is_coordinate, found, &all);
  const int more = find_moved(s, is_place, found + n, &places);
  if (n == 0)
    all = places, n = more;
  else if (more > 0)
    n++, all++; /* beside coordinates, the place that changed most */
  if (n == 0) return 0;
  fputs("moved        ", out);
  for (int k = 0; k < n; k++) {
    const int i = found[k], alike = is_coordinate(s, i) ? count_alike(s, i, is_coordinate) : 0;
    print_range(s, i, k ? ", " : "", out);
    if (alike > 0) fprintf(out, " (and %d alike)", alike);
  }
  if (all > n) fprintf(out, "; %d more", all - n);
  fputc('\n', out);
  return n;
}

/* Of models without bodies: signals of blocks, but for energies. */
static int is_of_block(const summary *s, int i)
{
  return strncmp(ga_result_signal_name(s->r, i), "energy.", 7) != 0;
}

/* 1: a signal of a block before it is the same, as a state is that is its output. */
static int is_state_of_output(const summary *s, int i)
{
  for (int k = 0; k < i; k++)
    if (s->of[k].low == s->of[i].low && s->of[k].high == s->of[i].high && s->of[k].t_low == s->of[i].t_low)
      return 1;
  return 0;
}

static void print_changed(const summary *s, FILE *out)
{
  int n = 0, all = 0;
  for (int i = 0; i < s->n_signals; i++) {
    if (!is_of_block(s, i) || !(span(s, i) > NO_MOTION * fmax(1.0, size(s, i))) || is_state_of_output(s, i))
      continue;
    if (all++ >= MOST_MOVED) continue;
    print_range(s, i, n++ ? ", " : "changed      ", out);
  }
  if (all > n) fprintf(out, "; %d more", all - n);
  if (n) fputc('\n', out);
}

/* ---- Peaks ---- */

/* The signal that a speed or an acceleration is a derivative of: rod.x of rod.ax, hinge.angle of
 * hinge.angle_rate; -1: not recorded. */
static int find_base(const summary *s, int i)
{
  char base[512];
  const char *name = ga_result_signal_name(s->r, i), *dot = strrchr(name, '.');
  const size_t length = strlen(name);
  if (length >= sizeof base) return -1;
  strcpy(base, name);
  if (app_ends_in(name, "_rate"))
    base[length - 5] = '\0';
  else if (dot && (dot[1] == 'v' || dot[1] == 'a') && dot[2] && !dot[3])
    base[length - 2] = dot[2], base[length - 1] = '\0';
  else
    return -1;
  return ga_result_find(s->r, base);
}

/* 1: not larger than its error bar somewhere, or the derivative of what does not move: 0 but for numerical
 * errors, as the acceleration of a hinge in the ground is. */
static int is_error(const summary *s, int i)
{
  const int base = find_base(s, i), bars = ga_result_error(s->r, i);
  if (base >= 0 && span(s, base) <= NO_MOTION * fmax(1.0, scale_of(s, base))) return 1;
  if (bars < 0 || ga_result_read(s->r, bars, 0, s->n, s->y)) return 0;
  double bar = 0.0;
  for (long k = 0; k < s->n; k++) bar = fmax(bar, s->y[k]);
  return size(s, i) <= bar;
}

/* Numerical errors of torques are those of forces at their levers. */
static double rounding_of(const summary *s, const char *unit)
{
  double force = 0.0, length = 0.0;
  for (int i = 0; i < s->n_signals && strcmp(unit, "N*m") == 0; i++) {
    if (has_unit(s, i, "N") && isfinite(size(s, i))) force = fmax(force, size(s, i));
    if (has_unit(s, i, "m") && isfinite(size(s, i))) length = fmax(length, size(s, i));
  }
  return fmax(1e-12, ROUNDING * force * length);
}

/* The largest speed, acceleration, force and torque; none that is a numerical error. Returns their number. */
static int print_peaks(const summary *s, FILE *out)
{
  static const char *const units[] = {"m/s", "rad/s", "m/s^2", "N", "N*m"};
  int n = 0;
  for (size_t u = 0; u < sizeof units / sizeof *units; u++) {
    int largest = -1;
    const double least = rounding_of(s, units[u]);
    for (int i = 0; i < s->n_signals; i++) {
      if (!has_unit(s, i, units[u]) || !isfinite(size(s, i)) || !(size(s, i) > least)) continue;
      if ((largest < 0 || size(s, i) > size(s, largest)) && !is_error(s, i)) largest = i;
    }
    if (largest < 0) continue;
    const extremes *e = &s->of[largest];
    const int is_high = fabs(e->high) >= fabs(e->low);
    fprintf(out, "%s%s %.4g %s at t = %.4g s", n++ ? ", " : "peaks        ",
            ga_result_signal_name(s->r, largest), is_high ? e->high : e->low, units[u],
            is_high ? e->t_high : e->t_low);
  }
  if (n) fputc('\n', out);
  return n;
}

/* ---- Limits ---- */

/* What was reached, how often, from the first time to the last. */
static void print_limit(const ga_limit *l, const char *before, FILE *out)
{
  const double first = fabs(l->first) > 1e-12 * fabs(l->last) ? l->first : 0.0;
  fprintf(out, "%s%s %s", before, l->name, l->words);
  if (l->throughout)
    fputs(" throughout", out);
  else if (l->first == l->last)
    fprintf(out, " at t = %.4g s", l->first);
  else if (l->times > 1.0)
    fprintf(out, " %.0f times from t = %.4g to %.4g s", l->times, first, l->last);
  else
    fprintf(out, " from t = %.4g to %.4g s", first, l->last);
}

static void print_limits(const ga_meter *meter, FILE *out)
{
  const int n = ga_meter_n_limits(meter);
  ga_limit l;
  for (int i = 0; i < n && i < MOST_LIMITS; i++)
    if (ga_meter_limit(meter, i, &l) == GA_OK) print_limit(&l, i ? ", " : "limits       ", out);
  if (n > MOST_LIMITS) fprintf(out, "; %d more", n - MOST_LIMITS);
  if (n) fputc('\n', out);
}

void app_summary_print(ga_context *ctx, const char *file, const ga_meter *meter, FILE *out)
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
    const int moved = print_moved(&s, out), peaks = print_peaks(&s, out);
    if (moved + peaks == 0) print_changed(&s, out);
  }
  if (meter) print_limits(meter, out);
  free(s.t);
  free(s.of);
  ga_result_close(&s.r);
}
