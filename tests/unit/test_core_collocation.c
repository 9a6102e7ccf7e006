/* Collocation: its rules, steps that are taken back, saved, fail or allocate nothing, dense output, error
 * control, and what is refused. Orders are measured in tests/verify. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "core/collocation.h"
#include "core_rig.h"

static const int ORDERS[] = {3, 4, 5, 6, 7, 8, 10};
enum { N_ORDERS = sizeof ORDERS / sizeof *ORDERS };
static const char *const PROBLEMS[] = {"heavy_top", "heavy_top_se3", "mechatronic", "rolling_disk",
                                       "andrews31"};
enum { N_PROBLEMS = sizeof PROBLEMS / sizeof *PROBLEMS };

static rig open_colloc(const char *name, int order)
{
  rig r = rig_open(name);
  r.opts.method = GA_COLLOCATION;
  r.opts.order = order;
  rig_build(&r);
  return r;
}

/* Every node integrates polynomials up to its stage order, the last one up to the order of the rule: this
 * determines the nodes. */
static void rules(void **state)
{
  (void)state;
  ga__colloc_rule r;
  for (int i = 0; i < N_ORDERS; i++) {
    assert_true(ga__colloc_rule_make(ORDERS[i], &r));
    for (int m = 1; m <= r.stages; m++)
      for (int k = 0; k < (m == r.stages ? r.order : r.stages + 1 - r.first); k++) {
        double sum = 0.0;
        for (int j = r.first; j <= r.stages; j++) sum += r.A[m][j] * (k ? pow(r.c[j], k) : 1.0);
        if (!(fabs(sum - pow(r.c[m], k + 1) / (k + 1)) < 1e-13))
          fail_msg("order %d, node %d, power %d: %g", ORDERS[i], m, k, sum);
      }
    for (int m = 1; m <= r.stages; m++)
      for (int j = 1; j <= r.stages; j++) {
        double one = 0.0;
        for (int k = 1; k <= r.stages; k++) one += r.inverse[m][k] * r.A[k][j];
        assert_true(fabs(one - (m == j)) < 1e-12);
      }
  }
  for (int order = -1; order <= 12; order++)
    assert_int_equal(ga__colloc_rule_make(order, &r), (order >= 3 && order <= 8) || order == 10);
}

/* vdot = −q exactly by its Padé approximation: order 4 of e^{ih}, M = 2, is (1 + z/2 + z²/12)/(1 − z/2 +
 * z²/12).
 */
static int unit_mass(void *user, const ga_point *p, double *out)
{
  (void)user;
  out[0] = p->vdot[0];
  return 0;
}
static int unit_spring(void *user, const ga_point *p, double *out)
{
  (void)user;
  out[0] = -p->q[0];
  return 0;
}

static void a_step_by_hand(void **state)
{
  static const ga_factor line = {GA_RN, 1, GA_LEFT};
  const double h = 0.5, q = 1.0, v = 0.0;
  (void)state;
  rig r = rig_open(NULL);
  ga_start_opts start = ga_start_defaults();
  r.def.n_factors = 1, r.def.factors = &line, r.def.mass = unit_mass, r.def.force = unit_spring;
  r.opts.method = GA_COLLOCATION, r.opts.order = 4;
  r.opts.newton.tol = 1e-15, r.opts.newton.max_iterations = 60;
  start.h = h;
  rig_build(&r);
  assert_status(r.ctx, ga_stepper_start(r.st, &start, 0, &q, &v, NULL, NULL, NULL, NULL), GA_OK);
  assert_status(r.ctx, ga_stepper_step(r.st, h), GA_OK);
  /* numerator and denominator at z = ih: a ± i b with a = 1 − h²/12, b = h/2 */
  const double a = 1.0 - h * h / 12.0, b = 0.5 * h, d = a * a + b * b;
  assert_true(fabs(ga_stepper_state(r.st)->q[0] - (a * a - b * b) / d) < 1e-14);
  assert_true(fabs(ga_stepper_state(r.st)->v[0] + 2.0 * a * b / d) < 1e-14);
  rig_close(&r);
}

/* Two rigs share the count of memory. */
static void close_both(rig *a, rig *b)
{
  rig *const both[] = {a, b};
  for (int i = 0; i < 2; i++) {
    ga_stepper_destroy(&both[i]->st);
    ga_system_destroy(&both[i]->sys);
    ga_context_destroy(&both[i]->ctx);
  }
}

