/* Blocks: derivatives, patterns, values known otherwise, names, faults, and refused options. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "control_rig.h"
#include "control/over_time.h"
#include <complex.h>
#include <string.h>

typedef struct bench {
  ga_context *ctx;
  ware w;
} bench;

static int set_up(void **state)
{
  bench *b = calloc(1, sizeof *b);
  if (!b) return -1;
  rig_memory = (rig_heap){0, 0, 0, 0};
  if (rig_context(&b->ctx)) return -1;
  b->w = ware_open(b->ctx);
  *state = b;
  return 0;
}

/* Every test frees all it made. */
static int tear_down(void **state)
{
  bench *b = *state;
  ware_close(&b->w);
  ga_context_destroy(&b->ctx);
  free(b);
  return rig_memory.live == 0 ? 0 : -1;
}

static ga_control_block *make(bench *b, specimen_fn specimen_of)
{
  ga_control_block *block = NULL;
  assert_status(b->ctx, specimen_of(&b->w, &block), GA_OK);
  return block;
}

/* u and x in one array p, outputs in one array f. */
static void eval(double *f, const ga_control_block *b, double t, const double *p)
{
  ga_fault fault;
  if (ga_block_eval(b, t, p, p + ga_block_n_in(b), f, f + ga_block_n_x(b), &fault)) {
    char text[200];
    ga_fault_text(text, sizeof text, &fault);
    fail_msg("%s: %s", ga_block_kind_name(ga_block_get_kind(b)), text);
  }
  assert_int_equal(fault.kind, GA_FAULT_NONE);
}

static void jacobian(double *J, const ga_control_block *b, double t, const double *p)
{
  for (int i = 0; i < MOST_ROWS * MOST_COLS; i++) J[i] = NAN; /* whatever is not written shows */
  assert_int_equal(ga_block_jacobian(b, t, p, p + ga_block_n_in(b), J, NULL), GA_OK);
}

static void random_point(double *p, int n, rig_random *random)
{
  for (int i = 0; i < n; i++) p[i] = rig_uniform(random, -2, 2);
}

/* Column j by fourth-order differences. */
static void difference(double *column, const ga_control_block *b, double t, const double *at, int j, double h)
{
  static const double place[] = {-2, -1, 1, 2}, weight[] = {1, -8, 8, -1};
  const int rows = ga__block_rows(b);
  double p[MOST_COLS], f[MOST_ROWS];
  memcpy(p, at, sizeof p);
  for (int i = 0; i < rows; i++) column[i] = 0;
  for (int k = 0; k < 4; k++) {
    p[j] = at[j] + place[k] * h;
    eval(f, b, t, p);
    for (int i = 0; i < rows; i++) column[i] += weight[k] * f[i] / (12 * h);
  }
}

/* ---- Bounds and rates ---- */

/* A straight way of t and inputs within a box of its own, [0] is t; rates of some of them wider. */
typedef struct way {
  double from[1 + MOST_COLS], to[1 + MOST_COLS];
  double lo[1 + MOST_COLS], hi[1 + MOST_COLS], rate_lo[1 + MOST_COLS], rate_hi[1 + MOST_COLS];
} way;

static way random_way(int n, rig_random *random)
{
  way w;
  const double size = rig_uniform(random, 0, 1) < 0.5 ? 0.05 : 2;
  for (int i = 0; i < n; i++) {
    w.from[i] = rig_uniform(random, -2, 2);
    w.to[i] = w.from[i] + rig_uniform(random, -size, size);
    w.lo[i] = fmin(w.from[i], w.to[i]), w.hi[i] = fmax(w.from[i], w.to[i]);
    w.rate_lo[i] = w.rate_hi[i] = w.to[i] - w.from[i];
    if (rig_uniform(random, 0, 1) < 0.3) w.rate_hi[i] += rig_uniform(random, 0, 1);
    if (rig_uniform(random, 0, 1) < 0.3) w.rate_lo[i] -= rig_uniform(random, 0, 1);
  }
  return w;
}

static int eval_on(double *y, const ga_control_block *b, const way *w, double s)
{
  double p[1 + MOST_COLS];
  for (int i = 0; i <= ga_block_n_in(b); i++) p[i] = w->from[i] + s * (w->to[i] - w->from[i]);
  return ga_block_eval(b, p[0], p + 1, NULL, NULL, y, NULL) == GA_OK;
}

/* Output i stays within its bounds, and changes by its rate times what is passed of the way; 1: it is known.
 */
static int check_rate(const ga_control_block *b, int i, rig_random *random)
{
  const way w = random_way(1 + ga_block_n_in(b), random);
  const double t[2] = {w.lo[0], w.hi[0]};
  double range[2], rate[2], plain[2], y[2][MOST_ROWS];
  const int known = ga__block_rate(b, i, w.lo, w.hi, w.rate_lo, w.rate_hi, range, rate);
  assert_int_equal(known > 0, ga_block_bounds(b, i, t, w.lo + 1, w.hi + 1, &plain[0], &plain[1]));
  if (known == 0) return 0;
  assert_true(range[0] == plain[0] && range[1] == plain[1]);
  for (int sample = 0; sample < 30 && known == 2; sample++) {
    const double a = rig_uniform(random, 0, 1), z = rig_uniform(random, a, 1);
    const double slack = 1e-12 * (1 + fmax(fabs(range[0]), fabs(range[1])));
    if (!eval_on(y[0], b, &w, a) || !eval_on(y[1], b, &w, z)) continue;
    const double change = y[1][i] - y[0][i], least = (z - a) * rate[0], most = (z - a) * rate[1];
    if (y[0][i] < range[0] - slack || y[0][i] > range[1] + slack || change < least - slack ||
        change > most + slack)
      fail_msg("%s: from %.9g of the way on it changes by %.9g in %.9g, its rate is within %.9g and %.9g",
               ga_block_kind_name(ga_block_get_kind(b)), a, change, z - a, rate[0], rate[1]);
  }
  return known == 2;
}

static void rates_enclose_changes(void **state)
{
  bench *bn = *state;
  rig_random random = rig_seed(0);
  int kinds = 0;
  for (int s = 0; s < COUNT(SPECIMENS); s++) {
    ga_control_block *b = make(bn, SPECIMENS[s].make);
    int known = 0;
    for (int round = 0; round < 500 && ga_block_n_x(b) == 0; round++)
      for (int i = 0; i < ga_block_n_out(b); i++) known += check_rate(b, i, &random);
    kinds += known > 100;
    ga_block_destroy(&b);
  }
  assert_true(kinds >= 7); /* gain, sum, product, limit, dead zone, tanh, table, expression */
}

/* ---- All kinds ---- */

static void every_kind_has_a_specimen_and_a_name(void **state)
{
  bench *bn = *state;
  int seen[GA_N_BLOCK_KINDS] = {0};
  for (int s = 0; s < COUNT(SPECIMENS); s++) {
    ga_control_block *b = make(bn, SPECIMENS[s].make);
    seen[SPECIMENS[s].kind]++;
    assert_int_equal(ga_block_get_kind(b), SPECIMENS[s].kind);
    assert_int_equal(ga_block_n_in(b), SPECIMENS[s].n_in);
    assert_int_equal(ga_block_n_x(b), SPECIMENS[s].n_x);
    assert_int_equal(ga_block_n_out(b), SPECIMENS[s].n_out);
    ga_block_destroy(&b);
    assert_null(b);
  }
  for (int k = 0; k < GA_N_BLOCK_KINDS; k++) {
    const ga_block_kind kind = (ga_block_kind)k;
    assert_true(seen[k] > 0);
    assert_non_null(ga_block_kind_about(kind));
    assert_int_equal(ga_block_kind_find(ga_block_kind_name(kind)), k);
  }
  assert_null(ga_block_kind_name(GA_N_BLOCK_KINDS));
  assert_null(ga_block_kind_about((ga_block_kind)-1));
  assert_int_equal(ga_block_kind_find("pidd"), GA_N_BLOCK_KINDS);
  assert_int_equal(ga_block_kind_find(NULL), GA_N_BLOCK_KINDS);
  assert_int_equal(ga_block_kind_find("pid"), GA_KIND_PID);
  ga_block_destroy(NULL);
}

