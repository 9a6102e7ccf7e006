/* Errors of collocation: of the last step, and of the one that another order would have made. */
#include "core/collocation.h"
#include "base/quad.h"

#include <math.h>

/* In a motion A e^{iωt} a step h of order p has the error K A (hω)^(p+1), with the K of the Padé
 * approximation of e^z that the rule is. Over a time of G/ω, G = 30, about five periods, these are
 *
 *   e_q = G K h^p |q^(p)|      e_v = G K h^p |v^(p)|      e_x = G K h^p |x^(p)|
 *
 * which is the estimate: of the motion, not of one step. In a run that ends sooner, after T < G/ω, the steps
 * have the errors T/h · K A (hω)^(p+1) in all: G is ωT then. Motions with several frequencies have the errors
 * of all of them. Derivatives are divided differences D_k of vdot and xdot over the nodes and one of the
 * step before: a_k = k! |D_k| = h^k |vdot^(k)|. The highest one, n, is not p − 2 for all orders: from one
 * to the next they grow by X = hω = √(a_n / a_(n−2)) of the largest components, and
 *
 *   h^p |q^(p)| = h² max(a_n X^(p−2−n), a_(n−1) X^(p−1−n))
 *
 * since one of both is small where e^{iωt} crosses 0. */
#define G 30.0
#define GK(K) (G / (K))
static const double FACTOR[GA__MOST_ORDER + 1] = {
    [3] = GK(72.0),      [4] = GK(720.0),      [5] = GK(7200.0),         [6] = GK(100800.0),
    [7] = GK(1411200.0), [8] = GK(25401600.0), [10] = GK(10059033600.0),
};
#undef GK
/* Stiff equations of states reduce their order to that of the nodes, M + 1: its factor, by M. */
static const double STIFF_STATES[GA__NODES] = {[2] = 9e-3, [3] = 2e-3, [4] = 3e-4};
#define X_MOST 3.0 /* more is not resolved, or a kink */

enum { LEVELS = 3 };

/* a_k for k = n − 2, n − 1, n: k! times the weights of D_k over the nodes of the step, and behind them of one
 * of the step before. */
typedef struct levels {
  double w[LEVELS][GA__NODES + 1];
  int n, first, stages, stride;
  double steps;      /* of this size that the run is long; 0: not known */
  const double *z;   /* [GA__NODES][stride] */
  const double *old; /* at that node; NULL: there is none */
  double *a[LEVELS]; /* [stride], of the components that find_levels() was called for */
} levels;

static void set_weights(double *w, const double *t, int from, int to)
{
  double factorial = 1.0;
  for (int k = 2; k <= to - from; k++) factorial *= k;
  for (int i = from; i <= to; i++) {
    w[i] = factorial;
    for (int k = from; k <= to; k++) w[i] /= k == i ? 1.0 : t[i] - t[k];
  }
}

/* The lower differences leave out the old node, and then the first, which is as far away from the middle of
 * the step as the last. */
static levels levels_in(const ga_stepper *st, const ga__state *before, double h, const double *z)
{
  const ga__colloc *c = ga__colloc_of(st);
  const ga__colloc_rule *rule = c->now, *old = ga__colloc_last_rule(st, before);
  const double h_old = before->scalar[GA__H_OLD];
  const int M = rule->stages, first = rule->first, middle = old ? old->stages / 2 : 0;
  double t[GA__NODES + 1];
  levels l = {.n = M - first + (old != NULL), .first = first, .stages = M, .stride = st->sys->n, .z = z};
  for (int m = first; m <= M; m++) t[m] = rule->c[m];
  if (old) {
    l.old = before->own + GA__COLLOC_Z + middle * l.stride;
    t[M + 1] = -(1.0 - old->c[middle]) * h_old / h;
  }
  set_weights(l.w[2], t, first, old ? M + 1 : M);
  set_weights(l.w[1], t, old ? first : first + 1, M);
  if (l.n >= 2) set_weights(l.w[0], t, first + 1, old ? M : M - 1);
  l.steps = st->run_length / h;
  for (int k = 0; k < LEVELS; k++) l.a[k] = c->levels + k * l.stride;
  return l;
}

