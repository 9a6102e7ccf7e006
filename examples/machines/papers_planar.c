/* The plane mechanisms of the papers, from parts. examples/pendulum.c, slider_crank.c, slider_crank_hht.c and
 * andrews31.c have the same machines as equations written out; tests/verify/papers.c compares the two.
 *
 *   pendulum_parts, slider_crank_parts, slider_crank_hht_parts, andrews_parts
 *       planar bodies, in the coordinates of the examples: pins without mass are bodies of their own, whose
 *       angle is held
 *   andrews_bars
 *       seven planar bodies, hinged to each other without pins in between */
#include "andrews.h"
#include "machine.h"

static const double pi = 3.14159265358979323846;

static void planar_add(mx_builder *b, const char *name, double mass, double inertia, const double at[2],
                       double angle)
{
  ga_planar_def d = ga_planar_defaults();
  d.name = name;
  d.mass = mass;
  d.inertia = inertia;
  d.position[0] = at[0];
  d.position[1] = at[1];
  d.angle = angle;
  mx_add(b, planar, &d);
}

/* A pin without mass; its angle means nothing and is held. */
static void pin_add(mx_builder *b, const char *name, const char *held, const double at[2])
{
  ga_planar_def d = ga_planar_defaults();
  d.name = name;
  d.massless = 1;
  d.position[0] = at[0];
  d.position[1] = at[1];
  mx_add(b, planar, &d);
  mx_joint(b, held, GA_JOINT_PARALLEL, "ground", name);
}

static void torque_add(mx_builder *b, const char *name, const char *body, double torque)
{
  ga_force_def d = ga_force_defaults();
  d.name = name;
  d.frame = body;
  d.torque[2].value = torque;
  mx_add(b, force, &d);
}

static void coordinate_spring_add(mx_builder *b, const char *name, const char *coordinate, double stiffness,
                                  double damping, double rest)
{
  ga_spring_def d = ga_spring_defaults();
  d.name = name;
  d.coordinate = coordinate;
  d.stiffness = stiffness;
  d.damping = damping;
  d.rest = rest;
  mx_add(b, spring, &d);
}

/* ---- Pendulum, (16) of Jay & Negrut 2008 ---- */

static void pendulum(const mx_machine *self, mx_builder *b)
{
  ga_planar_def d = ga_planar_defaults();
  (void)self;
  d.name = "bar";
  d.mass = 5;
  d.inertia = 5 * 4.0 / 3;
  d.position[1] = -2;
  d.angle = 1.5 * pi;
  d.velocity[0] = 20;
  d.rate = 10;
  mx_add(b, planar, &d);
  mx_marker(b, "end", "bar", ga_pose_at(-2, 0, 0));
  mx_joint(b, "pivot", GA_JOINT_REVOLUTE, "ground", "end");
  coordinate_spring_add(b, "spring", "pivot.angle", 3000, 100, -0.5 * pi);
}

const mx_machine mx_pendulum_parts = {
    .name = "pendulum_parts",
    .title = "pendulum with a torsional spring-damper (Jay & Negrut 2008), planar body",
    .gravity = {0, -9.81, 0},
    .build = pendulum,
    .t_end = 2,
    .h = 2.5e-3,
    .rho = 0.8,
    .reference = {{"bar.x", NULL, 2, 0.030778224027273617, 2e-4, 2},
                  {"bar.angle", NULL, 2, 4.727778699883551, 1e-4, 2},
                  {"bar.vx", NULL, 2, -0.39632193164570867, 1e-3, 2},
                  {"bar.ax", NULL, 2, -2.0904904563054827, 5e-2, 2},
                  {"-pivot.fx", NULL, 2, 10.452452281527414, 0.2, 2}},
    .mobility = 1,
    .redundant = 0,
};

/* ---- Slider-crank with a second mass on a spring, Arnold & Brüls 2007 ---- */

