/* Expressions: values, derivatives, faults, messages. */
#include "expr_rig.h"
#include <locale.h>

enum { X, Y, Z, T, N_VARS };
static const ga_symbol symbols[] = {
    {"x", GA_SYMBOL_VARIABLE, X, 0, NULL, NULL, NULL},
    {"y", GA_SYMBOL_VARIABLE, Y, 0, NULL, NULL, NULL},
    {"z", GA_SYMBOL_VARIABLE, Z, 0, NULL, NULL, NULL},
    {"t", GA_SYMBOL_VARIABLE, T, 0, NULL, NULL, NULL},
    {"omega", GA_SYMBOL_CONSTANT, 0, 7.5, NULL, NULL, NULL},
    {"k", GA_SYMBOL_PARAMETER, 0, 3, NULL, NULL, NULL},
    {"arm.length", GA_SYMBOL_PARAMETER, 4, 0.25, NULL, NULL, NULL},
};
static const int all_vars[N_VARS] = {X, Y, Z, T};

static ga_expr *compile(fixture *f, const char *text)
{
  ga_expr *e = NULL;
  ga_text_error error;
  if (ga_expr_compile(f->ctx, text, symbols, COUNT(symbols), &error, &e)) {
    fail_msg("%s", ga_context_error(f->ctx)->text);
  }
  return e;
}

static double value_of(fixture *f, const char *text, const double *v)
{
  ga_expr *e = compile(f, text);
  ga_fault fault;
  double value = NAN;
  if (ga_expr_eval(e, v, &value, &fault)) {
    char words[300];
    ga_fault_text(words, sizeof words, &fault);
    fail_msg("%s: %s", text, words);
  }
  ga_expr_destroy(&e);
  return value;
}

/* ---- Values ---- */

/* Text that means the same in C, where only numbers with a point are used. */
#define SAME(text)                                                                                           \
  {                                                                                                          \
#text, (double)(text)                                                                                    \
  }

/* Values by the C compiler, with functions of the same names and meanings. */
static double sign(double u)
{
  return u > 0 ? 1 : u < 0 ? -1 : 0;
}
static double min(double a, double b)
{
  return a < b ? a : b;
}
static double max(double a, double b)
{
  return a > b ? a : b;
}
static double mod(double a, double b)
{
  return a - b * floor(a / b);
}
#define abs fabs
#define pi 3.14159265358979323846
#define e 2.71828182845904523536

/* A text and its value in C. */
typedef struct sample {
  const char *text;
  double value;
} sample;

static void assert_samples(fixture *f, int n, const sample *rows, const double *v)
{
  for (int i = 0; i < n; i++) assert_near(value_of(f, rows[i].text, v), rows[i].value, 1e-15, rows[i].text);
}

static const double AS_IN_C[N_VARS] = {0.7, -1.3, 2.5, 0.1};

static void arithmetic_as_in_c(void **state)
{
  const double *v = AS_IN_C, x = v[X], y = v[Y], z = v[Z], t = v[T], omega = 7.5, k = 3;
  const sample rows[] = {
      SAME(1.0),
      SAME(2.5e-3),
      SAME(.5),
      SAME(1.),
      SAME(1e3),
      SAME(1E3),
      SAME(1.5e+2),
      SAME(0.1),
      SAME(123456789.125),
      SAME(4.9406564584124654e-324),
      SAME(1.7976931348623157e308),
      SAME(pi),
      SAME(e),
      SAME(x),
      SAME(y),
      SAME(z),
      SAME(t),
      SAME(k),
      SAME(omega),
      SAME(-x),
      SAME(+x),
      SAME(-(-x)),
      SAME(!0.0),
      SAME(-y),
      SAME(- -y),
      SAME((x)),
      SAME(((x))),
      SAME(x + y),
      SAME(x - y),
      SAME(x * y),
      SAME(x / y),
      SAME(x - y - z),
      SAME(x - (y - z)),
      SAME(x / y / z),
      SAME(x / (y / z)),
      SAME(x * y / z),
      SAME(x / y * z),
      SAME(x + y * z),
      SAME((x + y) * z),
      SAME(x * y + z),
      SAME(x * (y + z)),
      SAME(-x + y),
      SAME(-(x + y)),
      SAME(-x * y),
      SAME(x * -y),
      SAME(x - -y),
      SAME(x + +y),
      SAME(x / -y),
      SAME(2.0 * x + 3.0 * y),
      SAME(2.0 * x - 3.0 * y + 4.0 * z - 5.0 * t),
      SAME(x * x * x),
      SAME(1.0 / x),
      SAME(1.0 / (1.0 + x * x)),
  };
  assert_samples(*state, COUNT(rows), rows, v);
}

static void conditions_as_in_c(void **state)
{
  const double *v = AS_IN_C, x = v[X], y = v[Y], z = v[Z], t = v[T];
  const sample rows[] = {
      SAME(x < y),
      SAME(x > y),
      SAME(x <= y),
      SAME(x >= y),
      SAME(x == y),
      SAME(x != y),
      SAME(x == x),
      SAME(x <= x),
      SAME(x >= x),
      SAME(x != x),
      SAME(x < x),
      SAME(x + y < z),
      SAME(x < y + z),
      SAME(x + y > z - t),
      SAME(x * y >= z / t),
      SAME(-x < y),
      SAME(!(x < y)),
      SAME(x < y && y < z),
      SAME(y < x && x < z),
      SAME(x < y || y < z),
      SAME(x > z || y > z),
      SAME((x < y || y < z) && z > t),
      SAME(x > 0.0 && y > 0.0),
      SAME(0.0 || 0.0),
      SAME((x < y) + (y < z)),
      SAME((x > y) * 3.0 + (z > t) * 4.0),
      SAME((x < y) == (y < z)),
  };
  assert_samples(*state, COUNT(rows), rows, v);
}

static void functions_as_in_c(void **state)
{
  const double *v = AS_IN_C, x = v[X], y = v[Y], z = v[Z];
  const sample rows[] = {
      SAME(sin(x)),         SAME(cos(x)),          SAME(tan(x)),           SAME(asin(x)),
      SAME(acos(x)),        SAME(atan(x)),         SAME(sinh(x)),          SAME(cosh(x)),
      SAME(tanh(x)),        SAME(exp(x)),          SAME(log(x)),           SAME(log10(x)),
      SAME(sqrt(x)),        SAME(cbrt(x)),         SAME(abs(x)),           SAME(sign(x)),
      SAME(floor(x)),       SAME(ceil(x)),         SAME(sin(y)),           SAME(cos(y)),
      SAME(tan(y)),         SAME(atan(y)),         SAME(sinh(y)),          SAME(cosh(y)),
      SAME(tanh(y)),        SAME(exp(y)),          SAME(cbrt(y)),          SAME(abs(y)),
      SAME(sign(y)),        SAME(floor(y)),        SAME(ceil(y)),          SAME(sign(0.0)),
      SAME(abs(0.0)),       SAME(floor(-0.5)),     SAME(ceil(-0.5)),       SAME(atan2(x, y)),
      SAME(atan2(y, x)),    SAME(atan2(-x, y)),    SAME(atan2(0.0, -1.0)), SAME(atan2(0.0, 0.0)),
      SAME(min(x, y)),      SAME(max(x, y)),       SAME(min(y, x)),        SAME(max(y, x)),
      SAME(min(x, x)),      SAME(pow(x, y)),       SAME(pow(z, x)),        SAME(pow(2.0, 10.0)),
      SAME(hypot(x, y)),    SAME(hypot(3.0, 4.0)), SAME(mod(7.0, 3.0)),    SAME(mod(-7.0, 3.0)),
      SAME(mod(7.0, -3.0)), SAME(mod(-7.0, -3.0)), SAME(mod(6.0, 3.0)),    SAME(mod(-6.0, 3.0)),
      SAME(mod(0.75, 0.5)), SAME(sin(x) * cos(y)),
  };
  assert_samples(*state, COUNT(rows), rows, v);
}

