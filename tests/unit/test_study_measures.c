/* Measures of runs against closed forms: free and damped oscillators, and jumps. */
#define _XOPEN_SOURCE 700 /* mkstemp */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "galpha/study.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const double PI = 3.14159265358979323846;

/* x'' + 2 ζ ω x' + ω² x = 0 from x = 1, ω = 2: with ζ = 0 x = cos 2t. */
static const char OSCILLATOR[] =
    "galpha: 1\n"
    "parameters: {k: 4, c: 0, rest: 0, end: 10}\n"
    "bodies: {x: {type: scalar, mass: 1, position: 1}}\n"
    "forces: {s: {type: spring, coordinate: x, stiffness: k, damping: c, rest: rest}}\n"
    "simulation: {t_end: end, tolerance: 1e-12, method: collocation}\n";

typedef struct result {
  double value[16];
  ga_study_row row;
  char text[GA_ERROR_TEXT];
} result;

static void write_model(const char *path, const char *text)
{
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs(text, file);
  assert_int_equal(fclose(file), 0);
}

/* One run of a model text with these measures. */
static void measure(const char *model, int n_set, const char *const *set, int n, const char *const *measures,
                    const ga_run_settings *settings, int n_given, const char *const *given, result *out)
{
  char path[] = "/tmp/galpha_study_XXXXXX";
  ga_context *ctx = NULL;
  ga_design *design = NULL;
  ga_study *study = NULL;
  ga_study_worker *worker = NULL;
  ga_design_opts d = ga_design_defaults();
  ga_study_opts o = ga_study_defaults();
  assert_int_equal(ga_context_create(NULL, &ctx), GA_OK);
  close(mkstemp(path));
  write_model(path, model);
  d.n_set = n_set, d.set = set;
  assert_int_equal(ga_design_create(ctx, &d, &design), GA_OK);
  o.model = path, o.design = design, o.n_measures = n, o.measures = measures;
  o.settings = settings, o.n_given = n_given, o.given = given;
  if (ga_study_create(ctx, &o, &study)) fail_msg("%s", ga_context_error(ctx)->text);
  assert_int_equal(ga_study_worker_create(study, NULL, &worker), GA_OK);
  assert_int_equal(ga_study_compute(worker, 0, &out->row), GA_OK);
  memcpy(out->value, out->row.values, (size_t)n * sizeof(double));
  snprintf(out->text, sizeof out->text, "%s", out->row.text);
  ga_study_worker_destroy(&worker);
  ga_study_destroy(&study);
  ga_design_destroy(&design);
  ga_context_destroy(&ctx);
  unlink(path);
}

#define NEAR(x, y, tolerance)                                                                                \
  do {                                                                                                       \
    const double is_ = (x), expected_ = (y);                                                                 \
    if (!(fabs(is_ - expected_) <= (tolerance)))                                                             \
      fail_msg("line %d: %.15g instead of %.15g", __LINE__, is_, expected_);                                 \
  } while (0)

static void values_are_those_of_a_cosine(void **state)
{
  static const char *const texts[] = {
      "max(x)",         "min(x)",   "range(x)",          "mean(x)",         "rms(x)",
      "integral(x)",    "at(3, x)", "peak_time(x.rate)", "crossing(x,0.5)", "crossing(x, 0, 3)",
      "crossings(x,0)", "std(x)",   "max(abs(x.rate))",  "final(t)",        "low_time(x)",
      "mean(abs(x))"};
  result r;
  (void)state;
  measure(OSCILLATOR, 0, NULL, 16, texts, NULL, 0, NULL, &r);
  assert_int_equal(r.row.status, GA_STUDY_DONE);
  const double T = 10.0, mean = sin(2 * T) / (2 * T), square = 0.5 + sin(4 * T) / (8 * T), e = 3e-7;
  NEAR(r.value[0], 1.0, e);
  NEAR(r.value[1], -1.0, e);
  NEAR(r.value[2], 2.0, e);
  NEAR(r.value[3], mean, e);
  NEAR(r.value[4], sqrt(square), e);
  NEAR(r.value[5], mean * T, 10 * e);
  NEAR(r.value[6], cos(6.0), e);
  NEAR(fmod(r.value[7], PI), 0.75 * PI, 1e-3); /* the time of a flat maximum; which of them is rounding */
  NEAR(r.value[8], PI / 6, e);
  NEAR(r.value[9], 1.25 * PI, 10 * e);
  NEAR(r.value[10], 6.0, 0.0);
  NEAR(r.value[11], sqrt(square - mean * mean), e);
  NEAR(r.value[12], 2.0, e);
  NEAR(r.value[13], 10.0, 0.0);
  NEAR(fmod(r.value[14], PI), 0.5 * PI, 1e-3);
  /* 12 half waves of 1, and from 6 π/2 + π/4 on */
  double area = 0.5; /* to the first zero, π/4 */
  area += 5.0 * 1.0 + fabs(sin(2 * T) - sin(2 * (0.25 + 2.5) * PI)) / 2;
  NEAR(r.value[15], area / T, e);
}

/* A maximum between records and steps: long steps, on which dense output has the truth to its own accuracy.
 */
