/* The machines of the papers that live in space, from parts, and plane ones built as if they did.
 * tests/verify/papers.c compares them with examples/heavy_top.c, pendulum.c, slider_crank.c,
 * slider_crank_hht.c and rolling_disk.c.
 *
 *   heavy_top_parts, tumbling_top_parts   a rigid body and a spherical joint; the form decides the
 * coordinates pendulum_space, slider_crank_space, slider_crank_hht_space   rigid bodies, with as many
 * constraints as needed rolling_disk_parts                    a rigid body that rolls rolling_disk_rotor
 * (7.2) of Jay & Negrut, see below */
#include "machine.h"
#include <math.h>
#include <string.h>

static const double pi = 3.14159265358979323846;
static const double z_axis[3] = {0, 0, 1}, x_axis[3] = {1, 0, 0};

/* ---- Heavy top ---- */

enum { HEAVY, TUMBLING };

/* The body's frame is at the tip, so that its velocity is 0. */
static void top(const mx_machine *self, mx_builder *b)
{
  static const double J[2][3] = {{0.234375, 0.46875, 0.234375}, {0.2, 0.3, 0.45}};
  static const double omega[2][3] = {{0, 150, -4.61538}, {3, 10, -4}};
  ga_rigid_def d = ga_rigid_defaults();
  d.name = "top";
  d.mass = 15;
  memcpy(d.inertia, J[self->variant], sizeof J[0]);
  d.com[1] = 1;
  memcpy(d.omega, omega[self->variant], sizeof d.omega);
  mx_add(b, rigid, &d);
  mx_marker(b, "centre", "top", ga_pose_at(0, 1, 0));
  mx_joint(b, "tip", GA_JOINT_SPHERICAL, "ground", "top");
}

const mx_machine mx_heavy_top_parts = {
    .name = "heavy_top_parts",
    .title = "heavy top (Arnold, Cardona & Brüls 2015), rigid body on a spherical joint",
    .gravity = {0, 0, -9.81},
    .build = top,
    .variant = HEAVY,
    .t_end = 1,
    .h = 5e-4,
    .rho = 0.9,
    .reference = {{"centre.x", NULL, 1, 0.17334396409838604, 1e-3, 2},
                  {"centre.vx", NULL, 1, 0.5708253034254871, 1e-2, 2},
                  {"top.wx", NULL, 1, 20.13978650576402, 1e-1, 2},
                  {"tip.fx", NULL, 1, -517.6007394769, 2.5, 2}},
    .energy = 2e-2,
    .mobility = 3,
    .redundant = 0,
};

const mx_machine mx_tumbling_top_parts = {
    .name = "tumbling_top_parts",
    .title = "slowly tumbling top, rigid body on a spherical joint",
    .gravity = {0, 0, -9.81},
    .build = top,
    .variant = TUMBLING,
    .t_end = 0.5,
    .h = 4e-3,
    .rho = 0.9,
    .reference = {{"centre.x", NULL, 0.5, 0.807192021277991, 2e-5, 2},
                  {"top.wx", NULL, 0.5, 8.328424262650076, 1e-3, 2},
                  {"tip.fx", NULL, 0.5, -401.62870265241656, 5e-2, 2}},
    .energy = 2e-2,
    .mobility = 3,
    .redundant = 0,
};

/* ---- Plane mechanisms in space ---- */

typedef struct plane_body {
  const char *name;
  double mass, inertia; /* about z; those across are as large, and the motion does not ask for them */
  double x, y, angle, vx, vy, rate;
} plane_body;

static void plane_body_add(mx_builder *b, const plane_body *p)
{
  const double at[3] = {p->x, p->y, 0};
  ga_rigid_def d = ga_rigid_defaults();
  d.name = p->name;
  d.mass = p->mass;
  for (int i = 0; i < 3; i++) d.inertia[i] = p->inertia;
  d.pose = mx_pose_turned(b, at, z_axis, p->angle);
  d.velocity[0] = p->vx;
  d.velocity[1] = p->vy;
  d.omega[2] = p->rate;
  mx_add(b, rigid, &d);
}

