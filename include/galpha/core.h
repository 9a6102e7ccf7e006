/* galpha/core.h: systems, schemes, and the stepper.
 *
 * A system is, with q in a Lie group, v its velocity (galpha/lie.h):
 *
 *   M(q,t) vdot = f(t,q,v,λ,ψ,x,y)          dynamics         nv equations
 *   0    = Φ(t,q)                            holonomic        n_lambda, hidden: B v + Φ_t = 0, B = D_q Φ
 *   0    = k(t,q,v)                          nonholonomic     n_psi
 *   xdot = s(t,q,v,vdot,λ,ψ,x,y)             states           n_x, of controllers and actuators
 *   y    = o(t,q,v,vdot,λ,ψ,x,y)             outputs          n_y, algebraic loops allowed
 *
 * f contains the constraint forces, usually −Bᵀλ − Aᵀψ with A = ∂k/∂v; it may be nonlinear in λ and ψ. M may
 * be singular as long as it is positive definite on the kernel of [B; A]. D_q is the derivative along the
 * factor's side: D_q g · δ = d/ds g(move(q, sδ)) at s = 0.
 *
 * The model stays apart from the method: a system knows nothing of steps, a method asks it for derivatives
 * combined by shifts. One system runs under every method. */
#ifndef GALPHA_CORE_H
#define GALPHA_CORE_H

#include "galpha/base.h"
#include "galpha/lie.h"
#include "galpha/lin.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- System ------------------------------------------------------------------------------------------- */

/* Blocks of unknowns, and of the equations that belong to them. */
typedef enum ga_equation_block {
  GA_BLOCK_V = 0,  /* velocities; dynamic equations */
  GA_BLOCK_LAMBDA, /* multipliers of Φ; Φ itself */
  GA_BLOCK_PSI,    /* multipliers of k; k itself */
  GA_BLOCK_X,      /* states; their equations xdot = s */
  GA_BLOCK_Y,      /* outputs; their equations y = o */
  GA_BLOCK_ETA     /* multipliers of the stabilized index-2 form; B v + Φ_t; never in a user's pattern */
} ga_equation_block;
enum { GA_N_BLOCKS = 5 }; /* those a system has itself; GA_BLOCK_ETA is the method's own */

/* What an evaluation has besides in statics and, where inner unknowns are iterates, in a step. */
typedef struct ga_static_values {
  /* [-] Load factor, 1 in a step: loads, forces that act from outside such as dead weights, are to be scaled
   * by it. A system that does not know which of its forces are loads ignores it; see ga_equilibrium. */
  double load;
  const double *inner; /* [n_inner] iterate of the inner unknowns; NULL: those that belong to q */
} ga_static_values;

/* Where a callback is evaluated. Every pointer is valid (of length 0 where the system has no such part), also
 * those of fields that the function must not depend on. */
typedef struct ga_point {
  double t;             /* [s] */
  const double *q;      /* [nq] on the group */
  const double *v;      /* [nv] */
  const double *vdot;   /* [nv] */
  const double *lambda; /* [n_lambda] */
  const double *psi;    /* [n_psi] */
  const double *x;      /* [n_x] */
  const double *y;      /* [n_y] */
  /* 0: this point is not related to earlier ones. Otherwise q, v and vdot have the same values as at the last
   * point with this number and the same arrays, and what was computed from them may be reused. */
  unsigned long motion;
  /* NULL, except in searches of an equilibrium and, of systems with inner unknowns, in steps. */
  const struct ga_static_values *statics;
} ga_point;

/* Writes every component of out. Returns 0; > 0: cannot be evaluated here, try a smaller step; < 0: give up.
 * NaN or infinity in out counts as > 0. Must give the same bits for the same point. */
typedef int (*ga_eval_fn)(void *user, const ga_point *p, double *out);

/* dn[n_inner]: the change of p->statics->inner when q moves by dq[nv], c + c_q δq + c_n δn = 0. Returns as
 * above. */
typedef int (*ga_inner_fn)(void *user, const ga_point *p, const double *dq, double *dn);

/* What the caller will read. Filling more is allowed and only costs time. */
enum {
  GA_WANT_D = 1,
  GA_WANT_Q = 2,
  GA_WANT_G = 4,
  GA_WANT_B = 8, /* of Q, at least the rows of Φ: B = D_q Φ */
  /* Together with GA_WANT_D: only M and the rows of k will be read from D. Everything that depends on forces,
   * states and outputs may be left out. It must not fail because these have no value yet: positions and
   * velocities are projected before outputs are known. */
  GA_WANT_M = 16,
  /* In pattern_in only, together with GA_WANT_D in rows and columns of V: D has no derivatives by vdot there,
   * for example between two bodies. Matrices of starts and projections then omit the entry. */
  GA_NO_MASS = 32
};

/* Derivatives of the residuals r = (M vdot − f, Φ, k, −s, −o); the core adds xdot and y itself. One number
 * per entry of the system's pattern, in the order in which the pattern was declared; without a pattern, n × n
 * row-major, n = nv+n_lambda+n_psi+n_x+n_y, rows and columns both in the order V, LAMBDA, PSI, X, Y.
 *   D  columns V: shift_v ∂r/∂v + shift_vdot ∂r/∂vdot; the other columns: ∂r/∂λ, ∂r/∂ψ, ∂r/∂x, ∂r/∂y
 *   Q  columns V: D_q r at fixed v and vdot, D_q(M vdot) included; other columns are not read
 *   G  rows LAMBDA, columns V: D_q (B v + Φ_t); nothing else is read
 * No array is NULL, and those wanted are zero when the callback is entered; Q counts as wanted with
 * GA_WANT_B. */
typedef struct ga_jacobian {
  unsigned want;              /* GA_WANT_... */
  double shift_v, shift_vdot; /* used in D */
  double *D, *Q, *G;
} ga_jacobian;

typedef int (*ga_jacobian_fn)(void *user, const ga_point *p, ga_jacobian *J); /* returns as ga_eval_fn */

/* Everything that one iteration needs, in one pass over the parts of a model. */
typedef struct ga_sweep {
  double *dynamics;       /* [nv] M vdot − f */
  double *phi, *k;        /* [n_lambda], [n_psi] */
  double *state, *output; /* [n_x], [n_y] */
  double *phi_dot;        /* [n_lambda] B v + Φ_t; NULL: not wanted */
  ga_jacobian *jacobian;  /* NULL: not wanted; else as below */
  int jacobian_alone;     /* 1: what is written to the other arrays will not be read, and may be left out */
} ga_sweep;

/* Writes all of these, equal to what the single callbacks give up to rounding, and with the same bits with
 * and without a Jacobian. Returns as ga_eval_fn. The Jacobian's arrays are not cleared before the call: they
 * hold zeros or what this system wrote there in an earlier call. Every call must therefore write, or clear,
 * every entry that any call writes. */
typedef int (*ga_sweep_fn)(void *user, const ga_point *p, ga_sweep *out);

/* A time at which the equations, or one of their time derivatives, jump because a function of time does. */
typedef struct ga_breakpoint {
  double before, after; /* [s] the last time before the jump and the first time after it, a few roundings
                           apart: a step ends at `before` and the next one begins at `after`. Both infinite:
                           there is no break */
  int restart;  /* 1: accelerations, rates or outputs jump and are computed again at `after`; 0: only their
                   derivatives jump, and steps continue */
  double clear; /* [s] if there is no break: the time up to which this is known; infinite: forever */
  double h_max; /* [s] longer steps may not resolve the inputs up to the break, for example a quarter of the
                   period of an oscillation; infinite: not known */
  double unresolved; /* [s] > 0: in an interval of this length after `clear` there may be breaks that cannot
                        be found, and a warning says so; 0 on entry */
  const char *what; /* the expression or function with unresolved breaks, valid until the next call; NULL: not
                       given */
} ga_breakpoint;

/* *out := the earlier of both breaks. Breaks that overlap become one, with a restart if either has one. For
 * functions that look for the next break in several places. */
GA_API void ga_breakpoint_join(ga_breakpoint *out, const ga_breakpoint *other);

/* The first break that ends after t and begins before `until`, into *out, which holds {inf, inf, 0, inf, inf}
 * on entry. Returns 0; anything else ends the simulation. Called once for every break, not in every step. */
typedef int (*ga_break_fn)(void *user, double t, double until, ga_breakpoint *out);

/* States that jump at given times, as those of a sampled controller: changes x[n_x], which p->x also points
 * to, by the samples whose times are in [from, to], at p->t = to; all else of p is the motion there and the
 * state just before. Every such time must be a break with a restart (ga_break_fn). Returns 0; anything else
 * ends the simulation. */
typedef int (*ga_sample_fn)(void *user, const ga_point *p, double from, double to, double *x);

/* A state within a step, by dense output. */
typedef struct ga_instant {
  const double *y;     /* [n_y] */
  const double *q, *v; /* [nq], [nv]; NULL unless ga_system_def.hidden_motion */
} ga_instant;

/* A part of a step. Within it y is a parabola, so that y stays in the range spanned by y(end[0]), y(end[1])
 * and 2 y(middle) − (y(end[0]) + y(end[1]))/2. */
typedef struct ga_piece {
  double t[2]; /* [s] of its ends */
  ga_instant end[2], middle;
} ga_piece;

/* Can something that depends on the motion take values, within `piece`, that differ much from those at the
 * ends of `step`, which contains it? For example a force that acts in a narrow range of positions only. A
 * piece of length 0 asks about one state. Returns 1: it may; 0: it cannot; −1: it cannot, but finding this
 * out was expensive: where there are many steps, fewer of them are then checked. */
typedef int (*ga_hidden_fn)(void *user, const ga_piece *step, const ga_piece *piece);

/* Writes to side[n_sides] on which side of each edge a state is. An edge is a place at which the equations
 * jump or have a kink; the numbers are arbitrary, but must stay the same as long as no edge is passed, for
 * example the results of comparisons. If a step passes an edge and the jump matters, the step is shortened to
 * end at the edge, and the run restarts behind it. Within steps p->y is interpolated: compute outputs again
 * if they decide the side. Returns 0; anything else: not known. */
typedef int (*ga_sides_fn)(void *user, const ga_point *p, int *side);
/* Name of what jumps at an edge, for messages: "spring 'stop'". */
typedef void (*ga_side_name_fn)(void *user, int index, char *text, size_t size);

/* Switches: parts with several modes, such as friction that sticks or slides. A mode is a number among the
 * states x, constant while no switch is passed (xdot = 0 there), on which the equations depend. The last
 * n_switches of the sides say which mode each switch should have; where a step changes that, it always ends
 * there, and the start behind it asks for the modes. */
typedef enum ga_switch_when {
  GA_SWITCH_GIVEN =
      0, /* before a start from given values: velocities decide. Only t, q, v and x of p are valid */
  GA_SWITCH_PASSED, /* the same behind an edge or a break, where velocities are continuous */
  GA_SWITCH_STARTED /* after a start with the modes in x: do accelerations and multipliers agree with them? */
} ga_switch_when;
/* Changes modes in x[n_x], a copy of p->x. shared[n_psi]: after a start, 1: this multiplier is not unique,
 * since the constraint follows from others; NULL: all are unique, or not known yet. Returns 1: a mode has
 * changed, and a start is made with it; 2: the same, and velocities jump: before a start, in it; after one,
 * the next start begins with its velocities; 0: no mode has changed; < 0: give up. */
typedef int (*ga_switch_fn)(void *user, const ga_point *p, ga_switch_when when, const unsigned char *shared,
                            double *x);

/* Name of equation `index` of a block into text (size bytes, its end included), for messages. */
typedef void (*ga_name_fn)(void *user, ga_equation_block block, int index, char *text, size_t size);

/* Creates the work space of one evaluator (a stepper, for example) in *work. Callbacks that are given it may
 * store errors in ctx. Any other status than GA_OK: it was not created. */
typedef ga_status (*ga_work_create_fn)(void *user, ga_context *ctx, void **work);
typedef void (*ga_work_destroy_fn)(void *work);

