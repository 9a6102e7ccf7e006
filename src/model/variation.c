/* Parameters of a model, and the model at other values of one of them. */
#include "model/document.h"
#include "model/line.h"
#include "model/parameters.h"
#include "mbs/differ.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct ga__parameters *parameters_of(const ga_model *model)
{
  const ga__document *document = model ? ga__model_document(model) : NULL;
  return document ? document->parameters : NULL;
}

int ga_model_parameter_at(const ga_model *model, int i, ga_model_parameter *out)
{
  static const ga_dimension none;
  ga__number number;
  const char *name;
  if (!ga__parameters_at(parameters_of(model), i, &name, &number)) return 0;
  if (!out) return 1;
  out->name = name;
  out->value = number.value;
  ga_dimension_unit(out->unit, sizeof out->unit, number.has_dimension ? &number.dimension : &none);
  return 1;
}

int ga_model_find_parameter(const ga_model *model, const char *name)
{
  ga_model_parameter p;
  for (int i = 0; name && ga_model_parameter_at(model, i, &p); i++)
    if (strcmp(p.name, name) == 0) return i;
  return -1;
}

/* ---- Other values ---- */

static const double AT[GA_PARAMETER_VALUES] = {-2.0, -1.0, 1.0, 2.0};

struct ga_model_variation {
  ga_context *ctx, *quiet;
  ga_model *model[GA_PARAMETER_VALUES];
  double *initial[GA_PARAMETER_VALUES]; /* q, v, x of the start, and behind them those that the model gives */
  ga__differing *differing;             /* NULL: all terms may depend on the parameter */
  double value;
  double t_start, t_end;      /* [s] of the model */
  int moves_start, moves_end; /* 1: they depend on the parameter */
  char name[64];
  ga_parameter parameter;
};

static ga_status fail(ga_model_variation *v, ga_status status, double value)
{
  char text[GA_ERROR_TEXT];
  if (status == GA_ERR_MEMORY) return ga__no_memory(v->ctx, "a model at another value of a parameter");
  ga__cut_text(text, sizeof text, ga_context_error(v->quiet)->text);
  return ga__refuse(
      v->ctx, status, GA_REASON_VARIATION,
      &(ga__facts){.kind = "sensitivities", .name = v->name, .detail = text, GA__NUMBERS({value, NULL})});
}

/* The model with "name=value" after all other settings of parameters, at value k along the line. Without a
 * unit, which every SI value fits. */
static ga_status read_at(ga_model_variation *v, const ga_model *model, const char *path,
                         const ga_model_opts *opts, const ga_model_parameter *p, int k, ga_model **out)
{
  char set[GA_ERROR_TEXT];
  ga_model_opts o = opts ? *opts : ga_model_defaults();
  ga__line line = {.parameter = p->name, .k = k};
  for (int i = 0; i < GA_PARAMETER_VALUES; i++) line.by[i] = AT[i] * v->parameter.step;
  const char **list = ga__alloc(v->ctx, (size_t)o.n_set + 1, sizeof *list);
  if (!list) return ga__no_memory(v->ctx, "a model at another value of a parameter");
  for (int i = 0; i < o.n_set; i++) list[i] = o.set[i];
  snprintf(set, sizeof set, "%s=%.17g", p->name, p->value);
  list[o.n_set++] = set;
  o.set = list;
  const ga_status status = ga__model_read_along(v->quiet, path, ga_model_text(model), &o, &line, out);
  ga__free(v->ctx, list);
  return status ? fail(v, status, p->value + line.by[k]) : GA_OK;
}

static ga_status initial_values(ga_model_variation *v, int k, double value)
{
  const ga_machine *m = ga_model_machine(v->model[k]);
  const ga_system *sys = ga_machine_system(m);
  const size_t nq = (size_t)ga_group_nq(ga_system_group(sys)), nv = (size_t)ga_system_size(sys, GA_BLOCK_V),
               nx = (size_t)ga_system_size(sys, GA_BLOCK_X);
  double *q = v->initial[k] = ga__alloc(v->ctx, 2 * (nq + nv + nx) + 1, sizeof *q);
  if (!q) return ga__no_memory(v->ctx, "a model at another value of a parameter");
  const ga_status status = ga_machine_initial(m, q, q + nq, q + nq + nv);
  if (!status) memcpy(q + nq + nv + nx, q, (nq + nv + nx) * sizeof *q);
  v->parameter.at[k] = (ga_parameter_value){sys, q, q + nq, q + nq + nv};
  return status ? fail(v, status, value) : GA_OK;
}

