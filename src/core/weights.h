/* Weighted errors, and limits of step size changes: for the simulator, the follower and edges. */
#ifndef GALPHA_CORE_WEIGHTS_H
#define GALPHA_CORE_WEIGHTS_H

#include "core/stepper.h"

#include <math.h>

/* A new size is SAFETY times the size for an error of 1, within [SHRINK, GROW] of the last one; after a
 * failure of Newton's iteration AFTER_FAILURE of it. */
#define GA__SAFETY 0.9
#define GA__SHRINK 0.2
#define GA__GROW 2.0
#define GA__AFTER_FAILURE 0.25

static inline double ga__tolerance_v(const ga_simulate_opts *o, double v)
{
  return o->atol_v + o->rtol_v * fabs(v);
}
static inline double ga__tolerance_x(const ga_simulate_opts *o, double x)
{
  return o->atol_x + o->rtol_x * fabs(x);
}

/* Accumulated weighted errors. */
typedef struct ga__tally {
  double largest; /* largest error over tolerance; NaN if one was NaN */
  int worst;      /* its index; n_v and beyond: states, and behind them vdot, λ, ψ, xdot and y */
  double squares, count;
} ga__tally;

/* Error i over its tolerance. */
static inline void ga__tally_add(ga__tally *t, double error, double tolerance, int i)
{
  const double ratio = fabs(error) / tolerance;
  t->squares += ratio * ratio;
  t->count += 1.0;
  if (ratio > t->largest || !(ratio == ratio)) {
    t->largest = ratio;
    t->worst = i;
  }
}

/* Errors e[nv] of positions, and e[n_x] of states, at the current state; room[nv] is work space. */
static inline void ga__tally_q(ga__tally *t, const ga_simulate_opts *o, const ga_stepper *st, const double *e,
                               double *room)
{
  ga__tolerances_q(st->sys, o->atol, o->rtol, st->now.q, room);
  for (int i = 0; i < st->sys->nv; i++) ga__tally_add(t, e[i], room[i], i);
}
static inline void ga__tally_x(ga__tally *t, const ga_simulate_opts *o, const ga_stepper *st, const double *e)
{
  const int nv = st->sys->nv;
  for (int i = 0; i < st->sys->size[GA_BLOCK_X]; i++)
    ga__tally_add(t, e[i], ga__tolerance_x(o, st->now.x[i]), nv + i);
}
/* Errors e[n] of vdot, λ, ψ and y, relative to the size of each of these blocks; 0: there is none yet. */
static inline void ga__tally_forces(ga__tally *t, const ga_simulate_opts *o, const ga_system *sys,
                                    const double *e, const double *size)
{
  const int before = sys->nv + sys->size[GA_BLOCK_X];
  for (int b = 0; b < GA_N_BLOCKS; b++)
    for (int i = sys->start[b]; b != GA_BLOCK_X && size[b] > 0.0 && i < sys->start[b] + sys->size[b]; i++)
      ga__tally_add(t, e[i], (o->rtol > 0.0 ? o->rtol : o->atol) * size[b], before + i);
}

#endif
