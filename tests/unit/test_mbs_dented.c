/* Meshes that are not convex: closed forms in grooves, over seams, through holes and in bowls; derivatives;
 * what is refused. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "mbs/dented.h"
#include "mbs/collider.h"
#include "mbs_shop.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_POINTS = 2500, MOST_TRIANGLES = 5000 };

typedef struct surface {
  int n_points, n_triangles;
  double point[3 * MOST_POINTS], triangle[3 * MOST_TRIANGLES];
} surface;

static int add_point(surface *s, double x, double y, double z)
{
  assert_true(s->n_points < MOST_POINTS);
  double *p = s->point + 3 * s->n_points;
  p[0] = x, p[1] = y, p[2] = z;
  return s->n_points++;
}

static void add_triangle(surface *s, int a, int b, int c)
{
  assert_true(s->n_triangles < MOST_TRIANGLES);
  double *t = s->triangle + 3 * s->n_triangles++;
  t[0] = a, t[1] = b, t[2] = c;
}

static void add_square(surface *s, int a, int b, int c, int d)
{
  add_triangle(s, a, b, c);
  add_triangle(s, a, c, d);
}

/* Columns of a grid of `n` by `n` squares of size 1 about the origin, on the height z(i, j) of their points,
 * down to −1; a square with hole(i, j) is left out, with walls down. */
static void make_plate(surface *s, int n, double (*z)(int, int), int (*hole)(int, int))
{
  int top[16][16], low[16][16];
  s->n_points = s->n_triangles = 0;
  for (int i = 0; i <= n; i++)
    for (int j = 0; j <= n; j++) {
      top[i][j] = add_point(s, i - 0.5 * n, j - 0.5 * n, z(i, j));
      low[i][j] = add_point(s, i - 0.5 * n, j - 0.5 * n, -1);
    }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      static const int SIDE[4][4] = {{0, 0, 1, 0}, {1, 0, 1, 1}, {1, 1, 0, 1}, {0, 1, 0, 0}},
                       BESIDE[4][2] = {{0, -1}, {1, 0}, {0, 1}, {-1, 0}};
      if (hole(i, j)) continue;
      add_square(s, top[i][j], top[i + 1][j], top[i + 1][j + 1], top[i][j + 1]);
      add_square(s, low[i][j], low[i][j + 1], low[i + 1][j + 1], low[i + 1][j]);
      for (int k = 0; k < 4; k++) {
        const int a = i + BESIDE[k][0], b = j + BESIDE[k][1];
        if (a >= 0 && a < n && b >= 0 && b < n && !hole(a, b)) continue;
        const int *c = SIDE[k];
        add_square(s, low[i + c[0]][j + c[1]], low[i + c[2]][j + c[3]], top[i + c[2]][j + c[3]],
                   top[i + c[0]][j + c[1]]);
      }
    }
}

static int no_hole(int i, int j)
{
  return (void)i, (void)j, 0;
}

static int middle_hole(int i, int j)
{
  return i == 1 && j == 1;
}

static double level(int i, int j)
{
  return (void)i, (void)j, 0;
}

/* Walls at 45° from the line x = 0. */
static double groove(int i, int j)
{
  return (void)j, abs(i - 2);
}

/* Level but for a pit at one corner of the plate. */
static double pit(int i, int j)
{
  return i == 1 && j == 1 ? -0.5 : 0;
}

static void add_mesh(shop *s, const char *name, const char *frame, const surface *of, double radius)
{
  ga_collider_def d = ga_collider_defaults();
  d.kind = GA_COLLIDER_MESH, d.name = name, d.frame = frame, d.radius = radius;
  d.points = of->point, d.n_points = of->n_points, d.point_size = 3;
  d.triangles = of->triangle, d.n_triangles = of->n_triangles, d.triangle_size = 3;
  SHOP_ADD(s, collider, &d);
}

static void add_body(shop *s, const char *name, double mass, double x, double y, double z, double vx,
                     double vz)
{
  ga_rigid_def d = ga_rigid_defaults();
  d.name = name, d.mass = mass;
  for (int i = 0; i < 3; i++) d.inertia[i] = 0.4 * mass * 0.01;
  d.pose = ga_pose_at(x, y, z);
  d.velocity[0] = vx, d.velocity[2] = vz;
  SHOP_ADD(s, rigid, &d);
}

static void add_ball(shop *s, const char *frame, double radius)
{
  ga_collider_def d = ga_collider_defaults();
  d.kind = GA_COLLIDER_SPHERE, d.name = "round", d.frame = frame, d.radius = radius;
  SHOP_ADD(s, collider, &d);
}

