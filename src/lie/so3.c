/* SO(3): rotation matrices, row-major. f = |ψ|, and a, b, c, b', c' as in ga__trig:
 *   exp ψ  = I + a ψ~ + b ψ~²
 *   T(ψ)   = I − b ψ~ + c ψ~²,   exp(ψ+δ) = exp(ψ) exp(T δ + O(δ²))
 *   T⁻¹(ψ) = I + ½ ψ~ + e ψ~²,   e = (1 − (f/2) cot(f/2)) / f² */
#include "base/quad.h"
#include "lie/lie_impl.h"
#include "lie/mat3.h"
#include <math.h>

/* Series are used below this f². Above, cancellation in the closed forms is small; it is largest in c', a
 * difference of terms near 0.4 that is 0.055 at f = 2. */
#define SERIES_X 4.0

/* Stumpff's functions c_k(x) = Σ_j (−x)^j / (k+2j)! satisfy c_k = 1/k! − x c_{k+2}, and
 *
 *   a = c_1,   b = c_2,   c = c_3,   b' = (c_1 − 2 c_2)/x = 2 c_4 − c_3,   c' = (c_2 − 3 c_3)/x = 3 c_5 − c_4
 *
 * so two series are enough. The first omitted term is 4e-17 of c_4 at SERIES_X. Up to SMALL_X, the range of
 * steps of a simulation, half of the terms are enough, and three up to TINY_X, where the fourth is 7e-18 of
 * c_4. */
#define SMALL_X 0.01
#define TINY_X 1e-4
static void trig_series(ga__trig *t, double x)
{
  static const double inverse_factorial[][2] = {
      {1 / 24.0, 1 / 120.0}, /* 1/4!, 1/5! */
      {1 / 720.0, 1 / 5040.0},
      {1 / 40320.0, 1 / 362880.0},
      {1 / 3628800.0, 1 / 39916800.0},
      {1 / 479001600.0, 1 / 6227020800.0},
      {1 / 87178291200.0, 1 / 1307674368000.0},
      {1 / 20922789888000.0, 1 / 355687428096000.0},
      {1 / 6402373705728000.0, 1 / 121645100408832000.0},
      {1 / 2432902008176640000.0, 1 / 51090942171709440000.0},
      {1 / 1124000727777607680000.0, 1 / 25852016738884976640000.0}, /* 1/22!, 1/23! */
  };
  enum { TERMS = sizeof inverse_factorial / sizeof inverse_factorial[0], FEW_TERMS = TERMS / 2 };
  const int last = x < TINY_X ? 2 : x < SMALL_X ? FEW_TERMS - 1 : TERMS - 1;
  double c4 = inverse_factorial[last][0], c5 = inverse_factorial[last][1];
  for (int k = last - 1; k >= 0; k--) {
    c4 = inverse_factorial[k][0] - x * c4;
    c5 = inverse_factorial[k][1] - x * c5;
  }
  t->b = 0.5 - x * c4;
  t->c = 1 / 6.0 - x * c5;
  t->a = 1 - x * t->c;
  t->db = 2 * c4 - t->c;
  t->dc = 3 * c5 - c4;
}

/* By s = sin(f/2), k = cos(f/2): a = 2 s k / f, b = 2 (s/f)², and a − 2b = (2s/f)(k − 2s/f), which keep their
 * relative accuracy where sin f or 1 − cos f vanish. NaN and infinite x come here, and give NaN. */
static void trig_closed(ga__trig *t, double x)
{
  const double f = sqrt(x), r = sin(0.5 * f) / f, k = cos(0.5 * f);
  t->a = 2 * r * k;
  t->b = 2 * r * r;
  t->c = (1 - t->a) / x;
  t->db = 2 * r * (k - 2 * r) / x;
  t->dc = (t->b - 3 * t->c) / x;
}

void ga__trig_eval(ga__trig *t, double x)
{
  if (x < SERIES_X)
    trig_series(t, x);
  else
    trig_closed(t, x);
}

/* With ψ~² = ψψᵀ − x I: 1 − x b = cos f in exp, 1 − x c = a in T, 1 − x e = a/(2b) in T⁻¹. */
void ga__so3_exp(double *R, const double *psi, const ga__trig *t)
{
  ga__mat3_about(R, 1 - ga__vec3_dot(psi, psi) * t->b, t->a, t->b, psi);
}

void ga__so3_tangent(double *T, const double *psi, const ga__trig *t)
{
  ga__mat3_about(T, t->a, -t->b, t->c, psi);
}

void ga__so3_tangent_inverse(double *Tinv, const double *psi, const ga__trig *t)
{
  ga__mat3_about(Tinv, t->a / (2 * t->b), 0.5, ga__trig_e(t), psi);
}

