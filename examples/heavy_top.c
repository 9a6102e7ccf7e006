/* The heavy top, in five formulations of one system.
 *
 * A top of mass m and inertia J turns about a fixed point, its tip, under gravity γ. Its centre of mass x and
 * its rotation R are free coordinates; the tip is held by three constraints, X being the centre of mass in
 * the body:
 *
 *   m xddot            = m γ + λ
 *   J Ωdot + Ω × J Ω   = −X × Rᵀλ
 *   0                  = Φ = −x + R X,           hidden: 0 = −xdot + R (Ω × X)
 *
 * From: M. Arnold, A. Cardona, O. Brüls, Order reduction in time integration caused by
 * velocity projection, 2015, appendix; it spins at 150 rad/s. The same top with three different moments of
 * inertia, tumbling slowly, is the ordinary body of every machine.
 *
 * What it shows: rotations as group elements, and what the choice of the group and of the velocity costs.
 *   heavy_top           R^3 x SO(3), space angular velocity ω = R Ω: the choice for most uses
 *   heavy_top_left      R^3 x SO(3), body angular velocity Ω, as in the paper
 *   heavy_top_s3        R^3 x unit quaternions, body angular velocity
 *   heavy_top_s3_right  R^3 x unit quaternions, space angular velocity
 *   heavy_top_se3       SE(3): xdot = R U, so that m (Udot + Ω × U) = Rᵀ(m γ + λ), and Φdot = R (−U + Ω × X)
 *   tumbling_top, tumbling_top_left   the second top on R^3 x SO(3) */
#include "problem.h"
#include "top.h"

enum { NV = 6, N_LAMBDA = 3, N = NV + N_LAMBDA, W = 3 }; /* v = (u, ω); ω begins at W, λ at NV */

/* What tells the formulations apart, handed to the callbacks as their user data. */
typedef struct top {
  int n_factors;
  ga_factor factors[2];
  const double *moments; /* [kg m²] principal moments of inertia about the centre of mass */
} top;

/* ---- A configuration, whatever its storage ------------------------------------------------------------- */

static int is_se3(const top *p)
{
  return p->factors[0].kind == GA_SE3;
}

/* R of the unit quaternion p = (w, x, y, z): R = (2w²−1) I + 2 (vvᵀ + w v~) with v = (x, y, z) */
static void rotation_of_quaternion(double R[9], const double p[4])
{
  const double *v = p + 1;
  top_skew(R, v);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      R[3 * i + j] = (i == j) * (2 * p[0] * p[0] - 1) + 2 * (v[i] * v[j] + p[0] * R[3 * i + j]);
}

/* The body at q, and its arm from the tip to the centre of mass in ω's frame. */
static void configure(top_body *b, double arm[3], const top *p, const double *q)
{
  const ga_factor last = p->factors[p->n_factors - 1];
  double R[9];
  if (last.kind == GA_QUAT)
    rotation_of_quaternion(R, q + 3);
  else
    for (int i = 0; i < 9; i++) R[i] = q[3 + i];
  top_body_set(b, last.side, R, p->moments);
  top_arm(arm, b, top_centre);
}

/* E_u with xdot = E_u u */
static const double *frame_of_u(const top *p, const top_body *b)
{
  return is_se3(p) ? b->R : top_identity;
}

/* ---- Callbacks ----------------------------------------------------------------------------------------- */

static int top_inertia_force(void *user, const ga_point *p, double *out)
{
  top_body b;
  double arm[3];
  configure(&b, arm, user, p->q);
  for (int i = 0; i < 3; i++) out[i] = top_mass * p->vdot[i];
  top_mul(out + W, b.J, p->vdot + W);
  return 0;
}

/* l = E_uᵀ (m γ + λ), the force on the centre of mass in u's frame */
static void force_on_centre(double l[3], const double E_u[9], const double lambda[3])
{
  double total[3];
  for (int i = 0; i < 3; i++) total[i] = top_mass * top_gravity[i] + lambda[i];
  top_mul_t(l, E_u, total);
}

static int top_force(void *user, const ga_point *p, double *out)
{
  const double *u = p->v, *w = p->v + W;
  top_body b;
  double arm[3], c[3];
  configure(&b, arm, user, p->q);
  force_on_centre(out, frame_of_u(user, &b), p->lambda);
  if (is_se3(user)) {
    top_cross(c, w, u);
    for (int i = 0; i < 3; i++) out[i] -= top_mass * c[i];
  }
  top_spin_force(out + W, &b, w);
  top_add_pin_torque(out + W, &b, arm, p->lambda);
  return 0;
}

static int top_phi(void *user, const ga_point *p, double *out)
{
  top_body b;
  double arm[3];
  configure(&b, arm, user, p->q);
  top_mul(out, b.R, top_centre);
  for (int i = 0; i < 3; i++) out[i] -= p->q[i];
  return 0;
}

