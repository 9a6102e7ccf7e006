/* Gauges: scalar functions of two markers. (gauge.c) */
#ifndef GALPHA_MBS_GAUGE_H
#define GALPHA_MBS_GAUGE_H

#include "mbs/node.h"

typedef enum ga__gauge_kind {
  GA__WORLD = 0, /* e · d, e = u fixed in space, d = p_b − p_a */
  GA__ALONG,     /* (A_a u) · d */
  GA__DOT,       /* (A_a u) · (A_b w) */
  GA__DISTANCE,  /* |d| */
  GA__ANGLE, /* of b about axis number `axis` (0, 1, 2 = i) of a, in (−π, π]: with j, k the axes after i,
                cyclically, atan2(b_j · a_k, b_j · a_j) */
  GA__TWIST, /* twist part of the rotation about that axis, 2 atan2(q_i, q_0) of its quaternion: 0 for a
                rotation about j or k alone, up to half a turn */
  GA__PLANE_ANGLE, /* θ_b − θ_a of planar nodes or the ground, + offset; any number of turns */
  GA__SCALAR       /* coordinate of scalar node a (marker a is on it) */
} ga__gauge_kind;

typedef struct ga__gauge {
  ga__gauge_kind kind;
  int a, b; /* markers */
  double u[3], w[3];
  int axis;
  double offset; /* of angles: turns, and for GA__PLANE_ANGLE the angle of the markers */
  enum {
    GA__NO_TURNS = 0,
    GA__FIRST_TURN,
    GA__GIVEN_TURNS
  } turns; /* initial angle of a joint: how turns count */
} ga__gauge;

/* A gauge with its markers at the point of an evaluation. */
typedef struct ga__gauge_eval {
  const ga__gauge *gauge;
  ga__frame a, b;
  double angle_a, angle_b; /* planar nodes */
} ga__gauge_eval;

/* Product of twists or gradients of two nodes. */
static inline double ga__dot12(const double *a, const double *b)
{
  double sum = 0.0;
  for (int i = 0; i < 12; i++) sum += a[i] * b[i];
  return sum;
}

void ga__gauge_eval_at(ga__gauge_eval *s, const ga__gauge *g, const ga__marker *marker, const ga__kin *kin);
double ga__gauge_value(const ga__gauge_eval *s);
/* g[12] = (F_a, T_a, F_b, T_b): dρ = g · (δx_a, δφ_a, δx_b, δφ_b), twists of the nodes of a and b. */
void ga__gauge_gradient(double g[12], const ga__gauge_eval *s);
/* K[i*12+j]: derivative of g_i by component j of the twists. Not symmetric in rotations. */
void ga__gauge_curvature(double K[144], const ga__gauge_eval *s);
unsigned ga__gauge_mask(const ga__gauge *g); /* bit i: g_i can be non-zero */
/* bit 4 i + j, with i, j = 0..3 for (x_a, φ_a, x_b, φ_b): that 3×3 tile of K can be non-zero */
unsigned ga__gauge_tiles(const ga__gauge *g);

int ga__add_gauge(ga_machine *m, ga__mbs_model *b, const ga__gauge *g); /* index, −1: out of memory */
double ga__gauge_initial(const ga__mbs_model *b, int gauge);
double ga__gauge_initial_rate(const ga__mbs_model *b, int gauge);

#endif
