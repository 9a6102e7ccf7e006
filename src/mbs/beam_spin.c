/* Rotary inertia of bending of beam elements whose ends turn with different angular velocities; see
 * beam_element.h.
 *
 * Bending about an axis e of the frame needs half of what the difference of rotations has of lumped inertia
 * or less (beam_thick.c). With Δ = ω_b − ω_a, ē = ½(e_a + e_b), d = e_b − e_a, κ = ω_a × ω_b the energy and
 * its moment on b, the opposite on a, are
 *
 *   ½ B (ē·Δ)²,   M = P' ē + ½ P Δ × d,   P = B ē·Δ,   P' = B ē·(Δ' − κ)
 *
 * The mean angular velocity of the sections between the ends is not ½(ω_a + ω_b), but more by −θ × Δ/12, with
 * θ the rotation from a to b. What follows for the rotary inertia that all axes across the beam have in
 * common, less what the deflection beyond these shapes takes back, is with the moments on a and on b
 *
 *   j θ·κ,   j [ω_b' × θ + ω_b × θ' − ω_a × (ω_b × θ) + Aᵀκ],   j [θ × ω_a' + θ' × ω_a − ω_b × (θ × ω_a) − A
 * κ]
 *
 *   G = R_a R_bᵀ,   A = ½(tr G − G),   θ = ½ Σ a_k × b_k,   θ' = Aᵀω_b − A ω_a
 *
 * Both vanish in rigid motion. */
#include "mbs/beam_element.h"

#include "lie/mat3.h"
#include <string.h>

static int has_inertia(const ga__beam_element *e)
{
  return e->bend[0] != 0 || e->bend[1] != 0;
}

/* ---- Of the difference ---- */

typedef struct difference {
  double w[3], wd[3];   /* Δ; Δ' − κ, or the part of it that is asked for */
  double mean[3], d[3]; /* ē, d */
  double P, Pd;         /* P, P' */
} difference;

static void difference_at(difference *g, const ga__beam_axis *x, const ga__beam_element *e, int k,
                          int with_vdot, int with_v)
{
  const ga__kin *a = x->node[0], *b = x->node[1];
  double kappa[3];
  ga__vec3_cross(kappa, a->w + 3, b->w + 3);
  for (int i = 0; i < 3; i++) {
    g->w[i] = b->w[3 + i] - a->w[3 + i];
    g->wd[i] = (with_vdot ? b->acc[3 + i] - a->acc[3 + i] : 0.0) - (with_v ? kappa[i] : 0.0);
    g->mean[i] = 0.5 * (x->axis[0][k][i] + x->axis[1][k][i]);
    g->d[i] = x->axis[1][k][i] - x->axis[0][k][i];
  }
  g->P = e->bend[k] * ga__vec3_dot(g->mean, g->w);
  g->Pd = e->bend[k] * ga__vec3_dot(g->mean, g->wd);
}

/* Adds rows[3][12] of the moment on b, and the opposite ones. */
static void add_moment_rows(double T[144], double rows[3][12])
{
  for (int i = 0; i < 3; i++)
    for (int c = 0; c < 12; c++) {
      T[12 * (9 + i) + c] += rows[i][c];
      T[12 * (3 + i) + c] -= rows[i][c];
    }
}

/* rows += a bᵀ for the rotation of node i */
static void add_outer(double rows[3][12], int i, const double a[3], const double b[3])
{
  for (int r = 0; r < 3; r++)
    for (int c = 0; c < 3; c++) rows[r][6 * i + 3 + c] += a[r] * b[c];
}

static void add_matrix(double rows[3][12], int i, const double M[9])
{
  for (int k = 0; k < 9; k++) rows[k / 3][6 * i + 3 + k % 3] += M[k];
}

