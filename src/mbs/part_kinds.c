/* Kinds of parts: one table of their fields, from which come checks and the list of texts to copy; and
 * defaults. */
#include "mbs/parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* [-] relative: moments of inertia below the first are zero; those that differ by less than the second are
 * the same */
#define MOMENT_ZERO 1e-12
#define MOMENT_EQUAL 1e-9

/* ---- Fields ---- */

typedef enum rule {
  TEXT,          /* may be NULL, but not empty */
  TEXT_NEEDED,   /* note: what it names */
  NUMBER,        /* note, of all numbers: the unit */
  NUMBER_OR_NAN, /* NaN: as at the start */
  POSITIVE,
  NOT_NEGATIVE,
  FLAG,   /* int, 0 or 1 */
  CHOICE, /* an enum of `choices` values from 0; note: its type */
  POSE,
  INPUT,
  FUNCTION_NEEDED
} rule;

typedef struct field {
  const char *name;
  size_t offset;
  int count; /* of numbers or inputs, one after the other */
  rule rule;
  const char *note;
  int choices;
} field;

/* Whose field is wrong. */
typedef struct part_checked {
  ga_context *ctx;
  const char *kind, *name;
} part_checked;

typedef struct kind_row {
  const char *text;
  size_t size;
  const field *fields;
  int n_fields;
  ga_status (*check)(const part_checked *c,
                     const void *def); /* what fields alone do not show; NULL: nothing */
} kind_row;

#define FIELD(type, member, count, rule, note)                                                               \
  {                                                                                                          \
#member, offsetof(type, member), count, rule, note, 0                                                    \
  }
#define CHOICE_FIELD(type, member, of, n)                                                                    \
  {                                                                                                          \
#member, offsetof(type, member), 1, CHOICE, of, n                                                        \
  }
#define FRAME "a body or marker, or \"ground\""
#define COORDINATE "a coordinate such as \"hinge.angle\", or a scalar"

static const field ground_fields[] = {{"", 0, 0, TEXT, "", 0}};

static const field rigid_fields[] = {
    FIELD(ga_rigid_def, name, 1, TEXT, ""),           FIELD(ga_rigid_def, mass, 1, NUMBER, "kg"),
    FIELD(ga_rigid_def, inertia, 6, NUMBER, "kg m²"), FIELD(ga_rigid_def, com, 3, NUMBER, "m"),
    FIELD(ga_rigid_def, pose, 1, POSE, ""),           FIELD(ga_rigid_def, velocity, 3, NUMBER, "m/s"),
    FIELD(ga_rigid_def, omega, 3, NUMBER, "rad/s"),   FIELD(ga_rigid_def, omega_in_body, 1, FLAG, ""),
    FIELD(ga_rigid_def, massless, 1, FLAG, ""),
};

static const field planar_fields[] = {
    FIELD(ga_planar_def, name, 1, TEXT, ""),           FIELD(ga_planar_def, mass, 1, NUMBER, "kg"),
    FIELD(ga_planar_def, inertia, 1, NUMBER, "kg m²"), FIELD(ga_planar_def, com, 2, NUMBER, "m"),
    FIELD(ga_planar_def, position, 2, NUMBER, "m"),    FIELD(ga_planar_def, z, 1, NUMBER, "m"),
    FIELD(ga_planar_def, angle, 1, NUMBER, "rad"),     FIELD(ga_planar_def, velocity, 2, NUMBER, "m/s"),
    FIELD(ga_planar_def, rate, 1, NUMBER, "rad/s"),    FIELD(ga_planar_def, massless, 1, FLAG, ""),
};

static const field point_fields[] = {
    FIELD(ga_point_def, name, 1, TEXT, ""),        FIELD(ga_point_def, mass, 1, NUMBER, "kg"),
    FIELD(ga_point_def, position, 3, NUMBER, "m"), FIELD(ga_point_def, velocity, 3, NUMBER, "m/s"),
    FIELD(ga_point_def, massless, 1, FLAG, ""),
};

