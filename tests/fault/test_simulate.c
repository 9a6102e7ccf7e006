/* The simulator when things fail once: every call of a callback, every allocation. What can be mended by a
 * smaller step is, and the run ends as it should; anything else comes back with the right sign and a message,
 * and the state is that of the last accepted step. Nothing is left behind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core_rig.h"

typedef struct trial_case {
  const char *problem;
  ga_method method;
  ga_lu_kind lu;
  ga_error_mode error;
  double share; /* of the problem's time */
} trial_case;

static const trial_case CASES[] = {{"heavy_top", GA_STABILIZED, GA_LU_DENSE, GA_PER_STEP, 0.004},
                                   {"heavy_top", GA_INDEX3, GA_LU_DENSE, GA_PER_UNIT_STEP, 0.001},
                                   {"mechatronic", GA_STABILIZED, GA_LU_SPARSE, GA_PER_UNIT_STEP, 5e-4},
                                   {"test15", GA_SOI2, GA_LU_AUTO, GA_PER_UNIT_STEP, 0.05},
                                   {"test71", GA_STABILIZED, GA_LU_AUTO, GA_PER_STEP, 0.05}};
enum { N_CASES = sizeof CASES / sizeof *CASES };

/* Which callback of the simulator's own fails, and when. */
enum { EVENT_FUNCTION, ON_EVENT, OUTPUT, OBSERVER, N_OWN };

typedef struct own {
  double half; /* [s] the time of the event */
  int fails;   /* one of the above, −1: none */
  long at, calls;
  int code;
  double value;
} own;

static int strike_own(own *o, int which)
{
  return which == o->fails && ++o->calls == o->at ? o->code : 0;
}

static int event_function(void *user, const ga_point *p, double *g)
{
  own *o = user;
  g[0] = p->t - o->half;
  int code = strike_own(o, EVENT_FUNCTION);
  if (o->fails == EVENT_FUNCTION && o->calls == o->at && !o->code) g[0] = o->value;
  return code;
}

static int on_event(void *user, int event, const ga_state *s, double *q, double *v, double *x)
{
  (void)event, (void)s, (void)q, (void)v, (void)x;
  return strike_own(user, ON_EVENT);
}

static int output(void *user, const ga_state *s)
{
  (void)s;
  return strike_own(user, OUTPUT);
}

static int observer(void *user, const ga_stepper *st)
{
  (void)st;
  return strike_own(user, OBSERVER);
}

static const ga_event EVENTS[] = {{0, GA_EVENT_RESTART}};

/* A short run with output and one restart. */
static ga_simulate_opts run_opts(const trial_case *c, own *o)
{
  ga_simulate_opts s = ga_simulate_defaults();
  s.error = c->error;
  s.t_end = c->share * ex_problem_find(c->problem)->t_end;
  s.rtol = s.rtol_v = s.rtol_x = 0.1;
  s.atol = s.atol_v = s.atol_x = 0.1;
  s.h_first = s.t_end / 8.0;
  s.h_max = s.t_end / 4.0;
  s.output_every = s.t_end / 5.0;
  s.defect_points = 10; /* each call is made to fail: few within steps are enough */
  s.n_events = 1;
  s.events = EVENTS;
  s.event_function = event_function;
  s.on_event = on_event;
  s.output = output;
  s.observer = observer;
  s.user = o;
  o->half = 0.45 * s.t_end;
  return s;
}

static ga_status run_start(ga_simulator *sim, const ex_problem *p)
{
  return ga_simulator_start(sim, NULL, 0.0, p->q0, p->v0, p->x0, p->lambda_guess, p->psi_guess, NULL);
}

static ga_status run_all(ga_simulator *sim, const ex_problem *p)
{
  ga_status status = run_start(sim, p);
  return status ? status : ga_simulator_run(sim);
}

/* ---- Callbacks of the system ---- */

