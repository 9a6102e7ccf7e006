#include "linearise.h"
#include "core/core_impl.h"

#include <lapacke.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Singular values below this part of the largest are zero. */
#define RANK_TOL 1e-9

/* A dense row-major matrix; everything here is small. */
typedef struct matrix {
  int rows, cols;
  double *a;
} matrix;

static matrix zeros(int rows, int cols)
{
  return (matrix){rows, cols, calloc((size_t)rows * (size_t)cols + 1, sizeof(double))};
}

static void drop(matrix *m)
{
  free(m->a);
  *m = (matrix){0, 0, NULL};
}

static double *at(const matrix *m, int i, int j)
{
  return m->a + (size_t)i * (size_t)m->cols + j;
}

static matrix product(const matrix *x, const matrix *y)
{
  matrix z = zeros(x->rows, y->cols);
  for (int i = 0; z.a && i < x->rows; i++)
    for (int k = 0; k < x->cols; k++)
      for (int j = 0; j < y->cols; j++) *at(&z, i, j) += *at(x, i, k) * *at(y, k, j);
  return z;
}

/* Rows [i, i+rows), columns [j, j+cols). */
static matrix part(const matrix *m, int i, int rows, int j, int cols)
{
  matrix p = zeros(rows, cols);
  for (int r = 0; p.a && r < rows; r++)
    for (int c = 0; c < cols; c++) *at(&p, r, c) = *at(m, i + r, j + c);
  return p;
}

/* m[i.., j..] += c p */
static void put(matrix *m, int i, int j, double c, const matrix *p)
{
  for (int r = 0; r < p->rows; r++)
    for (int k = 0; k < p->cols; k++) *at(m, i + r, j + k) += c * *at(p, r, k);
}

/* ---- Ranges and null spaces ---- */

typedef struct spaces {
  int rank;
  matrix range;   /* [cols][rank] what the rows span */
  matrix null;    /* [cols][cols−rank] */
  matrix inverse; /* [cols][rows] of least squares and least length */
} spaces;

static int spaces_find(spaces *s, const matrix *m)
{
  const int n = m->cols, k = m->rows, least = k < n ? k : n;
  matrix copy = part(m, 0, k, 0, n), U = zeros(k, k), Vt = zeros(n, n), sigma = zeros(1, least + 1),
         work = zeros(1, least + 1);
  int bad = !copy.a || !U.a || !Vt.a || !sigma.a || !work.a;
  memset(s, 0, sizeof *s);
  if (!bad && k > 0 && n > 0)
    bad = LAPACKE_dgesvd(LAPACK_ROW_MAJOR, 'A', 'A', k, n, copy.a, n, sigma.a, U.a, k, Vt.a, n, work.a) != 0;
  for (int i = 0; !bad && k == 0 && i < n; i++) *at(&Vt, i, i) = 1;
  while (!bad && s->rank < least && sigma.a[s->rank] > RANK_TOL * sigma.a[0]) s->rank++;
  s->range = zeros(n, s->rank);
  s->null = zeros(n, n - s->rank);
  s->inverse = zeros(n, k);
  bad |= !s->range.a || !s->null.a || !s->inverse.a;
  for (int i = 0; !bad && i < n; i++) {
    for (int j = 0; j < s->rank; j++) *at(&s->range, i, j) = *at(&Vt, j, i);
    for (int j = s->rank; j < n; j++) *at(&s->null, i, j - s->rank) = *at(&Vt, j, i);
    for (int j = 0; j < k; j++)
      for (int r = 0; r < s->rank; r++) *at(&s->inverse, i, j) += *at(&Vt, r, i) * *at(&U, j, r) / sigma.a[r];
  }
  drop(&copy), drop(&U), drop(&Vt), drop(&sigma), drop(&work);
  return bad;
}

static void spaces_drop(spaces *s)
{
  drop(&s->range), drop(&s->null), drop(&s->inverse);
}

/* ---- Derivatives ---- */

typedef struct slopes {
  matrix C, M, Q, G; /* [n][n] D with shift_v alone, with shift_vdot alone; Q; G */
} slopes;

