/* Where dense LU factors stop being faster than sparse ones: the measurement behind GA_LU_AUTO.
 *
 * Prints, for chains of pendulums and for full and half-full matrices, the time of one factorisation and one
 * solve, as in Newton's method with a fresh matrix (sparse: on the pivots found before).
 * Run with OPENBLAS_NUM_THREADS=1. */
#define _POSIX_C_SOURCE 199309L
#include "../tests/unit/lin_matrices.h"
#include <stdio.h>
#include <time.h>

static double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* [µs] best of several runs of factor + solve; negative on failure. */
static double measure(ga_context *ctx, const ga_sparse *A, ga_lu_kind kind, double *fill)
{
  ga_lu *lu = NULL;
  double best = -1;
  double *b = calloc((size_t)A->cols, sizeof *b);
  if (b && ga_lu_create(ctx, A, kind, &lu) == GA_OK && ga_lu_factor(lu) == GA_OK) {
    for (int run = 0; run < 20; run++) {
      const double start = now();
      double spent;
      int count = 0;
      do {
        for (int i = 0; i < A->cols; i++) b[i] = i % 3 - 1;
        if (ga_lu_factor(lu) != GA_OK || ga_lu_solve(lu, b) != GA_OK) break;
        count++;
        spent = now() - start;
      } while (spent < 1e-3);
      if (count == 0) break;
      if (best < 0 || 1e6 * spent / count < best) best = 1e6 * spent / count;
    }
  }
  *fill = lu ? (double)ga_lu_get_info(lu)->n_fill / A->cols / A->cols : 0;
  ga_lu_destroy(&lu);
  free(b);
  return best;
}

static void report(ga_context *ctx, const char *name, ga_sparse *A)
{
  if (!A) {
    printf("%-20s out of memory\n", name);
    return;
  }
  double fill;
  const double dense = measure(ctx, A, GA_LU_DENSE, &fill), sparse = measure(ctx, A, GA_LU_SPARSE, &fill);
  ga_lu *lu = NULL;
  const char *choice = "failed";
  if (ga_lu_create(ctx, A, GA_LU_AUTO, &lu) == GA_OK) {
    choice = ga_lu_get_info(lu)->kind == GA_LU_DENSE ? "dense" : "sparse";
  }
  printf("%-20s %5d %7d %6.3f %6.3f %10.2f %10.2f %8.2f  %s\n", name, A->cols, A->nnz,
         (double)A->nnz / A->cols / A->cols, fill, dense, sparse, dense / sparse, choice);
  ga_lu_destroy(&lu);
  ga_sparse_destroy(ctx, &A);
}

int main(void)
{
  ga_context *ctx = NULL;
  if (ga_context_create(NULL, &ctx)) return 1;
  printf("%-20s %5s %7s %6s %6s %10s %10s %8s  %s\n", "matrix", "n", "nnz", "A/n^2", "LU/n^2", "dense/us",
         "sparse/us", "ratio", "auto");
  for (int kind = 0; kind < LIN_N_CHAINS; kind++) {
    const lin_chain_kind *k = &lin_chains[kind];
    const int size = k->dof + k->joint * (1 + k->stabilized);
    for (int bodies = 1; bodies * size <= 200; bodies += 1 + bodies / 3) {
      report(ctx, k->name, lin_chain(ctx, k, bodies, (rig_random){1}));
    }
  }
  for (int n = 5; n <= 200; n += 1 + n / 3) report(ctx, "full", lin_full(ctx, n, (rig_random){1}));
  for (int part = 2; part <= 16; part *= 2) {
    for (int n = 10; n <= 200; n += n / 2) {
      char name[32];
      snprintf(name, sizeof name, "random 1/%d full", part);
      report(ctx, name, lin_scattered(ctx, n, n / part, (rig_random){1}));
    }
  }
  ga_context_destroy(&ctx);
  return 0;
}
