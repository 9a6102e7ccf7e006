/* Scenes of conservative forces. */
#include "conserve.h"

enum { LINE, TABLE, TORSION, TORSION_TABLE, SLIDE, BUSHING, STRAIGHT_BUSHING };

static const double place[2][3] = {{0.6, 0.1, -0.5}, {1.1, -0.3, -0.9}};

static void bodies_add(const vf_scene *self, vf_yard *y)
{
  static const char *const name[2] = {"one", "two"}, *const centre[2] = {"one_c", "two_c"};
  for (int i = 0; i < 2; i++) (self->planar ? vf_planar_add : vf_body_add)(y, name[i], centre[i], place[i]);
  mx_marker(y->b, "hook", y->root, ga_pose_at(0.1, 0.2, self->planar ? 0 : 0.3));
  mx_marker(y->b, "one_eye", "one", ga_pose_at(0.2, -0.1, self->planar ? 0 : 0.15));
  mx_marker(y->b, "one_hook", "one", ga_pose_at(-0.15, 0.2, self->planar ? 0 : -0.1));
  mx_marker(y->b, "two_eye", "two", ga_pose_at(0.1, 0.1, self->planar ? 0 : -0.2));
}

/* A stiffening force by a spline. */
static const ga_function *table_add(vf_yard *y)
{
  static const double x[] = {-2, -1, -0.5, 0, 0.5, 1, 2, 4}, f[] = {-90, -35, -14, 0, 14, 35, 90, 240};
  ga_table_opts o = ga_table_defaults();
  ga_function *function = NULL;
  o.n = (int)(sizeof x / sizeof *x);
  o.x = x;
  o.y = f;
  o.interpolation = GA_INTERPOLATE_SPLINE;
  o.before = o.after = GA_EXTRAPOLATE_LINEAR;
  if (!y->b->status) y->b->status = ga_function_create_table(y->b->ctx, &o, &function);
  if (function) y->b->function[y->b->n_functions++] = function;
  return function;
}

static void spring_add(vf_yard *y, const char *name, const char *a, const char *b, const char *coordinate,
                       const ga_function *force)
{
  ga_spring_def d = ga_spring_defaults();
  d.name = name;
  d.a = a;
  d.b = b;
  d.coordinate = coordinate;
  d.stiffness = force ? 0 : 60;
  d.preload = force ? 0 : 5;
  d.rest = coordinate ? 0.3 : 0.4;
  d.force = force;
  mx_add(y->b, spring, &d);
}

/* Both springs: root and first body, first and second. */
static void springs(const vf_scene *self, vf_yard *y)
{
  const ga_function *force = NULL;
  bodies_add(self, y);
  if (self->kind == TABLE) force = table_add(y);
  spring_add(y, "upper", "hook", "one_eye", NULL, force);
  spring_add(y, "lower", "one_hook", "two_eye", NULL, force);
}

/* On the coordinates of joints. */
static void jointed(const vf_scene *self, vf_yard *y)
{
  const ga_joint_kind kind = self->kind == SLIDE ? GA_JOINT_PRISMATIC : GA_JOINT_REVOLUTE;
  const char *coordinate[2] = {"first.angle", "second.angle"};
  const ga_function *force = NULL;
  bodies_add(self, y);
  if (self->kind == SLIDE) coordinate[0] = "first.displacement", coordinate[1] = "second.displacement";
  if (self->kind == TORSION_TABLE) force = table_add(y);
  for (int i = 0; i < 2; i++) {
    ga_pose at = vf_random_pose(y, place[i][0] - 0.2, place[i][1], self->planar ? 0 : place[i][2] + 0.2);
    if (self->planar) at = ga_pose_at(at.position[0], at.position[1], 0);
    mx_joint_at(y->b, i ? "second" : "first", kind, i ? "one" : y->root, i ? "two" : "one", at);
    spring_add(y, i ? "lower" : "upper", NULL, NULL, coordinate[i], force);
  }
}

