/* Corners and jumps of functions of time. The expression is evaluated in interval arithmetic (range.c): if
 * no operation can have a kink while t is in an interval, there is none in it; otherwise the interval is
 * halved. */
#include "expr/breaks.h"
#include "expr/function.h"
#include "expr/range.h"
#include "expr/slope.h"
#include <float.h>
#include <math.h>

enum {
  MOST_EVALUATIONS = 20000, /* evaluations of one search */
  MOST_IGNORED = 16,        /* operations whose operands are always equal up to rounding */
  SAMPLES = 16              /* of a time span */
};

/* ---- Expressions over an interval ---- */

typedef struct value {
  ga__range r;
  int known; /* 1: it depends on time alone */
} value;

/* Rates of the variables and of the values on the stack. */
typedef struct rates {
  const double *lo, *hi; /* NULL: the rate of the variable `time` is 1 */
  ga__range of[GA_EXPR_DEPTH + 2];
} rates;

typedef enum purpose { KINKS, PERIODS, BOUNDS } purpose; /* purpose of the search */

typedef struct scan {
  purpose purpose;
  const ga_expr *e;
  int time;              /* index of the variable that is time; −1: all variables have ranges */
  ga__range t;           /* its interval */
  const double *lo, *hi; /* ranges of all variables; lo NaN: not known */
  const ga__time_signal *time_signal; /* all variables as functions of time instead; NULL: not given */
  int kink;                           /* instruction that may have a kink; −1: none */
  int ignored[MOST_IGNORED], n_ignored;
  double fastest; /* [1/s] highest frequency of a phase */
  rates *rates;   /* NULL: not wanted */
} scan;

static const value UNKNOWN = {{-INFINITY, INFINITY}, 0};

static value constant(double x)
{
  return (value){{x, x}, 1};
}

static value variable(const scan *s, int index)
{
  ga__range r;
  if (s->time_signal)
    return ga__time_signal_bounds(&s->time_signal[index], s->t.lo, s->t.hi, &r.lo, &r.hi) ? (value){r, 1}
                                                                                          : UNKNOWN;
  if (index == s->time) return (value){s->t, 1};
  if (s->time >= 0 || isnan(s->lo[index])) return UNKNOWN;
  return (value){{s->lo[index], s->hi[index]}, 1};
}

static int can_be_zero(const value *v)
{
  return !v->known || (v->r.lo <= 0 && v->r.hi >= 0);
}

static int can_be_true(const value *v)
{
  return !v->known || v->r.lo != 0 || v->r.hi != 0;
}

static value join_values(value a, value b)
{
  return (value){ga__range_join(a.r, b.r), a.known && b.known};
}

/* ---- Rates along with values ---- */

static void push_rate(const scan *s, int top, const ga__instr *instr)
{
  rates *r = s->rates;
  const int varies = instr->code == GA__VARIABLE, i = instr->index;
  r->of[top] = (ga__range){0, 0};
  if (varies && r->lo) r->of[top] = (ga__range){r->lo[i], r->hi[i]};
  if (varies && !r->lo) r->of[top] = i == s->time ? (ga__range){1, 1} : UNKNOWN.r;
}

/* The rate is unknown: the value may be that of either branch. */
static void forget_rate(const scan *s, int top, const value *v)
{
  s->rates->of[top] = v->known && v->r.lo == v->r.hi ? (ga__range){0, 0} : UNKNOWN.r;
}

/* ---- Operations ---- */

static void note_kink(scan *s, int at)
{
  for (int i = 0; i < s->n_ignored; i++)
    if (s->ignored[i] == at) return;
  if (s->kink < 0) s->kink = at;
}

/* Records the frequency of a phase or periodic function whose operand varies within x. */
static void note_rate(scan *s, const ga__range *x, double period)
{
  const double rate = (x->hi - x->lo) / (s->t.hi - s->t.lo) / period;
  if (rate > s->fastest && isfinite(rate)) s->fastest = rate;
}

