/* Surrogate pairs, "\ud83d\ude00", as JSON writes characters beyond 16 bits: libyaml refuses them. They are
 * replaced by
 * "\U0001f600" before libyaml reads the text, and the columns after them are corrected afterwards. To find
 * the texts in double quotes, libyaml first scans a copy in which all pairs are replaced by valid escapes of
 * the same length. */
#include "model/surrogate.h"

#include <stdio.h>
#include <string.h>
#include <yaml.h>

enum { PAIR = 12, LONG = 10, FIRST_CAPACITY = 16 };

/* The value of "\u" and four hexadecimal digits; −1: something else. */
static long escape_at(const char *text, size_t left)
{
  long code = 0;
  if (left < PAIR / 2 || text[0] != '\\' || text[1] != 'u') return -1;
  for (int i = 2; i < PAIR / 2; i++) {
    const char c = text[i];
    const int digit = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : -1;
    if (digit < 0) return -1;
    code = 16 * code + digit;
  }
  return code;
}

/* The character that a pair stands for; −1: it is none. */
static long pair_at(const char *text, size_t left)
{
  const long high = escape_at(text, left);
  const long low = high >= 0xD800 && high < 0xDC00 ? escape_at(text + PAIR / 2, left - PAIR / 2) : -1;
  return low >= 0xDC00 && low < 0xE000 ? 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00) : -1;
}

static ga_status note(ga_context *ctx, ga__mended *m, int line, int column)
{
  if (m->n == m->capacity) {
    const int capacity = m->capacity ? 2 * m->capacity : FIRST_CAPACITY;
    ga__pair *more = ga__alloc(ctx, (size_t)capacity, sizeof *more);
    if (!more) return GA_ERR_MEMORY;
    if (m->n > 0) memcpy(more, m->pair, (size_t)m->n * sizeof *more);
    ga__free(ctx, m->pair);
    m->pair = more;
    m->capacity = capacity;
  }
  m->pair[m->n++] = (ga__pair){line, column};
  return GA_OK;
}

/* Writes the new text over the copy that libyaml scans. It is never longer than the part already scanned, so
 * only bytes that are no longer needed are overwritten. */
typedef struct writer {
  ga_context *ctx;
  const char *text; /* as it was given, */
  size_t length, i; /* its bytes, those read, */
  size_t index;     /* and these as characters, as libyaml counts */
  ga__mended *m;    /* its length: what is written */
  int line, column; /* there, from 0 */
} writer;

/* Line breaks as libyaml has them: CR, LF, both, NEL, LS and PS. */
static int ends_line(const writer *w)
{
  const unsigned char *c = (const unsigned char *)w->text + w->i;
  const size_t left = w->length - w->i;
  if (*c == '\n') return 1;
  if (*c == '\r') return left < 2 || c[1] != '\n';
  if (left >= 2 && c[0] == 0xC2u && c[1] == 0x85u) return 1;
  return left >= 3 && c[0] == 0xE2u && c[1] == 0x80u && (c[2] == 0xA8u || c[2] == 0xA9u);
}

static void copy_character(writer *w)
{
  const int new_line = ends_line(w);
  do w->m->text[w->m->length++] = w->text[w->i++];
  while (w->i < w->length && ((unsigned char)w->text[w->i] & 0xC0u) == 0x80u);
  w->index++;
  w->column++;
  if (new_line) w->line++, w->column = 0;
}

static void copy_up_to(writer *w, size_t index)
{
  while (w->index < index && w->i < w->length) copy_character(w);
}

static ga_status mend_pair(writer *w, long code)
{
  char escape[LONG + 1];
  const ga_status status = note(w->ctx, w->m, w->line, w->column);
  if (status) return status;
  snprintf(escape, sizeof escape, "\\U%08lx", code & 0xFFFFFFL);
  memcpy(w->m->text + w->m->length, escape, LONG);
  w->m->length += LONG;
  w->column += LONG;
  w->i += PAIR;
  w->index += PAIR;
  return GA_OK;
}

