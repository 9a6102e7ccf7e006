/* Joints: a table of the gauges that each kind holds at zero and of the coordinates it leaves free. */
#include "mbs/channel.h"
#include "mbs/coordinate.h"
#include "mbs/element.h"
#include "mbs/name.h"
#include "mbs/servo.h"

#include "lie/mat3.h"
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { X = 0, Y = 1, Z = 2 };

/* One row: a gauge between the joint's frames, with axis u of a and axis w of b. */
typedef struct row_recipe {
  const char *label; /* NULL: no more rows */
  ga__gauge_kind kind;
  int u, w;
} row_recipe;

typedef struct coordinate_recipe {
  int number; /* 1 + that in the table of coordinates; 0: no more */
  ga__gauge_kind kind;
  int axis;
  int of_b; /* 1: an angle about y of b, not of a */
} coordinate_recipe;

enum { MOST_ROWS = 5 };

typedef struct joint_recipe {
  int exists;
  int point; /* 1: origins coincide */
  row_recipe row[MOST_ROWS + 1];
  coordinate_recipe coordinate[GA__MOST_COORDINATES + 1];
  int to_length; /* the first row is held at the joint's length */
  int thread;    /* 1: a thread ties its second coordinate to the first */
} joint_recipe;

/* Rotation about an axis is locked by keeping an axis of b perpendicular to one of a. */
#define ROT_X                                                                                                \
  {                                                                                                          \
    "rotation about x", GA__DOT, Y, Z                                                                        \
  }
#define ROT_Y                                                                                                \
  {                                                                                                          \
    "rotation about y", GA__DOT, X, Z                                                                        \
  }
#define ROT_Z                                                                                                \
  {                                                                                                          \
    "rotation about z", GA__DOT, X, Y                                                                        \
  }
#define OFF_X                                                                                                \
  {                                                                                                          \
    "displacement along x", GA__ALONG, X, 0                                                                  \
  }
#define OFF_Y                                                                                                \
  {                                                                                                          \
    "displacement along y", GA__ALONG, Y, 0                                                                  \
  }
#define OFF_Z                                                                                                \
  {                                                                                                          \
    "displacement along z", GA__ALONG, Z, 0                                                                  \
  }
#define TURN                                                                                                 \
  {                                                                                                          \
    "rotation about z", GA__PLANE_ANGLE, 0, 0                                                                \
  }
#define LENGTH                                                                                               \
  {                                                                                                          \
    "length", GA__DISTANCE, 0, 0                                                                             \
  }
#define END                                                                                                  \
  {                                                                                                          \
    NULL, GA__WORLD, 0, 0                                                                                    \
  }
#define IS(coordinate) (1 + GA__COORDINATE_##coordinate)
#define ANGLE_Z                                                                                              \
  {                                                                                                          \
    IS(angle), GA__ANGLE, Z, 0                                                                               \
  }
#define SLIDE_Z                                                                                              \
  {                                                                                                          \
    IS(displacement), GA__ALONG, Z, 0                                                                        \
  }
#define SLIDE_X                                                                                              \
  {                                                                                                          \
    IS(displacement), GA__ALONG, X, 0                                                                        \
  }
#define PLANE                                                                                                \
  {                                                                                                          \
    IS(angle), GA__PLANE_ANGLE, 0, 0                                                                         \
  }

static const joint_recipe SPACE[GA_N_JOINTS] = {
    [GA_JOINT_FIXED] = {1, 1, {ROT_X, ROT_Y, ROT_Z}, {{0}}, 0, 0},
    [GA_JOINT_REVOLUTE] = {1, 1, {ROT_X, ROT_Y}, {ANGLE_Z}, 0, 0},
    [GA_JOINT_PRISMATIC] = {1, 0, {OFF_X, OFF_Y, ROT_X, ROT_Y, ROT_Z}, {SLIDE_Z}, 0, 0},
    [GA_JOINT_CYLINDRICAL] = {1, 0, {OFF_X, OFF_Y, ROT_X, ROT_Y}, {ANGLE_Z, SLIDE_Z}, 0, 0},
    [GA_JOINT_SPHERICAL] = {1, 1, {END}, {{0}}, 0, 0},
    [GA_JOINT_UNIVERSAL] =
        {1, 1, {ROT_Z}, {{IS(angle_x), GA__ANGLE, X, 0}, {IS(angle_y), GA__ANGLE, Y, 1}}, 0, 0},
    [GA_JOINT_PLANAR] =
        {1, 0, {OFF_Z, ROT_X, ROT_Y}, {{IS(x), GA__ALONG, X, 0}, {IS(y), GA__ALONG, Y, 0}, ANGLE_Z}, 0, 0},
    [GA_JOINT_POINT_ON_LINE] = {1, 0, {OFF_X, OFF_Y}, {SLIDE_Z}, 0, 0},
    [GA_JOINT_POINT_ON_PLANE] = {1, 0, {OFF_Z}, {{IS(x), GA__ALONG, X, 0}, {IS(y), GA__ALONG, Y, 0}}, 0, 0},
    [GA_JOINT_DISTANCE] = {1, 0, {LENGTH}, {{0}}, 1, 0},
    [GA_JOINT_ROD] = {1, 0, {LENGTH, OFF_Z}, {{0}}, 1, 0},
    [GA_JOINT_PARALLEL] = {1, 0, {ROT_X, ROT_Y}, {ANGLE_Z}, 0, 0},
    [GA_JOINT_PERPENDICULAR] = {1, 0, {{"angle between z and x", GA__DOT, Z, X}}, {{0}}, 0, 0},
    [GA_JOINT_SCREW] = {1, 0, {OFF_X, OFF_Y, ROT_X, ROT_Y}, {ANGLE_Z, SLIDE_Z}, 0, 1},
    [GA_JOINT_CONSTANT_VELOCITY] = {1, 1, {{"turn about z", GA__TWIST, Z, Z}}, {{0}}, 0, 0},
    [GA_JOINT_HEADING] = {1, 0, {END}, {ANGLE_Z}, 0, 0},
};

static const joint_recipe PLANAR[GA_N_JOINTS] = {
    [GA_JOINT_FIXED] = {1, 1, {TURN}, {{0}}, 0, 0},
    [GA_JOINT_REVOLUTE] = {1, 1, {END}, {PLANE}, 0, 0},
    [GA_JOINT_PRISMATIC] = {1, 0, {OFF_Y, TURN}, {SLIDE_X}, 0, 0},
    [GA_JOINT_SPHERICAL] = {1, 1, {END}, {PLANE}, 0, 0},
    [GA_JOINT_POINT_ON_LINE] = {1, 0, {OFF_Y}, {SLIDE_X}, 0, 0},
    [GA_JOINT_DISTANCE] = {1, 0, {LENGTH}, {{0}}, 1, 0},
    [GA_JOINT_ROD] = {1, 0, {LENGTH}, {{0}}, 1, 0},
    [GA_JOINT_PARALLEL] = {1, 0, {TURN}, {{0}}, 0, 0},
    [GA_JOINT_HEADING] = {1, 0, {END}, {PLANE}, 0, 0},
};

