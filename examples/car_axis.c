/* car_axis: a rheonomic constraint in a published benchmark. The car axis of the test set for initial value
 * problem solvers (Mazzia & Magherini, University of Bari), an index-3 problem in four coordinates.
 *
 * A car on a bumpy road, seen from behind: the left wheel rests at the origin, the right one follows
 * b(t) = (x_b, y_b), y_b = r sin ωt, x_b = √(L² − y_b²). The chassis is a bar of length L without mass
 * between two point masses m at l and r, each on a spring of length L0 and stiffness 1 above its wheel; l can
 * move only perpendicularly to the axle. q = (x_l, y_l, x_r, y_r), no units:
 *
 *   m l'' = (L0/|l| − 1) l − (0, m g) + λ1 b + 2 λ2 (l − r)
 *   m r'' = (L0/|r − b| − 1)(r − b) − (0, m g) − 2 λ2 (l − r)
 *   Φ     = (−l·b, L² − |l − r|²) = 0
 *
 * The test set writes Φ with the other sign and + Bᵀλ; here f = f0 − Bᵀλ with the same λ. At t = 0 every λ
 * vanishes.
 *
 * The reference at t = 3 comes from two coordinates, the distance of l from the origin and the angle of the
 * bar, integrated by extrapolation with 34 digits. The test set's own agrees to 2e-13. */
#include "problem.h"
#include <math.h>

enum { NV = 4, NL = 2, N = NV + NL };

static const double m = 10.0 * 1e-2 * 1e-2 / 2.0; /* M ε²/2, M = 10, ε = 0.01 */
static const double g = 1.0;
static const double L0 = 0.5;                 /* springs without load */
static const double L = 1.0;                  /* axle and chassis */
static const double bump = 0.1, omega = 10.0; /* r and ω of the road */

/* The right wheel with its velocity and acceleration. */
typedef struct wheel {
  double b[2], b1[2], b2[2];
} wheel;

/* From x_b² + y_b² = L², differentiated twice. */
static wheel wheel_at(double t)
{
  const double y = bump * sin(omega * t), y1 = bump * omega * cos(omega * t), y2 = -omega * omega * y;
  const double x = sqrt(L * L - y * y), x1 = -y * y1 / x, x2 = -(y1 * y1 + y * y2 + x1 * x1) / x;
  return (wheel){.b = {x, y}, .b1 = {x1, y1}, .b2 = {x2, y2}};
}

static double dot(const double a[2], const double b[2])
{
  return a[0] * b[0] + a[1] * b[1];
}

/* (l, r) to (l − r), of positions or of velocities. */
static void bar_of(double bar[2], const double *z)
{
  bar[0] = z[0] - z[2];
  bar[1] = z[1] - z[3];
}

/* s = d/|d|·(L0 − |d|), and its negative derivative K = (1 − L0/|d|) I + L0 d dᵀ/|d|³. */
static void spring(double s[2], double K[2][2], const double d[2])
{
  const double length = sqrt(dot(d, d)), ratio = L0 / length;
  for (int i = 0; i < 2; i++) {
    s[i] = (ratio - 1.0) * d[i];
    for (int j = 0; j < 2; j++)
      K[i][j] = (i == j ? 1.0 - ratio : 0.0) + ratio * d[i] * d[j] / (length * length);
  }
}

static int mass(void *user, const ga_point *p, double *out)
{
  (void)user;
  for (int i = 0; i < NV; i++) out[i] = m * p->vdot[i];
  return 0;
}

static int force(void *user, const ga_point *p, double *out)
{
  const wheel w = wheel_at(p->t);
  const double right[2] = {p->q[2] - w.b[0], p->q[3] - w.b[1]}, *lambda = p->lambda;
  double K[2][2], bar[2];
  (void)user;
  bar_of(bar, p->q);
  spring(out, K, p->q);
  spring(out + 2, K, right);
  for (int i = 0; i < 2; i++) {
    out[i] += lambda[0] * w.b[i] + 2.0 * lambda[1] * bar[i];
    out[2 + i] -= 2.0 * lambda[1] * bar[i];
  }
  out[1] -= m * g;
  out[3] -= m * g;
  return 0;
}

