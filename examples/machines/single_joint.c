/* One body of 1 kg on one joint, or on one spring, from rest: after the validation cases of Chrono and ADAMS.
 * The centre of mass is at the joint plus R (2, 0, 0), R the joint's axes. Compared are position,
 * orientation, velocities, acceleration and the force of the joint, m (a − g) on the body. */
#include "machine.h"
#include <math.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

typedef struct single {
  int kind; /* ga_joint_kind; −1: a spring along a line */
  double at[3], angle;
  int torsion;
} single;

enum { REV1, REV2, SPH1, SPH2, PRI1, PRI2, PRI3, TORSION1, LINE2 };
static const single cases[] = {
    [REV1] = {GA_JOINT_REVOLUTE, {0, 0, 0}, -90, 0},
    [REV2] = {GA_JOINT_REVOLUTE, {1, 2, 3}, -45, 0},
    [SPH1] = {GA_JOINT_SPHERICAL, {0, 0, 0}, 0, 0},
    [SPH2] = {GA_JOINT_SPHERICAL, {1, 2, 3}, -45, 0},
    [PRI1] = {GA_JOINT_PRISMATIC, {0, 0, 0}, 0, 0},
    [PRI2] = {GA_JOINT_PRISMATIC, {1, 2, 3}, -45, 0},
    [PRI3] = {GA_JOINT_PRISMATIC, {1, 2, 3}, -90, 0},
    [TORSION1] = {GA_JOINT_REVOLUTE, {0, 0, 0}, -90, 1},
    [LINE2] = {-1, {1, 2, 3}, 0, 0},
};

static void body_add(mx_builder *b, ga_pose pose)
{
  static const double J[3] = {0.04, 0.1, 0.1};
  ga_rigid_def d = ga_rigid_defaults();
  d.name = "body";
  d.mass = 1.0;
  memcpy(d.inertia, J, sizeof J);
  d.pose = pose;
  mx_add(b, rigid, &d);
}

static void build(const mx_machine *self, mx_builder *b)
{
  static const double x_axis[3] = {1, 0, 0};
  const single *s = &cases[self->variant];
  const ga_pose joint = mx_pose_turned(b, s->at, x_axis, s->angle * pi / 180), arm = ga_pose_at(2, 0, 0);
  body_add(b, mx_pose_compose(&joint, &arm));
  mx_joint_at(b, "joint", (ga_joint_kind)s->kind, "ground", "body", joint);
  if (s->torsion) {
    ga_spring_def d = ga_spring_defaults();
    d.name = "spring";
    d.coordinate = "joint.angle";
    d.stiffness = 200;
    d.damping = 10;
    mx_add(b, spring, &d);
  }
}

/* The reference moves without turning, as a body does whose centre of mass is where the spring holds it; its
 * positions count from the spring's end on the ground. */
static void build_line(const mx_machine *self, mx_builder *b)
{
  const double *at = cases[self->variant].at;
  ga_spring_def d = ga_spring_defaults();
  body_add(b, ga_pose_at(at[0], at[1] + 2, at[2]));
  mx_marker(b, "anchor", "ground", ga_pose_at(at[0], at[1], at[2]));
  d.name = "spring";
  d.a = "anchor";
  d.b = "body";
  d.stiffness = 100;
  d.damping = 5;
  mx_add(b, spring, &d);
}

#define MOTION(position, velocity)                                                                           \
  {"body.x", "x", 0, 0, position, 2}, {"body.y", "y", 0, 0, position, 2},                                    \
      {"body.z", "z", 0, 0, position, 2}, {"abs(body.qw)", "abs(q0)", 0, 0, position, 0},                    \
      {"abs(body.qx)", "abs(q1)", 0, 0, position, 0}, {"abs(body.qy)", "abs(q2)", 0, 0, position, 0},        \
      {"abs(body.qz)", "abs(q3)", 0, 0, position, 0}, {"body.vx", "vx", 0, 0, velocity, 2},                  \
      {"body.vy", "vy", 0, 0, velocity, 2}, {"body.vz", "vz", 0, 0, velocity, 2},                            \
      {"body.wx", "wx", 0, 0, velocity, 2}, {"body.wy", "wy", 0, 0, velocity, 2},                            \
      {"body.wz", "wz", 0, 0, velocity, 2}, {"body.ax", "ax", 0, 0, 10 * velocity, 2},                       \
      {"body.ay", "ay", 0, 0, 10 * velocity, 2},                                                             \
  {                                                                                                          \
    "body.az", "az", 0, 0, 10 * velocity, 2                                                                  \
  }
