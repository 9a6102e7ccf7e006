/* The table of operators and functions: each row with its value, first and second partial derivatives. */
#include "expr/range.h"
#include "expr/side.h"
#include "expr/slope.h"
#include <math.h>

#define RULE(name) static void name(ga__partials *p, const double *x, int derivatives)

/* A function of one argument: value, first and second derivative. */
#define UNARY(name, value, first, second)                                                                    \
  RULE(name)                                                                                                 \
  {                                                                                                          \
    const double u = x[0], f = (value);                                                                      \
    p->f = f;                                                                                                \
    if (!derivatives) return;                                                                                \
    p->d1[0] = (first);                                                                                      \
    p->d2[0] = (second);                                                                                     \
    (void)u;                                                                                                 \
  }

/* A function of two arguments that is piecewise constant or linear: value and first derivatives. */
#define FLAT(name, value, first_u, first_v)                                                                  \
  RULE(name)                                                                                                 \
  {                                                                                                          \
    const double u = x[0], v = x[1];                                                                         \
    p->f = (value);                                                                                          \
    if (!derivatives) return;                                                                                \
    p->d1[0] = (first_u);                                                                                    \
    p->d1[1] = (first_v);                                                                                    \
    (void)u, (void)v;                                                                                        \
  }

static double square(double u)
{
  return u * u;
}

UNARY(rule_same, u, 1, 0)
UNARY(rule_minus, -u, -1, 0)
UNARY(rule_not, u == 0, 0, 0)
UNARY(rule_truth, u != 0, 0, 0)
UNARY(rule_sin, sin(u), cos(u), -f)
UNARY(rule_cos, cos(u), -sin(u), -f)
UNARY(rule_tan, tan(u), 1 + f * f, 2 * f * (1 + f * f))
UNARY(rule_asin, asin(u), 1 / sqrt((1 - u) * (1 + u)), u / pow((1 - u) * (1 + u), 1.5))
UNARY(rule_acos, acos(u), -1 / sqrt((1 - u) * (1 + u)), -u / pow((1 - u) * (1 + u), 1.5))
UNARY(rule_atan, atan(u), 1 / (1 + u * u), -2 * u / square(1 + u * u))
UNARY(rule_sinh, sinh(u), cosh(u), f)
UNARY(rule_cosh, cosh(u), sinh(u), f)
UNARY(rule_tanh, tanh(u), square(1 / cosh(u)), -2 * f * square(1 / cosh(u)))
UNARY(rule_exp, exp(u), f, f)
UNARY(rule_log, log(u), 1 / u, -1 / (u * u))
UNARY(rule_log10, log10(u), 1 / (u * log(10.0)), -1 / (u * u * log(10.0)))
UNARY(rule_sqrt, sqrt(u), 0.5 / f, -0.25 / (u * f))
UNARY(rule_cbrt, cbrt(u), 1 / (3 * f * f), -2 / (9 * f * f * u))
UNARY(rule_abs, fabs(u), (u > 0) - (u < 0), 0)
UNARY(rule_sign, (u > 0) - (u < 0), 0, 0)
UNARY(rule_floor, floor(u), 0, 0)
UNARY(rule_ceil, ceil(u), 0, 0)

FLAT(rule_add, u + v, 1, 1)
FLAT(rule_subtract, u - v, 1, -1)
FLAT(rule_less, u < v, 0, 0)
FLAT(rule_less_equal, u <= v, 0, 0)
FLAT(rule_greater, u > v, 0, 0)
FLAT(rule_greater_equal, u >= v, 0, 0)
FLAT(rule_equal, u == v, 0, 0)
FLAT(rule_unequal, u != v, 0, 0)
FLAT(rule_min, v < u ? v : u, !(v < u), v < u)
FLAT(rule_max, v > u ? v : u, !(v > u), v > u)
FLAT(rule_jump, u >= v, 0, 0)

RULE(rule_multiply)
{
  p->f = x[0] * x[1];
  if (!derivatives) return;
  p->d1[0] = x[1];
  p->d1[1] = x[0];
  p->d2[ga__pair(1, 0)] = 1;
}

RULE(rule_divide)
{
  const double f = x[0] / x[1];
  p->f = f;
  if (!derivatives) return;
  p->d1[0] = 1 / x[1];
  p->d1[1] = -f / x[1];
  p->d2[ga__pair(1, 0)] = -1 / (x[1] * x[1]);
  p->d2[ga__pair(1, 1)] = 2 * f / (x[1] * x[1]);
}

