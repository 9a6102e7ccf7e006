/* Tables of measured values: CSV with a line of names. */
#ifndef GALPHA_APP_TABLE_H
#define GALPHA_APP_TABLE_H

#include "app.h"

#include "galpha/galpha.h"

typedef struct app_table {
  int n_columns, time; /* time: its column; −1: none */
  long n;              /* rows */
  char **name, **unit; /* [n_columns] unit of the values, in SI; "": none was given */
  char (*si)[64];      /* [n_columns] memory of the units */
  double *value;       /* [n_columns][n] in SI units */
  char *text;          /* memory of the names, */
  char *renamed[64];   /* and of those given on the command line */
  int n_renamed;
} app_table;

extern const char app_no_time[]; /* as `column`: the table has no times */
/* Reads "time [s],angle [deg]" and rows of numbers, separated by commas, semicolons or tabs; NaN where a
 * field is empty. Times must not decrease. column: name of the time's column, NULL: time or t. Reports errors
 * on stderr, with line and column; returns an exit code. */
int app_table_read(const app_arguments *a, ga_context *ctx, const char *file, const char *column,
                   app_table **out);
void app_table_free(app_table **t);

#endif
