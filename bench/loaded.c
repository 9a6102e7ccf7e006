#include "loaded.h"

#include <math.h>
#include <string.h>

static double shape_of(int j, double t)
{
  return (1.0 + 0.1 * j) * cos(0.3 * j + t);
}

static int force(void *user, const ga_point *p, double *out)
{
  const loaded *l = user;
  const int code = l->inner.force(l->inner.user, p, out);
  if (l->which >= 0) out[l->which % l->nv] += l->p * shape_of(l->which, p->t);
  return code;
}

#define PASSED_ON(name, type, what)                                                                          \
  static int name(void *user, const ga_point *p, type *out)                                                  \
  {                                                                                                          \
    const loaded *l = user;                                                                                  \
    return l->inner.what(l->inner.user, p, out);                                                             \
  }
PASSED_ON(mass, double, mass)
PASSED_ON(phi, double, phi)
PASSED_ON(phi_dot, double, phi_dot)
PASSED_ON(phi_acc, double, phi_acc)
PASSED_ON(k, double, k)
PASSED_ON(k_acc, double, k_acc)
PASSED_ON(state, double, state)
PASSED_ON(output, double, output)
PASSED_ON(output_guess, double, output_guess)
PASSED_ON(jacobian, ga_jacobian, jacobian)
#undef PASSED_ON

void loaded_define(loaded *l, ga_system_def *def, int which, double p)
{
  l->inner = *def;
  l->which = which;
  l->p = p;
  def->user = l;
  def->sweep = NULL;
  if (def->mass) def->mass = mass;
  if (def->force) def->force = force;
  if (def->phi) def->phi = phi;
  if (def->phi_dot) def->phi_dot = phi_dot;
  if (def->phi_acc) def->phi_acc = phi_acc;
  if (def->k) def->k = k;
  if (def->k_acc) def->k_acc = k_acc;
  if (def->state) def->state = state;
  if (def->output) def->output = output;
  if (def->output_guess) def->output_guess = output_guess;
  if (def->jacobian) def->jacobian = jacobian;
}

int loaded_derivative(void *user, const ga_point *p, int parameter, ga_parameter_rates *out)
{
  const loaded *l = user;
  if (out->residual) out->residual[parameter % l->nv] = -shape_of(parameter, p->t);
  return 0;
}

int loaded_pullback(void *user, const ga_pullback *by, double *gradient)
{
  const loaded *l = user;
  for (int j = 0; j < LOADED_PARAMETERS; j++)
    gradient[j] -= by->residual[j % l->nv] * shape_of(j, by->end->t);
  return 0;
}

/* ---- Runs ---------------------------------------------------------------------------------------------- */

ga_status loaded_open(loaded_task *t, const ex_problem *problem, double step)
{
  memset(t, 0, sizeof *t);
  t->problem = problem;
  ga_status status = ga_context_create(NULL, &t->ctx);
  for (int j = -1; j < LOADED_PARAMETERS && !status; j++)
    for (int m = 0; m < (j < 0 ? 1 : GA_PARAMETER_VALUES) && !status; m++) {
      loaded *l = j < 0 ? &t->own : &t->load[j][m];
      ga_system_def def = ga_system_defaults();
      problem->define(&def);
      loaded_define(l, &def, j, (m < 2 ? m - 2 : m - 1) * step);
      status = ga_system_create(t->ctx, &def, j < 0 ? &t->sys : &t->at[j][m]);
      if (status) break;
      l->nv = ga_system_size(t->sys, GA_BLOCK_V);
      if (j < 0) continue;
      t->list[j].at[m].sys = t->at[j][m];
      t->list[j].step = step;
    }
  return status;
}

void loaded_close(loaded_task *t)
{
  for (int j = 0; j < LOADED_PARAMETERS; j++)
    for (int m = 0; m < GA_PARAMETER_VALUES; m++) ga_system_destroy(&t->at[j][m]);
  ga_system_destroy(&t->sys);
  ga_context_destroy(&t->ctx);
}

typedef struct running { /* one run, and what goes along with it */
  ga_stepper *st;
  ga_simulator *sim; /* NULL: equal steps */
  ga_sensitivity *se;
  ga_adjoint *adjoint;
  long taken;
  int last_alone;
} running;

