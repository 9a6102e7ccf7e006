/* Parts of a machine: what is copied, what is refused and with which words, names found among many. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "mbs_parts_rig.h"

/* ---- What is refused ---- */

typedef enum set_what { NOTHING, NUMBER, TEXT, INTEGER, POINTER } set_what;

typedef struct setting {
  set_what what;
  size_t offset;
  double number; /* number or integer */
  const char *text;
} setting;

typedef struct refusal {
  ga__part_kind kind;
  setting set[3];
  ga_reason reason;
  const char *field;
  int item;
} refusal;

#define AT(type, member) offsetof(type, member)
#define NUM(type, member, value)                                                                             \
  {                                                                                                          \
    NUMBER, AT(type, member), value, NULL                                                                    \
  }
#define TXT(type, member, value)                                                                             \
  {                                                                                                          \
    TEXT, AT(type, member), 0, value                                                                         \
  }
#define INT(type, member, value)                                                                             \
  {                                                                                                          \
    INTEGER, AT(type, member), value, NULL                                                                   \
  }
#define NONE(type, member)                                                                                   \
  {                                                                                                          \
    POINTER, AT(type, member), 0, NULL                                                                       \
  }

/* What is refused, and which field, which of its numbers, is blamed. */
static const refusal refusals[] = {
    /* names */
    {GA__PART_RIGID, {NONE(ga_rigid_def, name)}, GA_REASON_NAME_MISSING, "", -1},
    {GA__PART_SPRING, {TXT(ga_spring_def, name, "")}, GA_REASON_NAME_MISSING, "", -1},
    {GA__PART_POINT, {TXT(ga_point_def, name, "2nd")}, GA_REASON_NAME_SYNTAX, "", -1},
    {GA__PART_POINT, {TXT(ga_point_def, name, "a b")}, GA_REASON_NAME_SYNTAX, "", -1},
    {GA__PART_POINT, {TXT(ga_point_def, name, "a.")}, GA_REASON_NAME_SYNTAX, "", -1},
    {GA__PART_POINT, {TXT(ga_point_def, name, "a.1")}, GA_REASON_NAME_SYNTAX, "", -1},
    {GA__PART_POINT, {TXT(ga_point_def, name, "a..b")}, GA_REASON_NAME_SYNTAX, "", -1},
    {GA__PART_POINT, {TXT(ga_point_def, name, "a\nb")}, GA_REASON_NAME_SYNTAX, "", -1},
    {GA__PART_POINT, {TXT(ga_point_def, name, "größe")}, GA_REASON_NAME_SYNTAX, "", -1},
    {GA__PART_MARKER, {TXT(ga_marker_def, name, "ground")}, GA_REASON_NAME_RESERVED, "", -1},
    {GA__PART_SCALAR, {TXT(ga_scalar_def, name, "t")}, GA_REASON_NAME_RESERVED, "", -1},
    {GA__PART_BLOCK, {TXT(ga__block_def, name, "energy")}, GA_REASON_NAME_RESERVED, "", -1},
    {GA__PART_BLOCK, {TXT(ga__block_def, name, "energy.kinetic")}, GA_REASON_NAME_RESERVED, "", -1},
    {GA__PART_DRIVE, {TXT(ga_drive_def, name, "taken")}, GA_REASON_NAME_TAKEN, "", -1},
    {GA__PART_ACTUATOR, {TXT(ga_actuator_def, name, "taken")}, GA_REASON_NAME_TAKEN, "", -1},

    /* rigid bodies */
    {GA__PART_RIGID, {NUM(ga_rigid_def, mass, 0)}, GA_REASON_OUT_OF_RANGE, "mass", -1},
    {GA__PART_RIGID, {NUM(ga_rigid_def, mass, -2)}, GA_REASON_OUT_OF_RANGE, "mass", -1},
    {GA__PART_RIGID, {NUM(ga_rigid_def, mass, NAN)}, GA_REASON_OUT_OF_RANGE, "mass", -1},
    {GA__PART_RIGID,
     {NUM(ga_rigid_def, mass, -2), INT(ga_rigid_def, massless, 1)},
     GA_REASON_OUT_OF_RANGE,
     "mass",
     -1},
    {GA__PART_RIGID, {NUM(ga_rigid_def, inertia[4], INFINITY)}, GA_REASON_OUT_OF_RANGE, "inertia", 4},
    {GA__PART_RIGID, {NUM(ga_rigid_def, inertia[2], 5.1)}, GA_REASON_INERTIA_IMPOSSIBLE, "inertia", -1},
    {GA__PART_RIGID, {NUM(ga_rigid_def, inertia[2], 5.1)}, GA_REASON_INERTIA_IMPOSSIBLE, "inertia", -1},
    {GA__PART_RIGID,
     {NUM(ga_rigid_def, inertia[2], 5 * (1 + 3e-9))},
     GA_REASON_INERTIA_IMPOSSIBLE,
     "inertia",
     -1},
    {GA__PART_RIGID, {NUM(ga_rigid_def, inertia[0], 0)}, GA_REASON_INERTIA_ZERO, "inertia", -1},
    {GA__PART_RIGID, {NUM(ga_rigid_def, inertia[3], 3)}, GA_REASON_INERTIA_NEGATIVE, "inertia", -1},
    {GA__PART_RIGID,
     {NUM(ga_rigid_def, inertia[3], 3), INT(ga_rigid_def, massless, 1)},
     GA_REASON_INERTIA_NEGATIVE,
     "inertia",
     -1},
    {GA__PART_RIGID, {NUM(ga_rigid_def, com[2], NAN)}, GA_REASON_OUT_OF_RANGE, "com", 2},
    {GA__PART_RIGID, {NUM(ga_rigid_def, velocity[0], -INFINITY)}, GA_REASON_OUT_OF_RANGE, "velocity", 0},
    {GA__PART_RIGID, {NUM(ga_rigid_def, omega[1], NAN)}, GA_REASON_OUT_OF_RANGE, "omega", 1},
    {GA__PART_RIGID, {NUM(ga_rigid_def, pose.position[1], NAN)}, GA_REASON_OUT_OF_RANGE, "pose", 1},
    {GA__PART_RIGID, {NUM(ga_rigid_def, pose.rotation[4], NAN)}, GA_REASON_NOT_FINITE, "pose", 4},
    {GA__PART_RIGID, {NUM(ga_rigid_def, pose.rotation[8], -1)}, GA_REASON_NOT_A_ROTATION, "pose", -1},
    {GA__PART_RIGID, {NUM(ga_rigid_def, pose.rotation[1], 3e-6)}, GA_REASON_NOT_A_ROTATION, "pose", -1},
    {GA__PART_RIGID, {INT(ga_rigid_def, omega_in_body, 7)}, GA_REASON_OUT_OF_RANGE, "omega_in_body", -1},
    {GA__PART_RIGID, {INT(ga_rigid_def, massless, -1)}, GA_REASON_OUT_OF_RANGE, "massless", -1},

    /* other bodies */
    {GA__PART_PLANAR, {NUM(ga_planar_def, mass, 0)}, GA_REASON_OUT_OF_RANGE, "mass", -1},
    {GA__PART_PLANAR, {NUM(ga_planar_def, inertia, -1)}, GA_REASON_OUT_OF_RANGE, "inertia", -1},
    {GA__PART_PLANAR,
     {NUM(ga_planar_def, inertia, -1), INT(ga_planar_def, massless, 1)},
     GA_REASON_OUT_OF_RANGE,
     "inertia",
     -1},
    {GA__PART_PLANAR, {NUM(ga_planar_def, com[1], NAN)}, GA_REASON_OUT_OF_RANGE, "com", 1},
    {GA__PART_PLANAR, {NUM(ga_planar_def, position[0], NAN)}, GA_REASON_OUT_OF_RANGE, "position", 0},
    {GA__PART_PLANAR, {NUM(ga_planar_def, z, NAN)}, GA_REASON_OUT_OF_RANGE, "z", -1},
    {GA__PART_PLANAR, {NUM(ga_planar_def, angle, NAN)}, GA_REASON_OUT_OF_RANGE, "angle", -1},
    {GA__PART_PLANAR, {NUM(ga_planar_def, velocity[1], NAN)}, GA_REASON_OUT_OF_RANGE, "velocity", 1},
    {GA__PART_PLANAR, {NUM(ga_planar_def, rate, NAN)}, GA_REASON_OUT_OF_RANGE, "rate", -1},
    {GA__PART_PLANAR, {INT(ga_planar_def, massless, 2)}, GA_REASON_OUT_OF_RANGE, "massless", -1},
    {GA__PART_POINT, {NUM(ga_point_def, mass, 0)}, GA_REASON_OUT_OF_RANGE, "mass", -1},
    {GA__PART_POINT, {NUM(ga_point_def, position[2], INFINITY)}, GA_REASON_OUT_OF_RANGE, "position", 2},
    {GA__PART_POINT, {NUM(ga_point_def, velocity[2], NAN)}, GA_REASON_OUT_OF_RANGE, "velocity", 2},
    {GA__PART_POINT, {INT(ga_point_def, massless, 3)}, GA_REASON_OUT_OF_RANGE, "massless", -1},
    {GA__PART_SCALAR, {NUM(ga_scalar_def, mass, 0)}, GA_REASON_OUT_OF_RANGE, "mass", -1},
    {GA__PART_SCALAR,
     {NUM(ga_scalar_def, mass, -1), INT(ga_scalar_def, rotational, 1)},
     GA_REASON_OUT_OF_RANGE,
     "mass",
     -1},
    {GA__PART_SCALAR, {NUM(ga_scalar_def, position, NAN)}, GA_REASON_OUT_OF_RANGE, "position", -1},
    {GA__PART_SCALAR, {NUM(ga_scalar_def, velocity, NAN)}, GA_REASON_OUT_OF_RANGE, "velocity", -1},
    {GA__PART_SCALAR, {INT(ga_scalar_def, rotational, 3)}, GA_REASON_OUT_OF_RANGE, "rotational", -1},
    {GA__PART_SCALAR, {INT(ga_scalar_def, massless, 3)}, GA_REASON_OUT_OF_RANGE, "massless", -1},
    {GA__PART_MARKER, {NONE(ga_marker_def, body)}, GA_REASON_FIELD_MISSING, "body", -1},
    {GA__PART_MARKER, {TXT(ga_marker_def, body, "")}, GA_REASON_FIELD_MISSING, "body", -1},
    {GA__PART_MARKER, {NUM(ga_marker_def, pose.position[0], NAN)}, GA_REASON_OUT_OF_RANGE, "pose", 0},
    {GA__PART_MARKER, {NUM(ga_marker_def, pose.rotation[0], 0)}, GA_REASON_NOT_A_ROTATION, "pose", -1},

    /* joints, drives, rolling */
    {GA__PART_JOINT, {INT(ga_joint_def, kind, GA_N_JOINTS)}, GA_REASON_NOT_A_CHOICE, "kind", -1},
    {GA__PART_JOINT, {INT(ga_joint_def, kind, -1)}, GA_REASON_NOT_A_CHOICE, "kind", -1},
    {GA__PART_JOINT, {NONE(ga_joint_def, a)}, GA_REASON_FIELD_MISSING, "a", -1},
    {GA__PART_JOINT, {NONE(ga_joint_def, b)}, GA_REASON_FIELD_MISSING, "b", -1},
    {GA__PART_JOINT, {TXT(ga_joint_def, b, "arm")}, GA_REASON_BOTH_THE_SAME, "a", -1},
    {GA__PART_JOINT, {NUM(ga_joint_def, length, 0)}, GA_REASON_OUT_OF_RANGE, "length", -1},
    {GA__PART_JOINT, {NUM(ga_joint_def, length, -1)}, GA_REASON_OUT_OF_RANGE, "length", -1},
    {GA__PART_JOINT, {NUM(ga_joint_def, length, INFINITY)}, GA_REASON_OUT_OF_RANGE, "length", -1},
    {GA__PART_JOINT, {NUM(ga_joint_def, pitch, NAN)}, GA_REASON_OUT_OF_RANGE, "pitch", -1},
    {GA__PART_JOINT, {NUM(ga_joint_def, ratio, NAN)}, GA_REASON_OUT_OF_RANGE, "ratio", -1},
    {GA__PART_JOINT, {INT(ga_joint_def, kind, GA_JOINT_GEAR)}, GA_REASON_OUT_OF_RANGE, "ratio", -1},
    {GA__PART_JOINT, {INT(ga_joint_def, kind, GA_JOINT_RACK)}, GA_REASON_OUT_OF_RANGE, "ratio", -1},
    {GA__PART_JOINT, {INT(ga_joint_def, at_pose, 5)}, GA_REASON_OUT_OF_RANGE, "at_pose", -1},
    {GA__PART_JOINT, {NUM(ga_joint_def, at.position[2], NAN)}, GA_REASON_OUT_OF_RANGE, "at", 2},
    {GA__PART_JOINT, {NUM(ga_joint_def, at.rotation[0], 2)}, GA_REASON_NOT_A_ROTATION, "at", -1},
    {GA__PART_DRIVE, {NONE(ga_drive_def, coordinate)}, GA_REASON_FIELD_MISSING, "coordinate", -1},
    {GA__PART_DRIVE, {NONE(ga_drive_def, function)}, GA_REASON_FIELD_MISSING, "function", -1},
    {GA__PART_ROLLING, {INT(ga_rolling_def, kind, 3)}, GA_REASON_NOT_A_CHOICE, "kind", -1},
    {GA__PART_ROLLING, {NONE(ga_rolling_def, body)}, GA_REASON_FIELD_MISSING, "body", -1},
    {GA__PART_ROLLING, {NONE(ga_rolling_def, plane)}, GA_REASON_FIELD_MISSING, "plane", -1},
    {GA__PART_ROLLING, {TXT(ga_rolling_def, plane, "arm")}, GA_REASON_BOTH_THE_SAME, "body", -1},
    {GA__PART_ROLLING, {NUM(ga_rolling_def, radius, 0)}, GA_REASON_OUT_OF_RANGE, "radius", -1},
    {GA__PART_ROLLING, {NUM(ga_rolling_def, radius, NAN)}, GA_REASON_OUT_OF_RANGE, "radius", -1},
    {GA__PART_SLIDER, {NONE(ga_slider_def, along)}, GA_REASON_FIELD_MISSING, "along", -1},
    {GA__PART_SLIDER, {NONE(ga_slider_def, frame)}, GA_REASON_FIELD_MISSING, "frame", -1},
    {GA__PART_SLIDER, {TXT(ga_slider_def, frame, "rope")}, GA_REASON_BOTH_THE_SAME, "along", -1},
    {GA__PART_SLIDER, {INT(ga_slider_def, orientation, 2)}, GA_REASON_NOT_A_CHOICE, "orientation", -1},
    {GA__PART_SLIDER, {NUM(ga_slider_def, s, INFINITY)}, GA_REASON_OUT_OF_RANGE, "s", -1},
    {GA__PART_SLIDER, {NUM(ga_slider_def, s_rate, -INFINITY)}, GA_REASON_OUT_OF_RANGE, "s_rate", -1},

    /* forces */
    {GA__PART_SPRING, {NONE(ga_spring_def, a)}, GA_REASON_FIELD_MISSING, "a", -1},
    {GA__PART_SPRING, {NONE(ga_spring_def, b)}, GA_REASON_FIELD_MISSING, "b", -1},
    {GA__PART_SPRING, {NONE(ga_spring_def, a), NONE(ga_spring_def, b)}, GA_REASON_ACTS_ON_NOTHING, "", -1},
    {GA__PART_SPRING,
     {TXT(ga_spring_def, coordinate, "hinge.angle")},
     GA_REASON_LINE_AND_COORDINATE,
     "a",
     -1},
    {GA__PART_SPRING,
     {TXT(ga_spring_def, coordinate, "hinge.angle"), NONE(ga_spring_def, a)},
     GA_REASON_LINE_AND_COORDINATE,
     "b",
     -1},
    {GA__PART_SPRING, {TXT(ga_spring_def, a, "ground")}, GA_REASON_BOTH_THE_SAME, "a", -1},
    {GA__PART_SPRING, {TXT(ga_spring_def, coordinate, "")}, GA_REASON_FIELD_MISSING, "coordinate", -1},
    {GA__PART_SPRING, {TXT(ga_spring_def, expression, "")}, GA_REASON_FIELD_MISSING, "expression", -1},
    {GA__PART_SPRING, {NUM(ga_spring_def, stiffness, NAN)}, GA_REASON_OUT_OF_RANGE, "stiffness", -1},
    {GA__PART_SPRING, {NUM(ga_spring_def, damping, NAN)}, GA_REASON_OUT_OF_RANGE, "damping", -1},
    {GA__PART_SPRING, {NUM(ga_spring_def, preload, NAN)}, GA_REASON_OUT_OF_RANGE, "preload", -1},
    {GA__PART_SPRING, {NUM(ga_spring_def, rest, INFINITY)}, GA_REASON_OUT_OF_RANGE, "rest", -1},
    {GA__PART_ACTUATOR, {NONE(ga_actuator_def, b)}, GA_REASON_FIELD_MISSING, "b", -1},
    {GA__PART_ACTUATOR, {NUM(ga_actuator_def, force.value, NAN)}, GA_REASON_OUT_OF_RANGE, "force", -1},
    {GA__PART_ACTUATOR, {TXT(ga_actuator_def, force.expression, "")}, GA_REASON_FIELD_MISSING, "force", -1},
    {GA__PART_FRICTION, {NONE(ga_friction_def, b)}, GA_REASON_FIELD_MISSING, "b", -1},
    {GA__PART_FRICTION, {NUM(ga_friction_def, speed, 0)}, GA_REASON_OUT_OF_RANGE, "speed", -1},
    {GA__PART_FRICTION, {NUM(ga_friction_def, speed, INFINITY)}, GA_REASON_OUT_OF_RANGE, "speed", -1},
    {GA__PART_FRICTION, {NUM(ga_friction_def, level.value, NAN)}, GA_REASON_OUT_OF_RANGE, "level", -1},
    {GA__PART_FRICTION, {NUM(ga_friction_def, level.value, -3)}, GA_REASON_OUT_OF_RANGE, "level", -1},
    {GA__PART_BUSHING, {NONE(ga_bushing_def, a)}, GA_REASON_FIELD_MISSING, "a", -1},
    {GA__PART_BUSHING, {TXT(ga_bushing_def, b, "arm")}, GA_REASON_BOTH_THE_SAME, "a", -1},
    {GA__PART_BUSHING, {NUM(ga_bushing_def, stiffness[35], NAN)}, GA_REASON_OUT_OF_RANGE, "stiffness", 35},
    {GA__PART_BUSHING, {NUM(ga_bushing_def, damping[7], INFINITY)}, GA_REASON_OUT_OF_RANGE, "damping", 7},
    {GA__PART_BUSHING, {NUM(ga_bushing_def, preload[5], NAN)}, GA_REASON_OUT_OF_RANGE, "preload", 5},
    {GA__PART_FORCE, {NONE(ga_force_def, frame)}, GA_REASON_FIELD_MISSING, "frame", -1},
    {GA__PART_FORCE, {INT(ga_force_def, axes, 2)}, GA_REASON_NOT_A_CHOICE, "axes", -1},
    {GA__PART_FORCE, {NUM(ga_force_def, force[1].value, NAN)}, GA_REASON_OUT_OF_RANGE, "force", 1},
    {GA__PART_FORCE, {NUM(ga_force_def, torque[2].value, NAN)}, GA_REASON_OUT_OF_RANGE, "torque", 2},
    {GA__PART_FORCE, {TXT(ga_force_def, torque[0].expression, "")}, GA_REASON_FIELD_MISSING, "torque", 0},
    {GA__PART_CONTACT, {NONE(ga_contact_def, plane)}, GA_REASON_FIELD_MISSING, "plane", -1},
    {GA__PART_CONTACT, {NONE(ga_contact_def, point)}, GA_REASON_FIELD_MISSING, "point", -1},
    {GA__PART_CONTACT, {TXT(ga_contact_def, point, "ground")}, GA_REASON_BOTH_THE_SAME, "plane", -1},
    {GA__PART_CONTACT, {NUM(ga_contact_def, radius, -1)}, GA_REASON_OUT_OF_RANGE, "radius", -1},
    {GA__PART_CONTACT, {NUM(ga_contact_def, stiffness, 0)}, GA_REASON_OUT_OF_RANGE, "stiffness", -1},
    {GA__PART_CONTACT, {NUM(ga_contact_def, exponent, 0.5)}, GA_REASON_OUT_OF_RANGE, "exponent", -1},
    {GA__PART_CONTACT, {NUM(ga_contact_def, exponent, NAN)}, GA_REASON_OUT_OF_RANGE, "exponent", -1},
    {GA__PART_CONTACT, {NUM(ga_contact_def, dissipation, -1)}, GA_REASON_OUT_OF_RANGE, "dissipation", -1},
    {GA__PART_CONTACT, {NUM(ga_contact_def, mu, -0.1)}, GA_REASON_OUT_OF_RANGE, "mu", -1},
    {GA__PART_CONTACT, {NUM(ga_contact_def, mu, 0.5)}, GA_REASON_OUT_OF_RANGE, "speed", -1},
    {GA__PART_CONTACT, {NUM(ga_contact_def, speed, NAN)}, GA_REASON_OUT_OF_RANGE, "speed", -1},
    {GA__PART_DRY_FRICTION, {NONE(ga_dry_friction_def, b)}, GA_REASON_FIELD_MISSING, "b", -1},
    {GA__PART_DRY_FRICTION,
     {NUM(ga_dry_friction_def, stiction, 0.5)},
     GA_REASON_OUT_OF_RANGE,
     "stiction",
     -1},
    {GA__PART_DRY_FRICTION,
     {NUM(ga_dry_friction_def, stiction, NAN)},
     GA_REASON_OUT_OF_RANGE,
     "stiction",
     -1},
    {GA__PART_DRY_FRICTION,
     {NUM(ga_dry_friction_def, level.value, NAN)},
     GA_REASON_OUT_OF_RANGE,
     "level",
     -1},
    {GA__PART_RIGID_STOP, {NUM(ga_rigid_stop_def, upper, -2)}, GA_REASON_OUT_OF_RANGE, "upper", -1},
    {GA__PART_RIGID_STOP,
     {NUM(ga_rigid_stop_def, restitution, 1.1)},
     GA_REASON_OUT_OF_RANGE,
     "restitution",
     -1},
    {GA__PART_RIGID_STOP,
     {NUM(ga_rigid_stop_def, restitution, NAN)},
     GA_REASON_OUT_OF_RANGE,
     "restitution",
     -1},
    {GA__PART_RIGID_STOP, {NUM(ga_rigid_stop_def, rest_speed, 0)}, GA_REASON_OUT_OF_RANGE, "rest_speed", -1},
    {GA__PART_STOP, {NUM(ga_stop_def, upper, -2)}, GA_REASON_OUT_OF_RANGE, "upper", -1},
    {GA__PART_STOP, {NUM(ga_stop_def, lower, NAN)}, GA_REASON_OUT_OF_RANGE, "lower", -1},
    {GA__PART_STOP,
     {NUM(ga_stop_def, lower, -INFINITY), NUM(ga_stop_def, upper, INFINITY)},
     GA_REASON_OUT_OF_RANGE,
     "upper",
     -1},
    {GA__PART_STOP, {NUM(ga_stop_def, stiffness, 0)}, GA_REASON_OUT_OF_RANGE, "stiffness", -1},
    {GA__PART_STOP, {NUM(ga_stop_def, stiffness, -1)}, GA_REASON_OUT_OF_RANGE, "stiffness", -1},
    {GA__PART_STOP, {NUM(ga_stop_def, exponent, 0.5)}, GA_REASON_OUT_OF_RANGE, "exponent", -1},
    {GA__PART_STOP, {NUM(ga_stop_def, exponent, 2)}, GA_REASON_OUT_OF_RANGE, "depth", -1},
    {GA__PART_STOP, {NUM(ga_stop_def, dissipation, -1)}, GA_REASON_OUT_OF_RANGE, "dissipation", -1},
    {GA__PART_STOP, {NUM(ga_stop_def, damping, NAN)}, GA_REASON_OUT_OF_RANGE, "damping", -1},
    {GA__PART_STOP, {NUM(ga_stop_def, ratio, 0)}, GA_REASON_OUT_OF_RANGE, "ratio", -1},
    {GA__PART_STOP, {TXT(ga_stop_def, other, "hinge.angle")}, GA_REASON_BOTH_THE_SAME, "coordinate", -1},
    {GA__PART_STOP, {NONE(ga_stop_def, coordinate)}, GA_REASON_FIELD_MISSING, "coordinate", -1},
    {GA__PART_STOP, {TXT(ga_stop_def, a, "arm")}, GA_REASON_LINE_AND_COORDINATE, "a", -1},

    /* sensors and blocks */
    {GA__PART_SENSOR, {INT(ga_sensor_def, kind, 7)}, GA_REASON_NOT_A_CHOICE, "kind", -1},
    {GA__PART_SENSOR, {NONE(ga_sensor_def, of)}, GA_REASON_FIELD_MISSING, "of", -1},
    {GA__PART_SENSOR, {NONE(ga_sensor_def, from)}, GA_REASON_FIELD_MISSING, "from", -1},
    {GA__PART_SENSOR, {TXT(ga_sensor_def, axes, "")}, GA_REASON_FIELD_MISSING, "axes", -1},
    {GA__PART_SENSOR,
     {INT(ga_sensor_def, kind, GA_SENSOR_VELOCITY), TXT(ga_sensor_def, from, "arm")},
     GA_REASON_SENSOR_FROM,
     "from",
     -1},
    {GA__PART_RIGID, {NUM(ga_rigid_def, weight, 0)}, GA_REASON_OUT_OF_RANGE, "weight", -1},
    {GA__PART_POINT, {NUM(ga_point_def, weight, INFINITY)}, GA_REASON_OUT_OF_RANGE, "weight", -1},
    {GA__PART_GUESS, {NONE(ga_guess_def, signal)}, GA_REASON_FIELD_MISSING, "signal", -1},
    {GA__PART_GUESS, {NUM(ga_guess_def, value, NAN)}, GA_REASON_OUT_OF_RANGE, "value", -1},
    {GA__PART_BLOCK, {NONE(ga__block_def, block)}, GA_REASON_FIELD_MISSING, "block", -1},
    {GA__PART_BLOCK, {NONE(ga__block_def, inputs)}, GA_REASON_FIELD_MISSING, "inputs", -1},
};