static const field scalar_fields[] = {
    FIELD(ga_scalar_def, name, 1, TEXT, ""),       FIELD(ga_scalar_def, mass, 1, NUMBER, ""),
    FIELD(ga_scalar_def, position, 1, NUMBER, ""), FIELD(ga_scalar_def, velocity, 1, NUMBER, ""),
    FIELD(ga_scalar_def, rotational, 1, FLAG, ""), FIELD(ga_scalar_def, massless, 1, FLAG, ""),
};

static const field marker_fields[] = {
    FIELD(ga_marker_def, name, 1, TEXT, ""),
    FIELD(ga_marker_def, body, 1, TEXT_NEEDED, FRAME),
    FIELD(ga_marker_def, pose, 1, POSE, ""),
};

static const field joint_fields[] = {
    FIELD(ga_joint_def, name, 1, TEXT, ""),
    CHOICE_FIELD(ga_joint_def, kind, "ga_joint_kind", GA_N_JOINTS),
    FIELD(ga_joint_def, a, 1, TEXT_NEEDED, FRAME),
    FIELD(ga_joint_def, b, 1, TEXT_NEEDED, FRAME),
    FIELD(ga_joint_def, at_pose, 1, FLAG, ""),
    FIELD(ga_joint_def, at, 1, POSE, ""),
    FIELD(ga_joint_def, length, 1, NUMBER_OR_NAN, "m"),
    FIELD(ga_joint_def, pitch, 1, NUMBER, "m"),
    FIELD(ga_joint_def, ratio, 1, NUMBER, ""),
};

static const field drive_fields[] = {
    FIELD(ga_drive_def, name, 1, TEXT, ""),
    FIELD(ga_drive_def, coordinate, 1, TEXT_NEEDED, COORDINATE),
    FIELD(ga_drive_def, function, 1, FUNCTION_NEEDED, ""),
};

static const field rolling_fields[] = {
    FIELD(ga_rolling_def, name, 1, TEXT, ""),
    CHOICE_FIELD(ga_rolling_def, kind, "ga_rolling_kind", GA_ROLLING_KNIFE + 1),
    FIELD(ga_rolling_def, body, 1, TEXT_NEEDED, "a body or marker"),
    FIELD(ga_rolling_def, plane, 1, TEXT_NEEDED, "\"ground\" or a marker on it"),
    FIELD(ga_rolling_def, radius, 1, NUMBER, "m"),
};

static const field spring_fields[] = {
    FIELD(ga_spring_def, name, 1, TEXT, ""),        FIELD(ga_spring_def, a, 1, TEXT, ""),
    FIELD(ga_spring_def, b, 1, TEXT, ""),           FIELD(ga_spring_def, coordinate, 1, TEXT, ""),
    FIELD(ga_spring_def, stiffness, 1, NUMBER, ""), FIELD(ga_spring_def, damping, 1, NUMBER, ""),
    FIELD(ga_spring_def, preload, 1, NUMBER, ""),   FIELD(ga_spring_def, rest, 1, NUMBER_OR_NAN, ""),
    FIELD(ga_spring_def, expression, 1, TEXT, ""),
};

static const field actuator_fields[] = {
    FIELD(ga_actuator_def, name, 1, TEXT, ""),   FIELD(ga_actuator_def, a, 1, TEXT, ""),
    FIELD(ga_actuator_def, b, 1, TEXT, ""),      FIELD(ga_actuator_def, coordinate, 1, TEXT, ""),
    FIELD(ga_actuator_def, force, 1, INPUT, ""),
};

static const field friction_fields[] = {
    FIELD(ga_friction_def, name, 1, TEXT, ""),   FIELD(ga_friction_def, a, 1, TEXT, ""),
    FIELD(ga_friction_def, b, 1, TEXT, ""),      FIELD(ga_friction_def, coordinate, 1, TEXT, ""),
    FIELD(ga_friction_def, level, 1, INPUT, ""), FIELD(ga_friction_def, speed, 1, POSITIVE, "m/s or rad/s"),
};

static const field bushing_fields[] = {
    FIELD(ga_bushing_def, name, 1, TEXT, ""),        FIELD(ga_bushing_def, a, 1, TEXT_NEEDED, FRAME),
    FIELD(ga_bushing_def, b, 1, TEXT_NEEDED, FRAME), FIELD(ga_bushing_def, stiffness, 36, NUMBER, ""),
    FIELD(ga_bushing_def, damping, 36, NUMBER, ""),  FIELD(ga_bushing_def, preload, 6, NUMBER, ""),
};

