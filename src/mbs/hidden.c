/* Search for narrow features within a step. Bounds of outputs that are expressions or tables, and of
 * forces along gauges, over a piece of the step tell whether they may leave the range of their values
 * at its ends. */
#include "mbs/hidden.h"
#include "control/over_time.h"
#include "lie/mat3.h"
#include "mbs/form.h"
#include "mbs/blocks.h"
#include "mbs/law_impl.h"

#include <math.h>
#include <string.h>

enum { MOST_VARIABLES = 64 };
#define NEAR 0.25  /* tolerated departure from the values at the ends, relative to these, */
#define SLIGHT 0.1 /* and relative to the whole range within the step */

/* ---- Outputs ---- */

/* Lower and upper bound of a quantity. */
typedef struct bounds {
  double lo, hi;
} bounds;

/* What is bounded over a piece, which is parametrised by s from 0 to 1. */
typedef enum question {
  VALUE, /* the value */
  RATE,  /* its derivative by s; 0 if that is unknown */
  MIDDLE /* its value at the middle, s = 1/2; if RATE is unknown, VALUE */
} question;
enum { QUESTIONS = MIDDLE + 1 };

/* Bounds of an output over a piece. Each is computed once per piece, from those of its arguments. An output
 * that is being computed (known 0) is met again in an algebraic loop. */
typedef struct enclosed {
  bounds answer[QUESTIONS];
  long piece[QUESTIONS]; /* number of the piece that the bounds belong to */
  int known[QUESTIONS];  /* 0: being computed */
  int composed;   /* 1: a formula of outputs, or the output of a block without states that has inputs */
  int made;       /* 1: VALUE comes from its arguments; 0: from its parabola */
  int smooth;     /* 1: RATE is known */
  int wavers;     /* 1: in the last step VALUE alone said that it may leave its values at the ends */
  int acts;       /* 1: a force, a state or a block without bounds reads it; 0: only outputs do */
  int judged;     /* 1: `leaves` is valid for the step as a whole */
  int leaves;     /* 1: it may leave its values at the ends, by more than `room` */
  double room[2]; /* see may_leave() */
} enclosed;

struct ga__enclosure {
  long number; /* of the present piece */
  const ga_piece *piece;
  int n_acting, *acting; /* outputs that act and are composed */
  double t[2], *of_step; /* [3 n_y] the step that was judged: its times, outputs at its ends and its middle */
  enclosed y[];          /* [n_y] */
};

/* 1: bounds of its outputs follow from those of its inputs: a block without states. */
static int has_bounds(const ga__block_instance *k)
{
  const ga_control_block *block = k->block;
  const ga_block_kind kind = ga_block_get_kind(block);
  return ga_block_n_x(block) == 0 && kind != GA_KIND_TABLE2D && kind != GA_KIND_USER;
}

static void mark_acting(ga__enclosure *e, const ga__mbs_model *b)
{
  for (int i = 0; i < b->element.n; i++) {
    const ga__element *el = ga__element_at(b, i);
    ga__input *in;
    ga__formula *f;
    if (!el->type->get_input || (ga__element_block(el) && has_bounds(ga__element_block(el)))) continue;
    for (int k = 0; el->type->get_input(el, k, &in, &f); k++) {
      if (in && in->y >= 0) e->y[in->y].acts = 1;
      for (int y = 0; f && y < f->n_y; y++) e->y[f->y[y]].acts = 1;
    }
  }
}

/* 1: bounds of output i follow from those of its arguments. */
static int is_composed(const ga__mbs_model *b, int i)
{
  const ga__y *row = GA__AT(b->y, ga__y, i);
  if (row->kind == GA__Y_FORMULA) {
    const ga__formula *f = GA__AT(b->formula, ga__formula, row->index);
    return f->n_y > 0 && f->n_local == 0 && 1 + f->n_y <= MOST_VARIABLES;
  }
  const ga__block_instance *k = ga__output_block(b, row);
  const int n = k ? ga_block_n_in(k->block) : 0;
  return k && has_bounds(k) && n > 0 && 1 + n <= MOST_VARIABLES;
}

