/* Derivatives of signals by parameters of models, against extrapolated differences of complete runs of the
 * models read anew at other values, with the same steps. */
#define _XOPEN_SOURCE 700 /* mkstemp */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "galpha/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct course {
  const char *model, *by[8];
  double h;
  int n;
  double width; /* of the differences, relative to the value */
} course;

enum { MOST = 512, MOST_STATE = 512 };

static int at_rest; /* 1: runs begin at a static equilibrium */
static int show;    /* 1: figures are printed, none is judged */
static ga_method method = GA_STABILIZED;
static int order; /* of collocation */

static void fine(const ga_context *ctx, ga_status status)
{
  if (status) fail_msg("%s: %s", ga_status_text(status), ga_context_error(ctx)->text);
}

/* A model that runs with given steps. */
typedef struct run {
  ga_context *ctx;
  ga_model *model;
  ga_machine *machine;
  ga_stepper *st;
  ga_simulator *sim;
  char path[256];
} run;

static void run_open(run *r, const course *c, const char *set)
{
  ga_model_opts opts = ga_model_defaults();
  ga_stepper_opts so;
  ga_simulate_opts o = ga_simulate_defaults();
  const int is_text = strncmp(c->model, "galpha:", 7) == 0;
  if (!is_text) snprintf(r->path, sizeof r->path, "%s/%s.yaml", MODELS, c->model);
  assert_int_equal(ga_context_create(NULL, &r->ctx), GA_OK);
  opts.set = &set;
  opts.n_set = set != NULL;
  fine(r->ctx, is_text ? ga_model_read_text(r->ctx, "text", c->model, strlen(c->model), &opts, &r->model)
                       : ga_model_read_file(r->ctx, r->path, &opts, &r->model));
  r->machine = ga_model_machine(r->model);
  ga_run_settings settings = *ga_model_settings(r->model);
  settings.method = method;
  settings.order = order;
  fine(r->ctx, ga_run_stepper_opts(r->ctx, &settings, &so));
  so.newton.tol = 1e-14;
  so.newton.max_iterations = 40;
  if (order > 0) so.newton.reuse = GA_FRESH_STEP; /* when steps share factors may change with a parameter */
  o.fixed_h = c->h;
  o.t_end = c->n * c->h;
  o.defect_points = 0;
  fine(r->ctx, ga_stepper_create(r->ctx, ga_machine_system(r->machine), &so, &r->st));
  fine(r->ctx, ga_simulator_create(r->ctx, r->st, &o, &r->sim));
}

/* To the equilibrium, and the variations with it. */
static void settle(run *r, double *q, double *v, double *x, int n_by, ga_model_variation *const *by)
{
  const ga_system *sys = ga_machine_system(r->machine);
  ga_equilibrium_opts o = ga_equilibrium_defaults();
  ga_equilibrium *eq = NULL;
  o.hold_free = 1;
  o.tol = 1e-14;
  fine(r->ctx, ga_equilibrium_create(r->ctx, sys, &o, &eq));
  fine(r->ctx, ga_equilibrium_solve(eq, 0.0, q, x, NULL));
  const ga_state *rest = ga_equilibrium_state(eq);
  fine(r->ctx, ga_machine_move_velocities(r->machine, q, rest->q, v));
  memcpy(q, rest->q, (size_t)ga_group_nq(ga_system_group(sys)) * sizeof *q);
  memcpy(x, rest->x, (size_t)ga_system_size(sys, GA_BLOCK_X) * sizeof *x);
  for (int j = 0; j < n_by; j++) fine(r->ctx, ga_model_variation_settle(by[j], eq));
  ga_equilibrium_destroy(&eq);
}

static void run_start(run *r, int n_by, ga_model_variation *const *by)
{
  static double q[MOST_STATE], v[MOST_STATE], x[MOST_STATE];
  fine(r->ctx, ga_machine_initial(r->machine, q, v, x));
  if (at_rest) settle(r, q, v, x, n_by, by);
  fine(r->ctx, ga_simulator_start(r->sim, NULL, 0.0, q, v, x, NULL, NULL, NULL));
}

static void run_close(run *r)
{
  ga_simulator_destroy(&r->sim);
  ga_stepper_destroy(&r->st);
  ga_model_destroy(&r->model);
  ga_context_destroy(&r->ctx);
}

/* All signals but those that a run sums up. */
static int choose_signals(const ga_machine *m, int *index)
{
  int n = 0;
  for (int i = 0; i < ga_machine_n_signals(m) && n < MOST; i++)
    if (!ga_machine_signal_is_constant(m, i) && ga_machine_signal_kind(m, i) != GA_SIGNAL_ENERGY &&
        ga_machine_signal_kind(m, i) != GA_SIGNAL_ERROR)
      index[n++] = i;
  return n;
}

static int step(run *r)
{
  const ga_status status = ga_simulator_step(r->sim);
  if (status < 0 || (status && !ga_simulator_finished(r->sim))) fine(r->ctx, status);
  return !status;
}

