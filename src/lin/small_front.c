/* Elimination and solution in small fronts: bodies with their joints. They are stored by columns (fronts.h),
 * so that a column of L times a number is subtracted from another column or from a right-hand side by
 * vectors, and their sizes are compile-time constants where they are those of bodies and joints.
 *
 *   pivots' columns, from the left: column j := column j − Σ_k<j L_k u_kj, pivot, column j := column j /
 * pivot other columns:                  the same with all pivots; their upper part is U12
 *
 * The division changes U11 too, which solutions take as it is: U11 = (U11 D⁻¹) D. */
#include "lin/columns.h"
#include "lin/fronts.h"
#include <math.h>
#include <stdint.h>

/* Numbers of pivots with kernels of their own: velocities of bodies, constraints of joints. */
#define BY_SIZE(size, DO)                                                                                    \
  switch (size) {                                                                                            \
  case 1:                                                                                                    \
    DO(1);                                                                                                   \
    break;                                                                                                   \
  case 2:                                                                                                    \
    DO(2);                                                                                                   \
    break;                                                                                                   \
  case 3:                                                                                                    \
    DO(3);                                                                                                   \
    break;                                                                                                   \
  case 4:                                                                                                    \
    DO(4);                                                                                                   \
    break;                                                                                                   \
  case 5:                                                                                                    \
    DO(5);                                                                                                   \
    break;                                                                                                   \
  case 6:                                                                                                    \
    DO(6);                                                                                                   \
    break;                                                                                                   \
  default:                                                                                                   \
    DO(0);                                                                                                   \
  }
enum { FIXED_MOST = 6 };

GA__INLINE ga__quad all_of(double x)
{
  return (ga__quad){x, x, x, x};
}

/* ---- Fixed sizes: t[] and u[] are in registers ---- */

/* u_k = t_k of the upper part, k < n; L11 u is subtracted from t. */
GA__INLINE void eliminate_top(ga__quad t[2], ga__quad *u, const double *L, int W, const int n, const int own)
{
  GA__UNROLLED
  for (int k = 0; k < n; k++) {
    u[k] = ga__quad_lane(t[k / 4], k % 4);
    if (k % 4 < 3) t[k / 4] -= ga__quad_masked(L + k * W + k / 4 * 4, GA__BEHIND[k % 4]) * u[k];
    if (k < 4 && own > 4) t[1] -= ga__quad_load(L + k * W + 4) * u[k];
  }
}

/* c := c − Σ L_k u_k in the lower part. */
GA__INLINE void eliminate_down(double *c, const double *end, const ga__quad *u, const double *L, int W,
                               const int n)
{
  for (; c < end; c += 4, L += 4) {
    ga__quad v = ga__quad_load(c);
    GA__UNROLLED
    for (int k = 0; k < n; k++) v -= ga__quad_load(L + k * W) * u[k];
    *(ga__quad *)c = v;
  }
}

GA__INLINE void eliminate_fixed(double *c, double *top, const double *L, int W, const int n, const int own)
{
  ga__quad t[2] = {ga__quad_load(c), {0, 0, 0, 0}}, u[FIXED_MOST];
  if (own > 4) t[1] = ga__quad_load(c + 4);
  eliminate_top(t, u, L, W, n, own);
  *(ga__quad *)top = t[0];
  if (own > 4) *(ga__quad *)(top + 4) = t[1];
  if (n > 0) eliminate_down(c + own, c + W, u, L + own, W, n);
}

/* ---- Elimination ---- */

/* Brings the largest weighted entry of column j, rows j to s − 1, to row j of all columns. */
GA__INLINE void bring_pivot(const ga__front *f, double *P, double *B, int j, const int s, double *weight,
                            int *taken)
{
  const int W = f->width;
  const double *c = P + j * W;
  double most = fabs(c[j]) * weight[j];
  int best = j;
  for (int i = j + 1; i < s; i++) {
    const double size = fabs(c[i]) * weight[i];
    if (size > most) most = size, best = i;
  }
  if (best == j) return;
  const double w = weight[j];
  const int t = taken[j];
  weight[j] = weight[best], weight[best] = w;
  taken[j] = taken[best], taken[best] = t;
  for (int k = 0; k < s + f->below; k++) {
    double *column = k < s ? P + k * W : B + (k - s) * W;
    const double a = column[j];
    column[j] = column[best];
    column[best] = a;
  }
}