static void maxima_do_not_depend_on_records_or_steps(void **state)
{
  static const char *const texts[] = {"max(x)", "max(x.rate)", "crossing(x, 0)"};
  static const char *const given[] = {"step", "output", "method"};
  ga_run_settings settings = ga_run_defaults();
  result fine, coarse;
  double error[2];
  (void)state;
  settings.step = 0.01, settings.output = 1.0;
  measure(OSCILLATOR, 0, NULL, 3, texts, &settings, 3, given, &fine);
  settings.output = 0.003;
  measure(OSCILLATOR, 0, NULL, 3, texts, &settings, 3, given, &coarse);
  assert_memory_equal(fine.value, coarse.value, 3 * sizeof(double));
  for (int i = 0; i < 2; i++) { /* of order 2, although no step ends at the maximum */
    settings.step = i ? 0.0173 : 0.0346;
    measure(OSCILLATOR, 0, NULL, 3, texts, &settings, 3, given, &coarse);
    error[i] = fabs(coarse.value[1] - 2.0);
    assert_true(fabs(coarse.value[2] - PI / 4) < 1e-3);
  }
  assert_true(error[1] < 0.35 * error[0] && error[1] < 1e-3);
}

/* The response to a step, from 0 to 1: x = 1 − e^(−ζωt) (cos ωd t + ζω/ωd sin ωd t). */
static double response(double t, double zeta)
{
  const double omega = 2.0, d = omega * sqrt(1.0 - zeta * zeta);
  return 1.0 - exp(-zeta * omega * t) * (cos(d * t) + zeta * omega / d * sin(d * t));
}

static double first_time(double zeta, double level)
{
  double a = 0.0, b = 0.0;
  while (response(b, zeta) < level) a = b, b += 1e-3;
  for (int i = 0; i < 60; i++) *(response(0.5 * (a + b), zeta) < level ? &a : &b) = 0.5 * (a + b);
  return a;
}

static double last_time(double zeta, double band)
{
  double a = 40.0, b;
  while (fabs(response(a, zeta) - 1.0) <= band) a -= 1e-3;
  b = a + 1e-3;
  for (int i = 0; i < 60; i++) *(fabs(response(0.5 * (a + b), zeta) - 1.0) > band ? &a : &b) = 0.5 * (a + b);
  return a;
}

static void responses_settle_rise_and_overshoot(void **state)
{
  static const char *const texts[] = {"settling(x, 2%)", "settling(x, 5%, 2)", "rise(x)",
                                      "rise(x, 0, 50%)", "overshoot(x)",       "settling(x, 2%)/rise(x)"};
  static const char *const set[] = {"c=1.2", "rest=2", "end=40"}; /* ζ = 0.3, from 1 to 2 */
  const double zeta = 0.3, e = 1e-6;
  result r;
  (void)state;
  measure(OSCILLATOR, 3, set, 6, texts, NULL, 0, NULL, &r);
  assert_int_equal(r.row.status, GA_STUDY_DONE);
  NEAR(r.value[0], last_time(zeta, 0.02), e);
  NEAR(r.value[1], last_time(zeta, 0.05), e);
  NEAR(r.value[2], first_time(zeta, 0.9) - first_time(zeta, 0.1), e);
  NEAR(r.value[3], first_time(zeta, 0.5), 1e-5);
  NEAR(r.value[4], exp(-PI * zeta / sqrt(1.0 - zeta * zeta)), e);
  NEAR(r.value[5], r.value[0] / r.value[2], 1e-12);
}

/* A ball that bounces without loss from x = 1 under g = 2: velocities jump, and the largest speed is that
 * before and behind the jump. */
static void values_before_and_behind_jumps_are_seen(void **state)
{
  static const char BALL[] = "galpha: 1\n"
                             "bodies: {x: {type: scalar, mass: 1, position: 1}}\n"
                             "forces: {g: {type: actuator, coordinate: x, force: \"-2\"}}\n"
                             "events: {bounce: {when: x, direction: falling, set: x.rate, to: -0.5*x.rate}}\n"
                             "simulation: {t_end: 3, tolerance: 1e-8}\n";
  static const char *const texts[] = {"min(x.rate)", "max(x.rate)", "crossings(x.rate, 0.6)", "mean(x.rate)",
                                      "min(x)",      "integral(x)", "crossing(x.rate, 0.6)"};
  result r;
  (void)state;
  measure(BALL, 0, NULL, 7, texts, NULL, 0, NULL, &r);
  assert_int_equal(r.row.status, GA_STUDY_DONE);
  /* falls for 1 s to −2, leaves with 1, is at the top at 1.5, back at 2 s with −1, leaves with 0.5, at the
   * top at 2.25, back at 2.5 with −0.5, leaves with 0.25, lands at 2.75, ... */
  NEAR(r.value[0], -2.0, 1e-6);
  NEAR(r.value[1], 1.0, 1e-6);
  NEAR(r.value[2], 2.0, 0.0); /* up at 1 s, down at 1.2 s */
  NEAR(r.value[4], 0.0, 1e-6);
  NEAR(r.value[6], 1.0, 1e-6);
  /* falling: ∫ (1 − t²) = 2/3; flights of v: ∫ = v³/(6 a²/2²) = 2 v³/(3·4)·... = v³ / 6 with a = 2 */
  double area = 2.0 / 3.0, v = 1.0, t = 1.0;
  for (; t + v < 3.0 && v > 1e-6; t += v, v *= 0.5) area += v * v * v / 6.0;
  NEAR(r.value[5], area, 1e-5);
}