static int is_periodic(const ga__op *op)
{
  return op->range == ga__range_sin || op->range == ga__range_cos || op->range == ga__range_tan;
}

/* Range of an operation whose operands x are all known. */
static ga__range apply(scan *s, int at, const ga__range *x)
{
  const ga__instr *instr = &s->e->program[at];
  if (instr->code == GA__APPLY) {
    const ga__op *op = instr->use.op;
    if (s->purpose == KINKS && op->kink && op->kink(x)) note_kink(s, at);
    if (s->purpose == PERIODS && is_periodic(op)) note_rate(s, x, 2 * GA__PI);
    return op->range(op, x);
  }
  double y;
  if (instr->code == GA__TABLE2D) {
    if (x[0].lo == x[0].hi && x[1].lo == x[1].hi &&
        !ga_table2d_eval(instr->use.table2d, x[0].lo, x[1].lo, 0, &y, NULL))
      return (ga__range){y, y};
    if (s->purpose == KINKS && ga__table2d_meets(instr->use.table2d, &x[0], &x[1])) note_kink(s, at);
    return ga__table2d_range(instr->use.table2d, &x[0], &x[1]);
  }
  const ga_function *f = instr->use.function;
  if (!isfinite(x->lo) || !isfinite(x->hi)) {
    if (s->purpose == KINKS) note_kink(s, at);
    return UNKNOWN.r;
  }
  if (x->lo == x->hi && !ga_function_eval(f, x->lo, 0, &y, NULL)) return (ga__range){y, y};
  if (x->lo < x->hi) {
    if (s->purpose == KINKS && f->kind->kinked(f, x->lo, x->hi)) note_kink(s, at);
    if (s->purpose == PERIODS) note_rate(s, x, f->kind->period(f, x->lo, x->hi));
  }
  return f->kind->range(f, x->lo, x->hi);
}

static value evaluate_over(scan *s, ga__range t);

/* The same with its rate. A function defined by an expression is evaluated once for both. */
static ga__range apply_with_rate(scan *s, int at, const ga__range *x, ga__range *rate)
{
  const ga__instr *instr = &s->e->program[at];
  const ga_expr *e = instr->code == GA__FUNCTION ? ga__function_expr(instr->use.function) : NULL;
  const int moves = rate->lo != 0 || rate->hi != 0;
  if (e && moves && isfinite(x->lo) && isfinite(x->hi)) {
    rates r;
    r.lo = r.hi = NULL;
    scan inner = {.purpose = BOUNDS, .e = e, .time = 0, .rates = &r};
    const value v = evaluate_over(&inner, *x);
    const ga__range both[2] = {v.known ? r.of[0] : UNKNOWN.r, *rate};
    *rate = ga__range_product(NULL, both);
    return v.r;
  }
  const ga__range r = apply(s, at, x);
  *rate = ga__rate_of(instr, x, rate, &r);
  return r;
}

static void scan_program(scan *s, int from, int to, value *stack, int *top);

/* A condition that is not a comparison, such as that of if(t - 3, 1, 0), may be 0 at a single time. */
static void note_condition(scan *s, int at, const value *v)
{
  if (s->purpose == KINKS && v->known && can_be_zero(v) && v->r.lo < v->r.hi) note_kink(s, at);
}

/* c UNLESS L1 a JUMP L2 L1: b L2: with the instruction UNLESS at `at`; returns L2. */
static int scan_if(scan *s, int at, value *stack, int *top)
{
  const int other = s->e->program[at].index, end = s->e->program[other - 1].index;
  const value decides = stack[(*top)--];
  note_condition(s, at, &decides);
  value result = decides;
  int n = 0;
  if (can_be_true(&decides)) {
    scan_program(s, at + 1, other - 1, stack, top);
    result = stack[(*top)--];
    n++;
  }
  if (can_be_zero(&decides)) {
    scan_program(s, other, end, stack, top);
    result = n++ ? join_values(result, stack[*top]) : stack[*top];
    --*top;
  }
  result.known = result.known && decides.known;
  stack[++*top] = result;
  if (s->rates && (n > 1 || !result.known)) forget_rate(s, *top, &result);
  return end;
}

