/* Derivatives behind events: a ball that bounces against its exact solution, and a top whose velocity is
 * changed where it passes a height, against extrapolated differences of runs whose steps end exactly there.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core_rig.h"

/* ---- A ball ---- */

enum { RESTITUTION = 0, GRAVITY, HEIGHT, FLOOR, N_BALL };

typedef struct ball {
  double gravity, restitution, floor;
  ga_factor factor;
} ball;

static int ball_mass(void *user, const ga_point *p, double *out)
{
  (void)user;
  out[0] = 2.0 * p->vdot[0];
  return 0;
}

static int ball_force(void *user, const ga_point *p, double *out)
{
  const ball *b = user;
  (void)p;
  out[0] = -2.0 * b->gravity;
  return 0;
}

static int ball_jacobian(void *user, const ga_point *p, ga_jacobian *J)
{
  (void)user, (void)p;
  J->D[0] += 2.0 * J->shift_vdot;
  return 0;
}

typedef struct throws { /* all values of all parameters */
  ball own, at[N_BALL][GA_PARAMETER_VALUES];
  double q0[N_BALL][GA_PARAMETER_VALUES];
  ga_system *sys, *other[N_BALL][GA_PARAMETER_VALUES];
  ga_parameter parameter[N_BALL];
  ga_context *ctx;
  ga_stepper *st;
  ga_simulator *sim;
  ga_sensitivity *se;
} throws;

static int on_floor(void *user, const ga_point *p, double *g)
{
  const throws *t = user;
  g[0] = p->q[0] - t->own.floor;
  return 0;
}

static int bounce(void *user, int event, const ga_state *s, double *q, double *v, double *x)
{
  const throws *t = user;
  (void)event, (void)s, (void)q, (void)x;
  if (v) v[0] *= -t->own.restitution;
  return 0;
}

static const ball *ball_at(const throws *t, int parameter, int k)
{
  return k < 0 ? &t->own : &t->at[parameter][k];
}

static int rule_g(void *user, int parameter, int k, int event, const ga_point *p, double *g)
{
  (void)event;
  *g = p->q[0] - ball_at(user, parameter, k)->floor;
  return 0;
}

static int rule_jump(void *user, int parameter, int k, int event, const ga_state *s, double *q, double *v,
                     double *x)
{
  (void)event, (void)s, (void)q, (void)x;
  v[0] *= -ball_at(user, parameter, k)->restitution;
  return 0;
}

static ga_system *ball_system(ga_context *ctx, ball *b)
{
  ga_system_def def = ga_system_defaults();
  ga_system *sys = NULL;
  b->factor = (ga_factor){GA_RN, 1, GA_LEFT};
  def.n_factors = 1, def.factors = &b->factor;
  def.user = b;
  def.mass = ball_mass, def.force = ball_force, def.jacobian = ball_jacobian;
  assert_status(ctx, ga_system_create(ctx, &def, &sys), GA_OK);
  return sys;
}

#define DELTA 1e-3

static void open_throws(throws *t, ga_method method, const ga_simulate_opts *o)
{
  memset(t, 0, sizeof *t);
  assert_int_equal(rig_context(&t->ctx), GA_OK);
  t->own = (ball){.gravity = 9.81, .restitution = 0.8, .floor = 0.1};
  t->sys = ball_system(t->ctx, &t->own);
  for (int j = 0; j < N_BALL; j++) {
    t->parameter[j].step = DELTA;
    for (int k = 0; k < GA_PARAMETER_VALUES; k++) {
      const double by = (k < 2 ? k - 2 : k - 1) * DELTA;
      ball *b = &t->at[j][k];
      *b = t->own;
      b->gravity += j == GRAVITY ? by : 0.0;
      b->restitution += j == RESTITUTION ? by : 0.0;
      b->floor += j == FLOOR ? by : 0.0;
      t->q0[j][k] = 1.0 + (j == HEIGHT ? by : 0.0);
      t->parameter[j].at[k].q0 = &t->q0[j][k];
      if (j == GRAVITY) t->parameter[j].at[k].sys = t->other[j][k] = ball_system(t->ctx, b);
    }
  }
  ga_stepper_opts so = ga_stepper_defaults();
  so.method = method;
  assert_status(t->ctx, ga_stepper_create(t->ctx, t->sys, &so, &t->st), GA_OK);
  assert_status(t->ctx, ga_simulator_create(t->ctx, t->st, o, &t->sim), GA_OK);
  assert_status(t->ctx, ga_sensitivity_create(t->ctx, t->st, N_BALL, t->parameter, &t->se), GA_OK);
}

