/* From scalars to values. A number is looked at first, to give the message that fits: "12 mmm" is a quantity
 * in an unknown unit, "2*L" an expression. */
#include "model/value.h"
#include "model/dimension.h"
#include "model/hints.h"

#include "expr/expr_impl.h"
#include "mbs/name.h"
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PROBLEM = GA_ERROR_TEXT + 256 };

/* ---- Places and words ---- */

typedef enum number_kind { IS_EMPTY, IS_NUMBER, IS_QUANTITY, IS_EXPRESSION } number_kind;

/* A number alone, a number before what can only be a unit, or anything else. */
static number_kind classify(const char *text)
{
  int at = ga__skip_space(text, 0);
  if (!text[at]) return IS_EMPTY;
  if (text[at] == '-' || text[at] == '+') at = ga__skip_space(text, at + 1);
  const int bytes = ga__number_length(text + at);
  if (bytes == 0) return IS_EXPRESSION;
  at = ga__skip_space(text, at + bytes);
  const char c = text[at];
  if (!c) return IS_NUMBER;
  return ga__is_letter(c) || ga__is_digit(c) || c == '(' || (unsigned char)c >= 0x80u ? IS_QUANTITY
                                                                                      : IS_EXPRESSION;
}

static const char *kind_text(const ga__tree *tree)
{
  if (tree->kind == GA__TREE_LIST) return "a list";
  if (tree->kind == GA__TREE_MAP) return "a map";
  if (!tree->text[0] && !tree->quoted) return "nothing";
  const number_kind kind = classify(tree->text);
  return !tree->quoted && (kind == IS_NUMBER || kind == IS_QUANTITY) ? "a number" : "a text";
}

static const char *quote(char piece[GA_TEXT_PIECE], const char *text)
{
  const size_t bytes = strlen(text);
  ga__name_quote(piece, text, bytes < GA_EXPR_LENGTH ? (int)bytes : GA_EXPR_LENGTH);
  return piece;
}

ga__place ga__value_place(const ga__tree *tree, int column)
{
  ga__place at = tree->at;
  if (column > 0 && tree->kind == GA__TREE_SCALAR && tree->text_column > 0)
    at.column = tree->text_column + column - 1;
  return at;
}

/* 1: a scalar; else says what was expected of it. */
static int expect_scalar(ga__reading *r, const ga__tree *tree, const char *what, const char *expected)
{
  if (tree->kind == GA__TREE_SCALAR) return 1;
  ga__say_as(r->messages, GA_MESSAGE_ERROR, tree->at, GA_REASON_WRONG_FORM, NULL, "%s: expected %s, found %s",
             what, expected, kind_text(tree));
  return 0;
}

/* ---- Numbers ---- */

/* .inf, -inf, nan, Infinity: what YAML and C call numbers, and no expression means. */
static int is_not_finite(const char *text)
{
  static const char *const words[] = {"inf", "infinity", "nan"};
  const char *word = text + ga__skip_space(text, 0);
  if (*word == '-' || *word == '+') word++;
  if (*word == '.') word++;
  const size_t bytes = strcspn(word, " \t\r\n");
  if (word[bytes + (size_t)ga__skip_space(word + bytes, 0)]) return 0;
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
    size_t k = 0;
    while (k < bytes && words[i][k] && (word[k] | 0x20) == words[i][k]) k++;
    if (k == bytes && !words[i][k]) return 1;
  }
  return 0;
}

