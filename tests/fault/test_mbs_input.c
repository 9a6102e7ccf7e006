/* Every allocation fails once while inputs and formulas are resolved: GA_ERR_MEMORY, nothing left, and the
 * machine can be built afterwards. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "mbs_parts_rig.h"

static void fill(parts_rig *r)
{
  static const char *const scalar[] = {"rotor", "cart"};
  static const char *const text[] = {"sum", "2*rotor+sin(t)*cart", "2*rotor+sin(t)*cart",
                                     "rotor*if(limit > 0.5, sum, 0)"};
  const ga_input wave = {.expression = "sin(3*t)"}; /* through a limit: a function of time is made of it */
  const ga_input inputs[2] = {{.expression = "rotor"}, {.expression = "-cart"}};
  for (int i = 0; i < 2; i++) {
    ga_scalar_def def = ga_scalar_defaults();
    def.name = scalar[i];
    def.mass = 1;
    assert_status(r->ctx, ga_machine_add_scalar(r->m, &def), GA_OK);
  }
  for (int i = 0; i < 4; i++) {
    ga_actuator_def def = ga_actuator_defaults();
    char name[20];
    snprintf(name, sizeof name, "actuator%d", i);
    def.name = name;
    def.coordinate = scalar[i % 2];
    def.force.expression = text[i];
    assert_status(r->ctx, ga_machine_add_actuator(r->m, &def), GA_OK);
  }
  ga_spring_def spring = ga_spring_defaults();
  spring.name = "spring";
  spring.coordinate = "rotor";
  spring.expression = "l^3 + cart*v";
  assert_status(r->ctx, ga_machine_add_spring(r->m, &spring), GA_OK);
  ga_control_block *block = NULL;
  assert_status(r->ctx, parts_block(r->ctx, &block), GA_OK);
  assert_status(r->ctx, ga_machine_add_block(r->m, "sum", block, inputs), GA_OK);
  const ga_block_saturation_opts limits = ga_block_saturation_defaults();
  assert_status(r->ctx, ga_block_create_saturation(r->ctx, &limits, &block), GA_OK);
  assert_status(r->ctx, ga_machine_add_block(r->m, "limit", block, &wave), GA_OK);
}

static void each_allocation_of_building_fails(void **state)
{
  parts_rig *r = *state;
  fill(r);
  const long live = rig_memory.live;
  long n = 0;
  ga_status status = GA_ERR_MEMORY;
  while (status) {
    rig_memory.fail_at = rig_memory.count + ++n;
    ga_context_clear_error(r->ctx);
    status = ga_machine_build(r->m);
    if (status == GA_OK) break;
    assert_status(r->ctx, status, GA_ERR_MEMORY);
    assert_says(r->ctx, "out of memory for");
    assert_int_equal(rig_memory.live, live);
    assert_null(ga_machine_system(r->m));
  }
  assert_true(n > 50);
  assert_true(rig_memory.count < rig_memory.fail_at); /* the last one needed no more than was left */
  assert_non_null(ga_machine_system(r->m));
}

/* A loop whose start is given, by a joint and by a body that is held: everything that assembling takes may
 * fail, and leaves nothing. */
static void each_allocation_of_assembling_fails(void **state)
{
  static const char *const name[4] = {"h1", "h2", "h3", "h4"};
  static const char *const body[5] = {"ground", "a", "b", "c", "ground"};
  static const double x[4] = {0, 0, 2, 2}, y[4] = {0, 1, 1, 0};
  parts_rig *r = *state;
  for (int i = 0; i < 3; i++) {
    ga_planar_def d = ga_planar_defaults();
    d.name = body[i + 1];
    d.mass = d.inertia = 1;
    d.position[0] = x[i], d.position[1] = y[i];
    d.hold = i == 0 ? GA_HOLD_VELOCITY : GA_HOLD_NONE;
    assert_status(r->ctx, ga_machine_add_planar(r->m, &d), GA_OK);
  }
  for (int i = 0; i < 4; i++) {
    ga_joint_def d = ga_joint_defaults();
    d.name = name[i];
    d.kind = GA_JOINT_REVOLUTE;
    d.a = body[i], d.b = body[i + 1];
    d.at_pose = 1;
    d.at = ga_pose_at(x[i], y[i], 0);
    if (i == 0) d.angle = 0.15;
    assert_status(r->ctx, ga_machine_add_joint(r->m, &d), GA_OK);
  }
  const long live = rig_memory.live;
  long n = 0;
  for (ga_status status = GA_ERR_MEMORY; status;) {
    n = rig_next(n);
    rig_memory.fail_at = rig_memory.count + n;
    ga_context_clear_error(r->ctx);
    status = ga_machine_build(r->m);
    if (status == GA_OK) break;
    assert_status(r->ctx, status, GA_ERR_MEMORY);
    assert_int_equal(rig_memory.live, live);
    assert_null(ga_machine_system(r->m));
  }
  assert_true(n > 300);
  assert_true(rig_memory.count < rig_memory.fail_at);
}

