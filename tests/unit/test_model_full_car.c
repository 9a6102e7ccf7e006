/* The full car of examples/models: its equilibrium, both sides, steering, dampers, energy. With
 * GALPHA_THOROUGH (`make soak`) also whole manoeuvres: straight ahead, order in time, methods, step sizes and
 * speeds. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "car_rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SET = 4 };

typedef struct car_opts {
  const char *file, *set[MOST_SET];
  double h, rho;
  ga_method method;
  ga_reuse reuse;
} car_opts;

static int thorough(void)
{
  return getenv("GALPHA_THOROUGH") != NULL;
}

static void car_read(car *c, const car_opts *opts)
{
  int n = 0;
  while (n < MOST_SET && opts->set[n]) n++;
  car_read_file(c, opts->file, n, opts->set);
  assert_int_equal(ga_model_n_messages(c->model), 0);
}

/* q, x and multipliers of the equilibrium, as `from_equilibrium` gives them. */
static void find_rest(car *c, double *q, double *x, double *lambda)
{
  const ga_system *sys = ga_machine_system(c->m);
  ga_equilibrium_opts o = ga_equilibrium_defaults();
  ga_equilibrium_report report;
  ga_equilibrium *eq = NULL;
  o.hold_free = 1;
  assert_status(c->ctx, ga_equilibrium_create(c->ctx, sys, &o, &eq), GA_OK);
  assert_status(c->ctx, ga_equilibrium_solve(eq, 0, q, x, &report), GA_OK);
  assert_int_equal(report.redundant, 0);
  const ga_state *at = ga_equilibrium_state(eq);
  memcpy(q, at->q, (size_t)ga_group_nq(ga_system_group(sys)) * sizeof *q);
  memcpy(x, at->x, (size_t)ga_system_size(sys, GA_BLOCK_X) * sizeof *x);
  memcpy(lambda, at->lambda, (size_t)ga_system_size(sys, GA_BLOCK_LAMBDA) * sizeof *lambda);
  ga_equilibrium_destroy(&eq);
}

/* Starts the car at its equilibrium, rolling; the status of the stepper's start. */
static ga_status car_start(car *c, const car_opts *opts)
{
  ga_stepper_opts so = ga_stepper_defaults();
  ga_start_opts start = ga_start_defaults();
  const ga_system *sys = ga_machine_system(c->m);
  const size_t nq = (size_t)ga_group_nq(ga_system_group(sys)), nv = (size_t)ga_system_size(sys, GA_BLOCK_V),
               nx = (size_t)ga_system_size(sys, GA_BLOCK_X),
               n_lambda = (size_t)ga_system_size(sys, GA_BLOCK_LAMBDA);
  double *q = calloc(nq + nv + nx + n_lambda, sizeof *q);
  assert_non_null(q);
  double *v = q + nq, *x = v + nv, *lambda = x + nx;
  so.method = opts->method;
  so.newton.reuse = opts->reuse;
  start.h = opts->h;
  assert_status(c->ctx, ga_scheme_rho(c->ctx, opts->rho, &so.scheme), GA_OK);
  assert_status(c->ctx, ga_machine_initial(c->m, q, v, x), GA_OK);
  find_rest(c, q, x, lambda);
  assert_status(c->ctx, ga_stepper_create(c->ctx, sys, &so, &c->st), GA_OK);
  const ga_status status = ga_stepper_start(c->st, &start, 0, q, v, x, lambda, NULL, NULL);
  free(q);
  return status;
}

static car car_open(const car_opts *opts)
{
  car c = {0};
  car_read(&c, opts);
  assert_status(c.ctx, car_start(&c, opts), GA_OK);
  car_meter(&c);
  return c;
}

static const char *const TYRE[4] = {"front_tyre0.fz", "front_tyre1.fz", "rear_tyre0.fz", "rear_tyre1.fz"};

/* Sizes; the equilibrium is level at the design height, tyres carry the weight, links, bars and mounts what
 * they should. */
