/* Every allocation of an evaluation, of a linearisation and of an equilibrium fails once: GA_ERR_MEMORY, NULL
 * instead of half an object, no leak. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core_rig.h"

/* 1: an allocation failed, and was noticed. */
static int refused(const rig *r, ga_status status, const void *object)
{
  if (status == GA_OK) return 0;
  assert_status(r->ctx, status, GA_ERR_MEMORY);
  assert_says(r->ctx, "out of memory for");
  assert_null(object);
  return 1;
}

static int life(const char *name, int by_differences, long fail_at)
{
  rig r = rig_open(name);
  ga_evaluation *ev = NULL;
  ga_linearisation *lin = NULL;
  ga_equilibrium *eq = NULL;
  static const ga_linear_input inputs[] = {{GA_BLOCK_V, 0}, {GA_BLOCK_V, 1}};
  if (by_differences) r.def.jacobian = NULL, r.def.sweep = NULL;
  assert_status(r.ctx, ga_system_create(r.ctx, &r.def, &r.sys), GA_OK);
  rig_memory.count = 0, rig_memory.fail_at = fail_at;
  const int failed = refused(&r, ga_evaluation_create(r.ctx, r.sys, &ev), ev) ||
                     refused(&r, ga_linearisation_create_with_inputs(r.ctx, r.sys, 2, inputs, &lin), lin) ||
                     refused(&r, ga_equilibrium_create(r.ctx, r.sys, NULL, &eq), eq);
  rig_memory.fail_at = 0;
  ga_evaluation_destroy(&ev);
  ga_linearisation_destroy(&lin);
  ga_equilibrium_destroy(&eq);
  rig_close(&r); /* asserts that nothing is left */
  return failed;
}

static void each_allocation_fails(void **state)
{
  static const char *const names[] = {"mechatronic", "heavy_top", "rolling_disk"};
  (void)state;
  for (int i = 0; i < 6; i++) {
    assert_int_equal(life(names[i / 2], i % 2, 0), 0);
    const long total = rig_memory.count;
    assert_true(total > 100);
    for (long n = 1; n <= total; n += rig_brief() ? 7 : 1)
      if (!life(names[i / 2], i % 2, n))
        fail_msg("%s: allocation %ld of %ld failed, and nobody noticed", names[i / 2], n, total);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(each_allocation_fails)};
  return cmocka_run_group_tests_name("fault: evaluation", tests, rig_hook_klu, NULL);
}
