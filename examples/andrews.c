/* Andrews' squeezing mechanism in 7 angles with 6 constraints, as the IVP test set has it (andrews.h has the
 * mechanism, its data and where it is from).
 *
 * q = (β, θ, γ, φ, δ, Ω, ε). β, γ, δ, ε turn bars 1, 3, 5, 7 about fixed axes; θ, φ, Ω turn bars 2, 4, 6
 * against bars 1, 5, 7. Three loops close at the pin P, each reached from the crank and from one of the axes.
 *
 * What it shows: few coordinates, and a mass matrix that depends on q, hence D_q(M vdot) in the Jacobian.
 *
 * An elbow is a bar with angle p on a fixed axis that carries a second bar with the angle r against it. With
 * κ(r) = k_c cos r + k_s sin r, all three elbows of the mechanism read
 *
 *   M_pp = I_p − 2κ,  M_pr = M_rp = I_r − κ,  M_rr = I_r,    f_p = κ' rdot (rdot + 2 pdot),  f_r = −κ' pdot²
 *
 * A loop is a sum of vectors u = R(α) X with α one angle or the sum of two; with u' for u turned by 90°,
 *
 *   Φ = Σ u − point,   B_j = Σ u' over the α with q_j in them,   Φddot = Σ (u' αddot − u αdot²) */
#include "problem.h"
#include "andrews.h"

enum { BETA, THETA, GAMMA, PHI, DELTA, OMEGA, EPSILON, NV }; /* names of the test set */
enum { N_LAMBDA = 6, N = NV + N_LAMBDA };

typedef struct elbow {
  int p, r;
  double I_p, I_r, k_c, k_s;
} elbow;

#define SQ(a) ((a) * (a))
#define E_EA (AN_E - AN_EA)
#define F_FA (AN_ZF - AN_FA)

static const elbow elbows[] = {
    {.p = BETA,
     .r = THETA,
     .I_p = AN_M1 * SQ(AN_RA) + AN_M2 * (SQ(AN_RR) + SQ(AN_DA)) + AN_I1 + AN_I2,
     .I_r = AN_M2 * SQ(AN_DA) + AN_I2,
     .k_c = AN_M2 * AN_DA * AN_RR},
    {.p = DELTA,
     .r = PHI,
     .I_p = AN_M4 * (SQ(AN_ZT) + SQ(E_EA)) + AN_M5 * (SQ(AN_TA) + SQ(AN_TB)) + AN_I4 + AN_I5,
     .I_r = AN_M4 * SQ(E_EA) + AN_I4,
     .k_s = -AN_M4 * AN_ZT * E_EA},
    {.p = EPSILON,
     .r = OMEGA,
     .I_p = AN_M6 * (SQ(AN_U) + SQ(F_FA)) + AN_M7 * (SQ(AN_UA) + SQ(AN_UB)) + AN_I6 + AN_I7,
     .I_r = AN_M6 * SQ(F_FA) + AN_I6,
     .k_s = AN_M6 * AN_U * F_FA},
};
enum { N_ELBOWS = sizeof elbows / sizeof *elbows };

static const double inertia_3 = AN_M3 * (SQ(AN_SA) + SQ(AN_SB)) + AN_I3; /* bar 3, on the axis B */
static const double spring_pin[2] = {AN_SD, -AN_SC};                     /* D in bar 3 */

/* One vector of the loops: R(q_i + q_j) X, j −1 where there is one angle only, and the loops it is in. */
typedef struct link {
  int i, j;
  double X[2];
  int first, last;
} link;

static const link links[] = {
    {BETA, -1, {AN_RR, 0}, 0, 2},   {BETA, THETA, {-AN_D, 0}, 0, 2}, {GAMMA, -1, {0, AN_SS}, 0, 0},
    {PHI, DELTA, {0, AN_E}, 1, 1},  {DELTA, -1, {-AN_ZT, 0}, 1, 1},  {OMEGA, EPSILON, {-AN_ZF, 0}, 2, 2},
    {EPSILON, -1, {0, AN_U}, 2, 2},
};
enum { N_LINKS = sizeof links / sizeof *links, N_LOOPS = 3 };

static const double *const loop_end[N_LOOPS] = {an_B, an_A, an_A};

/* ---- Dynamics ------------------------------------------------------------------------------------------ */

/* κ and κ'; κ'' = −κ */
static double elbow_kappa(const elbow *e, const double *q, double *kappa_prime)
{
  const double c = cos(q[e->r]), s = sin(q[e->r]);
  *kappa_prime = e->k_s * c - e->k_c * s;
  return e->k_c * c + e->k_s * s;
}

