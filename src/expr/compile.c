/* Compiler of expressions: scanner, precedence-climbing parser, names. */
#include "base/base_impl.h"
#include "expr/along.h"
#include "expr/definition.h"
#include "expr/function.h"
#include "expr/program.h"
#include "expr/unit.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef enum token_kind {
  TOKEN_END,
  TOKEN_NUMBER,
  TOKEN_NAME,
  TOKEN_MARK, /* an operator, a parenthesis, a comma, a bracket */
  TOKEN_ALIEN /* an unknown character */
} token_kind;

typedef struct token {
  token_kind kind;
  int start, bytes;
} token;

typedef struct parser {
  ga__source source;
  const char *text;
  const ga_symbol *symbols;
  int n_symbols;
  token now;      /* not yet consumed */
  int end;        /* end of the last consumed token */
  int nesting;    /* depth of nested operands */
  int waiting;    /* values on the stack at this point of the program */
  int depth;      /* see ga_expr */
  ga__instr *out; /* one per byte of text is enough, but for definitions */
  int n_out, room;
} parser;

static const char expected_operand[] = "a number, a name or '('";
static const char expected_operator[] = "an operator or the end";

/* ---- Scanner ---- */

static int name_length(const char *text)
{
  int n = 0;
  if (!ga__is_letter(text[0])) return 0;
  while (ga__is_letter(text[n]) || ga__is_digit(text[n]) || (text[n] == '.' && ga__is_letter(text[n + 1]))) {
    n++;
  }
  return n;
}

/* Length of the longest operator that begins here, or of a mark ( ) , [ ]. */
static int mark_length(const char *text)
{
  int longest = text[0] && strchr("(),[]", text[0]) ? 1 : 0;
  for (int i = 0; i < ga__n_ops; i++) {
    const int n = (int)strlen(ga__ops[i].name);
    if (ga__ops[i].binding > 0 && n > longest && strncmp(text, ga__ops[i].name, (size_t)n) == 0) longest = n;
  }
  return longest;
}

/* The bytes of the first character. */
static int character_length(const char *text)
{
  int n = 1;
  while (ga__columns(text + n, 1) == 0 && text[n]) n++;
  return n;
}

static void advance(parser *p)
{
  const int at = ga__skip_space(p->text, p->now.start + p->now.bytes);
  const char *text = p->text + at;
  int bytes = 0;
  p->end = p->now.start + p->now.bytes;
  if (!text[0]) {
    p->now = (token){TOKEN_END, at, 0};
  } else if ((bytes = ga__number_length(text)) > 0) {
    p->now = (token){TOKEN_NUMBER, at, bytes};
  } else if ((bytes = name_length(text)) > 0) {
    p->now = (token){TOKEN_NAME, at, bytes};
  } else if ((bytes = mark_length(text)) > 0) {
    p->now = (token){TOKEN_MARK, at, bytes};
  } else {
    p->now = (token){TOKEN_ALIEN, at, character_length(text)};
  }
}

static int token_is(const parser *p, const token *t, const char *text)
{
  return t->kind != TOKEN_END && (size_t)t->bytes == strlen(text) &&
         memcmp(p->text + t->start, text, (size_t)t->bytes) == 0;
}

static int next_is(const parser *p, const char *mark)
{
  return p->now.kind == TOKEN_MARK && token_is(p, &p->now, mark);
}

/* Whether the token is a unit, or a product of units, behind a number. */
static int is_unit_of_number(const parser *p, const token *t)
{
  const ga__source source = {NULL, "unit", p->text, NULL};
  ga__unit unit;
  int at = t->start;
  return t->kind == TOKEN_NAME && p->end > 0 && ga__is_digit(p->text[p->end - 1]) &&
         !ga__unit_read(&unit, &source, &at);
}

/* Whether the text before the token ends with this word. */
static int is_after_word(const parser *p, const char *word)
{
  const int n = (int)strlen(word), from = p->end - n;
  return from >= 0 && strncmp(p->text + from, word, (size_t)n) == 0 &&
         (from == 0 || !ga__is_letter(word[0]) || !ga__is_letter(p->text[from - 1]));
}

