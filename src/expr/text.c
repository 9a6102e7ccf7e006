/* Reading of texts: errors with their place, numbers, and the nearest valid name. */
#include "base/base_impl.h"
#include "expr/text.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int ga__is_letter(char c)
{
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

int ga__is_digit(char c)
{
  return c >= '0' && c <= '9';
}

int ga__skip_space(const char *text, int at)
{
  while (text[at] == ' ' || (text[at] >= '\t' && text[at] <= '\r')) at++;
  return at;
}

/* Whether c is a continuation byte of UTF-8, 10xxxxxx. */
static int continues(char c)
{
  return ((unsigned char)c & 0xC0u) == 0x80u;
}

int ga__columns(const char *text, int bytes)
{
  int n = 0;
  for (int i = 0; i < bytes; i++) n += !continues(text[i]);
  return n;
}

void ga__copy_piece(char *to, size_t size, const char *piece, size_t bytes)
{
  static const char mark[] = "...";
  size_t n = bytes;
  if (n >= size) {
    n = size - sizeof mark;
    while (n > 0 && continues(piece[n])) n--;
  }
  for (size_t i = 0; i < n; i++) {
    const unsigned char c = (unsigned char)piece[i];
    to[i] = c < 0x20u || c == 0x7Fu ? ' ' : piece[i];
  }
  to[n] = '\0';
  if (n < bytes) memcpy(to + n, mark, sizeof mark);
}

/* Stores the error in the caller's struct and in the context. */
static ga_status refuse_piece(const ga__source *source, int start, int bytes, ga_reason reason,
                              const char *expected, const char *nearest, const char *problem)
{
  const char *text = source->text;
  char quoted[GA_TEXT_PIECE];
  ga_text_error error = {.offset = start, .reason = reason};
  error.column = ga__columns(text, start) + 1;
  error.length = ga__columns(text + start, bytes);
  ga__copy_piece(error.found, sizeof error.found, text + start, (size_t)bytes);
  if (expected) ga__copy_piece(error.expected, sizeof error.expected, expected, strlen(expected));
  if (nearest) ga__copy_piece(error.nearest, sizeof error.nearest, nearest, strlen(nearest));
  if (source->error) *source->error = error;
  ga__copy_piece(quoted, sizeof quoted, text, strlen(text));
  return ga__refuse(source->ctx, GA_ERR_ARGUMENT, reason,
                    &(ga__facts){.other = source->what,
                                 .within = quoted,
                                 .column = error.column,
                                 .name = error.found,
                                 .detail = problem,
                                 .expected = error.expected,
                                 .nearest = error.nearest});
}

ga_status ga__text_fail(const ga__source *source, int start, int bytes, const char *expected,
                        const char *nearest, const char *format, ...)
{
  char problem[GA_ERROR_TEXT / 2];
  va_list args;
  va_start(args, format);
  if (vsnprintf(problem, sizeof problem, format, args) < 0) problem[0] = '\0';
  va_end(args);
  return refuse_piece(source, start, bytes, GA_REASON_SYNTAX, expected, nearest, problem);
}

ga_status ga__text_check_length(const ga__source *source)
{
  const size_t length = strlen(source->text);
  if (length <= GA_EXPR_LENGTH) return GA_OK;
  return ga__text_fail(source, GA_EXPR_LENGTH, 0, NULL, NULL,
                       "the text has %zu bytes, more than %d; split the %s", length, GA_EXPR_LENGTH,
                       source->what);
}

ga_status ga__text_unknown(const ga__source *source, int start, int bytes, ga_reason reason,
                           const char *nearest)
{
  char name[GA_TEXT_PIECE], problem[GA_TEXT_PIECE + 16];
  ga__copy_piece(name, sizeof name, source->text + start, (size_t)bytes);
  snprintf(problem, sizeof problem, "'%s' is unknown", name);
  return refuse_piece(source, start, bytes, reason,
                      reason == GA_REASON_UNKNOWN_UNIT       ? "a known unit"
                      : reason == GA_REASON_UNKNOWN_FUNCTION ? "a known function"
                                                             : "a known name",
                      nearest, problem);
}

ga_status ga__text_function(const ga__source *source, int start, int bytes, int after)
{
  char name[GA_TEXT_PIECE], problem[GA_TEXT_PIECE + 24];
  ga__copy_piece(name, sizeof name, source->text + start, (size_t)bytes);
  snprintf(problem, sizeof problem, "'%s' is a function", name);
  return refuse_piece(source, after, 0, GA_REASON_FUNCTION_AS_VALUE, "'(' and arguments", NULL, problem);
}

ga_status ga__text_dimension(const ga__source *source, int start, const char *quantity, const char *is,
                             const char *expected)
{
  char problem[GA_ERROR_TEXT / 2];
  snprintf(problem, sizeof problem, "'%s' is %s", quantity, is);
  return refuse_piece(source, start, (int)strlen(source->text + start), GA_REASON_WRONG_DIMENSION, expected,
                      NULL, problem);
}

/* ---- Numbers ---- */

static int digits(const char *text)
{
  int n = 0;
  while (ga__is_digit(text[n])) n++;
  return n;
}

int ga__number_length(const char *text)
{
  const int whole = digits(text);
  int n = whole;
  if (text[n] == '.') {
    const int fraction = digits(text + n + 1);
    if (whole + fraction == 0) return 0;
    n += 1 + fraction;
  }
  if (n > 0 && (text[n] == 'e' || text[n] == 'E')) {
    const int sign = text[n + 1] == '+' || text[n + 1] == '-';
    const int power = digits(text + n + 1 + sign);
    if (power > 0) n += 1 + sign + power;
  }
  return n;
}

/* strtod() expects the decimal point of the locale: that which snprintf() writes for 1.5. */
ga_status ga__read_number(double *value, const ga__source *source, int start, int bytes)
{
  enum { LONGEST = 300 };
  char point[16], buffer[LONGEST + sizeof point];
  const char *piece = source->text + start;
  int n = 0, zero = 1;
  snprintf(point, sizeof point, "%.1f", 1.5);
  if (bytes > LONGEST) {
    return ga__text_fail(source, start, bytes, NULL, NULL, "a number of %d digits is too long", bytes);
  }
  for (int i = 0; i < bytes && piece[i] != 'e' && piece[i] != 'E'; i++) {
    if (piece[i] >= '1' && piece[i] <= '9') zero = 0;
  }
  for (int i = 0; i < bytes; i++) {
    if (piece[i] == '.') {
      for (int k = 1; point[k] && point[k] != '5'; k++) buffer[n++] = point[k];
    } else {
      buffer[n++] = piece[i];
    }
  }
  buffer[n] = '\0';
  *value = strtod(buffer, NULL);
  if (!isfinite(*value)) return ga__text_fail(source, start, bytes, NULL, NULL, "the number is too large");
  if (*value == 0 && !zero) {
    return ga__text_fail(source, start, bytes, NULL, NULL, "the number is too small, it would become 0");
  }
  return GA_OK;
}

/* ---- Names that are nearly right ---- */

enum { EDIT = 2 * GA_TEXT_PIECE }; /* larger than the cost of all letters in the wrong case */

int ga__lower(char c)
{
  return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}

static int least(int a, int b)
{
  return a < b ? a : b;
}

/* Edit distance with neighbours swapped (optimal string alignment): 1 for a change of case, EDIT for anything
 * else. d(i,j) belongs to the first i of a and j of b; three rows of it are kept. */
static int distance(const char *a, int n, const char *b, int m)
{
  int rows[3][GA_TEXT_PIECE + 1];
  for (int j = 0; j <= m; j++) rows[0][j] = EDIT * j;
  for (int i = 1; i <= n; i++) {
    int *now = rows[i % 3];
    const int *above = rows[(i + 2) % 3], *twice = rows[(i + 1) % 3];
    now[0] = EDIT * i;
    for (int j = 1; j <= m; j++) {
      const char x = a[i - 1], y = b[j - 1];
      const int change = x == y ? 0 : ga__lower(x) == ga__lower(y) ? 1 : EDIT;
      now[j] = least(above[j - 1] + change, EDIT + least(above[j], now[j - 1]));
      if (i > 1 && j > 1 && x == b[j - 2] && y == a[i - 2]) now[j] = least(now[j], twice[j - 2] + EDIT);
    }
  }
  return rows[n % 3][m];
}

void ga__nearest_try(ga__nearest *nearest, const char *name)
{
  const size_t bytes = strlen(name);
  if (nearest->bytes >= GA_TEXT_PIECE || bytes >= GA_TEXT_PIECE || bytes == 0) return;
  /* One edit per three letters is allowed, and any number of letters in the wrong case. */
  const int allowed = EDIT * (nearest->bytes < 3 ? 1 : nearest->bytes / 3) + nearest->bytes;
  const int longer = (int)bytes - nearest->bytes,
            edits = EDIT * (longer < 0 ? -longer : longer); /* lower bound */
  if (edits > allowed || (nearest->name[0] && edits >= nearest->distance)) return;
  const int found = distance(nearest->word, nearest->bytes, name, (int)bytes);
  /* A name that shares no letter is not similar, however short. */
  if (found > allowed || found >= EDIT * least(nearest->bytes, (int)bytes)) return;
  if (nearest->name[0] && found >= nearest->distance) return;
  nearest->distance = found;
  memcpy(nearest->name, name, bytes + 1);
}
