/* Common to all families: beginning of a step, predictors, first-order states, tangent operators. */
#include "base/quad.h"
#include "core/stepper.h"

#include <float.h>
#include <math.h>
#include <string.h>
#include <time.h>

/* The auxiliary variable represents vdot at t + ε and is needed at t + ε': it is moved along its last
 * difference, which spans a known time; after a start, along its own shift. Always from the stored values. */
typedef struct auxiliary {
  double *out;
  const double *now, *prev, *rate;
  int n;
  double eps, span; /* its time offset; time since its previous value */
} auxiliary;

static void shift_auxiliary(const auxiliary *x, double eps_wanted, double h, double h_old, double h_start,
                            ga__shift *by)
{
  double ratio = h_old > 0.0 ? (eps_wanted - x->eps) / x->span : 0.0;
  if (h_old > 0.0)
    *by = (ga__shift){1.0 + ratio, -ratio, 0.0};
  else if (h != h_start)
    *by = (ga__shift){h / h_start, 0.0, 1.0 - h / h_start};
  for (int i = 0; i < x->n; i++) {
    if (h_old > 0.0)
      x->out[i] = x->now[i] + ratio * (x->now[i] - x->prev[i]);
    else if (h != h_start)
      x->out[i] = x->rate[i] + h / h_start * (x->now[i] - x->rate[i]);
  }
}

/* One predicted quantity: destination, and its last three values. */
typedef struct history {
  double *to, *keep, *keep2;
  const double *now, *prev, *prev2;
  int n;
} history;

/* to = w₀ now + w₁ prev + w₂ prev2; then the history is shifted. */
GA__WIDE static void extrapolate(const history *x, const double w[3])
{
  const double *now = x->now, *prev = x->prev, *prev2 = x->prev2, w0 = w[0], w1 = w[1], w2 = w[2];
  double *to = x->to, *keep = x->keep, *keep2 = x->keep2;
  GA__INDEPENDENT
  for (int i = 0; i < x->n; i++) {
    to[i] = w0 * now[i] + w1 * prev[i] + w2 * prev2[i];
    keep2[i] = prev[i];
    keep[i] = now[i];
  }
}

/* Weights of the polynomials of degree 0, 1, 2 through the values at t, t − h₁, t − h₁ − h₂, evaluated at t
 * + h; of lower degree if there are fewer values since the start. */
static void predict_weights(ga_stepper *st, double h)
{
  double h1 = st->now.scalar[GA__H_OLD], h2 = st->now.scalar[GA__H_OLD2], (*w)[3] = st->weight;
  memset(st->weight, 0, sizeof st->weight);
  w[0][0] = w[1][0] = 1.0;
  if (h1 > 0.0) {
    w[1][0] = 1.0 + h / h1;
    w[1][1] = -h / h1;
  }
  memcpy(w[2], w[1], sizeof w[1]);
  if (h2 > 0.0) {
    double f = h * (h + h1);
    w[2][0] += f / (h1 * (h1 + h2));
    w[2][1] -= f / (h1 * h2);
    w[2][2] = f / (h2 * (h1 + h2));
  }
}

GA__WIDE static void prediction_error(double *out, const double *a, const ga__state *f, const double w[3],
                                      int n)
{
  const double *now = f->a, *prev = f->a_prev, *prev2 = f->a_prev2, w0 = w[0], w1 = w[1], w2 = w[2];
  GA__INDEPENDENT
  for (int i = 0; i < n; i++) out[i] = a[i] - (w0 * now[i] + w1 * prev[i] + w2 * prev2[i]);
}

void ga__judge_predictor(ga_stepper *st, ga__scratch scratch)
{
  const ga__state *now = &st->now;
  ga__state *next = &st->next;
  double e[3], *off = ga__take(&scratch, st->sys->nv);
  if (st->opts.newton.predictor != GA_PREDICT_AUTO) return;
  for (int k = 0; k < 3; k++) {
    prediction_error(off, next->a, now, st->weight[k], st->sys->nv);
    e[k] = ga__largest(off, st->sys->nv);
  }
  next->scalar[GA__ORDER] = e[2] < e[1] && e[2] < e[0] ? 2.0 : e[1] < e[0] ? 1.0 : 0.0;
}

