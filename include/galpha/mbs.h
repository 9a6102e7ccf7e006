/* galpha/mbs.h: machines, built from named parts, as a sparse ga_system.
 *
 *   ga_machine_create, ga_machine_add_... (in any order), ga_machine_build,
 *   ga_machine_system and ga_machine_initial
 *
 * Parts refer to each other, and to signals, by name; names are resolved when the machine is built. A part's
 * name is a letter or _, then letters, digits, _, and . before a letter or _, 127 characters at most.
 * "ground" is the body that does not move; this name, "t", "energy" and names that begin with "energy." are
 * reserved. Definitions are plain structs; start from their ..._defaults(). Members for which no default is
 * given are 0 or NULL by default, and refused where that is not allowed. Numbers, names and texts are copied;
 * functions (galpha/expr.h) are borrowed as long as the machine lives. SI units throughout, angles in rad.
 *
 * A built machine is constant: steppers, evaluations and meters of it may run in several threads at the same
 * time, each with a context of its thread. Functions that are given a stepper or a meter use its memory and
 * report errors to its context. All others report to the machine's context, which belongs to one thread; and
 * ga_machine_signals() without a meter uses memory of the machine, so that it belongs to this thread too.
 *
 * A frame is that of a body, a marker or the ground: where a frame is needed, give the name of one of them.
 */
#ifndef GALPHA_MBS_H
#define GALPHA_MBS_H

#include "galpha/base.h"
#include "galpha/control.h"
#include "galpha/core.h"
#include "galpha/expr.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Poses --------------------------------------------------------------------------------------------- */

typedef struct ga_pose {
  double position[3]; /* [m] of the origin */
  double rotation[9]; /* row-major; its columns are the axes x, y, z */
} ga_pose;

GA_API ga_pose ga_pose_identity(void);
GA_API ga_pose ga_pose_at(double x, double y, double z); /* parallel axes */
/* All of them write a rotation matrix, orthogonal to rounding. GA_ERR_ARGUMENT for a zero axis, a zero
 * quaternion, a matrix that is not a rotation to within 1e-6, an unknown sequence. */
GA_API ga_status ga_rotation_matrix(ga_context *ctx, const double m[9], double rotation[9]);
GA_API ga_status ga_rotation_quaternion(ga_context *ctx, const double wxyz[4], double rotation[9]);
GA_API ga_status ga_rotation_axis_angle(ga_context *ctx, const double axis[3], double angle,
                                        double rotation[9]);
/* "xyz", "ZXZ", ...: three letters, each rotation about an axis of the frame reached so far when lower case
 * (R = R1 R2 R3), about the fixed axes when upper case (R = R3 R2 R1). */
GA_API ga_status ga_rotation_euler(ga_context *ctx, const char *sequence, const double angle[3],
                                   double rotation[9]);
/* A frame with this z axis, its x axis as close to x_hint as possible (NULL: any). */
GA_API ga_status ga_rotation_z_axis(ga_context *ctx, const double z[3], const double *x_hint,
                                    double rotation[9]);

/* ---- The machine --------------------------------------------------------------------------------------- */

/* How rigid bodies are described; see docs/theory.md. */
typedef enum ga_form {
  GA_FORM_SPACE = 0, /* R³×SO(3), angular velocity in space: the most accurate, default */
  GA_FORM_BODY = 1,  /* R³×SO(3), angular velocity in the body, as in the papers */
  GA_FORM_SE3 = 2    /* SE(3), both velocities in the body */
} ga_form;

typedef struct ga_machine_opts { /* start from ga_machine_defaults() */
  ga_form form;
  double gravity[3]; /* [m/s²] default (0, 0, 0) */
  double t_start;    /* [s] time of the start, at which drives are evaluated for the assembly; default 0 */
} ga_machine_opts;

typedef struct ga_machine ga_machine;

GA_API ga_machine_opts ga_machine_defaults(void);
GA_API ga_status ga_machine_create(ga_context *ctx, const ga_machine_opts *opts, ga_machine **out);
GA_API void ga_machine_destroy(ga_machine **m); /* after steppers that use its system */

/* Kinds of parts, for programs that build machines by tables: ga_machine_add_<name>(), and how model files write them. Their
 * fields are in ga_model_schema(). Blocks are not among them, nor is the ground. */
typedef struct ga_part_info {
  const char *name;    /* "rigid" */
  const char *text;    /* "rigid body": in messages */
  const char *section; /* of model files: "bodies" */
  const char *type;    /* its `type` there; NULL: the member `kind` is, or it has none */
  const char *about;   /* one line */
} ga_part_info;
/* Kind i = 0, 1, ...; 0: there are fewer. out may be NULL. */
GA_API int ga_part_at(int i, ga_part_info *out);

/* Every ga_machine_add_... checks its numbers at once and leaves the machine as it was when it fails. A name
 * given twice is GA_ERR_ARGUMENT. */

/* ---- Bodies and markers -------------------------------------------------------------------------------- */

/* Which initial values of a body are kept as given when a machine is assembled. The other bodies are moved to
 * meet the joints and their initial values. */
typedef enum ga_hold {
  GA_HOLD_NONE = 0,
  GA_HOLD_POSE,     /* position and rotation */
  GA_HOLD_VELOCITY, /* velocities */
  GA_HOLD_BOTH
} ga_hold;

typedef struct ga_rigid_def { /* start from ga_rigid_defaults() */
  const char *name;
  double mass;        /* [kg] > 0 */
  double inertia[6];  /* [kg m²] Jxx Jyy Jzz Jxy Jxz Jyz: entries of the tensor (Jxy = −∫xy dm) about the
                         centre of mass, in axes parallel to the body's frame. Principal moments > 0, the sum
                         of two not below the third */
  double com[3];      /* [m] centre of mass in the body's frame */
  ga_pose pose;       /* of the body's frame at the start, in the ground's */
  double velocity[3]; /* [m/s] of the frame's origin at the start, ground axes */
  double omega[3];    /* [rad/s] angular velocity at the start, ground axes */
  int omega_in_body;  /* 1: omega is in the body's axes */
  int massless; /* 1: mass and principal moments of inertia may be any that are not negative; joints must
                   hold every direction without mass or inertia */
  ga_hold hold;
  double weight; /* [-] > 0, default 1: factor of mass and inertia in the assembly; bodies with a larger one
                    are moved less */
} ga_rigid_def;

/* Moves in the plane z = const of the ground: x, y, and the angle about z. */
typedef struct ga_planar_def { /* start from ga_planar_defaults() */
  const char *name;
  double mass;        /* [kg] > 0 */
  double inertia;     /* [kg m²] about the centre of mass, > 0 */
  double com[2];      /* [m] centre of mass in the body's frame */
  double position[2]; /* [m] of the frame's origin at the start */
  double z;           /* [m] of the plane */
  double angle;       /* [rad] at the start; any number of turns */
  double velocity[2]; /* [m/s] */
  double rate;        /* [rad/s] */
  int massless;       /* as above */
  ga_hold hold;
  double weight; /* as above */
} ga_planar_def;

typedef struct ga_point_def { /* start from ga_point_defaults(): a mass point, R³ */
  const char *name;
  double mass; /* [kg] > 0 */
  double position[3], velocity[3];
  int massless;
  ga_hold hold;
  double weight; /* as above */
} ga_point_def;

/* One coordinate with an inertia: a rotor, a mass on a rail, the charge of a circuit. The coordinate has the
 * name of the part. It has no position in space: gravity does not act on it, and it is not a frame. */
typedef struct ga_scalar_def { /* start from ga_scalar_defaults() */
  const char *name;
  double mass; /* [kg] or [kg m²] > 0 */
  double position, velocity;
  int rotational; /* 1: position in rad, for units only */
  int massless;
  ga_hold hold;
  double weight; /* as above */
} ga_scalar_def;

typedef struct ga_marker_def { /* start from ga_marker_defaults() */
  const char *name;
  const char *body; /* or "ground", or another marker */
  ga_pose pose;     /* in its frame */
} ga_marker_def;

GA_API ga_rigid_def ga_rigid_defaults(void);
GA_API ga_planar_def ga_planar_defaults(void);
GA_API ga_point_def ga_point_defaults(void);
GA_API ga_scalar_def ga_scalar_defaults(void);
GA_API ga_marker_def ga_marker_defaults(void);
GA_API ga_status ga_machine_add_rigid(ga_machine *m, const ga_rigid_def *def);
GA_API ga_status ga_machine_add_planar(ga_machine *m, const ga_planar_def *def);
GA_API ga_status ga_machine_add_point(ga_machine *m, const ga_point_def *def);
GA_API ga_status ga_machine_add_scalar(ga_machine *m, const ga_scalar_def *def);
GA_API ga_status ga_machine_add_marker(ga_machine *m, const ga_marker_def *def);

/* ---- Joints -------------------------------------------------------------------------------------------- */

/* Every joint between frames a and b: its name in model files, and what it does. Where one body is planar and
 * the other planar or the ground, the planar form of the joint is used, if there is one: it rotates about z
 * and slides along x. Joints that hold axes refuse points. docs/machines.md lists what each joint holds. */
#define GA_JOINT_LIST(X)                                                                                     \
  X(GA_JOINT_FIXED, "fixed", "no relative motion")                                                           \
  X(GA_JOINT_REVOLUTE, "revolute", "turns about z of a; planar bodies: about their common origin")           \
  X(GA_JOINT_PRISMATIC, "prismatic", "slides along z of a; planar bodies: along x of a")                     \
  X(GA_JOINT_CYLINDRICAL, "cylindrical", "slides along z of a and turns about it")                           \
  X(GA_JOINT_SPHERICAL, "spherical", "turns about the common origin")                                        \
  X(GA_JOINT_UNIVERSAL, "universal", "common origin, x of a stays perpendicular to y of b")                  \
  X(GA_JOINT_PLANAR, "planar", "slides in the xy plane of a and turns about z")                              \
  X(GA_JOINT_POINT_ON_LINE, "point_on_line",                                                                 \
    "b's origin stays on the z axis of a; planar bodies: on the x axis")                                     \
  X(GA_JOINT_POINT_ON_PLANE, "point_on_plane", "b's origin stays in the xy plane of a")                      \
  X(GA_JOINT_DISTANCE, "distance", "the distance of the origins is constant")                                \
  X(GA_JOINT_ROD, "rod", "a massless rod with a hinge about z at a and a ball joint at b")                   \
  X(GA_JOINT_PARALLEL, "parallel", "z axes stay parallel; planar bodies: the relative angle is constant")    \
  X(GA_JOINT_PERPENDICULAR, "perpendicular", "z of a stays perpendicular to x of b")                         \
  X(GA_JOINT_SCREW, "screw", "as cylindrical, advancing by `pitch` per turn")                                \
  X(GA_JOINT_GEAR, "gear", "coordinate a + ratio · coordinate b is constant")                                \
  X(GA_JOINT_RACK, "rack_and_pinion", "displacement a − ratio · angle b is constant")                        \
  X(GA_JOINT_CONSTANT_VELOCITY, "constant_velocity",                                                         \
    "common origin; b can tilt against a in any direction and turns about its z as a does about its z")      \
  X(GA_JOINT_HEADING, "heading", "holds nothing: measures the angle of x of b about z of a, counting turns")

typedef enum ga_joint_kind {
#define GA_JOINT_ENUM(name, text, about) name,
  GA_JOINT_LIST(GA_JOINT_ENUM)
#undef GA_JOINT_ENUM
      GA_N_JOINTS
} ga_joint_kind;

GA_API const char *ga_joint_name(ga_joint_kind kind); /* "revolute"; NULL where there is no such joint */

