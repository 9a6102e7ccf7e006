/* Strain, force and stiffness of a beam element; see beam_element.h.
 *
 * With Q = RaᵀRb, r = Raᵀ(xb − xa), θ the rotation vector of Q and z = θ·θ
 *
 *   u = r − ½θ × r + c θ × (θ × r),   c(z) = (1 − (θ/2) cot(θ/2))/z
 *
 * Small twists η of the ends in their own axes change d by Tr⁻¹(d) ηb − Tr⁻¹(−d) ηa with
 *
 *   Tr⁻¹ = [A B; 0 A],  A = I + ½θ~ + c θ~²,  B = ½u~ + c (θ~u~ + u~θ~) + c₁ (θ·u) θ~²
 *
 * and c₁ = 2 dc/dz, c₂ = 4 d²c/dz². */
#include "mbs/beam_element.h"

#include "base/quad.h"
#include "lie/mat3.h"
#include <math.h>
#include <string.h>

/* [rad²] above this relative rotation of the ends, about 149°, it cannot be distinguished from one in the
 * opposite sense; below the second, c is a series. */
#define LARGEST_TURN2 6.76
#define SERIES_BELOW 1.0

/* ---- Small matrices ---- */

static void add_outer(double M[9], double scale, const double a[3], const double b[3])
{
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) M[3 * i + j] += scale * a[i] * b[j];
}

static void add_skew(double M[9], double scale, const double a[3])
{
  M[1] -= scale * a[2], M[2] += scale * a[1];
  M[3] += scale * a[2], M[5] -= scale * a[0];
  M[6] -= scale * a[1], M[7] += scale * a[0];
}

static void add_identity(double M[9], double scale)
{
  M[0] += scale, M[4] += scale, M[8] += scale;
}

/* ---- The logarithm ---- */

/* c = Σ |B₂ₖ| zᵏ⁻¹/(2k)!, B Bernoulli's numbers; nine terms are exact to rounding for z < 1. */
static void coefficients(double z, double *c, double *c1, double *c2)
{
  static const double a[] = {1.0 / 12,
                             1.0 / 720,
                             1.0 / 30240,
                             1.0 / 1209600,
                             1.0 / 47900160,
                             691.0 / 1307674368000.0,
                             1.0 / 74724249600.0,
                             3617.0 / 10670622842880000.0,
                             43867.0 / 5109094217170944000.0};
  enum { N = sizeof a / sizeof *a };
  if (z < SERIES_BELOW) {
    double f = 0, f1 = 0, f2 = 0; /* f, f', f''/2 by Horner's rule */
    for (int k = N - 1; k >= 0; k--) {
      f2 = f2 * z + f1;
      f1 = f1 * z + f;
      f = f * z + a[k];
    }
    *c = f, *c1 = 2 * f1, *c2 = 8 * f2;
    return;
  }
  /* with h = θ/2: z dc/dz = e − c, e = (1/sin²h − cot h/h)/8, dz = 8 h dh */
  const double h = 0.5 * sqrt(z), sine = sin(h), cot = cos(h) / sine, csc2 = 1 / (sine * sine);
  const double e = (csc2 - cot / h) / 8, e_by_h = (-2 * cot * csc2 + csc2 / h + cot / (h * h)) / 8;
  const double slope = (e - (1 - h * cot) / z) / z;
  *c = (1 - h * cot) / z;
  *c1 = 2 * slope;
  *c2 = 4 * (e_by_h / (8 * h) - 2 * slope) / z;
}

/* atan(√y)/√y: a series for small y, where twelve terms are exact to rounding. */
static double arc_over_tangent(double y)
{
  static const double a[] = {1,        1.0 / 3,  1.0 / 5,  1.0 / 7,  1.0 / 9,  1.0 / 11,
                             1.0 / 13, 1.0 / 15, 1.0 / 17, 1.0 / 19, 1.0 / 21, 1.0 / 23};
  enum { N = sizeof a / sizeof *a };
  if (!(y < 0.05)) return atan(sqrt(y)) / sqrt(y);
  double f = a[N - 1];
  for (int k = N - 2; k >= 0; k--) f = a[k] - y * f;
  return f;
}

/* θ of Q, by its quaternion (q₀, v): θ = 2 atan(|v|/q₀) v/|v| */
static int rotation_vector(double theta[3], const double Q[9])
{
  const double q0 = 0.5 * sqrt(fmax(0, 1 + Q[0] + Q[4] + Q[8])), small = 0.125;
  if (!(q0 > small)) return GA__BEAM_TOO_BENT;
  const double over = 0.25 / (q0 * q0); /* t = v/q₀ */
  const double t[3] = {over * (Q[7] - Q[5]), over * (Q[2] - Q[6]), over * (Q[3] - Q[1])};
  const double scale = 2 * arc_over_tangent(ga__vec3_dot(t, t));
  for (int i = 0; i < 3; i++) theta[i] = scale * t[i];
  return 0;
}