void ga__take_largest(ga__measure *m, double value, int *worst, int row, const double *d, int n)
{
  if (!(value > m->all || !(value == value))) return;
  m->all = value;
  if (!worst) return;
  int at;
  ga__max_abs(d, n, &at);
  *worst = row + (at > 0 ? at : 0);
}

void ga__measure_sizes(ga_stepper *st)
{
  const ga_system *sys = st->sys;
  const ga__state *next = &st->next;
  const double *value[GA_N_BLOCKS] = {next->vdot, next->lambda, next->psi, next->x, next->y};
  if (st->sized) return;
  st->sized = 1;
  for (int b = 0; b < GA_N_BLOCKS; b++) st->size[b] = 1.0 + ga__max_abs(value[b], sys->size[b], NULL);
  st->size_a = st->size[GA_BLOCK_V];
  st->size_v = 1.0 + ga__max_abs(next->v, sys->nv, NULL);
  st->size_q = 1.0 + ga__max_abs(next->q, sys->nq, NULL);
}

/* (29) of Brüls & Arnold in a form without poles: a represents vdot at t + ε, and
 *   γ = (1−m)(h/2 − ε)/((1−f)h − ε),   ε⁺ = ((m−f)h − m ε)/(1−m)
 * keep order 2 for any ε; m, f are αm, αf or δm, δf. GA_ADJUST_SHIFT moves a to ε = (m−f)h instead, where γ
 * is γ₀, as long as h grows by at most MOST_SHIFT: beyond that, extrapolating a would be unstable, and γ is
 * adjusted. If γ would leave [γ₀/4, 4γ₀] (a sharp change of h), a is moved anyway. */
#define MOST_SHIFT 8.0
/* Differences in time, used without phi_dot, stay within this part of a step. */
#define TIME_DIFFERENCES 0.25

typedef struct plan {
  int shift; /* 1: a must be moved */
  double gamma, eps, eps_next;
} plan;

static plan plan_step(const ga_stepper *st, double m, double f, double gamma0, double eps, double h)
{
  ga_adjust kind = st->opts.adjust;
  double h_old = st->now.scalar[GA__H_OLD];
  int jump = kind == GA_ADJUST_SHIFT && h_old > 0.0 && h > MOST_SHIFT * h_old && st->method->adjusts_gamma;
  plan fixed = {kind != GA_ADJUST_NONE, gamma0, (m - f) * h, (m - f) * h};
  if (kind != GA_ADJUST_GAMMA && !jump) return fixed;
  double gamma = (1.0 - m) * (0.5 * h - eps) / ((1.0 - f) * h - eps);
  if (!(gamma >= 0.25 * gamma0 && gamma <= 4.0 * gamma0)) return fixed;
  return (plan){0, gamma, eps, ((m - f) * h - m * eps) / (1.0 - m)};
}

static plan plan_a(const ga_stepper *st, double h)
{
  const ga_scheme *s = &st->opts.scheme;
  return plan_step(st, s->alpha_m, s->alpha_f, s->gamma, st->now.scalar[GA__EPS_A], h);
}

/* Local error of Δq is κ h² vddot: κ = (½−β) ε/h + β(1 + ε⁺/h) − 1/6. */
double ga__kappa(const ga_stepper *st, double h)
{
  double beta = st->opts.scheme.beta;
  plan p = plan_a(st, h);
  return (0.5 - beta) * p.eps / h + beta * (1.0 + p.eps_next / h) - 1.0 / 6.0;
}

