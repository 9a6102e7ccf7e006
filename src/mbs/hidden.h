/* What may hide between the ends of a step. */
#ifndef GALPHA_MBS_HIDDEN_H
#define GALPHA_MBS_HIDDEN_H

#include "mbs/mbs_impl.h"

/* Room for what is found. */
ga_status ga__hidden_create(ga_machine *m, ga__built *b);
/* As ga_hidden_fn; user is the machine. */
int ga__machine_hidden(void *user, const ga_piece *step, const ga_piece *piece);
/* Are there any expressions, tables or laws that it looks at? *motion: q and v of pieces are needed. */
int ga__machine_may_hide(const ga__built *b, int *motion);
/* Bounds of a formula while its local variables go through [lo, hi] and t and outputs through a piece.
 * 0: nothing is known. */
int ga__formula_bounds(const ga__built *b, const ga__formula *f, const ga_piece *p, const double *lo,
                       const double *hi, double out[2]);

#endif