/* The largest entry of |J(a) − J(b)|, and the side at both, along the line from p to q. */
static double change(const ga_control_block *b, const double *p, const double *q, double a, double c,
                     unsigned side[2])
{
  double at[MOST_COLS], J[2][MOST_ROWS * MOST_COLS], most = 0;
  const int cols = ga__block_cols(b);
  for (int k = 0; k < 2; k++) {
    for (int j = 0; j < cols; j++) at[j] = p[j] + (k ? c : a) * (q[j] - p[j]);
    jacobian(J[k], b, 1.0, at);
    side[k] = 1;
    assert_int_equal(ga_block_side(b, 1.0, at, at + ga_block_n_in(b), &side[k]), GA_OK);
  }
  for (int i = 0; i < ga__block_rows(b) * cols; i++) most = fmax(most, fabs(J[1][i] - J[0][i]));
  return most;
}

/* Along lines through the space of inputs and states: slopes jump between different sides only, found by
 * halving intervals of equal sides towards what changes most. */
static void sides_of_all_kinds(void **state)
{
  bench *bn = *state;
  rig_random random = rig_seed(0);
  enum { LINES = 1000, HALVINGS = 30 };
  int with_edges = 0;
  for (int s = 0; s < COUNT(SPECIMENS); s++) {
    ga_control_block *b = make(bn, SPECIMENS[s].make);
    long changes = 0;
    for (int k = 0; k < (rig_brief() ? LINES / 50 : LINES) && ga_block_get_kind(b) != GA_KIND_USER; k++) {
      double p[MOST_COLS], q[MOST_COLS], low = 0, high = 0.01, jump;
      unsigned side[2];
      random_point(p, ga__block_cols(b), &random);
      random_point(q, ga__block_cols(b), &random);
      if (SPECIMENS[s].make == make_quotient) p[1] = 0.5 + fabs(p[1]), q[1] = 0.5 + fabs(q[1]);
      jump = change(b, p, q, low, high, side);
      changes += side[0] != side[1];
      for (int i = 0; side[0] == side[1] && i < HALVINGS; i++) {
        const double middle = 0.5 * (low + high), left = change(b, p, q, low, middle, side);
        if (side[0] != side[1]) break;
        jump = change(b, p, q, middle, high, side);
        if (left > jump)
          jump = left, high = middle;
        else
          low = middle;
      }
      if (side[0] == side[1] && jump > 1e-3) fail_msg("%s: a corner between equal sides", SPECIMENS[s].name);
    }
    if (changes > 0 && !ga_block_has_edges(b)) fail_msg("%s: %ld edges", SPECIMENS[s].name, changes);
    with_edges += changes > 0;
    ga_block_destroy(&b);
  }
  assert_true(with_edges >= (rig_brief() ? 1 : 5));
}

/* Where differences of two step sizes disagree a kink is near, and the point is left out; few may be. */
static void derivatives_of_all_kinds(void **state)
{
  bench *bn = *state;
  rig_random random = rig_seed(0);
  enum { POINTS = 300 };
  for (int s = 0; s < COUNT(SPECIMENS); s++) {
    ga_control_block *b = make(bn, SPECIMENS[s].make);
    const int rows = ga__block_rows(b), cols = ga__block_cols(b);
    int compared = 0, left_out = 0;
    const long allocations = rig_memory.count;
    for (int k = 0; k < POINTS; k++) {
      double p[MOST_COLS], J[MOST_ROWS * MOST_COLS], fine[MOST_ROWS], coarse[MOST_ROWS];
      const double t = rig_uniform(&random, 0, 3);
      random_point(p, cols, &random);
      if (SPECIMENS[s].make == make_quotient) p[1] = copysign(0.5 + fabs(p[1]), p[1]);
      jacobian(J, b, t, p);
      for (int j = 0; j < cols; j++) {
        difference(fine, b, t, p, j, 1e-3);
        difference(coarse, b, t, p, j, 2e-3);
        for (int i = 0; i < rows; i++) {
          const double scale = 1 + fabs(fine[i]);
          if (fabs(fine[i] - coarse[i]) > 1e-9 * scale) {
            left_out++;
            continue;
          }
          compared++;
          if (!(fabs(J[i * cols + j] - fine[i]) <= 1e-8 * scale))
            fail_msg("%s: entry %d, %d is %.12g instead of %.12g", SPECIMENS[s].name, i, j, J[i * cols + j],
                     fine[i]);
        }
      }
    }
    assert_int_equal(compared + left_out, POINTS * rows * cols);
    if (left_out > compared / 50) fail_msg("%s: %d points left out", SPECIMENS[s].name, left_out);
    assert_int_equal(rig_memory.count, allocations);
    ga_block_destroy(&b);
  }
}

/* Where depends is 0 nothing changes by a bit; where it is 1 something does somewhere. */
static void patterns_of_all_kinds(void **state)
{
  bench *bn = *state;
  rig_random random = rig_seed(0);
  for (int s = 0; s < COUNT(SPECIMENS); s++) {
    ga_control_block *b = make(bn, SPECIMENS[s].make);
    const int rows = ga__block_rows(b), cols = ga__block_cols(b);
    for (int j = 0; j < cols; j++) {
      int changed[MOST_ROWS] = {0}, missing = 1;
      for (int k = 0; k < 50 || (missing && k < 5000); k++) { /* few points are within all limits */
        double p[MOST_COLS], f[MOST_ROWS], g[MOST_ROWS], J[MOST_ROWS * MOST_COLS];
        random_point(p, cols, &random);
        eval(f, b, 0.4, p);
        jacobian(J, b, 0.4, p);
        p[j] += 0.5;
        eval(g, b, 0.4, p);
        for (int i = 0; i < rows; i++) {
          changed[i] |= f[i] != g[i];
          if (!ga_block_depends(b, i, j)) assert_true(J[i * cols + j] == 0);
        }
        missing = 0;
        for (int i = 0; i < rows; i++) missing |= changed[i] != ga_block_depends(b, i, j);
      }
      for (int i = 0; i < rows; i++)
        if (changed[i] != ga_block_depends(b, i, j))
          fail_msg("%s: entry %d, %d is %d in the pattern", SPECIMENS[s].name, i, j, !changed[i]);
    }
    assert_int_equal(ga_block_depends(b, -1, 0) + ga_block_depends(b, rows, 0) + ga_block_depends(b, 0, -1) +
                         ga_block_depends(b, 0, cols),
                     0);
    ga_block_destroy(&b);
  }
}

/* xdot alone and y alone are the same bits as both; NaN and infinity are refused wherever they come in. */
static void parts_and_bad_inputs_of_all_kinds(void **state)
{
  bench *bn = *state;
  rig_random random = rig_seed(0);
  for (int s = 0; s < COUNT(SPECIMENS); s++) {
    ga_control_block *b = make(bn, SPECIMENS[s].make);
    const int n_in = ga_block_n_in(b), n_x = ga_block_n_x(b), n_out = ga_block_n_out(b), cols = n_in + n_x;
    double p[MOST_COLS], f[MOST_ROWS], xdot[MOST_ROWS], y[MOST_ROWS], J[MOST_ROWS * MOST_COLS];
    random_point(p, cols, &random);
    eval(f, b, 0.7, p);
    assert_int_equal(ga_block_eval(b, 0.7, p, p + n_in, xdot, NULL, NULL), GA_OK);
    assert_int_equal(ga_block_eval(b, 0.7, p, p + n_in, NULL, y, NULL), GA_OK);
    assert_memory_equal(f, xdot, (size_t)n_x * sizeof *f);
    assert_memory_equal(f + n_x, y, (size_t)n_out * sizeof *f);
    for (int j = -1; j < cols; j++) {
      double bad[MOST_COLS];
      ga_fault fault;
      char text[200];
      memcpy(bad, p, sizeof bad);
      if (j >= 0) bad[j] = j % 2 ? NAN : INFINITY;
      const double t = j < 0 ? NAN : 0.7;
      const char *name = j < 0      ? "time"
                         : j < n_in ? ga_block_input_name(b, j)
                                    : ga_block_state_name(b, j - n_in);
      assert_int_equal(ga_block_eval(b, t, bad, bad + n_in, xdot, y, &fault), GA_RETRY_NAN);
      assert_int_equal(fault.kind, GA_FAULT_INPUT);
      ga_fault_text(text, sizeof text, &fault);
      assert_non_null(strstr(text, name));
      assert_int_equal(ga_block_jacobian(b, t, bad, bad + n_in, J, NULL), GA_RETRY_NAN);
    }
    ga_block_destroy(&b);
  }
}

