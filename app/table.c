#include "table.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_COLUMNS = 1000, LARGEST = 1 << 28 };

const char app_no_time[] = "";

typedef struct reader {
  const app_arguments *a;
  ga_context *ctx;
  const char *file;
  char separator;
  long line;
} reader;

static int no_memory(void)
{
  return fputs("galpha: out of memory\n", stderr), APP_FAILED;
}

/* The whole file with a final NUL; NULL: it cannot be read, *error is errno. */
static char *read_file(const char *path, size_t *length, int *error)
{
  FILE *file = fopen(path, "rb");
  size_t used = 0, size = 1 << 16;
  char *text = file ? malloc(size) : NULL;
  *error = file ? ENOMEM : errno;
  while (text && !feof(file) && !ferror(file)) {
    used += fread(text + used, 1, size - 1 - used, file);
    if (used < size - 1) continue;
    char *more = size < LARGEST ? realloc(text, size *= 2) : NULL;
    if (!more) free(text);
    text = more;
  }
  if (text && ferror(file)) *error = EIO, free(text), text = NULL;
  if (text) text[used] = '\0';
  *length = used;
  if (file) fclose(file);
  return text;
}

/* The next field of a line, which is cut there; *line NULL after the last. Quotes around it are removed. */
static char *next_field(char **line, char separator)
{
  char *field = *line + strspn(*line, separator == '\t' ? " " : " \t"), *end;
  if (*field == '"') {
    end = strchr(++field, '"');
    if (!end) end = field + strlen(field);
    char *after = *end ? strchr(end + 1, separator) : NULL;
    *line = after ? after + 1 : NULL;
    *end = '\0';
  } else {
    end = strchr(field, separator);
    *line = end ? end + 1 : NULL;
    if (!end) end = field + strlen(field);
    *end = '\0';
  }
  while (end > field && strchr(" \t\r", end[-1])) *--end = '\0';
  return field;
}

static char find_separator(const char *line)
{
  return strchr(line, '\t') ? '\t' : strchr(line, ';') ? ';' : ',';
}

/* "angle [deg]" or "angle (deg)" becomes the name and its unit. */
static char *cut_unit(char *name)
{
  static char none[] = "";
  const size_t n = strlen(name);
  char *open = n > 0 && name[n - 1] == ']' ? strrchr(name, '[') : NULL;
  if (!open && n > 0 && name[n - 1] == ')') open = strrchr(name, '(');
  if (!open) return none;
  name[n - 1] = '\0';
  *open = '\0';
  for (char *end = open; end > name && strchr(" \t", end[-1]);) *--end = '\0';
  return strcmp(open + 1, "-") == 0 ? strcpy(open + 1, "1") : open + 1;
}

static int read_names(reader *r, app_table *t, char *line)
{
  r->separator = find_separator(line);
  while (line) {
    if (t->n_columns == MOST_COLUMNS)
      return app_misused(r->a, "%s has more than %d columns", r->file, MOST_COLUMNS);
    char *name = next_field(&line, r->separator), *end, *unit = cut_unit(name);
    strtod(name, &end);
    if (*name && !*end)
      return app_misused(r->a, "%s:%ld: a line of names is expected first, such as \"time [s],angle [deg]\"",
                         r->file, r->line);
    for (int i = 0; *name && i < t->n_columns; i++)
      if (strcmp(t->name[i], name) == 0)
        return app_misused(r->a, "%s:%ld: columns %d and %d both have the name \"%s\"", r->file, r->line,
                           i + 1, t->n_columns + 1, name);
    t->name[t->n_columns] = name;
    t->unit[t->n_columns++] = unit;
  }
  return APP_DONE;
}

static int same_word(const char *a, const char *b)
{
  for (; *a && *b; a++, b++)
    if ((*a >= 'A' && *a <= 'Z' ? *a + 32 : *a) != *b) return 0;
  return *a == *b;
}

static const char *column_at(const void *table, int i)
{
  return ((const app_table *)table)->name[i];
}

static int find_time(const reader *r, app_table *t, const char *column)
{
  t->time = -1;
  if (column == app_no_time) return APP_DONE;
  for (int i = 0; i < t->n_columns && t->time < 0; i++)
    if (column ? strcmp(t->name[i], column) == 0
               : same_word(t->name[i], "time") || same_word(t->name[i], "t"))
      t->time = i;
  if (t->time >= 0) return APP_DONE;
  const int knows_option = strcmp(r->a->command->name, "plot") == 0 ||
                           strcmp(r->a->command->name, "fit") == 0; /* the others have no --time-column */
  if (!column)
    return app_misused(r->a, "%s has no column \"time\" or \"t\"%s%s%s", r->file,
                       knows_option ? "; --time-column names another one, such as \"" : "",
                       knows_option ? t->name[0] : "", knows_option ? "\"" : "");
  const char *nearest = app_nearest(column, t->n_columns, column_at, t);
  return app_misused(r->a, "--time-column: %s has no column \"%s\"; %s \"%s\"", r->file, column,
                     nearest ? "the nearest is" : "the first is", nearest ? nearest : t->name[0]);
}

