/* Bodies of contacts: a core of corners, edges and faces, and a radius about it. (solid.c, near.c, dented.c)
 *
 * A sphere is a point, a capsule a segment, a box or a mesh a polyhedron, a plane a face without end that has
 * everything below z = 0 within it. Only meshes may be other than convex; edges are then those that are
 * convex. Numbers are in the axes of the frame that carries it. */
#ifndef GALPHA_MBS_SOLID_H
#define GALPHA_MBS_SOLID_H

#include "mbs/mbs_impl.h"

typedef struct ga__solid_edge {
  int v[2];
  int between_faces;              /* 0: of a segment, which has none */
  double inward[2][3], normal[3]; /* along its two faces, away from it; between their normals */
} ga__solid_edge;

typedef struct ga__solid_face { /* a triangle; n · x = d */
  int v[3];
  int plane; /* the first triangle in its plane */
  double n[3], d;
} ga__solid_face;

typedef struct ga__dents ga__dents;

typedef struct ga__solid {
  int is_plane;
  int n_corners, n_edges, n_faces;
  int n_points;  /* corners come first; others are of triangles alone */
  double *point; /* [3 n_points] */
  ga__solid_edge *edge;
  ga__solid_face *face;
  double radius;           /* [m] */
  double centre[3], reach; /* a ball around it, with the radius */
  ga__dents *dents;        /* NULL: convex */
  double half;             /* [m] from the centre to the nearest face of the core; 0: no faces */
} ga__solid;

/* A definition that was checked; refuses meshes that are open. */
ga_status ga__solid_create(ga_context *ctx, const ga__part *part, ga__solid *out);
void ga__solid_free(ga_context *ctx, ga__solid *s);

/* x → R x + p: from the frame of one solid to that of another. */
typedef struct ga__relative {
  double R[9], p[3];
} ga__relative;
static inline void ga__relative_apply(double out[3], const ga__relative *g, const double x[3])
{
  for (int i = 0; i < 3; i++)
    out[i] = g->R[3 * i] * x[0] + g->R[3 * i + 1] * x[1] + g->R[3 * i + 2] * x[2] + g->p[i];
}

typedef enum ga__feature_kind { GA__CORNER, GA__EDGE_LINE, GA__FACE } ga__feature_kind;
typedef struct ga__feature {
  ga__feature_kind kind;
  int index;
  double distance; /* [m] of the core, < 0: within it */
} ga__feature;
enum { GA__MOST_TOUCHES = 8, GA__MOST_ALIKE = 12 };
typedef struct ga__features { /* that press as one; the nearest first. Of a convex solid there is one */
  ga__feature of[GA__MOST_ALIKE];
  int n;
} ga__features;
/* The feature of a convex core that is nearest to x, or the nearest face where x is within; returns 0: it is
 * farther away than `most`. */
int ga__solid_nearest(const ga__solid *s, const double x[3], double most, ga__feature *out);

/* From a feature to a point x that is near it; a vector of any length. */
void ga__feature_direction(double out[3], const ga__solid *s, const ga__feature *f, const double x[3]);

/* Two edges that cross: where, and how far they are apart along their common normal; < 0: each within the
 * other's solid. */
typedef struct ga__crossing {
  int edge[2];
  double sign; /* of u × w, u along the first, w along the second edge: towards the first solid */
  double apart;
} ga__crossing;
/* How much a crossing of edges counts: nothing at their ends, where corners do, nor where edges are parallel,
 * nor where the common normal is not between the normals of the faces. */
#define GA__FADE_END 0.02             /* [-] of the edge, at each end */
#define GA__FADE_PARALLEL 0.005, 0.02 /* [-] sine of the angle between the edges, from none to all */
#define GA__FADE_NORMAL 0.03, 0.1     /* [-] sine of the angle beyond the faces, from all to none */
/* From 0 at a to 1 at b, with slope. */
static inline double ga__fade(double x, double a, double b, double *slope)
{
  const double u = (x - a) / (b - a);
  *slope = u > 0 && u < 1 ? 6 * u * (1 - u) / (b - a) : 0;
  return u <= 0 ? 0 : u >= 1 ? 1 : u * u * (3 - 2 * u);
}

/* Crossings of solids a, b that are less than `most` apart; `other` is b in a's frame. Starts with *next = 0;
 * returns 0: there are no more. deepest: as ga__least_overlap(). */
int ga__solid_crossing(const ga__solid *a, const ga__solid *b, const ga__relative *other, double most,
                       double deepest, long *next, ga__crossing *out);
/* [m] by how much cores overlap along the normals of their faces, where that is least; −infinity: they do
 * not. */
double ga__least_overlap(const ga__solid *a, const ga__solid *b, const ga__relative *a_in_b,
                         const ga__relative *b_in_a);
/* 1: cores with their radii, and with a margin around them, may overlap; by libccd. */
int ga__solids_meet(const ga__solid *a, const ga__solid *b, const ga__relative *b_in_a);

#endif
