/* slider_crank, slider_crank_moving: a declared sparsity pattern, and coordinates without mass.
 *
 * Crank and rod driven by a constant torque, slider coupled to a second mass by a spring: the slider-crank of
 * Arnold & Brüls, "Convergence of the generalized-α scheme for constrained mechanical systems" (2007), with
 * 10 coordinates and 8 constraints. q = (x1, y1, x2, y2, θ1, θ2, x3, x4, x5, y5): centres of crank and rod,
 * their angles, slider, second mass, and the hinge (x5, y5) between crank and rod. The hinge has no mass: M
 * is singular, [M Bᵀ; B 0] is not.
 *
 *   f = (0, 0, 0, 0, τ, 0, k (x4 − x3), −k (x4 − x3), 0, 0) − Bᵀλ
 *   Φ = x1 − a cos θ1;        y1 − a sin θ1;            crank on the ground, its centre
 *       x1 + a cos θ1 − x5;   y1 + a sin θ1 − y5;       hinge on the crank
 *       x2 − b cos θ2 − x5;   y2 − b sin θ2 − y5;       hinge on the rod
 *       x2 + b cos θ2 − x3;   y2 + b sin θ2             slider on the rod, guided at y = 0
 *
 * slider_crank starts from rest with the crank upright. There B times the jerk vanishes, which hides what an
 * index-3 start has to do to keep λ at second order; slider_crank_moving starts in full motion, from the
 * state at t = 0.37, and ends where the other one does. Both states come from the two equations in θ1 and x4
 * that remain, integrated by extrapolation with 34 digits. */
#include "problem.h"
#include <math.h>

enum { X1, Y1, X2, Y2, TH1, TH2, X3, X4, X5, Y5, NV };
enum { NL = 8 };

#define A 0.15 /* a [m], half length of the crank */
#define B 0.3  /* b [m], of the rod */

static const double k = 1000.0;   /* [N/m] */
static const double torque = 1.0; /* [N m] */

/* Masses [kg]; inertias m (2a)²/12 and m (2b)²/12 [kg m²]. */
static const double inertia[NV] = {0.36, 0.36, 0.15, 0.15, 0.36 * 0.09 / 12.0, 0.15 * 0.36 / 12.0,
                                   0.1,  0.7,  0.0,  0.0};

/* Constraint i is a sum of coordinates, factor·q[col] from the first list, and one term length·cos or
 * length·sin of an angle from the second. Φ, its derivatives and the pattern all follow from these lists. */
/* clang-format off */
#define LINEAR(E) /* i, col, factor */                   \
  E(0, X1, 1.0)                                          \
  E(1, Y1, 1.0)                                          \
  E(2, X1, 1.0) E(2, X5, -1.0)                           \
  E(3, Y1, 1.0) E(3, Y5, -1.0)                           \
  E(4, X2, 1.0) E(4, X5, -1.0)                           \
  E(5, Y2, 1.0) E(5, Y5, -1.0)                           \
  E(6, X2, 1.0) E(6, X3, -1.0)                           \
  E(7, Y2, 1.0)
#define ANGULAR(E) /* i, angle, length, 1 for a sine */  \
  E(0, TH1, -A, 0) E(1, TH1, -A, 1)                      \
  E(2, TH1, A, 0)  E(3, TH1, A, 1)                       \
  E(4, TH2, -B, 0) E(5, TH2, -B, 1)                      \
  E(6, TH2, B, 0)  E(7, TH2, B, 1)
/* clang-format on */

#define ENTRY(...) {__VA_ARGS__},
static const struct {
  int i, col;
  double factor;
} linear[] = {LINEAR(ENTRY)};
static const struct {
  int i, angle;
  double length;
  int sine;
} angular[] = {ANGULAR(ENTRY)};
enum { N_LINEAR = sizeof linear / sizeof *linear, N_ANGULAR = sizeof angular / sizeof *angular };

