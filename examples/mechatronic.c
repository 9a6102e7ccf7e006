/* mechatronic: everything at once. A moving pivot, feedback of accelerations and of constraint forces, and
 * algebraic loops, one of them through the mechanism.
 *
 * A bar hangs from a pin that an eccentric carries round at constant speed: p(t) = e (cos Ωt, sin Ωt). A
 * controller holds the bar near the angle θr from the vertical. q = (x, y, θ): centre of the bar, and its
 * angle; with n = (sin θ, −cos θ) along the bar and n' = (cos θ, sin θ) across it:
 *
 *   m x''  = −λ1
 *   m y''  = −m g − λ2
 *   J θ''  = K x1 − c θ' + y2 + l n'·λ               motor current x1, active damper y2
 *   Φ      = (x, y) − p(t) − l n = 0                 rheonomic: Φ_t = −p'(t)
 *
 * Sensors: an accelerometer across the bar at its tip, which sees gravity too, and the tension in the pin,
 *
 *   A(θ, vdot) = n'·(x'', y'' + g) + l θ'',     F(θ, λ) = n·λ        (F = m g for the bar at rest)
 *
 * States: the motor's current, and first-order filters of the two sensors,
 *
 *   x1' = (y1 − R x1 − K θ')/L_m,    x2' = (F − x2)/T_F,    x3' = (A − x3)/T_A
 *
 * Outputs: the voltage of an amplifier with local feedback, and the torque of a fast actuator. Both stand on
 * both sides of their equation, and y2 also acts on the acceleration that it is made from,
 *
 *   y1 = U tanh(u/U),       u = kθ (θr − θ) − kω θ' − kF (x2 − m g) − kA x3 − k0 y1
 *   y2 = −τm tanh(w/τm),    w = ka A + kλ (F − m g) + k1 y1 + k2 y2
 *
 * The reference at t = 2 comes from another formulation: θ as the only coordinate, λ from Newton's law, each
 * loop solved by a scalar Newton iteration, integrated by extrapolation with 34 digits. */
#include "problem.h"
#include <math.h>

enum { NV = 3, NL = 2, NX = 3, NY = 2, N = NV + NL + NX + NY, LAMBDA = NV, X = NV + NL, Y = NV + NL + NX };

static const double m = 1.2, l = 0.4, g = 9.81;             /* [kg], [m] half length, [m/s²] */
static const double J_bar = 1.2 * 0.4 * 0.4 / 3.0;          /* [kg m²] m l²/3 */
static const double c_pin = 0.02;                           /* [N m s] friction */
static const double e_pin = 0.05, Omega = 6.0;              /* [m], [rad/s] the eccentric */
static const double L_m = 0.05, R = 1.0, K = 0.5;           /* [H], [Ω], [N m/A] the motor */
static const double T_F = 0.05, T_A = 0.03;                 /* [s] the filters */
static const double U = 8.0, theta_r = 0.8;                 /* [V], [rad] */
static const double k_theta = 20.0, k_omega = 2.0;          /* [V/rad], [V s/rad] */
static const double k_F = 0.1, k_A = 0.3, k_0 = 0.8;        /* [V/N], [V s²/m], [-] */
static const double tau_m = 0.5, k_a = 0.1;                 /* [N m], [kg m] */
static const double k_lambda = 0.02, k_1 = 0.05, k_2 = 0.5; /* [m], [N m/V], [-] */

/* The sensors, and their derivatives by θ. By the others: ∂A/∂vdot = (cos θ, sin θ, l), ∂F/∂λ = (sin θ, −cos
 * θ). */
typedef struct sensors {
  double s, c; /* sin θ, cos θ */
  double A, A_theta, F, F_theta;
} sensors;

static sensors measure(const ga_point *p)
{
  const double *a = p->vdot, *lambda = p->lambda;
  sensors z = {.s = sin(p->q[2]), .c = cos(p->q[2])};
  z.A = z.c * a[0] + z.s * (a[1] + g) + l * a[2];
  z.A_theta = -z.s * a[0] + z.c * (a[1] + g);
  z.F = z.s * lambda[0] - z.c * lambda[1];
  z.F_theta = z.c * lambda[0] + z.s * lambda[1];
  return z;
}

/* Arguments of the two saturations. */
static double command(const ga_point *p)
{
  return k_theta * (theta_r - p->q[2]) - k_omega * p->v[2] - k_F * (p->x[1] - m * g) - k_A * p->x[2] -
         k_0 * p->y[0];
}

