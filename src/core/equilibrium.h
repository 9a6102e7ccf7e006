/* Internals of equilibria */
#ifndef GALPHA_CORE_EQUILIBRIUM_H
#define GALPHA_CORE_EQUILIBRIUM_H

#include "core/null_space.h"
#include "lin/lin_impl.h"

/* The unknowns z, and the load factor they belong to. */
typedef struct ga__balance {
  double *q;                /* [nq] */
  double *rest;             /* [n − nv + n_inner] λ, ψ, x, y, inner unknowns */
  ga_static_values statics; /* the load factor; inner: behind y in rest */
} ga__balance;

/* Stiffness in the directions in which constraints allow motion. */
typedef struct ga__stiffness {
  ga_stability stability;
  int n_unstable; /* directions of negative stiffness, or growing motions where these are more */
  int judged, free_directions;
  double least;   /* stiffness closest to 0, for a move by the scales; smooth along a path */
  int coordinate; /* largest velocity in the least stable direction, or the free unknown; −1: none */
  int unstable_coordinate; /* velocity that moves most in the direction of a growing motion */
  int at_kink;             /* 1: there is a kink or jump, and stability is unknown */
} ga__stiffness;

struct ga_equilibrium {
  ga_context *ctx; /* its own: the system may be destroyed before */
  const ga_system *sys;
  ga_equilibrium_opts opts;
  ga_evaluation *ev;
  ga_linearisation *linearisation; /* NULL: too large for it */

  /* The matrix of r by z, and its factors. */
  ga_sparse *W;
  ga_lu *lu;
  int *into[GA_N_BLOCKS][GA_N_BY]; /* places of the numbers of each part in W */
  int *diagonal;                   /* [n] */

  double *block; /* of all numbers below */
  double t;
  ga__balance start, now, trial, kept, last; /* z0; the iterate; the trial; two saved ones */
  double *given;                             /* [nq] initial positions, not made consistent */
  double *out_of_balance;                    /* [n] r(z0, 0) in the rows of V and X, 0 elsewhere */
  double *zero;                              /* [nv + n_x + n_lambda] */
  double *scale;                             /* [nv] scales of moves: 1 rad, or the extent of the system */
  double *r, *d, *simplified, *b;            /* [n], d with n_inner more: moves of z */
  double *tangent, *tangent_old;             /* [n + n_inner] of the path */
  double *move;                              /* [nv] */
  double path_scale;                         /* size of a move equivalent to a load factor of 1 */

  /* Stiffness: an Arnoldi process. */
  int most;            /* vectors */
  int free_directions; /* velocities less independent constraints, at the start */
  double *basis;       /* [most + 1][nv] orthonormal */
  double *hessenberg;  /* [most][most] by columns */
  double *direction;   /* [nv] the one that `coordinate` is from */
  ga__eigen eigen;     /* of the process */
  ga__eigen motions;   /* of the linearised motion */
  ga__rows rows;       /* relations among constraints, */
  ga__null null;       /* at the solution */

  double *shapes; /* [n_shapes][nv] of buckling; NULL: none */
  int n_shapes;

  ga_state state;
  int has_state;
  ga_equilibrium_report report;
};

/* ---- equilibrium.c ---- */

/* eq->now and eq->start := z0, made consistent, and the load there. */
ga_status ga__equilibrium_begin(ga_equilibrium *eq, double t, const double *q0, const double *x0);

/* ---- equilibrium_newton.c ---- */

ga_point ga__balance_point(const ga_equilibrium *eq, const ga__balance *z);
void ga__balance_copy(const ga_equilibrium *eq, ga__balance *to, const ga__balance *from);
/* to := from moved by factor·d[n + n_inner]. */
void ga__balance_move(ga_equilibrium *eq, ga__balance *to, const ga__balance *from, double factor,
                      const double *d);
