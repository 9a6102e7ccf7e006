/* Samples of sampled blocks. (sampled.c) */
#ifndef GALPHA_MBS_SAMPLED_H
#define GALPHA_MBS_SAMPLED_H

#include "mbs/model.h"

int ga__has_samples(const ga__mbs_model *b);
/* ga_system_def.sample of machines. */
int ga__machine_sample(void *user, const ga_point *given, double from, double to, double *x);

#endif