/* The pattern: the diagonal of M, to which springs and angles add, the spring's coupling, B, and Bᵀ. */
#define DIAGONAL X1, Y1, X2, Y2, TH1, TH2, X3, X4
#define ROW(i, ...) NV + (i),
#define COL(i, col, ...) (col),
static const int pattern_row[] = {DIAGONAL, X3, X4, LINEAR(ROW) ANGULAR(ROW) LINEAR(COL) ANGULAR(COL)};
static const int pattern_col[] = {DIAGONAL, X4, X3, LINEAR(COL) ANGULAR(COL) LINEAR(ROW) ANGULAR(ROW)};
enum {
  N_DIAGONAL = 8,
  AT_SPRING = N_DIAGONAL,
  AT_B = AT_SPRING + 2,
  N_B = N_LINEAR + N_ANGULAR,
  AT_BT = AT_B + N_B
};

/* out_i = Σ factor z[col], the linear part of Φ at z = q, and of B z. */
static void linear_part(double out[NL], const double *z)
{
  for (int i = 0; i < NL; i++) out[i] = 0.0;
  for (int e = 0; e < N_LINEAR; e++) out[linear[e].i] += linear[e].factor * z[linear[e].col];
}

/* The angular term of each constraint and its slope by the angle; the second derivative is minus the term. */
static void angular_part(double term[NL], double slope[NL], const double *q)
{
  for (int e = 0; e < N_ANGULAR; e++) {
    const double r = angular[e].length, c = r * cos(q[angular[e].angle]), s = r * sin(q[angular[e].angle]);
    term[angular[e].i] = angular[e].sine ? s : c;
    slope[angular[e].i] = angular[e].sine ? c : -s;
  }
}

static int mass(void *user, const ga_point *p, double *out)
{
  (void)user;
  for (int i = 0; i < NV; i++) out[i] = inertia[i] * p->vdot[i];
  return 0;
}

static int force(void *user, const ga_point *p, double *out)
{
  const double spring = k * (p->q[X4] - p->q[X3]), *lambda = p->lambda;
  double term[NL], slope[NL];
  (void)user;
  angular_part(term, slope, p->q);

  for (int i = 0; i < NV; i++) out[i] = 0.0;
  out[TH1] = torque;
  out[X3] = spring;
  out[X4] = -spring;
  for (int e = 0; e < N_LINEAR; e++) out[linear[e].col] -= linear[e].factor * lambda[linear[e].i];
  for (int e = 0; e < N_ANGULAR; e++) out[angular[e].angle] -= slope[angular[e].i] * lambda[angular[e].i];
  return 0;
}

static int phi(void *user, const ga_point *p, double *out)
{
  double term[NL], slope[NL];
  (void)user;
  angular_part(term, slope, p->q);
  linear_part(out, p->q);
  for (int i = 0; i < NL; i++) out[i] += term[i];
  return 0;
}

static int phi_dot(void *user, const ga_point *p, double *out)
{
  double term[NL], slope[NL];
  (void)user;
  angular_part(term, slope, p->q);
  linear_part(out, p->v);
  for (int e = 0; e < N_ANGULAR; e++) out[angular[e].i] += slope[angular[e].i] * p->v[angular[e].angle];
  return 0;
}

static int phi_acc(void *user, const ga_point *p, double *out)
{
  double term[NL], slope[NL];
  (void)user;
  angular_part(term, slope, p->q);
  for (int e = 0; e < N_ANGULAR; e++) {
    const double w = p->v[angular[e].angle];
    out[angular[e].i] = -term[angular[e].i] * w * w;
  }
  return 0;
}

/* One number per entry of the pattern, in the order in which it was declared. */
static int jacobian(void *user, const ga_point *p, ga_jacobian *J)
{
  double term[NL], slope[NL], *D = J->D, *Q = J->Q, *G = J->G;
  (void)user;
  angular_part(term, slope, p->q);

  for (int e = 0; e < N_DIAGONAL; e++) D[e] = J->shift_vdot * inertia[pattern_row[e]];
  Q[X3] = Q[X4] = k; /* the diagonal stands first, so that its places are the coordinates */
  Q[AT_SPRING] = Q[AT_SPRING + 1] = -k;
  for (int e = 0; e < N_LINEAR; e++) Q[AT_B + e] = linear[e].factor;
  for (int e = 0; e < N_ANGULAR; e++) {
    const int i = angular[e].i, angle = angular[e].angle, at = AT_B + N_LINEAR + e;
    Q[at] = slope[i];
    Q[angle] -= term[i] * p->lambda[i];
    G[at] = -term[i] * p->v[angle];
  }
  for (int e = 0; e < N_B; e++) D[AT_BT + e] = Q[AT_B + e]; /* −f_λ = Bᵀ */
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
  def->n_pattern = (int)(sizeof pattern_row / sizeof *pattern_row);
  def->pattern_row = pattern_row;
  def->pattern_col = pattern_col;
}