/* What is judged of a front: the largest scaled entry of L21 and pivot, and 0, or NaN if one of them is. */
typedef struct verdict {
  ga__quad most, bad;
  double pivot, bad_pivot;
} verdict;

/* Pivot of column j and its division. The scale of a pivot's row is a power of two: it may as well be
 * multiplied with the largest entry. */
GA__INLINE void finish_column(const ga__front *f, double *P, double *B, int j, const int s, const int own,
                              const ga__front_scale *scale, int *taken, double *inverse, double *pivot,
                              verdict *out)
{
  const ga__quad_mask sign = {INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX};
  double *c = P + j * f->width;
  bring_pivot(f, P, B, j, s, scale->row, taken);
  const double p = pivot[j] = c[j] * scale->row[j] * scale->C[j];
  const ga__quad one = {1, 1, 1, 1}, over = one / ga__quad_lane(ga__quad_load(c + j / 4 * 4), j % 4);
  ga__quad most = {0, 0, 0, 0}, bad = out->bad;
  inverse[j] = over[0];
  out->pivot = fabs(p) > out->pivot ? fabs(p) : out->pivot;
  out->bad_pivot += p * 0.0;
  GA__UNROLLED
  for (int r = 0; r < own; r += 4) *(ga__quad *)(c + r) *= over;
  const double *R = scale->below;
  for (double *l = c + own, *end = c + f->width; l < end; l += 4, R += 4) {
    const ga__quad v = ga__quad_load(l) * over;
    *(ga__quad *)l = v;
    most = ga__quad_larger((ga__quad)((ga__quad_mask)v & sign) * ga__quad_load(R), most);
    bad += v * 0.0;
  }
  out->most = ga__quad_larger(most * scale->over[taken[j]], out->most);
  out->bad = bad;
}

/* s: number of pivots, a constant; 0: any. */
GA__INLINE double eliminate(const ga__front *f, double *P, double *B, const ga__front_scale *scale,
                            int *taken, double *inverse, double *pivot, const int s)
{
  const int W = f->width, size = s ? s : f->size, own = s ? (s + 3) / 4 * 4 : f->own;
  verdict v = {{0, 0, 0, 0}, {0, 0, 0, 0}, 0, 0};
  double *U = P + size * W;
  if (s) {
    GA__UNROLLED
    for (int j = 0; j < s; j++) {
      eliminate_fixed(P + j * W, P + j * W, P, W, j, own);
      finish_column(f, P, B, j, s, own, scale, taken, inverse, pivot, &v);
    }
  }
  for (int j = 0; !s && j < size; j++) {
    ga__eliminate_columns(P + j * W, P, W, j);
    finish_column(f, P, B, j, size, own, scale, taken, inverse, pivot, &v);
  }
  for (int i = 0; i < f->below; i++, U += size) { /* padding is overwritten by the next column */
    double *c = B + i * W;
    if (s) {
      eliminate_fixed(c, U, P, W, s, own);
      continue;
    }
    ga__eliminate_columns(c, P, W, size);
    for (int q = 0; q < own; q += 4) *(ga__quad *)(U + q) = ga__quad_load(c + q);
  }
  const double low = v.most[0] > v.most[1] ? v.most[0] : v.most[1],
               high = v.most[2] > v.most[3] ? v.most[2] : v.most[3], most = low > high ? low : high;
  return (most > v.pivot ? most : v.pivot) + (v.bad[0] + v.bad[1] + v.bad[2] + v.bad[3] + v.bad_pivot);
}

GA__WIDE static double eliminate_by_size(const ga__front *f, double *P, double *B,
                                         const ga__front_scale *scale, int *taken, double *inverse,
                                         double *pivot)
{
  double growth;
#define DO(S) growth = eliminate(f, P, B, scale, taken, inverse, pivot, S)
  BY_SIZE(f->size, DO)
#undef DO
  return growth;
}

double ga__small_front_eliminate(const ga__front *f, double *P, double *B, const ga__front_scale *scale,
                                 int *taken, double *inverse, double *pivot)
{
  return eliminate_by_size(f, P, B, scale, taken, inverse, pivot);
}

/* ---- Solving ---- */

