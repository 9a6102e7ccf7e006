/* Poses, and rotation matrices from quaternions, axes and angles, Euler angles, directions. */
#include "galpha/mbs.h"

#include "base/base_impl.h"
#include "lie/lie_impl.h"
#include "lie/mat3.h"
#include <math.h>
#include <string.h>

/* [-] largest entry of RᵀR − I that is accepted as rounding in user input */
#define MATRIX_DEFECT 1e-6
/* [-] sine of the angle between z axis and hint below which the hint is useless */
#define HINT_SINE 1e-6

ga_pose ga_pose_identity(void)
{
  return (ga_pose){{0, 0, 0}, {1, 0, 0, 0, 1, 0, 0, 0, 1}};
}

ga_pose ga_pose_at(double x, double y, double z)
{
  return (ga_pose){{x, y, z}, {1, 0, 0, 0, 1, 0, 0, 0, 1}};
}

static ga_status refuse(ga_context *ctx, ga_reason reason, ga__facts facts)
{
  facts.kind = "rotation";
  return ga__refuse(ctx, GA_ERR_ARGUMENT, reason, &facts);
}

static ga_status refuse_zero(ga_context *ctx, const char *what, const char *expected)
{
  return refuse(ctx, GA_REASON_ZERO_DIRECTION, (ga__facts){.field = what, .expected = expected});
}

/* Refuses NULL and numbers that are not finite. */
static ga_status check_numbers(ga_context *ctx, const char *what, const double *x, int n,
                               const double *rotation)
{
  if (!ctx) return GA_ERR_ARGUMENT;
  if (!x || !rotation) return refuse(ctx, GA_REASON_NULL_ARGUMENT, (ga__facts){.field = x ? "result" : what});
  for (int i = 0; i < n; i++)
    if (!isfinite(x[i]))
      return refuse(ctx, GA_REASON_NOT_FINITE,
                    (ga__facts){.field = what, .item = n > 1 ? i + 1 : 0, GA__NUMBERS({x[i], NULL})});
  return GA_OK;
}

/* unit = a / |a|; returns 0 if a is 0. Scaled first, to avoid overflow and underflow. */
static int to_unit(double *unit, const double *a, int n)
{
  double largest = 0, sum = 0;
  for (int i = 0; i < n; i++) largest = fmax(largest, fabs(a[i]));
  if (largest == 0) return 0;
  for (int i = 0; i < n; i++) {
    unit[i] = a[i] / largest;
    sum += unit[i] * unit[i];
  }
  for (int i = 0; i < n; i++) unit[i] /= sqrt(sum);
  return 1;
}

ga_status ga_rotation_matrix(ga_context *ctx, const double m[9], double rotation[9])
{
  const ga_status status = check_numbers(ctx, "matrix", m, 9, rotation);
  if (status) return status;
  const double defect = ga__so3_defect(m);
  double R[9], C[9];
  memcpy(R, m, sizeof R);
  if (!(defect <= MATRIX_DEFECT)) {
    const char *why = "its columns must be unit vectors across each other; give more digits, or a quaternion";
    if (ga__mat3_cofactors(C, m) < 0) why = "its determinant is negative: it mirrors; turn one axis round";
    return refuse(
        ctx, GA_REASON_NOT_A_ROTATION,
        (ga__facts){.field = "matrix", .expected = why, GA__NUMBERS({defect, NULL}, {MATRIX_DEFECT, NULL})});
  }
  ga__so3_normalise(R);
  memcpy(rotation, R, sizeof R);
  return GA_OK;
}

/* R = (w² − |p|²) I + 2 w p~ + 2 p pᵀ of the unit quaternion (w, p), with w² − |p|² = 1 − 2|p|². */
ga_status ga_rotation_quaternion(ga_context *ctx, const double wxyz[4], double rotation[9])
{
  double u[4];
  const ga_status status = check_numbers(ctx, "quaternion", wxyz, 4, rotation);
  if (status) return status;
  if (!to_unit(u, wxyz, 4)) return refuse_zero(ctx, "quaternion", "(1, 0, 0, 0) for no rotation");
  ga__mat3_about(rotation, 1 - 2 * ga__vec3_dot(u + 1, u + 1), 2 * u[0], 2, u + 1);
  return GA_OK;
}

