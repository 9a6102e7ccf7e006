/* Outputs that depend on time alone. */
#ifndef GALPHA_MBS_TIME_SIGNAL_H
#define GALPHA_MBS_TIME_SIGNAL_H

#include "expr/time_signal.h"
#include "mbs/mbs_impl.h"

/* Finds outputs that are functions of time alone, also through chains of blocks and formulas, and gives them
 * to the formulas and blocks that use them. */
ga_status ga__time_signals_create(ga_machine *m, ga__mbs_model *b);
void ga__time_signals_free(ga_context *ctx, ga__mbs_model *b);
/* ga__element_type.output_over_time and keep_time_signals of blocks. */
ga_status ga__block_time_signal(ga_machine *m, ga__mbs_model *b, ga__element *el, int output);
ga_status ga__block_keep_time_signals(ga_machine *m, ga__mbs_model *b, ga__element *el);

#endif