static void formulas_as_in_c(void **state)
{
  const double *v = AS_IN_C, x = v[X], y = v[Y], z = v[Z], t = v[T], omega = 7.5, k = 3;
  const sample rows[] = {
      SAME(sin(x + y)),
      SAME(sin(x) + cos(y)),
      SAME(sin(cos(tan(x)))),
      SAME(exp(-x * x)),
      SAME(exp(-x * x / 2.0) / sqrt(2.0 * pi)),
      SAME(log(exp(x))),
      SAME(sqrt(x * x + y * y)),
      SAME(sqrt(abs(y))),
      SAME(atan(tan(x))),
      SAME(asin(sin(x))),
      SAME(acos(cos(x))),
      SAME(min(max(x, y), z)),
      SAME(max(min(x, y), z)),
      SAME(min(sin(x), cos(x))),
      SAME(2.0 * pi * t),
      SAME(sin(2.0 * pi * t)),
      SAME(sin(omega * t)),
      SAME(k * x),
      SAME(k * (x - 1.0) * (x - 1.0)),
      SAME(e * pi),
      SAME(-k * x - 0.1 * y),
      SAME(k * x + omega * y),
      SAME(x * sin(omega * t) + y * cos(omega * t)),
      SAME(exp(-t) * sin(omega * t)),
      SAME(1.0 - exp(-t / 0.5)),
      SAME(tanh(x / 0.01)),
      SAME(abs(x) * x),
      SAME(sign(y) * sqrt(abs(y))),
      SAME(0.5 * (1.0 + tanh(z))),
      SAME(log(1.0 + exp(x))),
      SAME(log10(1000.0)),
      SAME(cbrt(-27.0)),
      SAME(floor(x * 10.0) / 10.0),
      SAME(ceil(x * 10.0) / 10.0),
      SAME(sin(x) / x),
      SAME((1.0 - cos(x)) / (x * x)),
      SAME(x / (1.0 + abs(x))),
      SAME(((x + y) * (z - t)) / ((x - y) * (z + t))),
      SAME((((((x + 1.0) * x + 1.0) * x + 1.0) * x + 1.0) * x + 1.0)),
      SAME(x - y + z - t),
      SAME(x - (y + z) - t),
      SAME(x * y * z * t),
      SAME(x / y / z / t),
      SAME(1.0 + 2.0 * 3.0 - 4.0 / 5.0),
      SAME((1.0 + 2.0) * (3.0 - 4.0)),
      SAME(100.0 - 10.0 - 1.0),
      SAME(100.0 / 10.0 / 2.0),
      SAME(2.0 - -2.0),
      SAME(1.0 < 2.0),
      SAME(2.0 < 1.0),
      SAME(sinh(x) * sinh(x) - cosh(x) * cosh(x)),
      SAME(atan2(sin(x), cos(x))),
      SAME(hypot(sin(x), cos(x))),
      SAME(exp(log(x) + log(z))),
      SAME(pow(x, 2.0) + pow(y, 2.0)),
      SAME(sqrt(pow(x, 2.0))),
      SAME(pow(y, 3.0)),
      SAME(pow(y, -2.0)),
      SAME(pow(0.0, 0.0)),
      SAME(pow(0.0, 2.0)),
      SAME(tan(x) - sin(x) / cos(x)),
  };
  assert_samples(*state, COUNT(rows), rows, v);
}
#undef abs
#undef pi
#undef e

/* What C writes differently, or not at all. */
static void values_of_our_own(void **state)
{
  fixture *f = *state;
  const double v[N_VARS] = {0.7, -1.3, 2.5, 0.1};
  const struct {
    const char *text;
    double value;
  } rows[] = {
      {"2^3", 8},
      {"2^3^2", 512},
      {"(2^3)^2", 64},
      {"-2^2", -4},
      {"(-2)^2", 4},
      {"2^-1", 0.5},
      {"2^-2^2", 0.0625},
      {"-2^-2", -0.25},
      {"2*3^2", 18},
      {"2^3*2", 16},
      {"2^3+1", 9},
      {"2^+3", 8},
      {"!2^2", 0},
      {"2^!0", 2},
      {"-3^2*2", -18},
      {"4^0.5", 2},
      {"0^0", 1},
      {"(-8)^3", -512},
      {"(-2)^-1", -0.5},
      {"1/3", 1.0 / 3},
      {"7/2", 3.5},
      {"1/3*3", 1},
      {"10^-3", 0.001},
      {"1-2^2", -3},
      {"2 ^ 2", 4},
      {" 1 +\t2\n", 3},
      {"1e3", 1000},
      {"1e+3", 1000},
      {"1.e2", 100},
      {"min(3,1,2)", 1},
      {"max(3,1,2)", 3},
      {"max(1,2,3,4,5,6)", 6},
      {"min(1,1)", 1},
      {"if(1,2,3)", 2},
      {"if(0,2,3)", 3},
      {"if(x>0,1,-1)", 1},
      {"if(y>0,1,-1)", -1},
      {"if(-0.5,2,3)", 2},
      {"if(x>0,if(y>0,1,2),3)", 2},
      {"if(x<0,1,if(y<0,5,6))", 5},
      {"1+if(x>0,2,3)*10", 21},
      {"if(x>0&&y<0,4,5)", 4},
      {"if(0,1/0,2)", 2},
      {"if(1,2,log(-1))", 2},
      {"0 && 1/0", 0},
      {"1 || 1/0", 1},
      {"2 && 3", 1},
      {"0 || 5", 1},
      {"1 && 0 || 1", 1},
      {"1 || 0 && 0", 1},
      {"(1 || 0) && 0", 0},
      {"0 && 0 || 0", 0},
      {"1 && 1 && 1", 1},
      {"1 && 1 && 0", 0},
      {"0 || 0 || 3", 1},
      {"1 + (2 && 3)", 2},
      {"!x", 0},
      {"!!x", 1},
      {"!x < y", 0},
      {"x && y", 1},
      {"x || y", 1},
      {"0 || y", 1},
      {"0 && y", 0},
      {"y && 0", 0},
      {"!x || y", 1},
      {"!x && !y", 0},
      {"step(1,1)", 1},
      {"step(0.999,1)", 0},
      {"step(2,1)", 1},
      {"step(0,1,10,2,20)", 10},
      {"step(3,1,10,2,20)", 20},
      {"step(1.5,1,10,2,20)", 15},
      {"step(1.25,1,0,2,1)", 0.15625},
      {"step(0.5,1,0,0,1)", 0.5},
      {"step(2,1,7,0,1)", 7},
      {"step(-1,1,7,0,1)", 1},
      {"step5(1.5,1,10,2,20)", 15},
      {"step5(1.25,1,0,2,1)", 0.103515625},
      {"step5(0,1,10,2,20)", 10},
      {"step5(9,1,10,2,20)", 20},
      {"arm.length*4", 1},
      {"180[deg]/pi", 1},
      {"12[mm]", 0.012},
      {"36 [km/h]", 10},
      {"3[kN]*2[m]", 6000},
      {"1[rev]/pi", 2},
      {"2*5[%]", 0.1},
      {"20[degC]", 293.15},
      {"3[ m / s^2 ]", 3},
      {"1[1/s]", 1},
      {"1[°]*180/pi", 1},
      {"2[µm]*1e6", 2},
      {"sin (0)", 0},
      {"2*(3)", 6},
      {"x-x", 0},
  };
  for (int i = 0; i < COUNT(rows); i++) {
    assert_near(value_of(f, rows[i].text, v), rows[i].value, 1e-15, rows[i].text);
  }
}

/* A comma for the point in the locale of the program changes nothing. */
static void numbers_in_every_locale(void **state)
{
  static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE", "fr_FR"};
  const char *found = NULL;
  for (int i = 0; i < COUNT(names) && !found; i++) found = setlocale(LC_NUMERIC, names[i]);
  if (!found) skip();
  const double value = value_of(*state, "2.5e-1 + .5", NULL);
  setlocale(LC_NUMERIC, "C");
  assert_near(value, 0.75, 0, "2.5e-1 + .5");
}

/* ---- Derivatives ---- */

static double eval_at(const ga_expr *e, const double *v)
{
  double value = NAN;
  assert_int_equal(ga_expr_eval(e, v, &value, NULL), GA_OK);
  return value;
}

