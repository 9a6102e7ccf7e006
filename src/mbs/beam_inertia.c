/* Inertia of a beam element beyond the masses of its nodes, and loads along it; see beam_element.h.
 *
 * The axis moves as x(ξ) = (1 − ξ) xa + ξ xb + ξ (1 − ξ) q. With accelerations A = (xa'', xb'', q'') and
 *
 *   p = m L W A,   W = ∫ N Nᵀ dξ = [1/3 1/6 1/12; 1/6 1/3 1/12; 1/12 1/12 1/30]
 *   fa = p₁, fb = p₂, moment at i: sᵢ × p₃,   q'' = Σ ω'ᵢ × sᵢ + ωᵢ × (ωᵢ × sᵢ)
 *
 * Half of the mass is lumped to each node by body.c: W less ½ on its first diagonal entries is left. Rotary
 * inertia is lumped, and so is what a centre of mass off the axis adds: with r from the node to it and
 * μ = m L/2, F = μ (ω' × r + ω × (ω × r)), T = μ r × x''. */
#include "mbs/beam_element.h"

#include "lie/mat3.h"
#include <string.h>

static const double W[3][3] = {
    {1.0 / 3 - 0.5, 1.0 / 6, 1.0 / 12}, {1.0 / 6, 1.0 / 3 - 0.5, 1.0 / 12}, {1.0 / 12, 1.0 / 12, 1.0 / 30}};
/* of a load that changes from a to b: ∫ N (1 − ξ, ξ) dξ */
static const double LOAD[3][2] = {{1.0 / 3, 1.0 / 6}, {1.0 / 6, 1.0 / 3}, {1.0 / 12, 1.0 / 12}};

void ga__beam_axis_at(ga__beam_axis *x, const ga__beam_element *e, const ga__kin *a, const ga__kin *b)
{
  x->node[0] = a, x->node[1] = b;
  for (int i = 0; i < 2; i++) {
    ga__mat3_mul_vec(x->s[i], x->node[i]->R, e->d0);
    for (int k = 0; k < 3; k++) x->s[i][k] *= i ? -0.5 : 0.5;
  }
}

/* ω' × s + ω × (ω × s), either part where it is asked for */
static void swing(double out[3], const ga__kin *k, const double s[3], int with_vdot, int with_v)
{
  double a[3], ws[3], wws[3];
  ga__vec3_cross(a, k->acc + 3, s);
  ga__vec3_cross(ws, k->w + 3, s);
  ga__vec3_cross(wws, k->w + 3, ws);
  for (int i = 0; i < 3; i++) out[i] = (with_vdot ? a[i] : 0.0) + (with_v ? wws[i] : 0.0);
}

/* p[3][3] = m L W A */
static void axis_forces(const ga__beam_axis *x, const ga__beam_element *e, int with_vdot, int with_v,
                        double p[3][3])
{
  double A[3][3] = {{0}}, part[3];
  for (int i = 0; i < 2; i++) {
    if (with_vdot) memcpy(A[i], x->node[i]->acc, sizeof A[i]);
    swing(part, x->node[i], x->s[i], with_vdot, with_v);
    for (int k = 0; k < 3; k++) A[2][k] += part[k];
  }
  const double m = e->section->mass * e->L;
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++) p[i][k] = m * (W[i][0] * A[0][k] + W[i][1] * A[1][k] + W[i][2] * A[2][k]);
}

/* w += f at nodes, moments s × p₃ */
static void add_axis(const ga__beam_axis *x, double p[3][3], double w[12])
{
  for (int i = 0; i < 2; i++) {
    double moment[3];
    ga__vec3_cross(moment, x->s[i], p[2]);
    for (int k = 0; k < 3; k++) w[6 * i + k] += p[i][k], w[6 * i + 3 + k] += moment[k];
  }
}

static int is_off_axis(const ga__beam_section *s)
{
  return s->centre[0] != 0 || s->centre[1] != 0;
}

static void centre_arm(double r[3], const ga__beam_section *s, const ga__kin *k)
{
  const double c[3] = {0, s->centre[0], s->centre[1]};
  ga__mat3_mul_vec(r, k->R, c);
}

static void add_off_axis(const ga__beam_axis *x, const ga__beam_element *e, int with_vdot, int with_v,
                         double w[12])
{
  const double mu = 0.5 * e->section->mass * e->L;
  for (int i = 0; i < 2; i++) {
    double r[3], b[3], moment[3];
    centre_arm(r, e->section, x->node[i]);
    swing(b, x->node[i], r, with_vdot, with_v);
    ga__vec3_cross(moment, r, x->node[i]->acc);
    for (int k = 0; k < 3; k++) {
      w[6 * i + k] += mu * b[k];
      if (with_vdot) w[6 * i + 3 + k] += mu * moment[k];
    }
  }
}

