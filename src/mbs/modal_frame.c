/* Frames at interface nodes of modal bodies: how they move with the floating frame and with amplitudes.
 *
 * In axes of the floating frame, from the centre of mass: at c = s + φ η, turned by the vector 2 p, p = ½ ψ
 * η, in the sense of Rodrigues, tan of half the angle, which is ψ η to second order; its angular velocity is
 *
 *   h = s (p' + p × p'),   s = 2/(1 + p·p),   s' = −s² p·p'
 *
 * In space, with r = R c, g = R φ η': u + ω × r + g and ω + R h.
 *
 * With displacements of second order (modal_stiffening.c), ½ Σ g_ab η_a η_b is added to φ η, and likewise to
 * ψ η: the columns of φ are then φ_a + Σ_b g_ab η_b, with the rates Σ_b g_ab η'_b. */
#include "mbs/modal.h"

#include "lie/mat3.h"
#include <string.h>

/* Displacements, or rotations halved, of an interface node: of first and of second order. */
typedef struct field {
  int n;
  double scale;
  const double *first;  /* [3][n] */
  const double *second; /* [3][n][n]; NULL: none */
  const double *eta;
} field;

static field field_of(const ga__modal_point *point, int rotations, int n, const ga__carrier *eta)
{
  return (field){.n = n,
                 .scale = rotations ? 0.5 : 1.0,
                 .first = rotations ? point->psi : point->phi,
                 .second = point->second ? point->second + (rotations ? 3 * n * n : 0) : NULL,
                 .eta = eta->q};
}

/* Σ_b g_ab v_b, v NULL: 0 */
static void second_column(const field *f, int a, const double *v, double x[3])
{
  for (int i = 0; i < 3; i++)
    x[i] = f->second && v ? f->scale * ga__dot(f->n, f->second + (i * f->n + a) * f->n, v) : 0.0;
}

/* φ_a + Σ_b g_ab η_b */
static void column(const field *f, int a, double x[3])
{
  second_column(f, a, f->eta, x);
  for (int i = 0; i < 3; i++) x[i] += f->scale * f->first[i * f->n + a];
}

/* φ η + ½ Σ g_ab η_a η_b */
static void displacement(const field *f, double x[3])
{
  double y[3];
  for (int i = 0; i < 3; i++) x[i] = f->scale * ga__dot(f->n, f->first + i * f->n, f->eta);
  for (int a = 0; a < f->n && f->second; a++) {
    second_column(f, a, f->eta, y);
    for (int i = 0; i < 3; i++) x[i] += 0.5 * y[i] * f->eta[a];
  }
}

/* Σ_a (φ_a + Σ_b g_ab η_b) v_a + Σ_ab g_ab w_a w_b; each may be NULL: 0 */
static void motion_of(const field *f, const double *v, const double *w, double x[3])
{
  double y[3];
  for (int i = 0; i < 3; i++) x[i] = v ? f->scale * ga__dot(f->n, f->first + i * f->n, v) : 0.0;
  for (int a = 0; a < f->n && f->second; a++) {
    second_column(f, a, f->eta, y);
    for (int i = 0; i < 3 && v; i++) x[i] += y[i] * v[a];
    second_column(f, a, w, y);
    for (int i = 0; i < 3 && w; i++) x[i] += y[i] * w[a];
  }
}

/* The node's rotation: in axes of the floating frame. */
typedef struct turn {
  double p[3], p1[3], p2[3]; /* p, p', p'' */
  double s, s1;              /* and s' */
  double e1[3], e2[3];       /* p' + p × p', p'' + p × p'' */
} turn;