/* For spellings of other languages: the spelling of this one; "": unknown. */
static void find_other_spelling(const parser *p, const token *t, char use[GA_TEXT_PIECE])
{
  static const char choice[] = "if(condition, then, else)";
  static const struct {
    const char *found, *use;
  } habits[] = {{"=", "=="},  {"&", "&&"},      {"|", "||"},     {"?", choice}, {"%", "mod(a, b)"},
                {"“", "\""},  {"”", "\""},      {"„", "\""},     {"’", "'"},    {"−", "-"},
                {"–", "-"},   {"×", "*"},       {"·", "*"},      {"÷", "/"},    {"²", "^2"},
                {"³", "^3"},  {"√", "sqrt"},    {"and", "&&"},   {"AND", "&&"}, {"or", "||"},
                {"OR", "||"}, {"then", choice}, {"else", choice}};
  const int known = t->kind == TOKEN_ALIEN || t->kind == TOKEN_NAME;
  use[0] = '\0';
  for (size_t i = 0; i < sizeof habits / sizeof habits[0]; i++)
    if (known && token_is(p, t, habits[i].found)) snprintf(use, GA_TEXT_PIECE, "%s", habits[i].use);
  if (t->kind == TOKEN_MARK && token_is(p, t, "*") && is_after_word(p, "*"))
    snprintf(use, GA_TEXT_PIECE, "^");
  else if (is_after_word(p, "if"))
    snprintf(use, GA_TEXT_PIECE, "%s", choice);
  else if (!use[0] && is_unit_of_number(p, t) && t->bytes < GA_TEXT_PIECE - 3)
    snprintf(use, GA_TEXT_PIECE, "[%.*s]", t->bytes, p->text + t->start);
}

/* Reports an unexpected token. */
static ga_status unexpected(parser *p, const char *expected)
{
  const token t = p->now;
  char found[GA_TEXT_PIECE], use[GA_TEXT_PIECE];
  if (t.kind == TOKEN_END) {
    return ga__text_fail(&p->source, t.start, 0, expected, NULL, "the text ends too early");
  }
  find_other_spelling(p, &t, use);
  ga__copy_piece(found, sizeof found, p->text + t.start, (size_t)t.bytes);
  return ga__text_fail(&p->source, t.start, t.bytes, expected, use,
                       t.kind == TOKEN_ALIEN ? "'%s' has no meaning" : "'%s' is out of place", found);
}

/* ---- Program ---- */

/* Appends an instruction for the text from start to the last consumed token; grow: values that it adds to
 * the stack. */
static ga_status take_room(parser *p, int start)
{
  ga_context *ctx = p->source.ctx;
  if (p->room >= GA_EXPR_INSTRUCTIONS)
    return ga__text_fail(&p->source, start, p->end - start, NULL, NULL,
                         "more than %d operations, with those of the functions that are called",
                         GA_EXPR_INSTRUCTIONS);
  ga__instr *more = ga__alloc(ctx, 2 * (size_t)p->room, sizeof *more);
  if (!more) return ga__no_memory(ctx, "compiling an expression");
  memcpy(more, p->out, (size_t)p->n_out * sizeof *more);
  ga__free(ctx, p->out);
  p->out = more;
  p->room *= 2;
  return GA_OK;
}

static ga_status emit(parser *p, ga__instr instr, int start, int grow)
{
  const ga_status status = p->n_out < p->room ? GA_OK : take_room(p, start);
  if (status) return status;
  p->waiting += grow;
  if (p->waiting > GA_EXPR_DEPTH) {
    return ga__text_fail(&p->source, start, p->end - start, NULL, NULL,
                         "more than %d values wait for each other here; split the expression", GA_EXPR_DEPTH);
  }
  instr.start = start;
  instr.bytes = p->end - start;
  p->out[p->n_out++] = instr;
  return GA_OK;
}

static ga_status emit_op(parser *p, const ga__op *op, int start)
{
  return emit(p, (ga__instr){.code = GA__APPLY, .use.op = op}, start, 1 - op->arity);
}

