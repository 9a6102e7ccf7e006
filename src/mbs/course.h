/* Outputs that depend on time alone. */
#ifndef GALPHA_MBS_COURSE_H
#define GALPHA_MBS_COURSE_H

#include "expr/course.h"
#include "mbs/mbs_impl.h"

/* Finds how outputs go with time, also along chains of blocks and formulas, and tells the formulas and blocks
 * that use them. */
ga_status ga__courses_create(ga_machine *m, ga__mbs_model *b);
void ga__courses_free(ga_context *ctx, ga__mbs_model *b);
/* Of a block: an output, and its inputs. */
ga_status ga__block_course(ga_machine *m, ga__mbs_model *b, ga__element *el, int output);
ga_status ga__block_keep_courses(ga_machine *m, ga__mbs_model *b, ga__element *el);

#endif
