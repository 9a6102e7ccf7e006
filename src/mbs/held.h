/* A gauge that an element holds in some of its modes, by one row of k: its rate is 0, or a given one. In
 * other modes the row holds the velocity of a unit mass of the element's own, s, on which nothing else acts,
 * so that ψ = 0 and the pattern stays the same. A weak spring and damper determine s in statics. (held.c) */
#ifndef GALPHA_MBS_HELD_H
#define GALPHA_MBS_HELD_H

#include "mbs/element.h"

typedef struct ga__held {
  int gauge, node[2], own; /* own: node of s */
  int psi;
  int pair[4], own_pair;
  int A[2], At[2], own_A, own_At; /* entries of k and its transpose, of both nodes and of s; −1: ground */
} ga__held;

/* The gauge at the point of an evaluation. */
typedef struct ga__held_eval {
  double g[12], w[12], K[144];
  double value, rate, size; /* ρ, ρ', and the sum of the magnitudes of the terms of ρ' */
} ga__held_eval;

/* [m/s] or [rad/s], and [m/s²] or [rad/s²]: smaller rates and accelerations are those of iterations; and
 * relative to the sum of their terms. */
#define GA__STILL 1e-9

/* ---- The data of an element of this kind begin with a ga__held; what all of them share: */
int ga__held_has_edges(const ga__mbs_model *b, const ga__element *el);
int ga__held_switch_row(const ga__element *el);
int ga__held_n_signals(const ga__mbs_model *b, int part);
/* Signal 0 is the force, positive where it makes the coordinate grow; 1 is 1 while it holds, by this name. */
void ga__held_signal(const ga__mbs_model *b, int part, int i, const char *holds, ga__signal_def *out);

/* held->gauge is set by the caller. */
ga_status ga__held_create(ga_machine *m, ga__mbs_model *b, int part, const char *label, ga__held *held);
ga_status ga__held_want(ga__mbs_model *b, const ga__held *held);
ga_status ga__held_bind(ga__mbs_model *b, ga__held *held);
void ga__held_eval_at(ga__held_eval *v, const ga__eval *e, const ga__held *held, int curvature);
/* ρ''; 0 if it is only rounding. Needs the curvature. */
double ga__held_acceleration(const ga__held_eval *v, const ga__eval *e, const ga__held *held);
/* f −= F g, with ψ where the row holds the gauge (holds 1) included in F; and what acts on s. */
void ga__held_force(const ga__held_eval *v, const ga__eval *e, const ga__held *held, int holds, double F,
                    double *f);
/* What the row holds: ρ' = rate − back (ρ − place), so that ρ does not drift away from a place; back 0: it
 * has none. */
typedef struct ga__held_aim {
  double rate, back, place;
} ga__held_aim;
/* The row of k, ρ' − rate + back (ρ − place) or s', or its time derivative at vdot = 0. */
void ga__held_row(const ga__held_eval *v, const ga__eval *e, const ga__held *held, int holds,
                  const ga__held_aim *aim, double *k, int order);
/* Derivatives of the row and of its forces; then, for ga__wants_forces(), those of F g and of s. */
void ga__held_row_jacobian(const ga__held_eval *v, const ga__eval *e, const ga__held *held, int holds,
                           double back, const ga_jacobian *J);
void ga__held_force_jacobian(const ga__held_eval *v, const ga__eval *e, const ga__held *held, double F,
                             const ga_jacobian *J);

#endif
