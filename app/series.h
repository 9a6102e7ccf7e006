/* Data to be drawn: signals and expressions of signals, from results and from tables of measured values. */
#ifndef GALPHA_APP_SERIES_H
#define GALPHA_APP_SERIES_H

#include "results.h"
#include "table.h"

enum { APP_UNIT = 64 };

/* A result, or a table. */
typedef struct app_source {
  const char *file;
  ga_result *result; /* NULL: it is a table */
  app_table *table;
  int undefined_reported; /* 1: there was a warning of undefined values */
} app_source;

int app_source_n_signals(const app_source *s);
const char *app_source_name(const app_source *s, int i);
const char *app_source_unit(const app_source *s, int i);
int app_source_find(const app_source *s, const char *name); /* −1: none */
long app_source_n_records(const app_source *s);
/* 1: a signal matches this name or pattern. */
int app_source_has(const app_source *s, const char *pattern);

/* What is drawn: the time, a signal, or an expression of signals. */
typedef struct app_quantity {
  const char *text;     /* as given, or the signal's name; borrowed */
  int signal;           /* −1: the time, or the expression */
  ga_expr *e;           /* NULL: no expression */
  char unit[APP_UNIT];  /* in which values are read */
  char drawn[APP_UNIT]; /* in which they are drawn: values times scale; empty: the same */
  double scale;
} app_quantity;

/* An expression compiled for one source. GA_ERR_ARGUMENT: the context says why; the dimension is checked. */
ga_status app_quantity_compile(ga_context *ctx, const app_source *s, const char *text, app_quantity *out);

/* Values of records, in SI units. */
typedef struct app_series {
  long n;
  double *t, *x, *y;
  double *e;    /* error bars; NULL: none */
  double noise; /* y is rounding where it changes less than this */
  int damaged;  /* 1: some records could not be read, and are NaN */
} app_series;

/* Reads the records between two times. GA_ERR_MEMORY, or the context says why. */
ga_status app_series_read(ga_context *ctx, app_source *s, const app_quantity *x, const app_quantity *y,
                          int with_errors, const double range[2], app_series *out);
/* y −= other.y at the times of the first, which lose those outside of the other's. *between: the largest
 * difference that another interpolation would make; 0: the times are the same. */
void app_series_subtract(app_series *from, const app_series *other, double *between);
void app_series_free(app_series *s);
/* 1: y has error bars. */
int app_source_has_errors(const app_source *s, const app_quantity *y);

#endif
