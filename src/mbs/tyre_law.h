/* Laws of the forces of tyres along the road. (tyre_law.c) */
#ifndef GALPHA_MBS_TYRE_LAW_H
#define GALPHA_MBS_TYRE_LAW_H

#include "galpha/mbs.h"
#include "mbs/dual.h"

typedef struct ga__tyre_slip {
  ga__dual slip[2]; /* κ = −v_sx/V, λ = −v_sy/V */
  ga__dual camber;  /* [rad] */
  ga__dual load;    /* [N] > 0 */
  ga__dual mu;      /* factor of friction */
} ga__tyre_slip;

/* Forces along e_x and e_y [N]. */
void ga__tyre_law(const ga_tyre_def *def, const ga__tyre_slip *in, ga__dual *Fx, ga__dual *Fy);

#endif
