/* What the families of methods share: the beginning of a step, the first-order states, tangent operators,
 * factors. */
#include "core/core_impl.h"

#include <float.h>
#include <string.h>

static void copy(double *to, const double *from, int n)
{
  if (n > 0) memcpy(to, from, (size_t)n * sizeof *to);
}

ga_point ga__full_point(const ga__full *f)
{
  ga_point p = {f->scalar[GA__T], f->q, f->v, f->vdot, f->lambda, f->psi, f->x, f->y};
  return p;
}

/* The auxiliary variable stands for vdot at t + Δh: when h changes it is moved there along its last
 * difference, a + Δ(h/h_old − 1)(a − a_prev), always from the stored values; after a start, along its own
 * shift. */
static void adjust(double *out, const double *now, const double *prev, const double *true_rate, int n,
                   double delta, double h, double h_old, double h_start)
{
  for (int i = 0; i < n; i++) {
    if (h_old > 0.0)
      out[i] = h == h_old ? now[i] : now[i] + delta * (h / h_old - 1.0) * (now[i] - prev[i]);
    else
      out[i] = h == h_start ? now[i] : true_rate[i] + h / h_start * (now[i] - true_rate[i]);
  }
}

/* to = now, continued by the last difference times ratio. */
static void extrapolate(double *to, const double *now, const double *prev, int n, double ratio)
{
  for (int i = 0; i < n; i++) to[i] = now[i] + ratio * (now[i] - prev[i]);
}

void ga__predict(ga_stepper *st, double h)
{
  const ga_system *sys = st->sys;
  const ga_scheme *s = &st->opts.scheme;
  const ga__full *f = &st->now;
  ga__full *m = &st->next;
  const int *size = sys->size;
  double h_old = f->scalar[GA__H_OLD], h_start = f->scalar[GA__H_START];
  double ratio = st->opts.newton.predictor == GA_PREDICT_LINEAR && h_old > 0.0 ? h / h_old : 0.0;
  st->h = h;
  adjust(st->a_n, f->a, f->a_prev, f->vdot, sys->nv, s->alpha_m - s->alpha_f, h, h_old, h_start);
  adjust(st->w_n, f->w, f->w_prev, f->xdot, size[GA_BLOCK_X], s->delta_m - s->delta_f, h, h_old, h_start);
  for (int i = 0; i < sys->nv; i++) st->p[i] = s->beta * ratio * (f->a[i] - f->a_prev[i]);
  for (int i = 0; i < size[GA_BLOCK_X]; i++) st->px[i] = ratio * (f->w[i] - f->w_prev[i]);
  extrapolate(m->lambda, f->lambda, f->lambda_prev, size[GA_BLOCK_LAMBDA], ratio);
  extrapolate(m->psi, f->psi, f->psi_prev, size[GA_BLOCK_PSI], ratio);
  extrapolate(m->y, f->y, f->y_prev, size[GA_BLOCK_Y], ratio);
  for (int i = 0; i < size[GA_BLOCK_LAMBDA]; i++) m->eta[i] = 0.0;
  copy(m->a_prev, st->a_n, sys->nv);
  copy(m->w_prev, st->w_n, size[GA_BLOCK_X]);
  copy(m->lambda_prev, f->lambda, size[GA_BLOCK_LAMBDA]);
  copy(m->psi_prev, f->psi, size[GA_BLOCK_PSI]);
  copy(m->y_prev, f->y, size[GA_BLOCK_Y]);
  /* equal steps count from a base, so that rounding does not add up in t */
  int equal = h == h_old;
  m->scalar[GA__T_BASE] = equal ? f->scalar[GA__T_BASE] : f->scalar[GA__T];
  m->scalar[GA__N_EQUAL] = equal ? f->scalar[GA__N_EQUAL] + 1.0 : 1.0;
  m->scalar[GA__T] = m->scalar[GA__T_BASE] + m->scalar[GA__N_EQUAL] * h;
  m->scalar[GA__H_OLD] = h;
  m->scalar[GA__H_START] = h_start;
}

/* x₁ = x + h(w + θ px), xdot₁ = (w + (1−δm) px − δf xdot)/(1−δf), w₁ = w + px, with px = w₁ − w. */
void ga__trial_states(ga_stepper *st)
{
  const ga_system *sys = st->sys;
  const ga_scheme *s = &st->opts.scheme;
  const ga__full *n = &st->now;
  ga__full *m = &st->next;
  double h = st->h, inv_df = 1.0 / (1.0 - s->delta_f);
  for (int i = 0; i < sys->size[GA_BLOCK_X]; i++) {
    m->x[i] = n->x[i] + h * (st->w_n[i] + s->theta * st->px[i]);
    m->xdot[i] = (st->w_n[i] + (1.0 - s->delta_m) * st->px[i] - s->delta_f * n->xdot[i]) * inv_df;
    m->w[i] = st->w_n[i] + st->px[i];
  }
}

void ga__prepare_tangent(ga_stepper *st)
{
  const ga_group *g = st->sys->group;
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
}

static ga_status singular(ga_stepper *st, const ga_lu *lu)
{
  const ga_system *sys = st->sys;
  char what[192];
  int index;
  ga_block block = ga__block_of(sys, st->family->row_of(st, ga_lu_get_info(lu)->weak_column), &index);
  ga__describe(sys, block, index, what, sizeof what);
  return ga__fail_at(
      sys->ctx, GA_RETRY_SINGULAR, st->next.scalar[GA__T], (int)block, index,
      "t = %.9g, h = %.3g: the iteration matrix is singular; the first column without a pivot is that of %s. "
      "A "
      "smaller step may pass a singular position; a constraint that repeats another must be removed",
      st->next.scalar[GA__T], st->h, what);
}

ga_status ga__factor(ga_stepper *st, ga_lu *lu)
{
  st->have_factors = 0;
  st->rate = 0.0;
  st->stats.factorisations++;
  ga_status status = ga_lu_factor(lu);
  st->stats.rcond = ga_lu_get_info(lu)->rcond;
  if (status == GA_RETRY_SINGULAR) return singular(st, lu);
  if (status) return status;
  ga__warn_weak(st->sys, lu, st->next.scalar[GA__T], "the iteration matrix", &st->warned);
  st->have_factors = 1;
  st->age = 0;
  st->h_factors = st->h;
  return GA_OK;
}

/* Relative rounding of B v + Φ_t: by differences of order 4 it is much coarser. */
double ga__rounding_of_rate(const ga_system *sys)
{
  int by_differences = !ga__has(sys, GA__PHI_DOT) && (!sys->def.jacobian || sys->def.rheonomic);
  return sys->size[GA_BLOCK_LAMBDA] && by_differences ? 1e-12 : DBL_EPSILON;
}