static void close_throws(throws *t)
{
  ga_sensitivity_destroy(&t->se);
  ga_simulator_destroy(&t->sim);
  ga_stepper_destroy(&t->st);
  for (int k = 0; k < GA_PARAMETER_VALUES; k++) ga_system_destroy(&t->other[GRAVITY][k]);
  ga_system_destroy(&t->sys);
  ga_context_destroy(&t->ctx);
}

/* Height and velocity at t, by the exact solution; *bounces of them. */
static void exact(double h0, double g, double e, double floor, double t, double *q, double *v, int *bounces)
{
  double t0 = sqrt(2.0 * (h0 - floor) / g), up = e * g * t0;
  *bounces = 0;
  if (t < t0) {
    *q = h0 - 0.5 * g * t * t, *v = -g * t;
    return;
  }
  for (*bounces = 1; t >= t0 + 2.0 * up / g; ++*bounces) t0 += 2.0 * up / g, up *= e;
  *q = floor + up * (t - t0) - 0.5 * g * (t - t0) * (t - t0);
  *v = up - g * (t - t0);
}

static void exact_slope(int j, double t, double *dq, double *dv)
{
  const double w = 1e-3;
  double table[4][2];
  for (int l = 0; l < 4; l++) {
    const double by = 2.0 * w / (1 << l);
    double a[2], b[2];
    int n;
    exact(1.0 + (j == HEIGHT) * by, 9.81 + (j == GRAVITY) * by, 0.8 + (j == RESTITUTION) * by,
          0.1 + (j == FLOOR) * by, t, &a[0], &a[1], &n);
    exact(1.0 - (j == HEIGHT) * by, 9.81 - (j == GRAVITY) * by, 0.8 - (j == RESTITUTION) * by,
          0.1 - (j == FLOOR) * by, t, &b[0], &b[1], &n);
    for (int i = 0; i < 2; i++) table[l][i] = (a[i] - b[i]) / (2.0 * by);
  }
  for (int k = 1; k < 4; k++)
    for (int l = 3; l >= k; l--)
      for (int i = 0; i < 2; i++) table[l][i] += (table[l][i] - table[l - 1][i]) / (double)((1 << 2 * k) - 1);
  *dq = table[3][0], *dv = table[3][1];
}

static ga_simulate_opts ball_opts(throws *t, ga_event *event, ga_event_action action, double fixed)
{
  ga_simulate_opts o = ga_simulate_defaults();
  *event = (ga_event){.action = action, .direction = -1};
  o.t_end = 2.03;
  o.fixed_h = fixed;
  o.n_events = 1, o.events = event;
  o.event_function = on_floor, o.on_event = bounce, o.event_user = t;
  return o;
}

static int show; /* 1: figures are printed, none is judged */

static void begin_throws(throws *t, int with_rule)
{
  const ga_event_rule rule = {.g = rule_g, .jump = rule_jump, .user = t};
  const double q0 = 1.0, v0 = 0.0;
  if (with_rule) assert_status(t->ctx, ga_sensitivity_use_events(t->se, &rule), GA_OK);
  assert_status(t->ctx, ga_simulator_start(t->sim, NULL, 0.0, &q0, &v0, NULL, NULL, NULL, NULL), GA_OK);
  assert_status(t->ctx, ga_sensitivity_begin(t->se), GA_OK);
}

