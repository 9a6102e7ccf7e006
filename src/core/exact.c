/* The exact-equilibrium family (Arnold & Brüls 2007, Brüls & Arnold 2008, Arnold, Cardona & Brüls 2015):
 * every equation of the system holds at the end of the step. Index-3 and stabilized index-2 forms. */
#include "base/quad.h"
#include "core/core_impl.h"

#include <float.h>
#include <math.h>
#include <string.h>

ga_status ga__update_b(ga_stepper *st)
{
  if (st->b_valid || !st->stabilized) return GA_OK;
  const ga_system *sys = st->sys;
  ga_point p = ga__full_point(&st->now);
  ga_jacobian J = {GA_WANT_B, 0.0, 0.0, st->D, st->Q, st->G};
  st->stats.constraint_jacobians++;
  if (!sys->def.jacobian) st->stats.difference_jacobians++;
  ga_status status = ga__b_again(&st->deriv, &p, &J, st->r);
  if (status) return status;
  for (int i = 0; i < sys->n_b; i++) st->B_n[i] = st->Q[sys->b_entry[i]];
  if (ga__first_bad(st->B_n, sys->n_b) >= 0 && (status = ga__jacobian_bad(sys, &p, &J))) return status;
  st->b_valid = 1;
  return GA_OK;
}

/* With p = β(a₁−a) and px = w₁−w the formulas of the method are
 *   Δq    = v + h(a/2 + p) − B_nᵀη         exponent = hΔq + (h²/12)[v, v₁]
 *   v₁    = v + h(a + c₂ p)                 vdot₁ = c₁ p + (a − αf vdot)/(1−αf)      a₁ = a + p/β
 *   x₁    = x + h(w + θ px)                 xdot₁ = (w + (1−δm) px − δf xdot)/(1−δf)  w₁ = w + px
 * which involve no difference of nearly equal numbers. */
typedef struct rates { /* what the loop below reads and writes */
  const double *p, *a_n, *v_n, *vdot_n;
  double *v, *vdot, *a, *exponent;
} rates;

GA__WIDE static void trial_rates(const rates *r, int n, double h, double c1, double c2, const ga_scheme *s)
{
  const double alpha_f = s->alpha_f, inv_f = 1.0 / (1.0 - s->alpha_f), inv_beta = 1.0 / s->beta;
  const double *p = r->p, *a_n = r->a_n, *v_n = r->v_n, *vdot_n = r->vdot_n;
  double *v = r->v, *vdot = r->vdot, *a = r->a, *exponent = r->exponent;
  GA__INDEPENDENT
  for (int i = 0; i < n; i++) {
    v[i] = v_n[i] + h * (a_n[i] + c2 * p[i]);
    vdot[i] = c1 * p[i] + (a_n[i] - alpha_f * vdot_n[i]) * inv_f;
    a[i] = a_n[i] + p[i] * inv_beta;
    exponent[i] = v_n[i] + h * (0.5 * a_n[i] + p[i]);
  }
}

GA__WIDE static void scale(double *x, int n, double by)
{
  for (int i = 0; i < n; i++) x[i] *= by;
}

void ga__trial(ga_stepper *st)
{
  const ga_system *sys = st->sys;
  const ga__full *n = &st->now;
  ga__full *m = &st->next;
  const double h = st->h;
  const rates r = {st->p, st->a_n, st->v_n, n->vdot, m->v, m->vdot, m->a, st->exponent};
  trial_rates(&r, sys->nv, h, st->c1, st->c2, &st->opts.scheme);
  if (st->stabilized)
    for (int i = 0; i < sys->n_b; i++) st->exponent[sys->b_col[i]] -= st->B_n[i] * m->eta[sys->b_row[i]];
  scale(st->exponent, sys->nv, h);
  if (st->commutes) ga_group_add_bracket(sys->group, st->exponent, h * h / 12.0, st->v_n, m->v);
  ga_group_move(sys->group, m->q, n->q, st->exponent);
  ga__trial_states(st);
  st->motion++;
  st->swept = 0;
}

/* What the iteration matrix is made of. */
static ga_jacobian derivatives(const ga_stepper *st)
{
  const unsigned want = GA_WANT_D | GA_WANT_Q | GA_WANT_B | (st->stabilized ? GA_WANT_G : 0u);
  return (ga_jacobian){want, st->h * st->c2, st->c1, st->D, st->Q, st->G};
}

