/* Building in stages, and where bodies start. (build.c, assemble.c) */
#ifndef GALPHA_MBS_ASSEMBLE_H
#define GALPHA_MBS_ASSEMBLE_H

#include "mbs/model.h"

/* Where bodies are and how they move at the start, found from initial values of joints and bodies that are
 * held (assemble.c). */
typedef struct ga__placement {
  ga_context *ctx;
  int n;         /* nodes that there are before joints are created, the ground among them; 0: as given */
  double *q, *v; /* of one node after the other, as ga__node.q0 and v0, or own */
  int positions; /* 0: q is where bodies will be once they are consistent, and they stay as given */
  int speeds;    /* 1: drives begin with speeds, which v has */
} ga__placement;
ga_status ga__assemble(ga_machine *m, const ga__mbs_model *b, ga__placement *out); /* b: with its joints */
void ga__placement_free(ga__placement *p);
void ga__placement_apply(const ga__placement *p, ga__mbs_model *b); /* once joints have their frames */
/* Springs whose rest is that at the start, where given positions are off the constraints. */
ga_status ga__set_spring_rests(ga_machine *m, ga__mbs_model *b);
/* The stages of building that both need (build.c). */
ga_status ga__build_begin(ga_machine *m, ga__mbs_model *b);
ga_status ga__build_frames(ga_machine *m, ga__mbs_model *b); /* nodes and markers */
ga_status ga__build_finish(ga_machine *m, ga__mbs_model *b);
void ga__initial_values(const ga__mbs_model *b, double *q, double *v); /* of the system made from b */
/* The largest |Φ| there; HUGE_VAL: unknown. */
ga_status ga__phi_initial(ga__workspace *w, double *largest);

#endif