/* Those that evaluate a machine, each with work space of its own, and a context that is not the machine's. */
typedef enum evaluator { STEPPER, METER, EVALUATION, LINEARISATION, LINEAR_MODEL, N_EVALUATORS } evaluator;

static ga_status try_evaluator(ga_context *ctx, const ga_machine *m, evaluator kind)
{
  const ga_system *sys = ga_machine_system(m);
  ga_stepper *st = NULL;
  ga_meter *meter = NULL;
  ga_evaluation *ev = NULL;
  ga_linearisation *lin = NULL;
  ga_machine_linearisation *model = NULL;
  const char *const output = "energy.kinetic";
  const ga_status status = kind == STEPPER      ? ga_stepper_create(ctx, sys, NULL, &st)
                           : kind == METER      ? ga_meter_create(ctx, m, &meter)
                           : kind == EVALUATION ? ga_evaluation_create(ctx, sys, &ev)
                           : kind == LINEAR_MODEL
                               ? ga_machine_linearisation_create(ctx, m, 0, NULL, 1, &output, &model)
                               : ga_linearisation_create(ctx, sys, &lin);
  if (status) assert_true(!st && !meter && !ev && !lin && !model);
  ga_machine_linearisation_destroy(&model);
  ga_stepper_destroy(&st);
  ga_meter_destroy(&meter);
  ga_evaluation_destroy(&ev);
  ga_linearisation_destroy(&lin);
  return status;
}

static void each_allocation_of_evaluators_fails(void **state)
{
  parts_rig *r = *state;
  ga_context *ctx = NULL;
  fill(r);
  r->m->opts.form = GA_FORM_SE3; /* its work space too */
  ga_rigid_def body = ga_rigid_defaults();
  body.name = "body", body.mass = 1;
  body.inertia[0] = body.inertia[1] = body.inertia[2] = 1;
  assert_status(r->ctx, ga_machine_add_rigid(r->m, &body), GA_OK);
  assert_status(r->ctx, ga_machine_build(r->m), GA_OK);
  assert_int_equal(rig_context(&ctx), GA_OK);
  const long live = rig_memory.live;
  for (int kind = 0; kind < N_EVALUATORS; kind++) {
    long n = 0;
    for (ga_status status = GA_ERR_MEMORY; status;) {
      n = rig_next(n);
      rig_memory.fail_at = rig_memory.count + n;
      ga_context_clear_error(ctx);
      status = try_evaluator(ctx, r->m, (evaluator)kind);
      assert_int_equal(rig_memory.live, live);
      if (status == GA_OK) break;
      assert_status(ctx, status, GA_ERR_MEMORY);
      assert_says(ctx, "out of memory for");
    }
    assert_true(n > 5);
    assert_true(rig_memory.count < rig_memory.fail_at);
  }
  rig_memory.fail_at = 0;
  assert_int_equal(ga_context_error(r->ctx)->status, GA_OK);
  ga_context_destroy(&ctx);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(each_allocation_of_building_fails, parts_set_up, parts_tear_down),
      cmocka_unit_test_setup_teardown(each_allocation_of_assembling_fails, parts_set_up, parts_tear_down),
      cmocka_unit_test_setup_teardown(each_allocation_of_evaluators_fails, parts_set_up, parts_tear_down)};
  return cmocka_run_group_tests_name("fault: inputs and formulas", tests, NULL, NULL);
}
