/* What is known of a step that failed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core_rig.h"

static const ga_factor LINE[] = {{GA_RN, 1, GA_LEFT}}, PLANE[] = {{GA_RN, 2, GA_LEFT}};
static const double AT[] = {0.0, 0.3}, REST[] = {0.0, 0.0};
#define LATE 0.45 /* [s] when something goes wrong */
#define H 0.1

static int inertia(void *user, const ga_point *p, double *out)
{
  const rig *r = user;
  for (int i = 0; i < r->def.factors[0].n; i++) out[i] = 2.0 * p->vdot[i];
  return 0;
}

static int falling(void *user, const ga_point *p, double *out)
{
  (void)user;
  out[0] = -p->lambda[0] * (p->t > LATE ? 2.0 * p->q[0] : 1.0);
  out[1] = -9.81 - 3.0 * p->q[1];
  return 0;
}

/* Φ = q₀, and later q₀² + 1, which is never 0. */
static int impossible(void *user, const ga_point *p, double *out)
{
  (void)user;
  out[0] = p->t > LATE ? p->q[0] * p->q[0] + 1.0 : p->q[0];
  return 0;
}

static int impossible_dot(void *user, const ga_point *p, double *out)
{
  (void)user;
  out[0] = p->t > LATE ? 2.0 * p->q[0] * p->v[0] : p->v[0];
  return 0;
}

static void start(rig *r)
{
  ga_start_opts o = ga_start_defaults();
  o.h = H;
  assert_status(r->ctx, ga_stepper_start(r->st, &o, 0.0, AT, REST, NULL, NULL, NULL, NULL), GA_OK);
}

static void open_impossible(rig *r, ga_method method)
{
  *r = rig_open(NULL);
  r->def.n_factors = 1;
  r->def.factors = PLANE;
  r->def.n_lambda = 1;
  r->def.user = r;
  r->def.mass = inertia;
  r->def.force = falling;
  r->def.phi = impossible;
  r->def.phi_dot = impossible_dot;
  r->opts.method = method;
  rig_build(r);
  start(r);
}

/* Under every method the constraint is named, with the value it has where the iteration stood. */
static void names_a_constraint(void **state)
{
  int seen = 0;
  (void)state;
  for (int method = GA_INDEX3; method <= GA_COLLOCATION; method++) {
    rig r;
    ga_step_failure f;
    open_impossible(&r, (ga_method)method);
    assert_int_equal(ga_stepper_failure(r.st, &f), 0);
    rig_steps(&r, H, 4);
    assert_int_equal(ga_stepper_failure(r.st, &f), 0);
    const ga_status status = ga_stepper_step(r.st, H);
    assert_true(status == GA_RETRY_NEWTON || status == GA_RETRY_SINGULAR);
    const ga_error error = *ga_context_error(r.ctx);
    assert_int_equal(ga_stepper_failure(r.st, &f), 1);
    assert_memory_equal(&error, ga_context_error(r.ctx), sizeof error);
    assert_int_equal(f.error.reason, error.reason);
    assert_int_not_equal(error.reason, GA_REASON_OTHER);
    assert_int_equal(f.error.block, error.block);
    assert_near(f.error.h, H, 1e-15, "h of the error");
    assert_int_equal(f.status, status);
    assert_near(f.t, 0.4, 1e-12, "t");
    assert_near(f.h, H, 1e-15, "h");
    assert_near(f.trial.t, 0.5, 1e-12, "the trial's t");
    if (f.has_trial) {
      int found = 0;
      assert_true(f.n > 0);
      for (int i = 0; i < f.n; i++) {
        assert_true(i == 0 || f.residual[i].size <= f.residual[i - 1].size);
        if (f.residual[i].block != GA_BLOCK_LAMBDA) continue;
        const double q = f.trial.q[0];
        assert_near(f.residual[i].value, q * q + 1.0, 1e-12 * (1.0 + q * q), "phi");
        found = 1;
      }
      assert_true(found);
      seen++;
    }
    rig_close(&r);
  }
  assert_true(seen >= 3); /* iterations may run off to infinity, where nothing can be said */
}

