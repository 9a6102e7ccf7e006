/* Elimination in fronts of many rows, where memory is what takes time: a panel of PANEL columns at a time,
 * and what it does to all columns behind it in one product,
 *
 *   [ F11 F12 ]    F11, F21: the panel, eliminated column by column
 *   [ F21 F22 ]    F12 := L11⁻¹ F12,   F22 := F22 − L21 F12
 *
 * in tiles of ROWS × COLUMNS numbers that are added up in registers. Measured against elimination row by row
 * (GA__FRONT_LARGE beyond all fronts; bench_structures, [ms] for the factors): net 15 instead of 36, net with
 * diagonals 18 instead of 57, lattice 99 instead of 331, cubes 51 instead of 619. */
#include "base/quad.h"
#include "lin/fronts.h"
#include <math.h>

enum { PANEL = 32, STRIP = 192 }; /* columns of F12 that are copied together, to stay in the cache */
enum { ROWS = 4, QUADS = 3, COLUMNS = 4 * QUADS };
_Static_assert(PANEL *STRIP == GA__FRONT_ROOM && STRIP % COLUMNS == 0, "work space of a panel");

/* ---- Panels ---- */

/* Finds the pivot of column k among rows k to s − 1 and exchanges rows. */
static void bring_pivot(double *F, int s, int k, int W, double *weight, int *taken)
{
  double most = fabs(F[(size_t)k * (size_t)W + (size_t)k]) * weight[k];
  int best = k;
  for (int i = k + 1; i < s; i++) {
    const double size = fabs(F[(size_t)i * (size_t)W + (size_t)k]) * weight[i];
    if (size > most) most = size, best = i;
  }
  if (best == k) return;
  const double w = weight[k];
  const int t = taken[k];
  ga__front_exchange(F + (size_t)k * (size_t)W, F + (size_t)best * (size_t)W, W);
  weight[k] = weight[best], weight[best] = w;
  taken[k] = taken[best], taken[best] = t;
}

/* y -= a x */
GA__INLINE void subtract(double *restrict y, double a, const double *restrict x, int n)
{
  const ga__quad aa = {a, a, a, a};
  int j = 0;
  for (; j + 4 <= n; j += 4) *(ga__quad *)(y + j) -= aa * ga__quad_load(x + j);
  for (; j < n; j++) y[j] -= a * x[j];
}

/* Columns first..end−1 of all rows, and of F12 what is left of the rows of their pivots. */
GA__WIDE static void eliminate_panel(double *F, int rows, int s, int first, int end, int W, double *weight,
                                     int *taken, double *inverse)
{
  for (int k = first; k < end; k++) {
    const double *pivot_row = F + (size_t)k * (size_t)W;
    bring_pivot(F, s, k, W, weight, taken);
    const double over_pivot = inverse[k] = 1 / pivot_row[k];
    for (int i = k + 1; i < rows; i++) {
      double *f = F + (size_t)i * (size_t)W;
      f[k] *= over_pivot;
      subtract(f + k + 1, f[k], pivot_row + k + 1, end - k - 1);
    }
  }
  for (int i = first + 1; i < end; i++)
    for (int k = first; k < i; k++)
      subtract(F + (size_t)i * (size_t)W + end, F[(size_t)i * (size_t)W + (size_t)k],
               F + (size_t)k * (size_t)W + end, W - end);
}

/* ---- Products ---- */

/* Copies columns from..to−1 of F12 into tiles, each by rows; 0 in columns before `end` and behind the last.
 */
static void pack(const double *F, int first, int end, int from, int to, int W, double *tiles)
{
  const int depth = end - first;
  for (int j = from; j < to; j += COLUMNS, tiles += depth * COLUMNS)
    for (int k = 0; k < depth; k++)
      for (int c = 0; c < COLUMNS; c++)
        tiles[k * COLUMNS + c] =
            j + c >= end && j + c < to ? F[(size_t)(first + k) * (size_t)W + (size_t)(j + c)] : 0.0;
}

/* One tile of F22 −= L21 F12, for compile-time numbers of rows and quads. */
GA__INLINE void subtract_tile(double *to, const double *L, const double *tile, int depth, size_t W,
                              const int n_rows, const int n_quads)
{
  ga__quad sum[ROWS][QUADS];
  for (int i = 0; i < n_rows; i++)
    for (int j = 0; j < n_quads; j++) sum[i][j] = (ga__quad){0, 0, 0, 0};
  for (int k = 0; k < depth; k++, tile += COLUMNS) {
    ga__quad u[QUADS];
    for (int j = 0; j < n_quads; j++) u[j] = ga__quad_load(tile + 4 * j);
    for (int i = 0; i < n_rows; i++) {
      const double l = L[(size_t)i * W + (size_t)k];
      const ga__quad ll = {l, l, l, l};
      for (int j = 0; j < n_quads; j++) sum[i][j] += ll * u[j];
    }
  }
  for (int i = 0; i < n_rows; i++)
    for (int j = 0; j < n_quads; j++) *(ga__quad *)(to + (size_t)i * W + 4 * j) -= sum[i][j];
}