/* ---- Names and initial states ---- */

static void names(void **state)
{
  bench *bn = *state;
  ga_control_block *b = NULL;
  const char *const in[] = {"left", "right"}, *const x[] = {"speed", "angle"}, *const out[] = {"sum", "rest"};
  make_gain_matrix(&bn->w, &b);
  assert_string_equal(ga_block_input_name(b, 2), "u2");
  assert_string_equal(ga_block_output_name(b, 0), "y0");
  assert_null(ga_block_input_name(b, 3));
  assert_null(ga_block_input_name(b, -1));
  assert_null(ga_block_state_name(b, 0));
  assert_null(ga_block_output_name(b, 2));
  ga_block_destroy(&b);
  make_pid(&bn->w, &b);
  assert_string_equal(ga_block_input_name(b, 1), "measurement");
  assert_string_equal(ga_block_state_name(b, 0), "integral");
  assert_string_equal(ga_block_output_name(b, 0), "output");
  ga_block_destroy(&b);
  make_pd(&bn->w, &b);
  assert_string_equal(ga_block_state_name(b, 0), "filtered");
  ga_block_destroy(&b);
  make_expression(&bn->w, &b);
  assert_string_equal(ga_block_input_name(b, 1), "speed");
  assert_string_equal(ga_block_output_name(b, 2), "mix");
  ga_block_destroy(&b);
  MAKE(bn->ctx, state_space, &b,
       (o.n_in = o.n_x = o.n_out = 2, o.A = rig_A, o.B = rig_B, o.C = rig_C,
        o.names = (ga_block_names){in, x, out}));
  assert_string_equal(ga_block_input_name(b, 0), "left");
  assert_string_equal(ga_block_state_name(b, 1), "angle");
  assert_string_equal(ga_block_output_name(b, 1), "rest");
  ga_block_destroy(&b);
}

static void units(void **state)
{
  static const char long_one[] = "m*m*m*m*m*m*m*m*m*m*m*m*m*m*m*m*m*m*m*m*m*m*m*m*m*m*m*m*m*m*m*m";
  bench *bn = *state;
  ga_control_block *b = NULL;
  make_gain_matrix(&bn->w, &b);
  assert_string_equal(ga_block_output_unit(b, 1), "");
  assert_int_equal(ga_block_set_unit(b, 1, "N*m/rad"), GA_OK);
  assert_string_equal(ga_block_output_unit(b, 0), "");
  assert_string_equal(ga_block_output_unit(b, 1), "N*m/rad");
  assert_null(ga_block_output_unit(b, 2));
  assert_null(ga_block_output_unit(b, -1));
  assert_int_equal(ga_block_set_unit(b, 2, "m"), GA_ERR_ARGUMENT);
  assert_non_null(strstr(ga_context_error(bn->ctx)->text, "unit of output 2, but it has 2"));
  assert_int_equal(ga_block_set_unit(b, -1, "m"), GA_ERR_ARGUMENT);
  assert_int_equal(ga_block_set_unit(b, 1, "Pas"), GA_ERR_ARGUMENT);
  assert_non_null(strstr(ga_context_error(bn->ctx)->text, "'Pas' is unknown"));
  assert_int_equal(strlen(long_one), GA_BLOCK_NAME - 1);
  assert_int_equal(ga_block_set_unit(b, 0, long_one), GA_OK);
  assert_string_equal(ga_block_output_unit(b, 0), long_one);
  assert_int_equal(
      ga_block_set_unit(b, 0, "m*m*m*m*m*m*m*m*m*m*m*m*m*m*m*m*m*m*m*m*m*m*m*m*m*m*m*m*m*m*m*m*m"),
      GA_ERR_ARGUMENT);
  assert_int_equal(ga_context_error(bn->ctx)->reason, GA_REASON_NAME_TOO_LONG);
  assert_string_equal(ga_block_output_unit(b, 0), long_one); /* as it was */
  assert_int_equal(ga_block_set_unit(b, 0, "1"), GA_OK);
  assert_string_equal(ga_block_output_unit(b, 0), "");
  assert_int_equal(ga_block_set_unit(b, 1, NULL), GA_OK);
  assert_string_equal(ga_block_output_unit(b, 1), "");
  assert_int_equal(ga_block_set_unit(NULL, 0, "m"), GA_ERR_ARGUMENT);
  ga_block_destroy(&b);
}

/* At the initial state and the input of its equilibrium a block is at rest, with this output. */
static void assert_at_rest(ga_control_block *b, double u, double y)
{
  double p[MOST_COLS], f[MOST_ROWS];
  p[0] = u;
  ga_block_initial(b, p + 1);
  eval(f, b, 0, p);
  for (int i = 0; i < ga_block_n_x(b); i++) assert_near(f[i], 0, 1e-13, "rate at rest");
  assert_near(f[ga_block_n_x(b)], y, 1e-13, "output at rest");
  ga_block_destroy(&b);
}

static void initial_states(void **state)
{
  bench *bn = *state;
  static const double integrating[] = {2, 3, 0}, one[] = {5, 2}, big[] = {1e6, 1e3, 4e9};
  ga_control_block *b = NULL;
  double x[2];
  assert_at_rest(make(bn, make_first_low), 1, 2);
  assert_at_rest(make(bn, make_second_low), 2, 2);
  assert_at_rest(make(bn, make_second_high), 2, 0);
  assert_at_rest(make(bn, make_delay), 2, 2);
  assert_at_rest(make(bn, make_transfer_direct), 2 * 4.0 / 8, 2);
  MAKE(bn->ctx, transfer_function, &b,
       (o.n_num = 2, o.num = one, o.n_den = 3, o.den = integrating, o.steady_output = 7));
  assert_at_rest(b, 0, 7); /* den(0) = 0: an output that nothing drives */
  MAKE(bn->ctx, transfer_function, &b,
       (o.n_num = 2, o.num = one, o.n_den = 3, o.den = big, o.steady_output = -3));
  assert_at_rest(b, -3 * 2e9, -3);
  make_user(&bn->w, &b);
  ga_block_initial(b, x);
  assert_memory_equal(x, rig_x0, sizeof x);
  ga_block_destroy(&b);
  make_pid_hard(&bn->w, &b);
  ga_block_initial(b, x);
  assert_true(x[0] == 0.5 && x[1] == -0.1);
  ga_block_destroy(&b);
  make_integrator(&bn->w, &b);
  ga_block_initial(b, x);
  assert_memory_equal(x, rig_x0, sizeof x);
  ga_block_destroy(&b);
}

/* ---- Values known otherwise ---- */

static double value_of(const ga_control_block *b, double u)
{
  double y[1];
  eval(y, b, 0, &u);
  return y[0];
}

static double slope_of(const ga_control_block *b, double u)
{
  double J[MOST_ROWS * MOST_COLS];
  jacobian(J, b, 0, &u);
  return J[0];
}

