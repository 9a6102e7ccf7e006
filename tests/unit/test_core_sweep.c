/* Sweeps, and patterns by array: runs with them are those without; what goes wrong in them is told as
 * without; and the checker finds those that do not keep their word. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core_rig.h"

/* ---- A sled on a circle ---- */

/* q = (a, b, c), a mass at (a, b) on the unit circle that turns a wheel by c:
 *
 *   m a'' + λ a + ψ r b = 0,   m b'' + m g + λ b − ψ r a = 0,   J c'' + 4 c + 0.3 c' − y + ψ = 0
 *   Φ = (a² + b² − 1)/2,   k = c' − r (a b' − b a'),   s = (c − x)/T,   o = −3 x − 0.1 c' + 0.2 y
 */
enum { ROD = 3, WHEEL = 4, FILTER = 5, MOTOR = 6 }; /* rows, and columns, behind those of V */
static const double MASS = 2.0, INERTIA = 0.5, WEIGHT = 2.0 * 9.81, RADIUS = 0.5, TIME = 0.2;

enum { D = GA_WANT_D, Q = GA_WANT_Q, G = GA_WANT_G };
static const int ROW[] = {0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 3, 3, 4, 4, 4, 5, 5, 6, 6, 6};
static const int COL[] = {0, 1, 3, 4, 0, 1, 3, 4, 2, 4, 6, 0, 1, 0, 1, 2, 2, 5, 2, 5, 6};
static const unsigned char IN[] = {D | Q, Q,     D,     D,     Q, D | Q, D, D, D | Q, D, D,
                                   Q | G, Q | G, D | Q, D | Q, D, Q,     D, D, D,     D};
enum { ENTRIES = sizeof ROW / sizeof *ROW };

/* What goes wrong, in the callback `fn` and in the sweep, while t > after. */
typedef struct sled {
  int fn; /* of ga__fn, RIG_JACOBIAN, or SWEEP_ALONE; −1: nothing */
  int code;
  double value; /* where code is 0: in the last component, or in D(0,0) */
  double after;
  int wrong; /* of WRONG_...: in the sweep alone, always */
  long calls, sweeps, alone, fault_at;
} sled;
enum { SWEEP_ALONE = GA__N_FN + 1 };
enum {
  WRONG_NOTHING,
  WRONG_PHI,
  WRONG_PHI_DOT,
  WRONG_FORCE,
  WRONG_STATE,
  WRONG_OUTPUT,
  WRONG_K,
  WRONG_D,
  WRONG_Q,
  WRONG_G,
  WRONG_BITS,
  WRONG_WITHOUT_RATE,
  ADDS_TO_D,
  ADDS_TO_Q,
  ADDS_TO_G,
  WRONG_B_ALONE, /* where residuals are not wanted */
  LEAVES_G       /* an entry that is zero at rest is not touched */
};

static const sled GOOD = {.fn = -1};

static int strikes(const sled *s, int fn, double t)
{
  return s->fn >= 0 && s->fn == fn && t > s->after;
}

/* The end of a callback. */
static int answer(sled *s, int fn, const ga_point *p, double *last)
{
  s->calls++;
  if (!strikes(s, fn, p->t)) return 0;
  if (!s->code) *last = s->value;
  return s->code;
}

static int sled_mass(void *user, const ga_point *p, double *out)
{
  for (int i = 0; i < 3; i++) out[i] = (i < 2 ? MASS : INERTIA) * p->vdot[i];
  return answer(user, GA__MASS, p, &out[2]);
}

static int sled_force(void *user, const ga_point *p, double *out)
{
  const double *q = p->q, la = p->lambda[0], psi = p->psi[0];
  out[0] = -la * q[0] - psi * RADIUS * q[1];
  out[1] = -WEIGHT - la * q[1] + psi * RADIUS * q[0];
  out[2] = -4.0 * q[2] - 0.3 * p->v[2] + p->y[0] - psi;
  return answer(user, GA__FORCE, p, &out[2]);
}

static int sled_phi(void *user, const ga_point *p, double *out)
{
  out[0] = 0.5 * (p->q[0] * p->q[0] + p->q[1] * p->q[1] - 1.0);
  return answer(user, GA__PHI, p, &out[0]);
}

static int sled_phi_dot(void *user, const ga_point *p, double *out)
{
  out[0] = p->q[0] * p->v[0] + p->q[1] * p->v[1];
  return answer(user, GA__PHI_DOT, p, &out[0]);
}

static int sled_k(void *user, const ga_point *p, double *out)
{
  out[0] = p->v[2] - RADIUS * (p->q[0] * p->v[1] - p->q[1] * p->v[0]);
  return answer(user, GA__K, p, &out[0]);
}

static int sled_state(void *user, const ga_point *p, double *out)
{
  out[0] = (p->q[2] - p->x[0]) / TIME;
  return answer(user, GA__STATE, p, &out[0]);
}

