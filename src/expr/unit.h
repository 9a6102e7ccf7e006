/* Units (unit.c). */
#ifndef GALPHA_EXPR_UNIT_H
#define GALPHA_EXPR_UNIT_H

#include "expr/text.h"

typedef struct ga__unit {
  double num, den; /* value in SI units is num/den; kept apart so that 12 mm is 12/1000 to the last bit */
  double offset;   /* [K] of degC without other units */
  ga_dimension dimension;
} ga__unit;

/* Reads a unit at *at and moves *at behind it. */
ga_status ga__unit_read(ga__unit *unit, const ga__source *source, int *at);
static inline double ga__unit_apply(const ga__unit *unit, double number)
{
  return number * unit->num / unit->den + unit->offset;
}

#endif
