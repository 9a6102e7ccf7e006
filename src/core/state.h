/* The complete state of a stepper, which is saved, and restored when a step is taken back (stepper.c). */
#ifndef GALPHA_CORE_STATE_H
#define GALPHA_CORE_STATE_H

#include "core/system.h"

/* All arrays in one block of the stepper's state_length numbers. */
typedef struct ga__state {
  double *block;
  double *q, *v, *vdot, *a, *lambda, *psi, *eta, *x, *xdot, *w, *y;
  double *a_prev, *lambda_prev, *psi_prev, *eta_prev, *w_prev, *y_prev;       /* at the step before */
  double *a_prev2, *lambda_prev2, *psi_prev2, *eta_prev2, *w_prev2, *y_prev2; /* and at the one before that */
  double *vdot_prev, *xdot_prev, *vdot_prev2, *xdot_prev2;
  /* After a start there is no previous step: _prev of λ, ψ, y, vdot, xdot are their rates instead, if
   * GA__HAS_JERK is set. */
  double *own;    /* of the method's family, state_length() numbers */
  double *plan;   /* [GA__N_PLAN] what the choice of the order goes by (plan.h) */
  double *scalar; /* [GA__N_SCALARS] */
} ga__state;

/* t; beginning and number of equal steps; last step size, 0 after a start; h of the start; time offsets of
 * a and w from t. */
enum {
  GA__T = 0,
  GA__T_BASE,
  GA__N_EQUAL,
  GA__H_OLD,
  GA__H_START,
  GA__EPS_A,
  GA__EPS_W,
  GA__KAPPA_H2,
  GA__SPAN,
  GA__SPAN_W,
  GA__HAS_JERK,
  GA__H_OLD2,
  GA__ORDER,
  GA__REDUNDANT,     /* relations among the constraints */
  GA__REDUNDANT_OLD, /* the same one step before */
  GA__HAD_JERK,      /* GA__HAS_JERK one step before */
  GA__GAP,           /* contradiction of redundant constraints at the start: positions, velocities */
  GA__GAP_V,
  GA__SECOND, /* 1: the next step is one of the second member of GA_AUTOMATIC (member.h) */
  GA__N_SCALARS
};

/* Orders that may be chosen: 2 by the first member of GA_AUTOMATIC, and those of collocation. */
enum { GA__N_ORDERS = 5 };

/* Of the choice of the order: that of the next step, 0: none was chosen; steps since it was changed, the time
 * and the work of them but the first; the order before, until the new one has proved better, and its work per
 * unit time; for each order the steps until it is tried again, and how long that is after the next failure. */
enum {
  GA__PLAN_ORDER = 0,
  GA__PLAN_STEPS,
  GA__PLAN_TIME,
  GA__PLAN_WORK,
  GA__PLAN_SEEN,     /* sums over the last steps of collocation, of any order: their number, */
  GA__PLAN_REJECTED, /* attempts that were rejected, */
  GA__PLAN_TAKEN,    /* the work they took, */
  GA__PLAN_TAKEN_2,  /* and that order 2 would have taken, as predicted */
  GA__PLAN_ENTERED,  /* from order 2: steps until that is looked at again, plus 1; 0: not from it */
  GA__PLAN_FAIR,     /* times the work before that the present order may take */
  GA__PLAN_FIRST,    /* [s] size of its first step; 0: not known */
  GA__PLAN_SKIPPED,  /* work of its first steps beyond that of the order before */
  GA__PLAN_FORMER,
  GA__PLAN_FORMER_WORK,
  GA__PLAN_WAIT,
  GA__PLAN_SPAN = GA__PLAN_WAIT + GA__N_ORDERS,
  GA__N_PLAN = GA__PLAN_SPAN + GA__N_ORDERS
};

ga_point ga__state_point(const ga__state *s);

#endif
