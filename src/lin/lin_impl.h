/* Internals of the lin layer: what an LU object holds, and the interface of its backends. */
#ifndef GALPHA_LIN_IMPL_H
#define GALPHA_LIN_IMPL_H

#include "galpha/lin.h"
#include "base/base_impl.h"

/* One backend. Arguments, pattern and finiteness of A have been checked before it is called. */
typedef struct ga__lu_backend {
  ga_status (*create)(
      ga_lu *lu); /* sets lu->data; on failure destroy is called with data NULL or incomplete */
  ga_status (*create_like)(ga_lu *lu, const ga_lu *like); /* NULL: not possible */
  void (*destroy)(ga_lu *lu);
  ga_status (*factor)(ga_lu *lu); /* sets rcond, weak_column, n_fill and counts n_factor or n_refactor */
  void (*solve)(ga_lu *lu, double *b);
  void (*solve_t)(ga_lu *lu, double *b); /* with the transposed matrix */
  double (*column_max)(const ga_lu *lu,
                       int column); /* largest entry of a column, scaled as the factors' matrix is */
  void (*mark)(ga_lu *lu);          /* NULL, like the two below, if factors depend on the matrix alone */
  void (*rollback)(ga_lu *lu);      /* returns to the pivots of the mark */
  void (*forget)(ga_lu *lu);        /* discards everything that later factors would depend on */
} ga__lu_backend;

extern const ga__lu_backend ga__lu_dense;
extern const ga__lu_backend ga__lu_klu;
extern const ga__lu_backend ga__lu_block;
extern const ga__lu_backend ga__lu_reduced;

/* Elimination order: pivot k is entry (P[k], Q[k]), which must be in the pattern, unless it is too small.
 * Pivots of one block are contiguous. */
typedef struct ga__order {
  int *P, *Q;
  int *block;         /* block of each pivot; NULL: no blocks */
  double fronts_from; /* AUTO uses GA_LU_BLOCKS from this number of operations on */
} ga__order;

struct ga_lu {
  ga_context *ctx;
  const ga_sparse *A;
  const ga__lu_backend *backend;
  void *data;             /* the backend's own */
  int factored;           /* solve may be called */
  const ga__order *order; /* given order, during creation only; NULL: the backend's own */
  double flops;           /* operations of an elimination in that order; 0: not counted */
  ga_lu_info info;
};

typedef enum ga__pivots { GA__PIVOTS_GOOD, GA__PIVOTS_SMALL, GA__PIVOTS_MISSING } ga__pivots;

/* Checks the pivots u[k*stride], k = 0..n-1, of the row-scaled matrix; pivot k is in column column[k] of A
 * (k if column is NULL). Sets rcond and weak_column. Missing: a pivot is zero up to rounding. Small: so
 * ill-conditioned that growth could hide a zero pivot or imitate one. */
ga__pivots ga__lu_check_pivots(ga_lu *lu, const double *u, size_t stride, const int *column);

/* ga_lu_create() with an order of elimination for sparse factors, NULL: as ga_lu_create(); else AUTO means
 * GA_LU_BLOCKS where the order has blocks and the elimination is long enough for them, or GA_LU_SPARSE. */
ga_status ga__lu_create_ordered(ga_context *ctx, const ga_sparse *A, ga_lu_kind kind, const ga__order *order,
                                ga_lu **out);
/* An order by bodies (order.c): partner[n] is the row that belongs to each column, cluster[n] the body of a
 * velocity, −1 for multipliers and other unknowns, −2 for a second set of multipliers, GA__ORDER_LIGHT − body
 * for the velocity of a body without inertia. Writes order->P[n], Q[n] and, if not NULL, block[n]. */
enum { GA__ORDER_LIGHT = -3 };
ga_status ga__order_bodies(ga_context *ctx, const ga_sparse *A, const int *partner, const int *cluster,
                           ga__order *order);

/* The same with all velocities first, bodies in the order of `before`, then the constraints. *found 0: too
 * many constraints are adjacent. */
ga_status ga__order_constraints(ga_context *ctx, const ga_sparse *A, const int *partner, const int *cluster,
                                const ga__order *before, ga__order *order, int *found);
/* The cheaper of the two; that by bodies if both are cheap. */
ga_status ga__order_find(ga_context *ctx, const ga_sparse *A, const int *partner, const int *cluster,
                         ga__order *order);

/* Strong components of the pattern with the pivots on its diagonal, into component[n] by columns; returns
 * their number, −1: no memory. */
int ga__order_components(ga_context *ctx, const ga_sparse *A, const ga__order *order, int *component);
/* Operations of an elimination in that order, without pivot search. */
ga_status ga__order_cost(ga_context *ctx, const ga_sparse *A, const ga__order *order, double *flops);

/* Factors of a matrix in which unknowns may be decoupled (lu_reduced.c). Of the order only the presence of
 * blocks and fronts_from are used. ga_lu_factor allocates when other unknowns are decoupled than before. */
ga_status ga__lu_create_reduced(ga_context *ctx, const ga_sparse *A, ga_lu_kind kind, const int *partner,
                                const int *cluster, const ga__order *order, ga_lu **out);
/* Declares the unknowns of these columns decoupled for the next factors: the columns and their partner rows
 * are zero except on the diagonal. Ignored by other kinds of factors. */
void ga__lu_decouple(ga_lu *lu, int n, const int *column);

/* Factors of the same A in the same order. Kinds that share what they have planned do so; of others GA_OK and
 * *out = NULL: to be created as the first ones were. */