/* Free flight is exact with steps of any size, so that derivatives are those of the exact solution. */
static void a_ball_bounces(void **state)
{
  static throws t;
  ga_event event;
  (void)state;
  for (int c = 0; c < 5; c++) {
    static const ga_method METHODS[] = {GA_STABILIZED, GA_STABILIZED, GA_COLLOCATION, GA_COLLOCATION,
                                        GA_AUTOMATIC};
    const ga_simulate_opts o = ball_opts(&t, &event, GA_EVENT_RESTART, c % 2 ? 0.01 : 0.0);
    open_throws(&t, METHODS[c], &o);
    begin_throws(&t, 1);
    double worst = 0.0, q, v, dq, dv;
    int bounces = 0;
    while (!ga_simulator_finished(t.sim)) {
      const ga_status status = ga_simulator_step(t.sim);
      if (status != GA_STOPPED) assert_status(t.ctx, status, GA_OK);
      assert_status(t.ctx, ga_sensitivity_step(t.se), GA_OK);
      const double now = ga_stepper_state(t.st)->t;
      exact(1.0, 9.81, 0.8, 0.1, now, &q, &v, &bounces);
      if (fabs(q - 0.1) < 1e-2 && now > 0.1)
        continue; /* differences of the exact solution would be on both sides */
      for (int j = 0; j < N_BALL; j++) {
        const ga_state *d = ga_sensitivity_at(t.se, j);
        exact_slope(j, now, &dq, &dv);
        worst =
            fmax(worst, fmax(fabs(d->q[0] - dq) / (1.0 + fabs(dq)), fabs(d->v[0] - dv) / (1.0 + fabs(dv))));
        if (show && worst > 1e-8)
          printf("# t %g by %d: %.12g %.12g, %.12g %.12g\n", now, j, d->q[0], dq, d->v[0], dv);
      }
    }
    assert_int_equal(bounces, 3);
    if (show)
      printf("# bounces, case %d: %.1e\n", c, worst);
    else
      assert_below(worst, 1e-8, "derivatives of a ball");
    close_throws(&t);
  }
}

static void times_of_stops(void **state)
{
  static throws t;
  ga_event event;
  (void)state;
  const ga_simulate_opts o = ball_opts(&t, &event, GA_EVENT_STOP, 0.0);
  open_throws(&t, GA_STABILIZED, &o);
  begin_throws(&t, 1);
  ga_status status = GA_OK;
  while (!status) {
    status = ga_simulator_step(t.sim);
    assert_status(t.ctx, ga_sensitivity_step(t.se), GA_OK);
  }
  assert_int_equal(status, GA_STOPPED);
  const double fall = sqrt(2.0 * 0.9 / 9.81);
  assert_near(ga_sensitivity_time(t.se, HEIGHT), 0.5 * fall / 0.9, 1e-9, "by the height");
  assert_near(ga_sensitivity_time(t.se, FLOOR), -0.5 * fall / 0.9, 1e-9, "by the floor");
  assert_near(ga_sensitivity_time(t.se, GRAVITY), -0.5 * fall / 9.81, 1e-9, "by gravity");
  assert_near(ga_sensitivity_time(t.se, RESTITUTION), 0.0, 1e-12, "by the restitution");
  const ga_state *moving = ga_sensitivity_moving(t.se, FLOOR), *fixed = ga_sensitivity_at(t.se, FLOOR);
  assert_int_equal(ga_sensitivity_place(t.se), GA_PLACE_EVENT);
  assert_near(moving->q[0], 1.0, 1e-9, "the ball stops at the floor");
  assert_near(fixed->q[0], 0.0, 1e-9, "at a fixed time nothing depends on the floor");
  assert_near(moving->v[0], 9.81 * 0.5 * fall / 0.9, 1e-8, "its velocity there");
  assert_null(ga_sensitivity_moving(t.se, N_BALL));
  assert_int_equal(ga_sensitivity_place(NULL), GA_PLACE_STEP);
  assert_true(ga_sensitivity_time(NULL, 0) == 0.0 && ga_sensitivity_time(t.se, N_BALL) == 0.0);
  close_throws(&t);
}

static void events_without_a_rule_are_refused(void **state)
{
  static throws t;
  ga_event event;
  (void)state;
  const ga_simulate_opts o = ball_opts(&t, &event, GA_EVENT_RESTART, 0.0);
  open_throws(&t, GA_STABILIZED, &o);
  begin_throws(&t, 0);
  ga_status status = GA_OK;
  while (!status) {
    assert_status(t.ctx, ga_simulator_step(t.sim), GA_OK);
    status = ga_sensitivity_step(t.se);
  }
  assert_status(t.ctx, status, GA_ERR_ARGUMENT);
  assert_says(t.ctx, "event");
  close_throws(&t);
}

/* (q − 0.55)³ passes zero with a slope of zero. */
static int touching_g(void *user, int parameter, int k, int event, const ga_point *p, double *g)
{
  const double off = p->q[0] - 0.55;
  (void)user, (void)parameter, (void)k, (void)event;
  *g = off * off * off;
  return 0;
}

static int touched(void *user, const ga_point *p, double *g)
{
  return touching_g(user, 0, 0, 0, p, g);
}

