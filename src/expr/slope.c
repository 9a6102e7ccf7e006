/* Slopes: what derivatives an operation may have while its operands vary. A column of the table of operations
 * (ops.c); with them the rate at which an expression changes is enclosed along with its values (breaks.c).
 *
 * Where an operation has a corner they contain those of both sides, so that a change is always the change of
 * operands times something within; where it may jump, or is not defined, they are unbounded. */
#include "expr/function.h"
#include "expr/range.h"
#include "expr/slope.h"
#include "expr/time_signal.h"
#include <float.h>
#include <math.h>

static const ga__range WHOLE = {-INFINITY, INFINITY}, ZERO = {0, 0}, NOTHING = {INFINITY, -INFINITY};

static int contains(const ga__range *r, double x)
{
  return r->lo <= x && x <= r->hi;
}

static int is_point(const ga__range *r)
{
  return r->lo == r->hi;
}

static int is_bounded(const ga__range *r)
{
  return isfinite(r->lo) && isfinite(r->hi);
}

static ga__range wider(ga__range r)
{
  return (ga__range){r.lo - 4 * DBL_EPSILON * fabs(r.lo), r.hi + 4 * DBL_EPSILON * fabs(r.hi)};
}

/* a b for a number a; 0 times an unbounded range is 0. */
static ga__range scaled(double a, ga__range b)
{
  const double u = a * b.lo, v = a * b.hi;
  return a == 0 ? ZERO : wider(u < v ? (ga__range){u, v} : (ga__range){v, u});
}

static ga__range times(ga__range a, ga__range b)
{
  const ga__range x[2] = {a, b};
  if (is_point(&a)) return scaled(a.lo, b);
  return is_point(&b) ? scaled(b.lo, a) : ga__range_product(NULL, x);
}

static ga__range plus(ga__range a, ga__range b)
{
  return wider((ga__range){a.lo + b.lo, a.hi + b.hi});
}

/* a/b, b above 0. */
static ga__range divide_positive(ga__range a, ga__range b)
{
  return wider((ga__range){a.lo / (a.lo < 0 ? b.lo : b.hi), a.hi / (a.hi < 0 ? b.hi : b.lo)});
}

static ga__range squared(ga__range a)
{
  const double lo = a.lo * a.lo, hi = a.hi * a.hi;
  return wider((ga__range){contains(&a, 0) ? 0 : fmin(lo, hi), fmax(lo, hi)});
}

/* ---- Columns of the table ---- */

/* Extends d by the derivatives at a point; undefined ones are unbounded. */
static void join_at(const ga__op *op, const double *x, ga__range *d)
{
  ga__partials p = {0};
  const int defined = !op->defined || op->defined(x);
  if (defined) op->rule(&p, x, 1);
  for (int k = 0; k < op->arity; k++) {
    const int known = defined && !isnan(p.d1[k]);
    d[k] = known ? ga__range_join(d[k], wider((ga__range){p.d1[k], p.d1[k]})) : WHOLE;
  }
}

/* Up to two operands, the derivatives monotone in each. */
void ga__slopes_corners(const ga__op *op, const ga__range *x, const ga__range *f, ga__range *d)
{
  const int n = op->arity;
  (void)f;
  for (int k = 0; k < n; k++) d[k] = NOTHING;
  for (int i = 0; i < 1 << n; i++) {
    double point[2] = {0, 0};
    for (int k = 0; k < n; k++) point[k] = i >> k & 1 ? x[k].hi : x[k].lo;
    join_at(op, point, d);
  }
}

/* One operand u, the derivative monotone in |u|. */
void ga__slopes_even(const ga__op *op, const ga__range *x, const ga__range *f, ga__range *d)
{
  const double zero = 0;
  ga__slopes_corners(op, x, f, d);
  if (contains(x, 0)) join_at(op, &zero, d);
}

void ga__slopes_sum(const ga__op *op, const ga__range *x, const ga__range *f, ga__range *d)
{
  (void)op, (void)x, (void)f;
  d[0] = d[1] = (ga__range){1, 1};
}

void ga__slopes_difference(const ga__op *op, const ga__range *x, const ga__range *f, ga__range *d)
{
  (void)op, (void)x, (void)f;
  d[0] = (ga__range){1, 1};
  d[1] = (ga__range){-1, -1};
}

