/* The spatial chain in joint coordinates, as a reference.
 *
 * State: of a spherical joint the unit quaternion p of its rod and the rod's angular velocity ω (space axes);
 * of a revolute one its angle θ and rate. All vectors in world axes, those of rod i about its near end P_i,
 * e_i its direction, d_i = l e_i, c_i = d_i/2; α_i the angular acceleration, a_i that of P_i less gravity.
 * What joint i gives to rod i and all that hangs on it, a moment about P_i and a force, is
 *   n_i = K_i α_i + H_i a_i + n°_i,     f_i = H_iᵀ α_i + M_i a_i + f°_i. */
#include "spatial_chain.h"

#include "spatial_vec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_COLUMNS = 10, MAX_WIDTH = 7 };

typedef struct body { /* articulated body i: the rod and all that hangs on it */
  double e[3], w[3];
  double K[9], H[9], M[9], n[3], f[3];
  double s[3], gamma[3];   /* revolute: axis, and ω_{i−1} × s times the rate */
  double U[3], V[3], D, r; /* revolute: K s, Hᵀ s, sᵀ K s, s·n° */
} body;

static int width(const spatial_chain *c) /* of the state of one joint */
{
  return c->kind == SPATIAL_SPHERICAL ? 7 : 2;
}

/* ---- Kinematics, from the fixed end downwards ---------------------------------------------------------- */

static void directions_spherical(body *b, const double *y)
{
  double R[9];
  mat_of_quaternion(R, y);
  for (int k = 0; k < 3; k++) b->e[k] = R[3 * k], b->w[k] = y[4 + k];
}

/* R_i = R_{i−1} exp(θ_i axis~), with an axis along y or z of the rods' frames. */
static void directions_revolute(body *b, double R[9], double w[3], int joint, const double *y)
{
  const double cs = cos(y[0]), sn = sin(y[0]);
  double axis[3], turned[9];
  spatial_joint_axis(axis, joint);
  const double about_y[9] = {cs, 0, sn, 0, 1, 0, -sn, 0, cs}, about_z[9] = {cs, -sn, 0, sn, cs, 0, 0, 0, 1};
  mat_mul_vec(b->s, R, axis);
  vec_cross(b->gamma, w, b->s);
  for (int k = 0; k < 3; k++) b->gamma[k] *= y[1];
  vec_add(w, y[1], b->s);
  mat_mul(turned, R, axis[1] > 0.0 ? about_y : about_z);
  memcpy(R, turned, sizeof turned);
  for (int k = 0; k < 3; k++) b->e[k] = R[3 * k], b->w[k] = w[k];
}

static void chain_configure(body *b, const spatial_chain *c, const double *y)
{
  double R[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, w[3] = {0, 0, 0};
  for (int i = 0; i < c->n; i++, y += width(c)) {
    if (c->kind == SPATIAL_SPHERICAL)
      directions_spherical(b + i, y);
    else
      directions_revolute(b + i, R, w, i, y);
  }
}

/* ω × (ω × d) of the rod's far end */
static void centripetal(double out[3], const body *b, double l)
{
  const double along = vec_dot(b->w, b->e), w2 = vec_dot(b->w, b->w);
  for (int k = 0; k < 3; k++) out[k] = l * (along * b->w[k] - w2 * b->e[k]);
}

/* ---- Articulated bodies, from the free end upwards ----------------------------------------------------- */

/* The rod alone: K = I_P = J I + (J_along − J) e eᵀ with J = J_across + m l²/4, H = m c~, M = m I,
 * n° = ω × I_P ω, f° = m ω × (ω × c). */
static void rod_set(body *b, const spatial_chain *c)
{
  const double J = c->J_across + 0.25 * c->m * c->l * c->l, d = c->J_along - J, half = 0.5 * c->m * c->l;
  memset(b->K, 0, sizeof b->K);
  memset(b->M, 0, sizeof b->M);
  for (int k = 0; k < 9; k += 4) b->K[k] = J, b->M[k] = c->m;
  mat_add_outer(b->K, d, b->e, b->e);
  mat_skew(b->H, b->e);
  for (int k = 0; k < 9; k++) b->H[k] *= half;
  vec_cross(b->n, b->w, b->e);
  for (int k = 0; k < 3; k++) b->n[k] *= d * vec_dot(b->e, b->w);
  centripetal(b->f, b, half);
}

/* A symmetric positive definite matrix becomes its inverse. */
static void invert(double A[9])
{
  const double c0 = A[4] * A[8] - A[5] * A[5], c1 = A[2] * A[5] - A[1] * A[8], c2 = A[1] * A[5] - A[2] * A[4];
  const double inv = 1.0 / (A[0] * c0 + A[1] * c1 + A[2] * c2);
  const double B[9] = {c0 * inv,
                       c1 * inv,
                       c2 * inv,
                       c1 * inv,
                       (A[0] * A[8] - A[2] * A[2]) * inv,
                       (A[1] * A[2] - A[0] * A[5]) * inv,
                       c2 * inv,
                       (A[1] * A[2] - A[0] * A[5]) * inv,
                       (A[0] * A[4] - A[1] * A[1]) * inv};
  memcpy(A, B, sizeof B);
}

/* A spherical joint gives no moment: α = −K⁻¹ (H a + n°), f = (M − HᵀK⁻¹H) a + f° − HᵀK⁻¹n°. In b, K becomes
 * K⁻¹; out has the rest. */
static void reduce_spherical(body *out, body *b)
{
  double KH[9], Kn[3], t[3];
  invert(b->K);
  mat_mul(KH, b->K, b->H);
  mat_mul_vec(Kn, b->K, b->n);
  memset(out->K, 0, sizeof out->K);
  memset(out->H, 0, sizeof out->H);
  memset(out->n, 0, sizeof out->n);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      double sum = b->M[3 * i + j];
      for (int k = 0; k < 3; k++) sum -= b->H[3 * k + i] * KH[3 * k + j];
      out->M[3 * i + j] = sum;
    }
  mat_mul_vec_t(t, b->H, Kn);
  for (int k = 0; k < 3; k++) out->f[k] = b->f[k] - t[k];
}

