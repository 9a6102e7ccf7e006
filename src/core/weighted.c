/* The weighted family (Jay & Negrut 2008, and their nonholonomic paper): the dynamics hold as a weighted mean
 * over the step, and a stands for the acceleration at t + αh, α = αm − αf. With z the velocity, a the value
 * from the last step:
 *
 *   q₁ = q∘exp(d), d = h z + h²((½−β) a + β ã) + (h²/12)[z, z̃₁]
 *   z̃₁ = z + h((1−γ) a + γ ã),   z₁ = z + h((1−γ) a + γ a₁)
 *   (13d,f,h)  (1−αm) M₁₊α ã + αm M_α a = (1−αf) f(t₁, q₁, z₁, λ̃, ψ̃) + αf f₀
 *              Φ(q₁) = 0,   k(q₁, z̃₁) = 0
 *   (13e,g,i)  (1−αm) M₁₊α a₁ + αm M_α a = (1−αf) f(t₁, q₁, z₁, λ₁, ψ₁) + αf f₀
 *              B z₁ + Φ_t = 0,   k(q₁, z₁) = 0
 *
 * M₁₊α = M(t + (1+α)h, q∘exp((1+α)h z)), in R^n. Rotations are taken further, by c = (1+α)h or αh along
 *   c z + (c²/2) a + (c²/12)[z, z + c a]
 * since in space M = RJRᵀ follows them: without the last two terms M is off by (c²/2) a + (c³/6)[z, a], of
 * which the second one turns a towards the axis of a top and lets its spin drift by h³|a|²|z|/6 per second.
 * GA_SOI2 is (13), which is (9) without k; GA_HHT_SOI2 takes the difference of the two dynamic equations
 * instead of the first, as (17) does; GA_WEIGHTED has no second set of unknowns (ã = a₁) and keeps Φ and k
 * only: (2.3) if all constraints are nonholonomic, HHT-I3 if none is. */
#include "core/arrays.h"
#include "core/stepper.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Steps after which the reduced form is tried again after stiff forces. */
#define REDUCED_WAIT 100

/* Variants of the family. */
typedef struct variant {
  int two_sets;      /* 1: ã, λ̃, ψ̃ are unknowns too */
  int by_difference; /* 1: the first dynamic equation is the difference of both, as in (17) */
} variant;

static const variant *variant_of(const ga_stepper *st)
{
  return st->method->variant;
}

/* Data of the family: vectors used within one step. */
typedef struct weighted {
  double *pt;               /* [nv] ã − a; p is a₁ − a in this family */
  double *lambda_t, *psi_t; /* λ̃, ψ̃ */
  double *v_t;              /* [nv] z̃₁ */
  double *bracket;          /* [nv] [v, z̃₁] of a trial */
  double *f0, *ma_n;        /* [nv] f at the step's beginning; M_α a */
  double *q_mass;           /* [nq] where M₁₊α is evaluated, */
  double *M;                /* [n_entries] and its values over the pattern */
  double *factor;           /* [nv] what M is multiplied by */
  double *zero;             /* [nv] zeros */
  double *block;            /* holds these */
} weighted;

static weighted *own(const ga_stepper *st)
{
  return st->own;
}

/* M a for the next step, and of the step before: the family's numbers in a state. */
static double *mass_of(const ga__state *s)
{
  return s->own;
}
static double *mass_before(const ga_stepper *st, const ga__state *s)
{
  return s->own + st->sys->nv;
}
static size_t state_length(const ga_stepper *st)
{
  return 2 * (size_t)st->sys->nv;
}

static void destroy(ga_stepper *st)
{
  if (own(st)) ga__free(st->ctx, own(st)->block);
  ga__free(st->ctx, st->own);
  st->own = NULL;
}

static ga_status create(ga_stepper *st)
{
  const ga_system *sys = st->sys;
  const size_t nv = (size_t)sys->nv, nl = (size_t)sys->size[GA_BLOCK_LAMBDA],
               np = (size_t)sys->size[GA_BLOCK_PSI];
  weighted *w = st->own = ga__alloc(st->ctx, 1, sizeof *w);
  if (!w) return ga__no_memory(st->ctx, "a stepper");
  const ga__array part[] = {{&w->pt, nv},
                            {&w->lambda_t, nl},
                            {&w->psi_t, np},
                            {&w->v_t, nv},
                            {&w->bracket, nv},
                            {&w->f0, nv},
                            {&w->ma_n, nv},
                            {&w->factor, nv},
                            {&w->zero, nv},
                            {&w->q_mass, (size_t)sys->nq},
                            {&w->M, (size_t)sys->n_entries}};
  return ga__arrays_create(st->ctx, GA__ARRAYS(part), "a stepper", &w->block, NULL);
}

