/* What the tests of machines share: a machine, random points of it, and its derivatives checked there.
 * Include after cmocka.h. */
#ifndef GALPHA_TESTS_MBS_RIG_H
#define GALPHA_TESTS_MBS_RIG_H

#include "core_rig.h"
#include "mbs/mbs_impl.h"

/* The next number of the case that runs, in [−1, 1). */
static inline double mbs_random(void)
{
  static rig_random numbers;
  static const char *name;
  if (name != seeds.name) numbers = rig_seed(0), name = seeds.name;
  return rig_uniform(&numbers, -1.0, 1.0);
}

static inline void mbs_random_rotation(double R[9])
{
  const double axis[3] = {mbs_random(), mbs_random(), mbs_random() + 1e-3};
  ga_context *ctx;
  assert_int_equal(ga_context_create(NULL, &ctx), GA_OK);
  assert_int_equal(ga_rotation_axis_angle(ctx, axis, 3.0 * mbs_random(), R), GA_OK);
  ga_context_destroy(&ctx);
}

typedef struct mbs_rig {
  ga_context *ctx;
  ga_machine *m;
} mbs_rig;

static inline mbs_rig mbs_open(ga_form form)
{
  mbs_rig r = {NULL, NULL};
  ga_machine_opts o = ga_machine_defaults();
  o.form = form;
  o.gravity[1] = 1.5;
  o.gravity[2] = -9.81;
  rig_memory = (rig_heap){0, 0, 0, 0};
  assert_int_equal(rig_context(&r.ctx), GA_OK);
  assert_int_equal(ga_machine_create(r.ctx, &o, &r.m), GA_OK);
  return r;
}

static inline void mbs_close(mbs_rig *r)
{
  ga_machine_destroy(&r->m);
  ga_context_destroy(&r->ctx);
  assert_int_equal(rig_memory.live, 0);
}

static inline void mbs_ok(const mbs_rig *r, ga_status status)
{
  assert_status(r->ctx, status, GA_OK);
}

/* A body with a full inertia tensor, its centre of mass off its frame, anywhere, moving. */
static inline ga_rigid_def mbs_body(const char *name)
{
  ga_rigid_def d = ga_rigid_defaults();
  const double J[6] = {0.3, 0.4, 0.5, 0.03, -0.02, 0.05};
  d.name = name;
  d.mass = 1.7;
  memcpy(d.inertia, J, sizeof J);
  mbs_random_rotation(d.pose.rotation);
  for (int i = 0; i < 3; i++) {
    d.com[i] = 0.2 * mbs_random();
    d.pose.position[i] = mbs_random();
    d.velocity[i] = mbs_random();
    d.omega[i] = 2.0 * mbs_random();
  }
  return d;
}

static inline ga_planar_def mbs_planar(const char *name)
{
  ga_planar_def d = ga_planar_defaults();
  d.name = name;
  d.mass = 1.3;
  d.inertia = 0.2;
  for (int i = 0; i < 2; i++) {
    d.com[i] = 0.2 * mbs_random();
    d.position[i] = mbs_random();
    d.velocity[i] = mbs_random();
  }
  d.angle = 3.0 * mbs_random();
  d.rate = mbs_random();
  return d;
}

static inline void mbs_marker(const mbs_rig *r, const char *name, const char *body, int planar)
{
  ga_marker_def d = ga_marker_defaults();
  const double z[3] = {0, 0, 1};
  d.name = name;
  d.body = body;
  for (int i = 0; i < (planar ? 2 : 3); i++) d.pose.position[i] = 0.3 * mbs_random();
  if (planar)
    assert_int_equal(ga_rotation_axis_angle(r->ctx, z, mbs_random(), d.pose.rotation), GA_OK);
  else
    mbs_random_rotation(d.pose.rotation);
  mbs_ok(r, ga_machine_add_marker(r->m, &d));
}

enum { MBS_MOST = 64 }; /* coordinates of a machine that mbs_start() can take */

