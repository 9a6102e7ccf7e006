/* Designs: random numbers by counters, distributions, texts of parameters, which values each run has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "study/study_impl.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static ga_context *ctx;

/* ---- Random numbers ---- */

/* Numbers that the authors of the generator publish with it. */
static void numbers_are_those_of_philox(void **state)
{
  static const struct {
    uint32_t counter[4], key[2], out[4];
  } known[] = {{{0, 0, 0, 0}, {0, 0}, {0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u}},
               {{~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}, {0x408f276du, 0x41c83b0eu, 0xa20bc7c6u, 0x6d5451fdu}},
               {{0x243f6a88u, 0x85a308d3u, 0x13198a2eu, 0x03707344u},
                {0xa4093822u, 0x299f31d0u},
                {0xd16cfe09u, 0x94fdccebu, 0x5001e420u, 0x24126ea1u}}};
  (void)state;
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    uint32_t out[4];
    ga__philox(known[i].counter, known[i].key, out);
    assert_memory_equal(out, known[i].out, sizeof out);
  }
}

/* ---- Distributions ---- */

static void normal_quantiles_are_exact(void **state)
{
  (void)state;
  for (double z = -37.0; z <= 0.0; z += 0.25) {
    const double u = 0.5 * erfc(-z / sqrt(2.0));
    const double is = ga__normal_quantile(u);
    if (!(fabs(is - z) < 1e-12 * fmax(1.0, fabs(z)))) fail_msg("%.17g instead of %g", is, z);
    if (z > -5.0) assert_true(fabs(ga__normal_quantile(1.0 - u) + z) < 1e-9);
  }
}

/* Means and deviations of each distribution, by its quantiles at many equally likely places. */
static void moments_are_those_asked_for(void **state)
{
  enum { N = 200000 };
  static const struct {
    ga__distribution d;
    double mean, deviation;
  } cases[] = {{{GA__UNIFORM, {2, 5, 0}, -INFINITY, INFINITY}, 3.5, 0.8660254037844386},
               {{GA__NORMAL, {3, 2, 0}, -INFINITY, INFINITY}, 3.0, 2.0},
               {{GA__LOGNORMAL, {3, 1, 0}, -INFINITY, INFINITY}, 3.0, 1.0},
               {{GA__TRIANGULAR, {0, 1, 4}, -INFINITY, INFINITY}, 5.0 / 3.0, 0.8498365855987975},
               {{GA__EXPONENTIAL, {2, 0, 0}, -INFINITY, INFINITY}, 2.0, 2.0},
               {{GA__WEIBULL, {2, 2, 0}, -INFINITY, INFINITY}, 1.7724538509055159, 0.9265028330205016},
               {{GA__LOGUNIFORM, {1, 2.718281828459045, 0}, -INFINITY, INFINITY}, 1.718281828459045, 0.4920},
               /* half a normal distribution */
               {{GA__NORMAL, {0, 1, 0}, 0.0, INFINITY}, 0.7978845608028654, 0.6028102749890869},
               {{GA__NORMAL, {0, 1, 0}, -INFINITY, 0.0}, -0.7978845608028654, 0.6028102749890869},
               {{GA__EXPONENTIAL, {2, 0, 0}, 3.0, INFINITY}, 5.0, 2.0}};
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const ga__distribution *d = &cases[i].d;
    double sum = 0.0, squares = 0.0, before = -INFINITY;
    assert_null(ga__distribution_fault(d));
    for (int k = 0; k < N; k++) {
      const double x = ga__distribution_quantile(d, (k + 0.5) / N);
      assert_true(x >= before && x >= d->min && x <= d->max);
      before = x;
      sum += x, squares += x * x;
    }
    const double mean = sum / N, deviation = sqrt(squares / N - mean * mean);
    assert_true(fabs(mean - cases[i].mean) < 1e-4 * fabs(cases[i].mean));
    assert_true(fabs(deviation - cases[i].deviation) < 1e-3 * cases[i].deviation);
  }
}

/* Far from the mean no digits are lost: all draws of a tail differ, and lie within it. */
static void tails_keep_their_digits(void **state)
{
  const ga__distribution up = {GA__NORMAL, {0, 1, 0}, 9.0, INFINITY},
                         down = {GA__NORMAL, {0, 1, 0}, -INFINITY, -9.0};
  (void)state;
  for (int k = 1; k < 100; k++) {
    const double high = ga__distribution_quantile(&up, 0.01 * k),
                 low = ga__distribution_quantile(&down, 1.0 - 0.01 * k);
    assert_true(high > 9.0 && high < 9.7);
    assert_true(fabs(high + low) < 1e-12);
    assert_true(high > ga__distribution_quantile(&up, 0.01 * k - 0.005));
  }
}

/* ---- Texts ---- */

