/* Eigenvalues and eigenvectors of a dense matrix. */
#include "lin/lin_impl.h"
#include <lapacke.h>
#include <string.h>

void ga__eigen_destroy(ga__eigen *e)
{
  if (!e->ctx) return;
  double *const block[] = {e->re, e->im, e->vectors, e->copy, e->work};
  for (size_t i = 0; i < sizeof block / sizeof *block; i++) ga__free(e->ctx, block[i]);
  memset(e, 0, sizeof *e);
}

/* Length of LAPACK's work array; −1: the query failed. */
static double work_length(int n)
{
  double none = 0.0, length = 0.0;
  if (n == 0) return 0.0;
  const lapack_int info = LAPACKE_dgeev_work(LAPACK_COL_MAJOR, 'N', 'V', n, &none, n, &none, &none, &none, 1,
                                             &none, n, &length, -1);
  return info ? -1.0 : length;
}

ga_status ga__eigen_create(ga_context *ctx, int most, ga__eigen *e)
{
  const size_t n = (size_t)most;
  const double length = work_length(most);
  *e = (ga__eigen){.ctx = ctx, .most = most, .n_work = (int)length};
  e->re = ga__alloc(ctx, n, sizeof(double));
  e->im = ga__alloc(ctx, n, sizeof(double));
  e->vectors = ga__alloc(ctx, n, n * sizeof(double));
  e->copy = ga__alloc(ctx, n, n * sizeof(double));
  e->work = length < 0.0 ? NULL : ga__alloc(ctx, (size_t)length, sizeof(double));
  if (e->re && e->im && e->vectors && e->copy && e->work) return GA_OK;
  ga__eigen_destroy(e);
  return ga__no_memory(ctx, "eigenvalues");
}

ga_status ga__eigen_compute(ga__eigen *e, int n, const double *A, int stride)
{
  double none = 0.0;
  e->n = 0;
  if (n == 0) return GA_OK;
  for (int j = 0; j < n; j++)
    memcpy(e->copy + (size_t)j * (size_t)n, A + (size_t)j * (size_t)stride, (size_t)n * sizeof *A);
  const lapack_int info = LAPACKE_dgeev_work(LAPACK_COL_MAJOR, 'N', 'V', n, e->copy, n, e->re, e->im, &none,
                                             1, e->vectors, n, e->work, e->n_work);
  if (info)
    return ga__refuse(e->ctx, GA_RETRY_NAN, GA_REASON_EIGENVALUES, &(ga__facts){GA__NUMBERS({n, NULL})});
  e->n = n;
  return GA_OK;
}