void ga__slopes_product(const ga__op *op, const ga__range *x, const ga__range *f, ga__range *d)
{
  (void)op, (void)f;
  d[0] = x[1];
  d[1] = x[0];
}

/* u/v: 1/v, −(u/v)/v. */
void ga__slopes_quotient(const ga__op *op, const ga__range *x, const ga__range *f, ga__range *d)
{
  (void)op;
  d[0] = d[1] = WHOLE;
  if (contains(&x[1], 0)) return;
  d[0] = wider((ga__range){1 / x[1].hi, 1 / x[1].lo});
  d[1] = times((ga__range){-f->hi, -f->lo}, d[0]);
}

void ga__slopes_sin(const ga__op *op, const ga__range *x, const ga__range *f, ga__range *d)
{
  ga__slopes_corners(op, x, f, d);
  *d = ga__range_wave(*d, x, 0);
}

/* −sin u is 1 at −π/2. */
void ga__slopes_cos(const ga__op *op, const ga__range *x, const ga__range *f, ga__range *d)
{
  ga__slopes_corners(op, x, f, d);
  *d = ga__range_wave(*d, x, -0.5 * GA__PI);
}

void ga__slopes_tan(const ga__op *op, const ga__range *x, const ga__range *f, ga__range *d)
{
  (void)op, (void)x;
  *d = plus((ga__range){1, 1}, squared(*f));
}

/* 1 − tanh² u. */
void ga__slopes_tanh(const ga__op *op, const ga__range *x, const ga__range *f, ga__range *d)
{
  const ga__range square = squared(*f);
  (void)op, (void)x;
  *d = (ga__range){fmax(1 - square.hi, 0), fmin(1 - square.lo + 4 * DBL_EPSILON, 1)};
}

/* 1/(2 sqrt u) */
void ga__slopes_sqrt(const ga__op *op, const ga__range *x, const ga__range *f, ga__range *d)
{
  (void)op;
  *d = x->lo > 0 && f->lo > 0 ? wider((ga__range){0.5 / f->hi, 0.5 / f->lo}) : WHOLE;
}

void ga__slopes_exp(const ga__op *op, const ga__range *x, const ga__range *f, ga__range *d)
{
  (void)op, (void)x;
  *d = *f;
}

/* v u^(v−1) for a number v, monotone in |u|. */
static ga__range slope_of_base(const ga__op *op, ga__range u, double v, const ga__range *f)
{
  const int whole = v == floor(v), zero = contains(&u, 0);
  const double at[3][2] = {{u.lo, v}, {u.hi, v}, {0, v}};
  ga__range d = NOTHING;
  if (v == 2) return wider((ga__range){2 * u.lo, 2 * u.hi});
  if (u.lo > 0 && u.hi < INFINITY && f->lo > 0 && f->hi < INFINITY) { /* v u^v/u, u^v monotone */
    const double low = v * (v > 0 ? f->lo : f->hi) / u.lo, high = v * (v > 0 ? f->hi : f->lo) / u.hi;
    return wider((ga__range){fmin(low, high), fmax(low, high)});
  }
  if (u.lo <= 0 && !(whole && (v >= 0 || !zero)) && !(u.lo >= 0 && v >= 1)) return WHOLE;
  for (int i = 0; i < 2 + zero; i++) {
    ga__range one[2] = {d, ZERO}; /* the derivative by v does not exist for u < 0 and is not needed */
    join_at(op, at[i], one);
    d = one[0];
  }
  return d;
}

/* u^v: v u^(v−1), u^v log u. */
void ga__slopes_power(const ga__op *op, const ga__range *x, const ga__range *f, ga__range *d)
{
  d[0] = d[1] = WHOLE;
  if (is_point(&x[1])) {
    d[0] = slope_of_base(op, x[0], x[1].lo, f);
    d[1] = ZERO;
  } else if (x[0].lo > 0) {
    const ga__range log_u = wider((ga__range){log(x[0].lo), log(x[0].hi)});
    const ga__range less[2] = {x[0], {x[1].lo - 1, x[1].hi - 1}};
    d[0] = times(x[1], ga__range_power(op, less));
    d[1] = times(*f, log_u);
  }
}

/* u − v floor(u/v), one and the same floor(u/v) where there is no jump. */
void ga__slopes_mod(const ga__op *op, const ga__range *x, const ga__range *f, ga__range *d)
{
  ga__slopes_corners(op, x, f, d);
  if (ga__kink_mod(x) || contains(&x[1], 0)) d[0] = d[1] = WHOLE;
}

