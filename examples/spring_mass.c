/* spring_mass: states x and outputs y, with the acceleration fed back.
 *
 * A mass on a spring, damped by an actuator whose command comes from an accelerometer through a leaky
 * integrator, and whose force saturates. The controlled spring-mass system of Brüls & Arnold, "The
 * generalized-α scheme as a linear multistep integrator: toward a general mechatronic simulator" (2008):
 *
 *   m q'' = −k q + y2                      M vdot = f, f depends on y
 *   x'    = −σ x − b q''                   s depends on vdot
 *   y1    = x                              the command
 *   y2    = gmax tanh(y1/gmax)             the force: o depends on y
 *
 * No equation is solved by hand for another one's unknown: mechanism, controller and actuator meet in one
 * Newton iteration. The reference at t = 5 comes from the two explicit equations that remain after
 * eliminating y and q''. */
#include "problem.h"
#include <math.h>

enum { NV = 1, NX = 1, NY = 2, N = NV + NX + NY, X = NV, Y = NV + NX };

static const double m = 1.0;     /* [kg] */
static const double k = 1.0;     /* [N/m] */
static const double sigma = 0.1; /* [1/s] */
static const double b = 1.4;     /* [N s/m] */
static const double g_max = 1.0; /* [N] */

static int mass(void *user, const ga_point *p, double *out)
{
  (void)user;
  out[0] = m * p->vdot[0];
  return 0;
}

static int force(void *user, const ga_point *p, double *out)
{
  (void)user;
  out[0] = -k * p->q[0] + p->y[1];
  return 0;
}

static int state(void *user, const ga_point *p, double *out)
{
  (void)user;
  out[0] = -sigma * p->x[0] - b * p->vdot[0];
  return 0;
}

static int output(void *user, const ga_point *p, double *out)
{
  (void)user;
  out[0] = p->x[0];
  out[1] = g_max * tanh(p->y[0] / g_max);
  return 0;
}

/* Residuals (m vdot − f, −s, −o): note the signs, the core adds xdot and y itself. */
static int jacobian(void *user, const ga_point *p, ga_jacobian *J)
{
  double(*D)[N] = (double(*)[N])J->D, (*Q)[N] = (double(*)[N])J->Q;
  const double saturation = tanh(p->y[0] / g_max);
  (void)user;

  D[0][0] = J->shift_vdot * m;
  D[0][Y + 1] = -1.0;
  D[X][0] = J->shift_vdot * b;
  D[X][X] = sigma;
  D[Y][X] = -1.0;
  D[Y + 1][Y] = -(1.0 - saturation * saturation);

  Q[0][0] = k;
  return 0;
}

static void define(ga_system_def *def)
{
  static const ga_factor factors[] = {{GA_RN, NV, GA_LEFT}};
  def->n_factors = 1;
  def->factors = factors;
  def->n_x = NX;
  def->n_y = NY;
  def->smooth = 1; /* nothing acts for a short time only */
  def->mass = mass;
  def->force = force;
  def->state = state;
  def->output = output;
  def->jacobian = jacobian;
}

static const double q0[NV] = {5.0};
static const double v0[NV] = {0.0};
static const double x0[NX] = {0.0};

static const double q_end[NV] = {-0.566053023185347};
static const double v_end[NV] = {2.047440149690646};
static const double vdot_end[NV] = {-0.4314401971107706};
static const double x_end[NX] = {-3.340324670314635};
static const double y_end[NY] = {-3.340324670314635, -0.9974932202961176};

const ex_problem ex_spring_mass = {
    .name = "spring_mass",
    .title = "spring-mass system with acceleration feedback and saturation, Brüls & Arnold 2008",
    .define = define,
    .t_end = 5.0,
    .h = 0.1,
    .rho = 0.8,
    .q0 = q0,
    .v0 = v0,
    .x0 = x0,
    .reference = {.t = 5.0, .q = q_end, .v = v_end, .vdot = vdot_end, .x = x_end, .y = y_end},
};