static void apply(any_def *def, const setting *s)
{
  char *at = (char *)def + s->offset;
  const int integer = (int)s->number;
  switch (s->what) {
  case NOTHING:
    return;
  case NUMBER:
    memcpy(at, &s->number, sizeof s->number);
    return;
  case INTEGER:
    memcpy(at, &integer, sizeof integer);
    return;
  case TEXT:
  case POINTER:
    memcpy(at, &s->text, sizeof s->text);
    return;
  }
}

/* The machine before and after a refusal. */
static void assert_refused(parts_rig *r, ga__part_kind kind, any_def *def, ga_reason reason,
                           const char *field, int item)
{
  const int n = r->m->n_parts;
  const long live = rig_memory.live, extra = kind == GA__PART_BLOCK && def->block.block ? r->block_size : 0;
  ga_context_clear_error(r->ctx);
  const ga_status status = add_any(r->m, kind, def);
  const ga_error *e = ga_context_error(r->ctx);
  if (status != GA_ERR_ARGUMENT || e->reason != reason || strcmp(e->field, field) != 0 || e->item != item)
    fail_msg("status %d with '%s' (%s[%d]) instead of '%s' of %s[%d]", (int)status, e->text, e->field,
             e->item, ga_reason_text(reason), field, item);
  assert_string_equal(e->kind, ga__part_text(kind));
  assert_int_equal(r->m->n_parts, n);
  assert_int_equal(rig_memory.live, live - extra); /* a block is gone all the same */
}

