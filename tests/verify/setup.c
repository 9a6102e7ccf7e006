#include "verify.h"

#include <stdio.h>
#include <string.h>

ga_status vf_setup_create(vf_setup *s, const vf_case *c, const ex_problem *problem)
{
  ga_stepper_opts opts = ga_stepper_defaults();
  memset(s, 0, sizeof *s);
  s->c = c;
  s->problem = problem;
  s->def = ga_system_defaults();
  problem->define(&s->def);
  ga_status status = ga_context_create(NULL, &s->ctx);
  if (!status) status = ga_system_create(s->ctx, &s->def, &s->sys);
  if (!status)
    status = c->hht != 0 ? ga_scheme_hht(s->ctx, c->hht, &opts.scheme)
                         : ga_scheme_rho(s->ctx, c->rho, &opts.scheme);
  s->scheme = opts.scheme;
  opts.method = c->method;
  opts.commutator = c->commutator;
  opts.adjust = c->adjust;
  opts.move_offset = !c->fixed_offset;
  opts.mass_alpha = c->mass_alpha;
  opts.full_solve = c->full_solve;
  opts.order = c->collocation;
  opts.newton.tol = c->collocation ? 1e-15 : 1e-13; /* errors far below those of order 2 */
  opts.newton.max_iterations = 30;
  return status ? status : ga_stepper_create(s->ctx, s->sys, &opts, &s->st);
}

ga_status vf_setup_start(vf_setup *s, double h)
{
  const ex_problem *p = s->problem;
  ga_start_opts opts = ga_start_defaults();
  opts.h = h;
  opts.shift_a = s->c->start != VF_NAIVE;
  opts.perturb_v = s->c->start == VF_PERTURBED;
  return ga_stepper_start(s->st, &opts, 0, p->q0, p->v0, p->x0, p->lambda_guess, p->psi_guess, NULL);
}

void vf_setup_destroy(vf_setup *s)
{
  ga_stepper_destroy(&s->st);
  ga_system_destroy(&s->sys);
  ga_context_destroy(&s->ctx);
}

int vf_setup_fail(const vf_setup *s, const char *what, ga_status status, char *text, size_t size)
{
  const ga_error *e = s->ctx ? ga_context_error(s->ctx) : NULL;
  snprintf(text, size, "%s: %s (%s)", what, ga_status_text(status),
           e && e->status != GA_OK ? e->text : "no further message");
  return 1;
}
