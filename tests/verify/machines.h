/* Machines built from parts against their references (machines.c), and what only a few of them can show
 * (machines_more.c). */
#ifndef VERIFY_MACHINES_H
#define VERIFY_MACHINES_H

#include "machines/run.h"
#include "verify.h"

void vf_machines_run(const vf_sink *sink);

/* Eigenvalues, small motions, error control. */
void vf_machines_more(const vf_sink *sink);

#endif
