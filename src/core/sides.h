/* Edges at which the equations jump with the motion (sides.c). */
#ifndef GALPHA_CORE_SIDES_H
#define GALPHA_CORE_SIDES_H

#include "core/stepper.h"

typedef struct ga__sides {
  ga_context *ctx;
  const ga_system *sys;
  double atol_v, rtol_v, atol_x, rtol_x; /* jumps that change less than a part of these do not matter */
  int *begin, *end, *at, *from;          /* [n_sides] at a step's beginning and end, and in between */
  double t_begin, t_end;                 /* [s] that they are of; NaN: not known */
  ga__state state;                       /* q, v, vdot, lambda, psi, x, xdot, y and scalar[GA__T] of it */
  double *block, *y_new, *off, *off_behind, *off_left, *off_right;
} ga__sides;

/* Parts of a step: within the one the state is moved on to the edge by itself; by the other it is moved
 * further, to be on the other side in spite of rounding. */
#define GA__NEAR_EDGE 1e-3
#define GA__BEHIND_EDGE 1e-12
/* Where a start falls back in front of it, by this many times as much, so many times. */
#define GA__FURTHER 8.0
enum { GA__MOST_FURTHER = 10 };

typedef struct ga__edge_met {
  double before, behind; /* [s] infinite: none */
  int which;
} ga__edge_met;

ga_status ga__sides_create(ga_context *ctx, const ga_system *sys, const ga_simulate_opts *tolerances,
                           ga__sides *s);
void ga__sides_free(ga__sides *s);
void ga__sides_forget(ga__sides *s); /* the state has changed other than by a step */
/* The first edge found within the last step whose jump matters. < 0: failed. */
ga_status ga__sides_find(ga__sides *s, ga_stepper *st, ga__edge_met *out);
/* The edge in front of the present state: *gap, the time to just behind it, at most `most`; infinite, and −1:
 * none. Returns which. */
int ga__sides_gap(ga__sides *s, ga_stepper *st, double most, double *gap);
/* Sizes of steps that are to end just in front of an edge. Those that end behind it, or fail because they end
 * on it, tell little of its place, since what acts behind it has a part in them; those that end in front tell
 * it the better the nearer they come. */
typedef struct ga__aim {
  double front, behind; /* the largest that ended in front, 0: none; the smallest that did not, 0: none */
  int n;                /* tries */
  int final;            /* 1: no other will be nearer */
} ga__aim;
enum { GA__MOST_AIMS = 12 };
/* A step of size h has not, and has been taken back; by its dense output the edge is met at `dense`: the next
 * size. */
double ga__aim_shorter(ga__sides *s, ga_stepper *st, ga__aim *aim, double h, double dense);
/* A step of size h has: *gap to just behind the edge, infinite: it is not near. The next size; 0: near
 * enough, or none is left. */
double ga__aim_longer(ga__sides *s, ga_stepper *st, ga__aim *aim, double h, double *gap);
/* Keeps the sides that the present state is on; 0: they are not known. And is it on others now? */
int ga__sides_here(ga__sides *s, const ga_stepper *st);
int ga__sides_left(ga__sides *s, const ga_stepper *st);
/* 1: its outputs are on other sides than its motion, as where a start moves velocities that were 0 off their
 * constraints, as far as the method wants that. */
int ga__sides_torn(ga__sides *s, const ga_stepper *st);
void ga__sides_name(const ga__sides *s, int which, char *text, size_t size);

#endif
