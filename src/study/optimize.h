/* Optimisation: shared by its files. */
#ifndef GALPHA_STUDY_OPTIMIZE_H
#define GALPHA_STUDY_OPTIMIZE_H

#include "study/problem.h"

enum { GA__MOST_CONSTRAINTS = 32, GA__OPTIMUM_NOTES = 16, GA__OPTIMUM_NOTE = 400 };

typedef enum ga__relation { GA__AT_MOST, GA__AT_LEAST, GA__EQUAL } ga__relation;

/* "max(x) <= 3 mm": the relation, and where its sides are in the text. GA_ERR_ARGUMENT: there is none. */
ga_status ga__constraint_split(ga_context *ctx, const char *text, ga__relation *relation, int *left,
                               int *right);

/* ---- One search, by NLopt (optimize_nlopt.c) ---- */

typedef enum ga__search_end {
  GA__SEARCH_FOUND,
  GA__SEARCH_STOPPED,
  GA__SEARCH_FAILED,
  GA__SEARCH_NO_MEMORY
} ga__search_end;

typedef struct ga__search { /* over scaled parameters */
  ga_algorithm algorithm;
  int n, n_constraints;
  const double *lower, *upper, *step; /* [n] step: of the first points, of algorithms without derivatives */
  const ga__relation *relation;       /* [n_constraints] of values with 0 */
  double tolerance, precision;
  unsigned long seed;
  /* The runs of a point; other than 0: the search is to end. */
  int (*evaluate)(void *user, const double *x, int slopes);
  /* The objective (i < 0) or a constraint at the point evaluated last, and its gradient [n]; NULL: not
   * wanted. */
  double (*value)(void *user, int i, double *gradient);
  void *user;
} ga__search;

/* x[n]: the start. text: why it has failed, at most `size` bytes. */
ga__search_end ga__search_run(const ga__search *s, double *x, char *text, size_t size);

#endif
