/* Derivatives of signals along a direction, by differences of order 4. */
#include "mbs/mbs_impl.h"

#include <math.h>

#define STEP 1e-3 /* for a direction with components of about 1 */

/* A state near another one; all arrays in one block. */
typedef struct neighbour {
  double *block, *q, *move, *v, *vdot, *lambda, *psi, *x, *y;
} neighbour;

static int neighbour_create(ga_context *ctx, const ga_system *sys, neighbour *b)
{
  const size_t nq = (size_t)ga_group_nq(ga_system_group(sys)), nv = (size_t)ga_system_size(sys, GA_BLOCK_V),
               n_lambda = (size_t)ga_system_size(sys, GA_BLOCK_LAMBDA),
               n_psi = (size_t)ga_system_size(sys, GA_BLOCK_PSI),
               n_x = (size_t)ga_system_size(sys, GA_BLOCK_X), n_y = (size_t)ga_system_size(sys, GA_BLOCK_Y);
  struct {
    double **array;
    size_t n;
  } need[] = {{&b->q, nq},      {&b->move, nv}, {&b->v, nv}, {&b->vdot, nv}, {&b->lambda, n_lambda},
              {&b->psi, n_psi}, {&b->x, n_x},   {&b->y, n_y}};
  b->block = ga__alloc(ctx, nq + (size_t)ga_system_n(sys) + 2 * nv, sizeof *b->block);
  double *at = b->block;
  for (size_t i = 0; b->block && i < sizeof need / sizeof *need; i++) *need[i].array = at, at += need[i].n;
  return b->block != NULL;
}

static void add_scaled(double *out, const double *a, double factor, const double *d, int n)
{
  for (int i = 0; i < n; i++) out[i] = a[i] + factor * d[i];
}

/* The state at the distance h along d. */
static ga_state move_state(const ga_system *sys, neighbour *b, const ga_state *s, const ga_direction *d,
                           double h)
{
  const int nv = ga_system_size(sys, GA_BLOCK_V);
  ga_state to = *s;
  for (int i = 0; i < nv; i++) b->move[i] = h * d->q[i];
  ga_group_move(ga_system_group(sys), b->q, s->q, b->move);
  add_scaled(b->v, s->v, h, d->v, nv);
  add_scaled(b->vdot, s->vdot, h, d->vdot, nv);
  add_scaled(b->lambda, s->lambda, h, d->lambda, ga_system_size(sys, GA_BLOCK_LAMBDA));
  add_scaled(b->psi, s->psi, h, d->psi, ga_system_size(sys, GA_BLOCK_PSI));
  add_scaled(b->x, s->x, h, d->x, ga_system_size(sys, GA_BLOCK_X));
  add_scaled(b->y, s->y, h, d->y, ga_system_size(sys, GA_BLOCK_Y));
  to.q = b->q, to.v = b->v, to.vdot = b->vdot, to.lambda = b->lambda, to.psi = b->psi, to.x = b->x,
  to.y = b->y;
  return to;
}

/* f' = (8 (f(h) − f(−h)) − (f(2h) − f(−2h)))/(12 h) */
ga_status ga_machine_signal_slopes(const ga_machine *m, const ga_state *s, const ga_direction *d, int n,
                                   const int *index, double *out)
{
  static const double at[4] = {1.0, -1.0, 2.0, -2.0}, weight[4] = {8.0, -8.0, -1.0, 1.0};
  if (!m) return GA_ERR_ARGUMENT;
  ga_context *ctx = ga_machine_context(m);
  const ga_system *sys = ga_machine_system(m);
  if (!sys) return ga__refuse_order(ctx, __func__, "once the machine is built");
  if (!s || !d || !out) return ga__refuse_null(ctx, __func__, !s ? "s" : d ? "out" : "d");
  const int count = index ? n : ga_machine_n_signals(m);
  neighbour b = {0};
  double *values = ga__alloc(ctx, (size_t)count, sizeof *values);
  ga_status status =
      values && neighbour_create(ctx, sys, &b) ? GA_OK : ga__no_memory(ctx, "slopes of signals");
  for (int i = 0; !status && i < count; i++) out[i] = 0.0;
  for (int k = 0; !status && k < 4; k++) {
    const ga_state moved = move_state(sys, &b, s, d, at[k] * STEP);
    status = ga_machine_signals(m, NULL, &moved, count, index, values);
    for (int i = 0; !status && i < count; i++) out[i] += weight[k] * values[i] / (12.0 * STEP);
  }
  ga__free(ctx, values);
  ga__free(ctx, b.block);
  return status;
}
