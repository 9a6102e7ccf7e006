/* Functions of one variable, called t in their texts: named ones, and those in place. Functions of several
 * arguments have a name always. */
#include "model/csv_file.h"
#include "model/format.h"
#include "model/inputs.h"
#include "model/sections.h"

#include "expr/function.h"
#include "mbs/name.h"
#include <stdio.h>
#include <string.h>

typedef enum function_state { UNREAD = 0, BEING_READ, READ, BROKEN } function_state;

/* Options of any kind of function. */
typedef union any_opts {
  struct {
    double value;
  } constant;
  ga_table_opts table;
  ga_table2d_opts grid;
  ga_motion_opts motion;
  ga_wave_opts wave;
} any_opts;

typedef struct function_kind {
  const char *type, *about;
  const ga__field *fields;
  int n_fields;
  const ga__extra *extra;
  int n_extra;
  void (*defaults)(void *base);
  ga_status (*create)(ga_context *ctx, const any_opts *opts, ga_function **out); /* NULL: of texts */
} function_kind;

/* ---- The table ---- */

#define ONE(type, member) .name = #member, .offset = offsetof(type, member), .count = 1
#define NAMES_OF(list) .choices = (list), .n_choices = (int)(sizeof(list) / sizeof((list)[0]))
#define SIZE_OF(list) (int)(sizeof(list) / sizeof((list)[0]))

const char *const ga__interpolation_names[GA__N_INTERPOLATIONS] = {"linear", "monotone", "spline"};
const char *const ga__extrapolation_names[GA__N_EXTRAPOLATIONS] = {"hold", "linear", "error"};
static const char *const motion_names[] = {
#define MOTION_NAME(value, text, continuous) text,
    GA_MOTION_LIST(MOTION_NAME)
#undef MOTION_NAME
};

static const ga__field constant_fields[] = {
    {.name = "value", .count = 1, .rule = GA__RULE_NUMBER, .about = "the value"}};

static const ga__field table_fields[] = {
    {ONE(ga_table_opts, x), .rule = GA__RULE_LIST, .rows = GA__AT_INT(ga_table_opts, n),
     .about = "points, ascending"},
    {ONE(ga_table_opts, y), .rule = GA__RULE_LIST, .rows = GA__AT_INT(ga_table_opts, n),
     .about = "values at the points"},
    {ONE(ga_table_opts, interpolation), .rule = GA__RULE_CHOICE, NAMES_OF(ga__interpolation_names),
     .about = "interpolation between the points"},
    {ONE(ga_table_opts, before), .rule = GA__RULE_CHOICE, NAMES_OF(ga__extrapolation_names),
     .about = "extrapolation below the first point"},
    {ONE(ga_table_opts, after), .rule = GA__RULE_CHOICE, NAMES_OF(ga__extrapolation_names),
     .about = "extrapolation above the last point"},
};

static const ga__field grid_fields[] = {
    {ONE(ga_table2d_opts, x), .rule = GA__RULE_LIST, .rows = GA__AT_INT(ga_table2d_opts, nx),
     .about = "points of the first argument, ascending"},
    {ONE(ga_table2d_opts, y), .rule = GA__RULE_LIST, .rows = GA__AT_INT(ga_table2d_opts, ny),
     .about = "points of the second argument, ascending"},
    {ONE(ga_table2d_opts, z), .rule = GA__RULE_MATRIX, .rows = GA__AT_INT(ga_table2d_opts, nx),
     .columns = GA__AT_INT(ga_table2d_opts, ny), .about = "values: a row for every x"},
    {ONE(ga_table2d_opts, interpolation), .rule = GA__RULE_CHOICE, NAMES_OF(ga__interpolation_names),
     .about = "interpolation between the points: spline, with continuous second derivatives, or linear"},
    {ONE(ga_table2d_opts, outside), .rule = GA__RULE_CHOICE, NAMES_OF(ga__extrapolation_names),
     .about = "extrapolation beyond the points; error: the run ends there with a message"},
};

static const ga__field motion_fields[] = {
    {ONE(ga_motion_opts, law), .rule = GA__RULE_CHOICE, NAMES_OF(motion_names),
     .about = "law of motion between the values"},
    {ONE(ga_motion_opts, t_start), .rule = GA__RULE_NUMBER, .unit = "s", .about = "start of the motion"},
    {ONE(ga_motion_opts, duration), .rule = GA__RULE_POSITIVE, .unit = "s",
     .about = "duration of the motion"},
    {ONE(ga_motion_opts, from), .rule = GA__RULE_NUMBER, .about = "value before the motion"},
    {ONE(ga_motion_opts, to), .rule = GA__RULE_NUMBER, .about = "value after the motion"},
    {ONE(ga_motion_opts, ramp), .rule = GA__RULE_NUMBER, .unit = "1",
     .about = "trapezoid: fraction of the duration for accelerating, and the same for decelerating"},
};