/* The quantities of a coordinate that have units. */
typedef enum ga_motion_unit {
  GA_UNIT_VALUE = 0,    /* the coordinate itself */
  GA_UNIT_RATE,         /* its rate, */
  GA_UNIT_ACCELERATION, /* and the rate of that */
  GA_UNIT_FORCE,        /* a force along it, or torque about it */
  GA_N_MOTION_UNITS
} ga_motion_unit;

typedef struct ga_coordinate_info {
  const char *name;                    /* "angle", as in "hinge.angle" */
  int is_angle;                        /* 1: an angle, which counts turns; 0: a length */
  const char *unit[GA_N_MOTION_UNITS]; /* "rad", "rad/s", "rad/s^2", "N*m" */
} ga_coordinate_info;

/* Coordinate number i of a kind of joint, in the order of its signals; in_plane: of its planar form. NULL:
 * the joint has fewer coordinates, or there is no such joint. */
GA_API const ga_coordinate_info *ga_joint_coordinate(ga_joint_kind kind, int in_plane, int i);
GA_API const ga_coordinate_info *ga_coordinate_find(const char *name); /* of any joint; NULL: none */

/* A joint's coordinates are signals, and drives, springs and gears can act on them: "hinge.angle",
 * "slide.displacement"; universal joint "angle_x" (of b about x of a), "angle_y" (about y of b); planar joint
 * "x", "y", "angle"; point_on_plane "x", "y". Angles count turns; at the start they are within (−π, π],
 * unless given. Gears, racks and screws keep their sum at its value at the start.
 *
 * The initial value and rate of each coordinate may be given, by the members of its name. When the machine is
 * built, its bodies are placed along the joints, beginning at the ground: what is beyond a joint moves with
 * it as a rigid whole. Loops that are then open are closed by moving bodies, except held ones, so that given
 * values are kept. Values that cannot be met are GA_ERR_INCONSISTENT. An angle beyond π includes turns. For a
 * screw give one of the two coordinates, the other follows. The initial value of a driven coordinate must be
 * that of its drive. */
typedef struct ga_joint_def { /* start from ga_joint_defaults() */
  const char *name;
  ga_joint_kind kind;
  const char *a, *b; /* frames; gear, rack: coordinates, or joints that have just one */
  int at_pose;       /* 1: a and b are bodies, and both frames are at `at`; points are moved there */
  ga_pose at;        /* in the ground's frame, at the start */
  double length;     /* [m] distance, rod; NaN (default): the length at the start */
  int rope;          /* 1: the distance is that of a rope, which cannot push; see ga_meter_pull() */
  double pitch;      /* [m] screw: advance per turn, of either sign; 0: none */
  double ratio;      /* gear [-], rack [m], of either sign; no default, 0 is refused */
  /* [rad], [m] coordinates at the start; NaN (default): as the bodies are given */
  double angle, displacement, angle_x, angle_y, x, y;
  /* [rad/s], [m/s] their rates, likewise */
  double angle_rate, displacement_rate, angle_x_rate, angle_y_rate, x_rate, y_rate;
  const char *active; /* a variable: the part acts while it is above 1/2; NULL (default): always */
} ga_joint_def;

/* A number that may change: the sum of the members that are given. In expressions pi and e are numbers,
 * unless a scalar body or block has that name. */
typedef struct ga_input {      /* {0}: 0 */
  double value;                /* constant part */
  const ga_function *function; /* of time, borrowed; NULL: none */
  const char *expression;      /* in t and signals: "pid", "2*motor.angle"; NULL: none */
} ga_input;

/* Prescribed motion of a coordinate ρ, by one of five laws:
 *
 *   function      ρ = function(t): a holonomic constraint. Its position must be continuous, and also its
 *                 velocity unless accept_impact is set
 *   speed         ρ' = speed(t): a nonholonomic constraint. The speed must be continuous
 *   acceleration  ρ'' = acceleration, of time and signals; ρ and ρ' begin as the bodies have them
 *   follow        ρ'' = (follow − ρ)/lag² − 2 ρ'/lag: the position of a signal, by a critically damped lag
 *   follow_speed  ρ'' = (follow_speed − ρ')/lag: the speed of a signal, by a lag
 *
 * A signal has no derivatives that are known beforehand, which a constraint would need: therefore the lag.
 * With the last three the drive has a coordinate of its own, s, that follows the law whatever the force is,
 * and ρ = s; where the machine starts, or starts again, s keeps its speed. Where the acceleration jumps, a
 * step ends and the run restarts. Angles may make any number of turns. When the machine is built, bodies
 * whose velocities are 0 are given velocities that match the initial velocity of function or speed; other
 * velocities stay as given. */
typedef struct ga_drive_def { /* start from ga_drive_defaults() */
  const char *name;
  const char *coordinate;      /* "hinge.angle", or a scalar body */
  const ga_function *function; /* [m] or [rad] borrowed; NULL: none, as below */
  int accept_impact; /* 1: where the position has a corner, velocities jump, as in an impact without friction
                        or loss of contact; its work is part of energy.input. Only with function */
  const ga_function *speed;                           /* [m/s] or [rad/s] borrowed */
  ga_input acceleration;                              /* [m/s²] or [rad/s²] */
  ga_input follow;                                    /* [m] or [rad] */
  ga_input follow_speed;                              /* [m/s] or [rad/s] */
  double lag;                                         /* [s] > 0 with follow and follow_speed */
  int has_acceleration, has_follow, has_follow_speed; /* 1: given, needed only where the input is 0 */
  const char *active; /* a variable: the part acts while it is above 1/2; NULL (default): always */
} ga_drive_def;

/* Rolling without slipping on the plane z = 0 of a frame, of the ground or of another body: where they touch,
 * both move alike, and the opposite force acts on the body of the plane. The contact in z is a holonomic
 * constraint, that along the plane a nonholonomic one. */
typedef enum ga_rolling_kind {
  GA_ROLLING_SPHERE = 0, /* centre at the origin of `body` */
  GA_ROLLING_DISK, /* thin disk, centre at the origin of `body`, axis its z. A disk flat on the plane has
                      no lowest point: refused at the start, later GA_RETRY_NAN */
  GA_ROLLING_KNIFE /* knife edge: the origin of `body` does not move, relative to the plane's body, along
                      the y axis of `body`, projected onto the plane; no contact */
} ga_rolling_kind;

typedef struct ga_rolling_def { /* start from ga_rolling_defaults() */
  const char *name;
  ga_rolling_kind kind;
  const char *body;  /* a frame of a rigid body; a knife edge also of a planar one */
  const char *plane; /* a frame of the ground, or of another body, rigid or planar, or a frame on a
                        deformable part; default "ground" */
  double radius;     /* [m] > 0, sphere and disk */
  const char *road;  /* instead of a plane: a road, whose surface it rolls on; NULL (default): the plane */
} ga_rolling_def;

/* A point of a body, or of the ground, stays on the axis of a beam or cable and slides along it without
 * friction. The axis is the smooth curve (cubic spline) through the nodes of the part, at least 4 elements;
 * its coordinate s is the length along the unloaded part. Drives, springs, actuators and friction may act on
 * it: "name.s". Signals fx, fy, fz (mx, my, mz): force and torque on the body, ground axes. A run in which it
 * leaves the part, by more than a thousandth of its length, ends with an error. */
typedef enum ga_slider_orientation {
  GA_SLIDER_FREE = 0, /* the frame turns freely */
  GA_SLIDER_TANGENT   /* its x axis stays along the axis of the part */
} ga_slider_orientation;

typedef struct ga_slider_def { /* start from ga_slider_defaults() */
  const char *name;
  const char *along; /* a beam or cable */
  const char *frame; /* a frame of another body */
  ga_slider_orientation orientation;
  double s;      /* [m] place at the start; NaN (default): the one nearest to the frame as given */
  double s_rate; /* [m/s] its rate; NaN (default): as the bodies move */
} ga_slider_def;

/* A constraint by an expression of signals and t:  0 = expression.
 *
 * Holonomic where the expression uses positions and t alone, 0 = Φ(t,q): positions of frames and sensors,
 * coordinates of joints and scalar bodies (with their turns), angles of planar bodies, lengths of lines.
 * Nonholonomic where it uses velocities too, in any way, 0 = k(t,q,v). Accelerations, forces, quaternions,
 * and outputs and states of blocks are refused. So is what has kinks or jumps (abs, min, if, tables with
 * linear interpolation, atan2, mod, ...): velocities would jump there, or positions.
 *
 * Bodies are acted on by force times the gradient of the expression, force = −λ (signal "force"): by Φ_q for
 * a holonomic, by k_v for a nonholonomic constraint (Chetaev's rule, which also defines what a constraint
 * that is nonlinear in velocities does). force times the rate of the expression, as far as positions change
 * it, is the power that the constraint delivers: force is in N for an expression in m or m/s, in N*m for one
 * in rad or rad/s. Power by dependence on t, and by nonholonomic constraints that are not linear and
 * homogeneous in velocities, is part of energy.input. */
typedef enum ga_constraint_kind {
  GA_CONSTRAINT_AUTO = 0,    /* by the signals that the expression uses */
  GA_CONSTRAINT_HOLONOMIC,   /* refused where it uses velocities */
  GA_CONSTRAINT_NONHOLONOMIC /* refused where it uses none */
} ga_constraint_kind;

typedef struct ga_constraint_def { /* start from ga_constraint_defaults() */
  const char *name;
  const char *zero; /* the expression: "follower.z - 0.1 - 0.02*cos(3*shaft.angle)" */
  ga_constraint_kind type;
  const char *unit; /* of the expression, "m"; checked as far as it is known. NULL: by its signals */
} ga_constraint_def;

GA_API ga_joint_def ga_joint_defaults(void);
GA_API ga_drive_def ga_drive_defaults(void);
GA_API ga_rolling_def ga_rolling_defaults(void);
GA_API ga_slider_def ga_slider_defaults(void);
GA_API ga_constraint_def ga_constraint_defaults(void);
GA_API ga_status ga_machine_add_joint(ga_machine *m, const ga_joint_def *def);
GA_API ga_status ga_machine_add_drive(ga_machine *m, const ga_drive_def *def);
GA_API ga_status ga_machine_add_rolling(ga_machine *m, const ga_rolling_def *def);
GA_API ga_status ga_machine_add_slider(ga_machine *m, const ga_slider_def *def);
GA_API ga_status ga_machine_add_constraint(ga_machine *m, const ga_constraint_def *def);

/* ---- Forces -------------------------------------------------------------------------------------------- */

/* A function of one argument that expressions of the machine may call: "2*characteristic(strut.length)", with
 * exact derivatives. Add it before the machine is built; it is borrowed as long as the machine lives. A
 * function and a part may have the same name. A function with the name of a built-in one replaces it. */
GA_API ga_status ga_machine_add_function(ga_machine *m, const char *name, const ga_function *function);
/* The same for a function of several arguments, "orifice(K, tank.pressure - 1e5)"; needed until the machine
 * is built. */
GA_API ga_status ga_machine_add_definition(ga_machine *m, const char *name, const ga_definition *definition);

/* Along the line between frames a and b, where `coordinate` is NULL, or on a coordinate. l is the length or
 * the coordinate, v its rate. The force, positive in tension (on a coordinate: against growing l), is preload
 * + stiffness (l − rest) + damping v + force(l − rest) + damper(v) + expression */