size_t ga__enclosure_size(const ga__mbs_model *b)
{
  const size_t n = (size_t)b->y.n, each = sizeof(enclosed) + 3 * sizeof(double) + sizeof(int);
  return n > 0 ? sizeof(ga__enclosure) + n * each : 0;
}

ga__enclosure *ga__enclosure_in(const ga__mbs_model *b, void *block)
{
  ga__enclosure *e = block;
  const int n = b->y.n;
  e->of_step = (double *)(e->y + n);
  e->acting = (int *)(e->of_step + 3 * n);
  mark_acting(e, b);
  for (int i = 0; i < n; i++) {
    e->y[i].composed = is_composed(b, i);
    if (e->y[i].acts && e->y[i].composed) e->acting[e->n_acting++] = i;
  }
  return e;
}

/* Makes p the present piece; NULL: forgets the present one. */
static void select_piece(ga__workspace *w, const ga_piece *p)
{
  if (!w->enclosure || (p && w->enclosure->piece == p)) return;
  w->enclosure->piece = p;
  w->enclosure->number++;
}

static double length_of(const ga_piece *p)
{
  return p->t[1] - p->t[0];
}

/* ---- Functions of time alone ---- */

/* Adds bounds of f(t) to out; returns 0: unknown. */
static int add_function(const ga_function *f, const ga_piece *p, question q, bounds *out)
{
  const double h = length_of(p), middle = p->t[0] + 0.5 * h;
  bounds rate, r = {0, 0};
  const int smooth = q != VALUE && ga__function_rate(f, p->t[0], p->t[1], &rate.lo, &rate.hi);
  if (q == RATE) {
    if (smooth) r = (bounds){h * rate.lo, h * rate.hi};
  } else if (!ga_function_bounds(f, smooth ? middle : p->t[0], smooth ? middle : p->t[1], &r.lo, &r.hi)) {
    return 0;
  }
  out->lo += r.lo;
  out->hi += r.hi;
  return 1;
}

static bounds of_time(const ga_piece *p, question q)
{
  const double h = length_of(p), middle = p->t[0] + 0.5 * h;
  return q == VALUE ? (bounds){p->t[0], p->t[1]} : q == RATE ? (bounds){h, h} : (bounds){middle, middle};
}

static int of_time_signal(const ga__time_signal *c, const ga_piece *p, question q, bounds *out)
{
  if (!c || !c->known) return 0;
  *out = c->is_time ? of_time(p, q) : q == RATE ? (bounds){0, 0} : (bounds){c->value, c->value};
  for (int k = 0; k < 2; k++)
    if (c->f[k] && !add_function(c->f[k], p, q, out)) return 0;
  return 1;
}

/* ---- Outputs that depend on the motion ---- */

/* A parabola stays within the range of its Bézier points, its rate within that of their differences. */
static bounds of_parabola(const ga_piece *p, int y, question q)
{
  const double a = p->end[0].y[y], b = p->end[1].y[y], middle = p->middle.y[y];
  const double top = 2 * middle - 0.5 * (a + b), first = 2 * (top - a), last = 2 * (b - top);
  if (q == VALUE) return (bounds){fmin(fmin(a, b), top), fmax(fmax(a, b), top)};
  return q == RATE ? (bounds){fmin(first, last), fmax(first, last)} : (bounds){middle, middle};
}

static int output_bounds(ga__workspace *w, int i, const ga_piece *p, question q, bounds *out);
static int output_rate(ga__workspace *w, int i, const ga_piece *p, bounds *value, bounds *rate);

/* Finds VALUE of output y from its arguments. */
static void find_value(ga__workspace *w, const ga_piece *p, int y)
{
  enclosed *own = &w->enclosure->y[y];
  bounds value;
  own->piece[VALUE] = w->enclosure->number;
  own->known[VALUE] = 0;
  own->made = output_bounds(w, y, p, VALUE, &value);
  own->answer[VALUE] = own->made ? value : of_parabola(p, y, VALUE);
  own->known[VALUE] = 1;
}

