#include <galpha/galpha.h>
#include <stdio.h>

typedef struct rod {            /* without mass, from the origin to a point mass */
  double mass, length, gravity; /* [kg] [m] [m/s²] */
} rod;

/* q = (x, y), v = (xdot, ydot) */
static int mass(void *user, const ga_point *p, double *out) /* M vdot */
{
  const rod *r = user;
  for (int i = 0; i < 2; i++) out[i] = r->mass * p->vdot[i];
  return 0;
}

static int force(void *user, const ga_point *p, double *out) /* f: gravity, and −Bᵀλ */
{
  const rod *r = user;
  out[0] = -p->q[0] * p->lambda[0];
  out[1] = -p->q[1] * p->lambda[0] - r->mass * r->gravity;
  return 0;
}

static int phi(void *user, const ga_point *p, double *out) /* Φ = (x² + y² − l²)/2, so B = (x, y) */
{
  const rod *r = user;
  out[0] = 0.5 * (p->q[0] * p->q[0] + p->q[1] * p->q[1] - r->length * r->length);
  return 0;
}

static int phi_dot(void *user, const ga_point *p, double *out) /* B v */
{
  (void)user;
  out[0] = p->q[0] * p->v[0] + p->q[1] * p->v[1];
  return 0;
}

static int show(void *user, const ga_stepper *st) /* called at the start and after every step */
{
  const ga_state *s = ga_stepper_state(st);
  long *n = user;
  if ((*n)++ % 250 == 0) printf("%6.2f %9.5f %9.5f %9.4f\n", s->t, s->q[0], s->q[1], s->lambda[0]);
  return 0;
}

int main(void)
{
  rod r = {1.0, 1.0, 9.81};
  const ga_factor plane = {GA_RN, 2, GA_LEFT};
  const double q0[] = {1.0, 0.0}, v0[] = {0.0, 0.0};
  long n = 0;
  ga_context *ctx = NULL;
  ga_system *sys = NULL;
  ga_stepper *st = NULL;
  ga_system_def def = ga_system_defaults();
  ga_start_opts start = ga_start_defaults();

  def.n_factors = 1, def.factors = &plane, def.n_lambda = 1, def.user = &r;
  def.mass = mass, def.force = force, def.phi = phi, def.phi_dot = phi_dot;
  start.h = 1e-3;
  ga_status status = ga_context_create(NULL, &ctx);
  if (!status) status = ga_system_create(ctx, &def, &sys);
  if (!status) status = ga_stepper_create(ctx, sys, NULL, &st); /* NULL: the default method */
  if (!status) status = ga_stepper_start(st, &start, 0.0, q0, v0, NULL, NULL, NULL, NULL);
  if (!status) puts("   t/s       x/m       y/m    lambda");
  if (!status) status = ga_stepper_run(st, start.h, 1000, show, &n);
  if (status) fprintf(stderr, "%s\n", ga_context_error(ctx)->text);
  ga_stepper_destroy(&st);
  ga_system_destroy(&sys);
  ga_context_destroy(&ctx);
  return status ? 1 : 0;
}
