/* The lie layer: every group against its definition, against the others, and against its own derivatives. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "errors.h"
#include "seeds.h"
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "galpha/lie.h"
#include "lie/lie_impl.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))
static const double pi = 3.14159265358979323846;

enum { MAX_N = 80, MAX_PACKED = 200, MAX_FACTORS = 9 };

/* ---- The groups under test ---------------------------------------------------------------------- */

typedef struct group_case {
  const char *name;
  int n_factors;
  ga_factor factor[MAX_FACTORS];
} group_case;

static const group_case cases[] = {
    {"R^n", 1, {{GA_RN, 4, GA_LEFT}}},
    {"SO3 left", 1, {{GA_SO3, 0, GA_LEFT}}},
    {"SO3 right", 1, {{GA_SO3, 0, GA_RIGHT}}},
    {"quaternion left", 1, {{GA_QUAT, 0, GA_LEFT}}},
    {"quaternion right", 1, {{GA_QUAT, 0, GA_RIGHT}}},
    {"R3xSO3 left", 1, {{GA_R3SO3, 0, GA_LEFT}}},
    {"R3xSO3 right", 1, {{GA_R3SO3, 0, GA_RIGHT}}},
    {"SE3 left", 1, {{GA_SE3, 0, GA_LEFT}}},
    {"SE3 right", 1, {{GA_SE3, 0, GA_RIGHT}}},
    {"product",
     9,
     {{GA_SE3, 0, GA_RIGHT},
      {GA_RN, 2, GA_LEFT},
      {GA_R3SO3, 0, GA_RIGHT},
      {GA_QUAT, 0, GA_LEFT},
      {GA_RN, 0, GA_LEFT},
      {GA_RN, 1, GA_LEFT},
      {GA_RN, 3, GA_LEFT},
      {GA_SO3, 0, GA_LEFT},
      {GA_SE3, 0, GA_LEFT}}},
};

typedef struct world {
  ga_context *ctx;
  ga_group *group[COUNT(cases)];
} world;

static ga_group *make_group(ga_context *ctx, int n_factors, const ga_factor *factors)
{
  ga_group *g = NULL;
  assert_int_equal(ga_group_create(ctx, n_factors, factors, &g), GA_OK);
  assert_non_null(g);
  return g;
}

static int set_up(void **state)
{
  world *w = calloc(1, sizeof *w);
  if (!w) return -1;
  assert_int_equal(ga_context_create(NULL, &w->ctx), GA_OK);
  for (int i = 0; i < COUNT(cases); i++)
    w->group[i] = make_group(w->ctx, cases[i].n_factors, cases[i].factor);
  *state = w;
  return 0;
}

static int tear_down(void **state)
{
  world *w = *state;
  for (int i = 0; i < COUNT(cases); i++) ga_group_destroy(&w->group[i]);
  ga_context_destroy(&w->ctx);
  free(w);
  return 0;
}

/* The group of one case, by its name. */
__attribute__((noinline)) /* or gcc compares literals at compile time, and warns */
static const ga_group *
group_named(const world *w, const char *name)
{
  for (int i = 0; i < COUNT(cases); i++)
    if (strcmp(cases[i].name, name) == 0) return w->group[i];
  fail_msg("no case %s", name);
  return NULL;
}

/* ---- Small tools -------------------------------------------------------------------------------- */

static void random_vector(double *x, int n, double scale, rig_random *random)
{
  for (int i = 0; i < n; i++) x[i] = scale * rig_uniform(random, -1, 1);
}

static void random_element(const ga_group *g, double *q, rig_random *random)
{
  double d[MAX_N];
  random_vector(d, ga_group_nv(g), 2, random);
  ga_group_exp(g, q, d);
}

static double norm(const double *x, int n)
{
  double sum = 0;
  for (int i = 0; i < n; i++) sum += x[i] * x[i];
  return sqrt(sum);
}

static void scale_to(double *x, int n, double length)
{
  const double factor = length / norm(x, n);
  for (int i = 0; i < n; i++) x[i] *= factor;
}

#define assert_close(...) check_close(__LINE__, __VA_ARGS__)
static void check_close(int line, const char *what, const double *a, const double *b, int n, double tol)
{
  for (int i = 0; i < n; i++)
    if (!(fabs(a[i] - b[i]) <= tol))
      fail_msg("line %d, %s: component %d is %.17g, expected %.17g (off by %.2e, allowed %.2e)", line, what,
               i, a[i], b[i], fabs(a[i] - b[i]), tol);
}

#define assert_number(what, a, b, tol) assert_close(what, (double[1]){a}, (double[1]){b}, 1, tol)

/* y = A x, A given by packed blocks and the identity elsewhere; or 0 elsewhere. */
static void apply_blocks(const ga_group *g, double *y, const double *packed, const double *x,
                         double elsewhere)
{
  for (int i = 0; i < ga_group_nv(g); i++) y[i] = elsewhere * x[i];
  for (int b = 0; b < ga_group_n_blocks(g); b++) {
    int start;
    const int size = ga_group_block(g, b, &start);
    for (int i = 0; i < size; i++) {
      y[start + i] = 0;
      for (int j = 0; j < size; j++) y[start + i] += packed[i * size + j] * x[start + j];
    }
    packed += size * size;
  }
}

/* y = Σ_k X^k/k! for X of n×n, or Σ_k (−1)^k X^k/(k+1)!, in long double, which valgrind and some machines
 * take for double: tolerances allow for that. */
static void matrix_series(double *y, const double *X, int n, int for_tangent)
{
  enum { TERMS = 45 };
  long double power[36], next[36], sum[36], factor = 1;
  for (int i = 0; i < n * n; i++) power[i] = sum[i] = i % (n + 1) == 0 ? 1 : 0;
  for (int k = 1; k < TERMS; k++) {
    factor = for_tangent ? -factor / (k + 1) : factor / k;
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) {
        next[i * n + j] = 0;
        for (int m = 0; m < n; m++) next[i * n + j] += power[i * n + m] * (long double)X[m * n + j];
      }
    memcpy(power, next, sizeof power);
    for (int i = 0; i < n * n; i++) sum[i] += factor * power[i];
  }
  for (int i = 0; i < n * n; i++) y[i] = (double)sum[i];
}

static void skew(double *S, const double *p)
{
  const double s[9] = {0, -p[2], p[1], p[2], 0, -p[0], -p[1], p[0], 0};
  memcpy(S, s, sizeof s);
}

/* The homogeneous matrix of a rotation R[9] and a column x[3], with the last diagonal entry given. */
static void homogeneous(double *H, const double *R, const double *x, double corner)
{
  memset(H, 0, 16 * sizeof *H);
  for (int i = 0; i < 3; i++) {
    memcpy(H + 4 * i, R + 3 * i, 3 * sizeof *H);
    H[4 * i + 3] = x[i];
  }
  H[15] = corner;
}

/* R x = p∘(0,x)∘p⁻¹ */
static void rotation_of_quaternion(double *R, const double *p)
{
  const double w = p[0], x = p[1], y = p[2], z = p[3];
  const double r[9] = {
      w * w + x * x - y * y - z * z, 2 * (x * y - w * z),           2 * (x * z + w * y),
      2 * (x * y + w * z),           w * w - x * x + y * y - z * z, 2 * (y * z - w * x),
      2 * (x * z - w * y),           2 * (y * z + w * x),           w * w - x * x - y * y + z * z};
  memcpy(R, r, sizeof r);
}