static void touching_events_are_refused(void **state)
{
  static throws t;
  ga_event event;
  (void)state;
  ga_simulate_opts o = ball_opts(&t, &event, GA_EVENT_RESTART, 0.01);
  o.event_function = touched;
  open_throws(&t, GA_STABILIZED, &o);
  const ga_event_rule rule = {.g = touching_g, .jump = rule_jump, .user = &t};
  begin_throws(&t, 0);
  assert_status(t.ctx, ga_sensitivity_use_events(t.se, &rule), GA_OK);
  ga_status status = GA_OK;
  while (!status) {
    assert_status(t.ctx, ga_simulator_step(t.sim), GA_OK);
    status = ga_sensitivity_step(t.se);
  }
  assert_true(status < 0);
  assert_says(t.ctx, "touches");
  assert_status(t.ctx, ga_sensitivity_use_events(t.se, NULL), GA_ERR_ARGUMENT);
  close_throws(&t);
}

/* Callbacks that fail: 1: g, 2: jump, 3: g is not a number, 4: jump of other values than those of the run. */
static int failing;

static int failing_g(void *user, int parameter, int k, int event, const ga_point *p, double *g)
{
  const int code = rule_g(user, parameter, k, event, p, g);
  if (failing == 3) *g = NAN;
  return failing == 1 ? -7 : code;
}

static int failing_jump(void *user, int parameter, int k, int event, const ga_state *s, double *q, double *v,
                        double *x)
{
  const int code = rule_jump(user, parameter, k, event, s, q, v, x);
  if (failing == 4) v[0] *= 0.5;
  return failing == 2 ? -7 : code;
}

static void wrong_rules_are_reported(void **state)
{
  static throws t;
  ga_event event;
  (void)state;
  for (failing = 1; failing <= 4; failing++) {
    const ga_simulate_opts o = ball_opts(&t, &event, GA_EVENT_RESTART, 0.01);
    open_throws(&t, GA_STABILIZED, &o);
    const ga_event_rule rule = {.g = failing_g, .jump = failing_jump, .user = &t};
    begin_throws(&t, 0);
    assert_status(t.ctx, ga_sensitivity_use_events(t.se, &rule), GA_OK);
    ga_status status = GA_OK;
    while (!status) {
      assert_status(t.ctx, ga_simulator_step(t.sim), GA_OK); /* the run itself goes on */
      status = ga_sensitivity_step(t.se);
    }
    assert_true(status < 0);
    assert_null(ga_sensitivity_at(t.se, 0));
    assert_status(t.ctx, ga_simulator_step(t.sim), GA_OK);
    close_throws(&t);
  }
}

/* ---- A top that passes a height, by steps that end exactly there ---- */

enum { PLACE = 0, FACTOR, SPIN, N_TOP };

typedef struct course {
  const char *problem;
  int coordinate; /* of the velocity that passes a value */
  double h, place, width;
  int n_before, n_after;
  ga_method method;
} course;

typedef struct top {
  const course *c;
  double place, factor, spin;
} top;

static double place_of(const course *c, int which, double by)
{
  return c->place + (which == PLACE ? by : 0.0);
}

static void open_top(rig *r, const course *c)
{
  *r = (rig){
      .problem = ex_problem_find(c->problem), .def = ga_system_defaults(), .opts = ga_stepper_defaults()};
  assert_non_null(r->problem);
  assert_int_equal(rig_context(&r->ctx), GA_OK);
  r->problem->define(&r->def);
  r->opts.method = c->method;
  r->opts.newton.tol = 1e-14;
  r->opts.newton.max_iterations = 40;
  rig_build(r);
}

static void close_top(rig *r)
{
  ga_stepper_destroy(&r->st);
  ga_system_destroy(&r->sys);
  ga_context_destroy(&r->ctx);
}

static void initial(const rig *r, int which, double by, double *v)
{
  const int nv = ga_group_nv(ga_system_group(r->sys));
  for (int i = 0; i < nv; i++) v[i] = r->problem->v0[i] * (1.0 + (which == SPIN ? by : 0.0));
}

static void begin_top(rig *r, const course *c, const double *v0)
{
  ga_start_opts o = ga_start_defaults();
  const ex_problem *x = r->problem;
  o.h = c->h;
  o.max_change = 1.0;
  assert_status(
      r->ctx, ga_stepper_start(r->st, &o, 0.0, x->q0, v0, x->x0, x->lambda_guess, x->psi_guess, NULL), GA_OK);
}

static double gap(const rig *r, const course *c, double place)
{
  return r->st->now.v[c->coordinate] - place;
}

