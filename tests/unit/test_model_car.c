/* The car of examples/models: its lane change against an independent integration, to both sides, straight
 * ahead; order in time; semi-active dampers and their controller against the equations written out here;
 * manoeuvres; property files of tyres. */
#define _XOPEN_SOURCE 700 /* mkdtemp */
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
#include <unistd.h>

typedef struct car_opts {
  const char *file, *set;
  double h, rho;
  ga_method method;
  ga_reuse reuse;
} car_opts;

static void car_read(car *c, const car_opts *opts)
{
  car_read_file(c, opts->file, opts->set != NULL, &opts->set);
  if (!opts->set) assert_int_equal(ga_model_n_messages(c->model), 0);
}

/* Starts the car; the status of the stepper's start. */
static ga_status car_start(car *c, const car_opts *opts)
{
  ga_stepper_opts so = ga_stepper_defaults();
  ga_start_opts start = ga_start_defaults();
  const ga_system *sys = ga_machine_system(c->m);
  const size_t nq = (size_t)ga_group_nq(ga_system_group(sys)), nv = (size_t)ga_system_size(sys, GA_BLOCK_V),
               nx = (size_t)ga_system_size(sys, GA_BLOCK_X);
  double *q = calloc(nq + nv + nx + 1, sizeof *q);
  assert_non_null(q);
  so.method = opts->method;
  so.newton.reuse = opts->reuse;
  assert_status(c->ctx, ga_scheme_rho(c->ctx, opts->rho, &so.scheme), GA_OK);
  assert_status(c->ctx, ga_machine_initial(c->m, q, q + nq, q + nq + nv), GA_OK);
  assert_status(c->ctx, ga_stepper_create(c->ctx, sys, &so, &c->st), GA_OK);
  start.h = opts->h;
  const ga_status status =
      ga_stepper_start(c->st, &start, 0, q, q + nq, nx ? q + nq + nv : NULL, NULL, NULL, NULL);
  free(q);
  return status;
}

static car car_open_with(const car_opts *opts)
{
  car c = {0};
  car_read(&c, opts);
  assert_status(c.ctx, car_start(&c, opts), GA_OK);
  car_meter(&c);
  return c;
}

static car car_open(const char *set, double h)
{
  return car_open_with(&(car_opts){"car", set, h, 0.9, GA_STABILIZED, GA_REUSE});
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

/* ---- Semi-active dampers ---- */

static car semi_open(double h)
{
  return car_open_with(&(car_opts){"car_semi_active", NULL, h, 0.9, GA_STABILIZED, GA_REUSE});
}

/* Accelerometers: front left, front right, rear left, rear right. */
static const double PLACE[4][2] = {{1.2, 0.7}, {1.2, -0.7}, {-1.56, 0.7}, {-1.56, -0.7}};
static const char *const CORNER[4] = {"front_%s0%s", "front_%s1%s", "rear_%s0%s", "rear_%s1%s"};

static double corner_signal(const car *c, int corner, const char *part, const char *signal)
{
  char name[64];
  snprintf(name, sizeof name, CORNER[corner], part, signal);
  return car_signal(c, name);
}

/* Solves the normal equations HᵀH z = r of H = [1, y, −x] by Gaussian elimination; HᵀH is positive definite.
 */
static void solve_normal(const double r[3], double z[3])
{
  double A[3][4];
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      A[i][j] = 0;
      for (int k = 0; k < 4; k++) {
        const double H[3] = {1, PLACE[k][1], -PLACE[k][0]};
        A[i][j] += H[i] * H[j];
      }
    }
    A[i][3] = r[i];
  }
  for (int k = 0; k < 3; k++)
    for (int i = 0; i < 3; i++)
      for (int j = 3; i != k && j >= k; j--) A[i][j] -= A[i][k] / A[k][k] * A[k][j];
  for (int i = 0; i < 3; i++) z[i] = A[i][3] / A[i][i];
}

