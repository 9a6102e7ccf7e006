/* Where an expression is not smooth, and what it measures: properties of its text alone. (smooth.c) */
#ifndef GALPHA_EXPR_SMOOTH_H
#define GALPHA_EXPR_SMOOTH_H

#include "galpha/expr.h"

/* An operation or function of an expression. */
typedef struct ga__expr_piece {
  const char *operation; /* "abs", "table", "linear motion" */
  int start, bytes;      /* where it stands in the text */
} ga__expr_piece;

/* The first operation whose value or slope may jump while variables change; 0: there is none. */
int ga__expr_find_kink(const ga_expr *e, ga__expr_piece *out);

/* What is known of a dimension. */
typedef struct ga__dimension_known {
  int known; /* 0: it may be any */
  ga_dimension dimension;
} ga__dimension_known;

/* The dimension of an expression without jumps, from those of its variables, [index]. It is that of the terms
 * of a sum: a plain number may be anything in SI units, and so may products. Returns 1 where a sum has terms
 * of two dimensions, which are in sum[0] and sum[1] then. */
int ga__expr_dimension(const ga_expr *e, const ga__dimension_known *variable, ga__dimension_known *out,
                       ga_dimension sum[2], ga__expr_piece *where);

#endif
