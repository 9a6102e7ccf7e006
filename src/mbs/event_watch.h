/* One event of a watch (event.c), at any state: for derivatives, and the same machine at other values of
 * parameters. */
#ifndef GALPHA_MBS_EVENT_WATCH_H
#define GALPHA_MBS_EVENT_WATCH_H

#include "mbs/mbs_impl.h"

/* The state of a point. */
ga_state ga__event_state(const ga_point *p);
/* *g := the expression of event i at s. */
ga_status ga__event_value(ga_event_watch *w, int i, const ga_state *s, double *g);
/* v, x := what event i, at s, makes of them. */
ga_status ga__event_change(ga_event_watch *w, int i, const ga_state *s, double *v, double *x);
/* 1: both have the same events, which set the same. */
int ga__events_match(const ga_event_watch *a, const ga_event_watch *b);
const char *const *ga__event_names(const ga_event_watch *w);

#endif
