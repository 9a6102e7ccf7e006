/* Expressions of signals and parameters, and inputs that are numbers, functions or expressions. */
#include "model/inputs.h"
#include "model/hints.h"
#include "model/sections.h"

#include "mbs/name.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int ga__check_syntax(ga__reader *reader, const ga__tree *tree)
{
  const char *text = tree->text;
  const int n_functions = reader->functions.names.n;
  const size_t length = strlen(text), most = 1 + length / 2 + (size_t)n_functions;
  ga_symbol *symbols = ga__room(reader, most, sizeof *symbols), *calls;
  char *names = ga__room(reader, length + 1, 1);
  int n = 0, n_calls;
  if (!symbols || !names || !ga__read_calls(reader, tree, &n_calls, &calls)) return 0;
  memcpy(names, text, length);
  for (int at = 0, bytes; (bytes = ga__name_next(text, &at)) > 0; at += bytes) {
    int known = 0;
    names[at + bytes] = '\0';
    for (int i = 0; i < n; i++) known |= strcmp(symbols[i].name, names + at) == 0;
    if (!known) symbols[n] = (ga_symbol){.name = names + at, .kind = GA_SYMBOL_VARIABLE, .index = n}, n++;
  }
  for (int i = 0; i < n_functions; i++) {
    const ga__named *f = &reader->functions.list[i];
    if (f->function || f->definition) symbols[n++] = ga__function_symbol(f);
  }
  ga_text_error error = {.column = 0};
  ga_expr *expr = NULL;
  const ga_status status = ga_expr_compile(reader->r->ctx, text, symbols, n, &error, &expr);
  ga_expr_destroy(&expr);
  if (status == GA_ERR_MEMORY)
    reader->r->failed = 1;
  else if (status && !ga__may_be_elsewhere(reader->r, &error))
    ga__report_found(reader->r->messages, ga__value_place(tree, error.column), &reader->r->ctx->error);
  return !status;
}

static int is_one_of(int n, const char *const *names, const char *name, size_t bytes)
{
  for (int i = 0; i < n; i++)
    if (strlen(names[i]) == bytes && strncmp(names[i], name, bytes) == 0) return 1;
  return 0;
}

static const char *parameter_at(const void *r, int i)
{
  return ga__parameter_name(r, i);
}

/* The nearest part, with the given channel: "shaft.angle" for "shat.angle"; or the nearest parameter. */
static void find_nearest(char nearest[2 * GA_TEXT_PIECE], const ga__reader *reader, const char *name,
                         int bytes)
{
  int head = 0;
  while (head < bytes && name[head] != '.') head++;
  ga__names_nearest(nearest, reader->r->messages, &reader->parts.names, name, (size_t)bytes);
  if (!nearest[0] && head < bytes) {
    ga__names_nearest(nearest, reader->r->messages, &reader->parts.names, name, (size_t)head);
    if (nearest[0]) snprintf(nearest + strlen(nearest), GA_TEXT_PIECE, "%.*s", bytes - head, name + head);
  }
  if (!nearest[0] && ga__messages_may_search(reader->r->messages, ga__parameter_count(reader->r)))
    ga__name_nearest(nearest, name, bytes, parameter_at, reader->r, ga__parameter_count(reader->r));
}

void ga__report_no_argument(ga__reader *reader, ga__place at, const char *function)
{
  char detail[GA_TEXT_PIECE + 32], expected[GA_TEXT_PIECE + 32];
  snprintf(detail, sizeof detail, "'%s' is a function", function);
  snprintf(expected, sizeof expected, "its argument, as in %s(t)", function);
  ga__report_error(reader->r->messages, at, GA_REASON_FUNCTION_AS_VALUE,
                   &(ga__facts){.name = function, .detail = detail, .expected = expected});
}

/* 1: the name is a signal, a parameter or a constant, and not two of them. */
static int check_name(ga__reader *reader, const ga__tree *tree, int at, int bytes, int n_local,
                      const char *const *local)
{
  static const char *const numbers[] = {"pi", "e"};
  /* of no part; the machine says where they may be used */
  static const char *const energies[] = {"energy.kinetic", "energy.potential", "energy.dissipated",
                                         "energy.input", "energy.balance"};
  const char *name = tree->text + at;
  char quoted[GA_TEXT_PIECE];
  const ga__place place = ga__value_place(tree, ga__text_column(tree->text, at));
  const int is_local = is_one_of(n_local, local, name, (size_t)bytes);
  ga__named *part = is_local ? NULL : ga__directory_head(&reader->parts, name, (size_t)bytes);
  ga__number number;
  const ga__lookup lookup = ga__parameter_find(reader->r, tree->scope, name, (size_t)bytes, &number, NULL);
  if (part) part->used = 1;
  ga__name_quote(quoted, name, bytes);
  if (lookup != GA__UNKNOWN_NAME && (part || is_local)) {
    ga__report_error(reader->r->messages, place, GA_REASON_AMBIGUOUS_NAME,
                     &(ga__facts){.name = quoted, .other = part ? "a signal" : "a variable"});
    return 0;
  }
  if (lookup != GA__UNKNOWN_NAME || part || is_local || is_one_of(2, numbers, name, (size_t)bytes) ||
      is_one_of(5, energies, name, (size_t)bytes))
    return 1;
  char nearest[2 * GA_TEXT_PIECE];
  const ga__hint *hint = ga__hint_find(quoted, n_local, local);
  if (hint)
    snprintf(nearest, sizeof nearest, "%s", hint->meant);
  else
    find_nearest(nearest, reader, name, bytes);
  if (ga__directory_find(&reader->functions, name, (size_t)bytes)) {
    ga__report_no_argument(reader, place, quoted);
    return 0;
  }
  if (reader->r->incomplete) return 0;
  ga__report_error(reader->r->messages, place, GA_REASON_UNKNOWN_REFERENCE,
                   &(ga__facts){.other = "signal or parameter", .name = quoted, .nearest = nearest});
  return 0;
}