/* A report of a failure does not change the following steps. */
static void failure_report_changes_nothing(void **state)
{
  (void)state;
  for (int method = GA_INDEX3; method <= GA_COLLOCATION; method++) {
    double *copy[2];
    for (int look = 0; look < 2; look++) {
      rig r;
      ga_step_failure f;
      open_impossible(&r, (ga_method)method);
      rig_steps(&r, H, 4);
      assert_true(ga_stepper_step(r.st, H) > 0);
      if (look) assert_int_equal(ga_stepper_failure(r.st, &f), 1);
      rig_steps(&r, 0.25 * H, 1);
      assert_int_equal(ga_stepper_failure(r.st, &f), 0);
      copy[look] = rig_copy(&r);
      if (look) assert_true(rig_same_bits(&r, copy[0]));
      rig_close(&r);
    }
    free(copy[0]);
    free(copy[1]);
  }
}

/* A step that was made and taken back is no failure, but where it led is known. */
static void taken_back(void **state)
{
  rig r;
  ga_step_failure f;
  double saved[256];
  (void)state;
  open_impossible(&r, GA_STABILIZED);
  rig_steps(&r, H, 2);
  const double q = ga_stepper_state(r.st)->q[1];
  assert_status(r.ctx, ga_stepper_undo(r.st), GA_OK);
  assert_int_equal(ga_stepper_failure(r.st, &f), 1);
  assert_int_equal(f.status, GA_OK);
  assert_int_equal(f.error.reason, GA_REASON_NONE);
  assert_int_equal(f.n, 0);
  assert_int_equal(f.error.block, -1);
  assert_near(f.t, H, 1e-15, "t");
  assert_near(f.h, H, 1e-15, "h");
  assert_int_equal(f.has_trial, 1);
  assert_true(f.trial.q[1] == q);
  assert_true(ga_stepper_saved_size(r.st) <= 256);
  assert_status(r.ctx, ga_stepper_save(r.st, saved), GA_OK);
  assert_int_equal(ga_stepper_failure(r.st, &f), 0); /* said to be over */
  assert_int_equal(ga_stepper_failure(NULL, &f), 0);
  assert_int_equal(ga_stepper_failure(r.st, NULL), 0);
  rig_close(&r);
}

/* ---- Outputs and states ---- */

/* A relay in a loop: y = ±10 by the sign of q + v, which the force turns around within any step. */
static int relay_force(void *user, const ga_point *p, double *out)
{
  (void)user;
  out[0] = p->y[0];
  return 0;
}

static int relay(void *user, const ga_point *p, double *out)
{
  (void)user;
  out[0] = p->t < LATE ? 0.0 : p->vdot[0] > 0.0 ? -10.0 : 10.0;
  return 0;
}

static int slow_state(void *user, const ga_point *p, double *out)
{
  (void)user;
  out[0] = p->t < LATE ? -p->x[0] : p->x[0] > 0.5 ? -7.0e3 : 7.0e3;
  return 0;
}

static int flat_jacobian(void *user, const ga_point *p, ga_jacobian *J)
{
  const rig *r = user;
  const int n = 1 + r->def.n_x + r->def.n_y;
  (void)p;
  J->D[0] = 2.0 * J->shift_vdot;
  if (r->def.n_y) J->D[n - 1] = -1.0;
  return 0;
}

static int no_force(void *user, const ga_point *p, double *out)
{
  (void)user;
  (void)p;
  out[0] = 0.0;
  return 0;
}

static void open_switching(rig *r, int n_x, int n_y)
{
  static const double q[] = {0.0}, x[] = {0.5};
  ga_start_opts o = ga_start_defaults();
  *r = rig_open(NULL);
  r->def.n_factors = 1;
  r->def.factors = LINE;
  r->def.n_x = n_x;
  r->def.n_y = n_y;
  r->def.user = r;
  r->def.mass = inertia;
  r->def.force = n_y ? relay_force : no_force;
  if (n_x) r->def.state = slow_state;
  if (n_y) r->def.output = relay;
  r->def.jacobian = flat_jacobian;
  rig_build(r);
  o.h = H;
  assert_status(r->ctx, ga_stepper_start(r->st, &o, 0.0, q, q, x, NULL, NULL, NULL), GA_OK);
  rig_steps(r, H, 4);
}