/* Sets a and w for the step, γ and θ. */
static void begin_auxiliaries(ga_stepper *st, double h)
{
  const ga_scheme *s = &st->opts.scheme;
  const ga__state *f = &st->now;
  int nv = st->sys->nv, nx = st->sys->size[GA_BLOCK_X];
  double h_old = f->scalar[GA__H_OLD], h_start = f->scalar[GA__H_START], *to = st->next.scalar;
  auxiliary a = {st->a_n, f->a, f->a_prev, f->vdot, nv, f->scalar[GA__EPS_A], f->scalar[GA__SPAN]};
  auxiliary w = {st->w_n, f->w, f->w_prev, f->xdot, nx, f->scalar[GA__EPS_W], f->scalar[GA__SPAN_W]};
  plan pa = plan_a(st, h), pw = plan_step(st, s->delta_m, s->delta_f, s->theta, w.eps, h);
  ga__copy_numbers(st->a_n, f->a, nv);
  ga__copy_numbers(st->w_n, f->w, nx);
  st->shift_a = st->shift_w = (ga__shift){1.0, 0.0, 0.0};
  if (pa.shift && h != h_old) shift_auxiliary(&a, pa.eps, h, h_old, h_start, &st->shift_a);
  if (pw.shift && h != h_old) shift_auxiliary(&w, pw.eps, h, h_old, h_start, &st->shift_w);
  st->gamma = pa.gamma;
  st->theta = pw.gamma;
  to[GA__EPS_A] = pa.eps_next;
  to[GA__EPS_W] = pw.eps_next;
  to[GA__SPAN] = h + pa.eps_next - pa.eps;
  to[GA__SPAN_W] = h + pw.eps_next - pw.eps;
  to[GA__KAPPA_H2] = ga__kappa(st, h) * h * h;
  st->c2 = st->gamma / s->beta;
  st->d1 = (1.0 - s->delta_m) / (st->theta * (1.0 - s->delta_f));
}

void ga__begin_step(ga_stepper *st, double h)
{
  const int nv = st->sys->nv, nx = st->sys->size[GA_BLOCK_X];
  const ga__state *now = &st->now;
  ga__state *next = &st->next;
  const double h_old = now->scalar[GA__H_OLD];
  st->h = h;
  st->deriv.dt = TIME_DIFFERENCES * h;
  st->sized = 0;
  ga__copy_numbers(next->vdot_prev2, now->vdot_prev, nv);
  ga__copy_numbers(next->xdot_prev2, now->xdot_prev, nx);
  ga__copy_numbers(next->vdot_prev, now->vdot, nv);
  ga__copy_numbers(next->xdot_prev, now->xdot, nx);
  next->scalar[GA__ORDER] = now->scalar[GA__ORDER];
  next->scalar[GA__H_OLD2] = h_old;
  /* t of equal steps is computed from a base, so that rounding does not accumulate */
  int equal = h == h_old;
  next->scalar[GA__T_BASE] = equal ? now->scalar[GA__T_BASE] : now->scalar[GA__T];
  next->scalar[GA__N_EQUAL] = equal ? now->scalar[GA__N_EQUAL] + 1.0 : 1.0;
  next->scalar[GA__T] = next->scalar[GA__T_BASE] + next->scalar[GA__N_EQUAL] * h;
  next->scalar[GA__H_OLD] = h;
  next->scalar[GA__H_START] = now->scalar[GA__H_START];
  next->scalar[GA__HAS_JERK] = 0.0;
  next->scalar[GA__HAD_JERK] = now->scalar[GA__HAS_JERK];
  next->scalar[GA__REDUNDANT_OLD] = now->scalar[GA__REDUNDANT];
  next->scalar[GA__SECOND] = now->scalar[GA__SECOND];
  ga__copy_numbers(next->plan, now->plan, GA__N_PLAN);
}

