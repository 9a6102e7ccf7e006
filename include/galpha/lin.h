/* galpha/lin.h: sparse matrices with a fixed pattern, and their LU factors (dense, KLU, or by blocks). */
#ifndef GALPHA_LIN_H
#define GALPHA_LIN_H

#include "galpha/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A matrix in compressed columns. The pattern is fixed at creation, rows ascend within a column; only `value`
 * may be written. */
typedef struct ga_sparse {
  int rows, cols;
  int nnz;
  const int *col_start; /* [cols+1] */
  const int *row;       /* [nnz] */
  double *value;        /* [nnz] */
} ga_sparse;

/* From n_entries pairs (row[e], col[e]) in any order; equal pairs are one entry. place[e], if not NULL,
 * receives the index into `value` of pair e. Values start at 0. An index outside the matrix is
 * GA_ERR_PATTERN, and the message names the pair. */
GA_API ga_status ga_sparse_create(ga_context *ctx, int rows, int cols, int n_entries, const int *row,
                                  const int *col, int *place, ga_sparse **out);
GA_API void ga_sparse_destroy(ga_context *ctx, ga_sparse **A);
GA_API void ga_sparse_zero(ga_sparse *A);
/* Index into A->value of (row, col), or -1 where the pattern has no such entry. Binary search. */
GA_API int ga_sparse_find(const ga_sparse *A, int row, int col);
GA_API void ga_sparse_mul(double *y, const ga_sparse *A, const double *x); /* y = A x; y must not overlap x */
GA_API void ga_sparse_mul_t(double *y, const ga_sparse *A, const double *x); /* y = Aᵀ x; likewise */

typedef enum ga_lu_kind {
  GA_LU_AUTO = 0, /* one of the following, chosen by size, fill and blocks, as measured in bench/ */
  GA_LU_DENSE,    /* plain C for small matrices, LAPACK above */
  GA_LU_SPARSE,   /* KLU */
  GA_LU_BLOCKS    /* small dense blocks, in steppers whose system groups its velocities
                     (ga_system_def.cluster; machines do); otherwise the same as GA_LU_SPARSE */
} ga_lu_kind;

typedef struct ga_lu_info {
  ga_lu_kind kind; /* what AUTO chose */
  double
      rcond; /* [-] smallest over largest pivot of the row-scaled matrix, a cheap estimate of 1/condition */
  int weak_column; /* column of the smallest pivot, or the first one without a pivot when singular */
  int n_fill;      /* entries of L+U */
  long n_factor;   /* factorisations with a search for pivots */
  long n_refactor; /* factorisations on the pivots found before */
  long n_solve;    /* solutions, those with the transposed matrix included */
} ga_lu_info;

typedef struct ga_lu ga_lu;

/* Borrows A; later calls read the values that A then has. Analyses the pattern once. Out of memory:
 * GA_ERR_MEMORY; a pattern that is structurally singular: GA_ERR_SINGULAR, naming a column. A must be square.
 */
GA_API ga_status ga_lu_create(ga_context *ctx, const ga_sparse *A, ga_lu_kind kind, ga_lu **out);
GA_API void ga_lu_destroy(ga_lu **lu);

/* Factors A's present values. GA_RETRY_SINGULAR: no pivot in ga_lu_info()->weak_column; GA_RETRY_NAN: A holds
 * a NaN or infinity. Sparse: reuses earlier pivots where they are still good, otherwise searches again; only
 * this search allocates after the first call. On failure, earlier factors are lost. */
GA_API ga_status ga_lu_factor(ga_lu *lu);

/* b := A⁻¹ b with the last factors. No allocation. GA_ERR_ORDER without factors. */
GA_API ga_status ga_lu_solve(ga_lu *lu, double *b);
/* b := A⁻ᵀ b, likewise: the same factors serve both. */
GA_API ga_status ga_lu_solve_t(ga_lu *lu, double *b);
GA_API const ga_lu_info *ga_lu_get_info(const ga_lu *lu);

#ifdef __cplusplus
}
#endif
#endif