typedef struct ga_system_def { /* start from ga_system_defaults(); copied at creation, the arrays too */
  int n_factors;
  const ga_factor *factors; /* the group of q */
  int n_lambda, n_psi, n_x, n_y;
  void *user; /* handed to every callback; borrowed */
  /* Work space of the callbacks. Each evaluator (a stepper, or the system itself) creates one when it is
   * created, with its own context, and passes it to every callback in place of `user`. Several evaluators may
   * then run at the same time, each in one thread. work_destroy must not use `user`. NULL: callbacks are
   * given `user`; to be used by several threads, they must not write to it. */
  ga_work_create_fn work_create;
  ga_work_destroy_fn work_destroy; /* needed if work_create is given */

  ga_eval_fn mass;  /* M(t,q) vdot          [nv]  needed if nv > 0 */
  ga_eval_fn force; /* f                    [nv]  needed if nv > 0 */
  ga_eval_fn phi;   /* Φ(t,q)         [n_lambda]  needed if n_lambda > 0 */
  ga_eval_fn phi_dot; /* B v + Φ_t      [n_lambda]  NULL: B v from the Jacobian (or differences of Φ), and Φ_t
                         by differences if `rheonomic` */
  ga_eval_fn
      phi_acc;  /* Φ's second time derivative at vdot = 0: Z(v,v) + 2 Φ_tq v + Φ_tt; NULL: differences */
  ga_eval_fn k; /* k(t,q,v)          [n_psi]  needed if n_psi > 0 */
  ga_eval_fn k_acc;        /* k_t + k_q v       [n_psi]  NULL: differences */
  ga_eval_fn state;        /* s                   [n_x]  needed if n_x > 0 */
  ga_eval_fn output;       /* o                   [n_y]  needed if n_y > 0 */
  ga_eval_fn output_guess; /* initial guess of y    [n_y]  NULL: zeros; o must then be defined at y = 0 */
  /* Inner unknowns n: q determines them by c(q, n) = 0, and the system eliminates them, such as the section
   * forces of beam elements. At a point with p->statics->inner = n, `force` returns f − f_n c_n⁻¹ c and
   * `jacobian` the derivative f_q − f_n c_n⁻¹ c_q, both with derivatives at (q, n): Newton's iteration for q
   * and n together then needs the unknowns q alone. It may converge much faster than that for q with n =
   * n(q). It is used in statics, and in those steps whose prediction changes n by more than its size. */
  int n_inner;
  ga_eval_fn inner;        /* n(q)           [n_inner]  needed if n_inner > 0 */
  ga_inner_fn inner_step;  /* δn of that iteration      needed if n_inner > 0 */
  ga_jacobian_fn jacobian; /* NULL: coloured differences, which ga_stats counts */
  ga_sweep_fn sweep; /* NULL: the callbacks above, one after the other; needs jacobian and, for Φ, phi_dot */
  ga_break_fn next_break; /* NULL: the equations are taken to be smooth in t */
  ga_sample_fn sample;    /* NULL: no states jump. Needs a simulator, or a follower of one */
  ga_hidden_fn hidden;    /* NULL: not known what happens between the ends of a step */
  int hidden_motion;      /* 1: `hidden` needs q and v too */
  /* 1: the equations vary as the motion does: nothing in them acts for a short time only, along t or along
   * the motion, as pulses, contacts, tables or sampled inputs do. Between the ends of a step they are then
   * checked once, instead of ga_simulate_opts.defect_points times in a run, which on small problems is most
   * of its work. 0 (default): not known. Machines know it of themselves. */
  int smooth;
  int n_sides;               /* edges at which the equations jump, or have a kink, with the motion */
  ga_sides_fn sides;         /* needed if n_sides > 0 */
  ga_side_name_fn side_name; /* NULL: "edge 0", ... */
  int n_switches;        /* the last of the sides; simulators and followers pass them, steps alone do not */
  ga_switch_fn switches; /* needed if n_switches > 0 */
  ga_name_fn name;       /* NULL: "dynamics 3", "lambda 0", ... */
  int rheonomic;         /* 1: Φ depends on t; used only if phi_dot is NULL */

  /* Entries (pattern_row[e], pattern_col[e]) of the matrix of residuals by unknowns that can be non-zero in
   * D, Q or G, each once; the core adds the diagonals of X and Y. The rows of LAMBDA must hold B and D_q(B v
   * + Φ_t). n_pattern 0 and NULLs: dense. */
  int n_pattern;
  const int *pattern_row, *pattern_col;
  /* [n_pattern] Which of D, Q, G have this entry: GA_WANT_D, GA_WANT_Q, GA_WANT_G and GA_NO_MASS, combined
   * by |; in the others it must stay zero. NULL: every entry may be non-zero in all three. */
  const unsigned char *pattern_in;

  /* [nv] Groups of velocities, such as those of one body: the number of the group, from 0, for each velocity,
   * ~number if it has no inertia and is held by constraints. Large sparse matrices are then factored group by
   * group. NULL: not known. */
  const int *cluster;

  /* [nv] Upper bounds of |q| in tolerances of positions: atol + rtol min(|q|, scale). For a machine that may
   * move away from the origin take its own size: a position that is far away must not have a larger error
   * than one that is near, and an angle that has turned many times none larger than one within a turn. 0: no
   * bound, the default; rotations have 1 rad. NULL: 0 for all. */
  const double *scale;
} ga_system_def;

typedef struct ga_system ga_system; /* constant after creation: steppers in several threads may share it */

GA_API ga_system_def ga_system_defaults(void);
GA_API ga_status ga_system_create(ga_context *ctx, const ga_system_def *def, ga_system **out);
GA_API void ga_system_destroy(ga_system **sys);

GA_API const ga_group *ga_system_group(const ga_system *sys);
GA_API int ga_system_size(const ga_system *sys, ga_equation_block block); /* GA_BLOCK_ETA: as LAMBDA */
GA_API int ga_system_start(const ga_system *sys,
                           ga_equation_block block); /* first row and column of a block */
GA_API int ga_system_n(const ga_system *sys);        /* all rows */
/* The name of an equation, as in messages. */
GA_API void ga_system_name(const ga_system *sys, ga_equation_block block, int index, char *text, size_t size);

/* -- Derivative checker: the given derivatives against fourth-order differences, at one point -- */

typedef enum ga_check_what {
  GA_CHECK_D_V,     /* ∂r/∂v */
  GA_CHECK_D_VDOT,  /* ∂r/∂vdot */
  GA_CHECK_D_OTHER, /* ∂r/∂(λ,ψ,x,y) */
  GA_CHECK_Q,       /* D_q r */
  GA_CHECK_G,       /* D_q(B v + Φ_t) */
  GA_CHECK_PHI_DOT, /* phi_dot against Φ along the motion */
  GA_CHECK_PHI_ACC, /* phi_acc against phi_dot along the motion */
  GA_CHECK_K_ACC,   /* k_acc against k along the motion */
  GA_CHECK_B,       /* B asked for alone against B within Q */
  GA_CHECK_PATTERN, /* a derivative outside the declared pattern, or in an array that pattern_in leaves out */
  GA_CHECK_SWEEP    /* sweep against the single callbacks, and against itself: without a Jacobian, and into
                       arrays that hold the values of another point */
} ga_check_what;

typedef struct ga_check_finding {
  ga_check_what what;
  int row, col; /* in the whole matrix; col -1 for PHI_DOT, PHI_ACC, K_ACC and residuals of SWEEP, where the
                   rows of B v + Φ_t follow after all others */
  double given, expected;
} ga_check_finding;

typedef struct ga_check_report {
  int n_checked;  /* entries compared */
  int n_wrong;    /* entries off by more than the tolerance */
  int n_unsure;   /* entries off by more than the tolerance, but by no more than the possible error of the
                     differences themselves, next to a kink or a singularity. They do not count as wrong; a
                     message is logged. Check at another point */
  int n_findings; /* the worst of them, worst first */
  ga_check_finding finding[16]; /* "worst": |given − expected| over its row's scale */
  double worst;                 /* the largest such ratio over all entries, wrong or not */
} ga_check_report;

/* tol: relative, usually 1e-6. GA_ERR_DERIVATIVE if an entry is wrong: the error text names its row and
 * column, report (may be NULL) has more. p->q must lie on the group. Uses the system's own context and work
 * space. */
GA_API ga_status ga_system_check(const ga_system *sys, const ga_point *p, double tol,
                                 ga_check_report *report);

/* ---- Evaluation: equations and derivatives at a point, without a method -------------------------------
 *
 *   r = (M vdot − f, Φ, k, xdot − s, y − o)
 *
 * and a sparse matrix for each block of equations (rows, ga_equation_block) by each kind of unknown (columns,
 * ga_by):
 *
 *            VDOT      V         Q               LAMBDA  PSI   X     Y
 *   V        M         C = −f_v  K               −f_λ    −f_ψ  −f_x  −f_y
 *   LAMBDA   0         0         B = D_q Φ       0       0     0     0
 *   PSI      0         k_v       D_q k           0       0     0     0
 *   X        −s_vdot   −s_v      −D_q s          −s_λ    −s_ψ  −s_x  −s_y
 *   Y        −o_vdot   −o_v      −D_q o          −o_λ    −o_ψ  −o_x  1 − o_y
 *   ETA      0         B         D_q(B v + Φ_t)  0       0     0     0
 *
 * K = D_q(M vdot − f) at fixed v and vdot, including the change of constraint forces with q. ETA: the hidden
 * constraints B v + Φ_t. D_q is the derivative in the algebra, as at the top of this file: the matrices by
 * vdot, v and q have nv columns. */

typedef enum ga_by { GA_BY_VDOT = 0, GA_BY_V, GA_BY_Q, GA_BY_LAMBDA, GA_BY_PSI, GA_BY_X, GA_BY_Y } ga_by;
enum { GA_N_BY = 7 };

typedef struct ga_evaluation ga_evaluation;

/* Borrows sys, which must outlive the evaluation. All memory is allocated here. Errors go to ctx, which may
 * differ from the system's context. */
GA_API ga_status ga_evaluation_create(ga_context *ctx, const ga_system *sys, ga_evaluation **out);
GA_API void ga_evaluation_destroy(ga_evaluation **ev);

/* r[ga_system_n] at p; xdot[n_x], NULL: zeros, so that the rows of X are −s. phi_dot[n_lambda]: B v + Φ_t,
 * NULL: not wanted. */
GA_API ga_status ga_evaluation_residual(ga_evaluation *ev, const ga_point *p, const double *xdot, double *r,
                                        double *phi_dot);
/* All matrices at p, by the system's Jacobian, or by differences where it has none. */
GA_API ga_status ga_evaluation_jacobian(ga_evaluation *ev, const ga_point *p);
/* One of these matrices. Its pattern and the pointer stay the same; its values are those of the last
 * ga_evaluation_jacobian(). NULL if there was no such call, or if it failed. */
GA_API const ga_sparse *ga_evaluation_matrix(const ga_evaluation *ev, ga_equation_block equations, ga_by by);
/* The square matrix of all equations, rows and columns in the order V, LAMBDA, PSI, X, Y:
 *   columns V: by_q r_q + by_v r_v + by_vdot r_vdot;   X: r_x, + by_xdot on the diagonal;   others: as above
 * With factors (1, 0, 0, 0) this is the matrix of an equilibrium; with δvdot = by_vdot δq and so on that of
 * any implicit method. ga_lu_create(), ga_lu_solve() and ga_lu_solve_t() solve with it and its transpose.
 * NULL as above; the pointer stays the same, and the values are those of the last call. Redundant constraints
 * make it singular, which ga_lu_factor() reports. */
GA_API const ga_sparse *ga_evaluation_combine(ga_evaluation *ev, double by_q, double by_v, double by_vdot,
                                              double by_xdot);

