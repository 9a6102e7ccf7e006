/* Collocation: order 2M by Lobatto IIIA, 2M − 1 by Radau IIA (Hairer & Wanner II, IV.5), on Lie groups.
 *
 * Nodes 0 = c₀ < ... < c_M = 1 of the step h, A_mj = ∫₀^c_m ℓ_j; with two nodes (M = 1) it is the
 * generalized-α method with ρ∞ = 1. Unknowns are z = (vdot, λ, ψ, xdot, y) at the nodes 1 ... M:
 *
 *   v_m = v₀ + h Σ A_mj vdot_j      Ω_m = h Σ A_mj T(Ω_j)⁻¹ v_j      q_m = move(q₀, Ω_m)
 *   x_m = x₀ + h Σ A_mj xdot_j
 *
 * with M vdot = f, B v + Φ_t = 0, k = 0, xdot = s and y = o at every node: constraints of velocities only. At
 * the end of the step q is moved onto Φ = 0, v onto its constraints, and vdot, λ, ψ, y are computed again
 * from q, v and x (collocation_end.c): they then have the order of q.
 *
 * The equations are solved by sweeps: residuals at all nodes, then an increment at each of them with its own
 * matrix, made once a step at the predicted values. With d = h A_mm and D with shifts (d, 1) it is
 *
 *   dyn, x, y   D + d² Q       columns x: d D; + I (x,x), + I (y,y)
 *   Φ           B + d G        right-hand side: A₁⁻¹ (B v + Φ_t)/h over the nodes
 *   k           D/d + d Q      right-hand side: A₁⁻¹ k/h
 *
 * where A₁ is A without row and column 0: without it multipliers would converge by a factor of 2 only. T
 * does not occur, since T(Ω) δΩ = d δv up to O(h²). At the last node d is all but 0, see shift_of(). */
#include "core/collocation.h"
#include "core/arrays.h"
#include "base/quad.h"
#include "lin/lin_impl.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

/* A sweep contracts by this at least, or the step is too long. */
#define SLOWEST 0.9
/* The first sweeps contract more than the following ones: a better rate than this is not relied upon. */
#define LEAST_RATE 0.05
/* The first sweeps may grow while multipliers settle; beyond this they diverge. */
#define DIVERGES 2.0
/* Part of the tolerance for sweeps that contract less than with their own factors: what they leave has the
 * same sign in many steps. */
#define OF_OLD 0.25
/* Increments beyond this, relative to velocities, are no part of a solution. */
#define ASTRAY 1.0
/* Sweeps are cheaper than Newton's iterations, and more of them are needed. */
#define SWEEPS 2
enum { PASSES = 3 };  /* over the nodes, for Ω, at most */
#define PASS_RATE 0.2 /* by which they contract */
/* Between sweeps Ω may be off by a part of the next increment, by the contraction so far; that of the first
 * sweep, which better ones are not relied upon. */
#define PART_OF_NEXT 0.05
#define FIRST_RATE 0.3
/* Orders of Radau for stiff equations, where the one of Lobatto was at most ORDER_OF_LOOSE, and beyond. */
enum { ORDER_OF_LOOSE = 6, STIFF_ORDER = 5, STIFF_ORDER_TIGHT = 7 };
#define STALL_LIMIT 1e-7 /* increments below this that fall by less than STALLS in STALLED_MOST sweeps, */
#define STALLS 0.8
#define GROWN 5.0 /* and have not grown by this, are rounding */
enum { STALLED_MOST = 3 };
#define FREE 0.01           /* weight of increments of λ, ψ, y, which are computed again at the end */
#define LEAST_VELOCITY 1e-3 /* errors of smaller velocities are relative to this */
#define EXTRAPOLATED 2.5    /* [-] longest step, relative to the last one, that its polynomial is used for */
#define FLOOR_MARGIN 50.0   /* increments below this many roundings do not become smaller */

/* ---- Memory ---- */

ga__colloc *ga__colloc_of(const ga_stepper *st)
{
  return st->own;
}

static void destroy(ga_stepper *st)
{
  if (st->own) ga__free(st->ctx, ga__colloc_of(st)->block);
  ga__free(st->ctx, st->own);
  st->own = NULL;
}

static ga_status create(ga_stepper *st)
{
  const ga_system *sys = st->sys;
  const size_t n = (size_t)sys->n, nv = (size_t)sys->nv, nq = (size_t)sys->nq,
               nx = (size_t)sys->size[GA_BLOCK_X];
  ga__colloc *c = st->own = ga__alloc(st->ctx, 1, sizeof *c);
  if (!c) return ga__no_memory(st->ctx, "a stepper");
  c->course = -1;
  for (int order = 0; order <= GA__MOST_ORDER; order++) ga__colloc_rule_make(order, &c->rule[order]);
  const ga__array part[] = {{&c->z, GA__NODES * n},
                            {&c->v, GA__NODES * nv},
                            {&c->x, GA__NODES * nx},
                            {&c->exponent, GA__NODES * nv},
                            {&c->rate, GA__NODES * nv},
                            {&c->q, GA__NODES * nq},
                            {&c->r, GA__NODES * n},
                            {&c->end_q, nv},
                            {&c->coarse_end_q, nv},
                            {&c->end_place, nq},
                            {&c->gap_v, nv},
                            {&c->gap_x, nx},
                            {&c->omega, nv},
                            {&c->last, n},
                            {&c->levels, GA__COLLOC_LEVELS * n},
                            {&c->nodes, GA__NODES * n},
                            {&c->further, GA__NODES * n},
                            {&c->inside_q, nq},
                            {&c->inside_v, nv},
                            {&c->inside_x, nx},
                            {&c->inside_z, n},
                            {&c->inside, GA__NODES * 2 * nv},
                            {&c->made_q, nq},
                            {&c->made_v, nv},
                            {&c->made_z, n},
                            {&c->made_x, nx}};
  return ga__arrays_create(st->ctx, GA__ARRAYS(part), "a stepper", &c->block, NULL);
}

/* Of a state: numbers of the family, and z at the nodes of its last step before its end. */
static size_t state_length(const ga_stepper *st)
{
  return GA__COLLOC_Z + GA__MOST_STAGES * (size_t)st->sys->n;
}

/* Of the nodes of the largest rule that is used, and of the end of steps with sweeps in order. */
static int most_factors(const ga_stepper *st)
{
  return st->opts.order > 0 ? (st->opts.order + 1) / 2 + 1 : GA__MOST_FACTORS;
}

/* ---- Nodes ---- */

ga_point ga__colloc_point(const ga_stepper *st, int m)
{
  const ga_system *sys = st->sys;
  const ga__colloc *c = ga__colloc_of(st);
  const int *start = sys->start;
  const double *z = c->z + m * sys->n;
  const double t =
      m == c->now->stages ? st->next.scalar[GA__T] : st->now.scalar[GA__T] + c->now->c[m] * st->h;
  return (ga_point){t,
                    c->q + m * sys->nq,
                    c->v + m * sys->nv,
                    z,
                    z + start[GA_BLOCK_LAMBDA],
                    z + start[GA_BLOCK_PSI],
                    c->x + m * sys->size[GA_BLOCK_X],
                    z + start[GA_BLOCK_Y],
                    0,
                    NULL};
}

void ga__colloc_collect(const ga_system *sys, const ga__state *s, double *z)
{
  const double *const from[GA_N_BLOCKS] = {s->vdot, s->lambda, s->psi, s->xdot, s->y};
  for (int b = 0; b < GA_N_BLOCKS; b++) ga__copy_numbers(z + sys->start[b], from[b], sys->size[b]);
}

void ga__colloc_distribute(const ga_system *sys, const double *z, ga__state *s)
{
  double *const to[GA_N_BLOCKS] = {s->vdot, s->lambda, s->psi, s->xdot, s->y};
  for (int b = 0; b < GA_N_BLOCKS; b++) ga__copy_numbers(to[b], z + sys->start[b], sys->size[b]);
}

