/* Doubtful states of a run, by elements. (doubt.c) */
#ifndef GALPHA_MBS_DOUBT_H
#define GALPHA_MBS_DOUBT_H

#include "mbs/element.h"

struct ga__doubt_record { /* history in a run */
  const ga__element *el;
  double since, worst, worst_t; /* worst 0: nothing to report */
  double at[2];                 /* where it was worst */
};
enum { GA__DOUBT_SAVED = 5 }; /* numbers of one record */

/* Fills list; NULL: only counts them. */
int ga__doubts_list(const ga__mbs_model *b, ga__doubt_record *list);
/* e: with positions and velocities of all nodes. */
void ga__doubts_check(ga__doubt_record *list, int n, const ga__eval *e);
void ga__doubts_write(ga__writer *w, const ga_machine *m, const ga__doubt_record *list, int n);
void ga__doubts_save(const ga__doubt_record *list, int n, double *saved);
void ga__doubts_load(ga__doubt_record *list, int n, const double *saved);

#endif
