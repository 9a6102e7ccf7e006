/* From scalars to values. Texts are classified first, so that messages fit: "12 mmm" is a quantity with an
 * unknown unit, "2*L" an expression. */
#include "model/parameters.h"
#include "model/dimension.h"
#include "model/hints.h"

#include "base/base_impl.h"
#include "expr/along.h"
#include "expr/fault.h"
#include "expr/text.h"
#include "mbs/name.h"
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

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
  if (classify(tree->text) == IS_EMPTY) return "nothing";
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

/* Reports what was expected instead of this value; returns 0. */
static int report_form(ga__reading *r, const ga__tree *tree, const char *expected)
{
  ga__report_error(r->messages, tree->at, GA_REASON_WRONG_FORM,
                   &(ga__facts){.expected = expected, .name = kind_text(tree)});
  return 0;
}

/* 1: a scalar; else what was expected of it is reported. */
static int expect_scalar(ga__reading *r, const ga__tree *tree, const char *expected)
{
  return tree->kind == GA__TREE_SCALAR || report_form(r, tree, expected);
}

/* ---- Numbers ---- */

/* 1: .inf, -inf, nan, Infinity and the like. */
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

/* Reports the context's last error about a text. The text is left out if the message quotes it already. */
static void report_text(ga__reading *r, const ga__tree *tree, const ga_text_error *found)
{
  char quoted[GA_TEXT_PIECE];
  const char *text = tree->text + ga__skip_space(tree->text, 0);
  ga_error error = r->ctx->error;
  const int whole = error.reason == GA_REASON_WRONG_DIMENSION ||
                    error.reason == GA_REASON_FUNCTION_AS_VALUE ||
                    (error.reason != GA_REASON_SYNTAX && strcmp(found->found, quote(quoted, text)) == 0);
  ga__cut_text(error.within, sizeof error.within, whole ? "" : quote(quoted, text));
  error.other[0] = '\0'; /* the message has a place instead */
  error.column = 0;
  ga__report_found(r->messages, ga__value_place(tree, found->column), &error);
}

/* A more specific reason why a text is no quantity; GA_REASON_NONE: none. */
static ga_reason find_cause(ga__reading *r, const ga__tree *tree, const ga_text_error *error)
{
  ga__number other;
  if (error->reason == GA_REASON_UNKNOWN_UNIT &&
      ga__parameter_find(r, tree->scope, error->found, strlen(error->found), &other, NULL) == GA__KNOWN_NAME)
    return GA_REASON_PARAMETER_AS_UNIT;
  const int adds = error->found[0] && strchr("+-*", error->found[0]) && strncmp(error->found, "**", 2) != 0;
  return adds ? GA_REASON_UNIT_OUTSIDE_BRACKETS : GA_REASON_NONE;
}

static void report_cause(ga__reading *r, const ga__tree *tree, const ga_text_error *error, ga_reason cause)
{
  char quoted[GA_TEXT_PIECE];
  ga__report_error(r->messages, ga__value_place(tree, error->column), cause,
                   &(ga__facts){.name = error->found,
                                .within = quote(quoted, tree->text + ga__skip_space(tree->text, 0))});
}

static int read_quantity(ga__reading *r, const ga__tree *tree, const char *unit, ga__number *out)
{
  ga_text_error error;
  const ga_status status = ga_quantity_parse(r->ctx, tree->text, unit, &out->value, &out->dimension, &error);
  out->has_dimension = 1;
  if (status == GA_OK) return 1;
  const ga_error found = r->ctx->error; /* computing a parameter may overwrite it */
  const ga_reason cause = find_cause(r, tree, &error);
  r->ctx->error = found;
  if (cause)
    report_cause(r, tree, &error, cause);
  else
    report_text(r, tree, &error);
  return 0;
}

/* ---- Expressions ---- */

