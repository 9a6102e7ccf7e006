/* Derivatives of the numerical solution by parameters and initial values, against extrapolated differences of
 * complete runs with the same steps. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "adjoint_rig.h"

static void derivatives_are_those_of_the_run(void **state)
{
  static const course COURSES[] = {
      {"spring_mass", GA_STABILIZED, 0, 0.02, 40, 0, 1, 1e-2, AT_ENDS},
      {"slider_crank", GA_STABILIZED, 0, 5e-3, 40, 0, 1, 1e-2, AT_ENDS},
      {"slider_crank", GA_INDEX3, 0, 2e-2, 20, 0, 1, 1e-2, AT_ENDS},
      {"heavy_top", GA_STABILIZED, 0, 1e-3, 40, 0, 1, 1e-2, AT_ENDS},
      {"heavy_top", GA_INDEX3, 0, 5e-3, 20, 0, 1, 4e-2, AT_ENDS},
      {"heavy_top_left", GA_STABILIZED, 0, 1e-3, 40, 0, 1, 1e-2, AT_ENDS},
      {"heavy_top_left", GA_STABILIZED, 0, 1e-3, 40, 0, 0, 1e-2, AT_ENDS},
      {"heavy_top_s3", GA_STABILIZED, 0, 1e-3, 40, 0, 1, 1e-2, AT_ENDS},
      {"heavy_top_s3_right", GA_STABILIZED, 0, 1e-3, 40, 0, 1, 1e-2, AT_ENDS},
      {"heavy_top_se3", GA_STABILIZED, 0, 1e-3, 40, 0, 1, 1e-2, AT_ENDS},
      {"heavy_top_se3", GA_INDEX3, 0, 1e-2, 10, 0, 1, 2e-2, AT_ENDS},
      {"tumbling_top", GA_STABILIZED, 0, 5e-3, 40, 0, 1, 1e-2, AT_ENDS},
      {"rolling_disk", GA_STABILIZED, 0, 1e-2, 40, 0, 1, 1e-2, AT_ENDS},
      {"mechatronic", GA_STABILIZED, 0, 1e-2, 40, 0, 1, 1e-2, AT_ENDS},
      {"rank_deficient_d1", GA_STABILIZED, 0, 1e-3, 40, 0, 1, 1e-2, AT_ENDS},
      {"rank_deficient_d2", GA_STABILIZED, 0, 5e-3, 40, 0, 1, 1e-2, AT_ENDS},
      {"rank_deficient_d3", GA_STABILIZED, 0, 5e-3, 40, 0, 1, 1e-2, AT_ENDS},
      {"heavy_top", GA_STABILIZED, GA_ADJUST_SHIFT, 1e-3, 40, 1, 1, 1e-2, AT_ENDS},
      {"heavy_top_se3", GA_STABILIZED, GA_ADJUST_GAMMA, 1e-3, 40, 1, 1, 1e-2, AT_ENDS},
      {"mechatronic", GA_STABILIZED, GA_ADJUST_SHIFT, 1e-2, 40, 1, 1, 1e-2, AT_ENDS},
      {"mechatronic", GA_STABILIZED, GA_ADJUST_GAMMA, 1e-2, 40, 1, 1, 1e-2, AT_ENDS},
      {"rolling_disk", GA_STABILIZED, GA_ADJUST_NONE, 1e-2, 40, 1, 1, 1e-2, AT_ENDS},
  };
  (void)state;
  for (size_t i = 0; i < sizeof COURSES / sizeof *COURSES; i++) examine(&COURSES[i], 1e-8);
}

/* ---- Exact derivatives by a callback ---- */

/* By DAMPING, at p = 0. */
static int exact_damping(void *user, const ga_point *p, int parameter, ga_parameter_rates *out)
{
  const changed *c = user;
  if (parameter != DAMPING && parameter != 0) return -1;
  for (int i = 0; out->residual && i < c->nv; i++)
    out->residual[i] = weight_of(i) * p->v[i] + sin(3.0 * p->t);
  return 0;
}

static const course TOP = {"heavy_top", GA_STABILIZED, 0, 1e-3, 20, 0, 1, 1e-2, AT_ENDS};

