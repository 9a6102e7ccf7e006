/* What the tests of the control layer share: specimens of every kind of block, and diagrams: blocks connected
 * and put into a system of the core. Include after cmocka.h. */
#ifndef GALPHA_TESTS_CONTROL_RIG_H
#define GALPHA_TESTS_CONTROL_RIG_H

#include "core_rig.h"
#include "control/control_impl.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

enum { MOST_ROWS = 16, MOST_COLS = 16 };

/* ---- What blocks borrow ---- */

typedef struct ware {
  ga_context *ctx;
  ga_function *wave, *spline;
  ga_table2d *surface;
} ware;

static inline ware ware_open(ga_context *ctx)
{
  static const double at[] = {-3, -1, 0, 2, 3}, value[] = {1, -1, 0.5, 2, 0};
  static const double z[] = {0, 1, 2, -1, 1, 3, 2, 0, 1, 1, -2, 0, 1, 2, 3, 1};
  static const double side[] = {-3, -1, 1, 3};
  ware w = {.ctx = ctx};
  ga_wave_opts wave = ga_wave_defaults();
  ga_table_opts table = ga_table_defaults();
  ga_table2d_opts surface = ga_table2d_defaults();
  table.n = COUNT(at);
  table.x = at;
  table.y = value;
  table.interpolation = GA_INTERPOLATE_SPLINE;
  table.before = table.after = GA_EXTRAPOLATE_LINEAR;
  surface.nx = surface.ny = COUNT(side);
  surface.x = surface.y = side;
  surface.z = z;
  surface.interpolation = GA_INTERPOLATE_SPLINE;
  surface.outside = GA_EXTRAPOLATE_LINEAR;
  assert_status(ctx, ga_function_create_wave(ctx, &wave, &w.wave), GA_OK);
  assert_status(ctx, ga_function_create_table(ctx, &table, &w.spline), GA_OK);
  assert_status(ctx, ga_table2d_create(ctx, &surface, &w.surface), GA_OK);
  return w;
}

static inline void ware_close(ware *w)
{
  ga_function_destroy(&w->wave);
  ga_function_destroy(&w->spline);
  ga_table2d_destroy(&w->surface);
}

/* ---- Specimens of every kind ---- */

typedef ga_status (*specimen_fn)(const ware *w, ga_control_block **out);

#define SPECIMEN(name, kind, set)                                                                            \
  static inline ga_status make_##name(const ware *w, ga_control_block **out)                                 \
  {                                                                                                          \
    ga_block_##kind##_opts o = ga_block_##kind##_defaults();                                                 \
    set;                                                                                                     \
    return ga_block_create_##kind(w->ctx, &o, out);                                                          \
  }

static const double rig_matrix[] = {1, -2, 0, 0.5, 3, 4};
static const double rig_weights[] = {1, -1, 0.25};
static const int rig_divide[] = {0, 1, 0};
static const double rig_A[] = {-1, 2, 0, -3}, rig_B[] = {1, 0, 0, 2}, rig_C[] = {1, 1, 0, 1},
                    rig_D[] = {0, 0, 0.5, 0};
static const double rig_x0[] = {0.3, -0.2};
static const double rig_num[] = {2, 1, 3}, rig_den[] = {1, 2, 5, 4};
static const double rig_same[] = {2, 1, 3, 8}; /* over rig_den: with direct feedthrough */

SPECIMEN(gain, gain, o.gain = 3)
SPECIMEN(gain_matrix, gain, (o.n_in = 3, o.n_out = 2, o.matrix = rig_matrix))
SPECIMEN(sum, sum, (o.n_in = 3, o.weights = rig_weights))
SPECIMEN(product, product, (o.n_in = 3, o.gain = 2))
SPECIMEN(quotient, product, (o.n_in = 3, o.divide = rig_divide))
SPECIMEN(constant, constant, (o.n_out = 3, o.value = rig_weights))
SPECIMEN(function_of_time, function_of_time, o.function = w->wave)
SPECIMEN(integrator, integrator, (o.n = 2, o.gain = 3, o.initial = rig_x0))
SPECIMEN(integrator_hard, integrator, (o.n = 2, o.lower = -0.5, o.upper = 1, o.tracking_time = 0.1))
SPECIMEN(integrator_smooth, integrator,
         (o.lower = -0.5, o.upper = 1, o.smoothing = 0.5, o.tracking_time = 0.1))
