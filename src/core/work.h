/* Work space of a system's callbacks, for the layers that make systems. */
#ifndef GALPHA_CORE_WORK_H
#define GALPHA_CORE_WORK_H

#include "galpha/core.h"

/* The work space passed to callbacks by the system itself, and by a stepper, from
 * ga_system_def.work_create. */
void *ga__system_work(const ga_system *sys);
void *ga__stepper_work(const ga_stepper *st);
ga_context *ga__stepper_context(const ga_stepper *st);

#endif