static int sled_output(void *user, const ga_point *p, double *out)
{
  out[0] = -3.0 * p->x[0] - 0.1 * p->v[2] + 0.2 * p->y[0];
  return answer(user, GA__OUTPUT, p, &out[0]);
}

static void entries(const ga_point *p, const ga_jacobian *J, double *d, double *q, double *g)
{
  const double a = p->q[0], b = p->q[1], la = p->lambda[0], turn = RADIUS * p->psi[0], v = J->shift_v,
               vdot = J->shift_vdot;
  const double in_d[ENTRIES] = {vdot * MASS,
                                0.0,
                                a,
                                RADIUS * b,
                                0.0,
                                vdot * MASS,
                                b,
                                -RADIUS * a,
                                vdot * INERTIA + v * 0.3,
                                1.0,
                                -1.0,
                                0.0,
                                0,
                                v * RADIUS * b,
                                -v * RADIUS * a,
                                v,
                                0,
                                1.0 / TIME,
                                v * 0.1,
                                3.0,
                                -0.2};
  const double in_q[ENTRIES] = {
      la, turn, 0, 0, -turn, la, 0, 0, 4.0, 0, 0, a, b, -RADIUS * p->v[1], RADIUS * p->v[0], 0, -1.0 / TIME};
  memcpy(d, in_d, sizeof in_d);
  memcpy(q, in_q, sizeof in_q);
  memset(g, 0, ENTRIES * sizeof *g);
  g[11] = p->v[0], g[12] = p->v[1];
}

static int sled_jacobian(void *user, const ga_point *p, ga_jacobian *J)
{
  double d[ENTRIES], q[ENTRIES], g[ENTRIES];
  entries(p, J, d, q, g);
  if (J->want & GA_WANT_D) memcpy(J->D, d, sizeof d);
  if (J->want & (GA_WANT_Q | GA_WANT_B)) memcpy(J->Q, q, sizeof q);
  if (J->want & GA_WANT_G) memcpy(J->G, g, sizeof g);
  return answer(user, RIG_JACOBIAN, p, &J->D[0]);
}

/* By other sums than the callbacks. */
static void sweep_residuals(const ga_point *p, ga_sweep *o)
{
  const double a = p->q[0], b = p->q[1], c = p->q[2], la = p->lambda[0], psi = p->psi[0];
  const double turn = RADIUS * psi, rate_a = RADIUS * a, rate_b = RADIUS * b;
  o->dynamics[0] = turn * b + (MASS * p->vdot[0] + a * la);
  o->dynamics[1] = MASS * (p->vdot[1] + WEIGHT / MASS) + (b * la - turn * a);
  o->dynamics[2] = (psi - p->y[0]) + INERTIA * p->vdot[2] + (4.0 * c + 0.3 * p->v[2]);
  o->phi[0] = 0.5 * ((a - 1.0) * (a + 1.0) + b * b);
  o->k[0] = (p->v[2] - rate_a * p->v[1]) + rate_b * p->v[0];
  o->state[0] = c / TIME - p->x[0] / TIME;
  o->output[0] = 0.2 * p->y[0] - (0.1 * p->v[2] + 3.0 * p->x[0]);
  if (o->phi_dot) o->phi_dot[0] = b * p->v[1] + a * p->v[0];
}

static void sweep_entries(const ga_point *p, ga_jacobian *J, int wrong, int alone)
{
  double d[ENTRIES], q[ENTRIES], g[ENTRIES];
  entries(p, J, d, q, g);
  if (wrong == WRONG_D) d[3] += 1e-3;
  if (wrong == WRONG_Q) q[8] += 1e-3;
  if (wrong == WRONG_G) g[12] += 1e-3;
  if (wrong == WRONG_B_ALONE && alone) q[12] = nextafter(q[12], 10.0);
  if (wrong == ADDS_TO_D) d[7] += J->D[7];
  if (wrong == ADDS_TO_Q) q[1] += J->Q[1];
  if (wrong == ADDS_TO_G) g[11] += J->G[11];
  if (wrong == LEAVES_G) g[11] = J->G[11];
  if (J->want & GA_WANT_D) memcpy(J->D, d, sizeof d);
  if (J->want & (GA_WANT_Q | GA_WANT_B)) memcpy(J->Q, q, sizeof q);
  if (J->want & GA_WANT_G) memcpy(J->G, g, sizeof g);
}

static void spoil(const sled *s, ga_sweep *o)
{
  double *const place[] = {
      [WRONG_PHI] = o->phi,     [WRONG_PHI_DOT] = o->phi_dot, [WRONG_FORCE] = o->dynamics + 1,
      [WRONG_STATE] = o->state, [WRONG_OUTPUT] = o->output,   [WRONG_K] = o->k};
  if (s->wrong > WRONG_NOTHING && s->wrong <= WRONG_K && place[s->wrong]) *place[s->wrong] += 1e-3;
  if (s->wrong == WRONG_BITS && !o->jacobian) o->k[0] = nextafter(o->k[0], 10.0);
  if (s->wrong == WRONG_WITHOUT_RATE && !o->phi_dot) o->phi[0] += 1e-3;
}

