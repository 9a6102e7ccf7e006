/* Blocks put together in systems of the core: responses against closed forms, order 2, anti-windup, algebraic
 * loops. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "control_rig.h"

#define PI 3.14159265358979323846

/* ---- Order ---- */

/* Steps of size t_end/n, t_end/2n, t_end/4n: the error of outputs `first` to `first` + count must fall with
 * order 2, and be below `limit` at the last. exact writes the outputs. */
static void assert_order(rig *r, diagram *d, double t_end, int n, int first, int count, double limit,
                         void (*exact)(double t, double *y))
{
  double error[3] = {0, 0, 0}, y[MOST_SIGNALS];
  for (int level = 0; level < 3; level++, n *= 2) {
    diagram_restart(r, d, t_end / n);
    for (int i = 0; i < n; i++) {
      rig_steps(r, t_end / n, 1);
      const ga_state *s = ga_stepper_state(r->st);
      exact(s->t, y);
      for (int k = 0; k < count; k++) error[level] = fmax(error[level], fabs(s->y[first + k] - y[k]));
    }
  }
  for (int level = 1; level < 3; level++) {
    const double order = log2(error[level - 1] / error[level]);
    if (!(order > 1.9 && order < 2.2))
      fail_msg("order %.3f, errors %.3e %.3e %.3e", order, error[0], error[1], error[2]);
  }
  assert_below(error[2], limit, "error at the smallest step");
}

/* The derivatives of the whole diagram at its present state. */
static void assert_derivatives(const rig *r)
{
  const ga_state *s = ga_stepper_state(r->st);
  const ga_point p = {s->t, s->q, s->v, s->vdot, s->lambda, s->psi, s->x, s->y, 0, NULL};
  assert_status(r->ctx, ga_system_check(r->sys, &p, 1e-7, NULL), GA_OK);
}

static void add_constant(rig *r, diagram *d, double value)
{
  ga_control_block *b = NULL;
  MAKE(r->ctx, constant, &b, o.value = &value);
  diagram_add(d, b, NULL);
}

/* ---- A PI controller and a plant 1/(s+1), setpoint 1: y'' + 3 y' + 4.25 y = 4.25, y'(0) = kp = 2 ---- */

static void pi_exact(double t, double *y)
{
  const double w = sqrt(2);
  y[0] = 1 - exp(-1.5 * t) * (cos(w * t) - 0.5 / w * sin(w * t));
}

static void pi_closed_loop(void **state)
{
  diagram d;
  rig r = diagram_rig(&d);
  ga_control_block *b = NULL;
  (void)state;
  add_constant(&r, &d, 1);
  MAKE(r.ctx, pid, &b, (o.kp = 2, o.ki = 4.25));
  diagram_add(&d, b, (const int[]){0, 2});
  MAKE(r.ctx, first_order, &b, (void)0);
  diagram_add(&d, b, (const int[]){1});
  assert_order(&r, &d, 3, 60, 2, 1, 1e-4, pi_exact);
  assert_derivatives(&r);
  diagram_close(&r, &d);
}

/* ---- A PID controller with filter and weights on a plant 2/(0.5s+1): states i, d, z, by the matrix
 * exponential ---- */

static const double KP = 1.5, KI = 4, KD = 0.3, TF = 0.05, WEIGHT = 0.7, WEIGHT_D = 0.1;

/* With r = 1, m = z: v = kp (b − z) + i + kd/Tf (c − z − d); i' = ki (1 − z); d' = (c − z − d)/Tf; z' = 4 v −
 * 2 z. */
static void pid_rate(double *rate, const double *s)
{
  const double filter = (WEIGHT_D - s[2] - s[1]) / TF, v = KP * (WEIGHT - s[2]) + s[0] + KD * filter;
  rate[0] = KI * (1 - s[2]);
  rate[1] = filter;
  rate[2] = 4 * v - 2 * s[2];
}

/* s(t) of the linear system by its Taylor series, in pieces short enough for it to converge fast: the k-th
 * term is h/k times the rate, less that at 0, of the one before. */
static void pid_exact(double t, double *y)
{
  double s[3] = {0, 0, 0}, at_zero[3];
  const double zero[3] = {0, 0, 0};
  const int pieces = (int)ceil(t * 100);
  const double h = t / (pieces > 0 ? pieces : 1);
  pid_rate(at_zero, zero);
  for (int p = 0; p < pieces; p++) {
    double term[3], rate[3];
    pid_rate(rate, s);
    for (int i = 0; i < 3; i++) term[i] = h * rate[i];
    for (int k = 2; k < 30; k++) {
      for (int i = 0; i < 3; i++) s[i] += term[i];
      pid_rate(rate, term);
      for (int i = 0; i < 3; i++) term[i] = h / k * (rate[i] - at_zero[i]);
    }
  }
  const double filter = (WEIGHT_D - s[2] - s[1]) / TF;
  y[0] = KP * (WEIGHT - s[2]) + s[0] + KD * filter;
  y[1] = s[2];
}