static const ga__field wave_fields[] = {
    {ONE(ga_wave_opts, offset), .rule = GA__RULE_NUMBER, .about = "mean value"},
    {ONE(ga_wave_opts, amplitude), .rule = GA__RULE_NUMBER, .about = "amplitude of the sine"},
    {ONE(ga_wave_opts, frequency), .rule = GA__RULE_NUMBER, .unit = "Hz", .about = "frequency up to t_start"},
    {ONE(ga_wave_opts, frequency_end), .rule = GA__RULE_NUMBER, .unit = "Hz",
     .about = "frequency after the sweep"},
    {ONE(ga_wave_opts, phase), .rule = GA__RULE_NUMBER, .unit = "rad", .about = "phase at t_start"},
    {ONE(ga_wave_opts, t_start), .rule = GA__RULE_NUMBER, .unit = "s", .about = "start of the sweep"},
    {ONE(ga_wave_opts, sweep), .rule = GA__RULE_NOT_NEGATIVE, .unit = "s",
     .about = "duration of the sweep; 0: constant frequency"},
};

static const ga__extra expression_extra[] = {
    {"expression", "text", "in t, parameters and other functions: `2*sin(w*t) + ramp(t)`"}};
static const ga__extra formula_extra[] = {
    {"arguments", "texts", "names of the arguments: `[K, p]`"},
    {"let", "let",
     "local names, each with an expression of the arguments and of the names before it: `{s: abs(p) + 1}`"},
    {"value", "number",
     "expression of arguments, local names, parameters and other functions: `K*p/sqrt(s)`"}};
static const ga__extra table_extra[] = {
    {"rows", "rows", "instead of x and y: pairs [x, y]"},
    {"file", "text",
     "instead of x and y: a CSV file within the model's folder; units in its header, as in `force [kN]`, are "
     "converted"},
    {"columns", "columns",
     "with file: the columns of x and y, by names of the header or numbers from 1; not needed if there are "
     "two"}};
static const ga__extra grid_extra[] = {
    {"file", "text",
     "instead of x, y and z: a CSV file within the model's folder. Either a matrix: y in the first line, x in the first "
     "column, the first field empty or a title, whose unit is that of z: `height [mm]`; or columns x, y, z in any order "
     "of the points, with units in their header"},
    {"columns", "columns",
     "with file: the columns of x, y and z, by names of the header or numbers from 1; not needed if there are three"}};
enum { MOST_EXTRA = 3 };

static void default_table(void *base)
{
  *(ga_table_opts *)base = ga_table_defaults();
}

static void default_grid(void *base)
{
  ga_table2d_opts *opts = base;
  *opts = ga_table2d_defaults();
  opts->interpolation = GA_INTERPOLATE_SPLINE, opts->outside = GA_EXTRAPOLATE_ERROR;
}

static void default_motion(void *base)
{
  *(ga_motion_opts *)base = ga_motion_defaults();
}

static void default_wave(void *base)
{
  *(ga_wave_opts *)base = ga_wave_defaults();
}

static ga_status create_constant(ga_context *ctx, const any_opts *opts, ga_function **out)
{
  return ga_function_create_constant(ctx, opts->constant.value, out);
}

static ga_status create_table(ga_context *ctx, const any_opts *opts, ga_function **out)
{
  return ga_function_create_table(ctx, &opts->table, out);
}

static ga_status create_motion(ga_context *ctx, const any_opts *opts, ga_function **out)
{
  return ga_function_create_motion(ctx, &opts->motion, out);
}

static ga_status create_wave(ga_context *ctx, const any_opts *opts, ga_function **out)
{
  return ga_function_create_wave(ctx, &opts->wave, out);
}

static const function_kind FUNCTIONS[] = {
    {"constant", "a constant value", constant_fields, SIZE_OF(constant_fields), NULL, 0, NULL,
     create_constant},
    {"expression", "an expression in t", NULL, 0, expression_extra, 1, NULL, NULL},
    {"formula", "a function of several arguments, with local names; expressions call it by its name", NULL, 0,
     formula_extra, SIZE_OF(formula_extra), NULL, NULL},
    {"table", "values at points, interpolated between them", table_fields, SIZE_OF(table_fields), table_extra,
     SIZE_OF(table_extra), default_table, create_table},
    {"grid", "values over a grid of two arguments x, y; expressions call it by its name: `hills(x, y)`", grid_fields,
     SIZE_OF(grid_fields), grid_extra, SIZE_OF(grid_extra), default_grid, NULL},
    {"motion", "a motion from one value to another, constant before and after", motion_fields,
     SIZE_OF(motion_fields), NULL, 0, default_motion, create_motion},
    {"wave", "offset + amplitude sin(phase + 2π ∫ frequency dt), with an optional sweep of the frequency",
     wave_fields, SIZE_OF(wave_fields), NULL, 0, default_wave, create_wave},
};
enum { N_FUNCTIONS = sizeof FUNCTIONS / sizeof FUNCTIONS[0] };

