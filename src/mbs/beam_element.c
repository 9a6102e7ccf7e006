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

#include "lie/mat3.h"
#include <math.h>
#include <string.h>

/* [rad²] beyond this rotation of one end against the other, about 149°, none is told from one the other way
 * round; below the second, c is a series. */
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

/* θ of Q, by its quaternion; z. */
static int rotation_vector(double theta[3], const double Q[9])
{
  const double q0 = 0.5 * sqrt(fmax(0, 1 + Q[0] + Q[4] + Q[8])), small = 0.125;
  if (!(q0 > small)) return GA__BEAM_TOO_BENT;
  const double v[3] = {(Q[7] - Q[5]) / (4 * q0), (Q[2] - Q[6]) / (4 * q0), (Q[3] - Q[1]) / (4 * q0)};
  const double sine = sqrt(ga__vec3_dot(v, v));
  const double scale = sine > 1e-8 ? 2 * atan2(sine, q0) / sine : 2 / q0;
  for (int i = 0; i < 3; i++) theta[i] = scale * v[i];
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

static void multiply6(double Z[36], const double X[36], const double Y[36])
{
  for (int i = 0; i < 6; i++) {
    double row[6] = {0};
    for (int k = 0; k < 6; k++)
      for (int j = 0; j < 6; j++) row[j] += X[6 * i + k] * Y[6 * k + j];
    memcpy(Z + 6 * i, row, sizeof row);
  }
}

/* S = C + X ad_dᵀ/12, X = ad_d C */
static void compliance(double S[36], const double C[36], const double d[6])
{
  double ad[36], X[36];
  ad_matrix(ad, d);
  multiply6(X, ad, C);
  for (int i = 0; i < 6; i++)
    for (int j = 0; j <= i; j++) {
      double sum = 0;
      for (int k = 0; k < 6; k++) sum += X[6 * i + k] * ad[6 * j + k];
      S[6 * i + j] = S[6 * j + i] = C[6 * i + j] + sum / 12;
    }
}

/* S = L D Lᵀ: L goes to the lower triangle, 1/D to the diagonal. */
static void factor6(double S[36])
{
  for (int j = 0; j < 6; j++) {
    double pivot = S[7 * j];
    for (int k = 0; k < j; k++) pivot -= S[6 * j + k] * S[6 * j + k] / S[7 * k];
    for (int i = j + 1; i < 6; i++) {
      double sum = S[6 * i + j];
      for (int k = 0; k < j; k++) sum -= S[6 * i + k] * S[6 * j + k] / S[7 * k];
      S[6 * i + j] = sum / pivot;
    }
    S[7 * j] = 1 / pivot;
  }
}

/* x := S⁻¹ x, of n columns with this stride. */
static void solve6(const double S[36], double *x, int n)
{
  for (int i = 0; i < 6; i++)
    for (int k = 0; k < i; k++)
      for (int j = 0; j < n; j++) x[n * i + j] -= S[6 * i + k] * x[n * k + j];
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < n; j++) x[n * i + j] *= S[7 * i];
  for (int i = 5; i >= 0; i--)
    for (int k = i + 1; k < 6; k++)
      for (int j = 0; j < n; j++) x[n * i + j] -= S[6 * k + i] * x[n * k + j];
}

/* ---- The element at two poses ---- */

int ga__beam_strain_at(ga__beam_strain *s, const ga__beam_element *e, const ga__kin *a, const ga__kin *b)
{
  double A[9], B[9];
  if (logarithm(s->d, &s->c, &s->c1, &s->c2, a->x, a->R, b->x, b->R)) return GA__BEAM_TOO_BENT;
  s->Ra = a->R, s->Rb = b->R;
  inverse_tangent(s, -1, A, B);
  put_end(s->P, 0, -1, A, B, a->R);
  inverse_tangent(s, 1, A, B);
  put_end(s->P, 6, 1, A, B, b->R);
  if (e->section->plain) return 0;
  compliance(s->S, e->section->C, s->d);
  factor6(s->S);
  return 0;
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
  solve6(s->S, n, 1);
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
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 12; j++) w[j] += s->P[12 * i + j] * g[i];
}

/* ---- Stiffness ---- */

/* N̂ = [0 N~; N~ M~], so that N̂ δ = ad_δᵀ n */
static void hat_matrix(double M[36], const double n[6])
{
  double N[9], Mo[9];
  ga__mat3_skew(N, 1, n);
  ga__mat3_skew(Mo, 1, n + 3);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      M[6 * i + j] = 0;
      M[6 * i + 3 + j] = M[6 * (3 + i) + j] = N[3 * i + j];
      M[6 * (3 + i) + 3 + j] = Mo[3 * i + j];
    }
}

/* B = ∂((d − d₀)/L − S n)/∂d = I/L + (ad_w − ad_d C N̂)/12,  w = C ad_dᵀ n;  CN = C N̂ */
static void strain_derivative(const ga__beam_strain *s, const ga__beam_element *e, const double n[6],
                              const double hat[36], double B[36], double CN[36])
{
  double adn[6], w[6], ad[36], adw[36], X[36];
  ad_transposed(adn, s->d, n);
  times6(w, e->section->C, adn);
  ad_matrix(ad, s->d);
  ad_matrix(adw, w);
  multiply6(CN, e->section->C, hat);
  multiply6(X, ad, CN);
  for (int i = 0; i < 36; i++) B[i] = (adw[i] - X[i]) / 12 + (i % 7 == 0 ? 1 / e->L : 0.0);
}