static void slider_crank(const mx_machine *self, mx_builder *b)
{
  static const double crank_length = 0.3, rod_length = 0.6, crank_mass = 0.36, rod_mass = 0.15;
  const double crank_squared = crank_length * crank_length, rod_squared = rod_length * rod_length;
  const double end = sqrt(rod_squared - crank_squared), crank[2] = {0, crank_length / 2},
               hinge[2] = {0, crank_length}, rod[2] = {0.5 * end, crank_length / 2}, slider[2] = {end, 0};
  (void)self;
  planar_add(b, "crank", crank_mass, crank_mass * crank_squared / 12, crank, 0.5 * pi);
  planar_add(b, "rod", rod_mass, rod_mass * rod_squared / 12, rod, -asin(crank_length / rod_length));
  planar_add(b, "slider", 0.1, 1, slider, 0);
  planar_add(b, "second", 0.7, 1, slider, 0);
  pin_add(b, "hinge", "hinge_angle", hinge);
  mx_marker(b, "crank_start", "crank", ga_pose_at(-0.15, 0, 0));
  mx_marker(b, "crank_end", "crank", ga_pose_at(0.15, 0, 0));
  mx_marker(b, "rod_start", "rod", ga_pose_at(-0.3, 0, 0));
  mx_marker(b, "rod_end", "rod", ga_pose_at(0.3, 0, 0));
  mx_joint(b, "axle", GA_JOINT_REVOLUTE, "ground", "crank_start");
  mx_joint(b, "crank_hinge", GA_JOINT_REVOLUTE, "crank_end", "hinge");
  mx_joint(b, "rod_hinge", GA_JOINT_REVOLUTE, "rod_start", "hinge");
  mx_joint(b, "wrist", GA_JOINT_REVOLUTE, "rod_end", "slider");
  mx_joint(b, "guide", GA_JOINT_PRISMATIC, "ground", "slider");
  mx_joint(b, "rail", GA_JOINT_PRISMATIC, "slider", "second");
  coordinate_spring_add(b, "spring", "rail.displacement", 1000, 0, 0);
  torque_add(b, "motor", "crank", 1);
}

const mx_machine mx_slider_crank_parts = {
    .name = "slider_crank_parts",
    .title = "slider-crank with a second mass on a spring (Arnold & Brüls 2007), planar bodies",
    .build = slider_crank,
    .t_end = 1,
    .h = 1.25e-3,
    .rho = 0.7,
    .reference = {{"crank.angle", NULL, 1, 7.414624985538759, 3e-3, 2},
                  {"slider.x", NULL, 1, 0.6626619501461977, 1e-3, 2},
                  {"second.x", NULL, 1, 0.6004431372840047, 5e-4, 2},
                  {"second.vx", NULL, 1, -2.9819389858273913, 2.5e-2, 2},
                  {"wrist.fx", NULL, 1, 42.18602818605168, 1, 2}},
    .energy = 1e-2,
    .mobility = 2,
    .redundant = 0,
};

/* ---- Slider-crank under gravity, after Jay & Negrut 2008 ---- */

static void slider_crank_hht(const mx_machine *self, mx_builder *b)
{
  static const struct {
    const char *name;
    double mass, inertia, x, vy, rate;
  } body[3] = {{"crank", 2, 0.05, 0.25, 2, 8}, {"rod", 1, 0.1, 1, 2, -4}, {"slider", 1.5, 0.01, 1.5, 0, 0}};
  (void)self;
  for (int i = 0; i < 3; i++) {
    ga_planar_def d = ga_planar_defaults();
    d.name = body[i].name;
    d.mass = body[i].mass;
    d.inertia = body[i].inertia;
    d.position[0] = body[i].x;
    d.velocity[1] = body[i].vy;
    d.rate = body[i].rate;
    mx_add(b, planar, &d);
  }
  mx_marker(b, "crank_start", "crank", ga_pose_at(-0.25, 0, 0));
  mx_marker(b, "crank_end", "crank", ga_pose_at(0.25, 0, 0));
  mx_marker(b, "rod_start", "rod", ga_pose_at(-0.5, 0, 0));
  mx_marker(b, "rod_end", "rod", ga_pose_at(0.5, 0, 0));
  mx_joint(b, "axle", GA_JOINT_REVOLUTE, "ground", "crank_start");
  mx_joint(b, "knee", GA_JOINT_REVOLUTE, "crank_end", "rod_start");
  mx_joint(b, "wrist", GA_JOINT_REVOLUTE, "rod_end", "slider");
  mx_joint(b, "guide", GA_JOINT_PRISMATIC, "ground", "slider");
  coordinate_spring_add(b, "spring", "guide.displacement", 40, 0, 1);
}