static const field force_fields[] = {
    FIELD(ga_force_def, name, 1, TEXT, ""),
    FIELD(ga_force_def, frame, 1, TEXT_NEEDED, "a body or marker"),
    CHOICE_FIELD(ga_force_def, axes, "ga_axes", GA_AXES_BODY + 1),
    FIELD(ga_force_def, force, 3, INPUT, ""),
    FIELD(ga_force_def, torque, 3, INPUT, ""),
};

static const field contact_fields[] = {
    FIELD(ga_contact_def, name, 1, TEXT, ""),
    FIELD(ga_contact_def, plane, 1, TEXT_NEEDED, FRAME),
    FIELD(ga_contact_def, point, 1, TEXT_NEEDED, FRAME),
    FIELD(ga_contact_def, radius, 1, NOT_NEGATIVE, "m"),
    FIELD(ga_contact_def, stiffness, 1, POSITIVE, "N/m^exponent"),
    FIELD(ga_contact_def, exponent, 1, NUMBER, ""),
    FIELD(ga_contact_def, dissipation, 1, NOT_NEGATIVE, "s/m"),
    FIELD(ga_contact_def, mu, 1, NOT_NEGATIVE, ""),
    FIELD(ga_contact_def, speed, 1, NOT_NEGATIVE, "m/s"),
};

static const field sensor_fields[] = {
    FIELD(ga_sensor_def, name, 1, TEXT, ""),
    CHOICE_FIELD(ga_sensor_def, kind, "ga_sensor_kind", GA_SENSOR_REACTION_TORQUE + 1),
    FIELD(ga_sensor_def, of, 1, TEXT_NEEDED, "a body or marker, or a joint for reactions"),
    FIELD(ga_sensor_def, from, 1, TEXT_NEEDED, FRAME),
    FIELD(ga_sensor_def, axes, 1, TEXT_NEEDED, FRAME),
};

static const field block_fields[] = {FIELD(ga__block_def, name, 1, TEXT, "")};

/* ---- Messages ---- */

/* "rigid body 'arm': " and what is wrong. */
static ga_status wrong(const part_checked *c, const char *format, ...) GA_PRINTF(2, 3);
static ga_status wrong(const part_checked *c, const char *format, ...)
{
  char text[GA_ERROR_TEXT / 2];
  va_list args;
  va_start(args, format);
  if (vsnprintf(text, sizeof text, format, args) < 0) text[0] = '\0';
  va_end(args);
  return ga__fail(c->ctx, GA_ERR_ARGUMENT, "%s '%s': %s", c->kind, c->name, text);
}

static ga_status wrong_number(const part_checked *c, const field *f, int i, double value, const char *must)
{
  char index[16] = "";
  if (f->count > 1) snprintf(index, sizeof index, "[%d]", i);
  return wrong(c, "%s%s is %g%s%s; it must be %s", f->name, index, value, f->note[0] ? " " : "", f->note,
               must);
}

/* ---- Checks of fields ---- */

static ga_status check_number(const part_checked *c, const field *f, int i, double value)
{
  if (f->rule == NUMBER_OR_NAN && isnan(value)) return GA_OK;
  if (f->rule == POSITIVE && !(value > 0)) return wrong_number(c, f, i, value, "> 0");
  if (f->rule == NOT_NEGATIVE && !(value >= 0)) return wrong_number(c, f, i, value, ">= 0");
  if (!isfinite(value)) return wrong_number(c, f, i, value, "finite");
  return GA_OK;
}

static ga_status check_text(const part_checked *c, const field *f, const char *text)
{
  if (text && text[0]) return GA_OK;
  if (f->rule == TEXT_NEEDED)
    return wrong(c, "%s is %s; give the name of %s", f->name, text ? "empty" : "missing", f->note);
  return text ? wrong(c, "%s is empty; give NULL where there is none", f->name) : GA_OK;
}

