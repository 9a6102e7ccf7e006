/* The stepper: its data, and functions shared by its files (stepper.c */
#ifndef GALPHA_CORE_STEPPER_H
#define GALPHA_CORE_STEPPER_H

#include "core/derivative.h"
#include "core/member.h"
#include "core/method.h"
#include "core/redundant.h"
#include "core/saddle.h"
#include "core/state.h"

typedef enum ga__tried { GA__ACCEPTED = 0, GA__FAILED, GA__TAKEN_BACK } ga__tried;

/* Kind of a start: the first, or a restart, which uses the outputs before as first guess, so that algebraic
 * loops keep their solution. Behind a jump changed velocities are an impact. */
typedef enum ga__again {
  GA__FIRST = 0,
  GA__AFTER_EVENT,
  GA__BEHIND_JUMP,
  GA__FOLLOWING, /* restart of a follower behind a jump; the leader has reported it */
  GA__PASSING,   /* behind an edge of the motion, where velocities keep the method's normal part */
  GA__CHANGING   /* to the other member of GA_AUTOMATIC, where nothing jumps */
} ga__again;

/* Inner unknowns as iterates of a step (inner.c). */
typedef struct ga__inner {
  ga_static_values values; /* for ga_point.statics; .inner NULL: n = n(q) */
  int judged;              /* 1: at this trial or an earlier one it was decided whether they are iterates */
  int used;                /* 1: they were iterates in the last step */
  double *n, *dn;          /* [n_inner] */
  double *q, *dq;          /* [nq], [nv] of the trial that n belongs to, and the move to the next one */
} ga__inner;

/* An auxiliary adjusted to h, as a sum of the stored one, the one before, and vdot (or xdot). */
typedef struct ga__shift {
  double now, prev, rate;
} ga__shift;

/* Of error control, as in ga_simulate_opts. */
typedef struct ga__tolerances {
  double rtol, atol, rtol_x, atol_x;
} ga__tolerances;

struct ga_stepper {
  ga_context *ctx;
  const ga_system *sys;
  ga_stepper_opts opts;
  const ga__method *method; /* of GA_AUTOMATIC that of the member in use, as the next two */
  const ga__family *family; /* of the method */
  void *own;                /* the family's data */

  ga__state now, next; /* the current state, and the one being computed; exchanged on success */
  size_t state_length;
  unsigned long state_number; /* changes with the current state */
  int has_state;
  ga_state view; /* of now */
  ga_stats stats;

  ga__deriv deriv;
  ga__factors factors;
  ga__member other; /* of GA_AUTOMATIC: the one that is not in use; else its method is NULL */
  ga__saddle saddle;
  ga__saddle other_saddle; /* the one with exclusions while the plain one is in use, and the reverse */
  ga__redundant red;

  int diverged;    /* 1: the last iteration diverged: the step was too long */
  int busy;        /* 1: a simulator is reporting output and events of the last step */
  ga__tried tried; /* result of the last step, as long as next has it */
  ga_error why;    /* why it failed */
  int can_undo;    /* 1: next holds the state before the last step */
  int warned;      /* 1: warned of a nearly singular iteration matrix */

