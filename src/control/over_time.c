/* Blocks whose inputs are functions of time alone: what their outputs are over time, and where these break.
 */
#include "control/over_time.h"
#include "control/control_impl.h"
#include "expr/expr_impl.h"

#include <math.h>
#include <string.h>

/* ---- y = σ(K u + offset) ---- */

typedef struct shaped_course {
  const ga_control_block *block;
  int output, n;
  ga__course u[GA_BLOCK_SIZE];
} shaped_course;

static const shaped_course *course_of(const ga_function *f)
{
  return f->data.made;
}

static double offset_of(const shaped_course *c)
{
  const ga__shaped *s = &c->block->data.shaped;
  return s->offset ? s->offset[c->output] : 0;
}

static const double *row_of(const shaped_course *c)
{
  return c->block->data.shaped.K + c->output * c->n;
}

static ga_status shape_at(const ga__shape *shape, double v, double *y, double *slope, ga_fault *fault)
{
  *y = v;
  *slope = 1;
  return shape->fn ? shape->fn(y, slope, shape, v, fault) : GA_OK;
}

/* The second derivative leaves out σ'', which is 0 beside the corners of hard limits. */
static ga_status eval_shaped(const ga_function *f, double t, int order, double out[3], ga_fault *fault)
{
  const shaped_course *c = course_of(f);
  double v[3] = {offset_of(c), 0, 0}, u[3], slope;
  for (int i = 0; i < c->n; i++) {
    const ga_status status = ga__course_eval(&c->u[i], t, order, u, fault);
    if (status) return status;
    for (int d = 0; d <= order; d++) v[d] += row_of(c)[i] * u[d];
  }
  const ga_status status = shape_at(&c->block->data.shaped.shape, v[0], &out[0], &slope, fault);
  out[1] = slope * v[1];
  out[2] = slope * v[2];
  return status;
}

/* v = K u + offset; 0: its range is not known. */
static int range_of_v(const shaped_course *c, double from, double to, double v[2])
{
  v[0] = v[1] = offset_of(c);
  for (int i = 0; i < c->n; i++) {
    const double k = row_of(c)[i];
    double low, high;
    if (k == 0) continue;
    if (!ga__course_bounds(&c->u[i], from, to, &low, &high)) return 0;
    v[0] += k > 0 ? k * low : k * high;
    v[1] += k > 0 ? k * high : k * low;
  }
  return 1;
}

/* Limits, dead zones and tanh never fall. */
static ga__range range_shaped(const ga_function *f, double from, double to)
{
  const shaped_course *c = course_of(f);
  const ga__shape *shape = &c->block->data.shaped.shape;
  ga__range r = {-INFINITY, INFINITY};
  double v[2], slope;
  if (!range_of_v(c, from, to, v)) return r;
  if (shape->function) {
    ga_function_bounds(shape->function, v[0], v[1], &r.lo, &r.hi);
  } else {
    shape_at(shape, v[0], &r.lo, &slope, NULL);
    shape_at(shape, v[1], &r.hi, &slope, NULL);
  }
  return r;
}

static int meets(const double v[2], double corner)
{
  return v[0] < corner && corner <= v[1];
}

static int kinked_shaped(const ga_function *f, double from, double to)
{
  const shaped_course *c = course_of(f);
  const ga__shape *shape = &c->block->data.shaped.shape;
  double v[2];
  if (!range_of_v(c, from, to, v)) return 0;
  if (shape->function) return v[0] < v[1] && shape->function->kind->kinked(shape->function, v[0], v[1]);
  if (!(shape->lower < shape->upper)) return 0; /* tanh, or none */
  const double w = shape->width;
  return meets(v, shape->lower - w) || meets(v, shape->lower + w) || meets(v, shape->upper - w) ||
         meets(v, shape->upper + w);
}

static double period_shaped(const ga_function *f, double from, double to)
{
  (void)f;
  (void)from;
  (void)to;
  return INFINITY; /* those of its inputs are known as it is */
}

static const ga__function_kind SHAPED = {"block", eval_shaped, range_shaped, kinked_shaped, period_shaped, 1};

/* ---- Use ---- */

ga_status ga__block_over_time(const ga_control_block *b, int output, const ga__course *u, ga__course *out,
                              ga_function **owned)
{
  ga_status status = GA_OK;
  *out = (ga__course){.known = 0};
  *owned = NULL;
  if (b->n_x > 0 || b->n_in >= GA__MOST_COMPOSED) return GA_OK;
  for (int i = 0; i < b->n_in; i++)
    if (!u[1 + i].known) return GA_OK;
  if (b->kind == GA_KIND_FUNCTION_OF_TIME) {
    *out = (ga__course){.known = 1, .f = {b->data.function}};
    return GA_OK;
  }
  if (b->kind == GA_KIND_EXPRESSION) {
    status = ga__function_compose(b->ctx, b->data.expr[output], 1 + b->n_in, u, owned);
  } else if (ga__is_shaped(b)) {
    shaped_course c = {b, output, b->n_in, {{0}}};
    memcpy(c.u, u + 1, (size_t)b->n_in * sizeof *u);
    status = ga__function_make(b->ctx, &SHAPED, &c, sizeof c, owned);
  }
  if (!status && *owned) *out = (ga__course){.known = 1, .f = {*owned}};
  return status;
}

ga_status ga__block_next_break_along(const ga_control_block *b, const ga__course *u, double t, double until,
                                     ga_break *out)
{
  ga_break one;
  if (b->kind != GA_KIND_EXPRESSION) return ga_block_next_break(b, t, until, out);
  *out = (ga_break){INFINITY, INFINITY, 3, until};
  for (int i = 0; i < b->n_out; i++) {
    const ga_status status = ga__expr_next_break_along(b->data.expr[i], u, t, until, &one);
    if (status) return status;
    const double clear = fmin(out->clear, one.clear);
    if (one.before < out->before) *out = one;
    out->clear = clear;
  }
  return GA_OK;
}

double ga__block_period_along(const ga_control_block *b, const ga__course *u, double from, double to)
{
  double least = INFINITY;
  if (b->kind != GA_KIND_EXPRESSION) return ga_block_period(b, from, to);
  for (int i = 0; i < b->n_out; i++) least = fmin(least, ga__expr_period_along(b->data.expr[i], u, from, to));
  return least;
}
