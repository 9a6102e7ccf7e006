/* The saddle-point matrix [M Bᵀ Aᵀ; B; A] of starts and projections (saddle.c). */
#ifndef GALPHA_CORE_SADDLE_H
#define GALPHA_CORE_SADDLE_H

#include "core/derivative.h"
#include "core/null_space.h"

typedef struct ga__saddle {
  ga_context *ctx; /* its own: the system may be destroyed before */
  const ga_system *sys;
  ga_sparse *K;
  ga_lu *lu;
  int *entry_place;          /* [n_entries] place of each entry; -1: not used */
  int *turned_place;         /* places of the transposed entries of B and A, in the order of the pattern */
  int *diag_place;           /* [n_x + n_y] */
  double *M;                 /* [n_entries] D with shift_vdot 1: M and −f_λ, −f_ψ, −f_y, −o_... */
  double *A;                 /* [n_entries] D with shift_v 1: its rows PSI are A; G where there are none */
  double *Q;                 /* rows LAMBDA are B */
  double *G;                 /* for arrays that are not asked for */
  int leaves_out;            /* 1: constraints may be excluded, as in ga__set */
  int *pair_place;           /* [n_lambda + n_psi] on the diagonal */
  int n_left_out, *left_out; /* constraints excluded from K, */
  int *left_out_column;      /* and their columns */
  unsigned char *is_out;     /* [n_lambda + n_psi] */
  double *factored;          /* values of K that lu has factored, */
  int known;                 /* if this is 1 */
  double least_rcond;        /* least rcond of all factors since it was reset */
} ga__saddle;

ga_status ga__saddle_create(const ga_system *sys, ga_lu_kind kind, int leaves_out, ga__saddle *sd);
void ga__saddle_destroy(ga__saddle *sd);
/* Evaluates at p and factors. with_forces 1: the columns of λ, ψ, y are −f_λ, −f_ψ, −f_y, and the rows of y
 * their equations; 0: Bᵀ and Aᵀ, y decoupled. */
ga_status ga__saddle_factor(ga__saddle *sd, ga__deriv *w, const ga_point *p, int with_forces,
                            const ga__null *null);
/* A column of λ or ψ on which forces depend if all multipliers are 1, but not at p; −1: none. Overwrites
 * the arrays of sd. */
int ga__vanishing_multiplier(ga__saddle *sd, ga__deriv *w, const ga_point *p);
/* M, B and A alone, into sd->M, Q, A. */
ga_status ga__saddle_evaluate(ga__saddle *sd, ga__deriv *w, const ga_point *p, int with_forces);
/* d[n] := solution; by least squares, as ga__assembly_solve_squares(). */
ga_status ga__saddle_solve(ga__saddle *sd, ga__null *null, double *d);
/* out += A v, with the A of the last evaluation. */
void ga__saddle_a_mul(const ga__saddle *sd, double *out, const double *v);

#endif