static void mass_times(double *out, const double *q, const double *a)
{
  out[GAMMA] = inertia_3 * a[GAMMA];
  for (const elbow *e = elbows; e < elbows + N_ELBOWS; e++) {
    double kappa_prime;
    const double kappa = elbow_kappa(e, q, &kappa_prime);
    out[e->p] = (e->I_p - 2 * kappa) * a[e->p] + (e->I_r - kappa) * a[e->r];
    out[e->r] = (e->I_r - kappa) * a[e->p] + e->I_r * a[e->r];
  }
}

static int mass(void *user, const ga_point *p, double *out)
{
  (void)user;
  mass_times(out, p->q, p->vdot);
  return 0;
}

/* The pin D of the spring, and d = dD/dγ. */
static void spring_end(double D[2], double d[2], const double *q)
{
  an_rotate(D, q[GAMMA], spring_pin);
  d[0] = -D[1];
  d[1] = D[0];
  D[0] += an_B[0];
  D[1] += an_B[1];
}

/* A link's u = R(α) X and u'; returns αdot. */
static double link_vector(double u[2], double u_prime[2], const link *l, const double *q, const double *v)
{
  an_rotate(u, q[l->i] + (l->j < 0 ? 0 : q[l->j]), l->X);
  u_prime[0] = -u[1];
  u_prime[1] = u[0];
  return v[l->i] + (l->j < 0 ? 0 : v[l->j]);
}

static int force(void *user, const ga_point *p, double *out)
{
  const double *v = p->v;
  double D[2], d[2], f[2], u[2], b[2];
  (void)user;
  for (const elbow *e = elbows; e < elbows + N_ELBOWS; e++) {
    double kappa_prime;
    elbow_kappa(e, p->q, &kappa_prime);
    out[e->p] = kappa_prime * v[e->r] * (v[e->r] + 2 * v[e->p]);
    out[e->r] = -kappa_prime * v[e->p] * v[e->p];
  }
  out[BETA] += an_torque;
  spring_end(D, d, p->q);
  an_spring_force(f, D);
  out[GAMMA] = f[0] * d[0] + f[1] * d[1];
  for (const link *l = links; l < links + N_LINKS; l++) { /* −Bᵀλ */
    link_vector(u, b, l, p->q, v);
    for (int k = l->first; k <= l->last; k++) {
      const double torque = b[0] * p->lambda[2 * k] + b[1] * p->lambda[2 * k + 1];
      out[l->i] -= torque;
      if (l->j >= 0) out[l->j] -= torque;
    }
  }
  return 0;
}

/* ---- Constraints --------------------------------------------------------------------------------------- */

/* Which derivative of the loops by time, at vdot = 0. */
typedef enum level { POSITION, VELOCITY, ACCELERATION } level;

static int loops(const ga_point *p, level of, double *out)
{
  double u[2], u_prime[2];
  for (int i = 0; i < N_LAMBDA; i++) out[i] = of == POSITION ? -loop_end[i / 2][i % 2] : 0;
  for (const link *l = links; l < links + N_LINKS; l++) {
    const double rate = link_vector(u, u_prime, l, p->q, p->v);
    const double along = of == POSITION ? 1 : of == ACCELERATION ? -rate * rate : 0;
    const double across = of == VELOCITY ? rate : 0;
    for (int k = l->first; k <= l->last; k++)
      for (int i = 0; i < 2; i++) out[2 * k + i] += along * u[i] + across * u_prime[i];
  }
  return 0;
}

static int phi(void *user, const ga_point *p, double *out)
{
  (void)user;
  return loops(p, POSITION, out);
}

static int phi_dot(void *user, const ga_point *p, double *out)
{
  (void)user;
  return loops(p, VELOCITY, out);
}

static int phi_acc(void *user, const ga_point *p, double *out)
{
  (void)user;
  return loops(p, ACCELERATION, out);
}

/* ---- Derivatives --------------------------------------------------------------------------------------- */

/* Mass, its derivative by r, and the centrifugal forces, all from κ'' = −κ. */
static void elbow_jacobian(ga_jacobian *K, const elbow *e, const ga_point *p)
{
  const double *v = p->v, *a = p->vdot;
  double k1;
  const double k = elbow_kappa(e, p->q, &k1);
  const int pp = e->p * N + e->p, pr = e->p * N + e->r, rp = e->r * N + e->p, rr = e->r * N + e->r;
  K->D[pp] += K->shift_vdot * (e->I_p - 2 * k) - K->shift_v * 2 * k1 * v[e->r];
  K->D[pr] += K->shift_vdot * (e->I_r - k) - K->shift_v * 2 * k1 * (v[e->r] + v[e->p]);
  K->D[rp] += K->shift_vdot * (e->I_r - k) + K->shift_v * 2 * k1 * v[e->p];
  K->D[rr] += K->shift_vdot * e->I_r;
  K->Q[pr] += -k1 * (2 * a[e->p] + a[e->r]) + k * v[e->r] * (v[e->r] + 2 * v[e->p]);
  K->Q[rr] += -k1 * a[e->p] - k * v[e->p] * v[e->p];
}

