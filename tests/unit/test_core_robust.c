/* What must not go wrong silently: overflow, forces that cancel, singular positions, saved states of others,
 * failures in the middle of a step, restarts that cannot be made, extremes of step sizes and of time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core_rig.h"

/* ---- Small models ---- */

typedef struct model {
  int n, n_lambda; /* coordinates and constraints */
  double m;        /* [kg] of every coordinate */
  double pull, k;  /* [N] tension of springs; [N/m] their stiffness */
  double omega;    /* [1/s] of a moving pivot */
  const ga_stepper
      *st; /* its `force` asks once for a smaller step, when this one has left the small matrix */
} model;

static int inertia(void *user, const ga_point *p, double *out)
{
  const model *m = user;
  for (int i = 0; i < m->n; i++) out[i] = m->m * p->vdot[i];
  return 0;
}

/* A point of mass m on a circle: f = (0, −m g) − q λ, Φ = (|q|² − 1)/2. */
static int pendulum_force(void *user, const ga_point *p, double *out)
{
  const model *m = user;
  out[0] = -p->q[0] * p->lambda[0];
  out[1] = -9.81 * m->m - p->q[1] * p->lambda[0];
  return 0;
}

static int circle(void *user, const ga_point *p, double *out)
{
  (void)user;
  out[0] = 0.5 * (p->q[0] * p->q[0] + p->q[1] * p->q[1] - 1.0);
  return 0;
}

static int circle_dot(void *user, const ga_point *p, double *out)
{
  (void)user;
  out[0] = p->q[0] * p->v[0] + p->q[1] * p->v[1];
  return 0;
}

static int circle_acc(void *user, const ga_point *p, double *out)
{
  (void)user;
  out[0] = p->v[0] * p->v[0] + p->v[1] * p->v[1];
  return 0;
}

static int pendulum_jacobian(void *user, const ga_point *p, ga_jacobian *J)
{
  const model *m = user;
  for (int i = 0; i < 2; i++) {
    J->D[3 * i + i] = m->m * J->shift_vdot;
    J->D[3 * i + 2] = p->q[i];
    J->Q[3 * i + i] = p->lambda[0];
    J->Q[6 + i] = p->q[i];
    J->G[6 + i] = p->v[i];
  }
  return 0;
}

static const ga_factor SPACE[] = {{GA_RN, 0, GA_LEFT}, {GA_RN, 1, GA_LEFT},  {GA_RN, 2, GA_LEFT},
                                  {GA_RN, 3, GA_LEFT}, {GA_RN, 60, GA_LEFT}, {GA_RN, 120, GA_LEFT}};

static void define(ga_system_def *d, model *m, const ga_factor *space, ga_eval_fn force, ga_eval_fn phi)
{
  d->n_factors = 1;
  d->factors = space;
  d->n_lambda = m->n_lambda;
  d->mass = inertia;
  d->force = force;
  d->phi = phi;
  d->user = m;
}

/* A model of up to three coordinates. */
static rig open_model(model *m, ga_eval_fn force, ga_eval_fn phi)
{
  rig r = rig_open(NULL);
  define(&r.def, m, &SPACE[m->n], force, phi);
  return r;
}

static const model PENDULUM = {.n = 2, .n_lambda = 1, .m = 1.0};
static const double LEVEL[] = {1.0, 0.0}, REST[] = {0.0, 0.0, 0.0};

static ga_status start_at(rig *r, double h, const double *q, const double *v)
{
  ga_start_opts o = ga_start_defaults();
  o.h = h;
  o.max_change = 1e9;
  return ga_stepper_start(r->st, &o, 0.0, q, v, NULL, NULL, NULL, NULL);
}

static void assert_finite(const rig *r)
{
  assert_int_equal(ga__first_bad(r->st->now.block, (int)r->st->state_length), -1);
}

/* ---- A pendulum under a simulator, and a diary of it ---- */

enum { MOST = 256, SAVED = 256 };

typedef struct diary {
  int n_out;
  double out_t[MOST], out_q[MOST];
  double last[SAVED]; /* whole state at the last accepted step */
  ga_simulator *sim;  /* one whose saving is refused in output and on_event */
  ga_stepper *st;
  int refused;
  double put; /* on_event moves q[0] there; 0: leaves it */
} diary;

typedef struct bench {
  model m;
  rig r;
  ga_simulate_opts o;
  ga_simulator *sim;
} bench;

static void note_state(diary *d, const ga_stepper *st)
{
  assert_true(st->state_length <= SAVED);
  memcpy(d->last, st->now.block, st->state_length * sizeof(double));
}

static int note_step(void *user, const ga_stepper *st)
{
  note_state(user, st);
  return 0;
}

/* Saving is not for callbacks in the middle of a step. */
static void try_to_save(diary *d)
{
  double saved[SAVED];
  if (!d->sim) return;
  assert_int_equal(ga_simulator_save(d->sim, saved), GA_ERR_ORDER);
  assert_call_error(d->st->ctx, GA_REASON_CALL_ORDER, "ga_stepper_save", NULL);
  assert_int_equal(ga_stepper_save(d->st, saved), GA_ERR_ORDER);
  d->refused++;
}

