/* Modes about steady turning: rotating beams against a Ritz solution, Coriolis forces and cones against
 * closed forms, in all forms of bodies; what is no steady turning. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "galpha/galpha.h"
#include "galpha/model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 8192 };

typedef struct bench {
  ga_context *ctx;
  ga_model *model;
  ga_machine_turning *turning;
  ga_modes *modes;
  ga_turning_state at;
  double numbers[ROOM];
} bench;

static void assert_done(const bench *b, ga_status status)
{
  if (status != GA_OK) fail_msg("status %d: %s", (int)status, ga_context_error(b->ctx)->text);
}

static const ga_system *system_of(const bench *b)
{
  return ga_machine_system(ga_model_machine(b->model));
}

/* At its start, in a form: "space", "body", "se3". */
static void bench_open(bench *b, const char *form, const char *body)
{
  char text[2048];
  ga_stepper_opts o = ga_stepper_defaults();
  ga_stepper *st = NULL;
  ga_start_opts start = ga_start_defaults();
  memset(b, 0, sizeof *b);
  snprintf(text, sizeof text, "galpha: 1\nform: %s\n%s", form, body);
  assert_int_equal(ga_context_create(NULL, &b->ctx), GA_OK);
  assert_done(b, ga_model_read_text(b->ctx, "text", text, strlen(text), NULL, &b->model));
  const ga_system *sys = system_of(b);
  const int nq = ga_group_nq(ga_system_group(sys)), nv = ga_system_size(sys, GA_BLOCK_V);
  double *q = b->numbers, *v = q + nq, *rest = v + 2 * nv;
  assert_true(nq + nv + ga_system_n(sys) <= ROOM);
  b->at = (ga_turning_state){q, v, v + nv, rest, rest + ga_system_size(sys, GA_BLOCK_LAMBDA), NULL, NULL};
  b->at.x = b->at.psi + ga_system_size(sys, GA_BLOCK_PSI);
  b->at.y = b->at.x + ga_system_size(sys, GA_BLOCK_X);
  assert_done(b, ga_stepper_create(b->ctx, sys, &o, &st));
  assert_done(b, ga_machine_initial(ga_model_machine(b->model), q, v, b->at.x));
  start.h = 1e-3;
  assert_done(b, ga_stepper_start(st, &start, 0.0, q, v, b->at.x, NULL, NULL, NULL));
  const ga_state *s = ga_stepper_state(st);
  memcpy(q, s->q, (size_t)nq * sizeof *q);
  memcpy(v, s->v, (size_t)nv * sizeof *v);
  ga_stepper_destroy(&st);
}

static void bench_close(bench *b)
{
  ga_modes_destroy(&b->modes);
  ga_machine_turning_destroy(&b->turning);
  ga_model_destroy(&b->model);
  ga_context_destroy(&b->ctx);
}

/* The steady turning near the start, and modes about it. */
static const ga_modes_info *find_modes(bench *b, int n, int dense)
{
  ga_turning_report report;
  assert_done(b,
              ga_machine_turning_create(b->ctx, ga_model_machine(b->model), b->at.q, b->at.v, &b->turning));
  const ga_turning *turning = ga_machine_turning_get(b->turning);
  assert_done(b, ga_turning_solve(b->ctx, system_of(b), turning, 0.0, &b->at, &report));
  const ga_turning_state *z = &b->at;
  const ga_point p = {0.0, z->q, z->v, z->vdot, z->lambda, z->psi, z->x, z->y, 0, NULL};
  ga_modes_opts o = ga_modes_defaults();
  o.n = n, o.dense = dense, o.turning = turning;
  assert_done(b, ga_modes_create(b->ctx, system_of(b), &o, &p, &b->modes));
  for (int i = 0; i < n; i++) assert_true(ga_modes_at(b->modes, i)->residual < 1e-11);
  return ga_modes_get_info(b->modes);
}

static void assert_frequency(const bench *b, int i, double expected, double tolerance, const char *what)
{
  const ga_mode *m = ga_modes_at(b->modes, i);
  if (!(hypot(m->re, m->im - expected) <= tolerance * expected))
    fail_msg("%s: mode %d is %.12g %+.12g i instead of %.12g i", what, i, m->re, m->im, expected);
}

static const char *const FORM[] = {"space", "body", "se3"};

/* ---- A rotating cantilever by Ritz ---- */

enum { TERMS = 12, GAUSS = 24 };