static void same_bits(const ga_stepper *a, const ga_stepper *b, const char *what)
{
  for (size_t i = 0; i < a->state_length; i++)
    if (memcmp(&a->now.block[i], &b->now.block[i], sizeof(double)) != 0)
      fail_msg("%s differs in number %zu of %zu: %.17g, %.17g", what, i, a->state_length, a->now.block[i],
               b->now.block[i]);
}

/* What follows on a step that is taken back has the same bits as without it; one that fails changes nothing.
 */
static void taken_back(void **state)
{
  (void)state;
  for (int i = 0; i < N_PROBLEMS; i++)
    for (int k = 0; k < N_ORDERS; k += 3) {
      rig a = open_colloc(PROBLEMS[i], ORDERS[k]), b = open_colloc(PROBLEMS[i], ORDERS[k]);
      const double h = 0.5 * a.problem->h;
      rig_start(&a, h), rig_start(&b, h);
      rig_steps(&a, h, 3), rig_steps(&b, h, 3);
      assert_status(b.ctx, ga_stepper_step(b.st, 0.7 * h), GA_OK);
      assert_status(b.ctx, ga_stepper_undo(b.st), GA_OK);
      same_bits(a.st, b.st, "a state after undo");
      rig_steps(&a, h, 2), rig_steps(&b, h, 2);
      same_bits(a.st, b.st, PROBLEMS[i]);
      double *before = calloc(b.st->state_length, sizeof(double));
      memcpy(before, b.st->now.block, b.st->state_length * sizeof(double));
      const ga_status status = ga_stepper_step(b.st, 1e6 * h);
      assert_true(status != GA_OK);
      assert_memory_equal(before, b.st->now.block, b.st->state_length * sizeof(double));
      free(before);
      close_both(&a, &b);
    }
}

/* Short steps share factors, over steps that are taken back too, with the same bits as without these; and
 * lead to what own factors of every step lead to. */
static void shared_factors(void **state)
{
  static const char *const name[] = {"andrews31", "mechatronic", "heavy_top"};
  enum { STEPS = 40 };
  (void)state;
  for (size_t i = 0; i < sizeof name / sizeof *name; i++)
    for (int order = 4; order <= 6; order++) {
      rig a = open_colloc(name[i], order), b = open_colloc(name[i], order), c = rig_open(name[i]);
      c.opts = a.opts;
      c.opts.newton.reuse = GA_FRESH_STEP;
      rig_build(&c);
      const double h = 0.02 * a.problem->h;
      rig_start(&a, h), rig_start(&b, h), rig_start(&c, h);
      rig_steps(&c, h, STEPS);
      for (int k = 0; k < STEPS; k++) {
        const double other = (k % 4 == 0 ? 1.0 : k % 4 == 1 ? 0.3 : k % 4 == 2 ? 1.3 : 30.0) * h;
        rig_steps(&a, h, 1);
        if (!ga_stepper_step(b.st, other)) assert_status(b.ctx, ga_stepper_undo(b.st), GA_OK);
        rig_steps(&b, h, 1);
        same_bits(a.st, b.st, name[i]);
      }
      const long stages = (order + 1) / 2, made = ga_stepper_stats(a.st)->factorisations;
      if (!(made < stages * STEPS / 2)) fail_msg("%s, order %d: %ld factors", name[i], order, made);
      assert_true(ga_stepper_stats(c.st)->factorisations >= stages * STEPS);
      for (int k = 0; k < a.st->sys->nv; k++)
        if (!(fabs(a.st->now.v[k] - c.st->now.v[k]) < 1e-9 * a.st->size_v))
          fail_msg("%s, order %d: v[%d] %g, %g", name[i], order, k, a.st->now.v[k], c.st->now.v[k]);
      close_both(&a, &b);
      close_both(&c, &c);
    }
}

/* Callbacks of these problems write to nothing: several threads may call them. */
static ga_status share(void *user, ga_context *ctx, void **work)
{
  (void)ctx;
  *work = user;
  return GA_OK;
}
static void unshare(void *work)
{
  (void)work;
}

static rig open_in_threads(const char *name, int order, int threads)
{
  rig r = rig_open(name);
  r.def.work_create = share, r.def.work_destroy = unshare;
  r.opts.method = GA_COLLOCATION, r.opts.order = order, r.opts.threads = threads;
  rig_build(&r);
  return r;
}

