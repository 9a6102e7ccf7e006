/* How large the residual of a solution by LU factors can be: the factors themselves say so. Include after
 * cmocka.h. */
#ifndef GALPHA_TESTS_LIN_BOUNDS_H
#define GALPHA_TESTS_LIN_BOUNDS_H

#include "lin/lu_data.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Numbers of one bound, in one block. */
static inline double *bound_numbers(size_t n)
{
  double *block = calloc(n + 1, sizeof *block);
  assert_non_null(block);
  return block;
}

/* y[n] := |L| |U| |x| in the order of the rows of A, divided by the scales of rows. */
static inline void bound_dense(const ga_lu *lu, const double *x, double *y)
{
  const ga__lu_dense_data *d = lu->data;
  const size_t n = (size_t)lu->A->cols, W = (size_t)d->width;
  double *u = bound_numbers(n);
  for (size_t j = 0; j < n; j++)
    for (size_t i = 0; i <= j; i++) u[i] += fabs(d->factor[j * W + i] * x[j]);
  for (size_t i = 0; i < n; i++) y[d->row[i]] = u[i];
  for (size_t j = 0; j < n; j++)
    for (size_t i = j + 1; i < n; i++) {
      assert_true(fabs(d->factor[j * W + i]) <= 1.0); /* the largest of its column was taken as pivot */
      y[d->row[i]] += fabs(d->factor[j * W + i]) * u[j];
    }
  for (size_t i = 0; i < n; i++) y[i] /= d->scale[i];
  free(u);
}

typedef struct bound_matrix { /* by columns */
  int *start, *row;
  double *value;
} bound_matrix;

static inline bound_matrix bound_matrix_new(int n, int entries)
{
  bound_matrix m = {calloc((size_t)n + 1, sizeof(int)), calloc((size_t)entries + 1, sizeof(int)),
                    bound_numbers((size_t)entries)};
  assert_true(m.start && m.row);
  return m;
}

static inline void bound_matrix_free(bound_matrix *m)
{
  free(m->start), free(m->row), free(m->value);
}

static inline void bound_add(double *y, const bound_matrix *m, const double *x, int n)
{
  for (int j = 0; j < n; j++)
    for (int p = m->start[j]; p < m->start[j + 1]; p++) y[m->row[p]] += fabs(m->value[p]) * x[j];
}

/* The same: P (R A) Q = L U + F, F the blocks above the diagonal ones. */
static inline void bound_klu(const ga_lu *lu, const double *x, double *y)
{
  ga__lu_klu_data *s = lu->data;
  const int n = lu->A->cols;
  bound_matrix L = bound_matrix_new(n, s->numeric->lnz), U = bound_matrix_new(n, s->numeric->unz),
               F = bound_matrix_new(n, s->numeric->nzoff);
  int *P = calloc((size_t)n + 1, sizeof *P), *Q = calloc((size_t)n + 1, sizeof *Q),
      *blocks = calloc((size_t)n + 2, sizeof *blocks);
  double *z = bound_numbers(3 * (size_t)n), *u = z + n, *sum = u + n;
  assert_true(P && Q && blocks);
  assert_true(klu_extract(s->numeric, s->symbolic, L.start, L.row, L.value, U.start, U.row, U.value, F.start,
                          F.row, F.value, P, Q, NULL, blocks, &s->common));
  for (int p = 0; p < s->numeric->lnz && ga_lu_get_info(lu)->n_refactor == 0; p++)
    assert_true(fabs(L.value[p]) <= 10 * (1 + DBL_EPSILON)); /* as pivots were chosen */
  for (int k = 0; k < n; k++) z[k] = fabs(x[Q[k]]);
  bound_add(u, &U, z, n);
  bound_add(sum, &L, u, n);
  bound_add(sum, &F, z, n);
  for (int k = 0; k < n; k++) y[P[k]] = sum[k] / s->R[P[k]];
  bound_matrix_free(&L), bound_matrix_free(&U), bound_matrix_free(&F);
  free(P), free(Q), free(blocks), free(z);
}

/* The largest |b − A x|_i as part of what rounding can make it,
 *
 *   3 n ε |L| |U| |x|  +  (m_i + 2) ε (|A| |x| + |b|)_i,    m_i entries in the row,
 *
 * the first being Wilkinson's bound for elimination and both substitutions whatever the pivots (Higham,
 * Accuracy and Stability of Numerical Algorithms, theorem 9.4), the second that of scales and of the residual
 * itself as it is computed here. Above 1, something else than rounding is at work. */
static inline double rounding_part(const ga_lu *lu, const double *x, const double *b)
{
  const ga_sparse *A = lu->A;
  const int n = A->cols;
  double *room = bound_numbers(4 * (size_t)n), *r = room + n, *size = r + n, *entries = size + n, worst = 0;
  if (ga_lu_get_info(lu)->kind == GA_LU_DENSE)
    bound_dense(lu, x, room);
  else
    bound_klu(lu, x, room);
  ga_sparse_mul(r, A, x);
  for (int j = 0; j < n; j++)
    for (int p = A->col_start[j]; p < A->col_start[j + 1]; p++) {
      size[A->row[p]] += fabs(A->value[p] * x[j]);
      entries[A->row[p]]++;
    }
  for (int i = 0; i < n; i++) {
    const double bound =
        DBL_EPSILON * (3.0 * n * room[i] + (entries[i] + 2) * (size[i] + fabs(b[i]))) + DBL_MIN;
    const double part = fabs(b[i] - r[i]) / bound;
    if (!(part <= worst)) worst = part; /* keeps a NaN */
  }
  free(room);
  return worst;
}

#endif
