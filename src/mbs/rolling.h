/* Rolling without slipping: data shared by planes (rolling.c) and roads (rolling_road.c). */
#ifndef GALPHA_MBS_ROLLING_H
#define GALPHA_MBS_ROLLING_H

#include "mbs/road.h"

/* Data of the element: one row of Φ (contact; none for a knife edge), rows of k. */
typedef struct ga__rolling {
  int part, body, plane; /* markers; plane: also the frame of a road */
  ga_rolling_kind kind;
  double radius;
  const ga__road *road; /* NULL: a plane */
  int lambda;           /* −1: none */
  int psi, n_psi;
  int node[2], n; /* nodes of body and plane; how many of them move: 1 on the ground */
  /* by node: */
  int B[2], Bt[2]; /* entries of the contact's row: one for each of the node's velocities */
  int A[2], At[2]; /* those of k: row after row; Aᵀ likewise (row of k after row of k) */
  int pair[2][2];
} ga__rolling;

/* Signals: of the force on the body, ground axes, and, where it touches the plane, of that place. Of a knife
 * edge the tangential force is the one across it, with its sign. */
enum {
  GA__ROLLING_NORMAL = 0,
  GA__ROLLING_PLACE = 1,
  GA__ROLLING_FORCE = 4,
  GA__ROLLING_TANGENTIAL = 7,
  GA__ROLLING_SIGNALS = 8
};

/* ---- On a road: the functions of an element (element.h) ---- */
int ga__road_rolling_force(const ga__eval *e, const ga__element *el, double *f);
int ga__road_rolling_phi(const ga__eval *e, const ga__element *el, double *out, int order);
int ga__road_rolling_k(const ga__eval *e, const ga__element *el, double *out, int order);
int ga__road_rolling_jacobian(const ga__eval *e, const ga__element *el, ga_jacobian *J);
int ga__road_rolling_value(const ga__eval *e, const ga__element *el, int i, double *out);
int ga__road_rolling_slopes(const ga__eval *e, const ga__element *el, int i, double *d, double *dq);
int ga__road_rolling_side(const ga__eval *e, const ga__element *el, unsigned *number);
int ga__road_rolling_powers(const ga__eval *e, const ga__element *el, ga__powers *out);
double ga__road_rolling_doubt(const ga__eval *e, const ga__element *el, double at[2]);

#endif
