/* Fits of an oscillator to its closed form, with and without noise: estimates, their intervals, and what is
 * said where data do not determine them. */
#define _XOPEN_SOURCE 700 /* mkstemp */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "galpha/study.h"
#include "seeds.h"
#include "study/statistics.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char MODEL[] =
    "galpha: 1\n"
    "parameters: {k: 3 N/m, c: 0.3 N*s/m, m: 1 kg, start: 0.8 m, more: 1, idle: 2}\n"
    "bodies: {x: {type: scalar, mass: m, position: start}}\n"
    "forces: {s: {type: spring, coordinate: x, stiffness: k*more, damping: c, rest: 0}}\n"
    "simulation: {t_end: 1, tolerance: 1e-8}\n";

static const double K = 4.0, C = 0.5, START = 1.0;

/* x and its rate at t. */
static void closed_form(double t, double *x, double *rate)
{
  const double d = 0.5 * C, w = sqrt(K - d * d), e = exp(-d * t);
  *x = START * e * (cos(w * t) + d / w * sin(w * t));
  *rate = -START * e * K / w * sin(w * t);
}

enum { ROWS = 60 };
typedef struct rig {
  ga_context *ctx;
  ga_fit *fit;
  ga_fit_opts o;
  ga_fit_data data[2];
  double time[ROWS], values[2 * ROWS], sigma[2];
  char path[64];
} rig;

static const char *const SIGNALS[] = {"x", "x.rate"};
static const char *const VARY[] = {"k=3:1:10 N/m", "c=0.3:0:2", "start"};

static void open_rig(rig *r, const char *model)
{
  *r = (rig){.o = ga_fit_defaults()};
  strcpy(r->path, "/tmp/galpha_fit_XXXXXX");
  close(mkstemp(r->path));
  FILE *file = fopen(r->path, "w");
  assert_non_null(file);
  fputs(model, file);
  assert_int_equal(fclose(file), 0);
  assert_int_equal(ga_context_create(NULL, &r->ctx), GA_OK);
  for (int i = 0; i < ROWS; i++) {
    r->time[i] = 0.1 * (i + 1);
    closed_form(r->time[i], &r->values[i], &r->values[ROWS + i]);
  }
  r->data[0] = (ga_fit_data){.name = "data",
                             .n_columns = 2,
                             .n_rows = ROWS,
                             .time = r->time,
                             .signals = SIGNALS,
                             .values = r->values};
  r->o.model = r->path, r->o.n_vary = 3, r->o.vary = VARY, r->o.n_data = 1, r->o.data = r->data;
}

static void close_rig(rig *r)
{
  ga_fit_destroy(&r->fit);
  ga_context_destroy(&r->ctx);
  unlink(r->path);
}

static const ga_fit_report *fit(rig *r)
{
  ga_fit_destroy(&r->fit);
  if (ga_fit_create(r->ctx, &r->o, &r->fit)) fail_msg("%s", ga_context_error(r->ctx)->text);
  const ga_fit_report *report = ga_fit_result(r->fit);
  assert_non_null(report);
  return report;
}

#define NEAR(x, y, tolerance)                                                                                \
  do {                                                                                                       \
    const double is_ = (x), expected_ = (y);                                                                 \
    if (!(fabs(is_ - expected_) <= (tolerance)))                                                             \
      fail_msg("line %d: %.15g instead of %.15g", __LINE__, is_, expected_);                                 \
  } while (0)

static int has_note(const ga_fit_report *report, const char *words)
{
  for (int i = 0; i < report->n_notes; i++)
    if (strstr(report->notes[i], words)) return 1;
  return 0;
}

static void expect_note(const ga_fit_report *report, const char *words)
{
  if (has_note(report, words)) return;
  for (int i = 0; i < report->n_notes; i++) printf("# %s\n", report->notes[i]);
  fail_msg("no note has '%s'", words);
}

/* ---- Without noise ---- */

