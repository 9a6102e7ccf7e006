/* Derivatives of the equations by a parameter at a fixed state: exact ones by a callback, or differences of
 * the systems at four values of the parameter. */
#include "core/sensitivity.h"

#include <float.h>
#include <math.h>

/* Weights of f(−2δ), f(−δ), f(δ), f(2δ) over 12 δ, an error of order 4. */
static const double WEIGHT[GA__N_AT] = {1.0, -8.0, 8.0, -1.0};
/* First and second differences over δ and over 2δ differ by terms of order δ². Where they differ by more than
 * this part of both, there is a corner or a jump between the values, or δ is too large. */
#define MOST_BEND 0.05
/* Estimated errors below this are not examined further. */
#define SURE 1e-10
/* Rounding of a residual, and of a start, whose accelerations are differences along the motion in part. */
#define ROUNDING 1e-14
#define ROUNDING_OF_START 1e-11
/* [-] Roundings of the times of breaks, which lie a few before what jumps. */
#define TIME_MARGIN 32.0

/* Differences of one kind of numbers over δ and 2δ, each of first and of second order, in the same unit. */
typedef struct bend {
  double change, off; /* the largest of them, and of their disagreement */
} bend;

static void add_differences(bend *b, double odd, double odd_2, double even, double even_2)
{
  b->change = fmax(b->change, fmax(fmax(fabs(odd), fabs(odd_2)), fmax(fabs(even), fabs(even_2))));
  b->off = fmax(b->off, fmax(fabs(odd - odd_2), fabs(even - even_2)));
  if (!isfinite(odd + odd_2 + even + even_2)) b->off = HUGE_VAL;
}

/* noise: of the values differenced. *doubt: the error of the fourth-order difference is estimated by the
 * square of the relative disagreement of those of second order: δ⁴ f⁗'/30 where these differ by δ² f'''/2. */
static int is_smooth(const bend *b, double noise, double step, double *doubt)
{
  const double part = b->change > 0.0 ? fmax(b->off - 8.0 * noise / step, 0.0) / b->change : 0.0;
  *doubt = fmax(*doubt, part * part * (4.0 / 30.0));
  return b->off <= MOST_BEND * b->change + 8.0 * noise / step;
}

int ga__four_point(double *out, const double *const value[GA__N_AT], const double *middle, int n, double step,
                   double *doubt)
{
  bend b = {0.0, 0.0};
  double size = 1.0;
  for (int i = 0; i < n; i++) {
    const double f[] = {value[0][i], value[1][i], value[2][i], value[3][i]}, f0 = middle ? middle[i] : 0.0;
    const double odd = (f[2] - f[1]) / (2.0 * step), odd_2 = (f[3] - f[0]) / (4.0 * step);
    add_differences(&b, odd, odd_2, (f[2] - f0 + (f[1] - f0)) / step,
                    (f[3] - f0 + (f[0] - f0)) / (4.0 * step));
    out[i] = (4.0 * odd - odd_2) / 3.0;
    size = fmax(size, fabs(f0));
  }
  return is_smooth(&b, ROUNDING_OF_START * size, step, doubt);
}

static ga_status fail_parameter(ga_sensitivity *se, int j)
{
  return ga__refuse_parameter(se, j, "the equations have a corner or a jump within twice its step",
                              "give a smaller step, or another value of the parameter");
}

/* All equations of a variant into value[n + n_lambda]. */
static ga_status evaluate(ga_sensitivity *se, ga__variant *at, const ga_point *p, int rates)
{
  const ga_system *sys = at->sys;
  double *rate = rates ? se->value + sys->n : NULL;
  if (sys->def.sweep) return ga__sweep(sys, p, se->value, rate, NULL, se->room);
  const ga_status status = ga__residual(sys, p, se->value, se->room);
  return !status && rate ? ga__phi_dot(&at->deriv, p, rate) : status;
}

/* Sums of the values that belong together. */
static void collect(ga_sensitivity *se, int k, int n)
{
  const int outer = k == 0 || k == GA__N_AT - 1;
  double *odd = outer ? se->outer : se->inner, *even = outer ? se->outer_even : se->inner_even;
  const double by = k < GA__N_AT / 2 ? -1.0 : 1.0;
  for (int i = 0; i < n; i++) {
    odd[i] += by * se->value[i];
    even[i] += se->value[i] - se->middle[i];
  }
}