/* to[n] = from + Σ_j w_j node_j, of a number of nodes that the compiler knows */
GA__INLINE void sum_of(const int count, double *to, const double *from, int n, const double *w,
                       const double *nodes, int stride)
{
  GA__INDEPENDENT
  for (int i = 0; i < n; i++) {
    double sum = from ? from[i] : 0.0;
    for (int j = 0; j < count; j++) sum += w[j] * nodes[j * stride + i];
    to[i] = sum;
  }
}

GA__INLINE void sum_by_count(int count, double *to, const double *from, int n, const double *w,
                             const double *nodes, int stride)
{
  switch (count) {
  case 2:
    sum_of(2, to, from, n, w, nodes, stride);
    break;
  case 3:
    sum_of(3, to, from, n, w, nodes, stride);
    break;
  case 4:
    sum_of(4, to, from, n, w, nodes, stride);
    break;
  case 5:
    sum_of(5, to, from, n, w, nodes, stride);
    break;
  default:
    sum_of(count, to, from, n, w, nodes, stride);
  }
}

GA__WIDE static void sum_nodes(int count, double *to, const double *from, int n, const double *w,
                               const double *nodes, int stride)
{
  sum_by_count(count, to, from, n, w, nodes, stride);
}

/* to[n] = from + h Σ_j w_j node_j; from NULL: 0. */
static void add_nodes(const ga__colloc_rule *rule, double h, const double *w, const double *nodes, int stride,
                      double *to, const double *from, int n)
{
  double scaled[GA__NODES];
  const int count = rule->stages - rule->first + 1;
  if (n == 0) return;
  for (int j = 0; j < count; j++) scaled[j] = h * w[rule->first + j];
  sum_nodes(count, to, from, n, scaled, nodes + rule->first * stride, stride);
}

void ga__colloc_add(const ga__colloc_rule *rule, double h, const double *w, const double *nodes, int stride,
                    double *to, int n)
{
  add_nodes(rule, h, w, nodes, stride, to, to, n);
}

/* to_m = begin + h Σ A_mj rate_j, rate[GA__NODES][stride]; begin NULL: 0. */
GA__WIDE static void integrate(const ga__colloc_rule *rule, double h, const double *begin, const double *rate,
                               int stride, double *to, int n)
{
  double scaled[GA__NODES];
  const int first = rule->first, count = rule->stages - first + 1;
  for (int m = 1; n > 0 && m <= rule->stages; m++) {
    for (int j = 0; j < count; j++) scaled[j] = h * rule->A[m][first + j];
    sum_by_count(count, to + m * n, begin, n, scaled, rate + first * stride, stride);
  }
}

/* to[n] := from; the largest difference that this makes. */
GA__WIDE static double replace(double *to, const double *from, int n)
{
  const ga__quad_mask sign = {INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX};
  ga__quad most = {0, 0, 0, 0};
  double rest = 0.0;
  int i = 0;
  for (; i + 4 <= n; i += 4) {
    const ga__quad x = ga__quad_load(from + i), d = x - ga__quad_load(to + i);
    most = ga__quad_larger((ga__quad)((ga__quad_mask)d & sign), most);
    *(ga__quad *)(to + i) = x;
  }
  for (; i < n; i++) {
    const double d = fabs(from[i] - to[i]);
    rest = d > rest ? d : rest;
    to[i] = from[i];
  }
  for (int k = 0; k < 4; k++) rest = most[k] > rest ? most[k] : rest;
  return rest;
}

/* Moves of Ω [rad or m] that the sweeps need not know better, at the rate at which passes contract where
 * bodies turn by about 1 rad. */
static double exact_enough(const ga_stepper *st)
{
  return ga__colloc_tolerance(st) * st->h * ga__colloc_of(st)->size_v / PASS_RATE;
}

/* The same between sweeps, behind an increment of p->size. */
static double exact_for_now(const ga_stepper *st, const ga__colloc_progress *p)
{
  const double rate = p->n > 0 ? fmin(p->rho, FIRST_RATE) : FIRST_RATE;
  return fmax(exact_enough(st), PART_OF_NEXT * rate * p->size * st->h * ga__colloc_of(st)->size_v);
}

/* Ω_m by passes over the nodes, from those of the last sweep, until they move by no more than `enough`. */
static void turn(ga_stepper *st, double enough)
{
  const ga_group *g = st->sys->group;
  ga__colloc *c = ga__colloc_of(st);
  const int nv = st->sys->nv, passes = ga_group_n_blocks(g) > 0 ? PASSES : 1;
  double *next = c->inside; /* free within a step */
  c->moved = 0.0;
  if (c->now->first == 0) ga__copy_numbers(c->rate, c->v, nv); /* Ω = 0 */
  for (int pass = 0; pass < passes; pass++) {
    for (int m = 1; m <= c->now->stages; m++)
      ga_group_exponent_rate(g, c->rate + m * nv, c->exponent + m * nv, c->v + m * nv);
    integrate(c->now, st->h, NULL, c->rate, nv, next, nv);
    const double moved = replace(c->exponent + nv, next + nv, c->now->stages * nv);
    c->moved = fmax(c->moved, moved);
    if (moved <= enough) break;
  }
}

/* v, x, Ω, q at the nodes from vdot and xdot there. */
static void move_nodes(ga_stepper *st, double enough)
{
  const ga_system *sys = st->sys;
  ga__colloc *c = ga__colloc_of(st);
  const int nx = sys->size[GA_BLOCK_X];
  integrate(c->now, st->h, st->now.v, c->z, sys->n, c->v, sys->nv);
  integrate(c->now, st->h, st->now.x, c->z + sys->start[GA_BLOCK_X], sys->n, c->x, nx);
  turn(st, enough);
  for (int m = 1; m <= c->now->stages; m++)
    ga_group_move(sys->group, c->q + m * sys->nq, st->now.q, c->exponent + m * sys->nv);
}

/* next := the last node. */
static void trial(ga_stepper *st)
{
  const ga_system *sys = st->sys;
  ga__colloc *c = ga__colloc_of(st);
  const int m = c->now->stages;
  ga__colloc_distribute(sys, c->z + m * sys->n, &st->next);
  ga__copy_numbers(st->next.q, c->q + m * sys->nq, sys->nq);
  ga__copy_numbers(st->next.v, c->v + m * sys->nv, sys->nv);
  ga__copy_numbers(st->next.x, c->x + m * sys->size[GA_BLOCK_X], sys->size[GA_BLOCK_X]);
}

/* ---- Prediction ---- */

const ga__colloc_rule *ga__colloc_last_rule(const ga_stepper *st, const ga__state *s)
{
  const double order = s->own[GA__COLLOC_ORDER];
  if (!(s->scalar[GA__H_OLD] > 0.0 && order > 0.0 && order <= GA__MOST_ORDER)) return NULL;
  const ga__colloc_rule *rule = &ga__colloc_of(st)->rule[(int)order];
  return rule->stages >= GA__STAGES_LEAST ? rule : NULL;
}

int ga__colloc_predicts(const ga__colloc_rule *old, double h, double h_old, double c_m, double *w)
{
  if (!old || h > EXTRAPOLATED * h_old) return 0;
  ga__colloc_weights(old, 1.0 + c_m * h / h_old, w);
  return 1;
}

/* z at the nodes by the polynomial of the last step; behind a start by the rates found there. */
static void predict_nodes(ga_stepper *st, double h)
{
  const ga_system *sys = st->sys;
  const ga__state *now = &st->now;
  ga__colloc *c = ga__colloc_of(st);
  const int n = sys->n;
  const double h_old = now->scalar[GA__H_OLD];
  const ga__colloc_rule *old = ga__colloc_last_rule(st, now);
  const double *const rates[GA_N_BLOCKS] = {now->vdot_prev, now->lambda_prev, now->psi_prev, now->xdot_prev,
                                            now->y_prev};
  ga__colloc_collect(sys, now, c->z);
  for (int m = 1; m <= c->now->stages; m++) {
    double *z = c->z + m * n, w[GA__NODES];
    ga__copy_numbers(z, c->z, n);
    if (ga__colloc_predicts(old, h, h_old, c->now->c[m], w)) {
      for (int i = 0; i < n; i++) z[i] *= w[old->stages];
      sum_nodes(old->stages - old->first, z, z, n, w + old->first, now->own + GA__COLLOC_Z + old->first * n,
                n);
    } else if (!(h_old > 0.0) && now->scalar[GA__HAS_JERK] != 0.0) {
      for (int b = 0; b < GA_N_BLOCKS; b++)
        for (int i = 0; i < sys->size[b]; i++) z[sys->start[b] + i] += c->now->c[m] * h * rates[b][i];
    }
    if (st->red.null.r > 0)
      ga__null_reduce(&st->red.null, sys, z + sys->start[GA_BLOCK_LAMBDA], z + sys->start[GA_BLOCK_PSI]);
  }
}

