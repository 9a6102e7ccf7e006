/* Linearisation without the check for kinks (linearise.c). */
#ifndef GALPHA_CORE_LINEARISE_H
#define GALPHA_CORE_LINEARISE_H

#include "galpha/core.h"

/* As ga_linearisation_compute(); at a kink with the derivatives that the callbacks give there. */
ga_status ga__linearise_one_sided(ga_linearisation *l, const ga_point *p, const ga_linear_form **form);

#endif