/* Kinds of equations are judged on their own: their units differ. size: of the terms of each. */
static int are_smooth(const ga_sensitivity *se, int j, const double *size, int rates, double *doubt)
{
  const ga_system *sys = se->st->sys;
  const double step = se->parameter[j].given.step, inv = 1.0 / step;
  for (int k = 0; k < GA_N_BLOCKS + rates; k++) {
    bend b = {0.0, 0.0};
    const int first = k < GA_N_BLOCKS ? sys->start[k] : sys->n,
              n = k < GA_N_BLOCKS ? sys->size[k] : sys->size[GA_BLOCK_LAMBDA];
    for (int i = first; i < first + n; i++)
      add_differences(&b, 0.5 * inv * se->inner[i], 0.25 * inv * se->outer[i], inv * se->inner_even[i],
                      0.25 * inv * se->outer_even[i]);
    if (!is_smooth(&b, ROUNDING * size[k], step, doubt)) return 0;
  }
  return 1;
}

/* Whether anything is evaluated at another time. */
static int is_later(const double *later)
{
  int yes = 0;
  for (int k = 0; later && k < GA__N_AT; k++) yes |= later[k] != 0.0;
  return yes;
}

/* The equations at value k, and where: they do not depend on the parameter if it has no systems, but on time.
 */
ga__variant *ga__variant_at(ga_sensitivity *se, int j, int k, const ga_point *p, const double *later,
                            ga_point *at)
{
  *at = *p;
  if (later) at->t += later[k];
  if (se->parameter[j].at[k].sys) return &se->parameter[j].at[k];
  se->own = (ga__variant){se->st->sys, se->st->deriv};
  return &se->own;
}

/* size[GA_N_BLOCKS + 1] := that of terms which cancel in the values: by how much these change with the
 * rounding of the state, and of the time of a break. In equilibrium forces are much larger than their sum. */
static ga_status measure_terms(ga_sensitivity *se, int j, const ga_point *p, const double *later, int rates,
                               double *size)
{
  enum { PATTERNS = 3 };
  static const unsigned PATTERN[PATTERNS] = {0x5a5a5a5au, 0x33cc33ccu, 0xe187781eu};
  const ga_system *sys = se->st->sys;
  const int nl = sys->size[GA_BLOCK_LAMBDA], n = sys->n + (rates ? nl : 0);
  ga_point moved;
  ga__variant *at = ga__variant_at(se, j, 1, p, later, &moved);
  ga_status status = evaluate(se, at, &moved, rates);
  ga__copy_numbers(se->kept, se->value, n);
  for (int k = 0; !status && k < PATTERNS; k++) {
    ga__moved_point_set(sys, &moved, PATTERN[k], &se->moved);
    status = evaluate(se, at, &se->moved.p, rates);
    for (int i = 0; !status && i < n; i++) {
      const double by = fabs(se->value[i] - se->kept[i]) / DBL_EPSILON;
      int index;
      const int b = i < sys->n ? (int)ga__block_of(sys, i, &index) : GA_N_BLOCKS;
      size[b] = fmax(size[b], by);
    }
  }
  if (status || !is_later(later)) return status;
  moved.t -= TIME_MARGIN * DBL_EPSILON * fabs(moved.t);
  status = evaluate(se, at, &moved, rates);
  for (int i = 0; !status && i < n; i++) {
    int index;
    const int b = i < sys->n ? (int)ga__block_of(sys, i, &index) : GA_N_BLOCKS;
    size[b] = fmax(size[b], fabs(se->value[i] - se->kept[i]) / ROUNDING);
  }
  return status;
}

static void measure_values(const ga_sensitivity *se, int rates, double *size)
{
  const ga_system *sys = se->st->sys;
  for (int b = 0; b < GA_N_BLOCKS; b++)
    size[b] = fmax(size[b], ga__max_abs(se->value + sys->start[b], sys->size[b], NULL));
  if (!sys->def.sweep) size[GA_BLOCK_V] = fmax(size[GA_BLOCK_V], ga__max_abs(se->room, sys->nv, NULL));
  if (rates)
    size[GA_N_BLOCKS] =
        fmax(size[GA_N_BLOCKS], ga__max_abs(se->value + sys->n, sys->size[GA_BLOCK_LAMBDA], NULL));
}

