#include "figure.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 1500, MOST_POINTS = 20000, USUAL_DIGITS = 6, MOST_DIGITS = 10 };

/* Lengths for letters of the usual height, 14; others are in proportion. */
enum {
  LEFT = 125, /* left of the axes: numbers and label */
  NAME = 20,  /* middle of the label, the same in all panels */
  RIGHT = 30,
  DIGIT = 12,      /* width of a digit; long numbers make the left side wider */
  OVER_TIME = 185, /* height of the axes, where the picture's is not given */
  OVER_EACH_OTHER = 420,
  LEGEND_LINE = 21,
  ABOVE = 14, /* a legend */
  TICKS = 28, /* numbers below the axes */
  LABEL = 26, /* below them */
  TITLE = 30,
  LEAST_AXES = 45,
  SAMPLE = 75 /* of a line in a legend, and the gaps around it */
};
#define USUAL_LETTERS 14.0
#define CHARACTER 10.6 /* width that gnuplot counts for one in a legend */
#define NARROW 8.0     /* usual width of one, */
#define WIDE 9.0       /* and of a wide one */

static double em(const app_figure *f)
{
  return f->look.letters / USUAL_LETTERS;
}

/* ---- Texts ---- */

void app_pretty_unit(char *text, size_t size, const char *unit)
{
  static const struct {
    const char *from, *to;
  } pieces[] = {{"^2", "²"},   {"^3", "³"}, {"^4", "⁴"},  {"^-1", "⁻¹"},
                {"^-2", "⁻²"}, {"*", "·"},  {"deg", "°"}, {"ohm", "Ω"}};
  size_t used = 0;
  if (!*unit) unit = "-";
  while (*unit && used + 8 < size) {
    size_t k = 0;
    const size_t n = sizeof pieces / sizeof *pieces;
    while (k < n && strncmp(unit, pieces[k].from, strlen(pieces[k].from)) != 0) k++;
    if (k < n) {
      used += (size_t)snprintf(text + used, size - used, "%s", pieces[k].to);
      unit += strlen(pieces[k].from);
    } else {
      text[used++] = *unit++;
    }
  }
  text[used] = '\0';
}

static int characters(const char *text)
{
  int n = 0;
  for (; *text; text++) n += (*text & 0xC0) != 0x80;
  return n;
}

/* "hinge.angle [rad]", "[N·m]"; given: the name alone. */
static void axis_label(char text[APP_LABEL + APP_UNIT], const char *name, const char *unit, int given)
{
  char pretty[2 * APP_UNIT];
  if (given) {
    snprintf(text, APP_LABEL, "%s", name);
    return;
  }
  app_pretty_unit(pretty, sizeof pretty, strcmp(unit, "1") == 0 ? "" : unit);
  snprintf(text, APP_LABEL + APP_UNIT, "%s%s[%s]", name, *name ? " " : "", pretty);
}

static void set_label(FILE *to, const char *what, const char *name, const char *unit, int given)
{
  char text[APP_LABEL + APP_UNIT];
  axis_label(text, name, unit, given);
  fprintf(to, "set %s ", what);
  app_gnuplot_quoted(to, text);
  fputs(" noenhanced", to);
}

/* ---- Ranges ---- */

static int is_drawn(const app_figure *f, double x, double y)
{
  return isfinite(x) && isfinite(y) && !(f->log[0] && !(x > 0.0)) && !(f->log[1] && !(y > 0.0));
}