static rig open_meddled(const trial_case *c, rig_meddle *m)
{
  rig r = rig_open(c->problem);
  ga_system *plain = NULL;
  r.opts.method = c->method;
  r.opts.lu = c->lu;
  assert_status(r.ctx, ga_system_create(r.ctx, &r.def, &plain), GA_OK);
  *m = (rig_meddle){.after = rig_meddle_strike};
  rig_meddle_install(m, &r.def, ga_group_nv(ga_system_group(plain)));
  ga_system_destroy(&plain);
  rig_build(&r);
  return r;
}

static void each_call_fails(const trial_case *c)
{
  static const struct {
    int code;
    double value;
  } fault[] = {{3, 0.0}, {-3, 0.0}, {0, NAN}};
  rig_meddle m;
  own o = {.fails = -1};
  rig r = open_meddled(c, &m);
  ga_simulator *sim;
  ga_simulate_opts s = run_opts(c, &o);
  assert_status(r.ctx, ga_simulator_create(r.ctx, r.st, &s, &sim), GA_OK);
  assert_status(r.ctx, run_all(sim, r.problem), GA_OK);
  assert_int_equal(ga_simulator_stats(sim)->restarts, 1);
  assert_int_equal(ga_simulator_stats(sim)->outputs, 6);
  double *good = rig_copy(&r);
  const long total = m.calls;
  assert_true(total > 50);
  for (size_t k = 0; k < sizeof fault / sizeof *fault; k++)
    for (long n = 1; n <= total;
         n += 1 + total / (rig_brief() ? 40 : 400)) { /* not all of the many of differences */
      m.calls = m.struck = 0;
      m.fault_at = n;
      m.code = fault[k].code;
      m.value = fault[k].value;
      ga_status status = run_all(sim, r.problem);
      assert_true(m.struck);
      if (m.code < 0) {
        assert_status(r.ctx, status, GA_ERR_CALLBACK);
        assert_string_equal(ga_context_error(r.ctx)->callback, RIG_FN_NAME[m.struck - 1]);
        continue;
      }
      assert_status(r.ctx, status, GA_OK);
      const ga_simulate_stats *stats = ga_simulator_stats(sim);
      if (stats->rejected_callback + stats->unchecked != 1)
        fail_msg("%s: call %ld of %ld, %ld rejections", c->problem, n, total, stats->rejected_callback);
      assert_int_equal(stats->outputs, 6);
      assert_int_equal(stats->restarts, 1);
      assert_below(rig_distance_to(&r, good), 0.3, c->problem);
    }
  free(good);
  ga_simulator_destroy(&sim);
  rig_close(&r);
}

static void callbacks(void **state)
{
  (void)state;
  for (int i = 0; i < N_CASES; i++) each_call_fails(&CASES[i]);
}

/* ---- The simulator's own callbacks ---- */

static void own_callbacks(void **state)
{
  static const struct {
    int code;
    double value;
    ga_status status[N_OWN]; /* what comes of it */
  } row[] = {{-1, 0.0, {GA_ERR_CALLBACK, GA_ERR_CALLBACK, GA_STOPPED, GA_STOPPED}},
             {1, 0.0, {GA_ERR_CALLBACK, GA_STOPPED, GA_STOPPED, GA_STOPPED}},
             {0, NAN, {GA_ERR_NAN, GA_OK, GA_OK, GA_OK}},
             {0, -INFINITY, {GA_ERR_NAN, GA_OK, GA_OK, GA_OK}}};
  (void)state;
  for (int i = 0; i < N_CASES; i++) {
    rig r = rig_open(CASES[i].problem);
    r.opts.method = CASES[i].method;
    rig_build(&r);
    for (int which = 0; which < N_OWN; which++)
      for (size_t k = 0; k < sizeof row / sizeof *row; k++)
        for (long n = 1;; n++) {
          own o = {.fails = which, .at = n, .code = row[k].code, .value = row[k].value};
          ga_simulator *sim;
          ga_simulate_opts s = run_opts(&CASES[i], &o);
          assert_status(r.ctx, ga_simulator_create(r.ctx, r.st, &s, &sim), GA_OK);
          ga_status status = run_all(sim, r.problem);
          int finished = ga_simulator_finished(sim), reached = o.calls >= n;
          ga_simulator_destroy(&sim);
          if (!reached) {
            assert_status(r.ctx, status, GA_OK);
            assert_true(n > 1);
            break;
          }
          /* an observer that stops at the last step changes nothing */
          ga_status expected = which == OBSERVER && finished ? GA_OK : row[k].status[which];
          assert_status(r.ctx, status, expected);
          if (status < 0)
            assert_string_equal(ga_context_error(r.ctx)->callback,
                                which == EVENT_FUNCTION ? "event_function" : "on_event");
          if (row[k].code == 0 && which != EVENT_FUNCTION) break; /* nothing to fail with */
        }
    rig_close(&r);
  }
}

