/* Flexible machines in time: order 2 of every component by every method, momentum and energy, runs that are
 * saved and go on with the same bits, and linearised models against runs with small inputs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "galpha/galpha.h"
#include "galpha/model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct bench {
  ga_context *ctx;
  ga_model *model;
  ga_machine *machine;
  const ga_system *sys;
  ga_stepper *st;
  ga_simulator *sim;
} bench;

static const char *const FORM[] = {"space", "body", "se3"};

static void assert_done(const bench *b, ga_status status)
{
  if (status != GA_OK) fail_msg("status %d: %s", (int)status, ga_context_error(b->ctx)->text);
}

/* A started simulator; h > 0: equal steps, else error control with this tolerance. */
static bench open_bench(const char *text, ga_method method, double rho, double h, ga_error_mode mode,
                        double tol, double t_end)
{
  bench b = {0};
  ga_stepper_opts o = ga_stepper_defaults();
  ga_simulate_opts s = ga_simulate_defaults();
  assert_int_equal(ga_context_create(NULL, &b.ctx), GA_OK);
  assert_done(&b, ga_model_read_text(b.ctx, "text", text, strlen(text), NULL, &b.model));
  b.machine = ga_model_machine(b.model);
  b.sys = ga_machine_system(b.machine);
  o.method = method;
  if (rho >= 0) assert_done(&b, ga_scheme_rho(b.ctx, rho, &o.scheme));
  s.t_end = t_end, s.fixed_h = h, s.error = mode, s.rtol = s.atol = tol;
  assert_done(&b, ga_stepper_create(b.ctx, b.sys, &o, &b.st));
  assert_done(&b, ga_simulator_create(b.ctx, b.st, &s, &b.sim));
  return b;
}

static void start_bench(bench *b)
{
  const int nq = ga_group_nq(ga_system_group(b->sys)), nv = ga_system_size(b->sys, GA_BLOCK_V);
  double *numbers = calloc((size_t)(nq + nv + ga_system_size(b->sys, GA_BLOCK_X) + 1), sizeof *numbers);
  assert_done(b, ga_machine_initial(b->machine, numbers, numbers + nq, numbers + nq + nv));
  assert_done(
      b, ga_simulator_start(b->sim, NULL, 0.0, numbers, numbers + nq, numbers + nq + nv, NULL, NULL, NULL));
  free(numbers);
}

/* The last one returns that the end was reached. */
static void make_steps(bench *b, int n)
{
  for (int i = 0; i < n; i++) {
    const ga_status status = ga_simulator_step(b->sim);
    if (status != GA_STOPPED) assert_done(b, status);
  }
}

static void close_bench(bench *b)
{
  ga_simulator_destroy(&b->sim);
  ga_stepper_destroy(&b->st);
  ga_model_destroy(&b->model);
  ga_context_destroy(&b->ctx);
}

/* ---- Order in time ---- */

/* A soft beam, none of whose waves is faster than 150 rad/s: steps of 2 ms resolve all of them. */
static const char SOFT[] =
    "galpha: 1\nform: %s\ngravity: [0, 0, -9.81]\nbodies:\n  b: {type: beam, from: [0, 0, 0], to: [1, 0, 0], "
    "elements: 3, section: numbers, mass_per_length: 1, stiffness: [400, 200, 200, 2, 3, 4], "
    "rotary_inertia: [4e-2, 2e-2, 2e-2], damping: 2e-3, omega: [0, 0, 1]}\njoints:\n  pin: {type: "
    "revolute, a: ground, b: b}\n";
enum { PARTS = 5, MOST = 96 };
static const char *const PART[PARTS] = {"q", "v", "vdot", "lambda", "section forces"};
static const char *const SECTION[] = {"b.force_x",  "b.force_y",  "b.force_z",
                                      "b.moment_x", "b.moment_y", "b.end.moment_y"};
enum { N_SECTION = sizeof SECTION / sizeof *SECTION };

typedef struct sample {
  int n[PARTS];
  double value[PARTS][MOST];
} sample;

