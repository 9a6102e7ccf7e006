/* Poses, and rotations from matrices, quaternions, axes, Euler angles and directions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core_rig.h"
#include "galpha/mbs.h"
#include "lie/lie_impl.h"
#include "lie/mat3.h"

#define PI 3.14159265358979323846

static int set_up(void **state)
{
  ga_context *ctx;
  rig_memory = (rig_heap){0, 0, 0, 0};
  const ga_status status = rig_context(&ctx);
  *state = ctx;
  return status;
}

/* Nothing here allocates but the context. */
static int tear_down(void **state)
{
  ga_context *ctx = *state;
  const long count = rig_memory.count;
  ga_context_destroy(&ctx);
  return count == 1 && rig_memory.live == 0 ? 0 : -1;
}

static double far_apart(const double *A, const double *B)
{
  double worst = 0;
  for (int i = 0; i < 9; i++)
    if (!(fabs(A[i] - B[i]) <= worst)) worst = fabs(A[i] - B[i]);
  return worst;
}

static void assert_rotation(const double *R)
{
  /* two products round each entry by up to 3·√3 ε/2 each, and RᵀR adds up six such errors */
  assert_below(ga__so3_defect(R), 4e-15, "defect of a rotation");
}

static void random_axis(rig_random *random, double axis[3])
{
  for (int i = 0; i < 3; i++) axis[i] = rig_uniform(random, -3, 3);
}

static void poses(void **state)
{
  static const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  const ga_pose p = ga_pose_identity(), at = ga_pose_at(1, -2, 3);
  (void)state;
  assert_memory_equal(p.rotation, identity, sizeof identity);
  assert_memory_equal(at.rotation, identity, sizeof identity);
  for (int i = 0; i < 3; i++) assert_true(p.position[i] == 0);
  assert_true(at.position[0] == 1 && at.position[1] == -2 && at.position[2] == 3);
}

/* Turning about an axis leaves it; across it, cosine and sine are those of the angle, in the right sense. */
static void axis_and_angle(void **state)
{
  rig_random random = rig_seed(0);
  for (int n = 0; n < 300; n++) {
    double axis[3], R[9], turned[3], side[3], out[3], sense[3];
    const double angle = rig_uniform(&random, -10, 10), scale = pow(10, rig_uniform(&random, -200, 200));
    random_axis(&random, axis);
    random_axis(&random, side);
    const double length = sqrt(ga__vec3_dot(axis, axis));
    for (int i = 0; i < 3; i++) axis[i] /= length;
    const double along = ga__vec3_dot(side, axis);
    for (int i = 0; i < 3; i++) side[i] -= along * axis[i];
    for (int i = 0; i < 3; i++) turned[i] = axis[i] * scale;
    assert_status(*state, ga_rotation_axis_angle(*state, turned, angle, R), GA_OK);
    assert_rotation(R);
    ga__mat3_mul_vec(turned, R, axis);
    for (int i = 0; i < 3; i++) assert_near(turned[i], axis[i], 1e-15, "axis");
    ga__mat3_mul_vec(out, R, side);
    ga__vec3_cross(sense, side, out);
    const double square = ga__vec3_dot(side, side);
    assert_near(ga__vec3_dot(side, out) / square, cos(angle), 1e-14, "cosine");
    assert_near(ga__vec3_dot(sense, axis) / square, sin(angle), 1e-14, "sine");
  }
}

static void quaternion_agrees_with_axis(void **state)
{
  rig_random random = rig_seed(0);
  for (int n = 0; n < 300; n++) {
    double psi[3], p[4], R[9], S[9], log[3];
    ga__trig t;
    const double scale = (n % 2 ? -1 : 1) * pow(10, rig_uniform(&random, -300, 300));
    for (int i = 0; i < 4; i++) p[i] = rig_uniform(&random, -1, 1);
    ga__quat_log(psi, p);
    ga__trig_eval(&t, ga__vec3_dot(psi, psi));
    ga__so3_exp(S, psi, &t);
    for (int i = 0; i < 4; i++) p[i] *= scale;
    assert_status(*state, ga_rotation_quaternion(*state, p, R), GA_OK);
    assert_rotation(R);
    assert_below(far_apart(R, S), 5e-15, "quaternion against exp");
    ga__so3_log(log, R);
    if (sqrt(ga__vec3_dot(psi, psi)) < 3)
      for (int i = 0; i < 3; i++) assert_near(log[i], psi[i], 1e-13, "log");
  }
}

