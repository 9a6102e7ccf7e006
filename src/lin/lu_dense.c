/* Dense LU factors: P R⁻¹ A = L U, R the row maxima. Plain C for small matrices, LAPACK above.
 *
 * OpenBLAS starts threads of its own inside dgetrf; programs that run several contexts in threads should set
 * OPENBLAS_NUM_THREADS=1. Only dgetrf of large matrices is called here, all else is plain C. */
#include "lin/lu_data.h"
#include <float.h>
#include <limits.h>
#include <math.h>
#include <string.h>

/* Largest n for plain C. Full matrices, µs, plain C (-O2, -O3) and dgetrf (Zen, one thread):
 * n=16: 2.3, 1.9, 2.4; n=24: 5.7, 5.2, 9.4; n=32: 15, 11, 9.4; n=48: 35, 33, 17; n=96: 498, 240, 107. */
enum { PLAIN_MOST = 28 };

static void dense_destroy(ga_lu *lu)
{
  ga__lu_dense_data *d = lu->data;
  ga__free(lu->ctx, d->factor);
  ga__free(lu->ctx, d->scale);
  ga__free(lu->ctx, d->pivot);
  ga__free(lu->ctx, d);
  lu->data = NULL;
}

static ga_status dense_create(ga_lu *lu)
{
  const size_t n = (size_t)lu->A->cols;
  ga__lu_dense_data *d = lu->data = ga__alloc(lu->ctx, 1, sizeof *d);
  if (d) {
    d->factor = ga__alloc(lu->ctx, n, n * sizeof *d->factor);
    d->scale = ga__alloc(lu->ctx, n, sizeof *d->scale);
    d->pivot = ga__alloc(lu->ctx, n, sizeof *d->pivot);
  }
  if (!d || !d->factor || !d->scale || !d->pivot) return ga__no_memory(lu->ctx, "dense LU factors");
  lu->info.n_fill = n > INT_MAX / n ? INT_MAX : (int)(n * n);
  return GA_OK;
}

/* The largest entry of a column of R⁻¹ A. */
static double dense_column_max(const ga_lu *lu, int column)
{
  const ga__lu_dense_data *d = lu->data;
  const ga_sparse *A = lu->A;
  double most = 0;
  for (int p = A->col_start[column]; p < A->col_start[column + 1]; p++) {
    const double size = fabs(A->value[p]) * d->scale[A->row[p]];
    if (size > most) most = size;
  }
  return most;
}

/* f := A, dense by columns. */
static void expand(double *restrict f, const ga_sparse *A)
{
  const size_t n = (size_t)A->rows;
  if ((size_t)A->nnz == n * n) {
    memcpy(f, A->value, n * n * sizeof *f);
    return;
  }
  memset(f, 0, n * n * sizeof *f);
  for (int j = 0; j < A->cols; j++) {
    for (int p = A->col_start[j]; p < A->col_start[j + 1]; p++)
      f[(size_t)j * n + (size_t)A->row[p]] = A->value[p];
  }
}

/* scale := 1/max_j |f_ij|, f := diag(scale) f. A zero row keeps a finite scale. */
static void scale_rows(double *restrict f, double *restrict scale, size_t n)
{
  for (size_t i = 0; i < n; i++) scale[i] = DBL_MIN;
  for (size_t j = 0; j < n; j++) {
    for (size_t i = 0; i < n; i++) {
      const double size = fabs(f[j * n + i]);
      scale[i] = size > scale[i] ? size : scale[i];
    }
  }
  for (size_t i = 0; i < n; i++) scale[i] = 1 / scale[i];
  for (size_t j = 0; j < n; j++) {
    for (size_t i = 0; i < n; i++) f[j * n + i] *= scale[i];
  }
}

static void swap(double *a, double *b)
{
  const double keep = *a;
  *a = *b;
  *b = keep;
}

