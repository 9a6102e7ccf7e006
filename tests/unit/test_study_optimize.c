/* Optima with closed forms: a tuned damper on a structure under noise (Warburton 1982), a step response with
 * a limit of its overshoot, and what has a corner at its best. */
#define _XOPEN_SOURCE 700 /* mkstemp */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "study/optimize.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The variance under white noise is the integral of the squared response to an impulse. */
static const char STRUCTURE[] =
    "galpha: 1\n"
    "parameters: {mu: 0.1, tuning: 0.8, zeta: 0.1}\n"
    "bodies: {x: {type: scalar, mass: 1, velocity: 1}, y: {type: scalar, mass: mu}}\n"
    "forces:\n"
    "  s: {type: spring, coordinate: x, stiffness: 1, rest: 0}\n"
    "  on_y: {type: actuator, coordinate: y, force: \"mu*tuning^2*(x - y) + 2*zeta*mu*tuning*(x.rate - "
    "y.rate)\"}\n"
    "  on_x: {type: actuator, coordinate: x, force: \"-on_y.force\"}\n"
    "simulation: {t_end: 120, step: 0.05}\n";

/* x'' + 2 ζ x' + x = 0 from 1: ∫x² = ζ + 1/(4ζ), smallest with ζ = 1/2; overshoot exp(−πζ/√(1−ζ²)). */
static const char RESPONSE[] =
    "galpha: 1\n"
    "parameters: {zeta: 0.2, more: 1}\n"
    "bodies: {x: {type: scalar, mass: 1, position: 1 m}}\n"
    "forces: {s: {type: spring, coordinate: x, stiffness: 1, damping: 2*zeta*more, rest: 0}}\n"
    "simulation: {t_end: 40, step: 0.02}\n";

/* A shot from a height of 1: farthest with tan² = v²/(v² + 2 g), to v/g √(v² + 2 g). Its end, where it lands,
 * depends on the elevation. */
static const char SHOT[] = "galpha: 1\n"
                           "parameters: {v: 6 m/s, elevation: 0.3 rad}\n"
                           "gravity: [0, 0, -10]\n"
                           "bodies: {ball: {type: point, mass: 1, position: [0, 0, 1], velocity: "
                           "[v*cos(elevation), 0, v*sin(elevation)]}}\n"
                           "events: {landing: {when: ball.z, direction: falling, stop: true}}\n"
                           "simulation: {t_end: 20, tolerance: 1e-9}\n";

typedef struct rig {
  ga_context *ctx;
  ga_optimum *optimum;
  ga_optimize_opts o;
  char path[64];
} rig;

static void open_rig(rig *r, const char *model)
{
  *r = (rig){.o = ga_optimize_defaults()};
  strcpy(r->path, "/tmp/galpha_optimum_XXXXXX");
  close(mkstemp(r->path));
  FILE *file = fopen(r->path, "w");
  assert_non_null(file);
  fputs(model, file);
  assert_int_equal(fclose(file), 0);
  assert_int_equal(ga_context_create(NULL, &r->ctx), GA_OK);
  r->o.model = r->path;
}

static void close_rig(rig *r)
{
  ga_optimum_destroy(&r->optimum);
  ga_context_destroy(&r->ctx);
  unlink(r->path);
}

static const ga_optimize_report *optimise(rig *r)
{
  ga_optimum_destroy(&r->optimum);
  if (ga_optimize(r->ctx, &r->o, &r->optimum)) fail_msg("%s", ga_context_error(r->ctx)->text);
  const ga_optimize_report *report = ga_optimum_result(r->optimum);
  assert_non_null(report);
  if (getenv("GALPHA_SHOW")) {
    printf("# %s: %.9g (%.9g), gradient %.2g, %s, %ld points, %ld runs, end %d\n", r->o.objective,
           report->value, report->verified, report->gradient, report->algorithm, report->points, report->runs,
           report->end);
    for (int j = 0; j < report->n; j++)
      printf("#   %s %.9g\n", report->parameter[j].name, report->parameter[j].value);
    for (int i = 0; i < report->n_constraints; i++)
      printf("#   %s: %.9g, multiplier %.6g\n", report->constraint[i].text, report->constraint[i].value,
             report->constraint[i].multiplier);
    for (int i = 0; i < report->n_notes; i++) printf("#   %s\n", report->notes[i]);
  }
  return report;
}

#define NEAR(x, y, tolerance)                                                                                \
  do {                                                                                                       \
    const double is_ = (x), expected_ = (y);                                                                 \
    if (!(fabs(is_ - expected_) <= (tolerance)))                                                             \
      fail_msg("line %d: %.15g instead of %.15g", __LINE__, is_, expected_);                                 \
  } while (0)

static void without_nlopt(void)
{
  if (!ga_optimize_available()) skip();
}

