/* Kernels on 3-vectors and row-major 3×3 matrices. Outputs must not overlap inputs. */
#ifndef GALPHA_LIE_MAT3_H
#define GALPHA_LIE_MAT3_H

static inline double ga__vec3_dot(const double *a, const double *b)
{
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* c = a × b */
static inline void ga__vec3_cross(double *c, const double *a, const double *b)
{
  c[0] = a[1] * b[2] - a[2] * b[1];
  c[1] = a[2] * b[0] - a[0] * b[2];
  c[2] = a[0] * b[1] - a[1] * b[0];
}

/* y = A x */
static inline void ga__mat3_mul_vec(double *y, const double *A, const double *x)
{
  for (int i = 0; i < 3; i++) y[i] = ga__vec3_dot(A + 3 * i, x);
}

/* y = Aᵀ x */
static inline void ga__mat3_tmul_vec(double *y, const double *A, const double *x)
{
  for (int i = 0; i < 3; i++) y[i] = A[i] * x[0] + A[3 + i] * x[1] + A[6 + i] * x[2];
}

/* C = A B */
static inline void ga__mat3_mul(double *C, const double *A, const double *B)
{
  for (int i = 0; i < 9; i += 3) {
    const double x = A[i], y = A[i + 1], z = A[i + 2];
    C[i] = x * B[0] + y * B[3] + z * B[6];
    C[i + 1] = x * B[1] + y * B[4] + z * B[7];
    C[i + 2] = x * B[2] + y * B[5] + z * B[8];
  }
}

/* The upper triangle of AᵀA: xx, xy, xz, yy, yz, zz. */
static inline void ga__mat3_gram(double *S, const double *A)
{
  S[0] = A[0] * A[0] + A[3] * A[3] + A[6] * A[6];
  S[1] = A[0] * A[1] + A[3] * A[4] + A[6] * A[7];
  S[2] = A[0] * A[2] + A[3] * A[5] + A[6] * A[8];
  S[3] = A[1] * A[1] + A[4] * A[4] + A[7] * A[7];
  S[4] = A[1] * A[2] + A[4] * A[5] + A[7] * A[8];
  S[5] = A[2] * A[2] + A[5] * A[5] + A[8] * A[8];
}

/* B = Aᵀ */
static inline void ga__mat3_transpose(double *B, const double *A)
{
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) B[3 * i + j] = A[3 * j + i];
}

/* A = α I + β p~ + γ p pᵀ: the form of exp and of the tangent operator, since p~² = p pᵀ − |p|² I. */
static inline void ga__mat3_about(double *A, double alpha, double beta, double gamma, const double *p)
{
  const double xy = gamma * p[0] * p[1], xz = gamma * p[0] * p[2], yz = gamma * p[1] * p[2];
  const double x = beta * p[0], y = beta * p[1], z = beta * p[2];
  A[0] = alpha + gamma * p[0] * p[0];
  A[1] = xy - z;
  A[2] = xz + y;
  A[3] = xy + z;
  A[4] = alpha + gamma * p[1] * p[1];
  A[5] = yz - x;
  A[6] = xz - y;
  A[7] = yz + x;
  A[8] = alpha + gamma * p[2] * p[2];
}

/* A = s p~ */
static inline void ga__mat3_skew(double *A, double s, const double *p)
{
  ga__mat3_about(A, 0, s, 0, p);
}

/* C = cofactors of A, so that A⁻ᵀ = C / det A; returns det A. */
static inline double ga__mat3_cofactors(double *C, const double *A)
{
  ga__vec3_cross(C, A + 3, A + 6);
  ga__vec3_cross(C + 3, A + 6, A);
  ga__vec3_cross(C + 6, A, A + 3);
  return ga__vec3_dot(A, C);
}

#endif
