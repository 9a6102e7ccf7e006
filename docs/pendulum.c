#include <galpha/galpha.h>
#include <stdio.h>

static int mass(void *user, const ga_point *p, double *out) /* M vdot, M = 1 kg */
{
  out[0] = p->vdot[0], out[1] = p->vdot[1];
  return 0;
}
static int force(void *user, const ga_point *p, double *out) /* f: −Bᵀλ, and gravity */
{
  out[0] = -p->q[0] * p->lambda[0], out[1] = -p->q[1] * p->lambda[0] - 9.81;
  return 0;
}
static int phi(void *user, const ga_point *p, double *out) /* Φ, so that B = (x, y) */
{
  out[0] = 0.5 * (p->q[0] * p->q[0] + p->q[1] * p->q[1] - 1.0);
  return 0;
}
int main(void)
{
  const ga_factor plane = {GA_RN, 2, GA_LEFT}; /* q = (x, y) in R² */
  const double q0[] = {1.0, 0.0}, v0[] = {0.0, 0.0};
  ga_context *ctx = NULL;
  ga_system *sys = NULL;
  ga_stepper *st = NULL;
  ga_system_def def = ga_system_defaults();
  ga_start_opts start = ga_start_defaults();
  def.n_factors = 1, def.factors = &plane, def.n_lambda = 1;
  def.mass = mass, def.force = force, def.phi = phi;
  start.h = 1e-3;
  ga_status status = ga_context_create(NULL, &ctx);
  if (!status) status = ga_system_create(ctx, &def, &sys);
  if (!status) status = ga_stepper_create(ctx, sys, NULL, &st); /* NULL: the default method */
  if (!status) status = ga_stepper_start(st, &start, 0.0, q0, v0, NULL, NULL, NULL, NULL);
  for (int i = 0; i < 5 && !status; i++) {
    const ga_state *s = ga_stepper_state(st);
    printf("t %.2f s: x %8.5f m, y %8.5f m, force in the rod %7.4f N\n", s->t, s->q[0], s->q[1],
           s->lambda[0]);
    status = ga_stepper_run(st, start.h, 250, NULL, NULL);
  }
  if (status) fprintf(stderr, "%s\n", ga_context_error(ctx)->text);
  ga_stepper_destroy(&st);
  ga_system_destroy(&sys);
  ga_context_destroy(&ctx);
  return status ? 1 : 0;
}
