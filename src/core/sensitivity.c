/* Sensitivities: derivatives of the numerical solution by parameters and initial values; memory, and what is
 * refused. */
#include "core/sensitivity.h"
#include "core/arrays.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

ga_status ga__refuse_sensitivity(ga_sensitivity *se, const char *what, const char *remedy)
{
  return ga__refuse(se->ctx, GA_ERR_ARGUMENT, GA_REASON_NO_SENSITIVITY,
                    &(ga__facts){.at = &(ga__fact_time){se->st->now.scalar[GA__T], NAN, -1, -1},
                                 .kind = "sensitivities",
                                 .detail = what,
                                 .expected = remedy});
}

ga_status ga__refuse_parameter(ga_sensitivity *se, int j, const char *what, const char *remedy)
{
  return ga__refuse(se->ctx, GA_ERR_DERIVATIVE, GA_REASON_NO_SENSITIVITY,
                    &(ga__facts){.at = &(ga__fact_time){se->st->now.scalar[GA__T], NAN, -1, -1},
                                 .kind = "sensitivities",
                                 .name = se->parameter[j].name,
                                 .detail = what,
                                 .expected = remedy});
}

/* ---- Creation ---- */

ga_status ga__tangent_create(ga_sensitivity *se, ga__tangent *d)
{
  const ga_system *sys = se->st->sys;
  const int *size = sys->size;
  const size_t nv = (size_t)sys->nv, nl = (size_t)size[GA_BLOCK_LAMBDA], nx = (size_t)size[GA_BLOCK_X],
               np = (size_t)size[GA_BLOCK_PSI], ny = (size_t)size[GA_BLOCK_Y];
  const ga__array part[] = {{&d->q, nv},
                            {&d->v, nv},
                            {&d->vdot, nv},
                            {&d->a, nv},
                            {&d->lambda, nl},
                            {&d->psi, np},
                            {&d->eta, nl},
                            {&d->x, nx},
                            {&d->xdot, nx},
                            {&d->w, nx},
                            {&d->y, ny},
                            {&d->a_prev, nv},
                            {&d->w_prev, nx},
                            {&d->vdot_prev, nv},
                            {&d->lambda_prev, nl},
                            {&d->psi_prev, np},
                            {&d->y_prev, ny},
                            {&d->vdot_prev2, nv},
                            {&d->lambda_prev2, nl},
                            {&d->psi_prev2, np},
                            {&d->y_prev2, ny}};
  return ga__arrays_create(se->ctx, GA__ARRAYS(part), "sensitivities", &d->block, &se->n_tangent);
}

static ga_status work_create(ga_sensitivity *se)
{
  const ga_system *sys = se->st->sys;
  ga__linear_step *s = &se->step;
  const size_t entries = (size_t)sys->n_entries, nv = (size_t)sys->nv, n = (size_t)sys->n;
  const size_t all = n + (size_t)sys->size[GA_BLOCK_LAMBDA], nx = (size_t)sys->size[GA_BLOCK_X];
  const size_t blocks = (size_t)ga_group_blocks_length(sys->group), nq = (size_t)sys->nq;
  se->n_last = (size_t)(se->st->now.a_prev - se->st->now.block);
  const ga__array part[] = {{&s->Dv, entries},
                            {&s->Dm, entries},
                            {&s->D, entries},
                            {&s->Q, entries},
                            {&s->G, entries},
                            {&s->G0, entries},
                            {&se->spare, entries},
                            {&se->other, entries},
                            {&s->B_n, (size_t)sys->n_b + 1},
                            {&s->T, blocks},
                            {&s->TA, blocks},
                            {&s->ad, blocks},
                            {&s->exponent, nv},
                            {&s->v_n, nv},
                            {&se->dq, nv},
                            {&se->dv, nv},
                            {&se->dvdot, nv},
                            {&se->dx, nx},
                            {&se->dxdot, nx},
                            {&se->force, nv},
                            {&se->g, all},
                            {&se->rhs, all},
                            {&se->by_p, all},
                            {&se->value, all},
                            {&se->room, all},
                            {&se->kept, all},
                            {&se->base, all},
                            {&se->noise, all},
                            {&se->inner, all},
                            {&se->outer, all},
                            {&se->inner_even, all},
                            {&se->outer_even, all},
                            {&se->one, nv},
                            {&se->two, nv},
                            {&se->moves, GA__N_AT * nv},
                            {&se->last, se->n_last},
                            {&se->saved, 2 * se->st->state_length},
                            {&se->at_q, nq},
                            {&se->mid_q, nq},
                            {&se->at_v, nv},
                            {&se->at_x, nx}};
  ga_status status = ga__arrays_create(se->ctx, GA__ARRAYS(part), "sensitivities", &se->work, NULL);
  return status ? status : ga__moved_point_create(se->ctx, sys, &se->moved);
}

