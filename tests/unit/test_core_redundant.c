/* Redundant constraints: found, named, lived with. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "linkage.h"

static const ga_method METHOD[] = {GA_INDEX3, GA_STABILIZED, GA_WEIGHTED,
                                   GA_SOI2,   GA_HHT_SOI2,   GA_COLLOCATION};
enum { N_METHODS = sizeof METHOD / sizeof *METHOD };

static rig open_linkage(linkage *l, ga_method method, ga_lu_kind lu)
{
  rig r = rig_open(NULL);
  linkage_define(l, &r.def);
  r.opts.newton.tol = 1e-12;
  r.opts.method = method;
  r.opts.lu = lu;
  rig_build(&r);
  return r;
}

static ga_status start_linkage(rig *r, const linkage *l, double h, ga_start_report *report)
{
  ga_start_opts o = ga_start_defaults();
  o.h = h;
  return ga_stepper_start(r->st, &o, 0.0, l->q0, l->v0, NULL, NULL, NULL, report);
}

/* The last warning of them. */
static char heard[1024];
static int n_heard;
static void hear(void *user, ga_log_level level, const ga_error *message)
{
  (void)user;
  if (level != GA_LOG_WARNING || message->reason != GA_REASON_REDUNDANT) return;
  n_heard++;
  snprintf(heard, sizeof heard, "%s", message->text);
}

/* A doubled row, a multiple, a combination of two, and a row that is a combination with a redundant one. */
static linkage redundant_four_bar(void)
{
  linkage l = linkage_four_bar(0.7, 3.0);
  linkage_add_row(&l, 2, 1.0, 0, 0.0);
  linkage_add_row(&l, 5, -3.0, 0, 0.0);
  linkage_add_row(&l, 1, 2.0, 6, 0.5);
  return l;
}

/* ---- Motion and multipliers ---- */

/* x with Aᵀ... of a small system by Gauss, A destroyed. */
static void gauss(int n, double A[][2 * LINKAGE_PINS], double *b)
{
  for (int k = 0; k < n; k++) {
    int p = k;
    for (int i = k + 1; i < n; i++)
      if (fabs(A[i][k]) > fabs(A[p][k])) p = i;
    for (int j = 0; j < n; j++) {
      double t = A[k][j];
      A[k][j] = A[p][j], A[p][j] = t;
    }
    double t = b[k];
    b[k] = b[p], b[p] = t;
    for (int i = k + 1; i < n; i++) {
      double f = A[i][k] / A[k][k];
      for (int j = k; j < n; j++) A[i][j] -= f * A[k][j];
      b[i] -= f * b[k];
    }
  }
  for (int k = n; k-- > 0;) {
    for (int j = k + 1; j < n; j++) b[k] -= A[k][j] * b[j];
    b[k] /= A[k][k];
  }
}

/* The least Σ(ρ λ)² with Wᵀλ = λ₀, ρ the lengths of the rows W B₀: λ = ρ⁻² W (Wᵀ ρ⁻² W)⁻¹ λ₀. */
static void least_lambda(const linkage *l, const double *q, const double *lambda0, double *lambda)
{
  int nb = 2 * l->n_pins;
  double B[2 * LINKAGE_PINS][3 * LINKAGE_LINKS],
      A[2 * LINKAGE_PINS][2 * LINKAGE_PINS] = {{0}}, x[2 * LINKAGE_PINS], rho2[LINKAGE_ROWS];
  linkage_b(l, q, B);
  for (int i = 0; i < l->n_rows; i++) {
    rho2[i] = 0.0;
    for (int c = 0; c < 3 * l->n_links; c++) {
      double b = 0.0;
      for (int k = 0; k < nb; k++) b += l->W[i][k] * B[k][c];
      rho2[i] += b * b;
    }
  }
  for (int i = 0; i < l->n_rows; i++)
    for (int a = 0; a < nb; a++)
      for (int b = 0; b < nb; b++) A[a][b] += l->W[i][a] * l->W[i][b] / rho2[i];
  memcpy(x, lambda0, (size_t)nb * sizeof(double));
  gauss(nb, A, x);
  for (int i = 0; i < l->n_rows; i++) {
    lambda[i] = 0.0;
    for (int k = 0; k < nb; k++) lambda[i] += l->W[i][k] * x[k] / rho2[i];
  }
}

static double far(const double *a, const double *b, int n)
{
  double most = 0.0, size = 1.0;
  for (int i = 0; i < n; i++) size = fmax(size, fabs(b[i]));
  for (int i = 0; i < n; i++)
    if (!(fabs(a[i] - b[i]) <= most * size)) most = fabs(a[i] - b[i]) / size;
  return most;
}

/* Methods and their matrices. */
static const struct {
  ga_method method;
  int full_solve;
  ga_eta_terms eta_terms;
} VARIANT[] = {
    {GA_INDEX3, 0, GA_ETA_AUTO},   {GA_STABILIZED, 0, GA_ETA_FULL}, {GA_STABILIZED, 0, GA_ETA_TRIANGULAR},
    {GA_WEIGHTED, 0, GA_ETA_AUTO}, {GA_SOI2, 0, GA_ETA_AUTO},       {GA_SOI2, 1, GA_ETA_AUTO},
    {GA_HHT_SOI2, 0, GA_ETA_AUTO}, {GA_HHT_SOI2, 1, GA_ETA_AUTO}};
enum { N_VARIANTS = sizeof VARIANT / sizeof *VARIANT };

typedef struct record {
  double q[9], v[9], vdot[9], lambda[LINKAGE_ROWS];
} record;

static long run_variant(linkage *l, int variant, ga_lu_kind lu, double h, int n, record *out)
{
  rig r = rig_open(NULL);
  linkage_define(l, &r.def);
  r.opts.newton.tol = 1e-12;
  r.opts.method = VARIANT[variant].method;
  r.opts.full_solve = VARIANT[variant].full_solve;
  r.opts.newton.eta_terms = VARIANT[variant].eta_terms;
  r.opts.lu = lu;
  rig_build(&r);
  assert_status(r.ctx, start_linkage(&r, l, h, NULL), GA_OK);
  for (int i = 0; i < n; i++) {
    const ga_state *s = ga_stepper_state(r.st);
    memcpy(out[i].q, s->q, sizeof out->q);
    memcpy(out[i].v, s->v, sizeof out->v);
    memcpy(out[i].vdot, s->vdot, sizeof out->vdot);
    memcpy(out[i].lambda, s->lambda, (size_t)linkage_rows(l) * sizeof(double));
    rig_steps(&r, h, 1);
  }
  long iterations = ga_stepper_stats(r.st)->iterations;
  rig_close(&r);
  return iterations;
}

