/* Scenes of joints: every kind in space and in the plane, couplings, rolling, and closed loops in space.
 * Joints stand at places and in directions that are nothing special. */
#include "conserve.h"

static const double place[4][3] = {{0.4, 0.1, -0.3}, {0.9, -0.2, -0.6}, {0.5, 0.6, -0.9}, {0, 0, 0}};
static const char *const body[3] = {"one", "two", "three"}, *const centre[3] = {"one_c", "two_c", "three_c"};

static ga_pose between(vf_yard *y, int i)
{
  return vf_random_pose(y, place[i][0] - 0.25, place[i][1] + 0.05, place[i][2] + 0.15);
}

/* ---- Chains: a joint at the root, the same again between two bodies ---- */

/* Where the two ends must not coincide, markers stand apart; a rod is across its hinge's axis z. */
static void apart_add(vf_yard *y, const char *name, ga_joint_kind kind, const char *const end[2],
                      const char *a, const char *b, const ga_pose *at)
{
  const ga_pose off = ga_pose_at(0.3, 0.2, kind == GA_JOINT_DISTANCE ? 0.1 : 0);
  const ga_pose second = mx_pose_compose(at, &off);
  const ga_pose *const pose[2] = {at, &second};
  const char *const frame[2] = {a, b};
  ga_joint_def d = ga_joint_defaults();
  d.name = name;
  d.kind = kind;
  d.a = end[0];
  d.b = end[1];
  for (int k = 0; k < 2; k++) vf_marker_at(y, end[k], frame[k], pose[k]);
  mx_add(y->b, joint, &d);
}

static void joint_add(vf_yard *y, const char *name, ga_joint_kind kind, const char *const end[2],
                      const char *a, const char *b, ga_pose at)
{
  ga_joint_def d = ga_joint_defaults();
  if (kind == GA_JOINT_DISTANCE || kind == GA_JOINT_ROD) {
    apart_add(y, name, kind, end, a, b, &at);
    return;
  }
  d.name = name;
  d.kind = kind;
  d.a = a;
  d.b = b;
  d.at_pose = 1;
  d.at = at;
  d.pitch = 0.3;
  mx_add(y->b, joint, &d);
}

static void chain(const vf_scene *self, vf_yard *y)
{
  static const char *const end[2][2] = {{"end1a", "end1b"}, {"end2a", "end2b"}};
  const ga_joint_kind kind = (ga_joint_kind)self->kind;
  /* two fixed joints would leave nothing to move */
  const ga_joint_kind first = kind != GA_JOINT_FIXED ? kind
                              : self->planar         ? GA_JOINT_REVOLUTE
                                                     : GA_JOINT_SPHERICAL;
  for (int i = 0; i < 2; i++) (self->planar ? vf_planar_add : vf_body_add)(y, body[i], centre[i], place[i]);
  for (int i = 0; i < 2; i++) {
    ga_pose at = between(y, i);
    if (self->planar) {
      static const double z[3] = {0, 0, 1};
      const double flat[3] = {at.position[0], at.position[1], 0};
      at = mx_pose_turned(y->b, flat, z, 0.7 + i);
    }
    joint_add(y, i ? "second" : "first", i ? kind : first, end[i], i ? body[0] : y->root, body[i], at);
  }
}

/* ---- Couplings: two joints at the root, and what couples them ---- */

static void coupled(const vf_scene *self, vf_yard *y)
{
  const int rack = self->kind == GA_JOINT_RACK;
  ga_joint_def d = ga_joint_defaults();
  for (int i = 0; i < 2; i++) vf_body_add(y, body[i], centre[i], place[i]);
  mx_joint_at(y->b, "first", rack ? GA_JOINT_PRISMATIC : GA_JOINT_REVOLUTE, y->root, "one", between(y, 0));
  mx_joint_at(y->b, "second", GA_JOINT_REVOLUTE, y->root, "two", between(y, 1));
  d.name = "coupling";
  d.kind = (ga_joint_kind)self->kind;
  d.a = rack ? "first.displacement" : "first.angle";
  d.b = "second.angle";
  d.ratio = rack ? 0.2 : -1.7;
  mx_add(y->b, joint, &d);
}