/* λ, ψ and y of the last steps into next, for extrapolations over a short time; and all that the step does
 * not use, so that a state does not depend on what was in its place before. */
static void keep_history(ga_stepper *st)
{
  const int *size = st->sys->size;
  const ga__state *now = &st->now, *next = &st->next;
  static const int unused[] = {GA__EPS_A, GA__EPS_W, GA__KAPPA_H2, GA__SPAN, GA__SPAN_W};
  for (size_t i = 0; i < sizeof unused / sizeof *unused; i++)
    next->scalar[unused[i]] = now->scalar[unused[i]];
  ga__copy_numbers(next->eta, now->eta, size[GA_BLOCK_LAMBDA]);
  const struct {
    double *prev2, *prev;
    const double *from2, *from;
    int n;
  } kept[] = {{next->lambda_prev2, next->lambda_prev, now->lambda_prev, now->lambda, size[GA_BLOCK_LAMBDA]},
              {next->psi_prev2, next->psi_prev, now->psi_prev, now->psi, size[GA_BLOCK_PSI]},
              {next->y_prev2, next->y_prev, now->y_prev, now->y, size[GA_BLOCK_Y]},
              {next->a_prev2, next->a_prev, now->a_prev, now->a, st->sys->nv},
              {next->w_prev2, next->w_prev, now->w_prev, now->w, size[GA_BLOCK_X]},
              {next->eta_prev2, next->eta_prev, now->eta_prev, now->eta, size[GA_BLOCK_LAMBDA]}};
  for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
    ga__copy_numbers(kept[i].prev2, kept[i].from2, kept[i].n);
    ga__copy_numbers(kept[i].prev, kept[i].from, kept[i].n);
  }
}

/* Rule and kind of sweeps: where the simple ones have failed, in order. The rule for stiff equations is not
 * taken where the order is given. */
static void choose_rule(ga_stepper *st, int in_order, int damps)
{
  ga__colloc *c = ga__colloc_of(st);
  const int order = st->order > ORDER_OF_LOOSE ? STIFF_ORDER_TIGHT : STIFF_ORDER;
  c->in_order = in_order;
  c->damps = in_order && damps && st->opts.order == 0;
  if (c->course >= 0) { /* of a step that is repeated */
    c->in_order = c->course / 16 % 2;
    c->damps = c->course / 32;
    c->now = &c->rule[c->course % 16];
    return;
  }
  c->now = &c->rule[c->damps ? order : st->order];
}

static void begin_nodes(ga_stepper *st, double h, int in_order, int damps)
{
  const ga_system *sys = st->sys;
  ga__colloc *c = ga__colloc_of(st);
  choose_rule(st, in_order, damps);
  predict_nodes(st, h);
  ga__copy_numbers(c->v, st->now.v, sys->nv);
  ga__copy_numbers(c->x, st->now.x, sys->size[GA_BLOCK_X]);
  ga__copy_numbers(c->q, st->now.q, sys->nq);
  memset(c->exponent, 0, GA__NODES * (size_t)sys->nv * sizeof(double));
  for (int m = 1; m <= c->now->stages; m++) /* with v of the beginning: the passes begin near Ω */
    for (int i = 0; i < sys->nv; i++) c->exponent[m * sys->nv + i] = c->now->c[m] * h * st->now.v[i];
  move_nodes(st, 0.0);
  trial(st);
}

static ga_status predict(ga_stepper *st, double h, ga__scratch scratch)
{
  (void)scratch;
  ga__begin_step(st, h);
  keep_history(st);
  st->v_n = st->now.v;
  st->c1 = st->c2 = st->d1 = 1.0;
  begin_nodes(st, h, st->now.own[GA__COLLOC_STIFF] > 0.0, st->now.own[GA__COLLOC_DAMPS] > 0.0);
  return GA_OK;
}

/* ---- Matrices ---- */

enum { ONE, STEP, STEP2, INV_STEP };
#define V (1u << GA_BLOCK_V)
#define X (1u << GA_BLOCK_X)
#define NOT_X (V | 1u << GA_BLOCK_LAMBDA | 1u << GA_BLOCK_PSI | 1u << GA_BLOCK_Y)
static const ga__rule RULES[] = {
    {GA_BLOCK_V, NOT_X, GA__FROM_D, 0, 0, 0, ONE, 0},   {GA_BLOCK_V, X, GA__FROM_D, 0, 0, 0, STEP, 0},
    {GA_BLOCK_V, V, GA__FROM_Q, 0, 0, 0, STEP2, 0},     {GA_BLOCK_LAMBDA, V, GA__FROM_Q, 0, 0, 0, ONE, 0},
    {GA_BLOCK_LAMBDA, V, GA__FROM_G, 0, 0, 0, STEP, 0}, {GA_BLOCK_PSI, V, GA__FROM_D, 0, 0, 0, INV_STEP, 0},
    {GA_BLOCK_PSI, V, GA__FROM_Q, 0, 0, 0, STEP, 0},    {GA_BLOCK_X, NOT_X, GA__FROM_D, 0, 0, 0, ONE, 0},
    {GA_BLOCK_X, X, GA__FROM_D, 0, 0, 0, STEP, 0},      {GA_BLOCK_X, V, GA__FROM_Q, 0, 0, 0, STEP2, 0},
    {GA_BLOCK_Y, NOT_X, GA__FROM_D, 0, 0, 0, ONE, 0},   {GA_BLOCK_Y, X, GA__FROM_D, 0, 0, 0, STEP, 0},
    {GA_BLOCK_Y, V, GA__FROM_Q, 0, 0, 0, STEP2, 0},
};
#undef V
#undef X
#undef NOT_X
static const unsigned WANTED = GA_WANT_D | GA_WANT_Q | GA_WANT_B | GA_WANT_G;

static ga_status layout(ga_stepper *st, ga__matrix_form form, int leaves_out, ga__layout *out)
{
  const int lambda = st->sys->start[GA_BLOCK_LAMBDA], psi = st->sys->start[GA_BLOCK_PSI];
  (void)leaves_out;
  *out = (ga__layout){.rule = RULES,
                      .n_rules = form == GA__COMPLETE ? (int)(sizeof RULES / sizeof *RULES) : 0,
                      .n_sets = 1,
                      .set = {{{lambda, psi}, {lambda, psi}, 0}}};
  return GA_OK;
}

/* Its factors are those of the matrix itself at the last node, the further ones before. Those of the end of
 * the step are those of the last node, but for sweeps in order. */
static int stage_of(const ga_stepper *st, int m)
{
  const ga__colloc *c = ga__colloc_of(st);
  if (m == GA__COLLOC_END) return c->own_end ? c->now->stages : 0;
  return m == c->now->stages ? 0 : m;
}

/* Derivative of v at a node by vdot there, without that by other nodes. */
static double step_of(const ga_stepper *st, int m)
{
  const ga__colloc *c = ga__colloc_of(st);
  return st->h * (c->in_order ? c->now->Q[m][m] : c->now->A[m][m]);
}

/* The same in the matrix of a node. What belongs to the end of the step, at given q and v
 * (collocation_end.c), is solved for by a matrix all but without d, which converges there at once. Simple
 * sweeps, which leave out the larger terms between nodes, need no more at the last node; for sweeps in order
 * it is one more matrix. Not 0: rows of k are divided by it. */
#define AT_END 1e-6

