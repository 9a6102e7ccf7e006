/* Distributions: quantiles, so that one random number gives one draw, truncated ones too. */
#include "study/study_impl.h"

#include <math.h>
#include <stddef.h>

#define ROOT_2 1.41421356237309504880
#define ROOT_2_PI 2.50662827463100050242

const char *const ga__distribution_words[GA__N_DISTRIBUTIONS] = {
#define WORD(name, word, needs, plain, text) word,
    GA_DISTRIBUTION_LIST(WORD)
#undef WORD
};
static const char *const texts[GA__N_DISTRIBUTIONS] = {
#define TEXT(name, word, needs, plain, text) text,
    GA_DISTRIBUTION_LIST(TEXT)
#undef TEXT
};
static const int needed[GA__N_DISTRIBUTIONS] = {
#define NEEDS(name, word, needs, plain, text) needs,
    GA_DISTRIBUTION_LIST(NEEDS)
#undef NEEDS
};
static const int plain_numbers[GA__N_DISTRIBUTIONS] = {
#define PLAIN(name, word, needs, plain, text) plain,
    GA_DISTRIBUTION_LIST(PLAIN)
#undef PLAIN
};

const char *ga_distribution_at(int i, const char **text)
{
  if (i < 0 || i >= GA__N_DISTRIBUTIONS) return NULL;
  if (text) *text = texts[i];
  return ga__distribution_words[i];
}

int ga__distribution_needs(ga__distribution_kind kind)
{
  return needed[kind];
}

int ga__distribution_plain(ga__distribution_kind kind)
{
  return plain_numbers[kind];
}

/* 1: draws can be told apart. In the far tails of a distribution probabilities are no numbers. */
static int has_draws(const ga__distribution *d)
{
  double last = -INFINITY;
  for (int i = 1; i < 16; i++) {
    const double x = ga__distribution_quantile(d, i / 16.0);
    if (!isfinite(x) || !(x > last)) return 0;
    last = x;
  }
  return 1;
}

const char *ga__distribution_fault(const ga__distribution *d)
{
  const double *p = d->p;
  for (int i = 0; i < needed[d->kind]; i++)
    if (!isfinite(p[i])) return "finite numbers";
  switch (d->kind) {
  case GA__UNIFORM:
    if (!(p[0] < p[1])) return "a low end below the high end";
    break;
  case GA__LOGUNIFORM:
    if (!(p[0] > 0.0 && p[0] < p[1])) return "ends above 0, the low one below the high one";
    break;
  case GA__NORMAL:
    if (!(p[1] > 0.0)) return "a deviation above 0";
    break;
  case GA__LOGNORMAL:
    if (!(p[0] > 0.0 && p[1] > 0.0)) return "a mean and a deviation above 0";
    break;
  case GA__TRIANGULAR:
    if (!(p[0] <= p[1] && p[1] <= p[2] && p[0] < p[2])) return "low <= mode <= high, low < high";
    break;
  case GA__EXPONENTIAL:
    if (!(p[0] > 0.0)) return "a mean above 0";
    break;
  default:
    if (!(p[0] > 0.0 && p[1] > 0.0)) return "a scale and a shape above 0";
  }
  if (!(d->min < d->max)) return "min below max";
  double low = 0.0, high = INFINITY; /* of all draws */
  if (d->kind == GA__NORMAL) low = -INFINITY;
  if (d->kind == GA__UNIFORM || d->kind == GA__LOGUNIFORM) low = p[0], high = p[1];
  if (d->kind == GA__TRIANGULAR) low = p[0], high = p[2];
  const int all = isinf(d->min) && isinf(d->max), some = fmax(low, d->min) < fmin(high, d->max);
  if (some && has_draws(d)) return NULL;
  return all ? "numbers whose draws are finite" : "min and max between which there are draws";
}

/* ---- The normal distribution ---- */

static double below(double z) /* the part of all draws below z deviations */
{
  return 0.5 * erfc(-z / ROOT_2);
}

/* From a rational approximation (Abramowitz and Stegun 26.2.23) by Halley's iteration, on the side where
 * the probability is small and so known to all its digits. */