static void spread(matrix *m, const ga_system *sys, const double *value)
{
  for (int e = 0; e < sys->n_entries; e++) *at(m, sys->row[e], sys->col[e]) += value[e];
}

static int slopes_find(slopes *s, const ga_system *sys, const ga_state *state)
{
  const ga_point p = {state->t,      state->q,   state->v, state->vdot,
                      state->lambda, state->psi, state->x, state->y};
  const size_t entries = (size_t)sys->n_entries;
  double *value = calloc(3 * entries + 1, sizeof *value);
  ga_jacobian J = {GA_WANT_D | GA_WANT_Q | GA_WANT_G, 1.0, 0.0, value, value + entries, value + 2 * entries};
  ga__deriv w;
  s->C = zeros(sys->n, sys->n), s->M = zeros(sys->n, sys->n), s->Q = zeros(sys->n, sys->n),
  s->G = zeros(sys->n, sys->n);
  int bad = !value || !s->C.a || !s->M.a || !s->Q.a || !s->G.a;
  if (bad || ga__deriv_create(sys, &w)) return free(value), 1;
  bad = ga__jacobian(&w, &p, &J) != GA_OK;
  if (!bad) spread(&s->C, sys, J.D), spread(&s->Q, sys, J.Q), spread(&s->G, sys, J.G);
  J.shift_v = 0.0, J.shift_vdot = 1.0;
  if (!bad) bad = ga__jacobian(&w, &p, &J) != GA_OK;
  if (!bad) spread(&s->M, sys, J.D);
  ga__deriv_destroy(&w);
  free(value);
  return bad;
}

static void slopes_drop(slopes *s)
{
  drop(&s->C), drop(&s->M), drop(&s->Q), drop(&s->G);
}

/* ---- The pencil ----
 *
 * δq = N z1 is what B leaves; δv = Z z2 + P N z1 what the hidden and the nonholonomic constraints leave, with
 * P = −[B; A]⁺ [G; k_q]; multipliers δλ, δψ = Y μ within what they can do. With D = by v, λ, ψ, x, y and M by
 * vdot,
 *
 *   z1' = Nᵀ (δv − [v, δq])
 *   M δv' + C δv + K δq + D_λ Y μ + D_x δx + D_y δy = 0
 *   δx' + (the same of the states' equations) = 0,     δy + (of the outputs') = 0
 *
 * E z' = A z for z = (z1, z2, δx, μ, δy), of index 1: as many infinite eigenvalues as there are μ and δy. */

typedef struct pencil {
  int n_q, n_v, n_x, n_mu, n_y, n;
  matrix E, A;
} pencil;

static matrix bracket_matrix(const ga_system *sys, const double *v)
{
  matrix ad = zeros(sys->nv, sys->nv), unit = zeros(1, sys->nv), column = zeros(1, sys->nv);
  for (int j = 0; ad.a && unit.a && column.a && j < sys->nv; j++) {
    unit.a[j] = 1;
    ga_group_bracket(sys->group, column.a, v, unit.a);
    unit.a[j] = 0;
    for (int i = 0; i < sys->nv; i++) *at(&ad, i, j) = column.a[i];
  }
  drop(&unit), drop(&column);
  return ad;
}