/* Residuals into r, and the derivatives where they will be wanted and come along. */
static ga_status residuals(ga_stepper *st, const ga_point *p)
{
  const ga_system *sys = st->sys;
  double *rate = st->stabilized ? st->r + sys->n : NULL;
  if (sys->def.sweep) {
    ga_jacobian J = derivatives(st);
    const ga_status status = ga__sweep(sys, p, st->r, rate, st->renewing ? &J : NULL, st->tmp);
    st->swept = !status && st->renewing;
    return status;
  }
  ga_status status = ga__residual(sys, p, st->r, st->tmp);
  return status || !rate ? status : ga__phi_dot(&st->deriv, p, rate);
}

/* Scaled residuals with their sign turned, the right-hand side of Newton's equation. */
static ga_status residual(ga_stepper *st)
{
  const ga_system *sys = st->sys;
  const int *size = sys->size, *start = sys->start;
  double h = st->h, *r = st->r;
  ga_point p = ga__full_point(&st->next);
  p.motion = st->motion; /* until the next trial */
  st->stats.residuals++;
  ga_status status = residuals(st, &p);
  if (status) return status;
  for (int i = 0; i < sys->nv; i++) r[i] *= -h;
  for (int i = 0; i < size[GA_BLOCK_LAMBDA]; i++) r[start[GA_BLOCK_LAMBDA] + i] /= -h;
  for (int i = 0; i < size[GA_BLOCK_PSI]; i++) r[start[GA_BLOCK_PSI] + i] *= -1.0;
  for (int i = 0; i < size[GA_BLOCK_X]; i++)
    r[start[GA_BLOCK_X] + i] = -h * (st->next.xdot[i] + r[start[GA_BLOCK_X] + i]);
  for (int i = 0; i < size[GA_BLOCK_Y]; i++)
    r[start[GA_BLOCK_Y] + i] = -h * (st->next.y[i] + r[start[GA_BLOCK_Y] + i]);
  for (int i = 0; st->stabilized && i < size[GA_BLOCK_LAMBDA]; i++) r[sys->n + i] *= -1.0;
  return GA_OK;
}

/* The scaled matrix. Unknowns (u, hλ, hψ, x₁, h y, η) with Δq = u − B_nᵀη, residuals (h(M vdot₁−f), Φ/h, k,
 * h(xdot₁−s), h(y−o), B v₁+Φ_t), D with shifts (h c₂, c₁):
 *
 *   dyn, x, y   D + h² Q T A      columns x: h D; + d₁ I (x,x), + I (y,y)      η: −h² Q T B_nᵀ
 *   Φ           Q T A                                                          η: −Q T B_nᵀ
 *   k           D/h + h Q T A                                                  η: −h Q T B_nᵀ
 *   vel         c₂ B + h G T A                                                 η: −h G T B_nᵀ
 *
 * Its condition does not depend on h. η is of order h², so that leaving out the terms with h in its columns
 * often costs no iterations worth speaking of; what remains is block-triangular, η being found last. Which
 * matrix is used, terms.c decides. */
enum { ONE, H, INV_H, C2, H2 };
#define V (1u << GA_BLOCK_V)
#define X (1u << GA_BLOCK_X)
#define NOT_X (V | 1u << GA_BLOCK_LAMBDA | 1u << GA_BLOCK_PSI | 1u << GA_BLOCK_Y)
static const ga__rule RULES[] = {
    {GA_BLOCK_V, NOT_X, GA__FROM_D, 0, 0, 0, ONE, 0}, {GA_BLOCK_V, X, GA__FROM_D, 0, 0, 0, H, 0},
    {GA_BLOCK_V, V, GA__FROM_Q, 1, 0, 0, H2, 2},      {GA_BLOCK_LAMBDA, V, GA__FROM_Q, 1, 0, 0, ONE, 1},
    {GA_BLOCK_LAMBDA, V, GA__FROM_Q, 0, 1, 0, C2, 0}, {GA_BLOCK_LAMBDA, V, GA__FROM_G, 1, 1, 0, H, 2},
    {GA_BLOCK_PSI, V, GA__FROM_D, 0, 0, 0, INV_H, 0}, {GA_BLOCK_PSI, V, GA__FROM_Q, 1, 0, 0, H, 2},
    {GA_BLOCK_X, NOT_X, GA__FROM_D, 0, 0, 0, ONE, 0}, {GA_BLOCK_X, X, GA__FROM_D, 0, 0, 0, H, 0},
    {GA_BLOCK_X, V, GA__FROM_Q, 1, 0, 0, H2, 2},      {GA_BLOCK_Y, NOT_X, GA__FROM_D, 0, 0, 0, ONE, 0},
    {GA_BLOCK_Y, X, GA__FROM_D, 0, 0, 0, H, 0},       {GA_BLOCK_Y, V, GA__FROM_Q, 1, 0, 0, H2, 2},
};
#undef V
#undef X
#undef NOT_X

