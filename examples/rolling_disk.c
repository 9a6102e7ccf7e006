/* rolling_disk: nonholonomic constraints, and a mass matrix that passes through a singular point.
 *
 * A disk rolling without slipping on a plane, (7.2) of Jay & Negrut's paper on nonholonomic constraints.
 * q = (y1, y2, y3, y4, y5): contact point, lean from the vertical, heading, roll; v = z = qdot; s3 = sin y3
 * etc.
 *
 *   T = ½ m (z1² + z2² + r² z3² + r² z4² s3²) − m r (z3 c3 (z1 s4 − z2 c4) + z4 s3 (z1 c4 + z2 s4))
 *       + ½ I1 (z3² + z4² c3²) + ½ I2 (z5 + z4 s3)²,    U = m g r c3
 *   k = (z1 − r c4 z5, z2 − r s4 z5) = 0
 *
 * f is the Lagrangian one of this T and U: f4 has the term −I2 c3 z3 z5 that the paper's listing lacks; with
 * it the energy is conserved. det M is proportional to c3², and the disk leans through π/2 on its way: M
 * alone must not be inverted, and nothing here does; what counts is that M is positive definite on the kernel
 * of A = ∂k/∂v.
 *
 * This is the paper's problem, but no rigid disk: under k the disk spins about its axis at z5 − z4 s3, and
 * the last term of T has z5 + z4 s3. What moves like this is a wheel without inertia whose fork carries a
 * rotor geared to turn against it: the machine rolling_disk_rotor. The plain disk is rolling_disk_parts, both
 * in machines/papers_space.c. */
#include "problem.h"
#include <math.h>

enum { NV = 5, NPSI = 2, N = NV + NPSI, PSI = NV };

static const double m = 2.0;  /* [kg] */
static const double r = 1.0;  /* [m] */
static const double I1 = 2.0; /* [kg m²] about a diameter */
static const double I2 = 2.0; /* [kg m²] about the axis */
static const double g = 10.0; /* [m/s²] */
static const double mr = 2.0 * 1.0, mr2 = 2.0 * 1.0 * 1.0;

/* As `user`: f4 as it is printed, without −I2 c3 z3 z5. */
static int printed;

/* Inertia of the heading: m r² s3² + I1 c3² + I2 s3². */
static double heading_inertia(double s3, double c3)
{
  return (mr2 + I2) * s3 * s3 + I1 * c3 * c3;
}

static int mass(void *user, const ga_point *p, double *out)
{
  const double s3 = sin(p->q[2]), c3 = cos(p->q[2]), s4 = sin(p->q[3]), c4 = cos(p->q[3]), *a = p->vdot;
  (void)user;
  out[0] = m * a[0] - mr * (c3 * s4 * a[2] + s3 * c4 * a[3]);
  out[1] = m * a[1] + mr * (c3 * c4 * a[2] - s3 * s4 * a[3]);
  out[2] = mr * c3 * (c4 * a[1] - s4 * a[0]) + (mr2 + I1) * a[2];
  out[3] = -mr * s3 * (c4 * a[0] + s4 * a[1]) + heading_inertia(s3, c3) * a[3] + I2 * s3 * a[4];
  out[4] = I2 * (s3 * a[3] + a[4]);
  return 0;
}

static int force(void *user, const ga_point *p, double *out)
{
  const double s3 = sin(p->q[2]), c3 = cos(p->q[2]), s4 = sin(p->q[3]), c4 = cos(p->q[3]);
  const double z3 = p->v[2], z4 = p->v[3], z5 = p->v[4], *psi = p->psi;
  const double squares = z3 * z3 + z4 * z4, twice = 2.0 * z3 * z4;
  const double forgotten = user == &printed ? I2 * z3 * z5 * c3 : 0.0;
  out[0] = mr * (twice * c3 * c4 - squares * s3 * s4) - psi[0];
  out[1] = mr * (twice * c3 * s4 + squares * s3 * c4) - psi[1];
  out[2] = (mr2 - I1) * z4 * z4 * s3 * c3 + I2 * (z5 + z4 * s3) * z4 * c3 + mr * g * s3;
  out[3] = z3 * c3 * (2.0 * (I1 - I2 - mr2) * z4 * s3 - I2 * z5) + forgotten;
  out[4] = -I2 * z3 * z4 * c3 + r * (c4 * psi[0] + s4 * psi[1]);
  return 0;
}