static int sled_sweep(void *user, const ga_point *p, ga_sweep *o)
{
  sled *s = user;
  double *const last[] = {[GA__MASS] = o->dynamics + 2,
                          [GA__FORCE] = o->dynamics + 2,
                          [GA__PHI] = o->phi,
                          [GA__PHI_DOT] = o->phi_dot,
                          [GA__K] = o->k,
                          [GA__STATE] = o->state,
                          [GA__OUTPUT] = o->output,
                          [SWEEP_ALONE] = o->dynamics + 1};
  s->sweeps++;
  s->alone += o->jacobian_alone;
  if (!o->jacobian_alone) sweep_residuals(p, o);
  if (o->jacobian) sweep_entries(p, o->jacobian, s->wrong, o->jacobian_alone);
  if (!o->jacobian_alone) spoil(s, o);
  if (s->fault_at == s->sweeps) return s->code;
  if (!strikes(s, s->fn, p->t)) return 0;
  if (s->code) return s->fn == RIG_JACOBIAN && !o->jacobian ? 0 : s->code;
  if (s->fn != RIG_JACOBIAN)
    *last[s->fn] = s->value;
  else if (o->jacobian)
    o->jacobian->D[0] = s->value;
  return 0;
}

static rig sled_open(sled *s)
{
  static const ga_factor space[] = {{GA_RN, 3, GA_LEFT}};
  rig r = rig_open(NULL);
  r.def.n_factors = 1;
  r.def.factors = space;
  r.def.n_lambda = r.def.n_psi = r.def.n_x = r.def.n_y = 1;
  r.def.user = s;
  r.def.mass = sled_mass, r.def.force = sled_force;
  r.def.phi = sled_phi, r.def.phi_dot = sled_phi_dot;
  r.def.k = sled_k, r.def.state = sled_state, r.def.output = sled_output;
  r.def.jacobian = sled_jacobian;
  r.def.n_pattern = ENTRIES;
  r.def.pattern_row = ROW, r.def.pattern_col = COL;
  return r;
}

static const double H = 0.01;

static void sled_start(rig *r)
{
  const double q0[] = {1.0, 0.0, 0.1}, v0[] = {0.0, 0.8, 0.4}, x0[] = {0.05};
  ga_start_opts o = ga_start_defaults();
  o.h = H;
  assert_status(r->ctx, ga_stepper_start(r->st, &o, 0.0, q0, v0, x0, NULL, NULL, NULL), GA_OK);
}

/* Destroys a rig in the context of another one. */
static void drop(rig *r)
{
  ga_stepper_destroy(&r->st);
  ga_system_destroy(&r->sys);
}

/* ---- The same runs ---- */

typedef struct way {
  ga_method method;
  ga_reuse reuse;
  ga_lu_kind lu;
} way;

static const way WAYS[] = {{GA_INDEX3, GA_REUSE, GA_LU_AUTO},
                           {GA_INDEX3, GA_FRESH_STEP, GA_LU_SPARSE},
                           {GA_INDEX3, GA_FRESH_ITERATION, GA_LU_AUTO},
                           {GA_STABILIZED, GA_REUSE, GA_LU_AUTO},
                           {GA_STABILIZED, GA_FRESH_STEP, GA_LU_AUTO},
                           {GA_STABILIZED, GA_FRESH_ITERATION, GA_LU_SPARSE},
                           {GA_SOI2, GA_REUSE, GA_LU_AUTO}};
enum { N_WAYS = sizeof WAYS / sizeof *WAYS };

static void go_by(rig *r, const way *w)
{
  r->opts.method = w->method;
  r->opts.newton.reuse = w->reuse;
  r->opts.lu = w->lu;
}

static void sweeps_give_the_same_run(void **state)
{
  (void)state;
  for (int i = 0; i < N_WAYS; i++) {
    sled one = GOOD, two = GOOD;
    rig a = sled_open(&one);
    go_by(&a, &WAYS[i]);
    rig b = a;
    b.def.user = &two;
    b.def.sweep = sled_sweep;
    rig_build(&a);
    rig_build(&b);
    sled_start(&a);
    sled_start(&b);
    rig_steps(&a, H, 100);
    two.calls = 0;
    const long before = ga_stepper_stats(b.st)->residuals;
    rig_steps(&b, H, 100);
    assert_below(rig_distance(&a, &b), 1e-11, "sweep");
    assert_int_equal(ga_stepper_stats(a.st)->iterations, ga_stepper_stats(b.st)->iterations);
    assert_int_equal(ga_stepper_stats(a.st)->jacobians, ga_stepper_stats(b.st)->jacobians);
    assert_true(fabs(ga_stepper_state(a.st)->q[1]) > 0.1); /* it went somewhere */
    if (WAYS[i].method == GA_SOI2) {                       /* has residuals of its own */
      assert_int_equal(two.sweeps, 0);
    } else {
      assert_int_equal(two.sweeps - two.alone, ga_stepper_stats(b.st)->residuals - before);
      assert_int_equal(two.alone, WAYS[i].method == GA_STABILIZED ? 100 : 0); /* B of every step */
      if (WAYS[i].reuse == GA_FRESH_ITERATION)
        assert_int_equal(two.calls, 0); /* whatever a step asks for comes by the sweep */
    }
    drop(&b);
    rig_close(&a);
  }
}

