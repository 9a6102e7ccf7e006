/* Bending of cables: an energy of the angle between neighbouring elements, without rotations as unknowns.
 *
 * Let d be the vector along an element, L its length without tension, l = (La + Lb)/2 the length that belongs
 * to the node between elements a and b. With directions u(d) and w = u_b − u_a, s = |w|²,
 *
 *   U = (EI/2l) G(s),   G = s + s²/12 + s³/90
 *
 * For unit vectors s = 4 sin²(θ/2), and G is the series of θ² up to s³: a circle has curvature θ/l, for even
 * and uneven elements alike, up to 4/35 (θ/2)⁶ of U. G is smooth for every angle; its moment grows up to an
 * angle of 110° between two elements and is 0 where one is folded back onto the other.
 *
 * Directions. d/|d| has no limit for d = 0, and nothing prevents a slack element from becoming short. So
 *
 *   u = d/|d|   for |d| >= L,   u = (d/L)(15 − 10 σ + 3 σ²)/8,  σ = |d|²/L²,   below
 *
 * a polynomial of d whose size increases from 0 to 1 and joins with two continuous derivatives; forces
 * therefore have a continuous derivative, and never exceed (15/4) |p|/L. In both cases
 *
 *   J = ∂u/∂d = g₀ I + g₁ d dᵀ,   ∂(J p)/∂d = g₁ (p dᵀ + d pᵀ + (d·p) I) + g₂ (d·p) d dᵀ,   symmetric.
 *
 * Damping (Kelvin–Voigt): M = EI (θ + τ θ')/l, θ' = G' w·w'/√G; with γ = G'² s/G it is the force
 *
 *   p = (EI/l) (G' w + τ γ (w·w') w/s)
 *
 * which depends on the angle alone, so that no rigid motion is damped. It has no limit for w → 0, where the
 * plane of bending can change at once; for angles below θ₀, s₀ = θ₀², the change of the plane is damped too:
 *
 *   w/s (w·w')  →  (s + 2 s₀)/(s + s₀)² (w·w') w + s₀²/(s + s₀)² w'
 *
 * This is w' near the straight line and, for every s, where bending stays in one plane. θ₀/l is a thousandth
 * of one radian along the whole cable; a rigid motion is then damped by (s₀/s)² of what w' would be. */
#include "mbs/cable_bend.h"

#include "lie/mat3.h"
#include <math.h>
#include <string.h>

/* Turning along the whole cable, [rad], below which the plane of bending is not distinguished. */
#define STILL_STRAIGHT 1e-3

/* ---- Building ---- */

ga_status ga__bending_create(ga_context *ctx, double EI, double damping, int first, int n, const double *s,
                             const int *pair, ga__bending *out)
{
  *out = (ga__bending){EI, damping, STILL_STRAIGHT / s[n], first, n, s, pair, NULL};
  if (EI == 0 || n < 2) return GA_OK;
  out->far = ga__alloc(ctx, 2 * (size_t)(n - 1), sizeof *out->far);
  return out->far ? GA_OK : ga__no_memory(ctx, "a cable");
}

ga_status ga__bending_want(ga__mbs_model *b, const ga__bending *u)
{
  ga_status status = GA_OK;
  for (int i = 0; i < 2 * (u->n - 1) && !status; i++) {
    const int node = u->first + i / 2;
    status = ga__want_block(b, i % 2 ? node + 2 : node, i % 2 ? node : node + 2, 0);
  }
  return status;
}

void ga__bending_bind(ga__mbs_model *b, ga__bending *u)
{
  for (int i = 0; i < 2 * (u->n - 1); i++) {
    const int node = u->first + i / 2;
    u->far[i] = ga__find_pair(&b->pattern, i % 2 ? node + 2 : node, i % 2 ? node : node + 2);
  }
}

