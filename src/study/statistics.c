#include "study/statistics.h"

#include "study/study_impl.h"
#include <float.h>
#include <math.h>

/* The continued fraction of the incomplete beta function, by the algorithm of Lentz. */
static double beta_fraction(double a, double b, double x)
{
  const double tiny = DBL_MIN / DBL_EPSILON;
  double c = 1.0, d = 1.0 - (a + b) * x / (a + 1.0);
  if (fabs(d) < tiny) d = tiny;
  d = 1.0 / d;
  double sum = d;
  for (int m = 1; m <= 500; m++) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
                 odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    const double term[2] = {even, odd};
    double change = 1.0;
    for (int k = 0; k < 2; k++) {
      d = 1.0 + term[k] * d;
      if (fabs(d) < tiny) d = tiny;
      c = 1.0 + term[k] / c;
      if (fabs(c) < tiny) c = tiny;
      d = 1.0 / d;
      change = c * d;
      sum *= change;
    }
    if (fabs(change - 1.0) < 4.0 * DBL_EPSILON) break;
  }
  return sum;
}

/* The regularised incomplete beta function. */
static double beta(double a, double b, double x)
{
  if (x <= 0.0) return 0.0;
  if (x >= 1.0) return 1.0;
  const double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
  return x < (a + 1.0) / (a + b + 2.0) ? front * beta_fraction(a, b, x) / a
                                       : 1.0 - front * beta_fraction(b, a, 1.0 - x) / b;
}

/* P(|T| > t) = I_x(n/2, 1/2) with x = n/(n + t²), solved for x by halving: in the logarithm, as x may be
 * tiny. */
double ga__student(double confidence, double n)
{
  const double outside = 1.0 - confidence;
  double low = -700.0, high = 0.0;
  if (!(n > 0.0)) return NAN;
  for (int i = 0; i < 200 && high - low > 1e-15; i++) {
    const double middle = 0.5 * (low + high);
    if (beta(0.5 * n, 0.5, exp(middle)) > outside)
      high = middle;
    else
      low = middle;
  }
  return sqrt(n * expm1(-0.5 * (low + high)));
}

/* Wilson and Hilferty 1931. */
double ga__chi_square(double p, double n)
{
  const double s = 2.0 / (9.0 * n), root = 1.0 - s + ga__normal_quantile(p) * sqrt(s);
  return n * root * root * root;
}
