/* The index-1 form of a problem: at given (t, q, v, x) the equations
 *
 *   M vdot = f,   B vdot + Φ_acc = 0,   A vdot + k_acc = 0,   y = o
 *
 * are solved for z = (vdot, λ, ψ, y). Uses the problem's callbacks and the group's storage, nothing of the
 * methods under test and none of the library's linear algebra. */
#ifndef GALPHA_EXAMPLES_INDEX1_H
#define GALPHA_EXAMPLES_INDEX1_H

#include "problem.h"

typedef struct vf_sizes {
  int nq, nv, n_lambda, n_psi, n_x, n_y;
} vf_sizes;

typedef struct vf_index1 vf_index1;

/* NULL on failure, with the reason in text[size], which must live as long as the object: later failures are
 * told there too. */
vf_index1 *vf_index1_create(const ex_problem *problem, char *text, size_t size);
void vf_index1_destroy(vf_index1 **m);
vf_sizes vf_index1_sizes(const vf_index1 *m);

/* rate := d/dt of state = (q, v, x), q and its rate in flat storage. Returns 0, or 1 on failure. */
int vf_index1_rate(vf_index1 *m, double t, const double *state, double *rate);
/* The point of the last success of vf_index1_rate(), until the next call; its q, v, x are
 * those of `state`. */
ga_point vf_index1_point(const vf_index1 *m, double t, const double *state);
/* Largest |Φ| and |k| at a point, infinity where they cannot be evaluated. */
double vf_index1_drift(vf_index1 *m, const ga_point *p);

#endif
