/* Fits of parameters to measured signals: what is compared with what. */
#include "study/fit.h"

#include "mbs/name.h"
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

ga_fit_opts ga_fit_defaults(void)
{
  return (ga_fit_opts){.jobs = 1, .most_iterations = 50, .confidence = 0.95, .poll_seconds = 0.05};
}

/* ---- Memory ---- */

void ga_fit_destroy(ga_fit **fit)
{
  if (!fit || !*fit) return;
  ga_fit *f = *fit;
  ga_context *ctx = f->ctx;
  ga__search_point_destroy(&f->pr, &f->now);
  ga__search_point_destroy(&f->pr, &f->trial);
  ga__problem_close(&f->pr);
  void *const blocks[] = {f->experiment, f->settings, f->given,    f->times,     f->signals,
                          f->group,      f->slot,     f->row_time, f->residual,  f->groups,
                          f->J,          f->curves,   f->curve_at, f->column_at, f->columns};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) ga__free(ctx, blocks[i]);
  ga__free(ctx, f);
  *fit = NULL;
}

static ga_status no_memory(const ga_fit *f)
{
  return ga__no_memory(f->ctx, "a fit");
}

static ga_status allocate_lists(ga_fit *f)
{
  const ga_fit_opts *o = &f->o;
  size_t columns = 0, rows = 0, values = 0;
  f->curve_at = ga__alloc(f->ctx, (size_t)o->n_data + 1, sizeof *f->curve_at);
  f->column_at = ga__alloc(f->ctx, (size_t)o->n_data + 1, sizeof *f->column_at);
  if (!f->curve_at || !f->column_at) return no_memory(f);
  for (int e = 0; e < o->n_data; e++) {
    f->curve_at[e] = (long)values;
    f->column_at[e] = (int)columns;
    columns += (size_t)o->data[e].n_columns;
    rows += (size_t)o->data[e].n_rows;
    values += (size_t)o->data[e].n_columns * (size_t)o->data[e].n_rows;
  }
  f->curve_at[o->n_data] = (long)values;
  f->column_at[o->n_data] = (int)columns;
  f->experiment = ga__alloc(f->ctx, (size_t)o->n_data, sizeof *f->experiment);
  f->settings = ga__alloc(f->ctx, (size_t)o->n_data, sizeof *f->settings);
  f->given = ga__alloc(f->ctx, (size_t)o->n_given + 4, sizeof *f->given);
  f->times = ga__alloc(f->ctx, rows, sizeof *f->times);
  f->signals = ga__alloc(f->ctx, columns, sizeof *f->signals);
  f->group = ga__alloc(f->ctx, columns, sizeof *f->group);
  f->slot = ga__alloc(f->ctx, columns, sizeof *f->slot);
  f->row_time = ga__alloc(f->ctx, rows, sizeof *f->row_time);
  f->residual = ga__alloc(f->ctx, values, sizeof *f->residual);
  f->groups = ga__alloc(f->ctx, columns, sizeof *f->groups);
  f->columns = ga__alloc(f->ctx, columns, sizeof *f->columns);
  f->curves = ga__alloc(f->ctx, values, sizeof *f->curves);
  return f->experiment && f->settings && f->given && f->times && f->signals && f->group && f->slot &&
                 f->row_time && f->residual && f->groups && f->columns && f->curves
             ? GA_OK
             : no_memory(f);
}

static ga_status allocate_systems(ga_fit *f)
{
  const size_t n = (size_t)f->pr.n, m = (size_t)f->m;
  f->J = ga__alloc(f->ctx, m * n + 2 * m + 5 * n * n + 8 * n + 1, sizeof *f->J);
  if (!f->J) return no_memory(f);
  f->r = f->J + m * n;
  f->r_trial = f->r + m;
  f->R = f->r_trial + m;
  f->q = f->R + n * n;
  f->D = f->q + n;
  f->covariance = f->D + n;
  f->correlation = f->covariance + n * n;
  f->small = f->correlation + n * n; /* 2 n² + 3 n */
  ga_status status = ga__search_point_create(&f->pr, &f->now);
  return status ? status : ga__search_point_create(&f->pr, &f->trial);
}

/* ---- Checks ---- */

static ga_status refuse_data(const ga_fit *f, const ga_fit_data *d, const char *expected, const char *format,
                             ...) GA_PRINTF(4, 5);