static void motion_unaffected(void **state)
{
  enum { STEPS = 100 };
  static record a[STEPS], b[STEPS];
  const double h = 1e-2; /* so that the index-3 form's λ is well above its floor of rounding */
  (void)state;
  for (int variant = 0; variant < N_VARIANTS; variant++)
    for (int lu = GA_LU_DENSE; lu <= GA_LU_SPARSE; lu++) {
      linkage plain = linkage_four_bar(0.7, 3.0), extra = redundant_four_bar();
      long needed = run_variant(&plain, variant, (ga_lu_kind)lu, h, STEPS, a);
      long taken = run_variant(&extra, variant, (ga_lu_kind)lu, h, STEPS, b);
      for (int i = 0; i < STEPS; i++) {
        double lambda[LINKAGE_ROWS];
        char what[64];
        snprintf(what, sizeof what, "variant %d, lu %d, step %d", variant, lu, i);
        assert_below(far(b[i].q, a[i].q, 9), 1e-11, what);
        assert_below(far(b[i].v, a[i].v, 9), 1e-10, what);
        assert_below(far(b[i].vdot, a[i].vdot, 9), 1e-9, what);
        least_lambda(&extra, a[i].q, a[i].lambda, lambda);
        assert_below(far(b[i].lambda, lambda, extra.n_rows), 1e-9, what);
      }
      assert_true(taken < 5 * needed / 4 + 10);
    }
}

/* Errors of λ fall by 4 when h is halved. */
static void order_of_lambda(void **state)
{
  (void)state;
  for (int method = 0; method < N_METHODS; method++) {
    double at[3][LINKAGE_ROWS];
    for (int k = 0; k < 3; k++) {
      linkage l = redundant_four_bar();
      rig r = open_linkage(&l, METHOD[method], GA_LU_AUTO);
      double h = 4e-3 / (1 << k);
      assert_status(r.ctx, start_linkage(&r, &l, h, NULL), GA_OK);
      rig_steps(&r, h, 100 << k);
      memcpy(at[k], ga_stepper_state(r.st)->lambda, sizeof(double) * (size_t)l.n_rows);
      rig_close(&r);
    }
    double order = log2(far(at[0], at[1], 11) / far(at[1], at[2], 11));
    const double expected = METHOD[method] == GA_COLLOCATION ? 4.0 : 2.0;
    if (!(order > expected - 0.1 && order < expected + 0.3)) fail_msg("method %d: order %.3f", method, order);
  }
}

/* Within steps of collocation multipliers are those of least norm at the place itself, with the same forces
 * as without redundant constraints; looks there leave no trace in the run. */
static void within_a_step(void **state)
{
  const double h = 2e-2;
  (void)state;
  linkage plain = linkage_four_bar(0.7, 3.0), extra = redundant_four_bar(), quiet = extra;
  rig a = open_linkage(&plain, GA_COLLOCATION, GA_LU_AUTO),
      b = open_linkage(&extra, GA_COLLOCATION, GA_LU_AUTO),
      c = open_linkage(&quiet, GA_COLLOCATION, GA_LU_AUTO);
  assert_status(a.ctx, start_linkage(&a, &plain, h, NULL), GA_OK);
  assert_status(b.ctx, start_linkage(&b, &extra, h, NULL), GA_OK);
  assert_status(c.ctx, start_linkage(&c, &quiet, h, NULL), GA_OK);
  for (int i = 0; i < 10; i++) {
    rig_steps(&a, h, 1), rig_steps(&b, h, 1), rig_steps(&c, h, 1);
    for (int k = 1; k < 4; k++) {
      const double t = ga_stepper_state(a.st)->t - 0.23 * k * h;
      double q[9], base[LINKAGE_ROWS], lambda[LINKAGE_ROWS], expected[LINKAGE_ROWS];
      assert_status(a.ctx, ga_stepper_interpolate(a.st, t, q, NULL, NULL, base, NULL, NULL, NULL), GA_OK);
      assert_status(b.ctx, ga_stepper_interpolate(b.st, t, NULL, NULL, NULL, lambda, NULL, NULL, NULL),
                    GA_OK);
      least_lambda(&extra, q, base, expected);
      assert_below(far(lambda, expected, extra.n_rows), 1e-8, "multipliers within a step");
    }
  }
  double *loud = rig_copy(&b);
  assert_true(rig_same_bits(&c, loud));
  assert_int_equal(ga_stepper_redundancy(b.st)->redundant, 3);
  free(loud);
  rig *const all[] = {&a, &b, &c};
  for (int k = 0; k < 3; k++) {
    ga_stepper_destroy(&all[k]->st);
    ga_system_destroy(&all[k]->sys);
    ga_context_destroy(&all[k]->ctx);
  }
}

/* ---- What is told ---- */

static void relations_are_named(void **state)
{
  linkage l = redundant_four_bar();
  rig r = open_linkage(&l, GA_STABILIZED, GA_LU_AUTO);
  ga_start_report report;
  char text[2048];
  (void)state;
  r.ctx->opts.log = hear;
  n_heard = 0;
  assert_null(ga_stepper_redundancy(r.st));
  assert_status(r.ctx, start_linkage(&r, &l, 1e-3, &report), GA_OK);
  const ga_redundancy *red = ga_stepper_redundancy(r.st);
  assert_non_null(red);
  assert_int_equal(red->constraints, 11);
  assert_int_equal(red->rank, 8);
  assert_int_equal(red->redundant, 3);
  assert_int_equal(red->mobility, 1);
  static const int blamed[] = {10, 9, 8}, n[] = {3, 2, 2}, other[][2] = {{1, 6}, {5, -1}, {2, -1}};
  for (int k = 0; k < 3; k++) {
    const ga_relation *rel = &red->relation[k];
    assert_int_equal(rel->n, n[k]);
    assert_int_equal(rel->row[0].index, blamed[k]);
    assert_near(rel->row[0].weight, 1.0, 1e-12, "weight");
    for (int i = 1; i < rel->n; i++) {
      assert_int_equal(rel->row[i].block, GA_BLOCK_LAMBDA);
      assert_int_equal(rel->row[i].index, other[k][i - 1]);
    }
  }
  assert_near(red->relation[1].row[1].weight, 1.0, 1e-9, "weight of a row turned round");
  assert_near(red->relation[2].row[1].weight, -1.0, 1e-9, "weight of a row repeated");
  static const int shared[] = {0, 1, 1, 0, 0, 1, 1, 0, 1, 1, 1};
  for (int i = 0; i < 11; i++) assert_int_equal(red->lambda_shared[i], shared[i]);
  assert_int_equal(n_heard, 1);
  assert_non_null(strstr(heard, "3 of 11 constraints are redundant, mobility 1: 'row 10' (phi 10) "
                                "follows from 'row 1' (phi 1), 'row 6' (phi 6); 'row 9'"));
  assert_int_equal(report.redundant, 3);
  assert_int_equal(report.mobility, 1);
  assert_int_equal(report.n_blamed, 3);
  assert_int_equal(report.blamed_index[0], 10);
  assert_true(report.gap < 1e-14);
  ga_start_report_text(r.sys, &report, text, sizeof text);
  assert_non_null(strstr(text, "mobility: 1, of 9 velocities under 11 constraints"));
  assert_non_null(
      strstr(text, "redundant: 3 constraints follow from others: 'row 10' (phi 10), 'row 9' (phi 9)"));
  rig_steps(&r, 1e-3, 20);
  assert_int_equal(n_heard, 1);
  assert_int_equal(ga_stepper_stats(r.st)->redundant, 3);
  assert_int_equal(ga_stepper_redundancy(r.st)->relation[0].row[0].index, 10);
  rig_close(&r);
}