SPECIMEN(state_space, state_space,
         (o.n_in = o.n_x = o.n_out = 2, o.A = rig_A, o.B = rig_B, o.C = rig_C, o.D = rig_D, o.x0 = rig_x0))
SPECIMEN(transfer, transfer_function, (o.n_num = 3, o.num = rig_num, o.n_den = 4, o.den = rig_den))
SPECIMEN(transfer_direct, transfer_function,
         (o.n_num = 4, o.num = rig_same, o.n_den = 4, o.den = rig_den, o.steady_output = 2))
SPECIMEN(first_low, first_order, (o.gain = 2, o.time_constant = 0.3, o.initial_input = 1))
SPECIMEN(first_high, first_order, (o.gain = 2, o.time_constant = 0.3, o.pass = GA_PASS_HIGH))
SPECIMEN(second_low, second_order, (o.frequency = 0.5, o.initial_input = 2))
SPECIMEN(second_high, second_order, (o.frequency = 0.5, o.pass = GA_PASS_HIGH, o.initial_input = 2))
SPECIMEN(second_band, second_order, (o.frequency = 0.5, o.pass = GA_PASS_BAND, o.gain = 3))
SPECIMEN(delay, delay, (o.time = 0.7, o.initial_input = 2))
SPECIMEN(delay_six, delay, (o.time = 2, o.order = 6))
SPECIMEN(pid, pid,
         (o.kp = 2, o.ki = 3, o.kd = 0.4, o.setpoint_weight = 0.6, o.setpoint_weight_derivative = 0.2))
SPECIMEN(pid_hard, pid,
         (o.kp = 2, o.ki = 3, o.kd = 0.4, o.filter_time = 0.3, o.lower = -2, o.upper = 3, o.integral = 0.5,
          o.filtered = -0.1))
SPECIMEN(pid_smooth, pid, (o.ki = 3, o.kd = 0.4, o.lower = -2, o.upper = 3, o.smoothing = 1.5))
SPECIMEN(pi_one_sided, pid, (o.ki = 3, o.upper = 1, o.smoothing = 0.3))
SPECIMEN(pd, pid, (o.kd = 0.4, o.lower = -1, o.upper = 1))
SPECIMEN(saturation_hard, saturation, o.upper = 0.5)
SPECIMEN(saturation_smooth, saturation, (o.upper = 0.5, o.smoothing = 0.75))
SPECIMEN(dead_zone_hard, dead_zone, o.lower = -0.5)
SPECIMEN(dead_zone_smooth, dead_zone, (o.lower = -0.5, o.smoothing = 0.6))
SPECIMEN(tanh, tanh, (o.gain = 3, o.scale = 2))
SPECIMEN(table, table, o.function = w->spline)
SPECIMEN(table2d, table2d, o.table = w->surface)

SPECIMEN(orifice, orifice, (o.coefficient = 2, o.transition = 0.7))
SPECIMEN(check_valve, orifice,
         (o.coefficient = 2, o.transition = 0.7, o.check = o.controlled = 1, o.check_width = 0.5))
SPECIMEN(chamber, chamber, (o.bulk_modulus = 3, o.volume = 9, o.area = -0.8, o.pressure = 1))
SPECIMEN(dc_motor, dc_motor, (o.resistance = 2, o.inductance = 0.5, o.constant = 0.3, o.current = 1))
SPECIMEN(gearbox, gearbox, (o.ratio = -3, o.efficiency = 0.6, o.power = 2))