/* Names of a text with their values. Those that move along the line are variables. */
typedef struct symbols {
  ga_symbol *at;
  int n;
  ga__course *course; /* [n_moving] NULL: the model itself is read */
  double *x;          /* [n_moving] their values, and room for ga__line_expression() */
  int n_moving;
  int unknown; /* 1: a name is unknown */
  int wrong;   /* 1: a name has no value, which was reported */
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

static void release(ga__reading *r, symbols *s)
{
  ga__free(r->ctx, s->at);
  ga__free(r->ctx, s->course);
  ga__free(r->ctx, s->x);
}

static int make_room(ga__reading *r, size_t n, symbols *s)
{
  s->at = ga__alloc(r->ctx, n, sizeof *s->at);
  if (r->line) s->course = ga__alloc(r->ctx, n, sizeof *s->course);
  if (r->line) s->x = ga__alloc(r->ctx, 3 * n, sizeof *s->x);
  if (!s->at || (r->line && (!s->course || !s->x))) r->failed = 1;
  return !r->failed;
}

static void add_symbol(symbols *s, const char *name, const ga__number *number)
{
  ga_symbol *new = &s->at[s->n++];
  *new = (ga_symbol){.name = name, .kind = GA_SYMBOL_CONSTANT, .value = number->value};
  if (!number->course.moves) return;
  *new = (ga_symbol){.name = name, .kind = GA_SYMBOL_VARIABLE, .index = s->n_moving};
  s->course[s->n_moving] = number->course;
  s->x[s->n_moving++] = number->value;
}

/* Only the names that occur, so that the cost does not grow with the number of parameters. */
static int gather(ga__reading *r, const ga__tree *tree, symbols *s)
{
  const char *text = tree->text;
  int at = 0, bytes;
  if (!make_room(r, (size_t)count_names(text), s)) return 0;
  for (; (bytes = ga__name_next(text, &at)) > 0; at += bytes) {
    ga__number value;
    const char *name;
    const ga__lookup found = ga__parameter_find(r, tree->scope, text + at, (size_t)bytes, &value, &name);
    if (found == GA__WRONG_NAME) s->wrong = 1;
    if (found == GA__UNKNOWN_NAME && !is_built_in(text + at, bytes)) s->unknown = 1;
    if (found == GA__UNKNOWN_NAME || has_symbol(s, name)) continue;
    if (found != GA__KNOWN_NAME) value = (ga__number){0};
    add_symbol(s, name, &value);
  }
  return 1;
}

/* All existing names, without values, so that the compiler can suggest the nearest. */
static int gather_all(ga__reading *r, const ga__tree *tree, symbols *s)
{
  int n = ga__parameter_count(r);
  for (const ga__scope *scope = tree->scope; scope; scope = scope->outer) n++;
  release(r, s);
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

/* 1: a number with a decimal comma, "1,5". */
static int is_decimal_comma(const char *text, const ga_text_error *error)
{
  return error->found[0] == ',' && ga__number_length(text + ga__skip_space(text, 0)) > 0;
}

int ga__may_be_elsewhere(const ga__reading *r, const ga_text_error *error)
{
  return r->incomplete &&
         (error->reason == GA_REASON_UNKNOWN_NAME || error->reason == GA_REASON_UNKNOWN_FUNCTION);
}

static int compute(ga__reading *r, const ga__tree *tree, const symbols *s, ga__number *out)
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
    if (is_decimal_comma(tree->text, &error))
      report_cause(r, tree, &error, GA_REASON_DECIMAL_COMMA);
    else if (!ga__may_be_elsewhere(r, &error))
      report_text(r, tree, &error);
    return 0;
  }
  const int n = s->n_moving;
  const int ok = (n > 0 ? ga__line_expression(r->line, e, n, s->x, s->course, s->x + n, &out->value,
                                              &out->course, &fault)
                        : ga_expr_eval(e, NULL, &out->value, &fault)) == GA_OK;
  if (!ok) {
    char problem[GA_ERROR_TEXT], quoted[GA_TEXT_PIECE];
    ga__fault_say(problem, sizeof problem, &fault);
    const char *text = tree->text + ga__skip_space(tree->text, 0);
    const int whole = (size_t)fault.bytes == strlen(text); /* the problem quotes it */
    ga__report_error(r->messages, ga__value_place(tree, fault.column), GA_REASON_UNDEFINED,
                     &(ga__facts){.name = whole ? NULL : quote(quoted, text), .detail = problem});
  }
  ga_expr_destroy(&e);
  return ok;
}

