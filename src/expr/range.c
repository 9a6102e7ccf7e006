/* Ranges: what values an operation takes while its operands vary, and whether it may have a kink or a jump
 * there. Both columns of the table of operations (ops.c); the search for breaks (breaks.c) rests on them.
 *
 * A range must contain every value. It need not be the smallest that does, but has to shrink to a point with
 * its operands, or the search would not end. */
#include "expr/range.h"
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

/* Whether one of n operands varies. */
static int vary(const ga__range *x, int n)
{
  for (int i = 0; i < n; i++)
    if (!is_point(&x[i])) return 1;
  return 0;
}

/* Interval that contains two rounded values; unbounded if one is NaN. */
static ga__range hull(double a, double b)
{
  if (isnan(a) || isnan(b)) return WHOLE;
  const double lo = a < b ? a : b, hi = a < b ? b : a;
  if (lo == hi) return (ga__range){lo, hi}; /* equal values at both ends: taken as constant in between */
  return (ga__range){lo - 4 * DBL_EPSILON * fabs(lo), hi + 4 * DBL_EPSILON * fabs(hi)};
}

static ga__range hull_of_four(double a, double b, double c, double d)
{
  if (isnan(a + b + c + d) && (isnan(a) || isnan(b) || isnan(c) || isnan(d))) return WHOLE;
  const double least = a < b ? a : b, most = a < b ? b : a, lesser = c < d ? c : d, more = c < d ? d : c;
  return hull(least < lesser ? least : lesser, most > more ? most : more);
}

static ga__range join(ga__range a, ga__range b)
{
  return (ga__range){fmin(a.lo, b.lo), fmax(a.hi, b.hi)};
}

ga__range ga__range_join(ga__range a, ga__range b)
{
  return join(a, b);
}

/* Value of the operation; NaN: undefined. */
static double at(const ga__op *op, const double *x)
{
  ga__partials p;
  if (op->defined && !op->defined(x)) return NAN;
  op->rule(&p, x, 0);
  return p.f;
}

/* ---- Ranges ---- */

/* A function of one operand that is monotone on its domain, up to rounding. */
ga__range ga__range_monotone(const ga__op *op, const ga__range *x)
{
  const double first = at(op, &x->lo);
  return hull(first, is_point(x) ? first : at(op, &x->hi));
}

/* The same without rounding: signs, whole numbers. */
ga__range ga__range_exact(const ga__op *op, const ga__range *x)
{
  const double a = at(op, &x->lo), b = at(op, &x->hi);
  return isnan(a) || isnan(b) ? WHOLE : (ga__range){fmin(a, b), fmax(a, b)};
}

/* Intersection of x with [lo, hi]; x itself if it is empty. */
static ga__range within(const ga__range *x, double lo, double hi)
{
  return x->hi < lo || x->lo > hi ? *x : (ga__range){fmax(x->lo, lo), fmin(x->hi, hi)};
}

/* asin, acos; sqrt, log: values outside of their domain do not exist. */
ga__range ga__range_unit(const ga__op *op, const ga__range *x)
{
  const ga__range inside = within(x, -1, 1);
  return ga__range_monotone(op, &inside);
}

ga__range ga__range_sqrt(const ga__op *op, const ga__range *x)
{
  const ga__range inside = within(x, 0, INFINITY);
  return ga__range_monotone(op, &inside);
}

ga__range ga__range_log(const ga__op *op, const ga__range *x)
{
  const double highest = at(op, &x->hi);
  if (x->lo > 0) return ga__range_monotone(op, x);
  return isnan(highest) ? WHOLE : (ga__range){-INFINITY, hull(highest, highest).hi};
}

/* A function that is monotone in each operand: hull of its values at the corners of the box of the first
 * two. */