static void each_fault_is_named(void **state)
{
  parts_rig *r = *state;
  any_def def;
  def_of(r, GA__PART_ACTUATOR, "taken", &def);
  assert_status(r->ctx, add_any(r->m, GA__PART_ACTUATOR, &def), GA_OK);
  for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
    const refusal *c = &refusals[i];
    def_of(r, c->kind, "part", &def);
    if (c->kind == GA__PART_BLOCK && c->set[0].offset == AT(ga__block_def, block))
      ga_block_destroy(&def.block.block);
    for (int k = 0; k < 3; k++) apply(&def, &c->set[k]);
    assert_refused(r, c->kind, &def, c->reason, c->field, c->item);
  }
}

static void inputs_of_blocks_are_checked(void **state)
{
  parts_rig *r = *state;
  any_def def;
  def_of(r, GA__PART_BLOCK, "part", &def);
  r->inputs[1].value = NAN;
  assert_refused(r, GA__PART_BLOCK, &def, GA_REASON_OUT_OF_RANGE, "inputs", 1);
  def_of(r, GA__PART_BLOCK, "part", &def);
  r->inputs[0].expression = "";
  assert_refused(r, GA__PART_BLOCK, &def, GA_REASON_FIELD_MISSING, "inputs", 0);
}

static void names_have_a_length(void **state)
{
  parts_rig *r = *state;
  char name[200];
  any_def def;
  memset(name, 'a', sizeof name);
  name[127] = '\0';
  def_of(r, GA__PART_POINT, name, &def);
  assert_status(r->ctx, add_any(r->m, GA__PART_POINT, &def), GA_OK);
  name[127] = 'a';
  name[128] = '\0';
  assert_refused(r, GA__PART_POINT, &def, GA_REASON_NAME_TOO_LONG, "", -1);
}

