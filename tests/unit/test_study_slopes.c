/* Derivatives of measures by parameters: against differences of complete runs with the same steps, closed
 * forms, and where there is none. */
#define _XOPEN_SOURCE 700 /* mkstemp */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "slopes_rig.h"

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