typedef struct ga_spring_def { /* start from ga_spring_defaults() */
  const char *name;
  const char *a, *b;
  const char *coordinate;
  double stiffness, damping, preload;
  double rest;               /* NaN (default): l at the start, after the machine was assembled */
  const ga_function *force;  /* of l − rest, borrowed; NULL: none */
  const ga_function *damper; /* of v, borrowed; NULL: none */
  const char *expression;    /* in l, v, t and signals; NULL: none. l and v take precedence over parts */
  const char *active;        /* a variable: the part acts while it is above 1/2; NULL (default): always */
} ga_spring_def;

/* Force along the line a–b (positive: pushes them apart) or on a coordinate (positive: makes it grow). */
typedef struct ga_actuator_def { /* start from ga_actuator_defaults() */
  const char *name;
  const char *a, *b;
  const char *coordinate;
  ga_input force;
  const char *active; /* a variable: the part acts while it is above 1/2; NULL (default): always */
} ga_actuator_def;

/* −level · tanh(v / speed) on a coordinate or along a line. */
typedef struct ga_friction_def { /* start from ga_friction_defaults() */
  const char *name;
  const char *a, *b;
  const char *coordinate;
  ga_input level;     /* [N] or [N m] */
  double speed;       /* [m/s] or [rad/s] > 0, no default: at v = 2·speed the force is 96 % of the level */
  const char *active; /* a variable: the part acts while it is above 1/2; NULL (default): always */
} ga_friction_def;

/* Dry friction that sticks and slides, on a coordinate or along a line: sliding, the force is level against
 * the motion; sticking, the coordinate is held by any force up to stiction · level. Simulators and followers
 * (core.h) switch between both; single steps of a stepper keep the mode of their start. It adds a
 * nonholonomic constraint, a state (its mode: 0 sticks, 1 and −1 slides) and a coordinate of its own. */
typedef struct ga_dry_friction_def { /* start from ga_dry_friction_defaults() */
  const char *name;
  const char *a, *b;
  const char *coordinate;
  ga_input level;  /* [N] or [N m] while it slides; values below 0 count as 0 */
  double stiction; /* [-] >= 1, default 1: largest force that holds it, over level */
} ga_dry_friction_def;

/* On δ = (d in a's axes, angles of b about a's x, y, z) and its rate: the force against growing δ is
 * preload + K δ + C δ'. The angle about axis i is 2 atan2(q_i, q_0) of the relative rotation's quaternion, in
 * (−π, π]: if b turns about one axis only, it is the angle of that turn, and the others are 0. Between planar
 * bodies (frames with z upwards) the angle about z counts turns; in space torques jump at half a turn, which
 * a meter reports. If K, C and preload of the angles are 0, there are no torques, and a and b may be points.
 */
typedef struct ga_bushing_def { /* start from ga_bushing_defaults() */
  const char *name;
  const char *a, *b;
  double stiffness[36], damping[36]; /* row-major */
  double preload[6];
  const char *active; /* a variable: the part acts while it is above 1/2; NULL (default): always */
} ga_bushing_def;

typedef enum ga_axes { GA_AXES_GROUND = 0, GA_AXES_BODY = 1 /* the frame's own */ } ga_axes;

typedef struct ga_force_def { /* start from ga_force_defaults(): force and torque at a frame's origin */
  const char *name;
  const char *frame;
  ga_axes axes;
  ga_input force[3], torque[3];
  const char *active; /* a variable: the part acts while it is above 1/2; NULL (default): always */
} ga_force_def;

/* A point (or ball) against the plane z = 0 of frame `plane`. With depth δ = radius − z, normal force
 * stiffness δ^exponent (1 + dissipation δ'), never negative; friction mu · normal · v/√(v²+speed²) against
 * sliding, at the ball's lowest point, so that it exerts a torque on the ball. */
typedef struct ga_contact_def { /* start from ga_contact_defaults() */
  const char *name;
  const char *plane, *point; /* frames */
  double radius;             /* [m] >= 0 */
  double stiffness;          /* [N/m^exponent] > 0, no default */
  double exponent;           /* >= 1; default 1.5; with 1 the force is continuous, its slope is not */
  double dissipation;        /* [s/m] >= 0 */
  double mu;                 /* [-] >= 0; 0 (default): no friction */
  double speed;              /* [m/s] > 0 where mu > 0, no default */
  const char *active;        /* a variable: the part acts while it is above 1/2; NULL (default): always */
} ga_contact_def;

/* Elastic stops of a coordinate, of the distance of two frames, or of their distance along an axis of a; with
 * `other` of the sum coordinate + ratio · other, counted from its value at the start: the play of a gear,
 * whose ratio has the sign of GA_JOINT_GEAR. l is free between lower and upper. Beyond, with depth δ > 0, the
 * force against growing δ is E (1 + dissipation δ') + damping δ', never negative, E = stiffness δ
 * (δ/depth)^(exponent − 1) + force(δ). */
typedef enum ga_stop_direction {
  GA_STOP_LINE = 0, /* the distance of a and b */
  GA_STOP_X,        /* of b's origin from a's along x of a; positive and negative */
  GA_STOP_Y,
  GA_STOP_Z
} ga_stop_direction;

typedef struct ga_stop_def { /* start from ga_stop_defaults() */
  const char *name;
  const char *a, *b;
  ga_stop_direction direction; /* of a and b */
  const char *coordinate;
  const char *other;  /* a second coordinate; NULL (default): none */
  double ratio;       /* of the second coordinate, not 0, no default */
  double lower;       /* [m] or [rad] −infinity (default): none */
  double upper;       /* [m] or [rad] > lower; infinity (default): none */
  double stiffness;   /* [N/m] or [N m/rad] >= 0; > 0 unless `force` is given */
  double exponent;    /* >= 1; default 1: linear */
  double depth;       /* [m] or [rad] > 0 where exponent > 1: δ at which E is stiffness δ; no default */
  double dissipation; /* [s/m] or [s/rad] >= 0 */
  double damping;     /* [N s/m] or [N m s/rad] >= 0; with it the force jumps where contact begins */
  const ga_function *force; /* of δ, borrowed; NULL: none */
  const char *active;       /* a variable: the part acts while it is above 1/2; NULL (default): always */
} ga_stop_def;

/* Rigid stops of a coordinate, or of the distance of two frames. At a limit the rate r becomes −restitution ·
 * r by an impulse, which all bodies and constraints share; a rate of at most rest_speed behind it counts as
 * none, and the coordinate then rests there until the stop would have to pull. Simulators and followers pass
 * impacts; single steps of a stepper do not. Adds a nonholonomic constraint, two states and a coordinate of
 * its own. */
typedef struct ga_rigid_stop_def { /* start from ga_rigid_stop_defaults() */
  const char *name;
  const char *a, *b;
  const char *coordinate;
  double lower;       /* [m] or [rad] −infinity (default): none */
  double upper;       /* [m] or [rad] > lower; infinity (default): none */
  double restitution; /* [-] 0 (default) to 1 */
  double rest_speed;  /* [m/s] or [rad/s] > 0; default 1e-3 */
} ga_rigid_stop_def;

GA_API ga_spring_def ga_spring_defaults(void);
GA_API ga_actuator_def ga_actuator_defaults(void);
GA_API ga_friction_def ga_friction_defaults(void);
GA_API ga_dry_friction_def ga_dry_friction_defaults(void);
GA_API ga_bushing_def ga_bushing_defaults(void);
GA_API ga_force_def ga_force_defaults(void);
GA_API ga_contact_def ga_contact_defaults(void);
GA_API ga_stop_def ga_stop_defaults(void);
GA_API ga_rigid_stop_def ga_rigid_stop_defaults(void);
GA_API ga_status ga_machine_add_spring(ga_machine *m, const ga_spring_def *def);
GA_API ga_status ga_machine_add_actuator(ga_machine *m, const ga_actuator_def *def);
GA_API ga_status ga_machine_add_friction(ga_machine *m, const ga_friction_def *def);
GA_API ga_status ga_machine_add_dry_friction(ga_machine *m, const ga_dry_friction_def *def);
GA_API ga_status ga_machine_add_bushing(ga_machine *m, const ga_bushing_def *def);
GA_API ga_status ga_machine_add_force(ga_machine *m, const ga_force_def *def);
GA_API ga_status ga_machine_add_contact(ga_machine *m, const ga_contact_def *def);
GA_API ga_status ga_machine_add_stop(ga_machine *m, const ga_stop_def *def);
GA_API ga_status ga_machine_add_rigid_stop(ga_machine *m, const ga_rigid_stop_def *def);

/* ---- Colliders and collisions -------------------------------------------------------------------------- */

typedef enum ga_collider_kind {
  GA_COLLIDER_SPHERE = 0, /* about the frame's origin */
  GA_COLLIDER_CAPSULE,    /* a cylinder along z with half spheres at its ends, its middle at the origin */
  GA_COLLIDER_BOX,        /* its middle at the origin; with a radius its edges are round */
  GA_COLLIDER_MESH,       /* a closed surface of triangles; with a radius it is thicker by that */
  GA_COLLIDER_PLANE       /* everything below z = 0 */
} ga_collider_kind;

/* The solid that a frame carries, for collisions. It has no mass: bodies have. */
typedef struct ga_collider_def { /* start from ga_collider_defaults() */
  const char *name;
  ga_collider_kind kind;
  const char *frame;        /* default "ground" */
  double radius;            /* [m] sphere, capsule: > 0; box, mesh: >= 0, of rounded edges; default 0 */
  double length;            /* [m] capsule: > 0, between the centres of its half spheres */
  double size[3];           /* [m] box: > 0 along x, y, z, and more than two radii */
  const double *points;     /* mesh: [n_points × point_size] [m] corners of triangles, in the frame's axes */
  int n_points, point_size; /* >= 4, 3 */
  const double *triangles;  /* mesh: [n_triangles × triangle_size] numbers of three points, from 0 on */
  int n_triangles, triangle_size; /* >= 4, 3 */
  double scale;                   /* mesh: > 0, default 1: factor of all points */
} ga_collider_def;

/* Contact of two colliders on different bodies. Where they press with depth δ, the normal force is stiffness
 * δ^exponent (1 + dissipation δ'), never negative, and friction mu · normal · v/√(v² + speed²) acts against
 * sliding; both at a point in the middle between the surfaces. Friction holds a body at rest on a slope only
 * but for a speed below `speed`: v = speed tan α/√(mu² − tan² α) on a slope of angle α. With a length `stick`
 * it holds without a speed: each corner has a memory of how far it was moved, and yields like a spring up to
 * mu · normal after about that length (three states for each corner of a and b that may touch; not where
 * edges cross).
 *
 * Balls press at one point. Others press with every corner that is within reach of the other, the ends of a
 * capsule being its corners, and where edges cross: a box on a plane with up to eight forces. The stiffness
 * is that of each. Corners of a and corners of b both count.
 *
 * If one is pressed so deep into the other that it might leave it on the other side, the step fails.
 * Signals: "gap" [m] between the surfaces, < 0 where they press; "normal" [N], the sum of normal forces;
 * "tangential" [N], the size of the friction; "fx", "fy", "fz" [N] the force on a, ground axes; "x", "y", "z"
 * [m] the point of contact, the mean by normal forces; apart, the middle between the nearest points, or the
 * mean of several that are nearly as near. */
typedef struct ga_collision_def { /* start from ga_collision_defaults() */
  const char *name;
  const char *a, *b;  /* colliders */
  double stiffness;   /* [N/m^exponent] > 0, no default */
  double exponent;    /* >= 1; default 1.5; with 1 the force is continuous, its slope is not */
  double dissipation; /* [s/m] >= 0 */
  double mu;          /* [-] >= 0; 0 (default): no friction */
  double speed;       /* [m/s] > 0 where mu > 0, no default */
  double stick;       /* [m] >= 0; 0 (default): friction has no memory */
  const char *active; /* a variable: the part acts while it is above 1/2; NULL (default): always */
} ga_collision_def;