static ga_status check_integer(const part_checked *c, const field *f, const char *at)
{
  int value;
  memcpy(&value, at, sizeof value);
  if (f->rule == FLAG && value != 0 && value != 1)
    return wrong(c, "%s is %d; it must be 0 or 1: start from the kind's defaults", f->name, value);
  if (f->rule == CHOICE && (value < 0 || value >= f->choices))
    return wrong(c, "%s is %d, which is no %s; these go from 0 to %d", f->name, value, f->note,
                 f->choices - 1);
  return GA_OK;
}

static ga_status check_pose(const part_checked *c, const field *f, ga_pose *pose)
{
  for (int i = 0; i < 3; i++)
    if (!isfinite(pose->position[i]))
      return wrong(c, "%s.position[%d] is %g m; it must be finite", f->name, i, pose->position[i]);
  if (!ga_rotation_matrix(c->ctx, pose->rotation, pose->rotation)) return GA_OK;
  return wrong(c, "%s.%s", f->name, ga_context_error(c->ctx)->text);
}

static ga_status check_input(const part_checked *c, const char *name, int i, int count, const ga_input *input)
{
  char index[16] = "";
  if (count > 1) snprintf(index, sizeof index, "[%d]", i);
  if (!isfinite(input->value))
    return wrong(c, "%s%s.value is %g; it must be finite", name, index, input->value);
  if (input->expression && !input->expression[0])
    return wrong(c, "%s%s.expression is empty; give NULL where there is none", name, index);
  return GA_OK;
}

static ga_status check_field(const part_checked *c, const field *f, void *def)
{
  char *at = (char *)def + f->offset;
  ga_status status = GA_OK;
  switch (f->rule) {
  case TEXT:
  case TEXT_NEEDED:
    return check_text(c, f, *(const char **)(void *)at);
  case NUMBER:
  case NUMBER_OR_NAN:
  case POSITIVE:
  case NOT_NEGATIVE:
    for (int i = 0; i < f->count && !status; i++) status = check_number(c, f, i, ((double *)(void *)at)[i]);
    return status;
  case FLAG:
  case CHOICE:
    return check_integer(c, f, at);
  case POSE:
    return check_pose(c, f, (ga_pose *)(void *)at);
  case INPUT:
    for (int i = 0; i < f->count && !status; i++)
      status = check_input(c, f->name, i, f->count, (ga_input *)(void *)at + i);
    return status;
  case FUNCTION_NEEDED:
    if (*(const ga_function **)(void *)at) return GA_OK;
    return wrong(c, "%s is missing; give one of galpha/expr.h", f->name);
  }
  return GA_OK;
}

/* ---- Checks of kinds ---- */

static ga_status check_mass(const part_checked *c, const char *what, double mass, const char *unit,
                            int massless)
{
  if (mass > 0 || (massless && mass == 0)) return GA_OK;
  if (massless) return wrong(c, "%s is %g %s; it must be >= 0", what, mass, unit);
  return wrong(c, "%s is %g %s; it must be > 0, or set massless where joints hold what has none", what, mass,
               unit);
}

/* Eigenvalues of a symmetric 3×3 matrix, ascending, by Jacobi's rotations. They are exact to rounding
 * relative to the largest, which the closed form is not where two are close. */
static void principal_moments(double moment[3], const double J[6])
{
  double A[3][3] = {{J[0], J[3], J[4]}, {J[3], J[1], J[5]}, {J[4], J[5], J[2]}}, scale = 0;
  for (int i = 0; i < 6; i++) scale = fmax(scale, fabs(J[i]));
  if (scale == 0) scale = 1;
  for (int i = 0; i < 9; i++) A[i / 3][i % 3] /= scale;
  for (int sweep = 0; sweep < 12; sweep++) {
    for (int p = 0; p < 2; p++) {
      for (int q = p + 1; q < 3; q++) {
        if (A[p][q] == 0) continue;
        const double theta = (A[q][q] - A[p][p]) / (2 * A[p][q]);
        const double t = (theta < 0 ? -1 : 1) / (fabs(theta) + hypot(theta, 1)), k = 1 / hypot(t, 1),
                     s = t * k;
        const int r = 3 - p - q;
        const double pq = A[p][q], rp = A[r][p], rq = A[r][q];
        A[p][p] -= t * pq;
        A[q][q] += t * pq;
        A[p][q] = A[q][p] = 0;
        A[r][p] = A[p][r] = k * rp - s * rq;
        A[r][q] = A[q][r] = s * rp + k * rq;
      }
    }
  }
  for (int i = 0; i < 3; i++) moment[i] = A[i][i] * scale;
  for (int pass = 0; pass < 2; pass++) {
    for (int i = 0; i < 2; i++) {
      const double low = fmin(moment[i], moment[i + 1]), high = fmax(moment[i], moment[i + 1]);
      moment[i] = low;
      moment[i + 1] = high;
    }
  }
}

