/* stiff_pair_1e6, stiff_pair_1e9: a slow motion with a fast one hidden in it; M is not symmetric.
 *
 * A pendulum, mass m on a rod of length L without mass, carries a second mass m on a spring of stiffness K
 * and no length; both masses feel gravity. For K → ∞ this is a pendulum of mass 2m. q = (x, y, d1, d2):
 * position r of the first mass, and elongation d of the spring, so that the second mass is at r + d:
 *
 *   2m r'' + m d''      = −2m g (0, 1) − λ r         both masses together
 *   (m/K) (r'' + d'')   = −(m/K) g (0, 1) − d        the second one, over K
 *   Φ = ½ (|r|² − L²) = 0
 *
 * With the elongation as a coordinate, and the law of the spring solved for it, K multiplies no rounding
 * errors.
 *
 * It is released at rest with the rod horizontal, where the spring of the slow motion carries nothing: d = 0.
 * Later d ≈ −(m/K) (r'' + (0, g)), 1.8e-5 m or 1.8e-8 m long at the end. This starts off with rate 0 as well,
 * so that of the stiff modes, of √(K/m) and √(2K/m), only a trace is there: 3 m² g²/(L K²), which is 3e-10 m
 * or 3e-16 m, and shows in the accelerations as 3e-4 m/s² or 3e-7 m/s². A method should get along with the
 * steps of the pendulum, whatever K is: the errors of q and v fall with the square of the step, those of vdot
 * and λ too until they are down at that trace, whose phase is right only with steps that follow it.
 *
 * The reference at t = 2 is the full solution, stiff modes included: the angle of the rod and d, without a
 * constraint, integrated by extrapolation with 34 digits and steps that follow every oscillation. For K = 1e9
 * it has no vdot and λ: those of an explicit integration with 15 digits, which the stored one is verified
 * with, are off by more than the trace. */
#include "problem.h"

enum { NV = 4, NL = 1, N = NV + NL };

static const double m = 1.0;  /* [kg] each */
static const double L = 1.0;  /* [m] */
static const double g = 9.81; /* [m/s²] */

/* The stiffness K [N/m] is the callbacks' user data. */
static const double soft = 1e6, hard = 1e9;

static double stiffness(const void *user)
{
  const double *K = user;
  return *K;
}

static int mass(void *user, const ga_point *p, double *out)
{
  const double K = stiffness(user);
  for (int i = 0; i < 2; i++) {
    const double second = m * (p->vdot[i] + p->vdot[2 + i]);
    out[i] = m * p->vdot[i] + second;
    out[2 + i] = second / K;
  }
  return 0;
}

static int force(void *user, const ga_point *p, double *out)
{
  const double K = stiffness(user);
  for (int i = 0; i < 2; i++) {
    out[i] = -p->lambda[0] * p->q[i];
    out[2 + i] = -p->q[2 + i];
  }
  out[1] -= 2.0 * m * g;
  out[3] -= m * g / K;
  return 0;
}

static int phi(void *user, const ga_point *p, double *out)
{
  (void)user;
  out[0] = 0.5 * (p->q[0] * p->q[0] + p->q[1] * p->q[1] - L * L);
  return 0;
}

static int phi_dot(void *user, const ga_point *p, double *out)
{
  (void)user;
  out[0] = p->q[0] * p->v[0] + p->q[1] * p->v[1];
  return 0;
}

static int phi_acc(void *user, const ga_point *p, double *out)
{
  (void)user;
  out[0] = p->v[0] * p->v[0] + p->v[1] * p->v[1];
  return 0;
}

static int jacobian(void *user, const ga_point *p, ga_jacobian *J)
{
  double(*D)[N] = (double(*)[N])J->D, (*Q)[N] = (double(*)[N])J->Q, (*G)[N] = (double(*)[N])J->G;
  const double K = stiffness(user);
  for (int i = 0; i < 2; i++) {
    D[i][i] = 2.0 * J->shift_vdot * m;
    D[i][2 + i] = J->shift_vdot * m;
    D[2 + i][i] = D[2 + i][2 + i] = J->shift_vdot * m / K;
    D[i][NV] = p->q[i]; /* −f_λ = Bᵀ */

    Q[i][i] = p->lambda[0];
    Q[2 + i][2 + i] = 1.0;
    Q[NV][i] = p->q[i];
    G[NV][i] = p->v[i];
  }
  return 0;
}

static void define(ga_system_def *def, const double *K)
{
  static const ga_factor factors[] = {{GA_RN, NV, GA_LEFT}};
  def->n_factors = 1;
  def->factors = factors;
  def->n_lambda = NL;
  def->user = (void *)K; /* read only */
  def->mass = mass;
  def->force = force;
  def->phi = phi;
  def->phi_dot = phi_dot;
  def->phi_acc = phi_acc;
  def->jacobian = jacobian;
}

static void define_soft(ga_system_def *def)
{
  define(def, &soft);
}

static void define_hard(ga_system_def *def)
{
  define(def, &hard);
}

static double energy(const ga_state *s, double K)
{
  double e = m * g * (2.0 * s->q[1] + s->q[3]);
  for (int i = 0; i < 2; i++) {
    const double first = s->v[i], second = first + s->v[2 + i], stretch = s->q[2 + i];
    e += 0.5 * m * (first * first + second * second) + 0.5 * K * stretch * stretch;
  }
  return e;
}

static double energy_soft(const ga_state *s)
{
  return energy(s, soft);
}

static double energy_hard(const ga_state *s)
{
  return energy(s, hard);
}

static const double q0[NV] = {1.0, 0.0, 0.0, 0.0};
static const double v0[NV] = {0.0};

static const double soft_q[NV] = {0.793527382988098, -0.6085345449915398, 1.4211532248481759e-5,
                                  -1.0897995580743233e-5};
static const double soft_v[NV] = {2.1026766697516107, 2.7418846288197523, -2.6593283371634175e-5,
                                  9.83745624972801e-5};
static const double soft_vdot[NV] = {-14.210992797190536, 1.0884650291589387, -5.3945129122337695e-4,
                                     -4.6944841570564532e-4};
static const double soft_lambda[NL] = {35.817951157078846};

static const double hard_q[NV] = {0.7935661565338531, -0.6084839810579142, 1.4210931937776403e-8,
                                  -1.089653839238797e-8};
static const double hard_v[NV] = {2.1024381132284063, 2.7419353422652474, -2.6381092860455918e-8,
                                  9.819877821097463e-8};

const ex_problem ex_stiff_pair_1e6 = {
    .name = "stiff_pair_1e6",
    .title = "pendulum with a second mass on a stiff spring, K = 1e6 N/m",
    .define = define_soft,
    .t_end = 2.0,
    .h = 0.01,
    .rho = 0.8,
    .q0 = q0,
    .v0 = v0,
    .reference = {.t = 2.0, .q = soft_q, .v = soft_v, .vdot = soft_vdot, .lambda = soft_lambda},
    .energy = energy_soft,
};

const ex_problem ex_stiff_pair_1e9 = {
    .name = "stiff_pair_1e9",
    .title = "the same with K = 1e9 N/m",
    .define = define_hard,
    .t_end = 2.0,
    .h = 0.01,
    .rho = 0.8,
    .q0 = q0,
    .v0 = v0,
    .reference = {.t = 2.0, .q = hard_q, .v = hard_v},
    .energy = energy_hard,
};
