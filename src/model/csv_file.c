/* Columns of numbers from CSV files: fields between commas, semicolons, tabs or blanks; lines that are empty
 * or begin with # are left out. A first line that does not begin with a number has the names of the columns,
 * with units in brackets: "force [kN]", as `galpha export` writes them. Grids: a first line whose first field
 * is no number, but the second is one, has the points y of a matrix, and the others x and a row of values. */
#include "model/csv_file.h"
#include "model/document.h"

#include "expr/text.h"
#include "mbs/name.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct scan {
  ga__reader *reader;
  int file;       /* among the messages */
  const char *at; /* beginning of a line */
  int line;       /* its number, from 1 */
  char separator; /* ' ': blanks and tabs */
  int fields;     /* of the first line */
  int wanted;     /* columns, at most GA__CSV_MOST */
} scan;

/* ---- Lines and fields ---- */

static int report(const scan *c, const char *expected, const char *found, size_t bytes)
{
  char piece[GA_TEXT_PIECE];
  ga__name_quote(piece, found, (int)(bytes < 40 ? bytes : 40));
  ga__report_error(c->reader->r->messages, (ga__place){c->file, c->line, 1}, GA_REASON_CSV_FILE,
                   &(ga__facts){.kind = "", .expected = expected, .name = bytes ? piece : NULL});
  return 0;
}

static size_t line_length(const char *at)
{
  return strcspn(at, "\r\n");
}

static void next_line(scan *c)
{
  c->at += strcspn(c->at, "\n");
  if (*c->at) c->at++, c->line++;
}

/* Goes to the next line with something in it; 0: there is none. */
static int skip_empty(scan *c)
{
  for (; *c->at; next_line(c)) {
    const char first = c->at[strspn(c->at, " \t")];
    if (first != '\r' && first != '\n' && first != '#' && first) return 1;
  }
  return 0;
}

/* The field at *at, without blanks and quotes around it; *at goes behind it. 0: the line has no more; *at
 * NULL: it was the last. */
static int next_field(const scan *c, const char **at, const char **field, size_t *bytes)
{
  const char *p = *at, *end = c->at + line_length(c->at);
  if (!p) return 0;
  while (p < end && (*p == ' ' || (*p == '\t' && c->separator != '\t'))) p++;
  if (c->separator == ' ' && p == end) return 0;
  const char *from = p;
  for (int quoted = 0; p < end; p++) {
    if (*p == '\x22') quoted = !quoted;
    if (quoted) continue;
    if (c->separator == ' ' ? *p == ' ' || *p == '\t' : *p == c->separator) break;
  }
  size_t n = (size_t)(p - from);
  while (n > 0 && (from[n - 1] == ' ' || from[n - 1] == '\t')) n--;
  if (n >= 2 && from[0] == '\x22' && from[n - 1] == '\x22') from++, n -= 2;
  *field = from, *bytes = n;
  *at = p == end ? NULL : p + 1;
  return 1;
}

/* Field number i of a line; 0: it has fewer. */
static int field_of(const scan *c, int i, const char **field, size_t *bytes)
{
  const char *at = c->at;
  for (int k = 0; next_field(c, &at, field, bytes); k++)
    if (k == i) return 1;
  return 0;
}

static int count_fields(const scan *c)
{
  const char *at = c->at, *field;
  size_t bytes;
  int n = 0;
  while (next_field(c, &at, &field, &bytes)) n++;
  return n;
}

static char find_separator(const char *line)
{
  static const char choices[] = ";\t,";
  const size_t length = line_length(line);
  for (const char *s = choices; *s; s++)
    if (memchr(line, *s, length)) return *s;
  return ' ';
}

/* 1: the field is a finite number, with a decimal point. */
static int plain_number(const scan *c, const char *field, size_t bytes, double *value)
{
  const int sign = bytes > 0 && (*field == '-' || *field == '+');
  const int length = ga__number_length(field + sign);
  const ga__source source = {.ctx = c->reader->r->ctx, .text = field + sign};
  if (length == 0 || (size_t)(sign + length) != bytes) return 0;
  *value = NAN;
  ga__mute_errors(source.ctx);
  const ga_status status = ga__read_number(value, &source, 0, length); /* numbers that underflow are 0 */
  ga__unmute_errors(source.ctx);
  if (status && !(*value == 0.0)) return 0;
  if (*field == '-') *value = -*value;
  return 1;
}