static ga__range corners(const ga__op *op, const ga__range *x)
{
  ga__range out = {INFINITY, -INFINITY};
  const int same = is_point(&x[0]) | is_point(&x[1]) << 1; /* these corners coincide */
  for (int i = 0; i < 4; i++) {
    if (i & same) continue;
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

/* The same for the most frequent operations. */
ga__range ga__range_sum(const ga__op *op, const ga__range *x)
{
  (void)op;
  return hull(x[0].lo + x[1].lo, x[0].hi + x[1].hi);
}

ga__range ga__range_difference(const ga__op *op, const ga__range *x)
{
  (void)op;
  return hull(x[0].lo - x[1].hi, x[0].hi - x[1].lo);
}

ga__range ga__range_product(const ga__op *op, const ga__range *x)
{
  (void)op;
  for (int i = 0; i < 2; i++) /* 0 times an unbounded factor is 0 */
    if (x[i].lo == 0 && x[i].hi == 0) return (ga__range){-0.0, 0.0};
  const double a = x[0].lo * x[1].lo, b = x[0].lo * x[1].hi, c = x[0].hi * x[1].lo, d = x[0].hi * x[1].hi;
  return hull_of_four(a, b, c, d);
}

ga__range ga__range_quotient(const ga__op *op, const ga__range *x)
{
  (void)op;
  if (contains(&x[1], 0)) return WHOLE;
  return hull_of_four(x[0].lo / x[1].lo, x[0].lo / x[1].hi, x[0].hi / x[1].lo, x[0].hi / x[1].hi);
}

/* Comparisons: 1, 0, or both. */
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

/* Truth value of the operand. */
ga__range ga__range_truth(const ga__op *op, const ga__range *x)
{
  const double f = at(op, &x->lo);
  return is_point(x) || !contains(x, 0) ? (ga__range){f, f} : (ga__range){0, 1};
}

/* Whether x contains first + k period for an integer k. */
static int contains_phase(const ga__range *x, double first, double period)
{
  if (!isfinite(x->lo) || !isfinite(x->hi)) return 1;
  const double slack = 8 * DBL_EPSILON * fmax(fabs(x->lo), fabs(x->hi));
  return ceil((x->lo - slack - first) / period) <= floor((x->hi + slack - first) / period);
}

ga__range ga__range_wave(ga__range ends, const ga__range *x, double top)
{
  if (!isfinite(x->lo) || !isfinite(x->hi)) return (ga__range){-1, 1};
  if (is_point(x)) return ends;
  if (contains_phase(x, top, 2 * GA__PI)) ends.hi = 1;
  if (contains_phase(x, top + GA__PI, 2 * GA__PI)) ends.lo = -1;
  return ends;
}

ga__range ga__range_sin(const ga__op *op, const ga__range *x)
{
  return ga__range_wave(ga__range_monotone(op, x), x, 0.5 * GA__PI);
}

ga__range ga__range_cos(const ga__op *op, const ga__range *x)
{
  return ga__range_wave(ga__range_monotone(op, x), x, 0);
}

ga__range ga__range_tan(const ga__op *op, const ga__range *x)
{
  return contains_phase(x, 0.5 * GA__PI, GA__PI) ? WHOLE : ga__range_monotone(op, x);
}

/* A function that falls up to 0 and rises beyond. */
ga__range ga__range_even(const ga__op *op, const ga__range *x)
{
  const double zero = 0;
  ga__range out = ga__range_monotone(op, x);
  if (contains(x, 0)) out.lo = at(op, &zero);
  return out;
}

/* Squares, the most frequent powers; widened by more than the error of pow(). */
static ga__range square(const ga__range *u)
{
  const double a = u->lo * u->lo, b = u->hi * u->hi, least = a < b ? a : b, most = a < b ? b : a;
  return (ga__range){contains(u, 0) ? 0 : least * (1 - 4 * DBL_EPSILON), most * (1 + 4 * DBL_EPSILON)};
}

ga__range ga__range_power(const ga__op *op, const ga__range *x)
{
  if (x[1].lo == 2 && x[1].hi == 2 && !is_point(&x[0])) return square(&x[0]);
  const int whole = is_point(&x[1]) && x[1].lo == floor(x[1].lo);
  if (x[0].lo > 0 || (whole && (!contains(&x[0], 0) || x[1].lo >= 0))) {
    ga__range out = corners(op, x);
    if (whole && contains(&x[0], 0) && out.lo > 0) out.lo = 0;
    return out;
  }
  return x[0].lo >= 0 && x[1].lo >= 0 ? corners(op, x) : WHOLE;
}

/* Between 0 and the divisor; without a jump it is u − k v with one k, which rises with u and is monotone in
 * v. */
ga__range ga__range_mod(const ga__op *op, const ga__range *x)
{
  if (contains(&x[1], 0)) return WHOLE;
  return ga__kink_mod(x) ? hull(fmin(0, x[1].lo), fmax(0, x[1].hi)) : corners(op, x);
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
  const int fixed = is_point(&x[0]) && signbit(x[0].lo) == signbit(x[0].hi) && !contains(&x[1], 0);
  const int around = contains(&x[0], 0) && x[1].lo <= 0 && !fixed;
  return around ? (ga__range){-GA__PI, GA__PI} : corners(op, x);
}

/* S(s), s = (x - x0)/(x1 - x0), of step(x, x0, y0, x1, y1): it rises from 0 to 1. */
static ga__range step_part(const ga__op *op, const ga__range *x)
{
  const double from = x[3].lo - x[1].hi, to = x[3].hi - x[1].lo;
  const ga__range whole = {0, 1}, above = {x[0].lo - x[1].hi, x[0].hi - x[1].lo};
  ga__range s = {INFINITY, -INFINITY};
  if (!(from > 0 || to < 0)) return whole;
  for (int i = 0; i < 4; i++) {
    const double q = (i & 1 ? above.hi : above.lo) / (i & 2 ? to : from);
    if (isnan(q)) return whole;
    s = join(s, (ga__range){q, q});
  }
  s = hull(s.lo, s.hi);
  const double low[GA__MAX_ARGS] = {s.lo, 0, 0, 1, 1}, high[GA__MAX_ARGS] = {s.hi, 0, 0, 1, 1};
  return (ga__range){at(op, low), at(op, high)};
}

/* step(x, x0, y0, x1, y1) = y0 + (y1 - y0) S, linear in each of y0, y1 and S. Computed from y0 on, it is
 * rounded as the larger of both. */
ga__range ga__range_step(const ga__op *op, const ga__range *x)
{
  const ga__range part = step_part(op, x);
  ga__range out = {INFINITY, -INFINITY};
  double largest = 0;
  if (!vary(x, GA__MAX_ARGS)) {
    const double point[GA__MAX_ARGS] = {x[0].lo, x[1].lo, x[2].lo, x[3].lo, x[4].lo};
    return hull(at(op, point), at(op, point));
  }
  for (int i = 0; i < 8; i++) {
    const double S = i & 1 ? part.hi : part.lo, y0 = i & 2 ? x[2].hi : x[2].lo,
                 y1 = i & 4 ? x[4].hi : x[4].lo;
    const double f = S == 0 ? y0 : S == 1 ? y1 : y0 + (y1 - y0) * S;
    if (isnan(f)) return join(x[2], x[4]);
    out = join(out, (ga__range){f, f});
    largest = fmax(largest, fmax(fabs(y0), fabs(y1)));
  }
  const double slack = is_point(&out) ? 0 : 16 * DBL_EPSILON * largest;
  return (ga__range){out.lo - slack, out.hi + slack};
}

/* ---- Kinks and jumps: operands that cannot vary have none ---- */

int ga__kink_zero(const ga__range *x)
{
  return contains(x, 0) && vary(x, 1);
}

int ga__kink_equal(const ga__range *x)
{
  return x[0].lo <= x[1].hi && x[1].lo <= x[0].hi && vary(x, 2);
}

int ga__kink_unit(const ga__range *x)
{
  return (contains(x, -1) || contains(x, 1)) && vary(x, 1);
}

int ga__kink_floor(const ga__range *x)
{
  return floor(x->lo) != floor(x->hi);
}

int ga__kink_ceil(const ga__range *x)
{
  return ceil(x->lo) != ceil(x->hi);
}

/* Whether the quotient, with rounding, passes an integer. */
int ga__kink_mod(const ga__range *x)
{
  double lo = INFINITY, hi = -INFINITY;
  if (!vary(x, 2)) return 0;
  if (contains(&x[1], 0)) return 1;
  for (int i = 0; i < 4; i++) {
    const double q = (i & 1 ? x[0].hi : x[0].lo) / (i & 2 ? x[1].hi : x[1].lo);
    lo = fmin(lo, q), hi = fmax(hi, q);
  }
  return floor(lo - 4 * DBL_EPSILON * fabs(lo)) != floor(hi + 4 * DBL_EPSILON * fabs(hi));
}

int ga__kink_pole(const ga__range *x)
{
  return vary(x, 1) && contains_phase(x, 0.5 * GA__PI, GA__PI);
}

int ga__kink_divisor(const ga__range *x)
{
  return contains(&x[1], 0) && vary(x + 1, 1);
}

/* At 0, unless the exponent is a non-negative integer. */
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
  return contains(&x[0], 0) && (is_point(&x[0]) ? contains(&x[1], 0) && vary(x + 1, 1) : x[1].lo <= 0);
}

int ga__kink_ends(const ga__range *x)
{
  const ga__range first[2] = {x[0], x[1]}, last[2] = {x[0], x[3]}, both[2] = {x[1], x[3]};
  return ga__kink_equal(first) || ga__kink_equal(last) || ga__kink_equal(both);
}
