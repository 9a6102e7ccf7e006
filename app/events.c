/* Events of a run: watched, recorded, listed. */
#include "events.h"

#include <stdlib.h>

enum { FEW_EVENTS = 12 };

int app_events_change(const app_task *s)
{
  for (int i = 0; i < ga_machine_n_events(s->machine); i++)
    if (ga_machine_event_changes(s->machine, i)) return 1;
  return 0;
}

ga_status app_events_open(app_events *e, const app_task *s, ga_event_seen_fn seen, void *user,
                          ga_simulate_opts *opts)
{
  const int n = ga_machine_n_events(s->machine);
  if (n == 0) return GA_OK;
  e->names = calloc((size_t)n, sizeof *e->names);
  if (!e->names) return GA_ERR_MEMORY;
  for (int i = 0; i < n; i++) e->names[i] = ga_machine_event_name(s->machine, i);
  const ga_status status = ga_event_watch_create(s->ctx, s->machine, seen, user, &e->watch);
  if (!status) ga_event_watch_use(e->watch, opts);
  return status;
}

void app_events_close(app_events *e)
{
  ga_event_watch_destroy(&e->watch);
  free(e->names);
  *e = (app_events){0};
}

ga_status app_events_energy(const app_task *s, const ga_state *state, double *energy)
{
  const int index[2] = {ga_machine_find_signal(s->machine, "energy.kinetic"),
                        ga_machine_find_signal(s->machine, "energy.potential")};
  double value[2] = {0.0, 0.0};
  const ga_status status = ga_machine_signals(s->machine, NULL, state, 2, index, value);
  *energy = value[0] + value[1];
  return status;
}

void app_events_list(const ga_result *r, FILE *out, int all)
{
  const long n = ga_result_n_events(r), shown = all || n <= FEW_EVENTS ? n : FEW_EVENTS;
  if (n == 0) return;
  fprintf(out, "events       %ld\n", n);
  for (long i = 0; i < shown; i++)
    fprintf(out, "  t = %.9g s  %s\n", ga_result_event_time(r, i), ga_result_event_name(r, i));
  if (shown < n) fprintf(out, "  and %ld more, in the dataset 'events' of the file\n", n - shown);
}

void app_events_print(ga_context *ctx, const char *file, FILE *out)
{
  ga_result *r = NULL;
  if (ga_result_open(ctx, file, &r) == GA_OK && ga_result_n_events(r) == 0)
    fputs("events       none happened\n", out);
  if (r) app_events_list(r, out, 0);
  ga_result_close(&r);
}

void app_events_add_work(ga_meter *meter, ga_event_watch *watch, double work)
{
  if (ga_event_watch_switched(watch) && work < 0)
    ga_meter_add_loss(meter, -work);
  else
    ga_meter_add_input(meter, work);
}
