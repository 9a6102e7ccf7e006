/* Checks of arrays: all finite, largest absolute value. */
#include "base/base_impl.h"
#include "base/quad.h"

#include <math.h>
#include <stdint.h>

/* Independent sums and maxima in parallel: the compiler may not reorder floating-point sums itself. */
enum { LANES = 4, AT_ONCE = 4 * LANES };
/* Up to this length a loop over single numbers takes fewer instructions. */
enum { FEW = 6 };

GA__WIDE static int all_finite(const double *a, int n)
{
  const ga__quad zero = {0, 0, 0, 0};
  ga__quad sum[LANES] = {zero, zero, zero, zero}; /* 0 unless a component is NaN or infinite */
  double rest = 0;
  int i = 0;
  for (; i + AT_ONCE <= n; i += AT_ONCE)
    for (int k = 0; k < LANES; k++) sum[k] += ga__quad_load(a + i + 4 * k) * 0.0;
  for (; i + 4 <= n; i += 4) sum[0] += ga__quad_load(a + i) * 0.0;
  for (; i < n; i++) rest += a[i] * 0.0;
  const ga__quad all = sum[0] + sum[1] + sum[2] + sum[3];
  return all[0] + all[1] + all[2] + all[3] + rest == 0.0;
}

int ga__all_finite(const double *a, int n)
{
  double sum = 0;
  if (n > FEW) return all_finite(a, n);
  for (int i = 0; i < n; i++) sum += a[i] * 0.0;
  return sum == 0.0;
}

GA__WIDE static double largest(const double *a, int n)
{
  const ga__quad zero = {0, 0, 0, 0};
  const ga__quad_mask sign = {INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX};
  ga__quad most[LANES] = {zero, zero, zero, zero}, bad[LANES] = {zero, zero, zero, zero};
  double rest = 0, not_finite = 0;
  int i = 0;
  for (; i + AT_ONCE <= n; i += AT_ONCE)
    for (int k = 0; k < LANES; k++) {
      const ga__quad x = ga__quad_load(a + i + 4 * k);
      most[k] = ga__quad_larger((ga__quad)((ga__quad_mask)x & sign), most[k]);
      bad[k] += x * 0.0;
    }
  for (; i + 4 <= n; i += 4) {
    const ga__quad x = ga__quad_load(a + i);
    most[0] = ga__quad_larger((ga__quad)((ga__quad_mask)x & sign), most[0]);
    bad[0] += x * 0.0;
  }
  for (; i < n; i++) {
    rest = fabs(a[i]) > rest ? fabs(a[i]) : rest;
    not_finite += a[i] * 0.0;
  }
  const ga__quad all = ga__quad_larger(ga__quad_larger(most[0], most[1]), ga__quad_larger(most[2], most[3]));
  const ga__quad none = bad[0] + bad[1] + bad[2] + bad[3];
  for (int k = 0; k < 4; k++) {
    rest = all[k] > rest ? all[k] : rest;
    not_finite += none[k];
  }
  return rest + not_finite; /* NaN if a component is not finite */
}

double ga__largest(const double *a, int n)
{
  double most = 0, not_finite = 0;
  if (n > FEW) return largest(a, n);
  for (int i = 0; i < n; i++) {
    most = fabs(a[i]) > most ? fabs(a[i]) : most;
    not_finite += a[i] * 0.0;
  }
  return most + not_finite;
}
