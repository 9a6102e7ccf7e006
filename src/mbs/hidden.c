/* What may hide between the ends of a step: outputs that are expressions or tables, and forces along gauges,
 * enclosed while the motion goes through a piece of it. */
#include "mbs/hidden.h"
#include "expr/course.h"
#include "lie/mat3.h"
#include "mbs/form.h"
#include "mbs/law_impl.h"

#include <math.h>
#include <string.h>

enum { MOST_VARIABLES = 64 };
#define NEAR 0.25  /* of its values at the ends, that an expression may leave them by, */
#define SLIGHT 0.1 /* and of what it may take within the step */

/* ---- Outputs ---- */

/* What outputs stay within while the motion goes through a piece. Each is found once for a piece, from those
 * that it is made of; what an algebraic loop leads back to is on the way. */
typedef struct enclosed {
  double lo, hi;
  long piece; /* number of the one that it was found for */
  int known;  /* 0: on the way */
  int acts;   /* 1: a force, a state or a block without bounds uses it; others act through outputs alone */
  int judged; /* 1: of the step as a whole it is known whether it may leave its values at the ends, */
  int leaves; /* and that it may, */
  double room[2]; /* by more than this, see may_leave() */
} enclosed;

typedef struct ga__enclosure ga__enclosure;
struct ga__enclosure {
  long number; /* of the piece that is looked at */
  const ga_piece *piece;
  double t[2], *of_step; /* [3 n_y] the step that was judged: its times, outputs at its ends and its middle */
  enclosed y[];          /* [n_y] */
};

static void mark_inputs(const ga__built *b, const ga__input *in, int n)
{
  for (int i = 0; i < n; i++)
    if (in[i].y >= 0) b->enclosure->y[in[i].y].acts = 1;
}

static int has_bounds(const ga_control_block *block)
{
  const ga_block_kind kind = ga_block_get_kind(block);
  return ga_block_n_x(block) == 0 && kind != GA_KIND_TABLE2D && kind != GA_KIND_USER;
}

static void mark_acting(const ga__built *b)
{
  for (int i = 0; i < b->law.n; i++) {
    const ga__law *law = GA__AT(b->law, ga__law, i);
    mark_inputs(b, &law->input, 1);
    for (int k = 0; k < law->formula.n_y; k++) b->enclosure->y[law->formula.y[k]].acts = 1;
  }
  for (int i = 0; i < b->wrench.n; i++) {
    const ga__wrench *w = GA__AT(b->wrench, ga__wrench, i);
    mark_inputs(b, w->force, 3);
    mark_inputs(b, w->torque, 3);
  }
  for (int i = 0; i < b->blocked.n; i++) {
    const ga__blocked *k = GA__AT(b->blocked, ga__blocked, i);
    if (!has_bounds(k->block)) mark_inputs(b, k->input, ga_block_n_in(k->block));
  }
}

ga_status ga__hidden_create(ga_machine *m, ga__built *b)
{
  if (b->y.n == 0) return GA_OK;
  const size_t n = (size_t)b->y.n;
  b->enclosure = ga__alloc(m->ctx, 1, sizeof *b->enclosure + n * (sizeof(enclosed) + 3 * sizeof(double)));
  if (!b->enclosure) return ga__no_memory(m->ctx, "bounds of outputs");
  b->enclosure->of_step = (double *)(b->enclosure->y + n);
  mark_acting(b);
  return GA_OK;
}

/* Bounds of the outputs from here on are those in p; NULL: in what comes next. */
static void turn_to(const ga__built *b, const ga_piece *p)
{
  if (!b->enclosure || (p && b->enclosure->piece == p)) return;
  b->enclosure->piece = p;
  b->enclosure->number++;
}

static int output_bounds(const ga__built *b, int i, const ga_piece *p, double out[2]);

/* What goes with time alone is known. */
static int range_of_course(const ga__course *c, const ga_piece *p, double *lo, double *hi)
{
  return c && ga__course_bounds(c, p->t[0], p->t[1], lo, hi);
}

/* A parabola stays within the triangle of its Bézier points. */
static void range_of_parabola(const ga_piece *p, int y, double *lo, double *hi)
{
  const double a = p->end[0].y[y], b = p->end[1].y[y], top = 2 * p->middle.y[y] - 0.5 * (a + b);
  *lo = fmin(fmin(a, b), top);
  *hi = fmax(fmax(a, b), top);
}

