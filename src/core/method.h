/* Integration methods: each is a row of GA_METHOD_LIST (core.h) and a ga__method, with the functions of its
 * family. docs/develop/methods.md shows how to add one. */
#ifndef GALPHA_CORE_METHOD_H
#define GALPHA_CORE_METHOD_H

#include "core/factors.h"

/* Weighted size of an increment: `acc` of the accelerations, `tight` of positions, velocities and η, `all`
 * over these, λ, ψ, x and y. */
typedef struct ga__measure {
  double all, acc, tight;
} ga__measure;

/* Where a state within a step is written to; NULL: not wanted. */
typedef struct ga__inside {
  double *q, *v, *vdot, *lambda, *psi, *x, *xdot, *y;
  int coarse; /* 1: q may be of one order less, for checks */
  int plain;  /* 1: vdot, λ, ψ, xdot and y may be of a lower order than q and v, as with coarse */
} ga__inside;

struct ga_sensitivity;
struct ga__tangent;
struct ga__inner_seed;

/* The adjoint of the last step of a family (sensitivity_adjoint.c): numbers by what its end is become those
 * by what its beginning is. Repeated steps are kept, and recalled one after the other, the last one first. */
typedef struct ga__turned {
  ga_status (*create)(struct ga_sensitivity *se); /* further memory; NULL: none. destroy() frees it */
  /* -- Repeated steps -- */
  int (*course)(const ga_stepper *st);            /* how the last step was taken: */
  void (*follow)(ga_stepper *st, int course);     /* the next one is taken likewise; −1: by its own rules */
  int (*has_new_factors)(const ga_stepper *st);   /* whether it made factors; NULL: dense output uses none */
  size_t (*kept)(const ga_stepper *st);           /* numbers that the last step has beside its states, */
  void (*keep)(const ga_stepper *st, double *to); /* from the stepper, */
  void (*recall)(ga_stepper *st, const double *from); /* and back to it; */
  size_t (*kept_before)(const ga_stepper *st); /* the same of what the next step uses of earlier ones */
  void (*keep_before)(const ga_stepper *st, double *to); /* beside the state and factors; NULL: nothing */
  void (*recall_before)(ga_stepper *st, const double *from);
  /* -- Backwards -- */
  void (*begin)(struct ga_sensitivity *se); /* before the last step of a run, or of one that a restart ends */
  ga_status (*reverse)(struct ga_sensitivity *se, struct ga__tangent *bar);
  /* *sum += derivative by parameter j through the equations of this step, after reverse(); */
  ga_status (*gather)(struct ga_sensitivity *se, int j, double *sum);
  /* for all parameters at once: number i of the points of these equations, 0: there are no more */
  int (*point)(struct ga_sensitivity *se, int i, struct ga_pullback *by);
  /* The same two of a place within the step, after `inside`; NULL: it has no equations. */
  ga_status (*gather_inside)(struct ga_sensitivity *se, int j, double *sum);
  int (*point_inside)(struct ga_sensitivity *se, int i, struct ga_pullback *by);
  /* -- Dense output: the state at t within the step, and what derivatives by it are by both ends -- */
  ga_status (*look)(struct ga_sensitivity *se, struct ga__inner_seed *in, double t, ga_state *s);
  ga_status (*inside)(struct ga_sensitivity *se, struct ga__inner_seed *in, double t,
                      struct ga__tangent *end);
} ga__turned;

/* Derivatives of the last step of a family by parameters (sensitivity.h). */
typedef struct ga__slopes {
  ga_status (*create)(struct ga_sensitivity *se); /* memory, */
  void (*destroy)(struct ga_sensitivity *se);     /* which may be missing */
  /* whether the last step of a stepper is of a kind that is differentiated */
  ga_status (*check)(struct ga_sensitivity *se, const ga_stepper *st);
  ga_status (*make)(
      struct ga_sensitivity *se); /* the equations of the step, and the factors of their matrix */
  ga_status (*forward)(struct ga_sensitivity *se, int j);          /* derivatives by parameter j at its end */
  ga_status (*inside)(struct ga_sensitivity *se, int j, double t); /* of dense output */
  ga_status (*rates)(struct ga_sensitivity *se, struct ga__tangent *rate); /* of vdot, λ, ψ, y at its end */
  /* What the family keeps of parameter j += factor times that of `from`; NULL: it keeps nothing. */
  void (*add)(struct ga_sensitivity *se, int j, int from, double factor);
  const struct ga__turned *turned;
} ga__slopes;