/* A state within the last step. */
static ga_state state_at(run *r, double t)
{
  static double q[MOST_STATE], v[MOST_STATE], a[MOST_STATE], l[MOST_STATE], p[MOST_STATE], x[MOST_STATE],
      y[MOST_STATE];
  fine(r->ctx, ga_stepper_interpolate(r->st, t, q, v, a, l, p, x, y));
  return (ga_state){.t = t, .q = q, .v = v, .vdot = a, .a = a, .lambda = l, .psi = p, .x = x, .y = y};
}

static double time_within(const course *c)
{
  return (c->n - 0.3) * c->h;
}

/* Signals at the end, and within the last step. */
static void signals_of(const course *c, const char *set, int n, const int *index, double *out)
{
  run r = {0};
  run_open(&r, c, set);
  run_start(&r, 0, NULL);
  while (step(&r)) continue;
  fine(r.ctx, ga_machine_signals(r.machine, NULL, ga_stepper_state(r.st), n, index, out));
  const ga_state s = state_at(&r, time_within(c));
  fine(r.ctx, ga_machine_signals(r.machine, NULL, &s, n, index, out + n));
  run_close(&r);
}

static void reference(const course *c, const ga_model_parameter *p, int n, const int *index, double *out)
{
  enum { LEVELS = 4 };
  static double table[LEVELS][2 * MOST], there[2 * MOST], back[2 * MOST];
  for (int l = 0; l < LEVELS; l++) {
    const double by = 2.0 * c->width * fabs(p->value) / (1 << l);
    char set[128];
    snprintf(set, sizeof set, "%s=%.17g", p->name, p->value + by);
    signals_of(c, set, n, index, there);
    snprintf(set, sizeof set, "%s=%.17g", p->name, p->value - by);
    signals_of(c, set, n, index, back);
    for (int i = 0; i < 2 * n; i++) table[l][i] = (there[i] - back[i]) / (2.0 * by);
  }
  for (int k = 1; k < LEVELS; k++)
    for (int l = LEVELS - 1; l >= k; l--)
      for (int i = 0; i < 2 * n; i++)
        table[l][i] += (table[l][i] - table[l - 1][i]) / (double)((1 << 2 * k) - 1);
  memcpy(out, table[LEVELS - 1], 2 * (size_t)n * sizeof *out);
}

static void derivatives(run *r, ga_sensitivity *se, const ga_model_variation *v, int j, const course *c,
                        int n, const int *index, double *out)
{
  const ga_machine *at[GA_PARAMETER_VALUES];
  const double size = ga_model_variation_parameter(v)->step;
  const ga_state *d = ga_sensitivity_at(se, j);
  assert_non_null(d);
  for (int k = 0; k < GA_PARAMETER_VALUES; k++) at[k] = ga_model_variation_machine(v, k);
  ga_direction along = {d->q, d->v, d->vdot, d->lambda, d->psi, d->x, d->y};
  fine(ga_machine_context(r->machine),
       ga_machine_signal_sensitivities(r->machine, at, size, ga_stepper_state(r->st), &along, n, index, out));
  const double t = time_within(c);
  fine(r->ctx, ga_sensitivity_inside(se, j, t, &d));
  along = (ga_direction){d->q, d->v, d->vdot, d->lambda, d->psi, d->x, d->y};
  const ga_state s = state_at(r, t);
  fine(ga_machine_context(r->machine),
       ga_machine_signal_sensitivities(r->machine, at, size, &s, &along, n, index, out + n));
}

/* Relative to the largest derivative of signals with the same unit, or to a thousandth of their values over
 * that of the parameter. */
static double compare(const run *r, const double *is, const double *should, int n, const int *index,
                      double by, int *worst)
{
  static double value[MOST];
  const ga_machine *m = r->machine;
  fine(r->ctx, ga_machine_signals(m, NULL, ga_stepper_state(r->st), n, index, value));
  double most = 0.0;
  for (int i = 0; i < 2 * n; i++) {
    const char *unit = ga_machine_signal_unit(m, index[i % n]);
    double scale = 1e-12;
    for (int k = 0; k < 2 * n; k++)
      if (strcmp(unit, ga_machine_signal_unit(m, index[k % n])) == 0)
        scale = fmax(scale, fmax(fabs(should[k]), 1e-3 * fabs(value[k % n] / by)));
    const double off = fabs(is[i] - should[i]) / scale;
    if (!(off <= most)) most = off, *worst = i;
  }
  return most;
}

