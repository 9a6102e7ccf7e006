/* Ranges: what values an operation takes while its operands vary, and whether it may have a kink or a jump
 * there. Both columns of the table of operations (ops.c); the search for breaks (breaks.c) rests on them.
 *
 * A range must contain every value. It need not be the smallest that does, but has to shrink to a point with
 * its operands, or the search would not end. */
#include "expr/expr_impl.h"
#include <float.h>
#include <math.h>

static const ga__range WHOLE = {-INFINITY, INFINITY};

static int is_point(const ga__range *r)
{
  return r->lo == r->hi;
}

static int contains(const ga__range *r, double x)
{
  return r->lo <= x && x <= r->hi;
}

/* The hull of two values that rounding may have moved; NaN stands for anything. */
static ga__range hull(double a, double b)
{
  if (isnan(a) || isnan(b)) return WHOLE;
  const double lo = fmin(a, b), hi = fmax(a, b);
  if (lo == hi) return (ga__range){lo, hi};
  return (ga__range){lo - 4 * DBL_EPSILON * fabs(lo), hi + 4 * DBL_EPSILON * fabs(hi)};
}

static ga__range join(ga__range a, ga__range b)
{
  return (ga__range){fmin(a.lo, b.lo), fmax(a.hi, b.hi)};
}

ga__range ga__range_join(ga__range a, ga__range b)
{
  return join(a, b);
}

/* The operation at numbers; NaN where it is not defined. */
static double at(const ga__op *op, const double *x)
{
  ga__partials p;
  if (op->defined && !op->defined(x)) return NAN;
  op->rule(&p, x, 0);
  return p.f;
}

/* ---- Ranges ---- */

/* A function of one that rises, or falls, wherever it is defined. */
ga__range ga__range_monotone(const ga__op *op, const ga__range *x)
{
  return hull(at(op, &x->lo), at(op, &x->hi));
}

/* A function that is monotone in each of its operands, at the corners of the box of the first two. */
static ga__range corners(const ga__op *op, const ga__range *x)
{
  ga__range out = {INFINITY, -INFINITY};
  for (int i = 0; i < 4; i++) {
    const double point[2] = {i & 1 ? x[0].hi : x[0].lo, i & 2 ? x[1].hi : x[1].lo};
    const double f = at(op, point);
    if (isnan(f)) return WHOLE;
    out = join(out, (ga__range){f, f});
  }
  return hull(out.lo, out.hi);
}

ga__range ga__range_corners(const ga__op *op, const ga__range *x)
{
  return corners(op, x);
}

ga__range ga__range_product(const ga__op *op, const ga__range *x)
{
  for (int i = 0; i < 2; i++) /* 0 times what is unbounded is 0 */
    if (x[i].lo == 0 && x[i].hi == 0) return x[i];
  return corners(op, x);
}

ga__range ga__range_quotient(const ga__op *op, const ga__range *x)
{
  return contains(&x[1], 0) ? WHOLE : corners(op, x);
}

/* 1 or 0, by two numbers whose order decides. */
ga__range ga__range_compare(const ga__op *op, const ga__range *x)
{
  const double far[2] = {x[0].lo, x[1].hi}, near[2] = {x[0].hi, x[1].lo};
  const double a = at(op, far), b = at(op, near);
  return (ga__range){fmin(a, b), fmax(a, b)};
}

ga__range ga__range_equal(const ga__op *op, const ga__range *x)
{
  const double point[2] = {x[0].lo, x[1].lo};
  const int apart = x[0].hi < x[1].lo || x[1].hi < x[0].lo, points = is_point(&x[0]) && is_point(&x[1]);
  const double f = at(op, point);
  return apart || points ? (ga__range){f, f} : (ga__range){0, 1};
}

/* Is it 0? By an operand that is a number or none. */
ga__range ga__range_truth(const ga__op *op, const ga__range *x)
{
  const double f = at(op, &x->lo);
  return is_point(x) || !contains(x, 0) ? (ga__range){f, f} : (ga__range){0, 1};
}

/* Is there an integer k with first + k period in x? */
static int meets(const ga__range *x, double first, double period)
{
  if (!isfinite(x->lo) || !isfinite(x->hi)) return 1;
  const double slack = 8 * DBL_EPSILON * fmax(fabs(x->lo), fabs(x->hi));
  return ceil((x->lo - slack - first) / period) <= floor((x->hi + slack - first) / period);
}

static ga__range wave_range(const ga__op *op, const ga__range *x, double top)
{
  ga__range out = ga__range_monotone(op, x);
  if (!isfinite(x->lo) || !isfinite(x->hi)) return (ga__range){-1, 1};
  if (is_point(x)) return out;
  if (meets(x, top, 2 * GA__PI)) out.hi = 1;
  if (meets(x, top + GA__PI, 2 * GA__PI)) out.lo = -1;
  return out;
}