/* "what: 'text': problem; hint". The text is left out where the problem is all of it, and quotes it. */
static void report_text(ga__reading *r, const ga__tree *tree, const ga_text_error *error, const char *what,
                        const char *hint)
{
  char quoted[GA_TEXT_PIECE];
  const char *text = tree->text + ga__skip_space(tree->text, 0);
  const int whole = error->reason == GA_REASON_WRONG_DIMENSION ||
                    error->reason == GA_REASON_FUNCTION_AS_VALUE ||
                    (error->reason != GA_REASON_SYNTAX && strcmp(error->found, quote(quoted, text)) == 0);
  ga__say_why(r->messages, GA_MESSAGE_ERROR, ga__value_place(tree, error->column), what, GA_REASON_BAD_TEXT,
              &(ga__facts){.within = whole ? NULL : quote(quoted, text),
                           .column = error->column,
                           .name = error->found,
                           .detail = r->ctx->error.detail,
                           .expected = error->expected,
                           .nearest = error->nearest,
                           .other = hint});
}

static int read_quantity(ga__reading *r, const ga__tree *tree, const char *unit, const char *what,
                         ga__number *out)
{
  ga_text_error error;
  char hint[GA_ERROR_NAME] = "";
  const ga_status status = ga_quantity_parse(r->ctx, tree->text, unit, &out->value, &out->dimension, &error);
  out->has_dimension = 1;
  if (status == GA_OK) return 1;
  const ga_error said = r->ctx->error; /* looking for a parameter may compute it, and leave another */
  ga__number other;
  if (error.reason == GA_REASON_UNKNOWN_UNIT &&
      ga__parameter_find(r, tree->scope, error.found, strlen(error.found), &other, NULL) == GA__KNOWN_NAME) {
    snprintf(hint, sizeof hint, "'%.40s' is a parameter: for a product write number*%.40s", error.found,
             error.found);
  } else if (error.found[0] && strchr("+-*", error.found[0])) {
    snprintf(hint, sizeof hint, "in expressions units stand in brackets, as in 3[m] + 20[mm]");
  }
  r->ctx->error = said;
  report_text(r, tree, &error, what, hint);
  return 0;
}

/* ---- Expressions ---- */

/* Names of a text with their values. */
typedef struct symbols {
  ga_symbol *at;
  int n;
  int unknown; /* one of the names is nobody's */
  int wrong;   /* one of the names has no value, which was reported */
} symbols;

static int has_symbol(const symbols *s, const char *name)
{
  for (int i = 0; i < s->n; i++) {
    if (strcmp(s->at[i].name, name) == 0) return 1;
  }
  return 0;
}

static int count_names(const char *text)
{
  int n = 0, at = 0, bytes;
  for (; (bytes = ga__name_next(text, &at)) > 0; at += bytes) n++;
  return n;
}

static int is_built_in(const char *name, int bytes)
{
  return (bytes == 2 && memcmp(name, "pi", 2) == 0) || (bytes == 1 && name[0] == 'e');
}

/* Only the names that occur, so that the cost does not grow with the number of parameters. */
static int gather(ga__reading *r, const ga__tree *tree, symbols *s)
{
  const char *text = tree->text;
  int at = 0, bytes;
  s->at = ga__alloc(r->ctx, (size_t)count_names(text), sizeof *s->at);
  if (!s->at) {
    r->failed = 1;
    return 0;
  }
  for (; (bytes = ga__name_next(text, &at)) > 0; at += bytes) {
    ga__number value;
    const char *name;
    const ga__lookup found = ga__parameter_find(r, tree->scope, text + at, (size_t)bytes, &value, &name);
    if (found == GA__WRONG_NAME) s->wrong = 1;
    if (found == GA__UNKNOWN_NAME && !is_built_in(text + at, bytes)) s->unknown = 1;
    if (found == GA__UNKNOWN_NAME || has_symbol(s, name)) continue;
    s->at[s->n++] = (ga_symbol){
        .name = name, .kind = GA_SYMBOL_CONSTANT, .value = found == GA__KNOWN_NAME ? value.value : 0.0};
  }
  return 1;
}

