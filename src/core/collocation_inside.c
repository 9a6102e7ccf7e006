/* Collocation within a step: dense output, and the local error from the last derivative that its polynomials
 * show. */
#include "core/collocation.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---- Dense output ----
 * vdot, λ, ψ, xdot, y by the polynomials through the nodes; v and x by their integrals; q by the rule of the
 * step on the part [0, s] of it, with v from its polynomial. What the end of the step was moved by, to meet
 * the constraints, is distributed over it. */

enum { PASSES = 2 };

/* Smooth, and 0 and 1 at the ends. */
static double blend(double s)
{
  return s * s * (3.0 - 2.0 * s);
}

/* Integrals from the beginning of the step to a place within it. */
typedef struct place {
  double w[GA__NODES]; /* ∫₀^s ℓ_j */
  double part;         /* of what the end of the step was moved by */
} place;

static place place_at(const ga_stepper *st, double s)
{
  place p = {.part = blend(s)};
  ga__colloc_integrals(ga__colloc_of(st)->now, s, p.w);
  return p;
}

static double size_of_step(const ga_stepper *st)
{
  return st->now.scalar[GA__T] - st->next.scalar[GA__T];
}

/* out[n] = begin + h ∫₀^s of a block of z, with `gap` to its value at the end. */
static void integral(const ga_stepper *st, const place *p, const double *begin, const double *gap, int block,
                     int n, double *out)
{
  const ga__colloc *c = ga__colloc_of(st);
  const double h = size_of_step(st);
  const double *z = c->z + st->sys->start[block];
  for (int i = 0; i < n; i++) out[i] = begin[i] + p->part * gap[i];
  ga__colloc_add(c->now, h, p->w, z, st->sys->n, out, n);
}

static void polynomial(const ga_stepper *st, const double *w, int block, double *out)
{
  const ga__colloc *c = ga__colloc_of(st);
  const int n = st->sys->size[block], stride = st->sys->n;
  const double *z = c->z + st->sys->start[block];
  if (!out || n == 0) return;
  memset(out, 0, (size_t)n * sizeof *out);
  ga__colloc_add(c->now, 1.0, w, z, stride, out, n);
}

/* Ω(s) into out[nv] by the polynomial of Ω' through the nodes: of one order less than exponent_at(). */
static void exponent_by_rates(const ga_stepper *st, const place *p, double *out)
{
  const ga__colloc *c = ga__colloc_of(st);
  const double h = size_of_step(st);
  const int nv = st->sys->nv;
  for (int i = 0; i < nv; i++) out[i] = 0.0;
  ga__colloc_add(c->now, h, p->w, c->rate, nv, out, nv);
}

/* Ω(s) into out[nv]: nodes at s c_m, with Ω there from the polynomial of the step first. */
static void exponent_at(ga_stepper *st, double s, double *out)
{
  const ga_system *sys = st->sys;
  ga__colloc *c = ga__colloc_of(st);
  const ga__colloc_rule *rule = c->now;
  const int nv = sys->nv, M = rule->stages, passes = ga_group_n_blocks(sys->group) > 0 ? PASSES : 1;
  const double h = size_of_step(st);
  double *v = c->inside, *omega = c->inside + GA__NODES * nv, *rate = c->r; /* r is free between steps */
  for (int m = rule->first; m <= M; m++) {
    const place p = place_at(st, s * rule->c[m]);
    integral(st, &p, st->next.v, c->gap_v, GA_BLOCK_V, nv, v + m * nv);
    if (passes > 1) exponent_by_rates(st, &p, omega + m * nv);
  }
  for (int pass = 0; pass < passes; pass++) {
    for (int m = rule->first; m <= M; m++)
      ga_group_exponent_rate(sys->group, rate + m * nv, omega + m * nv, v + m * nv);
    for (int m = pass + 1 < passes ? 1 : M; m <= M; m++) { /* at last the end alone */
      double *to = omega + m * nv;
      for (int i = 0; i < nv; i++) to[i] = 0.0;
      ga__colloc_add(rule, s * h, rule->A[m], rate, nv, to, nv);
    }
  }
  ga__copy_numbers(out, omega + M * nv, nv);
}