/* ---- Linearisation: small motions about a point, in first order --------------------------------------
 *
 *   dz/dt = A z,   z = (z1, z2, δx, w):  free positions, free velocities, states; w only with inputs
 *   δq = q z,  δv = v z,  δvdot = vdot z,  (δλ, δψ) = multipliers z,  δy = y z
 *
 * Constraints hold for every z: B δq = 0, and so do the hidden and nonholonomic ones. δq is in the algebra,
 * the move of ga_group_move(). Columns of q for z1, and of v for z2, are orthonormal bases of what the
 * constraints leave free; another basis would give another A with the same eigenvalues. δq and δv are related
 * by δq' = δv − [v, δq], with the bracket of the factor's side. The point should be an equilibrium or a
 * steady motion, along which the matrices are constant. Elsewhere the equations hold at this instant only,
 * and the eigenvalues of A do not tell which motions grow. Where constraints are redundant, δλ and δψ are
 * those of least norm, like a stepper's multipliers.
 *
 * With inputs δu, each added to the right-hand side of one equation, M vdot = f + δu, xdot = s + δu,
 * y = o + δu:
 *
 *   dz/dt = A z + B δu,   δvdot = vdot z + u_vdot δu,   and so on; δq and δv depend on z alone.
 *
 * An offset of a constraint, Φ = w or k = w, also changes velocities and accelerations, by its rates. It is
 * therefore a state, and the input is its highest rate: Φ has the two states w and w' and the input w''; k
 * has the state w and the input w'. A prescribed motion is an input of this kind. */

typedef struct ga_linear_input {
  ga_equation_block block; /* V, X, Y: added to f, s, o; LAMBDA, PSI: an offset, the input being its rate */
  int index;               /* the equation */
} ga_linear_input;

typedef struct ga_linear_form { /* all matrices by columns, one column for each of the n components of z */
  int n_q, n_v, n_x, n_w, n;    /* lengths of z1, z2, δx, w, and of z */
  const double *A;              /* [n][n] column j: dz/dt for the unit vector j */
  const double *q, *v, *vdot;   /* [n][nv] */
  const double *multipliers;    /* [n][n_lambda + n_psi] */
  const double *y;              /* [n][n_y] */
  int n_u;                      /* number of inputs; the matrices below have one column for each */
  const double *B;              /* [n_u][n] dz/dt */
  const double *u_vdot, *u_multipliers, *u_y; /* [n_u][nv], [n_u][n_lambda + n_psi], [n_u][n_y] */
  const int *w;    /* [n_u] index in z of the input's first state; −1: it has none */
  double residual; /* largest |M vdot − f|, |Φ|, |B v + Φ_t|, |k|, |y − o| at the point; if it is larger
                      than rounding, the point is not a solution of the equations */
  double unsteady; /* [1/s] how fast the matrices change along the motion, relative to the largest entry
                      of each row; about 0 for a steady motion; NaN: not known */
  double independence; /* [-] smallest over largest singular value of the independent constraints, rows
                          scaled to length 1 */
} ga_linear_form;

typedef struct ga_linearisation ga_linearisation;

/* As ga_evaluation_create(). For dense matrices: at most 5000 equations. */
GA_API ga_status ga_linearisation_create(ga_context *ctx, const ga_system *sys, ga_linearisation **out);
/* The same with inputs, which are copied. GA_ERR_ARGUMENT if an equation does not exist. */
GA_API ga_status ga_linearisation_create_with_inputs(ga_context *ctx, const ga_system *sys, int n_inputs,
                                                     const ga_linear_input *inputs, ga_linearisation **out);
GA_API void ga_linearisation_destroy(ga_linearisation **lin);
/* Linearises about p, of which vdot, λ, ψ and y are used too. *form: valid until the next call; NULL on
 * failure. GA_ERR_SINGULAR: vdot, λ, ψ, y are not determined by q, v, x there, constraints lose their
 * independence, or an input would offset a redundant constraint against those it follows from.
 * GA_ERR_DERIVATIVE: the equations have a kink or jump exactly at p, within 1e-8 of it, as abs(q) at 0. */
GA_API ga_status ga_linearisation_compute(ga_linearisation *lin, const ga_point *p,
                                          const ga_linear_form **form);

/* ---- Steady turning: a motion in which a system turns as one, about a fixed axis with constant speed ------
 *
 *   q(t) = S(t) q(0),   v = velocity(q),   vdot = Ω̂ v;   small motions too: δq → S δq, δv → S δv, S' = Ω̂ S
 *
 * S(t) turns vectors in axes of the ground and leaves those in body axes as they are. In axes that turn with
 * it, the system is at rest, and its linear equations are constant. ga_machine_turning_create() makes this
 * from a machine. */

typedef struct ga_turning {
  double speed;         /* [rad/s] > 0 */
  int n;                /* entries of Ω̂, [nv × nv], sorted by rows */
  const int *row, *col; /* [n] */
  const double *value;  /* [n] [1/s] */
  void (*velocity)(const void *user, const double *q, double *v); /* v[nv] of the turning at q[nq] */
  const void *user;
} ga_turning;

/* Room for a state; lengths as in ga_point. */
typedef struct ga_turning_state {
  double *q, *v, *vdot, *lambda, *psi, *x, *y;
} ga_turning_state;

typedef struct ga_turning_report {
  int iterations;  /* of Newton's method */
  int speed_steps; /* 1: at full speed from the beginning; more: the speed was raised in steps */
  double residual; /* largest |M vdot − f|, |Φ|, |k|, |s|, |y − o| */
  double slip;     /* largest |B v + Φ_t|: how far drives and the turning disagree */
} ga_turning_report;

/* The state of steady turning near at->q, at->x, under centrifugal and all other forces, at time t: a
 * relative equilibrium. All of *at is written; multipliers and y on entry are guesses. Nothing is borrowed.
 * report may be NULL. GA_RETRY_NEWTON: none was found; GA_ERR_INCONSISTENT: constraints do not allow the
 * turning. */
GA_API ga_status ga_turning_solve(ga_context *ctx, const ga_system *sys, const ga_turning *turning, double t,
                                  const ga_turning_state *at, ga_turning_report *report);

/* ---- Modes: frequencies, damping and shapes of small motions about a point -------------------------------
 *
 *   δq(t) = Re (shape.q exp(s t)),  likewise v, vdot, λ, ψ, x, y;   s = re + i im
 *
 * The eigenvalues s of smallest |s| of the equations above, with constraints and controllers, from sparse
 * matrices by inverse iteration (ARPACK; LAPACK for few unknowns). The point has to be an equilibrium or a
 * steady motion, as above. Eigenvalues that are 0 up to rounding (free motions, integrators) are set to 0:
 * their shapes are motions that leave all forces unchanged. */

typedef struct ga_modes_opts { /* start from ga_modes_defaults() */
  int n;     /* modes wanted, those of smallest |s|; 0: ten, or all where there are fewer; default 0 */
  int dense; /* 1: LAPACK for any size, −1: ARPACK; default 0: by size */
  const ga_turning
      *turning; /* the point is one of this steady turning, and the modes are motions in axes that
                   turn with it: δq(t) = S(t) Re (shape.q exp(s t)), likewise v; default NULL */
} ga_modes_opts;

/* A direction of all unknowns; array lengths as in ga_point. */
typedef struct ga_direction {
  const double *q, *v, *vdot, *lambda, *psi, *x, *y;
} ga_direction;

typedef struct ga_mode {
  double re, im;    /* [1/s] eigenvalue; of a complex pair the one with im > 0; re > 0: the motion grows */
  double frequency; /* [Hz] im/2π */
  double damping;   /* [-] −re/|s|; 1: decays without oscillation, −1: grows without; 0 where s is 0 */
  int zero;         /* 1: s is 0 to within rounding, and re = im = 0 */
  double residual;  /* [-] residual of the linear equations, relative to the size of their terms */
  ga_direction real, imaginary; /* shape, scaled so that its largest component of q is 1, or of x where q is
                                   0; valid as long as the modes */
} ga_mode;

typedef struct ga_modes_info {
  int n;           /* modes found, a pair counting once */
  int n_all;       /* all eigenvalues of the system, with their multiplicities */
  int n_zero;      /* those of them that are 0; where motions drift, there are fewer shapes than these. If the
                      last mode is one of them, there may be more */
  int squared;     /* 1: nothing depends on velocities; s² was computed, and is real where matrices are
                      symmetric */
  int dense;       /* 1: by LAPACK */
  double shift;    /* [1/s] eigenvalues nearest to this were found first */
  double residual; /* of the point: largest |M vdot − f|, |Φ|, |B v + Φ_t|, |k|, |y − o| */
  double unsteady; /* [1/s] as in ga_linear_form */
} ga_modes_info;

typedef struct ga_modes ga_modes;

GA_API ga_modes_opts ga_modes_defaults(void);
/* opts NULL: the defaults. Modes about p, of which vdot, λ, ψ and y are used too; nothing is borrowed. They
 * are sorted by |s|. GA_ERR_ARGUMENT: n is below 0 or larger than the number of modes; GA_ERR_SINGULAR: vdot,
 * λ, ψ, y are not determined by q, v, x, or the iteration does not converge; GA_ERR_DERIVATIVE: the equations
 * have a kink or jump exactly at p, as abs(q) at 0. */
GA_API ga_status ga_modes_create(ga_context *ctx, const ga_system *sys, const ga_modes_opts *opts,
                                 const ga_point *p, ga_modes **out);
GA_API void ga_modes_destroy(ga_modes **modes);
GA_API const ga_modes_info *ga_modes_get_info(const ga_modes *modes);
GA_API const ga_mode *ga_modes_at(const ga_modes *modes, int i); /* NULL: there is no such i */

/* ---- Scheme: the parameters of the generalized-α family -------------------------------------------------
 *   (1−αm) a₁ + αm a = (1−αf) vdot₁ + αf vdot;   the auxiliary w of x likewise with δm, δf
 *   q₁: Δq = v + (½−β) h a + β h a₁;   v₁ = v + (1−γ) h a + γ h a₁;   x₁ = x + (1−θ) h w + θ h w₁ */
typedef struct ga_scheme {
  double alpha_m, alpha_f, beta, gamma; /* mechanical part */
  double delta_m, delta_f, theta;       /* first-order states */
} ga_scheme;

GA_API ga_status ga_scheme_rho(ga_context *ctx, double rho_inf,
                               ga_scheme *out); /* Chung-Hulbert, Jansen; [0,1] */
GA_API ga_status ga_scheme_hht(ga_context *ctx, double alpha, ga_scheme *out); /* α in [−1/3, 0] */
GA_API ga_status ga_scheme_newmark(ga_context *ctx, double beta, double gamma, ga_scheme *out);
/* Order 2, zero-stability, stability at infinity, and β > 0; the error says which condition fails and by how
 * much. Parameters set by hand go through this when a stepper is created, unless allow_any_scheme. */
GA_API ga_status ga_scheme_check(ga_context *ctx, const ga_scheme *scheme);

/* ---- Stepper ------------------------------------------------------------------------------------------- */

/* The methods, one row each: constant, name (as in model files), title, description. The rest of a method is
 * in its file, see docs/develop/methods.md.
 *
 *   INDEX3      Arnold & Brüls 2007
 *   STABILIZED  with multipliers η (stabilized index 2), Arnold, Cardona & Brüls 2015
 *   WEIGHTED    Jay & Negrut's index-2 method for nonholonomic systems, HHT-I3 for holonomic ones
 *   SOI2        Jay & Negrut 2008: Φ = 0, B v + Φ_t = 0, k = 0 with a second set of unknowns
 *   HHT_SOI2    its form for f = f0 − Bᵀλ without nonholonomic constraints
 *   COLLOCATION Lobatto IIIA and Radau IIA, of higher order (ga_stepper_opts.order); no numerical damping
 *   AUTOMATIC   under error control COLLOCATION or STABILIZED, whichever takes less work; else STABILIZED */
#define GA_METHOD_LIST(X)                                                                                    \
  X(GA_INDEX3, index3, "index-3", "exact equilibrium, positions constrained only")                           \
  X(GA_STABILIZED, stabilized, "stabilized", "exact equilibrium, positions and velocities constrained")      \
  X(GA_WEIGHTED, weighted, "weighted", "weighted residual, positions constrained only (HHT-I3)")             \
  X(GA_SOI2, soi2, "SOI2", "generalized-α-SOI2: weighted, positions and velocities constrained")             \
  X(GA_HHT_SOI2, hht_soi2, "HHT-SOI2",                                                                       \
    "HHT-SOI2: the same for forces f − Bᵀλ without nonholonomic constraints")                                \
  X(GA_COLLOCATION, collocation, "collocation",                                                              \
    "collocation of order 3 to 10, positions and velocities constrained")                                    \
  X(GA_AUTOMATIC, automatic, "automatic",                                                                    \
    "collocation, or stabilized steps where motions are rough: by least work")

