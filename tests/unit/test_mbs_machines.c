/* Hydraulic chambers and orifices, motors and gearboxes, against closed forms. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "mbs_shop.h"

static double output_of(const ga_control_block *b, int i, const double *u, const double *x)
{
  double y[2] = {NAN, NAN}, xdot[1];
  assert_int_equal(ga_block_eval(b, 0, u, x, xdot, y, NULL), GA_OK);
  return y[i];
}

/* Q(K, s) = K s/(s² + dp0²)^¼, chk(x) = ½(x + √(x² + dps²)) − ½dps */
static void orifices_have_their_law(void **state)
{
  static const double DROP[] = {-3e6, -1e5, -200, 0, 1, 1e3, 1e5, 4e6};
  ga_context *ctx = rig_open_context();
  (void)state;
  for (int check = 0; check < 2; check++) {
    ga_block_orifice_opts o = ga_block_orifice_defaults();
    ga_control_block *b = NULL;
    o.coefficient = 6e-7, o.check = check, o.controlled = 1;
    assert_status(ctx, ga_block_create_orifice(ctx, &o, &b), GA_OK);
    for (size_t i = 0; i < sizeof DROP / sizeof *DROP; i++) {
      const double p = DROP[i], s = check ? 0.5 * (p + sqrt(p * p + 4e4)) - 100 : p;
      const double Q = 0.3 * 6e-7 * s / pow(s * s + 1e10, 0.25), u[3] = {p + 2e5, 2e5, 0.3};
      assert_near(output_of(b, 0, u, NULL), Q, 1e-12 * fabs(Q) + 1e-18, "flow");
    }
    ga_block_destroy(&b);
  }
  ga_context_destroy(&ctx);
}

static void gearbox_pays_by_the_driving_side(void **state)
{
  ga_context *ctx = rig_open_context();
  ga_block_gearbox_opts o = ga_block_gearbox_defaults();
  ga_control_block *b = NULL;
  (void)state;
  o.ratio = 20, o.efficiency = 0.8, o.power = 0.1;
  assert_status(ctx, ga_block_create_gearbox(ctx, &o, &b), GA_OK);
  assert_near(output_of(b, 0, (const double[2]){2, 3}, NULL), 2 * 20 * 0.8, 1e-12, "driving");
  assert_near(output_of(b, 0, (const double[2]){-2, 3}, NULL), -2 * 20 / 0.8, 1e-12, "driven");
  assert_near(output_of(b, 0, (const double[2]){-2, -3}, NULL), -2 * 20 * 0.8, 1e-12, "driving backwards");
  assert_near(output_of(b, 1, (const double[2]){-2, 3}, NULL), 60, 1e-12, "speed");
  ga_block_destroy(&b);
  ga_context_destroy(&ctx);
}

/* ---- In machines ---- */

static void run(shop *s, double h, double t_end)
{
  double q[RIG_MOST], v[RIG_MOST], x[RIG_MOST];
  const ga_stepper_opts opts = ga_stepper_defaults();
  ga_start_opts o = ga_start_defaults();
  o.h = h;
  shop_build(s);
  assert_status(s->ctx, ga_machine_initial(s->m, q, v, x), GA_OK);
  assert_status(s->ctx, ga_stepper_create(s->ctx, ga_machine_system(s->m), &opts, &s->st), GA_OK);
  assert_status(s->ctx, ga_stepper_start(s->st, &o, 0, q, v, x, NULL, NULL, NULL), GA_OK);
  assert_status(s->ctx, ga_stepper_run(s->st, h, lround(t_end / h), NULL, NULL), GA_OK);
}

/* A closed chamber: p = p0 − β ln(V/V0), however the piston moves; here as its own spring. */
static void closed_chamber(void **state)
{
  double error[2];
  (void)state;
  for (int k = 0; k < 2; k++) {
    shop s = shop_open(GA_FORM_SPACE, 0);
    ga_block_chamber_opts o = ga_block_chamber_defaults();
    ga_control_block *b = NULL;
    ga_actuator_def a = ga_actuator_defaults();
    const ga_input in[3] = {{0, NULL, NULL}, {0, NULL, "m"}, {0, NULL, "m.rate"}};
    shop_scalar(&s, "m", 0, 2);
    o.bulk_modulus = 4e5, o.volume = 1e-3, o.area = 2e-3, o.pressure = 1e4;
    assert_status(s.ctx, ga_block_create_chamber(s.ctx, &o, &b), GA_OK);
    SHOP_ADD(&s, block, "oil", b, in);
    a.name = "push", a.coordinate = "m", a.force.expression = "2e-3*(oil - 1e4)";
    SHOP_ADD(&s, actuator, &a);
    run(&s, k ? 2.5e-4 : 1e-3, 0.2);
    const ga_state *st = ga_stepper_state(s.st);
    const double x = shop_signal(&s, st, "m");
    assert_string_equal(ga_machine_signal_unit(s.m, ga_machine_find_signal(s.m, "oil")), "Pa");
    error[k] = fabs(shop_signal(&s, st, "oil") - (1e4 - 4e5 * log1p(2 * x)));
    shop_close(&s);
  }
  const double order = log(error[0] / error[1]) / log(4);
  if (!(error[1] < 2 && order > 1.8)) fail_msg("errors %.3g, %.3g Pa, order %.2f", error[0], error[1], order);
}