/* ---- What is accepted ---- */

typedef struct acceptance {
  ga__part_kind kind;
  setting set[3];
} acceptance;

static const acceptance acceptances[] = {
    {GA__PART_RIGID, {NUM(ga_rigid_def, inertia[2], 5)}}, /* a thin plate: A + B = C */
    {GA__PART_RIGID, {NUM(ga_rigid_def, inertia[2], 5 * (1 + 3e-10))}},
    {GA__PART_RIGID,
     {NUM(ga_rigid_def, mass, 0), NUM(ga_rigid_def, inertia[0], 0), INT(ga_rigid_def, massless, 1)}},
    {GA__PART_RIGID, {NUM(ga_rigid_def, inertia[2], 50), INT(ga_rigid_def, massless, 1)}}, /* a rotor */
    {GA__PART_PLANAR,
     {NUM(ga_planar_def, mass, 0), NUM(ga_planar_def, inertia, 0), INT(ga_planar_def, massless, 1)}},
    {GA__PART_POINT, {NUM(ga_point_def, mass, 0), INT(ga_point_def, massless, 1)}},
    {GA__PART_SCALAR, {NUM(ga_scalar_def, mass, 0), INT(ga_scalar_def, massless, 1)}},
    {GA__PART_JOINT, {NUM(ga_joint_def, length, NAN)}},
    {GA__PART_JOINT, {INT(ga_joint_def, kind, GA_JOINT_GEAR), NUM(ga_joint_def, ratio, -2)}},
    {GA__PART_ROLLING, {INT(ga_rolling_def, kind, GA_ROLLING_KNIFE), NUM(ga_rolling_def, radius, 0)}},
    {GA__PART_SPRING, {NUM(ga_spring_def, stiffness, -1), NUM(ga_spring_def, rest, NAN)}},
    {GA__PART_SPRING,
     {NONE(ga_spring_def, a), NONE(ga_spring_def, b), TXT(ga_spring_def, coordinate, "hinge.angle")}},
    {GA__PART_FRICTION,
     {NUM(ga_friction_def, level.value, -1), TXT(ga_friction_def, level.expression, "2*pid")}},
    {GA__PART_CONTACT, {NUM(ga_contact_def, mu, 0.5), NUM(ga_contact_def, speed, 0.1)}},
    {GA__PART_SENSOR, {TXT(ga_sensor_def, from, "arm")}},
    {GA__PART_POINT, {TXT(ga_point_def, name, "_a1.b_2.C")}},
    {GA__PART_POINT, {TXT(ga_point_def, name, "energy_store")}},
};

