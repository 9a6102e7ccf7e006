#include "series.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Sources ---- */

int app_source_n_signals(const app_source *s)
{
  return s->result ? ga_result_n_signals(s->result) : s->table->n_columns;
}

const char *app_source_name(const app_source *s, int i)
{
  return s->result ? ga_result_signal_name(s->result, i) : s->table->name[i];
}

const char *app_source_unit(const app_source *s, int i)
{
  return s->result ? ga_result_signal_unit(s->result, i) : s->table->unit[i];
}

int app_source_find(const app_source *s, const char *name)
{
  if (s->result) return ga_result_find(s->result, name);
  for (int i = 0; i < s->table->n_columns; i++)
    if (i != s->table->time && strcmp(s->table->name[i], name) == 0) return i;
  return -1;
}

long app_source_n_records(const app_source *s)
{
  return s->result ? ga_result_n_records(s->result) : s->table->n;
}

int app_source_has(const app_source *s, const char *pattern)
{
  for (int i = 0; i < app_source_n_signals(s); i++)
    if (app_matches(pattern, app_source_name(s, i))) return 1;
  return 0;
}

/* i −1: the time. GA_ERR_FILE: some records are damaged, and NaN in out. */
static ga_status read_signal(const app_source *s, int i, long first, long n, double *out)
{
  if (s->result) return ga_result_read(s->result, i, first, n, out);
  const long column = i < 0 ? s->table->time : i;
  memcpy(out, s->table->value + column * s->table->n + first, (size_t)n * sizeof *out);
  return GA_OK;
}

/* ---- Expressions ---- */

/* 1: expressions may contain this name. */
static int is_word(const char *name)
{
  for (const char *c = name; *c; c++) {
    const int letter = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || *c == '_';
    const int digit = *c >= '0' && *c <= '9';
    const int starts = c == name || c[-1] == '.';
    if (!(letter || (digit && !starts) || (*c == '.' && !starts && c[1]))) return 0;
  }
  return *name != '\0';
}

/* The signals of a source, and the time under those of its names that are free. */
static int make_symbols(const app_source *s, ga_symbol *symbol)
{
  const int all = app_source_n_signals(s);
  static const char *const time[] = {"t", "time"};
  int n = 0;
  for (int i = 0; i < all; i++) {
    const char *name = app_source_name(s, i);
    if (is_word(name) && app_source_find(s, name) == i)
      symbol[n++] = (ga_symbol){.name = name, .kind = GA_SYMBOL_VARIABLE, .index = i};
  }
  for (int k = 0; k < 2; k++)
    if (app_source_find(s, time[k]) < 0)
      symbol[n++] = (ga_symbol){.name = time[k], .kind = GA_SYMBOL_VARIABLE, .index = all};
  return n;
}

/* [n_signals + 1]: of the signals and the time. */
static void find_dimensions(ga_context *ctx, const app_source *s, ga_dimension *dimension)
{
  const int all = app_source_n_signals(s);
  for (int i = 0; i <= all; i++) {
    const char *unit = i == all ? "s" : app_source_unit(s, i);
    memset(&dimension[i], 0, sizeof dimension[i]);
    if (*unit && strcmp(unit, "-") != 0) ga_unit_parse(ctx, unit, NULL, &dimension[i], NULL);
  }
}

ga_status app_quantity_compile(ga_context *ctx, const app_source *s, const char *text, app_quantity *out)
{
  const size_t all = (size_t)app_source_n_signals(s);
  ga_symbol *symbol = calloc(all + 2, sizeof *symbol);
  ga_dimension *dimension = calloc(all + 1, sizeof *dimension), is;
  ga_status status = symbol && dimension ? GA_OK : GA_ERR_MEMORY;
  *out = (app_quantity){.text = text, .signal = -1};
  if (!status) status = ga_expr_compile(ctx, text, symbol, make_symbols(s, symbol), NULL, &out->e);
  if (!status) find_dimensions(ctx, s, dimension);
  if (!status) status = ga_expr_dimension(ctx, out->e, dimension, &is, NULL);
  if (!status) ga_dimension_unit(out->unit, sizeof out->unit, &is);
  if (status) ga_expr_destroy(&out->e);
  free(symbol);
  free(dimension);
  return status;
}

/* ---- Values ---- */

#define ROUNDING (16.0 * DBL_EPSILON)

int app_source_has_errors(const app_source *s, const app_quantity *y)
{
  const int *list = NULL;
  if (!s->result || ga_result_n_signals(s->result) == 0) return 0;
  if (!y->e) return y->signal >= 0 && ga_result_error(s->result, y->signal) >= 0;
  const int n = ga_expr_variables(y->e, &list);
  for (int i = 0; i < n; i++)
    if (list[i] < ga_result_n_signals(s->result) && ga_result_error(s->result, list[i]) >= 0) return 1;
  return 0;
}

