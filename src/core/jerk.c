/* Rates of accelerations along the motion, and the resulting normal part of the velocity. */
#include "core/start.h"

#include <math.h>

#define JERK_STEP 0.05 /* [-] of h: distance of the differences for the jerk */

/* The current q advanced by a time e, q exp(e v + e²/2 vdot), and v, x by d: v + d vdot, x + d xdot. */
static void move_along(ga_stepper *st, double e, double d, double *q, double *v, double *x)
{
  const ga_system *sys = st->sys;
  const ga__state *f = &st->now;
  for (int i = 0; i < sys->nv; i++) {
    st->exponent[i] = e * f->v[i] + 0.5 * e * e * f->vdot[i];
    v[i] = f->v[i] + d * f->vdot[i];
  }
  ga_group_move(sys->group, q, f->q, st->exponent);
  for (int i = 0; i < sys->size[GA_BLOCK_X]; i++) x[i] = f->x[i] + d * f->xdot[i];
}

void ga__extrapolate_motion(ga_stepper *st, double t, double early, double *q, double *v, double *x)
{
  const double e = t - st->now.scalar[GA__T];
  if (e > 0.0) move_along(st, e, fmax(e - early, 0.0), q, v, x);
}

/* Accelerations, multipliers, outputs and rates at t + e along the motion, into next. */
static ga_status accelerations_along(ga_stepper *st, double e, ga__scratch scratch)
{
  const ga__state *now = &st->now;
  ga__state *next = &st->next;
  ga_start_change c = ga__start_no_change();
  ga__state_copy(st, next, now);
  move_along(st, e, e, next->q, next->v, next->x);
  next->scalar[GA__T] = now->scalar[GA__T] + e;
  return ga__accelerations(st, next, &c, scratch);
}

ga_status ga__change_along(ga_stepper *st, double e, double *dv, double *dx)
{
  const ga_status status = accelerations_along(st, e, ga__stack_begin(&st->scratch));
  for (int i = 0; !status && i < st->sys->nv; i++) dv[i] = st->next.vdot[i] - st->now.vdot[i];
  for (int i = 0; !status && i < st->sys->size[GA_BLOCK_X]; i++) dx[i] = st->next.xdot[i] - st->now.xdot[i];
  return status ? status : ga__stack_check(st->ctx, &st->scratch);
}

ga_status ga__start_compute_jerk(ga_stepper *st, double h, int forward, ga__scratch scratch)
{
  static const double at[2][2] = {{-1.0, 1.0}, {1.0, 2.0}}, weight[2][2] = {{-0.5, 0.5}, {2.0, -0.5}};
  const ga_system *sys = st->sys;
  const ga__state *now = &st->now, *next = &st->next;
  const struct {
    double *rate;
    const double *here, *there;
    int n;
  } list[] = {{st->jerk_v, now->vdot, next->vdot, sys->nv},
              {st->jerk_x, now->xdot, next->xdot, sys->size[GA_BLOCK_X]},
              {st->jerk_lambda, now->lambda, next->lambda, sys->size[GA_BLOCK_LAMBDA]},
              {st->jerk_psi, now->psi, next->psi, sys->size[GA_BLOCK_PSI]},
              {st->jerk_y, now->y, next->y, sys->size[GA_BLOCK_Y]}};
  enum { N_LIST = sizeof list / sizeof *list };
  const double s = JERK_STEP * h;
  for (int l = 0; l < N_LIST; l++)
    for (int i = 0; i < list[l].n; i++) list[l].rate[i] = forward ? -1.5 * list[l].here[i] / s : 0.0;
  for (int k = 0; k < 2; k++) {
    ga_status status = accelerations_along(st, at[forward][k] * s, scratch);
    if (status) return status;
    for (int l = 0; l < N_LIST; l++)
      for (int i = 0; i < list[l].n; i++) list[l].rate[i] += weight[forward][k] * list[l].there[i] / s;
  }
  return GA_OK;
}