static void exact_derivatives_agree_with_differences(void **state)
{
  static double by_differences[LONGEST], exact[LONGEST];
  static study s;
  (void)state;
  study_open(&s, &TOP);
  study_run(&s, &TOP);
  const int n = list_derivatives(&s, &TOP, DAMPING, by_differences);
  ga_sensitivity_destroy(&s.se);
  s.parameter[DAMPING].derivative = exact_damping;
  s.parameter[DAMPING].user = &s.p;
  assert_status(s.r.ctx, ga_sensitivity_create(s.r.ctx, s.r.st, 1, &s.parameter[DAMPING], &s.se), GA_OK);
  study_run(&s, &TOP);
  list_derivatives(&s, &TOP, 0, exact);
  double most = 0.0, off = 0.0;
  for (int i = 0; i < n; i++) {
    most = fmax(most, fabs(exact[i]));
    off = fmax(off, fabs(exact[i] - by_differences[i]));
  }
  assert_true(most > 0.0);
  assert_below(off, 1e-10 * most, "differences");
  study_close(&s);
}

static int failing(void *user, const ga_point *p, int parameter, ga_parameter_rates *out)
{
  (void)p, (void)parameter;
  const int *what = user;
  if (*what == 2 && out->residual) out->residual[0] = NAN;
  return *what == 1 ? -3 : 0;
}

static void callbacks_that_fail_are_reported(void **state)
{
  static study s;
  const ga_start_opts o = start_of(&TOP);
  int what = 0;
  (void)state;
  study_open(&s, &TOP);
  ga_sensitivity_destroy(&s.se);
  s.parameter[DAMPING].derivative = failing;
  s.parameter[DAMPING].user = &what;
  assert_status(s.r.ctx, ga_sensitivity_create(s.r.ctx, s.r.st, 1, &s.parameter[DAMPING], &s.se), GA_OK);
  for (what = 1; what <= 2; what++) {
    assert_status(s.r.ctx, ga_sensitivity_start(s.se, &o, 0.0, s.at.q, s.at.v, s.at.x, NULL, NULL, NULL),
                  GA_OK);
    assert_non_null(ga_sensitivity_at(s.se, 0));
    assert_status(s.r.ctx, ga_stepper_step(s.r.st, TOP.h), GA_OK);
    assert_status(s.r.ctx, ga_sensitivity_step(s.se), what == 1 ? GA_ERR_CALLBACK : GA_ERR_NAN);
    assert_says(s.r.ctx, "derivative");
    assert_null(ga_sensitivity_at(s.se, 0));
    assert_status(s.r.ctx, ga_sensitivity_step(s.se), GA_ERR_ORDER);
  }
  study_close(&s);
}

/* ---- What is refused, and that the run stays as it is ---- */

static void refuse_method(ga_method method, const char *says)
{
  course c = TOP;
  rig r;
  changed p;
  ga_sensitivity *se = NULL;
  const ga_parameter one = {.step = 1e-3};
  c.method = method;
  open_run(&r, &c, &p, 0, 0.0);
  assert_status(r.ctx, ga_sensitivity_create(r.ctx, r.st, 1, &one, &se), GA_ERR_ARGUMENT);
  assert_says(r.ctx, says);
  assert_says(r.ctx, "GA_STABILIZED");
  assert_null(se);
  close_run(&r);
}

static void other_methods_are_refused_by_name(void **state)
{
  (void)state;
  refuse_method(GA_SOI2, "weighted");
  refuse_method(GA_WEIGHTED, "weighted");
}

static void bad_arguments_are_refused(void **state)
{
  rig r, other;
  changed p, q;
  course disk = TOP;
  ga_sensitivity *se = NULL;
  ga_parameter one = {.name = "mass", .step = 0.0};
  (void)state;
  disk.problem = "rolling_disk";
  open_run(&r, &TOP, &p, 0, 0.0);
  open_run(&other, &disk, &q, 0, 0.0);
  assert_status(r.ctx, ga_sensitivity_create(r.ctx, r.st, 0, &one, &se), GA_ERR_ARGUMENT);
  assert_status(r.ctx, ga_sensitivity_create(r.ctx, r.st, 1, &one, &se), GA_ERR_ARGUMENT);
  assert_says(r.ctx, "step");
  one.step = 1e-3;
  one.at[2].sys = r.sys;
  assert_status(r.ctx, ga_sensitivity_create(r.ctx, r.st, 1, &one, &se), GA_ERR_ARGUMENT);
  for (int m = 0; m < GA_PARAMETER_VALUES; m++) one.at[m].sys = other.sys;
  assert_status(r.ctx, ga_sensitivity_create(r.ctx, r.st, 1, &one, &se), GA_ERR_ARGUMENT);
  assert_says(r.ctx, "number of equations");
  assert_null(se);
  close_run(&other);
  close_run(&r);
}

