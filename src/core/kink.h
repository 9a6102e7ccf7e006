/* Kinks and jumps of the equations exactly at a point (kink.c). */
#ifndef GALPHA_CORE_KINK_H
#define GALPHA_CORE_KINK_H

#include "core/system.h"

typedef struct ga__kink_test {
  ga_context *ctx;
  const ga_system *sys; /* opened */
  ga_evaluation *at[4]; /* matrices at the moved points, in the order of `distance` in kink.c */
  double *block;        /* holds the arrays below */
  double *q, *moved;    /* [nq] and [max(nv, n)] the moved unknowns */
  double *residual[4];  /* [n + n_lambda] at the moved points */
  double *row_size;     /* [max(nv, n)] scales of the rows of one matrix */
  double *d[GA_N_BY];   /* directions in which the unknowns of each kind are moved */
  int *side[2];         /* [n_sides] on both sides of the point */
  int all_outputs;      /* 1: kinks count of outputs that no other equation depends on, too */
  int *used;            /* [n_y] 1: another equation depends on this output */
} ga__kink_test;

/* like: an evaluation of sys, whose patterns are used; it must not be destroyed before the check is done.
 * points: 4, or 2: memory for the others is taken when a check needs it, which is seldom. */
ga_status ga__kink_create(ga_context *ctx, const ga_system *sys, const ga_evaluation *like, int points,
                          int all_outputs, ga__kink_test *k);
void ga__kink_destroy(ga__kink_test *k);
/* The directions of a check: cleared, then sums of those that are added. i counts the summands: it sets the
 * factor of each, so that no edge is parallel to the sum. */
void ga__kink_clear(ga__kink_test *k);
void ga__kink_add(ga__kink_test *k, ga_by by, const double *direction, int i);
/* GA_ERR_DERIVATIVE with GA_REASON_KINK: at p the equations have a kink or jump along the directions of k.
 * Any other status: they cannot be evaluated nearby. `ev` has the matrices at p. */
ga_status ga__kink_check(ga__kink_test *k, const ga_evaluation *ev, const ga_point *p);
/* The same as a warning, GA_REASON_STABILITY_AT_KINK; *found 1: there is one. */
ga_status ga__kink_warn(ga__kink_test *k, const ga_evaluation *ev, const ga_point *p, int *found);

#endif
