/* Columns of numbers over time from files (columns.c). */
#ifndef GALPHA_APP_COLUMNS_H
#define GALPHA_APP_COLUMNS_H

#include "app.h"

#include "galpha/galpha.h"

typedef struct app_column { /* all 0: empty */
  long n;
  double *t, *y; /* [n] t ascends [s] */
} app_column;

typedef struct app_columns { /* where columns come from */
  const app_arguments *a;
  ga_context *ctx;
  const char *option;   /* that gives the file, for messages */
  const char *file;     /* a result, or a table .csv whose first line has names, with units in brackets */
  const char *units[2]; /* SI units that the numbers of a table may have; the second may be NULL */
  const char *kind;     /* of these units, for messages: "angle or length" */
} app_columns;

/* The signal or column of this name. Reports errors on stderr; returns an exit code. To be freed always. */
int app_column_read(const app_columns *s, const char *name, app_column *c);
void app_column_free(app_column *c);
/* A copy of n bytes without blanks at both ends; to be freed. NULL: out of memory. */
char *app_trimmed(const char *text, size_t n);

#endif