static void examine(const course *c, double most)
{
  static double is[2 * MOST], should[2 * MOST];
  run r = {0};
  int index[MOST], n_by = 0;
  ga_model_variation *v[8] = {NULL};
  ga_parameter list[8];
  ga_sensitivity *se = NULL;
  run_open(&r, c, NULL);
  const int n = choose_signals(r.machine, index);
  for (; c->by[n_by]; n_by++) {
    fine(r.ctx, ga_model_variation_create(r.ctx, r.model, *r.path ? r.path : NULL, NULL, c->by[n_by], 0.0,
                                          &v[n_by]));
    list[n_by] = *ga_model_variation_parameter(v[n_by]);
  }
  fine(r.ctx, ga_sensitivity_create(r.ctx, r.st, n_by, list, &se));
  run_start(&r, n_by, v);
  fine(r.ctx, ga_sensitivity_begin(se));
  for (int more = 1; more;) {
    more = step(&r);
    fine(r.ctx, ga_sensitivity_step(se));
  }
  for (int j = 0; j < n_by; j++) {
    ga_model_parameter p;
    int worst = 0;
    assert_true(ga_model_parameter_at(r.model, ga_model_find_parameter(r.model, c->by[j]), &p));
    reference(c, &p, n, index, should);
    derivatives(&r, se, v[j], j, c, n, index, is);
    const double e = compare(&r, is, should, n, index, p.value, &worst);
    const char *name = ga_machine_signal_name(r.machine, index[worst % n]);
    if (show)
      printf("# %-22.9s by %-14s %.1e at %s%s: %.12g, reference %.12g; doubt %.1e\n", c->model, p.name, e,
             name, worst < n ? "" : " within", is[worst], should[worst], ga_sensitivity_doubt(se, j));
    else if (!(e <= most))
      fail_msg("%.40s by %s: %s is off by %.2e: %.12g, not %.12g", c->model, p.name, name, e, is[worst],
               should[worst]);
  }
  ga_sensitivity_destroy(&se);
  for (int j = 0; j < n_by; j++) ga_model_variation_destroy(&v[j]);
  run_close(&r);
}

static void signals_of_models(void **state)
{
  static const course COURSES[] = {
      {"slider_crank", {"k", "crank_length", "rod_length", "torque", "rod_mass"}, 5e-3, 63, 4e-4},
      {"heavy_top", {"m", "L", "precession", "spin"}, 1e-3, 40, 2e-3},
      {"rolling_disk", {"m", "r", "J", "lean", "roll_rate"}, 1e-2, 40, 1e-2},
      {"spring_mass", {"m", "k", "start", "leak", "gain"}, 2e-2, 60, 1e-2},
      {"mechatronic", {"m", "l", "c", "R", "e_"}, 5e-3, 40, 1e-2},
      {"robot_arm", {"L1", "shoulder_from", "shoulder_to"}, 1e-2, 30, 1.2e-2},
      {"robot_arm", {"load"}, 1e-2, 30, 8e-2},
      {"robot_arm", {"m2"}, 1e-2, 30, 2.5e-2},
      {"quarter_car_step", {"spring_rate", "tyre_rate", "sprung_mass", "rise"}, 2e-3, 60, 1e-2},
      {"quarter_car_hydraulic", {"bump", "Ap", "Vr0"}, 1e-3, 120, 6e-3},
      {"double_pendulum", {"length", "density", "c"}, 5e-3, 60, 1e-2},
      /* Redundant constraints, with multipliers of least length. */
      {"four_bar_3d", {"crank_length", "coupler_length", "base", "start"}, 2e-3, 33, 1e-3},
      {"four_bar_3d", {"line"}, 2e-3, 33, 5e-2},
      {"bricard", {"L"}, 2e-3, 40, 1e-2},
      {"bricard", {"m", "side"}, 2e-3, 40, 5e-2},
  };
  (void)state;
  for (size_t i = 0; i < sizeof COURSES / sizeof *COURSES; i++) examine(&COURSES[i], 1e-8);
}

/* Accelerations of the arm have so much rounding that differences by its masses and lengths are good to 1e-8
 * only: its parameters are targets. */
static void signals_of_models_by_collocation(void **state)
{
  static const struct {
    course c;
    int orders[3];
  } CASES[] = {
      {{"slider_crank", {"k", "crank_length", "rod_length", "torque", "rod_mass"}, 5e-3, 63, 4e-4}, {4, 7}},
      {{"heavy_top", {"m", "L", "precession", "spin"}, 1e-3, 40, 2e-3}, {4, 7}},
      {{"rolling_disk", {"m", "r", "J", "lean", "roll_rate"}, 1e-2, 40, 1e-2}, {4, 7}},
      {{"spring_mass", {"m", "k", "start", "leak", "gain"}, 2e-2, 60, 1e-2}, {3, 8}},
      {{"mechatronic", {"m", "l", "c", "R", "e_"}, 5e-3, 40, 1e-2}, {4, 7}},
      {{"robot_arm", {"shoulder_from", "shoulder_to"}, 1e-2, 30, 1.2e-2}, {4, 7}},
      {{"quarter_car_step", {"spring_rate", "tyre_rate", "sprung_mass", "rise"}, 2e-3, 60, 1e-2}, {4, 5}},
      {{"quarter_car_hydraulic", {"bump", "Ap", "Vr0"}, 1e-3, 120, 6e-3}, {4, 5}},
      {{"double_pendulum", {"length", "density", "c"}, 5e-3, 60, 1e-2}, {6, 10}},
      {{"four_bar_3d", {"crank_length", "coupler_length", "base", "start"}, 2e-3, 33, 1e-3}, {4, 6}},
      {{"bricard", {"L"}, 2e-3, 40, 1e-2}, {4, 7}},
  };
  (void)state;
  method = GA_COLLOCATION;
  for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++)
    for (int k = 0; CASES[i].orders[k]; k++) {
      order = CASES[i].orders[k];
      examine(&CASES[i].c, 1e-8);
    }
  method = GA_STABILIZED, order = 0;
}