static void a_tuned_damper(void **state)
{
  static const char *const vary[] = {"tuning=0.8:0.3:2", "zeta=0.1:0.01:1"};
  static const ga_algorithm others[] = {GA_ALGORITHM_MMA, GA_ALGORITHM_BOBYQA};
  const double mu = 0.1, tuning = sqrt(1.0 + mu / 2) / (1.0 + mu),
               zeta = sqrt(mu * (1.0 + 0.75 * mu) / (4.0 * (1.0 + mu) * (1.0 + mu / 2)));
  rig r;
  (void)state;
  without_nlopt();
  open_rig(&r, STRUCTURE);
  r.o.n_vary = 2, r.o.vary = vary, r.o.objective = "integral(x^2)";
  const ga_optimize_report *report = optimise(&r);
  assert_int_equal(report->end, GA_OPTIMIZE_CONVERGED);
  assert_int_equal(report->by_differences, 0);
  assert_string_equal(report->algorithm, "slsqp");
  NEAR(report->parameter[0].value, tuning, 1e-4); /* the error of the steps */
  NEAR(report->parameter[1].value, zeta, 1e-4);
  assert_true(report->points <= 25 && report->gradient < 1e-4);
  for (size_t i = 0; i < 2; i++) {
    r.o.algorithm = others[i];
    report = optimise(&r);
    NEAR(report->parameter[0].value, tuning, 2e-4);
    NEAR(report->parameter[1].value, zeta, 2e-4);
  }
  r.o.algorithm = GA_ALGORITHM_AUTO, r.o.differences = 1, r.o.jobs = 2;
  report = optimise(&r);
  assert_int_equal(report->by_differences, 1);
  NEAR(report->parameter[0].value, tuning, 2e-4);
  close_rig(&r);
}

static double zeta_of(double overshoot)
{
  const double l = log(overshoot);
  return -l / sqrt(9.8696044010893586 + l * l);
}

static void a_limited_overshoot(void **state)
{
  static const char *const vary[] = {"zeta=0.7:0.05:2"}, *const in_cm[] = {"min(x) >= -10 cm"};
  rig r;
  (void)state;
  without_nlopt();
  open_rig(&r, RESPONSE);
  r.o.n_vary = 1, r.o.vary = vary, r.o.objective = "integral(x^2)";
  const ga_optimize_report *report = optimise(&r);
  NEAR(report->parameter[0].value, 0.5, 1e-4);
  NEAR(report->value, 1.0, 1e-4);
  r.o.n_constraints = 1, r.o.constraints = in_cm;
  report = optimise(&r);
  const double zeta = zeta_of(0.1), slope = 1.0 - 1.0 / (4.0 * zeta * zeta),
               d_overshoot = -0.1 * 3.14159265358979 / pow(1.0 - zeta * zeta, 1.5);
  assert_int_equal(report->end, GA_OPTIMIZE_CONVERGED);
  NEAR(report->parameter[0].value, zeta, 1e-4);
  assert_int_equal(report->constraint[0].active, 1);
  /* limit −overshoot: d(best)/d(limit) = −(d∫/dζ)/(d overshoot/dζ) */
  NEAR(report->constraint[0].multiplier, -slope / d_overshoot, 2e-3 * fabs(slope / d_overshoot));
  r.o.objective = "-integral(x^2)", r.o.maximize = 1;
  report = optimise(&r);
  NEAR(report->parameter[0].value, zeta, 1e-4);
  r.o.objective = "integral(x^2)", r.o.maximize = 0, r.o.algorithm = GA_ALGORITHM_COBYLA;
  report = optimise(&r);
  NEAR(report->parameter[0].value, zeta, 1e-4);

  close_rig(&r);
}

/* max(zeta², (zeta − 1)²) as the largest of two values over time: the best is where both are equal, at 1/2.
 */
static void a_corner(void **state)
{
  static const char *const vary[] = {"zeta=0.2:0.05:2"};
  rig r;
  (void)state;
  without_nlopt();
  open_rig(&r, RESPONSE);
  r.o.n_vary = 1, r.o.vary = vary;
  r.o.objective = "max(if(t < 1, zeta^2, (zeta-1)^2))";
  const ga_optimize_report *report = optimise(&r);
  assert_int_equal(report->end, GA_OPTIMIZE_CONVERGED);
  NEAR(report->parameter[0].value, 0.5, 1e-4);
  close_rig(&r);
}

static int has_note(const ga_optimize_report *report, const char *words)
{
  for (int i = 0; i < report->n_notes; i++)
    if (strstr(report->notes[i], words)) return 1;
  return 0;
}