/* Any number of threads gives the same bits and the same counts, behind steps taken back too. */
static void in_threads(void **state)
{
  (void)state;
  for (int i = 0; i < N_PROBLEMS; i++)
    for (int order = 4; order <= 10; order += 2)
      for (int threads = 2; threads <= 6; threads += order == 10 ? 1 : 2) {
        rig a = open_in_threads(PROBLEMS[i], order, 1), b = open_in_threads(PROBLEMS[i], order, threads);
        const double h = 0.3 * a.problem->h;
        assert_int_equal(ga__helpers_count(a.st->factors.helpers), 0);
        assert_int_equal(ga__helpers_count(b.st->factors.helpers),
                         (threads < order / 2 ? threads : order / 2) - 1);
        rig_start(&a, h), rig_start(&b, h);
        for (int k = 0; k < 8; k++) {
          rig_steps(&a, h, 1);
          if (k % 3 == 0 && !ga_stepper_step(b.st, 1.2 * h))
            assert_status(b.ctx, ga_stepper_undo(b.st), GA_OK);
          rig_steps(&b, h, 1);
          same_bits(a.st, b.st, PROBLEMS[i]);
        }
        close_both(&a, &b);
      }
  rig plain = rig_open("andrews31"); /* without work space its callbacks are called by one thread */
  plain.opts.method = GA_COLLOCATION, plain.opts.threads = 4;
  rig_build(&plain);
  assert_int_equal(ga__helpers_count(plain.st->factors.helpers), 0);
  rig_close(&plain);
}

static int spring_until(void *user, const ga_point *p, double *out)
{
  (void)user;
  for (int i = 0; i < 6; i++) out[i] = -(i + 1.0) * p->q[i];
  return p->t > 0.55 && p->t < 2.0 ? 3 : p->t >= 2.0 ? -5 : 0;
}
static int unit_masses(void *user, const ga_point *p, double *out)
{
  (void)user;
  memcpy(out, p->vdot, 6 * sizeof(double));
  return 0;
}

/* A callback that fails in a thread is reported as by one thread, and leaves the state as it was. */
static void failures_in_threads(void **state)
{
  static const ga_factor line = {GA_RN, 6, GA_LEFT};
  static const double q[6] = {1, 2, 3, 4, 5, 6}, v[6] = {0}, h = 0.2;
  (void)state;
  rig r[2];
  for (int k = 0; k < 2; k++) {
    ga_start_opts start = ga_start_defaults();
    start.h = h;
    r[k] = rig_open(NULL);
    r[k].def.n_factors = 1, r[k].def.factors = &line;
    r[k].def.mass = unit_masses, r[k].def.force = spring_until;
    r[k].def.work_create = share, r[k].def.work_destroy = unshare;
    r[k].opts.method = GA_COLLOCATION, r[k].opts.order = 8, r[k].opts.threads = 1 + 2 * k;
    rig_build(&r[k]);
    assert_status(r[k].ctx, ga_stepper_start(r[k].st, &start, 0, q, v, NULL, NULL, NULL, NULL), GA_OK);
    assert_int_equal(ga__helpers_count(r[k].st->factors.helpers), 2 * k);
    rig_steps(&r[k], h, 2);
    assert_status(r[k].ctx, ga_stepper_step(r[k].st, h), GA_RETRY_CALLBACK);
  }
  assert_string_equal(ga_context_error(r[0].ctx)->text, ga_context_error(r[1].ctx)->text);
  same_bits(r[0].st, r[1].st, "behind a failure");
  for (int k = 0; k < 2; k++) assert_status(r[k].ctx, ga_stepper_step(r[k].st, 2.0), GA_RETRY_CALLBACK);
  assert_string_equal(ga_context_error(r[0].ctx)->text, ga_context_error(r[1].ctx)->text);
  for (int k = 0; k < 2; k++) rig_steps(&r[k], 0.1, 1);
  same_bits(r[0].st, r[1].st, "a shorter step behind a failure");
  close_both(&r[0], &r[1]);
}

static void saved_and_loaded(void **state)
{
  (void)state;
  for (int i = 0; i < N_PROBLEMS; i++) {
    rig a = open_colloc(PROBLEMS[i], 8), b = open_colloc(PROBLEMS[i], 8);
    const double h = 0.5 * a.problem->h;
    rig_start(&a, h);
    rig_steps(&a, h, 3);
    double *saved = calloc(ga_stepper_saved_size(a.st), sizeof *saved);
    assert_status(a.ctx, ga_stepper_save(a.st, saved), GA_OK);
    assert_status(b.ctx, ga_stepper_load(b.st, saved), GA_OK);
    rig_steps(&a, h, 3), rig_steps(&b, h, 3);
    same_bits(a.st, b.st, PROBLEMS[i]);
    free(saved);
    close_both(&a, &b);
  }
}

