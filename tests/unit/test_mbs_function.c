/* Functions that expressions of signals call. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "mbs_shop.h"

/* ---- Functions of every kind ---- */

enum { TABLE, MOTION, WAVE, NESTED, N_FUNCTIONS };
static const char *const NAME[N_FUNCTIONS] = {"characteristic", "ramp", "hum", "bow"};

static void make(shop *s, ga_function *f[N_FUNCTIONS])
{
  static const double x[] = {-4, -2, -0.5, 0, 1, 3, 6}, y[] = {-9, -5, -0.8, 0, 2.5, 4, 3};
  ga_table_opts table = ga_table_defaults();
  ga_motion_opts motion = ga_motion_defaults();
  ga_wave_opts wave = ga_wave_defaults();
  ga_function_expr_opts nested = ga_function_expr_defaults();
  table.n = 7, table.x = x, table.y = y;
  table.interpolation = GA_INTERPOLATE_SPLINE;
  table.before = table.after = GA_EXTRAPOLATE_LINEAR;
  motion.law = GA_MOTION_POLY4567;
  motion.t_start = -5, motion.duration = 10, motion.to = 3;
  wave.frequency = 0.3, wave.amplitude = 2, wave.phase = 0.4;
  assert_status(s->ctx, ga_function_create_table(s->ctx, &table, &f[TABLE]), GA_OK);
  assert_status(s->ctx, ga_function_create_motion(s->ctx, &motion, &f[MOTION]), GA_OK);
  assert_status(s->ctx, ga_function_create_wave(s->ctx, &wave, &f[WAVE]), GA_OK);
  const ga_symbol called = {.name = "inner", .kind = GA_SYMBOL_FUNCTION, .function = f[TABLE]};
  nested.text = "sin(t)*inner(0.5*t) + 0.1*t^2";
  nested.symbols = &called;
  nested.n_symbols = 1;
  assert_status(s->ctx, ga_function_create_expr(s->ctx, &nested, NULL, &f[NESTED]), GA_OK);
  for (int i = 0; i < N_FUNCTIONS; i++) SHOP_ADD(s, function, NAME[i], f[i]);
}

static void drop(ga_function *f[N_FUNCTIONS])
{
  for (int i = N_FUNCTIONS - 1; i >= 0; i--) ga_function_destroy(&f[i]);
}

static void actuator(shop *s, const char *name, const char *coordinate, const char *expression)
{
  ga_actuator_def d = ga_actuator_defaults();
  d.name = name, d.coordinate = coordinate;
  d.force.expression = expression;
  SHOP_ADD(s, actuator, &d);
}

/* Expressions with calls wherever expressions may stand. */
static void fill(shop *s)
{
  ga_joint_def hinge = ga_joint_defaults();
  ga_spring_def strut = ga_spring_defaults();
  ga_force_def wind = ga_force_defaults();
  ga_friction_def brake = ga_friction_defaults();
  const ga_input in[2] = {{.expression = "bow(hinge.angle)*2"}, {.expression = "characteristic(rotor.rate)"}};
  const ga_block_sum_opts sum = ga_block_sum_defaults();
  ga_control_block *block;
  shop_rigid(s, "arm", 0.4, 0, 0);
  shop_marker(s, "tip", "arm", 0.7, 0.1, 0.2);
  shop_marker(s, "post", "ground", 0, 1, 1);
  shop_scalar(s, "rotor", 0.3, -0.2);
  hinge.name = "hinge", hinge.kind = GA_JOINT_REVOLUTE, hinge.a = "ground", hinge.b = "arm";
  hinge.at_pose = 1;
  SHOP_ADD(s, joint, &hinge);
  strut.name = "strut", strut.a = "post", strut.b = "tip";
  strut.expression = "3*characteristic(l - 1) + hum(v)*bow(rotor) + ramp(t)";
  SHOP_ADD(s, spring, &strut);
  wind.name = "wind", wind.frame = "tip";
  wind.force[0].expression = "2*characteristic(tip.vx) - ramp(tip.x*t)";
  wind.torque[2].expression = "hum(bow(arm.wz))";
  SHOP_ADD(s, force, &wind);
  brake.name = "brake", brake.coordinate = "rotor", brake.speed = 0.5;
  brake.level.expression = "4 + ramp(mixer)";
  SHOP_ADD(s, friction, &brake);
  actuator(s, "motor", "hinge.angle", "2*characteristic(hinge.angle)*ramp(rotor) - bow(hinge.angle_rate)");
  actuator(s, "again", "rotor", "hum(t) + characteristic(hinge.angle + rotor)^2");
  assert_status(s->ctx, ga_block_create_sum(s->ctx, &sum, &block), GA_OK);
  SHOP_ADD(s, block, "mixer", block, in);
}