static int logarithm(double d[6], double *c, double *c1, double *c2, const double xa[3], const double Ra[9],
                     const double xb[3], const double Rb[9])
{
  double *u = d, *theta = d + 3, Rat[9], Q[9], r[3], tr[3], ttr[3];
  const double across[3] = {xb[0] - xa[0], xb[1] - xa[1], xb[2] - xa[2]};
  ga__mat3_transpose(Rat, Ra);
  ga__mat3_mul(Q, Rat, Rb);
  ga__mat3_mul_vec(r, Rat, across);
  if (rotation_vector(theta, Q)) return GA__BEAM_TOO_BENT;
  const double z = ga__vec3_dot(theta, theta);
  if (!(z < LARGEST_TURN2)) return GA__BEAM_TOO_BENT;
  coefficients(z, c, c1, c2);
  ga__vec3_cross(tr, theta, r);
  ga__vec3_cross(ttr, theta, tr);
  for (int i = 0; i < 3; i++) u[i] = r[i] - 0.5 * tr[i] + *c * ttr[i];
  return 0;
}

int ga__beam_relative(double d[6], const double xa[3], const double Ra[9], const double xb[3],
                      const double Rb[9])
{
  double c, c1, c2;
  return logarithm(d, &c, &c1, &c2, xa, Ra, xb, Rb);
}

/* What of B x does not change with the sign of d: c (θuᵀ + uθᵀ − 2(θ·u) I) x + c₁ (θ·u) y, y = θ × (θ × x) */
static void even_part(const ga__beam_strain *s, const double x[3], const double y[3], double out[3])
{
  const double *u = s->d, *theta = s->d + 3, tu = ga__vec3_dot(theta, u);
  const double tx = s->c * ga__vec3_dot(theta, x), ux = s->c * ga__vec3_dot(u, x), own = 2 * s->c * tu,
               far = s->c1 * tu;
  for (int i = 0; i < 3; i++) out[i] = tx * u[i] + ux * theta[i] - own * x[i] + far * y[i];
}

/* F = Tr⁻ᵀ(sign d) g: of g = (N, M) Aᵀ N and Bᵀ N + Aᵀ M, with half = −sign/2; or η' = Tr⁻¹(sign d) η with
 * half = sign/2, where η = (a, b) is stored as g = (b, a), and η' likewise. */
static void turn_six(const ga__beam_strain *s, double half, const double g[6], double F[6])
{
  const double *u = s->d, *theta = s->d + 3, *N = g, *M = g + 3, c = s->c;
  double tN[3], ttN[3], tM[3], ttM[3], uN[3], even[3];
  ga__vec3_cross(tN, theta, N);
  ga__vec3_cross(ttN, theta, tN);
  ga__vec3_cross(tM, theta, M);
  ga__vec3_cross(ttM, theta, tM);
  ga__vec3_cross(uN, u, N);
  even_part(s, N, ttN, even);
  for (int i = 0; i < 3; i++) {
    F[i] = N[i] + half * tN[i] + c * ttN[i];
    F[3 + i] = M[i] + half * (tM[i] + uN[i]) + c * ttM[i] + even[i];
  }
}

/* A and B of Tr⁻¹(sign · d). */
static void inverse_tangent(const ga__beam_strain *s, double sign, double A[9], double B[9])
{
  const double *u = s->d, *theta = s->d + 3;
  const double z = ga__vec3_dot(theta, theta), tu = ga__vec3_dot(theta, u), c = s->c, c1 = s->c1;
  ga__mat3_about(A, 1 - c * z, 0.5 * sign, c, theta);
  /* θ~u~ + u~θ~ = uθᵀ + θuᵀ − 2(θ·u) I, θ~² = θθᵀ − z I */
  ga__mat3_about(B, -2 * c * tu - c1 * tu * z, 0, c1 * tu, theta);
  add_skew(B, 0.5 * sign, u);
  add_outer(B, c, u, theta);
  add_outer(B, c, theta, u);
}

/* Columns of one end: sign · [A B; 0 A], turned from its axes to space. */
static void put_end(double P[72], int column, double sign, const double A[9], const double B[9],
                    const double R[9])
{
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      const double *Rj = R + 3 * j; /* row j of R is column j of Rᵀ */
      const double a = sign * ga__vec3_dot(A + 3 * i, Rj), b = sign * ga__vec3_dot(B + 3 * i, Rj);
      P[12 * i + column + j] = a;
      P[12 * i + column + 3 + j] = b;
      P[12 * (3 + i) + column + j] = 0;
      P[12 * (3 + i) + column + 3 + j] = a;
    }
}

/* ---- The compliance ---- */

/* y = ad_dᵀ n = (N × θ, N × u + M × θ) */
static void ad_transposed(double y[6], const double d[6], const double n[6])
{
  double a[3], b[3];
  ga__vec3_cross(y, n, d + 3);
  ga__vec3_cross(a, n, d);
  ga__vec3_cross(b, n + 3, d + 3);
  for (int i = 0; i < 3; i++) y[3 + i] = a[i] + b[i];
}

static void times6(double y[6], const double M[36], const double x[6])
{
  for (int i = 0; i < 6; i++) {
    double sum = 0;
    for (int j = 0; j < 6; j++) sum += M[6 * i + j] * x[j];
    y[i] = sum;
  }
}

