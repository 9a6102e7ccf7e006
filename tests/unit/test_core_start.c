/* Consistent initial values, what is said about them, and projections of the velocity. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core_rig.h"

/* ---- A particle of mass 1 in the plane under gravity, on rods ---------------------------------------------
 * Φ_i = scale_i (x² + y² − square)/2. One rod is a pendulum; a second one repeats the first; a negative
 * square contradicts itself. mass_y 0 takes the inertia of y away. */
typedef struct rods {
  double scale[2], square, mass_y;
} rods;

static int rods_mass(void *user, const ga_point *p, double *out)
{
  const rods *r = user;
  out[0] = p->vdot[0];
  out[1] = r->mass_y * p->vdot[1];
  return 0;
}

static double tension(const rods *r, const ga_point *p)
{
  return r->scale[0] * p->lambda[0] + (r->scale[1] != 0.0 ? r->scale[1] * p->lambda[1] : 0.0);
}

static int rods_force(void *user, const ga_point *p, double *out)
{
  double T = ((const rods *)user)->scale[0] != 0.0 ? tension(user, p) : 0.0;
  out[0] = -p->q[0] * T;
  out[1] = -9.81 - p->q[1] * T;
  return 0;
}

static int n_rods(const rods *r)
{
  return (r->scale[0] != 0.0) + (r->scale[1] != 0.0);
}

static int rods_phi(void *user, const ga_point *p, double *out)
{
  const rods *r = user;
  for (int i = 0; i < n_rods(r); i++)
    out[i] = 0.5 * r->scale[i] * (p->q[0] * p->q[0] + p->q[1] * p->q[1] - r->square);
  return 0;
}

static int rods_jacobian(void *user, const ga_point *p, ga_jacobian *J)
{
  const rods *r = user;
  const int n = 2 + n_rods(r);
  J->D[0] = J->shift_vdot;
  J->D[n + 1] = r->mass_y * J->shift_vdot;
  for (int i = 0; i < n - 2; i++)
    for (int j = 0; j < 2; j++) {
      J->D[j * n + 2 + i] = r->scale[i] * p->q[j];
      J->Q[(2 + i) * n + j] = r->scale[i] * p->q[j];
      J->G[(2 + i) * n + j] = r->scale[i] * p->v[j];
    }
  for (int j = 0; j < 2 && n > 2; j++) J->Q[j * n + j] = tension(r, p);
  return 0;
}

static void rods_name(void *user, ga_equation_block block, int index, char *text, size_t size)
{
  (void)user;
  if (block == GA_BLOCK_LAMBDA) snprintf(text, size, "rod %c", "AB"[index]);
  if (block == GA_BLOCK_V) snprintf(text, size, "coordinate %c", "xy"[index]);
}

static rig rods_define(rods *user)
{
  static const ga_factor plane[] = {{GA_RN, 2, GA_LEFT}};
  rig r = rig_open(NULL);
  r.def.n_factors = 1;
  r.def.factors = plane;
  r.def.n_lambda = n_rods(user);
  r.def.user = user;
  r.def.mass = rods_mass;
  r.def.force = rods_force;
  r.def.phi = r.def.n_lambda ? rods_phi : NULL;
  r.def.jacobian = rods_jacobian;
  r.def.name = rods_name;
  return r;
}

static rig rods_build(rods *user)
{
  rig r = rods_define(user);
  rig_build(&r);
  return r;
}

static ga_start_opts opts_of(double h)
{
  ga_start_opts o = ga_start_defaults();
  o.h = h;
  return o;
}

static ga_status start_at(rig *r, const ga_start_opts *o, const double *q, const double *v,
                          ga_start_report *report)
{
  return ga_stepper_start(r->st, o, 0.0, q, v, NULL, NULL, NULL, report);
}

/* ---- Consistent, nearly consistent, inconsistent ---- */

static void consistent_values_stay(void **state)
{
  static const char *const name[] = {
      "heavy_top", "heavy_top_s3", "heavy_top_se3", "tumbling_top", "pendulum",          "mechatronic",
      "test71",    "test15",       "rolling_disk",  "spring_mass",  "rank_deficient_d2", "slider_crank"};
  (void)state;
  for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
    rig r = rig_open(name[i]);
    ga_start_opts o = opts_of(r.problem->h);
    ga_start_report report;
    rig_build(&r);
    assert_status(r.ctx, rig_try_start(&r, &o, &report), GA_OK);
    const ga_state *s = ga_stepper_state(r.st);
    assert_memory_equal(s->q, r.problem->q0, (size_t)r.sys->nq * sizeof(double));
    assert_memory_equal(s->v, r.problem->v0, (size_t)r.sys->nv * sizeof(double));
    assert_true(s->t == 0.0);
    assert_true(report.position.change == 0.0 && report.velocity.change == 0.0);
    assert_int_equal(report.position.iterations, 0);
    assert_int_equal(report.position.worst_change, -1);
    assert_true(report.rcond > 0.0 && report.rcond <= 1.0);
    rig_close(&r);
  }
}