/* a AND L b TRUTH L: and the same with OR; returns L. */
static int scan_and_or(scan *s, int at, value *stack, int *top)
{
  const ga__instr *instr = &s->e->program[at];
  const int is_or = instr->code == GA__OR;
  const value a = stack[*top], settled = constant(is_or);
  const int may_settle = is_or ? can_be_true(&a) : can_be_zero(&a);
  const int may_go_on = is_or ? can_be_zero(&a) : can_be_true(&a);
  value result = settled;
  note_condition(s, at, &a);
  --*top;
  if (may_go_on) {
    scan_program(s, at + 1, instr->index, stack, top);
    result = may_settle ? join_values(stack[*top], settled) : stack[*top];
    --*top;
  }
  result.known = result.known && a.known;
  stack[++*top] = result;
  if (s->rates) forget_rate(s, *top, &result);
  return instr->index;
}

/* Runs the instructions from..to−1 and every branch that may be taken. */
static void scan_program(scan *s, int from, int to, value *stack, int *top)
{
  for (int at = from; at < to;) {
    const ga__instr *instr = &s->e->program[at];
    if (instr->code == GA__UNLESS) {
      at = scan_if(s, at, stack, top);
    } else if (instr->code == GA__AND || instr->code == GA__OR) {
      at = scan_and_or(s, at, stack, top);
    } else if (ga__is_move(instr)) {
      const int of = ga__move_top(instr, top);
      stack[*top] = stack[of];
      if (s->rates) s->rates->of[*top] = s->rates->of[of];
      at++;
    } else if (instr->code <= GA__PARAMETER) {
      stack[++*top] = instr->code == GA__VARIABLE ? variable(s, instr->index) : constant(instr->number);
      if (s->rates) push_rate(s, *top, instr);
      at++;
    } else {
      const int n = ga__arity(instr);
      ga__range x[GA__MAX_ARGS];
      int known = 1;
      *top -= n - 1;
      for (int i = 0; i < n; i++) x[i] = stack[*top + i].r, known &= stack[*top + i].known;
      const ga__range r = !known     ? UNKNOWN.r
                          : s->rates ? apply_with_rate(s, at, x, &s->rates->of[*top])
                                     : apply(s, at, x);
      stack[*top].r.lo = r.lo; /* one by one: a copy of the whole struct would stall on store forwarding */
      stack[*top].r.hi = r.hi;
      stack[*top].known = known;
      if (s->rates && !known) s->rates->of[*top] = UNKNOWN.r;
      at++;
    }
  }
}

static value evaluate_over(scan *s, ga__range t)
{
  value stack[GA_EXPR_DEPTH + 2];
  int top = -1;
  s->t = t;
  s->kink = -1;
  scan_program(s, 0, s->e->n_instr, stack, &top);
  return stack[0];
}

ga__range ga__expr_range(const ga_expr *e, int time, ga__range t)
{
  scan s = {.purpose = BOUNDS, .e = e, .time = time};
  return evaluate_over(&s, t).r;
}

int ga__expr_kinked(const ga_expr *e, int time, ga__range t)
{
  scan s = {.e = e, .time = time};
  evaluate_over(&s, t);
  return s.kink >= 0;
}

/* Whether every range is a single value. */
static int is_point(const ga_expr *e, const double *lo, const double *hi)
{
  for (int k = 0; k < e->n_variables; k++)
    if (!(lo[e->variable[k]] == hi[e->variable[k]])) return 0;
  return 1;
}

