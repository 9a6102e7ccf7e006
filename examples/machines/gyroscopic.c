/* gyroscopic: a steel rod on a ball joint carries at its end a rotor that spins at 10 rad/s about an axis 45°
 * off the rod. The spin about the rotor's own axis never changes; everything else does. */
#include "machine.h"
#include <math.h>

static const double pi = 3.14159265358979323846, density = 7700.0;
static const double tilt = 45 * 3.14159265358979323846 / 180; /* [rad] of the rotor's axis */

/* A cylinder with its axis along x of its frame. */
static ga_rigid_def cylinder(const char *name, double diameter, double length)
{
  const double r = 0.5 * diameter;
  ga_rigid_def d = ga_rigid_defaults();
  d.name = name;
  d.mass = density * pi * r * r * length;
  d.inertia[0] = 0.5 * d.mass * r * r;
  d.inertia[1] = d.inertia[2] = d.mass * (3 * r * r + length * length) / 12;
  return d;
}

static void build(const mx_machine *self, mx_builder *b)
{
  static const double end[3] = {0.25, 0, 0}, y_axis[3] = {0, 1, 0};
  ga_rigid_def rod = cylinder("rod", 0.05, 0.25), rotor = cylinder("rotor", 0.1, 0.2);
  (void)self;
  rod.pose = ga_pose_at(0.125, 0, 0);
  mx_add(b, rigid, &rod);
  rotor.pose = mx_pose_turned(b, end, y_axis, tilt);
  rotor.omega[0] = 10.0;
  rotor.omega_in_body = 1;
  mx_add(b, rigid, &rotor);
  const double axis[3] = {cos(tilt), 0, -sin(tilt)};
  mx_joint_at(b, "ball", GA_JOINT_SPHERICAL, "ground", "rod", ga_pose_at(0, 0, 0));
  mx_joint_at(b, "bearing", GA_JOINT_REVOLUTE, "rod", "rotor", mx_pose_axis(b, end, axis));
  mx_sensor(b, "rod_rate", GA_SENSOR_ANGULAR_VELOCITY, "rod", "rod");
  mx_sensor(b, "rotor_rate", GA_SENSOR_ANGULAR_VELOCITY, "rotor", "rotor");
}

const mx_machine mx_gyroscopic = {
    .name = "gyroscopic",
    .title = "spinning rotor on a rod on a ball joint",
    .gravity = {0, -9.80665, 0},
    .build = build,
    .t_end = 5.0,
    .h = 1e-3,
    .rho = 0.8,
    .file = "gyroscopic",
    .reference = {{"rod_rate.x", "w1x_b", 0, 0, 3.5e-2, 2},
                  {"rod_rate.y", "w1y_b", 0, 0, 3.5e-2, 2},
                  {"rod_rate.z", "w1z_b", 0, 0, 3.5e-2, 2},
                  {"rotor_rate.x", "w2x_b", 0, 0, 7e-4, 2},
                  {"rotor_rate.y", "w2y_b", 0, 0, 0.1, 2},
                  {"rotor_rate.z", "w2z_b", 0, 0, 0.1, 2},
                  {"rod.x", "x1", 0, 0, 1e-4, 2},
                  {"rod.y", "y1", 0, 0, 1e-4, 2},
                  {"rod.z", "z1", 0, 0, 1e-4, 2},
                  {"abs(rod.qw)", "abs(q0)", 0, 0, 2e-3, 2},
                  {"abs(rod.qx)", "abs(q1)", 0, 0, 2e-3, 2}},
    .energy = 1e-3,
    .mobility = 4,
    .redundant = 0,
    .in_short = 1,
};