/* The values of an expression's variables. */
typedef struct inputs {
  int n, all;         /* variables; signals of the source */
  const int *list;    /* [n] */
  double **value;     /* [n][records] */
  double **error;     /* [n][records]; NULL where there are none */
  double *x, *slopes; /* [all + 1], [n] */
  double *memory;
} inputs;

static ga_status read_inputs(app_source *s, const app_quantity *q, long n, int with_errors, inputs *in,
                             int *damaged)
{
  *in = (inputs){.all = app_source_n_signals(s)};
  in->n = ga_expr_variables(q->e, &in->list);
  const size_t columns = (size_t)in->n, all = (size_t)in->all;
  in->memory = calloc(2 * columns * (size_t)n + all + columns + 2, sizeof *in->memory);
  in->value = calloc(2 * columns + 1, sizeof *in->value);
  if (!in->memory || !in->value) return GA_ERR_MEMORY;
  in->error = in->value + columns;
  in->x = in->memory + 2 * columns * (size_t)n;
  in->slopes = in->x + all + 1;
  for (int k = 0; k < in->n; k++) {
    const int signal = in->list[k] == in->all ? -1 : in->list[k];
    in->value[k] = in->memory + 2 * k * n;
    ga_status status = read_signal(s, signal, 0, n, in->value[k]);
    const int error = with_errors && s->result && signal >= 0 ? ga_result_error(s->result, signal) : -1;
    if (error >= 0) in->error[k] = in->value[k] + n;
    if (error >= 0 && (!status || status == GA_ERR_FILE))
      status = ga_result_read(s->result, error, 0, n, in->error[k]) ? GA_ERR_FILE : status;
    if (status && status != GA_ERR_FILE) return status;
    *damaged |= status != GA_OK;
  }
  return GA_OK;
}

/* One record: its value, or NaN, with the level of rounding and the error bar that follow from the slopes. */
static double evaluate(const app_quantity *q, inputs *in, long i, double *noise, double *error,
                       ga_fault *fault)
{
  double value = NAN, bar = 0.0, level = 0.0;
  for (int k = 0; k < in->n; k++) {
    in->x[in->list[k]] = in->value[k][i];
    if (isnan(in->value[k][i])) return *error = NAN; /* damaged or not measured: no fault of the expression */
  }
  if (ga_expr_gradient(q->e, in->x, in->n, in->list, &value, in->slopes, fault)) {
    *error = NAN;
    return ga_expr_eval(q->e, in->x, &value, fault) ? NAN : value; /* the slope alone may be missing */
  }
  for (int k = 0; k < in->n; k++) {
    level += fabs(in->slopes[k] * in->value[k][i]);
    if (in->error[k]) bar += fabs(in->slopes[k]) * in->error[k][i];
  }
  *error = bar;
  if (isfinite(level)) *noise = fmax(*noise, ROUNDING * level);
  return value;
}

static void warn_undefined(app_source *s, const app_quantity *q, long n, long of, double t,
                           const ga_fault *fault)
{
  char words[256];
  ga_fault_text(words, sizeof words, fault);
  fprintf(stderr, "warning: %s: \"%s\" is undefined at %ld of %ld records, first at t = %.9g s: %s\n",
          s->file, q->text, n, of, t, words);
}

static ga_status read_expression(app_source *s, const app_quantity *q, const double *t, long n, double *out,
                                 double *error, double *noise, int *damaged)
{
  inputs in;
  ga_status status = read_inputs(s, q, n, error != NULL, &in, damaged);
  long undefined = 0;
  double first = 0.0, bar = 0.0;
  ga_fault fault, kept = {0};
  for (long i = 0; i < n && !status; i++) {
    fault.kind = GA_FAULT_NONE;
    out[i] = evaluate(q, &in, i, noise, &bar, &fault);
    if (error) error[i] = bar;
    if (!isnan(out[i]) || fault.kind == GA_FAULT_NONE) continue;
    if (undefined++ == 0) first = t[i], kept = fault;
  }
  if (undefined) warn_undefined(s, q, undefined, n, first, &kept);
  free(in.memory);
  free(in.value);
  return status;
}

/* The largest value of signals of the same unit, by which rounding is known, at the first and last records.
 */
static double scale_of_unit(const app_source *s, const char *unit)
{
  enum { SOME = 1024 };
  double block[SOME], most = 0.0;
  const long n = app_source_n_records(s), part = n < SOME ? n : SOME;
  for (int i = 0; i < app_source_n_signals(s); i++) {
    if (strcmp(app_source_unit(s, i), unit) != 0) continue;
    for (int end = 0; end < 2; end++) {
      if (read_signal(s, i, end ? n - part : 0, part, block)) continue;
      for (long k = 0; k < part; k++)
        if (isfinite(block[k])) most = fmax(most, fabs(block[k]));
    }
  }
  return most;
}