/* ---- Matrices ---- */

enum { ONE, MASS, FORCE, FORCE_Q, INV_GH, BETA_GAMMA, HH, BETA_H2, BETA_H3 };
#define V (1u << GA_BLOCK_V)
#define L (1u << GA_BLOCK_LAMBDA | 1u << GA_BLOCK_PSI)
#define XY (1u << GA_BLOCK_X | 1u << GA_BLOCK_Y)
/* Rows and columns of the system are those of (a₁, λ₁, ψ₁, x₁, y₁), the extra ones those of (ã, λ̃, ψ̃). D has
 * shift γh and no vdot: −γh f_z, −f_λ, ...; residuals of Φ are divided by βh², those of k and B z + Φ_t by
 * γh; those of states are multiplied by h. */
static const ga__rule SOI2_RULES[] = {
    {GA_BLOCK_V, V, GA__FROM_M, 0, 0, 0, MASS, 0},
    {GA_BLOCK_V, V | L | XY, GA__FROM_D, 0, 0, 0, FORCE, 0},
    {GA_BLOCK_V, V, GA__FROM_Q, 1, 0, 1, FORCE_Q, 0},
    {GA_BLOCK_LAMBDA, V, GA__FROM_Q, 0, 0, 0, ONE, 0},
    {GA_BLOCK_LAMBDA, V, GA__FROM_G, 1, 0, 1, BETA_GAMMA, 0},
    {GA_BLOCK_PSI, V, GA__FROM_D, 0, 0, 0, INV_GH, 0},
    {GA_BLOCK_PSI, V, GA__FROM_Q, 1, 0, 1, BETA_GAMMA, 0},
    {GA_BLOCK_X, V | L | XY, GA__FROM_D, 0, 0, 0, HH, 0},
    {GA_BLOCK_X, V, GA__FROM_Q, 1, 0, 1, BETA_H3, 0},
    {GA_BLOCK_Y, V | L | XY, GA__FROM_D, 0, 0, 0, ONE, 0},
    {GA_BLOCK_Y, V, GA__FROM_Q, 1, 0, 1, BETA_H2, 0},
    {GA_BLOCK_V, V, GA__FROM_M, 0, 1, 1, MASS, 0},
    {GA_BLOCK_V, V | XY, GA__FROM_D, 0, 1, 0, FORCE, 0},
    {GA_BLOCK_V, L, GA__FROM_D, 0, 1, 1, FORCE, 0},
    {GA_BLOCK_V, V, GA__FROM_Q, 1, 1, 1, FORCE_Q, 0},
    {GA_BLOCK_LAMBDA, V, GA__FROM_Q, 1, 1, 1, ONE, 0},
    {GA_BLOCK_PSI, V, GA__FROM_D, 0, 1, 1, INV_GH, 0},
    {GA_BLOCK_PSI, V, GA__FROM_Q, 1, 1, 1, BETA_GAMMA, 0},
};
static const ga__rule SINGLE_RULES[] = {
    {GA_BLOCK_V, V, GA__FROM_M, 0, 0, 0, MASS, 0},
    {GA_BLOCK_V, V | L | XY, GA__FROM_D, 0, 0, 0, FORCE, 0},
    {GA_BLOCK_V, V, GA__FROM_Q, 1, 0, 0, FORCE_Q, 0},
    {GA_BLOCK_LAMBDA, V, GA__FROM_Q, 1, 0, 0, ONE, 0},
    {GA_BLOCK_PSI, V, GA__FROM_D, 0, 0, 0, INV_GH, 0},
    {GA_BLOCK_PSI, V, GA__FROM_Q, 1, 0, 0, BETA_GAMMA, 0},
    {GA_BLOCK_X, V | L | XY, GA__FROM_D, 0, 0, 0, HH, 0},
    {GA_BLOCK_X, V, GA__FROM_Q, 1, 0, 0, BETA_H3, 0},
    {GA_BLOCK_Y, V | L | XY, GA__FROM_D, 0, 0, 0, ONE, 0},
    {GA_BLOCK_Y, V, GA__FROM_Q, 1, 0, 0, BETA_H2, 0},
};
/* The reduced form: what is left for h → 0, the same for both sets of unknowns: S = [(1−αm)M, −(1−αf)f_λ,
 * −(1−αf)f_ψ; B; A]. */