/* y = ad_d x = (θ × x₁ + u × x₂, θ × x₂) */
static void ad_times(double y[6], const double d[6], const double x[6])
{
  double a[3], b[3];
  ga__vec3_cross(a, d + 3, x);
  ga__vec3_cross(b, d, x + 3);
  ga__vec3_cross(y + 3, d + 3, x + 3);
  for (int i = 0; i < 3; i++) y[i] = a[i] + b[i];
}

/* ad_d as a matrix. */
static void ad_matrix(double M[36], const double d[6])
{
  double t[9], u[9];
  ga__mat3_skew(t, 1, d + 3);
  ga__mat3_skew(u, 1, d);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      M[6 * i + j] = M[6 * (3 + i) + 3 + j] = t[3 * i + j];
      M[6 * i + 3 + j] = u[3 * i + j];
      M[6 * (3 + i) + j] = 0;
    }
}

/* a~ diag(k) b~ᵀ, added with a factor to the tile of S[36] at row and column. */
static void add_skew_product(double S[36], int row, int column, double factor, const double a[3],
                             const double k[3], const double b[3])
{
  for (int i = 0; i < 3; i++) {
    const int j = (i + 1) % 3, l = (i + 2) % 3;
    double *to = S + 6 * (row + i) + column;
    to[i] += factor * (k[j] * a[l] * b[l] + k[l] * a[j] * b[j]);
    to[j] -= factor * k[l] * a[j] * b[i];
    to[l] -= factor * k[j] * a[l] * b[i];
  }
}

/* S = C + ad_d C ad_dᵀ/12, where C is diagonal, its lower triangle and tiles on the diagonal:
 *   C = diag(a, b):  [a + (θ~ a θ~ᵀ + u~ b u~ᵀ)/12, .; θ~ b u~ᵀ/12, b + θ~ b θ~ᵀ/12] */
static void compliance_diagonal(double S[36], const double C[36], const double d[6])
{
  const double a[3] = {C[0], C[7], C[14]}, b[3] = {C[21], C[28], C[35]}, twelfth = 1.0 / 12;
  memset(S, 0, 36 * sizeof *S);
  for (int i = 0; i < 6; i++) S[7 * i] = C[7 * i];
  add_skew_product(S, 0, 0, twelfth, d + 3, a, d + 3);
  add_skew_product(S, 0, 0, twelfth, d, b, d);
  add_skew_product(S, 3, 0, twelfth, d + 3, b, d);
  add_skew_product(S, 3, 3, twelfth, d + 3, b, d + 3);
}

static void multiply6(double Z[36], const double X[36], const double Y[36])
{
  for (int i = 0; i < 6; i++) {
    double row[6] = {0};
    for (int k = 0; k < 6; k++)
      for (int j = 0; j < 6; j++) row[j] += X[6 * i + k] * Y[6 * k + j];
    memcpy(Z + 6 * i, row, sizeof row);
  }
}

/* The lower triangle of S = C + X ad_dᵀ/12, X = ad_d C */
static void compliance(double S[36], const double C[36], const double d[6])
{
  double ad[36], X[36];
  ad_matrix(ad, d);
  multiply6(X, ad, C);
  for (int i = 0; i < 6; i++)
    for (int j = 0; j <= i; j++) {
      double sum = 0;
      for (int k = 0; k < 6; k++) sum += X[6 * i + k] * ad[6 * j + k];
      S[6 * i + j] = C[6 * i + j] + sum / 12;
    }
}

/* S = L D Lᵀ, from its lower triangle: L replaces it, 1/D the diagonal. */
static void factor6(double S[36])
{
  double D[6];
  for (int j = 0; j < 6; j++) {
    double scaled[6], pivot = S[7 * j]; /* L_jk D_k */
    for (int k = 0; k < j; k++) {
      scaled[k] = S[6 * j + k] * D[k];
      pivot -= S[6 * j + k] * scaled[k];
    }
    D[j] = pivot;
    S[7 * j] = 1 / pivot;
    for (int i = j + 1; i < 6; i++) {
      double sum = S[6 * i + j];
      for (int k = 0; k < j; k++) sum -= S[6 * i + k] * scaled[k];
      S[6 * i + j] = sum * S[7 * j];
    }
  }
}

/* x := S⁻¹ x */
static void solve6(const double S[36], double x[6])
{
  for (int i = 0; i < 6; i++)
    for (int k = 0; k < i; k++) x[i] -= S[6 * i + k] * x[k];
  for (int i = 0; i < 6; i++) x[i] *= S[7 * i];
  for (int i = 5; i >= 0; i--)
    for (int k = i + 1; k < 6; k++) x[i] -= S[6 * k + i] * x[k];
}

/* ---- The element at two poses ---- */

int ga__beam_strain_at(ga__beam_strain *s, const ga__beam_element *e, const ga__kin *a, const ga__kin *b)
{
  if (logarithm(s->d, &s->c, &s->c1, &s->c2, a->x, a->R, b->x, b->R)) return GA__BEAM_TOO_BENT;
  s->Ra = a->R, s->Rb = b->R;
  if (e->section->plain) return 0;
  if (e->section->diagonal)
    compliance_diagonal(s->S, e->section->C, s->d);
  else
    compliance(s->S, e->section->C, s->d);
  factor6(s->S);
  return 0;
}

