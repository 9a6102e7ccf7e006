/* slider_crank_hht: joints from a table. The slider-crank on which HHT-I3 and HHT-SOI2 are compared.
 *
 * Crank, rod and slider as three planar bodies under gravity, a spring on the slider; the mechanism is that
 * of Jay & Negrut, "A second order extension of the generalized-α method for constrained systems in
 * mechanics" (2008), with data of our own. q = (x, y, φ) of each body, nine coordinates and eight
 * constraints, one of them for each direction of three pins, and two for the guide of the slider. With e =
 * (cos φ, sin φ):
 *
 *   m r'' = −m g (0, 1) + (F, 0) − Bᵀλ,   J φ'' = −Bᵀλ,   F = −k (x3 − x_s) on the slider only
 *   Φ = r1 − a e1;  r1 + a e1 − r2 + b e2;  r2 + b e2 − r3;  y3;  φ3
 *
 * The position constraints alone let the velocities of the pins drift off by O(h²) on a closed cycle; the
 * methods with B v = 0 do not. The crank starts along the rod at 8 rad/s. The reference at t = 2 comes from
 * the equation in the crank's angle, integrated with 25 digits. */
#include "problem.h"
#include <math.h>

enum { CRANK, ROD, SLIDER, N_BODIES };
enum { NV = 3 * N_BODIES, N_PINS = 3, NL = 2 * N_PINS + 2, N = NV + NL };
enum { X3 = 3 * SLIDER, GUIDE = 2 * N_PINS }; /* the slider's x; first row of its guide */

#define A 0.25 /* [m] half length of the crank */
#define B 0.5  /* [m] of the rod */

static const double m[N_BODIES] = {2.0, 1.0, 1.5};         /* [kg] */
static const double inertia[N_BODIES] = {0.05, 0.1, 0.01}; /* [kg m²] */
static const double g = 9.81;                              /* [m/s²] */
static const double k = 40.0, x_s = 1.0;                   /* [N/m], [m] */

/* What meets in the pins: Φ of a pin is Σ sign (r + arm e) over its ends; the ground is not listed. */
static const struct {
  int pin, body;
  double sign, arm;
} ends[] = {
    {0, CRANK, 1.0, -A}, {1, CRANK, 1.0, A}, {1, ROD, -1.0, -B}, {2, ROD, 1.0, B}, {2, SLIDER, -1.0, 0.0}};
enum { N_ENDS = sizeof ends / sizeof *ends };

static double mass_of(int i)
{
  return i % 3 == 2 ? inertia[i / 3] : m[i / 3];
}

/* out_pin = Σ (weight_body sign arm) e: with weight 1 the arms' part of Φ, with −φ'² that of Φ''. */
static void add_arms(double *out, const double *q, const double weight[N_BODIES])
{
  for (int i = 0; i < N_ENDS; i++) {
    const double *at = q + 3 * ends[i].body, s = weight[ends[i].body] * ends[i].sign * ends[i].arm;
    out[2 * ends[i].pin] += s * cos(at[2]);
    out[2 * ends[i].pin + 1] += s * sin(at[2]);
  }
}

static void constraint_matrix(double Bq[NL][NV], const double *q)
{
  for (int i = 0; i < NL; i++)
    for (int j = 0; j < NV; j++) Bq[i][j] = 0.0;
  for (int i = 0; i < N_ENDS; i++) {
    const int row = 2 * ends[i].pin, col = 3 * ends[i].body;
    const double angle = q[col + 2], s = ends[i].sign;
    Bq[row][col] = Bq[row + 1][col + 1] = s;
    Bq[row][col + 2] = -s * ends[i].arm * sin(angle);
    Bq[row + 1][col + 2] = s * ends[i].arm * cos(angle);
  }
  Bq[GUIDE][X3 + 1] = Bq[GUIDE + 1][X3 + 2] = 1.0;
}

static int mass(void *user, const ga_point *p, double *out)
{
  (void)user;
  for (int i = 0; i < NV; i++) out[i] = mass_of(i) * p->vdot[i];
  return 0;
}

static int force(void *user, const ga_point *p, double *out)
{
  double Bq[NL][NV];
  (void)user;
  constraint_matrix(Bq, p->q);
  for (int i = 0; i < NV; i++) {
    out[i] = i % 3 == 1 ? -m[i / 3] * g : 0.0;
    for (int j = 0; j < NL; j++) out[i] -= Bq[j][i] * p->lambda[j];
  }
  out[X3] -= k * (p->q[X3] - x_s);
  return 0;
}