static int note_output(void *user, const ga_state *s)
{
  diary *d = user;
  assert_true(d->n_out < MOST);
  d->out_t[d->n_out] = s->t;
  d->out_q[d->n_out++] = s->q[0];
  try_to_save(d);
  return 0;
}

static int half_way_down(void *user, const ga_point *p, double *g)
{
  (void)user;
  g[0] = p->q[1] + 0.5;
  return 0;
}

static int note_event(void *user, int event, const ga_state *s, double *q, double *v, double *x)
{
  diary *d = user;
  (void)event, (void)s, (void)v, (void)x;
  if (d->put != 0.0) q[0] = d->put;
  try_to_save(d);
  return 0;
}

static const ga_event RECORDS[] = {{0, GA_EVENT_RECORD}}, RESTARTS[] = {{0, GA_EVENT_RESTART}};

static void bench_open(bench *b, diary *d, const ga_event *events)
{
  memset(d, 0, sizeof *d);
  memset(b, 0, sizeof *b);
  b->m = PENDULUM;
  b->r = open_model(&b->m, pendulum_force, circle);
  b->r.def.phi_dot = circle_dot;
  b->r.def.phi_acc = circle_acc;
  b->r.def.jacobian = pendulum_jacobian;
  b->o = ga_simulate_defaults();
  b->o.t_end = 1.0;
  b->o.user = d;
  b->o.output = note_output;
  b->o.observer = note_step;
  if (!events) return;
  b->o.n_events = 1;
  b->o.events = events;
  b->o.event_function = half_way_down;
  b->o.on_event = note_event;
}

/* A simulator with the present options. */
static void bench_create(bench *b)
{
  if (!b->r.st) rig_build(&b->r);
  ga_simulator_destroy(&b->sim);
  assert_status(b->r.ctx, ga_simulator_create(b->r.ctx, b->r.st, &b->o, &b->sim), GA_OK);
}

static ga_status bench_begin(bench *b, double t0)
{
  bench_create(b);
  return ga_simulator_start(b->sim, NULL, t0, LEVEL, REST, NULL, NULL, NULL, NULL);
}

static ga_status bench_run(bench *b)
{
  ga_status status = bench_begin(b, 0.0);
  return status ? status : ga_simulator_run(b->sim);
}

static void bench_close(bench *b)
{
  ga_simulator_destroy(&b->sim);
  rig_close(&b->r);
}

/* What the simulator saves, in a block of its very size. */
static double *bench_save(bench *b)
{
  double *saved = malloc(ga_simulator_saved_size(b->sim) * sizeof *saved);
  assert_non_null(saved);
  assert_status(b->r.ctx, ga_simulator_save(b->sim, saved), GA_OK);
  return saved;
}

/* ---- Numbers at their limits ---- */

/* A force that overflows when it meets the inverse of a small mass. */
static int overflowing(void *user, const ga_point *p, double *out)
{
  const model *m = user;
  for (int i = 0; i < m->n; i++) out[i] = -(p->t > 0.5 ? 1e307 : 1.0) * p->q[i];
  return 0;
}

static int soft_jacobian(void *user, const ga_point *p, ga_jacobian *J)
{
  const model *m = user;
  (void)p;
  for (int i = 0; i < m->n; i++) {
    if (J->want & GA_WANT_D) J->D[i * m->n + i] = m->m * J->shift_vdot;
    if (J->want & GA_WANT_Q) J->Q[i * m->n + i] = 1.0;
  }
  return 0;
}

static void overflow_is_a_failure(void **state)
{
  static const double q[] = {1.5, 1.2};
  int failed = 0;
  (void)state;
  for (int method = GA_INDEX3; method <= GA_SOI2; method++) {
    model m = {.n = 2, .m = 1e-3};
    rig r = open_model(&m, overflowing, NULL);
    r.def.jacobian = soft_jacobian;
    r.opts.method = (ga_method)method;
    rig_build(&r);
    assert_status(r.ctx, start_at(&r, 0.1, q, REST), GA_OK);
    for (int i = 0; i < 8; i++) {
      ga_status status = ga_stepper_step(r.st, 0.1);
      assert_true(status >= 0);
      failed += status > 0;
      assert_finite(&r);
    }
    assert_true(ga_stepper_state(r.st)->t < 0.55);
    rig_close(&r);
  }
  assert_true(failed >= 4);
}

/* A light node between two springs that pull in opposite directions: what counts is the remainder of forces
 * that cancel, which is mostly rounding. */
static int two_springs(void *user, const ga_point *p, double *out)
{
  const model *m = user;
  const double damping = 0.1 * sqrt(m->k * m->m);
  out[0] = -damping * p->v[0];
  out[1] = -damping * p->v[1] - 9.81 * m->m;
  for (int side = -1; side <= 1; side += 2) {
    double dx = side * cos(0.3) - p->q[0], dy = side * sin(0.3) - p->q[1], length = sqrt(dx * dx + dy * dy);
    double tension = m->pull + m->k * (length - 1.0);
    out[0] += tension * dx / length;
    out[1] += tension * dy / length;
  }
  return 0;
}

