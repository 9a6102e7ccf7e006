/* The nonlinear equations of one step. */
#include "core/core_impl.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Positions and velocities are asked for this much more accurately than accelerations and multipliers: it
 * costs nothing, and keeps the constraints at the level of rounding. */
#define TIGHTER 1e4
/* A first increment says nothing of the contraction, and the one remembered grows while factors age: it is
 * taken to be no better than this. */
#define SLOWEST_FRESH 0.1
/* Steps that begin with new factors after reuse has failed at once. */
#define FRESH_STEPS 20
/* Increments this many times above the floor of rounding count as being there. */
#define FLOOR_MARGIN 100.0
/* Above this, a stagnating iteration is a failure whatever the floor (numerics of small h). */
#define FLOOR_LIMIT 1e-3

/* With p = β(a₁−a) and px = w₁−w the formulas of the method are
 *   Δq    = v + h(a/2 + p) − B_nᵀη         exponent = hΔq + (h²/12)[v, v₁]
 *   v₁    = v + h(a + c₂ p)                 vdot₁ = c₁ p + (a − αf vdot)/(1−αf)      a₁ = a + p/β
 *   x₁    = x + h(w + θ px)                 xdot₁ = (w + (1−δm) px − δf xdot)/(1−δf)  w₁ = w + px
 * which involve no difference of nearly equal numbers. */
void ga__trial(ga_stepper *st)
{
  const ga_system *sys = st->sys;
  const ga_scheme *s = &st->opts.scheme;
  const ga__full *n = &st->now;
  ga__full *m = &st->next;
  double h = st->h, inv_f = 1.0 / (1.0 - s->alpha_f), inv_df = 1.0 / (1.0 - s->delta_f),
         inv_beta = 1.0 / s->beta;
  for (int i = 0; i < sys->nv; i++) {
    double a = st->a_n[i], p = st->p[i];
    m->v[i] = n->v[i] + h * (a + st->c2 * p);
    m->vdot[i] = st->c1 * p + (a - s->alpha_f * n->vdot[i]) * inv_f;
    m->a[i] = a + p * inv_beta;
    st->exponent[i] = n->v[i] + h * (0.5 * a + p);
  }
  if (st->assembly.stabilized)
    for (int i = 0; i < sys->n_b; i++) st->exponent[sys->b_col[i]] -= st->B_n[i] * m->eta[sys->b_row[i]];
  for (int i = 0; i < sys->nv; i++) st->exponent[i] *= h;
  if (st->commutes) {
    ga_group_bracket(sys->group, st->tmp, n->v, m->v);
    for (int i = 0; i < sys->nv; i++) st->exponent[i] += h * h / 12.0 * st->tmp[i];
  }
  ga_group_move(sys->group, m->q, n->q, st->exponent);
  for (int i = 0; i < sys->size[GA_BLOCK_X]; i++) {
    m->x[i] = n->x[i] + h * (st->w_n[i] + s->theta * st->px[i]);
    m->xdot[i] = (st->w_n[i] + (1.0 - s->delta_m) * st->px[i] - s->delta_f * n->xdot[i]) * inv_df;
    m->w[i] = st->w_n[i] + st->px[i];
  }
}

ga_point ga__full_point(const ga__full *f)
{
  ga_point p = {f->scalar[GA__T], f->q, f->v, f->vdot, f->lambda, f->psi, f->x, f->y};
  return p;
}

/* Scaled residuals with their sign turned, the right-hand side of Newton's equation. */
static ga_status residual(ga_stepper *st)
{
  const ga_system *sys = st->sys;
  const int *size = sys->size, *start = sys->start;
  double h = st->h, *r = st->r;
  ga_point p = ga__full_point(&st->next);
  st->stats.residuals++;
  ga_status status = ga__residual(sys, &p, r, st->tmp);
  if (status) return status;
  for (int i = 0; i < sys->nv; i++) r[i] *= -h;
  for (int i = 0; i < size[GA_BLOCK_LAMBDA]; i++) r[start[GA_BLOCK_LAMBDA] + i] /= -h;
  for (int i = 0; i < size[GA_BLOCK_PSI]; i++) r[start[GA_BLOCK_PSI] + i] *= -1.0;
  for (int i = 0; i < size[GA_BLOCK_X]; i++)
    r[start[GA_BLOCK_X] + i] = -h * (st->next.xdot[i] + r[start[GA_BLOCK_X] + i]);
  for (int i = 0; i < size[GA_BLOCK_Y]; i++)
    r[start[GA_BLOCK_Y] + i] = -h * (st->next.y[i] + r[start[GA_BLOCK_Y] + i]);
  if (!st->assembly.stabilized) return GA_OK;
  if ((status = ga__phi_dot(&st->deriv, &p, r + sys->n))) return status;
  for (int i = 0; i < size[GA_BLOCK_LAMBDA]; i++) r[sys->n + i] *= -1.0;
  return GA_OK;
}

