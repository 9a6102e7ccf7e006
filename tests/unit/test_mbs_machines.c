/* Every example machine: its derivatives and its sweep at random points, and steps with the sweep against
 * steps without. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "machines/machine.h"
#include "mbs_rig.h"

typedef struct example {
  mx_builder b;
  mbs_rig r;
} example;

static example example_open(const mx_machine *machine)
{
  example e = {.b = {.status = GA_OK}};
  ga_machine_opts o = ga_machine_defaults();
  memcpy(o.gravity, machine->gravity, sizeof o.gravity);
  rig_memory = (rig_heap){0, 0, 0, 0};
  assert_int_equal(rig_context(&e.b.ctx), GA_OK);
  assert_status(e.b.ctx, ga_machine_create(e.b.ctx, &o, &e.b.m), GA_OK);
  machine->build(machine, &e.b);
  assert_status(e.b.ctx, e.b.status, GA_OK);
  assert_status(e.b.ctx, ga_machine_build(e.b.m), GA_OK);
  e.r = (mbs_rig){e.b.ctx, e.b.m};
  return e;
}

static void example_close(example *e)
{
  ga_machine_destroy(&e->b.m);
  for (int i = 0; i < e->b.n_functions; i++) ga_function_destroy(&e->b.function[i]);
  ga_context_destroy(&e->b.ctx);
  assert_int_equal(rig_memory.live, 0);
}

static void sweeps_and_patterns(void **state)
{
  (void)state;
  for (int i = 0; mx_machine_at(i); i += rig_brief() ? 5 : 1) {
    const mx_machine *machine = mx_machine_at(i);
    example e = example_open(machine);
    assert_non_null(ga_machine_system(e.r.m)->def.sweep);
    mbs_check_kinds(&e.r, machine->name, 3, 0.05, 1e-6, 1u << GA_CHECK_SWEEP | 1u << GA_CHECK_PATTERN);
    example_close(&e);
  }
}

/* A stepper with some steps behind it. */
static ga_stepper *stepped(const example *e, const mx_machine *machine, const ga_stepper_opts *o, int n)
{
  ga_stepper *st = NULL;
  const ga_system *sys = ga_machine_system(e->r.m);
  double *q = calloc((size_t)(sys->nq + sys->nv + sys->n) + 1, sizeof *q), *v = q + sys->nq, *x = v + sys->nv;
  ga_start_opts start = ga_start_defaults();
  start.h = machine->h;
  start.max_change = 10.0;
  assert_non_null(q);
  mbs_ok(&e->r, ga_stepper_create(e->r.ctx, sys, o, &st));
  mbs_ok(&e->r, ga_machine_initial(e->r.m, q, v, x));
  mbs_ok(&e->r, ga_stepper_start(st, &start, 0.0, q, v, x, NULL, NULL, NULL));
  for (int k = 0; k < n; k++)
    if (ga_stepper_step(st, machine->h)) fail_msg("%s: %s", machine->name, ga_context_error(e->r.ctx)->text);
  free(q);
  return st;
}

static void swept_steps_are_the_same(const mx_machine *machine, ga_method method, ga_reuse reuse)
{
  example a = example_open(machine);
  ga_system *sys = (ga_system *)(uintptr_t)ga_machine_system(a.r.m);
  ga_stepper_opts o = ga_stepper_defaults();
  o.method = method;
  o.newton.reuse = reuse;
  assert_status(a.r.ctx, ga_scheme_rho(a.r.ctx, machine->rho, &o.scheme), GA_OK);
  rig with = {.ctx = a.r.ctx, .sys = sys}, without = with;
  with.st = stepped(&a, machine, &o, 8);
  sys->def.sweep = NULL;
  without.st = stepped(&a, machine, &o, 8);
  assert_below(rig_distance(&with, &without), 1e-10, machine->name);
  ga_stepper_destroy(&with.st);
  ga_stepper_destroy(&without.st);
  example_close(&a);
}

static void steps(void **state)
{
  (void)state;
  for (int i = 0; mx_machine_at(i); i++) {
    swept_steps_are_the_same(mx_machine_at(i), GA_STABILIZED, GA_REUSE);
    swept_steps_are_the_same(mx_machine_at(i), GA_STABILIZED, GA_FRESH_ITERATION);
    swept_steps_are_the_same(mx_machine_at(i), GA_INDEX3, GA_FRESH_STEP);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(sweeps_and_patterns), cmocka_unit_test(steps)};
  return cmocka_run_group_tests_name("mbs: example machines", tests, rig_hook_klu, NULL);
}
