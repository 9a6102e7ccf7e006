/* The table of a sweep as a file. */
#include "study/study.h"

#include "galpha/result.h"
#include "result/result_impl.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

const char *const ga__study_own_columns[GA__N_OWN_COLUMNS] = {"run", "status", "warnings", "message"};

/* Columns: run, parameters, measures, status, warnings. */
static int n_columns(const ga_study *s)
{
  return 1 + ga_design_n_parameters(s->design) + s->trial.n_measures + 2;
}

static const char *column_name(const ga_study *s, int i)
{
  const int parameters = ga_design_n_parameters(s->design), measures = s->trial.n_measures;
  if (i == 0) return ga__study_own_columns[GA__COLUMN_RUN];
  if (i <= parameters) return ga_design_name(s->design, i - 1);
  if (i <= parameters + measures) return s->labels[i - 1 - parameters];
  return ga__study_own_columns[i == parameters + measures + 1 ? GA__COLUMN_STATUS : GA__COLUMN_WARNINGS];
}

static const char *column_unit(const ga_study *s, int i)
{
  const int parameters = ga_design_n_parameters(s->design), measures = s->trial.n_measures;
  if (i > 0 && i <= parameters) return s->parameter_unit[i - 1];
  if (i > parameters && i <= parameters + measures) {
    const char *unit = s->units[i - 1 - parameters];
    return strcmp(unit, "1") == 0 ? "" : unit;
  }
  return "";
}

static ga_status fill_row(const ga_study *s, long run, double *out)
{
  const int parameters = ga_design_n_parameters(s->design), measures = s->trial.n_measures;
  out[0] = (double)run;
  const ga_status status = ga_design_values(s->design, run, out + 1);
  if (measures)
    memcpy(out + 1 + parameters, s->values + (size_t)run * (size_t)ga_study_width(s),
           (size_t)measures * sizeof *out);
  out[1 + parameters + measures] = (double)s->row[run].status;
  out[2 + parameters + measures] = (double)s->row[run].warnings;
  return status;
}

/* ---- HDF5 ---- */

typedef struct file {
  const ga_study *s;
  ga_table *table; /* [n] */
  int n;
  double *values, *series, *runs; /* runs: numbers of those with a text */
  const char **names, **units, **texts;
  char (*paths)[GA_ERROR_NAME + 16]; /* of series */
} file;

static void free_file(ga_context *ctx, file *f)
{
  void *const blocks[] = {f->table, f->values, f->series, f->runs, f->names, f->units, f->texts, f->paths};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) ga__free(ctx, blocks[i]);
}

static ga_status allocate(ga_context *ctx, file *f)
{
  const ga_study *s = f->s;
  const size_t columns = (size_t)n_columns(s), n = (size_t)s->n_runs, signals = (size_t)s->trial.n_signals;
  f->table = ga__alloc(ctx, 6 + signals, sizeof *f->table);
  f->values = ga__alloc(ctx, columns * n + 1, sizeof *f->values);
  f->series = ga__alloc(ctx, signals * (size_t)s->trial.n_times * n + 1, sizeof *f->series);
  f->runs = ga__alloc(ctx, n + 1, sizeof *f->runs);
  f->names = ga__alloc(ctx, columns, sizeof *f->names);
  f->units = ga__alloc(ctx, columns, sizeof *f->units);
  f->texts = ga__alloc(ctx, n + 1, sizeof *f->texts);
  f->paths = ga__alloc(ctx, signals + 1, sizeof *f->paths);
  return f->table && f->values && f->series && f->runs && f->names && f->units && f->texts && f->paths
             ? GA_OK
             : ga__no_memory(ctx, "the table of a sweep");
}

static void add_series(file *f)
{
  const ga_study *s = f->s;
  const size_t times = (size_t)s->trial.n_times, width = (size_t)ga_study_width(s), n = (size_t)s->n_runs;
  if (s->trial.n_signals == 0) return;
  f->table[f->n++] = (ga_table){"series/time", "s", s->trial.n_times, 0, s->times, NULL};
  for (int i = 0; i < s->trial.n_signals; i++) {
    const int signal = ga_machine_find_signal(ga_model_machine(s->model), s->trial.signals[i]);
    double *to = f->series + (size_t)i * times * n;
    for (size_t run = 0; run < n; run++)
      memcpy(to + run * times, s->values + run * width + (size_t)s->trial.n_measures + (size_t)i * times,
             times * sizeof *to);
    snprintf(f->paths[i], sizeof f->paths[i], "series/%s", s->trial.signals[i]);
    f->table[f->n++] = (ga_table){f->paths[i],
                                  ga_machine_signal_unit(ga_model_machine(s->model), signal),
                                  (int)s->n_runs,
                                  s->trial.n_times,
                                  to,
                                  NULL};
  }
}

