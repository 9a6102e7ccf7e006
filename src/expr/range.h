/* Ranges of operations, and where they have kinks or jumps (range.c). */
#ifndef GALPHA_EXPR_RANGE_H
#define GALPHA_EXPR_RANGE_H

#include "expr/ops.h"

ga__range ga__range_join(ga__range a, ga__range b); /* smallest interval that contains both */
ga__range ga__range_monotone(const ga__op *op, const ga__range *x);
ga__range ga__range_exact(const ga__op *op, const ga__range *x);
ga__range ga__range_corners(const ga__op *op, const ga__range *x);
ga__range ga__range_sum(const ga__op *op, const ga__range *x);
ga__range ga__range_difference(const ga__op *op, const ga__range *x);
ga__range ga__range_product(const ga__op *op, const ga__range *x);
ga__range ga__range_quotient(const ga__op *op, const ga__range *x);
ga__range ga__range_compare(const ga__op *op, const ga__range *x);
ga__range ga__range_equal(const ga__op *op, const ga__range *x);
ga__range ga__range_truth(const ga__op *op, const ga__range *x);
ga__range ga__range_unit(const ga__op *op, const ga__range *x);
ga__range ga__range_sqrt(const ga__op *op, const ga__range *x);
ga__range ga__range_log(const ga__op *op, const ga__range *x);
ga__range ga__range_sin(const ga__op *op, const ga__range *x);
ga__range ga__range_cos(const ga__op *op, const ga__range *x);
/* Range of a sine for phases in x; `ends`: hull of its values at the ends; `top`: a phase at which it is 1.
 */
ga__range ga__range_wave(ga__range ends, const ga__range *x, double top);
ga__range ga__range_tan(const ga__op *op, const ga__range *x);
ga__range ga__range_even(const ga__op *op, const ga__range *x);
ga__range ga__range_power(const ga__op *op, const ga__range *x);
ga__range ga__range_mod(const ga__op *op, const ga__range *x);
ga__range ga__range_hypot(const ga__op *op, const ga__range *x);
ga__range ga__range_atan2(const ga__op *op, const ga__range *x);
ga__range ga__range_step(const ga__op *op, const ga__range *x);
int ga__kink_zero(const ga__range *x);    /* the operand is 0 */
int ga__kink_unit(const ga__range *x);    /* the operand is 1 or -1 */
int ga__kink_equal(const ga__range *x);   /* both are equal */
int ga__kink_floor(const ga__range *x);   /* the operand passes an integer */
int ga__kink_ceil(const ga__range *x);    /* likewise */
int ga__kink_mod(const ga__range *x);     /* the quotient does */
int ga__kink_pole(const ga__range *x);    /* tan is infinite */
int ga__kink_divisor(const ga__range *x); /* the divisor is 0 */
int ga__kink_power(const ga__range *x);   /* the base is 0 */
int ga__kink_origin(const ga__range *x);  /* both are 0 */
int ga__kink_cut(const ga__range *x);     /* atan2 jumps by 2π */
int ga__kink_ends(const ga__range *x);    /* ends of step(x, x0, y0, x1, y1) */

#endif
