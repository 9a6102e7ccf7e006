/* The models of examples/models against the machines in C that they describe. */
#ifndef VERIFY_MODELS_H
#define VERIFY_MODELS_H

#include "verify.h"

void vf_models_run(const vf_sink *sink);

#endif
