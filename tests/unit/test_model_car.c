/* The car of examples/models: its lane change against an independent integration, to both sides, straight
 * ahead; order in time; property files of tyres. */
#define _XOPEN_SOURCE 700 /* mkdtemp */
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
#include <unistd.h>

typedef struct car {
  ga_context *ctx;
  ga_model *model;
  ga_machine *m;
  ga_stepper *st;
  ga_meter *meter;
} car;

static car car_open(const char *set, double h)
{
  car c = {NULL, NULL, NULL, NULL, NULL};
  ga_model_opts o = ga_model_defaults();
  ga_stepper_opts so = ga_stepper_defaults();
  ga_start_opts start = ga_start_defaults();
  o.n_set = set != NULL, o.set = &set;
  assert_int_equal(ga_context_create(NULL, &c.ctx), GA_OK);
  const ga_status status = ga_model_read_file(c.ctx, MODELS "/car.yaml", &o, &c.model);
  if (status) fail_msg("%s", ga_context_error(c.ctx)->text);
  c.m = ga_model_machine(c.model);
  const ga_system *sys = ga_machine_system(c.m);
  const size_t nq = (size_t)ga_group_nq(ga_system_group(sys)), nv = (size_t)ga_system_size(sys, GA_BLOCK_V);
  double *q = calloc(nq + nv + 1, sizeof *q);
  assert_status(c.ctx, ga_scheme_rho(c.ctx, 0.9, &so.scheme), GA_OK);
  assert_status(c.ctx, ga_machine_initial(c.m, q, q + nq, q + nq + nv), GA_OK);
  assert_status(c.ctx, ga_stepper_create(c.ctx, sys, &so, &c.st), GA_OK);
  start.h = h;
  assert_status(c.ctx, ga_stepper_start(c.st, &start, 0, q, q + nq, NULL, NULL, NULL, NULL), GA_OK);
  assert_status(c.ctx, ga_meter_create(c.ctx, c.m, &c.meter), GA_OK);
  assert_status(c.ctx, ga_meter_start(c.meter, ga_stepper_state(c.st)), GA_OK);
  free(q);
  return c;
}

static void car_run(car *c, double h, int n)
{
  for (int i = 0; i < n; i++) {
    assert_status(c->ctx, ga_stepper_step(c->st, h), GA_OK);
    assert_status(c->ctx, ga_meter_update(c->meter, ga_stepper_state(c->st)), GA_OK);
  }
}

static double car_signal(const car *c, const char *name)
{
  double value = NAN;
  const int index = ga_machine_find_signal(c->m, name);
  if (index < 0) fail_msg("there is no signal '%s'", name);
  assert_status(c->ctx, ga_machine_signals(c->m, c->meter, ga_stepper_state(c->st), 1, &index, &value),
                GA_OK);
  return value;
}

static void car_close(car *c)
{
  ga_meter_destroy(&c->meter);
  ga_stepper_destroy(&c->st);
  ga_model_destroy(&c->model);
  ga_context_destroy(&c->ctx);
}

static double car_yaw(const car *c)
{
  const double w = car_signal(c, "chassis.qw"), x = car_signal(c, "chassis.qx"),
               y = car_signal(c, "chassis.qy"), z = car_signal(c, "chassis.qz");
  return atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z));
}

static double car_roll(const car *c)
{
  const double w = car_signal(c, "chassis.qw"), x = car_signal(c, "chassis.qx"),
               y = car_signal(c, "chassis.qy"), z = car_signal(c, "chassis.qz");
  return atan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y));
}

