/* Parameters of a model that derivatives are by. */
#include "sensitivity.h"

#include "call.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *parameter_name(const void *model, int i)
{
  ga_model_parameter p;
  return ga_model_parameter_at(model, i, &p) ? p.name : "";
}

static int count_parameters(const ga_model *model)
{
  int n = 0;
  while (ga_model_parameter_at(model, n, NULL)) n++;
  return n;
}

static app_by *add(app_by_list *list, const ga_model *model, int i)
{
  ga_model_parameter found;
  ga_model_parameter_at(model, i, &found);
  app_by *p = &list->at[list->n++];
  *p = (app_by){.name = found.name, .value = found.value};
  snprintf(p->unit, sizeof p->unit, "%s", found.unit);
  return p;
}

/* NAME or NAME:STEP */
static int take_parameter(app_runner *r, app_by_list *list, char *text)
{
  const ga_model *model = r->s.model;
  char *colon = strchr(text, ':');
  if (colon) *colon = '\0';
  const int i = ga_model_find_parameter(model, text);
  if (i < 0) {
    const char *nearest = app_nearest(text, count_parameters(model), parameter_name, model);
    return app_misused(r->a,
                       "--by: the model has no parameter \"%s\"%s%s; initial values count if they are "
                       "written with a parameter",
                       text, nearest ? "; the nearest is " : "", nearest ? nearest : "");
  }
  for (int k = 0; k < list->n; k++)
    if (strcmp(list->at[k].name, text) == 0) return app_misused(r->a, "--by: \"%s\" is there twice", text);
  app_by *p = add(list, model, i);
  if (colon && (ga_quantity_parse(r->s.ctx, colon + 1, p->unit, &p->step, NULL, NULL) || !(p->step > 0.0)))
    return app_misused(r->a, "--by: \"%s\" is no step of %s, in %s and above 0", colon + 1, p->name, p->unit);
  if (!colon && p->value == 0.0)
    return app_misused(r->a,
                       "--by: %s is 0: give a step, about a thousandth of a value that matters, as %s:1e-3",
                       p->name, p->name);
  return APP_DONE;
}

static void leave_out(app_by_list *list, const char *name)
{
  const size_t used = strlen(list->left);
  if (used + strlen(name) + 8 < sizeof list->left)
    snprintf(list->left + used, sizeof list->left - used, "%s%s", used ? ", " : "", name);
  list->n_left++;
}

int app_by_take(app_runner *r, app_by_list *list)
{
  const ga_model *model = r->s.model;
  const char *const *given = app_values(r->a, "by", 0);
  const int n = count_parameters(model);
  int code = APP_DONE;
  if (!(list->at = calloc((size_t)n + 1, sizeof *list->at)))
    return fputs("galpha: out of memory\n", stderr), APP_FAILED;
  list->all = !given || (strcmp(given[0], "all") == 0 && ga_model_find_parameter(model, "all") < 0);
  for (int i = 0; list->all && i < n; i++) {
    ga_model_parameter p;
    ga_model_parameter_at(model, i, &p);
    if (p.value == 0.0)
      leave_out(list, p.name);
    else
      add(list, model, i);
  }
  for (int k = list->all && given ? 1 : 0; !code && (given = app_values(r->a, "by", k)) != NULL; k++)
    for (const char *at = given[0]; !code && *(at += strspn(at, " ,"));) {
      char text[256];
      const size_t length = strcspn(at, ", ");
      snprintf(text, sizeof text, "%.*s", (int)length, at);
      code = take_parameter(r, list, text);
      at += length;
    }
  if (!code && list->n == 0)
    return app_misused(r->a, list->all
                                 ? "the model has no parameters that can be changed by a part of their value"
                                 : "--by NAMES is missing: parameters of the model, or all");
  return code;
}

/* Of all parameters, those of the systems with other sizes are left out too. */
static int fits(const app_runner *r, const app_by *p)
{
  const ga_system *sys = ga_machine_system(r->s.machine);
  for (int k = 0; k < GA_PARAMETER_VALUES; k++) {
    const ga_system *at = ga_machine_system(ga_model_variation_machine(p->variation, k));
    for (int b = 0; b < GA_N_BLOCKS; b++)
      if (ga_system_size(sys, (ga_equation_block)b) != ga_system_size(at, (ga_equation_block)b)) return 0;
  }
  return 1;
}

