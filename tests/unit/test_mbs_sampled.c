/* Sampled controllers: against the exact recursion of plant and controller, in all methods, with equal and
 * variable steps; several rates; chains and loops; saved and resumed runs; what is refused. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "mbs_shop.h"

/* The plant m x'' = −k x − d x' + u. */
static const double MASS = 2, STIFFNESS = 30, DAMPING = 0.7, X0 = 0.3, V0 = -0.2;

static ga_control_block *sampled(ga_context *ctx, ga_control_block *inner, double period, double offset)
{
  ga_block_sampled_opts o = ga_block_sampled_defaults();
  ga_control_block *block = NULL;
  o.sample_time = period, o.sample_offset = offset;
  assert_status(ctx, ga_block_create_sampled(ctx, &o, &inner, &block), GA_OK);
  assert_null(inner);
  return block;
}

/* z⁻¹-like recursion of two states, with direct feedthrough. */
static const double A[4] = {0.6, 0.1, -0.2, 0.5}, B[2] = {1, 0.4}, C[2] = {-20, 7}, D[1] = {-8};

static ga_control_block *state_space(ga_context *ctx)
{
  static const double x0[2] = {0.01, -0.02};
  ga_block_state_space_opts o = ga_block_state_space_defaults();
  ga_control_block *block = NULL;
  o.n_in = 1, o.n_x = 2, o.n_out = 1;
  o.A = A, o.B = B, o.C = C, o.D = D, o.x0 = x0;
  assert_status(ctx, ga_block_create_state_space(ctx, &o, &block), GA_OK);
  return block;
}

static void add_plant(shop *s, const char *force)
{
  ga_scalar_def d = ga_scalar_defaults();
  ga_spring_def spring = ga_spring_defaults();
  ga_actuator_def a = ga_actuator_defaults();
  d.name = "m", d.mass = MASS, d.position = X0, d.velocity = V0;
  SHOP_ADD(s, scalar, &d);
  spring.name = "spring", spring.coordinate = "m", spring.stiffness = STIFFNESS, spring.damping = DAMPING;
  spring.rest = 0;
  SHOP_ADD(s, spring, &spring);
  a.name = "motor", a.coordinate = "m", a.force.expression = force;
  SHOP_ADD(s, actuator, &a);
}

static void add_block(shop *s, const char *name, ga_control_block *block, const char *input)
{
  const ga_input in = {.expression = input};
  SHOP_ADD(s, block, name, block, &in);
}

/* [x; v] := e^(F t) [x; v] + ∫ G u, by a series of the extended matrix, in parts. */
static void advance_plant(double z[2], double u, double t)
{
  enum { PARTS = 64, TERMS = 20 };
  const double h = t / PARTS;
  for (int part = 0; part < PARTS; part++) {
    double term[2] = {z[0], z[1]}, sum[2] = {z[0], z[1]}, input = u;
    for (int k = 1; k <= TERMS; k++) {
      const double next[2] = {h / k * term[1],
                              h / k * (-STIFFNESS * term[0] - DAMPING * term[1] + input) / MASS};
      term[0] = next[0], term[1] = next[1];
      input = 0;
      sum[0] += term[0], sum[1] += term[1];
    }
    z[0] = sum[0], z[1] = sum[1];
  }
}

/* Exact values of x and v at t_end, and the held input. */
static double exact(double z[2], double period, double offset, double t_end)
{
  double c[2] = {0.01, -0.02}, u = 0, t = 0;
  z[0] = X0, z[1] = V0;
  for (int k = 0; offset + k * period < t_end; k++) {
    advance_plant(z, u, offset + k * period - t);
    t = offset + k * period;
    u = C[0] * c[0] + C[1] * c[1] + D[0] * z[0];
    const double next[2] = {A[0] * c[0] + A[1] * c[1] + B[0] * z[0], A[2] * c[0] + A[3] * c[1] + B[1] * z[0]};
    c[0] = next[0], c[1] = next[1];
  }
  advance_plant(z, u, t_end - t);
  return u;
}