static void inconsistent_values_are_projected(void **state)
{
  rods user = {{1.0, 0.0}, 1.0, 1.0};
  const double q0[] = {0.62, -0.81}, v0[] = {0.5, 0.3};
  rig r = rods_build(&user);
  ga_start_opts o = opts_of(1e-3);
  ga_start_report p;
  char text[1024];
  (void)state;
  assert_status(r.ctx, start_at(&r, &o, q0, v0, &p), GA_OK);
  const ga_state *s = ga_stepper_state(r.st);
  double phi = 0.5 * (0.62 * 0.62 + 0.81 * 0.81 - 1.0), rate = 0.62 * 0.5 - 0.81 * 0.3,
         length = hypot(0.62, 0.81);
  assert_near(hypot(s->q[0], s->q[1]), 1.0, 4e-16, "length");
  assert_near(s->q[0] * s->v[0] + s->q[1] * s->v[1], 0.0, 4e-16, "B v");
  /* along the normal: here towards the origin */
  assert_near(s->q[0], 0.62 / length, 1e-5, "q");
  assert_near(p.position.residual_before, fabs(phi), 1e-15, "position, before");
  assert_true(p.position.residual_after < 1e-15);
  assert_near(p.position.change, 0.81 * (1.0 - 1.0 / length), 1e-5, "position, change");
  assert_int_equal(p.position.worst_before, 0);
  assert_int_equal(p.position.worst_change, 1);
  assert_in_range(p.position.iterations, 1, 6);
  assert_near(p.velocity.residual_before, fabs(rate) / length, 1e-5, "velocity, before");
  assert_true(p.velocity.residual_after < 1e-15);
  assert_int_equal(p.velocity.worst_before, 0);
  assert_true(p.velocity.change > 0.0);
  int length_needed = ga_start_report_text(r.sys, &p, text, sizeof text);
  assert_int_equal(length_needed, strlen(text));
  static const char *const part[] = {"positions: residual",
                                     "largest in 'rod A' (phi 0)",
                                     "mended to",
                                     "q moved by up to",
                                     "most in 'coordinate y' (coordinate 1)",
                                     "velocities: residual",
                                     "v moved by up to",
                                     "accelerations: solved in",
                                     "a: shifted from vdot by up to"};
  for (size_t i = 0; i < sizeof part / sizeof *part; i++)
    if (!strstr(text, part[i])) fail_msg("'%s' is not in '%s'", part[i], text);
  if (strstr(text, "v: moved off") || strstr(text, "w: shifted")) fail_msg("not done: %s", text);
  assert_true(q0[0] == 0.62 && v0[0] == 0.5);
  rig_close(&r);
}

static void report_text_is_cut(void **state)
{
  rods user = {{1.0, 0.0}, 1.0, 1.0};
  const double q0[] = {0.6, -0.8}, v0[] = {0.8, 0.6};
  rig r = rods_build(&user);
  ga_start_opts o = opts_of(1e-3);
  ga_start_report p;
  char whole[1024], part[40];
  (void)state;
  assert_status(r.ctx, start_at(&r, &o, q0, v0, &p), GA_OK);
  int n = ga_start_report_text(r.sys, &p, whole, sizeof whole);
  assert_true(n > (int)sizeof part);
  assert_int_equal(ga_start_report_text(r.sys, &p, NULL, 0), n);
  for (size_t size = 1; size <= sizeof part; size++) {
    memset(part, '#', sizeof part);
    assert_int_equal(ga_start_report_text(r.sys, &p, part, size), n);
    assert_int_equal(strlen(part), size - 1);
    assert_memory_equal(part, whole, size - 1);
    for (size_t i = size; i < sizeof part; i++) assert_int_equal(part[i], '#');
  }
  rig_close(&r);
}

static void too_far_is_refused(void **state)
{
  rods user = {{1.0, 0.0}, 1.0, 1.0};
  const double far[] = {0.9, -1.2}, on[] = {0.6, -0.8}, along[] = {0.8, 0.6}, away[] = {3.0, 0.0};
  rig r = rods_build(&user);
  ga_start_opts o = opts_of(1e-3);
  (void)state;
  assert_int_equal(start_at(&r, &o, far, along, NULL), GA_ERR_INCONSISTENT);
  assert_error(r.ctx, GA_REASON_START_OFF, NULL, "max_change", "positions");
  assert_string_equal(ga_context_error(r.ctx)->equation, "'rod A' (phi 0)");
  assert_string_equal(ga_context_error(r.ctx)->other, "'coordinate y' (coordinate 1)");
  assert_error_number(r.ctx, 2, 0.1);
  assert_int_equal(ga_context_error(r.ctx)->block, GA_BLOCK_LAMBDA);
  assert_int_equal(ga_context_error(r.ctx)->index, 0);
  assert_null(ga_stepper_state(r.st));
  assert_int_equal(ga_stepper_step(r.st, 1e-3), GA_ERR_ORDER);
  assert_int_equal(start_at(&r, &o, on, away, NULL), GA_ERR_INCONSISTENT);
  assert_error(r.ctx, GA_REASON_START_OFF, NULL, "max_change", "velocities");
  assert_string_equal(ga_context_error(r.ctx)->equation, "'rod A' (phi 0)");
  o.max_change = 1.0;
  assert_status(r.ctx, start_at(&r, &o, far, away, NULL), GA_OK);
  assert_near(ga_stepper_state(r.st)->q[0], 0.6, 1e-15, "x");
  /* a failed start takes the state away */
  o.max_change = 1e-3;
  assert_int_equal(start_at(&r, &o, far, away, NULL), GA_ERR_INCONSISTENT);
  assert_null(ga_stepper_state(r.st));
  rig_close(&r);
}