/* By the quaternion of R, times 4 times its largest component: that component is computed from the diagonal
 * and the others from sums and differences of off-diagonal entries, so that nothing cancels, at angle π
 * either. */
void ga__so3_log(double *psi, const double *R)
{
  const double trace = R[0] + R[4] + R[8];
  double p[4];
  int i = 0;
  if (R[4] > R[0]) i = 1;
  if (R[8] > R[4 * i]) i = 2;
  if (trace > R[4 * i]) {
    p[0] = 1 + trace;
    p[1] = R[7] - R[5];
    p[2] = R[2] - R[6];
    p[3] = R[3] - R[1];
  } else {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    p[0] = R[3 * k + j] - R[3 * j + k];
    p[1 + i] = 1 + 2 * R[4 * i] - trace;
    p[1 + j] = R[3 * i + j] + R[3 * j + i];
    p[1 + k] = R[3 * i + k] + R[3 * k + i];
  }
  ga__quat_log(psi, p);
}

/* Rdot = R ω~ on the left, ω~ R on the right. */
void ga__so3_rate(double *Rdot, double sign, const double *R, const double *omega)
{
  double W[9];
  ga__mat3_skew(W, 1, omega);
  if (sign > 0)
    ga__mat3_mul(Rdot, R, W);
  else
    ga__mat3_mul(Rdot, W, R);
}

/* One Newton step to the polar factor, R ← R (3I − RᵀR)/2: a defect ε becomes ¾ε². */
void ga__so3_tidy(double *R)
{
  double S[6];
  ga__mat3_gram(S, R);
  for (int i = 0; i < 6; i++) S[i] *= -0.5;
  const double xx = 1.5 + S[0], xy = S[1], xz = S[2], yy = 1.5 + S[3], yz = S[4], zz = 1.5 + S[5];
  for (int i = 0; i < 9; i += 3) {
    const double x = R[i], y = R[i + 1], z = R[i + 2];
    R[i] = x * xx + y * xy + z * xz;
    R[i + 1] = x * xy + y * yy + z * yz;
    R[i + 2] = x * xz + y * yz + z * zz;
  }
}

double ga__so3_defect(const double *R)
{
  static const double identity[6] = {1, 0, 0, 1, 0, 1};
  double S[6], C[9], worst = 0;
  ga__mat3_gram(S, R);
  for (int i = 0; i < 6; i++) worst = ga__larger(worst, fabs(S[i] - identity[i]));
  return ga__mat3_cofactors(C, R) < 0 ? ga__larger(worst, 2) : worst;
}

/* Polar factor by Newton's iteration X ← ½ (μX + X⁻ᵀ/μ), μ = |det X|^(−1/3), from any non-singular R. A
 * reflection stays one and a singular matrix becomes NaN, so that ga_group_defect() still detects it. */
void ga__so3_normalise(double *R)
{
  double largest = 0;
  for (int i = 0; i < 9; i++) largest = ga__larger(largest, fabs(R[i]));
  for (int i = 0; i < 9; i++) R[i] /= largest; /* avoids over- and underflow of the determinant */
  double change = 1;
  for (int k = 0; k < 50 && change > 1e-9; k++) { /* the remaining error is its square */
    double C[9];
    const double det = ga__mat3_cofactors(C, R), mu = 1 / cbrt(fabs(det));
    change = 0;
    for (int i = 0; i < 9; i++) {
      const double x = 0.5 * (mu * R[i] + C[i] / (mu * det));
      change = ga__larger(change, fabs(x - R[i]));
      R[i] = x;
    }
  }
}

static void so3_identity(const ga__part *p, double *q)
{
  (void)p;
  for (int i = 0; i < 9; i++) q[i] = i % 4 == 0 ? 1 : 0;
}

static void so3_compose(const ga__part *p, double *q, const double *a, const double *b)
{
  (void)p;
  ga__mat3_mul(q, a, b);
}

static void so3_inverse(const ga__part *p, double *q, const double *a)
{
  (void)p;
  ga__mat3_transpose(q, a);
}

static void so3_exp(const ga__part *p, double *q, const double *d)
{
  ga__trig t;
  (void)p;
  ga__trig_eval(&t, ga__vec3_dot(d, d));
  ga__so3_exp(q, d, &t);
}

/* The series are latency-bound: those of this many rotations are computed together. */
enum { TOGETHER = 16 };

static void trigs_of(ga__trig *t, const ga__part *const *part, int n, const double *d)
{
  for (int i = 0; i < n; i++) {
    const double *own = d + part[i]->v;
    ga__trig_eval(&t[i], ga__vec3_dot(own, own));
  }
}

