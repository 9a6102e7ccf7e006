/* Limits that parts reach in a run, by elements. (limit.c) */
#ifndef GALPHA_MBS_LIMIT_H
#define GALPHA_MBS_LIMIT_H

#include "mbs/element.h"

typedef struct ga__limit_record { /* history in a run */
  const ga__element *el;
  int i;              /* number of the limit among those of the element */
  int sudden;         /* 1: it lasts no time, as an impact */
  double was, left;   /* 1: it is reached at the last state; it was not, at a state before */
  double times;       /* how often it was reached, for any time */
  double first, last; /* [s] of the states at which it was reached */
} ga__limit_record;
enum { GA__LIMIT_SAVED = 5 }; /* numbers of one record */

/* Fills list; NULL: only counts them. *needs_kin 1: some of them read poses or velocities of nodes. */
int ga__limits_list(const ga__mbs_model *b, ga__limit_record *list, int *needs_kin);
/* e: at a state; sudden 1: those that last no time, e on the side before a jump. */
void ga__limits_check(ga__limit_record *list, int n, const ga__eval *e, int sudden);
void ga__limits_save(const ga__limit_record *list, int n, double *saved);
void ga__limits_load(ga__limit_record *list, int n, const double *saved);

#endif