/* k off, and nothing else: the message is of k. */
static void nonholonomic_is_named(void **state)
{
  rig r = rig_open("test71");
  ga_start_opts o = opts_of(0.01);
  ga_start_report p;
  double v[] = {1.02, -2.0}, wrong[] = {2.0, 3.0};
  char text[1024];
  (void)state;
  rig_build(&r);
  assert_status(
      r.ctx, ga_stepper_start(r.st, &o, 0.0, r.problem->q0, v, NULL, NULL, r.problem->psi_guess, &p), GA_OK);
  assert_near(p.nonholonomic.residual_before, fabs(1.02 * 1.02 * -2.0 + 6.0 * 1.02 - 4.0), 1e-14, "k before");
  assert_true(p.nonholonomic.residual_after < 1e-14);
  assert_true(p.velocity.change > 0.0);
  const double *w = ga_stepper_state(r.st)->v;
  assert_near(w[0] * w[0] * w[1] + 6.0 * w[0] - 4.0, 0.0, 1e-14, "k");
  ga_start_report_text(r.sys, &p, text, sizeof text);
  assert_non_null(strstr(text, "nonholonomic: residual"));
  assert_int_equal(
      ga_stepper_start(r.st, &o, 0.0, r.problem->q0, wrong, NULL, NULL, r.problem->psi_guess, &p),
      GA_ERR_INCONSISTENT);
  assert_int_equal(ga_context_error(r.ctx)->block, GA_BLOCK_PSI);
  assert_error(r.ctx, GA_REASON_START_OFF, NULL, NULL, "velocities");
  assert_string_equal(ga_context_error(r.ctx)->equation, "k 0");
  rig_close(&r);
}

static void projection_can_be_left_out(void **state)
{
  rods user = {{1.0, 0.0}, 1.0, 1.0};
  const double q0[] = {0.62, -0.81}, v0[] = {0.5, 0.3};
  rig r = rods_build(&user);
  ga_start_opts o = opts_of(1e-3);
  ga_start_report p;
  char text[1024];
  (void)state;
  o.project = 0;
  assert_status(r.ctx, start_at(&r, &o, q0, v0, &p), GA_OK);
  assert_memory_equal(ga_stepper_state(r.st)->q, q0, sizeof q0);
  assert_memory_equal(ga_stepper_state(r.st)->v, v0, sizeof v0);
  assert_near(p.position.residual_before, 0.02025, 1e-12, "position");
  assert_true(p.position.residual_after == p.position.residual_before && p.position.change == 0.0);
  assert_true(p.velocity.change == 0.0);
  ga_start_report_text(r.sys, &p, text, sizeof text);
  assert_non_null(strstr(text, "positions: residual 0.0203, left as given"));
  rig_close(&r);
}

/* ---- What cannot be mended ---- */

static void contradictions(void **state)
{
  rods user = {{1.0, 0.0}, -1.0, 1.0}; /* x² + y² + 1 = 0 */
  const double q0[] = {0.6, -0.7}, v0[] = {0.0, 0.0};
  rig r = rods_build(&user);
  ga_start_opts o = opts_of(1e-3);
  (void)state;
  o.max_change = HUGE_VAL;
  assert_status(r.ctx, start_at(&r, &o, q0, v0, NULL), GA_ERR_INCONSISTENT);
  assert_error(r.ctx, GA_REASON_ASSEMBLY_OPEN, NULL, NULL, NULL);
  assert_string_equal(ga_context_error(r.ctx)->equation, "'rod A' (phi 0)");
  assert_null(ga_stepper_state(r.st));
  rig_close(&r);
}

static void doubled_constraint(void **state)
{
  const double q0[] = {0.6, -0.8}, v0[] = {0.8, 0.6};
  (void)state;
  for (int k = 0; k < 3; k++) {
    rods user = {{1.0, k == 0 ? 1.0 : k == 1 ? 3.0 : -0.7}, 1.0, 1.0};
    rig r = rods_build(&user);
    ga_start_opts o = opts_of(1e-3);
    r.st->opts.redundant = GA_REDUNDANT_REFUSE;
    assert_status(r.ctx, start_at(&r, &o, q0, v0, NULL), GA_ERR_SINGULAR);
    assert_error(r.ctx, GA_REASON_SINGULAR_START, NULL, NULL, NULL);
    assert_string_equal(ga_context_error(r.ctx)->equation, "'rod B' (lambda 1)");
    assert_says(r.ctx, "A constraint that repeats another one");
    assert_int_equal(ga_context_error(r.ctx)->block, GA_BLOCK_LAMBDA);
    assert_int_equal(ga_context_error(r.ctx)->index, 1);
    rig_close(&r);
  }
}

static void free_massless_coordinate(void **state)
{
  rods user = {{0.0, 0.0}, 1.0, 0.0};
  const double q0[] = {0.6, -0.8}, v0[] = {0.8, 0.6};
  rig r = rods_build(&user);
  ga_start_opts o = opts_of(1e-3);
  (void)state;
  assert_status(r.ctx, start_at(&r, &o, q0, v0, NULL), GA_ERR_SINGULAR);
  assert_string_equal(ga_context_error(r.ctx)->equation, "'coordinate y' (coordinate 1)");
  assert_says(r.ctx, "A massless coordinate must be held by constraints");
  rig_close(&r);
}

/* ---- Arguments ---- */

static void step_and_change_arguments(void **state)
{
  rig r = rig_open("pendulum");
  const double h[] = {0.0, -1e-3, NAN, INFINITY}, change[] = {0.0, -1.0, NAN};
  (void)state;
  rig_build(&r);
  for (size_t i = 0; i < sizeof h / sizeof *h; i++) {
    ga_start_opts o = opts_of(h[i]);
    assert_int_equal(rig_try_start(&r, &o, NULL), GA_ERR_ARGUMENT);
    assert_call_error(r.ctx, GA_REASON_OUT_OF_RANGE, "start", "h");
  }
  for (size_t i = 0; i < sizeof change / sizeof *change; i++) {
    ga_start_opts o = opts_of(1e-3);
    o.max_change = change[i];
    assert_int_equal(rig_try_start(&r, &o, NULL), GA_ERR_ARGUMENT);
    assert_call_error(r.ctx, GA_REASON_OUT_OF_RANGE, "start", "max_change");
  }
  ga_start_opts o = opts_of(1e-3);
  assert_int_equal(ga_stepper_start(NULL, &o, 0.0, NULL, NULL, NULL, NULL, NULL, NULL), GA_ERR_ARGUMENT);
  assert_int_equal(rig_try_start(&r, NULL, NULL), GA_ERR_ARGUMENT);
  rig_close(&r);
}

