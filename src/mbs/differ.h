/* The terms of a machine that depend on a parameter: those of the parts in which machines built from one
 * model at several values of it differ. What is the same in all of them cancels in differences of their
 * equations, and is not evaluated. (differ.c) */
#ifndef GALPHA_MBS_DIFFER_H
#define GALPHA_MBS_DIFFER_H

#include "galpha/mbs.h"

typedef struct ga__selected ga__selected; /* selected.h */

/* These terms of each of several machines, as systems of the sizes of the machines': values alone, in one
 * sweep. */
typedef struct ga__differing ga__differing;

/* machine[n]: built, n > 1; borrowed, as long as the systems are used. *out NULL with GA_OK: all terms may
 * differ. */
ga_status ga__differing_create(ga_context *ctx, int n, const ga_machine *const *machine, ga__differing **out);
void ga__differing_destroy(ga__differing **differing);
const ga_system *ga__differing_system(const ga__differing *differing, int k); /* of machine k */
const ga__selected *ga__differing_terms(const ga__differing *differing);

#endif