static void widen(const app_figure *f, app_panel *to, const app_curve *c)
{
  const app_series *p = &c->data;
  long lost = 0, over = 0; /* of these, where x is positive */
  long infinite = 0;
  for (long i = 0; i < p->n; i++) {
    if (!is_drawn(f, p->x[i], p->y[i])) {
      const int has_values = isfinite(p->x[i]) && isfinite(p->y[i]);
      infinite += isinf(p->x[i]) || isinf(p->y[i]);
      lost += has_values;
      over += has_values && !(f->log[0] && !(p->x[i] > 0.0));
      continue;
    }
    const double e = p->e && isfinite(p->e[i]) ? p->e[i] : 0.0;
    to->low[0] = fmin(to->low[0], p->x[i]);
    to->high[0] = fmax(to->high[0], p->x[i]);
    to->low[1] = fmin(to->low[1], f->log[1] && p->y[i] - e <= 0.0 ? p->y[i] : p->y[i] - e);
    to->high[1] = fmax(to->high[1], p->y[i] + e);
  }
  to->noise = fmax(to->noise, p->noise);
  if (infinite)
    fprintf(stderr, "warning: %ld of %ld values of %s %s not drawn: %s infinite\n", infinite, p->n, c->label,
            infinite == 1 ? "is" : "are", infinite == 1 ? "it is" : "they are");
  if (lost)
    fprintf(stderr,
            "warning: %ld of %ld values of %s %s not drawn: %s not positive, and the axis is logarithmic\n",
            lost, p->n, c->label, lost == 1 ? "is" : "are",
            over == lost ? (lost == 1 ? "it is" : "they are")
            : over == 0  ? (to->over_time ? "the time there is" : "their x is")
                         : (to->over_time ? "they or the times are" : "they or their x are"));
}

/* Panels over time have the same range. */
static void share_time(app_figure *f)
{
  double low = HUGE_VAL, high = -HUGE_VAL;
  for (int i = 0; i < f->n_panels; i++) {
    if (!f->panel[i].over_time) continue;
    low = fmin(low, f->panel[i].low[0]);
    high = fmax(high, f->panel[i].high[0]);
  }
  for (int i = 0; i < f->n_panels; i++) {
    if (!f->panel[i].over_time) continue;
    f->panel[i].low[0] = low;
    f->panel[i].high[0] = high;
  }
}

#define NOTHING 1e-20 /* values below this are 0 */

/* 1: all values are equal up to rounding. */
static int is_flat(const app_panel *here, int axis)
{
  const double span = here->high[axis] - here->low[axis];
  const double most = fmax(fabs(here->high[axis]), fabs(here->low[axis]));
  return most < NOTHING || !(span > 1e-9 * most) || (axis == 1 && span <= here->noise);
}

static int find_ranges(app_figure *f)
{
  for (int i = 0; i < f->n_panels; i++) {
    app_panel *here = &f->panel[i];
    const char *name = "";
    for (int k = 0; k < 2; k++) here->low[k] = HUGE_VAL, here->high[k] = -HUGE_VAL;
    here->noise = 0.0;
    for (int k = f->n_curves - 1; k >= 0; k--)
      if (f->curve[k].panel == i) widen(f, here, &f->curve[k]), name = f->curve[k].label;
    if (!(here->low[1] <= here->high[1]))
      return app_misused(f->a, "%s has no value that can be drawn%s", name,
                         f->log[0] || f->log[1] ? " with logarithmic axes: none is positive" : "");
    const double span = here->high[1] - here->low[1];
    if (!f->log[1] && span > 0.0 && span <= here->noise)
      printf("note: %s changes by %.1g %s only, which is rounding: drawn as constant\n", name, span,
             here->unit_y);
  }
  share_time(f);
  return APP_DONE;
}

/* ---- Layout ---- */

static double axes_width(const app_figure *f)
{
  return f->look.width - f->left - RIGHT * em(f);
}

/* Characters of the numbers beside an axis, roughly: about five of them are written. */
static int number_width(const app_figure *f, const app_panel *here)
{
  const double span = here->high[1] - here->low[1], most = fmax(fabs(here->high[1]), fabs(here->low[1]));
  const double step = is_flat(here, 1) ? 0.05 * most : span / 5.0;
  if (f->log[1] || most < NOTHING) return 4;
  if (!(most < 1e5) || !(step > 1e-4)) return USUAL_DIGITS + 2;
  const int decimals = step < 1.0 ? (int)ceil(-log10(step)) : 0;
  const int whole = most < 10.0 ? 1 : 1 + (int)floor(log10(most));
  return whole + (decimals ? decimals + 1 : 0) + (here->low[1] < 0.0);
}