static sample sample_at_end(const char *text, ga_method method, double h)
{
  bench b = open_bench(text, method, -1, h, GA_PER_STEP, 1e-6, 0.2);
  sample s = {0};
  int index[N_SECTION];
  start_bench(&b);
  assert_done(&b, ga_simulator_run(b.sim));
  const ga_state *x = ga_stepper_state(b.st);
  const double *from[] = {x->q, x->v, x->vdot, x->lambda};
  const int n[PARTS] = {ga_group_nq(ga_system_group(b.sys)), ga_system_size(b.sys, GA_BLOCK_V),
                        ga_system_size(b.sys, GA_BLOCK_V), ga_system_size(b.sys, GA_BLOCK_LAMBDA), N_SECTION};
  memcpy(s.n, n, sizeof n);
  for (int p = 0; p < PARTS - 1; p++) {
    assert_true(n[p] <= MOST);
    memcpy(s.value[p], from[p], (size_t)n[p] * sizeof(double));
  }
  for (int i = 0; i < N_SECTION; i++) index[i] = ga_machine_find_signal(b.machine, SECTION[i]);
  assert_done(&b, ga_machine_signals(b.machine, NULL, x, N_SECTION, index, s.value[PARTS - 1]));
  close_bench(&b);
  return s;
}

static double distance(const sample *a, const sample *b, int p)
{
  double sum = 0;
  for (int i = 0; i < a->n[p]; i++)
    sum += (a->value[p][i] - b->value[p][i]) * (a->value[p][i] - b->value[p][i]);
  return sqrt(sum);
}

/* The limit of steps of another method, of order 4 by Richardson's extrapolation. */
static sample limit_of(const char *text, ga_method method)
{
  const sample rough = sample_at_end(text, method, 5e-4);
  sample fine = sample_at_end(text, method, 2.5e-4);
  for (int p = 0; p < PARTS; p++)
    for (int i = 0; i < fine.n[p]; i++) fine.value[p][i] += (fine.value[p][i] - rough.value[p][i]) / 3;
  return fine;
}

static void orders(void **state)
{
  ga_method_info info;
  (void)state;
  for (int form = 0; form < 3; form++) {
    char text[1024];
    snprintf(text, sizeof text, SOFT, FORM[form]);
    const sample by_soi2 = limit_of(text, GA_SOI2), by_stabilized = limit_of(text, GA_STABILIZED);
    for (int m = 0; ga_method_at(m, &info); m++) {
      const int own = info.method == GA_STABILIZED || info.method == GA_INDEX3;
      const sample *truth = own ? &by_soi2 : &by_stabilized;
      const sample rough = sample_at_end(text, info.method, 2e-3),
                   fine = sample_at_end(text, info.method, 1e-3);
      for (int p = 0; p < PARTS; p++) {
        const double e[2] = {distance(&rough, truth, p), distance(&fine, truth, p)},
                     order = log2(e[0] / e[1]);
        if (!(order > 1.8 && order < (info.order > 2 ? 6.0 : 2.3)))
          fail_msg("%s, %s, %s: errors %g, %g, order %.2f", FORM[form], info.name, PART[p], e[0], e[1],
                   order);
      }
    }
  }
}

/* ---- Momentum and energy ---- */

static const char FLYING[] =
    "galpha: 1\nbodies:\n  b: {type: beam, from: [0, 0, 0], to: [1, 0, 0], elements: 4, section: numbers, "
    "mass_per_length: 1, stiffness: [400, 200, 200, 2, 3, 4], rotary_inertia: [2e-2, 1e-2, 1e-2], "
    "velocity: [1, 0, 2], omega: [1, 3, 2]}\n";