/* The pair of two nodes of the cable, at most two apart. */
static int pair_of(const ga__bending *u, int row, int column)
{
  switch (column - row) {
  case 0:
    return row < u->n ? u->pair[4 * row] : u->pair[4 * row - 1];
  case 1:
    return u->pair[4 * row + 1];
  case -1:
    return u->pair[4 * column + 2];
  case 2:
    return u->far[2 * row];
  default:
    return u->far[2 * column + 1];
  }
}

/* ---- Directions of elements ---- */

typedef struct direction {
  double d[3], v[3];    /* along the element, and the rate of it */
  double u[3], rate[3]; /* its direction and the rate of that */
  double g[3];          /* g₀, g₁, g₂ */
} direction;

/* J p */
static void turn(const direction *a, const double p[3], double out[3])
{
  const double along = a->g[1] * ga__vec3_dot(a->d, p);
  for (int k = 0; k < 3; k++) out[k] = a->g[0] * p[k] + along * a->d[k];
}

static void turn_matrix(const direction *a, double J[9])
{
  ga__mat3_about(J, a->g[0], 0, a->g[1], a->d);
}

/* ∂(J p)/∂d */
static void turn_slopes(const direction *a, const double p[3], double H[9])
{
  const double dp = ga__vec3_dot(a->d, p);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      H[3 * i + j] =
          a->g[1] * (p[i] * a->d[j] + a->d[i] * p[j] + (i == j) * dp) + a->g[2] * dp * (a->d[i] * a->d[j]);
}

static void direction_of(direction *a, const ga__eval *e, const ga__bending *u, int i)
{
  const ga__kin *end = &e->kin[u->first + i];
  const double L = u->s[i + 1] - u->s[i];
  for (int k = 0; k < 3; k++) {
    a->d[k] = end[1].x[k] - end[0].x[k];
    a->v[k] = end[1].w[k] - end[0].w[k];
  }
  const double size = sqrt(ga__vec3_dot(a->d, a->d)), x = size / L, sigma = x * x;
  const int taut = x >= 1;
  a->g[0] = (taut ? 1 / x : (15 - sigma * (10 - 3 * sigma)) / 8) / L;
  a->g[1] = (taut ? -1 / (x * sigma) : (3 * sigma - 5) / 2) / (L * L * L);
  a->g[2] = (taut ? 3 / (x * sigma * sigma) : 3) / (L * L * L * L * L);
  for (int k = 0; k < 3; k++) a->u[k] = a->g[0] * a->d[k];
  turn(a, a->v, a->rate);
}

/* ---- Bending at a node ---- */

typedef struct bend {
  double l, w[3], rate[3], s;
  double elastic[3], p[3]; /* ∂U/∂w; with damping */
} bend;

/* Coefficients of w (w·w') and of w' in the damping, and their derivatives by s. */
typedef struct friction {
  double radial, radial_by_s, all, all_by_s;
} friction;

static double first_by_s(double s)
{
  return 1 + s * (1.0 / 6 + s / 30);
}

static double second_by_s(double s)
{
  return 1.0 / 6 + s / 15;
}

static friction friction_of(const ga__bending *u, const bend *b)
{
  const double s = b->s, s0 = (u->still * b->l) * (u->still * b->l), k = 1 / (s + s0);
  const double G1 = first_by_s(s), ratio = 1 + s * (1.0 / 12 + s / 90); /* G/s */
  const double gamma = G1 * G1 / ratio,
               gamma_by_s = (2 * G1 * second_by_s(s) - gamma * (1.0 / 12 + s / 45)) / ratio;
  const double radial = (s + s0 + s0) * k * k, all = (s0 * k) * (s0 * k);
  return (friction){gamma * radial, gamma_by_s * radial - gamma * (s + 3 * s0) * k * k * k, gamma * all,
                    gamma_by_s * all - 2 * gamma * all * k};
}