static void value_arguments(void **state)
{
  rig r = rig_open("mechatronic");
  ga_start_opts o = opts_of(1e-3);
  const double *given[3] = {r.problem->q0, r.problem->v0, r.problem->x0};
  const char *const name[] = {"q0", "v0", "x0"};
  const double bad[] = {NAN, INFINITY, -INFINITY};
  (void)state;
  rig_build(&r);
  for (int i = 0; i < 3; i++) {
    const double *use[3] = {given[0], given[1], given[2]};
    double spoilt[3];
    use[i] = NULL;
    assert_int_equal(ga_stepper_start(r.st, &o, 0.0, use[0], use[1], use[2], NULL, NULL, NULL),
                     GA_ERR_ARGUMENT);
    assert_call_error(r.ctx, GA_REASON_NULL_ARGUMENT, "start", name[i]);
    assert_error_number(r.ctx, 0, 3);
    for (int b = 0; b < 3; b++) {
      memcpy(spoilt, given[i], sizeof spoilt);
      spoilt[2] = bad[b];
      use[i] = spoilt;
      assert_int_equal(ga_stepper_start(r.st, &o, 0.0, use[0], use[1], use[2], NULL, NULL, NULL), GA_ERR_NAN);
      assert_call_error(r.ctx, GA_REASON_NOT_FINITE, "start", name[i]);
      assert_int_equal(ga_context_error(r.ctx)->item, 2);
      assert_error_number(r.ctx, 0, bad[b]);
    }
  }
  for (int b = 0; b < 3; b++) {
    assert_int_equal(ga_stepper_start(r.st, &o, bad[b], given[0], given[1], given[2], NULL, NULL, NULL),
                     GA_ERR_NAN);
    assert_call_error(r.ctx, GA_REASON_NOT_FINITE, "start", "t0");
  }
  assert_null(ga_stepper_state(r.st));
  rig_close(&r);
}

static void off_the_group(void **state)
{
  static const char *const name[] = {"heavy_top", "heavy_top_s3", "heavy_top_se3"};
  (void)state;
  for (int i = 0; i < 3; i++) {
    rig r = rig_open(name[i]);
    ga_start_opts o = opts_of(1e-3);
    double q[12];
    rig_build(&r);
    memcpy(q, r.problem->q0, (size_t)r.sys->nq * sizeof *q);
    for (int k = 3; k < r.sys->nq; k++) q[k] *= 1.001;
    assert_int_equal(start_at(&r, &o, q, r.problem->v0, NULL), GA_ERR_INCONSISTENT);
    assert_call_error(r.ctx, GA_REASON_OFF_GROUP, "start", "q0");
    for (int k = 3; k < r.sys->nq; k++) q[k] = r.problem->q0[k] * (1.0 + 1e-9); /* as a file may round it */
    assert_status(r.ctx, start_at(&r, &o, q, r.problem->v0, NULL), GA_OK);
    assert_below(ga_group_defect(ga_system_group(r.sys), ga_stepper_state(r.st)->q), 1e-15, name[i]);
    rig_close(&r);
  }
}

/* f of test (15) is quadratic in λ and cubic in ψ: the guesses choose the root, and must be numbers. */
static void guesses(void **state)
{
  rig r = rig_open("test15");
  ga_start_opts o = opts_of(0.01);
  const ex_problem *p = r.problem;
  const double near[] = {1.3}, bad[] = {NAN};
  (void)state;
  rig_build(&r);
  assert_status(r.ctx, ga_stepper_start(r.st, &o, 0.0, p->q0, p->v0, NULL, near, near, NULL), GA_OK);
  assert_near(ga_stepper_state(r.st)->lambda[0], 1.0, 1e-12, "lambda");
  assert_near(ga_stepper_state(r.st)->psi[0], 1.0, 1e-12, "psi");
  assert_near(ga_stepper_state(r.st)->vdot[0], 1.0, 1e-12, "vdot");
  assert_near(ga_stepper_state(r.st)->vdot[1], 4.0, 1e-12, "vdot");
  assert_int_equal(ga_stepper_start(r.st, &o, 0.0, p->q0, p->v0, NULL, bad, near, NULL), GA_ERR_NAN);
  assert_call_error(r.ctx, GA_REASON_NOT_FINITE, "start", "lambda_guess");
  assert_int_equal(ga_stepper_start(r.st, &o, 0.0, p->q0, p->v0, NULL, near, bad, NULL), GA_ERR_NAN);
  assert_call_error(r.ctx, GA_REASON_NOT_FINITE, "start", "psi_guess");
  rig_close(&r);
}

/* ---- The method's own starting values ---- */

/* An oscillator with a filter: vdot = −ω² q, vddot = −ω² v; xdot = (q − x)/τ, xddot = (v − xdot)/τ. */
static const double omega2 = 30.0, tau = 0.2;
static int osc_mass(void *user, const ga_point *p, double *out)
{
  (void)user;
  out[0] = p->vdot[0];
  return 0;
}
static int osc_force(void *user, const ga_point *p, double *out)
{
  (void)user;
  out[0] = -omega2 * p->q[0];
  return 0;
}
static int osc_state(void *user, const ga_point *p, double *out)
{
  (void)user;
  out[0] = (p->q[0] - p->x[0]) / tau;
  return 0;
}