static void open_run(shop *s, ga_method method, const ga_simulate_opts *o, ga_simulator **sim)
{
  double q[RIG_MOST], v[RIG_MOST], x[RIG_MOST];
  ga_stepper_opts opts = ga_stepper_defaults();
  opts.method = method;
  shop_build(s);
  assert_status(s->ctx, ga_machine_initial(s->m, q, v, x), GA_OK);
  assert_status(s->ctx, ga_stepper_create(s->ctx, ga_machine_system(s->m), &opts, &s->st), GA_OK);
  assert_status(s->ctx, ga_simulator_create(s->ctx, s->st, o, sim), GA_OK);
  assert_status(s->ctx, ga_simulator_start(*sim, NULL, 0, q, v, x, NULL, NULL, NULL), GA_OK);
}

static double run_error(ga_method method, const ga_simulate_opts *o, double period, double offset)
{
  shop s = shop_open(GA_FORM_SPACE, 0);
  ga_simulator *sim = NULL;
  double z[2];
  add_plant(&s, "control");
  add_block(&s, "control", sampled(s.ctx, state_space(s.ctx), period, offset), "m");
  open_run(&s, method, o, &sim);
  assert_status(s.ctx, ga_simulator_run(sim), GA_OK);
  const ga_state *st = ga_stepper_state(s.st);
  const double u = exact(z, period, offset, o->t_end);
  double error = fmax(fabs(shop_signal(&s, st, "m") - z[0]), fabs(shop_signal(&s, st, "m.rate") - z[1]));
  error = fmax(error, 0.1 * fabs(shop_signal(&s, st, "control") - u));
  assert_near(st->t, o->t_end, 1e-12, "end");
  ga_simulator_destroy(&sim);
  shop_close(&s);
  return error;
}

/* Steps that do not fit to the samples: order 2 all the same. */
static void order_is_two_between_samples(void **state)
{
  static const ga_method METHOD[] = {GA_INDEX3, GA_STABILIZED, GA_WEIGHTED,
                                    GA_SOI2,   GA_HHT_SOI2,   GA_COLLOCATION};
  (void)state;
  for (int i = 0; i < 5; i++)
    for (int offset = 0; offset < 2; offset++) {
      double error[2];
      for (int k = 0; k < 2; k++) {
        ga_simulate_opts o = ga_simulate_defaults();
        o.t_end = 1.03, o.fixed_h = k ? 0.0017 : 0.0068;
        error[k] = run_error(METHOD[i], &o, 0.05, offset ? 0.013 : 0);
      }
      const double order = log(error[0] / error[1]) / log(4);
      if (!(error[1] < 2e-4 && order > 1.8 && order < 2.3))
        fail_msg("method %d: errors %.3g, %.3g, order %.2f", i, error[0], error[1], order);
    }
}

static void variable_steps_converge(void **state)
{
  double error[3];
  (void)state;
  for (int k = 0; k < 3; k++) {
    ga_simulate_opts o = ga_simulate_defaults();
    o.t_end = 1.03;
    o.rtol = o.rtol_v = o.rtol_x = pow(10, -4 - 2 * k), o.atol = o.atol_v = o.atol_x = pow(10, -6 - 2 * k);
    error[k] = run_error(GA_STABILIZED, &o, 0.05, 0.013);
  }
  if (!(error[1] < 0.2 * error[0] && error[2] < 0.2 * error[1] && error[2] < 5e-5))
    fail_msg("errors %.3g, %.3g, %.3g", error[0], error[1], error[2]);
}

/* ---- Several blocks ---- */

static ga_control_block *gain(ga_context *ctx, double value)
{
  ga_block_gain_opts o = ga_block_gain_defaults();
  ga_control_block *block = NULL;
  o.gain = value;
  assert_status(ctx, ga_block_create_gain(ctx, &o, &block), GA_OK);
  return block;
}

typedef struct watch {
  shop *s;
  int index[4], n;
  double t[400], value[400][4];
} watch;