static const ga__rule REDUCED_RULES[] = {
    {GA_BLOCK_V, V, GA__FROM_M, 0, 0, 0, MASS, 0},
    {GA_BLOCK_V, V | L, GA__FROM_D, 0, 0, 0, FORCE, 0},
    {GA_BLOCK_LAMBDA, V, GA__FROM_Q, 0, 0, 0, ONE, 0},
    {GA_BLOCK_PSI, V, GA__FROM_D, 0, 0, 0, INV_GH, 0},
};
#undef V
#undef L
#undef XY
#define COUNT(rules) (int)(sizeof rules / sizeof *rules)

static int extra_size(const ga_stepper *st)
{
  return st->sys->start[GA_BLOCK_X];
}

/* The constraints and multipliers of one set, whose rows and columns begin at `from`. */
static ga__set set_from(const ga_stepper *st, int from)
{
  int lambda = from + st->sys->start[GA_BLOCK_LAMBDA], psi = from + st->sys->start[GA_BLOCK_PSI];
  return (ga__set){{lambda, psi}, {lambda, psi}, 0};
}

/* Without states and outputs one small matrix serves both sets, one after the other. */
static int has_reduced(const ga_stepper *st)
{
  return variant_of(st)->two_sets && !st->opts.full_solve && st->sys->n == st->sys->start[GA_BLOCK_X];
}

static int is_reduced(const ga_stepper *st)
{
  return st->factors.now.choice.form == GA__REDUCED;
}

static ga_status layout(ga_stepper *st, ga__matrix_form form, int leaves_out, ga__layout *out)
{
  (void)leaves_out;
  if (form == GA__REDUCED) {
    *out = (ga__layout){
        .rule = REDUCED_RULES, .n_rules = COUNT(REDUCED_RULES), .n_sets = 1, .set = {set_from(st, 0)}};
    if (!has_reduced(st)) out->n_rules = 0;
    return GA_OK;
  }
  *out = (ga__layout){
      .rule = SINGLE_RULES, .n_rules = COUNT(SINGLE_RULES), .n_sets = 1, .set = {set_from(st, 0)}};
  if (!variant_of(st)->two_sets) return GA_OK;
  out->rule = SOI2_RULES;
  out->n_rules = COUNT(SOI2_RULES);
  out->n_extra = extra_size(st);
  out->n_sets = 2;
  out->set[1] = set_from(st, st->sys->n);
  return GA_OK;
}

/* ---- A step ---- */

/* The exponent from q to the configuration at t + ch, where M is evaluated. */
static void lead_exponent(ga_stepper *st, double c)
{
  const ga_group *g = st->sys->group;
  double *d = st->exponent, *end = own(st)->v_t; /* overwritten by the first trial */
  const double *z = st->v_n, *a = st->a_n;
  for (int i = 0; i < st->sys->nv; i++) d[i] = c * z[i];
  if (!st->commutes) return;
  for (int i = 0; i < st->sys->nv; i++) end[i] = z[i] + c * a[i];
  for (int b = 0; b < ga_group_n_blocks(g); b++) {
    int start, size = ga_group_block(g, b, &start);
    for (int i = start; i < start + size; i++) d[i] += 0.5 * c * c * a[i];
  }
  ga_group_add_bracket(g, d, c * c / 12.0, z, end);
}

/* out := M u at t + ch, see above; leaves the configuration in own(st)->q_mass. */
static ga_status mass_at(ga_stepper *st, double c, const double *u, double *out)
{
  const ga_system *sys = st->sys;
  lead_exponent(st, c * st->h);
  ga_group_move(sys->group, own(st)->q_mass, st->now.q, st->exponent);
  ga_point p = ga__state_point(&st->now);
  p.t += c * st->h;
  p.q = own(st)->q_mass;
  p.vdot = u;
  return ga__call(sys, GA__MASS, &p, out);
}

/* The same configuration again, for another u. */
static ga_status mass_at_same_configuration(ga_stepper *st, const double *u, double *out)
{
  ga_point p = ga__state_point(&st->now);
  p.t += (1.0 + st->alpha) * st->h;
  p.q = own(st)->q_mass;
  p.vdot = u;
  return ga__call(st->sys, GA__MASS, &p, out);
}