/* The current of a corner by the speeds of the modes: f = H (HᵀH)⁻¹ (−K x_m), inverse damper, limit. */
static double expected_current(const double modes[3], int corner, double v)
{
  const double wanted[3] = {-20000 * modes[0], -10000 * modes[1], -40000 * modes[2]};
  const double Ap = 7.07e-4, Arod = 3.14e-4, Ar = Ap - Arod, soft = 1.5e-10, hard = 1.9e-11;
  double z[3];
  solve_normal(wanted, z);
  const double f = z[0] + PLACE[corner][1] * z[1] - PLACE[corner][0] * z[2], th = tanh(v / 0.02),
               area = Arod + (Ar - Arod) * (1 + th) / 2, p = -f * th / area,
               D = 0.5 * (p + sqrt(p * p + 4e8)), K = area * sqrt(v * v + 1e-4) / D,
               i = 0.3 + 1.3 * (soft - K) / (soft - hard);
  return 0.95 + 0.65 * tanh((i - 0.95) / 0.65);
}

static double check_flow(double dp)
{
  const double s = 0.5 * (dp + sqrt(dp * dp + 4e4)) - 100;
  return 6e-7 * s / pow(s * s + 1e10, 0.25);
}

/* Rates of the pressures p = (rebound, compression), by elongation l, its rate v, and the current i. */
static void pressure_rates(const double p[2], double l, double v, double i, double rate[2])
{
  const double Ap = 7.07e-4, Ar = Ap - 3.14e-4, K = 1.5e-10 - (1.5e-10 - 1.9e-11) * (i - 0.3) / 1.3;
  const double piston = check_flow(p[1] - p[0]), base = check_flow(-p[1]);
  rate[0] = 4e8 / (1.6e-4 - Ar * l) * (Ar * v + piston - K * p[0]);
  rate[1] = 4e8 / (2e-4 + Ap * l) * (-Ap * v - piston + base);
}

/* What a damper is given at the ends of a step. */
typedef struct stroke {
  double l, v, current;
} stroke;

static void pressure_rates_between(const double p[2], const stroke *a, const stroke *b, double h, double s,
                                   double rate[2])
{
  const double d = b->l - a->l, l = a->l + h * a->v * s + s * s * (3 * d - h * (2 * a->v + b->v)) +
                                    s * s * s * (h * (a->v + b->v) - 2 * d);
  pressure_rates(p, l, a->v + s * (b->v - a->v), a->current + s * (b->current - a->current), rate);
}

/* Runge and Kutta's method through one step of the car. */
static void advance_pressures(double p[2], const stroke *a, const stroke *b, double h, int n)
{
  for (int k = 0; k < n; k++) {
    const double s = (double)k / n, ds = 1.0 / n;
    double r[4][2], stage[2];
    pressure_rates_between(p, a, b, h, s, r[0]);
    for (int j = 1; j < 4; j++) {
      const double c = j == 3 ? 1 : 0.5;
      for (int i = 0; i < 2; i++) stage[i] = p[i] + c * ds * h * r[j - 1][i];
      pressure_rates_between(stage, a, b, h, s + c * ds, r[j]);
    }
    for (int i = 0; i < 2; i++) p[i] += ds * h / 6 * (r[0][i] + 2 * r[1][i] + 2 * r[2][i] + r[3][i]);
  }
}

/* Along the lane change: speeds of the modes by integration of the accelerometers, currents, pressures and
 * forces of all dampers, all by the equations above. */
