/* What is known of the dimension of an expression. */
#ifndef GALPHA_MODEL_DIMENSION_H
#define GALPHA_MODEL_DIMENSION_H

#include "model/parameters.h"

typedef enum ga__known {
  GA__DIMENSION_UNKNOWN,
  GA__DIMENSION_LIKELY, /* 2*L, where 2 is no quantity in SI units */
  GA__DIMENSION_KNOWN,  /* -L, 0.5[kg], L + 3[mm], L + 0.1, i*L with the index of a repeat */
  GA__DIMENSION_MIXED   /* L + 0.5[kg]: *other is that of a later term */
} ga__known;

/* Dimension of a valid scalar; marks its parameters as used. */
ga__known ga__dimension_of(ga__reading *r, const ga__tree *tree, ga_dimension *dimension,
                           ga_dimension *other);

#endif
