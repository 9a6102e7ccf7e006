/* Samples: states that jump at given times. (sample.c) */
#ifndef GALPHA_CORE_SAMPLE_H
#define GALPHA_CORE_SAMPLE_H

#include "core/stepper.h"

/* Samples that are due from `from` to `to`, with q, v and x at `to` and all else of the current state; x is
 * changed. Nothing where the system has none. */
ga_status ga__sample(ga_stepper *st, double from, double to, const double *q, const double *v, double *x);
/* GA_ERR_ARGUMENT if the system has samples: it has no equilibria and no linear equations. */
ga_status ga__refuse_samples(ga_context *ctx, const ga_system *sys, const char *function);

#endif
