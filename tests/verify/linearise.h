/* Small motions about a state: eigenvalues of the linearised equations of a system, constraints, states and
 * outputs included. The state must be an equilibrium, or a steady motion: one along which nothing changes
 * that the linearised equations depend on, in the algebra's coordinates. */
#ifndef VERIFY_LINEARISE_H
#define VERIFY_LINEARISE_H

#include "galpha/core.h"

typedef struct vf_modes {
  int n;           /* finite eigenvalues: free positions, free velocities and states */
  double *re, *im; /* [n] [1/s], the one with the largest real part first; belong to re, which free() ends */
} vf_modes;

/* 0; otherwise text says what failed. */
int vf_modes_find(ga_context *ctx, const ga_system *sys, const ga_state *s, vf_modes *modes, char *text,
                  size_t size);
void vf_modes_free(vf_modes *modes);
/* Distance of the eigenvalue nearest to re + i im. */
double vf_modes_off(const vf_modes *modes, double re, double im);

#endif
