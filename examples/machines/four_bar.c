/* four_bar and four_bar_3d: a crank of 0.4 m, a coupler of 1.0 m and a rocker of 0.8 m on pins 1.0 m apart,
 * of planar bodies, and of rigid bodies with four revolute joints. In space the twenty constraints of the
 * joints have three too many: they hold the bodies in the plane more than once. The motion is the same. */
#include "machine.h"
#include <math.h>
#include <string.h>

enum { PLANAR, SPATIAL };

static const double crank = 0.4, coupler = 1.0, rocker = 0.8, base = 1.0; /* [m] */
static const double start_angle = 1.0;                                    /* [rad] of the crank */

/* A thin bar of 1 kg/m from one point to another. */
static void bar_add(mx_builder *b, int variant, const char *name, const double from[2], const double to[2],
                    double length, double angle)
{
  static const double z_axis[3] = {0, 0, 1};
  const double at[3] = {0.5 * (from[0] + to[0]), 0.5 * (from[1] + to[1]), 0}, cube = pow(length, 3);
  ga_planar_def p = ga_planar_defaults();
  ga_rigid_def r = ga_rigid_defaults();
  if (variant == PLANAR) {
    p.name = name;
    p.mass = length;
    p.inertia = cube / 12;
    memcpy(p.position, at, sizeof p.position);
    p.angle = angle;
    mx_add(b, planar, &p);
  } else {
    r.name = name;
    r.mass = length;
    r.inertia[0] = 0.01 * cube / 12;
    r.inertia[1] = r.inertia[2] = cube / 12;
    r.pose = mx_pose_turned(b, at, z_axis, angle);
    mx_add(b, rigid, &r);
  }
}

static void build(const mx_machine *self, mx_builder *b)
{
  /* the upper end of the rocker: on circles about the crank's end and the rocker's pin */
  const double P[2] = {crank * cos(start_angle), crank * sin(start_angle)}, A[2] = {0, 0}, B[2] = {base, 0};
  const double d = hypot(B[0] - P[0], B[1] - P[1]), e[2] = {(B[0] - P[0]) / d, (B[1] - P[1]) / d};
  const double along = (coupler * coupler - rocker * rocker + d * d) / (2 * d),
               up = sqrt(coupler * coupler - along * along);
  const double Q[2] = {P[0] + along * e[0] - up * e[1], P[1] + along * e[1] + up * e[0]};
  bar_add(b, self->variant, "crank", A, P, crank, start_angle);
  bar_add(b, self->variant, "coupler", P, Q, coupler, atan2(Q[1] - P[1], Q[0] - P[0]));
  bar_add(b, self->variant, "rocker", B, Q, rocker, atan2(Q[1] - B[1], Q[0] - B[0]));
  mx_joint_at(b, "A", GA_JOINT_REVOLUTE, "ground", "crank", ga_pose_at(A[0], A[1], 0));
  mx_joint_at(b, "P", GA_JOINT_REVOLUTE, "crank", "coupler", ga_pose_at(P[0], P[1], 0));
  mx_joint_at(b, "Q", GA_JOINT_REVOLUTE, "coupler", "rocker", ga_pose_at(Q[0], Q[1], 0));
  mx_joint_at(b, "B", GA_JOINT_REVOLUTE, "ground", "rocker", ga_pose_at(B[0], B[1], 0));
}

const mx_machine mx_four_bar = {
    .name = "four_bar",
    .title = "four-bar of planar bodies",
    .gravity = {0, -9.81, 0},
    .build = build,
    .variant = PLANAR,
    .t_end = 5.0,
    .h = 2e-3,
    .rho = 0.8,
    .energy = 1e-2,
    .mobility = 1,
    .redundant = 0,
    .in_short = 1,
};

const mx_machine mx_four_bar_3d = {
    .name = "four_bar_3d",
    .title = "four-bar of rigid bodies and four revolute joints, three constraints too many",
    .gravity = {0, -9.81, 0},
    .build = build,
    .variant = SPATIAL,
    .t_end = 5.0,
    .h = 2e-3,
    .rho = 0.8,
    .twin = "four_bar",
    .reference = {{"A.angle", "A.angle", 0, 0, 1e-8, 0},
                  {"A.angle_rate", "A.angle_rate", 0, 0, 1e-7, 0},
                  {"coupler.x", "coupler.x", 0, 0, 1e-8, 0},
                  {"coupler.y", "coupler.y", 0, 0, 1e-8, 0},
                  {"coupler.ay", "coupler.ay", 0, 0, 1e-6, 0},
                  {"abs(coupler.z) + abs(coupler.wx) + abs(coupler.wy)", "0", 0, 0, 1e-9, 0},
                  {"A.fx", "A.fx", 0, 0, 1e-6, 0},
                  {"A.fy", "A.fy", 0, 0, 1e-6, 0},
                  {"B.fx", "B.fx", 0, 0, 1e-6, 0},
                  {"B.fy", "B.fy", 0, 0, 1e-6, 0}},
    .energy = 1e-2,
    .mobility = 1,
    .redundant = 3,
    .report = "B: position along z is already fixed by A, P and Q",
    .in_short = 1,
};
