/* The index-2 form of exact equilibrium: of the holonomic constraints their rates are kept,
 *
 *   M(q₁) vdot₁ = f(t₁, q₁, v₁, λ₁, ...)      B(q₁) v₁ + Φ_t(t₁, q₁) = 0      k(t₁, q₁, v₁) = 0
 *
 * with the update of Arnold & Brüls (2007). Positions drift off Φ = 0 by O(h²) with time; v has
 * no part normal to the constraints, and λ is of order 2 without a perturbed start. The unknowns are those of
 * the other forms of exact equilibrium, and so are most functions. */
#include "core/stepper.h"

/* The scaled matrix, unknowns (u, hλ, hψ, x₁, h y), residuals (h(M vdot₁−f), B v₁+Φ_t, k, h(xdot₁−s),
 * h(y−o)):
 *
 *   dyn, x, y   D + h² Q T A      columns x: h D; + d₁ I (x,x), + I (y,y)
 *   B v + Φ_t   c₂ B + h G T A
 *   k           D/h + h Q T A */
enum { ONE = GA__EXACT_ONE, H = GA__EXACT_H, INV_H = GA__EXACT_INV_H, C2 = GA__EXACT_C2, H2 = GA__EXACT_H2 };
#define V (1u << GA_BLOCK_V)
#define X (1u << GA_BLOCK_X)
#define NOT_X (V | 1u << GA_BLOCK_LAMBDA | 1u << GA_BLOCK_PSI | 1u << GA_BLOCK_Y)
static const ga__rule RULES[] = {
    {GA_BLOCK_V, NOT_X, GA__FROM_D, 0, 0, 0, ONE, 0}, {GA_BLOCK_V, X, GA__FROM_D, 0, 0, 0, H, 0},
    {GA_BLOCK_V, V, GA__FROM_Q, 1, 0, 0, H2, 0},      {GA_BLOCK_LAMBDA, V, GA__FROM_Q, 0, 0, 0, C2, 0},
    {GA_BLOCK_LAMBDA, V, GA__FROM_G, 1, 0, 0, H, 0},  {GA_BLOCK_PSI, V, GA__FROM_D, 0, 0, 0, INV_H, 0},
    {GA_BLOCK_PSI, V, GA__FROM_Q, 1, 0, 0, H, 0},     {GA_BLOCK_X, NOT_X, GA__FROM_D, 0, 0, 0, ONE, 0},
    {GA_BLOCK_X, X, GA__FROM_D, 0, 0, 0, H, 0},       {GA_BLOCK_X, V, GA__FROM_Q, 1, 0, 0, H2, 0},
    {GA_BLOCK_Y, NOT_X, GA__FROM_D, 0, 0, 0, ONE, 0}, {GA_BLOCK_Y, X, GA__FROM_D, 0, 0, 0, H, 0},
    {GA_BLOCK_Y, V, GA__FROM_Q, 1, 0, 0, H2, 0},
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

static ga_status residual(ga_stepper *st, ga__scratch scratch)
{
  const ga_system *sys = st->sys;
  const int *size = sys->size, *start = sys->start;
  const double h = st->h;
  double *r = st->r, *x = r + start[GA_BLOCK_X], *y = r + start[GA_BLOCK_Y],
         *rate = ga__take(&scratch, size[GA_BLOCK_LAMBDA]);
  const ga_status status = ga__exact_evaluate(st, WANTED, rate, scratch);
  if (status) return status;
  for (int i = 0; i < sys->nv; i++) r[i] *= -h;
  for (int i = 0; i < size[GA_BLOCK_LAMBDA]; i++) r[start[GA_BLOCK_LAMBDA] + i] = -rate[i];
  for (int i = 0; i < size[GA_BLOCK_PSI]; i++) r[start[GA_BLOCK_PSI] + i] *= -1.0;
  for (int i = 0; i < size[GA_BLOCK_X]; i++) x[i] = -h * (st->next.xdot[i] + x[i]);
  for (int i = 0; i < size[GA_BLOCK_Y]; i++) y[i] = -h * (st->next.y[i] + y[i]);
  return GA_OK;
}

static ga_status prepare(ga_stepper *st)
{
  return ga__exact_assemble(st, WANTED);
}

/* Rounding of B v + Φ_t where the other forms have that of Φ/h. */
static void noise(const ga_stepper *st, const double *terms, double *out)
{
  const ga_system *sys = st->sys;
  ga__exact_noise(st, terms, out);
  for (int i = 0; i < sys->size[GA_BLOCK_LAMBDA]; i++)
    out[sys->start[GA_BLOCK_LAMBDA] + i] = ga__rounding_of_rate(sys) * st->size_v;
}

/* Positions between the ends of a step are off Φ = 0 as at the ends: that is no error of the step. */
static ga_status solve_error(ga_stepper *st, double *residual, double *e)
{
  const ga_system *sys = st->sys;
  for (int i = 0; i < sys->size[GA_BLOCK_LAMBDA]; i++) residual[sys->start[GA_BLOCK_LAMBDA] + i] = 0.0;
  return ga__solve_error_at(st, residual, 0, 1, e);
}

static const ga__family INDEX2 = {.predict = ga__exact_predict,
                                  .trial = ga__exact_trial,
                                  .residual = residual,
                                  .prepare = prepare,
                                  .solve = ga__exact_solve,
                                  .weigh = ga__exact_weigh,
                                  .update = ga__exact_update,
                                  .layout = layout,
                                  .row_of = ga__exact_row_of,
                                  .floor = ga__exact_floor,
                                  .noise = noise,
                                  .mass_factor = ga__exact_mass_factor,
                                  .rate_factor = ga__exact_rate_factor,
                                  .force_factor = ga__exact_force_factor,
                                  .position_rows = ga__exact_position_rows,
                                  .solve_error = solve_error};

const ga__method ga__method_index2 = {
    .family = &INDEX2, .keeps_rates = 1, .vdot_at_end = 1, .adjusts_gamma = 1};