static void dampers_follow_their_equations(void **state)
{
  const double h = 1e-3, Ap = 7.07e-4, Ar = Ap - 3.14e-4;
  double modes[3] = {0}, last[3] = {0}, p[4][2] = {{0}};
  stroke before[4];
  (void)state;
  car c = semi_open(h);
  for (int k = 0; k < 4; k++) {
    before[k] = (stroke){0, 0, corner_signal(&c, k, "current", "")};
    assert_near(corner_signal(&c, k, "rebound", ""), 0, 1e-9, "initial pressure");
    assert_near(corner_signal(&c, k, "damper", ".length"), k < 2 ? sqrt(0.2616) : sqrt(0.22931), 1e-12,
                "length");
  }
  for (int n = 0; n < (rig_brief() ? 30 : 2300); n++) {
    double r[3] = {0}, acc[3];
    car_run(&c, h, 1);
    for (int k = 0; k < 4; k++) {
      const double a = corner_signal(&c, k, "point", ".az");
      r[0] += a, r[1] += PLACE[k][1] * a, r[2] -= PLACE[k][0] * a;
    }
    solve_normal(r, acc);
    for (int i = 0; i < 3; i++) {
      modes[i] = (modes[i] * (1 - 0.25 * h) + 0.5 * h * (last[i] + acc[i])) / (1 + 0.25 * h);
      last[i] = acc[i];
    }
    for (int k = 0; k < 4; k++) {
      const double v = corner_signal(&c, k, "damper", ".rate");
      const stroke now = {corner_signal(&c, k, "damper", ".length") - (k < 2 ? sqrt(0.2616) : sqrt(0.22931)),
                          v, expected_current(modes, k, v)};
      advance_pressures(p[k], &before[k], &now, h, 10);
      before[k] = now;
      assert_near(corner_signal(&c, k, "current", ""), now.current, 1e-3, "current");
      assert_near(corner_signal(&c, k, "rebound", "") / 4e5, p[k][0] / 4e5, 1e-3, "rebound pressure");
      assert_near(corner_signal(&c, k, "compression", "") / 4e5, p[k][1] / 4e5, 1e-3, "compression pressure");
      assert_near(corner_signal(&c, k, "damper", ".force"),
                  Ar * corner_signal(&c, k, "rebound", "") - Ap * corner_signal(&c, k, "compression", ""),
                  1e-9, "force");
    }
  }
  assert_near(car_signal(&c, "modes.y2"), modes[1], 1e-5, "speed of roll");
  car_close(&c);
}

/* The compression pressure is low while a damper extends, and close to the rebound pressure while it is
 * compressed. Currents reach the lower limit, and 1.43 A of the 1.51 A that the law asks for at most. */
static void pressures_and_currents(void **state)
{
  const double h = 1e-2;
  double least = 2, most = 0;
  int extending = 0, compressing = 0;
  (void)state;
  if (rig_brief()) return;
  car c = semi_open(h);
  for (int n = 0; n < 600; n++) {
    car_run(&c, h, 1);
    for (int k = 0; k < 4; k++) {
      const double v = corner_signal(&c, k, "damper", ".rate"), i = corner_signal(&c, k, "current", ""),
                   pr = corner_signal(&c, k, "rebound", ""), pc = corner_signal(&c, k, "compression", "");
      least = fmin(least, i), most = fmax(most, i);
      assert_true(i > 0.3 && i < 1.6);
      if (v > 0.01) {
        extending++;
        assert_true(pc < 0 && pc > -0.2 * pr && pc > -2e4);
      } else if (v < -0.01) {
        compressing++;
        assert_true(pc > pr && pc < 1.2 * pr);
      }
    }
  }
  assert_true(extending > 300 && compressing > 300);
  assert_true(least < 0.301 && most > 1.43);
  assert_near(car_signal(&c, "chassis.x"), 59.574027, 1e-3, "x");
  assert_near(car_signal(&c, "chassis.y"), -3.040613, 1e-3, "y");
  assert_near(car_signal(&c, "energy.balance"), 0, 0.1, "energy balance");
  car_close(&c);
}

/* Order 2 in positions, velocities, accelerations, reactions, pressures, states and outputs of the
 * controller. */
static void semi_active_order_is_two(void **state)
{
  static const char *const NAME[] = {"chassis.y",     "chassis.roll",      "chassis.vy",     "chassis.wx",
                                     "chassis.ay",    "chassis.az",        "tie_rod0.fy",    "lower_ball0.fz",
                                     "rear_rebound1", "rear_compression1", "front_rebound0", "modes.x2",
                                     "modes.x1",      "rear_current1"};
  enum { N = sizeof NAME / sizeof *NAME };
  double value[3][N];
  (void)state;
  if (rig_brief()) return;
  for (int level = 0; level < 3; level++) {
    const double h = 4e-3 / (1 << level);
    car c = semi_open(h);
    car_run(&c, h, 400 << level);
    for (int i = 0; i < N; i++) value[level][i] = car_signal(&c, NAME[i]);
    car_close(&c);
  }
  for (int i = 0; i < N; i++)
    assert_near(log2(fabs((value[0][i] - value[1][i]) / (value[1][i] - value[2][i]))), 2, 0.2, NAME[i]);
}