int ga_expr_bounds(const ga_expr *e, const double *lo, const double *hi, double *least, double *most)
{
  if (!e || !lo || !hi || !least || !most) return 0;
  if (is_point(e, lo, hi) && !ga_expr_eval(e, lo, least, NULL)) return *most = *least, 1;
  scan s = {.purpose = BOUNDS, .e = e, .time = -1, .lo = lo, .hi = hi};
  const value v = evaluate_over(&s, (ga__range){0, 1});
  *least = v.r.lo;
  *most = v.r.hi;
  return v.known && isfinite(v.r.lo) && isfinite(v.r.hi);
}

ga__range ga__expr_slope(const ga_expr *e, int time, ga__range t)
{
  rates r;
  r.lo = r.hi = NULL;
  scan s = {.purpose = BOUNDS, .e = e, .time = time, .rates = &r};
  return evaluate_over(&s, t).known ? r.of[0] : UNKNOWN.r;
}

int ga__expr_rate(const ga_expr *e, const double *lo, const double *hi, const double *rate_lo,
                  const double *rate_hi, double range[2], double rate[2])
{
  rates r; /* rates of the stack are set when it is used */
  r.lo = rate_lo, r.hi = rate_hi;
  scan s = {.purpose = BOUNDS, .e = e, .time = -1, .lo = lo, .hi = hi, .rates = &r};
  const value v = evaluate_over(&s, (ga__range){0, 1});
  range[0] = v.r.lo, range[1] = v.r.hi;
  rate[0] = r.of[0].lo, rate[1] = r.of[0].hi;
  if (!v.known || !isfinite(range[0]) || !isfinite(range[1])) return 0;
  return isfinite(rate[0]) && isfinite(rate[1]) ? 2 : 1;
}

static double period_of(scan *s, double from, double to)
{
  for (int i = 0; i < SAMPLES; i++) {
    const double t = from + (to - from) * i / SAMPLES;
    evaluate_over(s, (ga__range){t, t + 1e-4 * (to - from)});
  }
  return s->fastest > 0 ? 1 / s->fastest : INFINITY;
}

double ga_expr_period(const ga_expr *e, int time, double from, double to)
{
  scan s = {.purpose = PERIODS, .e = e, .time = time};
  return e && from < to ? period_of(&s, from, to) : INFINITY;
}

/* ---- The same with variables given as time signals ---- */

ga__range ga__expr_range_along(const ga_expr *e, const ga__time_signal *x, ga__range t)
{
  scan s = {.purpose = BOUNDS, .e = e, .time = -1, .time_signal = x};
  return evaluate_over(&s, t).r;
}

int ga__expr_kinked_along(const ga_expr *e, const ga__time_signal *x, ga__range t)
{
  scan s = {.e = e, .time = -1, .time_signal = x};
  evaluate_over(&s, t);
  return s.kink >= 0;
}

double ga__expr_period_along(const ga_expr *e, const ga__time_signal *x, double from, double to)
{
  scan s = {.purpose = PERIODS, .e = e, .time = -1, .time_signal = x};
  return period_of(&s, from, to);
}

/* ---- What jumps ---- */

enum { NOTHING = 3, NOT_KNOWN = -1 }; /* besides the derivatives 0 to 2 that may jump */

/* Values and derivatives on one side of a break, and the third derivative by a difference. */
typedef struct side {
  double y[4];
} side;

typedef ga_status (*eval_fn)(const void *what, int time, double t, double out[3]);

static ga_status evaluate_side(eval_fn eval, const void *what, int time, double t, double away, side *out)
{
  double beyond[3];
  ga_status status = eval(what, time, t, out->y);
  if (!status) status = eval(what, time, t + away, beyond);
  out->y[3] = (beyond[2] - out->y[2]) / away;
  return status;
}

/* The lowest derivative that changes across the gap by more than its own rate explains; `size`: of the
 * values, over a time `span`. At a double root, as that of max(0, 1 - cos(t)), its place and slopes are
 * uncertain by the square root of rounding. */
