/* Derivatives of the start: fourth-order differences of complete starts at four values of each parameter. */
#include "core/sensitivity.h"

#include <math.h>
#include <string.h>

/* Complete states of the starts of one parameter, each a stepper of its own. */
typedef struct starts {
  ga_stepper *st[GA__N_AT];
} starts;

static void destroy(starts *all)
{
  for (int k = 0; k < GA__N_AT; k++) ga_stepper_destroy(&all->st[k]);
}

static ga_status fail_start(ga_sensitivity *se, int j, ga_status status)
{
  char text[GA_ERROR_TEXT];
  if (status == GA_ERR_MEMORY) return ga__no_memory(se->ctx, "a start at another value of a parameter");
  ga__cut_text(text, sizeof text, ga_context_error(se->quiet)->text);
  return ga__refuse(se->ctx, status, GA_REASON_SENSITIVITY_START,
                    &(ga__facts){.kind = "sensitivities", .name = se->parameter[j].name, .detail = text});
}

static ga_status start_one(ga_sensitivity *se, int j, int k, const ga_start_opts *opts, double t0,
                           const double *lambda, const double *psi, ga_stepper **out)
{
  const ga_stepper *st = se->st;
  const ga_parameter_value *at = &se->parameter[j].given.at[k];
  const ga_system *sys = at->sys ? at->sys : st->sys;
  ga_status status = ga_stepper_create(se->quiet, sys, &st->opts, out);
  if (!status)
    status = ga_stepper_start(*out, opts, t0, at->q0 ? at->q0 : st->begin_q, at->v0 ? at->v0 : st->begin_v,
                              at->x0 ? at->x0 : st->begin_x, lambda, psi, NULL);
  return status ? fail_start(se, j, status) : GA_OK;
}

/* Derivative of one array of the states; part: where it is in a state. */
static int differentiate(const ga_sensitivity *se, const starts *all, int j, size_t part, int n, double *out)
{
  const double *value[GA__N_AT];
  for (int k = 0; k < GA__N_AT; k++) value[k] = all->st[k]->now.block + part;
  return n == 0 || ga__four_point(out, value, se->st->now.block + part, n, se->parameter[j].given.step);
}

static int differentiate_q(ga_sensitivity *se, const starts *all, int j, double *out)
{
  const ga_stepper *st = se->st;
  const int nv = st->sys->nv;
  const double *value[GA__N_AT] = {se->moves, se->moves + nv, se->moves + 2 * nv, se->moves + 3 * nv};
  for (int k = 0; k < GA__N_AT; k++)
    ga_group_difference(st->sys->group, se->moves + (size_t)k * (size_t)nv, st->now.q, all->st[k]->now.q);
  return nv == 0 || ga__four_point(out, value, NULL, nv, se->parameter[j].given.step);
}

static ga_status differentiate_all(ga_sensitivity *se, const starts *all, int j)
{
  const ga_stepper *st = se->st;
  const int *size = st->sys->size, nv = st->sys->nv;
  ga__tangent *d = &se->parameter[j].now;
  const ga__state *s = &st->now;
  const struct {
    double *out;
    const double *of;
    int n;
  } list[] = {{d->v, s->v, nv},
              {d->vdot, s->vdot, nv},
              {d->a, s->a, nv},
              {d->a_prev, s->a_prev, nv},
              {d->lambda, s->lambda, size[GA_BLOCK_LAMBDA]},
              {d->psi, s->psi, size[GA_BLOCK_PSI]},
              {d->x, s->x, size[GA_BLOCK_X]},
              {d->xdot, s->xdot, size[GA_BLOCK_X]},
              {d->w, s->w, size[GA_BLOCK_X]},
              {d->w_prev, s->w_prev, size[GA_BLOCK_X]},
              {d->y, s->y, size[GA_BLOCK_Y]}};
  int smooth = differentiate_q(se, all, j, d->q);
  for (size_t l = 0; l < sizeof list / sizeof *list && smooth; l++)
    smooth = differentiate(se, all, j, (size_t)(list[l].of - s->block), list[l].n, list[l].out);
  for (int i = 0; i < size[GA_BLOCK_LAMBDA]; i++) d->eta[i] = 0.0;
  if (smooth) return GA_OK;
  return ga__refuse(se->ctx, GA_ERR_DERIVATIVE, GA_REASON_NO_SENSITIVITY,
                    &(ga__facts){.at = &(ga__fact_time){s->scalar[GA__T], NAN, -1, -1},
                                 .kind = "sensitivities",
                                 .name = se->parameter[j].name,
                                 .detail = "the start has a corner or a jump within twice its step",
                                 .expected = "give a smaller step, or another value of the parameter"});
}

ga_status ga__sensitivity_start(ga_sensitivity *se, const ga_start_opts *opts, double t0,
                                const double *lambda, const double *psi)
{
  const ga_point p = ga__state_point(&se->st->now);
  for (int j = 0; j < se->n; j++) {
    starts all = {{NULL}};
    ga_status status = GA_OK;
    for (int k = 0; k < GA__N_AT && !status; k++)
      status = start_one(se, j, k, opts, t0, lambda, psi, &all.st[k]);
    if (!status) status = differentiate_all(se, &all, j);
    destroy(&all);
    if (!status && se->st->n_eta) status = ga__parameter_moves_b(se, j, &p, &se->parameter[j].moves_b);
    if (status) return status;
  }
  return GA_OK;
}
