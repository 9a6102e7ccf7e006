/* Orders of collocation on models, and what its tolerances give. */
#ifndef VERIFY_COLLOCATION_MODELS_H
#define VERIFY_COLLOCATION_MODELS_H

#include "verify.h"

void vf_collocation_models(const vf_sink *sink);  /* (collocation_models.c) */
void vf_collocation_control(const vf_sink *sink); /* (collocation_control.c) */

#endif