/* All names there are, without values: the compiler then finds the nearest. */
static int gather_all(ga__reading *r, const ga__tree *tree, symbols *s)
{
  int n = ga__parameter_count(r);
  for (const ga__scope *scope = tree->scope; scope; scope = scope->outer) n++;
  ga__free(r->ctx, s->at);
  *s = (symbols){.at = ga__alloc(r->ctx, (size_t)n, sizeof *s->at)};
  if (!s->at) {
    r->failed = 1;
    return 0;
  }
  for (const ga__scope *scope = tree->scope; scope; scope = scope->outer) {
    s->at[s->n++] = (ga_symbol){.name = scope->name, .kind = GA_SYMBOL_CONSTANT};
  }
  const symbols inner = *s; /* which hide parameters of their names */
  for (int i = 0; i < ga__parameter_count(r); i++) {
    const char *name = ga__parameter_name(r, i);
    if (!has_symbol(&inner, name)) s->at[s->n++] = (ga_symbol){.name = name, .kind = GA_SYMBOL_CONSTANT};
  }
  return 1;
}

/* 1,5 is how some countries write a number, and [1, 2] how a list is. */
static const char *comma_hint(const char *text, const ga_text_error *error)
{
  return error->found[0] == ',' && ga__number_length(text + ga__skip_space(text, 0)) > 0
             ? "the decimal mark is a point, and lists stand in brackets: [1, 2]"
             : "";
}

int ga__may_be_elsewhere(const ga__reading *r, const ga_text_error *error)
{
  return r->incomplete &&
         (error->reason == GA_REASON_UNKNOWN_NAME || error->reason == GA_REASON_UNKNOWN_FUNCTION);
}

static int compute(ga__reading *r, const ga__tree *tree, const symbols *s, const char *what, double *value)
{
  ga_text_error error;
  ga_expr *e = NULL;
  ga_fault fault;
  const ga_status status = ga_expr_compile(r->ctx, tree->text, s->at, s->n, &error, &e);
  if (status == GA_ERR_MEMORY) {
    r->failed = 1;
    return 0;
  }
  if (status) {
    if (!ga__may_be_elsewhere(r, &error)) report_text(r, tree, &error, what, comma_hint(tree->text, &error));
    return 0;
  }
  const int ok = ga_expr_eval(e, NULL, value, &fault) == GA_OK;
  if (!ok) {
    char problem[PROBLEM], quoted[GA_TEXT_PIECE];
    ga__fault_say(problem, sizeof problem, &fault);
    const char *text = tree->text + ga__skip_space(tree->text, 0);
    const int whole = (size_t)fault.bytes == strlen(text); /* the problem quotes it */
    ga__say_why(r->messages, GA_MESSAGE_ERROR, ga__value_place(tree, fault.column), what, GA_REASON_BAD_TEXT,
                &(ga__facts){
                    .within = whole ? NULL : quote(quoted, text), .column = fault.column, .detail = problem});
  }
  ga_expr_destroy(&e);
  return ok;
}

static int check_dimension(ga__reading *r, const ga__tree *tree, const char *unit, const char *what,
                           const ga__number *number)
{
  ga_dimension wanted;
  char is[2 * GA_TEXT_PIECE], expected[2 * GA_TEXT_PIECE], piece[GA_TEXT_PIECE];
  if (!unit || !number->has_dimension) return 1;
  if (ga_unit_parse(r->ctx, unit, NULL, &wanted, NULL)) return 1;
  if (memcmp(wanted.power, number->dimension.power, sizeof wanted.power) == 0) return 1;
  ga_dimension_text(is, sizeof is, &number->dimension);
  ga_dimension_text(expected, sizeof expected, &wanted);
  ga__say_as(r->messages, GA_MESSAGE_ERROR, tree->at, GA_REASON_WRONG_QUANTITY, tree->text,
             "%s: '%s' is %s, expected %s", what, quote(piece, tree->text), is, expected);
  return 0;
}

