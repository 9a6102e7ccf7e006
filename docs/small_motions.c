#include <galpha/galpha.h>
#include <math.h>
#include <stdio.h>

static const double g = 9.81, length = 0.8, damping = 0.3; /* a mass of 1 kg on a rod, in oil */

static int mass(void *user, const ga_point *p, double *out)
{
  out[0] = p->vdot[0], out[1] = p->vdot[1];
  return 0;
}
static int force(void *user, const ga_point *p, double *out)
{
  out[0] = -damping * p->v[0] - p->q[0] * p->lambda[0];
  out[1] = -damping * p->v[1] - p->q[1] * p->lambda[0] - g;
  return 0;
}
static int phi(void *user, const ga_point *p, double *out)
{
  out[0] = 0.5 * (p->q[0] * p->q[0] + p->q[1] * p->q[1] - length * length);
  return 0;
}
/* Eigenvalues of the 2 × 2 matrix A, by its trace and determinant. */
static void print_motion(const ga_linear_form *f)
{
  const double trace = f->A[0] + f->A[3], det = f->A[0] * f->A[3] - f->A[1] * f->A[2];
  printf("free positions %d, free velocities %d; residual below 1e-9: %s\n", f->n_q, f->n_v,
         f->residual < 1e-9 ? "yes" : "no");
  printf("eigenvalues %.6f +- %.6f i 1/s\n", trace / 2, sqrt(det - trace * trace / 4));
}
/* How far does a force F along x push the mass? r(u, F) = 0 with u = (x, y, λ), so that J du + r_F dF = 0,
 * and with Jᵀ z = (1, 0, 0), which picks x, dx/dF = −zᵀ r_F. Here r_F = (−1, 0, 0). */
static ga_status print_compliance(ga_context *ctx, ga_evaluation *ev, const ga_point *p)
{
  ga_lu *lu = NULL;
  double z[3] = {1.0, 0.0, 0.0};
  ga_status status = ga_evaluation_jacobian(ev, p);
  if (!status) status = ga_lu_create(ctx, ga_evaluation_combine(ev, 1.0, 0.0, 0.0, 0.0), GA_LU_AUTO, &lu);
  if (!status) status = ga_lu_factor(lu);
  if (!status) status = ga_lu_solve_t(lu, z);
  if (!status) printf("dx/dF %.6f m/N\n", z[0]);
  ga_lu_destroy(&lu);
  return status;
}
int main(void)
{
  const ga_factor plane = {GA_RN, 2, GA_LEFT};
  const double q[] = {0.0, -length}, zero[] = {0.0, 0.0}, lambda = g / length; /* at rest, hanging */
  const ga_point p = {0.0, q, zero, zero, &lambda, zero, zero, zero, 0, NULL};
  ga_context *ctx = NULL;
  ga_system *sys = NULL;
  ga_evaluation *ev = NULL;
  ga_linearisation *lin = NULL;
  const ga_linear_form *form = NULL;
  ga_system_def def = ga_system_defaults();
  def.n_factors = 1, def.factors = &plane, def.n_lambda = 1;
  def.mass = mass, def.force = force, def.phi = phi;
  ga_status status = ga_context_create(NULL, &ctx);
  if (!status) status = ga_system_create(ctx, &def, &sys);
  if (!status) status = ga_evaluation_create(ctx, sys, &ev);
  if (!status) status = ga_linearisation_create(ctx, sys, &lin);
  if (!status) status = ga_linearisation_compute(lin, &p, &form);
  if (!status) print_motion(form);
  if (!status) status = print_compliance(ctx, ev, &p);
  if (status) fprintf(stderr, "%s\n", ga_context_error(ctx)->text);
  ga_linearisation_destroy(&lin);
  ga_evaluation_destroy(&ev);
  ga_system_destroy(&sys);
  ga_context_destroy(&ctx);
  return status ? 1 : 0;
}
