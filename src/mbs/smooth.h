/* Whether equations are smooth: nothing in them acts for a short time only (smooth.c). */
#ifndef GALPHA_MBS_SMOOTH_H
#define GALPHA_MBS_SMOOTH_H

#include "mbs/element.h"

/* As ga_system_def.smooth. */
int ga__machine_is_smooth(const ga__mbs_model *b);

/* For ga__element_type.is_smooth */
int ga__always_smooth(const ga__mbs_model *b, const ga__element *el);
int ga__law_is_smooth(const ga__mbs_model *b, const ga__element *el);
int ga__block_is_smooth(const ga__mbs_model *b, const ga__element *el);

#endif