static int jump_order(const side *left, const side *right, double gap, double size, double span)
{
  for (int d = 0; d < 3; d++) {
    const double scale = fmax(fabs(left->y[d]), fabs(right->y[d]));
    const double change = fmax(fabs(left->y[d + 1]), fabs(right->y[d + 1]));
    const double touching = d == 1 && isfinite(size) ? 8 * sqrt(DBL_EPSILON * size * change) : 0;
    const double noise =
        1e-8 * scale + 1e-12 * (isfinite(size) ? size : 0) / pow(span, d) + 1.2 * gap * change;
    if (fabs(right->y[d] - left->y[d]) > noise + touching) return d;
  }
  return NOTHING;
}

/* A function that is evaluated to see which derivative jumps. */
typedef struct subject {
  eval_fn eval;
  const void *what;
  int time;
  double size, span; /* of its values; [s] of the search */
} subject;

/* The derivative that jumps between two times. NOT_KNOWN if one side has no derivatives. */
static int order_between(const subject *s, double before, double after)
{
  const double gap = after - before, away = 1000 * gap;
  side left, right;
  if (evaluate_side(s->eval, s->what, s->time, before, -away, &left) ||
      evaluate_side(s->eval, s->what, s->time, after, away, &right))
    return NOT_KNOWN;
  return jump_order(&left, &right, gap, s->size, s->span);
}

/* ---- Where it jumps ---- */

enum { MOST_HALVINGS = 80 }; /* down to adjacent floating-point numbers, unless t is near 0 */
/* [-] relative to t: rounding may make a step end later by this much */
#define LATE (8 * DBL_EPSILON)

/* The last time from t towards `end` at which derivative `order` is still close to its value at t, by
 * bisection down to adjacent numbers; NaN: it cannot be evaluated. */
static double last_time_near(const subject *s, int order, double t, double end, double near)
{
  double here[3], y[3];
  if (s->eval(s->what, s->time, t, here)) return NAN;
  for (int i = 0; i < MOST_HALVINGS; i++) {
    const double middle = t + 0.5 * (end - t);
    if (middle == t || middle == end) break;
    if (s->eval(s->what, s->time, middle, y)) return NAN;
    if (fabs(y[order] - here[order]) <= near)
      t = middle;
    else
      end = middle;
  }
  return t;
}

/* Moves *a and *b to the adjacent numbers between which derivative `order` changes from its value at a to
 * that at b. In between it may have a third value, as the slope of abs(t) at 0. */
static int narrow(const subject *s, int order, double *a, double *b)
{
  double left[3], right[3];
  if (s->eval(s->what, s->time, *a, left) || s->eval(s->what, s->time, *b, right)) return 0;
  const double near = 0.25 * fabs(right[order] - left[order]), last = last_time_near(s, order, *a, *b, near),
               first = last_time_near(s, order, *b, *a, near);
  if (!(last < first)) return 0;
  *a = last, *b = first;
  return 1;
}

/* ---- The search ---- */

enum { MOST_SUBJECTS = 6 };

typedef struct search {
  const ga_function *f; /* NULL: the expression of `scan` */
  scan scan;
  subject subject[MOST_SUBJECTS]; /* the same function for several values of the other variables */
  int n_subjects;
  double resolution; /* [s] shorter intervals are not halved */
  double lost;       /* [s] from here on kinks cannot be resolved; infinite: all are resolved */
  int evaluations;
} search;

static int may_have_kink(search *s, double a, double b)
{
  s->evaluations++;
  if (s->f) return s->f->kind->kinked(s->f, a, b);
  evaluate_over(&s->scan, (ga__range){a, b});
  return s->scan.kink >= 0;
}

/* The first interval within [a, b] that is too short to be halved and may have a kink: returns 1 and
 * [*from, *to]. 0: there is none; *from: where the search was abandoned, or b. */
