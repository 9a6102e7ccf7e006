/* Curves through nodes, as weights of the nodes' places.
 *
 * Splines, of beams. Between nodes i and i + 1, h apart, with ξ = (s − s_i)/h and b = r'' at nodes:
 *
 *   r = (1 − ξ) x_i + ξ x_{i+1} + h²/6 (((1 − ξ)³ − (1 − ξ)) b_i + (ξ³ − ξ) b_{i+1})
 *
 * r' is continuous where, with h₋ and h₊ on both sides of node i,
 *
 *   h₋ b_{i−1} + 2 (h₋ + h₊) b_i + h₊ b_{i+1} = 6 ((x_{i+1} − x_i)/h₊ − (x_i − x_{i−1})/h₋)
 *
 * At the ends r''' is continuous at the second and at the last but one node, which gives b₀ and b_n by their
 * neighbours: b₀ = (1 + p) b₁ − p b₂, p = h₀/h₁.
 *
 * Cables. With J_i the jump of the slope of the polygon at node i,
 *
 *   r = (1 − ξ) x_i + ξ x_{i+1} + h a(ξ) J_i + h a(1 − ξ) J_{i+1},   a = (1 − x)³ (γ + (3γ − ½) x)
 *
 * is smooth, as a'(0) = −½, a(1) = a'(1) = a''(1) = 0. A force F at s acts on nodes by the weights N. Under
 * tension H the deflection at s is that of a continuous string less F Σ_ij N_i N_j |s_i − s_j|/2H, within
 * even nodes
 *
 *   F h (ξ (1 − ξ) + 2 a (1 − ξ) + 2 b ξ − 2 a² + 2 a b − 2 b²)/H,   a = a(ξ), b = a(1 − ξ)
 *
 * Its change with ξ is a force along the cable that is not there. γ = 1/6, a cubic B-spline, leaves 0.026 h
 * of it, a curve through the nodes, γ = 0, ten times as much; γ = 0.185 nearly nothing for small angles of
 * the kink, 0.195 for angles up to 70 deg: below 0.5 % of F; 2.4 % at 84 deg. */
#include "mbs/node_spline.h"

#include <math.h>
#include <string.h>

#define GAMMA 0.195

static double piece(const ga__node_spline *c, int i)
{
  return c->s[i + 1] - c->s[i];
}

/* Right sides of row i for x_j = 1 at node j alone. */
static double right_side(const ga__node_spline *c, int i, int j)
{
  const double before = 6 / piece(c, i - 1), after = 6 / piece(c, i);
  return j == i - 1 ? before : j == i ? -before - after : j == i + 1 ? after : 0;
}

/* b[n + 1] for x_j = 1 at node j alone; work[n + 1]. The matrix is diagonally dominant. */
static void solve_for(const ga__node_spline *c, int j, double *b, double *work)
{
  const int n = c->n;
  const double p = piece(c, 0) / piece(c, 1), q = piece(c, n - 1) / piece(c, n - 2);
  for (int i = 1; i < n; i++) {
    double lower = piece(c, i - 1), upper = piece(c, i), diagonal = 2 * (lower + upper);
    if (i == n - 1) diagonal += upper * (1 + q), lower -= upper * q;
    if (i == 1) diagonal += piece(c, 0) * (1 + p), upper -= piece(c, 0) * p;
    const double pivot = diagonal - (i > 1 ? lower * work[i - 1] : 0);
    work[i] = upper / pivot;
    b[i] = (right_side(c, i, j) - (i > 1 ? lower * b[i - 1] : 0)) / pivot;
  }
  for (int i = n - 2; i >= 1; i--) b[i] -= work[i] * b[i + 1];
  b[0] = (1 + p) * b[1] - p * b[2];
  b[n] = (1 + q) * b[n - 1] - q * b[n - 2];
}

ga_status ga__node_spline_make(ga_context *ctx, int n, const double *s, int cable, ga__node_spline *out)
{
  const size_t nodes = (size_t)n + 1;
  *out = (ga__node_spline){.n = n, .s = s};
  if (cable) return GA_OK;
  out->bend = ga__alloc(ctx, nodes * nodes, sizeof *out->bend);
  double *b = ga__alloc(ctx, 2 * nodes, sizeof *b);
  for (int j = 0; out->bend && b && j <= n; j++) {
    solve_for(out, j, b, b + nodes);
    for (size_t i = 0; i < nodes; i++) out->bend[i * nodes + (size_t)j] = b[i];
  }
  const int made = out->bend && b;
  ga__free(ctx, b);
  return made ? GA_OK : ga__no_memory(ctx, "a curve through nodes");
}

void ga__node_spline_free(ga_context *ctx, ga__node_spline *c)
{
  ga__free(ctx, c->bend);
  c->bend = NULL;
}

static int find_piece(const ga__node_spline *c, double s)
{
  int low = 0, high = c->n;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    if (c->s[middle] <= s)
      low = middle;
    else
      high = middle;
  }
  return low;
}

/* a and its derivatives by x. */
static void rounding(double gamma, double x, double a[GA__SPLINE_ORDERS])
{
  const double y = 1 - x, c = 3 * gamma - 0.5, line = gamma + c * x;
  a[0] = y * y * y * line;
  a[1] = y * y * (c * y - 3 * line);
  a[2] = 6 * y * (line - c * y);
  a[3] = 18 * c * y - 6 * line;
}

/* Adds the part of the kink of the polygon at node k, an end of piece i. */
static void add_kink(const ga__node_spline *c, int i, int k, double s, double *weight)
{
  const int nodes = c->n + 1, after = k > i;
  if (k == 0 || k == c->n) return;
  const double h = piece(c, i), before = 1 / piece(c, k - 1), behind = 1 / piece(c, k);
  const double gamma = GAMMA * fmin(piece(c, k - 1), piece(c, k)) / h; /* h γ is the same on both sides */
  double a[GA__SPLINE_ORDERS], scale = h;
  rounding(gamma, (after ? c->s[k] - s : s - c->s[k]) / h, a);
  for (int order = 0; order < GA__SPLINE_ORDERS; order++, scale *= after ? -1 / h : 1 / h) {
    weight[order * nodes + k - 1] += scale * a[order] * before;
    weight[order * nodes + k] -= scale * a[order] * (before + behind);
    weight[order * nodes + k + 1] += scale * a[order] * behind;
  }
}

void ga__node_spline_at(const ga__node_spline *c, double s, double *weight)
{
  const int i = find_piece(c, s), nodes = c->n + 1;
  const double h = piece(c, i), x = (s - c->s[i]) / h, y = 1 - x;
  memset(weight, 0, GA__SPLINE_ORDERS * (size_t)nodes * sizeof *weight);
  weight[i] = y, weight[i + 1] = x;
  weight[nodes + i] = -1 / h, weight[nodes + i + 1] = 1 / h;
  if (!c->bend) {
    add_kink(c, i, i, s, weight);
    add_kink(c, i, i + 1, s, weight);
    return;
  }
  const double *a = c->bend + (size_t)i * (size_t)nodes, *b = a + nodes;
  const double by_a[GA__SPLINE_ORDERS] = {h * h / 6 * (y * y * y - y), h / 6 * (1 - 3 * y * y), y, -1 / h},
               by_b[GA__SPLINE_ORDERS] = {h * h / 6 * (x * x * x - x), h / 6 * (3 * x * x - 1), x, 1 / h};
  for (int k = 0; k < GA__SPLINE_ORDERS; k++)
    for (int j = 0; j < nodes; j++) weight[k * nodes + j] += by_a[k] * a[j] + by_b[k] * b[j];
}
