/* Kinds of parts: tables of their fields, from which checks and the list of texts to copy are derived;
 * defaults. */
#include "mbs/beam.h"
#include "mbs/cable.h"
#include "mbs/colour.h"
#include "mbs/coordinate.h"
#include "mbs/element.h"
#include "mbs/parts.h"
#include "mbs/servo.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* [-] relative to the largest moment of inertia: smaller ones count as zero; smaller differences as none */
#define MOMENT_ZERO 1e-12
#define MOMENT_EQUAL 1e-9

/* ---- Fields ---- */

/* The part that is checked, for messages. */
typedef struct part_checked {
  ga_context *ctx;
  const char *kind, *name;
} part_checked;

#define FRAME "a body or marker, or \"ground\""
#define COORDINATE "a coordinate such as \"hinge.angle\", or a scalar"

#define ONE(member) .name = #member, .offset = offsetof(DEF, member), .count = 1
#define MANY(member, n) .name = #member, .offset = offsetof(DEF, member), .count = (n)
#define NAME                                                                                                 \
  {                                                                                                          \
    ONE(name), .rule = GA__RULE_TEXT, .about = "name of the part"                                            \
  }
#define ACTIVE                                                                                               \
  {                                                                                                          \
    ONE(active),                                                                                             \
        .rule = GA__RULE_TEXT, .refers = GA__REFERS_PART, .note = "a variable, which events may set",        \
        .about = "a variable: the part acts while it is above 1/2, so that events switch it on and off "     \
                 "([events.md](events.md#parts-that-are-switched)); none: always"                            \
  }
#define MASSLESS                                                                                             \
  {                                                                                                          \
    ONE(massless),                                                                                           \
        .rule = GA__RULE_FLAG,                                                                               \
        .about = "mass and inertia may be zero; joints must then hold the motions without inertia"           \
  }
#define HOLD                                                                                                 \
  {                                                                                                          \
    ONE(hold), .rule = GA__RULE_CHOICE, .note = "ga_hold", NAMES_OF(hold_names),                             \
               .choices_about = hold_about, .about = "initial values that the assembly must not change"      \
  }
#define WEIGHT                                                                                               \
  {                                                                                                          \
    ONE(weight),                                                                                             \
        .rule = GA__RULE_POSITIVE, .unit = "1",                                                              \
        .about = "factor on mass and inertia in the assembly, > 0: a larger weight makes the body move less" \
  }
#define NAMES_OF(list) .choices = (list), .n_choices = (int)(sizeof(list) / sizeof((list)[0]))
#define BIT(kind) (1ul << (kind))
/* A frame that is needed, and one end of a line that a coordinate may stand for. */
#define FRAME_FIELD(member, words)                                                                           \
  {                                                                                                          \
    ONE(member), .rule = GA__RULE_TEXT_NEEDED, .refers = GA__REFERS_PART, .note = FRAME, .about = words      \
  }
#define END_FIELD(member)                                                                                    \
  {                                                                                                          \
    ONE(member), .rule = GA__RULE_TEXT, .refers = GA__REFERS_PART, .note = FRAME,                            \
                 .about = "body or marker at one end of the line of action"                                  \
  }
#define COORDINATE_FIELD                                                                                     \
  {                                                                                                          \
    ONE(coordinate), .rule = GA__RULE_TEXT, .refers = GA__REFERS_PART, .note = COORDINATE,                   \
                     .about = "instead of a line: " COORDINATE                                               \
  }

static const char *const hold_names[] = {"none", "pose", "velocity", "both"};
static const char *const hold_about[] = {"nothing: the body may be moved to satisfy the joints",
                                         "position and rotation", "velocities",
                                         "position, rotation and velocities"};

static const char *const joint_names[] = {
#define JOINT_NAME(value, text, about) text,
    GA_JOINT_LIST(JOINT_NAME)
#undef JOINT_NAME
};

static const char *const joint_about[] = {
#define JOINT_ABOUT(value, text, about) about,
    GA_JOINT_LIST(JOINT_ABOUT)
#undef JOINT_ABOUT
};

static const char *const rolling_names[] = {"sphere", "disk", "knife"};
static const char *const rolling_about[] = {
    "centre at the origin of `body`", "thin disk, centre at the origin of `body`, axis along its z",
    "knife edge: the origin of `body` does not move along its y axis; no contact"};

static const char *const tyre_names[] = {"tanh", "brush", "magic"};
static const char *const tyre_about[] = {
    "linear in slips, saturated by tanh", "brush model: cubic in slips up to full sliding",
    "Magic Formula of pure and combined slip; coefficients here or from a file `tir`"};
static const char *const tyre_axis_names[] = {"y", "z"};
static const char *const tyre_axis_about[] = {"y, with x forward and z upwards",
                                              "z, as of the hinge of the wheel"};

static const char *const collider_names[] = {"sphere", "capsule", "box", "mesh", "plane"};
static const char *const collider_about[] = {
    "about the frame's origin",
    "a cylinder along z with half spheres at its ends, its middle at the frame's origin",
    "its middle at the frame's origin; with a radius its edges are round",
    "a closed surface of triangles, by points or from a file; with a radius it is thicker by that",
    "everything below z = 0 of the frame"};

static const char *const solid_names[] = {"box",  "cylinder", "sphere", "capsule",
                                          "tube", "cone",     "wheel",  "mesh"};
static const char *const solid_about[] = {
    "its middle at the frame's origin",
    "along z, its middle at the frame's origin",
    "about the frame's origin",
    "a cylinder along z with half spheres at its ends, its middle at the frame's origin",
    "a hollow cylinder along z, its middle at the frame's origin",
    "along z, its foot at −length/2",
    "with spokes, about z",
    "triangles, from a file or by points"};

static const char *const slider_names[] = {"free", "tangent"};
static const char *const slider_about[] = {"the frame turns freely",
                                           "the frame's x axis stays along the axis of the beam or cable"};

static const char *const constraint_names[] = {"auto", "holonomic", "nonholonomic"};
static const char *const constraint_about[] = {
    "holonomic if the expression has no velocities, else nonholonomic",
    "the expression has only positions and t", "the expression has velocities"};

static const char *const stop_names[] = {
    [GA_STOP_LINE] = "line", [GA_STOP_X] = "x", [GA_STOP_Y] = "y", [GA_STOP_Z] = "z"};
static const char *const stop_about[] = {[GA_STOP_LINE] = "the distance of a and b",
                                         [GA_STOP_X] = "the distance along x of a, with its sign",
                                         [GA_STOP_Y] = "the distance along y of a, with its sign",
                                         [GA_STOP_Z] = "the distance along z of a, with its sign"};

static const char *const direction_names[] = {"both", "rising", "falling"};
static const char *const direction_about[] = {"upwards and downwards", "from below 0 to above",
                                              "from above 0 to below"};

static const char *const axes_names[] = {"ground", "body"};
static const char *const axes_about[] = {"ground axes", "the frame's own axes"};

static const char *const sensor_names[] = {
    [GA_SENSOR_POSITION] = "position",
    [GA_SENSOR_VELOCITY] = "velocity",
    [GA_SENSOR_ACCELERATION] = "acceleration",
    [GA_SENSOR_SPECIFIC_FORCE] = "specific_force",
    [GA_SENSOR_ANGULAR_VELOCITY] = "angular_velocity",
    [GA_SENSOR_REACTION_FORCE] = "reaction_force",
    [GA_SENSOR_REACTION_TORQUE] = "reaction_torque",
};
static const char *const sensor_about[] = {
    [GA_SENSOR_POSITION] = "position of the frame's origin relative to the origin of `from`",
    [GA_SENSOR_VELOCITY] = "velocity of the frame's origin relative to the ground",
    [GA_SENSOR_ACCELERATION] = "acceleration of the frame's origin relative to the ground",
    [GA_SENSOR_SPECIFIC_FORCE] = "acceleration minus gravity, as measured by an accelerometer",
    [GA_SENSOR_ANGULAR_VELOCITY] = "angular velocity of the frame relative to the ground",
    [GA_SENSOR_REACTION_FORCE] = "force of the joint on its body b",
    [GA_SENSOR_REACTION_TORQUE] = "torque of the joint on its body b, about the origin of b",
};

static const char *const section_names[] = {"numbers", "rectangle", "circle", "tube", "i"};
static const char *const section_about[] = {"`stiffness`, `mass_per_length` and `rotary_inertia`",
                                            "`width` along y, `height` along z", "`diameter`",
                                            "outer `diameter`, thickness `wall`",
                                            ("I section: two flanges of `width` along y and thickness "
                                             "`flange`, a web of thickness `web`, total `height` along z")};

static const char *const beam_names[] = {"accurate", "constant_strain"};
static const char *const beam_about[] = {"order 4 in statics",
                                         "order 2, with lumped masses: the simple element, for comparison"};

static const ga__field ground_fields[] = {{.name = ""}};

#define DEF ga_rigid_def
static const ga__field rigid_fields[] = {
    NAME,
    {ONE(mass), .rule = GA__RULE_NUMBER, .unit = "kg", .no_default = 1, .about = "> 0"},
    {MANY(inertia, 6), .least = 3, .rule = GA__RULE_NUMBER, .unit = "kg*m^2", .no_default = 1,
     .about = "Jxx Jyy Jzz, or with Jxy Jxz Jyz: entries of the tensor (Jxy = −∫xy dm) about the centre of "
              "mass, in "
              "axes parallel to the body's frame"},
    {MANY(com, 3), .rule = GA__RULE_NUMBER, .unit = "m", .about = "centre of mass in the body's frame"},
    {ONE(pose), .rule = GA__RULE_POSE, .about = "initial pose of the body's frame, in the ground frame"},
    {MANY(velocity, 3), .rule = GA__RULE_NUMBER, .unit = "m/s",
     .about = "initial velocity of the frame's origin, ground axes"},
    {MANY(omega, 3), .rule = GA__RULE_NUMBER, .unit = "rad/s",
     .about = "initial angular velocity, ground axes"},
    {ONE(omega_in_body), .rule = GA__RULE_FLAG, .about = "omega is given in the body's axes"},
    MASSLESS,
    HOLD,
    WEIGHT,
};
#undef DEF

#define DEF ga_planar_def
static const ga__field planar_fields[] = {
    NAME,
    {ONE(mass), .rule = GA__RULE_NUMBER, .unit = "kg", .no_default = 1, .about = "> 0"},
    {ONE(inertia), .rule = GA__RULE_NUMBER, .unit = "kg*m^2", .no_default = 1,
     .about = "moment of inertia about the centre of mass, > 0"},
    {MANY(com, 2), .rule = GA__RULE_NUMBER, .unit = "m", .about = "centre of mass in the body's frame"},
    {MANY(position, 2), .rule = GA__RULE_NUMBER, .unit = "m",
     .about = "initial position of the frame's origin"},
    {ONE(z), .rule = GA__RULE_NUMBER, .unit = "m", .about = "z of the plane of motion"},
    {ONE(angle), .rule = GA__RULE_NUMBER, .unit = "rad",
     .about = "initial angle; more than one turn is possible"},
    {MANY(velocity, 2), .rule = GA__RULE_NUMBER, .unit = "m/s",
     .about = "initial velocity of the frame's origin"},
    {ONE(rate), .rule = GA__RULE_NUMBER, .unit = "rad/s", .about = "initial rate of the angle"},
    MASSLESS,
    HOLD,
    WEIGHT,
};
#undef DEF

#define DEF ga_point_def
static const ga__field point_fields[] = {
    NAME,
    {ONE(mass), .rule = GA__RULE_NUMBER, .unit = "kg", .no_default = 1, .about = "> 0"},
    {MANY(position, 3), .rule = GA__RULE_NUMBER, .unit = "m", .about = "initial position"},
    {MANY(velocity, 3), .rule = GA__RULE_NUMBER, .unit = "m/s", .about = "initial velocity"},
    MASSLESS,
    HOLD,
    WEIGHT,
};
#undef DEF

#define DEF ga_scalar_def
static const ga__field scalar_fields[] = {
    NAME,
    {ONE(mass), .rule = GA__RULE_NUMBER, .unit = "kg", .unit_other = "kg*m^2", .no_default = 1,
     .about = "inertia, > 0"},
    {ONE(position), .rule = GA__RULE_NUMBER, .unit = "m", .unit_other = "rad", .about = "initial position"},
    {ONE(velocity), .rule = GA__RULE_NUMBER, .unit = "m/s", .unit_other = "rad/s",
     .about = "initial velocity"},
    {ONE(rotational), .rule = GA__RULE_FLAG, .about = "the coordinate is an angle"},
    MASSLESS,
    HOLD,
    WEIGHT,
};
#undef DEF

#define DEF ga_beam_def
#define SHAPE_LENGTH(member, words)                                                                          \
  {                                                                                                          \
    ONE(member), .rule = GA__RULE_NOT_NEGATIVE, .unit = "m", .about = words                                  \
  }
