/* Equilibria: closed forms, limit points, buckling, constraints that repeat each other, states and outputs;
 * what is unstable, free or impossible is reported as such; callbacks that fail. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core_rig.h"
#include <math.h>

/* ---- Systems, small enough to be solved by hand ---- */

typedef struct model {
  double a, h, k, load;     /* as each system has it */
  int calls, fail_at, code; /* the callback number fail_at returns the code; 0: none */
} model;

static int meddle(model *m, int result)
{
  return ++m->calls == m->fail_at ? m->code : result;
}

static int unit_mass(void *user, const ga_point *p, double *out)
{
  (void)user;
  out[0] = p->vdot[0];
  return 0;
}

static int unit_mass2(void *user, const ga_point *p, double *out)
{
  (void)user;
  out[0] = p->vdot[0];
  out[1] = p->vdot[1];
  return 0;
}

/* Two springs from (±a, 0) to (0, y), free of force at y = h: f = −2 k (1 − L/l) y − load. */
static int truss_force(void *user, const ga_point *p, double *out)
{
  model *m = user;
  const double y = p->q[0], L = hypot(m->a, m->h), l = hypot(m->a, y);
  out[0] = -2.0 * m->k * (1.0 - L / l) * y - m->load;
  return meddle(m, 0);
}

/* The same with a sideways move x held by springs, which buckles where k2 = 1 − x0 load/… vanishes: a rigid
 * column of height 1 on a torsion spring k under a weight: f = load sin(q) − k q. */
static int column_force(void *user, const ga_point *p, double *out)
{
  model *m = user;
  out[0] = m->load * sin(p->q[0]) - m->k * p->q[0];
  return meddle(m, 0);
}

/* A column as above, and a spring that the load compresses: q = (tilt, compression); r scales with μ in the
 * second. */
static int pressed_column_force(void *user, const ga_point *p, double *out)
{
  model *m = user;
  const double force = m->k * p->q[1]; /* of the spring, which stands on the column */
  out[0] = force * sin(p->q[0]) - m->a * p->q[0];
  out[1] = m->load - force;
  return meddle(m, 0);
}

/* A point at the end of a rod of length a: f = (0, −load) − Bᵀ λ. */
static int rod_force(void *user, const ga_point *p, double *out)
{
  model *m = user;
  const int n = m->h > 0.0 ? 2 : 1; /* constraints */
  double lambda = p->lambda[0];
  if (n == 2) lambda += 3.0 * p->lambda[1];
  out[0] = -2.0 * p->q[0] * lambda;
  out[1] = -m->load - 2.0 * p->q[1] * lambda;
  return meddle(m, 0);
}

static int rod_phi(void *user, const ga_point *p, double *out)
{
  model *m = user;
  out[0] = p->q[0] * p->q[0] + p->q[1] * p->q[1] - m->a * m->a;
  if (m->h > 0.0) out[1] = 3.0 * out[0] + (m->h - 1.0); /* h = 1: the same once more; else it contradicts */
  return 0;
}

/* A controller with an integral part holds a mass at y = a against a load: x' = a − q, y = k (a − q) + h x.
 */
static int held_force(void *user, const ga_point *p, double *out)
{
  model *m = user;
  out[0] = p->y[0] - m->load - 4.0 * p->v[0];
  return meddle(m, 0);
}

static int held_state(void *user, const ga_point *p, double *out)
{
  model *m = user;
  out[0] = m->a - p->q[0];
  return 0;
}

static int held_output(void *user, const ga_point *p, double *out)
{
  model *m = user;
  out[0] = m->k * (m->a - p->q[0]) + m->h * p->x[0];
  return 0;
}

/* A point on two coordinates, of which a spring holds the first alone. */
static int half_held_force(void *user, const ga_point *p, double *out)
{
  model *m = user;
  out[0] = m->load - m->k * p->q[0];
  out[1] = m->h; /* a force on the free one */
  return meddle(m, 0);
}