/* -- Parameters that enter the equations at a fixed state as polynomials of degree 2 at the most, as masses,
 * stiffnesses and most lengths do: the difference between values at ±2δ is their derivative but for rounding.
 * The value at δ shows it in every step. Where the second difference has been rounding in a few steps, it is
 * enough that it still is; every EVERY-th step looks again. -- */

enum { STEPS_TO_TRUST = 3, EVERY = 16 };
#define ROUNDED 1e-11 /* [-] differences of higher order that are rounding, over first ones */
#define MARGIN 16.0   /* [-] rounding of sums of four values, over that of one */

static int is_rounding(const ga_sensitivity *se, int i, double off)
{
  return fabs(off) <= ROUNDED * fabs(se->outer[i]) + MARGIN * se->noise[i];
}

/* By the values at ±2δ. */
static int is_linear(const ga_sensitivity *se, int n)
{
  for (int i = 0; i < n; i++)
    if (!is_rounding(se, i, se->outer_even[i])) return 0;
  return 1;
}

/* And by that at δ: f(δ) − f = (f(2δ) − f(−2δ))/4 + (f(2δ) + f(−2δ) − 2f)/8 for all of degree 2. */
static int is_quadratic(const ga_sensitivity *se, int n)
{
  for (int i = 0; i < n; i++)
    if (!is_rounding(se, i, se->inner_even[i] - 0.25 * se->outer[i] - 0.125 * se->outer_even[i])) return 0;
  return 1;
}

/* Adds value k to the sums. */
static ga_status add_value(ga_sensitivity *se, int j, int k, const ga_point *p, const double *later)
{
  const int rates = ga__n_rates(se->st) > 0;
  ga_point at;
  ga__variant *variant = ga__variant_at(se, j, k, p, later, &at);
  if (se->middle != se->base) variant = &se->parameter[j].part[k];
  const ga_status status = evaluate(se, variant, &at, rates);
  if (status) return status;
  collect(se, k, se->st->sys->n + ga__n_rates(se->st));
  return GA_OK;
}

/* Values at ±2δ and, where they are needed, at δ and −δ. *plain 1: those at ±2δ give the derivative;
 * otherwise size receives that of terms. */
static ga_status add_values(ga_sensitivity *se, int j, const ga_point *p, const double *later, double *size,
                            int *plain)
{
  ga__parameter *par = &se->parameter[j];
  const int n = se->st->sys->n + ga__n_rates(se->st), same_time = !is_later(later);
  ga_status status = add_value(se, j, 0, p, later);
  if (!status) status = add_value(se, j, GA__N_AT - 1, p, later);
  if (status) return status;
  const int linear = same_time && is_linear(se, n);
  *plain = linear && par->linear >= STEPS_TO_TRUST && se->n_base % EVERY != 0;
  if (*plain) return GA_OK;
  status = add_value(se, j, 2, p, later);
  *plain = !status && same_time && is_quadratic(se, n);
  par->linear = *plain && linear ? par->linear + 1 : 0;
  if (status || *plain) return status;
  status = add_value(se, j, 1, p, later);
  if (!status) measure_values(se, ga__n_rates(se->st) > 0, size);
  return status;
}

/* se->middle := the values that others are compared with: of all terms, or of those alone that depend on the
 * parameter, whose differences are the same. At another time all terms change. */
static ga_status find_middle(ga_sensitivity *se, int j, const ga_point *p, const double *later)
{
  ga__variant *part = &se->parameter[j].part[GA__N_AT];
  se->middle = se->base;
  if (!part->sys || is_later(later)) return GA_OK;
  const ga_status status = evaluate(se, part, p, ga__n_rates(se->st) > 0);
  ga__copy_numbers(se->kept, se->value, se->st->sys->n + ga__n_rates(se->st));
  se->middle = se->kept;
  return status;
}

/* Where Φ or its rate depends on the parameter, B is taken to depend on it too. */
static void notice_b(ga_sensitivity *se, ga__parameter *par, const double *difference)
{
  const ga_system *sys = se->st->sys;
  const int rates = ga__n_rates(se->st) > 0;
  for (int i = 0; i < sys->size[GA_BLOCK_LAMBDA] && !par->moves_b; i++)
    par->moves_b =
        difference[sys->start[GA_BLOCK_LAMBDA] + i] != 0.0 || (rates && difference[sys->n + i] != 0.0);
}