static void no_allocation(void **state)
{
  (void)state;
  for (int i = 0; i < N_PROBLEMS; i++)
    for (int order = 4; order <= 8; order += 4) {
      rig r = rig_open(PROBLEMS[i]);
      r.opts.method = GA_COLLOCATION, r.opts.order = order, r.opts.lu = GA_LU_DENSE;
      rig_build(&r);
      const double h = 0.3 * r.problem->h;
      rig_start(&r, h);
      const long before = rig_memory.count;
      rig_steps(&r, h, 20);
      assert_int_equal(rig_memory.count, before);
      rig_close(&r);
    }
}

/* Within a step, against steps that end there: far closer than the ends of a step of order 2. */
static void dense(void **state)
{
  (void)state;
  for (int i = 0; i < N_PROBLEMS; i++) {
    rig a = open_colloc(PROBLEMS[i], 8), b = open_colloc(PROBLEMS[i], 8);
    const double h = a.problem->h, s = 0.37;
    double q[512], v[512], vdot[512], x[64], d[512];
    rig_start(&a, h), rig_start(&b, h);
    rig_steps(&a, h, 3), rig_steps(&b, h, 2);
    const double t = ga_stepper_state(b.st)->t + s * h;
    rig_steps(&b, s * h, 1);
    assert_status(a.ctx, ga_stepper_interpolate(a.st, t, q, v, vdot, NULL, NULL, x, NULL), GA_OK);
    const ga_state *at = ga_stepper_state(b.st);
    ga_group_difference(a.sys->group, d, at->q, q);
    assert_true(ga__max_abs(d, a.sys->nv, NULL) < 1e-7 * (1.0 + ga__max_abs(at->q, a.sys->nq, NULL)));
    for (int k = 0; k < a.sys->nv; k++) d[k] = v[k] - at->v[k];
    assert_true(ga__max_abs(d, a.sys->nv, NULL) < 1e-6 * (1.0 + ga__max_abs(at->v, a.sys->nv, NULL)));
    for (int k = 0; k < a.sys->nv; k++) d[k] = vdot[k] - at->vdot[k];
    assert_true(ga__max_abs(d, a.sys->nv, NULL) < 1e-4 * (1.0 + ga__max_abs(at->vdot, a.sys->nv, NULL)));
    for (int k = 0; k < a.sys->size[GA_BLOCK_X]; k++) assert_true(fabs(x[k] - at->x[k]) < 1e-7);
    close_both(&a, &b);
  }
}

/* A state within the last step. */
typedef struct inside {
  double q[RIG_MOST], v[RIG_MOST], vdot[RIG_MOST], lambda[RIG_MOST], psi[RIG_MOST], x[RIG_MOST], y[RIG_MOST];
} inside;

static ga_status look_inside(const rig *r, double t, inside *at)
{
  return ga_stepper_interpolate(r->st, t, at->q, at->v, at->vdot, at->lambda, at->psi, at->x, at->y);
}

/* Largest residual of M vdot = f and y = o at a state, over the largest inertia force and output. */
static double imbalance(const rig *r, double t, const inside *at)
{
  const ga_system *sys = r->sys;
  const ga_point p = {t, at->q, at->v, at->vdot, at->lambda, at->psi, at->x, at->y, 0, NULL};
  double inertia[RIG_MOST], force[RIG_MOST], out[RIG_MOST], most = 0.0;
  assert_status(r->ctx, ga__call(sys, GA__MASS, &p, inertia), GA_OK);
  assert_status(r->ctx, ga__call(sys, GA__FORCE, &p, force), GA_OK);
  assert_status(r->ctx, ga__call(sys, GA__OUTPUT, &p, out), GA_OK);
  const double size = 1.0 + ga__max_abs(inertia, sys->nv, NULL);
  for (int k = 0; k < sys->nv; k++) most = fmax(most, fabs(inertia[k] - force[k]) / size);
  for (int k = 0; k < sys->size[GA_BLOCK_Y]; k++)
    most = fmax(most, fabs(out[k] - at->y[k]) / (1.0 + fabs(out[k])));
  return most;
}

/* Accelerations, forces and outputs within a step belong to q, v and x there, with all orders; a call that
 * asks for some of them gets the same. */