static void turn_at(turn *t, const field *half, const ga__carrier *eta)
{
  double c[3];
  displacement(half, t->p);
  motion_of(half, eta->v, NULL, t->p1);
  motion_of(half, eta->vdot, eta->v, t->p2);
  t->s = 2 / (1 + ga__vec3_dot(t->p, t->p));
  t->s1 = -t->s * t->s * ga__vec3_dot(t->p, t->p1);
  ga__vec3_cross(c, t->p, t->p1);
  for (int i = 0; i < 3; i++) t->e1[i] = t->p1[i] + c[i];
  ga__vec3_cross(c, t->p, t->p2);
  for (int i = 0; i < 3; i++) t->e2[i] = t->p2[i] + c[i];
}

/* R_node = 1 + s (p~ + p~p~) */
static void rotation_of(const turn *t, double A[9])
{
  double P[9], PP[9];
  ga__mat3_skew(P, 1, t->p);
  ga__mat3_mul(PP, P, P);
  for (int i = 0; i < 9; i++) A[i] = (i % 4 == 0) + t->s * (P[i] + PP[i]);
}

/* Quantities of both parts, in space. */
typedef struct motion {
  turn t;
  field moved, half;        /* displacements; rotations, halved */
  double r[3], g[3], gg[3]; /* R c, R φ η', R φ η'' */
  double h[3], hh[3]; /* angular velocity and its rate relative to the floating frame, in its axes turned */
  double wr[3];       /* ω × r */
} motion;

static void move(const ga__modal_point *point, const double centre[3], int n, const ga__carrier *carrier,
                 motion *m, ga__kin *kin)
{
  const ga__kin *k = carrier[0].kin;
  const double *w = k->w + 3, *a = k->acc + 3;
  double c[3], x[3], b[3], A[9], wwr[3], ar[3], wg[3], wh[3];
  m->moved = field_of(point, 0, n, &carrier[1]);
  m->half = field_of(point, 1, n, &carrier[1]);
  turn_at(&m->t, &m->half, &carrier[1]);
  displacement(&m->moved, c);
  for (int i = 0; i < 3; i++) c[i] += point->place[i] - centre[i];
  ga__mat3_mul_vec(m->r, k->R, c);
  motion_of(&m->moved, carrier[1].v, NULL, x);
  ga__mat3_mul_vec(m->g, k->R, x);
  motion_of(&m->moved, carrier[1].vdot, carrier[1].v, x);
  ga__mat3_mul_vec(m->gg, k->R, x);
  for (int i = 0; i < 3; i++) {
    x[i] = m->t.s * m->t.e1[i];
    b[i] = m->t.s * m->t.e2[i] + m->t.s1 * m->t.e1[i];
  }
  ga__mat3_mul_vec(m->h, k->R, x);
  ga__mat3_mul_vec(m->hh, k->R, b);
  rotation_of(&m->t, A);
  ga__mat3_mul(kin->R, k->R, A);
  ga__vec3_cross(m->wr, w, m->r);
  ga__vec3_cross(wwr, w, m->wr);
  ga__vec3_cross(ar, a, m->r);
  ga__vec3_cross(wg, w, m->g);
  ga__vec3_cross(wh, w, m->h);
  for (int i = 0; i < 3; i++) {
    kin->x[i] = k->x[i] + m->r[i];
    kin->w[i] = k->w[i] + m->wr[i] + m->g[i];
    kin->w[3 + i] = w[i] + m->h[i];
    kin->acc[i] = k->acc[i] + ar[i] + wwr[i] + 2 * wg[i] + m->gg[i];
    kin->acc[3 + i] = a[i] + wh[i] + m->hh[i];
  }
}

/* ---- Derivatives ---- */

/* to[row.., column..] += scale M, of n columns */
static void put(double *to, int row, int col, int n, double scale, const double M[9])
{
  for (int r = 0; r < 3; r++)
    for (int c = 0; c < 3; c++) to[(row + r) * n + col + c] += scale * M[3 * r + c];
}

static void put_skew(double *to, int row, int col, int n, double scale, const double p[3])
{
  double M[9];
  ga__mat3_skew(M, scale, p);
  put(to, row, col, n, 1, M);
}