/* Linear and angular momentum about the origin: rows of M v, velocities in space. */
static void momentum(const bench *b, ga_evaluation *ev, double out[6])
{
  const ga_state *s = ga_stepper_state(b->st);
  const int n = ga_system_n(b->sys), nv = ga_system_size(b->sys, GA_BLOCK_V), nodes = nv / 6;
  double *r = calloc(2 * (size_t)n, sizeof *r), *zero = calloc((size_t)nv, sizeof *zero);
  ga_point p = {s->t, s->q, s->v, s->v, s->lambda, s->psi, s->x, s->y, 0, NULL};
  assert_done(b, ga_evaluation_residual(ev, &p, NULL, r, NULL));
  p.vdot = zero;
  assert_done(b, ga_evaluation_residual(ev, &p, NULL, r + n, NULL));
  memset(out, 0, 6 * sizeof *out);
  for (int i = 0; i < nodes; i++) {
    double P[6];
    const double *x = s->q + 12 * i; /* R³×SO(3): place, then rotation matrix */
    for (int k = 0; k < 6; k++) P[k] = r[6 * i + k] - r[n + 6 * i + k];
    for (int k = 0; k < 3; k++) {
      const int a = (k + 1) % 3, c = (k + 2) % 3;
      out[k] += P[k];
      out[3 + k] += P[3 + k] + x[a] * P[c] - x[c] * P[a];
    }
  }
  free(r);
  free(zero);
}

/* Largest change of linear and of angular momentum and of the energy in 2 s, ρ∞ = 1. */
static void fly(ga_method method, double h, double out[3])
{
  bench b = open_bench(FLYING, method, 1, h, GA_PER_STEP, 1e-6, 2);
  ga_evaluation *ev = NULL;
  double first[6], now[6], energy[2], begin = 0;
  const int index[] = {ga_machine_find_signal(b.machine, "energy.kinetic"),
                       ga_machine_find_signal(b.machine, "energy.potential")};
  assert_done(&b, ga_evaluation_create(b.ctx, b.sys, &ev));
  assert_int_equal(ga_group_nq(ga_system_group(b.sys)), 12 * 5);
  start_bench(&b);
  momentum(&b, ev, first);
  memset(out, 0, 3 * sizeof *out);
  for (int i = 0; !ga_simulator_finished(b.sim); i++) {
    assert_done(&b, ga_machine_signals(b.machine, NULL, ga_stepper_state(b.st), 2, index, energy));
    if (i == 0) begin = energy[0] + energy[1];
    out[2] = fmax(out[2], fabs(energy[0] + energy[1] - begin) / begin);
    make_steps(&b, 1);
    momentum(&b, ev, now);
    for (int k = 0; k < 6; k++) out[k / 3] = fmax(out[k / 3], fabs(now[k] - first[k]));
  }
  ga_evaluation_destroy(&ev);
  close_bench(&b);
}

static void free_flight(void **state)
{
  static const char *const WHAT[] = {"linear momentum", "angular momentum", "energy"};
  ga_method_info info;
  (void)state;
  for (int m = 0; ga_method_at(m, &info); m++) {
    double rough[3], fine[3];
    fly(info.method, 2e-3, rough);
    fly(info.method, 1e-3, fine);
    for (int k = 0; k < 3; k++) {
      if (!(fine[k] < 1e-11 || (fine[k] < 1e-3 && fine[k] < rough[k] / 3.3)))
        fail_msg("%s: %s changes by %g, and %g with half the step", info.name, WHAT[k], rough[k], fine[k]);
    }
  }
}

/* ---- Energy of driven mechanisms ---- */

#define ABOUT_Y "rotation: {z_axis: [0, 1, 0]}"
#define SOFT_ROD                                                                                             \
  "mass_per_length: 0.4, stiffness: [400, 300, 300, 1, 1, 1], rotary_inertia: [4e-3, 2e-3, 2e-3], damping: " \
  "2e-3"