static ga_status read_quantity(app_source *s, const app_quantity *q, app_series *to, double *out,
                               double *error)
{
  const long n = app_source_n_records(s);
  double noise = 0.0;
  ga_status status;
  if (q->e) {
    status = read_expression(s, q, to->t, n, out, error, &noise, &to->damaged);
    if (error) to->noise = fmax(noise, ROUNDING * scale_of_unit(s, q->unit)); /* slopes may cancel */
    return status;
  }
  status = read_signal(s, q->signal, 0, n, out);
  if (error) {
    memset(error, 0, (size_t)n * sizeof *error);
    to->noise = q->signal < 0 ? 0.0 : ROUNDING * scale_of_unit(s, q->unit);
    const int bars = s->result && q->signal >= 0 ? ga_result_error(s->result, q->signal) : -1;
    if (bars >= 0 && (!status || status == GA_ERR_FILE) && ga_result_read(s->result, bars, 0, n, error))
      status = GA_ERR_FILE;
  }
  if (status == GA_ERR_FILE) return to->damaged = 1, GA_OK;
  return status;
}

ga_status app_series_read(ga_context *ctx, app_source *s, const app_quantity *x, const app_quantity *y,
                          int with_errors, const double range[2], app_series *out)
{
  (void)ctx;
  const long n = app_source_n_records(s);
  *out = (app_series){0};
  double *memory = calloc(4 * (size_t)n + 1, sizeof *memory);
  if (!memory) return GA_ERR_MEMORY;
  *out = (app_series){.t = memory, .x = memory + n, .y = memory + 2 * n, .e = memory + 3 * n};
  const app_quantity time = {.signal = -1};
  ga_status status = read_quantity(s, &time, out, out->t, NULL);
  if (!status) status = read_quantity(s, x, out, out->x, NULL);
  if (!status) status = read_quantity(s, y, out, out->y, out->e);
  for (long i = 0; i < n && !status; i++) {
    if (!(out->t[i] >= range[0] && out->t[i] <= range[1])) continue;
    const long k = out->n++;
    out->t[k] = out->t[i];
    out->x[k] = out->x[i];
    out->y[k] = out->y[i];
    out->e[k] = out->e[i];
  }
  if (!with_errors || !app_source_has_errors(s, y)) out->e = NULL;
  return status;
}

void app_series_free(app_series *s)
{
  free(s->t);
  *s = (app_series){0};
}

/* ---- Differences ---- */

/* The cubic through four neighbours of t within i ... i+1, and the straight line; both the same beside jumps,
 * which have two records of one time, and at the ends. */
static double interpolate(const app_series *s, const double *y, long i, double t, double *line)
{
  const double *at = s->t;
  if (i + 1 >= s->n || at[i + 1] <= at[i]) return *line = y[i];
  *line = y[i] + (y[i + 1] - y[i]) * (t - at[i]) / (at[i + 1] - at[i]);
  if (i == 0 || i + 2 >= s->n || at[i] <= at[i - 1] || at[i + 2] <= at[i + 1]) return *line;
  double value = 0.0;
  for (long k = i - 1; k <= i + 2; k++) {
    double weight = 1.0;
    for (long m = i - 1; m <= i + 2; m++)
      if (m != k) weight *= (t - at[m]) / (at[k] - at[m]);
    value += weight * y[k];
  }
  return value;
}

static int same_times(const app_series *a, const app_series *b)
{
  if (a->n != b->n || a->n == 0) return 0;
  const double span = fmax(fabs(a->t[0]), fabs(a->t[a->n - 1]));
  for (long i = 0; i < a->n; i++)
    if (fabs(a->t[i] - b->t[i]) > 1e-13 * span) return 0;
  return 1;
}

void app_series_subtract(app_series *from, const app_series *other, double *between)
{
  const int same = same_times(from, other);
  double largest = 0.0;
  long n = 0;
  *between = 0.0;
  for (long i = 0, k = 0; i < from->n; i++) {
    const double t = from->t[i];
    double line = 0.0, y = 0.0;
    if (same) {
      k = i;
      y = line = other->y[i];
    } else {
      while (k + 2 < other->n && other->t[k + 1] <= t) k++;
      if (other->n == 0 || t < other->t[0] || t > other->t[other->n - 1]) continue;
      if (other->n > k + 1 && t == other->t[k + 1])
        y = line = other->y[k + 1];
      else if (t == other->t[k])
        y = line = other->y[k];
      else
        y = interpolate(other, other->y, k, t, &line);
    }
    if (isfinite(y - line)) *between = fmax(*between, fabs(y - line));
    if (isfinite(y)) largest = fmax(largest, fmax(fabs(y), fabs(from->y[i])));
    from->t[n] = t;
    from->x[n] = from->x[i];
    if (from->e) from->e[n] = from->e[i] + (other->e ? other->e[k] : 0.0);
    from->y[n++] = from->y[i] - y;
  }
  from->n = n;
  from->noise = fmax(fmax(from->noise, other->noise), ROUNDING * largest);
}
