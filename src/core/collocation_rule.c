/* Nodes and weights of collocation: Lobatto IIIA (even orders) and Radau IIA (odd orders), Hairer & Wanner,
 * Solving Ordinary Differential Equations II, section IV.5. */
#include "core/collocation.h"

#include <math.h>
#include <string.h>

/* Nodes c[1] ... c[M − 1]; those of Lobatto are symmetric, roots of P'_M, those of Radau roots of
 * P_M − P_{M−1}, both shifted to [0, 1]. Returns 0 if there are none. */
static int set_nodes(ga__colloc_rule *r)
{
  double *c = r->c;
  const double root = r->stages == 5 ? sqrt(7.0) : 0.0;
  switch (r->order) {
  case 4: c[1] = 0.5; break;
  case 6: c[1] = 0.5 - sqrt(5.0) / 10.0; break;
  case 8: c[1] = 0.5 - sqrt(21.0) / 14.0, c[2] = 0.5; break;
  case 10:
    c[1] = 0.5 - 0.5 * sqrt((7.0 + 2.0 * root) / 21.0);
    c[2] = 0.5 - 0.5 * sqrt((7.0 - 2.0 * root) / 21.0);
    break;
  case 3: c[1] = 1.0 / 3.0; break;
  case 5: c[1] = (4.0 - sqrt(6.0)) / 10.0, c[2] = (4.0 + sqrt(6.0)) / 10.0; break;
  case 7: c[1] = 0.088587959512703947, c[2] = 0.40946686444073471, c[3] = 0.78765946176084706; break;
  default: return 0;
  }
  for (int m = 1; r->first == 0 && 2 * m < r->stages; m++) c[r->stages - m] = 1.0 - c[m];
  c[0] = 0.0;
  c[r->stages] = 1.0;
  return 1;
}

/* ℓ_j = Π (s − c_i)/(c_j − c_i) */
static void set_polynomials(ga__colloc_rule *r)
{
  for (int j = r->first; j <= r->stages; j++) {
    double *p = r->coefficient[j];
    int degree = 0;
    p[0] = 1.0;
    for (int i = r->first; i <= r->stages; i++) {
      if (i == j) continue;
      const double scale = 1.0 / (r->c[j] - r->c[i]);
      p[++degree] = 0.0;
      for (int k = degree; k > 0; k--) p[k] = scale * (p[k - 1] - r->c[i] * p[k]);
      p[0] *= -r->c[i] * scale;
    }
  }
}

/* Inverse of A without row and column 0, by Gauss-Jordan elimination with pivots on the diagonal, which are
 * far from 0 in these matrices. */
static void invert(ga__colloc_rule *r)
{
  const int n = r->stages;
  double a[GA__NODES][GA__NODES];
  memcpy(a, r->A, sizeof a);
  for (int i = 1; i <= n; i++)
    for (int j = 1; j <= n; j++) r->inverse[i][j] = i == j;
  for (int k = 1; k <= n; k++) {
    const double pivot = 1.0 / a[k][k];
    for (int j = 1; j <= n; j++) a[k][j] *= pivot, r->inverse[k][j] *= pivot;
    for (int i = 1; i <= n; i++) {
      const double factor = i == k ? 0.0 : a[i][k];
      for (int j = 1; j <= n; j++) a[i][j] -= factor * a[k][j], r->inverse[i][j] -= factor * r->inverse[k][j];
    }
  }
}

/* Q = Uᵀ, A₁ᵀ = L U with ones on the diagonal of L (Weiser, BIT 55, 2015): sweeps by Q instead of the diagonal
 * of A converge for stiff equations too. */
static void split(ga__colloc_rule *r)
{
  const int n = r->stages;
  double u[GA__NODES][GA__NODES];
  for (int i = 1; i <= n; i++)
    for (int j = 1; j <= n; j++) u[i][j] = r->A[j][i];
  for (int k = 1; k <= n; k++)
    for (int i = k + 1; i <= n; i++) {
      const double factor = u[i][k] / u[k][k];
      for (int j = k; j <= n; j++) u[i][j] -= factor * u[k][j];
    }
  for (int i = 1; i <= n; i++)
    for (int j = 1; j <= i; j++) r->Q[i][j] = u[j][i];
}

static void set_kappa(ga__colloc_rule *r)
{
  for (int m = 1; m <= r->stages; m++) {
    r->kappa[m] = r->c[m];
    for (int j = r->first; j <= r->stages; j++) {
      if (j != m) r->kappa[m] *= r->c[m] - r->c[j];
      if (j != r->stages) r->kappa[m] /= 1.0 - r->c[j];
    }
  }
}

int ga__colloc_rule_make(int order, ga__colloc_rule *out)
{
  memset(out, 0, sizeof *out);
  out->order = order;
  out->first = order % 2;
  out->stages = (order + 1) / 2;
  if (out->stages < GA__STAGES_LEAST || out->stages > GA__MOST_STAGES || !set_nodes(out)) {
    out->stages = 0;
    return 0;
  }
  set_polynomials(out);
  for (int m = 1; m <= out->stages; m++) ga__colloc_integrals(out, out->c[m], out->A[m]);
  invert(out);
  split(out);
  set_kappa(out);
  return 1;
}

void ga__colloc_weights(const ga__colloc_rule *rule, double s, double *w)
{
  const int degree = rule->stages - rule->first;
  w[0] = 0.0;
  for (int j = rule->first; j <= rule->stages; j++) {
    w[j] = 0.0;
    for (int k = degree; k >= 0; k--) w[j] = w[j] * s + rule->coefficient[j][k];
  }
}

void ga__colloc_integrals(const ga__colloc_rule *rule, double s, double *w)
{
  const int degree = rule->stages - rule->first;
  w[0] = 0.0;
  for (int j = rule->first; j <= rule->stages; j++) {
    w[j] = 0.0;
    for (int k = degree; k >= 0; k--) w[j] = (w[j] + rule->coefficient[j][k] / (k + 1)) * s;
  }
}
