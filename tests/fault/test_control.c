/* Control blocks under failure: of every allocation, and of every call of a user's function. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "control_rig.h"

/* Every allocation of every kind fails in turn: reported as such, nothing left, NULL handed out. */
static void each_allocation_fails(void **state)
{
  ga_context *ctx = NULL;
  (void)state;
  rig_memory = (rig_heap){0, 0, 0, 0};
  assert_int_equal(rig_context(&ctx), GA_OK);
  ware w = ware_open(ctx);
  for (int s = 0; s < COUNT(SPECIMENS); s++) {
    ga_control_block *b = NULL;
    const long before = rig_memory.count, live = rig_memory.live;
    assert_status(ctx, SPECIMENS[s].make(&w, &b), GA_OK);
    const long needed = rig_memory.count - before;
    ga_block_destroy(&b);
    assert_int_equal(rig_memory.live, live);
    assert_true(needed >= 4);
    for (long n = 1; n <= needed; n++) {
      b = (ga_control_block *)&w;
      ga_context_clear_error(ctx);
      rig_memory.fail_at = rig_memory.count + n;
      if (SPECIMENS[s].make(&w, &b) != GA_ERR_MEMORY)
        fail_msg("%s: allocation %ld of %ld failed, and nobody noticed", SPECIMENS[s].name, n, needed);
      assert_null(b);
      assert_int_equal(ga_context_error(ctx)->status, GA_ERR_MEMORY);
      assert_says(ctx, "out of memory for");
      assert_int_equal(rig_memory.live, live);
    }
    rig_memory.fail_at = 0;
  }
  ware_close(&w);
  ga_context_destroy(&ctx);
  assert_int_equal(rig_memory.live, 0);
}

/* The user's block, fed by a constant, with a plan: calls made, the call that fails, its answer. */
static void open_user(rig *r, diagram *d, long *plan, int given)
{
  const double value = 0.7;
  ga_control_block *b = NULL;
  *r = diagram_rig(d);
  MAKE(r->ctx, constant, &b, o.value = &value);
  diagram_add(d, b, NULL);
  MAKE(r->ctx, user, &b, (RIG_USER, o.user = plan, o.jacobian = given ? rig_user_jacobian : NULL));
  diagram_add(d, b, (const int[]){0, 0});
  diagram_define(r, d);
  rig_build(r);
}

static ga_status start(rig *r, diagram *d)
{
  ga_start_opts o = ga_start_defaults();
  o.h = 0.05;
  return ga_stepper_start(r->st, &o, 0.0, NULL, NULL, d->x0, NULL, NULL, NULL);
}

/* Start and three steps with call number `at` failing; 1 if it came to that. What follows a failure must
 * work, and end where an undisturbed run does. */
static int disturbed(long at, long answer, int given, const double *expected)
{
  long plan[3] = {0, at, answer};
  const ga_status status = answer > 0 ? GA_RETRY_CALLBACK : GA_ERR_CALLBACK;
  diagram d;
  rig r;
  int struck = 0;
  open_user(&r, &d, plan, given);
  ga_status s = start(&r, &d);
  if (s) {
    struck = 1;
    if (s != GA_ERR_CALLBACK && s != status)
      fail_msg("call %ld: the start returned %d: %s", at, (int)s, ga_context_error(r.ctx)->text);
    assert_null(ga_stepper_state(r.st));
    assert_status(r.ctx, start(&r, &d), GA_OK);
  }
  for (int i = 0; i < 3; i++) {
    double *before = rig_copy(&r);
    s = ga_stepper_step(r.st, 0.05);
    if (s) {
      struck = 1;
      assert_status(r.ctx, s, status);
      assert_true(rig_same_bits(&r, before));
      assert_status(r.ctx, ga_stepper_step(r.st, 0.05), GA_OK);
    }
    free(before);
  }
  if (struck) assert_true(plan[0] > at);
  for (int i = 0; i < 2; i++)
    assert_near(ga_stepper_state(r.st)->x[i], expected[i], 1e-8, "state after a failure");
  diagram_close(&r, &d);
  return struck;
}

static void each_call_fails(void **state)
{
  (void)state;
  for (int given = 0; given < 2; given++) {
    long plan[3] = {0, 0, 0};
    double expected[2];
    diagram d;
    rig r;
    open_user(&r, &d, plan, given);
    assert_status(r.ctx, start(&r, &d), GA_OK);
    rig_steps(&r, 0.05, 3);
    memcpy(expected, ga_stepper_state(r.st)->x, sizeof expected);
    diagram_close(&r, &d);
    const long calls = plan[0];
    assert_true(calls > 10);
    for (long at = 1; at <= calls; at++)
      for (long answer = -1; answer <= 1; answer += 2)
        if (!disturbed(at, answer, given, expected))
          fail_msg("call %ld of %ld answered %ld, and nobody noticed", at, calls, answer);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(each_allocation_fails),
                                     cmocka_unit_test(each_call_fails)};
  return cmocka_run_group_tests_name("fault: control", tests, rig_hook_klu, NULL);
}