/* A real body's principal moments are positive, and A + B >= C, since A + B − C = 2∫z² dm. An idealised one
 * that joints hold may lack some. */
static ga_status check_inertia(const part_checked *c, const ga_rigid_def *def)
{
  double p[3];
  principal_moments(p, def->inertia);
  const double largest = fmax(fabs(p[0]), fabs(p[2]));
  if (p[0] < -MOMENT_ZERO * largest)
    return wrong(c,
                 "the principal moments of inertia are %.6g, %.6g, %.6g kg m²; none may be negative: look at "
                 "units, and "
                 "at Jxy, Jxz, Jyz, which are entries of the tensor (Jxy = −∫xy dm)",
                 p[0], p[1], p[2]);
  if (def->massless) return GA_OK;
  if (p[0] <= MOMENT_ZERO * largest)
    return wrong(c,
                 "the principal moments of inertia are %.6g, %.6g, %.6g kg m²; each must be > 0: give a thin "
                 "rod a small "
                 "moment about its axis, or set massless where joints hold that rotation",
                 p[0], p[1], p[2]);
  if (p[0] + p[1] < (1 - MOMENT_EQUAL) * p[2])
    return wrong(
        c,
        "the principal moments of inertia are %.6g, %.6g, %.6g kg m², which no body has: two of them exceed "
        "the "
        "third, here they miss it by %.3g; look at units, at the sign of Jxy, Jxz, Jyz (Jxy = −∫xy dm), and "
        "that they are about the centre of mass",
        p[0], p[1], p[2], p[2] - p[0] - p[1]);
  return GA_OK;
}

static ga_status check_rigid(const part_checked *c, const void *def)
{
  const ga_rigid_def *d = def;
  const ga_status status = check_mass(c, "mass", d->mass, "kg", d->massless);
  return status ? status : check_inertia(c, d);
}

static ga_status check_planar(const part_checked *c, const void *def)
{
  const ga_planar_def *d = def;
  const ga_status status = check_mass(c, "mass", d->mass, "kg", d->massless);
  return status ? status : check_mass(c, "inertia", d->inertia, "kg m²", d->massless);
}

static ga_status check_point(const part_checked *c, const void *def)
{
  const ga_point_def *d = def;
  return check_mass(c, "mass", d->mass, "kg", d->massless);
}

static ga_status check_scalar(const part_checked *c, const void *def)
{
  const ga_scalar_def *d = def;
  return check_mass(c, "mass", d->mass, d->rotational ? "kg m²" : "kg", d->massless);
}

/* Names of two frames, or coordinates, that must not be the same. */
static ga_status check_two(const part_checked *c, const char *first, const char *a, const char *second,
                           const char *b)
{
  if (strcmp(a, b) != 0) return GA_OK;
  return wrong(c, "%s and %s are both '%s'; give two different ones", first, second, a);
}

static ga_status check_line(const part_checked *c, const char *a, const char *b, const char *coordinate)
{
  if (coordinate && (a || b))
    return wrong(c, "it has both a line (%s is '%s') and a coordinate ('%s'); give one of them",
                 a ? "a" : "b", a ? a : b, coordinate);
  if (coordinate) return GA_OK;
  if (!a && !b) return wrong(c, "it acts on nothing; give frames a and b, or a coordinate");
  if (!a || !b) return wrong(c, "%s is missing; give the name of " FRAME, a ? "b" : "a");
  return check_two(c, "a", a, "b", b);
}