/* y := y - m x */
static void subtract(double *restrict y, double m, const double *restrict x, size_t n)
{
  for (size_t i = 0; i < n; i++) y[i] -= m * x[i];
}

/* f := L\U with partial pivoting, column k at step k: l = f(k+1:,k)/f_kk, f(k+1:,j) -= f_kj l for j > k. A
 * column of zeros is left as it is: its pivot 0 is found afterwards. */
static void factor_plain(double *f, lapack_int *pivot, size_t n)
{
  for (size_t k = 0; k < n; k++) {
    double *l = f + k * n;
    size_t best = k;
    for (size_t i = k + 1; i < n; i++) {
      if (fabs(l[i]) > fabs(l[best])) best = i;
    }
    pivot[k] = (lapack_int)best + 1;
    if (l[best] == 0) continue;
    if (best != k) {
      for (size_t j = 0; j < n; j++) swap(f + j * n + k, f + j * n + best);
    }
    const double inverse = 1 / l[k];
    for (size_t i = k + 1; i < n; i++) l[i] *= inverse;
    for (size_t j = k + 1; j < n; j++) {
      const double m = f[j * n + k];
      if (m != 0) subtract(f + j * n + k + 1, m, l + k + 1, n - k - 1);
    }
  }
}

static ga_status dense_factor(ga_lu *lu)
{
  ga__lu_dense_data *d = lu->data;
  const size_t n = (size_t)lu->A->cols;
  expand(d->factor, lu->A);
  scale_rows(d->factor, d->scale, n);
  if (n <= PLAIN_MOST) {
    factor_plain(d->factor, d->pivot, n);
  } else {
    const lapack_int size = (lapack_int)n;
    LAPACKE_dgetrf_work(LAPACK_COL_MAJOR, size, size, d->factor, size, d->pivot);
  }
  lu->info.n_factor++;
  if (ga__lu_check_pivots(lu, d->factor, n + 1, NULL) == GA__PIVOTS_MISSING) return ga__lu_singular(lu);
  return GA_OK;
}

/* b := U⁻¹ L⁻¹ P R⁻¹ b */
static void dense_solve(ga_lu *lu, double *b)
{
  const ga__lu_dense_data *d = lu->data;
  const size_t n = (size_t)lu->A->cols;
  for (size_t i = 0; i < n; i++) b[i] *= d->scale[i];
  for (size_t k = 0; k < n; k++) swap(b + k, b + d->pivot[k] - 1);
  for (size_t k = 0; k < n; k++) {
    if (b[k] != 0) subtract(b + k + 1, b[k], d->factor + k * n + k + 1, n - k - 1);
  }
  for (size_t k = n; k-- > 0;) {
    b[k] /= d->factor[k * n + k];
    subtract(b, b[k], d->factor + k * n, k);
  }
}

static double dot(const double *restrict a, const double *restrict b, size_t n)
{
  double sum = 0;
  for (size_t i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

/* b := R⁻¹ Pᵀ L⁻ᵀ U⁻ᵀ b */
static void dense_solve_t(ga_lu *lu, double *b)
{
  const ga__lu_dense_data *d = lu->data;
  const size_t n = (size_t)lu->A->cols;
  for (size_t k = 0; k < n; k++) b[k] = (b[k] - dot(d->factor + k * n, b, k)) / d->factor[k * n + k];
  for (size_t k = n; k-- > 0;) b[k] -= dot(d->factor + k * n + k + 1, b + k + 1, n - k - 1);
  for (size_t k = n; k-- > 0;) swap(b + k, b + d->pivot[k] - 1);
  for (size_t i = 0; i < n; i++) b[i] *= d->scale[i];
}

const ga__lu_backend ga__lu_dense = {.create = dense_create,
                                     .destroy = dense_destroy,
                                     .factor = dense_factor,
                                     .solve = dense_solve,
                                     .solve_t = dense_solve_t,
                                     .column_max = dense_column_max};
