/* Followers and error bars when things fail once: every call of a callback, every allocation. What can be
 * mended by smaller parts is, anything else comes back with a message; nothing is left behind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core_rig.h"
#include "galpha/result.h"

typedef struct trial_case {
  const char *problem;
  ga_method method;
  double share; /* of the problem's time */
} trial_case;

static const trial_case CASES[] = {
    {"heavy_top", GA_STABILIZED, 0.004}, {"mechatronic", GA_STABILIZED, 5e-4}, {"test15", GA_SOI2, 0.05}};
enum { N_CASES = sizeof CASES / sizeof *CASES };

/* A leader, and a follower of the same system. */
typedef struct pair {
  rig r;
  ga_stepper *second;
  ga_simulator *sim;
  ga_follower *f;
} pair;

static ga_simulate_opts run_opts(const trial_case *c)
{
  ga_simulate_opts s = ga_simulate_defaults();
  s.t_end = c->share * ex_problem_find(c->problem)->t_end;
  s.rtol = s.rtol_v = s.rtol_x = 0.1;
  s.atol = s.atol_v = s.atol_x = 0.1;
  s.h_first = s.t_end / 8.0;
  s.h_max = s.t_end / 4.0;
  s.defect_points = 0;
  return s;
}

static ga_status create_pair(pair *p, const trial_case *c)
{
  const ga_simulate_opts s = run_opts(c);
  const ga_follower_opts fo = ga_follower_defaults();
  ga_status status = ga_stepper_create(p->r.ctx, p->r.sys, &p->r.opts, &p->second);
  if (!status) status = ga_simulator_create(p->r.ctx, p->r.st, &s, &p->sim);
  if (status) return status;
  p->f = (ga_follower *)p;
  status = ga_follower_create(p->r.ctx, p->second, &fo, &p->f);
  if (status) assert_null(p->f);
  return status;
}

static ga_status run_pair(pair *p)
{
  const ex_problem *x = p->r.problem;
  ga_status status =
      ga_simulator_start(p->sim, NULL, 0.0, x->q0, x->v0, x->x0, x->lambda_guess, x->psi_guess, NULL);
  if (!status)
    status = ga_follower_start(p->f, NULL, ga_simulator_next_step(p->sim), ga_stepper_state(p->r.st));
  while (!status && !ga_simulator_finished(p->sim)) {
    status = ga_simulator_step(p->sim);
    const double t = ga_stepper_state(p->r.st)->t;
    if (status > 0) status = GA_OK; /* the end */
    if (!status) status = ga_follower_lead(p->f, t, 0);
    if (!status) status = ga_follower_reach(p->f, t, NULL);
  }
  return status;
}

static void destroy_pair(pair *p)
{
  ga_follower_destroy(&p->f);
  ga_simulator_destroy(&p->sim);
  ga_stepper_destroy(&p->second);
  rig_close(&p->r); /* asserts that nothing is left */
}

/* ---- Callbacks ---- */

static pair open_meddled(const trial_case *c, rig_meddle *m)
{
  pair p = {.r = rig_open(c->problem)};
  ga_system *plain = NULL;
  p.r.opts.method = c->method;
  assert_status(p.r.ctx, ga_system_create(p.r.ctx, &p.r.def, &plain), GA_OK);
  *m = (rig_meddle){.after = rig_meddle_strike};
  rig_meddle_install(m, &p.r.def, ga_group_nv(ga_system_group(plain)));
  ga_system_destroy(&plain);
  rig_build(&p.r);
  assert_status(p.r.ctx, create_pair(&p, c), GA_OK);
  return p;
}

static void each_call_fails(const trial_case *c)
{
  static const struct {
    int code;
    double value;
  } fault[] = {{3, 0.0}, {-3, 0.0}, {0, NAN}};
  rig_meddle m;
  pair p = open_meddled(c, &m);
  assert_status(p.r.ctx, run_pair(&p), GA_OK);
  const double t_end = ga_follower_time(p.f);
  const long total = m.calls;
  const int nv = p.r.sys->nv;
  double *good = calloc((size_t)nv, sizeof *good);
  memcpy(good, ga_stepper_state(p.second)->v, (size_t)nv * sizeof *good);
  assert_true(total > 50);
  for (size_t k = 0; k < sizeof fault / sizeof *fault; k++)
    for (long n = 1; n <= total; n += 1 + total / 300) {
      m.calls = m.struck = 0;
      m.fault_at = n;
      m.code = fault[k].code;
      m.value = fault[k].value;
      const ga_status status = run_pair(&p);
      assert_true(m.struck);
      if (m.code < 0) {
        assert_status(p.r.ctx, status, GA_ERR_CALLBACK);
        continue;
      }
      if (status) fail_msg("%s: call %ld of %ld: %s", c->problem, n, total, ga_context_error(p.r.ctx)->text);
      assert_near(ga_follower_time(p.f), t_end, 1e-9 * t_end, c->problem);
      for (int i = 0; i < nv; i++)
        assert_below(fabs(ga_stepper_state(p.second)->v[i] - good[i]), 0.3 * (1.0 + fabs(good[i])),
                     c->problem);
    }
  free(good);
  destroy_pair(&p);
}