int ga__function_group(int i, ga__group *group)
{
  if (i < 0 || i >= N_FUNCTIONS) return 0;
  const function_kind *k = &FUNCTIONS[i];
  *group = (ga__group){.section = "functions",
                       .type = k->type,
                       .about = k->about,
                       .n = k->n_fields,
                       .fields = k->fields,
                       .n_extra = k->n_extra,
                       .extra = k->extra,
                       .defaults = k->defaults,
                       .size = sizeof(any_opts)};
  return 1;
}

/* Reports that a key is not there; returns 0. */
static int report_missing(ga__reader *reader, const ga__tree *map, const char *key, const char *expected)
{
  ga__report_error(reader->r->messages, map->at, GA_REASON_KEY_MISSING,
                   &(ga__facts){.field = key, .expected = expected});
  return 0;
}

/* ---- Expressions ---- */

/* The next name in a text that is followed by '('; 0: there is none. */
static int next_call(const char *text, int *at)
{
  for (int i = *at; text[i];) {
    const int bytes = ga__name_length(text + i);
    if (bytes == 0) {
      i++;
      continue;
    }
    const size_t blanks = strspn(text + i + bytes, " \t");
    if (text[(size_t)(i + bytes) + blanks] == '(') {
      *at = i;
      return bytes;
    }
    i += bytes;
  }
  return 0;
}

int ga__calls_function(const ga__reader *reader, const char *text)
{
  for (int at = 0, bytes; (bytes = next_call(text, &at)) > 0; at += bytes)
    if (ga__directory_find(&reader->functions, text + at, (size_t)bytes)) return 1;
  return 0;
}

ga_symbol ga__function_symbol(const ga__named *named)
{
  return (ga_symbol){.name = named->name,
                     .kind = named->definition ? GA_SYMBOL_DEFINITION : GA_SYMBOL_FUNCTION,
                     .function = named->function,
                     .definition = named->definition};
}

int ga__read_calls(ga__reader *reader, const ga__tree *tree, int *n, ga_symbol **symbols)
{
  int at = 0, bytes, good = 1;
  *n = 0;
  for (; (bytes = next_call(tree->text, &at)) > 0; at += bytes) ++*n;
  *symbols = ga__room(reader, (size_t)*n, sizeof **symbols);
  if (!*symbols) return 0;
  *n = 0;
  for (at = 0; (bytes = next_call(tree->text, &at)) > 0; at += bytes) {
    ga__named *named = ga__directory_find(&reader->functions, tree->text + at, (size_t)bytes);
    int known = !named;
    for (int i = 0; i < *n && !known; i++) known = (*symbols)[i].name == named->name;
    if (known) continue;
    named->used = 1;
    if (!ga__read_named_function(reader, named)) {
      if (named->state == BEING_READ)
        ga__report_error(reader->r->messages, ga__value_place(tree, ga__text_column(tree->text, at)),
                         GA_REASON_CIRCULAR, &(ga__facts){.kind = "function", .part = named->name});
      good = 0;
    }
    (*symbols)[(*n)++] = ga__function_symbol(named);
  }
  return good;
}

static int is_one_of(int n, const char *const *names, const char *name, int bytes)
{
  for (int i = 0; i < n; i++)
    if (strlen(names[i]) == (size_t)bytes && strncmp(names[i], name, (size_t)bytes) == 0) return 1;
  return 0;
}

/* Checks the names of values: n variables, and parameters. */
static int check_names(ga__reader *reader, const ga__tree *tree, int n, const char *const *variables)
{
  int good = 1;
  for (int at = 0, bytes; (bytes = ga__name_next(tree->text, &at)) > 0; at += bytes) {
    const char *name = tree->text + at;
    ga__number number;
    if (is_one_of(n, variables, name, bytes) || (bytes == 1 && name[0] == 'e') ||
        (bytes == 2 && strncmp(name, "pi", 2) == 0) ||
        ga__parameter_find(reader->r, tree->scope, name, (size_t)bytes, &number, NULL) != GA__UNKNOWN_NAME)
      continue;
    good = 0;
    if (reader->r->incomplete) continue;
    const ga__place place = ga__value_place(tree, ga__text_column(tree->text, at));
    char quoted[GA_TEXT_PIECE];
    ga__name_quote(quoted, name, bytes);
    if (ga__directory_find(&reader->functions, name, (size_t)bytes))
      ga__report_no_argument(reader, place, quoted);
    else
      ga__report_error(reader->r->messages, place, GA_REASON_UNKNOWN_REFERENCE,
                       &(ga__facts){.other = "parameter",
                                    .name = quoted,
                                    .detail =
                                        "a function's expression may use its arguments, parameters and other "
                                        "functions"});
  }
  return good;
}

static void release_function(void *thing)
{
  ga_function *f = thing;
  ga_function_destroy(&f);
}