/* A revolute joint gives no moment about s: with α = α_{i−1} + s θ'' + γ, θ'' from s·n = 0 is put in; out
 * then belongs to α_{i−1}. */
static void reduce_revolute(body *out, body *b)
{
  mat_mul_vec(b->U, b->K, b->s);
  mat_mul_vec_t(b->V, b->H, b->s);
  b->D = vec_dot(b->s, b->U);
  b->r = vec_dot(b->s, b->n);
  memcpy(out->K, b->K, sizeof out->K);
  memcpy(out->H, b->H, sizeof out->H);
  memcpy(out->M, b->M, sizeof out->M);
  mat_add_outer(out->K, -1.0 / b->D, b->U, b->U);
  mat_add_outer(out->H, -1.0 / b->D, b->U, b->V);
  mat_add_outer(out->M, -1.0 / b->D, b->V, b->V);
  mat_mul_vec(out->n, out->K, b->gamma);
  vec_add(out->n, 1.0, b->n);
  vec_add(out->n, -b->r / b->D, b->U);
  mat_mul_vec_t(out->f, out->H, b->gamma);
  vec_add(out->f, 1.0, b->f);
  vec_add(out->f, -b->r / b->D, b->V);
}

/* Hangs a at the far end of b, where a_far = a − d~α + ω × (ω × d):
 *   K += K' − H'd~ + d~H'ᵀ − d~M'd~,  H += H' + d~M',  M += M',
 *   f° += f' + M'ω×(ω×d),             n° += n' + H'ω×(ω×d) + d × (what f° gained) */
static void hang(body *b, const body *a, double l)
{
  double d[3], S[9], SM[9], SMS[9], HS[9], acc[3], f[3], t[3];
  for (int k = 0; k < 3; k++) d[k] = l * b->e[k];
  mat_skew(S, d);
  mat_mul(SM, S, a->M);
  mat_mul(SMS, SM, S);
  mat_mul(HS, a->H, S);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) { /* (d~H'ᵀ)ᵀ = H'd~ᵀ = −H'd~ */
      const int k = 3 * i + j;
      b->K[k] += a->K[k] - HS[k] - HS[3 * j + i] - SMS[k];
      b->H[k] += a->H[k] + SM[k];
      b->M[k] += a->M[k];
    }
  centripetal(acc, b, l);
  mat_mul_vec(f, a->M, acc);
  vec_add(f, 1.0, a->f);
  vec_add(b->f, 1.0, f);
  mat_mul_vec(t, a->H, acc);
  vec_add(b->n, 1.0, t);
  vec_add(b->n, 1.0, a->n);
  vec_cross(t, d, f);
  vec_add(b->n, 1.0, t);
}

static void bodies_reduce(body *b, const spatial_chain *c)
{
  body reduced;
  for (int i = c->n - 1; i >= 0; i--) {
    rod_set(b + i, c);
    if (i + 1 < c->n) hang(b + i, &reduced, c->l);
    if (c->kind == SPATIAL_SPHERICAL)
      reduce_spherical(&reduced, b + i);
    else
      reduce_revolute(&reduced, b + i);
  }
}

/* ---- Accelerations, from the fixed end downwards ------------------------------------------------------- */

/* p' = ½ (0, ω)∘p, ω' = α */
static void rate_spherical(double *f, double alpha[3], const double *y, const body *b, const double a[3])
{
  const double *v = y + 1, *w = y + 4;
  double t[3];
  mat_mul_vec(t, b->H, a);
  vec_add(t, 1.0, b->n);
  mat_mul_vec(alpha, b->K, t);
  vec_cross(t, w, v);
  f[0] = -0.5 * vec_dot(w, v);
  for (int k = 0; k < 3; k++) {
    alpha[k] = -alpha[k];
    f[1 + k] = 0.5 * (y[0] * w[k] + t[k]);
    f[4 + k] = alpha[k];
  }
}