typedef enum ga_method {
#define GA_METHOD_ID(id, name, title, about) id,
  GA_METHOD_LIST(GA_METHOD_ID)
#undef GA_METHOD_ID
} ga_method;

/* A method, and what it can do. */
typedef struct ga_method_info {
  ga_method method;
  const char *name, *title, *about; /* "index3", "index-3", ... */
  int keeps_positions;              /* 1: Φ = 0 at the end of every step, */
  int keeps_rates;                  /* and B v + Φ_t = 0 */
  int has_eta;                      /* 1: by additional multipliers η; ga_eta_terms is then used */
  int vdot_at_end;                  /* 1: s, o and f may depend on vdot */
  int adjusts_gamma;                /* 1: GA_ADJUST_GAMMA is possible */
  int holonomic_only;               /* 1: not for systems with k */
  int hht;                          /* 1: published with the parameters of HHT */
  int has_order;                    /* 1: ga_stepper_opts.order gives its order; all others have order 2 */
  int order;                        /* of equal steps, where it is not given */
} ga_method_info;

GA_API int ga_method_at(int i, ga_method_info *out); /* 0: there are no more; out may be NULL */
/* 0: there is none of this name; out may be NULL */
GA_API int ga_method_find(const char *name, ga_method *out);
/* 1: ga_stepper_opts.order may be this one; 0, chosen by the method, always may */
GA_API int ga_method_has_order(ga_method method, int order);

/* The weighted methods use M a at t + (αm−αf)h: */
typedef enum ga_mass_alpha {
  GA_MASS_RECOMPUTE = 0, /* M evaluated there */
  GA_MASS_PREVIOUS = 1   /* M a kept from the step before, adjusted when h changes: one evaluation less */
} ga_mass_alpha;

/* First guess of a step's accelerations and multipliers, from the last steps. */
typedef enum ga_predictor {
  GA_PREDICT_CONSTANT = 0,  /* as at the last step */
  GA_PREDICT_LINEAR = 1,    /* continued linearly */
  GA_PREDICT_QUADRATIC = 2, /* by a parabola */
  GA_PREDICT_AUTO = 3       /* the one that would have been best at the last step */
} ga_predictor;

typedef enum ga_reuse {
  GA_REUSE = 0,          /* keep the factors while the iteration converges well, over steps too */
  GA_FRESH_STEP = 1,     /* new at the first iteration of every step */
  GA_FRESH_ITERATION = 2 /* new at every iteration: Newton's method itself */
} ga_reuse;

/* Terms in the columns of η of the stabilized form's iteration matrix. */
typedef enum ga_eta_terms {
  GA_ETA_AUTO = 0,  /* full up to 64 unknowns; beyond, triangular as long as the iteration converges well with
                       it, otherwise full; both are kept */
  GA_ETA_FULL,      /* all of them: the exact derivative */
  GA_ETA_TRIANGULAR /* those of Φ only: half the cost, and often as good since η is of
                       order h²; unsuitable near singular positions and for fast spinning wheels */
} ga_eta_terms;

typedef struct ga_newton_opts {
  double tol; /* [-] on the estimated remaining error, relative in vdot, λ, ψ, x, y; default 1e-10 */
  int max_iterations;     /* default 12 */
  ga_reuse reuse;         /* default GA_REUSE */
  int patience;           /* iterations still expected above which reused factors are renewed; default 4 */
  ga_eta_terms eta_terms; /* default GA_ETA_AUTO */
  ga_predictor predictor; /* default GA_PREDICT_AUTO */
} ga_newton_opts;

/* How order 2 is kept when h changes: the auxiliary a approximates vdot at a time that differs from t by an
 * amount proportional to h. */
typedef enum ga_adjust {
  GA_ADJUST_SHIFT = 0, /* a (and w) extrapolated to the time that belongs to the new h, by its last
                          difference; for the weighted methods this is (14) of Jay & Negrut */
  GA_ADJUST_GAMMA =
      1, /* γ and θ of every step from (29) of Brüls & Arnold, in its ε form; exact equilibrium only */
  GA_ADJUST_NONE = 2 /* neither: first order when step sizes change abruptly; for comparison */
} ga_adjust;

/* What to do with constraints that follow from others at the present state: [B; A] lacks full row rank. */
typedef enum ga_redundant {
  GA_REDUNDANT_ACCEPT = 0, /* the independent constraints determine the motion, and the multipliers are those
                              of least norm, see ga_redundancy; a warning names the redundant ones */
  GA_REDUNDANT_REFUSE = 1  /* an error: the matrix is singular */
} ga_redundant;

typedef struct ga_stepper_opts { /* start from ga_stepper_defaults() */
  ga_method method;              /* default GA_STABILIZED */
  ga_scheme scheme;              /* default ρ∞ = 0.8 */
  int commutator;   /* 1: the term (h²/12)[v_n,v₁] in the update of rotations; 0: as in the papers */
  ga_adjust adjust; /* default GA_ADJUST_SHIFT */
  int move_offset;  /* 1 (default): index-3 only, the normal part of v is adjusted to h too; without this λ
                       loses its order */
  ga_mass_alpha mass_alpha; /* weighted methods only; default GA_MASS_RECOMPUTE */
  /* GA_COLLOCATION and GA_AUTOMATIC: even orders 4 to 10 by Lobatto IIIA, for smooth motions; 3, 5, 7 by
   * Radau IIA; 2, GA_AUTOMATIC only, GA_STABILIZED. 0 (default): chosen; for steps of a given size 4 and 2,
   * under error control by least work, step by step. The scheme is that of order 2. */
  int order;
  int full_solve; /* weighted methods: 1: always the full matrix, never the small one, which suffices for
                     forces that are not stiff */
  int allow_any_scheme; /* 1: skip ga_scheme_check(), for experiments */
  int timing;           /* 1: keep the times of ga_stats; default 0 */
  ga_newton_opts newton;
  ga_lu_kind lu;          /* default GA_LU_AUTO */
  ga_redundant redundant; /* default GA_REDUNDANT_ACCEPT */
  /* GA_COLLOCATION and GA_AUTOMATIC: nodes of a step in this many threads, for large systems; default 1.
   * Results have the same bits for any number. Only with ga_system_def.work_create, as machines have it:
   * callbacks are then called by several threads, each with its own work space. More than there are nodes are
   * not used, nor with redundant constraints or in steps for stiff equations. */
  int threads;
} ga_stepper_opts;

/* The solution at one time; the arrays belong to the stepper and change with the next step. In a stepper's
 * own state they follow each other in memory, in this order and without gaps, so that one copy from q to the
 * end of y takes all of them. In states given to outputs and events the arrays may be anywhere; a, eta and w,
 * which are defined at the ends of steps only, are NULL for states within a step. */
typedef struct ga_state {
  double t;             /* [s] */
  const double *q;      /* [nq] */
  const double *v;      /* [nv] */
  const double *vdot;   /* [nv] true acceleration at t */
  const double *a;      /* [nv] the method's auxiliary acceleration, close to vdot at t + (αm−αf) h */
  const double *lambda; /* [n_lambda] */
  const double *psi;    /* [n_psi] */
  const double *eta;    /* [n_lambda] of the last step; 0 in the index-3 form */
  const double *x;      /* [n_x] */
  const double *xdot;   /* [n_x] */
  const double *w;      /* [n_x] the method's auxiliary rate */
  const double *y;      /* [n_y] */
} ga_state;

typedef struct ga_stats {
  long steps;                /* accepted */
  long failed_steps;         /* that returned a recoverable status */
  long iterations;           /* of Newton */
  long residuals;            /* evaluations of the residual, and so of mass, force, phi, ... */
  long jacobians;            /* evaluations of the Jacobian for the iteration matrix */
  long constraint_jacobians; /* evaluations of B alone */
  long difference_jacobians; /* of the two above, those by differences because there is no callback */
  long factorisations, solves;
  long at_floor;    /* steps whose iteration ended at the level of rounding, above the tolerance */
  double rcond;     /* [-] of the last iteration matrix, scaled; cheap estimate */
  double last_rate; /* [-] contraction in the last step, 0 if one iteration sufficed */
  double time_residual, time_jacobian, time_factor, time_solve; /* [s] spent in each, with opts.timing */
  int difference_groups; /* colours used by the differences; 0 with a Jacobian callback */
  int redundant;         /* constraints that follow from others at the present state */
  long all_terms;        /* changes to the matrix with all terms of η (GA_ETA_AUTO) */
} ga_stats;

typedef struct ga_stepper ga_stepper;

GA_API ga_stepper_opts ga_stepper_defaults(void);
/* Copies opts, borrows sys. All memory is allocated here, but that of matrices that few runs need: those of
 * order 2 of GA_AUTOMATIC come with the first start that takes it. Errors go to ctx, which may differ from the
 * system's context: a stepper used in another thread needs a context of that thread. */
GA_API ga_status ga_stepper_create(ga_context *ctx, const ga_system *sys, const ga_stepper_opts *opts,
                                   ga_stepper **out);
GA_API void ga_stepper_destroy(ga_stepper **st);

typedef struct ga_start_opts { /* start from ga_start_defaults() */
  double h;                    /* [s] first step, > 0: a₀ and v₀ of order 2 depend on it */
  int project; /* 1: move q₀ and v₀ onto the constraints (default); 0: take them as they are */
  int shift_a; /* 1: a₀ = vdot₀ + (αm−αf) h vddot₀, w₀ likewise (default); 0: a₀ = vdot₀, w₀ = xdot₀ */
  int perturb_v; /* 1: index-3 only, v₀ := v₀ + δ with B δ = h² B r, keeps λ at order 2 (default); 0: not */
  double max_change; /* [-] a projection moving q₀ or v₀ by more than this (largest component, relative to
                        1 + largest component) is GA_ERR_INCONSISTENT; default 0.1 */
  double max_gap;    /* [-] redundant constraints that fit together to within this (each divided by the length
                        of its row of [B; A], relative to 1 + largest component of q, or of v) count as
                        consistent, as data with few digits need; beyond, GA_ERR_INCONSISTENT; default 1e-6 */
  int forward;       /* 1: rates of accelerations by differences at times after t0 only, for starts at a jump;
                        default 0: on both sides */
  const double *a;   /* [nv] a₀ as it is, whatever shift_a, as papers give it by hand; NULL (default): as
                        shift_a says. Collocation   has no a. A simulator uses it for the first start alone */
} ga_start_opts;

typedef struct ga_start_change {          /* one correction */
  double residual_before, residual_after; /* largest component */
  int worst_before;                       /* equation with the largest residual before, -1: none */
  int worst_after;                        /* and after, where constraints are redundant; else -1 */
  double change;                          /* largest component of the correction, in algebra coordinates */
  int worst_change;                       /* coordinate that moved most, -1: none */
  int iterations;
} ga_start_change;

typedef struct ga_start_report {
  ga_start_change position;     /* Φ, and the move of q₀ */
  ga_start_change velocity;     /* B v + Φ_t, and the change of v₀ */
  ga_start_change nonholonomic; /* k; its change is within that of velocity */
  ga_start_change acceleration; /* solve for vdot, λ, ψ, y: the change is vdot₀ itself */
  double jerk;                  /* largest |vddot₀|, 0 where it was not needed */
  double a_shift, w_shift;      /* largest |a₀ − vdot₀|, |w₀ − xdot₀| */
  double
      jerk_change; /* relative change of vddot₀ within a step of h, to first order; far above 1, something is
                      too fast for such steps, and a shift by vddot₀ is wrong; 0 where there is no jerk */
  double v_perturbation; /* largest |δ| of the index-3 start */
  double rcond;          /* of the matrix [M Bᵀ Aᵀ; B; A], without redundant constraints */
  int mobility;          /* velocities minus independent constraints */
  int redundant;         /* constraints that follow from others */
  int n_blamed;          /* length of the lists below: the first of these, one for each relation */
  ga_equation_block blamed_block[8]; /* GA_BLOCK_LAMBDA or GA_BLOCK_PSI */
  int blamed_index[8];
  double gap; /* remaining residual of redundant constraints that are not exactly consistent, scaled as
                 max_gap */
} ga_start_report;