static ga_status singular(ga_stepper *st)
{
  const ga_system *sys = st->sys;
  char what[192];
  int index;
  ga_block block = ga__block_of(sys, ga_lu_get_info(st->lu)->weak_column, &index);
  ga__describe(sys, block, index, what, sizeof what);
  return ga__fail_at(
      sys->ctx, GA_RETRY_SINGULAR, st->next.scalar[GA__T], (int)block, index,
      "t = %.9g, h = %.3g: the iteration matrix is singular; the first column without a pivot is that of %s. "
      "A "
      "smaller step may pass a singular position; a constraint that repeats another must be removed",
      st->next.scalar[GA__T], st->h, what);
}

ga_status ga__prepare_factors(ga_stepper *st)
{
  const ga_system *sys = st->sys;
  const ga_group *g = sys->group;
  ga_point p = ga__full_point(&st->next);
  unsigned want = GA_WANT_D | GA_WANT_Q | GA_WANT_B | (st->assembly.stabilized ? GA_WANT_G : 0u);
  ga_jacobian J = {want, st->h * st->c2, st->c1, st->D, st->Q, st->G};
  st->have_factors = 0;
  st->rate = 0.0;
  st->stats.jacobians++;
  if (!sys->def.jacobian) st->stats.difference_jacobians++;
  ga_status status = ga__jacobian(&st->deriv, &p, &J);
  if (status) return status;
  ga_group_tangent(g, st->T, st->exponent);
  if (st->commutes) { /* A = I + (h c₂/12) ad(v_n) */
    ga_group_ad(g, st->ad, st->now.v);
    for (int i = 0, n = ga_group_blocks_length(g); i < n; i++) st->ad[i] *= st->h * st->c2 / 12.0;
    for (int b = 0, at = 0; b < ga_group_n_blocks(g); b++) {
      int start, size = ga_group_block(g, b, &start);
      for (int i = 0; i < size; i++) st->ad[at + i * size + i] += 1.0;
      at += size * size;
    }
  }
  ga__assembly_input in = {st->h,  st->c2, st->d1, st->D, st->Q, st->G, st->T, st->commutes ? st->ad : NULL,
                           st->B_n};
  ga__assembly_fill(&st->assembly, &in);
  st->stats.factorisations++;
  status = ga_lu_factor(st->lu);
  st->stats.rcond = ga_lu_get_info(st->lu)->rcond;
  if (status == GA_RETRY_SINGULAR) return singular(st);
  if (status) return status;
  ga__warn_weak(sys, st->lu, p.t, "the iteration matrix", &st->warned);
  st->have_factors = 1;
  st->age = 0;
  st->h_factors = st->h;
  return GA_OK;
}

/* Weighted size of an increment: `acc` of the accelerations, `tight` of positions, velocities and η, `all`
 * over these, λ, ψ, x and y. */
typedef struct measure {
  double all, acc, tight;
  int worst; /* row of the unknown that dominates */
} measure;

static void take(measure *m, double value, int row)
{
  if (value > m->all || !(value == value)) {
    m->all = value;
    m->worst = row;
  }
}

static double largest(const double *a, int n)
{
  return ga__max_abs(a, n, NULL);
}

