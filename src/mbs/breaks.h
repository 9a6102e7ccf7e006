/* Breaks (jumps, corners) of a machine's functions of time. */
#ifndef GALPHA_MBS_BREAKS_H
#define GALPHA_MBS_BREAKS_H

#include "mbs/element.h"

/* As ga_break_fn; user is a ga__workspace. */
int ga__machine_next_break(void *user, double t, double until, ga_breakpoint *out);

/* Visits all sites; the visitor returns non-zero to stop, which is returned. */
int ga__visit_sites(const ga__mbs_model *b, ga__visit_fn visit, void *user);
/* Visits a formula as a site of breaks. Does nothing for a formula without an expression. */
int ga__visit_formula(const ga__formula *f, ga__visit_fn visit, void *user);

#endif