static const char *const DRIVEN[][2] = {
    {"slider-crank",
     "galpha: 1\ngravity: [0, 0, -9.81]\nbodies:\n"
     "  crank: {type: rigid, mass: 0.4, inertia: [1e-3, 1e-3, 1e-3], position: [0.1, 0, 0]}\n"
     "  rod: {type: beam, from: [0.2, 0, 0], to: [0.8, 0, 0], elements: 4, " SOFT_ROD "}\n"
     "  slider: {type: rigid, mass: 0.2, inertia: [1e-3, 1e-3, 1e-3], position: [0.8, 0, 0]}\n"
     "joints:\n  pivot: {type: revolute, a: ground, b: crank, at: {position: [0, 0, 0], " ABOUT_Y "}}\n"
     "  pin: {type: revolute, a: crank, b: rod, at: {position: [0.2, 0, 0], " ABOUT_Y "}}\n"
     "  eye: {type: spherical, a: rod.end, b: slider}\n"
     "  rail: {type: prismatic, a: ground, b: slider, at: {position: [0.8, 0, 0], rotation: {z_axis: [1, 0, "
     "0]}}}\n"
     "drives:\n  motor: {coordinate: pivot.angle, function: 'cos(4*t)*0.6 - 0.6'}\n"},
    {"four-bar",
     "galpha: 1\ngravity: [0, 0, -9.81]\nbodies:\n"
     "  crank: {type: rigid, mass: 0.5, inertia: [1e-3, 1e-3, 1e-3], position: [0, 0, 0.1]}\n"
     "  rod: {type: beam, from: [0, 0, 0.2], to: [0.5, 0, 0.4], elements: 4, " SOFT_ROD "}\n"
     "  rocker: {type: beam, from: [0.5, 0, 0.4], to: [0.6, 0, 0], elements: 4, " SOFT_ROD "}\n"
     "joints:\n  a: {type: revolute, a: ground, b: crank, at: {position: [0, 0, 0], " ABOUT_Y "}}\n"
     "  b: {type: revolute, a: crank, b: rod, at: {position: [0, 0, 0.2], " ABOUT_Y "}}\n"
     "  c: {type: spherical, a: rod.end, b: rocker}\n"
     "  d: {type: spherical, a: ground, b: rocker.end, at: {position: [0.6, 0, 0]}}\n"
     "drives:\n  motor: {coordinate: a.angle, function: 'cos(4*t)*0.6 - 0.6'}\n"}};

/* Power of drives, change of energy and what is lost: by how much they differ at most; *in: largest work. */
static double balance(const char *text, double h, double *in)
{
  bench b = open_bench(text, GA_STABILIZED, -1, h, GA_PER_STEP, 1e-6, 0.4);
  ga_meter *meter = NULL;
  const int index[] = {ga_machine_find_signal(b.machine, "energy.balance"),
                       ga_machine_find_signal(b.machine, "energy.input")};
  double off = 0;
  *in = 0;
  assert_done(&b, ga_meter_create(b.ctx, b.machine, &meter));
  start_bench(&b);
  assert_done(&b, ga_meter_start(meter, ga_stepper_state(b.st)));
  while (!ga_simulator_finished(b.sim)) {
    double value[2];
    make_steps(&b, 1);
    assert_done(&b, ga_meter_update(meter, ga_stepper_state(b.st)));
    assert_done(&b, ga_machine_signals(b.machine, meter, ga_stepper_state(b.st), 2, index, value));
    off = fmax(off, fabs(value[0]));
    *in = fmax(*in, fabs(value[1]));
  }
  ga_meter_destroy(&meter);
  close_bench(&b);
  return off;
}

static void driven(void **state)
{
  (void)state;
  for (int i = 0; i < 2; i++) {
    double in, off[2];
    for (int k = 0; k < 2; k++) off[k] = balance(DRIVEN[i][1], k ? 5e-4 : 1e-3, &in);
    if (!(in > 0.05 && off[1] < 1e-3 * in && off[1] < off[0] / 3.3))
      fail_msg("%s: the balance is off by %g, and %g with half the step, of %g J", DRIVEN[i][0], off[0],
               off[1], in);
  }
}

/* ---- Saved and loaded ---- */