/* All derivatives of a machine that calls functions, against fourth-order differences. */
static void test_derivatives(void **state)
{
  (void)state;
  for (int form = GA_FORM_SPACE; form <= GA_FORM_SE3; form++) {
    shop s = shop_open((ga_form)form, -9.81);
    ga_function *f[N_FUNCTIONS];
    rig_random random = rig_seed(0);
    make(&s, f);
    fill(&s);
    shop_build(&s);
    shop_check(&s, &random, rig_brief() ? 5 : 60, 0.5, 1e-6, SHOP_FORM[form]);
    ga_machine_destroy(&s.m);
    drop(f);
    assert_status(s.ctx, ga_machine_create(s.ctx, NULL, &s.m), GA_OK); /* for shop_close() */
    shop_close(&s);
  }
}

/* ---- The expression itself: first and second derivatives by the chain rule ---- */

static double difference(const ga_expr *e, double *x, int i, double h, int of, double *gradient)
{
  static const double at[] = {-2, -1, 1, 2}, weight[] = {1, -8, 8, -1};
  static const int wrt[] = {0, 1};
  const double middle = x[i];
  double sum = 0, value;
  for (int k = 0; k < 4; k++) {
    x[i] = middle + at[k] * h;
    assert_int_equal(ga_expr_gradient(e, x, 2, wrt, &value, gradient, NULL), GA_OK);
    sum += weight[k] * (of < 0 ? value : gradient[of]);
  }
  x[i] = middle;
  return sum / (12 * h);
}

static void test_chain_rule(void **state)
{
  static const char *const text[] = {"2*characteristic(x*y)", "bow(x)*hum(y) - ramp(x + 2*y)",
                                     "characteristic(bow(x)/2 + ramp(y))^2",
                                     "hum(x)/(3 + ramp(characteristic(y)))"};
  static const int wrt[] = {0, 1};
  (void)state;
  shop s = shop_open(GA_FORM_SPACE, 0);
  ga_function *f[N_FUNCTIONS];
  rig_random random = rig_seed(0);
  make(&s, f);
  ga_symbol symbols[2 + N_FUNCTIONS] = {{.name = "x", .kind = GA_SYMBOL_VARIABLE},
                                        {.name = "y", .kind = GA_SYMBOL_VARIABLE, .index = 1}};
  for (int i = 0; i < N_FUNCTIONS; i++)
    symbols[2 + i] = (ga_symbol){.name = NAME[i], .kind = GA_SYMBOL_FUNCTION, .function = f[i]};
  for (size_t k = 0; k < sizeof text / sizeof *text; k++) {
    ga_expr *e = NULL;
    assert_status(s.ctx, ga_expr_compile(s.ctx, text[k], symbols, 2 + N_FUNCTIONS, NULL, &e), GA_OK);
    for (int n = 0; n < 200; n++) {
      double x[2] = {rig_uniform(&random, -1.5, 1.5), rig_uniform(&random, -1.5, 1.5)}, value, g[2], other[2];
      const double h = 1e-3;
      assert_int_equal(ga_expr_gradient(e, x, 2, wrt, &value, g, NULL), GA_OK);
      for (int i = 0; i < 2; i++) {
        assert_near(g[i], difference(e, x, i, h, -1, other), 1e-6 * (1 + fabs(g[i])), text[k]);
      }
    }
    ga_expr_destroy(&e);
  }
  drop(f);
  shop_close(&s);
}