static int note(void *user, const ga_state *state)
{
  watch *w = user;
  if (w->n >= 400) return 1;
  w->t[w->n] = state->t;
  return ga_machine_signals(w->s->m, NULL, state, 4, w->index, w->value[w->n++]) != GA_OK;
}

/* Of three blocks, the second reads the first and the third, slower one, the second; the last has a delay
 * 1/z. All values between samples are those of the last sample. */
static void rates_and_chains(void **state)
{
  static const double num[1] = {1}, den[2] = {1, 0};
  shop s = shop_open(GA_FORM_SPACE, 0);
  ga_block_transfer_function_opts tf = ga_block_transfer_function_defaults();
  ga_control_block *delay = NULL;
  ga_simulate_opts o = ga_simulate_defaults();
  ga_simulator *sim = NULL;
  watch w = {.s = &s};
  (void)state;
  tf.n_num = 1, tf.n_den = 2, tf.num = num, tf.den = den;
  assert_status(s.ctx, ga_block_create_transfer_function(s.ctx, &tf, &delay), GA_OK);
  add_plant(&s, "0*last");
  add_block(&s, "second", sampled(s.ctx, gain(s.ctx, 2), 0.1, 0), "first + 1");
  add_block(&s, "first", sampled(s.ctx, gain(s.ctx, 3), 0.1, 0), "t");
  add_block(&s, "third", sampled(s.ctx, gain(s.ctx, 1), 0.25, 0.05), "second + t");
  add_block(&s, "last", sampled(s.ctx, delay, 0.1, 0), "second");
  o.t_end = 2, o.output_every = 0.0123, o.output = note, o.user = &w;
  open_run(&s, GA_STABILIZED, &o, &sim);
  const char *const name[] = {"first", "second", "third", "last"};
  for (int i = 0; i < 4; i++) w.index[i] = ga_machine_find_signal(s.m, name[i]);
  w.n = 0;
  assert_status(s.ctx, ga_simulator_run(sim), GA_OK);
  assert_true(w.n > 100);
  for (int i = 1; i < w.n; i++) {
    const double t = w.t[i], k = floor(t / 0.1 + 1e-9), at = 0.1 * k, j = floor((t - 0.05) / 0.25 + 1e-9);
    if (fabs(t - at) < 1e-6 || fabs(t - 0.05 - 0.25 * j) < 1e-6) continue;
    const double slow = 0.05 + 0.25 * j, seen = 2 * (3 * 0.1 * floor(slow / 0.1 + 1e-9) + 1);
    assert_near(w.value[i][0], 3 * at, 1e-9, "first");
    assert_near(w.value[i][1], 2 * (3 * at + 1), 1e-9, "second, without a delay");
    assert_near(w.value[i][2], j < 0 ? 0 : seen + slow, 1e-9, "third");
    assert_near(w.value[i][3], k < 1 ? 0 : 2 * (3 * 0.1 * (k - 1) + 1), 1e-9, "a sample late");
  }
  ga_simulator_destroy(&sim);
  shop_close(&s);
}

/* The pid of the docs: i and d by Euler's rule, here with period = filter_time. */
static void pid_is_its_recursion(void **state)
{
  const double T = 0.02, kp = 3, ki = 5, kd = 0.4;
  shop s = shop_open(GA_FORM_SPACE, 0);
  ga_block_pid_opts o = ga_block_pid_defaults();
  ga_control_block *block = NULL;
  double x[4] = {0, 0, 0, 0}, next[4], i = 0, d = 0;
  (void)state;
  o.kp = kp, o.ki = ki, o.kd = kd, o.filter_time = T;
  assert_status(s.ctx, ga_block_create_pid(s.ctx, &o, &block), GA_OK);
  block = sampled(s.ctx, block, T, 0);
  assert_int_equal(ga_block_n_x(block), 3);
  assert_string_equal(ga_block_input_name(block, 0), "setpoint");
  for (int k = 0; k < 50; k++) {
    const double u[2] = {1, sin(0.3 * k)};
    const double y = kp * (u[0] - u[1]) + i + kd / T * (-u[1] - d);
    assert_int_equal(ga_block_sample(block, k * T, u, x, next, NULL), GA_OK);
    assert_near(next[2], y, 1e-11, "output");
    i += T * ki * (u[0] - u[1]), d = -u[1];
    assert_near(next[0], i, 1e-11, "integral");
    assert_near(next[1], d, 1e-11, "difference");
    for (int n = 0; n < 3; n++) x[n] = next[n];
  }
  ga_block_destroy(&block);
  shop_close(&s);
}

