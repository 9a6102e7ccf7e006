/* n_four_bar_1, _2, _3, _5, _10, _40: problem A02 of the IFToMM benchmarks. N windows of a chain of
 * parallelograms, 2N + 1 uniform links of 1 kg and 1 m: N + 1 stand on the ground at (i, 0), N join their
 * tops. When the links lie flat the mobility jumps from 1 to N + 1; the machine must come out as
 * parallelograms all the same.
 *
 * Exact: with the angle θ of the standing links from the vertical, θ'' = (g/L) c sin θ, c = ((N+1)/2 +
 * N)/((N+1)/3 + N). `off`: of the energy, which grows with N, by 2e-5 to 4e-5 of it. */
#include "machine.h"
#include <stdio.h>

static const double half_pi = 1.5707963267948966;

static void link_add(mx_builder *b, const char *name, double x, double y, double angle, double vx,
                     double rate)
{
  ga_planar_def d = ga_planar_defaults();
  d.name = name;
  d.mass = 1.0;
  d.inertia = 1.0 / 12.0;
  d.position[0] = x;
  d.position[1] = y;
  d.angle = angle;
  d.velocity[0] = vx;
  d.rate = rate;
  mx_add(b, planar, &d);
}

static void build(const mx_machine *self, mx_builder *b)
{
  char post[24], top[24], pin[24];
  for (int i = 0; i <= self->variant; i++) {
    snprintf(post, sizeof post, "post%d", i);
    link_add(b, post, i, 0.5, half_pi, 0.5, -1.0);
    snprintf(pin, sizeof pin, "A%d", i);
    mx_joint_at(b, pin, GA_JOINT_REVOLUTE, "ground", post, ga_pose_at(i, 0, 0));
  }
  for (int i = 0; i < self->variant; i++) {
    snprintf(top, sizeof top, "top%d", i);
    link_add(b, top, i + 0.5, 1.0, 0.0, 1.0, 0.0);
    snprintf(post, sizeof post, "post%d", i);
    snprintf(pin, sizeof pin, "B%d_right", i);
    mx_joint_at(b, pin, GA_JOINT_REVOLUTE, post, top, ga_pose_at(i, 1, 0));
    snprintf(post, sizeof post, "post%d", i + 1);
    snprintf(pin, sizeof pin, "B%d_left", i + 1);
    mx_joint_at(b, pin, GA_JOINT_REVOLUTE, post, top, ga_pose_at(i + 1, 1, 0));
  }
  mx_marker(b, "B0", "post0", ga_pose_at(0.5, 0, 0));
}

#define N_FOUR_BAR(n, end, off)                                                                              \
  const mx_machine mx_n_four_bar_##n = {                                                                     \
      .name = "n_four_bar_" #n,                                                                              \
      .title = "chain of parallelograms, " #n " windows, through flat positions (IFToMM A02)",               \
      .gravity = {0, -9.81, 0},                                                                              \
      .build = build,                                                                                        \
      .variant = n,                                                                                          \
      .t_end = 10.0,                                                                                         \
      .h = 1e-3,                                                                                             \
      .rho = 0.95,                                                                                           \
      .file = "A02_N" #n,                                                                                    \
      .reference = {{"B0.x", "B0x", 10, end, 2e-4, 2},                                                       \
                    {"B0.y", "B0y", 0, 0, 2e-4, 2},                                                          \
                    {"B0.vx", "B0vx", 0, 0, 1e-3, 2},                                                        \
                    {"-A0.angle", "theta", 0, 0, 2e-4, 2},                                                   \
                    {"-A0.angle_rate", "thetadot", 0, 0, 4e-4, 2}},                                          \
      .energy = off,                                                                                         \
      .mobility = 1,                                                                                         \
      .redundant = 0,                                                                                        \
      .in_short = n == 1,                                                                                    \
  }

N_FOUR_BAR(1, 0.478385057760971, 2e-3);
N_FOUR_BAR(2, 0.328458111540815, 2e-3);
N_FOUR_BAR(3, 0.277231761061099, 2e-3);
N_FOUR_BAR(5, 0.235789135843037, 2e-3);
N_FOUR_BAR(10, 0.204353560987198, 5e-3);
N_FOUR_BAR(40, 0.180512226689578, 2e-2);
