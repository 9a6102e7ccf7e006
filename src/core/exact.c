/* The exact-equilibrium family (Arnold & Brüls 2007, Brüls & Arnold 2008, Arnold, Cardona & Brüls 2015):
 * every equation of the system holds at the end of the step. Index-3 and stabilized index-2 forms. */
#include "base/quad.h"
#include "core/stepper.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Data of the family, if there are η. */
typedef struct exact {
  double *B_n;            /* [n_b + 1] B at the beginning of the step, then 0 */
  unsigned long b_number; /* number of the state it belongs to; 0: none */
} exact;

static exact *own(const ga_stepper *st)
{
  return st->own;
}

static void destroy(ga_stepper *st)
{
  if (own(st)) ga__free(st->ctx, own(st)->B_n);
  ga__free(st->ctx, st->own);
  st->own = NULL;
}

static ga_status create(ga_stepper *st)
{
  exact *e = st->own = ga__alloc(st->ctx, 1, sizeof *e);
  if (e && (e->B_n = ga__alloc(st->ctx, (size_t)st->sys->n_b + 1, sizeof(double)))) return GA_OK;
  return ga__no_memory(st->ctx, "a stepper");
}

/* B at the current state into B_n, unless it is up to date. */
static ga_status update_b(ga_stepper *st)
{
  const ga_system *sys = st->sys;
  exact *e = own(st);
  if (e->b_number == st->state_number) return GA_OK;
  ga_point p = ga__state_point(&st->now);
  ga_jacobian J = {GA_WANT_B, 0.0, 0.0, st->jacobian_D, st->jacobian_Q, st->jacobian_G};
  st->stats.constraint_jacobians++;
  if (!sys->def.jacobian) st->stats.difference_jacobians++;
  ga_status status = ga__b_alone(&st->deriv, &p, &J, st->r);
  if (status) return status;
  for (int i = 0; i < sys->n_b; i++) e->B_n[i] = st->jacobian_Q[sys->b_entry[i]];
  if (ga__first_bad(e->B_n, sys->n_b) >= 0 && (status = ga__jacobian_check(sys, &p, &J))) return status;
  e->b_number = st->state_number;
  return GA_OK;
}

const double *ga__exact_b(const ga_stepper *st)
{
  return own(st)->B_n;
}

/* x −= factor B_nᵀη */
static void subtract_eta(const ga_stepper *st, double *x, const double *eta, double factor)
{
  const ga_system *sys = st->sys;
  const double *B = ga__exact_b(st);
  for (int i = 0; i < sys->n_b; i++) x[sys->b_col[i]] -= factor * B[i] * eta[sys->b_row[i]];
}

/* With p = β(a₁−a) and px = w₁−w the formulas of the method are
 *   Δq    = v + h(a/2 + p) − B_nᵀη         exponent = hΔq + (h²/12)[v, v₁]
 *   v₁    = v + h(a + c₂ p)                 vdot₁ = c₁ p + (a − αf vdot)/(1−αf)      a₁ = a + p/β
 *   x₁    = x + h(w + θ px)                 xdot₁ = (w + (1−δm) px − δf xdot)/(1−δf)  w₁ = w + px
 * which involve no difference of nearly equal numbers. */