/* a u^b; 0 if a is 0 even if u^b is infinite, as in derivatives of x^1 at 0. */
static double scaled_power(double a, double u, double b)
{
  return a == 0 ? 0 : a * pow(u, b);
}

/* u^v: with l = log u, f_u = v u^(v-1), f_v = l u^v, f_uv = (1 + v l) u^(v-1). For u < 0 only integers v are
 * allowed, so that there is no derivative with respect to v (NaN; harmless where v does not vary). At u = 0
 * the limits from u > 0 are taken. */
RULE(rule_power)
{
  const double u = x[0], v = x[1], f = pow(u, v);
  p->f = f;
  if (!derivatives) return;
  p->d1[0] = scaled_power(v, u, v - 1);
  p->d2[ga__pair(0, 0)] = scaled_power(v * (v - 1), u, v - 2);
  if (u > 0) {
    const double l = log(u);
    p->d1[1] = f * l;
    p->d2[ga__pair(1, 0)] = pow(u, v - 1) * (1 + v * l);
    p->d2[ga__pair(1, 1)] = f * l * l;
  } else {
    p->d1[1] = p->d2[ga__pair(1, 1)] = u == 0 && v > 0 ? 0 : NAN;
    p->d2[ga__pair(1, 0)] = u == 0 && v > 1 ? 0 : NAN;
  }
}

/* u - v floor(u/v), by fmod(), which is exact; a zero has the sign of v, like other results. */
RULE(rule_mod)
{
  const double u = x[0], v = x[1];
  double f = fmod(u, v);
  if (f != 0 && (f < 0) != (v < 0)) f += v;
  p->f = f == 0 ? copysign(f, v) : f;
  if (!derivatives) return;
  p->d1[0] = 1;
  p->d1[1] = -floor(u / v);
}

/* r = hypot(u,v): r_u = u/r, r_uu = v²/r³, r_uv = -uv/r³. */
RULE(rule_hypot)
{
  const double r = hypot(x[0], x[1]), u = x[0] / r, v = x[1] / r;
  p->f = r;
  if (!derivatives) return;
  p->d1[0] = u;
  p->d1[1] = v;
  p->d2[ga__pair(0, 0)] = v * v / r;
  p->d2[ga__pair(1, 0)] = -u * v / r;
  p->d2[ga__pair(1, 1)] = u * u / r;
}

/* atan2(y,x): with r² = x²+y², f_y = x/r², f_x = -y/r², f_yy = -2xy/r⁴ = -f_xx, f_xy = (y²-x²)/r⁴. */
RULE(rule_atan2)
{
  p->f = atan2(x[0], x[1]);
  if (!derivatives) return;
  const double r = hypot(x[0], x[1]), s = x[0] / r, c = x[1] / r;
  p->d1[0] = c / r;
  p->d1[1] = -s / r;
  p->d2[ga__pair(0, 0)] = -2 * s * c / r / r;
  p->d2[ga__pair(1, 0)] = (s - c) * (s + c) / r / r;
  p->d2[ga__pair(1, 1)] = 2 * s * c / r / r;
}

/* f = y0 + (y1-y0) S(s), s = (x-x0)/(x1-x0) within [0,1], for arguments (x, x0, y0, x1, y1) and a polynomial
 * S with S(0) = 0, S(1) = 1, given as {S, S', S''}. */
static void smooth_step(ga__partials *p, const double *x, int derivatives, const double S[3], double s)
{
  enum { X, X0, Y0, X1, Y1 };
  const double w = x[X1] - x[X0], rise = x[Y1] - x[Y0];
  const int inner[3] = {X, X0, X1};
  const double s1[3] = {1 / w, (s - 1) / w, -s / w};
  const double s2[3][3] = {{0, 0, 0}, {1, 2 * (s - 1), 0}, {-1, 1 - 2 * s, 2 * s}}; /* times w^-2, i >= j */
  p->f = S[0] == 1 ? x[Y1] : x[Y0] + rise * S[0];
  if (!derivatives) return;
  p->d1[Y0] = 1 - S[0];
  p->d1[Y1] = S[0];
  for (int i = 0; i < 3; i++) {
    p->d1[inner[i]] = rise * S[1] * s1[i];
    for (int j = 0; j <= i; j++) {
      p->d2[ga__pair(inner[i], inner[j])] = rise * (S[2] * s1[i] * s1[j] + S[1] * s2[i][j] / (w * w));
    }
    p->d2[inner[i] > Y0 ? ga__pair(inner[i], Y0) : ga__pair(Y0, inner[i])] = -S[1] * s1[i];
    p->d2[ga__pair(Y1, inner[i])] = S[1] * s1[i];
  }
}

