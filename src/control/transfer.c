/* Blocks given by a transfer function: general, first- and second-order filters, delays. */
#include "control/control_impl.h"
#include <math.h>

#define TWO_PI 6.28318530717958647692

/* ---- Controllable canonical form ----------------------------------------------------------------------
 * With α_k = a_k/a_n and β_k = b_k/a_n − D α_k, D = b_n/a_n, where a_k and b_k belong to s^k,
 *
 *   num/den = D + Σ β_k s^k / (s^n + Σ α_k s^k),   k < n.
 *
 * In units of time 1/σ and with states of the size of y (factor μ),
 *
 *   x_k' = σ x_{k+1},   x_n' = −σ Σ α_k σ^(k−n) x_{k+1} + σ μ u,   y = Σ (β_k σ^(k−n)/μ) x_{k+1} + D u,
 *
 * σ a power of 2, so that scaling does not round, and large enough for |α_k| σ^(k−n) <= 1; μ the largest of
 * β_k σ^(k−n). A low-pass of first or second order has x_1 = y in this way. */

typedef struct fraction {
  int n;                   /* degree of the denominator */
  int n_num;               /* coefficients of the numerator, at most n + 1 */
  const double *num, *den; /* highest power first */
} fraction;

static double alpha(const fraction *f, int k)
{
  return f->den[f->n - k] / f->den[0];
}

static double over_leading(const fraction *f, int k)
{
  return k < f->n_num ? f->num[f->n_num - 1 - k] / f->den[0] : 0;
}

static double beta(const fraction *f, int k)
{
  return over_leading(f, k) - over_leading(f, f->n) * alpha(f, k);
}

/* The exponent of σ. */
static int time_scale(const fraction *f)
{
  double most = -INFINITY;
  for (int k = 0; k < f->n; k++)
    if (alpha(f, k) != 0) most = fmax(most, log2(fabs(alpha(f, k))) / (f->n - k));
  return isfinite(most) ? (int)ceil(most) : 0;
}

/* Fills K of a block with one input and output. */
static void realise(ga_control_block *b, const fraction *f)
{
  const int n = f->n, e = time_scale(f);
  double *output = ga__wiener_row(b, n), mu = 0;
  for (int k = 0; k < n; k++) {
    output[1 + k] = ldexp(beta(f, k), e * (k - n));
    if (fabs(output[1 + k]) > fabs(mu)) mu = output[1 + k];
  }
  if (mu == 0) mu = 1; /* u reaches y directly only */
  for (int k = 0; k < n; k++) {
    output[1 + k] /= mu;
    if (k + 1 < n) ga__wiener_row(b, k)[1 + k + 1] = ldexp(1, e);
    ga__wiener_row(b, n - 1)[1 + k] = -ldexp(alpha(f, k), e * (k - n + 1));
  }
  if (n > 0) ga__wiener_row(b, n - 1)[0] = ldexp(mu, e);
  output[0] = over_leading(f, n);
}

/* Equilibrium for the input u0: x_1 = μ u0/(α_0 σ^−n), all others 0. */
static void start_from_input(ga_control_block *b, double u0)
{
  const double *last = ga__wiener_row(b, b->n_x - 1);
  if (u0 != 0) b->x0[0] = -last[0] * u0 / last[1];
}

/* Equilibrium with output y0. If den(0) = 0, the input is 0 and only x_1 is not zero. */
static void start_from_output(ga_control_block *b, const fraction *f, double y0)
{
  const double a0 = f->den[f->n], b0 = f->num[f->n_num - 1];
  if (y0 == 0 || b->n_x == 0) return;
  if (a0 != 0)
    start_from_input(b, y0 * a0 / b0);
  else
    b->x0[0] = y0 / ga__wiener_row(b, b->n_x)[1];
}

/* ---- Transfer function ---- */

ga_block_transfer_function_opts ga_block_transfer_function_defaults(void)
{
  return (ga_block_transfer_function_opts){.n_num = 0};
}

static fraction inspect_fraction(ga__inspect *in, const ga_block_transfer_function_opts *opts)
{
  fraction f = {opts->n_den - 1, opts->n_num, opts->num, opts->den};
  ga__want_size(in, "n_num", opts->n_num, 1);
  ga__want_size(in, "n_den", opts->n_den, 1);
  ga__want_array(in, "num", opts->num, opts->n_num, 0);
  ga__want_array(in, "den", opts->den, opts->n_den, 0);
  ga__want_finite(in, "steady_output", opts->steady_output);
  if (in->status) return f;
  ga__want_number(in, f.den[0] != 0, "den", 1, f.den[0],
                  "other than 0: it is the coefficient of the highest power");
  while (f.n_num > 1 && f.num[0] == 0) {
    f.num++;
    f.n_num--;
  }
  ga__want_number(in, f.num[0] != 0, "num", 0, 0, "other than 0 in one coefficient at least");
  ga__want_both(in, f.n_num <= f.n + 1, "degree of num", f.n_num - 1, "degree of den", f.n,
                "it must not be above that of den: add a fast pole, or differentiate by other means");
  ga__want_both(in, opts->steady_output == 0 || f.num[f.n_num - 1] != 0, "steady_output", opts->steady_output,
                "num(0)", 0, "the output at rest is 0 then");
  ga__want_both(in, opts->steady_output == 0 || f.n > 0, "steady_output", opts->steady_output,
                "degree of den", f.n, "there is no state that could hold it");
  return f;
}