/* A sweep of any problem, made of its callbacks: the same bits then. */
static int relay(void *user, const ga_point *p, ga_sweep *o)
{
  rig_meddle *m = user;
  const ga_system_def *def = &m->inner;
  double f[RIG_MOST];
  const int nv = m->size[GA__MASS];
  int code = nv ? def->mass(def->user, p, o->dynamics) : 0;
  m->calls++;
  if (!code && nv) code = def->force(def->user, p, f);
  for (int i = 0; i < nv; i++) o->dynamics[i] -= f[i];
  if (!code && def->phi) code = def->phi(def->user, p, o->phi);
  if (!code && def->phi_dot && o->phi_dot) code = def->phi_dot(def->user, p, o->phi_dot);
  if (!code && def->k) code = def->k(def->user, p, o->k);
  if (!code && def->state) code = def->state(def->user, p, o->state);
  if (!code && def->output) code = def->output(def->user, p, o->output);
  if (code || !o->jacobian) return code;
  const size_t bytes = (size_t)m->entry * sizeof(double);
  if (o->jacobian->want & GA_WANT_D) memset(o->jacobian->D, 0, bytes);
  if (o->jacobian->want & (GA_WANT_Q | GA_WANT_B)) memset(o->jacobian->Q, 0, bytes);
  if (o->jacobian->want & GA_WANT_G) memset(o->jacobian->G, 0, bytes);
  return def->jacobian(def->user, p, o->jacobian);
}

static int no_meddling(rig_meddle *m, int fn, double *out, ga_jacobian *J)
{
  (void)m, (void)fn, (void)out, (void)J;
  return 0;
}

static void relayed(const char *name, const way *w)
{
  rig a = rig_open(name);
  if (!a.def.jacobian || (a.def.n_lambda && !a.def.phi_dot)) {
    rig_close(&a);
    return;
  }
  go_by(&a, w);
  rig b = a;
  rig_meddle m = {.after = no_meddling};
  rig_build(&a);
  rig_meddle_install(&m, &b.def, a.sys->nv);
  m.entry = a.sys->n_entries;
  b.def.sweep = relay;
  rig_build(&b);
  rig_start(&a, a.problem->h);
  rig_start(&b, b.problem->h);
  rig_steps(&a, a.problem->h, 10);
  rig_steps(&b, b.problem->h, 10);
  if (!rig_same_bits(&b, a.st->now.block)) fail_msg("%s: another run", name);
  rig_spot s;
  rig_random random = rig_seed(0);
  rig_spot_random(&s, &b, &random);
  m.calls = 0;
  assert_status(b.ctx, ga_system_check(b.sys, &s.p, 1e-6, NULL), GA_OK);
  assert_true(m.calls > 4);
  drop(&b);
  rig_close(&a);
}

static void examples_by_relay(void **state)
{
  (void)state;
  for (int i = 0; ex_problem_at(i); i++)
    for (int k = 0; k < N_WAYS; k++)
      if (WAYS[k].method == GA_STABILIZED) relayed(ex_problem_at(i)->name, &WAYS[k]);
}

/* ---- Refusals and failures ---- */

static void sweep_without_callbacks_is_refused(void **state)
{
  sled s = GOOD;
  rig r = sled_open(&s);
  (void)state;
  r.def.sweep = sled_sweep;
  r.def.jacobian = NULL;
  assert_status(r.ctx, ga_system_create(r.ctx, &r.def, &r.sys), GA_ERR_ARGUMENT);
  assert_error(r.ctx, GA_REASON_CALLBACK_MISSING, NULL, NULL, "sweep");
  assert_string_equal(ga_context_error(r.ctx)->callback, "jacobian");
  r.def.jacobian = sled_jacobian;
  r.def.phi_dot = NULL;
  assert_status(r.ctx, ga_system_create(r.ctx, &r.def, &r.sys), GA_ERR_ARGUMENT);
  assert_error(r.ctx, GA_REASON_CALLBACK_MISSING, NULL, NULL, "sweep");
  assert_string_equal(ga_context_error(r.ctx)->callback, "phi_dot");
  assert_null(r.sys);
  rig_close(&r);
}

/* Steps until one fails, which leaves the state as it was; the failure. */
static ga_status fail_at_last(rig *r, ga_error *error)
{
  sled_start(r);
  for (int i = 0; i < 100; i++) {
    double *before = rig_copy(r);
    const ga_status status = ga_stepper_step(r->st, H);
    const int same = rig_same_bits(r, before);
    free(before);
    if (!status) continue;
    assert_true(i > 5);
    assert_true(same);
    *error = *ga_context_error(r->ctx);
    error->text = "";
    return status;
  }
  fail_msg("no step failed");
  return GA_OK;
}