/* Kinetic energy, spring, and the potential −τ θ1 of the constant torque. */
static double energy(const ga_state *s)
{
  const double stretch = s->q[X4] - s->q[X3];
  double e = 0.5 * k * stretch * stretch - torque * s->q[TH1];
  for (int i = 0; i < NV; i++) e += 0.5 * inertia[i] * s->v[i] * s->v[i];
  return e;
}

/* At rest: θ1 = π/2, θ2 = −π/6, x3 = x4 = √0.27. */
static const double q_rest[NV] = {0.0,
                                  0.15,
                                  0.25980762113533157,
                                  0.15,
                                  1.5707963267948966,
                                  -0.5235987755982989,
                                  0.5196152422706631,
                                  0.5196152422706631,
                                  0.0,
                                  0.3};
static const double v_rest[NV] = {0.0};

/* At t = 0.37. */
static const double q_moving[NV] = {-0.13412564389693274, 0.06715885384097312, 0.024134909470586132,
                                    0.06715885384097312,  2.6773724209852854,  -0.22577611391951027,
                                    0.31652110673503775,  0.3146109844822267,  -0.2682512877938655,
                                    0.13431770768194623};
static const double v_moving[NV] = {
    -0.6727673116953267, -1.3436106144338666, -1.0369176308028334, -1.3436106144338666, 10.017552016125629,
    4.595328462850196,   -0.7283006382150133, -0.8828258457226749, -1.3455346233906533, -2.6872212288677333};

/* At t = 1. */
static const double q_end[NV] = {
    0.06380359553398607,  0.13575382571749317, 0.3951345706070849, 0.13575382571749317, 7.414624985538759,
    -0.46958108283523886, 0.6626619501461977,  0.6004431372840047, 0.12760719106797214, 0.27150765143498634};
static const double v_end[NV] = {
    0.8926132636929174, -0.4195236144832664, 1.9981091704373573,  -0.4195236144832664, -6.5752346865749915,
    1.5681520717842328, 2.2109918134888797,  -2.9819389858273913, 1.7852265273858348,  -0.8390472289665328};
static const double vdot_end[NV] = {
    -83.14354357942854,  31.91142865608644,  -183.30746696013483, 31.91142865608644,   592.1385782889392,
    -120.53069509889286, -200.3278467614126, 88.88401837456134,   -166.28708715885708, 63.82285731217288};
static const double lambda_end[NL] = {15.241767546562823,  -0.46464319117739245, 14.68990814203145,
                                      -11.023471125013726, -14.68990814203145,   11.023471125013726,
                                      42.18602818605168,   -15.810185423426692};

const ex_problem ex_slider_crank = {
    .name = "slider_crank",
    .title = "slider-crank with a massless hinge, Arnold & Brüls 2007, from rest",
    .define = define,
    .t_end = 1.0,
    .h = 1.25e-3,
    .rho = 0.7,
    .q0 = q_rest,
    .v0 = v_rest,
    .reference = {.t = 1.0, .q = q_end, .v = v_end, .vdot = vdot_end, .lambda = lambda_end},
    .energy = energy,
};

const ex_problem ex_slider_crank_moving = {
    .name = "slider_crank_moving",
    .title = "the same slider-crank started in full motion",
    .define = define,
    .t_end = 0.63,
    .h = 1.25e-3,
    .rho = 0.7,
    .q0 = q_moving,
    .v0 = v_moving,
    .reference = {.t = 0.63, .q = q_end, .v = v_end, .vdot = vdot_end, .lambda = lambda_end},
    .energy = energy,
};