/* ---- Rolling, on a plane that is not level ---- */

static void rolling(const vf_scene *self, vf_yard *y)
{
  static const double slope_axis[3] = {1, 0.4, 0}, origin[3] = {0, 0, 0};
  const ga_pose plane = mx_pose_turned(y->b, origin, slope_axis, 0.2);
  ga_rolling_def d = ga_rolling_defaults();
  mx_marker(y->b, "plane", "ground", plane);
  d.name = "rolling";
  d.kind = (ga_rolling_kind)self->kind;
  d.body = "one";
  d.plane = "plane";
  d.radius = 0.3;
  if (self->kind == GA_ROLLING_KNIFE) {
    d.plane = "ground";
    vf_planar_add(y, "one", "one_c", origin);
  } else {
    static const double above[3] = {0, 0, 0.3};
    vf_body_add(y, "one", "one_c", above);
  }
  mx_add(y->b, rolling, &d);
}

#define CHAIN(kind_, name_, seed_)                                                                           \
  {                                                                                                          \
    .name = name_, .build = chain, .kind = kind_, .seed = seed_                                              \
  }
#define PLANAR_CHAIN(kind_, name_, seed_)                                                                    \
  {                                                                                                          \
    .name = name_, .build = chain, .kind = kind_, .seed = seed_, .planar = 1                                 \
  }

static const vf_scene joints[] = {
    CHAIN(GA_JOINT_FIXED, "fixed", 1),
    CHAIN(GA_JOINT_REVOLUTE, "revolute", 2),
    CHAIN(GA_JOINT_PRISMATIC, "prismatic", 3),
    CHAIN(GA_JOINT_CYLINDRICAL, "cylindrical", 4),
    CHAIN(GA_JOINT_SPHERICAL, "spherical", 5),
    CHAIN(GA_JOINT_UNIVERSAL, "universal", 6),
    CHAIN(GA_JOINT_PLANAR, "planar", 7),
    CHAIN(GA_JOINT_POINT_ON_LINE, "point_on_line", 8),
    CHAIN(GA_JOINT_POINT_ON_PLANE, "point_on_plane", 9),
    CHAIN(GA_JOINT_DISTANCE, "distance", 10),
    CHAIN(GA_JOINT_ROD, "rod", 11),
    CHAIN(GA_JOINT_PARALLEL, "parallel", 12),
    CHAIN(GA_JOINT_PERPENDICULAR, "perpendicular", 13),
    CHAIN(GA_JOINT_SCREW, "screw", 14),
    CHAIN(GA_JOINT_CONSTANT_VELOCITY, "constant_velocity", 19),
    CHAIN(GA_JOINT_HEADING, "heading", 20),
    {.name = "gear", .build = coupled, .kind = GA_JOINT_GEAR, .seed = 15},
    {.name = "rack_and_pinion", .build = coupled, .kind = GA_JOINT_RACK, .seed = 16},
    {.name = "rolling sphere", .build = rolling, .kind = GA_ROLLING_SPHERE, .seed = 17, .hung_only = 1},
    {.name = "rolling disk", .build = rolling, .kind = GA_ROLLING_DISK, .seed = 18, .hung_only = 1},
};
const vf_scenes vf_conserve_joints = {"joints in space", joints, (int)(sizeof joints / sizeof *joints)};

static const vf_scene planar[] = {
    PLANAR_CHAIN(GA_JOINT_FIXED, "fixed", 21),
    PLANAR_CHAIN(GA_JOINT_REVOLUTE, "revolute", 22),
    PLANAR_CHAIN(GA_JOINT_PRISMATIC, "prismatic", 23),
    PLANAR_CHAIN(GA_JOINT_SPHERICAL, "spherical", 24),
    PLANAR_CHAIN(GA_JOINT_POINT_ON_LINE, "point_on_line", 25),
    PLANAR_CHAIN(GA_JOINT_DISTANCE, "distance", 26),
    PLANAR_CHAIN(GA_JOINT_ROD, "rod", 27),
    PLANAR_CHAIN(GA_JOINT_PARALLEL, "parallel", 28),
    {.name = "knife edge",
     .build = rolling,
     .kind = GA_ROLLING_KNIFE,
     .seed = 29,
     .hung_only = 1,
     .planar = 1},
};
const vf_scenes vf_conserve_planar = {"joints in the plane", planar, (int)(sizeof planar / sizeof *planar)};

