/* Structs from maps, by tables of fields. */
#include "model/fields.h"
#include "model/format.h"
#include "model/inputs.h"
#include "model/sections.h"

#include "mbs/name.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_KEYS = 48 };

/* ---- Lists and their sizes ---- */

int ga__set_size(ga__reader *reader, ga__owner *owner, void *base, size_t at, int n, const char *by,
                 const ga__tree *tree)
{
  int *to = (int *)(void *)((char *)base + at - 1);
  for (int i = 0; i < owner->n_sizes; i++) {
    if (owner->size[i].at != at) continue;
    if (*to == n) return 1;
    ga__report_error(
        reader->r->messages, tree->at, GA_REASON_SIZES_DIFFER,
        &(ga__facts){.name = by, .other = owner->size[i].by, GA__NUMBERS({n, NULL}, {*to, NULL})});
    return 0;
  }
  if (owner->n_sizes < GA__MOST_SIZES) {
    owner->size[owner->n_sizes].at = at;
    owner->size[owner->n_sizes++].by = by;
  }
  *to = n;
  return 1;
}

/* The items of a list; a single scalar counts as a list of one. */
static int list_of(ga__tree *tree, ga__tree ***child)
{
  if (tree->kind != GA__TREE_LIST) return -1;
  *child = tree->child;
  return tree->n;
}

static int read_list(ga__reader *reader, const ga__field *f, ga__tree *tree, ga__owner *owner, void *base)
{
  ga__tree **child = &tree;
  int n = tree->kind == GA__TREE_SCALAR ? 1 : list_of(tree, &child);
  if (n < 0) return ga__expect_list(reader->r, tree);
  double *numbers = ga__room(reader, (size_t)n, sizeof *numbers);
  int *flags = ga__room(reader, (size_t)n, sizeof *flags), good = 1;
  if (!numbers || !flags) return 0;
  for (int i = 0; i < n; i++) {
    if (f->rule == GA__RULE_FLAGS)
      good &= ga__value_bool(reader->r, child[i], &flags[i]);
    else
      good &= ga__value_number(reader->r, child[i], f->unit, &numbers[i]);
  }
  void *at = (char *)base + f->offset;
  if (f->rule == GA__RULE_FLAGS)
    memcpy(at, &flags, sizeof flags);
  else
    memcpy(at, &numbers, sizeof numbers);
  return good && (!f->rows || ga__set_size(reader, owner, base, f->rows, n, f->name, tree));
}

/* Rows of numbers; a matrix of one row may be a plain list, one of a single number that number. */
static int read_matrix(ga__reader *reader, const ga__field *f, ga__tree *tree, ga__owner *owner, void *base)
{
  ga__tree **row = &tree;
  const int nested = tree->kind == GA__TREE_LIST && tree->n > 0 && tree->child[0]->kind == GA__TREE_LIST;
  if (tree->kind == GA__TREE_MAP) return ga__expect_list(reader->r, tree);
  const int rows = nested ? list_of(tree, &row) : 1, columns = row[0]->kind == GA__TREE_LIST ? row[0]->n : 1;
  double *m = ga__room(reader, (size_t)rows * (size_t)columns, sizeof *m);
  int good = 1;
  if (!m) return 0;
  for (int i = 0; i < rows; i++) {
    if (row[i]->kind == GA__TREE_SCALAR && columns == 1)
      good &= ga__value_number(reader->r, row[i], f->unit, m + i);
    else
      good &= ga__value_numbers(reader->r, row[i], columns, f->unit, m + (size_t)i * (size_t)columns);
  }
  memcpy((char *)base + f->offset, &m, sizeof m);
  return good && (!f->rows || ga__set_size(reader, owner, base, f->rows, rows, f->name, tree)) &&
         (!f->columns || ga__set_size(reader, owner, base, f->columns, columns, f->name, tree));
}

int ga__read_texts(ga__reader *reader, const ga__tree *tree, int *n, const char ***texts)
{
  const int single = tree->kind == GA__TREE_SCALAR;
  int good = 1;
  if (!single && !ga__expect_list(reader->r, tree)) return 0;
  *n = single ? 1 : tree->n;
  *texts = ga__room(reader, (size_t)*n, sizeof **texts);
  if (!*texts) return 0;
  for (int i = 0; i < *n; i++)
    good &= ga__value_text(reader->r, single ? tree : tree->child[i], &(*texts)[i]);
  return good;
}

/* ---- Numbers ---- */

const char *ga__field_note(const ga__field *field)
{
  return field->unit && strcmp(field->unit, "N/m^exponent") == 0
             ? "; a plain number in SI units, unless the exponent is 1, 2 or 3"
             : "";
}