double ga__normal_quantile(double u)
{
  const double p = u < 0.5 ? u : 1.0 - u;
  if (p <= 0.0) return u < 0.5 ? -INFINITY : INFINITY;
  const double t = sqrt(-2.0 * log(p));
  double z =
      t - (2.515517 + t * (0.802853 + t * 0.010328)) / (1.0 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
  z = -z;
  for (int i = 0; i < 3; i++) {
    const double newton = (below(z) - p) * ROOT_2_PI * exp(0.5 * z * z);
    if (!isfinite(newton)) break; /* beyond the range of probabilities */
    z -= newton / (1.0 + 0.5 * z * newton);
  }
  return u < 0.5 ? z : -z;
}

/* Of a normal distribution between a and b, in deviations from its mean. */
static double normal_between(double a, double b, double u)
{
  if (a > 0.0) return -normal_between(-b, -a, 1.0 - u); /* probabilities near 1 have lost their digits */
  const double pa = below(a), pb = below(b);
  return fmin(fmax(ga__normal_quantile(pa + u * (pb - pa)), a), b);
}

/* ---- The others ---- */

static double triangular(const double *p, double u)
{
  const double span = p[2] - p[0], left = (p[1] - p[0]) / span;
  if (u < left) return p[0] + sqrt(u * span * (p[1] - p[0]));
  return p[2] - sqrt((1.0 - u) * span * (p[2] - p[1]));
}

static double triangular_below(const double *p, double x)
{
  const double span = p[2] - p[0];
  if (x <= p[0]) return 0.0;
  if (x >= p[2]) return 1.0;
  if (x < p[1]) return (x - p[0]) * (x - p[0]) / (span * (p[1] - p[0]));
  return 1.0 - (p[2] - x) * (p[2] - x) / (span * (p[2] - p[1]));
}

/* The part above x, and its inverse: small parts keep their digits. */
static double weibull_above(double scale, double shape, double x)
{
  return x > 0.0 ? exp(-pow(x / scale, shape)) : 1.0;
}

static double weibull_between(const ga__distribution *d, double shape, double u)
{
  const double above_min = weibull_above(d->p[0], shape, d->min),
               above_max = isinf(d->max) ? 0.0 : weibull_above(d->p[0], shape, d->max);
  const double above = above_min - u * (above_min - above_max);
  return d->p[0] * pow(-log(above), 1.0 / shape);
}

static double lognormal(const ga__distribution *d, double u)
{
  const double ratio = d->p[1] / d->p[0], variance = log1p(ratio * ratio), sigma = sqrt(variance);
  const double mu = log(d->p[0]) - 0.5 * variance;
  const double a = d->min > 0.0 ? (log(d->min) - mu) / sigma : -INFINITY;
  const double b = d->max > 0.0 ? (log(d->max) - mu) / sigma : -INFINITY;
  return exp(mu + sigma * normal_between(a, b, u));
}

double ga__distribution_quantile(const ga__distribution *d, double u)
{
  const double *p = d->p;
  double x, a, b;
  switch (d->kind) {
  case GA__UNIFORM:
    a = fmax(p[0], d->min), b = fmin(p[1], d->max);
    x = a + u * (b - a);
    break;
  case GA__LOGUNIFORM:
    a = log(fmax(p[0], d->min)), b = log(fmin(p[1], d->max));
    x = exp(a + u * (b - a));
    break;
  case GA__NORMAL:
    x = p[0] + p[1] * normal_between((d->min - p[0]) / p[1], (d->max - p[0]) / p[1], u);
    break;
  case GA__LOGNORMAL:
    x = lognormal(d, u);
    break;
  case GA__TRIANGULAR:
    a = triangular_below(p, d->min), b = triangular_below(p, d->max);
    x = triangular(p, a + u * (b - a));
    break;
  default:
    x = weibull_between(d, d->kind == GA__WEIBULL ? p[1] : 1.0, u);
  }
  return fmin(fmax(x, d->min), d->max);
}
