/* Derivatives within the last step: those of dense output. q is differentiated by fourth-order differences
 * between states that are moved along their derivatives; all else is linear in the states. */
#include "core/sensitivity.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#define MOVE 1e-3 /* [-] largest move of q, and of v relative to 1 + its size */

static const double AT[GA__N_AT] = {1.0, -1.0, 2.0, -2.0}, WEIGHT[GA__N_AT] = {8.0, -8.0, -1.0, 1.0};

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

/* ---- Where times depend on the parameter ---- */

static void move_array(double *x, const double *d, int n, double by)
{
  for (int i = 0; i < n; i++) x[i] += by * d[i];
}

/* All of a state that dense output depends on. */
static void move_all(ga_sensitivity *se, ga__state *s, const ga__tangent *d, double by)
{
  const int *size = se->st->sys->size, nv = se->st->sys->nv;
  move_state(se, s, d, by);
  move_array(s->vdot, d->vdot, nv, by);
  move_array(s->vdot_prev, d->vdot_prev, nv, by);
  move_array(s->vdot_prev2, d->vdot_prev2, nv, by);
  move_array(s->x, d->x, size[GA_BLOCK_X], by);
  move_array(s->xdot, d->xdot, size[GA_BLOCK_X], by);
  move_array(s->lambda, d->lambda, size[GA_BLOCK_LAMBDA], by);
  move_array(s->lambda_prev, d->lambda_prev, size[GA_BLOCK_LAMBDA], by);
  move_array(s->lambda_prev2, d->lambda_prev2, size[GA_BLOCK_LAMBDA], by);
  move_array(s->psi, d->psi, size[GA_BLOCK_PSI], by);
  move_array(s->psi_prev, d->psi_prev, size[GA_BLOCK_PSI], by);
  move_array(s->psi_prev2, d->psi_prev2, size[GA_BLOCK_PSI], by);
  move_array(s->y, d->y, size[GA_BLOCK_Y], by);
  move_array(s->y_prev, d->y_prev, size[GA_BLOCK_Y], by);
  move_array(s->y_prev2, d->y_prev2, size[GA_BLOCK_Y], by);
}

static double times_move(const ga__parameter *par)
{
  return fmax(fmax(fabs(par->dt), fabs(par->dt_begin)), fmax(fabs(par->dh_old), fabs(par->dh_old2)));
}

static void move_times(ga_stepper *st, const ga__parameter *par, double by)
{
  st->now.scalar[GA__T] += by * par->dt;
  st->next.scalar[GA__T] += by * par->dt_begin;
  if (st->next.scalar[GA__H_OLD] > 0.0) st->next.scalar[GA__H_OLD] += by * par->dh_old;
  if (st->next.scalar[GA__H_OLD2] > 0.0) st->next.scalar[GA__H_OLD2] += by * par->dh_old2;
}

/* Numbers of dense output at t, into se->mid, with the move of q from se->mid_q in se->one; with_z 0: q, v and x
 * alone. */
static ga_status interpolate_all(ga_sensitivity *se, double t, int with_z)
{
  ga__tangent *mid = &se->mid;
  const ga_status status =
      with_z ? ga_stepper_interpolate(se->st, t, se->at_q, mid->v, mid->vdot, mid->lambda, mid->psi, mid->x,
                                      mid->y)
             : ga_stepper_interpolate(se->st, t, se->at_q, mid->v, NULL, NULL, NULL, mid->x, NULL);
  ga_group_difference(se->st->sys->group, se->one, se->mid_q, se->at_q);
  return status;
}

/* par->inside += by times those. */
static void add_all(ga_sensitivity *se, ga__parameter *par, double by, int with_z)
{
  const int *size = se->st->sys->size, nv = se->st->sys->nv;
  const ga__tangent *mid = &se->mid, *out = &par->inside;
  move_array(out->q, se->one, nv, by);
  move_array(out->v, mid->v, nv, by);
  move_array(out->x, mid->x, size[GA_BLOCK_X], by);
  if (!with_z) return;
  move_array(out->vdot, mid->vdot, nv, by);
  move_array(out->lambda, mid->lambda, size[GA_BLOCK_LAMBDA], by);
  move_array(out->psi, mid->psi, size[GA_BLOCK_PSI], by);
  move_array(out->y, mid->y, size[GA_BLOCK_Y], by);
}