static double damper_command(const ga_point *p, const sensors *z)
{
  return k_a * z->A + k_lambda * (z->F - m * g) + k_1 * p->y[0] + k_2 * p->y[1];
}

static int mass(void *user, const ga_point *p, double *out)
{
  (void)user;
  out[0] = m * p->vdot[0];
  out[1] = m * p->vdot[1];
  out[2] = J_bar * p->vdot[2];
  return 0;
}

static int force(void *user, const ga_point *p, double *out)
{
  const double s = sin(p->q[2]), c = cos(p->q[2]), *lambda = p->lambda;
  (void)user;
  out[0] = -lambda[0];
  out[1] = -m * g - lambda[1];
  out[2] = K * p->x[0] - c_pin * p->v[2] + p->y[1] + l * (c * lambda[0] + s * lambda[1]);
  return 0;
}

static int phi(void *user, const ga_point *p, double *out)
{
  (void)user;
  out[0] = p->q[0] - e_pin * cos(Omega * p->t) - l * sin(p->q[2]);
  out[1] = p->q[1] - e_pin * sin(Omega * p->t) + l * cos(p->q[2]);
  return 0;
}

static int phi_dot(void *user, const ga_point *p, double *out)
{
  (void)user;
  out[0] = p->v[0] + e_pin * Omega * sin(Omega * p->t) - l * cos(p->q[2]) * p->v[2];
  out[1] = p->v[1] - e_pin * Omega * cos(Omega * p->t) - l * sin(p->q[2]) * p->v[2];
  return 0;
}

static int phi_acc(void *user, const ga_point *p, double *out)
{
  const double pin = e_pin * Omega * Omega, w2 = p->v[2] * p->v[2];
  (void)user;
  out[0] = pin * cos(Omega * p->t) + l * sin(p->q[2]) * w2;
  out[1] = pin * sin(Omega * p->t) - l * cos(p->q[2]) * w2;
  return 0;
}

static int state(void *user, const ga_point *p, double *out)
{
  const sensors z = measure(p);
  (void)user;
  out[0] = (p->y[0] - R * p->x[0] - K * p->v[2]) / L_m;
  out[1] = (z.F - p->x[1]) / T_F;
  out[2] = (z.A - p->x[2]) / T_A;
  return 0;
}

static int output(void *user, const ga_point *p, double *out)
{
  const sensors z = measure(p);
  (void)user;
  out[0] = U * tanh(command(p) / U);
  out[1] = -tau_m * tanh(damper_command(p, &z) / tau_m);
  return 0;
}

/* Rows of the mechanism: M vdot − f, Φ, and D_q(B v + Φ_t). */
static void fill_mechanism(double (*D)[N], double (*Q)[N], double (*G)[N], const ga_point *p,
                           const sensors *z, double sv, double sa)
{
  const double s = z->s, c = z->c, w = p->v[2], *lambda = p->lambda;
  D[0][0] = D[1][1] = sa * m;
  D[2][2] = sa * J_bar + sv * c_pin;
  D[0][LAMBDA] = D[1][LAMBDA + 1] = 1.0; /* −f_λ = Bᵀ */
  D[2][LAMBDA] = -l * c;
  D[2][LAMBDA + 1] = -l * s;
  D[2][X] = -K;
  D[2][Y + 1] = -1.0;

  Q[2][2] = l * (s * lambda[0] - c * lambda[1]);
  Q[LAMBDA][0] = Q[LAMBDA + 1][1] = 1.0;
  Q[LAMBDA][2] = -l * c;
  Q[LAMBDA + 1][2] = -l * s;

  G[LAMBDA][2] = l * s * w;
  G[LAMBDA + 1][2] = -l * c * w;
}

/* Rows of the states, −s. */
static void fill_states(double (*D)[N], double (*Q)[N], const sensors *z, double sv, double sa)
{
  D[X][2] = sv * K / L_m;
  D[X][X] = R / L_m;
  D[X][Y] = -1.0 / L_m;

  D[X + 1][LAMBDA] = -z->s / T_F;
  D[X + 1][LAMBDA + 1] = z->c / T_F;
  D[X + 1][X + 1] = 1.0 / T_F;
  Q[X + 1][2] = -z->F_theta / T_F;

  D[X + 2][0] = -sa * z->c / T_A;
  D[X + 2][1] = -sa * z->s / T_A;
  D[X + 2][2] = -sa * l / T_A;
  D[X + 2][X + 2] = 1.0 / T_A;
  Q[X + 2][2] = -z->A_theta / T_A;
}

