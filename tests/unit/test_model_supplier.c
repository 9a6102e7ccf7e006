/* The semi-active car with dampers and inverse dampers as C functions that the program gives to the model, as
 * a supplier would, beside the same dampers as blocks. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core_rig.h"
#include "galpha/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- The supplier's functions ---- */

static const double PISTON = 7.07e-4, ROD = 3.14e-4, RING = 7.07e-4 - 3.14e-4; /* [m²] */
static const double BULK = 4e8, V_REBOUND = 1.6e-4, V_COMPRESSION = 2e-4;      /* [Pa], [m³] */
static const double K_SOFT = 1.5e-10, K_HARD = 1.9e-11, I_LOW = 0.3, I_HIGH = 1.6;

/* Check valve: K s/(s² + d²)^¼ with s = chk(Δp), and its slope. */
static double check_valve(double drop, double *slope)
{
  const double K = 6e-7, d = 1e5, width = 200, root = hypot(drop, width), s = 0.5 * (drop + root - width);
  const double size = sqrt(hypot(s, d));
  *slope = K * (0.5 * s * s + d * d) / (size * (s * s + d * d)) * 0.5 * (1 + drop / root);
  return K * s / size;
}

/* Inputs: elongation, its rate, current. States: rebound and compression pressure. Output: force in tension.
 */
static int hydraulic_damper(void *user, double t, const double *u, const double *x, double *xdot, double *y)
{
  const double valve = K_SOFT - (K_SOFT - K_HARD) * (u[2] - I_LOW) / (I_HIGH - I_LOW);
  const double V_r = V_REBOUND - RING * u[0], V_c = V_COMPRESSION + PISTON * u[0];
  double slope;
  (void)user, (void)t;
  if (!(V_r > 0 && V_c > 0)) return 1;
  const double piston = check_valve(x[1] - x[0], &slope), base = check_valve(-x[1], &slope);
  xdot[0] = BULK / V_r * (RING * u[1] + piston - valve * x[0]);
  xdot[1] = BULK / V_c * (-PISTON * u[1] - piston + base);
  y[0] = RING * x[0] - PISTON * x[1];
  return 0;
}

/* Rows pr', pc', F; columns elongation, rate, current, pr, pc. */
static int hydraulic_damper_jacobian(void *user, double t, const double *u, const double *x, double *J)
{
  const double by_current = -(K_SOFT - K_HARD) / (I_HIGH - I_LOW),
               valve = K_SOFT + by_current * (u[2] - I_LOW);
  const double V_r = V_REBOUND - RING * u[0], V_c = V_COMPRESSION + PISTON * u[0];
  double xdot[2], y, p, b;
  if (hydraulic_damper(user, t, u, x, xdot, &y)) return 1;
  check_valve(x[1] - x[0], &p);
  check_valve(-x[1], &b);
  J[0] = xdot[0] * RING / V_r;
  J[1] = BULK / V_r * RING;
  J[2] = -BULK / V_r * by_current * x[0];
  J[3] = BULK / V_r * (-p - valve);
  J[4] = BULK / V_r * p;
  J[5] = -xdot[1] * PISTON / V_c;
  J[6] = -BULK / V_c * PISTON;
  J[8] = BULK / V_c * p;
  J[9] = BULK / V_c * (-p - b);
  J[13] = RING;
  J[14] = -PISTON;
  return 0;
}

/* The current for a wanted force on the chassis, upwards, by the rate of the damper; slopes by both. */
static double current_of(double force, double rate, double slope[2])
{
  const double th = tanh(rate / 0.02), th1 = (1 - th * th) / 0.02, area = ROD + (RING - ROD) * (1 + th) / 2,
               area1 = (RING - ROD) * th1 / 2;
  const double z = -force * th / area, z_f = -th / area,
               z_v = -force * (th1 * area - th * area1) / (area * area);
  const double root = hypot(z, 2e4), D = 0.5 * (z + root), D_z = 0.5 * (1 + z / root);
  const double speed = sqrt(rate * rate + 1e-4), K = area * speed / D;
  const double K_v = (area1 * speed + area * rate / speed) / D - K / D * D_z * z_v, K_f = -K / D * D_z * z_f;
  const double range = I_HIGH - I_LOW, half = 0.5 * range, middle = 0.5 * (I_LOW + I_HIGH);
  const double wanted = I_LOW + range * (K_SOFT - K) / (K_SOFT - K_HARD),
               lim = tanh((wanted - middle) / half);
  const double by_K = -(1 - lim * lim) * range / (K_SOFT - K_HARD);
  slope[0] = by_K * K_f, slope[1] = by_K * K_v;
  return middle + half * lim;
}

static int inverse_damper(void *user, double t, const double *u, const double *x, double *xdot, double *y)
{
  double slope[2];
  (void)t, (void)x, (void)xdot;
  if (user) ++*(long *)user;
  y[0] = current_of(u[0], u[1], slope);
  return 0;
}

static int inverse_damper_jacobian(void *user, double t, const double *u, const double *x, double *J)
{
  (void)user, (void)t, (void)x;
  current_of(u[0], u[1], J);
  return 0;
}