/* Both methods that feed back accelerations agree; the others say what they cannot do. */
static void methods_agree(void **state)
{
  static const ga_method REFUSING[] = {GA_SOI2, GA_HHT_SOI2, GA_WEIGHTED};
  const double h = 2e-3;
  const int n = rig_brief() ? 10 : 800;
  (void)state;
  car c = semi_open(h), d = car_open_with(&(car_opts){"car_semi_active", NULL, h, 0.9, GA_INDEX3, GA_REUSE});
  car_run(&c, h, n);
  car_run(&d, h, n);
  assert_near(car_signal(&c, "chassis.y"), car_signal(&d, "chassis.y"), 1e-5, "y");
  assert_near(car_signal(&c, "chassis.ay"), car_signal(&d, "chassis.ay"), 1e-4, "acceleration");
  assert_near(car_signal(&c, "tie_rod0.fy"), car_signal(&d, "tie_rod0.fy"), 0.1, "tie rod");
  assert_near(car_signal(&c, "rear_rebound1"), car_signal(&d, "rear_rebound1"), 100, "pressure");
  assert_near(car_signal(&c, "rear_current1"), car_signal(&d, "rear_current1"), 1e-4, "current");
  car_close(&c);
  car_close(&d);
  for (size_t i = 0; i < sizeof REFUSING / sizeof *REFUSING; i++) {
    const car_opts opts = {"car_semi_active", NULL, h, 0.9, REFUSING[i], GA_REUSE};
    car e = {0};
    car_read(&e, &opts);
    assert_true(car_start(&e, &opts) != GA_OK);
    assert_non_null(
        strstr(ga_context_error(e.ctx)->text, "cannot feed back accelerations: 'front_point0.az'"));
    car_close(&e);
  }
}

/* Steps of 20 ms, little and much numerical damping: the lateral displacement at 2 s. Dampers change their
 * direction within such steps, which takes Newton's method proper. Other tests take 1, 2, 4 and 10 ms. */
static void large_steps(void **state)
{
  static const double RHO[] = {0.5, 0.95};
  const double h = 0.02;
  (void)state;
  if (rig_brief()) return;
  for (size_t i = 0; i < sizeof RHO / sizeof *RHO; i++) {
    car c = car_open_with(&(car_opts){"car_semi_active", NULL, h, RHO[i], GA_STABILIZED, GA_FRESH_ITERATION});
    car_run(&c, h, 100);
    assert_near(car_signal(&c, "chassis.y"), -0.6652255, 1e-3, "y");
    car_close(&c);
  }
}

/* ---- Manoeuvres ---- */

/* Root mean squares of the chassis' accelerations in heave, roll and pitch over the bump, 1.2 s. */
static void bump_accelerations(const char *file, const char *set, double rms[3])
{
  const double h = 1e-3;
  const int n = 1200;
  car c = car_open_with(&(car_opts){file, set, h, 0.9, GA_STABILIZED, GA_REUSE});
  double wx = 0, wy = 0;
  rms[0] = rms[1] = rms[2] = 0;
  for (int i = 0; i < n; i++) {
    car_run(&c, h, 1);
    const double heave = car_signal(&c, "chassis.az"), roll = (car_signal(&c, "chassis.wx") - wx) / h,
                 pitch = (car_signal(&c, "chassis.wy") - wy) / h;
    wx += roll * h, wy += pitch * h;
    rms[0] += heave * heave / n, rms[1] += roll * roll / n, rms[2] += pitch * pitch / n;
  }
  for (int i = 0; i < 3; i++) rms[i] = sqrt(rms[i]);
  car_close(&c);
}

/* Over a bump, control lowers the accelerations in heave, roll and pitch to 63, 79 and 65 % of those of
 * passive dampers, and to 91, 93 and 94 % of those of the same dampers without control. */
