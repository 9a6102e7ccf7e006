/* Parameters of the generalized-α family. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core_rig.h"

static ga_context *context(void **state)
{
  return ((rig *)*state)->ctx;
}

static void assert_scheme(const ga_scheme *s, const double expected[7], const char *what)
{
  const double value[7] = {s->alpha_m, s->alpha_f, s->beta, s->gamma, s->delta_m, s->delta_f, s->theta};
  for (int i = 0; i < 7; i++) assert_near(value[i], expected[i], 1e-15, what);
}

/* Chung and Hulbert, Jansen: αm, αf, β, γ, δm, δf, θ, worked out by hand as fractions. */
static void rho_values(void **state)
{
  static const struct {
    double rho, expected[7];
  } row[] = {
      {0.0, {-1.0, 0.0, 1.0, 1.5, -0.5, 0.0, 1.0}},
      {0.2, {-0.5, 1.0 / 6.0, 25.0 / 36.0, 7.0 / 6.0, -1.0 / 6.0, 1.0 / 6.0, 5.0 / 6.0}},
      {0.5, {0.0, 1.0 / 3.0, 4.0 / 9.0, 5.0 / 6.0, 1.0 / 6.0, 1.0 / 3.0, 2.0 / 3.0}},
      {0.8, {1.0 / 3.0, 4.0 / 9.0, 25.0 / 81.0, 11.0 / 18.0, 7.0 / 18.0, 4.0 / 9.0, 5.0 / 9.0}},
      {1.0, {0.5, 0.5, 0.25, 0.5, 0.5, 0.5, 0.5}},
  };
  for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
    ga_scheme s;
    assert_int_equal(ga_scheme_rho(context(state), row[i].rho, &s), GA_OK);
    assert_scheme(&s, row[i].expected, "rho");
    assert_status(context(state), ga_scheme_check(context(state), &s), GA_OK);
  }
}

/* The states get the ρ at which γ of the mechanical part would be the same: (1+α)/(1−α). */
static void hht_values(void **state)
{
  static const struct {
    double alpha, expected[7];
  } row[] = {
      {0.0, {0.0, 0.0, 0.25, 0.5, 0.5, 0.5, 0.5}},
      {-0.3, {0.0, 0.3, 0.4225, 0.8, 1.0 / 4.0 * (3.0 * 0.7 - 1.3), 0.35, 0.65}},
      {-1.0 / 3.0, {0.0, 1.0 / 3.0, 4.0 / 9.0, 5.0 / 6.0, 1.0 / 6.0, 1.0 / 3.0, 2.0 / 3.0}},
  };
  for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
    ga_scheme s;
    assert_int_equal(ga_scheme_hht(context(state), row[i].alpha, &s), GA_OK);
    assert_scheme(&s, row[i].expected, "HHT");
    assert_status(context(state), ga_scheme_check(context(state), &s), GA_OK);
  }
}

static void newmark_values(void **state)
{
  const double trapezoid[7] = {0.0, 0.0, 0.25, 0.5, 0.5, 0.5, 0.5};
  ga_scheme s;
  assert_int_equal(ga_scheme_newmark(context(state), 0.25, 0.5, &s), GA_OK);
  assert_scheme(&s, trapezoid, "Newmark");
  assert_status(context(state), ga_scheme_check(context(state), &s), GA_OK);
  assert_int_equal(ga_scheme_newmark(context(state), 0.3025, 0.6, &s), GA_OK);
  assert_int_equal(ga_scheme_check(context(state), &s), GA_ERR_ARGUMENT); /* damped, and of first order */
  assert_call_error(context(state), GA_REASON_SCHEME, "scheme", NULL);
  assert_string_equal(ga_context_error(context(state))->expected, "gamma = 1/2 - alpha_m + alpha_f");
  assert_error_number(context(state), 0, 0.1);
}

static void arguments_outside(void **state)
{
  const double rho[] = {-1e-9, 1.0 + 1e-9, -1.0, 2.0, NAN, INFINITY, -INFINITY};
  const double alpha[] = {0.1, -0.34, -1.0, NAN, INFINITY};
  const double newmark[][2] = {{0.0, 0.5},  {-0.1, 0.5}, {1.1, 0.5}, {0.25, 0.0},
                               {0.25, 1.1}, {NAN, 0.5},  {0.25, NAN}};
  ga_context *ctx = context(state);
  ga_scheme s;
  for (size_t i = 0; i < sizeof rho / sizeof *rho; i++) {
    ga_context_clear_error(ctx);
    assert_int_equal(ga_scheme_rho(ctx, rho[i], &s), GA_ERR_ARGUMENT);
    assert_call_error(ctx, GA_REASON_OUT_OF_RANGE, "scheme", "rho_inf");
    assert_error_number(ctx, 0, rho[i]);
  }
  for (size_t i = 0; i < sizeof alpha / sizeof *alpha; i++) {
    ga_context_clear_error(ctx);
    assert_int_equal(ga_scheme_hht(ctx, alpha[i], &s), GA_ERR_ARGUMENT);
    assert_call_error(ctx, GA_REASON_OUT_OF_RANGE, "scheme", "alpha");
    assert_error_number(ctx, 0, alpha[i]);
  }
  for (size_t i = 0; i < sizeof newmark / sizeof *newmark; i++) {
    ga_context_clear_error(ctx);
    assert_int_equal(ga_scheme_newmark(ctx, newmark[i][0], newmark[i][1], &s), GA_ERR_ARGUMENT);
    const int wrong = i >= 3 && i != 5; /* gamma */
    assert_call_error(ctx, GA_REASON_OUT_OF_RANGE, "scheme", wrong ? "gamma" : "beta");
    assert_error_number(ctx, 0, newmark[i][wrong]);
  }
}