static void shifts_of_a_and_w(void **state)
{
  static const ga_factor line[] = {{GA_RN, 1, GA_LEFT}};
  const double rho[] = {0.0, 0.2, 0.8, 1.0}, q0 = 0.7, v0 = -1.1, x0 = 0.25, h = 0.01;
  (void)state;
  for (int i = 0; i < 8; i++) {
    rig r = rig_open(NULL);
    ga_start_report p;
    char text[512];
    ga_start_opts o = opts_of(h);
    r.def.n_factors = 1;
    r.def.factors = line;
    r.def.n_x = 1;
    r.def.mass = osc_mass;
    r.def.force = osc_force;
    r.def.state = osc_state;
    assert_int_equal(ga_scheme_rho(r.ctx, rho[i % 4], &r.opts.scheme), GA_OK);
    o.shift_a = i < 4;
    rig_build(&r);
    assert_status(r.ctx, ga_stepper_start(r.st, &o, 0.0, &q0, &v0, &x0, NULL, NULL, &p), GA_OK);
    const ga_scheme *s = &r.opts.scheme;
    const ga_state *z = ga_stepper_state(r.st);
    double vddot = -omega2 * v0, xdot = (q0 - x0) / tau, xddot = (v0 - xdot) / tau;
    double da = o.shift_a * (s->alpha_m - s->alpha_f) * h * vddot,
           dw = o.shift_a * (s->delta_m - s->delta_f) * h * xddot;
    assert_near(z->vdot[0], -omega2 * q0, 1e-12, "vdot");
    assert_near(z->xdot[0], xdot, 1e-12, "xdot");
    assert_near(z->a[0] - z->vdot[0], da, 1e-8, "a - vdot");
    assert_near(z->w[0] - z->xdot[0], dw, 1e-8, "w - xdot");
    assert_near(p.a_shift, fabs(da), 1e-8, "a_shift");
    assert_near(p.w_shift, fabs(dw), 1e-8, "w_shift");
    assert_near(p.jerk, o.shift_a ? fabs(vddot) : 0.0, 1e-6, "jerk");
    ga_start_report_text(r.sys, &p, text, sizeof text);
    assert_int_equal(strstr(text, "w: shifted from xdot") != NULL, dw != 0.0);
    rig_close(&r);
  }
}

/* B at the present state times d. */
static void times_b(const rig *r, double *out, const double *d)
{
  ga__deriv w;
  double *value = calloc(3 * (size_t)r->sys->n_entries, sizeof *value);
  ga_point p = ga__state_point(&r->st->now);
  ga_jacobian J = {GA_WANT_B, 0.0, 0.0, value, value + r->sys->n_entries, value + 2 * r->sys->n_entries};
  assert_non_null(value);
  assert_status(r->ctx, ga__deriv_create(r->sys, &w), GA_OK);
  assert_status(r->ctx, ga__jacobian(&w, &p, &J), GA_OK);
  for (int i = 0; i < r->sys->size[GA_BLOCK_LAMBDA]; i++) out[i] = 0.0;
  ga__b_mul(r->sys, out, J.Q, d);
  ga__deriv_destroy(&w);
  free(value);
}

/* h² B r with r = ((1−6β−3Δ)/6) vddot + [v,vdot]/12; vddot from the shift of a, a₀ = vdot + Δ h vddot. */
static void expected_offset(const rig *r, double h, const double *vddot, double *out)
{
  const ga_scheme *s = &r->opts.scheme;
  const ga__state *f = &r->st->now;
  double d[RIG_MOST], bracket[RIG_MOST], delta = s->alpha_m - s->alpha_f;
  ga_group_bracket(r->sys->group, bracket, f->v, f->vdot);
  for (int i = 0; i < r->sys->nv; i++)
    d[i] = h * h *
           ((1.0 - 6.0 * s->beta - 3.0 * delta) / 6.0 * vddot[i] +
            (r->opts.commutator ? 0.0 : bracket[i] / 12.0));
  times_b(r, out, d);
}

static void index3_perturbation(void **state)
{
  static const char *const name[] = {"heavy_top", "heavy_top_left", "heavy_top_s3", "pendulum",
                                     "mechatronic"};
  const double h = 1e-3;
  (void)state;
  for (int i = 0; i < 10; i++) {
    rig r = rig_open(name[i % 5]);
    ga_start_opts o = opts_of(h);
    ga_start_report p;
    double v[RIG_MOST], vddot[RIG_MOST], offset[RIG_MOST], b[RIG_MOST], d[RIG_MOST];
    char text[1024];
    r.opts.method = GA_INDEX3;
    r.opts.commutator = i / 5;
    rig_build(&r);
    o.perturb_v = 0;
    assert_status(r.ctx, rig_try_start(&r, &o, &p), GA_OK);
    assert_true(p.v_perturbation == 0.0);
    const ga_state *s = ga_stepper_state(r.st);
    double delta = r.opts.scheme.alpha_m - r.opts.scheme.alpha_f;
    int nv = r.sys->nv, nl = r.sys->size[GA_BLOCK_LAMBDA];
    for (int k = 0; k < nv; k++) v[k] = s->v[k], vddot[k] = (s->a[k] - s->vdot[k]) / (delta * h);
    expected_offset(&r, h, vddot, offset);
    o.perturb_v = 1;
    assert_status(r.ctx, rig_try_start(&r, &o, &p), GA_OK);
    s = ga_stepper_state(r.st);
    for (int k = 0; k < nv; k++) d[k] = s->v[k] - v[k];
    times_b(&r, b, d);
    for (int k = 0; k < nl; k++)
      assert_near(b[k], offset[k], 1e-12 * (1.0 + ga__max_abs(v, nv, NULL)), name[i % 5]);
    assert_true(ga__max_abs(offset, nl, NULL) > 1e-9);
    assert_near(p.v_perturbation, ga__max_abs(d, nv, NULL), 1e-12, "v_perturbation");
    ga_start_report_text(r.sys, &p, text, sizeof text);
    assert_non_null(strstr(text, "v: moved off the hidden constraints by up to"));
    rig_close(&r);
  }
}

