/* Linear equations of small motions about a point as a pair of sparse matrices, E dz/dτ = A z (pencil.c). */
#ifndef GALPHA_CORE_PENCIL_H
#define GALPHA_CORE_PENCIL_H

#include "core/system.h"

/* Parts of z in order: those with a derivative, then algebraic ones. */
typedef enum ga__part_of_z {
  GA__Z_Q = 0,
  GA__Z_V,
  GA__Z_X,
  GA__Z_LAMBDA,
  GA__Z_PSI,
  GA__Z_ETA,
  GA__Z_Y,
  GA__N_Z
} ga__part_of_z;

typedef struct ga__pencil {
  ga_context *ctx;
  const ga_system *sys;
  int squared;                       /* 1: eigenvalues are τ = s², 0: τ = s */
  int n, n_state;                    /* lengths of z, and of its parts with a derivative */
  int start[GA__N_Z], size[GA__N_Z]; /* of the parts; size 0: not in z */
  int redundant;                     /* redundant constraints Φ */
  int n_q, n_v, n_x;                 /* free positions and velocities, states */
  const ga_turning *turning;         /* NULL: none */
  int *turning_row;                  /* [nv + 1] where rows of Ω̂ begin */
  unsigned char *left_out;           /* [n] rows of constraints that follow from others */
  ga_sparse *A, *E;
  ga_sparse *W;                    /* R (A − τ0 E) C, R and C diagonal */
  int *a_place;                    /* [A->nnz] in W */
  int *e_place;                    /* [E->nnz] */
  ga_lu *lu;                       /* of W */
  double tau0;                     /* the shift */
  double rate;                     /* [1/s] the part v of z is velocity over this */
  double *block;                   /* of the arrays below */
  double *b, *r, *product;         /* [n] */
  double *row_factor, *col_factor; /* [n] R and C */
} ga__pencil;

/* About p, with the matrices of ev, which must be those of p. turning NULL: in the axes of the ground. */
ga_status ga__pencil_create(ga_context *ctx, const ga_system *sys, const ga_evaluation *ev, const ga_point *p,
                            const ga_turning *turning, ga__pencil *pencil);
void ga__pencil_destroy(ga__pencil *pencil);
/* *n: number of redundant constraints Φ, by the matrices of ev; sys as opened by the caller. */
ga_status ga__count_redundant(ga_context *ctx, const ga_system *sys, const ga_evaluation *ev, int *n);
/* Number of finite eigenvalues, with multiplicity. */
int ga__pencil_count(const ga__pencil *pencil);
/* Factors at the shift s = sigma > 0. GA_RETRY_SINGULAR: s is an eigenvalue, or the pencil is singular. */
ga_status ga__pencil_shift(ga__pencil *pencil, double sigma);
/* z[n] := (A − τ0 E)⁻¹ E state[n_state]. The operator state -> state has eigenvalues 1/(τ − τ0), and 0. */
ga_status ga__pencil_solve(ga__pencil *pencil, double *z, const double *state);
/* The same without iterative refinement, in less than half of the time. */
ga_status ga__pencil_solve_roughly(ga__pencil *pencil, double *z, const double *state);
/* z[n] := (A − τ0 E)⁻¹ b[n]. */
ga_status ga__pencil_solve_for(ga__pencil *pencil, double *z, const double *b);
/* y[n] := A z and y[n] := E z, z[n]. */
void ga__pencil_mul_a(const ga__pencil *pencil, double *y, const double *z);
void ga__pencil_mul_e(const ga__pencil *pencil, double *y, const double *z);
/* y[n] := (A' − A) z, A' that of the matrices of `moved`, an evaluation near the one of the pencil, `ev`.
 * What masses change by in turning axes, and brackets with the velocity, is not in it. */
void ga__pencil_mul_change(const ga__pencil *pencil, const ga_evaluation *ev, const ga_evaluation *moved,
                           double *y, const double *z);
/* scale[n] := Σ (|A| + size |E|) most, of the rows; most[GA__N_Z]: the largest number in each part of z. */
void ga__pencil_row_scale(const ga__pencil *pencil, double size, const double *most, double *scale);
ga__part_of_z ga__pencil_part(const ga__pencil *pencil, int i); /* of number i of z */

#endif
