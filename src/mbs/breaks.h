/* Breaks of a machine's functions of time. */
#ifndef GALPHA_MBS_BREAKS_H
#define GALPHA_MBS_BREAKS_H

#include "mbs/element.h"

/* As ga_break_fn; user is a ga__workspace. */
int ga__machine_next_break(void *user, double t, double until, ga_breakpoint *out);

/* A formula as a place where breaks are searched; one without an expression is none. */
int ga__visit_formula(const ga__formula *f, ga__visit_fn visit, void *user);

#endif