/* ---- Names ---- */

static const ga__op *find_op(const parser *p, const token *t, int arity, int operators)
{
  for (int i = 0; i < ga__n_ops; i++) {
    const ga__op *op = &ga__ops[i];
    if ((op->binding > 0) == operators && (arity < 0 || op->arity == arity) && token_is(p, t, op->name)) {
      return op;
    }
  }
  return NULL;
}

static int is_callable(const ga_symbol *symbol)
{
  return symbol->kind == GA_SYMBOL_FUNCTION || symbol->kind == GA_SYMBOL_TABLE2D ||
         symbol->kind == GA_SYMBOL_DEFINITION;
}

/* The symbol of that name; NULL: none. Two of one name are an error. A value and a function may share a
 * name, since a call has parentheses; a symbol of the other sort is returned only if there is no other. */
static ga_status find_symbol(parser *p, const token *t, int call, const ga_symbol **found)
{
  const ga_symbol *other = NULL;
  *found = NULL;
  for (int i = 0; i < p->n_symbols; i++) {
    if (!p->symbols[i].name || !token_is(p, t, p->symbols[i].name)) continue;
    if (is_callable(&p->symbols[i]) != call) {
      other = &p->symbols[i];
      continue;
    }
    if (*found) {
      return ga__text_fail(&p->source, t->start, t->bytes, NULL, NULL, "the name '%s' is defined twice",
                           p->symbols[i].name);
    }
    *found = &p->symbols[i];
  }
  if (!*found) *found = other;
  return GA_OK;
}

static const ga_symbol built_in[] = {{"pi", GA_SYMBOL_CONSTANT, 0, GA__PI, NULL, NULL, NULL},
                                     {"e", GA_SYMBOL_CONSTANT, 0, GA__E, NULL, NULL, NULL}};
enum { N_BUILT_IN = sizeof built_in / sizeof built_in[0] };

/* Functions that have another name in other languages. */
static const char *find_function(const parser *p, const token *t)
{
  static const struct {
    const char *found, *use;
  } others[] = {{"ln", "log"},         {"arcsin", "asin"}, {"arccos", "acos"}, {"arctan", "atan"},
                {"arctan2", "atan2"},  {"fabs", "abs"},    {"ABS", "abs"},     {"sgn", "sign"},
                {"signum", "sign"},    {"fmod", "mod"},    {"rem", "mod"},     {"power", "pow"},
                {"heaviside", "step"}, {"trunc", "floor"}, {"int", "floor"},   {"round", "floor"},
                {"ceiling", "ceil"},   {"iif", "if"},      {"IF", "if"},       {"where", "if"},
                {"HAVSIN", "step5"}};
  for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
    if (token_is(p, t, others[i].found)) return others[i].use;
  return NULL;
}

static ga_status unknown_name(parser *p, const token *t, int call)
{
  ga__nearest nearest = {.word = p->text + t->start, .bytes = t->bytes};
  const char *other = call ? find_function(p, t) : NULL;
  for (int i = 0; i < p->n_symbols; i++) {
    if (p->symbols[i].name && is_callable(&p->symbols[i]) == call) {
      ga__nearest_try(&nearest, p->symbols[i].name);
    }
  }
  for (int i = 0; i < N_BUILT_IN && !call; i++) ga__nearest_try(&nearest, built_in[i].name);
  for (int i = 0; i < ga__n_ops && call; i++) {
    if (ga__ops[i].binding == 0) ga__nearest_try(&nearest, ga__ops[i].name);
  }
  return ga__text_unknown(&p->source, t->start, t->bytes,
                          call ? GA_REASON_UNKNOWN_FUNCTION : GA_REASON_UNKNOWN_NAME,
                          other ? other : nearest.name);
}

/* ---- Parser ---- */

static ga_status parse(parser *p, int least_binding);