int ga__same_sizes(const ga_system *a, const ga_system *b)
{
  int same = a->nq == b->nq && a->nv == b->nv && a->n_entries == b->n_entries && a->n_b == b->n_b;
  for (int i = 0; i < GA_N_BLOCKS; i++) same = same && a->size[i] == b->size[i];
  for (int e = 0; same && e < a->n_entries; e++) same = a->row[e] == b->row[e] && a->col[e] == b->col[e];
  return same && !a->def.sample == !b->def.sample;
}

/* The terms that depend on a parameter, where they are given. */
static ga_status parts_open(ga_sensitivity *se, ga__parameter *par, const ga_parameter *given)
{
  const ga_system *sys = se->st->sys;
  ga_status status = GA_OK;
  for (int k = 0; k <= GA__N_AT && !status; k++) {
    const ga_system *part = given->part[k];
    if (!part != !given->part[0] || (part && !given->at[0].sys))
      return ga__refuse_null(se->ctx, "ga_sensitivity_create",
                             "a system at one of the values of a parameter");
    if (!part) continue;
    if (!ga__same_sizes(sys, part) || !part->def.sweep)
      return ga__refuse_sensitivity(se, "the terms that depend on a parameter are of other equations", NULL);
    status = ga__system_open(se->ctx, part, &par->part[k].sys);
  }
  return status;
}

static ga_status parameter_create(ga_sensitivity *se, int j, const ga_parameter *given)
{
  ga__parameter *par = &se->parameter[j];
  const ga_system *sys = se->st->sys;
  par->given = *given;
  if (given->name)
    ga__cut_text(par->name, sizeof par->name, given->name);
  else
    snprintf(par->name, sizeof par->name, "parameter %d", j);
  par->given.name = par->name;
  se->differs |= given->at[0].sys && !given->derivative;
  if (!(given->step > 0.0 && isfinite(given->step)))
    return ga__refuse_number(se->ctx, "sensitivities", "step", given->step, "> 0 and finite");
  ga_status status = ga__tangent_create(se, &par->now);
  if (!status) status = ga__tangent_create(se, &par->before);
  if (!status) status = ga__tangent_create(se, &par->inside);
  if (!status) status = ga__tangent_create(se, &par->fixed);
  for (int k = 0; k < GA__N_AT && !status; k++) {
    if (!given->at[k].sys != !given->at[0].sys)
      return ga__refuse_null(se->ctx, "ga_sensitivity_create",
                             "a system at one of the values of a parameter");
    if (!given->at[k].sys) continue;
    if (!ga__same_sizes(sys, given->at[k].sys))
      return ga__refuse_sensitivity(
          se, "a parameter changes the number of equations or which of them depend on what",
          "only parameters that change numbers can be used");
    status = ga__system_open(se->ctx, given->at[k].sys, &par->at[k].sys);
    if (!status) status = ga__deriv_create(par->at[k].sys, &par->at[k].deriv);
  }
  return status ? status : parts_open(se, par, given);
}

int ga__slopes_of(const ga_stepper *st, const ga__slopes *list[2])
{
  const ga__method *second = st->other.method;
  list[0] = st->family->slopes;
  list[1] = second ? second->family->slopes : NULL;
  return second ? 2 : 1;
}

static ga_status check_method(ga_sensitivity *se)
{
  const ga_stepper *st = se->st;
  const ga__slopes *list[2];
  for (int i = 0; i < ga__slopes_of(st, list); i++)
    if (!list[i])
      return ga__refuse_sensitivity(
          se, "steps of the weighted methods are not differentiated",
          "take GA_STABILIZED, GA_INDEX3, GA_COLLOCATION or GA_AUTOMATIC");
  if (st->sys->def.n_switches > 0)
    return ga__refuse_sensitivity(se, "parts have modes that switch, as dry friction or rigid stops",
                                  "parts that switch are not supported");
  return GA_OK;
}

static ga_status build(ga_sensitivity *se, const ga_parameter *given)
{
  ga_context_opts quiet = se->ctx->opts;
  quiet.log = NULL;
  ga_status status = check_method(se);
  if (!status && ga_context_create(&quiet, &se->quiet)) status = ga__no_memory(se->ctx, "sensitivities");
  if (!status && !(se->parameter = ga__alloc(se->ctx, (size_t)se->n + 1, sizeof *se->parameter)))
    status = ga__no_memory(se->ctx, "sensitivities");
  for (int j = 0; j < se->n && !status; j++) status = parameter_create(se, j, &given[j]);
  const ga_parameter clock = {.name = "the time of an event", .step = 1.0};
  if (!status) status = parameter_create(se, se->n, &clock);
  if (!status) status = work_create(se);
  if (!status) status = ga__tangent_create(se, &se->rate);
  if (!status) status = ga__tangent_create(se, &se->mid);
  const ga__slopes *list[2];
  for (int i = 0; !status && i < ga__slopes_of(se->st, list); i++) status = list[i]->create(se);
  return status;
}

