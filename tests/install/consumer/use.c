/* What a user of the installed library might write; compiled as C and, through use.cpp, as C++. Solves
 * [2 1; 0 4] x = (4, 8) by KLU, so that what the library itself links is needed too. */
#include <galpha/galpha.h>
#include <math.h>
#include <stdio.h>

int main(void)
{
  static const int row[] = {0, 0, 1}, col[] = {0, 1, 1};
  static const double value[] = {2.0, 1.0, 4.0};
  double x[] = {4.0, 8.0};
  int place[3], i;
  ga_context *ctx = NULL;
  ga_sparse *A = NULL;
  ga_lu *lu = NULL;
  ga_status status = ga_context_create(NULL, &ctx);
  if (status == GA_OK) status = ga_sparse_create(ctx, 2, 2, 3, row, col, place, &A);
  if (status == GA_OK)
    for (i = 0; i < 3; i++) A->value[place[i]] = value[i];
  if (status == GA_OK) status = ga_lu_create(ctx, A, GA_LU_SPARSE, &lu);
  if (status == GA_OK) status = ga_lu_factor(lu);
  if (status == GA_OK) status = ga_lu_solve(lu, x);
  if (status != GA_OK) fprintf(stderr, "%s: %s\n", ga_status_text(status), ga_context_error(ctx)->text);
  ga_lu_destroy(&lu);
  ga_sparse_destroy(ctx, &A);
  ga_context_destroy(&ctx);
  printf("galpha %s: x = (%g, %g)\n", ga_version(), x[0], x[1]);
  return status == GA_OK && fabs(x[0] - 1.0) < 1e-14 && fabs(x[1] - 2.0) < 1e-14 ? 0 : 1;
}
