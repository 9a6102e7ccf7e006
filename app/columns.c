/* Columns of numbers over time: signals of results, and of tables as comma-separated values. */
#include "columns.h"
#include "results.h"
#include "table.h"

#include "galpha/result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CLOSE 1e-9 /* of the whole time: records at both sides of a jump, of which the first counts */

static int no_memory(void)
{
  return fputs("galpha: out of memory\n", stderr), APP_FAILED;
}

char *app_trimmed(const char *text, size_t n)
{
  while (n > 0 && strchr(" \t", text[n - 1])) n--;
  while (n > 0 && strchr(" \t", *text)) text++, n--;
  char *out = malloc(n + 1);
  if (!out) return NULL;
  memcpy(out, text, n);
  out[n] = '\0';
  return out;
}

void app_column_free(app_column *c)
{
  free(c->t);
  free(c->y);
  *c = (app_column){0};
}

/* Of records at the same time, as both sides of a jump, the first one stays. Times must ascend. */
static int check_column(const app_columns *s, const char *name, app_column *c)
{
  long n = 0;
  const double span = c->n > 1 ? c->t[c->n - 1] - c->t[0] : 0.0;
  for (long i = 0; i < c->n; i++) {
    if (!isfinite(c->t[i]) || !isfinite(c->y[i]))
      return app_misused(s->a, "--%s: %s: %s has no value in record %ld", s->option, s->file, name, i + 1);
    if (n > 0 && c->t[i] - c->t[n - 1] < -CLOSE * fabs(span))
      return app_misused(s->a, "--%s: %s: times do not ascend: %g s comes after %g s", s->option, s->file,
                         c->t[i], c->t[n - 1]);
    if (n > 0 && c->t[i] - c->t[n - 1] <= CLOSE * span) continue;
    c->t[n] = c->t[i];
    c->y[n++] = c->y[i];
  }
  c->n = n;
  return APP_DONE;
}

static const char *result_name(const void *result, int i)
{
  return ga_result_signal_name(result, i);
}

static int read_result(const app_columns *s, const char *name, app_column *c)
{
  ga_result *result = NULL;
  if (ga_result_open(s->ctx, s->file, &result))
    return app_misused(s->a, "--%s: %s", s->option, ga_context_error(s->ctx)->text);
  const int i = ga_result_find(result, name);
  int code = APP_DONE;
  if (i < 0) {
    const char *nearest = app_nearest(name, ga_result_n_signals(result), result_name, result);
    char left_out[APP_LEFT_OUT];
    app_result_left_out(result, left_out);
    code = app_misused(s->a, "--%s: %s has no signal \"%s\"%s%s%s", s->option, s->file, name,
                       nearest ? "; the nearest is " : "", nearest ? nearest : "", left_out);
  }
  c->n = code ? 0 : ga_result_n_records(result);
  c->t = calloc((size_t)c->n + 1, sizeof *c->t);
  c->y = calloc((size_t)c->n + 1, sizeof *c->y);
  if (!code && (!c->t || !c->y)) code = no_memory();
  if (!code && (ga_result_read(result, -1, 0, c->n, c->t) || ga_result_read(result, i, 0, c->n, c->y)))
    code = app_misused(s->a, "--%s: %s", s->option, ga_context_error(s->ctx)->text);
  ga_result_close(&result);
  return code;
}

/* ---- Tables ---- */

/* 1: the unit of a column in SI is this one. A column without a unit is taken to be in SI. */
static int is_unit(ga_context *ctx, const char *unit, const char *wanted)
{
  ga_dimension is, other;
  memset(&is, 0, sizeof is), memset(&other, 0, sizeof other);
  if (!*unit) return 1;
  if (!wanted || ga_unit_parse(ctx, unit, NULL, &is, NULL)) return 0;
  if (*wanted && ga_unit_parse(ctx, wanted, NULL, &other, NULL)) return 0;
  return memcmp(&is, &other, sizeof is) == 0;
}

static int read_column(const app_columns *s, const app_table *t, const char *name, app_column *c)
{
  int at = -1;
  for (int i = 0; i < t->n_columns && at < 0; i++)
    if (i != t->time && strcmp(t->name[i], name) == 0) at = i;
  if (at < 0)
    return app_misused(s->a,
                       "--%s: %s has no column \"%s\"; its first line needs names, time and %s among them",
                       s->option, s->file, name, name);
  if (!is_unit(s->ctx, t->unit[at], s->units[0]) && !is_unit(s->ctx, t->unit[at], s->units[1]))
    return app_misused(s->a, "--%s: %s: the unit [%s] of %s is not one of %s", s->option, s->file,
                       t->unit[at], name, s->kind);
  c->n = t->n;
  c->t = calloc((size_t)t->n + 1, sizeof *c->t);
  c->y = calloc((size_t)t->n + 1, sizeof *c->y);
  if (!c->t || !c->y) return no_memory();
  memcpy(c->t, t->value + t->time * t->n, (size_t)t->n * sizeof *c->t);
  memcpy(c->y, t->value + at * t->n, (size_t)t->n * sizeof *c->y);
  return APP_DONE;
}

static int read_table(const app_columns *s, const char *name, app_column *c)
{
  app_table *t = NULL;
  int code = app_table_read(s->a, s->ctx, s->file, NULL, &t);
  if (!code) code = read_column(s, t, name, c);
  app_table_free(&t);
  return code;
}

int app_column_read(const app_columns *s, const char *name, app_column *c)
{
  const int code = app_ends_in(s->file, ".csv") ? read_table(s, name, c) : read_result(s, name, c);
  return code ? code : check_column(s, name, c);
}