static int top_phi_dot(void *user, const ga_point *p, double *out)
{
  top_body b;
  double arm[3], xdot[3];
  configure(&b, arm, user, p->q);
  top_point_rate(out, &b, arm, p->v + W);
  top_mul(xdot, frame_of_u(user, &b), p->v);
  for (int i = 0; i < 3; i++) out[i] -= xdot[i];
  return 0;
}

/* E (ω × (ω × arm)), less R (Ω × U) on SE(3), where xdot = R U turns with the body */
static int top_phi_acc(void *user, const ga_point *p, double *out)
{
  top_body b;
  double arm[3], turn[3];
  configure(&b, arm, user, p->q);
  top_point_acc(out, &b, arm, p->v + W);
  if (is_se3(user)) {
    top_point_rate(turn, &b, p->v, p->v + W);
    for (int i = 0; i < 3; i++) out[i] -= turn[i];
  }
  return 0;
}

/* What SE(3) adds: m Ω × U − Rᵀ(m γ + λ) in the rows of U, and D_q(−R U) = R U~ in the hidden constraints. */
static void add_se3_jacobian(ga_jacobian *K, const top_body *b, const ga_point *p)
{
  double l[3], S[9];
  if (K->want & GA_WANT_D) {
    top_skew(S, p->v + W);
    top_add(K->D, N, 0, 0, top_mass * K->shift_v, S);
    top_skew(S, p->v);
    top_add(K->D, N, 0, W, -top_mass * K->shift_v, S);
  }
  if (K->want & GA_WANT_Q) {
    force_on_centre(l, b->R, p->lambda);
    top_skew(S, l);
    top_add(K->Q, N, 0, W, -1, S);
  }
  if (K->want & GA_WANT_G) {
    top_skew(S, p->v);
    top_add_product(K->G, N, NV, W, 1, b->R, S);
  }
}

static int top_jacobian(void *user, const ga_point *p, ga_jacobian *K)
{
  top_body b;
  double arm[3];
  configure(&b, arm, user, p->q);
  if (K->want & GA_WANT_D) top_add(K->D, N, 0, 0, top_mass * K->shift_vdot, top_identity);
  top_spin_jacobian(K, N, W, &b, p->v + W, p->vdot + W);
  top_pin_jacobian(K, N, W, NV, &b, arm, p->v + W, p->lambda);
  top_point_jacobian(K, N, 0, NV, frame_of_u(user, &b));
  if (is_se3(user)) add_se3_jacobian(K, &b, p);
  return 0;
}

/* ½ m |u|² + ½ ω·Jω − m γ·x; a rotation does not change |u|, so SE(3) needs no case of its own. */
static double top_energy(const top *p, const ga_state *s)
{
  const double *u = s->v, *w = s->v + W;
  top_body b;
  double arm[3], L[3];
  configure(&b, arm, p, s->q);
  top_mul(L, b.J, w);
  return 0.5 * top_mass * top_dot(u, u) + 0.5 * top_dot(w, L) - top_mass * top_dot(top_gravity, s->q);
}

static void top_define(const top *p, ga_system_def *def)
{
  def->n_factors = p->n_factors;
  def->factors = p->factors;
  def->n_lambda = N_LAMBDA;
  def->smooth = 1; /* nothing acts for a short time only */
  def->user = (void *)p;
  def->mass = top_inertia_force;
  def->force = top_force;
  def->phi = top_phi;
  def->phi_dot = top_phi_dot;
  def->phi_acc = top_phi_acc;
  def->jacobian = top_jacobian;
}

/* ---- Initial values and references ---------------------------------------------------------------------
 * R = I at the start, so that all formulations start from the same v. The references come from Taylor series
 * of order 44 with 40 digits for the top as a body turning about its tip, free of constraints. */