static void matrix_product(double *C, const double *A, const double *B, int n)
{
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      C[i * n + j] = 0;
      for (int m = 0; m < n; m++) C[i * n + j] += A[i * n + m] * B[m * n + j];
    }
}

/* ---- Scalar functions --------------------------------------------------------------------------- */

/* Σ_j (−x)^j (weighted ? 2(j+1) : 1) / (k+2j)! */
static long double stumpff(int k, long double x, int weighted)
{
  long double term = 1, sum = 0;
  for (int i = 2; i <= k; i++) term /= i;
  for (int j = 0; j < 40; j++) {
    sum += weighted ? 2 * (j + 1) * term : term;
    term *= -x / ((long double)(k + 2 * j + 1) * (k + 2 * j + 2));
  }
  return sum;
}

/* a, b, c, b', c' and e */
static void trig_reference(long double *r, double x)
{
  if (x < 9) {
    r[0] = stumpff(1, x, 0);
    r[1] = stumpff(2, x, 0);
    r[2] = stumpff(3, x, 0);
    r[3] = -stumpff(4, x, 1);
    r[4] = -stumpff(5, x, 1);
    r[5] = -r[3] / (2 * r[1]);
  } else {
    const long double f = sqrtl((long double)x);
    r[0] = sinl(f) / f;
    r[1] = 2 * powl(sinl(f / 2) / f, 2);
    r[2] = (f - sinl(f)) / (f * f * f);
    r[3] = (r[0] - 2 * r[1]) / (f * f);
    r[4] = (r[1] - 3 * r[2]) / (f * f);
    r[5] = (1 - f / 2 * cosl(f / 2) / sinl(f / 2)) / (f * f);
  }
}

/* Relative where the functions have no zeros; near and beyond π, relative to their envelope. */
static void check_trig(double f)
{
  const double x = f * f;
  const double envelope[6] = {1 / f, 4 / x, 0, 2 / (x * f), 0, 0};
  long double expected[6];
  ga__trig t;
  trig_reference(expected, x);
  ga__trig_eval(&t, x);
  const double got[6] = {t.a, t.b, t.c, t.db, t.dc, ga__trig_e(&t)};
  const int n = f < 6 ? 6 : 5; /* e has a pole at 2π */
  for (int i = 0; i < n; i++) {
    const double scale = fabs((double)expected[i]) + (f > 2.5 ? envelope[i] : 0);
    const double error = fabs((double)((long double)got[i] - expected[i]));
    if (!(error <= 1e-14 * scale))
      fail_msg("function %d at f = %.17g: %.17g, expected %.17Lg", i, f, got[i], expected[i]);
  }
}

static void scalar_functions_are_accurate_everywhere(void **state)
{
  (void)state;
  for (double f = 1e-12; f < 30; f *= 1.01) check_trig(f);
  for (int i = -2000; i <= 2000; i++)
    check_trig(2 + 1e-4 * i); /* the switch of the implementation lies here */
  for (int i = -50; i <= 50; i++) check_trig(2 + 1e-15 * i);
  for (int i = -50; i <= 50; i++) check_trig(pi + 1e-8 * i);
}

static void scalar_functions_at_zero_and_beyond_numbers(void **state)
{
  ga__trig t;
  (void)state;
  ga__trig_eval(&t, 0);
  const double got[6] = {t.a, t.b, t.c, t.db, t.dc, ga__trig_e(&t)};
  const double expected[6] = {1, 0.5, 1 / 6.0, -1 / 12.0, -1 / 60.0, 1 / 12.0};
  assert_close("at 0", got, expected, 6, 2e-17);
  ga__trig_eval(&t, NAN);
  assert_true(isnan(t.a) && isnan(t.b) && isnan(t.c) && isnan(t.db) && isnan(t.dc));
  ga__trig_eval(&t, INFINITY);
  assert_true(isnan(t.a) && isnan(t.b));
}

/* ---- exp and log -------------------------------------------------------------------------------- */

static const double angles[] = {0,   1e-300, 1e-160, 1e-12,  1e-8, 1e-5,  1e-3,
                                0.1, 1,      1.9999, 2.0001, 3,    3.1415};

static void exp_is_the_power_series(void **state)
{
  const world *w = *state;
  const ga_group *so3 = group_named(w, "SO3 left"), *quat = group_named(w, "quaternion right");
  const ga_group *se3 = group_named(w, "SE3 left");
  rig_random random = rig_seed(0);
  for (int k = 0; k < 20 * COUNT(angles); k++) {
    double d[6], S[9], H[16], expected[16], q[12];
    random_vector(d, 6, 1, &random);
    scale_to(d + 3, 3, angles[k % COUNT(angles)]);
    skew(S, d + 3);

    matrix_series(expected, S, 3, 0);
    ga_group_exp(so3, q, d + 3);
    assert_close("SO3", q, expected, 9, 5e-15);

    double R[9];
    ga_group_exp(quat, q, d + 3);
    rotation_of_quaternion(R, q);
    assert_close("quaternion", R, expected, 9, 5e-15);
    assert_true(fabs(norm(q, 4) - 1) < 1e-15);

    homogeneous(H, S, d, 0);
    matrix_series(expected, H, 4, 0);
    ga_group_exp(se3, q, d);
    homogeneous(H, q + 3, q, 1);
    assert_close("SE3", H, expected, 16, 5e-15);
  }
}

/* exp(d) = exp(d/2)² and, for a rotation, exp is 2π-periodic along its axis. */
static void exp_of_large_vectors(void **state)
{
  const world *w = *state;
  rig_random random = rig_seed(0);
  for (int i = 0; i < COUNT(cases); i++)
    for (int k = 0; k < 50; k++) {
      const ga_group *g = w->group[i];
      double d[MAX_N], q[MAX_N], half[MAX_N], twice[MAX_N];
      random_vector(d, ga_group_nv(g), 2 + 2 * k, &random);
      ga_group_exp(g, q, d);
      for (int j = 0; j < ga_group_nv(g); j++) d[j] *= 0.5;
      ga_group_exp(g, half, d);
      ga_group_compose(g, twice, half, half);
      assert_close(cases[i].name, q, twice, ga_group_nq(g), 2e-15 * (1 + norm(d, ga_group_nv(g))));
    }
  const ga_group *so3 = group_named(w, "SO3 left");
  for (int turns = 1; turns < 20; turns++) {
    double d[3], q[9], expected[9];
    random_vector(d, 3, 1, &random);
    ga_group_exp(so3, expected, d);
    scale_to(d, 3, norm(d, 3) + 2 * pi * turns);
    ga_group_exp(so3, q, d);
    assert_close("turns", q, expected, 9, 1e-14 * turns);
  }
}

/* Rotation parts of v: the last three of each block. */
static void scale_rotations(const ga_group *g, double *d, double angle)
{
  for (int b = 0; b < ga_group_n_blocks(g); b++) {
    int start;
    const int size = ga_group_block(g, b, &start);
    scale_to(d + start + size - 3, 3, angle);
  }
}