static double step_place(const double *x)
{
  return fmin(fmax((x[0] - x[1]) / (x[3] - x[1]), 0), 1);
}

/* S'' is 0 outside [0, 1], where s is clamped. */
RULE(rule_step3)
{
  const double s = step_place(x), inside = s > 0 && s < 1;
  const double S[3] = {s * s * (3 - 2 * s), 6 * s * (1 - s), inside * (6 - 12 * s)};
  smooth_step(p, x, derivatives, S, s);
}

RULE(rule_step5)
{
  const double s = step_place(x);
  const double S[3] = {s * s * s * (10 + s * (6 * s - 15)), 30 * s * s * (1 - s) * (1 - s),
                       60 * s * (1 - s) * (1 - 2 * s)};
  smooth_step(p, x, derivatives, S, s);
}

static int within_one(const double *x)
{
  return x[0] >= -1 && x[0] <= 1;
}
static int positive(const double *x)
{
  return x[0] > 0;
}
static int not_negative(const double *x)
{
  return x[0] >= 0;
}
static int second_not_zero(const double *x)
{
  return x[1] != 0;
}
static int power_defined(const double *x)
{
  return x[0] > 0 || (x[0] == 0 && x[1] >= 0) || (x[0] < 0 && x[1] == floor(x[1]));
}
static int ends_apart(const double *x)
{
  return x[1] != x[3];
}

#define NEEDS_POWER power_defined, "0 to a negative power and roots of negative numbers do not exist"
#define NEEDS_DIVISOR second_not_zero, "the divisor must not be 0"
#define NEEDS_ENDS ends_apart, "x0 and x1 must differ"