static ga_status refuse_data(const ga_fit *f, const ga_fit_data *d, const char *expected, const char *format,
                             ...)
{
  char text[GA_ERROR_TEXT];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  return ga__study_refuse(f->ctx, "data", d->name, expected, NULL, "%s", text);
}

static ga_status check_opts(ga_context *ctx, const ga_fit_opts *o)
{
  static const char kind[] = "fit";
  if (!o->model) return ga__refuse_null(ctx, "ga_fit_create", "model");
  if (o->n_vary > 0 && !o->vary) return ga__refuse_missing(ctx, kind, "n_vary", o->n_vary, "vary");
  if (o->n_set > 0 && !o->set) return ga__refuse_missing(ctx, kind, "n_set", o->n_set, "set");
  if (o->n_data < 1) return ga__refuse_number(ctx, kind, "n_data", o->n_data, ">= 1");
  if (!o->data) return ga__refuse_missing(ctx, kind, "n_data", o->n_data, "data");
  if (o->n_given && !(o->given && o->settings))
    return ga__refuse_missing(ctx, kind, "n_given", o->n_given, "given or settings");
  if (o->jobs < 1 || o->jobs > 1024) return ga__refuse_number(ctx, kind, "jobs", o->jobs, "1 to 1024");
  if (o->most_iterations < 0)
    return ga__refuse_number(ctx, kind, "most_iterations", o->most_iterations, ">= 0");
  if (!(o->confidence > 0.0 && o->confidence < 1.0))
    return ga__refuse_number(ctx, kind, "confidence", o->confidence, "between 0 and 1");
  if (!(o->poll_seconds > 0.0)) return ga__refuse_number(ctx, kind, "poll_seconds", o->poll_seconds, "> 0");
  for (int e = 0; e < o->n_data; e++) {
    const ga_fit_data *d = &o->data[e];
    if (!d->name || !d->time || !d->signals || !d->values || (d->n_set && !d->set))
      return ga__refuse_null(ctx, "ga_fit_create", "data");
    if (d->n_columns < 1) return ga__refuse_number(ctx, kind, "n_columns", d->n_columns, ">= 1");
    if (d->n_rows < 1) return ga__refuse_number(ctx, kind, "n_rows", (double)d->n_rows, ">= 1");
    for (int c = 0; c < d->n_columns; c++)
      if (!d->signals[c]) return ga__refuse_null(ctx, "ga_fit_create", "signals");
  }
  return GA_OK;
}

/* [-] Squares of larger values are no numbers. */
#define LARGEST 1e150

static ga_status check_rows(const ga_fit *f, const ga_fit_data *d, double t_start)
{
  for (long i = 0; i < d->n_rows; i++) {
    if (!isfinite(d->time[i])) return refuse_data(f, d, "a number", "row %ld has no time", i + 1);
    if (i > 0 && d->time[i] < d->time[i - 1])
      return refuse_data(f, d, "times that do not decrease",
                         "row %ld is at %.9g s, the row above it at %.9g s", i + 1, d->time[i],
                         d->time[i - 1]);
    if (d->time[i] < t_start)
      return refuse_data(f, d, "times of the run", "row %ld is at %.9g s, before the run starts, at %.9g s",
                         i + 1, d->time[i], t_start);
  }
  for (int c = 0; c < d->n_columns; c++)
    for (long i = 0; i < d->n_rows; i++) {
      const double value = d->values[(size_t)c * (size_t)d->n_rows + (size_t)i];
      if (isinf(value))
        return refuse_data(f, d, "a number", "row %ld of '%s' is infinite", i + 1, d->signals[c]);
      if (fabs(value) > LARGEST)
        return refuse_data(f, d, "numbers whose squares can be added", "row %ld of '%s' is %.3g", i + 1,
                           d->signals[c], value);
    }
  return GA_OK;
}

static const char *signal_at(const void *machine, int i)
{
  return ga_machine_signal_name(machine, i);
}

static ga_status check_signal(const ga_fit *f, const char *name)
{
  const ga_machine *m = ga_model_machine(f->pr.model);
  char nearest[GA_TEXT_PIECE];
  if (ga_machine_find_signal(m, name) >= 0) return GA_OK;
  ga__name_nearest(nearest, name, (int)strlen(name), signal_at, m, ga_machine_n_signals(m));
  return ga__study_refuse(f->ctx, "signal", name, NULL, nearest, "the model has none of this name");
}