GA_API ga_start_opts ga_start_defaults(void);
/* Makes the initial values consistent and the stepper ready. q0[nq], v0[nv], x0[n_x] are not changed; guesses
 * for λ and ψ (may be NULL: zeros) matter only where f is nonlinear in them. report may be NULL. On failure
 * the stepper has no state. */
GA_API ga_status ga_stepper_start(ga_stepper *st, const ga_start_opts *opts, double t0, const double *q0,
                                  const double *v0, const double *x0, const double *lambda_guess,
                                  const double *psi_guess, ga_start_report *report);
/* Moves q[nq], and v[nv] unless it is NULL, onto the constraints as ga_stepper_start() does. Forces and
 * outputs are not evaluated. On failure q and v hold the nearest values that were found. The stepper has no
 * state afterwards. report may be NULL. */
GA_API ga_status ga_stepper_assemble(ga_stepper *st, const ga_start_opts *opts, double t0, double *q,
                                     double *v, ga_start_report *report);
/* Moves q[nq] onto the constraints likewise, and along them to the positions nearest to given[nq]: those that
 * minimise ½ dᵀ M d with q = move(given, d) and M at the given positions. GA_RETRY_NEWTON: q meets the
 * constraints, but the nearest positions were not found. The stepper has no state afterwards. */
GA_API ga_status ga_stepper_nearest(ga_stepper *st, const ga_start_opts *opts, double t0, const double *given,
                                    double *q);
/* How independent the holonomic constraints are at q: the square root of the least eigenvalue of B M⁻¹ Bᵀ,
 * without those of redundant constraints. It goes to 0 where constraints lose their independence, for example
 * where two branches of a mechanism meet; infinite without constraints. The stepper has no state afterwards.
 */
GA_API ga_status ga_stepper_independence(ga_stepper *st, double t, const double *q, double *out);
/* The report in words, several lines, into text; returns the length it needs, as snprintf does. */
GA_API int ga_start_report_text(const ga_system *sys, const ga_start_report *report, char *text, size_t size);
/* The same of some parts only, combined by |. */
enum {
  GA_START_POSITIONS = 1,
  GA_START_VELOCITIES = 2, /* nonholonomic constraints included */
  GA_START_ACCELERATIONS = 4,
  GA_START_CONSTRAINTS = 8, /* mobility and redundant ones */
  GA_START_METHOD = 16,     /* initial values of the method's own variables */
  GA_START_ALL = 31
};
GA_API int ga_start_report_say(const ga_system *sys, const ga_start_report *report, int parts, char *text,
                               size_t size);

/* One step of size h > 0. Allocates nothing, except where sparse factors need new pivots. > 0: the state is
 * restored bit for bit, retry with a smaller h; < 0: fatal, the state is restored too. The first step should
 * have the h given to the start. Where h differs from the last one, opts.adjust keeps order 2; increase h by
 * a factor of about 2 per step at most. */
GA_API ga_status ga_stepper_step(ga_stepper *st, double h);

/* Undoes the last step, bit for bit, factors included. Possible once, and only directly after the step. */
GA_API ga_status ga_stepper_undo(ga_stepper *st);

/* -- Failed steps: what is known of the last step after it failed or was undone -- */

typedef struct ga_residual { /* of one equation, at the last iterate of Newton's iteration */
  ga_equation_block block;   /* GA_BLOCK_ETA: B v + Φ_t */
  int index;
  double value; /* M vdot − f (weighted methods: their mean of it), Φ, k, xdot − s, y − o, B v + Φ_t */
  double size;  /* [-] |value| relative to the terms of its block; used to compare equations */
} ga_residual;

enum { GA_FAILURE_RESIDUALS = GA_N_BLOCKS + 1 };
typedef struct ga_step_failure {
  ga_status status; /* as returned by ga_stepper_step(); GA_OK: the step succeeded and was undone */
  double t, h;      /* [s] where it began, and its size */
  ga_error error;   /* why; ga_error_say() makes a sentence of it */
  int n;            /* length of `residual`, the largest one of every block, largest first; 0: the step was
                       undone, or they have no value there */
  ga_residual residual[GA_FAILURE_RESIDUALS];
  int has_trial;  /* 1: every number of `trial` is finite */
  ga_state trial; /* the last iterate: the state at the end of the step */
} ga_step_failure;

/* Fills *out and returns 1. Returns 0 if the last step was accepted, or the stepper was started, projected,
 * saved or loaded since. Evaluates the equations once. Pointers in *out are valid until the stepper changes.
 */
GA_API int ga_stepper_failure(ga_stepper *st, ga_step_failure *out);

/* Local error of the last step, numerical minus exact, in algebra coordinates: e_q[nv], e_v[nv], e_x[n_x],
 * each may be NULL. e_v and e_x need two steps and are 0 after the first. */
GA_API ga_status ga_stepper_error(ga_stepper *st, double *e_q, double *e_v, double *e_x);

/* The same of collocation for accelerations, multipliers and outputs at the end of the step: e_vdot[nv],
 * e_lambda[n_lambda], e_psi[n_psi], e_y[n_y], each may be NULL. As of q and v there, of a motion of about
 * five periods, or of a simulator's run where that is shorter, not of one step (docs/theory.md).
 * GA_ERR_ARGUMENT: the last step was one of order 2, without such an estimate. */
GA_API ga_status ga_stepper_force_error(ga_stepper *st, double *e_vdot, double *e_lambda, double *e_psi,
                                        double *e_y);

/* The solution at t within the last step, by dense output: q by a cubic in the algebra, v and x by cubics,
 * vdot, λ, ψ and y by parabolas that include the step before, or by their rates after a start; all as
 * accurate as the steps themselves. After a corner, a change of the rank of the constraints or a much shorter
 * step, vdot, λ, ψ and y are interpolated linearly. Methods of higher order have polynomials of theirs for q,
 * v and x, and solve for vdot, λ, ψ and y again there, which calls the system's functions: a negative status
 * of these is returned, where others fail the polynomials are shown. Arrays may be NULL. GA_ERR_ARGUMENT
 * outside the step. */
GA_API ga_status ga_stepper_interpolate(ga_stepper *st, double t, double *q, double *v, double *vdot,
                                        double *lambda, double *psi, double *x, double *y);

/* Times within the last step, ascending, at which a method of higher order solves the equations: the
 * polynomial through a rate there, integrated over the step, is as accurate as the step. The last one is its
 * end, *begin its beginning. Returns their number; 0: the method has order 2, for which the trapezoidal rule
 * is as accurate, or the stepper was started, projected, saved or loaded since its last step, or that
 * was some roundings of t long. */
enum { GA_MOST_NODES = 6 };
GA_API int ga_stepper_nodes(const ga_stepper *st, double *begin, double at[GA_MOST_NODES]);
/* The values at node i < n that the method has solved for; a, eta and w are NULL. Valid until the stepper
 * changes. */
GA_API ga_status ga_stepper_node(const ga_stepper *st, int i, ga_state *out);

/* Called with the state at the start and after every step; return non-zero to stop. */
typedef int (*ga_observer_fn)(void *user, const ga_stepper *st);
/* n steps of size h. GA_STOPPED when the observer (may be NULL) said so. */
GA_API ga_status ga_stepper_run(ga_stepper *st, double h, long n, ga_observer_fn observer, void *user);

/* NULL before the start. The pointer stays the same and shows the present state until the stepper is
 * destroyed. */
GA_API const ga_state *ga_stepper_state(const ga_stepper *st);
GA_API const ga_stats *ga_stepper_stats(const ga_stepper *st);
/* Of the last step, or of the next one behind a start; 0 before it. */
GA_API int ga_stepper_order(const ga_stepper *st);
GA_API const ga_system *ga_stepper_system(const ga_stepper *st);

/* -- Redundant constraints. Rows of [B; A], each divided by its length, obey `redundant` independent
 * relations Σ weight · row = 0. Of the multipliers only what Bᵀλ + Aᵀψ contains is unique; those given are
 * the ones with the least sum of (multiplier · length of row)², so that scaling an equation changes nothing
 * but its own multiplier. -- */

typedef struct ga_constraint {
  ga_equation_block block; /* GA_BLOCK_LAMBDA or GA_BLOCK_PSI */
  int index;
  double weight; /* [-] within its relation, 1 for row[0] */
} ga_constraint;

typedef struct ga_relation {
  int n;
  const ga_constraint *row; /* [n] row[0]: the one declared last, which follows from the others and is in no
                               other relation; then the others in the order of their declaration */
} ga_relation;

typedef struct ga_redundancy { /* at the present state */
  int constraints;             /* n_lambda + n_psi */
  int rank, redundant;         /* of [B; A], and constraints − rank */
  int mobility;                /* nv − rank: free motions; larger at a singular position than nearby */
  const ga_relation *relation; /* [redundant] */
  const unsigned char *lambda_shared; /* [n_lambda] 1: this multiplier is not unique; NULL where none is */
  const unsigned char *psi_shared;    /* [n_psi] likewise */
} ga_redundancy;

/* Valid until the stepper changes. NULL before the start, or where a callback fails. */
GA_API const ga_redundancy *ga_stepper_redundancy(ga_stepper *st);

typedef enum ga_projection {
  GA_PROJECT_PLAIN = 0, /* onto B v + Φ_t = 0, k = 0; costs λ one order in the index-3 form */
  GA_PROJECT_OFFSET = 1 /* onto B v + Φ_t = h² B r, k = 0, which keeps that order: index-3 only, with the h of
                           the last step */
} ga_projection;
/* Projects the present velocity in the metric of M; change (may be NULL) receives what was done. */
GA_API ga_status ga_stepper_project_velocity(ga_stepper *st, ga_projection kind, ga_start_change *change);

/* Everything the following steps depend on, as plain numbers: steps after load give the same bits as steps
 * after save, on the same build and machine. For this, save also discards the factors; with sparse factors
 * the next step then allocates. */
GA_API size_t ga_stepper_saved_size(const ga_stepper *st); /* in doubles */
GA_API ga_status ga_stepper_save(ga_stepper *st, double *saved);
GA_API ga_status ga_stepper_load(ga_stepper *st, const double *saved);

/* Largest |Φ|, |B v + Φ_t|, |k| at the present state, for monitoring. Each may be NULL. */
GA_API ga_status ga_stepper_constraint_residuals(ga_stepper *st, double *phi, double *phi_dot, double *k);

/* ---- Sensitivities: derivatives of the numerical solution by parameters and initial values ---------------
 * Beside a stepper, after every step, the equations of the step are differentiated and solved once for every
 * parameter: what results is the derivative of the computed solution itself, with the sizes of the steps
 * held, not that of the exact one. For INDEX3 and STABILIZED, constant and varying steps; what is not
 * supported is refused by name (docs/sensitivity.md). The run itself is not changed by a bit.
 *
 * A parameter is given by the system at four of its values, p − 2δ, p − δ, p + δ, p + 2δ, from which the
 * derivatives of the equations at fixed states are fourth-order differences: relative errors of about 1e-11
 * with δ of 1e-3 of the size over which the equations change. An initial value has no systems, only other
 * initial values. */

enum { GA_PARAMETER_VALUES = 4 };
typedef struct ga_parameter_value {
  const ga_system *sys;       /* of the same sizes; NULL: the equations do not depend on the parameter */
  const double *q0, *v0, *x0; /* initial values; NULL: those given to ga_sensitivity_start() */
} ga_parameter_value;

/* Exact derivatives of the equations at p by a parameter; all arrays hold zeros on entry. */
typedef struct ga_parameter_rates {
  double *residual;  /* [n] of (M vdot − f, Φ, k, −s, −o); NULL: not wanted */
  double *rate;      /* [n_lambda] of B v + Φ_t; NULL: not wanted */
  const double *eta; /* [n_lambda] */
  double *reaction;  /* [nv] of B(q,t)ᵀ eta; NULL: not wanted */
} ga_parameter_rates;
typedef int (*ga_parameter_fn)(void *user, const ga_point *p, int parameter,
                               ga_parameter_rates *out); /* returns as ga_eval_fn */

