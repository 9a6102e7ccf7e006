/* Gradients of models: of signals by the state, against differences along directions. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "galpha/study.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_STATE = 2048 };

static int show; /* 1: figures are printed, none is judged */

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

static void run_open(run *r, const char *model, const ga_form *form, ga_method method, double h, int n)
{
  static double q[MOST_STATE], v[MOST_STATE], x[MOST_STATE];
  ga_model_opts opts = ga_model_defaults();
  ga_stepper_opts so;
  ga_simulate_opts o = ga_simulate_defaults();
  snprintf(r->path, sizeof r->path, "%s/%s.yaml", MODELS, model);
  assert_int_equal(ga_context_create(NULL, &r->ctx), GA_OK);
  opts.form = form;
  fine(r->ctx, ga_model_read_file(r->ctx, r->path, &opts, &r->model));
  r->machine = ga_model_machine(r->model);
  ga_run_settings settings = *ga_model_settings(r->model);
  settings.method = method;
  fine(r->ctx, ga_run_stepper_opts(r->ctx, &settings, &so));
  o.fixed_h = h;
  o.t_end = n * h;
  o.defect_points = 0;
  fine(r->ctx, ga_stepper_create(r->ctx, ga_machine_system(r->machine), &so, &r->st));
  fine(r->ctx, ga_simulator_create(r->ctx, r->st, &o, &r->sim));
  fine(r->ctx, ga_machine_initial(r->machine, q, v, x));
  fine(r->ctx, ga_simulator_start(r->sim, NULL, 0.0, q, v, x, NULL, NULL, NULL));
}

static void run_close(run *r)
{
  ga_simulator_destroy(&r->sim);
  ga_stepper_destroy(&r->st);
  ga_model_destroy(&r->model);
  ga_context_destroy(&r->ctx);
}

static int step(run *r)
{
  const ga_status status = ga_simulator_step(r->sim);
  if (status < 0 || (status && !ga_simulator_finished(r->sim))) fine(r->ctx, status);
  return !status;
}

/* ---- Gradients of signals ---- */

typedef struct sizes {
  int n[7]; /* of q, v, vdot, lambda, psi, x, y */
  size_t all;
} sizes;

static sizes sizes_of(const ga_machine *m)
{
  const ga_system *sys = ga_machine_system(m);
  const int nv = ga_system_size(sys, GA_BLOCK_V);
  sizes s = {{nv, nv, nv, ga_system_size(sys, GA_BLOCK_LAMBDA), ga_system_size(sys, GA_BLOCK_PSI),
              ga_system_size(sys, GA_BLOCK_X), ga_system_size(sys, GA_BLOCK_Y)},
             0};
  for (int k = 0; k < 7; k++) s.all += (size_t)s.n[k];
  return s;
}

static double draw(void)
{
  static unsigned long seed = 12345;
  seed = seed * 6364136223846793005ul + 1442695040888963407ul;
  return (double)(seed >> 33) / 2147483648.0 - 0.5;
}

/* Of all signals, along one random direction. */
static void compare_gradients(const char *model, const ga_form *form, double h, int n_steps)
{
  run r = {0};
  run_open(&r, model, form, GA_STABILIZED, h, n_steps);
  while (step(&r)) continue;
  const ga_machine *m = r.machine;
  const ga_state *s = ga_stepper_state(r.st);
  const sizes z = sizes_of(m);
  double *along = calloc(z.all + 1, sizeof *along), *gradient = calloc(z.all + 1, sizeof *gradient);
  double *a[7], *g[7], worst = 0.0, most = 1.0; /* most: of all values, whose rounding some derivatives are */
  const char *name = "none";
  size_t at = 0;
  for (int k = 0; k < 7; k++) a[k] = along + at, g[k] = gradient + at, at += (size_t)z.n[k];
  for (size_t i = 0; i < z.all; i++) along[i] = draw();
  for (int i = 0; i < ga_machine_n_signals(m); i++) {
    double value;
    fine(r.ctx, ga_machine_signals(m, NULL, s, 1, &i, &value));
    if (ga_machine_signal_kind(m, i) != GA_SIGNAL_ERROR) most = fmax(most, fabs(value));
  }
  const ga_direction d = {a[0], a[1], a[2], a[3], a[4], a[5], a[6]};
  const ga_seed to = {g[0], g[1], g[2], g[3], g[4], g[5], g[6]};
  for (int i = 0; i < ga_machine_n_signals(m); i++) {
    double is = 0.0, should, size = 0.0;
    const double one = 1.0;
    if (ga_machine_signal_kind(m, i) == GA_SIGNAL_ERROR || ga_machine_signal_is_constant(m, i)) continue;
    if (ga_machine_signal_sensitivities(m, NULL, 1.0, s, &d, 1, &i, &should)) continue; /* a corner */
    memset(gradient, 0, z.all * sizeof *gradient);
    fine(ga_machine_context(m), ga_machine_signal_gradient(m, s, 1, &i, &one, &to));
    for (size_t k = 0; k < z.all; k++) is += gradient[k] * along[k], size += fabs(gradient[k] * along[k]);
    if (ga_machine_signal_kind(m, i) == GA_SIGNAL_ENERGY && fabs(should) < 1e-5 * most)
      continue; /* cancels */
    const double off = fabs(is - should) / (size + 1e-6 * most);
    if (!(off <= worst)) worst = off, name = ga_machine_signal_name(m, i);
    if (!show && !(off <= 1e-6))
      fail_msg("%s: %s is %.12g, not %.12g", model, ga_machine_signal_name(m, i), is, should);
  }
  if (show) printf("# gradients of %s: %.1e at %s\n", model, worst, name);
  free(along);
  free(gradient);
  run_close(&r);
}

