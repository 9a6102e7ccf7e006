/* Dense output: the solution within the last step. */
#include "core/core_impl.h"

/* Cubic through (0, a), (1, b) with slopes da, db there, at s. */
static double hermite(double a, double da, double b, double db, double s)
{
  double u = 1.0 - s;
  return u * u * ((1.0 + 2.0 * s) * a + s * da) + s * s * ((3.0 - 2.0 * s) * b - u * db);
}

static void curve(double *out, const double *a, const double *da, const double *b, const double *db, int n,
                  double h, double s)
{
  for (int i = 0; out && i < n; i++) out[i] = hermite(a[i], h * da[i], b[i], h * db[i], s);
}

static void line(double *out, const double *a, const double *b, int n, double s)
{
  for (int i = 0; out && i < n; i++) out[i] = (1.0 - s) * a[i] + s * b[i];
}

/* q(s) = move(q_n, c(s)), c the cubic from 0, h v_n to d, h T⁻¹(d) v₁ where q₁ = move(q_n, d). */
static void configuration(ga_stepper *st, double *q, double h, double s)
{
  const ga_system *sys = st->sys;
  const ga_group *g = sys->group;
  const ga__full *n = &st->next, *m = &st->now;
  double *d = st->est_q, *slope = st->tmp;
  ga_group_difference(g, d, n->q, m->q);
  for (int i = 0; i < sys->nv; i++) slope[i] = h * m->v[i];
  ga_group_tangent_inverse(g, st->T, d);
  for (int b = 0, at = 0; b < ga_group_n_blocks(g); b++) {
    int start, size = ga_group_block(g, b, &start);
    for (int i = 0; i < size; i++) {
      double sum = 0.0;
      for (int j = 0; j < size; j++) sum += st->T[at + i * size + j] * m->v[start + j];
      slope[start + i] = h * sum;
    }
    at += size * size;
  }
  for (int i = 0; i < sys->nv; i++) d[i] = hermite(0.0, h * n->v[i], d[i], slope[i], s);
  ga_group_move(g, q, n->q, d);
}

ga_status ga_stepper_interpolate(ga_stepper *st, double t, double *q, double *v, double *vdot, double *lambda,
                                 double *psi, double *x, double *y)
{
  if (!st) return GA_ERR_ARGUMENT;
  if (!st->can_undo)
    return ga__fail(st->ctx, GA_ERR_ORDER, "ga_stepper_interpolate: it looks into a step just made");
  const ga__full *n = &st->next, *m = &st->now;
  const int *size = st->sys->size;
  double t0 = n->scalar[GA__T], t1 = m->scalar[GA__T], h = t1 - t0, s = (t - t0) / h;
  if (!(s >= -1e-9 && s <= 1.0 + 1e-9))
    return ga__fail_at(st->ctx, GA_ERR_ARGUMENT, t, -1, -1,
                       "ga_stepper_interpolate: t = %.9g is outside the last step, %.9g to %.9g", t, t0, t1);
  if (q) configuration(st, q, h, s);
  curve(v, n->v, n->vdot, m->v, m->vdot, st->sys->nv, h, s);
  curve(x, n->x, n->xdot, m->x, m->xdot, size[GA_BLOCK_X], h, s);
  line(vdot, n->vdot, m->vdot, st->sys->nv, s);
  line(lambda, n->lambda, m->lambda, size[GA_BLOCK_LAMBDA], s);
  line(psi, n->psi, m->psi, size[GA_BLOCK_PSI], s);
  line(y, n->y, m->y, size[GA_BLOCK_Y], s);
  return GA_OK;
}
