/* galpha fit: parameters of a model from measured signals. */
#include "gnuplot.h"
#include "figure.h"
#include "interrupt.h"
#include "search.h"
#include "table.h"

#include "call.h"
#include "progress.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PANEL = 260, WIDTH = 900, MOST_PANELS = 24 };

typedef struct fit {
  app_search s;
  int n_data;           /* experiments */
  app_table **table;    /* [n_data] */
  ga_fit_data *data;    /* [n_data] */
  const char **signals; /* of all columns that are used */
  double *values, *sigma;
  const char **set_in; /* parameters of single experiments, one experiment after the other */
  ga_fit *fit;
  double began;
} fit;

static int no_memory(void)
{
  return fputs("galpha: out of memory\n", stderr), APP_FAILED;
}

/* ---- Columns ---- */

static const char *signal_at(const void *machine, int i)
{
  return ga_machine_signal_name(machine, i);
}

static const char *column_at(const void *table, int i)
{
  return ((const app_table *)table)->name[i];
}

/* "COLUMN=SIGNAL", or "COLUMN" alone: 1 if it is of this column; *signal: behind the "=", or the column. */
static int is_of(const char *text, const char *column, const char **value)
{
  const char *equals = strrchr(text, '=');
  const size_t n = equals ? (size_t)(equals - text) : strlen(text);
  *value = equals ? equals + 1 : column;
  return strlen(column) == n && strncmp(text, column, n) == 0;
}

/* Every --signal and --sigma names a column of some file. */
static int check_names(const fit *f, const char *option)
{
  const char *const *given;
  for (int k = 0; (given = app_values(f->s.a, option, k)) != NULL; k++) {
    int found = 0;
    const char *value;
    for (int e = 0; e < f->n_data; e++)
      for (int i = 0; i < f->table[e]->n_columns; i++) found |= is_of(given[0], f->table[e]->name[i], &value);
    if (found) continue;
    char name[256];
    const char *equals = strrchr(given[0], '=');
    snprintf(name, sizeof name, "%.*s", equals ? (int)(equals - given[0]) : (int)strlen(given[0]), given[0]);
    const char *nearest = app_nearest(name, f->table[0]->n_columns, column_at, f->table[0]);
    return app_misused(f->s.a, "--%s: %s has no column \"%s\"%s%s%s", option, f->data[0].name, name,
                       nearest ? "; the nearest is \"" : "", nearest ? nearest : "", nearest ? "\"" : "");
  }
  return APP_DONE;
}

static int check_unit(const fit *f, const app_table *t, const char *file, int column, int signal)
{
  const ga_machine *m = ga_model_machine(f->s.model);
  const char *unit = ga_machine_signal_unit(m, signal);
  ga_dimension is, expected;
  if (!*t->unit[column]) {
    if (strcmp(unit, "1") != 0 && !app_has(f->s.a, "si"))
      fprintf(stderr, "warning: %s: column \"%s\" has no unit; its values are taken as %s\n", file,
              t->name[column], unit);
    return APP_DONE;
  }
  if (ga_unit_parse(f->s.ctx, t->unit[column], NULL, &is, NULL) ||
      ga_unit_parse(f->s.ctx, unit, NULL, &expected, NULL) || memcmp(&is, &expected, sizeof is) == 0)
    return APP_DONE;
  return app_misused(f->s.a, "%s: column \"%s\" is in %s, and the signal %s in %s", file, t->name[column],
                     t->unit[column], ga_machine_signal_name(m, signal), unit);
}

static int take_sigma(const fit *f, const char *column, int signal, double *out)
{
  const char *const *given, *value;
  const char *unit = ga_machine_signal_unit(ga_model_machine(f->s.model), signal);
  for (int k = 0; (given = app_values(f->s.a, "sigma", k)) != NULL; k++) {
    if (!is_of(given[0], column, &value)) continue;
    if (!strchr(given[0], '='))
      return app_misused(f->s.a, "--sigma %s: a value is missing, as %s=0.01", given[0], column);
    ga_dimension is, expected;
    if (ga_quantity_parse(f->s.ctx, value, unit, out, &is, NULL))
      return app_misused(f->s.a, "--sigma %s: %s", given[0], ga_context_error(f->s.ctx)->text);
    ga_unit_parse(f->s.ctx, unit, NULL, &expected, NULL);
    if (!(*out > 0.0 && isfinite(*out)))
      return app_misused(f->s.a, "--sigma %s: it must be above 0", given[0]);
  }
  return APP_DONE;
}

