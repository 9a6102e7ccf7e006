/* Every allocation of derivatives by parameters fails once: GA_ERR_MEMORY, NULL instead of half an object, no
 * leak. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/stepper.h"
#include "linkage.h"
#include "galpha/study.h"

/* Derivatives by an initial velocity and, of the same system four times, by nothing at all. 1: it was
 * refused. */
static int life(const char *name, ga_method method, ga_lu_kind lu, long fail_at)
{
  rig r = rig_open(name);
  double v[GA_PARAMETER_VALUES][RIG_MOST];
  ga_parameter list[2] = {{.name = "v", .step = 1e-3}, {.name = "none", .step = 1e-3}};
  ga_sensitivity *se = NULL;
  ga_start_opts o = ga_start_defaults();
  o.h = 1e-3;
  r.opts.lu = lu;
  r.opts.method = method;
  rig_build(&r);
  const int nv = ga_group_nv(ga_system_group(r.sys));
  for (int m = 0; m < GA_PARAMETER_VALUES; m++) {
    for (int i = 0; i < nv; i++) v[m][i] = r.problem->v0[i] + 1e-3 * (m < 2 ? m - 2 : m - 1);
    list[0].at[m].v0 = v[m];
    list[1].at[m].sys = r.sys;
  }
  rig_memory.count = 0, rig_memory.fail_at = fail_at;
  ga_status status = ga_sensitivity_create(r.ctx, r.st, 2, list, &se);
  if (status) assert_null(se);
  const ex_problem *p = r.problem;
  if (!status)
    status = ga_sensitivity_start(se, &o, 0.0, p->q0, p->v0, p->x0, p->lambda_guess, p->psi_guess, NULL);
  if (!status) status = ga_stepper_step(r.st, 1e-3);
  if (!status) status = ga_sensitivity_step(se);
  rig_memory.fail_at = 0;
  if (status) assert_status(r.ctx, status, GA_ERR_MEMORY);
  if (status) assert_says(r.ctx, "out of memory for");
  ga_sensitivity_destroy(&se);
  assert_null(se);
  rig_close(&r); /* asserts that nothing is left */
  return status != GA_OK;
}

static void each_allocation_fails(void **state)
{
  static const char *const names[] = {"mechatronic", "heavy_top", "rolling_disk"};
  static const ga_method methods[] = {GA_STABILIZED, GA_COLLOCATION, GA_AUTOMATIC};
  (void)state;
  for (int i = 0; i < 18; i++) {
    const ga_lu_kind lu = i % 2 ? GA_LU_SPARSE : GA_LU_AUTO;
    const char *name = names[i / 2 % 3];
    const ga_method method = methods[i / 6];
    assert_int_equal(life(name, method, lu, 0), 0);
    const long total = rig_memory.count;
    long unnoticed = 0, tried = 0; /* KLU makes do without some of its own */
    assert_true(total > 100);
    for (long n = 1; n <= total; n += rig_stride(total), tried++) unnoticed += !life(name, method, lu, n);
    assert_true(lu == GA_LU_SPARSE ? 4 * unnoticed < tried : unnoticed == 0);
  }
}

static int seed_at(void *user, long step, const ga_state *at, ga_seed *out)
{
  (void)user, (void)step, (void)at;
  out->v[0] += 1.0;
  out->vdot[0] += 0.1;
  return 0;
}

/* Within steps too, if user is not NULL. */
static int seed(void *user, long step, const ga_state *at, ga_seed *out)
{
  ga_adjoint *adjoint = user;
  if (adjoint && step > 0 && ga_adjoint_inside(adjoint, at->t - 4e-4, seed_at, NULL)) return -1;
  return seed_at(NULL, step, at, out);
}

/* The restart of the other member of GA_AUTOMATIC from the state. */
static ga_status rig_change_member(rig *r, double h)
{
  double q[RIG_MOST], v[RIG_MOST], x[RIG_MOST];
  ga_stepper *st = r->st;
  const ga_state *now = ga_stepper_state(st);
  ga_start_opts o = ga_start_defaults();
  o.h = h;
  ga__copy_numbers(q, now->q, st->sys->nq);
  ga__copy_numbers(v, now->v, st->sys->nv);
  ga__copy_numbers(x, now->x, st->sys->size[GA_BLOCK_X]);
  ga__start_again(st, GA__CHANGING);
  ga__member_use(st, !ga__member_is_second(st));
  const ga_status status = ga_stepper_start(st, &o, now->t, q, v, x, NULL, NULL, NULL);
  ga__start_first(st);
  return status;
}