static void add_box(shop *s, const char *frame, double x, double y, double z, double radius)
{
  ga_collider_def d = ga_collider_defaults();
  d.kind = GA_COLLIDER_BOX, d.name = "round", d.frame = frame, d.radius = radius;
  d.size[0] = x, d.size[1] = y, d.size[2] = z;
  SHOP_ADD(s, collider, &d);
}

static ga_collision_def on_mesh(double dissipation)
{
  ga_collision_def d = ga_collision_defaults();
  d.name = "hit", d.a = "round", d.b = "ground_mesh";
  d.stiffness = 1e5, d.exponent = 1, d.dissipation = dissipation, d.mu = 0, d.speed = 1e-3;
  return d;
}

static void simulate(shop *s, double t_end, double tol)
{
  double q[RIG_MOST], v[RIG_MOST], x[RIG_MOST];
  ga_simulate_opts o = ga_simulate_defaults();
  ga_simulator *sim = NULL;
  o.t_end = t_end, o.rtol = o.atol = tol;
  shop_build(s);
  assert_status(s->ctx, ga_machine_initial(s->m, q, v, x), GA_OK);
  assert_status(s->ctx, ga_stepper_create(s->ctx, ga_machine_system(s->m), NULL, &s->st), GA_OK);
  assert_status(s->ctx, ga_simulator_create(s->ctx, s->st, &o, &sim), GA_OK);
  assert_status(s->ctx, ga_simulator_start(sim, NULL, 0, q, v, x, NULL, NULL, NULL), GA_OK);
  assert_status(s->ctx, ga_simulator_run(sim), GA_OK);
  ga_simulator_destroy(&sim);
}

static double signal_at_end(const shop *s, const char *name)
{
  return shop_signal(s, ga_stepper_state(s->st), name);
}

static const double g = 9.81;

/* At rest on both walls of a groove of 90°: N = m g/√2 on each, and sliding along it is free. */
static void ball_in_a_groove(void **state)
{
  surface *plate = calloc(1, sizeof *plate);
  const double r = 0.1, N = g / sqrt(2), depth = N / 1e5;
  (void)state;
  assert_non_null(plate);
  make_plate(plate, 4, groove, no_hole);
  shop s = shop_open(GA_FORM_SPACE, -g);
  add_body(&s, "ball", 1, 0, 0.1, (r - depth) * sqrt(2), 0, 0);
  add_mesh(&s, "ground_mesh", "ground", plate, 0);
  add_ball(&s, "ball", r);
  const ga_collision_def d = on_mesh(0);
  SHOP_ADD(&s, collision, &d);
  simulate(&s, 0.2, 1e-9);
  assert_near(signal_at_end(&s, "ball.z"), (r - depth) * sqrt(2), 1e-10, "height");
  assert_near(signal_at_end(&s, "hit.normal"), 2 * N, 1e-5, "both normal forces");
  assert_near(signal_at_end(&s, "hit.fz"), g, 1e-5, "weight");
  assert_near(signal_at_end(&s, "hit.fx"), 0, 1e-9, "across");
  shop_close(&s);
  free(plate);
}

/* A ball that slides on 16 level squares feels neither their sides nor their diagonals; the pit makes the
 * mesh not convex. */
static void seams_are_not_felt(void **state)
{
  surface *plate = calloc(1, sizeof *plate);
  const double r = 0.1;
  (void)state;
  assert_non_null(plate);
  make_plate(plate, 6, pit, no_hole);
  shop s = shop_open(GA_FORM_SPACE, -g);
  add_body(&s, "ball", 1, 1.8, 1.4, r - g / 1e5, -1, 0);
  add_mesh(&s, "ground_mesh", "ground", plate, 0);
  add_ball(&s, "ball", r);
  const ga_collision_def d = on_mesh(0);
  SHOP_ADD(&s, collision, &d);
  shop_start(&s);
  for (int i = 0; i < 360; i++) {
    assert_status(s.ctx, ga_stepper_step(s.st, 0.01), GA_OK);
    const ga_state *at = ga_stepper_state(s.st);
    assert_near(shop_signal(&s, at, "hit.normal"), g, 1e-9, "normal force");
    assert_near(shop_signal(&s, at, "ball.vx"), -1, 1e-12, "speed along");
    assert_near(shop_signal(&s, at, "ball.vz"), 0, 1e-12, "speed up");
  }
  shop_close(&s);
  free(plate);
}

