/* Pictures of the table of a sweep: measures over parameters, signals of all runs over time. */
#include "sweep_plot.h"

#include "figure.h"

#include "galpha/result.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_COLUMNS = 256, MOST_GROUPS = 12, WIDTH = 900, PANEL = 360 };

typedef struct table {
  const app_arguments *a;
  ga_context *ctx;
  const char *file;
  int n, columns, parameters; /* runs; columns; columns of parameters, behind that of the run's number */
  double *values;             /* [n][columns] */
  char *text[4];              /* names and units of columns, and of signals, one in each line */
  const char *name[MOST_COLUMNS], *unit[MOST_COLUMNS];
  const char *signal[MOST_COLUMNS], *signal_unit[MOST_COLUMNS];
} table;

int app_sweep_plot_takes(const char *file)
{
  ga_context *ctx = NULL;
  char *format = NULL;
  int takes = 0;
  if (!app_ends_in(file, ".h5") || ga_context_create(NULL, &ctx)) return 0;
  if (ga_tables_text(ctx, file, "format", &format) == GA_OK)
    takes = strncmp(format, "galpha sweep ", 13) == 0;
  ga_tables_free(ctx, format);
  ga_context_destroy(&ctx);
  return takes;
}

/* ---- Reading ---- */

static void split(char *text, const char **to)
{
  for (int i = 0; i < MOST_COLUMNS && text; i++) {
    char *end = strchr(text, '\n');
    to[i] = text;
    if (end) *end = '\0';
    text = end ? end + 1 : NULL;
  }
}

static int read_table(table *t)
{
  static const char *const texts[] = {"columns", "column_units", "signals", "signal_units"};
  char *parameters = NULL;
  ga_status status = ga_tables_numbers(t->ctx, t->file, "values", &t->n, &t->columns, &t->values);
  for (int i = 0; i < 4 && !status; i++) status = ga_tables_text(t->ctx, t->file, texts[i], &t->text[i]);
  if (!status) status = ga_tables_text(t->ctx, t->file, "parameters", &parameters);
  if (status) return app_misused(t->a, "%s", ga_context_error(t->ctx)->text);
  t->parameters = atoi(parameters);
  ga_tables_free(t->ctx, parameters);
  split(t->text[0], t->name);
  split(t->text[1], t->unit);
  split(t->text[2], t->signal);
  split(t->text[3], t->signal_unit);
  if (t->columns > MOST_COLUMNS || t->parameters < 0 || t->parameters + 3 > t->columns)
    return app_misused(t->a, "%s is damaged, or has more than %d columns", t->file, MOST_COLUMNS);
  return APP_DONE;
}

static double value(const table *t, int run, int column)
{
  return t->values[(size_t)run * (size_t)t->columns + (size_t)column];
}

static const char *name_at(const void *user, int i)
{
  const char *name = ((const table *)user)->name[i];
  return name ? name : "";
}

static int find_column(const table *t, const char *name)
{
  for (int i = 0; i < t->columns; i++)
    if (t->name[i] && strcmp(t->name[i], name) == 0) return i;
  return -1;
}

/* ---- Panels ---- */

static void put_label(FILE *to, const char *axis, const char *name, const char *unit)
{
  char text[256], pretty[64] = "";
  if (unit && *unit) app_pretty_unit(pretty, sizeof pretty, unit);
  snprintf(text, sizeof text, *pretty ? "%.150s  (%s)" : "%.150s", name, pretty);
  fprintf(to, "set %slabel ", axis);
  app_gnuplot_label(to, text);
  fputs(" noenhanced\n", to);
}

/* The different values of a column, as many as groups may be; more: MOST_GROUPS + 1. */
static int find_groups(const table *t, int column, double group[MOST_GROUPS + 1])
{
  int n = 0;
  for (int run = 0; run < t->n && n <= MOST_GROUPS; run++) {
    int known = 0;
    for (int i = 0; i < n; i++) known |= group[i] == value(t, run, column);
    if (!known) group[n++] = value(t, run, column);
  }
  return n;
}

/* 1: x goes one way from run to run, within the runs of each value of `by`. */
static int is_ordered(const table *t, int x, int by)
{
  int up = 0, down = 0;
  for (int run = 0; run < t->n; run++)
    for (int next = run + 1; next < t->n; next++) {
      if (by && value(t, next, by) != value(t, run, by)) continue;
      up |= value(t, next, x) > value(t, run, x);
      down |= value(t, next, x) < value(t, run, x);
      break;
    }
  return !(up && down);
}

/* A measure over a parameter: a curve for each value of another one, or points. */
static void put_response(const table *t, FILE *to, int panel, int x, int y)
{
  double group[MOST_GROUPS + 1] = {0.0};
  const int by = t->parameters == 2 && x <= 2 && x >= 1 ? 3 - x : 0;
  const int groups = by ? find_groups(t, by, group) : t->parameters == 1 ? 1 : MOST_GROUPS + 1;
  const int lines = groups <= MOST_GROUPS && is_ordered(t, x, by), n = lines ? groups : 1;
  for (int g = 0; g < n; g++) {
    fprintf(to, "$p%d_%d << EOD\n", panel, g);
    for (int run = 0; run < t->n; run++) {
      if (lines && by && value(t, run, by) != group[g]) continue;
      if (isfinite(value(t, run, x)) && isfinite(value(t, run, y)))
        fprintf(to, "%.9g %.9g\n", value(t, run, x), value(t, run, y));
    }
    fputs("EOD\n", to);
  }
  put_label(to, "x", t->name[x], t->unit[x]);
  put_label(to, "y", t->name[y], t->unit[y]);
  fprintf(to, "set key %s\nplot ", lines && by ? "outside right top" : "off");
  for (int g = 0; g < n; g++) {
    char label[128], pretty[64] = "";
    if (by && *t->unit[by]) app_pretty_unit(pretty, sizeof pretty, t->unit[by]);
    snprintf(label, sizeof label, "%.60s = %.4g %s", by ? t->name[by] : "", group[g], pretty);
    fprintf(to, "%s$p%d_%d using 1:2 ", g ? ", " : "", panel, g);
    fputs(lines ? "with linespoints pt 7 ps 0.5 lw 1.5 title " : "with points pt 7 ps 0.4 title ", to);
    app_gnuplot_label(to, label);
    fputs(" noenhanced", to);
  }
  fputc('\n', to);
}

