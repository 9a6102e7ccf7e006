/* A reference trajectory that shares nothing with the methods under test: the index-1 form of the system,
 *
 *   M vdot = f,   B vdot + Φ_acc = 0,   A vdot + k_acc = 0,   y = o     solved for vdot, λ, ψ, y at every
 * point,
 *
 * integrated for (q, v, x), q in its flat storage, by Gragg-Bulirsch-Stoer extrapolation. */
#ifndef VERIFY_REFERENCE_H
#define VERIFY_REFERENCE_H

#include "problem.h"

typedef struct vf_sizes {
  int nq, nv, n_lambda, n_psi, n_x, n_y;
} vf_sizes;

typedef struct vf_reference vf_reference;

/* The solution of a problem at t = 0, dt, ..., n dt. NULL on failure, with the reason in text[size]. */
vf_reference *vf_reference_create(const ex_problem *problem, double dt, long n, char *text, size_t size);
void vf_reference_destroy(vf_reference **ref);

vf_sizes vf_reference_sizes(const vf_reference *ref);
/* The solution at t = i dt; the pointers live as long as ref. */
ga_point vf_reference_at(const vf_reference *ref, long i);
/* Largest |Φ| and |k| over all samples: the drift of the index-1 form, which the tolerance must keep small.
 */
double vf_reference_drift(const vf_reference *ref);
long vf_reference_evaluations(const vf_reference *ref);

#endif
