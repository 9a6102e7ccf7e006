/* Error bars from two runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "galpha/galpha.h"
#include "galpha/result.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RECORDS = 1001 };

typedef double (*curve)(double t);

static ga_band *open_band(ga_context **ctx, int n, const char *const *names, const char *const *units)
{
  ga_band_opts o = ga_band_defaults();
  ga_band *b = NULL;
  o.n_signals = n;
  o.names = names;
  o.units = units;
  o.t_end = 10.0;
  assert_int_equal(ga_context_create(NULL, ctx), GA_OK);
  assert_int_equal(ga_band_create(*ctx, &o, &b), GA_OK);
  return b;
}

/* An error that changes its sign is covered where it vanishes, from the window before. */
static void crossings_are_covered(void **state)
{
  static const char *const name[] = {"a"}, *const unit[] = {"m"};
  ga_context *ctx;
  ga_band *b = open_band(&ctx, 1, name, unit);
  (void)state;
  for (int k = 0; k < RECORDS; k++) {
    const double t = 10.0 * k / (RECORDS - 1), exact = sin(t), error = 1e-3 * sin(7.0 * t);
    const double first = exact + 4.0 * error, second = exact + error;
    double bar;
    ga_band_add(b, t, &first, &second, &bar);
    assert_true(bar >= fabs(error));
    if (t > 1.5) assert_true(bar > 1.9e-3 && bar < 2.001e-3);
  }
  const ga_band_signal s = ga_band_of(b, 0);
  assert_true(fabs(s.error - 2e-3) < 1e-5 && fabs(s.scale - 2.0) < 1e-2 && fabs(s.ratio - 1e-3) < 1e-5);
  assert_false(s.constant);
  assert_true(ga_band_until(b, 2e-3) == 10.0 && ga_band_until(b, 0.5e-3) < 1.0);
  ga_band_destroy(&b);
  ga_context_destroy(&ctx);
}

/* An error of long ago is no error bar of now. */
static void windows_end(void **state)
{
  static const char *const name[] = {"a"}, *const unit[] = {"m"};
  ga_context *ctx;
  ga_band *b = open_band(&ctx, 1, name, unit);
  double t_jump = 0.0, decade;
  (void)state;
  for (int k = 0; k < RECORDS; k++) {
    const double t = 10.0 * k / (RECORDS - 1), second = t,
                 first = second + (fabs(t - 3.0) < 0.02 ? 3.0 : 3e-6);
    double bar;
    ga_band_add(b, t, &first, &second, &bar);
    if (t > 3.02 && t < 3.9) assert_true(bar > 1.9);
    if (t > 4.3) assert_true(bar < 1e-5);
  }
  assert_int_equal(ga_band_jumps(b, 0, &t_jump), 1);
  assert_true(fabs(t_jump - 3.0) < 0.05);
  assert_int_equal(ga_band_grows(b, &decade), 0);
  ga_band_destroy(&b);
  ga_context_destroy(&ctx);
}

static double exponential(double t)
{
  return 1e-9 * exp(2.0 * t);
}
static double square(double t)
{
  return 1e-3 * t * t;
}
static double straight(double t)
{
  return 1e-3 * t;
}

static void growth_is_recognised(void **state)
{
  static const char *const name[] = {"a"}, *const unit[] = {"m"};
  static const struct {
    curve error;
    int grows;
  } row[] = {{exponential, 1}, {square, 0}, {straight, 0}};
  (void)state;
  for (int i = 0; i < 3; i++) {
    ga_context *ctx;
    ga_band *b = open_band(&ctx, 1, name, unit);
    double t_jump, decade = 0.0, bar;
    for (int k = 0; k < RECORDS; k++) {
      const double t = 10.0 * k / (RECORDS - 1), second = sin(t), first = second + 3.0 * row[i].error(t);
      ga_band_add(b, t, &first, &second, &bar);
    }
    assert_int_equal(ga_band_grows(b, &decade), row[i].grows);
    if (row[i].grows) assert_true(fabs(decade - log(10.0) / 2.0) < 0.15);
    if (!row[i].grows) assert_int_equal(ga_band_jumps(b, 0, &t_jump), 0);
    ga_band_destroy(&b);
    ga_context_destroy(&ctx);
  }
}