/* "N/m^exponent" with the exponent, which is the field before it, if it is a valid unit; else a plain number.
 */
static const char *unit_of(const ga__field *f, const ga__owner *owner, const void *base)
{
  if (owner->other && f->unit_other) return f->unit_other;
  if (!f->unit || strcmp(f->unit, "N/m^exponent") != 0) return f->unit;
  const double exponent = *(const double *)(const void *)((const char *)base + f[-1].offset);
  return exponent == 1 ? "N/m" : exponent == 2 ? "N/m^2" : exponent == 3 ? "N/m^3" : "1";
}

static int is_parameter(const ga__reading *r, const char *name)
{
  for (int i = 0; i < ga__parameter_count(r); i++)
    if (strcmp(ga__parameter_name(r, i), name) == 0) return 1;
  return 0;
}

static int read_number(ga__reader *reader, const ga__field *f, ga__tree *tree, const char *unit, double *to)
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
      char product[GA_TEXT_PIECE];
      snprintf(product, sizeof product, "1*%s", f->nan_word);
      ga__report_error(reader->r->messages, tree->at, GA_REASON_AMBIGUOUS_NAME,
                       &(ga__facts){.name = f->nan_word,
                                    .other = "the word for its value at the start",
                                    .expected = product});
      return 0;
    }
    *to = NAN;
    return 1;
  }
  const char *shown = unit && strcmp(unit, "1") != 0 ? unit : NULL;
  double value;
  if (!ga__value_number(reader->r, tree, unit, &value)) return 0;
  if (f->rule == GA__RULE_POSITIVE && !(value > 0))
    return ga__report_range(reader->r, tree, value, shown, "> 0");
  if (f->rule == GA__RULE_NOT_NEGATIVE && !(value >= 0))
    return ga__report_range(reader->r, tree, value, shown, ">= 0");
  /* an angle that may have several turns is written with pi, as 3*pi: no warning of degrees */
  if (f->rule == GA__RULE_NUMBER_OR_NAN && !f->nan_word && unit && strcmp(unit, "rad") == 0 &&
      tree->kind == GA__TREE_SCALAR && !strstr(tree->text, "pi"))
    ga__suspect_turn(reader, tree);
  *to = value;
  return 1;
}

static int read_numbers(ga__reader *reader, const ga__field *f, ga__tree *tree, const ga__owner *owner,
                        void *base)
{
  const char *unit = unit_of(f, owner, base);
  double *to = (double *)(void *)((char *)base + f->offset);
  if (f->count == 1) return read_number(reader, f, tree, unit, to);
  char expected[GA_TEXT_PIECE];
  const int few = f->least && tree->kind == GA__TREE_LIST && tree->n == f->least;
  if (few || !f->least || (tree->kind == GA__TREE_LIST && tree->n == f->count))
    return ga__value_numbers(reader->r, tree, few ? f->least : f->count, unit, to);
  snprintf(expected, sizeof expected, "a list of %d or %d numbers", f->least, f->count);
  if (tree->kind == GA__TREE_LIST) return ga__report_count(reader->r, tree, expected, tree->n, NULL);
  return ga__expect_list_of(reader->r, tree, expected);
}

static int read_six(ga__reader *reader, const ga__field *f, const ga__tree *tree, double to[6])
{
  int good = 1;
  if (!ga__expect_list(reader->r, tree)) return 0;
  if (tree->n != 6) return ga__value_numbers(reader->r, tree, 6, f->unit, to);
  for (int i = 0; i < 6; i++)
    good &= ga__value_number(reader->r, tree->child[i], i < 3 ? f->unit : f->unit_other, &to[i]);
  return good;
}

/* Entry (i, j) is of force or torque by length or angle: off the two blocks of the diagonal the units are
 * those of a diagonal one with the other divisor. */
static int read_six_by_six(ga__reader *reader, const ga__field *f, const ga__tree *tree, double to[36])
{
  char units[4][GA_TEXT_PIECE];
  int good = 1;
  if (!ga__expect_list(reader->r, tree)) return 0;
  if (tree->n != 6) return ga__value_numbers(reader->r, tree, 6, f->unit, to);
  if (tree->child[0]->kind == GA__TREE_SCALAR) {
    double diagonal[6];
    good = read_six(reader, f, tree, diagonal);
    for (int i = 0; i < 6 && good; i++) to[7 * i] = diagonal[i];
    return good;
  }
  snprintf(units[0], sizeof units[0], "%s", f->unit);
  snprintf(units[1], sizeof units[1], "%s*m/rad", f->unit);
  snprintf(units[2], sizeof units[2], "%s*rad/m", f->unit_other);
  snprintf(units[3], sizeof units[3], "%s", f->unit_other);
  for (int i = 0; i < 6; i++) {
    const ga__tree *row = tree->child[i];
    if (!ga__expect_list(reader->r, row)) return 0;
    if (row->n != 6) return ga__value_numbers(reader->r, row, 6, f->unit, to);
    for (int j = 0; j < 6; j++)
      good &= ga__value_number(reader->r, row->child[j], units[2 * (i / 3) + j / 3], &to[6 * i + j]);
  }
  return good;
}

