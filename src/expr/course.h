/* How quantities go with time, and expressions of such. */
#ifndef GALPHA_EXPR_COURSE_H
#define GALPHA_EXPR_COURSE_H

#include "galpha/expr.h"

/* How a variable goes with time: it is t itself, or value + f[0](t) + f[1](t), either of which may be NULL;
 * or nothing is known of it. */
typedef struct ga__course {
  int known, is_time;
  double value;
  const ga_function *f[2];
} ga__course;

ga_status ga__course_eval(const ga__course *c, double t, int order, double out[3], ga_fault *fault);
/* 1: it stays within [*least, *most] while t goes through [from, to]. */
int ga__course_bounds(const ga__course *c, double from, double to, double *least, double *most);

/* While variables stay within lo and hi, indexed like values at evaluation, and change at rates within
 * rate_lo and rate_hi, the expression stays within `range` and changes at a rate within `rate`: over any
 * time, by that much in it at most, corners or not. 2: both are known; 1: the range alone, as where it may
 * jump; 0: neither (breaks.c). */
int ga__expr_rate(const ga_expr *e, const double *lo, const double *hi, const double *rate_lo,
                  const double *rate_hi, double range[2], double rate[2]);
/* 1: the rate of a function by its variable is within least and most (slope.c). */
int ga__function_rate(const ga_function *f, double from, double to, double *least, double *most);

/* An expression whose variables go along x, indexed like values at evaluation. As ga_expr_next_break() and
 * ga_expr_period() (breaks.c). */
ga_status ga__expr_next_break_along(const ga_expr *e, const ga__course *x, double t, double until,
                                    ga_break *out);
double ga__expr_period_along(const ga_expr *e, const ga__course *x, double from, double to);

/* e(x(t)) for n variables, all of them known; e and the functions of x are borrowed (compose.c). */
enum { GA__MOST_COMPOSED = 64 };
ga_status ga__function_compose(ga_context *ctx, const ga_expr *e, int n, const ga__course *x,
                               ga_function **out);

#endif
