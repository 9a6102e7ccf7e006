/* Whether expressions, functions and tables are the same to the last bit, so that they have the same values
 * everywhere. What cannot be compared counts as different. (same.c) */
#ifndef GALPHA_EXPR_SAME_H
#define GALPHA_EXPR_SAME_H

#include "galpha/expr.h"

/* Both may be NULL, which is the same as NULL alone. */
int ga__expr_same(const ga_expr *a, const ga_expr *b);
int ga__function_same(const ga_function *a, const ga_function *b);
int ga__table2d_same(const ga_table2d *a, const ga_table2d *b); /* (table.c) */
/* Numbers bit by bit: NaN is the same as itself, and 0 differs from −0. Arrays may be NULL. */
int ga__numbers_same(const double *a, const double *b, size_t n);

#endif
