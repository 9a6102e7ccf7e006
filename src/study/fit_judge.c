/* What a fit has found: standard errors, intervals, correlations; what the data do not determine; whether
 * residuals look like noise; whether steps of the runs are small enough. */
#include "study/fit.h"
#include "study/statistics.h"

#include "lin/lin_impl.h"
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHARE 0.05 /* of a direction that is not determined: parameters with less do not count */
#define CLEAN 1e-6 /* [-] residuals over the range of the data: not noise, but rounding and steps */
#define RARE 0.001 /* probability of what is reported as unlikely */

void ga__fit_note(ga_fit *f, const char *format, ...)
{
  va_list args;
  if (f->report.n_notes == GA__MOST_NOTES) return;
  char *to = f->note[f->report.n_notes];
  va_start(args, format);
  vsnprintf(to, GA__FIT_NOTE, format, args);
  va_end(args);
  f->notes[f->report.n_notes++] = to;
}

/* ---- Parameters ---- */

static int find_free(ga_fit *f, int *at)
{
  int free = 0;
  for (int j = 0; j < f->pr.n; j++) {
    const ga__varied *v = &f->pr.varied[j];
    const double p = f->now.p[j];
    f->parameter[j] = (ga_fit_parameter){.name = v->name,
                                         .unit = *v->known ? v->known : v->unit,
                                         .start = v->start,
                                         .lower = v->lower,
                                         .upper = v->upper,
                                         .value = p,
                                         .error = NAN,
                                         .low = NAN,
                                         .high = NAN,
                                         .at_bound = p <= v->lower   ? -1
                                                     : p >= v->upper ? 1
                                                                     : 0};
    if (!f->parameter[j].at_bound) at[free++] = j;
  }
  return free;
}

/* "k and c", "k, c and m" of the parameters with a part of a direction; returns how many they are. */
static int name_direction(const ga_fit *f, int free, const int *at, const double *v, char *text, size_t size)
{
  int n = 0, named = 0;
  for (int k = 0; k < free; k++) n += fabs(v[k]) > SHARE;
  size_t used = 0;
  text[0] = '\0';
  for (int k = 0; k < free && used < size; k++) {
    if (!(fabs(v[k]) > SHARE)) continue;
    named++;
    used += (size_t)snprintf(text + used, size - used, "%s%.40s",
                             named == 1   ? ""
                             : named == n ? " and "
                                          : ", ",
                             f->pr.varied[at[k]].name);
  }
  return n;
}

/* Covariances from the singular values of the scaled matrix; directions without influence are named. */
static ga_status decompose(ga_fit *f, int free, const int *at)
{
  const int n = f->pr.n;
  const double rank = f->now.derived == GA__EXACT_SLOPES ? GA__EXACT_RANK : GA__DIFFERENCE_RANK;
  double size[GA__MOST_VARIED], *A = f->small;
  ga__svd svd;
  ga_status status = ga__svd_create(f->ctx, n, free, &svd);
  if (status) return status;
  for (int k = 0; k < free; k++) {
    const double *column = f->R + at[k] * n;
    size[k] = 0.0;
    for (int i = 0; i < n; i++) size[k] += column[i] * column[i];
    size[k] = sqrt(size[k]);
    for (int i = 0; i < n; i++) A[i * free + k] = size[k] > 0.0 ? column[i] / size[k] : 0.0;
  }
  status = ga__svd_compute(&svd, A, 0.0);
  memset(f->covariance, 0, (size_t)n * (size_t)n * sizeof *f->covariance);
  f->report.condition = svd.sigma[free - 1] > 0.0 ? svd.sigma[0] / svd.sigma[free - 1] : INFINITY;
  for (int i = 0; i < free && !status; i++) {
    const double *v = svd.basis + i * free, s = svd.sigma[i];
    const int unknown = !(s > rank * svd.sigma[0]);
    char text[200];
    const int several = name_direction(f, free, at, v, text, sizeof text) > 1;
    for (int k = 0; k < free && unknown; k++)
      if (fabs(v[k]) > SHARE) f->parameter[at[k]].error = INFINITY;
    if (unknown && several)
      ga__fit_note(
          f,
          "%s are not determined by these data, only a combination of them: fix one of them, or measure more",
          text);
    else if (unknown)
      ga__fit_note(f, "%s is not determined by these data: it has no influence on the measured signals",
                   text);
    for (int k = 0; k < free && !unknown; k++)
      for (int l = 0; l < free; l++)
        f->covariance[at[k] * n + at[l]] += v[k] * v[l] / (s * s * size[k] * size[l]);
  }
  ga__svd_destroy(&svd);
  return status;
}

