/* Any text as an expression, a unit and a quantity; where it is an expression, its values and derivatives at
 * a few points. Results are finite or refused, and all ways to them agree on the value. */
#include "fuzz.h"
#include "galpha/expr.h"
#include <math.h>
#include <string.h>

enum { N = 3, POINTS = 5 };

static const double points[POINTS][N] = {
    {0, 0, 0}, {1, -2, 0.5}, {-1e-9, 3, 1e300}, {1e5, -1e-300, -7}, {NAN, INFINITY, -1}};

static void check_finite(int n, const double *x)
{
  for (int i = 0; i < n; i++) {
    if (!isfinite(x[i])) abort();
  }
}

static void check_fault(const ga_fault *fault, const char *text)
{
  char words[300];
  if (fault->kind == GA_FAULT_NONE || !fault->operation) abort();
  if (fault->text) {
    const int length = (int)strlen(text);
    if (fault->offset < 0 || fault->bytes < 0 || fault->offset + fault->bytes > length) abort();
  }
  ga_fault_text(words, sizeof words, fault);
  if (!words[0]) abort();
}

/* The value, then with one more derivative each time: what the higher order finds, the lower
 * one finds too. */
static void evaluate(const ga_expr *e, const double *x)
{
  static const int wrt[N] = {2, 0, 1};
  double value = 0, value1 = 0, value2 = 0, gradient[N], gradient2[N], hessian[N * N], curve[3];
  ga_fault fault;
  const ga_status s0 = ga_expr_eval(e, x, &value, &fault);
  if (s0) check_fault(&fault, ga_expr_text(e));
  const ga_status s1 = ga_expr_gradient(e, x, N, wrt, &value1, gradient, &fault);
  if (s1) check_fault(&fault, ga_expr_text(e));
  const ga_status s2 = ga_expr_hessian(e, x, N, wrt, &value2, gradient2, hessian, &fault);
  if (s2) check_fault(&fault, ga_expr_text(e));
  if (!s0) check_finite(1, &value);
  if (!s1) check_finite(N, gradient);
  if (!s2) check_finite(N * N, hessian);
  if (!s1 && (s0 || value != value1)) abort();
  if (!s2 && (s1 || value != value2 || memcmp(gradient, gradient2, sizeof gradient) != 0)) abort();
  if (!ga_expr_curve(e, x, points[1], points[1], 2, curve, &fault)) check_finite(3, curve);
}

/* A text that was refused: where and why. */
static void check_refusal(const ga_context *ctx, ga_status status, const ga_text_error *error, size_t length)
{
  if (status == GA_ERR_MEMORY) return;
  if (status != GA_ERR_ARGUMENT || !ga_context_error(ctx)->text[0]) abort();
  if (error->offset < 0 || (size_t)error->offset > length || error->column < 0 || error->length < 0) abort();
}

static void quantities(ga_context *ctx, const char *text)
{
  static const char *const expected[] = {NULL, "1", "m", "N*m/rad"};
  const size_t length = strlen(text);
  char name[100];
  double value;
  ga_dimension dimension;
  ga_text_error error;
  ga_status status = ga_unit_parse(ctx, text, &value, &dimension, &error);
  if (status) check_refusal(ctx, status, &error, length);
  if (!status && !(value > 0 && isfinite(value))) abort();
  for (int i = 0; i < 4; i++) {
    status = ga_quantity_parse(ctx, text, expected[i], &value, &dimension, &error);
    if (status) check_refusal(ctx, status, &error, length);
    if (status && i == 0) return; /* none of any dimension, so none of a certain one */
    if (status) continue;
    check_finite(1, &value);
    ga_dimension_text(name, sizeof name, &dimension);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  static const ga_symbol symbols[] = {{.name = "x", .index = 0},
                                      {.name = "y", .index = 1},
                                      {.name = "arm.angle", .index = 2},
                                      {.name = "k", .kind = GA_SYMBOL_PARAMETER, .value = 2},
                                      {.name = "c", .kind = GA_SYMBOL_CONSTANT, .value = -0.25}};
  ga_context *ctx = fuzz_open();
  char *text = malloc(size + 1); /* of its exact size, so that reading past the end is noticed */
  ga_expr *e = NULL;
  ga_text_error error;
  if (ctx && text) {
    if (size) memcpy(text, data, size);
    text[size] = 0;
    const ga_status status = ga_expr_compile(ctx, text, symbols, 5, &error, &e);
    if (status) check_refusal(ctx, status, &error, strlen(text));
    for (int i = 0; !status && i < POINTS; i++) evaluate(e, points[i]);
    quantities(ctx, text);
    ga_expr_destroy(&e);
  }
  free(text);
  if (ctx) fuzz_close(ctx);
  return 0;
}