/* A start at another value that fails names the parameter. */
static void a_start_elsewhere_that_fails_is_named(void **state)
{
  static study s;
  static const double bad[RIG_MOST] = {NAN};
  const ga_start_opts o = start_of(&TOP);
  (void)state;
  study_open(&s, &TOP);
  ga_sensitivity_destroy(&s.se);
  s.parameter[INITIAL].name = "spin";
  s.parameter[INITIAL].at[1].v0 = bad;
  assert_status(s.r.ctx, ga_sensitivity_create(s.r.ctx, s.r.st, 1, &s.parameter[INITIAL], &s.se), GA_OK);
  assert_status(s.r.ctx, ga_sensitivity_start(s.se, &o, 0.0, s.at.q, s.at.v, s.at.x, NULL, NULL, NULL),
                GA_ERR_NAN);
  assert_says(s.r.ctx, "spin");
  assert_null(ga_sensitivity_at(s.se, 0));
  study_close(&s);
}

static int with_corner(void *user, const ga_point *p, double *out)
{
  const changed *c = user;
  const int code = c->inner.force(c->inner.user, p, out);
  out[0] -= fabs(c->p[DAMPING]) * p->v[1];
  return code;
}

/* |p| at p = 0: central differences would give 0. */
static void corners_of_a_parameter_are_found(void **state)
{
  static study s;
  course c = TOP;
  (void)state;
  study_open(&s, &c);
  ga_sensitivity_destroy(&s.se);
  ga_system *bent[GA_PARAMETER_VALUES];
  for (int m = 0; m < GA_PARAMETER_VALUES; m++) {
    s.other[DAMPING][m].def.force = with_corner;
    assert_status(s.r.ctx, ga_system_create(s.r.ctx, &s.other[DAMPING][m].def, &bent[m]), GA_OK);
    s.parameter[DAMPING].at[m].sys = bent[m];
  }
  const ga_start_opts o = start_of(&c);
  assert_status(s.r.ctx, ga_sensitivity_create(s.r.ctx, s.r.st, 1, &s.parameter[DAMPING], &s.se), GA_OK);
  ga_status status = ga_sensitivity_start(s.se, &o, 0.0, s.at.q, s.at.v, s.at.x, NULL, NULL, NULL);
  for (int i = 0; i < 5 && !status; i++) {
    assert_status(s.r.ctx, ga_stepper_step(s.r.st, c.h), GA_OK);
    status = ga_sensitivity_step(s.se);
  }
  assert_status(s.r.ctx, status, GA_ERR_DERIVATIVE);
  assert_says(s.r.ctx, "corner");
  ga_sensitivity_destroy(&s.se);
  for (int m = 0; m < GA_PARAMETER_VALUES; m++) ga_system_destroy(&bent[m]);
  study_close(&s);
}

static void every_step_must_be_differentiated(void **state)
{
  static study s;
  (void)state;
  study_open(&s, &TOP);
  assert_null(ga_sensitivity_at(s.se, 0));
  assert_status(s.r.ctx, ga_sensitivity_step(s.se), GA_ERR_ORDER);
  study_run(&s, &TOP);
  assert_status(s.r.ctx, ga_sensitivity_step(s.se), GA_ERR_ORDER); /* twice */
  study_run(&s, &TOP);
  assert_status(s.r.ctx, ga_stepper_step(s.r.st, TOP.h), GA_OK);
  assert_status(s.r.ctx, ga_stepper_step(s.r.st, TOP.h), GA_OK);
  assert_status(s.r.ctx, ga_sensitivity_step(s.se), GA_ERR_ORDER); /* one left out */
  study_close(&s);
}