/* From an equilibrium that moves with the parameters; a car stands on free coordinates. */
static void starts_at_an_equilibrium(void **state)
{
  /* A cart that nothing holds along its rail, with a body on a spring that is pushed. */
  static const char FREE[] = "galpha: 1\n"
                             "parameters: {m: 3, k: 400 N/m, place: 0.7 m, tilt: 0.3}\n"
                             "gravity: [0, 0, -9.81]\n"
                             "bodies:\n"
                             "  cart: {type: rigid, mass: 4, inertia: [0.2, 0.2, 0.2], position: [place, 0, "
                             "0], velocity: [0.5, 0, 0]}\n"
                             "  bob: {type: rigid, mass: m, inertia: [0.02, 0.1, 0.11], position: [place, "
                             "0.1, -0.5], velocity: [0.5, 0, 0]}\n"
                             "markers:\n"
                             "  A: {body: cart, position: [0.1, 0, 0.6]}\n"
                             "  Q: {body: bob, position: [0.1, 0.05, 0.2]}\n"
                             "joints:\n"
                             "  rail: {type: prismatic, a: ground, b: cart, at: {position: [place, 0, 0], "
                             "rotation: {z_axis: [1, 0, 0]}}}\n"
                             "  h: {type: revolute, a: cart, b: bob, at: {position: [place, 0, 0], rotation: "
                             "{z_axis: [sin(tilt), cos(tilt), 0]}}}\n"
                             "forces:\n"
                             "  s: {type: spring, a: A, b: Q, stiffness: k, rest: 0.7, damping: 3}\n"
                             "  f: {type: force, frame: bob, force: [\"3*sin(7*t)\", 0, 0]}\n"
                             "simulation: {t_end: 1}\n";
  /* A beam of two hinges under its weight, between springs and a filter, that is driven from rest. */
  static const char HANGING[] =
      "galpha: 1\n"
      "parameters: {m: 3, k: 400 N/m, L: 0.8 m, c: 12 N m/rad, tilt: 0.3, gain: 2}\n"
      "gravity: [0, 0, -9.81]\n"
      "bodies:\n"
      "  upper: {type: rigid, mass: m, inertia: [0.02, m*L^2/12, m*L^2/12], position: [L/2, 0, 0]}\n"
      "  lower: {type: rigid, mass: 2, inertia: [0.02, 0.1, 0.11], position: [L + 0.25, 0, 0]}\n"
      "markers:\n"
      "  A: {body: ground, position: [0.5, 0.1, 1]}\n"
      "  B: {body: ground, position: [0.9, -0.3, 1]}\n"
      "  P: {body: upper, position: [0.1, 0, 0]}\n"
      "  Q: {body: lower, position: [0.1, 0, 0]}\n"
      "joints:\n"
      "  h1: {type: universal, a: ground, b: upper, at: {position: [0, 0, 0], rotation: {z_axis: [0, "
      "sin(tilt), cos(tilt)]}}}\n"
      "  h2: {type: revolute, a: upper, b: lower, at: {position: [L, 0, 0], rotation: {z_axis: [0, 1, 0]}}}\n"
      "forces:\n"
      "  s1: {type: spring, a: A, b: P, stiffness: k, rest: 0.7, damping: 3}\n"
      "  s2: {type: spring, a: B, b: Q, stiffness: k/2, rest: 0.6, damping: 5}\n"
      "  s3: {type: force, frame: lower, force: [0, \"gain*sin(7*t)\", 0]}\n"
      "simulation: {t_end: 1}\n";
  static const course COURSES[] = {
      {HANGING, {"m", "k", "L", "tilt", "gain"}, 5e-3, 60, 4e-3},
      {"quarter_car_hydraulic", {"Ap"}, 1e-3, 60, 6e-3},
      {FREE, {"m", "tilt"}, 5e-3, 60, 1e-2},
  };
  (void)state;
  at_rest = 1;
  for (size_t i = 0; i < sizeof COURSES / sizeof *COURSES; i++) examine(&COURSES[i], 1e-8);
  at_rest = 0;
}

/* ---- What is refused ---- */

static ga_status vary(run *r, const char *name, double step)
{
  ga_model_variation *v = NULL;
  const ga_status status = ga_model_variation_create(r->ctx, r->model, r->path, NULL, name, step, &v);
  assert_int_equal(!v, status != GA_OK);
  ga_model_variation_destroy(&v);
  return status;
}

static void says(const run *r, const char *part)
{
  if (!strstr(ga_context_error(r->ctx)->text, part))
    fail_msg("'%s' is not in '%s'", part, ga_context_error(r->ctx)->text);
}

/* Times of jumps and corners that depend on parameters: steps end at them, and the run goes on behind them.
 */
