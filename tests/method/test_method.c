/* A method is one file and one row: this program is linked with index2.c and with the files that the
 * table of methods is compiled into, made with the row of row.txt behind the others; all else is the
 * library as it is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "core_rig.h"
#include "galpha/galpha.h"
#include "galpha/model.h"

static void table_has_it(void **state)
{
  ga_method_info info;
  ga_method found;
  (void)state;
  assert_int_equal(ga_method_find("index2", &found), 1);
  assert_int_equal(found, GA_INDEX2);
  assert_int_equal(ga_method_at(GA_INDEX2, &info), 1);
  assert_string_equal(info.name, "index2");
  assert_string_equal(info.title, "index-2");
  assert_int_equal(info.keeps_rates, 1);
  assert_int_equal(info.keeps_positions, 0);
  assert_int_equal(ga_method_at(GA_INDEX2 + 1, NULL), 0);
}

/* The settings of model files, and with them the options of the program, know its name. */
static void settings_have_it(void **state)
{
  ga_setting s;
  (void)state;
  for (int i = 0; ga_setting_at(i, &s); i++) {
    if (strcmp(s.name, "method") != 0) continue;
    assert_true(s.n_choices > GA_INDEX2);
    assert_string_equal(s.choices[GA_INDEX2], "index2");
    assert_non_null(strstr(s.about, "index2"));
    return;
  }
  fail_msg("there is no setting 'method'");
}

/* ---- Order ---- */

typedef struct errors {
  double q, v, lambda, x;
} errors;

static double distance(const double *a, const double *b, int n)
{
  double most = 0.0;
  for (int i = 0; b && i < n; i++) most = fmax(most, fabs(a[i] - b[i]));
  return most;
}

/* Against the problem's own reference, which is of other origin than this library. */
static errors errors_with(const char *problem, double h_wanted)
{
  rig r = rig_open(problem);
  const ex_reference *ref = &r.problem->reference;
  const int n = (int)ceil(ref->t / h_wanted - 1e-9);
  r.opts.method = GA_INDEX2;
  r.opts.newton.tol = 1e-12;
  rig_build(&r);
  rig_start(&r, ref->t / n);
  rig_steps(&r, ref->t / n, n);
  const ga_state *s = ga_stepper_state(r.st);
  const errors e = {distance(s->q, ref->q, r.sys->nq), distance(s->v, ref->v, r.sys->nv),
                    distance(s->lambda, ref->lambda, r.sys->size[GA_BLOCK_LAMBDA]),
                    distance(s->x, ref->x, r.sys->size[GA_BLOCK_X])};
  rig_close(&r);
  return e;
}

static void assert_order(const char *problem, const char *what, double coarse, double fine)
{
  if (coarse == 0.0 && fine == 0.0) return; /* nothing of that kind, or no reference of it */
  const double order = log2(coarse / fine);
  if (!(order > 1.85 && order < 2.4))
    fail_msg("%s: order %.2f in %s (errors %.3g and %.3g)", problem, order, what, coarse, fine);
}

/* A top on R³×SO(3), a mechanism of seven bodies, a controlled one with states and outputs fed by vdot, and a
 * body that rolls without slipping. */
static void is_of_order_2(void **state)
{
  static const struct {
    const char *problem;
    double h;
  } list[] = {{"heavy_top", 1e-3}, {"andrews31", 1e-4}, {"mechatronic", 1e-3}, {"rolling_disk", 1e-2}};
  (void)state;
  for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
    const double h = list[i].h;
    const errors a = errors_with(list[i].problem, h), b = errors_with(list[i].problem, 0.5 * h);
    print_message("%-12s h = %g: q %.2g %.2g  v %.2g %.2g  lambda %.2g %.2g  x %.2g %.2g\n", list[i].problem,
                  h, a.q, b.q, a.v, b.v, a.lambda, b.lambda, a.x, b.x);
    assert_order(list[i].problem, "q", a.q, b.q);
    assert_order(list[i].problem, "v", a.v, b.v);
    assert_order(list[i].problem, "lambda", a.lambda, b.lambda);
    assert_order(list[i].problem, "x", a.x, b.x);
  }
}