static ga_status predict(ga_stepper *st, double h, ga__scratch scratch)
{
  const ga_system *sys = st->sys;
  const ga__state *f = &st->now;
  const ga_scheme *s = &st->opts.scheme;
  double h_old = f->scalar[GA__H_OLD];
  ga_status status = ga__begin_velocity(st, h, scratch);
  if (status) return status;
  ga__predict(st, h);
  for (int i = 0; i < sys->nv; i++) own(st)->pt[i] = st->p[i] /= s->beta;
  memcpy(own(st)->lambda_t, st->next.lambda, (size_t)sys->size[GA_BLOCK_LAMBDA] * sizeof(double));
  memcpy(own(st)->psi_t, st->next.psi, (size_t)sys->size[GA_BLOCK_PSI] * sizeof(double));
  ga_point now = ga__state_point(f);
  if ((status = ga__call(sys, GA__FORCE, &now, own(st)->f0))) return status;
  if (st->opts.mass_alpha == GA_MASS_PREVIOUS && h_old > 0.0) { /* (14b) */
    double change = h == h_old || st->opts.adjust == GA_ADJUST_NONE ? 0.0 : st->alpha * (h / h_old - 1.0);
    for (int i = 0; i < sys->nv; i++)
      own(st)->ma_n[i] = mass_of(f)[i] + change * (mass_of(f)[i] - mass_before(st, f)[i]);
  } else if ((status = mass_at(st, st->alpha, st->a_n, own(st)->ma_n))) {
    return status;
  }
  memcpy(mass_before(st, &st->next), own(st)->ma_n, (size_t)sys->nv * sizeof(double));
  ga__choice *c = &st->factors.now.choice;
  if (c->wait > 0 && --c->wait == 0 && has_reduced(st)) c->form = GA__REDUCED, st->factors.now.valid = 0;
  return mass_at(st, 1.0 + st->alpha, st->a_n, ga__take(&scratch, sys->nv)); /* leaves q₁₊α */
}

static void trial(ga_stepper *st)
{
  const ga_system *sys = st->sys;
  const ga_scheme *s = &st->opts.scheme;
  const ga__state *now = &st->now;
  ga__state *next = &st->next;
  const double *pt = variant_of(st)->two_sets ? own(st)->pt : st->p;
  double h = st->h;
  for (int i = 0; i < sys->nv; i++) {
    double a = st->a_n[i];
    next->v[i] = st->v_n[i] + h * (a + s->gamma * st->p[i]);
    next->a[i] = a + st->p[i];
    next->vdot[i] = a + (1.0 - st->alpha) * st->p[i];
    own(st)->v_t[i] = st->v_n[i] + h * (a + s->gamma * pt[i]);
    st->exponent[i] = h * st->v_n[i] + h * h * (0.5 * a + s->beta * pt[i]);
  }
  if (st->commutes) {
    ga_group_bracket(sys->group, own(st)->bracket, st->v_n, own(st)->v_t);
    for (int i = 0; i < sys->nv; i++) st->exponent[i] += h * h / 12.0 * own(st)->bracket[i];
  }
  ga_group_move(sys->group, next->q, now->q, st->exponent);
  ga__trial_states(st);
}

/* −[(1−αm) M₁₊α u + αm M_α a − (1−αf) f(λ, ψ) − αf f₀] into r */
static ga_status dynamics(ga_stepper *st, double *r, const double *p, const double *lambda, const double *psi,
                          ga__scratch scratch)
{
  const ga_system *sys = st->sys;
  double *force = ga__take(&scratch, sys->nv);
  const ga_scheme *s = &st->opts.scheme;
  for (int i = 0; i < sys->nv; i++) own(st)->factor[i] = st->a_n[i] + p[i];
  ga_status status = mass_at_same_configuration(st, own(st)->factor, r);
  ga_point point = ga__trial_point(st);
  point.lambda = lambda;
  point.psi = psi;
  if (!status) status = ga__call(sys, GA__FORCE, &point, force);
  if (status) return status;
  for (int i = 0; i < sys->nv; i++)
    r[i] = (1.0 - s->alpha_f) * force[i] + s->alpha_f * own(st)->f0[i] - (1.0 - s->alpha_m) * r[i] -
           s->alpha_m * own(st)->ma_n[i];
  return GA_OK;
}