/* Of Student's distribution, or, where no standard deviation is estimated, of the normal one. */
static double quantile_of(const ga_fit *f)
{
  int estimated = 0;
  for (int g = 0; g < f->n_groups; g++) estimated |= !f->groups[g].known;
  return estimated ? ga__student(f->o.confidence, f->report.freedom)
                   : ga__normal_quantile(0.5 + 0.5 * f->o.confidence);
}

static void judge_parameters(ga_fit *f, int free, const int *at)
{
  const int n = f->pr.n;
  f->report.freedom = (int)(f->m - free);
  const double t = quantile_of(f);
  for (int k = 0; k < free; k++) {
    ga_fit_parameter *p = &f->parameter[at[k]];
    if (isinf(p->error)) continue;
    p->error = sqrt(f->covariance[at[k] * n + at[k]]);
    p->low = p->value - t * p->error;
    p->high = p->value + t * p->error;
    if (p->error > 0.5 * fabs(p->value) && p->low < 0.0 && p->high > 0.0)
      ga__fit_note(f, "%s is hardly determined: its interval contains 0", p->name);
    if (p->low < p->lower || p->high > p->upper)
      ga__fit_note(f, "the interval of %s reaches beyond its bounds, so that it is only an approximation",
                   p->name);
  }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      const double a = f->covariance[i * n + i], b = f->covariance[j * n + j];
      f->correlation[i * n + j] =
          isfinite(f->parameter[i].error) && isfinite(f->parameter[j].error) && a > 0.0 && b > 0.0
              ? f->covariance[i * n + j] / sqrt(a * b)
              : 0.0;
    }
  for (int j = 0; j < n; j++)
    if (f->parameter[j].at_bound)
      ga__fit_note(f,
                   "%s is at its %s bound, %.6g%s%s: it has no interval, and those of the others hold with "
                   "it fixed there",
                   f->parameter[j].name, f->parameter[j].at_bound < 0 ? "lower" : "upper",
                   f->parameter[j].value, *f->parameter[j].unit ? " " : "", f->parameter[j].unit);
}

/* ---- Residuals ---- */

enum { MOST_LAGS = 10 };

/* Q of Ljung and Box 1978: correlations of residuals with those `lag` values later. *first: that of
 * neighbours. */
static double correlate(const double *r, long n, int lags, double *first)
{
  double mean = 0.0, sum = 0.0, q = 0.0;
  for (long i = 0; i < n; i++) mean += r[i] / (double)n;
  for (long i = 0; i < n; i++) sum += (r[i] - mean) * (r[i] - mean);
  *first = 0.0;
  for (int lag = 1; lag <= lags && sum > 0.0; lag++) {
    double c = 0.0;
    for (long i = lag; i < n; i++) c += (r[i] - mean) * (r[i - lag] - mean);
    c /= sum;
    if (lag == 1) *first = c;
    q += c * c / (double)(n - lag);
  }
  return (double)n * ((double)n + 2.0) * q;
}