/* The columns of one file that are compared with signals. */
static int take_columns(fit *f, int e, const char **signals, double *values, double *sigma)
{
  const app_table *t = f->table[e];
  const app_arguments *a = f->s.a;
  const ga_machine *m = ga_model_machine(f->s.model);
  ga_fit_data *d = &f->data[e];
  int code = APP_DONE;
  for (int i = 0; i < t->n_columns && !code; i++) {
    const char *const *given, *name = t->name[i], *signal = app_has(a, "signal") ? NULL : name;
    if (i == t->time) continue;
    for (int k = 0; (given = app_values(a, "signal", k)) != NULL; k++) {
      const char *value;
      if (is_of(given[0], name, &value)) signal = value;
    }
    if (!signal || !*signal) continue;
    const int index = ga_machine_find_signal(m, signal);
    if (index < 0) {
      const char *nearest = app_nearest(signal, ga_machine_n_signals(m), signal_at, m);
      return app_misused(a, "%s: the model has no signal \"%s\"%s%s%s", d->name, signal,
                         nearest ? "; the nearest is \"" : "", nearest ? nearest : "",
                         nearest
                             ? "\"; --signal COLUMN=SIGNAL says what a column is, and leaves out the others"
                             : "; --signal COLUMN=SIGNAL says what a column is, and leaves out the others");
    }
    code = check_unit(f, t, d->name, i, index);
    signals[d->n_columns] = signal;
    memcpy(values + (size_t)d->n_columns * (size_t)t->n, t->value + (size_t)i * (size_t)t->n,
           (size_t)t->n * sizeof *values);
    if (!code) code = take_sigma(f, name, index, &sigma[d->n_columns]);
    d->n_columns++;
  }
  if (!code && d->n_columns == 0)
    return app_misused(a, "%s has no column that is compared with a signal", d->name);
  d->n_rows = t->n;
  d->time = t->value + (size_t)t->time * (size_t)t->n;
  d->signals = signals;
  d->values = values;
  d->sigma = sigma;
  return code;
}

/* --set-in FILE NAME=VALUE */
static int take_sets(fit *f)
{
  const app_arguments *a = f->s.a;
  const char *const *given;
  int n = 0, used = 0;
  while (app_values(a, "set-in", n)) n++;
  f->set_in = calloc((size_t)n + 1, sizeof *f->set_in);
  if (!f->set_in) return no_memory();
  for (int e = 0; e < f->n_data; e++) {
    f->data[e].set = f->set_in + used;
    for (int k = 0; (given = app_values(a, "set-in", k)) != NULL; k++)
      if (strcmp(given[0], f->data[e].name) == 0) f->set_in[used++] = given[1], f->data[e].n_set++;
  }
  if (used >= n) return APP_DONE;
  for (int k = 0; (given = app_values(a, "set-in", k)) != NULL; k++) {
    int known = 0;
    for (int e = 0; e < f->n_data; e++) known |= strcmp(given[0], f->data[e].name) == 0;
    if (!known) return app_misused(a, "--set-in: %s is none of the files with data", given[0]);
  }
  return APP_DONE;
}