/* Base and rate, behind a number that moves. */
static ga_status parse_moving(parser *p, double number, int start)
{
  double x[2];
  for (int i = 0; i < 2; i++) {
    if (p->text[p->now.start] != GA__MARK) return unexpected(p, expected_operator);
    const int at = p->now.start + 1, sign = p->text[at] == '-';
    const int bytes = ga__number_length(p->text + at + sign);
    if (bytes == 0) return unexpected(p, expected_operator);
    const ga_status status = ga__read_number(&x[i], &p->source, at + sign, bytes);
    if (status) return status;
    if (sign) x[i] = -x[i];
    p->now = (token){TOKEN_NUMBER, at, sign + bytes};
    advance(p);
  }
  const ga__instr instr = {.code = GA__MOVING, .number = number, .use.rate = x[1], .base = x[0]};
  return emit(p, instr, start, 1);
}

static ga_status parse_number(parser *p)
{
  const token t = p->now;
  double value;
  ga_status status = ga__read_number(&value, &p->source, t.start, t.bytes);
  if (status) return status;
  advance(p);
  if (p->text[p->now.start] == GA__MARK) return parse_moving(p, value, t.start);
  if (next_is(p, "[")) {
    ga__unit unit;
    int at = p->now.start + 1;
    status = ga__unit_read(&unit, &p->source, &at);
    if (status) return status;
    p->now = (token){TOKEN_MARK, at, 0};
    advance(p);
    if (!next_is(p, "]")) return unexpected(p, "']' after the unit");
    value = ga__unit_apply(&unit, value);
    advance(p);
    if (!isfinite(value)) {
      return ga__text_fail(&p->source, t.start, p->end - t.start, NULL, NULL,
                           "the number is too large in SI units");
    }
  }
  return emit(p, (ga__instr){.code = GA__NUMBER, .number = value}, t.start, 1);
}

static ga_status parse_value(parser *p, const token *t)
{
  const ga_symbol *symbol;
  ga__instr instr = {.code = GA__NUMBER};
  ga_status status = find_symbol(p, t, 0, &symbol);
  if (status) return status;
  for (int i = 0; i < N_BUILT_IN && !symbol; i++) {
    if (token_is(p, t, built_in[i].name)) symbol = &built_in[i];
  }
  if (!symbol && !find_op(p, t, -1, 0)) return unknown_name(p, t, 0);
  if (!symbol || is_callable(symbol)) {
    return ga__text_function(&p->source, t->start, t->bytes, p->now.start);
  }
  if (symbol->kind == GA_SYMBOL_VARIABLE) instr.code = GA__VARIABLE;
  if (symbol->kind == GA_SYMBOL_PARAMETER) instr.code = GA__PARAMETER;
  instr.index = symbol->index;
  instr.number = symbol->value;
  return emit(p, instr, t->start, 1);
}

/* if(c, a, b):  c  UNLESS L1  a  JUMP L2  L1: b  L2:  */
static ga_status parse_if_argument(parser *p, int i, int start, int *unless, int *jump)
{
  ga_status status = GA_OK;
  if (i == 1) {
    *unless = p->n_out;
    status = emit(p, (ga__instr){.code = GA__UNLESS}, start, -1);
  } else if (i == 2) {
    *jump = p->n_out;
    status = emit(p, (ga__instr){.code = GA__JUMP}, start,
                  -1); /* the value a is not on the stack in the other branch */
    p->out[*unless].index = p->n_out;
  }
  return status ? status : parse(p, 0);
}

static ga_status never_closed(parser *p, int open)
{
  return ga__text_fail(&p->source, p->now.start, 0, "')'", NULL,
                       "the parenthesis opened in column %d is never closed", ga__columns(p->text, open) + 1);
}

/* From the opening to the closing parenthesis; functions that fold are applied as soon as two arguments
 * have been read. */
