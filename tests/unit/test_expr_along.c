/* Expressions and waves along a line: values and slopes are those at the bases plus the derivative along the
 * rates. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "expr/along.h"
#include "expr/function.h"
#include "core_rig.h"

#include <stdio.h>

#define M "\001"

/* The numbers that move: p, whose base is 1.25 and whose rate 0.5, and what has been read in its place, 1.9.
 */
#define P "1.9" M "1.25" M "0.5"
static const double BASE = 1.25, RATE = 0.5, NUMBER = 1.9;

static ga_expr *compile(ga_context *ctx, const char *text)
{
  static const ga_symbol symbol[] = {{.name = "x", .kind = GA_SYMBOL_VARIABLE, .index = 0},
                                     {.name = "y", .kind = GA_SYMBOL_VARIABLE, .index = 1}};
  ga_expr *e = NULL;
  if (ga_expr_compile(ctx, text, symbol, 2, NULL, &e)) fail_msg("%s: %s", text, ga_context_error(ctx)->text);
  return e;
}

static void close_to(double is, double should, const char *what)
{
  if (!(fabs(is - should) <= 1e-14 * (1.0 + fabs(should))))
    fail_msg("%s: %.17g, not %.17g", what, is, should);
}

/* f, f_x, f_y at the base, and the same of the derivative by p. */
typedef struct sample {
  const char *text;
  double f[3], by_p[3];
} sample;

static void lines_are_followed(void **state)
{
  const double x = 0.7, y = -1.3, p = BASE, v[] = {x, y}, e = exp(p * x);
  const double s = sin(3 * p * x), c = cos(3 * p * x), r = sqrt(p * p + 1);
  const sample samples[] = {
      {"exp(" P "*x)*y", {e * y, p * e * y, e}, {x * e * y, (1 + p * x) * e * y, x * e}},
      {"y*sin(3*" P "*x)",
       {y * s, 3 * p * y * c, s},
       {3 * x * y * c, 3 * y * (c - 3 * p * x * s), 3 * x * c}},
      {"10^(" P ")*x", {pow(10, p) * x, pow(10, p), 0}, {log(10) * pow(10, p) * x, log(10) * pow(10, p), 0}},
      {"x^2*y/" P,
       {x * x * y / p, 2 * x * y / p, x * x / p},
       {-x * x * y / (p * p), -2 * x * y / (p * p), -x * x / (p * p)}},
      {"sqrt((" P ")^2 + 1)*abs(y)*x",
       {-r * y * x, -r * y, -r * x},
       {-p / r * y * x, -p / r * y, -p / r * x}},
      {"if(x > 0 && y < 3, if(y > 0, 7, exp(" P "*x)*y), " P ")",
       {e * y, p * e * y, e},
       {x * e * y, (1 + p * x) * e * y, x * e}},
      {"if(x < 0 || y > 3, x, if(y > 0, 7, 10^(" P "))) + x",
       {pow(10, p) + x, 1, 0},
       {log(10) * pow(10, p), 0, 0}},
      {"(-" P ")^5*x", {-pow(p, 5) * x, -pow(p, 5), 0}, {-5 * pow(p, 4) * x, -5 * pow(p, 4), 0}},
  };
  ga_context *ctx = rig_open_context();
  (void)state;
  for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
    const sample *a = &samples[i];
    static const int wrt[] = {0, 1};
    double value, slope[2], curve[3];
    const double rate[] = {2.0, -0.5};
    ga_expr *at = compile(ctx, a->text);
    assert_int_equal(ga_expr_eval(at, v, &value, NULL), GA_OK);
    close_to(value, a->f[0] + RATE * a->by_p[0], a->text);
    assert_int_equal(ga_expr_gradient(at, v, 2, wrt, &value, slope, NULL), GA_OK);
    close_to(value, a->f[0] + RATE * a->by_p[0], a->text);
    for (int k = 0; k < 2; k++) close_to(slope[k], a->f[1 + k] + RATE * a->by_p[1 + k], a->text);
    for (int order = 0; order <= 2; order++) {
      assert_int_equal(ga_expr_curve(at, v, rate, NULL, order, curve, NULL), GA_OK);
      close_to(curve[0], a->f[0] + RATE * a->by_p[0], a->text);
      if (order > 0) close_to(curve[1], rate[0] * slope[0] + rate[1] * slope[1], a->text);
    }
    ga_expr_destroy(&at);
  }
  rig_close_context(&ctx);
}

/* Polynomials that differences are exact for, and edges that move, have the number itself. */
static void others_have_the_number(void **state)
{
  static const struct {
    const char *text, *same;
  } CASES[] = {{P "*x", "1.9*x"},
               {"x*(" P ")^4/3 - " P, "x*1.9^4/3 - 1.9"},
               {"if(x > " P ", exp(" P "), 2)", "if(x > 1.9, exp(1.9), 2)"},
               {"if(x > 1 && x < " P ", exp(" P "), 2)", "if(x > 1 && x < 1.9, exp(1.9), 2)"},
               {"if(x > 1, " P ", 2*x)", "if(x > 1, 1.9, 2*x)"},
               {"exp(" P ")*abs(x - " P ")", "exp(1.9)*abs(x - 1.9)"},
               {"exp(" P ")*max(" P ", 1.5)", "exp(1.9)*max(1.9, 1.5)"},
               {"exp(" P ") + step5(x, " P ", 0, 3, 1)", "exp(1.9) + step5(x, 1.9, 0, 3, 1)"}};
  ga_context *ctx = rig_open_context();
  (void)state;
  for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++)
    for (double x = -3.0; x < 3.0; x += 0.37) {
      const double v[] = {x, 1.0};
      double is, should;
      ga_expr *e = compile(ctx, CASES[i].text), *f = compile(ctx, CASES[i].same);
      assert_int_equal(ga_expr_eval(e, v, &is, NULL), GA_OK);
      assert_int_equal(ga_expr_eval(f, v, &should, NULL), GA_OK);
      close_to(is, should, CASES[i].text);
      ga_expr_destroy(&e);
      ga_expr_destroy(&f);
    }
  rig_close_context(&ctx);
}