static int create_expression(ga__reader *reader, ga__tree *tree, ga_function **out)
{
  ga_function_expr_opts opts = ga_function_expr_defaults();
  ga_text_error error = {.column = 0};
  const char *given;
  ga_symbol *symbols;
  static const char *const variable[] = {"t"};
  if (!ga__value_text(reader->r, tree, &given) || !ga__check_syntax(reader, tree) ||
      !check_names(reader, tree, 1, variable))
    return 0;
  if (!ga__read_calls(reader, tree, &opts.n_symbols, &symbols)) return 0;
  if (!ga__value_formula(reader->r, tree, &opts.text)) return 0;
  opts.symbols = symbols;
  const ga_status status = ga_function_create_expr(reader->r->ctx, &opts, &error, out);
  if (status == GA_ERR_MEMORY)
    reader->r->failed = 1;
  else if (status && !ga__may_be_elsewhere(reader->r, &error)) /* replaced parameters change the columns */
    ga__report_found(reader->r->messages,
                     ga__value_place(tree, strcmp(given, opts.text) == 0 ? error.column : 1),
                     &reader->r->ctx->error);
  return !status && ga__keep(reader, *out, release_function);
}

/* ---- Functions of several arguments ---- */

static void release_definition(void *thing)
{
  ga_definition *d = thing;
  ga_definition_destroy(&d);
}

/* What a formula is made of: names of arguments, then of locals; the trees of its expressions. */
typedef struct formula {
  int n_args, n_locals;
  const char *name[2 * GA_DEFINITION_NAMES];
  ga__tree *tree[GA_DEFINITION_NAMES + 1]; /* of locals, then of the value */
  const char *text[GA_DEFINITION_NAMES + 1];
} formula;

/* A name that is one, and no parameter, of the n given names or reserved. */
static int take_name(ga__reader *reader, const char *name, ga__place at, const ga__tree *scope, formula *f)
{
  ga__messages *m = reader->r->messages;
  const int n = f->n_args + f->n_locals;
  ga__number number;
  const size_t bytes = strlen(name);
  if (bytes == 0 || (size_t)ga__name_length(name) != bytes || strchr(name, '.')) {
    ga__report_error(m, at, GA_REASON_WRONG_FORM,
                     &(ga__facts){.expected = "a name of letters, digits and _", .name = name});
    return 0;
  }
  if (is_one_of(n, f->name, name, (int)bytes)) {
    ga__report_error(m, at, GA_REASON_GIVEN_TWICE, &(ga__facts){.kind = "name", .name = name});
    return 0;
  }
  if (ga__parameter_find(reader->r, scope->scope, name, bytes, &number, NULL) != GA__UNKNOWN_NAME) {
    ga__report_error(m, at, GA_REASON_AMBIGUOUS_NAME, &(ga__facts){.name = name, .other = "an argument"});
    return 0;
  }
  f->name[n] = name;
  return 1;
}

static int report_count(ga__reader *reader, ga__place at, const char *expected)
{
  ga__report_error(reader->r->messages, at, GA_REASON_WRONG_FORM,
                   &(ga__facts){.expected = expected, .name = "another number of them"});
  return 0;
}

static int read_arguments(ga__reader *reader, ga__tree *list, formula *f)
{
  if (!ga__expect_list(reader->r, list)) return 0;
  if (list->n < 1 || list->n > GA_DEFINITION_NAMES)
    return report_count(reader, list->at, "a list of 1 to 16 names");
  for (int i = 0; i < list->n; i++, f->n_args++) {
    const char *name;
    if (!ga__value_text(reader->r, list->child[i], &name) ||
        !take_name(reader, name, list->child[i]->at, list, f))
      return 0;
  }
  return 1;
}

static int read_locals(ga__reader *reader, ga__tree *map, formula *f)
{
  if (!map) return 1;
  if (!ga__expect_map(reader->r, map)) return 0;
  if (map->n > GA_DEFINITION_NAMES) return report_count(reader, map->at, "a map of at most 16 names");
  for (int i = 0; i < map->n; i++, f->n_locals++) {
    ga__tree *tree = map->child[i];
    if (!ga__map_get(map, tree->key) || !take_name(reader, tree->key, tree->key_at, map, f)) return 0;
    f->tree[i] = tree;
  }
  return 1;
}

/* Checks expression k, and gives its text with numbers in place of parameters. */
static int read_step(ga__reader *reader, formula *f, int k)
{
  const char *given;
  const ga__tree *tree = f->tree[k];
  return ga__value_text(reader->r, tree, &given) && ga__check_syntax(reader, tree) &&
         check_names(reader, tree, f->n_args + k, f->name) && ga__value_formula(reader->r, tree, &f->text[k]);
}

