/* SE(3): q = (x, R) as the homogeneous matrix [R x; 0 1], algebra (u, ψ) as [ψ~ u; 0 0].
 *   exp(u,ψ)    = (T(ψ)ᵀ u, exp ψ)
 *   ad(u,ψ)     = [ψ~ u~; 0 ψ~]
 *   T₆(u,ψ)     = Σ (−1)^k ad^k/(k+1)! = [T D; 0 T],   D = derivative of T(ψ) in the direction u
 *               with D = −b u~ + c (u~ψ~ + ψ~u~) + (ψ·u) (−b' ψ~ + c' ψ~²)
 *   T₆⁻¹(u,ψ)   = [T⁻¹ −T⁻¹ D T⁻¹; 0 T⁻¹] */
#include "lie/lie_impl.h"
#include "lie/mat3.h"

/* A = [P S; 0 P], 6×6 row-major, as all operators here are. */
static void assemble(double *A, const double *P, const double *S)
{
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      A[6 * i + j] = A[6 * (i + 3) + j + 3] = P[3 * i + j];
      A[6 * i + j + 3] = S[3 * i + j];
      A[6 * (i + 3) + j] = 0;
    }
}

static void se3_identity(const ga__part *p, double *q)
{
  q[0] = q[1] = q[2] = 0;
  ga__kind_so3.identity(p, q + 3);
}

/* (x, R)∘(x', R') = (x + R x', R R') */
static void se3_compose(const ga__part *p, double *q, const double *a, const double *b)
{
  (void)p;
  ga__mat3_mul_vec(q, a + 3, b);
  for (int i = 0; i < 3; i++) q[i] += a[i];
  ga__mat3_mul(q + 3, a + 3, b + 3);
}

/* (−Rᵀx, Rᵀ) */
static void se3_inverse(const ga__part *p, double *q, const double *a)
{
  (void)p;
  ga__mat3_tmul_vec(q, a + 3, a);
  for (int i = 0; i < 3; i++) q[i] = -q[i];
  ga__mat3_transpose(q + 3, a + 3);
}

/* T(ψ)ᵀ u = u + b ψ×u + c ψ×(ψ×u), computed as a u + b ψ×u + c (ψ·u) ψ. */
static void se3_exp(const ga__part *p, double *q, const double *d)
{
  const double *u = d, *psi = d + 3;
  ga__trig t;
  (void)p;
  ga__trig_eval(&t, ga__vec3_dot(psi, psi));
  ga__so3_exp(q + 3, psi, &t);
  ga__vec3_cross(q, psi, u);
  const double along = t.c * ga__vec3_dot(psi, u);
  for (int i = 0; i < 3; i++) q[i] = t.a * u[i] + t.b * q[i] + along * psi[i];
}

static void se3_log(const ga__part *p, double *d, const double *q)
{
  double Tinv[9];
  ga__trig t;
  (void)p;
  ga__so3_log(d + 3, q + 3);
  ga__trig_eval(&t, ga__vec3_dot(d + 3, d + 3));
  ga__so3_tangent_inverse(Tinv, d + 3, &t);
  ga__mat3_tmul_vec(d, Tinv, q);
}

/* xdot = R U on the left, U + ω × x on the right. */
static void se3_rate(const ga__part *p, double *qdot, const double *q, const double *v)
{
  if (p->sign > 0) {
    ga__mat3_mul_vec(qdot, q + 3, v);
  } else {
    ga__vec3_cross(qdot, v + 3, q);
    for (int i = 0; i < 3; i++) qdot[i] += v[i];
  }
  ga__so3_rate(qdot + 3, p->sign, q + 3, v + 3);
}

/* [(u,ψ), (u',ψ')] = (ψ × u' − ψ' × u, ψ × ψ') */
static void se3_bracket(const ga__part *p, double *c, const double *a, const double *b)
{
  double other[3];
  ga__vec3_cross(c, a + 3, b);
  ga__vec3_cross(other, b + 3, a);
  for (int i = 0; i < 3; i++) c[i] = p->sign * (c[i] - other[i]);
  ga__so3_part_bracket(p, c + 3, a + 3, b + 3);
}

static void se3_add_bracket(const ga__part *p, double *c, double factor, const double *a, const double *b)
{
  double own[6];
  se3_bracket(p, own, a, b);
  for (int i = 0; i < 6; i++) c[i] += factor * own[i];
}

static void se3_ad(const ga__part *p, double *A, const double *a)
{
  double P[9], S[9];
  ga__mat3_skew(P, p->sign, a + 3);
  ga__mat3_skew(S, p->sign, a);
  assemble(A, P, S);
}

