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
  double (*row_scale)(const ga_lu *lu, int row); /* the factors are those of A(row,:) / row_scale(row) */
  void (*mark)(ga_lu *lu);     /* NULL, as the two below: factors depend on the matrix alone */
  void (*rollback)(ga_lu *lu); /* back to the pivots of the mark */
  void (*forget)(ga_lu *lu);   /* drops what later factors would depend on */
} ga__lu_backend;

extern const ga__lu_backend ga__lu_dense;
extern const ga__lu_backend ga__lu_klu;

struct ga_lu {
  ga_context *ctx;
  const ga_sparse *A;
  const ga__lu_backend *backend;
  void *data;   /* the backend's own */
  int factored; /* solve may be called */
  ga_lu_info info;
};

typedef enum ga__pivots { GA__PIVOTS_GOOD, GA__PIVOTS_SMALL, GA__PIVOTS_MISSING } ga__pivots;

/* Looks through the pivots u[k*stride], k = 0..n-1, of the row-scaled matrix, where pivot k stands in column
 * column[k] of A, or k where column is NULL. Sets rcond and weak_column. Missing: a pivot is no more than the
 * rounding of a zero; small: the matrix is so ill-conditioned that growth could hide or feign that. */
ga__pivots ga__lu_check_pivots(ga_lu *lu, const double *u, size_t stride, const int *column);

/* Drops factors and pivots, so that the next factors depend on the matrix alone; they search for pivots anew.
 * NULL is fine. */
void ga__lu_forget(ga_lu *lu);

/* Marks the pivots now in use; after a rollback the next factors use them again, whatever was found in
 * between. */
void ga__lu_mark(ga_lu *lu);
void ga__lu_rollback(ga_lu *lu);

/* Stores the message for info.weak_column and returns GA_RETRY_SINGULAR. */
ga_status ga__lu_singular(ga_lu *lu);

#endif
