/* Functions of time, tables, motion laws, and their use in expressions. */
#include "expr_rig.h"

#define PI 3.14159265358979323846

/* y, y', y'' at t, of a function that must exist there. */
static void at(double out[3], const ga_function *f, double t)
{
  ga_fault fault;
  if (ga_function_eval(f, t, 2, out, &fault)) {
    char words[200];
    ga_fault_text(words, sizeof words, &fault);
    fail_msg("t = %g: %s", t, words);
  }
  double less[2];
  assert_int_equal(ga_function_eval(f, t, 0, less, NULL), GA_OK);
  assert_true(less[0] == out[0]);
  assert_int_equal(ga_function_eval(f, t, 1, less, NULL), GA_OK);
  assert_true(less[1] == out[1]);
}

/* y' and y'' against differences; the function must be smooth over t ± 2h. */
static void check_rates(const ga_function *f, double t, double tolerance)
{
  const double h = 1e-3;
  double here[3], y[4], rate[4];
  at(here, f, t);
  for (int k = 0; k < 4; k++) {
    double out[3];
    at(out, f, t + difference4_at[k] * h);
    y[k] = out[0];
    rate[k] = out[1];
  }
  assert_near(here[1], difference4(y, h), tolerance, "first derivative");
  assert_near(here[2], difference4(rate, h), tolerance, "second derivative");
}

static ga_function *motion(fixture *f, ga_motion_law law)
{
  ga_motion_opts opts = ga_motion_defaults();
  ga_function *m = NULL;
  opts.law = law;
  opts.t_start = 1;
  opts.duration = 2;
  opts.from = -1;
  opts.to = 5;
  opts.ramp = 0.2;
  assert_int_equal(ga_function_create_motion(f->ctx, &opts, &m), GA_OK);
  return m;
}

/* ---- Motion laws ---- */

static void motions_rest_outside(void **state)
{
  for (int law = 0; law < GA_N_MOTIONS; law++) {
    ga_function *m = motion(*state, (ga_motion_law)law);
    double out[3];
    for (int k = 0; k < 4; k++) {
      const double t[4] = {-1e9, 0.999999, 3, 1e9};
      at(out, m, t[k]);
      assert_true(out[0] == (k < 2 ? -1 : 5) && out[1] == 0 && out[2] == 0);
    }
    at(out, m, 2); /* every law is symmetric about its middle */
    assert_near(out[0], 2, 1e-15, ga_motion_name((ga_motion_law)law));
    for (double u = 0.01; u < 1; u += 0.01) {
      double left[3], right[3];
      at(left, m, 2 - u);
      at(right, m, 2 + u);
      assert_near(left[0] + right[0], 4, 1e-14, "symmetry of positions");
      assert_near(left[1], right[1], 1e-13, "symmetry of velocities");
      assert_true(right[0] > left[0] && left[1] >= 0);
    }
    ga_function_destroy(&m);
  }
}

/* What the list says is continuous is so, at the ends and inside; what comes next jumps or bends somewhere.
 */
static void motions_are_as_smooth_as_promised(void **state)
{
  static const char *const promised[GA_N_MOTIONS] = {
#define CONTINUOUS(law, name, continuous) [law] = continuous,
      GA_MOTION_LIST(CONTINUOUS)};
  static const char *const levels[] = {"position", "velocity", "acceleration", "jerk"};
  for (int law = 0; law < GA_N_MOTIONS; law++) {
    ga_function *m = motion(*state, (ga_motion_law)law);
    double jump[4] = {0, 0, 0, 0};
    const double h = 1e-6;
    for (int k = 0; k <= 1000; k++) {
      double out[4][3];
      const double t = 1 + 0.002 * k; /* the ends of the trapezoid's ramps are among them */
      for (int i = 0; i < 4; i++) at(out[i], m, t + (i - 1.5) * h);
      for (int d = 0; d < 3; d++) jump[d] = fmax(jump[d], fabs(out[2][d] - out[1][d]));
      jump[3] = fmax(jump[3], fabs((out[3][2] - out[2][2]) - (out[1][2] - out[0][2])) / h);
    }
    int level = -1;
    while (level < 3 && jump[level + 1] < 1e-2) level++;
    assert_true(level >= 0);
    assert_string_equal(levels[level], promised[law]);
    ga_function_destroy(&m);
  }
}

static void motions_differentiated(void **state)
{
  for (int law = 0; law < GA_N_MOTIONS; law++) {
    ga_function *m = motion(*state, (ga_motion_law)law);
    for (int k = 0; k < 50; k++) check_rates(m, 1.01 + 0.04 * k, 1e-9); /* between the bends */
    ga_function_destroy(&m);
  }
}

/* Peaks known from the theory of cams: of 2π for the cycloid, 5.77 for 3-4-5, 7.51 for 4-5-6-7. */
static void motion_peaks(void **state)
{
  static const double velocity[GA_N_MOTIONS] = {1, 1.25, 2, 1.875, 2.1875};
  static const double acceleration[GA_N_MOTIONS] = {0, 6.25, 2 * PI, 5.773502691896258, 7.513188404399293};
  for (int law = 0; law < GA_N_MOTIONS; law++) {
    ga_function *m = motion(*state, (ga_motion_law)law);
    double most[3] = {0, 0, 0};
    for (int k = 0; k <= 20000; k++) {
      double out[3];
      at(out, m, 1 + 2 * k / 20000.0);
      for (int d = 1; d < 3; d++) most[d] = fmax(most[d], fabs(out[d]));
    }
    assert_near(most[1] / 3, velocity[law], 1e-7, ga_motion_name((ga_motion_law)law));
    assert_near(most[2] / 1.5, acceleration[law], 1e-7, ga_motion_name((ga_motion_law)law));
    ga_function_destroy(&m);
  }
  assert_null(ga_motion_name(GA_N_MOTIONS));
  assert_string_equal(ga_motion_name(GA_MOTION_CYCLOIDAL), "cycloidal");
}

