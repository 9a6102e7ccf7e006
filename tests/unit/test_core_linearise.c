/* Linearisations: closed forms, eigenvalues of machines without constraints and with them, on groups, with
 * states and outputs; and the equations themselves against small motions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "linkage.h"
#include <lapacke.h>

enum { N = 64 };

typedef struct modes {
  int n;
  double re[N], im[N];
} modes;

/* Creates, linearises, and leaves *form to the caller until lin is destroyed. */
static const ga_linear_form *linearise(const rig *r, const ga_point *p, ga_linearisation **lin)
{
  const ga_linear_form *form = NULL;
  assert_status(r->ctx, ga_linearisation_create(r->ctx, r->sys, lin), GA_OK);
  const long before = rig_memory.count;
  assert_status(r->ctx, ga_linearisation_compute(*lin, p, &form), GA_OK);
  assert_int_equal(rig_memory.count, before);
  assert_non_null(form);
  assert_int_equal(form->n, form->n_q + form->n_v + form->n_x);
  return form;
}

/* The same with inputs. */
static const ga_linear_form *linearise_inputs(const rig *r, const ga_point *p, int n,
                                              const ga_linear_input *inputs, ga_linearisation **lin)
{
  const ga_linear_form *form = NULL;
  assert_status(r->ctx, ga_linearisation_create_with_inputs(r->ctx, r->sys, n, inputs, lin), GA_OK);
  const long before = rig_memory.count;
  assert_status(r->ctx, ga_linearisation_compute(*lin, p, &form), GA_OK);
  assert_int_equal(rig_memory.count, before);
  assert_int_equal(form->n, form->n_q + form->n_v + form->n_x + form->n_w);
  assert_int_equal(form->n_u, n);
  return form;
}

static modes eigenvalues(const ga_linear_form *form)
{
  modes m = {.n = form->n};
  double A[N * N];
  assert_true(form->n <= N);
  memcpy(A, form->A, (size_t)(form->n * form->n) * sizeof *A);
  assert_int_equal(LAPACKE_dgeev(LAPACK_COL_MAJOR, 'N', 'N', m.n, A, m.n, m.re, m.im, NULL, 1, NULL, 1), 0);
  return m;
}

static void assert_mode(const modes *m, double re, double im, double tolerance, const char *what)
{
  double least = INFINITY;
  for (int i = 0; i < m->n; i++) least = fmin(least, hypot(m->re[i] - re, m->im[i] - im));
  if (!(least <= tolerance)) fail_msg("%s: eigenvalue %g %+g i is off by %.2e", what, re, im, least);
}

static ga_point point_of(const ga_state *s)
{
  return (ga_point){s->t, s->q, s->v, s->vdot, s->lambda, s->psi, s->x, s->y, 0, NULL};
}

/* ---- A damped oscillator with a controller: force u = y, y = −g x, x' = (q − x)/T ---- */

static const double MASS = 2.0, DAMPING = 0.6, STIFFNESS = 50.0, GAIN = 8.0, LAG = 0.3;

static int oscillator_mass(void *user, const ga_point *p, double *out)
{
  (void)user;
  out[0] = MASS * p->vdot[0];
  return 0;
}

static int oscillator_force(void *user, const ga_point *p, double *out)
{
  (void)user;
  out[0] = -DAMPING * p->v[0] - STIFFNESS * p->q[0] + p->y[0];
  return 0;
}

static int oscillator_state(void *user, const ga_point *p, double *out)
{
  (void)user;
  out[0] = (p->q[0] - p->x[0]) / LAG;
  return 0;
}

/* An algebraic loop on the way: y = −g x + 0.5 y. */
static int oscillator_output(void *user, const ga_point *p, double *out)
{
  (void)user;
  out[0] = -0.5 * GAIN * p->x[0] + 0.5 * p->y[0];
  return 0;
}

/* A = [0 1 0; −k/m −d/m −g/m; 1/T 0 −1/T], and y = −g x. */
static void oscillator(void **state)
{
  static const ga_factor line = {GA_RN, 1, GA_LEFT};
  const double zero = 0.0;
  rig r = rig_open(NULL);
  ga_linearisation *lin = NULL;
  (void)state;
  r.def.n_factors = 1, r.def.factors = &line, r.def.n_x = r.def.n_y = 1;
  r.def.mass = oscillator_mass, r.def.force = oscillator_force;
  r.def.state = oscillator_state, r.def.output = oscillator_output;
  assert_status(r.ctx, ga_system_create(r.ctx, &r.def, &r.sys), GA_OK);
  const ga_point p = {0.0, &zero, &zero, &zero, &zero, &zero, &zero, &zero, 0, NULL};
  const ga_linear_form *f = linearise(&r, &p, &lin);
  assert_true(f->n_q == 1 && f->n_v == 1 && f->n_x == 1);
  const double s = f->q[0] * f->v[1], c = f->q[0]; /* bases may point the other way */
  const double expected[9] = {0, -STIFFNESS / MASS * s,  c / LAG, s, -DAMPING / MASS, 0,
                              0, -GAIN / MASS * f->v[1], -1 / LAG};
  for (int i = 0; i < 9; i++) assert_near(f->A[i], expected[i], 1e-7, "oscillator");
  assert_near(f->y[2], -GAIN, 1e-7, "output by state");
  assert_near(f->vdot[2], -GAIN / MASS, 1e-7, "acceleration by state");
  assert_below(f->residual, 0.0, "residual");
  assert_below(f->unsteady, 1e-3, "unsteady");
  ga_linearisation_destroy(&lin);
  assert_null(lin);
  /* a force; a part of x'; a part of y, which the loop y = ... + y/2 doubles */
  const ga_linear_input inputs[] = {{GA_BLOCK_V, 0}, {GA_BLOCK_X, 0}, {GA_BLOCK_Y, 0}};
  f = linearise_inputs(&r, &p, 3, inputs, &lin);
  const double B[9] = {0, f->v[1] / MASS, 0, 0, 0, 1, 0, 2 * f->v[1] / MASS, 0};
  const double D[9] = {1 / MASS, 0, 2 / MASS, 0, 0, 2};
  for (int i = 0; i < 9; i++) assert_near(f->A[i], expected[i], 1e-7, "oscillator with inputs");
  for (int i = 0; i < 9; i++) assert_near(f->B[i], B[i], 1e-7, "oscillator: B");
  for (int i = 0; i < 3; i++) assert_near(f->u_vdot[i], D[i], 1e-7, "acceleration by inputs");
  for (int i = 0; i < 3; i++) assert_near(f->u_y[i], D[3 + i], 1e-7, "output by inputs");
  for (int i = 0; i < 3; i++) assert_int_equal(f->w[i], -1);
  ga_linearisation_destroy(&lin);
  rig_close(&r);
}