static void gradients_are_those_along_directions(void **state)
{
  static const struct {
    const char *model;
    double h;
    int n;
  } CASES[] = {{"slider_crank", 5e-3, 20},     {"heavy_top", 1e-3, 20},
               {"rolling_disk", 1e-2, 20},     {"spring_mass", 2e-2, 20},
               {"mechatronic", 5e-3, 20},      {"robot_arm", 1e-2, 20},
               {"quarter_car_step", 2e-3, 40}, {"quarter_car_hydraulic", 1e-3, 20},
               {"double_pendulum", 5e-3, 20}};
  static const ga_form FORMS[] = {GA_FORM_BODY, GA_FORM_SE3};
  (void)state;
  for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++)
    compare_gradients(CASES[i].model, NULL, CASES[i].h, CASES[i].n);
  for (size_t i = 0; i < 2; i++) compare_gradients("heavy_top", &FORMS[i], 1e-3, 20);
}

/* ---- Measures, by an adjoint and forwards ---- */

enum { MOST_BY = 12, MOST_MEASURES = 12 };

typedef struct course {
  const char *model, *by[MOST_BY], *measures[MOST_MEASURES];
  double h;
  int n;
} course;

/* Both in one run, with the parameter number 0 known to the measures. */
static void compare_measures(const course *c, ga_method method)
{
  run r = {0};
  int n_by = 0, n = 0;
  ga_model_variation *v[MOST_BY] = {NULL};
  ga_parameter list[MOST_BY];
  ga_measure_by by[MOST_BY];
  ga_study_parameter known[1];
  ga_sensitivity *se = NULL;
  ga_adjoint *adjoint = NULL;
  ga_measures *forward = NULL, *backward = NULL;
  ga_meter *meter = NULL;
  double value[MOST_MEASURES], same[MOST_MEASURES], scale[MOST_MEASURES], slope[MOST_BY], gradient[MOST_BY];
  const ga_adjoint_opts opts = {.interval = 17, .memory = method == GA_COLLOCATION ? 1e5 : 0.0};
  run_open(&r, c->model, NULL, method, c->h, c->n);
  for (; n_by < MOST_BY && c->by[n_by]; n_by++) {
    fine(r.ctx, ga_model_variation_create(r.ctx, r.model, r.path, NULL, c->by[n_by], 0.0, &v[n_by]));
    list[n_by] = *ga_model_variation_parameter(v[n_by]);
    by[n_by] = (ga_measure_by){v[n_by], n_by == 0 ? 0 : -1};
  }
  while (n < MOST_MEASURES && c->measures[n]) n++;
  ga_model_parameter p;
  ga_model_parameter_at(r.model, ga_model_find_parameter(r.model, c->by[0]), &p);
  known[0] = (ga_study_parameter){p.name, strcmp(p.unit, "1") == 0 ? "" : p.unit, p.value};
  fine(r.ctx, ga_meter_create(ga_machine_context(r.machine), r.machine, &meter));
  fine(r.ctx, ga_sensitivity_create(r.ctx, r.st, n_by, list, &se));
  fine(r.ctx, ga_adjoint_create(r.ctx, r.st, n_by, list, &opts, &adjoint));
  fine(r.ctx, ga_measures_create(r.ctx, r.machine, n, c->measures, 1, known, NULL, &forward));
  fine(r.ctx, ga_measures_create(r.ctx, r.machine, n, c->measures, 1, known, NULL, &backward));
  fine(r.ctx, ga_measures_differentiate(forward, se, n_by, by));
  fine(r.ctx, ga_measures_use_adjoint(backward, adjoint, n_by, by));
  fine(r.ctx, ga_meter_start(meter, ga_stepper_state(r.st)));
  fine(r.ctx, ga_sensitivity_begin(se));
  fine(r.ctx, ga_adjoint_begin(adjoint));
  fine(r.ctx, ga_measures_start(forward, r.st, meter));
  fine(r.ctx, ga_measures_start(backward, r.st, meter));
  for (int more = 1; more;) {
    more = step(&r);
    fine(r.ctx, ga_sensitivity_step(se));
    fine(r.ctx, ga_adjoint_step(adjoint));
    fine(r.ctx, ga_meter_follow(meter, r.st));
    fine(r.ctx, ga_measures_step(forward, r.st, meter));
    fine(r.ctx, ga_measures_step(backward, r.st, meter));
    fine(ga_machine_context(r.machine), ga_meter_update(meter, ga_stepper_state(r.st)));
  }
  fine(r.ctx, ga_measures_end(forward, value, scale));
  fine(r.ctx, ga_measures_end(backward, same, NULL));
  assert_memory_equal(value, same, (size_t)n * sizeof *value);
  for (int i = 0; i < n; i++) {
    fine(r.ctx, ga_measures_slopes(forward, i, slope));
    assert_string_equal(ga_measures_adjoint_note(backward, i), "");
    fine(r.ctx, ga_measures_gradient(backward, i, gradient));
    for (int j = 0; j < n_by; j++) {
      ga_model_parameter of;
      ga_model_parameter_at(r.model, ga_model_find_parameter(r.model, c->by[j]), &of);
      const double size = fmax(fabs(slope[j]), 1e-3 * fmax(scale[i], fabs(value[i])) / fabs(of.value));
      const double off = fabs(slope[j] - gradient[j]) / size;
      if (show)
        printf("# %s: d %s / d %s = %.12g, backwards %.1e\n", c->model, c->measures[i], c->by[j], slope[j],
               off);
      if (!show && !(off <= 1e-8))
        fail_msg("%s: d %s / d %s is %.14g backwards, %.14g forwards", c->model, c->measures[i], c->by[j],
                 gradient[j], slope[j]);
    }
  }
  ga_measures_destroy(&forward);
  ga_measures_destroy(&backward);
  ga_sensitivity_destroy(&se);
  ga_adjoint_destroy(&adjoint);
  ga_meter_destroy(&meter);
  for (int j = 0; j < n_by; j++) ga_model_variation_destroy(&v[j]);
  run_close(&r);
}

