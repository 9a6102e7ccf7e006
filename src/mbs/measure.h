/* Measures: signals as functions of positions and velocities, with the derivatives that constraints need.
 * (measure.c) */
#ifndef GALPHA_MBS_MEASURE_H
#define GALPHA_MBS_MEASURE_H

#include "mbs/model.h"

typedef enum ga__measure_kind {
  GA__MEASURE_GAUGE,    /* a gauge, or its rate */
  GA__MEASURE_VELOCITY, /* e · (u + ω × r), velocity of marker b along an axis of marker a */
  GA__MEASURE_SPIN      /* e · ω, likewise */
} ga__measure_kind;

/* A term: a function of two nodes. */
typedef struct ga__measure_term {
  ga__measure_kind kind;
  double c;
  int gauge;      /* GA__MEASURE_GAUGE */
  int a, b, axis; /* markers; the number of a's axis */
  int node[2];    /* of a and b; 0: ground */
} ga__measure_term;

/* A signal s(q), or s(q, v) = a(q) · w, which is linear in velocities: a sum of terms. */
typedef struct ga__measure {
  int rate; /* 1: it is a velocity */
  int n;
  ga__measure_term term[2];
} ga__measure;

/* A term at the point of an evaluation. Positions: value, and g of value' = g · w. Velocities: value = g · w.
 * K[12 × 12] (NULL: not wanted): the derivative of g by small twists of both nodes. w: twists of both. */
typedef struct ga__measure_eval {
  double value, g[12], w[12];
  unsigned tiles; /* of K, as ga__gauge_tiles() */
} ga__measure_eval;
void ga__measure_eval_at(ga__measure_eval *out, double *K, const ga__eval *e, const ga__measure_term *term,
                         int rate);

/* The measure of a probe that positions and velocities determine. */
ga_status ga__measure_make(ga_machine *m, ga__mbs_model *b, const ga__probe *probe, ga__measure *out);

#endif