static void spring_add(mx_builder *b, const char *coordinate, double stiffness, double damping, double rest)
{
  ga_spring_def d = ga_spring_defaults();
  d.name = "spring";
  d.coordinate = coordinate;
  d.stiffness = stiffness;
  d.damping = damping;
  d.rest = rest;
  mx_add(b, spring, &d);
}

static void pendulum(const mx_machine *self, mx_builder *b)
{
  const plane_body bar = {"bar", 5, 20.0 / 3, 0, -2, 1.5 * pi, 20, 0, 10};
  (void)self;
  plane_body_add(b, &bar);
  mx_marker(b, "end", "bar", ga_pose_at(-2, 0, 0));
  mx_joint(b, "pivot", GA_JOINT_REVOLUTE, "ground", "end");
  spring_add(b, "pivot.angle", 3000, 100, -0.5 * pi);
}

const mx_machine mx_pendulum_space = {
    .name = "pendulum_space",
    .title = "pendulum with a torsional spring-damper (Jay & Negrut 2008), in space",
    .gravity = {0, -9.81, 0},
    .build = pendulum,
    .t_end = 2,
    .h = 2.5e-3,
    .rho = 0.8,
    .reference = {{"bar.x", NULL, 2, 0.030778224027273617, 2e-4, 2},
                  {"bar.vx", NULL, 2, -0.39632193164570867, 1e-3, 2},
                  {"bar.ax", NULL, 2, -2.0904904563054827, 5e-2, 2},
                  {"-pivot.fx", NULL, 2, 10.452452281527414, 0.2, 2}},
    .mobility = 1,
    .redundant = 0,
};

/* Crank on a hinge, rod between a ball and a universal joint, slider on a rail along x: one motion, nothing
 * redundant. The rail's frames have z along x. */
static void crank_joints_add(mx_builder *b, double crank, double rod)
{
  static const double origin[3] = {0, 0, 0};
  ga_pose along = mx_pose_axis(b, origin, x_axis), cross = ga_pose_at(0, 0, 0);
  mx_marker(b, "crank_start", "crank", ga_pose_at(-crank, 0, 0));
  mx_marker(b, "crank_end", "crank", ga_pose_at(crank, 0, 0));
  mx_marker(b, "rod_start", "rod", ga_pose_at(-rod, 0, 0));
  /* the cross: x of the slider's frame is z, y of the rod's frame lies across z in the plane */
  if (!b->status) b->status = ga_rotation_z_axis(b->ctx, x_axis, z_axis, cross.rotation);
  mx_marker(b, "slider_cross", "slider", cross);
  cross.position[0] = rod;
  mx_marker(b, "rod_end", "rod", cross);
  mx_marker(b, "rail_ground", "ground", along);
  mx_marker(b, "rail_slider", "slider", along);
  mx_joint(b, "axle", GA_JOINT_REVOLUTE, "ground", "crank_start");
  mx_joint(b, "knee", GA_JOINT_SPHERICAL, "crank_end", "rod_start");
  mx_joint(b, "wrist", GA_JOINT_UNIVERSAL, "slider_cross", "rod_end");
  mx_joint(b, "guide", GA_JOINT_PRISMATIC, "rail_ground", "rail_slider");
}

static void slider_crank_hht(const mx_machine *self, mx_builder *b)
{
  static const plane_body body[3] = {{"crank", 2, 0.05, 0.25, 0, 0, 0, 2, 8},
                                     {"rod", 1, 0.1, 1, 0, 0, 0, 2, -4},
                                     {"slider", 1.5, 0.01, 1.5, 0, 0, 0, 0, 0}};
  (void)self;
  for (int i = 0; i < 3; i++) plane_body_add(b, &body[i]);
  crank_joints_add(b, 0.25, 0.5);
  spring_add(b, "guide.displacement", 40, 0, 1);
}

const mx_machine mx_slider_crank_hht_space = {
    .name = "slider_crank_hht_space",
    .title = "slider-crank of three bodies (after Jay & Negrut 2008), in space",
    .gravity = {0, -9.81, 0},
    .build = slider_crank_hht,
    .t_end = 2,
    .h = 0.0078125,
    .rho = 0.8,
    .reference = {{"slider.x", NULL, 2, 1.1900321122162126, 2.5e-2, 2},
                  {"slider.vx", NULL, 2, 3.5533244305125367, 5e-2, 2},
                  {"slider.ax", NULL, 2, -7.3551317440580007, 1.2, 2},
                  {"knee.fx", NULL, 2, -12.731045802640758, 1.5, 2}},
    .energy = 5e-2,
    .mobility = 1,
    .redundant = 0,
};

