/* Internals of the lin layer: what an LU object holds, and the interface of its backends. */
#ifndef GALPHA_LIN_IMPL_H
#define GALPHA_LIN_IMPL_H

#include "galpha/lin.h"
#include "base/base_impl.h"

/* One way to factor. The dispatcher has checked arguments, the structure and the finiteness of A before. */
typedef struct ga__lu_backend {
  ga_status (*create)(ga_lu *lu); /* sets lu->data; on failure destroy is called, data NULL or half built */
  void (*destroy)(ga_lu *lu);
  ga_status (*factor)(ga_lu *lu); /* sets rcond, weak_column, n_fill and counts n_factor or n_refactor */
  void (*solve)(ga_lu *lu, double *b);
  void (*solve_t)(ga_lu *lu, double *b); /* with the transposed matrix */
  double (*column_max)(const ga_lu *lu,
                       int column); /* largest entry of a column, scaled as the factors' matrix is */
  void (*mark)(ga_lu *lu);          /* NULL, as the two below: factors depend on the matrix alone */
  void (*rollback)(ga_lu *lu);      /* back to the pivots of the mark */
  void (*forget)(ga_lu *lu);        /* drops what later factors would depend on */
} ga__lu_backend;

extern const ga__lu_backend ga__lu_dense;
extern const ga__lu_backend ga__lu_klu;
extern const ga__lu_backend ga__lu_block;
extern const ga__lu_backend ga__lu_reduced;

/* An order of elimination: pivot k is sought first in row P[k] of column Q[k], and these entries must be in
 * the pattern. Pivots of one block follow each other. */
typedef struct ga__order {
  int *P, *Q;
  int *block;         /* of each pivot; NULL: blocks mean nothing */
  double fronts_from; /* operations of an elimination from which on AUTO takes GA_LU_BLOCKS */
} ga__order;

struct ga_lu {
  ga_context *ctx;
  const ga_sparse *A;
  const ga__lu_backend *backend;
  void *data;             /* the backend's own */
  int factored;           /* solve may be called */
  const ga__order *order; /* asked for, during creation only; NULL: the backend's own */
  double flops;           /* of an elimination in that order, where it was counted; 0: it was not */
  ga_lu_info info;
};

typedef enum ga__pivots { GA__PIVOTS_GOOD, GA__PIVOTS_SMALL, GA__PIVOTS_MISSING } ga__pivots;

/* Looks through the pivots u[k*stride], k = 0..n-1, of the row-scaled matrix, where pivot k stands in column
 * column[k] of A, or k where column is NULL. Sets rcond and weak_column. Missing: a pivot is no more than the
 * rounding of a zero; small: the matrix is so ill-conditioned that growth could hide or feign that. */
ga__pivots ga__lu_check_pivots(ga_lu *lu, const double *u, size_t stride, const int *column);

/* ga_lu_create() with an order of elimination for sparse factors, NULL: as ga_lu_create(); else AUTO means
 * GA_LU_BLOCKS where the order has blocks and the elimination is long enough for them, or GA_LU_SPARSE. */
ga_status ga__lu_create_ordered(ga_context *ctx, const ga_sparse *A, ga_lu_kind kind, const ga__order *order,
                                ga_lu **out);
/* Such an order by bodies, see order.c: partner[n] is the row that belongs to each column, cluster[n] the
 * body of a velocity, −1 for multipliers and others, −2 for a second set of multipliers. Into order's P[n],
 * Q[n] and, where it is not NULL, block[n]. */
ga_status ga__order_bodies(ga_context *ctx, const ga_sparse *A, const int *partner, const int *cluster,
                           ga__order *order);

/* The same with all velocities first, in the order that `before` has their bodies in, then the constraints;
 * *found 0: too many of them meet. */
ga_status ga__order_constraints(ga_context *ctx, const ga_sparse *A, const int *partner, const int *cluster,
                                const ga__order *before, ga__order *order, int *found);
/* The one of the two that makes fewer operations; where these are few, that by bodies. */
ga_status ga__order_find(ga_context *ctx, const ga_sparse *A, const int *partner, const int *cluster,
                         ga__order *order);

/* Strong components of the pattern with the pivots on its diagonal, into component[n] by columns; returns
 * their number, −1: no memory. */
int ga__order_components(ga_context *ctx, const ga_sparse *A, const ga__order *order, int *component);
/* Operations of an elimination in that order, pivots being where the order has them. */
ga_status ga__order_cost(ga_context *ctx, const ga_sparse *A, const ga__order *order, double *flops);

/* Factors of a matrix in which unknowns may be decoupled (lu_reduced.c); of the order only whether it has
 * blocks, and fronts_from, matter. Memory is taken when other unknowns are decoupled than before, by the next
 * ga_lu_factor. */
ga_status ga__lu_create_reduced(ga_context *ctx, const ga_sparse *A, ga_lu_kind kind, const int *partner,
                                const int *cluster, const ga__order *order, ga_lu **out);
/* The unknowns of these columns are decoupled from the next factors on: the columns, and the rows that are
 * their partners, are zero but where they meet. Means nothing to other factors. */
void ga__lu_decouple(ga_lu *lu, int n, const int *column);