/* Rows of the outputs, −o. */
static void fill_outputs(double (*D)[N], double (*Q)[N], const ga_point *p, const sensors *z, double sv,
                         double sa)
{
  const double th = tanh(command(p) / U), slope = 1.0 - th * th;
  const double tw = tanh(damper_command(p, z) / tau_m), damper_slope = 1.0 - tw * tw;
  D[Y][2] = slope * sv * k_omega;
  D[Y][X + 1] = slope * k_F;
  D[Y][X + 2] = slope * k_A;
  D[Y][Y] = slope * k_0;
  Q[Y][2] = slope * k_theta;

  D[Y + 1][0] = damper_slope * sa * k_a * z->c;
  D[Y + 1][1] = damper_slope * sa * k_a * z->s;
  D[Y + 1][2] = damper_slope * sa * k_a * l;
  D[Y + 1][LAMBDA] = damper_slope * k_lambda * z->s;
  D[Y + 1][LAMBDA + 1] = -damper_slope * k_lambda * z->c;
  D[Y + 1][Y] = damper_slope * k_1;
  D[Y + 1][Y + 1] = damper_slope * k_2;
  Q[Y + 1][2] = damper_slope * (k_a * z->A_theta + k_lambda * z->F_theta);
}

static int jacobian(void *user, const ga_point *p, ga_jacobian *J)
{
  double(*D)[N] = (double(*)[N])J->D, (*Q)[N] = (double(*)[N])J->Q, (*G)[N] = (double(*)[N])J->G;
  const sensors z = measure(p);
  (void)user;
  fill_mechanism(D, Q, G, p, &z, J->shift_v, J->shift_vdot);
  fill_states(D, Q, &z, J->shift_v, J->shift_vdot);
  fill_outputs(D, Q, p, &z, J->shift_v, J->shift_vdot);
  return 0;
}

static void name(void *user, ga_equation_block block, int index, char *text, size_t size)
{
  static const char *const names[GA_N_BLOCKS][NV] = {
      [GA_BLOCK_V] = {"bar, force along x", "bar, force along y", "bar, torque"},
      [GA_BLOCK_LAMBDA] = {"pin, x", "pin, y"},
      [GA_BLOCK_X] = {"motor current", "filter of the tension", "filter of the accelerometer"},
      [GA_BLOCK_Y] = {"amplifier voltage", "damper torque"},
  };
  const char *from = block == GA_BLOCK_ETA ? names[GA_BLOCK_LAMBDA][index] : names[block][index];
  size_t n = 0;
  (void)user;
  for (; n + 1 < size && from[n]; n++) text[n] = from[n];
  if (size > 0) text[n] = '\0';
}

static void define(ga_system_def *def)
{
  static const ga_factor factors[] = {{GA_RN, NV, GA_LEFT}};
  def->n_factors = 1;
  def->factors = factors;
  def->n_lambda = NL;
  def->n_x = NX;
  def->n_y = NY;
  def->mass = mass;
  def->force = force;
  def->phi = phi;
  def->phi_dot = phi_dot;
  def->phi_acc = phi_acc;
  def->state = state;
  def->output = output;
  def->jacobian = jacobian;
  def->name = name;
  def->rheonomic = 1;
}

/* θ = 0.3 and θ' = 0 on the moving pin; no current, filters settled at the bar's weight and at nothing. */
static const double q0[NV] = {0.16820808266453582, -0.3821345956502424, 0.3};
static const double v0[NV] = {0.0, 0.3, 0.0};
static const double x0[NX] = {0.0, 11.772, 0.0};

static const double q_end[NV] = {0.09680419727018605, -0.42308308958556634, 0.1369564976857599};
static const double v_end[NV] = {0.27374133724882627, 0.26869799286315665, 0.2845885103516622};
static const double vdot_end[NV] = {2.0527069930196866, 1.490775118547375, 9.024673905684772};
static const double lambda_end[NL] = {-2.463248391623624, -13.56093014225685};
static const double x_end[NX] = {5.513754605054706, 13.454254387531561, 7.424230337211979};
static const double y_end[NY] = {5.1737883537525, -0.45695055384802985};

const ex_problem ex_mechatronic = {
    .name = "mechatronic",
    .title = "controlled bar on a moving pivot, feedback of accelerations and constraint forces",
    .define = define,
    .t_end = 2.0,
    .h = 0.01,
    .rho = 0.8,
    .q0 = q0,
    .v0 = v0,
    .x0 = x0,
    .reference =
        {.t = 2.0, .q = q_end, .v = v_end, .vdot = vdot_end, .lambda = lambda_end, .x = x_end, .y = y_end},
};