static void log_undoes_exp(void **state)
{
  const world *w = *state;
  static const double close_to_pi[] = {0.1, 1e-3, 1e-6, 1e-9, 1e-12, 1e-14};
  rig_random random = rig_seed(0);
  for (int i = 0; i < COUNT(cases); i++)
    for (int k = 0; k < COUNT(angles) + COUNT(close_to_pi); k++)
      for (int repeat = 0; repeat < 20; repeat++) {
        const ga_group *g = w->group[i];
        const double angle = k < COUNT(angles) ? angles[k] : pi - close_to_pi[k - COUNT(angles)];
        double d[MAX_N], q[MAX_N], back[MAX_N];
        random_vector(d, ga_group_nv(g), 1, &random);
        scale_rotations(g, d, angle);
        ga_group_exp(g, q, d);
        ga_group_log(g, back, q);
        assert_close(cases[i].name, back, d, ga_group_nv(g), 4e-15);
      }
}

/* Small rotation vectors come back with a small relative error, not just a small error. */
static void log_is_relatively_accurate_for_small_rotations(void **state)
{
  const world *w = *state;
  static const char *const names[] = {"SO3 left", "quaternion left"};
  for (int i = 0; i < 2; i++)
    for (double angle = 1; angle > 1e-140; angle *= 0.1) {
      const ga_group *g = group_named(w, names[i]);
      double d[3] = {0.3 * angle, -0.5 * angle, 0.2 * angle}, q[9], back[3];
      ga_group_exp(g, q, d);
      ga_group_log(g, back, q);
      assert_close(names[i], back, d, 3, 1e-15 * angle);
    }
}

/* Half turns about n: R = 2nnᵀ − I, p = (0, n); ±πn are both right, the angle is π. */
static void log_of_half_turns(void **state)
{
  const world *w = *state;
  const ga_group *so3 = group_named(w, "SO3 left"), *quat = group_named(w, "quaternion left");
  rig_random random = rig_seed(0);
  for (int k = 0; k < 100; k++) {
    double n[3] = {k == 0, k == 1, k == 2}, R[9], d[3], q[9];
    if (k > 2) random_vector(n, 3, 1, &random);
    if (k > 50) n[k % 3] *= 1e-9;
    scale_to(n, 3, 1);
    for (int i = 0; i < 9; i++) R[i] = 2 * n[i / 3] * n[i % 3] - (i % 4 == 0 ? 1 : 0);
    ga_group_log(so3, d, R);
    assert_true(fabs(norm(d, 3) - pi) < 1e-15 * pi);
    ga_group_exp(so3, q, d);
    assert_close("matrix", q, R, 9, 3e-15);

    const double p[4] = {0, n[0], n[1], n[2]};
    ga_group_log(quat, d, p);
    for (int i = 0; i < 3; i++) n[i] *= pi;
    assert_close("quaternion", d, n, 3, 1e-15);
  }
}

static void quaternions_of_both_signs_have_one_log(void **state)
{
  const ga_group *quat = group_named(*state, "quaternion left");
  rig_random random = rig_seed(0);
  for (int k = 0; k < 100; k++) {
    double p[4], d[3], other[3];
    random_element(quat, p, &random);
    ga_group_log(quat, d, p);
    for (int i = 0; i < 4; i++) p[i] = -p[i];
    ga_group_log(quat, other, p);
    assert_close("sign", d, other, 3, 0);
    assert_true(norm(d, 3) <= pi);
  }
  const double one[4] = {-1, 0, 0, 0};
  double d[3];
  ga_group_log(quat, d, one);
  assert_close("−1", d, (double[3]){0, 0, 0}, 3, 0);
}

/* ---- The group laws, and one group against another ---------------------------------------------- */

static void group_laws(void **state)
{
  const world *w = *state;
  rig_random random = rig_seed(0);
  for (int i = 0; i < COUNT(cases); i++)
    for (int k = 0; k < 20; k++) {
      const ga_group *g = w->group[i];
      const int nq = ga_group_nq(g);
      double a[MAX_N], b[MAX_N], c[MAX_N], one[MAX_N], ab[MAX_N], bc[MAX_N], l[MAX_N], r[MAX_N];
      random_element(g, a, &random);
      random_element(g, b, &random);
      random_element(g, c, &random);
      ga_group_identity(g, one);
      ga_group_compose(g, ab, a, b);
      ga_group_compose(g, bc, b, c);
      ga_group_compose(g, l, ab, c);
      ga_group_compose(g, r, a, bc);
      assert_close(cases[i].name, l, r, nq, 1e-14);
      ga_group_compose(g, l, a, one);
      assert_close(cases[i].name, l, a, nq, 0);
      ga_group_compose(g, l, one, a);
      assert_close(cases[i].name, l, a, nq, 0);
      ga_group_inverse(g, b, a);
      ga_group_compose(g, l, a, b);
      assert_close(cases[i].name, l, one, nq, 1e-14);
      ga_group_compose(g, l, b, a);
      assert_close(cases[i].name, l, one, nq, 1e-14);
    }
}

static void quaternions_are_rotations(void **state)
{
  const world *w = *state;
  const ga_group *quats[2] = {group_named(w, "quaternion left"), group_named(w, "quaternion right")};
  const ga_group *so3s[2] = {group_named(w, "SO3 left"), group_named(w, "SO3 right")};
  rig_random random = rig_seed(0);
  for (int k = 0; k < 100; k++)
    for (int side = 0; side < 2; side++) {
      const ga_group *quat = quats[side], *so3 = so3s[side];
      double p[4], p1[4], pp[4], R[9], R1[9], RR[9], got[9], d[3], e[3];
      random_element(quat, p, &random);
      random_vector(d, 3, 2, &random);
      rotation_of_quaternion(R, p);
      ga_group_move(quat, p1, p, d);
      ga_group_move(so3, R1, R, d);
      rotation_of_quaternion(got, p1);
      assert_close("move", got, R1, 9, 3e-15);
      ga_group_compose(quat, pp, p, p1);
      ga_group_compose(so3, RR, R, R1);
      rotation_of_quaternion(got, pp);
      assert_close("compose", got, RR, 9, 4e-15);
      ga_group_difference(quat, d, p, p1);
      ga_group_difference(so3, e, R, R1);
      if (norm(d, 3) < 3.1) assert_close("difference", d, e, 3, 1e-14);
      double T[9], U[9];
      ga_group_tangent(quat, T, d);
      ga_group_tangent(so3, U, d);
      assert_close("tangent", T, U, 9, 0);
    }
}