/* Finds VALUE and RATE together. */
static void find_rate(ga__workspace *w, const ga_piece *p, int y)
{
  enclosed *own = &w->enclosure->y[y];
  bounds value, rate;
  own->piece[VALUE] = own->piece[RATE] = w->enclosure->number;
  own->known[VALUE] = own->known[RATE] = 0;
  const int found = output_rate(w, y, p, &value, &rate);
  own->made = found > 0;
  own->smooth = found != 1;
  own->answer[VALUE] = found ? value : of_parabola(p, y, VALUE);
  own->answer[RATE] = found == 2 ? rate : found ? (bounds){0, 0} : of_parabola(p, y, RATE);
  own->known[VALUE] = own->known[RATE] = 1;
}

/* Finds MIDDLE; RATE is known. */
static void find_middle(ga__workspace *w, const ga_piece *p, int y)
{
  enclosed *own = &w->enclosure->y[y];
  bounds middle;
  own->piece[MIDDLE] = w->enclosure->number;
  own->known[MIDDLE] = 0;
  if (!own->made)
    own->answer[MIDDLE] = of_parabola(p, y, MIDDLE);
  else
    own->answer[MIDDLE] =
        own->smooth && output_bounds(w, y, p, MIDDLE, &middle) ? middle : own->answer[VALUE];
  own->known[MIDDLE] = 1;
}

/* Bounds of output y. Within a step outputs are only interpolated, by parabolas, which do not see a narrow
 * feature of an argument. So outputs are bounded by their arguments where possible. */
static bounds of_y(ga__workspace *w, const ga_piece *p, int y, question q)
{
  static void (*const find[QUESTIONS])(ga__workspace *, const ga_piece *, int) = {find_value, find_rate,
                                                                                  find_middle};
  const enclosed *own = &w->enclosure->y[y];
  if (!own->composed) return of_parabola(p, y, q);
  if (q == MIDDLE) (void)of_y(w, p, y, RATE);
  if (own->piece[q] != w->enclosure->number) find[q](w, p, y);
  return own->known[q] ? own->answer[q] : of_parabola(p, y, q);
}

/* Ranges of a formula's variables: t, locals, outputs. */
static void formula_variables(ga__workspace *w, const ga__formula *f, const ga_piece *p, question q,
                              double *lo, double *hi)
{
  const int first = 1 + f->n_local;
  const bounds t = of_time(p, q);
  lo[0] = t.lo, hi[0] = t.hi;
  for (int i = 0; i < f->n_y; i++) {
    bounds r;
    if (!of_time_signal(f->time_signal ? &f->time_signal[first + i] : NULL, p, q, &r))
      r = of_y(w, p, f->y[i], q);
    lo[first + i] = r.lo, hi[first + i] = r.hi;
  }
}

int ga__formula_bounds(ga__workspace *w, const ga__formula *f, const ga_piece *p, const double *lo,
                       const double *hi, double out[2])
{
  double from[MOST_VARIABLES], to[MOST_VARIABLES];
  if (f->n_local + f->n_y == 0 || 1 + f->n_local + f->n_y > MOST_VARIABLES) return 0;
  select_piece(w, p);
  formula_variables(w, f, p, VALUE, from, to);
  for (int i = 0; i < f->n_local; i++) from[1 + i] = lo[i], to[1 + i] = hi[i];
  return ga_expr_bounds(f->expr, from, to, &out[0], &out[1]);
}

/* Value, function of time and output, added up. */
static int of_input(ga__workspace *w, const ga__input *in, const ga_piece *p, question q, bounds *out)
{
  *out = (bounds){0, 0};
  if (in->y >= 0) *out = of_y(w, p, in->y, q);
  if (q != RATE) out->lo += in->value, out->hi += in->value;
  return !in->function || add_function(in->function, p, q, out);
}