static ga__layout layout(const ga_stepper *st)
{
  const ga_system *sys = st->sys;
  ga_eta_terms terms = st->opts.newton.eta_terms;
  int coupled = terms == GA_ETA_AUTO ? st->terms.all : terms == GA_ETA_FULL;
  const int *start = sys->start, lambda = start[GA_BLOCK_LAMBDA], psi = start[GA_BLOCK_PSI];
  ga__layout l = {RULES, sizeof RULES / sizeof *RULES,        0, lambda, 0,
                  1,     {{{lambda, psi}, {lambda, psi}, 0}}, 0};
  if (st->stabilized) { /* B v + Φ_t and k determine u with λ, ψ; Φ determines η */
    l.n_extra = sys->size[GA_BLOCK_LAMBDA];
    l.eta_level = coupled ? 2 : 1;
    l.n_sets = 2;
    l.set[0].row[0] = sys->n;
    l.set[1] = (ga__set){{lambda, -1}, {sys->n, -1}, 1};
  }
  return l;
}

ga_status ga__prepare_factors(ga_stepper *st)
{
  const ga_system *sys = st->sys;
  ga_point p = ga__full_point(&st->next);
  ga_jacobian J = derivatives(st);
  ga_status status = GA_OK;
  st->stats.jacobians++;
  if (!sys->def.jacobian) st->stats.difference_jacobians++;
  p.motion = st->motion;
  if (!st->swept) status = ga__jacobian_unseen(&st->deriv, &p, &J);
  st->swept = 0;
  if (status) return status;
  ga__prepare_tangent(st);
  ga__assembly_input in = {.source = {st->D, st->Q, st->G, NULL},
                           .scale = {1.0, st->h, 1.0 / st->h, st->c2, st->h * st->h},
                           .diag_x = st->d1,
                           .T = st->T,
                           .TA = st->commutes ? st->TA : st->T,
                           .B_n = st->B_n,
                           .null = &st->red.null,
                           .null_b = &st->red.null_eta};
  ga__assembly_fill(&st->assembly, &in);
  status = ga__factor(st, st->lu);
  const ga_status bad = status == GA_RETRY_NAN ? ga__jacobian_bad(sys, &p, &J) : GA_OK;
  return bad ? bad : status;
}

/* |dvdot|/(1+|vdot|), |dλ|/(1+|λ|), ..., and st->tighter times |dv|/(1+|v|) and |dq|/(1+|q|). */
static ga__measure weigh(const ga_stepper *st, int *worst)
{
  const ga_system *sys = st->sys;
  const double *dz = st->r;
  ga__measure out = {0.0, 0.0, 0.0};
  double du = ga__max_abs(dz, sys->nv, NULL), in_v = st->c2 * du / st->size_v, in_q = st->h * du / st->size_q;
  out.acc = st->c1 * du / st->h / st->size_a;
  out.tight = st->tighter * (in_v > in_q ? in_v : in_q);
  ga__take(&out, out.acc > out.tight ? out.acc : out.tight, worst, 0, dz, sys->nv);
  for (int b = GA_BLOCK_LAMBDA; b < GA_N_BLOCKS; b++) {
    const double *d = dz + sys->start[b];
    if (!sys->size[b]) continue;
    double most = ga__max_abs(d, sys->size[b], NULL);
    ga__take(&out, (b == GA_BLOCK_X ? most : most / st->h) / st->size[b], worst, sys->start[b], d,
             sys->size[b]);
  }
  if (st->stabilized) { /* η moves q by h B_nᵀη: an error of velocity that adds up over steps */
    const double *d = dz + sys->n;
    double most = 0.0;
    for (int i = 0; i < sys->n_b; i++) {
      double one = fabs(st->B_n[i] * d[sys->b_row[i]]);
      most = one > most ? one : most;
    }
    double tight = st->tighter * st->h * most / st->size_q;
    out.tight = tight > out.tight ? tight : out.tight;
    ga__take(&out, fmax(tight, most / st->size_v), worst, sys->n, d, sys->size[GA_BLOCK_LAMBDA]);
  }
  return out;
}