static int check_dimension(ga__reading *r, const ga__tree *tree, const char *unit, const ga__number *number)
{
  ga_dimension wanted;
  char is[2 * GA_TEXT_PIECE], expected[2 * GA_TEXT_PIECE], piece[GA_TEXT_PIECE], detail[4 * GA_TEXT_PIECE];
  if (!unit || !number->has_dimension) return 1;
  if (ga_unit_parse(r->ctx, unit, NULL, &wanted, NULL)) return 1;
  if (memcmp(wanted.power, number->dimension.power, sizeof wanted.power) == 0) return 1;
  ga_dimension_text(is, sizeof is, &number->dimension);
  ga_dimension_text(expected, sizeof expected, &wanted);
  snprintf(detail, sizeof detail, "'%s' is %s", quote(piece, tree->text), is);
  ga__report_error(r->messages, tree->at, GA_REASON_WRONG_DIMENSION,
                   &(ga__facts){.name = piece, .detail = detail, .expected = expected});
  return 0;
}

/* Warns of a probable error in dimension: a plain number in a product may have any, but a small whole one
 * rarely does. */
static void suspect_dimension(ga__reading *r, const ga__tree *tree, const char *unit,
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
  ga__report_warning(r->messages, tree->at, GA_REASON_DOUBTFUL_DIMENSION,
                     &(ga__facts){.name = quote(piece, tree->text), .other = is, .expected = expected});
}

static int read_dimension(ga__reading *r, const ga__tree *tree, const char *unit, ga__number *out)
{
  char first[2 * GA_TEXT_PIECE], second[2 * GA_TEXT_PIECE], piece[GA_TEXT_PIECE];
  ga_dimension dimension = {{0}}, other = {{0}};
  switch (ga__dimension_of(r, tree, &dimension, &other)) {
  case GA__DIMENSION_KNOWN:
    out->dimension = dimension;
    out->has_dimension = 1;
    return check_dimension(r, tree, unit, out);
  case GA__DIMENSION_LIKELY:
    suspect_dimension(r, tree, unit, &dimension);
    return 1;
  case GA__DIMENSION_MIXED:
    ga_dimension_text(first, sizeof first, &dimension);
    ga_dimension_text(second, sizeof second, &other);
    ga__report_error(r->messages, tree->at, GA_REASON_SUM_OF_DIMENSIONS,
                     &(ga__facts){.name = quote(piece, tree->text), .other = first, .detail = second});
    return 0;
  default:
    return 1;
  }
}

static int read_expression(ga__reading *r, const ga__tree *tree, const char *unit, ga__number *out)
{
  symbols s = {0};
  int ok = strlen(tree->text) > GA_EXPR_LENGTH || gather(r, tree, &s);
  if (ok && s.wrong && !s.unknown) ok = 0; /* reported where the parameter stands */
  if (ok && s.unknown && ga__messages_may_search(r->messages, ga__parameter_count(r)))
    ok = gather_all(r, tree, &s);
  if (ok) ok = compute(r, tree, &s, out);
  release(r, &s);
  if (!ok) return 0;
  return read_dimension(r, tree, unit, out);
}

/* Reports a value that is no number; expected is "a length (m)" or the like. */
static int report_no_number(ga__reading *r, const ga__tree *tree, const char *unit)
{
  char expected[2 * GA_TEXT_PIECE] = "a number", piece[GA_TEXT_PIECE];
  ga_dimension dimension;
  if (unit && ga_unit_parse(r->ctx, unit, NULL, &dimension, NULL) == GA_OK)
    ga_dimension_text(expected, sizeof expected, &dimension);
  if (tree->kind != GA__TREE_SCALAR || classify(tree->text) == IS_EMPTY)
    return report_form(r, tree, expected);
  ga__report_error(r->messages, tree->at, GA_REASON_VALUE_NOT_FINITE,
                   &(ga__facts){.name = quote(piece, tree->text), .expected = expected});
  return 0;
}

int ga__value_with_unit(ga__reading *r, const ga__tree *tree, const char *unit, ga__number *out)
{
  *out = (ga__number){0};
  if (tree->kind != GA__TREE_SCALAR || is_not_finite(tree->text)) return report_no_number(r, tree, unit);
  switch (classify(tree->text)) {
  case IS_EMPTY:
    return report_no_number(r, tree, unit);
  case IS_NUMBER: {
    const int ok = read_quantity(r, tree, NULL, out);
    out->has_dimension = 0;
    return ok;
  }
  case IS_QUANTITY:
    return read_quantity(r, tree, unit, out);
  default:
    return read_expression(r, tree, unit, out);
  }
}

static int is_place(const char *unit)
{
  static const char *const units[] = {"m", "rad", "m/s", "rad/s"};
  for (size_t i = 0; unit && i < sizeof units / sizeof units[0]; i++)
    if (strcmp(unit, units[i]) == 0) return 1;
  return 0;
}

