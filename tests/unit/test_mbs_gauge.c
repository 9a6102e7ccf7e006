/* Gauges: gradient and curvature against fourth-order differences, masks, and rates along a motion. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>
#include "galpha/lie.h"
#include "lie/mat3.h"
#include "mbs/mbs_impl.h"
#include "seeds.h"

static const double pi = 3.14159265358979323846;

/* ---- Two nodes, two markers, and a gauge between them ------------------------------------------- */

enum { N_NODES = 3, N_POSES = 200 }; /* node 0 is the ground */

typedef struct scene {
  ga__kin kin[N_NODES];
  ga__marker marker[2];
  ga__gauge gauge;
} scene;

static rig_random random_numbers;
static double uniform(double low, double high)
{
  return rig_uniform(&random_numbers, low, high);
}

/* R → exp(d~) R */
static void turn(double R[9], const double d[3])
{
  double E[9], old[9];
  const double f = sqrt(ga__vec3_dot(d, d));
  memcpy(old, R, sizeof old);
  const double s = f > 1e-4 ? sin(f) / f : 1 - f * f / 6;
  const double c = f > 1e-4 ? (1 - cos(f)) / (f * f) : 0.5 - f * f / 24;
  ga__mat3_about(E, cos(f), s, c, d);
  ga__mat3_mul(R, E, old);
}

static void random_rotation(double R[9])
{
  memset(R, 0, 9 * sizeof *R);
  R[0] = R[4] = R[8] = 1;
  for (int k = 0; k < 3; k++) {
    const double d[3] = {uniform(-2, 2), uniform(-2, 2), uniform(-2, 2)};
    turn(R, d);
  }
}

static void make_ground(ga__kin *kin)
{
  memset(kin, 0, sizeof *kin);
  kin->R[0] = kin->R[4] = kin->R[8] = 1;
}

static void random_scene(scene *s, const ga__gauge *gauge, int node_a, int node_b)
{
  memset(s, 0, sizeof *s);
  s->gauge = *gauge;
  s->gauge.a = 0;
  s->gauge.b = 1;
  make_ground(&s->kin[0]);
  for (int n = 1; n < N_NODES; n++) {
    random_rotation(s->kin[n].R);
    for (int i = 0; i < 3; i++) s->kin[n].x[i] = uniform(-2, 2);
    s->kin[n].angle = uniform(-20, 20);
  }
  for (int m = 0; m < 2; m++) {
    s->marker[m].node = m ? node_b : node_a;
    random_rotation(s->marker[m].A);
    for (int i = 0; i < 3; i++) s->marker[m].s[i] = uniform(-1, 1);
  }
}

/* Component 0..5 of a's node's twist, 6..11 of b's, by h. */
static void perturb(scene *s, int component, double h)
{
  ga__kin *kin = &s->kin[s->marker[component / 6].node];
  const int c = component % 6;
  if (c < 3) {
    kin->x[c] += h;
    return;
  }
  double d[3] = {0, 0, 0};
  d[c - 3] = h;
  turn(kin->R, d);
  if (c == 5) kin->angle += h;
}

static ga__gauge_eval look(const scene *s)
{
  ga__gauge_eval sight;
  ga__gauge_eval_at(&sight, &s->gauge, s->marker, s->kin);
  return sight;
}
static double value(const scene *s)
{
  const ga__gauge_eval sight = look(s);
  return ga__gauge_value(&sight);
}
static void gradient(double g[12], const scene *s)
{
  const ga__gauge_eval sight = look(s);
  ga__gauge_gradient(g, &sight);
}
static void curvature(double K[144], const scene *s)
{
  const ga__gauge_eval sight = look(s);
  ga__gauge_curvature(K, &sight);
}

/* Angles jump by 2π; their differences do not. */
static double step_of(const ga__gauge *g, double now, double before)
{
  return g->kind == GA__ANGLE || g->kind == GA__TWIST ? remainder(now - before, 2 * pi) : now - before;
}

static double largest(const double *a, int n)
{
  double m = 0;
  for (int i = 0; i < n; i++) {
    assert_true(isfinite(a[i]));
    m = fmax(m, fabs(a[i]));
  }
  return m;
}

static const double weight4[4] = {1.0 / 12, -8.0 / 12, 8.0 / 12, -1.0 / 12};
static const double place4[4] = {-2, -1, 1, 2};