static void grids_have_the_values_that_are_written(void **state)
{
  static const struct {
    const char *text, *unit;
    int n;
    double value[6];
  } cases[] = {{"k=1:3:0.5", "", 5, {1, 1.5, 2, 2.5, 3}},
               {"k=1:2:0.5kN/m", "N/m", 3, {1000, 1500, 2000}},
               {"k = 3 : 1 : -1 mm", "m", 3, {3e-3, 2e-3, 1e-3}},
               {"k=0:1:0.3", "", 4, {0, 0.3, 0.6, 0.9}},
               {"k=0:0.3:0.1", "", 4, {0, 0.1, 0.2, 0.3}},
               {"k=2,5, -1", "", 3, {2, 5, -1}},
               {"k=1 mm, 2 m", "m", 2, {1e-3, 2}},
               {"k=linspace(1,2,3)m", "m", 3, {1, 1.5, 2}},
               {"k=geomspace(1 N, 100 N, 3)", "N", 3, {1, 10, 100}},
               {"k=90deg,180", "rad", 2, {1.5707963267948966, 3.141592653589793}}};
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    ga__axis axis;
    assert_int_equal(ga__axis_read(ctx, cases[i].text, 100, &axis), GA_OK);
    assert_int_equal(axis.kind, GA__AXIS_LIST);
    assert_string_equal(axis.name, "k");
    assert_string_equal(axis.unit, cases[i].unit);
    assert_int_equal(axis.n, cases[i].n);
    for (int k = 0; k < cases[i].n; k++)
      assert_true(fabs(axis.value[k] - cases[i].value[k]) <= 4e-16 * fabs(cases[i].value[k]));
    assert_true(axis.value[axis.n - 1] == cases[i].value[axis.n - 1] || cases[i].value[0] == 0.0);
    ga__axis_free(ctx, &axis);
  }
}

static void wrong_texts_are_refused(void **state)
{
  static const char *const texts[][2] = {{"k", "name=value"},
                                         {"k=1:2", "from:to:step"},
                                         {"k=1:2:0", "the step is 0"},
                                         {"k=1:2:-1", "the range is empty"},
                                         {"k=1:2:1e-9", "is the limit"},
                                         {"k=1,,2", "a number is missing"},
                                         {"k=1,x", "'x' is not a number"},
                                         {"k=1 m, 2 kg", "another dimension"},
                                         {"k=1 mm, 2 m, 3", "has no unit"},
                                         {"k=linspace(1,2,1)", "not a count"},
                                         {"k=geomspace(-1,2,3)", "cannot contain 0"},
                                         {"k=geomspace(1,2)", "2 arguments"},
                                         {"k=normal(1,0)", "a deviation above 0"},
                                         {"k=normal(1,2,3)", "3 arguments"},
                                         {"k=normal(1,2", "a ) is missing"},
                                         {"k=normall(1,2)", "did you mean 'normal'"},
                                         {"k=uniform(2,1)", "a low end below"},
                                         {"k=uniform(1,2,min=5)", "between which there are draws"},
                                         {"k=normal(50,1,min=100)", "between which there are draws"},
                                         {"k=normal(50,1,max=2)", "between which there are draws"},
                                         {"k=exponential(1,min=800)", "between which there are draws"},
                                         {"k=normal(1e308,1e308)", "numbers whose draws are finite"},
                                         {"k=weibull(1 m,2 m)", "'2 m' has a unit"},
                                         {"k=normal(min=1,2,3)", "comes too late"},
                                         {"k=normal(1,1e999)", "1e999"}};
  (void)state;
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    ga__axis axis;
    assert_int_equal(ga__axis_read(ctx, texts[i][0], 1000, &axis), GA_ERR_ARGUMENT);
    if (!strstr(ga_context_error(ctx)->text, texts[i][1]))
      fail_msg("%s: '%s' is not in: %s", texts[i][0], texts[i][1], ga_context_error(ctx)->text);
    ga__axis_free(ctx, &axis);
  }
}

/* ---- Runs ---- */

static void runs_are_all_combinations(void **state)
{
  static const char *const set[] = {"a=1,2,3", "fixed=7 mm", "b=10,20"}, *const names[] = {"c", "d"},
                           *const units[] = {"", "m"};
  static const double columns[] = {5, 6, 0.5, 0.6};
  ga_design_opts o = ga_design_defaults();
  ga_design *d = NULL;
  double x[4];
  (void)state;
  o.n_set = 3, o.set = set;
  o.n_columns = 2, o.n_rows = 2, o.names = names, o.units = units, o.columns = columns;
  assert_int_equal(ga_design_create(ctx, &o, &d), GA_OK);
  assert_int_equal(ga_design_n_parameters(d), 4);
  assert_int_equal(ga_design_n_runs(d), 12);
  assert_int_equal(ga__design_n_constants(d), 1);
  assert_string_equal(ga__design_constant(d, 0), "fixed=7 mm");
  for (int run = 0; run < 12; run++) {
    assert_int_equal(ga_design_values(d, run, x), GA_OK);
    assert_true(x[0] == 1.0 + run / 4 && x[1] == 10.0 * (1 + run / 2 % 2));
    assert_true(x[2] == 5.0 + run % 2 && x[3] == columns[2 + run % 2]);
  }
  assert_true(ga_design_values(d, 12, x) < 0 && ga_design_values(d, -1, x) < 0);
  ga_design_destroy(&d);
  o.zip = 1;
  assert_int_equal(ga_design_create(ctx, &o, &d), GA_ERR_ARGUMENT); /* 3 and 2 */
  assert_non_null(strstr(ga_context_error(ctx)->text, "3 values"));
  static const char *const pairs[] = {"a=1,2", "b=10,20"};
  o.n_set = 2, o.set = pairs;
  assert_int_equal(ga_design_create(ctx, &o, &d), GA_OK);
  assert_int_equal(ga_design_n_runs(d), 2);
  assert_int_equal(ga_design_values(d, 1, x), GA_OK);
  assert_true(x[0] == 2.0 && x[1] == 20.0 && x[2] == 6.0 && x[3] == 0.6);
  ga_design_destroy(&d);
}

