/* The chain integrated in another way, as a reference: state (θ, ω) of the rods, order 2·columns. */
#include "chain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_COLUMNS = 10 };

typedef struct joint { /* one block row of the equations for the joint forces */
  double d[3];         /* diagonal block, symmetric: xx, xy, yy */
  double u[3];         /* block to the next joint, symmetric */
  double r[2];         /* right-hand side, then the force on the rod below */
} joint;

/* Joint forces F_i on the near end of rod i, −F_{i+1} on its far end. With e = (cos θ, sin θ) and
 * n = (−sin θ, cos θ):
 *
 *   m c''_i = F_i − F_{i+1} + m g,   J α_i = −(l/2) n_i·(F_i + F_{i+1})
 *
 * Equal acceleration of both rods at joint i, with κ = l²/(4J) and N_i = n_i n_iᵀ, at the fixed joint 0, and
 * at the free end:
 *
 *   (−I/m + κN_{i−1}) F_{i−1} + (2I/m + κN_{i−1} + κN_i) F_i + (−I/m + κN_i) F_{i+1}
 *      = −(l/2)(ω²e)_{i−1} − (l/2)(ω²e)_i
 *   (I/m + κN_0) F_0 + (−I/m + κN_0) F_1 = −g − (l/2)(ω²e)_0,   F_n = 0
 */
static void joints_assemble(joint *J, const chain *c, const double *th, const double *om)
{
  const double im = 1.0 / c->m, kappa = 0.25 * c->l * c->l / c->J;
  double N[3] = {0.0, 0.0, 0.0}, w[2] = {0.0, 0.0};
  for (int i = 0; i < c->n; i++) {
    const double cs = cos(th[i]), sn = sin(th[i]), hw = 0.5 * c->l * om[i] * om[i];
    const double Ni[3] = {kappa * sn * sn, -kappa * sn * cs, kappa * cs * cs};
    const double mass = i == 0 ? im : 2.0 * im;
    J[i].d[0] = mass + N[0] + Ni[0];
    J[i].d[1] = N[1] + Ni[1];
    J[i].d[2] = mass + N[2] + Ni[2];
    J[i].u[0] = Ni[0] - im;
    J[i].u[1] = Ni[1];
    J[i].u[2] = Ni[2] - im;
    J[i].r[0] = -w[0] - hw * cs;
    J[i].r[1] = -w[1] - hw * sn + (i == 0 ? c->g : 0.0);
    memcpy(N, Ni, sizeof N);
    w[0] = hw * cs, w[1] = hw * sn;
  }
}

/* Block elimination from the free end upwards, then substitution downwards: r becomes F. */
static void joints_solve(joint *J, int n)
{
  for (int i = n - 1; i >= 0; i--) {
    double *d = J[i].d, *r = J[i].r;
    const double det = d[0] * d[2] - d[1] * d[1];
    const double inv[3] = {d[2] / det, -d[1] / det, d[0] / det};
    const double s0 = inv[0] * r[0] + inv[1] * r[1], s1 = inv[1] * r[0] + inv[2] * r[1];
    r[0] = s0, r[1] = s1;
    if (i == 0) break;
    /* W = inv·U with U = u_{i−1}; the block above loses U W, its right-hand side U r */
    const double *u = J[i - 1].u;
    const double W[4] = {inv[0] * u[0] + inv[1] * u[1], inv[0] * u[1] + inv[1] * u[2],
                         inv[1] * u[0] + inv[2] * u[1], inv[1] * u[1] + inv[2] * u[2]};
    J[i - 1].d[0] -= u[0] * W[0] + u[1] * W[2];
    J[i - 1].d[1] -= u[0] * W[1] + u[1] * W[3];
    J[i - 1].d[2] -= u[1] * W[1] + u[2] * W[3];
    J[i - 1].r[0] -= u[0] * s0 + u[1] * s1;
    J[i - 1].r[1] -= u[1] * s0 + u[2] * s1;
    memcpy(d, inv, sizeof inv); /* kept for the substitution */
  }
  for (int i = 1; i < n; i++) {
    const double *u = J[i - 1].u, *F = J[i - 1].r, *inv = J[i].d;
    const double b0 = u[0] * F[0] + u[1] * F[1], b1 = u[1] * F[0] + u[2] * F[1];
    J[i].r[0] -= inv[0] * b0 + inv[1] * b1;
    J[i].r[1] -= inv[1] * b0 + inv[2] * b1;
  }
}