/* Ranges of a block's variables: t and inputs. */
static int block_variables(ga__workspace *w, const ga__block_instance *k, const ga_piece *p, question q,
                           double *lo, double *hi)
{
  const int n = ga_block_n_in(k->block);
  const bounds t = of_time(p, q);
  lo[0] = t.lo, hi[0] = t.hi;
  for (int i = 0; i < n; i++) {
    bounds r;
    if (!of_time_signal(k->time_signal ? &k->time_signal[1 + i] : NULL, p, q, &r) &&
        !of_input(w, &k->input[i], p, q, &r))
      return 0;
    lo[1 + i] = r.lo, hi[1 + i] = r.hi;
  }
  return 1;
}

/* Ranges of the arguments of output i, which is composed; returns 0: unknown. */
static int output_variables(ga__workspace *w, int i, const ga_piece *p, question q, double *lo, double *hi)
{
  const ga__y *row = GA__AT(w->b->y, ga__y, i);
  if (row->kind == GA__Y_ELEMENT) return block_variables(w, ga__output_block(w->b, row), p, q, lo, hi);
  formula_variables(w, GA__AT(w->b->formula, ga__formula, row->index), p, q, lo, hi);
  return 1;
}

static const ga_expr *formula_of(const ga__mbs_model *b, const ga__y *row)
{
  return row->kind == GA__Y_FORMULA ? GA__AT(b->formula, ga__formula, row->index)->expr : NULL;
}

static const ga_control_block *block_of(const ga__mbs_model *b, const ga__y *row)
{
  return ga__output_block(b, row)->block;
}

/* Bounds of output i from its arguments; returns 0: unknown. */
static int output_bounds(ga__workspace *w, int i, const ga_piece *p, question q, bounds *out)
{
  const ga__y *row = GA__AT(w->b->y, ga__y, i);
  const ga_expr *e = formula_of(w->b, row);
  double lo[MOST_VARIABLES], hi[MOST_VARIABLES];
  if (!output_variables(w, i, p, q, lo, hi)) return 0;
  if (e) return ga_expr_bounds(e, lo, hi, &out->lo, &out->hi);
  const double t[2] = {lo[0], hi[0]};
  return ga_block_bounds(block_of(w->b, row), row->output, t, lo + 1, hi + 1, &out->lo, &out->hi);
}

/* Values and rate; as ga__expr_rate(). */
static int output_rate(ga__workspace *w, int i, const ga_piece *p, bounds *value, bounds *rate)
{
  const ga__y *row = GA__AT(w->b->y, ga__y, i);
  const ga_expr *e = formula_of(w->b, row);
  double lo[MOST_VARIABLES], hi[MOST_VARIABLES], rate_lo[MOST_VARIABLES], rate_hi[MOST_VARIABLES], r[2], v[2];
  if (!output_variables(w, i, p, RATE, rate_lo, rate_hi) || !output_variables(w, i, p, VALUE, lo, hi))
    return 0;
  const int known = e ? ga__expr_rate(e, lo, hi, rate_lo, rate_hi, v, r)
                      : ga__block_rate(block_of(w->b, row), row->output, lo, hi, rate_lo, rate_hi, v, r);
  *value = (bounds){v[0], v[1]};
  *rate = (bounds){r[0], r[1]};
  return known;
}

/* Bounds of output i, which is composed, over the present piece; returns 0: only its parabola is known. */
static int value_of(ga__workspace *w, int i, const ga_piece *p, double out[2])
{
  if (w->enclosure->y[i].wavers && length_of(p) > 0) (void)of_y(w, p, i, RATE); /* it will be needed */
  const bounds r = of_y(w, p, i, VALUE);
  out[0] = r.lo, out[1] = r.hi;
  return w->enclosure->y[i].made;
}

/* Interval arithmetic ignores that terms depend on the same variable, so bounds of a sum whose terms cancel
 * are far too wide. Rates are better to first order: f(s) is within f(1/2) ± max |f'|/2. Arguments without a
 * rate enter f(1/2) with all their values, and f' not at all. */
static void narrow(ga__workspace *w, int i, const ga_piece *p, double out[2])
{
  if (!(length_of(p) > 0)) return;
  const bounds rate = of_y(w, p, i, RATE); /* computes VALUE again with it */
  if (!w->enclosure->y[i].smooth) return;
  const bounds middle = of_y(w, p, i, MIDDLE);
  const double half = 0.5 * fmax(fabs(rate.lo), fabs(rate.hi));
  out[0] = fmax(out[0], middle.lo - half);
  out[1] = fmin(out[1], middle.hi + half);
}

