/* Derivatives of measures of a model by a parameter, and differences of complete runs. */
#ifndef GALPHA_TESTS_SLOPES_RIG_H
#define GALPHA_TESTS_SLOPES_RIG_H

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

static double slopes_width = 2e-4; /* [-] δ of the differences, of the parameter */

/* Differences over δ and 2δ, extrapolated. */
static void differences(const char *path, int n, const char *const *measures, const char *by, double value,
                        double *out)
{
  static outcome o[4];
  static const double at[] = {-2.0, -1.0, 1.0, 2.0};
  const double h = slopes_width * fabs(value);
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

#endif
