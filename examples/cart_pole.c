/* cart_pole: a motion that fixed steps cannot follow. A cart of almost no mass under a heavy pole.
 *
 * A pole of length L without mass hangs from a cart of mass M = 1e-6 kg on a level track and carries a bob of
 * mass m = 1 kg. Released with the pole horizontal, the bob falls nearly straight down, the cart shoots
 * through below it, and the bob is thrown up again: within 10 s there are eleven such crossings, about a
 * microsecond wide, with angular velocities up to 4429 rad/s. In between nothing happens that steps of a
 * hundredth of a second would not show. Meant for error control; with fixed steps the order can be seen up to
 * the first crossing at 0.45 s only (orders cart_pole --t-end 0.4).
 *
 * q = (x_c, x_b, y_b), with d = (x_b − x_c, y_b) along the pole; the tension is λ L:
 *
 *   M x_c'' = λ d1
 *   m x_b'' = −λ d1
 *   m y_b'' = −m g − λ d2
 *   Φ       = ½ (|d|² − L²) = 0
 *
 * Exact solution: momentum along the track and energy leave one equation for the angle θ of the pole from the
 * vertical, with ε = M/(M + m),
 *
 *   θ'² (sin²θ + ε cos²θ) = 2 (g/L) cos θ,
 *
 * which the angle φ with cos θ = sin²φ, sin θ = cos φ √(1 + sin²φ) turns into an equation without turning
 * points: φ' = √(g/2L)/√(cos²φ + ε sin⁴φ/(1 + sin²φ)). So t is an integral over φ, known as soon as it is
 * known for a quarter of a period, and φ follows from t by Newton's method. The reference at t = 10 is this
 * integral with 40 digits. */
#include "problem.h"
#include <math.h>

enum { NV = 3, NL = 1, N = NV + NL };

static const double M = 1e-6, m = 1.0; /* [kg] cart, bob */
static const double L = 1.0;           /* [m] */
static const double g = 9.81;          /* [m/s²] */

static int mass(void *user, const ga_point *p, double *out)
{
  (void)user;
  out[0] = M * p->vdot[0];
  out[1] = m * p->vdot[1];
  out[2] = m * p->vdot[2];
  return 0;
}

static int force(void *user, const ga_point *p, double *out)
{
  const double pull = p->lambda[0] * (p->q[1] - p->q[0]);
  (void)user;
  out[0] = pull;
  out[1] = -pull;
  out[2] = -m * g - p->lambda[0] * p->q[2];
  return 0;
}

static int phi(void *user, const ga_point *p, double *out)
{
  const double dx = p->q[1] - p->q[0], dy = p->q[2];
  (void)user;
  out[0] = 0.5 * (dx * dx + dy * dy - L * L);
  return 0;
}

static int phi_dot(void *user, const ga_point *p, double *out)
{
  (void)user;
  out[0] = (p->q[1] - p->q[0]) * (p->v[1] - p->v[0]) + p->q[2] * p->v[2];
  return 0;
}

/* |d'|², what remains of Φ'' at vdot = 0. */
static int phi_acc(void *user, const ga_point *p, double *out)
{
  const double ux = p->v[1] - p->v[0], uy = p->v[2];
  (void)user;
  out[0] = ux * ux + uy * uy;
  return 0;
}

