/* Ranges of the derivatives of operations and instructions (slope.c). */
#ifndef GALPHA_EXPR_SLOPE_H
#define GALPHA_EXPR_SLOPE_H

#include "expr/program.h"

void ga__slopes_corners(const ga__op *op, const ga__range *x, const ga__range *f, ga__range *d);
void ga__slopes_even(const ga__op *op, const ga__range *x, const ga__range *f, ga__range *d);
void ga__slopes_sum(const ga__op *op, const ga__range *x, const ga__range *f, ga__range *d);
void ga__slopes_difference(const ga__op *op, const ga__range *x, const ga__range *f, ga__range *d);
void ga__slopes_product(const ga__op *op, const ga__range *x, const ga__range *f, ga__range *d);
void ga__slopes_quotient(const ga__op *op, const ga__range *x, const ga__range *f, ga__range *d);
void ga__slopes_sin(const ga__op *op, const ga__range *x, const ga__range *f, ga__range *d);
void ga__slopes_cos(const ga__op *op, const ga__range *x, const ga__range *f, ga__range *d);
void ga__slopes_tan(const ga__op *op, const ga__range *x, const ga__range *f, ga__range *d);
void ga__slopes_tanh(const ga__op *op, const ga__range *x, const ga__range *f, ga__range *d);
void ga__slopes_sqrt(const ga__op *op, const ga__range *x, const ga__range *f, ga__range *d);
void ga__slopes_exp(const ga__op *op, const ga__range *x, const ga__range *f, ga__range *d);
void ga__slopes_power(const ga__op *op, const ga__range *x, const ga__range *f, ga__range *d);
void ga__slopes_mod(const ga__op *op, const ga__range *x, const ga__range *f, ga__range *d);
void ga__slopes_hypot(const ga__op *op, const ga__range *x, const ga__range *f, ga__range *d);
void ga__slopes_atan2(const ga__op *op, const ga__range *x, const ga__range *f, ga__range *d);
void ga__slopes_step(const ga__op *op, const ga__range *x, const ga__range *f, ga__range *d);

/* Rate of an instruction's value (within f) from the rates of its operands (within x). */
ga__range ga__rate_of(const ga__instr *instr, const ga__range *x, const ga__range *rate, const ga__range *f);

#endif