/* Those of the last step. */
static levels levels_of(const ga_stepper *st)
{
  const ga__state *before = &st->next;
  return levels_in(st, before, st->now.scalar[GA__T] - before->scalar[GA__T], ga__colloc_of(st)->nodes);
}

/* to[n] += w from */
GA__INLINE void add_multiple(double *to, double w, const double *from, int n)
{
  GA__INDEPENDENT
  for (int i = 0; i < n; i++) to[i] += w * from[i];
}

/* a_k of the components [at, at + n) of z. */
GA__WIDE static void find_levels(const levels *l, int at, int n)
{
  for (int k = 0; k < LEVELS; k++) {
    double *a = l->a[k] + at;
    for (int i = 0; i < n; i++) a[i] = 0.0;
    if (l->old) add_multiple(a, l->w[k][l->stages + 1], l->old + at, n);
    for (int m = l->first; m <= l->stages; m++) add_multiple(a, l->w[k][m], l->z + m * l->stride + at, n);
    for (int i = 0; i < n; i++) a[i] = fabs(a[i]);
  }
}

/* X of the components [at, at + n) of z. */
static double growth(const levels *l, int at, int n)
{
  double most[LEVELS];
  for (int k = 0; k < LEVELS; k++) most[k] = ga__max_abs(l->a[k] + at, n, NULL);
  const double X = l->n >= 2 ? sqrt(most[2] / most[0]) : most[2] / most[1];
  return most[2] > 0.0 ? fmin(X, X_MOST) : 0.0;
}

/* ωT/G of a run that is shorter than G/ω, with X = hω. */
static double part_of_motion(const levels *l, double X)
{
  return l->steps > 0.0 ? fmin(1.0, X * l->steps / G) : 1.0;
}

/* powers[k] := what a_(n−1+k) is multiplied by to become a_p. */
static void set_powers(const levels *l, double X, double p, double powers[2])
{
  for (int k = 0; k < 2; k++) powers[k] = X > 0.0 ? pow(X, p - (l->n - 1 + k)) : 0.0;
}

/* e[n] := the larger of itself and factor · a_p of the components from `at` on. */
static void add_errors(const levels *l, double p, double factor, int at, int n, double *e)
{
  const double *a1 = l->a[1] + at, *a2 = l->a[2] + at;
  const double X = growth(l, at, n);
  double powers[2];
  set_powers(l, X, p, powers);
  factor *= part_of_motion(l, X);
  for (int i = 0; i < n; i++) {
    const double lower = powers[0] * a1[i], upper = powers[1] * a2[i];
    const double larger = factor * (upper > lower ? upper : lower);
    e[i] = larger > e[i] ? larger : e[i];
  }
}

/* In SE(3), where forces and velocities turn with the body, errors of steps are larger than derivatives of
 * vdot say, by SCREW: measured (docs/theory.md). */
#define SCREW 30.0

static void enlarge_screws(const ga_group *g, double *e)
{
  for (int b = 0; b < ga_group_n_blocks(g); b++) {
    int start, size = ga_group_block(g, b, &start);
    for (int i = start; size == 6 && i < start + size; i++) e[i] *= SCREW;
  }
}

/* ---- Forces ---- */

/* Rounding of a difference of multipliers: at the nodes they come from velocities over h, times masses. */
#define ROUNDINGS 50.0

static double noise_of_forces(ga_stepper *st, const levels *l)
{
  const ga_system *sys = st->sys;
  const ga__state *now = &st->now;
  const double h = now->scalar[GA__T] - st->next.scalar[GA__T];
  double *inertia = ga__colloc_of(st)->omega, weights = 0.0;
  for (int k = 0; k <= l->stages + 1; k++) weights += fabs(l->w[2][k]);
  for (int i = 0; i < sys->nv; i++) st->exponent[i] = 1.0; /* free here */
  ga_point p = ga__state_point(now);
  p.vdot = st->exponent;
  if (ga__call(sys, GA__MASS, &p, inertia)) return 0.0;
  const double rate = ga__rounding_of_rate(sys) * (1.0 + ga__max_abs(now->v, sys->nv, NULL)) / h;
  return ROUNDINGS * weights * rate * ga__max_abs(inertia, sys->nv, NULL);
}