static void exact_data_give_the_parameters(void **state)
{
  rig r;
  (void)state;
  open_rig(&r, MODEL);
  const ga_fit_report *report = fit(&r);
  if (getenv("GALPHA_SHOW"))
    for (int j = 0; j < 3; j++)
      printf("# %s %.12g ± %.2g [%s], %d iterations, %ld runs\n", report->parameter[j].name,
             report->parameter[j].value, report->parameter[j].error, report->parameter[j].unit,
             report->iterations, report->runs);
  assert_int_equal(report->end, GA_FIT_CONVERGED);
  assert_int_equal(report->by_differences, 0);
  NEAR(report->parameter[0].value, K, 2e-5); /* the error of the steps */
  NEAR(report->parameter[1].value, C, 2e-5);
  NEAR(report->parameter[2].value, START, 2e-5);
  assert_string_equal(report->parameter[0].unit, "N/m");
  assert_true(report->iterations <= 15 && report->runs <= 20);
  for (int i = 0; i < ROWS; i++) NEAR(ga_fit_curve(r.fit, 0, 0)[i], r.values[i], 2e-5);
  close_rig(&r);
}

static void differences_give_the_same(void **state)
{
  rig r;
  (void)state;
  open_rig(&r, MODEL);
  r.o.differences = 1;
  const ga_fit_report *report = fit(&r);
  assert_int_equal(report->end, GA_FIT_CONVERGED);
  assert_int_equal(report->by_differences, 1);
  NEAR(report->parameter[0].value, K, 2e-5);
  NEAR(report->parameter[1].value, C, 2e-5);
  NEAR(report->parameter[2].value, START, 2e-5);
  close_rig(&r);
}

/* Data of the model's own run are met to rounding, whatever the steps. */
static void data_of_a_run_are_met(void **state)
{
  rig r;
  double own[2 * ROWS];
  ga_run_settings settings = ga_run_defaults();
  static const char *const given[] = {"step"}, *const first[] = {"k=4", "c=0.5", "start=1"};
  (void)state;
  open_rig(&r, MODEL);
  settings.step = 0.05;
  r.o.settings = &settings, r.o.n_given = 1, r.o.given = given;
  r.o.vary = first, r.o.most_iterations = 0;
  fit(&r);
  memcpy(own, ga_fit_curve(r.fit, 0, 0), ROWS * sizeof *own);
  memcpy(own + ROWS, ga_fit_curve(r.fit, 0, 1), ROWS * sizeof *own);
  memcpy(r.values, own, sizeof own);
  r.o.vary = VARY, r.o.most_iterations = 50;
  const ga_fit_report *report = fit(&r);
  assert_int_equal(report->end, GA_FIT_CONVERGED);
  NEAR(report->parameter[0].value, K, 1e-9);
  NEAR(report->parameter[1].value, C, 1e-9);
  NEAR(report->parameter[2].value, START, 1e-9);
  close_rig(&r);
}

/* ---- With noise ---- */

static double normal(rig_random *random)
{
  const double u = rig_uniform(random, 1e-300, 1.0), v = rig_uniform(random, 0.0, 1.0);
  return sqrt(-2.0 * log(u)) * cos(6.283185307179586 * v);
}

static void add_noise(rig *r, rig_random *random, const double *exact)
{
  for (int i = 0; i < ROWS; i++) {
    r->values[i] = exact[i] + 0.02 * normal(random);
    r->values[ROWS + i] = exact[ROWS + i] + 0.1 * normal(random);
  }
}

/* The number of intervals of 95 % that contain the true value lies within the 99.9 % bounds of the binomial
 * distribution. Noise of both signals is estimated, with other sizes. */
