/* slider_crank_3d: the spatial slider-crank of Haug, Computer Aided Kinematics and Dynamics of Mechanical
 * Systems. The crank turns about x, the slider moves along x; a ball joint at the crank and a universal joint
 * at the slider hold the connecting rod between them. One motion, nothing redundant. */
#include "machine.h"
#include <string.h>

static void body_add(mx_builder *b, const char *name, double mass, const double inertia[3], ga_pose pose,
                     const double velocity[3], const double omega[3])
{
  ga_rigid_def d = ga_rigid_defaults();
  d.name = name;
  d.mass = mass;
  memcpy(d.inertia, inertia, 3 * sizeof *inertia);
  d.pose = pose;
  memcpy(d.velocity, velocity, sizeof d.velocity);
  memcpy(d.omega, omega, sizeof d.omega);
  mx_add(b, rigid, &d);
}

static void build(const mx_machine *self, mx_builder *b)
{
  static const double x_axis[3] = {1, 0, 0}, pin[3] = {0, 0.1, 0.12};
  static const double crank_J[3] = {1e-4, 1e-4, 1e-5}, slider_J[3] = {1e-4, 1e-4, 1e-4};
  static const double rod_J[3] = {4e-3, 4e-3, 4e-4}; /* its frame has z along the rod */
  static const double crank_v[3] = {0, -0.24, 0}, crank_w[3] = {6, 0, 0}, rod_v[3] = {0.12, -0.24, 0},
                      rod_w[3] = {1.92, -0.96, 0.48}, slider_v[3] = {0.24, 0, 0}, none[3] = {0, 0, 0};
  static const double middle[3] = {0.1, 0.05, 0.1}, along[3] = {0.2, -0.1, -0.2};
  (void)self;
  body_add(b, "crank", 0.12, crank_J, ga_pose_at(0, 0.1, 0.16), crank_v, crank_w);
  body_add(b, "rod", 0.5, rod_J, mx_pose_axis(b, middle, along), rod_v, rod_w);
  body_add(b, "slider", 2.0, slider_J, ga_pose_at(0.2, 0, 0), slider_v, none);

  static const double origin[3] = {0, 0, 0};
  mx_joint_at(b, "crank_pin", GA_JOINT_REVOLUTE, "ground", "crank", mx_pose_axis(b, pin, x_axis));
  mx_joint_at(b, "ball", GA_JOINT_SPHERICAL, "crank", "rod", ga_pose_at(0, 0.1, 0.2));
  mx_joint_at(b, "guide", GA_JOINT_PRISMATIC, "ground", "slider", mx_pose_axis(b, origin, x_axis));

  /* The cross of the universal joint: x of the slider, and (0, 2, −1)/√5 of the rod, which is y of this
   * frame. */
  ga_pose cross = ga_pose_at(0.2, 0, 0);
  const double z[3] = {0, 1, 2};
  if (!b->status) b->status = ga_rotation_z_axis(b->ctx, z, x_axis, cross.rotation);
  mx_joint_at(b, "cross", GA_JOINT_UNIVERSAL, "slider", "rod", cross);
}

const mx_machine mx_slider_crank_3d = {
    .name = "slider_crank_3d",
    .title = "spatial slider-crank (Haug)",
    .gravity = {0, 0, -9.81},
    .build = build,
    .t_end = 5.0,
    .h = 1e-3,
    .rho = 0.8,
    .file = "slidercrank3d",
    .reference = {{"slider.x", "slider_x", 5, 0.24071957, 4e-4, 2},
                  {"slider.vx", "slider_v", 5, -0.59598441, 1.5e-2, 2},
                  {"crank_pin.angle", "crank_angle", 5, 54.33333217, 1.5e-2, 2},
                  {"crank_pin.angle_rate", "crank_speed", 5, 11.49499627, 0.15, 2},
                  {"rod.x", "p1x", 0, 0, 4e-4, 2},
                  {"rod.y", "p1y", 0, 0, 4e-4, 2},
                  {"rod.z", "p1z", 0, 0, 4e-4, 2},
                  {"rod.wx", "w1x", 0, 0, 0.3, 2},
                  {"rod.wy", "w1y", 0, 0, 0.2, 2},
                  {"rod.wz", "w1z", 0, 0, 0.1, 2}},
    .energy = 5e-4,
    .mobility = 1,
    .redundant = 0,
    .in_short = 1,
};
