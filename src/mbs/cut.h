/* Dynamic stiffness K − w2 M of pieces of beams and cables, and what remains of it when they are cut into
 * shorter ones: how well elements represent a motion of a given frequency. (cut.c, resolution.c) */
#ifndef GALPHA_MBS_CUT_H
#define GALPHA_MBS_CUT_H

#include "mbs/beam_element.h"

/* out [2n × 2n] of two pieces a [2n × 2n] and b one behind the other, the node between them eliminated; all
 * are symmetric, n ≤ 6. Returns 0; 1: it is singular there. */
int ga__cut_join(int n, const double *a, const double *b, double *out);
/* D[144] of a beam element between two nodes, cut into 2^level equal pieces; columns as of ga__beam_tangent.
 * Returns 0; 1: it has none. */
int ga__beam_cut(const ga__beam_element *e, const ga__kin *a, const ga__kin *b, double w2, int level,
                 double D[144]);

#endif
