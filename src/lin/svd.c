/* Singular value decomposition of a small dense matrix: range, null space, least squares. */
#include "lin/lin_impl.h"
#include <lapacke.h>
#include <string.h>

void ga__svd_destroy(ga__svd *s)
{
  if (!s->ctx) return;
  double *const block[] = {s->basis, s->left, s->sigma, s->copy, s->work};
  for (size_t i = 0; i < sizeof block / sizeof *block; i++) ga__free(s->ctx, block[i]);
  memset(s, 0, sizeof *s);
}

/* Length of LAPACK's work array; 0: nothing to do; −1: the query failed. */
static double work_length(int rows, int cols)
{
  double length = 0.0, none = 0.0;
  if (rows == 0 || cols == 0) return 0.0;
  const lapack_int info = LAPACKE_dgesvd_work(LAPACK_COL_MAJOR, 'A', 'A', cols, rows, &none, cols, &none,
                                              &none, cols, &none, rows, &length, -1);
  return info ? -1.0 : length;
}

ga_status ga__svd_create(ga_context *ctx, int rows, int cols, ga__svd *s)
{
  const size_t m = (size_t)rows, n = (size_t)cols, least = m < n ? m : n;
  const double length = work_length(rows, cols);
  *s = (ga__svd){.ctx = ctx, .rows = rows, .cols = cols, .n_work = (int)length};
  s->basis = ga__alloc(ctx, n, n * sizeof(double));
  s->left = ga__alloc(ctx, m, m * sizeof(double));
  s->sigma = ga__alloc(ctx, least, sizeof(double));
  s->copy = ga__alloc(ctx, m, n * sizeof(double));
  s->work = length < 0.0 ? NULL : ga__alloc(ctx, (size_t)length, sizeof(double));
  if (s->basis && s->left && s->sigma && s->copy && s->work) return GA_OK;
  ga__svd_destroy(s);
  return ga__no_memory(ctx, "singular values");
}

/* A by rows is Aᵀ by columns: Aᵀ = V Σ Uᵀ. */
ga_status ga__svd_compute(ga__svd *s, const double *A, double tolerance)
{
  const int m = s->rows, n = s->cols, least = m < n ? m : n;
  s->rank = 0;
  if (least == 0) {
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) s->basis[(size_t)i * (size_t)n + (size_t)j] = i == j;
    return GA_OK;
  }
  memcpy(s->copy, A, (size_t)m * (size_t)n * sizeof *A);
  const lapack_int info = LAPACKE_dgesvd_work(LAPACK_COL_MAJOR, 'A', 'A', n, m, s->copy, n, s->sigma,
                                              s->basis, n, s->left, m, s->work, s->n_work);
  if (info)
    return ga__refuse(s->ctx, GA_RETRY_NAN, GA_REASON_SINGULAR_VALUES,
                      &(ga__facts){GA__NUMBERS({m, NULL}, {n, NULL})});
  while (s->rank < least && s->sigma[s->rank] > tolerance * s->sigma[0]) s->rank++;
  return GA_OK;
}

const double *ga__svd_range(const ga__svd *s, int i)
{
  return s->basis + (size_t)i * (size_t)s->cols;
}

const double *ga__svd_null(const ga__svd *s, int i)
{
  return ga__svd_range(s, s->rank + i);
}

/* x := V Σ⁻¹ Uᵀ b */
void ga__svd_solve(const ga__svd *s, const double *b, double *x)
{
  for (int i = 0; i < s->cols; i++) x[i] = 0.0;
  for (int k = 0; k < s->rank; k++) {
    const double *v = ga__svd_range(s, k);
    double sum = 0.0;
    for (int j = 0; j < s->rows; j++) sum += s->left[(size_t)j * (size_t)s->rows + (size_t)k] * b[j];
    for (int i = 0; i < s->cols; i++) x[i] += v[i] * (sum / s->sigma[k]);
  }
}