/* R³×SO(3) against SO(3)×R³, with the two pieces in the other order. */
static void direct_product_is_its_factors(void **state)
{
  const world *w = *state;
  for (int side = 0; side < 2; side++) {
    const ga_group *g = group_named(w, side ? "R3xSO3 right" : "R3xSO3 left");
    const ga_factor factors[2] = {{GA_SO3, 0, (ga_side)side}, {GA_RN, 3, GA_LEFT}};
    ga_group *other = make_group(w->ctx, 2, factors);
    rig_random random = rig_seed(0);
    double q[12], r[12], d[6], e[6], q1[12], r1[12], swapped[12];
    random_element(g, q, &random);
    random_vector(d, 6, 2, &random);
    memcpy(r, q + 3, 9 * sizeof *r);
    memcpy(r + 9, q, 3 * sizeof *r);
    memcpy(e, d + 3, 3 * sizeof *e);
    memcpy(e + 3, d, 3 * sizeof *e);
    ga_group_move(g, q1, q, d);
    ga_group_move(other, r1, r, e);
    memcpy(swapped, r1 + 9, 3 * sizeof *swapped);
    memcpy(swapped + 3, r1, 9 * sizeof *swapped);
    assert_close("move", q1, swapped, 12, 0);
    for (int i = 0; i < 3; i++) assert_true(q1[i] == q[i] + d[i]);
    assert_int_equal(ga_group_n_blocks(g), 1);
    int start;
    assert_int_equal(ga_group_block(g, 0, &start), 3);
    assert_int_equal(start, 3);
    ga_group_destroy(&other);
  }
}

static void se3_is_the_homogeneous_matrices(void **state)
{
  const ga_group *g = group_named(*state, "SE3 left");
  rig_random random = rig_seed(0);
  for (int k = 0; k < 20; k++) {
    double a[12], b[12], c[12], A[16], B[16], AB[16], C[16];
    random_element(g, a, &random);
    random_element(g, b, &random);
    ga_group_compose(g, c, a, b);
    homogeneous(A, a + 3, a, 1);
    homogeneous(B, b + 3, b, 1);
    homogeneous(C, c + 3, c, 1);
    matrix_product(AB, A, B, 4);
    assert_close("product", C, AB, 16, 2e-15);
    ga_group_inverse(g, c, a);
    homogeneous(C, c + 3, c, 1);
    matrix_product(AB, A, C, 4);
    for (int i = 0; i < 16; i++) AB[i] -= i % 5 == 0 ? 1 : 0;
    assert_true(norm(AB, 16) < 1e-14);
  }
}

/* Ad of the groups: (u, ψ) → (R u + x × Rψ, Rψ) in SE(3); u stays in R³×SO(3). */
static void adjoint(ga_factor_kind kind, double *e, const double *q, const double *d)
{
  const double *R = kind == GA_SO3 ? q : q + 3;
  const int rotation = kind == GA_SO3 ? 0 : 3;
  double *w = e + rotation;
  memcpy(e, d, 3 * sizeof *e);
  for (int i = 0; i < 3; i++)
    w[i] = R[3 * i] * d[rotation] + R[3 * i + 1] * d[rotation + 1] + R[3 * i + 2] * d[rotation + 2];
  if (kind != GA_SE3) return;
  for (int i = 0; i < 3; i++) e[i] = R[3 * i] * d[0] + R[3 * i + 1] * d[1] + R[3 * i + 2] * d[2];
  for (int i = 0; i < 3; i++) e[i] += q[(i + 1) % 3] * w[(i + 2) % 3] - q[(i + 2) % 3] * w[(i + 1) % 3];
}

/* q∘exp(d) = exp(Ad_q d)∘q: what the left group moves by d, the right one moves by Ad_q d. */
static void left_and_right_are_related_by_ad(void **state)
{
  static const struct {
    ga_factor_kind kind;
    const char *left, *right;
  } pairs[] = {{GA_SO3, "SO3 left", "SO3 right"},
               {GA_R3SO3, "R3xSO3 left", "R3xSO3 right"},
               {GA_SE3, "SE3 left", "SE3 right"}};
  rig_random random = rig_seed(0);
  for (int i = 0; i < COUNT(pairs); i++)
    for (int k = 0; k < 20; k++) {
      const ga_group *left = group_named(*state, pairs[i].left), *right = group_named(*state, pairs[i].right);
      double q[12], d[6], e[6], l[12], r[12];
      random_element(left, q, &random);
      random_vector(d, ga_group_nv(left), 1, &random);
      adjoint(pairs[i].kind, e, q, d);
      ga_group_move(left, l, q, d);
      ga_group_move(right, r, q, e);
      assert_close(pairs[i].left, l, r, ga_group_nq(left), 1e-14);
      ga_group_rate(left, l, q, d);
      ga_group_rate(right, r, q, e);
      assert_close(pairs[i].right, l, r, ga_group_nq(left), 1e-14);
    }
}

/* Every function on the product gives, bit for bit, what it gives on the factors alone. */
static void product_is_its_factors(void **state)
{
  const world *w = *state;
  const int last = COUNT(cases) - 1;
  const ga_group *g = w->group[last];
  rig_random random = rig_seed(0);
  double q[MAX_N], q1[MAX_N], rate[MAX_N], d[MAX_N], diff[MAX_N], br[MAX_N], T[MAX_PACKED], alone[MAX_PACKED];
  random_element(g, q, &random);
  random_vector(d, ga_group_nv(g), 1, &random);
  ga_group_move(g, q1, q, d);
  ga_group_rate(g, rate, q, d);
  ga_group_difference(g, diff, q1, q);
  ga_group_bracket(g, br, d, diff);
  ga_group_tangent(g, T, d);
  assert_int_equal(ga_group_n_factors(g), cases[last].n_factors);
  int q_end = 0, v_end = 0, packed = 0;
  for (int i = 0; i < cases[last].n_factors; i++) {
    int qs, vs;
    const ga_factor f = ga_group_factor(g, i, &qs, &vs);
    assert_int_equal(f.kind, cases[last].factor[i].kind);
    assert_int_equal(qs, q_end);
    assert_int_equal(vs, v_end);
    ga_group *one = make_group(w->ctx, 1, &f);
    const int nq = ga_group_nq(one), nv = ga_group_nv(one);
    ga_group_move(one, alone, q + qs, d + vs);
    assert_close("move", q1 + qs, alone, nq, 0);
    ga_group_rate(one, alone, q + qs, d + vs);
    assert_close("rate", rate + qs, alone, nq, 0);
    ga_group_difference(one, alone, q1 + qs, q + qs);
    assert_close("difference", diff + vs, alone, nv, 0);
    ga_group_bracket(one, alone, d + vs, diff + vs);
    assert_close("bracket", br + vs, alone, nv, 0);
    ga_group_tangent(one, alone, d + vs);
    assert_close("tangent", T + packed, alone, ga_group_blocks_length(one), 0);
    q_end += nq;
    v_end += nv;
    packed += ga_group_blocks_length(one);
    ga_group_destroy(&one);
  }
  assert_int_equal(q_end, ga_group_nq(g));
  assert_int_equal(v_end, ga_group_nv(g));
  assert_int_equal(packed, ga_group_blocks_length(g));
}

/* ---- move, difference, rate --------------------------------------------------------------------- */

static void difference_undoes_move(void **state)
{
  const world *w = *state;
  rig_random random = rig_seed(0);
  for (int i = 0; i < COUNT(cases); i++)
    for (int k = 0; k < COUNT(angles); k++) {
      const ga_group *g = w->group[i];
      double q[MAX_N], q1[MAX_N], d[MAX_N], back[MAX_N];
      random_element(g, q, &random);
      random_vector(d, ga_group_nv(g), 1, &random);
      scale_rotations(g, d, angles[k]);
      ga_group_move(g, q1, q, d);
      ga_group_difference(g, back, q, q1);
      assert_close(cases[i].name, back, d, ga_group_nv(g), 1e-14);
      ga_group_move(g, q, q, d); /* in place */
      assert_close(cases[i].name, q, q1, ga_group_nq(g), 0);
    }
}