/* ---- What it is ---- */

/* Rates are kept to rounding, positions drift by O(h²): it is this method and no other one. */
static void keeps_rates_alone(void **state)
{
  double drift[2];
  (void)state;
  for (int i = 0; i < 2; i++) {
    const double h = i ? 5e-4 : 1e-3;
    double phi, rate;
    rig r = rig_open("heavy_top");
    r.opts.method = GA_INDEX2;
    rig_build(&r);
    rig_start(&r, h);
    rig_steps(&r, h, (int)(0.2 / h + 0.5));
    assert_status(r.ctx, ga_stepper_constraint_residuals(r.st, &phi, &rate, NULL), GA_OK);
    assert_true(rate < 1e-10);
    drift[i] = phi;
    rig_close(&r);
  }
  assert_true(drift[0] > 1e-8);
  const double order = log2(drift[0] / drift[1]);
  if (!(order > 1.8 && order < 2.3)) fail_msg("drift of order %.2f", order);
}

/* The rules give the exact derivative: with a new matrix at every iteration the increments shrink
 * quadratically. */
static void matrix_is_exact(void **state)
{
  static const char *const list[] = {"heavy_top", "andrews31", "mechatronic", "test71"};
  (void)state;
  for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
    rig r = rig_open(list[i]);
    r.opts.method = GA_INDEX2;
    r.opts.newton.reuse = GA_FRESH_ITERATION;
    r.opts.newton.max_iterations = 5;
    rig_build(&r);
    rig_start(&r, r.problem->h);
    rig_steps(&r, r.problem->h, 20);
    const ga_stats *s = ga_stepper_stats(r.st);
    if (s->iterations > 4 * s->steps)
      fail_msg("%s: %ld iterations in %ld steps", list[i], s->iterations, s->steps);
    rig_close(&r);
  }
}

/* Taken back, saved and loaded it goes on with the same bits, by the stepper's own means. */
static void goes_back_and_on(void **state)
{
  double saved[2048];
  (void)state;
  rig r = rig_open("heavy_top");
  const double h = r.problem->h;
  r.opts.method = GA_INDEX2;
  rig_build(&r);
  rig_start(&r, h);
  rig_steps(&r, h, 10);
  double *before = rig_copy(&r);
  rig_steps(&r, 0.7 * h, 1);
  assert_status(r.ctx, ga_stepper_undo(r.st), GA_OK);
  assert_memory_equal(r.st->now.block, before, r.st->state_length * sizeof(double));
  assert_true(ga_stepper_saved_size(r.st) <= 2048);
  assert_status(r.ctx, ga_stepper_save(r.st, saved), GA_OK);
  rig_steps(&r, h, 10);
  double *after = rig_copy(&r);
  assert_status(r.ctx, ga_stepper_load(r.st, saved), GA_OK);
  rig_steps(&r, h, 10);
  assert_memory_equal(r.st->now.block, after, r.st->state_length * sizeof(double));
  free(before);
  free(after);
  rig_close(&r);
}

/* ---- From a model file, with error control ---- */

enum { MOST_TEXT = 8192, MOST_Q = 64 };

/* The text of a model with a line `method` in its section `simulation`. */
static void read_with_method(const char *file, const char *method, char *out, size_t size)
{
  static const char section[] = "simulation:\n";
  static char text[MOST_TEXT];
  char path[1024];
  snprintf(path, sizeof path, "%s/%s", MODELS, file);
  FILE *f = fopen(path, "r");
  assert_non_null(f);
  text[fread(text, 1, sizeof text - 1, f)] = '\0';
  fclose(f);
  const char *at = strstr(text, section);
  assert_non_null(at);
  const int head = (int)(at - text + (long)sizeof section - 1);
  assert_true(snprintf(out, size, "%.*s  method: %s\n%s", head, text, method, text + head) < (int)size);
}