/* Symmetric stiffness, coupled in all directions, with a preload. */
static void bushing_add(vf_yard *y, const char *name, const char *a, const char *b, int straight)
{
  ga_bushing_def d = ga_bushing_defaults();
  const int n = straight ? 3 : 6;
  d.name = name;
  d.a = a;
  d.b = b;
  for (int i = 0; i < n; i++) {
    d.preload[i] = 0.5 + 0.2 * i;
    for (int j = 0; j < n; j++)
      d.stiffness[6 * i + j] = i == j ? (i < 3 ? 150 + 10 * i : 20 + i) : 2 + 0.3 * (i + j);
  }
  mx_add(y->b, bushing, &d);
}

/* Both frames of a bushing are together at the start: of its angles only one may become large. */
static void bushings(const vf_scene *self, vf_yard *y)
{
  bodies_add(self, y);
  const ga_pose at[2] = {vf_random_pose(y, 0.3, 0, -0.2), vf_random_pose(y, 0.8, -0.1, -0.7)};
  vf_marker_at(y, "upper_a", y->root, &at[0]);
  vf_marker_at(y, "upper_b", "one", &at[0]);
  vf_marker_at(y, "lower_a", "one", &at[1]);
  vf_marker_at(y, "lower_b", "two", &at[1]);
  bushing_add(y, "upper", "upper_a", "upper_b", self->kind == STRAIGHT_BUSHING);
  bushing_add(y, "lower", "lower_a", "lower_b", self->kind == STRAIGHT_BUSHING);
}

/* Bodies with ball-like corners that bounce on a plane of the root; kind is ten times the exponent. */
static void contact(const vf_scene *self, vf_yard *y)
{
  static const char *const name[2] = {"upper", "lower"}, *const eye[2] = {"one_eye", "two_eye"};
  bodies_add(self, y);
  const ga_pose below = ga_pose_at(0, 0, -1);
  vf_marker_at(y, "plane", y->root, &below);
  for (int i = 0; i < 2; i++) {
    ga_contact_def d = ga_contact_defaults();
    d.name = name[i];
    d.plane = "plane";
    d.point = eye[i];
    d.radius = 0.25;
    d.stiffness = 2000;
    d.exponent = 0.1 * self->kind;
    mx_add(y->b, contact, &d);
  }
  spring_add(y, "tie", "one_hook", "two_eye", NULL, NULL);
  spring_add(y, "leash", "hook", "one_c", NULL, NULL);
}

static void alone(const vf_scene *self, vf_yard *y)
{
  bodies_add(self, y);
}

static const vf_scene forces[] = {
    {.name = "gravity alone", .build = alone, .seed = 41},
    {.name = "line spring", .build = springs, .kind = LINE, .seed = 42},
    {.name = "line spring, planar", .build = springs, .kind = LINE, .seed = 43, .planar = 1},
    {.name = "table spring", .build = springs, .kind = TABLE, .seed = 44},
    {.name = "torsion spring", .build = jointed, .kind = TORSION, .seed = 45},
    {.name = "torsion spring, planar", .build = jointed, .kind = TORSION, .seed = 46, .planar = 1},
    {.name = "torsion spring by table", .build = jointed, .kind = TORSION_TABLE, .seed = 47},
    {.name = "spring on a slide", .build = jointed, .kind = SLIDE, .seed = 48},
    {.name = "bushing", .build = bushings, .kind = BUSHING, .seed = 49},
    {.name = "bushing without torques", .build = bushings, .kind = STRAIGHT_BUSHING, .seed = 50},
    {.name = "contact, exponent 1.5", .build = contact, .kind = 15, .seed = 51, .acts = "lower.normal"},
    {.name = "contact, exponent 2", .build = contact, .kind = 20, .seed = 51, .acts = "lower.normal"},
};
const vf_scenes vf_conserve_forces = {"forces", forces, (int)(sizeof forces / sizeof *forces)};