/* One gauge of each kind; those with directions in general position and along axes. */
static const ga__gauge gauges[] = {
    {.kind = GA__WORLD, .u = {0.3, -0.7, 0.5}},
    {.kind = GA__WORLD, .u = {1, 0, 0}},
    {.kind = GA__WORLD, .u = {0, 1, 0}},
    {.kind = GA__WORLD, .u = {0, 0, 1}},
    {.kind = GA__WORLD, .u = {0, 0.6, 0.8}},
    {.kind = GA__ALONG, .u = {0.3, -0.7, 0.5}},
    {.kind = GA__ALONG, .u = {0, 0, 1}},
    {.kind = GA__DOT, .u = {0.3, -0.7, 0.5}, .w = {-0.2, 0.4, 0.9}},
    {.kind = GA__DOT, .u = {0, 0, 1}, .w = {1, 0, 0}},
    {.kind = GA__DISTANCE},
    {.kind = GA__ANGLE, .axis = 0},
    {.kind = GA__ANGLE, .axis = 1},
    {.kind = GA__ANGLE, .axis = 2},
    {.kind = GA__TWIST, .axis = 0},
    {.kind = GA__TWIST, .axis = 1},
    {.kind = GA__TWIST, .axis = 2},
    {.kind = GA__PLANE_ANGLE, .offset = 0.4},
    {.kind = GA__SCALAR},
};
enum { N_GAUGES = (int)(sizeof gauges / sizeof gauges[0]) };

/* Poses so close to where a distance or an angle has no derivative that differences say nothing. */
static int too_close(const scene *s)
{
  const ga__gauge_eval sight = look(s);
  const int i = s->gauge.axis, j = (i + 1) % 3;
  double along = 0, d2 = 0;
  for (int k = 0; k < 3; k++) {
    along += sight.a.A[3 * k + i] * sight.b.A[3 * k + j];
    d2 += (sight.a.p[k] - sight.b.p[k]) * (sight.a.p[k] - sight.b.p[k]);
  }
  double S = 0, C = 0; /* of a twist: both are 0 where it has no value */
  for (int k = 0; k < 3; k++) {
    const double *a = sight.a.A + 3 * k, *b = sight.b.A + 3 * k;
    S += b[j] * a[(i + 2) % 3] - b[(i + 2) % 3] * a[j];
    C += b[j] * a[j] + b[(i + 2) % 3] * a[(i + 2) % 3];
  }
  return (s->gauge.kind == GA__DISTANCE && d2 < 0.25) || (s->gauge.kind == GA__ANGLE && fabs(along) > 0.9) ||
         (s->gauge.kind == GA__TWIST && hypot(S, C) < 0.4);
}

static void visit(void (*check)(const scene *), int node_a, int node_b)
{
  random_numbers = rig_seed(0);
  for (int k = 0; k < N_GAUGES; k++)
    for (int n = 0; n < (rig_brief() ? 20 : N_POSES); n++) {
      scene s;
      if (gauges[k].kind == GA__SCALAR && node_a == 0) continue;
      do random_scene(&s, &gauges[k], node_a, node_b);
      while (too_close(&s));
      check(&s);
    }
}

/* ---- Derivatives -------------------------------------------------------------------------------- */

static const double h_value = 2e-3, h_gradient = 1e-3;

/* Differences are of fourth order; one Richardson step with half of h removes the rest. */
static void difference_of_gradient(double column[12], const scene *s, int j, double h)
{
  memset(column, 0, 12 * sizeof *column);
  for (int p = 0; p < 4; p++) {
    scene moved = *s;
    double g[12];
    perturb(&moved, j, place4[p] * h);
    gradient(g, &moved);
    for (int i = 0; i < 12; i++) column[i] += weight4[p] * g[i] / h;
  }
}

static double difference_of_value(const scene *s, int j, double h)
{
  const double base = value(s);
  double sum = 0;
  for (int p = 0; p < 4; p++) {
    scene moved = *s;
    perturb(&moved, j, place4[p] * h);
    sum += weight4[p] * step_of(&s->gauge, value(&moved), base) / h;
  }
  return sum;
}