static double shift_of(const ga_stepper *st, int m)
{
  const ga__colloc *c = ga__colloc_of(st);
  const int at_end = m == GA__COLLOC_END || (!c->in_order && m == c->now->stages);
  return at_end ? AT_END * st->h : step_of(st, m);
}

static ga_jacobian derivatives(const ga_stepper *st, const ga__site *site, int m)
{
  return (ga_jacobian){WANTED, shift_of(st, m), 1.0, site->D, site->Q, site->G};
}

/* Where the calling thread evaluates and makes the matrix of a node. */
static ga__site own_site(ga_stepper *st, int m)
{
  return (ga__site){.ctx = st->ctx,
                    .sys = st->sys,
                    .deriv = &st->deriv,
                    .assembly = ga__stage_assembly(st, stage_of(st, m)),
                    .D = st->jacobian_D,
                    .Q = st->jacobian_Q,
                    .G = st->jacobian_G};
}

static void count_jacobian(ga_stepper *st)
{
  st->stats.jacobians++;
  if (!st->sys->def.jacobian) st->stats.difference_jacobians++;
}

void ga__colloc_fill(const ga_stepper *st, ga__assembly *as, const double *D, const double *Q,
                     const double *G, double d, double inverse)
{
  ga__assembly_input in = {.source = {D, Q, G, NULL, NULL},
                           .scale = {[ONE] = 1.0, [STEP] = d, [STEP2] = d * d, [INV_STEP] = inverse},
                           .diag_x = 1.0,
                           .null = &st->red.null,
                           .null_b = &st->red.null_eta};
  ga__assembly_fill(as, &in);
}

/* The matrix of a node from its derivatives. */
static void fill_matrix(ga_stepper *st, const ga__site *site, int m)
{
  const double d = shift_of(st, m);
  ga__factors_open_stage(st, stage_of(st, m));
  ga__colloc_fill(st, site->assembly, site->D, site->Q, site->G, d, 1.0 / d);
}

/* Notes where the matrix of the end was made: that of the last node, unless there is one of its own. */
static void note_made(ga_stepper *st, int m)
{
  const ga_system *sys = st->sys;
  ga__colloc *c = ga__colloc_of(st);
  const int M = c->now->stages;
  if (m != M && m != GA__COLLOC_END) return;
  c->made_t = st->next.scalar[GA__T];
  c->made_shift = shift_of(st, m);
  c->made_early = !c->in_order && c->sweeps == 0;
  ga__copy_numbers(c->made_q, c->q + M * sys->nq, sys->nq);
  ga__copy_numbers(c->made_v, c->v + M * sys->nv, sys->nv);
  ga__copy_numbers(c->made_z, c->z + M * sys->n, sys->n);
  ga__copy_numbers(c->made_x, c->x + M * sys->size[GA_BLOCK_X], sys->size[GA_BLOCK_X]);
}

/* The same, and its factors. */
static ga_status factor_node(ga_stepper *st, const ga__site *site, int m, const ga_point *p)
{
  ga_jacobian J = derivatives(st, site, m);
  ga__factors_save_matrix(st);
  fill_matrix(st, site, m);
  const ga_status status = ga__factor_stage(st, stage_of(st, m));
  if (!status) {
    ga__factors_save_stage(st, stage_of(st, m));
    note_made(st, m);
  }
  const ga_status bad = status == GA_RETRY_NAN ? ga__jacobian_check(st->sys, p, &J) : GA_OK;
  return bad ? bad : status;
}

static ga_status prepare_node(ga_stepper *st, int m)
{
  ga_point p = ga__colloc_point(st, m == GA__COLLOC_END ? ga__colloc_of(st)->now->stages : m);
  const ga__site site = own_site(st, m);
  ga_jacobian J = derivatives(st, &site, m);
  p.motion = ++st->motion;
  count_jacobian(st);
  const ga_status status = st->sys->def.sweep ? ga__b_alone(&st->deriv, &p, &J, st->r)
                                              : ga__jacobian_unchecked(&st->deriv, &p, &J);
  return status ? status : factor_node(st, &site, m, &p);
}

ga_status ga__colloc_prepare_end(ga_stepper *st)
{
  ga__colloc_of(st)->own_end = ga__colloc_of(st)->in_order;
  return prepare_node(st, GA__COLLOC_END);
}

/* The matrices of all nodes at the prediction. */
static ga_status prepare(ga_stepper *st)
{
  ga_status status = GA_OK;
  for (int m = 1; !status && m <= ga__colloc_of(st)->now->stages; m++) status = prepare_node(st, m);
  return status;
}

ga_status ga__colloc_solve(ga_stepper *st, int m, double *r)
{
  const ga__matrix *matrix = ga__matrix_in_use(st);
  st->stats.solves++;
  return ga__assembly_solve_squares(&matrix->assembly, ga__stage_factors(matrix, stage_of(st, m)),
                                    &st->red.null, &st->red.null_eta, r);
}

/* ---- Sweeps ---- */

/* Residuals of a node into its r, with B v + Φ_t in the rows of Φ; with `renew` its derivatives. */
static ga_status evaluate_at(const ga_stepper *st, const ga__site *site, int m, const ga_point *p, int renew)
{
  const ga_system *sys = site->sys;
  const double *z = ga__colloc_of(st)->z + m * sys->n;
  double *r = ga__colloc_of(st)->r + m * sys->n;
  ga_jacobian J = derivatives(st, site, m);
  ga_status status;
  if (sys->def.sweep) {
    status = ga__sweep(sys, p, r, site->rate, renew ? &J : NULL, site->force);
    if (!status) ga__copy_numbers(r + sys->start[GA_BLOCK_LAMBDA], site->rate, sys->size[GA_BLOCK_LAMBDA]);
  } else {
    status = ga__residual_of_rates(site->deriv, p, r, site->force);
    if (!status && renew) status = ga__jacobian_unchecked(site->deriv, p, &J);
  }
  for (int i = sys->start[GA_BLOCK_X]; !status && i < sys->n; i++) r[i] += z[i]; /* xdot − s, y − o */
  return status;
}

/* The same by the calling thread, and the matrix of the node. */
static ga_status evaluate_node(ga_stepper *st, int m, int renew, ga__scratch scratch)
{
  ga__site site = own_site(st, m);
  ga_point p = ga__colloc_point(st, m);
  const double begin = ga__seconds(st), factor = st->stats.time_factor;
  site.force = ga__take(&scratch, st->sys->nv);
  site.rate = ga__take(&scratch, st->sys->size[GA_BLOCK_LAMBDA]);
  st->stats.residuals++;
  p.motion = ++st->motion;
  ga_status status = evaluate_at(st, &site, m, &p, renew);
  if (!status && renew) {
    count_jacobian(st);
    status = factor_node(st, &site, m, &p);
  }
  st->stats.time_residual += ga__seconds(st) - begin - (st->stats.time_factor - factor);
  return status;
}

/* ---- Nodes by several threads ----
 * Each node belongs to one thread, by its number. Where something fails all of it is done again by the
 * calling thread, so that failures are those of one thread. */

typedef struct team {
  ga_stepper *st;
  ga__site own;
  int renew;
  ga_status status[GA__NODES]; /* of nodes, or of threads */
} team;

static ga_status renew_in_thread(ga_stepper *st, const ga__site *site, int m)
{
  ga_lu *lu = ga__stage_factors(ga__matrix_in_use(st), stage_of(st, m));
  fill_matrix(st, site, m);
  ga__lu_decouple(lu, 0, NULL);
  const ga_status status = ga_lu_factor(lu);
  if (!status) ga__factors_save_stage(st, stage_of(st, m));
  return status;
}

static void evaluate_share(void *user, int who)
{
  team *t = user;
  ga_stepper *st = t->st;
  for (int m = 1; m <= ga__colloc_of(st)->now->stages; m++) {
    if (ga__stage_thread(st, stage_of(st, m)) != who) continue;
    const ga__site *site = who > 0 ? ga__helpers_site(st->factors.helpers, who) : &t->own;
    ga_point p = ga__colloc_point(st, m);
    p.motion = st->motion + (unsigned long)m;
    t->status[m] = evaluate_at(st, site, m, &p, t->renew);
    if (!t->status[m] && t->renew) t->status[m] = renew_in_thread(st, site, m);
  }
}