static void limits_are_accepted(void **state)
{
  parts_rig *r = *state;
  for (size_t i = 0; i < sizeof acceptances / sizeof acceptances[0]; i++) {
    char name[20];
    any_def def;
    snprintf(name, sizeof name, "part%zu", i);
    def_of(r, acceptances[i].kind, name, &def);
    for (int k = 0; k < 3; k++) apply(&def, &acceptances[i].set[k]);
    assert_status(r->ctx, add_any(r->m, acceptances[i].kind, &def), GA_OK);
  }
}

/* Moments turned into other axes are judged by their principal values, whatever the axes. */
static void inertia_in_any_axes(void **state)
{
  static const double good[3] = {2, 3, 4.9}, bad[3] = {2, 3, 5.1}, flat[3] = {1e-14, 3, 3};
  const double *const moments[3] = {good, bad, flat};
  parts_rig *r = *state;
  rig_random random = rig_seed(0);
  for (int n = 0; n < 300; n++) {
    const double *p = moments[n % 3], scale = pow(10, rig_uniform(&random, -30, 30));
    double q[4], R[9], J[9] = {0};
    any_def def;
    char name[20];
    snprintf(name, sizeof name, "body%d", n);
    def_of(r, GA__PART_RIGID, name, &def);
    for (int i = 0; i < 4; i++) q[i] = rig_uniform(&random, -1, 1);
    assert_status(r->ctx, ga_rotation_quaternion(r->ctx, q, R), GA_OK);
    for (int i = 0; i < 27; i++)
      J[3 * (i / 9) + i / 3 % 3] += scale * R[3 * (i / 9) + i % 3] * p[i % 3] * R[3 * (i / 3 % 3) + i % 3];
    const double tensor[6] = {J[0], J[4], J[8], J[1], J[2], J[5]};
    memcpy(def.rigid.inertia, tensor, sizeof tensor);
    if (p == good)
      assert_status(r->ctx, add_any(r->m, GA__PART_RIGID, &def), GA_OK);
    else
      assert_refused(r, GA__PART_RIGID, &def,
                     p == bad ? GA_REASON_INERTIA_IMPOSSIBLE : GA_REASON_INERTIA_ZERO, "inertia", -1);
  }
}