void ga__beam_inertia(const ga__beam_axis *x, const ga__beam_element *e, int with_vdot, int with_v,
                      double w[12])
{
  if (!e->section->plain) {
    double p[3][3];
    axis_forces(x, e, with_vdot, with_v, p);
    add_axis(x, p, w);
  }
  if (is_off_axis(e->section)) add_off_axis(x, e, with_vdot, with_v, w);
}

/* ---- Derivatives ---- */

static void add_tile(double T[144], int row, int column, double scale, const double M[9])
{
  for (int i = 0; i < 9; i++) T[12 * (row + i / 3) + column + i % 3] += scale * M[i];
}

/* δ(ω' × s + ω × (ω × s)) by ω', ω and φ: −s~, −(ω × s)~ − ω~s~, −(ω'~ + ω~ω~) s~ */
static void swing_by(double Z[9], const ga__kin *k, const double s[3], int what)
{
  double skew_s[9], skew_w[9], X[9], ws[3];
  ga__mat3_skew(skew_s, 1, s);
  ga__mat3_skew(skew_w, 1, k->w + 3);
  if (what == 0) {
    ga__mat3_skew(Z, -1, s);
    return;
  }
  if (what == 1) {
    ga__vec3_cross(ws, k->w + 3, s);
    ga__mat3_mul(Z, skew_w, skew_s);
    ga__mat3_skew(X, 1, ws);
    for (int i = 0; i < 9; i++) Z[i] = -Z[i] - X[i];
    return;
  }
  double ww[9];
  ga__mat3_mul(ww, skew_w, skew_w);
  ga__mat3_skew(X, 1, k->acc + 3);
  for (int i = 0; i < 9; i++) X[i] += ww[i];
  ga__mat3_mul(Z, X, skew_s);
  for (int i = 0; i < 9; i++) Z[i] = -Z[i];
}

/* By rotations, their rates or accelerations of node j: Z in q'' goes to all forces, and to moments by s~. */
static void add_swing(const ga__beam_axis *x, double m, int j, const double Z[9], double T[144])
{
  for (int i = 0; i < 2; i++) {
    double skew[9], M[9];
    add_tile(T, 6 * i, 6 * j + 3, m * W[i][2], Z);
    ga__mat3_skew(skew, 1, x->s[i]);
    ga__mat3_mul(M, skew, Z);
    add_tile(T, 6 * i + 3, 6 * j + 3, m * W[2][2], M);
  }
}