/* As ga__part_move(), in one function and by rows: the most frequent operation on rotations. */
GA__INLINE void move_rows(double sign, double *q1, const double *q, const double *d, const ga__trig *t)
{
  const ga__quad zero = {0, 0, 0, 0};
  ga__quad R[3] = {zero, zero, zero}, S[3] = {zero, zero, zero}, entry[3][3];
  const double alpha = 1 - ga__vec3_dot(d, d) * t->b, x = t->a * d[0], y = t->a * d[1], z = t->a * d[2];
  const double bx = t->b * d[0], by = t->b * d[1], xy = bx * d[1], xz = bx * d[2], yz = by * d[2];
  const double E[3][3] = {{alpha + bx * d[0], xy - z, xz + y}, /* as in ga__so3_exp() */
                          {xy + z, alpha + by * d[1], yz - x},
                          {xz - y, yz + x, alpha + t->b * d[2] * d[2]}};
  if (sign > 0) {
    for (int i = 0; i < 3; i++) S[i] = GA__QUAD3(E[i][0], E[i][1], E[i][2]);
    for (int i = 0; i < 3; i++) R[i] = ga__quad_times(S, q + 3 * i);
  } else {
    S[0] = ga__quad_load(q), S[1] = ga__quad_load(q + 3), S[2] = ga__quad_load3(q + 6);
    for (int i = 0; i < 3; i++) R[i] = S[0] * E[i][0] + S[1] * E[i][1] + S[2] * E[i][2];
  }
  for (int i = 0; i < 3;
       i++) { /* as in ga__so3_tidy(): R (3I − RᵀR)/2, rows of RᵀR being sums of rows of R */
    entry[i][0] = GA__SHUFFLE(R[i], R[i], 0, 0, 0, 0);
    entry[i][1] = GA__SHUFFLE(R[i], R[i], 1, 1, 1, 1);
    entry[i][2] = GA__SHUFFLE(R[i], R[i], 2, 2, 2, 2);
  }
  for (int j = 0; j < 3; j++)
    S[j] = 1.5 * GA__QUAD_UNIT(j) - 0.5 * (entry[0][j] * R[0] + entry[1][j] * R[1] + entry[2][j] * R[2]);
  for (int i = 0; i < 3; i++)
    ga__quad_store3(q1 + 3 * i, entry[i][0] * S[0] + entry[i][1] * S[1] + entry[i][2] * S[2]);
}

GA__WIDE static void so3_moves(const ga__part *const *part, int n, double *q1, const double *q,
                               const double *d)
{
  ga__trig t[TOGETHER];
  for (int from = 0; from < n; from += TOGETHER) {
    const int count = n - from < TOGETHER ? n - from : TOGETHER;
    trigs_of(t, part + from, count, d);
    for (int i = 0; i < count; i++) {
      const ga__part *p = part[from + i];
      move_rows(p->sign, q1 + p->q, q + p->q, d + p->v, &t[i]);
    }
  }
}

static void so3_log(const ga__part *p, double *d, const double *q)
{
  (void)p;
  ga__so3_log(d, q);
}

static void so3_rate(const ga__part *p, double *qdot, const double *q, const double *v)
{
  ga__so3_rate(qdot, p->sign, q, v);
}

void ga__so3_part_bracket(const ga__part *p, double *c, const double *a, const double *b)
{
  c[0] = p->sign * (a[1] * b[2] - a[2] * b[1]);
  c[1] = p->sign * (a[2] * b[0] - a[0] * b[2]);
  c[2] = p->sign * (a[0] * b[1] - a[1] * b[0]);
}

void ga__so3_part_add_bracket(const ga__part *p, double *c, double factor, const double *a, const double *b)
{
  const double k = factor * p->sign;
  c[0] += k * (a[1] * b[2] - a[2] * b[1]);
  c[1] += k * (a[2] * b[0] - a[0] * b[2]);
  c[2] += k * (a[0] * b[1] - a[1] * b[0]);
}

void ga__so3_part_tangent(const ga__part *p, double *T, const double *d)
{
  const double psi[3] = {p->sign * d[0], p->sign * d[1], p->sign * d[2]};
  ga__trig t;
  ga__trig_eval(&t, ga__vec3_dot(psi, psi));
  ga__so3_tangent(T, psi, &t);
}

void ga__so3_part_tangent_inverse(const ga__part *p, double *Tinv, const double *d)
{
  const double psi[3] = {p->sign * d[0], p->sign * d[1], p->sign * d[2]};
  ga__trig t;
  ga__trig_eval(&t, ga__vec3_dot(psi, psi));
  ga__so3_tangent_inverse(Tinv, psi, &t);
}

void ga__so3_part_ad(const ga__part *p, double *A, const double *a)
{
  ga__mat3_skew(A, p->sign, a);
}

