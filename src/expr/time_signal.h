/* Variables as functions of time, and expressions of such variables. */
#ifndef GALPHA_EXPR_TIME_SIGNAL_H
#define GALPHA_EXPR_TIME_SIGNAL_H

#include "galpha/expr.h"

/* A variable as a function of time: t itself, or value + f[0](t) + f[1](t), either of which may be NULL;
 * or not known. */
typedef struct ga__time_signal {
  int known, is_time;
  double value;
  const ga_function *f[2];
} ga__time_signal;

ga_status ga__time_signal_eval(const ga__time_signal *c, double t, int order, double out[3], ga_fault *fault);
/* 1: it stays within [*least, *most] for t in [from, to]. */
int ga__time_signal_bounds(const ga__time_signal *c, double from, double to, double *least, double *most);

/* While variables stay within lo and hi, indexed like values at evaluation, and change at rates within
 * rate_lo and rate_hi, the expression stays within `range` and changes at a rate within `rate`: over any
 * time, by that much in it at most, corners or not. 2: both are known; 1: the range alone, as where it may
 * jump; 0: neither (breaks.c). */
int ga__expr_rate(const ga_expr *e, const double *lo, const double *hi, const double *rate_lo,
                  const double *rate_hi, double range[2], double rate[2]);
/* 1: the derivative of a function is within [least, most] (slope.c). */
int ga__function_rate(const ga_function *f, double from, double to, double *least, double *most);

/* An expression with variables x as functions of time, indexed like values at evaluation. As
 * ga_expr_next_break() and ga_expr_period() (breaks.c). */
ga_status ga__expr_next_break_along(const ga_expr *e, const ga__time_signal *x, double t, double until,
                                    ga_break *out);
double ga__expr_period_along(const ga_expr *e, const ga__time_signal *x, double from, double to);

/* e(x(t)) for n variables, all of them known; e and the functions of x are borrowed (compose.c). */
enum { GA__MOST_COMPOSED = 64 };
ga_status ga__function_compose(ga_context *ctx, const ga_expr *e, int n, const ga__time_signal *x,
                               ga_function **out);

#endif
