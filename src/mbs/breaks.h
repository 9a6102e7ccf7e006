/* Breaks of a machine's functions of time. */
#ifndef GALPHA_MBS_BREAKS_H
#define GALPHA_MBS_BREAKS_H

#include "mbs/mbs_impl.h"

/* As ga_break_fn; user is a ga__workspace. */
int ga__machine_next_break(void *user, double t, double until, ga_breakpoint *out);

#endif