static void difference_by_d(const difference *g, const ga__beam_axis *x, double B, double shift_vdot,
                            double shift_v, double T[144])
{
  double rows[3][12], swing[3], Z[9];
  memset(rows, 0, sizeof rows);
  ga__vec3_cross(swing, g->w, g->d);
  for (int i = 0; i < 2; i++) {
    const double sign = i ? 1 : -1, *other = x->node[1 - i]->w + 3;
    double by_kappa[3], Pd[3], P[3];
    ga__vec3_cross(by_kappa, other, g->mean); /* ē·δκ, by ω_a; by ω_b the opposite */
    for (int c = 0; c < 3; c++) {
      Pd[c] = B * (shift_vdot * sign * g->mean[c] + shift_v * sign * by_kappa[c]);
      P[c] = 0.5 * B * shift_v * sign * g->mean[c];
    }
    add_outer(rows, i, g->mean, Pd);
    add_outer(rows, i, swing, P);
    ga__mat3_skew(Z, -0.5 * shift_v * sign * g->P, g->d);
    add_matrix(rows, i, Z);
  }
  add_moment_rows(T, rows);
}

static void difference_by_q(const difference *g, const ga__beam_axis *x, double B, int k, double T[144])
{
  double rows[3][12], swing[3];
  memset(rows, 0, sizeof rows);
  ga__vec3_cross(swing, g->w, g->d);
  for (int i = 0; i < 2; i++) {
    const double *e = x->axis[i][k], sign = i ? 0.5 : -0.5, we = ga__vec3_dot(g->w, e);
    double Pd[3], P[3], Z[9];
    ga__vec3_cross(Pd, e, g->wd);
    ga__vec3_cross(P, e, g->w);
    for (int c = 0; c < 3; c++) Pd[c] *= 0.5 * B, P[c] *= 0.25 * B;
    add_outer(rows, i, g->mean, Pd);
    add_outer(rows, i, swing, P);
    ga__mat3_skew(Z, -0.5 * g->Pd, e);
    /* Δ × (φ × e) = (Δ·e) φ − e... : −Δ~ e~ = (Δ·e) I − e Δᵀ */
    for (int n = 0; n < 9; n++) Z[n] += sign * g->P * ((n % 4 ? 0.0 : we) - e[n / 3] * g->w[n % 3]);
    add_matrix(rows, i, Z);
  }
  add_moment_rows(T, rows);
}

/* ---- Of the mean ---- */

typedef struct mean {
  double G[9], A[9], theta[3], rate[3], kappa[3]; /* rate: θ' */
} mean;

static void mean_at(mean *g, const ga__beam_axis *x)
{
  const ga__kin *a = x->node[0], *b = x->node[1];
  double Rt[9], from[3], to[3];
  ga__mat3_transpose(Rt, b->R);
  ga__mat3_mul(g->G, a->R, Rt);
  const double *G = g->G, trace = G[0] + G[4] + G[8];
  for (int i = 0; i < 9; i++) g->A[i] = 0.5 * ((i % 4 ? 0.0 : trace) - G[i]);
  g->theta[0] = 0.5 * (G[5] - G[7]), g->theta[1] = 0.5 * (G[6] - G[2]), g->theta[2] = 0.5 * (G[1] - G[3]);
  ga__mat3_mul_vec(from, g->A, a->w + 3);
  ga__mat3_tmul_vec(to, g->A, b->w + 3);
  for (int i = 0; i < 3; i++) g->rate[i] = to[i] - from[i];
  ga__vec3_cross(g->kappa, a->w + 3, b->w + 3);
}

static void add_cross(double out[3], double scale, const double a[3], const double b[3])
{
  double c[3];
  ga__vec3_cross(c, a, b);
  for (int i = 0; i < 3; i++) out[i] += scale * c[i];
}

