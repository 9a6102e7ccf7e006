/* Least squares with bounds: the method of Levenberg (1944) and Marquardt (1963), with the scaling of Moré
 * (1978). A run that fails is a step that is too long. */
#include "study/fit.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define FIRST_LAMBDA 1e-3
#define NEAR                                                                                                 \
  1e-5 /* of the residuals' variance: (distance from the minimum in standard errors)² that is enough */
#define NOISY 1e-2     /* the same where runs do not allow more */
#define ROUNDING 1e-12 /* [-] of the data */
#define SHORT 1e-11    /* [-] of the parameters: steps that are none */
enum { MOST_TRIES = 24, MOST_ROUNDS = 12 };

int ga__fit_residuals(const ga_fit *f, const ga__search_point *e, double *r)
{
  int whole = 1;
  for (long i = 0; i < f->m; i++) {
    const ga__residual *x = &f->residual[i];
    r[i] = (e->values[x->at] - x->y) / f->groups[x->group].sigma;
    whole &= isfinite(r[i]) != 0;
  }
  return whole;
}

static double square(long n, const double *r)
{
  double sum = 0.0;
  for (long i = 0; i < n; i++) sum += r[i] * r[i];
  return sum;
}

void ga__fit_linearise(ga_fit *f)
{
  const int n = f->pr.n;
  const long m = f->m;
  for (int j = 0; j < n; j++)
    for (long i = 0; i < m; i++) {
      const ga__residual *x = &f->residual[i];
      f->J[j * m + i] = f->now.slopes[(size_t)j * f->pr.n_values + x->at] / f->groups[x->group].sigma;
    }
  double *a = f->r_trial; /* of this length */
  memcpy(a, f->r, (size_t)m * sizeof *a);
  for (int j = 0; j < n; j++) f->D[j] = fmax(f->D[j], sqrt(square(m, f->J + j * m)));
  for (int k = 0; k < n; k++) ga__fit_reflect(m, k, f->J + k * m, n - k - 1, m, a);
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++) f->R[j * n + i] = i <= j ? f->J[j * m + i] : 0.0;
  memcpy(f->q, a, (size_t)n * sizeof *a);
  f->rest = square(m - n, a + n);
}

/* The variance of residuals, and what rounding of the data makes of it. */
static double variance(const ga_fit *f)
{
  const long freedom = f->m - f->pr.n;
  double size = 0.0;
  for (long i = 0; i < f->m; i++) {
    const double y = f->residual[i].y / f->groups[f->residual[i].group].sigma;
    size += y * y;
  }
  return fmax(f->chi2 / (double)(freedom > 0 ? freedom : 1), ROUNDING * ROUNDING * size / NEAR);
}

/* Tries points until one is better, or none promises enough. *found 1: f->now is another one. */
static ga_status find_better(ga_fit *f, double enough, double *lambda, int *found)
{
  const int n = f->pr.n;
  double s[GA__MOST_VARIED];
  *found = 0;
  for (int k = 0; k < MOST_TRIES; k++) {
    const double promised = ga__fit_step(f, f->now.p, *lambda, s);
    double length = 0.0;
    for (int j = 0; j < n; j++) {
      f->trial.p[j] = f->now.p[j] + s[j];
      const ga__varied *v = &f->pr.varied[j];
      f->trial.p[j] = fmin(fmax(f->trial.p[j], v->lower), v->upper);
      length = fmax(length, fabs(s[j]) / v->scale);
    }
    if (length <= SHORT || !(promised > enough)) return GA_OK;
    const ga_status status = ga__problem_evaluate(&f->pr, !f->pr.differences, &f->trial);
    if (status) return status;
    const int whole = !f->trial.failed && ga__fit_residuals(f, &f->trial, f->r_trial);
    const double chi2 = whole ? square(f->m, f->r_trial) : INFINITY, ratio = (f->chi2 - chi2) / promised;
    if (whole && ratio > 1e-4) {
      const ga__search_point better = f->trial;
      f->trial = f->now;
      f->now = better;
      memcpy(f->r, f->r_trial, (size_t)f->m * sizeof *f->r);
      f->chi2 = chi2;
      *lambda *= ratio > 0.75 ? 0.1 : ratio > 0.25 ? 0.5 : 2.0;
      *lambda = fmax(*lambda, 1e-14);
      *found = 1;
      return GA_OK;
    }
    *lambda *= whole ? 5.0 : 10.0;
  }
  return GA_OK;
}