/* Number of digits that distinguish the ticks of an axis if values differ little. */
static void lay_out_numbers(app_figure *f)
{
  enum { BESIDE = 46, WIDTH = 9 }; /* label and gaps; width of a character */
  f->left = 0.0;
  for (int i = 0; i < f->n_panels; i++) {
    app_panel *here = &f->panel[i];
    const double span = here->high[1] - here->low[1], most = fmax(fabs(here->high[1]), fabs(here->low[1]));
    const int needed =
        is_flat(here, 1) || !isfinite(span) || f->log[1] ? 0 : 2 + (int)ceil(log10(most / span));
    here->digits = needed < USUAL_DIGITS ? USUAL_DIGITS : needed > MOST_DIGITS ? MOST_DIGITS : needed;
    const double most_left = LEFT + DIGIT * (here->digits - USUAL_DIGITS);
    f->left =
        fmax(f->left, fmin(most_left,
                           here->digits > USUAL_DIGITS ? most_left : BESIDE + WIDTH * number_width(f, here)) *
                          em(f));
  }
}

/* Columns and rows of a legend of n titles, the longest of which has so many characters. */
static void fit_legend(const app_figure *f, int n, int longest, int *columns, int *rows)
{
  int fit = (int)(axes_width(f) / ((SAMPLE + CHARACTER * longest) * em(f)));
  if (fit < 1) fit = 1;
  if (fit > n) fit = n;
  *columns = fit;
  *rows = n > 0 ? (n + fit - 1) / fit : 0;
}

/* 1: the curve is the first of its label, whose line is in a shared legend. */
static int is_first_of_label(const app_figure *f, int curve)
{
  for (int i = 0; i < curve; i++)
    if (strcmp(f->curve[i].label, f->curve[curve].label) == 0) return 0;
  return 1;
}

/* 1: a label beside the axes replaces the legend of a single curve. */
static int has_name_only(const app_figure *f, int number, double height)
{
  const app_panel *here = &f->panel[number];
  char text[APP_LABEL + APP_UNIT];
  if (here->n != 1 || here->needs_legend || !*here->name_y) return 0;
  if (here->given[1]) return 1;
  axis_label(text, here->name_y, here->unit_y, here->given[1]);
  return characters(text) * NARROW * em(f) <= height;
}

static void lay_out_legends(app_figure *f, double stretch)
{
  int longest = 0, n = 0;
  for (int i = 0; i < f->n_curves; i++) {
    if (!is_first_of_label(f, i)) continue;
    longest = characters(f->curve[i].label) > longest ? characters(f->curve[i].label) : longest;
    n++;
  }
  f->shared_rows = f->shared_columns = 0;
  if (f->legend == APP_LEGEND_SHARED) fit_legend(f, n, longest, &f->shared_columns, &f->shared_rows);
  for (int k = 0; k < f->n_panels; k++) {
    app_panel *here = &f->panel[k];
    const int named = has_name_only(f, k, stretch * (here->over_time ? OVER_TIME : OVER_EACH_OTHER) * em(f));
    longest = 0;
    for (int i = 0; i < f->n_curves; i++)
      if (f->curve[i].panel == k && characters(f->curve[i].label) > longest)
        longest = characters(f->curve[i].label);
    here->columns = here->rows = 0;
    if (f->legend == APP_LEGEND_EACH && !named) fit_legend(f, here->n, longest, &here->columns, &here->rows);
  }
}

/* 1: the panel has a label below. Panels over time have one, below the last. */
static int has_label(const app_figure *f, int number)
{
  return !f->panel[number].over_time || number == f->n_panels - 1 || !f->panel[number + 1].over_time;
}

/* Places the panels for axes that are `stretch` times as high as usual; returns the height of all. */
static double place_panels(app_figure *f, double stretch)
{
  double y = (*f->title ? TITLE : 0) + (f->shared_rows ? ABOVE + f->shared_rows * LEGEND_LINE : 0);
  for (int i = 0; i < f->n_panels; i++) {
    app_panel *here = &f->panel[i];
    here->top = y + ABOVE + here->rows * LEGEND_LINE;
    here->bottom = here->top + stretch * (here->over_time ? OVER_TIME : OVER_EACH_OTHER);
    y = here->bottom + TICKS + (has_label(f, i) ? LABEL : 0);
  }
  return y + ABOVE;
}

