/* Catenary: the shape of a hanging cable that is longer than the distance between its ends.
 *
 * With H across and V along the direction down between its ends, length l, and a the ratio of the horizontal
 * tension to the weight per length:
 *
 *   √(l² − V²) = 2 a sinh u,  u = H/2a,    tanh m = V/l
 *   across(s) = a (asinh((s − s₀)/a) + asinh(s₀/a)),   up(s) = √(a² + (s − s₀)²) − √(a² + s₀²)
 *
 * s₀, of the lowest point, is a sinh(u + m) where V is measured downwards. */
#include "mbs/cable.h"

#include "lie/mat3.h"
#include <math.h>
#include <string.h>

/* Relative to the length: ends nearer to each other than this, across, hang in two straight lines. */
#define ABOVE_EACH_OTHER 1e-9

/* A unit vector down, and one across within the plane of the ends; returns the distance across. */
static double plane_of(const double chord[3], const double gravity[3], double down[3], double across[3])
{
  const double g = sqrt(ga__vec3_dot(gravity, gravity)), D = sqrt(ga__vec3_dot(chord, chord));
  for (int i = 0; i < 3; i++) down[i] = g > 0 ? gravity[i] / g : i == 2 ? -1.0 : 0.0;
  const double V = ga__vec3_dot(chord, down);
  double size = 0;
  for (int i = 0; i < 3; i++) across[i] = chord[i] - V * down[i], size += across[i] * across[i];
  size = sqrt(size);
  if (size > ABOVE_EACH_OTHER * D) {
    for (int i = 0; i < 3; i++) across[i] /= size;
    return size;
  }
  memset(across, 0, 3 * sizeof *across);
  return 0;
}

/* sinh(u)/u = r > 1: Newton's method for ln(sinh(u)/u) = ln r, which is convex for the lower bound u₀ and
 * nearly linear for large u. */
static double solve_span(double r)
{
  double u = r < 3 ? sqrt(6 * (r - 1)) : log(2 * r) + log(log(2 * r));
  for (int i = 0; i < 60; i++) {
    const double value = u < 1e-4 ? u * u / 6 : u + log1p(-exp(-2 * u)) - log(2 * u);
    const double slope = u < 1e-4 ? u / 3 : 1 / tanh(u) - 1 / u;
    const double step = (value - log(r)) / slope, next = u - step;
    u = next > 0 ? next : 0.5 * u;
    if (fabs(step) <= 1e-15 * u) break;
  }
  return u;
}

void ga__cable_hang(const double from[3], const double to[3], const double gravity[3], const double *s, int n,
                    double *x)
{
  const double chord[3] = {to[0] - from[0], to[1] - from[1], to[2] - from[2]}, l = s[n];
  const double D = sqrt(ga__vec3_dot(chord, chord));
  double down[3], across[3];
  const double H = plane_of(chord, gravity, down, across), V = ga__vec3_dot(chord, down);
  const int straight = l <= D * (1 + 1e-12), folded = !straight && H <= ABOVE_EACH_OTHER * l;
  const double u = straight || folded ? 0 : solve_span(sqrt((l - V) * (l + V)) / H);
  const double a = u > 0 ? 0.5 * H / u : 0;
  const double lowest = folded ? 0.5 * (l + V) : a * sinh(u + atanh(V / l));
  for (int k = 0; k <= n; k++) {
    double over = s[k] / l, below = 0;
    if (folded) {
      below = s[k] < lowest ? s[k] : 2 * lowest - s[k];
    } else if (!straight) {
      const double z = s[k] - lowest;
      over = a * (asinh(z / a) + asinh(lowest / a));
      below = hypot(a, lowest) - hypot(a, z);
    }
    for (int i = 0; i < 3; i++)
      x[3 * k + i] = k == n     ? to[i]
                     : straight ? from[i] + over * chord[i]
                                : from[i] + (folded ? 0 : over * across[i]) + below * down[i];
  }
}