/* Couplings of coordinates: a + sign ratio b = constant. */
typedef struct coupling_recipe {
  const char *label; /* NULL: it is none */
  double sign;
} coupling_recipe;

static const coupling_recipe COUPLING[GA_N_JOINTS] = {
    [GA_JOINT_GEAR] = {"ratio", 1.0},
    [GA_JOINT_RACK] = {"rolling of the pinion", -1.0},
};

static const double AXIS[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};

static int is_planar(const joint_recipe *recipe)
{
  return recipe >= PLANAR && recipe < PLANAR + GA_N_JOINTS;
}

/* ---- Coordinates ---- */

const ga_coordinate_info *ga_joint_coordinate(ga_joint_kind kind, int in_plane, int i)
{
  if ((int)kind < 0 || kind >= GA_N_JOINTS || i < 0 || i >= GA__MOST_COORDINATES) return NULL;
  const int number = (in_plane ? PLANAR : SPACE)[kind].coordinate[i].number;
  return number ? ga__coordinate_info(number - 1) : NULL;
}

unsigned long ga__coordinate_kinds(int number)
{
  unsigned long kinds = 0;
  for (int kind = 0; kind < GA_N_JOINTS; kind++)
    for (int i = 0; i < 2 * GA__MOST_COORDINATES; i++)
      if (ga_joint_coordinate((ga_joint_kind)kind, i % 2, i / 2) == ga__coordinate_info(number))
        kinds |= 1ul << kind;
  return kinds;
}

/* ---- Rows ---- */

static ga__joint *joint_at(ga__mbs_model *b, int j)
{
  return GA__AT(b->joint, ga__joint, j);
}

/* Adds a row without terms. */
static ga_status add_row(ga_machine *m, ga__mbs_model *b, int part, const char *label, ga__row **out)
{
  ga__row *row = ga__list_add(m->ctx, &b->row);
  if (!row) return GA_ERR_MEMORY;
  row->part = part;
  row->first_term = b->term.n;
  row->gate = -1;
  *out = row;
  return ga__label_lambda(m, b, part, label, &row->lambda);
}

/* A row of a part that a variable switches gets a mass of its own. */
static ga_status make_switched(ga_machine *m, ga__mbs_model *b, ga__row *row)
{
  int marker;
  if (b->stage != GA__STAGE_MACHINE || !ga__active_of(&m->part[row->part])) return GA_OK;
  const ga_status status = ga__node_add_scalar(m, b, row->part, &marker);
  if (status) return status;
  row->own = GA__AT(b->marker, ga__marker, marker)->node;
  GA__AT(b->node, ga__node, row->own)->mass = 1;
  return GA_OK;
}

static ga_status add_term(ga_machine *m, ga__mbs_model *b, ga__row *row, int gauge, double c)
{
  ga__term *term = ga__list_add(m->ctx, &b->term);
  if (!term) return GA_ERR_MEMORY;
  term->gauge = gauge;
  term->c = c;
  row->n_terms++;
  return GA_OK;
}

static ga_status add_gauge_row(ga_machine *m, ga__mbs_model *b, int part, const char *label,
                               const ga__gauge *gauge, ga__row **out)
{
  int index = ga__add_gauge(m, b, gauge);
  if (index < 0) return GA_ERR_MEMORY;
  ga_status status = add_row(m, b, part, label, out);
  if (!status) status = make_switched(m, b, *out);
  return status ? status : add_term(m, b, *out, index, 1.0);
}

/* Makes origins coincide: by a point3 for rigid bodies, else one row for each direction that
 * the nodes have. */
static ga_status hold_origins(ga_machine *m, ga__mbs_model *b, ga__joint *joint, int planar)
{
  static const char *const label[3] = {"position along x", "position along y", "position along z"};
  const ga__node *na = GA__AT(b->node, ga__node, GA__AT(b->marker, ga__marker, joint->a)->node);
  const ga__node *nb = GA__AT(b->node, ga__node, GA__AT(b->marker, ga__marker, joint->b)->node);
  if ((na->rigid || !na->has) && (nb->rigid || !nb->has) && !ga__active_of(&m->part[joint->part])) {
    ga__point3 *p = ga__list_add(m->ctx, &b->point3);
    if (!p) return GA_ERR_MEMORY;
    *p = (ga__point3){.part = joint->part, .a = joint->a, .b = joint->b, .lambda = b->n_lambda};
    joint->point3 = b->point3.n - 1;
    ga_status status = GA_OK;
    for (int i = 0, lambda; !status && i < 3; i++)
      status = ga__label_lambda(m, b, joint->part, label[i], &lambda);
    return status;
  }
  for (int i = 0; i < (planar ? 2 : 3); i++) {
    ga__gauge gauge = {.kind = GA__WORLD, .a = joint->a, .b = joint->b};
    ga__row *row;
    memcpy(gauge.u, AXIS[i], sizeof gauge.u);
    ga_status status = add_gauge_row(m, b, joint->part, label[i], &gauge, &row);
    if (status) return status;
  }
  return GA_OK;
}

static ga__gauge gauge_of(const ga__joint *joint, ga__gauge_kind kind, int u, int w)
{
  ga__gauge gauge = {.kind = kind, .a = joint->a, .b = joint->b, .axis = u};
  memcpy(gauge.u, AXIS[u], sizeof gauge.u);
  memcpy(gauge.w, AXIS[w], sizeof gauge.w);
  return gauge;
}

/* Offset of a planar angle, so that it is the angle from a's x axis to b's. */
static void set_offset(const ga__mbs_model *b, ga__gauge *gauge)
{
  const double *A = GA__AT(b->marker, ga__marker, gauge->a)->A,
               *B = GA__AT(b->marker, ga__marker, gauge->b)->A;
  if (gauge->kind == GA__PLANE_ANGLE) gauge->offset = atan2(B[3], B[0]) - atan2(A[3], A[0]);
}

/* 1: the length is defined by the initial positions, so it is not constrained during assembly. */
static int is_free(const ga_machine *m, const ga__mbs_model *b, const ga__joint *joint,
                   const joint_recipe *recipe, int i)
{
  const ga_joint_def *d = m->part[joint->part].def;
  return b->stage == GA__STAGE_POSITIONS && recipe->to_length && i == 0 && isnan(d->length);
}

/* Sets the constant of a row: the joint's length, or the initial turns of a planar angle. */
static ga_status set_constant(ga_machine *m, ga__mbs_model *b, const ga__joint *joint,
                              const joint_recipe *recipe, int i, ga__row *row)
{
  const ga_joint_def *d = m->part[joint->part].def;
  int gauge = GA__AT(b->term, ga__term, row->first_term)->gauge;
  double now = ga__gauge_initial(b, gauge);
  if (recipe->row[i].kind == GA__PLANE_ANGLE) row->constant = GA__TWO_PI * round(now / GA__TWO_PI);
  if (recipe->to_length && i == 0) {
    row->constant = isnan(d->length) ? now : d->length;
    if (!(now > GA__COINCIDENT))
      return ga__refuse(m->ctx, GA_ERR_INCONSISTENT, GA_REASON_ENDS_COINCIDE,
                        &(ga__facts){.kind = "joint",
                                     .part = d->name,
                                     .name = d->a,
                                     .other = d->b,
                                     .expected = "a spherical joint"});
  }
  return GA_OK;
}