static void forces_that_cancel(void **state)
{
  (void)state;
  for (double pull = 1e4; pull < 2e9; pull *= 10.0) {
    model m = {.n = 2, .m = 1e-3, .pull = pull, .k = 10.0 * pull};
    rig r = open_model(&m, two_springs, NULL);
    rig_build(&r);
    assert_status(r.ctx, start_at(&r, 1e-3, REST, REST), GA_OK);
    rig_steps(&r, 1e-3, 200);
    /* it hangs where its weight is borne across the springs, which are stiff along themselves */
    assert_below(fabs(r.st->now.q[0]) + fabs(r.st->now.q[1]), 2.0 * 9.81 * m.m / pull, "sag");
    rig_close(&r);
  }
}

/* A pivot that is moved fast, Φ = q₀ − A sin ωt, without its rate being given. */
static int follower(void *user, const ga_point *p, double *out)
{
  (void)user;
  out[0] = -p->lambda[0];
  out[1] = -9.81 - (p->q[1] - p->q[0]);
  return 0;
}

#define STROKE 1e-3

static int shaken(void *user, const ga_point *p, double *out)
{
  const model *m = user;
  out[0] = p->q[0] - STROKE * sin(m->omega * p->t);
  return 0;
}

static void fast_motion_without_its_rate(void **state)
{
  static const double omega[] = {10.0, 3000.0, 1e4};
  (void)state;
  for (int i = 0; i < 3; i++) {
    model m = {.n = 2, .n_lambda = 1, .m = 1.0, .omega = omega[i]};
    const double v[] = {STROKE * omega[i], 0.0}, h = 0.02 / omega[i];
    rig r = open_model(&m, follower, shaken);
    r.def.rheonomic = 1;
    rig_build(&r);
    assert_status(r.ctx, start_at(&r, h, REST, v), GA_OK);
    for (int k = 0; k < 400; k++) {
      rig_steps(&r, h, 1);
      const ga_state *s = ga_stepper_state(r.st);
      assert_near(s->v[0] / v[0], cos(omega[i] * s->t), 1e-9, "v of the pivot");
    }
    const ga_state *s = ga_stepper_state(r.st);
    assert_near(s->lambda[0] / (v[0] * omega[i]), sin(omega[i] * s->t), 2e-4, "lambda");
    rig_close(&r);
  }
}

/* ---- Step sizes ---- */

static int spring(void *user, const ga_point *p, double *out)
{
  (void)user;
  out[0] = -p->q[0];
  return 0;
}

/* Each second step 19 times as long as the one before: a is extrapolated no further than is stable. */
static void jumping_steps(void **state)
{
  static const double one[] = {1.0};
  (void)state;
  for (double pair = 0.08; pair > 0.005; pair *= 0.5) {
    model m = {.n = 1, .m = 1.0};
    rig r = open_model(&m, spring, NULL);
    rig_build(&r);
    assert_status(r.ctx, start_at(&r, 0.05 * pair, one, REST), GA_OK);
    for (int i = 0; i < 150; i++) {
      rig_steps(&r, (i % 2 ? 0.95 : 0.05) * pair, 1);
      const ga_state *s = ga_stepper_state(r.st);
      assert_near(s->q[0], cos(s->t), 0.6 * pair * pair, "q");
      assert_near(s->v[0], -sin(s->t), 0.6 * pair * pair, "v");
    }
    rig_close(&r);
  }
}

/* What no step is small enough for ends at the least step that still moves the clock. */
static int jump(void *user, const ga_point *p, double *out)
{
  const model *m = user;
  out[0] = p->t < m->omega ? 0.0 : 1.0;
  return 0;
}

static void late_times(void **state)
{
  (void)state;
  for (double t0 = 1e6; t0 < 2e9; t0 *= 1e3) {
    model m = {.n = 1, .m = 1.0, .omega = t0 + 0.5};
    rig r = open_model(&m, jump, NULL);
    ga_simulate_opts o = ga_simulate_defaults();
    ga_simulator *sim = NULL;
    o.t_end = t0 + 1.0;
    o.error = GA_PER_UNIT_STEP;
    o.rtol = o.atol = o.rtol_v = o.atol_v = 1e-12;
    rig_build(&r);
    assert_status(r.ctx, ga_simulator_create(r.ctx, r.st, &o, &sim), GA_OK);
    assert_status(r.ctx, ga_simulator_start(sim, NULL, t0, REST, REST, NULL, NULL, NULL, NULL), GA_OK);
    assert_status(r.ctx, ga_simulator_run(sim), GA_ERR_STEP);
    assert_says(r.ctx, "h_min");
    assert_near(ga_stepper_state(r.st)->t, m.omega, 1e-14 * t0, "where it ended");
    ga_simulator_destroy(&sim);
    rig_close(&r);
  }
}

/* HHT-I3 and its like keep Φ = 0 alone: the offset of v follows h, or the estimates would never fall. */
static void weighted_per_unit_step(void **state)
{
  (void)state;
  for (int hht = 0; hht < 2; hht++)
    for (int late = 0; late < 2; late++) {
      diary d;
      bench b;
      bench_open(&b, &d, NULL);
      b.r.opts.method = GA_WEIGHTED;
      if (hht) assert_int_equal(ga_scheme_hht(b.r.ctx, -0.1, &b.r.opts.scheme), GA_OK);
      b.o.error = GA_PER_UNIT_STEP;
      double t0 = late ? 1e6 : 0.0;
      b.o.t_end += t0;
      assert_status(b.r.ctx, bench_begin(&b, t0), GA_OK);
      assert_status(b.r.ctx, ga_simulator_run(b.sim), GA_OK);
      const ga_state *s = ga_stepper_state(b.r.st);
      assert_near(s->t - t0, 1.0, 1e-9, "t");
      double energy = 0.5 * (s->v[0] * s->v[0] + s->v[1] * s->v[1]) + 9.81 * s->q[1];
      assert_near(energy, 0.0, 1e-3, "energy");
      bench_close(&b);
    }
}

