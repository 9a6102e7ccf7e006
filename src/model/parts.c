/* Parts of a machine: from maps to definitions, and warnings of suspicious values. */
#include "model/format.h"
#include "model/mesh.h"
#include "model/surface_file.h"
#include "model/tyre_file.h"
#include "model/prescribe.h"
#include "model/sections.h"

#include "mbs/name.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Limits of suspicious values: [kg] masses; moments of inertia relative to mass · reach²; [m] smaller
 * distances are no measure of a body's size. */
#define LARGE_MASS 1e6
#define SMALL_MASS 1e-9
#define LARGE_INERTIA 100
#define SMALL_REACH 1e-3
#define TILT 1e-6 /* 1 − cosine of the angle between an axis and the normal of the plane */

enum { MOST_EXTRA = 16 }; /* keys that are read by hand */

typedef union any_def {
  const char *name; /* the first of all */
  ga_rigid_def rigid;
  ga_planar_def planar;
  ga_point_def point;
  ga_scalar_def scalar;
  ga_beam_def beam;
  ga_cable_def cable;
  ga_modal_def modal;
  ga_marker_def marker;
  ga_joint_def joint;
  ga_drive_def drive;
  ga_rolling_def rolling;
  ga_slider_def slider;
  ga_constraint_def constraint;
  ga_spring_def spring;
  ga_actuator_def actuator;
  ga_friction_def friction;
  ga_dry_friction_def dry_friction;
  ga_bushing_def bushing;
  ga_force_def force;
  ga_line_load_def line_load;
  ga_contact_def contact;
  ga_road_def road;
  ga_tyre_def tyre;
  ga_collider_def collider;
  ga_collision_def collision;
  ga_shape_def shape;
  ga_stop_def stop;
  ga_rigid_stop_def rigid_stop;
  ga_sensor_def sensor;
  ga_signal_def signal;
} any_def;

struct ga__body_size {
  double mass, inertia, reach; /* reach: [m] largest distance of its markers and joints */
  double position[3];
};

/* ---- Angles ---- */

int ga__joint_kind_of(const ga__tree *joint)
{
  const ga__tree *type = ga__map_peek(joint, "type");
  for (int kind = 0; type && type->kind == GA__TREE_SCALAR && kind < GA_N_JOINTS; kind++)
    if (strcmp(type->text, ga_joint_name((ga_joint_kind)kind)) == 0) return kind;
  return -1;
}

/* The coordinate of a joint that has just one, in space or in the plane (which are then of the same kind);
 * NULL: none, or several. */
static const ga_coordinate_info *only_coordinate(const ga__tree *joint)
{
  const int kind = ga__joint_kind_of(joint);
  for (int in_plane = 0; kind >= 0 && in_plane < 2; in_plane++) {
    const ga_coordinate_info *first = ga_joint_coordinate((ga_joint_kind)kind, in_plane, 0);
    if (first) return ga_joint_coordinate((ga_joint_kind)kind, in_plane, 1) ? NULL : first;
  }
  return NULL;
}

static int is_true(const ga__tree *tree)
{
  return tree && tree->kind == GA__TREE_SCALAR &&
         (strcmp(tree->text, "true") == 0 || strcmp(tree->text, "yes") == 0);
}

static int is_angle(const ga__reader *reader, const char *coordinate)
{
  const ga__named *part = ga__directory_head(&reader->parts, coordinate, strlen(coordinate));
  if (!part) return 0;
  const size_t bytes = strlen(part->name);
  if (part->kind == GA__PART_SCALAR) return is_true(ga__map_peek(part->tree, "rotational"));
  const ga_coordinate_info *info = coordinate[bytes] == '.'       ? ga_coordinate_find(coordinate + bytes + 1)
                                   : part->kind == GA__PART_JOINT ? only_coordinate(part->tree)
                                                                  : NULL;
  return info && info->is_angle;
}

