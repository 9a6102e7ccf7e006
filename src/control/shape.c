/* Static nonlinearities of one variable, and the blocks that consist of one: saturation, dead zone, tanh,
 * table. */
#include "control/control_impl.h"
#include <math.h>

/* ---- Shapes ---- */

/* The ramp max(0,d), rounded within |d| < w so that its second derivative, 3(1−ξ²)/(4w) with ξ = d/w, is
 * continuous: slope (1+ξ)²(2−ξ)/4. */
static double ramp_slope(double d, double w)
{
  if (d <= -w) return 0;
  if (d >= w) return d > 0;
  const double xi = d / w;
  return 0.25 * (1 + xi) * (1 + xi) * (2 - xi);
}

/* The rounded ramp minus max(0,d): w (1−|ξ|)³(3+|ξ|)/16, even in d. */
static double ramp_excess(double d, double w)
{
  const double a = fabs(d);
  if (a >= w) return 0;
  const double rest = 1 - a / w;
  return w * rest * rest * rest * (3 + a / w) / 16;
}

/* σ = clamp(v), plus the excess at the lower corner, minus that at the upper. */
ga_status ga__shape_saturation(double *y, double *slope, const ga__shape *shape, double v, ga_fault *fault)
{
  const double below = shape->lower - v, above = v - shape->upper;
  (void)fault;
  *y = fmin(fmax(v, shape->lower), shape->upper) + ramp_excess(below, shape->width) -
       ramp_excess(above, shape->width);
  if (slope) *slope = 1 - ramp_slope(below, shape->width) - ramp_slope(above, shape->width);
  return GA_OK;
}

static ga_status dead_zone(double *y, double *slope, const ga__shape *shape, double v, ga_fault *fault)
{
  double within;
  ga__shape_saturation(&within, slope, shape, v, fault);
  *y = v - within;
  if (slope) *slope = 1 - *slope;
  return GA_OK;
}

/* σ = s tanh(v/s), σ' = 1 − tanh²(v/s) = 1/cosh², in a form that is accurate for large |v| */
static ga_status tanh_shape(double *y, double *slope, const ga__shape *shape, double v, ga_fault *fault)
{
  (void)fault;
  *y = shape->scale * tanh(v / shape->scale);
  if (!slope) return GA_OK;
  const double sech = 1 / cosh(v / shape->scale);
  *slope = sech * sech;
  return GA_OK;
}

static ga_status function(double *y, double *slope, const ga__shape *shape, double v, ga_fault *fault)
{
  double out[2];
  ga_status status = ga_function_eval(shape->function, v, slope != NULL, out, fault);
  *y = out[0];
  if (slope) *slope = out[1];
  return status;
}

/* ---- Blocks: y = σ(gain u) ---- */

static ga_status create(ga_context *ctx, ga_block_kind kind, double gain, const ga__shape *shape,
                        ga_control_block **out)
{
  const ga__block_sizes one = {1, 0, 1};
  ga_status status = ga__wiener_new(ctx, kind, one, NULL, out);
  if (status) return status;
  (*out)->data.wiener.K[0] = gain;
  (*out)->data.wiener.shape = *shape;
  return ga__wiener_finish(out);
}

ga_block_saturation_opts ga_block_saturation_defaults(void)
{
  return (ga_block_saturation_opts){.lower = -1, .upper = 1};
}

ga_status ga_block_create_saturation(ga_context *ctx, const ga_block_saturation_opts *opts,
                                     ga_control_block **out)
{
  ga__inspect in = ga__inspect_begin(ctx, GA_KIND_SATURATION, opts, out);
  if (in.status) return in.status;
  const ga__shape shape = {ga__shape_saturation, opts->lower, opts->upper, opts->smoothing, 0, NULL};
  ga__want_limits(&in, opts->lower, opts->upper, opts->smoothing);
  return in.status ? in.status : create(ctx, GA_KIND_SATURATION, 1, &shape, out);
}

ga_block_dead_zone_opts ga_block_dead_zone_defaults(void)
{
  return (ga_block_dead_zone_opts){.lower = -1, .upper = 1};
}

ga_status ga_block_create_dead_zone(ga_context *ctx, const ga_block_dead_zone_opts *opts,
                                    ga_control_block **out)
{
  ga__inspect in = ga__inspect_begin(ctx, GA_KIND_DEAD_ZONE, opts, out);
  if (in.status) return in.status;
  const ga__shape shape = {dead_zone, opts->lower, opts->upper, opts->smoothing, 0, NULL};
  ga__want_limits(&in, opts->lower, opts->upper, opts->smoothing);
  return in.status ? in.status : create(ctx, GA_KIND_DEAD_ZONE, 1, &shape, out);
}

ga_block_tanh_opts ga_block_tanh_defaults(void)
{
  return (ga_block_tanh_opts){.gain = 1, .scale = 1};
}

ga_status ga_block_create_tanh(ga_context *ctx, const ga_block_tanh_opts *opts, ga_control_block **out)
{
  ga__inspect in = ga__inspect_begin(ctx, GA_KIND_TANH, opts, out);
  if (in.status) return in.status;
  const ga__shape shape = {.fn = tanh_shape, .scale = opts->scale};
  ga__want_finite(&in, "gain", opts->gain);
  ga__want_positive(&in, "scale", opts->scale);
  return in.status ? in.status : create(ctx, GA_KIND_TANH, opts->gain, &shape, out);
}

ga_block_table_opts ga_block_table_defaults(void)
{
  return (ga_block_table_opts){.function = NULL};
}

ga_status ga_block_create_table(ga_context *ctx, const ga_block_table_opts *opts, ga_control_block **out)
{
  ga__inspect in = ga__inspect_begin(ctx, GA_KIND_TABLE, opts, out);
  if (in.status) return in.status;
  const ga__shape shape = {.fn = function, .function = opts->function};
  ga__want_given(&in, "function", opts->function);
  return in.status ? in.status : create(ctx, GA_KIND_TABLE, 1, &shape, out);
}