/* qdot = d/dε move(q, ε v) at 0 */
static void rate_is_the_derivative_of_move(void **state)
{
  const world *w = *state;
  const double eps = 1e-5;
  rig_random random = rig_seed(0);
  for (int i = 0; i < COUNT(cases); i++)
    for (int k = 0; k < 10; k++) {
      const ga_group *g = w->group[i];
      double q[MAX_N], v[MAX_N], d[MAX_N], plus[MAX_N], minus[MAX_N], qdot[MAX_N];
      random_element(g, q, &random);
      random_vector(v, ga_group_nv(g), 1, &random);
      for (int j = 0; j < ga_group_nv(g); j++) d[j] = eps * v[j];
      ga_group_move(g, plus, q, d);
      for (int j = 0; j < ga_group_nv(g); j++) d[j] = -eps * v[j];
      ga_group_move(g, minus, q, d);
      for (int j = 0; j < ga_group_nq(g); j++) plus[j] = (plus[j] - minus[j]) / (2 * eps);
      ga_group_rate(g, qdot, q, v);
      assert_close(cases[i].name, qdot, plus, ga_group_nq(g), 3e-10);
    }
}

/* Many moves by the same d stay on the group, and arrive at exp(n d) as well as rounding lets them. */
static void many_moves_stay_on_the_group(void **state)
{
  enum { MOVES = 200000 };
  const world *w = *state;
  rig_random random = rig_seed(0);
  for (int i = 0; i < COUNT(cases) - 1; i++) {
    const ga_group *g = w->group[i];
    double q[MAX_N], d[MAX_N], expected[MAX_N], worst = 0;
    random_vector(d, ga_group_nv(g), 1, &random);
    if (ga_group_nv(g) == 6) scale_to(d, 3, 1e-3); /* the path of SE(3) closes, that of R³ does not */
    ga_group_identity(g, q);
    for (int k = 0; k < MOVES; k++) {
      ga_group_move(g, q, q, d);
      if (k % 100 == 0) worst = ga__larger(worst, ga_group_defect(g, q));
    }
    worst = ga__larger(worst, ga_group_defect(g, q));
    if (!(worst < 4e-15)) fail_msg("%s: defect %.2e", cases[i].name, worst);
    for (int j = 0; j < ga_group_nv(g); j++) d[j] *= MOVES;
    ga_group_exp(g, expected, d);
    /* p and −p are one rotation, and R^n grows with the number of moves. */
    const int turned = ga_group_nq(g) == 4 && ga_group_nv(g) == 3 && expected[0] * q[0] < 0;
    for (int j = 0; turned && j < 4; j++) q[j] = -q[j];
    assert_close(cases[i].name, q, expected, ga_group_nq(g), 1e-10 * (1 + norm(expected, ga_group_nq(g))));
  }
}

/* ---- bracket, ad, tangent operators ------------------------------------------------------------- */

static void bracket_is_a_lie_bracket(void **state)
{
  const world *w = *state;
  rig_random random = rig_seed(0);
  for (int i = 0; i < COUNT(cases); i++)
    for (int k = 0; k < 10; k++) {
      const ga_group *g = w->group[i];
      const int nv = ga_group_nv(g);
      double x[3][MAX_N], c[MAX_N], d[MAX_N], sum[MAX_N] = {0}, A[MAX_PACKED];
      const double zero[MAX_N] = {0};
      for (int j = 0; j < 3; j++) random_vector(x[j], nv, 1, &random);
      for (int j = 0; j < 3; j++) {
        ga_group_bracket(g, c, x[(j + 1) % 3], x[(j + 2) % 3]);
        ga_group_bracket(g, d, x[j], c);
        for (int m = 0; m < nv; m++) sum[m] += d[m];
      }
      assert_close("Jacobi's identity", sum, zero, nv, 1e-14);
      ga_group_bracket(g, c, x[0], x[0]);
      assert_close("[a,a]", c, zero, nv, 0);
      ga_group_bracket(g, c, x[0], x[1]);
      ga_group_ad(g, A, x[0]);
      apply_blocks(g, d, A, x[1], 0);
      assert_close("ad", d, c, nv, 1e-15);
      for (int m = 0; m < nv; m++) d[m] = x[2][m], c[m] = x[2][m] - 0.7 * c[m];
      ga_group_add_bracket(g, d, -0.7, x[0], x[1]);
      assert_close("added", d, c, nv, 1e-15);
    }
}

/* The bracket that belongs to a side: move(move(q,a),b) and move(move(q,b),a) differ by ±[a,b] to second
 * order. */
static void bracket_is_the_commutator_of_moves(void **state)
{
  const world *w = *state;
  const double eps = 1e-4;
  rig_random random = rig_seed(0);
  for (int i = 0; i < COUNT(cases); i++) {
    const ga_group *g = w->group[i];
    const int nv = ga_group_nv(g);
    double q[MAX_N], ab[MAX_N], ba[MAX_N], a[MAX_N], b[MAX_N], c[MAX_N], d[MAX_N];
    random_element(g, q, &random);
    random_vector(a, nv, eps, &random);
    random_vector(b, nv, eps, &random);
    ga_group_move(g, ab, q, a);
    ga_group_move(g, ab, ab, b);
    ga_group_move(g, ba, q, b);
    ga_group_move(g, ba, ba, a);
    ga_group_difference(g, d, ba, ab);
    ga_group_bracket(g, c, a, b);
    for (int j = 0; j < nv; j++) d[j] /= eps * eps, c[j] /= eps * eps;
    assert_close(cases[i].name, d, c, nv, 1e-3);
  }
}

/* T = Σ (−1)^k ad^k/(k+1)!, with the ad of the side. */
static void tangent_is_its_series(void **state)
{
  const world *w = *state;
  rig_random random = rig_seed(0);
  for (int i = 0; i < COUNT(cases); i++)
    for (int k = 0; k < 10 * COUNT(angles); k++) {
      const ga_group *g = w->group[i];
      double d[MAX_N], T[MAX_PACKED], A[MAX_PACKED], expected[36];
      random_vector(d, ga_group_nv(g), 1, &random);
      scale_rotations(g, d, angles[k % COUNT(angles)]);
      ga_group_tangent(g, T, d);
      ga_group_ad(g, A, d);
      for (int b = 0, at = 0; b < ga_group_n_blocks(g); b++) {
        const int size = ga_group_block(g, b, NULL);
        matrix_series(expected, A + at, size, 1);
        assert_close(cases[i].name, T + at, expected, size * size, 5e-15);
        at += size * size;
      }
    }
}