static ga_status check_joint(const part_checked *c, const void *def)
{
  const ga_joint_def *d = def;
  const int geared = d->kind == GA_JOINT_GEAR || d->kind == GA_JOINT_RACK;
  if (geared && d->ratio == 0)
    return wrong(c, "ratio is 0; a %s needs %s", d->kind == GA_JOINT_GEAR ? "gear" : "rack_and_pinion",
                 d->kind == GA_JOINT_GEAR ? "its ratio, of either sign"
                                          : "the pinion's radius, of either sign [m]");
  if (d->length <= 0)
    return wrong(c,
                 "length is %g m; it must be > 0, or NaN for that at the start; use a spherical joint for 0",
                 d->length);
  return check_two(c, "a", d->a, "b", d->b);
}

static ga_status check_rolling(const part_checked *c, const void *def)
{
  const ga_rolling_def *d = def;
  if (d->kind != GA_ROLLING_KNIFE && !(d->radius > 0))
    return wrong(c, "radius is %g m; that of a sphere or disk must be > 0", d->radius);
  return check_two(c, "body", d->body, "plane", d->plane);
}

static ga_status check_spring(const part_checked *c, const void *def)
{
  const ga_spring_def *d = def;
  return check_line(c, d->a, d->b, d->coordinate);
}

static ga_status check_actuator(const part_checked *c, const void *def)
{
  const ga_actuator_def *d = def;
  return check_line(c, d->a, d->b, d->coordinate);
}

static ga_status check_friction(const part_checked *c, const void *def)
{
  const ga_friction_def *d = def;
  if (d->level.value < 0 && !d->level.function && !d->level.expression)
    return wrong(c, "level is %g; a negative one would drive; it must be >= 0", d->level.value);
  return check_line(c, d->a, d->b, d->coordinate);
}

static ga_status check_bushing(const part_checked *c, const void *def)
{
  const ga_bushing_def *d = def;
  return check_two(c, "a", d->a, "b", d->b);
}

static ga_status check_contact(const part_checked *c, const void *def)
{
  const ga_contact_def *d = def;
  if (!(d->exponent >= 1))
    return wrong(c, "exponent is %g; it must be >= 1 (1.5 between spheres)", d->exponent);
  if (d->mu > 0 && !(d->speed > 0))
    return wrong(c, "speed is %g m/s; with friction (mu is %g) it must be > 0", d->speed, d->mu);
  return check_two(c, "plane", d->plane, "point", d->point);
}

static ga_status check_sensor(const part_checked *c, const void *def)
{
  const ga_sensor_def *d = def;
  if (d->kind == GA_SENSOR_POSITION || strcmp(d->from, "ground") == 0) return GA_OK;
  return wrong(c, "from is '%s', but only positions are seen from another frame; leave it \"ground\"",
               d->from);
}

static ga_status check_block(const part_checked *c, const void *def)
{
  const ga__block_def *d = def;
  if (!d->block) return wrong(c, "block is NULL; give one of galpha/control.h");
  const int n = ga_block_n_in(d->block);
  if (n > 0 && !d->inputs) return wrong(c, "inputs is NULL, but the block has %d", n);
  ga_status status = GA_OK;
  for (int i = 0; i < n && !status; i++) status = check_input(c, "inputs", i, n, &d->inputs[i]);
  return status;
}

/* ---- The table ---- */

#define KIND(text, type, fields, check)                                                                      \
  {                                                                                                          \
    text, sizeof(type), fields, (int)(sizeof(fields) / sizeof((fields)[0])), check                           \
  }