typedef struct way_back {
  const char *name;
  ga_method method;
  double memory; /* of the adjoint */
  int shares;    /* 1: steps share factors */
} way_back;

static const way_back WAYS_BACK[] = {
    {"mechatronic", GA_STABILIZED, 0.0, 1},   {"heavy_top", GA_STABILIZED, 1e6, 1},
    {"mechatronic", GA_COLLOCATION, 0.0, 1},  {"heavy_top", GA_COLLOCATION, 1e6, 0},
    {"rolling_disk", GA_COLLOCATION, 1e4, 1}, {"heavy_top", GA_AUTOMATIC, 0.0, 1},
};
enum { N_WAYS_BACK = sizeof WAYS_BACK / sizeof *WAYS_BACK };

/* The adjoint of five steps, all but one from a stored state; with GA_AUTOMATIC by a change of method in the
 * middle. 1: it was refused. */
static int reverse(const way_back *w, long fail_at)
{
  rig r = rig_open(w->name);
  ga_adjoint *adjoint = NULL;
  ga_adjoint_opts opts = ga_adjoint_defaults();
  ga_parameter one = {.step = 1e-3};
  ga_start_opts o = ga_start_defaults();
  double gradient = 0.0;
  o.h = 1e-3;
  opts.interval = 2;
  opts.memory = w->memory;
  r.opts.method = w->method;
  if (!w->shares) r.opts.newton.reuse = GA_FRESH_STEP;
  rig_build(&r);
  for (int m = 0; m < GA_PARAMETER_VALUES; m++) one.at[m].sys = r.sys;
  assert_status(r.ctx, rig_try_start(&r, &o, NULL), GA_OK);
  rig_memory.count = 0, rig_memory.fail_at = fail_at;
  ga_status status = ga_adjoint_create(r.ctx, r.st, 1, &one, &opts, &adjoint);
  if (status) assert_null(adjoint);
  if (!status) status = ga_adjoint_begin(adjoint);
  for (int i = 0; i < 5 && !status; i++) {
    const int changes = i == 3 && w->method == GA_AUTOMATIC;
    status = changes ? rig_change_member(&r, 1e-3) : ga_stepper_step(r.st, 1e-3);
    if (!status) status = ga_adjoint_step(adjoint);
  }
  if (!status) status = ga_adjoint_gradient(adjoint, seed, adjoint, &gradient);
  rig_memory.fail_at = 0;
  if (status) assert_status(r.ctx, status, GA_ERR_MEMORY);
  ga_adjoint_destroy(&adjoint);
  rig_close(&r); /* asserts that nothing is left */
  return status != GA_OK;
}

static void each_allocation_of_an_adjoint_fails(void **state)
{
  (void)state;
  for (int i = 0; i < N_WAYS_BACK; i++) {
    assert_int_equal(reverse(&WAYS_BACK[i], 0), 0);
    const long total = rig_memory.count;
    assert_true(total > 100);
    for (long n = 1; n <= total; n += rig_stride(total))
      if (!reverse(&WAYS_BACK[i], n))
        fail_msg("%s: allocation %ld of %ld failed, and nobody noticed", WAYS_BACK[i].name, n, total);
  }
}

/* Redundant constraints: what is allocated at the first redundant state. 1: it was refused. */
static int share(ga_method method, long fail_at)
{
  linkage l = linkage_four_bar(0.7, 3.0);
  linkage_add_row(&l, 2, 1.0, 0, 0.0);
  rig r = rig_open(NULL);
  ga_parameter one = {.step = 1e-3};
  ga_sensitivity *se = NULL;
  ga_start_opts o = ga_start_defaults();
  o.h = 1e-3;
  linkage_define(&l, &r.def);
  r.opts.method = method;
  rig_build(&r);
  for (int m = 0; m < GA_PARAMETER_VALUES; m++) one.at[m].sys = r.sys;
  assert_status(r.ctx, ga_sensitivity_create(r.ctx, r.st, 1, &one, &se), GA_OK);
  rig_memory.count = 0, rig_memory.fail_at = fail_at;
  ga_status status = ga_sensitivity_start(se, &o, 0.0, l.q0, l.v0, NULL, NULL, NULL, NULL);
  if (!status) status = ga_stepper_step(r.st, 1e-3);
  if (!status) status = ga_sensitivity_step(se);
  rig_memory.fail_at = 0;
  if (status) assert_status(r.ctx, status, GA_ERR_MEMORY);
  ga_sensitivity_destroy(&se);
  rig_close(&r); /* asserts that nothing is left */
  return status != GA_OK;
}