/* move(q, d+δ) = move(move(q,d), Tδ), small and large d. */
static void tangent_is_the_derivative_of_move(void **state)
{
  const world *w = *state;
  const double eps = 1e-5;
  static const double lengths[] = {1e-9, 1e-3, 1, 2, pi, 5, 2 * pi, 7, 20};
  rig_random random = rig_seed(0);
  for (int i = 0; i < COUNT(cases); i++)
    for (int k = 0; k < 5 * COUNT(lengths); k++) {
      const ga_group *g = w->group[i];
      const int nv = ga_group_nv(g);
      double q[MAX_N], q1[MAX_N], d[MAX_N], delta[MAX_N], moved[MAX_N], plus[MAX_N], minus[MAX_N],
          T[MAX_PACKED];
      random_element(g, q, &random);
      random_vector(d, nv, 1, &random);
      scale_rotations(g, d, lengths[k % COUNT(lengths)]);
      random_vector(delta, nv, 1, &random);
      ga_group_move(g, q1, q, d);
      for (int j = 0; j < nv; j++) d[j] += eps * delta[j];
      ga_group_move(g, moved, q, d);
      ga_group_difference(g, plus, q1, moved);
      for (int j = 0; j < nv; j++) d[j] -= 2 * eps * delta[j];
      ga_group_move(g, moved, q, d);
      ga_group_difference(g, minus, q1, moved);
      for (int j = 0; j < nv; j++) {
        plus[j] = (plus[j] - minus[j]) / (2 * eps);
        d[j] += eps * delta[j];
      }
      ga_group_tangent(g, T, d);
      apply_blocks(g, moved, T, delta, 1);
      assert_close(cases[i].name, moved, plus, nv, 2e-9);
    }
}

static void tangent_inverse_is_the_inverse(void **state)
{
  const world *w = *state;
  static const double more[] = {4, 5, 6, 6.6, 9, 12};
  rig_random random = rig_seed(0);
  for (int i = 0; i < COUNT(cases); i++)
    for (int k = 0; k < COUNT(angles) + COUNT(more); k++)
      for (int repeat = 0; repeat < 10; repeat++) {
        const ga_group *g = w->group[i];
        const int nv = ga_group_nv(g);
        const double angle = k < COUNT(angles) ? angles[k] : more[k - COUNT(angles)];
        double d[MAX_N], x[MAX_N], y[MAX_N], z[MAX_N], T[MAX_PACKED], Tinv[MAX_PACKED];
        random_vector(d, nv, 1, &random);
        random_vector(x, nv, 1, &random);
        scale_rotations(g, d, angle);
        ga_group_tangent(g, T, d);
        ga_group_tangent_inverse(g, Tinv, d);
        apply_blocks(g, y, T, x, 1);
        apply_blocks(g, z, Tinv, y, 1);
        /* T⁻¹ grows like 1/|f − 2πk| towards its poles. */
        assert_close(cases[i].name, z, x, nv, k < COUNT(angles) ? 1e-14 : 2e-12);
      }
}

/* In the whole range of angles, and in place. */
static void exponent_rate_is_the_product(void **state)
{
  const world *w = *state;
  static const double more[] = {0.499, 0.501, 0.7, 1.5, 2.1, 4, 5, 6, 9};
  rig_random random = rig_seed(0);
  for (int i = 0; i < COUNT(cases); i++)
    for (int k = 0; k < COUNT(angles) + COUNT(more); k++)
      for (int repeat = 0; repeat < 10; repeat++) {
        const ga_group *g = w->group[i];
        const int nv = ga_group_nv(g);
        double d[MAX_N], x[MAX_N], y[MAX_N], z[MAX_N], Tinv[MAX_PACKED];
        random_vector(d, nv, 1, &random);
        random_vector(x, nv, 1, &random);
        scale_rotations(g, d, k < COUNT(angles) ? angles[k] : more[k - COUNT(angles)]);
        ga_group_tangent_inverse(g, Tinv, d);
        apply_blocks(g, y, Tinv, x, 1);
        ga_group_exponent_rate(g, z, d, x);
        assert_close(cases[i].name, z, y, nv, 2e-14);
        ga_group_exponent_rate(g, x, d, x);
        assert_memory_equal(x, z, sizeof(double) * (size_t)nv);
      }
}

/* T d = d at any length, as d commutes with itself. */
static void tangent_keeps_its_own_vector(void **state)
{
  const world *w = *state;
  rig_random random = rig_seed(0);
  for (int i = 0; i < COUNT(cases); i++)
    for (double length = 1e-10; length < 1e3; length *= 3) {
      const ga_group *g = w->group[i];
      double d[MAX_N], y[MAX_N], T[MAX_PACKED];
      random_vector(d, ga_group_nv(g), length, &random);
      ga_group_tangent(g, T, d);
      apply_blocks(g, y, T, d, 1);
      assert_close(cases[i].name, y, d, ga_group_nv(g), 3e-15 * length);
    }
}

/* TA = T + κ T A, block by block */
static void multiply_ad(const ga_group *g, double *TA, const double *T, const double *A, double kappa)
{
  for (int b = 0, at = 0; b < ga_group_n_blocks(g); b++) {
    const int size = ga_group_block(g, b, NULL);
    double product[36];
    matrix_product(product, T + at, A + at, size);
    for (int i = 0; i < size * size; i++) TA[at + i] = T[at + i] + kappa * product[i];
    at += size * size;
  }
}

static void tangent_ad_is_the_product(void **state)
{
  const world *w = *state;
  static const double kappas[] = {0, 1e-3, -0.7, 3};
  rig_random random = rig_seed(0);
  for (int i = 0; i < COUNT(cases); i++)
    for (int k = 0; k < 4 * COUNT(angles); k++) {
      const ga_group *g = w->group[i];
      const int n = ga_group_blocks_length(g);
      const double kappa = kappas[k / COUNT(angles)];
      double d[MAX_N], a[MAX_N], T[MAX_PACKED], A[MAX_PACKED], expected[MAX_PACKED], TA[MAX_PACKED];
      random_vector(d, ga_group_nv(g), 1, &random);
      random_vector(a, ga_group_nv(g), 1, &random);
      scale_rotations(g, d, angles[k % COUNT(angles)]);
      ga_group_tangent(g, expected, d);
      ga_group_ad(g, A, a);
      ga_group_tangent_ad(g, T, TA, d, kappa, a);
      assert_close(cases[i].name, T, expected, n, 1e-15);
      multiply_ad(g, expected, T, A, kappa);
      assert_close(cases[i].name, TA, expected, n, 1e-14);
    }
}

/* ---- Runs of parts of one kind ------------------------------------------------------------------ */

enum { LONG_N = 700, LONG_PACKED = 1000 };

/* More rotations in a row than are moved together, with others in between, at both ends, and alone. */
static ga_group *long_product(ga_context *ctx)
{
  static const struct {
    int count;
    ga_factor factor;
  } runs[] = {{1, {GA_SE3, 0, GA_LEFT}},    {19, {GA_R3SO3, 0, GA_RIGHT}}, {2, {GA_QUAT, 0, GA_RIGHT}},
              {1, {GA_SO3, 0, GA_LEFT}},    {1, {GA_RN, 5, GA_LEFT}},      {16, {GA_SO3, 0, GA_RIGHT}},
              {2, {GA_SE3, 0, GA_RIGHT}},   {3, {GA_R3SO3, 0, GA_LEFT}},   {1, {GA_QUAT, 0, GA_LEFT}},
              {15, {GA_R3SO3, 0, GA_LEFT}}, {2, {GA_SO3, 0, GA_RIGHT}}};
  ga_factor factors[80];
  int n = 0;
  for (int i = 0; i < COUNT(runs); i++)
    for (int k = 0; k < runs[i].count; k++) factors[n++] = runs[i].factor;
  return make_group(ctx, n, factors);
}