static ga_status fill(file *f)
{
  const ga_study *s = f->s;
  const int columns = n_columns(s);
  int texts = 0;
  ga_status status = GA_OK;
  for (long run = 0; run < s->n_runs && !status; run++) {
    status = fill_row(s, run, f->values + (size_t)run * (size_t)columns);
    if (!s->row[run].text) continue;
    f->runs[texts] = (double)run;
    f->texts[texts++] = s->row[run].text;
  }
  for (int i = 0; i < columns; i++) f->names[i] = column_name(s, i), f->units[i] = column_unit(s, i);
  f->table[f->n++] = (ga_table){"values", NULL, (int)s->n_runs, columns, f->values, NULL};
  f->table[f->n++] = (ga_table){"names", NULL, columns, 0, NULL, f->names};
  f->table[f->n++] = (ga_table){"units", NULL, columns, 0, NULL, f->units};
  add_series(f);
  f->table[f->n++] = (ga_table){"messages/run", NULL, texts, 0, f->runs, NULL};
  f->table[f->n++] = (ga_table){"messages/text", NULL, texts, 0, NULL, f->texts};
  return status;
}

static const char *signal_name(const ga_study *s, int i)
{
  return s->trial.signals[i];
}

static const char *signal_unit(const ga_study *s, int i)
{
  const ga_machine *m = ga_model_machine(s->model);
  return ga_machine_signal_unit(m, ga_machine_find_signal(m, s->trial.signals[i]));
}

/* n texts, one in each line; NULL: no memory. */
static char *join(const ga_study *s, int n, const char *(*at)(const ga_study *s, int i))
{
  size_t size = 1;
  for (int i = 0; i < n; i++) size += strlen(at(s, i)) + 1;
  char *text = ga__alloc(s->ctx, size, 1);
  for (int i = 0; text && i < n; i++) {
    if (i) strcat(text, "\n");
    strcat(text, at(s, i));
  }
  return text;
}

static ga_status write_hdf5(ga_study *s, const char *path)
{
  file f = {.s = s};
  char counts[3][32]; /* as texts */
  snprintf(counts[0], sizeof counts[0], "%d", ga_design_n_parameters(s->design));
  snprintf(counts[1], sizeof counts[1], "%d", s->trial.n_measures);
  snprintf(counts[2], sizeof counts[2], "%016llx", ga_study_digest(s));
  char *const joined[] = {join(s, n_columns(s), column_name), join(s, n_columns(s), column_unit),
                          join(s, s->trial.n_signals, signal_name), join(s, s->trial.n_signals, signal_unit)};
  const char *const attributes[] = {"digest",   counts[2], "parameters",   counts[0],
                                    "measures", counts[1], "title",        ga_model_title(s->model),
                                    "columns",  joined[0], "column_units", joined[1],
                                    "signals",  joined[2], "signal_units", joined[3]};
  const int made = joined[0] && joined[1] && joined[2] && joined[3];
  ga_status status = made ? allocate(s->ctx, &f) : ga__no_memory(s->ctx, "names of columns");
  if (!status) status = fill(&f);
  if (!status) {
    const ga_tables tables = {.format = "galpha sweep 1",
                              .n = f.n,
                              .table = f.table,
                              .model = ga_model_text(s->model),
                              .n_attributes = 8,
                              .attributes = attributes};
    status = ga_tables_write(s->ctx, path, &tables);
  }
  free_file(s->ctx, &f);
  for (int i = 0; i < 4; i++) ga__free(s->ctx, joined[i]);
  return status;
}

/* ---- Comma-separated values ---- */

static void put_text(FILE *out, const char *text)
{
  fputc('"', out);
  if (*text && strchr("=+-@\t\r", *text)) fputc('\'', out); /* not a formula */
  for (; *text; text++) {
    if (*text == '"') fputc('"', out);
    fputc(*text, out);
  }
  fputc('"', out);
}

static int write_csv(ga_context *ctx, const void *what, const char *path)
{
  const ga_study *s = what;
  const int columns = n_columns(s);
  double *row = ga__alloc(ctx, (size_t)columns, sizeof *row);
  FILE *out = row ? fopen(path, "w") : NULL;
  int done = out != NULL;
  if (!row) errno = ENOMEM;
  for (int i = 0; done && i < columns; i++) {
    ga__put_title(out, column_name(s, i), column_unit(s, i));
    fputc(',', out);
  }
  if (done) fprintf(out, "%s\n", ga__study_own_columns[GA__COLUMN_MESSAGE]);
  for (long run = 0; done && run < s->n_runs; run++) {
    done = fill_row(s, run, row) == GA_OK;
    for (int i = 0; i < columns; i++) {
      ga__put_number(out, row[i]);
      fputc(',', out);
    }
    if (s->row[run].text) put_text(out, s->row[run].text);
    fputc('\n', out);
  }
  if (out && ferror(out)) done = 0;
  if (out && fclose(out)) done = 0;
  ga__free(ctx, row);
  return done;
}

static int is_csv(const char *path)
{
  const size_t n = strlen(path);
  return n >= 4 && (strcmp(path + n - 4, ".csv") == 0 || strcmp(path + n - 4, ".CSV") == 0);
}

ga_status ga_study_write(ga_study *study, const char *path)
{
  if (!study) return GA_ERR_ARGUMENT;
  if (!path) return ga__null_argument(study->ctx);
  if (!study->row) return ga__refuse_order(study->ctx, __func__, "after ga_study_create() has succeeded");
  if (!is_csv(path)) return write_hdf5(study, path);
  if (study->trial.n_signals > 0)
    return ga__study_refuse(study->ctx, "table", path, "a .h5 file", NULL,
                            "values over time do not fit into comma-separated values");
  return ga__write_complete(study->ctx, path, write_csv, study);
}
