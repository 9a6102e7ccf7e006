/* Blocks whose inputs depend on time alone: outputs as functions of time, and their breaks. */
#include "control/over_time.h"
#include "control/control_impl.h"
#include "expr/function.h"
#include "expr/time_signal.h"

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

/* Output number `output` of a block, inputs u. */
typedef struct output_function {
  const ga_control_block *block;
  int output, n;
  ga__time_signal u[GA_BLOCK_SIZE];
} output_function;

static const output_function *output_function_of(const ga_function *f)
{
  return f->data.made;
}

static double offset_of(const output_function *c)
{
  const ga__wiener *s = &c->block->data.wiener;
  return s->offset ? s->offset[c->output] : 0;
}

static const double *row_of(const output_function *c)
{
  return c->block->data.wiener.K + c->output * c->n;
}

static ga_status shape_at(const ga__shape *shape, double v, double *y, double *slope, ga_fault *fault)
{
  *y = v;
  *slope = 1;
  return shape->fn ? shape->fn(y, slope, shape, v, fault) : GA_OK;
}

/* The second derivative omits σ'', which is 0 except at the corners of hard limits. */
static ga_status eval_wiener(const ga_function *f, double t, int order, double out[3], ga_fault *fault)
{
  const output_function *c = output_function_of(f);
  double v[3] = {0, 0, 0}, u[3], slope;
  for (int i = 0; i < c->n; i++) {
    const ga_status status = ga__time_signal_eval(&c->u[i], t, order, u, fault);
    if (status) return status;
    for (int d = 0; d <= order; d++) v[d] += row_of(c)[i] * u[d];
  }
  v[0] += offset_of(c);
  const ga_status status = shape_at(&c->block->data.wiener.shape, v[0], &out[0], &slope, fault);
  out[1] = slope * v[1];
  out[2] = slope * v[2];
  return status;
}

static int meets(const double v[2], double corner)
{
  return v[0] < corner && corner <= v[1];
}

int ga__block_range(const ga_control_block *b, int i, double range[2])
{
  if (b->kind == GA_KIND_SAMPLED) return ga__block_range(b->data.sampled.inner, i, range);
  if (!ga__is_wiener(b) || b->data.wiener.shape.fn != ga__shape_saturation) return 0;
  range[0] = b->data.wiener.shape.lower;
  range[1] = b->data.wiener.shape.upper;
  return isfinite(range[0]) || isfinite(range[1]);
}

int ga__block_opening(const ga_control_block *b)
{
  return b->kind == GA_KIND_ORIFICE && b->n_in > 2 ? 2 : -1;
}

/* Corners of limits and dead zones, and the ends of their smoothing. */
static int shape_has_corner(const ga__shape *shape, const double v[2])
{
  const double w = shape->width;
  if (!(shape->lower < shape->upper)) return 0; /* tanh, or none */
  return meets(v, shape->lower - w) || meets(v, shape->lower + w) || meets(v, shape->upper - w) ||
         meets(v, shape->upper + w);
}

/* Range of v = K u + offset of output i for u in [lo, hi]; summed in the order of evaluations, so that
 * rounding does not matter. */
static void range_of_v(const ga_control_block *b, int i, const double *lo, const double *hi, double v[2])
{
  const ga__wiener *s = &b->data.wiener;
  const double *row = s->K + i * b->n_in;
  v[0] = v[1] = 0;
  for (int k = 0; k < b->n_in; k++) {
    v[0] += row[k] > 0 ? row[k] * lo[k] : row[k] * hi[k];
    v[1] += row[k] > 0 ? row[k] * hi[k] : row[k] * lo[k];
  }
  v[0] += s->offset ? s->offset[i] : 0;
  v[1] += s->offset ? s->offset[i] : 0;
}

/* Limits, dead zones and tanh are monotone, up to rounding. */
int ga__wiener_bounds(const ga_control_block *b, int i, const double *lo, const double *hi, double *least,
                      double *most)
{
  const ga__shape *shape = &b->data.wiener.shape;
  double v[2], slope;
  range_of_v(b, i, lo, hi, v);
  if (shape->function) return ga_function_bounds(shape->function, v[0], v[1], least, most);
  if (shape_at(shape, v[0], least, &slope, NULL) || shape_at(shape, v[1], most, &slope, NULL)) return 0;
  if (shape->fn && *least < *most) {
    const double rounding = 8 * DBL_EPSILON * fmax(fabs(v[0]), fabs(v[1]));
    *least -= rounding;
    *most += rounding;
  }
  return isfinite(*least) && isfinite(*most);
}

