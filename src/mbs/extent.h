/* The size of a machine. (extent.c) */
#ifndef GALPHA_MBS_EXTENT_H
#define GALPHA_MBS_EXTENT_H

#include "mbs/mbs_impl.h"

/* [m] at the start; 0: it has none. Writes to b->kin. */
double ga__extent_of(const ga__mbs_model *b);
/* scale[nv]: bounds of positions in tolerances (ga_system_def.scale), and b->size. */
void ga__extent_scale(ga__mbs_model *b, double *scale);

#endif