/* Gradient against differences of values, Hessian against differences of gradients, curve against both. */
static void check_derivatives(const ga_expr *e, const double *v, double tolerance)
{
  double value, g[N_VARS], g_alone[N_VARS], H[N_VARS][N_VARS];
  assert_int_equal(ga_expr_hessian(e, v, N_VARS, all_vars, &value, g, &H[0][0], NULL), GA_OK);
  assert_int_equal(ga_expr_gradient(e, v, N_VARS, all_vars, NULL, g_alone, NULL), GA_OK);
  assert_near(value, eval_at(e, v), 0, "value beside the Hessian");
  const double h = 1e-3;
  for (int i = 0; i < N_VARS; i++) {
    double values[4], gradients[4][N_VARS], at[N_VARS];
    for (int k = 0; k < 4; k++) {
      memcpy(at, v, sizeof at);
      at[i] += difference4_at[k] * h;
      values[k] = eval_at(e, at);
      assert_int_equal(ga_expr_gradient(e, at, N_VARS, all_vars, NULL, gradients[k], NULL), GA_OK);
    }
    assert_near(g[i], difference4(values, h), tolerance, ga_expr_text(e));
    assert_near(g_alone[i], g[i], 1e-15, "gradient alone");
    for (int j = 0; j < N_VARS; j++) {
      const double line[4] = {gradients[0][j], gradients[1][j], gradients[2][j], gradients[3][j]};
      assert_near(H[i][j], difference4(line, h), tolerance, ga_expr_text(e));
      assert_memory_equal(&H[i][j], &H[j][i], sizeof H[i][j]);
    }
  }
  const double rate[N_VARS] = {0.3, -0.8, 1.1, 1}, rate2[N_VARS] = {2, 0.5, -0.7, 0};
  double first = 0, second = 0, out[3], straight[3];
  for (int i = 0; i < N_VARS; i++) {
    first += g[i] * rate[i];
    second += g[i] * rate2[i];
    for (int j = 0; j < N_VARS; j++) second += H[i][j] * rate[i] * rate[j];
  }
  assert_int_equal(ga_expr_curve(e, v, rate, rate2, 2, out, NULL), GA_OK);
  assert_near(out[0], value, 0, "value along a curve");
  assert_near(out[1], first, 1e-12, "first derivative along a curve");
  assert_near(out[2], second, 1e-11, "second derivative along a curve");
  assert_int_equal(ga_expr_curve(e, v, rate, NULL, 1, straight, NULL), GA_OK);
  assert_near(straight[1], out[1], 1e-15, "first derivative alone");
}

/* 1: it jumps, as mod() does, within what differences look at. */
static int jumps_near(const ga_expr *e, const double *v)
{
  for (int k = 0; k < N_VARS; k++) {
    double low[N_VARS], high[N_VARS];
    memcpy(low, v, sizeof low);
    memcpy(high, v, sizeof high);
    low[k] -= 5e-3, high[k] += 5e-3;
    if (fabs(eval_at(e, high) - eval_at(e, low)) > 0.9) return 1;
  }
  return 0;
}

static void derivatives_by_differences(void **state)
{
  static const char *const texts[] = {
      "x",
      "3",
      "x+y",
      "x-y*z",
      "x*y*z*t",
      "x/y",
      "x/(y*z)",
      "(x+y)/(z+t)",
      "-x",
      "+x",
      "x^2",
      "x^3",
      "x^-1",
      "x^0.5",
      "2^x",
      "x^y",
      "y^x",
      "(x*y)^(z/t)",
      "pow(x, 3)",
      "(x-5)^2",
      "(x-5)^3",
      "(x-5)^-2",
      "sin(x)",
      "cos(x)",
      "tan(x/2)",
      "asin(x/5)",
      "acos(x/5)",
      "atan(x)",
      "atan2(x,y)",
      "atan2(-x,-y)",
      "atan2(y,-x)",
      "sinh(x)",
      "cosh(x)",
      "tanh(x)",
      "exp(x)",
      "log(x)",
      "log10(x)",
      "sqrt(x)",
      "cbrt(x)",
      "cbrt(-x)",
      "abs(x)",
      "abs(-x)",
      "sign(x)",
      "floor(x)",
      "ceil(x)",
      "min(x,5*y)",
      "max(x*x,y/9)",
      "mod(x*y, z)",
      "hypot(x,y)",
      "hypot(-x,y)",
      "step(x,9)",
      "step(x, 0, y, 4, z)",
      "step(x, y-2, 0, 5*z, t)",
      "step(x, 9, y, 12, z)",
      "step(x, -9, y, -5, z)",
      "step5(x, 0, y, 4, z)",
      "step5(x, y-2, t, 5*z, t^2)",
      "step5(t, z-3, x, 4+x, y)",
      "if(x>0, x^3, y^3)",
      "if(x<0, x^3, y^3*x)",
      "(x<y)*x + (x>=y)*y^2",
      "x && y",
      "exp(-x^2)*sin(3*y)",
      "sin(x*y)*cos(z*t)",
      "log(1+exp(x+y))",
      "sqrt(x^2+y^2+z^2)",
      "x*sin(t)+y*cos(t)",
      "2*k*(x-1)^2 + sin(omega*t)",
      "exp(sin(cos(x*y*z*t)))",
      "tanh(x/y)*atan(z/t)",
      "1/(1+1/(1+1/(1+x)))",
      "((x*y+z)*t+x)*y",
      "k*x^3 + omega*x*t",
      "log(x)/log(y+1)",
      "sin(x)^2*cos(y)^2",
      "x^2*y^3*z^4*t",
      "sin(x+sin(y+sin(z+sin(t))))",
      "min(x,9,y*y+8)",
  };
  fixture *f = *state;
  rig_random random = rig_seed(0);
  for (int i = 0; i < COUNT(texts); i++) {
    ga_expr *e = compile(f, texts[i]);
    for (int n = 0; n < 6; n++) {
      double v[N_VARS];
      do
        for (int k = 0; k < N_VARS; k++) v[k] = rig_uniform(&random, 1.1, 1.9);
      while (jumps_near(e, v));
      check_derivatives(e, v, 2e-8);
    }
    ga_expr_destroy(&e);
  }
}

/* Derivatives that are known in closed form, also where differences would be poor. */
static void derivatives_by_identities(void **state)
{
  static const struct {
    const char *text;
    double x, value, first, second;
  } rows[] = {
      {"sin(x)^2+cos(x)^2", 0.4, 1, 0, 0},
      {"log(exp(x))", 3, 3, 1, 0},
      {"exp(log(x))", 3, 3, 1, 0},
      {"cosh(x)^2-sinh(x)^2", 0.3, 1, 0, 0},
      {"tan(atan(x))", 0.3, 0.3, 1, 0},
      {"sqrt(x)^2", 4, 4, 1, 0},
      {"cbrt(x)^3", -8, -8, 1, 0},
      {"x^2", 0, 0, 0, 2},
      {"x^3", 0, 0, 0, 0},
      {"x^1", 0, 0, 1, 0},
      {"x^0", 0, 1, 0, 0},
      {"x^2", -3, 9, -6, 2},
      {"x^-1", -2, -0.5, -0.25, -0.25},
      {"x^4", -1, 1, -4, 12},
      {"abs(x)", -2, 2, -1, 0},
      {"abs(x)", 0, 0, 0, 0},
      {"x*abs(x)", -2, -4, 4, -2},
      {"max(x,0)^2", -1, 0, 0, 0},
      {"max(x,0)^2", 3, 9, 6, 2},
      {"min(x,x)", 5, 5, 1, 0},
      {"floor(x)*x", 2.5, 5, 2, 0},
      {"mod(x,2)", 5.5, 1.5, 1, 0},
      {"mod(x,2)", -0.5, 1.5, 1, 0},
      {"hypot(x,0)", -3, 3, -1, 0},
      {"atan2(x,1)", 0, 0, 1, 0},
      {"atan2(sin(x),cos(x))", 2, 2, 1, 0},
      {"if(x<0,-x^2,x^3)", -2, -4, 4, -2},
      {"if(x<0,-x^2,x^3)", 2, 8, 12, 12},
      {"x<1", 0, 1, 0, 0},
      {"x||0", 2, 1, 0, 0},
      {"0||x", 2, 1, 0, 0},
      {"x&&1", 0, 0, 0, 0},
      {"1+(x&&x)*x", 2, 3, 1, 0},
      {"step(x,0,0,1,1)", 0, 0, 0, 0},
      {"step(x,0,0,1,1)", 1, 1, 0, 0},
      {"step(x,0,0,1,1)", 0.5, 0.5, 1.5, 0},
      {"step5(x,0,0,1,1)", 0.5, 0.5, 1.875, 0},
      {"step5(x,0,0,1,1)", 0, 0, 0, 0},
      {"step(x,0,0,2,8)", 1, 4, 6, 0},
      {"exp(-x)", 700, 9.8596765437597708e-305, -9.8596765437597708e-305, 9.8596765437597708e-305},
      {"tanh(x)", 800, 1, 0, 0},
      {"1/x", 4, 0.25, -0.0625, 0.03125},
      {"x^x", 1, 1, 1, 2},
      {"2^x", 0, 1, 0.69314718055994531, 0.48045301391820139},
      {"0^x", 2, 0, 0, 0},
      {"asin(x)", 0, 0, 1, 0},
      {"acos(x)", 0, 1.5707963267948966, -1, 0},
  };
  fixture *f = *state;
  const int wrt = X;
  for (int i = 0; i < COUNT(rows); i++) {
    ga_expr *e = compile(f, rows[i].text);
    double value, first, second;
    assert_int_equal(ga_expr_hessian(e, &rows[i].x, 1, &wrt, &value, &first, &second, NULL), GA_OK);
    assert_near(value, rows[i].value, 1e-14, rows[i].text);
    assert_near(first, rows[i].first, 1e-14, rows[i].text);
    assert_near(second, rows[i].second, 1e-13, rows[i].text);
    ga_expr_destroy(&e);
  }
}

