/* Colliders: solids on frames. (collider.c) */
#ifndef GALPHA_MBS_COLLIDER_H
#define GALPHA_MBS_COLLIDER_H

#include "mbs/element.h"
#include "mbs/solid.h"

typedef struct ga__collider {
  int part, marker, node; /* of its frame */
  ga__solid solid;
  double extent; /* [m] all of it is within this distance from the origin of the node; a plane: infinite */
} ga__collider;

/* A collider by name, for a field of another part. */
ga_status ga__resolve_collider(ga_machine *m, const ga__mbs_model *b, const ga__part *asking,
                               const char *field, const char *name, const ga__collider **out);

#endif