/* ---- Texts ---- */

/* The nearest part (or the ground, if allowed), with the given coordinate: "hinge.angle" for "hnge.angle". */
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

/* Reads the name of a part; an unknown one is reported with the nearest name. */
static int read_reference(ga__reader *reader, const ga__field *f, const ga__tree *tree, const char **text)
{
  if (!ga__value_text(reader->r, tree, text)) return 0;
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
  ga__report_error(reader->r->messages, tree->at, GA_REASON_UNKNOWN_PART,
                   &(ga__facts){.name = quoted, .expected = f->note, .nearest = nearest});
  return 0;
}

static int read_text(ga__reader *reader, const ga__field *f, const ga__tree *tree, const char **to)
{
  static const char *const local[] = {"t", "l", "v"}, *const place[] = {"t", "x", "y"};
  const char *text = NULL;
  int good;
  if (f->refers == GA__REFERS_EXPRESSION || f->refers == GA__REFERS_SIGNALS)
    good = ga__read_expression(reader, tree, f->refers == GA__REFERS_EXPRESSION ? 3 : 1, local, &text);
  else if (f->refers == GA__REFERS_PLACE)
    good = ga__read_expression(reader, tree, 3, place, &text);
  else if (f->refers == GA__REFERS_PART)
    good = read_reference(reader, f, tree, &text);
  else
    good = ga__value_text(reader->r, tree, &text);
  if (good) *to = text;
  return good;
}

/* ---- Fields ---- */

const char *ga__field_key(const ga__field *field, const char *type_key)
{
  return type_key && strcmp(field->name, "kind") == 0 ? type_key : field->name;
}

static int read_integer(ga__reader *reader, const ga__field *f, const ga__tree *tree, int *to)
{
  long value = 0;
  int flag = 0, good;
  if (f->rule == GA__RULE_FLAG)
    good = ga__value_bool(reader->r, tree, &flag), value = flag;
  else if (f->rule == GA__RULE_CHOICE)
    good = ga__value_choice(reader->r, tree, f->n_choices, f->choices, &flag), value = flag;
  else if (f->zero_word && tree->kind == GA__TREE_SCALAR && strcmp(tree->text, f->zero_word) == 0)
    good = 1;
  else
    good = ga__value_int(reader->r, tree, f->low, f->high, &value);
  if (good) *to = (int)value;
  return good;
}

static int read_inputs(ga__reader *reader, const ga__field *f, ga__tree *tree, const ga__owner *owner,
                       ga_input *to)
{
  const char *unit = owner->other && f->unit_other ? f->unit_other : f->unit;
  char expected[GA_ERROR_NAME];
  int good = 1;
  if (f->count == 1) return ga__read_input(reader, tree, unit, to);
  snprintf(expected, sizeof expected,
           f->count == 3 ? "a list of what acts along x, y and z, such as [0, 0, 10]" : "a list of %d values",
           f->count);
  if (!ga__expect_list_of(reader->r, tree, expected)) return 0;
  if (tree->n != f->count) return ga__report_count(reader->r, tree, expected, tree->n, NULL);
  for (int i = 0; i < f->count; i++) good &= ga__read_input(reader, tree->child[i], unit, &to[i]);
  return good;
}

static int read_field(ga__reader *reader, const ga__field *f, ga__tree *tree, ga__owner *owner, void *base)
{
  void *at = (char *)base + f->offset;
  switch (f->rule) {
  case GA__RULE_TEXT:
  case GA__RULE_TEXT_NEEDED:
    return read_text(reader, f, tree, at);
  case GA__RULE_NUMBER:
  case GA__RULE_NUMBER_OR_NAN:
  case GA__RULE_POSITIVE:
  case GA__RULE_NOT_NEGATIVE:
  case GA__RULE_LIMIT:
    return read_numbers(reader, f, tree, owner, base);
  case GA__RULE_SIX:
    return read_six(reader, f, tree, at);
  case GA__RULE_SIX_BY_SIX:
    return read_six_by_six(reader, f, tree, at);
  case GA__RULE_FLAG:
  case GA__RULE_INTEGER:
  case GA__RULE_CHOICE:
    return read_integer(reader, f, tree, at);
  case GA__RULE_POSE:
    return ga__read_pose(reader, tree, at);
  case GA__RULE_INPUT:
    return read_inputs(reader, f, tree, owner, at);
  case GA__RULE_FUNCTION:
  case GA__RULE_FUNCTION_NEEDED:
    return ga__read_function(reader, tree, owner->other && f->unit_other ? f->unit_other : f->unit, at);
  case GA__RULE_LIST:
  case GA__RULE_FLAGS:
    return read_list(reader, f, tree, owner, base);
  case GA__RULE_MATRIX:
    return read_matrix(reader, f, tree, owner, base);
  }
  return 0;
}

