#include "table.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 4096 };

static int read_names(mx_table *table, char *line)
{
  char *rest = line;
  for (table->n_columns = 0; rest; table->n_columns++) {
    char *name = rest, *comma = strchr(rest, ',');
    rest = comma ? comma + 1 : NULL;
    if (comma) *comma = '\0';
    name[strcspn(name, "\r\n")] = '\0';
    if (table->n_columns == MX_MOST_COLUMNS || strlen(name) >= MX_COLUMN_NAME) return -1;
    memcpy(table->name[table->n_columns], name, strlen(name) + 1);
  }
  return 0;
}

static int read_row(mx_table *table, const char *line)
{
  const size_t n = (size_t)table->n_columns, row = (size_t)table->n_rows;
  double *grown = realloc(table->value, (row + 1) * n * sizeof *grown);
  if (!grown) return -1;
  table->value = grown;
  for (size_t i = 0; i < n; i++) {
    char *end;
    grown[row * n + i] = strtod(line, &end);
    if (end == line || (*end != ',') != (i + 1 == n) || !isfinite(grown[row * n + i])) return -1;
    line = end + 1;
  }
  table->n_rows++;
  return 0;
}

int mx_table_read(mx_table *table, const char *file, char *text, int size)
{
  char path[LINE], line[LINE];
  int number = 0, bad = 0;
  *table = (mx_table){0};
  snprintf(path, sizeof path, "%s/%s.csv", MX_DATA, file);
  FILE *in = fopen(path, "r");
  if (!in) {
    snprintf(text, (size_t)size, "%s: %s", path, strerror(errno));
    return -1;
  }
  while (!bad && fgets(line, sizeof line, in))
    bad = number++ == 0 ? read_names(table, line) : read_row(table, line);
  if (bad || table->n_rows == 0 || ferror(in)) {
    snprintf(text, (size_t)size, "%s:%d: not a row of %d numbers", path, number, table->n_columns);
    bad = -1;
  }
  fclose(in);
  if (bad) mx_table_free(table);
  return bad;
}

void mx_table_free(mx_table *table)
{
  free(table->value);
  *table = (mx_table){0};
}