/* Values of P_k and their first two derivatives at x in [−1, 1], k < TERMS. */
static void legendre(double x, double P[3][TERMS])
{
  for (int d = 0; d < 3; d++) P[d][0] = 0.0, P[d][1] = 0.0;
  P[0][0] = 1.0, P[0][1] = x, P[1][1] = 1.0;
  for (int k = 1; k + 1 < TERMS; k++) {
    P[0][k + 1] = ((2 * k + 1) * x * P[0][k] - k * P[0][k - 1]) / (k + 1);
    P[1][k + 1] = P[1][k - 1] + (2 * k + 1) * P[0][k];
    P[2][k + 1] = P[2][k - 1] + (2 * k + 1) * P[1][k];
  }
}

/* Zeros of P_n by Newton's method, weights 2/((1 − x²) P'²). */
static void gauss(double x[GAUSS], double w[GAUSS])
{
  for (int i = 0; i < GAUSS; i++) {
    double z = cos(3.14159265358979324 * (i + 0.75) / (GAUSS + 0.5)), d = 1.0;
    for (int step = 0; step < 20; step++) {
      double p = z, last = 1.0;
      for (int k = 1; k < GAUSS; k++) {
        const double next = ((2 * k + 1) * z * p - k * last) / (k + 1);
        last = p, p = next;
      }
      d = GAUSS * (last - z * p) / (1 - z * z);
      z -= p / d;
    }
    x[i] = z, w[i] = 2 / ((1 - z * z) * d * d);
  }
}

/* a := R with RᵀR = a, and x := a⁻¹ x by it. */
static void cholesky(double a[TERMS][TERMS])
{
  for (int i = 0; i < TERMS; i++)
    for (int j = i; j < TERMS; j++) {
      double sum = a[i][j];
      for (int k = 0; k < i; k++) sum -= a[k][i] * a[k][j];
      a[i][j] = i == j ? sqrt(sum) : sum / a[i][i];
    }
}

static void solve(double R[TERMS][TERMS], double x[TERMS])
{
  for (int i = 0; i < TERMS; i++) {
    for (int k = 0; k < i; k++) x[i] -= R[k][i] * x[k];
    x[i] /= R[i][i];
  }
  for (int i = TERMS - 1; i >= 0; i--) {
    for (int k = i + 1; k < TERMS; k++) x[i] -= R[i][k] * x[k];
    x[i] /= R[i][i];
  }
}

/* The two lowest ω² of a beam of length, mass and stiffness 1 on a hub of radius r that turns with speed W:
 * K = ∫ w''² + W² T w'², T = r (1 − x) + (1 − x²)/2, M = ∫ w², w = x² P_k(2x − 1),
 * by inverse iteration. */
static void ritz(double W, double r, double square[2])
{
  double x[GAUSS], weight[GAUSS], K[TERMS][TERMS] = {{0}}, M[TERMS][TERMS] = {{0}}, mode[2][TERMS];
  gauss(x, weight);
  for (int g = 0; g < GAUSS; g++) {
    const double s = 0.5 * (x[g] + 1), T = r * (1 - s) + 0.5 * (1 - s * s);
    double P[3][TERMS], w[TERMS], slope[TERMS], bend[TERMS];
    legendre(x[g], P);
    for (int k = 0; k < TERMS; k++) {
      w[k] = s * s * P[0][k];
      slope[k] = 2 * s * P[0][k] + 2 * s * s * P[1][k];
      bend[k] = 2 * P[0][k] + 8 * s * P[1][k] + 4 * s * s * P[2][k];
    }
    for (int i = 0; i < TERMS; i++)
      for (int j = 0; j < TERMS; j++) {
        K[i][j] += 0.5 * weight[g] * (bend[i] * bend[j] + W * W * T * slope[i] * slope[j]);
        M[i][j] += 0.5 * weight[g] * w[i] * w[j];
      }
  }
  cholesky(K);
  for (int m = 0; m < 2; m++) {
    double *u = mode[m], mass = 0.0;
    for (int k = 0; k < TERMS; k++) u[k] = 1.0 / (k + 1 + m);
    for (int step = 0; step < 200; step++) {
      double f[TERMS];
      for (int before = 0; before < m; before++) { /* orthogonal to the first */
        double part = 0.0;
        for (int i = 0; i < TERMS; i++)
          for (int j = 0; j < TERMS; j++) part += mode[before][i] * M[i][j] * u[j];
        for (int i = 0; i < TERMS; i++) u[i] -= part * mode[before][i];
      }
      mass = 0.0;
      for (int i = 0; i < TERMS; i++) {
        f[i] = 0.0;
        for (int j = 0; j < TERMS; j++) f[i] += M[i][j] * u[j];
        mass += f[i] * u[i];
      }
      for (int i = 0; i < TERMS; i++) u[i] /= sqrt(mass), f[i] /= sqrt(mass);
      double next[TERMS], rayleigh = 0.0;
      memcpy(next, f, sizeof next);
      solve(K, next);
      for (int i = 0; i < TERMS; i++) rayleigh += f[i] * next[i];
      square[m] = 1 / rayleigh;
      if (step < 199) memcpy(u, next, sizeof next);
    }
  }
}

