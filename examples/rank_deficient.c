/* Singular mass matrices: three systems whose M alone cannot be inverted.
 *
 * M need only be positive definite on the velocities that the constraints allow. The systems differ in where
 * the missing rank is.
 *
 * rank_deficient_d1: a heavy top with a massless point y pinned to it, held by a spring and a damper. Three
 * rows of M are zero. R^3 x SO(3) x R^3, body angular velocity.
 *
 *   M = diag(m, J, 0),   Φ = (−x + R X, −y + R Y),   0 = −200 (y − y_s) − 5 ydot + λ₂
 *
 * rank_deficient_d2: a pendulum (x, y) that drags two massless coordinates with springs. Its motion is known
 * in closed form.
 *
 *   M = diag(1, 1, 0, 0),   Φ = (½ (x²+y²−1), a − x/2, b − y/2),   f = −(0, 9.81, 50 a, 50 b) − Bᵀλ
 *
 * rank_deficient_d3: a heavy top turning about its tip, with the four components p of a unit quaternion as
 * coordinates. M p = 0 everywhere, so that the kernel of M turns with the body.
 *
 *   M = 4 G(p)ᵀ J G(p),   Φ = ½ (p·p − 1),   f = −8 G(v)ᵀ J G(p) v − W p − p λ
 *
 * They go with M. Arnold, A. Cardona, O. Brüls, Order reduction in time integration caused by velocity
 * projection, 2015, section 4: order 2 holds as with a regular M, λ included, in the stabilized
 * index-2 form and in the index-3 form started from a perturbed v₀. */
#include "problem.h"
#include "top.h"
#include <math.h>

/* ---- d1: a massless point on the top ------------------------------------------------------------------- */

enum { D1_V = 9, D1_N = 15, D1_W = 3, D1_Y = 6 }; /* v = (xdot, Ω, ydot); λ begins at D1_V */
enum { D1_Q_Y = 12 };                             /* q = (x, R, y) */

static const double d1_pin[3] = {0, 1.5, 0};  /* [m] Y, the point in the body */
static const double d1_spring[3] = {1, 1, 1}; /* [m] where the spring's other end is held */
static const double d1_stiffness = 200;       /* [N/m] */
static const double d1_damping = 5;           /* [N s/m] */

static void d1_configure(top_body *b, const ga_point *p)
{
  top_body_set(b, GA_LEFT, p->q + 3, heavy_moments);
}

static int d1_mass(void *user, const ga_point *p, double *out)
{
  top_body b;
  (void)user;
  d1_configure(&b, p);
  for (int i = 0; i < 3; i++) {
    out[i] = top_mass * p->vdot[i];
    out[D1_Y + i] = 0;
  }
  top_mul(out + D1_W, b.J, p->vdot + D1_W);
  return 0;
}

static int d1_force(void *user, const ga_point *p, double *out)
{
  top_body b;
  (void)user;
  d1_configure(&b, p);
  for (int i = 0; i < 3; i++) {
    out[i] = top_mass * top_gravity[i] + p->lambda[i];
    out[D1_Y + i] =
        -d1_stiffness * (p->q[D1_Q_Y + i] - d1_spring[i]) - d1_damping * p->v[D1_Y + i] + p->lambda[3 + i];
  }
  top_spin_force(out + D1_W, &b, p->v + D1_W);
  top_add_pin_torque(out + D1_W, &b, top_centre, p->lambda);
  top_add_pin_torque(out + D1_W, &b, d1_pin, p->lambda + 3);
  return 0;
}

static int d1_phi(void *user, const ga_point *p, double *out)
{
  (void)user;
  top_mul(out, p->q + 3, top_centre);
  top_mul(out + 3, p->q + 3, d1_pin);
  for (int i = 0; i < 3; i++) {
    out[i] -= p->q[i];
    out[3 + i] -= p->q[D1_Q_Y + i];
  }
  return 0;
}