  struct ga_sensitivity *watchers;   /* derivatives that want to know of events */
  double sample_from, sample_to;     /* of the samples behind the last jump, */
  double *sample_x;                  /* [n_x] and the states before */
  int on_grid;                       /* 1: equal steps end at fixed times, also behind breaks and events, */
  double regular;                    /* [s] their size; 0: error control chooses sizes */
  double of_last;                    /* > 0: but this one is so many times as long as the last one */
  int to_end;                        /* 1: or it is shorter, to end with the run */
  int order;                         /* of the next step, for methods that have a choice */
  int n_eta;                         /* multipliers η, 0: none */
  int commutes;                      /* 1: the commutator term is not zero */
  double alpha;                      /* αm − αf */
  double c1, c2, d1;                 /* (1−αm)/(β(1−αf)), γ/β, (1−δm)/(θ(1−δf)) */
  double weight[GA_PREDICT_AUTO][3]; /* of the last three values, for each order of prediction */
  double tighter;                    /* accuracy of positions and velocities relative to accelerations */
  double size_q, size_v, size_a, size[GA_N_BLOCKS]; /* 1 + largest of the trial at the first iteration */
  int sized;
  double gamma, theta;           /* of the current step */
  double noise_v;                /* noise of vdot; 0: not known */
  double *est_q, *est_v, *est_x; /* local errors of the last step */
  double *est_all;               /* est_q before ga__filter() */
  double *est_z;                 /* [n] of vdot, λ, ψ, xdot and y, where the family estimates them */
  double *probe_d;               /* [nv] a direction, */
  double *probe_u, *probe_q;     /* [nv], [nq] a part of it, and positions that far away, */
  double *probe_y, *probe_f;     /* [2 n_y], [2 nv] outputs there, forces there and here, */
  double *probe_k;   /* [7 nv] M, K before and K after the step times the direction; and of those that turn */
  double *probe_w;   /* [nv] one of these, scaled */
  const double *v_n; /* velocity that the step begins with */
  double *v_moved;   /* [nv] for v_n, if it is not the state's */
  double h;          /* of the current step */
  unsigned long motion;                         /* ga_point.motion of the trial; exact family only */
  int renewing;                                 /* 1: the iteration matrix will be made at this trial */
  int swept;                                    /* 1: the Jacobian is that of this trial already */
  double *work;                                 /* holds the arrays below */
  double *jacobian_D, *jacobian_Q, *jacobian_G; /* [n_entries] arrays of the Jacobian computed last */
  double *a_n, *w_n;                            /* a and w adjusted to h, */
  ga__shift shift_a, shift_w;                   /* by these factors */
  double *p, *px;   /* β(a₁−a) and w₁−w: the unknowns in a form free of cancellation */
  double *exponent; /* [nv] hΔq + commutator */
  double *T, *TA;   /* packed blocks: T and T A, A = I + (h c₂/12) ad(v_n) */
  double *r;        /* [n + n_eta] right-hand side, then the increment */
  ga__inner inner;
  double *jerk_v, *jerk_x;                 /* vddot, xddot of the start and the projections, */
  double *jerk_lambda, *jerk_psi, *jerk_y; /* and the rates of λ, ψ, y that come with them */
  double *offset;                          /* [n_lambda] h² B r */
  double *begin_q, *begin_v, *begin_x, *begin_lambda, *begin_psi; /* values given to the start */
  ga_start_opts begun;                                            /* options of the last start, */
  ga__again begun_as;                                             /* and its kind */
  int switched;     /* 1: the last start has changed modes of switches */
  double *switch_v; /* [nv] velocities behind an impact */
  int tries_modes;  /* 1: modes of switches may change after this start */
  double *switch_x; /* [n_x] states with the modes of switches that are tried */
  ga__again again;
  double tolerance;          /* [-] of error control, by which sweeps of collocation end; 0: equal steps */
  ga__tolerances tolerances; /* where that is not 0: those of positions and states */
  int steps_adapt;     /* 1: error control chooses steps, a start need not ask whether they are too long */
  double run_length;   /* [s] of the simulator; 0: not known */
  int follows;         /* 1: steps are those of a leader: they are not made shorter where iterations fail */
  int meets_samples;   /* 1: a simulator or follower calls ga_system_def.sample */
  int provisional;     /* 1: the next start only serves to choose h; no step follows */
  ga_status fell_back; /* > 0: the former outputs failed as a guess, and others were used */
  double *begin_y;     /* [n_y] outputs before a restart */

  ga__stack scratch; /* of arrays that are needed during one call: each of factors.n or nq numbers, if those
                        are more */
};

/* Arrays of the stack in use at the same time: in ga_stepper_nearest() three directions, the right-hand side
 * and two of the gradient. ga_stepper_step() and ga_stepper_start() fail if this is too few. */
enum { GA__SCRATCH_DEPTH = 6 };