void ga__beam_set_moves(ga__beam_strain *s)
{
  double A[9], B[9];
  inverse_tangent(s, -1, A, B);
  put_end(s->P, 0, -1, A, B, s->Ra);
  inverse_tangent(s, 1, A, B);
  put_end(s->P, 6, 1, A, B, s->Rb);
}

void ga__beam_force_within(const ga__beam_strain *s, const ga__beam_element *e, double n[6])
{
  double strain[6];
  for (int i = 0; i < 6; i++) strain[i] = (s->d[i] - e->d0[i]) / e->L;
  if (e->section->plain) {
    times6(n, e->section->K, strain);
    return;
  }
  memcpy(n, strain, sizeof strain);
  solve6(s->S, n);
}

double ga__beam_energy(const ga__beam_strain *s, const ga__beam_element *e, const double n[6])
{
  double sum = 0;
  for (int i = 0; i < 6; i++) sum += n[i] * (s->d[i] - e->d0[i]);
  return 0.5 * sum;
}

/* g = n + (L/12) ad_wᵀ n, w = C ad_dᵀ n */
void ga__beam_gradient(const ga__beam_strain *s, const ga__beam_element *e, const double n[6], double g[6])
{
  double adn[6], w[6], adwn[6];
  memcpy(g, n, 6 * sizeof *g);
  if (e->section->plain) return;
  ad_transposed(adn, s->d, n);
  times6(w, e->section->C, adn);
  ad_transposed(adwn, w, n);
  for (int i = 0; i < 6; i++) g[i] += e->L / 12 * adwn[i];
}

void ga__beam_add_wrench(const ga__beam_strain *s, const double g[6], double w[12])
{
  for (int end = 0; end < 2; end++) { /* ∓R Tr⁻ᵀ(∓d) g */
    const double *R = end ? s->Rb : s->Ra, sign = end ? 1 : -1;
    double F[6], f[3], m[3];
    turn_six(s, -0.5 * sign, g, F);
    ga__mat3_mul_vec(f, R, F);
    ga__mat3_mul_vec(m, R, F + 3);
    for (int i = 0; i < 3; i++) w[6 * end + i] += sign * f[i], w[6 * end + 3 + i] += sign * m[i];
  }
}

/* ---- Stiffness ---- */

/* Matrices of six rows as quads: eight numbers each, the last two are zero. */
typedef ga__quad rows6[6][2];

GA__INLINE void set_row(ga__quad row[2], double a, double b, double c, double d, double e, double f)
{
  row[0] = (ga__quad){a, b, c, d};
  row[1] = (ga__quad){e, f, 0, 0};
}

/* Z = a~ M, or added to it: three rows each. */
GA__INLINE void cross_rows(ga__quad Z[3][2], int add, const double a[3], ga__quad M[3][2])
{
  for (int i = 0; i < 3; i++) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    for (int h = 0; h < 2; h++) {
      const ga__quad x = a[j] * M[k][h] - a[k] * M[j][h];
      if (add)
        Z[i][h] += x;
      else
        Z[i][h] = x;
    }
  }
}

/* CN = C N̂, N̂ = [0 N~; N~ M~], so that N̂ δ = ad_δᵀ n */
GA__INLINE void times_hat(const ga__beam_section *section, const double n[6], rows6 CN)
{
  const double *N = n, *M = n + 3, *C = section->C;
  rows6 hat;
  set_row(hat[0], 0, 0, 0, 0, -N[2], N[1]);
  set_row(hat[1], 0, 0, 0, N[2], 0, -N[0]);
  set_row(hat[2], 0, 0, 0, -N[1], N[0], 0);
  set_row(hat[3], 0, -N[2], N[1], 0, -M[2], M[1]);
  set_row(hat[4], N[2], 0, -N[0], M[2], 0, -M[0]);
  set_row(hat[5], -N[1], N[0], 0, -M[1], M[0], 0);
  for (int i = 0; i < 6; i++)
    for (int h = 0; h < 2; h++) {
      CN[i][h] = C[7 * i] * hat[i][h];
      for (int k = 0; !section->diagonal && k < 6; k++)
        if (k != i) CN[i][h] += C[6 * i + k] * hat[k][h];
    }
}