static void waves(void **state)
{
  fixture *f = *state;
  ga_wave_opts opts = ga_wave_defaults();
  ga_function *w = NULL;
  double out[3];
  opts.offset = 3;
  opts.amplitude = 2;
  opts.frequency = 5;
  opts.phase = 0.3;
  opts.t_start = 0.2;
  assert_int_equal(ga_function_create_wave(f->ctx, &opts, &w), GA_OK);
  for (double t = -1; t < 2; t += 0.0371) {
    const double angle = 0.3 + 10 * PI * (t - 0.2);
    at(out, w, t);
    assert_near(out[0], 3 + 2 * sin(angle), 1e-13, "sine");
    assert_near(out[1], 20 * PI * cos(angle), 1e-13, "its rate");
    assert_near(out[2], -200 * PI * PI * sin(angle), 1e-11, "its second rate");
  }
  ga_function_destroy(&w);

  opts.frequency = 1;
  opts.frequency_end = 4;
  opts.sweep = 3;
  assert_int_equal(ga_function_create_wave(f->ctx, &opts, &w), GA_OK);
  for (double t = 0.25; t < 3.15; t += 0.0471) {
    const double u = t - 0.2, angle = 0.3 + 2 * PI * (u + 0.5 * u * u);
    at(out, w, t);
    assert_near(out[0], 3 + 2 * sin(angle), 1e-13, "chirp");
    check_rates(w, t, 1e-6);
  }
  check_rates(w, -0.5, 1e-6);
  check_rates(w, 5, 1e-6);
  for (int end = 0; end < 2; end++) { /* value and rate go on where the sweep begins and ends */
    double before[3], after[3];
    at(before, w, 0.2 + 3 * end - 1e-9);
    at(after, w, 0.2 + 3 * end + 1e-9);
    assert_near(before[0], after[0], 1e-6, "value at the sweep's end");
    assert_near(before[1], after[1], 1e-5, "rate at the sweep's end");
  }
  at(out, w, 3.2 + 0.25); /* a turn of the last frequency, after 7.5 turns */
  assert_near(out[0], 3 + 2 * sin(0.3 + PI), 1e-12, "after the sweep");
  ga_function_destroy(&w);
}

/* ---- Expressions and constants ---- */

static void functions_of_expressions(void **state)
{
  fixture *f = *state;
  const ga_symbol more[] = {{"w", GA_SYMBOL_PARAMETER, 2, 3, NULL, NULL, NULL}};
  ga_function_expr_opts opts = ga_function_expr_defaults();
  ga_function *g = NULL;
  ga_text_error error;
  ga_fault fault;
  double out[3];
  opts.text = "t^2*sin(w*t)";
  opts.symbols = more;
  opts.n_symbols = 1;
  assert_int_equal(ga_function_create_expr(f->ctx, &opts, &error, &g), GA_OK);
  for (double t = -2; t < 2; t += 0.13) {
    at(out, g, t);
    assert_near(out[0], t * t * sin(3 * t), 1e-15, "value");
    assert_near(out[1], 2 * t * sin(3 * t) + 3 * t * t * cos(3 * t), 1e-14, "rate");
    assert_near(out[2], (2 - 9 * t * t) * sin(3 * t) + 12 * t * cos(3 * t), 1e-14, "second rate");
  }
  assert_int_equal(ga_function_set_parameter(g, 2, 1), GA_OK);
  at(out, g, 1);
  assert_near(out[0], sin(1), 1e-15, "after the parameter has changed");
  assert_int_equal(ga_function_set_parameter(g, 2, INFINITY), GA_ERR_ARGUMENT);
  assert_int_equal(ga_function_eval(g, NAN, 2, out, &fault), GA_RETRY_NAN);
  assert_int_equal(fault.kind, GA_FAULT_INPUT);
  ga_function_destroy(&g);

  opts.text = "1 + log(t)";
  assert_int_equal(ga_function_create_expr(f->ctx, &opts, &error, &g), GA_OK);
  assert_int_equal(ga_function_eval(g, -1, 0, out, &fault), GA_RETRY_NAN);
  assert_int_equal(fault.column, 5);
  ga_function_destroy(&g);
  opts.text = "1 + tau";
  assert_int_equal(ga_function_create_expr(f->ctx, &opts, &error, &g), GA_ERR_ARGUMENT);
  assert_int_equal(error.column, 5);
  const ga_symbol variable = {"x", GA_SYMBOL_VARIABLE, 0, 0, NULL, NULL, NULL};
  opts.symbols = &variable;
  assert_int_equal(ga_function_create_expr(f->ctx, &opts, &error, &g), GA_ERR_ARGUMENT);
  assert_int_equal(error.column, 0);

  assert_int_equal(ga_function_create_constant(f->ctx, 4.5, &g), GA_OK);
  at(out, g, 77);
  assert_true(out[0] == 4.5 && out[1] == 0 && out[2] == 0);
  assert_int_equal(ga_function_set_parameter(g, 2, 1), GA_OK);
  ga_function_destroy(&g);
  ga_function_destroy(&g);
  ga_function_destroy(NULL);
}