static void breaks_that_move(void **state)
{
  static const char PULSE[] =
      "galpha: 1\n"
      "parameters: {m: 3, at: 0.1123 s, width: 0.0605 s, high: 80, k: 400 N/m}\n"
      "gravity: [0, 0, -9.81]\n"
      "bodies:\n"
      "  upper: {type: rigid, mass: m, inertia: [0.02, 0.16, 0.15], position: [0.4, 0, 0]}\n"
      "  lower: {type: rigid, mass: 2, inertia: [0.02, 0.1, 0.11], position: [1.05, 0, 0]}\n"
      "markers: {P: {body: lower, position: [0.1, 0, 0]}, A: {body: ground, position: [0.9, -0.3, 1]}}\n"
      "joints:\n"
      "  h1: {type: universal, a: ground, b: upper, at: [0, 0, 0]}\n"
      "  h2: {type: revolute, a: upper, b: lower, at: {position: [0.8, 0, 0], rotation: {z_axis: [0, 1, "
      "0]}}}\n"
      "forces:\n"
      "  s: {type: spring, a: A, b: P, stiffness: k, rest: 0.7, damping: 3}\n"
      "  f: {type: force, frame: lower, force: [0, \"%s\", 5]}\n"
      "simulation: {t_end: 1}\n";
  static const char *const LAW[] = {"if(t > at && t < at + width, high, 0)",      /* jumps */
                                    "high*max(0, 1 - abs(t - at - width)/width)", /* corners */
                                    "step5(t, at, 0, at + width, high)"};
  /* Steps: where no curvature of dense output is about to change its sign. */
  static const int LONG[] = {53, 50, 53};
  static char text[sizeof PULSE + 64];
  (void)state;
  for (int i = 0; i < 3; i++) {
    snprintf(text, sizeof text, PULSE, LAW[i]);
    const course c = {text, {"at", "width", "high", "m"}, 5e-3, LONG[i], 1e-3};
    examine(&c, 1e-8);
    method = GA_COLLOCATION, order = 4;
    examine(&c, 1e-8);
    method = GA_STABILIZED, order = 0;
  }
}

/* A controller that runs at times of its own, of which one parameter is the period. */
static void sampled_controllers(void **state)
{
  static const char MOTOR[] =
      "galpha: 1\n"
      "gravity: [0, -9.81, 0]\n"
      "parameters: {K: 0.25, R: 0.8, gain: 12, period: 7.43 ms, slow: 24.3 ms, pole: 0.6, start: -1.1}\n"
      "bodies: {arm: {type: rigid, mass: 0.5, inertia: [4e-3, 4e-3, 4e-3], com: [0.12, 0, 0], rotation: "
      "{axis: [0, 0, 1], angle: start}}}\n"
      "markers: {tip: {body: arm, position: [0.3, 0.1, 0]}}\n"
      "joints: {shaft: {type: revolute, a: ground, b: arm, at: [0, 0, 0]}}\n"
      "blocks:\n"
      "  setpoint: {type: transfer_function, unit: rad, inputs: 0.4*sin(9*t) - 1, num: [1 - pole, 0], den: "
      "[1, -pole], sample_time: slow}\n"
      "  control: {type: pid, unit: V, inputs: {setpoint: setpoint, measurement: shaft.angle}, kp: gain, ki: "
      "20, kd: 0.3, filter_time: 2*period, sample_time: period}\n"
      "  current: {type: state_space, unit: A, A: [[-R/3e-3]], B: [[1/3e-3, -K/3e-3]], C: [[1]], inputs: "
      "[control, shaft.angle_rate]}\n"
      "forces: {motor: {type: actuator, coordinate: shaft.angle, force: K*current}}\n"
      "simulation: {t_end: 2}\n";
  static const course COURSES[] = {{MOTOR, {"K", "R", "gain", "pole", "start"}, 2e-3, 40, 1e-2},
                                   {MOTOR, {"period", "slow"}, 2e-3, 21, 1e-3}};
  (void)state;
  for (size_t i = 0; i < sizeof COURSES / sizeof *COURSES; i++) examine(&COURSES[i], 1e-8);
  method = GA_COLLOCATION, order = 6;
  for (size_t i = 0; i < sizeof COURSES / sizeof *COURSES; i++) examine(&COURSES[i], 1e-8);
  method = GA_STABILIZED, order = 0;
}

/* A rail that is level at one value only: at others nothing is at rest. */
static void equilibria_that_vanish_are_refused(void **state)
{
  static const char SLOPE[] = "galpha: 1\n"
                              "parameters: {slope: 1}\n"
                              "gravity: [0, 0, -9.81]\n"
                              "bodies: {b: {type: rigid, mass: 1, inertia: [0.1, 0.1, 0.1]}}\n"
                              "joints: {rail: {type: prismatic, a: ground, b: b, at: {position: [0, 0, 0], "
                              "rotation: {z_axis: [1, 0, slope - 1]}}}}\n";
  const course c = {SLOPE, {"slope"}, 1e-2, 1, 0.0};
  run r = {0};
  ga_model_variation *v = NULL;
  ga_equilibrium *eq = NULL;
  static double q[MOST_STATE], velocity[MOST_STATE], x[MOST_STATE];
  ga_equilibrium_opts o = ga_equilibrium_defaults();
  (void)state;
  o.hold_free = 1;
  run_open(&r, &c, NULL);
  fine(r.ctx, ga_model_variation_create(r.ctx, r.model, NULL, NULL, "slope", 0.0, &v));
  fine(r.ctx, ga_machine_initial(r.machine, q, velocity, x));
  fine(r.ctx, ga_equilibrium_create(r.ctx, ga_machine_system(r.machine), &o, &eq));
  assert_int_equal(ga_model_variation_settle(v, eq), GA_ERR_ORDER);
  fine(r.ctx, ga_equilibrium_solve(eq, 0.0, q, x, NULL));
  assert_int_equal(ga_model_variation_settle(v, eq), GA_ERR_SINGULAR);
  says(&r, "slope");
  says(&r, "no equilibrium");
  ga_equilibrium_destroy(&eq);
  ga_model_variation_destroy(&v);
  run_close(&r);
}

