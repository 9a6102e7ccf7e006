/* pendulum: a holonomic constraint, written out in the plainest way (dense Jacobian, no pattern).
 *
 * A bar of mass m, centre at distance L from a fixed pivot, on a torsional spring-damper. Problem (16) of Jay
 * & Negrut, "A second order extension of the generalized-α method for constrained systems in mechanics"
 * (2008). q = (y1, y2, y3) = (x, y, θ), with θ = 3π/2 hanging down:
 *
 *   m y1'' = −λ1
 *   m y2'' = −m g − λ2
 *   (m L²/3) y3'' = −c y3' − κ (y3 − 3π/2) − L sin y3 λ1 + L cos y3 λ2
 *   Φ = (y1 − L cos y3, y2 − L sin y3) = 0
 *
 * The spring is stiff (about 11 Hz) and the damper strong: the reference at t = 2 is nearly at rest. It comes
 * from an integration of the single equation for θ with 25 digits. */
#include "problem.h"
#include <math.h>

enum { NV = 3, NL = 2, N = NV + NL };

static const double m = 5.0;         /* [kg] */
static const double L = 2.0;         /* [m] */
static const double kappa = 3000.0;  /* [N m] per rad */
static const double damping = 100.0; /* [N m s] per rad */
static const double g = 9.81;        /* [m/s²] */

#define PI 3.14159265358979323846
static const double inertia = 5.0 * 2.0 * 2.0 / 3.0; /* m L²/3 [kg m²] */

static int mass(void *user, const ga_point *p, double *out)
{
  (void)user;
  out[0] = m * p->vdot[0];
  out[1] = m * p->vdot[1];
  out[2] = inertia * p->vdot[2];
  return 0;
}

/* f = f0 − Bᵀλ with B = [1 0 L sin y3; 0 1 −L cos y3]. */
static int force(void *user, const ga_point *p, double *out)
{
  const double s = sin(p->q[2]), c = cos(p->q[2]);
  (void)user;
  out[0] = -p->lambda[0];
  out[1] = -m * g - p->lambda[1];
  out[2] = -damping * p->v[2] - kappa * (p->q[2] - 1.5 * PI) - L * s * p->lambda[0] + L * c * p->lambda[1];
  return 0;
}

static int phi(void *user, const ga_point *p, double *out)
{
  (void)user;
  out[0] = p->q[0] - L * cos(p->q[2]);
  out[1] = p->q[1] - L * sin(p->q[2]);
  return 0;
}

static int phi_dot(void *user, const ga_point *p, double *out)
{
  (void)user;
  out[0] = p->v[0] + L * sin(p->q[2]) * p->v[2];
  out[1] = p->v[1] - L * cos(p->q[2]) * p->v[2];
  return 0;
}

/* What remains of Φ'' at vdot = 0: L y3'² (cos y3, sin y3). */
static int phi_acc(void *user, const ga_point *p, double *out)
{
  const double w2 = p->v[2] * p->v[2];
  (void)user;
  out[0] = L * cos(p->q[2]) * w2;
  out[1] = L * sin(p->q[2]) * w2;
  return 0;
}

static int jacobian(void *user, const ga_point *p, ga_jacobian *J)
{
  double(*D)[N] = (double(*)[N])J->D, (*Q)[N] = (double(*)[N])J->Q, (*G)[N] = (double(*)[N])J->G;
  const double s = sin(p->q[2]), c = cos(p->q[2]);
  (void)user;

  D[0][0] = J->shift_vdot * m;
  D[1][1] = J->shift_vdot * m;
  D[2][2] = J->shift_vdot * inertia + J->shift_v * damping;
  D[0][NV] = 1.0; /* −f_λ = Bᵀ */
  D[1][NV + 1] = 1.0;
  D[2][NV] = L * s;
  D[2][NV + 1] = -L * c;

  Q[2][2] = kappa + L * (c * p->lambda[0] + s * p->lambda[1]);
  Q[NV][0] = 1.0; /* B */
  Q[NV][2] = L * s;
  Q[NV + 1][1] = 1.0;
  Q[NV + 1][2] = -L * c;

  G[NV][2] = L * c * p->v[2];
  G[NV + 1][2] = L * s * p->v[2];
  return 0;
}

static void define(ga_system_def *def)
{
  static const ga_factor factors[] = {{GA_RN, NV, GA_LEFT}};
  def->n_factors = 1;
  def->factors = factors;
  def->n_lambda = NL;
  def->mass = mass;
  def->force = force;
  def->phi = phi;
  def->phi_dot = phi_dot;
  def->phi_acc = phi_acc;
  def->jacobian = jacobian;
}

static const double q0[NV] = {0.0, -2.0, 1.5 * PI};
static const double v0[NV] = {20.0, 0.0, 10.0};

static const double q_end[NV] = {0.030778224027273617, -1.9997631612082785, 4.727778699883551};
static const double v_end[NV] = {-0.39632193164570867, -0.006099764930034629, -0.19818443470388097};
static const double vdot_end[NV] = {-2.0904904563054827, 0.04638884186089777, -1.044764509302507};
static const double lambda_end[NL] = {10.452452281527414, -49.28194420930449};

const ex_problem ex_pendulum = {
    .name = "pendulum",
    .title = "pendulum with a torsional spring-damper, Jay & Negrut 2008, (16)",
    .define = define,
    .t_end = 2.0,
    .h = 2.5e-3,
    .rho = 0.8,
    .q0 = q0,
    .v0 = v0,
    .reference = {.t = 2.0, .q = q_end, .v = v_end, .vdot = vdot_end, .lambda = lambda_end},
};