static void rests_in_its_design_position(void **state)
{
  (void)state;
  car c = car_open(&(car_opts){"full_car", {NULL}, 1e-2, 0.9, GA_STABILIZED, GA_REUSE});
  const ga_system *sys = ga_machine_system(c.m);
  assert_int_equal(ga_system_size(sys, GA_BLOCK_V), 541);
  assert_int_equal(ga_system_size(sys, GA_BLOCK_LAMBDA), 263);
  assert_near(car_signal(&c, "chassis.z"), 0.55, 1e-7, "height");
  assert_near(car_signal(&c, "chassis.pitch"), 0, 1e-7, "pitch");
  assert_near(car_signal(&c, "chassis.roll"), 0, 1e-6, "roll");
  for (int i = 0; i < 2; i++)
    assert_near(car_signal(&c, i ? "rear_wheel0.yaw" : "front_wheel0.yaw"), 0, 1e-6, "wheels straight ahead");
  assert_near(car_signal(&c, "engine.z"), 0.5, 1e-6, "engine on its preloaded mounts");
  for (int i = 0; i < 4; i++)
    assert_near(car_signal(&c, TYRE[i]), i < 2 ? 4631.304 : 3727.368, 0.01, TYRE[i]);
  for (int i = 0; i < 2; i++) { /* all that rolls: the wheel's radius times its rate is the speed */
    const char *const RATE[2] = {"front_hub0.angle_rate", "rear_hub1.angle_rate"};
    assert_near(car_signal(&c, RATE[i]) * 0.32, 10, 1e-4, RATE[i]);
  }
  assert_true(fabs(car_signal(&c, "chassis.az")) < 1e-4 && fabs(car_signal(&c, "front_upright0.az")) < 1e-3);
  car_close(&c);
}

/* A mirror image: the driver sits on the other side and steers to the other side. */
static const char *const SAME[] = {"chassis.x", "chassis.z", "chassis.pitch", "chassis.vx"};
static const char *const OPPOSITE[] = {"chassis.y", "chassis.roll", "chassis.yaw", "steering.displacement"};
static const char *const PAIR[][2] = {{"front_tyre0.fz", "front_tyre1.fz"},
                                      {"rear_tyre1.fz", "rear_tyre0.fz"},
                                      {"front_spring0.force", "front_spring1.force"},
                                      {"front_damper1.rate", "front_damper0.rate"}};

static void check_mirror_images(const char *file, const char *duration, double h, int n, double tol)
{
  car c = car_open(
      &(car_opts){file, {"wheel_angle=60 deg", "begin=0 s", duration}, h, 0.9, GA_STABILIZED, GA_REUSE});
  car d = car_open(&(car_opts){file,
                               {"wheel_angle=-60 deg", "begin=0 s", duration, "y_steering=-0.36 m"},
                               h,
                               0.9,
                               GA_STABILIZED,
                               GA_REUSE});
  car_run(&c, h, n);
  car_run(&d, h, n);
  assert_true(car_signal(&c, "chassis.y") > (rig_brief() ? 0 : 1e-3));
  for (size_t i = 0; i < sizeof SAME / sizeof *SAME; i++)
    assert_near(car_signal(&c, SAME[i]), car_signal(&d, SAME[i]), tol, SAME[i]);
  for (size_t i = 0; i < sizeof OPPOSITE / sizeof *OPPOSITE; i++)
    assert_near(car_signal(&c, OPPOSITE[i]), -car_signal(&d, OPPOSITE[i]), tol, OPPOSITE[i]);
  for (size_t i = 0; i < sizeof PAIR / sizeof *PAIR; i++)
    assert_near(car_signal(&c, PAIR[i][0]), car_signal(&d, PAIR[i][1]), 1e5 * tol, PAIR[i][0]);
  /* Universal joints at equal angles: the pinion turns as the wheel, and the rack by its radius. What the
   * frames move on their mounts is the difference. */
  const double angle = car_signal(&c, "column.angle");
  assert_true(fabs(angle) > (rig_brief() ? 1e-3 : 0.1));
  assert_near(car_signal(&c, "pinion_bearing.angle"), angle, 1e-3, "pinion");
  assert_near(car_signal(&c, "steering.displacement"), -7.5e-3 * car_signal(&c, "pinion_bearing.angle"),
              1e-12, "rack");
  assert_near(car_signal(&c, "energy.balance"), 0, 2, "energy balance");
  car_close(&c);
  car_close(&d);
}