static void wrong_parameters_are_refused(void **state)
{
  const course c = {.model = "heavy_top", .h = 1e-3, .n = 1};
  run r = {0};
  ga_model_parameter p;
  (void)state;
  run_open(&r, &c, NULL);
  assert_int_equal(ga_model_find_parameter(r.model, "mass"), -1);
  assert_int_equal(vary(&r, "mass", 0.0), GA_ERR_ARGUMENT);
  says(&r, "mass");
  assert_int_equal(vary(&r, "m", -1.0), GA_ERR_ARGUMENT);
  assert_int_equal(vary(&r, "m", 0.1), GA_OK);
  assert_int_equal(vary(&r, "J_across", 0.0),
                   GA_ERR_ARGUMENT); /* at half of it, the least that there can be */
  says(&r, "J_across");
  says(&r, "moments of inertia");
  assert_int_equal(vary(&r, "m", 10.0), GA_ERR_ARGUMENT); /* negative masses */
  assert_true(ga_model_parameter_at(r.model, 0, &p));
  assert_string_equal(p.name, "m");
  assert_string_equal(p.unit, "kg");
  assert_true(p.value == 15.0);
  assert_false(ga_model_parameter_at(r.model, 99, &p));
  assert_false(ga_model_parameter_at(r.model, -1, &p));
  run_close(&r);
}

/* ---- Parameters that enter through expressions ---- */

/* A pendulum on a spring, whose stiffness and mass are k and m; damped, swinging, pushed by FORCE. */
static const char SWING[] =
    "galpha: 1\n"
    "parameters: {%s}\n"
    "gravity: [0, 0, -9.81]\n"
    "bodies: {b: {type: rigid, mass: m, inertia: [0.02, m*0.09, m*0.08], position: [0.4, 0, 0]}}\n"
    "markers: {A: {body: ground, position: [0.5, 0.3, 0.2]}, P: {body: b, position: [0.1, 0.2, 0]}}\n"
    "joints: {h: {type: spherical, a: ground, b: b, at: [0, 0, 0]}}\n"
    "forces:\n"
    "  s: {type: spring, a: A, b: P, stiffness: k, rest: 0.1, damping: 2}\n"
    "  push: {type: force, frame: b, force: [1, \"%s\", 0]}\n"
    "%s"
    "simulation: {t_end: 1}\n";

/* All derivatives of the state at the end by one parameter; returns their number. */
static int state_derivatives(const char *text, const char *by, double h, int n_steps, double *out,
                             double *doubt)
{
  const course c = {.model = text, .h = h, .n = n_steps};
  run r = {0};
  ga_model_variation *v = NULL;
  ga_sensitivity *se = NULL;
  run_open(&r, &c, NULL);
  fine(r.ctx, ga_model_variation_create(r.ctx, r.model, NULL, NULL, by, 0.0, &v));
  fine(r.ctx, ga_sensitivity_create(r.ctx, r.st, 1, ga_model_variation_parameter(v), &se));
  run_start(&r, 1, &v);
  fine(r.ctx, ga_sensitivity_begin(se));
  for (int more = 1; more;) {
    more = step(&r);
    fine(r.ctx, ga_sensitivity_step(se));
  }
  const ga_state *d = ga_sensitivity_at(se, 0);
  const ga_system *sys = ga_machine_system(r.machine);
  const int nv = ga_system_size(sys, GA_BLOCK_V), nl = ga_system_size(sys, GA_BLOCK_LAMBDA);
  const double *part[] = {d->q, d->v, d->vdot, d->lambda};
  int n = 0;
  for (int k = 0; k < 4; k++)
    for (int i = 0; i < (k < 3 ? nv : nl); i++) out[n++] = part[k][i];
  *doubt = ga_sensitivity_doubt(se, 0);
  ga_sensitivity_destroy(&se);
  ga_model_variation_destroy(&v);
  run_close(&r);
  return n;
}

static void swing(char *text, size_t size, const char *parameters, const char *force, const char *more)
{
  snprintf(text, size, SWING, parameters, force, more);
}

