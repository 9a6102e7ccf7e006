/* Terms of η chosen by convergence: models that fail, or crawl, where they are left out by size alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core_rig.h"
#include "galpha/model.h"

enum { PATH = 1000 };

static const double PI = 3.14159265358979323846;

typedef struct run {
  ga_context *ctx;
  ga_model *model;
  ga_machine *m;
  ga_stepper *st;
  ga_simulator *sim;
  ga_stepper_opts opts;
  ga_simulate_opts sim_opts;
} run;

static run run_open(const char *folder, const char *name, const char *set)
{
  static const char here[] = "tests/unit/test_model_terms.c";
  const size_t root = strlen(__FILE__) - (sizeof here - 1);
  char path[PATH];
  run r = {.opts = ga_stepper_defaults(), .sim_opts = ga_simulate_defaults()};
  ga_model_opts o = ga_model_defaults();
  snprintf(path, sizeof path, "%.*s%s/%s.yaml", (int)root, __FILE__, folder, name);
  rig_memory = (rig_heap){0, 0, 0, 0};
  assert_int_equal(rig_context(&r.ctx), GA_OK);
  o.set = &set;
  o.n_set = set != NULL;
  if (ga_model_read_file(r.ctx, path, &o, &r.model)) fail_msg("%s: %s", path, ga_context_error(r.ctx)->text);
  r.m = ga_model_machine(r.model);
  const ga_run_settings *s = ga_model_settings(r.model);
  assert_int_equal(ga_scheme_rho(r.ctx, s->rho, &r.opts.scheme), GA_OK);
  return r;
}

/* tol 0: steps of size h. */
static void run_start(run *r, double t_end, double tol, double h)
{
  const ga_system *sys = ga_machine_system(r->m);
  ga_simulate_opts *o = &r->sim_opts;
  double *q = calloc((size_t)(sys->nq + sys->nv + sys->n) + 1, sizeof *q);
  o->t_end = t_end;
  o->fixed_h = tol > 0.0 ? 0.0 : h;
  o->rtol = o->rtol_v = o->rtol_x = tol > 0.0 ? tol : 1.0;
  o->atol = o->atol_v = o->atol_x = 1e-2 * o->rtol;
  assert_status(r->ctx, ga_stepper_create(r->ctx, sys, &r->opts, &r->st), GA_OK);
  assert_status(r->ctx, ga_simulator_create(r->ctx, r->st, o, &r->sim), GA_OK);
  assert_status(r->ctx, ga_machine_initial(r->m, q, q + sys->nq, q + sys->nq + sys->nv), GA_OK);
  assert_status(
      r->ctx, ga_simulator_start(r->sim, NULL, 0.0, q, q + sys->nq, q + sys->nq + sys->nv, NULL, NULL, NULL),
      GA_OK);
  free(q);
}

static void run_close(run *r)
{
  ga_simulator_destroy(&r->sim);
  ga_stepper_destroy(&r->st);
  ga_model_destroy(&r->model);
  ga_context_destroy(&r->ctx);
  assert_int_equal(rig_memory.live, 0);
}

/* ---- The chain of parallelograms ---- */

static double four_bar_energy(int n, double theta, double rate)
{
  const double inertia = (n + 1) / 3.0 + n, weight = 9.81 * ((n + 1) / 2.0 + n);
  return 0.5 * inertia * rate * rate + weight * cos(theta);
}

/* The angle at t: θ'' = g c sin θ, θ(0) = 0, θ'(0) = 1, by the classical method of Runge and Kutta. */
static double four_bar_angle(int n, double t, double *rate)
{
  const double g = 9.81 * ((n + 1) / 2.0 + n) / ((n + 1) / 3.0 + n), h = t / 20000.0;
  double y = 0.0, w = 1.0;
  for (int i = 0; i < 20000; i++) {
    const double k1 = w, l1 = g * sin(y), k2 = w + 0.5 * h * l1, l2 = g * sin(y + 0.5 * h * k1);
    const double k3 = w + 0.5 * h * l2, l3 = g * sin(y + 0.5 * h * k2), k4 = w + h * l3,
                 l4 = g * sin(y + h * k3);
    y += h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4);
    w += h / 6.0 * (l1 + 2.0 * l2 + 2.0 * l3 + l4);
  }
  *rate = w;
  return y;
}