/* A beam, a cable that goes slack and taut, a modal body, and a constraint by expression. */
static const char ALL[] =
    "galpha: 1\nform: %s\ngravity: [0, 0, -9.81]\nbodies:\n"
    "  b: {type: beam, from: [0, 0, 0], to: [1, 0, 0], elements: 3, mass_per_length: 1, stiffness: [1e5, "
    "1e4, 1e4, 8, 10, 10], "
    "rotary_inertia: [2e-4, 1e-4, 1e-4], damping: 1e-4}\n"
    "  rope: {type: cable, from: [1, 0, 0], to: [2, 0, 0], length: 1.02, elements: 4, stiffness: 1e3, "
    "mass_per_length: 0.2, damping: 1e-2}\n"
    "  rod: {type: modal, beam: {from: [0, 1, 0], to: [0.5, 1, 0], elements: 4, section: rectangle, width: 5 "
    "mm, height: 5 mm, "
    "young: 70 GPa, density: 2700}, interface: {root: 0, tip: 0.5 m}, modes: 2, damping: 0.02}\n"
    "  ball: {type: rigid, mass: 1, inertia: [1e-2, 1e-2, 1e-2], position: [0, 2, 0], omega: [1, 2, 3]}\n"
    "joints:\n  hinge: {type: revolute, a: ground, b: b, at: {position: [0, 0, 0], " ABOUT_Y "}}\n"
    "  tie: {type: spherical, a: b.end, b: rope}\n  hold: {type: spherical, a: ground, b: rope.end, at: [2, "
    "0, 0]}\n"
    "  root: {type: spherical, a: ground, b: rod.root, at: [0, 1, 0]}\n"
    "constraints:\n  slope: {zero: 'ball.z - 0.3*ball.x'}\n";

enum { BEFORE = 25, AFTER = 25 };

static void check_same_bits(const bench *a, const bench *b, const char *what)
{
  const ga_state *s = ga_stepper_state(a->st), *t = ga_stepper_state(b->st);
  const size_t nq = (size_t)ga_group_nq(ga_system_group(a->sys)),
               nv = (size_t)ga_system_size(a->sys, GA_BLOCK_V),
               nl = (size_t)ga_system_size(a->sys, GA_BLOCK_LAMBDA);
  if (s->t != t->t || memcmp(s->q, t->q, nq * sizeof(double)) || memcmp(s->v, t->v, nv * sizeof(double)) ||
      memcmp(s->vdot, t->vdot, nv * sizeof(double)) || memcmp(s->a, t->a, nv * sizeof(double)) ||
      memcmp(s->lambda, t->lambda, nl * sizeof(double)))
    fail_msg("%s: other numbers at %.17g s and %.17g s after loading", what, s->t, t->t);
}

static void saved_runs_go_on(void **state)
{
  ga_method_info info;
  (void)state;
  for (int form = 0; form < 3; form++)
    for (int m = 0; ga_method_at(m, &info); m++)
      for (int control = 0; control < 3; control++) {
        char text[4096], what[64];
        snprintf(text, sizeof text, ALL, FORM[form]);
        snprintf(what, sizeof what, "%s, %s, control %d", FORM[form], info.name, control);
        const double h = control == 0 ? 1e-3 : 0;
        const ga_error_mode mode = control == 2 ? GA_PER_UNIT_STEP : GA_PER_STEP;
        const double tol = control == 2 ? 1e-2 : 1e-4;
        bench a = open_bench(text, info.method, -1, h, mode, tol, 0.5),
              b = open_bench(text, info.method, -1, h, mode, tol, 0.5);
        start_bench(&a);
        make_steps(&a, BEFORE);
        double *saved = calloc(ga_simulator_saved_size(a.sim), sizeof *saved);
        assert_done(&a, ga_simulator_save(a.sim, saved));
        make_steps(&a, AFTER);
        assert_done(&b, ga_simulator_load(b.sim, saved));
        make_steps(&b, AFTER);
        check_same_bits(&a, &b, what);
        free(saved);
        close_bench(&a);
        close_bench(&b);
      }
}

/* ---- Linearised models ---- */

enum { MOST_STATES = 160, N_OUT = 3 };

typedef struct small_case {
  const char *name, *text; /* with the form and the amplitude of `push` */
  const char *output[N_OUT];
  double amplitude, t_end;
} small_case;