static int k(void *user, const ga_point *p, double *out)
{
  (void)user;
  out[0] = p->v[0] - r * cos(p->q[3]) * p->v[4];
  out[1] = p->v[1] - r * sin(p->q[3]) * p->v[4];
  return 0;
}

static int k_acc(void *user, const ga_point *p, double *out)
{
  const double turn = r * p->v[3] * p->v[4];
  (void)user;
  out[0] = sin(p->q[3]) * turn;
  out[1] = -cos(p->q[3]) * turn;
  return 0;
}

/* D: shift_vdot M − shift_v f_v, −f_ψ = Aᵀ, and A. */
static void fill_d(double (*D)[N], const ga_point *p, double sv, double sa)
{
  const double s3 = sin(p->q[2]), c3 = cos(p->q[2]), s4 = sin(p->q[3]), c4 = cos(p->q[3]);
  const double z3 = p->v[2], z4 = p->v[3], z5 = p->v[4];

  D[0][0] = D[1][1] = sa * m;
  D[0][2] = -sa * mr * c3 * s4 - sv * 2.0 * mr * (z4 * c3 * c4 - z3 * s3 * s4);
  D[0][3] = -sa * mr * s3 * c4 - sv * 2.0 * mr * (z3 * c3 * c4 - z4 * s3 * s4);
  D[1][2] = sa * mr * c3 * c4 - sv * 2.0 * mr * (z4 * c3 * s4 + z3 * s3 * c4);
  D[1][3] = -sa * mr * s3 * s4 - sv * 2.0 * mr * (z3 * c3 * s4 + z4 * s3 * c4);
  D[2][0] = -sa * mr * c3 * s4;
  D[2][1] = sa * mr * c3 * c4;
  D[2][2] = sa * (mr2 + I1);
  D[2][3] = -sv * c3 * (2.0 * (mr2 - I1 + I2) * z4 * s3 + I2 * z5);
  D[2][4] = -sv * I2 * z4 * c3;
  D[3][0] = -sa * mr * s3 * c4;
  D[3][1] = -sa * mr * s3 * s4;
  D[3][2] = -sv * c3 * (2.0 * (I1 - I2 - mr2) * z4 * s3 - I2 * z5);
  D[3][3] = sa * heading_inertia(s3, c3) - sv * 2.0 * (I1 - I2 - mr2) * z3 * c3 * s3;
  D[3][4] = sa * I2 * s3 + sv * I2 * z3 * c3;
  D[4][2] = sv * I2 * z4 * c3;
  D[4][3] = sa * I2 * s3 + sv * I2 * z3 * c3;
  D[4][4] = sa * I2;

  D[0][PSI] = D[1][PSI + 1] = 1.0;
  D[4][PSI] = -r * c4;
  D[4][PSI + 1] = -r * s4;
  D[PSI][0] = D[PSI + 1][1] = sv;
  D[PSI][4] = -sv * r * c4;
  D[PSI + 1][4] = -sv * r * s4;
}

/* Q: the derivatives by lean (column 2) and heading (column 3); nothing depends on the other coordinates. */
static void fill_q(double (*Q)[N], const ga_point *p)
{
  const double s3 = sin(p->q[2]), c3 = cos(p->q[2]), s4 = sin(p->q[3]), c4 = cos(p->q[3]), *a = p->vdot;
  const double z3 = p->v[2], z4 = p->v[3], z5 = p->v[4], *psi = p->psi;
  const double squares = z3 * z3 + z4 * z4, twice = 2.0 * z3 * z4, c33 = c3 * c3 - s3 * s3;

  Q[0][2] = mr * (s3 * s4 * a[2] - c3 * c4 * a[3] + twice * s3 * c4 + squares * c3 * s4);
  Q[0][3] = mr * (-c3 * c4 * a[2] + s3 * s4 * a[3] + twice * c3 * s4 + squares * s3 * c4);
  Q[1][2] = mr * (-s3 * c4 * a[2] - c3 * s4 * a[3] + twice * s3 * s4 - squares * c3 * c4);
  Q[1][3] = mr * (-c3 * s4 * a[2] - s3 * c4 * a[3] - twice * c3 * c4 + squares * s3 * s4);
  Q[2][2] =
      -mr * s3 * (c4 * a[1] - s4 * a[0]) - (mr2 - I1 + I2) * z4 * z4 * c33 + I2 * z5 * z4 * s3 - mr * g * c3;
  Q[2][3] = -mr * c3 * (s4 * a[1] + c4 * a[0]);
  Q[3][2] = -mr * c3 * (c4 * a[0] + s4 * a[1]) + 2.0 * (mr2 + I2 - I1) * s3 * c3 * a[3] + I2 * c3 * a[4] -
            z3 * (2.0 * (I1 - I2 - mr2) * z4 * c33 + I2 * z5 * s3);
  Q[3][3] = mr * s3 * (s4 * a[0] - c4 * a[1]);
  Q[4][2] = I2 * (c3 * a[3] - z3 * z4 * s3);
  Q[4][3] = r * (s4 * psi[0] - c4 * psi[1]);

  Q[PSI][3] = r * s4 * z5;
  Q[PSI + 1][3] = -r * c4 * z5;
}