/* ---- Pendulums, hanging at rest ---- */

static void at_rest(rig *r, const double *q0, ga_start_opts *o)
{
  double zero[RIG_MOST] = {0};
  o->h = 1e-3;
  rig_build(r);
  assert_status(r->ctx, ga_stepper_start(r->st, o, 0.0, q0, zero, zero, NULL, NULL, NULL), GA_OK);
}

/* The bar on a torsional spring-damper: (m L² + m L²/3) θ'' + c θ' + (κ + m g L) θ = 0. */
static void pendulum(void **state)
{
  const double m = 5.0, L = 2.0, c = 100.0, k = 3000.0 + m * 9.81 * L, inertia = 4.0 / 3.0 * m * L * L;
  const double q0[3] = {0.0, -L, 3.0 * acos(0.0)};
  rig r = rig_open("pendulum");
  ga_start_opts o = ga_start_defaults();
  ga_linearisation *lin = NULL;
  (void)state;
  at_rest(&r, q0, &o);
  const ga_point p = point_of(ga_stepper_state(r.st));
  const ga_linear_form *f = linearise(&r, &p, &lin);
  const modes found = eigenvalues(f);
  assert_int_equal(found.n, 2);
  assert_mode(&found, -c / (2 * inertia), sqrt(k / inertia - c * c / (4 * inertia * inertia)), 1e-10,
              "damped pendulum");
  assert_below(f->residual, 1e-10, "residual");
  assert_below(f->unsteady, 1e-6, "unsteady");
  assert_true(f->independence > 0.1 && f->independence <= 1.0);
  ga_linearisation_destroy(&lin);
  rig_close(&r);
}

/* A uniform rod: ω² = 3 g / (2 l). */
static void hanging_rod(void **state)
{
  const double length = 0.7;
  linkage l = {.n_links = 1,
               .n_pins = 1,
               .gravity = 9.81,
               .length = {length},
               .mass = {0.3},
               .pin = {{0, -1, -0.5, 0, 0, 0}},
               .q0 = {0.0, -length / 2, -acos(0.0)}};
  rig r = rig_open(NULL);
  ga_linearisation *lin = NULL;
  ga_start_opts o = ga_start_defaults();
  (void)state;
  linkage_define(&l, &r.def);
  at_rest(&r, l.q0, &o);
  const ga_point p = point_of(ga_stepper_state(r.st));
  const modes found = eigenvalues(linearise(&r, &p, &lin));
  assert_int_equal(found.n, 2);
  assert_mode(&found, 0.0, sqrt(1.5 * 9.81 / length), 1e-8, "hanging rod");
  ga_linearisation_destroy(&lin);
  rig_close(&r);
}

/* In motion it is not steady, and the form says so. */
static void unsteady_motions_are_reported(void **state)
{
  rig r = rig_open("pendulum");
  ga_linearisation *lin = NULL;
  (void)state;
  rig_build(&r);
  rig_start(&r, 1e-3);
  rig_steps(&r, 1e-3, 300);
  ga_point p = point_of(ga_stepper_state(r.st));
  const ga_linear_form *f = linearise(&r, &p, &lin);
  assert_true(f->unsteady > 0.1);
  const double off = f->residual, zero[3] = {0.0, 0.0, 0.0};
  p.vdot = zero; /* no solution of the equations */
  assert_status(r.ctx, ga_linearisation_compute(lin, &p, &f), GA_OK);
  assert_true(f->residual > 1.0 && off < 1e-6);
  ga_linearisation_destroy(&lin);
  rig_close(&r);
}

/* ---- Linkages in the plane, with springs by gravity ---- */

/* Twice the energy of a link that turns about a pin at the distance a of its centre: m a² + m l²/12. */
static double about_pin(double mass, double length, double a)
{
  return mass * (a * a + length * length / 12.0);
}

/* Row `last` is 2 row a + row a+1: of multipliers that differ by this relation the form has the least, each
 * times the length of its row: Σ weight length² δλ = 0. */
static void assert_least(const rig *r, const ga_point *p, const ga_linear_form *f, int last, int a)
{
  static const double weight[3] = {1.0, -2.0, -1.0};
  const int row[3] = {last, a, a + 1}, m = r->sys->size[GA_BLOCK_LAMBDA];
  double square[LINKAGE_ROWS] = {0}, largest = 0.0;
  ga_evaluation *ev = NULL;
  assert_status(r->ctx, ga_evaluation_create(r->ctx, r->sys, &ev), GA_OK);
  assert_status(r->ctx, ga_evaluation_jacobian(ev, p), GA_OK);
  const ga_sparse *B = ga_evaluation_matrix(ev, GA_BLOCK_LAMBDA, GA_BY_Q);
  for (int i = 0; i < B->nnz; i++) square[B->row[i]] += B->value[i] * B->value[i];
  for (int j = 0; j < f->n; j++) {
    double sum = 0.0;
    for (int i = 0; i < 3; i++) {
      const double part = weight[i] * square[row[i]] * f->multipliers[j * m + row[i]];
      sum += part;
      largest = fmax(largest, fabs(part));
    }
    assert_near(sum, 0.0, 1e-8, "least multipliers");
  }
  assert_true(largest > 0.1);
  ga_evaluation_destroy(&ev);
}