/* A plain number in a product may have any dimension, but a small whole one rarely has. */
static void suspect_dimension(ga__reading *r, const ga__tree *tree, const char *unit, const char *what,
                              const ga_dimension *likely)
{
  ga_dimension wanted;
  char is[2 * GA_TEXT_PIECE], expected[2 * GA_TEXT_PIECE], piece[GA_TEXT_PIECE];
  if (!unit || ga_unit_parse(r->ctx, unit, NULL, &wanted, NULL)) return;
  int differs = 0; /* angles apart: turns and radians are converted by plain numbers */
  for (int i = 0; i < GA_N_BASE_UNITS - 1; i++) differs |= wanted.power[i] != likely->power[i];
  if (!differs) return;
  ga_dimension_text(is, sizeof is, likely);
  ga_dimension_text(expected, sizeof expected, &wanted);
  ga__say(r->messages, GA_MESSAGE_WARNING, tree->at,
          "%s: '%s' seems to be %s, expected %s; is that meant so?", what, quote(piece, tree->text), is,
          expected);
}

static int read_dimension(ga__reading *r, const ga__tree *tree, const char *unit, const char *what,
                          ga__number *out)
{
  char first[2 * GA_TEXT_PIECE], second[2 * GA_TEXT_PIECE], piece[GA_TEXT_PIECE];
  ga_dimension dimension = {{0}}, other = {{0}};
  switch (ga__dimension_of(r, tree, &dimension, &other)) {
  case GA__DIMENSION_KNOWN:
    out->dimension = dimension;
    out->has_dimension = 1;
    return check_dimension(r, tree, unit, what, out);
  case GA__DIMENSION_LIKELY:
    suspect_dimension(r, tree, unit, what, &dimension);
    return 1;
  case GA__DIMENSION_TWOFOLD:
    ga_dimension_text(first, sizeof first, &dimension);
    ga_dimension_text(second, sizeof second, &other);
    ga__say(r->messages, GA_MESSAGE_ERROR, tree->at, "%s: '%s' is a sum of %s and %s", what,
            quote(piece, tree->text), first, second);
    return 0;
  default:
    return 1;
  }
}

static int read_expression(ga__reading *r, const ga__tree *tree, const char *unit, const char *what,
                           ga__number *out)
{
  symbols s = {0};
  int ok = strlen(tree->text) > GA_EXPR_LENGTH || gather(r, tree, &s);
  if (ok && s.wrong && !s.unknown) ok = 0; /* told where the parameter stands */
  if (ok && s.unknown && ga__messages_may_search(r->messages, ga__parameter_count(r)))
    ok = gather_all(r, tree, &s);
  if (ok) ok = compute(r, tree, &s, what, &out->value);
  ga__free(r->ctx, s.at);
  if (!ok) return 0;
  return read_dimension(r, tree, unit, what, out);
}

/* What stands there is no number at all; what the unit stands for, "a length (m)", was expected. */
static int tell_no_number(ga__reading *r, const ga__tree *tree, const char *unit, const char *what)
{
  char expected[2 * GA_TEXT_PIECE] = "a number", piece[GA_TEXT_PIECE];
  ga_dimension dimension;
  if (unit && ga_unit_parse(r->ctx, unit, NULL, &dimension, NULL) == GA_OK) {
    ga_dimension_text(expected, sizeof expected, &dimension);
  }
  if (!expect_scalar(r, tree, what, expected)) return 0;
  if (classify(tree->text) == IS_EMPTY) {
    ga__say(r->messages, GA_MESSAGE_ERROR, tree->at, "%s: there is nothing, expected %s", what, expected);
  } else {
    ga__say(r->messages, GA_MESSAGE_ERROR, tree->at, "%s: '%s' is not finite, expected %s", what,
            quote(piece, tree->text), expected);
  }
  return 0;
}