static void pid_closed_loop(void **state)
{
  diagram d;
  rig r = diagram_rig(&d);
  ga_control_block *b = NULL;
  (void)state;
  add_constant(&r, &d, 1);
  MAKE(r.ctx, pid, &b,
       (o.kp = KP, o.ki = KI, o.kd = KD, o.filter_time = TF, o.setpoint_weight = WEIGHT,
        o.setpoint_weight_derivative = WEIGHT_D));
  diagram_add(&d, b, (const int[]){0, 2});
  MAKE(r.ctx, first_order, &b, (o.gain = 2, o.time_constant = 0.5));
  diagram_add(&d, b, (const int[]){1});
  assert_order(&r, &d, 2, 800, 1, 2, 1e-4, pid_exact);
  diagram_close(&r, &d);
}

/* ---- Filters of second order: responses to a step ---- */

static const double FREQUENCY = 0.5, DAMPING = 0.3, GAIN = 2;

static void second_order_exact(double t, double *y)
{
  const double w0 = 2 * PI * FREQUENCY, w = w0 * sqrt(1 - DAMPING * DAMPING), decay = exp(-DAMPING * w0 * t);
  const double c = decay * cos(w * t), s = decay * sin(w * t), slope = DAMPING * w0 / w;
  y[0] = GAIN * (1 - c - slope * s);      /* low-pass */
  y[1] = GAIN * (c - slope * s);          /* high-pass */
  y[2] = GAIN * 2 * DAMPING * w0 * s / w; /* band-pass */
}

static void second_order_filters(void **state)
{
  diagram d;
  rig r = diagram_rig(&d);
  (void)state;
  add_constant(&r, &d, 1);
  for (int pass = 0; pass < 3; pass++) {
    ga_control_block *b = NULL;
    MAKE(r.ctx, second_order, &b,
         (o.gain = GAIN, o.frequency = FREQUENCY, o.damping = DAMPING, o.pass = (ga_filter_pass)pass));
    diagram_add(&d, b, (const int[]){0});
  }
  assert_order(&r, &d, 4, 400, 1, 3, 1e-3, second_order_exact);
  diagram_close(&r, &d);
}

/* ---- Delay of a sine ---- */

/* Amplitude and phase of Padé's 2/3 approximant of exp(−z), z = iωT, in steady state:
 * (1 − 2z/5 + z²/20)/(1 + 3z/5 + 3z²/20 + z³/60). */
static const double DELAY = 0.3, OMEGA = 2 * PI;

static void delay_exact(double t, double *y)
{
  const double z = OMEGA * DELAY;
  const double p[] = {1 - z * z / 20, -2 * z / 5}, q[] = {1 - 3 * z * z / 20, 3 * z / 5 - z * z * z / 60};
  const double size = hypot(p[0], p[1]) / hypot(q[0], q[1]), phase = atan2(p[1], p[0]) - atan2(q[1], q[0]);
  y[0] = size * sin(OMEGA * t + phase);
}

static void delay_of_a_sine(void **state)
{
  diagram d;
  rig r = diagram_rig(&d);
  ga_function *wave = NULL;
  ga_wave_opts w = ga_wave_defaults();
  ga_control_block *b = NULL;
  double error[3];
  (void)state;
  assert_status(r.ctx, ga_function_create_wave(r.ctx, &w, &wave), GA_OK);
  MAKE(r.ctx, function_of_time, &b, o.function = wave);
  diagram_add(&d, b, NULL);
  MAKE(r.ctx, delay, &b, o.time = DELAY);
  diagram_add(&d, b, (const int[]){0});
  for (int level = 0; level < 3;
       level++) { /* over the fifth second: the slowest pole decays with exp(−12 t) */
    const int n = 50 << level;
    diagram_restart(&r, &d, 1.0 / n);
    error[level] = 0;
    for (int i = 0; i < 5 * n; i++) {
      double y[1];
      rig_steps(&r, 1.0 / n, 1);
      const ga_state *s = ga_stepper_state(r.st);
      delay_exact(s->t, y);
      if (i >= 4 * n) error[level] = fmax(error[level], fabs(s->y[1] - y[0]));
    }
  }
  assert_near(log2(error[0] / error[1]), 2, 0.1, "order");
  assert_near(log2(error[1] / error[2]), 2, 0.05, "order");
  assert_below(error[2], 2e-3, "error at the smallest step");
  /* and the delay itself is met to the accuracy of Padé's approximant, 0.3 % at this frequency */
  double worst = 0, y[1];
  for (double t = 0; t < 1; t += 0.01) {
    delay_exact(t, y);
    worst = fmax(worst, fabs(y[0] - sin(OMEGA * (t - DELAY))));
  }
  assert_below(worst, 0.01, "the approximant against the delay");
  ga_function_destroy(&wave);
  diagram_close(&r, &d);
}