/* ---- Decision ---- */

/* 1: values may leave [low, high], their range at the ends. room: the tolerated departure downwards and
 * upwards, from that range and from `all`, the bounds within the step. */
static int may_leave(double low, double high, const double all[2], double room[2])
{
  const double slack = high - low + NEAR * fmax(fabs(low), fabs(high));
  room[0] = fmax(slack, SLIGHT * (low - all[0]));
  room[1] = fmax(slack, SLIGHT * (all[1] - high));
  return all[0] < low - slack || all[1] > high + slack;
}

static int leaves(double low, double high, const double room[2], const double within[2])
{
  return within[0] < low - room[0] || within[1] > high + room[1];
}

/* 1: this is the step that was judged last, bit for bit; its results are then used for its pieces. */
static int is_judged(const ga__enclosure *e, int n, const ga_piece *step)
{
  const double *at[3] = {step->end[0].y, step->end[1].y, step->middle.y};
  int same = memcmp(e->t, step->t, sizeof e->t) == 0;
  for (int k = 0; k < 3 && same; k++)
    same = memcmp(e->of_step + k * n, at[k], (size_t)n * sizeof(double)) == 0;
  return same;
}

/* A call with a whole step is always a new step: expressions may have changed. */
static void judge_anew(ga__enclosure *e, int n, const ga_piece *step)
{
  const double *at[3] = {step->end[0].y, step->end[1].y, step->middle.y};
  memcpy(e->t, step->t, sizeof e->t);
  for (int k = 0; k < 3; k++) memcpy(e->of_step + k * n, at[k], (size_t)n * sizeof(double));
  for (int i = 0; i < e->n_acting; i++) e->y[e->acting[i]].judged = 0;
}

/* Values of output i at the ends of a step. */
static void ends_of(const ga_piece *step, int i, double *low, double *high)
{
  const double a = step->end[0].y[i], z = step->end[1].y[i];
  *low = fmin(a, z);
  *high = fmax(a, z);
}

/* 1: output i may leave its values at the ends within the step. */
static int judge_output(ga__workspace *w, int i, const ga_piece *step)
{
  enclosed *own = &w->enclosure->y[i];
  double all[2], low, high;
  if (own->judged) return own->leaves;
  ends_of(step, i, &low, &high);
  select_piece(w, step);
  own->leaves = value_of(w, i, step, all) && may_leave(low, high, all, own->room);
  own->wavers = own->leaves;
  if (own->leaves) narrow(w, i, step, all), own->leaves = may_leave(low, high, all, own->room);
  own->leaves = own->leaves && leaves(low, high, own->room, all);
  own->judged = 1;
  return own->leaves;
}

static int output_hides(ga__workspace *w, int i, const ga_piece *step, const ga_piece *piece)
{
  const double *room = w->enclosure->y[i].room;
  double within[2], low, high;
  ends_of(step, i, &low, &high);
  select_piece(w, piece);
  if (!value_of(w, i, piece, within) || !leaves(low, high, room, within)) return 0;
  narrow(w, i, piece, within);
  return leaves(low, high, room, within);
}

/* For the whole step the first output that may leave its values is enough. For a piece all are judged first,
 * so that bounds of arguments are computed once for the step and once for the piece. */
static int outputs_hide(ga__workspace *w, const ga_piece *step, const ga_piece *piece)
{
  ga__enclosure *e = w->enclosure;
  const int n = e ? e->n_acting : 0;
  int any = 0;
  if (n == 0) return 0;
  if (piece == step || !is_judged(e, w->b->y.n, step)) judge_anew(e, w->b->y.n, step);
  for (int k = 0, at = w->suspect; k < n; k++, at = at + 1 < n ? at + 1 : 0) {
    if (!judge_output(w, e->acting[at], step)) continue;
    any = 1;
    if (piece == step)
      return w->suspect = at, 1; /* likely to hide something again: checked first next time */
  }
  for (int k = 0, at = w->suspect; k < n && any; k++, at = at + 1 < n ? at + 1 : 0)
    if (judge_output(w, e->acting[at], step) && output_hides(w, e->acting[at], step, piece))
      return w->suspect = at, 1;
  return 0;
}

