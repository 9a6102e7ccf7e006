/* How fast the matrices of a system change along its motion (steady.c). */
#ifndef GALPHA_CORE_STEADY_H
#define GALPHA_CORE_STEADY_H

#include "core/system.h"

/* Room for a point a little later. */
typedef struct ga__later {
  double *q, *move, *v, *x; /* [nq], [nv], [nv], [n_x] */
} ga__later;

/* [1/s] Relative to the largest number of their rows; NaN where they cannot be evaluated a little later.
 * `now` has the matrices at p, `later` becomes an evaluation of the other point; residual_x: −xdot. */
double ga__unsteadiness(ga_context *ctx, const ga_system *sys, const ga_evaluation *now, ga_evaluation *later,
                        const ga_point *p, const double *residual_x, const ga__later *at);

#endif
