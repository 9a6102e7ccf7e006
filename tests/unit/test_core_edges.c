/* The simulator and the follower where the equations jump with the motion: a pendulum that a relay pulls
 * back, and a counter that runs up on one side and down on the other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "galpha/core.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* q'' = −sin q − relay s(q − place) − friction s(v) − stop max(q − place, 0), x' = jump s(q − place) − x/2, s
 * the sign, but for 0; jump is 0 where there is a stop, so that it has a corner only. */
typedef struct relay {
  double relay, place, friction, stop;
  int idle;  /* 1: an edge at q = 0 that nothing depends on */
  int fails; /* 1: sides are not known */
  int asked; /* how often they were asked for */
} relay;

static double sign(double a)
{
  return a > 0.0 ? 1.0 : -1.0;
}

static double jump(const relay *r)
{
  return r->stop > 0.0 ? 0.0 : 1.0;
}

static int mass(void *user, const ga_point *p, double *out)
{
  (void)user;
  out[0] = p->vdot[0];
  return 0;
}

static int force(void *user, const ga_point *p, double *out)
{
  const relay *r = user;
  out[0] = -sin(p->q[0]) - r->relay * sign(p->q[0] - r->place) - r->friction * sign(p->v[0]) -
           r->stop * fmax(p->q[0] - r->place, 0.0);
  return 0;
}

static int state(void *user, const ga_point *p, double *out)
{
  const relay *r = user;
  out[0] = jump(r) * sign(p->q[0] - r->place) - 0.5 * p->x[0];
  return 0;
}

static int sides(void *user, const ga_point *p, int *side)
{
  relay *r = user;
  r->asked++;
  side[0] = p->q[0] > r->place;
  side[1] = r->friction > 0.0 && p->v[0] > 0.0;
  side[2] = r->idle && p->q[0] > 0.0;
  return r->fails;
}

static void side_name(void *user, int index, char *text, size_t size)
{
  static const char *const name[] = {"the relay", "the friction", "nothing"};
  (void)user;
  snprintf(text, size, "%s", name[index]);
}

/* ---- Independent answer: Runge-Kutta of order 4, edges by halving the step that passes them ---- */

static void slope(const relay *r, const double y[3], const double at[3], double out[3])
{
  out[0] = y[1];
  out[1] = -sin(y[0]) - r->relay * sign(at[0] - r->place) - r->friction * sign(at[1]) -
           (at[0] > r->place ? r->stop * (y[0] - r->place) : 0.0);
  out[2] = jump(r) * sign(at[0] - r->place) - 0.5 * y[2];
}

/* The sides are those of `at` throughout. */
static void kutta(const relay *r, const double y[3], const double at[3], double h, double out[3])
{
  double k[4][3], z[3];
  static const double part[4] = {0.0, 0.5, 0.5, 1.0};
  for (int s = 0; s < 4; s++) {
    for (int i = 0; i < 3; i++) z[i] = y[i] + (s ? part[s] * h * k[s - 1][i] : 0.0);
    slope(r, z, at, k[s]);
  }
  for (int i = 0; i < 3; i++) out[i] = y[i] + h / 6.0 * (k[0][i] + 2.0 * k[1][i] + 2.0 * k[2][i] + k[3][i]);
}

static int same_sides(const relay *r, const double a[3], const double b[3])
{
  return (a[0] > r->place) == (b[0] > r->place) && (r->friction == 0.0 || (a[1] > 0.0) == (b[1] > 0.0));
}