static void static_values(void **state)
{
  bench *bn = *state;
  ga_control_block *b = NULL;
  const double u[] = {3, -4, 8};
  double y[3];
  make_gain_matrix(&bn->w, &b);
  eval(y, b, 0, u);
  assert_true(y[0] == 11 && y[1] == 1.5 - 12 + 32);
  ga_block_destroy(&b);
  MAKE(bn->ctx, gain, &b, (o.n_in = o.n_out = 2, o.gain = 0.5));
  eval(y, b, 0, u);
  assert_true(y[0] == 1.5 && y[1] == -2 && !ga_block_depends(b, 0, 1));
  ga_block_destroy(&b);
  make_sum(&bn->w, &b);
  eval(y, b, 0, u);
  assert_true(y[0] == 3 + 4 + 2);
  ga_block_destroy(&b);
  make_product(&bn->w, &b);
  eval(y, b, 0, u);
  assert_true(y[0] == -192);
  ga_block_destroy(&b);
  make_quotient(&bn->w, &b);
  eval(y, b, 0, u);
  assert_true(y[0] == -6);
  ga_block_destroy(&b);
  make_constant(&bn->w, &b);
  eval(y, b, 0, NULL);
  assert_memory_equal(y, rig_weights, sizeof y);
  ga_block_destroy(&b);
  make_function_of_time(&bn->w, &b);
  eval(y, b, 0.25, NULL);
  assert_near(y[0], 1, 1e-15, "sine at a quarter");
  ga_block_destroy(&b);
  make_expression(&bn->w, &b);
  eval(y, b, 0.5, u);
  assert_near(y[0], -12 * cos(0.5), 1e-14, "power");
  assert_near(y[1], 1, 0, "2 t");
  assert_near(y[2], 0 + 16 / 10.0, 1e-14, "mix");
  ga_block_destroy(&b);
  make_tanh(&bn->w, &b);
  assert_near(value_of(b, 0.4), 2 * tanh(0.6), 1e-15, "tanh");
  assert_true(value_of(b, 1e300) == 2 && slope_of(b, 1e300) == 0);
  assert_near(slope_of(b, 0), 3, 0, "slope of tanh");
  ga_block_destroy(&b);
}

static void limits_hard(void **state)
{
  bench *bn = *state;
  ga_control_block *saturation = NULL, *dead = NULL;
  MAKE(bn->ctx, saturation, &saturation, (o.lower = -0.3, o.upper = 2));
  MAKE(bn->ctx, dead_zone, &dead, (o.lower = -0.3, o.upper = 2));
  const double u[] = {-1e9, -1, -0.3, 0, 0.1, 2, 2.5}, y[] = {-0.3, -0.3, -0.3, 0, 0.1, 2, 2};
  const double slope[] = {0, 0, 1, 1, 1, 1, 0};
  for (int i = 0; i < COUNT(u); i++) {
    assert_true(value_of(saturation, u[i]) == y[i]);
    assert_true(slope_of(saturation, u[i]) == slope[i]);
    assert_true(value_of(dead, u[i]) == u[i] - y[i]);
    assert_true(slope_of(dead, u[i]) == 1 - slope[i]);
  }
  ga_block_destroy(&saturation);
  ga_block_destroy(&dead);
}

/* Exact beyond w from the limits, off by 3w/16 at them, monotone, and two derivatives continuous. */
static void limits_smooth(void **state)
{
  bench *bn = *state;
  ga_control_block *b = NULL, *one_sided = NULL;
  const double w = 0.4, lower = -1, upper = 2;
  MAKE(bn->ctx, saturation, &b, (o.lower = lower, o.upper = upper, o.smoothing = w));
  assert_true(value_of(b, lower - w) == lower && value_of(b, upper + w) == upper);
  assert_true(value_of(b, 0.123) == 0.123 && value_of(b, lower + w) == lower + w);
  assert_near(value_of(b, lower), lower + 3 * w / 16, 1e-15, "lower corner");
  assert_near(value_of(b, upper), upper - 3 * w / 16, 1e-15, "upper corner");
  assert_true(slope_of(b, lower) == 0.5 && slope_of(b, upper) == 0.5);
  double before = slope_of(b, -2), rate_before = 0;
  const double step = 1e-4;
  for (double u = -2 + step; u < 3; u += step) {
    const double slope = slope_of(b, u), rate = (slope - before) / step;
    assert_true(slope >= 0 && slope <= 1);
    assert_below(fabs(slope - before), 1.01 * step * 0.75 / w, "jump of the slope");
    assert_below(fabs(rate - rate_before), 1.01 * step * 1.5 / (w * w), "jump of the curvature");
    before = slope;
    rate_before = rate;
  }
  MAKE(bn->ctx, saturation, &one_sided, (o.lower = -INFINITY, o.upper = upper, o.smoothing = w));
  assert_true(value_of(one_sided, -1e30) == -1e30 && slope_of(one_sided, -1e30) == 1);
  assert_true(value_of(one_sided, 2.1) == value_of(b, 2.1));
  ga_block_destroy(&b);
  ga_block_destroy(&one_sided);
}

/* The tracked integral is the one term of the Jacobian that couples limit and state: by hand. */
static void pid_by_hand(void **state)
{
  bench *bn = *state;
  ga_control_block *b = NULL;
  double f[3];
  make_pid_hard(&bn->w, &b); /* kp 2, ki 3, kd 0.4, Tf 0.3, limits -2 and 3, Tt = sqrt(0.4/3) */
  const double p[] = {1, 0.5, 0.2, -0.7};
  eval(f, b, 0, p);
  double v = 2 * 0.5 + 0.2 + 0.4 / 0.3 * (-0.5 + 0.7);
  assert_near(f[2], v, 1e-15, "output");
  assert_near(f[0], 3 * 0.5, 1e-15, "rate of the integral");
  assert_near(f[1], (-0.5 + 0.7) / 0.3, 1e-15, "rate of the filter");
  const double far[] = {9, 0.5, 0.2, -0.7};
  eval(f, b, 0, far);
  v += 16;
  assert_true(f[2] == 3);
  assert_near(f[0], 3 * 8.5 + (3 - v) / sqrt(0.4 / 3), 1e-13, "rate of the integral at the limit");
  ga_block_destroy(&b);
}

/* ---- Frequency responses ---- */

/* C (iω − A)⁻¹ B + D of a block with one input and output, from its Jacobian. */
static double complex response(const ga_control_block *b, double omega)
{
  const int n = ga_block_n_x(b), cols = n + 1;
  double J[MOST_ROWS * MOST_COLS], p[MOST_COLS] = {0};
  double complex M[MOST_ROWS][MOST_COLS];
  jacobian(J, b, 0, p);
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) M[i][j] = (i == j ? I * omega : 0) - J[i * cols + 1 + j];
    M[i][n] = J[i * cols];
  }
  for (int k = 0; k < n; k++) { /* Gauss, with pivots */
    int best = k;
    for (int i = k; i < n; i++) best = cabs(M[i][k]) > cabs(M[best][k]) ? i : best;
    for (int j = k; j <= n; j++) {
      const double complex swap = M[k][j];
      M[k][j] = M[best][j];
      M[best][j] = swap;
    }
    for (int i = 0; i < n; i++) {
      if (i == k) continue;
      const double complex factor = M[i][k] / M[k][k];
      for (int j = k; j <= n; j++) M[i][j] -= factor * M[k][j];
    }
  }
  double complex y = J[n * cols];
  for (int i = 0; i < n; i++) y += J[n * cols + 1 + i] * M[i][n] / M[i][i];
  return y;
}

static double complex polynomial(const double *c, int n, double complex s)
{
  double complex value = 0;
  for (int i = 0; i < n; i++) value = value * s + c[i];
  return value;
}