/* ---- Iteration matrices ---- */

typedef struct meter {
  size_t now, peak; /* bytes */
} meter;

enum { SIZE_OF_BLOCK = 16 }; /* room for the size in front of a block, and its alignment */

static void *metered_get(void *user, size_t bytes)
{
  meter *u = user;
  char *block = rig_get(NULL, bytes + SIZE_OF_BLOCK);
  if (!block) return NULL;
  memcpy(block, &bytes, sizeof bytes);
  u->now += bytes;
  if (u->now > u->peak) u->peak = u->now;
  return block + SIZE_OF_BLOCK;
}

static void metered_release(void *user, void *block)
{
  meter *u = user;
  char *whole = (char *)block - SIZE_OF_BLOCK;
  size_t bytes;
  memcpy(&bytes, whole, sizeof bytes);
  u->now -= bytes;
  rig_release(whole);
}

/* The first half of the coordinates held: Φᵢ = qᵢ. */
static int half_held(void *user, const ga_point *p, double *out)
{
  const model *m = user;
  for (int i = 0; i < m->n; i++) out[i] = -p->q[i] - (i < m->n_lambda ? p->lambda[i] : 0.0);
  return 0;
}

static int held(void *user, const ga_point *p, double *out)
{
  const model *m = user;
  for (int i = 0; i < m->n_lambda; i++) out[i] = p->q[i];
  return 0;
}

/* Largest memory while a stepper for n coordinates is made; one step with it must do. */
static double memory_of(const ga_factor *space, ga_eta_terms terms)
{
  model m = {.n = space->n, .n_lambda = space->n / 2, .m = 1.0};
  meter u = {0, 0};
  rig r = {.def = ga_system_defaults(), .opts = ga_stepper_defaults()};
  ga_context_opts o = ga_context_defaults();
  double *zero = calloc((size_t)space->n, sizeof *zero);
  o.alloc = metered_get;
  o.release = metered_release;
  o.alloc_user = &u;
  rig_memory = (rig_heap){0, 0, 0, 0};
  assert_non_null(zero);
  assert_int_equal(ga_context_create(&o, &r.ctx), GA_OK);
  define(&r.def, &m, space, half_held, held);
  r.opts.newton.eta_terms = terms;
  rig_build(&r);
  assert_status(r.ctx, start_at(&r, 0.01, zero, zero), GA_OK);
  rig_steps(&r, 0.01, 1);
  free(zero);
  rig_close(&r);
  assert_int_equal(u.now, 0);
  return (double)u.peak;
}

/* All terms of η are nearly eight times as many with twice the coordinates. */
static void memory_of_dense_systems(void **state)
{
  (void)state;
  if (rig_brief()) return; /* LU of 400 and more unknowns */
  double small = memory_of(&SPACE[4], GA_ETA_TRIANGULAR), large = memory_of(&SPACE[5], GA_ETA_TRIANGULAR);
  double full = memory_of(&SPACE[5], GA_ETA_FULL);
  assert_below(large / full, 0.5, "of all terms of eta");
  assert_below(large / small, 6.5, "growth with twice the coordinates");
  assert_below(memory_of(&SPACE[5], GA_ETA_AUTO) / (full + large), 1.0, "both matrices");
}

/* A pendulum that carries a second mass on a stiff spring. */
static int stiff_force(void *user, const ga_point *p, double *out)
{
  model *m = user;
  double pull = m->k * (p->q[1] - p->q[2]);
  if (m->st && m->st->factors.now.choice.form == GA__COMPLETE) {
    m->st = NULL;
    return 1;
  }
  pendulum_force(m, p, out);
  out[1] -= pull;
  out[2] = pull;
  return 0;
}

static rig open_stiff(model *m, int full_solve)
{
  static const double q[] = {1.0, 0.0, 0.0};
  rig r = open_model(m, stiff_force, circle);
  r.opts.method = GA_SOI2;
  r.opts.full_solve = full_solve;
  rig_build(&r);
  assert_status(r.ctx, start_at(&r, 1e-2, q, REST), GA_OK);
  return r;
}

static const model STIFF = {.n = 3, .n_lambda = 1, .m = 1.0, .k = 1e7};

/* The small matrix gives way to the full one within the step that needs it. */
static void stiff_forces(void **state)
{
  model m = STIFF;
  (void)state;
  rig full = open_stiff(&m, 1);
  rig_steps(&full, 1e-2, 130);
  double *expected = rig_copy(&full);
  rig_close(&full);
  rig r = open_stiff(&m, 0);
  assert_int_equal(r.st->factors.now.choice.form, GA__REDUCED);
  rig_steps(&r, 1e-2, 130); /* beyond the 100th, where the small one is tried again */
  assert_below(rig_distance_to(&r, expected), 1e-6, "full and small matrix");
  free(expected);
  rig_close(&r);
}