static ga_status give_slopes(ga_fit *f)
{
  if (f->now.derived != GA__NO_SLOPES) return GA_OK;
  const ga_status status = ga__problem_difference(&f->pr, &f->now);
  if (status) return status;
  if (f->now.derived != GA__NO_SLOPES) return GA_OK;
  return ga__refuse(f->ctx, GA_ERR_NAN, GA_REASON_OTHER,
                    &(ga__facts){.kind = "fit", .part = f->o.model, .detail = f->now.text});
}

/* What the linear problem promises, but for directions that the data do not determine: there its derivatives are
 * rounding. */
static double promise_of(const ga_fit *f)
{
  const double rank = f->now.derived == GA__EXACT_SLOPES ? GA__EXACT_RANK : GA__DIFFERENCE_RANK;
  double s[GA__MOST_VARIED];
  return ga__fit_step(f, f->now.p, rank * rank, s);
}

/* Until the minimum of the present weights. */
static ga_status minimise(ga_fit *f, double *lambda)
{
  for (;;) {
    int found;
    ga_status status = give_slopes(f);
    if (status) return status;
    ga__fit_linearise(f);
    const double promised = promise_of(f), by = variance(f);
    f->report.end = GA_FIT_CONVERGED;
    if (promised <= NEAR * by) return GA_OK;
    f->report.end = GA_FIT_ITERATIONS;
    if (f->report.iterations >= f->o.most_iterations) return GA_OK;
    f->report.iterations++;
    status = find_better(f, NEAR * by, lambda, &found);
    if (status) return status;
    if (found) continue;
    f->report.end = promised <= NOISY * by ? GA_FIT_CONVERGED : GA_FIT_STALLED;
    *lambda = FIRST_LAMBDA;
    return GA_OK;
  }
}

/* Standard deviations of the groups where these are not given: those of their residuals. Returns the largest
 * change. */
static double estimate_sigmas(ga_fit *f)
{
  const double share = 1.0 - (double)f->pr.n / (double)f->m;
  double change = 0.0;
  int unknown = 0;
  for (int g = 0; g < f->n_groups; g++) {
    double sum = 0.0, size = 0.0;
    if (f->groups[g].known) continue;
    for (long i = 0; i < f->m; i++) {
      const ga__residual *x = &f->residual[i];
      if (x->group != g) continue;
      const double d = f->now.values[x->at] - x->y;
      sum += d * d;
      size = fmax(size, fabs(x->y));
    }
    const double is = sqrt(sum / ((double)f->groups[g].n * share)),
                 sigma = fmax(is, fmax(ROUNDING * size, DBL_MIN));
    change = fmax(change, fabs(log(sigma / f->groups[g].sigma)));
    f->groups[g].sigma = sigma;
    unknown++;
  }
  return unknown > 0 && f->n_groups > 1 ? change : 0.0; /* one alone changes no weights */
}

ga_status ga__fit_iterate(ga_fit *f)
{
  double lambda = FIRST_LAMBDA;
  ga_status status = GA_OK;
  for (int round = 0; round < MOST_ROUNDS; round++) {
    status = minimise(f, &lambda);
    if (status) break;
    const double change = estimate_sigmas(f);
    ga__fit_residuals(f, &f->now, f->r);
    f->chi2 = square(f->m, f->r);
    memset(f->D, 0, (size_t)f->pr.n * sizeof *f->D);
    if (change < 0.01 || f->report.end == GA_FIT_ITERATIONS) break;
  }
  if (status != GA_STOPPED) return status;
  f->report.end = GA_FIT_STOPPED;
  return GA_OK;
}
