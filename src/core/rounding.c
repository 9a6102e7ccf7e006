/* Points that differ by rounding: what a result changes by between them is its rounding, that of the numbers
 * of the point included. It cannot be computed from a result, since terms may cancel within callbacks. */
#include "core/rounding.h"
#include "core/arrays.h"

#include <float.h>
#include <math.h>

void ga__move_by_rounding(double *to, const double *from, int n, double least, unsigned pattern)
{
  for (int i = 0; i < n; i++) {
    const unsigned mixed = ((unsigned)i + 1u) * 2654435761u ^ pattern * 2246822519u;
    to[i] = from[i] + (mixed >> 16 & 1u ? 1.0 : -1.0) * DBL_EPSILON * (least + fabs(from[i]));
  }
}

ga_status ga__moved_point_create(ga_context *ctx, const ga_system *sys, ga__moved_point *m)
{
  const ga__array need[] = {{&m->q, (size_t)sys->nq},
                            {&m->v, (size_t)sys->nv},
                            {&m->lambda, (size_t)sys->size[GA_BLOCK_LAMBDA]},
                            {&m->psi, (size_t)sys->size[GA_BLOCK_PSI]},
                            {&m->x, (size_t)sys->size[GA_BLOCK_X]}};
  *m = (ga__moved_point){0};
  return ga__arrays_create(ctx, GA__ARRAYS(need), "a point", &m->block, NULL);
}

void ga__moved_point_destroy(ga_context *ctx, ga__moved_point *m)
{
  ga__free(ctx, m->block);
  *m = (ga__moved_point){0};
}

/* Numbers of a factor that are positions; those behind are a rotation. */
static int count_positions(ga_factor f)
{
  return f.kind == GA_RN ? f.n : f.kind == GA_R3SO3 || f.kind == GA_SE3 ? 3 : 0;
}

static double largest(const double *a, int n)
{
  double most = 0.0;
  for (int i = 0; i < n; i++) most = fmax(most, fabs(a[i]));
  return most;
}

static void move_positions(const ga_system *sys, const double *from, unsigned pattern, double *to)
{
  const int n = ga_group_n_factors(sys->group);
  for (int i = 0; i < n; i++) {
    int at = 0, end = sys->nq;
    const int positions = count_positions(ga_group_factor(sys->group, i, &at, NULL));
    if (i + 1 < n) ga_group_factor(sys->group, i + 1, &end, NULL);
    const unsigned other = pattern + 7919u * (unsigned)i;
    ga__move_by_rounding(to + at, from + at, positions, largest(from + at, positions), other);
    ga__move_by_rounding(to + at + positions, from + at + positions, end - at - positions, 1.0, other + 1u);
  }
}

void ga__moved_point_set(const ga_system *sys, const ga_point *p, unsigned pattern, ga__moved_point *m)
{
  m->p = *p;
  m->p.motion = 0;
  move_positions(sys, p->q, pattern, m->q);
  m->p.q = m->q;
  const double *const from[] = {p->v, p->lambda, p->psi, p->x};
  double *const to[] = {m->v, m->lambda, m->psi, m->x};
  const double **const in[] = {&m->p.v, &m->p.lambda, &m->p.psi, &m->p.x};
  const int n[] = {sys->nv, sys->size[GA_BLOCK_LAMBDA], sys->size[GA_BLOCK_PSI], sys->size[GA_BLOCK_X]};
  for (unsigned i = 0; i < 4; i++) {
    if (!from[i] || n[i] == 0) continue;
    ga__move_by_rounding(to[i], from[i], n[i], 0.0, pattern + i + 1u);
    *in[i] = to[i];
  }
}