ga__range ga__range_sin(const ga__op *op, const ga__range *x)
{
  return wave_range(op, x, 0.5 * GA__PI);
}

ga__range ga__range_cos(const ga__op *op, const ga__range *x)
{
  return wave_range(op, x, 0);
}

ga__range ga__range_tan(const ga__op *op, const ga__range *x)
{
  return meets(x, 0.5 * GA__PI, GA__PI) ? WHOLE : ga__range_monotone(op, x);
}

/* A function that falls up to 0 and rises from there. */
ga__range ga__range_even(const ga__op *op, const ga__range *x)
{
  const double zero = 0;
  ga__range out = ga__range_monotone(op, x);
  if (contains(x, 0)) out.lo = at(op, &zero);
  return out;
}

ga__range ga__range_power(const ga__op *op, const ga__range *x)
{
  const int whole = is_point(&x[1]) && x[1].lo == floor(x[1].lo);
  if (x[0].lo > 0 || (whole && (!contains(&x[0], 0) || x[1].lo >= 0))) {
    ga__range out = corners(op, x);
    if (whole && contains(&x[0], 0) && out.lo > 0) out.lo = 0;
    return out;
  }
  return x[0].lo >= 0 && x[1].lo >= 0 ? corners(op, x) : WHOLE;
}

ga__range ga__range_mod(const ga__op *op, const ga__range *x)
{
  if (!is_point(&x[1]) || x[1].lo == 0) return WHOLE;
  const double v = x[1].lo;
  if (ga__kink_mod(x)) return hull(0, v);
  const double low[2] = {x[0].lo, v}, high[2] = {x[0].hi, v};
  return hull(at(op, low), at(op, high));
}

ga__range ga__range_hypot(const ga__op *op, const ga__range *x)
{
  ga__range side[2];
  for (int i = 0; i < 2; i++) {
    const double a = fabs(x[i].lo), b = fabs(x[i].hi);
    side[i] = (ga__range){contains(&x[i], 0) ? 0 : fmin(a, b), fmax(a, b)};
  }
  return corners(op, side);
}

ga__range ga__range_atan2(const ga__op *op, const ga__range *x)
{
  const int around = contains(&x[0], 0) && x[1].lo <= 0;
  return around ? (ga__range){-GA__PI, GA__PI} : corners(op, x);
}

/* step(x, x0, y0, x1, y1): between y0 and y1; with ends that do not vary, monotone in x. */
ga__range ga__range_step(const ga__op *op, const ga__range *x)
{
  double low[GA__MAX_ARGS], high[GA__MAX_ARGS];
  int fixed = 1;
  for (int i = 0; i < GA__MAX_ARGS; i++) {
    low[i] = x[i].lo, high[i] = x[i].hi;
    fixed &= i == 0 || is_point(&x[i]);
  }
  return fixed ? hull(at(op, low), at(op, high)) : join(x[2], x[4]);
}

/* ---- Kinks and jumps ---- */

/* Operands that cannot vary have none. */
static int vary(const ga__range *x, int n)
{
  for (int i = 0; i < n; i++)
    if (!is_point(&x[i])) return 1;
  return 0;
}

int ga__kink_zero(const ga__range *x)
{
  return contains(x, 0) && vary(x, 1);
}

int ga__kink_equal(const ga__range *x)
{
  return x[0].lo <= x[1].hi && x[1].lo <= x[0].hi && vary(x, 2);
}

int ga__kink_floor(const ga__range *x)
{
  return floor(x->lo) != floor(x->hi);
}

int ga__kink_ceil(const ga__range *x)
{
  return ceil(x->lo) != ceil(x->hi);
}

int ga__kink_mod(const ga__range *x)
{
  return vary(x, 2) && (!is_point(&x[1]) || floor(x[0].lo / x[1].lo) != floor(x[0].hi / x[1].lo));
}

int ga__kink_pole(const ga__range *x)
{
  return vary(x, 1) && meets(x, 0.5 * GA__PI, GA__PI);
}

int ga__kink_divisor(const ga__range *x)
{
  return contains(&x[1], 0) && vary(x + 1, 1);
}

/* At 0, unless the exponent is a whole number that is not negative. */
int ga__kink_power(const ga__range *x)
{
  const int whole = is_point(&x[1]) && x[1].lo == floor(x[1].lo) && x[1].lo >= 0;
  return !whole && contains(x, 0) && vary(x, 1);
}

int ga__kink_origin(const ga__range *x)
{
  return contains(&x[0], 0) && contains(&x[1], 0) && vary(x, 2);
}

int ga__kink_cut(const ga__range *x)
{
  return contains(&x[0], 0) && x[1].lo <= 0 && vary(x, 2);
}

int ga__kink_ends(const ga__range *x)
{
  const ga__range first[2] = {x[0], x[1]}, last[2] = {x[0], x[3]};
  return ga__kink_equal(first) || ga__kink_equal(last);
}