static ga_status residual_by_differences(ga_sensitivity *se, int j, const ga_point *p, const double *later,
                                         double *g)
{
  ga__parameter *par = &se->parameter[j];
  const int rates = ga__n_rates(se->st) > 0, n = se->st->sys->n + ga__n_rates(se->st);
  const double inv = 1.0 / par->given.step;
  double size[GA_N_BLOCKS + 1] = {0};
  for (int i = 0; i < n; i++) se->inner[i] = se->outer[i] = se->inner_even[i] = se->outer_even[i] = 0.0;
  ga_status status = find_middle(se, j, p, later);
  if (!status) status = add_values(se, j, p, later, size, &par->plain);
  if (status) return status;
  notice_b(se, par, se->outer);
  if (par->plain) {
    for (int i = 0; i < n; i++) g[i] += 0.25 * inv * se->outer[i];
    return GA_OK;
  }
  for (int i = 0; i < n; i++) g[i] += (8.0 * se->inner[i] - se->outer[i]) * inv / 12.0;
  double doubt = 0.0;
  int smooth = are_smooth(se, j, size, rates, &doubt);
  if (!smooth || doubt > SURE) {
    if ((status = measure_terms(se, j, p, later, rates, size)) != GA_OK) return status;
    doubt = 0.0;
    smooth = are_smooth(se, j, size, rates, &doubt);
  }
  if (!smooth) return fail_parameter(se, j);
  par->doubt = fmax(par->doubt, doubt);
  return GA_OK;
}

/* By how much values change with the rounding of the state. */
static ga_status measure_noise(ga_sensitivity *se, ga__variant *own, const ga_point *p)
{
  enum { PATTERNS = 3 };
  static const unsigned PATTERN[PATTERNS] = {0x5a5a5a5au, 0x33cc33ccu, 0xe187781eu};
  const int rates = ga__n_rates(se->st) > 0, n = se->st->sys->n + ga__n_rates(se->st);
  ga_status status = GA_OK;
  for (int i = 0; i < n; i++) se->noise[i] *= 0.5;
  for (int k = 0; k < PATTERNS && !status; k++) {
    ga__moved_point_set(se->st->sys, p, PATTERN[k], &se->moved);
    status = evaluate(se, own, &se->moved.p, rates);
    for (int i = 0; i < n && !status; i++)
      se->noise[i] = fmax(se->noise[i], fabs(se->value[i] - se->base[i]));
  }
  return status;
}

void ga__parameters_forget(ga_sensitivity *se)
{
  for (int j = 0; j < se->n; j++) se->parameter[j].linear = se->parameter[j].plain = 0;
  for (int i = 0; i < se->st->sys->n + ga__n_rates(se->st); i++) se->noise[i] = 0.0;
  se->n_base = 0;
}

ga_status ga__parameter_base(ga_sensitivity *se, const ga_point *p)
{
  const ga_system *sys = se->st->sys;
  const int rates = ga__n_rates(se->st) > 0, n = sys->n + ga__n_rates(se->st);
  ga__variant own = {sys, se->st->deriv};
  const ga_status status = evaluate(se, &own, p, rates);
  ga__copy_numbers(se->base, se->value, n);
  return status || ++se->n_base % EVERY != 1 ? status : measure_noise(se, &own, p);
}

static ga_status by_callback(ga_sensitivity *se, int j, const ga_point *p, ga_parameter_rates *out)
{
  const ga_parameter *given = &se->parameter[j].given;
  const ga_status before = ga__begin_callback(se->ctx);
  const int code = given->derivative(given->user, p, j, out);
  return ga__end_callback(se->st->sys, "derivative", -1, p->t, code, before);
}

static ga_status check_rates(ga_sensitivity *se, const double *value, int n, double t)
{
  const int bad = ga__first_bad(value, n);
  if (bad < 0) return GA_OK;
  return ga__refuse(se->ctx, GA_ERR_NAN, GA_REASON_CALLBACK_NOT_FINITE,
                    &(ga__facts){.at = &(ga__fact_time){t, NAN, -1, -1},
                                 .callback = "derivative",
                                 GA__NUMBERS({value[bad], NULL})});
}