static void both_ways_give_the_same_gradients(void **state)
{
  enum { N_BY_COLLOCATION = 4 }; /* the first ones: integrals over others take many values of dense output */
  static const course COURSES[] = {
      {"slider_crank",
       {"crank_length", "k", "rod_length", "torque", "rod_mass"},
       {"final(slider.x)", "at(0.2013 s, slider.x^2*spring.force)", "rms(slider.x)", "mean(spring.force)",
        "integral(crank.angle)*crank_length", "std(slider.vx)", "final(slider.x)/initial(slider.x)",
        "mean(slider.x*crank_length)", "final(energy.kinetic)"},
       5e-3,
       63},
      {"heavy_top",
       {"m", "L", "precession", "spin"},
       {"final(centre.x)", "at(0.0137 s, tip.fz)", "rms(centre.y)", "mean(top.wx)",
        "integral(tip.fx*centre.y)"},
       1e-3,
       40},
      {"rolling_disk",
       {"m", "r", "J", "lean", "roll_rate"},
       {"final(disk.x)", "rms(disk.y)", "at(0.111 s, disk.wz)"},
       1e-2,
       40},
      {"spring_mass",
       {"m", "k", "start", "leak", "gain"},
       {"final(mass)", "rms(mass)", "at(0.5117 s, mass.rate)"},
       2e-2,
       60},
      {"robot_arm",
       {"load", "L1", "shoulder_from", "m2"},
       {"final(tool.x)", "rms(shoulder.fx)", "integral(elbow.angle)"},
       1e-2,
       30},
      {"quarter_car_step",
       {"spring_rate", "tyre_rate", "sprung_mass", "rise"},
       {"rms(sprung.az)", "final(strut.force)", "mean(tyre.length)"},
       2e-3,
       60},
      {"mechatronic", {"m", "l", "c", "R", "e_"}, {"final(tip.x)", "rms(bar.ay)"}, 5e-3, 40},
      {"double_pendulum",
       {"length", "density", "c"},
       {"final(hinge2.angle)", "rms(hinge1.fx)", "at(0.2222 s, lower.ax)"},
       5e-3,
       60},
  };
  (void)state;
  for (size_t i = 0; i < sizeof COURSES / sizeof *COURSES; i++) {
    compare_measures(&COURSES[i], GA_STABILIZED);
    if (i < N_BY_COLLOCATION) compare_measures(&COURSES[i], GA_COLLOCATION);
  }
}