static void control_lowers_accelerations(void **state)
{
  static const double BY_PASSIVE[3] = {0.63, 0.79, 0.65}, BY_SOFT[3] = {0.91, 0.93, 0.94};
  double passive[3], soft[3], controlled[3];
  (void)state;
  if (rig_brief()) return;
  bump_accelerations("car_bump", NULL, passive);
  bump_accelerations("car_bump_semi_active", "gain=0", soft);
  bump_accelerations("car_bump_semi_active", NULL, controlled);
  for (int i = 0; i < 3; i++) {
    assert_near(controlled[i] / passive[i], BY_PASSIVE[i], 0.01, "control by passive dampers");
    assert_near(controlled[i] / soft[i], BY_SOFT[i], 0.01, "control by no control");
  }
}

/* In a steady turn the side forces of the tyres hold the car on its circle: m v ψ' = Σ F_y, and the car leans
 * outwards. */
static void step_steer_ends_in_a_circle(void **state)
{
  static const char *const SIDE[4] = {"front_tyre0.fy", "front_tyre1.fy", "rear_tyre0.fy", "rear_tyre1.fy"};
  const double h = 1e-2;
  (void)state;
  if (rig_brief()) return;
  car c = car_open_with(&(car_opts){"car_step_steer", NULL, h, 0.9, GA_STABILIZED, GA_REUSE});
  car_run(&c, h, 400);
  double side = 0;
  for (int k = 0; k < 4; k++) side += car_signal(&c, SIDE[k]);
  const double speed = hypot(car_signal(&c, "chassis.vx"), car_signal(&c, "chassis.vy")),
               lateral = speed * car_signal(&c, "chassis.wz");
  const double transfer = car_signal(&c, "front_tyre0.fz") - car_signal(&c, "front_tyre1.fz") +
                          car_signal(&c, "rear_tyre0.fz") - car_signal(&c, "rear_tyre1.fz");
  assert_true(fabs(lateral) > 1);
  assert_near(side / (1673 * lateral), 1, 0.03, "side forces");
  assert_true(car_roll(&c) * lateral > 0 && transfer * lateral < 0);
  car_close(&c);
}

/* Brakes take the speed that their torque takes by the wheels' radius, as long as no wheel locks. */
static void brakes_stop_the_car(void **state)
{
  const double h = 1e-2;
  (void)state;
  if (rig_brief()) return;
  car c = car_open_with(&(car_opts){"car_brake_in_turn", NULL, h, 0.9, GA_STABILIZED, GA_REUSE});
  car_run(&c, h, 220);
  const double before = hypot(car_signal(&c, "chassis.vx"), car_signal(&c, "chassis.vy"));
  car_run(&c, h, 100);
  const double after = hypot(car_signal(&c, "chassis.vx"), car_signal(&c, "chassis.vy"));
  assert_near((before - after) / (2 * 900 / 0.32 / 1673), 1, 0.1, "deceleration");
  assert_true(car_signal(&c, "front_hub1.angle_rate") > 10);
  car_close(&c);
}