static ga_system_def define(model *m, ga_factor *factor, int n, ga_eval_fn force)
{
  ga_system_def def = ga_system_defaults();
  *factor = (ga_factor){GA_RN, n, GA_LEFT};
  def.n_factors = 1;
  def.factors = factor;
  def.user = m;
  def.mass = n == 1 ? unit_mass : unit_mass2;
  def.force = force;
  return def;
}

/* ---- Solving ---- */

typedef struct solution {
  ga_status status;
  ga_reason reason;
  ga_equilibrium_report report;
  double q[3], lambda[2], x[1], y[1];
  int kinks; /* warnings of them */
} solution;

static void count_kinks(void *user, ga_log_level level, const ga_error *message)
{
  (void)level;
  if (message->reason == GA_REASON_STABILITY_AT_KINK) ++*(int *)user;
}

static solution solve_with(const ga_system_def *def, const ga_equilibrium_opts *opts, const double *q0)
{
  static const double zero[1] = {0};
  rig r = rig_open(NULL);
  ga_equilibrium *eq = NULL;
  solution s = {0};
  r.def = *def;
  r.ctx->opts.log = count_kinks;
  r.ctx->opts.log_user = &s.kinks;
  assert_status(r.ctx, ga_system_create(r.ctx, &r.def, &r.sys), GA_OK);
  assert_status(r.ctx, ga_equilibrium_create(r.ctx, r.sys, opts, &eq), GA_OK);
  s.status = ga_equilibrium_solve(eq, 0.0, q0, zero, &s.report);
  s.reason = ga_context_error(r.ctx)->reason;
  const ga_state *at = ga_equilibrium_state(eq);
  assert_true(s.status != GA_OK || at != NULL);
  if (at) {
    memcpy(s.q, at->q, (size_t)ga_group_nq(ga_system_group(r.sys)) * sizeof(double));
    memcpy(s.lambda, at->lambda, (size_t)def->n_lambda * sizeof(double));
    memcpy(s.x, at->x, (size_t)def->n_x * sizeof(double));
    memcpy(s.y, at->y, (size_t)def->n_y * sizeof(double));
  }
  ga_equilibrium_destroy(&eq);
  rig_close(&r);
  return s;
}

/* ---- Closed forms ---- */

static void limit_points_of_a_truss(void **state)
{
  (void)state;
  model m = {.a = 1.0, .h = 0.3, .k = 1000.0, .load = 20.0};
  ga_factor factor;
  const ga_system_def def = define(&m, &factor, 1, truss_force);
  ga_equilibrium_opts o = ga_equilibrium_defaults();
  const double L = hypot(m.a, m.h), l = cbrt(L * m.a * m.a), y = sqrt(l * l - m.a * m.a);
  const double limit = 2.0 * m.k * (L - l) * y / l / m.load;
  o.control = GA_LOAD_PATH;
  const solution s = solve_with(&def, &o, &m.h);
  assert_int_equal(s.status, GA_OK);
  assert_int_equal(s.report.n_critical, 2);
  for (int i = 0; i < 2; i++) {
    assert_int_equal(s.report.critical[i].kind, GA_LIMIT_POINT);
    assert_near(s.report.critical[i].load, i ? -limit : limit, 1e-10, "the limit load");
  }
  assert_int_equal(s.report.stability, GA_STABLE);
  assert_true(s.q[0] < -m.h); /* snapped through */
  const double force = 2.0 * m.k * (1.0 - L / hypot(m.a, s.q[0])) * s.q[0];
  assert_near(force, -m.load, 1e-9, "the force on the path's end");
}