/* t, x, y, roll, yaw, and the loads, of an integration in minimal coordinates with tolerances of 1e-12. */
static const double REFERENCE[][9] = {
    {1, 9.99997423628, -0.00601924638213, -0.00355510042376, -0.00349428300927, 4654.0935358, 4413.96325785,
     3746.40020254, 3593.44782619},
    {2, 19.9568795349, -0.669587373046, -0.0405639005864, -0.141131309426, 5292.29749823, 3787.0339494,
     4224.82610585, 3105.43727108},
    {3, 29.752137569, -2.52413876658, 0.0371822412323, -0.156139857495, 3757.15328834, 5342.35542868,
     3081.30873257, 4238.10043014},
    {4, 39.6779322816, -3.06012111303, 0.0061605565146, -0.00800816314472, 4467.73122642, 4604.63630967,
     3617.78291806, 3718.14611296},
    {6, 59.5711069459, -3.0687380172, -7.99273709691e-06, -0.000346619261992, 4533.15419181, 4532.66239997,
     3670.5749443, 3669.88718821},
};
/* What counts as the size of each. */
static const double SIZE[8] = {60, 3, 0.04, 0.2, 4500, 4500, 3700, 3700};

/* Relative errors below 1e-5 at h = 2 ms, below 1e-4 at 10 ms. */
static void lane_change(void **state)
{
  static const char *const LOAD[4] = {"front_tyre0.fz", "front_tyre1.fz", "rear_tyre0.fz", "rear_tyre1.fz"};
  (void)state;
  for (int fine = 0; fine < (rig_brief() ? 1 : 2); fine++) {
    const double h = fine ? 2e-3 : 1e-2;
    car c = car_open(NULL, h);
    double t = 0;
    for (size_t i = 0; i < sizeof REFERENCE / sizeof *REFERENCE; i++) {
      const double *r = REFERENCE[i];
      if (rig_brief() && i > 0) break;
      car_run(&c, h, (int)lround((r[0] - t) / h));
      t = r[0];
      double value[8] = {car_signal(&c, "chassis.x"), car_signal(&c, "chassis.y"), car_roll(&c), car_yaw(&c)};
      for (int k = 0; k < 4; k++) value[4 + k] = car_signal(&c, LOAD[k]);
      for (int k = 0; k < 8; k++)
        assert_near(value[k] / SIZE[k], r[1 + k] / SIZE[k], fine ? 1e-5 : 1e-4, "car");
    }
    assert_near(car_signal(&c, "energy.balance"), 0, fine ? 1e-3 : 0.1, "energy balance");
    assert_true(car_signal(&c, "energy.dissipated") > (rig_brief() ? 1 : 900));
    car_close(&c);
  }
}

/* To the left as to the right, to rounding. */
static void both_sides_mirror_each_other(void **state)
{
  const double h = 1e-2;
  const int n = rig_brief() ? 60 : 300;
  (void)state;
  car c = car_open("rack_travel=8 mm", h), d = car_open("rack_travel=-8 mm", h);
  car_run(&c, h, n);
  car_run(&d, h, n);
  assert_true(fabs(car_signal(&c, "chassis.y")) > (rig_brief() ? 1e-9 : 2));
  assert_near(car_signal(&c, "chassis.x"), car_signal(&d, "chassis.x"), 1e-10, "x");
  assert_near(car_signal(&c, "chassis.y"), -car_signal(&d, "chassis.y"), 1e-10, "y");
  assert_near(car_yaw(&c), -car_yaw(&d), 1e-10, "yaw");
  assert_near(car_signal(&c, "front_tyre0.fz"), car_signal(&d, "front_tyre1.fz"), 1e-6, "load");
  assert_near(car_signal(&c, "rear_tyre0.fy"), -car_signal(&d, "rear_tyre1.fy"), 1e-6, "side force");
  assert_near(car_signal(&c, "tie_rod0.fy"), -car_signal(&d, "tie_rod1.fy"), 1e-6, "tie rod");
  car_close(&c);
  car_close(&d);
}

static void straight_ahead(void **state)
{
  (void)state;
  car c = car_open("rack_travel=0", 1e-2);
  car_run(&c, 1e-2, rig_brief() ? 30 : 600);
  assert_near(car_signal(&c, "chassis.y"), 0, 1e-10, "y");
  assert_near(car_yaw(&c), 0, 1e-11, "yaw");
  assert_near(car_signal(&c, "chassis.vx"), 10, 1e-9, "speed");
  car_close(&c);
}