/* gap[n] := end − begin − h ∫₀¹ */
static void find_gap(const ga_stepper *st, const double *begin, const double *end, int block, int n,
                     double *gap)
{
  place p = {.part = 0.0};
  memcpy(p.w, ga__colloc_of(st)->now->A[ga__colloc_of(st)->now->stages], sizeof p.w);
  for (int i = 0; i < n; i++) gap[i] = 0.0;
  integral(st, &p, begin, gap, block, n, gap);
  for (int i = 0; i < n; i++) gap[i] = end[i] - gap[i];
}

/* c->gap_v, gap_x, and end_q := the move from Ω(1) to the end of the step; once a step. */
static void find_end(ga_stepper *st, double *omega, double *q)
{
  const ga_system *sys = st->sys;
  ga__colloc *c = ga__colloc_of(st);
  if (c->end_number == st->state_number) return;
  find_gap(st, st->next.v, st->now.v, GA_BLOCK_V, sys->nv, c->gap_v);
  find_gap(st, st->next.x, st->now.x, GA_BLOCK_X, sys->size[GA_BLOCK_X], c->gap_x);
  exponent_at(st, 1.0, omega);
  ga_group_move(sys->group, q, st->next.q, omega);
  ga_group_difference(sys->group, c->end_q, q, st->now.q);
  c->end_number = st->state_number;
}

/* The state at an end of the step, to the last bit. */
static void copy_state(const ga_system *sys, const ga__state *from, const ga__inside *out)
{
  const struct {
    double *to;
    const double *from;
    int n;
  } part[] = {{out->q, from->q, sys->nq},
              {out->v, from->v, sys->nv},
              {out->vdot, from->vdot, sys->nv},
              {out->lambda, from->lambda, sys->size[GA_BLOCK_LAMBDA]},
              {out->psi, from->psi, sys->size[GA_BLOCK_PSI]},
              {out->x, from->x, sys->size[GA_BLOCK_X]},
              {out->xdot, from->xdot, sys->size[GA_BLOCK_X]},
              {out->y, from->y, sys->size[GA_BLOCK_Y]}};
  for (size_t i = 0; i < sizeof part / sizeof *part; i++)
    if (part[i].to) ga__copy_numbers(part[i].to, part[i].from, part[i].n);
}

void ga__colloc_interpolate(ga_stepper *st, double s, const ga__inside *out)
{
  const ga_system *sys = st->sys;
  ga__colloc *c = ga__colloc_of(st);
  if (!(s > 0.0 && s < 1.0)) {
    copy_state(sys, s > 0.0 ? &st->now : &st->next, out);
    return;
  }
  double *omega = c->omega;
  const place p = place_at(st, s);
  find_end(st, omega, c->end_place);
  if (out->q) {
    if (out->coarse)
      exponent_by_rates(st, &p, omega);
    else
      exponent_at(st, s, omega);
    ga_group_move(sys->group, out->q, st->next.q, omega);
    for (int i = 0; i < sys->nv; i++) omega[i] = p.part * c->end_q[i];
    ga_group_move(sys->group, out->q, out->q, omega);
  }
  if (out->v) integral(st, &p, st->next.v, c->gap_v, GA_BLOCK_V, sys->nv, out->v);
  if (out->x) integral(st, &p, st->next.x, c->gap_x, GA_BLOCK_X, sys->size[GA_BLOCK_X], out->x);
  double w[GA__NODES];
  ga__colloc_weights(c->now, s, w);
  polynomial(st, w, GA_BLOCK_V, out->vdot);
  polynomial(st, w, GA_BLOCK_LAMBDA, out->lambda);
  polynomial(st, w, GA_BLOCK_PSI, out->psi);
  polynomial(st, w, GA_BLOCK_X, out->xdot);
  polynomial(st, w, GA_BLOCK_Y, out->y);
}