/* y at t_end from y at 0; returns how many edges were passed. */
static int answer(const relay *r, double t_end, double y[3])
{
  const int n = getenv("GALPHA_BRIEF") ? 4000 : 40000;
  double at[3], next[3];
  int edges = 0;
  memcpy(at, y, sizeof at);
  for (int i = 0; i < n; i++) {
    double left = t_end / n;
    kutta(r, y, at, left, next);
    while (!same_sides(r, at, next)) {
      double low = 0.0, high = left;
      for (int k = 0; k < 80; k++) {
        const double middle = 0.5 * (low + high);
        kutta(r, y, at, middle, next);
        if (same_sides(r, at, next))
          low = middle;
        else
          high = middle;
      }
      kutta(r, y, at, high, next);
      memcpy(y, next, sizeof next);
      memcpy(at, next, sizeof at);
      left -= high;
      edges++;
      kutta(r, y, at, left, next);
    }
    memcpy(y, next, sizeof next);
    memcpy(at, next, sizeof at);
  }
  return edges;
}

/* ---- The runs ---- */

typedef struct bench {
  ga_context *ctx;
  ga_system *sys;
  ga_stepper *st;
  ga_simulator *sim;
  ga_simulate_opts o;
  relay r;
  ga_method method;
  char said[1024];
} bench;

static const double Q0 = 0.9, V0 = 0.4, X0 = 0.3;

static void hear(void *user, ga_log_level level, const ga_error *message)
{
  bench *b = user;
  if (level == GA_LOG_WARNING) snprintf(b->said, sizeof b->said, "%s", message->text);
}

static ga_stepper *new_stepper(bench *b)
{
  ga_stepper_opts opts = ga_stepper_defaults();
  ga_stepper *st = NULL;
  opts.method = b->method;
  if (b->method == GA_HHT_SOI2) assert_int_equal(ga_scheme_hht(b->ctx, -0.2, &opts.scheme), GA_OK);
  assert_int_equal(ga_stepper_create(b->ctx, b->sys, &opts, &st), GA_OK);
  return st;
}

static void open_bench(bench *b)
{
  const ga_factor line = {GA_RN, 1, GA_LEFT};
  ga_system_def def = ga_system_defaults();
  ga_context_opts context = ga_context_defaults();
  context.log = hear, context.log_user = b;
  def.n_factors = 1, def.factors = &line, def.n_x = 1, def.user = &b->r;
  def.mass = mass, def.force = force, def.state = state;
  def.n_sides = 3, def.sides = sides, def.side_name = side_name;
  assert_int_equal(ga_context_create(&context, &b->ctx), GA_OK);
  assert_int_equal(ga_system_create(b->ctx, &def, &b->sys), GA_OK);
  b->st = new_stepper(b);
  assert_int_equal(ga_simulator_create(b->ctx, b->st, &b->o, &b->sim), GA_OK);
}

static void close_bench(bench *b)
{
  ga_simulator_destroy(&b->sim);
  ga_stepper_destroy(&b->st);
  ga_system_destroy(&b->sys);
  ga_context_destroy(&b->ctx);
}

static bench new_bench(relay r)
{
  bench b = {.r = r, .o = ga_simulate_defaults(), .method = GA_STABILIZED};
  b.o.t_end = 6.0;
  return b;
}

static void set_tolerance(bench *b, double tol)
{
  b->o.rtol = b->o.rtol_v = b->o.rtol_x = tol;
  b->o.atol = b->o.atol_v = b->o.atol_x = 1e-2 * tol;
}

static void start(bench *b)
{
  assert_int_equal(ga_simulator_start(b->sim, NULL, 0.0, &Q0, &V0, &X0, NULL, NULL, NULL), GA_OK);
}

/* The largest error at the end. */
static double error_of(const bench *b, const double y[3])
{
  const ga_state *s = ga_stepper_state(b->st);
  return fmax(fmax(fabs(s->q[0] - y[0]), fabs(s->v[0] - y[1])), fabs(s->x[0] - y[2]));
}

static double run(bench *b, const double y[3])
{
  open_bench(b);
  start(b);
  assert_int_equal(ga_simulator_run(b->sim), GA_OK);
  return error_of(b, y);
}

static const relay RELAY = {.relay = 0.7, .place = 0.2}, STOP = {.stop = 1.0, .place = 0.1};