/* More directions than one run carries, in any order and repeated. */
static void many_directions(void **state)
{
  enum { N = 11 };
  fixture *f = *state;
  char names[N][16], text[512] = "0";
  ga_symbol list[N];
  double v[N], g[N + 1], H[(N + 1) * (N + 1)];
  int wrt[N + 1];
  for (int i = 0; i < N; i++) {
    snprintf(names[i], sizeof names[i], "a%d", i);
    list[i] = (ga_symbol){.name = names[i], .kind = GA_SYMBOL_VARIABLE, .index = i};
    v[i] = 0.5 + 0.1 * i;
    wrt[i] = N - 1 - i;
    snprintf(text + strlen(text), sizeof text - strlen(text), "+%d*a%d*a%d", i + 1, i, (i + 1) % N);
  }
  wrt[N] = 3;
  ga_expr *e = NULL;
  assert_int_equal(ga_expr_compile(f->ctx, text, list, N, NULL, &e), GA_OK);
  assert_int_equal(ga_expr_hessian(e, v, N + 1, wrt, NULL, NULL, H, NULL), GA_OK);
  assert_int_equal(ga_expr_gradient(e, v, N + 1, wrt, NULL, g, NULL), GA_OK);
  for (int r = 0; r <= N; r++) { /* Σ (i+1) a_i a_i+1 */
    const int i = wrt[r], next = (i + 1) % N, before = (i + N - 1) % N;
    assert_near(g[r], (i + 1) * v[next] + (before + 1) * v[before], 1e-14, "gradient");
    for (int c = 0; c <= N; c++) {
      const int j = wrt[c];
      const double exact = (j == next ? i + 1 : 0) + (j == before ? before + 1 : 0);
      assert_near(H[r * (N + 1) + c], exact, 1e-15, "Hessian");
    }
  }
  double value = 0;
  assert_int_equal(ga_expr_gradient(e, v, 0, NULL, &value, NULL, NULL), GA_OK);
  assert_near(value, eval_at(e, v), 0, "no direction at all");
  value = 0;
  assert_int_equal(ga_expr_hessian(e, v, 0, NULL, &value, NULL, NULL, NULL), GA_OK);
  assert_near(value, eval_at(e, v), 0, "no direction at all");
  ga_expr_destroy(&e);
}

/* ---- Random trees ---- */

typedef struct tree {
  int op; /* row of tree_ops; -1: number, -2: variable */
  double number;
  int child[5];
} tree;

/* Binding as the grammar has it; 9: needs no parentheses. */
static const struct tree_op {
  const char *name;
  int arity, binding, smooth;
} tree_ops[] = {
    {"+", 2, 4, 1},    {"-", 2, 4, 1},   {"*", 2, 5, 1},     {"/", 2, 5, 0},     {"^", 2, 7, 0},
    {"-", 1, 6, 1},    {"!", 1, 6, 0},   {"<", 2, 3, 0},     {">=", 2, 3, 0},    {"==", 2, 3, 0},
    {"&&", 2, 2, 0},   {"||", 2, 1, 0},  {"sin", 1, 9, 1},   {"cos", 1, 9, 1},   {"tanh", 1, 9, 1},
    {"atan", 1, 9, 1}, {"exp", 1, 9, 0}, {"log", 1, 9, 0},   {"sqrt", 1, 9, 0},  {"abs", 1, 9, 0},
    {"min", 2, 9, 0},  {"max", 2, 9, 0}, {"hypot", 2, 9, 0}, {"atan2", 2, 9, 0}, {"if", 3, 9, 0},
    {"step", 2, 9, 0}, {"pow", 2, 9, 0}, {"mod", 2, 9, 0},
};
enum { MOST_NODES = 400 };

typedef struct forest {
  tree node[MOST_NODES];
  int n;
  rig_random random;
  int smooth; /* only operations that can be differentiated twice everywhere */
} forest;

static int grow(forest *w, int depth)
{
  const int at = w->n++;
  tree *node = &w->node[at];
  if (depth == 0 || rig_below(&w->random, 6) == 0 || w->n > MOST_NODES / 2) {
    node->op = rig_below(&w->random, 2) ? -1 : -2;
    node->number = node->op == -1 ? floor(rig_uniform(&w->random, 0, 40)) / 8 : rig_below(&w->random, N_VARS);
    return at;
  }
  int op;
  do {
    op = rig_below(&w->random, COUNT(tree_ops));
  } while (w->smooth && !tree_ops[op].smooth);
  node->op = op;
  for (int i = 0; i < tree_ops[op].arity; i++) {
    const int child = grow(w, depth - 1);
    w->node[at].child[i] = child;
  }
  return at;
}

static int binding_of(const tree *node)
{
  return node->op < 0 ? 9 : tree_ops[node->op].binding;
}

static void put(char *text, size_t size, const char *more)
{
  const size_t used = strlen(text);
  assert_true(used + strlen(more) < size);
  memcpy(text + used, more, strlen(more) + 1);
}

/* With the parentheses needed, and at random some that are not. */
static void print_tree(forest *w, int at, int least, char *text, size_t size)
{
  static const char *const var[N_VARS] = {"x", "y", "z", "t"};
  const tree *node = &w->node[at];
  const int binding = binding_of(node);
  const int wrap = binding < least || rig_below(&w->random, 8) == 0;
  char number[40];
  if (rig_below(&w->random, 5) == 0) put(text, size, " ");
  if (wrap) put(text, size, "(");
  if (node->op == -1) {
    snprintf(number, sizeof number, "%.17g", node->number);
    put(text, size, number);
  } else if (node->op == -2) {
    put(text, size, var[(int)node->number]);
  } else {
    const struct tree_op *op = &tree_ops[node->op];
    if (binding == 9) {
      put(text, size, op->name);
      for (int i = 0; i < op->arity; i++) {
        put(text, size, i ? "," : "(");
        print_tree(w, node->child[i], 0, text, size);
      }
      put(text, size, ")");
    } else if (op->arity == 1) {
      put(text, size, op->name);
      print_tree(w, node->child[0], binding, text, size);
    } else {
      const int compare = binding == 3, power = binding == 7;
      print_tree(w, node->child[0], compare || power ? binding + 1 : binding, text, size);
      put(text, size, op->name);
      print_tree(w, node->child[1], power ? 6 : binding + 1, text, size);
    }
  }
  if (wrap) put(text, size, ")");
}

/* a − b floor(a/b) with the sign of b, without rounding where a and b have the same sign. */
static double floored_mod(double a, double b)
{
  const double rest = fmod(a, b);
  return copysign(rest != 0 && signbit(rest) != signbit(b) ? rest + b : rest, b);
}

/* The value by C alone; *bad is set where a step on the way is not a finite number. */
static double tree_value(const forest *w, int at, const double *v, int *bad)
{
  const tree *node = &w->node[at];
  if (node->op == -1) return node->number;
  if (node->op == -2) return v[(int)node->number];
  const char *name = tree_ops[node->op].name;
  const double a = tree_value(w, node->child[0], v, bad);
  if (*bad) return a;
  if (strcmp(name, "if") == 0) return tree_value(w, node->child[a != 0 ? 1 : 2], v, bad);
  if (strcmp(name, "&&") == 0) return a != 0 ? tree_value(w, node->child[1], v, bad) != 0 : 0;
  if (strcmp(name, "||") == 0) return a != 0 ? 1 : tree_value(w, node->child[1], v, bad) != 0;
  const double b = tree_ops[node->op].arity > 1 ? tree_value(w, node->child[1], v, bad) : 0;
  if (*bad) return b;
  double y = NAN;
#define IS(text, value)                                                                                      \
  if (strcmp(name, text) == 0) y = (value)
  IS("+", a + b);
  IS("-", tree_ops[node->op].arity == 1 ? -a : a - b);
  IS("*", a * b);
  IS("/", a / b);
  IS("^", pow(a, b));
  IS("pow", pow(a, b));
  IS("!", a == 0);
  IS("<", a < b);
  IS(">=", a >= b);
  IS("==", a == b);
  IS("sin", sin(a));
  IS("cos", cos(a));
  IS("tanh", tanh(a));
  IS("atan", atan(a));
  IS("exp", exp(a));
  IS("log", log(a));
  IS("sqrt", sqrt(a));
  IS("abs", fabs(a));
  IS("min", b < a ? b : a);
  IS("max", b > a ? b : a);
  IS("hypot", hypot(a, b));
  IS("atan2", atan2(a, b));
  IS("step", a >= b);
  IS("mod", floored_mod(a, b));
#undef IS
  if (!isfinite(y)) *bad = 1;
  return y;
}