/* Largest difference of derivatives and `slope` times others, relative to the largest of them. */
static double distance(int n, const double *is, double slope, const double *should)
{
  double most = 0.0, off = 0.0;
  for (int i = 0; i < n; i++) {
    most = fmax(most, fabs(slope * should[i]));
    off = fmax(off, fabs(is[i] - slope * should[i]));
  }
  assert_true(most > 0.0);
  return off / most;
}

static double power(double p, double *slope)
{
  *slope = log(10.0) * pow(10.0, p);
  return pow(10.0, p);
}

static double steep(double p, double *slope)
{
  *slope = 20.0 * exp(20.0 * p);
  return exp(20.0 * p);
}

static double wavy(double p, double *slope)
{
  *slope = 9000.0 * cos(90.0 * p);
  return 100.0 * (2.0 + sin(90.0 * p));
}

static double ninth(double p, double *slope)
{
  *slope = 18.0 * pow(p, 8.0);
  return 2.0 * pow(p, 9.0);
}

/* Of another parameter, a = p²/8. */
static double nested(double p, double *slope)
{
  const double a = p * p / 8.0;
  *slope = 1e-3 * exp(a) * (1.0 + a) * p / 4.0;
  return 1e-3 * exp(a) * a;
}

/* d/dp = k'(p) d/dk, which is exact but for rounding, where k is a number or in a text. */
static void chain_rules(void **state)
{
  static const struct {
    const char *law;
    double (*of)(double p, double *slope);
    double p;
  } LAWS[] = {{"10^p", power, 2.5},
              {"exp(20*p)", steep, 0.3},
              {"100*(2 + sin(90*p))", wavy, 1.0},
              {"2*p^9", ninth, 1.8},
              {"1e-3*exp(a)*a", nested, 9.5}};
  static char text[4096], list[256], law[128];
  static double by_p[MOST], by_k[MOST];
  double doubt, slope;
  (void)state;
  for (size_t l = 0; l < sizeof LAWS / sizeof *LAWS; l++)
    for (int in_text = 0; in_text < 2; in_text++) {
      const double p = LAWS[l].p, k = LAWS[l].of(p, &slope);
      snprintf(law, sizeof law, in_text ? "0.1*(%s)*exp(-t)" : "3", LAWS[l].law);
      snprintf(list, sizeof list, "m: 2, p: %.17g, a: p^2/8, k: \"%s\"", p, in_text ? "50" : LAWS[l].law);
      swing(text, sizeof text, list, law, "");
      const int n = state_derivatives(text, "p", 5e-3, 60, by_p, &doubt);
      assert_true(doubt < 1e-9);
      snprintf(list, sizeof list, in_text ? "m: 2, k: 50, F: %.17g" : "m: 2, k: %.17g", k);
      swing(text, sizeof text, list, in_text ? "0.1*F*exp(-t)" : "3", "");
      assert_int_equal(state_derivatives(text, in_text ? "F" : "k", 5e-3, 60, by_k, &doubt), n);
      const double off = distance(n, by_p, slope, by_k);
      if (show) printf("# %-22s%s %.1e\n", LAWS[l].law, in_text ? " in a text" : "", off);
      if (!(off <= 1e-12)) fail_msg("%s: off by %.2e", LAWS[l].law, off);
    }
}

/* Frequencies of excitations that have gone on for long: by those of a force along their derivative. */
static void frequencies(void **state)
{
  static const char *const FORCE[] = {"30*sin(2*pi*f*(t + 40))", "w(t)", "u(t)"};
  static const char MORE[] = "functions:\n"
                             "  w: {type: wave, amplitude: 30, frequency: f, t_start: -40 s}\n"
                             "  u: {type: expression, expression: 30*sin(2*pi*f*(t + 40))}\n";
  static char text[4096];
  static double by_f[MOST], should[MOST];
  double doubt;
  (void)state;
  swing(text, sizeof text, "m: 2, k: 50, z: 1",
        "30*sin(2*pi*0.7*(t + 40)) + (z - 1)*60*pi*(t + 40)*cos(2*pi*0.7*(t + 40))", "");
  const int n = state_derivatives(text, "z", 5e-3, 60, should, &doubt);
  for (int k = 0; k < 3; k++) {
    swing(text, sizeof text, "m: 2, k: 50, f: 0.7", FORCE[k], k ? MORE : "");
    assert_int_equal(state_derivatives(text, "f", 5e-3, 60, by_f, &doubt), n);
    const double off = distance(n, by_f, 1.0, should);
    if (show) printf("# frequency in %-22s %.1e, doubt %.1e\n", FORCE[k], off, doubt);
    if (!(off <= 1e-12)) fail_msg("%s: off by %.2e", FORCE[k], off);
    assert_true(doubt < 1e-9);
  }
}