static int compare_numbers(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Values so far off that noise as that of the others has them in one of a thousand columns only. The others
 * are judged by their median, which outliers do not move. */
static void find_outliers(ga_fit *f, const char *data, const char *name, long from, long n)
{
  enum { FEW = 12 };
  const double of_median = 1.4826, more = 1.5; /* the median of few values is itself not exact */
  double *size = f->r_trial;
  long far = 0, farthest = from;
  if (n < FEW) return;
  for (long i = 0; i < n; i++) size[i] = fabs(f->r[from + i]);
  qsort(size, (size_t)n, sizeof *size, compare_numbers);
  const double limit = more * of_median * size[n / 2] * ga__normal_quantile(1.0 - 0.5 * RARE / (double)n);
  for (long i = from; i < from + n; i++) {
    far += fabs(f->r[i]) > limit;
    if (fabs(f->r[i]) > fabs(f->r[farthest])) farthest = i;
  }
  if (far == 0 || far > n / 10) return; /* with more of them it is another noise */
  const ga__residual *x = &f->residual[farthest];
  ga__fit_note(f,
               "%s: %ld value%s of %s %s much farther from the model than the others, first of all %.6g at t "
               "= %.6g s, "
               "where it has %.6g: wrong measurements may decide the estimates",
               data, far, far == 1 ? "" : "s", name, far == 1 ? "is" : "are", x->y,
               f->o.data[x->data].time[x->row], f->now.values[x->at]);
}

/* Rows that have the time and all values of the row above: a file that was put together from overlapping
 * pieces, or values that were only held. */
static void find_repeated(ga_fit *f, int e)
{
  const ga_fit_data *d = &f->o.data[e];
  long n = 0;
  for (long i = 1; i < d->n_rows; i++) {
    int equal = d->time[i] == d->time[i - 1], known = 0;
    for (int c = 0; c < d->n_columns && equal; c++) {
      const double *y = d->values + (size_t)c * (size_t)d->n_rows;
      known |= !isnan(y[i]);
      equal = isnan(y[i]) ? isnan(y[i - 1]) : y[i] == y[i - 1];
    }
    n += equal && known;
  }
  if (n > d->n_rows / 20)
    ga__fit_note(f,
                 "%s: %ld of %ld rows repeat the row above, time and values: they count as measured twice, "
                 "which makes intervals too narrow",
                 d->name, n, d->n_rows);
}

static ga_status judge_column(ga_fit *f, int e, int c, long from, long n)
{
  const int column = f->column_at[e] + c;
  const ga_machine *machine = ga_model_machine(f->pr.model); /* its names live as long as the fit */
  const int signal = ga_machine_find_signal(machine, f->o.data[e].signals[c]);
  const ga__group *group = &f->groups[f->group[column]];
  double low = INFINITY, high = -INFINITY, sum = 0.0, first;
  for (long i = from; i < from + n; i++) {
    low = fmin(low, f->residual[i].y), high = fmax(high, f->residual[i].y);
    sum += f->r[i] * f->r[i];
  }
  const double rms = sqrt(sum / (double)n) * group->sigma, range = high - low;
  const int lags = n / 5 < MOST_LAGS ? (int)(n / 5) : MOST_LAGS;
  const double q = correlate(f->r + from, n, lags, &first);
  f->columns[column] = (ga_fit_column){.data = e,
                                       .column = c,
                                       .signal = ga_machine_signal_name(machine, signal),
                                       .unit = ga_machine_signal_unit(machine, signal),
                                       .n = n,
                                       .rms = rms,
                                       .sigma = group->sigma,
                                       .correlation = first};
  const char *name = f->columns[column].signal;
  if (!name || !f->columns[column].unit) return ga__no_memory(f->ctx, "names of signals");
  if (range == 0.0 && n > 1)
    ga__fit_note(f, "%s: the measured values of %s are all equal", f->o.data[e].name, name);
  if (lags >= 2 && rms > CLEAN * range && q > ga__chi_square(1.0 - RARE, lags))
    ga__fit_note(f,
                 "%s: residuals of %s are not white (correlation of neighbours %.2f): the model lacks "
                 "something, or the "
                 "noise is coloured; intervals are then wrong, mostly too narrow",
                 f->o.data[e].name, name, first);
  if (rms > CLEAN * range) find_outliers(f, f->o.data[e].name, name, from, n);
  if (group->known && lags > 0) {
    const double per = sum / (double)n, high_quantile = ga__chi_square(1.0 - RARE, (double)n) / (double)n;
    if (per > high_quantile)
      ga__fit_note(f, "%s: residuals of %s are %.3g times as large as the given standard deviation",
                   f->o.data[e].name, name, sqrt(per));
  }
  return GA_OK;
}

static ga_status judge_residuals(ga_fit *f)
{
  long from = 0;
  ga_status status = GA_OK;
  for (int e = 0; e < f->o.n_data; e++) {
    find_repeated(f, e);
    for (int c = 0; c < f->o.data[e].n_columns; c++) {
      long n = 0;
      while (from + n < f->m && f->residual[from + n].data == e &&
             f->residual[from + n].column == f->column_at[e] + c)
        n++;
      if (!status) status = judge_column(f, e, c, from, n);
      from += n;
    }
  }
  return status;
}

/* ---- Steps of the runs ---- */

/* By how much smaller steps would move the estimates, to first order: −(JᵀJ)⁻¹ Jᵀ Δr. */
static ga_status judge_steps(ga_fit *f, int free, const int *at)
{
  const int n = f->pr.n;
  const double part = 0.2, finer = 0.1;
  double *g = f->small, *step = g + n, most = 0.0, by = 0.0;
  int which = -1;
  memcpy(f->trial.p, f->now.p, (size_t)n * sizeof *g);
  for (int e = 0; e < f->o.n_data; e++) {
    ga_run_settings *s = &f->settings[e];
    s->step *= 0.5;
    s->tolerance *= finer;
    double *const all[] = {&s->atol, &s->rtol_v, &s->atol_v, &s->rtol_x, &s->atol_x};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) *all[i] *= finer;
  }
  ga_status status = ga__problem_evaluate(&f->pr, 0, &f->trial);
  if (status) return status;
  if (f->trial.failed || !ga__fit_residuals(f, &f->trial, f->r_trial)) {
    ga__fit_note(f, "a run with more accuracy fails, so that the error of the steps is not known: %.250s",
                 f->trial.text);
    return GA_OK;
  }
  /* Jᵀ Δr from the derivatives themselves: J has been factored in place */
  for (int k = 0; k < free; k++) {
    g[k] = 0.0;
    for (long i = 0; i < f->m; i++) {
      const ga__residual *x = &f->residual[i];
      g[k] += f->now.slopes[(size_t)at[k] * f->pr.n_values + x->at] / f->groups[x->group].sigma *
              (f->r_trial[i] - f->r[i]);
    }
  }
  for (int k = 0; k < free; k++) {
    const ga_fit_parameter *p = &f->parameter[at[k]];
    step[k] = 0.0;
    for (int l = 0; l < free; l++) step[k] -= f->covariance[at[k] * n + at[l]] * g[l];
    if (!isfinite(p->error) || fabs(step[k]) <= CLEAN * fabs(p->value)) continue;
    if (fabs(step[k]) > most * p->error) most = fabs(step[k]) / p->error, which = at[k], by = step[k];
  }
  if (which >= 0 && most > part)
    ga__fit_note(f,
                 "the steps of the runs are too large for these data: smaller ones move %s by %.3g, %.2g "
                 "standard errors; a "
                 "smaller --%s reduces this",
                 f->parameter[which].name, by, most, f->settings[0].step > 0.0 ? "step" : "tol");
  return GA_OK;
}