static int first_kink(search *s, double a, double b, double *from, double *to)
{
  double end[64]; /* ends of the intervals still to be searched, the next one last */
  int n = 1;
  *from = a;
  end[0] = b;
  while (n > 0) {
    const double last = end[n - 1];
    if (s->evaluations >= MOST_EVALUATIONS) return 0;
    if (!may_have_kink(s, *from, last)) {
      *from = last;
      n--;
      continue;
    }
    if (last - *from <= s->resolution || n == 64) {
      *to = last;
      return 1;
    }
    end[n++] = *from + 0.5 * (last - *from);
  }
  return 0;
}

static int has_kink_at(search *s, int instr, double t)
{
  return may_have_kink(s, t, t + s->resolution) && (s->f || s->scan.kink == instr);
}

/* Operands that are always equal have no kink, but with rounding seem to have one everywhere. Returns the
 * time up to which this holds, judged at samples at growing and then equal distances from t; t itself: it
 * is a kink. */
static double always_equal_until(search *s, int instr, double t, double until)
{
  double last = t, end = until;
  int n = 0;
  for (double far = 4 * s->resolution; t + far + s->resolution < until; far *= 4, n++) {
    if (!has_kink_at(s, instr, t + far)) {
      end = last;
      break;
    }
    last = t + far;
  }
  if (n < 5) return t;
  for (int i = 1; i < SAMPLES; i++)
    if (!has_kink_at(s, instr, t + i * (end - t) / SAMPLES)) return t + (i - 1) * (end - t) / SAMPLES;
  return end;
}

/* The lowest derivative that jumps between two times in any subject; 0, the value, if unknown. *which: that
 * subject; −1: none can be evaluated. */
static int lowest_order(const search *s, double before, double after, int *which)
{
  int lowest = NOTHING, seen = NOTHING;
  *which = -1;
  for (int i = 0; i < s->n_subjects && seen > 0; i++) {
    const int order = order_between(&s->subject[i], before, after);
    if (order != NOT_KNOWN && order < seen) seen = order, *which = i;
    if (order < lowest) lowest = order == NOT_KNOWN ? 0 : order;
  }
  return lowest;
}

static int jumps_between(const search *s, double before, double after)
{
  int which;
  lowest_order(s, before, after, &which);
  return which >= 0;
}

/* 1: the value or slope of a subject changes between a and b by more than its derivatives and rounding
 * explain; −1: no subject has a value. */
static int jumps_within(const search *s, double a, double b)
{
  const double gap = b - a;
  int known = 0;
  for (int i = 0; i < s->n_subjects; i++) {
    const subject *of = &s->subject[i];
    double y[3], z[3];
    if (of->eval(of->what, of->time, a, y) || of->eval(of->what, of->time, b, z)) continue;
    const double size = fmax(fabs(y[0]), fabs(z[0])), slope = fmax(fabs(y[1]), fabs(z[1])),
                 bend = fmax(fabs(y[2]), fabs(z[2]));
    const double excess = z[0] - y[0] - 0.5 * gap * (y[1] + z[1]), turn = gap * fabs(z[1] - y[1]);
    known = 1;
    if (fabs(excess) > 1e-6 * size + turn + gap * gap * bend + 8 * DBL_EPSILON * fabs(a) * slope) return 1;
    if (gap > 1e-5 * of->span) continue; /* over a longer time slopes may change */
    if (fabs(z[1] - y[1]) > 1e-6 * (slope + size / of->span) + 2 * gap * bend) return 1;
  }
  return known ? 0 : -1;
}

/* Operations with kinks of several kinds: at one of them, the others are not detected. */
static int has_kinks_of_several_kinds(const ga__instr *instr)
{
  return instr->code == GA__TABLE2D || (instr->code == GA__APPLY && instr->use.op->kink == ga__kink_ends);
}

/* Whether operations other than instr may have kinks. */
static int others_have_kink(search *s, int instr, double a, double b)
{
  if (s->f) return 1;
  s->scan.ignored[s->scan.n_ignored++] = instr;
  const int kink = may_have_kink(s, a, b);
  s->scan.n_ignored--;
  return kink;
}