/* The piece of q1 that belongs to one factor: as that factor moves alone, and by exp and product. */
static void check_own_move(ga_context *ctx, const ga_group *g, int factor, const double *q1, const double *q,
                           const double *d, double tol)
{
  int qs, vs;
  const ga_factor f = ga_group_factor(g, factor, &qs, &vs);
  ga_group *one = make_group(ctx, 1, &f);
  const int nq = ga_group_nq(one);
  double alone[12], e[12];
  ga_group_move(one, alone, q + qs, d + vs);
  assert_close("alone", q1 + qs, alone, nq, 0);
  ga_group_exp(one, e, d + vs);
  if (f.side == GA_LEFT)
    ga_group_compose(one, alone, q + qs, e);
  else
    ga_group_compose(one, alone, e, q + qs);
  assert_close("composed", q1 + qs, alone, nq, tol);
  ga_group_destroy(&one);
}

static void runs_are_their_parts(void **state)
{
  const world *w = *state;
  ga_group *g = long_product(w->ctx);
  const int nq = ga_group_nq(g), nv = ga_group_nv(g), packed = ga_group_blocks_length(g);
  rig_random random = rig_seed(0);
  assert_true(nq <= LONG_N && packed <= LONG_PACKED);
  static const double sizes[] = {1e-9, 5e-3, 0.1, 1, 4};
  for (int k = 0; k < COUNT(sizes); k++) {
    double q[LONG_N], q1[LONG_N], d[LONG_N], a[LONG_N];
    double T[LONG_PACKED], TA[LONG_PACKED], A[LONG_PACKED], expected[LONG_PACKED];
    random_vector(d, nv, 2, &random);
    ga_group_exp(g, q, d);
    random_vector(d, nv, sizes[k], &random);
    random_vector(a, nv, 1, &random);
    ga_group_move(g, q1, q, d);
    for (int i = 0; i < ga_group_n_factors(g); i++)
      check_own_move(w->ctx, g, i, q1, q, d, 4e-15 * (1 + sizes[k]));
    ga_group_move(g, q, q, d);
    assert_close("in place", q, q1, nq, 0);
    ga_group_tangent_ad(g, T, TA, d, 0.3, a);
    ga_group_tangent(g, expected, d);
    assert_close("tangent", T, expected, packed, 2e-15);
    ga_group_ad(g, A, a);
    multiply_ad(g, expected, T, A, 0.3);
    assert_close("tangent times ad", TA, expected, packed, 1e-14);
  }
  ga_group_destroy(&g);
}

/* ---- defect and normalise ----------------------------------------------------------------------- */

static void defect_measures_the_distance_from_the_group(void **state)
{
  const world *w = *state;
  rig_random random = rig_seed(0);
  for (int i = 0; i < COUNT(cases); i++) {
    const ga_group *g = w->group[i];
    double q[MAX_N];
    random_element(g, q, &random);
    assert_true(ga_group_defect(g, q) < 4e-15);
    for (int j = 0; j < ga_group_nq(g); j++) {
      const double kept = q[j];
      q[j] = NAN;
      assert_true(isnan(ga_group_defect(g, q)));
      q[j] = -INFINITY;
      assert_true(!isfinite(ga_group_defect(g, q)));
      q[j] = kept;
    }
  }
  const ga_group *so3 = group_named(w, "SO3 left"), *quat = group_named(w, "quaternion left");
  double R[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1.001}, p[4] = {0, 0, 0.5, 0};
  assert_number("stretch", ga_group_defect(so3, R), 1.001 * 1.001 - 1, 1e-15);
  R[8] = -1;
  assert_number("reflection", ga_group_defect(so3, R), 2, 0);
  R[8] = 1;
  R[1] = 1e-5;
  assert_number("shear", ga_group_defect(so3, R), 1e-5, 1e-15);
  assert_number("length", ga_group_defect(quat, p), 0.5, 0);
}

/* Q is the polar factor of A when it is a rotation and QᵀA is symmetric and positive definite. */
static void normalise_finds_the_polar_factor(void **state)
{
  const ga_group *so3 = group_named(*state, "SO3 left");
  static const double sizes[] = {1e-12, 1e-3, 0.3, 0.9}, scales[] = {1, 1e-200, 3e200, 7};
  rig_random random = rig_seed(0);
  for (int k = 0; k < 80; k++) {
    double Q[9], L[9], S[9], A[9], got[9];
    random_element(so3, Q, &random);
    random_vector(L, 9, sizes[k % 4], &random);
    for (int i = 0; i < 9; i++) { /* S = I + size (L Lᵀ), positive definite */
      S[i] = i % 4 == 0 ? 1 : 0;
      for (int j = 0; j < 3; j++) S[i] += L[i / 3 * 3 + j] * L[i % 3 * 3 + j];
    }
    matrix_product(A, Q, S, 3);
    for (int i = 0; i < 9; i++) got[i] = A[i] * scales[k / 4 % 4];
    ga_group_normalise(so3, got);
    assert_true(ga_group_defect(so3, got) < 1e-15);
    assert_close("rotation", got, Q, 9, 2e-15);
  }
}

static void normalise_in_every_group(void **state)
{
  const world *w = *state;
  rig_random random = rig_seed(0);
  for (int i = 0; i < COUNT(cases); i++) {
    const ga_group *g = w->group[i];
    double q[MAX_N], off[MAX_N];
    random_element(g, q, &random);
    random_vector(off, ga_group_nq(g), 1e-10, &random);
    for (int j = 0; j < ga_group_nq(g); j++) off[j] += q[j];
    ga_group_normalise(g, off);
    assert_true(ga_group_defect(g, off) < 2e-15);
    assert_close(cases[i].name, off, q, ga_group_nq(g), 3e-10);
  }
}

/* What cannot be repaired stays visible. */
static void normalise_hides_no_error(void **state)
{
  const ga_group *so3 = group_named(*state, "SO3 left"), *quat = group_named(*state, "quaternion left");
  double R[9] = {1.1, 0.1, 0, 0, 1, 0.2, 0, 0, -1.3}, p[4] = {0, 0, 0, 0};
  ga_group_normalise(so3, R);
  assert_true(ga_group_defect(so3, R) == 2);
  memset(R, 0, sizeof R);
  ga_group_normalise(so3, R);
  assert_true(isnan(ga_group_defect(so3, R)));
  ga_group_normalise(quat, p);
  assert_true(isnan(ga_group_defect(quat, p)));
  p[0] = 3e200;
  p[1] = p[2] = p[3] = 0;
  ga_group_normalise(quat, p);
  assert_close("large quaternion", p, (double[4]){1, 0, 0, 0}, 4, 0);
}

/* ---- Creation ----------------------------------------------------------------------------------- */