int ga__value_with_unit(ga__reading *r, const ga__tree *tree, const char *unit, const char *what,
                        ga__number *out)
{
  *out = (ga__number){0};
  if (tree->kind != GA__TREE_SCALAR || is_not_finite(tree->text)) return tell_no_number(r, tree, unit, what);
  switch (classify(tree->text)) {
  case IS_EMPTY:
    return tell_no_number(r, tree, unit, what);
  case IS_NUMBER: {
    const int ok = read_quantity(r, tree, NULL, what, out);
    out->has_dimension = 0;
    return ok;
  }
  case IS_QUANTITY:
    return read_quantity(r, tree, unit, what, out);
  default:
    return read_expression(r, tree, unit, what, out);
  }
}

int ga__value_number(ga__reading *r, const ga__tree *tree, const char *unit, const char *what, double *out)
{
  ga__number number;
  if (!ga__value_with_unit(r, tree, unit, what, &number)) return 0;
  *out = number.value;
  return 1;
}

/* How a list of n numbers is written, where that is short. */
static const char *list_example(int n, const char *unit)
{
  if (n == 3) return unit && strcmp(unit, "m/s^2") == 0 ? " such as [0, 0, -9.81]" : " such as [0, 0, 1]";
  return n == 2 ? " such as [0, 1]" : "";
}

int ga__value_numbers(ga__reading *r, const ga__tree *tree, int n, const char *unit, const char *what,
                      double *out)
{
  int ok = 1;
  if (tree->kind != GA__TREE_LIST) {
    ga__say_as(r->messages, GA_MESSAGE_ERROR, tree->at, GA_REASON_WRONG_FORM, NULL,
               "%s: expected a list of %d number%s%s, found %s", what, n, n == 1 ? "" : "s",
               list_example(n, unit), kind_text(tree));
    return 0;
  }
  if (tree->n != n) {
    const int blanks =
        tree->n == 1 && tree->child[0]->kind == GA__TREE_SCALAR && strchr(tree->child[0]->text, ' ');
    ga__say_as(r->messages, GA_MESSAGE_ERROR, tree->at, GA_REASON_WRONG_FORM, NULL,
               "%s: expected a list of %d number%s, found one of %d%s", what, n, n == 1 ? "" : "s", tree->n,
               blanks ? "; commas stand between them" : "");
    return 0;
  }
  for (int i = 0; i < n; i++) ok &= ga__value_number(r, tree->child[i], unit, what, &out[i]);
  return ok;
}

int ga__value_int(ga__reading *r, const ga__tree *tree, long low, long high, const char *what, long *out)
{
  double value;
  char piece[GA_TEXT_PIECE];
  if (!ga__value_number(r, tree, "1", what, &value)) return 0;
  if (value != floor(value) || !(fabs(value) < 9e15)) {
    ga__say(r->messages, GA_MESSAGE_ERROR, tree->at, "%s: '%s' is %.15g, expected a whole number", what,
            quote(piece, tree->text), value);
    return 0;
  }
  if (value < (double)low || value > (double)high) {
    ga__say(r->messages, GA_MESSAGE_ERROR, tree->at, "%s: '%s' is out of range, expected %ld to %ld", what,
            quote(piece, tree->text), low, high);
    return 0;
  }
  *out = (long)value;
  return 1;
}

/* ---- Texts ---- */

int ga__value_text(ga__reading *r, const ga__tree *tree, const char *what, const char **out)
{
  if (!expect_scalar(r, tree, what, "a text")) return 0;
  if (!tree->text[0]) {
    ga__say(r->messages, GA_MESSAGE_ERROR, tree->at, "%s: there is nothing, expected a text", what);
    return 0;
  }
  *out = tree->text;
  return 1;
}

int ga__value_unit(ga__reading *r, const ga__tree *tree, const char *what, const char **out)
{
  ga_text_error error = {.column = 0};
  ga_dimension ignored;
  if (!ga__value_text(r, tree, what, out)) return 0;
  const ga_status status = ga_unit_parse(r->ctx, *out, NULL, &ignored, &error);
  if (status == GA_ERR_MEMORY) r->failed = 1;
  if (status) report_text(r, tree, &error, what, NULL);
  return !status;
}