typedef struct ga_parameter {
  const char *name; /* for messages, copied up to 63 bytes; NULL: its number */
  double step;      /* δ > 0 */
  double value;     /* p, whose rounding in p ± δ counts in the doubt; 0: not known */
  ga_parameter_value at[GA_PARAMETER_VALUES]; /* at p − 2δ, p − δ, p + δ, p + 2δ; the arrays are borrowed
                                                 until the start, systems until the object is destroyed */
  /* NULL: differences. Otherwise the systems are used by starts alone, and at the ends of steps by
   * collocation. */
  ga_parameter_fn derivative;
  void *user; /* handed to it */
  /* The terms alone that depend on the parameter, for equations of many others: systems of the same sizes as
   * those in `at`, whose values differ from one value of the parameter to another by exactly what those
   * differ by; the last one for the parameter's own value. They need a sweep without Jacobian only. All NULL:
   * all terms are differenced. */
  const ga_system *part[GA_PARAMETER_VALUES + 1];
} ga_parameter;

typedef struct ga_sensitivity ga_sensitivity;

/* Borrows st, copies `parameter` [n]. GA_ERR_ARGUMENT: the method is not supported, or systems differ in
 * size. Not supported: the weighted methods. */
GA_API ga_status ga_sensitivity_create(ga_context *ctx, ga_stepper *st, int n, const ga_parameter *parameter,
                                       ga_sensitivity **out);
GA_API void ga_sensitivity_destroy(ga_sensitivity **se);
/* Starts the stepper as ga_stepper_start() does, and differentiates the start, projections and initial
 * accelerations included, by fourth-order differences of complete starts. Errors of starts at other values
 * are reported with the name of the parameter. */
GA_API ga_status ga_sensitivity_start(ga_sensitivity *se, const ga_start_opts *opts, double t0,
                                      const double *q0, const double *v0, const double *x0,
                                      const double *lambda_guess, const double *psi_guess,
                                      ga_start_report *report);
/* The same after a start made by others, such as ga_simulator_start(). */
GA_API ga_status ga_sensitivity_begin(ga_sensitivity *se);
/* After every step of the stepper, made by ga_stepper_step() or ga_simulator_step(), before it is changed.
 * Allocates nothing, as ga_stepper_step(), except behind jumps of the equations in time, where a simulator
 * makes a new start, at the first state with redundant constraints, and, where the order of collocation is
 * not given, at its first step with another number of nodes. Refused by name: steps behind edges of the
 * motion, and behind events without ga_sensitivity_use_events(). After an error the derivatives are lost, and
 * a start is needed; the stepper is as before. */
GA_API ga_status ga_sensitivity_step(ga_sensitivity *se);
/* Events of a simulator that restart or end the run, at other values of the parameters. */
typedef struct ga_event_rule {
  /* *g := that of `event` at p for value k of a parameter, 0 to 3 as in ga_parameter.at; k −1: for the run
   * itself */
  int (*g)(void *user, int parameter, int k, int event, const ga_point *p, double *g);
  /* What the event makes of q, v, x, as on_event of the simulator; NULL: nothing. Called with states near
   * that of the event, s; must depend on its arguments alone. */
  int (*jump)(void *user, int parameter, int k, int event, const ga_state *s, double *q, double *v,
              double *x);
  void *user;               /* handed to both, which return as ga_eval_fn */
  const char *const *names; /* of the events, for messages, borrowed; NULL: numbers */
} ga_event_rule;
/* Differentiates events too: their times, and the motion behind them. Copies rule. Without it
 * ga_sensitivity_step() refuses them. Several events at the same time act one after the other, as they do in
 * the run. Refused by name: events that the motion only touches, those at the end of a run and where another
 * event or a break is, unless they move with it, and those whose condition is 0 where the motion begins and
 * moves with a parameter. In on_event, before the changes of an event, ga_sensitivity_step() may be called as
 * well: the step that ends there can then be seen inside. */
GA_API ga_status ga_sensitivity_use_events(ga_sensitivity *se, const ga_event_rule *rule);
/* [s] Derivative of the time of the stepper's present state: at an event that has ended the run, of its time.
 */
GA_API double ga_sensitivity_time(const ga_sensitivity *se, int parameter);
/* Where the present state is: at the end of a step or a start; at a break of a function of time, or behind
 * it; at an event that changes the motion or ends the run, or behind it. */
typedef enum ga_place { GA_PLACE_STEP, GA_PLACE_BREAK, GA_PLACE_EVENT } ga_place;
GA_API ga_place ga_sensitivity_place(const ga_sensitivity *se);
/* Derivatives of the present state as its time moves, by ga_sensitivity_time(); otherwise as
 * ga_sensitivity_at(). */
GA_API const ga_state *ga_sensitivity_moving(const ga_sensitivity *se, int parameter);
/* Derivatives by a parameter of the stepper's present state, at a fixed time also behind breaks that a
 * parameter moves; .q[nv] in the algebra: q(p + ε) = move(q, ε .q), .t is the time of the state. NULL before
 * the start. Valid until the next step. */
GA_API const ga_state *ga_sensitivity_at(const ga_sensitivity *se, int parameter);
/* The same at t within the last step: derivatives of ga_stepper_interpolate(); a, eta, xdot and w are NULL.
 */
GA_API ga_status ga_sensitivity_inside(ga_sensitivity *se, int parameter, double t, const ga_state **out);
/* [-] Estimated error of the differences of equations and starts so far, relative to the largest derivative
 * of their kind; a smaller δ reduces it by the fourth power. At least the rounding of p over δ. */
GA_API double ga_sensitivity_doubt(const ga_sensitivity *se, int parameter);

/* -- Adjoint: the gradient of one number, a function of the states at the ends of steps such as the sum of
 * squared deviations from measurements, by many parameters. One pass backwards over the steps of a run, from
 * states that were stored on the way and steps that are repeated between them. The gradient is that of the
 * forward derivatives up to rounding and the tolerance of Newton's iteration, with which repeated steps
 * agree. -- */

/* All parameters at once: gradient[n] += derivatives of μ·r + ν·(B v + Φ_t) at `end` and of w·B(q,t)ᵀη at
 * `begin` by each parameter, r = (M vdot − f, Φ, k, −s, −o). With this the cost does not depend on the number
 * of parameters. */
typedef struct ga_pullback {
  const ga_point *begin, *end;   /* of a step */
  const double *residual, *rate; /* μ [n], ν [n_lambda] */
  const double *reaction, *eta;  /* w [nv], η [n_lambda] */
} ga_pullback;
typedef int (*ga_pullback_fn)(void *user, const ga_pullback *by,
                              double *gradient); /* returns as ga_eval_fn */

typedef struct ga_adjoint_opts { /* start from ga_adjoint_defaults() */
  int interval; /* steps between states that are stored: a run of n steps needs memory for n/interval +
                   interval states; default 100 */
  double memory; /* [bytes] beside this, for what steps are made of: as far as it goes, they need not be repeated;
                    default 64e6 */
  ga_pullback_fn
      pullback; /* NULL (default): derivatives by one parameter after the other, as ga_sensitivity has them */
  void *user;   /* handed to it */
} ga_adjoint_opts;

/* Derivatives of the number by a state, to be added to; q in the algebra. */
typedef struct ga_seed {
  double *q, *v, *vdot, *lambda, *psi, *x, *y; /* [nv], [nv], [nv], [n_lambda], [n_psi], [n_x], [n_y] */
} ga_seed;
/* For state number `step` of the run, 0: that of the start. Called for all of them, the last one first.
 * Returns as ga_eval_fn. */
typedef int (*ga_seed_fn)(void *user, long step, const ga_state *s, ga_seed *out);

typedef struct ga_adjoint ga_adjoint;

GA_API ga_adjoint_opts ga_adjoint_defaults(void);
/* As ga_sensitivity_create(), with the same limits; opts NULL: the defaults. */
GA_API ga_status ga_adjoint_create(ga_context *ctx, ga_stepper *st, int n, const ga_parameter *parameter,
                                   const ga_adjoint_opts *opts, ga_adjoint **out);
GA_API void ga_adjoint_destroy(ga_adjoint **adjoint);
/* After a start of the stepper, whose derivatives are computed here: four starts for each parameter. */
GA_API ga_status ga_adjoint_begin(ga_adjoint *adjoint);
/* After every step and every restart, as ga_sensitivity_step(). Refused are restarts by events, and those behind
 * jumps whose times depend on a parameter. May allocate. */
GA_API ga_status ga_adjoint_step(ga_adjoint *adjoint);
/* Called by a seed, for a number that depends on dense output: calls `inside`, with `user` and the number of
 * the step, for the state at t within the step that ends at the state of the seed (ga_stepper_interpolate();
 * its .a, .eta, .xdot and .w are NULL). t may be at both ends. Not for number 0. GA_ERR_ARGUMENT: bodies turn
 * by more than 2 rad in this step. */
GA_API ga_status ga_adjoint_inside(ga_adjoint *adjoint, double t, ga_seed_fn inside, void *user);
/* gradient[n] of the number that `seed` differentiates. May be called several times, for several numbers, and
 * the run may go on afterwards. */
GA_API ga_status ga_adjoint_gradient(ga_adjoint *adjoint, ga_seed_fn seed, void *user, double *gradient);
/* As ga_sensitivity_doubt(), of the gradients so far. */
GA_API double ga_adjoint_doubt(const ga_adjoint *adjoint, int parameter);

/* ---- Simulator: error control, output at given times, events ----------------------------------------------
 * Drives a stepper from t0 to t_end. Step sizes do not depend on output times: output and events within a
 * step are found by dense output. */

typedef enum ga_error_mode {
  GA_PER_STEP =
      0, /* estimates of q and x, with stiff modes filtered out, below the tolerance in every step */
  GA_PER_UNIT_STEP = 1, /* estimates of q, v and x times (t_end−t0)/h: the error at the end is proportional to
                          the tolerance on smooth problems; stiff ones need very small steps */
  GA_PER_UNIT_STEP_FILTERED = 2 /* estimates of q and x times (t_end−t0)/h, with stiff modes filtered out */
} ga_error_mode;

typedef enum ga_error_norm {
  GA_NORM_MAX = 0, /* the largest of all estimates over their tolerances */
  GA_NORM_RMS = 1  /* the root of the mean of their squares */
} ga_error_norm;

typedef enum ga_event_action {
  GA_EVENT_RECORD = 0, /* call on_event, go on */
  GA_EVENT_STOP = 1,   /* step onto the event and end there */
  GA_EVENT_RESTART =
      2 /* step onto the event, let on_event change q, v, x, and restart from there; if restarts
           of one event follow each other within h_min, the run ends with GA_ERR_STEP */
} ga_event_action;

typedef struct ga_event {
  int direction; /* +1: g rises through 0; −1: it falls; 0: both */
  ga_event_action action;
} ga_event;

/* The solution at an output time; non-zero stops the simulation there. s is valid during the call. */
typedef int (*ga_output_fn)(void *user, const ga_state *s);
/* Event number `event` happened in state s. For GA_EVENT_RESTART q, v, x hold the state and may be changed;
 * NULL otherwise. 0: go on; > 0: stop; < 0: give up. */
typedef int (*ga_on_event_fn)(void *user, int event, const ga_state *s, double *q, double *v, double *x);

/* u[n_event_inputs] := the numbers that the last call of event_function has computed g from. They are
 * functions of the state without narrow features of their own. */
typedef void (*ga_event_inputs_fn)(void *user, double *u);
/* Bounds of g of one event for all t in [t[0], t[1]] and all u in [lo[i], hi[i]]. Returns 1: *least and *most
 * enclose it; 2: the same, and g may jump there; 0: not known. */
typedef int (*ga_event_bounds_fn)(void *user, int event, const double t[2], const double *lo,
                                  const double *hi, double *least, double *most);

