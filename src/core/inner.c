/* Inner unknowns as iterates of a step (ga_system_def.inner).
 *
 * Section forces n of a beam are large numbers times small strains: at the prediction of a step, whose
 * positions are off by the error of an extrapolation, n(q) may be a thousand times too large, and the
 * stiffness that forces have by themselves (as of a string) makes no sense there. Newton's iteration for q
 * and n together begins with n of the last state instead,
 *
 *   n⁰ = n(q_n),   nᵏ⁺¹ = nᵏ + δn,  c + c_q δq + c_n δn = 0  at (qᵏ, nᵏ),  δq the move from qᵏ to qᵏ⁺¹
 *
 * and has the matrix of (qᵏ, nᵏ). Both iterations have the same solution. Where n(q) of the prediction is
 * good, q alone needs fewer iterations, and no δn: n are iterates only where the prediction changes them by
 * more than their size. */
#include "core/stepper.h"

#include <math.h>
#include <string.h>

void ga__inner_reset(ga_stepper *st)
{
  st->inner.values = (ga_static_values){.load = 1.0, .inner = NULL};
  st->inner.judged = 0;
}

ga_point ga__trial_point(const ga_stepper *st)
{
  ga_point p = ga__state_point(&st->next);
  if (st->inner.values.inner) p.statics = &st->inner.values;
  return p;
}

/* At the first trial: n of the last state, and whether they become iterates. */
static ga_status begin(ga_stepper *st)
{
  ga__inner *in = &st->inner;
  const int n = st->sys->def.n_inner;
  const ga_point last = ga__state_point(&st->now), predicted = ga__state_point(&st->next);
  double size = 0.0, change = 0.0;
  ga_status status = ga__inner_values(st->sys, &last, in->n);
  if (!status) status = ga__inner_values(st->sys, &predicted, in->dn);
  if (status) return status;
  for (int i = 0; i < n; i++) {
    size = fmax(size, fabs(in->n[i]));
    change = fmax(change, fabs(in->dn[i] - in->n[i]));
  }
  in->judged = 1;
  in->used = change > size;
  if (in->used) in->values.inner = in->n;
  return GA_OK;
}

ga_status ga__inner_follow(ga_stepper *st)
{
  const ga_system *sys = st->sys;
  ga__inner *in = &st->inner;
  ga_status status = GA_OK;
  if (sys->def.n_inner == 0) return GA_OK;
  if (!in->judged) {
    status = begin(st);
  } else if (in->values.inner) {
    ga_point from = ga__trial_point(st);
    from.q = in->q;
    ga_group_difference(sys->group, in->dq, in->q, st->next.q);
    status = ga__inner_step(sys, &from, in->dq, in->dn);
    for (int i = 0; !status && i < sys->def.n_inner; i++) in->n[i] += in->dn[i];
  }
  if (in->values.inner) ga__copy_numbers(in->q, st->next.q, sys->nq);
  return status;
}