static void small_matrix_not_tried_twice(void **state)
{
  model m = STIFF;
  (void)state;
  rig r = open_stiff(&m, 0);
  m.st = r.st;
  assert_int_equal(ga_stepper_step(r.st, 1e-2), GA_RETRY_CALLBACK);
  assert_null(m.st);
  assert_int_equal(r.st->factors.now.choice.form, GA__COMPLETE);
  assert_true(r.st->factors.now.choice.wait > 0);
  rig_steps(&r, 1e-2, 1);
  assert_int_equal(r.st->factors.now.choice.form, GA__COMPLETE);
  rig_close(&r);
}

/* Φ = q₀ q₁: B vanishes at the origin, through which the point slides along one axis. */
static int crossing_force(void *user, const ga_point *p, double *out)
{
  (void)user;
  out[0] = -p->lambda[0] * p->q[1];
  out[1] = -p->lambda[0] * p->q[0];
  return 0;
}

static int crossing(void *user, const ga_point *p, double *out)
{
  (void)user;
  out[0] = p->q[0] * p->q[1];
  return 0;
}

static void through_a_singular_position(void **state)
{
  static const double q[] = {-1.0, 0.0}, v[] = {1.0, 0.0};
  (void)state;
  for (int method = GA_INDEX3; method <= GA_STABILIZED; method++) {
    model m = {.n = 2, .n_lambda = 1, .m = 1.0};
    rig r = open_model(&m, crossing_force, crossing);
    ga_simulate_opts o = ga_simulate_defaults();
    ga_simulator *sim = NULL;
    o.t_end = 3.0;
    o.h_first = o.h_max = 0.25; /* steps end at the origin, at t = 1 */
    r.opts.method = (ga_method)method;
    rig_build(&r);
    assert_status(r.ctx, ga_simulator_create(r.ctx, r.st, &o, &sim), GA_OK);
    assert_status(r.ctx, ga_simulator_start(sim, NULL, 0.0, q, v, NULL, NULL, NULL, NULL), GA_OK);
    assert_status(r.ctx, ga_simulator_run(sim), GA_OK);
    assert_near(ga_stepper_state(r.st)->q[0], 2.0, 1e-9, "q");
    assert_near(ga_stepper_state(r.st)->q[1], 0.0, 1e-9, "q off the axis");
    ga_simulator_destroy(&sim);
    rig_close(&r);
  }
}

/* ---- Failures on the way ---- */

static int give_up_once(rig_meddle *m, int fn, double *out, ga_jacobian *J)
{
  (void)fn, (void)out, (void)J;
  return m->calls == m->fault_at ? -1 : 0;
}

/* Whichever call fails, be it in the estimate of a step that is already made, the state left is the last one
 * that was accepted. */
static void fatal_failures_leave_the_last_step(void **state)
{
  static const ga_method method[] = {GA_INDEX3, GA_STABILIZED, GA_SOI2};
  (void)state;
  for (int i = 0; i < 3; i++) {
    rig_meddle meddle = {.after = give_up_once};
    diary d;
    bench b;
    bench_open(&b, &d, RESTARTS);
    b.r.opts.method = method[i];
    b.o.t_end = 0.36;
    b.o.rtol = b.o.atol = b.o.rtol_v = b.o.atol_v = 0.1; /* few steps */
    b.o.error = i ? GA_PER_STEP : GA_PER_UNIT_STEP;
    rig_meddle_install(&meddle, &b.r.def, 2);
    assert_status(b.r.ctx, bench_begin(&b, 0.0), GA_OK);
    long first = meddle.calls + 1;
    assert_status(b.r.ctx, ga_simulator_run(b.sim), GA_OK);
    long last = meddle.calls;
    assert_true(last - first > 100);
    for (long at = first; at <= last; at += rig_stride(last - first)) {
      meddle.calls = meddle.fault_at = 0;
      assert_status(b.r.ctx, bench_begin(&b, 0.0), GA_OK);
      note_state(&d, b.r.st);
      meddle.fault_at = at;
      ga_status status = ga_simulator_run(b.sim);
      assert_status(b.r.ctx, status, GA_ERR_CALLBACK);
      const ga_state *s = ga_stepper_state(b.r.st);
      assert_non_null(s);
      int on_event = fabs(s->q[1] + 0.5) < 1e-4; /* stepped onto, but the restart there failed */
      if (!on_event && !rig_same_bits(&b.r, d.last))
        fail_msg("method %d, call %ld: not the last accepted state", (int)method[i], at);
    }
    bench_close(&b);
  }
}

/* A restart from where it cannot be made leaves the state before it. */
static void restart_that_fails(void **state)
{
  diary d;
  bench b;
  (void)state;
  bench_open(&b, &d, RESTARTS);
  d.put = 5.0;
  assert_status(b.r.ctx, bench_run(&b), GA_ERR_INCONSISTENT);
  assert_call_error(b.r.ctx, GA_REASON_START_OFF, NULL, "max_change");
  const ga_state *s = ga_stepper_state(b.r.st);
  assert_non_null(s);
  assert_near(s->t, 0.3283, 1e-3, "time of the event");
  assert_near(s->q[1], -0.5, 1e-4, "q of the event");
  assert_near(s->q[0] * s->q[0] + s->q[1] * s->q[1], 1.0, 1e-12, "length");
  assert_finite(&b.r);
  rig_steps(&b.r, 1e-3, 5); /* and it can be gone on from */
  assert_true(ga_stepper_state(b.r.st)->q[1] < -0.5);
  bench_close(&b);
}