/* 1: the part acts on an angle, so fields have their units for angles. */
static int has_other_units(const ga__reader *reader, ga__part_kind kind, const ga__tree *tree)
{
  if (kind == GA__PART_SCALAR) return is_true(ga__map_peek(tree, "rotational"));
  if (kind == GA__PART_JOINT) return ga__joint_kind_of(tree) == GA_JOINT_GEAR;
  const ga__tree *coordinate = ga__map_peek(tree, "coordinate");
  return coordinate && coordinate->kind == GA__TREE_SCALAR && is_angle(reader, coordinate->text);
}

/* ---- Sizes of bodies ---- */

static double length_of(int n, const double *a, const double *b)
{
  double sum = 0;
  for (int i = 0; i < n; i++) sum += (a[i] - (b ? b[i] : 0)) * (a[i] - (b ? b[i] : 0));
  return sqrt(sum);
}

static void note_body(ga__reader *reader, ga__named *named, const any_def *def)
{
  struct ga__body_size *size = ga__room(reader, 1, sizeof *size);
  if (!size) return;
  if (named->kind == GA__PART_RIGID) {
    const ga_rigid_def *d = &def->rigid;
    size->mass = d->mass;
    size->inertia = fmax(d->inertia[0], fmax(d->inertia[1], d->inertia[2]));
    size->reach = length_of(3, d->com, NULL);
    memcpy(size->position, d->pose.position, sizeof size->position);
  } else if (named->kind == GA__PART_PLANAR) {
    size->mass = def->planar.mass;
    size->inertia = def->planar.inertia;
    size->reach = length_of(2, def->planar.com, NULL);
    memcpy(size->position, def->planar.position, 2 * sizeof(double));
    size->position[2] = def->planar.z;
  } else {
    size->mass = named->kind == GA__PART_POINT ? def->point.mass : 1;
  }
  named->size = size;
}

static void note_place(const ga__reader *reader, const char *body, const double *at, int in_ground)
{
  const ga__named *named = body ? ga__directory_find(&reader->parts, body, strlen(body)) : NULL;
  if (!named || !named->size) return;
  named->size->reach = fmax(named->size->reach, length_of(3, at, in_ground ? named->size->position : NULL));
}

static int is_in_plane(const ga__reader *reader, const char *body)
{
  const ga__named *named = ga__directory_find(&reader->parts, body, strlen(body));
  return strcmp(body, "ground") == 0 || (named && named->kind == GA__PART_PLANAR);
}

/* Warns of an axis that has no effect in the plane: there joints rotate about z and slide along x. */
static void suspect_axis(ga__reader *reader, const ga__named *named, const ga_joint_def *def)
{
  const ga__tree *at = ga__map_get(named->tree, "at");
  if (!at || !is_in_plane(reader, def->a) || !is_in_plane(reader, def->b)) return;
  if (fabs(def->at.rotation[8]) > 1 - TILT) return;
  ga__report_warning(reader->r->messages, at->at, GA_REASON_AXIS_LEAVES_PLANE, &(ga__facts){.field = "at"});
}

/* Records sizes for the warnings; bodies are read before markers and joints. */
static void record_sizes(ga__reader *reader, ga__named *named, const any_def *def)
{
  const ga__tree *angle = named->kind == GA__PART_PLANAR ? ga__map_peek(named->tree, "angle") : NULL;
  if (named->kind <= GA__PART_SCALAR) note_body(reader, named, def);
  if (angle) {
    const size_t before = ga__messages_enter(reader->r->messages, "angle");
    ga__suspect_turn(reader, angle);
    ga__messages_leave(reader->r->messages, before);
  }
  if (named->kind == GA__PART_MARKER) note_place(reader, def->marker.body, def->marker.pose.position, 0);
  if (named->kind == GA__PART_JOINT && def->joint.at_pose) {
    note_place(reader, def->joint.a, def->joint.at.position, 1);
    note_place(reader, def->joint.b, def->joint.at.position, 1);
    suspect_axis(reader, named, &def->joint);
  }
}

