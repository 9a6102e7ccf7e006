/* Columns of numbers from CSV files: fields between commas, semicolons, tabs or blanks; lines that are empty
 * or begin with # are left out. A first line that does not begin with a number has the names of the columns,
 * with units in brackets: "force [kN]", as `galpha export` writes them. */
#include "model/csv_file.h"
#include "model/document.h"

#include "expr/text.h"
#include "mbs/name.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_COLUMNS = 4096 };

typedef struct scan {
  ga__reader *reader;
  int file;       /* among the messages */
  const char *at; /* beginning of a line */
  int line;       /* its number, from 1 */
  char separator; /* ' ': blanks and tabs */
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

/* Field number i of a line, without blanks and quotes around it; 0: it has fewer. */
static int field_of(const scan *c, int i, const char **field, size_t *bytes)
{
  const char *at = c->at, *end = at + line_length(at);
  for (int k = 0;; k++) {
    while (at < end && (*at == ' ' || (*at == '\t' && c->separator != '\t'))) at++;
    if (c->separator == ' ' && at == end) return 0;
    const char *from = at;
    for (int quoted = 0; at < end; at++) {
      if (*at == '\x22') quoted = !quoted;
      if (quoted) continue;
      if (c->separator == ' ' ? *at == ' ' || *at == '\t' : *at == c->separator) break;
    }
    if (k == i) {
      size_t n = (size_t)(at - from);
      while (n > 0 && (from[n - 1] == ' ' || from[n - 1] == '\t')) n--;
      if (n >= 2 && from[0] == '\x22' && from[n - 1] == '\x22') from++, n -= 2;
      *field = from, *bytes = n;
      return 1;
    }
    if (at == end) return 0;
    at++;
  }
}

static int count_fields(const scan *c)
{
  const char *field;
  size_t bytes;
  int n = 0;
  while (n < MOST_COLUMNS && field_of(c, n, &field, &bytes)) n++;
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

/* 1: the field is a finite number. */
static int number_of(const scan *c, const char *field, size_t bytes, double *value)
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

/* Which columns: by `columns`, else the two that there are. titled 1: the scan is at the header. */
static int choose_columns(const scan *c, ga__tree *columns, int titled, int column[2])
{
  const int n = count_fields(c);
  ga__messages *m = c->reader->r->messages;
  column[0] = 0, column[1] = 1;
  if (!columns && n == 2) return 1;
  if (!columns) {
    char expected[96];
    snprintf(expected, sizeof expected, "two columns, or the key columns in the model: there are %d", n);
    return report(c, expected, c->at, line_length(c->at));
  }
  if (columns->kind != GA__TREE_LIST || columns->n != 2) {
    ga__report_error(m, columns->at, GA_REASON_WRONG_FORM,
                     &(ga__facts){.expected = "two names or numbers of columns, such as [time, force]",
                                  .name = "something else"});
    return 0;
  }
  for (int k = 0; k < 2; k++) {
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

static int read_rows(scan *c, const int column[2], const double factor[2], ga__csv_columns *out)
{
  for (; skip_empty(c); next_line(c)) {
    for (int k = 0; k < 2; k++) {
      const char *field = "";
      size_t bytes = 0;
      if (!field_of(c, column[k], &field, &bytes) || !number_of(c, field, bytes, &out->value[k][out->n])) {
        char expected[64];
        snprintf(expected, sizeof expected, "a number in column %d", column[k] + 1);
        return report(c, expected, bytes ? field : c->at, bytes ? bytes : line_length(c->at));
      }
      out->value[k][out->n] *= factor[k];
    }
    if (out->n > 0 && !(out->value[0][out->n] > out->value[0][out->n - 1]))
      return report(c, "a larger number in the first column than in the line before", c->at,
                    line_length(c->at));
    out->n++;
  }
  return out->n >= 2 ? 1 : report(c, "two lines of numbers or more", "", 0);
}

static int read_text(scan *c, ga__tree *columns, ga__csv_columns *out)
{
  const char *first;
  size_t bytes;
  double unused, factor[2] = {1, 1};
  int column[2];
  if (strncmp(c->at, "\xef\xbb\xbf", 3) == 0) c->at += 3; /* the mark of UTF-8 */
  if (!skip_empty(c)) return report(c, "lines of numbers", "", 0);
  c->separator = find_separator(c->at);
  const int titled = !field_of(c, 0, &first, &bytes) || !number_of(c, first, bytes, &unused);
  if (!choose_columns(c, columns, titled, column)) return 0;
  for (int k = 0; titled && k < 2; k++)
    if (!column_unit(c, column[k], out->unit[k], &factor[k])) return 0;
  if (titled) next_line(c);
  const size_t n = (size_t)count_lines(*c);
  for (int k = 0; k < 2; k++)
    if (!(out->value[k] = ga__room(c->reader, n + 1, sizeof **out->value))) return 0;
  return read_rows(c, column, factor, out);
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

int ga__csv_read(ga__reader *reader, const ga__tree *file, ga__tree *columns, ga__csv_columns *out)
{
  const char *name;
  char *text = NULL;
  size_t length = 0;
  *out = (ga__csv_columns){.n = 0};
  const char *path = find_path(reader, file, &name);
  if (!path) return 0;
  ga__file_digest(path, &reader->r->data);
  ga__file_load(reader->r, path, name, file->at, &text, &length);
  if (!text) return 0;
  scan c = {.reader = reader, .at = text, .line = 1};
  c.file = ga__messages_add_file(reader->r->messages, name);
  int good = 0;
  if (c.file < 0)
    reader->r->failed = 1;
  else if (memchr(text, '\0', length))
    report(&c, "a text", "", 0);
  else
    good = read_text(&c, columns, out);
  ga__free(reader->r->ctx, text);
  return good;
}