static void balanced_inside(void **state)
{
  (void)state;
  for (int i = 0; i < N_PROBLEMS; i++)
    for (int k = 0; k < N_ORDERS; k++) {
      rig r = open_colloc(PROBLEMS[i], ORDERS[k]);
      const double h = 0.5 * r.problem->h;
      inside at, again;
      rig_start(&r, h);
      rig_steps(&r, h, 3);
      for (int j = 1; j < 8; j++) {
        const double t = ga_stepper_state(r.st)->t - (1.0 - 0.125 * j) * h;
        assert_status(r.ctx, look_inside(&r, t, &at), GA_OK);
        assert_below(imbalance(&r, t, &at), 1e-8, PROBLEMS[i]);
        assert_status(
            r.ctx, ga_stepper_interpolate(r.st, t, NULL, NULL, NULL, again.lambda, again.psi, NULL, again.y),
            GA_OK);
        assert_memory_equal(at.lambda, again.lambda, (size_t)r.sys->size[GA_BLOCK_LAMBDA] * sizeof(double));
        assert_memory_equal(at.psi, again.psi, (size_t)r.sys->size[GA_BLOCK_PSI] * sizeof(double));
        assert_memory_equal(at.y, again.y, (size_t)r.sys->size[GA_BLOCK_Y] * sizeof(double));
      }
      rig_close(&r);
    }
}

/* Looks within steps leave no trace in the run, nor in what it counts. */
static void looks_leave_no_trace(void **state)
{
  static const char *const name[] = {"heavy_top", "mechatronic", "rolling_disk"};
  (void)state;
  for (size_t i = 0; i < sizeof name / sizeof *name; i++)
    for (int order = 4; order <= 8; order += 4) {
      rig a = open_colloc(name[i], order), b = open_colloc(name[i], order);
      const double h = 0.4 * a.problem->h;
      inside at;
      rig_start(&a, h), rig_start(&b, h);
      for (int k = 0; k < 8; k++) {
        rig_steps(&a, h, 1), rig_steps(&b, h, 1);
        const long before = rig_memory.count;
        for (int j = 1; j < 4; j++)
          assert_status(b.ctx, look_inside(&b, ga_stepper_state(b.st)->t - 0.3 * j * h, &at), GA_OK);
        assert_int_equal(rig_memory.count, before);
      }
      same_bits(a.st, b.st, name[i]);
      const ga_stats *m = ga_stepper_stats(a.st), *n = ga_stepper_stats(b.st);
      assert_int_equal(m->residuals, n->residuals);
      assert_int_equal(m->solves, n->solves);
      assert_int_equal(m->constraint_jacobians, n->constraint_jacobians);
      close_both(&a, &b);
    }
}

/* A callback that cannot be evaluated within a step: what the polynomials of the step say is shown, and
 * nothing is reported; one that ends the run ends the look too. */
static void failures_inside(void **state)
{
  static const ga_factor line = {GA_RN, 6, GA_LEFT};
  static const double q[6] = {1, 2, 3, 4, 5, 6}, v[6] = {0};
  (void)state;
  rig r = rig_open(NULL);
  ga_start_opts start = ga_start_defaults();
  start.h = 0.2;
  r.def.n_factors = 1, r.def.factors = &line, r.def.mass = unit_masses, r.def.force = spring_until;
  r.opts.method = GA_COLLOCATION, r.opts.order = 4;
  rig_build(&r);
  assert_status(r.ctx, ga_stepper_start(r.st, &start, 0, q, v, NULL, NULL, NULL, NULL), GA_OK);
  rig_steps(&r, 0.2, 2);
  inside at, other;
  assert_status(r.ctx, look_inside(&r, 0.3, &at), GA_OK);
  for (int k = 0; k < 2; k++) { /* the same place, at a time at which the spring fails */
    const double moved = k ? 2.0 : 0.3;
    r.st->next.scalar[GA__T] += moved, r.st->now.scalar[GA__T] += moved;
    const ga_status status = look_inside(&r, 0.3 + moved, &other);
    r.st->next.scalar[GA__T] -= moved, r.st->now.scalar[GA__T] -= moved;
    if (k == 0) assert_string_equal(ga_context_error(r.ctx)->text, "");
    assert_status(r.ctx, status, k ? GA_ERR_CALLBACK : GA_OK);
    for (int j = 0; k == 0 && j < 6; j++) {
      assert_near(other.q[j], at.q[j], 1e-15, "q");
      assert_near(other.vdot[j], at.vdot[j], 1e-2, "vdot");
      assert_true(other.vdot[j] != at.vdot[j]);
    }
  }
  rig_close(&r);
}

/* ---- Errors of forces ---- */

typedef struct estimate {
  double q, z[GA_N_BLOCKS]; /* over what the step is really off by; 0: rounding */
  double size;              /* of that of q, relative to it */
} estimate;