static void suspect_body(ga__reader *reader, const ga__named *named)
{
  const struct ga__body_size *b = named->size;
  const char *kind = ga__part_text((ga__part_kind)named->kind);
  ga__tree *mass = ga__map_get(named->tree, "mass"), *inertia = ga__map_get(named->tree, "inertia");
  if (mass && b->mass > 0 && (b->mass > LARGE_MASS || b->mass < SMALL_MASS))
    ga__report_warning(
        reader->r->messages, mass->at, GA_REASON_SUSPICIOUS_NUMBER,
        &(ga__facts){.kind = kind, .part = named->name, .field = "mass", GA__NUMBERS({b->mass, "kg"})});
  const double reach = b->reach > SMALL_REACH ? b->reach : 1;
  if (inertia && b->mass > 0 && b->inertia > LARGE_INERTIA * b->mass * reach * reach)
    ga__report_warning(reader->r->messages, inertia->at, GA_REASON_SUSPICIOUS_INERTIA,
                       &(ga__facts){.kind = kind,
                                    .part = named->name,
                                    .field = "inertia",
                                    GA__NUMBERS({b->inertia, "kg m²"}, {b->mass, "kg"},
                                                {sqrt(b->inertia / b->mass), "m"}, {reach, "m"}),
                                    .expected = "g*mm^2"});
}

static void report_unused(ga__reader *reader, const ga__named *named, const char *kind)
{
  ga__report_warning(reader->r->messages, named->tree->key_at, GA_REASON_NOT_USED,
                     &(ga__facts){.kind = kind, .part = named->name});
}

/* What is there to be looked at: a block with a unit, a marker on a beam or cable, which has
 * the forces there. */
static int is_shown(const ga__reader *reader, const ga__named *named)
{
  if (named->kind == GA__PART_BLOCK) return ga__map_peek(named->tree, "unit") != NULL;
  const ga__tree *body = ga__map_peek(named->tree, "body");
  const ga__named *on =
      body && body->text ? ga__directory_find(&reader->parts, body->text, strlen(body->text)) : NULL;
  return on && (on->kind == GA__PART_BEAM || on->kind == GA__PART_CABLE || on->kind == GA__PART_MODAL);
}

void ga__suspect_parts(ga__reader *reader)
{
  for (int i = 0; i < reader->parts.names.n; i++) {
    const ga__named *named = &reader->parts.list[i];
    if (named->size) suspect_body(reader, named);
    if (!named->used && (named->kind == GA__PART_MARKER || named->kind == GA__PART_BLOCK) &&
        !is_shown(reader, named))
      report_unused(reader, named, ga__part_text((ga__part_kind)named->kind));
  }
  for (int i = 0; i < reader->functions.names.n; i++) {
    const ga__named *named = &reader->functions.list[i];
    if (!named->used) report_unused(reader, named, "function");
  }
}

/* ---- Reading ---- */

/* Sets masses and sizes that are always accepted. */
static void set_body_size(ga__part_kind kind, any_def *def)
{
  static const double unit[6] = {1, 1, 1, 0, 0, 0};
  if (kind == GA__PART_RIGID) {
    def->rigid.mass = 1;
    memcpy(def->rigid.inertia, unit, sizeof unit);
  } else if (kind == GA__PART_PLANAR) {
    def->planar.mass = def->planar.inertia = 1;
  } else if (kind == GA__PART_POINT) {
    def->point.mass = 1;
  } else if (kind == GA__PART_SCALAR) {
    def->scalar.mass = 1;
  } else if (kind == GA__PART_BEAM) { /* long enough for any marker on it */
    def->beam.length = 1e9;
    def->beam.section = GA_SECTION_CIRCLE;
    def->beam.diameter = def->beam.young = def->beam.density = 1;
  } else if (kind == GA__PART_CABLE) {
    def->cable.length = 1e9;
    def->cable.stiffness = def->cable.mass_per_length = 1;
    memset(def->cable.from, 0, sizeof def->cable.from);
    memcpy(def->cable.to, unit, sizeof def->cable.to);
  }
}

