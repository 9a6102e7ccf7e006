/* Starts from values that are consistent already: every bit stays, for every example, whether derivatives of
 * constraints are given or found by differences. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core_rig.h"
#include "machines/machine.h"
#include "problem.h"

/* Starts twice, from the given values and from what came of them. */
static void keeps_bits(const char *name, ga_context *ctx, const ga_system *sys, double h, double t0,
                       const double *q, const double *v, const double *x, const double *lambda,
                       const double *psi)
{
  ga_stepper *st = NULL;
  ga_stepper_opts o = ga_stepper_defaults();
  ga_start_opts start = ga_start_defaults();
  ga_start_report first, again;
  const size_t nq = (size_t)sys->nq, nv = (size_t)sys->nv;
  double *kept = calloc(nq + nv + 1, sizeof *kept);
  assert_non_null(kept);
  start.h = h;
  start.max_change = 10.0;
  assert_status(ctx, ga_stepper_create(ctx, sys, &o, &st), GA_OK);
  assert_status(ctx, ga_stepper_start(st, &start, t0, q, v, x, lambda, psi, &first), GA_OK);
  if (first.position.residual_after > first.position.residual_before ||
      fmax(first.velocity.residual_after, first.nonholonomic.residual_after) >
          fmax(first.velocity.residual_before, first.nonholonomic.residual_before))
    fail_msg("%s: the start has made residuals worse", name);
  const ga_state *s = ga_stepper_state(st);
  memcpy(kept, s->q, nq * sizeof *kept);
  memcpy(kept + nq, s->v, nv * sizeof *kept);
  assert_status(ctx, ga_stepper_start(st, &start, t0, kept, kept + nq, x, lambda, psi, &again), GA_OK);
  s = ga_stepper_state(st);
  if (memcmp(kept, s->q, nq * sizeof *kept) != 0)
    fail_msg("%s: q was consistent (%.3g) and has been moved, by %.3g", name, again.position.residual_before,
             again.position.change);
  if (memcmp(kept + nq, s->v, nv * sizeof *kept) != 0)
    fail_msg("%s: v was consistent (%.3g) and has been moved, by %.3g", name, again.velocity.residual_before,
             again.velocity.change);
  free(kept);
  ga_stepper_destroy(&st);
}

enum { AS_GIVEN, NO_PHI_DOT, NO_DERIVATIVES, N_VARIANTS };

static void problem_keeps_bits(const ex_problem *problem, int variant)
{
  static const char *const said[N_VARIANTS] = {"", " without phi_dot", " without any derivative"};
  ga_context *ctx = NULL;
  ga_system *sys = NULL;
  char name[120];
  ga_system_def def = ga_system_defaults();
  assert_int_equal(rig_context(&ctx), GA_OK);
  problem->define(&def);
  if (variant != AS_GIVEN) {
    if (def.n_lambda == 0) {
      ga_context_destroy(&ctx);
      return;
    }
    def.sweep = NULL, def.phi_dot = NULL, def.phi_acc = NULL;
    def.rheonomic = 1;
  }
  if (variant == NO_DERIVATIVES) def.jacobian = NULL, def.k_acc = NULL;
  snprintf(name, sizeof name, "%s%s", problem->name, said[variant]);
  assert_status(ctx, ga_system_create(ctx, &def, &sys), GA_OK);
  keeps_bits(name, ctx, sys, problem->h, 0.0, problem->q0, problem->v0, problem->x0, problem->lambda_guess,
             problem->psi_guess);
  ga_system_destroy(&sys);
  ga_context_destroy(&ctx);
}

static void problems(void **state)
{
  (void)state;
  for (int i = 0; ex_problem_at(i); i++)
    for (int variant = 0; variant < N_VARIANTS; variant++) problem_keeps_bits(ex_problem_at(i), variant);
}

static void machine_keeps_bits(const mx_machine *machine, ga_form form)
{
  mx_builder b = {.status = GA_OK};
  ga_machine_opts o = ga_machine_defaults();
  memcpy(o.gravity, machine->gravity, sizeof o.gravity);
  o.form = form;
  assert_int_equal(rig_context(&b.ctx), GA_OK);
  assert_status(b.ctx, ga_machine_create(b.ctx, &o, &b.m), GA_OK);
  machine->build(machine, &b);
  assert_status(b.ctx, b.status, GA_OK);
  assert_status(b.ctx, ga_machine_build(b.m), GA_OK);
  const ga_system *sys = ga_machine_system(b.m);
  double *q = calloc((size_t)(sys->nq + sys->nv + sys->n) + 1, sizeof *q), *v = q + sys->nq, *x = v + sys->nv;
  assert_non_null(q);
  assert_status(b.ctx, ga_machine_initial(b.m, q, v, x), GA_OK);
  keeps_bits(machine->name, b.ctx, sys, machine->h, 0.0, q, v, x, NULL, NULL);
  free(q);
  ga_machine_destroy(&b.m);
  for (int i = 0; i < b.n_functions; i++) ga_function_destroy(&b.function[i]);
  ga_context_destroy(&b.ctx);
}

static void machines(void **state)
{
  (void)state;
  for (int i = 0; mx_machine_at(i); i++)
    for (int form = GA_FORM_SPACE; form <= GA_FORM_SE3; form++)
      machine_keeps_bits(mx_machine_at(i), (ga_form)form);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(problems), cmocka_unit_test(machines)};
  return cmocka_run_group_tests_name("core: bits of consistent values", tests, NULL, NULL);
}