static void moved_velocities_of_index3_are_refused(void **state)
{
  static study s;
  course c = TOP;
  (void)state;
  c.method = GA_INDEX3;
  study_open(&s, &c);
  study_run(&s, &c);
  assert_status(s.r.ctx, ga_stepper_step(s.r.st, 0.5 * c.h), GA_OK);
  assert_status(s.r.ctx, ga_sensitivity_step(s.se), GA_ERR_ARGUMENT);
  assert_says(s.r.ctx, "index-3");
  study_close(&s);
}

static void the_run_is_not_changed_and_nothing_is_allocated(void **state)
{
  static const char *const NAMES[] = {"heavy_top", "mechatronic", "rolling_disk", "slider_crank"};
  static study s;
  (void)state;
  for (int i = 0; i < 4; i++) {
    course c = TOP;
    rig alone;
    changed p;
    initial at;
    c.problem = NAMES[i];
    study_open(&s, &c);
    study_run(&s, &c);
    const long before = rig_memory.count;
    assert_status(s.r.ctx, ga_stepper_step(s.r.st, c.h), GA_OK);
    assert_status(s.r.ctx, ga_sensitivity_step(s.se), GA_OK);
    assert_int_equal(rig_memory.count, before);
    open_run(&alone, &c, &p, INITIAL, 0.0);
    initial_set(&at, &alone, ga_system_group(alone.sys), -1, 0.0);
    const ga_start_opts o = start_of(&c);
    assert_status(alone.ctx,
                  ga_stepper_start(alone.st, &o, 0.0, at.q, at.v, at.x, alone.problem->lambda_guess,
                                   alone.problem->psi_guess, NULL),
                  GA_OK);
    for (int k_ = 0; k_ <= c.n; k_++) assert_status(alone.ctx, ga_stepper_step(alone.st, c.h), GA_OK);
    assert_true(rig_same_bits(&s.r, alone.st->now.block));
    close_run(&alone);
    study_close(&s);
  }
}

/* ---- The adjoint ---- */

static void the_adjoint_gives_the_forward_gradient(void **state)
{
  static const course COURSES[] = {
      {"spring_mass", GA_STABILIZED, 0, 0.02, 40, 0, 1, 0, AT_ENDS},
      {"slider_crank", GA_STABILIZED, 0, 5e-3, 40, 0, 1, 0, AT_ENDS},
      {"heavy_top", GA_STABILIZED, GA_ADJUST_SHIFT, 1e-3, 40, 1, 1, 0, AT_ENDS},
      {"heavy_top_left", GA_STABILIZED, 0, 1e-3, 40, 0, 0, 0, AT_ENDS},
      {"heavy_top_s3", GA_STABILIZED, 0, 1e-3, 40, 0, 1, 0, AT_ENDS},
      {"heavy_top_se3", GA_STABILIZED, GA_ADJUST_GAMMA, 1e-3, 40, 1, 1, 0, AT_ENDS},
      {"heavy_top_se3", GA_INDEX3, 0, 1e-2, 10, 0, 1, 0, AT_ENDS},
      {"tumbling_top", GA_STABILIZED, 0, 5e-3, 40, 0, 1, 0, AT_ENDS},
      {"rolling_disk", GA_STABILIZED, GA_ADJUST_SHIFT, 1e-2, 40, 1, 1, 0, AT_ENDS},
      {"mechatronic", GA_STABILIZED, GA_ADJUST_SHIFT, 1e-2, 40, 1, 1, 0, AT_ENDS},
      {"rank_deficient_d1", GA_STABILIZED, 0, 1e-3, 40, 0, 1, 0, AT_ENDS},
      {"rank_deficient_d2", GA_STABILIZED, 0, 5e-3, 40, 0, 1, 0, AT_ENDS},
      {"rank_deficient_d3", GA_STABILIZED, 0, 5e-3, 40, 0, 1, 0, AT_ENDS},
  };
  static const int INTERVALS[] = {7, 1, 100};
  (void)state;
  for (size_t i = 0; i < sizeof COURSES / sizeof *COURSES; i++)
    compare_adjoint(&COURSES[i], INTERVALS[i % 3], 1e-10);
}