static void empty_chamber_is_refused(void **state)
{
  ga_context *ctx = rig_open_context();
  ga_block_chamber_opts o = ga_block_chamber_defaults();
  ga_control_block *b = NULL;
  double xdot, y, J[8];
  const double u[3] = {0, -1, 0}, x = 0;
  ga_fault fault;
  (void)state;
  o.bulk_modulus = 1, o.volume = 1, o.area = 1;
  assert_status(ctx, ga_block_create_chamber(ctx, &o, &b), GA_OK);
  assert_int_equal(ga_block_eval(b, 0, u, &x, &xdot, &y, &fault), GA_RETRY_NAN);
  assert_non_null(strstr(fault.needs, "volume"));
  assert_int_equal(ga_block_jacobian(b, 0, u, &x, J, &fault), GA_RETRY_NAN);
  ga_block_destroy(&b);
  ga_context_destroy(&ctx);
}

/* A motor at a constant voltage spins up an inertia: J ω' = K i, L i' = U − R i − K ω. With the eigenvalues
 * a, b of that, i = U/L (e^at − e^bt)/(a − b). */
static void motor_spins_up(void **state)
{
  const double R = 2, L = 0.05, K = 0.4, J = 3, U = 12, t = 0.3;
  double error[2];
  (void)state;
  for (int k = 0; k < 2; k++) {
    shop s = shop_open(GA_FORM_SPACE, 0);
    ga_block_dc_motor_opts o = ga_block_dc_motor_defaults();
    ga_control_block *b = NULL;
    ga_actuator_def a = ga_actuator_defaults();
    const ga_input in[2] = {{U, NULL, NULL}, {0, NULL, "rotor.rate"}};
    shop_scalar(&s, "rotor", 0, 0);
    o.resistance = R, o.inductance = L, o.constant = K;
    assert_status(s.ctx, ga_block_create_dc_motor(s.ctx, &o, &b), GA_OK);
    SHOP_ADD(&s, block, "motor", b, in);
    a.name = "shaft", a.coordinate = "rotor", a.force.expression = "motor.y1";
    SHOP_ADD(&s, actuator, &a);
    run(&s, k ? 5e-4 : 2e-3, t);
    const double root = sqrt(R * R / (4 * L * L) - K * K / (J * L)), m = -R / (2 * L);
    const double i = U / L * (exp((m + root) * t) - exp((m - root) * t)) / (2 * root);
    const ga_state *st = ga_stepper_state(s.st);
    error[k] = fabs(shop_signal(&s, st, "motor.y2") - i);
    assert_near(shop_signal(&s, st, "motor.y1"), K * shop_signal(&s, st, "motor.y2"), 1e-12, "torque");
    shop_close(&s);
  }
  const double order = log(error[0] / error[1]) / log(4);
  if (!(error[1] < 1e-4 && order > 1.8 && order < 2.3))
    fail_msg("errors %.3g, %.3g A, order %.2f", error[0], error[1], order);
}

static void wrong_options_are_refused(void **state)
{
  ga_context *ctx = rig_open_context();
  const ga_block_orifice_opts orifice[] = {
      {0, 1, 0, 1, 0}, {1, 0, 0, 1, 0}, {1, 1, 1, 0, 0}, {NAN, 1, 0, 1, 0}};
  const ga_block_chamber_opts chamber[] = {{0, 1, 1, 0}, {1, 0, 1, 0}, {1, 1, NAN, 0}, {1, -1, 1, 0}};
  const ga_block_dc_motor_opts motor[] = {{-1, 1, 1, 0}, {1, 0, 1, 0}, {1, 1, 0, 0}, {1, 1, 1, NAN}};
  const ga_block_gearbox_opts gearbox[] = {{0, 1, 0}, {1, 0, 1}, {1, 1.1, 1}, {1, 0.5, 0}};
  ga_control_block *b = NULL;
  (void)state;
  for (int i = 0; i < 4; i++) {
    assert_int_equal(ga_block_create_orifice(ctx, &orifice[i], &b), GA_ERR_ARGUMENT);
    assert_int_equal(ga_block_create_chamber(ctx, &chamber[i], &b), GA_ERR_ARGUMENT);
    assert_int_equal(ga_block_create_dc_motor(ctx, &motor[i], &b), GA_ERR_ARGUMENT);
    assert_int_equal(ga_block_create_gearbox(ctx, &gearbox[i], &b), GA_ERR_ARGUMENT);
    assert_null(b);
  }
  ga_context_destroy(&ctx);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(orifices_have_their_law), cmocka_unit_test(gearbox_pays_by_the_driving_side),
      cmocka_unit_test(closed_chamber),          cmocka_unit_test(empty_chamber_is_refused),
      cmocka_unit_test(motor_spins_up),          cmocka_unit_test(wrong_options_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
