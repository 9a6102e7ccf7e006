/* Collocation within a step: dense output, and the nodes. */
#include "core/collocation.h"
#include "core/sensitivity.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---- Dense output ----
 * vdot, λ, ψ, xdot, y by polynomials through the nodes; v and x by their integrals; q by the rule of the step
 * on the part [0, s] of it, with v from its polynomial. What the end of the step was moved by, to meet the
 * constraints, is distributed over it. */

enum { PASSES = 2 };
#define ROUNDING 1e-13 /* [-] of accelerations and multipliers, relative to the largest of them */
#define MOVE 1e-3      /* [-] of Ω, and of v relative to 1 + its size, in differences */

static double size_of_step(const ga_stepper *st)
{
  return st->now.scalar[GA__T] - st->next.scalar[GA__T];
}

/* Smooth, and 0 and 1 at the ends. */
static double blend(double s)
{
  return s * s * (3.0 - 2.0 * s);
}

/* ---- Further nodes ----
 * The polynomial L through the nodes has as many orders. Further ones at t_k, in units of h, add to it: with
 * the divided differences D_k over the nodes and t_1 ... t_k
 *   z(s) = L(s) + ω(s) (D_1 + (s − t_1) (D_2 + (s − t_2) (...))),   ω(s) = Π (s − c_j)
 * They are the beginning of the step, where that is no node, and those of the step before, M − 1 in all: of
 * as many terms the integrals over the step are 0, and v and x at its end stay as they are. */

/* Behind a kink D_k is that of the kink. Where z is smooth it is smaller than one of the two differences
 * before it, which are not both small at the same time. */
static double bound_difference(double D, double before, double before2)
{
  const double most = fmax(fabs(before), fabs(before2));
  return fmin(fmax(D, -most), most);
}

/* Weights w[0 ... last] of the difference over the points t[0 ... last]. */
static void difference_weights(const double *t, int last, double *w)
{
  for (int i = 0; i <= last; i++) {
    w[i] = 1.0;
    for (int k = 0; k <= last; k++) w[i] /= k == i ? 1.0 : t[i] - t[k];
  }
}

static double weighted_sum(const double *w, const double *const *z, int n, int at)
{
  double sum = 0.0;
  for (int i = 0; i < n; i++) sum += w[i] * z[i][at];
  return sum;
}

/* Points and values: those of the nodes, then the further ones; returns the number of these. own, old_own: at
 * the nodes of the step, and at those of the step before. */
static int further_points(const ga_stepper *st, const double *own, const double *old_own, double *t,
                          const double **z)
{
  const ga__colloc *c = ga__colloc_of(st);
  const ga__colloc_rule *rule = c->now, *old = ga__colloc_last_rule(st, &st->next);
  const int size = st->sys->n, M = rule->stages;
  const double ratio = st->next.scalar[GA__H_OLD] / size_of_step(st);
  int n = 0, K = 0;
  for (int m = rule->first; m <= M; m++) t[n] = rule->c[m], z[n++] = own + m * size;
  if (rule->first > 0) t[n] = 0.0, z[n++] = own, K++;
  for (int j = old ? old->stages - 1 : -1; K < M - 1 && old && j >= old->first; j--, K++)
    t[n] = (old->c[j] - 1.0) * ratio, z[n++] = old_own + j * size;
  return K;
}

/* Weights of the last two differences over the nodes of the step, and of the further ones; and values. */
typedef struct differences {
  int points; /* nodes of the step */
  double w[GA__NODES + 1][2 * GA__NODES];
  const double *z[2 * GA__NODES];
} differences;

/* c->n_further and c->t_further too. */
static void find_differences(ga_stepper *st, differences *out)
{
  ga__colloc *c = ga__colloc_of(st);
  double t[2 * GA__NODES];
  const int points = out->points = c->now->stages + 1 - c->now->first;
  c->n_further = further_points(st, c->nodes, st->next.own + GA__COLLOC_Z, t, out->z);
  for (int k = 0; k < c->n_further; k++) c->t_further[k] = t[points + k];
  for (int k = 0; k < c->n_further + 2; k++) difference_weights(t, points - 2 + k, out->w[k]);
}

/* c->further, D_k of all components; once a step. */
static void find_further(ga_stepper *st)
{
  ga__colloc *c = ga__colloc_of(st);
  differences of;
  if (c->further_number == st->state_number) return;
  c->further_number = st->state_number;
  find_differences(st, &of);
  const int size = st->sys->n, points = of.points;
  for (int i = 0; i < size; i++) {
    double before2 = weighted_sum(of.w[0], of.z, points - 1, i),
           before = weighted_sum(of.w[1], of.z, points, i);
    for (int k = 0; k < c->n_further; k++) {
      const double D = bound_difference(weighted_sum(of.w[k + 2], of.z, points + 1 + k, i), before, before2);
      c->further[k * size + i] = D;
      before2 = before, before = D;
    }
  }
}

/* ω(s), ω(s) (s − t_1), ... into value, and their integrals from 0 to s, of `terms` terms, by their
 * coefficients. */