static void what_has_no_value_says_why(void **state)
{
  static const char *const texts[] = {"crossing(x, 3)", "at(11 s, x)", "settling(x, 2%)", "max(1/step(x,0))",
                                      "max(x)"};
  static const char *const words[] = {"there are 0 crossings of 3", "does not contain this time",
                                      "not settled", "undefined at t"};
  result r;
  (void)state;
  for (int i = 0; i < 4; i++) {
    measure(OSCILLATOR, 0, NULL, 1, texts + i, NULL, 0, NULL, &r);
    assert_int_equal(r.row.status, GA_STUDY_DONE);
    assert_true(isnan(r.value[0]));
    if (!strstr(r.text, words[i])) fail_msg("%s", r.text);
  }
  measure(OSCILLATOR, 0, NULL, 5, texts, NULL, 0, NULL, &r);
  NEAR(r.value[4], 1.0, 1e-6);
}

static void texts_are_checked(void **state)
{
  static const char *const texts[][2] = {{"max(y)", "there is no signal 'y'"},
                                         {"max(x.rat)", "did you mean 'x.rate'"},
                                         {"maxi(x)", "did you mean 'max'"},
                                         {"x", "a measure of it"},
                                         {"max(x", "a ) is missing"},
                                         {"max(mean(x))", "within another one"},
                                         {"at(x, x)", "changes during a run"},
                                         {"at(x)", "at has 1 argument"},
                                         {"max()", "max has 0 arguments"},
                                         {"max(x)+max(x.rate)", "'+' of"},
                                         {"max(x+x.rate)", "'+' of"},
                                         {"2", "nothing is measured"},
                                         {"", "expected"},
                                         {"max(x) +", "expected"}};
  ga_context *ctx = NULL;
  ga_model *model = NULL;
  (void)state;
  assert_int_equal(ga_context_create(NULL, &ctx), GA_OK);
  assert_int_equal(ga_model_read_text(ctx, "m", OSCILLATOR, strlen(OSCILLATOR), NULL, &model), GA_OK);
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    ga_measures *m = NULL;
    const char *const two[] = {"max(x)", texts[i][0]};
    int which = -1;
    assert_int_equal(ga_measures_create(ctx, ga_model_machine(model), 2, two, 0, NULL, &which, &m),
                     GA_ERR_ARGUMENT);
    assert_null(m);
    assert_int_equal(which, 1);
    if (!strstr(ga_context_error(ctx)->text, texts[i][1]))
      fail_msg("%s: '%s' is not in: %s", texts[i][0], texts[i][1], ga_context_error(ctx)->text);
  }
  ga_measures *m = NULL;
  const ga_study_parameter p[] = {{"k", "N/m", 4.0}, {"T", "s", 3.0}};
  const char *const good[] = {"max(k*x)/k", "at(T/2, x)", "max(x)*k", "max(2, 3)*max(x)"}, *const unit[] = {
                                                                                               "m", "m", "N",
                                                                                               "m"};
  assert_int_equal(ga_measures_create(ctx, ga_model_machine(model), 4, good, 2, p, NULL, &m), GA_OK);
  for (int i = 0; i < 4; i++) assert_string_equal(ga_measures_unit(m, i), unit[i]);
  ga_measures_destroy(&m);
  ga_model_destroy(&model);
  ga_context_destroy(&ctx);
}

/* With an accuracy, tolerances are lowered until measures change by less. */
static void accuracy_is_that_of_measures(void **state)
{
  static const char *const texts[] = {"at(9.3 s, x)", "crossing(x, 0, 5)"}, *const given[] = {"accuracy",
                                                                                              "tolerance",
                                                                                              "method"};
  ga_run_settings settings = ga_run_defaults();
  result r;
  (void)state;
  for (int i = 2; i < 5; i++) {
    settings.accuracy = pow(10.0, -i);
    measure(OSCILLATOR, 0, NULL, 2, texts, &settings, 3, given, &r);
    assert_int_equal(r.row.status, GA_STUDY_DONE);
    NEAR(r.value[0], cos(18.6), settings.accuracy);
    NEAR(r.value[1], 2.25 * PI, 10 * settings.accuracy);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(values_are_those_of_a_cosine),
                                     cmocka_unit_test(maxima_do_not_depend_on_records_or_steps),
                                     cmocka_unit_test(responses_settle_rise_and_overshoot),
                                     cmocka_unit_test(values_before_and_behind_jumps_are_seen),
                                     cmocka_unit_test(what_has_no_value_says_why),
                                     cmocka_unit_test(texts_are_checked),
                                     cmocka_unit_test(accuracy_is_that_of_measures)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
