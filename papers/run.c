#include "run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int pp_run_fail(pp_run *r, const char *what, ga_status status)
{
  const ga_error *e = r->ctx ? ga_context_error(r->ctx) : NULL;
  snprintf(r->failure, r->failure_size, "%s, %s: %s (%s)", r->s->label, what, ga_status_text(status),
           e && e->status != GA_OK ? e->text : "no further message");
  return 1;
}

static int complain(pp_run *r, const char *what, const char *name)
{
  snprintf(r->failure, r->failure_size, "%s: %s \"%s\"", r->s->label, what, name);
  return 1;
}

/* ---- What is run ---- */

static int open_model(pp_run *r, const char *models)
{
  char path[1024];
  ga_model_opts o = ga_model_defaults();
  snprintf(path, sizeof path, "%s/%s", models, r->s->model);
  o.form = &r->s->form;
  o.set = &r->s->set;
  o.n_set = r->s->set != NULL;
  const ga_status status = ga_model_read_file(r->ctx, path, &o, &r->model);
  if (status && r->model && ga_model_n_messages(r->model) > 0) {
    const ga_model_message *m = ga_model_message_at(r->model, 0);
    snprintf(r->failure, r->failure_size, "%s:%d:%d: %s", m->file, m->line, m->column, m->text);
    return 1;
  }
  if (status) return pp_run_fail(r, path, status);
  r->machine = ga_model_machine(r->model);
  r->sys = ga_machine_system(r->machine);
  return 0;
}

static int open_problem(pp_run *r)
{
  ga_system_def def = ga_system_defaults();
  if (!r->problem) return complain(r, "there is no problem", r->s->problem ? r->s->problem : "");
  r->problem->define(&def);
  const ga_status status = ga_system_create(r->ctx, &def, &r->own);
  r->sys = r->own;
  return status ? pp_run_fail(r, "system", status) : 0;
}

/* The components of a quantity: signals of a machine, or a part of the state. */
static int find_signals(pp_run *r, int quantity)
{
  const pp_quantity *q = &r->f->quantities[quantity];
  int *n = &r->n_components[quantity];
  if (!r->machine || !q->signals) {
    *n = q->count ? q->count : 1;
    return r->machine ? complain(r, "no signals are given for", q->label) : 0;
  }
  for (const char *at = q->signals; *at; at += strspn(at, " ")) {
    char name[64];
    const int minus = *at == '-';
    const size_t length = strcspn(at, " ");
    snprintf(name, sizeof name, "%.*s", (int)length - minus, at + minus);
    if (*n == PP_COMPONENTS) return complain(r, "too many signals in", q->signals);
    r->sign[quantity][*n] = minus ? -1.0 : 1.0;
    if ((r->signal[quantity][*n] = ga_machine_find_signal(r->machine, name)) < 0)
      return complain(r, "there is no signal", name);
    ++*n;
    at += length;
  }
  return 0;
}

/* ---- Start ---- */

static int create_stepper(pp_run *r, double h)
{
  ga_stepper_opts o;
  char text[PP_TEXT] = "";
  r->settings = ga_run_defaults();
  r->settings.newton_tolerance = 1e-13;
  r->settings.newton_iterations = 30;
  r->settings.t_end = r->f->t_end;
  if (pp_settings_read(r->s->settings, &r->settings, text, sizeof text))
    return complain(r, text, r->s->settings);
  r->settings.step = h;
  r->settings.accuracy = 0.0;
  r->settings.accuracy_by_default = 0;
  ga_status status = ga_run_stepper_opts(r->ctx, &r->settings, &o);
  r->scheme = o.scheme;
  if (!status) status = ga_stepper_create(r->ctx, r->sys, &o, &r->st);
  if (status || !r->s->simulated) return status ? pp_run_fail(r, "method", status) : 0;
  ga_simulate_opts simulate = ga_simulate_defaults();
  status = ga_run_simulate_opts(r->ctx, &r->settings, &simulate);
  if (!status) status = ga_simulator_create(r->ctx, r->st, &simulate, &r->sim);
  return status ? pp_run_fail(r, "simulation", status) : 0;
}