/* A rotation with rounding in its sixth digit becomes one to rounding, and the nearest. In place as well. */
static void matrix_is_mended(void **state)
{
  rig_random random = rig_seed(0);
  for (int n = 0; n < 300; n++) {
    double axis[3], R[9], near[9], out[9];
    random_axis(&random, axis);
    assert_status(*state, ga_rotation_axis_angle(*state, axis, rig_uniform(&random, -3, 3), R), GA_OK);
    for (int i = 0; i < 9; i++) near[i] = R[i] + rig_uniform(&random, -1e-7, 1e-7);
    assert_status(*state, ga_rotation_matrix(*state, near, out), GA_OK);
    assert_rotation(out);
    assert_below(far_apart(out, near), 3e-7, "mended matrix");
    assert_status(*state, ga_rotation_matrix(*state, near, near), GA_OK);
    assert_memory_equal(near, out, sizeof out);
  }
}

/* Every sequence of one case against products of elementary matrices written out here. */
static void elementary(double R[9], int axis, double f)
{
  const int j = (axis + 1) % 3, k = (axis + 2) % 3;
  memset(R, 0, 9 * sizeof *R);
  R[4 * axis] = 1;
  R[4 * j] = R[4 * k] = cos(f);
  R[3 * j + k] = -sin(f);
  R[3 * k + j] = sin(f);
}

static void euler_sequences(void **state)
{
  rig_random random = rig_seed(0);
  int n = 0;
  for (int c = 0; c < 27; c++) {
    const int axis[3] = {c / 9, c / 3 % 3, c % 3};
    char lower[4] = "", upper[4] = "";
    double f[3], A[9], B[9], C[9], AB[9], expected[9], R[9];
    for (int i = 0; i < 3; i++) {
      lower[i] = "xyz"[axis[i]];
      upper[i] = "XYZ"[axis[i]];
      f[i] = rig_uniform(&random, -4, 4);
    }
    if (axis[0] == axis[1] || axis[1] == axis[2]) {
      assert_status(*state, ga_rotation_euler(*state, lower, f, R), GA_ERR_ARGUMENT);
      assert_says(*state, lower);
      continue;
    }
    n++;
    elementary(A, axis[0], f[0]);
    elementary(B, axis[1], f[1]);
    elementary(C, axis[2], f[2]);
    ga__mat3_mul(AB, A, B);
    ga__mat3_mul(expected, AB, C);
    assert_status(*state, ga_rotation_euler(*state, lower, f, R), GA_OK);
    assert_rotation(R);
    assert_below(far_apart(R, expected), 2e-15, lower);
    ga__mat3_mul(AB, C, B);
    ga__mat3_mul(expected, AB, A);
    assert_status(*state, ga_rotation_euler(*state, upper, f, R), GA_OK);
    assert_rotation(R);
    assert_below(far_apart(R, expected), 2e-15, upper);
  }
  assert_int_equal(n, 12);
}

