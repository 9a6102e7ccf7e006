/* Beams in motion: published cases against other programs, mechanisms with a beam in them against finer ones
 * and their energy, all methods and step controls, and steps that do not depend on waves along a slender
 * beam. */
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

enum { MOST_SIGNALS = 9, MOST_TIMES = 8 };

typedef struct request {
  ga_method method;
  ga_error_mode error;
  double tol, fixed; /* fixed > 0: equal steps of this length */
  double t_end;
  int n_times, n_signals;
  const double *times; /* NULL: the end */
  const char *const *signals;
  double values[MOST_TIMES][MOST_SIGNALS];
  long steps, rejected; /* by the error test */
} request;

typedef struct bench {
  ga_context *ctx;
  ga_model *model;
  ga_stepper *st;
  ga_simulator *sim;
  request *r;
  int reached, index[MOST_SIGNALS];
} bench;

static void assert_done(const bench *b, ga_status status)
{
  if (status != GA_OK) fail_msg("status %d: %s", (int)status, ga_context_error(b->ctx)->text);
}

static int keep_values(void *user, const ga_state *s)
{
  bench *b = user;
  if (b->reached >= b->r->n_times || fabs(s->t - b->r->times[b->reached]) > 1e-9) return 0;
  return ga_machine_signals(ga_model_machine(b->model), NULL, s, b->r->n_signals, b->index,
                            b->r->values[b->reached++]) != GA_OK;
}

/* Runs the model; signals at the times asked for. */
static void run(const char *text, request *r)
{
  bench b = {.r = r};
  double numbers[16384];
  ga_stepper_opts o = ga_stepper_defaults();
  ga_simulate_opts s = ga_simulate_defaults();
  assert_int_equal(ga_context_create(NULL, &b.ctx), GA_OK);
  assert_done(&b, ga_model_read_text(b.ctx, "text", text, strlen(text), NULL, &b.model));
  const ga_machine *m = ga_model_machine(b.model);
  const ga_system *sys = ga_machine_system(m);
  const int nq = ga_group_nq(ga_system_group(sys)), nv = ga_system_size(sys, GA_BLOCK_V);
  assert_true(nq + nv <= 16384);
  for (int i = 0; i < r->n_signals; i++)
    if ((b.index[i] = ga_machine_find_signal(m, r->signals[i])) < 0) fail_msg("no signal %s", r->signals[i]);
  o.method = r->method;
  s.t_end = r->t_end;
  if (r->fixed > 0) s.fixed_h = r->fixed;
  s.rtol = s.atol = r->tol, s.error = r->error;
  s.rtol_v = s.atol_v = s.rtol_x = s.atol_x = r->tol;
  s.n_output_times = r->n_times, s.output_times = r->times, s.output = keep_values, s.user = &b;
  assert_done(&b, ga_stepper_create(b.ctx, sys, &o, &b.st));
  assert_done(&b, ga_simulator_create(b.ctx, b.st, &s, &b.sim));
  assert_done(&b, ga_machine_initial(m, numbers, numbers + nq, numbers + nq + nv));
  assert_done(
      &b, ga_simulator_start(b.sim, NULL, 0.0, numbers, numbers + nq, numbers + nq + nv, NULL, NULL, NULL));
  assert_done(&b, ga_simulator_run(b.sim));
  if (!r->times)
    assert_done(&b, ga_machine_signals(m, NULL, ga_stepper_state(b.st), r->n_signals, b.index, r->values[0]));
  else
    assert_int_equal(b.reached, r->n_times);
  r->steps = ga_simulator_stats(b.sim)->steps, r->rejected = ga_simulator_stats(b.sim)->rejected_error;
  ga_simulator_destroy(&b.sim);
  ga_stepper_destroy(&b.st);
  ga_model_destroy(&b.model);
  ga_context_destroy(&b.ctx);
}

static void assert_within(double value, double expected, double bound, const char *what, double t)
{
  if (!(fabs(value - expected) <= bound))
    fail_msg("%s at %g s: %.9g instead of %.9g", what, t, value, expected);
}

/* ---- Published cases ---- */

