/* galpha plot: signals over time, or over each other, drawn by gnuplot; a panel for each unit. */
#define _POSIX_C_SOURCE 200809L
#include "gnuplot.h"
#include "results.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_CURVES = 64, BUCKETS = 1500, MOST_POINTS = 20000, TITLE_LENGTH = 512 };

/* Sizes in pixels of an .svg. */
enum {
  WIDTH = 900,
  LEFT = 125, /* left of the axes: numbers and label */
  NAME = 20,  /* middle of the label, the same in all panels */
  RIGHT = 30,
  DIGIT = 12, /* width of a digit; long numbers make the left side wider */
  USUAL_DIGITS = 6,
  MOST_DIGITS = 10,
  OVER_TIME = 185, /* height of the axes */
  OVER_EACH_OTHER = 420,
  LEGEND_LINE = 21,
  ABOVE = 14, /* a legend */
  TICKS = 28, /* numbers below the axes */
  LABEL = 26, /* below them */
  TITLE = 30
};

typedef struct curve {
  int file;   /* index of the result */
  int x, y;   /* signals; x −1: the time */
  int panel;  /* where it is drawn */
  int colour; /* from 1, in its panel; also selects the dashes, which show where curves coincide */
} curve;

typedef struct panel {
  const char *unit_x, *unit_y;
  int n;                  /* curves */
  int x, y, first;        /* signals and result of its first curve */
  double low[2], high[2]; /* of all its points */
  int columns, rows;      /* of its legend */
  int digits;             /* of the numbers beside it */
  int top, bottom;        /* of its axes, from the top of the picture */
} panel;

typedef struct picture {
  const app_arguments *a;
  ga_context *ctx;
  int n_files, n_curves, n_panels;
  const char **file; /* [n_files] */
  ga_result **result;
  curve curve[MOST_CURVES];
  panel panel[MOST_CURVES];
  double from, to;
  int damaged;      /* 1: some records could not be read, and are not drawn */
  int height, left; /* left: of all axes */
} picture;

/* ---- Choice of signals ---- */

/* 1: the operand is a result: the first one, and others with that ending or that exist as files. */
static int is_result(const char *operand, int i)
{
  struct stat st;
  return i == 0 || app_ends_in(operand, ".h5") || app_ends_in(operand, ".hdf5") ||
         (stat(operand, &st) == 0 && S_ISREG(st.st_mode));
}

static int open_results(picture *p)
{
  const app_arguments *a = p->a;
  p->file = calloc((size_t)a->n_operands, sizeof *p->file);
  p->result = calloc((size_t)a->n_operands, sizeof *p->result);
  if (!p->file || !p->result) return fputs("galpha: out of memory\n", stderr), APP_FAILED;
  for (int i = 0; i < a->n_operands; i++) {
    if (!is_result(a->operands[i], i)) continue;
    const int code = app_result_open(a, p->ctx, a->operands[i], &p->result[p->n_files]);
    if (code) return code;
    app_result_warn(p->result[p->n_files], a->operands[i]);
    p->file[p->n_files++] = a->operands[i];
  }
  return APP_DONE;
}

static const char *unit_of(const picture *p, int file, int signal)
{
  return signal < 0 ? "s" : ga_result_signal_unit(p->result[file], signal);
}

static const char *name_of(const picture *p, int file, int signal)
{
  return signal < 0 ? "time" : ga_result_signal_name(p->result[file], signal);
}

static int panel_for(picture *p, const curve *c)
{
  const char *x = unit_of(p, c->file, c->x), *y = unit_of(p, c->file, c->y);
  for (int i = 0; i < p->n_panels; i++) {
    const panel *there = &p->panel[i];
    if (strcmp(there->unit_x, x) == 0 && strcmp(there->unit_y, y) == 0 && (there->x < 0) == (c->x < 0))
      return i;
  }
  p->panel[p->n_panels] = (panel){.unit_x = x,
                                  .unit_y = y,
                                  .x = c->x,
                                  .y = c->y,
                                  .first = c->file,
                                  .low = {HUGE_VAL, HUGE_VAL},
                                  .high = {-HUGE_VAL, -HUGE_VAL}};
  return p->n_panels++;
}

