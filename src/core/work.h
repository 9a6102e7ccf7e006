/* Work space of a system's callbacks, for the layers that make systems. */
#ifndef GALPHA_CORE_WORK_H
#define GALPHA_CORE_WORK_H

#include "galpha/core.h"

/* The work space passed to callbacks by the system itself, and by a stepper, from
 * ga_system_def.work_create. */
void *ga__system_work(const ga_system *sys);
void *ga__stepper_work(const ga_stepper *st);
ga_context *ga__stepper_context(const ga_stepper *st);

/* A system like sys, which it borrows, but for its sweep, that gets the work space that work_create makes of
 * user. Only sweeps without a Jacobian use it. */
ga_status ga__system_with(ga_context *ctx, const ga_system *sys, void *user, ga_work_create_fn work_create,
                          ga_sweep_fn sweep, const ga_system **out);
void ga__system_close(const ga_system **sys); /* of one made so; NULL is fine */

#endif