static const char *name_at(const void *names, int i)
{
  return ((const char *const *)names)[i];
}

void ga__nearest_name(char nearest[GA_TEXT_PIECE], const char *word, int n, const char *const *names)
{
  const size_t bytes = strlen(word);
  nearest[0] = '\0';
  if (bytes < GA_TEXT_PIECE) ga__name_nearest(nearest, word, (int)bytes, name_at, names, n);
}

/* "expected a, b or c"; and where one is similar, or is called otherwise elsewhere, "did you mean 'a'?" */
static void write_choice(ga__writer *w, const char *word, int n, const char *const *names, const char *lead)
{
  enum { MOST_LISTED = 24 };
  char nearest[GA_TEXT_PIECE] = "";
  const ga__hint *hint = ga__hint_find(word, n, names);
  if (!hint) ga__nearest_name(nearest, word, n, names);
  if (hint && !hint->note_only) snprintf(nearest, sizeof nearest, "%s", hint->meant);
  if (n > 0 && !hint && (n <= MOST_LISTED || !nearest[0])) {
    ga__write(w, "%s", lead);
    for (int i = 0; i < n && i < MOST_LISTED; i++) {
      ga__write(w, "%s%s", i == 0 ? "" : i == n - 1 ? " or " : ", ", names[i]);
    }
    if (n > MOST_LISTED) ga__write(w, ", ...");
  }
  if (nearest[0]) ga__write(w, "; did you mean '%s'?", nearest);
  if (hint && hint->note) ga__write(w, "%s %s", nearest[0] ? "" : ".", hint->note);
}

int ga__value_choice(ga__reading *r, const ga__tree *tree, int n, const char *const *names, const char *what,
                     int *out)
{
  char problem[PROBLEM], piece[GA_TEXT_PIECE];
  if (!expect_scalar(r, tree, what, "one of several names")) return 0;
  for (int i = 0; i < n; i++) {
    if (strcmp(tree->text, names[i]) != 0) continue;
    *out = i;
    return 1;
  }
  ga__writer w = {problem, sizeof problem, 0};
  if (tree->text[0]) {
    ga__write(&w, "'%s' is unknown", quote(piece, tree->text));
  } else {
    ga__write(&w, "there is nothing");
  }
  write_choice(&w, tree->text, n, names, ", expected ");
  ga__say_as(r->messages, GA_MESSAGE_ERROR, tree->at, GA_REASON_UNKNOWN_CHOICE, tree->text, "%s: %s", what,
             problem);
  return 0;
}

int ga__value_bool(ga__reading *r, const ga__tree *tree, const char *what, int *out)
{
  static const char *const names[] = {"true", "false", "yes", "no"};
  int choice;
  if (!ga__value_choice(r, tree, 4, names, what, &choice)) return 0;
  *out = choice % 2 == 0;
  return 1;
}

/* ---- Formulas ---- */

/* Every digit of a number; what is no digit, sign or exponent is the decimal mark of the locale. */
static void write_number(ga__writer *w, double value)
{
  char text[64];
  int n = 0;
  snprintf(text, sizeof text, "%.*g", DBL_DECIMAL_DIG, value);
  for (int i = 0; text[i]; i++) {
    const int plain = ga__is_digit(text[i]) || strchr("+-e", text[i]);
    if (plain || (n > 0 && text[n - 1] != '.')) text[n++] = plain ? text[i] : '.';
  }
  text[n] = '\0';
  ga__write(w, signbit(value) ? "(%s)" : "%s", text);
}