/* Displacement of the tip as seen from the root (Simo and Vu-Quoc 1986), by another program to 1e-4. */
static void spin_up(void **state)
{
  static const double TIME[] = {2.5, 5, 7.5, 10, 12.5, 15, 17.5, 20};
  static const double TIP[][2] = {{-0.001322676581, -0.1512835762},  {-0.01265464338, -0.4684764927},
                                  {-0.01774182476, -0.5590831154},   {-0.007072306219, -0.3628141889},
                                  {-0.0002217804938, -0.1126976483}, {0.0005139906449, 0.001302945056},
                                  {0.0005135984016, 0.003639407998}, {0.0005145338244, 0.0007298853572}};
  static const char *const SIGNAL[] = {"tip.x", "tip.y"};
  (void)state;
  request r = {.method = GA_STABILIZED,
               .tol = 1e-7,
               .t_end = 20,
               .n_times = 8,
               .n_signals = 2,
               .times = TIME,
               .signals = SIGNAL};
  for (int kind = 0; kind < 3; kind++) { /* a beam; a modal body of it, with and without stiffening */
    static const char *const part[] = {
        "type: beam, %s", "type: modal, interface: {root: 0, end: 10}, modes: 6, beam: {%s}",
        "type: modal, interface: {root: 0, end: 10}, modes: 6, stiffening: false, beam: {%s}"};
    char text[2048], body[512];
    snprintf(
        body, sizeof body, part[kind],
        "length: 10, elements: 16, stiffness: [2.8e7, 1e7, 1e7, 14000, 14000, 14000], mass_per_length: 1.2, "
        "rotary_inertia: [0.0012, 0.0006, 0.0006]");
    const char *root = kind ? "arm.root" : "arm";
    snprintf(
        text, sizeof text,
        "galpha: 1\nparameters: {T: 15, speed: 6}\nbodies:\n  arm: {%s}\n"
        "joints:\n  hinge: {type: revolute, a: ground, b: %s}\ndrives:\n  motor:\n    coordinate: "
        "hinge.angle\n"
        "    function: 'if(t < T, speed/T*(t^2/2 + (T/(2*pi))^2*(cos(2*pi*t/T) - 1)), speed*(t - T/2))'\n"
        "sensors:\n  tip: {type: position, of: arm.end, from: %s, axes: %s}\n",
        body, root, root, root);
    r.tol = kind ? 1e-6 : 1e-7;
    run(text, &r);
    double off = 0;
    for (int i = 0; i < 8; i++) {
      off = fmax(off, fabs(r.values[i][1] - TIP[i][1]));
      if (kind == 2) continue;
      assert_within(r.values[i][0], 10 + TIP[i][0], kind ? 1e-4 : 3e-5, "tip.x", TIME[i]);
      assert_within(r.values[i][1], TIP[i][1], kind ? 1.5e-3 : 1e-4, "tip.y", TIME[i]);
    }
    if (kind == 2) assert_true(off > 0.1);
  }
}

/* Simo and Vu-Quoc 1988, by another program to 2e-4. Errors are of order 2 in the length of elements, below
 * 4e-4 with 64: those of 32 and 64 elements give the limit. */
static void flying_spaghetti(void **state)
{
  static const double TIME[] = {1, 2, 3, 4, 5};
  static const char *const SIGNAL[] = {"beam.x",   "beam.y",     "beam.z",     "middle.x",  "middle.y",
                                       "middle.z", "beam.end.x", "beam.end.y", "beam.end.z"};
  static const double EXPECTED[][9] = {{5.58217606, -0.281925392, 0.1964707688, 3.247704165, 4.074392031,
                                        -0.04537238519, 0.1186421543, 7.974878482, -0.01696782789},
                                       {4.034393003, -0.4623037629, 0.4224549507, 4.686887877, 4.170716983,
                                        -0.05243283833, 1.645265287, 8.080300557, -0.3591159619},
                                       {3.467201022, 1.395567237, -1.060082406, 7.124379686, 3.595563723,
                                        0.3812007023, 7.98527659, 8.422041799, -0.4636783795},
                                       {8.677496633, 4.902975564, -4.498091974, 10.58636461, 3.955254664,
                                        0.01258843509, 12.8394894, 3.309040424, 4.441351832},
                                       {19.56276498, 1.521337823, -1.507699302, 15.38439559, 3.899105053,
                                        -0.1044481629, 11.8788308, 6.881346921, 1.830025856}};
  request r[2];
  (void)state;
  for (int k = 0; k < 2; k++) {
    char text[1024];
    snprintf(text, sizeof text,
             "galpha: 1\nbodies:\n  beam: {type: beam, from: [6, 0, 0], to: [0, 8, 0], elements: %d, "
             "stiffness: [10000, "
             "10000, 10000, 500, 500, 500], mass_per_length: 1, rotary_inertia: [10, 10, 10]}\nfunctions:\n  "
             "M: {type: "
             "table, x: [0, 2.5, 5], y: [0, 200, 0], after: hold}\nforces:\n  push: {type: force, frame: "
             "beam, force: "
             "['M(t)/10', 0, 0], torque: [0, '-M(t)/2', '-M(t)']}\nmarkers:\n  middle: {body: beam, "
             "position: [5, 0, 0]}\n",
             k ? 64 : 32);
    r[k] = (request){.method = GA_STABILIZED,
                     .tol = 1e-7,
                     .t_end = 5,
                     .n_times = 5,
                     .n_signals = 9,
                     .times = TIME,
                     .signals = SIGNAL};
    run(text, &r[k]);
  }
  for (int i = 0; i < 5; i++)
    for (int j = 0; j < 9; j++) {
      const double limit = (4 * r[1].values[i][j] - r[0].values[i][j]) / 3;
      assert_within(limit, EXPECTED[i][j], 1e-4, SIGNAL[j], TIME[i]);
      assert_within(r[1].values[i][j], EXPECTED[i][j], 4e-4, SIGNAL[j], TIME[i]);
    }
}

