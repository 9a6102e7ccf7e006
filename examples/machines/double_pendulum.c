/* double_pendulum: two steel boxes of 0.5 m × 0.06 m × 0.06 m, hinged to each other and to the ground about
 * z, released from the horizontal with a damper in the first hinge. */
#include "machine.h"

static void box_add(mx_builder *b, const char *name, double x)
{
  static const double side = 0.06, length = 0.5;
  ga_rigid_def d = ga_rigid_defaults();
  d.name = name;
  d.mass = 7700.0 * length * side * side;
  d.inertia[0] = d.mass * 2 * side * side / 12;
  d.inertia[1] = d.inertia[2] = d.mass * (length * length + side * side) / 12;
  d.pose = ga_pose_at(x + 0.5 * length, 0, 0);
  mx_add(b, rigid, &d);
}

static void build(const mx_machine *self, mx_builder *b)
{
  ga_spring_def damper = ga_spring_defaults();
  (void)self;
  box_add(b, "upper", 0.0);
  box_add(b, "lower", 0.5);
  mx_joint_at(b, "hinge1", GA_JOINT_REVOLUTE, "ground", "upper", ga_pose_at(0, 0, 0));
  mx_joint_at(b, "hinge2", GA_JOINT_REVOLUTE, "upper", "lower", ga_pose_at(0.5, 0, 0));
  damper.name = "damper";
  damper.coordinate = "hinge1.angle";
  damper.damping = 0.1;
  mx_add(b, spring, &damper);
}

const mx_machine mx_double_pendulum = {
    .name = "double_pendulum",
    .title = "double pendulum of two boxes with a damper in its first hinge",
    .gravity = {0, -9.80665, 0},
    .build = build,
    .t_end = 3.0,
    .h = 1e-3,
    .rho = 0.8,
    .file = "double_pendulum",
    .reference = {{"hinge1.angle", "phi1", 0, 0, 5e-4, 2},
                  {"hinge1.angle_rate", "w1", 0, 0, 6e-3, 2},
                  {"hinge2.angle", "phi2", 0, 0, 2.5e-3, 2},
                  {"hinge2.angle_rate", "w2", 0, 0, 1.5e-2, 2}},
    .energy = 3e-2,
    .mobility = 2,
    .redundant = 0,
    .in_short = 1,
};