static void assert_response(const ga_control_block *b, double omega, double complex expected,
                            const char *what)
{
  const double complex found = response(b, omega);
  const double direct = cabs(response(b, 1e12)); /* what a high-pass subtracts from at low frequencies */
  if (!(cabs(found - expected) <= 1e-13 * (cabs(expected) + direct)))
    fail_msg("%s at %g: %.15g %+.15gi instead of %.15g %+.15gi", what, omega, creal(found), cimag(found),
             creal(expected), cimag(expected));
}

static void transfer_functions(void **state)
{
  bench *bn = *state;
  static const double num[] = {0, 0, 3e7, 1e10}, den[] = {2e-3, 5, 4e5, 1e8, 7e10}, gain[] = {0, 6},
                      two[] = {4};
  static const double chain[] = {2, 0, 0, 0};
  ga_control_block *b = NULL;
  make_transfer_direct(&bn->w, &b);
  for (double omega = 1e-3; omega < 1e4; omega *= 3)
    assert_response(b, omega, polynomial(rig_same, 4, I * omega) / polynomial(rig_den, 4, I * omega),
                    "direct");
  ga_block_destroy(&b);
  MAKE(bn->ctx, transfer_function, &b, (o.n_num = 4, o.num = num, o.n_den = 5, o.den = den));
  double largest = 0;
  for (int i = 0; i < 4; i++) largest = fmax(largest, fabs(ga__wiener_row(b, 3)[1 + i]));
  assert_true(largest <= ga__wiener_row(b, 0)[2]); /* the companion matrix over σ is at most 1 */
  for (double omega = 1; omega < 1e6; omega *= 3)
    assert_response(b, omega, polynomial(num, 4, I * omega) / polynomial(den, 5, I * omega), "badly scaled");
  ga_block_destroy(&b);
  MAKE(bn->ctx, transfer_function, &b, (o.n_num = 1, o.num = two, o.n_den = 4, o.den = chain));
  assert_response(b, 3, 2 / cpow(3 * I, 3), "three integrators");
  ga_block_destroy(&b);
  MAKE(bn->ctx, transfer_function, &b, (o.n_num = 2, o.num = gain, o.n_den = 1, o.den = two));
  assert_int_equal(ga_block_n_x(b), 0);
  assert_true(value_of(b, 2) == 3); /* zeros in front of num do not count */
  ga_block_destroy(&b);
}

static void filters(void **state)
{
  bench *bn = *state;
  const double f = 3, zeta = 0.2, w = 2 * acos(-1) * f;
  ga_control_block *b = NULL;
  for (int pass = 0; pass < 3; pass++) {
    MAKE(bn->ctx, second_order, &b,
         (o.gain = 5, o.frequency = f, o.damping = zeta, o.pass = (ga_filter_pass)pass));
    for (double omega = 0.1; omega < 1e4; omega *= 2) {
      const double complex s = I * omega, den = s * s + 2 * zeta * w * s + w * w;
      const double complex num[] = {w * w, s * s, 2 * zeta * w * s};
      assert_response(b, omega, 5 * num[pass] / den, "second order");
    }
    ga_block_destroy(&b);
  }
  for (int pass = 0; pass < 2; pass++) {
    MAKE(bn->ctx, first_order, &b, (o.gain = 5, o.time_constant = 0.3, o.pass = (ga_filter_pass)pass));
    for (double omega = 0.1; omega < 1e4; omega *= 2) {
      const double complex s = 0.3 * I * omega;
      assert_response(b, omega, 5 * (pass ? s : 1) / (1 + s), "first order");
    }
    ga_block_destroy(&b);
  }
  MAKE(bn->ctx, second_order, &b, o.damping = 0);
  double p[] = {0, 0.7, 0}, out[3];
  eval(out, b, 0, p);
  assert_true(out[2] == 0.7); /* the first state of a low-pass is its output */
  ga_block_destroy(&b);
}

static double factorial(int n)
{
  return n > 1 ? n * factorial(n - 1) : 1;
}

/* Padé's approximant of exp(−z), degrees m over n. */
static double complex pade(int m, int n, double complex z)
{
  double complex p = 0, q = 0;
  for (int j = 0; j <= m; j++)
    p += factorial(m + n - j) * factorial(m) / (factorial(m + n) * factorial(j) * factorial(m - j)) *
         cpow(-z, j);
  for (int j = 0; j <= n; j++)
    q += factorial(m + n - j) * factorial(n) / (factorial(m + n) * factorial(j) * factorial(n - j)) *
         cpow(z, j);
  return p / q;
}

static void delays_are_pade_approximants(void **state)
{
  bench *bn = *state;
  for (int order = 1; order <= GA_DELAY_ORDER; order++) {
    ga_control_block *b = NULL;
    MAKE(bn->ctx, delay, &b, (o.time = 0.2, o.order = order));
    for (double omega = 0.5; omega < 100; omega *= 1.7)
      assert_response(b, omega, pade(order - 1, order, 0.2 * I * omega), "delay");
    assert_int_equal(ga_block_depends(b, order, 0), 0); /* no direct feedthrough */
    const double promised[] = {0.35, 0.15, 0.065, 0.027, 0.011, 0.0045}, omega = order / 0.2;
    const double off = cabs(response(b, omega) - cexp(-0.2 * I * omega));
    assert_below(off, promised[order - 1], "error at order/time");
    assert_below(0.9 * promised[order - 1], off, "promise of the error at order/time");
    ga_block_destroy(&b);
  }
}

/* ---- User's functions ---- */

static void user_with_and_without_jacobian(void **state)
{
  bench *bn = *state;
  ga_control_block *given = NULL, *differences = NULL;
  rig_random random = rig_seed(0);
  double worst = 0;
  make_user(&bn->w, &given);
  make_user_differences(&bn->w, &differences);
  for (int k = 0; k < 200; k++) {
    double p[4], J[MOST_ROWS * MOST_COLS], D[MOST_ROWS * MOST_COLS];
    random_point(p, 4, &random);
    if (k % 4 == 0) p[0] *= 1000;
    jacobian(J, given, 0.3, p);
    jacobian(D, differences, 0.3, p);
    for (int i = 0; i < 12; i++) worst = fmax(worst, fabs(J[i] - D[i]) / (1 + fabs(J[i])));
  }
  assert_below(worst, 1e-9, "differences against the given Jacobian");
  ga_block_destroy(&given);
  ga_block_destroy(&differences);
}

static int spoilt(void *user, double t, const double *u, const double *x, double *xdot, double *y)
{
  (void)t;
  (void)x;
  (void)xdot;
  y[0] = user ? 1 / (u[0] * 0) : u[0];
  return 0;
}

static int spoilt_jacobian(void *user, double t, const double *u, const double *x, double *J)
{
  (void)t;
  (void)u;
  (void)x;
  J[0] = user ? NAN : 1;
  J[1] = user ? 0 : 1;
  return 0;
}