/* B = ∂((d − d₀)/L − S n)/∂d = I/L + (ad_w − ad_d C N̂)/12,  w = C ad_dᵀ n;  CN = C N̂ */
GA__INLINE void strain_derivative(const ga__beam_strain *s, const ga__beam_element *e, const double n[6],
                                  rows6 CN, rows6 B)
{
  const double *u = s->d, *theta = s->d + 3, twelfth = 1.0 / 12, one = 1 / e->L;
  double adn[6], w[6];
  rows6 X, ad;
  ad_transposed(adn, s->d, n);
  times6(w, e->section->C, adn);
  cross_rows(X, 0, theta, CN);
  cross_rows(X, 1, u, CN + 3);
  cross_rows(X + 3, 0, theta, CN + 3);
  set_row(ad[0], 0, -w[5], w[4], 0, -w[2], w[1]);
  set_row(ad[1], w[5], 0, -w[3], w[2], 0, -w[0]);
  set_row(ad[2], -w[4], w[3], 0, -w[1], w[0], 0);
  set_row(ad[3], 0, 0, 0, 0, -w[5], w[4]);
  set_row(ad[4], 0, 0, 0, w[5], 0, -w[3]);
  set_row(ad[5], 0, 0, 0, -w[4], w[3], 0);
  for (int i = 0; i < 6; i++) {
    B[i][0] = twelfth * (ad[i][0] - X[i][0]);
    B[i][1] = twelfth * (ad[i][1] - X[i][1]);
    ((double *)B[i])[i] += one;
  }
}

/* Hess U = L (Bᵀ S⁻¹ B + N̂ C N̂/12) */
GA__INLINE void hessian(const ga__beam_strain *s, const ga__beam_element *e, const double n[6], rows6 H)
{
  const double *S = s->S, L = e->L, twelfth = L / 12;
  rows6 CN, B, X;
  times_hat(e->section, n, CN);
  strain_derivative(s, e, n, CN, B);
  cross_rows(H, 0, n, CN + 3);
  cross_rows(H + 3, 0, n, CN);
  cross_rows(H + 3, 1, n + 3, CN + 3);
  memcpy(X, B, sizeof X);
  for (int h = 0; h < 2; h++) { /* X := S⁻¹ X */
    for (int i = 0; i < 6; i++)
      for (int k = 0; k < i; k++) X[i][h] -= S[6 * i + k] * X[k][h];
    for (int i = 0; i < 6; i++) X[i][h] *= S[7 * i];
    for (int i = 5; i >= 0; i--)
      for (int k = i + 1; k < 6; k++) X[i][h] -= S[6 * k + i] * X[k][h];
  }
  for (int i = 0; i < 6; i++)
    for (int h = 0; h < 2; h++) {
      ga__quad sum = ((const double *)B[0])[i] * X[0][h];
      for (int k = 1; k < 6; k++) sum += ((const double *)B[k])[i] * X[k][h];
      H[i][h] = twelfth * H[i][h] + L * sum;
    }
}

/* ---- Forces as iterates of their own ---- */

/* y = C ad_dᵀ n */
static void bent_strain(const ga__beam_strain *s, const ga__beam_element *e, const double n[6], double y[6])
{
  const double *C = e->section->C;
  double adn[6];
  ad_transposed(adn, s->d, n);
  if (!e->section->diagonal) {
    times6(y, C, adn);
    return;
  }
  for (int i = 0; i < 6; i++) y[i] = C[7 * i] * adn[i];
}

/* y = B δ = δ/L + (ad_w δ − ad_d C ad_δᵀ n)/12, w = C ad_dᵀ n; of the plain element δ/L. */
static void times_b(const ga__beam_strain *s, const ga__beam_element *e, const double n[6],
                    const double delta[6], double y[6])
{
  double w[6], adn[6], x[6], adw[6], adx[6];
  for (int i = 0; i < 6; i++) y[i] = delta[i] / e->L;
  if (e->section->plain) return;
  bent_strain(s, e, n, w);
  ad_transposed(adn, delta, n);
  times6(x, e->section->C, adn);
  ad_times(adw, w, delta);
  ad_times(adx, s->d, x);
  for (int i = 0; i < 6; i++) y[i] += (adw[i] - adx[i]) / 12;
}

/* y = Bᵀ x = x/L + (ad_wᵀ x + ad_zᵀ n)/12, z = C ad_dᵀ x, since N̂ᵀ = −N̂ */
static void times_b_transposed(const ga__beam_strain *s, const ga__beam_element *e, const double n[6],
                               const double x[6], double y[6])
{
  double w[6], z[6], adw[6], adz[6];
  for (int i = 0; i < 6; i++) y[i] = x[i] / e->L;
  if (e->section->plain) return;
  bent_strain(s, e, n, w);
  bent_strain(s, e, x, z);
  ad_transposed(adw, w, x);
  ad_transposed(adz, z, n);
  for (int i = 0; i < 6; i++) y[i] += (adw[i] + adz[i]) / 12;
}

/* S⁻¹((d − d₀)/L − S n + B δd), δd NULL: 0. */
static void mixed_step(const ga__beam_strain *s, const ga__beam_element *e, const double n[6],
                       const double *dd, double dn[6])
{
  double strain[6], more[6] = {0};
  if (dd) times_b(s, e, n, dd, more);
  for (int i = 0; i < 6; i++) strain[i] = (s->d[i] - e->d0[i]) / e->L + more[i];
  if (e->section->plain) {
    times6(dn, e->section->K, strain);
  } else {
    memcpy(dn, strain, sizeof strain);
    solve6(s->S, dn);
  }
  for (int i = 0; i < 6; i++) dn[i] -= n[i];
}