static int add_curve(picture *p, int file, int x, int y)
{
  if (p->n_curves == MOST_CURVES)
    return app_misused(p->a, "more than %d curves; name fewer signals", MOST_CURVES);
  curve *c = &p->curve[p->n_curves++];
  *c = (curve){.file = file, .x = x, .y = y};
  c->panel = panel_for(p, c);
  c->colour = ++p->panel[c->panel].n;
  return APP_DONE;
}

/* Compared results may be of different models: signals that one of them lacks are drawn from the others. */
static void warn_missing(const picture *p, int file, const char *name)
{
  fprintf(stderr, "warning: %s has no signal \"%s\"\n", p->file[file], name);
}

/* Adds all signals of one result that match the pattern, except those of an earlier result; each from all
 * results that have it. */
static int add_signals_of(picture *p, int first, const char *pattern)
{
  const ga_result *r = p->result[first];
  for (int i = 0; i < ga_result_n_signals(r); i++) {
    const char *name = ga_result_signal_name(r, i);
    int known = !app_matches(pattern, name);
    for (int f = 0; f < first && !known; f++) known = ga_result_find(p->result[f], name) >= 0;
    if (known) continue;
    for (int f = 0; f < p->n_files; f++) {
      const int signal = ga_result_find(p->result[f], name);
      const int code = signal < 0 ? APP_DONE : add_curve(p, f, -1, signal);
      if (code) return code;
    }
  }
  return APP_DONE;
}

static int add_signals(picture *p, const char *pattern)
{
  int known = 0, code = APP_DONE;
  for (int f = 0; f < p->n_files; f++) known |= app_result_has(p->result[f], pattern);
  if (!known) return app_result_no_signal(p->a, p->result[0], p->file[0], pattern);
  for (int f = 0; f < p->n_files && !code; f++) {
    if (!app_result_has(p->result[f], pattern)) warn_missing(p, f, pattern);
    code = add_signals_of(p, f, pattern);
  }
  return code;
}

/* −1: the time; −2: there is no such signal. */
static int find_signal(const picture *p, int file, const char *name)
{
  const int signal = ga_result_find(p->result[file], name);
  return signal >= 0 ? signal : strcmp(name, "time") == 0 ? -1 : -2;
}

static int add_pair(picture *p, const char *const *names)
{
  for (int k = 0; k < 2; k++) {
    int known = 0;
    for (int f = 0; f < p->n_files; f++) known |= find_signal(p, f, names[k]) > -2;
    if (!known) return app_result_no_signal(p->a, p->result[0], p->file[0], names[k]);
  }
  for (int f = 0; f < p->n_files; f++) {
    const int x = find_signal(p, f, names[0]), y = find_signal(p, f, names[1]);
    if (x < -1) warn_missing(p, f, names[0]);
    if (y < -1) warn_missing(p, f, names[1]);
    const int code = x < -1 || y < -1 ? APP_DONE : add_curve(p, f, x, y);
    if (code) return code;
  }
  return APP_DONE;
}

static int choose(picture *p)
{
  const char *const *pair;
  int code = APP_DONE;
  for (int i = 0; i < p->a->n_operands && !code; i++)
    if (!is_result(p->a->operands[i], i)) code = add_signals(p, p->a->operands[i]);
  for (int i = 0; !code && (pair = app_values(p->a, "xy", i)) != NULL; i++) code = add_pair(p, pair);
  if (!code && p->n_curves == 0)
    code = app_misused(p->a, "which signals? galpha info %s lists them", p->file[0]);
  return code;
}

/* ---- Numbers ---- */

typedef struct points {
  long n;
  double *t, *x, *y;
  double *e; /* error bars; NULL: not to be drawn, or there are none */
} points;

/* 1: error bars are drawn, which is done over time only. */
static int has_band(const picture *p, const curve *c)
{
  return app_has(p->a, "band") && c->x < 0 && c->y >= 0 && ga_result_error(p->result[c->file], c->y) >= 0;
}

/* Reads the records between the times `from` and `to`. */
static ga_status read_points(picture *p, const curve *c, points *out)
{
  ga_result *r = p->result[c->file];
  const long n = ga_result_n_records(r);
  double *memory = calloc(4 * (size_t)n + 1, sizeof *memory);
  if (!memory) return *out = (points){0}, GA_ERR_MEMORY;
  *out = (points){0, memory, memory + n, memory + 2 * n, has_band(p, c) ? memory + 3 * n : NULL};
  const int signal[4] = {-1, c->x, c->y, ga_result_error(r, c->y)};
  double *const to[4] = {out->t, out->x, out->y, out->e};
  for (int k = 0; k < 4 && to[k]; k++) {
    const ga_status status = ga_result_read(r, signal[k], 0, n, to[k]);
    if (status && status != GA_ERR_FILE) return status;
    if (status) p->damaged = 1; /* NaN for what is damaged, which leaves gaps */
  }
  for (long i = 0; i < n; i++) {
    if (!(out->t[i] >= p->from && out->t[i] <= p->to)) continue;
    out->x[out->n] = out->x[i];
    if (out->e) out->e[out->n] = out->e[i];
    out->y[out->n++] = out->y[i];
  }
  return GA_OK;
}

