/* Breakpoints (breakpoints.c), and the equations between the ends of a step (defect.c). */
#ifndef GALPHA_CORE_INSIDE_H
#define GALPHA_CORE_INSIDE_H

#include "core/stepper.h"

typedef struct ga__breaks {
  const ga_system *sys;
  int n_times; /* the caller's own, borrowed */
  const double *times;
  double until;       /* none is looked for after this */
  double passed;      /* the end of the last one met */
  int known;          /* 1: next is that after the present time */
  ga_breakpoint next; /* the first one that ends after it */
  int warned;         /* 1: it was said that some cannot be found */
} ga__breaks;

void ga__breaks_begin(ga__breaks *b, double until);
/* b->next for a state at t, or that there is none up to `ahead`; asks the system only where that is not known
 * yet. */
ga_status ga__breaks_find(ga__breaks *b, double t, double ahead);
void ga__breaks_pass(ga__breaks *b); /* next has been met: it is not found again */

/* How far the equations are off at a state s within the last step, as errors e[nv + n_x] of q and x at its
 * end that this would make. y[n_y] is work space. > 0: they cannot be evaluated there. */
ga_status ga__defect(ga_stepper *st, const ga_state *s, double *y, double *e);
/* How such errors are weighed, and what is too much. */
typedef struct ga__defect_weight {
  double (*weigh)(const void *user, const double *e);
  const void *user;
  double most;
} ga__defect_weight;
/* The same with the stiffness that forces have at that time, for where the first answer is large: *off, is it
 * too large? room: work space of ga__defect_room() numbers, e[nv + n_x] too. */
ga_status ga__defect_again(ga_stepper *st, const ga_state *s, const ga__defect_weight *w, double *y,
                           double *room, double *e, int *off);
size_t ga__defect_room(const ga_system *sys);

#endif