/* ---- Forces along gauges ---- */

#define TURN 1.0 /* [rad] larger rotation within a piece: a cubic does not bound the gauge */

/* Poses and twists of a law's two nodes. */
static void move_to(ga__workspace *w, const ga__law *law, const ga_instant *at)
{
  const ga__gauge *g = GA__AT(w->b->gauge, ga__gauge, law->gauge[0]);
  const int end[2] = {g->a, g->b};
  w->motion = 0; /* kin belongs to no evaluation any more */
  if (w->b->form || w->b->carried.n) {
    ga__kin_at(w->b, at->q, at->v, NULL, w->kin);
    return;
  }
  for (int i = 0; i < 2; i++) {
    const int index = GA__AT(w->b->marker, ga__marker, end[i])->node;
    const ga__node *node = GA__AT(w->b->node, ga__node, index);
    if (node->rigid)
      ga__kin_rigid(node, at->q, at->v, NULL, &w->kin[index]);
    else
      ga__kin_other(node, at->q, at->v, NULL, &w->kin[index]);
  }
}

typedef struct gauge_at {
  double rho, rate, turns; /* turns: [rad/s] of the nodes, where the gauge depends on it */
  double d[3], d_rate[3];  /* of a distance: from a to b */
} gauge_at;

static gauge_at gauge_at_instant(ga__workspace *w, const ga__law *law, const ga_instant *at)
{
  const ga__gauge *gauge = GA__AT(w->b->gauge, ga__gauge, law->gauge[0]);
  gauge_at out = {0};
  move_to(w, law, at);
  ga__law_gauge_rate(w->b, law, w->kin, &out.rho, &out.rate, &out.turns);
  for (int i = 0; i < 3 && gauge->kind == GA__DISTANCE; i++) {
    ga__gauge along = {.kind = GA__WORLD, .a = gauge->a, .b = gauge->b};
    along.u[i] = 1;
    ga__gauge_rate(w->b, &along, w->kin, &out.d[i], &out.d_rate[i]);
  }
  return out;
}

/* |d| over a piece, d being the cubic with Bézier points P: at least the minimum of n · P for any unit vector
 * n, here that of their sum, and at most the largest |P|. A cubic of |d| itself would miss ends that pass
 * each other. */
static void distance_range(const gauge_at *a, const gauge_at *z, double h, ga__law_range *r)
{
  double P[4][3], sum[3] = {0, 0, 0}, least = INFINITY, most = 0, speed = 0;
  for (int i = 0; i < 3; i++) {
    P[0][i] = a->d[i], P[3][i] = z->d[i];
    P[1][i] = a->d[i] + h / 3 * a->d_rate[i];
    P[2][i] = z->d[i] - h / 3 * z->d_rate[i];
    for (int k = 0; k < 4; k++) sum[i] += P[k][i];
  }
  const double size = sqrt(ga__vec3_dot(sum, sum));
  for (int k = 0; k < 4; k++) {
    least = fmin(least, size > 0 ? ga__vec3_dot(sum, P[k]) / size : 0);
    most = fmax(most, sqrt(ga__vec3_dot(P[k], P[k])));
  }
  r->rho[0] = fmax(least, 0);
  r->rho[1] = most;
  if (least > 0.5 * fmin(a->rho, z->rho)) return;
  for (int k = 0; k < 3 && h > 0;
       k++) { /* the rate takes all values between those of approach and departure */
    double step[3];
    for (int i = 0; i < 3; i++) step[i] = 3 * (P[k + 1][i] - P[k][i]) / h;
    speed = fmax(speed, sqrt(ga__vec3_dot(step, step)));
  }
  r->rate[0] = -speed;
  r->rate[1] = speed;
}

/* ρ over a piece: the cubic through values and rates at its ends stays within the range of its Bézier points,
 * likewise its rate. Returns 0: the piece is too long for that. */