/* Limits and dead zones have slopes from 0 to 1, tanh the largest at 0, and between corners each is monotone.
 */
static int shape_slope(const ga__shape *shape, const double v[2], double *least, double *most)
{
  double y, slope[2];
  *least = *most = 1;
  if (shape->function) return ga__function_rate(shape->function, v[0], v[1], least, most);
  if (!shape->fn) return 1;
  for (int k = 0; k < 2; k++)
    if (shape_at(shape, v[k], &y, &slope[k], NULL)) return 0;
  *least = fmin(slope[0], slope[1]);
  *most = fmax(slope[0], slope[1]);
  if (shape_has_corner(shape, v)) *least = fmin(*least, 0), *most = fmax(*most, 1);
  if (!(shape->lower < shape->upper) && v[0] < 0 && v[1] > 0) {
    if (shape_at(shape, 0, &y, slope, NULL)) return 0;
    *most = fmax(*most, slope[0]);
  }
  return isfinite(*least) && isfinite(*most);
}

int ga__wiener_rate(const ga_control_block *b, int i, const double *lo, const double *hi,
                    const double *rate_lo, const double *rate_hi, double *least, double *most)
{
  const double *row = b->data.wiener.K + i * b->n_in;
  double v[2], slope[2], rate[2] = {0, 0};
  range_of_v(b, i, lo, hi, v);
  for (int k = 0; k < b->n_in; k++) {
    rate[0] += row[k] > 0 ? row[k] * rate_lo[k] : row[k] * rate_hi[k];
    rate[1] += row[k] > 0 ? row[k] * rate_hi[k] : row[k] * rate_lo[k];
  }
  if (!shape_slope(&b->data.wiener.shape, v, &slope[0], &slope[1])) return 0;
  *least = fmin(fmin(slope[0] * rate[0], slope[0] * rate[1]), fmin(slope[1] * rate[0], slope[1] * rate[1]));
  *most = fmax(fmax(slope[0] * rate[0], slope[0] * rate[1]), fmax(slope[1] * rate[0], slope[1] * rate[1]));
  return isfinite(*least) && isfinite(*most);
}

/* Bounds of the inputs over time; 0: not known. */
static int input_bounds(const output_function *c, double from, double to, double *lo, double *hi)
{
  for (int k = 0; k < c->n; k++)
    if (!ga__time_signal_bounds(&c->u[k], from, to, &lo[k], &hi[k])) return 0;
  return 1;
}

static ga__range range_wiener(const ga_function *f, double from, double to)
{
  const output_function *c = output_function_of(f);
  double lo[GA_BLOCK_SIZE], hi[GA_BLOCK_SIZE];
  ga__range r;
  if (input_bounds(c, from, to, lo, hi) && ga__wiener_bounds(c->block, c->output, lo, hi, &r.lo, &r.hi))
    return r;
  return (ga__range){-INFINITY, INFINITY};
}

static int kinked_wiener(const ga_function *f, double from, double to)
{
  const output_function *c = output_function_of(f);
  const ga__shape *shape = &c->block->data.wiener.shape;
  double v[2], lo[GA_BLOCK_SIZE], hi[GA_BLOCK_SIZE];
  if (!input_bounds(c, from, to, lo, hi)) return 0;
  range_of_v(c->block, c->output, lo, hi, v);
  if (shape->function) return v[0] < v[1] && shape->function->kind->kinked(shape->function, v[0], v[1]);
  return shape_has_corner(shape, v);
}

static double period_wiener(const ga_function *f, double from, double to)
{
  (void)f;
  (void)from;
  (void)to;
  return INFINITY; /* breaks of its inputs are already known */
}

static const ga__function_kind WIENER = {
    "block", eval_wiener, range_wiener, kinked_wiener, period_wiener, NULL, NULL, 1, NULL};

/* ---- y = gain Π u_i Π 1/u_j ---- */