/* 1: done; 0: something failed. */
static int evaluate_by_threads(ga_stepper *st, int renew, ga__scratch scratch)
{
  const int M = ga__colloc_of(st)->now->stages;
  const double begin = ga__seconds(st);
  team t = {.st = st, .own = own_site(st, M), .renew = renew};
  t.own.force = ga__take(&scratch, st->sys->nv);
  t.own.rate = ga__take(&scratch, st->sys->size[GA_BLOCK_LAMBDA]);
  if (renew) ga__factors_save_matrix(st);
  ga__helpers_run(st->factors.helpers, evaluate_share, &t);
  st->motion += (unsigned long)M;
  for (int m = 1; m <= M; m++)
    if (t.status[m]) return 0;
  st->stats.residuals += M;
  for (int m = 1; renew && m <= M; m++) {
    count_jacobian(st);
    ga__factors_count(st, stage_of(st, m));
    note_made(st, m);
  }
  st->stats.time_residual += ga__seconds(st) - begin;
  return 1;
}

static int is_alone(const ga_stepper *st)
{
  return ga__helpers_count(st->factors.helpers) == 0 || st->factors.now.leaves_out;
}

static ga_status evaluate_nodes(ga_stepper *st, int renew, ga__scratch scratch)
{
  ga_status status = GA_OK;
  if (!is_alone(st) && evaluate_by_threads(st, renew, scratch)) return GA_OK;
  for (int m = 1; !status && m <= ga__colloc_of(st)->now->stages; m++)
    status = evaluate_node(st, m, renew, scratch);
  return status;
}

/* r_m[n] := −Σ_j w_mj r_j/h, of a number of nodes that the compiler knows; stride: of r. */
GA__INLINE void mix_nodes(const int M, double *r, int n, int stride, const ga__colloc_rule *rule, double h)
{
  GA__INDEPENDENT
  for (int i = 0; i < n; i++) {
    double g[GA__NODES];
    for (int m = 1; m <= M; m++) g[m] = r[m * stride + i];
    for (int m = 1; m <= M; m++) {
      double sum = 0.0;
      for (int j = 1; j <= M; j++) sum += rule->inverse[m][j] * g[j];
      r[m * stride + i] = -sum / h;
    }
  }
}

/* Constraints of velocities become those of accelerations: A₁⁻¹ g/h. All signs are changed. */
GA__WIDE static void transform_rows(const ga_system *sys, const ga__colloc_rule *rule, double h, double *all)
{
  const int first = sys->nv, end = sys->start[GA_BLOCK_X], n = sys->n, M = rule->stages;
  for (int m = 1; m <= M; m++) {
    double *r = all + m * n;
    for (int i = 0; i < first; i++) r[i] = -r[i];
    for (int i = end; i < n; i++) r[i] = -r[i];
  }
  switch (M) {
  case 2:
    mix_nodes(2, all + first, end - first, n, rule, h);
    break;
  case 3:
    mix_nodes(3, all + first, end - first, n, rule, h);
    break;
  case 4:
    mix_nodes(4, all + first, end - first, n, rule, h);
    break;
  default:
    mix_nodes(M, all + first, end - first, n, rule, h);
  }
}

static void transform_constraints(ga_stepper *st)
{
  const ga__colloc *c = ga__colloc_of(st);
  transform_rows(st->sys, c->now, st->h, c->r);
}

static void measure_sizes(ga_stepper *st)
{
  const ga_system *sys = st->sys;
  ga__colloc *c = ga__colloc_of(st);
  const int M = c->now->stages, nx = sys->size[GA_BLOCK_X];
  const double *xdot = c->z + M * sys->n + sys->start[GA_BLOCK_X];
  ga__measure_sizes(st);
  c->size_v = LEAST_VELOCITY + st->h * ga__max_abs(c->z + M * sys->n, sys->nv, NULL) +
              fmax(ga__max_abs(st->now.v, sys->nv, NULL), ga__max_abs(c->v + M * sys->nv, sys->nv, NULL));
  c->size_x = LEAST_VELOCITY * (1.0 + ga__max_abs(st->now.x, nx, NULL)) +
              st->h * fmax(ga__max_abs(xdot, nx, NULL), ga__max_abs(st->now.xdot, nx, NULL));
}

/* Relative size of an increment d[n] of z at one node. */
static ga__measure weigh_node(const ga_stepper *st, const double *d, int *worst)
{
  const ga_system *sys = st->sys;
  const ga__colloc *c = ga__colloc_of(st);
  ga__measure out = {0.0, 0.0, 0.0};
  const double in_v = 0.5 * st->h * ga__max_abs(d, sys->nv, NULL) / c->size_v;
  out.acc = out.tight = in_v;
  ga__take_largest(&out, in_v, worst, 0, d, sys->nv);
  for (int b = GA_BLOCK_LAMBDA; b < GA_N_BLOCKS; b++) {
    if (sys->size[b] == 0) continue;
    const double *at = d + sys->start[b], most = ga__max_abs(at, sys->size[b], NULL);
    ga__take_largest(&out, b == GA_BLOCK_X ? 0.5 * st->h * most / c->size_x : FREE * most / st->size[b],
                     worst, sys->start[b], at, sys->size[b]);
  }
  return out;
}

static ga__measure weigh(const ga_stepper *st, int *worst)
{
  return weigh_node(st, st->r, worst);
}

static void solve_share(void *user, int who)
{
  team *t = user;
  ga_stepper *st = t->st;
  ga__colloc *c = ga__colloc_of(st);
  const ga__matrix *matrix = ga__matrix_in_use(st);
  ga_lu *lu[GA__NODES];
  double *r[GA__NODES];
  int count = 0;
  for (int m = 1; m <= c->now->stages; m++) {
    if (ga__stage_thread(st, stage_of(st, m)) != who) continue;
    lu[count] = ga__stage_factors(matrix, stage_of(st, m));
    r[count++] = c->r + m * st->sys->n;
  }
  if (count > 0)
    t->status[who] =
        ga__assembly_solve_several(&matrix->assembly, lu, &st->red.null, &st->red.null_eta, r, count);
}

/* Increments at all nodes; their size. */
static ga_status solve_nodes(ga_stepper *st, ga__colloc_progress *p)
{
  const ga_system *sys = st->sys;
  ga__colloc *c = ga__colloc_of(st);
  const int n = sys->n, M = c->now->stages;
  const double begin = ga__seconds(st);
  team t = {.st = st};
  st->stats.solves += M;
  if (is_alone(st))
    solve_share(&t, 0);
  else
    ga__helpers_run(st->factors.helpers, solve_share, &t);
  for (int who = 0; who < GA__NODES; who++)
    if (t.status[who]) return t.status[who];
  p->size = c->moved / (st->h * c->size_v);
  for (int m = 1; m <= M; m++) {
    double *d = c->r + m * n, *z = c->z + m * n;
    for (int i = 0; i < n; i++) z[i] += d[i];
    const double one = weigh_node(st, d, NULL).all;
    p->last = fmax(p->last, one);
    if (one > p->size || !(one == one)) {
      p->size = one;
      ga__copy_numbers(st->r, d, n); /* for the report of a failure */
    }
  }
  st->stats.time_solve += ga__seconds(st) - begin;
  st->stats.iterations++;
  return GA_OK;
}

/* Part of the tolerance of error control that is left to the sweeps. */
#define OF_TOLERANCE 0.02

double ga__colloc_tolerance(const ga_stepper *st)
{
  return st->tolerance > 0.0 ? OF_TOLERANCE * st->tolerance : st->opts.newton.tol;
}

double ga__colloc_left_in(const ga_stepper *st, int block)
{
  const ga__colloc *c = ga__colloc_of(st);
  const double in_rates = block == GA_BLOCK_V ? c->size_v : c->size_x;
  const double size =
      block == GA_BLOCK_V || block == GA_BLOCK_X ? 2.0 * in_rates / st->h : st->size[block] / FREE;
  return ga__colloc_tolerance(st) * size;
}