/* The step whose end has the coordinate at `place`, by the secant method. */
static void step_onto(rig *r, const course *c, double place)
{
  double a = 0.5 * c->h, b = 0.6 * c->h, ga, gb;
  assert_status(r->ctx, ga_stepper_step(r->st, a), GA_OK);
  ga = gap(r, c, place);
  for (int i = 0; i < 40; i++) {
    assert_status(r->ctx, ga_stepper_undo(r->st), GA_OK);
    assert_status(r->ctx, ga_stepper_step(r->st, b), GA_OK);
    gb = gap(r, c, place);
    if (gb == ga || fabs(gb) < 1e-15 * fabs(place)) return;
    const double next = b - gb * (b - a) / (gb - ga);
    a = b, ga = gb, b = next;
    if (fabs(b - a) < 1e-16 * c->h) return;
  }
}

static void restart_top(rig *r, const course *c, double factor)
{
  double q[RIG_MOST], v[RIG_MOST], x[RIG_MOST];
  const ga_system *sys = r->st->sys;
  ga_start_opts o = ga_start_defaults();
  o.h = c->h;
  memcpy(q, r->st->now.q, (size_t)sys->nq * sizeof *q);
  memcpy(v, r->st->now.v, (size_t)sys->nv * sizeof *v);
  memcpy(x, r->st->now.x, (size_t)sys->size[GA_BLOCK_X] * sizeof *x);
  for (int i = 0; i < sys->nv; i++) v[i] *= factor;
  ga__start_again(r->st, GA__AFTER_EVENT);
  assert_status(r->ctx, ga_stepper_start(r->st, &o, r->st->now.scalar[GA__T], q, v, x, NULL, NULL, NULL),
                GA_OK);
  ga__start_first(r->st);
}

static int top_g(void *user, int parameter, int k, int event, const ga_point *p, double *g)
{
  const top *t = user;
  const double by = k < 0 ? 0.0 : (k < 2 ? k - 2 : k - 1) * 1e-3;
  (void)event;
  *g = p->v[t->c->coordinate] - place_of(t->c, parameter, by);
  return 0;
}

static int top_jump(void *user, int parameter, int k, int event, const ga_state *s, double *q, double *v,
                    double *x)
{
  const top *t = user;
  const double by = (k < 2 ? k - 2 : k - 1) * 1e-3;
  (void)event, (void)s, (void)q, (void)x, (void)t;
  for (int i = 0; i < 6; i++) v[i] *= 0.7 + (parameter == FACTOR ? by : 0.0);
  return 0;
}

enum { NUMBERS = 3 * 6 + 3 };

/* At a fixed time within the last step. */
static void numbers_at(rig *r, double t, const double *from, double *out)
{
  double q[RIG_MOST];
  assert_status(r->ctx, ga_stepper_interpolate(r->st, t, q, out + 6, out + 12, out + 18, NULL, NULL, NULL),
                GA_OK);
  ga_group_difference(r->st->sys->group, out, from, q);
}

static void run_to(const course *c, int which, double by, double t, const double *from, double *out)
{
  rig r;
  double v[RIG_MOST];
  open_top(&r, c);
  initial(&r, which, by, v);
  begin_top(&r, c, v);
  for (int i = 0; i < c->n_before; i++) assert_status(r.ctx, ga_stepper_step(r.st, c->h), GA_OK);
  step_onto(&r, c, place_of(c, which, by));
  restart_top(&r, c, 0.7 + (which == FACTOR ? by : 0.0));
  for (int i = 0; i < c->n_after; i++) assert_status(r.ctx, ga_stepper_step(r.st, c->h), GA_OK);
  numbers_at(&r, t, from, out);
  close_top(&r);
}

static void reference(const course *c, int which, double t, const double *from, double *out)
{
  double table[4][NUMBERS], there[NUMBERS], back[NUMBERS];
  for (int l = 0; l < 4; l++) {
    const double by = 2.0 * c->width / (1 << l);
    run_to(c, which, by, t, from, there);
    run_to(c, which, -by, t, from, back);
    for (int i = 0; i < NUMBERS; i++) table[l][i] = (there[i] - back[i]) / (2.0 * by);
  }
  for (int k = 1; k < 4; k++)
    for (int l = 3; l >= k; l--)
      for (int i = 0; i < NUMBERS; i++)
        table[l][i] += (table[l][i] - table[l - 1][i]) / (double)((1 << 2 * k) - 1);
  memcpy(out, table[3], sizeof table[3]);
}