static void sides_mirror_each_other(void **state)
{
  (void)state;
  check_mirror_images("full_car", "duration=1.2 s", 0.02, rig_brief() ? 3 : 20, 1e-8);
  if (!thorough()) return;
  check_mirror_images("full_car", "duration=1.2 s", 1e-2, 100, 1e-8);
  check_mirror_images("full_car_semi_active", "duration=4 s", 1e-2, 100, 1e-7);
}

/* The dampers' law, from the signals of one state: A_ring p_r − A_piston p_c; tube and rod are where the
 * springs and the controller measure. */
static void dampers_act_between_tube_and_rod(void **state)
{
  const double h = 1e-2, piston = 7.07e-4, ring = piston - 3.14e-4;
  (void)state;
  car c = car_open(
      &(car_opts){"full_car_semi_active", {"begin=0 s", "duration=1.2 s"}, h, 0.9, GA_STABILIZED, GA_REUSE});
  assert_near(car_signal(&c, "rear_rebound1"), 0, 1e-6, "pressure at the start");
  car_run(&c, h, rig_brief() ? 3 : 30);
  const double pr = car_signal(&c, "rear_rebound1"), pc = car_signal(&c, "rear_compression1");
  assert_near(car_signal(&c, "rear_damper1.force"), ring * pr - piston * pc, 1e-9, "force of the damper");
  assert_near(car_signal(&c, "rear_damper1.rate"), car_signal(&c, "rear_strut1.displacement_rate"), 1e-9,
              "rate of the damper");
  if (!rig_brief()) assert_true(pc > 1e4 && pc > pr && pc < 1.2 * pr); /* the outer side is compressed */
  assert_near(car_signal(&c, "energy.balance"), 0, 0.5, "energy balance");
  car_close(&c);
}

/* ---- Whole manoeuvres, with GALPHA_THOROUGH ---- */

/* Straight ahead for 6 s: with the driver in the middle to rounding, on the left within 1 mm. */
static void straight_ahead(void **state)
{
  (void)state;
  if (!thorough()) return;
  for (int side = 0; side < 2; side++) {
    car c = car_open(&(car_opts){"full_car",
                                 {"wheel_angle=0 deg", side ? "y_steering=0.36 m" : "y_steering=0 m"},
                                 1e-2,
                                 0.9,
                                 GA_STABILIZED,
                                 GA_REUSE});
    car_run(&c, 1e-2, 600);
    assert_near(car_signal(&c, "chassis.y"), 0, side ? 1e-3 : 1e-6, "y");
    assert_near(car_signal(&c, "chassis.yaw"), 0, side ? 1e-4 : 1e-7, "yaw");
    assert_near(car_signal(&c, "chassis.vx"), 10, 0.02, "speed");
    car_close(&c);
  }
}

/* Root mean squares over a second of differences of three steps: order 2 in positions, velocities,
 * accelerations, reactions, moments in bars, pressures and the controller. */
enum { SAMPLES = 10, MOST_NAMES = 16 };

static void check_order(const char *file, const char *duration, const char *const *name, int n, double h)
{
  double value[3][SAMPLES][MOST_NAMES];
  for (int level = 0; level < 3; level++, h *= 0.5) {
    car c = car_open(&(car_opts){file, {"begin=0.1 s", duration}, h, 0.9, GA_STABILIZED, GA_REUSE});
    for (int k = 0; k < SAMPLES; k++) {
      car_run(&c, h, (int)lround(0.1 / h));
      for (int i = 0; i < n; i++) value[level][k][i] = car_signal(&c, name[i]);
    }
    car_close(&c);
  }
  for (int i = 0; i < n; i++) {
    double coarse = 0, fine = 0;
    for (int k = 0; k < SAMPLES; k++) {
      coarse += pow(value[0][k][i] - value[1][k][i], 2);
      fine += pow(value[1][k][i] - value[2][k][i], 2);
    }
    const double order = log2(coarse / fine) / 2;
    print_message("# %s %s: %.2g at %g ms, order %.2f\n", file, name[i], sqrt(fine / SAMPLES), 4e3 * h,
                  order);
    assert_near(order, 2, 0.25, name[i]);
  }
}