void ga__beam_mixed_step(const ga__beam_strain *s, const ga__beam_element *e, const double n[6],
                         const double dd[6], double dn[6])
{
  mixed_step(s, e, n, dd, dn);
}

void ga__beam_mixed_gradient(const ga__beam_strain *s, const ga__beam_element *e, const double n[6],
                             double g[6])
{
  double left[6], more[6];
  ga__beam_gradient(s, e, n, g);
  mixed_step(s, e, n, NULL, left);
  times_b_transposed(s, e, n, left, more);
  for (int i = 0; i < 6; i++) g[i] += e->L * more[i];
}

/* ±½N~ + c [(θ·N) I + θNᵀ − 2Nθᵀ] + c₁ w θᵀ,  w = θ × (θ × N): with + D_θ(AᵀN), with − D_θ(A N). */
static void by_theta(double M[9], const double theta[3], double c, double c1, double half, const double N[3])
{
  double t[3], w[3];
  ga__vec3_cross(t, theta, N);
  ga__vec3_cross(w, theta, t);
  memset(M, 0, 9 * sizeof *M);
  add_skew(M, half, N);
  add_identity(M, c * ga__vec3_dot(theta, N));
  add_outer(M, c, theta, N);
  add_outer(M, -2 * c, N, theta);
  add_outer(M, c1, w, theta);
}

/* D_θ(B N), but for its part ½u~, with w = θ × (θ × N):
 * c [uNᵀ + (N·u) I − 2Nuᵀ] + c₁ {[(θ·N) u + (N·u) θ − 2(θ·u) N] θᵀ + w uᵀ
 *   + (θ·u) [(θ·N) I + θNᵀ − 2Nθᵀ]} + c₂ (θ·u) w θᵀ */
static void add_by_theta_of_B(double M[9], const double u[3], const double theta[3], const double c[3],
                              const double N[3])
{
  const double tu = ga__vec3_dot(theta, u), tN = ga__vec3_dot(theta, N), Nu = ga__vec3_dot(N, u);
  double t[3], w[3], sum[3];
  ga__vec3_cross(t, theta, N);
  ga__vec3_cross(w, theta, t);
  add_outer(M, c[0], u, N);
  add_outer(M, -2 * c[0], N, u);
  add_identity(M, c[0] * Nu + c[1] * tu * tN);
  for (int i = 0; i < 3; i++) sum[i] = c[1] * (tN * u[i] + Nu * theta[i] - 4 * tu * N[i]) + c[2] * tu * w[i];
  add_outer(M, 1, sum, theta);
  add_outer(M, c[1], w, u);
  add_outer(M, c[1] * tu, theta, N);
}

/* D = [0 Q(N); Q(N) Q(M) + Q₂(N)] = D_d(Tr⁻ᵀ(sign d) g) at sign d, times sign */
static void wrench_by_d(const ga__beam_strain *s, double sign, const double g[6], double QN[9], double QM[9])
{
  const double c[3] = {s->c, s->c1, s->c2};
  double u[3], theta[3];
  for (int i = 0; i < 3; i++) u[i] = sign * s->d[i], theta[i] = sign * s->d[3 + i];
  by_theta(QN, theta, s->c, s->c1, 0.5, g);
  by_theta(QM, theta, s->c, s->c1, 0.5, g + 3);
  add_by_theta_of_B(QM, u, theta, c, g);
}

/* ---- The tangent: rows of twelve as three quads ---- */

typedef ga__quad row12[3];

GA__INLINE void add_row(row12 to, double factor, const double *row)
{
  for (int h = 0; h < 3; h++) to[h] += factor * ga__quad_load(row + 4 * h);
}

/* X = K P, K[6 × stride] */
GA__INLINE void stiff_moves(double X[72], const double *K, int stride, double scale, const double P[72])
{
  for (int i = 0; i < 6; i++) {
    row12 sum = {{0}};
    for (int k = 0; k < 6; k++) add_row(sum, scale * K[stride * i + k], P + 12 * k);
    for (int h = 0; h < 3; h++) *(ga__quad *)(X + 12 * i + 4 * h) = sum[h];
  }
}

/* Rows of one end of Pᵀ X + R [0 QN; QN QM] P: forces, which meet rows of X for the first half of d only, and
 * moments. X NULL: without it. */
GA__INLINE void put_rows(const double P[72], int end, const double *X, const double RN[9], const double RM[9],
                         double T[144])
{
  for (int i = 0; i < 3; i++) {
    const int force = 6 * end + i, moment = force + 3;
    row12 f = {{0}}, m = {{0}};
    for (int k = 0; X && k < 3; k++) {
      add_row(f, P[12 * k + force], X + 12 * k);
      add_row(m, P[12 * k + moment], X + 12 * k);
      add_row(m, P[12 * (3 + k) + moment], X + 12 * (3 + k));
    }
    for (int k = 0; k < 3; k++) {
      add_row(f, RN[3 * i + k], P + 12 * (3 + k));
      add_row(m, RN[3 * i + k], P + 12 * k);
      add_row(m, RM[3 * i + k], P + 12 * (3 + k));
    }
    for (int h = 0; h < 3; h++) {
      *(ga__quad *)(T + 12 * force + 4 * h) = f[h];
      *(ga__quad *)(T + 12 * moment + 4 * h) = m[h];
    }
  }
}