int ga__read_expression(ga__reader *reader, const ga__tree *tree, int n_local, const char *const *local,
                        const char **text)
{
  const char *given;
  if (!ga__value_text(reader->r, tree, &given) || !ga__check_syntax(reader, tree)) return 0;
  int good = 1;
  for (int at = 0, bytes; (bytes = ga__name_next(given, &at)) > 0; at += bytes)
    good &= check_name(reader, tree, at, bytes, n_local, local);
  return good && ga__value_formula(reader->r, tree, text);
}

int ga__is_number(ga__reader *reader, const ga__tree *tree)
{
  const char *text = tree->text;
  double value;
  if (tree->kind != GA__TREE_SCALAR || ga__calls_function(reader, text)) return 0;
  if (!ga_quantity_parse(reader->r->ctx, text, NULL, &value, NULL, NULL)) return 1;
  for (int at = 0, bytes; (bytes = ga__name_next(text, &at)) > 0; at += bytes) {
    ga__number number;
    const int alone = bytes == 1 && text[at] == 'e', pi = bytes == 2 && strncmp(text + at, "pi", 2) == 0;
    if (ga__parameter_find(reader->r, tree->scope, text + at, (size_t)bytes, &number, NULL) !=
            GA__UNKNOWN_NAME ||
        ((alone || pi) && !ga__directory_find(&reader->parts, text + at, (size_t)bytes)))
      continue;
    /* "12 nm" is a number with an unknown unit, not an expression of a signal as "12 + nm" */
    char *end;
    strtod(text, &end);
    return end > text && end + strspn(end, " \t") == text + at;
  }
  return 1;
}

/* Parts whose name is a signal too. */
static int is_signal(const ga__named *part)
{
  return part->kind == GA__PART_SCALAR || part->kind == GA__PART_BLOCK || part->kind == GA__PART_VARIABLE ||
         part->kind == GA__PART_SIGNAL;
}

/* 1: the parameter has the name of such a part, so it is ambiguous. */
static int may_be_signal(const ga__reader *reader, const ga__tree *tree)
{
  if (tree->kind != GA__TREE_SCALAR) return 0;
  for (int at = 0, bytes; (bytes = ga__name_next(tree->text, &at)) > 0; at += bytes) {
    const ga__named *part = ga__directory_find(&reader->parts, tree->text + at, (size_t)bytes);
    if (part && is_signal(part)) return 1;
  }
  return 0;
}

static int read_input_map(ga__reader *reader, ga__tree *tree, const char *unit, ga_input *input)
{
  static const char *const keys[] = {"value", "function", "expression"}, *const local[] = {"t"};
  ga__tree *value = ga__map_get(tree, keys[0]), *function = ga__map_get(tree, keys[1]),
           *expression = ga__map_get(tree, keys[2]);
  int good = 1;
  if (value) good &= ga__value_number(reader->r, value, unit, &input->value);
  if (function) good &= ga__read_function(reader, function, unit, &input->function);
  if (expression) good &= ga__read_expression(reader, expression, 1, local, &input->expression);
  ga__unknown_keys(reader->r, tree, 3, keys);
  return good;
}

int ga__refuse_tonnes(ga__reader *reader, const ga__tree *tree)
{
  char *end;
  if (tree->kind != GA__TREE_SCALAR || (strtod(tree->text, &end), end == tree->text)) return 0;
  for (int at = (int)(end - tree->text), bytes; (bytes = ga__name_next(tree->text, &at)) > 0; at += bytes) {
    if (bytes != 1 || tree->text[at] != 't' || tree->text[at - 1] == '[') continue;
    if (ga_quantity_parse(reader->r->ctx, tree->text, NULL, &(double){0}, NULL, NULL)) return 0;
    ga__report_error(reader->r->messages, ga__value_place(tree, ga__text_column(tree->text, at)),
                     GA_REASON_TONNE_OR_TIME, &(ga__facts){.name = "t", .within = tree->text});
    return 1;
  }
  return 0;
}

int ga__read_input(ga__reader *reader, ga__tree *tree, const char *unit, ga_input *input)
{
  static const char *const local[] = {"t"};
  if (tree->kind == GA__TREE_MAP) return read_input_map(reader, tree, unit, input);
  if (ga__refuse_tonnes(reader, tree)) return 0;
  if (tree->kind == GA__TREE_LIST || (ga__is_number(reader, tree) && !may_be_signal(reader, tree)))
    return ga__value_number(reader->r, tree, unit, &input->value);
  return ga__read_expression(reader, tree, 1, local, &input->expression);
}