/* 1: the field is a finite number. Between semicolons and tabs a comma is a decimal point. */
static int number_of(const scan *c, const char *field, size_t bytes, double *value)
{
  char text[64];
  const char *comma = c->separator == ';' || c->separator == '\t' ? memchr(field, ',', bytes) : NULL;
  if (!comma) return plain_number(c, field, bytes, value);
  if (bytes >= sizeof text || memchr(field, '.', bytes)) return 0;
  memcpy(text, field, bytes);
  text[bytes] = '\0';
  text[comma - field] = '.';
  return plain_number(c, text, bytes, value);
}

/* ---- The header ---- */

/* Splits "force [kN]" or "force (kN)"; the name keeps its length in *name_bytes. */
static void split_title(const char *title, size_t bytes, size_t *name_bytes, char unit[GA_TEXT_PIECE])
{
  const char open = bytes > 0 && title[bytes - 1] == ']'   ? '['
                    : bytes > 0 && title[bytes - 1] == ')' ? '('
                                                           : 0;
  size_t from = bytes;
  unit[0] = '\0';
  *name_bytes = bytes;
  if (!open) return;
  while (from > 0 && title[from - 1] != open) from--;
  if (from == 0 || bytes - from - 1 >= GA_TEXT_PIECE) return;
  memcpy(unit, title + from, bytes - from - 1);
  unit[bytes - from - 1] = '\0';
  for (*name_bytes = from - 1; *name_bytes > 0 && title[*name_bytes - 1] == ' ';) --*name_bytes;
}

/* The column of a name; −1: none. */
static int find_column(const scan *c, const char *name)
{
  char unit[GA_TEXT_PIECE];
  const char *field;
  size_t bytes, length;
  for (int i = 0; field_of(c, i, &field, &bytes); i++) {
    split_title(field, bytes, &length, unit);
    if ((strlen(name) == length && memcmp(name, field, length) == 0) ||
        (strlen(name) == bytes && memcmp(name, field, bytes) == 0))
      return i;
  }
  return -1;
}

static int column_unit(const scan *c, int column, char unit[GA_TEXT_PIECE], double *factor)
{
  const char *field;
  size_t bytes, length;
  *factor = 1;
  unit[0] = '\0';
  if (!field_of(c, column, &field, &bytes)) return 1;
  split_title(field, bytes, &length, unit);
  if (!unit[0] || strcmp(unit, "1") == 0 || strcmp(unit, "-") == 0) {
    unit[0] = '\0';
    return 1;
  }
  ga__mute_errors(c->reader->r->ctx);
  const ga_status status = ga_unit_parse(c->reader->r->ctx, unit, factor, NULL, NULL);
  ga__unmute_errors(c->reader->r->ctx);
  return !status ? 1 : report(c, "a unit in brackets behind the name of the column", field, bytes);
}

/* Which columns: by `columns`, else those that there are. titled 1: the scan is at the header. */
static int choose_columns(const scan *c, ga__tree *columns, int titled, int column[GA__CSV_MOST])
{
  const int n = count_fields(c);
  ga__messages *m = c->reader->r->messages;
  for (int k = 0; k < GA__CSV_MOST; k++) column[k] = k;
  if (!columns && n == c->wanted) return 1;
  if (!columns) {
    char expected[160];
    snprintf(expected, sizeof expected, "%s, or the key columns in the model: there are %d",
             c->wanted == 2 ? "two columns"
                            : "three columns, or a matrix whose first field is empty or a title",
             n);
    return report(c, expected, c->at, line_length(c->at));
  }
  if (columns->kind != GA__TREE_LIST || columns->n != c->wanted) {
    ga__report_error(
        m, columns->at, GA_REASON_WRONG_FORM,
        &(ga__facts){.expected = c->wanted == 2 ? "two names or numbers of columns, such as [time, force]"
                                                : "three names or numbers of columns, such as [x, y, height]",
                     .name = "something else"});
    return 0;
  }
  for (int k = 0; k < c->wanted; k++) {
    const ga__tree *tree = columns->child[k];
    const char *text;
    char *end, title[2 * GA_TEXT_PIECE];
    if (!ga__value_text(c->reader->r, tree, &text)) return 0;
    const long number = strtol(text, &end, 10);
    column[k] = titled ? find_column(c, text) : -1;
    if (column[k] < 0 && *text && !*end && number >= 1 && number <= n) column[k] = (int)number - 1;
    if (column[k] >= 0) continue;
    snprintf(title, sizeof title, "%.*s", (int)(line_length(c->at) < 100 ? line_length(c->at) : 100), c->at);
    ga__report_error(m, tree->at, GA_REASON_CSV_COLUMN,
                     &(ga__facts){.name = text, .detail = titled ? title : NULL, GA__NUMBERS({n, NULL})});
    return 0;
  }
  return 1;
}

