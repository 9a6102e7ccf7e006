/* door_one_hinge and door_three_hinges: a door of 40 kg, 0.9 m × 2 m, whose hinges stand 10° off the
 * vertical, so that it swings. A second and a third hinge hold nothing that the first does not; it moves the
 * same, and the forces are spread over them as evenly as they can be. */
#include "machine.h"
#include <math.h>

static const double lean = 10 * 3.14159265358979323846 / 180; /* [rad] */

/* The door lies in the yz plane of the leaning frame, its hinges along that frame's z axis. */
static void build(const mx_machine *self, mx_builder *b)
{
  static const double width = 0.9, tall = 2.0, thick = 0.04, spacing = 0.8;
  static const char *const name[3] = {"hinge1", "hinge2", "hinge3"};
  static const double y_axis[3] = {0, 1, 0};
  const double w = width * width, h = tall * tall, d = thick * thick, s = sin(lean), c = cos(lean);
  const double middle[3] = {tall / 2 * s, width / 2, tall / 2 * c};
  ga_rigid_def door = ga_rigid_defaults();
  door.name = "door";
  door.mass = 40.0;
  door.inertia[0] = door.mass * (w + h) / 12;
  door.inertia[1] = door.mass * (d + h) / 12;
  door.inertia[2] = door.mass * (d + w) / 12;
  door.pose = mx_pose_turned(b, middle, y_axis, lean);
  mx_add(b, rigid, &door);
  for (int i = 1; i <= self->variant; i++) {
    const double height = tall / 2 + (i - (self->variant + 1) / 2.0) * spacing,
                 at[3] = {height * s, 0, height * c};
    mx_joint_at(b, name[i - 1], GA_JOINT_REVOLUTE, "ground", "door", mx_pose_turned(b, at, y_axis, lean));
  }
}

const mx_machine mx_door_one_hinge = {
    .name = "door_one_hinge",
    .title = "door on one leaning hinge",
    .gravity = {0, 0, -9.81},
    .build = build,
    .variant = 1,
    .t_end = 5.0,
    .h = 5e-3,
    .rho = 0.8,
    .energy = 1e-2,
    .mobility = 1,
    .redundant = 0,
    .in_short = 1,
};

const mx_machine mx_door_three_hinges = {
    .name = "door_three_hinges",
    .title = "door on three leaning hinges, ten constraints too many",
    .gravity = {0, 0, -9.81},
    .build = build,
    .variant = 3,
    .t_end = 5.0,
    .h = 5e-3,
    .rho = 0.8,
    .twin = "door_one_hinge",
    .reference = {{"hinge1.angle", "hinge1.angle", 0, 0, 1e-8, 0},
                  {"hinge1.angle_rate", "hinge1.angle_rate", 0, 0, 1e-7, 0},
                  {"door.x", "door.x", 0, 0, 1e-8, 0},
                  {"door.az", "door.az", 0, 0, 1e-6, 0},
                  {"hinge1.fx + hinge2.fx + hinge3.fx", "hinge1.fx", 0, 0, 1e-5, 0},
                  {"hinge1.fy + hinge2.fy + hinge3.fy", "hinge1.fy", 0, 0, 1e-5, 0},
                  {"hinge1.fz + hinge2.fz + hinge3.fz", "hinge1.fz", 0, 0, 1e-5, 0}},
    .energy = 1e-2,
    .mobility = 1,
    .redundant = 10,
    .report = "hinge3: rotation about y is already fixed by hinge1",
    .in_short = 1,
};