/* ---- Tables ---- */

static ga_function *table(fixture *f, int n, const double *x, const double *y, ga_interpolation how,
                          ga_extrapolation outside)
{
  ga_table_opts opts = ga_table_defaults();
  ga_function *g = NULL;
  opts.n = n;
  opts.x = x;
  opts.y = y;
  opts.interpolation = how;
  opts.before = opts.after = outside;
  if (ga_function_create_table(f->ctx, &opts, &g)) fail_msg("%s", ga_context_error(f->ctx)->text);
  return g;
}

static void tables_meet_their_points(void **state)
{
  enum { N = 9 };
  const double x[N] = {-1, -0.5, 0, 0.7, 1, 2, 2.1, 4, 7}, y[N] = {3, 1, 1, -2, 5, 5.5, 9, 9, 0};
  for (int how = 0; how <= GA_INTERPOLATE_SPLINE; how++) {
    ga_function *g = table(*state, N, x, y, (ga_interpolation)how, GA_EXTRAPOLATE_ERROR);
    double out[3], before[3], after[3];
    for (int i = 0; i < N; i++) {
      at(out, g, x[i]);
      assert_near(out[0], y[i], 1e-14, "point");
      if (i == 0 || i == N - 1) continue;
      at(before, g, x[i] - 1e-9);
      at(after, g, x[i] + 1e-9);
      assert_near(before[0], after[0], 1e-6, "continuous");
      if (how != GA_INTERPOLATE_LINEAR) assert_near(before[1], after[1], 1e-5, "continuous slope");
      if (how == GA_INTERPOLATE_SPLINE) assert_near(before[2], after[2], 1e-4, "continuous curvature");
    }
    for (int i = 0; i < N - 1; i++) check_rates(g, 0.5 * (x[i] + x[i + 1]), 1e-7);
    ga_function_destroy(&g);
  }
}

/* Cubic interpolation keeps data monotone, flat and within bounds, however they jump. */
static void tables_stay_monotone(void **state)
{
  enum { N = 12 };
  rig_random random = rig_seed(0);
  for (int round = 0; round < 200; round++) {
    double x[N], y[N];
    const double sign = round % 2 ? 1 : -1;
    x[0] = y[0] = 0;
    for (int i = 1; i < N; i++) {
      x[i] = x[i - 1] + pow(10, rig_uniform(&random, -2, 1));
      y[i] = y[i - 1] + (rig_below(&random, 4) ? sign * pow(10, rig_uniform(&random, -4, 2)) : 0);
    }
    ga_function *g = table(*state, N, x, y, GA_INTERPOLATE_MONOTONE, GA_EXTRAPOLATE_ERROR);
    for (int i = 0; i < N - 1; i++) {
      double last = y[i], out[3];
      const double size = fabs(y[i + 1]) + fabs(y[i]);
      for (int k = 1; k < 40; k++) {
        at(out, g, x[i] + (x[i + 1] - x[i]) * k / 40);
        assert_true(sign * (out[0] - last) >= -1e-14 * size);
        assert_true(sign * out[1] >= -1e-12 * (1 + size / (x[i + 1] - x[i])));
        last = out[0];
      }
      assert_true(sign * (y[i + 1] - last) >= -1e-14 * size);
    }
    ga_function_destroy(&g);
  }
}

/* Convergence on a smooth, monotone function: orders 2, 3 and 4 at least. */
static void tables_converge(void **state)
{
  static const double least[3] = {1.9, 2.8, 3.8};
  for (int how = 0; how <= GA_INTERPOLATE_SPLINE; how++) {
    double error[2] = {0, 0};
    for (int level = 0; level < 2; level++) {
      enum { MOST = 81 };
      const int n = level ? 81 : 41;
      double x[MOST], y[MOST];
      for (int i = 0; i < n; i++) {
        x[i] = 2.0 * i / (n - 1);
        y[i] = exp(x[i]);
      }
      ga_function *g = table(*state, n, x, y, (ga_interpolation)how, GA_EXTRAPOLATE_ERROR);
      for (double t = 0; t < 2; t += 0.0013) {
        double out[3];
        at(out, g, t);
        error[level] = fmax(error[level], fabs(out[0] - exp(t)));
      }
      ga_function_destroy(&g);
    }
    assert_true(log2(error[0] / error[1]) > least[how]);
  }
}

/* Splines reproduce cubics, also of 2, 3 and 4 points as far as these determine one. */
static void splines_reproduce_cubics(void **state)
{
  const double x[7] = {-2, -1.5, 0, 0.3, 1, 2.5, 3};
  for (int n = 2; n <= 7; n++) {
    const int degree = n - 1 < 3 ? n - 1 : 3;
    const double c[4] = {1, -2, degree > 1 ? 0.5 : 0, degree > 2 ? 0.7 : 0};
    double y[7];
    for (int i = 0; i < n; i++) y[i] = c[0] + x[i] * (c[1] + x[i] * (c[2] + x[i] * c[3]));
    ga_function *g = table(*state, n, x, y, GA_INTERPOLATE_SPLINE, GA_EXTRAPOLATE_LINEAR);
    for (double t = x[0]; t <= x[n - 1]; t += 0.01) {
      double out[3];
      at(out, g, t);
      assert_near(out[0], c[0] + t * (c[1] + t * (c[2] + t * c[3])), 1e-13, "value");
      assert_near(out[1], c[1] + t * (2 * c[2] + t * 3 * c[3]), 1e-12, "slope");
      assert_near(out[2], 2 * c[2] + t * 6 * c[3], 1e-11, "curvature");
    }
    ga_function_destroy(&g);
  }
}