/* Scales: a signal's range; little beside others of its unit; constants that are errors; energies together.
 */
static void scales(void **state)
{
  static const char *const name[] = {"big", "small", "zero", "alone", "energy.kinetic", "energy.balance",
                                     "b.ax"},
                           *const unit[] = {"m", "m", "m", "N", "J", "J", "m/s^2"};
  enum { N = 7 };
  ga_band_opts o = ga_band_defaults();
  ga_context *ctx;
  ga_band *b = NULL;
  (void)state;
  assert_int_equal(ga_context_create(NULL, &ctx), GA_OK);
  o.n_signals = N;
  o.names = name;
  o.units = unit;
  o.t_end = 10.0;
  o.gravity = 9.81;
  assert_int_equal(ga_band_create(ctx, &o, &b), GA_OK);
  for (int k = 0; k < RECORDS; k++) {
    const double t = 10.0 * k / (RECORDS - 1), e = sin(5.0 * t);
    const double second[N] = {100.0 * t, 1e-2 * sin(t), 1e-9 * e, 1e-18 * e, sin(t) + 1, 1e-4 * e, 1e-5 * e};
    double first[N], bar[N];
    for (int i = 0; i < N; i++) first[i] = second[i];
    first[1] += 3e-5 * e; /* 0.2 % of its range, far less of its unit's */
    first[2] += 3e-9 * e;
    first[3] += 3e-18 * e;
    first[5] += 3e-4 * e;
    first[6] += 3e-5 * e;
    ga_band_add(b, t, first, second, bar);
  }
  assert_true(ga_band_of(b, 0).ratio == 0.0);
  assert_true(fabs(ga_band_of(b, 1).ratio - 1e-3) < 1e-4);
  assert_true(ga_band_of(b, 2).constant && ga_band_of(b, 2).ratio < 1e-9);
  assert_true(ga_band_of(b, 3).constant && ga_band_of(b, 3).ratio < 1e-9);
  assert_true(fabs(ga_band_of(b, 5).ratio - 1e-4) < 1e-5);
  assert_true(ga_band_of(b, 6).constant && fabs(ga_band_of(b, 6).ratio - 2e-5 / 9.81) < 1e-5);
  double ratio;
  assert_int_equal(ga_band_worst(b, &ratio), 1);
  assert_true(ratio == ga_band_of(b, 1).ratio);
  ga_band_destroy(&b);
  ga_context_destroy(&ctx);
}

static void quaternions_have_two_signs(void **state)
{
  static const char *const name[] = {"x", "b.qw", "b.qx", "b.qy", "b.qz", "c.qx", "y"}, *const unit[] = {
                                                                                            "m", "", "", "",
                                                                                            "",  "", "m"};
  enum { N = 7 };
  ga_context *ctx;
  ga_band *b = open_band(&ctx, N, name, unit);
  double bar[N];
  (void)state;
  for (int k = 0; k < RECORDS; k++) {
    const double t = 10.0 * k / (RECORDS - 1);
    const double second[N] = {t, cos(t), sin(t), 0, 0, sin(t), -t},
                 first[N] = {t, -cos(t), -sin(t), 0, 0, -sin(t), -t};
    ga_band_add(b, t, first, second, bar);
  }
  for (int i = 0; i < N; i++) assert_true(ga_band_of(b, i).error == 0.0);
  const double other[N] = {0, 1, 0, 0, 0, 1, 0}, far[N] = {0, 0, 1, 0, 0, 1, 0};
  ga_band_add(b, 10.0, other, far, bar);
  assert_true(bar[1] > 0.6 && bar[2] > 0.6);
  ga_band_destroy(&b);
  ga_context_destroy(&ctx);
}