static void write_point(FILE *to, const points *p, long i)
{
  fprintf(to, "%.10g %.10g\n", p->x[i], p->y[i]);
}

/* Over time: of many records only the minimum and maximum of every bucket, so that no peak is lost. */
static void write_reduced(FILE *to, const points *p)
{
  for (long b = 0; b < BUCKETS; b++) {
    const long first = b * p->n / BUCKETS, end = (b + 1) * p->n / BUCKETS;
    long low = first, high = first;
    for (long i = first; i < end; i++) {
      if (p->y[i] < p->y[low]) low = i;
      if (p->y[i] > p->y[high]) high = i;
    }
    write_point(to, p, low < high ? low : high);
    if (low != high) write_point(to, p, low < high ? high : low);
  }
  if (p->n > 0) write_point(to, p, p->n - 1);
}

/* Lower and upper limit of the band, the widest of every bucket. */
static void write_band(FILE *to, int number, const points *p)
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

static void write_curve(FILE *to, int number, const curve *c, const points *p)
{
  if (p->e) write_band(to, number, p);
  fprintf(to, "$c%d << EOD\n", number);
  if (c->x < 0 && p->n > 4 * BUCKETS) {
    write_reduced(to, p);
  } else {
    const long stride = p->n / MOST_POINTS + 1;
    for (long i = 0; i < p->n; i += stride) write_point(to, p, i);
  }
  fputs("EOD\n", to);
}

static void widen(panel *to, const points *p)
{
  for (long i = 0; i < p->n; i++) {
    if (!isfinite(p->x[i]) || !isfinite(p->y[i])) continue;
    to->low[0] = fmin(to->low[0], p->x[i]);
    to->high[0] = fmax(to->high[0], p->x[i]);
    const double e = p->e && isfinite(p->e[i]) ? p->e[i] : 0.0;
    to->low[1] = fmin(to->low[1], p->y[i] - e);
    to->high[1] = fmax(to->high[1], p->y[i] + e);
  }
}

/* Gives all panels over time the same range. */
static void share_time(picture *p)
{
  double low = HUGE_VAL, high = -HUGE_VAL;
  for (int i = 0; i < p->n_panels; i++) {
    if (p->panel[i].x >= 0) continue;
    low = fmin(low, p->panel[i].low[0]);
    high = fmax(high, p->panel[i].high[0]);
  }
  for (int i = 0; i < p->n_panels; i++) {
    if (p->panel[i].x >= 0) continue;
    p->panel[i].low[0] = low;
    p->panel[i].high[0] = high;
  }
}

static int write_curves(picture *p, FILE *to)
{
  for (int i = 0; i < p->n_curves; i++) {
    points data;
    const ga_status status = read_points(p, &p->curve[i], &data);
    if (!status) write_curve(to, i, &p->curve[i], &data);
    if (!status) widen(&p->panel[p->curve[i].panel], &data);
    free(data.t);
    if (status == GA_ERR_MEMORY) return fputs("galpha: out of memory\n", stderr), APP_FAILED;
    if (status) return fprintf(stderr, "galpha plot: %s\n", ga_context_error(p->ctx)->text), APP_FAILED;
    if (data.n == 0)
      return app_misused(p->a, "%s has no records between t = %g s and %g s", p->file[p->curve[i].file],
                         p->from, p->to);
  }
  for (int i = 0; i < p->n_panels; i++)
    if (!(p->panel[i].low[1] <= p->panel[i].high[1]))
      return app_misused(p->a, "%s of %s has no value that can be drawn",
                         name_of(p, p->panel[i].first, p->panel[i].y), p->file[p->panel[i].first]);
  share_time(p);
  return APP_DONE;
}

/* ---- Layout ---- */

static int axes_width(const picture *p)
{
  return WIDTH - p->left - RIGHT;
}