static void intervals_cover_what_they_say(void **state)
{
  const int sets = rig_brief() ? 4 : 240;
  const double truth[3] = {K, C, START};
  double exact[2 * ROWS], shift[3] = {0.0};
  rig r;
  rig_random random = rig_seed(0);
  int inside[3] = {0};
  (void)state;
  open_rig(&r, MODEL);
  ga_run_settings settings = ga_run_defaults();
  static const char *const given[] = {"step"};
  settings.step = 0.02;
  r.o.settings = &settings, r.o.n_given = 1, r.o.given = given;
  memcpy(exact, r.values, sizeof exact);
  for (int k = 0; k < sets; k++) {
    add_noise(&r, &random, exact);
    const ga_fit_report *report = fit(&r);
    assert_int_equal(report->end, GA_FIT_CONVERGED);
    for (int j = 0; j < 3; j++) {
      const ga_fit_parameter *p = &report->parameter[j];
      inside[j] += p->low <= truth[j] && truth[j] <= p->high;
      shift[j] += (p->value - truth[j]) / p->error / sqrt(sets);
    }
  }
  for (int j = 0; j < 3; j++) {
    const double spread = 3.3 * sqrt(sets * 0.95 * 0.05);
    if (getenv("GALPHA_SHOW"))
      printf("# %s: %d of %d intervals, %.1f %%; mean of the estimates off by %.2f of its standard error\n",
             r.o.vary[j], inside[j], sets, 100.0 * inside[j] / sets, shift[j]);
    if (fabs(inside[j] - 0.95 * sets) > spread + 1.0)
      fail_msg("%s: %d of %d intervals", r.o.vary[j], inside[j], sets);
    if (fabs(shift[j]) > 3.5)
      fail_msg("%s: the estimates are off by %.2f standard errors of their mean", r.o.vary[j], shift[j]);
  }
  close_rig(&r);
}

/* Standard errors of a problem that is linear: x = x0 exp(-t) in its start alone. */
static void errors_are_those_of_a_linear_fit(void **state)
{
  static const char LINEAR[] =
      "galpha: 1\nparameters: {start: 1}\n"
      "bodies: {x: {type: scalar, mass: 1, position: start, velocity: -start}}\n"
      "forces: {s: {type: spring, coordinate: x, stiffness: 1, damping: 2, rest: 0}}\n"
      "simulation: {t_end: 1, step: 2e-3}\n";
  static const char *const vary[] = {"start=2"};
  rig r;
  rig_random random = rig_seed(0);
  double xy = 0.0, xx = 0.0, ss = 0.0;
  (void)state;
  open_rig(&r, LINEAR);
  r.o.n_vary = 1, r.o.vary = vary, r.data[0].n_columns = 1;
  for (int i = 0; i < ROWS; i++) {
    const double x = exp(-r.time[i]);
    r.values[i] = 1.5 * x + 0.05 * normal(&random);
    xy += x * r.values[i], xx += x * x;
  }
  for (int i = 0; i < ROWS; i++) ss += pow(r.values[i] - xy / xx * exp(-r.time[i]), 2);
  const ga_fit_report *report = fit(&r);
  const double error = sqrt(ss / (ROWS - 1) / xx);
  NEAR(report->parameter[0].value, xy / xx, 1e-5);
  NEAR(report->parameter[0].error, error, 1e-4 * error);
  NEAR(report->parameter[0].high - report->parameter[0].value, 2.000995 * error, 1e-3 * error); /* t of 59 */
  r.sigma[0] = 0.05, r.data[0].sigma = r.sigma; /* with a known one */
  report = fit(&r);
  NEAR(report->parameter[0].error, 0.05 / sqrt(xx), 1e-5);
  NEAR(report->parameter[0].high - report->parameter[0].value, 1.959964 * 0.05 / sqrt(xx), 1e-5); /* normal */
  r.sigma[0] = 0.01;
  report = fit(&r);
  expect_note(report, "times as large as the given standard deviation");
  close_rig(&r);
}

/* ---- What is reported ---- */

static void what_is_not_determined_is_named(void **state)
{
  static const char *const both[] = {"k=3:1:10", "more=1:0.5:2", "start"},
                           *const idle[] = {"k", "idle=2:1:3"}, *const all[] = {"k=3", "c=0.3", "m=0.8"};
  rig r;
  (void)state;
  open_rig(&r, MODEL);
  r.o.vary = both;
  const ga_fit_report *report = fit(&r);
  expect_note(report, "k and more are not determined by these data, only a combination of them");
  assert_true(isinf(report->parameter[0].error) && isinf(report->parameter[1].error));
  assert_true(isfinite(report->parameter[2].error));
  r.o.n_vary = 3, r.o.vary = all; /* k, c and m together change nothing: their ratios are at the minimum */
  rig_random random = rig_seed(0);
  for (int i = 0; i < 2 * ROWS; i++) r.values[i] += 0.01 * normal(&random);
  report = fit(&r);
  assert_int_equal(report->end, GA_FIT_CONVERGED);
  expect_note(report, "k, c and m are not determined by these data, only a combination of them");
  NEAR(report->parameter[0].value / report->parameter[2].value, K, 0.1);
  r.o.n_vary = 2, r.o.vary = idle;
  report = fit(&r);
  expect_note(report, "idle is not determined by these data: it has no influence");
  assert_true(isfinite(report->parameter[0].error) && isinf(report->parameter[1].error));
  close_rig(&r);
}