/* ---- Memory ---- */

/* A life up to the first failure, which is that of memory; 1 if there was one. */
static int lived(const trial_case *c, long fail_at)
{
  rig r = {.def = ga_system_defaults(), .opts = ga_stepper_defaults()};
  own o = {.fails = -1};
  ga_simulator *sim = NULL;
  ga_simulate_opts s = run_opts(c, &o);
  r.problem = ex_problem_find(c->problem);
  r.problem->define(&r.def);
  r.opts.method = c->method;
  r.opts.lu = c->lu;
  rig_memory = (rig_heap){0, 0, fail_at, 0};
  ga_status status = rig_context(&r.ctx);
  if (!status) status = ga_system_create(r.ctx, &r.def, &r.sys);
  if (!status) status = ga_stepper_create(r.ctx, r.sys, &r.opts, &r.st);
  if (!status) {
    sim = (ga_simulator *)&o;
    status = ga_simulator_create(r.ctx, r.st, &s, &sim);
    if (status) assert_null(sim);
  }
  if (!status) {
    status = run_all(sim, r.problem);
    if (status) { /* the simulator is none the worse for it */
      assert_int_equal(status, GA_ERR_MEMORY);
      rig_memory.fail_at = 0;
      assert_status(r.ctx, run_all(sim, r.problem), GA_OK);
    }
  }
  if (status) assert_int_equal(status, GA_ERR_MEMORY);
  if (status && r.ctx) assert_says(r.ctx, "out of memory for");
  ga_simulator_destroy(&sim);
  rig_close(&r); /* asserts that nothing is left */
  return status != GA_OK;
}

static void memory(void **state)
{
  (void)state;
  for (int i = 0; i < N_CASES; i++) {
    assert_int_equal(lived(&CASES[i], 0), 0);
    long total = rig_memory.count;
    assert_true(total > 40);
    for (long n = 1; n <= total; n++)
      if (!lived(&CASES[i], n) && !rig_memory.kept)
        fail_msg("%s: allocation %ld of %ld failed, and nobody noticed", CASES[i].problem, n, total);
  }
}

/* Steps, output, events and restarts take no memory, but where KLU searches for pivots anew. */
static void no_allocation_in_a_run(void **state)
{
  (void)state;
  for (int i = 0; i < N_CASES; i++) {
    rig r = rig_open(CASES[i].problem);
    own o = {.fails = -1};
    ga_simulator *sim;
    ga_simulate_opts s = run_opts(&CASES[i], &o);
    r.opts.method = CASES[i].method;
    r.opts.lu = GA_LU_DENSE;
    rig_build(&r);
    assert_status(r.ctx, ga_simulator_create(r.ctx, r.st, &s, &sim), GA_OK);
    long before = rig_memory.count;
    assert_status(r.ctx, run_all(sim, r.problem), GA_OK);
    assert_int_equal(rig_memory.count, before);
    ga_simulator_destroy(&sim);
    rig_close(&r);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(callbacks), cmocka_unit_test(own_callbacks),
                                     cmocka_unit_test(memory), cmocka_unit_test(no_allocation_in_a_run)};
  return cmocka_run_group_tests_name("fault: simulator", tests, rig_hook_klu, NULL);
}