ga_status ga__lu_create_like(const ga_lu *like, ga_lu **out);
/* ga_lu_solve() of n matrices, each with its own right-hand side; the results are the same. Fronts of
 * matrices with one pattern are solved together, which is faster: most of a solution is waiting for numbers.
 */
ga_status ga__lu_solve_together(ga_lu *const lu[], double *const b[], int n);

/* Operations of a factorisation; 0: not counted, because there are few. */
double ga__lu_flops(const ga_lu *lu);

/* Discards factors and pivots, so that the next factors depend on the matrix alone. NULL is allowed. */
void ga__lu_forget(ga_lu *lu);

/* Marks the current pivots; after a rollback the next factors use them again. */
void ga__lu_mark(ga_lu *lu);
void ga__lu_rollback(ga_lu *lu);

/* Stores the error for info.weak_column and returns GA_RETRY_SINGULAR. */
ga_status ga__lu_singular(ga_lu *lu);

/* Singular value decomposition of a dense matrix A: range, null space, least squares (svd.c). */
typedef struct ga__svd {
  ga_context *ctx;
  int rows, cols;
  int rank;
  double *basis; /* [cols][cols] orthonormal: `rank` vectors spanning A's rows, then the null space */
  double *left;  /* [rows][rows] row j: components of unit vector j along the left singular vectors */
  double *sigma; /* [least of both] singular values, the largest first */
  double *copy, *work;
  int n_work;
} ga__svd;

ga_status ga__svd_create(ga_context *ctx, int rows, int cols, ga__svd *s);
void ga__svd_destroy(ga__svd *s);
/* Decomposes A[rows][cols], which must be finite; singular values up to tolerance times the largest count
 * as zero. No allocation. */
ga_status ga__svd_compute(ga__svd *s, const double *A, double tolerance);
const double *ga__svd_range(const ga__svd *s, int i); /* [cols] i < rank */
const double *ga__svd_null(const ga__svd *s, int i);  /* [cols] i < cols − rank */
/* x[cols] := least-squares solution of least norm. */
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
/* Of A[n][stride], by columns, finite, n <= most. No allocation. */
ga_status ga__eigen_compute(ga__eigen *e, int n, const double *A, int stride);

/* Linearly dependent rows of J (dependent_rows.c). J is borrowed; its values may change between runs. */
typedef struct ga__row_search ga__row_search;
ga_status ga__row_search_create(ga_context *ctx, const ga_sparse *J, ga__row_search **out);
void ga__row_search_destroy(ga__row_search **s);
/* Eliminates the rows first..end−1. Entries up to `least` are no pivots. The pivot of a column is in the
 * first row with at least `share` of its largest entry: below 1, later rows are reported to depend on
 * earlier ones rather than the reverse; at 1, growth is least. Rows should have lengths of about 1. */
ga_status ga__row_search_run(ga__row_search *s, int first, int end, double least, double share);
/* 1: the row has no pivot and may depend on others. */
int ga__row_search_found(const ga__row_search *s, int row);
/* Weights n of such a row (1, listed first) and of others with Jᵀ n small. index and value have room for
 * all rows. Returns their number. */
int ga__row_search_relation(ga__row_search *s, int row, int *index, double *value);

/* ---- Eigenvalues (subspace.c) ---- */

/* out[n] := T in[n]; out and in do not overlap. */
typedef struct ga__operator {
  ga_status (*apply)(void *user, double *out, const double *in);
  void *user;
  ga_status (*apply_roughly)(void *user, double *out, const double *in); /* faster, for searches of rough
                                                                            values; NULL: there is none */
} ga__operator;

typedef enum ga__eigensolver {
  GA__EIGEN_DENSE, /* LAPACK, from the matrix of the operator */
  GA__EIGEN_SPARSE /* ARPACK, by products only; k + 2 <= n */
} ga__eigensolver;

/* Invariant subspace of the k largest eigenvalues: real; both of a complex pair are included. */
typedef struct ga__subspace {
  ga_context *ctx;
  int n, k;
  double *basis;   /* [k][n] orthonormal */
  double *re, *im; /* [k] eigenvalues */
  int dense;
  int accurate; /* 0: only roughly as yet; see ga__subspace_begin() */
  double rest;  /* bound of all other eigenvalues; with ARPACK known after ga__subspace_extend() */
} ga__subspace;

/* ARPACK may find fewer than k. GA_ERR_SINGULAR: none. */
ga_status ga__subspace_find(ga_context *ctx, ga__eigensolver solver, int n, int k, const ga__operator *T,
                            ga__subspace *s);
/* The same in two parts. The first stops when eigenvalues are known roughly, mostly after 2 k + 20 products.
 * The second goes on to an accurate subspace, possibly of another operator with about the same one; nothing
 * is left to do where the first one has found it. */
ga_status ga__subspace_begin(ga_context *ctx, ga__eigensolver solver, int n, int k, const ga__operator *T,
                             ga__subspace *s);
ga_status ga__subspace_complete(ga__subspace *s, int k, const ga__operator *T);
/* ARPACK may miss copies of multiple eigenvalues. Searches for the largest others, orthogonal to the
 * subspace; `rest` becomes their size. If it exceeds `enough`, k of them are added, `rest` is unknown, and
 * the call must be repeated. */
ga_status ga__subspace_extend(ga__subspace *s, int k, const ga__operator *T, double enough);
void ga__subspace_destroy(ga__subspace *s);
/* H x = value M x, both symmetric; *found 0: M is not positive definite. H becomes the vectors, by
 * ascending values. */
ga_status ga__eigen_symmetric(ga_context *ctx, int n, double *H, double *M, double *values, int *found);

#endif
