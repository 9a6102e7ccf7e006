/* bouncing_pendulum: an event with a restart. A pendulum that swings against a wall.
 *
 * A point mass m on a rod of length L without mass, released at rest on the right. q = (x, y):
 *
 *   m r'' = −m g (0, 1) − λ r
 *   Φ     = ½ (|r|² − L²) = 0
 *
 * A wall at x = −0.3 m throws it back: where x + 0.3 falls through 0, v := −0.8 v. The problem itself is the
 * smooth system without the wall; bouncing_pendulum.h has the event function and the impact, for whoever
 * drives the stepper. The pendulum comes back again and again, each time with 0.8 of the speed, but never
 * comes to rest at the wall, since gravity draws it away from there.
 *
 * All is known in elliptic functions. With the amplitude A of a swing, k = sin(A/2) and ω² = g/L, the way
 * from the lowest point to the angle θ takes F(arcsin(sin(θ/2)/k), k)/ω, and a quarter of the swing K(k)/ω.
 * The impacts and the reference at t = 3, without a wall, are these with 40 digits. */
#include "bouncing_pendulum.h"
#include "problem.h"

enum { NV = 2, NL = 1, N = NV + NL };

static const double m = 1.0;           /* [kg] */
static const double L = 1.0;           /* [m] */
static const double g = 9.81;          /* [m/s²] */
static const double wall = -0.3;       /* [m] */
static const double restitution = 0.8; /* [-] */

const double bouncing_pendulum_time[BOUNCING_PENDULUM_IMPACTS] = {
    0.67526468709960312, 2.0817275932611875, 3.5523477461705396, 5.0913313137442313, 6.6987793226073999};
const double bouncing_pendulum_speed[BOUNCING_PENDULUM_IMPACTS] = {
    1.7378973306270062, 1.3903178645016049, 1.112254291601284, 0.88980343328102716, 0.71184274662482173};

int bouncing_pendulum_event(void *user, const ga_point *p, double *distance)
{
  (void)user;
  *distance = p->q[0] - wall;
  return 0;
}

int bouncing_pendulum_impact(void *user, int event, const ga_state *s, double *q, double *v, double *x)
{
  (void)user, (void)event, (void)s, (void)q, (void)x;
  for (int i = 0; i < NV; i++) v[i] *= -restitution;
  return 0;
}

static int mass(void *user, const ga_point *p, double *out)
{
  (void)user;
  for (int i = 0; i < NV; i++) out[i] = m * p->vdot[i];
  return 0;
}

static int force(void *user, const ga_point *p, double *out)
{
  (void)user;
  out[0] = -p->lambda[0] * p->q[0];
  out[1] = -p->lambda[0] * p->q[1] - m * g;
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
  (void)user;
  for (int i = 0; i < NV; i++) {
    D[i][i] = J->shift_vdot * m;
    D[i][NV] = p->q[i]; /* −f_λ = Bᵀ */
    Q[i][i] = p->lambda[0];
    Q[NV][i] = p->q[i];
    G[NV][i] = p->v[i];
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
  return 0.5 * m * (s->v[0] * s->v[0] + s->v[1] * s->v[1]) + m * g * s->q[1];
}

static const double q0[NV] = {0.6, -0.8};
static const double v0[NV] = {0.0};

static const double q_end[NV] = {-0.58133954442594873, -0.81366106831200322};
static const double v_end[NV] = {-0.42124559223652494, 0.3009689540514148};
static const double vdot_end[NV] = {4.7960775415605404, -3.0972593760556706};
static const double lambda_end[NL] = {8.2500452404222549};

const ex_problem ex_bouncing_pendulum = {
    .name = "bouncing_pendulum",
    .title = "pendulum beside a wall; the impacts are an event of their own",
    .define = define,
    .t_end = 3.0,
    .h = 0.01,
    .rho = 0.8,
    .q0 = q0,
    .v0 = v0,
    .reference = {.t = 3.0, .q = q_end, .v = v_end, .vdot = vdot_end, .lambda = lambda_end},
    .energy = energy,
};