/* The same estimates with bounds that are decades apart, and from starts decades away. */
static void bounds_may_be_decades_apart(void **state)
{
  static const char *const cases[][2] = {{"k=3:1e-6:1e6", "c=0.3:1e-9:1e3"},
                                         {"k=3:0:1e9", "c=0.3:0:1e9"},
                                         {"k=0.01:1e-6:1e6", "c=1e-6:1e-9:1e3"}};
  rig r;
  (void)state;
  open_rig(&r, MODEL);
  for (int differences = 0; differences < 2; differences++)
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
      static const char *const set[] = {"start=1"};
      r.o.n_vary = 2, r.o.vary = cases[i], r.o.n_set = 1, r.o.set = set, r.o.differences = differences;
      const ga_fit_report *report = fit(&r);
      assert_int_equal(report->end, GA_FIT_CONVERGED);
      assert_int_equal(report->by_differences, differences);
      NEAR(report->parameter[0].value, K, 5e-5);
      NEAR(report->parameter[1].value, C, 5e-5);
      assert_true(report->runs < (differences ? 250 : 40));
    }
  close_rig(&r);
}

/* One wrong value among sixty is named, and none where there is none. */
static void an_outlier_is_named(void **state)
{
  rig r;
  rig_random random = rig_seed(0);
  (void)state;
  open_rig(&r, MODEL);
  for (int i = 0; i < 2 * ROWS; i++) r.values[i] += 0.01 * normal(&random);
  const ga_fit_report *report = fit(&r);
  assert_false(has_note(report, "farther from the model than the others"));
  r.values[20] += 0.3;
  report = fit(&r);
  expect_note(report, "data: 1 value of x is much farther from the model than the others");
  expect_note(report, "at t = 2.1 s");
  close_rig(&r);
}

static void bounds_hold(void **state)
{
  static const char *const vary[] = {"k=3:1:3.5", "c=0.3:0:2", "start"};
  rig r;
  (void)state;
  open_rig(&r, MODEL);
  r.o.vary = vary;
  const ga_fit_report *report = fit(&r);
  assert_int_equal(report->end, GA_FIT_CONVERGED);
  assert_true(report->parameter[0].value == 3.5);
  assert_int_equal(report->parameter[0].at_bound, 1);
  assert_true(isnan(report->parameter[0].error) && isfinite(report->parameter[1].error));
  expect_note(report, "k is at its upper bound, 3.5 N/m");
  expect_note(report, "residuals of x are not white");
  close_rig(&r);
}

static void missing_values_and_experiments(void **state)
{
  rig r;
  double other[ROWS];
  static const char *const set[] = {"m=4"}, *const one[] = {"x"};
  (void)state;
  open_rig(&r, MODEL);
  for (int i = 0; i < ROWS; i += 3) r.values[i] = NAN;
  for (int i = 0; i < ROWS; i++) { /* k/m and c/m a quarter */
    const double d = 0.125 * C, w = sqrt(0.25 * K - d * d), t = r.time[i];
    other[i] = exp(-d * t) * (cos(w * t) + d / w * sin(w * t));
  }
  r.data[1] = (ga_fit_data){.name = "heavy",
                            .n_columns = 1,
                            .n_rows = ROWS,
                            .time = r.time,
                            .signals = one,
                            .values = other,
                            .n_set = 1,
                            .set = set};
  r.o.n_data = 2;
  const ga_fit_report *report = fit(&r);
  assert_int_equal(report->n_values, 3 * ROWS - ROWS / 3);
  assert_int_equal(report->n_columns, 3);
  NEAR(report->parameter[0].value, K, 5e-5);
  NEAR(report->parameter[1].value, C, 5e-5);
  r.o.jobs = 3;
  const double k = report->parameter[0].value, error = report->parameter[0].error;
  report = fit(&r);
  assert_true(report->parameter[0].value == k && report->parameter[0].error == error); /* bit for bit */
  close_rig(&r);
}

