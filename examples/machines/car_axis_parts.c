/* car_axis_parts: the car axis of the IVP test set (examples/car_axis.c) from parts. The axle is a body
 * without mass, hinged at the left wheel and turned by the road: y_b = 0.1 sin 10t at its right end. The left
 * mass slides along the axle's y axis, a rod of 1 m joins it to the right one, and a spring holds each. */
#include "machine.h"

static void mass_add(mx_builder *b, const char *name, double x)
{
  ga_point_def d = ga_point_defaults();
  d.name = name;
  d.mass = 10.0 * 1e-4 / 2.0;
  d.position[0] = x;
  d.position[1] = 0.5;
  d.velocity[0] = -0.5;
  mx_add(b, point, &d);
}

static void spring_add(mx_builder *b, const char *name, const char *from, const char *to)
{
  ga_spring_def d = ga_spring_defaults();
  d.name = name;
  d.a = from;
  d.b = to;
  d.stiffness = 1.0;
  d.rest = 0.5;
  mx_add(b, spring, &d);
}

static void build(const mx_machine *self, mx_builder *b)
{
  static const double origin[3] = {0, 0, 0}, y_axis[3] = {0, 1, 0};
  ga_planar_def axle = ga_planar_defaults();
  (void)self;
  axle.name = "axle";
  axle.massless = 1;
  axle.rate = 1.0;
  mx_add(b, planar, &axle);
  mass_add(b, "left", 0);
  mass_add(b, "right", 1);
  mx_marker(b, "wheel", "axle", ga_pose_at(1, 0, 0));
  mx_marker(b, "upright", "axle", mx_pose_axis(b, origin, y_axis));
  mx_joint(b, "hub", GA_JOINT_REVOLUTE, "ground", "axle");
  mx_drive(b, "road", "hub.angle", "asin(0.1*sin(10*t))");
  mx_joint(b, "guide", GA_JOINT_POINT_ON_LINE, "upright", "left");
  mx_joint(b, "plane", GA_JOINT_POINT_ON_PLANE, "ground", "right");
  mx_joint(b, "bar", GA_JOINT_DISTANCE, "right", "left");
  spring_add(b, "spring_left", "ground", "left");
  spring_add(b, "spring_right", "wheel", "right");
}

const mx_machine mx_car_axis_parts = {
    .name = "car_axis_parts",
    .title = "car axis of the IVP test set, from parts with a prescribed motion",
    .gravity = {0, -1, 0},
    .build = build,
    .t_end = 3.0,
    .h = 1e-3,
    .rho = 0.8,
    .file = "ivp_caraxis",
    .reference = {{"left.x", "xl", 3, .04934557842754, 1e-6, 2},
                  {"left.y", "yl", 3, .49698946023017, 1e-5, 2},
                  {"right.x", "xr", 3, 1.04174252488542, 1e-4, 2},
                  {"right.y", "yr", 3, .37391102726536, 1e-3, 2},
                  {"left.vx", "vxl", 0, 0, 2e-5, 2},
                  {"right.vy", "vyr", 0, 0, 3.5e-2, 2},
                  {"guide.fx*wheel.x + guide.fy*wheel.y", "lam1", 3, -.00473688659085, 5e-5, 2},
                  {"(bar.fx*(left.x - right.x) + bar.fy*(left.y - right.y))/2", "lam2", 3, -.00110468033126,
                   1e-3, 2}},
    .energy = 2e-7,
    .mobility = 2,
    .redundant = 0,
    .in_short = 1,
};