GA_API ga_collider_def ga_collider_defaults(void);
GA_API ga_collision_def ga_collision_defaults(void);
GA_API ga_status ga_machine_add_collider(ga_machine *m, const ga_collider_def *def);
GA_API ga_status ga_machine_add_collision(ga_machine *m, const ga_collision_def *def);

/* ---- Shapes: what a body looks like ---------------------------------------------------------------------
 */

typedef enum ga_solid_kind {
  GA_SOLID_BOX = 0,  /* its middle at the origin */
  GA_SOLID_CYLINDER, /* along z, its middle at the origin */
  GA_SOLID_SPHERE,   /* about the origin */
  GA_SOLID_CAPSULE,  /* a cylinder along z with half spheres at its ends, its middle at the origin */
  GA_SOLID_TUBE,     /* a hollow cylinder along z, its middle at the origin */
  GA_SOLID_CONE,     /* along z, its foot at −length/2 */
  GA_SOLID_WHEEL,    /* with spokes, about z */
  GA_SOLID_MESH      /* triangles, which need be neither closed nor convex */
} ga_solid_kind;

/* A solid that a frame carries, for drawing alone: it has neither mass nor contact, and no number of a run
 * depends on it. A body with shapes is drawn by these; others by rods between their joints. */
typedef struct ga_shape_def { /* start from ga_shape_defaults() */
  const char *name;
  ga_solid_kind kind;
  const char *frame;    /* default "ground" */
  ga_pose pose;         /* of the solid in the frame */
  double radius;        /* [m] > 0 but for box and mesh; cone: of its foot */
  double length;        /* [m] > 0; wheel: its width, >= 0; 0: thin */
  double inner;         /* [m] tube: > 0 and < radius; cone: radius of its top, >= 0 */
  double size[3];       /* [m] box: > 0, along x, y, z */
  const char *colour;   /* "#rrggbb" or a name such as "red"; NULL (default): that of the body */
  double opacity;       /* [-] > 0 and <= 1; default 1 */
  const double *points; /* mesh: [n_points × point_size] corners of triangles, in the axes of `pose` */
  int n_points, point_size;
  const double *triangles; /* mesh: [n_triangles × triangle_size] numbers of three points, from 0 on */
  int n_triangles, triangle_size;
  double scale; /* mesh: > 0, default 1: factor of all points */
} ga_shape_def;

GA_API ga_shape_def ga_shape_defaults(void);
GA_API ga_status ga_machine_add_shape(ga_machine *m, const ga_shape_def *def);

/* ---- Roads and tyres ----------------------------------------------------------------------------------- */

/* A surface z = height(t, x, y) over the xy plane of a frame, which may be on a body that moves: the table of
 * a test rig, a trailer. Both expressions may use t, x, y [m] in the road's frame and functions of the
 * machine, but no signals: "bump(x) - 0.02*y^2". Corners of the height are steps of the road's direction:
 * take smooth tables (monotone, spline). */
typedef struct ga_road_def { /* start from ga_road_defaults() */
  const char *name;
  const char *frame;    /* default "ground" */
  const char *height;   /* [m] NULL (default): the plane z = 0 */
  const char *friction; /* [-] >= 0 factor of the tyres' friction; NULL (default): 1 */
} ga_road_def;

typedef enum ga_tyre_kind {
  GA_TYRE_TANH = 0, /* linear in slips, saturated by tanh */
  GA_TYRE_BRUSH,    /* parabolic pressure, rigid road: cubic in slips up to full sliding */
  GA_TYRE_MAGIC     /* Magic Formula of pure and combined slip, by the coefficients of GA_MAGIC_LIST */
} ga_tyre_kind;

typedef enum ga_tyre_axis { GA_TYRE_AXIS_Y = 0, GA_TYRE_AXIS_Z } ga_tyre_axis;

/* Coefficients of the Magic Formula, named as in property files of tyres (".tir"), with their defaults. H. B.
 * Pacejka, Tyre and Vehicle Dynamics, 2006; forces along x and y in pure and combined slip, aligning moment
 * (q..z, s), overturning moment (qsx), rolling resistance (qsy). */
#define GA_MAGIC_LIST(X)                                                                                     \
  X(pcx1, 0) X(pdx1, 0) X(pdx2, 0) X(pdx3, 0) X(pex1, 0) X(pex2, 0) X(pex3, 0) X(pex4, 0) X(pkx1, 0)         \
  X(pkx2, 0) X(pkx3, 0) X(phx1, 0) X(phx2, 0) X(pvx1, 0) X(pvx2, 0) X(rbx1, 0) X(rbx2, 0) X(rcx1, 0)         \
  X(rex1, 0) X(rex2, 0) X(rhx1, 0) X(pcy1, 0) X(pdy1, 0) X(pdy2, 0) X(pdy3, 0) X(pey1, 0) X(pey2, 0)         \
  X(pey3, 0) X(pey4, 0) X(pky1, 0) X(pky2, 0) X(pky3, 0) X(phy1, 0) X(phy2, 0) X(phy3, 0) X(pvy1, 0)         \
  X(pvy2, 0) X(pvy3, 0) X(pvy4, 0) X(rby1, 0) X(rby2, 0) X(rby3, 0) X(rcy1, 0) X(rey1, 0) X(rey2, 0)         \
  X(rhy1, 0) X(rhy2, 0) X(rvy1, 0) X(rvy2, 0) X(rvy3, 0) X(rvy4, 0) X(rvy5, 0) X(rvy6, 0) X(lmux, 1)         \
  X(lmuy, 1) X(lkx, 1) X(lky, 1) X(qbz1, 0) X(qbz2, 0) X(qbz3, 0) X(qbz4, 0) X(qbz5, 0) X(qbz9, 0)           \
  X(qbz10, 0) X(qcz1, 0) X(qdz1, 0) X(qdz2, 0) X(qdz3, 0) X(qdz4, 0) X(qdz6, 0) X(qdz7, 0) X(qdz8, 0)        \
  X(qdz9, 0) X(qez1, 0) X(qez2, 0) X(qez3, 0) X(qez4, 0) X(qez5, 0) X(qhz1, 0) X(qhz2, 0) X(qhz3, 0)         \
  X(qhz4, 0) X(ssz1, 0) X(ssz2, 0) X(ssz3, 0) X(ssz4, 0) X(qsx1, 0) X(qsx2, 0) X(qsx3, 0) X(qsy1, 0)         \
  X(qsy2, 0) X(qsy3, 0) X(qsy4, 0) X(ltr, 1) X(lres, 1) X(ls, 1) X(lmx, 1) X(lmy, 1)

/* A tyre on a wheel, a rigid body, against a road. e is the normal of the road, n the axis of the wheel, e_x
 * = n × e/|n × e| its direction, e_y = e × e_x. The contact point P is in the wheel's plane below its centre;
 * with a carcass of radius a, below the centre of the carcass.
 *
 *   load      F_z = preload + stiffness (radius − ρ) − damping v_z, ρ the distance from centre to P, v_z the
 *             speed of the centre away from the road. Never negative; 0 off the road. Over the first
 *             damping_depth of penetration the damping grows from 0
 *   slips     κ = −v_sx/V, λ = −v_sy/V, of the wheel at P against the road; V = √(v_x² + speed²), v_x that of
 *             the centre: at rest the tyre is a damper
 *   relaxation  a length L > 0 makes a slip a state, x' = √(V² + v_s²)/L (κ − x): at rest the tyre is a
 * spring tanh      f = F_z (slip_stiffness κ, cornering_stiffness λ − camber_stiffness γ), F = f tanh(s)/s,
 *             s = |f|/(mu F_z)
 *   brush     the same f, F = f (1 − s + s²/3), s = |f|/(3 mu F_z); from s = 1 on mu F_z along f
 *   magic     nominal_load and the coefficients; α = −atan λ; mu does not count
 *   moments   at P, on the wheel, about e_x, e_y, e. M_y = −rolling_resistance F_z ρ ω/√(ω² + (speed/radius)²), ω the
 *             spin against the road; M_z = −t F_y v_x/V with the pneumatic trail t = trail/cosh² s (tanh),
 *             trail (1 − s)³/(1 − s + s²/3) (brush, where trail is a sixth of the patch's length), or by
 *             coefficients; turning on the spot −mu F_z r u/√(u² + V²), u = r ω_e, r = turn_radius. The Magic
 *             Formula adds M_x by qsx and M_y by qsy
 *   mirrored  1: the other side of a car, as coefficients of a left tyre on the right: y is exchanged with −y
 *
 * mu is multiplied by the road's friction. Signals, in the axes e_x, e_y, e: "fx", "fy", "fz" on the wheel
 * [N], "slip" κ, "slip_angle" −atan λ, "camber" γ = asin n·e [rad]; "x", "y", "z" of P, ground axes;
 * "penetration" radius − ρ; "lagged_slip_x", "lagged_slip_y": what the law is given; "mx", "my", "mz" [N m];
 * "turn_slip" −ω_e/V [rad/m]. */
typedef struct ga_tyre_def { /* start from ga_tyre_defaults() */
  const char *name;
  ga_tyre_kind kind;
  const char *wheel;          /* a frame of a rigid body, at the wheel's centre */
  const char *road;           /* a road */
  ga_tyre_axis axis;          /* of that frame: the wheel's; default y */
  double radius;              /* [m] > 0, no default; without load where preload is 0 */
  double carcass;             /* [m] >= 0, < radius; 0 (default): a thin disk */
  double stiffness;           /* [N/m] > 0, no default */
  double damping;             /* [N s/m] >= 0 */
  double damping_depth;       /* [m] > 0, default 1e-3 */
  double preload;             /* [N] >= 0 at ρ = radius */
  double speed;               /* [m/s] > 0, default 0.1 */
  double relaxation[2];       /* [m] >= 0, along and across; 0 (default): none */
  double mu;                  /* [-] > 0: tanh, brush */
  double slip_stiffness;      /* [-] > 0: force by slip and load; tanh, brush */
  double cornering_stiffness; /* [1/rad] > 0, likewise */
  double camber_stiffness;    /* [1/rad], likewise */
  double trail;               /* [m] >= 0 at small slips: tanh, brush; 0 (default): no aligning moment */
  double rolling_resistance;  /* [-] >= 0: force by load, default 0 */
  double turn_radius;         /* [m] >= 0: lever arm of friction against turning about e; default 0 */
  double reference_speed;     /* [m/s] > 0: magic, of qsy3 and qsy4; default 16.7 */
  int mirrored;               /* 0 or 1 */
  double nominal_load;        /* [N] > 0: magic */
#define GA_MAGIC_MEMBER(name, value) double name;
  GA_MAGIC_LIST(GA_MAGIC_MEMBER) /* magic */
#undef GA_MAGIC_MEMBER
  const char *active; /* a variable: the part acts while it is above 1/2; NULL (default): always */
} ga_tyre_def;

GA_API ga_road_def ga_road_defaults(void);
GA_API ga_tyre_def ga_tyre_defaults(void);
GA_API ga_status ga_machine_add_road(ga_machine *m, const ga_road_def *def);
GA_API ga_status ga_machine_add_tyre(ga_machine *m, const ga_tyre_def *def);

/* ---- Beams --------------------------------------------------------------------------------------------- */

/* How a section is given. In shapes, y is along the width and z along the height; Young's modulus, Poisson's
 * ratio and density are needed too. */