/* par->inside −= δt times the rate of dense output at t, by its values in the same step. */
static ga_status subtract_rate(ga_sensitivity *se, ga__parameter *par, double t, double s, double dt,
                               int with_z)
{
  static const double ONE_SIDED[] = {-25.0, 48.0, -36.0, 16.0, -3.0};
  const double h = se->st->now.scalar[GA__T] - se->st->next.scalar[GA__T],
               way = s > 0.5 ? -2e-3 * h : 2e-3 * h;
  ga_status status = GA_OK;
  for (int i = 0; i < 5 && !status; i++) {
    status = interpolate_all(se, t + i * way, with_z);
    if (!status) add_all(se, par, -dt * ONE_SIDED[i] / (12.0 * way), with_z);
  }
  return status;
}

/* par->inside += derivative of dense output at a fixed part s of the step, along times and, with_states, states
 * that are moved by up to `step`, then its rate is taken off. Dense output of moved steps is not kept: their
 * numbers are none of the run's. */
static ga_status add_moved(ga_sensitivity *se, ga__parameter *par, double t, double step, int with_states,
                           int with_z)
{
  ga_stepper *st = se->st;
  const size_t n = st->state_length, bytes = n * sizeof(double);
  const unsigned long number = st->state_number;
  const double t0 = st->next.scalar[GA__T], h = st->now.scalar[GA__T] - t0, s = (t - t0) / h;
  ga_status status = interpolate_q(se, t, se->mid_q);
  memcpy(se->saved, st->now.block, bytes);
  memcpy(se->saved + n, st->next.block, bytes);
  for (int k = 0; k < GA__N_AT && !status; k++) {
    const double by = AT[k] * step;
    st->state_number = ULONG_MAX - (unsigned long)k;
    if (with_states) {
      move_all(se, &st->now, &par->now, by);
      move_all(se, &st->next, &par->before, by);
    }
    move_times(st, par, by);
    const double begin = st->next.scalar[GA__T], end = st->now.scalar[GA__T];
    status = interpolate_all(se, begin + s * (end - begin), with_z);
    memcpy(st->now.block, se->saved, bytes);
    memcpy(st->next.block, se->saved + n, bytes);
    if (!status) add_all(se, par, WEIGHT[k] / (12.0 * step), with_z);
  }
  st->state_number = number;
  return status ? status : subtract_rate(se, par, t, s, (1.0 - s) * par->dt_begin + s * par->dt, with_z);
}

/* At the beginning of the step, where dense output is the state itself. */
ga_status ga__times_at_begin(ga_sensitivity *se, int j)
{
  ga__parameter *par = &se->parameter[j];
  const double t = se->st->next.scalar[GA__T];
  const ga_status status = interpolate_q(se, t, se->mid_q);
  memcpy(par->inside.block, par->before.block, se->n_tangent * sizeof *par->inside.block);
  return status || par->dt_begin == 0.0 ? status : subtract_rate(se, par, t, 0.0, par->dt_begin, 1);
}

/* All of dense output at a fixed time. */
static ga_status differentiate_moved(ga_sensitivity *se, ga__parameter *par, double t)
{
  const ga_stepper *st = se->st;
  const double of_times = times_move(par) / (st->now.scalar[GA__T] - st->next.scalar[GA__T]);
  const double of_states =
      fmax(relative_size(st->sys, &st->now, &par->now), relative_size(st->sys, &st->next, &par->before));
  memset(par->inside.block, 0, se->n_tangent * sizeof *par->inside.block);
  return add_moved(se, par, t, MOVE / fmax(of_times, of_states), 1, 1);
}

ga_status ga__times_inside(ga_sensitivity *se, int j, double t, int with_z)
{
  const ga_stepper *st = se->st;
  ga__parameter *par = &se->parameter[j];
  const double of_times = times_move(par) / (st->now.scalar[GA__T] - st->next.scalar[GA__T]);
  return of_times > 0.0 ? add_moved(se, par, t, MOVE / of_times, 0, with_z) : GA_OK;
}

ga_status ga__exact_inside(ga_sensitivity *se, int j, double t)
{
  ga__parameter *par = &se->parameter[j];
  return times_move(par) > 0.0 ? differentiate_moved(se, par, t) : differentiate(se, par, t);
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
  const ga_status status = se->st->family->slopes->inside(se, parameter, t);
  if (status) return status;
  const ga__tangent *d = &par->inside;
  par->view_inside =
      (ga_state){t, d->q, d->v, d->vdot, NULL, d->lambda, d->psi, NULL, d->x, NULL, NULL, d->y};
  *out = &par->view_inside;
  return GA_OK;
}
