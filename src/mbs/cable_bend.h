/* Bending of cables. (cable_bend.c) */
#ifndef GALPHA_MBS_CABLE_BEND_H
#define GALPHA_MBS_CABLE_BEND_H

#include "mbs/mbs_impl.h"

/* The bending stiffness of a cable with nodes first ... first + n at s[] along it. */
typedef struct ga__bending {
  double EI;      /* [N m²]; 0: none, and no function below is called */
  double damping; /* [s] */
  double still;   /* [1/m] curvature below which damping does not distinguish planes */
  int first, n;
  const double *s; /* [n + 1] borrowed */
  const int *pair; /* [4 n] as of ga__along_bind(), borrowed */
  int *far;        /* [2 (n − 1)] pairs of nodes (i, i + 2) and (i + 2, i), owned */
} ga__bending;

/* s and pair belong to the caller. */
ga_status ga__bending_create(ga_context *ctx, double EI, double damping, int first, int n, const double *s,
                             const int *pair, ga__bending *out);
ga_status ga__bending_want(ga__mbs_model *b, const ga__bending *u);
void ga__bending_bind(ga__mbs_model *b, ga__bending *u);

/* Adds to F the force in element i due to bending, of its second node on its first, ground axes; of the
 * elastic part alone where elastic is 1. */
void ga__bending_force(const ga__eval *e, const ga__bending *u, int i, int elastic, double F[3]);
/* Derivatives of that force by the vectors along elements i − 1, i and i + 1, and by their rates; those of
 * elements that are not there are 0. */
void ga__bending_slopes(const ga__eval *e, const ga__bending *u, int i, double by_d[27], double by_rate[27]);
void ga__bending_jacobian(const ga__eval *e, const ga__bending *u, ga_jacobian *J);
/* *stored [J] and *lost [W], of the whole cable. */
void ga__bending_energy(const ga__eval *e, const ga__bending *u, double *stored, double *lost);

/* Moment at a node, of the part beyond it on the part before it, ground axes; 0 at the ends. And its
 * derivatives by the vectors along the elements before and after it (node 1 to n − 1), and by their rates. */
void ga__bending_moment(const ga__eval *e, const ga__bending *u, int node, double M[3]);
void ga__bending_moment_slopes(const ga__eval *e, const ga__bending *u, int node, double by_d[18],
                               double by_rate[18]);

#endif