/* −f~, −m~ in the columns of its own rotation: the wrench in space turns with the node. */
static void add_turning(const ga__beam_strain *s, int end, const double g[6], double T[144])
{
  double wrench[6] = {0};
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++) wrench[j] += s->P[12 * i + 6 * end + j] * g[i];
  for (int part = 0; part < 2; part++) {
    double skew[9];
    ga__mat3_skew(skew, -1, wrench + 3 * part);
    for (int i = 0; i < 9; i++) T[12 * (6 * end + 3 * part + i / 3) + 6 * end + 3 + i % 3] += skew[i];
  }
}

GA__WIDE static void tangent_rows(const ga__beam_strain *s, const ga__beam_element *e, const double *n,
                                  double RN[2][9], double RM[2][9], double T[144])
{
  double X[72];
  rows6 H;
  if (n && e->section->plain) {
    stiff_moves(X, e->section->K, 6, 1 / e->L, s->P);
  } else if (n) {
    hessian(s, e, n, H);
    stiff_moves(X, (const double *)H, 8, 1, s->P);
  }
  for (int end = 0; end < 2; end++) put_rows(s->P, end, n ? X : NULL, RN[end], RM[end], T);
}

GA__WIDE static void add_product_rows(const double P[72], const double K[36], double scale,
                                      const double X[72], double T[144])
{
  double KX[72];
  stiff_moves(KX, K, 6, scale, X);
  for (int i = 0; i < 12; i++) {
    row12 sum = {{0}};
    for (int k = 0; k < 6; k++) add_row(sum, P[12 * k + i], KX + 12 * k);
    for (int h = 0; h < 3; h++) *(ga__quad *)(T + 12 * i + 4 * h) += sum[h];
  }
}

void ga__beam_add_product(const ga__beam_strain *s, const double K[36], double scale, const double X[72],
                          double T[144])
{
  add_product_rows(s->P, K, scale, X, T);
}

void ga__beam_tangent(const ga__beam_strain *s, const ga__beam_element *e, const double *n, const double g[6],
                      double T[144])
{
  double RN[2][9], RM[2][9];
  for (int end = 0; end < 2; end++) {
    const double *R = end ? s->Rb : s->Ra;
    double QN[9], QM[9];
    wrench_by_d(s, end ? 1 : -1, g, QN, QM);
    ga__mat3_mul(RN[end], R, QN);
    ga__mat3_mul(RM[end], R, QM);
  }
  tangent_rows(s, e, n, RN, RM, T);
  for (int end = 0; end < 2; end++) add_turning(s, end, g, T);
}

/* X[72]: d²d[u, ·] = X ·, by rotation vectors of the nodes: D_q(P u) and ½ P (0, θ × θ_u), since the twist of
 * exp((θ_u + θ)~) by θ is θ + ½ θ_u × θ. */
static void second_strain(const ga__beam_strain *s, const double u[12], double X[72])
{
  ga__beam_rate_by_q(s, u, X);
  for (int i = 0; i < 6; i++)
    for (int end = 0; end < 2; end++) {
      double cross[3];
      ga__vec3_cross(cross, u + 6 * end + 3, s->P + 12 * i + 6 * end + 3);
      for (int j = 0; j < 3; j++) X[12 * i + 6 * end + 3 + j] += 0.5 * cross[j];
    }
}

/* −L (n_aᵀ dS[δ_u] n_b + n_uᵀ dS[δ_a] n_b + n_uᵀ dS[δ_b] n_a) = n_aᵀ H n_b + δ_aᵀ Y n_b + δ_bᵀ Y n_a with
 * H = −(L/12) (ad_δ C ad_dᵀ + ad_d C ad_δᵀ) and Y = −L (I/L − Bᵀ), B that of n_u. */
static void compliance_change(const ga__beam_strain *s, const ga__beam_element *e, const double n[6],
                              const double delta[6], double H[36], double Y[36])
{
  double ad[36], ad_delta[36], X[36];
  rows6 CN, B;
  times_hat(e->section, n, CN);
  strain_derivative(s, e, n, CN, B);
  ad_matrix(ad, s->d);
  ad_matrix(ad_delta, delta);
  multiply6(X, ad_delta, e->section->C);
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++) {
      Y[6 * i + j] = e->L * ((const double *)B[j])[i] - (i == j ? 1.0 : 0.0);
      H[6 * i + j] = 0;
      for (int k = 0; k < 6; k++)
        H[6 * i + j] -= e->L / 12 * (X[6 * i + k] * ad[6 * j + k] + X[6 * j + k] * ad[6 * i + k]);
    }
}