static int d1_phi_dot(void *user, const ga_point *p, double *out)
{
  top_body b;
  (void)user;
  d1_configure(&b, p);
  top_point_rate(out, &b, top_centre, p->v + D1_W);
  top_point_rate(out + 3, &b, d1_pin, p->v + D1_W);
  for (int i = 0; i < 3; i++) {
    out[i] -= p->v[i];
    out[3 + i] -= p->v[D1_Y + i];
  }
  return 0;
}

static int d1_phi_acc(void *user, const ga_point *p, double *out)
{
  top_body b;
  (void)user;
  d1_configure(&b, p);
  top_point_acc(out, &b, top_centre, p->v + D1_W);
  top_point_acc(out + 3, &b, d1_pin, p->v + D1_W);
  return 0;
}

static int d1_jacobian(void *user, const ga_point *p, ga_jacobian *K)
{
  const double *w = p->v + D1_W;
  top_body b;
  (void)user;
  d1_configure(&b, p);
  if (K->want & GA_WANT_D) {
    top_add(K->D, D1_N, 0, 0, top_mass * K->shift_vdot, top_identity);
    top_add(K->D, D1_N, D1_Y, D1_Y, d1_damping * K->shift_v, top_identity);
  }
  if (K->want & GA_WANT_Q) top_add(K->Q, D1_N, D1_Y, D1_Y, d1_stiffness, top_identity);
  top_spin_jacobian(K, D1_N, D1_W, &b, w, p->vdot + D1_W);
  top_pin_jacobian(K, D1_N, D1_W, D1_V, &b, top_centre, w, p->lambda);
  top_pin_jacobian(K, D1_N, D1_W, D1_V + 3, &b, d1_pin, w, p->lambda + 3);
  top_point_jacobian(K, D1_N, 0, D1_V, top_identity);
  top_point_jacobian(K, D1_N, D1_Y, D1_V + 3, top_identity);
  return 0;
}

static void d1_define(ga_system_def *def)
{
  static const ga_factor factors[] = {{GA_R3SO3, 0, GA_LEFT}, {GA_RN, 3, GA_LEFT}};
  def->n_factors = 2;
  def->factors = factors;
  def->n_lambda = D1_N - D1_V;
  def->mass = d1_mass;
  def->force = d1_force;
  def->phi = d1_phi;
  def->phi_dot = d1_phi_dot;
  def->phi_acc = d1_phi_acc;
  def->jacobian = d1_jacobian;
}

static const double d1_q0[] = {0, 1, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 1.5, 0};
static const double d1_v0[] = {4, 0, 0, 0, 20, -4, 6, 0, 0};
static const double d1_q1[] = {
    0.0888071297515047,  0.9759896592419607,  0.19889062008566472, 0.8662339685849173,   0.0888071297515047,
    0.4916828300590953,  0.02289094623230261, 0.9759896592419607,  -0.21661068679395837, -0.4991139311321748,
    0.19889062008566472, 0.8434025165908179,  0.13321069462725704, 1.463984488862941,    0.2983359301284971};
static const double d1_v1[] = {-0.8032101316059255, 0.34520781554514296, -1.3353494084935913,
                               -1.595937384303576,  20.000000000000004,  0.021374273655741776,
                               -1.204815197408888,  0.5178117233177145,  -2.0030241127403867};
static const double d1_vdot1[] = {
    17.175588297590945, -5.4867053262068275, 6.446658813969114, 14.64306366522429, 0.0,
    -43.45361259995173, 25.76338244638642,   -8.23005798931024, 9.669988220953666};
static const double d1_lambda1[] = {257.6338244638642,   -82.30057989310241, 243.8498822095367,
                                    -179.38193706159302, 95.38595638917677,  -150.3479345380025};

