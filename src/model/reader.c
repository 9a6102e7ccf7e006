/* Structs from maps, by tables of fields. */
#include "model/reader.h"
#include "model/hints.h"

#include "mbs/name.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FULL_TURN (6.283185307179586 * (1 + 1e-9))

enum { MOST_KEYS = 48 };

/* ---- Names ---- */

ga__named *ga__directory_find(const ga__directory *d, const char *name, size_t bytes)
{
  const int i = ga__names_find(&d->names, name, bytes);
  return i >= 0 ? &d->list[i] : NULL;
}

ga__named *ga__directory_head(const ga__directory *d, const char *name, size_t bytes)
{
  ga__named *found = ga__directory_find(d, name, bytes);
  for (size_t n = bytes; !found && n > 0; n--)
    if (name[n - 1] == '.') found = ga__directory_find(d, name, n - 1);
  return found;
}

/* ---- Memory ---- */

struct ga__kept {
  void *thing;
  void (*release)(void *thing);
  struct ga__kept *next;
};

int ga__keep(ga__reader *reader, void *thing, void (*release)(void *thing))
{
  struct ga__kept *kept = ga__room(reader, 1, sizeof *kept);
  if (!kept) {
    release(thing);
    return 0;
  }
  *kept = (struct ga__kept){thing, release, reader->kept};
  reader->kept = kept;
  return 1;
}

void ga__release_kept(struct ga__kept **kept)
{
  for (struct ga__kept *k = *kept; k; k = k->next) k->release(k->thing);
  *kept = NULL;
}

void *ga__room(ga__reader *reader, size_t count, size_t size)
{
  void *block = size && count > (size_t)-1 / size ? NULL : ga__pool_take(reader->r->pool, count * size);
  if (!block) reader->r->failed = 1;
  return block;
}

void ga__say_error(ga__reader *reader, ga__place at, ga_status status)
{
  if (status == GA_ERR_MEMORY)
    reader->r->failed = 1;
  else
    ga__say_data(reader->r->messages, GA_MESSAGE_ERROR, at, NULL, &reader->r->ctx->error);
}

void ga__what(char text[GA__WHAT], const char *format, ...)
{
  va_list args;
  va_start(args, format);
  if (vsnprintf(text, GA__WHAT, format, args) < 0) text[0] = '\0';
  va_end(args);
}

/* ---- Expressions ---- */

int ga__check_syntax(ga__reader *reader, const ga__tree *tree, const char *what)
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
    if (f->function)
      symbols[n++] = (ga_symbol){.name = f->name, .kind = GA_SYMBOL_FUNCTION, .function = f->function};
  }
  ga_text_error error = {.column = 0};
  ga_expr *expr = NULL;
  const ga_status status = ga_expr_compile(reader->r->ctx, text, symbols, n, &error, &expr);
  ga_expr_destroy(&expr);
  if (status == GA_ERR_MEMORY)
    reader->r->failed = 1;
  else if (status && !ga__may_be_elsewhere(reader->r, &error))
    ga__say_data(reader->r->messages, GA_MESSAGE_ERROR, ga__value_place(tree, error.column), what,
                 &reader->r->ctx->error);
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

/* The nearest part, with the channel that was written: "shaft.angle" for "shat.angle"; or else parameter. */
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

/* 1: the name is a signal's, a parameter's or a number's; nothing but one of them. */
static int check_name(ga__reader *reader, const ga__tree *tree, int at, int bytes, int n_local,
                      const char *const *local, const char *what)
{
  static const char *const numbers[] = {"pi", "e"};
  const char *name = tree->text + at;
  const ga__place place = ga__value_place(tree, ga__text_column(tree->text, at));
  const int is_local = is_one_of(n_local, local, name, (size_t)bytes);
  ga__named *part = is_local ? NULL : ga__directory_head(&reader->parts, name, (size_t)bytes);
  ga__number number;
  const ga__lookup lookup = ga__parameter_find(reader->r, tree->scope, name, (size_t)bytes, &number, NULL);
  if (part) part->used = 1;
  if (lookup != GA__UNKNOWN_NAME && (part || is_local)) {
    ga__say(reader->r->messages, GA_MESSAGE_ERROR, place,
            "%s: '%.*s' is a parameter, and %s too; give the parameter another name", what, bytes, name,
            part ? "a signal" : "has a meaning here");
    return 0;
  }
  if (lookup != GA__UNKNOWN_NAME || part || is_local || is_one_of(2, numbers, name, (size_t)bytes)) return 1;
  char nearest[2 * GA_TEXT_PIECE], quoted[GA_TEXT_PIECE];
  ga__name_quote(quoted, name, bytes);
  const ga__hint *hint = ga__hint_find(quoted, n_local, local);
  if (hint)
    snprintf(nearest, sizeof nearest, "%s", hint->meant);
  else
    find_nearest(nearest, reader, name, bytes);
  if (ga__directory_find(&reader->functions, name, (size_t)bytes)) {
    ga__say(reader->r->messages, GA_MESSAGE_ERROR, place,
            "%s: '%s' is a function; it needs an argument, as in %s(t)", what, quoted, quoted);
    return 0;
  }
  if (reader->r->incomplete) return 0;
  ga__say(reader->r->messages, GA_MESSAGE_ERROR, place, "%s: there is no signal or parameter '%s'%s%s%s",
          what, quoted, nearest[0] ? "; did you mean '" : "", nearest, nearest[0] ? "'?" : "");
  return 0;
}

