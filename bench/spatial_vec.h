/* Small vectors and row-major 3 x 3 matrices of the spatial chain; outputs may not overlap inputs. */
#ifndef GALPHA_BENCH_SPATIAL_VEC_H
#define GALPHA_BENCH_SPATIAL_VEC_H

static inline double vec_dot(const double a[3], const double b[3])
{
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline void vec_cross(double out[3], const double a[3], const double b[3])
{
  out[0] = a[1] * b[2] - a[2] * b[1];
  out[1] = a[2] * b[0] - a[0] * b[2];
  out[2] = a[0] * b[1] - a[1] * b[0];
}

static inline void vec_add(double out[3], double s, const double a[3]) /* out += s a */
{
  for (int i = 0; i < 3; i++) out[i] += s * a[i];
}

static inline void mat_mul_vec(double out[3], const double A[9], const double x[3])
{
  for (int i = 0; i < 3; i++) out[i] = vec_dot(A + 3 * i, x);
}

static inline void mat_mul_vec_t(double out[3], const double A[9], const double x[3]) /* Aᵀ x */
{
  for (int i = 0; i < 3; i++) out[i] = A[i] * x[0] + A[3 + i] * x[1] + A[6 + i] * x[2];
}

static inline void mat_mul(double out[9], const double A[9], const double B[9])
{
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      out[3 * i + j] = A[3 * i] * B[j] + A[3 * i + 1] * B[3 + j] + A[3 * i + 2] * B[6 + j];
}

static inline void mat_skew(double S[9], const double a[3]) /* S x = a × x */
{
  S[0] = S[4] = S[8] = 0.0;
  S[1] = -a[2], S[2] = a[1], S[3] = a[2], S[5] = -a[0], S[6] = -a[1], S[7] = a[0];
}

static inline void mat_add_outer(double A[9], double s, const double a[3],
                                 const double b[3]) /* A += s a bᵀ */
{
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) A[3 * i + j] += s * a[i] * b[j];
}

/* Rotation matrix of the unit quaternion p = (w, v): (2w²−1) I + 2 v vᵀ + 2 w v~ */
static inline void mat_of_quaternion(double R[9], const double p[4])
{
  const double *v = p + 1, c = 2.0 * p[0] * p[0] - 1.0;
  mat_skew(R, v);
  for (int i = 0; i < 9; i++) R[i] *= 2.0 * p[0];
  mat_add_outer(R, 2.0, v, v);
  R[0] += c, R[4] += c, R[8] += c;
}

#endif