static ga_status fail_sweeps(ga_stepper *st, double size, double rho)
{
  const ga_system *sys = st->sys;
  char what[192];
  int index, worst = 0;
  weigh(st, &worst);
  const ga_equation_block block = ga__block_of(sys, worst, &index);
  ga__describe_unknown(sys, block, index, what, sizeof what);
  st->diverged = rho >= 1.0;
  return ga__refuse(sys->ctx, GA_RETRY_NEWTON, GA_REASON_NEWTON,
                    &(ga__facts){.at = &(ga__fact_time){st->next.scalar[GA__T], st->h, (int)block, index},
                                 .equation = what,
                                 GA__NUMBERS({ga__colloc_of(st)->sweeps, NULL}, {size, NULL},
                                             {ga__colloc_tolerance(st), NULL}, {rho, NULL})});
}

/* A body that turns by more than GA__TURN_MOST in the step: the passes of turn() would not converge. */
static ga_status check_turns(ga_stepper *st)
{
  const ga_system *sys = st->sys;
  const ga_group *g = sys->group;
  for (int b = 0; b < ga_group_n_blocks(g); b++) {
    int start, size = ga_group_block(g, b, &start), index;
    double sum = 0.0;
    for (int i = start + size - 3; i < start + size; i++) sum += st->now.v[i] * st->now.v[i];
    if (st->h * sqrt(sum) <= GA__TURN_MOST) continue;
    char what[192];
    const ga_equation_block block = ga__block_of(sys, start + size - 3, &index);
    ga__describe_unknown(sys, block, index, what, sizeof what);
    return ga__refuse(sys->ctx, GA_RETRY_NEWTON, GA_REASON_TURNS_TOO_FAR,
                      &(ga__facts){.at = &(ga__fact_time){st->next.scalar[GA__T], st->h, (int)block, index},
                                   .equation = what,
                                   GA__NUMBERS({st->h * sqrt(sum), "rad"}, {GA__TURN_MOST, "rad"})});
  }
  return GA_OK;
}

static double floor_size(const ga_stepper *st)
{
  const ga__colloc *c = ga__colloc_of(st);
  return FLOOR_MARGIN * (ga__rounding_of_rate(st->sys) * st->size_v / c->size_v + DBL_EPSILON);
}

/* ---- Sweeps from node to node ----
 * With Q near A₁ and increments δ of the nodes before, of vdot and of u = T(Ω)⁻¹v, which is an unknown here:
 *   v' = (v₀ + h Σ A_mj vdot_j) + h Σ_{j<m} Q_mj δvdot_j      Ω_b = h Σ A_mj u_j + h Σ_{j<m} Q_mj δu_j
 *   u' = T(Ω_b)⁻¹ v'      Ω' = Ω_b + d (u' − u_m)      d = h Q_mm
 * and constraints −g/d, −k/d. */

/* to += by · d, n numbers */
GA__WIDE static void add_scaled(double *to, double by, const double *d, int n)
{
  GA__INDEPENDENT
  for (int i = 0; i < n; i++) to[i] += by * d[i];
}

/* to[n] += h Σ_{j<m} Q_mj d_j */
static void add_before(const ga__colloc *c, double h, int m, const double *d, int stride, double *to, int n)
{
  for (int j = 1; j < m; j++) add_scaled(to, h * c->now->Q[m][j], d + j * stride, n);
}

/* The node at its new point; du[nv] := u' − u_m. */
static void place_node(ga_stepper *st, int m, const double *all_du, double *du)
{
  const ga_system *sys = st->sys;
  ga__colloc *c = ga__colloc_of(st);
  const int nv = sys->nv, nx = sys->size[GA_BLOCK_X];
  double *v = c->v + m * nv, *omega = c->exponent + m * nv;
  add_before(c, st->h, m, c->r, sys->n, v, nv);
  add_before(c, st->h, m, c->r + sys->start[GA_BLOCK_X], sys->n, c->x + m * nx, nx);
  add_before(c, st->h, m, all_du, nv, omega, nv);
  ga_group_exponent_rate(sys->group, du, omega, v);
  ga__copy_numbers(c->omega, omega, nv);
  add_scaled(du, -1.0, c->rate + m * nv, nv);
  add_scaled(omega, step_of(st, m), du, nv);
  ga_group_move(sys->group, c->q + m * sys->nq, st->now.q, omega);
}

/* The increment of a node, and what follows for u. */
static ga_status solve_node(ga_stepper *st, int m, double *du, ga__colloc_progress *p)
{
  const ga_system *sys = st->sys;
  ga__colloc *c = ga__colloc_of(st);
  const double d = step_of(st, m);
  double *r = c->r + m * sys->n, *z = c->z + m * sys->n, *rate = c->rate + m * sys->nv;
  const int first = sys->nv, end = sys->start[GA_BLOCK_X];
  for (int i = 0; i < sys->n; i++) r[i] = -r[i];
  for (int i = first; i < end; i++) r[i] /= d;
  const ga_status status = ga__colloc_solve(st, m, r);
  if (status) return status;
  double *turned = st->exponent; /* free here */
  ga_group_exponent_rate(sys->group, turned, c->omega, r);
  add_scaled(du, d, turned, sys->nv);
  add_scaled(rate, 1.0, du, sys->nv);
  add_scaled(z, 1.0, r, sys->n);
  const double one = fmax(weigh_node(st, r, NULL).all, 0.5 * ga__max_abs(du, sys->nv, NULL) / c->size_v);
  p->last = fmax(p->last, one);
  if (one > p->size || !(one == one)) {
    p->size = one;
    ga__copy_numbers(st->r, r, sys->n);
  }
  return GA_OK;
}

static ga_status sweep_in_order(ga_stepper *st, int renew, ga__colloc_progress *p, ga__scratch scratch)
{
  const ga_system *sys = st->sys;
  ga__colloc *c = ga__colloc_of(st);
  const int nv = sys->nv, nx = sys->size[GA_BLOCK_X];
  double *du = c->inside;
  p->size = 0.0;
  measure_sizes(st);
  integrate(c->now, st->h, st->now.v, c->z, sys->n, c->v, nv);
  integrate(c->now, st->h, st->now.x, c->z + sys->start[GA_BLOCK_X], sys->n, c->x, nx);
  integrate(c->now, st->h, NULL, c->rate, nv, c->exponent, nv);
  for (int m = 1; m <= c->now->stages; m++) {
    place_node(st, m, du, du + m * nv);
    ga_status status = evaluate_node(st, m, renew, scratch);
    if (!status) status = solve_node(st, m, du + m * nv, p);
    if (status) return status;
  }
  st->stats.iterations++;
  return GA_OK;
}

static ga_status sweep(ga_stepper *st, int renew, ga__colloc_progress *p, ga__scratch scratch)
{
  ga__colloc *c = ga__colloc_of(st);
  p->last = 0.0;
  if (c->in_order) return sweep_in_order(st, renew, p, scratch);
  ga_status status = evaluate_nodes(st, renew, scratch);
  if (status) return status;
  measure_sizes(st);
  transform_constraints(st);
  status = solve_nodes(st, p);
  if (!status) move_nodes(st, exact_for_now(st, p));
  return status;
}

/* Whether increments that no longer fall are rounding. */
static int is_at_floor(ga_stepper *st, double size, ga__scratch scratch)
{
  if (size <= floor_size(st)) return 1;
  trial(st);
  return size <= FLOOR_MARGIN * ga__noise(st, &st->next, scratch).all;
}

/* Whether what remains after an increment is below the tolerance. */
static int has_converged(double size, double rho, double tolerance)
{
  const double rate = fmax(rho, LEAST_RATE);
  return rate < 1.0 && size * rate / (1.0 - rate) <= tolerance;
}

typedef enum verdict { GO_ON, CONVERGED, AT_FLOOR, FAILED } verdict;

/* The first size has the moves of Ω that the prediction begins with. With old factors the second ratio is
 * that of z alone. */