int ga__read_expression(ga__reader *reader, const ga__tree *tree, int n_local, const char *const *local,
                        const char *what, const char **text)
{
  const char *given;
  if (!ga__value_text(reader->r, tree, what, &given) || !ga__check_syntax(reader, tree, what)) return 0;
  int good = 1;
  for (int at = 0, bytes; (bytes = ga__name_next(given, &at)) > 0; at += bytes)
    good &= check_name(reader, tree, at, bytes, n_local, local, what);
  return good && ga__value_formula(reader->r, tree, what, text);
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
    /* "12 nm": a number and an unknown unit rather than a signal, which "12 + nm" has */
    char *end;
    strtod(text, &end);
    return end > text && end + strspn(end, " \t") == text + at;
  }
  return 1;
}

/* Does it name something that is a signal as well, a scalar body or a block? Then nobody knows which is
 * meant. */
static int may_be_signal(const ga__reader *reader, const ga__tree *tree)
{
  if (tree->kind != GA__TREE_SCALAR) return 0;
  for (int at = 0, bytes; (bytes = ga__name_next(tree->text, &at)) > 0; at += bytes) {
    const ga__named *part = ga__directory_find(&reader->parts, tree->text + at, (size_t)bytes);
    if (part && (part->kind == GA__PART_SCALAR || part->kind == GA__PART_BLOCK)) return 1;
  }
  return 0;
}

static int read_input_map(ga__reader *reader, ga__tree *tree, const char *unit, const char *what,
                          ga_input *input)
{
  static const char *const keys[] = {"value", "function", "expression"}, *const local[] = {"t"};
  ga__tree *value = ga__map_get(tree, keys[0]), *function = ga__map_get(tree, keys[1]),
           *expression = ga__map_get(tree, keys[2]);
  int good = 1;
  if (value) good &= ga__value_number(reader->r, value, unit, what, &input->value);
  if (function) good &= ga__read_function(reader, function, unit, what, &input->function);
  if (expression) good &= ga__read_expression(reader, expression, 1, local, what, &input->expression);
  ga__unknown_keys(reader->r, tree, 3, keys, what);
  return good;
}

int ga__refuse_tonnes(ga__reader *reader, const ga__tree *tree, const char *what)
{
  char *end;
  if (tree->kind != GA__TREE_SCALAR || (strtod(tree->text, &end), end == tree->text)) return 0;
  for (int at = (int)(end - tree->text), bytes; (bytes = ga__name_next(tree->text, &at)) > 0; at += bytes) {
    if (bytes != 1 || tree->text[at] != 't' || tree->text[at - 1] == '[') continue;
    if (ga_quantity_parse(reader->r->ctx, tree->text, NULL, &(double){0}, NULL, NULL)) return 0;
    ga__say(reader->r->messages, GA_MESSAGE_ERROR, ga__value_place(tree, ga__text_column(tree->text, at)),
            "%s: '%s': in a unit t is the tonne, not the time; in expressions units stand in brackets, as in "
            "2[m/s]*t",
            what, tree->text);
    return 1;
  }
  return 0;
}

int ga__read_input(ga__reader *reader, ga__tree *tree, const char *unit, const char *what, ga_input *input)
{
  static const char *const local[] = {"t"};
  if (tree->kind == GA__TREE_MAP) return read_input_map(reader, tree, unit, what, input);
  if (ga__refuse_tonnes(reader, tree, what)) return 0;
  if (tree->kind == GA__TREE_LIST || (ga__is_number(reader, tree) && !may_be_signal(reader, tree)))
    return ga__value_number(reader->r, tree, unit, what, &input->value);
  return ga__read_expression(reader, tree, 1, local, what, &input->expression);
}

/* ---- Poses ---- */