static int read_data(fit *f)
{
  const app_arguments *a = f->s.a;
  size_t columns = 0, values = 0;
  int code = APP_DONE;
  f->n_data = a->n_operands - 1;
  f->table = calloc((size_t)f->n_data, sizeof *f->table);
  f->data = calloc((size_t)f->n_data, sizeof *f->data);
  if (!f->table || !f->data) return no_memory();
  for (int e = 0; e < f->n_data; e++) {
    f->data[e].name = a->operands[1 + e];
    for (int k = 0; k < e; k++)
      if (strcmp(f->data[k].name, f->data[e].name) == 0)
        return app_misused(a, "%s is given twice", f->data[e].name);
    if (app_ends_in(f->data[e].name, ".h5"))
      return app_misused(a, "%s is no table of measured values (.csv); galpha export makes one of a result",
                         f->data[e].name);
    code = app_table_read(a, f->s.ctx, f->data[e].name, app_text(a, "time-column"), &f->table[e]);
    if (code) return code;
    const app_table *t = f->table[e];
    if (!*t->unit[t->time] && !app_has(a, "si"))
      fprintf(stderr, "warning: %s: column \"%s\" has no unit; its values are taken as s\n", f->data[e].name,
              t->name[t->time]);
    columns += (size_t)t->n_columns;
    values += (size_t)t->n_columns * (size_t)t->n;
  }
  f->signals = calloc(columns, sizeof *f->signals);
  f->sigma = calloc(columns, sizeof *f->sigma);
  f->values = calloc(values, sizeof *f->values);
  if (!f->signals || !f->sigma || !f->values) return no_memory();
  code = check_names(f, "signal");
  if (!code) code = check_names(f, "sigma");
  columns = values = 0;
  for (int e = 0; e < f->n_data && !code; e++) {
    code = take_columns(f, e, f->signals + columns, f->values + values, f->sigma + columns);
    columns += (size_t)f->table[e]->n_columns;
    values += (size_t)f->table[e]->n_columns * (size_t)f->table[e]->n;
  }
  return code ? code : take_sets(f);
}

/* ---- The report ---- */

static const char *of_unit(const char *unit)
{
  return strcmp(unit, "1") == 0 ? "" : unit;
}

static void print_parameter(const ga_fit_parameter *p, double confidence)
{
  const char *unit = of_unit(p->unit), *space = *unit ? " " : "";
  printf("  %-16s %.7g", p->name, p->value);
  if (isfinite(p->error))
    printf(" ± %.2g%s%s, %g %% interval %.6g to %.6g", p->error, space, unit, 100.0 * confidence, p->low,
           p->high);
  else
    printf("%s%s, %s", space, unit,
           isnan(p->error) && p->at_bound ? (p->at_bound < 0 ? "at its lower bound" : "at its upper bound")
           : isinf(p->error)              ? "not determined"
                                          : "without an interval");
  printf(" (from %.6g)\n", p->start);
}

static void print_correlations(const ga_fit_report *r)
{
  const double strong = 0.9;
  int shown = 0;
  for (int i = 0; i < r->n; i++)
    for (int j = 0; j < i; j++) {
      const double c = r->correlation[i * r->n + j];
      if (fabs(c) < strong) continue;
      printf("%s%s and %s %.3f", shown++ ? ", " : "correlated   ", r->parameter[j].name, r->parameter[i].name,
             c);
    }
  if (shown) putchar('\n');
}

static void print_residuals(const fit *f, const ga_fit_report *r)
{
  for (int i = 0; i < r->n_columns; i++) {
    const ga_fit_column *c = &r->column[i];
    const char *unit = of_unit(c->unit);
    printf("%s%s", i ? "             " : "residuals    ", c->signal);
    if (f->n_data > 1) printf(" in %s", f->data[c->data].name);
    printf(": %.4g%s%s rms, %ld value%s, correlation of neighbours %.2f\n", c->rms, *unit ? " " : "", unit,
           c->n, c->n == 1 ? "" : "s", c->correlation);
  }
}

static void make_set(char *text, size_t size, const ga_fit_parameter *p)
{
  app_search_set(text, size, p->name, p->value, of_unit(p->unit));
}

static void print_report(const fit *f, const ga_fit_report *r, double confidence)
{
  char time[32], set[256];
  app_duration(time, sizeof time, app_clock() - f->began);
  puts("fitted");
  for (int j = 0; j < r->n; j++) print_parameter(&r->parameter[j], confidence);
  print_correlations(r);
  print_residuals(f, r);
  printf("search       %d iteration%s, %ld run%s", r->iterations, r->iterations == 1 ? "" : "s", r->runs,
         r->runs == 1 ? "" : "s");
  if (r->failed) printf(", of which %ld failed", r->failed);
  printf(", in %s; weighted sum of squares %.6g, at the start %.6g\n", time, r->chi2, r->chi2_start);
  if (r->by_differences) printf("derivatives  by differences of runs%s%s\n", *r->why ? ": " : "", r->why);
  printf("use it       ");
  for (int j = 0; j < r->n; j++) {
    make_set(set, sizeof set, &r->parameter[j]);
    printf("%s--set \"%s\"", j ? " " : "", set);
  }
  putchar('\n');
}