/* The fifth of equal steps, compared with ten steps of order 10 from the state at its beginning. */
static estimate estimate_of(const char *name, int order, double h)
{
  rig a = open_colloc(name, order), b = open_colloc(name, 10);
  const ga_system *sys = a.sys;
  double e_q[RIG_MOST], e[GA_N_BLOCKS][RIG_MOST], d[RIG_MOST];
  estimate out = {.q = 0.0};
  rig_start(&a, h);
  rig_steps(&a, h, 4);
  const ga_state *s = ga_stepper_state(a.st);
  ga_start_opts o = ga_start_defaults();
  o.h = 0.1 * h;
  assert_status(b.ctx, ga_stepper_start(b.st, &o, s->t, s->q, s->v, s->x, s->lambda, s->psi, NULL), GA_OK);
  rig_steps(&b, 0.1 * h, 10);
  rig_steps(&a, h, 1);
  const ga_state *is = ga_stepper_state(a.st), *right = ga_stepper_state(b.st);
  assert_status(a.ctx, ga_stepper_error(a.st, e_q, NULL, NULL), GA_OK);
  assert_status(
      a.ctx, ga_stepper_force_error(a.st, e[GA_BLOCK_V], e[GA_BLOCK_LAMBDA], e[GA_BLOCK_PSI], e[GA_BLOCK_Y]),
      GA_OK);
  ga_group_difference(sys->group, d, right->q, is->q);
  out.q = ga__max_abs(e_q, sys->nv, NULL) / ga__max_abs(d, sys->nv, NULL);
  out.size = ga__max_abs(e_q, sys->nv, NULL) / (1.0 + ga__max_abs(right->q, sys->nq, NULL));
  const double *const value[GA_N_BLOCKS][2] = {[GA_BLOCK_V] = {is->vdot, right->vdot},
                                               [GA_BLOCK_LAMBDA] = {is->lambda, right->lambda},
                                               [GA_BLOCK_PSI] = {is->psi, right->psi},
                                               [GA_BLOCK_Y] = {is->y, right->y}};
  for (int k = 0; k < GA_N_BLOCKS; k++) {
    const int n = value[k][0] ? sys->size[k] : 0;
    for (int i = 0; i < n; i++) d[i] = value[k][0][i] - value[k][1][i];
    const double off = ga__max_abs(d, n, NULL);
    if (n > 0 && off > 1e-11 * ga__max_abs(value[k][1], n, NULL)) out.z[k] = ga__max_abs(e[k], n, NULL) / off;
  }
  close_both(&a, &b);
  return out;
}

/* They are errors of a motion of about five periods, 30/(hω) times those of a step, as those of positions:
 * where all parts of the motion have the same frequency, the same factor; elsewhere not smaller than errors.
 */
static void estimates_of_forces(void **state)
{
  static const struct {
    const char *name;
    double h;    /* [s] */
    int uniform; /* 1: one frequency */
  } of[] = {{"slider_crank", 8e-3, 1},
            {"andrews31", 6e-4, 0},
            {"heavy_top_left", 6e-3, 0},
            {"rolling_disk", 8e-2, 0},
            {"spring_mass", 8e-2, 0}};
  (void)state;
  for (size_t i = 0; i < sizeof of / sizeof *of; i++)
    for (int order = 4; order <= 8; order += 2) {
      const estimate at = estimate_of(of[i].name, order, of[i].h);
      for (int k = 0; k < GA_N_BLOCKS; k++) {
        const double least = of[i].uniform ? 0.5 * at.q : 2.0, most = of[i].uniform ? 2.0 * at.q : INFINITY;
        if (at.z[k] > 0.0 && !(at.z[k] > least && at.z[k] < most))
          fail_msg("%s, order %d, block %d: estimate over error %g, of positions %g", of[i].name, order, k,
                   at.z[k], at.q);
      }
    }
  rig plain = rig_open("pendulum");
  rig_build(&plain);
  rig_start(&plain, 1e-3);
  assert_status(plain.ctx, ga_stepper_force_error(plain.st, NULL, NULL, NULL, NULL), GA_ERR_ORDER);
  rig_steps(&plain, 1e-3, 1);
  assert_status(plain.ctx, ga_stepper_force_error(plain.st, NULL, NULL, NULL, NULL), GA_ERR_ARGUMENT);
  assert_says(plain.ctx, "order 2");
  assert_int_equal(ga_stepper_force_error(NULL, NULL, NULL, NULL, NULL), GA_ERR_ARGUMENT);
  rig_close(&plain);
}