typedef enum ga_section_kind {
  GA_SECTION_NUMBERS = 0, /* stiffness, mass_per_length, rotary_inertia */
  GA_SECTION_RECTANGLE,   /* width, height */
  GA_SECTION_CIRCLE,      /* diameter */
  GA_SECTION_TUBE,        /* diameter, wall */
  GA_SECTION_I            /* width, height, web, flange: two flanges along y, joined by a web along z */
} ga_section_kind;

typedef enum ga_beam_kind {
  GA_BEAM_ACCURATE = 0,   /* order 4 in statics */
  GA_BEAM_CONSTANT_STRAIN /* order 2, masses lumped to nodes: the plain element, for comparison */
} ga_beam_kind;

/* A geometrically exact beam: axial force, shear, torsion and bending, displacements and rotations of any
 * size. The frame of the beam is that of its first section: x along the axis, y and z the axes of the
 * section. The position of a marker on it is x along the axis, from 0 to the length, and y, z in the section
 * there; its rotation is relative to that section. The beam has a node at every marker. The marker "name.end"
 * is created with the beam.
 *
 * Every marker on it, and the beam itself for its first section, has as signals its motion and the force and
 * moment in its section: "force_x", "force_y", "force_z", "moment_x", "moment_y", "moment_z", in section
 * axes, exerted by the part of the beam at larger x on the part at smaller x; and the strains, "strain_x",
 * "shear_y", "shear_z", and changes of curvature, "twist_x", "bend_y", "bend_z". "strain_energy" is that of
 * the whole beam. At the start the beam is not deformed and moves as a rigid body. */
typedef struct ga_beam_def { /* start from ga_beam_defaults() */
  const char *name;
  ga_pose pose;          /* of its first section at the start, where `from` and `to` are not given */
  double length;         /* [m] > 0, likewise */
  double from[3], to[3]; /* [m] ends of a straight beam; NaN (default): not given */
  const double *points;  /* [n_points × point_size] instead: the axis goes through these, [m] in the ground's
                            frame; between them it consists of circular arcs without kinks. NULL (default) */
  int n_points, point_size; /* >= 2, 3 */
  double up[3]; /* [-] with from and to, or at the first of points: the z axis of the sections is as close to
                   this as possible; default (0, 0, 1), or x where the beam is along that */
  double curvature[3]; /* [rad/m] of the unloaded beam: twist about x, bending about y and z of its
                          sections; all 0: straight */
  int elements;        /* >= 1, default 10, evenly distributed between markers */
  ga_beam_kind formulation;
  ga_section_kind section;
  double width, height, diameter, wall, web, flange; /* [m] of shapes */
  double young, poisson, density;                    /* [Pa], [-], [kg/m³] */
  double shear_factor[2];                            /* [-] along y and z; NaN (default): of the shape */
  double torsion_constant;                           /* [m⁴]; NaN (default): of the shape */
  double stiffness[36];     /* [N, N m, N m²] force and moment by strain (x, y, z) and curvature (x, y, z):
                               symmetric, positive definite */
  double mass_per_length;   /* [kg/m] > 0 */
  double rotary_inertia[6]; /* [kg m] Jxx Jyy Jzz Jxy Jxz Jyz per length, about the centre of mass */
  double centre[2];         /* [m] of mass, along y and z of the section */
  double damping;           /* [s] Kelvin–Voigt: damping · stiffness · rate of strain */
  ga_axes axes;             /* of load and moment: of the ground, or those of the section, which turn */
  ga_input load[3];         /* [N/m] along the whole length */
  ga_input moment[3];       /* [N m/m] likewise */
  double velocity[3];       /* [m/s] of its first section at the start, ground axes */
  double omega[3];          /* [rad/s] at the start, ground axes */
  ga_hold hold;
  double weight; /* as of rigid bodies */
} ga_beam_def;

GA_API ga_beam_def ga_beam_defaults(void);
GA_API ga_status ga_machine_add_beam(ga_machine *m, const ga_beam_def *def);

/* ---- Cables -------------------------------------------------------------------------------------------- */

/* A cable, rope or chain: it stretches and has mass, it pulls and never pushes. It may have bending
 * stiffness, the same in all directions, straight without load and hinged at its ends; it has no torsion, and
 * where it would have to push it becomes shorter (a beam does neither). Between its ends it is a line of mass
 * points; it goes slack and taut element by element. The position of a marker on it is x along the cable
 * without tension, from 0 to the length, y and z being 0; its axes are those of the ground, turned by its
 * rotation. The cable has a node at every marker. The marker "name.end" is created with it.
 *
 * At the start it is straight from `from` to `to`; if it is longer than that, it hangs between them as a
 * cable does that cannot stretch. Or it goes through `points`, stretched evenly. Every marker on it, and the
 * cable itself for its first end, has as signals its motion, the force in the cable that the part at larger x
 * exerts on the part at smaller x, "fx", "fy", "fz" in ground axes, and its size, "tension"; with bending
 * stiffness that force has a part across the cable, and its moment is "mx", "my", "mz", of size "moment".
 * "strain_energy" is that of the whole cable. */
typedef struct ga_cable_def { /* start from ga_cable_defaults() */
  const char *name;
  double from[3], to[3]; /* [m] its ends at the start; NaN (default): not given */
  const double *points;  /* [n_points × point_size] instead: places along it at the start, [m], as of beams;
                            NULL (default) */
  int n_points, point_size;        /* >= 2, 3 */
  double length;                   /* [m] without tension, > 0; NaN (default): the distance of its ends */
  int elements;                    /* >= 1, default 20, evenly distributed between markers */
  double stiffness;                /* [N] EA: tension by strain, > 0 */
  double mass_per_length;          /* [kg/m] without tension, > 0 */
  double diameter, young, density; /* [m], [Pa], [kg/m³]: a round section, instead of these two */
  double bending_stiffness; /* [N m²] EI: moment by curvature, >= 0, for at least 2 elements; default 0 */
  double damping;           /* [s] Kelvin–Voigt, as of beams; it never makes the cable push */
  ga_input load[3];         /* [N/m] along the whole length, ground axes */
  double velocity[3];       /* [m/s] of its first end at the start */
  double omega[3];          /* [rad/s] at the start it turns as a rigid body, about its first end */
  ga_hold hold;
  double weight; /* as of rigid bodies */
} ga_cable_def;

GA_API ga_cable_def ga_cable_defaults(void);
GA_API ga_status ga_machine_add_cable(ga_machine *m, const ga_cable_def *def);

/* A load along a part of a beam or cable; the part has a node at both ends of it. */
typedef struct ga_line_load_def { /* start from ga_line_load_defaults() */
  const char *name;
  const char *body;   /* a beam or cable */
  double from, to;    /* [m] along it; NaN (default): its start, its end */
  ga_axes axes;       /* those of the ground, or of the sections of a beam, which turn */
  ga_input load[3];   /* [N/m] */
  ga_input moment[3]; /* [N m/m] beams only */
  const char *active; /* a variable: the part acts while it is above 1/2; NULL (default): always */
} ga_line_load_def;

GA_API ga_line_load_def ga_line_load_defaults(void);
GA_API ga_status ga_machine_add_line_load(ga_machine *m, const ga_line_load_def *def);

/* ---- Modal bodies -------------------------------------------------------------------------------------- */

/* A free elastic structure as finite-element programs describe it, M u'' + K u = f, in a frame of its own.
 * Degrees of freedom are ordered node by node: x, y, z, then rotations about x, y, z. All is read while a
 * ga_modal_body is created, and not needed afterwards. */
typedef struct ga_mesh {
  int n_nodes;                       /* >= 1 */
  int dofs;                          /* of each node: 3, or 6 with rotations */
  const double *position;            /* [m] [3 n_nodes] */
  const ga_sparse *mass, *stiffness; /* [dofs n_nodes] square, symmetric, with all entries of both halves */
  int n_interface;                   /* nodes that joints and forces can be attached to */
  const int *interface_node;         /* [n_interface] from 0 */
  const char *const *interface_name; /* [n_interface] the marker is "part.name" */
  int n_recovered;                   /* numbers that follow from displacements, as stresses */
  const double *recovery;            /* [n_recovered][dofs n_nodes] */
  const char *const *recovered_name; /* [n_recovered] signals of the part */
  const char *const *recovered_unit; /* [n_recovered]; NULL: none has one */
  /* Geometric stiffening: [GA_MESH_SPIN_LOADS + dofs n_interface] matrices, as large as `stiffness`; NULL:
   * none. Each is the change of stiffness by the stresses of one load on the free structure, with inertia
   * relief (inertia forces of a rigid acceleration balance the load): centrifugal forces of a spin about the
   * centre of mass with ω_i ω_j = 1 rad²/s², for xx, yy, zz, xy, xz, yz, then 1 N along x, y, z and, with
   * rotations, 1 N m about x, y, z on each interface node. An entry NULL: that load does not change it. */
  const ga_sparse *const *stiffening;
} ga_mesh;

enum { GA_MESH_SPIN_LOADS = 6 };

typedef enum ga_reduction_kind {
  GA_REDUCTION_CRAIG_BAMPTON = 0, /* static shapes of displaced interface nodes, and modes with these held */
  GA_REDUCTION_FREE               /* modes of the free structure */
} ga_reduction_kind;

typedef struct ga_reduction_opts { /* start from ga_reduction_defaults() */
  ga_reduction_kind kind;
  int modes;             /* >= 0, default 10: normal modes, with held interface or free, from the lowest on */
  double max_frequency;  /* [Hz] > 0 of these modes; default infinity */
  int n_keep;            /* 0 (default): all modes that are found are kept; or those of the following */
  const int *keep;       /* [n_keep] numbers, from 1, ascending, by their frequencies */
  int n_damping;         /* 0 (default): the part's damping; or 1, or one for each mode that is kept */
  const double *damping; /* [n_damping] [-] >= 0 ratio to critical damping */
  int no_stiffening;     /* 1: without geometric stiffening; default 0 */
} ga_reduction_opts;

/* A reduced structure: inertia, modes, and their integrals. Rigid motions are not among the modes: its frame
 * moves with mean axes, so that modes have no momentum. It may serve several parts and machines. */
typedef struct ga_modal_body ga_modal_body;

GA_API ga_reduction_opts ga_reduction_defaults(void);
/* opts may be NULL: the defaults. */
GA_API ga_status ga_modal_body_create(ga_context *ctx, const ga_mesh *mesh, const ga_reduction_opts *opts,
                                      ga_modal_body **out);
/* From the matrices that a beam's elements have where it is not loaded, with geometric stiffening unless opts
 * says otherwise, in the frame of its first section.
 * Interface nodes are at[n_interface] [m] along its axis. The beam's place, motion, loads and damping are not
 * looked at. */
GA_API ga_status ga_modal_body_create_beam(ga_context *ctx, const ga_beam_def *beam, int n_interface,
                                           const double *at, const char *const *name,
                                           const ga_reduction_opts *opts, ga_modal_body **out);
/* The mesh that it is made of: the same matrices, kept until it is destroyed. stiffening 0: without
 * ga_mesh.stiffening. */
typedef struct ga_beam_mesh ga_beam_mesh;
GA_API ga_status ga_beam_mesh_create(ga_context *ctx, const ga_beam_def *beam, int n_interface,
                                     const double *at, const char *const *name, int stiffening,
                                     ga_beam_mesh **out);
GA_API const ga_mesh *ga_beam_mesh_get(const ga_beam_mesh *mesh);
GA_API void ga_beam_mesh_destroy(ga_beam_mesh **mesh);
/* The definition of a beam of a machine, where its first section is at the start, and its length [m]; start
 * and length may be NULL. What the definition points to belongs to the machine. */