static ga_status find(ga_context *ctx, const ga_model *model, const char *name, double step,
                      ga_model_parameter *out)
{
  const int i = ga_model_find_parameter(model, name);
  if (i < 0)
    return ga__refuse(
        ctx, GA_ERR_ARGUMENT, GA_REASON_UNKNOWN_REFERENCE,
        &(ga__facts){.other = "parameter", .name = name, .detail = "galpha write shows those of the model"});
  ga_model_parameter_at(model, i, out);
  if (!(step >= 0.0 && isfinite(step)))
    return ga__refuse_number(ctx, "sensitivities", "step", step, ">= 0 and finite");
  if (step == 0.0 && out->value == 0.0)
    return ga__refuse(
        ctx, GA_ERR_ARGUMENT, GA_REASON_NO_SENSITIVITY,
        &(ga__facts){.kind = "sensitivities",
                     .name = out->name,
                     .detail = "its value is 0, so that nothing says by how much it may be changed",
                     .expected = "give a step, about a thousandth of a value that matters"});
  return GA_OK;
}

/* The terms that depend on the parameter, of the models at its values and of the model itself. */
static ga_status find_terms(ga_model_variation *v, const ga_model *model)
{
  const ga_machine *machine[GA_PARAMETER_VALUES + 1];
  for (int k = 0; k < GA_PARAMETER_VALUES; k++) machine[k] = ga_model_machine(v->model[k]);
  machine[GA_PARAMETER_VALUES] = ga_model_machine(model);
  const ga_status status = ga__differing_create(v->ctx, GA_PARAMETER_VALUES + 1, machine, &v->differing);
  for (int k = 0; v->differing && k <= GA_PARAMETER_VALUES; k++)
    v->parameter.part[k] = ga__differing_system(v->differing, k);
  return status;
}

static ga_status build(ga_model_variation *v, const ga_model *model, const char *path,
                       const ga_model_opts *opts, const ga_model_parameter *p, double step)
{
  ga_context_opts quiet = v->ctx->opts;
  quiet.log = NULL;
  const ga_run_settings *own = ga_model_settings(model);
  v->value = v->parameter.value = p->value;
  v->t_start = own->t_start, v->t_end = own->t_end;
  v->parameter.step = step > 0.0 ? step : 1e-3 * fabs(p->value);
  ga__cut_text(v->name, sizeof v->name, p->name);
  v->parameter.name = v->name;
  if (ga_context_create(&quiet, &v->quiet))
    return ga__no_memory(v->ctx, "a model at another value of a parameter");
  ga_status status = GA_OK;
  for (int k = 0; k < GA_PARAMETER_VALUES && !status; k++) {
    const double value = p->value + AT[k] * v->parameter.step;
    status = read_at(v, model, path, opts, p, k, &v->model[k]);
    if (!status) status = initial_values(v, k, value);
    const ga_run_settings *at = status ? own : ga_model_settings(v->model[k]);
    v->moves_start |= at->t_start != own->t_start;
    v->moves_end |= at->t_end != own->t_end;
  }
  if (path && ga_model_is_outdated(model)) /* the models do not belong together */
    status =
        ga__refuse(v->ctx, GA_ERR_FILE, GA_REASON_FILE_CHANGED,
                   &(ga__facts){.file = path, .detail = "the model's file was edited since it was read"});
  return status ? status : find_terms(v, model);
}

ga_status ga_model_variation_create(ga_context *ctx, const ga_model *model, const char *path,
                                    const ga_model_opts *opts, const char *parameter, double step,
                                    ga_model_variation **out)
{
  ga_model_parameter p;
  if (out) *out = NULL;
  if (!ctx) return GA_ERR_ARGUMENT;
  if (!model || !parameter || !out)
    return ga__refuse_null(ctx, __func__, !model ? "model" : !parameter ? "parameter" : "out");
  ga_status status = find(ctx, model, parameter, step, &p);
  if (status) return status;
  ga_model_variation *v = ga__alloc(ctx, 1, sizeof *v);
  if (!v) return ga__no_memory(ctx, "a model at another value of a parameter");
  v->ctx = ctx;
  status = build(v, model, path, opts, &p, step);
  if (status)
    ga_model_variation_destroy(&v);
  else
    *out = v;
  return status;
}

void ga_model_variation_destroy(ga_model_variation **variation)
{
  if (!variation || !*variation) return;
  ga_model_variation *v = *variation;
  ga__differing_destroy(&v->differing);
  for (int k = 0; k < GA_PARAMETER_VALUES; k++) {
    ga_model_destroy(&v->model[k]);
    ga__free(v->ctx, v->initial[k]);
  }
  ga_context_destroy(&v->quiet);
  ga__free(v->ctx, v);
  *variation = NULL;
}

typedef struct sizes {
  int nq, nv, nx, all;
} sizes;