static const ga__field beam_fields[] = {
    NAME,
    {MANY(from, 3), .rule = GA__RULE_NUMBER_OR_NAN, .unit = "m", .nan_about = "by pose and length",
     .about = "start of the axis of a straight beam"},
    {MANY(to, 3), .rule = GA__RULE_NUMBER_OR_NAN, .unit = "m", .nan_about = "by pose and length",
     .about = "end of the axis of a straight beam"},
    {ONE(points), .rule = GA__RULE_MATRIX, .unit = "m", .rows = GA__AT_INT(ga_beam_def, n_points),
     .columns = GA__AT_INT(ga_beam_def, point_size),
     .about = "instead of from and to, for a curved beam: points [x, y, z] of the axis, joined smoothly by "
              "circular arcs"},
    {MANY(up, 3), .rule = GA__RULE_NUMBER_OR_NAN, .unit = "1",
     .nan_about = "z of the ground, or x where the beam is along z",
     .about = "with from and to: direction of the sections' z, made perpendicular to the axis; with points: "
              "of the first section's z"},
    {ONE(pose), .rule = GA__RULE_POSE,
     .about = "instead of from and to: initial pose of the first section, x along the axis"},
    {ONE(length), .rule = GA__RULE_NOT_NEGATIVE, .unit = "m", .about = "length of the beam, with pose; > 0"},
    {MANY(curvature, 3), .rule = GA__RULE_NUMBER, .unit = "rad/m",
     .about = "curvature of the unloaded beam: twist about x, bending about y and z of the section"},
    {ONE(elements), .rule = GA__RULE_INTEGER, .low = 1, .high = 10000000,
     .about = "number of elements; a marker on the beam is a further node"},
    {ONE(formulation), .rule = GA__RULE_CHOICE, .note = "ga_beam_kind", NAMES_OF(beam_names),
     .choices_about = beam_about, .about = "of elements"},
    {ONE(section), .rule = GA__RULE_CHOICE, .note = "ga_section_kind", NAMES_OF(section_names),
     .choices_about = section_about, .about = "how the section is given"},
    SHAPE_LENGTH(width, "rectangle, i: width along y"),
    SHAPE_LENGTH(height, "rectangle, i: height along z"),
    SHAPE_LENGTH(diameter, "circle, tube: outer diameter"),
    SHAPE_LENGTH(wall, "tube: thickness of the wall"),
    SHAPE_LENGTH(web, "i: thickness of the web"),
    SHAPE_LENGTH(flange, "i: thickness of each flange"),
    {ONE(young), .rule = GA__RULE_NOT_NEGATIVE, .unit = "Pa", .about = "shapes: Young's modulus, > 0"},
    {ONE(poisson), .rule = GA__RULE_NUMBER, .unit = "1", .about = "shapes: Poisson's ratio"},
    {ONE(density), .rule = GA__RULE_NOT_NEGATIVE, .unit = "kg/m^3", .about = "shapes: > 0"},
    {MANY(shear_factor, 2), .rule = GA__RULE_NUMBER_OR_NAN, .unit = "1", .nan_about = "of the shape",
     .about = "shapes: shear correction factors along y and z"},
    {ONE(torsion_constant), .rule = GA__RULE_NUMBER_OR_NAN, .unit = "m^4", .nan_about = "of the shape",
     .about = "shapes: torsion constant; torque = G · torsion_constant · twist"},
    {MANY(stiffness, 36), .rule = GA__RULE_SIX_BY_SIX, .unit = "N", .unit_other = "N*m^2/rad",
     .about = "numbers: matrix from strains (axial, shear y, z) and curvatures (twist, bending about y, z) "
              "to forces and moments: its diagonal EA, GAy, GAz, GJ, EIy, EIz, or six rows of six"},
    {ONE(mass_per_length), .rule = GA__RULE_NOT_NEGATIVE, .unit = "kg/m",
     .about = "numbers: mass per length, > 0"},
    {MANY(rotary_inertia, 6), .least = 3, .rule = GA__RULE_NUMBER, .unit = "kg*m",
     .about =
         "numbers: moments of inertia per length about the centre of mass, Jxx Jyy Jzz, or with Jxy Jxz Jyz"},
    {MANY(centre, 2), .rule = GA__RULE_NUMBER, .unit = "m",
     .about = "centre of mass, along y and z of the section"},
    {ONE(damping), .rule = GA__RULE_NOT_NEGATIVE, .unit = "s",
     .about = "Kelvin–Voigt damping: adds forces damping · stiffness · strain rate"},
    {ONE(axes), .rule = GA__RULE_CHOICE, .note = "ga_axes", NAMES_OF(axes_names), .choices_about = axes_about,
     .about = "axes of load and moment"},
    {MANY(load, 3), .rule = GA__RULE_INPUT, .unit = "N/m", .about = "force per length on the whole beam"},
    {MANY(moment, 3), .rule = GA__RULE_INPUT, .unit = "N*m/m",
     .about = "moment per length on the whole beam"},
    {MANY(velocity, 3), .rule = GA__RULE_NUMBER, .unit = "m/s",
     .about = "initial velocity of the first section, ground axes"},
    {MANY(omega, 3), .rule = GA__RULE_NUMBER, .unit = "rad/s",
     .about = "initial angular velocity, ground axes; the beam starts as a rigid body in motion"},
    HOLD,
    WEIGHT,
};
#undef SHAPE_LENGTH
#undef DEF

#define DEF ga_cable_def
static const ga__field cable_fields[] = {
    NAME,
    {MANY(from, 3), .rule = GA__RULE_NUMBER_OR_NAN, .unit = "m", .nan_about = "by points",
     .about = "initial position of the first end"},
    {MANY(to, 3), .rule = GA__RULE_NUMBER_OR_NAN, .unit = "m", .nan_about = "by points",
     .about = "initial position of the second end"},
    {ONE(points), .rule = GA__RULE_MATRIX, .unit = "m", .rows = GA__AT_INT(ga_cable_def, n_points),
     .columns = GA__AT_INT(ga_cable_def, point_size),
     .about =
         "instead of from and to: points [x, y, z] of the initial shape, joined smoothly by circular arcs"},
    {ONE(length), .rule = GA__RULE_NUMBER_OR_NAN, .unit = "m",
     .nan_about = "distance between the ends, or length along points",
     .about = "length without tension, > 0; if less than the distance between the ends, the cable is "
              "pretensioned; if more, it starts as a hanging cable"},
    {ONE(elements), .rule = GA__RULE_INTEGER, .low = 1, .high = 10000000,
     .about = "number of elements; a marker on the cable is a further node"},
    {ONE(stiffness), .rule = GA__RULE_NOT_NEGATIVE, .unit = "N", .about = "EA, tension per strain, > 0"},
    {ONE(mass_per_length), .rule = GA__RULE_NOT_NEGATIVE, .unit = "kg/m",
     .about = "mass per length without tension, > 0"},
    {ONE(bending_stiffness), .rule = GA__RULE_NOT_NEGATIVE, .unit = "N*m^2",
     .about =
         "EI, moment per curvature, for at least 2 elements; it does not follow from diameter and young, "
         "as that of a rope of many wires is far below that of a solid rod"},
    {ONE(diameter), .rule = GA__RULE_NOT_NEGATIVE, .unit = "m",
     .about =
         "diameter of a round section; with young and density, instead of stiffness and mass_per_length"},
    {ONE(young), .rule = GA__RULE_NOT_NEGATIVE, .unit = "Pa", .about = "Young's modulus, with diameter"},
    {ONE(density), .rule = GA__RULE_NOT_NEGATIVE, .unit = "kg/m^3", .about = "density, with diameter"},
    {ONE(damping), .rule = GA__RULE_NOT_NEGATIVE, .unit = "s",
     .about = "Kelvin–Voigt damping: adds the tension damping · stiffness · strain rate; the cable still "
              "never pushes; of bending likewise"},
    {MANY(load, 3), .rule = GA__RULE_INPUT, .unit = "N/m",
     .about = "force per length on the whole cable, ground axes"},
    {MANY(velocity, 3), .rule = GA__RULE_NUMBER, .unit = "m/s", .about = "initial velocity of the first end"},
    {MANY(omega, 3), .rule = GA__RULE_NUMBER, .unit = "rad/s",
     .about = "initial angular velocity of the cable about its first end"},
    HOLD,
    WEIGHT,
};
#undef DEF

#define DEF ga_modal_def
static const ga__field modal_fields[] = {
    NAME,
    {ONE(pose), .rule = GA__RULE_POSE, .about = "initial pose of the frame of the nodes' positions"},
    {MANY(velocity, 3), .rule = GA__RULE_NUMBER, .unit = "m/s",
     .about = "initial velocity of the origin of this frame, ground axes"},
    {MANY(omega, 3), .rule = GA__RULE_NUMBER, .unit = "rad/s",
     .about = "initial angular velocity, ground axes"},
    {ONE(damping), .rule = GA__RULE_NOT_NEGATIVE, .unit = "1",
     .about = "damping ratio of all modes; 1: critical"},
    {ONE(mass_damping), .rule = GA__RULE_NOT_NEGATIVE, .unit = "1/s",
     .about = "Rayleigh damping: factor of the mass matrix"},
    {ONE(stiffness_damping), .rule = GA__RULE_NOT_NEGATIVE, .unit = "s",
     .about = "Rayleigh damping: factor of the stiffness matrix"},
    HOLD,
    WEIGHT,
};
#undef DEF

#define DEF ga_marker_def
static const ga__field marker_fields[] = {
    NAME,
    {ONE(body), .rule = GA__RULE_TEXT_NEEDED, .refers = GA__REFERS_PART, .note = FRAME,
     .about = "body or marker that it is fixed to, or \"ground\""},
    {ONE(pose), .rule = GA__RULE_POSE, .about = "pose in the frame of `body`"},
};
#undef DEF

/* Initial coordinates of joints, and their rates. */
#define INITIAL(member, number, units, words)                                                                \
  {ONE(member),    .rule = GA__RULE_NUMBER_OR_NAN, .unit = units, .nan_about = "from the bodies' poses",     \
   .about = words, .coordinate = 1 + (number)},
