/* Derivatives within the last step: those of dense output. q is differentiated by fourth-order differences
 * between states that are moved along their derivatives; all else is linear in the states. */
#include "core/sensitivity.h"

#include <math.h>
#include <string.h>

#define MOVE 1e-3 /* [-] largest move of q, and of v relative to 1 + its size */

static void move_state(ga_sensitivity *se, ga__state *s, const ga__tangent *d, double by)
{
  const ga_system *sys = se->st->sys;
  for (int i = 0; i < sys->nv; i++) s->v[i] += by * d->v[i];
  for (int i = 0; i < sys->nv; i++) se->one[i] = by * d->q[i];
  ga_group_move(sys->group, s->q, s->q, se->one);
}

static double relative_size(const ga_system *sys, const ga__state *s, const ga__tangent *d)
{
  return fmax(ga__max_abs(d->q, sys->nv, NULL),
              ga__max_abs(d->v, sys->nv, NULL) / (1.0 + ga__max_abs(s->v, sys->nv, NULL)));
}

static ga_status interpolate_q(ga_sensitivity *se, double t, double *q)
{
  return ga_stepper_interpolate(se->st, t, q, NULL, NULL, NULL, NULL, NULL, NULL);
}

/* Both states are moved within the stepper, and restored to the last bit. */
static ga_status differentiate_q(ga_sensitivity *se, ga__parameter *par, double t)
{
  static const double AT[GA__N_AT] = {1.0, -1.0, 2.0, -2.0}, WEIGHT[GA__N_AT] = {8.0, -8.0, -1.0, 1.0};
  ga_stepper *st = se->st;
  const ga_system *sys = st->sys;
  const size_t n = se->n_last, bytes = n * sizeof(double);
  const double size =
      fmax(relative_size(sys, &st->now, &par->now), relative_size(sys, &st->next, &par->before));
  for (int i = 0; i < sys->nv; i++) par->inside.q[i] = 0.0;
  if (!(size > 0.0)) return GA_OK;
  const double step = MOVE / size;
  ga_status status = interpolate_q(se, t, se->mid_q);
  memcpy(se->saved, st->now.block, bytes);
  memcpy(se->saved + n, st->next.block, bytes);
  for (int k = 0; k < GA__N_AT && !status; k++) {
    move_state(se, &st->now, &par->now, AT[k] * step);
    move_state(se, &st->next, &par->before, AT[k] * step);
    status = interpolate_q(se, t, se->at_q);
    memcpy(st->now.block, se->saved, bytes);
    memcpy(st->next.block, se->saved + n, bytes);
    ga_group_difference(sys->group, se->one, se->mid_q, se->at_q);
    for (int i = 0; i < sys->nv; i++) par->inside.q[i] += WEIGHT[k] / (12.0 * step) * se->one[i];
  }
  return status;
}

static ga_status differentiate(ga_sensitivity *se, ga__parameter *par, double t)
{
  const ga__tangent *d = &par->now, *b = &par->before, *out = &par->inside;
  const ga__inside_rates rates = {.v = {d->v, b->v},
                                  .x = {d->x, b->x},
                                  .xdot = {d->xdot, b->xdot},
                                  .vdot = {d->vdot, b->vdot, b->vdot_prev, b->vdot_prev2},
                                  .lambda = {d->lambda, b->lambda, b->lambda_prev, b->lambda_prev2},
                                  .psi = {d->psi, b->psi, b->psi_prev, b->psi_prev2},
                                  .y = {d->y, b->y, b->y_prev, b->y_prev2}};
  ga__interpolate_rates(
      se->st, t, &rates,
      &(ga__inside){
          .v = out->v, .vdot = out->vdot, .lambda = out->lambda, .psi = out->psi, .x = out->x, .y = out->y});
  return differentiate_q(se, par, t);
}

ga_status ga_sensitivity_inside(ga_sensitivity *se, int parameter, double t, const ga_state **out)
{
  if (!se) return GA_ERR_ARGUMENT;
  if (!out) return ga__refuse_null(se->ctx, __func__, "out");
  *out = NULL;
  if (!se->started || !se->st->can_undo)
    return ga__refuse_order(se->ctx, __func__, "right after ga_sensitivity_step()");
  if (parameter < 0 || parameter >= se->n)
    return ga__refuse(se->ctx, GA_ERR_ARGUMENT, GA_REASON_NO_SUCH_INDEX,
                      &(ga__facts){.function = __func__,
                                   .field = "parameter",
                                   GA__NUMBERS({parameter, NULL}, {se->n, NULL})});
  ga__parameter *par = &se->parameter[parameter];
  const ga_status status = differentiate(se, par, t);
  if (status) return status;
  const ga__tangent *d = &par->inside;
  par->view_inside =
      (ga_state){t, d->q, d->v, d->vdot, NULL, d->lambda, d->psi, NULL, d->x, NULL, NULL, d->y};
  *out = &par->view_inside;
  return GA_OK;
}