/* (17c) as a correction to the second equation: r̃ = r − [(1−αm) M₁₊α (ã − a₁) − (1−αf) Bᵀ(λ₁ − λ̃)]. */
static ga_status dynamics_by_difference(ga_stepper *st, double *rt, const double *r)
{
  const ga_system *sys = st->sys;
  const ga_scheme *s = &st->opts.scheme;
  for (int i = 0; i < sys->nv; i++) own(st)->factor[i] = own(st)->pt[i] - st->p[i];
  ga_status status = mass_at_same_configuration(st, own(st)->factor, rt);
  ga_point point = ga__state_point(&st->next);
  ga_jacobian J = {GA_WANT_B, 0.0, 0.0, st->jacobian_D, st->jacobian_Q, st->jacobian_G};
  if (!status) status = ga__jacobian(&st->deriv, &point, &J);
  if (status) return status;
  st->stats.constraint_jacobians++;
  for (int i = 0; i < sys->nv; i++) rt[i] = r[i] - (1.0 - s->alpha_m) * rt[i];
  for (int i = 0; i < sys->n_b; i++)
    rt[sys->b_col[i]] += (1.0 - s->alpha_f) * st->jacobian_Q[sys->b_entry[i]] *
                         (st->next.lambda[sys->b_row[i]] - own(st)->lambda_t[sys->b_row[i]]);
  return GA_OK;
}

static void scale(double *a, int n, double factor)
{
  for (int i = 0; i < n; i++) a[i] *= factor;
}

/* Constraints at the end of the step: Φ/(βh²) and k(z̃)/(γh) into rt, (B z + Φ_t)/(γh) and k(z)/(γh) into
 * r; with one set of unknowns Φ and k(z) into r. All with reversed sign. */
static ga_status constraints(ga_stepper *st, double *r, double *rt)
{
  const ga_system *sys = st->sys;
  int l = sys->start[GA_BLOCK_LAMBDA], k = sys->start[GA_BLOCK_PSI], nl = sys->size[GA_BLOCK_LAMBDA],
      nk = sys->size[GA_BLOCK_PSI];
  double inv_gh = -1.0 / (st->opts.scheme.gamma * st->h),
         inv_bh2 = -1.0 / (st->opts.scheme.beta * st->h * st->h);
  ga_point p = ga__state_point(&st->next), pt = p;
  pt.v = own(st)->v_t;
  double *phi = (variant_of(st)->two_sets ? rt : r) + l;
  ga_status status = ga__call(sys, GA__PHI, &p, phi);
  scale(phi, nl, inv_bh2);
  if (!status) status = ga__call(sys, GA__K, &p, r + k);
  scale(r + k, nk, inv_gh);
  if (status || !variant_of(st)->two_sets) return status;
  status = ga__phi_dot(&st->deriv, &p, r + l);
  scale(r + l, nl, inv_gh);
  if (!status) status = ga__call(sys, GA__K, &pt, rt + k);
  scale(rt + k, nk, inv_gh);
  return status;
}

static ga_status residual(ga_stepper *st, ga__scratch scratch)
{
  const ga_system *sys = st->sys;
  ga__state *next = &st->next;
  double *r = st->r, *rt = r + sys->n, *x = r + sys->start[GA_BLOCK_X], *y = r + sys->start[GA_BLOCK_Y];
  ga_point p = ga__state_point(next);
  st->stats.residuals++;
  ga_status status = dynamics(st, r, st->p, next->lambda, next->psi, scratch);
  if (!status && variant_of(st)->two_sets)
    status = variant_of(st)->by_difference
                 ? dynamics_by_difference(st, rt, r)
                 : dynamics(st, rt, own(st)->pt, own(st)->lambda_t, own(st)->psi_t, scratch);
  if (!status) status = constraints(st, r, rt);
  if (!status) status = ga__call(sys, GA__STATE, &p, x);
  if (!status) status = ga__call(sys, GA__OUTPUT, &p, y);
  if (status) return status;
  for (int i = 0; i < sys->size[GA_BLOCK_X]; i++) x[i] = st->h * (x[i] - next->xdot[i]);
  for (int i = 0; i < sys->size[GA_BLOCK_Y]; i++) y[i] -= next->y[i];
  return GA_OK;
}

/* Derivatives at the end of the step without M, and M₁₊α at its own configuration. */
static ga_status evaluate(ga_stepper *st)
{
  const ga_system *sys = st->sys;
  const ga_scheme *s = &st->opts.scheme;
  ga_point p = ga__trial_point(st), pm = ga__state_point(&st->now);
  p.vdot = own(st)->zero;
  pm.t += (1.0 + st->alpha) * st->h;
  pm.q = own(st)->q_mass;
  unsigned want = GA_WANT_D | GA_WANT_B | (is_reduced(st) ? 0u : GA_WANT_Q) |
                  (variant_of(st)->two_sets && !is_reduced(st) ? GA_WANT_G : 0u);
  ga_jacobian J = {want, s->gamma * st->h, 0.0, st->jacobian_D, st->jacobian_Q, st->jacobian_G};
  ga_jacobian JM = {GA_WANT_D,      0.0,           1.0, own(st)->M,
                    st->jacobian_Q, st->jacobian_G}; /* Q and G as work space */
  ga_status status = ga__jacobian(&st->deriv, &pm, &JM);
  if (!status) status = ga__jacobian(&st->deriv, &p, &J);
  st->stats.jacobians += 2;
  if (!sys->def.jacobian) st->stats.difference_jacobians += 2;
  return status;
}

