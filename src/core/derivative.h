/* Derivatives: the user's or differences, and time derivatives along the motion (derivative.c). */
#ifndef GALPHA_CORE_DERIVATIVE_H
#define GALPHA_CORE_DERIVATIVE_H

#include "core/system.h"

/* Buffers of one level of differences along the motion; levels nest. */
typedef struct ga__lane {
  double *q, *d, *g;
} ga__lane;

/* Work space for differences: one per evaluator, since systems are constant. */
typedef struct ga__deriv {
  ga_context *ctx; /* its own: the system may be destroyed before */
  const ga_system *sys;
  double dt; /* [s] largest step of differences in time; 0: not known */
  int n_colours;
  int *colour_start, *colour_col;              /* columns of each colour */
  int *entry_start, *entry;                    /* entries of each column */
  double *q, *v, *vdot, *lambda, *psi, *x, *y; /* a perturbed copy of the point */
  double *d;                                   /* [nv] its move from the point's q */
  double *step;                                /* [n] of each column */
  double *plus, *minus;                        /* [n] residuals, */
  double *force;                               /* [n] and the forces in one of them */
  double *D, *Q, *G;                           /* [n_entries] for B v, where phi_dot is missing; else [0] */
  ga__lane lane[2];                            /* 0: for B v + Φ_t; 1: for derivatives of it */
} ga__deriv;

ga_status ga__deriv_create(const ga_system *sys, ga__deriv *w);
void ga__deriv_destroy(ga__deriv *w);

/* Fills J->D, Q, G (zeroed here) as core.h says, by the callback or by differences. */
ga_status ga__jacobian(ga__deriv *w, const ga_point *p, ga_jacobian *J);
/* The same without a check for NaN, for matrices that are checked by their factorisation; and the check,
 * which names the first entry that is not finite. */
ga_status ga__jacobian_unchecked(ga__deriv *w, const ga_point *p, ga_jacobian *J);
ga_status ga__jacobian_check(const ga_system *sys, const ga_point *p, const ga_jacobian *J);
/* B v + Φ_t; Φ's acceleration at vdot = 0; k_t + k_q v: by the callbacks or their substitutes (core.h). */
ga_status ga__phi_dot(ga__deriv *w, const ga_point *p, double *out);
ga_status ga__phi_acc(ga__deriv *w, const ga_point *p, double *out);
ga_status ga__k_acc(ga__deriv *w, const ga_point *p, double *out);
/* r = (M vdot − f, Φ, k, −s, −o) into out[n]; force[nv] is work space. */
ga_status ga__residual(const ga_system *sys, const ga_point *p, double *out, double *force);
/* The same with B v + Φ_t in the place of Φ. */
ga_status ga__residual_of_rates(ga__deriv *w, const ga_point *p, double *out, double *force);
/* The same by the system's sweep, with B v + Φ_t if rate is not NULL and the derivatives if J is not NULL. */
ga_status ga__sweep(const ga_system *sys, const ga_point *p, double *out, double *rate, ga_jacobian *J,
                    double *force);
/* The arrays of a sweep: out[n]; rate and J may be NULL. */
ga_sweep ga__sweep_into(const ga_system *sys, double *out, double *rate, ga_jacobian *J);
/* What J wants, B alone mostly, without residuals, into arrays that have zeros or earlier numbers of this
 * system. Uses the sweep if there is one; its numbers are not checked. room[n] is work space. */
ga_status ga__b_alone(ga__deriv *w, const ga_point *p, ga_jacobian *J, double *room);
/* d/ds of fn (GA__PHI, GA__K) or, for GA__PHI_DOT, of B v + Φ_t, along (t + s, move(q, s v)) at fixed v, by
 * fourth-order differences. doubt: uncertainty, may be NULL. */
ga_status ga__along_motion(ga__deriv *w, ga__fn fn, const ga_point *p, double *out, double *doubt);
/* out += (rows LAMBDA, columns V of values, B where they are Q) v */
void ga__b_mul(const ga_system *sys, double *out, const double *values, const double *v);
/* Function and unknowns of a pass: residuals by (v, vdot, λ, ...) or by q; B v + Φ_t or Φ by q. */
typedef enum ga__pass { GA__PASS_D, GA__PASS_Q, GA__PASS_G, GA__PASS_B } ga__pass;
/* One column by fourth-order differences, all rows, into out[n], and its uncertainty into doubt[n]; J gives
 * the shifts. */
ga_status ga__difference_column(ga__deriv *w, const ga_point *p, const ga_jacobian *J, ga__pass what,
                                int column, double *out, double *doubt);
void ga__deriv_load(ga__deriv *w, const ga_point *p); /* copy p into w's arrays */
ga_point ga__deriv_point(const ga__deriv *w, double t);

#endif