static sizes sizes_of(const ga_model_variation *v)
{
  const ga_system *sys = v->parameter.at[0].sys;
  sizes n = {ga_group_nq(ga_system_group(sys)), ga_system_size(sys, GA_BLOCK_V),
             ga_system_size(sys, GA_BLOCK_X), 0};
  n.all = n.nq + n.nv + n.nx;
  return n;
}

/* The start at value k := the equilibrium moved along its derivative; velocities turn with what they belong
 * to. */
static ga_status settle_at(ga_model_variation *v, int k, const ga_state *rest, const double *dq,
                           const double *dx, double *move)
{
  const ga_machine *m = ga_model_machine(v->model[k]);
  const sizes n = sizes_of(v);
  const double by = AT[k] * v->parameter.step;
  double *q = v->initial[k], *x = q + n.nq + n.nv;
  const double *given = v->initial[k] + n.all;
  for (int i = 0; i < n.nv; i++) move[i] = by * dq[i];
  ga_group_move(ga_system_group(v->parameter.at[k].sys), q, rest->q, move);
  memcpy(q + n.nq, given + n.nq, (size_t)n.nv * sizeof *q);
  for (int i = 0; i < n.nx; i++) x[i] = rest->x[i] + by * dx[i];
  const ga_status status = ga_machine_move_velocities(m, given, q, q + n.nq);
  return status ? fail(v, status, v->value + by) : GA_OK;
}

ga_status ga_model_variation_settle(ga_model_variation *v, ga_equilibrium *eq)
{
  if (!v) return GA_ERR_ARGUMENT;
  if (!eq) return ga__refuse_null(v->ctx, __func__, "eq");
  const sizes n = sizes_of(v);
  ga_parameter given = v->parameter;
  for (int k = 0; k < GA_PARAMETER_VALUES; k++) {
    given.at[k].q0 = v->initial[k] + n.all;
    given.at[k].x0 = v->initial[k] + n.all + n.nq + n.nv;
  }
  double *dq = ga__alloc(v->ctx, (size_t)(2 * n.nv + n.nx) + 1, sizeof *dq);
  if (!dq) return ga__no_memory(v->ctx, "a model at another value of a parameter");
  ga_status status = ga_equilibrium_slope(eq, &given, dq, dq + n.nv);
  for (int k = 0; k < GA_PARAMETER_VALUES && !status; k++)
    status = settle_at(v, k, ga_equilibrium_state(eq), dq, dq + n.nv, dq + n.nv + n.nx);
  ga__free(v->ctx, dq);
  return status;
}

const ga_machine *ga_model_variation_machine(const ga_model_variation *v, int k)
{
  return v && k >= 0 && k < GA_PARAMETER_VALUES ? ga_model_machine(v->model[k]) : NULL;
}

const ga_parameter *ga_model_variation_parameter(const ga_model_variation *v)
{
  return v ? &v->parameter : NULL;
}

ga_status ga_model_variation_check_span(const ga_model_variation *v, double t_start, double t_end)
{
  if (!v) return GA_ERR_ARGUMENT;
  if (!(v->moves_start && t_start == v->t_start) && !(v->moves_end && t_end == v->t_end)) return GA_OK;
  return ga__refuse(v->ctx, GA_ERR_DERIVATIVE, GA_REASON_NO_SENSITIVITY,
                    &(ga__facts){.kind = "sensitivities",
                                 .name = v->name,
                                 .detail = "the time at which the run begins or ends depends on it",
                                 .expected =
                                     "give t_start and t_end as numbers, or let an event end the run, as "
                                     "{when: t - NAME, stop: true}"});
}

ga_status ga_model_variation_events(ga_context *ctx, const ga_machine *m, int n,
                                    ga_model_variation *const *variation, ga_event_variants **out)
{
  if (out) *out = NULL;
  if (!ctx) return GA_ERR_ARGUMENT;
  if (!m || !variation || !out)
    return ga__refuse_null(ctx, __func__, !m ? "the machine" : !variation ? "variation" : "out");
  if (n < 1) return ga__refuse_number(ctx, "sensitivities", "n", n, ">= 1");
  if (ga_machine_n_events(m) == 0) return GA_OK;
  const ga_machine **at = ga__alloc(ctx, (size_t)n * GA_PARAMETER_VALUES, sizeof *at);
  if (!at) return ga__no_memory(ctx, "events at other values of parameters");
  for (int j = 0; j < n; j++)
    for (int k = 0; k < GA_PARAMETER_VALUES; k++)
      at[j * GA_PARAMETER_VALUES + k] = ga_model_variation_machine(variation[j], k);
  const ga_status status = ga_event_variants_create(ctx, m, n, at, out);
  ga__free(ctx, at);
  return status;
}
