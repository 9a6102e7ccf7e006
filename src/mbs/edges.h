/* On which side of the jumps and corners of its forces and blocks a machine is. */
#ifndef GALPHA_MBS_EDGES_H
#define GALPHA_MBS_EDGES_H

#include "mbs/mbs_impl.h"

/* Finds what may jump with the motion, b->edge; called once everything is numbered. */
ga_status ga__edges_list(ga_context *ctx, ga__mbs_model *b);
/* As ga_sides_fn and ga_side_name_fn; user is the machine. */
int ga__machine_sides(void *user, const ga_point *p, int *side);
void ga__machine_side_name(void *user, int index, char *text, size_t size);

#endif
