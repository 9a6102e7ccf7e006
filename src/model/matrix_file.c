/* Matrices in the Matrix Market format: a header line, comments, sizes, and entries, one per line. Forms:
 * coordinate and array; real and integer; general and symmetric. */
#include "model/document.h"
#include "model/mesh.h"

#include "expr/text.h"
#include "mbs/name.h"
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Largest number of rows or columns, and of entries. */
#define MOST_ROWS 2e7
#define MOST_ENTRIES 2e8

typedef struct scan {
  const ga__mesh_source *s;
  int file;       /* among the messages */
  const char *at; /* the rest of the text */
  int line;       /* of `at`, from 1 */
} scan;

void ga__entries_free(ga_context *ctx, ga__entries *e)
{
  ga__free(ctx, e->row);
  ga__free(ctx, e->col);
  ga__free(ctx, e->value);
  *e = (ga__entries){0};
}

ga_sparse *ga__entries_sparse(ga_context *ctx, const ga__entries *e)
{
  ga_sparse *A = NULL;
  int *place = ga__alloc(ctx, (size_t)e->n, sizeof *place);
  if (place && ga_sparse_create(ctx, e->rows, e->cols, e->n, e->row, e->col, place, &A) == GA_OK)
    for (int i = 0; i < e->n; i++) A->value[place[i]] += e->value[i];
  ga__free(ctx, place);
  return A;
}

/* ---- Lines ---- */

static int report(const scan *c, const char *expected, const char *found)
{
  char piece[GA_TEXT_PIECE];
  const size_t n = strcspn(found, "\r\n");
  ga__name_quote(piece, found, (int)(n < 40 ? n : 40));
  ga__report_error(c->s->r->messages, (ga__place){c->file, c->line, 1}, GA_REASON_MATRIX_FILE,
                   &(ga__facts){.kind = "", .expected = expected, .name = n ? piece : NULL});
  return 0;
}

static void next_line(scan *c)
{
  c->at += strcspn(c->at, "\n");
  if (*c->at) c->at++, c->line++;
}

/* Goes to the next line that is neither empty nor a comment; 0: there is none. */
static int skip_comments(scan *c)
{
  while (*c->at) {
    const size_t blanks = strspn(c->at, " \t\r");
    if (c->at[blanks] != '%' && c->at[blanks] != '\n' && c->at[blanks]) return 1;
    if (!c->at[blanks]) return 0;
    next_line(c);
  }
  return 0;
}

/* Reads the next number of the line; 0: there is none. */
static int take_number(scan *c, double *value)
{
  c->at += strspn(c->at, " \t");
  const int sign = *c->at == '-' || *c->at == '+', bytes = ga__number_length(c->at + sign);
  const ga__source source = {.ctx = c->s->r->ctx, .text = c->at + sign};
  if (bytes == 0) return 0;
  *value = NAN;
  ga__mute_errors(c->s->r->ctx);
  /* numbers that underflow are 0 */
  const ga_status status = ga__read_number(value, &source, 0, bytes);
  ga__unmute_errors(c->s->r->ctx);
  if (status && !(*value == 0.0)) return 0;
  if (*c->at == '-') *value = -*value;
  c->at += sign + bytes;
  return *c->at == '\0' || isspace((unsigned char)*c->at);
}

/* Reads a line of exactly n numbers. */
static int take_line(scan *c, int n, double *value)
{
  for (int i = 0; i < n; i++)
    if (!take_number(c, &value[i])) return 0;
  c->at += strspn(c->at, " \t\r");
  if (*c->at && *c->at != '\n') return 0;
  next_line(c);
  return 1;
}

/* ---- The form ---- */

typedef struct form {
  int is_array, symmetric;
} form;

static int read_form(scan *c, form *f)
{
  char word[5][24] = {"", "", "", "", ""}, line[128];
  const size_t n = strcspn(c->at, "\r\n");
  snprintf(line, sizeof line, "%.*s", (int)(n < 120 ? n : 120), c->at);
  for (char *p = line; *p; p++) *p = (char)tolower((unsigned char)*p);
  if (sscanf(line, "%23s %23s %23s %23s %23s", word[0], word[1], word[2], word[3], word[4]) != 5 ||
      strcmp(word[0], "%%matrixmarket") != 0 || strcmp(word[1], "matrix") != 0)
    return report(c, "'%%MatrixMarket matrix', and its form", c->at);
  f->is_array = strcmp(word[2], "array") == 0;
  f->symmetric = strcmp(word[4], "symmetric") == 0;
  if (!f->is_array && strcmp(word[2], "coordinate") != 0) return report(c, "coordinate or array", c->at);
  if (strcmp(word[3], "real") != 0 && strcmp(word[3], "integer") != 0)
    return report(c, "a real or integer matrix", c->at);
  if (!f->symmetric && strcmp(word[4], "general") != 0)
    return report(c, "a general or symmetric matrix", c->at);
  next_line(c);
  return 1;
}