static void bend_of(bend *b, const ga__bending *u, int node, const direction *before, const direction *after)
{
  b->l = 0.5 * (u->s[node + 1] - u->s[node - 1]);
  for (int k = 0; k < 3; k++) {
    b->w[k] = after->u[k] - before->u[k];
    b->rate[k] = after->rate[k] - before->rate[k];
  }
  b->s = ga__vec3_dot(b->w, b->w);
  const double EI = u->EI / b->l, G1 = EI * first_by_s(b->s);
  for (int k = 0; k < 3; k++) b->p[k] = b->elastic[k] = G1 * b->w[k];
  if (u->damping == 0) return;
  const friction f = friction_of(u, b);
  const double radial = f.radial * ga__vec3_dot(b->w, b->rate);
  for (int k = 0; k < 3; k++) b->p[k] += EI * u->damping * (radial * b->w[k] + f.all * b->rate[k]);
}

/* A = ∂p/∂w, B = ∂p/∂w' */
static void bend_slopes(const ga__bending *u, const bend *b, double A[9], double B[9])
{
  const double EI = u->EI / b->l, c = EI * u->damping, G1 = first_by_s(b->s), G2 = second_by_s(b->s);
  const double *w = b->w, *r = b->rate, wr = ga__vec3_dot(w, r);
  const friction f = c > 0 ? friction_of(u, b) : (friction){0, 0, 0, 0};
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      const double same = i == j;
      A[3 * i + j] = EI * (G1 * same + 2 * G2 * w[i] * w[j]) +
                     c * (f.radial * (wr * same + w[i] * r[j]) +
                          2 * (f.radial_by_s * wr * w[i] + f.all_by_s * r[i]) * w[j]);
      B[3 * i + j] = c * (f.radial * w[i] * w[j] + f.all * same);
    }
}

/* Bending at a node between 1 and n − 1; elsewhere there is none, and 0 is returned. */
static int bend_at(const ga__eval *e, const ga__bending *u, int node, direction a[2], bend *b)
{
  memset(b, 0, sizeof *b);
  if (node < 1 || node >= u->n) return 0;
  for (int k = 0; k < 2; k++) direction_of(&a[k], e, u, node - 1 + k);
  bend_of(b, u, node, &a[0], &a[1]);
  return 1;
}

/* ∂p/∂d of the element before (k = 0) or after (k = 1) the node, and by its rate. */
static void by_element(const direction *a, int k, const double A[9], const double B[9], double by_d[9],
                       double by_rate[9])
{
  double J[9], H[9], BH[9];
  turn_matrix(a, J);
  turn_slopes(a, a->v, H);
  ga__mat3_mul(by_d, A, J);
  ga__mat3_mul(BH, B, H);
  ga__mat3_mul(by_rate, B, J);
  for (int i = 0; i < 9; i++) {
    by_d[i] = k ? by_d[i] + BH[i] : -by_d[i] - BH[i];
    by_rate[i] = k ? by_rate[i] : -by_rate[i];
  }
}

/* ---- Forces: F = J (p − p₊), p at the first node of the element, p₊ at the second ---- */

void ga__bending_force(const ga__eval *e, const ga__bending *u, int i, int elastic, double F[3])
{
  direction own, a[2];
  bend at[2];
  double p[3], f[3];
  direction_of(&own, e, u, i);
  for (int k = 0; k < 2; k++) bend_at(e, u, i + k, a, &at[k]);
  for (int k = 0; k < 3; k++) p[k] = elastic ? at[0].elastic[k] - at[1].elastic[k] : at[0].p[k] - at[1].p[k];
  turn(&own, p, f);
  for (int k = 0; k < 3; k++) F[k] += f[k];
}

void ga__bending_slopes(const ga__eval *e, const ga__bending *u, int i, double by_d[27], double by_rate[27])
{
  direction own, a[2];
  bend at;
  double J[9], H[9], p[3] = {0, 0, 0};
  memset(by_d, 0, 27 * sizeof *by_d);
  memset(by_rate, 0, 27 * sizeof *by_rate);
  direction_of(&own, e, u, i);
  turn_matrix(&own, J);
  for (int node = 0; node < 2; node++) {
    const double sign = node ? -1 : 1;
    double A[9], B[9];
    if (!bend_at(e, u, i + node, a, &at)) continue;
    bend_slopes(u, &at, A, B);
    for (int c = 0; c < 3; c++) p[c] += sign * at.p[c];
    for (int k = 0; k < 2; k++) {
      double X[9], V[9], JX[9], JV[9];
      by_element(&a[k], k, A, B, X, V);
      ga__mat3_mul(JX, J, X);
      ga__mat3_mul(JV, J, V);
      for (int c = 0; c < 9; c++) {
        by_d[9 * (node + k) + c] += sign * JX[c];
        by_rate[9 * (node + k) + c] += sign * JV[c];
      }
    }
  }
  turn_slopes(&own, p, H);
  for (int c = 0; c < 9; c++) by_d[9 + c] += H[c];
}