static inline ga_status make_expression(const ware *w, ga_control_block **out)
{
  static const char *const inputs[] = {"force", "speed"};
  static const char *const outputs[] = {"power", "rest", "mix"};
  static const char *const texts[] = {"force*speed*cos(t)", "k*t", "curve(force) + speed^2/(1 + force^2)"};
  ga_block_expression_opts o = ga_block_expression_defaults();
  const ga_symbol symbols[] = {{.name = "k", .kind = GA_SYMBOL_CONSTANT, .value = 2},
                               {.name = "curve", .kind = GA_SYMBOL_FUNCTION, .function = w->spline}};
  o.n_in = 2;
  o.inputs = inputs;
  o.n_out = 3;
  o.texts = texts;
  o.outputs = outputs;
  o.symbols = symbols;
  o.n_symbols = 2;
  return ga_block_create_expression(w->ctx, &o, NULL, NULL, out);
}

/* xdot = (u0 x1, sin(x0) − x1³), y = x0 u1 + exp(−x1²) + t */
static inline int rig_user(void *user, double t, const double *u, const double *x, double *xdot, double *y)
{
  if (user && ++((long *)user)[0] == ((long *)user)[1]) return (int)((long *)user)[2];
  xdot[0] = u[0] * x[1];
  xdot[1] = sin(x[0]) - x[1] * x[1] * x[1];
  y[0] = x[0] * u[1] + exp(-x[1] * x[1]) + t;
  return 0;
}

static inline int rig_user_jacobian(void *user, double t, const double *u, const double *x, double *J)
{
  (void)t;
  if (user && ++((long *)user)[0] == ((long *)user)[1]) return (int)((long *)user)[2];
  J[0] = x[1], J[3] = u[0];
  J[4 + 2] = cos(x[0]), J[4 + 3] = -3 * x[1] * x[1];
  J[8 + 1] = x[0], J[8 + 2] = u[1], J[8 + 3] = -2 * x[1] * exp(-x[1] * x[1]);
  return 0;
}

static const unsigned char rig_user_depends[] = {1, 0, 0, 1, 0, 0, 1, 1, 0, 1, 1, 1};
#define RIG_USER                                                                                             \
  (o.n_in = o.n_x = 2, o.n_out = 1, o.function = rig_user, o.depends = rig_user_depends, o.x0 = rig_x0)
SPECIMEN(user, user, (RIG_USER, o.jacobian = rig_user_jacobian))
SPECIMEN(user_differences, user, RIG_USER)

static inline ga_status make_sampled(const ware *w, ga_control_block **out)
{
  ga_block_sampled_opts o = ga_block_sampled_defaults();
  ga_control_block *inner = NULL;
  o.sample_time = 0.1;
  *out = NULL;
  ga_status status = make_user(w, &inner);
  if (!status) status = ga_block_create_sampled(w->ctx, &o, &inner, out);
  ga_block_destroy(&inner);
  return status;
}

typedef struct specimen {
  const char *name;
  ga_block_kind kind;
  specimen_fn make;
  int n_in, n_x, n_out;
} specimen;

