/* Threads that evaluate nodes of a step beside the calling one, each with its own system, work space and
 * matrix (helpers.c). */
#ifndef GALPHA_CORE_HELPERS_H
#define GALPHA_CORE_HELPERS_H

#include "core/assembly.h"
#include "core/derivative.h"

typedef struct ga__helpers ga__helpers;

/* What an evaluation writes to. */
typedef struct ga__site {
  ga_context *ctx;
  const ga_system *sys;
  ga__deriv *deriv;
  ga__assembly *assembly;
  double *D, *Q, *G;    /* [n_entries] */
  double *force, *rate; /* [nv], [n_lambda] */
} ga__site;

/* n threads further than the calling one, for the matrix of a plan; its order of unknowns and its places are
 * shared. */
ga_status ga__helpers_create(ga_context *ctx, const ga_system *sys, const ga__assembly *plan, int n,
                             ga__helpers **out);
void ga__helpers_destroy(ga__helpers **helpers);
int ga__helpers_count(const ga__helpers *helpers);                     /* NULL: 0 */
const ga__site *ga__helpers_site(const ga__helpers *helpers, int who); /* who from 1 on */
/* work(user, who) by all threads, who = 0 the calling one; returns when all have ended. */
void ga__helpers_run(ga__helpers *helpers, void (*work)(void *user, int who), void *user);

#endif