ga_status ga_sensitivity_create(ga_context *ctx, ga_stepper *st, int n, const ga_parameter *parameter,
                                ga_sensitivity **out)
{
  if (out) *out = NULL;
  if (!ctx) return GA_ERR_ARGUMENT;
  if (!out || !st || !parameter)
    return ga__refuse_null(ctx, __func__, !out ? "out" : !st ? "st" : "parameter");
  if (n < 1) return ga__refuse_number(ctx, "sensitivities", "n", n, ">= 1");
  ga_sensitivity *se = ga__alloc(ctx, 1, sizeof *se);
  if (!se) return ga__no_memory(ctx, "sensitivities");
  se->ctx = ctx;
  se->st = st;
  se->n = n;
  const ga_status status = build(se, parameter);
  if (status)
    ga_sensitivity_destroy(&se);
  else
    *out = se;
  return status;
}

void ga_sensitivity_destroy(ga_sensitivity **se)
{
  if (!se || !*se) return;
  ga_sensitivity *s = *se;
  ga__sensitivity_unwatch(s);
  for (int j = 0; s->parameter && j <= s->n; j++) {
    ga__parameter *par = &s->parameter[j];
    ga__free(s->ctx, par->now.block);
    ga__free(s->ctx, par->before.block);
    ga__free(s->ctx, par->inside.block);
    ga__free(s->ctx, par->fixed.block);
    for (int k = 0; k < GA__N_AT; k++) {
      ga__deriv_destroy(&par->at[k].deriv);
      ga__system_close(&par->at[k].sys);
    }
    for (int k = 0; k <= GA__N_AT; k++) ga__system_close(&par->part[k].sys);
  }
  const ga__slopes *list[2];
  for (int i = 0; i < ga__slopes_of(s->st, list); i++)
    if (list[i]) list[i]->destroy(s);
  ga__least_destroy(s);
  ga__free(s->ctx, s->parameter);
  ga__moved_point_destroy(s->ctx, &s->moved);
  ga__free(s->ctx, s->rate.block);
  ga__free(s->ctx, s->mid.block);
  ga__free(s->ctx, s->work);
  ga_context_destroy(&s->quiet);
  ga__free(s->ctx, s);
  *se = NULL;
}

/* ---- The run ---- */

static ga_state tangent_view(const ga_sensitivity *se, const ga__tangent *d)
{
  return (ga_state){se->st->now.scalar[GA__T],
                    d->q,
                    d->v,
                    d->vdot,
                    d->a,
                    d->lambda,
                    d->psi,
                    se->st->red.null.r > 0 ? NULL : d->eta,
                    d->x,
                    d->xdot,
                    d->w,
                    d->y};
}

/* Notes the state that the derivatives belong to. */
ga_status ga__sensitivity_show(ga_sensitivity *se)
{
  const ga_status status = ga__times_fix(se);
  if (status) return status;
  for (int j = 0; j < se->n; j++) {
    ga__parameter *par = &se->parameter[j];
    par->view = tangent_view(se, par->dt != 0.0 ? &par->fixed : &par->now);
    par->view_moving = tangent_view(se, &par->now);
  }
  memcpy(se->last, se->st->now.block, se->n_last * sizeof *se->last);
  se->t = se->st->now.scalar[GA__T];
  se->number = se->st->state_number;
  se->started = 1;
  return GA_OK;
}

int ga__sensitivity_is_at(const ga_sensitivity *se, const ga__state *s)
{
  return s->scalar[GA__T] == se->t && memcmp(s->block, se->last, se->n_last * sizeof *se->last) == 0;
}

ga_status ga_sensitivity_begin(ga_sensitivity *se)
{
  if (!se) return GA_ERR_ARGUMENT;
  const ga_stepper *st = se->st;
  se->started = 0;
  if (!st->has_state || st->now.scalar[GA__H_OLD] > 0.0)
    return ga__refuse_order(se->ctx, __func__, "right after a start of its stepper");
  if (st->begun.a) return ga__refuse_sensitivity(se, "a₀ is given as numbers", "leave it to the start");
  for (int j = 0; j < se->n; j++) {
    const ga_parameter *given = &se->parameter[j].given;
    se->parameter[j].doubt = DBL_EPSILON * fabs(given->value) / given->step;
  }
  ga__parameters_forget(se);
  ga__times_begin(se);
  se->n_met = se->place = se->n_last_events = 0;
  se->failed = GA_OK;
  const ga_status status = ga__sensitivity_start(se, 0);
  return status ? status : ga__sensitivity_show(se);
}