static const double start_matrix[] = {0, 1, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
static const double start_quaternion[] = {0, 1, 0, 1, 0, 0, 0};

static const double heavy_v0[] = {4.61538, 0, 0, 0, 150, -4.61538};
static const double heavy_matrix[] = {0.17334396409838604, 0.6400885920705688,  -0.7484907911335813,
                                      0.2292996408036076,  0.17334396409838604, 0.9577961917015508,
                                      -0.765340742204681,  0.6400885920705688,  0.06738058045687272,
                                      -0.6013943989171537, -0.7484907911335813, 0.27943928238402865};
static const double heavy_quaternion[] = {0.17334396409838604, 0.6400885920705688,  -0.7484907911335813,
                                          0.7329439806796637,  -0.2782857193376127, 0.5318246113341626,
                                          -0.3201761427362493};
static const double heavy_v_body[] = {
    0.5708253034254871, -4.588728296334952, -3.7919551547100423, -0.8220781016827045, 150.0,
    -5.923291348117337};
static const double heavy_vdot_body[] = {
    -34.506715965126666, -26.456206765970283, 17.161661677525643, 858.4563089331822, 0.0,
    -125.32642338950312};
static const double heavy_v_space[] = {0.5708253034254871, -4.588728296334952, -3.7919551547100423,
                                       20.13978650576402,  96.24334386582605,  -113.4344257878822};
static const double heavy_vdot_space[] = {-34.506715965126666, -26.456206765970283, 17.161661677525643,
                                          76.80655224192719,   -665.456155783781,   -551.2919417232292};
static const double heavy_v_se3[] = {5.923291348117337,   0.0,   -0.8220781016827045,
                                     -0.8220781016827045, 150.0, -5.923291348117337};
static const double heavy_vdot_se3[] = {125.32642338950312, 0.0, 858.4563089331822,
                                        858.4563089331822,  0.0, -125.32642338950312};
static const double heavy_lambda[] = {-517.6007394769, -396.8431014895542, 404.57492516288465};

static const double tumbling_moments[3] = {0.2, 0.3, 0.45};
static const double tumbling_v0[] = {4, 0, 3, 3, 10, -4};
static const double tumbling_matrix[] = {0.807192021277991,    -0.5274263428471802,  -0.26507073330716896,
                                         -0.05656138798039886, 0.807192021277991,    0.5875728466963754,
                                         -0.5160944585671265,  -0.5274263428471802,  0.6748836660544937,
                                         0.8546621082194035,   -0.26507073330716896, 0.44641929519003143};
static const double tumbling_v_body[] = {-3.0941510683100244, -2.9687050128884187, -3.515291240957204,
                                         -5.390863512023847,  8.995732964049655,   1.2972445376848751};
static const double tumbling_vdot_body[] = {-26.775246843494436, 18.416543909906935, -2.1951998208965318,
                                            -15.953028345789717, -5.827723536981365, -38.62838336003984};
static const double tumbling_v_space[] = {-3.0941510683100244, -2.9687050128884187, -3.515291240957204,
                                          8.328424262650076,   -1.0869026036493723, -6.4127573155230735};
static const double tumbling_vdot_space[] = {-26.775246843494436, 18.416543909906935,  -2.1951998208965318,
                                             -26.498755689674304, -14.762700536921203, -29.334145560956767};
static const double tumbling_lambda[] = {-401.62870265241656, 276.248158648604, 114.22200268655202};

/* ---- The problems: motion, storage of q, frame of v, end time, step, factors --------------------------- */

#define TOP_PROBLEM(id, text, motion, storage, frame, time, step, count, ...)                                \
  static const top id = {count, {__VA_ARGS__}, motion##_moments};                                            \
  static void id##_define(ga_system_def *def)                                                                \
  {                                                                                                          \
    top_define(&id, def);                                                                                    \
  }                                                                                                          \
  static double id##_energy(const ga_state *s)                                                               \
  {                                                                                                          \
    return top_energy(&id, s);                                                                               \
  }                                                                                                          \
  const ex_problem ex_##id = {.name = #id,                                                                   \
                              .title = text,                                                                 \
                              .define = id##_define,                                                         \
                              .t_end = time,                                                                 \
                              .h = step,                                                                     \
                              .rho = 0.9,                                                                    \
                              .q0 = start_##storage,                                                         \
                              .v0 = motion##_v0,                                                             \
                              .reference = {.t = time,                                                       \
                                            .q = motion##_##storage,                                         \
                                            .v = motion##_v_##frame,                                         \
                                            .vdot = motion##_vdot_##frame,                                   \
                                            .lambda = motion##_lambda},                                      \
                              .energy = id##_energy};

/* clang-format off */
TOP_PROBLEM(heavy_top, "heavy top on R^3 x SO(3), space angular velocity",
            heavy, matrix, space, 1, 1e-3, 1, {GA_R3SO3, 0, GA_RIGHT})
TOP_PROBLEM(heavy_top_left, "heavy top on R^3 x SO(3), body angular velocity",
            heavy, matrix, body, 1, 1e-3, 1, {GA_R3SO3, 0, GA_LEFT})
TOP_PROBLEM(heavy_top_s3, "heavy top on R^3 x unit quaternions, body angular velocity",
            heavy, quaternion, body, 1, 1e-3, 2, {GA_RN, 3, GA_LEFT}, {GA_QUAT, 0, GA_LEFT})
TOP_PROBLEM(heavy_top_s3_right, "heavy top on R^3 x unit quaternions, space angular velocity",
            heavy, quaternion, space, 1, 1e-3, 2, {GA_RN, 3, GA_RIGHT}, {GA_QUAT, 0, GA_RIGHT})
TOP_PROBLEM(heavy_top_se3, "heavy top on SE(3)",
            heavy, matrix, se3, 1, 1e-3, 1, {GA_SE3, 0, GA_LEFT})
TOP_PROBLEM(tumbling_top, "slowly tumbling top on R^3 x SO(3), space angular velocity",
            tumbling, matrix, space, 0.5, 4e-3, 1, {GA_R3SO3, 0, GA_RIGHT})
TOP_PROBLEM(tumbling_top_left, "slowly tumbling top on R^3 x SO(3), body angular velocity",
            tumbling, matrix, body, 0.5, 4e-3, 1, {GA_R3SO3, 0, GA_LEFT})
/* clang-format on */