/* Load steps jump there, and say so. */
static void load_steps_jump(void **state)
{
  (void)state;
  model m = {.a = 1.0, .h = 0.3, .k = 1000.0, .load = 20.0};
  ga_factor factor;
  const ga_system_def def = define(&m, &factor, 1, truss_force);
  ga_equilibrium_opts o = ga_equilibrium_defaults();
  o.control = GA_LOAD_STEPS;
  const solution s = solve_with(&def, &o, &m.h);
  assert_int_equal(s.status, GA_OK);
  assert_int_equal(s.report.jumps, 1);
  m.load = 5.0; /* below the limit */
  const solution below = solve_with(&def, &o, &m.h);
  assert_int_equal(below.status, GA_OK);
  assert_int_equal(below.report.jumps, 0);
  assert_true(below.q[0] > 0.0);
}

/* k q = load sin(q), straight up to load = k. */
static void columns_buckle(void **state)
{
  (void)state;
  model m = {.a = 3.0, .k = 50.0, .load = 5.0};
  ga_factor factor;
  const ga_system_def def = define(&m, &factor, 2, pressed_column_force);
  ga_equilibrium_opts o = ga_equilibrium_defaults();
  const double straight[2] = {0.0, 0.0}, tilted[2] = {0.3, 0.0};
  o.control = GA_LOAD_PATH;
  const solution s = solve_with(&def, &o, straight);
  assert_int_equal(s.status, GA_OK);
  assert_int_equal(s.report.n_critical, 1);
  assert_int_equal(s.report.critical[0].kind, GA_BIFURCATION);
  assert_int_equal(s.report.critical[0].coordinate, 0);
  assert_near(s.report.critical[0].load, m.a / m.load, 1e-9, "the critical load");
  assert_int_equal(s.report.stability, GA_UNSTABLE);
  assert_int_equal(s.report.n_unstable, 1);
  assert_int_equal(s.report.coordinate, 0);
  o.control = GA_LOAD_AT_ONCE; /* the way out of an unstable one: a tilt to begin with */
  const solution bent = solve_with(&def, &o, tilted);
  assert_int_equal(bent.status, GA_OK);
  assert_int_equal(bent.report.stability, GA_STABLE);
  assert_near(m.load * sin(bent.q[0]) / (m.a * bent.q[0]), 1.0, 1e-10, "the buckled column");
  assert_true(fabs(bent.q[0]) > 1.0);
}

/* Two columns under one load, which buckle one shortly after the other, within one step. */
static int two_columns_force(void *user, const ga_point *p, double *out)
{
  model *m = user;
  const double force = m->k * p->q[2];
  out[0] = force * sin(p->q[0]) - m->a * p->q[0];
  out[1] = force * sin(p->q[1]) - m->h * p->q[1];
  out[2] = m->load - force;
  return meddle(m, 0);
}

static int unit_mass3(void *user, const ga_point *p, double *out)
{
  (void)user;
  for (int i = 0; i < 3; i++) out[i] = p->vdot[i];
  return 0;
}

static void columns_buckle_one_after_the_other(void **state)
{
  (void)state;
  model m = {.a = 3.0, .h = 3.1, .k = 50.0, .load = 5.0};
  ga_factor factor;
  ga_system_def def = define(&m, &factor, 3, two_columns_force);
  ga_equilibrium_opts o = ga_equilibrium_defaults();
  const double straight[3] = {0.0, 0.0, 0.0};
  def.mass = unit_mass3;
  o.control = GA_LOAD_PATH;
  o.load_step = 0.5;
  const solution s = solve_with(&def, &o, straight);
  assert_int_equal(s.status, GA_OK);
  assert_int_equal(s.report.n_critical, 2);
  for (int i = 0; i < 2; i++) {
    assert_int_equal(s.report.critical[i].kind, GA_BIFURCATION);
    assert_near(s.report.critical[i].load, (i ? m.h : m.a) / m.load, 1e-9, "the critical load");
  }
  assert_int_equal(s.report.n_unstable, 2);
}

/* ---- Stability ---- */