/* The perturbation is normal in the metric of M: no motion that the constraints allow does work with it. */
static void perturbation_is_normal(void **state)
{
  rig r = rig_open("pendulum");
  ga_start_opts o = opts_of(1e-3);
  (void)state;
  r.opts.method = GA_INDEX3;
  rig_build(&r);
  assert_status(r.ctx, rig_try_start(&r, &o, NULL), GA_OK);
  const double *q = r.problem->q0, *v0 = r.problem->v0, *v = ga_stepper_state(r.st)->v;
  const double mass[] = {5.0, 5.0, 20.0 / 3.0}, allowed[] = {-2.0 * sin(q[2]), 2.0 * cos(q[2]), 1.0};
  double work = 0.0, size = 0.0;
  for (int i = 0; i < 3; i++) work += allowed[i] * mass[i] * (v[i] - v0[i]), size += fabs(v[i] - v0[i]);
  assert_true(size > 1e-5);
  assert_near(work, 0.0, 1e-13, "M-normal");
  rig_close(&r);
}

/* The first step of the heavy top, ρ∞ = 0.9, h = 1e-3, as in the reference computations. With v perturbed, λ₁
 * depends on how the jerk is got: −3.7804 in the limit, −3.7819 from differences over ±h. */
static void first_step_of_the_heavy_top(void **state)
{
  static const struct {
    ga_method method;
    int perturb;
    double lambda[3], tolerance;
  } row[] = {{GA_INDEX3, 0, {-18.547493913, -319.450992229, -317.727772955}, 1e-4},
             {GA_INDEX3, 1, {-3.780399224, -319.450639736, -319.369194433}, 1e-4},
             {GA_STABILIZED, 0, {-3.652562487, -318.406273708, -317.777281598}, 1e-4}};
  (void)state;
  for (int i = 0; i < 3; i++) {
    rig r = rig_open("heavy_top_left");
    ga_start_opts o = opts_of(1e-3);
    r.opts.method = row[i].method;
    r.opts.commutator = 0;
    o.perturb_v = row[i].perturb;
    rig_build(&r);
    assert_status(r.ctx, rig_try_start(&r, &o, NULL), GA_OK);
    rig_steps(&r, 1e-3, 1);
    for (int k = 0; k < 3; k++)
      assert_near(ga_stepper_state(r.st)->lambda[k], row[i].lambda[k], row[i].tolerance, "lambda");
    rig_close(&r);
  }
}

/* λ₀ and vdot₀ of the heavy top, and the same start at another time. */
static void accelerations(void **state)
{
  const double vdot[] = {0.0, -21.30173254, -30.96083077, 661.34616923, 0.0, 0.0};
  const double lambda[] = {0.0, -319.525988166, -317.262461538};
  rig r = rig_open("heavy_top_left");
  ga_start_opts o = opts_of(1e-3);
  const ex_problem *p = r.problem;
  (void)state;
  rig_build(&r);
  assert_status(r.ctx, ga_stepper_start(r.st, &o, 17.5, p->q0, p->v0, NULL, NULL, NULL, NULL), GA_OK);
  const ga_state *s = ga_stepper_state(r.st);
  assert_true(s->t == 17.5);
  for (int i = 0; i < 6; i++) assert_near(s->vdot[i], vdot[i], 1e-8, "vdot");
  for (int i = 0; i < 3; i++) assert_near(s->lambda[i], lambda[i], 1e-8, "lambda");
  rig_close(&r);
}

/* A restart from the stepper's own state, as after an event: the arrays given are those being written. */
static void restart_from_own_state(void **state)
{
  rig r = rig_open("mechatronic"), other = r;
  const double h = r.problem->h;
  double q[3], v[3], x[3];
  (void)state;
  rig_build(&r);
  rig_build(&other);
  rig_start(&r, h);
  rig_steps(&r, h, 5);
  ga_start_opts o = opts_of(h);
  const ga_state *s = ga_stepper_state(r.st);
  const double t = s->t;
  memcpy(q, s->q, sizeof q);
  memcpy(v, s->v, sizeof v);
  memcpy(x, s->x, sizeof x);
  assert_status(r.ctx, ga_stepper_start(r.st, &o, t, s->q, s->v, s->x, s->lambda, s->psi, NULL), GA_OK);
  assert_status(r.ctx, ga_stepper_start(other.st, &o, t, q, v, x, NULL, NULL, NULL), GA_OK);
  assert_below(rig_distance(&r, &other), 1e-12, "restart");
  rig_steps(&r, h, 1);
  ga_stepper_destroy(&other.st);
  ga_system_destroy(&other.sys);
  rig_close(&r);
}

/* ---- Projection of the velocity ---- */