/* A ball that falls on the floor from a height of 1 m and keeps a part of its speed: bounce k at
 * T (1 + 2 (e + ... + eᵏ)), T = √(2/g), soon closer together than any step. */
enum { MOST_BOUNCES = 64 };

typedef struct ball {
  double e;    /* part of the speed that remains */
  double slow; /* [m/s] stop when slower; 0: never */
  int n;
  double t[MOST_BOUNCES];
} ball;

static int falling(void *user, const ga_point *p, double *out)
{
  (void)user, (void)p;
  out[0] = -9.81;
  return 0;
}

static int height(void *user, const ga_point *p, double *g)
{
  (void)user;
  g[0] = p->q[0];
  return 0;
}

static int bounce(void *user, int event, const ga_state *s, double *q, double *v, double *x)
{
  ball *b = user;
  (void)event, (void)x;
  assert_true(b->n < MOST_BOUNCES);
  b->t[b->n++] = s->t;
  q[0] = 0.0;
  v[0] *= -b->e;
  return v[0] < b->slow;
}

/* Bounces that accumulate end the run where they do, on the floor. */
static void ball_stays_above_the_floor(void **state)
{
  static const ga_event floor_hit[] = {{-1, GA_EVENT_RESTART}};
  static const struct {
    double e, slow, fixed_h;
  } row[] = {{0.5, 0.0, 0.0}, {0.5, 0.0, 0.01}, {0.05, 0.0, 0.0}, {0.05, 0.0, 0.1}, {0.5, 1e-4, 0.0}};
  static const double top[] = {1.0};
  (void)state;
  for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
    model m = {.n = 1, .m = 1.0};
    ball body = {.e = row[i].e, .slow = row[i].slow};
    ga_simulate_opts o = ga_simulate_defaults();
    ga_simulator *sim = NULL;
    rig r = open_model(&m, falling, NULL);
    o.t_end = 10.0;
    o.fixed_h = row[i].fixed_h;
    o.n_events = 1;
    o.events = floor_hit;
    o.event_function = height;
    o.on_event = bounce;
    o.user = &body;
    rig_build(&r);
    assert_status(r.ctx, ga_simulator_create(r.ctx, r.st, &o, &sim), GA_OK);
    assert_status(r.ctx, ga_simulator_start(sim, NULL, 0.0, top, REST, NULL, NULL, NULL, NULL), GA_OK);
    /* follows: "its restarts accumulate. Let on_event stop the simulation" */
    assert_status(r.ctx, ga_simulator_run(sim), body.slow > 0.0 ? GA_STOPPED : GA_ERR_STEP);
    if (body.slow == 0.0) assert_error(r.ctx, GA_REASON_RESTARTS_PILE_UP, "0", NULL, NULL);
    double when = sqrt(2.0 / 9.81), part = 2.0 * when;
    for (int k = 0; k < body.n; k++, when += part *= body.e) assert_near(body.t[k], when, 1e-9, "bounce");
    assert_true(part < (body.slow > 0.0 ? 1e-4 : 1e-10));
    assert_near(ga_stepper_state(r.st)->t, body.t[body.n - 1], 1e-12, "the end");
    assert_near(ga_stepper_state(r.st)->q[0], 0.0, 1e-9, "the floor");
    ga_simulator_destroy(&sim);
    rig_close(&r);
  }
}

/* ---- Saved states ---- */

/* A run saved at its end, and loaded where there is more to come: outputs go on as if it had been one run. */
static void finished_run_goes_on(void **state)
{
  static const double listed[] = {0.05, 0.95, 1.0, 1.05, 1.5, 1.95};
  static const double expected[] = {1.05, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8, 1.9, 1.95, 2.0};
  (void)state;
  for (int fixed = 0; fixed < 2; fixed++) {
    diary d, whole;
    bench b;
    bench_open(&b, &d, RECORDS);
    b.o.fixed_h = fixed ? 0.01 : 0.0;
    b.o.rtol = 1e-6;
    b.o.output_every = 0.1;
    b.o.n_output_times = 6;
    b.o.output_times = listed;
    assert_status(b.r.ctx, bench_run(&b), GA_OK);
    assert_int_equal(d.n_out, 13);
    double *saved = bench_save(&b);
    b.o.t_end = 2.0;
    assert_status(b.r.ctx, bench_run(&b), GA_OK);
    whole = d;
    d.n_out = 0;
    bench_create(&b); /* never started */
    assert_status(b.r.ctx, ga_simulator_load(b.sim, saved), GA_OK);
    assert_int_equal(ga_simulator_finished(b.sim), 0);
    assert_status(b.r.ctx, ga_simulator_run(b.sim), GA_OK);
    assert_int_equal(ga_simulator_finished(b.sim), 1);
    assert_near(ga_stepper_state(b.r.st)->t, 2.0, 1e-14, "t");
    assert_int_equal(d.n_out, 12);
    for (int i = 0; i < 12; i++) {
      assert_near(d.out_t[i], expected[i], 1e-14, "time of output");
      assert_near(d.out_q[i], whole.out_q[whole.n_out - 12 + i], fixed ? 1e-8 : 1e-3, "output");
    }
    free(saved);
    bench_close(&b);
  }
}