GA_API ga_status ga_machine_beam(const ga_machine *m, const char *part, ga_beam_def *out, ga_pose *start,
                                 double *length);
GA_API void ga_modal_body_destroy(ga_modal_body **body);
GA_API int ga_modal_body_n_modes(const ga_modal_body *body);
/* 1: it has geometric stiffening, and may spin as fast as its modes vibrate. */
GA_API int ga_modal_body_is_stiffened(const ga_modal_body *body);
/* [Hz] of the free body, from the lowest on; NaN: there is no mode i. */
GA_API double ga_modal_body_frequency(const ga_modal_body *body, int i);
/* [kg], [m] in the mesh's frame, [kg m²] Jxx Jyy Jzz Jxy Jxz Jyz about the centre of mass, not deformed; each
 * may be NULL. */
GA_API ga_status ga_modal_body_inertia(const ga_modal_body *body, double *mass, double centre[3],
                                       double inertia[6]);

/* A body that moves with a floating frame and deforms by modes: small deformations, motions of any size.
 * `pose` is that of the mesh's frame. A marker "name.interface" is at each interface node; joints, forces and
 * springs are attached to these, or to markers on them. The floating frame itself can only be measured. At
 * the start the body is not deformed.
 *
 * Signals besides those of rigid bodies: "strain_energy", "amplitude1", ... [m], those of the mesh's recovery
 * matrix; of markers at interface nodes "displacement_x", ... [m] and "rotation_x", ... [rad], in the axes of
 * the floating frame. */
typedef struct ga_modal_def { /* start from ga_modal_defaults() */
  const char *name;
  const ga_modal_body *body; /* borrowed, as long as the machine lives */
  ga_pose pose;              /* at the start */
  double velocity[3];        /* [m/s] of the origin of the mesh's frame, ground axes */
  double omega[3];           /* [rad/s] ground axes */
  double damping;            /* [-] >= 0: ratio to critical damping of all modes */
  double mass_damping;       /* [1/s] >= 0: Rayleigh damping, times M, */
  double stiffness_damping;  /* [s] >= 0: times K */
  ga_hold hold;
  double weight; /* as of rigid bodies */
} ga_modal_def;

GA_API ga_modal_def ga_modal_defaults(void);
GA_API ga_status ga_machine_add_modal(ga_machine *m, const ga_modal_def *def);

/* ---- Sensors and blocks -------------------------------------------------------------------------------- */

typedef enum ga_sensor_kind {
  GA_SENSOR_POSITION = 0,     /* of a frame's origin, seen from the origin of `from` */
  GA_SENSOR_VELOCITY,         /* of the origin, against the ground */
  GA_SENSOR_ACCELERATION,     /* of the origin, against the ground */
  GA_SENSOR_SPECIFIC_FORCE,   /* acceleration minus gravity, what an accelerometer shows */
  GA_SENSOR_ANGULAR_VELOCITY, /* against the ground */
  GA_SENSOR_REACTION_FORCE,   /* of a joint, on its body b */
  GA_SENSOR_REACTION_TORQUE   /* about b's origin */
} ga_sensor_kind;

/* Its signals are "name.x", "name.y", "name.z". */
typedef struct ga_sensor_def { /* start from ga_sensor_defaults() */
  const char *name;
  ga_sensor_kind kind;
  const char *of;   /* a frame, or a joint for reactions */
  const char *from; /* default "ground"; other frames for GA_SENSOR_POSITION only */
  const char *axes; /* a frame whose axes are used; default "ground" */
} ga_sensor_def;

/* An expression of t and signals as a signal of its own, "name": it is recorded, and expressions, blocks and
 * other parts may use it. Definitions may refer to each other in any order; a circular one is an algebraic
 * loop, as between blocks. */
typedef struct ga_signal_def { /* start from ga_signal_defaults() */
  const char *name;
  const char *expression; /* "motor.force*hinge.angle_rate" */
  const char *unit;       /* "W"; checked as far as units are known. NULL: by its signals, else none */
} ga_signal_def;

/* An initial guess of a signal, for the iteration that finds accelerations, reactions and outputs at the
 * start. Without guesses it begins with 0, and with the values of other signals that follow from 0. If there
 * are several solutions, the one near the guess is found. Possible for signals that an expression, force or
 * block uses and that positions and velocities do not determine: reactions ("hinge.fx", "drive.force",
 * "wheel.normal", those of sensors), accelerations, outputs of blocks. */
typedef struct ga_guess_def { /* start from ga_guess_defaults() */
  const char *name;
  const char *signal;
  double value; /* in the signal's unit */
} ga_guess_def;

GA_API ga_sensor_def ga_sensor_defaults(void);
GA_API ga_signal_def ga_signal_defaults(void);
GA_API ga_guess_def ga_guess_defaults(void);
GA_API ga_status ga_machine_add_sensor(ga_machine *m, const ga_sensor_def *def);
GA_API ga_status ga_machine_add_signal(ga_machine *m, const ga_signal_def *def);
GA_API ga_status ga_machine_add_guess(ga_machine *m, const ga_guess_def *def);
/* inputs[ga_block_n_in(block)]. The block belongs to the machine afterwards, also on failure. Its outputs are
 * the signal "name" (one output) or "name.y1", "name.y2", ...; its states are "name.x1", .... Names given by
 * the block itself are not used. */
GA_API ga_status ga_machine_add_block(ga_machine *m, const char *name, ga_control_block *block,
                                      const ga_input *inputs);

/* ---- Variables and events ------------------------------------------------------------------------------ */

/* A number that events may set, and expressions use by its name: the state of an integrator without input. */
typedef struct ga_variable_def { /* start from ga_variable_defaults() */
  const char *name;
  double value; /* at the start, in SI units */
} ga_variable_def;

typedef enum ga_event_direction {
  GA_DIRECTION_BOTH = 0,
  GA_DIRECTION_RISING, /* the expression rises through 0 */
  GA_DIRECTION_FALLING
} ga_event_direction;

/* An event: an expression of t and signals that passes through 0. It may use every signal except the energies
 * that a meter sums up along a run. What happens is recorded with its time; `set` changes a number, and the
 * run restarts behind it, so that order 2 is kept. Several events at one time act in the order in which they
 * were added; the expressions of all of them are evaluated with the state before. */
typedef struct ga_event_def { /* start from ga_event_defaults() */
  const char *name;
  const char *when; /* the expression: "ball.z - 0.1" */
  ga_event_direction direction;
  const char *set; /* what is changed: a variable, a state of a block ("lag.x1"), an integrator by its name, a
                      rate of a joint's coordinate or scalar body, a component of a body's velocity or angular
                      velocity. Velocities change as by an impulse along the one that is set: other velocities
                      follow from the inertia and the joints. NULL: nothing */
  const char *to;  /* expression of t and signals for its new value; needed with `set` */
  int restart;     /* 1: the run restarts here although nothing is set */
  int stop;        /* 1: the run ends here */
} ga_event_def;

GA_API ga_variable_def ga_variable_defaults(void);
GA_API ga_event_def ga_event_defaults(void);
GA_API ga_status ga_machine_add_variable(ga_machine *m, const ga_variable_def *def);
GA_API ga_status ga_machine_add_event(ga_machine *m, const ga_event_def *def);

/* ---- Building ------------------------------------------------------------------------------------------ */

/* Resolves names and creates the system; afterwards no part can be added. On failure the message names the
 * part, and the machine is unchanged, so that missing parts can be added. */
GA_API ga_status ga_machine_build(ga_machine *m);
GA_API const ga_system *ga_machine_system(const ga_machine *m); /* NULL before it is built; belongs to m */
GA_API ga_context *ga_machine_context(const ga_machine *m);
/* Rigid and planar ones, points, scalars, beams and cables, without the ground. */
GA_API int ga_machine_n_bodies(const ga_machine *m);
GA_API int ga_machine_n_joints(const ga_machine *m);
/* Initial values q[nq], v[nv], x[n_x]: as given, or assembled if joints have initial values or bodies are
 * held. ga_stepper_start() makes them consistent. */
GA_API ga_status ga_machine_initial(const ga_machine *m, double *q, double *v, double *x);
/* Velocities v[nv] at the positions q, changed to others at which the machine shall begin with them, such as
 * an equilibrium: those of points stay as they are in space, angular velocities of bodies in their own axes,
 * so that wheels go on turning about their axles. The same motion in every form. */
GA_API ga_status ga_machine_move_velocities(const ga_machine *m, const double *q, const double *moved,
                                            double *v);

/* GA_ERR_INCONSISTENT where a drive's position jumps between two times, or has a corner that is not accepted;
 * the message names drive, time and remedy. Simulators refuse such drives too, when they reach that time. */
GA_API ga_status ga_machine_check_drives(const ga_machine *m, double from, double to);

/* ---- Signals ------------------------------------------------------------------------------------------- */

/* Counts energies supplied and dissipated, and turns of angles, along a run: pass every accepted state to
 * ga_meter_update(). Without a meter these energies are 0, and angles of joints in space are within (−π, π]
 * unless a spring, actuator, friction, gear, rack, screw or expression uses them. */
typedef struct ga_meter ga_meter;
/* Errors go to ctx, which need not be the machine's: each thread has a meter of its own. */
GA_API ga_status ga_meter_create(ga_context *ctx, const ga_machine *m, ga_meter **out);
GA_API void ga_meter_destroy(ga_meter **meter);
GA_API ga_status ga_meter_start(ga_meter *meter, const ga_state *s);
/* Times must not decrease. Powers are integrated by the trapezoidal rule, and within a step that was followed,
 * by its nodes. */
GA_API ga_status ga_meter_update(ga_meter *meter, const ga_state *s);
/* Looks at the powers within the last step of a stepper of this machine: energies are then as accurate as the
 * steps of methods of higher order (GA_COLLOCATION), at its end and, by ga_machine_signals(), within it. To be
 * called before ga_meter_update() with a state of that step; with other methods it does nothing. */
GA_API ga_status ga_meter_follow(ga_meter *meter, const ga_stepper *st);
/* Constraints that should act in one direction only, ropes and the contacts of rolling bodies, are computed
 * as acting in both: a wheel does not lift off, a rope does not go slack. A meter finds states in which the
 * force has the wrong sign, among those passed to it. */
typedef struct ga_pull {
  const char *part;      /* its name; valid as long as the machine */
  double since;          /* [s] the first time */
  double worst, worst_t; /* [N] the largest force of the wrong sign, > 0, and its time */
} ga_pull;
GA_API int ga_meter_n_pulls(const ga_meter *meter); /* parts with forces of the wrong sign */
GA_API ga_status ga_meter_pull(const ga_meter *meter, int i, ga_pull *out);
/* In words, a line for each, and one for each angle of a bushing that has passed half a turn in space,
 * one for each modal body that turned so fast that its stiffness is not right;
 * returns the length it needs, as snprintf does. */
GA_API int ga_meter_pull_text(const ga_meter *meter, char *text, size_t size);
/* Limits that were reached, at the states that the meter was given: stops that were hit or touched, or that something rests at,
 * dry friction that sticks, tyres that lift off, cables without any tension, outputs of blocks at an end of their range (saturation,
 * pid, integrator), valves that are closed or wide open. */
