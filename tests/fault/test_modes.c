/* Every allocation of modes fails once: GA_ERR_MEMORY, NULL instead of half an object, no leak. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core_rig.h"

/* 1: an allocation failed, and was noticed. */
static int life(const char *name, int dense, long fail_at)
{
  rig r = rig_open(name);
  ga_modes *modes = NULL;
  ga_modes_opts o = ga_modes_defaults();
  o.dense = dense;
  rig_build(&r);
  rig_start(&r, 1e-3);
  const ga_state *s = ga_stepper_state(r.st);
  const ga_point p = {s->t, s->q, s->v, s->vdot, s->lambda, s->psi, s->x, s->y, 0, NULL};
  rig_memory.count = 0, rig_memory.fail_at = fail_at, rig_memory.kept = 0;
  const ga_status status = ga_modes_create(r.ctx, r.sys, &o, &p, &modes);
  const int kept = rig_memory.kept;
  rig_memory.fail_at = 0;
  if (status) {
    assert_status(r.ctx, status, GA_ERR_MEMORY);
    assert_null(modes);
  }
  ga_modes_destroy(&modes);
  rig_close(&r); /* asserts that nothing is left */
  return status != GA_OK || kept;
}

static void each_allocation_fails(void **state)
{
  static const char *const names[] = {"mechatronic", "heavy_top", "rolling_disk", "slider_crank"};
  (void)state;
  for (int i = 0; i < 8; i++) {
    const int dense = i % 2 ? 1 : -1;
    assert_int_equal(life(names[i / 2], dense, 0), 0);
    const long total = rig_memory.count;
    assert_true(total > 100);
    for (long n = 1; n <= total; n += rig_brief() ? 23 : 1)
      if (!life(names[i / 2], dense, n))
        fail_msg("%s: allocation %ld of %ld failed, and nobody noticed", names[i / 2], n, total);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(each_allocation_fails)};
  return cmocka_run_group_tests_name("fault: modes", tests, rig_hook_klu, NULL);
}