#define NOTHING 1e-20 /* values below this are 0 */

/* 1: all values are equal up to rounding. */
static int is_flat(const panel *here, int axis)
{
  const double span = here->high[axis] - here->low[axis];
  const double most = fmax(fabs(here->high[axis]), fabs(here->low[axis]));
  return most < NOTHING || !(span > 1e-9 * most);
}

/* Number of digits that distinguish the ticks of an axis if values differ little. */
static void lay_out_numbers(picture *p)
{
  p->left = LEFT;
  for (int i = 0; i < p->n_panels; i++) {
    panel *here = &p->panel[i];
    const double span = here->high[1] - here->low[1], most = fmax(fabs(here->high[1]), fabs(here->low[1]));
    const int needed = is_flat(here, 1) || !isfinite(span) ? 0 : 2 + (int)ceil(log10(most / span));
    here->digits = needed < USUAL_DIGITS ? USUAL_DIGITS : needed > MOST_DIGITS ? MOST_DIGITS : needed;
    const int left = LEFT + DIGIT * (here->digits - USUAL_DIGITS);
    p->left = left > p->left ? left : p->left;
  }
}

static void curve_title(char text[TITLE_LENGTH], const picture *p, const curve *c)
{
  const char *unit = unit_of(p, c->file, c->y);
  snprintf(text, TITLE_LENGTH, "%s [%s]%s%s%s%s%s", name_of(p, c->file, c->y), *unit ? unit : "-",
           c->x >= 0 ? " over " : "", c->x >= 0 ? name_of(p, c->file, c->x) : "", p->n_files > 1 ? " (" : "",
           p->n_files > 1 ? p->file[c->file] : "", p->n_files > 1 ? ")" : "");
}

/* Number of columns that fit with the longest title; gnuplot takes more than 10 pixels per character. */
static void lay_out_legend(picture *p, int number)
{
  enum { SAMPLE = 75 }; /* of a line, and the gaps around it */
  panel *here = &p->panel[number];
  size_t longest = 0;
  for (int i = 0; i < p->n_curves; i++) {
    char title[TITLE_LENGTH];
    if (p->curve[i].panel != number) continue;
    curve_title(title, p, &p->curve[i]);
    longest = strlen(title) > longest ? strlen(title) : longest;
  }
  here->columns = (int)(axes_width(p) / (SAMPLE + 10.6 * (double)longest));
  if (here->columns < 1) here->columns = 1;
  if (here->columns > here->n) here->columns = here->n;
  here->rows = (here->n + here->columns - 1) / here->columns;
}

/* 1: the panel has a label below. Panels over time have one, below the last. */
static int has_label(const picture *p, int number)
{
  return p->panel[number].x >= 0 || number == p->n_panels - 1 || p->panel[number + 1].x >= 0;
}

static void lay_out(picture *p, int has_title)
{
  int y = has_title ? TITLE : 0;
  lay_out_numbers(p);
  for (int i = 0; i < p->n_panels; i++) {
    panel *here = &p->panel[i];
    lay_out_legend(p, i);
    here->top = y + ABOVE + here->rows * LEGEND_LINE;
    here->bottom = here->top + (here->x < 0 ? OVER_TIME : OVER_EACH_OTHER);
    y = here->bottom + TICKS + (has_label(p, i) ? LABEL : 0);
  }
  p->height = y + ABOVE;
}

/* ---- Drawing ---- */

static void label(FILE *to, const char *what, const char *name, const char *unit)
{
  char text[256];
  snprintf(text, sizeof text, "%s%s[%s]", name, *name ? " " : "", *unit ? unit : "-");
  fprintf(to, "set %s ", what);
  app_gnuplot_quoted(to, text);
  fputs(" noenhanced", to);
}

static void draw_curve(const picture *p, FILE *to, int i)
{
  const curve *c = &p->curve[i];
  char title[TITLE_LENGTH];
  curve_title(title, p, c);
  if (has_band(p, c))
    fprintf(to, "$b%d using 1:2:3 with filledcurves linecolor %d fillstyle transparent solid 0.3 notitle, ",
            i, c->colour);
  fprintf(to, "$c%d using 1:2 with lines linewidth 2 linecolor %d dashtype %d title ", i, c->colour,
          c->file + 1);
  app_gnuplot_quoted(to, title);
  fputs(" noenhanced", to);
}

