/* door_one_hinge and door_three_hinges: a door of 40 kg, 0.9 m × 2 m, whose hinges stand 10° off the
 * vertical, so that it swings. A second and a third hinge hold nothing that the first does not; it moves the
 * same, and the forces are spread over them as evenly as they can be. */
#include "machine.h"
#include <math.h>

static const double lean = 0.17453292519943295; /* [rad] 10° */

/* The door lies in the xz plane of the leaning frame, its hinges along that frame's z axis. */
static void build(const mx_machine *self, mx_builder *b)
{
  static const double height[3] = {0.2, 1.0, 1.8}, width = 0.9, tall = 2.0, thick = 0.04;
  static const char *const name[3] = {"hinge1", "hinge2", "hinge3"};
  static const double origin[3] = {0, 0, 0}, y_axis[3] = {0, 1, 0};
  const ga_pose post = mx_pose_turned(b, origin, y_axis, lean),
                middle = ga_pose_at(0, 0.5 * width, 0.5 * tall);
  ga_rigid_def d = ga_rigid_defaults();
  d.name = "door";
  d.mass = 40.0;
  d.inertia[0] = d.mass * (width * width + tall * tall) / 12;
  d.inertia[1] = d.mass * (thick * thick + tall * tall) / 12;
  d.inertia[2] = d.mass * (thick * thick + width * width) / 12;
  d.pose = mx_pose_compose(&post, &middle);
  mx_add(b, rigid, &d);
  for (int i = 0; i < self->variant; i++) {
    const ga_pose at = ga_pose_at(0, 0, height[self->variant == 1 ? 1 : i]);
    mx_joint_at(b, name[i], GA_JOINT_REVOLUTE, "ground", "door", mx_pose_compose(&post, &at));
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
