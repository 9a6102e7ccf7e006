/* Every allocation fails once, the library's own and KLU's: GA_ERR_MEMORY, NULL instead of half an object, no
 * leak; and where it was a step that failed, the state is as before and the step works when tried again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "linkage.h"

typedef struct trial_case {
  const char *problem;
  ga_method method;
  ga_lu_kind lu;
  int checked; /* 1: with the derivative checker */
  int threads; /* of collocation; 0: its callbacks have no work space */
} trial_case;

/* Whether anything is still allocated after an allocation failed. */
typedef struct life {
  const trial_case *c;
  rig r;
  const char *stage;
  double *saved;
} life;

/* The failure of a call: of memory, or none where only a block could not change its size. */
static int failed(const life *l, ga_status status)
{
  if (status == GA_OK) return 0;
  if (status != GA_ERR_MEMORY || rig_memory.count < rig_memory.fail_at || rig_memory.fail_at == 0)
    fail_msg("%s, %s: status %d at allocation %ld, %s", l->c->problem, l->stage, (int)status,
             rig_memory.count, l->r.ctx ? ga_context_error(l->r.ctx)->text : "no context");
  if (l->r.ctx) {
    assert_says(l->r.ctx, "out of memory for");
    assert_int_equal(ga_context_error(l->r.ctx)->status, GA_ERR_MEMORY);
  }
  return 1;
}

static int created(life *l)
{
  rig *r = &l->r;
  l->stage = "context";
  if (failed(l, rig_context(&r->ctx))) {
    assert_null(r->ctx);
    return 0;
  }
  l->stage = "system";
  r->sys = (ga_system *)l;
  if (failed(l, ga_system_create(r->ctx, &r->def, &r->sys))) {
    assert_null(r->sys);
    return 0;
  }
  l->stage = "stepper";
  r->st = (ga_stepper *)l;
  if (failed(l, ga_stepper_create(r->ctx, r->sys, &r->opts, &r->st))) {
    assert_null(r->st);
    return 0;
  }
  return 1;
}

/* A step that may run out of memory; it must then leave the state unchanged and work the second time. */
static int stepped(life *l)
{
  rig *r = &l->r;
  double *before = rig_copy(r);
  int failure = failed(l, ga_stepper_step(r->st, r->problem->h));
  if (failure) {
    assert_true(rig_same_bits(r, before));
    assert_status(r->ctx, ga_stepper_step(r->st, r->problem->h), GA_OK);
  }
  free(before);
  return failure;
}

/* The whole life; returns at the first failure, 1 if there was one. */
static int lived(life *l)
{
  rig *r = &l->r;
  ga_start_opts o = ga_start_defaults();
  o.h = r->problem->h;
  if (!created(l)) return 1;
  l->stage = "start";
  if (failed(l, rig_try_start(r, &o, NULL))) {
    assert_null(ga_stepper_state(r->st));
    assert_status(r->ctx, rig_try_start(r, &o, NULL), GA_OK);
    return 1;
  }
  if (l->c->checked) {
    ga_point p = ga__state_point(&r->st->now);
    l->stage = "check";
    if (failed(l, ga_system_check(r->sys, &p, 1e-4, NULL))) return 1;
  }
  for (int i = 0; i < 3; i++) {
    l->stage = "step";
    if (stepped(l)) return 1;
  }
  l->stage = "after loading";
  l->saved = malloc(ga_stepper_saved_size(r->st) * sizeof(double));
  assert_non_null(l->saved);
  assert_status(r->ctx, ga_stepper_save(r->st, l->saved), GA_OK);
  assert_status(r->ctx, ga_stepper_load(r->st, l->saved), GA_OK);
  if (stepped(l)) return 1;
  l->stage = "projection";
  double *before = rig_copy(r);
  int failure = failed(l, ga_stepper_project_velocity(r->st, GA_PROJECT_OFFSET, NULL));
  if (failure) assert_true(rig_same_bits(r, before));
  free(before);
  return failure;
}

static ga_status share(void *user, ga_context *ctx, void **work)
{
  (void)ctx;
  *work = user;
  return GA_OK;
}
static void unshare(void *work)
{
  (void)work;
}

static int life_of(const trial_case *c, long fail_at)
{
  life l = {.c = c, .r = {.def = ga_system_defaults(), .opts = ga_stepper_defaults()}};
  l.r.problem = ex_problem_find(c->problem);
  assert_non_null(l.r.problem);
  l.r.problem->define(&l.r.def);
  l.r.opts.method = c->method;
  l.r.opts.lu = c->lu;
  l.r.opts.threads = c->threads;
  if (c->threads > 0) l.r.def.work_create = share, l.r.def.work_destroy = unshare;
  rig_memory = (rig_heap){0, 0, fail_at, 0};
  int failure = lived(&l);
  free(l.saved);
  rig_close(&l.r); /* asserts that nothing is left */
  return failure;
}

static void each_allocation_fails(const trial_case *c)
{
  assert_int_equal(life_of(c, 0), 0);
  long total = rig_memory.count;
  assert_true(total > 30);
  for (long n = 1; n <= total; n++)
    if (!life_of(c, n) && !rig_memory.kept)
      fail_msg("%s: allocation %ld of %ld failed, and nobody noticed", c->problem, n, total);
}

static void heavy_top(void **state)
{
  (void)state;
  each_allocation_fails(&(trial_case){"heavy_top", GA_STABILIZED, GA_LU_DENSE, 1, 0});
  each_allocation_fails(&(trial_case){"heavy_top", GA_INDEX3, GA_LU_SPARSE, 0, 0});
}