/* Order 2 in positions, velocities, accelerations, reactions and forces of tyres: differences of three steps.
 */
static void order_is_two(void **state)
{
  static const char *const NAME[] = {"chassis.y", "chassis.vy",  "chassis.ay",     "front_wheel0.wx",
                                     "chassis.z", "tie_rod0.fy", "lower_ball0.fz", "front_tyre0.fy"};
  enum { N = sizeof NAME / sizeof *NAME };
  double value[3][N];
  (void)state;
  if (rig_brief()) return;
  for (int level = 0; level < 3; level++) {
    const double h = 1e-2 / (1 << level);
    car c = car_open(NULL, h);
    car_run(&c, h, 170 << level);
    for (int i = 0; i < N; i++) value[level][i] = car_signal(&c, NAME[i]);
    car_close(&c);
  }
  for (int i = 0; i < N; i++)
    assert_near(log2(fabs((value[0][i] - value[1][i]) / (value[1][i] - value[2][i]))), 2, 0.2, NAME[i]);
}

/* ---- Property files ---- */

static char folder[] = "/tmp/galpha-tyre-XXXXXX";

static void write_file(const char *name, const char *text)
{
  char path[128];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *f = fopen(path, "w");
  assert_non_null(f);
  fputs(text, f);
  assert_int_equal(fclose(f), 0);
}

static int make_folder(void **state)
{
  (void)state;
  return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
  char path[128];
  (void)state;
  for (int i = 0; i < 2; i++) {
    snprintf(path, sizeof path, "%s/%s", folder, i ? "m.yaml" : "t.tir");
    unlink(path);
  }
  return rmdir(folder);
}

#define RIGHT                                                                                                \
  "$ a comment\n[UNITS]\nLENGTH='meter'\nFORCE = 'newton'\nANGLE = 'radians'\n\n[MODEL]\nFITTYP = 52\n"      \
  "[SHAPE]\n{radial width}\n 1.0 0.0\n[DIMENSION]\nUNLOADED_RADIUS = 0.34 $ m\n[VERTICAL]\nFNOMIN = 4000\n"  \
  "VERTICAL_STIFFNESS = 2.2e5\n[X]\nPCX1 = 1.6\nPDX1 = 1.1 ! grip\nPKX1 = 2e1\nQSX1 = nothing\n[Y]\n"        \
  "PCY1 = 1.3\nPDY1 = +.95\nPKY1 = -17\nPKY2 = 1.7\nLFZO = 0.5\n"

/* Reads a wheel with a tyre of this file; the first message, "" if there is none. */
static void read_tyre(const char *tir, const char *more, char *message, size_t size, double *fz)
{
  char text[1024], path[128];
  ga_context *ctx = NULL;
  ga_model *model = NULL;
  snprintf(text, sizeof text,
           "galpha: 1\nbodies: {wheel: {type: rigid, mass: 20, inertia: [1, 1, 1], position: [0, 0, 0.3]}}\n"
           "roads: {road: {}}\ntyres: {tyre: {type: magic, tir: t.tir, wheel: wheel, road: road%s}}\n",
           more);
  write_file("t.tir", tir);
  write_file("m.yaml", text);
  snprintf(path, sizeof path, "%s/m.yaml", folder);
  message[0] = '\0';
  assert_int_equal(ga_context_create(NULL, &ctx), GA_OK);
  const ga_status status = ga_model_read_file(ctx, path, NULL, &model);
  for (int i = 0; i < ga_model_n_messages(model) && !message[0]; i++) {
    const ga_model_message *m = ga_model_message_at(model, i);
    snprintf(message, size, "%s:%d: %s", m->file, m->line, m->text);
  }
  assert_int_equal(status == GA_OK, message[0] == '\0');
  if (status == GA_OK && fz) {
    const ga_machine *m = ga_model_machine(model);
    ga_stepper *st = NULL;
    ga_start_opts o = ga_start_defaults();
    double q[16], v[8], x[2];
    const int index = ga_machine_find_signal(m, "tyre.fz");
    o.h = 1e-3;
    assert_status(ctx, ga_machine_initial(m, q, v, x), GA_OK);
    assert_status(ctx, ga_stepper_create(ctx, ga_machine_system(m), NULL, &st), GA_OK);
    assert_status(ctx, ga_stepper_start(st, &o, 0, q, v, x, NULL, NULL, NULL), GA_OK);
    assert_status(ctx, ga_machine_signals(m, NULL, ga_stepper_state(st), 1, &index, fz), GA_OK);
    ga_stepper_destroy(&st);
  }
  ga_model_destroy(&model);
  ga_context_destroy(&ctx);
}