/* Rows, columns, and entries in the file. */
static int read_sizes(scan *c, const form *f, double size[3])
{
  const char *start = c->at;
  const char *expected = f->is_array ? "numbers of rows and columns" : "numbers of rows, columns and entries";
  if (!skip_comments(c)) return report(c, expected, "");
  start = c->at;
  const int line = c->line;
  int good = take_line(c, f->is_array ? 2 : 3, size);
  if (f->is_array) size[2] = f->symmetric ? 0.5 * size[0] * (size[0] + 1) : size[0] * size[1];
  for (int i = 0; i < 3 && good; i++)
    good = size[i] >= 1 && size[i] <= (i < 2 ? MOST_ROWS : MOST_ENTRIES) && size[i] == floor(size[i]);
  if (good && f->symmetric) good = size[0] == size[1];
  if (good) return 1;
  c->line = line;
  return report(c, expected, start);
}

/* ---- Entries ---- */

static int add_entry(ga__entries *e, const form *f, int row, int col, double value)
{
  const int twice = f->symmetric && row != col;
  for (int k = 0; k <= twice; k++) {
    e->row[e->n] = k ? col : row;
    e->col[e->n] = k ? row : col;
    e->value[e->n++] = value;
  }
  return 1;
}

static int read_entry(scan *c, const form *f, ga__entries *e, int *row, int *col)
{
  const char *start = c->at;
  const int line = c->line;
  double x[3];
  int good = take_line(c, f->is_array ? 1 : 3, f->is_array ? x + 2 : x);
  if (!good) {
    c->line = line;
    return report(c, f->is_array ? "a number" : "row, column and value", start);
  }
  if (!f->is_array) {
    if (!(x[0] >= 1 && x[0] <= e->rows && x[0] == (double)(int)x[0] && x[1] >= 1 && x[1] <= e->cols &&
          x[1] == (double)(int)x[1])) {
      c->line = line;
      return report(c, "row and column within the matrix, from 1 on", start);
    }
    *row = (int)x[0] - 1, *col = (int)x[1] - 1;
  }
  add_entry(e, f, *row, *col, x[2]);
  if (f->is_array && ++*row == e->rows) *row = f->symmetric ? *col + 1 : 0, ++*col;
  return 1;
}

static int read_entries(scan *c, const form *f, long count, ga__entries *e)
{
  int row = 0, col = 0;
  for (long i = 0; i < count; i++) {
    if (!skip_comments(c)) {
      char expected[64];
      snprintf(expected, sizeof expected, "%ld entries, there are %ld", count, i);
      return report(c, expected, "");
    }
    if (!read_entry(c, f, e, &row, &col)) return 0;
  }
  return skip_comments(c) ? report(c, "the end of the file, as all entries are there", c->at) : 1;
}

static int read_text(scan *c, ga__entries *e)
{
  form f;
  double size[3];
  ga_context *ctx = c->s->r->ctx;
  if (!read_form(c, &f) || !read_sizes(c, &f, size)) return 0;
  const size_t room = (size_t)size[2] * (f.symmetric ? 2 : 1);
  *e = (ga__entries){.rows = (int)size[0], .cols = (int)size[1]};
  e->row = ga__alloc(ctx, room, sizeof *e->row);
  e->col = ga__alloc(ctx, room, sizeof *e->col);
  e->value = ga__alloc(ctx, room, sizeof *e->value);
  if (!e->row || !e->col || !e->value) {
    c->s->r->failed = 1;
    return 0;
  }
  return read_entries(c, &f, (long)size[2], e);
}

int ga__matrix_file_read(const ga__mesh_source *s, ga__entries *out)
{
  char *text;
  size_t length = 0;
  *out = (ga__entries){0};
  ga__file_load(s->r, s->path, s->name, s->from, &text, &length);
  if (!text) return 0;
  scan c = {.s = s, .at = text, .line = 1, .file = ga__messages_add_file(s->r->messages, s->name)};
  int good = 0;
  if (c.file < 0)
    s->r->failed = 1;
  else if (memchr(text, '\0', length))
    report(&c, "a text in the format of Matrix Market", "");
  else
    good = read_text(&c, out);
  ga__free(s->r->ctx, text);
  if (!good) ga__entries_free(s->r->ctx, out);
  return good;
}
