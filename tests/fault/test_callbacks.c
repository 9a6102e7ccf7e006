/* Every call of a callback fails once: by its answer, > 0 or < 0, or by a NaN or infinity in its result. The
 * failure must come back with the right sign and the callback's name, a failed step must leave every bit as
 * it was, and the same call again must lead to the result of an undisturbed run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core_rig.h"

typedef struct fault {
  const char *what;
  int code;
  double value; /* where code is 0 */
  ga_status status;
} fault;

static const fault FAULTS[] = {{"> 0", 3, 0.0, GA_RETRY_CALLBACK},
                               {"< 0", -3, 0.0, GA_ERR_CALLBACK},
                               {"NaN", 0, NAN, GA_RETRY_NAN},
                               {"infinity", 0, -INFINITY, GA_RETRY_NAN}};

typedef struct trial_case {
  const char *problem;
  ga_method method;
  ga_lu_kind lu;
  ga_reuse reuse;
} trial_case;

enum { STEPS = 3, MOST_SAVED = 1024 };

/* One rig in the context of `of`, with its own switch. */
static rig twin(const rig *of, rig_meddle *m, const fault *f, long at)
{
  rig r = *of;
  *m = (rig_meddle){.after = rig_meddle_strike, .fault_at = at, .code = f->code, .value = f->value};
  r.def = ga_system_defaults();
  r.problem->define(&r.def);
  r.sys = NULL;
  r.st = NULL;
  rig_meddle_install(m, &r.def, ga_group_nv(ga_system_group(of->sys)));
  rig_build(&r);
  return r;
}

static void check_failure(const rig *r, rig_meddle *m, const fault *f, ga_status status)
{
  char quoted[32];
  if (!m->struck)
    fail_msg("%s: a step failed by itself: %s", r->problem->name, ga_context_error(r->ctx)->text);
  int fn = m->struck - 1;
  assert_status(r->ctx, status, f->status);
  snprintf(quoted, sizeof quoted, fn == RIG_JACOBIAN && !f->code ? "the Jacobian's" : "the callback '%s'",
           RIG_FN_NAME[fn]);
  assert_says(r->ctx, quoted);
  assert_int_equal(ga_context_error(r->ctx)->status, status);
  m->struck = 0;
}

/* The state after the start and after each step of an undisturbed run. */
typedef struct record {
  double *state[STEPS + 1];
} record;

/* A start and a few steps. After the fault, the same call again must lead to the state of the record;
 * there the run ends. Returns how often it struck. Without a fault, the record is made. */
static int disturbed_run(rig *r, rig_meddle *m, const fault *f, record *good)
{
  const double h = r->problem->h;
  ga_start_opts o = ga_start_defaults();
  o.h = h;
  for (int i = 0; i <= STEPS; i++) {
    double *before = i ? rig_copy(r) : NULL;
    long failures = ga_stepper_stats(r->st)->failed_steps;
    ga_status status = i ? ga_stepper_step(r->st, h) : rig_try_start(r, &o, NULL);
    if (status || m->struck) {
      check_failure(r, m, f, status);
      if (i) {
        if (!rig_same_bits(r, before)) fail_msg("%s: a failed step changed the state", r->problem->name);
        assert_int_equal(ga_stepper_stats(r->st)->failed_steps, failures + 1);
      } else {
        assert_null(ga_stepper_state(r->st));
        assert_int_equal(ga_stepper_step(r->st, h), GA_ERR_ORDER);
      }
      assert_status(r->ctx, i ? ga_stepper_step(r->st, h) : rig_try_start(r, &o, NULL), GA_OK);
      assert_below(rig_distance_to(r, good->state[i]), 1e-12, r->problem->name);
      free(before);
      return 1;
    }
    free(before);
    if (m->fault_at == 0) good->state[i] = rig_copy(r);
  }
  return 0;
}