/* Several rows of it, columns from..to−1, whole quads. */
GA__INLINE void subtract_rows(double *row, const double *L, const double *tiles, int depth, int from, int to,
                              size_t W, const int n_rows)
{
  int j = from;
  for (; j + COLUMNS <= to; j += COLUMNS, tiles += depth * COLUMNS)
    subtract_tile(row + j, L, tiles, depth, W, n_rows, QUADS);
  if (to - j == 8) subtract_tile(row + j, L, tiles, depth, W, n_rows, 2);
  if (to - j == 4) subtract_tile(row + j, L, tiles, depth, W, n_rows, 1);
}

/* F22 −= L21 F12. Columns begin at a multiple of four: in those of the panel 0 is subtracted. */
GA__WIDE static void subtract_product(double *F, int rows, int first, int end, int W, double *tiles)
{
  const int depth = end - first;
  const size_t w = (size_t)W;
  for (int from = end / 4 * 4; from < W; from += STRIP) {
    const int to = W - from < STRIP ? W : from + STRIP;
    int i = end;
    pack(F, first, end, from, to, W, tiles);
    for (; i + ROWS <= rows; i += ROWS)
      subtract_rows(F + (size_t)i * w, F + (size_t)i * w + first, tiles, depth, from, to, w, ROWS);
    for (; i < rows; i++)
      subtract_rows(F + (size_t)i * w, F + (size_t)i * w + first, tiles, depth, from, to, w, 1);
  }
}

void ga__front_eliminate(double *F, int rows, int s, int W, double *weight, int *taken, double *inverse,
                         double *room)
{
  for (int first = 0, end; first < s; first = end) {
    end = s - first < PANEL ? s : first + PANEL;
    eliminate_panel(F, rows, s, first, end, W, weight, taken, inverse);
    if (end < rows) subtract_product(F, rows, first, end, W, room);
  }
}

/* ---- Solving ---- */

GA__INLINE double dot(const double *a, const double *b, int n)
{
  ga__quad low = {0, 0, 0, 0}, high = low;
  double rest = 0;
  int k = 0;
  for (; k + 8 <= n; k += 8) {
    low += ga__quad_load(a + k) * ga__quad_load(b + k);
    high += ga__quad_load(a + k + 4) * ga__quad_load(b + k + 4);
  }
  for (; k < n; k++) rest += a[k] * b[k];
  low += high;
  return (low[0] + low[1]) + (low[2] + low[3]) + rest;
}

GA__WIDE static void solve_lower(const ga__front *f, const double *L, const int *index, const int *taken,
                                 double *x, double *y)
{
  const int s = f->size, W = s + f->below;
  for (int k = 0; k < s; k++) y[k] = x[f->first + taken[k]];
  for (int k = 1; k < s; k++) y[k] -= dot(L + (size_t)k * (size_t)W, y, k);
  for (int k = 0; k < s; k++) x[f->first + k] = y[k];
  L += (size_t)s * (size_t)W;
  for (int i = 0; i < f->below; i++, L += s) x[index[i]] -= dot(L, y, s);
}

GA__WIDE static void solve_upper(const ga__front *f, const double *U, const int *index, const double *inverse,
                                 double *x, double *z)
{
  const int s = f->size, W = s + f->below;
  double *own = x + f->first;
  for (int i = 0; i < f->below; i++) z[i] = x[index[i]];
  for (int k = s - 1; k >= 0; k--) {
    const double *u = U + (size_t)k * (size_t)W;
    own[k] = (own[k] - dot(u + s, z, f->below) - dot(u + k + 1, own + k + 1, s - k - 1)) * inverse[k];
  }
}

void ga__front_lower(const ga__front *f, const double *factor, const int *index, const int *taken, double *x,
                     double *local)
{
  solve_lower(f, factor, index, taken, x, local);
}

void ga__front_upper(const ga__front *f, const double *factor, const int *index, const double *inverse,
                     double *x, double *local)
{
  solve_upper(f, factor, index, inverse, x, local);
}