/* How much higher or lower than usual axes have to be for the given height of the picture. */
static double find_stretch(app_figure *f, double *fixed, double *usual)
{
  *fixed = place_panels(f, 0.0);
  *usual = place_panels(f, 1.0);
  return f->look.height > 0.0 ? (f->look.height / em(f) - *fixed) / (*usual - *fixed) : 1.0;
}

static int lay_out(app_figure *f)
{
  double fixed, usual, stretch = 1.0;
  lay_out_numbers(f);
  for (int i = 0; i < 2; i++) { /* names fit on axes that are high enough */
    lay_out_legends(f, stretch);
    stretch = find_stretch(f, &fixed, &usual);
  }
  for (int i = 0; i < f->n_panels; i++) {
    app_panel *here = &f->panel[i];
    if (here->rows && here->n == 1 && !here->given[1] && !here->needs_legend)
      *here->name_y = '\0'; /* it is in the legend */
  }
  if (!(axes_width(f) > 2 * LEAST_AXES * em(f)) || !(stretch * OVER_TIME >= LEAST_AXES))
    return app_misused(f->a,
                       "--size: %.0f x %.0f pixels are too small for %d panel%s with letters of %.2g points; "
                       "they need at least %.0f x %.0f pixels, or a smaller --font",
                       f->look.width, f->look.height, f->n_panels, f->n_panels > 1 ? "s" : "",
                       0.75 * f->look.letters, ceil(f->left + (RIGHT + 2 * LEAST_AXES) * em(f) + 1.0),
                       ceil(em(f) * (fixed + (usual - fixed) * LEAST_AXES / OVER_TIME)));
  f->height = f->look.height = place_panels(f, stretch) * em(f);
  for (int i = 0; i < f->n_panels; i++) {
    f->panel[i].top *= em(f);
    f->panel[i].bottom *= em(f);
  }
  return APP_DONE;
}

/* ---- Numbers ---- */

static void write_point(const app_figure *f, FILE *to, const app_series *p, long i)
{
  if (is_drawn(f, p->x[i], p->y[i]))
    fprintf(to, "%.10g %.10g\n", p->x[i], p->y[i]);
  else
    fputs("NaN NaN\n", to); /* a gap */
}

/* Over time: of many records only the minimum and maximum of every bucket, so that no peak is lost. */
static void write_reduced(const app_figure *f, FILE *to, const app_series *p)
{
  for (long b = 0; b < BUCKETS; b++) {
    const long first = b * p->n / BUCKETS, end = (b + 1) * p->n / BUCKETS;
    long low = first, high = first;
    for (long i = first; i < end; i++) {
      if (p->y[i] < p->y[low] || isnan(p->y[low])) low = i;
      if (p->y[i] > p->y[high] || isnan(p->y[high])) high = i;
    }
    write_point(f, to, p, low < high ? low : high);
    if (low != high) write_point(f, to, p, low < high ? high : low);
  }
  if (p->n > 0) write_point(f, to, p, p->n - 1);
}

/* Lower and upper limit of the band, the widest of every bucket. */
static void write_band(FILE *to, int number, const app_series *p)
{
  const long n = p->n < BUCKETS ? p->n : BUCKETS;
  fprintf(to, "$b%d << EOD\n", number);
  for (long b = 0; b < n; b++) {
    const long first = b * p->n / n, end = (b + 1) * p->n / n;
    double low = HUGE_VAL, high = -HUGE_VAL;
    for (long i = first; i < end; i++) {
      low = fmin(low, p->y[i] - p->e[i]);
      high = fmax(high, p->y[i] + p->e[i]);
    }
    if (low <= high) fprintf(to, "%.10g %.10g %.10g\n", p->x[first], low, high);
  }
  fputs("EOD\n", to);
}

static void write_curve(const app_figure *f, FILE *to, int number)
{
  const app_curve *c = &f->curve[number];
  const app_series *p = &c->data;
  if (p->e) write_band(to, number, p);
  fprintf(to, "$c%d << EOD\n", number);
  if (!c->x.text && p->n > 4 * BUCKETS) {
    write_reduced(f, to, p);
  } else {
    const long stride = p->n / MOST_POINTS + 1;
    for (long i = 0; i < p->n; i += stride) write_point(f, to, p, i);
  }
  fputs("EOD\n", to);
}

