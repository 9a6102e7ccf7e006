/* What assembly has to know about sliders. (slider.c) */
#ifndef GALPHA_MBS_SLIDER_H
#define GALPHA_MBS_SLIDER_H

#include "mbs/mbs_impl.h"

/* 1: a slider is on this beam or cable. */
int ga__is_slid_on(const ga_machine *m, int part);
/* 1: a slider without a given place is beside its part, by so little that the curve through nodes may be the
 * cause. Bodies are then moved there: left to the start, such a gap would strain the part. */
int ga__sliders_have_gaps(const ga__mbs_model *b);

#endif