/* Column 3 is z; column 1 lies in the plane of z and hint, on the hint's side. */
static void frames_by_their_z(void **state)
{
  rig_random random = rig_seed(0);
  for (int n = 0; n < 300; n++) {
    double z[3], hint[3], across[3], R[9];
    random_axis(&random, z);
    do { /* some way off z, so that what is made nearly along z stays off it by as much */
      random_axis(&random, hint);
      ga__vec3_cross(across, z, hint);
    } while (ga__vec3_dot(across, across) < 0.05 * ga__vec3_dot(z, z) * ga__vec3_dot(hint, hint));
    const double size = sqrt(ga__vec3_dot(z, z) / ga__vec3_dot(hint, hint));
    if (n % 3 == 0)
      for (int i = 0; i < 3; i++) hint[i] = z[i] + 1e-5 * size * hint[i]; /* nearly along z */
    if (n % 3 == 1) memset(z, 0, 2 * sizeof *z);
    assert_status(*state, ga_rotation_z_axis(*state, z, n % 4 ? hint : NULL, R), GA_OK);
    assert_rotation(R);
    const double x[3] = {R[0], R[3], R[6]}, y[3] = {R[1], R[4], R[7]}, length = sqrt(ga__vec3_dot(z, z));
    for (int i = 0; i < 3; i++) assert_near(R[3 * i + 2], z[i] / length, 1e-15, "z_axis");
    if (n % 4 == 0) continue;
    assert_true(ga__vec3_dot(x, hint) > 0);
    assert_near(ga__vec3_dot(y, hint), 0, 1e-14 / (n % 3 ? 1 : 1e-6), "hint across y");
  }
}

/* ---- What is refused ---- */

typedef enum call { MATRIX, QUATERNION, AXIS, EULER, Z_AXIS } call;

static const struct refusal {
  call call;
  const double *numbers;
  const char *text; /* sequence, or "hint" for a frame's x */
  double angle;
  ga_reason reason;
  const char *field;
  int item;
} refusals[] = {
    {MATRIX, NULL, NULL, 0, GA_REASON_NULL_ARGUMENT, "matrix", -1},
    {MATRIX, (const double[]){1, 0, 0, 0, NAN, 0, 0, 0, 1}, NULL, 0, GA_REASON_NOT_FINITE, "matrix", 4},
    {MATRIX, (const double[]){1, 0, 0, 0, 1, 0, 0, 1e-5, 1}, NULL, 0, GA_REASON_NOT_A_ROTATION, "matrix", -1},
    {MATRIX, (const double[]){1, 0, 0, 0, 1, 0, 0, 0, -1}, NULL, 0, GA_REASON_NOT_A_ROTATION, "matrix", -1},
    {MATRIX, (const double[]){0, 0, 0, 0, 0, 0, 0, 0, 0}, NULL, 0, GA_REASON_NOT_A_ROTATION, "matrix", -1},
    {QUATERNION, NULL, NULL, 0, GA_REASON_NULL_ARGUMENT, "quaternion", -1},
    {QUATERNION, (const double[]){0, 0, 0, 0}, NULL, 0, GA_REASON_ZERO_DIRECTION, "quaternion", -1},
    {QUATERNION, (const double[]){0, 0, INFINITY, 0}, NULL, 0, GA_REASON_NOT_FINITE, "quaternion", 2},
    {AXIS, NULL, NULL, 1, GA_REASON_NULL_ARGUMENT, "axis", -1},
    {AXIS, (const double[]){0, 0, 0}, NULL, 1, GA_REASON_ZERO_DIRECTION, "axis", -1},
    {AXIS, (const double[]){0, NAN, 0}, NULL, 1, GA_REASON_NOT_FINITE, "axis", 1},
    {AXIS, (const double[]){0, 1, 0}, NULL, NAN, GA_REASON_NOT_FINITE, "angle", -1},
    {EULER, NULL, "xyz", 0, GA_REASON_NULL_ARGUMENT, "angles", -1},
    {EULER, (const double[]){1, 2, 3}, NULL, 0, GA_REASON_NULL_ARGUMENT, "sequence", -1},
    {EULER, (const double[]){1, 2, NAN}, "xyz", 0, GA_REASON_NOT_FINITE, "angles", 2},
    {EULER, (const double[]){1, 2, 3}, "xy", 0, GA_REASON_EULER_SEQUENCE, "sequence", -1},
    {EULER, (const double[]){1, 2, 3}, "xyzx", 0, GA_REASON_EULER_SEQUENCE, "sequence", -1},
    {EULER, (const double[]){1, 2, 3}, "xYz", 0, GA_REASON_EULER_SEQUENCE, "sequence", -1},
    {EULER, (const double[]){1, 2, 3}, "abc", 0, GA_REASON_EULER_SEQUENCE, "sequence", -1},
    {EULER, (const double[]){1, 2, 3}, "", 0, GA_REASON_EULER_SEQUENCE, "sequence", -1},
    {Z_AXIS, NULL, NULL, 0, GA_REASON_NULL_ARGUMENT, "z_axis", -1},
    {Z_AXIS, (const double[]){0, 0, 0}, NULL, 0, GA_REASON_ZERO_DIRECTION, "z_axis", -1},
    {Z_AXIS, (const double[]){0, 0, -INFINITY}, NULL, 0, GA_REASON_NOT_FINITE, "z_axis", 2},
    {Z_AXIS, (const double[]){1, 2, 3, 0, 0, 0}, "hint", 0, GA_REASON_ZERO_DIRECTION, "x_axis", -1},
    {Z_AXIS, (const double[]){1, 2, 3, -2, -4, -6}, "hint", 0, GA_REASON_PARALLEL_DIRECTIONS, "x_axis", -1},
    {Z_AXIS, (const double[]){1, 2, 3, 1, NAN, 1}, "hint", 0, GA_REASON_NOT_FINITE, "x_axis", 1},
};

