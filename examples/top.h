/* Pieces of a rigid body pinned at one of its points, for body or space angular velocity alike.
 *
 * ω has components in the body frame (GA_LEFT: Rdot = R ω~) or in space (GA_RIGHT: Rdot = ω~ R). Let E turn
 * components in ω's frame into space, so E = R on the left and E = I on the right, and let J and arm be the
 * inertia tensor and a vector X fixed in the body, both in ω's frame. Then the equations read the same on
 * both sides:
 *
 *   J ωdot + ω × J ω + arm × (Eᵀλ) = 0        spin, and the torque of a pin
 *   Φ = −p + R X,   Φdot = −pdot + E (ω × arm),   Φddot = −pddot + E (ωdot × arm + ω × (ω × arm))
 *
 * Only what changes with R differs: E on the left, J and arm on the right. Small matrices are row-major. */
#ifndef GALPHA_EXAMPLES_TOP_H
#define GALPHA_EXAMPLES_TOP_H

#include "galpha/galpha.h"

/* ---- Vectors and 3 x 3 matrices ------------------------------------------------------------------------ */

static inline void top_cross(double c[3], const double a[3], const double b[3])
{
  for (int i = 0; i < 3; i++) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    c[i] = a[j] * b[k] - a[k] * b[j];
  }
}

static inline double top_dot(const double a[3], const double b[3])
{
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline void top_mul(double y[3], const double A[9], const double x[3]) /* y = A x */
{
  for (int i = 0; i < 3; i++) y[i] = top_dot(A + 3 * i, x);
}

static inline void top_mul_t(double y[3], const double A[9], const double x[3]) /* y = Aᵀ x */
{
  for (int i = 0; i < 3; i++) y[i] = A[i] * x[0] + A[3 + i] * x[1] + A[6 + i] * x[2];
}

static inline void top_skew(double S[9], const double a[3]) /* S x = a × x */
{
  const double s[9] = {0, -a[2], a[1], a[2], 0, -a[0], -a[1], a[0], 0};
  for (int i = 0; i < 9; i++) S[i] = s[i];
}

static inline void top_product(double C[9], const double A[9], const double B[9]) /* C = A B */
{
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      C[3 * i + j] = A[3 * i] * B[j] + A[3 * i + 1] * B[3 + j] + A[3 * i + 2] * B[6 + j];
}

/* Adds s A to the block of K, n columns wide, that begins at (row, col). */
static inline void top_add(double *K, int n, int row, int col, double s, const double A[9])
{
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) K[(row + i) * n + col + j] += s * A[3 * i + j];
}

/* The same with s A B. */
static inline void top_add_product(double *K, int n, int row, int col, double s, const double A[9],
                                   const double B[9])
{
  double C[9];
  top_product(C, A, B);
  top_add(K, n, row, col, s, C);
}

static const double top_identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};

/* ---- The heavy top ------------------------------------------------------------------------------------- */

static const double top_mass = 15;                                    /* [kg] */
static const double heavy_moments[3] = {0.234375, 0.46875, 0.234375}; /* [kg m²] about the centre of mass */
static const double top_gravity[3] = {0, 0, -9.81};                   /* [m/s²] */
static const double top_centre[3] = {0, 1, 0}; /* [m] X, the centre of mass seen from the tip, in the body */

/* ---- The body ------------------------------------------------------------------------------------------ */

typedef struct top_body {
  ga_side side;
  double R[9]; /* body to space */
  double E[9]; /* ω's frame to space */
  double J[9]; /* inertia about the centre of mass in ω's frame: R diag(moments) Rᵀ in space */
} top_body;

static inline void top_body_set(top_body *b, ga_side side, const double R[9], const double moments[3])
{
  b->side = side;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      double space = 0;
      for (int k = 0; k < 3; k++) space += R[3 * i + k] * moments[k] * R[3 * j + k];
      b->R[3 * i + j] = R[3 * i + j];
      b->E[3 * i + j] = side == GA_LEFT ? R[3 * i + j] : top_identity[3 * i + j];
      b->J[3 * i + j] = side == GA_RIGHT ? space : top_identity[3 * i + j] * moments[i];
    }
}

/* X, fixed in the body and given there, in ω's frame. */
static inline void top_arm(double arm[3], const top_body *b, const double X[3])
{
  if (b->side == GA_RIGHT)
    top_mul(arm, b->R, X);
  else
    for (int i = 0; i < 3; i++) arm[i] = X[i];
}

/* f = −ω × J ω */
static inline void top_spin_force(double f[3], const top_body *b, const double w[3])
{
  double L[3];
  top_mul(L, b->J, w);
  top_cross(f, L, w);
}