#define INITIAL_VALUE(member, motion, value, rate)                                                           \
  INITIAL(member, GA__COORDINATE_##member, GA__UNIT_##motion, value)
#define INITIAL_RATE(member, motion, value, rate)                                                            \
  INITIAL(member##_rate, GA__COORDINATE_##member, GA__UNIT_##motion "/s", "rate of " rate " at the start")

#define DEF ga_joint_def
static const ga__field joint_fields[] = {
    NAME,
    {ONE(kind), .rule = GA__RULE_CHOICE, .note = "ga_joint_kind", NAMES_OF(joint_names),
     .choices_about = joint_about, .about = "type of the joint: the motions it allows"},
    FRAME_FIELD(a, "first frame; gear, rack_and_pinion: a coordinate, or a joint with one coordinate"),
    FRAME_FIELD(b, "second frame or coordinate"),
    {ONE(at_pose), .rule = GA__RULE_FLAG, .hidden = 1},
    {ONE(at), .rule = GA__RULE_POSE, .given = GA__AT_INT(ga_joint_def, at_pose),
     .only = ~(BIT(GA_JOINT_GEAR) | BIT(GA_JOINT_RACK)),
     .about = "initial pose of the joint's frames, in the ground frame, where a and b are bodies; a point "
              "body is moved to it"},
    {ONE(length), .rule = GA__RULE_NUMBER_OR_NAN, .unit = "m",
     .only = BIT(GA_JOINT_DISTANCE) | BIT(GA_JOINT_ROD), .nan_word = "start", .about = "> 0"},
    {ONE(rope), .rule = GA__RULE_FLAG, .only = BIT(GA_JOINT_DISTANCE),
     .about = "the distance is that of a rope: a run warns if the rope would have to push"},
    {ONE(pitch), .rule = GA__RULE_NUMBER, .unit = "m", .only = BIT(GA_JOINT_SCREW),
     .about = "advance per turn, positive or negative"},
    {ONE(ratio), .rule = GA__RULE_NUMBER, .unit = "m", .unit_other = "1", .no_default = 1,
     .only = BIT(GA_JOINT_GEAR) | BIT(GA_JOINT_RACK),
     .about = "gear: ratio, a plain number; rack_and_pinion: radius of the pinion; positive or negative"},
    GA__COORDINATE_LIST(INITIAL_VALUE) GA__COORDINATE_LIST(INITIAL_RATE) ACTIVE};
#undef DEF

#define DEF ga_drive_def
static const ga__field drive_fields[] = {
    NAME,
    {ONE(coordinate), .rule = GA__RULE_TEXT_NEEDED, .refers = GA__REFERS_PART, .note = COORDINATE,
     .about = COORDINATE},
    {ONE(function), .rule = GA__RULE_FUNCTION, .unit = "m", .unit_other = "rad",
     .about =
         "value of the coordinate over time; its velocity must be continuous, its acceleration should be"},
    {ONE(accept_impact), .rule = GA__RULE_FLAG,
     .about = "allow a corner of the function: velocities then jump, as in an impact"},
    {ONE(speed), .rule = GA__RULE_FUNCTION, .unit = "m/s", .unit_other = "rad/s",
     .about = "instead of function: rate of the coordinate over time, continuous"},
    {ONE(acceleration), .rule = GA__RULE_INPUT, .unit = "m/s^2", .unit_other = "rad/s^2",
     .given = GA__AT_INT(ga_drive_def, has_acceleration),
     .about = "instead of function: second derivative of the coordinate, which begins with the position and "
              "rate that bodies have"},
    {ONE(follow), .rule = GA__RULE_INPUT, .unit = "m", .unit_other = "rad",
     .given = GA__AT_INT(ga_drive_def, has_follow),
     .about =
         "instead of function: a signal that the coordinate follows with the critically damped lag `lag`"},
    {ONE(follow_speed), .rule = GA__RULE_INPUT, .unit = "m/s", .unit_other = "rad/s",
     .given = GA__AT_INT(ga_drive_def, has_follow_speed),
     .about = "instead of function: a signal that the rate of the coordinate follows with the lag `lag`"},
    {ONE(lag), .rule = GA__RULE_NOT_NEGATIVE, .unit = "s",
     .about = "time constant, > 0; with follow and follow_speed"},
    ACTIVE,
};
#undef DEF

#define DEF ga_rolling_def
static const ga__field rolling_fields[] = {
    NAME,
    {ONE(kind), .rule = GA__RULE_CHOICE, .note = "ga_rolling_kind", NAMES_OF(rolling_names),
     .choices_about = rolling_about, .about = "what rolls"},
    {ONE(body), .rule = GA__RULE_TEXT_NEEDED, .refers = GA__REFERS_PART, .note = "a body or marker",
     .about = "frame of a rigid body; for a knife edge also of a planar one"},
    {ONE(plane), .rule = GA__RULE_TEXT_NEEDED, .refers = GA__REFERS_PART,
     .note = "\"ground\", a body or marker",
     .about = "frame of the ground or of another body, which feels the opposite force; the body rolls on its "
              "plane z = 0"},
    {ONE(radius), .rule = GA__RULE_NUMBER, .unit = "m", .no_default = 1,
     .only = BIT(GA_ROLLING_SPHERE) | BIT(GA_ROLLING_DISK), .about = "> 0"},
    {ONE(road), .rule = GA__RULE_TEXT, .refers = GA__REFERS_PART, .note = "a road",
     .about = "instead of a plane: a road, whose surface it rolls on"},
};
#undef DEF

#define DEF ga_slider_def
static const ga__field slider_fields[] = {
    NAME,
    {ONE(along), .rule = GA__RULE_TEXT_NEEDED, .refers = GA__REFERS_PART, .note = "a beam or cable",
     .about = "the beam or cable"},
    FRAME_FIELD(frame, "frame; its origin stays on the axis"),
    {ONE(orientation), .rule = GA__RULE_CHOICE, .note = "ga_slider_orientation", NAMES_OF(slider_names),
     .choices_about = slider_about, .about = "orientation of the frame"},
    {ONE(s), .rule = GA__RULE_NUMBER_OR_NAN, .unit = "m", .nan_about = "nearest to the frame",
     .about = "initial position, measured along the unloaded body, from 0 to its length"},
    {ONE(s_rate), .rule = GA__RULE_NUMBER_OR_NAN, .unit = "m/s", .nan_about = "from the bodies' velocities",
     .about = "initial rate of s"},
};
#undef DEF

#define DEF ga_constraint_def
static const ga__field constraint_fields[] = {
    NAME,
    {ONE(zero), .rule = GA__RULE_TEXT_NEEDED, .refers = GA__REFERS_SIGNALS,
     .note = "an expression that is to be zero, such as \"follower.z - 0.1*cos(shaft.angle)\"",
     .about = "expression of t, positions and velocities that is held at zero"},
    {ONE(type), .rule = GA__RULE_CHOICE, .note = "ga_constraint_kind", NAMES_OF(constraint_names),
     .choices_about = constraint_about, .about = "type of the constraint"},
    {ONE(unit), .rule = GA__RULE_TEXT,
     .about = "unit of the expression, such as m or rad/s; it must agree with its signals where their units "
              "are known"},
};
#undef DEF

#define DEF ga_spring_def
static const ga__field spring_fields[] = {
    NAME,
    END_FIELD(a),
    END_FIELD(b),
    COORDINATE_FIELD,
    {ONE(stiffness), .rule = GA__RULE_NUMBER, .unit = "N/m", .unit_other = "N*m/rad",
     .about = "linear stiffness"},
    {ONE(damping), .rule = GA__RULE_NUMBER, .unit = "N*s/m", .unit_other = "N*m*s/rad",
     .about = "linear damping"},
    {ONE(preload), .rule = GA__RULE_NUMBER, .unit = "N", .unit_other = "N*m",
     .about = "constant force, positive in tension"},
    {ONE(rest), .rule = GA__RULE_NUMBER_OR_NAN, .unit = "m", .unit_other = "rad", .nan_word = "start",
     .nan_about = "its value at the assembled start",
     .about = "length or coordinate without spring force; `start`: the value at the start, where the spring "
              "force is then zero"},
    {ONE(force), .rule = GA__RULE_FUNCTION, .unit = "N", .unit_other = "N*m",
     .about = "additional force, a function of l − rest"},
    {ONE(damper), .rule = GA__RULE_FUNCTION, .unit = "N", .unit_other = "N*m",
     .about = "additional force, a function of v"},
    {ONE(expression), .rule = GA__RULE_TEXT, .refers = GA__REFERS_EXPRESSION,
     .about = "additional force, an expression of the length l, its rate v, t and signals"},
    ACTIVE,
};
#undef DEF

#define DEF ga_actuator_def
static const ga__field actuator_fields[] = {
    NAME,
    END_FIELD(a),
    END_FIELD(b),
    COORDINATE_FIELD,
    {ONE(force), .rule = GA__RULE_INPUT, .unit = "N", .unit_other = "N*m",
     .about = "force; positive: pushes the ends apart, or increases the coordinate"},
    ACTIVE,
};
#undef DEF

#define DEF ga_friction_def
static const ga__field friction_fields[] = {
    NAME,
    END_FIELD(a),
    END_FIELD(b),
    COORDINATE_FIELD,
    {ONE(level), .rule = GA__RULE_INPUT, .unit = "N", .unit_other = "N*m",
     .about = "level of the friction force −level tanh(v/speed)"},
    {ONE(speed), .rule = GA__RULE_POSITIVE, .unit = "m/s", .unit_other = "rad/s",
     .about = "speed of the transition, > 0: at v = 2 speed the force is 96 % of level"},
    ACTIVE,
};
#undef DEF

#define DEF ga_dry_friction_def
static const ga__field dry_friction_fields[] = {
    NAME,
    END_FIELD(a),
    END_FIELD(b),
    COORDINATE_FIELD,
    {ONE(level), .rule = GA__RULE_INPUT, .unit = "N", .unit_other = "N*m",
     .about = "force against the motion while it slides; values below 0 count as 0"},
    {ONE(stiction), .rule = GA__RULE_NUMBER, .unit = "1",
     .about = "largest force that holds it, as a multiple of level; >= 1"},
};
#undef DEF

#define DEF ga_bushing_def
static const ga__field bushing_fields[] = {
    NAME,
    FRAME_FIELD(a, "first frame; δ is measured in its axes"),
    FRAME_FIELD(b, "second frame"),
    {MANY(stiffness, 36), .rule = GA__RULE_SIX_BY_SIX, .unit = "N/m", .unit_other = "N*m/rad",
     .about = "matrix K for δ = (x, y, z, angles about x, y, z) of b, the angles within half a turn: its "
              "diagonal, or six rows of six"},
    {MANY(damping, 36), .rule = GA__RULE_SIX_BY_SIX, .unit = "N*s/m", .unit_other = "N*m*s/rad",
     .about = "matrix C for the rate of δ: its diagonal, or six rows of six"},
    {MANY(preload, 6), .rule = GA__RULE_SIX, .unit = "N", .unit_other = "N*m",
     .about = "force and torque at δ = 0, positive against increasing δ"},
    ACTIVE,
};
#undef DEF

#define DEF ga_force_def
static const ga__field force_fields[] = {
    NAME,
    {ONE(frame), .rule = GA__RULE_TEXT_NEEDED, .refers = GA__REFERS_PART, .note = "a body or marker",
     .about = "frame at whose origin force and torque act"},
    {ONE(axes), .rule = GA__RULE_CHOICE, .note = "ga_axes", NAMES_OF(axes_names), .choices_about = axes_about,
     .about = "axes of force and torque"},
    {MANY(force, 3), .rule = GA__RULE_INPUT, .unit = "N", .about = "along x, y, z"},
    {MANY(torque, 3), .rule = GA__RULE_INPUT, .unit = "N*m", .about = "about x, y, z"},
    ACTIVE,
};
#undef DEF

#define DEF ga_line_load_def
static const ga__field line_load_fields[] = {
    NAME,
    {ONE(body), .rule = GA__RULE_TEXT_NEEDED, .refers = GA__REFERS_PART, .note = "a beam or cable",
     .about = "the beam or cable"},
    {ONE(from), .rule = GA__RULE_NUMBER_OR_NAN, .unit = "m", .nan_about = "start of the body",
     .about = "start of the load, measured along the unloaded body"},
    {ONE(to), .rule = GA__RULE_NUMBER_OR_NAN, .unit = "m", .nan_about = "end of the body",
     .about = "end of the load, measured along the unloaded body"},
    {ONE(axes), .rule = GA__RULE_CHOICE, .note = "ga_axes", NAMES_OF(axes_names), .choices_about = axes_about,
     .about = "axes of load and moment; for a cable always `ground`"},
    {MANY(load, 3), .rule = GA__RULE_INPUT, .unit = "N/m", .about = "force per length"},
    {MANY(moment, 3), .rule = GA__RULE_INPUT, .unit = "N*m/m", .about = "moment per length; beams only"},
    ACTIVE,
};
#undef DEF

#define DEF ga_contact_def
static const ga__field contact_fields[] = {
    NAME,
    FRAME_FIELD(plane, "frame; its plane z = 0 is the surface"),
    FRAME_FIELD(point, "frame; its origin is the contact point"),
    {ONE(radius), .rule = GA__RULE_NOT_NEGATIVE, .unit = "m", .about = "radius of a ball about the point"},
    {ONE(exponent), .rule = GA__RULE_NUMBER, .unit = "1",
     .about = "exponent of the force law, >= 1; at 1 the force is continuous, but not its derivative"},
    {ONE(stiffness), .rule = GA__RULE_POSITIVE, .unit = "N/m^exponent",
     .about = "> 0; the normal force is stiffness δ^exponent (1 + dissipation δ'), and never pulls"},
    {ONE(dissipation), .rule = GA__RULE_NOT_NEGATIVE, .unit = "s/m",
     .about = "dissipation of the normal force: factor of δ' (stiffness shows the formula)"},
    {ONE(mu), .rule = GA__RULE_NOT_NEGATIVE, .unit = "1", .about = "coefficient of friction"},
    {ONE(speed), .rule = GA__RULE_NOT_NEGATIVE, .unit = "m/s",
     .about = "speed of the friction force mu · normal · v/√(v² + speed²), > 0 if mu > 0"},
    ACTIVE,
};
#undef DEF

#define DEF ga_road_def
static const ga__field road_fields[] = {
    NAME,
    FRAME_FIELD(frame, "frame of the road, which may move; z upwards"),
    {ONE(height), .rule = GA__RULE_TEXT, .refers = GA__REFERS_PLACE, .unit = "m",
     .about = "height over the frame's plane z = 0, an expression of x, y, t and functions; none: the plane"},
    {ONE(friction), .rule = GA__RULE_TEXT, .refers = GA__REFERS_PLACE, .unit = "1",
     .about = "factor of the tyres' friction, an expression of x, y, t and functions, >= 0; none: 1"},
};
#undef DEF

#define DEF ga_tyre_def
#define SLIP_LAWS (BIT(GA_TYRE_TANH) | BIT(GA_TYRE_BRUSH))
#define MAGIC_FIELD(member, value)                                                                           \
  {ONE(member), .rule = GA__RULE_NUMBER, .only = BIT(GA_TYRE_MAGIC),                                         \
   .about = "coefficient of the Magic Formula, as in property files of tyres"},
static const ga__field tyre_fields[] = {
    NAME,
    {ONE(kind), .rule = GA__RULE_CHOICE, .note = "ga_tyre_kind", NAMES_OF(tyre_names),
     .choices_about = tyre_about, .about = "law of the forces along the road"},
    {ONE(wheel), .rule = GA__RULE_TEXT_NEEDED, .refers = GA__REFERS_PART, .note = "a body or marker",
     .about = "frame of a rigid body, at the centre of the wheel"},
    {ONE(road), .rule = GA__RULE_TEXT_NEEDED, .refers = GA__REFERS_PART, .note = "a road",
     .about = "the road"},
    {ONE(axis), .rule = GA__RULE_CHOICE, .note = "ga_tyre_axis", NAMES_OF(tyre_axis_names),
     .choices_about = tyre_axis_about, .about = "axis of the frame that the wheel spins about"},
    {ONE(radius), .rule = GA__RULE_NOT_NEGATIVE, .unit = "m", .no_default = 1,
     .about = "distance from the centre to the road at which the load is `preload`, > 0"},
    {ONE(carcass), .rule = GA__RULE_NOT_NEGATIVE, .unit = "m",
     .about = "radius of the tyre's section, less than radius: with camber the contact moves sideways; 0: a "
              "thin disk"},
    {ONE(stiffness), .rule = GA__RULE_NOT_NEGATIVE, .unit = "N/m", .no_default = 1,
     .about = "radial stiffness, > 0"},
    {ONE(damping), .rule = GA__RULE_NOT_NEGATIVE, .unit = "N*s/m",
     .about = "radial damping; the load never becomes negative"},
    {ONE(damping_depth), .rule = GA__RULE_POSITIVE, .unit = "m",
     .about = "penetration from which on the damping acts fully, > 0"},
    {ONE(preload), .rule = GA__RULE_NOT_NEGATIVE, .unit = "N", .about = "load at the distance `radius`"},
    {ONE(speed), .rule = GA__RULE_POSITIVE, .unit = "m/s",
     .about = "V0 of the slips' denominator √(v² + V0²), > 0: below this speed the tyre acts as a damper"},
    {MANY(relaxation, 2), .rule = GA__RULE_NOT_NEGATIVE, .unit = "m",
     .about = "relaxation lengths along and across; > 0: the slip is a state"},
    {ONE(mu), .rule = GA__RULE_NUMBER, .unit = "1", .no_default = 1, .only = SLIP_LAWS,
     .about = "coefficient of friction, > 0"},
    {ONE(slip_stiffness), .rule = GA__RULE_NUMBER, .unit = "1", .no_default = 1, .only = SLIP_LAWS,
     .about = "force per slip and load along, > 0"},
    {ONE(cornering_stiffness), .rule = GA__RULE_NUMBER, .unit = "1/rad", .no_default = 1, .only = SLIP_LAWS,
     .about = "force per slip angle and load across, > 0"},
    {ONE(camber_stiffness), .rule = GA__RULE_NUMBER, .unit = "1/rad", .only = SLIP_LAWS,
     .about = "force per camber and load across"},
    {ONE(trail), .rule = GA__RULE_NOT_NEGATIVE, .unit = "m", .only = SLIP_LAWS,
     .about = "pneumatic trail at small slips, of the aligning moment; 0: none"},
    {ONE(rolling_resistance), .rule = GA__RULE_NOT_NEGATIVE, .unit = "1",
     .about = "resistance of rolling, force by load"},
    {ONE(turn_radius), .rule = GA__RULE_NOT_NEGATIVE, .unit = "m",
     .about = "lever arm of friction against turning on the spot, about a quarter of the patch's length; 0: none"},
    {ONE(reference_speed), .rule = GA__RULE_POSITIVE, .unit = "m/s", .only = BIT(GA_TYRE_MAGIC),
     .about = "speed that qsy3 and qsy4 are relative to, LONGVL of property files"},
    {ONE(mirrored), .rule = GA__RULE_FLAG,
     .about = "true: coefficients are those of a tyre of the other side of the car"},
    {ONE(nominal_load), .rule = GA__RULE_NUMBER, .unit = "N", .no_default = 1, .only = BIT(GA_TYRE_MAGIC),
     .about = "nominal load of the coefficients, > 0"},
    GA_MAGIC_LIST(MAGIC_FIELD) ACTIVE};
#undef MAGIC_FIELD
#undef SLIP_LAWS
#undef DEF

#define DEF ga_collider_def
#define MESH_FIELD(member, kind_, rows_, columns_, unit_, words)                                             \
  {                                                                                                          \
    ONE(member), .rule = GA__RULE_MATRIX, .unit = unit_, .rows = GA__AT_INT(DEF, rows_),                     \
                 .columns = GA__AT_INT(DEF, columns_), .only = BIT(kind_), .about = words                    \
  }
static const ga__field collider_fields[] = {
    NAME,
    {ONE(kind), .rule = GA__RULE_CHOICE, .note = "ga_collider_kind", NAMES_OF(collider_names),
     .choices_about = collider_about, .about = "the solid"},
    FRAME_FIELD(frame, "frame that carries it"),
    {ONE(radius), .rule = GA__RULE_NOT_NEGATIVE, .unit = "m",
     .only =
         BIT(GA_COLLIDER_SPHERE) | BIT(GA_COLLIDER_CAPSULE) | BIT(GA_COLLIDER_BOX) | BIT(GA_COLLIDER_MESH),
     .about = "sphere and capsule: > 0; box and mesh: of rounded edges"},
    {ONE(length), .rule = GA__RULE_NOT_NEGATIVE, .unit = "m", .no_default = 1,
     .only = BIT(GA_COLLIDER_CAPSULE), .about = "between the centres of the half spheres, > 0"},
    {MANY(size, 3), .rule = GA__RULE_NOT_NEGATIVE, .unit = "m", .no_default = 1, .only = BIT(GA_COLLIDER_BOX),
     .about = "along x, y, z, > 0, and more than two radii"},
    MESH_FIELD(points, GA_COLLIDER_MESH, n_points, point_size, "m",
               "points [x, y, z] of the triangles, in the frame's axes"),
    MESH_FIELD(
        triangles, GA_COLLIDER_MESH, n_triangles, triangle_size, "1",
        "numbers of the three points of each, from 0 on, all in the same direction as seen from outside"),
    {ONE(scale), .rule = GA__RULE_NOT_NEGATIVE, .unit = "1", .only = BIT(GA_COLLIDER_MESH),
     .about = "factor of all points, > 0; 0.001 for a file in millimetres"},
};
#undef DEF

#define DEF ga_shape_def
#define ROUND                                                                                                \
  (BIT(GA_SOLID_CYLINDER) | BIT(GA_SOLID_SPHERE) | BIT(GA_SOLID_CAPSULE) | BIT(GA_SOLID_TUBE) |              \
   BIT(GA_SOLID_CONE) | BIT(GA_SOLID_WHEEL))
static const ga__field shape_fields[] = {
    NAME,
    {ONE(kind), .rule = GA__RULE_CHOICE, .note = "ga_solid_kind", NAMES_OF(solid_names),
     .choices_about = solid_about, .about = "the solid"},
    FRAME_FIELD(frame, "frame that carries it"),
    {ONE(pose), .rule = GA__RULE_POSE, .about = "of the solid in the frame"},
    {ONE(radius), .rule = GA__RULE_NOT_NEGATIVE, .unit = "m", .no_default = 1, .only = ROUND,
     .about = "> 0; cone: of its foot; tube: of its outside"},
    {ONE(length), .rule = GA__RULE_NOT_NEGATIVE, .unit = "m", .only = ROUND & ~BIT(GA_SOLID_SPHERE),
     .about = "along z, > 0; capsule: between the centres of the half spheres; wheel: its width, 0: thin"},
    {ONE(inner), .rule = GA__RULE_NOT_NEGATIVE, .unit = "m", .only = BIT(GA_SOLID_TUBE) | BIT(GA_SOLID_CONE),
     .about = "tube: radius of its inside, > 0; cone: radius of its top, 0: a point"},
    {MANY(size, 3), .rule = GA__RULE_NOT_NEGATIVE, .unit = "m", .no_default = 1, .only = BIT(GA_SOLID_BOX),
     .about = "along x, y, z, > 0"},
    {ONE(colour), .rule = GA__RULE_TEXT,
     .about = "\"#rrggbb\", in quotes, or a name: " GA__COLOUR_NAMES "; none: that of the body"},
    {ONE(opacity), .rule = GA__RULE_POSITIVE, .unit = "1", .about = "1 is opaque, less shows what is behind"},
    MESH_FIELD(points, GA_SOLID_MESH, n_points, point_size, "m",
               "points [x, y, z] of the triangles, in the axes of the pose"),
    MESH_FIELD(triangles, GA_SOLID_MESH, n_triangles, triangle_size, "1",
               "numbers of the three points of each, from 0 on"),
    {ONE(scale), .rule = GA__RULE_POSITIVE, .unit = "1", .only = BIT(GA_SOLID_MESH),
     .about = "factor of all points, > 0; 0.001 for a file in millimetres"},
};
#undef ROUND
#undef MESH_FIELD
#undef DEF

#define DEF ga_collision_def
#define COLLIDER_FIELD(member)                                                                               \
  {                                                                                                          \
    ONE(member), .rule = GA__RULE_TEXT_NEEDED, .refers = GA__REFERS_PART, .note = "a collider",              \
                 .about = "a collider"                                                                       \
  }
static const ga__field collision_fields[] = {
    NAME,
    COLLIDER_FIELD(a),
    COLLIDER_FIELD(b),
    {ONE(exponent), .rule = GA__RULE_NUMBER, .unit = "1",
     .about = "exponent of the force law, >= 1; at 1 the force is continuous, but not its derivative"},
    {ONE(stiffness), .rule = GA__RULE_POSITIVE, .unit = "N/m^exponent",
     .about = "> 0; the normal force is stiffness δ^exponent (1 + dissipation δ') at each point of contact, "
              "and never pulls"},
    {ONE(dissipation), .rule = GA__RULE_NOT_NEGATIVE, .unit = "s/m",
     .about = "dissipation of the normal force: factor of δ' (stiffness shows the formula)"},
    {ONE(mu), .rule = GA__RULE_NOT_NEGATIVE, .unit = "1", .about = "coefficient of friction"},
    {ONE(speed), .rule = GA__RULE_NOT_NEGATIVE, .unit = "m/s",
     .about = "speed of the friction force mu · normal · v/√(v² + speed²), > 0 if mu > 0; what rests on a "
              "slope creeps at less than that"},
    {ONE(stick), .rule = GA__RULE_NOT_NEGATIVE, .unit = "m",
     .about =
         "length of sliding after which friction is fully there; > 0: what rests on a slope does not creep, "
         "by three states for each corner; 0: no memory"},
    ACTIVE,
};
#undef COLLIDER_FIELD
#undef DEF

#define DEF ga_stop_def
static const ga__field stop_fields[] = {
    NAME,
    END_FIELD(a),
    END_FIELD(b),
    {ONE(direction), .rule = GA__RULE_CHOICE, .note = "ga_stop_direction", NAMES_OF(stop_names),
     .choices_about = stop_about, .about = "what is limited between a and b"},
    COORDINATE_FIELD,
    {ONE(other), .rule = GA__RULE_TEXT, .refers = GA__REFERS_PART, .note = COORDINATE,
     .about =
         "a second coordinate: coordinate + ratio · other is limited, counted from its value at the start, "
         "as the play of a gear"},
    {ONE(ratio), .rule = GA__RULE_NUMBER, .unit = "1", .about = "factor of `other`; not 0"},
    {ONE(lower), .rule = GA__RULE_LIMIT, .unit = "m", .unit_other = "rad",
     .about = "below this the stop presses; `-inf`: no lower stop"},
    {ONE(upper), .rule = GA__RULE_LIMIT, .unit = "m", .unit_other = "rad",
     .about = "above this the stop presses; `inf`: no upper stop"},
    {ONE(stiffness), .rule = GA__RULE_NOT_NEGATIVE, .unit = "N/m", .unit_other = "N*m/rad",
     .about =
         "at depth δ the elastic force is E = stiffness δ (δ/depth)^(exponent − 1) + force(δ), the whole "
         "one E (1 + dissipation δ') + damping δ', never negative"},
    {ONE(exponent), .rule = GA__RULE_NUMBER, .unit = "1",
     .about = "exponent of the force, >= 1; above 1 the stop becomes stiffer with depth"},
    {ONE(depth), .rule = GA__RULE_NOT_NEGATIVE, .unit = "m", .unit_other = "rad",
     .about = "depth at which the force is stiffness δ; > 0 if exponent > 1"},
    {ONE(dissipation), .rule = GA__RULE_NOT_NEGATIVE, .unit = "s/m", .unit_other = "s/rad",
     .about = "factor of δ' in proportion to the elastic force"},
    {ONE(damping), .rule = GA__RULE_NOT_NEGATIVE, .unit = "N*s/m", .unit_other = "N*m*s/rad",
     .about = "linear damping; with it the force jumps where contact begins"},
    {ONE(force), .rule = GA__RULE_FUNCTION, .unit = "N", .unit_other = "N*m",
     .about = "additional elastic force, a function of the depth"},
    ACTIVE,
};
#undef DEF

#define DEF ga_rigid_stop_def
static const ga__field rigid_stop_fields[] = {
    NAME,
    END_FIELD(a),
    END_FIELD(b),
    COORDINATE_FIELD,
    {ONE(lower), .rule = GA__RULE_LIMIT, .unit = "m", .unit_other = "rad",
     .about = "lower limit; `-inf`: none"},
    {ONE(upper), .rule = GA__RULE_LIMIT, .unit = "m", .unit_other = "rad",
     .about = "upper limit; `inf`: none"},
    {ONE(restitution), .rule = GA__RULE_NOT_NEGATIVE, .unit = "1",
     .about = "speed after an impact over that before it, 0 to 1"},
    {ONE(rest_speed), .rule = GA__RULE_POSITIVE, .unit = "m/s", .unit_other = "rad/s",
     .about = "speeds up to this after an impact count as none: it then rests at the limit"},
};
#undef DEF

#define DEF ga_sensor_def
static const ga__field sensor_fields[] = {
    NAME,
    {ONE(kind), .rule = GA__RULE_CHOICE, .note = "ga_sensor_kind", NAMES_OF(sensor_names),
     .choices_about = sensor_about, .about = "what is measured"},
    {ONE(of), .rule = GA__RULE_TEXT_NEEDED, .refers = GA__REFERS_PART,
     .note = "a body or marker, or a joint for reactions", .about = "frame, or joint for reactions"},
    {ONE(from), .rule = GA__RULE_TEXT_NEEDED, .refers = GA__REFERS_PART, .note = FRAME,
     .only = BIT(GA_SENSOR_POSITION), .about = "frame relative to which a position is measured"},
    {ONE(axes), .rule = GA__RULE_TEXT_NEEDED, .refers = GA__REFERS_PART, .note = FRAME,
     .about = "frame in whose axes the vector is given"},
};
#undef DEF

#define DEF ga_signal_def
static const ga__field signal_fields[] = {
    NAME,
    {ONE(expression), .rule = GA__RULE_TEXT_NEEDED, .refers = GA__REFERS_SIGNALS,
     .note = "an expression of t and signals, such as \"motor.force*hinge.angle_rate\"",
     .about = "expression of t and signals"},
    {ONE(unit), .rule = GA__RULE_TEXT,
     .about =
         "unit of the expression, such as W; it must agree with its signals where their units are known"},
};
#undef DEF

#define DEF ga_guess_def
static const ga__field guess_fields[] = {
    NAME,
    {ONE(signal), .rule = GA__RULE_TEXT_NEEDED, .refers = GA__REFERS_PART,
     .note = "a signal such as \"hinge.fx\"",
     .about = "a reaction, an acceleration or an output of a block that an expression or block uses"},
    {ONE(value), .rule = GA__RULE_NUMBER, .no_default = 1,
     .about = "approximate value at the start, in the signal's unit"},
};
#undef DEF

#define DEF ga_variable_def
static const ga__field variable_fields[] = {
    NAME,
    {ONE(value), .rule = GA__RULE_NUMBER, .no_default = 1,
     .about = "value at the start, until an event sets it"},
};
#undef DEF

#define DEF ga_event_def
static const ga__field event_fields[] = {
    NAME,
    {ONE(when), .rule = GA__RULE_TEXT_NEEDED, .refers = GA__REFERS_SIGNALS,
     .note = "an expression such as \"ball.z - 0.1\"",
     .about = "expression of t and signals; the event is where it passes through 0"},
    {ONE(direction), .rule = GA__RULE_CHOICE, .note = "ga_event_direction", NAMES_OF(direction_names),
     .choices_about = direction_about, .about = "in which direction the expression passes through 0"},
    {ONE(set), .rule = GA__RULE_TEXT, .refers = GA__REFERS_PART,
     .note = "a variable, a state such as \"lag.x1\", or a velocity such as \"hinge.angle_rate\"",
     .about = "what is changed: a variable, a state of a block, or a velocity of a body, joint or scalar"},
    {ONE(to), .rule = GA__RULE_TEXT, .refers = GA__REFERS_SIGNALS,
     .about = "its new value: an expression of t and signals as they are before the event"},
    {ONE(restart), .rule = GA__RULE_FLAG, .about = "the method starts again, although nothing is set"},
    {ONE(stop), .rule = GA__RULE_FLAG, .about = "the run ends at the event"},
};
#undef DEF

#define DEF ga__block_def
static const ga__field block_fields[] = {NAME};
#undef DEF

#define DEF ga__element_def
static const ga__field element_fields[] = {NAME};
#undef DEF

/* ---- Messages ---- */

static ga_status refuse(const part_checked *c, ga_reason reason, ga__facts facts)
{
  facts.kind = c->kind;
  facts.part = c->name;
  return ga__refuse(c->ctx, GA_ERR_ARGUMENT, reason, &facts);
}

void ga__unit_shown(char *text, size_t size, const char *unit)
{
  ga__writer w = {text, size, 0};
  text[0] = '\0';
  if (!unit || strcmp(unit, "1") == 0) return;
  for (; *unit; unit++) {
    const char *power = unit[0] != '^' ? NULL : unit[1] == '2' ? "²" : unit[1] == '3' ? "³" : NULL;
    if (power)
      ga__write(&w, "%s", power);
    else
      ga__write(&w, "%c", unit[0] == '*' ? ' ' : unit[0]);
    unit += power != NULL;
  }
}

/* A number that is out of its range. */
static ga_status refuse_number(const part_checked *c, const char *field, double value, const char *unit,
                               const char *must)
{
  return refuse(c, GA_REASON_OUT_OF_RANGE,
                (ga__facts){.field = field, .expected = must, GA__NUMBERS({value, unit})});
}

/* The same for number i of a field, with its unit. */
static ga_status refuse_item(const part_checked *c, const ga__field *f, int i, double value, const char *must)
{
  char unit[GA_ERROR_UNIT], other[GA_ERROR_UNIT] = "", both[2 * GA_ERROR_UNIT + 4];
  ga__unit_shown(unit, sizeof unit, f->unit);
  if (f->unit_other) ga__unit_shown(other, sizeof other, f->unit_other);
  snprintf(both, sizeof both, "%s%s%s", unit, other[0] ? " or " : "", other);
  const ga_status status = refuse_number(c, f->name, value, both, must);
  return f->count > 1 ? ga__name_item(c->ctx, status, i, NULL) : status;
}

/* ---- Checks of fields ---- */

static ga_status check_number(const part_checked *c, const ga__field *f, int i, double value)
{
  if (f->rule == GA__RULE_NUMBER_OR_NAN && isnan(value)) return GA_OK;
  if (f->rule == GA__RULE_POSITIVE && !(value > 0)) return refuse_item(c, f, i, value, "> 0");
  if (f->rule == GA__RULE_NOT_NEGATIVE && !(value >= 0)) return refuse_item(c, f, i, value, ">= 0");
  if (!isfinite(value)) return refuse_item(c, f, i, value, "finite");
  return GA_OK;
}

static ga_status check_text(const part_checked *c, const ga__field *f, const char *text)
{
  char name[GA_ERROR_NAME];
  if (text ? text[0] != '\0' : f->rule != GA__RULE_TEXT_NEEDED) return GA_OK;
  snprintf(name, sizeof name, "the name of %s", f->note ? f->note : "");
  return refuse(c, GA_REASON_FIELD_MISSING,
                (ga__facts){.field = f->name,
                            .detail = text ? "empty" : "missing",
                            .expected = f->rule == GA__RULE_TEXT_NEEDED ? name : "NULL where there is none"});
}

static ga_status check_integer(const part_checked *c, const ga__field *f, const char *at)
{
  int value;
  memcpy(&value, at, sizeof value);
  if (f->rule == GA__RULE_FLAG && value != 0 && value != 1)
    return refuse_number(c, f->name, value, NULL, "0 or 1: start from the kind's defaults");
  if (f->rule == GA__RULE_CHOICE && (value < 0 || value >= f->n_choices))
    return refuse(c, GA_REASON_NOT_A_CHOICE,
                  (ga__facts){.field = f->name,
                              .expected = f->note,
                              GA__NUMBERS({value, NULL}, {f->n_choices - 1, NULL})});
  return GA_OK;
}

static ga_status check_pose(const part_checked *c, const ga__field *f, ga_pose *pose)
{
  for (int i = 0; i < 3; i++)
    if (!isfinite(pose->position[i])) {
      const ga_status status = refuse_number(c, f->name, pose->position[i], "m", "finite");
      return ga__name_item(c->ctx, status, i,
                           (const char *const[]){"position[0]", "position[1]", "position[2]"}[i]);
    }
  const ga_status status = ga_rotation_matrix(c->ctx, pose->rotation, pose->rotation);
  if (!status) return GA_OK;
  ga_error *e = &c->ctx->error; /* adds part and field */
  ga__cut_text(e->kind, sizeof e->kind, c->kind);
  ga__cut_text(e->part, sizeof e->part, c->name);
  ga__cut_text(e->field, sizeof e->field, f->name);
  return ga__name_item(c->ctx, status, e->item, "rotation");
}

static ga_status check_input(const part_checked *c, const char *name, int i, int count, const ga_input *input)
{
  ga_status status = GA_OK;
  if (!isfinite(input->value)) status = refuse_number(c, name, input->value, NULL, "finite");
  if (!status && input->expression && !input->expression[0])
    status = refuse(
        c, GA_REASON_FIELD_MISSING,
        (ga__facts){.field = name, .detail = "an empty expression", .expected = "NULL where there is none"});
  return count > 1 ? ga__name_item(c->ctx, status, i, NULL) : status;
}

static ga_status check_field(const part_checked *c, const ga__field *f, void *def)
{
  char *at = (char *)def + f->offset;
  ga_status status = GA_OK;
  switch (f->rule) {
  case GA__RULE_TEXT:
  case GA__RULE_TEXT_NEEDED:
    return check_text(c, f, *(const char **)(void *)at);
  case GA__RULE_NUMBER:
  case GA__RULE_NUMBER_OR_NAN:
  case GA__RULE_POSITIVE:
  case GA__RULE_NOT_NEGATIVE:
  case GA__RULE_SIX:
  case GA__RULE_SIX_BY_SIX:
    for (int i = 0; i < f->count && !status; i++) status = check_number(c, f, i, ((double *)(void *)at)[i]);
    return status;
  case GA__RULE_FLAG:
  case GA__RULE_CHOICE:
    return check_integer(c, f, at);
  case GA__RULE_POSE:
    return check_pose(c, f, (ga_pose *)(void *)at);
  case GA__RULE_INPUT:
    for (int i = 0; i < f->count && !status; i++)
      status = check_input(c, f->name, i, f->count, (ga_input *)(void *)at + i);
    return status;
  default:
    return GA_OK;
  }
}

/* ---- Checks of kinds ---- */

static ga_status check_mass(const part_checked *c, const char *what, double mass, const char *unit,
                            int massless)
{
  if (mass > 0 || (massless && mass == 0)) return GA_OK;
  return refuse_number(c, what, mass, unit,
                       massless ? ">= 0" : "> 0, or set massless where joints hold what has none");
}

/* Eigenvalues of a symmetric 3×3 matrix, ascending, by Jacobi rotations. Unlike the closed form this is
 * accurate to rounding, relative to the largest, also if two are close. */
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

static ga_status refuse_inertia(const part_checked *c, ga_reason reason, const double p[3])
{
  return refuse(
      c, reason,
      (ga__facts){.field = "inertia",
                  GA__NUMBERS({p[0], NULL}, {p[1], NULL}, {p[2], NULL}, {p[2] - p[0] - p[1], NULL})});
}

/* A real body's principal moments are positive, and A + B >= C, since A + B − C = 2∫z² dm. An idealised one
 * that joints hold may lack some. */
static ga_status check_inertia(const part_checked *c, const ga_rigid_def *def)
{
  double p[3];
  principal_moments(p, def->inertia);
  const double largest = fmax(fabs(p[0]), fabs(p[2]));
  if (p[0] < -MOMENT_ZERO * largest) return refuse_inertia(c, GA_REASON_INERTIA_NEGATIVE, p);
  if (def->massless) return GA_OK;
  if (p[0] <= MOMENT_ZERO * largest) return refuse_inertia(c, GA_REASON_INERTIA_ZERO, p);
  if (p[0] + p[1] < (1 - MOMENT_EQUAL) * p[2]) return refuse_inertia(c, GA_REASON_INERTIA_IMPOSSIBLE, p);
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

/* Both entries of a stiffness matrix that differ, one of them number `at`. */
static ga_status refuse_asymmetric(const part_checked *c, const ga_beam_def *d, int at)
{
  const int i = at / 6, j = at % 6;
  return refuse(c, GA_REASON_MESH_NOT_SYMMETRIC,
                (ga__facts){.field = "stiffness",
                            GA__NUMBERS({i + 1, NULL}, {j + 1, NULL}, {d->stiffness[6 * i + j], NULL},
                                        {d->stiffness[6 * j + i], NULL})});
}

static ga_status check_beam(const part_checked *c, const void *def)
{
  ga__beam_section section;
  ga_pose start;
  double length;
  const ga_beam_def *d = def;
  ga__beam_fault fault = ga__beam_place(d, &start, &length);
  if (!fault.reason && d->elements < 1)
    fault = (ga__beam_fault){GA_REASON_OUT_OF_RANGE, "elements", "at least 1", d->elements, NULL};
  if (!fault.reason) fault = ga__beam_section_make(d, &section);
  if (!fault.reason) return GA_OK;
  if (fault.reason == GA_REASON_MESH_NOT_SYMMETRIC) return refuse_asymmetric(c, d, (int)fault.value);
  return refuse(
      c, fault.reason,
      (ga__facts){.field = fault.field, .expected = fault.expected, GA__NUMBERS({fault.value, fault.unit})});
}

static ga_status check_cable(const part_checked *c, const void *def)
{
  ga__cable_line line;
  const ga__beam_fault fault = ga__cable_make(def, &line);
  if (!fault.reason) return GA_OK;
  return refuse(
      c, fault.reason,
      (ga__facts){.field = fault.field, .expected = fault.expected, GA__NUMBERS({fault.value, fault.unit})});
}

static ga_status check_modal(const part_checked *c, const void *def)
{
  const ga_modal_def *d = def;
  if (!d->body)
    return refuse(c, GA_REASON_FIELD_MISSING,
                  (ga__facts){.field = "body", .detail = "NULL", .expected = "a ga_modal_body"});
  if (ga_modal_body_n_modes(d->body) < 1) return refuse(c, GA_REASON_NO_MODES, (ga__facts){.field = "body"});
  return GA_OK;
}

/* Names of two frames, or coordinates, that must not be the same. */
static ga_status check_two(const part_checked *c, const char *first, const char *a, const char *second,
                           const char *b)
{
  if (strcmp(a, b) != 0) return GA_OK;
  return refuse(c, GA_REASON_BOTH_THE_SAME, (ga__facts){.field = first, .other = second, .name = a});
}

static ga_status check_line(const part_checked *c, const char *a, const char *b, const char *coordinate)
{
  if (coordinate && (a || b))
    return refuse(c, GA_REASON_LINE_AND_COORDINATE,
                  (ga__facts){.field = a ? "a" : "b", .name = a ? a : b, .other = coordinate});
  if (coordinate) return GA_OK;
  if (!a && !b) return refuse(c, GA_REASON_ACTS_ON_NOTHING, (ga__facts){.field = NULL});
  if (!a || !b)
    return refuse(c, GA_REASON_FIELD_MISSING,
                  (ga__facts){.field = a ? "b" : "a", .detail = "missing", .expected = "the name of " FRAME});
  return check_two(c, "a", a, "b", b);
}

unsigned long ga__field_kinds(const ga__field *field)
{
  return field->coordinate ? ga__coordinate_kinds(field->coordinate - 1) : field->only ? field->only : ~0ul;
}

static ga_status check_joint(const part_checked *c, const void *def)
{
  const ga_joint_def *d = def;
  const int geared = d->kind == GA_JOINT_GEAR || d->kind == GA_JOINT_RACK;
  if (geared && d->ratio == 0)
    return refuse_number(c, "ratio", 0.0, NULL,
                         d->kind == GA_JOINT_GEAR
                             ? "other than 0: the ratio of the gear, of either sign"
                             : "other than 0: the radius of the pinion [m], of either sign");
  if (d->length <= 0)
    return refuse_number(c, "length", d->length, "m",
                         "> 0, or NaN for that at the start; use a spherical joint for 0");
  for (size_t i = 0; i < sizeof joint_fields / sizeof *joint_fields; i++) {
    const ga__field *f = &joint_fields[i];
    if (!f->coordinate) continue;
    const double value = *(const double *)(const void *)((const char *)def + f->offset);
    if (!isnan(value) && !(ga__field_kinds(f) & BIT(d->kind)))
      return refuse(c, GA_REASON_NOT_OF_THIS_JOINT,
                    (ga__facts){.field = f->name, .expected = joint_names[d->kind]});
  }
  return check_two(c, "a", d->a, "b", d->b);
}

/* Exactly one law, and what belongs to it. */
static ga_status check_drive(const part_checked *c, const void *def)
{
  const ga_drive_def *d = def;
  const char *first = NULL;
  ga_drive_def rest = *d;
  if (d->function) first = ga__servo_field(GA__SERVO_NONE);
  for (ga__servo_law law; (law = ga__servo_law_of(&rest)) != GA__SERVO_NONE;) {
    if (first)
      return refuse(c, GA_REASON_BOTH_GIVEN, (ga__facts){.name = first, .other = ga__servo_field(law)});
    first = ga__servo_field(law);
    if (law == GA__SERVO_SPEED) rest.speed = NULL;
    if (law == GA__SERVO_ACCELERATION) rest.acceleration = (ga_input){.value = 0}, rest.has_acceleration = 0;
    if (law == GA__SERVO_FOLLOW) rest.follow = (ga_input){.value = 0}, rest.has_follow = 0;
    if (law == GA__SERVO_FOLLOW_SPEED) rest.follow_speed = (ga_input){.value = 0}, rest.has_follow_speed = 0;
  }
  if (!first)
    return refuse(c, GA_REASON_FIELD_MISSING,
                  (ga__facts){.field = "function",
                              .detail = "missing",
                              .expected = "it, or speed, acceleration, follow or follow_speed"});
  const int follows = ga__servo_law_of(d) >= GA__SERVO_FOLLOW;
  if (follows && !(d->lag > 0))
    return refuse_number(
        c, "lag", d->lag, "s",
        "> 0: a signal has no derivatives that are known beforehand, so that the drive follows "
        "it with this time constant");
  if (!follows && d->lag != 0)
    return refuse_number(c, "lag", d->lag, "s", "0 without follow or follow_speed");
  if (d->accept_impact && !d->function)
    return refuse(c, GA_REASON_BOTH_GIVEN, (ga__facts){.name = "accept_impact", .other = first});
  return GA_OK;
}

static ga_status check_rolling(const part_checked *c, const void *def)
{
  const ga_rolling_def *d = def;
  if (d->kind != GA_ROLLING_KNIFE && !(d->radius > 0))
    return refuse_number(c, "radius", d->radius, "m", "> 0, for a sphere or disk");
  if (d->road && strcmp(d->plane, "ground") != 0)
    return refuse(c, GA_REASON_PLANE_AND_ROAD, (ga__facts){.field = "road", .name = d->plane, .other = d->road});
  return d->road ? check_two(c, "body", d->body, "road", d->road) : check_two(c, "body", d->body, "plane", d->plane);
}

static ga_status check_slider(const part_checked *c, const void *def)
{
  const ga_slider_def *d = def;
  return check_two(c, "along", d->along, "frame", d->frame);
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
    return refuse_number(c, "level", d->level.value, NULL, ">= 0; a negative one would drive");
  return check_line(c, d->a, d->b, d->coordinate);
}

static ga_status check_dry_friction(const part_checked *c, const void *def)
{
  const ga_dry_friction_def *d = def;
  if (d->level.value < 0 && !d->level.function && !d->level.expression)
    return refuse_number(c, "level", d->level.value, NULL, ">= 0; a negative one would drive");
  if (!(d->stiction >= 1)) return refuse_number(c, "stiction", d->stiction, NULL, ">= 1");
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
    return refuse_number(c, "exponent", d->exponent, NULL, ">= 1 (1.5 between spheres)");
  if (d->mu > 0 && !(d->speed > 0))
    return refuse_number(c, "speed", d->speed, "m/s", "> 0 with friction (mu > 0)");
  return check_two(c, "plane", d->plane, "point", d->point);
}

/* Points and triangles of a mesh. */
typedef struct mesh_given {
  const double *points, *triangles;
  int point_size, triangle_size;
  double scale;
} mesh_given;

static ga_status check_surface(const part_checked *c, const mesh_given *d)
{
  if (!(d->scale > 0)) return refuse_number(c, "scale", d->scale, NULL, "> 0");
  const struct {
    const char *field;
    const double *at;
    int columns;
    const char *expected;
  } list[] = {
      {"points", d->points, d->point_size, "rows [x, y, z] of the points of a mesh, or in models a file"},
      {"triangles", d->triangles, d->triangle_size, "rows of the numbers of three points"}};
  for (size_t i = 0; i < 2; i++) {
    if (!list[i].at)
      return refuse(c, GA_REASON_FIELD_MISSING,
                    (ga__facts){.field = list[i].field, .detail = "missing", .expected = list[i].expected});
    if (list[i].columns != 3)
      return refuse_number(c, list[i].field, list[i].columns, NULL, "rows of 3 numbers");
  }
  return GA_OK;
}

static ga_status check_collider(const part_checked *c, const void *def)
{
  const ga_collider_def *d = def;
  if ((d->kind == GA_COLLIDER_SPHERE || d->kind == GA_COLLIDER_CAPSULE) && !(d->radius > 0))
    return refuse_number(c, "radius", d->radius, "m", "> 0");
  if (d->kind == GA_COLLIDER_CAPSULE && !(d->length > 0))
    return refuse_number(c, "length", d->length, "m", "> 0; without length it is a sphere");
  for (int i = 0; i < 3 && d->kind == GA_COLLIDER_BOX; i++)
    if (!(d->size[i] > 2 * d->radius))
      return refuse_number(c, "size", d->size[i], "m", "> 0, and more than two radii, along each axis");
  const mesh_given mesh = {d->points, d->triangles, d->point_size, d->triangle_size, d->scale};
  return d->kind == GA_COLLIDER_MESH ? check_surface(c, &mesh) : GA_OK;
}

/* Triangles have points that are there. */
static ga_status check_indices(const part_checked *c, const ga_shape_def *d)
{
  for (int i = 0; i < 3 * d->n_triangles; i++) {
    const double k = d->triangles[i];
    if (!(k >= 0 && k < d->n_points && k == floor(k)))
      return refuse(c, GA_REASON_SURFACE_INDEX,
                    (ga__facts){GA__NUMBERS({i / 3, NULL}, {k, NULL}, {d->n_points - 1, NULL})});
  }
  if (d->n_triangles < 1) return refuse_number(c, "triangles", d->n_triangles, NULL, "one triangle or more");
  return GA_OK;
}

static ga_status check_shape(const part_checked *c, const void *def)
{
  const ga_shape_def *d = def;
  const mesh_given mesh = {d->points, d->triangles, d->point_size, d->triangle_size, d->scale};
  if (d->kind != GA_SOLID_BOX && d->kind != GA_SOLID_MESH && !(d->radius > 0))
    return refuse_number(c, "radius", d->radius, "m", "> 0");
  if ((d->kind == GA_SOLID_CYLINDER || d->kind == GA_SOLID_CAPSULE || d->kind == GA_SOLID_TUBE ||
       d->kind == GA_SOLID_CONE) &&
      !(d->length > 0))
    return refuse_number(c, "length", d->length, "m", "> 0");
  if (d->kind == GA_SOLID_TUBE && !(d->inner > 0 && d->inner < d->radius))
    return refuse_number(c, "inner", d->inner, "m", "> 0, and less than radius");
  for (int i = 0; i < 3 && d->kind == GA_SOLID_BOX; i++)
    if (!(d->size[i] > 0)) return refuse_number(c, "size", d->size[i], "m", "> 0 along each axis");
  if (!(d->opacity <= 1)) return refuse_number(c, "opacity", d->opacity, NULL, "> 0 and <= 1");
  if (ga__colour_of(d->colour) < -1)
    return refuse(c, GA_REASON_COLOUR_UNKNOWN,
                  (ga__facts){.field = "colour", .name = d->colour, .expected = GA__COLOUR_NAMES});
  const ga_status status = d->kind == GA_SOLID_MESH ? check_surface(c, &mesh) : GA_OK;
  return status || d->kind != GA_SOLID_MESH ? status : check_indices(c, d);
}

static ga_status check_collision(const part_checked *c, const void *def)
{
  const ga_collision_def *d = def;
  if (!(d->exponent >= 1))
    return refuse_number(c, "exponent", d->exponent, NULL, ">= 1 (1.5 between spheres)");
  if (d->mu > 0 && !(d->speed > 0))
    return refuse_number(c, "speed", d->speed, "m/s", "> 0 with friction (mu > 0)");
  return check_two(c, "a", d->a, "b", d->b);
}

/* What a law needs to be > 0. */
static ga_status check_tyre(const part_checked *c, const void *def)
{
  const ga_tyre_def *d = def;
  enum { ANY = 2 };
  const struct {
    const char *name;
    double value;
    int magic;
  } needs[] = {{"radius", d->radius, ANY},
               {"stiffness", d->stiffness, ANY},
               {"mu", d->mu, 0},
               {"slip_stiffness", d->slip_stiffness, 0},
               {"cornering_stiffness", d->cornering_stiffness, 0},
               {"nominal_load", d->nominal_load, 1},
               {"pcx1", d->pcx1, 1},
               {"pdx1", d->pdx1, 1},
               {"pkx1", d->pkx1, 1},
               {"pcy1", d->pcy1, 1},
               {"lmux", d->lmux, 1},
               {"lmuy", d->lmuy, 1}};
  const int magic = d->kind == GA_TYRE_MAGIC;
  for (size_t i = 0; i < sizeof needs / sizeof *needs; i++)
    if ((needs[i].magic == magic || needs[i].magic == ANY) && !(needs[i].value > 0))
      return refuse_number(c, needs[i].name, needs[i].value, NULL, "> 0");
  if (!(d->carcass < d->radius)) return refuse_number(c, "carcass", d->carcass, "m", "less than the radius");
  if (!magic) return GA_OK;
  if (!(d->pky1 * d->lky < 0 && d->pky2 != 0))
    return refuse_number(
        c, "pky1", d->pky1, NULL,
        "< 0, with pky2 other than 0: slip angles are positive to the left, forces then act to "
        "the right");
  for (int load = 0; load <= 2; load += 2) /* dfz from −1 to 1 */
    if (!(d->pdx1 + d->pdx2 * (load - 1) > 0) || !(d->pdy1 + d->pdy2 * (load - 1) > 0))
      return refuse_number(c, d->pdx1 + d->pdx2 * (load - 1) > 0 ? "pdy2" : "pdx2",
                           d->pdx1 + d->pdx2 * (load - 1) > 0 ? d->pdy2 : d->pdx2, NULL,
                           "so small that friction is positive from no load to twice the nominal one");
  return GA_OK;
}

static ga_status check_stop_ends(const part_checked *c, const ga_stop_def *d)
{
  if (d->other && !d->coordinate)
    return refuse(c, GA_REASON_FIELD_MISSING,
                  (ga__facts){.field = "coordinate",
                              .detail = "missing",
                              .expected = "the name of " COORDINATE ", the first of two"});
  if (d->other && !(d->ratio != 0))
    return refuse_number(c, "ratio", d->ratio, NULL, "other than 0: the factor of `other`");
  if (d->coordinate && d->direction != GA_STOP_LINE)
    return refuse(
        c, GA_REASON_LINE_AND_COORDINATE,
        (ga__facts){.field = "direction", .name = stop_names[d->direction], .other = d->coordinate});
  const ga_status status = check_line(c, d->a, d->b, d->coordinate);
  return status || !d->other ? status : check_two(c, "coordinate", d->coordinate, "other", d->other);
}

static ga_status check_limits(const part_checked *c, double lower, double upper)
{
  if (isnan(lower)) return refuse_number(c, "lower", lower, NULL, "a number, or -infinity for none");
  if (!(lower > -INFINITY) && !(upper < INFINITY))
    return refuse_number(c, "upper", upper, NULL,
                         "finite, unless lower is: a stop without limits never acts");
  return upper > lower ? GA_OK : refuse_number(c, "upper", upper, NULL, "> lower");
}

static ga_status check_rigid_stop(const part_checked *c, const void *def)
{
  const ga_rigid_stop_def *d = def;
  if (!(d->restitution <= 1)) return refuse_number(c, "restitution", d->restitution, NULL, "0 to 1");
  const ga_status status = check_limits(c, d->lower, d->upper);
  return status ? status : check_line(c, d->a, d->b, d->coordinate);
}

static ga_status check_stop(const part_checked *c, const void *def)
{
  const ga_stop_def *d = def;
  const ga_status status = check_limits(c, d->lower, d->upper);
  if (status) return status;
  if (!(d->stiffness > 0) && !d->force)
    return refuse_number(c, "stiffness", d->stiffness, NULL, "> 0, unless a function `force` is given");
  if (!(d->exponent >= 1)) return refuse_number(c, "exponent", d->exponent, NULL, ">= 1");
  if (d->exponent > 1 && !(d->depth > 0))
    return refuse_number(c, "depth", d->depth, NULL, "> 0 with an exponent above 1");
  return check_stop_ends(c, d);
}

static ga_status check_sensor(const part_checked *c, const void *def)
{
  const ga_sensor_def *d = def;
  if (d->kind == GA_SENSOR_POSITION || strcmp(d->from, "ground") == 0) return GA_OK;
  return refuse(c, GA_REASON_SENSOR_FROM, (ga__facts){.field = "from", .name = d->from});
}

static ga_status check_block(const part_checked *c, const void *def)
{
  const ga__block_def *d = def;
  if (!d->block)
    return refuse(c, GA_REASON_FIELD_MISSING,
                  (ga__facts){.field = "block", .detail = "NULL", .expected = "one of galpha/control.h"});
  const int n = ga_block_n_in(d->block);
  if (n > 0 && !d->inputs)
    return refuse(c, GA_REASON_FIELD_MISSING,
                  (ga__facts){.field = "inputs", .detail = "NULL", .expected = "those that the block has"});
  ga_status status = GA_OK;
  for (int i = 0; i < n && !status; i++) status = check_input(c, "inputs", i, n, &d->inputs[i]);
  return status;
}

/* ---- Defaults: other members are 0, which checks refuse where it is not allowed ---- */

ga_rigid_def ga_rigid_defaults(void)
{
  return (ga_rigid_def){.pose = ga_pose_identity(), .weight = 1.0};
}

ga_planar_def ga_planar_defaults(void)
{
  return (ga_planar_def){.weight = 1.0};
}

ga_point_def ga_point_defaults(void)
{
  return (ga_point_def){.weight = 1.0};
}

ga_scalar_def ga_scalar_defaults(void)
{
  return (ga_scalar_def){.weight = 1.0};
}

ga_beam_def ga_beam_defaults(void)
{
  return (ga_beam_def){.pose = ga_pose_identity(),
                       .from = {NAN, NAN, NAN},
                       .to = {NAN, NAN, NAN},
                       .up = {NAN, NAN, NAN},
                       .elements = 10,
                       .shear_factor = {NAN, NAN},
                       .torsion_constant = NAN,
                       .weight = 1.0};
}

ga_cable_def ga_cable_defaults(void)
{
  return (ga_cable_def){
      .from = {NAN, NAN, NAN}, .to = {NAN, NAN, NAN}, .length = NAN, .elements = 20, .weight = 1.0};
}

ga_line_load_def ga_line_load_defaults(void)
{
  return (ga_line_load_def){.from = NAN, .to = NAN};
}

ga_modal_def ga_modal_defaults(void)
{
  return (ga_modal_def){.pose = ga_pose_identity(), .weight = 1.0};
}

ga_marker_def ga_marker_defaults(void)
{
  return (ga_marker_def){.pose = ga_pose_identity()};
}

ga_joint_def ga_joint_defaults(void)
{
  return (ga_joint_def){.at = ga_pose_identity(),
                        .length = NAN,
                        .angle = NAN,
                        .displacement = NAN,
                        .angle_x = NAN,
                        .angle_y = NAN,
                        .x = NAN,
                        .y = NAN,
                        .angle_rate = NAN,
                        .displacement_rate = NAN,
                        .angle_x_rate = NAN,
                        .angle_y_rate = NAN,
                        .x_rate = NAN,
                        .y_rate = NAN};
}

ga_drive_def ga_drive_defaults(void)
{
  return (ga_drive_def){.name = NULL};
}

ga_rolling_def ga_rolling_defaults(void)
{
  return (ga_rolling_def){.plane = "ground"};
}

ga_slider_def ga_slider_defaults(void)
{
  return (ga_slider_def){.s = NAN, .s_rate = NAN};
}

ga_constraint_def ga_constraint_defaults(void)
{
  return (ga_constraint_def){.name = NULL};
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

ga_dry_friction_def ga_dry_friction_defaults(void)
{
  return (ga_dry_friction_def){.stiction = 1};
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

ga_road_def ga_road_defaults(void)
{
  return (ga_road_def){.frame = "ground"};
}

ga_collider_def ga_collider_defaults(void)
{
  return (ga_collider_def){.frame = "ground", .scale = 1};
}

ga_shape_def ga_shape_defaults(void)
{
  return (ga_shape_def){.frame = "ground", .pose = ga_pose_identity(), .opacity = 1, .scale = 1};
}

ga_collision_def ga_collision_defaults(void)
{
  return (ga_collision_def){.exponent = 1.5};
}

ga_tyre_def ga_tyre_defaults(void)
{
#define MAGIC_DEFAULT(member, value) .member = (value),
  return (ga_tyre_def){.damping_depth = 1e-3, .speed = 0.1, .reference_speed = 16.7, GA_MAGIC_LIST(MAGIC_DEFAULT)};
#undef MAGIC_DEFAULT
}

ga_stop_def ga_stop_defaults(void)
{
  return (ga_stop_def){.lower = -INFINITY, .upper = INFINITY, .exponent = 1};
}

ga_rigid_stop_def ga_rigid_stop_defaults(void)
{
  return (ga_rigid_stop_def){.lower = -INFINITY, .upper = INFINITY, .rest_speed = 1e-3};
}

ga_sensor_def ga_sensor_defaults(void)
{
  return (ga_sensor_def){.from = "ground", .axes = "ground"};
}

ga_signal_def ga_signal_defaults(void)
{
  return (ga_signal_def){.name = NULL};
}

ga_guess_def ga_guess_defaults(void)
{
  return (ga_guess_def){.name = NULL};
}

ga_variable_def ga_variable_defaults(void)
{
  return (ga_variable_def){.name = NULL};
}

ga_event_def ga_event_defaults(void)
{
  return (ga_event_def){.name = NULL};
}

static ga_status check_event(const part_checked *c, const void *def)
{
  const ga_event_def *d = def;
  if (!d->set == !d->to) return GA_OK;
  return ga__refuse(
      c->ctx, GA_ERR_ARGUMENT, GA_REASON_FIELD_MISSING,
      &(ga__facts){.kind = c->kind,
                   .part = c->name,
                   .field = d->set ? "to" : "set",
                   .detail = "missing",
                   .expected = d->set ? "an expression for the new value" : "what is to be changed"});
}

/* ---- The table ---- */

typedef ga_status (*check_fn)(const part_checked *c, const void *def);

/* Checks that involve several fields. */
static const check_fn CHECKS[GA__N_PARTS + 1] = {
    [GA__PART_RIGID] = check_rigid,
    [GA__PART_PLANAR] = check_planar,
    [GA__PART_POINT] = check_point,
    [GA__PART_SCALAR] = check_scalar,
    [GA__PART_BEAM] = check_beam,
    [GA__PART_JOINT] = check_joint,
    [GA__PART_DRIVE] = check_drive,
    [GA__PART_CABLE] = check_cable,
    [GA__PART_ROLLING] = check_rolling,
    [GA__PART_MODAL] = check_modal,
    [GA__PART_SPRING] = check_spring,
    [GA__PART_ACTUATOR] = check_actuator,
    [GA__PART_FRICTION] = check_friction,
    [GA__PART_BUSHING] = check_bushing,
    [GA__PART_CONTACT] = check_contact,
    [GA__PART_SENSOR] = check_sensor,
    [GA__PART_BLOCK] = check_block,
    [GA__PART_SLIDER] = check_slider,
    [GA__PART_STOP] = check_stop,
    [GA__PART_DRY_FRICTION] = check_dry_friction,
    [GA__PART_RIGID_STOP] = check_rigid_stop,
    [GA__PART_TYRE] = check_tyre,
    [GA__PART_COLLIDER] = check_collider,
    [GA__PART_COLLISION] = check_collision,
    [GA__PART_SHAPE] = check_shape,
    [GA__PART_EVENT] = check_event,
};

#define KIND(what)                                                                                           \
  static void default_##what(void *def)                                                                      \
  {                                                                                                          \
    *(ga_##what##_def *)def = ga_##what##_defaults();                                                        \
  }                                                                                                          \
  static ga_status add_##what(ga_machine *m, const void *def)                                                \
  {                                                                                                          \
    return ga_machine_add_##what(m, def);                                                                    \
  }
KIND(rigid)
KIND(planar)
KIND(point)
KIND(scalar)
KIND(beam)
KIND(cable)
KIND(modal)
KIND(marker)
KIND(joint)
KIND(drive)
KIND(rolling)
KIND(slider)
KIND(constraint)
KIND(spring)
KIND(actuator)
KIND(friction)
KIND(dry_friction)
KIND(bushing)
KIND(force)
KIND(line_load)
KIND(contact)
KIND(road)
KIND(tyre)
KIND(collider)
KIND(collision)
KIND(shape)
KIND(stop)
KIND(rigid_stop)
KIND(sensor)
KIND(signal)
KIND(guess)
KIND(variable)
KIND(event)
#undef KIND

#define KIND(what)                                                                                           \
  .name = #what, .size = sizeof(ga_##what##_def), .fields = what##_fields,                                                  \
  .n_fields = (int)(sizeof(what##_fields) / sizeof(what##_fields[0])), .defaults = default_##what,           \
  .add = add_##what

static const ga__part_type KINDS[GA__N_PARTS + 1] = {
    [GA__PART_GROUND] = {.text = "ground", .fields = ground_fields, .element = &ga__ground_type},
    [GA__PART_RIGID] = {.text = "rigid body",
                        KIND(rigid),
                        .element = &ga__rigid_type,
                        .section = "bodies",
                        .type = "rigid",
                        .about = "a rigid body in space"},
    [GA__PART_PLANAR] = {.text = "planar body",
                         KIND(planar),
                         .element = &ga__planar_type,
                         .section = "bodies",
                         .type = "planar",
                         .about = "moves in the plane z = const of the ground: x, y, and the angle about z"},
    [GA__PART_POINT] = {.text = "mass point",
                        KIND(point),
                        .element = &ga__point_type,
                        .section = "bodies",
                        .type = "point",
                        .about = "a mass point in space"},
    [GA__PART_SCALAR] = {.text = "scalar",
                         KIND(scalar),
                         .element = &ga__scalar_type,
                         .section = "bodies",
                         .type = "scalar",
                         .about = "one coordinate with an inertia: a rotor, a mass on a rail, the charge of "
                                  "a circuit; the name is also the name of its signal"},
    [GA__PART_BEAM] =
        {.text = "beam",
         KIND(beam),
         .element = &ga__beam_type,
         .section = "bodies",
         .type = "beam",
         .about =
             "a geometrically exact beam with axial force, shear, torsion and bending, for large "
             "displacements. Its frame is that of the first section; `name.end` is a marker at the last one"},
    [GA__PART_CABLE] = {.text = "cable",
                        KIND(cable),
                        .element = &ga__cable_type,
                        .section = "bodies",
                        .type = "cable",
                        .about = "a cable, rope or chain with mass and axial stiffness, which never pushes, "
                                 "with or without bending stiffness. `name.end` is a marker at its end"},
    [GA__PART_MODAL] = {.text = "modal body",
                        KIND(modal),
                        .element = &ga__modal_type,
                        .section = "bodies",
                        .type = "modal",
                        .about = "a flexible body described by modes, from the matrices of a finite-element "
                                 "program. Its interface nodes are markers: `name.interface`"},
    [GA__PART_MARKER] = {.text = "marker",
                         KIND(marker),
                         .element = &ga__marker_type,
                         .section = "markers",
                         .about = "a frame on a body or on the ground"},
    [GA__PART_JOINT] = {.text = "joint",
                        KIND(joint),
                        .element = &ga__joint_type,
                        .section = "joints",
                        .about = "a joint between two frames"},
    [GA__PART_DRIVE] = {.text = "drive",
                        KIND(drive),
                        .element = &ga__drive_type,
                        .section = "drives",
                        .about = "prescribed motion of a coordinate"},
    [GA__PART_ROLLING] =
        {.text = "rolling",
         KIND(rolling),
         .element = &ga__rolling_type,
         .section = "rollings",
         .about = "rolling without slipping on the plane z = 0 of a frame, which may be on a body "
                  "that moves"},
    [GA__PART_SLIDER] = {.text = "slider",
                         KIND(slider),
                         .element = &ga__slider_type,
                         .section = "sliders",
                         .about = "a point of a body slides along the axis of a beam or cable, without "
                                  "friction; its coordinate is `name.s`"},
    [GA__PART_CONSTRAINT] = {.text = "constraint",
                             KIND(constraint),
                             .element = &ga__constraint_type,
                             .section = "constraints",
                             .about = "an expression of t and signals that is held at zero: holonomic if it "
                                      "has only positions, nonholonomic if it has velocities"},
    [GA__PART_SPRING] =
        {.text = "spring",
         KIND(spring),
         .element = &ga__law_element,
         .section = "forces",
         .type = "spring",
         .about = "spring and damper along a line or on a coordinate; force, positive in tension: preload + "
                  "stiffness (l − rest) + damping v + force(l − rest) + damper(v) + expression"},
    [GA__PART_ACTUATOR] = {.text = "actuator",
                           KIND(actuator),
                           .element = &ga__law_element,
                           .section = "forces",
                           .type = "actuator",
                           .about = "a force along a line or on a coordinate"},
    [GA__PART_FRICTION] = {.text = "friction",
                           KIND(friction),
                           .element = &ga__law_element,
                           .section = "forces",
                           .type = "friction",
                           .about = "smooth friction along a line or on a coordinate"},
    [GA__PART_DRY_FRICTION] = {.text = "dry friction",
                               KIND(dry_friction),
                               .element = &ga__dry_friction_type,
                               .section = "forces",
                               .type = "dry_friction",
                               .about = "dry friction along a line or on a coordinate, which sticks and "
                                        "slides, with switches between both located in time"},
    [GA__PART_BUSHING] = {.text = "bushing",
                          KIND(bushing),
                          .element = &ga__law_element,
                          .section = "forces",
                          .type = "bushing",
                          .about = "six springs and dampers between two frames; force and torque preload + K "
                                   "δ + C δ', positive against increasing δ"},
    [GA__PART_FORCE] = {.text = "force",
                        KIND(force),
                        .element = &ga__wrench_type,
                        .section = "forces",
                        .type = "force",
                        .about = "force and torque at a frame's origin"},
    [GA__PART_LINE_LOAD] = {.text = "line load",
                            KIND(line_load),
                            .element = &ga__line_load_type,
                            .section = "forces",
                            .type = "line_load",
                            .about = "force and moment per length on a stretch of a beam or cable"},
    [GA__PART_CONTACT] = {.text = "contact",
                          KIND(contact),
                          .element = &ga__law_element,
                          .section = "forces",
                          .type = "contact",
                          .about = "a point or ball against a plane"},
    [GA__PART_ROAD] = {.text = "road",
                       KIND(road),
                       .element = &ga__road_type,
                       .section = "roads",
                       .about = "a surface that tyres roll on; its frame may be on a body that moves"},
    [GA__PART_TYRE] = {.text = "tyre",
                       KIND(tyre),
                       .element = &ga__tyre_type,
                       .section = "tyres",
                       .about = "a tyre on a wheel against a road: load, slip, camber"},
    [GA__PART_COLLIDER] = {.text = "collider",
                           KIND(collider),
                           .element = &ga__collider_type,
                           .section = "colliders",
                           .about = "a solid that a frame carries, for collisions; it has no mass"},
    [GA__PART_COLLISION] = {.text = "collision",
                            KIND(collision),
                            .element = &ga__collision_type,
                            .section = "collisions",
                            .about = "contact of two colliders: normal force, friction"},
    [GA__PART_SHAPE] = {.text = "shape",
                        KIND(shape),
                        .element = &ga__shape_type,
                        .section = "shapes",
                        .about = "what a body looks like in the viewer; no number of a run depends on it"},
    [GA__PART_STOP] = {.text = "stop",
                       KIND(stop),
                       .element = &ga__law_element,
                       .section = "forces",
                       .type = "stop",
                       .about =
                           "elastic stops of a coordinate, a distance or a sum of two coordinates: joint "
                           "limits, bump stops, play of gears. They never pull"},
    [GA__PART_RIGID_STOP] = {.text = "rigid stop",
                             KIND(rigid_stop),
                             .element = &ga__rigid_stop_type,
                             .section = "forces",
                             .type = "rigid_stop",
                             .about = "rigid limits of a coordinate or distance, with impacts and rest"},
    [GA__PART_SENSOR] = {.text = "sensor",
                         KIND(sensor),
                         .element = &ga__sensor_type,
                         .section = "sensors",
                         .about = "three signals `name.x`, `name.y`, `name.z`"},
    [GA__PART_SIGNAL] = {.text = "signal",
                         KIND(signal),
                         .element = &ga__named_signal_type,
                         .section = "signals",
                         .about = "an expression of signals with a name, which is a signal itself"},
    [GA__PART_GUESS] = {.text = "guess",
                        KIND(guess),
                        .element = &ga__guess_type,
                        .section = "guesses",
                        .about = "approximate initial values of signals, for a start whose iteration fails "
                                 "from 0, or which has several solutions"},
    [GA__PART_VARIABLE] = {.text = "variable",
                           KIND(variable),
                           .section = "variables",
                           .about = "a number that events may set and expressions use by its name"},
    [GA__PART_EVENT] =
        {.text = "event",
         KIND(event),
         .element = &ga__event_type,
         .section = "events",
         .about = "something that happens where an expression passes through 0: it is recorded, sets "
                  "a variable, state or velocity, or ends the run"},
    [GA__PART_BLOCK] = {.text = "block",
                        .element = &ga__block_type,
                        .size = sizeof(ga__block_def),
                        .fields = block_fields,
                        .n_fields = 1,
                        .section = "blocks",
                        .about = "a block of a control system"},
    [GA__PART_ELEMENT] = {.text = "element",
                          .size = sizeof(ga__element_def),
                          .fields = element_fields,
                          .n_fields = 1},
};

const char *ga__part_text(ga__part_kind kind)
{
  return (int)kind >= 0 && kind <= GA__PART_ELEMENT ? KINDS[kind].text : "unknown part";
}

const ga__part_type *ga__part_type_of(ga__part_kind kind)
{
  return &KINDS[kind];
}

int ga_part_at(int i, ga_part_info *out)
{
  for (int k = 0; k < GA__N_PARTS; k++) {
    const ga__part_type *row = &KINDS[k];
    if (!row->name || i-- != 0) continue;
    if (out) *out = (ga_part_info){row->name, row->text, row->section, row->type, row->about};
    return 1;
  }
  return 0;
}

size_t ga__def_size(ga__part_kind kind)
{
  return KINDS[kind].size;
}

ga_status ga__def_check(ga_context *ctx, ga__part_kind kind, void *def)
{
  const ga__part_type *row = &KINDS[kind];
  const part_checked c = {ctx, row->text, *(const char **)def};
  ga_status status = GA_OK;
  for (int i = 0; i < row->n_fields && !status; i++) status = check_field(&c, &row->fields[i], def);
  if (!status && CHECKS[kind]) status = CHECKS[kind](&c, def);
  return status;
}

const void *ga__part_member(const ga__part *part, const char *name, int *count)
{
  const ga__part_type *row = &KINDS[part->kind];
  for (int i = 0; i < row->n_fields; i++) {
    const ga__field *f = &row->fields[i];
    if (strcmp(f->name, name) != 0) continue;
    if (count) *count = f->count;
    return (const char *)part->def + f->offset;
  }
  return NULL;
}

const double **ga__def_matrix(ga__part_kind kind, void *def, int i, size_t *n)
{
  const ga__part_type *row = &KINDS[kind];
  for (const ga__field *f = row->fields; f < row->fields + row->n_fields; f++) {
    if (f->rule != GA__RULE_MATRIX || i-- > 0) continue;
    const int *rows = (const int *)(void *)((char *)def + f->rows - 1),
              *columns = (const int *)(void *)((char *)def + f->columns - 1);
    if (n) *n = (size_t)*rows * (size_t)*columns;
    return (const double **)(void *)((char *)def + f->offset);
  }
  return NULL;
}

const char **ga__def_text(ga__part_kind kind, void *def, int i)
{
  const ga__part_type *row = &KINDS[kind];
  for (const ga__field *f = row->fields; f < row->fields + row->n_fields; f++) {
    void *at = (char *)def + f->offset;
    if (f->rule != GA__RULE_TEXT && f->rule != GA__RULE_TEXT_NEEDED && f->rule != GA__RULE_INPUT) continue;
    if (i < f->count) return f->rule == GA__RULE_INPUT ? &((ga_input *)at)[i].expression : (const char **)at;
    i -= f->count;
  }
  if (kind != GA__PART_BLOCK) return NULL;
  const ga__block_def *d = def;
  return d->inputs && i < ga_block_n_in(d->block) ? &d->inputs[i].expression : NULL;
}

static const ga__field *active_field(const ga__part *part)
{
  const ga__part_type *row = &KINDS[part->kind];
  for (const ga__field *f = row->fields; part->def && f < row->fields + row->n_fields; f++)
    if (strcmp(f->name, "active") == 0) return f;
  return NULL;
}

int ga__has_active(const ga__part *part)
{
  return active_field(part) != NULL;
}

const char *ga__active_of(const ga__part *part)
{
  const ga__field *f = active_field(part);
  return f ? *(const char *const *)(const void *)((const char *)part->def + f->offset) : NULL;
}