static void slider_crank(const mx_machine *self, mx_builder *b)
{
  static const double crank = 0.3, rod = 0.6, crank_mass = 0.36, rod_mass = 0.15;
  const double crank_squared = crank * crank, rod_squared = rod * rod,
               end = sqrt(rod_squared - crank_squared), crank_J = crank_mass * crank_squared / 12,
               rod_J = rod_mass * rod_squared / 12;
  const plane_body body[4] = {{"crank", crank_mass, crank_J, 0, crank / 2, 0.5 * pi, 0, 0, 0},
                              {"rod", rod_mass, rod_J, 0.5 * end, crank / 2, -asin(crank / rod), 0, 0, 0},
                              {"slider", 0.1, 1, end, 0, 0, 0, 0, 0},
                              {"second", 0.7, 1, end, 0, 0, 0, 0, 0}};
  ga_force_def motor = ga_force_defaults();
  static const double origin[3] = {0, 0, 0};
  (void)self;
  for (int i = 0; i < 4; i++) plane_body_add(b, &body[i]);
  crank_joints_add(b, crank / 2, rod / 2);
  mx_marker(b, "rail_second", "second", mx_pose_axis(b, origin, x_axis));
  mx_joint(b, "rail", GA_JOINT_PRISMATIC, "rail_slider", "rail_second");
  spring_add(b, "rail.displacement", 1000, 0, 0);
  motor.name = "motor";
  motor.frame = "crank";
  motor.torque[2].value = 1;
  mx_add(b, force, &motor);
}

const mx_machine mx_slider_crank_space = {
    .name = "slider_crank_space",
    .title = "slider-crank with a second mass on a spring (Arnold & Brüls 2007), in space",
    .build = slider_crank,
    .t_end = 1,
    .h = 1.25e-3,
    .rho = 0.7,
    .reference = {{"slider.x", NULL, 1, 0.6626619501461977, 1e-3, 2},
                  {"second.x", NULL, 1, 0.6004431372840047, 5e-4, 2},
                  {"second.vx", NULL, 1, -2.9819389858273913, 2.5e-2, 2},
                  {"-wrist.fx", NULL, 1, 42.18602818605168, 1, 2}},
    .energy = 1e-2,
    .mobility = 2,
    .redundant = 0,
};

/* ---- Rolling disk ----
 *
 * Contact point (y1, y2), lean y3, heading y4, roll y5. With e = (c4, s4, 0) where the disk is heading and u
 * = (−s3 s4, s3 c4, c3) from the contact to the centre C, its axis is a = u × e, and without slipping
 *
 *   C = (y1, y2, 0) + r u,   ω = −y3' e + y4' z + y5' a,   so that ω·a = y5' − y4' s3
 *
 * (7.2) of Jay & Negrut has ½ I2 (y5' + y4' s3)² for the energy of this spin: no disk has that, but a wheel
 * without inertia does whose fork carries a rotor, on the same axis, geared to turn against it. The fork's x
 * axis stays level. That is rolling_disk_rotor; rolling_disk_parts is the disk itself. */

enum { DISK, ROTOR };

static const double lean = 0.3, start[2] = {0.1, 0}, rate[3] = {0.02, -0.02, 0.1}; /* y4 = 0 */

/* Everything moves with the centre; spin is the part of ω along the axis that y5' adds. */
static void disk_add(mx_builder *b, const char *name, double mass, double across, double along, double spin)
{
  const double s = sin(lean), c = cos(lean);
  const double a[3] = {0, c, -s}, u_lean[3] = {0, c, -s}, u_heading[3] = {-s, 0, 0};
  ga_rigid_def d = ga_rigid_defaults();
  d.name = name;
  d.mass = mass;
  d.massless = mass == 0 || along == 0;
  d.inertia[0] = d.inertia[1] = across;
  d.inertia[2] = along;
  d.pose = ga_pose_at(start[0], start[1] + s, c);
  if (!b->status) b->status = ga_rotation_z_axis(b->ctx, a, x_axis, d.pose.rotation);
  for (int i = 0; i < 3; i++) {
    d.velocity[i] = rate[0] * u_lean[i] + rate[1] * u_heading[i] + rate[2] * x_axis[i];
    d.omega[i] = -rate[0] * x_axis[i] + rate[1] * z_axis[i] + spin * a[i];
  }
  mx_add(b, rigid, &d);
}