/* D³U[u, a, b] = n_u·d²d[a, b] + n_a·d²d[u, b] + n_b·d²d[u, a] and what S changes, with n_a = S⁻¹ P a/L */
void ga__beam_stiffening(const ga__beam_strain *at, const ga__beam_element *e, const double u[12],
                         double T[144])
{
  const int plain = e->section->plain;
  ga__beam_strain with_moves = *at;
  const ga__beam_strain *s = &with_moves;
  ga__beam_set_moves(&with_moves);
  double delta[6], n[6] = {0}, N[72] = {0}, X[72], H[36] = {0}, Y[36] = {0}, G[144];
  ga__beam_rate(s, u, delta);
  for (int i = 0; i < 6 && plain; i++)
    for (int k = 0; k < 6; k++)
      for (int j = 0; j < 12; j++) N[12 * i + j] += e->section->K[6 * i + k] * s->P[12 * k + j];
  for (int j = 0; j < 12 && !plain; j++) {
    double column[6];
    for (int i = 0; i < 6; i++) column[i] = s->P[12 * i + j];
    solve6(s->S, column);
    for (int i = 0; i < 6; i++) N[12 * i + j] = column[i];
  }
  for (int i = 0; i < 72; i++) N[i] /= e->L;
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 12; j++) n[i] += N[12 * i + j] * u[j];
  second_strain(s, u, X);
  if (!plain) compliance_change(s, e, n, delta, H, Y);
  ga__beam_tangent(s, e, NULL, n, G);
  for (int i = 0; i < 6; i++) /* X := X + ½ H N + Yᵀ P: what is multiplied by Nᵀ */
    for (int k = 0; k < 6; k++)
      for (int j = 0; j < 12; j++)
        X[12 * i + j] += 0.5 * H[6 * i + k] * N[12 * k + j] + Y[6 * k + i] * s->P[12 * k + j];
  for (int i = 0; i < 12; i++)
    for (int j = 0; j < 12; j++) {
      double sum = 0.5 * (G[12 * i + j] + G[12 * j + i]);
      for (int k = 0; k < 6; k++) sum += N[12 * k + i] * X[12 * k + j] + X[12 * k + i] * N[12 * k + j];
      T[12 * i + j] = sum;
    }
}

/* ---- Rates ---- */

void ga__beam_rate(const ga__beam_strain *s, const double v[12], double rate[6])
{
  memset(rate, 0, 6 * sizeof *rate);
  for (int end = 0; end < 2; end++) {
    const double *R = end ? s->Rb : s->Ra, sign = end ? 1 : -1;
    double own[6], turned[6];
    ga__mat3_tmul_vec(own, R, v + 6 * end + 3);
    ga__mat3_tmul_vec(own + 3, R, v + 6 * end);
    turn_six(s, 0.5 * sign, own, turned);
    for (int i = 0; i < 3; i++) rate[i] += sign * turned[3 + i], rate[3 + i] += sign * turned[i];
  }
}

void ga__beam_add_viscous(const ga__beam_element *e, const double rate[6], double g[6])
{
  double force[6];
  times6(force, e->section->K, rate);
  for (int i = 0; i < 6; i++) g[i] += e->section->damping / e->L * force[i];
}

/* With η = (a, b) the twist of one end in its axes: D_d(Tr⁻¹ η) = [G(b), G(a) + Q₂(b); 0, G(b)] at sign d. */
static void rate_by_d(const ga__beam_strain *s, double sign, const double *R, const double v[6], double E[36])
{
  const double c[3] = {s->c, s->c1, s->c2};
  double u[3], theta[3], a[3], b[3], Gb[9], Ga[9];
  for (int i = 0; i < 3; i++) u[i] = sign * s->d[i], theta[i] = sign * s->d[3 + i];
  ga__mat3_tmul_vec(a, R, v);
  ga__mat3_tmul_vec(b, R, v + 3);
  by_theta(Gb, theta, s->c, s->c1, -0.5, b);
  by_theta(Ga, theta, s->c, s->c1, -0.5, a);
  add_by_theta_of_B(Ga, u, theta, c, b);
  for (int i = 0; i < 9; i++) {
    const int row = i / 3, column = i % 3;
    E[6 * row + column] += Gb[i];
    E[6 * row + 3 + column] += Ga[i];
    E[6 * (3 + row) + 3 + column] += Gb[i];
  }
}

/* D_q(P v) = E P + P [v~ in columns of rotations], as D_q(Rᵀ v) = Rᵀ v~ δφ of velocities in space. */
void ga__beam_rate_by_q(const ga__beam_strain *s, const double v[12], double R[72])
{
  double E[36] = {0};
  rate_by_d(s, -1, s->Ra, v, E);
  rate_by_d(s, 1, s->Rb, v + 6, E);
  for (int i = 0; i < 6; i++) {
    double *row = R + 12 * i;
    memset(row, 0, 12 * sizeof *row);
    for (int k = 0; k < 6; k++)
      for (int j = 0; j < 12; j++) row[j] += E[6 * i + k] * s->P[12 * k + j];
    for (int part = 0; part < 4; part++) { /* pᵀ v~ = (p × v)ᵀ */
      double cross[3];
      ga__vec3_cross(cross, s->P + 12 * i + 3 * part, v + 3 * part);
      for (int j = 0; j < 3; j++) row[6 * (part / 2) + 3 + j] += cross[j];
    }
  }
}