/* Operations of a factorisation, where it takes so many that they were counted; else 0. */
double ga__lu_flops(const ga_lu *lu);

/* Drops factors and pivots, so that the next factors depend on the matrix alone; they search for pivots anew.
 * NULL is fine. */
void ga__lu_forget(ga_lu *lu);

/* Marks the pivots now in use; after a rollback the next factors use them again, whatever was found in
 * between. */
void ga__lu_mark(ga_lu *lu);
void ga__lu_rollback(ga_lu *lu);

/* Stores the message for info.weak_column and returns GA_RETRY_SINGULAR. */
ga_status ga__lu_singular(ga_lu *lu);

/* Singular values of a dense matrix A: range, null space, least squares (svd.c). */
typedef struct ga__svd {
  ga_context *ctx;
  int rows, cols;
  int rank;
  double
      *basis; /* [cols][cols] orthonormal: `rank` vectors that A's rows span, then those of the null space */
  double *left;  /* [rows][rows] row j: components of unit vector j along the left singular vectors */
  double *sigma; /* [least of both] singular values, the largest first */
  double *copy, *work;
  int n_work;
} ga__svd;

ga_status ga__svd_create(ga_context *ctx, int rows, int cols, ga__svd *s);
void ga__svd_destroy(ga__svd *s);
/* Of A[rows][cols], finite; singular values up to tolerance times the largest are zero. No allocation. */
ga_status ga__svd_compute(ga__svd *s, const double *A, double tolerance);
const double *ga__svd_range(const ga__svd *s, int i); /* [cols] i < rank */
const double *ga__svd_null(const ga__svd *s, int i);  /* [cols] i < cols − rank */
/* x[cols] := the shortest of those with the least |A x − b|. */
void ga__svd_solve(const ga__svd *s, const double *b, double *x);

/* Eigenvalues and right eigenvectors of a dense matrix of up to `most` rows (eigen.c). */
typedef struct ga__eigen {
  ga_context *ctx;
  int most, n;
  double *re, *im; /* [n] eigenvalues; those of a pair follow each other, the one with im > 0 first */
  double *vectors; /* [n][n] of length 1; of a pair the real part, then the imaginary one */
  double *copy, *work;
  int n_work;
} ga__eigen;

ga_status ga__eigen_create(ga_context *ctx, int most, ga__eigen *e);
void ga__eigen_destroy(ga__eigen *e);
/* Of A[n][stride], by columns and finite; n at most `most`. No allocation. */
ga_status ga__eigen_compute(ga__eigen *e, int n, const double *A, int stride);

/* Rows of J that follow from others (dependent_rows.c). J stays with the caller, who changes its values. */
typedef struct ga__row_search ga__row_search;
ga_status ga__row_search_create(ga_context *ctx, const ga_sparse *J, ga__row_search **out);
void ga__row_search_destroy(ga__row_search **s);
/* Eliminates the rows first..end−1; entries up to `least` are no pivots, and of those that have `share` of
 * the largest one of their column the first is taken: below 1 later rows follow from earlier ones rather, at
 * 1 numbers grow least. The rows' lengths should be about 1. */
ga_status ga__row_search_run(ga__row_search *s, int first, int end, double least, double share);
/* 1: the row found no pivot, so that it may follow from others. */
int ga__row_search_found(const ga__row_search *s, int row);
/* Weights n of a row found (1, given first) and of others, with Jᵀ n small; index and value have room for all
 * rows. Returns how many. */
int ga__row_search_relation(ga__row_search *s, int row, int *index, double *value);

/* ---- Eigenvalues (subspace.c) ---- */

/* out[n] := T in[n], both apart. */
typedef struct ga__operator {
  ga_status (*apply)(void *user, double *out, const double *in);
  void *user;
} ga__operator;

typedef enum ga__eigensolver {
  GA__EIGEN_DENSE, /* LAPACK, from the matrix of the operator */
  GA__EIGEN_SPARSE /* ARPACK, by products alone; k + 2 <= n */
} ga__eigensolver;

/* What the eigenvectors of the k largest eigenvalues span: real, both of a pair included. */
typedef struct ga__subspace {
  ga_context *ctx;
  int n, k;
  double *basis;   /* [k][n] orthonormal */
  double *re, *im; /* [k] eigenvalues */
  int dense;
  double rest; /* no eigenvalue outside is larger than this; for ARPACK known after ga__subspace_extend() */
} ga__subspace;

/* ARPACK may find fewer than k. GA_ERR_SINGULAR: none. */
ga_status ga__subspace_find(ga_context *ctx, ga__eigensolver solver, int n, int k, const ga__operator *T,
                            ga__subspace *s);
/* ARPACK may miss copies of multiple eigenvalues. Looks for k more among what is orthogonal to the subspace:
 * the largest of them becomes `rest`. Where that is more than `enough` they are added, and what `rest` is
 * then is not known: to be called again. */
ga_status ga__subspace_extend(ga__subspace *s, int k, const ga__operator *T, double enough);
void ga__subspace_destroy(ga__subspace *s);
/* H x = value M x, both symmetric and M positive definite, or *found becomes 0; vectors into H, ascending. */
ga_status ga__eigen_symmetric(ga_context *ctx, int n, double *H, double *M, double *values, int *found);

#endif