/* name, arity, binding, folds, rule, defined, needs, range, kink, side, slopes */
const ga__op ga__ops[] = {
    {"||", 2, GA__BIND_OR, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL},
    {"&&", 2, GA__BIND_AND, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL},
    {"<", 2, GA__BIND_COMPARE, 0, rule_less, NULL, NULL, ga__range_compare, ga__kink_equal, ga__side_less,
     NULL},
    {"<=", 2, GA__BIND_COMPARE, 0, rule_less_equal, NULL, NULL, ga__range_compare, ga__kink_equal,
     ga__side_less_equal, NULL},
    {">", 2, GA__BIND_COMPARE, 0, rule_greater, NULL, NULL, ga__range_compare, ga__kink_equal,
     ga__side_less_equal, NULL},
    {">=", 2, GA__BIND_COMPARE, 0, rule_greater_equal, NULL, NULL, ga__range_compare, ga__kink_equal,
     ga__side_less, NULL},
    {"==", 2, GA__BIND_COMPARE, 0, rule_equal, NULL, NULL, ga__range_equal, ga__kink_equal, ga__side_equal,
     NULL},
    {"!=", 2, GA__BIND_COMPARE, 0, rule_unequal, NULL, NULL, ga__range_equal, ga__kink_equal, ga__side_equal,
     NULL},
    {"+", 2, GA__BIND_SUM, 0, rule_add, NULL, NULL, ga__range_sum, NULL, NULL, ga__slopes_sum},
    {"-", 2, GA__BIND_SUM, 0, rule_subtract, NULL, NULL, ga__range_difference, NULL, NULL,
     ga__slopes_difference},
    {"*", 2, GA__BIND_PRODUCT, 0, rule_multiply, NULL, NULL, ga__range_product, NULL, NULL,
     ga__slopes_product},
    {"/", 2, GA__BIND_PRODUCT, 0, rule_divide, NEEDS_DIVISOR, ga__range_quotient, ga__kink_divisor, NULL,
     ga__slopes_quotient},
    {"+", 1, GA__BIND_PREFIX, 0, rule_same, NULL, NULL, ga__range_exact, NULL, NULL, ga__slopes_corners},
    {"-", 1, GA__BIND_PREFIX, 0, rule_minus, NULL, NULL, ga__range_exact, NULL, NULL, ga__slopes_corners},
    {"!", 1, GA__BIND_PREFIX, 0, rule_not, NULL, NULL, ga__range_truth, ga__kink_zero, ga__side_zero, NULL},
    {"^", 2, GA__BIND_POWER, 0, rule_power, NEEDS_POWER, ga__range_power, ga__kink_power, NULL,
     ga__slopes_power},
    {"if", 3, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL},
    {"sin", 1, 0, 0, rule_sin, NULL, NULL, ga__range_sin, NULL, NULL, ga__slopes_sin},
    {"cos", 1, 0, 0, rule_cos, NULL, NULL, ga__range_cos, NULL, NULL, ga__slopes_cos},
    {"tan", 1, 0, 0, rule_tan, NULL, NULL, ga__range_tan, ga__kink_pole, NULL, ga__slopes_tan},
    {"asin", 1, 0, 0, rule_asin, within_one, "the argument must be within -1 and 1", ga__range_unit,
     ga__kink_unit, NULL, ga__slopes_even},
    {"acos", 1, 0, 0, rule_acos, within_one, "the argument must be within -1 and 1", ga__range_unit,
     ga__kink_unit, NULL, ga__slopes_even},
    {"atan", 1, 0, 0, rule_atan, NULL, NULL, ga__range_monotone, NULL, NULL, ga__slopes_even},
    {"atan2", 2, 0, 0, rule_atan2, NULL, NULL, ga__range_atan2, ga__kink_cut, ga__side_cut, ga__slopes_atan2},
    {"sinh", 1, 0, 0, rule_sinh, NULL, NULL, ga__range_monotone, NULL, NULL, ga__slopes_even},
    {"cosh", 1, 0, 0, rule_cosh, NULL, NULL, ga__range_even, NULL, NULL, ga__slopes_corners},
    {"tanh", 1, 0, 0, rule_tanh, NULL, NULL, ga__range_monotone, NULL, NULL, ga__slopes_tanh},
    {"exp", 1, 0, 0, rule_exp, NULL, NULL, ga__range_monotone, NULL, NULL, ga__slopes_exp},
    {"log", 1, 0, 0, rule_log, positive, "the argument must be above 0", ga__range_log, NULL, NULL,
     ga__slopes_corners},
    {"log10", 1, 0, 0, rule_log10, positive, "the argument must be above 0", ga__range_log, NULL, NULL,
     ga__slopes_corners},
    {"sqrt", 1, 0, 0, rule_sqrt, not_negative, "the argument must not be negative", ga__range_sqrt,
     ga__kink_zero, NULL, ga__slopes_sqrt},
    {"cbrt", 1, 0, 0, rule_cbrt, NULL, NULL, ga__range_monotone, ga__kink_zero, NULL, ga__slopes_even},
    {"abs", 1, 0, 0, rule_abs, NULL, NULL, ga__range_even, ga__kink_zero, ga__side_sign, ga__slopes_corners},
    {"sign", 1, 0, 0, rule_sign, NULL, NULL, ga__range_exact, ga__kink_zero, ga__side_sign, NULL},
    {"floor", 1, 0, 0, rule_floor, NULL, NULL, ga__range_exact, ga__kink_floor, ga__side_floor, NULL},
    {"ceil", 1, 0, 0, rule_ceil, NULL, NULL, ga__range_exact, ga__kink_ceil, ga__side_ceil, NULL},
    {"min", 2, 0, 1, rule_min, NULL, NULL, ga__range_corners, ga__kink_equal, ga__side_less,
     ga__slopes_corners},
    {"max", 2, 0, 1, rule_max, NULL, NULL, ga__range_corners, ga__kink_equal, ga__side_less,
     ga__slopes_corners},
    {"pow", 2, 0, 0, rule_power, NEEDS_POWER, ga__range_power, ga__kink_power, NULL, ga__slopes_power},
    {"mod", 2, 0, 0, rule_mod, NEEDS_DIVISOR, ga__range_mod, ga__kink_mod, ga__side_mod, ga__slopes_mod},
    {"hypot", 2, 0, 0, rule_hypot, NULL, NULL, ga__range_hypot, ga__kink_origin, NULL, ga__slopes_hypot},
    {"step", 2, 0, 0, rule_jump, NULL, NULL, ga__range_compare, ga__kink_equal, ga__side_less, NULL},
    {"step", 5, 0, 0, rule_step3, NEEDS_ENDS, ga__range_step, ga__kink_ends, NULL, ga__slopes_step},
    {"step5", 5, 0, 0, rule_step5, NEEDS_ENDS, ga__range_step, ga__kink_ends, NULL, ga__slopes_step},
};
const int ga__n_ops = (int)(sizeof ga__ops / sizeof ga__ops[0]);

const ga__op ga__op_truth = {
    "&&", 1, GA__BIND_AND, 0, rule_truth, NULL, NULL, ga__range_truth, ga__kink_zero, ga__side_zero, NULL};