static void order_is_two(void **state)
{
  static const char *const PASSIVE[] = {"chassis.y",    "chassis.roll",     "chassis.vy",
                                        "chassis.wx",   "chassis.ay",       "front_subframe.vz",
                                        "tie_ball0.fy", "lower_ball0.fz",   "front_tyre0.fy",
                                        "driver.force", "front_corner0.my", "engine.y"};
  static const char *const SEMI[] = {"chassis.y",      "chassis.roll",   "chassis.vy",    "chassis.ay",
                                     "tie_ball0.fy",   "lower_ball0.fz", "rear_rebound1", "rear_compression1",
                                     "front_rebound0", "modes.x1",       "modes.x2",      "rear_current1"};
  (void)state;
  if (!thorough()) return;
  check_order("full_car", "duration=1.5 s", PASSIVE, (int)(sizeof PASSIVE / sizeof *PASSIVE), 2e-3);
  check_order("full_car_semi_active", "duration=3 s", SEMI, (int)(sizeof SEMI / sizeof *SEMI), 2e-3);
}

/* Step sizes, ρ∞, methods and speeds: where each leads in the lane change, and what cannot feed back
 * accelerations says so. */
typedef struct row {
  const char *file, *speed, *angle;
  ga_method method;
  double h, rho;
} row;

static double lateral(const row *r, double until)
{
  car c = car_open(
      &(car_opts){r->file, {"begin=0.1 s", r->speed, r->angle}, r->h, r->rho, r->method, GA_FRESH_ITERATION});
  car_run(&c, r->h, (int)lround(until / r->h));
  const double y = car_signal(&c, "chassis.y");
  assert_near(car_signal(&c, "energy.balance"), 0, 2, "energy balance");
  car_close(&c);
  return y;
}

static void methods_and_steps(void **state)
{
  static const char *const FILE_OF[2] = {"full_car", "full_car_semi_active"};
  static const ga_method REFUSING[] = {GA_SOI2, GA_HHT_SOI2, GA_WEIGHTED};
  (void)state;
  if (!thorough()) return;
  for (int f = 0; f < 2; f++) {
    const row fine = {FILE_OF[f], NULL, NULL, GA_STABILIZED, 1e-3, 0.9};
    const double y = lateral(&fine, 1.6);
    const row rows[] = {{FILE_OF[f], NULL, NULL, GA_STABILIZED, 0.02, 0.5},
                        {FILE_OF[f], NULL, NULL, GA_STABILIZED, 0.02, 0.95},
                        {FILE_OF[f], NULL, NULL, GA_STABILIZED, 0.01, 0.9},
                        {FILE_OF[f], NULL, NULL, GA_INDEX3, 0.01, 0.8},
                        {FILE_OF[f], NULL, NULL, GA_INDEX3, 0.004, 0.9}};
    const row weighted[] = {{FILE_OF[f], NULL, NULL, GA_SOI2, 0.01, 0.9},
                            {FILE_OF[f], NULL, NULL, GA_HHT_SOI2, 0.01, 0.9},
                            {FILE_OF[f], NULL, NULL, GA_WEIGHTED, 0.01, 0.8}};
    assert_true(y > 0.3);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) assert_near(lateral(&rows[i], 1.6), y, 1e-3, "y");
    for (size_t i = 0; f == 0 && i < sizeof weighted / sizeof *weighted; i++)
      assert_near(lateral(&weighted[i], 1.6), y, 1e-3, "y by a weighted method");
    lateral(&(row){FILE_OF[f], "v=0 m/s", NULL, GA_STABILIZED, 0.01, 0.9}, 1);
    lateral(&(row){FILE_OF[f], "v=30 m/s", "wheel_angle=15 deg", GA_STABILIZED, 0.01, 0.9}, 1);
  }
  for (size_t i = 0; i < sizeof REFUSING / sizeof *REFUSING; i++) {
    const car_opts opts = {"full_car_semi_active", {NULL}, 1e-2, 0.9, REFUSING[i], GA_REUSE};
    car c = {0};
    car_read(&c, &opts);
    assert_true(car_start(&c, &opts) != GA_OK);
    assert_non_null(
        strstr(ga_context_error(c.ctx)->text, "cannot feed back accelerations: 'front_point0.az'"));
    car_close(&c);
  }
}

/* ---- Error control ---- */

enum { TIMES = 5 }; /* every 0.25 s */