/* Where constraints prescribe the motion, only forces have errors: the largest relative one of the
 * multipliers counts as one of q. */
static void forces_as_positions(ga_stepper *st, const levels *l, int order, double *e_q)
{
  const ga_system *sys = st->sys;
  const ga__colloc *c = ga__colloc_of(st);
  const int first = sys->nv, n = sys->start[GA_BLOCK_X] - first, M = c->now->stages;
  const double begin = ga__max_abs(c->nodes + first, n, NULL),
               end = ga__max_abs(c->nodes + M * sys->n + first, n, NULL), size = fmax(begin, end),
               noise = noise_of_forces(st, l);
  double powers[2], largest = 0.0, *scale = c->omega;
  if (!(size > noise)) return;
  find_levels(l, first, n);
  const double X = growth(l, first, n), factor = FACTOR[order] * part_of_motion(l, X);
  set_powers(l, X, order, powers);
  for (int i = 0; i < n; i++) {
    const double off =
        fmax(powers[0] * (l->a[1][first + i] - noise), powers[1] * (l->a[2][first + i] - noise));
    largest = fmax(largest, factor * off / size);
  }
  ga__tolerances_q(sys, 0.0, 1.0, st->now.q, scale);
  for (int i = 0; i < sys->nv; i++) e_q[i] = fmax(e_q[i], largest * scale[i]);
}

/* Accelerations, multipliers and outputs follow from q, v and x at the end of a step, and have errors of
 * the same part of a motion:
 *   e_z = G K h^p |z^(p)|,  z = vdot, λ, ψ, xdot, y
 * each of these with a growth of its own. */
static void find_force_errors(ga_stepper *st, int order, double *e)
{
  const ga_system *sys = st->sys;
  const ga__colloc *c = ga__colloc_of(st);
  const levels l = levels_of(st);
  const int M = c->now->stages, stiff = c->damps && order == c->now->order;
  int screws = 0;
  for (int i = 0; i < sys->n; i++) e[i] = 0.0;
  find_levels(&l, 0, sys->n);
  for (int b = 0; b < GA_N_BLOCKS; b++)
    add_errors(&l, stiff ? M : order, stiff ? STIFF_STATES[M] : FACTOR[order], sys->start[b], sys->size[b],
               e + sys->start[b]);
  for (int b = 0; b < ga_group_n_blocks(sys->group); b++) screws |= ga_group_block(sys->group, b, NULL) == 6;
  for (int i = 0; screws && i < sys->n; i++) e[i] *= SCREW;
}

void ga__colloc_estimate_forces(ga_stepper *st, double *e)
{
  find_force_errors(st, ga__colloc_of(st)->now->order, e);
}

/* ---- Of a step ---- */

static void clear(double *e, int n)
{
  for (int i = 0; i < n; i++) e[i] = 0.0;
}

/* Of positions and states, by their levels, of a step h of this order. */
static void find_errors_of(const ga_stepper *st, const levels *l, double h, int order, double *e_q,
                           double *e_x)
{
  const ga_system *sys = st->sys;
  const ga__colloc *c = ga__colloc_of(st);
  const int nx = sys->size[GA_BLOCK_X], M = c->now->stages, stiff = c->damps && order == c->now->order;
  const double p = order, factor = FACTOR[order];
  clear(e_q, sys->nv);
  clear(e_x, nx);
  add_errors(l, p - 2.0, factor * h * h, 0, sys->nv, e_q);
  enlarge_screws(sys->group, e_q);
  add_errors(l, stiff ? M : p - 1.0, (stiff ? STIFF_STATES[M] : factor) * h, sys->start[GA_BLOCK_X], nx, e_x);
}