/* rate = E (ω × arm), the velocity of the point X of the body; acc = E (ω × (ω × arm)) */
static inline void top_point_rate(double rate[3], const top_body *b, const double arm[3], const double w[3])
{
  double r[3];
  top_cross(r, w, arm);
  top_mul(rate, b->E, r);
}

static inline void top_point_acc(double acc[3], const top_body *b, const double arm[3], const double w[3])
{
  double r[3];
  top_cross(r, w, arm);
  top_point_rate(acc, b, r, w);
}

/* f −= arm × (Eᵀλ), the torque of a pin with force λ */
static inline void top_add_pin_torque(double f[3], const top_body *b, const double arm[3],
                                      const double lambda[3])
{
  double l[3], torque[3];
  top_mul_t(l, b->E, lambda);
  top_cross(torque, arm, l);
  for (int i = 0; i < 3; i++) f[i] -= torque[i];
}

/* ---- Derivatives, added to dense matrices of n columns ------------------------------------------------- */

/* J ωdot + ω × J ω, in the rows and columns of ω, which begin at w_at:
 *   ∂/∂ωdot = J,   ∂/∂ω = ω~ J − (J ω)~
 *   D_q = 0 on the left; on the right D_q(J a) = J a~ − (J a)~ at a = ωdot, and ω × that at a = ω */
static inline void top_spin_jacobian(ga_jacobian *K, int n, int w_at, const top_body *b, const double w[3],
                                     const double wdot[3])
{
  double L[3], W[9], S[9], A[9];
  top_mul(L, b->J, w);
  top_skew(W, w);
  top_skew(S, L);
  if (K->want & GA_WANT_D) {
    top_add(K->D, n, w_at, w_at, K->shift_vdot, b->J);
    top_add_product(K->D, n, w_at, w_at, K->shift_v, W, b->J);
    top_add(K->D, n, w_at, w_at, -K->shift_v, S);
  }
  if (!(K->want & GA_WANT_Q) || b->side == GA_LEFT) return;
  top_product(A, b->J, W);
  for (int i = 0; i < 9; i++) A[i] -= S[i];
  top_add_product(K->Q, n, w_at, w_at, 1, W, A);
  top_mul(L, b->J, wdot);
  top_skew(S, L);
  top_skew(A, wdot);
  top_add_product(K->Q, n, w_at, w_at, 1, b->J, A);
  top_add(K->Q, n, w_at, w_at, -1, S);
}

/* A pin of the point X: its torque in the rows of ω, the columns of ω in its rows, its force's column, with
 * B_ω = −E arm~ and
 *   left:   D_q(arm × Eᵀλ) = arm~ (Eᵀλ)~,   D_q(E (ω × arm)) = −E (ω × arm)~
 *   right:  D_q(arm × λ) = λ~ arm~,          D_q(ω × arm) = −ω~ arm~ */
static inline void top_pin_jacobian(ga_jacobian *K, int n, int w_at, int lambda_at, const top_body *b,
                                    const double arm[3], const double w[3], const double lambda[3])
{
  double A[9], L[9], W[9], l[3], r[3], Et[9];
  for (int i = 0; i < 9; i++) Et[i] = b->E[3 * (i % 3) + i / 3];
  top_skew(A, arm);
  top_mul_t(l, b->E, lambda);
  top_skew(L, l);
  if (K->want & GA_WANT_D) top_add_product(K->D, n, w_at, lambda_at, 1, A, Et);
  if (K->want & (GA_WANT_Q | GA_WANT_B)) {
    const int left = b->side == GA_LEFT;
    top_add_product(K->Q, n, w_at, w_at, 1, left ? A : L, left ? L : A);
    top_add_product(K->Q, n, lambda_at, w_at, -1, b->E, A);
  }
  if (K->want & GA_WANT_G) {
    top_cross(r, w, arm);
    top_skew(W, b->side == GA_LEFT ? r : w);
    if (b->side == GA_LEFT)
      top_add_product(K->G, n, lambda_at, w_at, -1, b->E, W);
    else
      top_add_product(K->G, n, lambda_at, w_at, -1, W, A);
  }
}

/* The point p that is pinned, pdot = E_p u with u at u_at: B_u = −E_p. */
static inline void top_point_jacobian(ga_jacobian *K, int n, int u_at, int lambda_at, const double E_p[9])
{
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      if (K->want & GA_WANT_D) K->D[(u_at + j) * n + lambda_at + i] -= E_p[3 * i + j];
      if (K->want & (GA_WANT_Q | GA_WANT_B)) K->Q[(lambda_at + i) * n + u_at + j] -= E_p[3 * i + j];
    }
}

#endif