static int law_range(ga__workspace *w, const ga__law *law, const ga_piece *p, ga__law_range *r)
{
  const double h = p->t[1] - p->t[0];
  const gauge_at a = gauge_at_instant(w, law, &p->end[0]);
  const gauge_at z = h > 0 ? gauge_at_instant(w, law, &p->end[1]) : a;
  const double left = a.rho + h / 3 * a.rate, right = z.rho - h / 3 * z.rate;
  const double across = h > 0 ? 3 * (right - left) / h : a.rate;
  r->piece = p;
  r->rho[0] = fmin(fmin(a.rho, z.rho), fmin(left, right));
  r->rho[1] = fmax(fmax(a.rho, z.rho), fmax(left, right));
  r->rate[0] = fmin(fmin(a.rate, z.rate), across);
  r->rate[1] = fmax(fmax(a.rate, z.rate), across);
  if (h > 0 && GA__AT(w->b->gauge, ga__gauge, law->gauge[0])->kind == GA__DISTANCE)
    distance_range(&a, &z, h, r);
  return h * fmax(a.turns, z.turns) <= TURN;
}

/* 1: one of the law's terms may leave its values, see output_hides(); or the piece is too long and has to be
 * halved. */
int ga__law_hides(ga__workspace *w, const ga__element *el, const ga_piece *step, const ga_piece *piece)
{
  const ga__law *law = el->data;
  const ga__law_type *type = law->type;
  const ga_piece end[2] = {{{step->t[0], step->t[0]}, {step->end[0], step->end[0]}, step->end[0]},
                           {{step->t[1], step->t[1]}, {step->end[1], step->end[1]}, step->end[1]}};
  ga__law_range at[2], whole, part;
  for (int i = 0; i < 2; i++) law_range(w, law, &end[i], &at[i]);
  const int known = law_range(w, law, step, &whole);
  if (piece == step) part = whole;
  if (piece == step ? !known : !law_range(w, law, piece, &part)) return 1;
  for (int k = 0; k < type->n_terms; k++) {
    double first[2], last[2], all[2], within[2], room[2];
    if (!type->bounds(w, law, k, &at[0], first) || !type->bounds(w, law, k, &at[1], last)) continue;
    const double low = fmin(first[0], last[0]), high = fmax(first[1], last[1]);
    if (!type->bounds(w, law, k, &part, within)) continue;
    if (piece == step || !known || !type->bounds(w, law, k, &whole, all))
      all[0] = within[0], all[1] = within[1];
    if (may_leave(low, high, all, room) && leaves(low, high, room, within)) return 1;
  }
  return 0;
}

/* ---- All of them ---- */

/* 1: VALUE alone said that an output may leave its values in the step. */
static int was_searched(const ga__workspace *w)
{
  const ga__enclosure *e = w->enclosure;
  for (int i = 0; e && i < e->n_acting; i++)
    if (e->y[e->acting[i]].wavers) return 1;
  return 0;
}

int ga__machine_hidden(void *user, const ga_piece *step, const ga_piece *piece)
{
  ga__workspace *w = user;
  select_piece(w, NULL);
  if (outputs_hide(w, step, piece)) return 1;
  for (int i = w->b->first_unswept; i < w->b->element.n; i++) {
    const ga__element *el = ga__element_at(w->b, i);
    if (el->gate >= 0 && piece->end[0].y && !(piece->end[0].y[el->gate_y] > 0.5)) continue;
    if (el->type->may_hide && el->type->may_hide(el) && el->type->hides(w, el, step, piece)) return 1;
  }
  return piece == step && was_searched(w) ? -1 : 0;
}

int ga__machine_may_hide(const ga__mbs_model *b, int *motion)
{
  int blocks = 0;
  *motion = 0;
  for (int i = 0; i < b->element.n; i++) {
    const ga__element *el = ga__element_at(b, i);
    if (el->type->may_hide) *motion |= el->type->may_hide(el);
    blocks |= ga__element_block(el) != NULL;
  }
  return *motion || b->formula.n > 0 || blocks;
}
