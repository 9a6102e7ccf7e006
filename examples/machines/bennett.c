/* bennett: Bennett's linkage, four bars and four revolute joints in space, which moves although the count of
 * its constraints forbids it: three of the twenty follow from the others. Opposite bars are alike, of lengths
 * a and b and twists α and β with sin α/a = sin β/b. In the frames of Denavit and Hartenberg, turned by θ_i
 * about z, then moved by the length along x and turned by the twist about x, the closed loop has
 *
 *   tan(θ₁/2) tan(θ₂/2) = sin((β+α)/2)/sin((β−α)/2),   θ₃ = −θ₁,   θ₄ = −θ₂   (Bennett 1903)          */
#include "machine.h"
#include <math.h>

static const double a = 0.6, b_length = 1.0, alpha = 0.6; /* [m], [m], [rad] */

static void bar_add(mx_builder *b, const char *name, double length, ga_pose pose)
{
  const double cube = pow(length, 3);
  ga_rigid_def d = ga_rigid_defaults();
  d.name = name;
  d.mass = length;
  d.com[0] = 0.5 * length;
  d.inertia[0] = 1e-3 * length;
  d.inertia[1] = d.inertia[2] = cube / 12;
  d.pose = pose;
  mx_add(b, rigid, &d);
}

/* At a point, turned about three axes one after the other. */
static ga_pose euler(mx_builder *b, const double at[3], const char *sequence, double first, double second,
                     double third)
{
  const double angle[3] = {first, second, third};
  ga_pose pose = ga_pose_at(at[0], at[1], at[2]);
  if (!b->status) b->status = ga_rotation_euler(b->ctx, sequence, angle, pose.rotation);
  return pose;
}

/* From a bar's first joint to its second; or back, with both numbers negative. */
static ga_pose along_bar(mx_builder *b, double length, double twist)
{
  static const double x[3] = {1, 0, 0};
  const double at[3] = {length, 0, 0};
  return mx_pose_turned(b, at, x, twist);
}

/* The third bar is placed from the other end of the loop: the ground is the fourth, and ends where the first
 * begins. */
static void build(const mx_machine *self, mx_builder *b)
{
  static const double origin[3] = {0, 0, 0}, z[3] = {0, 0, 1}, theta1 = 1.0; /* [rad] at the start */
  const double beta = asin(b_length * sin(alpha) / a),
               ratio = sin(0.5 * (beta + alpha)) / sin(0.5 * (beta - alpha));
  const double theta2 = 2 * atan2(ratio, tan(0.5 * theta1));
  const double second[3] = {a * cos(theta1), a * sin(theta1), 0};
  const double third[3] = {-b_length - a * cos(theta2), -a * sin(theta2) * cos(beta),
                           a * sin(theta2) * sin(beta)};
  (void)self;
  bar_add(b, "bar1", a, mx_pose_turned(b, origin, z, theta1));
  bar_add(b, "bar2", b_length, euler(b, second, "zxz", theta1, alpha, theta2));
  bar_add(b, "bar3", a, euler(b, third, "xzx", -beta, theta2, -alpha));
  mx_marker(b, "end1", "bar1", along_bar(b, a, alpha));
  mx_marker(b, "end2", "bar2", along_bar(b, b_length, beta));
  mx_marker(b, "end3", "bar3", along_bar(b, a, alpha));
  mx_marker(b, "base", "ground", along_bar(b, -b_length, -beta));
  mx_joint(b, "J1", GA_JOINT_REVOLUTE, "ground", "bar1");
  mx_joint(b, "J2", GA_JOINT_REVOLUTE, "end1", "bar2");
  mx_joint(b, "J3", GA_JOINT_REVOLUTE, "end2", "bar3");
  mx_joint(b, "J4", GA_JOINT_REVOLUTE, "end3", "base");
}

const mx_machine mx_bennett = {
    .name = "bennett",
    .title = "Bennett's linkage, three constraints too many",
    .gravity = {0, -4, -9},
    .build = build,
    .t_end = 5.0,
    .h = 2e-3,
    .rho = 0.8,
    /* asin(sin(0.6)/0.6) = 1.2259..., and the ratio with it */
    .reference = {{"tan(J1.angle/2)*tan(J2.angle/2) - sin((asin(sin(0.6)/0.6) + "
                   "0.6)/2)/sin((asin(sin(0.6)/0.6) - 0.6)/2)",
                   "0", 0, 0, 1e-8, 0},
                  {"sin((J1.angle + J3.angle)/2)", "0", 0, 0, 1e-8, 0},
                  {"sin((J2.angle + J4.angle)/2)", "0", 0, 0, 1e-8, 0}},
    .energy = 1e-2,
    .mobility = 1,
    .redundant = 3,
    .report = "J4: rotation about x is already fixed by J1, J2 and J3",
    .in_short = 1,
};