/* Factors to SI units; the units become those of the values in SI. */
static int read_units(const reader *r, app_table *t, double *factor)
{
  if (!(t->si = calloc((size_t)t->n_columns, sizeof *t->si))) return no_memory();
  for (int i = 0; i < t->n_columns; i++) {
    ga_dimension is, time;
    factor[i] = 1.0;
    if (!*t->unit[i]) continue;
    if (ga_unit_parse(r->ctx, t->unit[i], &factor[i], &is, NULL))
      return app_misused(r->a, "%s:%ld: column \"%s\": %s", r->file, r->line, t->name[i],
                         ga_context_error(r->ctx)->text);
    if (i != t->time) {
      ga_dimension_unit(t->si[i], sizeof t->si[i], &is);
      t->unit[i] = t->si[i];
      continue;
    }
    ga_unit_parse(r->ctx, "s", NULL, &time, NULL);
    if (memcmp(&is, &time, sizeof is) != 0)
      return app_misused(r->a, "%s:%ld: column \"%s\" is in %s, and times are in s", r->file, r->line,
                         t->name[i], t->unit[i]);
  }
  return APP_DONE;
}

/* One row into value[i*most + t->n]. */
static int read_row(const reader *r, app_table *t, char *line, long most, const double *factor)
{
  int i = 0;
  for (; line; i++) {
    char *field = next_field(&line, r->separator), *end = field;
    const int comma = r->separator == ';' && strchr(field, ',') && !strchr(field, '.');
    if (comma) *strchr(field, ',') = '.';
    const double number = *field ? strtod(field, &end) : NAN;
    if (i == t->n_columns && !*field && !line) break; /* a separator at the end of the line */
    if (i >= t->n_columns)
      return app_misused(r->a, "%s:%ld: more than the %d fields that the line of names has", r->file, r->line,
                         t->n_columns);
    if (*end)
      return app_misused(r->a, "%s:%ld: \"%s\" in column \"%s\" is not a number", r->file, r->line, field,
                         t->name[i]);
    if (isinf(number))
      return app_misused(r->a, "%s:%ld: \"%s\" in column \"%s\" is infinite or too large", r->file, r->line,
                         field, t->name[i]);
    t->value[i * most + t->n] = factor[i] * number;
  }
  if (i < t->n_columns)
    return app_misused(r->a, "%s:%ld: %d field%s instead of %d", r->file, r->line, i, i == 1 ? "" : "s", t->n_columns);
  t->n++;
  if (t->time < 0) return APP_DONE;
  const double *time = &t->value[t->time * most + t->n - 1];
  if (!isfinite(*time)) return app_misused(r->a, "%s:%ld: the time is missing", r->file, r->line);
  if (t->n > 1 && *time < time[-1])
    return app_misused(r->a, "%s:%ld: the time %g s is before that of the line above, %g s", r->file, r->line,
                       *time, time[-1]);
  return APP_DONE;
}

/* Cuts the line off; NULL: no more. */
static char *next_line(reader *r, char **rest)
{
  while (*rest && **rest) {
    char *line = *rest, *end = strchr(line, '\n');
    *rest = end ? end + 1 : NULL;
    if (end) *end = '\0';
    r->line++;
    if (line[strspn(line, " \t\r")] != '\0' && *line != '#') return line;
  }
  return NULL;
}

static int read_text(reader *r, app_table *t, const char *column)
{
  static const char mark[] = "\357\273\277"; /* some programs begin texts so */
  char *rest = t->text + (strncmp(t->text, mark, 3) == 0 ? 3 : 0), *line = next_line(r, &rest);
  long most = 1;
  if (!line) return app_misused(r->a, "%s is empty", r->file);
  for (const char *c = rest; c && *c; c++) most += *c == '\n';
  if (!(t->name = calloc(2 * (MOST_COLUMNS + 1), sizeof *t->name))) return no_memory();
  t->unit = t->name + MOST_COLUMNS + 1;
  int code = read_names(r, t, line);
  if (!code) code = find_time(r, t, column);
  double factor[MOST_COLUMNS];
  if (!code) code = read_units(r, t, factor);
  if (code) return code;
  if (!(t->value = calloc((size_t)t->n_columns * (size_t)most, sizeof *t->value))) return no_memory();
  while (!code && (line = next_line(r, &rest)) != NULL) code = read_row(r, t, line, most, factor);
  if (!code && t->n == 0) return app_misused(r->a, "%s has no rows of numbers", r->file);
  for (int i = 0; i < t->n_columns && !code; i++) /* close the gaps of lines without numbers */
    memmove(t->value + i * t->n, t->value + i * most, (size_t)t->n * sizeof *t->value);
  return code;
}

int app_table_read(const app_arguments *a, ga_context *ctx, const char *file, const char *column,
                   app_table **out)
{
  reader r = {.a = a, .ctx = ctx, .file = file};
  int error = 0;
  app_table *t = *out = calloc(1, sizeof *t);
  if (!t) return no_memory();
  size_t length = 0;
  t->text = read_file(file, &length, &error);
  if (!t->text) return app_misused(a, "%s cannot be read: %s", file, strerror(error));
  if (strlen(t->text) < length)
    return app_misused(a, "%s: byte %zu is 0: this is not a text", file, strlen(t->text) + 1);
  return read_text(&r, t, column);
}

void app_table_free(app_table **t)
{
  if (!*t) return;
  for (int i = 0; i < (*t)->n_renamed; i++) free((*t)->renamed[i]);
  free((*t)->name);
  free((*t)->value);
  free((*t)->si);
  free((*t)->text);
  free(*t);
  *t = NULL;
}
