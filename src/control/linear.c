/* Blocks given by their matrices: gain, sum, constant, integrator, state space. */
#include "control/control_impl.h"
#include <math.h>
#include <string.h>

/* ---- Gain ---- */

ga_block_gain_opts ga_block_gain_defaults(void)
{
  return (ga_block_gain_opts){.n_in = 1, .n_out = 1, .gain = 1};
}

ga_status ga_block_create_gain(ga_context *ctx, const ga_block_gain_opts *opts, ga_control_block **out)
{
  ga__inspect in = ga__inspect_begin(ctx, GA_KIND_GAIN, opts, out);
  if (in.status) return in.status;
  const ga__block_sizes n = {opts->n_in, 0, opts->n_out};
  ga__want_size(&in, "n_in", n.n_in, 1);
  ga__want_size(&in, "n_out", n.n_out, 1);
  ga__want_both(&in, opts->matrix || n.n_in == n.n_out, "n_in", n.n_in, "n_out", n.n_out,
                "they must agree where matrix is NULL");
  if (!opts->matrix) ga__want_finite(&in, "gain", opts->gain);
  ga__want_array(&in, "matrix", opts->matrix, n.n_in * n.n_out, 1);
  if (!in.status) in.status = ga__wiener_new(ctx, GA_KIND_GAIN, n, NULL, out);
  if (in.status) return in.status;
  for (int i = 0; i < n.n_out; i++)
    for (int j = 0; j < n.n_in; j++)
      ga__wiener_row(*out, i)[j] = opts->matrix ? opts->matrix[i * n.n_in + j] : i == j ? opts->gain : 0;
  return ga__wiener_finish(out);
}

/* ---- Sum ---- */

ga_block_sum_opts ga_block_sum_defaults(void)
{
  return (ga_block_sum_opts){.n_in = 2};
}

ga_status ga_block_create_sum(ga_context *ctx, const ga_block_sum_opts *opts, ga_control_block **out)
{
  ga__inspect in = ga__inspect_begin(ctx, GA_KIND_SUM, opts, out);
  if (in.status) return in.status;
  const ga__block_sizes n = {opts->n_in, 0, 1};
  ga__want_size(&in, "n_in", n.n_in, 1);
  ga__want_array(&in, "weights", opts->weights, n.n_in, 1);
  if (!in.status) in.status = ga__wiener_new(ctx, GA_KIND_SUM, n, NULL, out);
  if (in.status) return in.status;
  for (int j = 0; j < n.n_in; j++) ga__wiener_row(*out, 0)[j] = opts->weights ? opts->weights[j] : 1;
  return ga__wiener_finish(out);
}

/* ---- Constant ---- */

ga_block_constant_opts ga_block_constant_defaults(void)
{
  return (ga_block_constant_opts){.n_out = 1};
}

ga_status ga_block_create_constant(ga_context *ctx, const ga_block_constant_opts *opts,
                                   ga_control_block **out)
{
  ga__inspect in = ga__inspect_begin(ctx, GA_KIND_CONSTANT, opts, out);
  if (in.status) return in.status;
  const ga__block_sizes n = {0, 0, opts->n_out};
  ga__want_size(&in, "n_out", n.n_out, 1);
  ga__want_array(&in, "value", opts->value, n.n_out, 0);
  if (!in.status) in.status = ga__wiener_new(ctx, GA_KIND_CONSTANT, n, NULL, out);
  if (in.status) return in.status;
  double *offset = ga__alloc(ctx, (size_t)n.n_out, sizeof *offset);
  if (!offset) {
    ga_block_destroy(out);
    return ga__no_memory(ctx, "the values of a control block");
  }
  memcpy(offset, opts->value, (size_t)n.n_out * sizeof *offset);
  (*out)->data.wiener.offset = offset;
  return ga__wiener_finish(out);
}

/* ---- Integrator: xdot = gain u, y = x; with limits y = σ(x), xdot = gain u + (y − x)/tracking_time ---- */

ga_block_integrator_opts ga_block_integrator_defaults(void)
{
  return (ga_block_integrator_opts){.n = 1, .gain = 1, .lower = -INFINITY, .upper = INFINITY};
}