typedef struct ga_limit {
  char name[128];     /* of the part, or of its output */
  const char *words;  /* "is at its upper limit" */
  int throughout;     /* 1: at all states */
  double times;       /* how often it was reached, whether for some time or for no time */
  double first, last; /* [s] of the states at which it was reached */
} ga_limit;
GA_API int ga_meter_n_limits(const ga_meter *meter); /* those that were reached */
GA_API ga_status ga_meter_limit(const ga_meter *meter, int i, ga_limit *out);
/* Counts work [J] that was done at one time, as by an event that sets velocities, as part of energy.input. */
GA_API void ga_meter_add_input(ga_meter *meter, double work);
/* The same as part of energy.dissipated: what is lost where an event switches parts. */
GA_API void ga_meter_add_loss(ga_meter *meter, double work);
GA_API size_t ga_meter_saved_size(const ga_meter *meter); /* in doubles */
GA_API void ga_meter_save(const ga_meter *meter, double *saved);
GA_API ga_status ga_meter_load(ga_meter *meter, const double *saved);

/* Every signal of a built machine, "part.channel":
 *
 *   bodies, markers      x y z vx vy vz ax ay az wx wy wz, ground axes; roll pitch yaw, with the axes
 *                        Rz(yaw) Ry(pitch) Rx(roll), within half a turn, pitch within a quarter; bodies also
 *                        qw qx qy qz; planar bodies also angle. Points and their markers have positions only
 *   beams, cables        see ga_beam_def, ga_cable_def
 *   scalar bodies        the body's name itself, rate, acc
 *   joints               their coordinates, with _rate and _acc; fx fy fz mx my mz on body b, at the origin
 *                        of its frame, ground axes; distance and rod also tension (positive: pulls)
 *   drives, gears, racks force (on the first coordinate)
 *   springs, actuators   length (or coordinate), rate, force, with the sign of their definition
 *   friction             force (positive: makes the coordinate grow)
 *   dry friction         the same; sticks, 1 while it holds, else 0
 *   contacts             normal (positive: pushes)
 *   collisions           gap normal tangential fx fy fz x y z: see ga_collision_def
 *   rolling              normal (positive: pushes), px py pz, where it touches, fx fy fz on the body, ground
 *                        axes, tangential, the size of that along the plane. Knife edges: fx fy fz, and
 *                        tangential, positive along y
 *   rigid stops          force (of rest, not of impacts), rests, 1 while it rests at a limit, else 0
 *   stops                force (positive: makes the coordinate or the distance grow), depth (0: free)
 *   constraints          force, error: see ga_constraint_def
 *   forces at a frame    fx fy fz mx my mz, in ground axes: force, and torque about the frame's origin
 *   bushings             fx fy fz, and mx my mz if it acts on angles: positive against growing δ
 *   tyres                fx fy fz slip slip_angle camber x y z penetration: see ga_tyre_def
 *   sensors              x y z
 *   signals              the name itself
 *   blocks               the name itself, or y1 y2 ...; states x1 x2 ...
 *   energy               kinetic, potential, dissipated, input, balance
 *
 * Errors, quaternions and energies are outputs only; expressions may use all others. */
GA_API double ga_machine_gravity(const ga_machine *m); /* [m/s²] length of the vector; 0 for NULL */
/* [m] The size of a built machine at its start, whatever its distance from the origin: tolerances of positions are relative to it at
 * most (ga_system_def.scale). 0: it has none, or m is NULL or not built. */
GA_API double ga_machine_size(const ga_machine *m);
GA_API void ga_machine_gravity_vector(const ga_machine *m, double g[3]); /* [m/s²] zeros for NULL */
GA_API int ga_machine_n_signals(const ga_machine *m);
GA_API const char *ga_machine_signal_name(const ga_machine *m,
                                          int i); /* as long as m; NULL: no such i, or no memory */
GA_API const char *ga_machine_signal_unit(const ga_machine *m, int i);    /* "m/s"; "" where it has none */
GA_API int ga_machine_find_signal(const ga_machine *m, const char *name); /* −1: there is none */

/* What a signal is, independent of its name and unit. */
typedef enum ga_signal_kind {
  GA_SIGNAL_NONE = 0,     /* there is no such signal */
  GA_SIGNAL_COORDINATE,   /* of a joint, a scalar body, a planar body's angle; the length of a line */
  GA_SIGNAL_POSITION,     /* a component of a position */
  GA_SIGNAL_ORIENTATION,  /* a component of a quaternion */
  GA_SIGNAL_RATE,         /* of a coordinate, or a component of a velocity or an angular velocity */
  GA_SIGNAL_ACCELERATION, /* likewise; specific forces too */
  GA_SIGNAL_BLOCK,        /* an output or a state of a block */
  GA_SIGNAL_FORCE,        /* of a spring, actuator, friction, bushing, contact, drive, gear, rack, rolling,
                             constraint */
  GA_SIGNAL_REACTION,     /* a component of a joint's reaction */
  GA_SIGNAL_ENERGY,
  GA_SIGNAL_ERROR /* of a constraint: the value of its expression, 0 but for rounding */
} ga_signal_kind;
GA_API ga_signal_kind ga_machine_signal_kind(const ga_machine *m, int i);
/* 1: the signal has one value in every motion, up to rounding, by what the machine is made of: z of a planar body, the reactions
 * that a planar joint cannot have, the output of a constant block, a marker on the ground. 0: it may change; no such signal. */
GA_API int ga_machine_signal_is_constant(const ga_machine *m, int i);
/* Values of n signals at a state; index NULL: all of them. meter may be NULL. */
GA_API ga_status ga_machine_signals(const ga_machine *m, const ga_meter *meter, const ga_state *s, int n,
                                    const int *index, double *out);

/* The events of a built machine, in the order in which they were added. */
GA_API int ga_machine_n_events(const ga_machine *m);
GA_API const char *ga_machine_event_name(const ga_machine *m, int i); /* NULL: no such i */
GA_API int ga_machine_event_changes(const ga_machine *m, int i); /* 1: it has `set`, or it restarts the run */

/* Watches the events of a machine along one run. */
typedef struct ga_event_watch ga_event_watch;
/* Event number `event` has happened at s, the state before its changes; non-zero stops the run. */
typedef int (*ga_event_seen_fn)(void *user, int event, const ga_state *s);
/* Errors go to ctx; each thread has a watch of its own. seen may be NULL. */
GA_API ga_status ga_event_watch_create(ga_context *ctx, const ga_machine *m, ga_event_seen_fn seen,
                                       void *user, ga_event_watch **out);
GA_API void ga_event_watch_destroy(ga_event_watch **watch);
/* Makes a simulator created with *opts watch the events: sets events, event_names, event_function, on_event
 * and event_user, in place of others. The watch must outlive the simulator. */
GA_API void ga_event_watch_use(ga_event_watch *watch, ga_simulate_opts *opts);
GA_API int
ga_event_watch_stopped_by(const ga_event_watch *watch); /* the event that ended the run; −1: none */
/* 1: an event has switched a part on or off since the last call. */
GA_API int ga_event_watch_switched(ga_event_watch *watch);
/* Values of all event expressions at a state, g[ga_machine_n_events()]. */
GA_API ga_status ga_event_watch_values(ga_event_watch *watch, const ga_state *s, double *g);

/* The events of a machine at other values of parameters, for ga_sensitivity_use_events(). */
typedef struct ga_event_variants ga_event_variants;
/* at[n × GA_PARAMETER_VALUES]: the machine at the values of each parameter. The machines must outlive it.
 * Errors go to ctx, that of the sensitivity. Refused: other events there. */
GA_API ga_status ga_event_variants_create(ga_context *ctx, const ga_machine *m, int n,
                                          const ga_machine *const *at, ga_event_variants **out);
GA_API void ga_event_variants_destroy(ga_event_variants **variants);
/* The rule that follows from them, which must outlive its use. */
GA_API ga_event_rule ga_event_variants_rule(ga_event_variants *variants);

/* After a start of kinematics that was refused because motions are free: coordinates of joints and scalar
 * bodies that determine the motion once they are prescribed, "shoulder.angle, elbow.angle", into text.
 * Returns the length it needs, as snprintf does; 0: none is known, for example of bodies without joints. */
GA_API int ga_machine_free_coordinates(const ga_machine *m, ga_kinematics *k, char *text, size_t size);

/* ---- Linear models between named inputs and outputs ----------------------------------------------------
 *
 *   dx/dt = A x + B u,   y = C x + D u      x, u, y: small changes about a state
 *
 * Inputs, by name: outputs of blocks, "lag" or "lag.y2", and signals that an expression, force or block uses,
 * "hinge.angle": u is added to the signal, as a disturbance that everything using it sees. For an external
 * force, let the force be the output of a block, for example of a constant 0. And drives: "crank" is the
 * acceleration of a motion that is added to the drive's; its position and rate, "crank.offset" and
 * "crank.offset_rate", are two states. Outputs: all signals but energies that are counted along a run.
 * States: an independent set of the coordinates and velocities of bodies, chosen so that the others are
 * determined well by them; then states of blocks, and those of drives. ga_linearisation says what the result
 * means if the state is not a steady motion. */

typedef struct ga_state_space {
  int n, n_u, n_y;
  const double *A, *B, *C, *D; /* by rows: [n][n], [n][n_u], [n_y][n], [n_y][n_u] */
  const char *const *state, *const *input, *const *output;                /* names */
  const char *const *state_unit, *const *input_unit, *const *output_unit; /* "" where it has none */
  double t;                                                               /* [s] of the state */
  double residual, unsteady, independence;                                /* as in ga_linear_form */
} ga_state_space;

typedef struct ga_machine_linearisation ga_machine_linearisation;

/* 1: there is an input of this name; out and unit (that of u) may be NULL. */
GA_API int ga_machine_find_input(const ga_machine *m, const char *name, ga_linear_input *out,
                                 const char **unit);
/* GA_ERR_ARGUMENT for an unknown name, or one that cannot be an input or output. Errors go to ctx. */
GA_API ga_status ga_machine_linearisation_create(ga_context *ctx, const ga_machine *m, int n_inputs,
                                                 const char *const *inputs, int n_outputs,
                                                 const char *const *outputs, ga_machine_linearisation **out);
GA_API void ga_machine_linearisation_destroy(ga_machine_linearisation **lin);
/* Linearises about a state, for example that of a stepper. *out: valid until the next call; NULL on failure.
 * GA_ERR_DERIVATIVE: an output has a kink or jump there. */
GA_API ga_status ga_machine_linearisation_compute(ga_machine_linearisation *lin, const ga_state *s,
                                                  const ga_state_space **out);

/* Derivatives of n signals (index NULL: all) at s in the direction d of the state, for example the real or
 * imaginary shape of a mode, by differences of order 4. */
GA_API ga_status ga_machine_signal_slopes(const ga_machine *m, const ga_state *s, const ga_direction *d,
                                          int n, const int *index, double *out);

/* Derivatives of n signals (index NULL: all) by a parameter: along the derivative d of the state at s, and, if `at` is
 * not NULL, by the machines at p − 2 step, p − step, p + step, p + 2 step at the same state; d NULL: by these alone. Differences of order 4;
 * angles may pass π. Outputs are those of the state, within steps too. GA_ERR_DERIVATIVE: a signal has a corner or a jump there, which the message names. */
GA_API ga_status ga_machine_signal_sensitivities(const ga_machine *m, const ga_machine *const at[GA_PARAMETER_VALUES],
                                                 double step, const ga_state *s, const ga_direction *d, int n,
                                                 const int *index, double *out);

/* Derivatives of n signals (index NULL: all) by time at the same state: 0 but for those whose expressions
 * contain t, or functions of it. By differences of order 4, over parts of `span` [s]. GA_ERR_DERIVATIVE: as
 * above. */
GA_API ga_status ga_machine_signal_rates(const ga_machine *m, double span, const ga_state *s, int n,
                                         const int *index, double *out);

