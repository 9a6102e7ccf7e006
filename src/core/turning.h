/* Steady turning of a system as a whole (turning.c). */
#ifndef GALPHA_CORE_TURNING_H
#define GALPHA_CORE_TURNING_H

#include "core/pencil.h"

/* Are the entries of Ω̂ within the velocities of the system, by rows, and the speed > 0? */
ga_status ga__turning_check(ga_context *ctx, const ga_system *sys, const ga_turning *turning);
/* out[nv] := Ω̂ in; not the same array. */
void ga__turning_mul(const ga_turning *turning, int nv, double *out, const double *in);
/* [1/s] How fast the equations in turning axes change along the motion, relative to themselves; about 0 where
 * the system is the same seen from all angles about the axis. NaN: unknown. `pencil` has the equations at p
 * and a shift; vectors[n][n_state]: motions to compare by. */
ga_status ga__turning_unsteadiness(ga_context *ctx, ga__pencil *pencil, const ga_point *p, int n,
                                   const double *vectors, double *unsteady);

#endif
