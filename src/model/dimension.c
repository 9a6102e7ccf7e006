/* The dimension of an expression, as far as it is certain: for sums of products of parameters and
 * quantities. A plain number may have any SI unit, so 9.81*m is unknown; 2*L is suspicious where no
 * length is expected. */
#include "model/dimension.h"

#include "expr/text.h"
#include "mbs/name.h"
#include <stdlib.h>
#include <string.h>

enum { LARGEST_COUNT = 12 }; /* smaller whole numbers are probably counts, not measured quantities */

typedef struct term {
  int n_factors, n_dimensions;
  int odd; /* 1: a factor may have any dimension, or a dimension is divided by */
  ga_dimension dimension;
} term;

/* 1: a whole number, or a half, without a unit. */
static int is_count(const char *text, int bytes)
{
  if (bytes == 3 && strncmp(text, "0.5", 3) == 0) return 1;
  for (int i = 0; i < bytes; i++)
    if (!ga__is_digit(text[i])) return 0;
  return strtol(text, NULL, 10) <= LARGEST_COUNT;
}

static int is_index(const ga__scope *scope, const char *name, int bytes)
{
  for (; scope; scope = scope->outer)
    if (strncmp(scope->name, name, (size_t)bytes) == 0 && !scope->name[bytes]) return 1;
  return 0;
}

static void add_dimension(term *t, const ga_dimension *dimension, int divides)
{
  t->n_dimensions++;
  t->dimension = *dimension;
  t->odd |= divides;
}

/* Reads a number with or without a unit in brackets; returns its length, 0: invalid. */
static int read_number(ga__reading *r, const char *text, int divides, term *t)
{
  const int bytes = ga__number_length(text), at = ga__skip_space(text, bytes);
  char unit[GA_TEXT_PIECE];
  ga_dimension dimension;
  if (text[at] != '[') {
    t->odd |= !is_count(text, bytes);
    return bytes;
  }
  const size_t length = strcspn(text + at + 1, "]");
  if (length >= sizeof unit || text[(size_t)at + 1 + length] != ']') return 0;
  memcpy(unit, text + at + 1, length);
  unit[length] = '\0';
  if (ga_unit_parse(r->ctx, unit, NULL, &dimension, NULL)) return 0;
  add_dimension(t, &dimension, divides);
  return at + 2 + (int)length;
}

/* Reads a factor; returns its length, 0: something else. */
static int read_factor(ga__reading *r, const ga__tree *tree, const char *text, int divides, term *t)
{
  t->n_factors++;
  if (ga__number_length(text) > 0) return read_number(r, text, divides, t);
  const int bytes = ga__name_length(text);
  ga__number value;
  if (bytes == 0 || text[ga__skip_space(text, bytes)] == '(') return 0;
  if (is_index(tree->scope, text, bytes)) {
    t->n_factors--; /* a number and nothing else */
  } else if (ga__parameter_find(r, tree->scope, text, (size_t)bytes, &value, NULL) == GA__KNOWN_NAME &&
             value.has_dimension) {
    add_dimension(t, &value.dimension, divides);
  } else {
    t->odd = 1;
  }
  return bytes;
}

/* Reads factors with * and / between them; returns the end, −1: something else. */
static int read_term(ga__reading *r, const ga__tree *tree, int at, term *t)
{
  int divides = 0;
  *t = (term){0};
  for (;;) {
    at = ga__skip_space(tree->text, at);
    const int bytes = read_factor(r, tree, tree->text + at, divides, t);
    if (bytes == 0) return -1;
    at = ga__skip_space(tree->text, at + bytes);
    if (tree->text[at] != '*' && tree->text[at] != '/') return at;
    divides = tree->text[at++] == '/';
  }
}

ga__known ga__dimension_of(ga__reading *r, const ga__tree *tree, ga_dimension *dimension, ga_dimension *other)
{
  ga__known known = GA__DIMENSION_UNKNOWN;
  const char *text = tree->text;
  int at = ga__skip_space(text, 0), n_terms = 0;
  if (text[at] == '-' || text[at] == '+') at++;
  for (;; at++) {
    term t;
    at = read_term(r, tree, at, &t);
    if (at < 0 || (text[at] && text[at] != '+' && text[at] != '-')) return GA__DIMENSION_UNKNOWN;
    n_terms++;
    if (!t.odd && t.n_dimensions == 1) {
      const int sure = t.n_factors == 1;
      if (known == GA__DIMENSION_KNOWN && sure && memcmp(dimension, &t.dimension, sizeof *dimension) != 0) {
        *other = t.dimension;
        return GA__DIMENSION_MIXED;
      }
      if (known != GA__DIMENSION_KNOWN) {
        known = sure ? GA__DIMENSION_KNOWN : GA__DIMENSION_LIKELY;
        *dimension = t.dimension;
      }
    }
    if (!text[at]) break;
  }
  return known == GA__DIMENSION_LIKELY && n_terms > 1 ? GA__DIMENSION_UNKNOWN : known;
}