const ex_problem ex_rank_deficient_d1 = {
    .name = "rank_deficient_d1",
    .title = "heavy top with a massless point on a spring-damper, M = diag(m, J, 0)",
    .define = d1_define,
    .t_end = 1,
    .h = 4e-3,
    .rho = 0.9,
    .q0 = d1_q0,
    .v0 = d1_v0,
    .reference = {.t = 1, .q = d1_q1, .v = d1_v1, .vdot = d1_vdot1, .lambda = d1_lambda1}};

/* ---- d2: a pendulum with massless followers ------------------------------------------------------------ */

enum { D2_V = 4, D2_N = 7 };

static const double d2_gravity = 9.81;   /* [m/s²] */
static const double d2_stiffness = 50.0; /* [N/m] of the followers' springs */

static int d2_mass(void *user, const ga_point *p, double *out)
{
  (void)user;
  for (int i = 0; i < D2_V; i++) out[i] = i < 2 ? p->vdot[i] : 0;
  return 0;
}

static int d2_force(void *user, const ga_point *p, double *out)
{
  const double *q = p->q, *l = p->lambda;
  (void)user;
  out[0] = -l[0] * q[0] + l[1] / 2;
  out[1] = -d2_gravity - l[0] * q[1] + l[2] / 2;
  out[2] = -d2_stiffness * q[2] - l[1];
  out[3] = -d2_stiffness * q[3] - l[2];
  return 0;
}

static int d2_phi(void *user, const ga_point *p, double *out)
{
  const double *q = p->q;
  (void)user;
  out[0] = (q[0] * q[0] + q[1] * q[1] - 1) / 2;
  out[1] = q[2] - q[0] / 2;
  out[2] = q[3] - q[1] / 2;
  return 0;
}

static int d2_phi_dot(void *user, const ga_point *p, double *out)
{
  const double *q = p->q, *v = p->v;
  (void)user;
  out[0] = q[0] * v[0] + q[1] * v[1];
  out[1] = v[2] - v[0] / 2;
  out[2] = v[3] - v[1] / 2;
  return 0;
}

static int d2_phi_acc(void *user, const ga_point *p, double *out)
{
  (void)user;
  out[0] = p->v[0] * p->v[0] + p->v[1] * p->v[1];
  out[1] = out[2] = 0;
  return 0;
}

static int d2_jacobian(void *user, const ga_point *p, ga_jacobian *K)
{
  const double B[3][4] = {{p->q[0], p->q[1], 0, 0}, {-0.5, 0, 1, 0}, {0, -0.5, 0, 1}};
  (void)user;
  for (int i = 0; i < 2; i++) {
    K->D[i * D2_N + i] = K->shift_vdot;
    K->Q[i * D2_N + i] = p->lambda[0];
    K->Q[(2 + i) * D2_N + 2 + i] = d2_stiffness;
    K->G[D2_V * D2_N + i] = p->v[i];
  }
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < D2_V; j++) K->Q[(D2_V + i) * D2_N + j] = K->D[j * D2_N + D2_V + i] = B[i][j];
  return 0;
}

/* ½ (xdot² + ydot²) + g y + ½ 50 (a² + b²) */
static double d2_energy(const ga_state *s)
{
  const double *q = s->q, *v = s->v;
  return 0.5 * (v[0] * v[0] + v[1] * v[1]) + d2_gravity * q[1] +
         0.5 * d2_stiffness * (q[2] * q[2] + q[3] * q[3]);
}

/* Jacobi's sn, cn, dn of modulus k at u, by the arithmetic-geometric mean, a₀ = 1, b₀ = √(1−k²):
 *   a, b, c = (a+b)/2, √(ab), (a−b)/2,   φ_n = 2ⁿ a_n u,   φ_{n−1} = ½ (φ_n + asin(c_n/a_n sin φ_n))
 * and sn = sin φ_0. */