/* Mobility without redundancy; and REFUSE is what it was. */
static void without_redundancy(void **state)
{
  linkage l = linkage_four_bar(0.7, 3.0);
  rig r = open_linkage(&l, GA_STABILIZED, GA_LU_AUTO);
  ga_start_report report;
  (void)state;
  assert_status(r.ctx, start_linkage(&r, &l, 1e-3, &report), GA_OK);
  assert_int_equal(report.mobility, 1);
  assert_int_equal(report.redundant, 0);
  const ga_redundancy *red = ga_stepper_redundancy(r.st);
  assert_int_equal(red->rank, 8);
  assert_int_equal(red->mobility, 1);
  assert_int_equal(red->redundant, 0);
  assert_null(red->lambda_shared);
  assert_null(r.st->red.gram.ctx); /* nobody has looked for relations */
  rig_close(&r);
  l = redundant_four_bar();
  r = rig_open(NULL);
  linkage_define(&l, &r.def);
  r.opts.redundant = (ga_redundant)7;
  assert_status(r.ctx, ga_system_create(r.ctx, &r.def, &r.sys), GA_OK);
  assert_status(r.ctx, ga_stepper_create(r.ctx, r.sys, &r.opts, &r.st), GA_ERR_ARGUMENT);
  r.opts.redundant = GA_REDUNDANT_REFUSE; /* 11 rows on 9 velocities: no pattern for it */
  assert_status(r.ctx, ga_stepper_create(r.ctx, r.sys, &r.opts, &r.st), GA_ERR_SINGULAR);
  rig_close(&r);
}

/* ---- A four-bar in space ---- */

/* Links as rigid bodies in R³×SO(3), space angular velocity, joined by revolutes about z with five rows each:
 * position, and the axis of one normal to two directions of the other. */
typedef struct spatial {
  const linkage *l;
  double tilt; /* of the ground's last axis, about x */
} spatial;

static void times(const double *R, double x, double y, double z, double out[3])
{
  for (int i = 0; i < 3; i++) out[i] = R[3 * i] * x + R[3 * i + 1] * y + R[3 * i + 2] * z;
}

static void cross(const double a[3], const double b[3], double out[3])
{
  out[0] = a[1] * b[2] - a[2] * b[1];
  out[1] = a[2] * b[0] - a[0] * b[2];
  out[2] = a[0] * b[1] - a[1] * b[0];
}

/* What a joint sees of one side: point, arm to it, axis, two directions normal to it. */
typedef struct seen {
  int body;
  double p[3], arm[3], axis[3], e[2][3];
} seen;

static void look_at(const spatial *sp, int joint, int side, const double *q, seen *s)
{
  const linkage_pin *pin = &sp->l->pin[joint];
  int body = side ? pin->b : pin->a;
  s->body = body;
  if (body < 0) {
    double c = cos(sp->tilt * (joint == 3)), z = sin(sp->tilt * (joint == 3));
    *s = (seen){-1, {pin->x, pin->y, 0}, {0, 0, 0}, {0, -z, c}, {{1, 0, 0}, {0, c, z}}};
    return;
  }
  const double *x = q + 12 * body, *R = x + 3;
  times(R, (side ? pin->t : pin->s) * sp->l->length[body], 0, 0, s->arm);
  for (int i = 0; i < 3; i++) s->p[i] = x[i] + s->arm[i];
  times(R, 0, 0, 1, s->axis);
  times(R, 1, 0, 0, s->e[0]);
  times(R, 0, 1, 0, s->e[1]);
}