/* d[n ...]: how inner unknowns follow the move d[n] of the others; and z's := those that belong to its q. */
ga_status ga__balance_follow(ga_equilibrium *eq, const ga__balance *z, double *d);
ga_status ga__balance_set_inner(ga_equilibrium *eq, ga__balance *z);
/* R = r(z, load) − (1 − load) r(z0, 0); 0 in the rows of k. And dR/dload; eq->b is lost. */
ga_status ga__balance_load_rate(ga_equilibrium *eq, const ga__balance *z, double *out);
ga_status ga__balance_residual(ga_equilibrium *eq, const ga__balance *z, double *r);
/* Terms of W: stiffness K + mass M in the rows of V, rate on the diagonal of X. Without coupling, only
 * constraints act on q, states are decoupled, and rows of Y depend on q and y only. */
typedef struct ga__balance_terms {
  double stiffness, mass, rate;
  int coupled;
} ga__balance_terms;
extern const ga__balance_terms ga__tangent_terms; /* those of r by z */
ga_status ga__balance_matrix(ga_equilibrium *eq, const ga__balance *z, const ga__balance_terms *terms);
ga_status ga__balance_factor(ga_equilibrium *eq, const ga__balance *z, const ga__balance_terms *terms);
/* Size of a correction, by the scales of q, x and y; multipliers do not count, since they are determined by
 * these. */
double ga__balance_size(const ga_equilibrium *eq, const ga__balance *z, const double *d);
double ga__move_size(const ga_equilibrium *eq, const double *d);
/* How long moves of Newton's iteration may be. */
typedef enum ga__move_kind {
  GA__FULL_MOVES,  /* any; with inner unknowns 0.5 of the scales */
  GA__SHORT_MOVES, /* with inner unknowns 0.125 */
  GA__DAMPED_MOVES /* damped by the natural monotonicity test of the simplified correction */
} ga__move_kind;
/* Moves eq->now to the solution for its load. */
ga_status ga__balance_newton(ga_equilibrium *eq, ga__move_kind kind, int *iterations);
/* Sets the multipliers of eq->now that balance its load as far as possible. */
ga_status ga__balance_guess(ga_equilibrium *eq);
/* Φ = 0 and y = o at eq->now by the shortest move, in the metric of M. */
ga_status ga__balance_project(ga_equilibrium *eq);
/* The same after a move, where constraints are redundant: off the constraints they contradict each other, and
 * multipliers would grow without bound. */
ga_status ga__balance_close(ga_equilibrium *eq);

/* Convergence test of an iteration, given one correction after the other. */
typedef struct ga__convergence {
  double last, first;
  int n;
} ga__convergence;
typedef enum ga__progress { GA__GOES_ON, GA__CONVERGED, GA__DIVERGES } ga__progress;
ga__progress ga__judge_correction(ga__convergence *c, double size, double tol);

/* ---- equilibrium_relax.c ---- */

/* Moves eq->now to a stable equilibrium at load 1. */
ga_status ga__balance_relax(ga_equilibrium *eq);

/* ---- equilibrium_path.c ---- */

/* dz/dμ by the factors at eq->now, which are made, into out[n + n_inner]; its size. */
ga_status ga__load_tangent(ga_equilibrium *eq, double *out, double *size);
/* The tangent at eq->now is singular: names what can move. */
ga_status ga__refuse_no_tangent(ga_equilibrium *eq);
ga_status ga__load_steps(ga_equilibrium *eq, double first, double largest);
ga_status ga__load_path(ga_equilibrium *eq);
/* Calls the observer with eq->now. */
ga_status ga__show_load(ga_equilibrium *eq, int iterations, const ga__stiffness *s);

/* ---- equilibrium_stability.c ---- */

/* Stiffness at eq->now. A singular tangent is GA_NEUTRAL, never GA_RETRY_SINGULAR. */
ga_status ga__find_stiffness(ga_equilibrium *eq, ga__stiffness *s);
/* The same, and counts growing motions of the linearised equations if the system is small enough. */
ga_status ga__find_stability(ga_equilibrium *eq, ga__stiffness *s);
/* *found 1: at eq->now the equations have a kink or jump along the directions that were
 * judged, so that their derivatives say nothing about stability; a warning names it. */
ga_status ga__find_kink(ga_equilibrium *eq, int *found);

#endif