/* ---- Experiments ---- */

static int is_given(const ga_fit *f, const char *name)
{
  for (int i = 0; i < f->o.n_given; i++)
    if (strcmp(f->o.given[i], name) == 0) return 1;
  return 0;
}

/* Settings of all runs; ends of runs follow from the data. */
static void make_settings(ga_fit *f, int e, double last)
{
  static const char *const own[] = {"step", "tolerance", "accuracy", "t_end"};
  const int n = f->o.n_given;
  for (int i = 0; i < n; i++) f->given[i] = f->o.given[i];
  for (int i = 0; i < 4; i++) f->given[n + i] = own[i];
  if (ga__problem_settings(ga_model_settings(f->pr.model), f->o.settings, n, f->o.given, &f->settings[e]))
    f->experiment[e].chosen = &f->settings[e];
  if (!is_given(f, "t_end") && last > f->settings[e].t_start) f->settings[e].t_end = last;
  f->experiment[e].trial.settings = &f->settings[e];
  f->experiment[e].trial.n_given = n + 4;
  f->experiment[e].trial.given = f->given;
}

/* Times without repetition; where rows and columns are among the values. */
static ga_status make_experiment(ga_fit *f, int e, double *times, long *rows, int first)
{
  const ga_fit_data *d = &f->o.data[e];
  ga__trial *t = &f->experiment[e].trial;
  ga_status status = GA_OK;
  make_settings(f, e, d->time[d->n_rows - 1]);
  status = check_rows(f, d, f->settings[e].t_start);
  for (long i = 0; i < d->n_rows && !status; i++) {
    rows[i] = -1;
    if (d->time[i] > f->settings[e].t_end) {
      f->n_rows_unused++;
      continue;
    }
    if (t->n_times == 0 || times[t->n_times - 1] != d->time[i]) times[t->n_times++] = d->time[i];
    rows[i] = t->n_times - 1;
  }
  for (int c = 0; c < d->n_columns && !status; c++) {
    const char **list = f->signals + first;
    int k = 0;
    status = check_signal(f, d->signals[c]);
    while (k < t->n_signals && strcmp(list[k], d->signals[c]) != 0) k++;
    if (k == t->n_signals) {
      if (k == 64) return refuse_data(f, d, "fewer", "there are more than 64 signals");
      list[t->n_signals++] = d->signals[c];
    }
    f->slot[first + c] = k;
  }
  t->times = times;
  t->signals = f->signals + first;
  return status;
}

/* Columns of one signal have one standard deviation, unless it is given. */
static ga_status make_groups(ga_fit *f)
{
  const ga_fit_opts *o = &f->o;
  for (int e = 0; e < o->n_data; e++)
    for (int c = 0; c < o->data[e].n_columns; c++) {
      const ga_fit_data *d = &o->data[e];
      const double sigma = d->sigma ? d->sigma[c] : 0.0;
      int g = 0;
      if (!(sigma >= 0.0 && isfinite(sigma)))
        return refuse_data(f, d, "a number above 0", "the standard deviation of '%s' is %.6g", d->signals[c],
                           sigma);
      for (; g < f->n_groups; g++) {
        int other = 0, of = 0; /* the first column of the group */
        while (f->group[other] != g) other++;
        while (f->column_at[of + 1] <= other) of++;
        const char *name = o->data[of].signals[other - f->column_at[of]];
        if (f->groups[g].known == (sigma > 0.0) && strcmp(name, d->signals[c]) == 0 &&
            (sigma == 0.0 || f->groups[g].sigma == sigma))
          break;
      }
      if (g == f->n_groups) f->groups[f->n_groups++] = (ga__group){.known = sigma > 0.0, .sigma = sigma};
      f->group[f->column_at[e] + c] = g;
    }
  return GA_OK;
}