static void unstable_equilibria_are_reported(void **state)
{
  (void)state;
  model m = {.k = 1.0, .load = 3.0};
  ga_factor factor;
  const ga_system_def def = define(&m, &factor, 1, column_force);
  ga_equilibrium_opts o = ga_equilibrium_defaults();
  const double upright = 0.0, near = 0.01;
  solution s = solve_with(&def, &o, &upright);
  assert_int_equal(s.status, GA_OK);
  assert_int_equal(s.report.stability, GA_UNSTABLE);
  s = solve_with(&def, &o, &near); /* relaxation leaves what Newton's iteration goes to */
  assert_int_equal(s.status, GA_OK);
  assert_int_equal(s.report.stability, GA_STABLE);
  assert_near(3.0 * sin(s.q[0]), s.q[0], 1e-10, "the tilt");
  assert_true(s.q[0] > 1.0 && s.report.relaxation_steps > 0);
  o.relax = 0;
  s = solve_with(&def, &o, &near);
  assert_int_equal(s.report.stability, GA_UNSTABLE);
  o.stability = 0;
  assert_int_equal(solve_with(&def, &o, &near).report.stability, GA_STABILITY_UNKNOWN);
}

/* ---- Constraints ---- */

/* From the horizontal, where nothing has stiffness, and from almost upright: to hanging, λ = −load/(2 q_y)…
 */
static void pendulums_hang(void **state)
{
  (void)state;
  model m = {.a = 2.0, .load = 9.81};
  ga_factor factor;
  ga_system_def def = define(&m, &factor, 2, rod_force);
  def.n_lambda = 1;
  def.phi = rod_phi;
  const double starts[3][2] = {{2.0, 0.0}, {1e-3, 2.0}, {1.9, -0.3}};
  for (int i = 0; i < 3; i++) {
    const solution s = solve_with(&def, NULL, starts[i]);
    assert_int_equal(s.status, GA_OK);
    assert_int_equal(s.report.stability, GA_STABLE);
    assert_near(s.q[0], 0.0, 1e-10, "x");
    assert_near(s.q[1], -2.0, 1e-10, "y");
    assert_near(s.lambda[0], 9.81 / 4.0, 1e-9, "lambda");
  }
  const double up[2] = {0.0, 2.0};
  const solution s = solve_with(&def, NULL, up);
  assert_int_equal(s.status, GA_OK);
  assert_int_equal(s.report.stability, GA_UNSTABLE);
}

static void starts_far_off_are_refused(void **state)
{
  (void)state;
  model m = {.a = 2.0, .load = 9.81};
  ga_factor factor;
  ga_system_def def = define(&m, &factor, 2, rod_force);
  def.n_lambda = 1;
  def.phi = rod_phi;
  const double off[2] = {3.0, 0.0};
  const solution s = solve_with(&def, NULL, off);
  assert_int_equal(s.status, GA_ERR_INCONSISTENT);
  assert_int_equal(s.reason, GA_REASON_START_OFF);
  ga_equilibrium_opts o = ga_equilibrium_defaults();
  o.max_change = 1.0;
  assert_near(solve_with(&def, &o, off).q[1], -2.0, 1e-10, "y");
}

static void constraints_may_repeat_but_not_contradict(void **state)
{
  (void)state;
  model m = {.a = 2.0, .load = 9.81, .h = 1.0};
  ga_factor factor;
  ga_system_def def = define(&m, &factor, 2, rod_force);
  def.n_lambda = 2;
  def.phi = rod_phi;
  const double side[2] = {2.0, 0.0};
  solution s = solve_with(&def, NULL, side);
  assert_int_equal(s.status, GA_OK);
  assert_int_equal(s.report.redundant, 1);
  assert_near(s.q[1], -2.0, 1e-10, "y");
  assert_near(s.lambda[0] + 3.0 * s.lambda[1], 9.81 / 4.0, 1e-9, "what both multipliers hold");
  assert_near(s.lambda[0], 3.0 * s.lambda[1], 1e-9, "the least multipliers: the same in rows of length 1");
  m.h = 1.1;
  s = solve_with(&def, NULL, side);
  assert_int_equal(s.status, GA_ERR_INCONSISTENT);
  assert_int_equal(s.reason, GA_REASON_NOT_CLOSED);
}