void ga__predict(ga_stepper *st, double h)
{
  const ga_system *sys = st->sys;
  const ga__state *now = &st->now;
  ga__state *next = &st->next;
  const int *size = sys->size;
  ga_predictor kind = st->opts.newton.predictor;
  int order = kind == GA_PREDICT_AUTO ? (int)now->scalar[GA__ORDER] : (int)kind;
  ga__begin_step(st, h);
  begin_auxiliaries(st, h);
  predict_weights(st, h);
  const history predicted[] = {
      {st->p, next->a_prev, next->a_prev2, now->a, now->a_prev, now->a_prev2, sys->nv},
      {st->px, next->w_prev, next->w_prev2, now->w, now->w_prev, now->w_prev2, size[GA_BLOCK_X]},
      {next->lambda, next->lambda_prev, next->lambda_prev2, now->lambda, now->lambda_prev, now->lambda_prev2,
       size[GA_BLOCK_LAMBDA]},
      {next->psi, next->psi_prev, next->psi_prev2, now->psi, now->psi_prev, now->psi_prev2,
       size[GA_BLOCK_PSI]},
      {next->eta, next->eta_prev, next->eta_prev2, now->eta, now->eta_prev, now->eta_prev2, st->n_eta},
      {next->y, next->y_prev, next->y_prev2, now->y, now->y_prev, now->y_prev2, size[GA_BLOCK_Y]}};
  for (size_t i = 0; i < sizeof predicted / sizeof *predicted; i++)
    extrapolate(&predicted[i], st->weight[order]);
  for (int i = 0; i < sys->nv; i++) st->p[i] = st->opts.scheme.beta * (st->p[i] - now->a[i]);
  for (int i = 0; i < size[GA_BLOCK_X]; i++) st->px[i] -= now->w[i];
  ga__copy_numbers(next->a_prev, st->a_n, sys->nv); /* as the step uses them */
  ga__copy_numbers(next->w_prev, st->w_n, size[GA_BLOCK_X]);
  next->scalar[GA__ORDER] = order;
}

/* x₁ = x + h(w + θ px), xdot₁ = (w + (1−δm) px − δf xdot)/(1−δf), w₁ = w + px, with px = w₁ − w. */
void ga__trial_states(ga_stepper *st)
{
  const ga_system *sys = st->sys;
  const ga_scheme *s = &st->opts.scheme;
  const ga__state *now = &st->now;
  ga__state *next = &st->next;
  double h = st->h, inv_df = 1.0 / (1.0 - s->delta_f);
  for (int i = 0; i < sys->size[GA_BLOCK_X]; i++) {
    next->x[i] = now->x[i] + h * (st->w_n[i] + st->theta * st->px[i]);
    next->xdot[i] = (st->w_n[i] + (1.0 - s->delta_m) * st->px[i] - s->delta_f * now->xdot[i]) * inv_df;
    next->w[i] = st->w_n[i] + st->px[i];
  }
}

double ga__seconds(const ga_stepper *st)
{
  struct timespec t;
  if (!st->opts.timing || timespec_get(&t, TIME_UTC) != TIME_UTC) return 0.0;
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void ga__prepare_tangent(ga_stepper *st)
{
  const ga_group *g = st->sys->group;
  if (st->commutes)
    ga_group_tangent_ad(g, st->T, st->TA, st->exponent, st->h * st->c2 / 12.0, st->v_n);
  else
    ga_group_tangent(g, st->T, st->exponent);
}

/* Relative rounding of B v + Φ_t; much larger with fourth-order differences. */
double ga__rounding_of_rate(const ga_system *sys)
{
  int by_differences = !ga__has(sys, GA__PHI_DOT) && (!sys->def.jacobian || sys->def.rheonomic);
  return sys->size[GA_BLOCK_LAMBDA] && by_differences ? 1e-12 : DBL_EPSILON;
}

/* v at the beginning of the step, in v_n: with Φ = 0 alone, its normal part depends on h. */
ga_status ga__begin_velocity(ga_stepper *st, double h, ga__scratch scratch)
{
  const double *s = st->now.scalar;
  double h_old = s[GA__H_OLD] > 0.0 ? s[GA__H_OLD] : s[GA__H_START], kappa_h2 = ga__kappa(st, h) * h * h;
  st->v_n = st->now.v;
  if (!st->opts.move_offset || !ga__has_offset(st) || (h == h_old && kappa_h2 == s[GA__KAPPA_H2]))
    return GA_OK;
  ga_status status =
      ga__move_offset(st, kappa_h2 - s[GA__KAPPA_H2], h * h - h_old * h_old, st->v_moved, scratch);
  if (status == GA_RETRY_SINGULAR && s[GA__REDUNDANT] > st->red.null.r) return GA_OK; /* see offset_of() */
  st->v_n = st->v_moved;
  return status;
}

int ga__has_offset(const ga_stepper *st)
{
  return !st->method->keeps_rates && st->sys->size[GA_BLOCK_LAMBDA] > 0;
}