/* Between the ends of a step outputs are only interpolated, by parabolas: where something narrow hides in one
 * of them that others are made of, they know nothing of it. So what can be is enclosed by what it is made of.
 */
static void range_of_y(const ga__built *b, const ga_piece *p, int y, double *lo, double *hi)
{
  enclosed *own = &b->enclosure->y[y];
  double out[2];
  range_of_parabola(p, y, lo, hi);
  if (GA__AT(b->y, ga__y, y)->kind == GA__Y_PROBE) return;
  if (own->piece != b->enclosure->number) {
    own->piece = b->enclosure->number;
    own->known = 0;
    const int found = output_bounds(b, y, p, out);
    own->lo = found ? out[0] : *lo;
    own->hi = found ? out[1] : *hi;
    own->known = 1;
  }
  if (own->known) *lo = own->lo, *hi = own->hi;
}

int ga__formula_bounds(const ga__built *b, const ga__formula *f, const ga_piece *p, const double *lo,
                       const double *hi, double out[2])
{
  double from[MOST_VARIABLES], to[MOST_VARIABLES];
  const int first = 1 + f->n_local;
  if (f->n_local + f->n_y == 0 || first + f->n_y > MOST_VARIABLES) return 0;
  turn_to(b, p);
  from[0] = p->t[0], to[0] = p->t[1];
  for (int i = 0; i < f->n_local; i++) from[1 + i] = lo[i], to[1 + i] = hi[i];
  for (int i = 0; i < f->n_y; i++)
    if (!range_of_course(f->course ? &f->course[first + i] : NULL, p, &from[first + i], &to[first + i]))
      range_of_y(b, p, f->y[i], &from[first + i], &to[first + i]);
  return ga_expr_bounds(f->expr, from, to, &out[0], &out[1]);
}

/* Value, function of time and output, added up. */
static int input_bounds(const ga__built *b, const ga__input *in, const ga_piece *p, double *lo, double *hi)
{
  double of_time[2] = {0, 0};
  *lo = *hi = 0;
  if (in->function && !ga_function_bounds(in->function, p->t[0], p->t[1], &of_time[0], &of_time[1])) return 0;
  if (in->y >= 0) range_of_y(b, p, in->y, lo, hi);
  *lo += in->value + of_time[0];
  *hi += in->value + of_time[1];
  return 1;
}

static int block_bounds(const ga__built *b, const ga__blocked *k, int output, const ga_piece *p,
                        double out[2])
{
  double lo[MOST_VARIABLES], hi[MOST_VARIABLES];
  const int n = ga_block_n_in(k->block);
  if (n == 0 || n > MOST_VARIABLES || ga_block_n_x(k->block) > 0) return 0;
  for (int i = 0; i < n; i++)
    if (!range_of_course(k->course ? &k->course[1 + i] : NULL, p, &lo[i], &hi[i]) &&
        !input_bounds(b, &k->input[i], p, &lo[i], &hi[i]))
      return 0;
  return ga_block_bounds(k->block, output, p->t, lo, hi, &out[0], &out[1]);
}

/* Bounds of output number i, where it is a formula, or of a block that has bounds. */
static int output_bounds(const ga__built *b, int i, const ga_piece *p, double out[2])
{
  const ga__y *row = GA__AT(b->y, ga__y, i);
  if (row->kind == GA__Y_FORMULA)
    return ga__formula_bounds(b, GA__AT(b->formula, ga__formula, row->index), p, NULL, NULL, out);
  return row->kind == GA__Y_BLOCK &&
         block_bounds(b, GA__AT(b->blocked, ga__blocked, row->index), row->output, p, out);
}

/* ---- Judgement ---- */

/* By how much values may leave those at the ends, which are low and high, downwards and upwards, as seen from
 * them and from `all` that they may be within the step; 0: they do not leave them. */
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

/* What is known of a step serves its pieces: is it the one that was judged last, to the bit? */
static int is_judged(const ga__enclosure *e, int n, const ga_piece *step)
{
  const double *at[3] = {step->end[0].y, step->end[1].y, step->middle.y};
  int same = memcmp(e->t, step->t, sizeof e->t) == 0;
  for (int k = 0; k < 3 && same; k++)
    same = memcmp(e->of_step + k * n, at[k], (size_t)n * sizeof(double)) == 0;
  return same;
}

