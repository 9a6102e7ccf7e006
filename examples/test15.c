/* test15: holonomic and nonholonomic constraints together, forces nonlinear in both multipliers.
 *
 * Test problem (15) of Jay & Negrut, "A second order extension of the generalized-α method for constrained
 * systems in mechanics" (2008), with an exact solution. With q = (y1, y2), v = (z1, z2):
 *
 *   [ y1             y2 − e⁻²ᵗ ]        [ eᵗ (y1 z2 + 2 y2 z1) + e²ᵗ y1 λ − y1 z2 ψ − 2           ]
 *   [ sin(y1 − eᵗ)   y1 y2     ] vdot = [ e⁻ᵗ (½ y2 z2 − 2 y1 z1 y2 z2 + y2 λ²) − y1 y2 z1 ψ³ + e³ᵗ ]
 *
 *   Φ = y1² y2 − 1 = 0,    k = y1 z1 z2 + 2 = 0
 *
 * Exact: y = (eᵗ, e⁻²ᵗ), λ = e⁻ᵗ, ψ = eᵗ. M is unsymmetric, and f is not f0 − Bᵀλ − Aᵀψ: the core takes f_λ
 * and f_ψ from the Jacobian and assumes nothing about them. Two coordinates and two constraints leave no free
 * motion. */
#include "problem.h"
#include <math.h>

enum { NV = 2, NL = 1, NPSI = 1, N = NV + NL + NPSI, LAMBDA = NV, PSI = NV + NL };

static int mass(void *user, const ga_point *p, double *out)
{
  const double *y = p->q, *a = p->vdot;
  (void)user;
  out[0] = y[0] * a[0] + (y[1] - exp(-2.0 * p->t)) * a[1];
  out[1] = sin(y[0] - exp(p->t)) * a[0] + y[0] * y[1] * a[1];
  return 0;
}

static int force(void *user, const ga_point *p, double *out)
{
  const double *y = p->q, *z = p->v, e = exp(p->t), lambda = p->lambda[0], psi = p->psi[0];
  (void)user;
  out[0] = e * (y[0] * z[1] + 2.0 * y[1] * z[0]) + e * e * y[0] * lambda - y[0] * z[1] * psi - 2.0;
  out[1] = (0.5 * y[1] * z[1] - 2.0 * y[0] * z[0] * y[1] * z[1] + y[1] * lambda * lambda) / e -
           y[0] * y[1] * z[0] * psi * psi * psi + e * e * e;
  return 0;
}

static int phi(void *user, const ga_point *p, double *out)
{
  (void)user;
  out[0] = p->q[0] * p->q[0] * p->q[1] - 1.0;
  return 0;
}

static int phi_dot(void *user, const ga_point *p, double *out)
{
  const double *y = p->q, *z = p->v;
  (void)user;
  out[0] = 2.0 * y[0] * y[1] * z[0] + y[0] * y[0] * z[1];
  return 0;
}

static int phi_acc(void *user, const ga_point *p, double *out)
{
  const double *y = p->q, *z = p->v;
  (void)user;
  out[0] = 2.0 * y[1] * z[0] * z[0] + 4.0 * y[0] * z[0] * z[1];
  return 0;
}

static int k(void *user, const ga_point *p, double *out)
{
  (void)user;
  out[0] = p->q[0] * p->v[0] * p->v[1] + 2.0;
  return 0;
}

static int k_acc(void *user, const ga_point *p, double *out)
{
  (void)user;
  out[0] = p->v[0] * p->v[0] * p->v[1];
  return 0;
}

static int jacobian(void *user, const ga_point *p, ga_jacobian *J)
{
  double(*D)[N] = (double(*)[N])J->D, (*Q)[N] = (double(*)[N])J->Q, (*G)[N] = (double(*)[N])J->G;
  const double *y = p->q, *z = p->v, *a = p->vdot, lambda = p->lambda[0], psi = p->psi[0];
  const double e = exp(p->t), psi3 = psi * psi * psi, sv = J->shift_v, sa = J->shift_vdot;
  (void)user;

  D[0][0] = sa * y[0] - sv * 2.0 * e * y[1];
  D[0][1] = sa * (y[1] - 1.0 / (e * e)) - sv * y[0] * (e - psi);
  D[0][LAMBDA] = -e * e * y[0];
  D[0][PSI] = y[0] * z[1];
  D[1][0] = sa * sin(y[0] - e) + sv * y[0] * y[1] * (2.0 * z[1] / e + psi3);
  D[1][1] = sa * y[0] * y[1] - sv * y[1] * (0.5 - 2.0 * y[0] * z[0]) / e;
  D[1][LAMBDA] = -2.0 * y[1] * lambda / e;
  D[1][PSI] = 3.0 * y[0] * y[1] * z[0] * psi * psi;
  D[PSI][0] = sv * y[0] * z[1];
  D[PSI][1] = sv * y[0] * z[0];

  Q[0][0] = a[0] - e * z[1] - e * e * lambda + z[1] * psi;
  Q[0][1] = a[1] - 2.0 * e * z[0];
  Q[1][0] = cos(y[0] - e) * a[0] + y[1] * (a[1] + 2.0 * z[0] * z[1] / e + z[0] * psi3);
  Q[1][1] = y[0] * a[1] - (0.5 * z[1] - 2.0 * y[0] * z[0] * z[1] + lambda * lambda) / e + y[0] * z[0] * psi3;
  Q[LAMBDA][0] = 2.0 * y[0] * y[1];
  Q[LAMBDA][1] = y[0] * y[0];
  Q[PSI][0] = z[0] * z[1];

  G[LAMBDA][0] = 2.0 * (y[1] * z[0] + y[0] * z[1]);
  G[LAMBDA][1] = 2.0 * y[0] * z[0];
  return 0;
}

static void define(ga_system_def *def)
{
  static const ga_factor factors[] = {{GA_RN, NV, GA_LEFT}};
  def->n_factors = 1;
  def->factors = factors;
  def->n_lambda = NL;
  def->n_psi = NPSI;
  def->mass = mass;
  def->force = force;
  def->phi = phi;
  def->phi_dot = phi_dot;
  def->phi_acc = phi_acc;
  def->k = k;
  def->k_acc = k_acc;
  def->jacobian = jacobian;
}

static void exact(double t, double *q, double *v, double *vdot, double *lambda, double *psi)
{
  const double e = exp(t), e2 = exp(-2.0 * t);
  if (q) q[0] = e, q[1] = e2;
  if (v) v[0] = e, v[1] = -2.0 * e2;
  if (vdot) vdot[0] = e, vdot[1] = 4.0 * e2;
  if (lambda) lambda[0] = exp(-t);
  if (psi) psi[0] = e;
}

static const double q0[NV] = {1.0, 1.0};
static const double v0[NV] = {1.0, -2.0};
static const double lambda_guess[NL] = {
    1.0}; /* f is quadratic in λ and cubic in ψ: guesses choose the root */
static const double psi_guess[NPSI] = {1.0};

const ex_problem ex_test15 = {
    .name = "test15",
    .title = "test problem (15) of Jay & Negrut 2008, nonlinear in both multipliers",
    .define = define,
    .t_end = 1.0,
    .h = 0.0125,
    .rho = 0.8,
    .q0 = q0,
    .v0 = v0,
    .lambda_guess = lambda_guess,
    .psi_guess = psi_guess,
    .exact = exact,
};