static void seeds_within_steps_give_the_forward_gradient(void **state)
{
  static const course COURSES[] = {
      {"spring_mass", GA_STABILIZED, 0, 0.02, 20, 0, 1, 0, AT_ENDS},
      {"slider_crank", GA_STABILIZED, 0, 5e-3, 20, 0, 1, 0, AT_ENDS},
      {"heavy_top", GA_STABILIZED, GA_ADJUST_SHIFT, 1e-3, 20, 1, 1, 0, AT_ENDS},
      {"heavy_top_left", GA_STABILIZED, 0, 1e-3, 20, 0, 0, 0, AT_ENDS},
      {"heavy_top_s3", GA_STABILIZED, 0, 1e-3, 20, 0, 1, 0, AT_ENDS},
      {"heavy_top_se3", GA_STABILIZED, GA_ADJUST_GAMMA, 1e-3, 20, 1, 1, 0, AT_ENDS},
      {"tumbling_top", GA_STABILIZED, 0, 5e-3, 20, 0, 1, 0, AT_ENDS},
      {"rolling_disk", GA_STABILIZED, GA_ADJUST_SHIFT, 1e-2, 20, 1, 1, 0, AT_ENDS},
      {"mechatronic", GA_STABILIZED, GA_ADJUST_SHIFT, 1e-2, 20, 1, 1, 0, AT_ENDS},
  };
  static const int INTERVALS[] = {7, 1, 100};
  (void)state;
  for (size_t i = 0; i < sizeof COURSES / sizeof *COURSES; i++)
    compare_within(&COURSES[i], INTERVALS[i % 3], 1e-9);
}

/* By DAMPING alone. */
static int pull_damping(void *user, const ga_pullback *by, double *gradient)
{
  const changed *c = user;
  if (c->p[LOOPS] != 0.0) return -2;
  for (int i = 0; i < c->nv; i++)
    gradient[0] += by->residual[i] * (weight_of(i) * by->end->v[i] + sin(3.0 * by->end->t));
  return 0;
}

static void all_parameters_may_be_pulled_back_at_once(void **state)
{
  static study s;
  ga_adjoint *one = NULL, *all = NULL;
  ga_adjoint_opts opts = ga_adjoint_defaults();
  const ga_start_opts o = start_of(&TOP);
  double should, is;
  (void)state;
  study_open(&s, &TOP);
  opts.pullback = pull_damping;
  opts.user = &s.p;
  assert_status(s.r.ctx, ga_adjoint_create(s.r.ctx, s.r.st, 1, &s.parameter[DAMPING], NULL, &one), GA_OK);
  assert_status(s.r.ctx, ga_adjoint_create(s.r.ctx, s.r.st, 1, &s.parameter[DAMPING], &opts, &all), GA_OK);
  assert_status(s.r.ctx, ga_stepper_start(s.r.st, &o, 0.0, s.at.q, s.at.v, s.at.x, NULL, NULL, NULL), GA_OK);
  assert_status(s.r.ctx, ga_adjoint_begin(one), GA_OK);
  assert_status(s.r.ctx, ga_adjoint_begin(all), GA_OK);
  for (int i = 0; i < TOP.n; i++) {
    assert_status(s.r.ctx, ga_stepper_step(s.r.st, TOP.h), GA_OK);
    assert_status(s.r.ctx, ga_adjoint_step(one), GA_OK);
    assert_status(s.r.ctx, ga_adjoint_step(all), GA_OK);
  }
  assert_status(s.r.ctx, ga_adjoint_gradient(one, seed, (void *)s.r.st->sys, &should), GA_OK);
  assert_status(s.r.ctx, ga_adjoint_gradient(all, seed, (void *)s.r.st->sys, &is), GA_OK);
  assert_near(is, should, 1e-9 * fabs(should), "gradient");
  s.p.p[LOOPS] = 1.0;
  assert_status(s.r.ctx, ga_adjoint_gradient(all, seed, (void *)s.r.st->sys, &is), GA_ERR_CALLBACK);
  assert_says(s.r.ctx, "pullback");
  ga_adjoint_destroy(&one);
  ga_adjoint_destroy(&all);
  study_close(&s);
}

static int bad_seed(void *user, long step, const ga_state *at, ga_seed *out)
{
  const int *what = user;
  (void)at;
  if (*what == 2) out->v[0] = NAN;
  return *what == 1 && step == 3 ? -1 : 0;
}

