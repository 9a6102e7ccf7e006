/* Every allocation and every callback of kinematics fails once: the status says so, the last state that was
 * found stays as it was, nothing leaks, and the motion can be continued. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core_rig.h"

/* A point of mass 2 at the end of a rod that turns by t + t²: Φ = ((x² + y² − 1)/2, y cos θ − x sin θ), the
 * first one twice where constraints are to be redundant; an output, the force along y. */
typedef struct rod {
  int twice;
  long calls, fail_at;
  int code;
} rod;

static int answer(rod *r)
{
  return ++r->calls == r->fail_at ? r->code : 0;
}

static int mass(void *user, const ga_point *p, double *out)
{
  out[0] = 2.0 * p->vdot[0], out[1] = 2.0 * p->vdot[1];
  return answer(user);
}

static int force(void *user, const ga_point *p, double *out)
{
  const rod *r = user;
  const double th = p->t + p->t * p->t, radial = p->lambda[0] + (r->twice ? p->lambda[2] : 0.0);
  out[0] = -p->q[0] * radial + sin(th) * p->lambda[1];
  out[1] = -p->q[1] * radial - cos(th) * p->lambda[1] + p->y[0];
  return answer(user);
}

static int phi(void *user, const ga_point *p, double *out)
{
  const rod *r = user;
  const double th = p->t + p->t * p->t;
  out[0] = 0.5 * (p->q[0] * p->q[0] + p->q[1] * p->q[1] - 1.0);
  out[1] = p->q[1] * cos(th) - p->q[0] * sin(th);
  if (r->twice) out[2] = out[0];
  return answer(user);
}

static int phi_dot(void *user, const ga_point *p, double *out)
{
  const rod *r = user;
  const double th = p->t + p->t * p->t, rate = 1.0 + 2.0 * p->t;
  out[0] = p->q[0] * p->v[0] + p->q[1] * p->v[1];
  out[1] = p->v[1] * cos(th) - p->v[0] * sin(th) - (p->q[1] * sin(th) + p->q[0] * cos(th)) * rate;
  if (r->twice) out[2] = out[0];
  return answer(user);
}

static int phi_acc(void *user, const ga_point *p, double *out)
{
  const rod *r = user;
  const double th = p->t + p->t * p->t, w = 1.0 + 2.0 * p->t, a = 2.0;
  out[0] = p->v[0] * p->v[0] + p->v[1] * p->v[1];
  out[1] = -2.0 * w * (p->v[1] * sin(th) + p->v[0] * cos(th)) - a * (p->q[1] * sin(th) + p->q[0] * cos(th)) -
           w * w * (p->q[1] * cos(th) - p->q[0] * sin(th));
  if (r->twice) out[2] = out[0];
  return answer(user);
}

static int output(void *user, const ga_point *p, double *out)
{
  out[0] = -9.81 * 2.0 + 0.1 * p->v[1];
  return answer(user);
}

static const double q0[2] = {1.0, 0.0};

static ga_status make(rod *r, ga_context *ctx, ga_system **sys)
{
  static const ga_factor plane = {GA_RN, 2, GA_LEFT};
  ga_system_def def = ga_system_defaults();
  def.user = r;
  def.n_factors = 1, def.factors = &plane;
  def.n_lambda = r->twice ? 3 : 2, def.n_y = 1;
  def.mass = mass, def.force = force, def.phi = phi, def.phi_dot = phi_dot, def.phi_acc = phi_acc;
  def.output = output;
  return ga_system_create(ctx, &def, sys);
}

static ga_status go(ga_kinematics *k, double t)
{
  ga_status status;
  while ((status = ga_kinematics_step(k, t)) == GA_OK) continue;
  return status == GA_STOPPED ? GA_OK : status;
}