/* 1: assembly, which has no rows of joints that are off. */
static int is_left_out(const ga_machine *m, const ga__mbs_model *b, int part)
{
  return b->stage != GA__STAGE_MACHINE && ga__is_off_at_start(m, part);
}

static const joint_recipe NO_ROWS = {.exists = 1};

static ga_status add_rows(ga_machine *m, ga__mbs_model *b, ga__joint *joint, const joint_recipe *recipe)
{
  joint->first_row = b->row.n;
  if (is_left_out(m, b, joint->part)) recipe = &NO_ROWS;
  ga_status status = recipe->point ? hold_origins(m, b, joint, is_planar(recipe)) : GA_OK;
  joint->first_own = b->row.n;
  for (int i = 0; !status && recipe->row[i].label; i++) {
    const row_recipe *r = &recipe->row[i];
    ga__gauge gauge = gauge_of(joint, r->kind, r->u, r->w);
    ga__row *row;
    if (is_free(m, b, joint, recipe, i)) continue;
    set_offset(b, &gauge);
    status = add_gauge_row(m, b, joint->part, r->label, &gauge, &row);
  }
  joint->n_rows = b->row.n - joint->first_row;
  return status;
}

/* The second angle of a universal joint, about y of b: measured with permuted axes, x of a relative to x and
 * z of b. */
static ga_status second_angle(ga_machine *m, ga__mbs_model *b, const ga__joint *joint, ga__gauge *gauge)
{
  static const int column[2][3] = {{1, 2, 0}, {2, 1, 0}}; /* of a: y z x; of b: z −y x */
  const int from[2] = {joint->a, joint->b};
  int made[2];
  for (int k = 0; k < 2; k++) {
    ga__marker *marker = ga__list_add(m->ctx, &b->marker);
    if (!marker) return GA_ERR_MEMORY;
    const ga__marker *old = GA__AT(b->marker, ga__marker, from[k]);
    *marker = *old;
    for (int i = 0; i < 3; i++)
      for (int c = 0; c < 3; c++)
        marker->A[3 * i + c] = (k == 1 && c == 1 ? -1.0 : 1.0) * old->A[3 * i + column[k][c]];
    made[k] = b->marker.n - 1;
  }
  *gauge = (ga__gauge){.kind = GA__ANGLE, .a = made[1], .b = made[0], .axis = Y};
  return GA_OK;
}

static ga_status add_coordinates(ga_machine *m, ga__mbs_model *b, int index, const joint_recipe *recipe)
{
  for (int i = 0; i < GA__MOST_COORDINATES && recipe->coordinate[i].number; i++) {
    const coordinate_recipe *r = &recipe->coordinate[i];
    ga__joint *joint = joint_at(b, index);
    ga__gauge gauge = gauge_of(joint, r->kind, r->axis, r->axis);
    ga_status status = GA_OK;
    if (r->of_b) status = second_angle(m, b, joint, &gauge);
    if (status) return status;
    set_offset(b, &gauge);
    int at = ga__add_gauge(m, b, &gauge);
    if (at < 0) return GA_ERR_MEMORY;
    joint->coordinate[i] = (ga__coordinate){ga__coordinate_info(r->number - 1), at, -1};
    joint->n_coordinates++;
  }
  return GA_OK;
}

/* ---- From parts ---- */

static int is_turning(const row_recipe *r)
{
  return r->kind == GA__DOT || r->kind == GA__TWIST || r->kind == GA__PLANE_ANGLE;
}

/* Chooses the table, and refuses points in joints that need axes. */
static ga_status choose_recipe(ga_machine *m, ga__mbs_model *b, const ga_joint_def *d, const ga__joint *joint,
                               const joint_recipe **out)
{
  const int marker[2] = {joint->a, joint->b};
  const char *const frame[2] = {d->a, d->b};
  const ga__node *node[2];
  for (int k = 0; k < 2; k++)
    node[k] = GA__AT(b->node, ga__node, GA__AT(b->marker, ga__marker, marker[k])->node);
  int planar = (node[0]->planar || node[1]->planar) && (node[0]->planar || !node[0]->has) &&
               (node[1]->planar || !node[1]->has);
  *out = planar ? &PLANAR[d->kind] : &SPACE[d->kind];
  if (!(*out)->exists)
    return ga__refuse(m->ctx, GA_ERR_ARGUMENT, GA_REASON_NO_PLANAR_FORM,
                      &(ga__facts){.kind = "joint",
                                   .part = d->name,
                                   .expected = ga_joint_name(d->kind),
                                   .detail =
                                       "fixed, revolute, prismatic, spherical, point_on_line, distance, "
                                       "rod and parallel"});
  if (node[0] == node[1])
    return ga__refuse(m->ctx, GA_ERR_ARGUMENT, GA_REASON_SAME_BODY,
                      &(ga__facts){.kind = "joint", .part = d->name, .name = d->a, .other = d->b});
  for (int k = 0; k < 2; k++)
    for (int i = 0; (*out)->row[i].label; i++)
      if (node[k]->has == (GA__PX | GA__PY | GA__PZ) && is_turning(&(*out)->row[i]))
        return ga__refuse(m->ctx, GA_ERR_ARGUMENT, GA_REASON_POINT_HAS_NO_AXES,
                          &(ga__facts){.kind = "joint",
                                       .part = d->name,
                                       .field = k ? "b" : "a",
                                       .name = frame[k],
                                       .expected = ga_joint_name(d->kind)});
  return GA_OK;
}

/* Component of axis i of frame a along axis j of frame b. */
static double axis_component(const ga__frame *a, int i, const ga__frame *b, int j)
{
  return a->A[i] * b->A[j] + a->A[3 + i] * b->A[3 + j] + a->A[6 + i] * b->A[6 + j];
}

/* Constraints that keep axes perpendicular are also satisfied if a frame is turned over. */
char ga__joint_turned_over(const ga__mbs_model *b, const ga__joint *joint, const ga__kin *kin)
{
  const double near = 0.1; /* rad */
  const joint_recipe *recipe = joint->recipe;
  ga__frame fa, fb;
  if (recipe != &SPACE[GA_JOINT_FIXED] && recipe != &SPACE[GA_JOINT_PRISMATIC]) return '\0';
  ga__frame_at(&fa, GA__AT(b->marker, ga__marker, joint->a), kin);
  ga__frame_at(&fb, GA__AT(b->marker, ga__marker, joint->b), kin);
  for (int i = X; i <= Z; i++)
    for (int j = X; j <= Z; j++)
      if (i != j && fabs(axis_component(&fa, i, &fb, j)) > near) return '\0';
  for (int i = X; i <= Z; i++)
    if (axis_component(&fa, i, &fb, i) < 0) return "xyz"[i];
  return '\0';
}