/* ---- A transfer function against the same in state space, of another form ---- */

static void transfer_function_against_state_space(void **state)
{
  /* (s² + 4 s + 10)/((s+1)(s+2)(s+5)) by partial fractions: (7/4)/(s+1) − 2/(s+2) + (5/4)/(s+5) */
  static const double num[] = {1, 4, 10}, den[] = {1, 8, 17, 10};
  static const double A[] = {-1, 0, 0, 0, -2, 0, 0, 0, -5}, B[] = {1, 1, 1}, C[] = {1.75, -2, 1.25};
  diagram d;
  rig r = diagram_rig(&d);
  ga_control_block *b = NULL;
  double worst = 0, largest = 0;
  (void)state;
  add_constant(&r, &d, 1);
  MAKE(r.ctx, transfer_function, &b, (o.n_num = 3, o.num = num, o.n_den = 4, o.den = den));
  diagram_add(&d, b, (const int[]){0});
  MAKE(r.ctx, state_space, &b, (o.n_in = o.n_out = 1, o.n_x = 3, o.A = A, o.B = B, o.C = C));
  diagram_add(&d, b, (const int[]){0});
  diagram_start(&r, &d, 0.01);
  for (int i = 0; i < 500; i++) {
    rig_steps(&r, 0.01, 1);
    const double *y = ga_stepper_state(r.st)->y;
    worst = fmax(worst, fabs(y[1] - y[2]));
    largest = fmax(largest, fabs(y[1]));
  }
  assert_near(largest, 1, 0.1, "largest response");
  assert_below(worst, 1e-12, "two realisations of one transfer function");
  diagram_close(&r, &d);
}

/* ---- Wind-up ---- */

/* A plant 1/(s+1) that can be driven to 1 at most; the setpoint is 5 until t = 10, then 0.5. Returns the time
 * after that at which the controller leaves its limit, and the largest integral. */
static double time_at_limit(double tracking_time, double smoothing, double *largest)
{
  static const char *const text[] = {"if(t < 10, 5, 0.5)"};
  diagram d;
  rig r = diagram_rig(&d);
  ga_control_block *b = NULL;
  ga_block_expression_opts e = ga_block_expression_defaults();
  double left = -1;
  e.texts = text;
  assert_status(r.ctx, ga_block_create_expression(r.ctx, &e, NULL, NULL, &b), GA_OK);
  diagram_add(&d, b, NULL);
  MAKE(r.ctx, pid, &b,
       (o.kp = 2, o.ki = 2, o.lower = -1, o.upper = 1, o.tracking_time = tracking_time,
        o.smoothing = smoothing));
  diagram_add(&d, b, (const int[]){0, 2});
  MAKE(r.ctx, first_order, &b, (void)0);
  diagram_add(&d, b, (const int[]){1});
  diagram_start(&r, &d, 0.01);
  *largest = 0;
  for (int i = 0; i < 10000; i++) {
    rig_steps(&r, 0.01, 1);
    const ga_state *s = ga_stepper_state(r.st);
    assert_true(s->y[1] <= 1 + 1e-9 && s->y[1] >= -1 - 1e-9);
    *largest = fmax(*largest, fabs(s->x[0]));
    if (left < 0 && s->t > 10.005 && s->y[1] < 0.99) left = s->t - 10;
  }
  if (tracking_time < 10) assert_near(ga_stepper_state(r.st)->y[2], 0.5, 1e-9, "plant at the end");
  diagram_close(&r, &d);
  return left;
}

static void anti_windup(void **state)
{
  double with, smooth, without;
  (void)state;
  assert_below(time_at_limit(0, 0, &with), 0.02, "time at the limit"); /* Tt = kp/ki = 1 s */
  assert_below(time_at_limit(0.1, 0.3, &smooth), 0.02, "time at the limit, smooth");
  assert_below(with, 1.1, "integral");
  assert_below(smooth, 8, "integral, smooth");
  assert_below(20, time_at_limit(1e6, 0, &without), "time at the limit without anti-windup");
  assert_below(70, without, "integral without anti-windup");
}

/* y stays within limits, x within tracking_time·|u| of them, and y leaves the limit soon after u changes
 * sign. */
