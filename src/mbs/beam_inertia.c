/* Inertia of a beam element beyond the masses of its nodes, and its weight; see beam_element.h.
 *
 * The axis moves as x(ξ) = (1 − ξ) xa + ξ xb + ξ (1 − ξ) q. With accelerations A = (xa'', xb'', q'') and
 *
 *   p = m L W A,   W = ∫ N Nᵀ dξ = [1/3 1/6 1/12; 1/6 1/3 1/12; 1/12 1/12 1/30]
 *   fa = p₁, fb = p₂, moment at i: sᵢ × p₃,   q'' = Σ ω'ᵢ × sᵢ + ωᵢ × (ωᵢ × sᵢ)
 *
 * Half of the mass is lumped to each node by body.c: W less ½ on its first diagonal entries is left. What
 * waves of stretch and twist need besides is in beam_waves.c, what thick beams need in beam_thick.c.
 *
 * With a centre of mass off the axis, r from the node to it, the line of centres takes the place of the axis:
 * x''
 * + b instead of x'' with b = ω' × r + ω × (ω × r), and moments r × pᵢ besides. What the lumped masses μ = m
 * L/2 add for it is F = μ b, T = μ r × x''; μ r² is part of the nodes' rotary inertia. With the axis alone,
 * and r lumped, the mass would be indefinite where m r² is more than two sevenths of the rotary inertia about
 * the centre. */
#include "mbs/beam_element.h"

#include "lie/mat3.h"
#include <string.h>

static const double W[3][3] = {
    {1.0 / 3 - 0.5, 1.0 / 6, 1.0 / 12}, {1.0 / 6, 1.0 / 3 - 0.5, 1.0 / 12}, {1.0 / 12, 1.0 / 12, 1.0 / 30}};
static int is_off_axis(const ga__beam_section *s)
{
  return s->centre[0] != 0 || s->centre[1] != 0;
}

void ga__beam_axis_at(ga__beam_axis *x, const ga__beam_element *e, const ga__kin *a, const ga__kin *b)
{
  const double centre[3] = {0, e->section->centre[0], e->section->centre[1]};
  x->node[0] = a, x->node[1] = b;
  for (int i = 0; i < 2; i++) {
    ga__mat3_mul_vec(x->s[i], x->node[i]->R, e->d0);
    for (int k = 0; k < 3; k++) x->s[i][k] *= i ? -0.5 : 0.5;
    for (int k = 0; k < 2 && !e->section->plain; k++) {
      const double *f = e->frame[i], across[3] = {f[1 + k], f[4 + k], f[7 + k]};
      ga__mat3_mul_vec(x->axis[i][k], x->node[i]->R, across);
    }
    if (is_off_axis(e->section)) ga__mat3_mul_vec(x->r[i], x->node[i]->R, centre);
  }
}

/* ω' × s + ω × (ω × s), either part where it is asked for */
static void swing(double out[3], const ga__kin *k, const double s[3], int with_vdot, int with_v)
{
  double a[3] = {0, 0, 0}, ws[3], wws[3] = {0, 0, 0};
  if (with_vdot) ga__vec3_cross(a, k->acc + 3, s);
  if (with_v) {
    ga__vec3_cross(ws, k->w + 3, s);
    ga__vec3_cross(wws, k->w + 3, ws);
  }
  for (int i = 0; i < 3; i++) out[i] = a[i] + wws[i];
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
    if (!is_off_axis(e->section)) continue;
    swing(part, x->node[i], x->r[i], with_vdot, with_v);
    for (int k = 0; k < 3; k++) A[i][k] += part[k];
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

/* moments r × p of the line of centres */
static void add_arms(const ga__beam_axis *x, double p[3][3], double w[12])
{
  for (int i = 0; i < 2; i++) {
    double moment[3];
    ga__vec3_cross(moment, x->r[i], p[i]);
    for (int k = 0; k < 3; k++) w[6 * i + 3 + k] += moment[k];
  }
}

static void add_off_axis(const ga__beam_axis *x, const ga__beam_element *e, int with_vdot, int with_v,
                         double w[12])
{
  const double mu = 0.5 * e->section->mass * e->L;
  for (int i = 0; i < 2; i++) {
    double b[3], moment[3];
    swing(b, x->node[i], x->r[i], with_vdot, with_v);
    ga__vec3_cross(moment, x->r[i], x->node[i]->acc);
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
    if (is_off_axis(e->section)) add_arms(x, p, w);
    ga__beam_wave_inertia(x, e, with_vdot, with_v, w);
    ga__beam_thick_inertia(x, e, with_vdot, with_v, w);
    ga__beam_spin_inertia(x, e, with_vdot, with_v, w);
  }
  if (is_off_axis(e->section)) add_off_axis(x, e, with_vdot, with_v, w);
}

/* ---- Derivatives ---- */

static void add_tile(double T[144], int row, int column, double scale, const double M[9])
{
  for (int i = 0; i < 9; i++) T[12 * (row + i / 3) + column + i % 3] += scale * M[i];
}

/* M += scale a bᵀ */
static void add_outer(double M[9], double scale, const double a[3], const double b[3])
{
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) M[3 * i + j] += scale * a[i] * b[j];
}