/* The equations of one block of rows [i, i+rows): E of δv', A of the rest, into rows `to` of the pencil. */
static void fill_rows(pencil *p, const ga_system *sys, const slopes *s, const matrix *N, const matrix *Z,
                      const matrix *PN, const matrix *Y, int i, int rows, int to)
{
  const int nv = sys->nv, n_multipliers = sys->size[GA_BLOCK_LAMBDA] + sys->size[GA_BLOCK_PSI];
  const int q = 0, v = p->n_q, x = v + p->n_v, mu = x + p->n_x, y = mu + p->n_mu;
  matrix M = part(&s->M, i, rows, 0, nv), C = part(&s->C, i, rows, 0, nv), K = part(&s->Q, i, rows, 0, nv);
  matrix F = part(&s->C, i, rows, nv, n_multipliers),
         X = part(&s->C, i, rows, sys->start[GA_BLOCK_X], p->n_x);
  matrix O = part(&s->C, i, rows, sys->start[GA_BLOCK_Y], p->n_y);
  matrix MZ = product(&M, Z), MP = product(&M, PN), CZ = product(&C, Z), CP = product(&C, PN),
         KN = product(&K, N), FY = product(&F, Y);
  put(&p->E, to, v, 1, &MZ);
  put(&p->E, to, q, 1, &MP);
  put(&p->A, to, v, -1, &CZ);
  put(&p->A, to, q, -1, &CP);
  put(&p->A, to, q, -1, &KN);
  put(&p->A, to, mu, -1, &FY);
  put(&p->A, to, x, -1, &X);
  put(&p->A, to, y, -1, &O);
  matrix *const all[] = {&M, &C, &K, &F, &X, &O, &MZ, &MP, &CZ, &CP, &KN, &FY};
  for (size_t k = 0; k < sizeof all / sizeof *all; k++) drop(all[k]);
}

static void fill_positions(pencil *p, const ga_system *sys, const ga_state *state, const matrix *N,
                           const matrix *Z, const matrix *PN)
{
  matrix ad = bracket_matrix(sys, state->v), Nt = zeros(N->cols, N->rows), adN = product(&ad, N);
  for (int i = 0; i < N->rows; i++)
    for (int j = 0; j < N->cols; j++) *at(&Nt, j, i) = *at(N, i, j);
  matrix a = product(&Nt, Z), b = product(&Nt, PN), c = product(&Nt, &adN);
  for (int i = 0; i < p->n_q; i++) *at(&p->E, i, i) = 1;
  put(&p->A, 0, p->n_q, 1, &a);
  put(&p->A, 0, 0, 1, &b);
  put(&p->A, 0, 0, -1, &c);
  drop(&ad), drop(&Nt), drop(&adN), drop(&a), drop(&b), drop(&c);
}

static void fill(pencil *p, const ga_system *sys, const ga_state *state, const slopes *s, const spaces *B,
                 const spaces *J, const spaces *F, const matrix *rates)
{
  matrix PN = product(&J->inverse, rates), minus = zeros(PN.rows, PN.cols);
  put(&minus, 0, 0, -1, &PN);
  matrix P = product(&minus, &B->null);
  const int dynamics = p->n_q, states = dynamics + sys->nv, outputs = states + p->n_x;
  fill_positions(p, sys, state, &B->null, &J->null, &P);
  fill_rows(p, sys, s, &B->null, &J->null, &P, &F->range, 0, sys->nv, dynamics);
  fill_rows(p, sys, s, &B->null, &J->null, &P, &F->range, sys->start[GA_BLOCK_X], p->n_x, states);
  fill_rows(p, sys, s, &B->null, &J->null, &P, &F->range, sys->start[GA_BLOCK_Y], p->n_y, outputs);
  for (int i = 0; i < p->n_x; i++) *at(&p->E, states + i, p->n_q + p->n_v + i) += 1;
  for (int i = 0; i < p->n_y; i++) *at(&p->A, outputs + i, p->n - p->n_y + i) -= 1;
  drop(&PN), drop(&minus), drop(&P);
}