/* A parallelogram of two cranks and a coupler, hanging straight down: every crank turns by φ, the coupler
 * moves as its ends. Energy ½ (2 I + m c²) φ'², potential −(2 m_c g c/2 + m g c) cos φ. */
static void four_bar(void **state)
{
  for (int n_extra = 0; n_extra <= 2; n_extra++) {
    const double crank = 0.5, bar = 1.0, g = 9.81, half_pi = acos(0.0);
    linkage l = {.n_links = 3,
                 .n_pins = 4,
                 .length = {crank, bar, crank},
                 .mass = {1.3, 2.1, 1.3},
                 .gravity = 9.81,
                 .pin = {{0, -1, -0.5, 0, 0, 0},
                         {0, 1, 0.5, -0.5, 0, 0},
                         {1, 2, 0.5, 0.5, 0, 0},
                         {2, -1, -0.5, 0, bar, 0}},
                 .q0 = {0, -crank / 2, -half_pi, bar / 2, -crank, 0, bar, -crank / 2, -half_pi}};
    for (int i = 0; i < n_extra; i++) linkage_add_row(&l, i, 2.0, i + 1, 1.0);
    rig r = rig_open(NULL);
    ga_linearisation *lin = NULL;
    ga_start_opts o = ga_start_defaults();
    (void)state;
    linkage_define(&l, &r.def);
    at_rest(&r, l.q0, &o);
    const ga_point p = point_of(ga_stepper_state(r.st));
    const ga_linear_form *f = linearise(&r, &p, &lin);
    const modes m = eigenvalues(f);
    const double inertia = 2 * about_pin(1.3, crank, crank / 2) + 2.1 * crank * crank,
                 stiffness = (2 * 1.3 * crank / 2 + 2.1 * crank) * g;
    assert_int_equal(m.n, 2);
    assert_mode(&m, 0.0, sqrt(stiffness / inertia), 1e-8, "four-bar");
    if (n_extra == 1) assert_least(&r, &p, f, 8, 0);
    ga_linearisation_destroy(&lin);
    rig_close(&r);
  }
}

/* ---- A free rigid body on SO(3), body axes, turning about its middle axis and about the others ---- */

static const double INERTIA[3] = {1.0, 2.0, 4.0};

static int body_mass(void *user, const ga_point *p, double *out)
{
  (void)user;
  for (int i = 0; i < 3; i++) out[i] = INERTIA[i] * p->vdot[i];
  return 0;
}

static int body_force(void *user, const ga_point *p, double *out)
{
  (void)user;
  for (int i = 0; i < 3; i++) {
    const int a = (i + 1) % 3, b = (i + 2) % 3;
    out[i] = (INERTIA[a] - INERTIA[b]) * p->v[a] * p->v[b];
  }
  return 0;
}

/* Turning about axis i with Ω: λ² = −Ω² (I_i − I_a)(I_i − I_b)/(I_a I_b); of δq: ±iΩ in the body's axes, and
 * 0. */