static void saved_and_loaded(void **state)
{
  static const char *const name[] = {"a", "b"}, *const unit[] = {"m", "s"};
  ga_context *ctx, *other;
  ga_band *b = open_band(&ctx, 2, name, unit), *c = open_band(&other, 2, name, unit);
  double *saved = calloc(ga_band_saved_size(b), sizeof *saved);
  (void)state;
  for (int k = 0; k < RECORDS; k++) {
    const double t = 10.0 * k / (RECORDS - 1), second[2] = {sin(t), t}, first[2] = {sin(1.001 * t), t + 1e-3};
    double bar[2], again[2];
    ga_band_add(b, t, first, second, bar);
    if (k == 500) {
      ga_band_save(b, saved);
      assert_int_equal(ga_band_load(c, saved), GA_OK);
    } else if (k > 500) {
      ga_band_add(c, t, first, second, again);
      assert_memory_equal(bar, again, sizeof bar);
    }
  }
  assert_true(ga_band_of(b, 0).ratio == ga_band_of(c, 0).ratio);
  saved[0] = 3;
  assert_int_equal(ga_band_load(c, saved), GA_ERR_ARGUMENT);
  free(saved);
  ga_band_destroy(&b);
  ga_band_destroy(&c);
  ga_context_destroy(&ctx);
  ga_context_destroy(&other);
}

static void nan_is_the_worst(void **state)
{
  static const char *const name[] = {"a", "b"}, *const unit[] = {"m", "m"};
  ga_context *ctx;
  ga_band *b = open_band(&ctx, 2, name, unit);
  double bar[2], ratio;
  (void)state;
  for (int k = 0; k < 10; k++) {
    const double second[2] = {k, k}, first[2] = {k + 0.1, k == 5 ? (double)NAN : k};
    ga_band_add(b, k, first, second, bar);
  }
  assert_int_equal(ga_band_worst(b, &ratio), 1);
  assert_false(ratio <= 1e300);
  ga_band_destroy(&b);
  ga_context_destroy(&ctx);
}

static void refused(void **state)
{
  static const char *const name[] = {"a"}, *const unit[] = {"m"};
  ga_band_opts o = ga_band_defaults();
  ga_context *ctx;
  ga_band *b = NULL;
  (void)state;
  assert_int_equal(ga_context_create(NULL, &ctx), GA_OK);
  o.n_signals = 1;
  o.names = name;
  o.units = unit;
  assert_int_equal(ga_band_create(ctx, &o, &b), GA_ERR_ARGUMENT); /* t_end */
  o.t_end = 1.0;
  assert_int_equal(ga_band_create(NULL, &o, &b), GA_ERR_ARGUMENT);
  assert_int_equal(ga_band_create(ctx, NULL, &b), GA_ERR_ARGUMENT);
  assert_int_equal(ga_band_create(ctx, &o, NULL), GA_ERR_ARGUMENT);
  o.window = 1.5;
  assert_int_equal(ga_band_create(ctx, &o, &b), GA_ERR_ARGUMENT);
  assert_null(b);
  assert_int_equal(ga_band_worst(NULL, NULL), -1);
  assert_int_equal(ga_band_saved_size(NULL), 0);
  ga_band_destroy(&b);
  ga_context_destroy(&ctx);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(crossings_are_covered),      cmocka_unit_test(windows_end),
      cmocka_unit_test(growth_is_recognised),       cmocka_unit_test(scales),
      cmocka_unit_test(quaternions_have_two_signs), cmocka_unit_test(saved_and_loaded),
      cmocka_unit_test(nan_is_the_worst),           cmocka_unit_test(refused)};
  return cmocka_run_group_tests_name("result: error bars", tests, NULL, NULL);
}
