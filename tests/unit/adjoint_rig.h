/* The adjoint of runs beside their forward derivatives: numbers that all of the state at all ends of steps,
 * and within them, adds to. */
#ifndef ADJOINT_RIG_H
#define ADJOINT_RIG_H

#include "sensitivity_rig.h"

/* J = Σ over steps of c(step)·(all of the state), c arbitrary. */
static double factor_of(long step, int block, int i)
{
  return step % 3 == 2 ? 0.0 : sin(1.0 + 0.7 * (double)step + 2.1 * block + 0.3 * i);
}

static int seed(void *user, long step, const ga_state *s, ga_seed *out)
{
  const ga_system *sys = user;
  const int nv = sys->nv, *size = sys->size, n[] = {nv, nv, nv, size[1], size[2], size[3], size[4]};
  double *to[] = {out->q, out->v, out->vdot, out->lambda, out->psi, out->x, out->y};
  (void)s;
  for (int b = 0; b < 7; b++)
    for (int i = 0; i < n[b]; i++) to[b][i] += factor_of(step, b, i);
  return 0;
}

static void add_forward(const study *s, long step, double *gradient, double *size)
{
  const ga_system *sys = s->r.st->sys;
  const int nv = sys->nv, *m = sys->size, n[] = {nv, nv, nv, m[1], m[2], m[3], m[4]};
  for (int j = 0; j < N_ALL; j++) {
    const ga_state *d = ga_sensitivity_at(s->se, j);
    const double *x[] = {d->q, d->v, d->vdot, d->lambda, d->psi, d->x, d->y};
    for (int b = 0; b < 7; b++)
      for (int i = 0; i < n[b]; i++) {
        gradient[j] += factor_of(step, b, i) * x[b][i];
        size[j] += fabs(factor_of(step, b, i) * x[b][i]);
      }
  }
}

/* All steps are kept, some of them, or none. */
static ga_adjoint_opts adjoint_of(int interval)
{
  return (ga_adjoint_opts){.interval = interval, .memory = interval >= 100 ? 64e6 : interval > 4 ? 2e4 : 0.0};
}

/* Both begin at the start of the course. */
static void begin_both(study *s, const course *c, int interval, ga_adjoint **adjoint)
{
  const ga_adjoint_opts opts = adjoint_of(interval);
  const ga_start_opts o = start_of(c);
  study_open(s, c);
  const ex_problem *x = s->r.problem;
  assert_status(s->r.ctx, ga_adjoint_create(s->r.ctx, s->r.st, N_ALL, s->parameter, &opts, adjoint), GA_OK);
  assert_status(
      s->r.ctx,
      ga_sensitivity_start(s->se, &o, 0.0, s->at.q, s->at.v, s->at.x, x->lambda_guess, x->psi_guess, NULL),
      GA_OK);
  assert_status(s->r.ctx, ga_adjoint_begin(*adjoint), GA_OK);
}

static void compare_adjoint(const course *c, int interval, double most)
{
  static study s;
  ga_adjoint *adjoint = NULL;
  double forward[N_ALL] = {0}, size[N_ALL] = {0}, gradient[N_ALL], again[N_ALL];
  begin_both(&s, c, interval, &adjoint);
  add_forward(&s, 0, forward, size);
  for (int i = 0; i < c->n; i++) {
    take_step(c, s.r.st, i);
    assert_status(s.r.ctx, ga_sensitivity_step(s.se), GA_OK);
    assert_status(s.r.ctx, ga_adjoint_step(adjoint), GA_OK);
    add_forward(&s, i + 1, forward, size);
  }
  assert_status(s.r.ctx, ga_adjoint_gradient(adjoint, seed, (void *)s.r.st->sys, gradient), GA_OK);
  assert_status(s.r.ctx, ga_adjoint_gradient(adjoint, seed, (void *)s.r.st->sys, again), GA_OK);
  for (int j = 0; j < N_ALL; j++) {
    const double off = fabs(gradient[j] - forward[j]) / (size[j] > 0.0 ? size[j] : 1.0);
    if (show)
      printf("# adjoint of %s, method %d, order %d, by %d: %.1e\n", c->problem, (int)c->method, c->order, j,
             off);
    if (!show && !(off <= most))
      fail_msg("%s, method %d, order %d, parameter %d: %.15g backwards, %.15g forwards, off by %.1e",
               c->problem, (int)c->method, c->order, j, gradient[j], forward[j], off);
    assert_true(gradient[j] == again[j]);
  }
  ga_adjoint_destroy(&adjoint);
  assert_null(adjoint);
  study_close(&s);
}