static ga_status prepare(ga_stepper *st)
{
  const ga_scheme *s = &st->opts.scheme;
  double h = st->h, f = 1.0 - s->alpha_f, bh2 = s->beta * h * h;
  ga__factor_state *now = &st->factors.now;
  if (is_reduced(st) && now->valid &&
      now->age == 0) { /* new factors, and still too slow: the forces are stiff */
    now->choice = (ga__choice){GA__COMPLETE, REDUCED_WAIT, 0, 0};
    st->factors.form_changed = 1;
    return GA_OK;
  }
  ga_status status = evaluate(st);
  if (status) return status;
  ga__prepare_tangent(st);
  ga__assembly_input in = {.source = {st->jacobian_D, st->jacobian_Q, st->jacobian_G, own(st)->M},
                           .scale = {1.0, 1.0 - s->alpha_m, f, f * bh2, 1.0 / (s->gamma * h),
                                     s->beta * h / s->gamma, h, bh2, bh2 * h},
                           .diag_x = st->d1,
                           .T = st->T,
                           .TA = st->commutes ? st->TA : st->T,
                           .null = &st->red.null};
  ga__assembly_fill(&ga__matrix_in_use(st)->assembly, &in);
  const double rate = now->rate;
  status = ga__factor(st);
  if (is_reduced(st)) now->rate = rate; /* the contraction of the reduced form does not depend on its age */
  return status;
}

/* With the reduced form one set after the other. */
static ga_status solve(ga_stepper *st)
{
  ga__null *null = &st->red.null;
  const ga__matrix *m = ga__matrix_in_use(st);
  ga_status status = ga__assembly_solve_squares(&m->assembly, m->lu, null, null, st->r);
  return status || !is_reduced(st)
             ? status
             : ga__assembly_solve_squares(&m->assembly, m->lu, null, null, st->r + st->sys->n);
}

/* λ̃ and ψ̃ belong to one step only and do not count; ã counts by its effect on positions. */
static ga__measure weigh(const ga_stepper *st, int *worst)
{
  const ga_system *sys = st->sys;
  const ga_scheme *s = &st->opts.scheme;
  const double *dz = st->r, *dt = variant_of(st)->two_sets ? dz + sys->n : dz;
  ga__measure out = {0.0, 0.0, 0.0};
  double da = ga__max_abs(dz, sys->nv, NULL), da_t = ga__max_abs(dt, sys->nv, NULL);
  double in_v = st->tighter * s->gamma * st->h * da / st->size_v;
  double in_q = st->tighter * s->beta * st->h * st->h * da_t / st->size_q;
  out.acc = da / st->size_a;
  out.tight = fmax(in_v, in_q);
  ga__take_largest(&out, fmax(out.acc, in_v), worst, 0, dz, sys->nv);
  ga__take_largest(&out, in_q, worst, (int)(dt - dz), dt, sys->nv);
  for (int b = GA_BLOCK_LAMBDA; b < GA_N_BLOCKS; b++) {
    const double *d = dz + sys->start[b];
    if (sys->size[b])
      ga__take_largest(&out, ga__max_abs(d, sys->size[b], NULL) / st->size[b], worst, sys->start[b], d,
                       sys->size[b]);
  }
  return out;
}

/* Rounding of B z reaches a as ε|z|/(γh), that of Φ reaches ã, or a where there is no ã, as ε|q|/(βh²). */
static ga__measure floor_of(const ga_stepper *st)
{
  const ga_scheme *s = &st->opts.scheme;
  double a = ga__rounding_of_rate(st->sys) * st->size_v / (s->gamma * st->h);
  if (!variant_of(st)->two_sets && st->sys->size[GA_BLOCK_LAMBDA])
    a += DBL_EPSILON * st->size_q / (s->beta * st->h * st->h);
  ga__measure floor = {0.0, a / st->size_a + 10.0 * DBL_EPSILON,
                       st->tighter * (s->gamma * st->h * a / st->size_v + DBL_EPSILON)};
  floor.all = fmax(floor.acc, floor.tight);
  return floor;
}

