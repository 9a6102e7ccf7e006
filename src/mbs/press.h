/* Places where two solids press on each other. (press.c) */
#ifndef GALPHA_MBS_PRESS_H
#define GALPHA_MBS_PRESS_H

#include "mbs/collider.h"
#include "mbs/dual.h"

/* Two colliders at the point of an evaluation. */
typedef struct ga__scene {
  const ga__solid *solid[2];
  int node[2]; /* that carry them */
  int n;       /* derivatives */
  ga__frame frame[2];
  ga__relative in[2]; /* a in the frame of b, b in that of a */
  double radii;       /* [m] sum of both */
} ga__scene;

/* Frames; the rest, which a search needs, with ga__scene_relate(). n: derivatives, the first twelve by the
 * poses of the nodes. */
void ga__scene_set(ga__scene *c, const ga__mbs_model *b, const ga__kin *kin, const ga__collider *const of[2],
                   int n);
void ga__scene_relate(ga__scene *c);
/* 1: balls around both are less than `far` apart. */
int ga__scene_is_near(const ga__scene *c, double far);
/* 1: they may touch; then the scene is complete. */
int ga__scene_may_touch(ga__scene *c);
/* 1: corners of a (0) or b (1) are compared with the other. Needs the solids alone. */
int ga__sends_corners(const ga__scene *c, int which);
/* First variable of the pose of a node, -1: it is the ground. */
int ga__scene_pose(const ga__scene *c, int which);
/* A vector of a solid, given in its axes. */
void ga__scene_vector(ga__dual out[3], const ga__scene *c, int which, const double x[3]);

/* A place where solids press, or would if they were nearer. */
typedef struct ga__place {
  int which, corner;   /* of a (0) or b (1); corner −1: a crossing */
  ga__feature feature; /* of the other, the nearest */
  ga__features alike;  /* which presses as one with these, itself first */
  ga__crossing crossing;
  double distance; /* [m] of the cores */
} ga__place;

/* Goes over the places whose cores are less than `most` apart. */
typedef struct ga__search {
  double most, deepest;
  int which, corner;                   /* next */
  ga__features near[GA__MOST_TOUCHES]; /* of the last corner, those not yet reported */
  int n_near;
  long crossing;
} ga__search;
ga__search ga__search_in(const ga__scene *c, double most);
int ga__next_place(const ga__scene *c, ga__search *s, ga__place *out); /* 0: no more */
/* 1: at a place one is nearly through the other. */
int ga__place_is_deep(const ga__scene *c, const ga__place *at);
/* The place where cores are nearest to each other; returns 0: there is none. */
int ga__nearest_place(const ga__scene *c, ga__place *out);

/* Geometry of a place. */
typedef struct ga__press {
  ga__dual normal[3]; /* from b to a */
  ga__dual point[3];
  ga__dual depth, weight;
} ga__press;
void ga__press_at(ga__press *out, const ga__scene *c,
                  const ga__place *at); /* of the nearest alone, in full */
/* Of all that press as one, with their weights; returns their number. */
int ga__presses_at(ga__press out[GA__MOST_ALIKE], const ga__scene *c, const ga__place *at);

#endif