/* The text in double quotes from character `start` on, up to its closing quote. */
static ga_status mend_quoted(writer *w, size_t start)
{
  ga_status status = GA_OK;
  if (start < w->index) return GA_OK;
  copy_up_to(w, start);
  if (w->i == w->length || w->text[w->i] != '"') return GA_OK;
  copy_character(w);
  while (!status && w->i < w->length && w->text[w->i] != '"') {
    const int escaped = w->text[w->i] == '\\';
    const long code = escaped ? pair_at(w->text + w->i, w->length - w->i) : -1;
    if (code >= 0) {
      status = mend_pair(w, code);
    } else {
      copy_character(w);
      if (escaped && w->i < w->length) copy_character(w);
    }
  }
  return status;
}

static ga_status mend_token(writer *w, const yaml_token_t *token)
{
  const int quoted =
      token->type == YAML_SCALAR_TOKEN && token->data.scalar.style == YAML_DOUBLE_QUOTED_SCALAR_STYLE;
  return quoted ? mend_quoted(w, token->start_mark.index) : GA_OK;
}

/* After the scanner stopped at an error: also replaces pairs in tokens that it had not delivered and in the
 * unfinished text, so that the error itself is reported and not the pairs before it. */
static ga_status mend_last(writer *w, const yaml_parser_t *parser)
{
  ga_status status = parser->error == YAML_MEMORY_ERROR ? GA_ERR_MEMORY : GA_OK;
  if (parser->error != YAML_SCANNER_ERROR) return status;
  for (const yaml_token_t *t = parser->tokens.head; !status && t != parser->tokens.tail; t++)
    status = mend_token(w, t);
  return status ? status : mend_quoted(w, parser->context_mark.index);
}

static ga_status mend_all(writer *w)
{
  yaml_parser_t parser;
  yaml_token_t token;
  ga_status status = GA_OK;
  int ended = 0;
  if (!yaml_parser_initialize(&parser)) return GA_ERR_MEMORY;
  yaml_parser_set_input_string(&parser, (const unsigned char *)w->m->text, w->length);
  yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
  while (!status && !ended && yaml_parser_scan(&parser, &token)) {
    ended = token.type == YAML_STREAM_END_TOKEN;
    status = mend_token(w, &token);
    yaml_token_delete(&token);
  }
  if (!status && !ended) status = mend_last(w, &parser);
  yaml_parser_delete(&parser);
  return status;
}

/* Replaces every pair by two valid escapes; returns their number. */
static size_t hide_pairs(const char *text, size_t length, char *copy)
{
  size_t n = 0;
  for (size_t i = 0; i + PAIR <= length; i++) {
    if (text[i] != '\\' || pair_at(text + i, length - i) < 0) continue;
    if (copy) memcpy(copy + i, "\\u0041\\u0041", PAIR);
    n++;
  }
  return n;
}

ga_status ga__surrogates_mend(ga_context *ctx, const char *text, size_t length, ga__mended *m)
{
  *m = (ga__mended){.length = length};
  if (hide_pairs(text, length, NULL) == 0) return GA_OK;
  m->text = ga__alloc(ctx, length + 1, 1);
  if (!m->text) return GA_ERR_MEMORY;
  memcpy(m->text, text, length);
  hide_pairs(text, length, m->text);
  m->length = 0;
  writer w = {.ctx = ctx, .text = text, .length = length, .m = m};
  const ga_status status = mend_all(&w);
  copy_up_to(&w, length);
  m->text[m->length] = '\0';
  return status;
}

void ga__mended_free(ga_context *ctx, ga__mended *m)
{
  ga__free(ctx, m->text);
  ga__free(ctx, m->pair);
  *m = (ga__mended){.length = 0};
}

/* Number of pairs before a place; they are sorted. */
static int count_before(const ga__mended *m, int line, int column)
{
  int from = 0, to = m->n;
  while (from < to) {
    const int i = from + (to - from) / 2;
    const ga__pair *p = &m->pair[i];
    if (p->line < line || (p->line == line && p->column < column))
      from = i + 1;
    else
      to = i;
  }
  return from;
}

int ga__mended_column(const ga__mended *m, int line, int column)
{
  const int n = count_before(m, line, column - LONG + 1) - count_before(m, line, 0);
  return n > 0 ? column + (PAIR - LONG) * n : column;
}