/* A box falls freely through a hole that it fits, although balls and boxes around both overlap; a wider one
 * is caught by the rim: its edges cross those of the hole. */
static void box_and_a_hole(void **state)
{
  surface *plate = calloc(1, sizeof *plate);
  (void)state;
  assert_non_null(plate);
  make_plate(plate, 3, level, middle_hole);
  for (int wide = 0; wide < 2; wide++) {
    shop s = shop_open(GA_FORM_SPACE, -g);
    ga_collision_def d = on_mesh(1);
    d.dissipation = 5;
    add_body(&s, "ball", 1, 0, 0, 0.5, 0, 0);
    add_mesh(&s, "ground_mesh", "ground", plate, 0);
    add_box(&s, "ball", wide ? 1.2 : 0.9, wide ? 0.6 : 0.9, 0.4, 0.01);
    SHOP_ADD(&s, collision, &d);
    simulate(&s, wide ? 2 : 0.9, 1e-6);
    if (!wide) assert_near(signal_at_end(&s, "ball.z"), 0.5 - 0.5 * g * 0.81, 1e-9, "free fall");
    if (!wide) assert_near(signal_at_end(&s, "hit.normal"), 0, 0, "no force");
    if (wide) assert_near(signal_at_end(&s, "hit.fz"), g, 1e-2, "it rests");
    if (wide) assert_near(signal_at_end(&s, "ball.z"), 0.2 - g / 4e5, 2e-5, "on four places");
    shop_close(&s);
  }
  free(plate);
}

/* A cap of a hollow ball of radius 1 in n rings of m points, to 60°, in a solid with a flat bottom. */
static void make_bowl(surface *s, int n, int m)
{
  const double top = 1;
  s->n_points = s->n_triangles = 0;
  const int pole = add_point(s, 0, 0, -1);
  for (int i = 1; i <= n; i++)
    for (int j = 0; j < m; j++) {
      const double a = top * i / n, b = 2 * acos(-1) * (j + 0.5 * (i % 2)) / m;
      add_point(s, sin(a) * cos(b), sin(a) * sin(b), -cos(a));
    }
  for (int j = 0; j < m; j++) add_triangle(s, pole, 1 + j, 1 + (j + 1) % m);
  for (int i = 1; i < n; i++)
    for (int j = 0; j < m; j++) {
      const int a = 1 + (i - 1) * m + j, b = 1 + (i - 1) * m + (j + 1) % m, c = a + m, d = b + m;
      if (i % 2 == 0)
        add_triangle(s, a, c, b), add_triangle(s, c, d, b);
      else
        add_triangle(s, a, c, d), add_triangle(s, a, d, b);
    }
  const int rim = 1 + (n - 1) * m, base = s->n_points;
  for (int j = 0; j < m; j++) add_point(s, s->point[3 * (rim + j)], s->point[3 * (rim + j) + 1], -1.3);
  const int centre = add_point(s, 0, 0, -1.3);
  for (int j = 0; j < m; j++) {
    const int k = (j + 1) % m;
    add_square(s, rim + j, base + j, base + k, rim + k);
    add_triangle(s, centre, base + k, base + j);
  }
}

/* The angle of a pendulum of length l after a time, by the classical Runge-Kutta method. */
static double pendulum(double l, double angle, double t)
{
  const int n = 20000;
  const double h = t / n;
  double w = 0;
  for (int i = 0; i < n; i++) {
    const double k1 = -g / l * sin(angle), k2 = -g / l * sin(angle + h / 2 * w),
                 k3 = -g / l * sin(angle + h / 2 * w + h * h / 4 * k1),
                 k4 = -g / l * sin(angle + h * w + h * h / 2 * k2);
    angle += h * w + h * h / 6 * (k1 + k2 + k3);
    w += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
  }
  return angle;
}

/* A ball without friction in a bowl of ever smaller triangles, off the lines on which their corners are. */
static void ball_in_a_bowl(void **state)
{
  surface *bowl = calloc(1, sizeof *bowl);
  const double r = 0.1, l = 1 - r, angle = 0.4, turned = 0.3, t = 0.8;
  const double exact = l * sin(pendulum(l, angle, t));
  double before = HUGE_VAL;
  (void)state;
  assert_non_null(bowl);
  for (int n = 6; n <= (rig_brief() ? 6 : 24); n *= 2) {
    make_bowl(bowl, n, 3 * n);
    shop s = shop_open(GA_FORM_SPACE, -g);
    add_body(&s, "ball", 1, l * sin(angle) * cos(turned), l * sin(angle) * sin(turned), -l * cos(angle), 0,
             0);
    add_mesh(&s, "ground_mesh", "ground", bowl, 0);
    add_ball(&s, "ball", r);
    const ga_collision_def d = on_mesh(1);
    SHOP_ADD(&s, collision, &d);
    simulate(&s, t, 1e-6);
    const double error = hypot(signal_at_end(&s, "ball.x") - exact * cos(turned),
                               signal_at_end(&s, "ball.y") - exact * sin(turned));
    assert_true(error < 0.4 * before);
    before = error;
    shop_close(&s);
  }
  if (!rig_brief()) assert_near(before, 0, 4e-3, "at last");
  free(bowl);
}