/* Functions of a family of methods for the step, Newton's iteration and the error estimate. Unknowns,
 * right-hand side and increment (both in st->r) are those of the family; st->next becomes the state at the
 * end of the step. */
typedef struct ga__family {
  /* -- Memory: NULL if not needed -- */
  size_t (*state_length)(const ga_stepper *st); /* numbers of its own in a state, at ga__state's own */
  ga_status (*create)(ga_stepper *st);          /* st->own */
  void (*destroy)(ga_stepper *st);

  /* -- The step, in this order -- */
  /* sets up a step of size h, and first values */
  ga_status (*predict)(ga_stepper *st, double h, ga__scratch scratch);
  /* solves the equations of the step, next included; NULL: by Newton's iteration (newton.c), which calls the
   * functions from trial to update */
  ga_status (*iterate)(ga_stepper *st, ga__scratch scratch);
  void (*trial)(ga_stepper *st);                              /* next from the unknowns */
  ga_status (*residual)(ga_stepper *st, ga__scratch scratch); /* right-hand side into r */
  ga_status (*prepare)(ga_stepper *st);                       /* iteration matrix at next, factored */
  ga_status (*solve)(ga_stepper *st);                         /* increment into r */
  /* size of the increment in r; worst, if not NULL: column of the largest component */
  ga__measure (*weigh)(const ga_stepper *st, int *worst);
  void (*update)(ga_stepper *st);      /* unknowns += r */
  ga_status (*accept)(ga_stepper *st); /* completes next, NULL: nothing to do */

  /* -- The iteration matrix -- */
  /* The layout of a form; n_rules 0: there is none. */
  ga_status (*layout)(ga_stepper *st, ga__matrix_form form, int leaves_out, ga__layout *out);
  int (*stages)(const ga_stepper *st);             /* factors kept at the same time, at most; NULL: one */
  int (*row_of)(const ga_stepper *st, int column); /* row or column of the system for one of the matrix */
  int form_by_convergence; /* 1: terms.c chooses between both forms; 0: prepare() does */

  /* -- Rounding -- */
  ga__measure (*floor)(const ga_stepper *st); /* increment at the level of rounding */
  /* rounding of the right-hand side; terms[nv]: size of the terms of the dynamics */
  void (*noise)(const ga_stepper *st, const double *terms, double *out);

  /* -- The last step: all of them, or NULL: dense.c and estimate.c, for order 2 -- */
  ga_status (*interpolate)(ga_stepper *st, double s, const ga__inside *out); /* at s in [0, 1] of it */
  int (*nodes)(const ga_stepper *st, double *at);                            /* ga_stepper_nodes(), */
  void (*node)(const ga_stepper *st, int i, ga_state *out); /* ga_stepper_node() without its time */
  void (*estimate)(ga_stepper *st);                         /* its errors into est_q, est_v, est_x */
  void (*estimate_forces)(ga_stepper *st, double *e); /* and those of vdot, λ, ψ, xdot and y, into e[n] */
  double (*error_power)(const ga_stepper *st);        /* power of h that these grow with */
  /* of the next step, at most that wanted, so that its equations can be solved */
  double (*growth)(const ga_stepper *st, double wanted);
  int (*struggled)(const ga_stepper *st); /* 1: its iteration failed at first */

  /* -- Errors of order 2 -- */
  void (*correct_q)(const ga_stepper *st,
                    double *e); /* e += further changes of q in the last step; NULL: none */
  /* force += h times the forces on e_v; NULL: none */
  ga_status (*error_force)(ga_stepper *st, double *force, ga__scratch scratch);
  double (*mass_factor)(const ga_stepper *st);  /* factor of M in the iteration matrix, */
  double (*rate_factor)(const ga_stepper *st);  /* of A in the rows of k, */
  double (*force_factor)(const ga_stepper *st); /* and of h² times stiffness */
  /* First of its rows whose solution is a change of q; −1: the matrix in use has no stiffness. */
  int (*position_rows)(const ga_stepper *st);
  /* e = (e_q, e_x) := solution of the iteration matrix for the right-hand sides of the dynamics, Φ and x in
   * residual[n], which may be changed. */
  ga_status (*solve_error)(ga_stepper *st, double *residual, double *e);

  const ga__slopes *slopes; /* NULL: derivatives by parameters are refused */
} ga__family;

