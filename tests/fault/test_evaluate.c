/* Every allocation of an evaluation, of a linearisation and of an equilibrium fails once: GA_ERR_MEMORY, NULL
 * instead of half an object, no leak. */
#include <math.h>
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
    for (long n = 1; n <= total; n += rig_stride(total))
      if (!life(names[i / 2], i % 2, n))
        fail_msg("%s: allocation %ld of %ld failed, and nobody noticed", names[i / 2], n, total);
  }
}

/* The same during the search for an equilibrium, by sparse factors and a relaxation. */
static int search(const char *name, ga_load_control control, long fail_at)
{
  rig r = rig_open(name);
  ga_equilibrium *eq = NULL;
  ga_equilibrium_opts o = ga_equilibrium_defaults();
  const double none[1] = {0};
  o.lu = GA_LU_SPARSE;
  o.control = control;
  o.hold_free = 1;
  assert_status(r.ctx, ga_system_create(r.ctx, &r.def, &r.sys), GA_OK);
  assert_status(r.ctx, ga_equilibrium_create(r.ctx, r.sys, &o, &eq), GA_OK);
  rig_memory.count = 0, rig_memory.fail_at = fail_at;
  const ga_status status =
      ga_equilibrium_solve(eq, 0.0, r.problem->q0, r.problem->x0 ? r.problem->x0 : none, NULL);
  rig_memory.fail_at = 0;
  if (status) assert_status(r.ctx, status, GA_ERR_MEMORY);
  if (status) assert_null(ga_equilibrium_state(eq));
  ga_equilibrium_destroy(&eq);
  rig_close(&r);
  return status == GA_OK;
}

static void each_allocation_of_a_search_fails(void **state)
{
  (void)state;
  assert_true(search("heavy_top", GA_LOAD_AT_ONCE, 0));
  const long total = rig_memory.count;
  assert_true(total > 0);
  long tried = 0,
       failed = 0; /* KLU makes do without some of its own, as where it would make a block smaller */
  for (long n = 1; n <= total; n += rig_stride(total), tried++)
    failed += !search("heavy_top", GA_LOAD_AT_ONCE, n);
  assert_true(2 * failed > tried);
}

/* A column on a torsion spring, and a spring that the load compresses: it buckles at a load factor of 2. */
static int column_mass(void *user, const ga_point *p, double *out)
{
  (void)user;
  out[0] = p->vdot[0], out[1] = p->vdot[1];
  return 0;
}

static int column_force(void *user, const ga_point *p, double *out)
{
  (void)user;
  out[0] = 100 * p->q[1] * sin(p->q[0]) - 2 * p->q[0];
  out[1] = 1 - 100 * p->q[1];
  return 0;
}

static int buckle(long fail_at)
{
  static const ga_factor plane[] = {{GA_RN, 2, GA_LEFT}};
  rig r = rig_open(NULL);
  ga_equilibrium *eq = NULL;
  ga_equilibrium_opts o = ga_equilibrium_defaults();
  const double zero[2] = {0};
  ga_buckling_report report;
  r.def.n_factors = 1;
  r.def.factors = plane;
  r.def.mass = column_mass;
  r.def.force = column_force;
  o.lu = GA_LU_SPARSE;
  assert_status(r.ctx, ga_system_create(r.ctx, &r.def, &r.sys), GA_OK);
  assert_status(r.ctx, ga_equilibrium_create(r.ctx, r.sys, &o, &eq), GA_OK);
  rig_memory.count = 0, rig_memory.fail_at = fail_at;
  const ga_status status = ga_equilibrium_buckling(eq, 0.0, zero, zero, 1, &report);
  rig_memory.fail_at = 0;
  if (status)
    assert_status(r.ctx, status, GA_ERR_MEMORY);
  else
    assert_true(fabs(report.first - 2.0) < 1e-6 && ga_equilibrium_shape(eq, 0));
  if (status) assert_null(ga_equilibrium_shape(eq, 0));
  ga_equilibrium_destroy(&eq);
  rig_close(&r);
  return status == GA_OK;
}

static void each_allocation_of_buckling_fails(void **state)
{
  (void)state;
  assert_true(buckle(0));
  const long total = rig_memory.count;
  long failed = 0;
  for (long n = 1; n <= total; n++) failed += !buckle(n);
  assert_true(2 * failed > total);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(each_allocation_fails),
                                     cmocka_unit_test(each_allocation_of_a_search_fails),
                                     cmocka_unit_test(each_allocation_of_buckling_fails)};
  return cmocka_run_group_tests_name("fault: evaluation", tests, rig_hook_klu, NULL);
}