/* A hanging arm with a controller of its hinge, as a beam and as a modal body, and a weight on a cable. */
static const small_case SMALL[] = {
    {"beam",
     "galpha: 1\nform: %s\ngravity: [0, 0, -9.81]\nbodies:\n  b: {type: beam, from: [0, 0, 0], to: [1, 0, "
     "0], "
     "elements: 3, section: numbers, mass_per_length: 1, stiffness: [400, 200, 200, 2, 3, 4], "
     "rotary_inertia: [2e-2, 1e-2, 1e-2], damping: 2e-3}\nmarkers:\n  root: {body: ground, rotation: "
     "{z_axis: "
     "[0, -1, 0]}}\n  hub: {body: b, rotation: {z_axis: [0, -1, 0]}}\njoints:\n  pin: {type: revolute, a: "
     "root, b: "
     "hub}\nblocks:\n  push: {type: function_of_time, function: %g*sin(9*t)^2}\n  pid: {type: pid, kp: 30, "
     "ki: 20, "
     "kd: 2, filter_time: 0.05 s, inputs: {setpoint: 0, measurement: pin.angle}}\nforces:\n  motor: {type: "
     "actuator, "
     "coordinate: pin.angle, force: pid}\n  tip: {type: force, frame: b.end, force: [0, 0, push]}\n",
     {"b.end.z", "pin.angle", "b.moment_y"},
     0.8,
     0.3},
    {"modal body",
     "galpha: 1\nform: %s\ngravity: [0, 0, -9.81]\nbodies:\n  b: {type: modal, beam: {length: 1, elements: "
     "8, section: "
     "numbers, mass_per_length: 1, stiffness: [4e3, 2e3, 2e3, 20, 30, 40], rotary_inertia: [2e-2, 1e-2, "
     "1e-2]}, "
     "interface: {root: 0, tip: 1}, modes: 6, stiffness_damping: 2e-3}\nmarkers:\n  base: {body: ground, "
     "rotation: "
     "{z_axis: [0, -1, 0]}}\n  hub: {body: b.root, rotation: {z_axis: [0, -1, 0]}}\njoints:\n  pin: {type: "
     "revolute, a: "
     "base, b: hub}\nblocks:\n  push: {type: function_of_time, function: %g*sin(9*t)^2}\n  pid: {type: pid, "
     "kp: 30, "
     "ki: 20, kd: 2, filter_time: 0.05 s, inputs: {setpoint: 0, measurement: pin.angle}}\nforces:\n  motor: "
     "{type: "
     "actuator, coordinate: pin.angle, force: pid}\n  tip: {type: force, frame: b.tip, force: [0, 0, "
     "push]}\n",
     {"b.tip.z", "pin.angle", "pid"},
     0.5,
     0.3},
    {"cable",
     "galpha: 1\nform: %s\ngravity: [0, 0, -9.81]\nbodies:\n  c: {type: cable, from: [0, 0, 0], to: [0, 0, "
     "-1], "
     "elements: 5, stiffness: 300, mass_per_length: 0.5, damping: 0.01}\n  w: {type: point, mass: 2, "
     "position: [0, 0, "
     "-1]}\njoints:\n  top: {type: spherical, a: ground, b: c}\n  hook: {type: spherical, a: c.end, b: w}\n"
     "blocks:\n  push: {type: function_of_time, function: %g*sin(9*t)^2}\nforces:\n  wind: {type: force, "
     "frame: w, "
     "force: [push, 0, 0.5*push]}\n",
     {"w.x", "w.z", "c.tension"},
     3,
     0.3},
};