/* Rounding of the dynamics, (B z + Φ_t)/(γh) or Φ/(βh²), k/(γh), h(xdot − s), y − o, and of the second set's.
 */
static void noise(const ga_stepper *st, const double *terms, double *out)
{
  const ga_system *sys = st->sys;
  const ga_scheme *s = &st->opts.scheme;
  const double eps = DBL_EPSILON, in_k = eps * st->size_v / (s->gamma * st->h),
               in_phi = eps * st->size_q / (s->beta * st->h * st->h);
  const double in_rate = ga__rounding_of_rate(sys) * st->size_v / (s->gamma * st->h);
  const double size[] = {0.0, variant_of(st)->two_sets ? in_rate : in_phi, in_k,
                         st->h * eps * st->size[GA_BLOCK_X], eps * st->size[GA_BLOCK_Y]};
  for (int i = 0; i < sys->nv; i++) out[i] = eps * terms[i];
  for (int b = GA_BLOCK_LAMBDA; b < GA_N_BLOCKS; b++)
    for (int i = 0; i < sys->size[b]; i++) out[sys->start[b] + i] = size[b];
  if (!variant_of(st)->two_sets) return;
  memcpy(out + sys->n, out, (size_t)sys->start[GA_BLOCK_X] * sizeof(double));
  for (int i = 0; i < sys->size[GA_BLOCK_LAMBDA]; i++) out[sys->n + sys->start[GA_BLOCK_LAMBDA] + i] = in_phi;
}

static void add(double *to, const double *from, int n, double factor)
{
  for (int i = 0; i < n; i++) to[i] += factor * from[i];
}

static void update(ga_stepper *st)
{
  const ga_system *sys = st->sys;
  const int *n = sys->size, *at = sys->start;
  const double *dz = st->r, *dt = dz + sys->n;
  add(st->p, dz, sys->nv, 1.0);
  add(st->next.lambda, dz + at[GA_BLOCK_LAMBDA], n[GA_BLOCK_LAMBDA], 1.0);
  add(st->next.psi, dz + at[GA_BLOCK_PSI], n[GA_BLOCK_PSI], 1.0);
  add(st->px, dz + at[GA_BLOCK_X], n[GA_BLOCK_X], 1.0 / (st->theta * st->h));
  add(st->next.y, dz + at[GA_BLOCK_Y], n[GA_BLOCK_Y], 1.0);
  if (!variant_of(st)->two_sets) return;
  add(own(st)->pt, dt, sys->nv, 1.0);
  add(own(st)->lambda_t, dt + at[GA_BLOCK_LAMBDA], n[GA_BLOCK_LAMBDA], 1.0);
  add(own(st)->psi_t, dt + at[GA_BLOCK_PSI], n[GA_BLOCK_PSI], 1.0);
}

/* M₁₊α a₁ is what the next step may use as M_α a. */
static ga_status accept(ga_stepper *st)
{
  return mass_at_same_configuration(st, st->next.a, mass_of(&st->next));
}

static int row_of(const ga_stepper *st, int column)
{
  return column < st->sys->n ? column : column - st->sys->n;
}

/* ---- Errors ---- */

static void correct_q(const ga_stepper *st, double *e)
{
  const double h = st->now.scalar[GA__H_OLD];
  if (!variant_of(st)->two_sets) return;
  for (int i = 0; i < st->sys->nv; i++) e[i] += st->opts.scheme.beta * h * h * (own(st)->pt[i] - st->p[i]);
}

/* out += factor M(t, q) u */
static ga_status add_mass(ga_stepper *st, double *out, double factor, double t, const double *q,
                          const double *u, ga__scratch scratch)
{
  double *product = ga__take(&scratch, st->sys->nv);
  ga_point p = ga__state_point(&st->now);
  p.t = t;
  p.q = q;
  p.vdot = u;
  ga_status status = ga__call(st->sys, GA__MASS, &p, product);
  for (int i = 0; !status && i < st->sys->nv; i++) out[i] += factor * product[i];
  return status;
}

/* d := 0 in the coordinates of rotations, where M is not extrapolated. */
static void without_rotations(const ga_stepper *st, double *d)
{
  const ga_group *g = st->sys->group;
  for (int b = 0; st->commutes && b < ga_group_n_blocks(g); b++) {
    int start, size = ga_group_block(g, b, &start);
    for (int i = start; i < start + size; i++) d[i] = 0.0;
  }
}

