/* Relations among the constraints, their null space and their range (null_space.c, range.c). */
#ifndef GALPHA_CORE_NULL_SPACE_H
#define GALPHA_CORE_NULL_SPACE_H

#include "core/system.h"

/* 1: an entry of the pattern is one of [B; A]; its value. */
int ga__is_constraint(const ga_system *sys, int e);
double ga__constraint_value(const ga_system *sys, const double *B, const double *A, int e);
/* Lengths of the rows [m]; those that vanish against the longest get a length that leaves them short. */
void ga__measure_rows(const ga_system *sys, const double *B, const double *A, double *length);

/* Left null space of the rows of [B; A], or of those of B alone, each row divided by its length:
 * Nᵀ R⁻¹ [B; A] = 0. Every column of N has one row that follows from the others of it, with the number 1, and
 * no other column has that row. It depends on the point alone, to the bit. */
typedef struct ga__null {
  ga_context *ctx;
  int r;          /* columns of N: relations among the rows */
  int *row;       /* [r] the row that follows from the others, the last one first */
  int *start;     /* [r + 1] columns of N */
  int *index;     /* their rows */
  double *value;  /* and numbers */
  double *work;   /* [3][room] */
  size_t room;    /* for so many relations, */
  size_t numbers; /* and numbers */
  double *length; /* [m] R */
  double *z;      /* [2][m] */
  ga_sparse *S;   /* NᵀN and its factors, where conjugate gradients are slow */
  ga_lu *lu;
  struct ga__range *range; /* NULL, or where relations are many and long the range of J, instead of N */
} ga__null;

struct ga__row_search; /* of the lin layer */

/* J = R⁻¹ [B; A], and the search for rows that follow from others. */
typedef struct ga__rows {
  ga_context *ctx; /* NULL: not there yet */
  const ga_system *sys;
  int m;
  ga_sparse *J;
  int *place;                    /* [n_entries] in J, −1: no constraint */
  int *row_start, *by_row, *col; /* J by rows: places, columns */
  double *y;                     /* [nv] zeros */
  struct ga__row_search *search;
} ga__rows;

/* The range of J, of the rows up to `end`, as it is now (range.c); shared by relations that are copies. */
typedef struct ga__range ga__range;
double ga__range_cost(const ga__rows *rows, int end); /* numbers that its matrix is made from */
ga_status ga__range_create(const ga__rows *rows, int end, ga__range **out);
ga__range *ga__range_share(ga__range *range); /* NULL is fine, as below */
void ga__range_release(ga__range **range);
/* z[end] := its part in the range; 0: it is not found, and z is as it was. */
int ga__range_project(ga__range *range, double *z);

ga_status ga__rows_create(const ga_system *sys, ga__rows *rows);
void ga__rows_destroy(ga__rows *rows);
ga_status ga__null_create(const ga_system *sys, ga__null *null);
void ga__null_destroy(ga_context *ctx, ga__null *null);
ga_status ga__null_copy(ga_context *ctx, ga__null *to, const ga__null *from, int m);
/* From B and A over the pattern; holonomic 1: of B alone. */
ga_status ga__null_find(ga__rows *rows, const double *B, const double *A, int holonomic, ga__null *null);
/* 1: every relation is one among the rows of B, or one among those of A. */
int ga__null_splits(ga__rows *rows, const ga__null *null);
/* z[m] := z without its part in the space of N. */
void ga__null_remove(ga__null *null, double *z, int m);
/* z := the one of least length |R z| among those that differ by N; z = (λ, ψ), psi may be NULL. */
void ga__null_reduce(ga__null *null, const ga_system *sys, double *lambda, double *psi);
/* Largest component of R⁻¹ (phi, k) along a relation; either may be NULL. */
double ga__null_part(const ga__null *null, const ga_system *sys, const double *phi, const double *k);

#endif
