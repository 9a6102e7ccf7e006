/* Control blocks as elements, and the rows of y: probes, formulas, outputs of elements. (blocks.c) */
#ifndef GALPHA_MBS_BLOCKS_H
#define GALPHA_MBS_BLOCKS_H

#include "mbs/element.h"

/* Data of a block's element. */
typedef struct ga__block_instance {
  int part;
  const ga_control_block *block;
  int x, y;         /* its states x[x ...] and outputs y[y ...] */
  ga__input *input; /* [n_in] */
  int *entry_u;     /* [(n_x+n_out) × n_in] entries by the y of the inputs, −1: none */
  int *entry_x;     /* [(n_x+n_out) × n_x] */
  struct ga__time_signal
      *time_signal; /* [1 + n_in] t and inputs as functions of time; NULL: only t is known */
} ga__block_instance;

/* The block of an element, or of the element that a row of y belongs to; NULL: it is not a block. */
ga__block_instance *ga__element_block(const ga__element *el);
ga__block_instance *ga__output_block(const ga__mbs_model *b, const ga__y *row);

void ga__outputs_free(ga_context *ctx, ga__mbs_model *b);
int ga__outputs_value(const ga__eval *e, double *o);
/* o[i] of one row of y. The first output of an element computes all of them, the others nothing. */
int ga__output_value(const ga__eval *e, int i, double *o);
/* Outputs of a state between steps. There y is only interpolated, so outputs are computed again from
 * positions, velocities and states. Returns y itself where that fails, else an array of e->work that is valid
 * until the next call. */
const double *ga__outputs_between(const ga__eval *e, const double *y);
void ga__outputs_guess(const ga__eval *e, double *o); /* initial guess for the start */

#endif
