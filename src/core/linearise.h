/* Linearisation without the check for kinks (linearise.c). */
#ifndef GALPHA_CORE_LINEARISE_H
#define GALPHA_CORE_LINEARISE_H

#include "galpha/core.h"

/* As ga_linearisation_compute(); at a kink with the derivatives that the callbacks give there. */
ga_status ga__linearise_one_sided(ga_linearisation *l, const ga_point *p, const ga_linear_form **form);
/* Warns of a kink or jump at p along all motions, as ga__kink_warn(); not of outputs that nothing depends on.
 */
ga_status ga__linearise_kink_warn(ga_linearisation *l, const ga_point *p, int *found);

#endif