static int jacobian(void *user, const ga_point *p, ga_jacobian *J)
{
  double(*D)[N] = (double(*)[N])J->D, (*Q)[N] = (double(*)[N])J->Q, *G = J->G + NV * N;
  const double dx = p->q[1] - p->q[0], B[NV] = {-dx, dx, p->q[2]};
  const double ux = p->v[1] - p->v[0], rate[NV] = {-ux, ux, p->v[2]}; /* B at d' */
  (void)user;

  D[0][0] = J->shift_vdot * M;
  D[1][1] = D[2][2] = J->shift_vdot * m;
  Q[0][0] = Q[1][1] = Q[2][2] = p->lambda[0];
  Q[0][1] = Q[1][0] = -p->lambda[0];
  for (int i = 0; i < NV; i++) {
    D[i][NV] = B[i]; /* −f_λ = Bᵀ */
    Q[NV][i] = B[i];
    G[i] = rate[i];
  }
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

static double energy(const ga_state *s)
{
  const double *v = s->v;
  return 0.5 * M * v[0] * v[0] + 0.5 * m * (v[1] * v[1] + v[2] * v[2]) + m * g * s->q[2];
}

/* ---- Exact solution ---- */

/* With u = |φ − π/2| counted from a crossing and u = δ sinh z, which spreads the crossing out, dt/dz. */
static double time_rate(double z)
{
  const double eps = M / (M + m), delta = sqrt(0.5 * eps), u = delta * sinh(z);
  const double s = sin(u), c2 = cos(u) * cos(u);
  return sqrt(2.0 * L / g * (s * s + eps * c2 * c2 / (1.0 + c2))) * delta * cosh(z);
}

/* Time from the crossing to z, by Gauss's rule with five points on each of some equal pieces. */
static double time_from_crossing(double z)
{
  static const double node[] = {0.0, 0.5384693101056831, 0.906179845938664};
  static const double weight[] = {0.5688888888888889, 0.47862867049936647, 0.23692688505618908};
  enum { PIECES = 64 };
  const double half = 0.5 * z / PIECES;
  double sum = 0.0;
  for (int i = 0; i < PIECES; i++) {
    const double middle = (2 * i + 1) * half;
    sum += weight[0] * time_rate(middle);
    for (int k = 1; k < 3; k++)
      sum += weight[k] * (time_rate(middle - half * node[k]) + time_rate(middle + half * node[k]));
  }
  return half * sum;
}

/* The inverse. The time is convex in z, so that Newton's method comes down from z_max without overshooting.
 */
static double crossing_inverse(double time, double z_max)
{
  double z = z_max;
  for (int i = 0; i < 60; i++) {
    const double step = (time_from_crossing(z) - time) / time_rate(z);
    z -= step;
    if (fabs(step) < 1e-15 * (1.0 + z)) break;
  }
  return z;
}

static void exact(double t, double *q, double *v, double *vdot, double *lambda, double *psi)
{
  const double eps = M / (M + m), delta = sqrt(0.5 * eps), z_max = asinh(asin(1.0) / delta);
  const double quarter = time_from_crossing(z_max), crossing = floor(0.5 * t / quarter);
  const double after = t - (2.0 * crossing + 1.0) * quarter; /* the nearest crossing; negative: before it */
  const double z = crossing_inverse(fabs(after), z_max), u = delta * sinh(z);
  const double side = fmod(crossing, 2.0) == 0.0 ? 1.0 : -1.0;

  const double cos_u = cos(u), root = sqrt(1.0 + cos_u * cos_u);
  const double s = -side * copysign(1.0, after) * sin(u) * root, c = cos_u * cos_u; /* of θ */
  const double phi_rate = delta * cosh(z) / time_rate(z), omega = -2.0 * side * cos_u * phi_rate / root;
  const double tension = M * (1.0 - eps) * (omega * omega + g / L * c) / (s * s + eps * c * c); /* λ */
  (void)psi;

  if (q) q[0] = (1.0 - eps) * L * (1.0 - s), q[1] = L * (1.0 - eps + eps * s), q[2] = -L * c;
  if (v) v[0] = -(1.0 - eps) * L * c * omega, v[1] = eps * L * c * omega, v[2] = L * s * omega;
  if (vdot) vdot[0] = tension * L * s / M, vdot[1] = -tension * L * s / m, vdot[2] = tension * L * c / m - g;
  if (lambda) lambda[0] = tension;
}

static const double q0[NV] = {0.0, 1.0, 0.0};
static const double v0[NV] = {0.0};

static const double q_end[NV] = {1.9997632824687277, 0.99999800023671753, -0.021665189672586369};
static const double v_end[NV] = {-0.014128457807169227, 1.4128457807169227e-8, -0.65197470900068742};
static const double vdot_end[NV] = {-0.63795524691044987, 6.3795524691044987e-7, -9.8099999861753337};
static const double lambda_end[NL] = {6.3810502149683874e-7};

const ex_problem ex_cart_pole = {
    .name = "cart_pole",
    .title = "heavy pole on a cart of 1e-6 kg: needs error control",
    .define = define,
    .t_end = 10.0,
    .h = 1e-3,
    .rho = 0.8,
    .q0 = q0,
    .v0 = v0,
    .reference = {.t = 10.0, .q = q_end, .v = v_end, .vdot = vdot_end, .lambda = lambda_end},
    .exact = exact,
    .energy = energy,
};