/* Ranges [low, high] of x and y with a margin around the curves, except for time. If both are lengths they
 * have the same scale: one range is enlarged about its middle. */
static void choose_ranges(double low[2], double high[2], const panel *here, int width)
{
  const double size[2] = {width, OVER_EACH_OTHER}, room = 0.08;
  const int over_time = here->x < 0;
  double scale = 0.0;
  for (int k = 0; k < 2; k++) {
    const double span = here->high[k] - here->low[k], most = fmax(fabs(here->high[k]), fabs(here->low[k]));
    const int flat = is_flat(here, k);
    const double half =
        flat ? (most > NOTHING ? 0.1 * most : 1.0) : 0.5 * span * (over_time && k == 0 ? 1.0 : 1.0 + room);
    low[k] = 0.5 * (here->low[k] + here->high[k]) - half;
    high[k] = 0.5 * (here->low[k] + here->high[k]) + half;
    if (!flat) scale = fmax(scale, 2.0 * half / size[k]);
  }
  if (over_time || strcmp(here->unit_x, "m") != 0 || strcmp(here->unit_y, "m") != 0 || !(scale > 0.0)) return;
  for (int k = 0; k < 2; k++) {
    const double middle = 0.5 * (low[k] + high[k]);
    low[k] = middle - 0.5 * scale * size[k];
    high[k] = middle + 0.5 * scale * size[k];
  }
}

/* Thin vertical lines at the events of the first result, with names as long as there are few. */
static void draw_events(const picture *p, FILE *to, int over_time, double from, double till)
{
  enum { MOST_LINES = 400, MOST_NAMES = 16, FIRST_LABEL = 10 };
  const ga_result *r = p->result[0];
  const long all = ga_result_n_events(r);
  long n = 0;
  fputs("unset arrow\n", to);
  for (int k = 0; k < MOST_NAMES; k++) fprintf(to, "unset label %d\n", FIRST_LABEL + k);
  for (long i = 0; over_time && i < all; i++)
    n += ga_result_event_time(r, i) >= from && ga_result_event_time(r, i) <= till;
  if (n == 0 || n > MOST_LINES) return;
  for (long i = 0, next, k = 0; i < all; i = next) { /* those of one time together */
    const double t = ga_result_event_time(r, i);
    char names[TITLE_LENGTH] = "";
    size_t used = 0;
    for (next = i; next < all && ga_result_event_time(r, next) == t; next++)
      if (used < sizeof names)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", next > i ? ", " : "",
                                 ga_result_event_name(r, next));
    if (!(t >= from && t <= till)) continue;
    fprintf(to,
            "set arrow from first %.17g, graph 0 to first %.17g, graph 1 nohead back linecolor rgb 'gray60' "
            "linewidth 0.7\n",
            t, t);
    if (n > MOST_NAMES) continue;
    fprintf(to, "set label %ld ", FIRST_LABEL + k++);
    app_gnuplot_quoted(to, names);
    fprintf(to,
            " noenhanced at first %.17g, graph 0.98 right rotate by 90 offset character -0.7, 0 "
            "textcolor rgb 'gray40' font ',9'\n",
            t);
  }
}

static void draw_panel(const picture *p, FILE *to, int number)
{
  const panel *here = &p->panel[number];
  const int over_time = here->x < 0;
  const double height = p->height;
  double low[2], high[2];
  const char *separator = "plot ";
  if (has_label(p, number))
    label(to, "xlabel", over_time || here->n == 1 ? name_of(p, here->first, here->x) : "", here->unit_x);
  else
    fputs("unset xlabel", to);
  fputc('\n', to);
  label(to, "label 1", !over_time && here->n == 1 ? name_of(p, here->first, here->y) : "", here->unit_y);
  fprintf(to, " at screen %.6f, graph 0.5 center rotate by 90\n", (double)NAME / WIDTH);
  fprintf(to, "set tmargin at screen %.6f\nset bmargin at screen %.6f\n", 1.0 - here->top / height,
          1.0 - here->bottom / height);
  fprintf(to, "set key at screen %.6f, screen %.6f left top horizontal Left reverse maxcols %d\n",
          (double)p->left / WIDTH, 1.0 - (here->top - here->rows * LEGEND_LINE - 6) / height, here->columns);
  choose_ranges(low, high, here, axes_width(p));
  fprintf(to, "set xrange [%.10g:%.10g]\nset yrange [%.10g:%.10g]\n", low[0], high[0], low[1], high[1]);
  fprintf(to, "set format y '%%.%dh'\n", here->digits);
  draw_events(p, to, over_time, low[0], high[0]);
  for (int i = 0; i < p->n_curves; i++) {
    if (p->curve[i].panel != number) continue;
    fputs(separator, to);
    draw_curve(p, to, i);
    separator = ", ";
  }
  fputc('\n', to);
}