static void loads_beyond_the_end(void **state)
{
  diary d;
  bench b;
  (void)state;
  bench_open(&b, &d, NULL);
  assert_status(b.r.ctx, bench_run(&b), GA_OK);
  double *saved = bench_save(&b);
  b.o.t_end = 0.5;
  assert_status(b.r.ctx, bench_begin(&b, 0.0), GA_OK);
  double *before = rig_copy(&b.r);
  assert_status(b.r.ctx, ga_simulator_load(b.sim, saved), GA_ERR_ARGUMENT);
  assert_call_error(b.r.ctx, GA_REASON_TIME_OUT_OF_RANGE, "ga_simulator_load", NULL);
  assert_error_number(b.r.ctx, 0, 1.0);
  assert_error_number(b.r.ctx, 1, 0.5);
  assert_true(rig_same_bits(&b.r, before));
  assert_status(b.r.ctx, ga_simulator_run(b.sim), GA_OK); /* its own run is not disturbed */
  assert_near(ga_stepper_state(b.r.st)->t, 0.5, 1e-14, "t");
  free(before);
  free(saved);
  bench_close(&b);
}

/* A pendulum's saved state, under some method, with or without an event, in a block of its very size. */
static double *saved_by(ga_method method, const ga_event *events)
{
  diary d;
  bench b;
  bench_open(&b, &d, events);
  b.r.opts.method = method;
  b.o.t_end = 0.1;
  assert_status(b.r.ctx, bench_run(&b), GA_OK);
  double *saved = bench_save(&b);
  bench_close(&b);
  return saved;
}

static void refused(bench *b, const double *saved, const char *field, double is, double must_be)
{
  double *before = rig_copy(&b->r);
  assert_int_equal(ga_simulator_load(b->sim, saved), GA_ERR_ARGUMENT);
  assert_call_error(b->r.ctx, GA_REASON_SAVED_STATE, NULL, field);
  assert_error_number(b->r.ctx, 0, is);
  assert_error_number(b->r.ctx, 1, must_be);
  assert_true(rig_same_bits(&b->r, before));
  free(before);
}

/* Under a checker of memory: of what others saved no more is read than is there. */
static void states_of_others(void **state)
{
  static const double order[] = {-1.0, 0.5, 3.0, 1e6};
  double *method = saved_by(GA_INDEX3, RECORDS), *events = saved_by(GA_STABILIZED, NULL),
         *own = saved_by(GA_STABILIZED, RECORDS), *cut = calloc(3, sizeof *cut);
  diary d;
  bench b;
  (void)state;
  bench_open(&b, &d, RECORDS);
  assert_status(b.r.ctx, bench_begin(&b, 0.0), GA_OK);
  refused(&b, method, "the method", GA_INDEX3, GA_STABILIZED);
  assert_int_equal(ga_stepper_load(b.r.st, method), GA_ERR_ARGUMENT);
  refused(&b, events, "the number of events", 0, 1);
  double *alone = malloc(ga_stepper_saved_size(b.r.st) * sizeof *alone); /* without a simulator's part */
  assert_non_null(alone);
  assert_status(b.r.ctx, ga_stepper_save(b.r.st, alone), GA_OK);
  refused(&b, alone, "the length of the simulator's part", 0,
          (double)(ga_simulator_saved_size(b.sim) - ga_stepper_saved_size(b.r.st)));
  assert_says(b.r.ctx, "Save it by ga_simulator_save()");
  free(alone);
  assert_non_null(cut);
  cut[0] = 2.0; /* of some tiny system */
  refused(&b, cut, "the length", 2, (double)b.r.st->state_length);
  assert_int_equal(ga_stepper_load(b.r.st, cut), GA_ERR_ARGUMENT);
  double *at = own + ga_stepper_saved_size(b.r.st) - GA__N_SCALARS + GA__ORDER, keep = *at;
  for (int i = 0; i < 4; i++) {
    *at = order[i];
    refused(&b, own, "the order", order[i], 2);
    assert_int_equal(ga_stepper_load(b.r.st, own), GA_ERR_ARGUMENT);
  }
  *at = keep;
  assert_status(b.r.ctx, ga_simulator_load(b.sim, own), GA_OK);
  assert_status(b.r.ctx, ga_simulator_run(b.sim), GA_OK);
  free(method), free(events), free(own), free(cut);
  bench_close(&b);
}

/* Saving forgets factors and the step just made, which outputs yet to come are taken from. */
static void no_saving_within_a_step(void **state)
{
  (void)state;
  for (int restarts = 0; restarts < 2; restarts++) {
    diary d, plain;
    bench b;
    bench_open(&b, &d, restarts ? RESTARTS : RECORDS);
    b.o.fixed_h = 0.05;
    b.o.output_every = 0.02;
    assert_status(b.r.ctx, bench_run(&b), GA_OK);
    plain = d;
    d.n_out = 0;
    assert_status(b.r.ctx, bench_begin(&b, 0.0), GA_OK);
    d.sim = b.sim;
    d.st = b.r.st;
    assert_status(b.r.ctx, ga_simulator_run(b.sim), GA_OK);
    assert_int_equal(d.n_out, 51);
    assert_int_equal(d.refused, 50 + 2); /* all but the output of the start; down, and up again */
    assert_memory_equal(d.out_t, plain.out_t, sizeof d.out_t);
    assert_memory_equal(d.out_q, plain.out_q, sizeof d.out_q);
    assert_true(rig_same_bits(&b.r, plain.last));
    double *saved = bench_save(&b); /* now it is free to be saved */
    free(saved);
    bench_close(&b);
  }
}