/* Nine numbers, or three rows of three. */
static int read_matrix3(ga__reader *reader, ga__tree *tree, const char *what, double m[9])
{
  if (tree->kind != GA__TREE_LIST || tree->n != 3 || tree->child[0]->kind != GA__TREE_LIST)
    return ga__value_numbers(reader->r, tree, 9, "1", what, m);
  int good = 1;
  for (int i = 0; i < 3; i++) good &= ga__value_numbers(reader->r, tree->child[i], 3, "1", what, m + 3 * i);
  return good;
}

static const char *const rotation_keys[] = {"matrix", "quaternion", "axis",   "angle",
                                            "euler",  "sequence",   "z_axis", "x_axis"};
enum { MATRIX, QUATERNION, AXIS, ANGLE, EULER, SEQUENCE, Z_AXIS, X_AXIS, N_ROTATION_KEYS };

void ga__suspect_turn(ga__reader *reader, const ga__tree *tree, const char *what)
{
  ga__number number;
  if (tree->kind != GA__TREE_SCALAR || strchr(tree->text, '[')) return;
  if (!ga__value_with_unit(reader->r, tree, "rad", what, &number) || number.has_dimension) return;
  if (fabs(number.value) > FULL_TURN)
    ga__say(reader->r->messages, GA_MESSAGE_WARNING, tree->at,
            "%s: %g rad are more than a turn; is it in deg?", what, number.value);
}

static int read_turn(ga__reader *reader, const ga__tree *tree, const char *what, double *angle)
{
  if (!ga__value_number(reader->r, tree, "rad", what, angle)) return 0;
  ga__suspect_turn(reader, tree, what);
  return 1;
}

static int read_euler(ga__reader *reader, const ga__tree *tree, const char *what, double angle[3])
{
  if (tree->kind != GA__TREE_LIST || tree->n != 3)
    return ga__value_numbers(reader->r, tree, 3, "rad", what, angle);
  int good = 1;
  for (int i = 0; i < 3; i++) good &= read_turn(reader, tree->child[i], what, &angle[i]);
  return good;
}

static int turn(ga__reader *reader, ga__tree *const given[N_ROTATION_KEYS], const char *what,
                ga_status *status, double rotation[9])
{
  ga__reading *r = reader->r;
  double m[9], x[3], angle = 0;
  const char *sequence = NULL;
  int good = 1;
  if (given[MATRIX]) {
    good = read_matrix3(reader, given[MATRIX], what, m);
    if (good) *status = ga_rotation_matrix(r->ctx, m, rotation);
  } else if (given[QUATERNION]) {
    good = ga__value_numbers(r, given[QUATERNION], 4, "1", what, m);
    if (good) *status = ga_rotation_quaternion(r->ctx, m, rotation);
  } else if (given[AXIS]) {
    good = ga__value_numbers(r, given[AXIS], 3, NULL, what, m);
    good &= read_turn(reader, given[ANGLE], what, &angle);
    if (good) *status = ga_rotation_axis_angle(r->ctx, m, angle, rotation);
  } else if (given[EULER]) {
    good = read_euler(reader, given[EULER], what, m);
    good &= ga__value_text(r, given[SEQUENCE], what, &sequence);
    if (good) *status = ga_rotation_euler(r->ctx, sequence, m, rotation);
  } else {
    good = ga__value_numbers(r, given[Z_AXIS], 3, NULL, what, m);
    if (given[X_AXIS]) good &= ga__value_numbers(r, given[X_AXIS], 3, NULL, what, x);
    if (good) *status = ga_rotation_z_axis(r->ctx, m, given[X_AXIS] ? x : NULL, rotation);
  }
  return good;
}

static int read_rotation(ga__reader *reader, ga__tree *tree, const char *what, double rotation[9])
{
  ga__reading *r = reader->r;
  ga__tree *given[N_ROTATION_KEYS];
  int ways = 0;
  if (tree->kind != GA__TREE_MAP) {
    ga__say(r->messages, GA_MESSAGE_ERROR, tree->at,
            "%s: expected a map, as in {axis: [0, 0, 1], angle: 90 deg}, {euler: [0, 0, 90 deg], sequence: "
            "xyz} or "
            "{z_axis: [0, 1, 0]}",
            what);
    return 0;
  }
  for (int i = 0; i < N_ROTATION_KEYS; i++) {
    given[i] = ga__map_get(tree, rotation_keys[i]);
    ways += given[i] && (i == MATRIX || i == QUATERNION || i == AXIS || i == EULER || i == Z_AXIS);
  }
  ga__unknown_keys(r, tree, N_ROTATION_KEYS, rotation_keys, what);
  const int apart =
      !given[AXIS] != !given[ANGLE] || !given[EULER] != !given[SEQUENCE] || (given[X_AXIS] && !given[Z_AXIS]);
  if (ways != 1 || apart) {
    ga__say(r->messages, GA_MESSAGE_ERROR, tree->at,
            "%s: give one of matrix, quaternion, axis with angle, euler with sequence, z_axis (perhaps with "
            "x_axis)%s",
            what,
            given[AXIS] && !given[ANGLE] ? "; for the axis that a joint turns about, z_axis instead of axis"
                                         : "");
    return 0;
  }
  ga_status status = GA_OK;
  if (!turn(reader, given, what, &status, rotation)) return 0;
  if (status == GA_ERR_MEMORY) r->failed = 1;
  if (status) ga__say_data(r->messages, GA_MESSAGE_ERROR, tree->at, what, &r->ctx->error);
  return !status;
}