static void wrong_arguments_are_named(void **state)
{
  world *w = *state;
  static const struct {
    int n_factors;
    ga_factor factor[2];
    ga_reason reason;
    const char *field;
    double number;
  } wrong[] = {
      {-1, {{GA_RN, 1, GA_LEFT}}, GA_REASON_OUT_OF_RANGE, "n_factors", -1},
      {2, {{GA_RN, 1, GA_LEFT}, {GA_RN, -3, GA_LEFT}}, GA_REASON_OUT_OF_RANGE, "factors[1].n", -3},
      {1, {{(ga_factor_kind)17, 1, GA_LEFT}}, GA_REASON_NOT_A_CHOICE, "factors[0].kind", 17},
      {2, {{GA_RN, 1, GA_LEFT}, {GA_SO3, 1, (ga_side)5}}, GA_REASON_NOT_A_CHOICE, "factors[1].side", 5},
      {2, {{GA_RN, INT_MAX, GA_LEFT}, {GA_RN, 1, GA_LEFT}}, GA_REASON_TOO_MANY, "numbers of q", 2147483648.0},
      {2,
       {{GA_RN, INT_MAX - 11, GA_LEFT}, {GA_R3SO3, 0, GA_LEFT}},
       GA_REASON_TOO_MANY,
       "numbers of q",
       2147483648.0},
  };
  for (int i = 0; i < COUNT(wrong); i++) {
    ga_group *g = w->group[0];
    assert_int_equal(ga_group_create(w->ctx, wrong[i].n_factors, wrong[i].factor, &g), GA_ERR_ARGUMENT);
    assert_null(g);
    assert_call_error(w->ctx, wrong[i].reason, "group", wrong[i].field);
    assert_error_number(w->ctx, 0, wrong[i].number);
  }
  ga_group *g = NULL;
  assert_int_equal(ga_group_create(w->ctx, 1, NULL, &g), GA_ERR_ARGUMENT);
  assert_call_error(w->ctx, GA_REASON_COUNT_MISMATCH, "group", "n_factors");
  assert_string_equal(ga_context_error(w->ctx)->text, "group: n_factors is 1, but factors is NULL");
  assert_int_equal(ga_group_create(w->ctx, 1, cases[0].factor, NULL), GA_ERR_ARGUMENT);
  assert_call_error(w->ctx, GA_REASON_NULL_ARGUMENT, "ga_group_create", "out");
  assert_string_equal(ga_context_error(w->ctx)->text, "ga_group_create: out is NULL");
  assert_int_equal(ga_group_create(NULL, 1, cases[0].factor, &g), GA_ERR_ARGUMENT);
  assert_null(g);
  ga_group_destroy(NULL);
  ga_group_destroy(&g);
}

static void empty_group(void **state)
{
  world *w = *state;
  const ga_factor nothing = {GA_RN, 0, GA_LEFT};
  for (int n = 0; n < 2; n++) {
    ga_group *g = make_group(w->ctx, n, n ? &nothing : NULL);
    assert_int_equal(ga_group_n_factors(g), n);
    assert_int_equal(ga_group_nq(g) + ga_group_nv(g) + ga_group_n_blocks(g) + ga_group_blocks_length(g), 0);
    ga_group_identity(g, NULL);
    ga_group_move(g, NULL, NULL, NULL);
    ga_group_tangent(g, NULL, NULL);
    assert_true(ga_group_defect(g, NULL) == 0);
    int q = -1, v = -1;
    assert_int_equal(ga_group_factor(g, 7, &q, &v).n, 0);
    assert_int_equal(q + v, 0);
    assert_int_equal(ga_group_block(g, 0, &v), 0);
    ga_group_destroy(&g);
    assert_null(g);
  }
}

typedef struct failing_allocator {
  int calls, fail_at; /* fail_at 0: never */
  int live;
} failing_allocator;

static void *failing_alloc(void *user, size_t bytes)
{
  failing_allocator *a = user;
  if (++a->calls == a->fail_at) return NULL;
  void *block = malloc(bytes);
  if (block) a->live++;
  return block;
}

static void failing_release(void *user, void *block)
{
  failing_allocator *a = user;
  a->live--;
  free(block);
}

static void failed_allocations_leak_nothing(void **state)
{
  failing_allocator a = {0, 0, 0};
  ga_context_opts opts = ga_context_defaults();
  ga_context *ctx = NULL;
  const group_case *product = &cases[COUNT(cases) - 1];
  (void)state;
  opts.alloc = failing_alloc;
  opts.release = failing_release;
  opts.alloc_user = &a;
  assert_int_equal(ga_context_create(&opts, &ctx), GA_OK);
  const int live_before = a.live;
  ga_status status = GA_ERR_MEMORY;
  int failures = 0;
  for (int n = 1; status != GA_OK; n++) {
    ga_group *g = NULL;
    a.calls = 0;
    a.fail_at = n;
    status = ga_group_create(ctx, product->n_factors, product->factor, &g);
    if (status != GA_OK) {
      failures++;
      assert_int_equal(status, GA_ERR_MEMORY);
      assert_int_equal(ga_context_error(ctx)->status, GA_ERR_MEMORY);
      assert_null(g);
    }
    ga_group_destroy(&g);
    assert_int_equal(a.live, live_before);
  }
  assert_true(failures >= 1);
  ga_context_destroy(&ctx);
  assert_int_equal(a.live, 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(scalar_functions_are_accurate_everywhere),
      cmocka_unit_test(scalar_functions_at_zero_and_beyond_numbers),
      cmocka_unit_test(exp_is_the_power_series),
      cmocka_unit_test(exp_of_large_vectors),
      cmocka_unit_test(log_undoes_exp),
      cmocka_unit_test(log_is_relatively_accurate_for_small_rotations),
      cmocka_unit_test(log_of_half_turns),
      cmocka_unit_test(quaternions_of_both_signs_have_one_log),
      cmocka_unit_test(group_laws),
      cmocka_unit_test(quaternions_are_rotations),
      cmocka_unit_test(direct_product_is_its_factors),
      cmocka_unit_test(se3_is_the_homogeneous_matrices),
      cmocka_unit_test(left_and_right_are_related_by_ad),
      cmocka_unit_test(product_is_its_factors),
      cmocka_unit_test(difference_undoes_move),
      cmocka_unit_test(rate_is_the_derivative_of_move),
      cmocka_unit_test(many_moves_stay_on_the_group),
      cmocka_unit_test(bracket_is_a_lie_bracket),
      cmocka_unit_test(bracket_is_the_commutator_of_moves),
      cmocka_unit_test(tangent_is_its_series),
      cmocka_unit_test(tangent_is_the_derivative_of_move),
      cmocka_unit_test(tangent_inverse_is_the_inverse),
      cmocka_unit_test(exponent_rate_is_the_product),
      cmocka_unit_test(tangent_keeps_its_own_vector),
      cmocka_unit_test(tangent_ad_is_the_product),
      cmocka_unit_test(runs_are_their_parts),
      cmocka_unit_test(defect_measures_the_distance_from_the_group),
      cmocka_unit_test(normalise_finds_the_polar_factor),
      cmocka_unit_test(normalise_in_every_group),
      cmocka_unit_test(normalise_hides_no_error),
      cmocka_unit_test(wrong_arguments_are_named),
      cmocka_unit_test(empty_group),
      cmocka_unit_test(failed_allocations_leak_nothing),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
