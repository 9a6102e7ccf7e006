/* Error bars from two runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "galpha/galpha.h"
#include "galpha/result.h"
#include "errors.h"
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

/* Where errors cancel, a difference that is small beside the accuracy asked for tells little; what is the
 * same in both runs, or does not move, has no such error. */
static void bars_have_a_least_size(void **state)
{
  static const char *const name[] = {"moves", "is_given", "rests"}, *const unit[] = {"m", "m", "m"};
  ga_band_opts o = ga_band_defaults();
  ga_context *ctx;
  ga_band *b = NULL;
  double bar[3];
  (void)state;
  o.n_signals = 3, o.names = name, o.units = unit, o.t_end = 10.0, o.least = 0.01;
  assert_int_equal(ga_context_create(NULL, &ctx), GA_OK);
  for (int k = 0; k <= 100; k++) {
    const double t = 0.1 * k, second[3] = {4.0 * fmin(t, 5.0), 4.0 * fmin(t, 5.0), 7.0};
    const double first[3] = {second[0] + 3e-6, second[1], second[2] + 3e-6};
    if (k == 0) assert_int_equal(ga_band_create(ctx, &o, &b), GA_OK);
    ga_band_add(b, t, first, second, bar);
    assert_true(fabs(bar[0] - fmax(0.04 * fmin(t, 5.0), 2e-6)) < 1e-9);
    assert_true(bar[1] < 1e-12 && fabs(bar[2] - 2e-6) < 1e-9);
  }
  assert_true(fabs(ga_band_of(b, 0).error - 0.2) < 1e-9 && fabs(ga_band_of(b, 0).ratio - 0.01) < 1e-9);
  ga_band_destroy(&b);
  o.least = -1.0;
  assert_int_equal(ga_band_create(ctx, &o, &b), GA_ERR_ARGUMENT);
  ga_context_destroy(&ctx);
}

/* From the call on, and kept with what is saved. */
static void factors_change(void **state)
{
  static const char *const name[] = {"a"}, *const unit[] = {"m"};
  ga_context *ctx, *other;
  ga_band *b = open_band(&ctx, 1, name, unit), *c = open_band(&other, 1, name, unit);
  double *saved = calloc(ga_band_saved_size(b), sizeof *saved), bar;
  (void)state;
  assert_non_null(saved);
  for (int k = 0; k <= 10; k++) {
    const double second = k, first = second + 3e-3;
    if (k == 5) ga_band_set_factor(b, 3.0);
    ga_band_add(b, k, &first, &second, &bar);
    assert_true(fabs(bar - (k < 5 ? 2e-3 : 3e-3)) < 1e-9);
  }
  ga_band_set_factor(b, -1.0); /* is none */
  ga_band_save(b, saved);
  assert_int_equal(ga_band_load(c, saved), GA_OK);
  assert_true(fabs(ga_band_of(c, 0).error - 3e-3) < 1e-9);
  free(saved);
  ga_band_destroy(&b);
  ga_band_destroy(&c);
  ga_context_destroy(&ctx);
  ga_context_destroy(&other);
}

/* Two runs that agree know no more of the time than its rounding: what moves at 5 m/s at 1e6 s has an error
 * bar of some 2e-10 s times that, also when it rests again, and what has never moved none. */