/* The keys position and rotation of a map, where they are. */
static int read_pose_keys(ga__reader *reader, ga__tree *map, const char *what, ga_pose *pose)
{
  ga__tree *position = ga__map_get(map, "position"), *rotation = ga__map_get(map, "rotation");
  char text[GA__WHAT];
  int good = 1;
  ga__what(text, "position of %s", what);
  if (position) good &= ga__value_numbers(reader->r, position, 3, "m", text, pose->position);
  ga__what(text, "rotation of %s", what);
  if (rotation) good &= read_rotation(reader, rotation, text, pose->rotation);
  return good;
}

int ga__read_pose(ga__reader *reader, ga__tree *tree, const char *what, ga_pose *pose)
{
  static const char *const keys[] = {"position", "rotation"};
  if (tree->kind == GA__TREE_LIST) return ga__value_numbers(reader->r, tree, 3, "m", what, pose->position);
  if (!ga__expect_map(reader->r, tree, what)) return 0;
  const int good = read_pose_keys(reader, tree, what, pose);
  ga__unknown_keys(reader->r, tree, 2, keys, what);
  return good;
}

/* ---- Lists and their sizes ---- */

int ga__set_size(ga__reader *reader, ga__owner *owner, void *base, size_t at, int n, const char *by,
                 const ga__tree *tree)
{
  int *to = (int *)(void *)((char *)base + at - 1);
  for (int i = 0; i < owner->n_sizes; i++) {
    if (owner->size[i].at != at) continue;
    if (*to == n) return 1;
    ga__say(reader->r->messages, GA_MESSAGE_ERROR, tree->at,
            "%s: sizes do not match: %s has %d, but %s has %d", owner->what, by, n, owner->size[i].by, *to);
    return 0;
  }
  if (owner->n_sizes < GA__MOST_SIZES) {
    owner->size[owner->n_sizes].at = at;
    owner->size[owner->n_sizes++].by = by;
  }
  *to = n;
  return 1;
}

/* A list; where it is a single scalar, that one. */
static int list_of(ga__tree *tree, ga__tree ***child)
{
  if (tree->kind != GA__TREE_LIST) return -1;
  *child = tree->child;
  return tree->n;
}

static int read_list(ga__reader *reader, const ga__field *f, ga__tree *tree, ga__owner *owner,
                     const char *what, void *base)
{
  ga__tree **child = &tree;
  int n = tree->kind == GA__TREE_SCALAR ? 1 : list_of(tree, &child);
  if (n < 0) return ga__expect_list(reader->r, tree, what);
  double *numbers = ga__room(reader, (size_t)n, sizeof *numbers);
  int *flags = ga__room(reader, (size_t)n, sizeof *flags), good = 1;
  if (!numbers || !flags) return 0;
  for (int i = 0; i < n; i++) {
    if (f->rule == GA__RULE_FLAGS)
      good &= ga__value_bool(reader->r, child[i], what, &flags[i]);
    else
      good &= ga__value_number(reader->r, child[i], f->unit, what, &numbers[i]);
  }
  void *at = (char *)base + f->offset;
  if (f->rule == GA__RULE_FLAGS)
    memcpy(at, &flags, sizeof flags);
  else
    memcpy(at, &numbers, sizeof numbers);
  return good && (!f->rows || ga__set_size(reader, owner, base, f->rows, n, f->name, tree));
}

/* Rows of numbers; a matrix of one row may be a plain list, one of a single number that number. */
static int read_matrix(ga__reader *reader, const ga__field *f, ga__tree *tree, ga__owner *owner,
                       const char *what, void *base)
{
  ga__tree **row = &tree;
  const int nested = tree->kind == GA__TREE_LIST && tree->n > 0 && tree->child[0]->kind == GA__TREE_LIST;
  if (tree->kind == GA__TREE_MAP) return ga__expect_list(reader->r, tree, what);
  const int rows = nested ? list_of(tree, &row) : 1, columns = row[0]->kind == GA__TREE_LIST ? row[0]->n : 1;
  double *m = ga__room(reader, (size_t)rows * (size_t)columns, sizeof *m);
  int good = 1;
  if (!m) return 0;
  for (int i = 0; i < rows; i++) {
    if (row[i]->kind == GA__TREE_SCALAR && columns == 1)
      good &= ga__value_number(reader->r, row[i], f->unit, what, m + i);
    else
      good &= ga__value_numbers(reader->r, row[i], columns, f->unit, what, m + (size_t)i * (size_t)columns);
  }
  memcpy((char *)base + f->offset, &m, sizeof m);
  return good && (!f->rows || ga__set_size(reader, owner, base, f->rows, rows, f->name, tree)) &&
         (!f->columns || ga__set_size(reader, owner, base, f->columns, columns, f->name, tree));
}