static ga_status parse_arguments(parser *p, int start, const ga__op *op, int *n)
{
  const int open = p->now.start;
  const int lazy = op && !op->rule;
  int unless = 0, jump = 0;
  ga_status status = GA_OK;
  *n = 0;
  advance(p);
  while (!(*n == 0 && next_is(p, ")"))) {
    /* More than three arguments of if are an error; they are read to be counted. */
    status = lazy && *n < 3 ? parse_if_argument(p, *n, start, &unless, &jump) : parse(p, 0);
    if (status) return status;
    ++*n;
    if (op && op->folds && *n >= op->arity) status = emit_op(p, op, start);
    if (status) return status;
    if (!next_is(p, ",")) break;
    advance(p);
  }
  if (!next_is(p, ")")) {
    return p->now.kind == TOKEN_END ? never_closed(p, open) : unexpected(p, "an operator, ',' or ')'");
  }
  advance(p);
  if (lazy && *n == 3) p->out[jump].index = p->n_out;
  return GA_OK;
}

/* "takes 2 or 5 arguments, 3 given": lists the arities of all rows of this name. */
static ga_status wrong_count(parser *p, const token *t, int start, int given, int fixed)
{
  char takes[GA_TEXT_PIECE], name[GA_TEXT_PIECE];
  int used = 0;
  if (fixed > 0) used = snprintf(takes, sizeof takes, "%d", fixed);
  for (int i = 0; i < ga__n_ops && fixed <= 0; i++) {
    const ga__op *op = &ga__ops[i];
    if (op->binding > 0 || !token_is(p, t, op->name)) continue;
    used += snprintf(takes + used, sizeof takes - (size_t)used, "%s%d%s", used ? " or " : "", op->arity,
                     op->folds ? " or more" : "");
  }
  const char *plural = strcmp(takes, "1") == 0 ? "" : "s";
  ga__copy_piece(name, sizeof name, p->text + t->start, (size_t)t->bytes);
  char expected[2 * GA_TEXT_PIECE];
  snprintf(expected, sizeof expected, "%s argument%s", takes, plural);
  return ga__text_fail(&p->source, start, p->end - start, expected, NULL, "'%s' is given %d argument%s", name,
                       given, given == 1 ? "" : "s");
}

/* Values that an instruction adds to the stack; of a jump as in the branch that follows it. */
static int growth(const ga__instr *instr)
{
  switch (instr->code) {
  case GA__NUMBER:
  case GA__VARIABLE:
  case GA__MOVING:
  case GA__PARAMETER:
  case GA__PICK:
    return 1;
  case GA__SLIDE:
    return -instr->index;
  case GA__APPLY:
  case GA__FUNCTION:
  case GA__TABLE2D:
    return 1 - ga__arity(instr);
  default:
    return -1;
  }
}

/* Copies a program of a definition, whose variables are on the stack from `base` on. */
static ga_status emit_program(parser *p, const ga_expr *e, int base, int start)
{
  const int first = p->n_out, bottom = p->waiting;
  ga_status status = GA_OK;
  if (e->depth - 1 > p->depth) p->depth = e->depth - 1;
  for (int i = 0; !status && i < e->n_instr; i++) {
    ga__instr instr = e->program[i];
    if (instr.code == GA__PICK) instr.index += bottom;
    if (instr.code >= GA__JUMP) instr.index += first;
    if (instr.code == GA__VARIABLE) instr = (ga__instr){.code = GA__PICK, .index = base + instr.index};
    status = emit(p, instr, start, growth(&instr));
  }
  return status;
}

/* Its arguments are on the stack; local values follow, then the value, which replaces all of them. */
static ga_status emit_definition(parser *p, const ga_definition *d, int start)
{
  const int base = p->waiting - d->n_args, below = d->n_args + d->n_locals;
  ga_status status = GA_OK;
  for (int k = 0; !status && k <= d->n_locals; k++) status = emit_program(p, d->step[k], base, start);
  return status ? status : emit(p, (ga__instr){.code = GA__SLIDE, .index = below}, start, -below);
}