/* Models that cannot be built: the first step leads to the root of a negative number; the fit takes shorter
 * ones. */
static void failing_runs_are_steps_that_are_too_long(void **state)
{
  static const char ROOT[] =
      "galpha: 1\nparameters: {q: 1}\n"
      "bodies: {x: {type: scalar, mass: 1, position: 1}}\n"
      "forces: {s: {type: spring, coordinate: x, stiffness: 4, damping: 5*sqrt(q), rest: 0}}\n"
      "simulation: {t_end: 1, tolerance: 1e-8}\n";
  static const char *const vary[] = {"q"};
  rig r;
  (void)state;
  open_rig(&r, ROOT);
  r.o.n_vary = 1, r.o.vary = vary;
  const ga_fit_report *report = fit(&r);
  assert_int_equal(report->end, GA_FIT_CONVERGED);
  assert_true(report->failed > 0);
  NEAR(report->parameter[0].value, 0.01, 1e-6);
  close_rig(&r);
}

/* Each row twice counts as measured twice, which is said; a single one is not. */
static void repeated_rows_are_noted(void **state)
{
  (void)state;
  for (int all = 0; all < 2; all++) {
    double time[2 * ROWS], values[4 * ROWS];
    const int n = all ? 2 * ROWS : ROWS + 1;
    rig r;
    open_rig(&r, MODEL);
    for (int i = 0; i < n; i++) {
      const int from = all ? i / 2 : i < ROWS ? i : ROWS - 1;
      time[i] = r.time[from];
      for (int c = 0; c < r.data->n_columns; c++) values[c * n + i] = r.values[c * ROWS + from];
    }
    r.data->n_rows = n, r.data->time = time, r.data->values = values;
    const ga_fit_report *report = fit(&r);
    assert_int_equal(has_note(report, "repeat the row above"), all);
    close_rig(&r);
  }
}

static int stop_after(void *user, long runs, double best)
{
  (void)best;
  return runs >= *(int *)user;
}

static void stopping_keeps_the_best(void **state)
{
  int runs = 3;
  rig r;
  (void)state;
  open_rig(&r, MODEL);
  r.o.poll = stop_after, r.o.user = &runs;
  const ga_fit_report *report = fit(&r);
  assert_int_equal(report->end, GA_FIT_STOPPED);
  assert_true(report->chi2 < report->chi2_start);
  close_rig(&r);
}

