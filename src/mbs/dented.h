/* Solids that are not convex: where a point outside of one is near it. (dented.c) */
#ifndef GALPHA_MBS_DENTED_H
#define GALPHA_MBS_DENTED_H

#include "mbs/solid.h"

typedef struct ga__box { /* around triangles order[first ...] of a branch; its halves are the next box, and
                            `other` */
  double low[3], high[3];
  int first, n, other; /* other 0: a leaf */
} ga__box;

/* What a solid that is not convex has besides. */
struct ga__dents {
  int *neighbour, *first; /* of points: neighbour[first[i] ... first[i + 1] − 1] */
  int *edge; /* [3 n_faces] the edge at a side of a triangle; −1: none, the side is flat or concave */
  unsigned char
      *own;   /* [3 n_faces] bit 0: the triangle counts for the edge at its side, bit 1: for its corner */
  int *order; /* [n_faces] triangles, as boxes have them */
  ga__box *box;
  int n_boxes;
};

/* For a solid whose points, faces and edges are complete. edge_of: as `edge` above, which it becomes. */
ga_status ga__dents_create(ga_context *ctx, ga__solid *s, const int *edge_of);
void ga__dents_free(ga_context *ctx, ga__dents *d);

/* The places where x is nearest to the surface, each within its surroundings, and less than `most` away;
 * those whose directions differ by less than 30° from that of a nearer one together with it. If x is within,
 * one, with a negative distance. Returns their number. Infinite `most`: the nearest alone. */
int ga__dents_near(const ga__solid *s, const double x[3], double most, ga__features out[GA__MOST_TOUCHES]);
/* Of features that press as one, how much one counts whose direction has the cosine c with that of the
 * nearest, at the distance d, to be divided by the sum: from 1 where it is as near, to 0 where it begins
 * beside the nearest, d = d_nearest/c, as in a crease. */
#define GA__SHARE_OF(d, nearest, c) (((d) - (nearest)) * (c) / ((nearest) * (1 - (c))))
/* 1: a solid may touch a point of it from a direction e, seen from the point, or nearly so. */
int ga__dents_face(const ga__solid *s, int point, const double e[3]);
/* 1: there is a direction from which any solid may touch the point. */
int ga__dents_is_corner(const double *point, int i, const int *neighbour, int n);

#endif
