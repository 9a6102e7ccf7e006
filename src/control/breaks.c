/* Breaks of blocks in time (corners and jumps) and their periods; the sides of their jumps. */
#include "control/control_impl.h"
#include "control/over_time.h"

#include <math.h>

/* Expression i of a block, whose variable 0 is t; NULL: there is none. */
static const ga_expr *expression(const ga_control_block *b, int i)
{
  return b->kind == GA_KIND_EXPRESSION && i < b->n_out ? b->data.expr[i] : NULL;
}

/* *out := the earlier of both, up to where both have been searched. */
void ga__break_join(ga_break *out, const ga_break *one)
{
  const double clear = fmin(out->clear, one->clear),
               end = fmin(out->clear + out->unresolved, one->clear + one->unresolved);
  if (one->before < out->before) *out = *one;
  out->clear = clear;
  out->unresolved = end - clear;
}

ga_status ga_block_next_break(const ga_control_block *b, double t, double until, ga_break *out)
{
  const ga_expr *e;
  ga_break one;
  if (!b || !out || !(t < until) || !isfinite(t) || !isfinite(until)) return GA_ERR_ARGUMENT;
  if (b->kind == GA_KIND_FUNCTION_OF_TIME) return ga_function_next_break(b->data.function, t, until, out);
  *out = (ga_break){INFINITY, INFINITY, 3, until, 0};
  if (b->kind == GA_KIND_SAMPLED) ga__sampled_next_break(b, t, until, out);
  for (int i = 0; (e = expression(b, i)) != NULL; i++) {
    const ga_status status = ga_expr_next_break(e, 0, t, until, &one);
    if (status) return status;
    ga__break_join(out, &one);
  }
  return GA_OK;
}

double ga_block_period(const ga_control_block *b, double from, double to)
{
  const ga_expr *e;
  double least = INFINITY;
  if (!b || !(from < to)) return least;
  if (b->kind == GA_KIND_FUNCTION_OF_TIME) return ga_function_period(b->data.function, from, to);
  for (int i = 0; (e = expression(b, i)) != NULL; i++) least = fmin(least, ga_expr_period(e, 0, from, to));
  return least;
}

/* [a, b] := [a, b] · [c, d] */
static void multiply(double *a, double *b, double c, double d)
{
  const double p[4] = {*a * c, *a * d, *b * c, *b * d};
  *a = fmin(fmin(p[0], p[1]), fmin(p[2], p[3]));
  *b = fmax(fmax(p[0], p[1]), fmax(p[2], p[3]));
}

static int product_bounds(const ga_control_block *b, const double *lo, const double *hi, double *least,
                          double *most)
{
  *least = *most = b->data.product.gain;
  for (int k = 0; k < b->n_in; k++) {
    const int divides = b->data.product.divide[k];
    if (divides && lo[k] <= 0 && hi[k] >= 0) return 0;
    multiply(least, most, divides ? 1 / hi[k] : lo[k], divides ? 1 / lo[k] : hi[k]);
  }
  return isfinite(*least) && isfinite(*most);
}

int ga_block_bounds(const ga_control_block *b, int i, const double t[2], const double *lo, const double *hi,
                    double *least, double *most)
{
  double from[1 + GA_BLOCK_SIZE], to[1 + GA_BLOCK_SIZE];
  if (!b || i < 0 || i >= b->n_out || !t || !lo || !hi || !least || !most || b->n_x > 0) return 0;
  if (ga__is_wiener(b)) return ga__wiener_bounds(b, i, lo, hi, least, most);
  if (b->kind == GA_KIND_PRODUCT) return product_bounds(b, lo, hi, least, most);
  const ga_expr *e = expression(b, i);
  if (!e) return 0;
  from[0] = t[0], to[0] = t[1];
  for (int k = 0; k < b->n_in; k++) from[1 + k] = lo[k], to[1 + k] = hi[k];
  return ga_expr_bounds(e, from, to, least, most);
}

/* Σ_k (gain Π_{j≠k} u_j) u_k'; where it divides, (1/u)' = −u'/u². */
static int product_rate(const ga_control_block *b, int i, const double *lo, const double *hi,
                        const double *rate_lo, const double *rate_hi, double *least, double *most)
{
  (void)i;
  *least = *most = 0;
  for (int k = 0; k < b->n_in; k++) {
    double part[2] = {b->data.product.gain, b->data.product.gain};
    for (int j = 0; j < b->n_in; j++) {
      const int divides = b->data.product.divide[j];
      if (divides && lo[j] <= 0 && hi[j] >= 0) return 0;
      const double low = divides ? 1 / hi[j] : lo[j], high = divides ? 1 / lo[j] : hi[j];
      if (j != k || divides) multiply(&part[0], &part[1], low, high);
      if (j == k && divides) multiply(&part[0], &part[1], -high, -low);
      if (j == k) multiply(&part[0], &part[1], rate_lo[j], rate_hi[j]);
    }
    *least += part[0];
    *most += part[1];
  }
  return isfinite(*least) && isfinite(*most);
}

int ga__block_rate(const ga_control_block *b, int i, const double *lo, const double *hi,
                   const double *rate_lo, const double *rate_hi, double range[2], double rate[2])
{
  const ga_expr *e = expression(b, i);
  if (e) return ga__expr_rate(e, lo, hi, rate_lo, rate_hi, range, rate);
  if (!ga_block_bounds(b, i, lo, lo + 1, hi + 1, &range[0], &range[1])) return 0;
  return 1 + (b->kind == GA_KIND_PRODUCT ? product_rate : ga__wiener_rate)(b, i, lo + 1, hi + 1, rate_lo + 1,
                                                                           rate_hi + 1, &rate[0], &rate[1]);
}

/* ---- Sides of jumps and corners ---- */

ga_status ga_block_side(const ga_control_block *b, double t, const double *u, const double *x, unsigned *side)
{
  const ga_expr *e;
  double v[1 + GA_BLOCK_SIZE];
  if (!b || !side || (b->n_in > 0 && !u) || (b->n_x > 0 && !x)) return GA_ERR_ARGUMENT;
  if (ga__is_wiener(b)) return ga__wiener_side(b, u, x, side);
  if (b->kind == GA_KIND_TABLE2D) return ga_table2d_side(b->data.table2d, u[0], u[1], side);
  ga_status status = GA_OK;
  v[0] = t;
  for (int i = 0; i < b->n_in; i++) v[1 + i] = u[i];
  for (int i = 0; !status && (e = expression(b, i)) != NULL; i++) status = ga_expr_side(e, v, side);
  return status;
}

int ga_block_has_edges(const ga_control_block *b)
{
  const ga_expr *e;
  int edges = b && (b->kind == GA_KIND_TABLE2D || (ga__is_wiener(b) && ga__wiener_has_edges(b)));
  for (int i = 0; b && (e = expression(b, i)) != NULL; i++) edges |= ga_expr_has_edges(e, 0);
  return edges;
}
