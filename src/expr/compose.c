/* Functions of time composed of other functions by an expression. */
#include "expr/breaks.h"
#include "expr/function.h"
#include <stddef.h>
#include <string.h>

/* ---- Time signals ---- */

ga_status ga__time_signal_eval(const ga__time_signal *c, double t, int order, double out[3], ga_fault *fault)
{
  double y[3];
  out[0] = c->is_time ? t : c->value;
  out[1] = c->is_time;
  out[2] = 0;
  for (int k = 0; k < 2; k++) {
    if (!c->f[k]) continue;
    const ga_status status = ga_function_eval(c->f[k], t, order, y, fault);
    if (status) return status;
    for (int d = 0; d <= order; d++) out[d] += y[d];
  }
  return GA_OK;
}

int ga__time_signal_bounds(const ga__time_signal *c, double from, double to, double *least, double *most)
{
  *least = c->is_time ? from : c->value;
  *most = c->is_time ? to : c->value;
  for (int k = 0; c->known && k < 2; k++) {
    double low, high;
    if (!c->f[k]) continue;
    if (!ga_function_bounds(c->f[k], from, to, &low, &high)) return 0;
    *least += low;
    *most += high;
  }
  return c->known;
}

/* ---- e(x(t)) ---- */

typedef struct composed {
  const ga_expr *e;
  int n;
  ga__time_signal x[GA__MOST_COMPOSED];
} composed;

static const composed *composed_of(const ga_function *f)
{
  return f->data.made;
}

static ga_status eval_composed(const ga_function *f, double t, int order, double out[3], ga_fault *fault)
{
  const composed *c = composed_of(f);
  double x[GA__MOST_COMPOSED], rate[GA__MOST_COMPOSED], rate2[GA__MOST_COMPOSED], y[3];
  for (int i = 0; i < c->n; i++) {
    const ga_status status = ga__time_signal_eval(&c->x[i], t, order, y, fault);
    if (status) return status;
    x[i] = y[0], rate[i] = y[1], rate2[i] = y[2];
  }
  return ga_expr_curve(c->e, x, rate, rate2, order, out, fault);
}

static ga__range range_composed(const ga_function *f, double from, double to)
{
  return ga__expr_range_along(composed_of(f)->e, composed_of(f)->x, (ga__range){from, to});
}

static int kinked_composed(const ga_function *f, double from, double to)
{
  return ga__expr_kinked_along(composed_of(f)->e, composed_of(f)->x, (ga__range){from, to});
}

static double period_composed(const ga_function *f, double from, double to)
{
  return ga__expr_period_along(composed_of(f)->e, composed_of(f)->x, from, to);
}

static const ga__function_kind COMPOSED = {"expression of functions",
                                           eval_composed,
                                           range_composed,
                                           kinked_composed,
                                           period_composed,
                                           NULL,
                                           NULL,
                                           1,
                                           NULL};

ga_status ga__function_compose(ga_context *ctx, const ga_expr *e, int n, const ga__time_signal *x,
                               ga_function **out)
{
  composed c = {.e = e, .n = n};
  memcpy(c.x, x, (size_t)n * sizeof *x);
  return ga__function_make(ctx, &COMPOSED, &c, offsetof(composed, x) + (size_t)n * sizeof *x, out);
}