/* The posts at a low frequency carry the car up and down with them. */
static void posts_lift_the_car(void **state)
{
  const double h = 5e-3;
  (void)state;
  if (rig_brief()) return;
  car c = car_open_with(&(car_opts){"car_four_post", NULL, h, 0.9, GA_STABILIZED, GA_REUSE});
  car_run(&c, h, 100);
  const double t = 100 * h, height = 4e-3 * sin(2 * acos(-1.0) * (0.5 * t + 14.5 / 40 * t * t));
  assert_near(car_signal(&c, "front_tyre0.z"), height, 1e-6, "contact on the post");
  assert_near((car_signal(&c, "chassis.z") - 0.55) / height, 1.2, 0.3, "chassis by post");
  assert_near(car_signal(&c, "chassis.vx"), 0, 1e-3, "standstill");
  car_close(&c);
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
  "VERTICAL_STIFFNESS = 2.2e5\n[X]\nPCX1 = 1.6\nPDX1 = 1.1 ! grip\nPKX1 = 2e1\nPTZ1 = nothing\n[Y]\n"        \
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

/* The same tyre in other units: millimetres and kilonewtons, milliseconds. */
static void check_units_of_files(void)
{
  static const char *const FILES[] = {
      "\xef\xbb\xbf[UNITS]\nLENGTH='mm'\nFORCE='kN'\nTIME='ms'\nMASS='kg'\n[DIMENSION]\nUNLOADED_RADIUS=340\n"
      "[VERTICAL]\nFNOMIN=4\nVERTICAL_STIFFNESS=0.22\nVERTICAL_DAMPING=6\n",
      "[DIMENSION]\nUNLOADED_RADIUS=13.385826771653543\n[VERTICAL]\nFNOMIN=899.235772398842\nVERTICAL_"
      "STIFFNESS="
      "1256.2323740411823\nVERTICAL_DAMPING=34.2608830087\n[UNITS]\nLENGTH='inch'\nFORCE='pound_force'\n"};
  char tir[1024], message[512];
  double fz = 0;
  for (int i = 0; i < 2; i++) {
    snprintf(tir, sizeof tir, "%s[X]\nPCX1=1.6\nPDX1=1\nPKX1=20\nPCY1=1.3\nPDY1=1\nPKY1=-17\nPKY2=2\n",
             FILES[i]);
    read_tyre(tir, "", message, sizeof message, &fz);
    assert_string_equal(message, "");
    assert_near(fz, 2.2e5 * 0.04, 1e-6, "load");
    read_tyre(tir, ", preload: 10", message, sizeof message, &fz);
    assert_near(fz, 2.2e5 * 0.04 + 10, 1e-6, "load with a preload in N");
  }
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
  expect_message(RIGHT "[UNITS]\nLENGTH = 'mile'\n", "", "t.tir:29: expected meter, millimeter");
  expect_message(RIGHT "[UNITS]\nANGLE = 'degrees'\n", "", "t.tir:29: expected radians, found 'degrees'");
  expect_message(RIGHT "[MODEL]\nPROPERTY_FILE_FORMAT = 'PAC_MC'\n", "",
                 "t.tir:29: expected a format with the equations");
  expect_message(RIGHT "[MODEL]\nPROPERTY_FILE_FORMAT = 'PAC2002'\n", "", "");
  expect_message("", ", nominal_load: 1, pcx1: 1, pdx1: 1, pkx1: 1, pcy1: 1, pdy1: 1, pky1: -1, pky2: 1",
                 "radius is 0");
  expect_message("", ", radius: 0.3, stiffness: 1e5", "'t.tir' does not give FNOMIN");
  expect_message("[X]\nPCX1=1.6\nPDX1=1\nPKX1=20\nPCY1=1.3\nPDY1=1\nPKY1=-17\nPKY2=2\n",
                 ", radius: 0.3, stiffness: 2e5, nominal_load: 4000", "");
  expect_message("[X]\nPCX1=1.6\nPKX1=20\nPCY1=1.3\nPDY1=1\nPKY1=-17\nPKY2=2\n",
                 ", radius: 0.3, stiffness: 2e5, nominal_load: 4000", "does not give PDX1");
  expect_message(RIGHT, ", pky1: 17", "pky1 is 17");
  expect_message(RIGHT "[MODEL]\nTYRESIDE = 'LEFT'\n", ", side: right", "");
  expect_message(RIGHT "[MODEL]\nTYRESIDE = 'SYMMETRIC'\n", ", side: right", "");
  expect_message(RIGHT, ", side: right", "'t.tir' does not give TYRESIDE");
  expect_message(RIGHT "[MODEL]\nTYRESIDE = 'LEFT'\n", ", side: top", "left");
  check_units_of_files();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lane_change),
      cmocka_unit_test(both_sides_mirror_each_other),
      cmocka_unit_test(straight_ahead),
      cmocka_unit_test(order_is_two),
      cmocka_unit_test(dampers_follow_their_equations),
      cmocka_unit_test(pressures_and_currents),
      cmocka_unit_test(semi_active_order_is_two),
      cmocka_unit_test(methods_agree),
      cmocka_unit_test(large_steps),
      cmocka_unit_test(control_lowers_accelerations),
      cmocka_unit_test(step_steer_ends_in_a_circle),
      cmocka_unit_test(brakes_stop_the_car),
      cmocka_unit_test(posts_lift_the_car),
      cmocka_unit_test_setup_teardown(property_files, make_folder, remove_folder),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