typedef struct ga_simulate_opts { /* start from ga_simulate_defaults() */
  double t_end;                   /* [s] */
  double fixed_h;                 /* [s] > 0: equal steps of this size, no error control; a step that fails is
                                     repeated in smaller parts, see docs/simulate.md; default 0 */
  double h_first;                 /* [s] 0: chosen from the initial jerk (default) */
  double h_min;        /* [s] 0 (default): 1e-12 of the time span, less between breaks that are close */
  double h_max;        /* [s] 0 (default): the least of ten times output_every, ga_breakpoint.h_max of the
                          system's inputs, and 1/10 of the time span */
  ga_error_mode error; /* default GA_PER_STEP */
  ga_error_norm norm;  /* default GA_NORM_MAX */
  int error_forces;    /* 1: the estimates of ga_stepper_force_error() count too, relative to the largest
                          acceleration, multiplier of Φ, of k, and output of the run so far, with rtol.
                          GA_AUTOMATIC then leaves collocation only where that fails. Not of methods of order 2.
                          Default 0 */
  double rtol, atol;   /* of q: atol + rtol min(|q|, ga_system_def.scale), for rotations atol + rtol · 1 rad;
                          defaults 1e-4, 1e-6 */
  double rtol_v, atol_v;      /* of v, GA_PER_UNIT_STEP only; same defaults */
  double rtol_x, atol_x;      /* of x; same defaults */
  double output_every;        /* [s] > 0: output at t0, t0 + output_every, ..., and t_end */
  int n_output_times;         /* and at these times, ascending; may be 0 */
  const double *output_times; /* borrowed */
  int output_within;   /* 1: and within each step, at equal distances, as many as its order where that is
                          above 2, so that lines between outputs follow the motion; default 0 */
  ga_output_fn output; /* NULL: none */
  int n_events;
  const ga_event *events;    /* copied */
  ga_eval_fn event_function; /* g[n_events] at a point, continuous along the motion between restarts; unlike
                                other callbacks, any non-zero return or NaN ends the simulation. g is
                                evaluated at the ends and quarters of steps, and where it comes close to zero
                                in between; two crossings within a quarter are missed where g is narrow:
                                reduce h_max, or give event_bounds */
  ga_on_event_fn on_event;   /* may be NULL unless there is a GA_EVENT_RESTART */
  int n_breaks;              /* times at which the equations jump, in addition to the system's next_break */
  const double *breaks;      /* [n_breaks] ascending; borrowed */
  int defect_points; /* number of times in a run at which the equations are checked within steps, on dense
                        output; at least three in a step from one break to the next. A step in which they are
                        off by more than ten tolerances is undone; with fixed steps the first one is
                        reported (ga_simulate_stats.unseen) by a warning of the log. 0: no checks; default
                        1000, more where outputs are closer */
  ga_observer_fn
      observer;     /* after every accepted step and restart, for progress; NULL: none; non-zero stops */
  void *user;       /* handed to output, event_function, on_event, observer */
  void *event_user; /* handed to event_function and on_event instead; NULL (default): user */
  const char *const *event_names; /* [n_events] for messages, borrowed; NULL (default): their numbers */
  /* Both or none: with bounds of g, crossings that are narrower than a quarter of a step are searched for. */
  int n_event_inputs; /* numbers u that g is computed from, beside t */
  ga_event_inputs_fn event_inputs;
  ga_event_bounds_fn event_bounds;
  double project_at; /* [s] velocities are projected once, after the first step that ends there or later, as
                        by ga_stepper_project_velocity(); 0 (default): never */
  ga_projection projection; /* default GA_PROJECT_PLAIN */
} ga_simulate_opts;

typedef struct ga_simulate_stats {
  long steps;             /* accepted */
  long rejected_error;    /* by the error test */
  long rejected_newton;   /* because Newton's iteration failed */
  long rejected_callback; /* because a callback could not be evaluated, or gave NaN */
  long rejected_defect;   /* because the equations did not hold within the step */
  long unseen;            /* 1: there was a fixed step within which they did not hold, and which was kept;
                             later ones are not checked */
  double t_unseen;        /* [s] a time in it */
  long ringing; /* 1: multipliers changed sides from step to step and grew; t_ringing: when that was seen */
  double t_ringing; /* [s] */
  long unchecked;   /* times within steps at which they could not be evaluated */
  long breaks;      /* breakpoints passed */
  long edges; /* edges passed, with a restart: places where the equations jump or have a kink with the motion
               */
  long at_rounding; /* steps accepted although the estimate was too large, because it was rounding */
  long outputs, events, restarts;
  double h_smallest, h_largest; /* [s] of accepted steps */
  double worst_error;           /* [-] largest accepted estimate over tolerance */
  double mean_error;            /* [-] their mean: the margin left by the error test */
  double worst_force_error; /* [-] with error_forces: the largest of accelerations, multipliers and outputs */
} ga_simulate_stats;

typedef struct ga_simulator ga_simulator;

GA_API ga_simulate_opts ga_simulate_defaults(void);
/* Copies opts, borrows st, which must belong to ctx and outlive the simulator. */
GA_API ga_status ga_simulator_create(ga_context *ctx, ga_stepper *st, const ga_simulate_opts *opts,
                                     ga_simulator **out);
GA_API void ga_simulator_destroy(ga_simulator **sim);
/* Consistent start at t0, as ga_stepper_start(); start->h is not used. start may be NULL: the defaults. */
GA_API ga_status ga_simulator_start(ga_simulator *sim, const ga_start_opts *start, double t0,
                                    const double *q0, const double *v0, const double *x0,
                                    const double *lambda_guess, const double *psi_guess,
                                    ga_start_report *report);
/* One accepted step, with the output and events within it. GA_STOPPED: t_end was reached
 * (ga_simulator_finished()), an event stopped the run, or a callback did. A stop by output or on_event is
 * final; after one by the observer another call continues. < 0: failed; the state is that of the last
 * accepted step. */
GA_API ga_status ga_simulator_step(ga_simulator *sim);
GA_API ga_status ga_simulator_run(ga_simulator *sim);          /* to the end; GA_OK when t_end was reached */
GA_API int ga_simulator_finished(const ga_simulator *sim);     /* 1: t_end was reached */
GA_API int ga_simulator_last_event(const ga_simulator *sim);   /* the event that stopped it, or −1 */
GA_API double ga_simulator_next_step(const ga_simulator *sim); /* [s] size of the next step to be tried */
GA_API const ga_simulate_stats *ga_simulator_stats(const ga_simulator *sim);
/* As for the stepper: everything that the rest of the run depends on. Not to be called from output or
 * on_event. A run saved at its end can be loaded into a simulator with a later t_end and continued. */
GA_API size_t ga_simulator_saved_size(const ga_simulator *sim);
GA_API ga_status ga_simulator_save(ga_simulator *sim, double *saved);
GA_API ga_status ga_simulator_load(ga_simulator *sim, const double *saved);

/* ---- Follower: repeats the steps of another run, each in parts --------------------------------------------
 * A second stepper of the same system follows a leader, usually a simulator's stepper: after every step of
 * the leader it covers the same time in `parts` equal steps. The two motions differ only by the errors of
 * their steps. With two parts and order 2, (leader − follower)/3 estimates the global error of the follower,
 * for everything that can be computed from a state. The steps need not be stored. */

typedef struct ga_follower_opts { /* start from ga_follower_defaults() */
  int parts;                      /* of each step, 1 to 64; default 2 */
  ga_observer_fn observer;        /* called after the start and after every step of the follower; non-zero
                                     stops; NULL: none */
  void *user;
  const struct ga_simulate_opts
      *leader; /* options of the leader: their tolerances decide which jumps matter;
                  copied; NULL: the defaults. Events in them are those of the follower, which
                  meets them at its own times: with an event_user of its own */
} ga_follower_opts;

typedef struct ga_follower ga_follower;

GA_API ga_follower_opts ga_follower_defaults(void);
/* Borrows st, which must belong to ctx and outlive the follower. */
GA_API ga_status ga_follower_create(ga_context *ctx, ga_stepper *st, const ga_follower_opts *opts,
                                    ga_follower **out);
GA_API void ga_follower_destroy(ga_follower **f);
/* Starts at the initial state of the leader. h: the leader's next step, ga_simulator_next_step(). start NULL:
 * the defaults; its h is not used. */
GA_API ga_status ga_follower_start(ga_follower *f, const ga_start_opts *start, double h,
                                   const ga_state *leader);
/* To be called after a restart of the leader by an event at t: the follower reaches t, and its own event if
 * that is later. events: the number of events that it should have met by then, ga_follower_events(): that of
 * the leader, ga_simulate_stats.events. */
GA_API ga_status ga_follower_meet(ga_follower *f, double t, long events);
GA_API long ga_follower_events(const ga_follower *f); /* since the start, or since it was loaded */
/* To be called after a restart of the leader at t, for example behind a jump of an input: restarts the
 * follower from its own q, v, x. t is the end of the leader's last step, or a time behind the jump there,
 * later by at most 1e-9 of max(|t|, 1 s); 3e-6 of it behind an edge where a start nearer to the edge would
 * end in front of it. */
GA_API ga_status ga_follower_restart(ga_follower *f, double t, double h);
/* To be called after the leader has passed an edge of the motion and is at t, just behind it
 * (ga_simulate_stats.edges has increased); its restart follows. The follower finds edges itself and passes
 * them at its own times. */
GA_API ga_status ga_follower_pass(ga_follower *f, double t);
/* To be called after a step of the leader that ends at t: the follower finishes the leader's step before this
 * one; ga_follower_reach() begins this one. order: that of the leader's step, ga_stepper_order(), which the
 * follower takes too if its method has a choice; 0: as before. GA_STOPPED: by the observer. */
GA_API ga_status ga_follower_lead(ga_follower *f, double t, int order);
/* Advances part by part until t is reached, which must not be later than the leader's time. *s: the state at
 * t, by dense output where t lies within a part; valid until the next call. t must not be before the last
 * part. */
GA_API ga_status ga_follower_reach(ga_follower *f, double t, const ga_state **s);
/* Within the observer, 1: the state given to it is that before an edge or event of the follower's own. */
GA_API int ga_follower_at_jump(const ga_follower *f);
GA_API double ga_follower_time(const ga_follower *f);     /* [s] the end of the leader's last step */
GA_API long ga_follower_steps(const ga_follower *f);      /* steps of the follower */
GA_API long ga_follower_subdivided(const ga_follower *f); /* parts that failed and were divided */
/* As for the stepper; only after ga_follower_reach() has reached the end of the leader's step. */
GA_API size_t ga_follower_saved_size(const ga_follower *f);
GA_API ga_status ga_follower_save(ga_follower *f, double *saved);
GA_API ga_status ga_follower_load(ga_follower *f, const double *saved);

/* ---- Equilibrium: a state of rest ----------------------------------------------------------------------
 *
 *   f(t, q, 0, λ, ψ, x, y) = 0,  Φ(t, q) = 0,  s = 0,  y = o       v = 0, vdot = 0, xdot = 0, t fixed
 *
 * reached by moves that nonholonomic constraints allow, k_v δq = 0. With a load factor μ, loads are scaled by
 * μ (ga_static_values), and so is what is out of balance without them at the initial values z0, after these
 * were made consistent:
 *
 *   r(z, μ) = (1 − μ) r(z0, 0)  in the rows of V and X,     Φ = 0 and y = o for every μ,
 *
 * so that z0 solves the equations for μ = 0 and an equilibrium those for μ = 1. Loads of machines are forces,
 * torques, gravity, and loads along beams, where they are constant or functions of time. Of a system that
 * ignores the factor all forces out of balance at z0 grow in proportion to μ, but in their directions there,
 * and in the axes in which the equations are written. */

typedef enum ga_load_control {
  GA_LOAD_AT_ONCE = 0, /* the whole load in one step; where Newton's iteration fails, it is damped, then load
                          steps and relaxation are tried */
  GA_LOAD_STEPS = 1,   /* load steps, smaller ones where Newton's iteration fails */
  GA_LOAD_PATH = 2     /* along the path by arc length, through turning points of the load */
} ga_load_control;

typedef enum ga_stability {
  GA_STABLE = 0,           /* no small motion grows, as far as the linearised equations can tell */
  GA_UNSTABLE = 1,         /* a small motion grows: the system would leave this equilibrium by itself */
  GA_NEUTRAL = 2,          /* the system can move in some direction without any force */
  GA_STABILITY_UNKNOWN = 3 /* not requested, it could not be computed, or there is a kink or jump */
} ga_stability;