/* ---- Drawing ---- */

static void write_style(FILE *to, const app_curve *c)
{
  if (c->drawn_as_points)
    fprintf(to, " with points pointtype 6 pointsize 0.7 linewidth 1.2 linecolor %d", c->style);
  else
    fprintf(to, " with lines linewidth 2 linecolor %d dashtype %d", c->style,
            c->other >= 0 ? c->source : c->source + 1);
}

static void write_title(FILE *to, const char *title)
{
  fputs(" title ", to);
  app_gnuplot_quoted(to, title);
  fputs(" noenhanced", to);
}

/* A label in a legend, cut where the picture ends. */
static void write_label(const app_figure *f, FILE *to, const char *label)
{
  const int fits = (int)((f->look.width - f->left - SAMPLE * em(f)) / (WIDE * em(f)));
  char cut[APP_LABEL + 8];
  size_t at = 0;
  if (characters(label) <= fits) {
    write_title(to, label);
    return;
  }
  for (int n = 0; label[at] && (n < fits - 1 || (label[at] & 0xC0) == 0x80); at++)
    n += (label[at + 1] & 0xC0) != 0x80;
  snprintf(cut, sizeof cut, "%.*s…", (int)at, label);
  printf("note: \"%s\" is too long for the legend and cut; --label gives it other words\n", label);
  write_title(to, cut);
}

static void draw_curve(const app_figure *f, FILE *to, int i)
{
  const app_curve *c = &f->curve[i];
  if (c->data.e)
    fprintf(to, "$b%d using 1:2:3 with filledcurves linecolor %d fillstyle transparent solid 0.3 notitle, ",
            i, c->style);
  fprintf(to, "$c%d using 1:2", i);
  write_style(to, c);
  if (f->panel[c->panel].rows)
    write_label(f, to, c->label);
  else
    fputs(" notitle", to);
}

/* The range of a logarithmic axis: with a margin, in decades. */
static void choose_log_range(double *low, double *high)
{
  const double margin = fmax(0.05, 0.05 * log10(*high / *low));
  *low /= pow(10.0, margin);
  *high *= pow(10.0, margin);
}

/* Ranges [low, high] of x and y with a margin around the curves, except for time. If both are lengths they
 * have the same scale: one range is enlarged about its middle. */
static void choose_ranges(const app_figure *f, double low[2], double high[2], const app_panel *here)
{
  const double size[2] = {axes_width(f), here->bottom - here->top}, room = 0.08;
  double scale = 0.0;
  for (int k = 0; k < 2; k++) {
    const double span = here->high[k] - here->low[k], most = fmax(fabs(here->high[k]), fabs(here->low[k]));
    const int flat = is_flat(here, k);
    const double part = here->over_time && k == 0 ? 1.0 : 1.0 + room;
    const double around = most > 4.0 * here->noise ? 0.1 * most : 0.0; /* of a constant that is not 0 */
    const double half = flat ? (most > NOTHING && around > 0.0 ? around : 1.0) : 0.5 * span * part;
    low[k] = 0.5 * (here->low[k] + here->high[k]) - half;
    high[k] = 0.5 * (here->low[k] + here->high[k]) + half;
    if (!flat) scale = fmax(scale, 2.0 * half / size[k]);
    if (!f->log[k]) continue;
    low[k] = here->low[k];
    high[k] = here->high[k];
    if (k == 1 || !here->over_time) choose_log_range(&low[k], &high[k]);
  }
  if (!here->lengths || f->log[0] || f->log[1] || strcmp(here->unit_x, here->unit_y) != 0 || !(scale > 0.0))
    return;
  for (int k = 0; k < 2; k++) {
    const double middle = 0.5 * (low[k] + high[k]);
    low[k] = middle - 0.5 * scale * size[k];
    high[k] = middle + 0.5 * scale * size[k];
  }
}