static void callbacks(void **state)
{
  (void)state;
  for (int i = 0; i < N_CASES; i++) each_call_fails(&CASES[i]);
}

/* ---- Memory ---- */

/* A life up to the first failure, which is that of memory; 1 if there was one. */
static int lived(const trial_case *c, long fail_at)
{
  pair p = {.r = {.def = ga_system_defaults(), .opts = ga_stepper_defaults()}};
  p.r.problem = ex_problem_find(c->problem);
  p.r.problem->define(&p.r.def);
  p.r.opts.method = c->method;
  rig_memory = (rig_heap){0, 0, fail_at, 0};
  ga_status status = rig_context(&p.r.ctx);
  if (!status) status = ga_system_create(p.r.ctx, &p.r.def, &p.r.sys);
  if (!status) status = ga_stepper_create(p.r.ctx, p.r.sys, &p.r.opts, &p.r.st);
  if (!status) status = create_pair(&p, c);
  if (!status && (status = run_pair(&p)) != GA_OK) { /* none is the worse for it */
    assert_int_equal(status, GA_ERR_MEMORY);
    rig_memory.fail_at = 0;
    assert_status(p.r.ctx, run_pair(&p), GA_OK);
  }
  if (status) assert_int_equal(status, GA_ERR_MEMORY);
  if (status && p.r.ctx) assert_says(p.r.ctx, "out of memory for");
  destroy_pair(&p);
  return status != GA_OK;
}

static void memory(void **state)
{
  (void)state;
  for (int i = 0; i < N_CASES; i++) {
    assert_int_equal(lived(&CASES[i], 0), 0);
    const long total = rig_memory.count;
    assert_true(total > 40);
    for (long n = 1; n <= total; n++)
      if (!lived(&CASES[i], n) && !rig_memory.kept)
        fail_msg("%s: allocation %ld of %ld failed, and nobody noticed", CASES[i].problem, n, total);
  }
}

/* Error bars, on their own and after others with larger steps. */
static int bars_lived(long fail_at)
{
  static const char *const name[] = {"arm.x", "arm.qw", "arm.qx", "arm.qy", "arm.qz", "arm.ax"};
  static const char *const unit[] = {"m", "", "", "", "", "m/s^2"};
  ga_context *ctx = NULL;
  ga_band *band[2] = {NULL, NULL};
  ga_band_opts o = ga_band_defaults();
  o.n_signals = 6, o.names = name, o.units = unit, o.t_end = 1.0;
  rig_memory = (rig_heap){0, 0, fail_at, 0};
  ga_status status = rig_context(&ctx);
  for (int i = 0; !status && i < 2; i++) {
    o.before = i ? band[0] : NULL;
    band[i] = (ga_band *)&o;
    status = ga_band_create(ctx, &o, &band[i]);
    if (status) assert_null(band[i]);
    for (int k = 0; !status && k <= 20; k++) {
      const double x = 0.05 * k, first[6] = {x, 1, 0, 0, 0, x * x}, second[6] = {x + 1e-3, 1, 0, 0, 0, x * x};
      double error[6];
      ga_band_add(band[i], x, first, second, error);
      assert_true(error[0] > 0 && error[0] < 1e-2);
    }
  }
  if (status) assert_int_equal(status, GA_ERR_MEMORY);
  if (status && ctx) assert_says(ctx, "out of memory for");
  for (int i = 0; i < 2; i++) ga_band_destroy(&band[i]);
  if (ctx) rig_close_context(&ctx);
  return status != GA_OK;
}

static void memory_of_bars(void **state)
{
  (void)state;
  long n = 1;
  while (bars_lived(n)) n++;
  assert_true(n > 3);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(callbacks), cmocka_unit_test(memory),
                                     cmocka_unit_test(memory_of_bars)};
  return cmocka_run_group_tests_name("fault: follower", tests, rig_hook_klu, NULL);
}