typedef struct controlled {
  const car *c;
  int n;
  double y[TIMES + 1], roll[TIMES + 1];
  long steps;
} controlled;

static int keep(void *user, const ga_state *s)
{
  controlled *r = user;
  const int index[2] = {ga_machine_find_signal(r->c->m, "chassis.y"),
                        ga_machine_find_signal(r->c->m, "chassis.roll")};
  double out[2];
  if (r->n == TIMES || ga_machine_signals(r->c->m, NULL, s, 2, index, out)) return 1;
  r->y[r->n] = out[0], r->roll[r->n++] = out[1];
  return 0;
}

static void run_controlled(const char *file, double tol, controlled *r)
{
  car c = car_open(&(car_opts){file, {NULL}, 1e-3, 0.8, GA_STABILIZED, GA_REUSE});
  const ga_state *s = ga_stepper_state(c.st);
  ga_simulate_opts o = ga_simulate_defaults();
  ga_simulator *sim = NULL;
  *r = (controlled){.c = &c};
  o.t_end = 0.25 * (TIMES - 1), o.output_every = 0.25, o.output = keep, o.user = r;
  o.rtol = o.rtol_v = o.rtol_x = tol;
  o.atol = o.atol_v = o.atol_x = 1e-2 * tol;
  assert_status(c.ctx, ga_simulator_create(c.ctx, c.st, &o, &sim), GA_OK);
  assert_status(c.ctx, ga_simulator_start(sim, NULL, 0, s->q, s->v, s->x, s->lambda, NULL, NULL), GA_OK);
  assert_status(c.ctx, ga_simulator_run(sim), GA_OK);
  assert_int_equal(r->n, TIMES);
  r->steps = ga_simulator_stats(sim)->steps;
  ga_simulator_destroy(&sim);
  car_close(&c);
}

/* The largest difference of y [m] and of roll, in parts of 0.04 rad. */
static double largest_difference(const controlled *a, const controlled *b)
{
  double most = 0;
  for (int i = 0; i < TIMES; i++)
    most = fmax(most, fmax(fabs(a->y[i] - b->y[i]), fabs(a->roll[i] - b->roll[i]) / 0.04));
  return most;
}

static void errors_fall_with_the_tolerance(void **state)
{
  static const char *const FILE_OF[2] = {"full_car", "full_car_semi_active"};
  enum { TOLERANCES = 3 }; /* 1e-3, 1e-4, 1e-5; the last one is the reference */
  (void)state;
  if (rig_brief()) return;
  for (int f = 0; f < (thorough() ? 2 : 1); f++) {
    controlled r[TOLERANCES];
    double before = HUGE_VAL;
    for (int i = 0; i < TOLERANCES; i++) run_controlled(FILE_OF[f], pow(10, -3 - i), &r[i]);
    for (int i = 0; i + 1 < TOLERANCES; i++) {
      const double error = largest_difference(&r[i], &r[TOLERANCES - 1]);
      assert_true(error < before && error < 10 * pow(10, -3 - i));
      assert_true(r[i].steps <= r[i + 1].steps);
      before = error;
    }
  }
}

/* A high bump presses the bump stops of the left side; they push only. */
static void bump_stops_act(void **state)
{
  double most = 0, other = 0;
  (void)state;
  if (!thorough()) return;
  car c = car_open(&(car_opts){"full_car_bump", {"bump_height=110 mm"}, 5e-3, 0.9, GA_STABILIZED, GA_REUSE});
  for (int i = 0; i < 200; i++) {
    car_run(&c, 5e-3, 1);
    most = fmax(most, car_signal(&c, "front_bump_stop0.force"));
    other = fmax(other, fabs(car_signal(&c, "front_bump_stop1.force")));
    assert_true(car_signal(&c, "front_bump_stop0.force") >= 0);
  }
  assert_true(most > 100 && other == 0);
  car_close(&c);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rests_in_its_design_position),
      cmocka_unit_test(sides_mirror_each_other),
      cmocka_unit_test(dampers_act_between_tube_and_rod),
      cmocka_unit_test(straight_ahead),
      cmocka_unit_test(order_is_two),
      cmocka_unit_test(methods_and_steps),
      cmocka_unit_test(errors_fall_with_the_tolerance),
      cmocka_unit_test(bump_stops_act),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