/* y := y u, or y/u, with the first two derivatives. */
static void multiply_jet(double y[3], const double u[3])
{
  const double a = y[0], a1 = y[1], a2 = y[2];
  y[0] = a * u[0];
  y[1] = a1 * u[0] + a * u[1];
  y[2] = a2 * u[0] + 2 * a1 * u[1] + a * u[2];
}

static void divide_jet(double y[3], const double u[3])
{
  y[0] = y[0] / u[0];
  y[1] = (y[1] - y[0] * u[1]) / u[0];
  y[2] = (y[2] - 2 * y[1] * u[1] - y[0] * u[2]) / u[0];
}

static ga_status eval_product(const ga_function *f, double t, int order, double out[3], ga_fault *fault)
{
  const output_function *c = output_function_of(f);
  double u[3];
  out[0] = c->block->data.product.gain;
  out[1] = out[2] = 0;
  for (int i = 0; i < c->n; i++) {
    const ga_status status = ga__time_signal_eval(&c->u[i], t, order, u, fault);
    if (status) return status;
    (c->block->data.product.divide[i] ? divide_jet : multiply_jet)(out, u);
  }
  return GA_OK;
}

static ga__range range_product(const ga_function *f, double from, double to)
{
  const output_function *c = output_function_of(f);
  double lo[GA_BLOCK_SIZE], hi[GA_BLOCK_SIZE];
  const double t[2] = {from, to};
  ga__range r;
  if (input_bounds(c, from, to, lo, hi) && ga_block_bounds(c->block, 0, t, lo, hi, &r.lo, &r.hi)) return r;
  return (ga__range){-INFINITY, INFINITY};
}

static int never_kinked(const ga_function *f, double from, double to)
{
  (void)f;
  (void)from;
  (void)to;
  return 0;
}

static const ga__function_kind PRODUCT = {
    "product", eval_product, range_product, never_kinked, period_wiener, NULL, NULL, 1, NULL};

/* ---- Use ---- */

ga_status ga__block_over_time(const ga_control_block *b, int output, const ga__time_signal *u,
                              ga__time_signal *out, ga_function **owned)
{
  ga_status status = GA_OK;
  *out = (ga__time_signal){.known = 0};
  *owned = NULL;
  if (b->n_x > 0 || b->n_in >= GA__MOST_COMPOSED) return GA_OK;
  for (int i = 0; i < b->n_in; i++)
    if (!u[1 + i].known) return GA_OK;
  if (b->kind == GA_KIND_FUNCTION_OF_TIME) {
    *out = (ga__time_signal){.known = 1, .f = {b->data.function}};
    return GA_OK;
  }
  if (b->kind == GA_KIND_EXPRESSION) {
    status = ga__function_compose(b->ctx, b->data.expr[output], 1 + b->n_in, u, owned);
  } else if (ga__is_wiener(b) || b->kind == GA_KIND_PRODUCT) {
    output_function c = {b, output, b->n_in, {{0}}};
    memcpy(c.u, u + 1, (size_t)b->n_in * sizeof *u);
    status = ga__function_make(b->ctx, b->kind == GA_KIND_PRODUCT ? &PRODUCT : &WIENER, &c,
                               offsetof(output_function, u) + (size_t)b->n_in * sizeof *u, owned);
  }
  if (!status && *owned) *out = (ga__time_signal){.known = 1, .f = {*owned}};
  return status;
}

ga_status ga__block_next_break_along(const ga_control_block *b, const ga__time_signal *u, double t,
                                     double until, ga_break *out)
{
  ga_break one;
  if (b->kind != GA_KIND_EXPRESSION) return ga_block_next_break(b, t, until, out);
  *out = (ga_break){INFINITY, INFINITY, 3, until, 0};
  for (int i = 0; i < b->n_out; i++) {
    const ga_status status = ga__expr_next_break_along(b->data.expr[i], u, t, until, &one);
    if (status) return status;
    ga__break_join(out, &one);
  }
  return GA_OK;
}

double ga__block_period_along(const ga_control_block *b, const ga__time_signal *u, double from, double to)
{
  double least = INFINITY;
  if (b->kind != GA_KIND_EXPRESSION) return ga_block_period(b, from, to);
  for (int i = 0; i < b->n_out; i++) least = fmin(least, ga__expr_period_along(b->data.expr[i], u, from, to));
  return least;
}