/* Every condition once; those asked before it hold, so that the message must be of this one. */
static void each_condition(void **state)
{
  static const struct {
    ga_scheme s; /* αm, αf, β, γ, δm, δf, θ */
    const char *condition;
  } row[] = {
      {{0.0, 0.0, 0.0, 0.5, 0.5, 0.5, 0.5}, "beta > 0"},
      {{0.95, 0.45, 0.25, 0.0, 0.5, 0.5, 0.5}, "alpha_m < 0.9"},
      {{0.45, 0.95, 0.5, 1.0, 0.5, 0.5, 0.5}, "alpha_f < 0.9"},
      {{0.0, 0.0, 0.25, 0.51, 0.5, 0.5, 0.5}, "gamma = 1/2 - alpha_m + alpha_f"},
      {{0.6, 0.6, 0.25, 0.5, 0.5, 0.5, 0.5}, "alpha_m <= 1/2"},
      {{0.4, 0.3, 0.25, 0.4, 0.5, 0.5, 0.5}, "alpha_m <= alpha_f"},
      {{0.4, 0.6, 0.35, 0.7, 0.5, 0.5, 0.5}, "alpha_f <= 1/2"},
      {{0.0, 0.0, 0.24, 0.5, 0.5, 0.5, 0.5}, "beta >= 1/4 + (alpha_f - alpha_m)/2"},
      {{0.0, 0.0, 0.25, 0.5, 0.5, 0.0, 0.0}, "theta > 0"},
      {{0.0, 0.0, 0.25, 0.5, 0.5, 0.5, 0.6}, "theta = 1/2 - delta_m + delta_f"},
      {{0.0, 0.0, 0.25, 0.5, 0.6, 0.6, 0.5}, "delta_m <= 1/2"},
      {{0.0, 0.0, 0.25, 0.5, 0.4, 0.3, 0.4}, "delta_m <= delta_f"},
      {{0.0, 0.0, 0.25, 0.5, 0.4, 0.6, 0.7}, "delta_f <= 1/2"},
  };
  ga_context *ctx = context(state);
  for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
    ga_context_clear_error(ctx);
    assert_int_equal(ga_scheme_check(ctx, &row[i].s), GA_ERR_ARGUMENT);
    assert_call_error(ctx, GA_REASON_SCHEME, "scheme", NULL);
    assert_string_equal(ga_context_error(ctx)->expected, row[i].condition);
  }
}

static void not_a_number(void **state)
{
  for (int i = 0; i < 7; i++) {
    ga_scheme s;
    assert_int_equal(ga_scheme_rho(context(state), 0.8, &s), GA_OK);
    double *const field[7] = {&s.alpha_m, &s.alpha_f, &s.beta, &s.gamma, &s.delta_m, &s.delta_f, &s.theta};
    *field[i] = NAN;
    assert_int_equal(ga_scheme_check(context(state), &s), GA_ERR_ARGUMENT);
  }
}

/* A stepper asks for the check, unless it is told not to. */
static void stepper_checks_it(void **state)
{
  rig *r = *state;
  r->opts.scheme.gamma += 0.01;
  assert_int_equal(ga_stepper_create(r->ctx, r->sys, &r->opts, &r->st), GA_ERR_ARGUMENT);
  assert_null(r->st);
  assert_says(r->ctx, "scheme: gamma = 1/2 - alpha_m + alpha_f does not hold (off by 0.01): the method is of "
                      "first order otherwise. Parameters are");
  r->opts.allow_any_scheme = 1;
  assert_status(r->ctx, ga_stepper_create(r->ctx, r->sys, &r->opts, &r->st), GA_OK);
}

static int set_up(void **state)
{
  rig *r = malloc(sizeof *r);
  if (!r) return -1;
  *r = rig_open("pendulum");
  *state = r;
  return (int)ga_system_create(r->ctx, &r->def, &r->sys);
}

static int tear_down(void **state)
{
  rig_close(*state);
  free(*state);
  return 0;
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
  const struct CMUnitTest tests[] = {TEST(rho_values),        TEST(hht_values),     TEST(newmark_values),
                                     TEST(arguments_outside), TEST(each_condition), TEST(not_a_number),
                                     TEST(stepper_checks_it)};
  return cmocka_run_group_tests_name("core: scheme", tests, rig_hook_klu, NULL);
}