static void draws_depend_on_seed_and_number_alone(void **state)
{
  static const char *const set[] = {"a=1,2", "b=normal(0,1)", "c=uniform(0,1)"};
  ga_design_opts o = ga_design_defaults();
  ga_design *few = NULL, *many = NULL, *other = NULL;
  (void)state;
  o.n_set = 3, o.set = set, o.samples = 5;
  assert_int_equal(ga_design_create(ctx, &o, &few), GA_OK);
  o.samples = 50;
  assert_int_equal(ga_design_create(ctx, &o, &many), GA_OK);
  o.seed = 2;
  assert_int_equal(ga_design_create(ctx, &o, &other), GA_OK);
  assert_int_equal(ga_design_n_runs(few), 10);
  for (int run = 9; run >= 0; run--) {
    double x[3], y[3], z[3];
    assert_int_equal(ga_design_values(few, run, x), GA_OK);
    assert_int_equal(ga_design_values(many, run / 5 * 50 + run % 5, y), GA_OK);
    assert_int_equal(ga_design_values(other, run / 5 * 50 + run % 5, z), GA_OK);
    assert_memory_equal(x, y, sizeof x);
    assert_true(x[1] != z[1] && x[2] != z[2]);
    assert_true(fabs(x[1]) < 6.0 && x[2] > 0.0 && x[2] < 1.0);
  }
  ga_design_destroy(&few);
  ga_design_destroy(&many);
  ga_design_destroy(&other);
}

/* Each of the n equally likely intervals of each parameter has one draw, and not in the same order. */
static void hypercubes_fill_every_interval(void **state)
{
  enum { N = 500 };
  static const char *const set[] = {"a=uniform(0,1)", "b=uniform(0,1)"};
  ga_design_opts o = ga_design_defaults();
  ga_design *d = NULL;
  int seen[2][N] = {{0}};
  double x[2], product = 0.0;
  (void)state;
  o.n_set = 2, o.set = set, o.samples = N, o.sampling = GA_SAMPLE_LATIN;
  assert_int_equal(ga_design_create(ctx, &o, &d), GA_OK);
  for (int run = 0; run < N; run++) {
    assert_int_equal(ga_design_values(d, run, x), GA_OK);
    for (int k = 0; k < 2; k++) seen[k][(int)(x[k] * N)]++;
    product += (x[0] - 0.5) * (x[1] - 0.5) * 12.0 / N;
  }
  for (int k = 0; k < 2; k++)
    for (int i = 0; i < N; i++) assert_int_equal(seen[k][i], 1);
  assert_true(fabs(product) < 0.2); /* their correlation */
  ga_design_destroy(&d);
}

static void too_many_runs_are_refused(void **state)
{
  static const char *const set[] = {"a=1:1000:1", "b=1:1000:1", "c=1:1000:1"}, *const twice[] = {"a=1,2",
                                                                                                 "a=3"};
  ga_design_opts o = ga_design_defaults();
  ga_design *d = NULL;
  (void)state;
  o.n_set = 3, o.set = set;
  assert_int_equal(ga_design_create(ctx, &o, &d), GA_ERR_ARGUMENT);
  assert_null(d);
  assert_non_null(strstr(ga_context_error(ctx)->text, "1000000000"));
  o.n_set = 2, o.set = twice;
  assert_int_equal(ga_design_create(ctx, &o, &d), GA_ERR_ARGUMENT);
  assert_non_null(strstr(ga_context_error(ctx)->text, "twice"));
}

static int open_context(void **state)
{
  (void)state;
  return ga_context_create(NULL, &ctx);
}

static int close_context(void **state)
{
  (void)state;
  ga_context_destroy(&ctx);
  return 0;
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(numbers_are_those_of_philox),
                                     cmocka_unit_test(normal_quantiles_are_exact),
                                     cmocka_unit_test(moments_are_those_asked_for),
                                     cmocka_unit_test(tails_keep_their_digits),
                                     cmocka_unit_test(grids_have_the_values_that_are_written),
                                     cmocka_unit_test(wrong_texts_are_refused),
                                     cmocka_unit_test(runs_are_all_combinations),
                                     cmocka_unit_test(draws_depend_on_seed_and_number_alone),
                                     cmocka_unit_test(hypercubes_fill_every_interval),
                                     cmocka_unit_test(too_many_runs_are_refused)};
  return cmocka_run_group_tests(tests, open_context, close_context);
}