const mx_machine mx_slider_crank_hht_parts = {
    .name = "slider_crank_hht_parts",
    .title = "slider-crank of three bodies (after Jay & Negrut 2008), planar bodies",
    .gravity = {0, -9.81, 0},
    .build = slider_crank_hht,
    .t_end = 2,
    .h = 0.0078125,
    .rho = 0.8,
    .reference = {{"crank.angle", NULL, 2, 11.589715106631342, 5e-2, 2},
                  {"slider.x", NULL, 2, 1.1900321122162126, 2.5e-2, 2},
                  {"slider.vx", NULL, 2, 3.5533244305125367, 5e-2, 2},
                  {"slider.ax", NULL, 2, -7.3551317440580007, 1.2, 2},
                  {"wrist.fy", NULL, 2, -11.161362837194942, 0.5, 2}},
    .energy = 5e-2,
    .mobility = 1,
    .redundant = 0,
};

/* ---- Andrews' squeezing mechanism ---- */

enum { N_BARS = 7 };

/* At rest; angles against the x axis. X is the centre of mass, seen from where the bar begins. */
typedef struct bar {
  const char *name, *start; /* of the body, and of the marker where it begins */
  double mass, inertia, angle, centre[2];
} bar;

static const bar bars[N_BARS] = {
    {"bar1", "start1", AN_M1, AN_I1, -0.06171389001427645, {AN_RA, 0}},
    {"bar2", "start2", AN_M2, AN_I2, -0.06171389001427645, {-AN_DA, 0}},
    {"bar3", "start3", AN_M3, AN_I3, 0.45527981916307037, {AN_SB, -AN_SA}},
    {"bar4", "start4", AN_M4, AN_I4, 0.7100333697097284, {0, AN_EA}},
    {"bar5", "start5", AN_M5, AN_I5, 0.48736497954384256, {AN_TA, AN_TB}},
    {"bar6", "start6", AN_M6, AN_I6, 1.0078790543839353, {-AN_FA, 0}},
    {"bar7", "start7", AN_M7, AN_I7, 1.2305474445498212, {-AN_UB, -AN_UA}},
};

/* Points of the bars other than their centres: which bar, marker, place seen from where the bar begins. */
static const struct {
  int bar;
  const char *name;
  double X[2];
} points[] = {
    {0, "F1", {AN_RR, 0}}, {1, "P2", {-AN_D, 0}}, {2, "P3", {0, -AN_SS}}, {2, "D3", {AN_SD, -AN_SC}},
    {3, "G4", {0, AN_E}},  {4, "G5", {AN_ZT, 0}}, {5, "H6", {-AN_ZF, 0}}, {6, "H7", {0, -AN_U}},
};
enum { N_POINTS = sizeof points / sizeof *points };

static void bars_add(mx_builder *b)
{
  static const double F[2] = {0.006986674115451445, -0.00043172306456889544};
  static const double P[2] = {-0.020960022346354336, 0.0012951691937066864}, O[2] = {0, 0};
  const double *const base[N_BARS] = {O, F, an_B, P, an_A, P, an_A};
  for (int i = 0; i < N_BARS; i++) {
    double at[2];
    an_rotate(at, bars[i].angle, bars[i].centre);
    at[0] += base[i][0];
    at[1] += base[i][1];
    planar_add(b, bars[i].name, bars[i].mass, bars[i].inertia, at, bars[i].angle);
    mx_marker(b, bars[i].start, bars[i].name, ga_pose_at(-bars[i].centre[0], -bars[i].centre[1], 0));
  }
  for (int i = 0; i < N_POINTS; i++)
    mx_marker(b, points[i].name, bars[points[i].bar].start, ga_pose_at(points[i].X[0], points[i].X[1], 0));
  mx_marker(b, "A", "ground", ga_pose_at(an_A[0], an_A[1], 0));
  mx_marker(b, "B", "ground", ga_pose_at(an_B[0], an_B[1], 0));
  mx_marker(b, "C", "ground", ga_pose_at(an_C[0], an_C[1], 0));
  mx_joint(b, "axle_O", GA_JOINT_REVOLUTE, "ground", "start1");
  mx_joint(b, "axle_B", GA_JOINT_REVOLUTE, "B", "start3");
  mx_joint(b, "axle_5", GA_JOINT_REVOLUTE, "A", "start5");
  mx_joint(b, "axle_7", GA_JOINT_REVOLUTE, "A", "start7");
  torque_add(b, "motor", "bar1", an_torque);
}

