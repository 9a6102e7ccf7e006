/* The matrix of damped least squares that closes an assembly (gram.c). */
#ifndef GALPHA_CORE_GRAM_H
#define GALPHA_CORE_GRAM_H

#include "core/system.h"

/* The matrix [M Jᵀ; J −E], J = R⁻¹ [B; A], regular whatever the rank. */
typedef struct ga__gram {
  ga_context *ctx; /* NULL: not created yet */
  const ga_system *sys;
  int m;
  ga_sparse *K;
  ga_lu *lu;
  int *entry_place, *turned_place; /* [n_entries] as in the saddle matrix */
  int *diag_place;                 /* [nv + m] */
  double *x;                       /* [nv + m] */
} ga__gram;

ga_status ga__gram_create(const ga_system *sys, ga_lu_kind kind, ga__gram *g);
void ga__gram_destroy(ga__gram *g);
/* Factors [M Jᵀ; J −E] with E = eps / largest mass, the same for all rows: plain least squares. */
ga_status ga__gram_damped(ga__gram *g, const double *M, const double *B, const double *A, double *length,
                          double eps);

#endif
