/* Events of a run: watched, recorded, listed. */
#ifndef GALPHA_APP_EVENTS_H
#define GALPHA_APP_EVENTS_H

#include "task.h"

#include "galpha/result.h"

typedef struct app_events {
  ga_event_watch *watch; /* NULL: the model has no events */
  const char **names;
  long n;        /* that have happened since the start or resume */
  int jumped;    /* 1: the motion was changed within the present step; */
  double energy; /* [J] before that */
  int ended;     /* 1: one of them has ended the run */
} app_events;

int app_events_change(const app_task *s); /* 1: some of them change the motion */
/* Watches the events of the model, if it has any: sets the options of the simulator. */
ga_status app_events_open(app_events *e, const app_task *s, ga_event_seen_fn seen, void *user,
                          ga_simulate_opts *opts);
void app_events_close(app_events *e);
/* [J] kinetic and potential energy. */
ga_status app_events_energy(const app_task *s, const ga_state *state, double *energy);
/* Lists the events in a result file, the first ones unless all is 1. */
void app_events_list(const ga_result *r, FILE *out, int all);
void app_events_print(ga_context *ctx, const char *file, FILE *out);

/* Counts the energy that events have brought: what is lost where parts are switched is dissipated. */
void app_events_add_work(ga_meter *meter, ga_event_watch *watch, double work);

#endif