/* least: of the ratio of errors when steps are halved. */
static void check_order(const relay *r, double h, double least, double most_error)
{
  static const ga_method method[] = {GA_INDEX3, GA_STABILIZED, GA_WEIGHTED,
                                     GA_SOI2,   GA_HHT_SOI2,   GA_COLLOCATION};
  double y[3] = {Q0, V0, X0};
  const int edges = answer(r, 6.0, y);
  assert_true(edges >= 2);
  for (size_t m = 0; m < sizeof method / sizeof *method; m++) {
    double before = 0.0;
    for (int k = 0; k < 4; k++) {
      bench b = new_bench(*r);
      b.method = method[m];
      b.o.fixed_h = ldexp(h, -k);
      const double error = run(&b, y);
      if (k > 0 && !(before / error > least && (before / error < 5.5 || method[m] == GA_COLLOCATION)))
        fail_msg("method %d, h = %g: error %g after %g", (int)method[m], b.o.fixed_h, error, before);
      if (ga_simulator_stats(b.sim)->edges != edges)
        fail_msg("method %d, h = %g: %ld edges of %d", (int)method[m], b.o.fixed_h,
                 ga_simulator_stats(b.sim)->edges, edges);
      before = error;
      close_bench(&b);
    }
    if (before > most_error) fail_msg("method %d: error %g", (int)method[m], before);
  }
}

/* Without the edges the order is one, and the error forty times as large. */
static void equal_steps_keep_their_order(void **s)
{
  (void)s;
  check_order(&RELAY, 0.04, 3.0, 2e-4);
}

static void corners_are_edges_too(void **s)
{
  (void)s;
  check_order(&STOP, 0.04, 3.0, 2e-4);
}

/* The error is most tol^(2/3) at most. */
static void check_tolerances(const relay *r, double most)
{
  double y[3] = {Q0, V0, X0};
  const int edges = answer(r, 6.0, y);
  for (double tol = 1e-3; tol > 1e-8; tol *= 0.1) {
    bench b = new_bench(*r);
    set_tolerance(&b, tol);
    const double error = run(&b, y);
    if (error > most * pow(tol, 2.0 / 3.0)) fail_msg("tolerance %g: error %g", tol, error);
    assert_int_equal(ga_simulator_stats(b.sim)->edges, edges);
    close_bench(&b);
  }
}

static void tolerances_are_kept(void **s)
{
  (void)s;
  check_tolerances(&RELAY, 1.0);
  check_tolerances(&STOP, 2.0);
}

static void friction_that_passes(void **s)
{
  (void)s;
  const relay r = {.relay = 0.1, .place = 0.2, .friction = 0.05};
  double y[3] = {Q0, V0, X0};
  const int edges = answer(&r, 6.0, y);
  bench b = new_bench(r);
  set_tolerance(&b, 1e-6);
  const double error = run(&b, y);
  if (error > 1e-4) fail_msg("error %g", error);
  assert_int_equal(ga_simulator_stats(b.sim)->edges, edges);
  close_bench(&b);
}

/* Bits are those of a run that does not report edges, where there are none that matter. */
static void edges_that_do_not_matter(void **s)
{
  (void)s;
  double end[2];
  for (int reports = 0; reports < 2; reports++) {
    bench b = new_bench((relay){.place = -100.0, .idle = 1, .fails = !reports});
    const double y[3] = {0.0, 0.0, 0.0};
    run(&b, y);
    end[reports] = ga_stepper_state(b.st)->q[0];
    assert_int_equal(ga_simulator_stats(b.sim)->edges, 0);
    assert_true(b.r.asked > 0);
    close_bench(&b);
  }
  assert_true(end[0] == end[1]);
}

/* An edge that does not matter in front of one that does, within the same step. */
static void edges_behind_others(void **s)
{
  (void)s;
  relay r = RELAY;
  r.place = -0.01;
  double y[3] = {Q0, V0, X0};
  const int edges = answer(&r, 6.0, y);
  r.idle = 1;
  for (double tol = 1e-2; tol > 1e-7; tol *= 0.1) {
    bench b = new_bench(r);
    set_tolerance(&b, tol);
    const double error = run(&b, y);
    if (error > pow(tol, 2.0 / 3.0)) fail_msg("tolerance %g: error %g", tol, error);
    if (ga_simulator_stats(b.sim)->edges < edges)
      fail_msg("%ld edges of %d", ga_simulator_stats(b.sim)->edges, edges);
    close_bench(&b);
  }
}