static void expect_message(const char *tir, const char *more, const char *expected)
{
  char message[512];
  read_tyre(tir, more, message, sizeof message, NULL);
  if (!strstr(message, expected)) fail_msg("'%s' is not in '%s'", expected, message);
}

static void property_files(void **state)
{
  char message[512];
  double fz = 0;
  (void)state;
  read_tyre(RIGHT, "", message, sizeof message, &fz);
  assert_string_equal(message, "");
  assert_near(fz, 2.2e5 * 0.04, 1e-6, "load by the file");
  read_tyre(RIGHT, ", stiffness: 1e5, radius: 0.32", message, sizeof message, &fz);
  assert_string_equal(message, "");
  assert_near(fz, 1e5 * 0.02, 1e-6, "load by the model");
  expect_message(RIGHT "PDX1 = 1\n", "", "t.tir:28: expected a name that was not given before");
  expect_message(RIGHT "PEX1 1\n", "", "t.tir:28: expected NAME = value");
  expect_message(RIGHT "PEX1 = 1,5\n", "", "t.tir:28: expected a number, found '1,5'");
  expect_message(RIGHT "PEX1 =\n", "", "t.tir:28: expected a number");
  expect_message(RIGHT "PEX1 = nan\n", "", "t.tir:28: expected a number");
  expect_message(RIGHT "LEY = 0.8\n", "", "t.tir:28: expected 1: this factor is not supported");
  expect_message(RIGHT "[SCALING\n", "", "t.tir:28: expected ']'");
  expect_message(RIGHT "= 4\n", "", "t.tir:28: expected NAME = value");
  expect_message(RIGHT "[MODEL]\nFITTYP = 61\n", "", "t.tir:29: expected a FITTYP of 5, 6, 51 or 52");
  expect_message(RIGHT "[UNITS]\nLENGTH = 'mm'\n", "", "t.tir:29: expected SI units");
  expect_message("", ", nominal_load: 1, pcx1: 1, pdx1: 1, pkx1: 1, pcy1: 1, pdy1: 1, pky1: -1, pky2: 1",
                 "radius is 0");
  expect_message("", ", radius: 0.3, stiffness: 1e5", "'t.tir' does not give FNOMIN");
  expect_message("[X]\nPCX1=1.6\nPDX1=1\nPKX1=20\nPCY1=1.3\nPDY1=1\nPKY1=-17\nPKY2=2\n",
                 ", radius: 0.3, stiffness: 2e5, nominal_load: 4000", "");
  expect_message("[X]\nPCX1=1.6\nPKX1=20\nPCY1=1.3\nPDY1=1\nPKY1=-17\nPKY2=2\n",
                 ", radius: 0.3, stiffness: 2e5, nominal_load: 4000", "does not give PDX1");
  expect_message(RIGHT, ", pky1: 17", "pky1 is 17");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lane_change),
      cmocka_unit_test(both_sides_mirror_each_other),
      cmocka_unit_test(straight_ahead),
      cmocka_unit_test(order_is_two),
      cmocka_unit_test_setup_teardown(property_files, make_folder, remove_folder),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