typedef struct failure {
  int fn, code;
  double value;
  ga_status status;
  ga_reason reason;
  const char *callback, *equation;
} failure;

static const failure FAILURES[] = {
    {GA__MASS, 2, 0.0, GA_RETRY_CALLBACK, GA_REASON_CALLBACK_RETRY, "mass", ""},
    {GA__FORCE, -2, 0.0, GA_ERR_CALLBACK, GA_REASON_CALLBACK, "force", ""},
    {GA__FORCE, 0, NAN, GA_RETRY_NAN, GA_REASON_NOT_FINITE_IN_STEP, "force", "dynamics 2"},
    {GA__PHI, 0, INFINITY, GA_RETRY_NAN, GA_REASON_NOT_FINITE_IN_STEP, "phi", "phi 0"},
    {GA__PHI, 1, 0.0, GA_RETRY_CALLBACK, GA_REASON_CALLBACK_RETRY, "phi", ""},
    {GA__PHI_DOT, 0, NAN, GA_RETRY_NAN, GA_REASON_NOT_FINITE_IN_STEP, "phi_dot", "phi 0"},
    {GA__PHI_DOT, 1, 0.0, GA_RETRY_CALLBACK, GA_REASON_CALLBACK_RETRY, "phi_dot", ""},
    {GA__K, 0, NAN, GA_RETRY_NAN, GA_REASON_NOT_FINITE_IN_STEP, "k", "k 0"},
    {GA__STATE, 0, NAN, GA_RETRY_NAN, GA_REASON_NOT_FINITE_IN_STEP, "state", "state 0"},
    {GA__OUTPUT, -1, 0.0, GA_ERR_CALLBACK, GA_REASON_CALLBACK, "output", ""},
    {RIG_JACOBIAN, 0, NAN, GA_RETRY_NAN, GA_REASON_JACOBIAN_NOT_FINITE, "", "dynamics 0"},
};

static void failures_are_reported_as_without_a_sweep(void **state)
{
  (void)state;
  for (size_t i = 0; i < sizeof FAILURES / sizeof *FAILURES; i++) {
    const failure *f = &FAILURES[i];
    ga_error error[2];
    for (int swept = 0; swept < 2; swept++) {
      sled s = {.fn = f->fn, .code = f->code, .value = f->value, .after = 0.095};
      rig r = sled_open(&s);
      go_by(&r, &WAYS[5]);
      if (swept) r.def.sweep = sled_sweep;
      rig_build(&r);
      assert_status(r.ctx, fail_at_last(&r, &error[swept]), f->status);
      assert_int_equal(error[swept].reason, f->reason);
      assert_string_equal(error[swept].callback, f->callback);
      assert_string_equal(error[swept].equation, f->equation);
      s.fn = -1;
      rig_steps(&r, H, 5);
      rig_close(&r);
    }
    assert_memory_equal(&error[0], &error[1], sizeof error[0]);
  }
}

/* The callbacks have nothing to say: the sweep speaks for itself, or is not needed. */
static void failures_of_the_sweep_alone(void **state)
{
  static const struct {
    int code;
    ga_status status;
    ga_reason reason;
  } CASE[] = {{3, GA_RETRY_CALLBACK, GA_REASON_CALLBACK_RETRY}, {-3, GA_ERR_CALLBACK, GA_REASON_CALLBACK}};
  (void)state;
  ga_error error;
  for (int i = 0; i < 2; i++) {
    sled s = {.fn = SWEEP_ALONE, .code = CASE[i].code, .after = 0.095};
    rig r = sled_open(&s);
    r.def.sweep = sled_sweep;
    rig_build(&r);
    assert_status(r.ctx, fail_at_last(&r, &error), CASE[i].status);
    assert_int_equal(error.reason, CASE[i].reason);
    assert_string_equal(error.callback, "sweep");
    assert_int_equal(error.code, CASE[i].code);
    s.fn = -1;
    rig_steps(&r, H, 5);
    rig_close(&r);
  }
  sled nan = {.fn = SWEEP_ALONE, .value = NAN, .after = 0.095}, good = GOOD;
  rig a = sled_open(&nan);
  a.def.sweep = sled_sweep;
  rig b = a;
  b.def.user = &good;
  rig_build(&a);
  rig_build(&b);
  sled_start(&a);
  sled_start(&b);
  rig_steps(&a, H, 30);
  rig_steps(&b, H, 30);
  assert_below(rig_distance(&a, &b), 1e-11, "callbacks instead of the sweep");
  drop(&b);
  rig_close(&a);
}

