/* Rate of change of a system's matrices along its motion: about 0 in a steady one. */
#include "core/steady.h"

#include <math.h>

/* Largest change of a matrix of one block of equations, and largest number in them. */
static void compare(const ga_evaluation *now, const ga_evaluation *later, ga_equation_block equations,
                    double *change, double *size)
{
  *change = *size = 0.0;
  for (int b = 0; b < GA_N_BY; b++) {
    const ga_sparse *A = ga_evaluation_matrix(now, equations, (ga_by)b),
                    *B = ga_evaluation_matrix(later, equations, (ga_by)b);
    for (int i = 0; i < A->nnz; i++) {
      *change = fmax(*change, fabs(B->value[i] - A->value[i]));
      *size = fmax(*size, fabs(A->value[i]));
    }
  }
}

double ga__unsteadiness(ga_context *ctx, const ga_system *sys, const ga_evaluation *now, ga_evaluation *later,
                        const ga_point *p, const double *residual_x, const ga__later *at)
{
  const ga_error said = ctx->error;
  const double h = 1e-4 / (1.0 + ga__max_abs(p->v, sys->nv, NULL));
  double most = 0.0, change, size;
  ga_point ahead = *p;
  ahead.motion = 0;
  for (int i = 0; i < sys->nv; i++) at->move[i] = h * p->v[i], at->v[i] = p->v[i] + h * p->vdot[i];
  for (int i = 0; i < sys->size[GA_BLOCK_X]; i++) at->x[i] = p->x[i] - h * residual_x[i];
  ga_group_move(sys->group, at->q, p->q, at->move);
  ahead.t += h, ahead.q = at->q, ahead.v = at->v, ahead.x = at->x;
  if (ga_evaluation_jacobian(later, &ahead)) {
    ctx->error = said;
    return NAN;
  }
  for (int b = GA_BLOCK_V; b <= GA_BLOCK_ETA; b++) {
    compare(now, later, (ga_equation_block)b, &change, &size);
    if (size > 0.0) most = fmax(most, change / (h * size));
  }
  return most;
}