static int seed(void *user, long step, const ga_state *s, ga_seed *out)
{
  const running *r = user;
  if (!r->last_alone)
    out->v[0] += s->v[0];
  else if (step == r->taken)
    out->q[0] += 1.0;
  return 0;
}

static ga_status running_create(running *r, loaded_task *t, const loaded_run *run)
{
  const int forward = run->kind == LOADED_FORWARD || run->kind == LOADED_FORWARD_EXACT;
  const int adjoint = run->kind == LOADED_ADJOINT || run->kind == LOADED_ADJOINT_PULLED;
  ga_adjoint_opts way_back = ga_adjoint_defaults();
  ga_stepper_opts opts = ga_stepper_defaults();
  ga_simulate_opts control = ga_simulate_defaults();
  opts.method = run->method;
  for (int j = 0; j < run->n; j++) {
    t->list[j].derivative = run->kind == LOADED_FORWARD_EXACT ? loaded_derivative : NULL;
    t->list[j].user = &t->own;
  }
  if (run->kind == LOADED_ADJOINT_PULLED) way_back.pullback = loaded_pullback, way_back.user = &t->own;
  control.t_end = run->t_end;
  control.rtol = control.rtol_v = control.rtol_x = control.atol = control.atol_v = control.atol_x = run->tol;
  *r = (running){.last_alone = run->last_alone};
  ga_status status = ga_scheme_rho(t->ctx, t->problem->rho, &opts.scheme);
  if (!status) status = ga_stepper_create(t->ctx, t->sys, &opts, &r->st);
  if (!status && run->steps == 0) status = ga_simulator_create(t->ctx, r->st, &control, &r->sim);
  if (!status && forward) status = ga_sensitivity_create(t->ctx, r->st, run->n, t->list, &r->se);
  if (!status && adjoint) status = ga_adjoint_create(t->ctx, r->st, run->n, t->list, &way_back, &r->adjoint);
  return status;
}

static ga_status running_start(running *r, const ex_problem *x, double h)
{
  ga_start_opts o = ga_start_defaults();
  o.h = h;
  ga_status status =
      r->sim ? ga_simulator_start(r->sim, NULL, 0.0, x->q0, x->v0, x->x0, x->lambda_guess, x->psi_guess, NULL)
             : ga_stepper_start(r->st, &o, 0.0, x->q0, x->v0, x->x0, x->lambda_guess, x->psi_guess, NULL);
  if (!status && r->se) status = ga_sensitivity_begin(r->se);
  if (!status && r->adjoint) status = ga_adjoint_begin(r->adjoint);
  return status;
}

static ga_status running_finish(running *r, const loaded_run *run, double h)
{
  ga_status status = GA_OK;
  while (!status && (r->sim ? !ga_simulator_finished(r->sim) : r->taken < run->steps)) {
    status = r->sim ? ga_simulator_step(r->sim) : ga_stepper_step(r->st, h);
    if (status == GA_STOPPED && ga_simulator_finished(r->sim)) status = GA_OK; /* by the last step */
    if (!status && r->se) status = ga_sensitivity_step(r->se);
    if (!status && r->adjoint) status = ga_adjoint_step(r->adjoint);
    r->taken++;
  }
  return status;
}

ga_status loaded_measure(loaded_task *t, const loaded_run *run, double *slope, double *gradient,
                         ga_stats *stats)
{
  running r;
  double own[LOADED_PARAMETERS];
  const int nv = ga_system_size(t->sys, GA_BLOCK_V);
  const double h = run->steps > 0 ? run->t_end / (double)run->steps : 0.0;
  ga_status status = running_create(&r, t, run);
  if (!status) status = running_start(&r, t->problem, h);
  if (!status) status = running_finish(&r, run, h);
  if (!status && r.adjoint) status = ga_adjoint_gradient(r.adjoint, seed, &r, gradient ? gradient : own);
  for (int j = 0; j < run->n && !status && r.se && slope; j++)
    memcpy(slope + j * nv, ga_sensitivity_at(r.se, j)->q, (size_t)nv * sizeof *slope);
  if (!status && stats) *stats = *ga_stepper_stats(r.st);
  ga_adjoint_destroy(&r.adjoint);
  ga_sensitivity_destroy(&r.se);
  ga_simulator_destroy(&r.sim);
  ga_stepper_destroy(&r.st);
  return status;
}