#define REACTION(force)                                                                                      \
  {"joint.fx", "ax", 0, 0, force, 2}, {"joint.fy", "ay", 0, 0, force, 2},                                    \
  {                                                                                                          \
    "joint.fz", "az + 9.80665", 0, 0, force, 2                                                               \
  }

#define SINGLE(name_, title_, variant_, file_, motion_, velocity_, mobility_, short_)                        \
  const mx_machine mx_##name_ = {                                                                            \
      .name = #name_,                                                                                        \
      .title = title_,                                                                                       \
      .gravity = {0, 0, -9.80665},                                                                           \
      .build = build,                                                                                        \
      .variant = variant_,                                                                                   \
      .t_end = 5.0,                                                                                          \
      .h = 1e-3,                                                                                             \
      .rho = 0.8,                                                                                            \
      .file = file_,                                                                                         \
      .reference = {MOTION(motion_, velocity_), REACTION(10 * velocity_)},                                   \
      .energy = 1e-3,                                                                                        \
      .mobility = mobility_,                                                                                 \
      .redundant = 0,                                                                                        \
      .in_short = short_,                                                                                    \
  }

SINGLE(revolute_01, "body on a revolute joint, case 01", REV1, "joint_revolute_01", 1e-4, 1e-3, 1, 1);
SINGLE(revolute_02, "body on a revolute joint, case 02", REV2, "joint_revolute_02", 1e-4, 1e-3, 1, 1);
SINGLE(spherical_01, "body on a spherical joint, case 01", SPH1, "joint_spherical_01", 1e-4, 1e-3, 3, 1);
SINGLE(spherical_02, "body on a spherical joint, case 02", SPH2, "joint_spherical_02", 1e-4, 1e-3, 3, 1);
SINGLE(prismatic_01, "body on a prismatic joint, case 01", PRI1, "joint_prismatic_01", 1e-4, 1e-3, 1, 1);
SINGLE(prismatic_02, "body on a prismatic joint, case 02", PRI2, "joint_prismatic_02", 1e-4, 1e-3, 1, 1);
SINGLE(prismatic_03, "body on a prismatic joint, case 03", PRI3, "joint_prismatic_03", 1e-4, 1e-3, 1, 1);
SINGLE(torsion_spring_01, "body on a revolute joint with a torsion spring, case 01", TORSION1,
       "joint_torsionspring_01", 1e-4, 1e-3, 1, 1);

const mx_machine mx_line_spring_02 = {
    .name = "line_spring_02",
    .title = "body on a spring along a line, case 02",
    .gravity = {0, 0, -9.80665},
    .build = build_line,
    .variant = LINE2,
    .t_end = 5.0,
    .h = 1e-3,
    .rho = 0.8,
    .file = "joint_linespring_02",
    .reference = {{"body.x - 1", "x", 0, 0, 1e-4, 0},
                  {"body.y - 2", "y", 0, 0, 1e-4, 2},
                  {"body.z - 3", "z", 0, 0, 1e-4, 2},
                  {"body.vy", "vy", 0, 0, 1e-3, 2},
                  {"body.vz", "vz", 0, 0, 1e-3, 2},
                  {"body.ay", "ay", 0, 0, 1e-2, 2},
                  {"body.az", "az", 0, 0, 1e-2, 2},
                  {"-spring.force*(body.y - 2)/spring.length", "ay", 0, 0, 1e-2, 2},
                  {"-spring.force*(body.z - 3)/spring.length", "az + 9.80665", 0, 0, 1e-2, 2}},
    .energy = 1e-3,
    .mobility = 6,
    .redundant = 0,
    .in_short = 1,
};