/* All functions that the expressions call, each once. */
static int read_symbols(ga__reader *reader, const formula *f, int *n, ga_symbol **out)
{
  ga_symbol *found[GA_DEFINITION_NAMES + 1];
  int count[GA_DEFINITION_NAMES + 1], most = 0;
  *n = 0;
  for (int k = 0; k <= f->n_locals; k++) {
    if (!ga__read_calls(reader, f->tree[k], &count[k], &found[k])) return 0;
    most += count[k];
  }
  *out = ga__room(reader, (size_t)most + 1, sizeof **out);
  if (!*out) return 0;
  for (int k = 0; k <= f->n_locals; k++)
    for (int i = 0; i < count[k]; i++) {
      int known = 0;
      for (int j = 0; j < *n; j++) known |= strcmp((*out)[j].name, found[k][i].name) == 0;
      if (!known) (*out)[(*n)++] = found[k][i];
    }
  return 1;
}

static int create_definition(ga__reader *reader, formula *f, ga_definition **out)
{
  ga_definition_opts opts = ga_definition_defaults();
  ga_text_error error = {.column = 0};
  ga_symbol *symbols = NULL;
  int which = -1;
  for (int k = 0; k <= f->n_locals; k++)
    if (!read_step(reader, f, k)) return 0;
  if (!read_symbols(reader, f, &opts.n_symbols, &symbols)) return 0;
  opts.n_args = f->n_args, opts.args = f->name;
  opts.n_locals = f->n_locals, opts.locals = f->name + f->n_args;
  opts.texts = f->text, opts.value = f->text[f->n_locals];
  opts.symbols = symbols;
  const ga_status status = ga_definition_create(reader->r->ctx, &opts, &which, &error, out);
  if (status == GA_ERR_MEMORY)
    reader->r->failed = 1;
  else if (status && !ga__may_be_elsewhere(reader->r, &error))
    ga__report_found(reader->r->messages, ga__value_place(f->tree[which < 0 ? f->n_locals : which], 1),
                     &reader->r->ctx->error);
  return !status && ga__keep(reader, *out, release_definition);
}

static int create_formula(ga__reader *reader, ga__tree *map, ga_definition **out)
{
  formula f = {.n_args = 0};
  ga__tree *arguments = ga__map_get(map, "arguments"), *let = ga__map_get(map, "let"),
           *value = ga__map_get(map, "value");
  if (!arguments) return report_missing(reader, map, "arguments", "names of the arguments, [a, b]");
  if (!value) return report_missing(reader, map, "value", "an expression of the arguments");
  if (!read_arguments(reader, arguments, &f) || !read_locals(reader, let, &f)) return 0;
  f.tree[f.n_locals] = value;
  return create_definition(reader, &f, out);
}

/* ---- Tables ---- */

/* Reads rows of pairs into x and y. */
static int read_rows(ga__reader *reader, ga__tree *rows, ga_table_opts *opts)
{
  int good = 1;
  if (!ga__expect_list(reader->r, rows)) return 0;
  double *x = ga__room(reader, (size_t)rows->n, sizeof *x), *y = ga__room(reader, (size_t)rows->n, sizeof *y);
  if (!x || !y) return 0;
  for (int i = 0; i < rows->n; i++) {
    double pair[2] = {0, 0};
    good &= ga__value_numbers(reader->r, rows->child[i], 2, NULL, pair);
    x[i] = pair[0];
    y[i] = pair[1];
  }
  opts->n = rows->n;
  opts->x = x;
  opts->y = y;
  return good;
}

static int read_file(ga__reader *reader, const ga__tree *file, ga__tree *columns, ga_table_opts *opts)
{
  ga__csv_columns c;
  const size_t before = ga__messages_enter(reader->r->messages, "file");
  const int good = ga__csv_read(reader, file, columns, &c);
  ga__messages_leave(reader->r->messages, before);
  opts->n = c.n;
  opts->x = c.value[0];
  opts->y = c.value[1];
  return good;
}

static int complete_table(ga__reader *reader, ga__tree *map, ga_table_opts *opts)
{
  ga__messages *m = reader->r->messages;
  ga__tree *rows = ga__map_get(map, "rows"), *file = ga__map_get(map, "file"),
           *columns = ga__map_get(map, "columns");
  const int lists = opts->x || opts->y;
  if (!!rows + !!file + lists != 1 || (lists && (!opts->x || !opts->y)) || (columns && !file)) {
    ga__report_error(m, map->at, GA_REASON_GIVE_ONE_OF,
                     &(ga__facts){.expected = "x and y, or rows, or file (with columns)"});
    return 0;
  }
  if (file) return read_file(reader, file, columns, opts);
  const size_t before = ga__messages_enter(m, "rows");
  const int good = !rows || read_rows(reader, rows, opts);
  ga__messages_leave(m, before);
  return good;
}

/* ---- Units of values ---- */

/* Keys whose numbers are in the unit of the function's values. */
static int is_value(const ga__field *f)
{
  static const char *const values[] = {"value", "y", "from", "to", "offset", "amplitude"};
  for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
    if (strcmp(f->name, values[i]) == 0) return 1;
  return 0;
}