/* ---- Closed loops of three bodies and the root ---- */

enum { RSSR, RSUR, RCCC, HCCC, RSUP, PARALLEL_AXES, N_LOOPS };

static const ga_joint_kind loop_joints[N_LOOPS][4] = {
    [RSSR] = {GA_JOINT_REVOLUTE, GA_JOINT_SPHERICAL, GA_JOINT_SPHERICAL, GA_JOINT_REVOLUTE},
    [RSUR] = {GA_JOINT_REVOLUTE, GA_JOINT_SPHERICAL, GA_JOINT_UNIVERSAL, GA_JOINT_REVOLUTE},
    [RCCC] = {GA_JOINT_REVOLUTE, GA_JOINT_CYLINDRICAL, GA_JOINT_CYLINDRICAL, GA_JOINT_CYLINDRICAL},
    [HCCC] = {GA_JOINT_SCREW, GA_JOINT_CYLINDRICAL, GA_JOINT_CYLINDRICAL, GA_JOINT_CYLINDRICAL},
    [RSUP] = {GA_JOINT_REVOLUTE, GA_JOINT_SPHERICAL, GA_JOINT_UNIVERSAL, GA_JOINT_PRISMATIC},
    [PARALLEL_AXES] = {GA_JOINT_REVOLUTE, GA_JOINT_REVOLUTE, GA_JOINT_REVOLUTE, GA_JOINT_REVOLUTE},
};

static void loop(const vf_scene *self, vf_yard *y)
{
  static const double corner[4][3] = {{0, 0, 0}, {0.3, 0.5, 0.2}, {1.1, 0.7, -0.3}, {1.2, -0.1, 0.1}};
  static const char *const name[4] = {"J1", "J2", "J3", "J4"}, *const end[2] = {NULL, NULL};
  for (int i = 0; i < 3; i++) {
    double middle[3];
    for (int k = 0; k < 3; k++) middle[k] = 0.5 * (corner[i][k] + corner[i + 1][k]);
    vf_body_add(y, body[i], centre[i], middle);
  }
  const ga_pose common = vf_random_pose(y, 0, 0, 0);
  for (int i = 0; i < 4; i++) {
    ga_pose at = vf_random_pose(y, corner[i][0], corner[i][1], corner[i][2]);
    if (self->kind == PARALLEL_AXES)
      for (int k = 0; k < 9; k++) at.rotation[k] = common.rotation[k];
    joint_add(y, name[i], loop_joints[self->kind][i], end, i ? body[i - 1] : y->root,
              i < 3 ? body[i] : y->root, at);
  }
}

/* Bennett's linkage, redundant and mobile (examples/machines/bennett.c). */
static void bennett(const vf_scene *self, vf_yard *y)
{
  const mx_machine *machine = mx_machine_find("bennett");
  (void)self;
  machine->build(machine, y->b);
}

static const vf_scene loops[] = {
    {.name = "revolutes and balls", .build = loop, .kind = RSSR, .seed = 31},
    {.name = "revolutes, ball, universal", .build = loop, .kind = RSUR, .seed = 32},
    {.name = "revolute, cylindricals", .build = loop, .kind = RCCC, .seed = 33},
    {.name = "screw, cylindricals", .build = loop, .kind = HCCC, .seed = 34},
    {.name = "slider-crank", .build = loop, .kind = RSUP, .seed = 35},
    {.name = "parallel revolutes", .build = loop, .kind = PARALLEL_AXES, .seed = 36},
    {.name = "Bennett's linkage", .build = bennett, .hung_only = 1},
};
const vf_scenes vf_conserve_loops = {"closed loops in space", loops, (int)(sizeof loops / sizeof *loops)};