/* ---- Mechanisms with beams, let go under their weight ---- */

static const char SLIDER_CRANK[] =
    "galpha: 1\ngravity: [0, 0, -9.81]\nbodies:\n"
    "  crank: {type: rigid, mass: 0.4, inertia: [1e-4, 8e-4, 8e-4], position: [0.05, 0, 0.0866025403784]}\n"
    "  rod: {type: beam, from: [0.1, 0, 0.173205080757], to: [0.5, 0, 0], elements: %d, mass_per_length: "
    "0.3, stiffness: "
    "[2e5, 8e4, 8e4, 1.5, 2, 2], rotary_inertia: [2e-5, 1e-5, 1e-5], damping: 1e-4}\n"
    "  slider: {type: rigid, mass: 0.2, inertia: [1e-4, 1e-4, 1e-4], position: [0.5, 0, 0]}\n"
    "joints:\n  pivot: {type: revolute, a: ground, b: crank, at: {position: [0, 0, 0], rotation: {z_axis: "
    "[0, 1, 0]}}}\n"
    "  pin: {type: revolute, a: crank, b: rod, at: {position: [0.1, 0, 0.173205080757], rotation: {z_axis: "
    "[0, 1, 0]}}}\n"
    "  eye: {type: spherical, a: rod.end, b: slider}\n"
    "  rail: {type: prismatic, a: ground, b: slider, at: {position: [0.5, 0, 0], rotation: {z_axis: [1, 0, "
    "0]}}}\n"
    "markers:\n  middle: {body: rod, position: [0.217944947177, 0, 0]}\n"
    "sensors:\n  sag: {type: position, of: middle, from: rod, axes: rod}\n";

static const char FOUR_BAR[] =
    "galpha: 1\ngravity: [0, 0, -9.81]\nbodies:\n"
    "  crank: {type: rigid, mass: 0.5, inertia: [2e-4, 2e-4, 2e-4], position: [0, 0, 0.1]}\n"
    "  rod: {type: beam, from: [0, 0, 0.2], to: [0.5, 0, 0.4], elements: %d, mass_per_length: 0.4, "
    "stiffness: "
    "[2e5, 8e4, 8e4, 1.5, 2, 2], rotary_inertia: [2e-5, 1e-5, 1e-5], damping: 1e-4}\n"
    "  rocker: {type: beam, from: [0.5, 0, 0.4], to: [0.6, 0, 0], elements: %d, mass_per_length: 0.4, "
    "stiffness: "
    "[2e5, 8e4, 8e4, 3, 4, 4], rotary_inertia: [2e-5, 1e-5, 1e-5], damping: 1e-4}\n"
    "joints:\n  a: {type: revolute, a: ground, b: crank, at: {position: [0, 0, 0], rotation: {z_axis: [0, 1, "
    "0]}}}\n"
    "  b: {type: revolute, a: crank, b: rod, at: {position: [0, 0, 0.2], rotation: {z_axis: [0, 1, 0]}}}\n"
    "  c: {type: spherical, a: rod.end, b: rocker}\n"
    "  d: {type: spherical, a: ground, b: rocker.end, at: {position: [0.6, 0, 0]}}\n"
    "markers:\n  middle: {body: rod, position: [0.269258240357, 0, 0]}\n"
    "sensors:\n  sag: {type: position, of: middle, from: rod, axes: rod}\n";