static void random_trees(void **state)
{
  fixture *f = *state;
  forest *w = calloc(1, sizeof *w);
  static char text[GA_EXPR_LENGTH];
  int faults = 0, values = 0;
  assert_non_null(w);
  w->random = rig_seed(0);
  for (int round = 0; round < 5000; round++) {
    double v[N_VARS], value = 0;
    int bad = 0;
    ga_fault fault;
    w->n = 0;
    text[0] = '\0';
    const int root = grow(w, 1 + round % 6);
    print_tree(w, root, 0, text, sizeof text);
    for (int i = 0; i < N_VARS; i++) v[i] = floor(rig_uniform(&w->random, -20, 20)) / 4;
    const double exact = tree_value(w, root, v, &bad);
    ga_expr *e = compile(f, text);
    const ga_status status = ga_expr_eval(e, v, &value, &fault);
    if ((status != GA_OK) != bad) fail_msg("%s: status %d", text, status);
    if (!bad) assert_near(value, exact, 0, text);
    if (bad) {
      assert_int_equal(status, GA_RETRY_NAN);
      assert_true(fault.kind == GA_FAULT_DOMAIN || fault.kind == GA_FAULT_OVERFLOW);
      assert_ptr_equal(fault.text, ga_expr_text(e));
      assert_true(fault.column >= 1 && fault.length >= 1);
      assert_true(fault.column - 1 + fault.length <= (int)strlen(text));
    }
    faults += bad;
    values += !bad;
    ga_expr_destroy(&e);
  }
  assert_true(values > 2500 && faults > 200); /* both were tried in earnest */
  free(w);
}

static void random_trees_differentiated(void **state)
{
  fixture *f = *state;
  forest *w = calloc(1, sizeof *w);
  static char text[GA_EXPR_LENGTH];
  assert_non_null(w);
  w->random = rig_seed(0);
  w->smooth = 1;
  for (int round = 0; round < 300; round++) {
    double v[N_VARS];
    w->n = 0;
    text[0] = '\0';
    const int root = grow(w, 4);
    print_tree(w, root, 0, text, sizeof text);
    for (int i = 0; i < N_VARS; i++) v[i] = rig_uniform(&w->random, -0.6, 0.6);
    ga_expr *e = compile(f, text);
    double H[N_VARS * N_VARS], g[N_VARS], size = 0;
    assert_int_equal(ga_expr_hessian(e, v, N_VARS, all_vars, NULL, g, H, NULL), GA_OK);
    for (int i = 0; i < N_VARS * N_VARS; i++) size = fmax(size, fabs(H[i]));
    if (size < 50) check_derivatives(e, v, 1e-6); /* differences are poor where it bends much */
    ga_expr_destroy(&e);
  }
  free(w);
}

/* ---- Faults ---- */

static void faults_with_position(void **state)
{
  static const struct {
    const char *text;
    ga_fault_kind kind;
    const char *operation;
    int column, length;
    const char *words;
  } rows[] = {
      {"1 + log(y)", GA_FAULT_DOMAIN, "log", 5, 6,
       "column 5, 'log(y)': log(-1) does not exist, the argument must be above 0"},
      {"log(0)", GA_FAULT_DOMAIN, "log", 1, 6, NULL},
      {"log10(0)", GA_FAULT_DOMAIN, "log10", 1, 8, NULL},
      {"log10(-x)", GA_FAULT_DOMAIN, "log10", 1, 9, NULL},
      {"x/(z-z)", GA_FAULT_DOMAIN, "/", 1, 7,
       "column 1, 'x/(z-z)': 2 / 0 does not exist, the divisor must not be 0"},
      {"1 + 2*3/0 - 4", GA_FAULT_DOMAIN, "/", 5, 5, NULL},
      {"0/0", GA_FAULT_DOMAIN, "/", 1, 3, NULL},
      {"mod(x,0)", GA_FAULT_DOMAIN, "mod", 1, 8, NULL},
      {"sqrt(y)", GA_FAULT_DOMAIN, "sqrt", 1, 7, NULL},
      {"asin(x)", GA_FAULT_DOMAIN, "asin", 1, 7, NULL},
      {"acos(-x)", GA_FAULT_DOMAIN, "acos", 1, 8, NULL},
      {"y^0.5", GA_FAULT_DOMAIN, "^", 1, 5, NULL},
      {"0^y", GA_FAULT_DOMAIN, "^", 1, 3, NULL},
      {"pow(y,1/3)", GA_FAULT_DOMAIN, "pow", 1, 10, NULL},
      {"step(x,1,0,1,2)", GA_FAULT_DOMAIN, "step", 1, 15, NULL},
      {"step5(x,1,0,1,2)", GA_FAULT_DOMAIN, "step5", 1, 16, NULL},
      {"exp(1000)", GA_FAULT_OVERFLOW, "exp", 1, 9, "column 1, 'exp(1000)': exp(1000) is too large"},
      {"1e200*1e200", GA_FAULT_OVERFLOW, "*", 1, 11, NULL},
      {"10^400", GA_FAULT_OVERFLOW, "^", 1, 6, NULL},
      {"x + t", GA_FAULT_INPUT, "variable", 5, 1, "column 5, 't': the variable is nan"},
      {"if(x>0, log(y), 1)", GA_FAULT_DOMAIN, "log", 9, 6, NULL},
      {"x && 1/0", GA_FAULT_DOMAIN, "/", 6, 3, NULL},
      {"2[µm] + log(y)", GA_FAULT_DOMAIN, "log", 9, 6, NULL},
  };
  const double v[N_VARS] = {2, -1, 3, NAN};
  fixture *f = *state;
  for (int i = 0; i < COUNT(rows); i++) {
    ga_expr *e = compile(f, rows[i].text);
    ga_fault fault, again;
    double value, g, H;
    const int wrt = X;
    char words[300];
    assert_int_equal(ga_expr_eval(e, v, &value, &fault), GA_RETRY_NAN);
    assert_int_equal(fault.kind, rows[i].kind);
    assert_string_equal(fault.operation, rows[i].operation);
    if (fault.column != rows[i].column || fault.length != rows[i].length) {
      fail_msg("%s: column %d, length %d", rows[i].text, fault.column, fault.length);
    }
    ga_fault_text(words, sizeof words, &fault);
    if (rows[i].words) assert_string_equal(words, rows[i].words);
    assert_int_equal(ga_expr_eval(e, v, &value, NULL), GA_RETRY_NAN);
    assert_int_equal(ga_expr_gradient(e, v, 1, &wrt, &value, &g, &again), GA_RETRY_NAN);
    assert_int_equal(again.kind, rows[i].kind);
    assert_int_equal(ga_expr_hessian(e, v, 1, &wrt, &value, &g, &H, &again), GA_RETRY_NAN);
    assert_int_equal(again.column, rows[i].column);
    ga_expr_destroy(&e);
  }
}