static void check_gradient(const scene *s)
{
  double g[12];
  gradient(g, s);
  const double scale = 1 + largest(g, 12);
  for (int j = 0; j < 12; j++) {
    if (s->marker[j / 6].node == 0) continue;
    if (s->gauge.kind == GA__SCALAR && j >= 6) continue; /* b is not looked at */
    const double coarse = difference_of_value(s, j, h_value);
    const double fine = difference_of_value(s, j, h_value / 2);
    assert_true(fabs(g[j] - (16 * fine - coarse) / 15) <= 1e-10 * scale);
  }
}

static void check_curvature(const scene *s)
{
  double K[144], coarse[12], fine[12];
  curvature(K, s);
  const double scale = 1 + largest(K, 144);
  for (int j = 0; j < 12; j++) {
    if (s->marker[j / 6].node == 0) continue;
    difference_of_gradient(coarse, s, j, h_gradient);
    difference_of_gradient(fine, s, j, h_gradient / 2);
    for (int i = 0; i < 12; i++)
      assert_true(fabs(K[12 * i + j] - (16 * fine[i] - coarse[i]) / 15) <= 1e-9 * scale);
  }
}

static void test_gradient(void **state)
{
  (void)state;
  visit(check_gradient, 1, 2);
}
static void test_gradient_from_ground(void **state)
{
  (void)state;
  visit(check_gradient, 0, 2);
}
static void test_curvature(void **state)
{
  (void)state;
  visit(check_curvature, 1, 2);
}
static void test_curvature_to_ground(void **state)
{
  (void)state;
  visit(check_curvature, 2, 0);
}

/* Markers of one node: nothing between them changes but what is measured in the ground's axes. */
static void check_one_node(const scene *s)
{
  double g[12];
  gradient(g, s);
  if (s->gauge.kind == GA__WORLD || s->gauge.kind == GA__SCALAR) return;
  for (int i = 0; i < 6; i++) assert_true(fabs(g[i] + g[6 + i]) <= 1e-12 * (1 + largest(g, 12)));
}
static void test_one_node(void **state)
{
  (void)state;
  visit(check_one_node, 1, 1);
}

/* ---- Masks -------------------------------------------------------------------------------------- */

static double seen_g[12], seen_tile[16];

static void gather(const scene *s)
{
  double g[12], K[144];
  const unsigned mask = ga__gauge_mask(&s->gauge), tiles = ga__gauge_tiles(&s->gauge);
  gradient(g, s);
  curvature(K, s);
  for (int i = 0; i < 12; i++) {
    if (!(mask >> i & 1)) assert_true(g[i] == 0);
    seen_g[i] = fmax(seen_g[i], fabs(g[i]));
    for (int j = 0; j < 12; j++) {
      const int tile = 4 * (i / 3) + j / 3;
      if (!(tiles >> tile & 1)) assert_true(K[12 * i + j] == 0);
      seen_tile[tile] = fmax(seen_tile[tile], fabs(K[12 * i + j]));
    }
  }
}

static void test_masks(void **state)
{
  (void)state;
  random_numbers = rig_seed(0);
  for (int k = 0; k < N_GAUGES; k++) {
    memset(seen_g, 0, sizeof seen_g);
    memset(seen_tile, 0, sizeof seen_tile);
    for (int n = 0; n < (rig_brief() ? 20 : N_POSES); n++) {
      scene s;
      do random_scene(&s, &gauges[k], 1, 2);
      while (too_close(&s));
      gather(&s);
    }
    for (int i = 0; i < 12; i++) assert_int_equal(ga__gauge_mask(&gauges[k]) >> i & 1, seen_g[i] > 1e-3);
    for (int i = 0; i < 16; i++) assert_int_equal(ga__gauge_tiles(&gauges[k]) >> i & 1, seen_tile[i] > 1e-3);
    assert_int_equal(ga__gauge_mask(&gauges[k]) >> 12, 0);
    assert_int_equal(ga__gauge_tiles(&gauges[k]) >> 16, 0);
  }
}

static int bits(unsigned mask)
{
  int n = 0;
  for (; mask; mask >>= 1) n += (int)(mask & 1);
  return n;
}

static void test_world_mask_is_tight(void **state)
{
  (void)state;
  assert_int_equal(ga__gauge_mask(&gauges[1]), 1u | 6u << 3 | 1u << 6 | 6u << 9);
  assert_int_equal(ga__gauge_mask(&gauges[2]), 2u | 5u << 3 | 2u << 6 | 5u << 9);
  assert_int_equal(ga__gauge_mask(&gauges[3]), 4u | 3u << 3 | 4u << 6 | 3u << 9);
  assert_int_equal(bits(ga__gauge_mask(&gauges[4])), 10);
}