static int check_value(ga__reader *reader, const ga__tree *tree, const char *unit)
{
  double value;
  int good = 1;
  if (tree->kind == GA__TREE_SCALAR) return ga__value_number(reader->r, tree, unit, &value);
  for (int i = 0; i < tree->n; i++) good &= check_value(reader, tree->child[i], unit);
  return good;
}

static int check_values(ga__reader *reader, const ga__tree *tree, const char *key, const char *unit)
{
  const size_t before = ga__messages_enter(reader->r->messages, key);
  const int good = check_value(reader, tree, unit);
  ga__messages_leave(reader->r->messages, before);
  return good;
}

/* The same for the unit in the header of a file, which has been read before. */
static int check_file_unit(ga__reader *reader, ga__tree *map, const char *unit)
{
  ga__csv_columns c;
  ga_dimension given, expected;
  char is[2 * GA_TEXT_PIECE], should[2 * GA_TEXT_PIECE], detail[3 * GA_TEXT_PIECE];
  ga_context *ctx = reader->r->ctx;
  const ga__tree *file = ga__map_peek(map, "file");
  if (!ga__csv_read(reader, file, ga__map_get(map, "columns"), &c)) return 0;
  if (!c.unit[1][0] || ga_unit_parse(ctx, c.unit[1], NULL, &given, NULL) ||
      ga_unit_parse(ctx, unit, NULL, &expected, NULL) || memcmp(&given, &expected, sizeof given) == 0)
    return 1;
  ga_dimension_text(is, sizeof is, &given);
  ga_dimension_text(should, sizeof should, &expected);
  snprintf(detail, sizeof detail, "'%.40s' in its header is %s", c.unit[1], is);
  ga__report_error(reader->r->messages, file->at, GA_REASON_WRONG_DIMENSION,
                   &(ga__facts){.field = "file", .name = c.unit[1], .detail = detail, .expected = should});
  return 0;
}

/* 1: the values of the function have this unit, as far as units are given. */
static int check_unit(ga__reader *reader, ga__tree *map, const char *unit)
{
  const ga__tree *type = ga__map_peek(map, "type"), *rows = ga__map_peek(map, "rows");
  int good = 1;
  if (!unit || !type) return 1;
  for (int k = 0; k < N_FUNCTIONS; k++) {
    if (strcmp(type->text, FUNCTIONS[k].type) != 0) continue;
    for (int i = 0; i < FUNCTIONS[k].n_fields; i++) {
      const ga__field *f = &FUNCTIONS[k].fields[i];
      const ga__tree *tree = is_value(f) ? ga__map_peek(map, f->name) : NULL;
      if (tree) good &= check_values(reader, tree, f->name, unit);
    }
  }
  if (ga__map_peek(map, "file")) good &= check_file_unit(reader, map, unit);
  for (int i = 0; rows && i < rows->n; i++)
    if (rows->child[i]->n == 2) good &= check_values(reader, rows->child[i]->child[1], "rows", unit);
  return good;
}

/* ---- Functions ---- */

static int which_kind(ga__reader *reader, ga__tree *map, int *kind)
{
  const char *names[N_FUNCTIONS];
  for (int i = 0; i < N_FUNCTIONS; i++) names[i] = FUNCTIONS[i].type;
  const ga__tree *type = ga__map_get(map, "type");
  if (!type && ga__report_glued_key(reader->r, map, "type")) return 0;
  if (!type)
    return report_missing(reader, map, "type", "constant, expression, formula, table, grid, motion or wave");
  const size_t before = ga__messages_enter(reader->r->messages, "type");
  const int good = ga__value_choice(reader->r, type, N_FUNCTIONS, names, kind);
  ga__messages_leave(reader->r->messages, before);
  return good;
}

/* The wave of the model itself, where it is read along a line. */
static void read_base(ga__reader *reader, const function_kind *k, ga__tree *map, ga_wave_opts *base)
{
  const ga__line_values outer = ga__value_choose(reader->r, GA__AT_BASE);
  ga__owner owner = {.kind = -1};
  any_opts opts;
  memset(&opts, 0, sizeof opts);
  k->defaults(&opts);
  ga__read_fields(reader, map, k->n_fields, k->fields, &owner, &opts);
  ga__value_choose(reader->r, outer);
  *base = opts.wave;
}

static int create_by_fields(ga__reader *reader, const function_kind *k, ga__tree *map, ga_function **out)
{
  any_opts opts;
  ga__owner owner = {.kind = -1};
  memset(&opts, 0, sizeof opts);
  if (k->defaults) k->defaults(&opts);
  int good = ga__read_fields(reader, map, k->n_fields, k->fields, &owner, &opts);
  if (k->create == create_table) good &= complete_table(reader, map, &opts.table);
  if (k->create == create_constant && !ga__map_get(map, "value"))
    good = report_missing(reader, map, "value", NULL);
  if (!good) return 0;
  ga_status status;
  if (reader->r->line && k->create == create_wave) {
    ga_wave_opts base;
    read_base(reader, k, map, &base);
    status = ga__function_create_wave_along(reader->r->ctx, &base, &opts.wave, out);
  } else {
    status = k->create(reader->r->ctx, &opts, out);
  }
  if (status == GA_ERR_MEMORY)
    reader->r->failed = 1;
  else if (status)
    ga__report_found(reader->r->messages, map->at, &reader->r->ctx->error);
  return !status && ga__keep(reader, *out, release_function);
}