/* ∫ from a to b in n parts, by Simpson's rule, which is exact for cubics. */
static double simpson(const ga_function *g, double a, double b, int n)
{
  double sum = 0;
  for (int i = 0; i < n; i++) {
    const double from = a + (b - a) * i / n, h = (b - a) / n;
    double y[3][3];
    at(y[0], g, from);
    at(y[1], g, from + 0.5 * h);
    at(y[2], g, from + h);
    sum += h / 6 * (y[0][0] + 4 * y[1][0] + y[2][0]);
  }
  return sum;
}

/* Integrals of tables, between their points, across them and outside, both ways; of thousands of points too.
 */
static void tables_are_integrated(void **state)
{
  enum { N = 5001 };
  static double many_x[N], many_y[N];
  static const double x[5] = {-1, 0.25, 2, 4, 4.5}, y[5] = {3, -2, 12, 20, 1},
                      end[] = {-3, -1, 0.1, 2, 3.3, 4.5, 7};
  fixture *f = *state;
  double area;
  for (int how = 0; how <= GA_INTERPOLATE_SPLINE; how++)
    for (int outside = 0; outside < 2; outside++) {
      const ga_extrapolation beyond = outside ? GA_EXTRAPOLATE_LINEAR : GA_EXTRAPOLATE_HOLD;
      ga_function *g = table(f, 5, x, y, (ga_interpolation)how, beyond);
      for (int i = 0; i < COUNT(end); i++)
        for (int k = 0; k < COUNT(end); k++) {
          assert_int_equal(ga_function_integral(g, end[i], end[k], &area), 1);
          /* parts of 1/400 end at all points */
          const int n = (int)lround(400 * fabs(end[k] - end[i]));
          assert_near(area, n ? simpson(g, end[i], end[k], n) : 0, 1e-11, "area");
        }
      ga_function_destroy(&g);
    }
  for (int i = 0; i < N; i++) many_x[i] = 1e-3 * i, many_y[i] = i % 2 ? 7 : -5;
  ga_function *g = table(f, N, many_x, many_y, GA_INTERPOLATE_LINEAR, GA_EXTRAPOLATE_ERROR);
  assert_int_equal(ga_function_integral(g, 0, 4.9995, &area), 1);
  assert_near(area, 1e-3 * (4999 + 0.5 * (7 + 1) / 2), 1e-12, "a saw");
  assert_int_equal(ga_function_integral(g, 0, 5.1, &area), 0);
  assert_int_equal(ga_function_integral(g, 0, INFINITY, &area), 0);
  ga_function_destroy(&g);
}

static void tables_go_on(void **state)
{
  fixture *f = *state;
  const double x[3] = {1, 2, 4}, y[3] = {10, 12, 20};
  for (int how = 0; how <= GA_INTERPOLATE_SPLINE; how++) {
    double out[3], end[3];
    ga_fault fault;
    ga_function *g = table(f, 3, x, y, (ga_interpolation)how, GA_EXTRAPOLATE_HOLD);
    at(out, g, 0);
    assert_true(out[0] == 10 && out[1] == 0 && out[2] == 0);
    at(out, g, 9);
    assert_true(out[0] == 20 && out[1] == 0 && out[2] == 0);
    at(end, g, 4);
    ga_function_destroy(&g);

    g = table(f, 3, x, y, (ga_interpolation)how, GA_EXTRAPOLATE_LINEAR);
    at(out, g, 9);
    assert_near(out[0], 20 + 5 * end[1], 1e-14, "on a straight line");
    assert_true(out[1] == end[1] && out[2] == 0 && end[1] > 0);
    at(end, g, 1);
    at(out, g, -1);
    assert_near(out[0], 10 - 2 * end[1], 1e-14, "on a straight line");
    ga_function_destroy(&g);

    g = table(f, 3, x, y, (ga_interpolation)how, GA_EXTRAPOLATE_ERROR);
    assert_int_equal(ga_function_eval(g, 4.5, 0, out, &fault), GA_RETRY_NAN);
    assert_int_equal(fault.kind, GA_FAULT_RANGE);
    char words[200];
    ga_fault_text(words, sizeof words, &fault);
    assert_string_equal(words, "4.5 is outside of the table, which goes from 1 to 4");
    assert_int_equal(ga_function_eval(g, 0.5, 0, out, NULL), GA_RETRY_NAN);
    at(out, g, 4);
    at(out, g, 1);
    ga_function_destroy(&g);
  }
}

/* ---- Tables of two variables ---- */

enum { NX = 5, NY = 6 };
static const double grid_x[NX] = {-1, 0, 0.5, 2, 3}, grid_y[NY] = {0, 1, 1.5, 2, 4, 5};

/* z = p(x) q(y) of degree 1 or 3, with its derivatives z, z_x, z_y, z_xx, z_xy, z_yy. */
static void surface(double out[6], double x, double y, int cubic)
{
  const double c = cubic ? 0.3 : 0, d = cubic ? -0.2 : 0;
  const double p[3] = {1 + 2 * x + c * x * x * x, 2 + 3 * c * x * x, 6 * c * x};
  const double q[3] = {3 - y + d * y * y * y, -1 + 3 * d * y * y, 6 * d * y};
  const double z[6] = {p[0] * q[0], p[1] * q[0], p[0] * q[1], p[2] * q[0], p[1] * q[1], p[0] * q[2]};
  memcpy(out, z, sizeof z);
}