/* ---- Along a motion ----------------------------------------------------------------------------- */

/* x and three Euler angles of a node, each c0 + c1 t + c2 sin(t + c3). */
typedef struct motion {
  double c[6][4];
} motion;

static double along(const double c[4], double t, int order)
{
  const double s = sin(t + c[3]), k = cos(t + c[3]);
  return order == 0 ? c[0] + c[1] * t + c[2] * s : order == 1 ? c[1] + c[2] * k : -c[2] * s;
}

static void about_axis(double R[9], int axis, double angle)
{
  double d[3] = {0, 0, 0};
  d[axis] = angle;
  memset(R, 0, 9 * sizeof *R);
  R[0] = R[4] = R[8] = 1;
  turn(R, d);
}

/* R = Rz(α) Rx(β) Rz(γ), ω = α' z + β' Rz x + γ' Rz Rx z; planar angles and scalars move likewise. */
static void move_node(ga__kin *kin, double twist[6], const motion *m, double t)
{
  double A[9], B[9], C[9], AB[9];
  about_axis(A, 2, along(m->c[3], t, 0));
  about_axis(B, 0, along(m->c[4], t, 0));
  about_axis(C, 2, along(m->c[5], t, 0));
  ga__mat3_mul(AB, A, B);
  ga__mat3_mul(kin->R, AB, C);
  for (int i = 0; i < 3; i++) {
    kin->x[i] = along(m->c[i], t, 0);
    twist[i] = along(m->c[i], t, 1);
    twist[3 + i] = along(m->c[4], t, 1) * A[3 * i] + along(m->c[5], t, 1) * AB[3 * i + 2];
  }
  twist[5] += along(m->c[3], t, 1);
  kin->angle = along(m->c[3], t, 0);
}

static void move_scene(scene *s, double w[12], const motion m[2], double t)
{
  move_node(&s->kin[1], w, &m[0], t);
  move_node(&s->kin[2], w + 6, &m[1], t);
}

/* Rate and acceleration of the value, and those of the twists, by differences. */
static void difference_in_time(double rate[2], double wdot[12], const scene *start, const motion m[2],
                               double h)
{
  static const double second[4] = {-1.0 / 12, 16.0 / 12, 16.0 / 12, -1.0 / 12};
  scene s = *start;
  const double base = value(start);
  rate[0] = rate[1] = 0;
  memset(wdot, 0, 12 * sizeof *wdot);
  for (int p = 0; p < 4; p++) {
    double moved[12];
    move_scene(&s, moved, m, place4[p] * h);
    const double change = step_of(&s.gauge, value(&s), base);
    rate[0] += weight4[p] * change / h;
    rate[1] += second[p] * change / (h * h);
    for (int i = 0; i < 12; i++) wdot[i] += weight4[p] * moved[i] / h;
  }
}

/* ρ' = g·w, ρ'' = g·w' + wᵀKw */
static void check_motion(const scene *start)
{
  const double h = 4e-3;
  scene s = *start;
  motion m[2];
  double w[12], wdot[12], fine_wdot[12], g[12], K[144], coarse[2], fine[2], rate = 0, acc = 0, size = 1;
  do
    for (int n = 0; n < 2; n++)
      for (int i = 0; i < 6; i++)
        for (int k = 0; k < 4; k++)
          m[n].c[i][k] = s.gauge.kind == GA__PLANE_ANGLE && i > 3 ? 0 : uniform(-1, 1);
  while (move_scene(&s, w, m, 0), too_close(&s));
  gradient(g, &s);
  curvature(K, &s);
  difference_in_time(coarse, wdot, &s, m, h);
  difference_in_time(fine, fine_wdot, &s, m, h / 2);
  for (int i = 0; i < 12; i++) {
    rate += g[i] * w[i];
    acc += g[i] * (16 * fine_wdot[i] - wdot[i]) / 15;
    for (int j = 0; j < 12; j++) {
      acc += w[i] * K[12 * i + j] * w[j];
      size += fabs(w[i] * K[12 * i + j] * w[j]);
    }
  }
  assert_true(fabs(rate - (16 * fine[0] - coarse[0]) / 15) <= 1e-9 * size);
  assert_true(fabs(acc - (16 * fine[1] - coarse[1]) / 15) <= 1e-8 * size);
}