static int meets_tolerance(const ga_stepper *st, const ga__colloc_progress *p)
{
  const double tolerance = ga__colloc_tolerance(st);
  if (!ga__colloc_of(st)->old_factors) return has_converged(p->size, p->rho, tolerance);
  const double rho = p->n == 2 && p->first > 0.0 ? fmax(p->rho, p->last / p->first) : p->rho;
  return has_converged(p->size, rho, (ga__colloc_is_slower(st, p) ? OF_OLD : 1.0) * tolerance);
}

/* Sweeps by the rule for stiff equations end after as many as there are nodes where these are infinitely stiff
 * and linear, and increments may rise before. */
#define RISES 1e2

static int is_for_stiff(const ga__colloc *c)
{
  return c->in_order && c->now->order % 2 != 0;
}

/* Near singular positions rounding is amplified by an unknown factor: small increments that do not fall any
 * more, and do not grow, are rounding too. */
static verdict judge(ga_stepper *st, ga__colloc_progress *p, ga__scratch scratch)
{
  ga__colloc *c = ga__colloc_of(st);
  const int n = ++p->n;
  p->rho = n > 1 && p->before > 0.0 ? p->size / p->before : 0.0;
  p->stalled = n > 1 && p->size > STALLS * p->best ? p->stalled + 1 : 0;
  p->best = n > 1 ? fmin(p->best, p->size) : p->size;
  if (n == 1) p->first = p->last;
  p->before = p->size;
  if (n > 2 && !c->old_factors && p->size > floor_size(st)) c->slowest = fmax(c->slowest, p->rho);
  if (!isfinite(p->size)) return FAILED;
  if (p->size == 0.0 || (n > 1 && meets_tolerance(st, p))) return CONVERGED;
  if (n > 2 && p->rho > SLOWEST && is_at_floor(st, p->size, scratch)) return AT_FLOOR;
  if (p->size < STALL_LIMIT && p->size < GROWN * p->best)
    return p->stalled >= STALLED_MOST ? AT_FLOOR : GO_ON;
  if (is_for_stiff(c) && n <= c->now->stages + 1) return p->size > RISES * p->first ? FAILED : GO_ON;
  return n > 1 && p->rho > (n > 2 ? SLOWEST : DIVERGES) ? FAILED : GO_ON;
}

/* Matrices made at the prediction are made again at the nodes as they are now, a few times in a step, where
 * sweeps from node to node contract little with them: their own rate is half of that. */
#define RENEWED 0.6
enum { RENEWALS = 3 };

static int are_far_from_prediction(const ga__colloc *c, const ga__colloc_progress *p, verdict v)
{
  const int enough = p->n > (is_for_stiff(c) ? c->now->stages : 1);
  return c->in_order && enough && !c->old_factors && (v == GO_ON || v == FAILED) && p->rho > RENEWED &&
         p->size < ASTRAY;
}

/* From the prediction on; with new factors, or with old ones as long as they serve. */
static ga_status repeat_sweeps(ga_stepper *st, ga__colloc_progress *p, verdict *v, ga__scratch scratch)
{
  ga__colloc *c = ga__colloc_of(st);
  int limit = SWEEPS * st->opts.newton.max_iterations, renew = !c->old_factors, renewals = 0;
  *p = (ga__colloc_progress){.size = 0.0};
  *v = GO_ON;
  c->slowest = 0.0;
  for (c->sweeps = 0; *v == GO_ON && c->sweeps < limit;) {
    const ga_status status = sweep(st, renew, p, scratch);
    if (status) return status;
    renew = 0;
    c->sweeps++;
    *v = judge(st, p, scratch);
    if (are_far_from_prediction(c, p, *v) && renewals < RENEWALS)
      renewals++;
    else if (c->old_factors && *v != CONVERGED && ga__colloc_is_slow(st, p))
      ga__colloc_give_up_factors(st);
    else
      continue;
    *p = (ga__colloc_progress){.size = 0.0};
    *v = GO_ON;
    renew = 1;
    limit += c->sweeps;
  }
  return GA_OK;
}

/* Whether sweeps ended without a result. */
static int are_lost(verdict v)
{
  return v == GO_ON || v == FAILED;
}

/* Where old factors lead astray, from the prediction again. */
static ga_status make_sweeps(ga_stepper *st, ga__colloc_progress *p, ga__scratch scratch)
{
  ga__colloc *c = ga__colloc_of(st);
  verdict v;
  st->diverged = 0;
  ga__colloc_keeps_factors(st);
  ga_status status = repeat_sweeps(st, p, &v, scratch);
  const int is_astray = status > 0 ? p->size > ASTRAY : !status && are_lost(v);
  if (c->old_factors && is_astray) {
    ga__colloc_give_up_factors(st);
    ga__factors_drop(st);
    begin_nodes(st, st->h, c->in_order, c->damps);
    status = repeat_sweeps(st, p, &v, scratch);
  }
  if (status) return status;
  if (are_lost(v)) return fail_sweeps(st, p->size, p->rho);
  st->stats.at_floor += v == AT_FLOOR;
  st->stats.last_rate = p->rho;
  return GA_OK;
}

/* Further steps with sweeps from node to node: FEW at first, twice as many each time the others have failed
 * again. */
enum { FEW = 10, MANY = 320 };
#define FORGETS 0.98 /* of earlier failures, with each step */

static int failures_here(const ga_stepper *st)
{
  const ga__colloc *c = ga__colloc_of(st);
  return c->failed_at == st->state_number ? c->failures : 0;
}

static void count_stiff_step(ga_stepper *st)
{
  ga__colloc *c = ga__colloc_of(st);
  const double *now = st->now.own;
  double *next = st->next.own;
  const int changed = c->in_order && !(now[GA__COLLOC_STIFF] > 0.0);
  next[GA__COLLOC_SPAN] = !changed                     ? now[GA__COLLOC_SPAN]
                          : now[GA__COLLOC_SPAN] > 0.0 ? fmin(2.0 * now[GA__COLLOC_SPAN], MANY)
                                                       : FEW;
  next[GA__COLLOC_DAMPS] = c->in_order ? c->damps : now[GA__COLLOC_DAMPS];
  next[GA__COLLOC_FAILED] = FORGETS * now[GA__COLLOC_FAILED] + failures_here(st);
  next[GA__COLLOC_STIFF] = changed ? next[GA__COLLOC_SPAN] : fmax(now[GA__COLLOC_STIFF] - 1.0, 0.0);
}

/* Simple sweeps that fail again, with a shorter step or soon after, show stiff equations: sweeps in order
 * then, by the rule for stiff equations unless the last of such steps have shown that the motion is resolved
 * (simulate_order.c), and where these fail again with a shorter step. */
#define FAILURES 1.5

static int try_other_sweeps(ga_stepper *st, int *damps)
{
  ga__colloc *c = ga__colloc_of(st);
  const double *own = st->now.own;
  const int given = st->follows || !(st->tolerance > 0.0); /* such steps do not become shorter */
  if (c->in_order && (c->damps || st->opts.order != 0)) return 0;
  c->failures = failures_here(st) + 1;
  c->failed_at = st->state_number;
  *damps = c->in_order || !(own[GA__COLLOC_SPAN] > 0.0) || own[GA__COLLOC_DAMPS] > 0.0;
  if (c->in_order) return given || c->failures > (own[GA__COLLOC_STIFF] > 0.0 ? 1 : 2);
  if (own[GA__COLLOC_SPAN] > 0.0 && own[GA__COLLOC_DAMPS] > 0.0) return 1;
  return given || own[GA__COLLOC_FAILED] + c->failures >= FAILURES;
}

/* In steps for stiff equations what sweeps leave in positions is small in all that they weigh, but times the
 * stiffness it becomes accelerations and forces at the end of the step, from whose differences errors are
 * estimated: sweeps go on until these are a small part of the tolerance. They may rise once before they fall.
 */
#define QUIET 0.03        /* part of the tolerance */
#define QUIET_RATE 0.2    /* contraction that is expected */
#define STILL_FALLING 0.5 /* what they are less than of the least before */
enum { ROUNDS = 6, MOST_MORE = 4 /* sweeps of a round */, MOST_RISES = 2 };