/* f = (ω, α) at y = (θ, ω) */
static void rate(double *f, const double *y, const chain *c, joint *J)
{
  const int n = c->n;
  joints_assemble(J, c, y, y + n);
  joints_solve(J, n);
  for (int i = 0; i < n; i++) {
    const double *F = J[i].r, zero[2] = {0.0, 0.0}, *F1 = i + 1 < n ? J[i + 1].r : zero;
    f[i] = y[n + i];
    f[n + i] = -0.5 * c->l / c->J * (cos(y[i]) * (F[1] + F1[1]) - sin(y[i]) * (F[0] + F1[0]));
  }
}

/* Gragg's modified midpoint rule over H with `sub` substeps, smoothed at the end. work: 3·2n. */
static void midpoint(double *out, const double *y, const double *f0, double H, int sub, const chain *c,
                     joint *J, double *work)
{
  const int n2 = 2 * c->n;
  const double s = H / sub;
  double *z0 = work, *z1 = work + n2, *f = work + 2 * n2;
  for (int i = 0; i < n2; i++) {
    z0[i] = y[i];
    z1[i] = y[i] + s * f0[i];
  }
  for (int j = 1; j < sub; j++) {
    rate(f, z1, c, J);
    for (int i = 0; i < n2; i++) {
      const double z2 = z0[i] + 2.0 * s * f[i];
      z0[i] = z1[i];
      z1[i] = z2;
    }
  }
  rate(f, z1, c, J);
  for (int i = 0; i < n2; i++) out[i] = 0.5 * (z1[i] + z0[i] + s * f[i]);
}

/* One step of the extrapolation with 2, 4, 6, ... substeps; the error of each is a series in even powers of
 * H. */
static void extrapolate(double *y, double *table, double H, int columns, const chain *c, joint *J,
                        double *work)
{
  const int n2 = 2 * c->n;
  double *f0 = work + 3 * n2;
  rate(f0, y, c, J);
  for (int j = 0; j < columns; j++) {
    midpoint(table + j * n2, y, f0, H, 2 * (j + 1), c, J, work);
    for (int k = j - 1; k >= 0; k--) {
      const double ratio = (double)(j + 1) / (k + 1), weight = 1.0 / (ratio * ratio - 1.0);
      double *Tk = table + k * n2;
      const double *T1 = table + (k + 1) * n2;
      for (int i = 0; i < n2; i++) Tk[i] = T1[i] + weight * (T1[i] - Tk[i]);
    }
  }
  memcpy(y, table, (size_t)n2 * sizeof *y);
}

int chain_tip_by_extrapolation(const chain *c, double t, long n_steps, int columns, double tip[2])
{
  const size_t n2 = 2 * (size_t)c->n;
  if (columns < 2 || columns > MAX_COLUMNS || n_steps < 1) return -1;
  joint *J = calloc((size_t)c->n, sizeof *J);
  double *y = calloc(n2 * (size_t)(5 + columns), sizeof *y);
  int result = -1;
  if (!J || !y) goto done;
  for (long s = 0; s < n_steps; s++) extrapolate(y, y + 5 * n2, t / (double)n_steps, columns, c, J, y + n2);
  tip[0] = tip[1] = 0.0;
  for (int i = 0; i < c->n; i++) {
    tip[0] += c->l * cos(y[i]);
    tip[1] += c->l * sin(y[i]);
  }
  result = 0;
done:
  free(J);
  free(y);
  return result;
}