/* ---- States and outputs ---- */

static void controllers_hold(void **state)
{
  (void)state;
  model m = {.a = 0.7, .k = 12.0, .h = 5.0, .load = 3.0};
  ga_factor factor;
  ga_system_def def = define(&m, &factor, 1, held_force);
  def.n_x = def.n_y = 1;
  def.state = held_state;
  def.output = held_output;
  const double start = 0.0;
  for (int control = 0; control < 3; control++) {
    ga_equilibrium_opts o = ga_equilibrium_defaults();
    o.control = (ga_load_control)control;
    const solution s = solve_with(&def, &o, &start);
    assert_int_equal(s.status, GA_OK);
    assert_near(s.q[0], 0.7, 1e-10, "q");
    assert_near(s.y[0], 3.0, 1e-10, "y");
    assert_near(s.x[0], 0.6, 1e-10, "x");
    assert_int_equal(s.report.stability, GA_STABLE);
  }
  m.h = 50.0; /* an integral part of k c and more makes it oscillate with growing size: stiff, but unstable */
  assert_int_equal(solve_with(&def, NULL, &start).report.stability, GA_UNSTABLE);
}

/* ---- What there is not ---- */

static void what_is_free_is_named(void **state)
{
  (void)state;
  model m = {.k = 10.0, .load = 5.0};
  ga_factor factor;
  const ga_system_def def = define(&m, &factor, 2, half_held_force);
  ga_equilibrium_opts o = ga_equilibrium_defaults();
  const double start[2] = {0.0, 0.25};
  solution s = solve_with(&def, &o, start);
  assert_int_equal(s.status, GA_ERR_SINGULAR);
  assert_int_equal(s.reason, GA_REASON_MOVES_FREELY);
  assert_int_equal(s.report.coordinate, 1);
  o.hold_free = 1;
  s = solve_with(&def, &o, start);
  assert_int_equal(s.status, GA_OK);
  assert_int_equal(s.report.stability, GA_NEUTRAL);
  assert_near(s.q[0], 0.5, 1e-9, "what is held");
  assert_near(s.q[1], 0.25, 1e-12, "what is free");
  m.h = 1.0; /* a force on it: there is no equilibrium */
  s = solve_with(&def, &o, start);
  assert_int_equal(s.status, GA_RETRY_NEWTON);
  assert_int_equal(s.reason, GA_REASON_NO_EQUILIBRIUM);
  o.control = GA_LOAD_PATH;
  s = solve_with(&def, &o, start);
  assert_int_equal(s.status, GA_ERR_SINGULAR);
  assert_int_equal(s.reason, GA_REASON_NO_TANGENT);
  assert_int_equal(solve_with(&def, &o, start).report.load_steps, 0);
}

/* ---- Observers, options, callbacks ---- */

typedef struct watch {
  int n, stop_at;
  double load;
} watch;

static int observe(void *user, const ga_load_point *p)
{
  watch *w = user;
  assert_true(w->n == 0 ? p->load == 0.0 : p->load > w->load);
  assert_non_null(p->state->q);
  w->load = p->load;
  return ++w->n == w->stop_at;
}

static void load_steps_are_shown(void **state)
{
  (void)state;
  model m = {.k = 10.0, .load = 2.0};
  ga_factor factor;
  const ga_system_def def = define(&m, &factor, 1, column_force);
  ga_equilibrium_opts o = ga_equilibrium_defaults();
  const double start = 0.1;
  watch w = {0};
  o.control = GA_LOAD_STEPS;
  o.load_step = 0.25;
  o.observer = observe;
  o.user = &w;
  assert_int_equal(solve_with(&def, &o, &start).status, GA_OK);
  assert_int_equal(w.n, 5);
  w = (watch){.stop_at = 3};
  assert_int_equal(solve_with(&def, &o, &start).status, GA_STOPPED);
  assert_int_equal(w.n, 3);
  w = (watch){0};
  o.max_steps = 2;
  const solution s = solve_with(&def, &o, &start);
  assert_int_equal(s.status, GA_RETRY_NEWTON);
  assert_int_equal(s.reason, GA_REASON_LOAD_NOT_REACHED);
}