/* ---- Contexts ---- */

static void contexts_do_not_mix(void **state)
{
  diary d;
  bench b;
  ga_context *other = NULL;
  ga_simulator *sim = NULL;
  (void)state;
  bench_open(&b, &d, NULL);
  rig_build(&b.r);
  assert_int_equal(rig_context(&other), GA_OK);
  assert_int_equal(ga_simulator_create(other, b.r.st, &b.o, &sim), GA_ERR_ARGUMENT);
  assert_null(sim);
  assert_call_error(other, GA_REASON_OTHER_CONTEXT, "ga_simulator_create", "st");
  ga_context_destroy(&other);
  bench_close(&b);
}

/* ---- What beginners forget
 * --------------------------------------------------------------------------------- */

static int moving_phi(void *user, const ga_point *p, double *out)
{
  (void)user;
  out[0] = p->q[0] - 0.1 * p->t;
  return 0;
}

static int unit_mass(void *user, const ga_point *p, double *out)
{
  (void)user;
  out[0] = p->vdot[0];
  out[1] = p->vdot[1];
  return 0;
}

static int reaction(void *user, const ga_point *p, double *out)
{
  const int *forgotten = user;
  out[0] = *forgotten ? 0.0 : -p->lambda[0];
  out[1] = -9.81;
  return 0;
}

/* Φ depends on t without a callback for Φ_t; −Bᵀλ is missing; a point without λ. */
static void common_omissions_are_found(void **state)
{
  static const ga_factor plane[] = {{GA_RN, 2, GA_LEFT}};
  const double q0[] = {0.0, 0.0}, v0[] = {0.1, 0.0};
  int forgotten = 0;
  rig r = rig_open(NULL);
  (void)state;
  r.def.n_factors = 1, r.def.factors = plane, r.def.n_lambda = 1, r.def.user = &forgotten;
  r.def.mass = unit_mass, r.def.force = reaction, r.def.phi = moving_phi;
  rig_build(&r);
  ga_start_opts o = ga_start_defaults();
  o.h = 1e-2;
  assert_int_equal(ga_stepper_start(r.st, &o, 0.0, q0, v0, NULL, NULL, NULL, NULL), GA_ERR_ARGUMENT);
  assert_call_error(r.ctx, GA_REASON_PHI_DEPENDS_ON_TIME, NULL, NULL);
  assert_string_equal(ga_context_error(r.ctx)->equation, "phi 0");
  ga_point p = {0.0, q0, v0, v0, NULL, v0, v0, v0, 0, NULL};
  assert_int_equal(ga_system_check(r.sys, &p, 1e-6, NULL), GA_ERR_ARGUMENT);
  assert_call_error(r.ctx, GA_REASON_NULL_ARGUMENT, "ga_system_check", "p->lambda");
  assert_error_number(r.ctx, 0, 1);
  ga_stepper_destroy(&r.st);
  ga_system_destroy(&r.sys);
  r.def.rheonomic = 1;
  rig_build(&r);
  assert_status(r.ctx, ga_stepper_start(r.st, &o, 0.0, q0, v0, NULL, NULL, NULL, NULL), GA_OK);
  forgotten = 1;
  assert_int_equal(ga_stepper_start(r.st, &o, 0.0, q0, v0, NULL, NULL, NULL, NULL), GA_ERR_SINGULAR);
  assert_says(r.ctx, "'force' must contain -B^T lambda");
  ga_system_destroy(&r.sys); /* before the stepper that borrows it: not allowed, but no crash */
  ga_stepper_destroy(&r.st);
  rig_close(&r);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(common_omissions_are_found),
      cmocka_unit_test(overflow_is_a_failure),
      cmocka_unit_test(forces_that_cancel),
      cmocka_unit_test(fast_motion_without_its_rate),
      cmocka_unit_test(jumping_steps),
      cmocka_unit_test(late_times),
      cmocka_unit_test(weighted_per_unit_step),
      cmocka_unit_test(memory_of_dense_systems),
      cmocka_unit_test(stiff_forces),
      cmocka_unit_test(small_matrix_not_tried_twice),
      cmocka_unit_test(through_a_singular_position),
      cmocka_unit_test(fatal_failures_leave_the_last_step),
      cmocka_unit_test(restart_that_fails),
      cmocka_unit_test(ball_stays_above_the_floor),
      cmocka_unit_test(finished_run_goes_on),
      cmocka_unit_test(loads_beyond_the_end),
      cmocka_unit_test(states_of_others),
      cmocka_unit_test(no_saving_within_a_step),
      cmocka_unit_test(contexts_do_not_mix),
  };
  return cmocka_run_group_tests_name("core: robustness", tests, rig_hook_klu, NULL);
}