static void further_weights(const ga__colloc *c, double s, int terms, double *value, double *integral)
{
  const int first = c->now->first, points = c->now->stages + 1 - first;
  double p[2 * GA__NODES] = {1.0};
  for (int degree = 1; degree < points + terms; degree++) {
    const int i = degree - 1;
    const double root = i < points ? c->now->c[i + first] : c->t_further[i - points];
    p[degree] = 0.0;
    for (int k = degree; k > 0; k--) p[k] = p[k - 1] - root * p[k];
    p[0] *= -root;
    if (degree < points) continue;
    double at = 0.0, sum = 0.0;
    for (int k = degree; k >= 0; k--) at = at * s + p[k], sum = (sum + p[k] / (k + 1)) * s;
    value[degree - points] = at;
    integral[degree - points] = sum;
  }
}

/* ---- A place within the step ---- */

typedef struct place {
  double value[GA__NODES], integral[GA__NODES];           /* ℓ_j(s) and ∫₀^s ℓ_j, */
  double further[GA__NODES], further_integral[GA__NODES]; /* of the terms with D_k, */
  int terms;                                              /* and their number */
  double part;                                            /* of what the end of the step was moved by */
} place;

/* terms: those with D_k, c->n_further or 0. */
static place place_at(const ga_stepper *st, double s, int terms)
{
  const ga__colloc *c = ga__colloc_of(st);
  place p = {.part = blend(s), .terms = terms};
  ga__colloc_weights(c->now, s, p.value);
  ga__colloc_integrals(c->now, s, p.integral);
  if (terms > 0) further_weights(c, s, terms, p.further, p.further_integral);
  return p;
}

/* What the formulas are linear in: numbers of the step, or derivatives of these. */
typedef struct curve {
  const double *nodes, *further, *rate; /* as in ga__colloc */
  const double *v, *x;                  /* at the beginning of the step, */
  double *gap_v, *gap_x;                /* and from the ends of the polynomials to that of the step */
} curve;

static curve own_curve(const ga_stepper *st)
{
  const ga__colloc *c = ga__colloc_of(st);
  return (curve){c->nodes, c->further, c->rate, st->next.v, st->next.x, c->gap_v, c->gap_x};
}

/* out[n] += h Σ w_j z_j + h Σ further_k D_k of a block */
static void add_block(const ga_stepper *st, const curve *of, double h, const place *p, const double *w,
                      const double *further, int block, int n, double *out)
{
  const ga__colloc *c = ga__colloc_of(st);
  const int stride = st->sys->n, at = st->sys->start[block];
  ga__colloc_add(c->now, h, w, of->nodes + at, stride, out, n);
  for (int k = 0; k < p->terms; k++)
    for (int i = 0; i < n; i++) out[i] += h * further[k] * of->further[k * stride + at + i];
}

/* out[n] = begin + h ∫₀^s of a block of z, with `gap` to its value at the end. */
static void integral(const ga_stepper *st, const curve *of, const place *p, const double *begin,
                     const double *gap, int block, int n, double *out)
{
  for (int i = 0; i < n; i++) out[i] = begin[i] + p->part * gap[i];
  add_block(st, of, size_of_step(st), p, p->integral, p->further_integral, block, n, out);
}

static void integrate_v(const ga_stepper *st, const curve *of, const place *p, double *out)
{
  integral(st, of, p, of->v, of->gap_v, GA_BLOCK_V, st->sys->nv, out);
}

static void integrate_x(const ga_stepper *st, const curve *of, const place *p, double *out)
{
  integral(st, of, p, of->x, of->gap_x, GA_BLOCK_X, st->sys->size[GA_BLOCK_X], out);
}

static void polynomial(const ga_stepper *st, const curve *of, const place *p, int block, double *out)
{
  const int n = st->sys->size[block];
  if (!out || n == 0) return;
  memset(out, 0, (size_t)n * sizeof *out);
  add_block(st, of, 1.0, p, p->value, p->further, block, n, out);
}

static void polynomials(const ga_stepper *st, const curve *of, const place *p, const ga__inside *out)
{
  polynomial(st, of, p, GA_BLOCK_V, out->vdot);
  polynomial(st, of, p, GA_BLOCK_LAMBDA, out->lambda);
  polynomial(st, of, p, GA_BLOCK_PSI, out->psi);
  polynomial(st, of, p, GA_BLOCK_X, out->xdot);
  polynomial(st, of, p, GA_BLOCK_Y, out->y);
}

/* Ω(s) into out[nv] by the polynomial of Ω' through the nodes: of one order less than exponent_at(). */
static void exponent_by_rates(const ga_stepper *st, const curve *of, const place *p, double *out)
{
  const ga__colloc *c = ga__colloc_of(st);
  const double h = size_of_step(st);
  const int nv = st->sys->nv;
  for (int i = 0; i < nv; i++) out[i] = 0.0;
  ga__colloc_add(c->now, h, p->integral, of->rate, nv, out, nv);
}

