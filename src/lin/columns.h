/* Columns of a lower triangular matrix, by vectors: a column of L times a number is subtracted from another
 * column, four of them at a time. */
#ifndef GALPHA_LIN_COLUMNS_H
#define GALPHA_LIN_COLUMNS_H

#include "base/quad.h"
#include <stddef.h>

#define GA__UNROLLED _Pragma("GCC unroll 8")

static const ga__quad_mask GA__BEHIND[4] = {{0, -1, -1, -1}, {0, 0, -1, -1}, {0, 0, 0, -1}, {0, 0, 0, 0}};

GA__INLINE ga__quad ga__quad_masked(const double *from, ga__quad_mask mask)
{
  return (ga__quad)((ga__quad_mask)ga__quad_load(from) & mask);
}

GA__INLINE ga__quad ga__quad_lane(ga__quad v, const int i)
{
  return i == 0   ? GA__SHUFFLE(v, v, 0, 0, 0, 0)
         : i == 1 ? GA__SHUFFLE(v, v, 1, 1, 1, 1)
         : i == 2 ? GA__SHUFFLE(v, v, 2, 2, 2, 2)
                  : GA__SHUFFLE(v, v, 3, 3, 3, 3);
}

GA__INLINE void ga__eliminate_four(double *c, const double *L, int W, int k, const int n)
{
  ga__quad t = ga__quad_load(c + k), u[4];
  L += (size_t)k * (size_t)W;
  GA__UNROLLED
  for (int i = 0; i < n; i++) {
    u[i] = ga__quad_lane(t, i);
    if (i < 3) t -= ga__quad_masked(L + i * W + k, GA__BEHIND[i]) * u[i];
  }
  *(ga__quad *)(c + k) = t;
  for (int r = k + 4; r < W; r += 4) {
    ga__quad v = ga__quad_load(c + r);
    GA__UNROLLED
    for (int i = 0; i < n; i++) v -= ga__quad_load(L + i * W + r) * u[i];
    *(ga__quad *)(c + r) = v;
  }
}

/* c[W] := L⁻¹ c, for n columns L[n][W] with a diagonal of 1, which is not stored; W is a multiple of four. */
GA__INLINE void ga__eliminate_columns(double *c, const double *L, int W, int n)
{
  int k = 0;
  for (; k + 4 <= n; k += 4) ga__eliminate_four(c, L, W, k, 4);
  if (n - k == 3) ga__eliminate_four(c, L, W, k, 3);
  if (n - k == 2) ga__eliminate_four(c, L, W, k, 2);
  if (n - k == 1) ga__eliminate_four(c, L, W, k, 1);
}

#endif
