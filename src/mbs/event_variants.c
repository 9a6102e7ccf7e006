/* The events of a machine at other values of parameters: a watch for each of these machines. */
#include "mbs/event_watch.h"

struct ga_event_variants {
  ga_context *ctx;
  int n;               /* parameters */
  ga_event_watch *own; /* of the machine itself */
  ga_event_watch **at; /* [n × GA_PARAMETER_VALUES] */
};

static ga_event_watch *watch_at(const ga_event_variants *e, int parameter, int k)
{
  return k < 0 ? e->own : e->at[parameter * GA_PARAMETER_VALUES + k];
}

/* A callback that returns < 0 has said why. */
static int evaluate(void *user, int parameter, int k, int event, const ga_point *p, double *g)
{
  const ga_state s = ga__event_state(p);
  return ga__event_value(watch_at(user, parameter, k), event, &s, g) ? -1 : 0;
}

static int change(void *user, int parameter, int k, int event, const ga_state *s, double *q, double *v,
                  double *x)
{
  (void)q;
  return ga__event_change(watch_at(user, parameter, k), event, s, v, x) ? -1 : 0;
}

static ga_status create_watches(ga_event_variants *e, const ga_machine *m, const ga_machine *const *at)
{
  const int n = e->n * GA_PARAMETER_VALUES;
  e->at = ga__alloc(e->ctx, (size_t)n + 1, sizeof(ga_event_watch *));
  if (!e->at) return ga__no_memory(e->ctx, "events at other values of parameters");
  ga_status status = ga_event_watch_create(e->ctx, m, NULL, NULL, &e->own);
  for (int i = 0; i < n && !status; i++) {
    status = ga_event_watch_create(e->ctx, at[i], NULL, NULL, &e->at[i]);
    if (!status && !ga__events_match(e->own, e->at[i]))
      status =
          ga__refuse(e->ctx, GA_ERR_DERIVATIVE, GA_REASON_NO_SENSITIVITY,
                     &(ga__facts){.kind = "sensitivities",
                                  .detail = "a parameter changes which events there are, or what they set",
                                  .expected = "only parameters that change numbers can be used"});
  }
  return status;
}

ga_status ga_event_variants_create(ga_context *ctx, const ga_machine *m, int n, const ga_machine *const *at,
                                   ga_event_variants **out)
{
  if (out) *out = NULL;
  if (!ctx) return GA_ERR_ARGUMENT;
  if (!m || !at || !out) return ga__refuse_null(ctx, __func__, !m ? "the machine" : !at ? "at" : "out");
  if (n < 1) return ga__refuse_number(ctx, "sensitivities", "n", n, ">= 1");
  for (int i = 0; i < n * GA_PARAMETER_VALUES; i++)
    if (!at[i]) return ga__refuse_null(ctx, __func__, "a machine at one of the values of a parameter");
  ga_event_variants *e = ga__alloc(ctx, 1, sizeof *e);
  if (!e) return ga__no_memory(ctx, "events at other values of parameters");
  e->ctx = ctx;
  e->n = n;
  const ga_status status = create_watches(e, m, at);
  if (status)
    ga_event_variants_destroy(&e);
  else
    *out = e;
  return status;
}

void ga_event_variants_destroy(ga_event_variants **variants)
{
  if (!variants || !*variants) return;
  ga_event_variants *e = *variants;
  ga_event_watch_destroy(&e->own);
  for (int i = 0; e->at && i < e->n * GA_PARAMETER_VALUES; i++) ga_event_watch_destroy(&e->at[i]);
  ga__free(e->ctx, e->at);
  ga__free(e->ctx, e);
  *variants = NULL;
}

ga_event_rule ga_event_variants_rule(ga_event_variants *e)
{
  return e ? (ga_event_rule){evaluate, change, e, ga__event_names(e->own)} : (ga_event_rule){.g = NULL};
}