static void project_velocity(void **state)
{
  const double h = 1e-3;
  (void)state;
  for (int kind = 0; kind < 2; kind++) {
    rig r = rig_open("heavy_top_left");
    ga_start_change c;
    double rate, phi, vddot[6], offset[3], bv[3];
    r.opts.method = GA_INDEX3;
    r.opts.commutator = 0;
    rig_build(&r);
    assert_int_equal(ga_stepper_project_velocity(r.st, GA_PROJECT_PLAIN, &c), GA_ERR_ORDER);
    assert_call_error(r.ctx, GA_REASON_CALL_ORDER, "ga_stepper_project_velocity", NULL);
    assert_int_equal(ga_stepper_project_velocity(NULL, GA_PROJECT_PLAIN, &c), GA_ERR_ARGUMENT);
    rig_start(&r, h);
    rig_steps(&r, h, 50);
    double *before = rig_copy(&r);
    assert_int_equal(ga_stepper_project_velocity(r.st, (ga_projection)7, &c), GA_ERR_ARGUMENT);
    assert_call_error(r.ctx, GA_REASON_NOT_A_CHOICE, NULL, "kind");
    assert_error_number(r.ctx, 0, 7);
    assert_true(rig_same_bits(&r, before));
    assert_status(r.ctx, ga_stepper_constraint_residuals(r.st, NULL, &rate, NULL), GA_OK);
    assert_true(rate > 1e-3); /* the drift of the index-3 form */
    assert_status(r.ctx, ga_stepper_project_velocity(r.st, (ga_projection)kind, &c), GA_OK);
    assert_true(c.change > 0.0 && c.residual_before > c.residual_after && c.residual_after < 1e-12);
    assert_status(r.ctx, ga_stepper_constraint_residuals(r.st, &phi, &rate, NULL), GA_OK);
    assert_below(phi, 1e-12, "phi");
    if (kind == GA_PROJECT_PLAIN) {
      assert_below(rate, 1e-12, "rate");
    } else {
      memcpy(vddot, r.st->jerk_v, sizeof vddot);
      times_b(&r, bv, r.st->now.v);
      double *v = r.st->now.v, projected[6]; /* r is of the velocity before */
      memcpy(projected, v, sizeof projected);
      memcpy(v, before + (v - r.st->now.block), sizeof projected);
      expected_offset(&r, h, vddot, offset);
      memcpy(v, projected, sizeof projected);
      for (int i = 0; i < 3; i++) assert_near(bv[i], offset[i], 1e-12, "B v");
      assert_true(rate > 1e-3);
    }
    /* q and all else are as before, the run goes on */
    memcpy(before + (r.st->now.v - r.st->now.block), r.st->now.v, 6 * sizeof *before);
    assert_true(rig_same_bits(&r, before));
    rig_steps(&r, h, 2);
    free(before);
    rig_close(&r);
  }
}

/* ---- Forces that do not depend on multipliers that are 0 ---- */

/* The rod pulls with the cube of λ: at λ = 0 its derivative is 0. */
static int cubic_force(void *user, const ga_point *p, double *out)
{
  const double T = tension(user, p);
  out[0] = -p->q[0] * T * T * T;
  out[1] = -9.81 - p->q[1] * T * T * T;
  return 0;
}

static int cubic_jacobian(void *user, const ga_point *p, ga_jacobian *J)
{
  const double T = tension(user, p);
  const int code = rods_jacobian(user, p, J);
  J->D[2] *= 3.0 * T * T;
  J->D[3 + 2] *= 3.0 * T * T;
  J->Q[0] = J->Q[3 + 1] = T * T * T;
  return code;
}

static void guesses_are_asked_for(void **state)
{
  const double q0[] = {0.6, -0.8}, v0[] = {0.0, 0.0}, guess[] = {1.5};
  (void)state;
  for (int given = 0; given < 2; given++) {
    rods user = {{1.0, 0.0}, 1.0, 1.0};
    rig r = rods_define(&user);
    ga_start_opts o = opts_of(1e-3);
    r.def.force = cubic_force;
    r.def.jacobian = given ? cubic_jacobian : NULL;
    rig_build(&r);
    assert_status(r.ctx, start_at(&r, &o, q0, v0, NULL), GA_ERR_SINGULAR);
    assert_error(r.ctx, GA_REASON_MULTIPLIER_WITHOUT_FORCE, NULL, NULL, NULL);
    assert_says(r.ctx, "rod A");
    assert_null(strstr(ga_context_error(r.ctx)->text, "smaller step"));
    assert_status(r.ctx, ga_stepper_start(r.st, &o, 0.0, q0, v0, NULL, guess, NULL, NULL), GA_OK);
    const double lambda = ga_stepper_state(r.st)->lambda[0];
    assert_near(lambda * lambda * lambda, 9.81 * 0.8, 1e-9, "the cube of lambda");
    rig_close(&r);
  }
}

/* ---- Outputs that have a value only at the true state ---- */

/* y = (x, λ); f_x gains 1/y_0 + 1/y_1. */
static int quotient_force(void *user, const ga_point *p, double *out)
{
  if (p->y[0] == 0.0 || p->y[1] == 0.0) return 1;
  const int code = rods_force(user, p, out);
  out[0] += 1.0 / p->y[0] + 1.0 / p->y[1];
  return code;
}

static int quotient_output(void *user, const ga_point *p, double *out)
{
  (void)user;
  if (p->y[0] == 0.0 || p->y[1] == 0.0) return 1;
  out[0] = p->q[0];
  out[1] = p->lambda[0];
  return 0;
}

/* λ is not known at first: 1 will do for it. */
static int quotient_guess(void *user, const ga_point *p, double *out)
{
  (void)user;
  out[0] = p->q[0];
  out[1] = p->lambda[0] == 0.0 ? 1.0 : p->lambda[0];
  return 0;
}