static double inner(const double a[3], const double b[3])
{
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static int spatial_phi(void *user, const ga_point *p, double *out)
{
  seen a, b;
  for (int j = 0; j < 4; j++) {
    look_at(user, j, 0, p->q, &a);
    look_at(user, j, 1, p->q, &b);
    for (int i = 0; i < 3; i++) out[5 * j + i] = a.p[i] - b.p[i];
    for (int i = 0; i < 2; i++) out[5 * j + 3 + i] = inner(a.axis, b.e[i]);
  }
  return 0;
}

static int spatial_phi_dot(void *user, const ga_point *p, double *out)
{
  static const double rest[6];
  seen a, b;
  double va[3], vb[3], n[3];
  for (int j = 0; j < 4; j++) {
    look_at(user, j, 0, p->q, &a);
    look_at(user, j, 1, p->q, &b);
    const double *u = p->v + 6 * a.body, *w = b.body < 0 ? rest : p->v + 6 * b.body;
    cross(u + 3, a.arm, va);
    cross(w + 3, b.arm, vb);
    for (int i = 0; i < 3; i++) out[5 * j + i] = u[i] + va[i] - w[i] - vb[i];
    for (int i = 0; i < 2; i++) {
      cross(a.axis, b.e[i], n);
      out[5 * j + 3 + i] = inner(u + 3, n) - inner(w + 3, n);
    }
  }
  return 0;
}

static void inertia(const spatial *sp, int body, const double *q, const double w[3], double out[3])
{
  double m = sp->l->mass[body] * sp->l->length[body] * sp->l->length[body] / 12.0, I[] = {0.1 * m, m, m};
  const double *R = q + 12 * body + 3;
  double local[3];
  for (int i = 0; i < 3; i++) local[i] = I[i] * (R[i] * w[0] + R[3 + i] * w[1] + R[6 + i] * w[2]);
  times(R, local[0], local[1], local[2], out);
}

static int spatial_mass(void *user, const ga_point *p, double *out)
{
  const spatial *sp = user;
  for (int b = 0; b < 3; b++) {
    for (int i = 0; i < 3; i++) out[6 * b + i] = sp->l->mass[b] * p->vdot[6 * b + i];
    inertia(sp, b, p->q, p->vdot + 6 * b + 3, out + 6 * b + 3);
  }
  return 0;
}

static void push(double *out, const seen *s, const double f[3], const double torque[3], double sign)
{
  double t[3];
  if (s->body < 0) return;
  cross(s->arm, f, t);
  for (int i = 0; i < 3; i++) {
    out[6 * s->body + i] += sign * f[i];
    out[6 * s->body + 3 + i] += sign * (t[i] + torque[i]);
  }
}

static int spatial_force(void *user, const ga_point *p, double *out)
{
  const spatial *sp = user;
  for (int b = 0; b < 3; b++) {
    double l[3];
    inertia(sp, b, p->q, p->v + 6 * b + 3, l);
    cross(l, p->v + 6 * b + 3, out + 6 * b + 3);
    for (int i = 0; i < 3; i++) out[6 * b + i] = i == 1 ? -sp->l->gravity * sp->l->mass[b] : 0.0;
  }
  for (int j = 0; j < 4; j++) {
    const double *lambda = p->lambda + 5 * j;
    double torque[3] = {0, 0, 0}, n[3];
    seen a, b;
    look_at(user, j, 0, p->q, &a);
    look_at(user, j, 1, p->q, &b);
    for (int i = 0; i < 2; i++) {
      cross(a.axis, b.e[i], n);
      for (int k = 0; k < 3; k++) torque[k] += lambda[3 + i] * n[k];
    }
    push(out, &a, lambda, torque, -1.0);
    push(out, &b, lambda, torque, 1.0);
  }
  return 0;
}

static void spatial_values(const linkage *l, double *q, double *v)
{
  memset(v, 0, 18 * sizeof *v);
  for (int b = 0; b < 3; b++) {
    double c = cos(l->q0[3 * b + 2]), s = sin(l->q0[3 * b + 2]);
    const double at[] = {l->q0[3 * b], l->q0[3 * b + 1], 0, c, -s, 0, s, c, 0, 0, 0, 1};
    memcpy(q + 12 * b, at, sizeof at);
    v[6 * b] = l->v0[3 * b];
    v[6 * b + 1] = l->v0[3 * b + 1];
    v[6 * b + 5] = l->v0[3 * b + 2];
  }
}

static rig open_spatial(spatial *sp, ga_method method, ga_lu_kind lu)
{
  static const ga_factor body[] = {{GA_R3SO3, 0, GA_RIGHT}, {GA_R3SO3, 0, GA_RIGHT}, {GA_R3SO3, 0, GA_RIGHT}};
  rig r = rig_open(NULL);
  r.def.n_factors = 3, r.def.factors = body, r.def.n_lambda = 20, r.def.user = sp;
  r.def.mass = spatial_mass, r.def.force = spatial_force, r.def.phi = spatial_phi;
  r.def.phi_dot = spatial_phi_dot;
  r.opts.method = method;
  r.opts.lu = lu;
  rig_build(&r);
  return r;
}

static void spatial_four_bar(void **state)
{
  const double h = 2e-3;
  (void)state;
  for (int method = 0; method < N_METHODS; method++) {
    linkage l = linkage_four_bar(0.7, 3.0);
    spatial sp = {&l, 0.0};
    double q[36], v[18];
    ga_start_opts o = ga_start_defaults();
    o.h = h;
    rig r = open_linkage(&l, METHOD[method], GA_LU_AUTO);
    assert_status(r.ctx, start_linkage(&r, &l, h, NULL), GA_OK);
    rig_steps(&r, h, 150);
    double planar[9];
    memcpy(planar, ga_stepper_state(r.st)->q, sizeof planar);
    rig_close(&r);
    r = open_spatial(&sp, METHOD[method], method % 2 ? GA_LU_SPARSE : GA_LU_DENSE);
    spatial_values(&l, q, v);
    assert_status(r.ctx, ga_stepper_start(r.st, &o, 0.0, q, v, NULL, NULL, NULL, NULL), GA_OK);
    const ga_redundancy *red = ga_stepper_redundancy(r.st);
    assert_int_equal(red->rank, 17);
    assert_int_equal(red->redundant, 3);
    assert_int_equal(red->mobility, 1);
    rig_steps(&r, h, 150);
    assert_int_equal(ga_stepper_redundancy(r.st)->redundant, 3);
    const double *s = ga_stepper_state(r.st)->q;
    for (int b = 0; b < 3; b++) {
      assert_near(s[12 * b], planar[3 * b], 1e-9, "x");
      assert_near(s[12 * b + 1], planar[3 * b + 1], 1e-9, "y");
      assert_near(s[12 * b + 2], 0.0, 1e-11, "z");
      assert_near(s[12 * b + 3], cos(planar[3 * b + 2]), 1e-9, "cosine");
    }
    rig_close(&r);
  }
}

/* Values a little off are moved onto the constraints; data of six digits fit; a tilted axis does not. */
static void spatial_assembly(void **state)
{
  linkage l = linkage_four_bar(0.7, 3.0);
  spatial sp = {&l, 0.0};
  double q[36], v[18], phi, phi_dot;
  ga_start_report report;
  ga_start_opts o = ga_start_defaults();
  o.h = 1e-3;
  (void)state;
  rig r = open_spatial(&sp, GA_STABILIZED, GA_LU_AUTO);
  spatial_values(&l, q, v);
  for (int i = 0; i < 3; i++) q[12 * i] += 1e-2 * (i - 1), q[12 * i + 2] += 1e-2 * i;
  assert_status(r.ctx, ga_stepper_start(r.st, &o, 0.0, q, v, NULL, NULL, NULL, &report), GA_OK);
  assert_int_equal(report.redundant, 3);
  assert_true(report.position.change > 1e-3 && report.position.change < 0.05);
  assert_status(r.ctx, ga_stepper_constraint_residuals(r.st, &phi, &phi_dot, NULL), GA_OK);
  assert_below(phi, 1e-14, "phi");
  assert_below(phi_dot, 1e-13, "phi_dot");
  sp.tilt = 3e-7;
  spatial_values(&l, q, v);
  assert_status(r.ctx, ga_stepper_start(r.st, &o, 0.0, q, v, NULL, NULL, NULL, &report), GA_OK);
  assert_int_equal(report.redundant, 3);
  assert_true(report.gap > 1e-8 && report.gap < 1e-6);
  rig_steps(&r, 1e-3, 100);
  assert_int_equal(ga_stepper_redundancy(r.st)->redundant, 3);
  assert_true(ga_stepper_stats(r.st)->iterations < 500);
  sp.tilt = 0.01;
  assert_status(r.ctx, ga_stepper_start(r.st, &o, 0.0, q, v, NULL, NULL, NULL, &report), GA_ERR_INCONSISTENT);
  assert_call_error(r.ctx, GA_REASON_ASSEMBLY_OPEN, NULL, NULL);
  assert_null(ga_stepper_state(r.st));
  rig_close(&r);
}

/* ---- What does not fit together ---- */

static void cannot_close(void **state)
{
  linkage l = redundant_four_bar();
  rig r;
  (void)state;
  l.offset[8] = 0.01; /* row 8 repeats row 2, but for this */
  r = open_linkage(&l, GA_STABILIZED, GA_LU_AUTO);
  assert_status(r.ctx, start_linkage(&r, &l, 1e-3, NULL), GA_ERR_INCONSISTENT);
  assert_int_equal(ga_context_error(r.ctx)->reason, GA_REASON_ASSEMBLY_OPEN);
  assert_says(r.ctx, "'row 8' (phi 8) is violated by 0.005");
  assert_int_equal(ga_context_error(r.ctx)->index, 8);
  assert_int_equal(ga_context_error(r.ctx)->block, GA_BLOCK_LAMBDA);
  l.offset[8] = 0.0;
  l.rate[8] = 0.01; /* fits at t = 0 only */
  assert_status(r.ctx, start_linkage(&r, &l, 1e-3, NULL), GA_ERR_INCONSISTENT);
  assert_call_error(r.ctx, GA_REASON_RATES_CONTRADICT, NULL, NULL);
  assert_string_equal(ga_context_error(r.ctx)->equation, "'row 8' (phi 8)");
  assert_near(ga_context_error(r.ctx)->number[0].value, 0.005, 1e-5, "rate");
  l.rate[8] = 0.0;
  assert_status(r.ctx, start_linkage(&r, &l, 1e-3, NULL), GA_OK);
  rig_steps(&r, 1e-3, 3);
  l.rate[8] = 1.0;
  double *before = rig_copy(&r);
  assert_true(ga_stepper_step(r.st, 1e-3) > 0);
  assert_says(r.ctx, "redundant constraints contradict each other: 'row 8' (phi 8) is violated by 0.002");
  assert_true(rig_same_bits(&r, before));
  l.rate[8] = 0.0;
  rig_steps(&r, 1e-3, 1);
  free(before);
  rig_close(&r);
}

/* ---- Saving, taking back ---- */

static void saved_and_taken_back(void **state)
{
  const double h = 1e-3;
  (void)state;
  for (int method = 0; method < N_METHODS; method++)
    for (int lu = GA_LU_DENSE; lu <= GA_LU_SPARSE; lu++) {
      linkage l = redundant_four_bar(), l2 = l;
      rig r = open_linkage(&l, METHOD[method], (ga_lu_kind)lu);
      r.st->opts.newton.tol = 1e-9; /* so that factors are kept over steps */
      assert_status(r.ctx, start_linkage(&r, &l, h, NULL), GA_OK);
      rig_steps(&r, h, 10);
      double *ten = rig_copy(&r), *saved = malloc(ga_stepper_saved_size(r.st) * sizeof(double));
      rig_steps(&r, h, 1);
      double *eleven = rig_copy(&r);
      assert_status(r.ctx, ga_stepper_undo(r.st), GA_OK);
      assert_true(rig_same_bits(&r, ten));
      assert_int_equal(ga_stepper_redundancy(r.st)->redundant, 3);
      rig_steps(&r, h, 1);
      assert_true(rig_same_bits(&r, eleven));
      assert_status(r.ctx, ga_stepper_undo(r.st), GA_OK);
      rig_steps(&r, 0.3 * h, 1);
      assert_status(r.ctx, ga_stepper_undo(r.st), GA_OK);
      rig_steps(&r, h, 1);
      assert_true(rig_same_bits(&r, eleven));
      assert_status(r.ctx, ga_stepper_save(r.st, saved), GA_OK);
      rig_steps(&r, h, 20);
      double *end = rig_copy(&r);
      rig_close(&r);
      rig s = open_linkage(&l2, METHOD[method], (ga_lu_kind)lu);
      s.st->opts.newton.tol = 1e-9;
      assert_status(s.ctx, ga_stepper_load(s.st, saved), GA_OK);
      rig_steps(&s, h, 20);
      assert_true(rig_same_bits(&s, end));
      assert_int_equal(ga_stepper_redundancy(s.st)->redundant, 3);
      saved[2 + (s.st->now.scalar - s.st->now.block) + GA__REDUNDANT] = 12.0;
      assert_status(s.ctx, ga_stepper_load(s.st, saved), GA_ERR_ARGUMENT);
      rig_close(&s);
      free(ten), free(eleven), free(end), free(saved);
    }
}

/* Error control, undo within it, and a projection of the velocity. */
static void simulated(void **state)
{
  (void)state;
  for (int method = 0; method < N_METHODS; method++)
    for (int mode = 0; mode < 2; mode++) {
      double end[2][9], tolerance = 0.0;
      long steps[2];
      for (int k = 0; k < 2; k++) {
        linkage l = k ? redundant_four_bar() : linkage_four_bar(0.7, 3.0);
        rig r = open_linkage(&l, METHOD[method], GA_LU_AUTO);
        ga_simulate_opts o = ga_simulate_defaults();
        ga_simulator *sim = NULL;
        o.t_end = 1.0;
        o.error = mode ? GA_PER_UNIT_STEP : GA_PER_STEP;
        if (mode) o.rtol = o.atol = o.rtol_v = o.atol_v = 1e-2;
        if (METHOD[method] == GA_COLLOCATION) tolerance = 0.02 * o.rtol; /* of its sweeps */
        assert_status(r.ctx, ga_simulator_create(r.ctx, r.st, &o, &sim), GA_OK);
        assert_status(r.ctx, ga_simulator_start(sim, NULL, 0.0, l.q0, l.v0, NULL, NULL, NULL, NULL), GA_OK);
        assert_status(r.ctx, ga_simulator_run(sim), GA_OK);
        memcpy(end[k], ga_stepper_state(r.st)->q, sizeof end[k]);
        steps[k] = ga_simulator_stats(sim)->steps;
        ga_start_change change;
        assert_status(r.ctx, ga_stepper_project_velocity(r.st, GA_PROJECT_PLAIN, &change), GA_OK);
        assert_below(change.residual_after, 1e-12, "velocity");
        ga_simulator_destroy(&sim);
        rig_close(&r);
      }
      assert_below(far(end[1], end[0], 9), fmax(1e-6, tolerance), "end");
      assert_true(labs(steps[1] - steps[0]) <= 1 + steps[0] / 50);
    }
}

/* ---- Redundant by its measures only ---- */

/* A coupler on n cranks of the same length: with three of them as many equations as velocities, dependent as
 * long as they are parallel. */
static linkage parallel_cranks(int n, double angle, double rate)
{
  linkage l = {.n_links = n + 1, .n_pins = 2 * n, .gravity = 9.81};
  double c = 0.5 * cos(angle), s = 0.5 * sin(angle);
  for (int i = 0; i <= n; i++) {
    int crank = i < n;
    const double q[] = {crank ? 0.5 * i + 0.5 * c : 0.5 + c, crank ? 0.5 * s : s, crank ? angle : 0.0};
    const double v[] = {-q[1] * rate, crank ? 0.5 * c * rate : c * rate, crank ? rate : 0.0};
    l.length[i] = crank ? 0.5 : 1.0;
    l.mass[i] = i < 2 ? 1.0 : i < n ? 1e-9 : 3.0;
    memcpy(l.q0 + 3 * i, q, sizeof q);
    memcpy(l.v0 + 3 * i, v, sizeof v);
  }
  for (int i = 0; i < n; i++) {
    l.pin[2 * i] = (linkage_pin){i, -1, -0.5, 0.0, 0.5 * i, 0.0};
    l.pin[2 * i + 1] = (linkage_pin){i, n, 0.5, 0.5 * i - 0.5, 0.0, 0.0};
  }
  return l;
}

static void parallel(void **state)
{
  const double h = 5e-3;
  (void)state;
  for (int method = 0; method < N_METHODS; method++) {
    linkage two = parallel_cranks(2, 1.0, 2.0), three = parallel_cranks(3, 1.0, 2.0);
    rig r = open_linkage(&two, METHOD[method], GA_LU_AUTO);
    assert_status(r.ctx, start_linkage(&r, &two, h, NULL), GA_OK);
    rig_steps(&r, h, 200);
    double angle = ga_stepper_state(r.st)->q[2], rate = ga_stepper_state(r.st)->v[2];
    rig_close(&r);
    r = open_linkage(&three, METHOD[method], method % 2 ? GA_LU_SPARSE : GA_LU_DENSE);
    assert_status(r.ctx, start_linkage(&r, &three, h, NULL), GA_OK);
    const ga_redundancy *red = ga_stepper_redundancy(r.st);
    assert_int_equal(red->constraints, 12);
    assert_int_equal(red->redundant, 1);
    assert_int_equal(red->mobility, 1);
    rig_steps(&r, h, 200);
    /* B_nᵀη moves the third crank's coordinates too: the stabilized form is another one, to its order */
    double tol = METHOD[method] == GA_STABILIZED ? 2e-5 : 1e-8;
    assert_near(ga_stepper_state(r.st)->q[2], angle, tol, "angle");
    assert_near(ga_stepper_state(r.st)->v[2], rate, 10.0 * tol, "rate");
    assert_int_equal(ga_stepper_redundancy(r.st)->redundant, 1);
    /* η has no part in the relation at the start of the step, which turns with the cranks. */
    if (r.st->n_eta) {
      const double *eta = ga_stepper_state(r.st)->eta;
      double sum = 0.0, size = 0.0;
      const ga__null *null = &r.st->red.null_eta;
      for (int i = 0; i < 12; i++) size += fabs(eta[i]);
      for (int i = 0; i < null->start[1]; i++)
        sum += null->value[i] * null->length[null->index[i]] * eta[null->index[i]];
      assert_true(size > 0.0);
      assert_below(fabs(sum), 1e-13 * size, "free part of eta");
    }
    rig_close(&r);
  }
}

/* Values off the constraints, where the rows are independent; a crank of a length with few digits; and one
 * that locks the mechanism. */
static void parallel_but_for_a_little(void **state)
{
  linkage l = parallel_cranks(3, 1.0, 2.0);
  rig r = open_linkage(&l, GA_STABILIZED, GA_LU_AUTO);
  ga_start_report report;
  double phi;
  (void)state;
  for (int i = 0; i < 12; i++) l.q0[i] += 5e-3 * sin(2.0 + 3.0 * i);
  assert_status(r.ctx, start_linkage(&r, &l, 1e-3, &report), GA_OK);
  assert_int_equal(report.redundant, 1);
  assert_below(report.position.change, 0.03, "move");
  assert_status(r.ctx, ga_stepper_constraint_residuals(r.st, &phi, NULL, NULL), GA_OK);
  assert_below(phi, 1e-14, "phi");
  rig_close(&r);
  l = parallel_cranks(3, 1.0, 2.0);
  l.length[2] += 2e-7;
  r = open_linkage(&l, GA_STABILIZED, GA_LU_AUTO);
  assert_status(r.ctx, start_linkage(&r, &l, 1e-3, &report), GA_OK);
  assert_int_equal(report.redundant, 1);
  assert_true(report.gap > 1e-8 && report.gap < 1e-6);
  rig_steps(&r, 1e-3, 200);
  assert_int_equal(ga_stepper_redundancy(r.st)->redundant, 1);
  assert_true(fabs(ga_stepper_state(r.st)->q[2] - 1.0) > 0.1); /* it moves */
  rig_close(&r);
  l = parallel_cranks(3, 1.0, 0.0);
  l.length[2] += 1e-3;
  r = open_linkage(&l, GA_STABILIZED, GA_LU_AUTO);
  assert_status(r.ctx, start_linkage(&r, &l, 1e-3, &report), GA_ERR_INCONSISTENT);
  assert_call_error(r.ctx, GA_REASON_ASSEMBLY_OPEN, NULL, NULL);
  assert_true(report.position.residual_after > 5e-5 && report.position.residual_after < 4e-4);
  rig_close(&r);
}

/* ---- Callbacks that fail ---- */

static int give_up_once(rig_meddle *m, int fn, double *out, ga_jacobian *J)
{
  (void)fn, (void)out, (void)J;
  return m->calls == m->fault_at ? m->code : 0;
}

static void each_callback_fails(void **state)
{
  (void)state;
  for (int code = -1; code <= 1; code += 2) {
    rig_meddle meddle = {.after = give_up_once, .code = code};
    linkage l = redundant_four_bar();
    rig r = rig_open(NULL);
    linkage_define(&l, &r.def);
    rig_meddle_install(&meddle, &r.def, 9);
    rig_build(&r);
    assert_status(r.ctx, start_linkage(&r, &l, 1e-3, NULL), GA_OK);
    long first = meddle.calls;
    rig_steps(&r, 1e-3, 2);
    long last = meddle.calls;
    double *expected = rig_copy(&r);
    for (long at = 1; at <= last; at++) {
      meddle.calls = 0, meddle.fault_at = at;
      ga_status status = start_linkage(&r, &l, 1e-3, NULL);
      if (at <= first) {
        assert_true(code < 0 ? status == GA_ERR_CALLBACK : status == GA_RETRY_CALLBACK);
        assert_null(ga_stepper_state(r.st));
        continue;
      }
      assert_status(r.ctx, status, GA_OK);
      int failures = 0;
      for (int i = 0; i < 2; i++) {
        double *before = rig_copy(&r);
        if ((status = ga_stepper_step(r.st, 1e-3))) {
          assert_true(rig_same_bits(&r, before));
          failures++;
          assert_status(r.ctx, ga_stepper_step(r.st, 1e-3), GA_OK);
        }
        free(before);
      }
      assert_true(failures == 1 || at == last);
      assert_true(rig_same_bits(&r, expected));
    }
    free(expected);
    rig_close(&r);
  }
}

/* ---- Nonholonomic ---- */

/* A skate: y is its position across at the start, θ its angle. Rows: k, −2k and, with `rail`, Φ = y held and
 * ydot = 0 besides. */
typedef struct skate {
  int rail;
  double torque;
} skate;

static int skate_mass(void *user, const ga_point *p, double *out)
{
  (void)user;
  out[0] = 2.0 * p->vdot[0], out[1] = 2.0 * p->vdot[1], out[2] = 0.3 * p->vdot[2];
  return 0;
}

static int skate_force(void *user, const ga_point *p, double *out)
{
  const skate *s = user;
  double c = cos(p->q[2]), z = sin(p->q[2]);
  double psi = s->rail ? 0.0 : p->psi[0] - 2.0 * p->psi[1];
  out[0] = 1.0 + psi * z, out[1] = -3.0 - psi * c, out[2] = s->torque;
  if (s->rail) out[1] -= p->lambda[0] + p->psi[0];
  return 0;
}

static int skate_k(void *user, const ga_point *p, double *out)
{
  const skate *s = user;
  double across = -sin(p->q[2]) * p->v[0] + cos(p->q[2]) * p->v[1];
  out[0] = s->rail ? p->v[1] : across;
  if (!s->rail) out[1] = -2.0 * across;
  return 0;
}

static int skate_phi(void *user, const ga_point *p, double *out)
{
  (void)user;
  out[0] = p->q[1];
  return 0;
}

static rig open_skate(skate *s, ga_method method)
{
  static const ga_factor plane[] = {{GA_RN, 3, GA_LEFT}};
  rig r = rig_open(NULL);
  r.def.n_factors = 1, r.def.factors = plane, r.def.user = s;
  r.def.mass = skate_mass, r.def.force = skate_force, r.def.k = skate_k;
  r.def.n_psi = s->rail ? 1 : 2;
  if (s->rail) r.def.n_lambda = 1, r.def.phi = skate_phi;
  r.opts.method = method;
  rig_build(&r);
  return r;
}

static void nonholonomic(void **state)
{
  static const ga_method method[] = {GA_INDEX3, GA_STABILIZED, GA_WEIGHTED, GA_SOI2};
  const double q[] = {0, 0, 0.4}, v[] = {cos(0.4), sin(0.4), 0.5};
  ga_start_opts o = ga_start_defaults();
  o.h = 1e-3;
  (void)state;
  for (int i = 0; i < 4; i++) {
    skate s = {0, 0.2};
    rig r = open_skate(&s, method[i]);
    assert_status(r.ctx, ga_stepper_start(r.st, &o, 0.0, q, v, NULL, NULL, NULL, NULL), GA_OK);
    rig_steps(&r, 1e-3, 500);
    const ga_redundancy *red = ga_stepper_redundancy(r.st);
    assert_int_equal(red->redundant, 1);
    assert_int_equal(red->mobility, 2);
    assert_int_equal(red->relation[0].row[0].block, GA_BLOCK_PSI);
    assert_int_equal(red->relation[0].row[0].index, 1);
    assert_int_equal(red->relation[0].row[1].index, 0);
    assert_true(red->psi_shared[0] && red->psi_shared[1]);
    const ga_state *x = ga_stepper_state(r.st);
    /* lengths 1 and 2: ψ₀ and 2ψ₁ are equal but for the sign */
    assert_near(x->psi[0], -2.0 * x->psi[1], 1e-9, "psi");
    /* across: 2 (a · n) = f · n − ψ, a · n = θ' |v| along */
    double c = cos(x->q[2]), z = sin(x->q[2]), along = c * x->v[0] + z * x->v[1];
    double psi = -z * 1.0 - 3.0 * c - 2.0 * x->v[2] * along;
    assert_near(x->psi[0] - 2.0 * x->psi[1], psi, 1e-4, "force across");
    rig_close(&r);
  }
}

/* k repeats what Φ says: the stabilized form keeps both, the others say that they cannot. */
static void holonomic_and_nonholonomic(void **state)
{
  static const ga_method method[] = {GA_STABILIZED, GA_INDEX3, GA_WEIGHTED, GA_SOI2};
  const double q[] = {0, 0, 0.4}, v[] = {1, 0, 0.5};
  ga_start_opts o = ga_start_defaults();
  o.h = 1e-3;
  (void)state;
  for (int i = 0; i < 4; i++) {
    skate s = {1, 0.2};
    rig r = open_skate(&s, method[i]);
    ga_status status = ga_stepper_start(r.st, &o, 0.0, q, v, NULL, NULL, NULL, NULL);
    assert_status(r.ctx, status, i ? GA_ERR_INCONSISTENT : GA_OK);
    if (i) {
      assert_error(r.ctx, GA_REASON_METHOD, NULL, NULL, NULL);
      assert_string_equal(ga_context_error(r.ctx)->equation, "k 0");
    } else {
      rig_steps(&r, 1e-3, 100);
      const ga_state *x = ga_stepper_state(r.st);
      assert_near(x->lambda[0], -1.5, 1e-9, "half of the load");
      assert_near(x->psi[0], -1.5, 1e-9, "the other half");
      assert_near(x->q[0], 0.1 + 0.5 * 0.5 * 0.01, 1e-9, "x");
      assert_int_equal(ga_stepper_redundancy(r.st)->redundant, 1);
    }
    rig_close(&r);
  }
}

/* ---- The rank changes on the way ---- */

/* N four-bars in a row: N + 1 uprights of 1 m, N bars on top, B0 at 1 m/s. */
static linkage n_four_bars(int n)
{
  linkage l = {.n_links = 2 * n + 1, .n_pins = 3 * n + 1, .gravity = 9.81};
  for (int i = 0; i <= 2 * n; i++) {
    int upright = i <= n;
    l.length[i] = l.mass[i] = 1.0;
    l.q0[3 * i] = upright ? i : i - n - 0.5;
    l.q0[3 * i + 1] = upright ? 0.5 : 1.0;
    l.q0[3 * i + 2] = upright ? acos(0.0) : 0.0;
    l.v0[3 * i] = upright ? 0.5 : 1.0;
    l.v0[3 * i + 2] = upright ? -1.0 : 0.0;
  }
  for (int i = 0; i <= n; i++) l.pin[i] = (linkage_pin){i, -1, -0.5, 0.0, i, 0.0};
  for (int i = 0; i < n; i++) {
    l.pin[n + 1 + 2 * i] = (linkage_pin){n + 1 + i, i, -0.5, 0.5, 0.0, 0.0};
    l.pin[n + 2 + 2 * i] = (linkage_pin){n + 1 + i, i + 1, 0.5, 0.5, 0.0, 0.0};
  }
  return l;
}

/* 10 s on the parallelogram's branch; extra: with a constraint that is redundant all the time. */
static void stay_on_the_branch(int n, ga_method method, int extra)
{
  static const double exact[] = {0.478385057760971, 0.328458111540815, 0.277231761061099};
  linkage l = n_four_bars(n);
  if (extra) linkage_add_row(&l, 3, 1.0, 4, 1.0);
  rig r = rig_open(NULL);
  linkage_define(&l, &r.def);
  r.opts.method = method;
  assert_status(r.ctx, ga_scheme_rho(r.ctx, 0.95, &r.opts.scheme), GA_OK);
  rig_build(&r);
  assert_status(r.ctx, start_linkage(&r, &l, 1e-3, NULL), GA_OK);
  const int steps = rig_brief() ? 1000 : 10000; /* the first flat position comes within a second */
  for (int i = 0; i < steps; i++) {
    rig_steps(&r, 1e-3, 1);
    const double *q = ga_stepper_state(r.st)->q;
    for (int k = n + 1; k <= 2 * n; k++) /* the bars on top stay level */
      if (!(fabs(q[3 * k + 2]) < 1e-6)) fail_msg("N = %d: bar at %g after step %d", n, q[3 * k + 2], i);
  }
  const double *q = ga_stepper_state(r.st)->q;
  if (steps == 10000) assert_near(q[0] + 0.5 * cos(q[2]), exact[n - 1], 1e-4, "B0x(10)");
  rig_close(&r);
}

static void singular_positions(void **state)
{
  (void)state;
  for (int n = 1; n <= 3; n++) stay_on_the_branch(n, GA_STABILIZED, 0);
  for (int method = 0; method < N_METHODS; method++) /* steps of collocation fail there, and may be shorter */
    if (METHOD[method] != GA_COLLOCATION) stay_on_the_branch(1, METHOD[method], 0);
  stay_on_the_branch(1, GA_STABILIZED, 1);
}

static int flat(void *user, const ga_point *p, double *out)
{
  (void)user;
  out[0] = p->q[1];
  return 0;
}

/* A step that ends where the links lie flat, and on from there. */
static void onto_a_singular_position(void **state)
{
  static const ga_event event[] = {{0, GA_EVENT_STOP}};
  (void)state;
  for (int n = 1; n <= 3; n++) {
    linkage l = n_four_bars(n);
    rig r = rig_open(NULL);
    ga_simulate_opts o = ga_simulate_defaults();
    ga_simulator *sim = NULL;
    linkage_define(&l, &r.def);
    rig_build(&r);
    o.t_end = 10.0;
    o.fixed_h = 1e-3;
    o.n_events = 1, o.events = event, o.event_function = flat;
    assert_status(r.ctx, ga_simulator_create(r.ctx, r.st, &o, &sim), GA_OK);
    r.ctx->opts.log = hear;
    n_heard = 0;
    assert_status(r.ctx, ga_simulator_start(sim, NULL, 0.0, l.q0, l.v0, NULL, NULL, NULL, NULL), GA_OK);
    assert_int_equal(ga_simulator_run(sim), GA_STOPPED);
    const ga_state *s = ga_stepper_state(r.st);
    assert_near(s->q[1], 0.0, 1e-8, "flat");
    assert_int_equal(ga_stepper_redundancy(r.st)->redundant, n);
    assert_int_equal(ga_stepper_redundancy(r.st)->mobility, n + 1);
    assert_int_equal(n_heard, 1);
    double rate = s->v[2];
    for (int i = 0; i < 100; i++) {
      ga_status status = ga_stepper_step(r.st, 1e-3);
      if (status) fail_msg("N = %d, step %d: %s", n, i, ga_context_error(r.ctx)->text);
    }
    s = ga_stepper_state(r.st);
    for (int k = 0; k <= 2 * n; k++) assert_near(s->v[3 * k + 2], k <= n ? s->v[2] : 0.0, 1e-3, "branch");
    assert_true(fabs(s->v[2]) > 0.9 * fabs(rate));
    ga_simulator_destroy(&sim);
    rig_close(&r);
  }
}

/* Φ = q₀ q₁, whose row vanishes at the origin: a point slides along one axis, and steps end there to the bit.
 */
static int crossing_mass(void *user, const ga_point *p, double *out)
{
  (void)user;
  out[0] = p->vdot[0], out[1] = p->vdot[1];
  return 0;
}

static int crossing_force(void *user, const ga_point *p, double *out)
{
  (void)user;
  out[0] = -p->lambda[0] * p->q[1], out[1] = -p->lambda[0] * p->q[0];
  return 0;
}

static int crossing_phi(void *user, const ga_point *p, double *out)
{
  (void)user;
  out[0] = p->q[0] * p->q[1];
  return 0;
}

static int crossing_jacobian(void *user, const ga_point *p, ga_jacobian *J)
{
  (void)user;
  J->D[0] = J->D[4] = J->shift_vdot;
  J->D[2] = J->Q[6] = p->q[1];
  J->D[5] = J->Q[7] = p->q[0];
  J->Q[1] = J->Q[3] = p->lambda[0];
  J->G[6] = p->v[1], J->G[7] = p->v[0];
  return 0;
}

static void through_a_crossing(void **state)
{
  static const ga_factor plane[] = {{GA_RN, 2, GA_LEFT}};
  const double q[] = {-1.0, 0.0}, v[] = {1.0, 0.0};
  (void)state;
  for (int method = 0; method < N_METHODS; method++)
    for (int refuse = 0; refuse < 2; refuse++) {
      ga_start_opts o = ga_start_defaults();
      o.h = 0.25;
      rig r = rig_open(NULL);
      r.def.n_factors = 1, r.def.factors = plane, r.def.n_lambda = 1;
      r.def.mass = crossing_mass, r.def.force = crossing_force, r.def.phi = crossing_phi;
      r.def.jacobian = crossing_jacobian;
      r.opts.method = METHOD[method];
      r.opts.redundant = refuse ? GA_REDUNDANT_REFUSE : GA_REDUNDANT_ACCEPT;
      r.opts.newton.reuse = GA_FRESH_STEP;
      rig_build(&r);
      assert_status(r.ctx, ga_stepper_start(r.st, &o, 0.0, q, v, NULL, NULL, NULL, NULL), GA_OK);
      rig_steps(&r, 0.25, 3);
      double *before = rig_copy(&r);
      ga_status status = ga_stepper_step(r.st, 0.25);
      assert_status(r.ctx, status, refuse ? GA_RETRY_SINGULAR : GA_OK);
      if (refuse) {
        assert_true(rig_same_bits(&r, before));
      } else {
        assert_near(ga_stepper_state(r.st)->q[0], 0.0, 1e-15, "q");
        assert_int_equal(ga_stepper_stats(r.st)->redundant, 1);
        assert_int_equal(ga_stepper_redundancy(r.st)->mobility, 2);
        assert_int_equal(ga_stepper_redundancy(r.st)->relation[0].n, 1);
        double *there = rig_copy(&r);
        assert_status(r.ctx, ga_stepper_undo(r.st), GA_OK);
        assert_true(rig_same_bits(&r, before));
        assert_int_equal(ga_stepper_redundancy(r.st)->redundant, 0);
        rig_steps(&r, 0.25, 1);
        assert_true(rig_same_bits(&r, there));
        free(there);
        rig_steps(&r, 0.25, 1);
        assert_int_equal(ga_stepper_stats(r.st)->redundant, 0);
        rig_steps(&r, 0.25, 3);
        assert_near(ga_stepper_state(r.st)->q[0], 1.0, 1e-12, "q");
        assert_near(ga_stepper_state(r.st)->q[1], 0.0, 1e-12, "q off the axis");
      }
      free(before);
      rig_close(&r);
    }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(motion_unaffected),
      cmocka_unit_test(order_of_lambda),
      cmocka_unit_test(within_a_step),
      cmocka_unit_test(relations_are_named),
      cmocka_unit_test(without_redundancy),
      cmocka_unit_test(spatial_four_bar),
      cmocka_unit_test(spatial_assembly),
      cmocka_unit_test(cannot_close),
      cmocka_unit_test(saved_and_taken_back),
      cmocka_unit_test(simulated),
      cmocka_unit_test(nonholonomic),
      cmocka_unit_test(holonomic_and_nonholonomic),
      cmocka_unit_test(singular_positions),
      cmocka_unit_test(onto_a_singular_position),
      cmocka_unit_test(parallel),
      cmocka_unit_test(parallel_but_for_a_little),
      cmocka_unit_test(each_callback_fails),
      cmocka_unit_test(through_a_crossing),
  };
  return cmocka_run_group_tests_name("core: redundant constraints", tests, rig_hook_klu, NULL);
}