/* The value is there, a derivative is not: only a caller who asks for it gets an error. */
static void missing_derivatives(void **state)
{
  static const struct {
    const char *text;
    int first, second; /* exist */
  } rows[] = {{"sqrt(x)", 0, 0},        {"cbrt(x)", 0, 0},     {"x^1.5", 1, 0},      {"x^2.5", 1, 1},
              {"(x-1)^y", 1, 1},        {"(x-1)^(y+x)", 0, 0}, {"hypot(x,x)", 0, 0}, {"atan2(x,x)", 0, 0},
              {"asin(1-x)", 0, 0},      {"sqrt(0)*x", 1, 1},   {"sqrt(z)+x", 1, 1},  {"abs(x)", 1, 1},
              {"if(0,sqrt(x),x)", 1, 1}};
  const double v[N_VARS] = {0, 2, 0, 0};
  const int wrt = X;
  fixture *f = *state;
  for (int i = 0; i < COUNT(rows); i++) {
    ga_expr *e = compile(f, rows[i].text);
    ga_fault fault;
    double value, g, H;
    assert_int_equal(ga_expr_eval(e, v, &value, &fault), GA_OK);
    assert_int_equal(fault.kind, GA_FAULT_NONE);
    if ((ga_expr_gradient(e, v, 1, &wrt, &value, &g, &fault) == GA_OK) != rows[i].first)
      fail_msg("%s", rows[i].text);
    if (!rows[i].first) assert_int_equal(fault.kind, GA_FAULT_DERIVATIVE);
    if ((ga_expr_hessian(e, v, 1, &wrt, &value, &g, &H, &fault) == GA_OK) != rows[i].second) {
      fail_msg("%s", rows[i].text);
    }
    if (!rows[i].second) assert_int_equal(fault.kind, GA_FAULT_DERIVATIVE);
    ga_expr_destroy(&e);
  }
  ga_expr *e = compile(f, "1 + x^x");
  ga_fault fault;
  double g;
  char words[200];
  assert_int_equal(ga_expr_gradient(e, v, 1, &wrt, NULL, &g, &fault), GA_RETRY_NAN);
  ga_fault_text(words, sizeof words, &fault);
  assert_string_equal(words, "column 5, 'x^x': 0 ^ 0 has no finite derivative");
  ga_fault_text(words, 10, &fault); /* cut, not overrun */
  assert_string_equal(words, "column 5,");
  ga_fault_text(words, 0, &fault);
  assert_string_equal(words, "column 5,");
  ga_expr_destroy(&e);
}

/* ---- Messages ---- */

static void messages(void **state)
{
  static const char operand[] = "a number, a name or '('", rest[] = "an operator or the end";
  static const struct {
    const char *text;
    int column, length;
    const char *found, *expected, *nearest, *problem;
  } rows[] = {
      {"", 1, 0, "", operand, "", "there is nothing to compute"},
      {"  \t ", 1, 0, "", operand, "", "there is nothing to compute"},
      {"omga + 1", 1, 4, "omga", "a known name", "omega", "'omga' is unknown"},
      {"1 + Omega", 5, 5, "Omega", "a known name", "omega", "'Omega' is unknown"},
      {"arm.lenght", 1, 10, "arm.lenght", "a known name", "arm.length", "'arm.lenght' is unknown"},
      {"zzz", 1, 3, "zzz", "a known name", "", "'zzz' is unknown"},
      {"PI", 1, 2, "PI", "a known name", "pi", "'PI' is unknown"},
      {"2*sni(x)", 3, 3, "sni", "a known function", "sin", "'sni' is unknown"},
      {"atn2(x,y)", 1, 4, "atn2", "a known function", "atan2", "'atn2' is unknown"},
      {"x(2)", 1, 1, "x", "a known function", "", "'x' is unknown"},
      {"sin", 4, 0, "", "'(' and arguments", "", "'sin' is a function"},
      {"sin x", 5, 0, "", "'(' and arguments", "", "'sin' is a function"},
      {"1 +", 4, 0, "", operand, "", "the text ends too early"},
      {"1 + ", 5, 0, "", operand, "", "the text ends too early"},
      {"-", 2, 0, "", operand, "", "the text ends too early"},
      {"*2", 1, 1, "*", operand, "", "'*' is out of place"},
      {"2**3", 3, 1, "*", operand, "^", "'*' is out of place"},
      {"2*x**3", 5, 1, "*", operand, "^", "'*' is out of place"},
      {"sin(30 deg)", 8, 3, "deg", "an operator, ',' or ')'", "[deg]", "'deg' is out of place"},
      {"x > 1 and x < 2", 7, 3, "and", rest, "&&", "'and' is out of place"},
      {"arctan(x)", 1, 6, "arctan", "a known function", "atan", "'arctan' is unknown"},
      {"2 3", 3, 1, "3", rest, "", "'3' is out of place"},
      {"2x", 2, 1, "x", rest, "", "'x' is out of place"},
      {"2e", 2, 1, "e", rest, "", "'e' is out of place"},
      {"0x1F", 2, 3, "x1F", rest, "", "'x1F' is out of place"},
      {"1.2.3", 4, 2, ".3", rest, "", "'.3' is out of place"},
      {"x y", 3, 1, "y", rest, "", "'y' is out of place"},
      {"(1+2", 5, 0, "", "')'", "", "the parenthesis opened in column 1 is never closed"},
      {"3*(1+(2)", 9, 0, "", "')'", "", "the parenthesis opened in column 3 is never closed"},
      {"sin(x", 6, 0, "", "')'", "", "the parenthesis opened in column 4 is never closed"},
      {"(1 2)", 4, 1, "2", "an operator or ')'", "", "'2' is out of place"},
      {"(1,2)", 3, 1, ",", "an operator or ')'", "", "',' is out of place"},
      {"min(1 2)", 7, 1, "2", "an operator, ',' or ')'", "", "'2' is out of place"},
      {"min(1,)", 7, 1, ")", operand, "", "')' is out of place"},
      {"1+2)", 4, 1, ")", rest, "", "')' is out of place"},
      {"()", 2, 1, ")", operand, "", "')' is out of place"},
      {"1,2", 2, 1, ",", rest, "", "',' is out of place"},
      {"sin()", 1, 5, "sin()", "1 argument", "", "'sin' is given 0 arguments"},
      {"2+sin(x,y)", 3, 8, "sin(x,y)", "1 argument", "", "'sin' is given 2 arguments"},
      {"atan2(x)", 1, 8, "atan2(x)", "2 arguments", "", "'atan2' is given 1 argument"},
      {"min(x)", 1, 6, "min(x)", "2 or more arguments", "", "'min' is given 1 argument"},
      {"max()", 1, 5, "max()", "2 or more arguments", "", "'max' is given 0 arguments"},
      {"step(x,1,2)", 1, 11, "step(x,1,2)", "2 or 5 arguments", "", "'step' is given 3 arguments"},
      {"if(x,1)", 1, 7, "if(x,1)", "3 arguments", "", "'if' is given 2 arguments"},
      {"if(x,1,2,3)", 1, 11, "if(x,1,2,3)", "3 arguments", "", "'if' is given 4 arguments"},
      {"if()", 1, 4, "if()", "3 arguments", "", "'if' is given 0 arguments"},
      {"x = 3", 3, 1, "=", rest, "==", "'=' has no meaning"},
      {"x & y", 3, 1, "&", rest, "&&", "'&' has no meaning"},
      {"x | y", 3, 1, "|", rest, "||", "'|' has no meaning"},
      {"x ? 1", 3, 1, "?", rest, "if(condition, then, else)", "'?' has no meaning"},
      {"x + µ", 5, 1, "µ", operand, "", "'µ' has no meaning"},
      {"1[µm] + $", 9, 1, "$", operand, "", "'$' has no meaning"},
      {"1 < x < 3", 7, 1, "<", "&& or ||, as in a < b && b < c", "", "comparisons do not chain"},
      {"x == y != z", 8, 2, "!=", "&& or ||, as in a < b && b < c", "", "comparisons do not chain"},
      {"1e999", 1, 5, "1e999", "", "", "the number is too large"},
      {"2 + 1e-999", 5, 6, "1e-999", "", "", "the number is too small, it would become 0"},
      {"5[kNn]", 3, 3, "kNn", "a known unit", "kN", "'kNn' is unknown"},
      {"5[kN", 5, 0, "", "']' after the unit", "", "the text ends too early"},
      {"5[kN 3]", 6, 1, "3", "']' after the unit", "", "'3' is out of place"},
      {"5[]", 3, 1, "]", "a unit", "", "this is not a unit"},
      {"1e308[km]", 1, 9, "1e308[km]", "", "", "the number is too large in SI units"},
      {"x[m]", 2, 1, "[", rest, "", "'[' is out of place"},
      {"_", 1, 1, "_", "a known name", "", "'_' is unknown"},
      {"x.", 2, 1, ".", rest, "", "'.' has no meaning"},
  };
  fixture *f = *state;
  for (int i = 0; i < COUNT(rows); i++) {
    ga_text_error error;
    ga_expr *e = (ga_expr *)f;
    char whole[GA_ERROR_TEXT], quoted[GA_TEXT_PIECE];
    const ga_status status = ga_expr_compile(f->ctx, rows[i].text, symbols, COUNT(symbols), &error, &e);
    if (status != GA_ERR_ARGUMENT) fail_msg("'%s' was taken", rows[i].text);
    assert_null(e);
    if (error.column != rows[i].column || error.length != rows[i].length) {
      fail_msg("%s: column %d, length %d", rows[i].text, error.column, error.length);
    }
    assert_string_equal(error.found, rows[i].found);
    assert_string_equal(error.expected, rows[i].expected);
    assert_string_equal(error.nearest, rows[i].nearest);
    assert_memory_equal(rows[i].text + error.offset, rows[i].found, strlen(rows[i].found));
    ga__copy_piece(quoted, sizeof quoted, rows[i].text, strlen(rows[i].text));
    const char *nearest = rows[i].nearest, *expected = rows[i].expected;
    snprintf(whole, sizeof whole, "expression '%s', column %d: %s%s%s%s%s%s", quoted, rows[i].column,
             rows[i].problem, *expected ? ", expected " : "", expected, *nearest ? "; did you mean '" : "",
             nearest, *nearest ? "'?" : "");
    assert_string_equal(ga_context_error(f->ctx)->text, whole);
    assert_int_equal(ga_expr_compile(f->ctx, rows[i].text, symbols, COUNT(symbols), NULL, &e),
                     GA_ERR_ARGUMENT);
  }
}