/* -- State (stepper.c) -- */
void ga__state_copy(ga_stepper *st, ga__state *to, const ga__state *from);
void ga__state_changed(ga_stepper *st); /* after a change of the current state: discards what depends on it */
void ga__state_show(ga_stepper *st);    /* updates the public view */
void ga__forget_steps(ga_stepper *st);  /* discards everything but the state */
/* Checks that saved was written by ga_stepper_save() for such a stepper. */
ga_status ga__check_saved(ga_stepper *st, const double *saved);
ga_status ga__refuse_saved(ga_context *ctx, const char *function, size_t item, double value); /* not finite */
double ga__saved_time(const ga_stepper *st, const double *saved);

/* Equations of another system with the same sizes in the place of the stepper's own, for starts alone. */
typedef struct ga__loan {
  int lent;
  ga_system sys;        /* a copy, with the stepper's context */
  const ga_system *own; /* and what it replaces */
  ga__deriv own_deriv;
} ga__loan;
/* sys NULL: its own again, as before the stepper is destroyed. */
void ga__stepper_lend(ga_stepper *st, ga__loan *loan, const ga_system *sys, const ga__deriv *deriv);

/* -- The step (step.c, predict.c, newton.c) -- */
/* to := the current state extrapolated by a short time; without a, w and history. */
void ga__extrapolate(const ga_stepper *st, double gap, ga__state *to);
/* Moves to such a state as if by a step, with dense output; to continue, a start is needed. */
void ga__step_over_gap(ga_stepper *st, double gap);
/* 1: only Φ = 0 is satisfied, so that v has a part normal to the constraints. */
int ga__has_offset(const ga_stepper *st);
/* κ of a step of size h: Δq has the error κ h² vddot. */
double ga__kappa(const ga_stepper *st, double h);
/* Largest values of the trial, for relative errors; once a step. */
void ga__measure_sizes(ga_stepper *st);
/* Finds the order of prediction that would have been best for this step; the next one uses it. */
void ga__judge_predictor(ga_stepper *st, ga__scratch scratch);
ga_status ga__newton(ga_stepper *st, ga__scratch scratch);
/* Effect of the rounding of the equations' terms at a state on the unknowns, by a solution with the
 * factors. */
ga__measure ga__noise(ga_stepper *st, const ga__state *at, ga__scratch scratch);
/* Inner unknowns: before the first trial of an iteration, or outside of any; after each trial. (inner.c) */
void ga__inner_reset(ga_stepper *st);
ga_status ga__inner_follow(ga_stepper *st);
/* Where the equations of a step are evaluated: `next`, with inner unknowns if they are iterates. */
ga_point ga__trial_point(const ga_stepper *st);
double ga__seconds(const ga_stepper *st); /* [s] clock; 0 unless opts.timing */
/* After a singular pattern: repeats the error with the name of the unknown instead of a column. Other
 * statuses are returned unchanged. */
ga_status ga__name_column(ga_stepper *st, ga_status status);
void ga__failure_keep(ga_stepper *st,
                      ga_status status); /* records the failure of the current step (failure.c) */

/* The current state is at an event that changes the motion or ends the run; at_end 1: and at the end of the
 * run's time. */
void ga__sensitivities_meet(ga_stepper *st, int event, int at_end);
/* The run has ended at the present state: those of its n events whose expressions are 0 there have just not
 * happened. */
void ga__sensitivities_end(ga_stepper *st, int n, const ga_event *events);
/* At the beginning of the last step the expression of such an event is 0, without having passed there, and
 * goes the way on which it counts. */
void ga__sensitivities_touch(ga_stepper *st, int event);

/* -- The last step (dense.c, estimate.c, stiffness.c) -- */
/* All of a state within the last step. */
ga_status ga__interpolate(ga_stepper *st, double t, const ga__inside *out);
/* Derivatives of values at the end of the last step, at its beginning, and of those one and two steps before.
 */