/* A ball falls into a trough on a free body: what one gets the other loses, and it may not leave upwards
 * faster. */
static void a_mesh_may_move(void **state)
{
  surface *plate = calloc(1, sizeof *plate);
  (void)state;
  assert_non_null(plate);
  make_plate(plate, 4, groove, no_hole);
  shop s = shop_open(GA_FORM_BODY, 0);
  add_body(&s, "ball", 1, 0.15, 0.1, 0.5, 0, -2);
  add_body(&s, "cup", 3, 0, 0, 0, 0.1, 0);
  add_mesh(&s, "ground_mesh", "cup", plate, 0);
  add_ball(&s, "ball", 0.1);
  const ga_collision_def d = on_mesh(0.1);
  SHOP_ADD(&s, collision, &d);
  simulate(&s, 0.4, 1e-8);
  assert_true(fabs(signal_at_end(&s, "ball.vx")) > 0.3);
  assert_near(signal_at_end(&s, "ball.vx") + 3 * signal_at_end(&s, "cup.vx"), 0.3, 1e-6, "momentum along x");
  assert_near(signal_at_end(&s, "ball.vz") + 3 * signal_at_end(&s, "cup.vz"), -2, 1e-6, "momentum along z");
  shop_close(&s);
  free(plate);
}

/* Balls, capsules and boxes pressed into a groove by a tenth of a metre: several places, creases of 20°. */
static double shallow(int i, int j)
{
  return (void)j, 0.17 * abs(i - 2);
}

static void derivatives_are_right(void **state)
{
  surface *plate = calloc(1, sizeof *plate);
  (void)state;
  assert_non_null(plate);
  for (int k = 0; k < 12; k += rig_brief() ? 5 : 1) {
    rig_random random = rig_seed(k);
    const int deep = k / 6, kind = k % 3;
    make_plate(plate, 4, deep ? groove : shallow, no_hole);
    shop s = shop_open((ga_form)(k % 3), -g);
    add_body(&s, "cup", 1, 0, 0, 0, 0, 0);
    add_body(&s, "ball", 1, 0.02, 0.15, (deep ? 0.75 : 0.4) + (kind ? 0.02 : 0) + (kind == 2 ? 0.3 : 0), 0, 0);
    add_mesh(&s, "ground_mesh", "cup", plate, 0.05);
    if (kind == 0) add_ball(&s, "ball", 0.5);
    if (kind == 1) add_box(&s, "ball", 0.9, 0.8, 0.7, 0.15);
    if (kind == 2) add_box(&s, "ball", 0.3, 0.8, 1, 0.1);
    ga_collision_def d = on_mesh(0.1);
    d.stiffness = 20, d.mu = 0.6, d.speed = 0.5;
    SHOP_ADD(&s, collision, &d);
    shop_build(&s);
    char what[64];
    snprintf(what, sizeof what, "case %d", k);
    shop_check(&s, &random, rig_brief() ? 1 : 3, 0.03, 5e-6, what);
    shop_close(&s);
  }
  free(plate);
}

/* Points about a notched plate against all triangles: the sign, the distance, and that something is near from
 * outside. */
