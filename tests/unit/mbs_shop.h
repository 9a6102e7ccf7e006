/* What the tests of a machine's elements share: a machine under construction, random points of it, its start.
 * Include after cmocka.h. */
#ifndef GALPHA_TESTS_MBS_SHOP_H
#define GALPHA_TESTS_MBS_SHOP_H

#include "core_rig.h"
#include "mbs/mbs_impl.h"

typedef struct shop {
  ga_context *ctx;
  ga_machine *m;
  ga_stepper *st;
} shop;

static const char *const SHOP_FORM[] = {"space", "body", "se3"};

static inline shop shop_open(ga_form form, double gravity_z)
{
  shop s = {NULL, NULL, NULL};
  ga_machine_opts o = ga_machine_defaults();
  o.form = form;
  o.gravity[2] = gravity_z;
  rig_memory = (rig_heap){0, 0, 0, 0};
  assert_int_equal(rig_context(&s.ctx), GA_OK);
  assert_status(s.ctx, ga_machine_create(s.ctx, &o, &s.m), GA_OK);
  return s;
}

static inline void shop_close(shop *s)
{
  ga_stepper_destroy(&s->st);
  ga_machine_destroy(&s->m);
  assert_null(s->m);
  ga_context_destroy(&s->ctx);
  assert_int_equal(rig_memory.live, 0);
}

#define SHOP_ADD(s, what, ...) assert_status((s)->ctx, ga_machine_add_##what((s)->m, __VA_ARGS__), GA_OK)

/* A rigid body that is nowhere special: turned, its centre of mass off its frame, an inertia without
 * symmetry. */
static inline void shop_rigid(shop *s, const char *name, double x, double y, double z)
{
  const double angle[3] = {0.3 + x, -0.4 + y, 0.7}, com[3] = {0.1, -0.05, 0.07};
  const double inertia[6] = {0.5, 0.7, 0.9, 0.05, -0.03, 0.04};
  ga_rigid_def d = ga_rigid_defaults();
  d.name = name;
  d.mass = 2.5;
  memcpy(d.inertia, inertia, sizeof inertia);
  memcpy(d.com, com, sizeof com);
  d.pose = ga_pose_at(x, y, z);
  assert_int_equal(ga_rotation_euler(s->ctx, "xyz", angle, d.pose.rotation), GA_OK);
  SHOP_ADD(s, rigid, &d);
}

static inline void shop_planar(shop *s, const char *name, double x, double y)
{
  ga_planar_def d = ga_planar_defaults();
  d.name = name;
  d.mass = 1.5;
  d.inertia = 0.4;
  d.com[0] = 0.1, d.com[1] = -0.06;
  d.position[0] = x, d.position[1] = y;
  d.angle = 0.4 + x;
  SHOP_ADD(s, planar, &d);
}

static inline void shop_point(shop *s, const char *name, double x, double y, double z)
{
  ga_point_def d = ga_point_defaults();
  d.name = name;
  d.mass = 2;
  d.position[0] = x, d.position[1] = y, d.position[2] = z;
  SHOP_ADD(s, point, &d);
}

static inline void shop_scalar(shop *s, const char *name, double position, double velocity)
{
  ga_scalar_def d = ga_scalar_defaults();
  d.name = name;
  d.mass = 3;
  d.position = position;
  d.velocity = velocity;
  SHOP_ADD(s, scalar, &d);
}

/* A marker off the body's origin, its axes turned. */
static inline void shop_marker(shop *s, const char *name, const char *body, double x, double y, double z)
{
  const double angle[3] = {0.2, 0.5, -0.3};
  ga_marker_def d = ga_marker_defaults();
  d.name = name;
  d.body = body;
  d.pose = ga_pose_at(x, y, z);
  assert_int_equal(ga_rotation_euler(s->ctx, "zxy", angle, d.pose.rotation), GA_OK);
  SHOP_ADD(s, marker, &d);
}

/* A marker whose axes are turned about one of its body's. */
static inline void shop_turned(shop *s, const char *name, const char *body, double x, double y, double z,
                               int axis, double angle)
{
  double about[3] = {0, 0, 0};
  ga_marker_def d = ga_marker_defaults();
  d.name = name;
  d.body = body;
  d.pose = ga_pose_at(x, y, z);
  about[axis] = 1;
  assert_int_equal(ga_rotation_axis_angle(s->ctx, about, angle, d.pose.rotation), GA_OK);
  SHOP_ADD(s, marker, &d);
}

static inline ga_function *shop_function(ga_context *ctx, const char *text)
{
  ga_function_expr_opts o = ga_function_expr_defaults();
  ga_function *f = NULL;
  o.text = text;
  assert_status(ctx, ga_function_create_expr(ctx, &o, NULL, &f), GA_OK);
  return f;
}

static inline void shop_build(shop *s)
{
  assert_status(s->ctx, ga_machine_build(s->m), GA_OK);
}

/* Building, with the n-th allocation failing, for n = 1, 2, ... until none does. */
static inline void shop_fail_memory(shop (*make)(void))
{
  for (long n = 1, failed = 1; failed; n += rig_brief() ? 23 : 1) {
    shop s = make();
    rig_memory.fail_at = rig_memory.count + n;
    const ga_status status = ga_machine_build(s.m);
    failed = rig_memory.count >= rig_memory.fail_at;
    rig_memory.fail_at = 0;
    assert_int_equal(status, failed ? GA_ERR_MEMORY : GA_OK);
    shop_close(&s);
  }
}