/* Roundings of t from which on the times of nodes differ enough for a polynomial. */
#define APART 1e4

int ga__colloc_nodes(const ga_stepper *st, double *at)
{
  const ga__colloc_rule *rule = ga__colloc_last_rule(st, &st->now);
  const double begin = st->next.scalar[GA__T], end = st->now.scalar[GA__T];
  if (!rule || !(end - begin > APART * DBL_EPSILON * fmax(fabs(begin), fabs(end)))) return 0;
  for (int m = rule->first; m < rule->stages; m++) at[m - rule->first] = begin + rule->c[m] * (end - begin);
  at[rule->stages - rule->first] = end;
  return rule->stages - rule->first + 1;
}

/* The last one before it was moved onto the constraints: integrals over the nodes are of high order only with
 * accelerations and multipliers of the collocation itself. */
void ga__colloc_node(const ga_stepper *st, int i, ga_state *out)
{
  const ga_system *sys = st->sys;
  const ga__colloc *c = ga__colloc_of(st);
  const int *start = sys->start, m = i + c->now->first;
  const double *z = m == c->now->stages ? c->last : c->z + m * sys->n;
  const ga__state *begin = &st->next;
  *out = (ga_state){.q = m > 0 ? c->q + m * sys->nq : begin->q,
                    .v = m > 0 ? c->v + m * sys->nv : begin->v,
                    .vdot = z,
                    .lambda = z + start[GA_BLOCK_LAMBDA],
                    .psi = z + start[GA_BLOCK_PSI],
                    .x = m > 0 ? c->x + m * sys->size[GA_BLOCK_X] : begin->x,
                    .xdot = z + start[GA_BLOCK_X],
                    .y = z + start[GA_BLOCK_Y]};
}

/* ---- Errors ----
 * A motion v = S e^{iωt} has at its nodes the highest divided difference D of vdot, from which Hω follows:
 * η = κ H |D|/S = (Hω)^n/..., n = M + 2 (Radau M + 1). The error of the end of a step, per unit step, is
 * C S (Hω)^p, and of q S/ω instead of S:
 *   e_v = C S η^(p/n)      e_q = C S H η^((p−1)/n)
 * which is an estimate of the error of the motion over a time of 1/ω, not of one step. κ and C are measured:
 * docs/theory.md. Stiff equations of states reduce their order to that of the nodes, p = M + 1. */
#define SEEN 0.02 /* κ M */
static const double CONSTANT[GA__MOST_ORDER + 1] = {
    [3] = 0.3, [4] = 3.0, [5] = 0.3, [6] = 2.0, [7] = 0.3, [8] = 1.0, [10] = 1.0};

/* Weights of a divided difference of vdot over nodes of the step and, behind them, of one of the step before,
 * in units of h. */
typedef struct difference {
  double w[GA__NODES + 1];
  int n;     /* points, */
  int which; /* the node of the step before among them; −1: none */
} difference;

static difference difference_of(const ga_stepper *st, int with_old)
{
  const ga__colloc *c = ga__colloc_of(st);
  const ga__state *before = &st->next;
  const ga__colloc_rule *rule = c->now, *old = with_old ? ga__colloc_last_rule(st, before) : NULL;
  const double h = st->now.scalar[GA__T] - before->scalar[GA__T], h_old = before->scalar[GA__H_OLD];
  double t[GA__NODES + 1];
  difference d = {.n = 0, .which = old ? old->stages / 2 : -1};
  for (int m = rule->first; m <= rule->stages; m++) t[d.n++] = rule->c[m];
  if (old) t[d.n++] = -(1.0 - old->c[d.which]) * h_old / h;
  for (int i = 0; i < d.n; i++) {
    d.w[i] = 1.0;
    for (int k = 0; k < d.n; k++) d.w[i] /= k == i ? 1.0 : t[i] - t[k];
  }
  return d;
}