/* Flapping is as by Ritz, ω; swinging in the plane of rotation has √(ω² − W²). W = 12, r = 0: the published
 * 13.1702 and 37.6031 (Wright et al. 1982). */
static void rotating_cantilever(void **state)
{
  static const struct {
    double W, r;
    int form, dense;
  } CASE[] = {{1, 0, 0, 0},  {6, 0, 1, 1},  {12, 0, 0, -1}, {12, 0, 1, 0},
              {12, 0, 2, 0}, {12, 1, 0, 1}, {3, 5, 2, -1}};
  (void)state;
  for (size_t i = 0; i < sizeof CASE / sizeof *CASE; i++) {
    bench b;
    char text[1024];
    double square[2], expected[4];
    const double W = CASE[i].W, r = CASE[i].r;
    snprintf(text, sizeof text,
             "bodies:\n  hub: {type: rigid, mass: 1, inertia: [1, 1, 1], omega: [0, 0, %g]}\n"
             "  b: {type: beam, from: [%g, 0, 0], to: [%g, 0, 0], elements: 24, section: numbers, "
             "mass_per_length: 1, "
             "stiffness: [1e9, 4e8, 4e8, 0.8, 1, 1], rotary_inertia: [2e-9, 1e-9, 1e-9], omega: [0, 0, %g], "
             "velocity: [0, %g, 0]}\njoints:\n  shaft: {type: revolute, a: ground, b: hub}\n"
             "  clamp: {type: fixed, a: rim, b: b}\nmarkers:\n  rim: {body: hub, position: [%g, 0, "
             "0]}\ndrives:\n  motor: {coordinate: shaft.angle, function: %g*t}\n",
             W, r, r + 1, W, W * r, r, W);
    ritz(W, r, square);
    if (W == 12 && r == 0)
      assert_true(fabs(sqrt(square[0]) - 13.1702) < 6e-5 && fabs(sqrt(square[1]) - 37.6031) < 6e-5);
    for (int k = 0; k < 2; k++) {
      expected[2 * k + 1] = sqrt(square[k]);
      expected[2 * k] = sqrt(square[k] - W * W);
    }
    bench_open(&b, FORM[CASE[i].form], text);
    const ga_modes_info *info = find_modes(&b, 4, CASE[i].dense);
    assert_int_equal(info->n_zero, 0);
    assert_true(info->unsteady < 1e-5);
    for (int k = 0; k < 4; k++) assert_frequency(&b, k, expected[k], 1e-4, "rotating cantilever");
    bench_close(&b);
  }
}

/* A beam reduced to a modal body, with geometric stiffening, at its own accuracy: 12 normal modes. */
static void rotating_modal_body(void **state)
{
  static const struct {
    double W, r;
    int form;
  } CASE[] = {{1, 0, 0}, {6, 0, 1}, {12, 0, 2}, {12, 1, 0}, {3, 5, 1}};
  (void)state;
  for (size_t i = 0; i < sizeof CASE / sizeof *CASE; i++) {
    bench b;
    char text[1024];
    double square[2];
    const double W = CASE[i].W, r = CASE[i].r;
    snprintf(
        text, sizeof text,
        "bodies:\n  hub: {type: rigid, mass: 1, inertia: [1, 1, 1], omega: [0, 0, %g]}\n"
        "  b: {type: modal, interface: {root: 0, tip: 1}, modes: 12, position: [%g, 0, 0], beam: {length: 1, "
        "elements: 24, section: numbers, mass_per_length: 1, stiffness: [1e9, 4e8, 4e8, 0.8, 1, 1], "
        "rotary_inertia: [2e-9, 1e-9, 1e-9]}, omega: [0, 0, %g], velocity: [0, %g, 0]}\njoints:\n"
        "  shaft: {type: revolute, a: ground, b: hub}\n  clamp: {type: fixed, a: rim, b: b.root}\n"
        "markers:\n  rim: {body: hub, position: [%g, 0, 0]}\n"
        "drives:\n  motor: {coordinate: shaft.angle, function: %g*t}\n",
        W, r, W, W * r, r, W);
    ritz(W, r, square);
    bench_open(&b, FORM[CASE[i].form], text);
    const ga_modes_info *info = find_modes(&b, 4, 0);
    assert_int_equal(info->n_zero, 0);
    for (int k = 0; k < 2; k++) {
      assert_frequency(&b, 2 * k, sqrt(square[k] - W * W), 1.5e-3, "swinging modal body");
      assert_frequency(&b, 2 * k + 1, sqrt(square[k]), 1.5e-3, "flapping modal body");
    }
    bench_close(&b);
  }
}

