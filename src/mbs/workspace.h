/* Work space of evaluations: one for each evaluator of a built machine. */
#ifndef GALPHA_MBS_WORKSPACE_H
#define GALPHA_MBS_WORKSPACE_H

#include "mbs/mbs_impl.h"

/* derivatives 0: for values only. The work space may outlive b. */
ga_status ga__workspace_create(ga_context *ctx, const ga__mbs_model *b, int derivatives, ga__workspace **out);
/* As ga_work_create_fn and ga_work_destroy_fn; user is a ga__mbs_model, work a ga__workspace. */
ga_status ga__workspace_of(void *user, ga_context *ctx, void **work);
void ga__workspace_destroy(void *work); /* NULL is fine */
/* Work space of the built machine itself, for functions without a stepper or a meter. */
ga__workspace *ga__workspace_own(const ga_machine *m);

#endif