/* Edges that are passed there and back where the motion turns, however little it goes beyond them. */
static void edges_where_it_turns(void **s)
{
  (void)s;
  relay r = {.relay = 0.3, .place = 100.0};
  double top = 0.0, path[3] = {Q0, V0, X0}, next[3];
  for (int i = 0; i < 6000; i++) { /* on this side of the edge */
    kutta(&r, path, path, 5e-4, next);
    memcpy(path, next, sizeof path);
    top = fmax(top, path[0]);
  }
  for (double over = 3e-2; over > 1e-6; over *= 0.3) {
    double y[3] = {Q0, V0, X0};
    r.place = top - over;
    const int edges = answer(&r, 3.0, y);
    assert_int_equal(edges, 2);
    bench b = new_bench(r);
    b.o.t_end = 3.0;
    set_tolerance(&b, 1e-3);
    const double error = run(&b, y);
    if (error > 1e-2 || ga_simulator_stats(b.sim)->edges < edges)
      fail_msg("%g beyond: error %g, %ld edges of %d", over, error, ga_simulator_stats(b.sim)->edges, edges);
    close_bench(&b);
  }
}

/* Held by friction larger than what pulls: no motion to go on with, but a word, and an end. */
static void motions_that_stay_on_an_edge(void **s)
{
  (void)s;
  for (int fixed = 0; fixed < 2; fixed++) {
    bench b = new_bench((relay){.place = -100.0, .relay = 1e-3, .friction = 2.0});
    if (fixed) b.o.fixed_h = 0.01;
    open_bench(&b);
    start(&b);
    const ga_status status = ga_simulator_run(b.sim);
    assert_true(status < 0);
    assert_non_null(strstr(b.said, "the friction"));
    assert_non_null(strstr(b.said, "tanh"));
    assert_true(ga_simulator_stats(b.sim)->steps < 2000);
    close_bench(&b);
  }
}

static void saved_around_edges(void **s)
{
  (void)s;
  bench a = new_bench(RELAY);
  open_bench(&a);
  start(&a);
  double *saved = calloc(ga_simulator_saved_size(a.sim), sizeof *saved);
  assert_non_null(saved);
  for (int i = 0; i < 400 && !ga_simulator_finished(a.sim); i++) {
    bench b = new_bench(RELAY);
    assert_int_equal(ga_simulator_save(a.sim, saved), GA_OK);
    open_bench(&b);
    start(&b);
    assert_int_equal(ga_simulator_load(b.sim, saved), GA_OK);
    const ga_status one = ga_simulator_step(a.sim), other = ga_simulator_step(b.sim);
    assert_int_equal(one, other);
    assert_memory_equal(ga_stepper_state(a.st)->q, ga_stepper_state(b.st)->q, sizeof(double));
    assert_memory_equal(ga_stepper_state(a.st)->v, ga_stepper_state(b.st)->v, sizeof(double));
    assert_true(ga_stepper_state(a.st)->t == ga_stepper_state(b.st)->t);
    close_bench(&b);
  }
  assert_true(ga_simulator_finished(a.sim));
  assert_true(ga_simulator_stats(a.sim)->edges >= 3);
  free(saved);
  close_bench(&a);
}

/* Counts the states that stand before an edge of the follower; the relay has not switched there. */
typedef struct jump_count {
  ga_follower *f;
  int n;
  double t;
} jump_count;

static int count_jumps(void *user, const ga_stepper *st)
{
  jump_count *c = user;
  if (!ga_follower_at_jump(c->f)) return 0;
  c->n++;
  assert_true(ga_stepper_state(st)->t > c->t);
  c->t = ga_stepper_state(st)->t;
  return 0;
}