/* Each sweep of a run fails once; the step tried again leads to where it would have led. */
static void each_sweep_fails(void **state)
{
  enum { STEPS = 4 };
  (void)state;
  for (int i = 0; i < N_WAYS; i++) {
    if (WAYS[i].method == GA_SOI2) continue;
    sled good = GOOD;
    rig a = sled_open(&good);
    go_by(&a, &WAYS[i]);
    a.def.sweep = sled_sweep;
    rig_build(&a);
    sled_start(&a);
    good.sweeps = 0;
    rig_steps(&a, H, STEPS);
    const long total = good.sweeps;
    assert_true(total >= STEPS);
    for (long n = 1; n <= total; n++) {
      sled bad = {.fn = -1, .code = n % 2 ? 1 : -1};
      int failed = 0;
      rig b = a;
      b.def.user = &bad;
      rig_build(&b);
      sled_start(&b);
      bad.sweeps = 0, bad.fault_at = n;
      for (int k = 0; k < STEPS; k++) {
        double *before = rig_copy(&b);
        const ga_status status = ga_stepper_step(b.st, H);
        if (status) {
          failed++;
          assert_status(b.ctx, status, bad.code > 0 ? GA_RETRY_CALLBACK : GA_ERR_CALLBACK);
          assert_true(rig_same_bits(&b, before));
          assert_status(b.ctx, ga_stepper_step(b.st, H), GA_OK);
        }
        free(before);
      }
      assert_int_equal(failed, 1);
      assert_below(rig_distance(&a, &b), 1e-11, "after a failure");
      drop(&b);
    }
    rig_close(&a);
  }
}

/* ---- The checker ---- */

static void sled_spot(rig_spot *s, rig_random *random)
{
  rig_fill(s->q, 3, random);
  rig_fill(s->v, 3, random);
  rig_fill(s->vdot, 3, random);
  s->lambda[0] = rig_uniform(random, 1.0, 2.0), s->psi[0] = rig_uniform(random, 1.0, 2.0);
  s->x[0] = rig_uniform(random, 1.0, 2.0), s->y[0] = rig_uniform(random, 1.0, 2.0);
  s->p =
      (ga_point){rig_uniform(random, 0.0, 1.0), s->q, s->v, s->vdot, s->lambda, s->psi, s->x, s->y, 0, NULL};
}

static const struct {
  int wrong, row, col;
  double by; /* given − expected; 0: not known beforehand */
  const char *says[2];
} FOUND[] = {
    {WRONG_PHI, ROD, -1, 1e-3, {"worst is sweep in row 3, phi 0: given", "the callback for it gives"}},
    {WRONG_PHI_DOT, 7, -1, 1e-3, {"worst is sweep in row 7, phi_dot 0: given", "the callback for it gives"}},
    {WRONG_FORCE, 1, -1, 1e-3, {"worst is sweep in row 1, dynamics 1: given", "the callback for it gives"}},
    {WRONG_K, WHEEL, -1, 1e-3, {"worst is sweep in row 4, k 0", "the callback for it gives"}},
    {WRONG_STATE, FILTER, -1, 1e-3, {"worst is sweep in row 5, state 0", "the callback for it gives"}},
    {WRONG_OUTPUT, MOTOR, -1, 1e-3, {"worst is sweep in row 6, output 0", "the callback for it gives"}},
    {WRONG_D, 0, WHEEL, 1e-3, {"sweep's D in row 0, dynamics 0, column 4, psi 0", "'jacobian' gives"}},
    {WRONG_Q, 2, 2, 1e-3, {"sweep's Q in row 2, dynamics 2, column 2, coordinate 2", "'jacobian' gives"}},
    {WRONG_G, ROD, 1, 1e-3, {"sweep's G in row 3, phi 0, column 1, coordinate 1", "'jacobian' gives"}},
    {WRONG_BITS, WHEEL, -1, 0, {"sweep (without a Jacobian) in row 4, k 0", "with one it is"}},
    {WRONG_WITHOUT_RATE, ROD, -1, 1e-3, {"sweep (phi_dot not wanted) in row 3", "with it, it is"}},
    {WRONG_B_ALONE, ROD, 1, 0, {"sweep's B (asked for alone) in row 3, phi 0, column 1", "within Q it is"}},
    {ADDS_TO_D, 1, WHEEL, 0, {"sweep's D in row 1", "over another point's numbers"}},
    {ADDS_TO_Q, 0, 1, 0, {"sweep's Q in row 0, dynamics 0, column 1", "over zeros it is"}},
    {ADDS_TO_G, ROD, 0, 0, {"sweep's G in row 3, phi 0, column 0", "over zeros it is"}},
};