static void jacobi_elliptic(double *sn, double *cn, double *dn, double u, double k)
{
  enum { LEVELS = 6 }; /* c is squared at every level: below rounding long before */
  double a[LEVELS + 1] = {1}, c[LEVELS + 1] = {k}, b = sqrt(1 - k * k), scale = 1;
  for (int n = 1; n <= LEVELS; n++) {
    a[n] = (a[n - 1] + b) / 2;
    c[n] = (a[n - 1] - b) / 2;
    b = sqrt(a[n - 1] * b);
    scale *= 2;
  }
  double angle = scale * a[LEVELS] * u;
  for (int n = LEVELS; n > 0; n--) angle = (angle + asin(c[n] / a[n] * sin(angle))) / 2;
  *sn = sin(angle);
  *cn = cos(angle);
  *dn = sqrt(1 - k * k * *sn * *sn);
}

/* The springs do no work, since a² + b² = ¼: a pendulum of length 1 that just reaches the horizontal. With
 * the angle ϑ from the vertical, x = −sin ϑ and y = −cos ϑ: sin ϑ/2 = k sn(√g t + u₀), k = sin 45°. */
static void d2_exact(double t, double *q, double *v, double *vdot, double *lambda, double *psi)
{
  static const double u0 = -0.471989516910351112; /* sn(u₀) = −√0.2: the start at (0.6, −0.8) */
  const double k = sqrt(0.5), w0 = sqrt(d2_gravity);
  double sn, cn, dn;
  (void)psi;
  jacobi_elliptic(&sn, &cn, &dn, w0 * t + u0, k);
  const double x = -2 * k * sn * dn, y = 2 * k * k * sn * sn - 1;
  const double rate = 2 * k * w0 * cn, acc = d2_gravity * x; /* of ϑ */
  const double xdot = y * rate, ydot = -x * rate;
  const double xddot = ydot * rate + y * acc, yddot = -xdot * rate - x * acc;
  for (int i = 0; i < 2; i++) {
    const double s = i ? 0.5 : 1; /* the pendulum, then its followers */
    if (q) q[2 * i] = s * x, q[2 * i + 1] = s * y;
    if (v) v[2 * i] = s * xdot, v[2 * i + 1] = s * ydot;
    if (vdot) vdot[2 * i] = s * xddot, vdot[2 * i + 1] = s * yddot;
  }
  if (lambda) {
    lambda[0] = rate * rate - d2_gravity * y - d2_stiffness / 4;
    lambda[1] = -d2_stiffness * x / 2;
    lambda[2] = -d2_stiffness * y / 2;
  }
}

static void d2_define(ga_system_def *def)
{
  static const ga_factor factor = {GA_RN, D2_V, GA_LEFT};
  def->n_factors = 1;
  def->factors = &factor;
  def->n_lambda = D2_N - D2_V;
  def->mass = d2_mass;
  def->force = d2_force;
  def->phi = d2_phi;
  def->phi_dot = d2_phi_dot;
  def->phi_acc = d2_phi_acc;
  def->jacobian = d2_jacobian;
}

/* v0 = c (−0.8, −0.6, −0.4, −0.3), c = √(2 · 9.81 · 0.8) */
static const double d2_q0[] = {0.6, -0.8, 0.3, -0.4};
static const double d2_v0[] = {-3.1694542116900823, -2.3770906587675613, -1.5847271058450412,
                               -1.1885453293837807};
static const double d2_q1[] = {-0.9480638251691301, -0.3180801524862515, -0.47403191258456506,
                               -0.15904007624312574};
static const double d2_v1[] = {0.7946106067833696, -2.3684016921476005, 0.3973053033916848,
                               -1.1842008460738003};
static const double d2_vdot1[] = {8.87491921923127, -6.832420238370927, 4.437459609615635,
                                  -3.4162101191854637};
static const double d2_lambda1[] = {-3.13890111232962, 23.701595629228255, 7.9520038121562875};

