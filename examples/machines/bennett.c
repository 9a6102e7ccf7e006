/* bennett: Bennett's linkage, four bars and four revolute joints in space, which moves although the count of
 * its constraints forbids it: three of the twenty follow from the others. Opposite bars are alike, of lengths
 * a and b and twists α and β with sin α/a = sin β/b. In the frames of Denavit and Hartenberg, turned by θ_i
 * about z, then moved by the length along x and turned by the twist about x, the closed loop has
 *
 *   tan(θ₁/2) tan(θ₂/2) = sin((β+α)/2)/sin((β−α)/2),   θ₃ = −θ₁,   θ₄ = −θ₂   (Bennett 1903)          */
#include "machine.h"
#include <math.h>

static const double a = 0.6, b_length = 1.0, alpha = 0.6; /* [m], [m], [rad] */
static const double start_angle = 1.0;                    /* [rad] θ₁ */

static ga_pose turn_z(mx_builder *b, double angle)
{
  static const double origin[3] = {0, 0, 0}, z[3] = {0, 0, 1};
  return mx_pose_turned(b, origin, z, angle);
}

/* From a bar's first joint to its second. */
static ga_pose along_bar(mx_builder *b, double length, double twist)
{
  static const double x[3] = {1, 0, 0};
  const double at[3] = {length, 0, 0};
  return mx_pose_turned(b, at, x, twist);
}

static void bar_add(mx_builder *b, const char *name, const char *end_name, double length,
                    const ga_pose *start, const ga_pose *end)
{
  ga_rigid_def d = ga_rigid_defaults();
  d.name = name;
  d.mass = length;
  d.com[0] = 0.5 * length;
  d.inertia[0] = 1e-3 * length;
  d.inertia[1] = d.inertia[2] = length * length * length / 12;
  d.pose = *start;
  mx_add(b, rigid, &d);
  mx_marker(b, end_name, name, *end);
}

static void build(const mx_machine *self, mx_builder *b)
{
  static const char *const bar[3] = {"bar1", "bar2", "bar3"}, *const end[4] = {"ground", "end1", "end2",
                                                                               "end3"};
  static const char *const joint[4] = {"J1", "J2", "J3", "J4"};
  const double beta = asin(b_length * sin(alpha) / a),
               ratio = sin(0.5 * (beta + alpha)) / sin(0.5 * (beta - alpha));
  const double second = 2 * atan2(ratio, tan(0.5 * start_angle));
  const double theta[3] = {start_angle, second, -start_angle}, length[4] = {a, b_length, a, b_length},
               twist[4] = {alpha, beta, alpha, beta};
  ga_pose at = ga_pose_identity();
  (void)self;
  for (int i = 0; i < 3; i++) {
    const ga_pose turned = turn_z(b, theta[i]), across = along_bar(b, length[i], twist[i]);
    at = mx_pose_compose(&at, &turned);
    bar_add(b, bar[i], end[i + 1], length[i], &at, &across);
    mx_joint(b, joint[i], GA_JOINT_REVOLUTE, end[i], bar[i]);
    at = mx_pose_compose(&at, &across);
  }
  /* the ground is the fourth bar; it ends where the first begins */
  const ga_pose across = along_bar(b, length[3], twist[3]), first = mx_pose_inverse(&across);
  mx_marker(b, "base", "ground", first);
  mx_joint(b, joint[3], GA_JOINT_REVOLUTE, end[3], "base");
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