/* D, with u~ψ~ + ψ~u~ = uψᵀ + ψuᵀ − 2(ψ·u) I and ψ~² = ψψᵀ − |ψ|² I. */
static void tangent_derivative(double *D, const double *u, const double *psi, const ga__trig *t)
{
  double S[9];
  const double s = ga__vec3_dot(psi, u);
  ga__mat3_about(D, -s * (2 * t->c + ga__vec3_dot(psi, psi) * t->dc), -s * t->db, s * t->dc, psi);
  ga__mat3_skew(S, -t->b, u);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) D[3 * i + j] += S[3 * i + j] + t->c * (u[i] * psi[j] + psi[i] * u[j]);
}

static void se3_tangent(const ga__part *p, double *T, const double *d)
{
  double side[6], P[9], D[9];
  ga__trig t;
  for (int i = 0; i < 6; i++) side[i] = p->sign * d[i];
  ga__trig_eval(&t, ga__vec3_dot(side + 3, side + 3));
  ga__so3_tangent(P, side + 3, &t);
  tangent_derivative(D, side, side + 3, &t);
  assemble(T, P, D);
}

static void tangent_ad(const ga__part *p, double *T, double *TA, const double *d, double kappa,
                       const double *a)
{
  double A[36];
  se3_tangent(p, T, d);
  se3_ad(p, A, a);
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++) {
      double sum = 0.0;
      for (int k = 0; k < 6; k++) sum += T[6 * i + k] * A[6 * k + j];
      TA[6 * i + j] = T[6 * i + j] + kappa * sum;
    }
}

static void se3_tangent_ads(const ga__part *const *part, int n, double *T, double *TA, const double *d,
                            double kappa, const double *a)
{
  for (int i = 0; i < n; i++)
    tangent_ad(part[i], T + part[i]->packed, TA + part[i]->packed, d + part[i]->v, kappa, a + part[i]->v);
}

static void se3_tangent_inverse(const ga__part *p, double *Tinv, const double *d)
{
  double side[6], P[9], D[9], minus_PD[9];
  ga__trig t;
  for (int i = 0; i < 6; i++) side[i] = p->sign * d[i];
  ga__trig_eval(&t, ga__vec3_dot(side + 3, side + 3));
  ga__so3_tangent_inverse(P, side + 3, &t);
  tangent_derivative(D, side, side + 3, &t);
  ga__mat3_mul(minus_PD, P, D);
  for (int i = 0; i < 9; i++) minus_PD[i] = -minus_PD[i];
  ga__mat3_mul(D, minus_PD, P);
  assemble(Tinv, P, D);
}

static void se3_exponent_rates(const ga__part *const *part, int n, double *out, const double *d,
                               const double *v)
{
  for (int i = 0; i < n; i++) {
    const double *own = v + part[i]->v;
    double Tinv[36], rate[6];
    se3_tangent_inverse(part[i], Tinv, d + part[i]->v);
    for (int k = 0; k < 6; k++) {
      rate[k] = 0;
      for (int j = 0; j < 6; j++) rate[k] += Tinv[6 * k + j] * own[j];
    }
    for (int k = 0; k < 6; k++) out[part[i]->v + k] = rate[k];
  }
}

static void se3_tidy(const ga__part *p, double *q)
{
  (void)p;
  ga__so3_tidy(q + 3);
}

static double se3_defect(const ga__part *p, const double *q)
{
  (void)p;
  return ga__larger(ga__not_finite(q, 3), ga__so3_defect(q + 3));
}

static void se3_normalise(const ga__part *p, double *q)
{
  (void)p;
  ga__so3_normalise(q + 3);
}

const ga__kind ga__kind_se3 = {
    .nq = 12,
    .nv = 6,
    .block = 6,
    .identity = se3_identity,
    .compose = se3_compose,
    .inverse = se3_inverse,
    .exp = se3_exp,
    .log = se3_log,
    .move = ga__part_move,
    .difference = ga__part_difference,
    .rate = se3_rate,
    .bracket = se3_bracket,
    .add_bracket = se3_add_bracket,
    .tangent = se3_tangent,
    .tangent_inverse = se3_tangent_inverse,
    .ad = se3_ad,
    .tangent_ads = se3_tangent_ads,
    .exponent_rates = se3_exponent_rates,
    .tidy = se3_tidy,
    .defect = se3_defect,
    .normalise = se3_normalise,
};