ga__line_values ga__value_choose(ga__reading *r, ga__line_values values)
{
  const ga__line_values outer = r->values;
  r->values = values;
  return outer;
}

double ga__value_along(const ga__reading *r, const ga__number *number, const char *unit)
{
  const ga__line_values places = is_place(unit) ? GA__ON_CURVE : GA__ON_LINE,
                        which = r->values == GA__PLACES_ON_CURVE ? places : r->values;
  return ga__line_value(r->line, which, number->value, &number->course);
}

int ga__value_number(ga__reading *r, const ga__tree *tree, const char *unit, double *out)
{
  ga__number number;
  if (!ga__value_with_unit(r, tree, unit, &number)) return 0;
  *out = ga__value_along(r, &number, unit);
  return 1;
}

/* "a list of 3 numbers", with an example where that is short. */
static const char *list_text(char text[GA_ERROR_NAME], int n, const char *unit, int with_example)
{
  const char *example = n == 3 && unit && strcmp(unit, "m/s^2") == 0 ? " such as [0, 0, -9.81]"
                        : n == 3                                     ? " such as [0, 0, 1]"
                        : n == 2                                     ? " such as [0, 1]"
                                                                     : "";
  snprintf(text, GA_ERROR_NAME, "a list of %d number%s%s", n, n == 1 ? "" : "s", with_example ? example : "");
  return text;
}

int ga__value_numbers(ga__reading *r, const ga__tree *tree, int n, const char *unit, double *out)
{
  char expected[GA_ERROR_NAME];
  int ok = 1;
  if (tree->kind != GA__TREE_LIST) return report_form(r, tree, list_text(expected, n, unit, 1));
  if (tree->n != n) {
    const int blanks =
        tree->n == 1 && tree->child[0]->kind == GA__TREE_SCALAR && strchr(tree->child[0]->text, ' ');
    return ga__report_count(r, tree, list_text(expected, n, unit, 0), tree->n,
                            blanks ? "commas stand between them" : NULL);
  }
  for (int i = 0; i < n; i++) ok &= ga__value_number(r, tree->child[i], unit, &out[i]);
  return ok;
}

int ga__report_count(ga__reading *r, const ga__tree *tree, const char *expected, int n, const char *detail)
{
  ga__report_error(r->messages, tree->at, GA_REASON_WRONG_COUNT,
                   &(ga__facts){.expected = expected, GA__NUMBERS({n, NULL}), .detail = detail});
  return 0;
}

int ga__report_range(ga__reading *r, const ga__tree *tree, double value, const char *unit,
                     const char *expected)
{
  ga__report_error(r->messages, tree->at, GA_REASON_OUT_OF_RANGE,
                   &(ga__facts){GA__NUMBERS({value, unit}), .expected = expected});
  return 0;
}

int ga__value_int(ga__reading *r, const ga__tree *tree, long low, long high, long *out)
{
  double value;
  char piece[GA_TEXT_PIECE];
  if (!ga__value_number(r, tree, "1", &value)) return 0;
  if (value != floor(value) || !(fabs(value) < 9e15)) {
    ga__report_error(r->messages, tree->at, GA_REASON_NOT_WHOLE,
                     &(ga__facts){.name = quote(piece, tree->text), GA__NUMBERS({value, NULL})});
    return 0;
  }
  if (value < (double)low || value > (double)high) {
    char expected[GA_TEXT_PIECE];
    snprintf(expected, sizeof expected, low == high ? "%ld" : "from %ld to %ld", low, high);
    return ga__report_range(r, tree, value, NULL, expected);
  }
  *out = (long)value;
  return 1;
}

/* ---- Texts ---- */

int ga__value_text(ga__reading *r, const ga__tree *tree, const char **out)
{
  if (!expect_scalar(r, tree, "a text")) return 0;
  if (!tree->text[0]) return report_form(r, tree, "a text");
  *out = tree->text;
  return 1;
}

