/* Methods of integration: a row of GA_METHOD_LIST (core.h) and a ga__method each, the functions of their
 * family with it. docs/develop/methods.md shows how one is added. */
#ifndef GALPHA_CORE_METHOD_H
#define GALPHA_CORE_METHOD_H

#include "core/factors.h"

/* Weighted size of an increment: `acc` of the accelerations, `tight` of positions, velocities and η, `all`
 * over these, λ, ψ, x and y. */
typedef struct ga__measure {
  double all, acc, tight;
} ga__measure;

/* What a family of methods gives to the step, to Newton's iteration and to the error estimate. The unknowns,
 * the right-hand side and then the increment (both in st->r) are the family's own; the state at the step's
 * end grows in st->next. */
typedef struct ga__family {
  /* -- Memory: NULL where it has none of its own -- */
  size_t (*state_length)(const ga_stepper *st); /* numbers of its own in a state, at ga__state's own */
  ga_status (*create)(ga_stepper *st);          /* st->own */
  void (*destroy)(ga_stepper *st);

  /* -- The step, in this order -- */
  ga_status (*predict)(ga_stepper *st, double h); /* sets up a step of size h, and first values */
  void (*trial)(ga_stepper *st);                  /* next from the unknowns */
  ga_status (*residual)(ga_stepper *st);          /* right-hand side into r */
  ga_status (*prepare)(ga_stepper *st);           /* iteration matrix at next, factored */
  ga_status (*solve)(ga_stepper *st);             /* increment into r */
  /* size of the increment in r; worst, where not NULL, receives the column of the unknown that dominates */
  ga__measure (*weigh)(const ga_stepper *st, int *worst);
  void (*update)(ga_stepper *st);      /* unknowns += r */
  ga_status (*accept)(ga_stepper *st); /* completes next, NULL: nothing to do */

  /* -- The iteration matrix -- */
  /* The layout of a form; n_rules 0: there is none. */
  ga_status (*layout)(ga_stepper *st, ga__matrix_form form, int leaves_out, ga__layout *out);
  int (*row_of)(const ga_stepper *st, int column); /* the system's row or column behind one of the matrix */
  int form_by_convergence; /* 1: where there are both forms terms.c chooses; 0: prepare() does */

  /* -- Rounding -- */
  ga__measure (*floor)(const ga_stepper *st); /* what it leaves of an increment */
  /* what it does to the right-hand side, whose terms are of size `terms`[nv] in the dynamics */
  void (*noise)(const ga_stepper *st, const double *terms, double *out);

  /* -- Errors -- */
  void (*correct_q)(const ga_stepper *st,
                    double *e); /* e += what else moves q in the last step; NULL: none */
  ga_status (*error_force)(ga_stepper *st, double *force); /* force += h times what acts on e_v; NULL: none */
  double (*mass_factor)(const ga_stepper *st);             /* what the iteration matrix has of M, */
  double (*force_factor)(const ga_stepper *st);            /* and of h² times stiffness */
  /* First of its rows whose solution is a change of q; −1: the matrix in use has no stiffness. */
  int (*position_rows)(const ga_stepper *st);
  /* e = (e_q, e_x) := its solution for right-hand sides in the dynamics, Φ and x, which st->saddle_rhs holds.
   */
  ga_status (*solve_error)(ga_stepper *st, double *e);
} ga__family;

/* A method: its family, which of the family's it is, and what it can do. */
typedef struct ga__method {
  const ga__family *family;
  const void *variant; /* the family's own */
  int keeps_positions; /* 1: Φ = 0 at the end of every step, */
  int keeps_rates;     /* and B v + Φ_t = 0, */
  int has_eta;         /* by multipliers η of their own in Δq: relations between Φ and k are no trouble */
  int vdot_at_end; /* 1: vdot₁ is the acceleration at the step's end, so that s, o and f may depend on it */
  int adjusts_gamma;  /* 1: γ and θ may follow the step size (GA_ADJUST_GAMMA) */
  int holonomic_only; /* 1: not for systems with k */
  int hht;            /* 1: published with the parameters of HHT */
} ga__method;

/* The table (methods.c); NULL: there is no such method. */
const ga__method *ga__method_of(ga_method method);
ga_status ga__method_check_opts(ga_context *ctx, const ga_stepper_opts *opts);
ga_status ga__method_check_system(const ga_stepper *st);
/* At a start, M of st->saddle being the derivatives by vdot. */
ga_status ga__method_check_vdot(ga_stepper *st);

/* -- What families share (predict.c) -- */
/* Sets up a_n, w_n for a step of size h, and the prediction in p, px, next. */
void ga__predict(ga_stepper *st, double h);
ga_status ga__begin_velocity(ga_stepper *st, double h); /* sets v_n */
void ga__trial_states(ga_stepper *st);                  /* x₁, xdot₁, w₁ of next from px */
void ga__prepare_tangent(ga_stepper *st);               /* T and T A at the present exponent */
double ga__rounding_of_rate(const ga_system *sys);
/* all = max(all, value); *worst, where not NULL, follows: row + where the largest of d[n] is. */
void ga__take_largest(ga__measure *m, double value, int *worst, int row, const double *d, int n);
/* e = (e_q, e_x) by the iteration matrix, right-hand sides of the dynamics and Φ from its row `at` on
 * (defect.c).
 */
ga_status ga__solve_error_at(ga_stepper *st, int at, int with_x, double *e);

/* -- Exact equilibrium (exact.c): what methods with the same unknowns can take over -- */
/* Scales of the rules of its matrices. */
enum { GA__EXACT_ONE, GA__EXACT_H, GA__EXACT_INV_H, GA__EXACT_C2, GA__EXACT_H2 };
ga_status ga__exact_predict(ga_stepper *st, double h);
void ga__exact_trial(ga_stepper *st);
const double *ga__exact_b(const ga_stepper *st); /* [n_b] B at the beginning of the step, where there are η */
/* Residuals of the system at the trial into r and, rate not NULL, B v + Φ_t there; where the iteration matrix
 * is to be made next, also the derivatives it wants, if they come along. */
ga_status ga__exact_evaluate(ga_stepper *st, unsigned want, double *rate);
/* The iteration matrix from the derivatives `want`, and its factors. */
ga_status ga__exact_assemble(ga_stepper *st, unsigned want);
ga_status ga__exact_solve(ga_stepper *st);
ga__measure ga__exact_weigh(const ga_stepper *st, int *worst);
void ga__exact_update(ga_stepper *st);
int ga__exact_row_of(const ga_stepper *st, int column);
ga__measure ga__exact_floor(const ga_stepper *st);
void ga__exact_noise(const ga_stepper *st, const double *terms, double *out);
double ga__exact_mass_factor(const ga_stepper *st);
double ga__exact_force_factor(const ga_stepper *st);
int ga__exact_position_rows(const ga_stepper *st);
ga_status ga__exact_solve_error(ga_stepper *st, double *e);

#endif