static void wrong_data_are_refused(void **state)
{
  static const struct {
    int what;
    const char *words;
  } cases[] = {{0, "row 3 is at 0.3 s, the row above it at 5 s"},
               {1, "row 1 is at -1 s, before the run starts"},
               {2, "the model has none of this name"},
               {3, "there are 2 values for 3 parameters"},
               {4, "row 2 of 'x' is infinite"},
               {5, "the column of 'x' has no numbers"},
               {6, "is not below the upper one"},
               {7, "outside of its bounds"},
               {8, "it is both varied and set"},
               {9, "is a mass"},
               {10, "it starts at 0"},
               {11, "the model has none of this name"},
               {12, "row 4 has no time"},
               {13, "there are only 3 values of 'x', from which it cannot be estimated with 3 parameters"},
               {14, "row 5 of 'x' is 3e+299"}};
  static const char *const wrong[] = {"y", "x.rate"}, *const order[] = {"k=3:10:1", "c", "start"},
                           *const outside[] = {"k=3:4:10", "c", "start"}, *const set[] = {"k=2"},
                           *const unit[] = {"k=3:1:10kg", "c", "start"}, *const zero[] = {"zero"},
                           *const unknown[] = {"kk", "c", "start"};
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    rig r;
    open_rig(&r,
             i == 10
                 ? "galpha: 1\nparameters: {zero: 0}\nbodies: {x: {type: scalar, mass: 1, position: zero}}\n"
                 : MODEL);
    ga_fit_data *d = r.data;
    switch (cases[i].what) {
    case 0:
      r.time[1] = 5.0;
      break;
    case 1:
      r.time[0] = -1.0;
      break;
    case 2:
      d->signals = wrong;
      break;
    case 3:
      d->n_rows = 1;
      break;
    case 4:
      r.values[1] = INFINITY;
      break;
    case 5:
      for (int k = 0; k < ROWS; k++) r.values[k] = NAN;
      break;
    case 6:
      r.o.vary = order;
      break;
    case 7:
      r.o.vary = outside;
      break;
    case 8:
      r.o.n_set = 1, r.o.set = set;
      break;
    case 9:
      r.o.vary = unit;
      break;
    case 10:
      r.o.vary = zero, r.o.n_vary = 1;
      break;
    case 11:
      r.o.vary = unknown;
      break;
    case 12:
      r.time[3] = NAN;
      break;
    case 14:
      r.values[4] = 3e299;
      break;
    default:
      for (int k = 3; k < ROWS; k++) r.values[k] = NAN;
    }
    assert_int_equal(ga_fit_create(r.ctx, &r.o, &r.fit), GA_ERR_ARGUMENT);
    assert_null(ga_fit_result(r.fit));
    if (!strstr(ga_context_error(r.ctx)->text, cases[i].words))
      fail_msg("%d: %s", (int)i, ga_context_error(r.ctx)->text);
    close_rig(&r);
  }
}

/* The model is another one after the first runs. */
static int change_model(void *user, long runs, double best)
{
  rig *r = user;
  (void)best;
  FILE *file = runs > 0 ? fopen(r->path, "a") : NULL;
  if (!file) return 0;
  fputs("# edited\n", file);
  fclose(file);
  return 0;
}

static void a_model_that_changes_ends_a_fit(void **state)
{
  rig r;
  (void)state;
  open_rig(&r, MODEL);
  r.o.poll = change_model, r.o.user = &r;
  assert_int_equal(ga_fit_create(r.ctx, &r.o, &r.fit), GA_ERR_INCONSISTENT);
  assert_non_null(strstr(ga_context_error(r.ctx)->text, "its file has changed while the search was running"));
  assert_null(ga_fit_result(r.fit));
  close_rig(&r);
}

/* Quantiles as in tables. */
static void quantiles(void **state)
{
  static const struct {
    double confidence, n, t;
  } table[] = {{0.95, 1, 12.7062},   {0.95, 2, 4.30265},  {0.95, 10, 2.228139},
               {0.95, 59, 2.000995}, {0.99, 5, 4.032143}, {0.95, 1e6, 1.959966}};
  (void)state;
  for (size_t i = 0; i < sizeof table / sizeof *table; i++)
    NEAR(ga__student(table[i].confidence, table[i].n), table[i].t, 5e-6 * table[i].t);
  NEAR(ga__chi_square(0.95, 10), 18.307, 0.03);
  NEAR(ga__chi_square(0.999, 4), 18.467, 0.3);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(exact_data_give_the_parameters),
                                     cmocka_unit_test(repeated_rows_are_noted),
                                     cmocka_unit_test(differences_give_the_same),
                                     cmocka_unit_test(data_of_a_run_are_met),
                                     cmocka_unit_test(intervals_cover_what_they_say),
                                     cmocka_unit_test(errors_are_those_of_a_linear_fit),
                                     cmocka_unit_test(what_is_not_determined_is_named),
                                     cmocka_unit_test(bounds_may_be_decades_apart),
                                     cmocka_unit_test(an_outlier_is_named),
                                     cmocka_unit_test(bounds_hold),
                                     cmocka_unit_test(missing_values_and_experiments),
                                     cmocka_unit_test(failing_runs_are_steps_that_are_too_long),
                                     cmocka_unit_test(stopping_keeps_the_best),
                                     cmocka_unit_test(wrong_data_are_refused),
                                     cmocka_unit_test(a_model_that_changes_ends_a_fit),
                                     cmocka_unit_test(quantiles)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
