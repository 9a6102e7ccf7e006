/* A reference trajectory that shares nothing with the methods under test: the index-1 form (index1.h)
 * integrated for (q, v, x), q in its flat storage, by Gragg-Bulirsch-Stoer extrapolation. */
#ifndef GALPHA_EXAMPLES_REFERENCE_H
#define GALPHA_EXAMPLES_REFERENCE_H

#include "index1.h"

typedef struct vf_reference vf_reference;

/* The solution of a problem at t = 0, dt, ..., n dt. NULL on failure, with the reason in text[size]. */
vf_reference *vf_reference_create(const ex_problem *problem, double dt, long n, char *text, size_t size);
void vf_reference_destroy(vf_reference **ref);

vf_sizes vf_reference_sizes(const vf_reference *ref);
double vf_reference_spacing(const vf_reference *ref); /* dt */
long vf_reference_length(const vf_reference *ref);    /* n */
/* The solution at t = i dt; the pointers live as long as ref. */
ga_point vf_reference_at(const vf_reference *ref, long i);
/* The solution at any time in between, until the next call, by going on from the sample before; q is NULL on
 * failure. */
ga_point vf_reference_between(vf_reference *ref, double t);
/* Largest |Φ| and |k| over all samples: the drift of the index-1 form, which the tolerance
 * must keep small. */
double vf_reference_drift(const vf_reference *ref);

#endif