/* Of f4 as printed: D and Q are derivatives of M vdot − f. */
static void forget_term(ga_jacobian *J, const ga_point *p)
{
  const double s3 = sin(p->q[2]), c3 = cos(p->q[2]), z3 = p->v[2], z5 = p->v[4];
  double(*D)[N] = (double(*)[N])J->D, (*Q)[N] = (double(*)[N])J->Q;
  D[3][2] -= J->shift_v * I2 * z5 * c3;
  D[3][4] -= J->shift_v * I2 * z3 * c3;
  Q[3][2] += I2 * z3 * z5 * s3;
}

static int jacobian(void *user, const ga_point *p, ga_jacobian *J)
{
  fill_d((double(*)[N])J->D, p, J->shift_v, J->shift_vdot);
  fill_q((double(*)[N])J->Q, p);
  if (user == &printed) forget_term(J, p);
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
  def->k_acc = k_acc;
  def->jacobian = jacobian;
}

static void define_printed(ga_system_def *def)
{
  define(def);
  def->user = &printed;
}

/* T + U. */
static double energy(const ga_state *s)
{
  const double s3 = sin(s->q[2]), c3 = cos(s->q[2]), s4 = sin(s->q[3]), c4 = cos(s->q[3]), *z = s->v;
  const double spin = z[4] + z[3] * s3;
  return 0.5 * m * (z[0] * z[0] + z[1] * z[1]) + 0.5 * mr2 * (z[2] * z[2] + z[3] * z[3] * s3 * s3) -
         mr * (z[2] * c3 * (z[0] * s4 - z[1] * c4) + z[3] * s3 * (z[0] * c4 + z[1] * s4)) +
         0.5 * I1 * (z[2] * z[2] + z[3] * z[3] * c3 * c3) + 0.5 * I2 * spin * spin + mr * g * c3;
}

static const double q0[NV] = {0.1, 0.0, 0.3, 0.0, 1.0};
static const double v0[NV] = {0.1, 0.0, 0.02, -0.02, 0.1};

static const double q_end[NV] = {1.0244860151485977, 0.020159250165670942, 4.4432599497832275,
                                 0.10041279922498084, 1.9253402666804327};
static const double v_end[NV] = {0.08154079580884305, 0.008215369253091263, -3.494811110113411,
                                 0.05070869147578078, 0.08195360683401356};
static const double vdot_end[NV] = {0.023025056862109608, 0.006496611586142061, -4.819684680827789,
                                    0.007616300840771332, 0.023560323916737947};
static const double psi_end[NPSI] = {2.744856895634738, -25.980101069052385};

const ex_problem ex_rolling_disk = {
    .name = "rolling_disk",
    .title = "disk rolling without slipping, Jay & Negrut, (7.2) with f4 corrected",
    .define = define,
    .t_end = 10.0,
    .h = 5e-3,
    .rho = 0.8,
    .q0 = q0,
    .v0 = v0,
    .reference = {.t = 10.0, .q = q_end, .v = v_end, .vdot = vdot_end, .psi = psi_end},
    .energy = energy,
};

/* What the paper's own figure may show: its energy is not conserved. */
const ex_problem ex_rolling_disk_printed = {
    .name = "rolling_disk_printed",
    .title = "disk rolling without slipping, Jay & Negrut, (7.2) with f4 as printed",
    .define = define_printed,
    .t_end = 10.0,
    .h = 5e-3,
    .rho = 0.8,
    .q0 = q0,
    .v0 = v0,
    .energy = energy,
};