static void clocks_round(void **state)
{
  static const char *const name[] = {"moves", "rests"}, *const unit[] = {"m", "m"};
  ga_band_opts o = ga_band_defaults();
  ga_context *ctx;
  ga_band *b = NULL;
  double bar[2];
  (void)state;
  o.n_signals = 2, o.names = name, o.units = unit, o.t_start = 1e6, o.t_end = 1e6 + 10;
  assert_int_equal(ga_context_create(NULL, &ctx), GA_OK);
  assert_int_equal(ga_band_create(ctx, &o, &b), GA_OK);
  for (int k = 0; k <= 100; k++) {
    const double t = 1e6 + 0.1 * k, value[2] = {5.0 * fmin(fmax(0.1 * k - 3.0, 0.0), 2.0), 7.0};
    ga_band_add(b, t, value, value, bar);
    assert_true(k > 30 ? bar[0] > 5 * 2.2e-10 && bar[0] < 5 * 1e-8 : bar[0] == 0.0);
    assert_true(bar[1] == 0.0);
  }
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

/* ---- Scales ---- */

/* A signal: what is true of it, and the error of the second run, of which the first has four
 * times as much. */
typedef struct made {
  const char *name, *unit;
  double constant, motion, error; /* constant + motion sin t + error sin 5t */
  int is_constant;                /* what has to come of it */
  double scale;
} made;

enum { MOST_MADE = 8 };

static void add_made(ga_band *b, const made *m, int n, double first_error)
{
  for (int k = 0; k < RECORDS; k++) {
    const double t = 10.0 * k / (RECORDS - 1);
    double first[MOST_MADE], second[MOST_MADE], bar[MOST_MADE];
    for (int i = 0; i < n; i++) {
      second[i] = m[i].constant + m[i].motion * sin(t) + m[i].error * sin(5.0 * t);
      first[i] = second[i] + (first_error - 1.0) * m[i].error * sin(5.0 * t);
    }
    ga_band_add(b, t, first, second, bar);
  }
}

static ga_band *open_made(ga_context *ctx, const made *m, int n, const ga_band *before)
{
  const char *names[MOST_MADE], *units[MOST_MADE];
  ga_band_opts o = ga_band_defaults();
  ga_band *b = NULL;
  for (int i = 0; i < n; i++) names[i] = m[i].name, units[i] = m[i].unit;
  o.n_signals = n;
  o.names = names;
  o.units = units;
  o.t_end = 10.0;
  o.gravity = 9.81;
  o.before = before;
  assert_int_equal(ga_band_create(ctx, &o, &b), GA_OK);
  return b;
}

static void check_made(const ga_band *b, const made *m, int n)
{
  for (int i = 0; i < n; i++) {
    const ga_band_signal s = ga_band_of(b, i);
    assert_int_equal(s.constant, m[i].is_constant);
    if (!(fabs(s.scale - m[i].scale) <= 0.02 * m[i].scale))
      fail_msg("%s: scale %g, not %g", m[i].name, s.scale, m[i].scale);
    assert_true(s.scale == 0.0 ? s.ratio == 0.0 : fabs(s.ratio - s.error / s.scale) <= 1e-12 * s.ratio);
  }
}

static void check_scales(const made *m, int n)
{
  ga_context *ctx;
  assert_int_equal(ga_context_create(NULL, &ctx), GA_OK);
  ga_band *b = open_made(ctx, m, n, NULL);
  add_made(b, m, n, 4.0);
  check_made(b, m, n);
  ga_band_destroy(&b);
  ga_context_destroy(&ctx);
}

/* However small a signal is beside others of its unit, its own range is what counts. */
static void small_signals_have_their_own_range(void **state)
{
  static const made m[] = {
      {"great.force", "N", 0, 1e4, 1, 0, 2e4},
      {"small.force", "N", 0, 1e-3, 1e-6, 0, 2e-3},
      {"smallest.force", "N", 0, 1e-11, 1e-14, 0, 2e-11},
      {"hidden.force", "N", 0, 1e-3, 0.6e-3, 0, 3.2e-3}, /* too little is known: so go on */
      {"energy.kinetic", "J", 1, 1, 0, 0, 2},
      {"energy.balance", "J", 0, 0, 1e-4, 1, 2}};
  (void)state;
  check_scales(m, sizeof m / sizeof *m);
}

/* What is constant but for errors is compared with its value, or with what it is a part of. */
static void constants_have_a_scale(void **state)
{
  static const made m[] = {{"load.x", "N", 0, 300, 0.1, 0, 600},
                           {"load.y", "N", 0.6, 0, 1e-3, 1, 0.6},       /* its own value */
                           {"load.z", "N", 0, 0, 1e-3, 1, 600},         /* a component of the vector */
                           {"other.x", "N", 0, 0, 1e-3, 1, 60},         /* nothing like it in its object */
                           {"arm.x", "m", 1e3, 0, 1e-4, 1, 4},          /* not its distance from somewhere: */
                           {"hand.x", "m", 0, 2, 1e-4, 0, 4},           /* this is what moves */
                           {"arm.ax", "m/s^2", 0, 0, 1e-5, 1, 9.81},    /* what every mass feels */
                           {"turn.force", "N*m", 0, 0, 1e-3, 1, 1e-6}}; /* nothing moves at all */
  (void)state;
  check_scales(m, sizeof m / sizeof *m);
}

static void rounding_is_no_signal(void **state)
{
  static const made m[] = {{"a.force", "N", 5, 1e-13, 0, 1, 5}, /* the digits of its value */
                           {"b.mx", "N*m", 0, 1e-20, 1e-22, 1, 1e-6},
                           {"c.acc", "rad/s^2", 0, 2e-12, 5e-13, 1, 1e-6},
                           {"rod.wx", "rad/s", 0, 3, 1e-6, 0, 6},
                           {"rod.wz", "rad/s", 0, 2e-15, 2e-17, 1, 6}}; /* the same in both runs, mostly */
  (void)state;
  check_scales(m, sizeof m / sizeof *m);
}

/* Motion that was error in the round before, and is less now, needs no scale; what stays does. */
static void errors_fall_from_round_to_round(void **state)
{
  static const made before[] = {{"turn.force", "N*m", 0, 0, 1e-2, 1, 1e-6},
                                {"held.ax", "rad", 0, 0, 1e-2, 1, 1e-6}},
                    now[] = {{"turn.force", "N*m", 0, 0, 1e-4, 1, 0},
                             {"held.ax", "rad", 0, 0, 0.7e-2, 1, 1e-6}};
  ga_context *ctx;
  (void)state;
  assert_int_equal(ga_context_create(NULL, &ctx), GA_OK);
  ga_band *first = open_made(ctx, before, 2, NULL);
  add_made(first, before, 2, 4.0);
  check_made(first, before, 2);
  ga_band *second = open_made(ctx, now, 2, first);
  add_made(second, now, 2, 4.0);
  check_made(second, now, 2);
  ga_band_destroy(&second);
  ga_band_destroy(&first);
  ga_context_destroy(&ctx);
}

/* What has been a constant, or has become much smaller, is not taken for a signal because both runs of one
 * round happen to be alike in their errors; what has grown since, or is the same as before, is. */
static void constants_stay(void **state)
{
  static const made before[] = {{"arm.ax", "m/s^2", 0, 0, 1e-5, 1, 9.81},
                                {"leg.ax", "m/s^2", 0, 1e-5, 0.6e-5, 0, 3.2e-5},
                                {"toe.ax", "m/s^2", 0, 0, 1e-6, 1, 9.81}},
                    now[] = {{"arm.ax", "m/s^2", 0, 0, 0.9e-5, 1, 9.81},
                             {"leg.ax", "m/s^2", 0, 1e-5, 0.5e-5, 0, 2.95e-5},
                             {"toe.ax", "m/s^2", 0, 0, 2e-6, 0, 4e-6}};
  ga_context *ctx;
  (void)state;
  assert_int_equal(ga_context_create(NULL, &ctx), GA_OK);
  ga_band *first = open_made(ctx, before, 3, NULL);
  add_made(first, before, 3, 4.0);
  check_made(first, before, 3);
  ga_band *second = open_made(ctx, now, 3, first);
  add_made(second, now, 3, 2.2);
  check_made(second, now, 3);
  ga_band_destroy(&second);
  ga_band_destroy(&first);
  ga_context_destroy(&ctx);
}

/* Error bars that fall by more than the tolerance, or are smaller than what both rounds differ by, are not
 * believed. */
static void rounds_check_each_other(void **state)
{
  static const made before[] = {{"a", "m", 0, 1, 1e-3, 0, 2}}, chance[] = {{"a", "m", 0, 1, 1e-9, 0, 2}};
  ga_band_opts o = ga_band_defaults();
  ga_context *ctx;
  const char *name = "a", *unit = "m";
  (void)state;
  assert_int_equal(ga_context_create(NULL, &ctx), GA_OK);
  ga_band *first = open_made(ctx, before, 1, NULL);
  add_made(first, before, 1, 4.0);
  o.n_signals = 1;
  o.names = &name;
  o.units = &unit;
  o.t_end = 10.0;
  o.before = first;
  for (int far = 0; far < 2; far++) {
    ga_band *second = NULL;
    double bar = 0.0;
    o.smaller = far ? 0.0 : 0.5;
    assert_int_equal(ga_band_create(ctx, &o, &second), GA_OK);
    for (int k = 0; k < RECORDS; k++) { /* half a bar away is fine, five bars are not */
      const double t = 10.0 * k / (RECORDS - 1), value = sin(t) + (far ? 1e-2 : 0.0), other = value + 3e-9;
      ga_band_add(second, t, &other, &value, &bar);
    }
    if (far) assert_true(bar > 8e-3 && bar < 1.2e-2);
    if (!far) assert_true(bar > 0.9e-3 && bar < 1.1e-3);
    ga_band_destroy(&second);
  }
  ga_band *alone = open_made(ctx, chance, 1, NULL);
  add_made(alone, chance, 1, 4.0);
  assert_true(ga_band_of(alone, 0).error < 1e-8);
  ga_band_destroy(&alone);
  ga_band_destroy(&first);
  ga_context_destroy(&ctx);
}

/* A signal that is there, with one record far off in both runs, and more so in the first: it does not shrink
 * in the mean of squares, and keeps its own range. */
static void one_bad_record_makes_no_constant(void **state)
{
  static const made m[] = {{"light.force", "N", 0, 1, 0, 0, 0}, {"great.force", "N", 0, 1e6, 0, 0, 0}};
  ga_context *ctx;
  (void)state;
  assert_int_equal(ga_context_create(NULL, &ctx), GA_OK);
  ga_band *b = open_made(ctx, m, 2, NULL);
  for (int k = 0; k < RECORDS; k++) {
    const double t = 10.0 * k / (RECORDS - 1), peak = k == 300,
                 first[2] = {sin(t) + 6.0 * peak, 1e6 * sin(t)},
                 second[2] = {sin(t) + 1.5 * peak, 1e6 * sin(t)};
    double bar[2];
    ga_band_add(b, t, first, second, bar);
  }
  assert_false(ga_band_of(b, 0).constant);
  assert_true(ga_band_of(b, 0).scale < 4.0 && ga_band_of(b, 0).ratio > 0.3);
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
  for (int i = 0; i < N; i++) assert_true(ga_band_of(b, i).error < 1e-13);
  const double other[N] = {0, 1, 0, 0, 0, 1, 0}, far[N] = {0, 0, 1, 0, 0, 1, 0};
  ga_band_add(b, 10.0, other, far, bar);
  assert_true(bar[1] > 0.6 && bar[2] > 0.6);
  ga_band_destroy(&b);
  ga_context_destroy(&ctx);
}

/* Of a wheel that turns, roll and yaw flip by half a turn twice in a turn, in both runs at other times; of a
 * name that means something else they do not. */
static void roll_and_yaw_flip(void **state)
{
  static const char *const name[] = {"w.roll", "w.yaw", "w.roll", "w.rolls"}, *const unit[] = {"rad", "rad",
                                                                                               "m", "rad"};
  enum { N = 4 };
  const double pi = acos(-1);
  ga_context *ctx;
  ga_band *b = open_band(&ctx, N, name, unit);
  double bar[N];
  (void)state;
  for (int k = 0; k < RECORDS; k++) {
    const double t = 10.0 * k / (RECORDS - 1), roll = 0.1 * sin(t), up = cos(5 * t) < 0 ? pi : 0,
                 later = cos(5 * t - 0.05) < 0 ? pi : 0;
    const double second[N] = {roll + up, 0.2 - up, up, up},
                 first[N] = {roll + later + 3e-5, 0.2 - later, later, later};
    ga_band_add(b, t, first, second, bar);
  }
  assert_true(fabs(ga_band_of(b, 0).error - 2e-5) < 1e-12);
  assert_true(ga_band_of(b, 1).error < 1e-10); /* rounding of times, by a value that jumps */
  for (int i = 2; i < N; i++) assert_true(ga_band_of(b, i).error > 1);
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
  assert_int_equal(ga_band_create(ctx, &o, &b), GA_ERR_ARGUMENT);
  assert_call_error(ctx, GA_REASON_TIME_OUT_OF_RANGE, "error bars", "t_end");
  o.t_end = 1.0;
  assert_int_equal(ga_band_create(NULL, &o, &b), GA_ERR_ARGUMENT);
  assert_int_equal(ga_band_create(ctx, NULL, &b), GA_ERR_ARGUMENT);
  assert_int_equal(ga_band_create(ctx, &o, NULL), GA_ERR_ARGUMENT);
  o.window = 1.5;
  assert_int_equal(ga_band_create(ctx, &o, &b), GA_ERR_ARGUMENT);
  assert_call_error(ctx, GA_REASON_OUT_OF_RANGE, "error bars", "window");
  assert_null(b);
  assert_int_equal(ga_band_worst(NULL, NULL), -1);
  assert_int_equal(ga_band_saved_size(NULL), 0);
  ga_band_destroy(&b);
  ga_context_destroy(&ctx);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(crossings_are_covered),
                                     cmocka_unit_test(bars_have_a_least_size),
                                     cmocka_unit_test(factors_change),
                                     cmocka_unit_test(windows_end),
                                     cmocka_unit_test(clocks_round),
                                     cmocka_unit_test(growth_is_recognised),
                                     cmocka_unit_test(small_signals_have_their_own_range),
                                     cmocka_unit_test(constants_have_a_scale),
                                     cmocka_unit_test(rounding_is_no_signal),
                                     cmocka_unit_test(errors_fall_from_round_to_round),
                                     cmocka_unit_test(constants_stay),
                                     cmocka_unit_test(rounds_check_each_other),
                                     cmocka_unit_test(one_bad_record_makes_no_constant),
                                     cmocka_unit_test(quaternions_have_two_signs),
                                     cmocka_unit_test(roll_and_yaw_flip),
                                     cmocka_unit_test(saved_and_loaded),
                                     cmocka_unit_test(nan_is_the_worst),
                                     cmocka_unit_test(refused)};
  return cmocka_run_group_tests_name("result: error bars", tests, NULL, NULL);
}
