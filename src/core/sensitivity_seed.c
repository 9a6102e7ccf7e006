/* Seeds within a step: derivatives of a number by a state of dense output become those by the states at both
 * ends of the step, the transpose of sensitivity_inside.c.
 *
 *   q(t) = move(q_n, c)   c = k₁ h v_n + k₂ d + k₃ h w   w = T⁻¹(d) v₁   q₁ = move(q_n, d)
 *   δq(t) = δq_n + T(c)(δc − [c, δq_n])   δd = T⁻¹(d)(δq₁ − δq_n) + [d, δq_n]
 *
 * D(T⁻¹(d) v₁) is differenced to order 4, by one component of all rotations at a time. */
#include "core/sensitivity.h"

#include "core/arrays.h"

#include <math.h>
#include <string.h>

ga_status ga__inner_seed_create(ga_sensitivity *se, ga__inner_seed *in)
{
  const ga_system *sys = se->st->sys;
  const int *size = sys->size;
  const size_t nv = (size_t)sys->nv;
  const ga__array part[] = {{&in->q, (size_t)sys->nq},
                            {&in->v, nv},
                            {&in->vdot, nv},
                            {&in->lambda, (size_t)size[GA_BLOCK_LAMBDA]},
                            {&in->psi, (size_t)size[GA_BLOCK_PSI]},
                            {&in->x, (size_t)size[GA_BLOCK_X]},
                            {&in->y, (size_t)size[GA_BLOCK_Y]},
                            {&in->c, nv},
                            {&in->d, nv},
                            {&in->w, nv},
                            {&in->rate, nv},
                            {&in->out, nv}};
  ga_status status = ga__arrays_create(se->ctx, GA__ARRAYS(part), "an adjoint", &in->block, NULL);
  if (!status) status = ga__tangent_create(se, &in->before);
  return status ? status : ga__tangent_create(se, &in->bar);
}

void ga__inner_seed_destroy(ga_context *ctx, ga__inner_seed *in)
{
  ga__free(ctx, in->block);
  ga__free(ctx, in->before.block);
  ga__free(ctx, in->bar.block);
}

ga_status ga__inner_seed_at(ga_sensitivity *se, ga__inner_seed *in, double t, ga_state *s)
{
  memset(in->bar.block, 0, se->n_tangent * sizeof *in->bar.block);
  *s = (ga_state){.t = t,
                  .q = in->q,
                  .v = in->v,
                  .vdot = in->vdot,
                  .lambda = in->lambda,
                  .psi = in->psi,
                  .x = in->x,
                  .y = in->y};
  return se->st->family->slopes->turned->look(se, in, t, s);
}

ga_status ga__inner_seed_look(ga_sensitivity *se, ga__inner_seed *in, double t, ga_state *s)
{
  ga_stepper *st = se->st;
  (void)s;
  if (ga__turns_far(st))
    return ga__refuse_sensitivity(se, "a body turns by more than 2 rad in a step, and is needed within it",
                                  "forward derivatives have no such limit");
  return ga_stepper_interpolate(st, t, in->q, in->v, in->vdot, in->lambda, in->psi, in->x, in->y);
}

void ga__exponent_rate_turned(const ga_group *g, const double *d, const double *v, const double *bar,
                              double *to, double *moved, double *rate)
{
  static const double AT[] = {1.0, -1.0, 2.0, -2.0}, WEIGHT[] = {8.0, -8.0, -1.0, 1.0};
  const double step = 1e-3;
  const int nv = ga_group_nv(g), n_blocks = ga_group_n_blocks(g);
  int most = 0;
  for (int b = 0; b < n_blocks; b++) {
    int at;
    const int size = ga_group_block(g, b, &at);
    most = size > most ? size : most;
  }
  for (int c = 0; c < most; c++)
    for (int k = 0; k < 4; k++) {
      int at, size;
      for (int i = 0; i < nv; i++) moved[i] = d[i];
      for (int b = 0; b < n_blocks; b++)
        if ((size = ga_group_block(g, b, &at)) > c) moved[at + c] += AT[k] * step;
      ga_group_exponent_rate(g, rate, moved, v);
      for (int b = 0; b < n_blocks; b++) {
        double sum = 0.0;
        if ((size = ga_group_block(g, b, &at)) <= c) continue;
        for (int i = at; i < at + size; i++) sum += bar[i] * rate[i];
        to[at + c] += WEIGHT[k] / (12.0 * step) * sum;
      }
    }
}

static void turn_q(ga_sensitivity *se, ga__inner_seed *in, double t, ga__tangent *end)
{
  ga_stepper *st = se->st;
  const ga_group *g = st->sys->group;
  const ga__state *first = &st->next, *last = &st->now;
  const int nv = st->sys->nv;
  const double h = last->scalar[GA__T] - first->scalar[GA__T], s = (t - first->scalar[GA__T]) / h,
               u = 1.0 - s;
  const double k1 = u * u * s, k2 = s * s * (3.0 - 2.0 * s), k3 = -s * s * u;
  double *T = se->step.T, *bar_c = se->one, *bar_d = in->w;
  const double *bar = in->bar.q;
  if (!(ga__max_abs(bar, nv, NULL) > 0.0)) return;
  ga_group_difference(g, in->d, first->q, last->q);
  ga_group_exponent_rate(g, in->w, in->d, last->v);
  for (int i = 0; i < nv; i++) in->c[i] = k1 * h * first->v[i] + k2 * in->d[i] + k3 * h * in->w[i];
  ga_group_tangent(g, T, in->c);
  ga__mul_blocks(g, bar_c, T, bar, 1.0, 1);
  for (int i = 0; i < nv; i++) {
    in->before.q[i] += bar[i];
    in->before.v[i] += k1 * h * bar_c[i];
    bar_d[i] = k2 * bar_c[i];
  }
  ga__add_ad_turned(se, in->before.q, -1.0, in->c, bar_c);
  for (int i = 0; i < nv; i++) in->c[i] = k3 * h * bar_c[i]; /* by w */
  ga__exponent_rate_turned(g, in->d, last->v, in->c, bar_d, in->rate, in->out);
  ga_group_tangent_inverse(g, T, in->d);
  ga__mul_blocks(g, in->out, T, in->c, 1.0, 1);
  for (int i = 0; i < nv; i++) end->v[i] += in->out[i];
  ga__mul_blocks(g, in->out, T, bar_d, 1.0, 1);
  for (int i = 0; i < nv; i++) {
    end->q[i] += in->out[i];
    in->before.q[i] -= in->out[i];
  }
  ga__add_ad_turned(se, in->before.q, 1.0, in->d, bar_d);
}

ga_status ga__inner_seed_turn(ga_sensitivity *se, ga__inner_seed *in, double t, ga__tangent *end)
{
  ga__tangent *bar = &in->bar, *b = &in->before;
  const ga__inside by = {
      .v = bar->v, .vdot = bar->vdot, .lambda = bar->lambda, .psi = bar->psi, .x = bar->x, .y = bar->y};
  const ga__inside_bars to = {.v = {end->v, b->v},
                              .x = {end->x, b->x},
                              .xdot = {end->xdot, b->xdot},
                              .vdot = {end->vdot, b->vdot, b->vdot_prev, b->vdot_prev2},
                              .lambda = {end->lambda, b->lambda, b->lambda_prev, b->lambda_prev2},
                              .psi = {end->psi, b->psi, b->psi_prev, b->psi_prev2},
                              .y = {end->y, b->y, b->y_prev, b->y_prev2}};
  ga__interpolate_turned(se->st, t, &by, &to);
  turn_q(se, in, t, end);
  in->used = 1;
  return GA_OK;
}