/* A start at an equilibrium. 1: it was refused. */
static int settle(long fail_at)
{
  static const char TEXT[] =
      "galpha: 1\nparameters: {k: 4 N/m}\nbodies: {a: {type: scalar, mass: 1, position: 1}}\n"
      "forces: {s: {type: spring, coordinate: a, stiffness: k, rest: 0.3}}\n";
  ga_context *ctx = rig_open_context();
  ga_model *model = NULL;
  ga_model_variation *v = NULL;
  ga_equilibrium *eq = NULL;
  const double q = 1.0;
  assert_int_equal(ga_model_read_text(ctx, "text", TEXT, strlen(TEXT), NULL, &model), GA_OK);
  assert_int_equal(ga_model_variation_create(ctx, model, NULL, NULL, "k", 0.0, &v), GA_OK);
  assert_int_equal(ga_equilibrium_create(ctx, ga_machine_system(ga_model_machine(model)), NULL, &eq), GA_OK);
  assert_int_equal(ga_equilibrium_solve(eq, 0.0, &q, NULL, NULL), GA_OK);
  rig_memory.count = 0, rig_memory.fail_at = fail_at;
  const ga_status status = ga_model_variation_settle(v, eq);
  rig_memory.fail_at = 0;
  if (status) assert_int_equal(status, GA_ERR_MEMORY);
  ga_equilibrium_destroy(&eq);
  ga_model_variation_destroy(&v);
  ga_model_destroy(&model);
  ga_context_destroy(&ctx);
  assert_int_equal(rig_memory.live, 0);
  return status != GA_OK;
}

static void each_allocation_of_an_equilibrium_fails(void **state)
{
  (void)state;
  assert_int_equal(settle(0), 0);
  const long total = rig_memory.count;
  assert_true(total >= 2);
  for (long n = 1; n <= total; n++)
    if (!settle(n)) fail_msg("allocation %ld of %ld failed, and nobody noticed", n, total);
}

static void each_allocation_with_redundant_constraints_fails(void **state)
{
  static const ga_method methods[] = {GA_INDEX3, GA_STABILIZED, GA_COLLOCATION};
  (void)state;
  for (int i = 0; i < 3; i++) {
    assert_int_equal(share(methods[i], 0), 0);
    const long total = rig_memory.count;
    assert_true(total > 20);
    for (long n = 1; n <= total; n += rig_stride(total))
      if (!share(methods[i], n) && !rig_memory.kept)
        fail_msg("allocation %ld of %ld failed, and nobody noticed", n, total);
  }
}