/* A method: its family, its variant within it, and its properties. */
typedef struct ga__method {
  const ga__family *family;
  const void *variant; /* data of the family */
  int keeps_positions; /* 1: Φ = 0 at the end of every step, */
  int keeps_rates;     /* and B v + Φ_t = 0, */
  int has_eta;         /* by separate multipliers η in Δq: relations between Φ and k are allowed */
  int vdot_at_end; /* 1: vdot₁ is the acceleration at the step's end, so that s, o and f may depend on it */
  int adjusts_gamma;  /* 1: γ and θ may follow the step size (GA_ADJUST_GAMMA) */
  int holonomic_only; /* 1: not for systems with k */
  int hht;            /* 1: published with the parameters of HHT */
  int has_order;      /* 1: its order is given by ga_stepper_opts.order, which others do not use */
  int order;          /* of equal steps, where it is not given; 0: 2 */
} ga__method;

/* The table (methods.c); NULL: there is no such method. */
const ga__method *ga__method_of(ga_method method);
ga_status ga__method_check_opts(ga_context *ctx, const ga_stepper_opts *opts);
ga_status ga__method_check_system(const ga_stepper *st);
/* At a start; M of st->saddle has the derivatives by vdot. */
ga_status ga__method_check_vdot(ga_stepper *st);

/* -- Common to families (predict.c) -- */
/* Sizes and times of a step of size h; vdot and xdot of the last ones into next. */
void ga__begin_step(ga_stepper *st, double h);
/* Sets up a_n, w_n for a step of size h, and the prediction in p, px, next. */
void ga__predict(ga_stepper *st, double h);
ga_status ga__begin_velocity(ga_stepper *st, double h, ga__scratch scratch); /* sets v_n */
void ga__trial_states(ga_stepper *st);    /* x₁, xdot₁, w₁ of next from px */
void ga__prepare_tangent(ga_stepper *st); /* T and T A at the current exponent */
double ga__rounding_of_rate(const ga_system *sys);
/* all = max(all, value); *worst, if not NULL, becomes row + index of the largest of d[n]. */
void ga__take_largest(ga__measure *m, double value, int *worst, int row, const double *d, int n);
/* e = (e_q, e_x) by the iteration matrix, right-hand sides of the dynamics and Φ from its row `at` on
 * (defect.c).
 */
ga_status ga__solve_error_at(ga_stepper *st, const double *residual, int at, int with_x, double *e);

/* -- Exact equilibrium (exact.c): for methods with the same unknowns -- */
/* Scales of the rules of its matrices. */
enum { GA__EXACT_ONE, GA__EXACT_H, GA__EXACT_INV_H, GA__EXACT_C2, GA__EXACT_H2, GA__EXACT_MINUS };
ga_status ga__exact_predict(ga_stepper *st, double h, ga__scratch scratch);
void ga__exact_trial(ga_stepper *st);
extern const ga__slopes ga__exact_slopes; /* sensitivity_step.c */
/* The layout of the matrix with all terms, whatever the options say about those of η. */
ga__layout ga__exact_layout(const ga_stepper *st, int leaves_out);
const double *ga__exact_b(const ga_stepper *st); /* [n_b] B at the beginning of the step, if there are η */
/* Residuals of the system at the trial into r and, if rate is not NULL, B v + Φ_t; with the derivatives
 * `want` if the iteration matrix is made next and a sweep gives them at no extra cost. */
ga_status ga__exact_evaluate(ga_stepper *st, unsigned want, double *rate, ga__scratch scratch);
/* The iteration matrix from the derivatives `want`, and its factors. */
ga_status ga__exact_assemble(ga_stepper *st, unsigned want);
ga_status ga__exact_solve(ga_stepper *st);
ga__measure ga__exact_weigh(const ga_stepper *st, int *worst);
void ga__exact_update(ga_stepper *st);
int ga__exact_row_of(const ga_stepper *st, int column);
ga__measure ga__exact_floor(const ga_stepper *st);
void ga__exact_noise(const ga_stepper *st, const double *terms, double *out);
double ga__exact_mass_factor(const ga_stepper *st);
double ga__exact_rate_factor(const ga_stepper *st);
double ga__exact_force_factor(const ga_stepper *st);
int ga__exact_position_rows(const ga_stepper *st);
ga_status ga__exact_solve_error(ga_stepper *st, double *residual, double *e);

#endif