static void release_grid(void *thing)
{
  ga_table2d *table = thing;
  ga_table2d_destroy(&table);
}

static int check_grid_list(ga__reader *reader, const ga__tree *map, const char *key)
{
  const ga__tree *list = ga__map_peek(map, key);
  if (!list) return report_missing(reader, map, key, NULL);
  if (list->kind != GA__TREE_LIST || list->n >= 2) return 1;
  const size_t before = ga__messages_enter(reader->r->messages, key);
  ga__report_error(reader->r->messages, list->at, GA_REASON_WRONG_FORM,
                   &(ga__facts){.expected = "a list of two or more", .name = list->n ? "one" : "nothing"});
  ga__messages_leave(reader->r->messages, before);
  return 0;
}

/* x, y and z, or a file. */
static int complete_grid(ga__reader *reader, ga__tree *map, ga_table2d_opts *opts)
{
  static const char *const NEEDED[] = {"x", "y", "z"};
  ga__csv_grid g;
  int good = 1, lists = 0;
  ga__tree *file = ga__map_get(map, "file"), *columns = ga__map_get(map, "columns");
  for (int i = 0; i < 3; i++) lists += ga__map_peek(map, NEEDED[i]) != NULL;
  if ((file && lists) || (columns && !file) || (!file && !lists)) {
    ga__report_error(reader->r->messages, map->at, GA_REASON_GIVE_ONE_OF,
                     &(ga__facts){.expected = "x, y and z, or file (with columns)"});
    return 0;
  }
  for (int i = 0; i < 3 && !file; i++)
    good &= check_grid_list(reader, map, NEEDED[i]);
  if (!file) return good;
  const size_t before = ga__messages_enter(reader->r->messages, "file");
  good = ga__csv_read_grid(reader, file, columns, &g);
  ga__messages_leave(reader->r->messages, before);
  opts->nx = g.nx, opts->ny = g.ny;
  opts->x = g.x, opts->y = g.y, opts->z = g.z;
  return good;
}

/* A grid is a function of two arguments, whose value is that of a table. */
static int create_grid(ga__reader *reader, ga__tree *map, ga_definition **out)
{
  static const char *const ARGUMENT[] = {"x", "y"};
  ga_context *ctx = reader->r->ctx;
  ga__owner owner = {.kind = -1};
  any_opts opts;
  ga_table2d *table = NULL;
  memset(&opts, 0, sizeof opts);
  default_grid(&opts);
  int good = ga__read_fields(reader, map, SIZE_OF(grid_fields), grid_fields, &owner, &opts);
  good &= complete_grid(reader, map, &opts.grid);
  if (!good) return 0;
  ga_status status = ga_table2d_create(ctx, &opts.grid, &table);
  if (!status && !ga__keep(reader, table, release_grid)) return 0;
  if (!status) {
    const ga_symbol symbol = {.name = "grid", .kind = GA_SYMBOL_TABLE2D, .table2d = table};
    ga_definition_opts d = ga_definition_defaults();
    d.n_args = 2, d.args = ARGUMENT, d.value = "grid(x, y)", d.n_symbols = 1, d.symbols = &symbol;
    status = ga_definition_create(ctx, &d, NULL, NULL, out);
  }
  if (status == GA_ERR_MEMORY)
    reader->r->failed = 1;
  else if (status)
    ga__report_found(reader->r->messages, map->at, &ctx->error);
  return !status && ga__keep(reader, *out, release_definition);
}

/* definition NULL: a function of one argument is needed. */
static int create_from_map(ga__reader *reader, ga__tree *map, ga_function **out, ga_definition **definition)
{
  int kind, good;
  if (!ga__expect_map(reader->r, map) || !which_kind(reader, map, &kind)) return 0;
  const function_kind *k = &FUNCTIONS[kind];
  const char *more[1 + MOST_EXTRA] = {"type"};
  for (int i = 0; i < k->n_extra; i++) more[1 + i] = k->extra[i].name;
  const int is_grid = k->fields == grid_fields;
  if ((k->extra == formula_extra || is_grid) && !definition) {
    ga__report_error(reader->r->messages, map->at, GA_REASON_WRONG_FORM,
                     &(ga__facts){.expected = "a function of one argument", .name = is_grid ? "a grid" : "a formula"});
    return 0;
  }
  if (k->extra == formula_extra || is_grid) {
    good = (is_grid ? create_grid : create_formula)(reader, map, definition);
  } else if (k->create) {
    good = create_by_fields(reader, k, map, out);
  } else {
    ga__tree *text = ga__map_get(map, "expression");
    good = text ? create_expression(reader, text, out) : report_missing(reader, map, "expression", NULL);
  }
  const ga__owner owner = {.kind = -1};
  ga__finish_keys(reader, map, k->n_fields, k->fields, &owner, 1 + k->n_extra, more);
  return good;
}