/* The gradient of measures by an adjoint. 1: it was refused. */
static int measure(long fail_at)
{
  static const char TEXT[] =
      "galpha: 1\nparameters: {k: 4 N/m}\nbodies: {a: {type: scalar, mass: 1, position: 1}}\n"
      "forces: {s: {type: spring, coordinate: a, stiffness: k}}\n";
  static const char *const measures[] = {"mean(k*a^2)", "at(0.015, a)*final(energy.kinetic)"};
  ga_context *ctx = rig_open_context();
  ga_model *model = NULL;
  ga_model_variation *v = NULL;
  ga_stepper *st = NULL;
  ga_adjoint *adjoint = NULL;
  ga_measures *m = NULL;
  const ga_stepper_opts opts = ga_stepper_defaults();
  double values[2], gradient = 0.0;
  assert_status(ctx, ga_model_read_text(ctx, "text", TEXT, strlen(TEXT), NULL, &model), GA_OK);
  assert_status(ctx, ga_model_variation_create(ctx, model, NULL, NULL, "k", 0.0, &v), GA_OK);
  const ga_machine *machine = ga_model_machine(model);
  assert_status(ctx, ga_stepper_create(ctx, ga_machine_system(machine), &opts, &st), GA_OK);
  const double q = 1.0, zero = 0.0;
  ga_start_opts o = ga_start_defaults();
  o.h = 0.01;
  assert_status(ctx, ga_stepper_start(st, &o, 0.0, &q, &zero, NULL, NULL, NULL, NULL), GA_OK);
  assert_status(ctx, ga_adjoint_create(ctx, st, 1, ga_model_variation_parameter(v), NULL, &adjoint), GA_OK);
  assert_status(ctx, ga_adjoint_begin(adjoint), GA_OK);
  const ga_study_parameter known = {"k", "N/m", 4.0};
  const ga_measure_by by = {v, 0};
  rig_memory.count = 0, rig_memory.fail_at = fail_at;
  ga_status status = ga_measures_create(ctx, machine, 2, measures, 1, &known, NULL, &m);
  if (!status) status = ga_measures_use_adjoint(m, adjoint, 1, &by);
  if (!status) status = ga_measures_start(m, st, NULL);
  for (int i = 0; i < 3 && !status; i++) {
    status = ga_stepper_step(st, 0.01);
    if (!status) status = ga_adjoint_step(adjoint);
    if (!status) status = ga_measures_step(m, st, NULL);
  }
  if (!status) status = ga_measures_end(m, values, NULL);
  for (int i = 0; i < 2 && !status; i++) status = ga_measures_gradient(m, i, &gradient);
  rig_memory.fail_at = 0;
  if (status) assert_true(status == GA_ERR_MEMORY || status == GA_ERR_CALLBACK);
  ga_measures_destroy(&m);
  ga_adjoint_destroy(&adjoint);
  ga_stepper_destroy(&st);
  ga_model_variation_destroy(&v);
  ga_model_destroy(&model);
  rig_close_context(&ctx);
  return status != GA_OK;
}

static void each_allocation_of_a_gradient_fails(void **state)
{
  (void)state;
  assert_int_equal(measure(0), 0);
  const long total = rig_memory.count;
  assert_true(total > 20);
  for (long n = 1; n <= total; n += rig_stride(total))
    if (!measure(n)) fail_msg("allocation %ld of %ld failed, and nobody noticed", n, total);
}

/* A model at other values of a parameter, with derivatives of its signals. 1: it was refused. */
static int vary(long fail_at)
{
  static const char TEXT[] =
      "galpha: 1\nparameters: {k: 4 N/m}\nbodies: {a: {type: scalar, mass: 1, position: 1}}\n"
      "forces: {s: {type: spring, coordinate: a, stiffness: k}}\n";
  ga_context *ctx = rig_open_context();
  ga_model *model = NULL;
  ga_model_variation *v = NULL;
  double out[64] = {0};
  assert_status(ctx, ga_model_read_text(ctx, "text", TEXT, strlen(TEXT), NULL, &model), GA_OK);
  const ga_machine *m = ga_model_machine(model);
  const double zero[8] = {0}, one[8] = {1};
  const ga_state s = {
      .q = one, .v = zero, .vdot = zero, .a = zero, .lambda = zero, .psi = zero, .x = zero, .y = zero};
  const ga_direction d = {one, one, one, one, one, one, one};
  assert_true(ga_machine_n_signals(m) < 64);
  assert_status(ctx, ga_machine_signals(m, NULL, &s, 0, NULL, out), GA_OK); /* its work space */
  rig_memory.count = 0, rig_memory.fail_at = fail_at;
  ga_status status = ga_model_variation_create(ctx, model, NULL, NULL, "k", 0.0, &v);
  if (status) assert_null(v);
  const ga_machine *at[GA_PARAMETER_VALUES];
  for (int k = 0; k < GA_PARAMETER_VALUES; k++) at[k] = ga_model_variation_machine(v, k);
  if (!status)
    status =
        ga_machine_signal_sensitivities(m, at, ga_model_variation_parameter(v)->step, &s, &d, 0, NULL, out);
  rig_memory.fail_at = 0;
  if (status) assert_status(ctx, status, GA_ERR_MEMORY);
  ga_model_variation_destroy(&v);
  ga_model_destroy(&model);
  rig_close_context(&ctx); /* asserts that nothing is left */
  return status != GA_OK;
}

static void each_allocation_of_a_variation_fails(void **state)
{
  (void)state;
  assert_int_equal(vary(0), 0);
  const long total = rig_memory.count;
  assert_true(total > 100);
  for (long n = 1; n <= total; n += rig_stride(total))
    if (!vary(n)) fail_msg("allocation %ld of %ld failed, and nobody noticed", n, total);
}