static void checker_finds_wrong_sweeps(void **state)
{
  rig_random random = rig_seed(0);
  (void)state;
  for (size_t i = 0; i < sizeof FOUND / sizeof *FOUND; i++) {
    sled s = GOOD;
    rig_spot spot;
    ga_check_report report;
    rig r = sled_open(&s);
    r.def.sweep = sled_sweep;
    r.def.pattern_in = IN;
    assert_status(r.ctx, ga_system_create(r.ctx, &r.def, &r.sys), GA_OK);
    sled_spot(&spot, &random);
    assert_status(r.ctx, ga_system_check(r.sys, &spot.p, 1e-6, &report), GA_OK);
    s.wrong = FOUND[i].wrong;
    assert_status(r.ctx, ga_system_check(r.sys, &spot.p, 1e-6, &report), GA_ERR_DERIVATIVE);
    const ga_check_finding *f = &report.finding[0];
    assert_int_equal(f->what, GA_CHECK_SWEEP);
    assert_int_equal(f->row, FOUND[i].row);
    assert_int_equal(f->col, FOUND[i].col);
    if (FOUND[i].by > 0.0) assert_near(f->given - f->expected, FOUND[i].by, 1e-12, "by how much");
    for (int k = 0; k < 2; k++) assert_says(r.ctx, FOUND[i].says[k]);
    int index;
    assert_int_equal(ga_context_error(r.ctx)->block, ga__block_of(r.sys, f->row, &index));
    assert_int_equal(ga_context_error(r.ctx)->index, index);
    assert_int_equal(report.n_wrong, 1);
    rig_close(&r);
  }
}

/* Zero at this point, but `jacobian` may have written there at another. */
static void checker_finds_what_is_never_written(void **state)
{
  rig_random random = rig_seed(0);
  rig_spot spot;
  sled s = GOOD;
  rig r = sled_open(&s);
  (void)state;
  r.def.sweep = sled_sweep;
  assert_status(r.ctx, ga_system_create(r.ctx, &r.def, &r.sys), GA_OK);
  sled_spot(&spot, &random);
  spot.v[0] = 0.0;
  assert_status(r.ctx, ga_system_check(r.sys, &spot.p, 1e-6, NULL), GA_OK);
  s.wrong = LEAVES_G;
  assert_status(r.ctx, ga_system_check(r.sys, &spot.p, 1e-6, NULL), GA_ERR_DERIVATIVE);
  assert_says(r.ctx, "sweep's G in row 3, phi 0, column 0, coordinate 0: over another point's numbers");
  rig_close(&r);
}

/* Failures of the sweep within the checker; one that happens elsewhere only makes it look nearer. */
static void checker_and_failing_sweeps(void **state)
{
  rig_random random = rig_seed(0);
  rig_spot spot;
  sled s = GOOD;
  rig r = sled_open(&s);
  (void)state;
  r.def.sweep = sled_sweep;
  assert_status(r.ctx, ga_system_create(r.ctx, &r.def, &r.sys), GA_OK);
  sled_spot(&spot, &random);
  s.sweeps = 0;
  assert_status(r.ctx, ga_system_check(r.sys, &spot.p, 1e-6, NULL), GA_OK);
  assert_int_equal(s.sweeps, 7);
  for (s.fault_at = 1; s.fault_at <= 7; s.fault_at++) {
    s.sweeps = 0;
    s.code = -1;
    const ga_status status = ga_system_check(r.sys, &spot.p, 1e-6, NULL);
    assert_status(r.ctx, status, s.fault_at == 4 || s.fault_at == 6 ? GA_OK : GA_ERR_CALLBACK);
    if (status) assert_says(r.ctx, "the callback 'sweep' failed (it returned -1)");
  }
  /* nowhere but here */
  s = (sled){.fn = SWEEP_ALONE, .code = 1, .after = spot.p.t + 1e-9, .wrong = ADDS_TO_Q};
  assert_status(r.ctx, ga_system_check(r.sys, &spot.p, 1e-6, NULL), GA_ERR_DERIVATIVE);
  assert_says(r.ctx, "sweep's Q in row 0");
  s = (sled){.fn = SWEEP_ALONE, .value = NAN}; /* in a residual that the callback gives as a number */
  assert_status(r.ctx, ga_system_check(r.sys, &spot.p, 1e-6, NULL), GA_ERR_DERIVATIVE);
  assert_says(r.ctx, "sweep in row 1, dynamics 1: given nan");
  rig_close(&r);
}

static void checker_without_memory(void **state)
{
  rig_random random = rig_seed(0);
  rig_spot spot;
  sled s = GOOD;
  rig r = sled_open(&s);
  (void)state;
  r.def.sweep = sled_sweep;
  assert_status(r.ctx, ga_system_create(r.ctx, &r.def, &r.sys), GA_OK);
  sled_spot(&spot, &random);
  rig_memory.count = 0;
  assert_status(r.ctx, ga_system_check(r.sys, &spot.p, 1e-6, NULL), GA_OK);
  const long total = rig_memory.count, live = rig_memory.live;
  for (long n = 1; n <= total; n++) {
    rig_memory.count = 0, rig_memory.fail_at = n;
    assert_status(r.ctx, ga_system_check(r.sys, &spot.p, 1e-6, NULL), GA_ERR_MEMORY);
    assert_says(r.ctx, n == total ? "out of memory for checking a sweep" : "out of memory for");
    assert_int_equal(rig_memory.live, live);
  }
  rig_memory.fail_at = 0;
  rig_close(&r);
}