static void names_an_output(void **state)
{
  rig r;
  ga_step_failure f;
  double o;
  (void)state;
  open_switching(&r, 0, 1);
  assert_int_equal(ga_stepper_step(r.st, H), GA_RETRY_NEWTON);
  assert_int_equal(ga_stepper_failure(r.st, &f), 1);
  assert_true(f.has_trial && f.n > 0);
  assert_int_equal(f.residual[0].block, GA_BLOCK_Y);
  const ga_point p = {f.trial.t, f.trial.q, f.trial.v, f.trial.vdot, NULL, NULL, NULL, f.trial.y, 0, NULL};
  relay(NULL, &p, &o);
  assert_near(f.residual[0].value, f.trial.y[0] - o, 1e-12, "y - o");
  assert_near(fabs(f.residual[0].value), 20.0, 1e-6, "the relay's jump");
  rig_close(&r);
}

static void names_a_state(void **state)
{
  rig r;
  ga_step_failure f;
  double s;
  (void)state;
  open_switching(&r, 1, 0);
  assert_int_equal(ga_stepper_step(r.st, H), GA_RETRY_NEWTON);
  assert_int_equal(ga_stepper_failure(r.st, &f), 1);
  assert_true(f.has_trial && f.n > 0);
  assert_int_equal(f.residual[0].block, GA_BLOCK_X);
  const ga_point p = {f.trial.t, f.trial.q, f.trial.v, f.trial.vdot, NULL, NULL, f.trial.x, NULL, 0, NULL};
  slow_state(NULL, &p, &s);
  assert_near(f.residual[0].value, f.trial.xdot[0] - s, 1e-9 * fabs(s), "xdot - s");
  rig_close(&r);
}

/* ---- Callbacks ---- */

static int speaks(void *user, const ga_point *p, double *out)
{
  const rig *r = user;
  out[0] = 0.0;
  if (p->t < LATE) return 0;
  REFUSE_IN_WORDS(r->ctx, GA_RETRY_NAN, "the spring 's' is torn: by 3 mm");
  return 1;
}

static int gives_up(void *user, const ga_point *p, double *out)
{
  const rig *r = user;
  out[0] = 0.0;
  if (p->t < LATE) return 0;
  REFUSE_IN_WORDS(r->ctx, GA_ERR_CALLBACK, "no more");
  return -1;
}

static int is_silent(void *user, const ga_point *p, double *out)
{
  (void)user;
  out[0] = 0.0;
  return p->t >= LATE;
}

/* Their words, apart from what the core adds to them. */
static void quotes_callbacks(void **state)
{
  static const struct {
    ga_eval_fn force;
    ga_status status;
    ga_reason reason;
    int code;
    const char *detail;
  } cases[] = {{speaks, GA_RETRY_CALLBACK, GA_REASON_OTHER, 1, "the spring 's' is torn: by 3 mm"},
               {gives_up, GA_ERR_CALLBACK, GA_REASON_OTHER, -1, "no more"},
               {is_silent, GA_RETRY_CALLBACK, GA_REASON_CALLBACK_RETRY, 1, ""}};
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    rig r = rig_open(NULL);
    ga_step_failure f;
    r.def.n_factors = 1;
    r.def.factors = LINE;
    r.def.user = &r;
    r.def.mass = inertia;
    r.def.force = cases[i].force;
    rig_build(&r);
    start(&r);
    rig_steps(&r, H, 4);
    assert_int_equal(ga_stepper_step(r.st, H), cases[i].status);
    assert_int_equal(ga_stepper_failure(r.st, &f), 1);
    assert_int_equal(f.status, cases[i].status);
    assert_int_equal(f.error.reason, cases[i].reason);
    assert_string_equal(f.error.callback, "force");
    assert_int_equal(f.error.code, cases[i].code);
    assert_string_equal(f.error.detail, cases[i].detail);
    assert_int_equal(f.n, 0);
    rig_close(&r);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(names_a_constraint), cmocka_unit_test(failure_report_changes_nothing),
      cmocka_unit_test(taken_back),         cmocka_unit_test(names_an_output),
      cmocka_unit_test(names_a_state),      cmocka_unit_test(quotes_callbacks),
  };
  return cmocka_run_group_tests_name("core: failures", tests, NULL, NULL);
}