static void user_failures(void **state)
{
  bench *bn = *state;
  static const unsigned char first_only[] = {1, 0};
  ga_control_block *b = NULL;
  const double u[] = {1, 2}, x[] = {0.1, 0.2};
  double J[12], xdot[2], y[1];
  char text[200];
  ga_fault fault;
  for (int jac = 0; jac < 2; jac++)
    for (int code = -7; code <= 7; code += 14) {
      long plan[] = {0, 1, code};
      const ga_status expected = code > 0 ? GA_RETRY_CALLBACK : GA_ERR_CALLBACK;
      MAKE(bn->ctx, user, &b,
           (RIG_USER, o.user = plan, o.name = "thruster", o.jacobian = jac ? rig_user_jacobian : NULL));
      assert_int_equal(ga_block_eval(b, 0, u, x, xdot, y, &fault), expected);
      ga_fault_text(text, sizeof text, &fault);
      assert_string_equal(text, code > 0
                                    ? "thruster(1, 2) does not exist, its function asked for a smaller step"
                                    : "thruster(1, 2) does not exist, its function gave up");
      const long calls = jac ? 1 : 16;
      for (long at = 1; at <= calls; at++) {
        plan[0] = 0;
        plan[1] = at;
        assert_int_equal(ga_block_jacobian(b, 0, u, x, J, &fault), expected);
        assert_string_equal(fault.operation, "thruster");
      }
      plan[0] = 0;
      plan[1] = calls + 1;
      assert_int_equal(ga_block_jacobian(b, 0, u, x, J, &fault), GA_OK);
      assert_int_equal(fault.kind, GA_FAULT_NONE);
      ga_block_destroy(&b);
    }
  for (int nan = 0; nan < 2; nan++) {
    MAKE(bn->ctx, user, &b,
         (o.n_in = 2, o.n_out = 1, o.function = spoilt, o.jacobian = spoilt_jacobian,
          o.user = nan ? &fault : NULL, o.depends = first_only));
    assert_int_equal(ga_block_eval(b, 0, u, NULL, NULL, y, &fault), nan ? GA_RETRY_NAN : GA_OK);
    assert_int_equal(fault.kind, nan ? GA_FAULT_OVERFLOW : GA_FAULT_NONE);
    assert_int_equal(ga_block_jacobian(b, 0, u, NULL, J, &fault), nan ? GA_RETRY_NAN : GA_ERR_PATTERN);
    assert_int_equal(fault.kind, nan ? GA_FAULT_DERIVATIVE : GA_FAULT_DOMAIN);
    assert_int_equal(ga_block_jacobian(b, 0, u, NULL, J, NULL), nan ? GA_RETRY_NAN : GA_ERR_PATTERN);
    ga_block_destroy(&b);
  }
}

/* ---- Faults of other kinds ---- */

static void assert_fault(ga_control_block *b, int derivative, double t, const double *u, const char *words)
{
  double out[MOST_ROWS * MOST_COLS];
  char text[200];
  ga_fault fault;
  ga_status status = derivative ? ga_block_jacobian(b, t, u, NULL, out, &fault)
                                : ga_block_eval(b, t, u, NULL, NULL, out, &fault);
  assert_int_equal(status, GA_RETRY_NAN);
  ga_fault_text(text, sizeof text, &fault);
  if (!strstr(text, words)) fail_msg("'%s' is not in '%s'", words, text);
}

static void faults(void **state)
{
  bench *bn = *state;
  static const double at[] = {0, 1}, grid[] = {0, 1, 2, 3};
  static const char *const inputs[] = {"a"}, *const texts[] = {"sqrt(a) + log(t)"};
  ga_function *table = NULL, *root = NULL;
  ga_table2d *surface = NULL;
  ga_control_block *b = NULL;
  ga_table_opts table_opts = ga_table_defaults();
  ga_table2d_opts surface_opts = ga_table2d_defaults();
  ga_function_expr_opts root_opts = ga_function_expr_defaults();
  table_opts.n = surface_opts.nx = surface_opts.ny = 2;
  table_opts.x = table_opts.y = surface_opts.x = surface_opts.y = at;
  table_opts.before = table_opts.after = surface_opts.outside = GA_EXTRAPOLATE_ERROR;
  surface_opts.z = grid;
  root_opts.text = "sqrt(t)";
  assert_int_equal(ga_function_create_table(bn->ctx, &table_opts, &table), GA_OK);
  assert_int_equal(ga_function_create_expr(bn->ctx, &root_opts, NULL, &root), GA_OK);
  assert_int_equal(ga_table2d_create(bn->ctx, &surface_opts, &surface), GA_OK);
  const double zero[3] = {1, 0, 3}, far[] = {5, 5}, huge[] = {1e200, 1e200, 1};

  make_quotient(&bn->w, &b);
  assert_fault(b, 0, 0, zero, "product(1, 0, 3) does not exist, no divisor may be 0");
  assert_fault(b, 1, 0, zero, "no divisor may be 0");
  ga_block_destroy(&b);
  make_product(&bn->w, &b);
  assert_fault(b, 0, 0, huge, "product(1e+200, 1e+200, 1) is too large");
  assert_fault(b, 1, 0, huge, "has no finite derivative");
  ga_block_destroy(&b);
  for (int d = 0; d < 2; d++) {
    MAKE(bn->ctx, table, &b, o.function = table);
    assert_fault(b, d, 0, far, "5 is outside of the table, which goes from 0 to 1");
    ga_block_destroy(&b);
    MAKE(bn->ctx, table2d, &b, o.table = surface);
    assert_fault(b, d, 0, far, "5 is outside of the");
    ga_block_destroy(&b);
    ga_block_expression_opts o = ga_block_expression_defaults();
    o.n_in = 1;
    o.inputs = inputs;
    o.texts = texts;
    assert_int_equal(ga_block_create_expression(bn->ctx, &o, NULL, NULL, &b), GA_OK);
    assert_fault(b, d, -1, far, "log(-1) does not exist");
    if (d) assert_fault(b, d, 1, zero + 1, "sqrt(0) has no finite derivative");
    ga_block_destroy(&b);
  }
  MAKE(bn->ctx, function_of_time, &b, o.function = table);
  assert_fault(b, 0, 5, NULL, "5 is outside of the table");
  ga_block_destroy(&b);
  MAKE(bn->ctx, table, &b, o.function = root); /* has a value at 0, but no slope */
  assert_true(value_of(b, 0) == 0);
  assert_fault(b, 1, 0, zero + 1, "sqrt(0) has no finite derivative");
  ga_block_destroy(&b);
  ga_function_destroy(&table);
  ga_function_destroy(&root);
  ga_table2d_destroy(&surface);
}

/* ---- Refused options ---- */

