/* Outputs that depend on time alone: breaks and bounds through blocks and formulas, values between steps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "mbs_shop.h"
#include "mbs/breaks.h"
#include "mbs/hidden.h"
#include "mbs/workspace.h"

#define PI 3.14159265358979323846

/* Functions outlive the machine that borrows them. */
static void shop_close_with(shop *s, ga_function *f)
{
  ga_stepper_destroy(&s->st);
  ga_machine_destroy(&s->m);
  ga_function_destroy(&f);
  shop_close(s);
}

static void add_expression(shop *s, const char *name, const char *text, const char *input)
{
  static const char *const names[] = {"a"};
  ga_block_expression_opts o = ga_block_expression_defaults();
  ga_control_block *block = NULL;
  const ga_input in = {.expression = input};
  o.n_in = 1, o.inputs = names, o.texts = &text;
  assert_status(s->ctx, ga_block_create_expression(s->ctx, &o, NULL, NULL, &block), GA_OK);
  SHOP_ADD(s, block, name, block, &in);
}

/* sin(t) → 5 sin(t) → within ±4 → floor(a + 0.25) → a force that is a brake as well; built in the order that
 * chains are not found in at once. */
static void add_chain(shop *s, ga_function *f)
{
  ga_block_function_of_time_opts time = ga_block_function_of_time_defaults();
  ga_block_gain_opts gain = ga_block_gain_defaults();
  ga_block_saturation_opts limit = ga_block_saturation_defaults();
  ga_actuator_def d = ga_actuator_defaults();
  ga_control_block *block = NULL;
  const ga_input of_large = {.expression = "large"}, of_source = {.expression = "source"};
  shop_scalar(s, "u", 0, 1);
  add_expression(s, "stairs", "floor(a + 0.25)", "limit");
  limit.lower = -4, limit.upper = 4;
  assert_status(s->ctx, ga_block_create_saturation(s->ctx, &limit, &block), GA_OK);
  SHOP_ADD(s, block, "limit", block, &of_large);
  gain.gain = 5;
  assert_status(s->ctx, ga_block_create_gain(s->ctx, &gain, &block), GA_OK);
  SHOP_ADD(s, block, "large", block, &of_source);
  time.function = f;
  assert_status(s->ctx, ga_block_create_function_of_time(s->ctx, &time, &block), GA_OK);
  SHOP_ADD(s, block, "source", block, NULL);
  d.name = "f", d.coordinate = "u", d.force.expression = "if(stairs > 1.5, 3 - u.rate, 0.2*stairs)";
  SHOP_ADD(s, actuator, &d);
}

/* How often 5 sin(t) goes through `level` within [from, to]. */
static int passes(double level, double from, double to)
{
  const double a = asin(level / 5);
  int n = 0;
  for (int k = -1; k < 3; k++) {
    const double up = a + 2 * PI * k, down = PI - a + 2 * PI * k;
    n += (up >= from && up <= to) + (down >= from && down <= to);
  }
  return n;
}

static void breaks_through_blocks(void **state)
{
  shop s = shop_open(GA_FORM_SPACE, 0);
  ga_function *f = shop_function(s.ctx, "sin(t)");
  int jumps = 0, corners = 0, expected = 0;
  double t = 0.1;
  (void)state;
  add_chain(&s, f);
  shop_build(&s);
  for (;;) {
    ga_breakpoint at = {INFINITY, INFINITY, 0, INFINITY, INFINITY, 0, NULL};
    assert_int_equal(ga__machine_next_break(ga__workspace_own(s.m), t, 10, &at), 0);
    if (isinf(at.before)) break;
    int here = 0, limit = 0;
    for (int n = -3; n <= 4; n++) here += passes(n - 0.25, at.before, at.after);
    for (int n = -4; n <= 4; n += 8) limit += passes(n, at.before, at.after);
    assert_int_equal(here + limit, 1);
    assert_int_equal(at.restart != 0, here);
    assert_true(at.after - at.before < 1e-12);
    jumps += here, corners += limit;
    t = at.after;
  }
  for (int n = -3; n <= 4; n++) expected += passes(n - 0.25, 0.1, 10);
  assert_int_equal(jumps, expected);
  assert_int_equal(corners, passes(4, 0.1, 10) + passes(-4, 0.1, 10));
  shop_close_with(&s, f);
}

/* A comparison in a block of its own; outputs at the ends of a step, and in its middle, know
 * nothing of it. */
static void bounds_through_blocks(void **state)
{
  shop s = shop_open(GA_FORM_SPACE, 0);
  ga_function *f = shop_function(s.ctx, "0");
  ga_actuator_def d = ga_actuator_defaults();
  double y[8] = {0};
  (void)state;
  shop_scalar(&s, "u", 0, 1);
  add_expression(&s, "source", "sin(a)", "t");
  add_expression(&s, "gate", "exp(-((a - 1)/1e-4)^2)", "source");
  d.name = "f", d.coordinate = "u", d.force.expression = "gate";
  SHOP_ADD(&s, actuator, &d);
  shop_build(&s);
  assert_true(s.m->model->y.n <= 8);
  const ga_instant none = {y, NULL, NULL};
  for (int k = 0; k < 20; k++) {
    const double from = 0.31 * k, to = from + 0.2;
    const ga_piece step = {{from, to}, {none, none}, none};
    const int met = (from < PI / 2 && to > PI / 2);
    assert_int_equal(ga__machine_hidden(ga__workspace_own(s.m), &step, &step), met);
  }
  shop_close_with(&s, f);
}

/* Outputs of a state between steps are those of its time and motion, whatever was interpolated. */
static void outputs_between_steps(void **state)
{
  static const char *const name[] = {"source", "large", "limit", "stairs", "f.force"};
  const double t = 1.2, want[] = {sin(t), 5 * sin(t), 4, 4, 2};
  shop s = shop_open(GA_FORM_SPACE, 0);
  ga_function *f = shop_function(s.ctx, "sin(t)");
  double y[16] = {0};
  (void)state;
  add_chain(&s, f);
  ga_state at = *shop_start(&s);
  assert_true(s.m->model->y.n <= 16);
  at.t = t, at.a = at.eta = at.w = NULL, at.y = y;
  for (int i = 0; i < 5; i++) {
    double value;
    const int index = ga_machine_find_signal(s.m, name[i]);
    assert_true(index >= 0);
    assert_status(s.ctx, ga_machine_signals(s.m, NULL, &at, 1, &index, &value), GA_OK);
    assert_near(value, want[i], 1e-14, name[i]);
  }
  shop_close_with(&s, f);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(breaks_through_blocks),
      cmocka_unit_test(bounds_through_blocks),
      cmocka_unit_test(outputs_between_steps),
  };
  return cmocka_run_group_tests_name("mbs: outputs over time", tests, NULL, NULL);
}