/* A quad of which the first n are stored. */
GA__INLINE void store_part(double *to, ga__quad v, int n)
{
  if (n >= 4) {
    *(ga__quad *)to = v;
    return;
  }
  if (n == 1) to[0] = v[0];
  if (n >= 2) *(ga__duo *)to = (ga__duo){v[0], v[1]};
  if (n == 3) to[2] = v[2];
}

GA__INLINE ga__quad gather(const double *x, const int *at)
{
  return (ga__quad){x[at[0]], x[at[1]], x[at[2]], x[at[3]]};
}

/* x[below] −= L21 u */
GA__INLINE void subtract_below(double *x, const int *index, int contiguous, int below, const ga__quad *u,
                               const double *L, int W, const int s)
{
  for (int i = 0; i < below; i += 4, L += 4) {
    double *at = x + index[i];
    ga__quad v = contiguous ? ga__quad_load(at) : gather(x, index + i);
    GA__UNROLLED
    for (int k = 0; k < s; k++) v -= ga__quad_load(L + k * W) * u[k];
    if (contiguous) {
      store_part(at, v, below - i);
    } else {
      GA__UNROLLED
      for (int k = 0; k < 4; k++) x[index[i + k]] = v[k];
    }
  }
}

/* What follows from one pivot to the next is done by single numbers, which takes half the time of vectors. */
GA__INLINE void lower_fixed(const ga__front *f, const double *L, const int *index, const int *taken,
                            double *x, const int s)
{
  const int W = f->width, own = (s + 3) / 4 * 4;
  double *own_x = x + f->first, y[FIXED_MOST];
  ga__quad u[FIXED_MOST];
  GA__UNROLLED
  for (int k = 0; k < s; k++) y[k] = own_x[taken[k]];
  GA__UNROLLED
  for (int k = 0; k < s; k++) {
    GA__UNROLLED
    for (int i = k + 1; i < s; i++) y[i] -= L[k * W + i] * y[k];
  }
  GA__UNROLLED
  for (int k = 0; k < s; k++) {
    own_x[k] = y[k];
    u[k] = all_of(y[k]);
  }
  subtract_below(x, index, f->index_run, f->below, u, L + own, W, s);
}

GA__INLINE void upper_fixed(const ga__front *f, const double *P, const int *index, const double *inverse,
                            double *x, const int s)
{
  const int own = (s + 3) / 4 * 4, W = f->width;
  const double *U = P + s * W;
  double *own_x = x + f->first, y[FIXED_MOST];
  ga__quad t[2] = {ga__quad_load(own_x), {0, 0, 0, 0}};
  if (own > 4) t[1] = ga__quad_load(own_x + 4);
  for (int i = 0; i < f->below; i++, U += s) {
    const ga__quad z = all_of(x[index[i]]);
    t[0] -= ga__quad_load(U) * z;
    if (own > 4) t[1] -= ga__quad_load(U + 4) * z;
  }
  GA__UNROLLED
  for (int k = 0; k < s; k++) y[k] = t[k / 4][k % 4];
  GA__UNROLLED
  for (int k = s - 1; k > 0; k--) {
    GA__UNROLLED
    for (int i = 0; i < k; i++) y[i] -= P[k * W + i] * y[k];
  }
  GA__UNROLLED
  for (int k = 0; k < s; k++) own_x[k] = y[k] * inverse[k];
}

/* y -= a x, n numbers */
GA__INLINE void subtract(double *y, double a, const double *x, int n)
{
  int i = 0;
  for (; i + 4 <= n; i += 4) *(ga__quad *)(y + i) -= ga__quad_load(x + i) * a;
  for (; i < n; i++) y[i] -= x[i] * a;
}

/* local[width]: the right-hand side of the front's rows */
GA__INLINE void lower_any(const ga__front *f, const double *L, const int *index, const int *taken, double *x,
                          double *local)
{
  const int s = f->size, own = f->own;
  double *y = x + f->first;
  for (int k = 0; k < own; k++) local[k] = k < s ? y[taken[k]] : 0.0;
  for (int i = 0; i < f->width - own; i++) local[own + i] = x[index[i]];
  ga__eliminate_columns(local, L, f->width, s);
  for (int k = 0; k < s; k++) y[k] = local[k];
  for (int i = 0; i < f->below; i++) x[index[i]] = local[own + i];
}