/* Second derivatives, where third ones do not jump: between two points of the table. */
static void test_second_derivatives(void **state)
{
  static const char text[] = "hum(x*y)*ramp(x + y) + hum(ramp(x)) + x*characteristic(0.5 + 0.1*x*y)^2";
  static const int wrt[] = {0, 1};
  (void)state;
  shop s = shop_open(GA_FORM_SPACE, 0);
  ga_function *f[N_FUNCTIONS];
  rig_random random = rig_seed(0);
  ga_expr *e = NULL;
  make(&s, f);
  const ga_symbol symbols[] = {{.name = "x", .kind = GA_SYMBOL_VARIABLE},
                               {.name = "y", .kind = GA_SYMBOL_VARIABLE, .index = 1},
                               {.name = "hum", .kind = GA_SYMBOL_FUNCTION, .function = f[WAVE]},
                               {.name = "ramp", .kind = GA_SYMBOL_FUNCTION, .function = f[MOTION]},
                               {.name = NAME[TABLE], .kind = GA_SYMBOL_FUNCTION, .function = f[TABLE]}};
  assert_status(s.ctx, ga_expr_compile(s.ctx, text, symbols, 5, NULL, &e), GA_OK);
  for (int n = 0; n < 500; n++) {
    double x[2] = {rig_uniform(&random, -2, 2), rig_uniform(&random, -2, 2)}, value, g[2], H[4], other[2];
    assert_int_equal(ga_expr_hessian(e, x, 2, wrt, &value, g, H, NULL), GA_OK);
    for (int i = 0; i < 2; i++)
      for (int j = 0; j < 2; j++)
        assert_near(H[2 * i + j], difference(e, x, i, 1e-3, j, other), 1e-8 * (1 + fabs(H[2 * i + j])), text);
  }
  ga_expr_destroy(&e);
  drop(f);
  shop_close(&s);
}

/* ---- What is refused ---- */

static void test_refusals(void **state)
{
  (void)state;
  shop s = shop_open(GA_FORM_SPACE, 0);
  ga_function *f = shop_function(s.ctx, "t^2");
  const struct {
    const char *name;
    const ga_function *function;
    ga_reason reason;
  } cases[] = {{NULL, f, GA_REASON_NAME_MISSING},        {"", f, GA_REASON_NAME_MISSING},
               {"2nd", f, GA_REASON_NAME_SYNTAX},        {"a b", f, GA_REASON_NAME_SYNTAX},
               {"empty", NULL, GA_REASON_FIELD_MISSING}, {"square", f, GA_REASON_NAME_TAKEN}};
  assert_int_equal(ga_machine_add_function(NULL, "square", f), GA_ERR_ARGUMENT);
  SHOP_ADD(&s, function, "square", f);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    assert_int_equal(ga_machine_add_function(s.m, cases[i].name, cases[i].function), GA_ERR_ARGUMENT);
    assert_error(s.ctx, cases[i].reason, cases[i].name ? cases[i].name : "", NULL, NULL);
  }
  shop_scalar(&s, "slide", 1, 0);
  shop_build(&s);
  assert_int_equal(ga_machine_add_function(s.m, "late", f), GA_ERR_ORDER);
  assert_error(s.ctx, GA_REASON_TOO_LATE, "late", NULL, NULL);
  ga_function_destroy(&f);
  shop_close(&s);
}