static ga_status refused(ga_context *ctx, const struct refusal *r, double *rotation)
{
  switch (r->call) {
  case MATRIX:
    return ga_rotation_matrix(ctx, r->numbers, rotation);
  case QUATERNION:
    return ga_rotation_quaternion(ctx, r->numbers, rotation);
  case AXIS:
    return ga_rotation_axis_angle(ctx, r->numbers, r->angle, rotation);
  case EULER:
    return ga_rotation_euler(ctx, r->text, r->numbers, rotation);
  case Z_AXIS:
    return ga_rotation_z_axis(ctx, r->numbers, r->text ? r->numbers + 3 : NULL, rotation);
  }
  return GA_OK;
}

static void refusals_say_why_and_write_nothing(void **state)
{
  for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
    double R[9], before[9];
    for (int k = 0; k < 9; k++) R[k] = before[k] = 7 + k;
    ga_context_clear_error(*state);
    assert_status(*state, refused(*state, &refusals[i], R), GA_ERR_ARGUMENT);
    assert_call_error(*state, refusals[i].reason, "rotation", refusals[i].field);
    assert_int_equal(ga_context_error(*state)->item, refusals[i].item);
    assert_memory_equal(R, before, sizeof R);
    assert_int_equal(refused(NULL, &refusals[i], R), GA_ERR_ARGUMENT);
  }
  const double one[4] = {1, 0, 0, 0};
  assert_int_equal(ga_rotation_quaternion(*state, one, NULL), GA_ERR_ARGUMENT);
  assert_call_error(*state, GA_REASON_NULL_ARGUMENT, "rotation", "result");
  const double mirror[9] = {1, 0, 0, 0, 1, 0, 0, 0, -1};
  double R[9];
  assert_int_equal(ga_rotation_matrix(*state, mirror, R), GA_ERR_ARGUMENT);
  assert_string_equal(
      ga_context_error(*state)->text,
      "rotation: the matrix differs from a rotation by 2, more than 1e-06; its determinant is "
      "negative: it mirrors; turn one axis round");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      TEST(poses),
      TEST(axis_and_angle),
      TEST(quaternion_agrees_with_axis),
      TEST(matrix_is_mended),
      TEST(euler_sequences),
      TEST(frames_by_their_z),
      TEST(refusals_say_why_and_write_nothing),
  };
#undef TEST
  return cmocka_run_group_tests_name("mbs: poses", tests, NULL, NULL);
}