/* Errors by the derivatives that the last step shows, of a step of this order. */
static void find_errors(ga_stepper *st, int order, double *e_q, double *e_v, double *e_x)
{
  const ga_system *sys = st->sys;
  const levels l = levels_of(st);
  const double h = st->now.scalar[GA__T] - st->next.scalar[GA__T], p = order, factor = FACTOR[order];
  find_levels(&l, 0, sys->nv);
  find_levels(&l, sys->start[GA_BLOCK_X], sys->size[GA_BLOCK_X]);
  find_errors_of(st, &l, h, order, e_q, e_x);
  if (e_v) clear(e_v, sys->nv);
  if (e_v) add_errors(&l, p - 1.0, factor * h, 0, sys->nv, e_v);
  if (e_v) enlarge_screws(sys->group, e_v);
  if (ga__is_held(st)) forces_as_positions(st, &l, order, e_q);
}

double ga__colloc_part_of_error(ga_stepper *st, const double *d)
{
  const ga_system *sys = st->sys;
  const ga__colloc *c = ga__colloc_of(st);
  const ga__tolerances *tol = &st->tolerances;
  const int M = c->now->stages;
  double *e_q = c->levels + LEVELS * sys->n, *e_x = e_q + sys->nv, *room = e_q + sys->n, most = 0.0;
  const levels l = levels_in(st, &st->now, st->h, NULL);
  for (int k = 0; k < LEVELS; k++)
    for (int i = 0; i < sys->n; i++) l.a[k][i] = fabs(l.w[k][M] * d[i]);
  find_errors_of(st, &l, st->h, c->now->order, e_q, e_x);
  ga__tolerances_q(sys, tol->atol, tol->rtol, st->now.q, room);
  for (int i = 0; i < sys->nv; i++) most = fmax(most, e_q[i] / room[i]);
  for (int i = 0; i < sys->size[GA_BLOCK_X]; i++)
    most = fmax(most, e_x[i] / (tol->atol_x + tol->rtol_x * fabs(st->now.x[i])));
  return most;
}

/* Sweeps contract in proportion to h: beyond RATE_MOST the work of a longer step grows faster than its size.
 * Where errors would allow steps of twice the size, these are tried: that sweeps fail shows stiff equations.
 * A body may turn by GA__TURN_MOST in a step. */
#define RATE_MOST 0.4
#define NEAR 0.95

double ga__colloc_growth(const ga_stepper *st, double wanted)
{
  const ga__colloc *c = ga__colloc_of(st);
  const ga_group *g = st->sys->group;
  const double h = st->now.scalar[GA__T] - st->next.scalar[GA__T], rate = c->slowest;
  double most = c->in_order || wanted > 2.0 ? wanted : fmin(wanted, fmax(1.0, RATE_MOST / rate));
  for (int b = 0; b < ga_group_n_blocks(g); b++) {
    int start, size = ga_group_block(g, b, &start);
    double sum = 0.0;
    for (int i = start + size - 3; i < start + size; i++) sum += st->now.v[i] * st->now.v[i];
    if (sum > 0.0) most = fmin(most, NEAR * GA__TURN_MOST / (h * sqrt(sum)));
  }
  return most;
}

int ga__colloc_failed_simply(const ga_stepper *st)
{
  return ga__colloc_of(st)->in_order && !(st->next.own[GA__COLLOC_STIFF] > 0.0);
}

double ga__colloc_order_seen(const ga_stepper *st)
{
  const ga__colloc *c = ga__colloc_of(st);
  return c->now ? c->now->order : st->order;
}

void ga__colloc_estimate(ga_stepper *st)
{
  find_errors(st, ga__colloc_of(st)->now->order, st->est_q, st->est_v, st->est_x);
}

int ga__colloc_error_of(ga_stepper *st, int order, double *e_q, double *e_x, double *e_z)
{
  const int now = ga__colloc_of(st)->now->order;
  const int known = ga__colloc_last_rule(st, &st->next) != NULL;
  if (now % 2 != 0 || !known || (order != now - 2 && order != now + 2)) return 0;
  find_errors(st, order, e_q, NULL, e_x);
  if (e_z) find_force_errors(st, order, e_z);
  return 1;
}