static int may_be_noisy(const ga_stepper *st)
{
  const ga__colloc *c = ga__colloc_of(st);
  return is_for_stiff(c) && st->tolerance > 0.0 && c->own_end;
}

static ga_status repeat_sweep(ga_stepper *st, int times, ga__scratch scratch)
{
  ga_status status = GA_OK;
  for (int k = 0; !status && k < times; k++) {
    ga__colloc_progress p = {.size = 0.0};
    status = sweep(st, 0, &p, scratch);
    ga__colloc_of(st)->sweeps++;
    if (!status && !isfinite(p.size)) status = fail_sweeps(st, p.size, INFINITY);
  }
  if (!status) move_nodes(st, exact_enough(st));
  return status;
}

static ga_status quieten(ga_stepper *st, ga__scratch scratch)
{
  double noise, least = HUGE_VAL;
  ga_status status = GA_OK;
  for (int round = 0, rises = 0; !status && round < ROUNDS; round++) {
    status = ga__colloc_noise(st, &noise, scratch);
    if (status || !(noise > QUIET)) return status;
    rises += !(noise < STILL_FALLING * least);
    if (rises == MOST_RISES) return GA_OK; /* rounding */
    least = fmin(least, noise);
    const double more = fmin(ceil(log(QUIET / noise) / log(QUIET_RATE)), MOST_MORE);
    status = repeat_sweep(st, (int)more, scratch);
  }
  return status;
}

static ga_status iterate(ga_stepper *st, ga__scratch scratch)
{
  const ga__colloc *c = ga__colloc_of(st);
  ga__colloc_progress p;
  int damps;
  ga_status status = check_turns(st);
  if (!status) status = make_sweeps(st, &p, scratch);
  while (status == GA_RETRY_NEWTON && try_other_sweeps(st, &damps)) {
    begin_nodes(st, st->h, 1, damps);
    status = make_sweeps(st, &p, scratch);
  }
  if (!status && c->in_order) move_nodes(st, exact_enough(st));
  if (!status) status = ga__colloc_begin_end(st);
  if (!status && may_be_noisy(st)) status = quieten(st, scratch);
  if (!status) trial(st);
  if (!status) status = ga__colloc_finish(st, scratch);
  if (!status) ga__colloc_note_work(st, &p);
  return status;
}

/* Multipliers of the nodes within the step of least norm, as at its ends, for dense output: with the
 * relations at the nodes. Those of the end are found again behind them. */
static ga_status settle_nodes(ga_stepper *st)
{
  const ga_system *sys = st->sys;
  const ga__colloc *c = ga__colloc_of(st);
  const ga_point end = ga__state_point(&st->next);
  ga_status status = GA_OK;
  if (st->red.null.r == 0) return GA_OK;
  for (int m = 1; !status && m < c->now->stages; m++) {
    const ga_point p = ga__colloc_point(st, m);
    double *z = c->z + m * sys->n;
    status = ga__find_relations(st, &p);
    if (!status)
      ga__null_reduce(&st->red.null, sys, z + sys->start[GA_BLOCK_LAMBDA], z + sys->start[GA_BLOCK_PSI]);
  }
  return status ? status : ga__find_relations(st, &end);
}

/* c->nodes := z at the nodes with accelerations and multipliers of one order more than those of the
 * collocation. With the constraints' velocities right at all nodes, the polynomial of v is one through these,
 * with the slope at the beginning: off by F s ω(s) along the constraints, ω(s) = Π (s − c_j), so that its
 * slope at node m is off by κ_m F, κ_m = c_m ω'(c_m). F is seen at the end, where vdot, λ, ψ, y are solved
 * for again. At the end of the step z is that of the state. */
static void correct_nodes(ga_stepper *st)
{
  const ga_system *sys = st->sys;
  const ga__colloc *c = ga__colloc_of(st);
  const ga__colloc_rule *rule = c->now;
  const int n = sys->n, M = rule->stages;
  double *end = c->nodes + M * n, *off = st->r; /* free between steps */
  ga__copy_numbers(c->nodes, c->z, M * n);
  ga__colloc_collect(sys, &st->next, end);
  for (int i = 0; i < n; i++) off[i] = end[i] - c->last[i];
  if (st->red.null.r > 0) /* both of least norm */
    ga__null_reduce(&st->red.null, sys, off + sys->start[GA_BLOCK_LAMBDA], off + sys->start[GA_BLOCK_PSI]);
  for (int m = 1; m < M; m++)
    for (int i = 0; i < n; i++) c->nodes[m * n + i] += rule->kappa[m] * off[i];
}

/* Keeps the nodes for the next prediction; a and w have no meaning of their own here. */
static ga_status accept(ga_stepper *st)
{
  const ga_status status = settle_nodes(st);
  if (status) return status;
  const ga_system *sys = st->sys;
  const ga__colloc *c = ga__colloc_of(st);
  ga__state *next = &st->next;
  ga__copy_numbers(c->last, c->z + c->now->stages * sys->n, sys->n);
  correct_nodes(st);
  memset(next->own, 0, state_length(st) * sizeof(double));
  next->own[GA__COLLOC_ORDER] = c->now->order;
  count_stiff_step(st);
  ga__copy_numbers(next->own + GA__COLLOC_Z, c->nodes, c->now->stages * sys->n);
  ga__copy_numbers(next->a, next->vdot, sys->nv);
  ga__copy_numbers(next->w, next->xdot, sys->size[GA_BLOCK_X]);
  return GA_OK;
}

/* ---- Rounding, errors, reports: by the matrix at the end of the step ---- */

static ga_status solve(ga_stepper *st)
{
  return ga__colloc_solve(st, ga__colloc_of(st)->now->stages, st->r);
}

static void noise(const ga_stepper *st, const double *terms, double *out)
{
  const ga_system *sys = st->sys;
  const double rate = ga__rounding_of_rate(sys) * st->size_v / st->h;
  const double size[] = {0.0, rate, DBL_EPSILON * st->size_v / st->h, DBL_EPSILON * st->size[GA_BLOCK_X],
                         DBL_EPSILON * st->size[GA_BLOCK_Y]};
  for (int i = 0; i < sys->nv; i++) out[i] = DBL_EPSILON * terms[i];
  for (int b = GA_BLOCK_LAMBDA; b < GA_N_BLOCKS; b++)
    for (int i = 0; i < sys->size[b]; i++) out[sys->start[b] + i] = size[b];
}

static ga__measure least(const ga_stepper *st)
{
  const double size = floor_size(st);
  return (ga__measure){size, size, size};
}

static double one(const ga_stepper *st)
{
  (void)st;
  return 1.0;
}

static double force_factor(const ga_stepper *st)
{
  const double part = step_of(st, ga__colloc_of(st)->now->stages) / st->h;
  return part * part;
}

static const ga__family COLLOCATION = {.state_length = state_length,
                                       .create = create,
                                       .destroy = destroy,
                                       .stages = most_factors,
                                       .predict = predict,
                                       .iterate = iterate,
                                       .trial = trial,
                                       .prepare = prepare,
                                       .solve = solve,
                                       .weigh = weigh,
                                       .accept = accept,
                                       .layout = layout,
                                       .row_of = ga__exact_row_of,
                                       .floor = least,
                                       .noise = noise,
                                       .interpolate = ga__colloc_interpolate,
                                       .nodes = ga__colloc_nodes,
                                       .node = ga__colloc_node,
                                       .estimate = ga__colloc_estimate,
                                       .estimate_forces = ga__colloc_estimate_forces,
                                       .error_power = ga__colloc_order_seen,
                                       .growth = ga__colloc_growth,
                                       .struggled = ga__colloc_failed_simply,
                                       .mass_factor = one,
                                       .rate_factor = one,
                                       .force_factor = force_factor,
                                       .position_rows = ga__exact_position_rows,
                                       .solve_error = ga__exact_solve_error,
                                       .slopes = &ga__colloc_slopes};

const ga__method ga__method_collocation = {.family = &COLLOCATION,
                                           .keeps_positions = 1,
                                           .keeps_rates = 1,
                                           .vdot_at_end = 1,
                                           .has_order = 1,
                                           .order = 4};