static const kind_row KINDS[GA__N_PARTS] = {
    [GA__PART_GROUND] = {"ground", 0, ground_fields, 0, NULL},
    [GA__PART_RIGID] = KIND("rigid body", ga_rigid_def, rigid_fields, check_rigid),
    [GA__PART_PLANAR] = KIND("planar body", ga_planar_def, planar_fields, check_planar),
    [GA__PART_POINT] = KIND("mass point", ga_point_def, point_fields, check_point),
    [GA__PART_SCALAR] = KIND("scalar", ga_scalar_def, scalar_fields, check_scalar),
    [GA__PART_MARKER] = KIND("marker", ga_marker_def, marker_fields, NULL),
    [GA__PART_JOINT] = KIND("joint", ga_joint_def, joint_fields, check_joint),
    [GA__PART_DRIVE] = KIND("drive", ga_drive_def, drive_fields, NULL),
    [GA__PART_ROLLING] = KIND("rolling", ga_rolling_def, rolling_fields, check_rolling),
    [GA__PART_SPRING] = KIND("spring", ga_spring_def, spring_fields, check_spring),
    [GA__PART_ACTUATOR] = KIND("actuator", ga_actuator_def, actuator_fields, check_actuator),
    [GA__PART_FRICTION] = KIND("friction", ga_friction_def, friction_fields, check_friction),
    [GA__PART_BUSHING] = KIND("bushing", ga_bushing_def, bushing_fields, check_bushing),
    [GA__PART_FORCE] = KIND("force", ga_force_def, force_fields, NULL),
    [GA__PART_CONTACT] = KIND("contact", ga_contact_def, contact_fields, check_contact),
    [GA__PART_SENSOR] = KIND("sensor", ga_sensor_def, sensor_fields, check_sensor),
    [GA__PART_BLOCK] = KIND("block", ga__block_def, block_fields, check_block),
};

const char *ga__part_text(ga__part_kind kind)
{
  return (int)kind >= 0 && kind < GA__N_PARTS ? KINDS[kind].text : "unknown part";
}

size_t ga__def_size(ga__part_kind kind)
{
  return KINDS[kind].size;
}

ga_status ga__def_check(ga_context *ctx, ga__part_kind kind, void *def)
{
  const kind_row *row = &KINDS[kind];
  const part_checked c = {ctx, row->text, *(const char **)def};
  ga_status status = GA_OK;
  for (int i = 0; i < row->n_fields && !status; i++) status = check_field(&c, &row->fields[i], def);
  if (!status && row->check) status = row->check(&c, def);
  return status;
}

const char **ga__def_text(ga__part_kind kind, void *def, int i)
{
  const kind_row *row = &KINDS[kind];
  for (const field *f = row->fields; f < row->fields + row->n_fields; f++) {
    void *at = (char *)def + f->offset;
    if (f->rule != TEXT && f->rule != TEXT_NEEDED && f->rule != INPUT) continue;
    if (i < f->count) return f->rule == INPUT ? &((ga_input *)at)[i].expression : (const char **)at;
    i -= f->count;
  }
  if (kind != GA__PART_BLOCK) return NULL;
  const ga__block_def *d = def;
  return d->inputs && i < ga_block_n_in(d->block) ? &d->inputs[i].expression : NULL;
}

/* ---- Defaults: what is not set here is 0, and refused where it must not be ---- */

ga_rigid_def ga_rigid_defaults(void)
{
  return (ga_rigid_def){.pose = ga_pose_identity()};
}

ga_planar_def ga_planar_defaults(void)
{
  return (ga_planar_def){.name = NULL};
}

ga_point_def ga_point_defaults(void)
{
  return (ga_point_def){.name = NULL};
}

ga_scalar_def ga_scalar_defaults(void)
{
  return (ga_scalar_def){.name = NULL};
}

ga_marker_def ga_marker_defaults(void)
{
  return (ga_marker_def){.pose = ga_pose_identity()};
}

ga_joint_def ga_joint_defaults(void)
{
  return (ga_joint_def){.at = ga_pose_identity(), .length = NAN};
}

ga_drive_def ga_drive_defaults(void)
{
  return (ga_drive_def){.name = NULL};
}

ga_rolling_def ga_rolling_defaults(void)
{
  return (ga_rolling_def){.plane = "ground"};
}

ga_spring_def ga_spring_defaults(void)
{
  return (ga_spring_def){.rest = NAN};
}

ga_actuator_def ga_actuator_defaults(void)
{
  return (ga_actuator_def){.name = NULL};
}

ga_friction_def ga_friction_defaults(void)
{
  return (ga_friction_def){.name = NULL};
}

ga_bushing_def ga_bushing_defaults(void)
{
  return (ga_bushing_def){.name = NULL};
}

ga_force_def ga_force_defaults(void)
{
  return (ga_force_def){.name = NULL};
}

ga_contact_def ga_contact_defaults(void)
{
  return (ga_contact_def){.exponent = 1.5};
}

ga_sensor_def ga_sensor_defaults(void)
{
  return (ga_sensor_def){.from = "ground", .axes = "ground"};
}