/* A run with events of a model, and measures of it; the second bounce ends it. */
typedef struct bouncing {
  ga_context *ctx;
  const ga_machine *machine;
  ga_stepper *st;
  ga_meter *meter;
  ga_event_watch *watch;
  ga_event_variants *variants;
  ga_simulator *sim;
  ga_sensitivity *se;
  ga_measures *measures;
  ga_status failed; /* at an event */
} bouncing;

static ga_status follow_ball(bouncing *b)
{
  ga_status status = ga_sensitivity_step(b->se);
  if (!status) status = ga_measures_step(b->measures, b->st, b->meter);
  return status;
}

static int see_ball(void *user, int event, const ga_state *s)
{
  bouncing *b = user;
  (void)s;
  if (!b->failed && ga_machine_event_changes(b->machine, event)) b->failed = follow_ball(b);
  return b->failed != GA_OK;
}

static ga_status open_ball(bouncing *b, ga_model_variation *v)
{
  static const char *const measures[] = {"final(t)", "integral(ball.vz)*res", "max(ball.z)"};
  static const ga_study_parameter known = {"res", "", 0.5};
  const ga_stepper_opts opts = ga_stepper_defaults();
  const ga_measure_by by = {v, 0};
  ga_simulate_opts o = ga_simulate_defaults();
  o.t_end = 3.0, o.fixed_h = 0.1;
  ga_status status = ga_stepper_create(b->ctx, ga_machine_system(b->machine), &opts, &b->st);
  if (!status) status = ga_event_watch_create(b->ctx, b->machine, see_ball, b, &b->watch);
  ga_event_watch_use(b->watch, &o);
  if (!status) status = ga_simulator_create(b->ctx, b->st, &o, &b->sim);
  if (!status) status = ga_meter_create(b->ctx, b->machine, &b->meter);
  if (!status) status = ga_sensitivity_create(b->ctx, b->st, 1, ga_model_variation_parameter(v), &b->se);
  if (!status) status = ga_model_variation_events(b->ctx, b->machine, 1, &v, &b->variants);
  if (status) assert_null(b->variants);
  const ga_event_rule rule = ga_event_variants_rule(b->variants);
  if (!status) status = ga_sensitivity_use_events(b->se, &rule);
  if (!status) status = ga_measures_create(b->ctx, b->machine, 3, measures, 1, &known, NULL, &b->measures);
  return status ? status : ga_measures_differentiate(b->measures, b->se, 1, &by);
}

static ga_status run_ball(bouncing *b, double values[3], double slopes[3])
{
  double q[8], v[8], x[8];
  ga_status status = ga_machine_initial(b->machine, q, v, x);
  if (!status) status = ga_simulator_start(b->sim, NULL, 0.0, q, v, x, NULL, NULL, NULL);
  if (!status) status = ga_sensitivity_begin(b->se);
  if (!status) status = ga_meter_start(b->meter, ga_stepper_state(b->st));
  if (!status) status = ga_measures_start(b->measures, b->st, b->meter);
  int ended = 0;
  while (!status && !ended) {
    status = ga_simulator_step(b->sim);
    ended = status == GA_STOPPED;
    if (b->failed) return b->failed;
    if (status >= 0) status = follow_ball(b);
  }
  if (!status) status = ga_measures_end(b->measures, values, NULL);
  for (int i = 0; i < 3 && !status; i++) status = ga_measures_slopes(b->measures, i, &slopes[i]);
  return status;
}