static void mechatronic(void **state)
{
  (void)state;
  each_allocation_fails(&(trial_case){"mechatronic", GA_STABILIZED, GA_LU_AUTO, 1, 0});
  each_allocation_fails(&(trial_case){"mechatronic", GA_STABILIZED, GA_LU_SPARSE, 0, 0});
}

static void by_differences(void **state)
{
  (void)state;
  each_allocation_fails(&(trial_case){"test71", GA_STABILIZED, GA_LU_AUTO, 1, 0});
}

static void sparse(void **state)
{
  (void)state;
  each_allocation_fails(&(trial_case){"andrews31", GA_STABILIZED, GA_LU_SPARSE, 0, 0});
  each_allocation_fails(&(trial_case){"andrews31", GA_INDEX3, GA_LU_AUTO, 0, 0});
}

static void collocation(void **state)
{
  (void)state;
  each_allocation_fails(&(trial_case){"heavy_top", GA_COLLOCATION, GA_LU_DENSE, 0, 1});
  each_allocation_fails(&(trial_case){"heavy_top", GA_COLLOCATION, GA_LU_DENSE, 0, 3});
  each_allocation_fails(&(trial_case){"heavy_top", GA_AUTOMATIC, GA_LU_DENSE, 0, 0});
}

static void weighted(void **state)
{
  (void)state;
  each_allocation_fails(&(trial_case){"test15", GA_SOI2, GA_LU_AUTO, 0, 0});
  each_allocation_fails(&(trial_case){"heavy_top", GA_SOI2, GA_LU_SPARSE, 0, 0});
}

/* Redundant constraints: a start that finds them, steps with them, and one that ends where there are more. */
typedef struct redundant_case {
  ga_method method;
  ga_lu_kind lu;
  int n_extra; /* rows that repeat others */
  int flat;    /* 1: from where all links lie in one line, one relation more at the start than later */
} redundant_case;

static ga_status redundant_start(rig *r, const linkage *l)
{
  ga_start_opts o = ga_start_defaults();
  o.h = 1e-3;
  return ga_stepper_start(r->st, &o, 0.0, l->q0, l->v0, NULL, NULL, NULL, NULL);
}

static int redundant_lived(life *l, const linkage *link)
{
  rig *r = &l->r;
  if (!created(l)) return 1;
  l->stage = "start";
  if (failed(l, redundant_start(r, link))) {
    assert_null(ga_stepper_state(r->st));
    assert_status(r->ctx, redundant_start(r, link), GA_OK);
    return 1;
  }
  for (int i = 0; i < 3; i++) {
    l->stage = "step";
    double *before = rig_copy(r);
    int failure = failed(l, ga_stepper_step(r->st, 1e-3));
    if (failure) {
      assert_true(rig_same_bits(r, before));
      assert_status(r->ctx, ga_stepper_step(r->st, 1e-3), GA_OK);
    }
    free(before);
    if (failure) return 1;
    assert_non_null(ga_stepper_redundancy(r->st));
  }
  return 0;
}

static int redundant_life(const redundant_case *c, long fail_at)
{
  static const trial_case name = {"redundant linkage", GA_STABILIZED, GA_LU_AUTO, 0, 0};
  linkage link = linkage_four_bar(0.7, 3.0);
  if (c->flat) { /* a parallelogram lying down, moving as one */
    link = (linkage){.n_links = 3,
                     .n_pins = 4,
                     .length = {0.5, 1.0, 0.5},
                     .mass = {1.0, 1.0, 1.0},
                     .pin = {{0, -1, -0.5, 0, 0, 0},
                             {0, 1, 0.5, -0.5, 0, 0},
                             {1, 2, 0.5, 0.5, 0, 0},
                             {2, -1, -0.5, 0, 1.0, 0}},
                     .q0 = {0.25, 0, 0, 1.0, 0, 0, 1.25, 0, 0},
                     .v0 = {0, 0.25, 1, 0, 0.5, 0, 0, 0.25, 1}};
  }
  for (int i = 0; i < c->n_extra; i++) linkage_add_row(&link, i, 2.0, i + 1, 1.0);
  life l = {.c = &name, .r = {.def = ga_system_defaults(), .opts = ga_stepper_defaults()}};
  linkage_define(&link, &l.r.def);
  l.r.opts.method = c->method;
  l.r.opts.lu = c->lu;
  rig_memory = (rig_heap){0, 0, fail_at, 0};
  int failure = redundant_lived(&l, &link);
  rig_close(&l.r);
  return failure;
}

static void redundant(void **state)
{
  static const redundant_case list[] = {
      {GA_STABILIZED, GA_LU_DENSE, 1, 0}, {GA_STABILIZED, GA_LU_SPARSE, 5, 0},
      {GA_INDEX3, GA_LU_SPARSE, 1, 0},    {GA_SOI2, GA_LU_SPARSE, 1, 0},
      {GA_STABILIZED, GA_LU_DENSE, 1, 1}, {GA_STABILIZED, GA_LU_SPARSE, 0, 1}};
  (void)state;
  for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
    assert_int_equal(redundant_life(&list[i], 0), 0);
    long total = rig_memory.count;
    for (long n = 1; n <= total; n += rig_stride(total))
      if (!redundant_life(&list[i], n) && !rig_memory.kept)
        fail_msg("case %zu: allocation %ld of %ld failed, and nobody noticed", i, n, total);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(heavy_top),      cmocka_unit_test(mechatronic),
                                     cmocka_unit_test(by_differences), cmocka_unit_test(sparse),
                                     cmocka_unit_test(weighted),       cmocka_unit_test(redundant),
                                     cmocka_unit_test(collocation)};
  return cmocka_run_group_tests_name("fault: memory", tests, rig_hook_klu, NULL);
}