static long calls; /* of the inverse damper, which is given its address */

static const ga_model_function SUPPLIED[] = {
    {"hydraulic_damper", hydraulic_damper, hydraulic_damper_jacobian, NULL},
    {"inverse_damper", inverse_damper, inverse_damper_jacobian, &calls}};

/* ---- The cars ---- */

#define EQUAL_FULL 1e-8
#define EQUAL 1e-11 /* largest difference, relative to the size of each signal */

typedef struct car {
  ga_context *ctx;
  ga_model *model;
  ga_machine *m;
  ga_stepper *st;
} car;

/* Moves a start to the static equilibrium. */
static void move_to_rest(const car *c, double *q, double *v, double *x)
{
  const ga_system *sys = ga_machine_system(c->m);
  ga_equilibrium_opts o = ga_equilibrium_defaults();
  ga_equilibrium *eq = NULL;
  o.hold_free = 1;
  assert_status(c->ctx, ga_equilibrium_create(c->ctx, sys, &o, &eq), GA_OK);
  assert_status(c->ctx, ga_equilibrium_solve(eq, 0, q, x, NULL), GA_OK);
  const ga_state *at = ga_equilibrium_state(eq);
  assert_status(c->ctx, ga_machine_move_velocities(c->m, q, at->q, v), GA_OK);
  memcpy(q, at->q, (size_t)ga_group_nq(ga_system_group(sys)) * sizeof *q);
  memcpy(x, at->x, (size_t)ga_system_size(sys, GA_BLOCK_X) * sizeof *x);
  ga_equilibrium_destroy(&eq);
}

/* Dampers as blocks, or as the supplier's functions. */
static car open_car(const char *file, int supplied, double h)
{
  static const char *const SET[] = {"semi_active=1", "supplier=1"};
  char path[512];
  ga_model_opts o = ga_model_defaults();
  o.n_set = supplied ? 2 : 1, o.set = SET;
  o.n_functions = 2, o.functions = SUPPLIED;
  car c = {NULL, NULL, NULL, NULL};
  ga_stepper_opts so = ga_stepper_defaults();
  ga_start_opts start = ga_start_defaults();
  snprintf(path, sizeof path, MODELS "/%s.yaml", file);
  assert_int_equal(ga_context_create(NULL, &c.ctx), GA_OK);
  if (ga_model_read_file(c.ctx, path, &o, &c.model)) fail_msg("%s", ga_context_error(c.ctx)->text);
  c.m = ga_model_machine(c.model);
  const ga_system *sys = ga_machine_system(c.m);
  const size_t nq = (size_t)ga_group_nq(ga_system_group(sys)), nv = (size_t)ga_system_size(sys, GA_BLOCK_V),
               nx = (size_t)ga_system_size(sys, GA_BLOCK_X);
  double *q = calloc(nq + nv + nx + 1, sizeof *q);
  assert_non_null(q);
  assert_status(c.ctx, ga_scheme_rho(c.ctx, 0.9, &so.scheme), GA_OK);
  so.newton.tol = 1e-12;
  assert_status(c.ctx, ga_machine_initial(c.m, q, q + nq, q + nq + nv), GA_OK);
  if (ga_model_settings(c.model)->from_equilibrium) move_to_rest(&c, q, q + nq, q + nq + nv);
  assert_status(c.ctx, ga_stepper_create(c.ctx, sys, &so, &c.st), GA_OK);
  start.h = h;
  assert_status(c.ctx, ga_stepper_start(c.st, &start, 0, q, q + nq, q + nq + nv, NULL, NULL, NULL), GA_OK);
  free(q);
  return c;
}

static double signal_of(const car *c, const char *name)
{
  double value = NAN;
  const int index = ga_machine_find_signal(c->m, name);
  if (index < 0) fail_msg("there is no signal '%s'", name);
  assert_status(c->ctx, ga_machine_signals(c->m, NULL, ga_stepper_state(c->st), 1, &index, &value), GA_OK);
  return value;
}

static void close_car(car *c)
{
  ga_stepper_destroy(&c->st);
  ga_model_destroy(&c->model);
  ga_context_destroy(&c->ctx);
}

/* Same motion, pressures, currents and forces along the lane change. */
static void compare_cars(const char *file, double h, int steps, double within)
{
  static const struct {
    const char *name, *other;
    double scale;
  } SIGNAL[] = {{"chassis.y", "chassis.y", 1},
                {"chassis.roll", "chassis.roll", 0.03},
                {"chassis.az", "chassis.az", 1},
                {"lower_ball0.fz", "lower_ball0.fz", 1e4},
                {"rear_rebound1", "rear_hydraulics1.x1", 4e5},
                {"rear_compression1", "rear_hydraulics1.x2", 4e5},
                {"front_rebound0", "front_hydraulics0.x1", 4e5},
                {"rear_damper1.force", "rear_hydraulics1", 300},
                {"front_current0", "front_current0", 1},
                {"rear_current1", "rear_current1", 1}};
  enum { N = sizeof SIGNAL / sizeof *SIGNAL };
  double most[N] = {0};
  calls = 0;
  car blocks = open_car(file, 0, h), functions = open_car(file, 1, h);
  assert_true(calls > 0);
  for (int n = 0; n < (rig_brief() ? 5 : steps); n++) {
    assert_status(blocks.ctx, ga_stepper_step(blocks.st, h), GA_OK);
    assert_status(functions.ctx, ga_stepper_step(functions.st, h), GA_OK);
    for (int i = 0; i < N; i++)
      most[i] =
          fmax(most[i], fabs(signal_of(&blocks, SIGNAL[i].name) - signal_of(&functions, SIGNAL[i].other)) /
                            SIGNAL[i].scale);
  }
  for (int i = 0; i < N; i++) assert_near(most[i], 0, within, SIGNAL[i].name);
  close_car(&blocks);
  close_car(&functions);
}