static void rate_revolute(double *f, double alpha[3], const double *y, const body *b, const double a[3])
{
  vec_add(alpha, 1.0, b->gamma);
  f[0] = y[1];
  f[1] = -(vec_dot(b->U, alpha) + vec_dot(b->V, a) + b->r) / b->D;
  vec_add(alpha, f[1], b->s);
}

static void rate(double *f, const double *y, const spatial_chain *c, body *b)
{
  double alpha[3] = {0, 0, 0}, a[3] = {0, 0, c->g}, t[3];
  chain_configure(b, c, y);
  bodies_reduce(b, c);
  for (int i = 0; i < c->n; i++, f += width(c), y += width(c)) {
    if (c->kind == SPATIAL_SPHERICAL)
      rate_spherical(f, alpha, y, b + i, a);
    else
      rate_revolute(f, alpha, y, b + i, a);
    vec_cross(t, alpha, b[i].e);
    vec_add(a, c->l, t);
    centripetal(t, b + i, c->l);
    vec_add(a, 1.0, t);
  }
}

/* ---- Integration --------------------------------------------------------------------------------------- */

typedef struct run {
  const spatial_chain *c;
  body *b;
  int n;                        /* numbers of the state */
  double *y, *f, *f0, *z0, *z1; /* [n] */
  double *table[MAX_COLUMNS];   /* [n] each */
} run;

/* Gragg's modified midpoint rule over H in `sub` substeps, smoothed at the end. */
static void midpoint(double *out, run *r, double H, int sub)
{
  const double s = H / sub;
  for (int i = 0; i < r->n; i++) r->z0[i] = r->y[i], r->z1[i] = r->y[i] + s * r->f0[i];
  for (int j = 1; j < sub; j++) {
    rate(r->f, r->z1, r->c, r->b);
    for (int i = 0; i < r->n; i++) {
      const double z2 = r->z0[i] + 2.0 * s * r->f[i];
      r->z0[i] = r->z1[i];
      r->z1[i] = z2;
    }
  }
  rate(r->f, r->z1, r->c, r->b);
  for (int i = 0; i < r->n; i++) out[i] = 0.5 * (r->z1[i] + r->z0[i] + s * r->f[i]);
}

/* Neville's scheme over 2, 4, 6, ... substeps, whose errors are series in even powers of H. */
static void step(run *r, double H, int columns)
{
  rate(r->f0, r->y, r->c, r->b);
  for (int j = 0; j < columns; j++) {
    midpoint(r->table[j], r, H, 2 * (j + 1));
    for (int k = j - 1; k >= 0; k--) {
      const double ratio = (double)(j + 1) / (k + 1), weight = 1.0 / (ratio * ratio - 1.0);
      double *Tk = r->table[k];
      const double *T1 = r->table[k + 1];
      for (int i = 0; i < r->n; i++) Tk[i] = T1[i] + weight * (T1[i] - Tk[i]);
    }
  }
  memcpy(r->y, r->table[0], (size_t)r->n * sizeof *r->y);
  for (int i = 0; i < r->c->n && r->c->kind == SPATIAL_SPHERICAL;
       i++) { /* the length drifts with the error */
    double *p = r->y + 7 * i;
    const double length = sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2] + p[3] * p[3]);
    for (int k = 0; k < 4; k++) p[k] /= length;
  }
}

static void state_start(run *r)
{
  for (int i = 0; i < r->c->n; i++) {
    spatial_rod rod;
    double *y = r->y + i * width(r->c);
    spatial_chain_start(&rod, r->c, i);
    if (r->c->kind == SPATIAL_SPHERICAL) {
      memcpy(y, rod.p, sizeof rod.p);
      memcpy(y + 4, rod.w, sizeof rod.w);
    } else
      y[1] = spatial_joint_rate(r->c, i);
  }
}

int spatial_tip_by_extrapolation(const spatial_chain *c, double t, long n_steps, int columns, double tip[3])
{
  const size_t n = (size_t)(c->n * width(c));
  run r = {.c = c, .n = (int)n};
  if (columns < 2 || columns > MAX_COLUMNS || n_steps < 1) return -1;
  r.b = calloc((size_t)c->n, sizeof *r.b);
  r.y = calloc(n * (size_t)(5 + columns), sizeof *r.y);
  const int rc = r.b && r.y ? 0 : -1;
  if (rc == 0) {
    r.f = r.y + n, r.f0 = r.f + n, r.z0 = r.f0 + n, r.z1 = r.z0 + n;
    for (int j = 0; j < columns; j++) r.table[j] = r.z1 + n * (size_t)(j + 1);
    state_start(&r);
    for (long i = 0; i < n_steps; i++) step(&r, t / (double)n_steps, columns);
    chain_configure(r.b, c, r.y);
    memset(tip, 0, 3 * sizeof *tip);
    for (int i = 0; i < c->n; i++) vec_add(tip, c->l, r.b[i].e);
  }
  free(r.b);
  free(r.y);
  return rc;
}