/* The force F of element i acts on its nodes with signs +, −; the vector along element j has its nodes with
 * signs −, +. */
static void add_tiles(const ga__eval *e, const ga__bending *u, int i, int j, double scale, const double K[9],
                      double *to)
{
  for (int r = 0; r < 2; r++)
    for (int c = 0; c < 2; c++)
      ga__add_tile(to, e->b, pair_of(u, i + r, j + c), GA__XX, r == c ? scale : -scale, K);
}

void ga__bending_jacobian(const ga__eval *e, const ga__bending *u, ga_jacobian *J)
{
  for (int i = 0; i < u->n; i++) {
    double by_d[27], by_rate[27];
    ga__bending_slopes(e, u, i, by_d, by_rate);
    for (int k = 0; k < 3; k++) {
      const int j = i - 1 + k;
      if (j < 0 || j >= u->n) continue;
      if (J->want & GA_WANT_Q) add_tiles(e, u, i, j, 1, by_d + 9 * k, J->Q);
      if (J->want & GA_WANT_D && u->damping > 0) add_tiles(e, u, i, j, J->shift_v, by_rate + 9 * k, J->D);
    }
  }
}

/* ---- Energy ---- */

void ga__bending_energy(const ga__eval *e, const ga__bending *u, double *stored, double *lost)
{
  *stored = *lost = 0;
  for (int node = 1; node < u->n; node++) {
    direction a[2];
    bend at;
    bend_at(e, u, node, a, &at);
    *stored += 0.5 * u->EI / at.l * at.s * (1 + at.s * (1.0 / 12 + at.s / 90));
    for (int k = 0; k < 3; k++) *lost += (at.p[k] - at.elastic[k]) * at.rate[k];
  }
}

/* ---- Moment: ½ (u_a + u_b) × p, which is u_a × p and u_b × p where p is along w ---- */

void ga__bending_moment(const ga__eval *e, const ga__bending *u, int node, double M[3])
{
  direction a[2];
  bend at;
  double mean[3];
  memset(M, 0, 3 * sizeof *M);
  if (!bend_at(e, u, node, a, &at)) return;
  for (int k = 0; k < 3; k++) mean[k] = 0.5 * (a[0].u[k] + a[1].u[k]);
  ga__vec3_cross(M, mean, at.p);
}

void ga__bending_moment_slopes(const ga__eval *e, const ga__bending *u, int node, double by_d[18],
                               double by_rate[18])
{
  direction a[2];
  bend at;
  double mean[3], cross[9], arm[9], A[9], B[9];
  bend_at(e, u, node, a, &at);
  bend_slopes(u, &at, A, B);
  for (int k = 0; k < 3; k++) mean[k] = 0.5 * (a[0].u[k] + a[1].u[k]);
  ga__mat3_skew(cross, 1, mean);
  ga__mat3_skew(arm, -0.5, at.p);
  for (int k = 0; k < 2; k++) {
    double J[9], X[9], V[9], turned[9];
    turn_matrix(&a[k], J);
    by_element(&a[k], k, A, B, X, V);
    ga__mat3_mul(by_d + 9 * k, cross, X);
    ga__mat3_mul(by_rate + 9 * k, cross, V);
    ga__mat3_mul(turned, arm, J);
    for (int c = 0; c < 9; c++) by_d[9 * k + c] += turned[c];
  }
}
