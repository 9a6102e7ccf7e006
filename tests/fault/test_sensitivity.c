/* Every allocation of derivatives by parameters fails once: GA_ERR_MEMORY, NULL instead of half an object, no
 * leak. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core_rig.h"

/* Derivatives by an initial velocity and, of the same system four times, by nothing at all. 1: it was
 * refused. */
static int life(const char *name, ga_lu_kind lu, long fail_at)
{
  rig r = rig_open(name);
  double v[GA_PARAMETER_VALUES][RIG_MOST];
  ga_parameter list[2] = {{.name = "v", .step = 1e-3}, {.name = "none", .step = 1e-3}};
  ga_sensitivity *se = NULL;
  ga_start_opts o = ga_start_defaults();
  o.h = 1e-3;
  r.opts.lu = lu;
  rig_build(&r);
  const int nv = ga_group_nv(ga_system_group(r.sys));
  for (int m = 0; m < GA_PARAMETER_VALUES; m++) {
    for (int i = 0; i < nv; i++) v[m][i] = r.problem->v0[i] + 1e-3 * (m < 2 ? m - 2 : m - 1);
    list[0].at[m].v0 = v[m];
    list[1].at[m].sys = r.sys;
  }
  rig_memory.count = 0, rig_memory.fail_at = fail_at;
  ga_status status = ga_sensitivity_create(r.ctx, r.st, 2, list, &se);
  if (status) assert_null(se);
  const ex_problem *p = r.problem;
  if (!status)
    status = ga_sensitivity_start(se, &o, 0.0, p->q0, p->v0, p->x0, p->lambda_guess, p->psi_guess, NULL);
  if (!status) status = ga_stepper_step(r.st, 1e-3);
  if (!status) status = ga_sensitivity_step(se);
  rig_memory.fail_at = 0;
  if (status) assert_status(r.ctx, status, GA_ERR_MEMORY);
  if (status) assert_says(r.ctx, "out of memory for");
  ga_sensitivity_destroy(&se);
  assert_null(se);
  rig_close(&r); /* asserts that nothing is left */
  return status != GA_OK;
}

static void each_allocation_fails(void **state)
{
  static const char *const names[] = {"mechatronic", "heavy_top", "rolling_disk"};
  (void)state;
  for (int i = 0; i < 6; i++) {
    const ga_lu_kind lu = i % 2 ? GA_LU_SPARSE : GA_LU_AUTO;
    assert_int_equal(life(names[i / 2], lu, 0), 0);
    const long total = rig_memory.count;
    long unnoticed = 0, tried = 0; /* KLU makes do without some of its own */
    assert_true(total > 100);
    for (long n = 1; n <= total; n += rig_stride(total), tried++) unnoticed += !life(names[i / 2], lu, n);
    assert_true(lu == GA_LU_SPARSE ? 4 * unnoticed < tried : unnoticed == 0);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(each_allocation_fails)};
  return cmocka_run_group_tests(tests, rig_hook_klu, NULL);
}
