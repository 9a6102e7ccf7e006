/* Cables as parts: their section, where they start. (cable.c, cable_shape.c) */
#ifndef GALPHA_MBS_CABLE_H
#define GALPHA_MBS_CABLE_H

#include "mbs/beam.h"

/* A cable as it is given: axial stiffness [N], mass by length [kg/m], length without tension [m]. */
typedef struct ga__cable_line {
  double EA, mass, length;
} ga__cable_line;

ga__beam_fault ga__cable_make(const ga_cable_def *def, ga__cable_line *out);

/* Where points of a cable that is longer than the distance of its ends hang at rest, if it does not stretch:
 * x[3 k] at s[k] along it, s[0] = 0 to s[n] = the length. down: gravity; of no size: −z of the ground.
 * A cable that is not longer is straight. (cable_shape.c) */
void ga__cable_hang(const double from[3], const double to[3], const double down[3], const double *s, int n,
                    double *x);

#endif
