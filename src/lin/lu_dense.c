/* Dense LU factors: P R⁻¹ A = L U, R the row maxima. Plain C for small matrices, LAPACK above.
 *
 * OpenBLAS starts threads of its own inside dgetrf; programs that run several contexts in threads should set
 * OPENBLAS_NUM_THREADS=1. Only dgetrf of large matrices is called here, all else is plain C. */
#include "lin/columns.h"
#include "lin/lu_data.h"
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

/* Largest n for plain C. Full matrices, µs, plain C (-O2, -O3) and dgetrf (Zen, one thread):
 * n=16: 2.3, 1.9, 2.4; n=24: 5.7, 5.2, 9.4; n=32: 15, 11, 9.4; n=48: 35, 33, 17; n=96: 498, 240, 107. */
enum { PLAIN_MOST = 28 };

static void dense_destroy(ga_lu *lu)
{
  ga__lu_dense_data *d = lu->data;
  ga__free(lu->ctx, d->factor);
  ga__free(lu->ctx, d->scale);
  ga__free(lu->ctx, d->x);
  ga__free(lu->ctx, d->pivot);
  ga__free(lu->ctx, d->row);
  ga__free(lu->ctx, d);
  lu->data = NULL;
}

static ga_status dense_create(ga_lu *lu)
{
  const size_t n = (size_t)lu->A->cols, width = (n + 3) / 4 * 4;
  ga__lu_dense_data *d = lu->data = ga__alloc(lu->ctx, 1, sizeof *d);
  if (d) {
    d->width = (int)width;
    d->factor = ga__alloc(lu->ctx, n, width * sizeof *d->factor);
    d->scale = ga__alloc(lu->ctx, width, sizeof *d->scale);
    d->x = ga__alloc(lu->ctx, width, sizeof *d->x);
    d->pivot = ga__alloc(lu->ctx, n, sizeof *d->pivot);
    d->row = ga__alloc(lu->ctx, n, sizeof *d->row);
  }
  if (!d || !d->factor || !d->scale || !d->x || !d->pivot || !d->row)
    return ga__no_memory(lu->ctx, "dense LU factors");
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

/* f := A, dense by columns of the width W. */
static void expand(double *restrict f, const ga_sparse *A, size_t W)
{
  memset(f, 0, (size_t)A->cols * W * sizeof *f);
  for (int j = 0; j < A->cols; j++, f += W)
    for (int p = A->col_start[j]; p < A->col_start[j + 1]; p++) f[A->row[p]] = A->value[p];
}

/* scale := 1/max_j |f_ij|, f := diag(scale) f. A zero row keeps a finite scale. */
GA__WIDE static void scale_rows(double *f, double *scale, int n, int W)
{
  const ga__quad_mask sign = {INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX};
  const ga__quad one = {1, 1, 1, 1}, least = {DBL_MIN, DBL_MIN, DBL_MIN, DBL_MIN};
  for (int i = 0; i < W; i += 4, f += 4) {
    ga__quad most = least;
    for (int j = 0; j < n; j++) {
      const ga__quad size = (ga__quad)((ga__quad_mask)ga__quad_load(f + (size_t)j * (size_t)W) & sign);
      most = ga__quad_larger(size, most);
    }
    const ga__quad by = *(ga__quad *)(scale + i) = one / most;
    for (int j = 0; j < n; j++) *(ga__quad *)(f + (size_t)j * (size_t)W) *= by;
  }
}

static void swap(double *a, double *b)
{
  const double keep = *a;
  *a = *b;
  *b = keep;
}

/* The row of the largest entry of a column from row k on. */
static int find_pivot(const double *c, int k, int n)
{
  int best = k;
  double most = fabs(c[k]);
  for (int i = k + 1; i < n; i++)
    if (fabs(c[i]) > most) most = fabs(c[i]), best = i;
  return best;
}

/* The rows below the pivot, row k, over it. */
GA__INLINE void divide_below(double *c, int k, int W)
{
  const double inverse = 1 / c[k];
  const int first = k / 4 * 4;
  const ga__quad_mask behind = GA__BEHIND[k % 4];
  const ga__quad v = ga__quad_load(c + first), over = v * inverse;
  *(ga__quad *)(c + first) = (ga__quad)(((ga__quad_mask)over & behind) | ((ga__quad_mask)v & ~behind));
  for (int i = first + 4; i < W; i += 4) *(ga__quad *)(c + i) *= inverse;
}

/* f := L\U with partial pivoting, column by column: exchanges of the columns before, L⁻¹, the pivot, and its
 * exchange in all columns so far. A column of zeros is left as it is: its pivot 0 is found afterwards. */
GA__WIDE static void factor_plain(double *f, lapack_int *pivot, int n, int W)
{
  double *c = f;
  for (int k = 0; k < n; k++, c += W) {
    for (int i = 0; i < k; i++) swap(c + i, c + pivot[i] - 1);
    ga__eliminate_columns(c, f, W, k);
    const int best = find_pivot(c, k, n);
    pivot[k] = best + 1;
    if (c[best] == 0) continue;
    for (int j = 0; best != k && j <= k; j++) swap(f + j * W + k, f + j * W + best);
    divide_below(c, k, W);
  }
}

static void follow_exchanges(ga__lu_dense_data *d, int n)
{
  for (int k = 0; k < n; k++) d->row[k] = k;
  for (int k = 0; k < n; k++) {
    const int other = (int)d->pivot[k] - 1, row = d->row[k];
    d->row[k] = d->row[other];
    d->row[other] = row;
  }
}

static ga_status dense_factor(ga_lu *lu)
{
  ga__lu_dense_data *d = lu->data;
  const int n = lu->A->cols, W = d->width;
  expand(d->factor, lu->A, (size_t)W);
  scale_rows(d->factor, d->scale, n, W);
  if (n <= PLAIN_MOST)
    factor_plain(d->factor, d->pivot, n, W);
  else
    LAPACKE_dgetrf_work(LAPACK_COL_MAJOR, n, n, d->factor, W, d->pivot);
  follow_exchanges(d, n);
  lu->info.n_factor++;
  if (ga__lu_check_pivots(lu, d->factor, (size_t)W + 1, NULL) == GA__PIVOTS_MISSING)
    return ga__lu_singular(lu);
  return GA_OK;
}

/* x := U⁻¹ x in the m rows from k on; then their products are subtracted from the rows before, of which there
 * are a multiple of four. */
GA__INLINE void upper_rows(double *x, const double *f, int W, int k, const int m)
{
  const double *u = f + (size_t)k * (size_t)W;
  double y[4];
  GA__UNROLLED
  for (int j = 0; j < m; j++) y[j] = x[k + j];
  GA__UNROLLED
  for (int j = m - 1; j >= 0; j--) {
    y[j] /= u[j * W + k + j];
    GA__UNROLLED
    for (int i = 0; i < j; i++) y[i] -= y[j] * u[j * W + k + i];
  }
  GA__UNROLLED
  for (int j = 0; j < m; j++) x[k + j] = y[j];
  for (int i = 0; i < k; i += 4) {
    ga__quad v = ga__quad_load(x + i);
    GA__UNROLLED
    for (int j = m - 1; j >= 0; j--) v -= y[j] * ga__quad_load(u + j * W + i);
    *(ga__quad *)(x + i) = v;
  }
}

/* x := U⁻¹ L⁻¹ x */
GA__WIDE static void solve_columns(double *x, const double *f, int n, int W)
{
  int k = n / 4 * 4;
  ga__eliminate_columns(x, f, W, n);
  if (n - k == 3) upper_rows(x, f, W, k, 3);
  if (n - k == 2) upper_rows(x, f, W, k, 2);
  if (n - k == 1) upper_rows(x, f, W, k, 1);
  while ((k -= 4) >= 0) upper_rows(x, f, W, k, 4);
}

/* b := U⁻¹ L⁻¹ P R⁻¹ b */
static void dense_solve(ga_lu *lu, double *b)
{
  const ga__lu_dense_data *d = lu->data;
  const int n = lu->A->cols, W = d->width;
  double *x = d->x;
  for (int k = 0; k < n; k++) x[k] = b[d->row[k]] * d->scale[d->row[k]];
  for (int k = n; k < W; k++) x[k] = 0;
  solve_columns(x, d->factor, n, W);
  memcpy(b, x, (size_t)n * sizeof *b);
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
  const size_t n = (size_t)lu->A->cols, W = (size_t)d->width;
  double *x = d->x;
  for (size_t k = 0; k < n; k++) x[k] = (b[k] - dot(d->factor + k * W, x, k)) / d->factor[k * W + k];
  for (size_t k = n; k-- > 0;) x[k] -= dot(d->factor + k * W + k + 1, x + k + 1, n - k - 1);
  for (size_t k = 0; k < n; k++) b[d->row[k]] = x[k] * d->scale[d->row[k]];
}

const ga__lu_backend ga__lu_dense = {.create = dense_create,
                                     .destroy = dense_destroy,
                                     .factor = dense_factor,
                                     .solve = dense_solve,
                                     .solve_t = dense_solve_t,
                                     .column_max = dense_column_max};