static void draw_all(const picture *p, FILE *to, FILE *data, const char *title)
{
  int c;
  for (rewind(data); (c = getc(data)) != EOF;) putc(c, to);
  fprintf(to, "set grid\nset format '%%h'\nset lmargin at screen %.6f\nset rmargin at screen %.6f\n",
          (double)p->left / WIDTH, (double)(WIDTH - RIGHT) / WIDTH);
  fputs("set multiplot", to);
  if (*title) {
    fputs(" title ", to);
    app_gnuplot_quoted(to, title);
    fputs(" noenhanced", to);
  }
  fputc('\n', to);
  for (int i = 0; i < p->n_panels; i++) draw_panel(p, to, i);
  fputs("unset multiplot\n", to);
}

/* The given title, or the titles of the models, each once. */
static void choose_title(const picture *p, char title[TITLE_LENGTH])
{
  const char *given = app_text(p->a, "title");
  size_t used = 0;
  snprintf(title, TITLE_LENGTH, "%s", given ? given : "");
  for (int f = 0; f < p->n_files && !given; f++) {
    const char *own = ga_result_attribute(p->result[f], "title");
    int said = !own || !*own;
    for (int k = 0; k < f && !said; k++) {
      const char *other = ga_result_attribute(p->result[k], "title");
      said = other && strcmp(other, own) == 0;
    }
    if (said || used >= TITLE_LENGTH - 1) continue;
    used += (size_t)snprintf(title + used, TITLE_LENGTH - used, "%s%s", used ? " and " : "", own);
  }
}

/* Reads all numbers before gnuplot is started. */
static int draw(picture *p, const char *file)
{
  app_gnuplot g;
  FILE *data = tmpfile();
  if (!data) return fputs("galpha plot: a temporary file cannot be created\n", stderr), APP_FAILED;
  char title[TITLE_LENGTH];
  choose_title(p, title);
  int code = write_curves(p, data);
  lay_out(p, *title != '\0');
  if (!code) code = app_gnuplot_open(&g, p->a, file, WIDTH, p->height);
  if (!code) {
    draw_all(p, g.to, data, title);
    code = app_gnuplot_close(&g, p->a);
  }
  fclose(data);
  return code;
}

/* Reports damaged records, which are missing in the picture. */
static int report_damage(picture *p)
{
  for (int f = 0; f < p->n_files; f++)
    if (ga_result_verify(p->result[f])) fprintf(stderr, "galpha plot: %s\n", ga_context_error(p->ctx)->text);
  return APP_FAILED;
}

static int check_band(const picture *p)
{
  int some = !app_has(p->a, "band");
  for (int i = 0; i < p->n_curves; i++) some |= has_band(p, &p->curve[i]);
  return some ? APP_DONE
              : app_misused(p->a, "--band: %s has no error bars; galpha run --accuracy makes them",
                            p->file[0]);
}

int app_plot(const app_arguments *a)
{
  const char *file = app_text(a, "out");
  picture p = {.a = a, .from = -HUGE_VAL, .to = HUGE_VAL};
  if (!file) return app_misused(a, "where to? -o FILE is needed, ending in .svg, .png or .pdf");
  if (!app_gnuplot_knows(file))
    return app_misused(a, "\"%s\" ends neither in .svg nor in .png nor in .pdf", file);
  int code = app_number(a, "from", "s", -1e12, 1e12, &p.from);
  if (!code) code = app_number(a, "to", "s", -1e12, 1e12, &p.to);
  if (code) return code;
  if (ga_context_create(NULL, &p.ctx)) return fputs("galpha: out of memory\n", stderr), APP_FAILED;
  code = open_results(&p);
  if (!code) code = choose(&p);
  if (!code) code = check_band(&p);
  if (!code) code = draw(&p, file);
  if (p.damaged) code = report_damage(&p);
  for (int i = 0; p.result && i < a->n_operands; i++) ga_result_close(&p.result[i]);
  free(p.result);
  free(p.file);
  ga_context_destroy(&p.ctx);
  return code;
}