/* ---- Rows ---- */

static int count_lines(scan c)
{
  int n = 0;
  for (; skip_empty(&c); next_line(&c)) n++;
  return n;
}

/* A line with more fields than the first one may have decimal commas between commas. Empty ones at its end
 * are none. */
static int check_width(const scan *c)
{
  const char *at = c->at, *field;
  size_t bytes;
  char expected[64];
  for (int k = 0; next_field(c, &at, &field, &bytes); k++)
    if (k >= c->fields && bytes > 0) {
      snprintf(expected, sizeof expected, "%d column%s, as in the first line", c->fields,
               c->fields == 1 ? "" : "s");
      return report(c, expected, c->at, line_length(c->at));
    }
  return 1;
}

static int read_rows(scan *c, const int column[GA__CSV_MOST], const double factor[GA__CSV_MOST],
                     ga__csv_columns *out)
{
  for (; skip_empty(c); next_line(c)) {
    if (!check_width(c)) return 0;
    for (int k = 0; k < c->wanted; k++) {
      const char *field = "";
      size_t bytes = 0;
      if (!field_of(c, column[k], &field, &bytes) || !number_of(c, field, bytes, &out->value[k][out->n])) {
        char expected[64];
        snprintf(expected, sizeof expected, "a number in column %d", column[k] + 1);
        return report(c, expected, bytes ? field : c->at, bytes ? bytes : line_length(c->at));
      }
      out->value[k][out->n] *= factor[k];
    }
    if (c->wanted == 2 && out->n > 0 && !(out->value[0][out->n] > out->value[0][out->n - 1]))
      return report(c, "a larger number in the first column than in the line before", c->at,
                    line_length(c->at));
    out->n++;
  }
  return out->n >= 2 ? 1 : report(c, "two lines of numbers or more", "", 0);
}

/* Goes to the first line; 1: it has titles. −1: there is none. */
static int find_first_line(scan *c)
{
  const char *first;
  size_t bytes;
  double unused;
  if (strncmp(c->at, "\xef\xbb\xbf", 3) == 0) c->at += 3; /* the mark of UTF-8 */
  if (!skip_empty(c)) return report(c, "lines of numbers", "", 0) - 1;
  c->separator = find_separator(c->at);
  c->fields = count_fields(c);
  return !field_of(c, 0, &first, &bytes) || !number_of(c, first, bytes, &unused);
}

static int read_columns(scan *c, int titled, ga__tree *columns, ga__csv_columns *out)
{
  double factor[GA__CSV_MOST] = {1, 1, 1};
  int column[GA__CSV_MOST];
  if (!choose_columns(c, columns, titled, column)) return 0;
  for (int k = 0; titled && k < c->wanted; k++)
    if (!column_unit(c, column[k], out->unit[k], &factor[k])) return 0;
  if (titled) next_line(c);
  const size_t n = (size_t)count_lines(*c);
  for (int k = 0; k < c->wanted; k++)
    if (!(out->value[k] = ga__room(c->reader, n + 1, sizeof **out->value))) return 0;
  return read_rows(c, column, factor, out);
}

static int read_text(scan *c, ga__tree *columns, void *out)
{
  const int titled = find_first_line(c);
  return titled >= 0 && read_columns(c, titled, columns, out);
}

/* ---- Grids ---- */