/* Keeps what other parts refer to: the bodies of a part, and the type of a joint, which determines its
 * coordinates. Returns 0: unknown, or not sufficient. */
static int keep_names(ga__part_kind which, const any_def *read, int type, any_def *def)
{
  if (which == GA__PART_SCALAR) def->scalar.rotational = read->scalar.rotational;
  if (which == GA__PART_MODAL) return 0;
  if (which <= GA__PART_CABLE) return 1;
  if (which == GA__PART_MARKER) return (def->marker.body = read->marker.body) != NULL;
  const ga_joint_def *joint = &read->joint;
  if (which != GA__PART_JOINT || type < 0 || type == GA_JOINT_GEAR || type == GA_JOINT_RACK) return 0;
  def->joint.kind = joint->kind;
  def->joint.a = joint->a ? joint->a : "ground";
  def->joint.b = joint->b ? joint->b : "ground";
  return joint->a || joint->b;
}

static int try_part(ga__reader *reader, const ga__part_type *kind, const any_def *def)
{
  const ga_status status = kind->add(reader->m, def);
  if (status == GA_ERR_MEMORY) reader->r->failed = 1;
  return !status;
}

/* Adds a substitute of the same kind and name for a wrong part. is_read 1: only its numbers were refused.
 * Returns 0: not possible. */
static int add_substitute(ga__reader *reader, const ga__named *named, const any_def *read, int is_read,
                          int type)
{
  const ga__part_kind which = (ga__part_kind)named->kind;
  const ga__part_type *kind = ga__part_type_of(which);
  any_def def = *read;
  set_body_size(which, &def);
  if (!is_read) reader->guessed = 1;
  if (which <= GA__PART_SCALAR && try_part(reader, kind, &def)) return 1;
  memset(&def, 0, sizeof def);
  kind->defaults(&def);
  def.name = named->name;
  set_body_size(which, &def);
  if (!keep_names(which, read, type, &def)) return 0;
  reader->guessed = 1;
  return try_part(reader, kind, &def);
}

/* The ratio is required for couplings, and ignored for other joints. */
static int has_ratio(ga__reader *reader, const ga__named *named, const ga__owner *owner)
{
  const int gear = owner->kind == GA_JOINT_GEAR;
  if ((!gear && owner->kind != GA_JOINT_RACK) || ga__map_peek(named->tree, "ratio")) return 1;
  ga__report_error(reader->r->messages, named->tree->key_at, GA_REASON_KEY_MISSING,
                   &(ga__facts){.field = "ratio",
                                .expected = gear ? "that of the gear, of either sign"
                                                 : "the pinion's radius, of either sign"});
  return 0;
}

/* Keys that are read by hand. */
static const ga__extra *extra_of(ga__part_kind kind, int *n)
{
  *n = 0;
  return kind == GA__PART_MODAL      ? ga__modal_extra(n)
         : kind == GA__PART_TYRE     ? ga__tyre_extra(n)
         : kind == GA__PART_COLLIDER ? ga__surface_extra(0, n)
         : kind == GA__PART_SHAPE    ? ga__surface_extra(1, n)
                                     : NULL;
}

/* Keys of its fields, the type, and those that are read by hand. */
static void finish_keys(ga__reader *reader, const ga__named *named, const ga__owner *owner)
{
  const char *more[MOST_EXTRA] = {"type"};
  const ga__part_type *kind = ga__part_type_of((ga__part_kind)named->kind);
  int n = kind->type ? 1 : 0, n_extra = 0;
  const ga__extra *extra = extra_of((ga__part_kind)named->kind, &n_extra);
  for (int i = 0; i < n_extra; i++) ga__map_get(named->tree, more[n++] = extra[i].name);
  ga__finish_keys(reader, named->tree, kind->n_fields - 1, kind->fields + 1, owner, n, more);
}