static ga_status emit_symbol_call(parser *p, const ga_symbol *symbol, const token *t, int n)
{
  const int wanted = symbol->kind == GA_SYMBOL_FUNCTION     ? 1
                     : symbol->kind == GA_SYMBOL_DEFINITION ? symbol->definition->n_args
                                                            : 2;
  if (n != wanted) return wrong_count(p, t, t->start, n, wanted);
  if (symbol->kind == GA_SYMBOL_DEFINITION) return emit_definition(p, symbol->definition, t->start);
  if (symbol->kind == GA_SYMBOL_TABLE2D) {
    return emit(p, (ga__instr){.code = GA__TABLE2D, .use.table2d = symbol->table2d}, t->start, -1);
  }
  if (symbol->function->depth > p->depth) p->depth = symbol->function->depth;
  return emit(p, (ga__instr){.code = GA__FUNCTION, .use.function = symbol->function}, t->start, 0);
}

static ga_status parse_call(parser *p, const token *t)
{
  const ga_symbol *symbol;
  int n;
  const ga__op *op = NULL;
  ga_status status = find_symbol(p, t, 1, &symbol);
  if (status) return status;
  if (symbol && !is_callable(symbol))
    symbol = NULL; /* a variable does not hide a function of the same name */
  if (!symbol && !(op = find_op(p, t, -1, 0))) return unknown_name(p, t, 1);
  status = parse_arguments(p, t->start, op, &n);
  if (status) return status;
  if (symbol) return emit_symbol_call(p, symbol, t, n);
  if (op->folds) return n >= op->arity ? GA_OK : wrong_count(p, t, t->start, n, 0);
  op = find_op(p, t, n, 0);
  if (!op) return wrong_count(p, t, t->start, n, 0);
  return op->rule ? emit_op(p, op, t->start) : GA_OK;
}

static ga_status parse_parenthesis(parser *p)
{
  const int start = p->now.start;
  advance(p);
  ga_status status = parse(p, 0);
  if (status) return status;
  if (!next_is(p, ")")) {
    if (p->now.kind != TOKEN_END) return unexpected(p, "an operator or ')'");
    return never_closed(p, start);
  }
  advance(p);
  return GA_OK;
}

static ga_status parse_nested_operand(parser *p)
{
  const token t = p->now;
  const ga__op *prefix;
  if (t.kind == TOKEN_NUMBER) return parse_number(p);
  if (t.kind == TOKEN_NAME) {
    advance(p);
    return next_is(p, "(") ? parse_call(p, &t) : parse_value(p, &t);
  }
  if (next_is(p, "(")) return parse_parenthesis(p);
  if (t.kind == TOKEN_MARK && (prefix = find_op(p, &t, 1, 1)) != NULL) {
    advance(p);
    ga_status status = parse(p, prefix->binding);
    return status ? status : emit_op(p, prefix, t.start);
  }
  return unexpected(p, expected_operand);
}

static ga_status parse_operand(parser *p)
{
  if (++p->nesting > GA_EXPR_DEPTH) {
    return ga__text_fail(&p->source, p->now.start, p->now.bytes, NULL, NULL,
                         "nested deeper than %d levels; split the expression", GA_EXPR_DEPTH);
  }
  ga_status status = parse_nested_operand(p);
  p->nesting--;
  return status;
}

/* Right operand and instruction of an operator already consumed. a && b: a AND L b TRUTH L: */
static ga_status parse_right(parser *p, const ga__op *op, int start)
{
  const int right_first = op->binding == GA__BIND_POWER;
  const int lazy = p->n_out;
  ga_status status = GA_OK;
  if (!op->rule) {
    status = emit(p, (ga__instr){.code = op->binding == GA__BIND_AND ? GA__AND : GA__OR}, start, -1);
    if (status) return status;
  }
  status = parse(p, right_first ? op->binding : op->binding + 1);
  if (status) return status;
  if (op->rule) return emit_op(p, op, start);
  status = emit_op(p, &ga__op_truth, start);
  p->out[lazy].index = p->n_out;
  return status;
}

/* Parses everything that binds at least as strongly as least_binding. */
static ga_status parse(parser *p, int least_binding)
{
  const int start = p->now.start;
  ga_status status = parse_operand(p);
  int compared = 0;
  while (!status && p->now.kind == TOKEN_MARK) {
    const token t = p->now;
    const ga__op *op = find_op(p, &t, 2, 1);
    if (!op || op->binding < least_binding) break;
    if (compared && op->binding == GA__BIND_COMPARE) {
      return ga__text_fail(&p->source, t.start, t.bytes, "&& or ||, as in a < b && b < c", NULL,
                           "comparisons do not chain");
    }
    compared = op->binding == GA__BIND_COMPARE;
    advance(p);
    status = parse_right(p, op, start);
  }
  return status;
}

