/* Every allocation of modes fails once: GA_ERR_MEMORY, NULL instead of half an object, no leak. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core_rig.h"
#include "galpha/mbs.h"

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
    for (long n = 1; n <= total; n += rig_stride(total))
      if (!life(names[i / 2], dense, n))
        fail_msg("%s: allocation %ld of %ld failed, and nobody noticed", names[i / 2], n, total);
  }
}

/* The turning of a system at rest: its relative equilibrium is a static one. */
static void keep_still(const void *user, const double *q, double *v)
{
  (void)q;
  memset(v, 0, (size_t) * (const int *)user * sizeof *v);
}

static int turning_life(const char *name, long fail_at)
{
  rig r = rig_open(name);
  static double at[7][64];
  ga_modes *modes = NULL;
  ga_modes_opts o = ga_modes_defaults();
  rig_build(&r);
  rig_start(&r, 1e-3);
  const ga_state *s = ga_stepper_state(r.st);
  const int nv = ga_system_size(r.sys, GA_BLOCK_V), first = 0;
  const double none = 0.0;
  const ga_turning turning = {1.0, 1, &first, &first, &none, keep_still, &nv};
  const ga_turning_state z = {at[0], at[1], at[2], at[3], at[4], at[5], at[6]};
  const ga_point p = {s->t, s->q, s->v, s->vdot, s->lambda, s->psi, s->x, s->y, 0, NULL};
  memcpy(at[0], s->q, (size_t)ga_group_nq(ga_system_group(r.sys)) * sizeof **at);
  o.turning = &turning;
  rig_memory.count = 0, rig_memory.fail_at = fail_at, rig_memory.kept = 0;
  const ga_status first_status = ga_turning_solve(r.ctx, r.sys, &turning, 0.0, &z, NULL);
  const ga_status status =
      first_status == GA_ERR_MEMORY ? first_status : ga_modes_create(r.ctx, r.sys, &o, &p, &modes);
  const int kept = rig_memory.kept;
  rig_memory.fail_at = 0;
  if (fail_at > 0 && status) assert_int_equal(status, GA_ERR_MEMORY);
  ga_modes_destroy(&modes);
  rig_close(&r);
  return status == GA_ERR_MEMORY || kept;
}

static void each_allocation_of_a_turning_fails(void **state)
{
  (void)state;
  assert_int_equal(turning_life("mechatronic", 0), 0);
  const long total = rig_memory.count;
  assert_true(total > 100);
  for (long n = 1; n <= total; n += 1 + total / (rig_brief() ? 20 : 200))
    if (!turning_life("mechatronic", n))
      fail_msg("allocation %ld of %ld failed, and nobody noticed", n, total);
}

/* A beam of one element, too few for its modes: what the check of modes allocates. */
static int coarse_life(long fail_at)
{
  ga_context *ctx = rig_open_context();
  ga_machine *m = NULL;
  ga_modes *modes = NULL;
  ga_beam_def d = ga_beam_defaults();
  double q[24], zero[12] = {0};
  int n = -1;
  d.name = "b", d.length = 1, d.elements = 1;
  d.section = GA_SECTION_CIRCLE, d.diameter = 0.02, d.young = 2e11, d.density = 7800;
  assert_int_equal(ga_machine_create(ctx, NULL, &m), GA_OK);
  assert_status(ctx, ga_machine_add_beam(m, &d), GA_OK);
  assert_status(ctx, ga_machine_build(m), GA_OK);
  assert_status(ctx, ga_machine_initial(m, q, zero, NULL), GA_OK);
  const ga_point p = {.q = q, .v = zero, .vdot = zero};
  const ga_state s = {.q = q, .v = zero, .vdot = zero, .a = zero};
  assert_status(ctx, ga_modes_create(ctx, ga_machine_system(m), NULL, &p, &modes), GA_OK);
  rig_memory.count = 0, rig_memory.fail_at = fail_at;
  const ga_status status = ga_machine_check_modes(m, &s, modes, 0, NULL, &n);
  rig_memory.fail_at = 0;
  if (status) assert_status(ctx, status, GA_ERR_MEMORY);
  assert_int_equal(n, status ? 0 : 1);
  ga_modes_destroy(&modes);
  ga_machine_destroy(&m);
  rig_close_context(&ctx);
  return status != GA_OK;
}

static void each_allocation_of_a_check_fails(void **state)
{
  (void)state;
  assert_int_equal(coarse_life(0), 0);
  const long total = rig_memory.count;
  assert_true(total >= 3);
  for (long n = 1; n <= total; n++)
    if (!coarse_life(n)) fail_msg("allocation %ld of %ld failed, and nobody noticed", n, total);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(each_allocation_fails),
                                     cmocka_unit_test(each_allocation_of_a_turning_fails),
                                     cmocka_unit_test(each_allocation_of_a_check_fails)};
  return cmocka_run_group_tests_name("fault: modes", tests, rig_hook_klu, NULL);
}