/* The weighted family averages M a, not a, and takes M from a straight line: with F = M vdot, a is
 *   M⁻¹(F + c h² F'' + d h² (D_q M · vdot) vdot) at t + αh,   c = Δ(αm − ½ − Δ/2),
 *   d = ½(1−αm)(1+Δ)² + ½αm Δ², or ½(1+Δ)² with GA_MASS_PREVIOUS
 * so that with M not constant force += c h³ (F'' − M D²vdot) + d h³ (D_q M · vdot) vdot. */
static ga_status error_force(ga_stepper *st, double *force, ga__scratch scratch)
{
  const ga_system *sys = st->sys;
  const ga_scheme *s = &st->opts.scheme;
  const ga__state *before = &st->next, *now = &st->now;
  double h = now->scalar[GA__H_OLD], h_prev = before->scalar[GA__H_OLD], t = before->scalar[GA__T],
         t1 = now->scalar[GA__T];
  double D = st->alpha, c = D * (s->alpha_m - 0.5 - 0.5 * D), one = 0.5 * (1.0 + D) * (1.0 + D);
  double d =
      st->opts.mass_alpha == GA_MASS_PREVIOUS ? one : (1.0 - s->alpha_m) * one + 0.5 * s->alpha_m * D * D;
  double w = -2.0 * c * h * h / h_prev, w_prev = 2.0 * c * h * h * h / (h_prev * (h + h_prev));
  if (!(h_prev > 0.0)) return GA_OK;
  ga_status status = add_mass(st, force, w, t, before->q, before->vdot, scratch);
  if (!status) status = add_mass(st, force, -w, t1, now->q, before->vdot, scratch);
  for (int i = 0; i < sys->nv; i++)
    own(st)->factor[i] = -h_prev * before->v[i] + 0.5 * h_prev * h_prev * before->vdot[i];
  ga_group_move(sys->group, own(st)->q_mass, before->q, own(st)->factor);
  if (!status) status = add_mass(st, force, w_prev, t - h_prev, own(st)->q_mass, before->vdot_prev, scratch);
  if (!status) status = add_mass(st, force, -w_prev, t1, now->q, before->vdot_prev, scratch);
  for (int i = 0; i < sys->nv; i++) own(st)->factor[i] = h * h * now->vdot[i];
  without_rotations(st, own(st)->factor);
  ga_group_move(sys->group, own(st)->q_mass, now->q, own(st)->factor);
  if (!status) status = add_mass(st, force, d * h, t1, own(st)->q_mass, now->vdot, scratch);
  return status ? status : add_mass(st, force, -d * h, t1, now->q, now->vdot, scratch);
}

static double mass_factor(const ga_stepper *st)
{
  return 1.0 - st->opts.scheme.alpha_m;
}
static double rate_factor(const ga_stepper *st)
{
  (void)st;
  return 1.0;
}
static double force_factor(const ga_stepper *st)
{
  return (1.0 - st->opts.scheme.alpha_f) * st->opts.scheme.beta;
}
static int position_rows(const ga_stepper *st)
{
  return is_reduced(st) ? -1 : variant_of(st)->two_sets ? st->sys->n : 0;
}

/* Errors of x are not known in this family. */
static ga_status solve_error(ga_stepper *st, double *residual, double *e)
{
  return ga__solve_error_at(st, residual, is_reduced(st) ? 0 : position_rows(st), 0, e);
}

static const ga__family WEIGHTED = {.state_length = state_length,
                                    .create = create,
                                    .destroy = destroy,
                                    .predict = predict,
                                    .trial = trial,
                                    .residual = residual,
                                    .prepare = prepare,
                                    .solve = solve,
                                    .weigh = weigh,
                                    .update = update,
                                    .accept = accept,
                                    .layout = layout,
                                    .row_of = row_of,
                                    .floor = floor_of,
                                    .noise = noise,
                                    .correct_q = correct_q,
                                    .error_force = error_force,
                                    .mass_factor = mass_factor,
                                    .rate_factor = rate_factor,
                                    .force_factor = force_factor,
                                    .position_rows = position_rows,
                                    .solve_error = solve_error};

const ga__method ga__method_weighted = {
    .family = &WEIGHTED, .variant = &(const variant){0, 0}, .keeps_positions = 1, .hht = 1};
const ga__method ga__method_soi2 = {
    .family = &WEIGHTED, .variant = &(const variant){1, 0}, .keeps_positions = 1, .keeps_rates = 1};
const ga__method ga__method_hht_soi2 = {.family = &WEIGHTED,
                                        .variant = &(const variant){1, 1},
                                        .keeps_positions = 1,
                                        .keeps_rates = 1,
                                        .holonomic_only = 1,
                                        .hht = 1};
