/* Pairs of surrogates, "\ud83d\ude00", as JSON writes characters beyond 16 bits: libyaml refuses them. They
 * are written as
 * "\U0001f600" before it reads the text, and the columns after them are put right afterwards. Where a text
 * stands in double quotes only libyaml knows, so it is asked: its complaint is the place. */
#include "model/surrogate.h"

#include <stdio.h>
#include <string.h>
#include <yaml.h>

enum { PAIR = 12, LONG = 10, MOST_ROUNDS = 1000, FIRST_CAPACITY = 16 };

/* The four hexadecimal digits after "\u"; −1: there is no such thing here. */
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

static int may_have_pairs(const char *text, size_t length)
{
  for (size_t i = 0; i + PAIR <= length; i++)
    if (text[i] == '\\' && pair_at(text + i, length - i) >= 0) return 1;
  return 0;
}

/* Where libyaml refuses an escape, in characters from the start; 0: nowhere. */
static ga_status find_refused(const ga__mended *m, yaml_mark_t *at, int *found)
{
  yaml_parser_t parser;
  yaml_token_t token;
  int ended = 0;
  *found = 0;
  if (!yaml_parser_initialize(&parser)) return GA_ERR_MEMORY;
  yaml_parser_set_input_string(&parser, (const unsigned char *)m->text, m->length);
  yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
  while (!ended && yaml_parser_scan(&parser, &token)) {
    ended = token.type == YAML_STREAM_END_TOKEN;
    yaml_token_delete(&token);
  }
  const ga_status status = parser.error == YAML_MEMORY_ERROR ? GA_ERR_MEMORY : GA_OK;
  if (!ended && parser.error == YAML_SCANNER_ERROR && parser.problem_mark.index >= 2) {
    *at = parser.problem_mark;
    *found = 1;
  }
  yaml_parser_delete(&parser);
  return status;
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

/* All pairs from byte i up to the closing quote. */
static ga_status mend_text(ga_context *ctx, ga__mended *m, size_t i, int line, int column, int *mended)
{
  while (i < m->length && m->text[i] != '"') {
    const long code = m->text[i] == '\\' ? pair_at(m->text + i, m->length - i) : -1;
    if (code >= 0) {
      char escape[LONG + 1];
      snprintf(escape, sizeof escape, "\\U%08lx", code & 0xFFFFFFL);
      memcpy(m->text + i, escape, LONG);
      memmove(m->text + i + LONG, m->text + i + PAIR, m->length - i - PAIR + 1);
      m->length -= PAIR - LONG;
      const ga_status status = note(ctx, m, line, column);
      if (status) return status;
      *mended = 1;
    }
    const size_t step = code >= 0                                                           ? LONG
                        : m->text[i] == '\\' && i + 1 < m->length && m->text[i + 1] != '\n' ? 2
                                                                                            : 1;
    for (size_t end = i + step; i < end; i++) {
      if (m->text[i] == '\n')
        line++, column = 0;
      else if (((unsigned char)m->text[i] & 0xC0u) != 0x80u)
        column++;
    }
  }
  return GA_OK;
}

ga_status ga__surrogates_mend(ga_context *ctx, const char *text, size_t length, ga__mended *m)
{
  *m = (ga__mended){.length = length};
  if (!may_have_pairs(text, length)) return GA_OK;
  m->text = ga__alloc(ctx, length + 1, 1);
  if (!m->text) return GA_ERR_MEMORY;
  memcpy(m->text, text, length);
  for (int round = 0; round < MOST_ROUNDS; round++) {
    yaml_mark_t at;
    int found, mended = 0;
    ga_status status = find_refused(m, &at, &found);
    if (status || !found) return status;
    size_t i = 0; /* the mark is behind "\u" */
    for (size_t n = 0; i < m->length && (n < at.index - 2 || ((unsigned char)m->text[i] & 0xC0u) == 0x80u);
         i++)
      n += ((unsigned char)m->text[i] & 0xC0u) != 0x80u;
    if (pair_at(m->text + i, m->length - i) < 0) return GA_OK;
    status = mend_text(ctx, m, i, (int)at.line, (int)at.column - 2, &mended);
    if (status || !mended) return status;
  }
  return GA_OK;
}

void ga__mended_free(ga_context *ctx, ga__mended *m)
{
  ga__free(ctx, m->text);
  ga__free(ctx, m->pair);
  *m = (ga__mended){.length = 0};
}

int ga__mended_column(const ga__mended *m, int line, int column)
{
  int shift = 0;
  for (int i = 0; i < m->n; i++)
    if (m->pair[i].line == line && m->pair[i].column + LONG <= column) shift += PAIR - LONG;
  return column + shift;
}