/* Largest |v|, or rate of x, at the ends of the step. */
static double largest_rate(const double *a, const double *b, int n)
{
  return fmax(ga__max_abs(a, n, NULL), ga__max_abs(b, n, NULL));
}

/* The difference of component i of z. */
static double difference_at(const ga_stepper *st, const difference *d, int i)
{
  const ga__colloc *c = ga__colloc_of(st);
  const int size = st->sys->n, nodes = d->which >= 0 ? d->n - 1 : d->n;
  double sum = 0.0;
  for (int k = 0; k < nodes; k++) sum += d->w[k] * c->z[(k + c->now->first) * size + i];
  if (d->which >= 0) sum += d->w[nodes] * st->next.own[GA__COLLOC_Z + d->which * size + i];
  return fabs(sum);
}

/* Rounding of a difference of multipliers: at the nodes they come from velocities over h, times masses. */
#define ROUNDINGS 50.0

static double noise_of_forces(ga_stepper *st, const difference *d)
{
  const ga_system *sys = st->sys;
  const ga__state *now = &st->now;
  const double h = now->scalar[GA__T] - st->next.scalar[GA__T];
  double *inertia = ga__colloc_of(st)->omega, weights = 0.0;
  for (int k = 0; k < d->n; k++) weights += fabs(d->w[k]);
  for (int i = 0; i < sys->nv; i++) st->exponent[i] = 1.0; /* free here */
  ga_point p = ga__state_point(now);
  p.vdot = st->exponent;
  if (ga__call(sys, GA__MASS, &p, inertia)) return 0.0;
  const double rate = ga__rounding_of_rate(sys) * (1.0 + ga__max_abs(now->v, sys->nv, NULL)) / h;
  return ROUNDINGS * weights * rate * ga__max_abs(inertia, sys->nv, NULL);
}

/* Where constraints prescribe the motion, only forces have errors: the largest relative one of the
 * multipliers counts as one of q. kappa: factor of the difference. */
static void estimate_forces(ga_stepper *st, const difference *d, double kappa, double C, double power,
                            double *e_q)
{
  const ga_system *sys = st->sys;
  const ga__colloc *c = ga__colloc_of(st);
  const int first = sys->nv, n = sys->start[GA_BLOCK_X] - first, M = c->now->stages;
  const double size =
                   fmax(ga__max_abs(c->z + first, n, NULL), ga__max_abs(c->z + M * sys->n + first, n, NULL)),
               noise = noise_of_forces(st, d);
  double largest = 0.0, *scale = c->omega;
  if (!(size > noise)) return;
  for (int i = 0; i < n; i++)
    largest = fmax(largest, kappa * fmax(difference_at(st, d, first + i) - noise, 0.0) / size);
  ga__tolerances_q(sys, 0.0, 1.0, st->now.q, scale);
  for (int i = 0; i < sys->nv; i++) e_q[i] = fmax(e_q[i], C * pow(largest, power) * scale[i]);
}

/* S: the largest velocity in the step, and rate of states. */
static double size_of_v(const ga_stepper *st, double h)
{
  return largest_rate(st->next.v, st->now.v, st->sys->nv) + h * ga__max_abs(st->now.vdot, st->sys->nv, NULL);
}
static double size_of_xdot(const ga_stepper *st)
{
  return largest_rate(st->next.xdot, st->now.xdot, st->sys->size[GA_BLOCK_X]);
}

double ga__colloc_order_seen(const ga_stepper *st)
{
  const ga__colloc *c = ga__colloc_of(st);
  return c->now ? c->now->order : st->order;
}