static void each_call_fails(const trial_case *c)
{
  const fault none = {"none", 0, 0.0, GA_OK};
  record good;
  rig_meddle m;
  rig base = rig_open(c->problem);
  base.opts.method = c->method;
  base.opts.lu = c->lu;
  base.opts.newton.reuse = c->reuse;
  rig_build(&base);
  rig_start(&base, base.problem->h);
  rig_steps(&base, base.problem->h, STEPS);
  rig r = twin(&base, &m, &none, 0);
  assert_int_equal(disturbed_run(&r, &m, &none, &good), 0);
  assert_true(rig_same_bits(&r, base.st->now.block));
  const long total = m.calls;
  assert_true(total > 10);
  for (size_t k = 0; k < sizeof FAULTS / sizeof *FAULTS; k++) {
    m.code = FAULTS[k].code;
    m.value = FAULTS[k].value;
    for (long n = 1; n <= total; n += rig_stride(total)) {
      double saved[MOST_SAVED];
      assert_true(ga_stepper_saved_size(r.st) <= MOST_SAVED);
      assert_status(r.ctx, ga_stepper_save(r.st, saved), GA_OK); /* drops what the last run knew of factors */
      m.calls = 0;
      m.fault_at = n;
      if (disturbed_run(&r, &m, &FAULTS[k], &good) != 1)
        fail_msg("%s: call %ld of %ld never came", c->problem, n, total);
    }
  }
  for (int i = 0; i <= STEPS; i++) free(good.state[i]);
  ga_stepper_destroy(&r.st);
  ga_system_destroy(&r.sys);
  rig_close(&base);
}

/* Faults in what surrounds the steps: the checker, projections, residuals. Nothing changes there either. */
static void helpers_fail(void **state)
{
  static const char *const name[] = {"mechatronic", "test15"};
  (void)state;
  for (size_t i = 0; i < sizeof name / sizeof *name; i++)
    for (int stage = 0; stage < 3; stage++)
      for (size_t k = 0; k < sizeof FAULTS / sizeof *FAULTS; k++) {
        const fault none = {"none", 0, 0.0, GA_OK};
        rig_meddle m;
        rig base = rig_open(name[i]);
        base.opts.method = GA_INDEX3;
        rig_build(&base);
        rig r = twin(&base, &m, &none, 0);
        rig_start(&r, r.problem->h);
        rig_steps(&r, r.problem->h, 2);
        double *before = rig_copy(&r), phi, rate, nonholonomic;
        m.code = FAULTS[k].code;
        m.value = FAULTS[k].value;
        for (long n = 1;; n++) {
          ga_point p = ga__state_point(&r.st->now);
          m.calls = 0;
          m.fault_at = n;
          ga_status status = stage == 0   ? ga_system_check(r.sys, &p, 1e-5, NULL)
                             : stage == 1 ? ga_stepper_constraint_residuals(r.st, &phi, &rate, &nonholonomic)
                                          : ga_stepper_project_velocity(r.st, GA_PROJECT_OFFSET, NULL);
          if (!m.struck) {
            assert_status(r.ctx, status, GA_OK);
            assert_true(n > 1);
            break;
          }
          check_failure(&r, &m, &FAULTS[k], status);
          assert_true(rig_same_bits(&r, before));
        }
        free(before);
        ga_stepper_destroy(&r.st);
        ga_system_destroy(&r.sys);
        rig_close(&base);
      }
}

static void heavy_top(void **state)
{
  (void)state;
  each_call_fails(&(trial_case){"heavy_top", GA_STABILIZED, GA_LU_DENSE, GA_REUSE});
  each_call_fails(&(trial_case){"heavy_top", GA_STABILIZED, GA_LU_DENSE, GA_FRESH_ITERATION});
  /* index 3: old and new factors would differ by the floor of rounding, eps/(beta h²) */
  each_call_fails(&(trial_case){"heavy_top", GA_INDEX3, GA_LU_DENSE, GA_FRESH_STEP});
}

static void mechatronic(void **state)
{
  (void)state;
  each_call_fails(&(trial_case){"mechatronic", GA_STABILIZED, GA_LU_AUTO, GA_REUSE});
  each_call_fails(&(trial_case){"mechatronic", GA_INDEX3, GA_LU_SPARSE, GA_FRESH_STEP});
}

static void by_differences(void **state)
{
  (void)state;
  each_call_fails(&(trial_case){"test71", GA_STABILIZED, GA_LU_AUTO, GA_REUSE});
}

static void sparse(void **state)
{
  (void)state;
  each_call_fails(&(trial_case){"andrews31", GA_STABILIZED, GA_LU_SPARSE, GA_REUSE});
}

static void weighted(void **state)
{
  (void)state;
  each_call_fails(&(trial_case){"heavy_top", GA_SOI2, GA_LU_AUTO, GA_REUSE});
  each_call_fails(&(trial_case){"test15", GA_SOI2, GA_LU_AUTO, GA_REUSE});
  each_call_fails(&(trial_case){"test15", GA_WEIGHTED, GA_LU_AUTO, GA_REUSE});
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(heavy_top),      cmocka_unit_test(mechatronic),
                                     cmocka_unit_test(by_differences), cmocka_unit_test(sparse),
                                     cmocka_unit_test(weighted),       cmocka_unit_test(helpers_fail)};
  return cmocka_run_group_tests_name("fault: callbacks", tests, rig_hook_klu, NULL);
}