/* All measured values that are used. */
static ga_status make_residuals(ga_fit *f)
{
  long first = 0;
  for (int e = 0; e < f->o.n_data; e++) {
    const ga_fit_data *d = &f->o.data[e];
    const ga__experiment *x = &f->experiment[e];
    for (int c = 0; c < d->n_columns; c++) {
      const int column = f->column_at[e] + c;
      const long before = f->m;
      for (long i = 0; i < d->n_rows; i++) {
        const double y = d->values[(size_t)c * (size_t)d->n_rows + (size_t)i];
        if (isnan(y) || f->row_time[first + i] < 0) continue;
        f->residual[f->m++] = (ga__residual){
            .data = e,
            .column = c,
            .group = f->group[column],
            .row = i,
            .at = x->at + (size_t)f->slot[column] * (size_t)x->trial.n_times + (size_t)f->row_time[first + i],
            .y = y};
      }
      f->groups[f->group[column]].n += f->m - before;
      if (f->m == before)
        return refuse_data(f, d, "at least one", "the column of '%s' has no numbers%s", d->signals[c],
                           f->n_rows_unused ? " until the end of the run" : "");
    }
    first += d->n_rows;
  }
  if (f->m <= f->pr.n)
    return refuse_data(f, &f->o.data[0], "more values than parameters",
                       "there are %ld value%s for %d parameter%s", f->m, f->m == 1 ? "" : "s", f->pr.n,
                       f->pr.n == 1 ? "" : "s");
  return GA_OK;
}

/* With as few values of a signal as parameters, these could meet them all, and their deviation would seem to
 * be 0. */
static ga_status check_groups(const ga_fit *f)
{
  for (int e = 0; e < f->o.n_data && f->n_groups > 1; e++)
    for (int c = 0; c < f->o.data[e].n_columns; c++) {
      const ga__group *g = &f->groups[f->group[f->column_at[e] + c]];
      if (!g->known && g->n <= f->pr.n)
        return refuse_data(
            f, &f->o.data[e], "more values, or their standard deviation",
            "there are only %ld values of '%s', from which it cannot be estimated with %d parameters", g->n,
            f->o.data[e].signals[c], f->pr.n);
    }
  return GA_OK;
}

/* First standard deviations where none is given: of the data themselves. */
static void guess_sigmas(ga_fit *f)
{
  for (int g = 0; g < f->n_groups; g++) {
    double mean = 0.0, sum = 0.0, most = 0.0;
    if (f->groups[g].known) continue;
    for (long i = 0; i < f->m; i++)
      if (f->residual[i].group == g) mean += f->residual[i].y / (double)f->groups[g].n;
    for (long i = 0; i < f->m; i++) {
      if (f->residual[i].group != g) continue;
      const double d = f->residual[i].y - mean;
      sum += d * d;
      most = fmax(most, fabs(f->residual[i].y));
    }
    double sigma = sqrt(sum / (double)f->groups[g].n);
    if (!(sigma > 1e-9 * most)) sigma = most; /* constant data */
    f->groups[g].sigma = sigma > 0.0 ? sigma : 1.0;
  }
}

/* ---- The fit ---- */

static int poll(void *user)
{
  ga_fit *f = user;
  return f->o.poll && f->o.poll(f->o.user, f->pr.runs, f->chi2);
}

static ga_status prepare(ga_fit *f)
{
  const ga_fit_opts *o = &f->o;
  double *times = f->times;
  long *rows = f->row_time;
  f->pr = (ga__problem){.ctx = f->ctx,
                        .command = "fit",
                        .n_set = o->n_set,
                        .set = o->set,
                        .n_experiments = o->n_data,
                        .experiment = f->experiment,
                        .jobs = o->jobs,
                        .differences = o->differences,
                        .seconds = o->poll_seconds,
                        .poll = poll,
                        .user = f};
  for (int e = 0; e < o->n_data; e++) {
    f->experiment[e].trial.model = o->model;
    f->experiment[e].trial.allow_library = o->allow_library;
    f->experiment[e].trial.settings = o->settings;
    f->experiment[e].trial.n_given = o->n_given;
    f->experiment[e].trial.given = o->given;
    f->experiment[e].n_set = o->data[e].n_set;
    f->experiment[e].set = o->data[e].set;
  }
  ga_status status = ga__problem_open(&f->pr, o->n_vary, o->vary);
  for (int e = 0; e < o->n_data && !status; e++) {
    status = make_experiment(f, e, times, rows, f->column_at[e]);
    times += o->data[e].n_rows;
    rows += o->data[e].n_rows;
  }
  if (!status) status = make_groups(f);
  ga__problem_lay_out(&f->pr);
  if (!status) status = make_residuals(f);
  if (!status) status = check_groups(f);
  return status ? status : allocate_systems(f);
}