/* Writes a text with numbers in place of names. 0: a parameter is wrong. */
static int write_formula(ga__reading *r, const ga__tree *tree, ga__writer *w)
{
  const char *text = tree->text;
  int at = 0, from = 0, bytes, ok = 1;
  for (; (bytes = ga__name_next(text, &at)) > 0; at += bytes, from = at) {
    ga__number value;
    const ga__lookup found = ga__parameter_find(r, tree->scope, text + at, (size_t)bytes, &value, NULL);
    if (found == GA__WRONG_NAME) ok = 0;
    ga__write(w, "%.*s", at - from, text + from);
    if (found == GA__KNOWN_NAME) {
      write_number(w, value.value);
    } else {
      ga__write(w, "%.*s", bytes, text + at);
    }
  }
  ga__write(w, "%s", text + from);
  return ok;
}

int ga__value_formula(ga__reading *r, const ga__tree *tree, const char *what, const char **out)
{
  ga__writer count = {0};
  if (!ga__value_text(r, tree, what, out)) return 0;
  if (strlen(tree->text) > GA_EXPR_LENGTH) {
    ga__say(r->messages, GA_MESSAGE_ERROR, tree->at, "%s: the expression has %zu bytes, more than %d", what,
            strlen(tree->text), GA_EXPR_LENGTH);
    return 0;
  }
  if (!write_formula(r, tree, &count)) return 0;
  ga__writer w = {ga__pool_take(r->pool, count.used + 1), count.used + 1, 0};
  if (!w.text) {
    r->failed = 1;
    return 0;
  }
  write_formula(r, tree, &w);
  *out = w.text;
  return 1;
}

/* ---- Maps and lists ---- */

ga__tree *ga__map_get(ga__tree *map, const char *key)
{
  for (int i = 0; map && map->kind == GA__TREE_MAP && i < map->n; i++) {
    if (strcmp(map->child[i]->key, key) != 0) continue;
    map->child[i]->used = 1;
    return map->child[i];
  }
  return NULL;
}

const ga__tree *ga__map_peek(const ga__tree *map, const char *key)
{
  for (int i = 0; map->kind == GA__TREE_MAP && i < map->n; i++)
    if (strcmp(map->child[i]->key, key) == 0) return map->child[i];
  return NULL;
}

int ga__expect_map(ga__reading *r, const ga__tree *tree, const char *what)
{
  if (tree->kind == GA__TREE_MAP) return 1;
  ga__say_as(r->messages, GA_MESSAGE_ERROR, tree->at, GA_REASON_WRONG_FORM, NULL,
             "%s: expected a map (key: value), found %s", what, kind_text(tree));
  return 0;
}

int ga__expect_list(ga__reading *r, const ga__tree *tree, const char *what)
{
  if (tree->kind == GA__TREE_LIST) return 1;
  ga__say_as(r->messages, GA_MESSAGE_ERROR, tree->at, GA_REASON_WRONG_FORM, NULL,
             "%s: expected a list, found %s", what, kind_text(tree));
  return 0;
}

static int is_nothing(const ga__tree *tree)
{
  return tree->kind == GA__TREE_SCALAR && !tree->text[0] && !tree->quoted;
}

void ga__unknown_keys(ga__reading *r, const ga__tree *map, int n, const char *const *known, const char *what)
{
  for (int i = 0; map->kind == GA__TREE_MAP && i < map->n; i++) {
    const ga__tree *child = map->child[i];
    char problem[PROBLEM], piece[GA_TEXT_PIECE];
    ga__writer w = {problem, sizeof problem, 0};
    if (child->used) continue;
    ga__write(&w, "the key '%s' is unknown", quote(piece, child->key));
    if (ga__is_digit(child->key[0]) && is_nothing(child)) /* {mass: 0,8 kg} */
      ga__write(&w, "; the decimal mark is a point");
    else if (strchr(child->key, ':') && is_nothing(child)) /* {mass:2 kg} */
      ga__write(&w, "; behind the colon of a key there has to be a blank");
    else
      write_choice(&w, child->key, n, known, ", expected ");
    ga__say_as(r->messages, GA_MESSAGE_ERROR, child->key_at, GA_REASON_UNKNOWN_KEY, child->key, "%s: %s",
               what, problem);
  }
}