/* out += Σ weight[i] times the derivatives of signal index[i] by everything that a state at s consists of, q in the
 * algebra: the transpose of the above without `at`, as seeds of an adjoint (ga_adjoint_gradient()) need it. Exact where
 * the signal could be an output of the system; by differences along every coordinate for energies, quaternions and
 * accelerations of coordinates, for all signals of forms other than GA_FORM_SPACE, and of machines with frames on
 * deformable bodies. */
GA_API ga_status ga_machine_signal_gradient(const ga_machine *m, const ga_state *s, int n, const int *index,
                                            const double *weight, const ga_seed *out);

/* ---- Steady turning (galpha/core.h) of a machine as a whole ----------------------------------------------
 */

typedef struct ga_machine_turning ga_machine_turning;
/* The turning about a fixed axis that the velocities v at q belong to: those of the body nearest to the axis,
 * which all others must share to 1 %; coordinates of scalars go on as v has them. Borrows the machine.
 * GA_ERR_INCONSISTENT: nothing turns, or a body moves otherwise, which the message names. Errors go to ctx.
 */
GA_API ga_status ga_machine_turning_create(ga_context *ctx, const ga_machine *m, const double *q,
                                           const double *v, ga_machine_turning **out);
GA_API void ga_machine_turning_destroy(ga_machine_turning **turning);
GA_API const ga_turning *ga_machine_turning_get(const ga_machine_turning *turning); /* lives as long as it */
/* Angular velocity [rad/s] and a point of the axis [m]; either may be NULL. */
GA_API void ga_machine_turning_axis(const ga_machine_turning *turning, double omega[3], double point[3]);

/* Pose of a frame at a state. */
GA_API ga_status ga_machine_pose(const ga_machine *m, const ga_state *s, const char *frame, ga_pose *pose);

/* ---- Drawing: shapes of a machine's parts at a state, each with one or two ends ------------------------ */

typedef enum ga_shape_kind {
  GA_SHAPE_FRAME = 0, /* axes, at its end */
  GA_SHAPE_POINT,     /* a mass point */
  GA_SHAPE_LINE,      /* from end to end: a rod, an actuator, a body from its frame to a marker */
  GA_SHAPE_COIL,      /* a spring, from end to end */
  GA_SHAPE_JOINT,     /* at the frame b, with the axes of that; the other end, if it has one, is a */
  GA_SHAPE_ARROW,     /* a force at its end */
  GA_SHAPE_SPHERE,    /* of radius `size`, about its end */
  GA_SHAPE_DISK,      /* of radius `size`, about z of its end */
  GA_SHAPE_PLANE,     /* z = 0 of its end */
  GA_SHAPE_BEAM,      /* a piece of a beam between two sections, x along it; `size`: half of its thickness */
  GA_SHAPE_CABLE,     /* a piece of a cable from end to end, of radius `size` */
  GA_SHAPE_WHEEL,     /* of radius `size`, about y of its end */
  GA_SHAPE_BOX,       /* with the sides `dimension`, about its end */
  GA_SHAPE_CYLINDER,  /* of radius `size` and length dimension[0], along z, about its end */
  GA_SHAPE_CAPSULE,   /* the same with half spheres at both ends, length without these */
  GA_SHAPE_TUBE,      /* a cylinder with a hole of radius dimension[1] */
  GA_SHAPE_CONE,      /* along z; radius `size` at −length/2, dimension[1] at length/2 */
  GA_SHAPE_MESH       /* points and triangles in the axes of its end */
} ga_shape_kind;

typedef struct ga_shape {
  ga_shape_kind kind;
  const char *part;          /* the part it belongs to; the text belongs to the machine */
  int n_ends;                /* 1 or 2; with one, end[1] is equal to end[0] */
  ga_pose end[2];            /* in the ground's frame */
  double size;               /* [m]; 0: it has none of its own */
  double dimension[3];       /* [m] of solids; GA_SHAPE_DISK: dimension[0] is its width, 0: thin */
  double section[4];         /* [m] GA_SHAPE_BEAM: width and height, y and z of the section; of an I also web and flange; 0: round, or
                                given by numbers */
  int given;                 /* 1: by ga_machine_add_shape(): the body looks so */
  int colour;                /* 0xrrggbb; −1: none of its own */
  double opacity;            /* [-] of given ones */
  int n_points, n_triangles; /* GA_SHAPE_MESH */
  const double *points;      /* [m] [n_points × 3], before `scale`; they belong to the machine */
  const double *triangles;   /* [n_triangles × 3] numbers of points */
  double scale;              /* factor of points */
  int on[2];                 /* the movers (below) that the ends are fixed to */
  const char *type;          /* what the part is: "revolute", "spring", "rigid body" */
} ga_shape;

/* Strain and force in the middle of a piece of a beam or cable, a shape i of kind GA_SHAPE_BEAM or
 * GA_SHAPE_CABLE, by the positions of a state alone: strain along x, shear y, z, twist, bending about y, z
 * [-, rad/m]; force [N] and moment [N m] in its axes. Of cables the first ones. */
typedef struct ga_piece_load {
  double strain[6], force[6];
} ga_piece_load;
/* All pieces, in the order of their shapes; n: how many out has room for. Returns how many there are; out
 * NULL or n 0: only this. Loads that cannot be computed are NaN. */
GA_API int ga_machine_piece_loads(const ga_machine *m, const ga_state *s, int n, ga_piece_load *out);
/* A beam or cable whose elements are too few for a mode. */
typedef struct ga_coarse_part {
  const char *part;
  int elements; /* that it has */
  int mode;     /* index of the first mode that they do not resolve, */
  double error; /* and the relative error of its |s|, roughly; 1: that or more */
  int n_modes;  /* how many modes they do not resolve */
  int needed;   /* elements that all of these need */
} ga_coarse_part;
/* Whether modes about a state are resolved by the elements of beams and cables: lists parts by whose elements
 * |s| of a mode is off by more than 0.5 %, estimated from what shorter elements would change. Each is a
 * warning in the log, GA_REASON_MODE_NOT_RESOLVED. *n (may be NULL): how many there are; out (may be NULL) has
 * room for `room` of them. */
GA_API ga_status ga_machine_check_modes(const ga_machine *m, const ga_state *s, const ga_modes *modes,
                                        int room, ga_coarse_part *out, int *n);
/* Height [m] of the road that shape i, a GA_SHAPE_PLANE, belongs to, over x and y of its frame; 0 for other
 * planes. *varies (may be NULL): 1 if it has an expression. GA_ERR_ARGUMENT: it has no value there. */
GA_API ga_status ga_machine_road_height(const ga_machine *m, int i, double t, double x, double y, double *z,
                                        int *varies);

/* Name of part i, 0 being the ground, in the order in which parts were added; NULL: there is none. *type (may be
 * NULL): what it is, as in ga_shape; of blocks "pid", "transfer_function". Texts belong to the machine. */
GA_API const char *ga_machine_part(const ga_machine *m, int i, const char **type);
GA_API int ga_machine_n_shapes(const ga_machine *m); /* 0 before it is built */
GA_API ga_status ga_machine_shape(const ga_machine *m, const ga_state *s, int i, ga_shape *out);

/* Movers: what moves as a rigid whole, and what ends of shapes are fixed to. Number 0 is the ground; the
 * others are bodies, mass points, sections of beams, points of cables and frames on deformable parts. */
typedef struct ga_mover {
  const char *part;  /* the part it belongs to; the text belongs to the machine */
  int number;        /* 1, 2, ...: of a part with several; 0: the only one */
  int has_pose;      /* 0: a coordinate without a place in space */
  int planar, point; /* 1: a planar body; a mass point, whose axes are those of the ground */
  double mass;       /* [kg] */
  double inertia[6]; /* [kg m²] xx, yy, zz, xy, xz, yz about its origin, the centre of mass, in its axes; of
                        planar ones zz alone */
} ga_mover;
GA_API int ga_machine_n_movers(const ga_machine *m); /* with the ground; 0 before it is built */
GA_API ga_status ga_machine_mover(const ga_machine *m, int i, ga_mover *out);
/* Pose of a mover in the ground's frame; that of one without a pose is the ground's. */
GA_API ga_status ga_machine_mover_pose(const ga_machine *m, const ga_state *s, int i, ga_pose *out);

/* Places: the numbers that determine where all movers are, by which states are drawn that were recorded
 * elsewhere. Those of bodies are their signals: "crank.x", "crank.y", "crank.angle"; x, y, z, qw, qx, qy, qz
 * of rigid bodies; "plate.amplitude2". Sections and points along beams and cables have a number: "beam.x:3";
 * of the first one it is left out. */
GA_API int ga_machine_n_places(const ga_machine *m); /* 0 before it is built */
/* Returns the length it needs, as snprintf does; size 0: nothing is written. 0: there is no such number. */
GA_API int ga_machine_place_name(const ga_machine *m, int i, char *text, size_t size);
GA_API ga_status ga_machine_places(const ga_machine *m, const ga_state *s, double *out /* [n_places] */);
/* Writes the coordinates q that belong to places, which need not be complete: NaN leaves all coordinates of
 * that mover as they are in q. Quaternions may have any length but 0. */
GA_API ga_status ga_machine_from_places(const ga_machine *m, const double *places, double *q);
/* Force and torque of a joint on its body b, at the origin of b's frame, in the axes of a frame (NULL:
 * ground). *unique (may be NULL): 0 if redundant constraints leave the reaction undetermined; it is then the
 * one of least norm. */
GA_API ga_status ga_machine_reaction(const ga_machine *m, ga_stepper *st, const char *joint, const char *axes,
                                     double force[3], double torque[3], int *unique);
/* Mobility, and redundant constraints in words ("hinge3: rotation about y is already fixed by hinge1 and
 * hinge2"), of a stepper that was started; returns the length it needs, as snprintf does. */
GA_API int ga_machine_report(const ga_machine *m, ga_stepper *st, char *text, size_t size);
/* ga_machine_moves: by how much bodies were moved from their given poses by the start of a stepper, one line
 * each, largest first, "rocker was moved by 0.012 m and turned by 0.3 rad (17.2 deg)"; then the given
 * velocities that were changed; empty if nothing was. ga_machine_coordinates: the coordinates of joints after
 * the start with their rates; given ones are marked. Both return the length they need, as snprintf does. */
GA_API int ga_machine_moves(const ga_machine *m, const ga_stepper *st, char *text, size_t size);
GA_API int ga_machine_coordinates(const ga_machine *m, const ga_stepper *st, char *text, size_t size);
/* Advice after a start that was refused because positions do not meet a joint or a drive: the probable cause
 * in one line, "joint 'hinge' has no `at`: ...", from the context's last error. Returns the length it needs,
 * as snprintf does; 0: there is no advice. */
GA_API int ga_machine_start_advice(const ga_machine *m, const ga_error *error, char *text, size_t size);
/* An equation of a built machine in words, "joint 'wrist': position along y", "planar body 'rod': force along
 * x", into text; returns the unit of its residual, "" where it has none. */
GA_API const char *ga_machine_equation(const ga_machine *m, ga_equation_block block, int index, char *text,
                                       size_t size);
/* Report of a failed step (ga_stepper_failure), one fact per line: when and why it failed, the equations with
 * the largest residuals with their parts, values and units, the part with the largest force there, and the
 * positions that drives prescribe. Returns the length it needs, as snprintf does; 0: no step failed. The
 * context's error is not changed. */
GA_API int ga_machine_failure(const ga_machine *m, ga_stepper *st, char *text, size_t size);

#ifdef __cplusplus
}
#endif
#endif