int ga__read_texts(ga__reader *reader, const ga__tree *tree, const char *what, int *n, const char ***texts)
{
  const int single = tree->kind == GA__TREE_SCALAR;
  int good = 1;
  if (!single && !ga__expect_list(reader->r, tree, what)) return 0;
  *n = single ? 1 : tree->n;
  *texts = ga__room(reader, (size_t)*n, sizeof **texts);
  if (!*texts) return 0;
  for (int i = 0; i < *n; i++)
    good &= ga__value_text(reader->r, single ? tree : tree->child[i], what, &(*texts)[i]);
  return good;
}

/* ---- Numbers ---- */

static int wrong_number(ga__reader *reader, const ga__tree *tree, const char *what, double value,
                        const char *must)
{
  ga__say(reader->r->messages, GA_MESSAGE_ERROR, tree->at, "%s is %g; it must be %s", what, value, must);
  return 0;
}

const char *ga__field_note(const ga__field *field)
{
  return field->unit && strcmp(field->unit, "N/m^exponent") == 0
             ? "; a plain number in SI units, unless the exponent is 1, 2 or 3"
             : "";
}

/* "N/m^exponent" with the exponent that was read before, where units can say it; else a plain number. */
static const char *unit_of(const ga__field *f, const ga__owner *owner, const void *base)
{
  if (owner->other && f->unit_other) return f->unit_other;
  if (!f->unit || strcmp(f->unit, "N/m^exponent") != 0) return f->unit;
  const double exponent = ((const ga_contact_def *)base)->exponent;
  return exponent == 1 ? "N/m" : exponent == 2 ? "N/m^2" : exponent == 3 ? "N/m^3" : "1";
}

static int is_parameter(const ga__reading *r, const char *name)
{
  for (int i = 0; i < ga__parameter_count(r); i++)
    if (strcmp(ga__parameter_name(r, i), name) == 0) return 1;
  return 0;
}

static int read_number(ga__reader *reader, const ga__field *f, ga__tree *tree, const char *unit,
                       const char *what, double *to)
{
  static const char *const infinite[] = {"inf", "+inf", ".inf", "+.inf", "-inf", "-.inf"};
  if (f->rule == GA__RULE_LIMIT && tree->kind == GA__TREE_SCALAR) {
    for (int i = 0; i < 6; i++) {
      if (strcmp(tree->text, infinite[i]) != 0) continue;
      *to = i < 4 ? INFINITY : -INFINITY;
      return 1;
    }
  }
  if (f->nan_word && tree->kind == GA__TREE_SCALAR && strcmp(tree->text, f->nan_word) == 0) {
    if (is_parameter(reader->r, f->nan_word)) {
      ga__say(reader->r->messages, GA_MESSAGE_ERROR, tree->at,
              "%s: '%s' is the word for its value at the start, and a parameter; rename that, or write 1*%s",
              what, f->nan_word, f->nan_word);
      return 0;
    }
    *to = NAN;
    return 1;
  }
  double value;
  if (!ga__value_number(reader->r, tree, unit, what, &value)) return 0;
  if (f->rule == GA__RULE_POSITIVE && !(value > 0)) return wrong_number(reader, tree, what, value, "> 0");
  if (f->rule == GA__RULE_NOT_NEGATIVE && !(value >= 0))
    return wrong_number(reader, tree, what, value, ">= 0");
  /* an angle that may have turns: those are written with pi, as 3*pi */
  if (f->rule == GA__RULE_NUMBER_OR_NAN && !f->nan_word && unit && strcmp(unit, "rad") == 0 &&
      tree->kind == GA__TREE_SCALAR && !strstr(tree->text, "pi"))
    ga__suspect_turn(reader, tree, what);
  *to = value;
  return 1;
}