/* Corners and jumps of what depends on a parameter are refused, and expressions that no value may leave. */
static void corners_are_refused(void **state)
{
  static const struct {
    const char *law;
    double p;
    int fits;
  } LAWS[] = {{"50 + 9*abs(p - 2)", 2.0, 0},      {"50 + 9*abs(p - 2)", 2.003, 0},
              {"50 + 9*abs(p - 2)", 2.1, 1},      {"max(p, 3)*10", 3.0, 0},
              {"if(p < 2, 20, 30)", 2.0, 0},      {"20*exp(max(p, 3) - 3)", 3.001, 0},
              {"50 + 9*sqrt((p - 2)^2)", 2.0, 0}, {"20*floor(p)", 2.5, 1}};
  static char text[4096], list[256];
  (void)state;
  for (size_t l = 0; l < sizeof LAWS / sizeof *LAWS; l++) {
    const course c = {.model = text, .h = 5e-3, .n = 3};
    run r = {0};
    ga_model_variation *v = NULL;
    ga_sensitivity *se = NULL;
    snprintf(list, sizeof list, "m: 2, p: %.17g, k: \"%s\"", LAWS[l].p, LAWS[l].law);
    swing(text, sizeof text, list, "3", "");
    run_open(&r, &c, NULL);
    fine(r.ctx, ga_model_variation_create(r.ctx, r.model, NULL, NULL, "p", 0.0, &v));
    fine(r.ctx, ga_sensitivity_create(r.ctx, r.st, 1, ga_model_variation_parameter(v), &se));
    run_start(&r, 1, &v);
    ga_status status = ga_sensitivity_begin(se);
    for (int more = 1; more && !status;) {
      more = step(&r);
      status = ga_sensitivity_step(se);
    }
    if (LAWS[l].fits != !status) fail_msg("%s at %g: %s", LAWS[l].law, LAWS[l].p, ga_status_text(status));
    if (status) says(&r, "corner or a jump");
    ga_sensitivity_destroy(&se);
    ga_model_variation_destroy(&v);
    run_close(&r);
  }
}

/* The file is read again for other values: it must still be that of the model. */
static void edited_files_are_refused(void **state)
{
  static const char *const TEXT[] = {
      "galpha: 1\nparameters: {k: 4}\nbodies: {a: {type: scalar, mass: 1, position: 1}}\n"
      "forces: {s: {type: spring, coordinate: a, stiffness: k}}\n",
      "galpha: 1\nparameters: {k: 4}\nbodies: {a: {type: scalar, mass: 25, position: 1}}\n"
      "forces: {s: {type: spring, coordinate: a, stiffness: k}}\n"};
  char path[] = "/tmp/galpha_edited_XXXXXX";
  ga_context *ctx = NULL;
  ga_model *model = NULL;
  ga_model_variation *v = NULL;
  (void)state;
  close(mkstemp(path));
  for (int i = 0; i < 2; i++) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(TEXT[i], file);
    assert_int_equal(fclose(file), 0);
    if (i == 0) assert_int_equal(ga_context_create(NULL, &ctx), GA_OK);
    if (i == 0) fine(ctx, ga_model_read_file(ctx, path, NULL, &model));
  }
  assert_int_equal(ga_model_variation_create(ctx, model, path, NULL, "k", 0.0, &v), GA_ERR_FILE);
  assert_non_null(strstr(ga_context_error(ctx)->text, "was edited since it was read"));
  assert_null(v);
  ga_model_destroy(&model);
  ga_context_destroy(&ctx);
  remove(path);
}

/* A model from a text is read again from it. */
static void texts_are_varied_too(void **state)
{
  static const char TEXT[] =
      "galpha: 1\nparameters: {k: 4 N/m}\nbodies: {a: {type: scalar, mass: 1, position: 1}}\n"
      "forces: {s: {type: spring, coordinate: a, stiffness: k}}\n";
  ga_context *ctx = NULL;
  ga_model *model = NULL;
  ga_model_variation *v = NULL;
  (void)state;
  assert_int_equal(ga_context_create(NULL, &ctx), GA_OK);
  fine(ctx, ga_model_read_text(ctx, "text", TEXT, strlen(TEXT), NULL, &model));
  fine(ctx, ga_model_variation_create(ctx, model, NULL, NULL, "k", 0.0, &v));
  assert_true(ga_model_variation_parameter(v)->step == 4e-3);
  for (int k = 0; k < GA_PARAMETER_VALUES; k++) assert_non_null(ga_model_variation_machine(v, k));
  assert_null(ga_model_variation_machine(v, GA_PARAMETER_VALUES));
  ga_model_variation_destroy(&v);
  ga_model_destroy(&model);
  ga_context_destroy(&ctx);
}

int main(int argc, char **argv)
{
  show = argc > 1 && strcmp(argv[1], "show") == 0;
  const struct CMUnitTest tests[] = {cmocka_unit_test(signals_of_models),
                                     cmocka_unit_test(signals_of_models_by_collocation),
                                     cmocka_unit_test(starts_at_an_equilibrium),
                                     cmocka_unit_test(breaks_that_move),
                                     cmocka_unit_test(sampled_controllers),
                                     cmocka_unit_test(equilibria_that_vanish_are_refused),
                                     cmocka_unit_test(wrong_parameters_are_refused),
                                     cmocka_unit_test(chain_rules),
                                     cmocka_unit_test(frequencies),
                                     cmocka_unit_test(corners_are_refused),
                                     cmocka_unit_test(edited_files_are_refused),
                                     cmocka_unit_test(texts_are_varied_too)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