static void free_body(void **state)
{
  static const ga_factor turn = {GA_SO3, 0, GA_LEFT};
  const double speed = 1.7;
  (void)state;
  for (int axis = 0; axis < 3; axis++) {
    rig r = rig_open(NULL);
    double q[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, v[3] = {0}, zero[3] = {0};
    ga_linearisation *lin = NULL;
    r.def.n_factors = 1, r.def.factors = &turn, r.def.mass = body_mass, r.def.force = body_force;
    assert_status(r.ctx, ga_system_create(r.ctx, &r.def, &r.sys), GA_OK);
    v[axis] = speed;
    const ga_point p = {0.0, q, v, zero, zero, zero, zero, zero, 0, NULL};
    const modes m = eigenvalues(linearise(&r, &p, &lin));
    const int a = (axis + 1) % 3, b = (axis + 2) % 3;
    const double square = -speed * speed * (INERTIA[axis] - INERTIA[a]) * (INERTIA[axis] - INERTIA[b]) /
                          (INERTIA[a] * INERTIA[b]);
    assert_int_equal(m.n, 6);
    assert_mode(&m, square > 0 ? sqrt(square) : 0.0, square < 0 ? sqrt(-square) : 0.0, 1e-6, "free body");
    assert_mode(&m, 0.0, speed, 1e-6, "frame of the body");
    ga_linearisation_destroy(&lin);
    rig_close(&r);
  }
}

/* ---- A top that stands upright, held at its tip: A ζ'' − i C s ζ' − m g l ζ = 0 for its lean ζ, so that
 *   λ = i (C s ± √(C² s² − 4 A m g l)) / 2A,   in the frame of the body less i s ---- */

static void sleeping_top(void **state)
{
  static const struct {
    const char *name;
    int body; /* 1: velocities are those of the body */
  } form[] = {{"heavy_top", 0}, {"heavy_top_s3_right", 0}, {"heavy_top_se3", 1}};
  const double s = 300.0, m = 15.0, g = 9.81, A = 0.234375 + m, C = 0.46875, half = sqrt(0.5);
  const double matrix[12] = {0, 0, 1, 1, 0, 0, 0, 0, -1, 0, 1, 0},
               quaternion[7] = {0, 0, 1, half, half, 0, 0};
  const double space[6] = {0, 0, 0, 0, 0, s}, body[6] = {0, 0, 0, 0, s, 0}, zero[6] = {0},
               lambda[3] = {0, 0, m * g};
  const double root = sqrt(C * C * s * s - 4 * A * m * g);
  (void)state;
  for (int i = 0; i < 3; i++) {
    rig r = rig_open(form[i].name);
    ga_linearisation *lin = NULL;
    assert_status(r.ctx, ga_system_create(r.ctx, &r.def, &r.sys), GA_OK);
    const ga_point p = {0.0,
                        r.sys->nq == 7 ? quaternion : matrix,
                        form[i].body ? body : space,
                        zero,
                        lambda,
                        zero,
                        zero,
                        zero,
                        0,
                        NULL};
    const ga_linear_form *f = linearise(&r, &p, &lin);
    const modes found = eigenvalues(f);
    assert_int_equal(found.n, 6);
    assert_below(f->residual, 1e-10, form[i].name);
    for (int sign = -1; sign <= 1; sign += 2)
      assert_mode(&found, 0.0, (C * s + sign * root) / (2 * A) - (form[i].body ? s : 0.0), 1e-8,
                  form[i].name);
    if (!form[i].body) assert_below(f->unsteady, 1e-6, form[i].name);
    ga_linearisation_destroy(&lin);
    rig_close(&r);
  }
}

/* ---- A disk that rolls upright at the speed w, nonholonomic: with lean θ, heading φ and roll, at φ = 0
 *   z1 = r z5,  z2 = r w φ,   I1 φ'' = −I2 w θ',   (m r² + I1) θ'' = (I2 − m r²) w φ' + m g r θ ---- */

static void rolling_disk(void **state)
{
  const double w = 3.0, m = 2.0, g = 10.0, I1 = 2.0, I2 = 2.0; /* r = 1 */
  const double q0[5] = {0.0}, v0[5] = {w, 0.0, 0.0, 0.0, w}, zero[5] = {0.0};
  const ga_point p = {0.0, q0, v0, zero, zero, zero, zero, zero, 0, NULL};
  rig r = rig_open("rolling_disk");
  ga_linearisation *lin = NULL;
  (void)state;
  assert_status(r.ctx, ga_system_create(r.ctx, &r.def, &r.sys), GA_OK);
  const ga_linear_form *f = linearise(&r, &p, &lin);
  assert_true(f->n_q == 5 && f->n_v == 3 && f->n_x == 0);
  assert_below(f->residual, 1e-14, "residual");
  assert_below(f->unsteady, 1e-9, "unsteady");
  for (int j = 0; j < f->n; j++) {
    const double *q = f->q + 5 * j, *v = f->v + 5 * j, *a = f->vdot + 5 * j;
    assert_near(v[0], v[4], 1e-13, "rolls ahead");
    assert_near(v[1], w * q[3], 1e-13, "rolls where it heads");
    assert_near(a[1], w * v[3], 1e-12, "turns");
    assert_near(a[3], -I2 / I1 * w * v[2], 1e-12, "heading");
    assert_near(a[2], ((I2 - m) * w * v[3] + m * g * q[2]) / (m + I1), 1e-12, "lean");
    for (int k = 0; k < 5; k++) { /* R^n: δq' = δv, and δv' = δvdot */
      double rate = 0.0, acceleration = 0.0;
      for (int i = 0; i < f->n; i++)
        rate += f->q[5 * i + k] * f->A[f->n * j + i], acceleration += f->v[5 * i + k] * f->A[f->n * j + i];
      assert_near(rate, v[k], 1e-12, "rate of positions");
      assert_near(acceleration, a[k], 1e-12, "rate of velocities");
    }
  }
  const modes found = eigenvalues(f);
  assert_mode(&found, sqrt(m * g / (m + I1)), 0.0, 1e-9, "falling disk");
  ga_linearisation_destroy(&lin);
  rig_close(&r);
}

/* ---- Small motions of every problem: the variation of the equations ---- */

/* Derivatives of the residuals along column j of the form, times all matrices: the equations hold for it. */
static double equations_off(ga_evaluation *ev, const ga_system *sys, const ga_linear_form *f, int j)
{
  static const ga_equation_block rows[] = {GA_BLOCK_V, GA_BLOCK_LAMBDA, GA_BLOCK_PSI,
                                           GA_BLOCK_X, GA_BLOCK_Y,      GA_BLOCK_ETA};
  const int nv = sys->nv, m = sys->size[GA_BLOCK_LAMBDA] + sys->size[GA_BLOCK_PSI],
            ny = sys->size[GA_BLOCK_Y];
  double x[RIG_MOST] = {0}, part[RIG_MOST], worst = 0.0;
  const double *multipliers = f->multipliers + j * m, *xdot = f->A + j * f->n + f->n_q + f->n_v;
  if (j >= f->n_q + f->n_v) x[j - f->n_q - f->n_v] = 1.0;
  const double *const d[GA_N_BY] = {f->vdot + j * nv,
                                    f->v + j * nv,
                                    f->q + j * nv,
                                    multipliers,
                                    multipliers + sys->size[GA_BLOCK_LAMBDA],
                                    x,
                                    f->y + j * ny};
  for (int b = 0; b < 6; b++) {
    double sum[RIG_MOST] = {0}, size = 1.0;
    const int n = ga_system_size(sys, rows[b]);
    for (int i = 0; rows[b] == GA_BLOCK_X && i < n; i++) sum[i] = xdot[i];
    for (int k = 0; k < GA_N_BY; k++) {
      ga_sparse_mul(part, ga_evaluation_matrix(ev, rows[b], (ga_by)k), d[k]);
      for (int i = 0; i < n; i++) sum[i] += part[i], size = fmax(size, fabs(part[i]));
    }
    worst = fmax(worst, ga__max_abs(sum, n, NULL) / size);
  }
  return worst;
}

/* Constraints, dynamics, states and outputs are met by every column, at states in full motion. */
static void columns_meet_the_equations(void **state)
{
  int n_checked = 0;
  (void)state;
  for (int i = 0; ex_problem_at(i); i++) {
    rig r = rig_open(ex_problem_at(i)->name);
    ga_linearisation *lin = NULL;
    ga_evaluation *ev = NULL;
    rig_build(&r);
    if (r.sys->n <= RIG_MOST && strncmp(r.problem->name, "rank_deficient", 14)) {
      rig_start(&r, r.problem->h);
      rig_steps(&r, r.problem->h, 5);
      const ga_point p = point_of(ga_stepper_state(r.st));
      const ga_linear_form *f = linearise(&r, &p, &lin);
      assert_status(r.ctx, ga_evaluation_create(r.ctx, r.sys, &ev), GA_OK);
      assert_status(r.ctx, ga_evaluation_jacobian(ev, &p), GA_OK);
      for (int j = 0; j < f->n; j++) assert_below(equations_off(ev, r.sys, f, j), 1e-9, r.problem->name);
      n_checked++;
    }
    ga_evaluation_destroy(&ev);
    ga_linearisation_destroy(&lin);
    rig_close(&r);
  }
  assert_true(n_checked >= 10);
}

/* ---- Inputs ---- */

/* A rod hangs from a point that is moved by w: θ'' = −3/(2 l) (g θ + w_x''), λ_x = −m x'', λ_y = −m (g +
 * w_y'').
 */
static void moved_support(void **state)
{
  const double length = 0.7, mass = 0.3, g = 9.81;
  linkage l = {.n_links = 1,
               .n_pins = 1,
               .gravity = g,
               .length = {length},
               .mass = {mass},
               .pin = {{0, -1, -0.5, 0, 0, 0}},
               .q0 = {0.0, -length / 2, -acos(0.0)}};
  const ga_linear_input inputs[] = {{GA_BLOCK_LAMBDA, 0}, {GA_BLOCK_LAMBDA, 1}};
  rig r = rig_open(NULL);
  ga_linearisation *lin = NULL;
  ga_start_opts o = ga_start_defaults();
  (void)state;
  linkage_define(&l, &r.def);
  at_rest(&r, l.q0, &o);
  const ga_point p = point_of(ga_stepper_state(r.st));
  const ga_linear_form *f = linearise_inputs(&r, &p, 2, inputs, &lin);
  assert_true(f->n_q == 1 && f->n_v == 1 && f->n_w == 4 && f->w[0] == 2 && f->w[1] == 4);
  const double vdot[6] = {0.25, 0, -1.5 / length, 0, 1, 0}, forces[4] = {-0.25 * mass, 0, 0, -mass};
  for (int i = 0; i < 6; i++)
    assert_near(f->u_vdot[i], vdot[i], 1e-10, "acceleration by that of the support");
  for (int i = 0; i < 4; i++) assert_near(f->u_multipliers[i], forces[i], 1e-10, "force by acceleration");
  for (int k = 0; k < 2; k++) { /* w is a state, and w' is its rate; w'' is the input */
    const int w = f->w[k];
    for (int i = 0; i < f->n; i++) {
      assert_near(f->B[k * f->n + i] * (i >= 2), i == w + 1, 1e-12, "B of the states of inputs");
      assert_near(f->A[(w + 1) * f->n + i] * (i >= 2), i == w, 1e-12, "w' is the rate of w");
      assert_near(f->A[w * f->n + i] * (i >= 2), 0, 1e-12, "a rate of w by w");
    }
    double at[3] = {0};
    for (int i = 0; i < 3; i++) at[i] = f->q[w * 3 + i];
    /* the pin is moved by w: centre − l/2 (cos θ, sin θ), at θ = −π/2 */
    assert_near(at[0] - length / 2 * at[2], k == 0, 1e-12, "the pin along x");
    assert_near(at[1], k == 1, 1e-12, "the pin along y");
    /* w is the pin's alone: turned by θ, the rod falls as it does at rest */
    assert_near(f->vdot[w * 3 + 2], -1.5 * g / length * at[2], 1e-9, "acceleration by the state");
  }
  ga_linearisation_destroy(&lin);
  rig_close(&r);
}

/* Rows of the equations, along a column of states or inputs, by differences of the equations themselves. */
typedef struct variation {
  const double *q, *v, *vdot, *multipliers, *x, *xdot, *y;
} variation;

static void differ(ga_evaluation *ev, const ga_system *sys, const ga_point *p, const variation *d,
                   double *out)
{
  const int nl = sys->size[GA_BLOCK_LAMBDA], np = sys->size[GA_BLOCK_PSI], n = sys->n + nl;
  static const double weight[4] = {1.0 / 12, -8.0 / 12, 8.0 / 12, -1.0 / 12};
  static const int at[4] = {-2, -1, 1, 2};
  const double eps = 1e-4;
  for (int i = 0; i < n; i++) out[i] = 0.0;
  for (int k = 0; k < 4; k++) {
    double q[2 * RIG_MOST], move[RIG_MOST], v[RIG_MOST], a[RIG_MOST], l[RIG_MOST], psi[RIG_MOST], x[RIG_MOST],
        xdot[RIG_MOST], y[RIG_MOST], r[3 * RIG_MOST];
    const double h = at[k] * eps;
    ga_point there = {p->t, q, v, a, l, psi, x, y, 0, NULL};
    for (int i = 0; i < sys->nv; i++) move[i] = h * d->q[i], v[i] = p->v[i] + h * d->v[i];
    for (int i = 0; i < sys->nv; i++) a[i] = p->vdot[i] + h * d->vdot[i];
    for (int i = 0; i < nl; i++) l[i] = p->lambda[i] + h * d->multipliers[i];
    for (int i = 0; i < np; i++) psi[i] = p->psi[i] + h * d->multipliers[nl + i];
    for (int i = 0; i < sys->size[GA_BLOCK_X]; i++) x[i] = p->x[i] + h * d->x[i], xdot[i] = h * d->xdot[i];
    for (int i = 0; i < sys->size[GA_BLOCK_Y]; i++) y[i] = p->y[i] + h * d->y[i];
    ga_group_move(sys->group, q, p->q, move);
    assert_int_equal(ga_evaluation_residual(ev, &there, xdot, r, r + sys->n), GA_OK);
    for (int i = 0; i < n; i++) out[i] += weight[k] / eps * r[i];
  }
}

static const double nothing[RIG_MOST];

/* Column j of the states, or j − n of the inputs: what the equations become along it, less what they should.
 */
static double variation_off(ga_evaluation *ev, const ga_system *sys, const ga_point *p,
                            const ga_linear_form *f, const ga_linear_input *inputs, int j)
{
  const int nv = sys->nv, m = sys->size[GA_BLOCK_LAMBDA] + sys->size[GA_BLOCK_PSI],
            ny = sys->size[GA_BLOCK_Y], u = j - f->n, first_x = f->n_q + f->n_v;
  double x[RIG_MOST] = {0}, r[3 * RIG_MOST], size = 1.0;
  variation d = {nothing, nothing, NULL, NULL, x, NULL, NULL};
  if (u < 0) {
    d = (variation){
        f->q + j * nv, f->v + j * nv, f->vdot + j * nv, f->multipliers + j * m, x, f->A + j * f->n + first_x,
        f->y + j * ny};
    if (j >= first_x && j < first_x + f->n_x) x[j - first_x] = 1.0;
  } else {
    d.vdot = f->u_vdot + u * nv, d.multipliers = f->u_multipliers + u * m;
    d.xdot = f->B + u * f->n + first_x, d.y = f->u_y + u * ny;
  }
  differ(ev, sys, p, &d, r);
  for (int i = 0; i < f->n_u; i++) { /* what the right-hand sides are */
    const int row = ga_system_start(sys, inputs[i].block) + inputs[i].index;
    if (f->w[i] < 0) r[row] -= i == u;
    if (f->w[i] >= 0) r[row] -= j == f->w[i];
    if (inputs[i].block == GA_BLOCK_LAMBDA) r[sys->n + inputs[i].index] -= j == f->w[i] + 1;
  }
  size = fmax(size, fmax(ga__max_abs(d.vdot, nv, NULL), m ? ga__max_abs(d.multipliers, m, NULL) : 0.0));
  return ga__max_abs(r, sys->n + sys->size[GA_BLOCK_LAMBDA], NULL) / size;
}

/* Every equation of every problem as an input, in full motion: along every column of states and inputs the
 * nonlinear equations change as they should, by differences; and δv' is δvdot. */
static void inputs_meet_the_equations(void **state)
{
  int n_checked = 0, n_offsets = 0;
  (void)state;
  for (int i = 0; ex_problem_at(i); i++) {
    rig r = rig_open(ex_problem_at(i)->name);
    ga_linearisation *lin = NULL;
    ga_evaluation *ev = NULL;
    ga_linear_input inputs[RIG_MOST];
    int n = 0;
    rig_build(&r);
    if (r.sys->n <= RIG_MOST / 2 && strncmp(r.problem->name, "rank_deficient", 14) &&
        strncmp(r.problem->name, "stiff_pair", 10)) {
      rig_start(&r, r.problem->h);
      rig_steps(&r, r.problem->h, 5);
      const ga_point p = point_of(ga_stepper_state(r.st));
      for (int b = 0; b < GA_N_BLOCKS; b++)
        for (int k = 0; k < r.sys->size[b]; k++) inputs[n++] = (ga_linear_input){(ga_equation_block)b, k};
      const ga_linear_form *f = linearise_inputs(&r, &p, n, inputs, &lin);
      assert_status(r.ctx, ga_evaluation_create(r.ctx, r.sys, &ev), GA_OK);
      for (int j = 0; j < f->n + f->n_u; j++)
        assert_below(variation_off(ev, r.sys, &p, f, inputs, j), 2e-6, r.problem->name);
      for (int j = 0; j < f->n + f->n_u; j++)
        for (int k = 0; k < r.sys->nv; k++) {
          const double *rates = j < f->n ? f->A + j * f->n : f->B + (j - f->n) * f->n;
          const double *a = j < f->n ? f->vdot + j * r.sys->nv : f->u_vdot + (j - f->n) * r.sys->nv;
          double sum = 0.0, size = 1.0;
          for (int q = 0; q < f->n; q++)
            sum += f->v[q * r.sys->nv + k] * rates[q], size = fmax(size, fabs(rates[q]));
          assert_near((sum - a[k]) / size, 0.0, 1e-9, r.problem->name);
        }
      n_checked++;
      n_offsets += f->n_w;
    }
    ga_evaluation_destroy(&ev);
    ga_linearisation_destroy(&lin);
    rig_close(&r);
  }
  assert_true(n_checked >= 10 && n_offsets > 20);
}

/* Equations that there are not; a constraint that another repeats. */
static void wrong_inputs(void **state)
{
  linkage l = {.n_links = 1,
               .n_pins = 2,
               .gravity = 9.81,
               .length = {0.7},
               .mass = {0.3},
               .pin = {{0, -1, -0.5, 0, 0, 0}, {0, -1, -0.5, 0, 0, 0}},
               .q0 = {0.0, -0.35, -acos(0.0)}};
  static const ga_linear_input wrong[] = {
      {GA_BLOCK_V, 3}, {GA_BLOCK_V, -1}, {GA_BLOCK_X, 0}, {GA_BLOCK_ETA, 0}, {(ga_equation_block)9, 0}};
  const ga_linear_input repeated = {GA_BLOCK_LAMBDA, 2};
  const ga_linear_form *f = NULL;
  rig r = rig_open(NULL);
  ga_linearisation *lin = NULL;
  ga_start_opts o = ga_start_defaults();
  (void)state;
  linkage_define(&l, &r.def);
  at_rest(&r, l.q0, &o);
  const ga_point p = point_of(ga_stepper_state(r.st));
  for (int i = 0; i < 5; i++) {
    assert_status(r.ctx, ga_linearisation_create_with_inputs(r.ctx, r.sys, 1, &wrong[i], &lin),
                  GA_ERR_ARGUMENT);
    assert_int_equal(ga_context_error(r.ctx)->reason, GA_REASON_NO_SUCH_EQUATION);
    assert_null(lin);
  }
  assert_status(r.ctx, ga_linearisation_create_with_inputs(r.ctx, r.sys, 1, NULL, &lin), GA_ERR_ARGUMENT);
  assert_status(r.ctx, ga_linearisation_create_with_inputs(r.ctx, r.sys, 1, &repeated, &lin), GA_OK);
  assert_status(r.ctx, ga_linearisation_compute(lin, &p, &f), GA_ERR_SINGULAR);
  assert_int_equal(ga_context_error(r.ctx)->reason, GA_REASON_INPUT_REDUNDANT);
  ga_linearisation_destroy(&lin);
  rig_close(&r);
}

/* ---- Kinks and jumps ---- */

/* Two masses; between them a force F(g) of their distance g, or of its rate. */
typedef enum law { ABS, HALF, SIGN, POWER, SQUARE, TANH, N_LAWS } law;
typedef struct pair {
  law law;
  int by_rate;
  int held; /* 1: their distance is held by a constraint */
} pair;

static double law_value(law of, double g)
{
  const double value[N_LAWS] = {fabs(g),     fmax(g, 0.0),  (g > 0) - (g < 0), g > 0 ? pow(g, 1.5) : 0.0,
                                g * fabs(g), tanh(g / 1e-3)};
  return 3.0 * value[of];
}

static double law_slope(law of, double g)
{
  const double t = tanh(g / 1e-3);
  const double slope[N_LAWS] = {(g > 0) - (g < 0),           g > 0,         0.0,
                                g > 0 ? 1.5 * sqrt(g) : 0.0, 2.0 * fabs(g), (1.0 - t * t) / 1e-3};
  return 3.0 * slope[of];
}

static int pair_mass(void *user, const ga_point *p, double *out)
{
  (void)user;
  out[0] = p->vdot[0], out[1] = 2.0 * p->vdot[1];
  return 0;
}

static int pair_force(void *user, const ga_point *p, double *out)
{
  const pair *of = user;
  const double F = law_value(of->law, of->by_rate ? p->v[1] - p->v[0] : p->q[1] - p->q[0]);
  out[0] = -10.0 * p->q[0] + F, out[1] = -20.0 * p->q[1] - F;
  if (of->held) out[0] += p->lambda[0], out[1] -= p->lambda[0]; /* -B^T lambda */
  return 0;
}

static int pair_phi(void *user, const ga_point *p, double *out)
{
  (void)user;
  out[0] = p->q[1] - p->q[0];
  return 0;
}

/* r = M vdot − f, dense, by columns of the unknowns. */
static int pair_jacobian(void *user, const ga_point *p, ga_jacobian *J)
{
  const pair *of = user;
  const double slope = law_slope(of->law, of->by_rate ? p->v[1] - p->v[0] : p->q[1] - p->q[0]);
  const double by[2][2] = {{slope, -slope}, {-slope, slope}}, M[2] = {1.0, 2.0}, K[2] = {10.0, 20.0};
  for (int row = 0; row < 2; row++)
    for (int col = 0; col < 2; col++) {
      const int e = 2 * row + col;
      if (J->want & GA_WANT_D)
        J->D[e] =
            J->shift_vdot * (row == col ? M[row] : 0.0) + (of->by_rate ? J->shift_v * by[row][col] : 0.0);
      if (J->want & GA_WANT_Q) J->Q[e] = (row == col ? K[row] : 0.0) + (of->by_rate ? 0.0 : by[row][col]);
    }
  return 0;
}

static int pair_sides(void *user, const ga_point *p, int *side)
{
  const pair *of = user;
  side[0] = (of->by_rate ? p->v[1] - p->v[0] : p->q[1] - p->q[0]) > 0;
  return 0;
}

/* At g = 0 and away from it, by both kinds of derivatives, with and without sides. */
static void kinks(void **state)
{
  static const int rough[N_LAWS] = {[ABS] = 1, [HALF] = 1, [SIGN] = 1};
  static const ga_factor R2 = {GA_RN, 2, GA_LEFT};
  (void)state;
  for (int c = 0; c < N_LAWS * 2 * 2 * 2 * 2; c++) {
    pair of = {(law)(c / 16), c / 8 % 2, 0};
    const int exact = c / 4 % 2, sides = c / 2 % 2, off = c % 2;
    const double zero[2] = {0, 0}, moved[2] = {0, 0.01};
    const ga_point p = {0.0,
                        off && !of.by_rate ? moved : zero,
                        off && of.by_rate ? moved : zero,
                        zero,
                        NULL,
                        NULL,
                        NULL,
                        NULL,
                        0,
                        NULL};
    rig r = rig_open(NULL);
    ga_linearisation *lin = NULL;
    const ga_linear_form *f = NULL;
    r.def = ga_system_defaults();
    r.def.n_factors = 1, r.def.factors = &R2, r.def.user = &of;
    r.def.mass = pair_mass, r.def.force = pair_force;
    if (exact) r.def.jacobian = pair_jacobian;
    if (sides) r.def.n_sides = 1, r.def.sides = pair_sides;
    assert_status(r.ctx, ga_system_create(r.ctx, &r.def, &r.sys), GA_OK);
    assert_status(r.ctx, ga_linearisation_create(r.ctx, r.sys, &lin), GA_OK);
    const ga_status expected = rough[of.law] && !off ? GA_ERR_DERIVATIVE : GA_OK;
    const ga_status status = ga_linearisation_compute(lin, &p, &f);
    if (status != expected)
      fail_msg("law %d by_rate %d exact %d sides %d off %d: status %d", (int)of.law, of.by_rate, exact, sides,
               off, (int)status);
    if (expected) {
      const ga_error *e = ga_context_error(r.ctx);
      assert_int_equal(e->reason, GA_REASON_KINK);
      assert_string_equal(e->name, sides ? "edge 0" : e->equation);
      assert_int_equal(e->block, GA_BLOCK_V);
      const double jump = fabs(e->number[1].value - e->number[0].value);
      assert_near(jump, of.law == HALF ? 3.0 : 6.0, 1e-3, "difference between both sides");
      assert_null(f);
    }
    ga_linearisation_destroy(&lin);
    rig_close(&r);
  }
}

/* A kink of what a constraint keeps at 0 has no effect. */
static void kink_that_nothing_reaches(void **state)
{
  static const ga_factor R2 = {GA_RN, 2, GA_LEFT};
  pair of = {ABS, 0, 1};
  const double zero[2] = {0, 0};
  const ga_point p = {0.0, zero, zero, zero, zero, NULL, NULL, NULL, 0, NULL};
  rig r = rig_open(NULL);
  ga_linearisation *lin = NULL;
  (void)state;
  r.def = ga_system_defaults();
  r.def.n_factors = 1, r.def.factors = &R2, r.def.user = &of, r.def.n_lambda = 1;
  r.def.mass = pair_mass, r.def.force = pair_force, r.def.phi = pair_phi;
  assert_status(r.ctx, ga_system_create(r.ctx, &r.def, &r.sys), GA_OK);
  const ga_linear_form *f = linearise(&r, &p, &lin);
  const modes m = eigenvalues(f);
  assert_mode(&m, 0, sqrt(10), 1e-7, "both masses together");
  ga_linearisation_destroy(&lin);
  rig_close(&r);
}

/* ---- Refusals ---- */

static int no_forces(void *user, const ga_point *p, double *out)
{
  (void)p;
  for (int i = 0; i < *(const int *)user; i++) out[i] = 0.0;
  return 0;
}

static void refusals(void **state)
{
  rig r = rig_open("pendulum");
  ga_linearisation *lin = NULL;
  const ga_linear_form *f = NULL;
  double zero[3] = {0};
  int three = 3;
  (void)state;
  r.def.force = no_forces, r.def.user = &three, r.def.jacobian = NULL; /* λ does nothing */
  assert_status(r.ctx, ga_system_create(r.ctx, &r.def, &r.sys), GA_OK);
  assert_status(r.ctx, ga_linearisation_create(r.ctx, r.sys, &lin), GA_OK);
  ga_point p = {0.0, r.problem->q0, zero, zero, zero, zero, zero, zero, 0, NULL};
  assert_status(r.ctx, ga_linearisation_compute(lin, &p, &f), GA_ERR_SINGULAR);
  assert_call_error(r.ctx, GA_REASON_FORCES_MISS_MULTIPLIERS, NULL, NULL);
  assert_error_number(r.ctx, 0, 0);
  assert_error_number(r.ctx, 1, 2);
  assert_null(f);
  p.vdot = NULL;
  assert_status(r.ctx, ga_linearisation_compute(lin, &p, &f), GA_ERR_ARGUMENT);
  ga_linearisation_destroy(&lin);
  rig_close(&r);
}

/* A parallelogram lying flat, where two branches of its motion meet: in motion it has no linear equations; at
 * rest there are more free positions than nearby. */
static void singular_positions(void **state)
{
  linkage l = {.n_links = 3,
               .n_pins = 4,
               .length = {0.5, 1.0, 0.5},
               .mass = {1.0, 1.0, 1.0},
               .pin = {{0, -1, -0.5, 0, 0, 0},
                       {0, 1, 0.5, -0.5, 0, 0},
                       {1, 2, 0.5, 0.5, 0, 0},
                       {2, -1, -0.5, 0, 1.0, 0}},
               .q0 = {0.25, 0, 0, 1.0, 0, 0, 1.25, 0, 0},
               .v0 = {0, 0.25, 1, 0, 0.5, 0, 0, 0.25, 1}};
  rig r = rig_open(NULL);
  ga_linearisation *lin = NULL;
  const ga_linear_form *f = NULL;
  double zero[16] = {0};
  (void)state;
  linkage_define(&l, &r.def);
  assert_status(r.ctx, ga_system_create(r.ctx, &r.def, &r.sys), GA_OK);
  assert_status(r.ctx, ga_linearisation_create(r.ctx, r.sys, &lin), GA_OK);
  ga_point p = {0.0, l.q0, l.v0, zero, zero, zero, zero, zero, 0, NULL};
  assert_status(r.ctx, ga_linearisation_compute(lin, &p, &f), GA_ERR_SINGULAR);
  assert_call_error(r.ctx, GA_REASON_SINGULAR_POSITION, NULL, NULL);
  assert_null(f);
  p.v = zero;
  assert_status(r.ctx, ga_linearisation_compute(lin, &p, &f), GA_OK);
  assert_true(f->n_q == 2 && f->n_v == 2);
  ga_linearisation_destroy(&lin);
  rig_close(&r);
}

/* The second coordinate has no mass, and nothing holds it. */
static int massless(void *user, const ga_point *p, double *out)
{
  (void)user;
  out[0] = p->vdot[0], out[1] = 0.0;
  return 0;
}

static void free_masses_are_needed(void **state)
{
  static const ga_factor plane = {GA_RN, 2, GA_LEFT};
  rig r = rig_open(NULL);
  ga_linearisation *lin = NULL;
  const ga_linear_form *f = NULL;
  double zero[2] = {0};
  int two = 2;
  (void)state;
  r.def.n_factors = 1, r.def.factors = &plane, r.def.mass = massless, r.def.force = no_forces,
  r.def.user = &two;
  assert_status(r.ctx, ga_system_create(r.ctx, &r.def, &r.sys), GA_OK);
  assert_status(r.ctx, ga_linearisation_create(r.ctx, r.sys, &lin), GA_OK);
  const ga_point p = {0.0, zero, zero, zero, zero, zero, zero, zero, 0, NULL};
  assert_status(r.ctx, ga_linearisation_compute(lin, &p, &f), GA_ERR_SINGULAR);
  assert_call_error(r.ctx, GA_REASON_NO_ACCELERATIONS, NULL, NULL);
  assert_null(f);
  ga_linearisation_destroy(&lin);
  rig_close(&r);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(oscillator),
                                     cmocka_unit_test(pendulum),
                                     cmocka_unit_test(hanging_rod),
                                     cmocka_unit_test(unsteady_motions_are_reported),
                                     cmocka_unit_test(four_bar),
                                     cmocka_unit_test(free_body),
                                     cmocka_unit_test(columns_meet_the_equations),
                                     cmocka_unit_test(moved_support),
                                     cmocka_unit_test(inputs_meet_the_equations),
                                     cmocka_unit_test(wrong_inputs),
                                     cmocka_unit_test(kinks),
                                     cmocka_unit_test(kink_that_nothing_reaches),
                                     cmocka_unit_test(sleeping_top),
                                     cmocka_unit_test(rolling_disk),
                                     cmocka_unit_test(singular_positions),
                                     cmocka_unit_test(refusals),
                                     cmocka_unit_test(free_masses_are_needed)};
  return cmocka_run_group_tests_name("core: linearisation", tests, rig_hook_klu, NULL);
}
