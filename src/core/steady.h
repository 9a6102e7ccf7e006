/* Rate of change of a system's matrices along its motion (steady.c). */
#ifndef GALPHA_CORE_STEADY_H
#define GALPHA_CORE_STEADY_H

#include "core/system.h"

/* Arrays for a point a short time later. */
typedef struct ga__later {
  double *q, *move, *v, *x; /* [nq], [nv], [nv], [n_x] */
} ga__later;

/* [1/s] Relative to the largest entry of their rows; NaN: they cannot be evaluated a short time later.
 * `now` has the matrices at p, `later` is overwritten; residual_x: −xdot. */
double ga__unsteadiness(ga_context *ctx, const ga_system *sys, const ga_evaluation *now, ga_evaluation *later,
                        const ga_point *p, const double *residual_x, const ga__later *at);

#endif