typedef enum ga_critical_kind {
  GA_LIMIT_POINT = 0, /* the load has a maximum or minimum along the path */
  GA_BIFURCATION = 1  /* another path branches off, for example where a column buckles; this one continues */
} ga_critical_kind;

/* A solution for one load factor. */
typedef struct ga_load_point {
  double load;           /* [-] μ */
  const ga_state *state; /* v, vdot, xdot are 0; valid until the next one is computed */
  int iterations;        /* of Newton, for this point */
  ga_stability stability;
  int n_unstable; /* number of directions of negative stiffness or of growing motions, whichever is larger */
} ga_load_point;

/* Called with the initial values (load 0) and after every load step; non-zero stops. */
typedef int (*ga_load_fn)(void *user, const ga_load_point *p);

typedef struct ga_equilibrium_opts { /* start from ga_equilibrium_defaults() */
  ga_load_control control;           /* default GA_LOAD_AT_ONCE */
  double load;        /* [-] load factor to be reached, > 0; default 1. Others only with STEPS and PATH */
  double load_step;   /* [-] first load step, > 0; default 0.1; not used with GA_LOAD_AT_ONCE */
  double max_step;    /* [-] largest load step; default 0: load_step with GA_LOAD_STEPS, otherwise no limit */
  int max_steps;      /* load steps; default 1000 */
  double tol;         /* [-] on the estimated remaining error of q, x, y, relative; default 1e-10 */
  int max_iterations; /* of Newton in a load step; default 30 */
  int relax; /* 1 (default): where Newton's iteration finds no equilibrium, or an unstable one, search for a
                stable one by relaxation; GA_LOAD_AT_ONCE only */
  int stability;       /* 1 (default): determine the stability */
  int hold_free;       /* 1: coordinates that can move without a force keep their values, and GA_NEUTRAL is no
                          error;       default 0 */
  double max_change;   /* [-] as in ga_start_opts: largest move of q0 to meet the constraints; default 0.1 */
  ga_lu_kind lu;       /* default GA_LU_AUTO */
  ga_load_fn observer; /* NULL: none */
  void *user;
} ga_equilibrium_opts;

enum { GA_MOST_CRITICAL = 16 };
typedef struct ga_critical_point {
  ga_critical_kind kind;
  double load;    /* [-] */
  int coordinate; /* index of the velocity with the largest component in the direction of zero stiffness */
} ga_critical_point;

typedef struct ga_equilibrium_report {
  double load;           /* [-] reached */
  long load_steps;       /* accepted */
  long iterations;       /* of Newton, all of them */
  long last_iterations;  /* of Newton, in the last load step */
  long relaxation_steps; /* 0: it was not needed */
  long factorisations;
  double residual;        /* largest |f|, |s|, not scaled */
  double gap;             /* largest |Φ|, |y − o| */
  int redundant;          /* constraints that follow from others */
  ga_stability stability; /* of the last point */
  int n_unstable;
  int judged;          /* number of directions, the softest ones, whose stiffness was computed */
  int free_directions; /* number of all directions that the constraints leave free */
  int coordinate; /* index of the velocity that moves most in the unstable or free direction; −1: none */
  int at_kink;    /* 1: the equations have a kink or jump exactly there, which a warning names: stability is
                     unknown */
  long jumps;     /* load steps that ended far from the continuation of the path, for example beyond a limit
                     point */
  int n_critical; /* critical points found along a path, at most GA_MOST_CRITICAL are kept */
  ga_critical_point critical[GA_MOST_CRITICAL];
} ga_equilibrium_report;

typedef struct ga_equilibrium ga_equilibrium;

GA_API ga_equilibrium_opts ga_equilibrium_defaults(void);
/* Copies opts (NULL: the defaults), borrows sys. All memory but that of factors is allocated here. Errors go
 * to ctx, which may differ from the system's context. */
GA_API ga_status ga_equilibrium_create(ga_context *ctx, const ga_system *sys, const ga_equilibrium_opts *opts,
                                       ga_equilibrium **out);
GA_API void ga_equilibrium_destroy(ga_equilibrium **eq);
/* Starts from q0[nq], x0[n_x], which are not changed. GA_RETRY_NEWTON: no equilibrium was found, or the path
 * ends before the load is reached; GA_ERR_SINGULAR: the equilibrium is GA_NEUTRAL, the error names the
 * coordinate. An unstable equilibrium gives GA_OK, a warning in the log, and GA_UNSTABLE in the report, which
 * may be NULL. GA_STOPPED: by the observer. */
GA_API ga_status ga_equilibrium_solve(ga_equilibrium *eq, double t, const double *q0, const double *x0,
                                      ga_equilibrium_report *report);
/* The last solution: an equilibrium, or the last point of a path that was stopped or ends before its load is
 * reached; NULL if there is none. The pointer stays the same. */
GA_API const ga_state *ga_equilibrium_state(const ga_equilibrium *eq);
/* Derivatives of the equilibrium found last by a parameter (see ga_sensitivity): dq[nv] in the algebra,
 * dx[n_x], which may be NULL. Exact but for the differences of the equations. Coordinates that are free
 * follow their initial values parameter->at[].q0, x0, where these are given. Allocates. GA_ERR_DERIVATIVE:
 * there is a corner, as where a contact just begins; GA_ERR_SINGULAR: the stiffness is zero, or there is no
 * equilibrium at other values. */
GA_API ga_status ga_equilibrium_slope(ga_equilibrium *eq, const ga_parameter *parameter, double *dq,
                                      double *dx);

/* ---- Linear buckling ----
 *
 * Load factors μ at which the tangent W of the equations becomes singular, if it is linearised about the
 * initial state: (W + μ W') φ = 0, where W' is its rate along the path of equilibria. They are exact as far
 * as the system does not deform before it buckles; `first_at_half` shows it. */

typedef struct ga_buckling_mode {
  double load;    /* [-] critical load factor; < 0: with the load reversed */
  int coordinate; /* index of the velocity with the largest component in the shape */
} ga_buckling_mode;

typedef struct ga_buckling_report {
  int n;                                   /* found; fewer than wanted where there are no more */
  ga_buckling_mode mode[GA_MOST_CRITICAL]; /* in order of |load| */
  double first;                            /* the least positive one; NaN: there is none */
  double first_at_half; /* the same linearised at the equilibrium for half of it. Where it differs by several
                           per cent, deformations before buckling matter, and the linearised loads and shapes
                           have no meaning: follow the path (GA_LOAD_PATH). NaN: not known */
  int n_complex; /* pairs that are not real, as of forces that follow a body: not loads at which it buckles,
                    but it may begin to flutter */
} ga_buckling_report;

/* Up to n load factors, 1 to GA_MOST_CRITICAL, at q0[nq], x0[n_x]. The observer of the options is called for
 * the initial state (load 0), and for every shape with the load factor and the initial state moved along it,
 * by at most a tenth of the system's extent and 0.1 rad. Forces that depend on the motion (which follow a
 * body, springs) act in full at every load factor with their derivatives, see above. GA_ERR_SINGULAR:
 * something can move freely, or nothing is loaded so that it could buckle. */
GA_API ga_status ga_equilibrium_buckling(ga_equilibrium *eq, double t, const double *q0, const double *x0,
                                         int n, ga_buckling_report *report);
/* Shape i of the last call, [nv], its largest component that of 1 rad or of the system's extent; NULL: none.
 */
GA_API const double *ga_equilibrium_shape(const ga_equilibrium *eq, int i);

/* ---- Kinematics: motions that constraints prescribe wholly ----------------------------------------------
 *
 * For systems without free motions, as machines whose coordinates are all driven. At any time the solution
 * follows from equations alone, without integration:
 *
 *   Φ(t, q) = 0,   B v + Φ_t = 0,   d/dt of it for vdot,   M vdot = f(t, q, v, λ, ψ, x, y),   y = o
 *
 * so that the results at a time are exact but for rounding, whichever times were asked for before. The motion
 * is followed in moves that are short enough to stay on its branch. It is not continued where constraints
 * lose their independence: at a dead centre, and where two branches meet. Redundant constraints are accepted,
 * with multipliers of least norm. States x are not integrated,
 * and nonholonomic constraints are refused: positions would need integration. */

typedef struct ga_kinematics_opts { /* start from ga_kinematics_defaults() */
  double max_change; /* [-] largest move of q0 to meet the constraints, as in ga_start_opts; default 0.1 */
  double max_gap;    /* [-] as in ga_start_opts; default 1e-6 */
  double max_move; /* [-] longest move in one go: largest component relative to 1 + that of q; > 0, at most 1,
                      default 0.3 */
  int hold_states; /* 1: states x keep the values of the start; 0 (default): a system with states is refused
                    */
  ga_lu_kind lu;   /* default GA_LU_AUTO */
  ga_redundant redundant; /* default GA_REDUNDANT_ACCEPT */
} ga_kinematics_opts;

/* Where accelerations jump because a function of time does, there are two states at one time. */
typedef enum ga_jump_side {
  GA_JUMP_NONE = 0, /* nothing jumps here */
  GA_JUMP_BEFORE,   /* the state is that before the jump */
  GA_JUMP_AFTER     /* and that after it */
} ga_jump_side;

typedef struct ga_kinematics_stats {
  long moves;     /* accepted */
  long shortened; /* that were too long to be trusted, or ended where there was no solution */
  int mobility;   /* directions that the constraints left free at the start: 0 after a start that succeeded */
  int redundant;  /* constraints that follow from others at the present state */
  double least_independence; /* least value of ga_stepper_independence() on the way */
  double least_t;            /* [s] its time */
} ga_kinematics_stats;

typedef struct ga_kinematics ga_kinematics;

GA_API ga_kinematics_opts ga_kinematics_defaults(void);
/* Copies opts (NULL: the defaults), borrows sys. GA_ERR_ARGUMENT: the system has states, the error names
 * them. Errors go to ctx, which may differ from the system's context. */
GA_API ga_status ga_kinematics_create(ga_context *ctx, const ga_system *sys, const ga_kinematics_opts *opts,
                                      ga_kinematics **out);
GA_API void ga_kinematics_destroy(ga_kinematics **k);
/* The solution at t0 near q0[nq]; v0, x0, and the guesses of multipliers may be NULL: zeros. They are not
 * changed, and velocities follow from positions. If a function of time jumps at t0, the state is that after
 * the jump. GA_ERR_ARGUMENT: constraints leave motions free, the error names coordinates. report may be NULL.
 */
GA_API ga_status ga_kinematics_start(ga_kinematics *k, double t0, const double *q0, const double *v0,
                                     const double *x0, const double *lambda_guess, const double *psi_guess,
                                     ga_start_report *report);
/* One move, to the time `until` at most [s]. GA_OK: the state is that of its new time. GA_STOPPED: there is
 * nothing left to do, the state is that of `until`; if a function jumps there, it is the state before the
 * jump. GA_ERR_SINGULAR: constraints lose their independence, a dead centre or a point where branches meet;
 * GA_ERR_INCONSISTENT: the constraints cannot be met any more. The error names constraint, coordinate and
 * time, and the state is the last one that was found. */
GA_API ga_status ga_kinematics_step(ga_kinematics *k, double until);
/* t, q, v, vdot, lambda, psi, x, xdot, y. NULL before a start; the pointer stays the same. */
GA_API const ga_state *ga_kinematics_state(const ga_kinematics *k);
GA_API ga_jump_side ga_kinematics_jump(const ga_kinematics *k);
GA_API const ga_kinematics_stats *ga_kinematics_get_stats(const ga_kinematics *k);
/* For reports on the state (ga_machine_report, ga_machine_reaction, ga_stepper_redundancy); it makes no
 * steps.
 */
GA_API ga_stepper *ga_kinematics_stepper(ga_kinematics *k);

/* After a start that was refused because motions are free: how many, otherwise 0; */
GA_API int ga_kinematics_n_free(const ga_kinematics *k);
/* one of them, i < n_free, as velocities v[nv] that meet the constraints; and the state they belong to, NULL
 * if there is none. */
GA_API ga_status ga_kinematics_free_motion(ga_kinematics *k, int i, double *v);
GA_API const ga_state *ga_kinematics_free_state(const ga_kinematics *k);

#ifdef __cplusplus
}
#endif
#endif