static ga_status parse_all(parser *p)
{
  const token first = {TOKEN_END, 0, 0};
  p->now = first;
  advance(p);
  if (p->now.kind == TOKEN_END) {
    return ga__text_fail(&p->source, 0, 0, expected_operand, NULL, "there is nothing to compute");
  }
  ga_status status = parse(p, 0);
  if (!status && p->now.kind != TOKEN_END) status = unexpected(p, expected_operator);
  return status;
}

/* ---- The object ---- */

/* Inserts index into the ascending list[0..n-1] without duplicates; returns the new length. */
static int insert(int *list, int n, int index)
{
  int at = n;
  while (at > 0 && list[at - 1] > index) at--;
  if (at > 0 && list[at - 1] == index) return n;
  memmove(list + at + 1, list + at, (size_t)(n - at) * sizeof *list);
  list[at] = index;
  return n + 1;
}

static ga_status finish(const parser *p, ga_context *ctx, ga_expr **out)
{
  const size_t length = strlen(p->text), n = (size_t)p->n_out;
  ga_expr *e = ga__alloc(ctx, 1, sizeof *e);
  if (!e) return ga__no_memory(ctx, "an expression");
  e->ctx = ctx;
  e->text = ga__alloc(ctx, length + 1, 1);
  e->program = ga__alloc(ctx, n, sizeof *e->program);
  e->variable = ga__alloc(ctx, n, sizeof *e->variable);
  if (!e->text || !e->program || !e->variable) {
    ga_expr_destroy(&e);
    return ga__no_memory(ctx, "an expression");
  }
  memcpy(e->text, p->text, length);
  memcpy(e->program, p->out, n * sizeof *e->program);
  e->n_instr = p->n_out;
  e->depth = p->depth + 1;
  e->along = ga__expr_bends(e);
  for (int i = 0; i < e->n_instr; i++) {
    const ga__instr *instr = &e->program[i];
    if (instr->code == GA__VARIABLE) e->n_variables = insert(e->variable, e->n_variables, instr->index);
  }
  *out = e;
  return GA_OK;
}

/* Checks symbol i; messages use its index if it has no name. */
static ga_status check_symbol(ga_context *ctx, const ga_symbol *s, int i)
{
  const int is_slot = s->kind == GA_SYMBOL_VARIABLE || s->kind == GA_SYMBOL_PARAMETER;
  const int is_value = s->kind == GA_SYMBOL_CONSTANT || s->kind == GA_SYMBOL_PARAMETER;
  char number[16];
  snprintf(number, sizeof number, "%d", i);
  ga__facts facts = {.kind = "symbol", .part = s->name ? s->name : number};
  ga_reason reason = GA_REASON_NULL_ARGUMENT;
  if (!s->name) facts.field = "name";
  if (s->kind == GA_SYMBOL_FUNCTION && !s->function) facts.field = "function";
  if (s->kind == GA_SYMBOL_TABLE2D && !s->table2d) facts.field = "table2d";
  if (s->kind == GA_SYMBOL_DEFINITION && !s->definition) facts.field = "definition";
  if (is_slot && s->index < 0) {
    reason = GA_REASON_OUT_OF_RANGE, facts.field = "index", facts.expected = "at least 0";
    facts.number[facts.n_numbers++].value = s->index;
  } else if (is_value && !isfinite(s->value)) {
    reason = GA_REASON_NOT_FINITE, facts.field = "value";
    facts.number[facts.n_numbers++].value = s->value;
  } else if ((unsigned)s->kind > GA_SYMBOL_DEFINITION) {
    reason = GA_REASON_NOT_A_CHOICE, facts.field = "kind", facts.expected = "ga_symbol_kind";
    facts.number[facts.n_numbers++].value = (int)s->kind;
    facts.number[facts.n_numbers++].value = GA_SYMBOL_DEFINITION;
  }
  return facts.field ? ga__refuse(ctx, GA_ERR_ARGUMENT, reason, &facts) : GA_OK;
}