/* A number of this unit, as a function. */
static int create_number(ga__reader *reader, const ga__tree *tree, const char *unit, ga_function **out)
{
  double value;
  if (!ga__value_number(reader->r, tree, unit, &value)) return 0;
  const ga_status status = ga_function_create_constant(reader->r->ctx, value, out);
  if (status) ga__report_status(reader, tree->at, status);
  return !status && ga__keep(reader, *out, release_function);
}

int ga__read_named_function(ga__reader *reader, ga__named *named)
{
  ga__tree *tree = named->tree;
  if (named->state != UNREAD) return named->state == READ;
  named->state = BEING_READ;
  const ga__concern outer = ga__messages_begin(reader->r->messages, "function", named->name);
  const int good = tree->kind != GA__TREE_SCALAR
                       ? create_from_map(reader, tree, &named->function, &named->definition)
                   : ga__is_number(reader, tree) ? create_number(reader, tree, NULL, &named->function)
                                                 : create_expression(reader, tree, &named->function);
  ga__messages_restore(reader->r->messages, &outer);
  named->state = good ? READ : BROKEN;
  return good;
}

/* A function by its name, with values of this unit. */
static int use_named_function(ga__reader *reader, ga__named *named, ga__place at, const char *unit,
                              ga_function **out)
{
  ga__messages *m = reader->r->messages;
  const ga__concern user = ga__messages_concern(m);
  char purpose[2 * GA_ERROR_NAME];
  named->used = 1;
  if (!ga__read_named_function(reader, named)) return 0;
  if (named->definition) {
    ga__report_error(m, at, GA_REASON_WRONG_FORM,
                     &(ga__facts){.expected = "a function of one argument", .name = named->name});
    return 0;
  }
  *out = named->function;
  if (named->tree->kind != GA__TREE_MAP) return 1;
  snprintf(purpose, sizeof purpose, "%s of %s '%s'", user.field, user.kind ? user.kind : "",
           user.part ? user.part : "");
  ga__messages_begin(m, "function", named->name);
  ga__messages_set_purpose(m, purpose);
  const int good = check_unit(reader, named->tree, unit);
  ga__messages_restore(m, &user);
  return good;
}

/* Reports an unknown function; returns 0. */
static int report_unknown_function(ga__reader *reader, const ga__tree *tree)
{
  char nearest[GA_TEXT_PIECE];
  if (reader->r->incomplete) return 0;
  ga__names_nearest(nearest, reader->r->messages, &reader->functions.names, tree->text, strlen(tree->text));
  ga__report_error(
      reader->r->messages, tree->at, GA_REASON_UNKNOWN_REFERENCE,
      &(ga__facts){.other = "function",
                   .name = tree->text,
                   .nearest = nearest,
                   .detail = strchr(tree->text, '.') ? "it depends on t alone, not on signals" : NULL});
  return 0;
}

int ga__read_function(ga__reader *reader, ga__tree *tree, const char *unit, const ga_function **f)
{
  ga_function *made = NULL;
  int good = 0;
  ga__named *named = tree->kind == GA__TREE_SCALAR
                         ? ga__directory_find(&reader->functions, tree->text, strlen(tree->text))
                         : NULL;
  if (tree->kind == GA__TREE_LIST)
    ga__report_error(reader->r->messages, tree->at, GA_REASON_WRONG_FORM,
                     &(ga__facts){.expected = "an expression in t, or a map such as {type: table, rows: [[0, "
                                              "0], [1, 5]]}",
                                  .name = "a list"});
  else if (tree->kind == GA__TREE_MAP)
    good = create_from_map(reader, tree, &made, NULL) && check_unit(reader, tree, unit);
  else if (named)
    good = use_named_function(reader, named, tree->at, unit, &made);
  else if (ga__is_number(reader, tree))
    good = !ga__refuse_tonnes(reader, tree) && create_number(reader, tree, unit, &made);
  else if (ga__name_length(tree->text) == (int)strlen(tree->text) && strcmp(tree->text, "t") != 0)
    good = report_unknown_function(reader, tree);
  else
    good = create_expression(reader, tree, &made);
  if (good) *f = made;
  return good;
}

void ga__add_functions(ga__reader *reader)
{
  for (int i = 0; i < reader->functions.names.n && !reader->r->failed; i++) {
    const ga__named *named = &reader->functions.list[i];
    const int can_be_called = ga__name_length(named->name) == (int)strlen(named->name);
    if (named->state != READ || !can_be_called) continue;
    const ga_status status = named->definition
                                 ? ga_machine_add_definition(reader->m, named->name, named->definition)
                                 : ga_machine_add_function(reader->m, named->name, named->function);
    if (status) ga__report_status(reader, named->tree->key_at, status);
  }
}