static void add_mean(const ga__beam_axis *x, const ga__beam_element *e, int with_vdot, int with_v,
                     double w[12])
{
  const ga__kin *a = x->node[0], *b = x->node[1];
  const double j = e->spin;
  double on_a[3], on_b[3], turned[3];
  mean g;
  mean_at(&g, x);
  if (with_vdot) {
    add_cross(w + 3, j, b->acc + 3, g.theta);
    add_cross(w + 9, j, g.theta, a->acc + 3);
  }
  if (!with_v) return;
  add_cross(w + 3, j, b->w + 3, g.rate);
  add_cross(w + 9, j, g.rate, a->w + 3);
  ga__vec3_cross(turned, b->w + 3, g.theta);
  add_cross(w + 3, -j, a->w + 3, turned);
  ga__vec3_cross(turned, g.theta, a->w + 3);
  add_cross(w + 9, -j, b->w + 3, turned);
  ga__mat3_tmul_vec(on_a, g.A, g.kappa);
  ga__mat3_mul_vec(on_b, g.A, g.kappa);
  for (int i = 0; i < 3; i++) w[3 + i] += j * on_a[i], w[9 + i] -= j * on_b[i];
}

/* M += scale a~ X */
static void add_skew_times(double M[9], double scale, const double a[3], const double X[9])
{
  double S[9], product[9];
  ga__mat3_skew(S, scale, a);
  ga__mat3_mul(product, S, X);
  for (int i = 0; i < 9; i++) M[i] += product[i];
}

/* M += scale X a~ */
static void add_times_skew(double M[9], double scale, const double X[9], const double a[3])
{
  double S[9], product[9];
  ga__mat3_skew(S, scale, a);
  ga__mat3_mul(product, X, S);
  for (int i = 0; i < 9; i++) M[i] += product[i];
}

static void add_skew(double M[9], double scale, const double a[3])
{
  double S[9];
  ga__mat3_skew(S, scale, a);
  for (int i = 0; i < 9; i++) M[i] += S[i];
}

static void add_tile(double T[144], int row, int column, double scale, const double M[9])
{
  for (int i = 0; i < 9; i++) T[12 * (row + i / 3) + column + i % 3] += scale * M[i];
}

/* By ω_a: on a ω_b × −A − (·) × (ω_b × θ) + Aᵀ(· × ω_b), and so on. */
static void mean_by_v(const mean *g, const ga__beam_axis *x, double scale, double T[144])
{
  const double *wa = x->node[0]->w + 3, *wb = x->node[1]->w + 3;
  double At[9], M[4][9], turned[2][3], theta[9];
  memset(M, 0, sizeof M);
  ga__mat3_transpose(At, g->A);
  ga__mat3_skew(theta, 1, g->theta);
  ga__vec3_cross(turned[0], wb, g->theta);
  ga__vec3_cross(turned[1], g->theta, wa);
  add_skew_times(M[0], -1, wb, g->A);
  add_skew(M[0], 1, turned[0]);
  add_times_skew(M[0], -1, At, wb);
  add_skew_times(M[1], 1, wb, At);
  add_skew(M[1], -1, g->rate);
  add_skew_times(M[1], 1, wa, theta);
  add_times_skew(M[1], 1, At, wa);
  add_skew_times(M[2], 1, wa, g->A);
  add_skew(M[2], 1, g->rate);
  add_skew_times(M[2], -1, wb, theta);
  add_times_skew(M[2], 1, g->A, wb);
  add_skew_times(M[3], -1, wa, At);
  add_skew(M[3], 1, turned[1]);
  add_times_skew(M[3], -1, g->A, wa);
  for (int i = 0; i < 4; i++) add_tile(T, 3 + i / 2 * 6, 3 + i % 2 * 6, scale, M[i]);
}

/* M += scale · derivative of A v (transposed: Aᵀv) by the rotation of node i:
 * ±v θᵀ and ½(Gv)~ or −½G v~, for Aᵀ the other way round. */
static void add_turned(double M[9], double scale, const mean *g, int transposed, int i, const double v[3])
{
  const double sign = i ? -1 : 1;
  double X[9], u[3];
  for (int k = 0; k < 9; k++) M[k] += scale * sign * v[k / 3] * g->theta[k % 3];
  if (transposed)
    ga__mat3_transpose(X, g->G);
  else
    memcpy(X, g->G, sizeof X);
  if (transposed == i) {
    ga__mat3_mul_vec(u, X, v);
    add_skew(M, 0.5 * scale, u);
  } else {
    add_times_skew(M, -0.5 * scale, X, v);
  }
}