static void functions_give_what_blocks_give(void **state)
{
  (void)state;
  compare_cars("car", 2e-3, 900, EQUAL);
}

/* The tolerance of its stiff mounts is that of Newton's iteration at the floor of rounding. */
static void functions_give_what_blocks_give_in_full_car(void **state)
{
  (void)state;
  if (!rig_brief()) compare_cars("full_car", 1e-2, 180, EQUAL_FULL);
}

/* Derivatives of the whole car in motion, with those of the supplier. */
static void derivatives_are_right(void **state)
{
  const double h = 2e-3;
  ga_check_report report;
  (void)state;
  if (rig_brief()) return;
  car c = open_car("car", 1, h);
  for (int n = 0; n < 600; n++) assert_status(c.ctx, ga_stepper_step(c.st, h), GA_OK);
  const ga_state *s = ga_stepper_state(c.st);
  const ga_point p = {s->t, s->q, s->v, s->vdot, s->lambda, s->psi, s->x, s->y, 0, NULL};
  assert_status(c.ctx, ga_system_check(ga_machine_system(c.m), &p, 1e-5, &report), GA_OK);
  close_car(&c);
}

/* ---- Refusals ---- */

#define SCALAR "galpha: 1\nbodies: {m: {type: scalar, mass: 1}}\n"

static void expect_message(const char *text, const ga_model_opts *o, const char *expected)
{
  ga_context *ctx = NULL;
  ga_model *model = NULL;
  char all[2048] = "";
  assert_int_equal(ga_context_create(NULL, &ctx), GA_OK);
  const ga_status status = ga_model_read_text(ctx, "m.yaml", text, strlen(text), o, &model);
  for (int i = 0; i < ga_model_n_messages(model); i++) {
    const ga_model_message *m = ga_model_message_at(model, i);
    const size_t used = strlen(all);
    snprintf(all + used, sizeof all - used, "%d:%d: %s\n", m->line, m->column, m->text);
  }
  if (!expected) assert_int_equal(status, GA_OK);
  if (expected && !strstr(all, expected)) fail_msg("'%s' is not in '%s'", expected, all);
  ga_model_destroy(&model);
  ga_context_destroy(&ctx);
}

static void unknown_functions_are_listed(void **state)
{
  ga_model_opts o = ga_model_defaults();
  ga_context *ctx = NULL;
  ga_model *model = NULL;
  (void)state;
  o.n_functions = 2, o.functions = SUPPLIED;
  expect_message(SCALAR "blocks: {b: {type: library, symbol: inverse_damper, n_out: 1, inputs: [1, m]}}\n",
                 &o, NULL);
  expect_message(SCALAR "blocks: {b: {type: library, symbol: inverse_dampr, n_out: 1, inputs: [1, m]}}\n", &o,
                 "3:37: block 'b': there is no function 'inverse_dampr'; did you mean 'inverse_damper'?; the "
                 "program has "
                 "hydraulic_damper, inverse_damper");
  expect_message(SCALAR "blocks: {b: {type: library, symbol: f, n_out: 1}}\n", NULL,
                 "the program that reads the model has none");
  expect_message(SCALAR "blocks: {b: {type: library, symbol: inverse_damper, jacobian: j, n_out: 1}}\n", &o,
                 "block 'b' has no library");
  o.functions = NULL;
  assert_int_equal(ga_context_create(NULL, &ctx), GA_OK);
  assert_int_equal(ga_model_read_text(ctx, "m.yaml", SCALAR, strlen(SCALAR), &o, &model), GA_ERR_ARGUMENT);
  o.functions = &(ga_model_function){.name = "f"}, o.n_functions = 1;
  assert_int_equal(ga_model_read_text(ctx, "m.yaml", SCALAR, strlen(SCALAR), &o, &model), GA_ERR_ARGUMENT);
  o.n_functions = -1;
  assert_int_equal(ga_model_read_text(ctx, "m.yaml", SCALAR, strlen(SCALAR), &o, &model), GA_ERR_ARGUMENT);
  ga_context_destroy(&ctx);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(functions_give_what_blocks_give),
                                     cmocka_unit_test(functions_give_what_blocks_give_in_full_car),
      cmocka_unit_test(derivatives_are_right),
      cmocka_unit_test(unknown_functions_are_listed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