/* 1: it was refused. */
static int bounce(long fail_at)
{
  static const char TEXT[] = "galpha: 1\nparameters: {res: 0.5}\ngravity: [0, 0, -10]\n"
                             "variables: {n: {value: 0}}\n"
                             "bodies: {ball: {type: point, mass: 1, position: [0, 0, 1]}}\n"
                             "events:\n"
                             "  bounce: {when: ball.z, direction: falling, set: ball.vz, to: -res*ball.vz}\n"
                             "  count: {when: ball.z, direction: falling, set: n, to: n + 1}\n"
                             "  enough: {when: n - 1.5, stop: true}\n";
  bouncing b = {.ctx = rig_open_context()};
  ga_model *model = NULL;
  ga_model_variation *v = NULL;
  double values[3] = {0}, slopes[3] = {0};
  assert_status(b.ctx, ga_model_read_text(b.ctx, "text", TEXT, strlen(TEXT), NULL, &model), GA_OK);
  assert_status(b.ctx, ga_model_variation_create(b.ctx, model, NULL, NULL, "res", 0.0, &v), GA_OK);
  b.machine = ga_model_machine(model);
  rig_memory.count = 0, rig_memory.fail_at = fail_at;
  ga_status status = open_ball(&b, v);
  if (!status) status = run_ball(&b, values, slopes);
  rig_memory.fail_at = 0;
  if (fail_at == 0) { /* √(2h/g)(1 + 2 res) */
    assert_true(fabs(values[0] - 2.0 * sqrt(0.2)) < 1e-10);
    assert_true(fabs(slopes[0] - 2.0 * sqrt(0.2)) < 1e-9);
  }
  if (status && status != GA_ERR_MEMORY && status != GA_ERR_CALLBACK)
    fail_msg("%ld: %d: %s", fail_at, (int)status, ga_context_error(b.ctx)->text);
  ga_measures_destroy(&b.measures);
  ga_sensitivity_destroy(&b.se);
  ga_event_variants_destroy(&b.variants);
  ga_simulator_destroy(&b.sim);
  ga_event_watch_destroy(&b.watch);
  ga_meter_destroy(&b.meter);
  ga_stepper_destroy(&b.st);
  ga_model_variation_destroy(&v);
  ga_model_destroy(&model);
  rig_close_context(&b.ctx); /* asserts that nothing is left */
  return status != GA_OK;
}

static void each_allocation_with_events_fails(void **state)
{
  (void)state;
  assert_int_equal(bounce(0), 0);
  const long total = rig_memory.count;
  assert_true(total > 100);
  for (long n = 1; n <= total; n += 1 + total / 400)
    if (!bounce(n)) fail_msg("allocation %ld of %ld failed, and nobody noticed", n, total);
}

/* ---- Callbacks ---- */

/* Two steps by collocation, the derivatives of the second one with the n-th call of a callback failing, or
 * those within it. 1: a callback was called as often. */
static int call(const char *name, int within, int code, long n)
{
  rig_meddle m = {.after = rig_meddle_strike, .code = code, .value = NAN};
  rig r = rig_open(name);
  rig_build(&r);
  const int nv = ga_group_nv(ga_system_group(r.sys));
  ga_stepper_destroy(&r.st);
  ga_system_destroy(&r.sys);
  rig_meddle_install(&m, &r.def, nv);
  r.opts.method = GA_COLLOCATION;
  rig_build(&r);
  ga_parameter one = {.step = 1e-3};
  ga_sensitivity *se = NULL;
  ga_start_opts o = ga_start_defaults();
  const ga_state *d;
  const ex_problem *p = r.problem;
  o.h = 1e-3;
  for (int k = 0; k < GA_PARAMETER_VALUES; k++) one.at[k].sys = r.sys;
  assert_status(r.ctx, ga_sensitivity_create(r.ctx, r.st, 1, &one, &se), GA_OK);
  assert_status(r.ctx,
                ga_sensitivity_start(se, &o, 0.0, p->q0, p->v0, p->x0, p->lambda_guess, p->psi_guess, NULL),
                GA_OK);
  assert_status(r.ctx, ga_stepper_step(r.st, 1e-3), GA_OK);
  assert_status(r.ctx, ga_sensitivity_step(se), GA_OK);
  assert_status(r.ctx, ga_stepper_step(r.st, 1e-3), GA_OK);
  if (within) assert_status(r.ctx, ga_sensitivity_step(se), GA_OK);
  double *before = rig_copy(&r);
  m.fault_at = m.calls + n;
  ga_status status = within ? ga_sensitivity_inside(se, 0, 1.4e-3, &d) : ga_sensitivity_step(se);
  assert_true(rig_same_bits(&r, before));
  const int struck = m.struck != 0;
  /* Dense output does without forces that cannot be computed, unless the callback says that all is over. */
  if (struck && (!within || code < 0 || status))
    assert_status(r.ctx, status,
                  !code      ? (status == GA_ERR_NAN ? GA_ERR_NAN : GA_RETRY_NAN)
                  : code > 0 ? GA_RETRY_CALLBACK
                             : GA_ERR_CALLBACK);
  if (!struck) assert_status(r.ctx, status, GA_OK);
  if (struck && !within) assert_null(ga_sensitivity_at(se, 0));
  m.fault_at = 0;
  assert_status(r.ctx, ga_stepper_step(r.st, 1e-3), GA_OK); /* the run goes on */
  free(before);
  ga_sensitivity_destroy(&se);
  rig_close(&r);
  return struck;
}

