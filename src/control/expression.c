/* The expression block: outputs from texts in the inputs and t. */
#include "control/control_impl.h"
#include "expr/same.h"
#include <string.h>

static const ga__block_type EXPRESSION;

ga_block_expression_opts ga_block_expression_defaults(void)
{
  return (ga_block_expression_opts){.n_out = 1};
}

static void inspect(ga__inspect *in, const ga_block_expression_opts *opts)
{
  ga__want_size(in, "n_in", opts->n_in, 0);
  ga__want_size(in, "n_out", opts->n_out, 1);
  if (opts->n_in > 0) ga__want_given(in, "inputs", opts->inputs);
  ga__want_given(in, "texts", opts->texts);
  ga__want_number(in, opts->n_symbols >= 0, "n_symbols", 0, opts->n_symbols, "0 or above");
  if (opts->n_symbols > 0) ga__want_given(in, "symbols", opts->symbols);
  ga__want_names(in, "inputs", opts->inputs, opts->n_in);
  ga__want_names(in, "outputs", opts->outputs, opts->n_out);
  for (int i = 0; !in->status && i < opts->n_in; i++)
    ga__want(in, strcmp(opts->inputs[i], "t") != 0, GA_REASON_ITEM_NOT_ALLOWED,
             (ga__facts){.field = "inputs", .item = i + 1, .name = "t", .expected = "that is the time"});
  for (int i = 0; !in->status && i < opts->n_symbols; i++)
    ga__want(in, opts->symbols[i].kind != GA_SYMBOL_VARIABLE, GA_REASON_ITEM_NOT_ALLOWED,
             (ga__facts){.field = "symbols",
                         .item = i + 1,
                         .name = opts->symbols[i].name,
                         .expected = "a variable, and variables are the inputs and t alone"});
  for (int i = 0; !in->status && i < opts->n_out; i++)
    ga__want(in, opts->texts[i] != NULL, GA_REASON_FIELD_MISSING,
             (ga__facts){.field = "texts", .item = i + 1, .detail = "NULL", .expected = "an expression"});
}

/* Variable 0 is t, variable 1 + i is input i; then the caller's symbols. */
static ga_symbol *list_symbols(ga_context *ctx, const ga_block_expression_opts *opts)
{
  ga_symbol *list = ga__alloc(ctx, (size_t)opts->n_in + (size_t)opts->n_symbols + 1, sizeof *list);
  if (!list) return NULL;
  list[0] = (ga_symbol){.name = "t", .kind = GA_SYMBOL_VARIABLE, .index = 0};
  for (int i = 0; i < opts->n_in; i++)
    list[1 + i] = (ga_symbol){.name = opts->inputs[i], .kind = GA_SYMBOL_VARIABLE, .index = 1 + i};
  if (opts->n_symbols > 0)
    memcpy(list + 1 + opts->n_in, opts->symbols, (size_t)opts->n_symbols * sizeof *list);
  return list;
}

static ga_status compile(ga_control_block *b, const ga_block_expression_opts *opts, ga_text_error *error,
                         int *failed_text)
{
  ga_symbol *symbols = list_symbols(b->ctx, opts);
  b->data.expr = ga__alloc(b->ctx, (size_t)b->n_out, sizeof(ga_expr *));
  ga_status status = symbols && b->data.expr ? GA_OK : ga__no_memory(b->ctx, "an expression block");
  for (int i = 0; !status && i < b->n_out; i++) {
    status = ga_expr_compile(b->ctx, opts->texts[i], symbols, 1 + b->n_in + opts->n_symbols, error,
                             &b->data.expr[i]);
    if (status == GA_ERR_ARGUMENT && failed_text) *failed_text = i;
    for (int j = 0; !status && j < b->n_in; j++)
      b->depends[i * b->n_in + j] = (unsigned char)ga_expr_uses(b->data.expr[i], GA_SYMBOL_VARIABLE, 1 + j);
  }
  ga__free(b->ctx, symbols);
  return status;
}

ga_status ga_block_create_expression(ga_context *ctx, const ga_block_expression_opts *opts,
                                     ga_text_error *error, int *failed_text, ga_control_block **out)
{
  if (error) *error = (ga_text_error){0};
  if (failed_text) *failed_text = -1;
  ga__inspect in = ga__inspect_begin(ctx, GA_KIND_EXPRESSION, opts, out);
  if (in.status) return in.status;
  inspect(&in, opts);
  if (in.status) return in.status;
  const ga__block_sizes n = {opts->n_in, 0, opts->n_out};
  const ga_block_names names = {opts->inputs, NULL, opts->outputs};
  in.status = ga__block_new(ctx, GA_KIND_EXPRESSION, &EXPRESSION, n, &names, out);
  if (in.status) return in.status;
  in.status = compile(*out, opts, error, failed_text);
  if (in.status) ga_block_destroy(out);
  return in.status;
}

/* Values of the variables: t, then the inputs. */
static void gather(double *v, const ga_control_block *b, double t, const double *u)
{
  v[0] = t;
  if (b->n_in > 0) memcpy(v + 1, u, (size_t)b->n_in * sizeof *v);
}

static ga_status expression_eval(const ga_control_block *b, double t, const double *u, const double *x,
                                 double *xdot, double *y, ga_fault *fault)
{
  double v[1 + GA_BLOCK_SIZE];
  ga_status status = GA_OK;
  (void)x;
  (void)xdot;
  gather(v, b, t, u);
  for (int i = 0; y && !status && i < b->n_out; i++) status = ga_expr_eval(b->data.expr[i], v, &y[i], fault);
  return status;
}

static ga_status expression_jacobian(const ga_control_block *b, double t, const double *u, const double *x,
                                     double *J, ga_fault *fault)
{
  double v[1 + GA_BLOCK_SIZE], gradient[GA_BLOCK_SIZE];
  (void)x;
  gather(v, b, t, u);
  for (int i = 0; i < b->n_out; i++) {
    const int *used;
    int n = ga_expr_variables(b->data.expr[i], &used);
    if (n > 0 && used[0] == 0) used++, n--; /* no derivative by t */
    ga_status status = ga_expr_gradient(b->data.expr[i], v, n, used, NULL, gradient, fault);
    if (status) return status;
    for (int k = 0; k < n; k++) J[i * b->n_in + used[k] - 1] = gradient[k];
  }
  return GA_OK;
}

static void expression_release(ga_control_block *b)
{
  for (int i = 0; b->data.expr && i < b->n_out; i++) ga_expr_destroy(&b->data.expr[i]);
  ga__free(b->ctx, b->data.expr);
}

static int expression_same(const ga_control_block *a, const ga_control_block *b)
{
  for (int i = 0; i < a->n_out; i++)
    if (!ga__expr_same(a->data.expr[i], b->data.expr[i])) return 0;
  return 1;
}

static const ga__block_type EXPRESSION = {expression_eval, expression_jacobian, expression_release,
                                          expression_same};
