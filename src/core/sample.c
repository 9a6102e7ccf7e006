/* Samples: states that jump at given times. */
#include "core/sample.h"

ga_status ga__sample(ga_stepper *st, double from, double to, const double *q, const double *v, double *x)
{
  const ga_system *sys = st->sys;
  ga_point p = ga__state_point(&st->now);
  if (!sys->def.sample) return GA_OK;
  st->sample_from = from, st->sample_to = to;
  ga__copy_numbers(st->sample_x, x, sys->size[GA_BLOCK_X]);
  p.t = to, p.q = q, p.v = v, p.x = x;
  p.motion = 0;
  const ga_status before = ga__begin_callback(sys->ctx);
  const int code = sys->def.sample(sys->def.user, &p, from, to, x);
  const ga_status status = ga__end_callback(sys, "sample", -1, to, code ? -1 : 0, before);
  return status;
}

ga_status ga__refuse_samples(ga_context *ctx, const ga_system *sys, const char *function)
{
  if (!sys || !sys->def.sample) return GA_OK;
  return ga__refuse(ctx, GA_ERR_ARGUMENT, GA_REASON_HAS_SAMPLES, &(ga__facts){.function = function});
}