static ga_table2d *grid(fixture *f, int cubic, ga_extrapolation outside)
{
  double z[NX * NY], out[6];
  ga_table2d_opts opts = ga_table2d_defaults();
  ga_table2d *t = NULL;
  for (int i = 0; i < NX; i++) {
    for (int j = 0; j < NY; j++) {
      surface(out, grid_x[i], grid_y[j], cubic);
      z[i * NY + j] = out[0];
    }
  }
  opts.nx = NX;
  opts.ny = NY;
  opts.x = grid_x;
  opts.y = grid_y;
  opts.z = z;
  opts.interpolation = cubic ? GA_INTERPOLATE_SPLINE : GA_INTERPOLATE_LINEAR;
  opts.outside = outside;
  assert_int_equal(ga_table2d_create(f->ctx, &opts, &t), GA_OK);
  return t;
}

static void tables2d(void **state)
{
  fixture *f = *state;
  for (int cubic = 0; cubic < 2; cubic++) {
    ga_table2d *t = grid(f, cubic, GA_EXTRAPOLATE_ERROR);
    for (double x = -1; x <= 3; x += 0.093) {
      for (double y = 0; y <= 5; y += 0.087) {
        double exact[6], out[6], less[3];
        surface(exact, x, y, cubic);
        assert_int_equal(ga_table2d_eval(t, x, y, 2, out, NULL), GA_OK);
        for (int d = 0; d < 6; d++) assert_near(out[d], exact[d], 1e-11, "2-D table");
        assert_int_equal(ga_table2d_eval(t, x, y, 1, less, NULL), GA_OK);
        assert_memory_equal(less, out, sizeof less);
      }
    }
    double out[6];
    ga_fault fault;
    char words[200];
    assert_int_equal(ga_table2d_eval(t, 1, 7, 2, out, &fault), GA_RETRY_NAN);
    ga_fault_text(words, sizeof words, &fault);
    assert_string_equal(words, "7 is outside of the 2-D table, which goes from 0 to 5");
    assert_int_equal(ga_table2d_eval(t, -2, 1, 2, out, &fault), GA_RETRY_NAN);
    assert_int_equal(ga_table2d_eval(t, NAN, 1, 2, out, &fault), GA_RETRY_NAN);
    assert_int_equal(fault.kind, GA_FAULT_INPUT);
    ga_table2d_destroy(&t);
    assert_null(t);

    double edge[6];
    t = grid(f, cubic, GA_EXTRAPOLATE_HOLD);
    assert_int_equal(ga_table2d_eval(t, 3, 1.7, 2, edge, NULL), GA_OK);
    assert_int_equal(ga_table2d_eval(t, 8, 1.7, 2, out, NULL), GA_OK);
    assert_true(out[0] == edge[0] && out[1] == 0 && out[2] == edge[2] && out[3] == 0 && out[4] == 0);
    ga_table2d_destroy(&t);
    t = grid(f, cubic, GA_EXTRAPOLATE_LINEAR);
    assert_int_equal(ga_table2d_eval(t, 3, 0, 2, edge, NULL), GA_OK);
    assert_int_equal(ga_table2d_eval(t, 5, -1, 2, out, NULL), GA_OK);
    assert_near(out[0], edge[0] + 2 * edge[1] - edge[2] - 2 * edge[4], 1e-12, "beyond a corner");
    ga_table2d_destroy(&t);
  }
  ga_table2d_destroy(NULL);
}

/* ---- In expressions ---- */

static void called_from_expressions(void **state)
{
  fixture *f = *state;
  ga_table2d *surf = grid(f, 1, GA_EXTRAPOLATE_ERROR);
  const double x[3] = {0, 1, 3}, y[3] = {0, 2, 3};
  ga_function *curve = table(f, 3, x, y, GA_INTERPOLATE_SPLINE, GA_EXTRAPOLATE_ERROR);
  const ga_symbol names[] = {{"a", GA_SYMBOL_VARIABLE, 0, 0, NULL, NULL, NULL},
                             {"b", GA_SYMBOL_VARIABLE, 1, 0, NULL, NULL, NULL},
                             {"curve", GA_SYMBOL_FUNCTION, 0, 0, curve, NULL, NULL},
                             {"map", GA_SYMBOL_TABLE2D, 0, 0, NULL, surf, NULL}};
  const int wrt[2] = {0, 1};
  const double v[2] = {0.8, 1.2};
  ga_expr *e = NULL;
  ga_text_error error;
  ga_fault fault;
  assert_int_equal(ga_expr_compile(f->ctx, "curve(a*b) * map(a, b^2) + a", names, 4, &error, &e), GA_OK);
  double g[2], H[4], c[3], m[6];
  assert_int_equal(ga_expr_hessian(e, v, 2, wrt, NULL, g, H, NULL), GA_OK);
  at(c, curve, v[0] * v[1]);
  surface(m, v[0], v[1] * v[1], 1);
  const double B = 2 * v[1]; /* d(b²)/db */
  assert_near(g[0], c[1] * v[1] * m[0] + c[0] * m[1] + 1, 1e-12, "by a");
  assert_near(g[1], c[1] * v[0] * m[0] + c[0] * m[2] * B, 1e-12, "by b");
  assert_near(H[0], c[2] * v[1] * v[1] * m[0] + 2 * c[1] * v[1] * m[1] + c[0] * m[3], 1e-11, "by a, a");
  assert_near(H[1],
              (c[2] * v[0] * v[1] + c[1]) * m[0] + c[1] * v[1] * m[2] * B + c[1] * v[0] * m[1] +
                  c[0] * m[4] * B,
              1e-11, "by a, b");
  assert_near(H[3], c[2] * v[0] * v[0] * m[0] + 2 * c[1] * v[0] * m[2] * B + c[0] * (m[5] * B * B + 2 * m[2]),
              1e-11, "by b, b");
  const double outside[2] = {2, 2};
  double value;
  char words[200];
  assert_int_equal(ga_expr_eval(e, outside, &value, &fault), GA_RETRY_NAN);
  ga_fault_text(words, sizeof words, &fault);
  assert_string_equal(words, "column 1, 'curve(a*b)': 4 is outside of the table, which goes from 0 to 3");
  ga_expr_destroy(&e);

  assert_int_equal(ga_expr_compile(f->ctx, "1+curve(a,b)", names, 4, &error, &e), GA_ERR_ARGUMENT);
  assert_string_equal(error.expected, "1 argument");
  assert_int_equal(error.column, 3);
  assert_int_equal(ga_expr_compile(f->ctx, "map(a)", names, 4, &error, &e), GA_ERR_ARGUMENT);
  assert_string_equal(error.expected, "2 arguments");
  assert_int_equal(ga_expr_compile(f->ctx, "crve(a)", names, 4, &error, &e), GA_ERR_ARGUMENT);
  assert_string_equal(error.nearest, "curve");
  assert_int_equal(ga_expr_compile(f->ctx, "2*map", names, 4, &error, &e), GA_ERR_ARGUMENT);
  assert_string_equal(error.expected, "'(' and arguments");
  ga_function_destroy(&curve);
  ga_table2d_destroy(&surf);
}