/* The motion, and the tangential force that it needs. */
static void assert_right(ga_kinematics *k, double t)
{
  const ga_state *s = ga_kinematics_state(k);
  const double th = t + t * t, w = 1 + 2 * t, y = -19.62 + 0.1 * w * cos(th);
  assert_true(fabs(s->q[0] - cos(th)) < 1e-13 && fabs(s->q[1] - sin(th)) < 1e-13);
  assert_true(fabs(s->v[0] + w * sin(th)) < 1e-12);
  assert_true(fabs(s->vdot[1] - 2 * cos(th) + w * w * sin(th)) < 1e-7); /* B by differences */
  assert_true(fabs(s->lambda[1] - (y * cos(th) - 4)) < 1e-6);
}

/* 1: an allocation failed. */
static int life(int twice, long fail_at)
{
  rod r = {.twice = twice};
  ga_context *ctx = rig_open_context();
  ga_system *sys = NULL;
  ga_kinematics *k = NULL;
  ga_kinematics_opts o = ga_kinematics_defaults();
  o.lu = GA_LU_SPARSE;
  assert_status(ctx, make(&r, ctx, &sys), GA_OK);
  rig_memory.count = 0, rig_memory.fail_at = fail_at;
  ga_status status = ga_kinematics_create(ctx, sys, &o, &k);
  if (status) assert_null(k);
  if (!status) status = ga_kinematics_start(k, 0.0, q0, NULL, NULL, NULL, NULL, NULL);
  if (!status) status = go(k, 0.25);
  rig_memory.fail_at = 0;
  if (status) assert_status(ctx, status, GA_ERR_MEMORY);
  if (k && ga_kinematics_state(k)) {
    assert_status(ctx, go(k, 0.5), GA_OK);
    assert_right(k, 0.5);
  }
  ga_kinematics_destroy(&k);
  ga_system_destroy(&sys);
  rig_close_context(&ctx);
  return status != GA_OK;
}

static void each_allocation_fails(void **state)
{
  (void)state;
  for (int twice = 0; twice < 2; twice++) {
    assert_int_equal(life(twice, 0), 0);
    const long total = rig_memory.count;
    long noticed = 0, tried = 0; /* KLU makes do without some of its own */
    assert_true(total > 50);
    for (long n = 1; n <= total; n += rig_stride(total), tried++) noticed += life(twice, n);
    assert_true(3 * noticed > tried);
  }
}

static void each_callback_fails(void **state)
{
  (void)state;
  for (int i = 0; i < 4; i++) {
    rod r = {.twice = i / 2, .code = i % 2 ? -1 : 1};
    ga_context *ctx = rig_open_context();
    ga_system *sys = NULL;
    ga_kinematics *k = NULL;
    assert_status(ctx, make(&r, ctx, &sys), GA_OK);
    assert_status(ctx, ga_kinematics_create(ctx, sys, NULL, &k), GA_OK);
    assert_status(ctx, ga_kinematics_start(k, 0.0, q0, NULL, NULL, NULL, NULL, NULL), GA_OK);
    const long at_start = r.calls;
    assert_status(ctx, go(k, 0.25), GA_OK);
    const long total = r.calls, every = rig_stride(total);
    for (long n = 1; n <= total; n += every) {
      r.fail_at = 0;
      if (n > at_start)
        assert_status(ctx, ga_kinematics_start(k, 0.0, q0, NULL, NULL, NULL, NULL, NULL), GA_OK);
      r.calls = n > at_start ? at_start : 0, r.fail_at = n;
      ga_status status = GA_OK;
      if (n <= at_start) status = ga_kinematics_start(k, 0.0, q0, NULL, NULL, NULL, NULL, NULL);
      if (!status) status = go(k, 0.25);
      if (r.code < 0) assert_status(ctx, status, GA_ERR_CALLBACK);
      if (!ga_kinematics_state(k)) continue;
      r.fail_at = 0;
      assert_status(ctx, go(k, 0.5), GA_OK);
      assert_right(k, 0.5);
    }
    ga_kinematics_destroy(&k);
    ga_system_destroy(&sys);
    rig_close_context(&ctx);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(each_allocation_fails),
                                     cmocka_unit_test(each_callback_fails)};
  return cmocka_run_group_tests_name("fault: kinematics", tests, rig_hook_klu, NULL);
}