ga_status ga_block_create_transfer_function(ga_context *ctx, const ga_block_transfer_function_opts *opts,
                                            ga_control_block **out)
{
  ga__inspect in = ga__inspect_begin(ctx, GA_KIND_TRANSFER_FUNCTION, opts, out);
  if (in.status) return in.status;
  const fraction f = inspect_fraction(&in, opts);
  if (!in.status)
    in.status = ga__wiener_new(ctx, GA_KIND_TRANSFER_FUNCTION, (ga__block_sizes){1, f.n, 1}, NULL, out);
  if (in.status) return in.status;
  realise(*out, &f);
  start_from_output(*out, &f, opts->steady_output);
  return ga__wiener_finish(out);
}

/* ---- Filters ---- */

static ga_status create_filter(ga__inspect *in, ga_block_kind kind, const fraction *f, double initial_input,
                               ga_control_block **out)
{
  if (!in->status) in->status = ga__wiener_new(in->ctx, kind, (ga__block_sizes){1, f->n, 1}, NULL, out);
  if (in->status) return in->status;
  realise(*out, f);
  start_from_input(*out, initial_input);
  return ga__wiener_finish(out);
}

ga_block_first_order_opts ga_block_first_order_defaults(void)
{
  return (ga_block_first_order_opts){.gain = 1, .time_constant = 1, .pass = GA_PASS_LOW};
}

ga_status ga_block_create_first_order(ga_context *ctx, const ga_block_first_order_opts *opts,
                                      ga_control_block **out)
{
  ga__inspect in = ga__inspect_begin(ctx, GA_KIND_FIRST_ORDER, opts, out);
  if (in.status) return in.status;
  const double T = opts->time_constant;
  const double low[] = {opts->gain}, high[] = {opts->gain * T, 0}, den[] = {T, 1};
  ga__want_finite(&in, "gain", opts->gain);
  ga__want_positive(&in, "time_constant", T);
  ga__want_choice(&in, "pass", (int)opts->pass, GA_PASS_BAND);
  ga__want_finite(&in, "initial_input", opts->initial_input);
  const fraction f = opts->pass == GA_PASS_LOW ? (fraction){1, 1, low, den} : (fraction){1, 2, high, den};
  return create_filter(&in, GA_KIND_FIRST_ORDER, &f, opts->initial_input, out);
}

ga_block_second_order_opts ga_block_second_order_defaults(void)
{
  return (ga_block_second_order_opts){
      .gain = 1, .frequency = 1, .damping = 0.70710678118654752440, .pass = GA_PASS_LOW};
}

ga_status ga_block_create_second_order(ga_context *ctx, const ga_block_second_order_opts *opts,
                                       ga_control_block **out)
{
  ga__inspect in = ga__inspect_begin(ctx, GA_KIND_SECOND_ORDER, opts, out);
  if (in.status) return in.status;
  const double omega = TWO_PI * opts->frequency, middle = 2 * opts->damping * omega;
  const double den[] = {1, middle, omega * omega};
  double num[] = {0, 0, 0};
  ga__want_finite(&in, "gain", opts->gain);
  ga__want_positive(&in, "frequency", opts->frequency);
  ga__want_number(&in, isfinite(opts->damping) && opts->damping >= 0, "damping", 0, opts->damping,
                  "0 or above and finite");
  ga__want_choice(&in, "pass", (int)opts->pass, GA_PASS_BAND + 1);
  ga__want_number(&in, opts->pass != GA_PASS_BAND || opts->damping > 0, "damping", 0, opts->damping,
                  "> 0 for a band-pass");
  ga__want_finite(&in, "initial_input", opts->initial_input);
  if (in.status) return in.status;
  const int place = opts->pass == GA_PASS_LOW ? 2 : opts->pass == GA_PASS_BAND ? 1 : 0;
  num[place] = opts->gain * den[place];
  const fraction f = {2, 3, num, den};
  return create_filter(&in, GA_KIND_SECOND_ORDER, &f, opts->initial_input, out);
}

/* ---- Delay: time·xdot = A x + B u, y = Σ x_i,
 * A_ij = (2i+1)·(−1 where i < j, (−1)^(i−j+1) elsewhere), B_i = (2i+1)(−1)^i,   i, j = 0, 1, ...
 * (Voelker, Kajić & Eliasmith, Legendre memory units, NeurIPS 2019) ---- */

ga_block_delay_opts ga_block_delay_defaults(void)
{
  return (ga_block_delay_opts){.order = 3};
}

ga_status ga_block_create_delay(ga_context *ctx, const ga_block_delay_opts *opts, ga_control_block **out)
{
  ga__inspect in = ga__inspect_begin(ctx, GA_KIND_DELAY, opts, out);
  if (in.status) return in.status;
  const int n = opts->order;
  ga__want_positive(&in, "time", opts->time);
  ga__want(&in, n >= 1 && n <= GA_DELAY_ORDER, GA_REASON_OUT_OF_RANGE,
           (ga__facts){.field = "order",
                       .expected = "within its range",
                       GA__NUMBERS({n, NULL}, {1, NULL}, {GA_DELAY_ORDER, NULL})});
  ga__want_finite(&in, "initial_input", opts->initial_input);
  if (!in.status) in.status = ga__wiener_new(ctx, GA_KIND_DELAY, (ga__block_sizes){1, n, 1}, NULL, out);
  if (in.status) return in.status;
  for (int i = 0; i < n; i++) {
    double *row = ga__wiener_row(*out, i);
    const double scale = (2 * i + 1) / opts->time;
    row[0] = i % 2 ? -scale : scale;
    for (int j = 0; j < n; j++) row[1 + j] = i < j || (i - j) % 2 == 0 ? -scale : scale;
    ga__wiener_row(*out, n)[1 + i] = 1;
  }
  (*out)->x0[0] = opts->initial_input;
  return ga__wiener_finish(out);
}
