/* Sides of the edges (jumps and corners with the motion) of a machine's forces and blocks. */
#ifndef GALPHA_MBS_EDGES_H
#define GALPHA_MBS_EDGES_H

#include "mbs/mbs_impl.h"

/* Lists in b->edge what may jump or have a corner with the motion; after everything is numbered. */
ga_status ga__edges_list(ga_context *ctx, ga__mbs_model *b);
/* As ga_sides_fn and ga_side_name_fn; user is the machine. */
/* As ga_switch_fn. */
int ga__machine_switches(void *user, const ga_point *p, ga_switch_when when, const unsigned char *shared,
                         double *x);
int ga__machine_sides(void *user, const ga_point *p, int *side);
void ga__machine_side_name(void *user, int index, char *text, size_t size);

#endif