/* A step that is asked for as a whole is always a new one: expressions may have changed since. */
static void judge_anew(ga__enclosure *e, int n, const ga_piece *step)
{
  const double *at[3] = {step->end[0].y, step->end[1].y, step->middle.y};
  memcpy(e->t, step->t, sizeof e->t);
  for (int k = 0; k < 3; k++) memcpy(e->of_step + k * n, at[k], (size_t)n * sizeof(double));
  for (int i = 0; i < n; i++) e->y[i].judged = 0;
}

/* Values of output i at the ends of a step. */
static void ends_of(const ga_piece *step, int i, double *low, double *high)
{
  const double a = step->end[0].y[i], z = step->end[1].y[i];
  *low = fmin(a, z);
  *high = fmax(a, z);
}

/* May it leave them within the step? */
static int judge_output(const ga__built *b, int i, const ga_piece *step)
{
  enclosed *own = &b->enclosure->y[i];
  double all[2], low, high;
  if (own->judged || !own->acts) return own->acts && own->leaves;
  ends_of(step, i, &low, &high);
  turn_to(b, step);
  own->leaves = output_bounds(b, i, step, all) && may_leave(low, high, all, own->room) &&
                leaves(low, high, own->room, all);
  own->judged = 1;
  return own->leaves;
}

static int output_hides(const ga__built *b, int i, const ga_piece *step, const ga_piece *piece)
{
  double within[2], low, high;
  ends_of(step, i, &low, &high);
  turn_to(b, piece);
  return output_bounds(b, i, piece, within) && leaves(low, high, b->enclosure->y[i].room, within);
}

/* Of the whole step one that may leave its values is enough; of a piece all are judged first, so that bounds
 * of what they are made of are found once in the step and once in the piece. */
static int outputs_hide(ga__built *b, const ga_piece *step, const ga_piece *piece)
{
  const int n = b->y.n;
  int any = 0;
  if (n == 0) return 0;
  if (piece == step || !is_judged(b->enclosure, n, step)) judge_anew(b->enclosure, n, step);
  for (int k = 0; k < n; k++) { /* what hid something may do so again: it is asked first */
    const int i = (b->suspect + k) % n;
    if (!judge_output(b, i, step)) continue;
    any = 1;
    if (piece == step) return b->suspect = i, 1;
  }
  for (int k = 0; k < n && any; k++) {
    const int i = (b->suspect + k) % n;
    if (judge_output(b, i, step) && output_hides(b, i, step, piece)) return b->suspect = i, 1;
  }
  return 0;
}

/* ---- Forces along gauges ---- */

#define TURN 1.0 /* [rad] of a piece, beyond which a cubic tells nothing of a gauge of a body that turns */

/* Poses and twists of a law's two nodes. */
static void move_to(ga__built *b, const ga__law *law, const ga_instant *at)
{
  const ga__gauge *g = GA__AT(b->gauge, ga__gauge, law->gauge[0]);
  const int end[2] = {g->a, g->b};
  b->motion = 0; /* kin belongs to no point of an evaluation any more */
  if (b->form) {
    ga__kin_at(b, at->q, at->v, NULL, b->kin);
    return;
  }
  for (int i = 0; i < 2; i++) {
    const int index = GA__AT(b->marker, ga__marker, end[i])->node;
    const ga__node *node = GA__AT(b->node, ga__node, index);
    if (node->rigid)
      ga__kin_rigid(node, at->q, at->v, NULL, &b->kin[index]);
    else
      ga__kin_other(node, at->q, at->v, NULL, &b->kin[index]);
  }
}

typedef struct gauge_at {
  double rho, rate, turns; /* turns: [rad/s] of the nodes, where the gauge depends on it */
  double d[3], d_rate[3];  /* of a distance: from a to b */
} gauge_at;

static gauge_at gauge_at_instant(ga__built *b, const ga__law *law, const ga_instant *at)
{
  const ga__gauge *gauge = GA__AT(b->gauge, ga__gauge, law->gauge[0]);
  gauge_at out = {0};
  move_to(b, law, at);
  ga__law_first(b, law, b->kin, &out.rho, &out.rate, &out.turns);
  for (int i = 0; i < 3 && gauge->kind == GA__DISTANCE; i++) {
    ga__gauge along = {.kind = GA__WORLD, .a = gauge->a, .b = gauge->b};
    along.u[i] = 1;
    ga__gauge_rate(b, &along, b->kin, &out.d[i], &out.d_rate[i]);
  }
  return out;
}