/* A start near a position with a frame turned over would silently end there, so it is refused. */
static ga_status check_facing(const ga_machine *m, const ga__mbs_model *b, const ga_joint_def *d,
                              const ga__joint *joint)
{
  if (ga__is_off_at_start(m, joint->part)) return GA_OK;
  ga__kin_initial(b, GA__AT(b->marker, ga__marker, joint->a)->node, b->kin);
  ga__kin_initial(b, GA__AT(b->marker, ga__marker, joint->b)->node, b->kin);
  const char axis = ga__joint_turned_over(b, joint, b->kin);
  if (!axis) return GA_OK;
  return ga__refuse(m->ctx, GA_ERR_INCONSISTENT, GA_REASON_OPPOSITE_AXES,
                    &(ga__facts){.kind = "joint",
                                 .part = d->name,
                                 .name = d->a,
                                 .other = d->b,
                                 .expected = ga_joint_name(d->kind),
                                 .detail = (const char[]){axis, '\0'}});
}

/* 1: a point, which has no extent and cannot turn. */
static int is_point(const ga__node *node)
{
  return node->n == 3 && !node->planar && !node->vector;
}

/* Adds a frame on a body, at a pose given in the ground frame at the start. On a point it is the point
 * itself, which the assembly moves to the joint. */
static ga_status place_frame(ga_machine *m, ga__mbs_model *b, const ga__part *asking, const char *field,
                             const char *name, const ga_pose *pose, int *marker)
{
  ga_status status = ga__resolve_frame(m, b, asking, field, name, marker);
  if (status) return status;
  ga__marker made = *GA__AT(b->marker, ga__marker, *marker), *to = ga__list_add(m->ctx, &b->marker);
  if (!to) return GA_ERR_MEMORY;
  double d[3], Rt[9];
  ga__kin_initial(b, made.node, b->kin);
  const ga__kin *k = &b->kin[made.node];
  for (int i = 0; i < 3; i++) d[i] = pose->position[i] - k->x[i];
  if (!is_point(GA__AT(b->node, ga__node, made.node))) ga__mat3_tmul_vec(made.s, k->R, d);
  ga__mat3_transpose(Rt, k->R);
  ga__mat3_mul(made.A, Rt, pose->rotation);
  *to = made;
  *marker = b->marker.n - 1;
  return GA_OK;
}

static ga_status hold_screw(ga_machine *m, ga__mbs_model *b, int index)
{
  const ga_joint_def *d = m->part[joint_at(b, index)->part].def;
  int angle, slide;
  ga__row *row;
  ga_status status = ga__coordinate_gauge(m, b, index, 0, GA__TURNS, &angle);
  if (!status) status = ga__coordinate_gauge(m, b, index, 1, GA__VALUE, &slide);
  if (!status) status = add_row(m, b, joint_at(b, index)->part, "advance", &row);
  if (!status) status = make_switched(m, b, row);
  if (!status) status = add_term(m, b, row, slide, 1.0);
  if (!status) status = add_term(m, b, row, angle, -d->pitch / GA__TWO_PI);
  if (!status) joint_at(b, index)->n_rows++;
  return status;
}

/* Sets the pitch in the last of the joint's rows. */
static void set_thread(ga_machine *m, ga__mbs_model *b, const ga__joint *joint)
{
  const ga_joint_def *d = m->part[joint->part].def;
  ga__row *row = GA__AT(b->row, ga__row, joint->first_row + joint->n_rows - 1);
  const int slide = joint->coordinate[1].gauge, angle = joint->coordinate[0].scalar_gauge;
  row->constant = ga__gauge_initial(b, slide) - d->pitch / GA__TWO_PI * ga__gauge_initial(b, angle);
}

int ga__joint_pitch(const ga_machine *m, const ga__joint *joint, double *pitch)
{
  const joint_recipe *recipe = joint->recipe;
  if (!recipe || !recipe->thread) return 0;
  *pitch = ((const ga_joint_def *)m->part[joint->part].def)->pitch;
  return 1;
}

/* 0: both coordinates of a screw are given, so its thread is not constrained during assembly. */
static int holds_thread(const ga__mbs_model *b, const joint_recipe *recipe, const ga_joint_def *d)
{
  return recipe->thread && (b->stage != GA__STAGE_POSITIONS || isnan(d->angle) || isnan(d->displacement));
}

/* ---- Initial values ---- */

/* Refuses initial values of coordinates that the joint has only in space, or only in the plane. */
static ga_status check_given(ga_machine *m, const ga_joint_def *d, const ga__joint *joint)
{
  for (int i = 0; i < GA__N_COORDINATES; i++) {
    int known = isnan(ga__coordinate_given(d, i, 0)) && isnan(ga__coordinate_given(d, i, 1));
    for (int c = 0; c < joint->n_coordinates; c++)
      known |= joint->coordinate[c].info == ga__coordinate_info(i);
    if (!known)
      return ga__refuse(m->ctx, GA_ERR_ARGUMENT, GA_REASON_NOT_OF_THIS_JOINT,
                        &(ga__facts){.kind = "joint",
                                     .part = d->name,
                                     .field = ga__coordinate_info(i)->name,
                                     .expected = ga_joint_name(d->kind),
                                     .detail = " between these bodies"});
  }
  return GA_OK;
}

static int holds_along(const joint_recipe *recipe, int axis)
{
  for (int i = 0; recipe->row[i].label; i++)
    if (recipe->row[i].kind == GA__ALONG && recipe->row[i].u == axis) return 1;
  return recipe->point;
}

/* 1: the relative rotation is constrained, or determined by the joint's coordinates. */
static int holds_axes(const joint_recipe *recipe)
{
  int n = 0;
  for (int i = 0; recipe->row[i].label; i++) n += is_turning(&recipe->row[i]);
  for (int i = 0; i < GA__MOST_COORDINATES && recipe->coordinate[i].number; i++)
    n += recipe->coordinate[i].kind != GA__ALONG;
  return n >= (is_planar(recipe) ? 1 : 3);
}

int ga__joint_holds_most(const ga__joint *joint)
{
  const joint_recipe *recipe = joint->recipe;
  const int in_plane = is_planar(recipe);
  int n = recipe->point ? (in_plane ? 2 : 3) : 0;
  for (int i = 0; recipe->row[i].label; i++) n++;
  return 2 * n >= (in_plane ? 3 : 6);
}

/* R := R · (rotation about axis i by an angle) */
static void turn_about(double R[9], int i, double angle)
{
  const int j = (i + 1) % 3, k = (i + 2) % 3;
  double T[9] = {0}, before[9];
  memcpy(before, R, sizeof before);
  T[3 * i + i] = 1.0;
  T[3 * j + j] = T[3 * k + k] = cos(angle);
  T[3 * k + j] = sin(angle);
  T[3 * j + k] = -sin(angle);
  ga__mat3_mul(R, before, T);
}

static int axis_of(const coordinate_recipe *r)
{
  return r->kind == GA__PLANE_ANGLE ? Z : r->axis;
}