static void examine_top(const course *c)
{
  rig r;
  top user = {.c = c};
  double v[RIG_MOST], w[GA_PARAMETER_VALUES][RIG_MOST], q[RIG_MOST], should[NUMBERS];
  ga_parameter list[N_TOP] = {{.step = 1e-3}, {.step = 1e-3}, {.step = 1e-3}};
  const ga_event_rule rule = {.g = top_g, .jump = top_jump, .user = &user};
  ga_sensitivity *se = NULL;
  open_top(&r, c);
  for (int k = 0; k < GA_PARAMETER_VALUES; k++) {
    initial(&r, SPIN, (k < 2 ? k - 2 : k - 1) * 1e-3, w[k]);
    list[SPIN].at[k].v0 = w[k];
  }
  assert_status(r.ctx, ga_sensitivity_create(r.ctx, r.st, N_TOP, list, &se), GA_OK);
  assert_status(r.ctx, ga_sensitivity_use_events(se, &rule), GA_OK);
  initial(&r, -1, 0.0, v);
  begin_top(&r, c, v);
  assert_status(r.ctx, ga_sensitivity_begin(se), GA_OK);
  for (int i = 0; i < c->n_before; i++) {
    assert_status(r.ctx, ga_stepper_step(r.st, c->h), GA_OK);
    assert_status(r.ctx, ga_sensitivity_step(se), GA_OK);
  }
  step_onto(&r, c, c->place);
  ga__sensitivities_meet(r.st, 0, 0);
  restart_top(&r, c, 0.7);
  assert_status(r.ctx, ga_sensitivity_step(se), GA_OK);
  for (int i = 0; i < c->n_after; i++) {
    assert_status(r.ctx, ga_stepper_step(r.st, c->h), GA_OK);
    assert_status(r.ctx, ga_sensitivity_step(se), GA_OK);
  }
  const double t = 0.4 * r.st->next.scalar[GA__T] + 0.6 * r.st->now.scalar[GA__T];
  assert_status(r.ctx, ga_stepper_interpolate(r.st, t, q, NULL, NULL, NULL, NULL, NULL, NULL), GA_OK);
  for (int j = 0; j < N_TOP; j++) {
    const ga_state *d;
    assert_status(r.ctx, ga_sensitivity_inside(se, j, t, &d), GA_OK);
    reference(c, j, t, q, should);
    const double *is[] = {d->q, d->v, d->vdot, d->lambda};
    double worst = 0.0;
    for (int b = 0; b < 4; b++) {
      const int n = b < 3 ? 6 : 3;
      double most = 0.0;
      for (int i = 0; i < n; i++) most = fmax(most, fabs(should[6 * b + i]));
      for (int i = 0; i < n; i++) worst = fmax(worst, fabs(is[b][i] - should[6 * b + i]) / fmax(most, 1e-3));
    }
    if (show)
      printf("# %s by %d: %.1e\n", c->problem, j, worst);
    else
      assert_below(worst, 1e-8, c->problem);
  }
  ga_sensitivity_destroy(&se);
  close_top(&r);
}

static void a_top_is_slowed_down(void **state)
{
  static const course COURSES[] = {{"heavy_top", 1, 1e-3, -0.266, 2e-3, 12, 10, GA_STABILIZED},
                                   {"heavy_top", 1, 1e-3, -0.266, 2e-3, 12, 10, GA_COLLOCATION},
                                   {"heavy_top_left", 1, 1e-3, -0.266, 2e-3, 12, 10, GA_STABILIZED},
                                   {"heavy_top_left", 1, 1e-3, -0.266, 2e-3, 12, 10, GA_COLLOCATION},
                                   {"heavy_top_se3", 0, 1e-3, -4.0, 2e-3, 12, 10, GA_STABILIZED},
                                   {"heavy_top_se3", 0, 1e-3, -4.0, 2e-3, 12, 10, GA_COLLOCATION}};
  (void)state;
  for (size_t i = 0; i < sizeof COURSES / sizeof *COURSES; i++) examine_top(&COURSES[i]);
}

int main(int argc, char **argv)
{
  show = argc > 1 && strcmp(argv[1], "show") == 0;
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_ball_bounces),
                                     cmocka_unit_test(times_of_stops),
                                     cmocka_unit_test(events_without_a_rule_are_refused),
                                     cmocka_unit_test(touching_events_are_refused),
                                     cmocka_unit_test(wrong_rules_are_reported),
                                     cmocka_unit_test(a_top_is_slowed_down)};
  return cmocka_run_group_tests(tests, rig_hook_klu, NULL);
}
