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

static void run_open(run *r, const char *model, const ga_form *form, double h, int n)
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
  settings.method = GA_STABILIZED;
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
  run_open(&r, model, form, h, n_steps);
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
    if (ga_machine_signal_kind(m, i) == GA_SIGNAL_ENERGY && fabs(should) < 1e-5 * most) continue; /* cancels */
    const double off = fabs(is - should) / (size + 1e-6 * most);
    if (!(off <= worst)) worst = off, name = ga_machine_signal_name(m, i);
    if (!show && !(off <= 1e-6)) fail_msg("%s: %s is %.12g, not %.12g", model, ga_machine_signal_name(m, i), is, should);
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
  } CASES[] = {{"slider_crank", 5e-3, 20},      {"heavy_top", 1e-3, 20},
               {"rolling_disk", 1e-2, 20},      {"spring_mass", 2e-2, 20},
               {"mechatronic", 5e-3, 20},       {"robot_arm", 1e-2, 20},
               {"quarter_car_step", 2e-3, 40},  {"quarter_car_hydraulic", 1e-3, 20},
               {"double_pendulum", 5e-3, 20}};
  static const ga_form FORMS[] = {GA_FORM_BODY, GA_FORM_SE3};
  (void)state;
  for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++)
    compare_gradients(CASES[i].model, NULL, CASES[i].h, CASES[i].n);
  for (size_t i = 0; i < 2; i++) compare_gradients("heavy_top", &FORMS[i], 1e-3, 20);
}

int main(int argc, char **argv)
{
  show = argc > 1 && strcmp(argv[1], "show") == 0;
  const struct CMUnitTest tests[] = {cmocka_unit_test(gradients_are_those_along_directions)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
