/* Edges: places at which the equations jump or have a kink with the motion (sides.c). */
#ifndef GALPHA_CORE_SIDES_H
#define GALPHA_CORE_SIDES_H

#include "core/stepper.h"

typedef struct ga__sides {
  ga_context *ctx;
  const ga_system *sys;
  double atol_v, rtol_v, atol_x,
      rtol_x;                   /* tolerances; jumps that change less than a part of these do not matter */
  int *begin, *end, *at, *from; /* [n_sides] at a step's beginning and end, and in between */
  int first;                    /* sides before this one are not compared */
  double t_begin, t_end;        /* [s] times of begin and end; NaN: not known */
  ga__state state;              /* q, v, vdot, lambda, psi, x, xdot, y and scalar[GA__T] of it */
  double *block, *y_new, *off, *off_behind, *off_left, *off_right;
} ga__sides;

/* Parts of a step: within the first of an edge, the state is moved onto it by itself; by the second it is
 * moved further, to be on the other side in spite of rounding. */
#define GA__NEAR_EDGE 1e-3
#define GA__BEHIND_EDGE 1e-12
/* Part of a step: behind a switch that no step ends before, so far that its mode can be told. */
#define GA__PAST_SWITCH 0.1
/* If a start falls back before the edge, it is moved further by this factor, up to this many times. */
#define GA__FURTHER 8.0
enum { GA__MOST_FURTHER = 10 };

typedef struct ga__edge_met {
  double before, behind; /* [s] infinite: none */
  int which;
} ga__edge_met;

ga_status ga__sides_create(ga_context *ctx, const ga_system *sys, const ga_simulate_opts *tolerances,
                           ga__sides *s);
void ga__sides_free(ga__sides *s);
void ga__sides_forget(ga__sides *s); /* after a change of the state other than by a step */
/* The first edge found within the last step whose jump matters. < 0: failed. */
/* 1: a switch should have another mode at t within the last step than at its beginning. */
int ga__sides_switched_at(ga__sides *s, ga_stepper *st, double t);
ga_status ga__sides_find(ga__sides *s, ga_stepper *st, ga__edge_met *out);
/* The next edge after the current state: *gap: time to just behind it, at most `most`; infinite, and −1:
 * none. Returns which. */
int ga__sides_gap(ga__sides *s, ga_stepper *st, double most, double *gap);
/* Sizes of steps that should end just before an edge. Steps that end behind it, or fail because they end on
 * it, give little information about its place, since forces behind it act in them; those that end before it
 * give the better information the closer they are. */
typedef struct ga__aim {
  double front, behind; /* the largest that ended before, 0: none; the smallest that did not, 0: none */
  int n;                /* attempts */
  int final;            /* 1: no closer one will be tried */
} ga__aim;
enum { GA__MOST_AIMS = 12 };
/* A step of size h did not end before the edge and was taken back; by its dense output the edge is at
 * `dense`. Returns the next size. */
double ga__aim_shorter(ga__sides *s, ga_stepper *st, ga__aim *aim, double h, double dense);
/* A step of size h ended before it; *gap: time to just behind the edge, infinite: it is not near. Returns
 * the next size; 0: close enough, or none is left. */
double ga__aim_longer(ga__sides *s, ga_stepper *st, ga__aim *aim, double h, double *gap);
/* ga__sides_here: stores the sides of the current state; 0: not known. ga__sides_left: 1: it is on other
 * sides now. */
int ga__sides_here(ga__sides *s, const ga_stepper *st);
int ga__sides_left(ga__sides *s, const ga_stepper *st);
/* 1: the outputs are on other sides than the motion, as when a start gives velocities that were 0 the
 * normal part of the method. */
int ga__sides_torn(ga__sides *s, const ga_stepper *st);
/* 1: the side of a part that changes its mode there, without which equations do not change. */
int ga__sides_is_switch(const ga__sides *s, int which);
void ga__sides_name(const ga__sides *s, int which, char *text, size_t size);

#endif