static void axis_tangent(const ga__beam_axis *x, const ga__beam_element *e, double *const by[3])
{
  const double m = e->section->mass * e->L;
  static const double one[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  double Z[9], skew[9], skew_p[9], p[3][3];
  for (int j = 0; j < 2; j++)
    for (int what = 0; what < 3; what++) {
      if (!by[what]) continue;
      swing_by(Z, x->node[j], x->s[j], what);
      add_swing(x, m, j, Z, by[what]);
    }
  for (int i = 0; by[0] && i < 2; i++) {
    ga__mat3_skew(skew, 1, x->s[i]);
    for (int j = 0; j < 2; j++) {
      add_tile(by[0], 6 * i, 6 * j, m * W[i][j], one);
      add_tile(by[0], 6 * i + 3, 6 * j, m * W[2][j], skew);
    }
  }
  if (!by[2]) return;
  axis_forces(x, e, 1, 1, p);
  ga__mat3_skew(skew_p, 1, p[2]);
  for (int i = 0; i < 2; i++) { /* (δφ × s) × p₃ = p₃~ s~ δφ */
    ga__mat3_skew(skew, 1, x->s[i]);
    ga__mat3_mul(Z, skew_p, skew);
    add_tile(by[2], 6 * i + 3, 6 * i + 3, 1, Z);
  }
}

static void off_axis_tangent(const ga__beam_axis *x, const ga__beam_element *e, double *const by[3])
{
  const double mu = 0.5 * e->section->mass * e->L;
  for (int i = 0; i < 2; i++) {
    double r[3], Z[9], skew[9], skew_a[9];
    centre_arm(r, e->section, x->node[i]);
    ga__mat3_skew(skew, 1, r);
    for (int what = 0; what < 3; what++) {
      if (!by[what]) continue;
      swing_by(Z, x->node[i], r, what);
      add_tile(by[what], 6 * i, 6 * i + 3, mu, Z);
    }
    if (by[0]) add_tile(by[0], 6 * i + 3, 6 * i, mu, skew);
    if (!by[2]) continue;
    ga__mat3_skew(skew_a, 1, x->node[i]->acc);
    ga__mat3_mul(Z, skew_a, skew);
    add_tile(by[2], 6 * i + 3, 6 * i + 3, mu, Z);
  }
}

void ga__beam_inertia_tangent(const ga__beam_axis *x, const ga__beam_element *e, double *by_vdot,
                              double *by_v, double *by_q)
{
  double *const by[3] = {by_vdot, by_v, by_q};
  for (int i = 0; i < 3; i++)
    if (by[i]) memset(by[i], 0, 144 * sizeof(double));
  if (!e->section->plain) axis_tangent(x, e, by);
  if (is_off_axis(e->section)) off_axis_tangent(x, e, by);
}

/* ---- Energy, loads ---- */

double ga__beam_kinetic(const ga__beam_axis *x, const ga__beam_element *e)
{
  double u[3][3] = {{0}}, energy = 0, rate[3], r[3];
  const double m = e->section->mass * e->L;
  for (int i = 0; i < 2; i++) {
    const ga__kin *k = x->node[i];
    memcpy(u[i], k->w, sizeof u[i]);
    ga__vec3_cross(rate, k->w + 3, x->s[i]);
    for (int c = 0; c < 3; c++) u[2][c] += rate[c];
    if (!is_off_axis(e->section)) continue;
    centre_arm(r, e->section, k);
    ga__vec3_cross(rate, k->w + 3, r); /* the square of it is part of the nodes' rotary inertia */
    energy += 0.5 * m * ga__vec3_dot(k->w, rate);
  }
  for (int i = 0; i < 3 && !e->section->plain; i++)
    for (int j = 0; j < 3; j++) energy += 0.5 * m * W[i][j] * ga__vec3_dot(u[i], u[j]);
  return energy;
}

void ga__beam_load(const ga__beam_axis *x, const ga__beam_element *e, const double fa[3], const double fb[3],
                   double w[12], double *T)
{
  double p[3][3];
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++) p[i][k] = e->L * (LOAD[i][0] * fa[k] + LOAD[i][1] * fb[k]);
  if (e->section->plain) memset(p[2], 0, sizeof p[2]);
  add_axis(x, p, w);
  for (int i = 0; T && i < 2; i++) {
    double skew_p[9], skew[9], Z[9];
    ga__mat3_skew(skew_p, 1, p[2]);
    ga__mat3_skew(skew, 1, x->s[i]);
    ga__mat3_mul(Z, skew_p, skew);
    add_tile(T, 6 * i + 3, 6 * i + 3, 1, Z);
  }
}

/* Moments sᵢ × f/6 of the parabola, ∫ξ (1 − ξ) dξ = 1/6, and rᵢ × f/2 of a centre off the axis. */
void ga__beam_add_weight(const ga__beam_axis *x, const ga__beam_element *e, const double f[3], double w[12],
                         double *T)
{
  double skew_f[9], skew[9], Z[9];
  ga__mat3_skew(skew_f, 1, f);
  for (int i = 0; i < 2; i++) {
    double arm[3] = {0, 0, 0}, moment[3];
    if (is_off_axis(e->section)) centre_arm(arm, e->section, x->node[i]);
    for (int k = 0; k < 3; k++) arm[k] = 0.5 * arm[k] + (e->section->plain ? 0.0 : x->s[i][k] / 6);
    ga__vec3_cross(moment, arm, f);
    for (int k = 0; k < 3; k++) w[6 * i + 3 + k] += moment[k];
    if (!T) continue;
    ga__mat3_skew(skew, 1, arm);
    ga__mat3_mul(Z, skew_f, skew);
    add_tile(T, 6 * i + 3, 6 * i + 3, 1, Z);
  }
}

double ga__beam_height(const ga__beam_axis *x, const ga__beam_element *e, const double g[3])
{
  double sum = 0, r[3];
  for (int i = 0; i < 2; i++) {
    if (!e->section->plain) sum += ga__vec3_dot(g, x->s[i]) / 6;
    if (!is_off_axis(e->section)) continue;
    centre_arm(r, e->section, x->node[i]);
    sum += 0.5 * ga__vec3_dot(g, r);
  }
  return -e->section->mass * e->L * sum;
}