static ga_status begin(ga_fit *f)
{
  guess_sigmas(f);
  if (f->pr.differences) ga__problem_refine(&f->pr);
  for (int j = 0; j < f->pr.n; j++) f->now.p[j] = f->pr.varied[j].start;
  const ga_status status = ga__problem_evaluate(&f->pr, 1, &f->now);
  if (status) return status;
  if (!f->now.failed && !ga__fit_residuals(f, &f->now, f->r)) {
    f->now.failed = 1;
    snprintf(f->now.text, sizeof f->now.text,
             "it ends before the last measured time, or a signal has no value there");
  }
  for (long i = 0; i < f->m && !f->now.failed; i++) f->chi2 += f->r[i] * f->r[i];
  if (!f->now.failed && !isfinite(f->chi2)) {
    f->now.failed = 1;
    snprintf(f->now.text, sizeof f->now.text,
             "it is so far from the measured values that the squares of the distances cannot be added");
  }
  if (!f->now.failed) return GA_OK;
  return ga__refuse(f->ctx, GA_ERR_NAN, GA_REASON_SEARCH_START,
                    &(ga__facts){.kind = "fit", .part = f->o.model, .detail = f->now.text});
}

/* The sum at the start with the weights of the end. */
static double chi2_of(const ga_fit *f, const double *values)
{
  double sum = 0.0;
  for (long i = 0; i < f->m; i++) {
    const double d = (values[i] - f->residual[i].y) / f->groups[f->residual[i].group].sigma;
    sum += d * d;
  }
  return sum;
}

static void keep_curves(ga_fit *f)
{
  long first = 0;
  for (int e = 0; e < f->o.n_data; e++) {
    const ga_fit_data *d = &f->o.data[e];
    const ga__experiment *x = &f->experiment[e];
    for (int c = 0; c < d->n_columns; c++)
      for (long i = 0; i < d->n_rows; i++) {
        const long time = f->row_time[first + i];
        f->curves[f->curve_at[e] + c * d->n_rows + i] =
            time < 0 ? NAN
                     : f->now.values[x->at + (size_t)f->slot[f->column_at[e] + c] * (size_t)x->trial.n_times +
                                     (size_t)time];
      }
    first += d->n_rows;
  }
}

static ga_status solve(ga_fit *f)
{
  double *start = ga__alloc(f->ctx, (size_t)f->m, sizeof *start);
  if (!start) return no_memory(f);
  for (long i = 0; i < f->m; i++) start[i] = f->now.values[f->residual[i].at];
  ga_status status = ga__fit_iterate(f);
  if (!status) {
    keep_curves(f);
    f->report.chi2_start = chi2_of(f, start);
    status = ga__fit_judge(f);
  }
  ga__free(f->ctx, start);
  f->has_result = !status;
  return status;
}

ga_status ga_fit_create(ga_context *ctx, const ga_fit_opts *opts, ga_fit **out)
{
  if (out) *out = NULL;
  if (!ctx) return GA_ERR_ARGUMENT;
  if (!opts || !out) return ga__null_argument(ctx);
  ga_status status = check_opts(ctx, opts);
  if (status) return status;
  ga_fit *f = *out = ga__alloc(ctx, 1, sizeof *f);
  if (!f) return ga__no_memory(ctx, "a fit");
  f->ctx = ctx;
  f->o = *opts;
  status = allocate_lists(f);
  if (!status) status = prepare(f);
  if (!status) status = begin(f);
  if (!status) status = solve(f);
  return status;
}

const ga_fit_report *ga_fit_result(const ga_fit *fit)
{
  return fit && fit->has_result ? &fit->report : NULL;
}

const ga_model *ga_fit_model(const ga_fit *fit)
{
  return fit ? fit->pr.model : NULL;
}

const double *ga_fit_curve(const ga_fit *fit, int data, int column)
{
  if (!fit || !fit->has_result || data < 0 || data >= fit->o.n_data) return NULL;
  const int columns = fit->column_at[data + 1] - fit->column_at[data];
  if (column < 0 || column >= columns) return NULL;
  return fit->curves + fit->curve_at[data] +
         column * ((fit->curve_at[data + 1] - fit->curve_at[data]) / columns);
}
