/* Building in stages, and where bodies start. (build.c, assemble.c) */
#ifndef GALPHA_MBS_ASSEMBLE_H
#define GALPHA_MBS_ASSEMBLE_H

#include "mbs/model.h"

/* Initial positions and velocities of bodies, computed from the initial values of joints and from bodies that
 * are held. (assemble.c) */
typedef struct ga__placement {
  ga_context *ctx;
  int n;         /* nodes of bodies, with the ground; 0: bodies stay as given */
  double *q, *v; /* of all nodes, concatenated: ga__node.q0 and v0, or own */
  int positions; /* 1: bodies are moved to q; 0: they stay as given, and q is only a consistent guess */
  int speeds;    /* 1: v has the speeds that drives start with */
} ga__placement;
ga_status ga__assemble(ga_machine *m, const ga__mbs_model *b, ga__placement *out); /* b: joints are created */
void ga__placement_free(ga__placement *p);
void ga__placement_apply(const ga__placement *p, ga__mbs_model *b); /* after joints have their frames */
/* Rest lengths of springs that are unloaded at the start. Needed where the given positions violate the
 * constraints, so that the start moves bodies. */
ga_status ga__set_spring_rests(ga_machine *m, ga__mbs_model *b);
/* Stages of building that ga_machine_build() and ga__assemble() share (build.c). */
ga_status ga__build_begin(ga_machine *m, ga__mbs_model *b);
ga_status ga__build_frames(ga_machine *m, ga__mbs_model *b); /* nodes and markers */
ga_status ga__build_finish(ga_machine *m, ga__mbs_model *b);
void ga__initial_values(const ga__mbs_model *b, double *q, double *v); /* of the system made from b */
/* The largest |Φ| at the initial values; HUGE_VAL: unknown. */
ga_status ga__phi_initial(ga__workspace *w, double *largest);

#endif