/* Warns of a key that this kind ignores. */
static void warn_ignored(ga__reader *reader, const ga__field *f, const ga__tree *tree, const ga__owner *owner)
{
  if (owner->kind < 0 || (ga__field_kinds(f) & (1ul << owner->kind))) return;
  ga__report_warning(reader->r->messages, tree->key_at, GA_REASON_SETTING_UNUSED,
                     &(ga__facts){.other = owner->type_key, .name = owner->kind_name});
}

/* Reads a given field, marks it as given, and sets the kind if this field chooses it. */
static int read_given(ga__reader *reader, const ga__field *f, ga__tree *tree, ga__owner *owner, void *base)
{
  const int good = read_field(reader, f, tree, owner, base);
  if (good && f->rule == GA__RULE_CHOICE && strcmp(f->name, "kind") == 0) {
    memcpy(&owner->kind, (char *)base + f->offset, sizeof owner->kind);
    owner->kind_name = f->choices[owner->kind];
  }
  if (f->given) *(int *)(void *)((char *)base + f->given - 1) = 1;
  warn_ignored(reader, f, tree, owner);
  return good;
}

/* Reads position and rotation that are given beside other keys instead of in a map `pose`. */
static int read_flat_pose(ga__reader *reader, const ga__field *f, ga__tree *map, void *base)
{
  if (f->rule != GA__RULE_POSE || strcmp(f->name, "pose") != 0) return 1;
  const ga__tree *pose = ga__map_get(map, "pose"), *position = ga__map_get(map, "position"),
                 *rotation = ga__map_get(map, "rotation");
  if (pose && (position || rotation)) {
    ga__report_error(reader->r->messages, pose->key_at, GA_REASON_BOTH_GIVEN,
                     &(ga__facts){.name = "pose", .other = position ? "position" : "rotation"});
    return 0;
  }
  return ga__read_pose_keys(reader, map, (ga_pose *)(void *)((char *)base + f->offset));
}

/* Describes the expected value of a missing field; NULL: nothing to add. */
static const char *describe_missing(ga__reader *reader, const ga__field *f, const ga__owner *owner,
                                    char text[GA_ERROR_NAME])
{
  const char *unit = owner->other && f->unit_other ? f->unit_other : f->unit;
  ga_dimension dimension;
  if (f->rule == GA__RULE_FUNCTION_NEEDED) return "a function, such as 0.5*t";
  if (f->rule == GA__RULE_CHOICE) {
    snprintf(text, GA_ERROR_NAME, "one such as %s", f->choices[0]);
    return text;
  }
  if (f->note) return f->note;
  if (!unit || strcmp(unit, "1") == 0 || ga_unit_parse(reader->r->ctx, unit, NULL, &dimension, NULL))
    return NULL;
  ga_dimension_text(text, 2 * GA_TEXT_PIECE, &dimension);
  return text;
}

/* 1: the field is required and missing, which is reported. */
static int report_missing(ga__reader *reader, const ga__field *f, const ga__tree *map, const ga__owner *owner,
                          const void *base)
{
  char text[GA_ERROR_NAME];
  if (!ga__field_needed(f, base)) return 0;
  ga__report_error(reader->r->messages, map->key ? map->key_at : map->at, GA_REASON_KEY_MISSING,
                   &(ga__facts){.expected = describe_missing(reader, f, owner, text)});
  return 1;
}

int ga__read_fields(ga__reader *reader, ga__tree *map, int n, const ga__field *fields, ga__owner *owner,
                    void *base)
{
  ga__messages *m = reader->r->messages;
  int good = 1;
  for (int i = 0; i < n; i++) {
    const ga__field *f = &fields[i];
    if (f->hidden) continue;
    ga__tree *tree = ga__map_get(map, ga__field_key(f, owner->type_key));
    good &= read_flat_pose(reader, f, map, base);
    const size_t before = ga__messages_enter(m, ga__field_key(f, owner->type_key));
    good &= tree ? read_given(reader, f, tree, owner, base) : !report_missing(reader, f, map, owner, base);
    ga__messages_leave(m, before);
  }
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
  ga__unknown_keys(reader->r, map, n_known, known);
}
