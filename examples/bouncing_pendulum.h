/* The wall of the bouncing pendulum: what an event and its restart need, and when the impacts are. */
#ifndef GALPHA_EXAMPLES_BOUNCING_PENDULUM_H
#define GALPHA_EXAMPLES_BOUNCING_PENDULUM_H

#include "galpha/galpha.h"

enum { BOUNCING_PENDULUM_IMPACTS = 5 };

/* Times [s] of the first impacts, and the speed [m/s] right before each. */
extern const double bouncing_pendulum_time[BOUNCING_PENDULUM_IMPACTS];
extern const double bouncing_pendulum_speed[BOUNCING_PENDULUM_IMPACTS];

/* A ga_eval_fn: *g = x + 0.3 m, the distance from the wall; an impact is where it falls through 0. */
int bouncing_pendulum_event(void *user, const ga_point *p, double *g);
/* A ga_on_event_fn: the impact, v := −0.8 v, which keeps to the rod. All else stays as it is. */
int bouncing_pendulum_impact(void *user, int event, const ga_state *s, double *q, double *v, double *x);

#endif