/* The floor of rounding. That of Φ moves u by ε|q|/h in the index-3 form, that of B v moves it by ε|v| in the
 * stabilized one; from u it reaches vdot times c₁/h, v times c₂, and λ with vdot. */
static ga__measure floor_of(const ga_stepper *st)
{
  double u = ga__rounding_of_rate(st->sys) * st->size_v;
  if (!st->stabilized && st->sys->size[GA_BLOCK_LAMBDA]) u += DBL_EPSILON * st->size_q / st->h;
  ga__measure floor = {0.0, st->c1 * u / st->h / st->size_a + 10.0 * DBL_EPSILON,
                       st->tighter * (st->c2 * u / st->size_v + DBL_EPSILON)};
  floor.all = fmax(floor.acc, floor.tight);
  return floor;
}

static void update(ga_stepper *st)
{
  const ga_system *sys = st->sys;
  ga__full *m = &st->next;
  const double *dz = st->r;
  double inv_h = 1.0 / st->h, inv_x = 1.0 / (st->theta * st->h);
  for (int i = 0; i < sys->nv; i++) st->p[i] += dz[i] * inv_h;
  double *const scaled[] = {NULL, m->lambda, m->psi, st->px, m->y};
  for (int b = GA_BLOCK_LAMBDA; b < GA_N_BLOCKS; b++)
    for (int i = 0; i < sys->size[b]; i++)
      scaled[b][i] += dz[sys->start[b] + i] * (b == GA_BLOCK_X ? inv_x : inv_h);
  if (st->stabilized)
    for (int i = 0; i < sys->size[GA_BLOCK_LAMBDA]; i++) m->eta[i] += dz[sys->n + i];
}

static ga_status predict(ga_stepper *st, double h)
{
  ga_status status = ga__update_b(st);
  if (!status) status = ga__begin_velocity(st, h);
  if (!status) ga__predict(st, h);
  return status;
}

/* Rounding of h(M vdot − f), Φ/h, k, h(xdot − s), h(y − o), B v + Φ_t. */
static void noise(const ga_stepper *st, const double *terms, double *out)
{
  const ga_system *sys = st->sys;
  const double eps = DBL_EPSILON, size[] = {0.0, st->size_q / st->h, st->size_v, st->h * st->size[GA_BLOCK_X],
                                            st->h * st->size[GA_BLOCK_Y]};
  for (int i = 0; i < sys->nv; i++) out[i] = st->h * eps * terms[i];
  for (int b = GA_BLOCK_LAMBDA; b < GA_N_BLOCKS; b++)
    for (int i = 0; i < sys->size[b]; i++) out[sys->start[b] + i] = eps * size[b];
  for (int i = sys->n; i < st->assembly.n; i++) out[i] = ga__rounding_of_rate(sys) * st->size_v;
}

static ga_status solve(ga_stepper *st)
{
  return ga__assembly_solve_squares(&st->assembly, st->lu, &st->red.null, &st->red.null_eta, st->r);
}

static int row_of(const ga_stepper *st, int column)
{
  (void)st;
  return column; /* those behind the system's own are η, as ga__block_of() has it */
}

const ga__family ga__exact = {.layout = layout,
                              .predict = predict,
                              .trial = ga__trial,
                              .residual = residual,
                              .prepare = ga__prepare_factors,
                              .solve = solve,
                              .weigh = weigh,
                              .floor = floor_of,
                              .noise = noise,
                              .update = update,
                              .accept = NULL,
                              .row_of = row_of};