int ga__value_unit(ga__reading *r, const ga__tree *tree, const char **out)
{
  ga_text_error error = {.column = 0};
  ga_dimension ignored;
  if (!ga__value_text(r, tree, out)) return 0;
  const ga_status status = ga_unit_parse(r->ctx, *out, NULL, &ignored, &error);
  if (status == GA_ERR_MEMORY) r->failed = 1;
  if (status) report_text(r, tree, &error);
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

/* "a, b or c"; "" where there are too many. */
static void list_names(char list[GA_ERROR_TEXT], int n, const char *const *names, int most)
{
  ga__writer w = {list, GA_ERROR_TEXT, 0};
  list[0] = '\0';
  for (int i = 0; i < n && i < most; i++)
    ga__write(&w, "%s%s", i == 0 ? "" : i == n - 1 ? " or " : ", ", names[i]);
  if (n > most && most > 0) ga__write(&w, ", ...");
}

/* Reports an unknown word: lists the n names, and suggests a similar one or the one that other programs call
 * so. */
static void report_unknown(ga__reading *r, ga__place at, ga_reason reason, const char *word, int n,
                           const char *const *names)
{
  enum { MOST_LISTED = 24 };
  char nearest[GA_TEXT_PIECE] = "", list[GA_ERROR_TEXT] = "", piece[GA_TEXT_PIECE];
  const ga__hint *hint = ga__hint_find(word, n, names);
  quote(piece, word);
  if (hint && hint->note_only) {
    ga__report_error(r->messages, at, GA_REASON_FOREIGN_WORD,
                     &(ga__facts){.name = piece, .detail = hint->note});
    return;
  }
  if (hint)
    snprintf(nearest, sizeof nearest, "%s", hint->meant);
  else
    ga__nearest_name(nearest, word, n, names);
  if (!hint && (n <= MOST_LISTED || !nearest[0])) list_names(list, n, names, MOST_LISTED);
  ga__report_error(
      r->messages, at, reason,
      &(ga__facts){.name = piece, .detail = list, .nearest = nearest, .other = hint ? hint->note : NULL});
}

int ga__value_choice(ga__reading *r, const ga__tree *tree, int n, const char *const *names, int *out)
{
  char list[GA_ERROR_TEXT];
  if (!expect_scalar(r, tree, "one of several names")) return 0;
  for (int i = 0; i < n; i++) {
    if (strcmp(tree->text, names[i]) != 0) continue;
    *out = i;
    return 1;
  }
  if (tree->text[0]) {
    report_unknown(r, tree->at, GA_REASON_UNKNOWN_CHOICE, tree->text, n, names);
    return 0;
  }
  list_names(list, n, names, n);
  return report_form(r, tree, list);
}

int ga__value_bool(ga__reading *r, const ga__tree *tree, int *out)
{
  static const char *const names[] = {"true", "false", "yes", "no"};
  int choice;
  if (!ga__value_choice(r, tree, 4, names, &choice)) return 0;
  *out = choice % 2 == 0;
  return 1;
}

/* ---- Formulas ---- */

/* Writes all digits of a number, with a point instead of the locale's decimal mark. */
static void write_digits(ga__writer *w, double value)
{
  char text[64];
  int n = 0;
  snprintf(text, sizeof text, "%.*g", DBL_DECIMAL_DIG, value);
  for (int i = 0; text[i]; i++) {
    const int plain = ga__is_digit(text[i]) || strchr("+-e", text[i]);
    if (plain || (n > 0 && text[n - 1] != '.')) text[n++] = plain ? text[i] : '.';
  }
  text[n] = '\0';
  ga__write(w, "%s", text);
}

/* Writes what stands for a parameter: its number, and along a line how it moves (along.h). */
static void write_value(const ga__reading *r, const ga__number *number, int with_rate, ga__writer *w)
{
  const double value = ga__value_along(r, number, NULL), slope = number->course.slope;
  const int negative = signbit(value) != 0;
  ga__write(w, negative ? "(-" : "");
  write_digits(w, fabs(value));
  if (with_rate && number->course.moves && !isnan(slope)) {
    const double sign = negative ? -1.0 : 1.0;
    ga__write(w, "%c", GA__MARK);
    write_digits(w, sign * number->value);
    ga__write(w, "%c", GA__MARK);
    write_digits(w, sign * r->line->by[r->line->k] * slope);
  }
  ga__write(w, negative ? ")" : "");
}

/* Writes a text with numbers in place of names. 0: a parameter is wrong. */
static int write_formula(ga__reading *r, const ga__tree *tree, int with_rates, ga__writer *w)
{
  const char *text = tree->text;
  int at = 0, from = 0, bytes, ok = 1;
  for (; (bytes = ga__name_next(text, &at)) > 0; at += bytes, from = at) {
    ga__number value;
    const ga__lookup found = ga__parameter_find(r, tree->scope, text + at, (size_t)bytes, &value, NULL);
    if (found == GA__WRONG_NAME) ok = 0;
    ga__write(w, "%.*s", at - from, text + from);
    if (found == GA__KNOWN_NAME) {
      write_value(r, &value, with_rates, w);
    } else {
      ga__write(w, "%.*s", bytes, text + at);
    }
  }
  ga__write(w, "%s", text + from);
  return ok;
}

int ga__value_formula(ga__reading *r, const ga__tree *tree, const char **out)
{
  ga__writer count = {0};
  if (!ga__value_text(r, tree, out)) return 0;
  if (strlen(tree->text) > GA_EXPR_LENGTH) {
    ga__report_error(r->messages, tree->at, GA_REASON_LIMIT_EXCEEDED,
                     &(ga__facts){.name = "bytes in an expression", GA__NUMBERS({GA_EXPR_LENGTH, NULL})});
    return 0;
  }
  int with_rates = r->line != NULL;
  if (!write_formula(r, tree, with_rates, &count)) return 0;
  if (with_rates && count.used > GA_EXPR_LENGTH) {
    with_rates = 0;
    count.used = 0;
    write_formula(r, tree, with_rates, &count);
  }
  ga__writer w = {ga__pool_take(r->pool, count.used + 1), count.used + 1, 0};
  if (!w.text) {
    r->failed = 1;
    return 0;
  }
  write_formula(r, tree, with_rates, &w);
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

/* 1: a text such as type:planar, in which the blank after the colon is missing. */
static int has_glued_colon(const ga__tree *tree)
{
  if (tree->kind != GA__TREE_SCALAR || tree->quoted) return 0;
  const int bytes = ga__name_length(tree->text);
  return bytes > 0 && tree->text[bytes] == ':' && tree->text[bytes + 1];
}

int ga__expect_map(ga__reading *r, const ga__tree *tree)
{
  char piece[GA_TEXT_PIECE];
  if (tree->kind == GA__TREE_MAP) return 1;
  if (!has_glued_colon(tree)) return report_form(r, tree, "a map (key: value)");
  ga__report_error(r->messages, tree->at, GA_REASON_NO_BLANK_AFTER_COLON,
                   &(ga__facts){.name = quote(piece, tree->text)});
  return 0;
}

int ga__report_glued_key(ga__reading *r, const ga__tree *map, const char *key)
{
  char piece[GA_TEXT_PIECE];
  const size_t length = strlen(key);
  for (int i = 0; map->kind == GA__TREE_MAP && i < map->n; i++) {
    const ga__tree *child = map->child[i];
    if (strncmp(child->key, key, length) != 0 || child->key[length] != ':') continue;
    ga__report_error(r->messages, child->key_at, GA_REASON_NO_BLANK_AFTER_COLON,
                     &(ga__facts){.name = quote(piece, child->key)});
    return 1;
  }
  return 0;
}

int ga__expect_list(ga__reading *r, const ga__tree *tree)
{
  return ga__expect_list_of(r, tree, "a list");
}

int ga__expect_list_of(ga__reading *r, const ga__tree *tree, const char *expected)
{
  return tree->kind == GA__TREE_LIST || report_form(r, tree, expected);
}

static int is_nothing(const ga__tree *tree)
{
  return tree->kind == GA__TREE_SCALAR && !tree->text[0] && !tree->quoted;
}

void ga__unknown_keys(ga__reading *r, const ga__tree *map, int n, const char *const *known)
{
  for (int i = 0; map->kind == GA__TREE_MAP && i < map->n; i++) {
    const ga__tree *child = map->child[i];
    char piece[GA_TEXT_PIECE];
    if (child->used) continue;
    if (ga__is_digit(child->key[0]) && is_nothing(child)) /* {mass: 0,8 kg} */
      ga__report_error(r->messages, child->key_at, GA_REASON_DECIMAL_COMMA,
                       &(ga__facts){.name = quote(piece, child->key)});
    else if (strchr(child->key, ':') && is_nothing(child)) /* {mass:2 kg} */
      ga__report_error(r->messages, child->key_at, GA_REASON_NO_BLANK_AFTER_COLON,
                       &(ga__facts){.name = quote(piece, child->key)});
    else
      report_unknown(r, child->key_at, GA_REASON_UNKNOWN_KEY, child->key, n, known);
  }
}