static int read_surface(ga__reader *reader, const ga__named *named, any_def *def)
{
  ga__surface s;
  ga_collider_def *c = &def->collider;
  ga_shape_def *d = &def->shape;
  const int drawn = named->kind == GA__PART_SHAPE,
            takes = drawn ? d->kind == GA_SOLID_MESH && !d->points && !d->triangles
                          : c->kind == GA_COLLIDER_MESH && !c->points && !c->triangles;
  if (!ga__read_surface_file(reader, named->tree, takes, drawn, &s)) return 0;
  if (!s.point) return 1;
  const int n = (int)s.n_points, m = (int)s.n_triangles;
  if (drawn) {
    d->points = s.point, d->n_points = n, d->point_size = 3;
    d->triangles = s.triangle, d->n_triangles = m, d->triangle_size = 3;
  } else {
    c->points = s.point, c->n_points = n, c->point_size = 3;
    c->triangles = s.triangle, c->n_triangles = m, c->triangle_size = 3;
  }
  return 1;
}

/* Along a line (line.h) parts must fit together where redundant constraints join them. */
static ga__line_values values_along(ga__part_kind kind)
{
  const int constrains = kind == GA__PART_ROLLING || kind == GA__PART_SLIDER || kind == GA__PART_CONSTRAINT;
  if (kind < GA__PART_MARKER) return GA__PLACES_ON_CURVE;
  return kind <= GA__PART_JOINT || constrains ? GA__ON_CURVE : GA__ON_LINE;
}

void ga__read_part(ga__reader *reader, ga__named *named)
{
  const ga__part_kind which = (ga__part_kind)named->kind;
  if (which == GA__PART_SHAPE && reader->r->opts->without_meshes && ga__map_peek(named->tree, "file")) return;
  const ga__part_type *kind = ga__part_type_of(which);
  any_def def;
  memset(&def, 0, sizeof def);
  ga__owner owner = {.type_key = "type", .other = has_other_units(reader, which, named->tree), .kind = -1};
  ga__messages_begin(reader->r->messages, kind->text, named->name);
  kind->defaults(&def);
  def.name = named->name;
  int good = which != GA__PART_TYRE || ga__read_tyre_file(reader, named->tree, &def.tyre);
  const ga__line_values outer = ga__value_choose(reader->r, values_along(which));
  good &= ga__read_fields(reader, named->tree, kind->n_fields - 1, kind->fields + 1, &owner, &def);
  ga__value_choose(reader->r, outer);
  finish_keys(reader, named, &owner);
  if (which == GA__PART_COLLIDER || which == GA__PART_SHAPE) good &= read_surface(reader, named, &def);
  if (which == GA__PART_JOINT) good &= has_ratio(reader, named, &owner);
  if (which == GA__PART_MODAL) good &= (def.modal.body = ga__read_modal(reader, named)) != NULL;
  if (good && which == GA__PART_JOINT) ga__prescribe_joint(reader, named->name, &def.joint);
  if (good && which == GA__PART_SCALAR) ga__prescribe_scalar(reader, named->name, &def.scalar);
  if (reader->r->failed) return;
  const ga_status status = good ? kind->add(reader->m, &def) : GA_OK;
  if (status) ga__report_refusal(reader, named, status);
  if (!good || status)
    named->omitted = add_substitute(reader, named, &def, good, owner.kind) ? GA__OMIT_NUMBERS : GA__OMIT_ALL;
  else if (!reader->again)
    record_sizes(reader, named, &def);
}

int ga__part_group(int i, ga__group *group)
{
  if (i < 0 || i + 1 >= GA__PART_BLOCK) return 0;
  const ga__part_type *kind = ga__part_type_of((ga__part_kind)(i + 1));
  *group = (ga__group){.section = kind->section,
                       .type = kind->type,
                       .about = kind->about,
                       .n = kind->n_fields - 1, /* the name is the key */
                       .fields = kind->fields + 1,
                       .defaults = kind->defaults,
                       .size = kind->size};
  group->extra = extra_of((ga__part_kind)(i + 1), &group->n_extra);
  return 1;
}