/* n numbers of a line from *at on, and no more. */
static int read_line(const scan *c, const char *at, int n, double *value)
{
  const char *field = c->at;
  size_t bytes = 0;
  char expected[96];
  for (int i = 0; i < n; i++) {
    bytes = 0;
    if (next_field(c, &at, &field, &bytes) && number_of(c, field, bytes, &value[i])) continue;
    snprintf(expected, sizeof expected, "a number in column %d", i + 2);
    return report(c, expected, bytes ? field : c->at, bytes ? bytes : line_length(c->at));
  }
  if (!next_field(c, &at, &field, &bytes)) return 1;
  snprintf(expected, sizeof expected, "%d columns, as in the first line", n + 1);
  return report(c, expected, c->at, line_length(c->at));
}

/* The unit of all values, in the title of the corner. "x [mm] / y [mm]" would be taken for it. */
static int corner_unit(const scan *c, double *factor)
{
  const char *field = "";
  char unit[GA_TEXT_PIECE];
  size_t bytes = 0, name = 0, brackets = 0;
  field_of(c, 0, &field, &bytes);
  split_title(field, bytes, &name, unit);
  for (size_t i = 0; unit[0] && i < name; i++) brackets += strchr("[(/\\", field[i]) != NULL;
  if (brackets)
    return report(c, "a first field with the unit of the values alone; three columns may have a unit each",
                  field, bytes);
  return column_unit(c, 0, unit, factor);
}

/* y behind the corner in the first line; then x and a row of z. */
static int read_matrix(scan *c, ga__csv_grid *g)
{
  const char *field, *at = c->at;
  size_t bytes;
  double factor;
  if (!corner_unit(c, &factor)) return 0;
  scan rows = *c;
  next_line(&rows);
  const size_t n = (size_t)count_lines(rows), width = (size_t)count_fields(c) - 1;
  g->ny = (int)width;
  g->x = ga__room(c->reader, n + 1, sizeof *g->x), g->y = ga__room(c->reader, width, sizeof *g->y);
  g->z = width && n > (size_t)-1 / sizeof(double) / width ? NULL
                                                          : ga__room(c->reader, n * width + 1, sizeof *g->z);
  if (!g->x || !g->y || !g->z) return 0;
  next_field(c, &at, &field, &bytes);
  if (!read_line(c, at, g->ny, g->y)) return 0;
  for (int i = 1; i < g->ny; i++)
    if (!(g->y[i] > g->y[i - 1]))
      return report(c, "numbers that ascend in the first line", c->at, line_length(c->at));
  for (next_line(c); skip_empty(c); next_line(c), g->nx++) {
    double *row = g->z + (size_t)g->nx * width;
    at = c->at;
    if (!next_field(c, &at, &field, &bytes) || !number_of(c, field, bytes, &g->x[g->nx]))
      return report(c, "a number in column 1", field, bytes);
    if (g->nx > 0 && !(g->x[g->nx] > g->x[g->nx - 1]))
      return report(c, "a larger number in the first column than in the line before", c->at,
                    line_length(c->at));
    if (!read_line(c, at, g->ny, row)) return 0;
    for (int i = 0; i < g->ny; i++) row[i] *= factor;
  }
  return g->nx >= 2 && g->ny >= 2 ? 1 : report(c, "two numbers or more along both x and y", "", 0);
}

