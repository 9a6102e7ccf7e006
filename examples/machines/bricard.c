/* bricard: problem A04 of the IFToMM benchmarks. Five uniform rods, 1 kg, 1 m, 0.1 m × 0.1 m, and six
 * revolute joints close a loop along the edges of a cube. Its thirty constraints on thirty velocities leave
 * one motion, since one constraint follows from the others wherever the linkage is. */
#include "machine.h"
#include <stdio.h>

enum { N_RODS = 5 };

static const double mass = 1.0, side = 0.1, length = 1.0; /* [kg], [m] of the section, [m] */

static const double corner[N_RODS + 1][3] = {{0, 0, 0},  {1, 0, 0},  {1, -1, 0},
                                             {1, -1, 1}, {0, -1, 1}, {0, 0, 1}};
static const double axis[N_RODS + 1][3] = {{0, 1, 0}, {0, 0, 1}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 0, 0}};

/* A rod from one corner to the next, parallel to the ground's axes. */
static void rod_add(mx_builder *b, const char *name, const double from[3], const double to[3])
{
  ga_rigid_def d = ga_rigid_defaults();
  d.name = name;
  d.mass = mass;
  for (int i = 0; i < 3; i++) {
    d.pose.position[i] = 0.5 * (from[i] + to[i]);
    d.inertia[i] =
        from[i] != to[i] ? mass * 2 * (side * side) / 12 : mass * (length * length + side * side) / 12;
  }
  mx_add(b, rigid, &d);
}

static void build(const mx_machine *self, mx_builder *b)
{
  char rod[N_RODS + 2][24] = {"ground"}, joint[24];
  (void)self;
  for (int i = 1; i <= N_RODS; i++) {
    snprintf(rod[i], sizeof rod[i], "rod%d", i);
    rod_add(b, rod[i], corner[i - 1], corner[i]);
  }
  snprintf(rod[N_RODS + 1], sizeof rod[0], "ground");
  for (int i = 0; i <= N_RODS; i++) {
    snprintf(joint, sizeof joint, "hinge%d", i + 1);
    mx_joint_at(b, joint, GA_JOINT_REVOLUTE, rod[i], rod[i + 1], mx_pose_axis(b, corner[i], axis[i]));
  }
  mx_marker(b, "P3", "rod2", ga_pose_at(0, -0.5, 0)); /* the third joint */
}

const mx_machine mx_bricard = {
    .name = "bricard",
    .title = "Bricard's linkage, one constraint too many (IFToMM A04)",
    .gravity = {0, -9.81, 0},
    .build = build,
    .t_end = 10.0,
    .h = 1e-3,
    .rho = 0.95,
    .file = "A04_bricard",
    .reference = {{"P3.x", "P3x", 10, 0.999730987304, 1e-5, 2},
                  {"P3.y", "P3y", 10, -0.999999963826, 2e-6, 2},
                  {"P3.z", "P3z", 10, -0.000268976512, 1e-5, 2},
                  {"P3.vx", "P3vx", 0, 0, 2e-5, 2},
                  {"P3.vy", "P3vy", 0, 0, 2e-5, 2},
                  {"P3.vz", "P3vz", 0, 0, 2e-5, 2}},
    .energy = 1e-5,
    .mobility = 1,
    .redundant = 1,
    .report = "hinge6: rotation about y is already fixed by hinge1, hinge2, hinge3, hinge4 and hinge5",
    .in_short = 0,
};