/* Functions that use functions, up to the depth allowed; a fault is reported where it arose. */
static void functions_of_functions(void **state)
{
  fixture *f = *state;
  ga_function *chain[GA_FUNCTION_DEPTH + 1] = {NULL};
  ga_function_expr_opts opts = ga_function_expr_defaults();
  ga_symbol inner = {"g", GA_SYMBOL_FUNCTION, 0, 0, NULL, NULL, NULL};
  ga_fault fault;
  double out[3];
  opts.text = "sqrt(t)";
  assert_int_equal(ga_function_create_expr(f->ctx, &opts, NULL, &chain[0]), GA_OK);
  opts.text = "2*g(t)";
  opts.symbols = &inner;
  opts.n_symbols = 1;
  for (int i = 1; i < GA_FUNCTION_DEPTH; i++) {
    inner.function = chain[i - 1];
    assert_int_equal(ga_function_create_expr(f->ctx, &opts, NULL, &chain[i]), GA_OK);
  }
  inner.function = chain[GA_FUNCTION_DEPTH - 1];
  assert_int_equal(ga_function_create_expr(f->ctx, &opts, NULL, &chain[GA_FUNCTION_DEPTH]), GA_ERR_ARGUMENT);
  assert_call_error(f->ctx, GA_REASON_TOO_MANY, "expression", "levels of functions within functions");
  const double scale = ldexp(1, GA_FUNCTION_DEPTH - 1);
  at(out, chain[GA_FUNCTION_DEPTH - 1], 4);
  assert_near(out[0], 2 * scale, 1e-15, "value");
  assert_near(out[1], 0.25 * scale, 1e-15, "rate");
  assert_near(out[2], -scale / 32, 1e-15, "second rate");
  assert_int_equal(ga_function_eval(chain[3], -4, 0, out, &fault), GA_RETRY_NAN);
  assert_string_equal(fault.text, "sqrt(t)");
  assert_int_equal(fault.column, 1);
  for (int i = 0; i <= GA_FUNCTION_DEPTH; i++) ga_function_destroy(&chain[i]);
}

/* ---- What is refused ---- */

/* `of` is the function that is called wrongly, or the kind of object whose option is wrong. */
static void refuse(fixture *f, ga_status status, ga_reason reason, const char *of, const char *field)
{
  assert_int_equal(status, GA_ERR_ARGUMENT);
  assert_call_error(f->ctx, reason, of, field);
}

