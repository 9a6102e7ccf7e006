/* Report of a failed step: the equations with the largest residuals. */
#include "core/stepper.h"

#include <math.h>
#include <string.h>

void ga__failure_keep(ga_stepper *st, ga_status status)
{
  const ga_error *e = &st->ctx->error;
  st->tried = GA__FAILED;
  st->why = e->status == status ? *e : ga__error_none();
  st->why.status = status;
}

static int all_finite(const ga_system *sys, const ga__state *f)
{
  const struct {
    const double *a;
    int n;
  } all[] = {{f->q, sys->nq},
             {f->v, sys->nv},
             {f->vdot, sys->nv},
             {f->lambda, sys->size[GA_BLOCK_LAMBDA]},
             {f->psi, sys->size[GA_BLOCK_PSI]},
             {f->x, sys->size[GA_BLOCK_X]},
             {f->xdot, sys->size[GA_BLOCK_X]},
             {f->y, sys->size[GA_BLOCK_Y]}};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    if (ga__first_bad(all[i].a, all[i].n) >= 0) return 0;
  return 1;
}

/* Restores the last trial: the unknowns may have been updated since. Methods without vdot at the end of the
 * step use a₁. */
static int restore_trial(ga_stepper *st)
{
  st->family->trial(st);
  if (!st->method->vdot_at_end) memcpy(st->next.vdot, st->next.a, (size_t)st->sys->nv * sizeof(double));
  return all_finite(st->sys, &st->next);
}

/* out[nv] := residual of the dynamics, M vdot − f or that of the method; *size: of its terms. */
static ga_status dynamics(ga_stepper *st, const ga_point *p, double *out, double *size, ga__scratch scratch)
{
  const ga_system *sys = st->sys;
  double *force = ga__take(&scratch, sys->nv);
  ga_status status = ga__call(sys, GA__MASS, p, out);
  if (!status) status = ga__call(sys, GA__FORCE, p, force);
  if (status) return status;
  *size = 0.0;
  for (int i = 0; i < sys->nv; i++) {
    *size = fmax(*size, fmax(fabs(out[i]), fabs(force[i])));
    out[i] -= force[i];
  }
  if (st->method->vdot_at_end) return GA_OK;
  status = st->family->residual(st, scratch);
  st->stats.residuals--;
  for (int i = 0; !status && i < sys->nv; i++) out[i] = -st->r[i];
  return status;
}

/* Inserts the largest residual of a block into the sorted list. */
static void enter_residual(ga_step_failure *f, ga_equation_block block, const double *value, int n,
                           double scale)
{
  int index = 0, at = f->n;
  const double largest = ga__max_abs(value, n, &index);
  if (!(largest > 0.0)) return;
  for (; at > 0 && largest * scale > f->residual[at - 1].size; at--) f->residual[at] = f->residual[at - 1];
  f->residual[at] = (ga_residual){block, index, value[index], largest * scale};
  f->n++;
}

/* Residuals of positions are relative to q, rates to v, states to their change in a step, outputs to y:
 * each to 1 + the largest. */
static void measure(ga_stepper *st, ga_step_failure *f, ga__scratch scratch)
{
  const ga_system *sys = st->sys;
  const ga__state *next = &st->next;
  const int *n = sys->size;
  double *out = ga__take(&scratch, sys->n), terms = 0.0;
  ga_point p = ga__state_point(next);
  if (!dynamics(st, &p, out, &terms, scratch))
    enter_residual(f, GA_BLOCK_V, out, n[GA_BLOCK_V], 1.0 / fmax(terms, 1e-300));
  if (!ga__call(sys, GA__PHI, &p, out))
    enter_residual(f, GA_BLOCK_LAMBDA, out, n[GA_BLOCK_LAMBDA],
                   1.0 / (1.0 + ga__max_abs(next->q, sys->nq, NULL)));
  const double v = 1.0 + ga__max_abs(next->v, sys->nv, NULL);
  if (!ga__call(sys, GA__K, &p, out)) enter_residual(f, GA_BLOCK_PSI, out, n[GA_BLOCK_PSI], 1.0 / v);
  if (st->method->keeps_rates && n[GA_BLOCK_LAMBDA] && !ga__phi_dot(&st->deriv, &p, out))
    enter_residual(f, GA_BLOCK_ETA, out, n[GA_BLOCK_LAMBDA], 1.0 / v);
  if (!ga__call(sys, GA__STATE, &p, out)) {
    for (int i = 0; i < n[GA_BLOCK_X]; i++) out[i] = next->xdot[i] - out[i];
    enter_residual(f, GA_BLOCK_X, out, n[GA_BLOCK_X],
                   st->h / (1.0 + ga__max_abs(next->x, n[GA_BLOCK_X], NULL)));
  }
  if (!ga__call(sys, GA__OUTPUT, &p, out)) {
    for (int i = 0; i < n[GA_BLOCK_Y]; i++) out[i] = next->y[i] - out[i];
    enter_residual(f, GA_BLOCK_Y, out, n[GA_BLOCK_Y],
                   1.0 / (1.0 + ga__max_abs(next->y, n[GA_BLOCK_Y], NULL)));
  }
}

int ga_stepper_failure(ga_stepper *st, ga_step_failure *out)
{
  if (!st || !out || st->tried == GA__ACCEPTED) return 0;
  const ga_error error = st->ctx->error; /* the report must not change the error */
  const int failed = st->tried == GA__FAILED;
  const ga__state *next = &st->next;
  *out = (ga_step_failure){.error = failed ? st->why : ga__error_none()};
  out->status = out->error.status;
  out->t = st->now.scalar[GA__T];
  out->h = failed ? st->h : next->scalar[GA__T] - out->t;
  out->has_trial = failed ? restore_trial(st) : 1;
  out->trial = (ga_state){next->scalar[GA__T], next->q,   next->v, next->vdot, next->a, next->lambda,
                          next->psi,           next->eta, next->x, next->xdot, next->w, next->y};
  const int has_values = out->status == GA_RETRY_NEWTON || out->status == GA_RETRY_SINGULAR;
  if (failed && has_values && out->has_trial) measure(st, out, ga__stack_begin(&st->scratch));
  st->ctx->error = error;
  return 1;
}