/* ---- Closed forms ---- */

/* A mass on two springs across each other that turn with a hub:
 *   s⁴ + s² (a + b + 2W²) + (a − W²)(b − W²) = 0,  a, b = k/m */
static void coriolis(void **state)
{
  const double W = 2, a = 9, c = 25, sum = a + c + 2 * W * W,
               root = sqrt(sum * sum / 4 - (a - W * W) * (c - W * W));
  (void)state;
  for (int form = 0; form < 3; form++)
    for (int driven = 0; driven < 2; driven++) {
      bench b;
      char text[1024];
      snprintf(text, sizeof text,
               "bodies:\n  hub: {type: rigid, mass: 1, inertia: [1, 1, 1], omega: [0, 0, 2]}\n"
               "  mass: {type: rigid, mass: 2, inertia: [1, 1, 1], omega: [0, 0, 2]}\n"
               "joints:\n  shaft: {type: revolute, a: ground, b: hub}\n"
               "forces:\n  springs: {type: bushing, a: hub, b: mass, stiffness: [18, 50, 8000, 1e5, 1e5, "
               "1e5]}\n%s",
               driven ? "drives:\n  motor: {coordinate: shaft.angle, function: 2*t}\n" : "");
      bench_open(&b, FORM[form], text);
      const ga_modes_info *info = find_modes(&b, driven ? 2 : 3, 0);
      assert_int_equal(info->n_zero, driven ? 0 : 2);
      assert_true(info->unsteady < 1e-5);
      const int first = driven ? 0 : 1;
      assert_frequency(&b, first, sqrt(sum / 2 - root), 1e-9, "two springs");
      assert_frequency(&b, first + 1, sqrt(sum / 2 + root), 1e-9, "two springs");
      bench_close(&b);
    }
}

/* A pendulum hinged at a distance e from the axis of a shaft that stands upright and turns, from hanging down
 * to its cone: W² (e + l sin β) = g tan β. */
static void cone(void **state)
{
  const double W = 5, e = 0.2, l = 0.7, g = 9.81, J = 0.02, I = J - 0.01, m = 1.5;
  double beta = 1.2;
  (void)state;
  /* m l (W² (e + l sin β) cos β − g sin β) + I W² sin β cos β = 0; the rod has inertia J about axes across
   * it, I more than along it */
  for (int i = 0; i < 50; i++) {
    const double s = sin(beta), c = cos(beta);
    const double f = m * l * (W * W * (e + l * s) * c - g * s) + I * W * W * s * c;
    const double df = m * l * (W * W * (l * c * c - (e + l * s) * s) - g * c) + I * W * W * (c * c - s * s);
    beta -= f / df;
  }
  const double s = sin(beta), c = cos(beta),
               stiffness =
                   -(m * l * (W * W * (l * c * c - (e + l * s) * s) - g * c) + I * W * W * (c * c - s * s));
  for (int form = 0; form < 3; form++) {
    bench b;
    bench_open(&b, FORM[form],
               "gravity: [0, 0, -9.81]\nbodies:\n"
               "  shaft: {type: rigid, mass: 1, inertia: [1, 1, 1], omega: [0, 0, 5]}\n"
               "  rod: {type: rigid, mass: 1.5, inertia: [0.02, 0.02, 0.01], position: [0.2, 0, -0.7], "
               "omega: [0, 0, 5], "
               "velocity: [0, 1, 0]}\n"
               "joints:\n  bearing: {type: revolute, a: ground, b: shaft}\n"
               "  hinge: {type: revolute, a: shaft, b: rod, at: {position: [0.2, 0, 0], rotation: {z_axis: "
               "[0, 1, 0]}}}\n"
               "drives:\n  motor: {coordinate: bearing.angle, function: 5*t}\n");
    const ga_modes_info *info = find_modes(&b, 1, 0);
    assert_true(info->unsteady < 1e-5);
    assert_int_equal(info->n_all, 2);
    assert_frequency(&b, 0, sqrt(stiffness / (J + m * l * l)), 1e-9, "cone");
    bench_close(&b);
  }
}