/* ---- Patterns by array ---- */

static void pattern_in_changes_nothing(void **state)
{
  (void)state;
  for (int i = 0; i < N_WAYS; i++)
    for (int swept = 0; swept < 2; swept++) {
      sled s = GOOD;
      rig a = sled_open(&s);
      go_by(&a, &WAYS[i]);
      if (swept) a.def.sweep = sled_sweep;
      rig b = a;
      b.def.pattern_in = IN;
      rig_build(&a);
      rig_build(&b);
      assert_true(ga__matrix_in_use(b.st)->assembly.n_direct <
                  ga__matrix_in_use(a.st)->assembly.n_direct); /* but it is less work */
      sled_start(&a);
      sled_start(&b);
      rig_steps(&a, H, 100);
      rig_steps(&b, H, 100);
      assert_int_equal(ga_stepper_stats(a.st)->iterations, ga_stepper_stats(b.st)->iterations);
      assert_below(rig_distance(&a, &b), 1e-11, "pattern_in");
      drop(&b);
      rig_close(&a);
    }
}

/* Copied at creation, as the rest of the pattern. */
static void pattern_in_is_copied(void **state)
{
  rig_random random = rig_seed(0);
  rig_spot spot;
  sled s = GOOD;
  unsigned char in[ENTRIES];
  rig r = sled_open(&s);
  (void)state;
  memcpy(in, IN, sizeof in);
  r.def.pattern_in = in;
  assert_status(r.ctx, ga_system_create(r.ctx, &r.def, &r.sys), GA_OK);
  assert_null(r.sys->def.pattern_in);
  memset(in, 0, sizeof in);
  sled_spot(&spot, &random);
  assert_status(r.ctx, ga_system_check(r.sys, &spot.p, 1e-6, NULL), GA_OK);
  rig_close(&r);
}

static void checker_finds_wrong_pattern_in(void **state)
{
  static const struct {
    int entry;
    unsigned char lost, added;
    const char *says;
  } LIE[] = {{0, D, 0, "pattern_in leaves out D there, so 0, D is"},
             {0, 0, GA_NO_MASS, "pattern_in has GA_NO_MASS there, so 0, D by vdot is"},
             {8, Q, 0, "pattern_in leaves out Q there, so 0, Q is"},
             {11, G, 0, "pattern_in leaves out G there, so 0, G is"},
             {19, D, 0, "the pattern in row 6, output 0, column 5, state 0: pattern_in leaves out D"}};
  rig_random random = rig_seed(0);
  (void)state;
  for (size_t i = 0; i < sizeof LIE / sizeof *LIE; i++)
    for (int how = 0; how < 3; how++) { /* by differences, with a Jacobian, with a sweep */
      rig_spot spot;
      sled s = GOOD;
      unsigned char in[ENTRIES];
      ga_check_report report;
      rig r = sled_open(&s);
      memcpy(in, IN, sizeof in);
      in[LIE[i].entry] = (unsigned char)((in[LIE[i].entry] & ~LIE[i].lost) | LIE[i].added);
      r.def.pattern_in = in;
      if (how == 0) r.def.jacobian = NULL;
      if (how == 2) r.def.sweep = sled_sweep;
      assert_status(r.ctx, ga_system_create(r.ctx, &r.def, &r.sys), GA_OK);
      sled_spot(&spot, &random);
      assert_status(r.ctx, ga_system_check(r.sys, &spot.p, 1e-6, &report), GA_ERR_DERIVATIVE);
      assert_int_equal(report.n_wrong, 1);
      assert_int_equal(report.finding[0].what, GA_CHECK_PATTERN);
      assert_int_equal(report.finding[0].row, ROW[LIE[i].entry]);
      assert_int_equal(report.finding[0].col, COL[LIE[i].entry]);
      assert_says(r.ctx, LIE[i].says);
      rig_close(&r);
    }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(sweeps_give_the_same_run),
                                     cmocka_unit_test(examples_by_relay),
                                     cmocka_unit_test(sweep_without_callbacks_is_refused),
                                     cmocka_unit_test(failures_are_reported_as_without_a_sweep),
                                     cmocka_unit_test(failures_of_the_sweep_alone),
                                     cmocka_unit_test(each_sweep_fails),
                                     cmocka_unit_test(checker_finds_wrong_sweeps),
                                     cmocka_unit_test(checker_finds_what_is_never_written),
                                     cmocka_unit_test(checker_and_failing_sweeps),
                                     cmocka_unit_test(checker_without_memory),
                                     cmocka_unit_test(pattern_in_changes_nothing),
                                     cmocka_unit_test(pattern_in_is_copied),
                                     cmocka_unit_test(checker_finds_wrong_pattern_in)};
  return cmocka_run_group_tests_name("core: sweeps", tests, rig_hook_klu, NULL);
}