/* q at t_end, by error control; the number of its numbers, and of redundant constraints. */
static int run_model(const char *file, const char *method, double tol, double t_end, double *q,
                     int *redundant)
{
  static char text[2 * MOST_TEXT];
  static double from[8 * MOST_Q];
  ga_context *ctx = NULL;
  ga_model *model = NULL;
  ga_stepper *st = NULL;
  ga_simulator *sim = NULL;
  ga_stepper_opts opts;
  read_with_method(file, method, text, sizeof text);
  assert_int_equal(ga_context_create(NULL, &ctx), GA_OK);
  assert_status(ctx, ga_model_read_text(ctx, file, text, strlen(text), NULL, &model), GA_OK);
  const ga_system *sys = ga_machine_system(ga_model_machine(model));
  const int nq = ga_group_nq(ga_system_group(sys)), nv = ga_system_size(sys, GA_BLOCK_V);
  assert_true(nq <= MOST_Q);
  assert_status(ctx, ga_run_stepper_opts(ctx, ga_model_settings(model), &opts), GA_OK);
  assert_status(ctx, ga_stepper_create(ctx, sys, &opts, &st), GA_OK);
  ga_simulate_opts o = ga_simulate_defaults();
  o.t_end = t_end;
  o.rtol = o.rtol_v = o.rtol_x = tol;
  o.atol = o.atol_v = o.atol_x = 1e-2 * tol;
  assert_status(ctx, ga_simulator_create(ctx, st, &o, &sim), GA_OK);
  assert_status(ctx, ga_machine_initial(ga_model_machine(model), from, from + nq, from + nq + nv), GA_OK);
  assert_status(ctx, ga_simulator_start(sim, NULL, 0.0, from, from + nq, from + nq + nv, NULL, NULL, NULL),
                GA_OK);
  assert_status(ctx, ga_simulator_run(sim), GA_OK);
  memcpy(q, ga_stepper_state(st)->q, (size_t)nq * sizeof *q);
  *redundant = ga_stepper_stats(st)->redundant;
  ga_simulator_destroy(&sim);
  ga_stepper_destroy(&st);
  ga_model_destroy(&model);
  ga_context_destroy(&ctx);
  return nq;
}

/* A linkage in space with three redundant constraints, a machine that rolls, and one with a controller: error
 * control chooses steps for the new method as for others, and tighter tolerances bring it closer. */
static void runs_models(void **state)
{
  static const char *const list[] = {"four_bar_3d.yaml", "rolling_disk.yaml", "mechatronic.yaml"};
  (void)state;
  for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
    double best[MOST_Q], q[MOST_Q], error[2];
    int redundant, found;
    const int n = run_model(list[i], "stabilized", 1e-8, 0.5, best, &redundant);
    for (int k = 0; k < 2; k++) {
      run_model(list[i], "index2", k ? 1e-6 : 1e-4, 0.5, q, &found);
      assert_int_equal(found, redundant);
      error[k] = distance(q, best, n);
    }
    print_message("%-20s %d redundant: off by %.2g at 1e-4, %.2g at 1e-6\n", list[i], redundant, error[0],
                  error[1]);
    if (!(error[0] < 1e-2 && error[1] < 0.1 * error[0] + 1e-7))
      fail_msg("%s: off by %.3g and %.3g", list[i], error[0], error[1]);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(table_has_it),    cmocka_unit_test(settings_have_it),
                                     cmocka_unit_test(is_of_order_2),   cmocka_unit_test(keeps_rates_alone),
                                     cmocka_unit_test(matrix_is_exact), cmocka_unit_test(goes_back_and_on),
                                     cmocka_unit_test(runs_models)};
  return cmocka_run_group_tests_name("a method by one file", tests, rig_hook_klu, NULL);
}
