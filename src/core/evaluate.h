/* Functions of evaluations internal to the core (evaluate.c). */
#ifndef GALPHA_CORE_EVALUATE_H
#define GALPHA_CORE_EVALUATE_H

#include "galpha/core.h"

/* ga_evaluation_create() of valid arguments; combined 0: ga_evaluation_combine() is not needed. */
ga_status ga__evaluation_create(ga_context *ctx, const ga_system *sys, int combined, ga_evaluation **out);
/* Another evaluation of the same system, not combined, with the patterns and the plan of `like`, which it
 * must not outlive. */
ga_status ga__evaluation_create_like(const ga_evaluation *like, ga_evaluation **out);
/* The matrix of ga_evaluation_matrix(), also before its first evaluation, for its pattern. */
const ga_sparse *ga__evaluation_part(const ga_evaluation *ev, int equations, int by);
/* *B and *A: derivatives over the system's pattern whose rows of LAMBDA are B, and those of PSI k_v. Valid
 * until the evaluation changes. */
ga_status ga__evaluation_constraints(ga_evaluation *ev, const ga_point *p, const double **B,
                                     const double **A);

#endif