static void nearest_places(void **state)
{
  surface *plate = calloc(1, sizeof *plate);
  ga_context *ctx = NULL;
  rig_random random = rig_seed(3);
  (void)state;
  assert_non_null(plate);
  assert_int_equal(rig_context(&ctx), GA_OK);
  make_plate(plate, 3, level, middle_hole);
  ga_collider_def d = ga_collider_defaults();
  d.kind = GA_COLLIDER_MESH, d.name = "c", d.frame = "ground", d.radius = 0;
  d.points = plate->point, d.n_points = plate->n_points, d.point_size = 3;
  d.triangles = plate->triangle, d.n_triangles = plate->n_triangles, d.triangle_size = 3;
  const ga__part part = {.def = (void *)&d};
  ga__solid s;
  assert_int_equal(ga__solid_create(ctx, &part, &s), GA_OK);
  assert_non_null(s.dents);
  assert_int_equal(s.n_corners, 8); /* those of the plate; the hole's cannot be touched from one direction */
  for (int k = 0; k < (rig_brief() ? 100 : 20000); k++) {
    double x[3];
    ga__features near[GA__MOST_TOUCHES];
    for (int i = 0; i < 3; i++) x[i] = rig_uniform(&random, -2.2, 2.2);
    /* of the plate [-1.5, 1.5]² × [-1, 0] without [-0.5, 0.5]² */
    const double out[3] = {fmax(fabs(x[0]) - 1.5, 0), fmax(fabs(x[1]) - 1.5, 0),
                           fmax(fmax(x[2], -1 - x[2]), 0)};
    const double hole = fmin(0.5 - fabs(x[0]), 0.5 - fabs(x[1]));
    const double box = sqrt(out[0] * out[0] + out[1] * out[1] + out[2] * out[2]);
    const double within = fmin(fmin(1.5 - fabs(x[0]), 1.5 - fabs(x[1])), fmin(-x[2], 1 + x[2]));
    const double beside = hypot(fmax(fabs(x[0]) - 0.5, 0), fmax(fabs(x[1]) - 0.5, 0)); /* from the hole */
    const double exact = hole > 0 ? hypot(hole, out[2]) : box > 0 ? box : -fmin(within, beside);
    assert_int_equal(ga__dents_near(&s, x, INFINITY, near), 1);
    assert_near(near[0].of[0].distance, exact, 1e-12, "distance");
    if (exact <= 0) continue;
    int found = 0;
    const int n = ga__dents_near(&s, x, exact * (1 + 1e-9) + 1e-9, near);
    for (int i = 0; i < n; i++) found |= fabs(near[i].of[0].distance - exact) < 1e-12;
    assert_true(found);
    assert_int_equal(ga__dents_near(&s, x, exact * (1 - 1e-9), near), 0);
  }
  ga__solid_free(ctx, &s);
  ga_context_destroy(&ctx);
  free(plate);
}

/* ---- What is refused ---- */

static void refused_pairs(void **state)
{
  static const char *const SAYS[3] = {"nor is the other one", "a radius of more than the depth",
                                      "leave stick out"};
  surface *plate = calloc(1, sizeof *plate);
  (void)state;
  assert_non_null(plate);
  make_plate(plate, 4, groove, no_hole);
  for (int k = 0; k < 3; k++) {
    shop s = shop_open(GA_FORM_SPACE, 0);
    ga_collision_def d = on_mesh(0);
    add_body(&s, "ball", 1, 0, 0, 5, 0, 0);
    add_mesh(&s, "ground_mesh", "ground", plate, 0);
    if (k == 0) add_mesh(&s, "round", "ball", plate, 0.1);
    if (k > 0) add_box(&s, "ball", 1, 1, 1, k == 1 ? 0 : 0.1);
    d.mu = 0.5, d.stick = k == 2 ? 1e-3 : 0;
    SHOP_ADD(&s, collision, &d);
    assert_status(s.ctx, ga_machine_build(s.m), GA_ERR_ARGUMENT);
    assert_says(s.ctx, SAYS[k]);
    shop_close(&s);
  }
  free(plate);
}

static surface *shared; /* of shops whose memory fails */

static shop with_a_groove(void)
{
  shop s = shop_open(GA_FORM_SPACE, -g);
  add_body(&s, "ball", 1, 0, 0, 0.13, 0, 0);
  add_mesh(&s, "ground_mesh", "ground", shared, 0);
  add_ball(&s, "ball", 0.1);
  const ga_collision_def d = on_mesh(0);
  SHOP_ADD(&s, collision, &d);
  return s;
}

static void memory_may_fail(void **state)
{
  (void)state;
  shared = calloc(1, sizeof *shared);
  assert_non_null(shared);
  make_plate(shared, 4, groove, no_hole);
  shop_fail_memory(with_a_groove);
  free(shared);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nearest_places),   cmocka_unit_test(derivatives_are_right),
      cmocka_unit_test(ball_in_a_groove), cmocka_unit_test(seams_are_not_felt),
      cmocka_unit_test(box_and_a_hole),   cmocka_unit_test(ball_in_a_bowl),
      cmocka_unit_test(a_mesh_may_move),  cmocka_unit_test(refused_pairs),
      cmocka_unit_test(memory_may_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
