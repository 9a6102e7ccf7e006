/* Relations among the constraints, their null space and their range (null_space.c, range.c). */
#ifndef GALPHA_CORE_NULL_SPACE_H
#define GALPHA_CORE_NULL_SPACE_H

#include "core/system.h"

/* 1: an entry of the pattern is one of [B; A]; its value. */
static inline int ga__is_constraint(const ga_system *sys, int e)
{
  return sys->row[e] >= sys->nv && sys->row[e] < sys->start[GA_BLOCK_X] && sys->col[e] < sys->nv;
}
double ga__constraint_value(const ga_system *sys, const double *B, const double *A, int e);
/* Lengths of the rows [m]; rows that are zero relative to the longest get a length that keeps them short. */
void ga__measure_rows(const ga_system *sys, const double *B, const double *A, double *length);

/* Left null space of [B; A], or of B alone, rows divided by their lengths: Nᵀ R⁻¹ [B; A] = 0. Every column
 * of N has one dependent row with the number 1, which no other column has. It depends on the point alone,
 * to the last bit. */
typedef struct ga__null {
  ga_context *ctx;
  int r;          /* columns of N: relations among the rows */
  int *row;       /* [r] the dependent row, the last one first */
  int *start;     /* [r + 1] columns of N */
  int *index;     /* their rows */
  double *value;  /* and entries */
  double *work;   /* [3][room] */
  size_t room;    /* allocated relations, */
  size_t numbers; /* and entries */
  double *length; /* [m] R */
  double *z;      /* [2][m] */
  ga_sparse *S;   /* NᵀN and its factors, if conjugate gradients are slow */
  ga_lu *lu;
  struct ga__range *range; /* if relations are many and long: the range of J, used instead of N; else NULL */
} ga__null;

struct ga__row_search; /* of the lin layer */

/* J = R⁻¹ [B; A], and the search for dependent rows. */
typedef struct ga__rows {
  ga_context *ctx; /* NULL: not created yet */
  const ga_system *sys;
  int m;
  ga_sparse *J;
  int n;                         /* entries of the pattern that belong to constraints, */
  int *entry, *place;            /* [n] which these are, and their places in J */
  int *row_start, *by_row, *col; /* J by rows: places, columns */
  double *y;                     /* [nv] zeros */
  struct ga__row_search *search;
} ga__rows;

/* Range of the rows of J before `end`, with their current values (range.c); reference-counted. */
typedef struct ga__range ga__range;
double ga__range_cost(const ga__rows *rows, int end); /* number of products in its matrix */
ga_status ga__range_create(const ga__rows *rows, int end, ga__range **out);
ga__range *ga__range_share(ga__range *range); /* NULL is allowed, as below */
void ga__range_release(ga__range **range);
/* z[end] := its projection onto the range; 0: failed, z is unchanged. */
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
/* z[m] := z minus its projection onto the space of N. */
void ga__null_remove(ga__null *null, double *z, int m);
/* z := that of least |R z| among all that differ by N; z = (λ, ψ), psi may be NULL. */
void ga__null_reduce(ga__null *null, const ga_system *sys, double *lambda, double *psi);
/* Largest component of R⁻¹ (phi, k) along a relation; either may be NULL. */
double ga__null_part(const ga__null *null, const ga_system *sys, const double *phi, const double *k);

#endif
