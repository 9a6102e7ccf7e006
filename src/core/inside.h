/* Breakpoints (breakpoints.c), and the equations between the ends of a step (defect.c). */
#ifndef GALPHA_CORE_INSIDE_H
#define GALPHA_CORE_INSIDE_H

#include "core/stepper.h"

typedef struct ga__breaks {
  const ga_system *sys;
  int n_times; /* given by the caller, borrowed */
  const double *times;
  double until;       /* no search after this time */
  double passed;      /* end of the last break met */
  int known;          /* 1: next is up to date */
  ga_breakpoint next; /* the first break that ends after the current time */
  int warned;         /* 1: warned that breaks cannot be resolved */
} ga__breaks;

void ga__breaks_begin(ga__breaks *b, double until);
/* Updates b->next for a state at t, or finds that there is none up to `ahead`; calls the system only if
 * needed. */
ga_status ga__breaks_find(ga__breaks *b, double t, double ahead);
void ga__breaks_pass(ga__breaks *b); /* next has been met: it is not found again */

/* Residual of the equations at a state s within the last step, as the errors e[nv + n_x] of q and x at its
 * end that it would cause. y[n_y] is work space. > 0: they cannot be evaluated there. */
ga_status ga__defect(ga_stepper *st, const ga_state *s, double *y, double *e);
/* Weights of such errors, and their limit. */
typedef struct ga__defect_weight {
  double (*weigh)(const void *user, const double *e);
  const void *user;
  double most;
} ga__defect_weight;
/* The same with the stiffness at that time, used if the first result is large. *off: 1 if it is too large.
 * room: ga__defect_room() numbers; e[nv + n_x]. */
ga_status ga__defect_again(ga_stepper *st, const ga_state *s, const ga__defect_weight *w, double *y,
                           double *room, double *e, int *off);
size_t ga__defect_room(const ga_system *sys);

#endif