/* ---- Saved and resumed ---- */

static void resumed_runs_have_the_same_bits(void **state)
{
  double result[2][3];
  (void)state;
  for (int resumed = 0; resumed < 2; resumed++) {
    shop s = shop_open(GA_FORM_SPACE, 0);
    ga_simulate_opts o = ga_simulate_defaults();
    ga_simulator *sim = NULL;
    int steps = 0;
    o.t_end = 1.03;
    add_plant(&s, "control");
    add_block(&s, "control", sampled(s.ctx, state_space(s.ctx), 0.05, 0), "m");
    open_run(&s, GA_STABILIZED, &o, &sim);
    double *saved = calloc(ga_simulator_saved_size(sim), sizeof *saved);
    assert_non_null(saved);
    while (ga_simulator_step(sim) == GA_OK)
      if (steps++ % 7 == 3) {
        ga_simulator_save(sim, saved);
        if (!resumed) continue;
        ga_simulator_destroy(&sim);
        assert_status(s.ctx, ga_simulator_create(s.ctx, s.st, &o, &sim), GA_OK);
        assert_status(s.ctx, ga_simulator_load(sim, saved), GA_OK);
      }
    const ga_state *st = ga_stepper_state(s.st);
    assert_near(st->t, 1.03, 1e-12, "end");
    const char *const name[] = {"m", "m.rate", "control"};
    for (int i = 0; i < 3; i++) result[resumed][i] = shop_signal(&s, st, name[i]);
    free(saved);
    ga_simulator_destroy(&sim);
    shop_close(&s);
  }
  assert_memory_equal(result[0], result[1], sizeof result[0]);
}

/* ---- What is refused ---- */

static void wrong_options_are_refused(void **state)
{
  shop s = shop_open(GA_FORM_SPACE, 0);
  const ga_block_sampled_opts wrong[] = {{0, 0, NULL},          {-1, 0, NULL}, {NAN, 0, NULL},
                                         {INFINITY, 0, NULL},   {1, -1, NULL}, {1, NAN, NULL},
                                         {1, 0, &(double){NAN}}};
  ga_control_block *block = NULL, *inner = gain(s.ctx, 1);
  (void)state;
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    assert_int_equal(ga_block_create_sampled(s.ctx, &wrong[i], &inner, &block), GA_ERR_ARGUMENT);
    assert_non_null(inner);
    assert_null(block);
  }
  ga_block_destroy(&inner);
  const ga_block_sampled_opts fine = {.sample_time = 0.1};
  ga_block_first_order_opts filter = ga_block_first_order_defaults();
  assert_status(s.ctx, ga_block_create_first_order(s.ctx, &filter, &inner), GA_OK);
  assert_int_equal(ga_block_create_sampled(s.ctx, &fine, &inner, &block), GA_ERR_ARGUMENT);
  assert_non_null(strstr(ga_context_error(s.ctx)->text, "first_order"));
  ga_block_destroy(&inner);
  ga_block_pid_opts pid = ga_block_pid_defaults();
  pid.kd = 1, pid.filter_time = 0.05;
  assert_status(s.ctx, ga_block_create_pid(s.ctx, &pid, &inner), GA_OK);
  assert_int_equal(ga_block_create_sampled(s.ctx, &fine, &inner, &block), GA_ERR_ARGUMENT);
  assert_non_null(strstr(ga_context_error(s.ctx)->text, "filter_time"));
  ga_block_destroy(&inner);
  shop_close(&s);
}