/* Where a slope does not exist the value does: sqrt at 0. */
static void values_without_slopes(void **state)
{
  const double v[] = {0.0, 2.0};
  double value;
  ga_context *ctx = rig_open_context();
  ga_expr *e = compile(ctx, "y + sqrt(" P " - 1.25)*exp(" P ")");
  (void)state;
  assert_int_equal(ga_expr_eval(e, v, &value, NULL), GA_OK);
  close_to(value, 2.0 + sqrt(NUMBER - 1.25) * exp(NUMBER), "sqrt");
  ga_expr_destroy(&e);
  rig_close_context(&ctx);
}

static void wrong_marks_are_refused(void **state)
{
  static const char *const WRONG[] = {"2" M, "2" M "1",       "2" M "1" M,      "2" M "1" M "x",
                                      M "1", "x" M "1" M "2", "2" M "1" M "--3"};
  ga_context *ctx = rig_open_context();
  (void)state;
  for (size_t i = 0; i < sizeof WRONG / sizeof *WRONG; i++) {
    ga_expr *e = NULL;
    const ga_symbol x = {.name = "x", .kind = GA_SYMBOL_VARIABLE};
    assert_int_equal(ga_expr_compile(ctx, WRONG[i], &x, 1, NULL, &e), GA_ERR_ARGUMENT);
    assert_null(e);
  }
  rig_close_context(&ctx);
}

static double wave_value(ga_context *ctx, const ga_wave_opts *o, double t, int order)
{
  ga_function *f = NULL;
  double y[3];
  assert_int_equal(ga_function_create_wave(ctx, o, &f), GA_OK);
  assert_int_equal(ga_function_eval(f, t, order, y, NULL), GA_OK);
  ga_function_destroy(&f);
  return y[order];
}

/* Against differences of waves, extrapolated; exact in offset and amplitude. */
static void waves_are_followed(void **state)
{
  const ga_wave_opts base = {.offset = 0.2,
                             .amplitude = 1.5,
                             .frequency = 0.4,
                             .frequency_end = 0.9,
                             .phase = 0.3,
                             .t_start = 1,
                             .sweep = 4};
  const ga_wave_opts by = {
      .offset = 0.3, .amplitude = -0.7, .frequency = 0.2, .frequency_end = -0.1, .phase = 0.5};
  ga_context *ctx = rig_open_context();
  (void)state;
  for (double t = 0.1; t < 8.0; t += 0.83)
    for (int order = 0; order <= 2; order++) {
      double table[4][4], y[3];
      for (int l = 0; l < 4; l++) {
        const double h = 0.1 / (1 << l);
        double end[2];
        for (int s = 0; s < 2; s++) {
          ga_wave_opts o = base;
          const double to = s ? h : -h;
          o.offset += to * by.offset, o.amplitude += to * by.amplitude, o.frequency += to * by.frequency;
          o.frequency_end += to * by.frequency_end, o.phase += to * by.phase;
          end[s] = wave_value(ctx, &o, t, order);
        }
        table[l][0] = (end[1] - end[0]) / (2 * h);
        for (int k = 1; k <= l; k++)
          table[l][k] = table[l][k - 1] + (table[l][k - 1] - table[l - 1][k - 1]) / (pow(4, k) - 1);
      }
      ga_wave_opts moved = base;
      moved.offset += by.offset, moved.amplitude += by.amplitude, moved.frequency += by.frequency;
      moved.frequency_end += by.frequency_end, moved.phase += by.phase;
      ga_function *f = NULL;
      assert_int_equal(ga__function_create_wave_along(ctx, &base, &moved, &f), GA_OK);
      assert_int_equal(ga_function_eval(f, t, order, y, NULL), GA_OK);
      const double should = wave_value(ctx, &base, t, order) + table[3][3];
      if (!(fabs(y[order] - should) <= 1e-11 * (1 + fabs(should))))
        fail_msg("t = %g, order %d: %.15g, not %.15g", t, order, y[order], should);
      ga_function_destroy(&f);
    }
  rig_close_context(&ctx);
}

/* A sweep that begins elsewhere has its corner there. */
static void sweeps_that_move_have_their_values(void **state)
{
  const ga_wave_opts base = {.amplitude = 1, .frequency = 1, .frequency_end = 2, .t_start = 1, .sweep = 2};
  ga_wave_opts moved = base;
  ga_context *ctx = rig_open_context();
  ga_function *f = NULL;
  double y;
  (void)state;
  moved.t_start = 1.2;
  assert_int_equal(ga__function_create_wave_along(ctx, &base, &moved, &f), GA_OK);
  assert_int_equal(ga_function_eval(f, 1.7, 0, &y, NULL), GA_OK);
  assert_true(y == wave_value(ctx, &moved, 1.7, 0));
  ga_function_destroy(&f);
  rig_close_context(&ctx);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lines_are_followed),    cmocka_unit_test(others_have_the_number),
      cmocka_unit_test(values_without_slopes), cmocka_unit_test(wrong_marks_are_refused),
      cmocka_unit_test(waves_are_followed),    cmocka_unit_test(sweeps_that_move_have_their_values)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