/* It has passed two flat positions, on the branch of parallelograms: all posts parallel, all tops level. */
static void check_four_bars(const run *r, int n, double accuracy)
{
  const ga_state *s = ga_stepper_state(r->st);
  double rate, theta = four_bar_angle(n, s->t, &rate), energy = four_bar_energy(n, 0.0, 1.0);
  assert_true(theta > 1.5 * PI);
  for (int i = 0; i <= n; i++) {
    assert_near(s->q[3 * i + 2], PI / 2 - theta, accuracy, "angle of a post");
    assert_near(s->q[3 * i + 2], s->q[2], 1e-8, "posts are parallel");
  }
  for (int i = n + 1; i < 2 * n + 1; i++) assert_near(s->q[3 * i + 2], 0.0, 1e-8, "tops are level");
  const double here = four_bar_energy(n, PI / 2 - s->q[2], -s->v[2]);
  assert_near(here / energy, 1.0, accuracy, "energy");
}

static void four_bars_through_flat_positions(void **state)
{
  static const struct {
    int n;
    double tol, h, accuracy;
  } row[] = {{3, 1e-4, 0.0, 3e-2}, {5, 1e-4, 0.0, 3e-2}, {10, 1e-4, 0.0, 3e-2}, {40, 1e-4, 0.0, 3e-2},
             {3, 0.0, 4e-3, 1e-3}, {5, 0.0, 4e-3, 1e-3}, {10, 0.0, 4e-3, 1e-3}, {40, 0.0, 4e-3, 1e-3},
             {5, 1e-2, 0.0, 0.5},  {40, 1e-2, 0.0, 0.5}};
  (void)state;
  for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
    char set[16];
    snprintf(set, sizeof set, "n=%d", row[i].n);
    run r = run_open("examples/models", "n_four_bar", set);
    run_start(&r, 1.4, row[i].tol, row[i].h);
    assert_status(r.ctx, ga_simulator_run(r.sim), GA_OK);
    check_four_bars(&r, row[i].n, row[i].accuracy);
    assert_true((ga_stepper_stats(r.st)->all_terms > 0) == (row[i].n > 3));
    run_close(&r);
  }
}

/* A step that happens to end on a flat position, to within 2e-6 rad at t = 8.517 s here, is not followed by
 * ever smaller ones: another one ends elsewhere, and the next goes over it. */
static void a_step_that_ends_on_it(void **state)
{
  (void)state;
  if (rig_brief()) return;
  run r = run_open("examples/models", "n_four_bar", "n=3");
  run_start(&r, 10.0, 1e-7, 0.0);
  while (ga_stepper_state(r.st)->t < 8.6) assert_status(r.ctx, ga_simulator_step(r.sim), GA_OK);
  check_four_bars(&r, 3, 1e-2);
  assert_true(ga_simulator_stats(r.sim)->h_smallest > 1e-4);
  run_close(&r);
}

/* ---- Scalars that nothing acts on ---- */

static long wishbone(const char *idle, ga_lu_kind lu, double tol, long *failures)
{
  run r = run_open("bench/models", "wishbone", idle);
  r.opts.lu = lu;
  run_start(&r, 1.0, tol, 0.0);
  assert_status(r.ctx, ga_simulator_run(r.sim), GA_OK);
  const ga_simulate_stats *s = ga_simulator_stats(r.sim);
  const long steps = s->steps;
  *failures = s->rejected_newton;
  run_close(&r);
  return steps;
}

static void idle_scalars_cost_nothing(void **state)
{
  long failures;
  (void)state;
  const long alone = wishbone("idle=0", GA_LU_AUTO, 1e-4, &failures);
  assert_int_equal(failures, 0);
  for (int lu = GA_LU_AUTO; lu <= GA_LU_BLOCKS; lu++) {
    const long seven = wishbone("idle=7", (ga_lu_kind)lu, 1e-4, &failures);
    assert_int_equal(failures, 0);
    assert_below((double)labs(seven - alone), 0.05 * (double)alone, "steps with seven idle scalars");
    const long many = wishbone("idle=60", (ga_lu_kind)lu, 1e-4, &failures);
    assert_int_equal(failures, 0);
    assert_below((double)labs(many - alone), 0.05 * (double)alone, "steps with sixty idle scalars");
  }
}

/* ---- Arms that turn ---- */

static long car(double tol)
{
  run r = run_open("bench/models", "car", NULL);
  run_start(&r, 3.0, tol, 0.0);
  assert_status(r.ctx, ga_simulator_run(r.sim), GA_OK);
  const long steps = ga_simulator_stats(r.sim)->steps;
  run_close(&r);
  return steps;
}