int app_by_vary(app_runner *r, app_by_list *list)
{
  const app_arguments *a = r->a;
  ga_model_opts opts = ga_model_defaults();
  const char **set = calloc((size_t)a->n_given + 1, sizeof *set);
  const char *const *value;
  int code = APP_DONE, n = 0;
  if (!set) return fputs("galpha: out of memory\n", stderr), APP_FAILED;
  while ((value = app_values(a, "set", opts.n_set)) != NULL) set[opts.n_set++] = value[0];
  opts.set = set;
  opts.without_meshes = 0;
  opts.allow_library = app_has(a, "allow-library");
  for (int j = 0; j < list->n && !code; j++) {
    app_by p = list->at[j];
    const ga_status status =
        ga_model_variation_create(r->s.ctx, r->s.model, a->operands[0], &opts, p.name, p.step, &p.variation);
    if (!status && (!list->all || fits(r, &p))) {
      list->at[n++] = p;
      continue;
    }
    ga_model_variation_destroy(&p.variation);
    if (list->all && status != GA_ERR_MEMORY) {
      leave_out(list, p.name);
      continue;
    }
    fprintf(stderr, "galpha sensitivity: %s\n", ga_context_error(r->s.ctx)->text);
    app_call_keep_error(r->s.ctx);
    code = APP_FAILED;
  }
  list->n = n;
  free(set);
  if (!code && n == 0)
    code = app_misused(a, "no parameter of the model can be changed by a little: %s", list->left);
  return code;
}

ga_status app_by_settle(void *list, ga_equilibrium *eq)
{
  const app_by_list *by = list;
  ga_status status = GA_OK;
  for (int j = 0; j < by->n && !status; j++) status = ga_model_variation_settle(by->at[j].variation, eq);
  return status;
}

ga_status app_by_check_span(const app_runner *r, const app_by_list *list)
{
  const ga_run_settings *o = &r->s.settings;
  ga_status status = GA_OK;
  for (int j = 0; j < list->n && !status; j++)
    status = ga_model_variation_check_span(list->at[j].variation, o->t_start, o->t_end);
  return status;
}

ga_status app_by_use_events(const app_runner *r, app_by_list *list, ga_sensitivity *se)
{
  ga_model_variation **variation = calloc((size_t)list->n + 1, sizeof *variation);
  if (!variation) return GA_ERR_MEMORY;
  for (int j = 0; j < list->n; j++) variation[j] = list->at[j].variation;
  ga_status status = ga_model_variation_events(r->s.ctx, r->s.machine, list->n, variation, &list->events);
  free(variation);
  if (status || !list->events) return status;
  const ga_event_rule rule = ga_event_variants_rule(list->events);
  return ga_sensitivity_use_events(se, &rule);
}

void app_by_warn(const app_by *by, double doubt)
{
  const double sure = 1e-8;
  const ga_parameter *p = ga_model_variation_parameter(by->variation);
  const int is_rounding = doubt < 2.0 * DBL_EPSILON * fabs(p->value) / p->step;
  if (doubt > sure)
    fprintf(stderr,
            "warning: derivatives by %s: differences of the equations have an estimated error of %.1e; a %s "
            "step, as "
            "%s:%.1g, reduces it\n",
            by->name, doubt, is_rounding ? "larger" : "smaller", by->name,
            is_rounding ? 1e-3 * fabs(p->value) : 0.2 * p->step);
}

void app_by_free(app_by_list *list)
{
  ga_event_variants_destroy(&list->events);
  for (int j = 0; list->at && j < list->n; j++) ga_model_variation_destroy(&list->at[j].variation);
  free(list->at);
}

void app_derivative_unit(ga_context *ctx, const char *signal, const char *by, char out[APP_DERIVATIVE_UNIT])
{
  ga_dimension a = {{0}}, b = {{0}};
  double one;
  char text[GA_PARAMETER_UNIT + 8];
  if (*signal && strcmp(signal, "1") != 0) {
    snprintf(text, sizeof text, "1 %s", signal);
    if (ga_quantity_parse(ctx, text, NULL, &one, &a, NULL)) a = (ga_dimension){{0}};
  }
  if (strcmp(by, "1") != 0) {
    snprintf(text, sizeof text, "1 %s", by);
    if (ga_quantity_parse(ctx, text, NULL, &one, &b, NULL)) b = (ga_dimension){{0}};
  }
  for (size_t i = 0; i < sizeof a.power / sizeof *a.power; i++)
    a.power[i] = (signed char)(a.power[i] - b.power[i]);
  ga_dimension_unit(out, APP_DERIVATIVE_UNIT, &a);
}
