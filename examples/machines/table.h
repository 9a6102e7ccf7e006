/* A table of numbers with named columns, as in examples/data/. */
#ifndef GALPHA_EXAMPLES_TABLE_H
#define GALPHA_EXAMPLES_TABLE_H

enum { MX_MOST_COLUMNS = 40, MX_COLUMN_NAME = 32 };

typedef struct mx_table {
  int n_columns, n_rows;
  char name[MX_MOST_COLUMNS][MX_COLUMN_NAME];
  double *value; /* [n_rows][n_columns] */
} mx_table;

/* Reads examples/data/<file>.csv: a line of names, then one of numbers for each row. 0; otherwise `text` says
 * what is wrong, with the line. */
int mx_table_read(mx_table *table, const char *file, char *text, int size);
void mx_table_free(mx_table *table);

#endif