/* By the half-angle quaternion, which is accurate to rounding for any angle. */
ga_status ga_rotation_axis_angle(ga_context *ctx, const double axis[3], double angle, double rotation[9])
{
  double u[3];
  ga_status status = check_numbers(ctx, "axis", axis, 3, rotation);
  if (!status) status = check_numbers(ctx, "angle", &angle, 1, rotation);
  if (status) return status;
  if (!to_unit(u, axis, 3)) return refuse_zero(ctx, "axis", "the direction it turns about");
  const double s = sin(0.5 * angle), wxyz[4] = {cos(0.5 * angle), s * u[0], s * u[1], s * u[2]};
  return ga_rotation_quaternion(ctx, wxyz, rotation);
}

ga_status ga_rotation_euler(ga_context *ctx, const char *sequence, const double angle[3], double rotation[9])
{
  static const char moving[] = "xyz", fixed[] = "XYZ";
  double R[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, E[9], product[9];
  ga_status status = check_numbers(ctx, "angles", angle, 3, rotation);
  if (status) return status;
  if (!sequence) return refuse(ctx, GA_REASON_NULL_ARGUMENT, (ga__facts){.field = "sequence"});
  if (strlen(sequence) != 3 || (strspn(sequence, moving) != 3 && strspn(sequence, fixed) != 3) ||
      sequence[0] == sequence[1] || sequence[1] == sequence[2])
    return refuse(ctx, GA_REASON_EULER_SEQUENCE, (ga__facts){.field = "sequence", .name = sequence});
  const int turned = sequence[0] >= 'x';
  for (int i = 0; i < 3; i++) {
    double axis[3] = {0, 0, 0};
    axis[sequence[i] - (turned ? 'x' : 'X')] = 1;
    status = ga_rotation_axis_angle(ctx, axis, angle[i], E);
    if (status) return status;
    if (turned)
      ga__mat3_mul(product, R, E);
    else
      ga__mat3_mul(product, E, R);
    memcpy(R, product, sizeof R);
  }
  memcpy(rotation, R, sizeof R);
  return GA_OK;
}

/* x = (z × hint) × z = hint − (hint·z) z, normalised; y = z × x. The default hint is the coordinate axis
 * farthest from z. */
ga_status ga_rotation_z_axis(ga_context *ctx, const double z[3], const double *x_hint, double rotation[9])
{
  double k[3], h[3], i[3], j[3], across[3] = {0, 0, 0};
  ga_status status = check_numbers(ctx, "z_axis", z, 3, rotation);
  if (!status && x_hint) status = check_numbers(ctx, "x_axis", x_hint, 3, rotation);
  if (status) return status;
  if (!to_unit(k, z, 3)) return refuse_zero(ctx, "z_axis", "its direction");
  if (x_hint) {
    if (!to_unit(h, x_hint, 3)) return refuse_zero(ctx, "x_axis", "a direction, or none for any");
    ga__vec3_cross(across, k, h);
    if (!(sqrt(ga__vec3_dot(across, across)) > HINT_SINE))
      return refuse(ctx, GA_REASON_PARALLEL_DIRECTIONS,
                    (ga__facts){.field = "x_axis",
                                .other = "z_axis",
                                .expected = "another direction, or none for any"});
  } else {
    int least = 0;
    for (int c = 1; c < 3; c++)
      if (fabs(k[c]) < fabs(k[least])) least = c;
    h[0] = h[1] = h[2] = 0;
    h[least] = 1;
    ga__vec3_cross(across, k, h);
  }
  ga__vec3_cross(h, across,
                 k); /* the products, not the difference: across z to rounding, however close the hint is */
  to_unit(i, h, 3);
  ga__vec3_cross(j, k, i);
  for (int c = 0; c < 3; c++) {
    rotation[3 * c] = i[c];
    rotation[3 * c + 1] = j[c];
    rotation[3 * c + 2] = k[c];
  }
  return GA_OK;
}