static void adjoints_refuse_what_they_cannot(void **state)
{
  static study s;
  ga_adjoint *adjoint = NULL;
  ga_adjoint_opts opts = ga_adjoint_defaults();
  double gradient[N_ALL];
  (void)state;
  study_open(&s, &TOP);
  opts.interval = 0;
  assert_status(s.r.ctx, ga_adjoint_create(s.r.ctx, s.r.st, N_ALL, s.parameter, &opts, &adjoint),
                GA_ERR_ARGUMENT);
  assert_null(adjoint);
  assert_status(s.r.ctx, ga_adjoint_create(s.r.ctx, s.r.st, N_ALL, s.parameter, NULL, &adjoint), GA_OK);
  assert_status(s.r.ctx, ga_adjoint_begin(adjoint), GA_ERR_ORDER);
  assert_status(s.r.ctx, ga_adjoint_step(adjoint), GA_ERR_ORDER);
  assert_status(s.r.ctx, ga_adjoint_gradient(adjoint, seed, (void *)s.r.st->sys, gradient), GA_ERR_ORDER);
  study_run(&s, &TOP);
  assert_status(s.r.ctx, ga_adjoint_begin(adjoint), GA_ERR_ORDER); /* not at a start */
  const ga_start_opts o = start_of(&TOP);
  assert_status(s.r.ctx, ga_stepper_start(s.r.st, &o, 0.0, s.at.q, s.at.v, s.at.x, NULL, NULL, NULL), GA_OK);
  assert_status(s.r.ctx, ga_adjoint_begin(adjoint), GA_OK);
  assert_status(s.r.ctx, ga_adjoint_step(adjoint), GA_ERR_ORDER); /* no step yet */
  for (int i = 0; i < 5; i++) {
    assert_status(s.r.ctx, ga_stepper_step(s.r.st, TOP.h), GA_OK);
    assert_status(s.r.ctx, ga_adjoint_step(adjoint), GA_OK);
  }
  int what = 1;
  assert_status(s.r.ctx, ga_adjoint_gradient(adjoint, bad_seed, &what, gradient), GA_ERR_CALLBACK);
  assert_says(s.r.ctx, "seed");
  what = 2;
  assert_true(ga_adjoint_gradient(adjoint, bad_seed, &what, gradient) < 0);
  what = 0;
  assert_status(s.r.ctx, ga_adjoint_gradient(adjoint, bad_seed, &what, gradient), GA_OK);
  for (int j = 0; j < N_ALL; j++) assert_true(gradient[j] == 0.0);
  assert_status(s.r.ctx, ga_stepper_step(s.r.st, TOP.h), GA_OK); /* the run may go on */
  assert_status(s.r.ctx, ga_adjoint_step(adjoint), GA_OK);
  ga_adjoint_destroy(&adjoint);
  study_close(&s);
}

int main(int argc, char **argv)
{
  show = argc > 1 && strcmp(argv[1], "show") == 0;
  const struct CMUnitTest tests[] = {cmocka_unit_test(derivatives_are_those_of_the_run),
                                     cmocka_unit_test(exact_derivatives_agree_with_differences),
                                     cmocka_unit_test(callbacks_that_fail_are_reported),
                                     cmocka_unit_test(other_methods_are_refused_by_name),
                                     cmocka_unit_test(bad_arguments_are_refused),
                                     cmocka_unit_test(a_start_elsewhere_that_fails_is_named),
                                     cmocka_unit_test(corners_of_a_parameter_are_found),
                                     cmocka_unit_test(every_step_must_be_differentiated),
                                     cmocka_unit_test(moved_velocities_of_index3_are_refused),
                                     cmocka_unit_test(the_run_is_not_changed_and_nothing_is_allocated),
                                     cmocka_unit_test(the_adjoint_gives_the_forward_gradient),
                                     cmocka_unit_test(seeds_within_steps_give_the_forward_gradient),
                                     cmocka_unit_test(all_parameters_may_be_pulled_back_at_once),
                                     cmocka_unit_test(adjoints_refuse_what_they_cannot)};
  return cmocka_run_group_tests(tests, rig_hook_klu, NULL);
}