static void test_wrong_calls(void **state)
{
  static const struct {
    const char *text;
    ga_reason reason;
    int column;
    const char *name, *nearest;
  } cases[] = {{"2*sqare(slide)", GA_REASON_UNKNOWN_FUNCTION, 3, "sqare", "square"},
               {"square(slide, t)", GA_REASON_SYNTAX, 1, "square(slide, t)", ""},
               {"square()", GA_REASON_SYNTAX, 1, "square()", ""},
               {"2 + square", GA_REASON_UNKNOWN_SIGNAL, 5, "square", ""},
               {"square(sldie)", GA_REASON_UNKNOWN_SIGNAL, 8, "sldie", "slide"}};
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    shop s = shop_open(GA_FORM_SPACE, 0);
    ga_function *f = shop_function(s.ctx, "t^2");
    SHOP_ADD(&s, function, "square", f);
    shop_scalar(&s, "slide", 1, 0);
    actuator(&s, "pull", "slide", cases[i].text);
    assert_int_equal(ga_machine_build(s.m), GA_ERR_ARGUMENT);
    assert_error(s.ctx, cases[i].reason, "pull", "force", cases[i].name);
    assert_int_equal(ga_context_error(s.ctx)->column, cases[i].column);
    assert_string_equal(ga_context_error(s.ctx)->nearest, cases[i].nearest);
    assert_string_equal(ga_context_error(s.ctx)->within, cases[i].text);
    ga_function_destroy(&f);
    shop_close(&s);
  }
}

/* A function without a value where it is called: the part and the text are named. */
static void test_fault(void **state)
{
  (void)state;
  shop s = shop_open(GA_FORM_SPACE, 0);
  ga_function *f = shop_function(s.ctx, "log(t)");
  shop_scalar(&s, "slide", 0.02, -1);
  SHOP_ADD(&s, function, "slide", f); /* a name that a part has too */
  actuator(&s, "pull", "slide", "1e-3*slide(slide)");
  shop_start(&s);
  ga_status status = GA_OK;
  for (int i = 0; i < 10 && !status; i++) status = ga_stepper_step(s.st, 0.01);
  assert_int_equal(status, GA_RETRY_CALLBACK);
  assert_error(s.ctx, GA_REASON_UNDEFINED, "pull", NULL, "1e-3*slide(slide)");
  assert_says(s.ctx, "the argument must be above 0");
  ga_stepper_destroy(&s.st);
  ga_machine_destroy(&s.m);
  ga_function_destroy(&f);
  ga_context_destroy(&s.ctx);
  assert_int_equal(rig_memory.live, 0);
}

/* Every allocation fails once, of adding and of building. */
static void test_memory(void **state)
{
  (void)state;
  shop s = shop_open(GA_FORM_SPACE, 0);
  ga_function *f = shop_function(s.ctx, "t^2");
  ga_status status = GA_ERR_MEMORY;
  const long live = rig_memory.live;
  long n = 0;
  for (; status; n++) {
    rig_memory.fail_at = rig_memory.count + n + 1;
    status = ga_machine_add_function(s.m, "square", f);
    rig_memory.fail_at = 0;
    assert_true(status == GA_OK || rig_memory.live == live);
  }
  assert_int_equal(n, 3);
  shop_scalar(&s, "slide", 1, 0);
  actuator(&s, "pull", "slide", "2*square(slide) + slide.rate");
  const long filled = rig_memory.live;
  status = GA_ERR_MEMORY;
  for (n = 0; status; n++) {
    rig_memory.fail_at = rig_memory.count + n + 1;
    status = ga_machine_build(s.m);
    rig_memory.fail_at = 0;
    assert_true(status == GA_OK || (status == GA_ERR_MEMORY && rig_memory.live == filled));
  }
  assert_true(n > 20);
  ga_function_destroy(&f);
  shop_close(&s);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_derivatives),
      cmocka_unit_test(test_chain_rule),
      cmocka_unit_test(test_second_derivatives),
      cmocka_unit_test(test_refusals),
      cmocka_unit_test(test_wrong_calls),
      cmocka_unit_test(test_fault),
      cmocka_unit_test(test_memory),
  };
  return cmocka_run_group_tests_name("mbs: functions in expressions", tests, NULL, NULL);
}