/* Starts at rest; the outputs there, and C x + D u of the linearised model at t_end. */
static void linear_response(bench *b, const small_case *c, double amplitude, double rest[N_OUT],
                            double change[N_OUT])
{
  enum { STEPS = 6000 };
  static const char *const in[] = {"push"};
  const int nq = ga_group_nq(ga_system_group(b->sys)), nv = ga_system_size(b->sys, GA_BLOCK_V);
  double *q = calloc((size_t)(nq + nv + ga_system_size(b->sys, GA_BLOCK_X) + 1), sizeof *q), *x = q + nq + nv;
  ga_equilibrium *eq = NULL;
  ga_machine_linearisation *lin = NULL;
  const ga_state_space *f = NULL;
  assert_done(b, ga_machine_initial(b->machine, q, q + nq, x));
  assert_done(b, ga_equilibrium_create(b->ctx, b->sys, NULL, &eq));
  assert_done(b, ga_equilibrium_solve(eq, 0.0, q, x, NULL));
  const ga_state *at = ga_equilibrium_state(eq);
  assert_done(b, ga_simulator_start(b->sim, NULL, 0.0, at->q, at->v, at->x, NULL, NULL, NULL));
  assert_done(b, ga_machine_linearisation_create(b->ctx, b->machine, 1, in, N_OUT, c->output, &lin));
  assert_done(b, ga_machine_linearisation_compute(lin, ga_stepper_state(b->st), &f));
  for (int i = 0; i < N_OUT; i++) {
    const int index = ga_machine_find_signal(b->machine, c->output[i]);
    assert_true(index >= 0);
    assert_done(b, ga_machine_signals(b->machine, NULL, ga_stepper_state(b->st), 1, &index, &rest[i]));
  }
  const int n = f->n;
  assert_true(n > 4 && n <= MOST_STATES);
  double z[MOST_STATES] = {0}, k[4][MOST_STATES], trial[MOST_STATES];
  const double h = c->t_end / STEPS, share[4] = {0, 0.5, 0.5, 1}, weight[4] = {1, 2, 2, 1};
  for (int step = 0; step < STEPS; step++) {
    for (int stage = 0; stage < 4; stage++) {
      const double wave = sin(9 * (step + share[stage]) * h), u = amplitude * wave * wave;
      for (int i = 0; i < n; i++) trial[i] = z[i] + (stage ? share[stage] * h * k[stage - 1][i] : 0);
      for (int i = 0; i < n; i++) {
        k[stage][i] = f->B[i] * u;
        for (int j = 0; j < n; j++) k[stage][i] += f->A[i * n + j] * trial[j];
      }
    }
    for (int stage = 0; stage < 4; stage++)
      for (int i = 0; i < n; i++) z[i] += h / 6 * weight[stage] * k[stage][i];
  }
  const double wave = sin(9 * c->t_end), u = amplitude * wave * wave;
  for (int i = 0; i < N_OUT; i++) {
    change[i] = f->D[i] * u;
    for (int j = 0; j < n; j++) change[i] += f->C[i * n + j] * z[j];
  }
  ga_machine_linearisation_destroy(&lin);
  ga_equilibrium_destroy(&eq);
  free(q);
}

/* Linearised about equilibrium, A, B, C, D predict a run: what they miss falls with the square of the input.
 */
static void small_inputs(void **state)
{
  (void)state;
  for (size_t i = 0; i < sizeof SMALL / sizeof *SMALL; i++)
    for (int form = 0; form < 3; form++) {
      double miss[2][N_OUT], rest[N_OUT], change[N_OUT];
      for (int half = 0; half < 2; half++) {
        const small_case *c = &SMALL[i];
        const double amplitude = c->amplitude / (1 + half);
        char text[4096];
        snprintf(text, sizeof text, c->text, FORM[form], amplitude);
        bench b = open_bench(text, GA_STABILIZED, 1, 2e-4, GA_PER_STEP, 1e-6, c->t_end);
        linear_response(&b, c, amplitude, rest, change);
        assert_done(&b, ga_simulator_run(b.sim));
        for (int k = 0; k < N_OUT; k++) {
          const int index = ga_machine_find_signal(b.machine, c->output[k]);
          double value;
          assert_done(&b, ga_machine_signals(b.machine, NULL, ga_stepper_state(b.st), 1, &index, &value));
          miss[half][k] = fabs(value - rest[k] - change[k]);
          if (!(miss[half][k] < 0.1 * fabs(change[k])))
            fail_msg("%s, %s, %s: %.9g, by the linear model %.9g", c->name, FORM[form], c->output[k],
                     value - rest[k], change[k]);
        }
        close_bench(&b);
      }
      for (int k = 0; k < N_OUT; k++)
        if (!(miss[1][k] < miss[0][k] / 3.5))
          fail_msg("%s, %s, %s: misses %.3g, and %.3g with half of the input", SMALL[i].name, FORM[form],
                   SMALL[i].output[k], miss[0][k], miss[1][k]);
    }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(orders), cmocka_unit_test(free_flight),
                                     cmocka_unit_test(driven), cmocka_unit_test(saved_runs_go_on),
                                     cmocka_unit_test(small_inputs)};
  return cmocka_run_group_tests_name("model: flexible machines in time", tests, NULL, NULL);
}