/* -- The same of dense output: all of the state at three times within every step -- */

static const double WITHIN[] = {0.3, 0.85, 1.0};
enum { N_WITHIN = sizeof WITHIN / sizeof *WITHIN };

typedef struct dense_sum {
  const ga_system *sys;
  ga_adjoint *adjoint;
  const course *c;
  int k;
} dense_sum;

static int seed_at(void *user, long step, const ga_state *s, ga_seed *out)
{
  const dense_sum *w = user;
  return seed((void *)w->sys, 3 * step + w->k, s, out);
}

static int seed_within(void *user, long step, const ga_state *s, ga_seed *out)
{
  dense_sum *w = user;
  (void)out;
  for (w->k = 0; step > 0 && w->k < N_WITHIN; w->k++) {
    const double h = step_of(w->c, (int)step - 1);
    if (ga_adjoint_inside(w->adjoint, s->t - (1.0 - WITHIN[w->k]) * h, seed_at, w)) return -1;
  }
  return 0;
}

static void add_forward_within(study *s, long step, double h, double *gradient, double *size)
{
  const ga_system *sys = s->r.st->sys;
  const double t = ga_stepper_state(s->r.st)->t;
  const int nv = sys->nv, *m = sys->size, n[] = {nv, nv, nv, m[1], m[2], m[3], m[4]};
  for (int k = 0; k < N_WITHIN; k++)
    for (int j = 0; j < N_ALL; j++) {
      const ga_state *d = NULL;
      assert_status(s->r.ctx, ga_sensitivity_inside(s->se, j, t - (1.0 - WITHIN[k]) * h, &d), GA_OK);
      const double *x[] = {d->q, d->v, d->vdot, d->lambda, d->psi, d->x, d->y};
      for (int b = 0; b < 7; b++)
        for (int i = 0; i < n[b]; i++) {
          gradient[j] += factor_of(3 * step + k, b, i) * x[b][i];
          size[j] += fabs(factor_of(3 * step + k, b, i) * x[b][i]);
        }
    }
}

static void compare_within(const course *c, int interval, double most)
{
  static study s;
  ga_adjoint *adjoint = NULL;
  double forward[N_ALL] = {0}, size[N_ALL] = {0}, gradient[N_ALL];
  begin_both(&s, c, interval, &adjoint);
  for (int i = 0; i < c->n; i++) {
    take_step(c, s.r.st, i);
    assert_status(s.r.ctx, ga_sensitivity_step(s.se), GA_OK);
    assert_status(s.r.ctx, ga_adjoint_step(adjoint), GA_OK);
    add_forward_within(&s, i + 1, step_of(c, i), forward, size);
  }
  dense_sum w = {s.r.st->sys, adjoint, c, 0};
  assert_status(s.r.ctx, ga_adjoint_inside(adjoint, 0.0, seed_at, &w), GA_ERR_ORDER);
  assert_status(s.r.ctx, ga_adjoint_gradient(adjoint, seed_within, &w, gradient), GA_OK);
  for (int j = 0; j < N_ALL; j++) {
    const double off = fabs(gradient[j] - forward[j]) / (size[j] > 0.0 ? size[j] : 1.0);
    if (show)
      printf("# within steps of %s, method %d, order %d, by %d: %.1e\n", c->problem, (int)c->method, c->order,
             j, off);
    if (!show && !(off <= most))
      fail_msg("%s, method %d, order %d, parameter %d: %.15g backwards, %.15g forwards, off by %.1e",
               c->problem, (int)c->method, c->order, j, gradient[j], forward[j], off);
  }
  ga_adjoint_destroy(&adjoint);
  study_close(&s);
}

#endif
