/* bicycle, bicycle_slow, bicycle_fast: the benchmark bicycle of Meijaard, Papadopoulos, Ruina & Schwab
 * (2007), Proc. R. Soc. A 463. A rear frame with its rider, a fork, two wheels with knife edges that roll
 * without slipping on a level road; nobody steers. It rights itself between 4.292 and 6.024 m/s: pushed a
 * little, the roll angle dies out at 5 m/s, and grows at 4 (weaving) and at 7 (capsizing, slowly).
 * tests/verify finds the published eigenvalues in these equations.
 *
 * x forward, y left, z up. Seven velocities are left by the hinges and the contacts, four of which rolling
 * removes. */
#include "machine.h"
#include <math.h>
#include <string.h>

static const double wheelbase = 1.02, trail = 0.08;           /* [m] */
static const double tilt = 18 * 3.14159265358979323846 / 180; /* [rad] of the steering axis */
static const double head_height = 0.85595086466;              /* [m] of a point on that axis */

static void body_add(mx_builder *b, const char *name, double mass, const double J[6], double x, double z,
                     double v, double spin)
{
  ga_rigid_def d = ga_rigid_defaults();
  d.name = name;
  d.mass = mass;
  memcpy(d.inertia, J, sizeof d.inertia);
  d.pose = ga_pose_at(x, 0, z);
  d.velocity[0] = v;
  d.omega[1] = spin;
  mx_add(b, rigid, &d);
}

/* Its disk frame has the axis y of the wheel as z, and does not change the spin. */
static void wheel_add(mx_builder *b, const char *name, const char *disk, const char *contact, double mass,
                      double across, double along, double radius, double x, double v)
{
  static const double origin[3] = {0, 0, 0}, y_axis[3] = {0, 1, 0};
  const double J[6] = {across, along, across, 0, 0, 0};
  ga_rolling_def r = ga_rolling_defaults();
  body_add(b, name, mass, J, x, radius, v, v / radius);
  mx_marker(b, disk, name, mx_pose_axis(b, origin, y_axis));
  r.name = contact;
  r.kind = GA_ROLLING_DISK;
  r.body = disk;
  r.radius = radius;
  mx_add(b, rolling, &r);
}

/* The variant is the speed in mm/s. */
static void build(const mx_machine *self, mx_builder *b)
{
  static const double frame_J[6] = {9.2, 11, 2.8, 0, -2.4, 0},
                      fork_J[6] = {0.05892, 0.06, 0.00708, 0, 0.00756, 0};
  static const double rear_hub[3] = {0, 0, 0.3}, front_hub[3] = {1.02, 0, 0.35}, y_axis[3] = {0, 1, 0};
  const double head[3] = {wheelbase + trail - head_height * tan(tilt), 0, head_height};
  const double steering[3] = {-sin(tilt), 0, cos(tilt)}, v = 1e-3 * self->variant;
  ga_force_def push = ga_force_defaults();
  wheel_add(b, "rear", "rear_disk", "rear_contact", 2, 0.0603, 0.12, 0.3, 0, v);
  wheel_add(b, "front", "front_disk", "front_contact", 3, 0.1405, 0.28, 0.35, wheelbase, v);
  body_add(b, "frame", 85, frame_J, 0.3, 0.9, v, 0);
  body_add(b, "fork", 4, fork_J, 0.9, 0.7, v, 0);
  /* the wheels are the second bodies, so that what the joints hold does not turn with them */
  mx_joint_at(b, "rear_hub", GA_JOINT_REVOLUTE, "frame", "rear", mx_pose_axis(b, rear_hub, y_axis));
  mx_joint_at(b, "front_hub", GA_JOINT_REVOLUTE, "fork", "front", mx_pose_axis(b, front_hub, y_axis));
  mx_joint_at(b, "head", GA_JOINT_REVOLUTE, "frame", "fork", mx_pose_axis(b, head, steering));
  /* a short push to the side, 0.2 N s */
  push.name = "push";
  push.frame = "frame";
  push.force[1] = (ga_input){.expression = "step5(t, 0, 0, 0.1, 2)*step5(t, 0.1, 1, 0.2, 0)"};
  mx_add(b, force, &push);
}

#define BICYCLE(name_, speed_, what_)                                                                        \
  const mx_machine mx_##name_ = {                                                                            \
      .name = #name_,                                                                                        \
      .title = "bicycle pushed to the side at " what_,                                                       \
      .gravity = {0, 0, -9.81},                                                                              \
      .build = build,                                                                                        \
      .variant = speed_,                                                                                     \
      .t_end = 10.0,                                                                                         \
      .h = 5e-3,                                                                                             \
      .rho = 0.9,                                                                                            \
      .energy = 1e-3,                                                                                        \
      .mobility = 3,                                                                                         \
      .redundant = 0,                                                                                        \
      .in_short = 1,                                                                                         \
  }

BICYCLE(bicycle, 5000, "5 m/s: rights itself");
BICYCLE(bicycle_slow, 4000, "4 m/s: weaves");
BICYCLE(bicycle_fast, 7000, "7 m/s: capsizes");