ga_status ga__parameter_residual(ga_sensitivity *se, int j, const ga_point *p, const double *later, double *g)
{
  const ga_system *sys = se->st->sys;
  const int rates = ga__n_rates(se->st) > 0, n = sys->n + ga__n_rates(se->st);
  /* Near a break another time is on its other side: there the systems have to say what a callback cannot. */
  if (is_later(later) || (!se->parameter[j].given.derivative && se->parameter[j].at[0].sys))
    return residual_by_differences(se, j, p, later, g);
  if (!se->parameter[j].given.derivative) return GA_OK;
  for (int i = 0; i < n; i++) se->value[i] = 0.0;
  ga_parameter_rates out = {se->value, rates ? se->value + sys->n : NULL, NULL, NULL};
  ga_status status = by_callback(se, j, p, &out);
  if (!status) status = check_rates(se, se->value, n, p->t);
  for (int i = 0; !status && i < n; i++) g[i] += se->value[i];
  return status;
}

/* B of a variant into its entries of se->other. */
static ga_status evaluate_b(ga_sensitivity *se, ga__variant *at, const ga_point *p)
{
  ga_jacobian J = {GA_WANT_B, 0.0, 0.0, se->spare, se->other, se->spare};
  return ga__jacobian(&at->deriv, p, &J);
}

ga_status ga__parameter_moves_b(ga_sensitivity *se, int j, const ga_point *p, int *moves)
{
  const ga_system *sys = se->st->sys;
  ga__parameter *par = &se->parameter[j];
  ga_status status = GA_OK;
  *moves = par->given.derivative != NULL;
  if (!par->at[0].sys || *moves) return GA_OK;
  for (int k = 0; k < GA__N_AT && !status; k++) {
    if ((status = evaluate_b(se, &par->at[k], p))) return status;
    for (int i = 0; i < sys->n_b; i++) {
      const double b = se->other[sys->b_entry[i]];
      if (k > 0 && b != se->step.B_n[i]) *moves = 1;
      se->step.B_n[i] = b;
    }
  }
  return status;
}

ga_status ga__parameter_b(ga_sensitivity *se, int j, const ga_point *p, const double *later, double *dB)
{
  const ga_system *sys = se->st->sys;
  ga__parameter *par = &se->parameter[j];
  const double by = 1.0 / (12.0 * par->given.step);
  for (int k = 0; k < GA__N_AT; k++) {
    ga_point at;
    ga__variant *variant = ga__variant_at(se, j, k, p, later, &at);
    const ga_status status = evaluate_b(se, variant, &at);
    if (status) return status;
    for (int i = 0; i < sys->n_b; i++) dB[i] += by * WEIGHT[k] * se->other[sys->b_entry[i]];
  }
  return GA_OK;
}

ga_status ga__parameter_reaction(ga_sensitivity *se, int j, const ga_point *p, const double *later,
                                 const double *eta, double *force)
{
  const ga_system *sys = se->st->sys;
  ga__parameter *par = &se->parameter[j];
  ga_status status = GA_OK;
  if (par->given.derivative && !is_later(later)) {
    for (int i = 0; i < sys->nv; i++) se->one[i] = 0.0;
    ga_parameter_rates out = {NULL, NULL, eta, se->one};
    status = by_callback(se, j, p, &out);
    if (!status) status = check_rates(se, se->one, sys->nv, p->t);
    for (int i = 0; !status && i < sys->nv; i++) force[i] += se->one[i];
    return status;
  }
  if (!is_later(later) && (!par->at[0].sys || !par->moves_b)) return GA_OK;
  const int two = par->plain && !is_later(later);
  const double by = (two ? 0.25 : 1.0 / 12.0) / par->given.step;
  for (int k = 0; k < GA__N_AT; k += two ? GA__N_AT - 1 : 1) {
    const double weight = !two ? WEIGHT[k] : k == 0 ? -1.0 : 1.0;
    ga_point at;
    ga__variant *variant = ga__variant_at(se, j, k, p, later, &at);
    if ((status = evaluate_b(se, variant, &at))) return status;
    for (int i = 0; i < sys->n_b; i++)
      force[sys->b_col[i]] += by * weight * se->other[sys->b_entry[i]] * eta[sys->b_row[i]];
  }
  return GA_OK;
}