/* A rotation given with few digits is kept as a rotation to rounding. */
static void poses_are_mended(void **state)
{
  parts_rig *r = *state;
  any_def def;
  def_of(r, GA__PART_MARKER, "part", &def);
  static const double rough[9] = {0.8660254, -0.5, 0, 0.5, 0.8660254, 0, 0, 0, 1};
  memcpy(def.marker.pose.rotation, rough, sizeof rough);
  assert_status(r->ctx, add_any(r->m, GA__PART_MARKER, &def), GA_OK);
  const ga_marker_def *kept = r->m->part[1].def;
  assert_near(kept->pose.rotation[0], sqrt(0.75), 1e-8, "cosine");
  assert_near(kept->pose.rotation[0] * kept->pose.rotation[0] +
                  kept->pose.rotation[3] * kept->pose.rotation[3],
              1, 4e-16, "length of an axis");
}

/* Every text of every kind is a copy; what the caller does with his own afterwards is his. */
static void texts_are_copied(void **state)
{
  parts_rig *r = *state;
  for (int kind = GA__PART_RIGID; kind < GA__N_PARTS; kind++) {
    char buffer[12][32];
    char name[20];
    const char **text;
    any_def def, other;
    int n = 0;
    snprintf(name, sizeof name, "part%d", kind);
    def_of(r, (ga__part_kind)kind, name, &def);
    for (; (text = ga__def_text((ga__part_kind)kind, &def, n)) != NULL; n++) {
      assert_true(n < 12);
      if (!*text) continue;
      snprintf(buffer[n], sizeof buffer[n], "%s", *text);
      *text = buffer[n];
    }
    assert_status(r->ctx, add_any(r->m, (ga__part_kind)kind, &def), GA_OK);
    for (int i = 0; i < n; i++) memset(buffer[i], '#', sizeof buffer[i] - 1);
    const ga__part *part = &r->m->part[ga__find_part(r->m, name)];
    assert_int_equal(part->kind, kind == GA__PART_VARIABLE ? GA__PART_BLOCK : kind);
    assert_string_equal(part->name, name);
    if (kind == GA__PART_VARIABLE) continue; /* it became a block */
    def_of(r, (ga__part_kind)kind, name, &other);
    for (int i = 0; i < n; i++) {
      const char *kept = *ga__def_text((ga__part_kind)kind, part->def, i);
      const char *given = *ga__def_text((ga__part_kind)kind, &other, i);
      assert_int_equal(kept == NULL, given == NULL);
      if (given) assert_string_equal(kept, given);
    }
    if (kind == GA__PART_BLOCK) ga_block_destroy(&other.block.block);
  }
}