/* p~ s~ = s pᵀ − (p·s) I */
static void skew_twice(double Z[9], const double p[3], const double s[3])
{
  const double ps = ga__vec3_dot(p, s);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) Z[3 * i + j] = s[i] * p[j] - (i == j ? ps : 0.0);
}

/* By ω' and ω of δ(ω' × s + ω × (ω × s)), with shifts: −s~ and
 * −(ω × s)~ − ω~s~ = ω sᵀ − 2 s ωᵀ + (ω·s) I */
static void swing_by_d(double Z[9], const ga__kin *k, const double s[3], double shift_vdot, double shift_v)
{
  const double *w = k->w + 3;
  ga__mat3_about(Z, shift_v * ga__vec3_dot(w, s), -shift_vdot, 0, s);
  if (shift_v == 0) return;
  add_outer(Z, shift_v, w, s);
  add_outer(Z, -2 * shift_v, s, w);
}

/* By φ of the same: −(ω'~ + ω~ω~) s~ = (ω'·s) I − s ω'ᵀ + (ω·s) ω~ − (ω × s) ωᵀ */
static void swing_by_q(double Z[9], const ga__kin *k, const double s[3])
{
  const double *w = k->w + 3, *acc = k->acc + 3;
  double ws[3];
  ga__vec3_cross(ws, w, s);
  ga__mat3_about(Z, ga__vec3_dot(acc, s), ga__vec3_dot(w, s), 0, w);
  add_outer(Z, -1, s, acc);
  add_outer(Z, -1, ws, w);
}

/* T += a × Z, in the columns of node j's rotations and the rows of moments of node i */
static void add_moment(const double a[3], double factor, int i, int j, const double Z[9], double T[144])
{
  for (int c = 0; c < 3; c++) {
    double *to = T + 72 * i + 36 + 6 * j + 3 + c;
    const double z[3] = {factor * Z[c], factor * Z[3 + c], factor * Z[6 + c]};
    to[0] += a[1] * z[2] - a[2] * z[1];
    to[12] += a[2] * z[0] - a[0] * z[2];
    to[24] += a[0] * z[1] - a[1] * z[0];
  }
}

/* By rotations, their rates or accelerations of node j: Z in A[k] goes to all forces, and to moments by s~
 * and r~. */
static void add_swing(const ga__beam_axis *x, const ga__beam_element *e, int j, int k, const double Z[9],
                      double T[144])
{
  const double m = e->section->mass * e->L;
  for (int i = 0; i < 2; i++) {
    add_tile(T, 6 * i, 6 * j + 3, m * W[i][k], Z);
    add_moment(x->s[i], m * W[2][k], i, j, Z, T);
    if (is_off_axis(e->section)) add_moment(x->r[i], m * W[i][k], i, j, Z, T);
  }
}

static void add_axis_d(const ga__beam_axis *x, const ga__beam_element *e, double shift_vdot, double shift_v,
                       double T[144])
{
  const double m = e->section->mass * e->L;
  const int off = is_off_axis(e->section);
  double Z[9];
  for (int j = 0; j < 2; j++) {
    swing_by_d(Z, x->node[j], x->s[j], shift_vdot, shift_v);
    add_swing(x, e, j, 2, Z, T);
    if (!off) continue;
    swing_by_d(Z, x->node[j], x->r[j], shift_vdot, shift_v);
    add_swing(x, e, j, j, Z, T);
  }
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 2; j++) {
      const double mass = shift_vdot * m * W[i][j];
      for (int c = 0; c < 3; c++) T[12 * (6 * i + c) + 6 * j + c] += mass;
      ga__mat3_skew(Z, shift_vdot * m * W[2][j], x->s[i]);
      add_tile(T, 6 * i + 3, 6 * j, 1, Z);
      if (!off) continue;
      ga__mat3_skew(Z, mass, x->r[i]);
      add_tile(T, 6 * i + 3, 6 * j, 1, Z);
    }
}

static void add_axis_q(const ga__beam_axis *x, const ga__beam_element *e, double T[144])
{
  double Z[9], p[3][3];
  axis_forces(x, e, 1, 1, p);
  for (int j = 0; j < 2; j++) {
    swing_by_q(Z, x->node[j], x->s[j]);
    add_swing(x, e, j, 2, Z, T);
    skew_twice(Z, p[2], x->s[j]); /* (δφ × s) × p₃ = p₃~ s~ δφ */
    add_tile(T, 6 * j + 3, 6 * j + 3, 1, Z);
    if (!is_off_axis(e->section)) continue;
    swing_by_q(Z, x->node[j], x->r[j]);
    add_swing(x, e, j, j, Z, T);
    skew_twice(Z, p[j], x->r[j]);
    add_tile(T, 6 * j + 3, 6 * j + 3, 1, Z);
  }
}