static void fill(char *text, const char *left, const char *middle, const char *right, int n)
{
  text[0] = '\0';
  for (int i = 0; i < n; i++) strcat(text, left);
  strcat(text, middle);
  for (int i = 0; i < n; i++) strcat(text, right);
}

static void limits(void **state)
{
  static const struct {
    const char *left, *middle, *right;
    int most; /* repetitions that are taken */
  } rows[] = {{"(", "1", ")", GA_EXPR_DEPTH - 1},       {"-", "1", "", GA_EXPR_DEPTH - 1},
              {"1+(", "1", ")", GA_EXPR_DEPTH - 1},     {"1^", "1", "", GA_EXPR_DEPTH - 1},
              {"min(1,", "1", ")", GA_EXPR_DEPTH - 1},  {"", "1", "+1", (GA_EXPR_LENGTH - 1) / 2},
              {"step(1,2,3,4,", "1", ")", 15},          {"", "1", "-1*2/3", (GA_EXPR_LENGTH - 1) / 6},
              {"if(1,1,", "1", ")", GA_EXPR_DEPTH - 1}, {"1<2&&(", "1", ")", GA_EXPR_DEPTH - 1}};
  static char text[2 * GA_EXPR_LENGTH];
  fixture *f = *state;
  for (int i = 0; i < COUNT(rows); i++) {
    ga_text_error error;
    ga_expr *e;
    double value;
    fill(text, rows[i].left, rows[i].middle, rows[i].right, rows[i].most);
    e = compile(f, text);
    if (!strstr(text, "step")) assert_int_equal(ga_expr_eval(e, NULL, &value, NULL), GA_OK);
    ga_expr_destroy(&e);
    fill(text, rows[i].left, rows[i].middle, rows[i].right, rows[i].most + 1);
    assert_int_equal(ga_expr_compile(f->ctx, text, NULL, 0, &error, &e), GA_ERR_ARGUMENT);
    assert_true(error.column > 1);
    assert_non_null(strstr(ga_context_error(f->ctx)->text, "split the expression"));
  }
  memset(text, '1', 400); /* a number that is too long, and a long name in a message */
  text[400] = '\0';
  ga_expr *e;
  ga_text_error error;
  assert_int_equal(ga_expr_compile(f->ctx, text, NULL, 0, &error, &e), GA_ERR_ARGUMENT);
  assert_int_equal(error.length, 400);
  memset(text, 'a', 400);
  assert_int_equal(ga_expr_compile(f->ctx, text, NULL, 0, &error, &e), GA_ERR_ARGUMENT);
  assert_int_equal(strlen(error.found), GA_TEXT_PIECE - 1);
}

/* ---- Symbols ---- */

static void arguments_checked(void **state)
{
  static const struct {
    ga_symbol symbol;
    ga_reason reason;
    const char *part, *field;
  } rows[] = {
      {{NULL, GA_SYMBOL_VARIABLE, 0, 0, NULL, NULL, NULL}, GA_REASON_NULL_ARGUMENT, "0", "name"},
      {{"q", GA_SYMBOL_VARIABLE, -1, 0, NULL, NULL, NULL}, GA_REASON_OUT_OF_RANGE, "q", "index"},
      {{"q", GA_SYMBOL_PARAMETER, -1, 0, NULL, NULL, NULL}, GA_REASON_OUT_OF_RANGE, "q", "index"},
      {{"q", GA_SYMBOL_CONSTANT, 0, NAN, NULL, NULL, NULL}, GA_REASON_NOT_FINITE, "q", "value"},
      {{"q", GA_SYMBOL_PARAMETER, 0, INFINITY, NULL, NULL, NULL}, GA_REASON_NOT_FINITE, "q", "value"},
      {{"q", GA_SYMBOL_FUNCTION, 0, 0, NULL, NULL, NULL}, GA_REASON_NULL_ARGUMENT, "q", "function"},
      {{"q", GA_SYMBOL_TABLE2D, 0, 0, NULL, NULL, NULL}, GA_REASON_NULL_ARGUMENT, "q", "table2d"},
      {{"q", (ga_symbol_kind)17, 0, 0, NULL, NULL, NULL}, GA_REASON_NOT_A_CHOICE, "q", "kind"},
  };
  fixture *f = *state;
  ga_expr *e;
  ga_text_error error;
  for (int i = 0; i < COUNT(rows); i++) {
    assert_int_equal(ga_expr_compile(f->ctx, "1", &rows[i].symbol, 1, &error, &e), GA_ERR_ARGUMENT);
    assert_int_equal(error.column, 0);
    assert_error(f->ctx, rows[i].reason, rows[i].part, rows[i].field, NULL);
  }
  assert_int_equal(ga_expr_compile(f->ctx, NULL, NULL, 0, NULL, &e), GA_ERR_ARGUMENT);
  assert_call_error(f->ctx, GA_REASON_NULL_ARGUMENT, "ga_expr_compile", "text");
  assert_int_equal(ga_expr_compile(f->ctx, "1", NULL, 0, NULL, NULL), GA_ERR_ARGUMENT);
  assert_call_error(f->ctx, GA_REASON_NULL_ARGUMENT, "ga_expr_compile", "out");
  assert_int_equal(ga_expr_compile(f->ctx, "1", NULL, 2, NULL, &e), GA_ERR_ARGUMENT);
  assert_int_equal(ga_expr_compile(f->ctx, "1", symbols, -1, NULL, &e), GA_ERR_ARGUMENT);
  assert_int_equal(ga_expr_compile(NULL, "1", NULL, 0, NULL, &e), GA_ERR_ARGUMENT);
  ga_expr_destroy(NULL);
  ga_expr_destroy(&e);
}

static void names_and_slots(void **state)
{
  fixture *f = *state;
  const double v[N_VARS] = {1, 2, 3, 4};
  ga_expr *e = compile(f, "k*x + k*t + arm.length + omega*x");
  const int *list;
  assert_int_equal(ga_expr_variables(e, &list), 2);
  assert_int_equal(list[0], X);
  assert_int_equal(list[1], T);
  assert_int_equal(ga_expr_variables(e, NULL), 2);
  assert_true(ga_expr_uses(e, GA_SYMBOL_VARIABLE, T) && !ga_expr_uses(e, GA_SYMBOL_VARIABLE, Y));
  assert_true(ga_expr_uses(e, GA_SYMBOL_PARAMETER, 4) && !ga_expr_uses(e, GA_SYMBOL_PARAMETER, 1));
  assert_false(ga_expr_uses(e, GA_SYMBOL_CONSTANT, 0));
  assert_near(eval_at(e, v), 3 + 12 + 0.25 + 7.5, 0, "first values");
  assert_int_equal(ga_expr_set_parameter(e, 0, 10), GA_OK);
  assert_int_equal(ga_expr_set_parameter(e, 4, 1), GA_OK);
  assert_int_equal(ga_expr_set_parameter(e, 99, 1), GA_OK);
  assert_near(eval_at(e, v), 10 + 40 + 1 + 7.5, 0, "changed values");
  assert_int_equal(ga_expr_set_parameter(e, 0, NAN), GA_ERR_ARGUMENT);
  assert_near(eval_at(e, v), 10 + 40 + 1 + 7.5, 0, "unchanged by a wrong one");
  assert_string_equal(ga_expr_text(e), "k*x + k*t + arm.length + omega*x");
  ga_expr_destroy(&e);
  assert_null(e);

  const ga_symbol hiding[] = {{"e", GA_SYMBOL_VARIABLE, 0, 0, NULL, NULL, NULL},
                              {"sin", GA_SYMBOL_VARIABLE, 1, 0, NULL, NULL, NULL}};
  assert_int_equal(ga_expr_compile(f->ctx, "e + sin(sin)", hiding, 2, NULL, &e), GA_OK);
  assert_near(eval_at(e, v), 1 + sin(2), 0, "a symbol hides e, but no function");
  ga_expr_destroy(&e);

  const ga_symbol twice[] = {{"a", GA_SYMBOL_VARIABLE, 0, 0, NULL, NULL, NULL},
                             {"a", GA_SYMBOL_VARIABLE, 1, 0, NULL, NULL, NULL}};
  ga_text_error error;
  assert_int_equal(ga_expr_compile(f->ctx, "1+a", twice, 2, &error, &e), GA_ERR_ARGUMENT);
  assert_int_equal(error.column, 3);
  assert_non_null(strstr(ga_context_error(f->ctx)->text, "'a' is defined twice"));
  assert_int_equal(ga_expr_compile(f->ctx, "1", twice, 2, &error, &e), GA_OK); /* nobody asks which */
  ga_expr_destroy(&e);
}