static void integrator_at_its_limit(void **state)
{
  static const char *const text[] = {"if(t < 3, 2, -2)"};
  diagram d;
  rig r = diagram_rig(&d);
  ga_control_block *b = NULL;
  ga_block_expression_opts e = ga_block_expression_defaults();
  double left = -1;
  (void)state;
  e.texts = text;
  assert_status(r.ctx, ga_block_create_expression(r.ctx, &e, NULL, NULL, &b), GA_OK);
  diagram_add(&d, b, NULL);
  MAKE(r.ctx, integrator, &b, (o.lower = -1, o.upper = 1.5, o.tracking_time = 0.05));
  diagram_add(&d, b, (const int[]){0});
  diagram_start(&r, &d, 0.005);
  for (int i = 0; i < 1000; i++) {
    rig_steps(&r, 0.005, 1);
    const ga_state *s = ga_stepper_state(r.st);
    assert_true(s->y[1] >= -1 - 1e-9 && s->y[1] <= 1.5 + 1e-9); /* solved for, like all y */
    assert_below(s->x[0], 1.5 + 0.05 * 2 + 1e-4, "state beyond the limit");
    if (s->t < 0.74) assert_near(s->y[1], 2 * s->t, 1e-12, "below the limit");
    if (s->t > 0.8 && s->t < 2.99) assert_near(s->y[1], 1.5, 1e-9, "at the limit");
    if (left < 0 && s->t > 3 && s->y[1] < 1.5 - 1e-6) left = s->t - 3;
  }
  assert_near(ga_stepper_state(r.st)->y[1], -1, 1e-9, "at the lower limit");
  assert_near(left, 0.05 * log(2), 0.01,
              "time to leave the limit"); /* x − 1.5 from 0.1, with rate −2 − (x−1.5)/0.05 */
  diagram_close(&r, &d);
}

/* ---- An algebraic loop: y = tanh(g y + u(t)) ---- */

static double solved_by_bisection(double g, double u)
{
  double low = -1, high = 1;
  for (int i = 0; i < 60; i++) {
    const double middle = 0.5 * (low + high);
    if (middle - tanh(g * middle + u) > 0)
      high = middle;
    else
      low = middle;
  }
  return 0.5 * (low + high);
}

static void algebraic_loop(void **state)
{
  (void)state;
  for (int with_state = 0; with_state < 2; with_state++) {
    const double weights[] = {-3, 1};
    diagram d;
    rig r = diagram_rig(&d);
    ga_function *wave = NULL;
    ga_wave_opts w = ga_wave_defaults();
    ga_control_block *b = NULL;
    w.amplitude = 2;
    assert_status(r.ctx, ga_function_create_wave(r.ctx, &w, &wave), GA_OK);
    MAKE(r.ctx, function_of_time, &b, o.function = wave);
    diagram_add(&d, b, NULL);
    MAKE(r.ctx, sum, &b, o.weights = weights);
    diagram_add(&d, b, (const int[]){2, 0});
    MAKE(r.ctx, tanh, &b, (void)0);
    diagram_add(&d, b, (const int[]){1});
    if (with_state) {
      MAKE(r.ctx, integrator, &b, (void)0);
      diagram_add(&d, b, (const int[]){2});
    }
    diagram_start(&r, &d, 0.02);
    for (int i = 0; i < 100; i++) {
      rig_steps(&r, 0.02, 1);
      const ga_state *s = ga_stepper_state(r.st);
      assert_near(s->y[2], solved_by_bisection(-3, s->y[0]), 1e-10, "y = tanh(g y + u)");
      assert_near(s->y[0], 2 * sin(2 * PI * s->t), 1e-12, "u(t)");
    }
    assert_derivatives(&r);
    ga_function_destroy(&wave);
    diagram_close(&r, &d);
  }
}

/* ---- A user's block in a simulation: with and without Jacobian the same motion ---- */

static void user_block_runs(void **state)
{
  double end[2][2];
  (void)state;
  for (int given = 0; given < 2; given++) {
    diagram d;
    rig r = diagram_rig(&d);
    ga_control_block *b = NULL;
    add_constant(&r, &d, 0.7);
    MAKE(r.ctx, user, &b, (RIG_USER, o.jacobian = given ? rig_user_jacobian : NULL));
    diagram_add(&d, b, (const int[]){0, 0});
    diagram_start(&r, &d, 0.02);
    rig_steps(&r, 0.02, 100);
    memcpy(end[given], ga_stepper_state(r.st)->x, sizeof end[given]);
    diagram_close(&r, &d);
  }
  for (int i = 0; i < 2; i++) assert_near(end[0][i], end[1][i], 1e-9, "state at the end");
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(pi_closed_loop),
                                     cmocka_unit_test(pid_closed_loop),
                                     cmocka_unit_test(second_order_filters),
                                     cmocka_unit_test(delay_of_a_sine),
                                     cmocka_unit_test(transfer_function_against_state_space),
                                     cmocka_unit_test(anti_windup),
                                     cmocka_unit_test(integrator_at_its_limit),
                                     cmocka_unit_test(algebraic_loop),
                                     cmocka_unit_test(user_block_runs)};
  return cmocka_run_group_tests_name("control: responses", tests, NULL, NULL);
}