typedef struct ga__inside_rates {
  const double *v[2], *x[2], *xdot[2], *vdot[4], *lambda[4], *psi[4], *y[4];
} ga__inside_rates;
/* Derivatives of v, vdot, λ, ψ, x and y by dense output of order 2. */
void ga__interpolate_rates(const ga_stepper *st, double t, const ga__inside_rates *d, const ga__inside *out);
/* Its transpose: numbers are added to derivatives by the same values, from those by what is interpolated, in
 * `bar`. */
typedef struct ga__inside_bars {
  double *v[2], *x[2], *xdot[2], *vdot[4], *lambda[4], *psi[4], *y[4];
} ga__inside_bars;
void ga__interpolate_turned(const ga_stepper *st, double t, const ga__inside *bar, const ga__inside_bars *to);
/* 1: a body turns so far in the last step that q is not interpolated by the cubic between its ends alone. */
int ga__turns_far(const ga_stepper *st);
/* xdot within the last step, for checks. */
ga_status ga__interpolate_xdot(ga_stepper *st, double t, double *xdot);
/* Its local errors into est_q, est_v, est_x; without with_v est_v is raw, off the constraints. */
ga_status ga__estimate(ga_stepper *st, int with_v);
/* 1: constraints prescribe the whole motion. q, unless it follows from rates, and v then have no error, but
 * forces and accelerations have: step sizes are those of free bodies with the same motion. */
int ga__is_held(const ga_stepper *st);
/* Tolerances of errors of q, atol + rtol |q|: by component in R^n, by the length of a position vector, by 1
 * rad; at most by the system's scale, where it has one. */
void ga__tolerances_q(const ga_system *sys, double atol, double rtol, const double *q, double *out);
/* Deviation of vdot in the last step from a linear change, (h²/2) D²vdot, into out[nv]; 0 if no rate is
 * known. */
void ga__estimate_bend(const ga_stepper *st, double *out);
/* est_q := the part of it that a step would not damp, by the factors of the iteration matrix; est_all: the
 * whole. */
ga_status ga__filter(ga_stepper *st);
/* New stiffness in the last step, whose motion has not been damped yet: period[nv] of the motion in each
 * coordinate, 2π √(M/K); 0: none. small: times est_all is the distance of the differences of forces. */
ga_status ga__new_stiffness(ga_stepper *st, double small, double *period);

/* -- Starts and projections (start.c, project.c, accelerations.c, jerk.c) -- */
/* q, v, x at t, a few roundings after the current state, by its rates; unchanged if t is not after it. The
 * rates of v and x end `early` before. */
void ga__extrapolate_motion(ga_stepper *st, double t, double early, double *q, double *v, double *x);
/* v := that of the current state with its normal part adjusted to changes d_kappa_h2 of κh² and d_h2 of h².
 */
ga_status ga__move_offset(ga_stepper *st, double d_kappa_h2, double d_h2, double *v, ga__scratch scratch);
/* Computes vdot, λ, ψ, y and xdot of f at its t, q, v, x; their values are the first guess. */
ga_status ga__accelerations(ga_stepper *st, ga__state *f, ga_start_change *change, ga__scratch scratch);
/* By how much the fastest small change of the current motion changes itself within h: (hω)² of an
 * oscillation, h/τ of a damped motion. next is lost (accelerations.c). */
ga_status ga__growth(ga_stepper *st, double h, double *growth);
/* Accelerations and rates after a time e along the motion minus those now, into dv[nv] and dx[n_x]. next is
 * lost (jerk.c). */
ga_status ga__change_along(ga_stepper *st, double e, double *dv, double *dx);
/* The next starts are restarts from the current state, until ga__start_first(). */
void ga__start_again(ga_stepper *st, ga__again again);
void ga__start_first(ga_stepper *st);
/* 1: all functions of the system have the same values at the current state and t_behind: nothing jumps. */
int ga__nothing_jumps(ga_stepper *st, double t_behind);
/* 1: residuals (level 0: Φ, 1: those of velocities, as rows of the whole system) are rounding of q and v. */
ga_status ga__within_rounding(ga_stepper *st, int level, const double *offset, const double *residual,
                              int *yes, ga__scratch scratch);

#endif