/* p~ q~ */
static void put_product(double *to, int row, int col, int n, double scale, const double p[3],
                        const double q[3])
{
  double P[9], Q[9], M[9];
  ga__mat3_skew(P, 1, p);
  ga__mat3_skew(Q, 1, q);
  ga__mat3_mul(M, P, Q);
  put(to, row, col, n, scale, M);
}

static void put_column(double *to, int row, int col, int n, const double x[3])
{
  for (int r = 0; r < 3; r++) to[(row + r) * n + col] += x[r];
}

/* By the floating frame's velocity and rotation: columns 0 to 5. */
static void by_frame(const motion *m, const ga__kin *k, int N, ga__carried_motion *out)
{
  static const double ONE[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  const double *w = k->w + 3, *a = k->acc + 3;
  put(out->T, 0, 0, N, 1, ONE);
  put(out->T, 3, 3, N, 1, ONE);
  put_skew(out->T, 0, 3, N, -1, m->r);
  if (out->only_T) return;
  /* δφ: r and g turn, δr = −r~ δφ */
  put_product(out->rate_by_q, 0, 3, N, -1, w, m->r);
  put_skew(out->rate_by_q, 0, 3, N, -1, m->g);
  put_skew(out->rate_by_q, 3, 3, N, -1, m->h);
  /* ω × (ω × r) + 2 ω × g, ω × h, by ω */
  put_skew(out->bias_by_v, 0, 3, N, -1, m->wr);
  put_product(out->bias_by_v, 0, 3, N, -1, w, m->r);
  put_skew(out->bias_by_v, 0, 3, N, -2, m->g);
  put_skew(out->bias_by_v, 3, 3, N, -1, m->h);
  double W[9], P[9], WP[9], WWP[9];
  ga__mat3_skew(W, 1, w);
  ga__mat3_skew(P, 1, m->r);
  ga__mat3_mul(WP, W, P);
  ga__mat3_mul(WWP, W, WP);
  put_product(out->acc_by_q, 0, 3, N, -1, a, m->r);
  put(out->acc_by_q, 0, 3, N, -1, WWP);
  put_product(out->acc_by_q, 0, 3, N, -2, w, m->g);
  put_skew(out->acc_by_q, 0, 3, N, -1, m->gg);
  put_product(out->acc_by_q, 3, 3, N, -1, w, m->h);
  put_skew(out->acc_by_q, 3, 3, N, -1, m->hh);
}

/* Derivatives of the node's rotation by p, p': matrices that columns of ½ ψ are multiplied by. */
typedef struct turn_tangent {
  double E[9];      /* h by p' */
  double h_by_p[9]; /* −s² e₁ pᵀ − s p'~ */
  double b_by_v[9]; /* s' e₁ by p': −s² e₁ pᵀ + s' (1 + p~) */
  double a_by_p[9]; /* h' by p */
  double f_by_p[9]; /* Eᵀ m by p, m in axes of the floating frame */
  double Em[3];     /* Eᵀ m = s (m − p × m) */
} turn_tangent;

static void tangent_of(const turn *t, const double m[3], turn_tangent *d)
{
  const double s = t->s, s1 = t->s1, pp1 = ga__vec3_dot(t->p, t->p1);
  double P[9], P1[9], P2[9], Ms[9], c[3];
  ga__mat3_skew(P, 1, t->p);
  ga__mat3_skew(P1, 1, t->p1);
  ga__mat3_skew(P2, 1, t->p2);
  ga__mat3_skew(Ms, 1, m);
  ga__vec3_cross(c, t->p, m);
  for (int i = 0; i < 3; i++) d->Em[i] = s * (m[i] - c[i]);
  for (int i = 0; i < 9; i++) {
    const int r = i / 3, k = i % 3;
    const double one = r == k, s1_by_p = 2 * s * s * s * pp1 * t->p[k] - s * s * t->p1[k];
    d->E[i] = s * (one + P[i]);
    d->h_by_p[i] = -s * s * t->e1[r] * t->p[k] - s * P1[i];
    d->b_by_v[i] = -s * s * t->e1[r] * t->p[k] + s1 * (one + P[i]);
    d->a_by_p[i] = -s * s * t->e2[r] * t->p[k] - s * P2[i] + t->e1[r] * s1_by_p - s1 * P1[i];
    d->f_by_p[i] = -s * (d->Em[r] * t->p[k]) + s * Ms[i];
  }
}

/* R M x */
static void turned(const double R[9], const double M[9], const double x[3], double out[3])
{
  double y[3];
  ga__mat3_mul_vec(y, M, x);
  ga__mat3_mul_vec(out, R, y);
}

/* Terms of second order by amplitude a: with y = Σ_b g_ab η'_b and z = Σ_b g_ab η''_b, the rate of columns,
 * R y in R φ η' and its rates; ½ of the same of rotations in p' and p''. */
static void by_second(const motion *m, int a, const turn_tangent *d, const ga__kin *k, const ga__carrier *eta,
                      ga__carried_motion *out)
{
  const int N = 6 + m->moved.n, at = 6 + a;
  const double *w = k->w + 3;
  double x[3], y[3], z[3];
  second_column(&m->moved, a, eta->v, x);
  ga__mat3_mul_vec(y, k->R, x);
  put_column(out->rate_by_q, 0, at, N, y);
  for (int i = 0; i < 3; i++) out->bias_by_v[i * N + at] += 2 * y[i];
  ga__vec3_cross(z, w, y);
  for (int i = 0; i < 3; i++) out->acc_by_q[i * N + at] += 2 * z[i];
  second_column(&m->moved, a, eta->vdot, x);
  ga__mat3_mul_vec(y, k->R, x);
  put_column(out->acc_by_q, 0, at, N, y);
  second_column(&m->half, a, eta->v, x); /* p' by η_a; p'' by η'_a is twice that */
  turned(k->R, d->E, x, y);
  put_column(out->rate_by_q, 3, at, N, y);
  for (int i = 0; i < 3; i++) out->bias_by_v[(3 + i) * N + at] += 2 * y[i];
  ga__vec3_cross(z, w, y);
  put_column(out->acc_by_q, 3, at, N, z);
  turned(k->R, d->b_by_v, x, y);
  put_column(out->acc_by_q, 3, at, N, y);
  second_column(&m->half, a, eta->vdot, x);
  turned(k->R, d->E, x, y);
  put_column(out->acc_by_q, 3, at, N, y);
}

/* By amplitude a: column 6 + a. */
static void by_amplitude(const motion *m, int a, const turn_tangent *d, const ga__kin *k,
                         ga__carried_motion *out)
{
  const int N = 6 + m->moved.n, at = 6 + a;
  const double *w = k->w + 3, *acc = k->acc + 3;
  double x[3], y[3], z[3], f[3], v[3];
  column(&m->moved, a, x);
  ga__mat3_mul_vec(f, k->R, x);
  column(&m->half, a, x);
  turned(k->R, d->E, x, v);
  put_column(out->T, 0, at, N, f);
  put_column(out->T, 3, at, N, v);
  if (out->only_T) return;
  ga__vec3_cross(y, w, f); /* ω × R φ */
  put_column(out->rate_by_q, 0, at, N, y);
  for (int i = 0; i < 3; i++) out->bias_by_v[i * N + at] += 2 * y[i];
  ga__vec3_cross(z, w, y);
  put_column(out->acc_by_q, 0, at, N, z);
  ga__vec3_cross(z, acc, f);
  put_column(out->acc_by_q, 0, at, N, z);
  turned(k->R, d->h_by_p, x, y);
  put_column(out->rate_by_q, 3, at, N, y);
  ga__vec3_cross(z, w, y); /* ω × h, by p */
  put_column(out->acc_by_q, 3, at, N, z);
  turned(k->R, d->a_by_p, x, y);
  put_column(out->acc_by_q, 3, at, N, y);
  turned(k->R, d->b_by_v, x, y);
  put_column(out->bias_by_v, 3, at, N, y);
  ga__vec3_cross(z, w, v); /* ω × h, by p' */
  put_column(out->bias_by_v, 3, at, N, z);
}

/* Tᵀ (F, M) = (F, r × F + M, (R φ)ᵀ F + ½ ψᵀ Eᵀ Rᵀ M) by q. */
static void force_by_q(const motion *m, const turn_tangent *d, const ga__kin *k, ga__carried_motion *out)
{
  const int n = m->moved.n, N = 6 + n;
  const double *F = out->wrench, *M = out->wrench + 3;
  double local[3];
  ga__mat3_tmul_vec(local, k->R, F);
  memset(out->force_by_q, 0, (size_t)N * (size_t)N * sizeof(double));
  put_product(out->force_by_q, 3, 3, N, 1, F, m->r);
  for (int a = 0; a < n; a++) {
    double x[3], f[3], y[3], z[3];
    column(&m->moved, a, x);
    ga__mat3_mul_vec(f, k->R, x);
    ga__vec3_cross(y, f, F); /* δr × F */
    put_column(out->force_by_q, 3, 6 + a, N, y);
    /* (R φ)·F and v·M with v = R E ½ψ, by δφ: (δφ × f)·F = (f × F)·δφ */
    for (int i = 0; i < 3; i++) out->force_by_q[(6 + a) * N + 3 + i] += y[i];
    column(&m->half, a, x);
    turned(k->R, d->E, x, f);
    ga__vec3_cross(z, f, M);
    for (int i = 0; i < 3; i++) out->force_by_q[(6 + a) * N + 3 + i] += z[i];
    for (int b = 0; b < n; b++) {
      double xb[3];
      column(&m->half, b, xb);
      ga__mat3_mul_vec(z, d->f_by_p, xb);
      out->force_by_q[(6 + a) * N + 6 + b] += ga__vec3_dot(x, z);
    }
    for (int b = 0; b < n && m->moved.second; b++) { /* R g_ab·F + ½ γ_ab·Eᵀ Rᵀ M */
      const size_t at = (size_t)a * (size_t)n + (size_t)b, page = (size_t)n * (size_t)n;
      for (int i = 0; i < 3; i++)
        out->force_by_q[(6 + a) * N + 6 + b] += m->moved.second[(size_t)i * page + at] * local[i] +
                                                0.5 * m->half.second[(size_t)i * page + at] * d->Em[i];
    }
  }
}

void ga__modal_carry(const ga__modal_point *point, const double centre[3], int n, const ga__carrier *carrier,
                     ga__carried_motion *out)
{
  static const double none[3] = {0, 0, 0};
  const ga__kin *k = carrier[0].kin;
  const int N = 6 + n;
  motion m;
  turn_tangent d;
  move(point, centre, n, carrier, &m, &out->kin);
  if (!out->T) return;
  double *const all[] = {out->T, out->rate_by_q, out->bias_by_v, out->acc_by_q};
  for (int i = 0; i < (out->only_T ? 1 : 4); i++) memset(all[i], 0, 6 * (size_t)N * sizeof(double));
  double moment[3];
  ga__mat3_tmul_vec(moment, k->R, out->only_T ? none : out->wrench + 3);
  tangent_of(&m.t, moment, &d);
  by_frame(&m, k, N, out);
  for (int a = 0; a < n; a++) {
    by_amplitude(&m, a, &d, k, out);
    if (point->second && !out->only_T) by_second(&m, a, &d, k, &carrier[1], out);
  }
  if (!out->only_T) force_by_q(&m, &d, k, out);
}