/* A spring from the ground to a body that turns, off the axis: not the same from all angles. At the axis it
 * is. */
static void fixed_springs(void **state)
{
  (void)state;
  for (int off = 0; off < 2; off++) {
    bench b;
    char text[1024];
    snprintf(text, sizeof text,
             "bodies:\n  hub: {type: rigid, mass: 1, inertia: [1, 1, 1], omega: [0, 0, 3]}\n"
             "  mass: {type: rigid, mass: 2, inertia: [1, 1, 1], position: [1, 0, 0], omega: [0, 0, 3], "
             "velocity: [0, 3, "
             "0]}\njoints:\n  shaft: {type: revolute, a: ground, b: hub}\nmarkers:\n  post: {body: ground, "
             "position: "
             "[%g, 0, 2]}\n  end: {body: hub, position: [1, 0, 0]}\nforces:\n  arm: {type: bushing, a: end, "
             "b: mass, stiffness: "
             "[200, 200, 200, 100, 100, 100]}\n  spring: {type: spring, a: post, b: mass, stiffness: 1, "
             "rest: 0.1}\n"
             "drives:\n  motor: {coordinate: shaft.angle, function: 3*t}\n",
             off ? 0.3 : 0.0);
    bench_open(&b, FORM[off], text);
    const double unsteady = find_modes(&b, 3, 0)->unsteady;
    if (off ? !(unsteady > 1e-3) : !(unsteady < 1e-5)) fail_msg("unsteady: %g", unsteady);
    bench_close(&b);
  }
}

/* ---- What is refused ---- */

static void refusals(void **state)
{
  static const struct {
    const char *omega;
    ga_reason reason;
  } CASE[] = {{"[0, 0, 0]", GA_REASON_NOTHING_TURNS}, {"[0, 0, 1]", GA_REASON_NOT_TURNING}};
  (void)state;
  for (size_t i = 0; i < 2; i++) {
    bench b;
    char text[512];
    snprintf(text, sizeof text,
             "bodies:\n  one: {type: rigid, mass: 1, inertia: [1, 1, 1], omega: %s}\n"
             "  two: {type: rigid, mass: 1, inertia: [1, 1, 1], position: [1, 0, 0]}\n",
             CASE[i].omega);
    bench_open(&b, "space", text);
    assert_int_equal(ga_machine_turning_create(b.ctx, ga_model_machine(b.model), b.at.q, b.at.v, &b.turning),
                     GA_ERR_INCONSISTENT);
    assert_int_equal(ga_context_error(b.ctx)->reason, CASE[i].reason);
    assert_null(b.turning);
    bench_close(&b);
  }
}

/* A drive with another speed than that of the turning; a torque that nothing holds. */
static void no_turning(void **state)
{
  static const struct {
    const char *more;
    ga_status status;
    ga_reason reason;
  } CASE[] = {{"drives:\n  motor: {coordinate: shaft.angle, function: 3*t + 0.01*sin(t)}\n",
               GA_ERR_INCONSISTENT, GA_REASON_TURNING_AGAINST},
              {"forces:\n  push: {type: force, frame: hub, torque: [0, 0, 1]}\n", GA_RETRY_NEWTON,
               GA_REASON_NO_STEADY_TURNING}};
  (void)state;
  for (size_t i = 0; i < 2; i++) {
    bench b;
    char text[512];
    snprintf(text, sizeof text,
             "bodies:\n  hub: {type: rigid, mass: 1, inertia: [1, 1, 1], omega: [0, 0, 3]}\n"
             "joints:\n  shaft: {type: revolute, a: ground, b: hub}\n%s",
             CASE[i].more);
    bench_open(&b, "space", text);
    if (i == 0) b.at.v[5] = 3; /* the start has made it 3.01 */
    assert_done(&b, ga_machine_turning_create(b.ctx, ga_model_machine(b.model), b.at.q, b.at.v, &b.turning));
    assert_int_equal(
        ga_turning_solve(b.ctx, system_of(&b), ga_machine_turning_get(b.turning), 0.0, &b.at, NULL),
        CASE[i].status);
    assert_int_equal(ga_context_error(b.ctx)->reason, CASE[i].reason);
    bench_close(&b);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(rotating_cantilever),
                                     cmocka_unit_test(rotating_modal_body),
                                     cmocka_unit_test(coriolis),
                                     cmocka_unit_test(cone),
                                     cmocka_unit_test(fixed_springs),
                                     cmocka_unit_test(refusals),
                                     cmocka_unit_test(no_turning)};
  return cmocka_run_group_tests_name("model: turning", tests, NULL, NULL);
}