/* Errors of elements against the finest: of order 4, as in statics and modes (3.5 at least, since a shock
 * passes through). */
static void check_mechanism(const char *model, const char *what, double t_end, const char *const *signal)
{
  enum { LEVELS = 4 };
  request r[LEVELS];
  for (int k = 0; k < LEVELS; k++) {
    char text[2048];
    const int n = 4 << k;
    snprintf(text, sizeof text, model, n, n);
    r[k] = (request){.method = GA_STABILIZED,
                     .fixed = 5e-4,
                     .tol = 1e-6,
                     .t_end = t_end,
                     .n_signals = 2,
                     .signals = signal};
    run(text, &r[k]);
  }
  for (int j = 0; j < 2; j++) {
    const double rough = fabs(r[0].values[0][j] - r[3].values[0][j]),
                 fine = fabs(r[1].values[0][j] - r[3].values[0][j]);
    if (!(log2(rough / fine) > 3.4)) fail_msg("%s, %s: errors %g, %g", what, signal[j], rough, fine);
    assert_true(fabs(r[3].values[0][j]) > 1e-4);
  }
}

static void slider_crank(void **state)
{
  static const char *const SIGNAL[] = {"slider.x", "sag.z"};
  (void)state;
  check_mechanism(SLIDER_CRANK, "slider-crank", 0.1, SIGNAL);
}

static void four_bar(void **state)
{
  static const char *const SIGNAL[] = {"rod.end.x", "sag.z"};
  (void)state;
  check_mechanism(FOUR_BAR, "four-bar", 0.1, SIGNAL);
}

/* ---- All methods, equal steps and both step controls ---- */

static const char SWING[] = "galpha: 1\ngravity: [0, 0, -9.81]\nbodies:\n  b: {type: beam, from: [0, 0, 0], "
                            "to: [1, 0, 0], elements: %d, section: "
                            "numbers, mass_per_length: 1, stiffness: [%g, 1e4, 1e4, 8, %g, 10], "
                            "rotary_inertia: [2e-4, 1e-4, 1e-4], damping: "
                            "%g}\njoints:\n  hinge: {type: revolute, a: ground, b: b, at: {position: [0, 0, "
                            "0], rotation: {z_axis: [0, 1, 0]}}}\n";

static void methods(void **state)
{
  static const char *const SIGNAL[] = {"b.end.x", "b.end.z"};
  char text[1024];
  (void)state;
  snprintf(text, sizeof text, SWING, 6, 1e4, 10.0, 1e-3);
  request truth = {
      .method = GA_STABILIZED, .fixed = 1e-4, .tol = 1e-6, .t_end = 0.5, .n_signals = 2, .signals = SIGNAL};
  run(text, &truth);
  ga_method_info info;
  for (int method = 0; ga_method_at(method, &info); method++)
    for (int mode = 0; mode < 3; mode++) {
      double error[2];
      request r = {.method = info.method, .t_end = 0.5, .n_signals = 2, .signals = SIGNAL};
      for (int fine = 0; fine < 2; fine++) {
        if (mode == 0) r.fixed = fine ? 1e-3 : 2e-3;
        r.error = mode == 2 ? GA_PER_UNIT_STEP : GA_PER_STEP;
        r.tol = mode == 2 ? (fine ? 1e-3 : 1e-2) : (fine ? 1e-6 : 1e-5);
        run(text, &r);
        error[fine] = hypot(r.values[0][0] - truth.values[0][0], r.values[0][1] - truth.values[0][1]);
      }
      /* of a tip that has moved by 1.3 m */
      const double known = info.has_order ? 1e-4 : 0.0; /* far below all tolerances here */
      if (!(error[0] < 5e-3 && (error[1] < 0.5 * error[0] || error[1] < known)))
        fail_msg("%s, control %d: errors %g, %g", info.name, mode, error[0], error[1]);
    }
}

/* EA 1e4 times as large: waves along the beam are a hundred times as fast, and steps no shorter, by any
 * method, as section forces are iterates of Newton's iteration; at 1e-3, where the beam turns by 0.1 rad in a
 * step, 1.5 times as many. */