/* Rows of T a~ are cross products of the rows of T with a. T as in ga__so3_tangent(), by rows. */
GA__INLINE void tangent_ad_rows(double sign, double *T, double *TA, const double *d, double kappa,
                                const double *a, const ga__trig *t)
{
  const double k = sign * kappa, b = -sign * t->b, x = b * d[0], y = b * d[1], z = b * d[2];
  const double cx = t->c * d[0], cy = t->c * d[1], xy = cx * d[1], xz = cx * d[2], yz = cy * d[2];
  const ga__quad first = GA__QUAD3(t->a + cx * d[0], xy - z, xz + y),
                 second = GA__QUAD3(xy + z, t->a + cy * d[1], yz - x),
                 third = GA__QUAD3(xz - y, yz + x, t->a + t->c * d[2] * d[2]);
  const ga__quad by = GA__QUAD3(k * a[0], k * a[1], k * a[2]);
  ga__quad_store3(T, first);
  ga__quad_store3(T + 3, second);
  ga__quad_store3(T + 6, third);
  ga__quad_store3(TA, first + ga__quad_cross(first, by));
  ga__quad_store3(TA + 3, second + ga__quad_cross(second, by));
  ga__quad_store3(TA + 6, third + ga__quad_cross(third, by));
}

GA__WIDE static void tangents_ad(const ga__part *const *part, int n, double *T, double *TA, const double *d,
                                 double kappa, const double *a)
{
  ga__trig t[TOGETHER];
  for (int from = 0; from < n; from += TOGETHER) {
    const int count = n - from < TOGETHER ? n - from : TOGETHER;
    trigs_of(t, part + from, count, d);
    for (int i = 0; i < count; i++) {
      const ga__part *p = part[from + i];
      tangent_ad_rows(p->sign, T + p->packed, TA + p->packed, d + p->v, kappa, a + p->v, &t[i]);
    }
  }
}

void ga__so3_parts_tangent_ad(const ga__part *const *part, int n, double *T, double *TA, const double *d,
                              double kappa, const double *a)
{
  tangents_ad(part, n, T, TA, d, kappa, a);
}

/* e of T⁻¹ by its own series, Σ |B_2k+2| x^k / (2k+2)!, below this x: the first omitted term is 3e-16 of the
 * sum. */
#define SERIES_E 0.25
static double coefficient_e(double x)
{
  static const double term[] = {1 / 12.0,         1 / 720.0,      1 / 30240.0,
                                1 / 1209600.0,    1 / 47900160.0, 691 / 1307674368000.0,
                                1 / 74724249600.0};
  enum { TERMS = sizeof term / sizeof term[0] };
  if (x < SERIES_E) {
    double e = term[TERMS - 1];
    for (int k = TERMS - 2; k >= 0; k--) e = term[k] + x * e;
    return e;
  }
  ga__trig t;
  ga__trig_eval(&t, x);
  return ga__trig_e(&t);
}

/* T⁻¹ v = v + ½ ψ×v + e ψ×(ψ×v) */
void ga__so3_parts_exponent_rate(const ga__part *const *part, int n, double *out, const double *d,
                                 const double *v)
{
  for (int i = 0; i < n; i++) {
    const double *psi = d + part[i]->v, *own = v + part[i]->v, half = 0.5 * part[i]->sign;
    double *to = out + part[i]->v, once[3], twice[3];
    const double e = coefficient_e(ga__vec3_dot(psi, psi));
    ga__vec3_cross(once, psi, own);
    ga__vec3_cross(twice, psi, once);
    for (int k = 0; k < 3; k++) to[k] = own[k] + half * once[k] + e * twice[k];
  }
}

static void so3_tidy(const ga__part *p, double *q)
{
  (void)p;
  ga__so3_tidy(q);
}

static double so3_defect(const ga__part *p, const double *q)
{
  (void)p;
  return ga__so3_defect(q);
}

static void so3_normalise(const ga__part *p, double *q)
{
  (void)p;
  ga__so3_normalise(q);
}

const ga__kind ga__kind_so3 = {
    .nq = 9,
    .nv = 3,
    .block = 3,
    .identity = so3_identity,
    .compose = so3_compose,
    .inverse = so3_inverse,
    .exp = so3_exp,
    .log = so3_log,
    .difference = ga__part_difference,
    .rate = so3_rate,
    .bracket = ga__so3_part_bracket,
    .add_bracket = ga__so3_part_add_bracket,
    .tangent = ga__so3_part_tangent,
    .tangent_inverse = ga__so3_part_tangent_inverse,
    .ad = ga__so3_part_ad,
    .moves = so3_moves,
    .tangent_ads = ga__so3_parts_tangent_ad,
    .exponent_rates = ga__so3_parts_exponent_rate,
    .tidy = so3_tidy,
    .defect = so3_defect,
    .normalise = so3_normalise,
};
