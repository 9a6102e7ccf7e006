/* Data of dense and sparse LU factors, for their files and for tests that bound rounding errors. */
#ifndef GALPHA_LIN_LU_DATA_H
#define GALPHA_LIN_LU_DATA_H

#include "lin/lin_impl.h"
#include <klu.h>
#include <lapacke.h>

typedef struct ga__lu_dense_data {
  int width;         /* n, to a multiple of four */
  double *factor;    /* [n][width] by columns: L below the diagonal (its own is 1), U on and above; then 0 */
  double *scale;     /* [width] 1/R */
  double *x;         /* [width] a right-hand side */
  lapack_int *pivot; /* [n] row exchanged with row k at step k, from 1, as LAPACK counts */
  int *row;          /* [n] of A, which is row k after all exchanges */
} ga__lu_dense_data;

typedef struct ga__lu_klu_data {
  klu_common common;
  klu_symbolic *symbolic;
  klu_numeric *numeric; /* NULL until pivots have been found */
  double *found;        /* [n] the pivots when they were found, or last accepted by their growth */
  double *inverse;      /* [n] reciprocals of the pivots */
  double *x;            /* [n] a right-hand side in the order of the pivots */
  double *R;            /* [n] */
  double *value;        /* [nnz] R A */
  int marking;          /* 1: the pivots of the mark must be kept: */
  int none_marked;      /* 1: there were none at the mark */
  int found_marked;     /* 1: marked_found holds `found` of the mark */
  klu_numeric *marked;  /* pivots of the mark; NULL: still in use */
  double *marked_found, *marked_R;
  int *col_start, *row; /* of A; not const for KLU, which does not write to them */
} ga__lu_klu_data;

#endif