static const char *end_word(ga_fit_end end)
{
  static const char *const words[] = {[GA_FIT_CONVERGED] = "converged",
                                      [GA_FIT_ITERATIONS] = "iterations",
                                      [GA_FIT_STALLED] = "stalled",
                                      [GA_FIT_STOPPED] = "stopped"};
  return words[end];
}

/* ---- Files ---- */

static void json_pair(FILE *to, const char *before, const char *key, double x)
{
  fprintf(to, "%s\"%s\": ", before, key);
  app_json_number(to, x);
}

static void json_parameter(FILE *to, const ga_fit_parameter *p)
{
  fputs("    {\"name\": ", to);
  app_json_text(to, p->name);
  fputs(", \"unit\": ", to);
  app_json_text(to, of_unit(p->unit));
  json_pair(to, ", ", "value", p->value);
  json_pair(to, ", ", "error", p->error);
  json_pair(to, ", ", "low", p->low);
  json_pair(to, ", ", "high", p->high);
  json_pair(to, ", ", "start", p->start);
  json_pair(to, ", ", "lower", p->lower);
  json_pair(to, ", ", "upper", p->upper);
  fprintf(to, ", \"at_bound\": %d, \"determined\": %s}", p->at_bound, isinf(p->error) ? "false" : "true");
}

static int write_json(const fit *f, const ga_fit_report *r, double confidence, const char *path)
{
  app_text_file t;
  if (app_text_open(&t)) return APP_FAILED;
  fprintf(t.to, "{\n  \"format\": \"galpha fit 1\",\n  \"end\": \"%s\",\n  \"parameters\": [\n",
          end_word(r->end));
  for (int j = 0; j < r->n; j++) {
    json_parameter(t.to, &r->parameter[j]);
    fputs(j < r->n - 1 ? ",\n" : "\n  ],\n", t.to);
  }
  json_pair(t.to, "  ", "confidence", confidence);
  fputs(",\n  \"correlation\": [", t.to);
  for (int i = 0; i < r->n; i++)
    for (int j = 0; j < r->n; j++) {
      fputs(j ? ", " : i ? ", [" : "[", t.to);
      app_json_number(t.to, r->correlation[i * r->n + j]);
      if (j == r->n - 1) fputc(']', t.to);
    }
  fputs("],\n  \"columns\": [\n", t.to);
  for (int i = 0; i < r->n_columns; i++) {
    const ga_fit_column *c = &r->column[i];
    fputs("    {\"data\": ", t.to);
    app_json_text(t.to, f->data[c->data].name);
    fputs(", \"signal\": ", t.to);
    app_json_text(t.to, c->signal);
    fputs(", \"unit\": ", t.to);
    app_json_text(t.to, of_unit(c->unit));
    fprintf(t.to, ", \"n\": %ld", c->n);
    json_pair(t.to, ", ", "rms", c->rms);
    json_pair(t.to, ", ", "sigma", c->sigma);
    json_pair(t.to, ", ", "correlation", c->correlation);
    fputs(i < r->n_columns - 1 ? "},\n" : "}\n  ],\n", t.to);
  }
  fprintf(
      t.to,
      "  \"iterations\": %d,\n  \"runs\": %ld,\n  \"failed\": %ld,\n  \"values\": %ld,\n  \"freedom\": %d,\n",
      r->iterations, r->runs, r->failed, r->n_values, r->freedom);
  json_pair(t.to, "  ", "chi2", r->chi2);
  json_pair(t.to, ",\n  ", "chi2_start", r->chi2_start);
  json_pair(t.to, ",\n  ", "condition", r->condition);
  fputs(",\n  \"derivatives\": ", t.to);
  app_json_text(t.to, r->by_differences ? "differences" : "exact");
  fputs(",\n  \"why\": ", t.to);
  app_json_text(t.to, r->why);
  fputs(",\n  \"notes\": [", t.to);
  for (int i = 0; i < r->n_notes; i++) {
    fputs(i ? ",\n    " : "\n    ", t.to);
    app_json_text(t.to, r->notes[i]);
  }
  fputs(r->n_notes ? "\n  ]\n}\n" : "]\n}\n", t.to);
  return app_text_write(&t, f->s.a, path);
}