static const specimen SPECIMENS[] = {
    {"gain", GA_KIND_GAIN, make_gain, 1, 0, 1},
    {"gain, matrix", GA_KIND_GAIN, make_gain_matrix, 3, 0, 2},
    {"sum", GA_KIND_SUM, make_sum, 3, 0, 1},
    {"product", GA_KIND_PRODUCT, make_product, 3, 0, 1},
    {"product, quotient", GA_KIND_PRODUCT, make_quotient, 3, 0, 1},
    {"constant", GA_KIND_CONSTANT, make_constant, 0, 0, 3},
    {"function of time", GA_KIND_FUNCTION_OF_TIME, make_function_of_time, 0, 0, 1},
    {"integrator", GA_KIND_INTEGRATOR, make_integrator, 2, 2, 2},
    {"integrator, hard", GA_KIND_INTEGRATOR, make_integrator_hard, 2, 2, 2},
    {"integrator, smooth", GA_KIND_INTEGRATOR, make_integrator_smooth, 1, 1, 1},
    {"state space", GA_KIND_STATE_SPACE, make_state_space, 2, 2, 2},
    {"transfer function", GA_KIND_TRANSFER_FUNCTION, make_transfer, 1, 3, 1},
    {"transfer function, direct", GA_KIND_TRANSFER_FUNCTION, make_transfer_direct, 1, 3, 1},
    {"first order, low", GA_KIND_FIRST_ORDER, make_first_low, 1, 1, 1},
    {"first order, high", GA_KIND_FIRST_ORDER, make_first_high, 1, 1, 1},
    {"second order, low", GA_KIND_SECOND_ORDER, make_second_low, 1, 2, 1},
    {"second order, high", GA_KIND_SECOND_ORDER, make_second_high, 1, 2, 1},
    {"second order, band", GA_KIND_SECOND_ORDER, make_second_band, 1, 2, 1},
    {"delay", GA_KIND_DELAY, make_delay, 1, 3, 1},
    {"delay of order 6", GA_KIND_DELAY, make_delay_six, 1, 6, 1},
    {"pid", GA_KIND_PID, make_pid, 2, 2, 1},
    {"pid, hard", GA_KIND_PID, make_pid_hard, 2, 2, 1},
    {"pid, smooth", GA_KIND_PID, make_pid_smooth, 2, 2, 1},
    {"pi, one limit", GA_KIND_PID, make_pi_one_sided, 2, 1, 1},
    {"pd", GA_KIND_PID, make_pd, 2, 1, 1},
    {"saturation, hard", GA_KIND_SATURATION, make_saturation_hard, 1, 0, 1},
    {"saturation, smooth", GA_KIND_SATURATION, make_saturation_smooth, 1, 0, 1},
    {"dead zone, hard", GA_KIND_DEAD_ZONE, make_dead_zone_hard, 1, 0, 1},
    {"dead zone, smooth", GA_KIND_DEAD_ZONE, make_dead_zone_smooth, 1, 0, 1},
    {"tanh", GA_KIND_TANH, make_tanh, 1, 0, 1},
    {"table", GA_KIND_TABLE, make_table, 1, 0, 1},
    {"table2d", GA_KIND_TABLE2D, make_table2d, 2, 0, 1},
    {"expression", GA_KIND_EXPRESSION, make_expression, 2, 0, 3},
    {"orifice", GA_KIND_ORIFICE, make_orifice, 2, 0, 1},
    {"check valve", GA_KIND_ORIFICE, make_check_valve, 3, 0, 1},
    {"chamber", GA_KIND_CHAMBER, make_chamber, 3, 1, 1},
    {"motor", GA_KIND_DC_MOTOR, make_dc_motor, 2, 1, 2},
    {"gearbox", GA_KIND_GEARBOX, make_gearbox, 2, 0, 2},
    {"user", GA_KIND_USER, make_user, 2, 2, 1},
    {"user, differences", GA_KIND_USER, make_user_differences, 2, 2, 1},
    {"sampled", GA_KIND_SAMPLED, make_sampled, 2, 3, 1},
};

/* ---- Diagrams ---- */

enum { MOST_BLOCKS = 8, MOST_SIGNALS = 16 };

/* Blocks in a row; states and outputs are numbered through. input[k][i]: the output that feeds input i of
 * block k. */
typedef struct diagram {
  int n_blocks, n_x, n_y;
  ga_control_block *block[MOST_BLOCKS];
  int input[MOST_BLOCKS][MOST_COLS], first_x[MOST_BLOCKS], first_y[MOST_BLOCKS];
  double x0[MOST_SIGNALS];
} diagram;

/* Takes the block over; returns its number. inputs may be set later, for loops. */
static inline int diagram_add(diagram *d, ga_control_block *b, const int *inputs)
{
  const int k = d->n_blocks++;
  assert_true(k < MOST_BLOCKS && ga_block_n_in(b) <= MOST_COLS);
  d->block[k] = b;
  d->first_x[k] = d->n_x;
  d->first_y[k] = d->n_y;
  d->n_x += ga_block_n_x(b);
  d->n_y += ga_block_n_out(b);
  assert_true(d->n_x <= MOST_SIGNALS && d->n_y <= MOST_SIGNALS);
  for (int i = 0; inputs && i < ga_block_n_in(b); i++) d->input[k][i] = inputs[i];
  ga_block_initial(b, d->x0 + d->first_x[k]);
  return k;
}

