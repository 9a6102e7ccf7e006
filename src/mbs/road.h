/* Roads: surfaces z = f(t, x, y) over the xy plane of a frame, and their friction. (road.c) */
#ifndef GALPHA_MBS_ROAD_H
#define GALPHA_MBS_ROAD_H

#include "mbs/dual.h"
#include "mbs/element.h"

typedef struct ga__road {
  int part, marker, node; /* of its frame */
  ga__formula height;     /* no expression: a plane */
  ga__formula friction;   /* no expression: 1 */
} ga__road;

/* A road by name, for the field of another part. */
ga_status ga__resolve_road(ga_machine *m, const ga__mbs_model *b, const ga__part *asking, const char *name,
                           const ga__road **out);

/* The frame of a road at the point of an evaluation: origin and axes. */
typedef struct ga__road_frame {
  ga__dual p[3], axis[3][3];
} ga__road_frame;
/* first: the six variables of the road's node, -1: it does not move. */
void ga__road_frame_at(ga__road_frame *out, const ga__eval *e, const ga__road *road, int n, int first);

/* The tangent plane at a place x, y of the road. */
typedef struct ga__road_plane {
  ga__dual point[3], normal[3]; /* ground axes */
  ga__dual rise;                /* [m/s] of the surface along z of the frame, by its dependence on time */
} ga__road_plane;
/* The place of a point: its projection along z of the road's frame. */
void ga__road_place(ga__dual place[2], const ga__road_frame *frame, const ga__dual point[3]);
/* t: variable of the time. Returns as ga__formula_value(). */
int ga__road_plane_at_place(ga__road_plane *out, const ga__eval *e, const ga__road *road,
                            const ga__road_frame *frame, const ga__dual *t, const ga__dual place[2]);
int ga__road_friction(ga__dual *out, const ga__eval *e, const ga__road *road, const ga__road_frame *frame,
                      const ga__dual *t, const ga__dual point[3]);
/* Sides of the corners and jumps of its expressions at a point. */
int ga__road_has_edges(const ga__road *road);
int ga__road_side(const ga__eval *e, const ga__road *road, const ga__dual point[3], unsigned *side);

/* Bumps and patches between the ends of a step: may there be any? 1: within the piece the road below a marker may
 * leave its values at the ends of the step. */
int ga__road_may_hide(const ga__road *road);
int ga__road_hides(ga__workspace *w, const ga__road *road, int marker, double radius, const ga_piece *step,
                   const ga_piece *piece);

#endif
