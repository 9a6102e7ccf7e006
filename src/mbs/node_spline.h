/* Smooth curves along the nodes of a beam or cable, over the length along the part. (node_spline.c)
 *
 *   r(s) = Σ_j N_j(s) x_j
 *
 * Weights N_j depend on s alone, so that r is linear in places.
 *
 * Beam: the cubic spline through the nodes. Value, slope and curvature are continuous; at the ends the first
 * two and the last two pieces are one cubic each (not-a-knot): order 4 in the distance of nodes where the
 * curve is smooth.
 *
 * Cable: a load makes a kink in it, which a polygon has only at nodes. A load on a curve through the nodes
 * would be drawn to certain places within each element, however short these are. So the polygon is rounded
 * off at its nodes by just as much that these forces nearly vanish. Value, slope and, between elements of one
 * length, curvature are continuous; the curve is 0.2 h² r'' beside the nodes: order 2, as that of the cable,
 * and order 1 under a load, whose kink is cut short. */
#ifndef GALPHA_MBS_NODE_SPLINE_H
#define GALPHA_MBS_NODE_SPLINE_H

#include "mbs/machine.h"

enum { GA__SPLINE_LEAST = 3, GA__SPLINE_ORDERS = 4 }; /* pieces; value and three derivatives */

typedef struct ga__node_spline {
  int n;           /* pieces */
  const double *s; /* [n + 1] borrowed, ascending */
  double *bend;    /* [(n + 1)²] owned: row i: r'' at node i by the places of nodes; NULL: of a cable */
} ga__node_spline;

/* n >= GA__SPLINE_LEAST. What it owns is freed by ga__node_spline_free(), also on failure. */
ga_status ga__node_spline_make(ga_context *ctx, int n, const double *s, int cable, ga__node_spline *out);
void ga__node_spline_free(ga_context *ctx, ga__node_spline *c);
/* weight[4][n + 1]: N_j and its first, second and third derivatives at s; beyond the ends those of the last
 * pieces. */
void ga__node_spline_at(const ga__node_spline *c, double s, double *weight);

#endif
