/* Search for narrow features within a step: forces and outputs that act only between its ends. */
#ifndef GALPHA_MBS_HIDDEN_H
#define GALPHA_MBS_HIDDEN_H

#include "mbs/mbs_impl.h"

/* Work space of the search: its size in bytes (0: there is nothing to search), and the space in a block of
 * zeros. */
typedef struct ga__enclosure ga__enclosure;
size_t ga__enclosure_size(const ga__mbs_model *b);
ga__enclosure *ga__enclosure_in(const ga__mbs_model *b, void *block);
/* As ga_hidden_fn; user is a ga__workspace. */
int ga__machine_hidden(void *user, const ga_piece *step, const ga_piece *piece);
/* 1: there are expressions, tables or laws to search. *motion: q and v of pieces are needed. */
int ga__machine_may_hide(const ga__mbs_model *b, int *motion);
/* Of a force along gauges: as ga_hidden_fn. */
int ga__law_hides(ga__workspace *w, const ga__element *el, const ga_piece *step, const ga_piece *piece);
/* Bounds of a formula over a piece, with its local variables in [lo, hi]. Returns 0 if none are known. */
int ga__formula_bounds(ga__workspace *w, const ga__formula *f, const ga_piece *p, const double *lo,
                       const double *hi, double out[2]);

#endif