static void rolling_add(mx_builder *b, const char *body)
{
  ga_rolling_def d = ga_rolling_defaults();
  d.name = "contact";
  d.kind = GA_ROLLING_DISK;
  d.body = body;
  d.radius = 1;
  mx_add(b, rolling, &d);
}

static void disk(const mx_machine *self, mx_builder *b)
{
  if (self->variant == DISK) {
    disk_add(b, "disk", 2, 2, 2, rate[2]);
    rolling_add(b, "disk");
    mx_marker(b, "axle", "disk", ga_pose_at(0, 0, 1));
    return;
  }
  disk_add(b, "fork", 2, 1, 0, 0);
  disk_add(b, "wheel", 0, 0, 0, rate[2]);
  disk_add(b, "rotor", 0, 1, 2, -rate[2]);
  rolling_add(b, "wheel");
  mx_marker(b, "nose", "fork", ga_pose_at(1, 0, 0));
  mx_joint(b, "level", GA_JOINT_PERPENDICULAR, "ground", "fork");
  mx_joint(b, "wheel_hinge", GA_JOINT_REVOLUTE, "fork", "wheel");
  mx_joint(b, "rotor_hinge", GA_JOINT_REVOLUTE, "fork", "rotor");
  ga_joint_def gear = ga_joint_defaults();
  gear.name = "gear";
  gear.kind = GA_JOINT_GEAR;
  gear.a = "wheel_hinge.angle";
  gear.b = "rotor_hinge.angle";
  gear.ratio = 1;
  mx_add(b, joint, &gear);
}

/* References at t = 0.8, of the equations of the comment above, integrated as they stand. Soon afterwards the
 * disk comes close to lying flat, where it turns within a few milliseconds; the solution of (7.2) goes on
 * below the plane, which no wheel on it can. */
const mx_machine mx_rolling_disk_parts = {
    .name = "rolling_disk_parts",
    .title = "disk rolling without slipping, rigid body",
    .gravity = {0, 0, -10},
    .build = disk,
    .variant = DISK,
    .t_end = 0.8,
    .h = 5e-3,
    .rho = 0.8,
    .reference = {{"disk.x", NULL, 0.8, 0.18664581285317, 1e-5, 2},
                  {"disk.z", NULL, 0.8, 0.601817847567055, 1e-4, 2},
                  {"disk.wz", NULL, 0.8, -0.0532853538290634, 1e-5, 2},
                  {"axle.ay", NULL, 0.8, -5.72798758947471, 1e-3, 2},
                  {"contact.normal", NULL, 0.8, 9.38335368629275, 1e-3, 2}},
    .energy = 3e-4,
    .mobility = 3,
    .redundant = 0,
};

const mx_machine mx_rolling_disk_rotor = {
    .name = "rolling_disk_rotor",
    .title = "(7.2) of Jay & Negrut: wheel, fork, and a rotor turning against the wheel",
    .gravity = {0, 0, -10},
    .build = disk,
    .variant = ROTOR,
    .t_end = 0.8,
    .h = 5e-3,
    .rho = 0.8,
    .reference = {{"fork.x", NULL, 0.8, 0.197149441086261, 1e-5, 2},
                  {"fork.z", NULL, 0.8, 0.602122366202311, 1e-4, 2},
                  {"fork.wz", NULL, 0.8, -0.0428131502154655, 1e-5, 2},
                  {"wheel_hinge.angle", NULL, 0.8, 0.0779899114435296, 1e-5, 2},
                  {"contact.normal", NULL, 0.8, 9.37032349134055, 1e-3, 2}},
    .energy = 3e-4,
    .mobility = 3,
    .redundant = 0,
};
