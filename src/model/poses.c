/* Positions and rotations. */
#include "model/fields.h"

#include <math.h>
#include <string.h>

#define FULL_TURN (6.283185307179586 * (1 + 1e-9))

/* Nine numbers, or three rows of three. */
static int read_matrix3(ga__reader *reader, ga__tree *tree, double m[9])
{
  if (tree->kind != GA__TREE_LIST || tree->n != 3 || tree->child[0]->kind != GA__TREE_LIST)
    return ga__value_numbers(reader->r, tree, 9, "1", m);
  int good = 1;
  for (int i = 0; i < 3; i++) good &= ga__value_numbers(reader->r, tree->child[i], 3, "1", m + 3 * i);
  return good;
}

static const char *const rotation_keys[] = {"matrix", "quaternion", "axis",   "angle",
                                            "euler",  "sequence",   "z_axis", "x_axis"};
enum { MATRIX, QUATERNION, AXIS, ANGLE, EULER, SEQUENCE, Z_AXIS, X_AXIS, N_ROTATION_KEYS };

void ga__suspect_turn(ga__reader *reader, const ga__tree *tree)
{
  ga__number number;
  if (tree->kind != GA__TREE_SCALAR || strchr(tree->text, '[')) return;
  if (!ga__value_with_unit(reader->r, tree, "rad", &number) || number.has_dimension) return;
  if (fabs(number.value) > FULL_TURN)
    ga__report_warning(
        reader->r->messages, tree->at, GA_REASON_SUSPICIOUS_UNIT,
        &(ga__facts){GA__NUMBERS({number.value, "rad"}), .detail = "more than a turn", .expected = "deg"});
}

static int read_turn(ga__reader *reader, const ga__tree *tree, double *angle)
{
  if (!ga__value_number(reader->r, tree, "rad", angle)) return 0;
  ga__suspect_turn(reader, tree);
  return 1;
}

static int read_euler(ga__reader *reader, const ga__tree *tree, double angle[3])
{
  if (tree->kind != GA__TREE_LIST || tree->n != 3) return ga__value_numbers(reader->r, tree, 3, "rad", angle);
  int good = 1;
  for (int i = 0; i < 3; i++) good &= read_turn(reader, tree->child[i], &angle[i]);
  return good;
}

static int turn(ga__reader *reader, ga__tree *const given[N_ROTATION_KEYS], ga_status *status,
                double rotation[9])
{
  ga__reading *r = reader->r;
  double m[9], x[3], angle = 0;
  const char *sequence = NULL;
  int good = 1;
  if (given[MATRIX]) {
    good = read_matrix3(reader, given[MATRIX], m);
    if (good) *status = ga_rotation_matrix(r->ctx, m, rotation);
  } else if (given[QUATERNION]) {
    good = ga__value_numbers(r, given[QUATERNION], 4, "1", m);
    if (good) *status = ga_rotation_quaternion(r->ctx, m, rotation);
  } else if (given[AXIS]) {
    good = ga__value_numbers(r, given[AXIS], 3, NULL, m);
    good &= read_turn(reader, given[ANGLE], &angle);
    if (good) *status = ga_rotation_axis_angle(r->ctx, m, angle, rotation);
  } else if (given[EULER]) {
    good = read_euler(reader, given[EULER], m);
    good &= ga__value_text(r, given[SEQUENCE], &sequence);
    if (good) *status = ga_rotation_euler(r->ctx, sequence, m, rotation);
  } else {
    good = ga__value_numbers(r, given[Z_AXIS], 3, NULL, m);
    if (given[X_AXIS]) good &= ga__value_numbers(r, given[X_AXIS], 3, NULL, x);
    if (good) *status = ga_rotation_z_axis(r->ctx, m, given[X_AXIS] ? x : NULL, rotation);
  }
  return good;
}

static int read_rotation(ga__reader *reader, ga__tree *tree, double rotation[9])
{
  ga__reading *r = reader->r;
  ga__tree *given[N_ROTATION_KEYS];
  int ways = 0;
  if (tree->kind != GA__TREE_MAP) {
    ga__report_error(r->messages, tree->at, GA_REASON_WRONG_FORM,
                     &(ga__facts){.expected = "a map",
                                  .name = tree->kind == GA__TREE_LIST ? "a list" : "a text",
                                  .detail = "as in {axis: [0, 0, 1], angle: 90 deg}, {euler: [0, 0, 90 deg], "
                                            "sequence: xyz} or {z_axis: [0, 1, 0]}"});
    return 0;
  }
  for (int i = 0; i < N_ROTATION_KEYS; i++) {
    given[i] = ga__map_get(tree, rotation_keys[i]);
    ways += given[i] && (i == MATRIX || i == QUATERNION || i == AXIS || i == EULER || i == Z_AXIS);
  }
  ga__unknown_keys(r, tree, N_ROTATION_KEYS, rotation_keys);
  const int apart =
      !given[AXIS] != !given[ANGLE] || !given[EULER] != !given[SEQUENCE] || (given[X_AXIS] && !given[Z_AXIS]);
  if (ways != 1 || apart) {
    ga__report_error(
        r->messages, tree->at, GA_REASON_GIVE_ONE_OF,
        &(ga__facts){.expected = "one of matrix, quaternion, axis with angle, euler with sequence, z_axis "
                                 "(perhaps with x_axis)",
                     .detail = given[AXIS] && !given[ANGLE]
                                   ? "for the axis that a joint turns about, z_axis instead of axis"
                                   : NULL});
    return 0;
  }
  ga_status status = GA_OK;
  if (!turn(reader, given, &status, rotation)) return 0;
  if (status == GA_ERR_MEMORY) r->failed = 1;
  if (status) ga__report_found(r->messages, tree->at, &r->ctx->error);
  return !status;
}

int ga__read_pose_keys(ga__reader *reader, ga__tree *map, ga_pose *pose)
{
  ga__tree *position = ga__map_get(map, "position"), *rotation = ga__map_get(map, "rotation");
  ga__messages *m = reader->r->messages;
  const ga__line_values outer = ga__value_choose(reader->r, GA__ON_CURVE);
  int good = 1;
  size_t before = ga__messages_enter(m, "position");
  if (position) good &= ga__value_numbers(reader->r, position, 3, "m", pose->position);
  ga__messages_leave(m, before);
  before = ga__messages_enter(m, "rotation");
  if (rotation) good &= read_rotation(reader, rotation, pose->rotation);
  ga__messages_leave(m, before);
  ga__value_choose(reader->r, outer);
  return good;
}

int ga__read_pose(ga__reader *reader, ga__tree *tree, ga_pose *pose)
{
  static const char *const keys[] = {"position", "rotation"};
  if (tree->kind == GA__TREE_LIST) return ga__value_numbers(reader->r, tree, 3, "m", pose->position);
  if (!ga__expect_map(reader->r, tree)) return 0;
  const int good = ga__read_pose_keys(reader, tree, pose);
  ga__unknown_keys(reader->r, tree, 2, keys);
  return good;
}