const ex_problem ex_rank_deficient_d2 = {
    .name = "rank_deficient_d2",
    .title = "pendulum with massless followers, M = diag(1, 1, 0, 0)",
    .define = d2_define,
    .t_end = 1,
    .h = 4e-3,
    .rho = 0.9,
    .q0 = d2_q0,
    .v0 = d2_v0,
    .reference = {.t = 1, .q = d2_q1, .v = d2_v1, .vdot = d2_vdot1, .lambda = d2_lambda1},
    .exact = d2_exact,
    .energy = d2_energy};

/* ---- d3: a unit quaternion as coordinates --------------------------------------------------------------
 * G(p) a is the vector part of p̄∘a, so that the body angular velocity is Ω = 2 G(p) pdot. It is bilinear and
 * skew, G(p) a = −G(a) p, and G(p)ᵀτ = S(τ) p, the product p∘(0,τ). Hence, with r = M vdot − f,
 *   D_q r  = 4 S(J G(p) vdot) − 4 G(p)ᵀ J G(vdot) − 8 G(v)ᵀ J G(v) + W + λ I
 *   ∂r/∂v  = 8 S(J G(p) v) + 8 G(v)ᵀ J G(p) */

enum { D3_V = 4, D3_N = 5 };

static const double d3_moments[3] = {15.234375, 0.46875, 15.234375}; /* [kg m²] about the tip */
/* [N m] W = d3_weight (E01 + E10 + E23 + E32), so that m g x₃ = ½ p·Wp */
static const double d3_weight = 2 * 15 * 9.81;
static const int d3_partner[D3_V] = {1, 0, 3, 2};

static void d3_matrix(double G[3][4], const double *p)
{
  const double rows[3][4] = {
      {-p[1], p[0], p[3], -p[2]}, {-p[2], -p[3], p[0], p[1]}, {-p[3], p[2], -p[1], p[0]}};
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 4; j++) G[i][j] = rows[i][j];
}

/* L = J G(p) a */
static void d3_momentum(double L[3], const double *p, const double *a)
{
  double G[3][4];
  d3_matrix(G, p);
  for (int i = 0; i < 3; i++)
    L[i] = d3_moments[i] * (G[i][0] * a[0] + G[i][1] * a[1] + G[i][2] * a[2] + G[i][3] * a[3]);
}

/* y = s G(p)ᵀ τ */
static void d3_pull_back(double *y, double s, const double *p, const double tau[3])
{
  double G[3][4];
  d3_matrix(G, p);
  for (int j = 0; j < D3_V; j++) y[j] = s * (G[0][j] * tau[0] + G[1][j] * tau[1] + G[2][j] * tau[2]);
}

static int d3_mass(void *user, const ga_point *p, double *out)
{
  double L[3];
  (void)user;
  d3_momentum(L, p->q, p->vdot);
  d3_pull_back(out, 4, p->q, L);
  return 0;
}

static int d3_force(void *user, const ga_point *p, double *out)
{
  double L[3];
  (void)user;
  d3_momentum(L, p->q, p->v);
  d3_pull_back(out, -8, p->v, L);
  for (int i = 0; i < D3_V; i++) out[i] -= d3_weight * p->q[d3_partner[i]] + p->q[i] * p->lambda[0];
  return 0;
}

static double d3_dot(const double *a, const double *b)
{
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
}

static int d3_phi(void *user, const ga_point *p, double *out)
{
  (void)user;
  out[0] = (d3_dot(p->q, p->q) - 1) / 2;
  return 0;
}

static int d3_phi_dot(void *user, const ga_point *p, double *out)
{
  (void)user;
  out[0] = d3_dot(p->q, p->v);
  return 0;
}

static int d3_phi_acc(void *user, const ga_point *p, double *out)
{
  (void)user;
  out[0] = d3_dot(p->v, p->v);
  return 0;
}