static void slender(void **state)
{
  static const char *const SIGNAL[] = {"b.end.x"};
  static const struct {
    double tol, most; /* [-] steps over those of the soft beam */
  } at[] = {{1e-3, 1.6}, {1e-4, 1.1}, {1e-5, 1.1}};
  ga_method_info info;
  (void)state;
  for (int method = 0; ga_method_at(method, &info) && !info.has_order; method++)
    for (int i = 0; i < 3; i++) {
      long steps[2];
      for (int k = 0; k < 2; k++) {
        char text[1024];
        request r = {.method = info.method, .tol = at[i].tol, .t_end = 1, .n_signals = 1, .signals = SIGNAL};
        snprintf(text, sizeof text, SWING, 6, k ? 1e8 : 1e4, 10.0, 0.0);
        run(text, &r);
        steps[k] = r.steps;
      }
      if (!((double)steps[1] < at[i].most * (double)steps[0]))
        fail_msg("%s, tolerance %g: %ld steps instead of %ld", info.name, at[i].tol, steps[1], steps[0]);
    }
}

/* Forces along a slender beam that turns are stiffness across it, large and small from step to step: this is
 * nothing new, as a contact would be, and no reason to repeat steps. */
static void stiffness_that_turns(void **state)
{
  static const char *const SIGNAL[] = {"b.end.x"};
  char text[1024];
  request r = {.method = GA_STABILIZED, .tol = 1e-4, .t_end = 1, .n_signals = 1, .signals = SIGNAL};
  (void)state;
  snprintf(text, sizeof text, SWING, 16, 1e8, 1.0, 0.0);
  run(text, &r);
  assert_true(r.steps > 200 && r.rejected < 10);
}

/* A girder that a load is driven along, by collocation, whose sweeps for stiff equations do not fall from the
 * first one on: neither is that a reason for short steps. */
static const char GIRDER[] =
    "galpha: 1\ngravity: [0, 0, -9.81]\nbodies:\n  girder: {type: beam, from: [0, 0, 0], to: [12, 0, 0], "
    "elements: 16, section: i, height: 300 mm, width: 300 mm, web: 11 mm, flange: 19 mm, young: 210 GPa, "
    "poisson: 0.3, density: 7850, damping: 1 ms}\n  trolley: {type: point, mass: 300 kg, position: [2, 0, "
    "0]}\n  load: {type: point, mass: 4000 kg, position: [2, 0, -5]}\nmarkers:\n  rail: {body: ground, "
    "position: [12, 0, 0], rotation: {z_axis: [1, 0, 0]}}\n  middle: {body: girder, position: [6, 0, "
    "0]}\njoints:\n  left: {type: universal, a: ground, b: girder}\n  right: {type: point_on_line, a: rail, "
    "b: girder.end}\n  hoist: {type: distance, a: trolley, b: load}\nsliders:\n  wheels: {along: girder, "
    "frame: trolley, s: 2}\ndrives:\n  haul: {coordinate: wheels.s, function: '2 + 8*step5(t, 1, 0, 9, "
    "1)'}\n";

static void girder(void **state)
{
  static const char *const SIGNAL[] = {"middle.z", "load.x"};
  static const struct {
    double tol, off;
    long most;
  } at[] = {{1e-3, 2e-2, 150}, {1e-5, 1e-3, 200}};
  request truth = {.method = GA_STABILIZED, .tol = 1e-7, .t_end = 6, .n_signals = 2, .signals = SIGNAL};
  (void)state;
  run(GIRDER, &truth);
  for (int i = 0; i < 2; i++) {
    request r = {.method = GA_COLLOCATION, .tol = at[i].tol, .t_end = 6, .n_signals = 2, .signals = SIGNAL};
    run(GIRDER, &r);
    if (r.steps > at[i].most) fail_msg("tolerance %g: %ld steps", at[i].tol, r.steps);
    for (int k = 0; k < 2; k++) assert_within(r.values[0][k], truth.values[0][k], at[i].off, SIGNAL[k], 6.0);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(spin_up),
                                     cmocka_unit_test(flying_spaghetti),
                                     cmocka_unit_test(slider_crank),
                                     cmocka_unit_test(four_bar),
                                     cmocka_unit_test(methods),
                                     cmocka_unit_test(slender),
                                     cmocka_unit_test(stiffness_that_turns),
                                     cmocka_unit_test(girder)};
  return cmocka_run_group_tests_name("model: beams in motion", tests, NULL, NULL);
}