void ga__colloc_estimate(ga_stepper *st)
{
  const ga_system *sys = st->sys;
  const ga__colloc_rule *rule = ga__colloc_of(st)->now;
  const int nx = sys->size[GA_BLOCK_X], x = sys->start[GA_BLOCK_X];
  const double h = st->now.scalar[GA__T] - st->next.scalar[GA__T], p = ga__colloc_order_seen(st),
               C = CONSTANT[rule->order], kappa = SEEN / rule->stages * h;
  const int is_stiff = ga__colloc_of(st)->in_order && st->opts.order == 0;
  const double p_x = is_stiff ? rule->stages + 1.0 : p;
  const difference d = difference_of(st, 1);
  const double n = d.n; /* without a step before, of one order less */
  const double S = size_of_v(st, h), S_x = size_of_xdot(st);
  for (int i = 0; i < sys->nv; i++) {
    const double eta = S > 0.0 ? kappa * difference_at(st, &d, i) / S : 0.0;
    st->est_q[i] = C * S * h * pow(eta, (p - 1.0) / n);
    st->est_v[i] = C * S * pow(eta, p / n);
  }
  for (int i = 0; i < nx; i++) {
    const double eta = S_x > 0.0 ? kappa * difference_at(st, &d, x + i) / S_x : 0.0;
    st->est_x[i] = C * S_x * h * pow(eta, (p_x - 1.0) / n);
  }
  if (ga__is_held(st)) estimate_forces(st, &d, SEEN / rule->stages, C, (p - 1.0) / n, st->est_q);
}

/* ---- Errors of other orders ----
 * That of the next lower order has the difference over the nodes alone, that of the next higher one a further
 * one, as large as the ratio of these two says: for e^{iωt} differences of k + 1 points are (Hω)^k/k!. */

/* e[n] for the differences `factor` times D at the components from `at` on of z. */
static void errors_by(ga_stepper *st, int order, const difference *d, double factor, double size, int at,
                      int n, double *e)
{
  const double h = st->now.scalar[GA__T] - st->next.scalar[GA__T], M = order / 2, points = M + 2.0;
  const double kappa = SEEN / M * h * factor;
  for (int i = 0; i < n; i++) {
    const double eta = size > 0.0 ? kappa * difference_at(st, d, at + i) / size : 0.0;
    e[i] = CONSTANT[order] * size * h * pow(eta, (order - 1.0) / points);
  }
}

/* Ratio of the largest components of two differences. */
static double ratio_of(const ga_stepper *st, const difference *upper, const difference *lower, int at, int n)
{
  double above = 0.0, below = 0.0;
  for (int i = 0; i < n; i++) {
    above = fmax(above, difference_at(st, upper, at + i));
    below = fmax(below, difference_at(st, lower, at + i));
  }
  return below > 0.0 ? above / below : 0.0;
}

int ga__colloc_error_of(ga_stepper *st, int order, double *e_q, double *e_x)
{
  const ga_system *sys = st->sys;
  const int now = ga__colloc_of(st)->now->order, nv = sys->nv, nx = sys->size[GA_BLOCK_X],
            x = sys->start[GA_BLOCK_X];
  const double h = st->now.scalar[GA__T] - st->next.scalar[GA__T], M = now / 2;
  const difference upper = difference_of(st, 1), lower = difference_of(st, 0);
  if (now % 2 != 0 || upper.which < 0 || (order != now - 2 && order != now + 2)) return 0;
  const int up = order > now;
  const double next = (M + 1.0) / (M + 2.0); /* k! (k + 2)! / (k + 1)!² turned round, k = M */
  const double factor = up ? next * ratio_of(st, &upper, &lower, 0, nv) : 1.0,
               factor_x = up ? next * ratio_of(st, &upper, &lower, x, nx) : 1.0;
  errors_by(st, order, up ? &upper : &lower, factor, size_of_v(st, h), 0, nv, e_q);
  errors_by(st, order, up ? &upper : &lower, factor_x, size_of_xdot(st), x, nx, e_x);
  if (!ga__is_held(st)) return 1;
  const double factor_f = up ? next * ratio_of(st, &upper, &lower, nv, x - nv) : 1.0, there = order / 2;
  estimate_forces(st, up ? &upper : &lower, SEEN / there * factor_f, CONSTANT[order],
                  (order - 1.0) / (there + 2.0), e_q);
  return 1;
}