GA__INLINE void upper_any(const ga__front *f, const double *P, const int *index, const double *inverse,
                          double *x)
{
  const int s = f->size;
  const double *U = P + s * f->width;
  double *y = x + f->first;
  for (int i = 0; i < f->below; i++, U += s) subtract(y, x[index[i]], U, s);
  for (int k = s - 1; k > 0; k--) subtract(y, y[k], P + k * f->width, k);
  for (int k = 0; k < s; k++) y[k] *= inverse[k];
}

GA__INLINE void lower(const ga__fronts *plan, const ga__front *f, const ga__front_factors *b, double *x,
                      double *local)
{
  const double *L = b->value + f->factor;
  const int *index = plan->index + f->index, *taken = b->taken + f->first;
#define DO(S)                                                                                                \
  if (S)                                                                                                     \
    lower_fixed(f, L, index, taken, x, S);                                                                   \
  else                                                                                                       \
    lower_any(f, L, index, taken, x, local)
  BY_SIZE(f->size, DO)
#undef DO
}

GA__INLINE void upper(const ga__fronts *plan, const ga__front *f, const ga__front_factors *b, double *x)
{
  const double *P = b->value + f->factor, *inverse = b->inverse + f->first;
  const int *index = plan->index + f->index;
#define DO(S)                                                                                                \
  if (S)                                                                                                     \
    upper_fixed(f, P, index, inverse, x, S);                                                                 \
  else                                                                                                       \
    upper_any(f, P, index, inverse, x)
  BY_SIZE(f->size, DO)
#undef DO
}

GA__WIDE static void solve(const ga__fronts *plan, int first, int end, int count,
                           const ga__front_factors *const b[], double *const x[], double *local)
{
  for (int i = first; i < end; i++) {
    const ga__front *f = &plan->front[i];
    for (int m = 0; m < count; m++) {
      if (ga__front_is_large(f))
        ga__front_lower(f, b[m]->value + f->factor, plan->index + f->index, b[m]->taken + f->first, x[m],
                        local);
      else
        lower(plan, f, b[m], x[m], local);
    }
  }
  for (int i = end - 1; i >= first; i--) {
    const ga__front *f = &plan->front[i];
    for (int m = 0; m < count; m++) {
      if (ga__front_is_large(f))
        ga__front_upper(f, b[m]->value + f->factor, plan->index + f->index, b[m]->inverse + f->first, x[m],
                        local);
      else
        upper(plan, f, b[m], x[m]);
    }
  }
}

void ga__fronts_solve(const ga__fronts *plan, int first, int end, int count,
                      const ga__front_factors *const b[], double *const x[], double *local)
{
  solve(plan, first, end, count, b, x, local);
}

/* ---- Solving with the transposed matrix ---- */

/* own := U11⁻ᵀ own; its products are subtracted from the rows below. */
void ga__small_front_upper_t(const ga__fronts *plan, const ga__front *f, const ga__front_factors *b,
                             double *x)
{
  const int s = f->size, *index = plan->index + f->index;
  const double *P = b->value + f->factor, *U = P + s * f->width, *inverse = b->inverse + f->first;
  double *own = x + f->first;
  for (int j = 0; j < s; j++) {
    own[j] *= inverse[j];
    for (int k = 0; k < j; k++) own[j] -= P[j * f->width + k] * own[k];
  }
  for (int i = 0; i < f->below; i++, U += s) {
    double sum = 0;
    for (int k = 0; k < s; k++) sum += U[k] * own[k];
    x[index[i]] -= sum;
  }
}

/* own := Pᵀ L11⁻ᵀ (own − L21ᵀ below) */
void ga__small_front_lower_t(const ga__fronts *plan, const ga__front *f, const ga__front_factors *b,
                             double *x, double *local)
{
  const int s = f->size, *index = plan->index + f->index, *taken = b->taken + f->first;
  const double *L = b->value + f->factor;
  double *own = x + f->first;
  for (int k = s - 1; k >= 0; k--) {
    const double *l = L + k * f->width;
    double y = own[k];
    for (int i = 0; i < f->below; i++) y -= l[f->own + i] * x[index[i]];
    for (int i = k + 1; i < s; i++) y -= l[i] * local[i];
    local[k] = y;
  }
  for (int k = 0; k < s; k++) own[taken[k]] = local[k];
}
