#include <galpha/galpha.h>
#include <math.h>
#include <stdio.h>

/* A mass of 1 kg on a massless rod of 1 m, q = (x, y), beside a wall at x = −0.3 m. */
static int mass(void *user, const ga_point *p, double *out) /* M vdot */
{
  (void)user;
  for (int i = 0; i < 2; i++) out[i] = p->vdot[i];
  return 0;
}

static int force(void *user, const ga_point *p, double *out) /* f: gravity, and −Bᵀλ */
{
  (void)user;
  out[0] = -p->q[0] * p->lambda[0];
  out[1] = -p->q[1] * p->lambda[0] - 9.81;
  return 0;
}

static int phi(void *user, const ga_point *p, double *out) /* Φ = (x² + y² − 1)/2, so B = (x, y) */
{
  (void)user;
  out[0] = 0.5 * (p->q[0] * p->q[0] + p->q[1] * p->q[1] - 1.0);
  return 0;
}

static int phi_dot(void *user, const ga_point *p, double *out) /* B v */
{
  (void)user;
  out[0] = p->q[0] * p->v[0] + p->q[1] * p->v[1];
  return 0;
}

static int distance(void *user, const ga_point *p, double *out) /* one number for every event */
{
  (void)user;
  out[0] = p->q[0] + 0.3;
  return 0;
}

static int impact(void *user, int event, const ga_state *s, double *q, double *v, double *x)
{
  (void)user, (void)event, (void)q, (void)x;
  printf("%6.3f   impact at %.3f m/s\n", s->t, hypot(s->v[0], s->v[1]));
  for (int i = 0; i < 2; i++) v[i] *= -0.8; /* thrown back with 0.8 of the speed, along the rod's circle */
  return 0;                                 /* go on */
}

static int show(void *user, const ga_state *s)
{
  (void)user;
  printf("%6.3f %8.3f %8.3f %8.3f\n", s->t, s->q[0], s->q[1], s->lambda[0]);
  return 0;
}

int main(void)
{
  const ga_factor plane = {GA_RN, 2, GA_LEFT};
  const ga_event wall = {-1, GA_EVENT_RESTART}; /* where the distance falls through 0 */
  const double q0[] = {0.6, -0.8}, v0[] = {0.0, 0.0};
  ga_context *ctx = NULL;
  ga_system *sys = NULL;
  ga_stepper *st = NULL;
  ga_simulator *sim = NULL;
  ga_system_def def = ga_system_defaults();
  ga_simulate_opts opts = ga_simulate_defaults();

  def.n_factors = 1, def.factors = &plane, def.n_lambda = 1;
  def.mass = mass, def.force = force, def.phi = phi, def.phi_dot = phi_dot;
  opts.t_end = 4.0, opts.rtol = 1e-7, opts.atol = 1e-9;
  opts.output_every = 0.5, opts.output = show;
  opts.n_events = 1, opts.events = &wall, opts.event_function = distance, opts.on_event = impact;
  ga_status status = ga_context_create(NULL, &ctx);
  if (!status) status = ga_system_create(ctx, &def, &sys);
  if (!status) status = ga_stepper_create(ctx, sys, NULL, &st);
  if (!status) status = ga_simulator_create(ctx, st, &opts, &sim);
  if (!status) puts("   t/s      x/m      y/m   lambda");
  if (!status) status = ga_simulator_start(sim, NULL, 0.0, q0, v0, NULL, NULL, NULL, NULL);
  if (!status) status = ga_simulator_run(sim);
  if (status) fprintf(stderr, "%s\n", ga_context_error(ctx)->text);
  ga_simulator_destroy(&sim);
  ga_stepper_destroy(&st);
  ga_system_destroy(&sys);
  ga_context_destroy(&ctx);
  return status ? 1 : 0;
}