static int read_numbers(ga__reader *reader, const ga__field *f, ga__tree *tree, const ga__owner *owner,
                        const char *what, void *base)
{
  const char *unit = unit_of(f, owner, base);
  double *to = (double *)(void *)((char *)base + f->offset);
  if (f->count == 1) return read_number(reader, f, tree, unit, what, to);
  const int few = f->least && tree->kind == GA__TREE_LIST && tree->n == f->least;
  if (few || !f->least || (tree->kind == GA__TREE_LIST && tree->n == f->count))
    return ga__value_numbers(reader->r, tree, few ? f->least : f->count, unit, what, to);
  if (tree->kind != GA__TREE_LIST)
    ga__say(reader->r->messages, GA_MESSAGE_ERROR, tree->at, "%s: expected a list of %d or %d numbers", what,
            f->least, f->count);
  else
    ga__say(reader->r->messages, GA_MESSAGE_ERROR, tree->at, "%s: %d numbers are given, expected %d or %d",
            what, tree->n, f->least, f->count);
  return 0;
}

static int read_six(ga__reader *reader, const ga__field *f, const ga__tree *tree, const char *what,
                    double to[6])
{
  int good = 1;
  if (!ga__expect_list(reader->r, tree, what)) return 0;
  if (tree->n != 6) return ga__value_numbers(reader->r, tree, 6, f->unit, what, to);
  for (int i = 0; i < 6; i++)
    good &= ga__value_number(reader->r, tree->child[i], i < 3 ? f->unit : f->unit_other, what, &to[i]);
  return good;
}

/* Entry (i, j) is of force or torque by length or angle: off the two blocks of the diagonal the units are
 * those of a diagonal one with the other divisor. */
static int read_six_by_six(ga__reader *reader, const ga__field *f, const ga__tree *tree, const char *what,
                           double to[36])
{
  char units[4][GA_TEXT_PIECE];
  int good = 1;
  if (!ga__expect_list(reader->r, tree, what)) return 0;
  if (tree->n != 6) return ga__value_numbers(reader->r, tree, 6, f->unit, what, to);
  if (tree->child[0]->kind == GA__TREE_SCALAR) {
    double diagonal[6];
    good = read_six(reader, f, tree, what, diagonal);
    for (int i = 0; i < 6 && good; i++) to[7 * i] = diagonal[i];
    return good;
  }
  snprintf(units[0], sizeof units[0], "%s", f->unit);
  snprintf(units[1], sizeof units[1], "%s*m/rad", f->unit);
  snprintf(units[2], sizeof units[2], "%s*rad/m", f->unit_other);
  snprintf(units[3], sizeof units[3], "%s", f->unit_other);
  for (int i = 0; i < 6; i++) {
    const ga__tree *row = tree->child[i];
    if (!ga__expect_list(reader->r, row, what)) return 0;
    if (row->n != 6) return ga__value_numbers(reader->r, row, 6, f->unit, what, to);
    for (int j = 0; j < 6; j++)
      good &= ga__value_number(reader->r, row->child[j], units[2 * (i / 3) + j / 3], what, &to[6 * i + j]);
  }
  return good;
}

/* ---- Texts ---- */

/* With the ground, where that will do; with the coordinate that was written, "hinge.angle" for "hnge.angle".
 */
static void find_nearest_part(char nearest[2 * GA_TEXT_PIECE], const ga__reader *reader, const ga__field *f,
                              const char *name, int bytes)
{
  static const char *const ground[] = {"ground"};
  char of_ground[GA_TEXT_PIECE] = "";
  const char *dot = memchr(name, '.', (size_t)bytes);
  const int head = dot ? (int)(dot - name) : bytes;
  if (f->note && strstr(f->note, "ground")) ga__nearest_name(of_ground, name, 1, ground);
  ga__names_nearest(nearest, reader->r->messages, &reader->parts.names, name, (size_t)bytes);
  if (!nearest[0] && dot) {
    ga__names_nearest(nearest, reader->r->messages, &reader->parts.names, name, (size_t)head);
    if (nearest[0]) snprintf(nearest + strlen(nearest), GA_TEXT_PIECE, "%.*s", bytes - head, name + head);
  }
  if (of_ground[0] && !nearest[0]) memcpy(nearest, of_ground, sizeof of_ground);
}

/* A part that is referred to: of an unknown one the nearest is reported, here where it stands. */
static int read_reference(ga__reader *reader, const ga__field *f, const ga__tree *tree, const char *what,
                          const char **text)
{
  if (!ga__value_text(reader->r, tree, what, text)) return 0;
  const size_t bytes = strlen(*text);
  if (strcmp(*text, "ground") == 0) return 1;
  ga__named *part = ga__directory_head(&reader->parts, *text, bytes);
  if (part) {
    part->used = 1;
    return 1;
  }
  if (reader->r->incomplete) return 0;
  char nearest[2 * GA_TEXT_PIECE], quoted[GA_TEXT_PIECE];
  find_nearest_part(nearest, reader, f, *text, (int)bytes);
  ga__name_quote(quoted, *text, (int)bytes);
  ga__say_as(reader->r->messages, GA_MESSAGE_ERROR, tree->at, GA_REASON_UNKNOWN_REFERENCE, *text,
             "%s is '%s', but there is no part of that name; expected %s%s%s%s", what, quoted, f->note,
             nearest[0] ? "; did you mean '" : "", nearest, nearest[0] ? "'?" : "");
  return 0;
}