/* Ends that look like optima. */
static void what_is_no_optimum_is_said(void **state)
{
  static const char *const zeta[] = {"zeta=0.2:0.1:0.3"}, *const idle[] = {"more=1:0.5:2"},
                           *const open[] = {"start"};
  static const char LINEAR[] = "galpha: 1\nparameters: {start: 1 m}\n"
                               "bodies: {x: {type: scalar, mass: 1, position: start}}\n"
                               "simulation: {t_end: 1, step: 0.1}\n";
  rig r;
  (void)state;
  without_nlopt();
  open_rig(&r, RESPONSE);
  r.o.n_vary = 1, r.o.vary = zeta, r.o.objective = "crossings(x, 2)"; /* none, with any damping */
  const ga_optimize_report *report = optimise(&r);
  assert_true(has_note(report, "has the same value at all points that were tried"));
  r.o.vary = idle, r.o.objective = "initial(x)";
  report = optimise(&r);
  assert_true(has_note(report, "has the same value at the start and beside it"));
  close_rig(&r);
  for (int maximize = 0; maximize < 2; maximize++) {
    open_rig(&r, LINEAR);
    r.o.n_vary = 1, r.o.vary = open, r.o.objective = "final(x)", r.o.maximize = maximize;
    report = optimise(&r);
    assert_int_equal(report->end, GA_OPTIMIZE_FAILED);
    assert_true(has_note(report, "start has no bound and has run away to"));
    close_rig(&r);
  }
}

static void bounds_and_limits_that_cannot_be_met(void **state)
{
  static const char *const vary[] = {"zeta=0.2:0.1:0.4"}, *const never[] = {"final(t) <= 1 s"};
  rig r;
  (void)state;
  without_nlopt();
  open_rig(&r, RESPONSE);
  r.o.n_vary = 1, r.o.vary = vary, r.o.objective = "integral(x^2)";
  const ga_optimize_report *report = optimise(&r);
  assert_true(report->parameter[0].value == 0.4);
  assert_int_equal(report->parameter[0].at_bound, 1);
  r.o.n_constraints = 1, r.o.constraints = never, r.o.most_points = 60;
  report = optimise(&r);
  assert_true(report->end != GA_OPTIMIZE_CONVERGED);
  assert_true(report->constraint[0].excess > 38.0);
  close_rig(&r);
}

static void wrong_problems_are_refused(void **state)
{
  static const struct {
    const char *objective, *constraint;
    ga_algorithm algorithm;
    const char *vary, *words;
  } cases[] = {{"max(y)", NULL, GA_ALGORITHM_AUTO, "zeta", "there is no signal 'y'"},
               {"x", NULL, GA_ALGORITHM_AUTO, "zeta", "a measure of it"},
               {"max(x)", "min(x)", GA_ALGORITHM_AUTO, "zeta", "a relation is missing"},
               {"max(x)", "0 <= min(x) <= 1", GA_ALGORITHM_AUTO, "zeta", "there are several relations"},
               {"max(x)", "min(x) <= 2 s", GA_ALGORITHM_AUTO, "zeta", "its sides have different units"},
               {"max(x)", "min(x) <=", GA_ALGORITHM_AUTO, "zeta", "its right side is missing"},
               {"max(x)", "min(x) <= 1 m", GA_ALGORITHM_DIRECT, "zeta=0.2:0.1:1", "it takes no constraints"},
               {"max(x)", NULL, GA_ALGORITHM_DIRECT, "zeta", "it needs bounds, and zeta has none"},
               {"max(x)", "min(x) == 1 m", GA_ALGORITHM_MMA, "zeta", "it takes no equations"},
               {"max(x)", NULL, GA_ALGORITHM_BOBYQA, "zeta", "it needs two parameters"}};
  (void)state;
  without_nlopt();
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    rig r;
    open_rig(&r, RESPONSE);
    r.o.objective = cases[i].objective, r.o.algorithm = cases[i].algorithm;
    r.o.n_vary = 1, r.o.vary = &cases[i].vary;
    r.o.n_constraints = cases[i].constraint != NULL, r.o.constraints = &cases[i].constraint;
    assert_int_equal(ga_optimize(r.ctx, &r.o, &r.optimum), GA_ERR_ARGUMENT);
    if (!strstr(ga_context_error(r.ctx)->text, cases[i].words))
      fail_msg("%d: %s", (int)i, ga_context_error(r.ctx)->text);
    close_rig(&r);
  }
}

static void an_end_that_depends_on_parameters(void **state)
{
  static const char *const vary[] = {"elevation=0.3:0.1:1.4"};
  const double v = 6.0, g = 10.0;
  rig r;
  (void)state;
  without_nlopt();
  open_rig(&r, SHOT);
  r.o.n_vary = 1, r.o.vary = vary, r.o.objective = "-final(ball.x)";
  const ga_optimize_report *report = optimise(&r);
  assert_int_equal(report->end, GA_OPTIMIZE_CONVERGED);
  assert_int_equal(report->by_differences, 0);
  NEAR(report->parameter[0].value, atan(v / sqrt(v * v + 2.0 * g)), 1e-6);
  NEAR(-report->value, v / g * sqrt(v * v + 2.0 * g), 1e-9);
  close_rig(&r);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_tuned_damper),
                                     cmocka_unit_test(a_limited_overshoot),
                                     cmocka_unit_test(a_corner),
                                     cmocka_unit_test(an_end_that_depends_on_parameters),
                                     cmocka_unit_test(what_is_no_optimum_is_said),
                                     cmocka_unit_test(bounds_and_limits_that_cannot_be_met),
                                     cmocka_unit_test(wrong_problems_are_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
