/* A machine against its references. */
#include "run.h"
#include "table.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TWIN_TIMES = 100 };

/* What is expected: rows at ascending times, NAN where a reference says nothing. */
typedef struct expected {
  int n_times, n; /* n references */
  double *times, *value;
} expected;

static int ascending(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Room for n_rows rows and the times of single numbers, up to t_end. */
static int expected_times(expected *e, const mx_machine *machine, double t_end, int n_rows, const double *t,
                          int stride)
{
  const double tiny = 1e-9 * (1 + t_end);
  e->n = 0;
  while (machine->reference[e->n].signal) e->n++;
  e->times = calloc((size_t)(n_rows + e->n + 1), sizeof(double));
  e->value = calloc((size_t)(n_rows + e->n + 1) * (size_t)(e->n + 1), sizeof(double));
  if (!e->times || !e->value) return -1;
  for (int i = 0; i < n_rows; i++)
    if (t[i * stride] <= t_end + tiny) e->times[e->n_times++] = fmin(t[i * stride], t_end);
  for (int k = 0; k < e->n; k++)
    if (machine->reference[k].t > 0 && machine->reference[k].t <= t_end + tiny)
      e->times[e->n_times++] = fmin(machine->reference[k].t, t_end);
  qsort(e->times, (size_t)e->n_times, sizeof(double), ascending);
  int kept = 0;
  for (int i = 0; i < e->n_times; i++)
    if (kept == 0 || e->times[i] > e->times[kept - 1] + tiny) e->times[kept++] = e->times[i];
  e->n_times = kept;
  for (int i = 0; i < e->n_times * e->n; i++) e->value[i] = NAN;
  return 0;
}

static int row_at(const expected *e, double t)
{
  for (int i = 0; i < e->n_times; i++)
    if (fabs(e->times[i] - t) <= 1e-9 * (1 + t)) return i;
  return -1;
}

static void expected_numbers(expected *e, const mx_machine *machine)
{
  for (int k = 0; k < e->n; k++) {
    const mx_reference *r = &machine->reference[k];
    const int row = r->t > 0 ? row_at(e, r->t) : -1;
    if (row >= 0) e->value[row * e->n + k] = r->value;
  }
}

static void expected_free(expected *e)
{
  free(e->times);
  free(e->value);
}

/* The columns of a file, by the expressions of the references. */
static int expect_file(expected *e, const mx_machine *machine, double t_end, char *text, int size)
{
  mx_table table;
  ga_context *ctx = NULL;
  ga_symbol symbol[MX_MOST_COLUMNS];
  if (mx_table_read(&table, machine->file, text, size)) return -1;
  snprintf(text, (size_t)size, "out of memory");
  int bad = expected_times(e, machine, t_end, table.n_rows, table.value, table.n_columns) ||
            ga_context_create(NULL, &ctx);
  for (int i = 0; i < table.n_columns; i++)
    symbol[i] = (ga_symbol){.name = table.name[i], .kind = GA_SYMBOL_VARIABLE, .index = i};
  for (int k = 0; !bad && k < e->n; k++) {
    ga_expr *expr = NULL;
    const char *column = machine->reference[k].column;
    if (!column) continue;
    bad = ga_expr_compile(ctx, column, symbol, table.n_columns, NULL, &expr) != GA_OK;
    for (int i = 0; !bad && i < table.n_rows; i++) {
      const double *row = table.value + (size_t)i * (size_t)table.n_columns;
      const int at = row_at(e, row[0]);
      if (at >= 0) bad = ga_expr_eval(expr, row, &e->value[at * e->n + k], NULL) != GA_OK;
    }
    if (bad)
      snprintf(text, (size_t)size, "%s: column \"%s\": %s", machine->file, column,
               ga_context_error(ctx)->text);
    ga_expr_destroy(&expr);
  }
  ga_context_destroy(&ctx);
  mx_table_free(&table);
  return bad;
}

/* What a twin does with the same steps. */
static int expect_twin(expected *e, const mx_machine *machine, const mx_options *opts, char *text, int size)
{
  const mx_machine *twin = mx_machine_find(machine->twin);
  const char *texts[MX_MOST_REFERENCES];
  double times[TWIN_TIMES + 1];
  mx_run run;
  for (int i = 0; i <= TWIN_TIMES; i++) times[i] = opts->t_end * i / TWIN_TIMES;
  snprintf(text, (size_t)size, "there is no twin \"%s\"", machine->twin);
  if (!twin || expected_times(e, machine, opts->t_end, TWIN_TIMES + 1, times, 1)) return -1;
  for (int k = 0; k < e->n; k++) texts[k] = machine->reference[k].column ? machine->reference[k].column : "0";
  const mx_samples samples = {e->n, texts, e->n_times, e->times, e->value};
  ga_status status = mx_run_open(&run, twin, opts, &samples);
  if (!status) status = mx_run_finish(&run, NULL, NULL);
  if (status) mx_run_explain(&run, status, text, size);
  mx_run_close(&run);
  for (int k = 0; k < e->n; k++)
    for (int i = 0; i < e->n_times && !machine->reference[k].column; i++) e->value[i * e->n + k] = NAN;
  return status;
}

/* Without rows: a number for all times may stand as a column, as in a relation that always holds. */
static int expect_constants(expected *e, const mx_machine *machine, double t_end)
{
  double times[TWIN_TIMES + 1];
  for (int i = 0; i <= TWIN_TIMES; i++) times[i] = t_end * i / TWIN_TIMES;
  if (expected_times(e, machine, t_end, TWIN_TIMES + 1, times, 1)) return -1;
  for (int k = 0; k < e->n; k++)
    for (int i = 0; i < e->n_times; i++)
      if (machine->reference[k].column) e->value[i * e->n + k] = strtod(machine->reference[k].column, NULL);
  return 0;
}

static void measure(const mx_machine *machine, const expected *e, const double *got, mx_result *r)
{
  r->n = e->n;
  for (int k = 0; k < e->n; k++) {
    double sum = 0;
    int count = 0;
    r->error[k] = r->at[k] = 0;
    for (int i = 0; i < e->n_times; i++) {
      const double off = fabs(got[i * e->n + k] - e->value[i * e->n + k]);
      if (isnan(e->value[i * e->n + k])) continue;
      r->last[k] = got[i * e->n + k];
      sum += off * off;
      count++;
      if (!(off <= r->error[k])) r->error[k] = off, r->at[k] = e->times[i];
    }
    if (machine->rtol > 0 && count > 0) r->error[k] = sqrt(sum / count);
    if (count == 0) r->error[k] = NAN;
  }
}

static int run_and_measure(const mx_machine *machine, const mx_options *opts, const expected *e, mx_result *r)
{
  const char *texts[MX_MOST_REFERENCES];
  mx_run run;
  double *got = calloc((size_t)(e->n_times + 1) * (size_t)(e->n + 1), sizeof(double));
  for (int k = 0; k < e->n; k++) texts[k] = machine->reference[k].signal;
  const mx_samples samples = {e->n, texts, e->n_times, e->times, got};
  ga_status status = got ? mx_run_open(&run, machine, opts, &samples) : GA_ERR_MEMORY;
  if (!got) return -1;
  if (!status) ga_machine_report(run.b.m, run.st, r->mobility, sizeof r->mobility);
  if (!status) status = mx_run_finish(&run, NULL, NULL);
  if (status) mx_run_explain(&run, status, r->failure, sizeof r->failure);
  r->report = run.report;
  r->energy = run.energy_off;
  if (run.st) r->stats = *ga_stepper_stats(run.st);
  if (run.sim) r->simulate = *ga_simulator_stats(run.sim);
  if (!status) measure(machine, e, got, r);
  mx_run_close(&run);
  free(got);
  return status;
}

int mx_compare(const mx_machine *machine, const mx_options *opts, mx_result *result)
{
  expected e = {0};
  int bad;
  *result = (mx_result){0};
  if (machine->file)
    bad = expect_file(&e, machine, opts->t_end, result->failure, sizeof result->failure);
  else if (machine->twin)
    bad = expect_twin(&e, machine, opts, result->failure, sizeof result->failure);
  else
    bad = expect_constants(&e, machine, opts->t_end);
  if (!bad) {
    result->failure[0] = '\0';
    expected_numbers(&e, machine);
    bad = run_and_measure(machine, opts, &e, result);
  }
  expected_free(&e);
  return bad;
}