static void options_are_checked(void **state)
{
  (void)state;
  rig r = rig_open("heavy_top");
  ga_equilibrium *eq = NULL;
  assert_status(r.ctx, ga_system_create(r.ctx, &r.def, &r.sys), GA_OK);
  for (int i = 0; i < 11; i++) {
    ga_equilibrium_opts o = ga_equilibrium_defaults();
    if (i == 0) o.control = (ga_load_control)7;
    if (i == 1) o.load = 0.0, o.control = GA_LOAD_PATH;
    if (i == 2) o.load = 2.0; /* at once */
    if (i == 3) o.load_step = -1.0;
    if (i == 4) o.tol = NAN;
    if (i == 5) o.max_steps = 0;
    if (i == 6) o.max_iterations = 0;
    if (i == 7) o.lu = (ga_lu_kind)9;
    if (i == 8) o.max_step = NAN;
    if (i == 10) o.max_change = 0.0;
    if (i == 9) o.load = INFINITY, o.control = GA_LOAD_STEPS;
    assert_int_equal(ga_equilibrium_create(r.ctx, r.sys, &o, &eq), GA_ERR_ARGUMENT);
    assert_null(eq);
  }
  rig_close(&r);
}

/* The n-th call gives up, or asks for something else, for every n. */
static void callbacks_may_fail(void **state)
{
  (void)state;
  model m = {.a = 1.0, .h = 0.3, .k = 1000.0, .load = 20.0};
  ga_factor factor;
  const ga_system_def def = define(&m, &factor, 1, truss_force);
  for (int control = 0; control < 3; control++) {
    ga_equilibrium_opts o = ga_equilibrium_defaults();
    o.control = (ga_load_control)control;
    m.fail_at = m.calls = 0;
    const solution whole = solve_with(&def, &o, &m.h);
    assert_int_equal(whole.status, GA_OK);
    const int all = m.calls;
    for (int n = 1; n <= all; n += rig_brief() ? 97 : 7) {
      m.calls = 0, m.fail_at = n, m.code = -1;
      const solution ended = solve_with(&def, &o, &m.h);
      if (ended.status ==
          GA_OK) { /* of the linearised motion one figure may be left out, which is not used here */
        assert_near(ended.q[0], whole.q[0], 0.0, "the equilibrium");
        assert_int_equal(ended.report.stability, whole.report.stability);
      } else
        assert_int_equal(ended.status, GA_ERR_CALLBACK);
      m.calls = 0,
      m.code = 1; /* a smaller move may do, or it ends there: never another equilibrium without a word */
      const solution s = solve_with(&def, &o, &m.h);
      if (s.status == GA_OK)
        assert_near(s.q[0], whole.q[0], 1e-8, "the equilibrium behind a call that failed");
    }
  }
}

/* ---- Kinks ---- */

/* f₀ = −k q₀ − a |q₀| − h sign(v₀) + load, f₁ = −q₁ or, with calls < 0, nothing: then it is free. */
static int kinked_force(void *user, const ga_point *p, double *out)
{
  const model *m = user;
  out[0] = m->load - m->k * p->q[0] - m->a * fabs(p->q[0]) - m->h * ((p->v[0] > 0.0) - (p->v[0] < 0.0));
  out[1] = m->calls < 0 ? 0.0 : -p->q[1];
  return 0;
}

static int kinked_jacobian(void *user, const ga_point *p, ga_jacobian *J)
{
  const model *m = user;
  J->D[0] = J->D[1] = J->shift_vdot;
  J->Q[0] = m->k + (p->q[0] < 0.0 ? -m->a : m->a);
  J->Q[1] = m->calls < 0 ? 0.0 : 1.0;
  return 0;
}