/* Steps up to t of a run to t_end. */
static long steps_until(double t, double t_end)
{
  rig r = open_colloc("tumbling_top", 6);
  ga_simulate_opts o = ga_simulate_defaults();
  ga_simulator *sim = NULL;
  const ex_problem *p = r.problem;
  long n = 0;
  o.t_end = t_end, o.h_max = 0.1, o.rtol = 1e-7, o.atol = 1e-9;
  assert_status(r.ctx, ga_simulator_create(r.ctx, r.st, &o, &sim), GA_OK);
  assert_status(r.ctx, ga_simulator_start(sim, NULL, 0, p->q0, p->v0, NULL, NULL, NULL, NULL), GA_OK);
  for (; ga_stepper_state(r.st)->t < t * (1.0 - 1e-9); n++)
    assert_true(ga_simulator_step(sim) == GA_OK || ga_simulator_finished(sim));
  ga_simulator_destroy(&sim);
  rig_close(&r);
  return n;
}

/* Errors add up over the run, or over five periods of it: a run of a fifth of a period makes fewer steps than
 * the beginning of a long one; longer runs than that make the same. */
static void short_runs_take_fewer_steps(void **state)
{
  (void)state;
  const long brief = steps_until(0.2, 0.2), of_long = steps_until(0.2, 20.0),
             of_longer = steps_until(0.2, 40.0);
  if (!(brief < of_long && of_long == of_longer)) fail_msg("%ld, %ld, %ld steps", brief, of_long, of_longer);
}

static void refused(void **state)
{
  static const int wrong[] = {-1, 1, 2, 9, 11, 100};
  (void)state;
  rig r = rig_open("pendulum");
  assert_status(r.ctx, ga_system_create(r.ctx, &r.def, &r.sys), GA_OK);
  r.opts.method = GA_COLLOCATION;
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    r.opts.order = wrong[i];
    assert_int_equal(ga_stepper_create(r.ctx, r.sys, &r.opts, &r.st), GA_ERR_ARGUMENT);
    assert_says(r.ctx, "order");
  }
  r.opts.method = GA_STABILIZED, r.opts.order = 4;
  assert_int_equal(ga_stepper_create(r.ctx, r.sys, &r.opts, &r.st), GA_ERR_ARGUMENT);
  rig_close(&r);
}

/* ---- Error control ---- */

typedef struct outcome {
  double error;
  long steps;
} outcome;

static outcome control(const char *name, int order, double tol)
{
  rig r = open_colloc(name, order);
  const ex_problem *p = r.problem;
  ga_simulate_opts o = ga_simulate_defaults();
  ga_simulator *sim = NULL;
  o.t_end = p->reference.t;
  o.rtol = o.rtol_v = o.rtol_x = tol, o.atol = o.atol_v = o.atol_x = 0.01 * tol;
  assert_status(r.ctx, ga_simulator_create(r.ctx, r.st, &o, &sim), GA_OK);
  assert_status(r.ctx,
                ga_simulator_start(sim, NULL, 0, p->q0, p->v0, p->x0, p->lambda_guess, p->psi_guess, NULL),
                GA_OK);
  assert_status(r.ctx, ga_simulator_run(sim), GA_OK);
  outcome out = {0.0, ga_simulator_stats(sim)->steps};
  for (int i = 0; i < r.sys->nq; i++)
    out.error = fmax(out.error, fabs(ga_stepper_state(r.st)->q[i] - p->reference.q[i]));
  ga_simulator_destroy(&sim);
  rig_close(&r);
  return out;
}

/* The error follows the tolerance, and is not far above it. */
static void errors_follow_tolerances(void **state)
{
  static const struct {
    const char *name;
    double most; /* error over tolerance */
  } of[] = {{"heavy_top", 5},   {"andrews", 5},     {"slider_crank", 5}, {"rolling_disk", 10},
            {"spring_mass", 1}, {"mechatronic", 1}, {"car_axis", 2}};
  (void)state;
  for (size_t i = 0; i < sizeof of / sizeof *of; i++)
    for (int order = 0; order <= 8; order += 4) {
      const outcome loose = control(of[i].name, order, 1e-4), tight = control(of[i].name, order, 1e-8);
      if (!(loose.error < 1e-4 * of[i].most && tight.error < 1e-8 * of[i].most))
        fail_msg("%s, order %d: errors %g, %g", of[i].name, order, loose.error, tight.error);
      if (!(tight.error < 1e-2 * loose.error))
        fail_msg("%s, order %d: error %g at 1e-8 after %g at 1e-4", of[i].name, order, tight.error,
                 loose.error);
    }
}

