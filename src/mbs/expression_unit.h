/* Units of expressions of signals. (expression.c) */
#ifndef GALPHA_MBS_EXPRESSION_UNIT_H
#define GALPHA_MBS_EXPRESSION_UNIT_H

#include "expr/smooth.h"
#include "mbs/machine.h"

/* The dimension of an expression, by those of its variables and the unit that is given for it (NULL: none).
 * GA_ERR_ARGUMENT: terms of a sum differ, or the unit differs from them; the message names part and field. */
ga_status ga__expression_dimension(ga_machine *m, const ga__part *part, const char *field,
                                   const ga_expr *expr, const ga__dimension_known *variable, const char *unit,
                                   ga__dimension_known *known);
/* "m^2*kg/s", "N", "W". */
void ga__write_unit(char *text, size_t size, const ga_dimension *d);

#endif