/* A point within `reach` of the start, everything else at random. */
static inline void shop_spot(rig_spot *spot, const shop *s, rig_random *random, double reach)
{
  const ga_system *sys = ga_machine_system(s->m);
  double q0[RIG_MOST], d[RIG_MOST];
  assert_true(sys->n <= RIG_MOST && sys->nq <= RIG_MOST);
  assert_status(s->ctx, ga_machine_initial(s->m, q0, spot->v, spot->x), GA_OK);
  for (int i = 0; i < sys->nv; i++) d[i] = rig_uniform(random, -reach, reach);
  ga_group_move(sys->group, spot->q, q0, d);
  rig_fill(spot->v, sys->nv, random);
  rig_fill(spot->vdot, sys->nv, random);
  rig_fill(spot->lambda, sys->size[GA_BLOCK_LAMBDA], random);
  rig_fill(spot->psi, sys->size[GA_BLOCK_PSI], random);
  rig_fill(spot->x, sys->size[GA_BLOCK_X], random);
  rig_fill(spot->y, sys->size[GA_BLOCK_Y], random);
  spot->p = (ga_point){rig_uniform(random, 0.0, 1.0),
                       spot->q,
                       spot->v,
                       spot->vdot,
                       spot->lambda,
                       spot->psi,
                       spot->x,
                       spot->y,
                       0,
                       NULL};
}

/* All derivatives at n random points. */
static inline void shop_check(const shop *s, rig_random *random, int n, double reach, double tol,
                              const char *what)
{
  for (int k = 0, attempts = 0; k < n; k++, attempts++) {
    rig_spot spot;
    ga_check_report report;
    shop_spot(&spot, s, random, reach);
    ga_status status = ga_system_check(ga_machine_system(s->m), &spot.p, tol, &report);
    if (attempts > 10 * n + 10) fail_msg("%s: too few points can be judged", what);
    if (report.n_unsure > 0) { /* a kink or a singularity is near: another point */
      k--;
      continue;
    }
    if (status) fail_msg("%s: %s", what, ga_context_error(s->ctx)->text);
    assert_true(report.n_checked > 0);
  }
}

/* Accelerations and multipliers at the start, as given. */
static inline const ga_state *shop_start(shop *s)
{
  double q0[RIG_MOST], v0[RIG_MOST], x0[RIG_MOST];
  const ga_stepper_opts opts = ga_stepper_defaults();
  ga_start_opts o = ga_start_defaults();
  o.h = 1e-4;
  shop_build(s);
  assert_status(s->ctx, ga_machine_initial(s->m, q0, v0, x0), GA_OK);
  assert_status(s->ctx, ga_stepper_create(s->ctx, ga_machine_system(s->m), &opts, &s->st), GA_OK);
  assert_status(s->ctx, ga_stepper_start(s->st, &o, 0, q0, v0, x0, NULL, NULL, NULL), GA_OK);
  return ga_stepper_state(s->st);
}

static inline double shop_signal(const shop *s, const ga_state *state, const char *name)
{
  double value = NAN;
  const int index = ga_machine_find_signal(s->m, name);
  if (index < 0) fail_msg("there is no signal '%s'", name);
  assert_status(s->ctx, ga_machine_signals(s->m, NULL, state, 1, &index, &value), GA_OK);
  return value;
}

/* ---- Runs ---- */

typedef struct shop_trial {
  ga_method method;
  double t_end, fixed_h, tol; /* fixed_h 0: error control of the tolerance tol; 0: the defaults */
} shop_trial;

/* A run that has started, with the options given beside those of the trial; s->st has its state. */
static inline ga_simulator *shop_begin_with(shop *s, const shop_trial *r, ga_simulate_opts o)
{
  double q0[RIG_MOST], v0[RIG_MOST], x0[RIG_MOST];
  ga_stepper_opts opts = ga_stepper_defaults();
  ga_simulator *sim = NULL;
  opts.method = r->method;
  o.t_end = r->t_end;
  o.fixed_h = r->fixed_h;
  if (r->tol > 0) o.rtol = o.rtol_v = o.atol = o.atol_v = r->tol;
  assert_status(s->ctx, ga_machine_initial(s->m, q0, v0, x0), GA_OK);
  assert_status(s->ctx, ga_stepper_create(s->ctx, ga_machine_system(s->m), &opts, &s->st), GA_OK);
  assert_status(s->ctx, ga_simulator_create(s->ctx, s->st, &o, &sim), GA_OK);
  assert_status(s->ctx, ga_simulator_start(sim, NULL, 0, q0, v0, x0, NULL, NULL, NULL), GA_OK);
  return sim;
}

static inline ga_simulator *shop_begin(shop *s, const shop_trial *r, ga_observer_fn observer, void *user)
{
  ga_simulate_opts o = ga_simulate_defaults();
  o.observer = observer;
  o.user = user;
  return shop_begin_with(s, r, o);
}

/* With the machine's events, which `seen` is told. */
static inline ga_simulator *shop_begin_watched(shop *s, const shop_trial *r, ga_event_seen_fn seen,
                                               void *user, ga_event_watch **watch)
{
  ga_simulate_opts o = ga_simulate_defaults();
  assert_status(s->ctx, ga_event_watch_create(s->ctx, s->m, seen, user, watch), GA_OK);
  ga_event_watch_use(*watch, &o);
  return shop_begin_with(s, r, o);
}

/* A signal at the present state. */
static inline double shop_now(const shop *s, const char *signal)
{
  return shop_signal(s, ga_stepper_state(s->st), signal);
}

#endif