/* A signal of all runs over time, coloured by the first parameter. */
static int put_overlay(const table *t, FILE *to, int panel, const char *name)
{
  char path[256];
  int n = 0, times = 0, runs = 0, cols = 0;
  double *time = NULL, *series = NULL;
  snprintf(path, sizeof path, "series/%.200s", name);
  ga_status status = ga_tables_numbers(t->ctx, t->file, "series/time", &times, &cols, &time);
  if (!status) status = ga_tables_numbers(t->ctx, t->file, path, &runs, &n, &series);
  if (!status && n == times && runs == t->n) {
    fprintf(to, "$p%d << EOD\n", panel);
    for (int run = 0; run < runs; run++) {
      for (int i = 0; i < times; i++)
        if (isfinite(series[(size_t)run * (size_t)times + (size_t)i]))
          fprintf(to, "%.9g %.9g %.9g\n", time[i], series[(size_t)run * (size_t)times + (size_t)i],
                  t->parameters ? value(t, run, 1) : 0.0);
      fputs("\n", to);
    }
    fputs("EOD\nset key off\n", to);
    put_label(to, "x", "time", "s");
    const char *unit = "";
    for (int i = 0; i < MOST_COLUMNS && t->signal[i]; i++)
      if (strcmp(t->signal[i], name) == 0 && t->signal_unit[i]) unit = t->signal_unit[i];
    put_label(to, "y", name, unit);
    if (t->parameters) put_label(to, "cb", t->name[1], t->unit[1]);
    fprintf(to, "plot $p%d using 1:2:3 with lines lw 1 lc palette\n", panel);
  }
  ga_tables_free(t->ctx, time);
  ga_tables_free(t->ctx, series);
  return !status && n == times && runs == t->n;
}

static int draw_panel(const table *t, FILE *to, int panel, const char *x_name, const char *name)
{
  const int y = find_column(t, name), x = x_name ? find_column(t, x_name) : t->parameters ? 1 : 0;
  if (y >= 0 && x >= 0) return put_response(t, to, panel, x, y), APP_DONE;
  if (x < 0) name = x_name;
  if (x >= 0 && put_overlay(t, to, panel, name)) return APP_DONE;
  const char *nearest = app_nearest(name, t->columns, name_at, t);
  return app_misused(t->a, "%s has no column or signal \"%s\"%s%s", t->file, name,
                     nearest ? "; the nearest is " : "", nearest ? nearest : "");
}

static int draw(const table *t)
{
  const app_arguments *a = t->a;
  const char *out = app_text(a, "out");
  int n = 0, panel = 0, first = t->parameters + 1, code = APP_DONE;
  app_gnuplot g;
  while (app_values(a, "xy", n)) n++;
  int panels = n + a->n_operands - 1;
  const int all = panels == 0; /* every measure */
  if (all) panels = t->columns - 2 - first;
  if (panels < 1) return app_misused(a, "%s has no measures; names of its signals are missing", t->file);
  if (!out) return app_misused(a, "-o is missing: the picture, .svg, .png or .pdf");
  if (!app_gnuplot_knows(out)) return app_misused(a, "-o: %s ends neither in .svg nor in .png or .pdf", out);
  if ((code = app_gnuplot_open(&g, a, out, WIDTH, PANEL * panels)) != APP_DONE) return code;
  fprintf(g.to,
          "set multiplot layout %d,1\nset grid lc rgb '#dddddd'\nset palette defined (0 '#2b5c8a', 0.5 "
          "'#9e9e9e', 1 '#c4441d')\n",
          panels);
  for (int i = 0; i < n && !code; i++)
    code = draw_panel(t, g.to, panel++, app_values(a, "xy", i)[0], app_values(a, "xy", i)[1]);
  for (int i = 1; i < a->n_operands && !code; i++) code = draw_panel(t, g.to, panel++, NULL, a->operands[i]);
  for (int i = 0; all && i < panels && !code; i++)
    code = draw_panel(t, g.to, panel++, NULL, t->name[first + i]);
  if (code) {
    fclose(g.to);
    return code;
  }
  fputs("unset multiplot\n", g.to);
  return app_gnuplot_close(&g, a);
}

int app_sweep_plot(const app_arguments *a)
{
  table t = {.a = a, .file = a->operands[0]};
  if (ga_context_create(NULL, &t.ctx)) return fputs("galpha: out of memory\n", stderr), APP_FAILED;
  int code = read_table(&t);
  if (!code) code = draw(&t);
  ga_tables_free(t.ctx, t.values);
  for (int i = 0; i < 4; i++) ga_tables_free(t.ctx, t.text[i]);
  ga_context_destroy(&t.ctx);
  return code;
}