static void wrong_tables(void **state)
{
  fixture *f = *state;
  const double x[3] = {0, 1, 2}, back[3] = {0, 1, 1}, bad[3] = {0, NAN, 2};
  ga_function *g;
  const struct {
    ga_table_opts opts;
    ga_reason reason;
    const char *field;
    int item;
  } rows[] = {
      {{1, x, x, GA_INTERPOLATE_LINEAR, GA_EXTRAPOLATE_HOLD, GA_EXTRAPOLATE_HOLD},
       GA_REASON_OUT_OF_RANGE,
       "n",
       -1},
      {{3, NULL, x, GA_INTERPOLATE_LINEAR, GA_EXTRAPOLATE_HOLD, GA_EXTRAPOLATE_HOLD},
       GA_REASON_NULL_ARGUMENT,
       "x",
       -1},
      {{3, x, NULL, GA_INTERPOLATE_LINEAR, GA_EXTRAPOLATE_HOLD, GA_EXTRAPOLATE_HOLD},
       GA_REASON_NULL_ARGUMENT,
       "y",
       -1},
      {{3, back, x, GA_INTERPOLATE_LINEAR, GA_EXTRAPOLATE_HOLD, GA_EXTRAPOLATE_HOLD},
       GA_REASON_NOT_ASCENDING,
       "x",
       2},
      {{3, x, bad, GA_INTERPOLATE_LINEAR, GA_EXTRAPOLATE_HOLD, GA_EXTRAPOLATE_HOLD},
       GA_REASON_NOT_FINITE,
       "y",
       1},
      {{3, x, x, (ga_interpolation)7, GA_EXTRAPOLATE_HOLD, GA_EXTRAPOLATE_HOLD},
       GA_REASON_NOT_A_CHOICE,
       "interpolation",
       -1},
      {{3, x, x, GA_INTERPOLATE_LINEAR, (ga_extrapolation)7, GA_EXTRAPOLATE_HOLD},
       GA_REASON_NOT_A_CHOICE,
       "before",
       -1},
      {{3, x, x, GA_INTERPOLATE_LINEAR, GA_EXTRAPOLATE_HOLD, (ga_extrapolation)7},
       GA_REASON_NOT_A_CHOICE,
       "after",
       -1},
  };
  for (int i = 0; i < COUNT(rows); i++) {
    refuse(f, ga_function_create_table(f->ctx, &rows[i].opts, &g), rows[i].reason, "table", rows[i].field);
    assert_int_equal(ga_context_error(f->ctx)->item, rows[i].item);
  }
  refuse(f, ga_function_create_table(f->ctx, NULL, &g), GA_REASON_NULL_ARGUMENT, "ga_function_create_table",
         "opts");
  refuse(f, ga_function_create_table(f->ctx, &rows[0].opts, NULL), GA_REASON_NULL_ARGUMENT,
         "ga_function_create_table", "out");
  assert_int_equal(ga_function_create_table(NULL, &rows[0].opts, &g), GA_ERR_ARGUMENT);

  const double z[9] = {0}, z_bad[9] = {0, 0, 0, 0, INFINITY};
  ga_table2d *t;
  const struct {
    ga_table2d_opts opts;
    ga_reason reason;
    const char *field;
    int item;
  } rows2[] = {
      {{1, 3, x, x, z, GA_INTERPOLATE_LINEAR, GA_EXTRAPOLATE_HOLD}, GA_REASON_OUT_OF_RANGE, "nx", -1},
      {{3, 0, x, x, z, GA_INTERPOLATE_LINEAR, GA_EXTRAPOLATE_HOLD}, GA_REASON_OUT_OF_RANGE, "ny", -1},
      {{100000, 100000, x, x, z, GA_INTERPOLATE_LINEAR, GA_EXTRAPOLATE_HOLD},
       GA_REASON_TOO_MANY,
       "points",
       -1},
      {{3, 3, back, x, z, GA_INTERPOLATE_LINEAR, GA_EXTRAPOLATE_HOLD}, GA_REASON_NOT_ASCENDING, "x", 2},
      {{3, 3, x, back, z, GA_INTERPOLATE_LINEAR, GA_EXTRAPOLATE_HOLD}, GA_REASON_NOT_ASCENDING, "y", 2},
      {{3, 3, x, x, z_bad, GA_INTERPOLATE_LINEAR, GA_EXTRAPOLATE_HOLD}, GA_REASON_NOT_FINITE, "z", 4},
      {{3, 3, x, x, NULL, GA_INTERPOLATE_LINEAR, GA_EXTRAPOLATE_HOLD}, GA_REASON_NULL_ARGUMENT, "z", -1},
      {{3, 3, x, x, z, GA_INTERPOLATE_MONOTONE, GA_EXTRAPOLATE_HOLD},
       GA_REASON_NOT_SUPPORTED,
       "interpolation",
       -1},
      {{3, 3, x, x, z, (ga_interpolation)9, GA_EXTRAPOLATE_HOLD},
       GA_REASON_NOT_A_CHOICE,
       "interpolation",
       -1},
      {{3, 3, x, x, z, GA_INTERPOLATE_LINEAR, (ga_extrapolation)9}, GA_REASON_NOT_A_CHOICE, "outside", -1},
  };
  for (int i = 0; i < COUNT(rows2); i++) {
    refuse(f, ga_table2d_create(f->ctx, &rows2[i].opts, &t), rows2[i].reason, "2-D table", rows2[i].field);
    assert_int_equal(ga_context_error(f->ctx)->item, rows2[i].item);
  }
  refuse(f, ga_table2d_create(f->ctx, NULL, &t), GA_REASON_NULL_ARGUMENT, "ga_table2d_create", "opts");
  assert_int_equal(ga_table2d_create(NULL, &rows2[0].opts, &t), GA_ERR_ARGUMENT);
}

static void wrong_options(void **state)
{
  fixture *f = *state;
  ga_function *g;
  const ga_motion_opts good = ga_motion_defaults();
  ga_motion_opts m = good;
  m.duration = 0;
  refuse(f, ga_function_create_motion(f->ctx, &m, &g), GA_REASON_OUT_OF_RANGE, "motion", "duration");
  m = good;
  m.to = NAN;
  refuse(f, ga_function_create_motion(f->ctx, &m, &g), GA_REASON_NOT_FINITE, "motion", "to");
  m = good;
  m.law = GA_N_MOTIONS;
  refuse(f, ga_function_create_motion(f->ctx, &m, &g), GA_REASON_NOT_A_CHOICE, "motion", "law");
  m = good;
  m.ramp = 0.6;
  assert_int_equal(ga_function_create_motion(f->ctx, &m, &g), GA_OK); /* only the trapezoid has ramps */
  ga_function_destroy(&g);
  m.law = GA_MOTION_TRAPEZOID;
  refuse(f, ga_function_create_motion(f->ctx, &m, &g), GA_REASON_OUT_OF_RANGE, "motion", "ramp");
  ga_wave_opts w = ga_wave_defaults();
  w.sweep = -1;
  refuse(f, ga_function_create_wave(f->ctx, &w, &g), GA_REASON_OUT_OF_RANGE, "wave", "sweep");
  w = ga_wave_defaults();
  w.phase = INFINITY;
  refuse(f, ga_function_create_wave(f->ctx, &w, &g), GA_REASON_NOT_FINITE, "wave", "phase");
  refuse(f, ga_function_create_constant(f->ctx, NAN, &g), GA_REASON_NOT_FINITE, "constant function", "value");
  ga_function_expr_opts e = ga_function_expr_defaults();
  refuse(f, ga_function_create_expr(f->ctx, &e, NULL, &g), GA_REASON_NULL_ARGUMENT, "ga_expr_compile",
         "text");
  e.n_symbols = 2;
  refuse(f, ga_function_create_expr(f->ctx, &e, NULL, &g), GA_REASON_COUNT_MISMATCH, "function", "n_symbols");
}