/* 1: an operation that seems to have a kink everywhere from `from` to `to` has none: its operands are equal
 * up to rounding, and neither value nor slope jumps. 0: there are more kinks than can be resolved, or they
 * are hidden by ranges that do not shrink with the interval. Judged at samples; where there is no value,
 * evaluations report that. */
static int is_always_equal(search *s, int instr, double from, double to)
{
  const int several = !s->f && has_kinks_of_several_kinds(&s->scan.e->program[instr]);
  double last = from - 2 * s->resolution; /* before it */
  for (int i = 0; i < 2 * SAMPLES; i++) { /* at growing distances from the beginning, then at equal ones */
    const double part = i < SAMPLES ? ldexp(1, i - 20) : (i - SAMPLES + 0.5) / SAMPLES;
    const double t = from + part * (to - from);
    const int jumps = jumps_within(s, t, t + s->resolution);
    if (jumps > 0 || (jumps == 0 && several)) return 0;
    if (jumps == 0 && may_have_kink(s, t, t) && (s->f || s->scan.kink == instr)) return 0;
    if (t > last && jumps_within(s, last, t) > 0 && !others_have_kink(s, instr, last, t)) return 0;
    last = t;
  }
  return 1;
}

/* The break between `from` and `to`, a few roundings of t apart: which derivative jumps and, unless several
 * do one after the other, between which numbers. */
static ga_break refine_break(const search *s, double t, double from, double to)
{
  ga_break out = {from - s->resolution, to + s->resolution, NOTHING, from, 0};
  double a = out.before, b = out.after;
  int which;
  out.order = lowest_order(s, a, b, &which);
  if (which < 0 || s->scan.time_signal)
    return out; /* breaks of time signals are solved for and have rounding errors of their own */
  const int order = order_between(&s->subject[which], a, b);
  if (!narrow(&s->subject[which], order, &a, &b)) return out;
  if (jumps_between(s, out.before, a) || jumps_between(s, b, out.after)) return out;
  out.before = fmax(out.before, a - LATE * fmax(fabs(t), fabs(a)));
  out.after = b;
  return out;
}

static void find_break(search *s, double t, double until, ga_break *out)
{
  double from, to;
  *out = (ga_break){INFINITY, INFINITY, NOTHING, until, 0};
  s->lost = INFINITY;
  s->resolution = 64 * DBL_EPSILON * fmax(fabs(t), fabs(until));
  from = t - 0.5 * s->resolution; /* a break at t counts, one that ends at t does not */
  while (first_kink(s, from, until, &from, &to)) {
    const int instr = s->scan.kink, room = s->f ? s->f->kind->made : s->scan.n_ignored < MOST_IGNORED;
    const double equal_until = room ? always_equal_until(s, instr, to, until) : to;
    if (equal_until > to && s->f) { /* of a block: a kink where an input jumps, or none */
      *out = refine_break(s, t, from, to);
      if (out->order < NOTHING && out->after > t) return;
      *out = (ga_break){INFINITY, INFINITY, NOTHING, until, 0};
      if (!is_always_equal(s, instr, to, equal_until)) {
        *out = (ga_break){INFINITY, INFINITY, NOTHING, fmax(from, t), equal_until - fmax(from, t)};
        return;
      }
      from = equal_until;
      continue;
    }
    if (equal_until > to) {
      if (!is_always_equal(s, instr, to, equal_until)) s->lost = fmin(s->lost, fmax(from, t));
      s->scan.ignored[s->scan.n_ignored++] = instr;
      until = equal_until;
      continue;
    }
    const ga_break found = refine_break(s, t, from, to);
    if (found.after <= t) { /* ranges are not sharp: this is the break before t */
      from = to;
      continue;
    }
    *out = found;
    if (s->lost < found.before) out->clear = s->lost, out->unresolved = found.before - s->lost;
    return;
  }
  out->clear = fmin(from, s->lost);
  out->unresolved = from - out->clear;
}

/* ---- Functions and expressions ---- */