void ga__beam_add_inertia_d(const ga__beam_axis *x, const ga__beam_element *e, double shift_vdot,
                            double shift_v, double T[144])
{
  const double mu = 0.5 * e->section->mass * e->L;
  if (!e->section->plain) {
    add_axis_d(x, e, shift_vdot, shift_v, T);
    ga__beam_add_wave_inertia_d(x, e, shift_vdot, shift_v, T);
    ga__beam_add_thick_inertia_d(x, e, shift_vdot, shift_v, T);
    ga__beam_add_spin_inertia_d(x, e, shift_vdot, shift_v, T);
  }
  for (int i = 0; is_off_axis(e->section) && i < 2; i++) {
    const double *r = x->r[i];
    double Z[9];
    swing_by_d(Z, x->node[i], r, shift_vdot, shift_v);
    add_tile(T, 6 * i, 6 * i + 3, mu, Z);
    ga__mat3_skew(Z, shift_vdot, r);
    add_tile(T, 6 * i + 3, 6 * i, mu, Z);
  }
}

void ga__beam_add_inertia_q(const ga__beam_axis *x, const ga__beam_element *e, double T[144])
{
  const double mu = 0.5 * e->section->mass * e->L;
  if (!e->section->plain) {
    add_axis_q(x, e, T);
    ga__beam_add_wave_inertia_q(x, e, T);
    ga__beam_add_thick_inertia_q(x, e, T);
    ga__beam_add_spin_inertia_q(x, e, T);
  }
  for (int i = 0; is_off_axis(e->section) && i < 2; i++) {
    const double *r = x->r[i];
    double Z[9];
    swing_by_q(Z, x->node[i], r);
    add_tile(T, 6 * i, 6 * i + 3, mu, Z);
    skew_twice(Z, x->node[i]->acc, r);
    add_tile(T, 6 * i + 3, 6 * i + 3, mu, Z);
  }
}

/* ---- Energy, weight ---- */

double ga__beam_kinetic(const ga__beam_axis *x, const ga__beam_element *e)
{
  double u[3][3] = {{0}}, energy = 0, rate[3];
  const double m = e->section->mass * e->L;
  for (int i = 0; i < 2; i++) {
    const ga__kin *k = x->node[i];
    memcpy(u[i], k->w, sizeof u[i]);
    ga__vec3_cross(rate, k->w + 3, x->s[i]);
    for (int c = 0; c < 3; c++) u[2][c] += rate[c];
    if (!is_off_axis(e->section)) continue;
    ga__vec3_cross(rate, k->w + 3, x->r[i]); /* the square of it is part of the nodes' rotary inertia */
    energy += 0.5 * m * ga__vec3_dot(k->w, rate);
    for (int c = 0; c < 3; c++) u[i][c] += rate[c];
  }
  for (int i = 0; i < 3 && !e->section->plain; i++)
    for (int j = 0; j < 3; j++) energy += 0.5 * m * W[i][j] * ga__vec3_dot(u[i], u[j]);
  if (e->section->plain) return energy;
  return energy + ga__beam_wave_kinetic(x, e) + ga__beam_thick_kinetic(x, e) + ga__beam_spin_kinetic(x, e);
}

/* Moments sᵢ × f/6 of the parabola, ∫ξ (1 − ξ) dξ = 1/6, and rᵢ × f/2 of a centre off the axis. */
void ga__beam_add_weight(const ga__beam_axis *x, const ga__beam_element *e, const double f[3], double w[12],
                         double *T)
{
  for (int i = 0; i < 2; i++) {
    const int off = is_off_axis(e->section);
    double arm[3], moment[3], Z[9];
    for (int k = 0; k < 3; k++)
      arm[k] = (off ? 0.5 * x->r[i][k] : 0.0) + (e->section->plain ? 0.0 : x->s[i][k] / 6);
    ga__vec3_cross(moment, arm, f);
    for (int k = 0; k < 3; k++) w[6 * i + 3 + k] += moment[k];
    if (!T) continue;
    skew_twice(Z, f, arm);
    add_tile(T, 6 * i + 3, 6 * i + 3, 1, Z);
  }
}

double ga__beam_height(const ga__beam_axis *x, const ga__beam_element *e, const double g[3])
{
  double sum = 0;
  for (int i = 0; i < 2; i++) {
    if (!e->section->plain) sum += ga__vec3_dot(g, x->s[i]) / 6;
    if (is_off_axis(e->section)) sum += 0.5 * ga__vec3_dot(g, x->r[i]);
  }
  return -e->section->mass * e->L * sum;
}