/* Thin vertical lines at the events of a result, with names as long as there are few. */
static void draw_events(const app_figure *f, FILE *to, int over_time, double from, double till)
{
  enum { MOST_LINES = 400, MOST_NAMES = 16, FIRST_LABEL = 10 };
  const ga_result *r = f->events;
  const long all = r ? ga_result_n_events(r) : 0;
  long n = 0;
  from /= f->time_scale, till /= f->time_scale;
  fputs("unset arrow\n", to);
  for (int k = 0; k < MOST_NAMES; k++) fprintf(to, "unset label %d\n", FIRST_LABEL + k);
  for (long i = 0; over_time && i < all; i++)
    n += ga_result_event_time(r, i) >= from && ga_result_event_time(r, i) <= till;
  if (n == 0 || n > MOST_LINES) return;
  for (long i = 0, next, k = 0; i < all; i = next) { /* those of one time together */
    const double t = ga_result_event_time(r, i);
    char names[APP_LABEL] = "";
    size_t used = 0;
    for (next = i; next < all && ga_result_event_time(r, next) == t; next++)
      if (used < sizeof names)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", next > i ? ", " : "",
                                 ga_result_event_name(r, next));
    if (!(t >= from && t <= till)) continue;
    fprintf(to,
            "set arrow from first %.17g, graph 0 to first %.17g, graph 1 nohead back linecolor rgb 'gray60' "
            "linewidth 0.7\n",
            t * f->time_scale, t * f->time_scale);
    if (n > MOST_NAMES) continue;
    fprintf(to, "set label %ld ", FIRST_LABEL + k++);
    app_gnuplot_quoted(to, names);
    fprintf(to,
            " noenhanced at first %.17g, graph 0.98 right rotate by 90 offset character -0.7, 0 "
            "textcolor rgb 'gray40' font ',%.2f'\n",
            t * f->time_scale, 9.0 * em(f));
  }
}

static void set_key(const app_figure *f, FILE *to, double bottom, int rows, int columns)
{
  if (rows == 0) {
    fputs("unset key\n", to);
    return;
  }
  fprintf(to, "set key at screen %.6f, screen %.6f left top horizontal Left reverse maxcols %d\n",
          f->left / f->look.width, 1.0 - (bottom - (rows * LEGEND_LINE + 6) * em(f)) / f->height, columns);
}

/* Lines of a shared legend. */
static void draw_shared_legend(const app_figure *f, FILE *to, const char **separator)
{
  for (int i = 0; i < f->n_curves; i++) {
    if (!is_first_of_label(f, i)) continue;
    fputs(*separator, to);
    fputs("keyentry", to);
    write_style(to, &f->curve[i]);
    write_label(f, to, f->curve[i].label);
    *separator = ", ";
  }
}

/* The least of 1, 2, 5, 10, ... times a power of ten that leaves room for the numbers; 0: gnuplot's choice.
 */
static double tick_step(double span, double length, double room)
{
  enum { MANY = 7 };
  static const double nice[] = {1.0, 2.0, 5.0, 10.0};
  const double most = floor(length / room);
  if (!(most < MANY) || !(span > 0.0) || !isfinite(span)) return 0.0;
  const double least = span / fmax(most, 1.0), ten = pow(10.0, floor(log10(least)));
  for (int i = 0; i < 3; i++)
    if (nice[i] * ten >= least) return nice[i] * ten;
  return nice[3] * ten;
}

/* 1: a logarithmic axis has two powers of ten at least, which are enough for its ticks. */
static int has_decades(double low, double high)
{
  return floor(log10(high)) - ceil(log10(low)) >= 1.0;
}

/* Ticks of a logarithmic axis that is too short for powers of ten: 1, 2, 5 times these, or evenly spaced. */
static void set_log_ticks(FILE *to, char axis, double low, double high)
{
  static const double nice[] = {1.0, 2.0, 5.0};
  const char *separator = "";
  const double even = high < 4.0 * low ? tick_step(high - low, 4.0, 1.0) : 0.0;
  fprintf(to, "set %ctics (", axis);
  for (double v = even > 0.0 ? ceil(low / even) : 1.0; even > 0.0 && v * even <= high;
       v += 1.0, separator = ", ")
    fprintf(to, "%s%.10g", separator, v * even);
  for (double ten = pow(10.0, floor(log10(low))); even == 0.0 && ten <= high; ten *= 10.0)
    for (int i = 0; i < 3; i++) {
      if (nice[i] * ten < low || nice[i] * ten > high) continue;
      fprintf(to, "%s%.10g", separator, nice[i] * ten);
      separator = ", ";
    }
  fputs(")\n", to);
}

