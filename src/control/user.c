/* Blocks made of a user's C functions. */
#include "control/control_impl.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static const ga__block_type USER;

ga_block_user_opts ga_block_user_defaults(void)
{
  return (ga_block_user_opts){.difference_step = 0x1p-13};
}

static void inspect(ga__inspect *in, const ga_block_user_opts *opts)
{
  ga__want_size(in, "n_in", opts->n_in, 0);
  ga__want_size(in, "n_x", opts->n_x, 0);
  ga__want_size(in, "n_out", opts->n_out, 0);
  ga__want_both(in, opts->n_x + opts->n_out > 0, "n_x", opts->n_x, "n_out", opts->n_out,
                "a block needs a state or an output");
  ga__want_given(in, "function", opts->function ? opts : NULL);
  ga__want_names(in, "name", opts->name ? &opts->name : NULL, 1);
  ga__want_array(in, "x0", opts->x0, opts->n_x, 1);
  ga__want_number(in, opts->difference_step > 0 && opts->difference_step <= 0.1, "difference_step", 0,
                  opts->difference_step, "above 0 and at most 0.1");
  ga__want_names(in, "names.in", opts->names.in, opts->n_in);
  ga__want_names(in, "names.x", opts->names.x, opts->n_x);
  ga__want_names(in, "names.out", opts->names.out, opts->n_out);
}

ga_status ga_block_create_user(ga_context *ctx, const ga_block_user_opts *opts, ga_control_block **out)
{
  ga__inspect in = ga__inspect_begin(ctx, GA_KIND_USER, opts, out);
  if (in.status) return in.status;
  const ga__block_sizes n = {opts->n_in, opts->n_x, opts->n_out};
  inspect(&in, opts);
  if (!in.status) in.status = ga__block_new(ctx, GA_KIND_USER, &USER, n, &opts->names, out);
  if (in.status) return in.status;
  ga_control_block *b = *out;
  const int entries = ga__block_rows(b) * ga__block_cols(b);
  for (int i = 0; i < entries; i++) b->depends[i] = opts->depends ? opts->depends[i] != 0 : 1;
  if (opts->x0 && n.n_x > 0) memcpy(b->x0, opts->x0, (size_t)n.n_x * sizeof *b->x0);
  if (opts->name) snprintf(b->names[n.n_in + n.n_x + n.n_out], GA_BLOCK_NAME, "%s", opts->name);
  b->data.user = (ga__user){opts->function, opts->jacobian, opts->user, opts->difference_step};
  return GA_OK;
}

/* Status of a callback's return value. */
static ga_status status_of_answer(const ga_control_block *b, int code, const double *u, ga_fault *fault)
{
  if (code == 0) return GA_OK;
  const char *needs = code > 0 ? "its function asked for a smaller step" : "its function gave up";
  return ga__block_fault(fault, b, code > 0 ? GA_RETRY_CALLBACK : GA_ERR_CALLBACK, GA_FAULT_DOMAIN, needs, u);
}

static ga_status user_eval(const ga_control_block *b, double t, const double *u, const double *x,
                           double *xdot, double *y, ga_fault *fault)
{
  const ga__user *f = &b->data.user;
  double unwanted[2][GA_BLOCK_SIZE];
  int code = f->function(f->user, t, u, x, xdot ? xdot : unwanted[0], y ? y : unwanted[1]);
  return status_of_answer(b, code, u, fault);
}

/* Adds f' of column j: (f(−2δ) − 8 f(−δ) + 8 f(δ) − f(2δ))/(12 δ), error O(δ⁴). δ is scaled by a power of
 * 2, so that the arguments are exact. p = u, x: changed and restored. */
static ga_status difference(double *J, const ga_control_block *b, double t, double *p, int j, ga_fault *fault)
{
  static const double place[] = {-2, -1, 1, 2}, weight[] = {1, -8, 8, -1};
  const int cols = ga__block_cols(b);
  const double at = p[j];
  double f[2 * GA_BLOCK_SIZE];
  int exponent;
  (void)frexp(fmax(fabs(at), 0.5), &exponent); /* 2^exponent is in (|at|, 2|at|], and at least 1 */
  const double delta = ldexp(b->data.user.step, exponent);
  for (int k = 0; k < 4; k++) {
    p[j] = at + place[k] * delta;
    ga_status status = user_eval(b, t, p, p + b->n_in, f, f + b->n_x, fault);
    p[j] = at;
    if (status) return status;
    for (int i = 0; i < ga__block_rows(b); i++)
      if (b->depends[i * cols + j]) J[i * cols + j] += weight[k] * f[i] / (12 * delta);
  }
  return GA_OK;
}

static ga_status by_differences(const ga_control_block *b, double t, const double *u, const double *x,
                                double *J, ga_fault *fault)
{
  double p[2 * GA_BLOCK_SIZE];
  ga_status status = GA_OK;
  for (int i = 0; i < b->n_in; i++) p[i] = u[i];
  for (int i = 0; i < b->n_x; i++) p[b->n_in + i] = x[i];
  for (int j = 0; !status && j < ga__block_cols(b); j++) status = difference(J, b, t, p, j, fault);
  return status;
}

static ga_status user_jacobian(const ga_control_block *b, double t, const double *u, const double *x,
                               double *J, ga_fault *fault)
{
  const ga__user *f = &b->data.user;
  if (!f->jacobian) return by_differences(b, t, u, x, J, fault);
  ga_status status = status_of_answer(b, f->jacobian(f->user, t, u, x, J), u, fault);
  for (int i = 0; !status && i < ga__block_rows(b) * ga__block_cols(b); i++)
    if (J[i] != 0 && !b->depends[i])
      status = ga__block_fault(fault, b, GA_ERR_PATTERN, GA_FAULT_DOMAIN,
                               "its Jacobian is not 0 where `depends` is", u);
  return status;
}

static const ga__block_type USER = {user_eval, user_jacobian, NULL, NULL};