/* |dvdot|/(1+|vdot|), |dλ|/(1+|λ|), ..., and TIGHTER times |dv|/(1+|v|) and |dq|/(1+|q|). */
static measure weigh(const ga_stepper *st)
{
  const ga_system *sys = st->sys;
  const ga__full *m = &st->next;
  const double *dz = st->r, *value[] = {NULL, m->lambda, m->psi, m->x, m->y};
  measure out = {0.0, 0.0, 0.0, 0};
  int at;
  double du = ga__max_abs(dz, sys->nv, &at), size_q = 1.0 + largest(m->q, sys->nq);
  out.acc = st->c1 * du / st->h / (1.0 + largest(m->vdot, sys->nv));
  take(&out, out.acc, at);
  out.tight = TIGHTER * fmax(st->c2 * du / (1.0 + largest(m->v, sys->nv)), st->h * du / size_q);
  take(&out, out.tight, at);
  for (int b = GA_BLOCK_LAMBDA; b < GA_N_BLOCKS; b++) {
    double d = ga__max_abs(dz + sys->start[b], sys->size[b], &at);
    if (b != GA_BLOCK_X) d /= st->h;
    if (sys->size[b]) take(&out, d / (1.0 + largest(value[b], sys->size[b])), sys->start[b] + at);
  }
  if (st->assembly.stabilized) { /* η moves q by h B_nᵀη */
    double d = 0.0;
    for (int i = 0; i < sys->n_b; i++) {
      double one = fabs(st->B_n[i] * dz[sys->n + sys->b_row[i]]);
      if (one > d) d = one;
    }
    ga__max_abs(dz + sys->n, sys->size[GA_BLOCK_LAMBDA], &at);
    out.tight = fmax(out.tight, TIGHTER * st->h * d / size_q);
    take(&out, TIGHTER * st->h * d / size_q, sys->n + at);
  }
  return out;
}

/* Relative rounding of B v + Φ_t: by differences of order 4 it is much coarser. */
static double rounding_of_rate(const ga_system *sys)
{
  int by_differences = !ga__has(sys, GA__PHI_DOT) && (!sys->def.jacobian || sys->def.rheonomic);
  return sys->size[GA_BLOCK_LAMBDA] && by_differences ? 1e-12 : DBL_EPSILON;
}

/* The floor of rounding. That of Φ moves u by ε|q|/h in the index-3 form, that of B v moves it by ε|v| in the
 * stabilized one; from u it reaches vdot times c₁/h, v times c₂, and λ with vdot. */
static measure floor_of(const ga_stepper *st)
{
  const ga__full *f = &st->next;
  double size_a = 1.0 + largest(f->vdot, st->sys->nv), size_v = 1.0 + largest(f->v, st->sys->nv);
  double u = rounding_of_rate(st->sys) * size_v;
  if (!st->assembly.stabilized && st->sys->size[GA_BLOCK_LAMBDA])
    u += DBL_EPSILON * (1.0 + largest(f->q, st->sys->nq)) / st->h;
  measure floor = {0.0, st->c1 * u / st->h / size_a + 10.0 * DBL_EPSILON,
                   TIGHTER * (st->c2 * u / size_v + DBL_EPSILON), 0};
  floor.all = fmax(floor.acc, floor.tight);
  return floor;
}

/* Is a stagnating iteration (contraction ρ) there? */
static int at_floor(const ga_stepper *st, const measure *m, double rho)
{
  if (!(rho > 0.5 && m->all < FLOOR_LIMIT)) return 0;
  measure floor = floor_of(st);
  return m->acc <= FLOOR_MARGIN * floor.acc && m->tight <= FLOOR_MARGIN * floor.tight;
}

static void update(ga_stepper *st)
{
  const ga_system *sys = st->sys;
  ga__full *m = &st->next;
  const double *dz = st->r;
  double inv_h = 1.0 / st->h, inv_x = 1.0 / (st->opts.scheme.theta * st->h);
  for (int i = 0; i < sys->nv; i++) st->p[i] += dz[i] * inv_h;
  double *const scaled[] = {NULL, m->lambda, m->psi, st->px, m->y};
  for (int b = GA_BLOCK_LAMBDA; b < GA_N_BLOCKS; b++)
    for (int i = 0; i < sys->size[b]; i++)
      scaled[b][i] += dz[sys->start[b] + i] * (b == GA_BLOCK_X ? inv_x : inv_h);
  if (st->assembly.stabilized)
    for (int i = 0; i < sys->size[GA_BLOCK_LAMBDA]; i++) m->eta[i] += dz[sys->n + i];
}