static void inspect_integrator(ga__inspect *in, const ga_block_integrator_opts *opts)
{
  ga__want_size(in, "n", opts->n, 1);
  ga__want_finite(in, "gain", opts->gain);
  ga__want_array(in, "initial", opts->initial, opts->n, 1);
  ga__want_limits(in, opts->lower, opts->upper, opts->smoothing);
  if (isfinite(opts->lower) || isfinite(opts->upper))
    ga__want_positive_with(in, "tracking_time", opts->tracking_time, "with limits");
  for (int i = 0; !in->status && i < opts->n; i++) {
    const double x = opts->initial ? opts->initial[i] : 0;
    ga__want(in, x >= opts->lower && x <= opts->upper, GA_REASON_OUT_OF_RANGE,
             (ga__facts){.field = "initial",
                         .item = i + 1,
                         .expected = "within the limits",
                         GA__NUMBERS({x, NULL}, {opts->lower, NULL}, {opts->upper, NULL})});
  }
}

ga_status ga_block_create_integrator(ga_context *ctx, const ga_block_integrator_opts *opts,
                                     ga_control_block **out)
{
  ga__inspect in = ga__inspect_begin(ctx, GA_KIND_INTEGRATOR, opts, out);
  if (in.status) return in.status;
  const int n = opts->n;
  inspect_integrator(&in, opts);
  if (!in.status) in.status = ga__wiener_new(ctx, GA_KIND_INTEGRATOR, (ga__block_sizes){n, n, n}, NULL, out);
  if (in.status) return in.status;
  ga_control_block *b = *out;
  for (int i = 0; i < n; i++) {
    ga__wiener_row(b, i)[i] = opts->gain;
    ga__wiener_row(b, n + i)[n + i] = 1;
    if (opts->initial) b->x0[i] = opts->initial[i];
  }
  if (isfinite(opts->lower) || isfinite(opts->upper)) {
    b->data.wiener.shape =
        (ga__shape){ga__shape_saturation, opts->lower, opts->upper, opts->smoothing, 0, NULL};
    b->data.wiener.n_tracked = n;
    b->data.wiener.rate = 1 / opts->tracking_time;
  }
  return ga__wiener_finish(out);
}

/* ---- State space ---- */

ga_block_state_space_opts ga_block_state_space_defaults(void)
{
  return (ga_block_state_space_opts){.n_in = 0};
}

static void copy_part(ga_control_block *b, int row, int col, const double *from, int rows, int cols)
{
  for (int i = 0; from && i < rows; i++)
    for (int j = 0; j < cols; j++) ga__wiener_row(b, row + i)[col + j] = from[i * cols + j];
}

ga_status ga_block_create_state_space(ga_context *ctx, const ga_block_state_space_opts *opts,
                                      ga_control_block **out)
{
  ga__inspect in = ga__inspect_begin(ctx, GA_KIND_STATE_SPACE, opts, out);
  if (in.status) return in.status;
  const ga__block_sizes n = {opts->n_in, opts->n_x, opts->n_out};
  ga__want_size(&in, "n_in", n.n_in, 0);
  ga__want_size(&in, "n_x", n.n_x, 0);
  ga__want_size(&in, "n_out", n.n_out, 1);
  ga__want_array(&in, "A", opts->A, n.n_x * n.n_x, 0);
  ga__want_array(&in, "B", opts->B, n.n_x * n.n_in, 0);
  ga__want_array(&in, "C", opts->C, n.n_out * n.n_x, 0);
  ga__want_array(&in, "D", opts->D, n.n_out * n.n_in, 1);
  ga__want_array(&in, "x0", opts->x0, n.n_x, 1);
  ga__want_names(&in, "names.in", opts->names.in, n.n_in);
  ga__want_names(&in, "names.x", opts->names.x, n.n_x);
  ga__want_names(&in, "names.out", opts->names.out, n.n_out);
  if (!in.status) in.status = ga__wiener_new(ctx, GA_KIND_STATE_SPACE, n, &opts->names, out);
  if (in.status) return in.status;
  copy_part(*out, 0, n.n_in, opts->A, n.n_x, n.n_x);
  copy_part(*out, 0, 0, opts->B, n.n_x, n.n_in);
  copy_part(*out, n.n_x, n.n_in, opts->C, n.n_out, n.n_x);
  copy_part(*out, n.n_x, 0, opts->D, n.n_out, n.n_in);
  if (opts->x0 && n.n_x > 0) memcpy((*out)->x0, opts->x0, (size_t)n.n_x * sizeof(double));
  return ga__wiener_finish(out);
}