/* Hess U = L (Bᵀ S⁻¹ B + N̂ C N̂/12) */
static void hessian(const ga__beam_strain *s, const ga__beam_element *e, const double n[6], double H[36])
{
  const double L = e->L;
  double hat[36], CN[36], B[36], X[36];
  hat_matrix(hat, n);
  strain_derivative(s, e, n, hat, B, CN);
  multiply6(H, hat, CN);
  memcpy(X, B, sizeof X);
  solve6(s->S, X, 6);
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++) {
      double sum = H[6 * i + j] / 12;
      for (int k = 0; k < 6; k++) sum += B[6 * k + i] * X[6 * k + j];
      H[6 * i + j] = L * sum;
    }
}

/* ---- Forces as iterates of their own ---- */

/* S⁻¹((d − d₀)/L − S n + B δd), δd NULL: 0. B of the plain element is I/L. */
static void mixed_step(const ga__beam_strain *s, const ga__beam_element *e, const double n[6],
                       const double *dd, const double B[36], double dn[6])
{
  double strain[6];
  for (int i = 0; i < 6; i++) {
    strain[i] = (s->d[i] - e->d0[i]) / e->L;
    if (dd && e->section->plain) strain[i] += dd[i] / e->L;
    for (int k = 0; dd && !e->section->plain && k < 6; k++) strain[i] += B[6 * i + k] * dd[k];
  }
  if (e->section->plain) {
    times6(dn, e->section->K, strain);
  } else {
    memcpy(dn, strain, sizeof strain);
    solve6(s->S, dn, 1);
  }
  for (int i = 0; i < 6; i++) dn[i] -= n[i];
}

void ga__beam_mixed_step(const ga__beam_strain *s, const ga__beam_element *e, const double n[6],
                         const double dd[6], double dn[6])
{
  double hat[36], CN[36], B[36] = {0};
  if (!e->section->plain) {
    hat_matrix(hat, n);
    strain_derivative(s, e, n, hat, B, CN);
  }
  mixed_step(s, e, n, dd, B, dn);
}

void ga__beam_mixed_gradient(const ga__beam_strain *s, const ga__beam_element *e, const double n[6],
                             double g[6])
{
  double hat[36], CN[36], B[36] = {0}, left[6];
  ga__beam_gradient(s, e, n, g);
  if (!e->section->plain) {
    hat_matrix(hat, n);
    strain_derivative(s, e, n, hat, B, CN);
  }
  mixed_step(s, e, n, NULL, B, left);
  for (int i = 0; i < 6; i++) {
    if (e->section->plain) g[i] += left[i];
    for (int k = 0; !e->section->plain && k < 6; k++) g[i] += e->L * B[6 * k + i] * left[k];
  }
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

/* Rows of one end: R [0 QN; QN QM] P, and −f~, −m~ in its own rotation's columns, since the wrench in space
 * turns with it. */
static void add_geometric(const ga__beam_strain *s, int end, const double g[6], double T[144])
{
  const double *R = end ? s->Rb : s->Ra;
  double QN[9], QM[9], RN[9], RM[9], wrench[6] = {0};
  wrench_by_d(s, end ? 1 : -1, g, QN, QM);
  ga__mat3_mul(RN, R, QN);
  ga__mat3_mul(RM, R, QM);
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++) {
      const double *Pu = s->P + 12 * k, *Pt = s->P + 12 * (3 + k);
      double *force = T + 12 * (6 * end + i), *moment = T + 12 * (6 * end + 3 + i);
      for (int j = 0; j < 12; j++) {
        force[j] += RN[3 * i + k] * Pt[j];
        moment[j] += RN[3 * i + k] * Pu[j] + RM[3 * i + k] * Pt[j];
      }
    }
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++) wrench[j] += s->P[12 * i + 6 * end + j] * g[i];
  for (int part = 0; part < 2; part++) {
    double skew[9];
    ga__mat3_skew(skew, -1, wrench + 3 * part);
    for (int i = 0; i < 9; i++) T[12 * (6 * end + 3 * part + i / 3) + 6 * end + 3 + i % 3] += skew[i];
  }
}

void ga__beam_add_product(const ga__beam_strain *s, const double K[36], double scale, const double X[72],
                          double T[144])
{
  double KX[72] = {0};
  for (int i = 0; i < 6; i++)
    for (int k = 0; k < 6; k++)
      for (int j = 0; j < 12; j++) KX[12 * i + j] += scale * K[6 * i + k] * X[12 * k + j];
  for (int k = 0; k < 6; k++)
    for (int i = 0; i < 12; i++)
      for (int j = 0; j < 12; j++) T[12 * i + j] += s->P[12 * k + i] * KX[12 * k + j];
}

void ga__beam_tangent(const ga__beam_strain *s, const ga__beam_element *e, const double *n, const double g[6],
                      double T[144])
{
  memset(T, 0, 144 * sizeof *T);
  add_geometric(s, 0, g, T);
  add_geometric(s, 1, g, T);
  if (!n) return;
  if (e->section->plain) {
    ga__beam_add_product(s, e->section->K, 1 / e->L, s->P, T);
    return;
  }
  double H[36];
  hessian(s, e, n, H);
  ga__beam_add_product(s, H, 1, s->P, T);
}

/* ---- Rates ---- */

void ga__beam_rate(const ga__beam_strain *s, const double v[12], double rate[6])
{
  for (int i = 0; i < 6; i++) {
    double sum = 0;
    for (int j = 0; j < 12; j++) sum += s->P[12 * i + j] * v[j];
    rate[i] = sum;
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