static void test_motion(void **state)
{
  (void)state;
  visit(check_motion, 1, 2);
}

/* ---- Particular values -------------------------------------------------------------------------- */

static void test_values(void **state)
{
  (void)state;
  scene s;
  random_numbers = rig_seed(0);
  random_scene(&s, &gauges[5], 0, 1);
  for (int m = 0; m < 2; m++) {
    memset(&s.marker[m].s, 0, sizeof s.marker[m].s);
    make_ground(&s.kin[1]);
    memcpy(s.marker[m].A, s.kin[0].R, sizeof s.marker[m].A);
  }
  s.kin[1].x[0] = 3;
  s.kin[1].x[2] = 4;
  assert_true(fabs(value(&s) - (0.9 + 2)) < 1e-15);
  s.gauge.kind = GA__DISTANCE;
  assert_true(value(&s) == 5);
  s.gauge.kind = GA__PLANE_ANGLE;
  s.gauge.offset = 0.5;
  s.kin[1].angle = 40;
  s.kin[0].angle = 99; /* the ground's is not looked at */
  assert_true(value(&s) == 40.5);
  s.gauge.kind = GA__SCALAR;
  s.gauge.a = 1;
  assert_true(value(&s) == 3);
}

/* A turn of b about an axis of a, aligned: the angle is the angle, and its gradient the axis. */
static void test_angle_about_axis(void **state)
{
  (void)state;
  for (int axis = 0; axis < 3; axis++)
    for (int n = -10; n <= 10; n++) {
      scene s;
      double g[12], e[12] = {0};
      const double angle = n * pi / 11;
      random_numbers = rig_seed(0);
      random_scene(&s, &gauges[10 + axis], 0, 1);
      memcpy(s.marker[0].A, s.kin[0].R, sizeof s.marker[0].A);
      memcpy(s.marker[1].A, s.kin[0].R, sizeof s.marker[1].A);
      about_axis(s.kin[1].R, axis, angle);
      assert_true(fabs(value(&s) - angle) < 1e-14);
      e[3 + axis] = -1;
      e[9 + axis] = 1;
      gradient(g, &s);
      for (int i = 0; i < 12; i++) assert_true(fabs(g[i] - e[i]) < 1e-14);
    }
}

/* No direction, no derivative: NaN says so. */
static void test_undefined(void **state)
{
  (void)state;
  scene s;
  double g[12], K[144];
  random_numbers = rig_seed(0);
  random_scene(&s, &gauges[9], 1, 2);
  s.kin[2] = s.kin[1];
  s.marker[1] = s.marker[0];
  s.marker[1].node = 2;
  assert_true(value(&s) == 0);
  gradient(g, &s);
  curvature(K, &s);
  for (int i = 0; i < 12; i++) assert_true(isnan(g[i]));
  for (int i = 0; i < 144; i++) assert_true(isnan(K[i]));

  random_scene(&s, &gauges[10], 0, 1); /* y of b along x of a */
  memcpy(s.marker[0].A, s.kin[0].R, sizeof s.marker[0].A);
  memcpy(s.marker[1].A, s.kin[0].R, sizeof s.marker[1].A);
  memset(s.kin[1].R, 0, sizeof s.kin[1].R);
  s.kin[1].R[1] = s.kin[1].R[5] = s.kin[1].R[6] = 1;
  gradient(g, &s);
  curvature(K, &s);
  for (int i = 0; i < 3; i++) {
    assert_true(isnan(g[3 + i]) && isnan(g[9 + i]));
    for (int j = 0; j < 3; j++) assert_true(isnan(K[12 * (3 + i) + 3 + j]) && isnan(K[12 * (9 + i) + 9 + j]));
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_gradient),
      cmocka_unit_test(test_gradient_from_ground),
      cmocka_unit_test(test_curvature),
      cmocka_unit_test(test_curvature_to_ground),
      cmocka_unit_test(test_one_node),
      cmocka_unit_test(test_masks),
      cmocka_unit_test(test_world_mask_is_tight),
      cmocka_unit_test(test_motion),
      cmocka_unit_test(test_values),
      cmocka_unit_test(test_angle_about_axis),
      cmocka_unit_test(test_undefined),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