/* A value and a function of one name are distinguished by parentheses, whichever comes first; two functions
 * are not. */
static void value_and_function_of_one_name(void **state)
{
  fixture *f = *state;
  const double v[N_VARS] = {3};
  ga_function *square = NULL;
  ga_function_expr_opts o = ga_function_expr_defaults();
  o.text = "t^2";
  assert_int_equal(ga_function_create_expr(f->ctx, &o, NULL, &square), GA_OK);
  const ga_symbol value = {.name = "a", .kind = GA_SYMBOL_VARIABLE},
                  call = {.name = "a", .kind = GA_SYMBOL_FUNCTION, .function = square};
  const ga_symbol lists[][2] = {{value, call}, {call, value}, {call, call}};
  ga_text_error error;
  ga_expr *e = NULL;
  for (int i = 0; i < 2; i++) {
    assert_int_equal(ga_expr_compile(f->ctx, "a + a(a + 1)", lists[i], 2, &error, &e), GA_OK);
    assert_near(eval_at(e, v), 3 + 16, 0, "a + a(a + 1)");
    ga_expr_destroy(&e);
  }
  assert_int_equal(ga_expr_compile(f->ctx, "1 + a(2)", lists[2], 2, &error, &e), GA_ERR_ARGUMENT);
  assert_non_null(strstr(ga_context_error(f->ctx)->text, "'a' is defined twice"));
  assert_int_equal(ga_expr_compile(f->ctx, "1 + a", &call, 1, &error, &e), GA_ERR_ARGUMENT);
  assert_non_null(strstr(ga_context_error(f->ctx)->text, "'a' is a function"));
  ga_function_destroy(&square);
}

/* ---- Garbage ---- */

/* Whatever the bytes are, compiling ends in an expression or a message with a position inside the text. */
static void try_garbage(fixture *f, const char *text)
{
  const double v[N_VARS] = {0.5, -2, 3, 1e6};
  ga_expr *e = NULL;
  ga_text_error error;
  ga_fault fault;
  double value, g[N_VARS], H[N_VARS * N_VARS];
  char words[64];
  if (ga_expr_compile(f->ctx, text, symbols, COUNT(symbols), &error, &e)) {
    assert_null(e);
    assert_true(error.column >= 1 && error.offset >= 0 && error.length >= 0);
    assert_true(error.offset <= (int)strlen(text));
    assert_true(strlen(error.found) < GA_TEXT_PIECE);
  } else {
    const ga_status status = ga_expr_eval(e, v, &value, &fault);
    if (status == GA_OK) assert_true(isfinite(value));
    ga_fault_text(words, sizeof words, &fault);
    if (ga_expr_hessian(e, v, N_VARS, all_vars, &value, g, H, &fault) == GA_OK) {
      for (int i = 0; i < N_VARS * N_VARS; i++) assert_true(isfinite(H[i]));
    }
    ga_expr_destroy(&e);
  }
  double quantity;
  ga_dimension dimension;
  if (ga_quantity_parse(f->ctx, text, NULL, &quantity, &dimension, &error) == GA_OK) {
    char unit[40];
    ga_dimension_text(unit, sizeof unit, &dimension);
    assert_true(isfinite(quantity));
  } else {
    assert_true(error.column >= 1 && error.offset <= (int)strlen(text));
  }
}

static void garbage(void **state)
{
  static const char *const pieces[] = {
      "x",  "y",  "1",  "2.5", "(",  ")",    ",",        "+",    "-",     "*",    "/", "^", "<",
      ">=", "==", "&&", "||",  "!",  "sin(", "if(",      "min(", "step(", "log(", "[", "]", "deg",
      "kN", " ",  "1e", ".",   "pi", "k",    "\xC2\xB5", "\xFF", "1e308", "0",    "°"};
  fixture *f = *state;
  rig_random random = rig_seed(0);
  for (int round = 0; round < 20000; round++) {
    char text[200] = "";
    if (round % 2) {
      const int n = rig_below(&random, 40);
      for (int i = 0; i < n; i++) text[i] = (char)(1 + rig_below(&random, round % 4 == 1 ? 255 : 126));
      text[n] = '\0';
    } else {
      const int n = 1 + rig_below(&random, 14);
      for (int i = 0; i < n; i++) strcat(text, pieces[rig_below(&random, COUNT(pieces))]);
    }
    try_garbage(f, text);
  }
  /* One byte of a good text changed, left out or doubled. */
  static const char good[] =
      "2*k*(x-1)^2 + if(x>0 && !y, sin(omega*t), min(x, y, 30[deg]/t)) - step(t,0,0,1,5)";
  for (int round = 0; round < 5000; round++) {
    char text[2 * sizeof good];
    memcpy(text, good, sizeof good);
    const size_t at = (size_t)rig_below(&random, (int)sizeof good - 1);
    const int how = rig_below(&random, 3);
    if (how == 0) text[at] = (char)(1 + rig_below(&random, 255));
    if (how == 1) memmove(text + at, text + at + 1, sizeof good - at - 1);
    if (how == 2) memmove(text + at + 1, text + at, sizeof good - at);
    try_garbage(f, text);
  }
}

/* ---- Memory ---- */

static ga_status make_expr(ga_context *ctx)
{
  ga_expr *e;
  ga_status status = ga_expr_compile(ctx, "sin(x) + k*y^2", symbols, COUNT(symbols), NULL, &e);
  ga_expr_destroy(&e);
  return status;
}

static void memory_fails(void **state)
{
  fail_each_allocation(*state, make_expr);
}

static void evaluation_takes_no_memory(void **state)
{
  fixture *f = *state;
  ga_expr *e = compile(f, "if(x>0, log(y), z^t) + step5(x,0,y,2,z) + sin(k*t)/y");
  double v[N_VARS] = {1, 2, 3, 4}, out[3], g[N_VARS], H[N_VARS * N_VARS];
  const long before = f->count;
  for (int i = 0; i < 2; i++) {
    ga_fault fault;
    const ga_status expected = i == 0 ? GA_OK : GA_RETRY_NAN;
    assert_int_equal(ga_expr_eval(e, v, out, &fault), expected);
    assert_int_equal(ga_expr_gradient(e, v, N_VARS, all_vars, out, g, &fault), expected);
    assert_int_equal(ga_expr_hessian(e, v, N_VARS, all_vars, out, g, H, &fault), expected);
    assert_int_equal(ga_expr_curve(e, v, v, v, 2, out, &fault), expected);
    v[Y] = -1;
  }
  assert_int_equal(ga_expr_curve(e, v, v, v, 3, out, NULL), GA_ERR_ARGUMENT);
  assert_int_equal(f->count, before);
  assert_int_equal(ga_context_error(f->ctx)->status, GA_OK); /* nor does it touch the context */
  ga_expr_destroy(&e);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      CASE(arithmetic_as_in_c),
      CASE(conditions_as_in_c),
      CASE(functions_as_in_c),
      CASE(formulas_as_in_c),
      CASE(values_of_our_own),
      CASE(numbers_in_every_locale),
      CASE(derivatives_by_differences),
      CASE(derivatives_by_identities),
      CASE(many_directions),
      CASE(random_trees),
      CASE(random_trees_differentiated),
      CASE(faults_with_position),
      CASE(missing_derivatives),
      CASE(messages),
      CASE(limits),
      CASE(arguments_checked),
      CASE(names_and_slots),
      CASE(value_and_function_of_one_name),
      CASE(garbage),
      CASE(memory_fails),
      CASE(evaluation_takes_no_memory),
  };
  return cmocka_run_group_tests_name("expr", tests, NULL, NULL);
}