/* ---- Parameters of which the equations are polynomials, and not for ever ---- */

/* A quadratic force, and a cubic one that begins late: at x = k/2, and not between two times of examination
 * alone. */
static const char LATE[] =
    "galpha: 1\nparameters: {k: 1.3}\n"
    "bodies: {x: {type: scalar, mass: 1 + 0.1*k, position: 0.2, velocity: 0.4}}\n"
    "forces: {f: {type: actuator, coordinate: x, force: \"-k^2*x - 50*max(0, x - k/3)^4/k + k*t\"}}\n"
    "simulation: {step: 0.004, newton_tolerance: 1e-13}\n";

static double end_of(const char *value, double *slope)
{
  static const char *const measure[] = {"final(x)"};
  ga_context *ctx = NULL;
  ga_model *model = NULL;
  ga_model_variation *v = NULL;
  ga_stepper *st = NULL;
  ga_sensitivity *se = NULL;
  ga_measures *m = NULL;
  ga_model_opts opts = ga_model_defaults();
  ga_stepper_opts so;
  ga_start_opts o = ga_start_defaults();
  double q[1], w[1], x[1], out = 0.0;
  assert_int_equal(ga_context_create(NULL, &ctx), GA_OK);
  opts.n_set = 1, opts.set = &value;
  fine(ctx, ga_model_read_text(ctx, "late", LATE, strlen(LATE), &opts, &model));
  const ga_machine *machine = ga_model_machine(model);
  fine(ctx, ga_run_stepper_opts(ctx, ga_model_settings(model), &so));
  fine(ctx, ga_stepper_create(ctx, ga_machine_system(machine), &so, &st));
  fine(ctx, ga_measures_create(ctx, machine, 1, measure, 0, NULL, NULL, &m));
  fine(ctx, ga_machine_initial(machine, q, w, x));
  o.h = 0.004;
  fine(ctx, ga_stepper_start(st, &o, 0.0, q, w, x, NULL, NULL, NULL));
  if (slope) {
    fine(ctx, ga_model_variation_create(ctx, model, NULL, &opts, "k", 0.0, &v));
    fine(ctx, ga_sensitivity_create(ctx, st, 1, ga_model_variation_parameter(v), &se));
    const ga_measure_by by = {v, -1};
    fine(ctx, ga_measures_differentiate(m, se, 1, &by));
    fine(ctx, ga_sensitivity_begin(se));
  }
  fine(ctx, ga_measures_start(m, st, NULL));
  for (int i = 0; i < 300; i++) {
    fine(ctx, ga_stepper_step(st, 0.004));
    if (se) fine(ctx, ga_sensitivity_step(se));
    fine(ctx, ga_measures_step(m, st, NULL));
  }
  fine(ctx, ga_measures_end(m, &out, NULL));
  if (slope) fine(ctx, ga_measures_slopes(m, 0, slope));
  ga_measures_destroy(&m);
  ga_sensitivity_destroy(&se);
  ga_stepper_destroy(&st);
  ga_model_variation_destroy(&v);
  ga_model_destroy(&model);
  ga_context_destroy(&ctx);
  return out;
}

static void powers_that_come_late_are_noticed(void **state)
{
  static const double AT[] = {-3.0, -2.0, -1.0, 1.0, 2.0, 3.0},
                      WEIGHT[] = {-1.0, 9.0, -45.0, 45.0, -9.0, 1.0};
  const double h = 5e-4;
  double slope, should = 0.0;
  char set[64];
  (void)state;
  end_of("k=1.3", &slope);
  for (int i = 0; i < 6; i++) {
    snprintf(set, sizeof set, "k=%.17g", 1.3 + AT[i] * h);
    should += WEIGHT[i] * end_of(set, NULL) / (60.0 * h);
  }
  if (show)
    printf("# late powers: %.14g, by differences %.14g, off by %.1e\n", slope, should, fabs(slope - should));
  if (!(fabs(slope - should) <= 1e-9 * fabs(should))) fail_msg("%.14g, by differences %.14g", slope, should);
}

int main(int argc, char **argv)
{
  show = argc > 1 && strcmp(argv[1], "show") == 0;
  const struct CMUnitTest tests[] = {cmocka_unit_test(gradients_are_those_along_directions),
                                     cmocka_unit_test(both_ways_give_the_same_gradients),
                                     cmocka_unit_test(powers_that_come_late_are_noticed)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