#define REFUSED(kind, set, words)                                                                            \
  do {                                                                                                       \
    ga_block_##kind##_opts o = ga_block_##kind##_defaults();                                                 \
    ga_control_block *b = (ga_control_block *)&o;                                                            \
    set;                                                                                                     \
    ga_context_clear_error(ctx);                                                                             \
    assert_status(ctx, ga_block_create_##kind(ctx, &o, &b), GA_ERR_ARGUMENT);                                \
    assert_null(b);                                                                                          \
    assert_says(ctx, "block '" #kind "': ");                                                                 \
    assert_says(ctx, words);                                                                                 \
  } while (0)

/* The same, by reason and option. */
#define REFUSED_OPTION(kind, set, why, option)                                                               \
  do {                                                                                                       \
    REFUSED(kind, set, "");                                                                                  \
    assert_int_equal(ga_context_error(ctx)->reason, why);                                                    \
    assert_string_equal(ga_context_error(ctx)->field, option);                                               \
  } while (0)

/* Every kind refuses NULL options, no place for the result, and no context. */
#define REFUSES_NULL(kind)                                                                                   \
  do {                                                                                                       \
    ga_block_##kind##_opts o = ga_block_##kind##_defaults();                                                 \
    ga_control_block *b = (ga_control_block *)&o;                                                            \
    assert_int_equal(ga_block_create_##kind(NULL, &o, &b), GA_ERR_ARGUMENT);                                 \
    assert_null(b);                                                                                          \
    assert_int_equal(ga_block_create_##kind(ctx, NULL, &b), GA_ERR_ARGUMENT);                                \
    assert_says(ctx, "block '" #kind "': opts is NULL");                                                     \
    assert_int_equal(ga_block_create_##kind(ctx, &o, NULL), GA_ERR_ARGUMENT);                                \
    assert_says(ctx, "block '" #kind "': out is NULL");                                                      \
  } while (0)

static void refused_nulls(void **state)
{
  ga_context *ctx = ((bench *)*state)->ctx;
  REFUSES_NULL(gain);
  REFUSES_NULL(sum);
  REFUSES_NULL(product);
  REFUSES_NULL(constant);
  REFUSES_NULL(function_of_time);
  REFUSES_NULL(integrator);
  REFUSES_NULL(state_space);
  REFUSES_NULL(transfer_function);
  REFUSES_NULL(first_order);
  REFUSES_NULL(second_order);
  REFUSES_NULL(delay);
  REFUSES_NULL(pid);
  REFUSES_NULL(saturation);
  REFUSES_NULL(dead_zone);
  REFUSES_NULL(tanh);
  REFUSES_NULL(table);
  REFUSES_NULL(table2d);
  REFUSES_NULL(user);
  ga_block_expression_opts o = ga_block_expression_defaults();
  ga_control_block *b = NULL;
  assert_int_equal(ga_block_create_expression(NULL, &o, NULL, NULL, &b), GA_ERR_ARGUMENT);
  assert_int_equal(ga_block_create_expression(ctx, NULL, NULL, NULL, &b), GA_ERR_ARGUMENT);
  assert_says(ctx, "block 'expression': opts is NULL");
  assert_int_equal(ga_block_create_expression(ctx, &o, NULL, NULL, NULL), GA_ERR_ARGUMENT);
  assert_says(ctx, "block 'expression': out is NULL");
}

static void refused_static(void **state)
{
  ga_context *ctx = ((bench *)*state)->ctx;
  static const double bad[] = {1, NAN, INFINITY};
  static const int two[] = {0, 2};
  REFUSED_OPTION(gain, o.n_in = 0, GA_REASON_OUT_OF_RANGE, "n_in");
  REFUSED_OPTION(gain, o.n_out = 257, GA_REASON_OUT_OF_RANGE, "n_out");
  REFUSED(gain, o.n_in = 2, "n_in is 2 and n_out is 1; they must agree where matrix is NULL");
  REFUSED_OPTION(gain, o.gain = NAN, GA_REASON_OUT_OF_RANGE, "gain");
  REFUSED(gain, (o.n_in = 2, o.matrix = bad), "matrix[1] is nan");
  REFUSED(sum, o.n_in = -1, "n_in is -1");
  REFUSED(sum, o.weights = bad, "weights[1] is nan");
  REFUSED(product, o.n_in = 0, "n_in is 0");
  REFUSED(product, o.gain = INFINITY, "gain is inf");
  REFUSED(product, o.divide = two, "divide[1] is 2; it must be 0 or 1");
  REFUSED(constant, o.n_out = 0, "n_out is 0");
  REFUSED_OPTION(constant, (void)0, GA_REASON_FIELD_MISSING, "value");
  REFUSED(constant, o.value = bad + 2, "value[0] is inf");
  REFUSED_OPTION(function_of_time, (void)0, GA_REASON_FIELD_MISSING, "function");
  REFUSED(saturation, o.lower = 1, "lower is 1 and upper is 1; lower must be below upper");
  REFUSED(saturation, o.upper = NAN, "upper is nan");
  REFUSED(saturation, o.smoothing = -1, "smoothing is -1; it must be 0 (hard corners) or above");
  REFUSED(saturation, o.smoothing = 1.1,
          "smoothing is 1.1 and upper - lower is 2; it must be at most half of that");
  REFUSED(saturation, (o.upper = INFINITY, o.smoothing = INFINITY), "smoothing is inf");
  REFUSED(dead_zone, o.upper = -2, "lower is -1 and upper is -2");
  REFUSED(dead_zone, o.smoothing = 3, "smoothing is 3");
  REFUSED(tanh, o.gain = NAN, "gain is nan");
  REFUSED_OPTION(tanh, o.scale = 0, GA_REASON_OUT_OF_RANGE, "scale");
  REFUSED_OPTION(table, (void)0, GA_REASON_FIELD_MISSING, "function");
  REFUSED_OPTION(table2d, (void)0, GA_REASON_FIELD_MISSING, "table");
}

static void refused_linear(void **state)
{
  ga_context *ctx = ((bench *)*state)->ctx;
  static const double bad[] = {1, NAN}, far[] = {3, 0}, lead[] = {0, 1}, zeros[] = {0, 0}, one[] = {1, 2, 0};
  static const double tiny[] = {1e-300, 1e300};
  static const char *const twice[] = {"a", "a"}, *const empty[] = {"a", ""};
  REFUSED(integrator, o.n = 0, "n is 0");
  REFUSED(integrator, o.gain = NAN, "gain is nan");
  REFUSED(integrator, (o.n = 2, o.initial = bad), "initial[1] is nan");
  REFUSED_OPTION(integrator, (o.lower = 1, o.upper = 0), GA_REASON_OPTIONS_CONTRADICT, "lower");
  REFUSED_OPTION(integrator, o.upper = 1, GA_REASON_OUT_OF_RANGE, "tracking_time");
  REFUSED(integrator, (o.upper = 2, o.tracking_time = 1, o.initial = far),
          "initial[0] is 3; it must be within the limits, -inf to 2");
  REFUSED_OPTION(integrator, (o.lower = 1, o.upper = 2, o.tracking_time = 1), GA_REASON_OUT_OF_RANGE,
                 "initial");
  REFUSED(integrator, (o.upper = 1, o.tracking_time = 1e-310), "overflow");
  REFUSED(state_space, (void)0, "n_out is 0");
  REFUSED(state_space, (o.n_out = 1, o.n_in = -1), "n_in is -1");
  REFUSED(state_space, (o.n_out = 1, o.n_x = 999), "n_x is 999");
  REFUSED_OPTION(state_space, (o.n_out = o.n_x = 1), GA_REASON_FIELD_MISSING, "A");
  REFUSED_OPTION(state_space, (o.n_out = o.n_x = o.n_in = 1, o.A = one), GA_REASON_FIELD_MISSING, "B");
  REFUSED_OPTION(state_space, (o.n_out = o.n_x = 1, o.A = one), GA_REASON_FIELD_MISSING, "C");
  REFUSED(state_space, (o.n_out = o.n_x = 1, o.A = bad + 1), "A[0] is nan");
  REFUSED(state_space, (o.n_out = o.n_in = 1, o.D = bad + 1), "D[0] is nan");
  REFUSED(state_space, (o.n_out = o.n_x = 1, o.A = o.C = one, o.x0 = bad + 1), "x0[0] is nan");
  REFUSED_OPTION(state_space, (o.n_out = 2, o.n_in = 1, o.D = one, o.names.out = twice),
                 GA_REASON_ITEMS_EQUAL, "names.out");
  REFUSED(state_space, (o.n_out = 1, o.n_in = 2, o.D = one, o.names.in = empty),
          "names.in[1] is NULL or empty");
  REFUSED(transfer_function, (void)0, "n_num is 0");
  REFUSED(transfer_function, o.n_num = 1, "n_den is 0");
  REFUSED(transfer_function, o.n_num = o.n_den = 1, "num is NULL");
  REFUSED(transfer_function, (o.n_num = o.n_den = 1, o.num = one), "den is NULL");
  REFUSED_OPTION(transfer_function, (o.n_num = 1, o.num = one, o.n_den = 2, o.den = lead),
                 GA_REASON_OUT_OF_RANGE, "den");
  REFUSED_OPTION(transfer_function, (o.n_num = 2, o.num = zeros, o.n_den = 2, o.den = one),
                 GA_REASON_OUT_OF_RANGE, "num");
  REFUSED(transfer_function, (o.n_num = 3, o.num = one, o.n_den = 2, o.den = one),
          "degree of num is 2 and degree of den is 1; it must not be above that of den");
  REFUSED(transfer_function, (o.n_num = 3, o.num = one, o.n_den = 3, o.den = one, o.steady_output = 1),
          "steady_output is 1 and num(0) is 0");
  REFUSED(transfer_function, (o.n_num = 1, o.num = one, o.n_den = 1, o.den = one, o.steady_output = 1),
          "steady_output is 1 and degree of den is 0; there is no state");
  REFUSED(transfer_function, (o.n_num = 1, o.num = one, o.n_den = 1, o.den = one, o.steady_output = NAN),
          "steady_output is nan");
  REFUSED(transfer_function, (o.n_num = 1, o.num = one, o.n_den = 2, o.den = tiny), "overflow");
  REFUSED(first_order, o.gain = NAN, "gain is nan");
  REFUSED_OPTION(first_order, o.time_constant = 0, GA_REASON_OUT_OF_RANGE, "time_constant");
  REFUSED_OPTION(first_order, o.pass = GA_PASS_BAND, GA_REASON_OUT_OF_RANGE, "pass");
  REFUSED(first_order, o.initial_input = NAN, "initial_input is nan");
  REFUSED(second_order, o.gain = NAN, "gain is nan");
  REFUSED_OPTION(second_order, o.frequency = -1, GA_REASON_OUT_OF_RANGE, "frequency");
  REFUSED_OPTION(second_order, o.damping = -1, GA_REASON_OUT_OF_RANGE, "damping");
  REFUSED(second_order, (o.damping = 0, o.pass = GA_PASS_BAND),
          "damping is 0; it must be > 0 for a band-pass");
  REFUSED_OPTION(second_order, o.pass = (ga_filter_pass)3, GA_REASON_OUT_OF_RANGE, "pass");
  REFUSED(second_order, o.initial_input = INFINITY, "initial_input is inf");
  REFUSED_OPTION(delay, (void)0, GA_REASON_OUT_OF_RANGE, "time");
  REFUSED(delay, (o.time = 1, o.order = 0), "order is 0; it must be within its range, 1 to 6");
  REFUSED(delay, (o.time = 1, o.order = 7), "order is 7");
  REFUSED(delay, (o.time = 1, o.initial_input = NAN), "initial_input is nan");
}

static void refused_others(void **state)
{
  ga_context *ctx = ((bench *)*state)->ctx;
  char long_name[80] = "a name that is so long that nobody would want to see it in a plot's legend";
  const char *const names_list[] = {long_name};
  REFUSED(pid, o.kp = NAN, "kp is nan");
  REFUSED(pid, o.ki = NAN, "ki is nan");
  REFUSED(pid, o.kd = INFINITY, "kd is inf");
  REFUSED_OPTION(pid, o.kp = 0, GA_REASON_OPTIONS_CONTRADICT, "kp");
  REFUSED_OPTION(pid, (o.kp = 0, o.kd = 1), GA_REASON_OUT_OF_RANGE, "filter_time");
  REFUSED_OPTION(pid, (o.kd = 1, o.filter_time = -1), GA_REASON_OUT_OF_RANGE, "filter_time");
  REFUSED(pid, o.setpoint_weight = NAN, "setpoint_weight is nan");
  REFUSED(pid, o.setpoint_weight_derivative = NAN, "setpoint_weight_derivative is nan");
  REFUSED(pid, (o.lower = 1, o.upper = 0), "lower is 1 and upper is 0; lower must be below upper");
  REFUSED_OPTION(pid, (o.lower = 0, o.upper = 1, o.smoothing = 2), GA_REASON_OPTIONS_CONTRADICT, "smoothing");
  REFUSED_OPTION(pid, (o.ki = 1, o.upper = 1, o.tracking_time = NAN), GA_REASON_OUT_OF_RANGE,
                 "tracking_time");
  REFUSED_OPTION(pid, (o.kp = 0, o.ki = 1, o.upper = 1), GA_REASON_OUT_OF_RANGE, "tracking_time");
  REFUSED(pid, o.integral = NAN, "integral is nan");
  REFUSED(pid, o.filtered = NAN, "filtered is nan");
  REFUSED(user, o.n_in = -1, "n_in is -1");
  REFUSED(user, o.n_x = 300, "n_x is 300");
  REFUSED(user, o.n_out = 300, "n_out is 300");
  REFUSED_OPTION(user, (void)0, GA_REASON_OPTIONS_CONTRADICT, "n_x");
  REFUSED_OPTION(user, o.n_out = 1, GA_REASON_FIELD_MISSING, "function");
  REFUSED(user, (RIG_USER, o.name = ""), "name[0] is NULL or empty");
  REFUSED(user, (RIG_USER, o.x0 = (const double[]){1, NAN}), "x0[1] is nan");
  REFUSED(user, (RIG_USER, o.difference_step = 0), "difference_step is 0");
  REFUSED(user, (RIG_USER, o.difference_step = 0.2), "difference_step is 0.2");
  REFUSED(user, (RIG_USER, o.names.out = names_list),
          "names.out[0] of block 'user': the name has 74 characters; the limit is 63");
}

static void refused_expressions(void **state)
{
  bench *bn = *state;
  ga_context *ctx = bn->ctx;
  static const char *const inputs[] = {"a", "b"}, *const time_input[] = {"t"}, *const twice[] = {"a", "a"};
  static const char *const texts[] = {"a + b", "a + bb"}, *const none[] = {NULL};
  static const ga_symbol variable = {.name = "c", .kind = GA_SYMBOL_VARIABLE};
  const struct {
    ga_block_expression_opts o;
    int failed;
    const char *words;
  } cases[] = {
      {{.n_in = -1, .n_out = 1}, -1, "block 'expression': n_in is -1"},
      {{.n_out = 0}, -1, "block 'expression': n_out is 0"},
      {{.n_in = 1, .n_out = 1}, -1, "block 'expression': inputs is NULL"},
      {{.n_out = 1}, -1, "block 'expression': texts is NULL"},
      {{.n_out = 1, .texts = none}, -1, "block 'expression': texts[0] is NULL"},
      {{.n_out = 1, .texts = texts, .n_symbols = -1}, -1, "block 'expression': n_symbols is -1"},
      {{.n_out = 1, .texts = texts, .n_symbols = 1}, -1, "block 'expression': symbols is NULL"},
      {{.n_out = 1, .texts = texts, .n_symbols = 1, .symbols = &variable},
       -1,
       "symbols[0] is 'c', a variable"},
      {{.n_in = 1, .inputs = time_input, .n_out = 1, .texts = texts},
       -1,
       "inputs[0] is 't', that is the time"},
      {{.n_in = 2, .inputs = twice, .n_out = 1, .texts = texts}, -1, "are both 'a'"},
      {{.n_in = 2, .inputs = inputs, .n_out = 2, .texts = texts, .outputs = twice},
       -1,
       "outputs[1] and item 0 before it are both 'a'"},
      {{.n_in = 2, .inputs = inputs, .n_out = 2, .texts = texts}, 1, "'bb' is unknown"},
  };
  for (int i = 0; i < COUNT(cases); i++) {
    ga_control_block *b = (ga_control_block *)&variable;
    ga_text_error error;
    int failed = 99;
    assert_status(ctx, ga_block_create_expression(ctx, &cases[i].o, &error, &failed, &b), GA_ERR_ARGUMENT);
    assert_null(b);
    assert_says(ctx, cases[i].words);
    assert_int_equal(failed, cases[i].failed);
    assert_int_equal(error.column, failed < 0 ? 0 : 5);
  }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
  const struct CMUnitTest tests[] = {TEST(every_kind_has_a_specimen_and_a_name),
                                     TEST(rates_enclose_changes),
                                     TEST(derivatives_of_all_kinds),
                                     TEST(sides_of_all_kinds),
                                     TEST(patterns_of_all_kinds),
                                     TEST(parts_and_bad_inputs_of_all_kinds),
                                     TEST(names),
                                     TEST(units),
                                     TEST(initial_states),
                                     TEST(static_values),
                                     TEST(limits_hard),
                                     TEST(limits_smooth),
                                     TEST(pid_by_hand),
                                     TEST(transfer_functions),
                                     TEST(filters),
                                     TEST(delays_are_pade_approximants),
                                     TEST(user_with_and_without_jacobian),
                                     TEST(user_failures),
                                     TEST(faults),
                                     TEST(refused_nulls),
                                     TEST(refused_static),
                                     TEST(refused_linear),
                                     TEST(refused_others),
                                     TEST(refused_expressions)};
  return cmocka_run_group_tests_name("control", tests, NULL, NULL);
}
