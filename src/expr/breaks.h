/* Expressions over intervals of time (breaks.c). */
#ifndef GALPHA_EXPR_BREAKS_H
#define GALPHA_EXPR_BREAKS_H

#include "expr/ops.h"
#include "expr/time_signal.h"

/* Range of an expression for `time` within t and unknown other variables. */
ga__range ga__expr_range(const ga_expr *e, int time, ga__range t);
int ga__expr_kinked(const ga_expr *e, int time, ga__range t);
/* Range of its derivative by that variable, if it depends on no other. */
ga__range ga__expr_slope(const ga_expr *e, int time, ga__range t);

/* The same with variables x as functions of time. */
ga__range ga__expr_range_along(const ga_expr *e, const ga__time_signal *x, ga__range t);
int ga__expr_kinked_along(const ga_expr *e, const ga__time_signal *x, ga__range t);

#endif