/* Ω(s) into out[nv]: nodes at s c_m, with Ω there from the polynomial of the step first. */
static void exponent_at(ga_stepper *st, double s, int terms, double *out)
{
  const ga_system *sys = st->sys;
  ga__colloc *c = ga__colloc_of(st);
  const ga__colloc_rule *rule = c->now;
  const int nv = sys->nv, M = rule->stages, passes = ga_group_n_blocks(sys->group) > 0 ? PASSES : 1;
  const double h = size_of_step(st);
  const curve own = own_curve(st);
  double *v = c->inside, *omega = c->inside + GA__NODES * nv, *rate = c->r; /* r is free between steps */
  for (int m = rule->first; m <= M; m++) {
    const place p = place_at(st, s * rule->c[m], terms);
    integrate_v(st, &own, &p, v + m * nv);
    if (passes > 1) exponent_by_rates(st, &own, &p, omega + m * nv);
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

/* Gaps of a curve: end − begin − h ∫₀¹ */
static void find_gaps(const ga_stepper *st, const curve *of, const double *end_v, const double *end_x)
{
  const int nv = st->sys->nv, nx = st->sys->size[GA_BLOCK_X];
  place p = {.part = 0.0};
  memcpy(p.integral, ga__colloc_of(st)->now->A[ga__colloc_of(st)->now->stages], sizeof p.integral);
  for (int i = 0; i < nv; i++) of->gap_v[i] = 0.0;
  for (int i = 0; i < nx; i++) of->gap_x[i] = 0.0;
  integrate_v(st, of, &p, of->gap_v);
  integrate_x(st, of, &p, of->gap_x);
  for (int i = 0; i < nv; i++) of->gap_v[i] = end_v[i] - of->gap_v[i];
  for (int i = 0; i < nx; i++) of->gap_x[i] = end_x[i] - of->gap_x[i];
}

/* c->gap_v, gap_x; once a step. */
static void find_own_gaps(ga_stepper *st)
{
  ga__colloc *c = ga__colloc_of(st);
  if (c->gap_number == st->state_number) return;
  const curve own = own_curve(st);
  find_gaps(st, &own, st->now.v, st->now.x);
  c->gap_number = st->state_number;
}

/* The same, and end_q := the move from Ω(1) to the end of the step. */
static void find_end(ga_stepper *st, double *omega, double *q)
{
  const ga_system *sys = st->sys;
  ga__colloc *c = ga__colloc_of(st);
  find_own_gaps(st);
  if (c->end_number == st->state_number) return;
  exponent_at(st, 1.0, 0, omega);
  ga_group_move(sys->group, q, st->next.q, omega);
  ga_group_difference(sys->group, c->end_q, q, st->now.q);
  c->end_number = st->state_number;
}

/* The same from exponent_by_rates(), which at the end is Ω of the last node, into coarse_end_q. */
static void find_coarse_end(ga_stepper *st)
{
  const ga_system *sys = st->sys;
  ga__colloc *c = ga__colloc_of(st);
  find_own_gaps(st);
  if (c->coarse_end_number == st->state_number) return;
  ga_group_difference(sys->group, c->coarse_end_q, c->q + c->now->stages * sys->nq, st->now.q);
  c->coarse_end_number = st->state_number;
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

/* q, v and x within the step. */
static void motion_at(ga_stepper *st, double s, const place *p, const ga__inside *out)
{
  const ga_system *sys = st->sys;
  ga__colloc *c = ga__colloc_of(st);
  double *omega = c->omega;
  const curve own = own_curve(st);
  if (out->q) {
    if (out->coarse)
      exponent_by_rates(st, &own, p, omega);
    else
      exponent_at(st, s, p->terms, omega);
    ga_group_move(sys->group, out->q, st->next.q, omega);
    const double *end = out->coarse ? c->coarse_end_q : c->end_q;
    for (int i = 0; i < sys->nv; i++) omega[i] = p->part * end[i];
    ga_group_move(sys->group, out->q, out->q, omega);
  }
  if (out->v) integrate_v(st, &own, p, out->v);
  if (out->x) integrate_x(st, &own, p, out->x);
}

/* ---- Accelerations, forces and outputs within the step ----
 * Those of the nodes have a lower order than q, v and x, which are integrals of them, and the polynomial
 * through them has errors of its own. So they are solved for again at each place that is asked for, with q, v
 * and x there, by the factors of the node next to it. The state of the run, its next step and the counts of
 * its work do not depend on that. Not in steps for stiff equations: their forces turn small errors of q into
 * large ones of accelerations. */

int ga__colloc_is_stiff(const ga_stepper *st)
{
  const ga__colloc *c = ga__colloc_of(st);
  return c->in_order && (c->damps || st->opts.order != 0);
}

static int asks_for_forces(const ga_stepper *st, const ga__inside *out)
{
  const int any = out->vdot || out->lambda || out->psi || out->xdot || out->y;
  return any && !out->coarse && !out->plain && !ga__colloc_is_stiff(st) && st->factors.now.valid;
}

/* What is asked for, and room for the rest: where nothing is wanted, that of the family. */
static ga__inside complete(const ga_stepper *st, const ga__inside *out)
{
  const int *start = st->sys->start;
  const ga__colloc *c = ga__colloc_of(st);
  double *z = c->inside_z;
  return (ga__inside){.q = out->q ? out->q : c->inside_q,
                      .v = out->v ? out->v : c->inside_v,
                      .vdot = out->vdot ? out->vdot : z,
                      .lambda = out->lambda ? out->lambda : z + start[GA_BLOCK_LAMBDA],
                      .psi = out->psi ? out->psi : z + start[GA_BLOCK_PSI],
                      .x = out->x ? out->x : c->inside_x,
                      .xdot = out->xdot ? out->xdot : z + start[GA_BLOCK_X],
                      .y = out->y ? out->y : z + start[GA_BLOCK_Y]};
}

static int nearest_node(const ga__colloc_rule *rule, double s)
{
  int best = 1;
  for (int m = 2; m <= rule->stages; m++)
    if (fabs(rule->c[m] - s) < fabs(rule->c[best] - s)) best = m;
  return best;
}

/* Multipliers of least norm at a place; the relations of the end of the step are found again. */
static ga_status reduce_multipliers(ga_stepper *st, double t, const ga__inside *at)
{
  const ga_point here = {t, at->q, at->v, at->vdot, at->lambda, at->psi, at->x, at->y, 0, NULL},
                 end = ga__state_point(&st->now);
  const int valid = st->red.valid, reported = st->red.reported;
  ga_status status = ga__find_relations(st, &here);
  if (!status) ga__null_reduce(&st->red.null, st->sys, at->lambda, at->psi);
  const ga_status back = ga__find_relations(st, &end);
  if (!back) st->red.valid = valid, st->red.reported = reported;
  return back ? back : status;
}

/* z of a place, solved for again; unchanged where that does not converge. */
static ga_status settle(ga_stepper *st, double s, const place *p, const ga__inside *at)
{
  const ga_stats made = st->stats;
  const ga_error said = st->ctx->error;
  const double begin = st->next.scalar[GA__T], t = begin + s * size_of_step(st);
  int found;
  ga_status status = ga__colloc_solve_at(st, nearest_node(ga__colloc_of(st)->now, s), t, at, &found,
                                         ga__stack_begin(&st->scratch));
  if (!status && found && st->red.null.r > 0) status = reduce_multipliers(st, t, at);
  st->stats = made;
  if (status < 0) return status;
  if (status) st->ctx->error = said;
  ga__colloc_of(st)->inside_solved = !status && found;
  const curve own = own_curve(st);
  if (status || !found) polynomials(st, &own, p, at);
  return GA_OK;
}

ga_status ga__colloc_interpolate(ga_stepper *st, double s, const ga__inside *out)
{
  ga__colloc *c = ga__colloc_of(st);
  if (!(s > 0.0 && s < 1.0)) {
    copy_state(st->sys, s > 0.0 ? &st->now : &st->next, out);
    return GA_OK;
  }
  if (out->coarse) {
    find_coarse_end(st);
  } else {
    find_end(st, c->omega, c->end_place);
    find_further(st);
  }
  const place p = place_at(st, s, out->coarse ? 0 : c->n_further);
  const int forces = asks_for_forces(st, out);
  const ga__inside at = forces ? complete(st, out) : *out;
  const curve own = own_curve(st);
  c->inside_solved = 0;
  motion_at(st, s, &p, &at);
  polynomials(st, &own, &p, &at);
  return forces ? settle(st, s, &p, &at) : GA_OK;
}

/* ---- Derivatives, of polynomials ----
 * Curves are linear in the numbers that they are made from, as long as differences stay between the same
 * bounds. With [.,.] the bracket, q(s) = move(move(q₀, Ω), b e) by the chain rule, where the move e to the
 * end, q₁ = move(q_Ω, e), has δe = T(e)⁻¹ (δq₁ − δq_Ω) + [e, δq_Ω]. */

/* Derivative of bound_difference(plain, before, before2). Where all three are noise, as in motions that leave
 * a plane with the parameter, they are proportional to it. */
static double bound_change(double plain, double before, double before2, double dplain, double d1, double d2,
                           double noise)
{
  const int last = fabs(before) > fabs(before2);
  const double bound = last ? before : before2, of_bound = last ? d1 : d2;
  if (fmax(fabs(plain), fabs(bound)) <= noise) return bound_difference(dplain, d1, d2);
  if (fabs(plain) <= fabs(bound)) return dplain;
  return plain * bound > 0.0 ? of_bound : -of_bound;
}

/* Of a weighted sum of n numbers with this noise. */
static double noise_of(const double *w, int n, double noise)
{
  double sum = 0.0;
  for (int i = 0; i < n; i++) sum += fabs(w[i]);
  return noise * sum;
}

/* What iterations and rounding may have left in component i of z. */
static double left_at(const ga_stepper *st, int i)
{
  const ga_system *sys = st->sys;
  const ga__colloc *c = ga__colloc_of(st);
  int index;
  const ga_equation_block block = ga__block_of(sys, i, &index);
  const double *all = c->nodes + c->now->stages * sys->n + sys->start[block];
  return fmax(ROUNDING * ga__max_abs(all, sys->size[block], NULL), ga__colloc_left_in(st, (int)block));
}

/* Of D_k, into d->further; those that meet a bound have its derivative. */
static void find_further_change(ga_stepper *st, const ga__colloc_change *d)
{
  const ga__colloc *c = ga__colloc_of(st);
  const int size = st->sys->n;
  const double *dz[2 * GA__NODES];
  double t[2 * GA__NODES];
  differences of;
  find_differences(st, &of);
  further_points(st, d->nodes, d->before, t, dz);
  const int points = of.points;
  for (int i = 0; i < size; i++) {
    const double left = left_at(st, i);
    double before2 = weighted_sum(of.w[0], of.z, points - 1, i),
           before = weighted_sum(of.w[1], of.z, points, i);
    double d2 = weighted_sum(of.w[0], dz, points - 1, i), d1 = weighted_sum(of.w[1], dz, points, i);
    for (int k = 0; k < c->n_further; k++) {
      const int n = points + 1 + k;
      const double plain = weighted_sum(of.w[k + 2], of.z, n, i);
      const double dD = bound_change(plain, before, before2, weighted_sum(of.w[k + 2], dz, n, i), d1, d2,
                                     noise_of(of.w[k + 2], n, left));
      const double D = bound_difference(plain, before, before2);
      d->further[k * size + i] = dD;
      before2 = before, before = D;
      d2 = d1, d1 = dD;
    }
  }
}

/* out[nv] := derivative of T(ω)⁻¹ v along dω, dv, by fourth-order differences. */
static void change_rate(const ga_group *g, const ga__colloc_change *d, const double *omega, const double *v,
                        const double *domega, const double *dv, double *out)
{
  static const double AT[] = {1.0, -1.0, 2.0, -2.0}, WEIGHT[] = {8.0, -8.0, -1.0, 1.0};
  const int nv = ga_group_nv(g);
  const double size =
      fmax(ga__max_abs(domega, nv, NULL), ga__max_abs(dv, nv, NULL) / (1.0 + ga__max_abs(v, nv, NULL)));
  for (int i = 0; i < nv; i++) out[i] = 0.0;
  if (!(size > 0.0)) return;
  const double step = MOVE / size;
  for (int k = 0; k < 4; k++) {
    for (int i = 0; i < nv; i++) {
      d->one[i] = omega[i] + AT[k] * step * domega[i];
      d->two[i] = v[i] + AT[k] * step * dv[i];
    }
    ga_group_exponent_rate(g, d->part, d->one, d->two);
    for (int i = 0; i < nv; i++) out[i] += WEIGHT[k] / (12.0 * step) * d->part[i];
  }
}

/* Derivative of Ω(s) into out[nv], with Ω(s) in c->omega: exponent_at() with all its passes. */
static void exponent_change(ga_stepper *st, double s, int terms, const curve *of, const ga__colloc_change *d,
                            double *out)
{
  const ga_group *g = st->sys->group;
  ga__colloc *c = ga__colloc_of(st);
  const ga__colloc_rule *rule = c->now;
  const int nv = st->sys->nv, M = rule->stages, passes = ga_group_n_blocks(g) > 0 ? PASSES : 1;
  const double h = size_of_step(st);
  const curve own = own_curve(st);
  double *v = c->inside, *omega = c->inside + GA__NODES * nv, *rate = c->r; /* r is free between steps */
  for (int m = rule->first; m <= M; m++) {
    const place p = place_at(st, s * rule->c[m], terms);
    integrate_v(st, &own, &p, v + m * nv);
    integrate_v(st, of, &p, d->v_inside + m * nv);
    exponent_by_rates(st, &own, &p, omega + m * nv);
    exponent_by_rates(st, of, &p, d->omega + m * nv);
  }
  for (int pass = 0; pass < passes; pass++) {
    for (int m = rule->first; m <= M; m++) {
      const int at = m * nv;
      ga_group_exponent_rate(g, rate + at, omega + at, v + at);
      if (passes > 1)
        change_rate(g, d, omega + at, v + at, d->omega + at, d->v_inside + at, d->omega_rate + at);
      else
        ga__copy_numbers(d->omega_rate + at, d->v_inside + at, nv);
    }
    for (int m = 1; m <= M; m++) {
      double *to = omega + m * nv, *dto = d->omega + m * nv;
      for (int i = 0; i < nv; i++) to[i] = dto[i] = 0.0;
      ga__colloc_add(rule, s * h, rule->A[m], rate, nv, to, nv);
      ga__colloc_add(rule, s * h, rule->A[m], d->omega_rate, nv, dto, nv);
    }
  }
  ga__copy_numbers(c->omega, omega + M * nv, nv);
  ga__copy_numbers(out, d->omega + M * nv, nv);
}

/* to[nv] := derivative of move(q, e), from those of q and, in de, of e. */
static void change_moved(const ga_group *g, const ga__colloc_change *d, const double *e, const double *dq,
                         double *de, double *to)
{
  ga_group_tangent(g, d->T, e);
  ga_group_add_bracket(g, de, -1.0, e, dq);
  ga__mul_blocks(g, d->part, d->T, de, 1.0, 0);
  for (int i = 0; i < ga_group_nv(g); i++) to[i] = dq[i] + d->part[i];
}

static void change_q(ga_stepper *st, double s, const place *p, const curve *of, const ga__colloc_change *d,
                     double *out)
{
  const ga_group *g = st->sys->group;
  const ga__colloc *c = ga__colloc_of(st);
  const int nv = st->sys->nv;
  double *end = d->three;
  exponent_change(st, 1.0, 0, of, d, d->two);
  change_moved(g, d, c->omega, d->q[0], d->two, end);
  for (int i = 0; i < nv; i++) d->one[i] = d->q[1][i] - end[i];
  ga_group_exponent_rate(g, d->two, c->end_q, d->one);
  ga_group_add_bracket(g, d->two, 1.0, c->end_q, end);
  ga__copy_numbers(end, d->two, nv); /* δe */
  exponent_change(st, s, p->terms, of, d, out);
  ga__copy_numbers(d->two, out, nv);
  change_moved(g, d, c->omega, d->q[0], d->two, out);
  for (int i = 0; i < nv; i++) {
    end[i] *= p->part;
    d->one[i] = p->part * c->end_q[i];
  }
  change_moved(g, d, d->one, out, end, out);
}

void ga__colloc_interpolate_change(ga_stepper *st, double s, const ga__colloc_change *d,
                                   const ga__inside *out)
{
  ga__colloc *c = ga__colloc_of(st);
  const curve of = {d->nodes, d->further, d->rate, d->v[0], d->x[0], d->gap_v, d->gap_x};
  find_end(st, c->omega, c->end_place);
  find_further(st);
  find_further_change(st, d);
  find_gaps(st, &of, d->v[1], d->x[1]);
  const place p = place_at(st, s, c->n_further);
  integrate_v(st, &of, &p, out->v);
  integrate_x(st, &of, &p, out->x);
  polynomials(st, &of, &p, out);
  change_q(st, s, &p, &of, d, out->q);
}

/* ---- The same transposed ---- */

/* Derivatives by a curve, and by the gaps of its ends. */
typedef struct curve_bars {
  double *nodes, *further, *rate, *v, *x, *gap_v, *gap_x;
} curve_bars;

static void add_turned(double *to, double factor, const double *from, int n)
{
  for (int i = 0; i < n; i++) to[i] += factor * from[i];
}

/* to_j += h w_j bar, of a block of nodes[GA__NODES][stride] */
static void add_to_nodes(const ga__colloc_rule *rule, double h, const double *w, const double *bar,
                         double *nodes, int stride, int n)
{
  for (int j = rule->first; j <= rule->stages; j++) add_turned(nodes + j * stride, h * w[j], bar, n);
}

static void add_block_turned(const ga_stepper *st, const curve_bars *to, double h, const place *p,
                             const double *w, const double *further, int block, int n, const double *bar)
{
  const int stride = st->sys->n, at = st->sys->start[block];
  add_to_nodes(ga__colloc_of(st)->now, h, w, bar, to->nodes + at, stride, n);
  for (int k = 0; k < p->terms; k++) add_turned(to->further + k * stride + at, h * further[k], bar, n);
}

static void integral_turned(const ga_stepper *st, const curve_bars *to, const place *p, const double *bar,
                            double *begin, double *gap, int block, int n)
{
  add_turned(begin, 1.0, bar, n);
  add_turned(gap, p->part, bar, n);
  add_block_turned(st, to, size_of_step(st), p, p->integral, p->further_integral, block, n, bar);
}

static void polynomial_turned(const ga_stepper *st, const curve_bars *to, const place *p, int block,
                              const double *bar)
{
  if (bar) add_block_turned(st, to, 1.0, p, p->value, p->further, block, st->sys->size[block], bar);
}

/* By gaps of the ends of polynomials, which are those of the run's step less what these give. */
static void gaps_turned(const ga_stepper *st, const curve_bars *to, const ga__colloc_bars *ends)
{
  const ga_system *sys = st->sys;
  const ga__colloc_rule *rule = ga__colloc_of(st)->now;
  const int nv = sys->nv, nx = sys->size[GA_BLOCK_X];
  const double h = size_of_step(st), *w = rule->A[rule->stages];
  add_turned(ends->v[1], 1.0, to->gap_v, nv);
  add_turned(ends->v[0], -1.0, to->gap_v, nv);
  add_to_nodes(rule, -h, w, to->gap_v, to->nodes, sys->n, nv);
  add_turned(ends->x[1], 1.0, to->gap_x, nx);
  add_turned(ends->x[0], -1.0, to->gap_x, nx);
  add_to_nodes(rule, -h, w, to->gap_x, to->nodes + sys->start[GA_BLOCK_X], sys->n, nx);
}

/* Of D_k of one component: to the values that each difference, or the one whose bound it meets, is made of.
 */
static void further_turned(const ga_stepper *st, const differences *of, int i, double noise,
                           const double *further, double *const *dz)
{
  const ga__colloc *c = ga__colloc_of(st);
  const int size = st->sys->n, points = of->points, count = c->n_further;
  double D[GA__NODES + 2], bar[GA__NODES + 2] = {0.0};
  int of_bound[GA__NODES + 2]; /* whose bound is met, −1: none, */
  double sign[GA__NODES + 2];  /* and its sign */
  D[0] = weighted_sum(of->w[0], of->z, points - 1, i);
  D[1] = weighted_sum(of->w[1], of->z, points, i);
  for (int k = 2; k < count + 2; k++) {
    const double plain = weighted_sum(of->w[k], of->z, points - 1 + k, i);
    const int last = fabs(D[k - 1]) > fabs(D[k - 2]) ? k - 1 : k - 2;
    const int is_noise = fmax(fabs(plain), fabs(D[last])) <= noise_of(of->w[k], points - 1 + k, noise);
    of_bound[k] = is_noise || fabs(plain) <= fabs(D[last]) ? -1 : last;
    sign[k] = plain * D[last] > 0.0 ? 1.0 : -1.0;
    D[k] = bound_difference(plain, D[k - 1], D[k - 2]);
    bar[k] = further[(k - 2) * size + i];
  }
  for (int k = count + 1; k >= 0; k--) {
    if (k > 1 && of_bound[k] >= 0)
      bar[of_bound[k]] += sign[k] * bar[k];
    else
      for (int l = 0; l < points - 1 + k; l++) dz[l][i] += of->w[k][l] * bar[k];
  }
}

/* By all D_k. */
static void all_further_turned(ga_stepper *st, const curve_bars *bars, const ga__colloc_bars *to)
{
  const int size = st->sys->n;
  double t[2 * GA__NODES];
  const double *own[2 * GA__NODES];
  double *dz[2 * GA__NODES];
  differences of;
  find_differences(st, &of);
  const int count = of.points + further_points(st, to->nodes, to->before, t, own);
  for (int l = 0; l < count; l++) dz[l] = (double *)own[l]; /* of to's arrays, which are written to */
  for (int i = 0; i < size; i++) {
    const double left = left_at(st, i);
    further_turned(st, &of, i, left, bars->further, dz);
  }
}

/* Ω and v at all nodes of each pass of exponent_at(). */
static void passes_at(ga_stepper *st, double s, int terms, double *v, double *const *omega)
{
  const ga_group *g = st->sys->group;
  ga__colloc *c = ga__colloc_of(st);
  const ga__colloc_rule *rule = c->now;
  const int nv = st->sys->nv, M = rule->stages;
  const double h = size_of_step(st);
  const curve own = own_curve(st);
  double *rate = c->r;
  for (int m = rule->first; m <= M; m++) {
    const place p = place_at(st, s * rule->c[m], terms);
    integrate_v(st, &own, &p, v + m * nv);
    exponent_by_rates(st, &own, &p, omega[0] + m * nv);
  }
  for (int pass = 0; pass < PASSES; pass++) {
    for (int m = rule->first; m <= M; m++)
      ga_group_exponent_rate(g, rate + m * nv, omega[pass] + m * nv, v + m * nv);
    for (int i = 0; i < nv; i++) omega[pass + 1][i] = 0.0; /* at the beginning */
    for (int m = 1; m <= M; m++) {
      double *to = omega[pass + 1] + m * nv;
      for (int i = 0; i < nv; i++) to[i] = 0.0;
      ga__colloc_add(rule, s * h, rule->A[m], rate, nv, to, nv);
    }
  }
}

/* Derivatives by Ω(s), its `bar`, become those by the curve. */
static void exponent_turned(ga_stepper *st, double s, int terms, const double *bar, const curve_bars *to,
                            const ga__colloc_bars *w)
{
  const ga_group *g = st->sys->group;
  const ga__colloc *c = ga__colloc_of(st);
  const ga__colloc_rule *rule = c->now;
  const int nv = st->sys->nv, M = rule->stages, all = GA__NODES * nv;
  const double h = size_of_step(st);
  double *v = w->room, *omega[PASSES + 1], *by_omega = v + (PASSES + 2) * all, *by_rate = by_omega + all,
         *by_v = by_rate + all;
  for (int k = 0; k <= PASSES; k++) omega[k] = v + (k + 1) * all;
  passes_at(st, s, terms, v, omega);
  memset(by_omega, 0, 3 * (size_t)all * sizeof *by_omega);
  ga__copy_numbers(by_omega + M * nv, bar, nv);
  for (int pass = PASSES - 1; pass >= 0; pass--) {
    memset(by_rate, 0, (size_t)all * sizeof *by_rate);
    for (int m = 1; m <= M; m++) add_to_nodes(rule, s * h, rule->A[m], by_omega + m * nv, by_rate, nv, nv);
    memset(by_omega, 0, (size_t)all * sizeof *by_omega);
    for (int m = rule->first; m <= M; m++) {
      const int at = m * nv;
      ga_group_tangent_inverse(g, w->T, omega[pass] + at);
      ga__mul_blocks(g, w->one, w->T, by_rate + at, 1.0, 1);
      add_turned(by_v + at, 1.0, w->one, nv);
      if (m > 0)
        ga__exponent_rate_turned(g, omega[pass] + at, v + at, by_rate + at, by_omega + at, w->one, w->two);
    }
  }
  for (int m = rule->first; m <= M; m++) {
    const place p = place_at(st, s * rule->c[m], terms);
    add_to_nodes(rule, h, p.integral, by_omega + m * nv, to->rate, nv, nv);
    integral_turned(st, to, &p, by_v + m * nv, to->v, to->gap_v, GA_BLOCK_V, nv);
  }
}

/* By q and e of move(q, e), from the derivatives by what that gives. */
static void moved_turned(const ga_group *g, const ga__colloc_bars *w, const double *e, const double *bar,
                         double *by_q, double *by_e)
{
  const int nv = ga_group_nv(g);
  ga_group_tangent(g, w->T, e);
  ga__mul_blocks(g, by_e, w->T, bar, 1.0, 1);
  ga_group_ad(g, w->T, e);
  ga__mul_blocks(g, w->one, w->T, by_e, 0.0, 1);
  for (int i = 0; i < nv; i++) by_q[i] = bar[i] - w->one[i];
}

static void q_turned(ga_stepper *st, double s, const place *p, const double *bar, const curve_bars *bars,
                     const ga__colloc_bars *w)
{
  const ga_group *g = st->sys->group;
  ga__colloc *c = ga__colloc_of(st);
  const int nv = st->sys->nv;
  double *part = w->part, *by_e = part + nv, *by_q = by_e + nv, *by_omega = by_q + nv,
         *by_end = by_omega + nv;
  for (int i = 0; i < nv; i++) part[i] = p->part * c->end_q[i];
  moved_turned(g, w, part, bar, by_q, by_e);
  for (int i = 0; i < nv; i++) by_e[i] *= p->part;
  exponent_at(st, s, p->terms, c->omega);
  ga__copy_numbers(part, by_q, nv);
  moved_turned(g, w, c->omega, part, by_q, by_omega);
  add_turned(w->q[0], 1.0, by_q, nv);
  exponent_turned(st, s, p->terms, by_omega, bars, w);
  /* δe = T(e)⁻¹ (δq₁ − δq_Ω) + [e, δq_Ω] */
  ga_group_tangent_inverse(g, w->T, c->end_q);
  ga__mul_blocks(g, by_end, w->T, by_e, 1.0, 1);
  add_turned(w->q[1], 1.0, by_end, nv);
  ga_group_ad(g, w->T, c->end_q);
  ga__mul_blocks(g, part, w->T, by_e, 0.0, 1);
  for (int i = 0; i < nv; i++) part[i] -= by_end[i];
  exponent_at(st, 1.0, 0, c->omega);
  moved_turned(g, w, c->omega, part, by_q, by_omega);
  add_turned(w->q[0], 1.0, by_q, nv);
  exponent_turned(st, 1.0, 0, by_omega, bars, w);
}

void ga__colloc_interpolate_turned(ga_stepper *st, double s, const ga__inside *bar, const ga__colloc_bars *to)
{
  const ga_system *sys = st->sys;
  ga__colloc *c = ga__colloc_of(st);
  const int nv = sys->nv, nx = sys->size[GA_BLOCK_X];
  const curve_bars bars = {to->nodes, to->further, to->rate, to->v[0], to->x[0], to->gap_v, to->gap_x};
  find_end(st, c->omega, c->end_place);
  find_further(st);
  const place p = place_at(st, s, c->n_further);
  memset(to->further, 0, (size_t)GA__NODES * (size_t)sys->n * sizeof *to->further);
  for (int i = 0; i < nv; i++) to->gap_v[i] = 0.0;
  for (int i = 0; i < nx; i++) to->gap_x[i] = 0.0;
  integral_turned(st, &bars, &p, bar->v, to->v[0], to->gap_v, GA_BLOCK_V, nv);
  integral_turned(st, &bars, &p, bar->x, to->x[0], to->gap_x, GA_BLOCK_X, nx);
  polynomial_turned(st, &bars, &p, GA_BLOCK_V, bar->vdot);
  polynomial_turned(st, &bars, &p, GA_BLOCK_LAMBDA, bar->lambda);
  polynomial_turned(st, &bars, &p, GA_BLOCK_PSI, bar->psi);
  polynomial_turned(st, &bars, &p, GA_BLOCK_Y, bar->y);
  q_turned(st, s, &p, bar->q, &bars, to);
  all_further_turned(st, &bars, to);
  gaps_turned(st, &bars, to);
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