static int read_text(ga__reader *reader, const ga__field *f, const ga__tree *tree, const char *what,
                     const char **to)
{
  static const char *const local[] = {"t", "l", "v"};
  const char *text = NULL;
  int good;
  if (f->refers == GA__REFERS_EXPRESSION)
    good = ga__read_expression(reader, tree, 3, local, what, &text);
  else if (f->refers == GA__REFERS_PART)
    good = read_reference(reader, f, tree, what, &text);
  else
    good = ga__value_text(reader->r, tree, what, &text);
  if (good) *to = text;
  return good;
}

/* ---- Fields ---- */

const char *ga__field_key(const ga__field *field, const char *type_key)
{
  return type_key && strcmp(field->name, "kind") == 0 ? type_key : field->name;
}

static int read_integer(ga__reader *reader, const ga__field *f, const ga__tree *tree, const char *what,
                        int *to)
{
  long value = 0;
  int flag = 0, good;
  if (f->rule == GA__RULE_FLAG)
    good = ga__value_bool(reader->r, tree, what, &flag), value = flag;
  else if (f->rule == GA__RULE_CHOICE)
    good = ga__value_choice(reader->r, tree, f->n_choices, f->choices, what, &flag), value = flag;
  else
    good = ga__value_int(reader->r, tree, f->low, f->high, what, &value);
  if (good) *to = (int)value;
  return good;
}

static int read_inputs(ga__reader *reader, const ga__field *f, ga__tree *tree, const ga__owner *owner,
                       const char *what, ga_input *to)
{
  const char *unit = owner->other && f->unit_other ? f->unit_other : f->unit;
  int good = 1;
  if (f->count == 1) return ga__read_input(reader, tree, unit, what, to);
  if (tree->kind == GA__TREE_SCALAR && f->count == 3) {
    ga__say(reader->r->messages, GA_MESSAGE_ERROR, tree->at,
            "%s: expected a list of what acts along x, y and z, such as [0, 0, 10], found one value", what);
    return 0;
  }
  if (!ga__expect_list(reader->r, tree, what)) return 0;
  if (tree->n != f->count) {
    ga__say(reader->r->messages, GA_MESSAGE_ERROR, tree->at, "%s: %d values are given, expected %d", what,
            tree->n, f->count);
    return 0;
  }
  for (int i = 0; i < f->count; i++) good &= ga__read_input(reader, tree->child[i], unit, what, &to[i]);
  return good;
}

static int read_field(ga__reader *reader, const ga__field *f, ga__tree *tree, ga__owner *owner, void *base)
{
  char what[GA__WHAT];
  void *at = (char *)base + f->offset;
  ga__what(what, "%s of %s", ga__field_key(f, owner->type_key), owner->what);
  switch (f->rule) {
  case GA__RULE_TEXT:
  case GA__RULE_TEXT_NEEDED:
    return read_text(reader, f, tree, what, at);
  case GA__RULE_NUMBER:
  case GA__RULE_NUMBER_OR_NAN:
  case GA__RULE_POSITIVE:
  case GA__RULE_NOT_NEGATIVE:
  case GA__RULE_LIMIT:
    return read_numbers(reader, f, tree, owner, what, base);
  case GA__RULE_SIX:
    return read_six(reader, f, tree, what, at);
  case GA__RULE_SIX_BY_SIX:
    return read_six_by_six(reader, f, tree, what, at);
  case GA__RULE_FLAG:
  case GA__RULE_INTEGER:
  case GA__RULE_CHOICE:
    return read_integer(reader, f, tree, what, at);
  case GA__RULE_POSE:
    return ga__read_pose(reader, tree, what, at);
  case GA__RULE_INPUT:
    return read_inputs(reader, f, tree, owner, what, at);
  case GA__RULE_FUNCTION:
  case GA__RULE_FUNCTION_NEEDED:
    return ga__read_function(reader, tree, owner->other && f->unit_other ? f->unit_other : f->unit, what, at);
  case GA__RULE_LIST:
  case GA__RULE_FLAGS:
    return read_list(reader, f, tree, owner, what, base);
  case GA__RULE_MATRIX:
    return read_matrix(reader, f, tree, owner, what, base);
  }
  return 0;
}