static ga_status not_converged(ga_stepper *st, const measure *m, double rate, int iterations)
{
  const ga_system *sys = st->sys;
  char what[192];
  int index;
  ga_block block = ga__block_of(sys, m->worst, &index);
  ga__describe(sys, block, index, what, sizeof what);
  return ga__fail_at(
      sys->ctx, GA_RETRY_NEWTON, st->next.scalar[GA__T], (int)block, index,
      "t = %.9g, h = %.3g: Newton's iteration did not converge in %d iterations; the last correction is %.2g "
      "(relative, tolerance %.2g), changed by a factor %.2g per iteration, largest in the unknown of %s. Try "
      "a "
      "smaller step; if it fails at any step, check the derivatives with ga_system_check()",
      st->next.scalar[GA__T], st->h, iterations, m->all, st->opts.newton.tol, rate, what);
}

typedef enum verdict { GO_ON, DONE, DONE_AT_FLOOR } verdict;

/* ρ is the contraction seen between this and the last iteration, < 0 if this is the first. */
static verdict judge(const ga_stepper *st, const measure *m, double rho, int iteration)
{
  double tol = st->opts.newton.tol, rate = rho >= 0.0 ? rho : fmax(st->rate, SLOWEST_FRESH);
  if (m->all == 0.0) return DONE;
  if (rate < 1.0 && m->all * rate / (1.0 - rate) <= tol) return DONE;
  if (iteration >= 2 && at_floor(st, m, rho)) return DONE_AT_FLOOR;
  return GO_ON;
}

/* Iterations that the present contraction still needs to reach the tolerance, or the floor where that is
 * higher. */
static double still_needed(const ga_stepper *st, const measure *m, double rho)
{
  double goal = fmax(st->opts.newton.tol, 10.0 * floor_of(st).all);
  if (m->all <= goal) return 0.0;
  if (!(rho < 1.0)) return HUGE_VAL;
  return rho > 0.0 ? log(m->all / goal) / -log(rho) : 0.0;
}

/* When factors are already too old in the step after their own, the next steps begin with new ones, and only
 * after FRESH_STEPS of them reuse is tried again: finding out costs iterations. */
static void remember_age(ga_stepper *st, int too_old)
{
  if (too_old && st->age <= 1) st->fresh_steps = FRESH_STEPS;
}

static int begin_with_new(ga_stepper *st)
{
  if (st->opts.newton.reuse != GA_REUSE || !st->have_factors || st->h != st->h_factors) return 1;
  if (st->fresh_steps == 0) return 0;
  st->fresh_steps--;
  return 1;
}

static void finish(ga_stepper *st, verdict v, double rho, int too_old)
{
  st->stats.last_rate = rho > 0.0 ? rho : 0.0;
  st->stats.at_floor += v == DONE_AT_FLOOR;
  remember_age(st, too_old);
  if (too_old) st->have_factors = 0;
  st->age++;
  ga__trial(st);
}

ga_status ga__newton(ga_stepper *st)
{
  const ga_newton_opts *o = &st->opts.newton;
  int renew = begin_with_new(st), old_factors = !renew, limit = o->max_iterations;
  double before = -1.0, rho = -1.0;
  measure m = {0.0, 0.0, 0.0, 0};
  for (int it = 0; it < limit; it++) {
    ga_status status;
    ga__trial(st);
    if ((status = residual(st))) return status;
    if (renew && (status = ga__prepare_factors(st))) return status;
    if ((status = ga_lu_solve(st->lu, st->r))) return status;
    st->stats.solves++;
    st->stats.iterations++;
    m = weigh(st);
    if (!isfinite(m.all)) return not_converged(st, &m, rho, it + 1);
    update(st);
    rho = before >= 0.0 ? m.all / before : -1.0;
    before = m.all;
    verdict v = judge(st, &m, rho, it);
    if (rho >= 0.0) st->rate = fmax(rho, 0.3 * st->rate);
    if (v != GO_ON) {
      finish(st, v, rho, old_factors && it > o->patience);
      return GA_OK;
    }
    int late = old_factors && it >= 2 * o->patience;
    int slow = rho >= 0.0 && (late || still_needed(st, &m, rho) > o->patience) && !at_floor(st, &m, rho);
    renew = o->reuse == GA_FRESH_ITERATION || slow;
    if (renew && old_factors) { /* iterations with old factors do not count */
      remember_age(st, 1);
      old_factors = 0;
      limit = it + 1 + o->max_iterations;
    }
  }
  return not_converged(st, &m, rho, limit);
}