static void set_ticks(const app_figure *f, FILE *to, const app_panel *here, const double *low,
                      const double *high)
{
  const double length[2] = {axes_width(f), here->bottom - here->top}, room[2] = {5.0, 1.8};
  for (int k = 0; k < 2; k++) {
    const double step = f->log[k] ? 0.0 : tick_step(high[k] - low[k], length[k], room[k] * f->look.letters);
    if (f->log[k] && !has_decades(low[k], high[k]))
      set_log_ticks(to, k ? 'y' : 'x', low[k], high[k]);
    else if (step > 0.0)
      fprintf(to, "set %ctics %.10g\n", k ? 'y' : 'x', step);
    else
      fprintf(to, "set %ctics autofreq\n", k ? 'y' : 'x');
  }
}

static void set_numbers(const app_figure *f, FILE *to, const app_panel *here, const double *low,
                        const double *high)
{
  fprintf(to, "set xrange [%.10g:%.10g]\nset yrange [%.10g:%.10g]\n", low[0], high[0], low[1], high[1]);
  for (int k = 0; k < 2; k++) {
    const char axis = k ? 'y' : 'x';
    if (f->log[k])
      fprintf(to, "set logscale %c\nset format %c '%s'\n", axis, axis,
              has_decades(low[k], high[k]) ? "10^{%T}" : "%.3h");
    else
      fprintf(to, "set format %c '%%.%dh'\n", axis, k ? here->digits : USUAL_DIGITS);
  }
}

static void draw_panel(const app_figure *f, FILE *to, int number)
{
  const app_panel *here = &f->panel[number];
  const int shared = number == 0 && f->legend == APP_LEGEND_SHARED;
  double low[2], high[2];
  const char *separator = "plot ";
  if (has_label(f, number))
    set_label(to, "xlabel", here->name_x, here->unit_x, here->given[0]);
  else
    fputs("unset xlabel", to);
  fputc('\n', to);
  set_label(to, "label 1", here->name_y, here->unit_y, here->given[1]);
  fprintf(to, " at screen %.6f, graph 0.5 center rotate by 90\n", NAME * em(f) / f->look.width);
  fprintf(to, "set tmargin at screen %.6f\nset bmargin at screen %.6f\n", 1.0 - here->top / f->height,
          1.0 - here->bottom / f->height);
  if (shared)
    set_key(f, to, here->top, f->shared_rows, f->shared_columns);
  else
    set_key(f, to, here->top, here->rows, here->columns);
  choose_ranges(f, low, high, here);
  set_numbers(f, to, here, low, high);
  set_ticks(f, to, here, low, high);
  draw_events(f, to, here->over_time, low[0], high[0]);
  if (shared) draw_shared_legend(f, to, &separator);
  for (int i = 0; i < f->n_curves; i++) {
    if (f->curve[i].panel != number) continue;
    fputs(separator, to);
    draw_curve(f, to, i);
    separator = ", ";
  }
  fputc('\n', to);
}

static void draw_all(const app_figure *f, FILE *to)
{
  for (int i = 0; i < f->n_curves; i++) write_curve(f, to, i);
  fprintf(to, "set grid\nset format '%%h'\nset lmargin at screen %.6f\nset rmargin at screen %.6f\n",
          f->left / f->look.width, 1.0 - RIGHT * em(f) / f->look.width);
  fputs("set multiplot", to);
  if (*f->title) write_title(to, f->title);
  fputc('\n', to);
  for (int i = 0; i < f->n_panels; i++) draw_panel(f, to, i);
  fputs("unset multiplot\n", to);
}

int app_figure_draw(app_figure *f)
{
  app_gnuplot g;
  int code = find_ranges(f);
  if (!code) code = lay_out(f);
  if (!code) code = app_gnuplot_open_look(&g, f->a, f->file, &f->look);
  if (code) return code;
  draw_all(f, g.to);
  return app_gnuplot_close(&g, f->a);
}