void ga__joint_relative(const ga__joint *joint, const double *value, const double R_now[9],
                        const double d_now[3], double R[9], double d[3])
{
  static const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  const joint_recipe *recipe = joint->recipe;
  memcpy(R, holds_axes(recipe) ? identity : R_now, 9 * sizeof *R);
  for (int i = X; i <= Z; i++) d[i] = holds_along(recipe, i) ? 0.0 : d_now[i];
  for (int c = 0; c < joint->n_coordinates; c++) {
    const coordinate_recipe *r = &recipe->coordinate[c];
    if (r->kind == GA__ALONG)
      d[r->axis] = value[c];
    else
      turn_about(R, axis_of(r), value[c]);
  }
}

/* Rotations are consecutive: the axis of each is turned by those before. */
void ga__joint_twist(const ga__joint *joint, const double *value, const double *rate, const double w_now[3],
                     const double u_now[3], double w[3], double u[3])
{
  const joint_recipe *recipe = joint->recipe;
  double R[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  for (int i = X; i <= Z; i++) {
    w[i] = holds_axes(recipe) ? 0.0 : w_now[i];
    u[i] = holds_along(recipe, i) ? 0.0 : u_now[i];
  }
  for (int c = 0; c < joint->n_coordinates; c++) {
    const coordinate_recipe *r = &recipe->coordinate[c];
    const int axis = axis_of(r);
    if (r->kind == GA__ALONG) {
      u[r->axis] = rate[c];
      continue;
    }
    for (int i = 0; i < 3; i++) w[i] += rate[c] * R[3 * i + axis];
    turn_about(R, axis, value[c]);
  }
}

static ga_status create(ga_machine *m, ga__mbs_model *b, int part)
{
  const ga__part *asking = &m->part[part];
  const ga_joint_def *d = asking->def;
  const joint_recipe *recipe;
  int angle;
  if (!ga__element_add(m, b, part, &ga__joint_type, 0, 0)) return GA_ERR_MEMORY;
  if (COUPLING[d->kind].label) return GA_OK;
  ga__joint *joint = ga__list_add(m->ctx, &b->joint);
  if (!joint) return GA_ERR_MEMORY;
  int index = b->joint.n - 1, *const marker[2] = {&joint->a, &joint->b};
  const char *const name[2] = {d->a, d->b}, *const field[2] = {"a", "b"};
  ga_status status = GA_OK;
  joint->part = part;
  joint->point3 = joint->first_own = -1;
  b->part_joint[part] = index;
  for (int k = 0; !status && k < 2; k++)
    status = d->at_pose ? place_frame(m, b, asking, field[k], name[k], &d->at, marker[k])
                        : ga__resolve_frame(m, b, asking, field[k], name[k], marker[k]);
  if (!status) status = choose_recipe(m, b, d, joint, &recipe);
  if (!status) joint->recipe = recipe;
  if (!status) status = add_coordinates(m, b, index, recipe);
  if (!status) status = check_given(m, d, joint);
  /* The turns of a screw are counted by a scalar node, whose row comes before those of the joint: so its
   * multiplier, the torque on the angle, is not part of the reaction. */
  if (!status && recipe->thread) status = ga__coordinate_gauge(m, b, index, 0, GA__TURNS, &angle);
  if (!status) status = add_rows(m, b, joint, recipe);
  if (!status && holds_thread(b, recipe, d)) status = hold_screw(m, b, index);
  return status;
}

/* A scalar body is its own coordinate. */
ga_status ga__scalar_coordinate(ga_machine *m, ga__mbs_model *b, int part)
{
  const ga_scalar_def *d = m->part[part].def;
  ga__joint *joint = ga__list_add(m->ctx, &b->joint);
  if (!joint) return GA_ERR_MEMORY;
  ga__gauge gauge = {.kind = GA__SCALAR, .a = b->part_marker[part], .b = b->part_marker[0]};
  int at = ga__add_gauge(m, b, &gauge);
  if (at < 0) return GA_ERR_MEMORY;
  *joint = (ga__joint){.part = part, .a = -1, .b = -1, .point3 = -1, .n_coordinates = 1};
  joint->coordinate[0] = (ga__coordinate){ga__scalar_info(d->rotational), at, at};
  b->part_joint[part] = b->joint.n - 1;
  return GA_OK;
}

/* ---- After bodies have their initial positions ---- */

/* An initial angle is in (−π, π], or has the given turns; −π up to rounding becomes π. */
static void set_turns(ga__mbs_model *b, int gauge, double given)
{
  const double rounding = 1e-9;
  ga__gauge *g = GA__AT(b->gauge, ga__gauge, gauge);
  if (g->kind != GA__ANGLE && g->kind != GA__PLANE_ANGLE) return;
  const double now = ga__gauge_initial(b, gauge), half = 0.5 * GA__TWO_PI;
  const double turns =
      isnan(given) ? -ceil((now - half - rounding) / GA__TWO_PI) : round((given - now) / GA__TWO_PI);
  g->offset += GA__TWO_PI * turns;
  g->turns = isnan(given) ? GA__FIRST_TURN : GA__GIVEN_TURNS;
}

int ga__add_plane_angle(ga_machine *m, ga__mbs_model *b, int marker_a, int marker_b)
{
  ga__gauge gauge = {.kind = GA__PLANE_ANGLE, .a = marker_a, .b = marker_b};
  set_offset(b, &gauge);
  const int index = ga__add_gauge(m, b, &gauge);
  if (index >= 0) set_turns(b, index, NAN);
  return index;
}

/* A driven angle gets the turns of its drive, unless its turns are given. Drives that cannot be resolved are
 * refused later. */
static void take_turns_of_drive(ga_machine *m, ga__mbs_model *b, const ga__part *part)
{
  const ga_error error = m->ctx->error;
  ga__prescribed drive;
  int gauge;
  double value;
  ga_fault fault;
  if (ga__prescribed_by(part, &drive) &&
      !ga__resolve_coordinate(m, b, part, "coordinate", drive.coordinate, GA__VALUE, &gauge) &&
      !ga_function_eval(drive.function, m->opts.t_start, 0, &value, &fault) &&
      GA__AT(b->gauge, ga__gauge, gauge)->turns == GA__FIRST_TURN)
    set_turns(b, gauge, value);
  m->ctx->error = error;
}

/* Initial values of scalar nodes that follow coordinates. */
static void set_followers(ga__mbs_model *b, const ga__joint *joint)
{
  for (int c = 0; c < joint->n_coordinates; c++) {
    const ga__coordinate *at = &joint->coordinate[c];
    if (!joint->recipe || at->scalar_gauge < 0) continue;
    ga__gauge *scalar = GA__AT(b->gauge, ga__gauge, at->scalar_gauge);
    scalar->turns = GA__AT(b->gauge, ga__gauge, at->gauge)->turns;
    ga__node *node = GA__AT(b->node, ga__node, GA__AT(b->marker, ga__marker, scalar->a)->node);
    node->q0[0] = ga__gauge_initial(b, at->gauge);
    node->v0[0] = ga__gauge_initial_rate(b, at->gauge);
  }
}

static ga_status set_constants(ga_machine *m, ga__mbs_model *b, const ga__joint *joint)
{
  const ga_joint_def *d = m->part[joint->part].def;
  const joint_recipe *recipe = joint->recipe;
  if (is_left_out(m, b, joint->part)) return GA_OK;
  ga_status status = check_facing(m, b, d, joint);
  for (int i = 0, at = joint->first_own; !status && recipe->row[i].label; i++) {
    if (is_free(m, b, joint, recipe, i)) continue;
    status = set_constant(m, b, joint, recipe, i, GA__AT(b->row, ga__row, at++));
  }
  if (!status && holds_thread(b, recipe, d)) set_thread(m, b, joint);
  return status;
}

ga_status ga__joints_set_constants(ga_machine *m, ga__mbs_model *b)
{
  ga_status status = GA_OK;
  for (int j = 0; j < b->joint.n; j++) {
    const ga__joint *joint = joint_at(b, j);
    const ga_joint_def *d = m->part[joint->part].def;
    for (int c = 0; joint->recipe && c < joint->n_coordinates; c++) {
      /* a nut that assembly turns moves along its thread, over whole turns too */
      const int on_thread = b->stage == GA__STAGE_POSITIONS &&
                            ((const joint_recipe *)joint->recipe)->thread && isnan(d->displacement);
      set_turns(b, joint->coordinate[c].gauge,
                on_thread ? NAN : ga__joint_given(d, joint->coordinate[c].info->name, 0));
    }
  }
  for (int i = 1; i < m->n_parts; i++) take_turns_of_drive(m, b, &m->part[i]);
  for (int j = 0; !status && j < b->joint.n; j++) {
    set_followers(b, joint_at(b, j));
    if (joint_at(b, j)->recipe) status = set_constants(m, b, joint_at(b, j));
  }
  return status;
}

ga_status ga__hold_gauge(ga_machine *m, ga__mbs_model *b, int part, const char *label, int gauge,
                         double constant, double rate)
{
  const ga__gauge_kind kind = GA__AT(b->gauge, ga__gauge, gauge)->kind;
  ga__row *row;
  ga_status status = add_row(m, b, part, label, &row);
  if (!status) status = add_term(m, b, row, gauge, 1.0);
  if (status) return status;
  row->constant = constant;
  row->rate = rate;
  row->wrap = kind == GA__ANGLE || kind == GA__PLANE_ANGLE;
  return GA_OK;
}

/* ---- Coordinates ---- */

/* Adds a scalar node s with the constraint ρ − s = 0, which counts turns and has an acceleration. */
static ga_status add_follower(ga_machine *m, ga__mbs_model *b, int index, int c)
{
  int part = joint_at(b, index)->part, measured = joint_at(b, index)->coordinate[c].gauge, marker;
  ga__row *row;
  char label[40];
  ga_status status = ga__node_add_scalar(m, b, part, &marker);
  if (status) return status;
  ga__gauge gauge = {
      .kind = GA__SCALAR, .a = marker, .b = 0, .turns = GA__AT(b->gauge, ga__gauge, measured)->turns};
  int scalar = ga__add_gauge(m, b, &gauge);
  if (scalar < 0) return GA_ERR_MEMORY;
  snprintf(label, sizeof label, "coordinate %s", joint_at(b, index)->coordinate[c].info->name);
  status = add_row(m, b, part, label, &row);
  if (!status) status = add_term(m, b, row, measured, 1.0);
  if (!status) status = add_term(m, b, row, scalar, -1.0);
  if (status) return status;
  ga__node *node = GA__AT(b->node, ga__node, b->node.n - 1);
  row->wrap = GA__AT(b->gauge, ga__gauge, measured)->kind == GA__ANGLE;
  node->q0[0] = ga__gauge_initial(b, measured);
  node->v0[0] = ga__gauge_initial_rate(b, measured);
  joint_at(b, index)->coordinate[c].scalar_gauge = scalar;
  return GA_OK;
}

ga_status ga__add_sum(ga_machine *m, ga__mbs_model *b, int part, int gauge_a, int gauge_b, double ratio,
                      int *gauge)
{
  int marker;
  ga__row *row;
  ga_status status = ga__node_add_scalar(m, b, part, &marker);
  if (status) return status;
  ga__node *node = GA__AT(b->node, ga__node, b->node.n - 1);
  node->angle = ga__gauge_is_angle(b, gauge_a);
  node->q0[0] = ga__gauge_initial(b, gauge_a) + ratio * ga__gauge_initial(b, gauge_b);
  node->v0[0] = ga__gauge_initial_rate(b, gauge_a) + ratio * ga__gauge_initial_rate(b, gauge_b);
  const ga__gauge sum = {.kind = GA__SCALAR, .a = marker, .b = 0};
  *gauge = ga__add_gauge(m, b, &sum);
  if (*gauge < 0) return GA_ERR_MEMORY;
  status = add_row(m, b, part, "sum of coordinates", &row);
  if (!status) status = add_term(m, b, row, gauge_a, 1.0);
  if (!status) status = add_term(m, b, row, gauge_b, ratio);
  return status ? status : add_term(m, b, row, *gauge, -1.0);
}

ga_status ga__coordinate_gauge(ga_machine *m, ga__mbs_model *b, int index, int c, ga__coordinate_need need,
                               int *gauge)
{
  ga__coordinate *at = &joint_at(b, index)->coordinate[c];
  ga__gauge_kind kind = GA__AT(b->gauge, ga__gauge, at->gauge)->kind;
  int wants = kind != GA__SCALAR && (need == GA__ACCELERATION || (need == GA__TURNS && kind == GA__ANGLE));
  if (wants && at->scalar_gauge < 0) {
    ga_status status = add_follower(m, b, index, c);
    if (status) return status;
    at = &joint_at(b, index)->coordinate[c];
  }
  *gauge = wants ? at->scalar_gauge : at->gauge;
  return GA_OK;
}

static const char *coordinate_name(const void *joint, int i)
{
  return ((const ga__joint *)joint)->coordinate[i].info->name;
}

/* The message lists the coordinates of the joint, and suggests the most similar one. */
static ga_status no_such_coordinate(const ga_machine *m, const ga__part *asking, const char *field,
                                    const char *name, const ga__joint *joint)
{
  const char *own = m->part[joint->part].name, *rest = name + strlen(own) + (name[strlen(own)] == '.');
  char needs[GA_ERROR_NAME], nearest[GA_TEXT_PIECE], meant[GA_ERROR_NAME + GA_TEXT_PIECE];
  ga__writer w = {needs, sizeof needs, 0};
  for (int c = 0; c < joint->n_coordinates; c++)
    ga__write(&w, "%s'%s%s%s'", c ? " or " : "", own, coordinate_name(joint, c)[0] ? "." : "",
              coordinate_name(joint, c));
  const ga_status status = ga__refuse_unknown(m, asking, field, name, needs);
  ga__name_nearest(nearest, rest, (int)strlen(rest), coordinate_name, joint, joint->n_coordinates);
  snprintf(meant, sizeof meant, "%.*s.%s", GA_ERROR_NAME - 1, own, nearest);
  if (nearest[0] && joint->n_coordinates > 1)
    ga__cut_text(m->ctx->error.nearest, sizeof m->ctx->error.nearest, meant);
  return status;
}

ga_status ga__resolve_coordinate(ga_machine *m, ga__mbs_model *b, const ga__part *asking, const char *field,
                                 const char *name, ga__coordinate_need need, int *gauge)
{
  static const char needs[] = "a coordinate, as 'hinge.angle', a joint that has just one, or a scalar body";
  int part = ga__find_part(m, name);
  const ga__joint *meant = NULL;
  if (part >= 0 && b->part_joint[part] >= 0) {
    ga__joint *joint = joint_at(b, b->part_joint[part]);
    meant = joint;
    if (joint->n_coordinates == 1) return ga__coordinate_gauge(m, b, b->part_joint[part], 0, need, gauge);
  }
  for (const char *dot = strchr(name, '.'); part < 0 && dot; dot = strchr(dot + 1, '.')) {
    char owner[256];
    if ((size_t)(dot - name) >= sizeof owner) break;
    snprintf(owner, sizeof owner, "%.*s", (int)(dot - name), name);
    int candidate = ga__find_part(m, owner);
    if (candidate < 0 || b->part_joint[candidate] < 0) continue;
    ga__joint *joint = joint_at(b, b->part_joint[candidate]);
    meant = joint;
    for (int c = 0; c < joint->n_coordinates; c++)
      if (strcmp(joint->coordinate[c].info->name, dot + 1) == 0)
        return ga__coordinate_gauge(m, b, b->part_joint[candidate], c, need, gauge);
  }
  if (meant && meant->n_coordinates > 0) return no_such_coordinate(m, asking, field, name, meant);
  return ga__refuse_unknown(m, asking, field, name, needs);
}

/* ---- Gears, racks, drives ---- */

/* Gears and racks: the constant is taken from the initial positions. */
static ga_status add_coupling(ga_machine *m, ga__mbs_model *b, int part)
{
  const ga__part *asking = &m->part[part];
  const ga_joint_def *d = asking->def;
  const coupling_recipe *coupling = &COUPLING[d->kind];
  if (b->stage == GA__STAGE_POSITIONS || !coupling->label) return GA_OK;
  if (is_left_out(m, b, part)) return GA_OK;
  int ga_, gb;
  const double ratio = coupling->sign * d->ratio;
  ga__row *row;
  ga_status status = ga__resolve_coordinate(m, b, asking, "a", d->a, GA__TURNS, &ga_);
  if (!status) status = ga__resolve_coordinate(m, b, asking, "b", d->b, GA__TURNS, &gb);
  if (status) return status;
  ga__joint *joint = ga__list_add(m->ctx, &b->joint);
  if (!joint) return GA_ERR_MEMORY;
  *joint = (ga__joint){.part = part, .a = -1, .b = -1, .point3 = -1, .first_row = b->row.n, .n_rows = 1};
  b->part_joint[part] = b->joint.n - 1;
  status = add_row(m, b, part, coupling->label, &row);
  if (!status) status = make_switched(m, b, row);
  if (!status) status = add_term(m, b, row, ga_, 1.0);
  if (!status) status = add_term(m, b, row, gb, ratio);
  if (!status) row->constant = ga__gauge_initial(b, ga_) + ratio * ga__gauge_initial(b, gb);
  return status;
}

ga_status ga__row_add_term(ga_machine *m, ga__mbs_model *b, int row, int gauge, double c)
{
  return add_term(m, b, GA__AT(b->row, ga__row, row), gauge, c);
}

static ga_status add_drive(ga_machine *m, ga__mbs_model *b, int part)
{
  const ga__part *asking = &m->part[part];
  const ga_drive_def *d = asking->def;
  int gauge;
  ga__row *row;
  ga_status status = ga__resolve_coordinate(m, b, asking, "coordinate", d->coordinate, GA__VALUE, &gauge);
  if (!status && d->active && !d->function)
    status = ga__refuse_part(m->ctx, asking, GA_ERR_ARGUMENT, GA_REASON_ACTIVE_SERVO,
                             (ga__facts){.field = "active"});
  if (status) return status;
  if (is_left_out(m, b, part)) return GA_OK;
  if (!d->function && b->stage != GA__STAGE_MACHINE) return ga__servo_assemble(m, b, part, gauge);
  if (d->function && !ga__element_add(m, b, part, &ga__drive_type, 0, 0)) return GA_ERR_MEMORY;
  ga__joint *joint = ga__list_add(m->ctx, &b->joint);
  if (!joint) return GA_ERR_MEMORY;
  *joint = (ga__joint){.part = part, .a = -1, .b = -1, .point3 = -1, .first_row = b->row.n, .n_rows = 1};
  b->part_joint[part] = b->joint.n - 1;
  status = add_row(m, b, part, "prescribed motion", &row);
  if (!status) status = make_switched(m, b, row);
  if (!status) status = add_term(m, b, row, gauge, 1.0);
  if (status) return status;
  row->target = d->function;
  row->wrap = GA__AT(b->gauge, ga__gauge, gauge)->kind == GA__ANGLE;
  return d->function ? GA_OK : ga__servo_add(m, b, part, gauge, b->row.n - 1);
}

/* ---- Signals: coordinates; reaction of the joint on b, or force of a coupling ---- */

const ga__joint *ga__joint_of(const ga__mbs_model *b, int part)
{
  return b->part_joint[part] < 0 ? NULL : GA__AT(b->joint, ga__joint, b->part_joint[part]);
}

static int is_counted(const ga__mbs_model *b, const ga__coordinate *c)
{
  return c->scalar_gauge < 0 && GA__AT(b->gauge, ga__gauge, c->gauge)->kind == GA__ANGLE;
}

/* Angles in (−π, π], whose turns the meter counts. */
static int counted_angle(const ga__mbs_model *b, const ga__element *el, int i, int *limited)
{
  const ga__joint *joint = ga__joint_of(b, el->part);
  *limited = 0;
  for (int c = 0; joint && c < joint->n_coordinates; c++)
    if (is_counted(b, &joint->coordinate[c]) && i-- == 0) return joint->coordinate[c].gauge;
  return -1;
}

/* Number of a joint's coordinate among the angles that the meter counts, −1: not needed. */
static int turning_of(const ga__mbs_model *b, int part, int coordinate)
{
  const ga__joint *joint = ga__joint_of(b, part);
  int n = b->signals.first_counted ? b->signals.first_counted[part] : -1;
  if (n < 0 || !is_counted(b, &joint->coordinate[coordinate])) return -1;
  for (int i = 0; i < coordinate; i++) n += is_counted(b, &joint->coordinate[i]);
  return n;
}

/* 1: it keeps a length, by the first of its own rows. */
static int has_tension(const ga__joint *joint)
{
  return joint->recipe && ((const joint_recipe *)joint->recipe)->to_length;
}

int ga__joint_n_signals(const ga__mbs_model *b, int part)
{
  const ga__joint *joint = ga__joint_of(b, part);
  if (!joint) return 0;
  return 3 * joint->n_coordinates + (joint->a >= 0 ? 6 + has_tension(joint) : joint->n_rows > 0);
}

void ga__joint_signal(const ga__mbs_model *b, int part, int i, ga__signal_def *out)
{
  static const ga__probe_kind KIND[3] = {GA__PROBE_GAUGE, GA__PROBE_GAUGE_RATE, GA__PROBE_GAUGE_ACC};
  static const char *const SCALAR[3] = {"", "rate", "acc"};
  const ga__joint *joint = ga__joint_of(b, part);
  if (i < 3 * joint->n_coordinates) {
    const ga__coordinate *at = &joint->coordinate[i / 3];
    ga__signal_set(out, at->info->name, at->info->unit[i % 3], KIND[i % 3], 0);
    out->suffix = at->info->name[0] ? ga__coordinate_suffix(i % 3) : SCALAR[i % 3];
    out->coordinate = i / 3;
    out->probe.gauge = at->scalar_gauge >= 0 ? at->scalar_gauge : at->gauge;
    if (i % 3 == 0) out->probe.turns = turning_of(b, part, i / 3);
    return;
  }
  i -= 3 * joint->n_coordinates;
  if (joint->a >= 0 && i == 6) { /* its force is −λ along the distance */
    ga__signal_set(out, "tension", "N", GA__PROBE_TENSION, 0);
    out->probe.index = GA__AT(b->row, ga__row, joint->first_own)->lambda;
    return;
  }
  if (joint->a >= 0) {
    ga__signal_set_reaction(out, i, i < 3 ? GA__PROBE_REACTION_FORCE : GA__PROBE_REACTION_TORQUE);
    out->probe.component = i % 3;
    out->probe.joint = b->part_joint[part];
    return;
  }
  const ga__row *row = GA__AT(b->row, ga__row, joint->first_row);
  const int angle = ga__gauge_is_angle(b, GA__AT(b->term, ga__term, row->first_term)->gauge);
  ga__signal_set(out, "force", ga__motion_unit(angle, GA_UNIT_FORCE), GA__PROBE_MULTIPLIER, 0);
  out->probe.index = row->lambda;
}

/* Values with their turns, and accelerations, need a scalar node that follows the coordinate. */
ga_status ga__joint_complete_signal(ga_machine *m, ga__mbs_model *b, int part, ga__signal_def *signal)
{
  static const ga__coordinate_need need[3] = {GA__TURNS, GA__VALUE, GA__ACCELERATION};
  ga__probe *probe = &signal->probe;
  if (signal->coordinate < 0) return GA_OK;
  probe->turns = -1;
  return ga__coordinate_gauge(m, b, b->part_joint[part], signal->coordinate,
                              need[probe->kind - GA__PROBE_GAUGE], &probe->gauge);
}

/* ---- Energy ---- */

static int rope(const ga__mbs_model *b, const ga__element *el, ga__unilateral *out)
{
  const ga__joint *joint = ga__joint_of(b, el->part);
  if (!joint || !joint->recipe || !((const ga_joint_def *)b->m->part[el->part].def)->rope) return 0;
  *out = (ga__unilateral){GA__AT(b->row, ga__row, joint->first_own)->lambda, 1.0, "pushes, which no rope can",
                          "go slack there, and does not hold as is computed from then on", NULL};
  return 1;
}

static const ga__row *drive_row(const ga__mbs_model *b, const ga__element *el)
{
  return GA__AT(b->row, ga__row, ga__joint_of(b, el->part)->first_row);
}

/* Prescribed motion Φ = ... − target(t): the power of the constraint force is −λ · (B v) = λ Φ_t = −λ
 * target'. */
static int drive_powers(const ga__eval *e, const ga__element *el, ga__powers *out)
{
  const ga__row *row = drive_row(e->b, el);
  double target[2];
  ga_fault fault = {.kind = GA_FAULT_NONE};
  if (ga_function_eval(row->target, e->p->t, 1, target, &fault))
    return ga__fail_undefined(e, row->part, "function", &fault);
  out->in -= e->p->lambda[row->lambda] * target[1];
  return 0;
}

static int drive_work(const ga__mbs_model *b, const ga__element *el, ga__work_term *work)
{
  (void)b, (void)el;
  work->needs_kin = 0;
  return 1;
}

static int visit_drive(const ga__mbs_model *b, const ga__element *el, ga__visit_fn visit, void *user)
{
  return visit(
      user, &(ga__break_site){.function = drive_row(b, el)->target, .drive = el->part, .restart_order = 2});
}

/* ---- The kinds; their rows are evaluated by constraint.c ---- */

static int n_shapes(const ga__mbs_model *b, int part)
{
  const ga__joint *joint = ga__joint_of(b, part);
  return joint && joint->recipe;
}

/* A rod from end to end, or a joint at b's end and a's. */
static void shape(const ga__mbs_model *b, int part, int i, ga__drawing *out)
{
  const ga__joint *joint = ga__joint_of(b, part);
  (void)i;
  *out = ((const joint_recipe *)joint->recipe)->to_length
             ? (ga__drawing){.kind = GA_SHAPE_LINE, .a = joint->a, .b = joint->b, .size = 0}
             : (ga__drawing){.kind = GA_SHAPE_JOINT, .a = joint->b, .b = joint->a, .size = 0};
}

static int has_initial_values(const ga__part *part, int rate)
{
  for (int k = 0; k < GA__N_COORDINATES; k++)
    if (!isnan(ga__coordinate_given(part->def, k, rate))) return 1;
  return 0;
}

static int drive_prescribes(const ga__part *part, ga__prescribed *out)
{
  const ga_drive_def *d = part->def;
  *out = (ga__prescribed){d->function, d->coordinate, d->accept_impact};
  return d->function != NULL;
}

const ga__element_type ga__joint_type = {
    .rank = GA__RANK_JOINT,
    .create = {[GA__CREATE_JOINTS] = create, [GA__CREATE_COUPLINGS] = add_coupling},
    .unilateral = rope,
    .has_initial_values = has_initial_values,
    .advise = ga__advise_joint,
    .n_signals = ga__joint_n_signals,
    .signal = ga__joint_signal,
    .complete_signal = ga__joint_complete_signal,
    .counted_angle = counted_angle,
    .n_shapes = n_shapes,
    .shape = shape,
};

const ga__element_type ga__drive_type = {
    .rank = GA__RANK_DRIVE,
    .create = {[GA__CREATE_COUPLINGS] = add_drive, [GA__CREATE_FORCES] = ga__servo_resolve},
    .powers = drive_powers,
    .work_term = drive_work,
    .prescribes = drive_prescribes,
    .advise = ga__advise_drive,
    .n_signals = ga__joint_n_signals,
    .signal = ga__joint_signal,
    .complete_signal = ga__joint_complete_signal,
    .visit = visit_drive,
};