/* A stepper at the start; rho NaN and shift_a −1: the defaults. */
static inline ga_stepper *mbs_start(const mbs_rig *r, double rho, double h, int shift_a)
{
  ga_stepper *st = NULL;
  ga_stepper_opts o = ga_stepper_defaults();
  ga_start_opts start = ga_start_defaults();
  double q[MBS_MOST], v[MBS_MOST], x[MBS_MOST];
  if (!isnan(rho)) mbs_ok(r, ga_scheme_rho(r->ctx, rho, &o.scheme));
  mbs_ok(r, ga_machine_initial(r->m, q, v, x));
  mbs_ok(r, ga_stepper_create(r->ctx, ga_machine_system(r->m), &o, &st));
  start.h = h;
  if (shift_a >= 0) start.shift_a = shift_a;
  start.max_change = 10;
  mbs_ok(r, ga_stepper_start(st, &start, 0, q, v, x, NULL, NULL, NULL));
  return st;
}

/* A signal at the stepper's state; meter may be NULL. */
static inline double mbs_signal(const mbs_rig *r, const ga_meter *meter, const ga_stepper *st,
                                const char *name)
{
  const int i = ga_machine_find_signal(r->m, name);
  double value;
  if (i < 0) fail_msg("there is no signal '%s'", name);
  mbs_ok(r, ga_machine_signals(r->m, meter, ga_stepper_state(st), 1, &i, &value));
  return value;
}

/* Findings of these kinds, 1 << ga_check_what, at `count` random points off the constraints, within `size` of
 * the start. */
static inline void mbs_check_kinds(const mbs_rig *r, const char *what, int count, double size, double tol,
                                   unsigned kinds)
{
  const ga_system *sys = ga_machine_system(r->m);
  const ga_group *g = ga_system_group(sys);
  int nq = ga_group_nq(g), nv = ga_group_nv(g), n[5];
  for (int b = 0; b < GA_N_BLOCKS; b++) n[b] = ga_system_size(sys, (ga_equation_block)b);
  double *block = test_calloc((size_t)(2 * nq + 3 * nv + n[1] + n[2] + n[3] + n[4]) + 8, sizeof *block);
  double *q0 = block, *q = q0 + nq, *d = q + nq, *v = d + nv, *vdot = v + nv, *la = vdot + nv,
         *psi = la + n[1], *x = psi + n[2], *y = x + n[3];
  for (int k = 0, attempts = 0; k < count; k++, attempts++) {
    mbs_ok(r, ga_machine_initial(r->m, q0, v, x));
    for (int i = 0; i < nv; i++)
      d[i] = size * mbs_random(), v[i] = 2.0 * mbs_random(), vdot[i] = 5.0 * mbs_random();
    for (int i = 0; i < n[1]; i++) la[i] = 3.0 * mbs_random();
    for (int i = 0; i < n[2]; i++) psi[i] = 3.0 * mbs_random();
    for (int i = 0; i < n[3]; i++) x[i] = mbs_random();
    for (int i = 0; i < n[4]; i++) y[i] = mbs_random();
    ga_group_move(g, q, q0, d);
    ga_point p = {0.37 + 0.1 * mbs_random(), q, v, vdot, la, psi, x, y, 0, NULL};
    ga_check_report report;
    const ga_status status = ga_system_check(sys, &p, tol, &report);
    if (status != GA_ERR_DERIVATIVE) mbs_ok(r, status);
    if (attempts > 10 * count + 10) fail_msg("%s: too few points can be judged", what);
    if (report.n_unsure > 0) { /* a kink or a singularity is near: another point */
      k--;
      continue;
    }
    for (int i = 0; i < report.n_findings; i++)
      if (kinds >> report.finding[i].what & 1u)
        fail_msg("%s: %s (%d of %d wrong; row %d, column %d: %.9g instead of %.9g)", what,
                 ga_context_error(r->ctx)->text, report.n_wrong, report.n_checked, report.finding[i].row,
                 report.finding[i].col, report.finding[i].given, report.finding[i].expected);
  }
  test_free(block);
}

static inline void mbs_check(const mbs_rig *r, const char *what, int count, double size, double tol)
{
  mbs_check_kinds(r, what, count, size, tol, ~0u);
}

#endif