static int phi(void *user, const ga_point *p, double *out)
{
  const wheel w = wheel_at(p->t);
  double bar[2];
  (void)user;
  bar_of(bar, p->q);
  out[0] = -dot(p->q, w.b);
  out[1] = L * L - dot(bar, bar);
  return 0;
}

static int phi_dot(void *user, const ga_point *p, double *out)
{
  const wheel w = wheel_at(p->t);
  double bar[2], rate[2];
  (void)user;
  bar_of(bar, p->q);
  bar_of(rate, p->v);
  out[0] = -dot(p->v, w.b) - dot(p->q, w.b1);
  out[1] = -2.0 * dot(bar, rate);
  return 0;
}

/* What remains of Φ'' at vdot = 0. */
static int phi_acc(void *user, const ga_point *p, double *out)
{
  const wheel w = wheel_at(p->t);
  double rate[2];
  (void)user;
  bar_of(rate, p->v);
  out[0] = -2.0 * dot(p->v, w.b1) - dot(p->q, w.b2);
  out[1] = -2.0 * dot(rate, rate);
  return 0;
}

static int jacobian(void *user, const ga_point *p, ga_jacobian *J)
{
  double(*D)[N] = (double(*)[N])J->D, (*Q)[N] = (double(*)[N])J->Q, (*G)[N] = (double(*)[N])J->G;
  const wheel w = wheel_at(p->t);
  const double right[2] = {p->q[2] - w.b[0], p->q[3] - w.b[1]}, pull = 2.0 * p->lambda[1];
  double s[2], K[2][2][2], bar[2], rate[2];
  (void)user;
  bar_of(bar, p->q);
  bar_of(rate, p->v);
  spring(s, K[0], p->q);
  spring(s, K[1], right);

  for (int i = 0; i < 2; i++) {
    for (int j = 0; j < 2; j++) {
      Q[i][j] = K[0][i][j] - (i == j ? pull : 0.0);
      Q[2 + i][2 + j] = K[1][i][j] - (i == j ? pull : 0.0);
    }
    Q[i][2 + i] = Q[2 + i][i] = pull;

    Q[NV][i] = -w.b[i]; /* B */
    Q[NV + 1][i] = -2.0 * bar[i];
    Q[NV + 1][2 + i] = 2.0 * bar[i];
    G[NV][i] = -w.b1[i];
    G[NV + 1][i] = -2.0 * rate[i];
    G[NV + 1][2 + i] = 2.0 * rate[i];
  }
  for (int i = 0; i < NV; i++) {
    D[i][i] = J->shift_vdot * m;
    for (int k = 0; k < NL; k++) D[i][NV + k] = Q[NV + k][i]; /* −f_λ = Bᵀ */
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
  def->rheonomic = 1;
}

static const double q0[NV] = {0.0, 0.5, 1.0, 0.5};
static const double v0[NV] = {-0.5, 0.0, -0.5, 0.0};

static const double q_end[NV] = {0.049345578427524094, 0.49698946023000812, 1.0417425248854262,
                                 0.37391102726536579};
static const double v_end[NV] = {-0.077058368403592079, 0.0074468665920684168, 0.017556815753541736,
                                 0.77034104377960111};
static const double vdot_end[NV] = {-4.9302868748419284, 0.52026580273932799, 0.52201119991551304,
                                    49.284321166943542};
static const double lambda_end[NL] = {-0.0047368865908533264, -0.0011046803312595658};

const ex_problem ex_car_axis = {
    .name = "car_axis",
    .title = "car axis on a bumpy road, from the IVP test set",
    .define = define,
    .t_end = 3.0,
    .h = 2e-3,
    .rho = 0.8,
    .q0 = q0,
    .v0 = v0,
    .reference = {.t = 3.0, .q = q_end, .v = v_end, .vdot = vdot_end, .lambda = lambda_end},
};