static int start(pp_run *r, double h)
{
  ga_start_opts o = ga_run_start_opts(&r->settings);
  const size_t nq = (size_t)ga_group_nq(ga_system_group(r->sys)),
               nv = (size_t)ga_system_size(r->sys, GA_BLOCK_V);
  const size_t nx = (size_t)ga_system_size(r->sys, GA_BLOCK_X);
  const ex_problem *p = r->problem;
  double *q = calloc(nq + nv + nx + 1, sizeof *q);
  ga_status status = q ? GA_OK : GA_ERR_MEMORY;
  o.h = h;
  if (q && r->machine) {
    status = ga_machine_initial(r->machine, q, q + nq, q + nq + nv);
  } else if (q) {
    memcpy(q, p->q0, nq * sizeof *q);
    memcpy(q + nq, p->v0, nv * sizeof *q);
    if (p->x0) memcpy(q + nq + nv, p->x0, nx * sizeof *q);
  }
  const double *lambda = r->machine ? NULL : p->lambda_guess, *psi = r->machine ? NULL : p->psi_guess;
  if (!status && r->sim)
    status = ga_simulator_start(r->sim, &o, 0.0, q, q + nq, q + nq + nv, lambda, psi, NULL);
  else if (!status)
    status = ga_stepper_start(r->st, &o, 0.0, q, q + nq, q + nq + nv, lambda, psi, NULL);
  free(q);
  if (status) return pp_run_fail(r, "start", status);
  if (p && p->energy && !r->machine) r->energy_start = p->energy(ga_stepper_state(r->st));
  return 0;
}

int pp_run_open(pp_run *r, const char *models, double h)
{
  r->problem = r->s->problem ? ex_problem_find(r->s->problem) : NULL;
  if (r->s->problem && !r->problem) return complain(r, "there is no problem", r->s->problem);
  if (ga_context_create(NULL, &r->ctx)) return complain(r, "out of memory", "");
  if (r->s->model ? open_model(r, models) : open_problem(r)) return 1;
  for (int i = 0; i < pp_count_quantities(r->f); i++)
    if (find_signals(r, i)) return 1;
  return create_stepper(r, h) || start(r, r->s->split > 0.0 ? 2.0 * r->s->split * h : h);
}

void pp_run_close(pp_run *r)
{
  ga_simulator_destroy(&r->sim);
  ga_stepper_destroy(&r->st);
  ga_system_destroy(&r->own);
  ga_model_destroy(&r->model);
  ga_context_destroy(&r->ctx);
}

/* ---- Steps and values ---- */

static int project_once(pp_run *r)
{
  const double at = r->s->project_at;
  if (r->projected || !(at > 0.0) || ga_stepper_state(r->st)->t < at * (1.0 - 1e-9)) return 0;
  r->projected = 1;
  const ga_status status = ga_stepper_project_velocity(r->st, r->s->projection, NULL);
  return status ? pp_run_fail(r, "velocity projection", status) : 0;
}

int pp_run_step(pp_run *r, double h, long k)
{
  const double split = r->s->split;
  const double t = ga_stepper_state(r->st)->t;
  ga_status status;
  if (r->sim) {
    status = ga_simulator_step(r->sim);
    if (status == GA_STOPPED && ga_simulator_finished(r->sim)) status = GA_OK;
    r->last_h = ga_stepper_state(r->st)->t - t;
  } else {
    r->last_h = split > 0.0 ? 2.0 * h * (k % 2 ? 1.0 - split : split) : h;
    status = ga_stepper_step(r->st, r->last_h);
  }
  return status ? pp_run_fail(r, "step", status) : project_once(r);
}

int pp_run_values(pp_run *r, int quantity, double out[PP_COMPONENTS])
{
  const pp_quantity *q = &r->f->quantities[quantity];
  const ga_state *s = ga_stepper_state(r->st);
  const int n = r->n_components[quantity];
  if (r->machine) {
    const ga_status status = ga_machine_signals(r->machine, NULL, s, n, r->signal[quantity], out);
    for (int i = 0; i < n && !status; i++) out[i] *= r->sign[quantity][i];
    return status ? -pp_run_fail(r, q->signals, status) : n;
  }
  if (q->block == PP_ENERGY) return out[0] = r->problem->energy(s) - r->energy_start, 1;
  const double *const from[] = {s->q, s->v, s->vdot, s->lambda, s->psi, s->x, s->y, s->a};
  if (q->block > PP_A) return complain(r, "no reference has", q->label), -1;
  memcpy(out, from[q->block] + q->first, (size_t)n * sizeof *out);
  return n;
}

int pp_point_values(const pp_run *r, int quantity, const ga_point *p, double out[PP_COMPONENTS])
{
  const pp_quantity *q = &r->f->quantities[quantity];
  const int n = r->n_components[quantity];
  if (q->block > PP_A) return memset(out, 0, PP_COMPONENTS * sizeof *out), 0;
  const double *const from[] = {p->q, p->v, p->vdot, p->lambda, p->psi, p->x, p->y, p->vdot};
  memcpy(out, from[q->block] + q->first, (size_t)n * sizeof *out);
  return n;
}