static int pencil_find(pencil *p, const ga_system *sys, const ga_state *state, char *text, size_t size)
{
  const int nv = sys->nv, nl = sys->size[GA_BLOCK_LAMBDA], np = sys->size[GA_BLOCK_PSI];
  slopes s = {{0}, {0}, {0}, {0}};
  spaces SB, SJ, SF;
  snprintf(text, size, "the Jacobian cannot be evaluated");
  int bad = slopes_find(&s, sys, state);
  if (bad) return slopes_drop(&s), 1;
  matrix B = part(&s.Q, nv, nl, 0, nv), J = zeros(nl + np, nv), F = part(&s.C, 0, nv, nv, nl + np),
         rates = zeros(nl + np, nv);
  matrix A = part(&s.C, nv + nl, np, 0, nv), G = part(&s.G, nv, nl, 0, nv),
         k_q = part(&s.Q, nv + nl, np, 0, nv);
  put(&J, 0, 0, 1, &B), put(&J, nl, 0, 1, &A);
  put(&rates, 0, 0, 1, &G), put(&rates, nl, 0, 1, &k_q);
  snprintf(text, size, "the singular values do not converge");
  bad = spaces_find(&SB, &B);
  bad |= spaces_find(&SJ, &J);
  bad |= spaces_find(&SF, &F);
  p->n_q = nv - SB.rank, p->n_v = nv - SJ.rank, p->n_mu = SF.rank;
  p->n_x = sys->size[GA_BLOCK_X], p->n_y = sys->size[GA_BLOCK_Y];
  p->n = p->n_q + nv + p->n_x + p->n_y;
  p->E = zeros(p->n, p->n), p->A = zeros(p->n, p->n);
  if (!bad && SF.rank != SJ.rank)
    bad = snprintf(text, size, "constraint forces span %d directions, constraints %d", SF.rank, SJ.rank);
  if (!bad) fill(p, sys, state, &s, &SB, &SJ, &SF, &rates);
  drop(&B), drop(&J), drop(&F), drop(&rates), drop(&A), drop(&G), drop(&k_q);
  spaces_drop(&SB), spaces_drop(&SJ), spaces_drop(&SF);
  slopes_drop(&s);
  return bad;
}

/* ---- Eigenvalues ---- */

typedef struct ratio {
  double re, im, size; /* size: β over the length of (α, β), 0 for an infinite one */
} ratio;

static int by_size(const void *a, const void *b)
{
  const double x = ((const ratio *)a)->size, y = ((const ratio *)b)->size;
  return (x < y) - (x > y);
}

static int by_real_part(const void *a, const void *b)
{
  const ratio *x = a, *y = b;
  if (x->re != y->re) return (x->re < y->re) - (x->re > y->re);
  return (x->im < y->im) - (x->im > y->im);
}

int vf_modes_find(const ga_system *sys, const ga_state *s, vf_modes *modes, char *text, size_t size)
{
  pencil p = {0};
  *modes = (vf_modes){0};
  int bad = pencil_find(&p, sys, s, text, size);
  const int n = p.n, finite = p.n_q + p.n_v + p.n_x;
  double *alpha = calloc((size_t)(3 * n + 1), sizeof *alpha);
  ratio *all = calloc((size_t)(n + 1), sizeof *all);
  modes->re = calloc((size_t)(2 * n + 1), sizeof(double));
  modes->im = modes->re ? modes->re + n : NULL;
  if (!bad) snprintf(text, size, "the eigenvalues do not converge");
  if (!bad) bad = !alpha || !all || !modes->re || !p.A.a || !p.E.a;
  if (!bad)
    bad = LAPACKE_dggev(LAPACK_ROW_MAJOR, 'N', 'N', n, p.A.a, n, p.E.a, n, alpha, alpha + n, alpha + 2 * n,
                        NULL, 1, NULL, 1) != 0;
  for (int i = 0; !bad && i < n; i++) {
    const double beta = alpha[2 * n + i];
    all[i] = (ratio){alpha[i] / beta, alpha[n + i] / beta,
                     fabs(beta) / hypot(beta, hypot(alpha[i], alpha[n + i]))};
  }
  if (!bad) {
    qsort(all, (size_t)n, sizeof *all, by_size);
    qsort(all, (size_t)finite, sizeof *all, by_real_part);
    modes->n = finite;
  }
  for (int i = 0; i < modes->n; i++) modes->re[i] = all[i].re, modes->im[i] = all[i].im;
  free(alpha);
  free(all);
  drop(&p.E), drop(&p.A);
  if (bad) vf_modes_free(modes);
  return bad;
}

void vf_modes_free(vf_modes *modes)
{
  free(modes->re);
  *modes = (vf_modes){0};
}

double vf_modes_off(const vf_modes *modes, double re, double im)
{
  double least = INFINITY;
  for (int i = 0; i < modes->n; i++) least = fmin(least, hypot(modes->re[i] - re, modes->im[i] - im));
  return least;
}