static void csv_number(FILE *to, double x)
{
  fputc(',', to);
  if (isfinite(x)) fprintf(to, "%.17g", x);
}

/* Measured values, the model's, and residuals, in SI units; one experiment below the other. */
static int write_csv(const fit *f, const ga_fit_report *r, const char *path)
{
  app_text_file t;
  if (app_text_open(&t)) return APP_FAILED;
  for (int e = 0; e < f->n_data; e++) {
    const ga_fit_data *d = &f->data[e];
    if (f->n_data > 1) fprintf(t.to, "%s# %s\n", e ? "\n" : "", d->name);
    fputs("time [s]", t.to);
    for (int i = 0; i < r->n_columns; i++)
      if (r->column[i].data == e)
        for (int k = 0; k < 3; k++) {
          static const char *const what[] = {"", ":fit", ":residual"};
          fprintf(t.to, ",%s%s [%s]", r->column[i].signal, what[k],
                  *of_unit(r->column[i].unit) ? r->column[i].unit : "-");
        }
    fputc('\n', t.to);
    for (long row = 0; row < d->n_rows; row++) {
      fprintf(t.to, "%.17g", d->time[row]);
      for (int c = 0; c < d->n_columns; c++) {
        const double y = d->values[(size_t)c * (size_t)d->n_rows + (size_t)row],
                     is = ga_fit_curve(f->fit, e, c)[row];
        csv_number(t.to, y);
        csv_number(t.to, is);
        csv_number(t.to, y - is);
      }
      fputc('\n', t.to);
    }
  }
  return app_text_write(&t, f->s.a, path);
}

static int draw(const fit *f, const ga_fit_report *r, const char *path)
{
  const int panels = r->n_columns < MOST_PANELS ? r->n_columns : MOST_PANELS;
  app_gnuplot g;
  const int code = app_gnuplot_open(&g, f->s.a, path, WIDTH, PANEL * panels);
  if (code) return code;
  fprintf(g.to, "set multiplot layout %d,1\nset lmargin 12\nset grid lc rgb '#dddddd'\n", panels);
  for (int i = 0; i < panels; i++) {
    const ga_fit_column *c = &r->column[i];
    const ga_fit_data *d = &f->data[c->data];
    const double *curve = ga_fit_curve(f->fit, c->data, c->column);
    char text[300], unit[64] = "";
    fprintf(g.to, "$p%d << EOD\n", i);
    for (long row = 0; row < d->n_rows; row++) {
      const double y = d->values[(size_t)c->column * (size_t)d->n_rows + (size_t)row];
      fprintf(g.to, "%.9g %.9g %.9g\n", d->time[row], isnan(y) ? NAN : y, curve[row]);
    }
    fputs("EOD\nset datafile missing 'nan'\n", g.to);
    if (*of_unit(c->unit)) app_pretty_unit(unit, sizeof unit, c->unit);
    snprintf(text, sizeof text, *unit ? "%.100s  (%s)" : "%.100s", c->signal, unit);
    fputs("set xlabel 'time  (s)' noenhanced\nset ylabel ", g.to);
    app_gnuplot_label(g.to, text);
    fprintf(g.to,
            " noenhanced\nplot $p%d using 1:3 with lines lw 1.5 lc rgb '#c4441d' title 'fitted', $p%d using "
            "1:2 with "
            "points pt 6 ps 0.5 lc rgb '#2b5c8a' title ",
            i, i);
    app_gnuplot_label(g.to, f->n_data > 1 ? d->name : "measured");
    fputs(" noenhanced\n", g.to);
  }
  fputs("unset multiplot\n", g.to);
  return app_gnuplot_close(&g, f->s.a);
}

static int write_model(const fit *f, const ga_fit_report *r, const char *path)
{
  char(*text)[256] = calloc((size_t)r->n, sizeof *text);
  const char **set = calloc((size_t)r->n, sizeof *set);
  int code = text && set ? APP_DONE : no_memory();
  for (int j = 0; j < r->n && !code; j++) {
    make_set(text[j], sizeof text[j], &r->parameter[j]);
    set[j] = text[j];
  }
  if (!code) code = app_search_write(&f->s, path, r->n, set);
  free(text);
  free(set);
  return code;
}