static void loops_steps_and_equilibria_are_refused(void **state)
{
  shop s = shop_open(GA_FORM_SPACE, 0);
  ga_simulate_opts o = ga_simulate_defaults();
  ga_simulator *sim = NULL;
  ga_equilibrium *eq = NULL;
  ga_linearisation *lin = NULL;
  double q[RIG_MOST], v[RIG_MOST], x[RIG_MOST];
  ga_start_opts start = ga_start_defaults();
  (void)state;
  o.t_end = 1, start.h = 1e-3;
  add_plant(&s, "one");
  add_block(&s, "one", sampled(s.ctx, gain(s.ctx, 2), 0.1, 0), "two + m");
  add_block(&s, "two", sampled(s.ctx, gain(s.ctx, 2), 0.1, 0), "one");
  shop_build(&s);
  assert_status(s.ctx, ga_machine_initial(s.m, q, v, x), GA_OK);
  assert_status(s.ctx, ga_stepper_create(s.ctx, ga_machine_system(s.m), NULL, &s.st), GA_OK);
  assert_status(s.ctx, ga_stepper_start(s.st, &start, 0, q, v, x, NULL, NULL, NULL), GA_OK);
  assert_int_equal(ga_stepper_step(s.st, 1e-3), GA_ERR_ORDER);
  assert_non_null(strstr(ga_context_error(s.ctx)->text, "simulator"));
  assert_int_equal(ga_equilibrium_create(s.ctx, ga_machine_system(s.m), NULL, &eq), GA_ERR_ARGUMENT);
  assert_int_equal(ga_linearisation_create(s.ctx, ga_machine_system(s.m), &lin), GA_ERR_ARGUMENT);
  assert_status(s.ctx, ga_simulator_create(s.ctx, s.st, &o, &sim), GA_OK);
  assert_int_equal(ga_simulator_start(sim, NULL, 0, q, v, x, NULL, NULL, NULL), GA_ERR_CALLBACK);
  assert_non_null(strstr(ga_context_error(s.ctx)->text, "depend on each other"));
  ga_simulator_destroy(&sim);
  shop_close(&s);
}

static void derivatives_are_exact(void **state)
{
  rig_random random = rig_seed(3);
  shop s = shop_open(GA_FORM_SPACE, 0);
  (void)state;
  add_plant(&s, "control*m");
  add_block(&s, "control", sampled(s.ctx, state_space(s.ctx), 0.05, 0), "m");
  shop_build(&s);
  shop_check(&s, &random, 3, 0.3, 1e-7, "sampled");
  shop_close(&s);
}

static void memory_may_fail(void **state)
{
  (void)state;
  for (long n = 1, failed = 1; failed; n++) {
    ga_context *ctx = NULL;
    ga_control_block *inner = NULL, *block = NULL;
    const ga_block_sampled_opts o = {.sample_time = 0.1};
    rig_memory = (rig_heap){0, 0, 0, 0};
    assert_int_equal(rig_context(&ctx), GA_OK);
    inner = state_space(ctx);
    rig_memory.fail_at = rig_memory.count + n;
    const ga_status status = ga_block_create_sampled(ctx, &o, &inner, &block);
    failed = rig_memory.count >= rig_memory.fail_at;
    rig_memory.fail_at = 0;
    assert_int_equal(status, failed ? GA_ERR_MEMORY : GA_OK);
    assert_int_equal(!inner, !failed);
    ga_block_destroy(&inner);
    ga_block_destroy(&block);
    ga_context_destroy(&ctx);
    assert_int_equal(rig_memory.live, 0);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(order_is_two_between_samples),
      cmocka_unit_test(variable_steps_converge),
      cmocka_unit_test(rates_and_chains),
      cmocka_unit_test(pid_is_its_recursion),
      cmocka_unit_test(resumed_runs_have_the_same_bits),
      cmocka_unit_test(wrong_options_are_refused),
      cmocka_unit_test(loops_steps_and_equilibria_are_refused),
      cmocka_unit_test(derivatives_are_exact),
      cmocka_unit_test(memory_may_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