static void mean_by_q(const mean *g, const ga__beam_axis *x, double scale, double T[144])
{
  const ga__kin *a = x->node[0], *b = x->node[1];
  const double *wa = a->w + 3, *wb = b->w + 3;
  for (int i = 0; i < 2; i++) {
    double by_theta[9], rate[9] = {0}, on_a[9] = {0}, on_b[9] = {0}, product[9] = {0};
    for (int k = 0; k < 9; k++) by_theta[k] = i ? g->A[3 * (k % 3) + k / 3] : -g->A[k];
    add_turned(rate, 1, g, 1, i, wb);
    add_turned(rate, -1, g, 0, i, wa);
    add_skew_times(on_a, 1, b->acc + 3, by_theta);
    add_skew_times(product, 1, wb, by_theta);
    add_skew_times(on_a, -1, wa, product);
    add_skew_times(on_a, 1, wb, rate);
    add_turned(on_a, 1, g, 1, i, g->kappa);
    memset(product, 0, sizeof product);
    add_skew_times(on_b, -1, a->acc + 3, by_theta);
    add_skew_times(product, 1, wa, by_theta);
    add_skew_times(on_b, 1, wb, product);
    add_skew_times(on_b, -1, wa, rate);
    add_turned(on_b, -1, g, 0, i, g->kappa);
    add_tile(T, 3, 6 * i + 3, scale, on_a);
    add_tile(T, 9, 6 * i + 3, scale, on_b);
  }
}

/* ---- Both ---- */

void ga__beam_spin_inertia(const ga__beam_axis *x, const ga__beam_element *e, int with_vdot, int with_v,
                           double w[12])
{
  if (!has_inertia(e)) return;
  for (int k = 0; k < 2; k++) {
    difference g;
    double swing[3];
    difference_at(&g, x, e, k, with_vdot, with_v);
    ga__vec3_cross(swing, g.w, g.d);
    for (int i = 0; i < 3; i++) {
      const double moment = g.Pd * g.mean[i] + (with_v ? 0.5 * g.P * swing[i] : 0.0);
      w[9 + i] += moment, w[3 + i] -= moment;
    }
  }
  add_mean(x, e, with_vdot, with_v, w);
}

void ga__beam_add_spin_inertia_d(const ga__beam_axis *x, const ga__beam_element *e, double shift_vdot,
                                 double shift_v, double T[144])
{
  mean m;
  double Z[9];
  if (!has_inertia(e)) return;
  for (int k = 0; k < 2; k++) {
    difference g;
    difference_at(&g, x, e, k, 1, 1);
    difference_by_d(&g, x, e->bend[k], shift_vdot, shift_v, T);
  }
  mean_at(&m, x);
  ga__mat3_skew(Z, shift_vdot * e->spin, m.theta);
  add_tile(T, 3, 9, -1, Z);
  add_tile(T, 9, 3, 1, Z);
  if (shift_v != 0) mean_by_v(&m, x, shift_v * e->spin, T);
}

void ga__beam_add_spin_inertia_q(const ga__beam_axis *x, const ga__beam_element *e, double T[144])
{
  mean m;
  if (!has_inertia(e)) return;
  for (int k = 0; k < 2; k++) {
    difference g;
    difference_at(&g, x, e, k, 1, 1);
    difference_by_q(&g, x, e->bend[k], k, T);
  }
  mean_at(&m, x);
  mean_by_q(&m, x, e->spin, T);
}

double ga__beam_spin_kinetic(const ga__beam_axis *x, const ga__beam_element *e)
{
  double energy = 0;
  mean m;
  if (!has_inertia(e)) return 0;
  for (int k = 0; k < 2; k++) {
    difference g;
    difference_at(&g, x, e, k, 0, 0);
    energy += 0.5 * g.P * ga__vec3_dot(g.mean, g.w);
  }
  mean_at(&m, x);
  return energy + e->spin * ga__vec3_dot(m.theta, m.kappa);
}