static void andrews_spring_add(mx_builder *b, const char *frame)
{
  ga_spring_def d = ga_spring_defaults();
  d.name = "spring";
  d.a = "C";
  d.b = frame;
  d.stiffness = an_stiffness;
  d.rest = an_rest_length;
  mx_add(b, spring, &d);
}

static void andrews_pins(const mx_machine *self, mx_builder *b)
{
  static const double at[5][2] = {{0.006986674115451445, -0.00043172306456889544},
                                  {-0.020960022346354336, 0.0012951691937066864},
                                  {-0.03399720388583998, 0.01646197167499768},
                                  {-0.0316331345074089, -0.015618868668304538},
                                  {-0.010472393888814623, 0.025357788530275246}};
  static const char *const pin[5] = {"F", "P", "G", "H", "D"}, *const held[5] = {"F_angle", "P_angle",
                                                                                 "G_angle", "H_angle",
                                                                                 "D_angle"};
  static const struct {
    const char *name, *bar, *pin;
  } hinge[] = {{"F_1", "F1", "F"},     {"F_2", "start2", "F"}, {"P_2", "P2", "P"}, {"P_3", "P3", "P"},
               {"D_3", "D3", "D"},     {"P_4", "start4", "P"}, {"G_4", "G4", "G"}, {"G_5", "G5", "G"},
               {"P_6", "start6", "P"}, {"H_6", "H6", "H"},     {"H_7", "H7", "H"}};
  (void)self;
  bars_add(b);
  for (int i = 0; i < 5; i++) pin_add(b, pin[i], held[i], at[i]);
  for (size_t i = 0; i < sizeof hinge / sizeof *hinge; i++)
    mx_joint(b, hinge[i].name, GA_JOINT_REVOLUTE, hinge[i].bar, hinge[i].pin);
  andrews_spring_add(b, "D");
}

static void andrews_bars(const mx_machine *self, mx_builder *b)
{
  (void)self;
  bars_add(b);
  mx_joint(b, "hinge_F", GA_JOINT_REVOLUTE, "F1", "start2");
  mx_joint(b, "P_3", GA_JOINT_REVOLUTE, "P3", "P2");
  mx_joint(b, "P_4", GA_JOINT_REVOLUTE, "start4", "P2");
  mx_joint(b, "P_6", GA_JOINT_REVOLUTE, "start6", "P2");
  mx_joint(b, "hinge_G", GA_JOINT_REVOLUTE, "G4", "G5");
  mx_joint(b, "hinge_H", GA_JOINT_REVOLUTE, "H6", "H7");
  andrews_spring_add(b, "D3");
}

#define ANDREWS_REFERENCE                                                                                    \
  {"bar1.angle", NULL, 0.03, 15.810771195153707, 1e-3, 2},                                                   \
      {"bar3.angle", NULL, 0.03, 0.0408222401196458, 1e-5, 2},                                               \
      {"bar1.wz", NULL, 0.03, 1139.9203022591062, 0.3, 2},                                                   \
      {"bar3.wz", NULL, 0.03, 11.032911910618594, 0.3, 2},                                                   \
  {                                                                                                          \
    "-P_3.fx", NULL, 0.03, 199.17534810453864, 0.1, 2                                                        \
  }

const mx_machine mx_andrews_parts = {
    .name = "andrews_parts",
    .title = "Andrews' squeezing mechanism, seven planar bodies and five pins without mass",
    .build = andrews_pins,
    .t_end = 0.03,
    .h = 3e-5,
    .rho = 0.7,
    .reference = {ANDREWS_REFERENCE},
    .energy = 1e-3,
    .mobility = 1,
    .redundant = 0,
};

const mx_machine mx_andrews_bars = {
    .name = "andrews_bars",
    .title = "Andrews' squeezing mechanism, seven planar bodies",
    .build = andrews_bars,
    .t_end = 0.03,
    .h = 3e-5,
    .rho = 0.7,
    .reference = {ANDREWS_REFERENCE},
    .energy = 1e-3,
    .mobility = 1,
    .redundant = 0,
};