/* K += s G(a)ᵀ J G(b) */
static void d3_add_inertia(double *K, double s, const double *a, const double *b)
{
  double Ga[3][4], Gb[3][4];
  d3_matrix(Ga, a);
  d3_matrix(Gb, b);
  for (int i = 0; i < D3_V; i++)
    for (int j = 0; j < D3_V; j++)
      for (int k = 0; k < 3; k++) K[i * D3_N + j] += s * Ga[k][i] * d3_moments[k] * Gb[k][j];
}

/* K += s S(τ) */
static void d3_add_product(double *K, double s, const double tau[3])
{
  const double x = s * tau[0], y = s * tau[1], z = s * tau[2];
  const double S[4][4] = {{0, -x, -y, -z}, {x, 0, z, -y}, {y, -z, 0, x}, {z, y, -x, 0}};
  for (int i = 0; i < D3_V; i++)
    for (int j = 0; j < D3_V; j++) K[i * D3_N + j] += S[i][j];
}

static int d3_jacobian(void *user, const ga_point *p, ga_jacobian *K)
{
  double L[3];
  (void)user;
  d3_add_inertia(K->D, 4 * K->shift_vdot, p->q, p->q);
  d3_add_inertia(K->D, 8 * K->shift_v, p->v, p->q);
  d3_momentum(L, p->q, p->v);
  d3_add_product(K->D, 8 * K->shift_v, L);
  d3_momentum(L, p->q, p->vdot);
  d3_add_product(K->Q, 4, L);
  d3_add_inertia(K->Q, -4, p->q, p->vdot);
  d3_add_inertia(K->Q, -8, p->v, p->v);
  for (int i = 0; i < D3_V; i++) {
    K->D[i * D3_N + D3_V] = p->q[i];
    K->Q[D3_V * D3_N + i] = p->q[i];
    K->Q[i * D3_N + d3_partner[i]] += d3_weight;
    K->Q[i * D3_N + i] += p->lambda[0];
    K->G[D3_V * D3_N + i] = p->v[i];
  }
  return 0;
}

/* 2 G(p)v·J G(p)v + ½ p·Wp */
static double d3_energy(const ga_state *s)
{
  const double *p = s->q;
  double L[3], M_v[4];
  d3_momentum(L, p, s->v);
  d3_pull_back(M_v, 4, p, L);
  return 0.5 * d3_dot(s->v, M_v) + d3_weight * (p[0] * p[1] + p[2] * p[3]);
}

static void d3_define(ga_system_def *def)
{
  static const ga_factor factor = {GA_RN, D3_V, GA_LEFT};
  def->n_factors = 1;
  def->factors = &factor;
  def->n_lambda = D3_N - D3_V;
  def->mass = d3_mass;
  def->force = d3_force;
  def->phi = d3_phi;
  def->phi_dot = d3_phi_dot;
  def->phi_acc = d3_phi_acc;
  def->jacobian = d3_jacobian;
}

/* p = 1, Ω = (2, 20, −4) */
static const double d3_q0[] = {1, 0, 0, 0};
static const double d3_v0[] = {0, 1, 10, -2};
static const double d3_q1[] = {0.7769352839428497, 0.21131751524824108, -0.44546316409127457,
                               0.3915086739163544};
static const double d3_v1[] = {5.458081809641682, -3.9598275885197802, 7.721366048529916,
                               0.09141237405354596};
static const double d3_vdot1[] = {-81.82199682790792, 13.20878432644474, 64.42229296597108,
                                  -39.901629701358964};
static const double d3_lambda1[] = {1002.4261711570839};

const ex_problem ex_rank_deficient_d3 = {
    .name = "rank_deficient_d3",
    .title = "heavy top in the four components of a unit quaternion, M p = 0",
    .define = d3_define,
    .t_end = 1,
    .h = 4e-3,
    .rho = 0.9,
    .q0 = d3_q0,
    .v0 = d3_v0,
    .reference = {.t = 1, .q = d3_q1, .v = d3_v1, .vdot = d3_vdot1, .lambda = d3_lambda1},
    .energy = d3_energy};