/* ---- Memory ---- */

static ga_status make_table(ga_context *ctx)
{
  static const double x[4] = {0, 1, 2, 4};
  ga_table_opts opts = ga_table_defaults();
  ga_function *g;
  opts.n = 4;
  opts.x = opts.y = x;
  opts.interpolation = GA_INTERPOLATE_SPLINE;
  ga_status status = ga_function_create_table(ctx, &opts, &g);
  ga_function_destroy(&g);
  return status;
}

static ga_status make_expr(ga_context *ctx)
{
  ga_function_expr_opts opts = ga_function_expr_defaults();
  ga_function *g;
  opts.text = "sin(t)";
  ga_status status = ga_function_create_expr(ctx, &opts, NULL, &g);
  ga_function_destroy(&g);
  return status;
}

static ga_status make_motion(ga_context *ctx)
{
  const ga_motion_opts opts = ga_motion_defaults();
  ga_function *g;
  ga_status status = ga_function_create_motion(ctx, &opts, &g);
  ga_function_destroy(&g);
  return status;
}

static ga_status make_wave(ga_context *ctx)
{
  const ga_wave_opts opts = ga_wave_defaults();
  ga_function *g;
  ga_status status = ga_function_create_wave(ctx, &opts, &g);
  ga_function_destroy(&g);
  return status;
}

static ga_status make_table2d(ga_context *ctx)
{
  static const double x[3] = {0, 1, 2}, z[9] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
  ga_table2d_opts opts = ga_table2d_defaults();
  ga_table2d *t;
  opts.nx = opts.ny = 3;
  opts.x = opts.y = x;
  opts.z = z;
  opts.interpolation = GA_INTERPOLATE_SPLINE;
  ga_status status = ga_table2d_create(ctx, &opts, &t);
  ga_table2d_destroy(&t);
  return status;
}

static void memory_fails(void **state)
{
  ga_status (*const make[])(ga_context *) = {make_table, make_expr, make_motion, make_wave, make_table2d};
  for (int i = 0; i < COUNT(make); i++) fail_each_allocation(*state, make[i]);
}

static void evaluation_takes_no_memory(void **state)
{
  fixture *f = *state;
  const double x[3] = {0, 1, 3}, y[3] = {0, 2, 3};
  ga_function *g = table(f, 3, x, y, GA_INTERPOLATE_MONOTONE, GA_EXTRAPOLATE_ERROR),
              *m = motion(f, GA_MOTION_POLY345);
  ga_table2d *t = grid(f, 1, GA_EXTRAPOLATE_ERROR);
  const long before = f->count;
  double out[6];
  for (double at_t = -1; at_t < 5; at_t += 0.1) {
    ga_fault fault;
    assert_int_equal(ga_function_eval(g, at_t, 2, out, &fault), at_t < 0 || at_t > 3 ? GA_RETRY_NAN : GA_OK);
    assert_int_equal(ga_function_eval(m, at_t, 2, out, &fault), GA_OK);
    assert_int_equal(ga_table2d_eval(t, 0, at_t, 2, out, &fault), at_t < 0 ? GA_RETRY_NAN : GA_OK);
  }
  assert_int_equal(ga_function_eval(m, 1, 3, out, NULL), GA_ERR_ARGUMENT);
  assert_int_equal(ga_function_eval(m, 1, -1, out, NULL), GA_ERR_ARGUMENT);
  assert_int_equal(ga_table2d_eval(t, 1, 1, 3, out, NULL), GA_ERR_ARGUMENT);
  assert_int_equal(f->count, before);
  assert_int_equal(ga_context_error(f->ctx)->status, GA_OK);
  ga_function_destroy(&g);
  ga_function_destroy(&m);
  ga_table2d_destroy(&t);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      CASE(motions_rest_outside),
      CASE(motions_are_as_smooth_as_promised),
      CASE(motions_differentiated),
      CASE(motion_peaks),
      CASE(waves),
      CASE(functions_of_expressions),
      CASE(tables_meet_their_points),
      CASE(tables_stay_monotone),
      CASE(tables_converge),
      CASE(splines_reproduce_cubics),
      CASE(tables_are_integrated),
      CASE(tables_go_on),
      CASE(tables2d),
      CASE(called_from_expressions),
      CASE(functions_of_functions),
      CASE(wrong_tables),
      CASE(wrong_options),
      CASE(memory_fails),
      CASE(evaluation_takes_no_memory),
  };
  return cmocka_run_group_tests_name("expr functions", tests, NULL, NULL);
}
