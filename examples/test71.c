/* test71: the least one has to write. NO Jacobian callback, no k_acc: everything by coloured differences.
 *
 * Test problem (7.1) of Jay & Negrut's paper on nonholonomic constraints, with an exact solution. M is
 * unsymmetric and depends on q and t, f is nonlinear in the multiplier ψ, and the constraint is nonlinear in
 * the velocity. With q = (y1, y2), v = (z1, z2):
 *
 *   [ y1             y2 − e⁻²ᵗ ]         [ eᵗ (y1 z2 + 2 y2 z1) + e²ᵗ y1 ψ            ]
 *   [ sin(y1 − eᵗ)   y1 y2     ] vdot  = [ e⁻ᵗ (½ y2 z2 − 2 y1 z1 y2 z2 + y2 ψ²)      ]
 *
 *   k = z1² z2 + 6 y1 y2 z1 − 4 = 0
 *
 * Exact: y = (eᵗ, e⁻²ᵗ), ψ = e⁻ᵗ. Without a Jacobian callback the core forms the derivatives from differences
 * of the residuals, and the statistics count them: convenient for a first try, slower and less exact than a
 * callback. */
#include "problem.h"
#include <math.h>

enum { NV = 2, NPSI = 1 };

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
  const double *y = p->q, *z = p->v, e = exp(p->t), psi = p->psi[0];
  (void)user;
  out[0] = e * (y[0] * z[1] + 2.0 * y[1] * z[0]) + e * e * y[0] * psi;
  out[1] = (0.5 * y[1] * z[1] - 2.0 * y[0] * z[0] * y[1] * z[1] + y[1] * psi * psi) / e;
  return 0;
}

static int k(void *user, const ga_point *p, double *out)
{
  const double *y = p->q, *z = p->v;
  (void)user;
  out[0] = z[0] * z[0] * z[1] + 6.0 * y[0] * y[1] * z[0] - 4.0;
  return 0;
}

static void define(ga_system_def *def)
{
  static const ga_factor factors[] = {{GA_RN, NV, GA_LEFT}};
  def->n_factors = 1;
  def->factors = factors;
  def->n_psi = NPSI;
  def->mass = mass;
  def->force = force;
  def->k = k;
}

static void exact(double t, double *q, double *v, double *vdot, double *lambda, double *psi)
{
  const double e = exp(t), e2 = exp(-2.0 * t);
  (void)lambda; /* there is none */
  if (q) q[0] = e, q[1] = e2;
  if (v) v[0] = e, v[1] = -2.0 * e2;
  if (vdot) vdot[0] = e, vdot[1] = 4.0 * e2;
  if (psi) psi[0] = exp(-t);
}

static const double q0[NV] = {1.0, 1.0};
static const double v0[NV] = {1.0, -2.0};
static const double psi_guess[NPSI] = {1.0}; /* f is quadratic in ψ: the guess chooses the root */

const ex_problem ex_test71 = {
    .name = "test71",
    .title = "test problem (7.1) of Jay & Negrut, nonholonomic, by differences only",
    .define = define,
    .t_end = 1.0,
    .h = 0.025,
    .rho = 0.8,
    .q0 = q0,
    .v0 = v0,
    .psi_guess = psi_guess,
    .exact = exact,
};
