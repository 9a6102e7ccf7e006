/* Expressions over intervals of time (breaks.c). */
#ifndef GALPHA_EXPR_BREAKS_H
#define GALPHA_EXPR_BREAKS_H

#include "expr/ops.h"
#include "expr/time_signal.h"

/* An expression while the variable `time` goes through t and all others are unknown (breaks.c). */
ga__range ga__expr_range(const ga_expr *e, int time, ga__range t);
int ga__expr_kinked(const ga_expr *e, int time, ga__range t);
/* Of its derivative by that variable, where it depends on no other. */
ga__range ga__expr_slope(const ga_expr *e, int time, ga__range t);

/* The same of one whose variables go along x (breaks.c). */
ga__range ga__expr_range_along(const ga_expr *e, const ga__time_signal *x, ga__range t);
int ga__expr_kinked_along(const ga_expr *e, const ga__time_signal *x, ga__range t);

#endif
