/* Derivatives of measures by parameters: against differences of complete runs with the same steps, closed
 * forms, and where there is none. */
#define _XOPEN_SOURCE 700 /* mkstemp */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "study/study_impl.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A damped oscillator that is pushed from rest to a new place. */
static const char OSCILLATOR[] =
    "galpha: 1\n"
    "parameters: {k: 4, c: 0.6, m: 1.2, rest: 1, start: 0.1, level: 0.7}\n"
    "bodies: {x: {type: scalar, mass: m, position: start}}\n"
    "forces: {s: {type: spring, coordinate: x, stiffness: k, damping: c, rest: rest}}\n"
    "simulation: {t_end: 24, step: 0.02, newton_tolerance: 1e-13}\n";

/* Undamped, from 1: its extremes are at 1 and at 2·offset − 3, equal in size where offset is 1. */
static const char SWING[] = "galpha: 1\n"
                            "parameters: {k: 4, offset: 1}\n"
                            "bodies: {x: {type: scalar, mass: 1, position: 1}}\n"
                            "forces: {s: {type: spring, coordinate: x, stiffness: k, rest: offset - 1}}\n"
                            "simulation: {t_end: 6.5, step: 0.01, rho: 1, newton_tolerance: 1e-13}\n";

typedef struct outcome {
  double value[32], scale[32], slope[32];
  int refused, status;
  char text[GA_ERROR_TEXT], error[GA_ERROR_TEXT];
} outcome;

static void write_model(char *path, const char *text)
{
  close(mkstemp(path));
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs(text, file);
  assert_int_equal(fclose(file), 0);
}

/* One run with `by` at this value; slopes by it where derive is 1. */
static void run_model(const char *path, int n, const char *const *measures, const char *by, double value,
                      int derive, outcome *out)
{
  ga_context *ctx = NULL;
  ga_model *model = NULL;
  ga_model_variation *variation = NULL;
  ga_run_settings settings;
  char set[64];
  const char *sets[] = {set};
  static const char *const given[] = {"step", "newton_tolerance", "t_end"};
  ga_run_settings fixed = ga_run_defaults();
  ga__trial t = {.model = path, .n_measures = n, .measures = measures, .settings = &fixed};
  fixed.step = 2e-3, fixed.newton_tolerance = 1e-13, fixed.t_end = 0.6;
  if (strstr(path, "examples")) t.n_given = 3, t.given = given;
  ga_study_parameter parameter = {by, "", value};
  const int number = 0;
  snprintf(set, sizeof set, "%s=%.17g", by, value);
  assert_int_equal(ga_context_create(NULL, &ctx), GA_OK);
  if (ga__trial_open(ctx, &t, 1, sets, &model, &settings))
    fail_msg("%s", ga_model_message_at(model, 0)->text);
  ga_model_parameter p;
  ga_model_parameter_at(model, ga_model_find_parameter(model, by), &p);
  if (strcmp(p.unit, "1") != 0) parameter.unit = p.unit;
  ga__outcome o = {.measures = out->value, .scales = out->scale};
  ga__derived d = {.n = 1, .by = &variation, .parameter = &number, .measures = out->slope};
  ga_model_opts opts = ga_model_defaults();
  opts.n_set = 1, opts.set = sets;
  if (derive)
    assert_int_equal(ga_model_variation_create(ctx, model, path, &opts, by, 0.0, &variation), GA_OK);
  out->status = ga__trial_run(ctx, &t, model, &settings, 1, &parameter, NULL, &o, derive ? &d : NULL);
  out->refused = d.refused;
  snprintf(out->text, sizeof out->text, "%s", d.text);
  snprintf(out->error, sizeof out->error, "%s", ga_context_error(ctx)->text);
  ga_model_variation_destroy(&variation);
  ga_model_destroy(&model);
  ga_context_destroy(&ctx);
}

/* Differences over δ and 2δ, extrapolated. */
static void differences(const char *path, int n, const char *const *measures, const char *by, double value,
                        double *out)
{
  static outcome o[4];
  static const double at[] = {-2.0, -1.0, 1.0, 2.0};
  const double h = 2e-4 * fabs(value);
  for (int k = 0; k < 4; k++) {
    run_model(path, n, measures, by, value + at[k] * h, 0, &o[k]);
    if (o[k].status) fail_msg("%s", o[k].error);
  }
  for (int i = 0; i < n; i++)
    out[i] = (8.0 * (o[2].value[i] - o[1].value[i]) - (o[3].value[i] - o[0].value[i])) / (12.0 * h);
}

/* tolerance: of times, which are found to 1e-7 of a step, a hundred times as much. */
static void compare_file(const char *path, int n, const char *const *measures, const char *by, double value,
                         double tolerance)
{
  static outcome plain, derived;
  double d[32];
  run_model(path, n, measures, by, value, 0, &plain);
  run_model(path, n, measures, by, value, 1, &derived);
  if (derived.status || derived.refused) fail_msg("%s: %s %s", by, derived.text, derived.error);
  assert_memory_equal(plain.value, derived.value, (size_t)n * sizeof(double)); /* the run is not changed */
  differences(path, n, measures, by, value, d);
  for (int i = 0; i < n; i++) {
    const double size = fmax(fabs(derived.scale[i] / value), fabs(d[i]));
    const double allowed = tolerance * (strstr(measures[i], "_time") ? 100.0 : 1.0);
    if (!(fabs(derived.slope[i] - d[i]) <= allowed * size))
      fail_msg("%s by %s: %.12g, by differences %.12g", measures[i], by, derived.slope[i], d[i]);
  }
}