static ga_status check_symbols(ga_context *ctx, const ga_symbol *symbols, int n)
{
  if (n < 0) return ga__refuse_number(ctx, "expression", "n_symbols", n, "at least 0");
  if (n > 0 && !symbols) return ga__refuse_missing(ctx, "expression", "n_symbols", n, "symbols");
  ga_status status = GA_OK;
  for (int i = 0; !status && i < n; i++) status = check_symbol(ctx, &symbols[i], i);
  return status;
}

ga_status ga_expr_compile(ga_context *ctx, const char *text, const ga_symbol *symbols, int n_symbols,
                          ga_text_error *error, ga_expr **out)
{
  if (error) *error = (ga_text_error){0};
  if (out) *out = NULL;
  if (!ctx) return GA_ERR_ARGUMENT;
  if (!out || !text) return ga__refuse_null(ctx, __func__, text ? "out" : "text");
  ga_status status = check_symbols(ctx, symbols, n_symbols);
  if (status) return status;
  parser p = {
      .source = {ctx, "expression", text, error}, .text = text, .symbols = symbols, .n_symbols = n_symbols};
  if ((status = ga__text_check_length(&p.source))) return status;
  p.room = (int)strlen(text) + 1;
  p.out = ga__alloc(ctx, (size_t)p.room, sizeof *p.out);
  if (!p.out) return ga__no_memory(ctx, "compiling an expression");
  status = parse_all(&p);
  if (!status && p.depth >= GA_FUNCTION_DEPTH) {
    status = ga__refuse(ctx, GA_ERR_ARGUMENT, GA_REASON_TOO_MANY,
                        &(ga__facts){.kind = "expression",
                                     .part = text,
                                     .field = "levels of functions within functions",
                                     GA__NUMBERS({p.depth + 1, NULL}, {GA_FUNCTION_DEPTH, NULL})});
  }
  if (!status) status = finish(&p, ctx, out);
  ga__free(ctx, p.out);
  return status;
}

void ga_expr_destroy(ga_expr **e)
{
  if (!e || !*e) return;
  ga_context *ctx = (*e)->ctx;
  ga__free(ctx, (*e)->variable);
  ga__free(ctx, (*e)->program);
  ga__free(ctx, (*e)->text);
  ga__free(ctx, *e);
  *e = NULL;
}

const char *ga_expr_text(const ga_expr *e)
{
  if (!e) return "";
  return e->text;
}

int ga_expr_variables(const ga_expr *e, const int **list)
{
  if (list) *list = NULL;
  if (!e) return 0;
  if (list) *list = e->variable;
  return e->n_variables;
}

int ga_expr_uses(const ga_expr *e, ga_symbol_kind kind, int index)
{
  if (!e) return 0;
  const ga__code code = kind == GA_SYMBOL_PARAMETER ? GA__PARAMETER : GA__VARIABLE;
  if (kind != GA_SYMBOL_PARAMETER && kind != GA_SYMBOL_VARIABLE) return 0;
  for (int i = 0; i < e->n_instr; i++) {
    if (e->program[i].code == code && e->program[i].index == index) return 1;
  }
  return 0;
}

ga_status ga_expr_set_parameter(ga_expr *e, int slot, double value)
{
  if (!e) return GA_ERR_ARGUMENT;
  if (!isfinite(value)) {
    return ga__refuse(e->ctx, GA_ERR_ARGUMENT, GA_REASON_NOT_FINITE,
                      &(ga__facts){.kind = "expression",
                                   .part = e->text,
                                   .field = "parameter",
                                   .item = slot + 1,
                                   GA__NUMBERS({value, NULL})});
  }
  for (int i = 0; i < e->n_instr; i++) {
    if (e->program[i].code == GA__PARAMETER && e->program[i].index == slot) e->program[i].number = value;
  }
  return GA_OK;
}