static void each_call_of_a_callback_fails(void **state)
{
  static const char *const names[] = {"mechatronic", "heavy_top", "rolling_disk"};
  static const int codes[] = {3, -3, 0};
  (void)state;
  for (int i = 0; i < 9; i++)
    for (int within = 0; within < 2; within++) {
      long n = 1;
      while (call(names[i / 3], within, codes[i % 3], n)) n += 1 + n / 16;
      assert_true(n > 10);
    }
}

/* The gradient of five steps with the n-th call of a callback failing. 1: a callback was called as often. */
static int call_back(const way_back *w, int code, long n)
{
  rig_meddle m = {.after = rig_meddle_strike, .code = code, .value = NAN};
  rig r = rig_open(w->name);
  rig_build(&r);
  const int nv = ga_group_nv(ga_system_group(r.sys));
  ga_stepper_destroy(&r.st);
  ga_system_destroy(&r.sys);
  rig_meddle_install(&m, &r.def, nv);
  r.opts.method = w->method;
  rig_build(&r);
  ga_parameter one = {.step = 1e-3};
  ga_adjoint *adjoint = NULL;
  ga_adjoint_opts opts = {.interval = 2, .memory = w->memory};
  ga_start_opts o = ga_start_defaults();
  double gradient = 0.0, again = 0.0;
  o.h = 1e-3;
  for (int k = 0; k < GA_PARAMETER_VALUES; k++) one.at[k].sys = r.sys;
  assert_status(r.ctx, rig_try_start(&r, &o, NULL), GA_OK);
  assert_status(r.ctx, ga_adjoint_create(r.ctx, r.st, 1, &one, &opts, &adjoint), GA_OK);
  assert_status(r.ctx, ga_adjoint_begin(adjoint), GA_OK);
  for (int i = 0; i < 5; i++) {
    assert_status(r.ctx, ga_stepper_step(r.st, 1e-3), GA_OK);
    assert_status(r.ctx, ga_adjoint_step(adjoint), GA_OK);
  }
  assert_status(r.ctx, ga_adjoint_gradient(adjoint, seed, NULL, &gradient), GA_OK);
  double *before = rig_copy(&r);
  m.fault_at = m.calls + n;
  const ga_status status = ga_adjoint_gradient(adjoint, seed, NULL, &again);
  const int struck = m.struck != 0;
  assert_true(rig_same_bits(&r, before));
  if (struck)
    assert_true(status != GA_OK);
  else
    assert_status(r.ctx, status, GA_OK);
  m.fault_at = 0;
  assert_status(r.ctx, ga_adjoint_gradient(adjoint, seed, NULL, &again), GA_OK);
  assert_true(again == gradient);
  free(before);
  ga_adjoint_destroy(&adjoint);
  rig_close(&r);
  return struck;
}

static void each_call_of_a_callback_fails_on_the_way_back(void **state)
{
  static const int codes[] = {3, -3, 0};
  (void)state;
  for (int i = 0; i < N_WAYS_BACK; i++) {
    long n = 1;
    while (call_back(&WAYS_BACK[i], codes[i % 3], n)) n += 1 + n / (rig_brief() ? 1 : 8);
    assert_true(n > 10);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(each_allocation_fails),
                                     cmocka_unit_test(each_call_of_a_callback_fails),
                                     cmocka_unit_test(each_allocation_of_an_adjoint_fails),
                                     cmocka_unit_test(each_call_of_a_callback_fails_on_the_way_back),
                                     cmocka_unit_test(each_allocation_of_an_equilibrium_fails),
                                     cmocka_unit_test(each_allocation_of_a_gradient_fails),
                                     cmocka_unit_test(each_allocation_with_redundant_constraints_fails),
                                     cmocka_unit_test(each_allocation_of_a_variation_fails),
                                     cmocka_unit_test(each_allocation_with_events_fails)};
  return cmocka_run_group_tests(tests, rig_hook_klu, NULL);
}
