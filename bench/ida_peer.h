/* SUNDIALS IDA on the systems of galpha, as a peer: the same model callbacks, the method of somebody else.
 *
 * Unknowns (q, v, λ, x, y, μ), q in the storage of its group: numbers of R^n, and unit quaternions, which IDA
 * sees as four numbers with their kinematic equation, q' = K(q) v. The model is called with quaternions of
 * unit length, so that the length that IDA lets drift does not matter.
 *   IDA_GGL     q' = K (v − Bᵀμ),  M v' = f,  0 = Φ,  0 = B v    stabilized index 2 (Gear, Gupta, Leimkuhler)
 *   IDA_INDEX1  q' = K v,          M v' = f,  0 = B v' + phi_acc      differentiated twice; Φ drifts
 * and in both  x' = s,  y = o,  with the exact sparse Jacobian (of GGL without D_q(K Bᵀμ), since μ = 0 on the
 * solution) and KLU. Without constraints the two are the same. */
#ifndef GALPHA_BENCH_IDA_PEER_H
#define GALPHA_BENCH_IDA_PEER_H

#include "galpha/core.h"

typedef enum ida_form { IDA_GGL = 0, IDA_INDEX1 = 1, IDA_N_FORMS } ida_form;

typedef struct ida_model {
  /* Scleronomic, factors GA_RN and GA_QUAT, with jacobian, and where there are constraints phi_dot and
   * phi_acc; without nonholonomic ones. f, s and o are linear in v', λ and y near 0 at the start. */
  ga_system_def def;
  const double *q0, *v0, *x0; /* x0 NULL where there are no states */
  ga_eval_fn reaction;        /* Bᵀ λ */
  ga_eval_fn phi_acc_q;       /* D_q phi_acc over the entries of def.jacobian, where zeros stand already */
  ga_eval_fn phi_acc_v;       /* ∂ phi_acc/∂v likewise; NULL: 2 D_q(B v), as it is in R^n */
} ida_model;

typedef enum ida_solver { IDA_KLU_AMD, IDA_KLU_COLAMD, IDA_DENSE } ida_solver; /* KLU and its ordering */

typedef struct ida_opts { /* start from ida_peer_defaults() */
  ida_form form;
  double tol;                 /* relative tolerance, and absolute for q and x */
  double v_atol, lambda_atol; /* absolute tolerances of v, and of λ, y and μ, in units of tol */
  double first_step;          /* [s] 0: IDA's own choice */
  int max_order;              /* of BDF, 1 to 5 */
  int suppress;               /* 1: λ, y and μ do not count in the error test */
  ida_solver solver;
} ida_opts;

typedef struct ida_counts {
  long steps, residuals, jacobians, iterations, error_failures, convergence_failures;
} ida_counts;

typedef struct ida_peer ida_peer;

/* Whether this build has IDA. If not, create gives NULL. */
int ida_peer_present(void);
const char *ida_peer_version(void);

ida_opts ida_peer_defaults(ida_form form);
/* The options that a comparison goes through for the fastest: largest order, linear solver, and `tol` for all
 * unknowns instead of the weights that opts came with. Names, ended by a NULL; ida_peer_set() puts the i-th
 * one into opts, and returns 0 where it makes no difference or no sense for this model. */
extern const char *const ida_peer_options[];
int ida_peer_set(const ida_peer *peer, int i, ida_opts *opts);
/* Finds the non-zeros of all Jacobians. Copies model, borrows what it points to. NULL on failure. */
ida_peer *ida_peer_create(ga_context *ctx, const ida_model *model);
void ida_peer_destroy(ida_peer **peer);
const ga_group *ida_peer_group(const ida_peer *peer); /* of q */

/* Everything from consistent initial values to t_end; q[nq], on the group, and x[n_x], which may be NULL,
 * receive the end. 0, or IDA's negative flag. */
int ida_peer_run(ida_peer *peer, const ida_opts *opts, double t_end, double *q, double *x,
                 ida_counts *counts);

/* ---- Derivatives by parameters, by IDAS ---- */

/* Parameters of forces, states and outputs, by the callbacks that ga_sensitivity and ga_adjoint take. */
typedef struct ida_slopes {
  int n;
  ga_parameter_fn derivative; /* ∂r/∂p of one */
  ga_pullback_fn pullback;    /* of all at once; begin and end of what it gets are the same point */
  void *user;
  double typical;          /* size of the parameters, by which tolerances of derivatives are divided */
  double typical_gradient; /* size of the adjoint's result */
  int staggered;           /* 0: derivatives are iterated together with the unknowns */
  int in_error_test; /* 1: derivatives count in the error test of the run, integrals in that of the adjoint */
  int polynomial;    /* 1: the run is interpolated by IDA's own polynomials on the way back; 0: by cubics */
  int interval;      /* steps between checkpoints */
} ida_slopes;

/* As ida_peer_run(), with slope[n][nv]: derivatives of q at t_end, in the algebra. */
int ida_peer_forward(ida_peer *peer, const ida_opts *opts, const ida_slopes *what, double t_end,
                     double *slope, ida_counts *counts);
/* gradient[n] of the number q[coordinate] of the storage at t_end. In the index-1 form, whatever opts say. */
int ida_peer_adjoint(ida_peer *peer, const ida_opts *opts, const ida_slopes *what, double t_end,
                     int coordinate, double *gradient, ida_counts *counts);

#endif