/* Where the stiffness has two values stability is not judged, whatever the derivative given there says; the
 * equilibrium is right. Nearby it is judged by the side, and a coordinate that is free remains an error. */
static void no_stability_at_a_kink(void **state)
{
  static const struct {
    const char *what;
    double k, a, friction, load;
    int is_free;
    ga_status status;
    ga_stability stability;
    double q;
  } rows[] = {
      {"stable on both sides", 100.0, 50.0, 0.0, 0.0, 0, GA_OK, GA_STABILITY_UNKNOWN, 0.0},
      {"unstable on one side", 50.0, 100.0, 0.0, 0.0, 0, GA_OK, GA_STABILITY_UNKNOWN, 0.0},
      {"nothing on the side of the derivative", 50.0, -50.0, 0.0, 0.0, 0, GA_OK, GA_STABILITY_UNKNOWN, 0.0},
      {"dry friction", 100.0, 0.0, 3.0, 0.0, 0, GA_OK, GA_STABILITY_UNKNOWN, 0.0},
      {"no kink", 100.0, 0.0, 0.0, 0.0, 0, GA_OK, GA_STABLE, 0.0},
      {"beside it, stiff", 100.0, 50.0, 0.0, 15.0, 0, GA_OK, GA_STABLE, 0.1},
      {"beside it, soft", 100.0, 50.0, 0.0, -5.0, 0, GA_OK, GA_STABLE, -0.1},
      {"free elsewhere", 100.0, 50.0, 0.0, 0.0, 1, GA_ERR_SINGULAR, GA_NEUTRAL, 0.0}};
  const int row[] = {0, 1}, col[] = {0, 1};
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    for (int exact = 0; exact < 2; exact++) {
      model m = {.k = rows[i].k,
                 .a = rows[i].a,
                 .h = rows[i].friction,
                 .load = rows[i].load,
                 .calls = rows[i].is_free ? -1 : 0};
      ga_factor factor;
      ga_system_def def = define(&m, &factor, 2, kinked_force);
      ga_equilibrium_opts o = ga_equilibrium_defaults();
      const double start[2] = {rows[i].q, 0.2};
      def.jacobian = exact ? kinked_jacobian : NULL;
      def.n_pattern = exact ? 2 : 0;
      def.pattern_row = row, def.pattern_col = col;
      const solution s = solve_with(&def, &o, start);
      if (s.status != rows[i].status || s.report.stability != rows[i].stability)
        print_message("%s, exact %d: status %d, stability %d\n", rows[i].what, exact, s.status,
                      s.report.stability);
      assert_int_equal(s.status, rows[i].status);
      assert_int_equal(s.report.stability, rows[i].stability);
      const int at_kink = rows[i].stability == GA_STABILITY_UNKNOWN;
      assert_int_equal(s.report.at_kink, at_kink);
      assert_int_equal(s.kinks, at_kink);
      if (!s.status) assert_near(s.q[0], rows[i].q, 1e-9, rows[i].what);
      assert_int_equal(s.report.n_unstable, 0);
    }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(limit_points_of_a_truss),
                                     cmocka_unit_test(load_steps_jump),
                                     cmocka_unit_test(no_stability_at_a_kink),
                                     cmocka_unit_test(columns_buckle),
                                     cmocka_unit_test(columns_buckle_one_after_the_other),
                                     cmocka_unit_test(unstable_equilibria_are_reported),
                                     cmocka_unit_test(pendulums_hang),
                                     cmocka_unit_test(starts_far_off_are_refused),
                                     cmocka_unit_test(constraints_may_repeat_but_not_contradict),
                                     cmocka_unit_test(controllers_hold),
                                     cmocka_unit_test(what_is_free_is_named),
                                     cmocka_unit_test(load_steps_are_shown),
                                     cmocka_unit_test(options_are_checked),
                                     cmocka_unit_test(callbacks_may_fail)};
  return cmocka_run_group_tests_name("core: equilibrium", tests, NULL, NULL);
}
