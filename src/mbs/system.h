/* A built machine as a ga_system. */
#ifndef GALPHA_MBS_SYSTEM_H
#define GALPHA_MBS_SYSTEM_H

#include "mbs/mbs_impl.h"

ga_status ga__system_make(ga_machine *m, ga__mbs_model *b);
/* Begins an evaluation at a point: computes kin, with velocities and accelerations on request. */
ga__eval ga__eval_at(ga__workspace *w, const ga_point *p, int with_v, int with_vdot);
/* M vdot, f and J in the space form: sums over elements. */
void ga__space_mass(const ga__eval *e, double *out);
int ga__space_force(const ga__eval *e, double *f);
int ga__space_jacobian(const ga__eval *e, ga_jacobian *J);
/* Values and derivatives in one pass, but for states and outputs; s or J may be NULL. J need not be cleared. */
int ga__space_sweep(const ga__eval *e, const ga_sweep *s, ga_jacobian *J);
/* The point of a state. */
static inline ga_point ga__point_of(const ga_state *s)
{
  return (ga_point){s->t, s->q, s->v, s->vdot, s->lambda, s->psi, s->x, s->y, 0, NULL};
}

#endif