/* ---- The command ---- */

static int poll(void *user, long runs, double best)
{
  (void)user, (void)runs, (void)best;
  return app_stop_asked() != 0;
}

static int take_options(const fit *f, ga_fit_opts *o)
{
  const app_arguments *a = f->s.a;
  long iterations = o->most_iterations;
  int code = app_integer(a, "iterations", 0, 100000, &iterations);
  double percent = 100.0 * o->confidence;
  if (!code) code = app_number(a, "confidence", "1", 1.0, 99.99, &percent);
  o->most_iterations = (int)iterations;
  o->confidence = 0.01 * percent;
  o->differences = app_has(a, "differences");
  o->model = a->operands[0];
  o->allow_library = app_has(a, "allow-library");
  o->n_set = f->s.n_set, o->set = f->s.set;
  o->n_vary = f->s.n_vary, o->vary = f->s.vary;
  o->n_data = f->n_data, o->data = f->data;
  o->settings = &f->s.settings, o->n_given = f->s.n_given, o->given = f->s.given;
  o->jobs = (int)f->s.jobs;
  o->poll = poll;
  return code;
}

static int finish(const fit *f, double confidence, const char *const path[4])
{
  const ga_fit_report *r = ga_fit_result(f->fit);
  int code = APP_DONE;
  if (!app_has(f->s.a, "quiet")) print_report(f, r, confidence);
  fflush(stdout);
  for (int i = 0; i < r->n_notes; i++) fprintf(stderr, "warning: %s\n", r->notes[i]);
  if (path[0]) code = write_model(f, r, path[0]);
  if (!code && path[1]) code = write_json(f, r, confidence, path[1]);
  if (!code && path[2]) code = write_csv(f, r, path[2]);
  if (!code && path[3]) code = draw(f, r, path[3]);
  if (r->end == GA_FIT_CONVERGED) return code;
  static const char *const why[] = {
      [GA_FIT_ITERATIONS] =
          "not converged: the iterations are used up; --iterations allows more, from the values above",
      [GA_FIT_STALLED] =
          "not converged: no step makes the residuals smaller, although they are not at a minimum",
      [GA_FIT_STOPPED] = "stopped; the values are the best so far"};
  fprintf(stderr, "galpha fit: %s\n", why[r->end]);
  return APP_FAILED;
}

static int run(fit *f)
{
  static const char *const models[] = {".yaml", ".yml", ".json", NULL}, *const json[] = {".json", NULL},
                           *const csv[] = {".csv", NULL}, *const pictures[] = {".svg", ".png", ".pdf", NULL};
  static const char *const options[] = {"out", "json", "csv", "plot"};
  const char *const *const endings[] = {models, json, csv, pictures};
  const char *path[4] = {NULL};
  ga_fit_opts o = ga_fit_defaults();
  int code = take_options(f, &o);
  for (int i = 0; i < 4 && !code; i++)
    if (app_search_file(&f->s, options[i], endings[i], &code)) path[i] = app_text(f->s.a, options[i]);
  if (code) return code;
  app_catch_signals();
  f->began = app_clock();
  const ga_status status = ga_fit_create(f->s.ctx, &o, &f->fit);
  if (status == GA_STOPPED)
    return fputs("galpha fit: stopped before there was a result\n", stderr), APP_FAILED;
  if (status) return app_search_explain(&f->s, status, ga_fit_model(f->fit));
  return finish(f, o.confidence, path);
}

int app_fit(const app_arguments *a)
{
  fit f = {.n_data = 0};
  int code = app_search_open(&f.s, a);
  if (!code) code = read_data(&f);
  if (!code) code = run(&f);
  ga_fit_destroy(&f.fit);
  for (int e = 0; f.table && e < f.n_data; e++) app_table_free(&f.table[e]);
  free(f.table);
  free(f.data);
  free(f.signals);
  free(f.values);
  free(f.sigma);
  free(f.set_in);
  app_search_close(&f.s);
  return code;
}
