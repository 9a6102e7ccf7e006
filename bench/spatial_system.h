/* The spatial chain in absolute coordinates, for a peer that takes systems of equations.
 *
 * Of every rod the centre x and the unit quaternion p, v = (x', ω) with ω in space axes: nq = 7n, nv = 6n.
 * Joint i has the constraints Φ = (x_i − (l/2) e_i) − (x_{i−1} + (l/2) e_{i−1}), and a revolute one also
 * Φ = A·B = 0 for its axis A in rod i−1 (or the ground) and both directions B of rod i across it: n_lambda =
 * 3n or 5n. */
#ifndef GALPHA_BENCH_SPATIAL_SYSTEM_H
#define GALPHA_BENCH_SPATIAL_SYSTEM_H

#include "ida_peer.h"
#include "spatial_chain.h"

typedef struct spatial_system {
  spatial_chain c;
  int rows;           /* constraints of a joint */
  ga_factor *factors; /* [2n] */
  double *q0, *v0;    /* [7n], [6n] */
  double *R;          /* [9n] work: the rods' rotations at the point last evaluated */
  int n_pattern;
  int *row, *col; /* [n_pattern] */
  int *near, *far, *spin,
      *hinge; /* [n] where the entries of a rod, or of the joint above it, begin; -1: none */
} spatial_system;

/* NULL when out of memory. */
spatial_system *spatial_system_create(spatial_chain c);
void spatial_system_destroy(spatial_system **s);
/* Borrows s. */
ida_model spatial_ida_model(const spatial_system *s);

#endif
