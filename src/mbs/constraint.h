/* Rows of Φ: sums of gauges, axes, points held together. (constraint.c, axes.c, point3.c) */
#ifndef GALPHA_MBS_CONSTRAINT_H
#define GALPHA_MBS_CONSTRAINT_H

#include "mbs/eval.h"
#include "mbs/gauge.h"

/* One constraint row: Σ c ρ − target(t) − constant = 0. It has a slot for each node that it depends on, with
 * the entries of B and D_q(B v), and those of Bᵀ: one for every bit of the mask, in ascending order. */
typedef struct ga__slot {
  int node;
  unsigned mask, mask_t; /* six bits each, of the components that the node has */
  int B, Bt;             /* first entries */
} ga__slot;
typedef struct ga__term {
  int gauge;
  double c;
  int slot_a, slot_b; /* within the row's slots; −1: ground */
  int pair[4];        /* aa, ab, ba, bb */
} ga__term;
typedef struct ga__row {
  int part;
  int first_slot, n_slots, first_term, n_terms;
  const ga_function *target; /* NULL: none */
  double constant;
  double rate; /* prescribed rate of the sum in addition to that of target; 0 except during assembly */
  int wrap;    /* 1: an angle, taken within (−π, π] */
  int lambda;  /* its number */
  int by_axes; /* 1: evaluated in axes.c */
  int own; /* of a joint that can be switched: node of a unit mass that the row holds while it is off; 0: none
            */
  int gate; /* the state that switches it; −1: it always acts */
  int own_pair, own_B, own_Bt;
} ga__row;

/* A row e_a · e_b = constant for two axes fixed in rigid bodies or the ground. Hinges and slides have two or
 * more of them. (axes.c) */
typedef struct ga__axes {
  int lambda;
  int node[2], v[2]; /* nodes, and their first velocities */
  double u[2][3];    /* the axes, in body axes */
  double constant;
  int B[2], Bt[2]; /* first of three entries of φ; −1: ground */
  int rr[4];       /* tiles φφ of the pairs aa, ab, ba, bb; −1: ground */
} ga__axes;

/* Three rows at once: p_b − p_a = 0 in ground axes, the most frequent constraint. (point3.c) */
typedef struct ga__end {
  int node, v; /* 0: ground; first velocity */
  double s[3]; /* from the node's origin, in body axes */
  int B;       /* first entry: 3 of x (diagonal), then 9 of φ, column by column */
  int Bt;      /* of the first column of Bᵀ: one of x, two of φ (without the diagonal) */
  int rr;      /* the node's own tile φφ */
} ga__end;
typedef struct ga__point3 {
  int part, a, b; /* markers */
  int lambda;     /* first of three */
  int stride;     /* from one column of Bᵀ to the next */
  ga__end end[2];
} ga__point3;

/* The end of a point3, in the order of bodies, as the sweep visits them. (body.c) */
typedef struct ga__body_end {
  double s[3], sign; /* 1 for b, −1 for a */
  int lambda, B, Bt, stride;
  int first; /* 1: the other end's body comes later */
} ga__body_end;

/* Sweeps add values to s (−f to s->dynamics) and derivatives to J; either may be NULL. ..._values and
 * ..._force compute the same for the callbacks of single blocks. order 0, 1, 2: Φ, Φ', Φ'' at vdot = 0. */

/* Rows with two axes (axes.c). ga__axes_add_row() converts the row, once its entries are known. */
ga_status ga__axes_add_row(ga__mbs_model *b, ga__row *row);
void ga__axes_values(const ga__eval *e, double *out, int order);
void ga__axes_force(const ga__eval *e, double *f);
void ga__axes_sweep(const ga__eval *e, const ga_sweep *s, const ga_jacobian *J);
void ga__axes_value(const ga__eval *e, int i, double *out, int order); /* of one of them */
void ga__axes_torque(const ga__eval *e, int i, double *f);
/* Coincident origins (point3.c). */
ga_status ga__points_want(ga__mbs_model *b);
ga_status ga__points_bind(ga__mbs_model *b);
void ga__points_values(const ga__eval *e, double *out, int order);
void ga__points_force(const ga__eval *e, double *f);
void ga__point_value(const ga__eval *e, int i, double *out, int order);
void ga__point_force(const ga__eval *e, int i, double *f);
/* Values and forces of a row that axes.c does not evaluate. */
int ga__row_sweep(const ga__eval *e, int i, const ga_sweep *s);
ga_status ga__list_body_ends(ga__mbs_model *b);

#endif