ga_status ga__fit_judge(ga_fit *f)
{
  int at[GA__MOST_VARIED];
  const int free = find_free(f, at);
  ga_status status = GA_OK;
  if (f->now.derived != GA__NO_SLOPES) {
    ga__fit_linearise(f);
    if (free > 0) status = decompose(f, free, at);
    if (status) return status;
    judge_parameters(f, free, at);
  }
  status = judge_residuals(f);
  if (!status && f->report.end == GA_FIT_CONVERGED && free > 0) status = judge_steps(f, free, at);
  if (status && status != GA_STOPPED) return status;
  ga_fit_report *r = &f->report;
  r->runs = f->pr.runs;
  r->failed = f->pr.failed;
  r->by_differences = f->pr.differences;
  r->why = f->pr.why;
  r->n_values = f->m;
  r->chi2 = f->chi2;
  r->n = f->pr.n;
  r->parameter = f->parameter;
  r->correlation = f->correlation;
  r->n_columns = f->column_at[f->o.n_data];
  r->column = f->columns;
  r->notes = f->notes;
  if (f->n_rows_unused > 0)
    ga__fit_note(f, "%ld row%s behind the end of the run, at %.9g s, %s not used", f->n_rows_unused,
                 f->n_rows_unused == 1 ? "" : "s", f->settings[0].t_end,
                 f->n_rows_unused == 1 ? "is" : "are");
  return GA_OK;
}