/* (leader − follower)/3 is the follower's error, also behind edges, which it passes at times of its own. */
static void followers_pass_them_too(void **s)
{
  (void)s;
  double y[3] = {Q0, V0, X0};
  answer(&RELAY, 6.0, y);
  bench b = new_bench(RELAY);
  b.o.h_max = b.o.h_first = 0.02;
  open_bench(&b);
  ga_stepper *second = new_stepper(&b);
  ga_follower_opts opts = ga_follower_defaults();
  ga_follower *f = NULL;
  const ga_state *at = NULL;
  jump_count jumps = {NULL, 0, -1.0};
  opts.leader = &b.o;
  opts.observer = count_jumps, opts.user = &jumps;
  assert_int_equal(ga_follower_create(b.ctx, second, &opts, &f), GA_OK);
  jumps.f = f;
  start(&b);
  assert_int_equal(ga_follower_start(f, NULL, ga_simulator_next_step(b.sim), ga_stepper_state(b.st)), GA_OK);
  long restarts = 0, edges = 0;
  while (!ga_simulator_finished(b.sim)) {
    assert_true(ga_simulator_step(b.sim) >= 0);
    const double t = ga_stepper_state(b.st)->t;
    const ga_simulate_stats *stats = ga_simulator_stats(b.sim);
    const ga_status status = stats->edges != edges ? ga_follower_pass(f, t)
                             : stats->restarts != restarts
                                 ? ga_follower_restart(f, t, ga_simulator_next_step(b.sim))
                                 : ga_follower_lead(f, t, 0);
    assert_int_equal(status, GA_OK);
    restarts = stats->restarts;
    edges = stats->edges;
    assert_int_equal(ga_follower_reach(f, t, &at), GA_OK);
  }
  assert_true(restarts >= 3);
  assert_in_range(jumps.n, 1, restarts);
  assert_int_equal(ga_follower_at_jump(f), 0);
  const double leader = ga_stepper_state(b.st)->q[0] - y[0], own = at->q[0] - y[0];
  if (!(fabs(leader / own) > 3.0 && fabs(leader / own) < 5.5)) fail_msg("errors %g and %g", leader, own);
  ga_follower_destroy(&f);
  ga_stepper_destroy(&second);
  close_bench(&b);
}

static void refused(void **s)
{
  const ga_factor line = {GA_RN, 1, GA_LEFT};
  ga_system_def def = ga_system_defaults();
  ga_context *ctx;
  ga_system *sys;
  (void)s;
  def.n_factors = 1, def.factors = &line, def.mass = mass, def.force = force;
  assert_int_equal(ga_context_create(NULL, &ctx), GA_OK);
  def.n_sides = 1;
  assert_int_equal(ga_system_create(ctx, &def, &sys), GA_ERR_ARGUMENT);
  assert_non_null(strstr(ga_context_error(ctx)->text, "n_sides"));
  def.n_sides = 0, def.sides = sides;
  assert_int_equal(ga_system_create(ctx, &def, &sys), GA_ERR_ARGUMENT);
  def.n_sides = -1;
  assert_int_equal(ga_system_create(ctx, &def, &sys), GA_ERR_ARGUMENT);
  ga_context_destroy(&ctx);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(equal_steps_keep_their_order),
      cmocka_unit_test(corners_are_edges_too),
      cmocka_unit_test(tolerances_are_kept),
      cmocka_unit_test(edges_behind_others),
      cmocka_unit_test(edges_where_it_turns),
      cmocka_unit_test(friction_that_passes),
      cmocka_unit_test(edges_that_do_not_matter),
      cmocka_unit_test(motions_that_stay_on_an_edge),
      cmocka_unit_test(saved_around_edges),
      cmocka_unit_test(followers_pass_them_too),
      cmocka_unit_test(refused),
  };
  return cmocka_run_group_tests_name("core edges", tests, NULL, NULL);
}