/* Keys that the kind does not look at are no fault, but not meant so. */
static void warn_ignored(ga__reader *reader, const ga__field *f, const ga__tree *tree, const ga__owner *owner)
{
  if (owner->kind < 0 || (ga__field_kinds(f) & (1ul << owner->kind))) return;
  ga__say(reader->r->messages, GA_MESSAGE_WARNING, tree->key_at, "%s: its %s does not look at %s",
          owner->what, owner->type_key, f->name);
}

/* Position and rotation beside the other keys stand for the map `pose`. */
static int read_flat_pose(ga__reader *reader, const ga__field *f, ga__tree *map, const ga__owner *owner,
                          void *base)
{
  if (f->rule != GA__RULE_POSE || strcmp(f->name, "pose") != 0) return 1;
  const ga__tree *pose = ga__map_get(map, "pose"), *position = ga__map_get(map, "position"),
                 *rotation = ga__map_get(map, "rotation");
  if (pose && (position || rotation)) {
    ga__say(reader->r->messages, GA_MESSAGE_ERROR, pose->key_at,
            "%s has both a pose and a %s; give one of them", owner->what, position ? "position" : "rotation");
    return 0;
  }
  return read_pose_keys(reader, map, owner->what, (ga_pose *)(void *)((char *)base + f->offset));
}

/* 1: the field is needed, and this was reported. */
static int report_missing(ga__reader *reader, const ga__field *f, const ga__tree *map, const ga__owner *owner,
                          const void *base)
{
  if (!ga__field_needed(f, base)) return 0;
  char quantity[2 * GA_TEXT_PIECE];
  const char *expected = f->rule == GA__RULE_CHOICE ? f->choices[0] : f->note;
  const char *unit = owner->other && f->unit_other ? f->unit_other : f->unit;
  ga_dimension dimension;
  if (!expected && unit && strcmp(unit, "1") != 0 &&
      !ga_unit_parse(reader->r->ctx, unit, NULL, &dimension, NULL)) {
    ga_dimension_text(quantity, sizeof quantity, &dimension);
    expected = quantity;
  }
  const int function = f->rule == GA__RULE_FUNCTION_NEEDED;
  if (function && !owner->other) expected = "a length (m), or an angle (rad) of a coordinate that turns,";
  ga__say_as(reader->r->messages, GA_MESSAGE_ERROR, map->key ? map->key_at : map->at, GA_REASON_KEY_MISSING,
             NULL, "%s has no %s%s%s%s%s", owner->what, ga__field_key(f, owner->type_key),
             expected ? "; expected " : "", f->rule == GA__RULE_CHOICE ? "one such as " : "",
             expected ? expected : "", function ? " as a function of time, such as 0.5*t" : "");
  return 1;
}

int ga__read_fields(ga__reader *reader, ga__tree *map, int n, const ga__field *fields, ga__owner *owner,
                    void *base)
{
  const char *outer = ga__messages_field(reader->r->messages, NULL);
  int good = 1;
  for (int i = 0; i < n; i++) {
    const ga__field *f = &fields[i];
    if (f->hidden) continue;
    ga__tree *tree = ga__map_get(map, ga__field_key(f, owner->type_key));
    ga__messages_field(reader->r->messages, ga__field_key(f, owner->type_key));
    good &= read_flat_pose(reader, f, map, owner, base);
    if (!tree) {
      good &= !report_missing(reader, f, map, owner, base);
      continue;
    }
    const int read = read_field(reader, f, tree, owner, base);
    if (read && f->rule == GA__RULE_CHOICE && strcmp(f->name, "kind") == 0)
      memcpy(&owner->kind, (char *)base + f->offset, sizeof owner->kind);
    if (f->given) *(int *)(void *)((char *)base + f->given - 1) = 1;
    warn_ignored(reader, f, tree, owner);
    good &= read;
  }
  ga__messages_field(reader->r->messages, outer);
  return good;
}

void ga__finish_keys(ga__reader *reader, const ga__tree *map, int n, const ga__field *fields,
                     const ga__owner *owner, int n_more, const char *const *more)
{
  const char *known[MOST_KEYS];
  int n_known = 0;
  for (int i = 0; i < n && n_known < MOST_KEYS - 2; i++) {
    if (fields[i].hidden) continue;
    known[n_known++] = ga__field_key(&fields[i], owner->type_key);
    if (fields[i].rule != GA__RULE_POSE || strcmp(fields[i].name, "pose") != 0) continue;
    known[n_known++] = "position";
    known[n_known++] = "rotation";
  }
  for (int i = 0; i < n_more && n_known < MOST_KEYS; i++) known[n_known++] = more[i];
  ga__unknown_keys(reader->r, map, n_known, known, owner->what);
}