/* Counts texts by hand, so that none is left out of the table. */
static void every_text_is_in_the_table(void **state)
{
  static const int count[GA__N_PARTS] = {
      [GA__PART_RIGID] = 1,        [GA__PART_PLANAR] = 1,     [GA__PART_POINT] = 1,
      [GA__PART_SCALAR] = 1,       [GA__PART_BEAM] = 7,       [GA__PART_CABLE] = 4,
      [GA__PART_LINE_LOAD] = 9,    [GA__PART_MODAL] = 1,      [GA__PART_MARKER] = 2,
      [GA__PART_JOINT] = 4,        [GA__PART_DRIVE] = 6,      [GA__PART_ROLLING] = 3,
      [GA__PART_CONSTRAINT] = 3,   [GA__PART_SPRING] = 6,     [GA__PART_ACTUATOR] = 6,
      [GA__PART_FRICTION] = 6,     [GA__PART_BUSHING] = 4,    [GA__PART_FORCE] = 9,
      [GA__PART_CONTACT] = 4,      [GA__PART_SENSOR] = 4,     [GA__PART_GUESS] = 2,
      [GA__PART_BLOCK] = 3,        [GA__PART_SLIDER] = 3,     [GA__PART_ROAD] = 4,
      [GA__PART_TYRE] = 4,         [GA__PART_SIGNAL] = 3,     [GA__PART_STOP] = 6,
      [GA__PART_DRY_FRICTION] = 5, [GA__PART_RIGID_STOP] = 4, [GA__PART_VARIABLE] = 1,
      [GA__PART_EVENT] = 4,        [GA__PART_COLLIDER] = 2,   [GA__PART_COLLISION] = 4,
      [GA__PART_SHAPE] = 3};
  parts_rig *r = *state;
  for (int kind = GA__PART_RIGID; kind < GA__N_PARTS; kind++) {
    any_def def;
    int n = 0;
    def_of(r, (ga__part_kind)kind, "part", &def);
    while (ga__def_text((ga__part_kind)kind, &def, n)) n++;
    if (n != count[kind]) fail_msg("%s: %d texts", ga__part_text((ga__part_kind)kind), n);
    if (kind == GA__PART_BLOCK) ga_block_destroy(&def.block.block);
  }
}

static void many_names_are_found(void **state)
{
  enum { MANY = 20000 };
  parts_rig *r = *state;
  char name[20];
  ga_point_def def = ga_point_defaults();
  def.mass = 1;
  def.name = name;
  for (int i = 1; i <= MANY; i++) {
    snprintf(name, sizeof name, "body%d", i);
    assert_status(r->ctx, ga_machine_add_point(r->m, &def), GA_OK);
  }
  for (int i = 1; i <= MANY; i++) {
    snprintf(name, sizeof name, "body%d", i);
    assert_int_equal(ga__find_part(r->m, name), i);
  }
  assert_int_equal(ga__find_part(r->m, "ground"), 0);
  assert_int_equal(ga__find_part(r->m, "body0"), -1);
  assert_int_equal(ga__find_part(r->m, ""), -1);
  assert_int_equal(ga__find_part(r->m, NULL), -1);
}

/* ---- Names that mean nothing ---- */

static void no_such_names(void **state)
{
  static const struct {
    const char *name, *says;
  } cases[] = {
      {"amr", "joint 'hinge': b is 'amr', but there is no part of that name; a body or marker is needed; did "
              "you mean "
              "'arm'?"},
      {"Ground", "did you mean 'ground'?"},
      {"xyzzy", "there is no part of that name; a body or marker is needed"},
      {"helper", "joint 'hinge': b is 'helper', an actuator; a body or marker is needed"},
      {"arm", "joint 'hinge': b is 'arm', a rigid body; a body or marker is needed"},
      {"ground", "joint 'hinge': b is the ground; a body or marker is needed"},
      {"arm.tip",
       "joint 'hinge': b is 'arm.tip', but rigid body 'arm' has no 'tip'; a body or marker is needed"},
      {"arm.a.b", "but rigid body 'arm' has no 'a.b'"},
      {"", "joint 'hinge': b is ''"},
  };
  parts_rig *r = *state;
  const struct {
    ga__part_kind kind;
    const char *name;
  } parts[] = {{GA__PART_JOINT, "hinge"}, {GA__PART_RIGID, "arm"}, {GA__PART_ACTUATOR, "helper"}};
  for (int i = 0; i < 3; i++) {
    any_def def;
    def_of(r, parts[i].kind, parts[i].name, &def);
    assert_status(r->ctx, add_any(r->m, parts[i].kind, &def), GA_OK);
  }
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    assert_int_equal(ga__refuse_unknown(r->m, &r->m->part[1], "b", cases[i].name, "a body or marker"),
                     GA_ERR_ARGUMENT);
    assert_says(r->ctx, cases[i].says);
  }
  ga__refuse_unknown(r->m, &r->m->part[1], "b", "xyzzy", "a body or marker");
  assert_null(strstr(ga_context_error(r->ctx)->text, "did you mean"));
}