ga_status ga_sensitivity_start(ga_sensitivity *se, const ga_start_opts *opts, double t0, const double *q0,
                               const double *v0, const double *x0, const double *lambda_guess,
                               const double *psi_guess, ga_start_report *report)
{
  if (!se) return GA_ERR_ARGUMENT;
  se->started = 0;
  const ga_status status = ga_stepper_start(se->st, opts, t0, q0, v0, x0, lambda_guess, psi_guess, report);
  return status ? status : ga_sensitivity_begin(se);
}

ga_status ga__sensitivity_check_step(ga_sensitivity *se, const ga_stepper *st)
{
  if (st->now.scalar[GA__REDUNDANT] != st->next.scalar[GA__REDUNDANT])
    return ga__refuse_sensitivity(
        se, "the number of independent constraints changes, as at a singular position", NULL);
  return st->family->slopes->check(se, st);
}

/* The last step must be the one after that of the derivatives. */
static ga_status check_step(ga_sensitivity *se)
{
  ga_stepper *st = se->st;
  if (st->can_undo && ga__sensitivity_is_at(se, &st->next)) return ga__sensitivity_check_step(se, st);
  return ga__refuse_order(
      se->ctx, "ga_sensitivity_step",
      "right after every single step; one was left out, or several were made, as onto an event");
}

ga_status ga__sensitivity_one_step(ga_sensitivity *se)
{
  ga_status status = check_step(se);
  if (!status) status = ga__times_of_step(se);
  if (!status) status = se->st->family->slopes->make(se);
  for (int j = 0; j < se->n && !status; j++) status = se->st->family->slopes->forward(se, j);
  return status;
}

/* A restart behind a jump of the equations at a given time. If the time depended on a parameter, the
 * equations at the end of the step before would jump between its values. */
static ga_status differentiate_restart(ga_sensitivity *se)
{
  ga_stepper *st = se->st;
  if (st->begun_as == GA__PASSING)
    return ga__refuse_sensitivity(
        se, "the run has passed an edge of the motion, where equations jump or have a corner",
        "replace it by a smooth law");
  if (st->begun_as == GA__CHANGING || se->n_met > 0) {
    ga__times_of_event(se);
    const ga_status status = ga__sensitivity_start(se, 1);
    se->place = se->n_met > 0 ? GA_PLACE_EVENT : GA_PLACE_STEP;
    se->n_met = 0;
    return status;
  }
  if (st->begun_as != GA__BEHIND_JUMP)
    return ga__refuse_sensitivity(se, "the run was restarted by an event, whose time depends on parameters",
                                  "leave out events that change the motion");
  const ga_status status = ga__times_of_restart(se);
  se->place = GA_PLACE_BREAK;
  return status ? status : ga__sensitivity_start(se, 1);
}

ga_status ga__sensitivity_restart(ga_sensitivity *se)
{
  const ga_status status = differentiate_restart(se);
  return status ? status : ga__sensitivity_show(se);
}

ga_status ga_sensitivity_step(ga_sensitivity *se)
{
  if (!se) return GA_ERR_ARGUMENT;
  ga_stepper *st = se->st;
  if (se->failed) return se->ctx->error = se->why, se->failed;
  if (!se->started) return ga__refuse_order(se->ctx, __func__, "after ga_sensitivity_start()");
  if (se->n_met > 0 && se->number == st->state_number) return GA_OK; /* at an event, as yet unchanged by it */
  se->started = 0;
  if (st->has_state && st->now.scalar[GA__H_OLD] == 0.0 && !st->can_undo) return ga__sensitivity_restart(se);
  ga_status status = ga__sensitivity_one_step(se);
  if (!status) status = ga__sensitivity_show(se);
  if (!status) status = ga__events_at_end(se);
  if (status) se->started = 0;
  return status;
}

const ga_state *ga_sensitivity_at(const ga_sensitivity *se, int parameter)
{
  const int known = se && se->started && !se->failed && parameter >= 0 && parameter < se->n;
  return known ? &se->parameter[parameter].view : NULL;
}

const ga_state *ga_sensitivity_moving(const ga_sensitivity *se, int parameter)
{
  const ga_state *at = ga_sensitivity_at(se, parameter);
  return at ? &se->parameter[parameter].view_moving : NULL;
}

ga_place ga_sensitivity_place(const ga_sensitivity *se)
{
  return se && se->started ? (ga_place)se->place : GA_PLACE_STEP;
}

double ga_sensitivity_doubt(const ga_sensitivity *se, int parameter)
{
  return se && parameter >= 0 && parameter < se->n ? se->parameter[parameter].doubt : 0.0;
}