static double length_of(const double *a, int n)
{
  const double most = ga__max_abs(a, n, NULL);
  double sum = 0.0;
  for (int i = 0; most > 0.0 && i < n; i++) sum += (a[i] / most) * (a[i] / most);
  return most * sqrt(sum);
}

/* A difference of accelerations for v + s w, q exp(s h w); s w is small against v, and against the change of
 * v within a step. */
ga_status ga__start_jerk_change(ga_stepper *st, double h, double *change, ga__scratch scratch)
{
  const int nv = st->sys->nv;
  const ga__state *now = &st->now;
  ga__state *next = &st->next;
  const double jerk = length_of(st->jerk_v, nv);
  const double speed = length_of(now->v, nv) + h * length_of(now->vdot, nv) + 1e-3 * h * h * jerk;
  ga_start_change c = ga__start_no_change();
  *change = 0.0;
  if (!(jerk > 0.0 && isfinite(jerk))) return GA_OK;
  const double s = 1e-3 * speed / jerk;
  ga__state_copy(st, next, now);
  for (int i = 0; i < nv; i++) {
    st->exponent[i] = s * h * st->jerk_v[i];
    next->v[i] += s * st->jerk_v[i];
  }
  ga_group_move(st->sys->group, next->q, now->q, st->exponent);
  const ga_status status = ga__accelerations(st, next, &c, scratch);
  if (status) return status;
  for (int i = 0; i < nv; i++) next->vdot[i] -= now->vdot[i];
  *change = h / s * length_of(next->vdot, nv) / jerk;
  return GA_OK;
}

ga_status ga__start_normal_offset(ga_stepper *st, double kappa_h2, double h2, double *out,
                                  ga__scratch scratch)
{
  const ga_system *sys = st->sys;
  const ga__state *f = &st->now;
  double *r = ga__take(&scratch, sys->nv);
  ga_point p = ga__state_point(f);
  ga_jacobian J = {GA_WANT_B, 0.0, 0.0, st->jacobian_D, st->jacobian_Q, st->jacobian_G};
  ga_status status = ga__jacobian(&st->deriv, &p, &J);
  if (status) return status;
  ga_group_bracket(sys->group, r, f->v, f->vdot);
  for (int i = 0; i < sys->nv; i++) r[i] = (st->commutes ? 0.0 : h2 * r[i] / 12.0) - kappa_h2 * st->jerk_v[i];
  for (int i = 0; i < sys->size[GA_BLOCK_LAMBDA]; i++) out[i] = 0.0;
  ga__b_mul(sys, out, st->jacobian_Q, r);
  return GA_OK;
}

ga_status ga__move_offset(ga_stepper *st, double d_kappa_h2, double d_h2, double *v, ga__scratch scratch)
{
  const ga_system *sys = st->sys;
  const double *scalar = st->now.scalar,
               h = scalar[GA__H_OLD] > 0.0 ? scalar[GA__H_OLD] : scalar[GA__H_START];
  ga_point p = ga__state_point(&st->now);
  ga_status status = ga__start_compute_jerk(st, h, 0, scratch);
  if (!status) status = ga__start_normal_offset(st, d_kappa_h2, d_h2, st->offset, scratch);
  if (!status) status = ga__saddle_at(st, &p, 0);
  if (status) return status;
  double *d = ga__take(&scratch, sys->n);
  for (int i = 0; i < sys->n; i++) d[i] = 0.0;
  for (int i = 0; i < sys->size[GA_BLOCK_LAMBDA]; i++) d[sys->start[GA_BLOCK_LAMBDA] + i] = st->offset[i];
  if ((status = ga__saddle_solve(&st->saddle, &st->red.null, d))) return status;
  for (int i = 0; i < sys->nv; i++) v[i] = st->now.v[i] + d[i];
  return GA_OK;
}