/* |d| within a piece, where d goes along the cubic with the Bézier points P: at least the least n · P for any
 * unit vector n, here that of their sum; at most the largest |P|. The cubic of |d| itself does not see that
 * ends pass each other. */
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
  for (int k = 0; k < 3 && h > 0; k++) { /* the rate goes through all between approach and departure */
    double step[3];
    for (int i = 0; i < 3; i++) step[i] = 3 * (P[k + 1][i] - P[k][i]) / h;
    speed = fmax(speed, sqrt(ga__vec3_dot(step, step)));
  }
  r->rate[0] = -speed;
  r->rate[1] = speed;
}

/* ρ within a piece: the cubic through values and rates at its ends stays within its Bézier points, its rate
 * within theirs. 0: the piece is too long to tell. */
static int law_range(ga__built *b, const ga__law *law, const ga_piece *p, ga__law_range *r)
{
  const double h = p->t[1] - p->t[0];
  const gauge_at a = gauge_at_instant(b, law, &p->end[0]);
  const gauge_at z = h > 0 ? gauge_at_instant(b, law, &p->end[1]) : a;
  const double left = a.rho + h / 3 * a.rate, right = z.rho - h / 3 * z.rate;
  const double across = h > 0 ? 3 * (right - left) / h : a.rate;
  r->piece = p;
  r->rho[0] = fmin(fmin(a.rho, z.rho), fmin(left, right));
  r->rho[1] = fmax(fmax(a.rho, z.rho), fmax(left, right));
  r->rate[0] = fmin(fmin(a.rate, z.rate), across);
  r->rate[1] = fmax(fmax(a.rate, z.rate), across);
  if (h > 0 && GA__AT(b->gauge, ga__gauge, law->gauge[0])->kind == GA__DISTANCE) distance_range(&a, &z, h, r);
  return h * fmax(a.turns, z.turns) <= TURN;
}

/* A law hides something where one of its terms does; see output_hides(). Pieces too long to tell are halved.
 */
static int law_hides(ga__built *b, const ga__law *law, const ga_piece *step, const ga_piece *piece)
{
  const ga__law_type *type = ga__law_type_of(law->kind);
  const ga_piece end[2] = {{{step->t[0], step->t[0]}, {step->end[0], step->end[0]}, step->end[0]},
                           {{step->t[1], step->t[1]}, {step->end[1], step->end[1]}, step->end[1]}};
  ga__law_range at[2], whole, part;
  for (int i = 0; i < 2; i++) law_range(b, law, &end[i], &at[i]);
  const int known = law_range(b, law, step, &whole);
  if (piece == step) part = whole;
  if (piece == step ? !known : !law_range(b, law, piece, &part)) return 1;
  for (int k = 0; k < type->n_terms; k++) {
    double first[2], last[2], all[2], within[2], room[2];
    if (!type->bounds(b, law, k, &at[0], first) || !type->bounds(b, law, k, &at[1], last)) continue;
    const double low = fmin(first[0], last[0]), high = fmax(first[1], last[1]);
    if (!type->bounds(b, law, k, &part, within)) continue;
    if (piece == step || !known || !type->bounds(b, law, k, &whole, all))
      all[0] = within[0], all[1] = within[1];
    if (may_leave(low, high, all, room) && leaves(low, high, room, within)) return 1;
  }
  return 0;
}

/* ---- All of them ---- */

int ga__machine_hidden(void *user, const ga_piece *step, const ga_piece *piece)
{
  ga__built *b = ((const ga_machine *)user)->built;
  turn_to(b, NULL);
  if (outputs_hide(b, step, piece)) return 1;
  for (int i = 0; i < b->law.n; i++) {
    const ga__law *law = GA__AT(b->law, ga__law, i);
    if (law->may_hide && law_hides(b, law, step, piece)) return 1;
  }
  return 0;
}

int ga__machine_may_hide(const ga__built *b, int *motion)
{
  *motion = 0;
  for (int i = 0; i < b->law.n; i++) *motion |= GA__AT(b->law, ga__law, i)->may_hide;
  return *motion || b->formula.n + b->blocked.n > 0;
}
