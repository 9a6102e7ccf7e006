/* rhombus: a four-bar of equal bars with a spring and damper along its diagonal. Let go near its equilibrium,
 * it settles there; tests/verify linearises it where it came to rest. */
#include "machine.h"
#include <math.h>

static const double start_angle = 2.1; /* [rad] of the bars that stand on the ground; equilibrium 2.2343 */

static void bar_add(mx_builder *b, const char *name, double x, double y, double angle)
{
  ga_planar_def d = ga_planar_defaults();
  d.name = name;
  d.mass = 1.0;
  d.inertia = 1.0 / 12.0;
  d.position[0] = x + 0.5 * cos(angle);
  d.position[1] = y + 0.5 * sin(angle);
  d.angle = angle;
  mx_add(b, planar, &d);
}

static void build(const mx_machine *self, mx_builder *b)
{
  const double c = cos(start_angle), s = sin(start_angle);
  ga_spring_def spring = ga_spring_defaults();
  (void)self;
  bar_add(b, "bar1", 0, 0, start_angle);
  bar_add(b, "bar2", c, s, 0);
  bar_add(b, "bar3", 1, 0, start_angle);
  mx_joint_at(b, "A", GA_JOINT_REVOLUTE, "ground", "bar1", ga_pose_at(0, 0, 0));
  mx_joint_at(b, "P", GA_JOINT_REVOLUTE, "bar1", "bar2", ga_pose_at(c, s, 0));
  mx_joint_at(b, "Q", GA_JOINT_REVOLUTE, "bar2", "bar3", ga_pose_at(1 + c, s, 0));
  mx_joint_at(b, "B", GA_JOINT_REVOLUTE, "ground", "bar3", ga_pose_at(1, 0, 0));
  mx_marker(b, "Q_end", "bar2", ga_pose_at(0.5, 0, 0));
  spring.name = "diagonal";
  spring.a = "ground";
  spring.b = "Q_end";
  spring.stiffness = 25.0;
  spring.damping = 1.0;
  spring.rest = sqrt(2.0);
  mx_add(b, spring, &spring);
}

const mx_machine mx_rhombus = {
    .name = "rhombus",
    .title = "four-bar with a spring along its diagonal, settling",
    .gravity = {0, -9.81, 0},
    .build = build,
    .t_end = 100.0,
    .h = 0.02,
    .rho = 0.8,
    .reference = {{"B.angle + 2.1", NULL, 100, 2.23433101901759, 1e-8, 0}},
    .energy = 1e-3,
    .mobility = 1,
    .redundant = 0,
    .in_short = 1,
};
