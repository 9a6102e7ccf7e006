/* Nonlinear blocks without states: product, function of time, table of two variables. */
#include "control/control_impl.h"
#include "expr/same.h"
#include <string.h>

static const ga__block_type PRODUCT, TIME, TABLE2D;

static void depend_on_all(ga_control_block *b)
{
  memset(b->depends, 1, (size_t)ga__block_rows(b) * (size_t)ga__block_cols(b));
}

/* ---- Product: y = gain Π u_i Π 1/u_j ---- */

ga_block_product_opts ga_block_product_defaults(void)
{
  return (ga_block_product_opts){.n_in = 2, .gain = 1};
}

ga_status ga_block_create_product(ga_context *ctx, const ga_block_product_opts *opts, ga_control_block **out)
{
  ga__inspect in = ga__inspect_begin(ctx, GA_KIND_PRODUCT, opts, out);
  if (in.status) return in.status;
  const ga__block_sizes n = {opts->n_in, 0, 1};
  ga__want_size(&in, "n_in", n.n_in, 1);
  ga__want_finite(&in, "gain", opts->gain);
  for (int i = 0; opts->divide && !in.status && i < n.n_in; i++)
    ga__want_number(&in, opts->divide[i] == 0 || opts->divide[i] == 1, "divide", i + 1, opts->divide[i],
                    "0 or 1");
  if (!in.status) in.status = ga__block_new(ctx, GA_KIND_PRODUCT, &PRODUCT, n, NULL, out);
  if (in.status) return in.status;
  int *divide = ga__alloc(ctx, (size_t)n.n_in, sizeof *divide);
  if (!divide) {
    ga_block_destroy(out);
    return ga__no_memory(ctx, "the signs of a control block");
  }
  if (opts->divide) memcpy(divide, opts->divide, (size_t)n.n_in * sizeof *divide);
  (*out)->data.product.divide = divide;
  (*out)->data.product.gain = opts->gain;
  depend_on_all(*out);
  return GA_OK;
}

/* Product of all factors except that of input `without`; -1: of all. */
static double product(const ga_control_block *b, const double *u, int without)
{
  double y = b->data.product.gain;
  for (int i = 0; i < b->n_in; i++) {
    if (i == without) continue;
    y = b->data.product.divide[i] ? y / u[i] : y * u[i];
  }
  return y;
}

static ga_status check_divisors(const ga_control_block *b, const double *u, ga_fault *fault)
{
  for (int i = 0; i < b->n_in; i++)
    if (b->data.product.divide[i] && u[i] == 0)
      return ga__block_fault(fault, b, GA_RETRY_NAN, GA_FAULT_DOMAIN, "no divisor may be 0", u);
  return GA_OK;
}

static ga_status product_eval(const ga_control_block *b, double t, const double *u, const double *x,
                              double *xdot, double *y, ga_fault *fault)
{
  ga_status status = check_divisors(b, u, fault);
  (void)t;
  (void)x;
  (void)xdot;
  if (!status && y) y[0] = product(b, u, -1);
  return status;
}

/* ∂y/∂u_j: the product without u_j; for a divisor times −1/u_j². Not y/u_j, as u_j may be 0. */
static ga_status product_jacobian(const ga_control_block *b, double t, const double *u, const double *x,
                                  double *J, ga_fault *fault)
{
  ga_status status = check_divisors(b, u, fault);
  (void)t;
  (void)x;
  for (int j = 0; !status && j < b->n_in; j++) {
    J[j] = product(b, u, j);
    if (b->data.product.divide[j]) J[j] = -J[j] / u[j] / u[j];
  }
  return status;
}

static void product_release(ga_control_block *b)
{
  ga__free(b->ctx, b->data.product.divide);
}

static int product_same(const ga_control_block *a, const ga_control_block *b)
{
  return ga__numbers_same(&a->data.product.gain, &b->data.product.gain, 1) &&
         memcmp(a->data.product.divide, b->data.product.divide, (size_t)a->n_in * sizeof(int)) == 0;
}

static const ga__block_type PRODUCT = {product_eval, product_jacobian, product_release, product_same};

/* ---- Function of time ---- */

ga_block_function_of_time_opts ga_block_function_of_time_defaults(void)
{
  return (ga_block_function_of_time_opts){.function = NULL};
}

ga_status ga_block_create_function_of_time(ga_context *ctx, const ga_block_function_of_time_opts *opts,
                                           ga_control_block **out)
{
  ga__inspect in = ga__inspect_begin(ctx, GA_KIND_FUNCTION_OF_TIME, opts, out);
  if (in.status) return in.status;
  ga__want_given(&in, "function", opts->function);
  if (!in.status)
    in.status = ga__block_new(ctx, GA_KIND_FUNCTION_OF_TIME, &TIME, (ga__block_sizes){0, 0, 1}, NULL, out);
  if (!in.status) (*out)->data.function = opts->function;
  return in.status;
}

static ga_status time_eval(const ga_control_block *b, double t, const double *u, const double *x,
                           double *xdot, double *y, ga_fault *fault)
{
  double value;
  ga_status status = ga_function_eval(b->data.function, t, 0, &value, fault);
  (void)u;
  (void)x;
  (void)xdot;
  if (!status && y) y[0] = value;
  return status;
}

static ga_status time_jacobian(const ga_control_block *b, double t, const double *u, const double *x,
                               double *J, ga_fault *fault)
{
  (void)b; /* no column */
  (void)t;
  (void)u;
  (void)x;
  (void)J;
  (void)fault;
  return GA_OK;
}

static int time_same(const ga_control_block *a, const ga_control_block *b)
{
  return ga__function_same(a->data.function, b->data.function);
}

static const ga__block_type TIME = {time_eval, time_jacobian, NULL, time_same};

/* ---- Table of two variables ---- */

ga_block_table2d_opts ga_block_table2d_defaults(void)
{
  return (ga_block_table2d_opts){.table = NULL};
}

ga_status ga_block_create_table2d(ga_context *ctx, const ga_block_table2d_opts *opts, ga_control_block **out)
{
  ga__inspect in = ga__inspect_begin(ctx, GA_KIND_TABLE2D, opts, out);
  if (in.status) return in.status;
  ga__want_given(&in, "table", opts->table);
  if (!in.status)
    in.status = ga__block_new(ctx, GA_KIND_TABLE2D, &TABLE2D, (ga__block_sizes){2, 0, 1}, NULL, out);
  if (in.status) return in.status;
  (*out)->data.table2d = opts->table;
  depend_on_all(*out);
  return GA_OK;
}

static ga_status table2d_eval(const ga_control_block *b, double t, const double *u, const double *x,
                              double *xdot, double *y, ga_fault *fault)
{
  double value;
  ga_status status = ga_table2d_eval(b->data.table2d, u[0], u[1], 0, &value, fault);
  (void)t;
  (void)x;
  (void)xdot;
  if (!status && y) y[0] = value;
  return status;
}

static ga_status table2d_jacobian(const ga_control_block *b, double t, const double *u, const double *x,
                                  double *J, ga_fault *fault)
{
  double out[3];
  ga_status status = ga_table2d_eval(b->data.table2d, u[0], u[1], 1, out, fault);
  (void)t;
  (void)x;
  if (status) return status;
  J[0] = out[1];
  J[1] = out[2];
  return GA_OK;
}

static int table2d_same(const ga_control_block *a, const ga_control_block *b)
{
  return ga__table2d_same(a->data.table2d, b->data.table2d);
}

static const ga__block_type TABLE2D = {table2d_eval, table2d_jacobian, NULL, table2d_same};
