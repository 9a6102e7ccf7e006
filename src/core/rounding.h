/* Points that differ by rounding (rounding.c). */
#ifndef GALPHA_CORE_ROUNDING_H
#define GALPHA_CORE_ROUNDING_H

#include "core/system.h"

/* to[n]: values that differ from those of `from` by their rounding, up or down by the bits of `pattern`;
 * least: of which size they are at least. */
void ga__move_by_rounding(double *to, const double *from, int n, double least, unsigned pattern);

/* A point and the memory of its numbers. */
typedef struct ga__moved_point {
  ga_point p;
  double *q, *v, *lambda, *psi, *x;
  double *block;
} ga__moved_point;

ga_status ga__moved_point_create(ga_context *ctx, const ga_system *sys, ga__moved_point *m);
void ga__moved_point_destroy(ga_context *ctx, ga__moved_point *m);
/* The point p with positions, velocities, states and multipliers moved by their rounding: positions of a
 * factor of the group by that of the largest of them, rotations by that of 1. */
void ga__moved_point_set(const ga_system *sys, const ga_point *p, unsigned pattern, ga__moved_point *m);

#endif