static double size_of(ga__range r)
{
  return fmax(fabs(r.lo), fabs(r.hi));
}

static ga_status eval_function(const void *what, int time, double t, double out[3])
{
  (void)time;
  return ga_function_eval(what, t, 2, out, NULL);
}

ga_status ga_function_next_break(const ga_function *f, double t, double until, ga_break *out)
{
  if (!f || !out || !(t < until) || !isfinite(t) || !isfinite(until)) return GA_ERR_ARGUMENT;
  const ga_expr *e = ga__function_expr(f);
  const subject of = {eval_function, f, 0, size_of(f->kind->range(f, t, until)), until - t};
  search s = {.f = e ? NULL : f, .scan = {.e = e}, .subject = {of}, .n_subjects = 1};
  find_break(&s, t, until, out);
  return GA_OK;
}

/* An expression with arbitrary values for its unknown variables. */
typedef struct sample {
  const ga_expr *e;
  const ga__time_signal *time_signal; /* of the other variables; NULL: only time is known */
  double value, increment;            /* variable k has the value: value + k increment */
} sample;

static ga_status eval_expr(const void *what, int time, double t, double out[3])
{
  const sample *s = what;
  const ga_expr *e = s->e;
  double x[GA__MOST_COMPOSED] = {0}, rate[GA__MOST_COMPOSED] = {0}, rate2[GA__MOST_COMPOSED] = {0};
  const int largest = e->n_variables > 0 ? e->variable[e->n_variables - 1] : 0;
  if (largest >= GA__MOST_COMPOSED || time >= GA__MOST_COMPOSED) return GA_RETRY_NAN;
  for (int k = 0; k <= largest; k++) {
    double of_time[3];
    x[k] = s->value + s->increment * k;
    if (!s->time_signal || !s->time_signal[k].known) continue;
    const ga_status status = ga__time_signal_eval(&s->time_signal[k], t, 2, of_time, NULL);
    if (status) return status;
    x[k] = of_time[0], rate[k] = of_time[1], rate2[k] = of_time[2];
  }
  if (time >= 0) x[time] = t, rate[time] = 1;
  return ga_expr_curve(e, x, rate, rate2, 2, out, NULL);
}

/* Next break of an expression whose variable `time` is time (−1: none); `unknown`: it has unknown
 * variables. */
static void find_break_of(search *s, const ga_expr *e, int time, int unknown, double t, double until,
                          ga_break *out)
{
  /* small and large, of both signs: a factor such as max(0, x - 3) is 0 at some of them, but not at all */
  static const double values[MOST_SUBJECTS] = {0.7315, -0.6178, 97.31, -89.17, 1.0327e4, -1.1733e4};
  const double part = 0.1883;
  sample of[MOST_SUBJECTS];
  s->n_subjects = unknown ? MOST_SUBJECTS : 1;
  for (int i = 0; i < s->n_subjects; i++) {
    of[i] = (sample){e, s->scan.time_signal, values[i], part * values[i]};
    s->subject[i] = (subject){eval_expr, &of[i], time, 0, until - t};
  }
  find_break(s, t, until, out);
}

ga_status ga_expr_next_break(const ga_expr *e, int time, double t, double until, ga_break *out)
{
  if (!e || !out || time < 0 || !(t < until) || !isfinite(t) || !isfinite(until)) return GA_ERR_ARGUMENT;
  search s = {.scan = {.e = e, .time = time}};
  find_break_of(&s, e, time, e->n_variables >= 2, t, until, out);
  return GA_OK;
}

ga_status ga__expr_next_break_along(const ga_expr *e, const ga__time_signal *x, double t, double until,
                                    ga_break *out)
{
  search s = {.scan = {.e = e, .time = -1, .time_signal = x}};
  int unknown = 0;
  for (int i = 0; i < e->n_variables; i++) unknown |= !x[e->variable[i]].known;
  find_break_of(&s, e, -1, unknown, t, until, out);
  return GA_OK;
}