typedef struct rates { /* arrays of the loop below */
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

void ga__exact_trial(ga_stepper *st)
{
  const ga_system *sys = st->sys;
  const ga__state *now = &st->now;
  ga__state *next = &st->next;
  const double h = st->h;
  const rates r = {st->p, st->a_n, st->v_n, now->vdot, next->v, next->vdot, next->a, st->exponent};
  trial_rates(&r, sys->nv, h, st->c1, st->c2, &st->opts.scheme);
  if (st->n_eta) subtract_eta(st, st->exponent, next->eta, 1.0);
  scale(st->exponent, sys->nv, h);
  if (st->commutes) ga_group_add_bracket(sys->group, st->exponent, h * h / 12.0, st->v_n, next->v);
  ga_group_move(sys->group, next->q, now->q, st->exponent);
  ga__trial_states(st);
  st->motion++;
  st->swept = 0;
}

/* Derivatives needed for the iteration matrix. */
static ga_jacobian derivatives(const ga_stepper *st, unsigned want)
{
  return (ga_jacobian){want, st->h * st->c2, st->c1, st->jacobian_D, st->jacobian_Q, st->jacobian_G};
}

static unsigned wanted(const ga_stepper *st)
{
  return GA_WANT_D | GA_WANT_Q | GA_WANT_B | (st->n_eta ? GA_WANT_G : 0u);
}

ga_status ga__exact_evaluate(ga_stepper *st, unsigned want, double *rate, ga__scratch scratch)
{
  const ga_system *sys = st->sys;
  double *force = ga__take(&scratch, sys->nv);
  ga_point p = ga__trial_point(st);
  ga_status status;
  st->stats.residuals++;
  p.motion = st->motion; /* until the next trial */
  if (sys->def.sweep) {
    ga_jacobian J = derivatives(st, want);
    status = ga__sweep(sys, &p, st->r, rate, st->renewing ? &J : NULL, force);
    st->swept = !status && st->renewing;
  } else {
    status = ga__residual(sys, &p, st->r, force);
    if (!status && rate) status = ga__phi_dot(&st->deriv, &p, rate);
  }
  return status;
}

/* r := −(h(M vdot₁−f), Φ/h, k, h(xdot₁−s), h(y−o), B v₁+Φ_t), the right-hand side of Newton's equation. */
static ga_status residual(ga_stepper *st, ga__scratch scratch)
{
  const ga_system *sys = st->sys;
  const int *size = sys->size, *start = sys->start;
  double h = st->h, *r = st->r;
  ga_status status = ga__exact_evaluate(st, wanted(st), st->n_eta ? r + sys->n : NULL, scratch);
  if (status) return status;
  for (int i = 0; i < sys->nv; i++) r[i] *= -h;
  for (int i = 0; i < size[GA_BLOCK_LAMBDA]; i++) r[start[GA_BLOCK_LAMBDA] + i] /= -h;
  for (int i = 0; i < size[GA_BLOCK_PSI]; i++) r[start[GA_BLOCK_PSI] + i] *= -1.0;
  for (int i = 0; i < size[GA_BLOCK_X]; i++)
    r[start[GA_BLOCK_X] + i] = -h * (st->next.xdot[i] + r[start[GA_BLOCK_X] + i]);
  for (int i = 0; i < size[GA_BLOCK_Y]; i++)
    r[start[GA_BLOCK_Y] + i] = -h * (st->next.y[i] + r[start[GA_BLOCK_Y] + i]);
  for (int i = 0; i < st->n_eta; i++) r[sys->n + i] *= -1.0;
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
 * often costs no iterations worth speaking of; what remains is block-triangular, η being found last. That is
 * the reduced form; terms.c decides which one is used. */
enum {
  ONE = GA__EXACT_ONE,
  H = GA__EXACT_H,
  INV_H = GA__EXACT_INV_H,
  C2 = GA__EXACT_C2,
  H2 = GA__EXACT_H2,
  MINUS = GA__EXACT_MINUS
};
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
/* Expanded: with d = T A u − T B_nᵀη, the change of q, as unknowns. Their products couple all that meets in a
 * body; without them the matrix has the pattern of the machine, and an order by bodies fills it little: a car
 * of 20 bodies takes 0.7 million operations instead of 9.5. */
static const ga__rule EXPANDED[] = {
    {GA_BLOCK_V, NOT_X, GA__FROM_D, 0, 0, 0, ONE, 0},  {GA_BLOCK_V, X, GA__FROM_D, 0, 0, 0, H, 0},
    {GA_BLOCK_V, V, GA__FROM_Q, 0, 0, 1, H2, 0},       {GA_BLOCK_LAMBDA, V, GA__FROM_Q, 0, 0, 1, ONE, 0},
    {GA_BLOCK_LAMBDA, V, GA__FROM_Q, 0, 1, 0, C2, 0},  {GA_BLOCK_LAMBDA, V, GA__FROM_G, 0, 1, 1, H, 0},
    {GA_BLOCK_PSI, V, GA__FROM_D, 0, 0, 0, INV_H, 0},  {GA_BLOCK_PSI, V, GA__FROM_Q, 0, 0, 1, H, 0},
    {GA_BLOCK_X, NOT_X, GA__FROM_D, 0, 0, 0, ONE, 0},  {GA_BLOCK_X, X, GA__FROM_D, 0, 0, 0, H, 0},
    {GA_BLOCK_X, V, GA__FROM_Q, 0, 0, 1, H2, 0},       {GA_BLOCK_Y, NOT_X, GA__FROM_D, 0, 0, 0, ONE, 0},
    {GA_BLOCK_Y, X, GA__FROM_D, 0, 0, 0, H, 0},        {GA_BLOCK_Y, V, GA__FROM_Q, 0, 0, 1, H2, 0},
    {GA_BLOCK_V, V, GA__FROM_UNIT, 1, 1, 0, MINUS, 1}, {GA_BLOCK_V, V, GA__FROM_UNIT, 0, 1, 1, ONE, 0},
};
#undef V
#undef X
#undef NOT_X

/* Up to this number of unknowns the terms of η cost little. */
enum { SMALL = 64 };
/* In dense systems the terms of η are many. The complete matrix is not used if its terms are more than this
 * number and more than MOST_TIMES those of the reduced matrix. */
#define MOST_NUMBERS 1e6
#define MOST_TIMES 8.0

static ga__layout layout_of(const ga_stepper *st, ga__matrix_form form)
{
  const ga_system *sys = st->sys;
  const int *start = sys->start, lambda = start[GA_BLOCK_LAMBDA], psi = start[GA_BLOCK_PSI];
  ga__layout l = {.rule = RULES,
                  .n_rules = sizeof RULES / sizeof *RULES,
                  .extra_from = lambda,
                  .n_sets = 1,
                  .set = {{{lambda, psi}, {lambda, psi}, 0}}};
  if (st->n_eta) { /* B v + Φ_t and k determine u with λ, ψ; Φ determines η */
    l.n_extra = sys->size[GA_BLOCK_LAMBDA];
    l.eta_level = form == GA__COMPLETE ? 2 : 1;
    l.n_sets = 2;
    l.set[0].row[0] = sys->n;
    l.set[1] = (ga__set){{lambda, -1}, {sys->n, -1}, 1};
  }
  return l;
}

static ga__layout expanded_layout(const ga_stepper *st)
{
  const ga_system *sys = st->sys;
  const int lambda = sys->start[GA_BLOCK_LAMBDA], psi = sys->start[GA_BLOCK_PSI], vel = sys->n + sys->nv;
  return (ga__layout){.rule = EXPANDED,
                      .n_rules = sizeof EXPANDED / sizeof *EXPANDED,
                      .n_extra = sys->nv + sys->size[GA_BLOCK_LAMBDA],
                      .eta_level = 2,
                      .n_sets = 2,
                      .set = {{{vel, psi}, {lambda, psi}, 0}, {{lambda, -1}, {vel, -1}, 1}},
                      .expanded = 1};
}

/* *yes 1: the complete matrix is not too large. */
static ga_status is_affordable(ga_stepper *st, int *yes)
{
  double all = 0.0, fewer = 0.0;
  const ga__layout complete = layout_of(st, GA__COMPLETE), reduced = layout_of(st, GA__REDUCED);
  ga_status status = ga__assembly_length(st->sys, &complete, &all);
  if (!status) status = ga__assembly_length(st->sys, &reduced, &fewer);
  *yes = all <= MOST_NUMBERS || all <= MOST_TIMES * fewer;
  return status;
}

/* KLU's search for pivots would fill an expanded matrix; few constraints couple little, as of a long beam.
 * Small ones take a fifth more work expanded. */
static int expands(const ga_stepper *st)
{
  return st->n_eta && st->opts.lu != GA_LU_SPARSE && 4 * st->n_eta >= st->sys->nv && st->sys->cluster &&
         st->sys->n >= GA__ORDER_LARGE && ga__order_wants(st->sys, st->sys->n, st->opts.lu, 0);
}

ga__layout ga__exact_layout(const ga_stepper *st, int leaves_out)
{
  return expands(st) && !leaves_out ? expanded_layout(st) : layout_of(st, GA__COMPLETE);
}

/* Without η the matrix is complete. */
static ga_status layout(ga_stepper *st, ga__matrix_form form, int leaves_out, ga__layout *out)
{
  const ga_eta_terms terms = st->n_eta ? st->opts.newton.eta_terms : GA_ETA_FULL;
  const int chooses = terms == GA_ETA_AUTO && st->sys->n > SMALL && !leaves_out;
  int yes = form == GA__REDUCED ? terms == GA_ETA_TRIANGULAR || chooses : terms != GA_ETA_TRIANGULAR;
  if (yes && form == GA__COMPLETE && !leaves_out && expands(st)) {
    *out = expanded_layout(st);
    return GA_OK;
  }
  ga_status status = yes && chooses && form == GA__COMPLETE ? is_affordable(st, &yes) : GA_OK;
  *out = yes ? layout_of(st, form) : (ga__layout){0};
  return status;
}

ga_status ga__exact_assemble(ga_stepper *st, unsigned want)
{
  const ga_system *sys = st->sys;
  ga_point p = ga__trial_point(st);
  ga_jacobian J = derivatives(st, want);
  ga_status status = GA_OK;
  st->stats.jacobians++;
  if (!sys->def.jacobian) st->stats.difference_jacobians++;
  p.motion = st->motion;
  if (!st->swept) status = ga__jacobian_unchecked(&st->deriv, &p, &J);
  st->swept = 0;
  if (status) return status;
  ga__prepare_tangent(st);
  static const double UNIT[] = {1.0};
  ga__assembly_input in = {.source = {st->jacobian_D, st->jacobian_Q, st->jacobian_G, NULL, UNIT},
                           .scale = {[GA__EXACT_ONE] = 1.0,
                                     [GA__EXACT_H] = st->h,
                                     [GA__EXACT_INV_H] = 1.0 / st->h,
                                     [GA__EXACT_C2] = st->c2,
                                     [GA__EXACT_H2] = st->h * st->h,
                                     [GA__EXACT_MINUS] = -1.0},
                           .diag_x = st->d1,
                           .T = st->T,
                           .TA = st->commutes ? st->TA : st->T,
                           .B_n = st->n_eta ? ga__exact_b(st) : NULL,
                           .null = &st->red.null,
                           .null_b = &st->red.null_eta};
  ga__assembly_fill(&ga__matrix_in_use(st)->assembly, &in);
  status = ga__factor(st);
  const ga_status bad = status == GA_RETRY_NAN ? ga__jacobian_check(sys, &p, &J) : GA_OK;
  return bad ? bad : status;
}

static ga_status prepare(ga_stepper *st)
{
  return ga__exact_assemble(st, wanted(st));
}

/* |dvdot|/(1+|vdot|), |dλ|/(1+|λ|), ..., and st->tighter times |dv|/(1+|v|) and |dq|/(1+|q|). */
ga__measure ga__exact_weigh(const ga_stepper *st, int *worst)
{
  const ga_system *sys = st->sys;
  const double *dz = st->r;
  ga__measure out = {0.0, 0.0, 0.0};
  double du = ga__max_abs(dz, sys->nv, NULL), in_v = st->c2 * du / st->size_v, in_q = st->h * du / st->size_q;
  out.acc = st->c1 * du / st->h / st->size_a;
  out.tight = st->tighter * (in_v > in_q ? in_v : in_q);
  ga__take_largest(&out, out.acc > out.tight ? out.acc : out.tight, worst, 0, dz, sys->nv);
  for (int b = GA_BLOCK_LAMBDA; b < GA_N_BLOCKS; b++) {
    const double *d = dz + sys->start[b];
    if (!sys->size[b]) continue;
    double most = ga__max_abs(d, sys->size[b], NULL);
    ga__take_largest(&out, (b == GA_BLOCK_X ? most : most / st->h) / st->size[b], worst, sys->start[b], d,
                     sys->size[b]);
  }
  if (st->n_eta) { /* η moves q by h B_nᵀη: an error of velocity that adds up over steps */
    const double *d = dz + sys->n;
    double most = 0.0;
    for (int i = 0; i < sys->n_b; i++) {
      double one = fabs(ga__exact_b(st)[i] * d[sys->b_row[i]]);
      most = one > most ? one : most;
    }
    double tight = st->tighter * st->h * most / st->size_q;
    out.tight = tight > out.tight ? tight : out.tight;
    ga__take_largest(&out, fmax(tight, most / st->size_v), worst, sys->n, d, sys->size[GA_BLOCK_LAMBDA]);
  }
  return out;
}

/* The floor of rounding. That of Φ moves u by ε|q|/h in the index-3 form, that of B v moves it by ε|v| in the
 * stabilized one; from u it reaches vdot times c₁/h, v times c₂, and λ with vdot. */
ga__measure ga__exact_floor(const ga_stepper *st)
{
  double u = ga__rounding_of_rate(st->sys) * st->size_v;
  if (ga__has_offset(st)) u += DBL_EPSILON * st->size_q / st->h;
  ga__measure floor = {0.0, st->c1 * u / st->h / st->size_a + 10.0 * DBL_EPSILON,
                       st->tighter * (st->c2 * u / st->size_v + DBL_EPSILON)};
  floor.all = fmax(floor.acc, floor.tight);
  return floor;
}

void ga__exact_update(ga_stepper *st)
{
  const ga_system *sys = st->sys;
  ga__state *next = &st->next;
  const double *dz = st->r;
  double inv_h = 1.0 / st->h, inv_x = 1.0 / (st->theta * st->h);
  for (int i = 0; i < sys->nv; i++) st->p[i] += dz[i] * inv_h;
  double *const scaled[] = {NULL, next->lambda, next->psi, st->px, next->y};
  for (int b = GA_BLOCK_LAMBDA; b < GA_N_BLOCKS; b++)
    for (int i = 0; i < sys->size[b]; i++)
      scaled[b][i] += dz[sys->start[b] + i] * (b == GA_BLOCK_X ? inv_x : inv_h);
  if (st->n_eta)
    for (int i = 0; i < sys->size[GA_BLOCK_LAMBDA]; i++) next->eta[i] += dz[sys->n + i];
}

ga_status ga__exact_predict(ga_stepper *st, double h, ga__scratch scratch)
{
  ga_status status = st->n_eta ? update_b(st) : GA_OK;
  if (!status) status = ga__begin_velocity(st, h, scratch);
  if (!status) ga__predict(st, h);
  return status;
}

/* Rounding of h(M vdot − f), Φ/h, k, h(xdot − s), h(y − o), B v + Φ_t. */
void ga__exact_noise(const ga_stepper *st, const double *terms, double *out)
{
  const ga_system *sys = st->sys;
  const double eps = DBL_EPSILON, size[] = {0.0, st->size_q / st->h, st->size_v, st->h * st->size[GA_BLOCK_X],
                                            st->h * st->size[GA_BLOCK_Y]};
  for (int i = 0; i < sys->nv; i++) out[i] = st->h * eps * terms[i];
  for (int b = GA_BLOCK_LAMBDA; b < GA_N_BLOCKS; b++)
    for (int i = 0; i < sys->size[b]; i++) out[sys->start[b] + i] = eps * size[b];
  for (int i = sys->n; i < st->factors.n; i++) out[i] = ga__rounding_of_rate(sys) * st->size_v;
}

ga_status ga__exact_solve(ga_stepper *st)
{
  const ga__matrix *m = ga__matrix_in_use(st);
  return ga__assembly_solve_squares(&m->assembly, m->lu, &st->red.null, &st->red.null_eta, st->r);
}

int ga__exact_row_of(const ga_stepper *st, int column)
{
  (void)st;
  return column; /* behind the system's own unknowns are η, as in ga__block_of() */
}

/* ---- Errors ---- */

static void correct_q(const ga_stepper *st, double *e)
{
  if (st->n_eta) subtract_eta(st, e, st->now.eta, st->now.scalar[GA__H_OLD]);
}

double ga__exact_mass_factor(const ga_stepper *st)
{
  return st->c1;
}
double ga__exact_rate_factor(const ga_stepper *st)
{
  return st->c2;
}
double ga__exact_force_factor(const ga_stepper *st)
{
  (void)st;
  return 1.0;
}
int ga__exact_position_rows(const ga_stepper *st)
{
  (void)st;
  return 0;
}

ga_status ga__exact_solve_error(ga_stepper *st, double *residual, double *e)
{
  const ga_status status = ga__solve_error_at(st, residual, 0, 1, e);
  if (!status && st->n_eta) subtract_eta(st, e, st->r + st->sys->n, 1.0);
  return status;
}

static const ga__family EXACT = {.create = create,
                                 .destroy = destroy,
                                 .predict = ga__exact_predict,
                                 .trial = ga__exact_trial,
                                 .residual = residual,
                                 .prepare = prepare,
                                 .solve = ga__exact_solve,
                                 .weigh = ga__exact_weigh,
                                 .update = ga__exact_update,
                                 .layout = layout,
                                 .row_of = ga__exact_row_of,
                                 .form_by_convergence = 1,
                                 .floor = ga__exact_floor,
                                 .noise = ga__exact_noise,
                                 .correct_q = correct_q,
                                 .mass_factor = ga__exact_mass_factor,
                                 .rate_factor = ga__exact_rate_factor,
                                 .force_factor = ga__exact_force_factor,
                                 .position_rows = ga__exact_position_rows,
                                 .solve_error = ga__exact_solve_error,
                                 .slopes = &ga__exact_slopes};

const ga__method ga__method_index3 = {
    .family = &EXACT, .keeps_positions = 1, .vdot_at_end = 1, .adjusts_gamma = 1};

const ga__method ga__method_stabilized = {.family = &EXACT,
                                          .keeps_positions = 1,
                                          .keeps_rates = 1,
                                          .has_eta = 1,
                                          .vdot_at_end = 1,
                                          .adjusts_gamma = 1};