static int phi(void *user, const ga_point *p, double *out)
{
  static const double one[N_BODIES] = {1.0, 1.0, 1.0};
  (void)user;
  for (int i = 0; i < GUIDE; i++) out[i] = 0.0;
  for (int i = 0; i < N_ENDS; i++)
    for (int j = 0; j < 2; j++) out[2 * ends[i].pin + j] += ends[i].sign * p->q[3 * ends[i].body + j];
  add_arms(out, p->q, one);
  out[GUIDE] = p->q[X3 + 1];
  out[GUIDE + 1] = p->q[X3 + 2];
  return 0;
}

static int phi_dot(void *user, const ga_point *p, double *out)
{
  double Bq[NL][NV];
  (void)user;
  constraint_matrix(Bq, p->q);
  for (int i = 0; i < NL; i++) {
    out[i] = 0.0;
    for (int j = 0; j < NV; j++) out[i] += Bq[i][j] * p->v[j];
  }
  return 0;
}

static int phi_acc(void *user, const ga_point *p, double *out)
{
  double inward[N_BODIES];
  (void)user;
  for (int i = 0; i < N_BODIES; i++) inward[i] = -p->v[3 * i + 2] * p->v[3 * i + 2];
  for (int i = 0; i < NL; i++) out[i] = 0.0;
  add_arms(out, p->q, inward);
  return 0;
}

static int jacobian(void *user, const ga_point *p, ga_jacobian *J)
{
  double(*D)[N] = (double(*)[N])J->D, (*Q)[N] = (double(*)[N])J->Q, (*G)[N] = (double(*)[N])J->G;
  double Bq[NL][NV];
  (void)user;
  constraint_matrix(Bq, p->q);

  for (int i = 0; i < NV; i++) {
    D[i][i] = J->shift_vdot * mass_of(i);
    for (int j = 0; j < NL; j++) D[i][NV + j] = Q[NV + j][i] = Bq[j][i]; /* −f_λ = Bᵀ */
  }
  Q[X3][X3] = k;
  for (int i = 0; i < N_ENDS; i++) { /* an arm turned further: its second derivative is −e */
    const int row = 2 * ends[i].pin, col = 3 * ends[i].body + 2;
    const double s = ends[i].sign * ends[i].arm, x = s * cos(p->q[col]), y = s * sin(p->q[col]);
    Q[col][col] -= x * p->lambda[row] + y * p->lambda[row + 1];
    G[NV + row][col] -= x * p->v[col];
    G[NV + row + 1][col] -= y * p->v[col];
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
  const double stretch = s->q[X3] - x_s;
  double e = 0.5 * k * stretch * stretch;
  for (int i = 0; i < NV; i++) e += 0.5 * mass_of(i) * s->v[i] * s->v[i];
  for (int i = 0; i < N_BODIES; i++) e += m[i] * g * s->q[3 * i + 1];
  return e;
}

static const double q0[NV] = {0.25, 0.0, 0.0, 1.0, 0.0, 0.0, 1.5, 0.0, 0.0};
static const double v0[NV] = {0.0, 2.0, 8.0, 0.0, 2.0, -4.0, 0.0, 0.0, 0.0};

static const double q_end[NV] = {0.1399492545762381,
                                 -0.20715744288718013,
                                 11.589715106631342,
                                 0.7349653106843444,
                                 -0.20715744288718013,
                                 0.4271899116240329,
                                 1.1900321122162126,
                                 0.0,
                                 0.0};
static const double v_end[NV] = {1.3587868485221181,
                                 0.917954981140744,
                                 6.5591987890202237,
                                 3.1354490637783864,
                                 0.917954981140744,
                                 -2.0171873185446157,
                                 3.5533244305125367,
                                 0.0,
                                 0.0};
static const double vdot_end[NV] = {-5.6220668031732592,
                                    9.1820933987478504,
                                    1.9259863026861194,
                                    -9.2996326752022596,
                                    9.1820933987478504,
                                    -18.325134859690601,
                                    -7.3551317440580007,
                                    0.0,
                                    0.0};
static const double lambda_end[NL] = {
    23.975179408987276,  -45.814917359048609, -12.731045802640758, 7.8307305615529082,
    -3.4314131274384985, -11.161362837194942, -25.876362837194942, 0.0};

const ex_problem ex_slider_crank_hht = {
    .name = "slider_crank_hht",
    .title = "slider-crank of three planar bodies, after Jay & Negrut 2008",
    .define = define,
    .t_end = 2.0,
    .h = 0.0078125, /* 2⁻⁷ */
    .rho = 0.8,
    .q0 = q0,
    .v0 = v0,
    .reference = {.t = 2.0, .q = q_end, .v = v_end, .vdot = vdot_end, .lambda = lambda_end},
    .energy = energy,
};