/* ---- The machine itself ---- */

static void machines_are_checked(void **state)
{
  parts_rig *r = *state;
  ga_machine_opts opts = ga_machine_defaults();
  ga_machine *m = r->m;
  assert_int_equal(opts.form, GA_FORM_SPACE);
  for (int i = 0; i < 3; i++) assert_true(opts.gravity[i] == 0);
  assert_int_equal(ga_machine_create(NULL, &opts, &m), GA_ERR_ARGUMENT);
  assert_null(m);
  assert_int_equal(ga_machine_create(r->ctx, &opts, NULL), GA_ERR_ARGUMENT);
  assert_call_error(r->ctx, GA_REASON_NULL_ARGUMENT, "ga_machine_create", "out");
  opts.form = (ga_form)3;
  m = r->m;
  assert_int_equal(ga_machine_create(r->ctx, &opts, &m), GA_ERR_ARGUMENT);
  assert_null(m);
  assert_call_error(r->ctx, GA_REASON_NOT_A_CHOICE, "machine", "form");
  opts = ga_machine_defaults();
  opts.gravity[1] = NAN;
  assert_int_equal(ga_machine_create(r->ctx, &opts, &m), GA_ERR_ARGUMENT);
  assert_call_error(r->ctx, GA_REASON_NOT_FINITE, "machine", "gravity");
  assert_int_equal(ga_context_error(r->ctx)->item, 1);
  opts.gravity[1] = -9.81;
  assert_status(r->ctx, ga_machine_create(r->ctx, &opts, &m), GA_OK);
  assert_ptr_equal(ga_machine_context(m), r->ctx);
  assert_true(m->opts.gravity[1] == -9.81);
  assert_int_equal(m->n_parts, 1);
  assert_string_equal(m->part[0].name, "ground");
  assert_int_equal(m->part[0].kind, GA__PART_GROUND);
  ga_machine_destroy(&m);
  assert_null(m);
  ga_machine_destroy(&m);
  ga_machine_destroy(NULL);
  assert_null(ga_machine_context(NULL));
}

static void nothing_to_add(void **state)
{
  parts_rig *r = *state;
  any_def def;
  assert_int_equal(ga_machine_add_spring(r->m, NULL), GA_ERR_ARGUMENT);
  assert_call_error(r->ctx, GA_REASON_FIELD_MISSING, "spring", "its definition");
  def_of(r, GA__PART_SPRING, "part", &def);
  assert_int_equal(ga_machine_add_spring(NULL, &def.spring), GA_ERR_ARGUMENT);
  def_of(r, GA__PART_BLOCK, "part", &def);
  assert_int_equal(ga_machine_add_block(NULL, "part", def.block.block, r->inputs), GA_ERR_ARGUMENT);
}

static void nothing_is_added_once_built(void **state)
{
  parts_rig *r = *state;
  any_def def;
  def_of(r, GA__PART_POINT, "first", &def);
  assert_status(r->ctx, add_any(r->m, GA__PART_POINT, &def), GA_OK);
  assert_status(r->ctx, ga_machine_build(r->m), GA_OK);
  for (int kind = GA__PART_RIGID; kind < GA__N_PARTS; kind++) {
    def_of(r, (ga__part_kind)kind, "late", &def);
    assert_int_equal(add_any(r->m, (ga__part_kind)kind, &def), GA_ERR_ORDER);
    assert_says(r->ctx, "'late': the machine is built; add parts before ga_machine_build()");
    assert_says(r->ctx, ga__part_text((ga__part_kind)kind));
  }
  assert_int_equal(r->m->n_parts, 2);
}

static void names_of_kinds(void **state)
{
  (void)state;
  assert_string_equal(ga__part_text(GA__PART_GROUND), "ground");
  assert_string_equal(ga__part_text(GA__PART_RIGID), "rigid body");
  assert_string_equal(ga__part_text((ga__part_kind)(GA__N_PARTS + 1)), "unknown part");
  assert_string_equal(ga_joint_name(GA_JOINT_FIXED), "fixed");
  assert_string_equal(ga_joint_name(GA_JOINT_REVOLUTE), "revolute");
  assert_string_equal(ga_joint_name(GA_JOINT_RACK), "rack_and_pinion");
  assert_null(ga_joint_name(GA_N_JOINTS));
  assert_null(ga_joint_name((ga_joint_kind)-1));
}

/* Elements are new and zero, and what was there stays, through every growth. */
static void lists_grow(void **state)
{
  typedef struct element {
    double x;
    int i;
  } element;
  parts_rig *r = *state;
  ga__list list = {.size = sizeof(element)};
  for (int i = 0; i < 1000; i++) {
    element *e = ga__list_add(r->ctx, &list);
    assert_non_null(e);
    assert_ptr_equal(e, GA__AT(list, element, i));
    assert_true(e->x == 0 && e->i == 0);
    *e = (element){0.5 * i, i};
  }
  assert_int_equal(list.n, 1000);
  for (int i = 0; i < 1000; i++)
    assert_true(GA__AT(list, element, i)->i == i && GA__AT(list, element, i)->x == 0.5 * i);
  list.n = 10; /* a place used before is zeroed again */
  const element *again = ga__list_add(r->ctx, &list);
  assert_true(again->x == 0 && again->i == 0);
  ga__free(r->ctx, list.at);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, parts_set_up, parts_tear_down)
  const struct CMUnitTest tests[] = {
      TEST(each_fault_is_named),
      TEST(inputs_of_blocks_are_checked),
      TEST(names_have_a_length),
      TEST(limits_are_accepted),
      TEST(inertia_in_any_axes),
      TEST(poses_are_mended),
      TEST(texts_are_copied),
      TEST(every_text_is_in_the_table),
      TEST(many_names_are_found),
      TEST(no_such_names),
      TEST(machines_are_checked),
      TEST(nothing_to_add),
      TEST(nothing_is_added_once_built),
      TEST(names_of_kinds),
      TEST(lists_grow),
  };
#undef TEST
  return cmocka_run_group_tests_name("mbs: parts", tests, NULL, NULL);
}