/* A link's columns of B, its curvature: D_q(Bᵀλ) = −u·λ and D_q(B v) = −u αdot for every pair of its angles.
 */
static void link_jacobian(ga_jacobian *K, const link *l, const ga_point *p)
{
  const int angle[2] = {l->i, l->j};
  double u[2], b[2];
  const double rate = link_vector(u, b, l, p->q, p->v);
  for (int k = l->first; k <= l->last; k++) {
    const double tension = u[0] * p->lambda[2 * k] + u[1] * p->lambda[2 * k + 1];
    for (int m = 0; m < (l->j < 0 ? 1 : 2); m++) {
      const int c = angle[m];
      for (int i = 0; i < 2; i++) {
        const int row = NV + 2 * k + i;
        K->D[c * N + row] += b[i];
        K->Q[row * N + c] += b[i];
        K->G[row * N + c] -= u[i] * rate;
      }
      for (int n = 0; n < (l->j < 0 ? 1 : 2); n++) K->Q[c * N + angle[n]] -= tension;
    }
  }
}

static int jacobian(void *user, const ga_point *p, ga_jacobian *K)
{
  double D[2], d[2], f[2], S[2][2];
  (void)user;
  for (const elbow *e = elbows; e < elbows + N_ELBOWS; e++) elbow_jacobian(K, e, p);
  for (const link *l = links; l < links + N_LINKS; l++) link_jacobian(K, l, p);
  K->D[GAMMA * N + GAMMA] += K->shift_vdot * inertia_3;
  spring_end(D, d, p->q);
  an_spring_force(f, D);
  an_spring_stiffness(S, D); /* −d(f·d)/dγ = d·S d + f·(D − B), since d' = −(D − B) */
  K->Q[GAMMA * N + GAMMA] += f[0] * (D[0] - an_B[0]) + f[1] * (D[1] - an_B[1]);
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 2; j++) K->Q[GAMMA * N + GAMMA] += d[i] * S[i][j] * d[j];
  return 0;
}

/* ½ v·M v + the spring's − the torque's work */
static double energy(const ga_state *s)
{
  double M_v[NV], D[2], d[2], sum = 0;
  mass_times(M_v, s->q, s->v);
  for (int i = 0; i < NV; i++) sum += 0.5 * s->v[i] * M_v[i];
  spring_end(D, d, s->q);
  return sum + an_spring_energy(D) - an_torque * s->q[BETA];
}

static void define(ga_system_def *def)
{
  static const ga_factor factor = {GA_RN, NV, GA_LEFT};
  def->n_factors = 1;
  def->factors = &factor;
  def->n_lambda = N_LAMBDA;
  def->smooth = 1; /* nothing acts for a short time only */
  def->mass = mass;
  def->force = force;
  def->phi = phi;
  def->phi_dot = phi_dot;
  def->phi_acc = phi_acc;
  def->jacobian = jacobian;
}

/* At rest. The reference is good to rounding; that of the test set to 3e-10 in q, 1e-6 in qddot and λ. */
static const double v0[NV] = {0};
static const double q0[] = {-0.06171389001427645, 0.0,
                            0.45527981916307037,  0.22266839016588588,
                            0.48736497954384256,  -0.22266839016588588,
                            1.2305474445498212};
static const double q1[] = {15.810771195153707, -15.756371058411839, 0.0408222401196458, -0.5347301163420796,
                            0.524409965879954,  0.5347301163420796,  1.048080741041938};
static const double v1[] = {1139.9203022591062, -1424.3792951775401, 11.032911910618594, 19.29337410503204,
                            0.5735699148295025, -19.29337410503204,  0.3231791492491309};
static const double vdot1[] = {-24631.763122874636, 51850.31963646423,  324102.6007075786, 566749.4220009954,
                               16743.635418345446,  -566749.4220009954, 9826.507801544163};
static const double lambda1[] = {199.17534810453864, -29.755309974971762, 23.06654361162215,
                                 31.452725275771137, 22.64249478639438,   11.617392352611256};

const ex_problem ex_andrews = {.name = "andrews",
                               .title = "Andrews' squeezing mechanism, 7 angles and 6 constraints",
                               .define = define,
                               .t_end = 0.03,
                               .h = 3e-4,
                               .rho = 0.7,
                               .q0 = q0,
                               .v0 = v0,
                               .reference = {.t = 0.03, .q = q1, .v = v1, .vdot = vdot1, .lambda = lambda1},
                               .energy = energy};