/* r = hypot(u, v): u/r, v/r. */
void ga__slopes_hypot(const ga__op *op, const ga__range *x, const ga__range *f, ga__range *d)
{
  (void)op;
  for (int k = 0; k < 2; k++) {
    const ga__range part = f->lo > 0 ? divide_positive(x[k], *f) : WHOLE;
    d[k] = (ga__range){x[k].lo >= 0 ? 0 : fmax(part.lo, -1), x[k].hi <= 0 ? 0 : fmin(part.hi, 1)};
  }
}

/* atan2(y, x): x/r², −y/r². */
void ga__slopes_atan2(const ga__op *op, const ga__range *x, const ga__range *f, ga__range *d)
{
  const ga__range r2 = plus(squared(x[0]), squared(x[1])), minus = {-x[0].hi, -x[0].lo};
  (void)op, (void)f;
  const int whole = ga__kink_cut(x) || !(r2.lo > 0);
  d[0] = whole ? WHOLE : divide_positive(x[1], r2);
  d[1] = whole ? WHOLE : divide_positive(minus, r2);
}

/* step(x, x0, y0, x1, y1) with all but x constant: the slope is largest in the middle and decreases from
 * there. */
void ga__slopes_step(const ga__op *op, const ga__range *x, const ga__range *f, ga__range *d)
{
  const double middle = x[1].lo + 0.5 * (x[3].lo - x[1].lo);
  const double at[3] = {x[0].lo, x[0].hi, middle};
  int numbers = 1;
  (void)f;
  for (int k = 1; k < GA__MAX_ARGS; k++) numbers &= is_point(&x[k]);
  d[0] = numbers ? NOTHING : WHOLE;
  for (int k = 1; k < GA__MAX_ARGS; k++) d[k] = numbers ? ZERO : WHOLE;
  for (int i = 0; numbers && i < 2 + contains(&x[0], middle); i++) {
    const double point[GA__MAX_ARGS] = {at[i], x[1].lo, x[2].lo, x[3].lo, x[4].lo};
    ga__range one[GA__MAX_ARGS] = {d[0], ZERO, ZERO, ZERO, ZERO};
    join_at(op, point, one);
    d[0] = one[0];
  }
}

/* ---- Rates ---- */

static ga__range slope_of_function(const ga_function *f, double from, double to)
{
  if (!f->kind->slope || !isfinite(from) || !isfinite(to)) return WHOLE;
  return f->kind->slope(f, from, to);
}

static int moves(const ga__range *rate)
{
  return rate->lo != 0 || rate->hi != 0;
}

/* Slopes of an instruction; at jumps unbounded. */
static void slopes_of(const ga__instr *instr, const ga__range *x, const ga__range *f, ga__range *d)
{
  for (int i = 0; i < ga__arity(instr); i++) d[i] = WHOLE;
  if (instr->code == GA__APPLY && instr->use.op->slopes)
    instr->use.op->slopes(instr->use.op, x, f, d);
  else if (instr->code == GA__FUNCTION)
    d[0] = slope_of_function(instr->use.function, x->lo, x->hi);
}

/* Σ d_i · rate_i over the operands that change; 0 if the value is constant. */
ga__range ga__rate_of(const ga__instr *instr, const ga__range *x, const ga__range *rate, const ga__range *f)
{
  const int n = ga__arity(instr);
  ga__range d[GA__MAX_ARGS], sum = ZERO;
  int moving = 0;
  for (int i = 0; i < n; i++) moving += moves(&rate[i]);
  if (moving == 0 || (is_point(f) && is_bounded(f))) return ZERO;
  if (instr->code == GA__APPLY && instr->use.op->slopes == ga__slopes_sum) return plus(rate[0], rate[1]);
  slopes_of(instr, x, f, d);
  for (int i = 0; i < n; i++) {
    if (!moves(&rate[i])) continue;
    const ga__range part = times(is_bounded(&d[i]) ? d[i] : WHOLE, rate[i]);
    if (moving == 1) return part;
    sum = plus(sum, part);
  }
  return sum;
}

int ga__function_rate(const ga_function *f, double from, double to, double *least, double *most)
{
  const ga__range r = slope_of_function(f, from, to);
  *least = r.lo;
  *most = r.hi;
  return is_bounded(&r);
}