/* Forces of joints turn with a car's light arms. That is no stiffness which comes up, as in a contact, and
 * does not make velocities count: at 1e-3 it took more steps than at 1e-4. */
static void arms_that_turn_are_not_stiff(void **state)
{
  (void)state;
  if (rig_brief()) return;
  assert_true(car(1e-3) < car(1e-4));
}

/* ---- Bits ---- */

/* Every third step is taken back and made again, by way of a longer one; a copy that never did so has the
 * same bits, although both change their terms on the way. */
static void taken_back_bit_for_bit(void **state)
{
  int n_changed = 0;
  (void)state;
  for (int lu = GA_LU_AUTO; lu <= GA_LU_BLOCKS; lu++) {
    run a = run_open("bench/models", "wishbone", "idle=7"), b = a;
    a.opts.lu = b.opts.lu = (ga_lu_kind)lu;
    run_start(&a, 1.0, 1e-3, 0.0);
    run_start(&b, 1.0, 1e-3, 0.0);
    for (int i = 0; i < 150; i++) {
      const double h = i % 40 < 20 ? 1e-4 : 8e-3;
      if (i % 3 == 0) {
        assert_status(a.ctx, ga_stepper_step(a.st, 2.0 * h), GA_OK);
        assert_status(a.ctx, ga_stepper_undo(a.st), GA_OK);
      }
      assert_status(a.ctx, ga_stepper_step(a.st, h), GA_OK);
      assert_status(b.ctx, ga_stepper_step(b.st, h), GA_OK);
      assert_int_equal(a.st->factors.now.choice.form, b.st->factors.now.choice.form);
      assert_memory_equal(a.st->now.block, b.st->now.block, a.st->state_length * sizeof(double));
    }
    n_changed += ga_stepper_stats(b.st)->all_terms > 1; /* there and back again */
    ga_simulator_destroy(&b.sim);
    ga_stepper_destroy(&b.st);
    run_close(&a);
  }
  assert_true(n_changed > 0);
}

/* Steps take no memory, the change to all terms included. */
static void no_memory_in_steps(void **state)
{
  int n_changed = 0;
  (void)state;
  for (int lu = GA_LU_AUTO; lu <= GA_LU_BLOCKS; lu++) {
    run r = run_open("bench/models", "wishbone", "idle=7");
    r.opts.lu = (ga_lu_kind)lu;
    run_start(&r, 1.0, 1e-3, 0.0);
    const long before = rig_memory.count;
    for (int i = 0; i < 50; i++) assert_status(r.ctx, ga_stepper_step(r.st, 8e-3), GA_OK);
    n_changed += ga_stepper_stats(r.st)->all_terms > 0;
    assert_int_equal(rig_memory.count, before);
    run_close(&r);
  }
  assert_true(n_changed > 0);
}

/* A run that is saved and loaded goes on as one that was only saved. */
static void saved_and_loaded(void **state)
{
  (void)state;
  run a = run_open("bench/models", "wishbone", "idle=7"), b = a;
  run_start(&a, 1.0, 1e-3, 0.0);
  run_start(&b, 1.0, 1e-3, 0.0);
  double *saved = calloc(ga_simulator_saved_size(a.sim), sizeof *saved);
  for (int i = 0; i < 20; i++) assert_status(a.ctx, ga_simulator_step(a.sim), GA_OK);
  assert_int_equal(a.st->factors.now.choice.form, GA__COMPLETE);
  assert_status(a.ctx, ga_simulator_save(a.sim, saved), GA_OK);
  assert_status(b.ctx, ga_simulator_load(b.sim, saved), GA_OK);
  assert_status(a.ctx, ga_simulator_run(a.sim), GA_OK);
  assert_status(b.ctx, ga_simulator_run(b.sim), GA_OK);
  assert_memory_equal(a.st->now.block, b.st->now.block, a.st->state_length * sizeof(double));
  free(saved);
  ga_simulator_destroy(&b.sim);
  ga_stepper_destroy(&b.st);
  run_close(&a);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(four_bars_through_flat_positions),
      cmocka_unit_test(a_step_that_ends_on_it),
      cmocka_unit_test(idle_scalars_cost_nothing),
      cmocka_unit_test(arms_that_turn_are_not_stiff),
      cmocka_unit_test(taken_back_bit_for_bit),
      cmocka_unit_test(no_memory_in_steps),
      cmocka_unit_test(saved_and_loaded),
  };
  return cmocka_run_group_tests_name("model: terms of eta", tests, NULL, NULL);
}