static int compare_numbers(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* The different ones of n numbers, ascending; their count. NULL: no memory. */
static double *list_different(ga__reader *reader, const double *value, int n, int *count)
{
  double *list = ga__room(reader, (size_t)n, sizeof *list);
  if (!list) return NULL;
  memcpy(list, value, (size_t)n * sizeof *list);
  qsort(list, (size_t)n, sizeof *list, compare_numbers);
  *count = 0;
  for (int i = 0; i < n; i++)
    if (i == 0 || list[i] > list[*count - 1]) list[(*count)++] = list[i];
  return list;
}

static size_t index_of(double value, const double *list, int n)
{
  return (size_t)((const double *)bsearch(&value, list, (size_t)n, sizeof value, compare_numbers) - list);
}

/* Points in any order, each of them once. */
static int fill_grid(const scan *c, const ga__csv_columns *p, ga__csv_grid *g)
{
  char expected[160];
  g->x = list_different(c->reader, p->value[0], p->n, &g->nx);
  g->y = list_different(c->reader, p->value[1], p->n, &g->ny);
  g->z = ga__room(c->reader, (size_t)p->n, sizeof *g->z);
  char *known = ga__room(c->reader, (size_t)p->n, 1);
  if (!g->x || !g->y || !g->z || !known) return 0;
  memset(known, 0, (size_t)p->n);
  const double all = (double)g->nx * g->ny;
  snprintf(expected, sizeof expected,
           "a value at each of %d x and %d y, which are %.0f points, once; there are %d points", g->nx, g->ny,
           all, p->n);
  if (all != p->n) return report(c, expected, "", 0);
  if (g->nx < 2 || g->ny < 2) return report(c, "two numbers or more along both x and y", "", 0);
  for (int i = 0; i < p->n; i++) {
    const size_t at =
        index_of(p->value[0][i], g->x, g->nx) * (size_t)g->ny + index_of(p->value[1][i], g->y, g->ny);
    snprintf(expected, sizeof expected, "each point once; x = %.9g, y = %.9g is there twice", p->value[0][i],
             p->value[1][i]);
    if (known[at]) return report(c, expected, "", 0);
    known[at] = 1;
    g->z[at] = p->value[2][i];
  }
  return 1;
}

static int read_grid(scan *c, ga__tree *columns, void *out)
{
  const char *field;
  size_t bytes;
  double unused;
  ga__csv_columns points = {.n = 0};
  c->wanted = 3;
  const int titled = find_first_line(c);
  if (titled < 0) return 0;
  if (titled && !columns && field_of(c, 1, &field, &bytes) && number_of(c, field, bytes, &unused))
    return read_matrix(c, out);
  return read_columns(c, titled, columns, &points) && fill_grid(c, &points, out);
}

/* ---- The file ---- */

static const char *find_path(ga__reader *reader, const ga__tree *tree, const char **name)
{
  if (!ga__value_text(reader->r, tree, name)) return NULL;
  if (!reader->folder) {
    ga__report_error(reader->r->messages, tree->at, GA_REASON_NO_FOLDER, &(ga__facts){.name = "tables"});
    return NULL;
  }
  if (ga__leaves_folder(*name)) {
    ga__report_error(reader->r->messages, tree->at, GA_REASON_PATH_REFUSED,
                     &(ga__facts){.name = *name,
                                  .detail = "it is not within the model's folder",
                                  .expected = "a file within it"});
    return NULL;
  }
  const size_t size = strlen(reader->folder) + strlen(*name) + 2;
  char *path = ga__room(reader, size, 1);
  if (path) snprintf(path, size, "%s/%s", reader->folder, *name);
  return path;
}

static int read_file(ga__reader *reader, const ga__tree *file, ga__tree *columns,
                     int (*read)(scan *c, ga__tree *columns, void *out), void *out)
{
  const char *name;
  char *text = NULL;
  size_t length = 0;
  const char *path = find_path(reader, file, &name);
  if (!path) return 0;
  ga__file_digest(reader->r, path);
  ga__file_load(reader->r, path, name, file->at, &text, &length);
  if (!text) return 0;
  scan c = {.reader = reader, .at = text, .line = 1, .wanted = 2};
  c.file = ga__messages_add_file(reader->r->messages, name);
  int good = 0;
  if (c.file < 0)
    reader->r->failed = 1;
  else if (memchr(text, '\0', length))
    report(&c, "a text", "", 0);
  else
    good = read(&c, columns, out);
  ga__free(reader->r->ctx, text);
  return good;
}

int ga__csv_read(ga__reader *reader, const ga__tree *file, ga__tree *columns, ga__csv_columns *out)
{
  *out = (ga__csv_columns){.n = 0};
  return read_file(reader, file, columns, read_text, out);
}

int ga__csv_read_grid(ga__reader *reader, const ga__tree *file, ga__tree *columns, ga__csv_grid *out)
{
  *out = (ga__csv_grid){.nx = 0};
  return read_file(reader, file, columns, read_grid, out);
}