/* Positions and velocities are projected without a look at forces and outputs, which are not known yet. */
static void outputs_are_found_at_the_true_state(void **state)
{
  const double q0[] = {0.62, -0.81}, v0[] = {0.1, 0.0};
  rods user = {{1.0, 0.0}, 1.0, 1.0};
  rig r = rods_define(&user);
  ga_start_opts o = opts_of(1e-3);
  (void)state;
  r.def.n_y = 2;
  r.def.jacobian = NULL;
  r.def.force = quotient_force;
  r.def.output = quotient_output;
  r.def.output_guess = quotient_guess;
  rig_build(&r);
  assert_status(r.ctx, start_at(&r, &o, q0, v0, NULL), GA_OK);
  const ga_state *s = ga_stepper_state(r.st);
  assert_near(s->y[0], s->q[0], 1e-14, "x");
  assert_near(s->y[1], s->lambda[0], 1e-12, "lambda");
  /* q·vdot + v·v = 0, vdot = −qλ + g + e_x (1/x + 1/λ) */
  const double x = s->q[0], y = s->q[1], lambda = s->lambda[0], vv = s->v[0] * s->v[0] + s->v[1] * s->v[1];
  assert_near(lambda, -9.81 * y + x * (1.0 / x + 1.0 / lambda) + vv, 1e-10, "the equation of lambda");
  rig_close(&r);
}

/* On the circle q·q = 1 of a mass of 1: the nearest point to given ones lies on their ray, whatever it is
 * begun from; B = qᵀ has the length 1 there. */
static void nearest_positions(void **state)
{
  static const double begin[][2] = {{0.9, -0.2}, {-0.3, 0.8}, {0.61, 0.79}, {-0.9, -0.5}};
  const double given[] = {3.0, 4.0};
  rods user = {{1.0, 0.0}, 1.0, 1.0};
  rig r = rods_define(&user);
  ga_start_opts o = opts_of(1e-3);
  double q[2], independence;
  (void)state;
  rig_build(&r);
  o.max_change = 10.0;
  for (size_t i = 0; i < sizeof begin / sizeof *begin; i++) {
    memcpy(q, begin[i], sizeof q);
    assert_status(r.ctx, ga_stepper_nearest(r.st, &o, 0.0, given, q), GA_OK);
    assert_near(q[0], 0.6, 1e-12, "x");
    assert_near(q[1], 0.8, 1e-12, "y");
  }
  assert_status(r.ctx, ga_stepper_independence(r.st, 0.0, q, &independence), GA_OK);
  assert_near(independence, 1.0, 1e-12, "independence");
  q[0] = 0.03, q[1] = 0.04; /* off the circle: it is what it is there */
  assert_status(r.ctx, ga_stepper_independence(r.st, 0.0, q, &independence), GA_OK);
  assert_near(independence, 0.05, 1e-12, "independence");
  q[0] = NAN;
  assert_status(r.ctx, ga_stepper_independence(r.st, 0.0, q, &independence), GA_ERR_NAN);
  assert_status(r.ctx, ga_stepper_nearest(r.st, &o, 0.0, q, q), GA_ERR_NAN);
  assert_int_equal(r.st->scratch.peak,
                   GA__SCRATCH_DEPTH); /* no other function takes as many arrays at once */
  rig_close(&r);
}

/* A stack that is too small for a start or a step is an error, and not wrong numbers. */
static void work_arrays_are_checked(void **state)
{
  const double q0[] = {0.6, -0.8}, v0[] = {0.8, 0.6};
  rods user = {{1.0, 0.0}, 1.0, 1.0};
  ga_start_opts o = opts_of(1e-3);
  (void)state;
  for (size_t depth = GA__SCRATCH_DEPTH; depth > 0; depth--) {
    rig r = rods_define(&user);
    rig_build(&r);
    r.st->scratch.depth = depth;
    const ga_status started = start_at(&r, &o, q0, v0, NULL);
    const size_t needed = r.st->scratch.peak; /* of a start */
    assert_status(r.ctx, started, depth < needed ? GA_ERR_MEMORY : GA_OK);
    rig_close(&r);
  }
  rig r = rods_define(&user);
  rig_build(&r);
  assert_status(r.ctx, start_at(&r, &o, q0, v0, NULL), GA_OK);
  assert_status(r.ctx, ga_stepper_step(r.st, 1e-3), GA_OK);
  r.st->scratch.peak = GA__SCRATCH_DEPTH + 1;
  const double t = ga_stepper_state(r.st)->t;
  assert_status(r.ctx, ga_stepper_step(r.st, 1e-3), GA_ERR_MEMORY);
  assert_true(ga_stepper_state(r.st)->t == t);
  rig_close(&r);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nearest_positions),
      cmocka_unit_test(work_arrays_are_checked),
      cmocka_unit_test(consistent_values_stay),
      cmocka_unit_test(inconsistent_values_are_projected),
      cmocka_unit_test(report_text_is_cut),
      cmocka_unit_test(too_far_is_refused),
      cmocka_unit_test(nonholonomic_is_named),
      cmocka_unit_test(projection_can_be_left_out),
      cmocka_unit_test(contradictions),
      cmocka_unit_test(doubled_constraint),
      cmocka_unit_test(free_massless_coordinate),
      cmocka_unit_test(step_and_change_arguments),
      cmocka_unit_test(value_arguments),
      cmocka_unit_test(off_the_group),
      cmocka_unit_test(guesses),
      cmocka_unit_test(shifts_of_a_and_w),
      cmocka_unit_test(index3_perturbation),
      cmocka_unit_test(perturbation_is_normal),
      cmocka_unit_test(first_step_of_the_heavy_top),
      cmocka_unit_test(accelerations),
      cmocka_unit_test(restart_from_own_state),
      cmocka_unit_test(project_velocity),
      cmocka_unit_test(guesses_are_asked_for),
      cmocka_unit_test(outputs_are_found_at_the_true_state),
  };
  return cmocka_run_group_tests_name("core: start", tests, rig_hook_klu, NULL);
}
