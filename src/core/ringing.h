/* Multipliers that change sides from step to step, with a growing amplitude. (ringing.c) */
#ifndef GALPHA_CORE_RINGING_H
#define GALPHA_CORE_RINGING_H

#include "core/stepper.h"

typedef struct ga__ringing {
  double *last, *slope, *bend; /* [n_lambda] λ, its first and second differences; NULL: not watched */
  int known;                   /* how many of these, from 0 to 3 */
  double h;                    /* [s] size of the last step */
  int n, turned;               /* steps of the present window, and those in which the bend turned round */
  double most, before[2];      /* the largest bend in it, and in the two windows before it; 0: not known */
} ga__ringing;

/* 1: with equal steps, this method may ring. */
int ga__may_ring(const ga_stepper *st);
/* Behind a start nothing is known. */
void ga__ringing_reset(ga__ringing *r);
/* After an accepted step. Warns, and counts, once. */
void ga__ringing_watch(ga__ringing *r, ga_stepper *st, ga_simulate_stats *stats);

#endif