static inline int diagram_answer(ga_status status)
{
  return status == GA_OK ? 0 : status > 0 ? 1 : -1;
}

static inline void diagram_inputs(double *u, const diagram *d, int k, const ga_point *p)
{
  for (int i = 0; i < ga_block_n_in(d->block[k]); i++) u[i] = p->y[d->input[k][i]];
}

static inline int diagram_state(void *user, const ga_point *p, double *out)
{
  const diagram *d = user;
  double u[MOST_COLS];
  for (int k = 0; k < d->n_blocks; k++) {
    diagram_inputs(u, d, k, p);
    ga_status s = ga_block_eval(d->block[k], p->t, u, p->x + d->first_x[k], out + d->first_x[k], NULL, NULL);
    if (s) return diagram_answer(s);
  }
  return 0;
}

static inline int diagram_output(void *user, const ga_point *p, double *out)
{
  const diagram *d = user;
  double u[MOST_COLS];
  for (int k = 0; k < d->n_blocks; k++) {
    diagram_inputs(u, d, k, p);
    ga_status s = ga_block_eval(d->block[k], p->t, u, p->x + d->first_x[k], NULL, out + d->first_y[k], NULL);
    if (s) return diagram_answer(s);
  }
  return 0;
}

static inline int diagram_jacobian(void *user, const ga_point *p, ga_jacobian *J)
{
  const diagram *d = user;
  const int n = d->n_x + d->n_y;
  double u[MOST_COLS], B[MOST_ROWS * MOST_COLS];
  for (int k = 0; k < d->n_blocks; k++) {
    const ga_control_block *b = d->block[k];
    const int n_in = ga_block_n_in(b), n_x = ga_block_n_x(b), cols = n_in + n_x;
    diagram_inputs(u, d, k, p);
    ga_status s = ga_block_jacobian(b, p->t, u, p->x + d->first_x[k], B, NULL);
    if (s) return diagram_answer(s);
    for (int i = 0; i < n_x + ga_block_n_out(b); i++)
      for (int j = 0; j < cols; j++) {
        const int row = i < n_x ? d->first_x[k] + i : d->n_x + d->first_y[k] + i - n_x;
        const int col = j < n_in ? d->n_x + d->input[k][j] : d->first_x[k] + j - n_in;
        J->D[row * n + col] -= B[i * cols + j];
      }
  }
  return 0;
}

/* The context for a diagram; blocks are made in it. */
static inline rig diagram_rig(diagram *d)
{
  rig r = rig_open(NULL);
  memset(d, 0, sizeof *d);
  return r;
}

static inline void diagram_define(rig *r, diagram *d)
{
  r->def.n_x = d->n_x;
  r->def.n_y = d->n_y;
  r->def.user = d;
  r->def.state = d->n_x > 0 ? diagram_state : NULL;
  r->def.output = diagram_output;
  r->def.jacobian = diagram_jacobian;
}

/* System and stepper, started at t = 0 from the blocks' initial states. */
static inline void diagram_start(rig *r, diagram *d, double h)
{
  ga_start_opts o = ga_start_defaults();
  o.h = h;
  diagram_define(r, d);
  rig_build(r);
  assert_status(r->ctx, ga_stepper_start(r->st, &o, 0.0, NULL, NULL, d->x0, NULL, NULL, NULL), GA_OK);
}

/* The stepper anew, for another step size. */
static inline void diagram_restart(rig *r, diagram *d, double h)
{
  ga_stepper_destroy(&r->st);
  ga_system_destroy(&r->sys);
  diagram_start(r, d, h);
}

static inline void diagram_close(rig *r, diagram *d)
{
  for (int k = 0; k < d->n_blocks; k++) ga_block_destroy(&d->block[k]);
  rig_close(r);
}

/* Makes a block by options, or fails the test. */
#define MAKE(ctx, kind, block, set)                                                                          \
  do {                                                                                                       \
    ga_block_##kind##_opts o = ga_block_##kind##_defaults();                                                 \
    set;                                                                                                     \
    assert_status(ctx, ga_block_create_##kind(ctx, &o, block), GA_OK);                                       \
  } while (0)

#endif