/* A run in halved steps has the order of the run that it follows. */
static void followers(void **state)
{
  static const double tolerance[] = {1e-3, 1e-5, 1e-7};
  static const int begins[] = {6, 8, 8};
  (void)state;
  for (int order = 0; order <= 6; order += 6)
    for (int i = 0; i < 3; i++) {
      rig a = open_colloc("andrews", order), b = open_colloc("andrews", order);
      ga_simulate_opts o = ga_simulate_defaults();
      ga_follower_opts f = ga_follower_defaults();
      ga_simulator *sim = NULL;
      ga_follower *follower = NULL;
      o.t_end = 1.0;
      o.rtol = tolerance[i];
      o.atol = 0.01 * tolerance[i];
      f.leader = &o;
      assert_status(a.ctx, ga_simulator_create(a.ctx, a.st, &o, &sim), GA_OK);
      assert_status(b.ctx, ga_follower_create(b.ctx, b.st, &f, &follower), GA_OK);
      assert_int_equal(a.st->order, order ? order : begins[i]);
      assert_int_equal(b.st->order, a.st->order);
      ga_follower_destroy(&follower);
      ga_simulator_destroy(&sim);
      close_both(&a, &b);
    }
}

/* Stiff equations take steps for the slow motion, not for the fast one. */
static void stiff(void **state)
{
  (void)state;
  const outcome at = control("stiff_pair_1e9", 0, 1e-5);
  assert_true(at.error < 1e-5);
  assert_true(at.steps < 2000);
}

/* Saved in the middle, also of a part with sweeps in order, a run goes on with the same bits; so it does
 * where forces are tested, with the largest ones so far. */
static void resumed(void **state)
{
  static const char *const name[] = {"andrews", "mechatronic", "stiff_pair_1e6"};
  (void)state;
  for (size_t i = 0; i < 2 * sizeof name / sizeof *name; i++) {
    const char *const of = name[i / 2];
    rig r[2] = {open_colloc(of, 0), open_colloc(of, 0)};
    ga_simulator *sim[2] = {NULL, NULL};
    ga_simulate_opts o = ga_simulate_defaults();
    const ex_problem *p = r[0].problem;
    o.t_end = 0.5 * p->t_end;
    o.rtol = o.rtol_x = 1e-7, o.atol = o.atol_x = 1e-9;
    o.error_forces = i % 2;
    for (int k = 0; k < 2; k++)
      assert_status(r[k].ctx, ga_simulator_create(r[k].ctx, r[k].st, &o, &sim[k]), GA_OK);
    assert_status(
        r[0].ctx,
        ga_simulator_start(sim[0], NULL, 0, p->q0, p->v0, p->x0, p->lambda_guess, p->psi_guess, NULL), GA_OK);
    for (int k = 0; k < 20; k++) assert_status(r[0].ctx, ga_simulator_step(sim[0]), GA_OK);
    double *saved = calloc(ga_simulator_saved_size(sim[0]), sizeof *saved);
    assert_status(r[0].ctx, ga_simulator_save(sim[0], saved), GA_OK);
    assert_status(r[1].ctx, ga_simulator_load(sim[1], saved), GA_OK);
    free(saved);
    for (int k = 0; k < 2; k++) assert_status(r[k].ctx, ga_simulator_run(sim[k]), GA_OK);
    same_bits(r[0].st, r[1].st, of);
    assert_true((ga_simulator_stats(sim[0])->worst_force_error > 0.0) == o.error_forces);
    assert_true(ga_simulator_stats(sim[0])->worst_force_error <= 1.0);
    for (int k = 0; k < 2; k++) ga_simulator_destroy(&sim[k]);
    close_both(&r[0], &r[1]);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rules),
      cmocka_unit_test(a_step_by_hand),
      cmocka_unit_test(taken_back),
      cmocka_unit_test(saved_and_loaded),
      cmocka_unit_test(no_allocation),
      cmocka_unit_test(dense),
      cmocka_unit_test(refused),
      cmocka_unit_test(errors_follow_tolerances),
      cmocka_unit_test(followers),
      cmocka_unit_test(stiff),
      cmocka_unit_test(resumed),
      cmocka_unit_test(shared_factors),
      cmocka_unit_test(in_threads),
      cmocka_unit_test(failures_in_threads),
      cmocka_unit_test(balanced_inside),
      cmocka_unit_test(looks_leave_no_trace),
      cmocka_unit_test(failures_inside),
      cmocka_unit_test(estimates_of_forces),
      cmocka_unit_test(short_runs_take_fewer_steps),
  };
  return cmocka_run_group_tests_name("core: collocation", tests, NULL, NULL);
}