static void compare(const char *text, int n, const char *const *measures, const char *by, double value,
                    double tolerance)
{
  char path[] = "/tmp/galpha_slopes_XXXXXX";
  write_model(path, text);
  compare_file(path, n, measures, by, value, tolerance);
  unlink(path);
}

static const char *const MEASURES[] = {"max(x)",           "min(x.rate)",
                                       "range(x)",         "mean(x)",
                                       "rms(x - 0.3)",     "std(x)",
                                       "integral(x^2*t)",  "initial(x)",
                                       "final(x)",         "at(3.137, x)",
                                       "peak_time(x)",     "low_time(x.rate)",
                                       "crossing(x,0.8)",  "crossing(x, 1, 3)",
                                       "settling(x, 5%)",  "settling(x, 10%, 1)",
                                       "rise(x)",          "overshoot(x)",
                                       "max(x)/mean(x)^2", "final(t*x.rate)",
                                       "max(s.force)",     "rms(x.rate)*final(x)"};
enum { N = sizeof MEASURES / sizeof *MEASURES };

static void slopes_are_those_of_the_runs(void **state)
{
  static const struct {
    const char *by;
    double value;
  } cases[] = {{"k", 4.0}, {"c", 0.6}, {"m", 1.2}, {"rest", 1.0}, {"start", 0.1}};
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    compare(OSCILLATOR, N, MEASURES, cases[i].by, cases[i].value, 5e-8);
}

/* Parameters in the measures themselves; and corners within a step, where integrals take shorter parts. */
static void slopes_know_parameters_and_corners(void **state)
{
  static const char *const by_k[] = {"max(k*x)", "k*mean(x)", "rms(s.force/k)"}, *const corners[] = {
                                                                                     "integral(abs(x.rate))"};
  (void)state;
  compare(OSCILLATOR, 3, by_k, "k", 4.0, 5e-8);
  compare(OSCILLATOR, 1, corners, "k", 4.0, 1e-4);
}

static void slopes_of_a_mechanism(void **state)
{
  static const char *const texts[] = {"max(slider.x)",      "min(slider.x)",          "rms(slider.x)",
                                      "mean(spring.force)", "max(abs(spring.force))", "final(slider.x)"};
  (void)state;
  compare_file(MODELS "/slider_crank.yaml", 6, texts, "crank_length", 0.15,
               2e-6); /* maxima pass ends of steps */
}

static void equal_maxima_are_noticed(void **state)
{
  static const char *const texts[] = {"max(abs(x))"}, *const single[] = {"max(x)", "min(x)"};
  char path[] = "/tmp/galpha_slopes_XXXXXX";
  static outcome o;
  (void)state;
  write_model(path, SWING);
  run_model(path, 1, texts, "offset", 1.0, 1, &o);
  assert_int_equal(o.status, 0);
  assert_int_equal(o.refused, 0); /* the slope of one side is there */
  assert_true(fabs(fabs(o.slope[0]) - 2.0) < 1e-4 || fabs(o.slope[0]) < 1e-4);
  if (!strstr(o.text, "a corner: its extremes at t =")) fail_msg("'%s'", o.text);
  o.text[0] = '\0';
  run_model(path, 2, single, "k", 4.0, 1, &o); /* equal ones with equal slopes */
  assert_string_equal(o.text, "");
  unlink(path);
}

static void what_has_no_slope_is_said(void **state)
{
  static const struct {
    const char *measure, *words;
  } cases[] = {{"crossings(x, 0.5)", "a count has no derivative"},
               {"at(level*2, x)", "an argument of it depends on parameters"},
               {"final(energy.dissipated)", "energy.dissipated is summed up along the run"},
               {"rms(0*x)", "a root has no derivative"}};
  char path[] = "/tmp/galpha_slopes_XXXXXX";
  static outcome o;
  (void)state;
  write_model(path, OSCILLATOR);
  for (size_t i = 0; i < 4; i++) {
    run_model(path, 1, &cases[i].measure, "level", 0.7, 1, &o);
    assert_int_equal(o.status, 0);
    if (!strstr(o.text, cases[i].words)) fail_msg("%s: '%s'", cases[i].measure, o.text);
    assert_true(o.refused && isnan(o.slope[0]));
  }
  unlink(path);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(slopes_are_those_of_the_runs), cmocka_unit_test(slopes_know_parameters_and_corners),
      cmocka_unit_test(slopes_of_a_mechanism), cmocka_unit_test(equal_maxima_are_noticed),
      cmocka_unit_test(what_has_no_slope_is_said)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
