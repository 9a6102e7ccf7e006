/* Modes of models: beams against closed forms, the bicycle, the rhombus at rest, and a motion
 * along a mode. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "galpha/galpha.h"
#include "galpha/model.h"
#include "lin/lin_impl.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double PI = 3.14159265358979323846;

typedef struct bench {
  ga_context *ctx;
  ga_model *model;
  ga_stepper *st;
  ga_modes *modes;
} bench;

static void assert_done(const bench *b, ga_status status)
{
  if (status != GA_OK) fail_msg("status %d: %s", (int)status, ga_context_error(b->ctx)->text);
}

static const ga_system *system_of(const bench *b)
{
  return ga_machine_system(ga_model_machine(b->model));
}

/* Ready at its start; path NULL: the text. */
static bench bench_open(const char *path, const char *text)
{
  bench b = {0};
  double numbers[8192];
  ga_stepper_opts o = ga_stepper_defaults();
  ga_start_opts start = ga_start_defaults();
  assert_int_equal(ga_context_create(NULL, &b.ctx), GA_OK);
  assert_done(&b, path ? ga_model_read_file(b.ctx, path, NULL, &b.model)
                       : ga_model_read_text(b.ctx, "text", text, strlen(text), NULL, &b.model));
  const ga_system *sys = system_of(&b);
  const int nq = ga_group_nq(ga_system_group(sys)), nv = ga_system_size(sys, GA_BLOCK_V);
  assert_true(nq + nv + ga_system_size(sys, GA_BLOCK_X) <= 8192);
  assert_done(&b, ga_stepper_create(b.ctx, sys, &o, &b.st));
  assert_done(&b, ga_machine_initial(ga_model_machine(b.model), numbers, numbers + nq, numbers + nq + nv));
  start.h = 1e-3;
  assert_done(
      &b, ga_stepper_start(b.st, &start, 0.0, numbers, numbers + nq, numbers + nq + nv, NULL, NULL, NULL));
  return b;
}

static void bench_close(bench *b)
{
  ga_modes_destroy(&b->modes);
  ga_stepper_destroy(&b->st);
  ga_model_destroy(&b->model);
  ga_context_destroy(&b->ctx);
}

static const ga_modes_info *find_modes_at(bench *b, const ga_state *s, int n, int dense)
{
  const ga_point p = {s->t, s->q, s->v, s->vdot, s->lambda, s->psi, s->x, s->y, 0, NULL};
  ga_modes_opts o = ga_modes_defaults();
  o.n = n, o.dense = dense;
  ga_modes_destroy(&b->modes);
  assert_done(b, ga_modes_create(b->ctx, system_of(b), &o, &p, &b->modes));
  const ga_modes_info *info = ga_modes_get_info(b->modes);
  /* rounding, beside an axial stiffness of up to 1e10 times that of bending */
  for (int i = 0; i < info->n; i++) assert_true(ga_modes_at(b->modes, i)->residual < 2e-12);
  return info;
}

static void assert_eigenvalue(const bench *b, int i, double re, double im, double tolerance, const char *what)
{
  const ga_mode *m = ga_modes_at(b->modes, i);
  if (!(hypot(m->re - re, m->im - im) <= tolerance * hypot(re, im)))
    fail_msg("%s: mode %d is %.13g %+.13g i instead of %.13g %+.13g i", what, i, m->re, m->im, re, im);
}

static const ga_modes_info *find_modes(bench *b, int n, int dense)
{
  return find_modes_at(b, ga_stepper_state(b->st), n, dense);
}

/* ---- Beams: length 1, mass 1, slender ---- */

static const double EI = 100.0, GJ = 80.0;

/* bending: EIz over EIy */
static bench beam_open(const char *geometry, int elements, double bending, const char *joints)
{
  char text[1024];
  snprintf(text, sizeof text,
           "galpha: 1\nbodies:\n  b: {type: beam, %s, elements: %d, section: numbers, mass_per_length: 1, "
           "stiffness: [1e10, 4e9, 4e9, %g, %g, %g], rotary_inertia: [2e-8, 1e-8, 1e-8]}\n%s",
           geometry, elements, GJ, EI, EI * bending, joints);
  return bench_open(NULL, text);
}

static const char CLAMP[] = "joints:\n  clamp: {type: fixed, a: ground, b: b}\n";
#define STRAIGHT_TEXT "from: [0, 0, 0], to: [1, 0, 0]"
static const char STRAIGHT[] = STRAIGHT_TEXT;

/* ω = β² √(EI), cos β cosh β = −1; bending about z is twice as fast. */
static void cantilever(void **state)
{
  static const double BETA[] = {1.875104068711961, 4.694091132974175, 7.854757438237613};
  (void)state;
  for (int dense = -1; dense <= 1; dense += 2) {
    bench b = beam_open(STRAIGHT, 24, 4.0, CLAMP);
    const double expected[] = {BETA[0] * BETA[0], 2 * BETA[0] * BETA[0], BETA[1] * BETA[1],
                               2 * BETA[1] * BETA[1], BETA[2] * BETA[2]};
    assert_int_equal(find_modes(&b, 5, dense)->n_zero, 0);
    for (int i = 0; i < 5; i++) assert_eigenvalue(&b, i, 0.0, expected[i] * sqrt(EI), 1e-4, "cantilever");
    bench_close(&b);
  }
}

/* Waves of stretch and of twist, of a straight beam and of one that is twisted by 2 rad without load:
 * ω = (2k − 1) π c/2 with order 4 in the length of elements. */
static void waves_along_a_cantilever(void **state)
{
  static const char *const GEOMETRY[] = {STRAIGHT_TEXT,
                                         "pose: {position: [0, 0, 0]}, length: 1, curvature: [2, 0, 0]"};
  static const double SPEED[] = {10, 12}; /* √(EA/m), √(GJ/Jx) */
  (void)state;
  for (int twisted = 0; twisted < 2; twisted++) {
    double error[2][4];
    for (int level = 0; level < 2; level++) {
      char text[1024];
      snprintf(
          text, sizeof text,
          "galpha: 1\nbodies:\n  b: {type: beam, %s, elements: %d, section: numbers, mass_per_length: 1, "
          "stiffness: [100, 1e9, 1e9, 0.288, 1e5, 1e5], rotary_inertia: [2e-3, 1e-3, 1e-3]}\n%s",
          GEOMETRY[twisted], 5 << level, CLAMP);
      bench b = bench_open(NULL, text);
      find_modes(&b, 4, 0);
      for (int i = 0; i < 4; i++) {
        const double exact = (i / 2 ? 3 : 1) * 0.5 * PI * SPEED[i % 2];
        error[level][i] = fabs(ga_modes_at(b.modes, i)->im / exact - 1);
      }
      bench_close(&b);
    }
    for (int i = 0; i < 4; i++) {
      assert_true(error[1][i] < (i / 2 ? 2e-4 : 2e-6));
      const double order = log2(error[0][i] / error[1][i]);
      if (!(fabs(order - 4) < 0.1)) fail_msg("wave %d of a beam has order %.3f", i, order);
    }
  }
}

/* So many elements that unknowns are eliminated in the order of bodies: a rope that hangs, ω = j √(g/L)/2
 * with J₀(j) = 0 in both planes nearly, and its twist, ω = π c/2L. All are slow. */
static void long_rope(void **state)
{
  const double g = 9.81, L = 1800, zero[] = {2.404825557695773, 5.520078110286311};
  bench b = {0};
  char text[1024];
  ga_equilibrium *eq = NULL;
  (void)state;
  assert_int_equal(ga_context_create(NULL, &b.ctx), GA_OK);
  snprintf(text, sizeof text,
           "galpha: 1\ngravity: [0, 0, -%g]\nbodies:\n  b: {type: beam, from: [0, 0, 0], to: [0, 0, -%g], "
           "elements: 600, section: numbers, mass_per_length: 0.1, stiffness: [1e7, 4e6, 4e6, 8, 10, 10], "
           "rotary_inertia: [2e-4, 1e-4, 1e-4]}\n%s",
           g, L,
           "joints:\n  hinge: {type: revolute, a: ground, b: b, at: {position: [0, 0, 0], rotation: {z_axis: "
           "[0, 1, 0]}}}\n");
  assert_done(&b, ga_model_read_text(b.ctx, "rope", text, strlen(text), NULL, &b.model));
  const ga_system *sys = system_of(&b);
  const size_t nq = (size_t)ga_group_nq(ga_system_group(sys)), nv = (size_t)ga_system_size(sys, GA_BLOCK_V);
  double *q = malloc((nq + nv) * sizeof *q);
  ga_equilibrium_opts o = ga_equilibrium_defaults();
  o.stability = 0;
  assert_done(&b, ga_machine_initial(ga_model_machine(b.model), q, q + nq, NULL));
  assert_done(&b, ga_equilibrium_create(b.ctx, sys, &o, &eq));
  assert_done(&b, ga_equilibrium_solve(eq, 0.0, q, NULL, NULL));
  const ga_modes_info *info = find_modes_at(&b, ga_equilibrium_state(eq), 5, 0);
  assert_true(!info->dense && info->squared && info->n_zero == 0);
  for (int i = 0; i < 2; i++) {
    assert_eigenvalue(&b, i, 0.0, 0.5 * zero[0] * sqrt(g / L), 2e-3, "swinging");
    assert_eigenvalue(&b, 3 + i, 0.0, 0.5 * zero[1] * sqrt(g / L), 2e-3, "swinging, a node below");
  }
  assert_eigenvalue(&b, 2, 0.0, 0.5 * PI * 200 / L, 1e-6, "twist");
  ga_equilibrium_destroy(&eq);
  free(q);
  bench_close(&b);
}

/* Pre-twisted, with the same stiffness about all axes: as if it were straight. */
static void twisted_cantilever(void **state)
{
  static const double BETA[] = {1.875104068711961, 4.694091132974175};
  (void)state;
  bench b = beam_open("pose: {position: [0, 0, 0]}, length: 1, curvature: [2.5, 0, 0]", 40, 1.0, CLAMP);
  find_modes(&b, 4, 0);
  for (int i = 0; i < 4; i++)
    assert_eigenvalue(&b, i, 0.0, BETA[i / 2] * BETA[i / 2] * sqrt(EI), 1e-4, "twisted cantilever");
  bench_close(&b);
}

/* Thick cantilevers, in whose frequencies shear and rotary inertia matter (Timoshenko's equations, roots of
 * the determinant of their transfer matrix): in both planes, with the axes of the section turned or not. The
 * third one of the first plane is above the frequency from which on sections swing by themselves. */
static void thick_cantilevers(void **state)
{
  static const double exact[] = {2.2032658915468,  3.0250848847328,  9.120168048082,
                                 11.5180452482408, 24.1726886919054, 30.4245997848463};
  enum { N = sizeof exact / sizeof *exact };
  (void)state;
  for (int turned = 0; turned < 2; turned++) {
    const double angle = turned ? 0.5 : 0, c = cos(angle), s = sin(angle);
    /* of bending about z: EI 1, GA 20, J 0.03; about y: 0.5, 50, 0.05 */
    const double EIy = 0.5 * c * c + s * s, EIz = 0.5 * s * s + c * c, EIyz = (0.5 - 1) * s * c;
    const double GAy = 20 * c * c + 50 * s * s, GAz = 20 * s * s + 50 * c * c, GAyz = (20 - 50) * s * c;
    const double Jy = 0.05 * c * c + 0.03 * s * s, Jz = 0.05 * s * s + 0.03 * c * c,
                 Jyz = (0.05 - 0.03) * s * c;
    double error[3][N];
    for (int level = 0; level < 3; level++) {
      char text[1024];
      snprintf(
          text, sizeof text,
          "galpha: 1\nbodies:\n  b: {type: beam, length: 1, elements: %d, mass_per_length: 1, stiffness: "
          "[[1e6, 0, 0, 0, 0, 0], [0, %.17g, %.17g, 0, 0, 0], [0, %.17g, %.17g, 0, 0, 0], [0, 0, 0, 1e5, 0, "
          "0], "
          "[0, 0, 0, 0, %.17g, %.17g], [0, 0, 0, 0, %.17g, %.17g]], rotary_inertia: [0.08, %.17g, %.17g, 0, "
          "0, "
          "%.17g]}\n%s",
          8 << level, GAy, GAyz, GAyz, GAz, EIy, EIyz, EIyz, EIz, Jy, Jz, Jyz, CLAMP);
      bench b = bench_open(NULL, text);
      const ga_modes_info *info = find_modes(&b, 12, 0);
      for (int i = 0; i < N; i++) {
        error[level][i] = 1;
        for (int k = 0; k < info->n; k++)
          error[level][i] = fmin(error[level][i], fabs(ga_modes_at(b.modes, k)->im / exact[i] - 1));
      }
      bench_close(&b);
    }
    for (int i = 0; i < N; i++) {
      const double order = log2(error[1][i] / error[2][i]);
      if (!(error[0][i] < 5e-4 && error[2][i] < 2e-6 && order > 3.6))
        fail_msg("thick cantilever, %g: %g, %g, %g, order %.2f", exact[i], error[0][i], error[1][i],
                 error[2][i], order);
    }
  }
}

/* Six free motions, zeros twice each; then cos β cosh β = 1. Stretching is a million times as fast as
 * bending. */
static void free_beam(void **state)
{
  static const double BETA[] = {4.730040744862704, 7.853204624095838};
  (void)state;
  for (int dense = -1; dense <= 2;
       dense++) { /* in the end with so many elements that bending hardly shows in their forces */
    bench b = beam_open(STRAIGHT, dense < 2 ? 24 : 300, 4.0, "");
    const ga_modes_info *info = find_modes(&b, 9, dense < 2 ? dense : 0);
    assert_int_equal(info->n_zero, 12);
    for (int i = 0; i < 6; i++) assert_true(ga_modes_at(b.modes, i)->zero);
    assert_eigenvalue(&b, 6, 0.0, BETA[0] * BETA[0] * sqrt(EI), 1e-4, "free beam");
    assert_eigenvalue(&b, 7, 0.0, 2 * BETA[0] * BETA[0] * sqrt(EI), 1e-4, "free beam");
    assert_eigenvalue(&b, 8, 0.0, BETA[1] * BETA[1] * sqrt(EI), 1e-4, "free beam");
    bench_close(&b);
  }
}

/* A ring of radius R = 1/2π, free: in its plane ω² = (EI/R⁴) n² (n² − 1)²/(n² + 1), out of it with n² + EI/GJ
 * below. */
static void ring(void **state)
{
  (void)state;
  for (int dense = -1; dense <= 1; dense += 2) {
    bench b = beam_open("pose: {position: [0, 0, 0]}, length: 1, curvature: [0, 0, 6.283185307179586]", 48,
                        1.0, "joints:\n  close: {type: fixed, a: b, b: b.end}\n");
    const double R4 = pow(2 * PI, -4.0);
    assert_int_equal(find_modes(&b, 14, dense)->n_zero, 12);
    for (int i = 6; i < 14; i++) {
      const int n = i < 10 ? 2 : 3, in_plane = (i - 6) / 2 % 2;
      const double n2 = n * n,
                   square = EI / R4 * n2 * (n2 - 1) * (n2 - 1) / (n2 + (in_plane ? 1.0 : EI / GJ));
      assert_eigenvalue(&b, i, 0.0, sqrt(square), 1e-4, "ring");
    }
    bench_close(&b);
  }
}

/* Rings of few elements, whose axial stiffness is 1e8 times that of bending and hardly shows in the rows of
 * forces across them; rigid motions are none the less zeros. Beside them a pendulum stands on a torsion
 * spring that is softer than its weight by the part `soft`: s² = soft · m g l/(m l²) must be reported as
 * growing. */
static void stiff_rings(void **state)
{
  static const struct {
    int elements;
    double soft;
  } row[] = {{4, 1e-4}, {6, 1e-6}, {8, 1e-8}, {12, 1e-6}, {6, -1e-6}};
  (void)state;
  for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
    const double m = 2.0, l = 0.5, g = 9.81, stiffness = m * g * l * (1.0 - row[i].soft);
    char text[1536];
    snprintf(text, sizeof text,
             "galpha: 1\nbodies:\n  b: {type: beam, position: [0, 0, 0], length: 1, curvature: [0, 0, "
             "6.283185307179586], elements: %d, section: numbers, mass_per_length: 1, stiffness: [1e8, 1e8, "
             "1e8, 1, 1, 1], rotary_inertia: [2e-8, 1e-8, 1e-8]}\n"
             "  p: {type: rigid, position: [3, 0, %.17g], mass: %.17g, inertia: [1e-30, 1e-30, 1e-30]}\n"
             "joints:\n  close: {type: fixed, a: b, b: b.end}\n"
             "  foot: {type: revolute, a: ground, b: p, at: {position: [3, 0, 0], rotation: {z_axis: [0, 1, "
             "0]}}}\n"
             "forces:\n  spring: {type: spring, coordinate: foot.angle, stiffness: %.17g, rest: 0}\n"
             "  weight: {type: force, frame: p, force: [0, 0, %.17g]}\n",
             row[i].elements, l, m, stiffness, -m * g);
    for (int dense = -1; dense <= 1; dense += 2) {
      bench b = bench_open(NULL, text);
      const double speed = sqrt(fabs(row[i].soft) * g / l);
      const int grows = row[i].soft > 0.0;
      assert_int_equal(find_modes(&b, grows ? 9 : 8, dense)->n_zero, 12);
      for (int k = 0; k < 6; k++) assert_true(ga_modes_at(b.modes, k)->zero);
      assert_eigenvalue(&b, 6, grows ? -speed : 0.0, grows ? 0.0 : speed, 1e-6, "a pendulum on its spring");
      if (grows) assert_eigenvalue(&b, 7, speed, 0.0, 1e-6, "a pendulum that falls");
      bench_close(&b);
    }
  }
}

/* Pinned at both ends and pulled by P: ω² = (nπ)² (P + EI (nπ)²), about its static equilibrium. */
static void tight_beam(void **state)
{
  (void)state;
  for (int pushed = 0; pushed < 2; pushed++) {
    char text[512];
    const double P = pushed ? -900.0 : 500.0; /* it buckles at −987 */
    snprintf(
        text, sizeof text,
        "joints:\n  a: {type: revolute, a: ground, b: b, at: {rotation: {z_axis: [0, 1, 0]}}}\n"
        "  e: {type: point_on_line, a: ground, b: b.end, at: {position: [1, 0, 0], rotation: {z_axis: [1, 0, "
        "0]}}}\nforces:\n  pull: {type: force, frame: b.end, force: [%g, 0, 0]}\n",
        P);
    bench b = beam_open(STRAIGHT, 24, 100.0, text);
    ga_equilibrium *eq = NULL;
    assert_done(&b, ga_equilibrium_create(b.ctx, system_of(&b), NULL, &eq));
    assert_done(&b, ga_equilibrium_solve(eq, 0.0, ga_stepper_state(b.st)->q, NULL, NULL));
    find_modes_at(&b, ga_equilibrium_state(eq), 2, 0);
    for (int n = 1; n <= 2; n++)
      assert_eigenvalue(&b, n - 1, 0.0, n * PI * sqrt(P + EI * n * n * PI * PI), 1e-4, "tight beam");
    ga_equilibrium_destroy(&eq);
    bench_close(&b);
  }
}

/* ---- Machines ---- */

static void bicycle(void **state)
{
  (void)state;
  for (int dense = -1; dense <= 1; dense += 2) {
    bench b = bench_open(MODELS "/bicycle.yaml", NULL);
    const ga_modes_info *info = find_modes(&b, 7, dense);
    assert_int_equal(info->n_all, 10);
    assert_int_equal(info->n_zero, 6); /* x, y and turns of both wheels; yaw, which y follows, and speed */
    assert_true(info->unsteady < 1e-9);
    for (int i = 0; i < 4; i++) assert_true(ga_modes_at(b.modes, i)->zero);
    assert_eigenvalue(&b, 4, -0.32286642900409, 0.0, 1e-11, "capsize");
    assert_eigenvalue(&b, 5, -0.77534188219585, 4.46486771378823, 1e-11, "weave");
    assert_eigenvalue(&b, 6, -14.07838969279822, 0.0, 1e-11, "castering");
    bench_close(&b);
  }
}

/* Distance of s from the nearest eigenvalue. */
static double distance(const ga__eigen *e, double re, double im)
{
  double least = INFINITY;
  for (int i = 0; i < e->n; i++) least = fmin(least, hypot(e->re[i] - re, e->im[i] - im));
  return least;
}

/* Again, in a static equilibrium as far as positions are concerned. */
static void start_at_rest(bench *b)
{
  const ga_state *first = ga_stepper_state(b->st);
  double v[2048];
  const int nv = ga_system_size(system_of(b), GA_BLOCK_V);
  ga_equilibrium_opts o = ga_equilibrium_defaults();
  ga_equilibrium *eq = NULL;
  ga_start_opts start = ga_start_defaults();
  assert_true(nv <= 2048);
  o.hold_free = 1;
  start.h = 1e-3;
  memcpy(v, first->v, (size_t)nv * sizeof *v);
  assert_done(b, ga_equilibrium_create(b->ctx, system_of(b), &o, &eq));
  assert_done(b, ga_equilibrium_solve(eq, 0.0, first->q, first->x, NULL));
  const ga_state *rest = ga_equilibrium_state(eq);
  assert_done(b, ga_stepper_start(b->st, &start, 0.0, rest->q, v, rest->x, NULL, NULL, NULL));
  ga_equilibrium_destroy(&eq);
}

/* Its wheels turn freely, so that many zeros are double, which ARPACK's vectors of the others suffer from.
 * The eigenvalues are those of the linearisation, where constraints are eliminated by singular values;
 * rounding of its matrix, which is full and has eigenvalues of 1e6, moves them by 1e-4. */
static void full_car(void **state)
{
  bench b = bench_open(MODELS "/full_car.yaml", NULL);
  ga_linearisation *lin = NULL;
  const ga_linear_form *form = NULL;
  ga__eigen all = {0};
  (void)state;
  start_at_rest(&b);
  const ga_state *s = ga_stepper_state(b.st);
  const ga_point p = {s->t, s->q, s->v, s->vdot, s->lambda, s->psi, s->x, s->y, 0, NULL};
  assert_done(&b, ga_linearisation_create(b.ctx, system_of(&b), &lin));
  assert_done(&b, ga_linearisation_compute(lin, &p, &form));
  assert_done(&b, ga__eigen_create(b.ctx, form->n, &all));
  assert_done(&b, ga__eigen_compute(&all, form->n, form->A, form->n));
  for (int n = 10; n <= 20; n += 10) {
    ga_modes_opts o = ga_modes_defaults();
    int compared = 0;
    o.n = n;
    ga_modes_destroy(&b.modes);
    assert_done(&b, ga_modes_create(b.ctx, system_of(&b), &o, &p, &b.modes));
    for (int i = 0; i < n; i++) {
      const ga_mode *m = ga_modes_at(b.modes, i);
      assert_true(m->residual < 1e-9);
      if (!m->zero && hypot(m->re, m->im) < 1e-3) fail_msg("%.3g %+.3g i is a zero", m->re, m->im);
      if (hypot(m->re, m->im) < 1.0) continue;
      if (distance(&all, m->re, m->im) > 1e-3 * hypot(m->re, m->im))
        fail_msg("%d modes: %.9g %+.9g i is no eigenvalue", n, m->re, m->im);
      compared++;
    }
    assert_true(compared >= n - 8);
    assert_int_equal(ga_modes_get_info(b.modes)->n_zero, 7); /* four wheels; x, and y with the heading */
  }
  ga__eigen_destroy(&all);
  ga_linearisation_destroy(&lin);
  bench_close(&b);
}

/* To t by error control. */
static void run_to(bench *b, double t, const double *q, const double *v)
{
  ga_simulate_opts o = ga_simulate_defaults();
  ga_simulator *sim = NULL;
  const double none[64] = {0};
  o.t_end = t, o.rtol = o.atol = 1e-11;
  assert_done(b, ga_simulator_create(b->ctx, b->st, &o, &sim));
  assert_done(b, ga_simulator_start(sim, NULL, 0.0, q, v, none, NULL, NULL, NULL));
  assert_done(b, ga_simulator_run(sim));
  ga_simulator_destroy(&sim);
}

/* Run to rest; then let go from ε times the shape: after T it is where Re(shape exp(s T)) has it. */
static void rhombus(void **state)
{
  (void)state;
  const double far = 1e-4, T = 0.7;
  bench b = bench_open(MODELS "/rhombus.yaml", NULL);
  const ga_group *group = ga_system_group(system_of(&b));
  const int nv = ga_system_size(system_of(&b), GA_BLOCK_V), nq = ga_group_nq(group);
  double q0[64], v0[64], q[64], v[64], d[64];
  const ga_state *s = ga_stepper_state(b.st);
  memcpy(q0, s->q, (size_t)nq * sizeof *q0);
  memcpy(v0, s->v, (size_t)nv * sizeof *v0);
  run_to(&b, 120.0, q0, v0);
  assert_int_equal(find_modes(&b, 1, 0)->n_all, 2);
  assert_eigenvalue(&b, 0, -0.242385809310505, 2.13395502834838, 1e-9, "rhombus");
  memcpy(q0, s->q, (size_t)nq * sizeof *q0);
  const ga_mode m = *ga_modes_at(b.modes, 0);
  for (int i = 0; i < nv; i++) d[i] = far * m.real.q[i], v[i] = far * m.real.v[i];
  ga_group_move(group, q, q0, d);
  run_to(&b, T, q, v);
  ga_group_difference(group, d, q0, s->q);
  const double size = far * exp(m.re * T), c = size * cos(m.im * T), sine = size * sin(m.im * T);
  for (int i = 0; i < nv; i++) {
    const double expected = c * m.real.q[i] - sine * m.imaginary.q[i];
    if (fabs(d[i] - expected) > 2e-4 * far) fail_msg("coordinate %d: %g instead of %g", i, d[i], expected);
  }
  bench_close(&b);
}

/* Shapes as signals: the angle of a pendulum by its own coordinate, a length by geometry. */
static void slopes(void **state)
{
  (void)state;
  bench b =
      bench_open(NULL, "galpha: 1\ngravity: [0, 0, -9.81]\nbodies:\n"
                       "  rod: {type: rigid, mass: 2, inertia: [0.1, 0.2, 0.3], position: [0, 0, -1.5]}\n"
                       "joints:\n  hinge: {type: revolute, a: ground, b: rod, at: {position: [0, 0, 0], "
                       "rotation: {z_axis: [0, 1, 0]}}}\n");
  const ga_machine *machine = ga_model_machine(b.model);
  const int index[] = {ga_machine_find_signal(machine, "hinge.angle"),
                       ga_machine_find_signal(machine, "rod.x"), ga_machine_find_signal(machine, "rod.z"),
                       ga_machine_find_signal(machine, "hinge.angle_rate")};
  double slope[4];
  find_modes(&b, 1, 0);
  const ga_mode *m = ga_modes_at(b.modes, 0);
  assert_eigenvalue(&b, 0, 0.0, sqrt(2 * 9.81 * 1.5 / (0.2 + 2 * 1.5 * 1.5)), 1e-10, "pendulum");
  assert_done(&b, ga_machine_signal_slopes(machine, ga_stepper_state(b.st), &m->real, 4, index, slope));
  assert_true(fabs(slope[0]) > 0.1 && fabs(slope[1] + 1.5 * slope[0]) < 1e-9 && fabs(slope[2]) < 1e-9);
  assert_done(&b,
              ga_machine_signal_slopes(machine, ga_stepper_state(b.st), &m->imaginary, 4, index, slope + 0));
  assert_true(fabs(slope[0]) < 1e-12 && fabs(slope[3]) > 0.1);
  bench_close(&b);
}

/* ---- Too few elements ---- */

/* The first mode that a part does not resolve; n_modes 0: all are resolved. */
static ga_coarse_part coarse_part(const bench *b)
{
  ga_coarse_part c = {.mode = -1};
  int n = -1;
  assert_done(
      b, ga_machine_check_modes(ga_model_machine(b->model), ga_stepper_state(b->st), b->modes, 1, &c, &n));
  assert_int_equal(n, c.n_modes > 0);
  return c;
}

/* Errors of modes against closed forms, from `first` on in rising order: one above 1 % is reported, and none
 * below 0.3 %; the estimate is right to a quarter, and following the advice resolves them all. */
static void assert_reported(const bench *b, int first, int n, const double *exact, const char *what,
                            int elements)
{
  const ga_coarse_part c = coarse_part(b);
  for (int i = 0; i < n; i++) {
    const double error = fabs(ga_modes_at(b->modes, first + i)->im / exact[i] - 1);
    if (error > 0.01 && !(c.n_modes > 0 && c.mode <= first + i))
      fail_msg("%s, %d elements: mode %d is off by %.2g, unreported", what, elements, i, error);
    if (c.n_modes == 0 || c.mode != first + i) continue;
    if (error < 0.003)
      fail_msg("%s, %d elements: mode %d is off by only %.2g, but reported", what, elements, i, error);
    if (error < 0.03 && !(fabs(c.error / error - 1) < 0.25))
      fail_msg("%s, %d elements: mode %d is off by %.3g, not %.3g", what, elements, i, error, c.error);
    assert_int_equal(c.elements, elements);
    assert_true(c.needed > elements);
  }
}

typedef struct coarse_case {
  const char *what, *body, *joints; /* body: with a slot for elements */
  int first, n;                     /* modes compared */
  double exact[10];
} coarse_case;

#define NUMBERS                                                                                              \
  "section: numbers, mass_per_length: 1, stiffness: [1e10, 4e9, 4e9, 80, 100, 100], rotary_inertia: [2e-8, " \
  "1e-8, 1e-8]"
#define BETA2(b) (10.0 * (b) * (b)), (10.0 * (b) * (b))
#define STRING(k) (10.0 * (k)), (10.0 * (k))
/* T = 100, m = 1, L = π: ω = 10 k; with EI = 40 √(100 k² + 40 k⁴) */
static const coarse_case COARSE[] = {
    {"cantilever",
     "b: {type: beam, from: [0, 0, 0], to: [1, 0, 0], elements: %d, " NUMBERS "}",
     "joints: {clamp: {type: fixed, a: ground, b: b}}\n",
     0,
     8,
     {BETA2(1.875104068711961), BETA2(4.694091132974175), BETA2(7.854757438237613),
      BETA2(10.99554073487547)}},
    {"free beam",
     "b: {type: beam, from: [0, 0, 0], to: [1, 0, 0], elements: %d, " NUMBERS "}",
     "",
     6,
     6,
     {BETA2(4.730040744862704), BETA2(7.853204624095838), BETA2(10.99560783800167)}},
    {"string",
     "b: {type: cable, from: [0, 0, 0], to: [3.141592653589793, 0, 0], length: 3.141589512000281, elements: "
     "%d, "
     "stiffness: 1e8, mass_per_length: 1}",
     "joints: {a: {type: spherical, a: ground, b: b}, e: {type: spherical, a: ground, b: b.end, at: "
     "[3.141592653589793, 0, 0]}}\n",
     0,
     10,
     {STRING(1), STRING(2), STRING(3), STRING(4), STRING(5)}},
    {"stiff string",
     "b: {type: cable, from: [0, 0, 0], to: [3.141592653589793, 0, 0], length: 3.141589512000281, elements: "
     "%d, "
     "stiffness: 1e8, mass_per_length: 1, bending_stiffness: 40}",
     "joints: {a: {type: spherical, a: ground, b: b}, e: {type: spherical, a: ground, b: b.end, at: "
     "[3.141592653589793, 0, 0]}}\n",
     0,
     6,
     {11.83215956619923, 11.83215956619923, 32.24903099319420, 32.24903099319420, 64.34283176858164,
      64.34283176858164}},
};

static bench coarse_open(const coarse_case *c, int elements)
{
  char text[1024], body[512];
  snprintf(body, sizeof body, c->body, elements);
  snprintf(text, sizeof text, "galpha: 1\nbodies:\n  %s\n%s", body, c->joints);
  return bench_open(NULL, text);
}

static void too_few_elements(void **state)
{
  static const int ELEMENTS[] = {2, 3, 4, 6, 8, 12, 16, 24, 32};
  (void)state;
  for (size_t i = 0; i < sizeof COARSE / sizeof *COARSE; i++)
    for (size_t k = 0; k < sizeof ELEMENTS / sizeof *ELEMENTS; k++) {
      const coarse_case *c = &COARSE[i];
      const int fit = c->first ? 2 * ELEMENTS[k] : 2 * ELEMENTS[k] - 2, n = fit < c->n ? fit : c->n;
      bench b = coarse_open(c, ELEMENTS[k]);
      find_modes(&b, c->first + n, 0);
      assert_reported(&b, c->first, n, c->exact, c->what, ELEMENTS[k]);
      const ga_coarse_part advice = coarse_part(&b);
      bench_close(&b);
      if (advice.n_modes == 0) continue;
      b = coarse_open(c, advice.needed);
      find_modes(&b, c->first + n, 0);
      if (coarse_part(&b).n_modes > 0)
        fail_msg("%s: %d elements instead of %d are not enough", c->what, advice.needed, ELEMENTS[k]);
      bench_close(&b);
    }
}

/* The centre of mass off the axis by c couples bending and twist: of a beam that is pinned at both ends and
 * held against twist (EI k⁴ − m ω²)(GJ k² − J ω²) = (m c ω²)², k = nπ, J about the axis. Order 2. */
static void off_axis_beam(void **state)
{
  const double m = 1.0, c = 0.1, stiffness = 500.0, J = 0.02 + m * c * c;
  double error[2][2];
  (void)state;
  for (int fine = 0; fine < 2; fine++) {
    char text[1024];
    snprintf(
        text, sizeof text,
        "galpha: 1\nbodies:\n  b: {type: beam, from: [0, 0, 0], to: [1, 0, 0], elements: %d, section: "
        "numbers, "
        "mass_per_length: 1, stiffness: [1e9, 1e9, 1e9, 500, 500, 1e9], rotary_inertia: [0.02, 1e-9, 1e-9], "
        "centre: [0.1, 0]}\n"
        "joints:\n  a: {type: revolute, a: ground, b: b, at: {position: [0, 0, 0], rotation: {z_axis: [0, 1, "
        "0]}}}\n"
        "  e: {type: point_on_line, a: ground, b: b.end, at: {position: [1, 0, 0], rotation: {z_axis: [1, 0, "
        "0]}}}\n"
        "markers: {p: {body: b, position: [1, 0.5, 0]}}\n"
        "constraints:\n  level: {zero: 'p.z - b.end.z', unit: m}\n",
        fine ? 16 : 8);
    bench b = bench_open(NULL, text);
    find_modes(&b, 2, 0);
    const double bending = stiffness * pow(PI, 4), twist = stiffness * PI * PI, a = m * J - m * m * c * c,
                 half = 0.5 * (bending * J + twist * m), root = sqrt(half * half - a * bending * twist);
    for (int i = 0; i < 2; i++)
      error[fine][i] = fabs(ga_modes_at(b.modes, i)->im / sqrt((half + (i ? root : -root)) / a) - 1.0);
    bench_close(&b);
  }
  for (int i = 0; i < 2; i++) {
    assert_true(error[1][i] < 1.1e-3);
    assert_true(fabs(log2(error[0][i] / error[1][i]) - 2.0) < 0.15);
  }
}

/* The mass is positive with a centre far off the axis too: nothing grows, by all modes there are. */
static void far_off_axis(void **state)
{
  (void)state;
  for (int n = 1; n <= 4; n += 3) {
    char text[512];
    snprintf(text, sizeof text,
             "galpha: 1\nbodies:\n  b: {type: beam, from: [0, 0, 0], to: [1, 0, 0], elements: %d, section: "
             "numbers, "
             "mass_per_length: 1e-3, stiffness: [1e6, 1e6, 1e6, 500, 500, 500], rotary_inertia: [2e-6, 1e-6, "
             "2e-6], "
             "centre: [0.1, -0.05]}\njoints: {wall: {type: fixed, a: ground, b: b}}\n",
             n);
    bench b = bench_open(NULL, text);
    const ga_modes_info *info = find_modes(&b, 6 * n, 1);
    assert_int_equal(info->n, 6 * n);
    for (int i = 0; i < info->n; i++) assert_true(ga_modes_at(b.modes, i)->re == 0.0);
    bench_close(&b);
  }
}

/* A ring of four elements, whose errors of the first and second cut cancel in part; its frequency is known.
 */
static void coarse_ring(void **state)
{
  (void)state;
  bench b = bench_open(
      NULL, "galpha: 1\nbodies:\n  b: {type: beam, position: [0, 0, 0], length: 1, curvature: [0, 0, "
            "6.283185307179586], elements: 4, section: numbers, mass_per_length: 1, stiffness: [1e8, "
            "1e8, 1e8, 1, 1, 1], rotary_inertia: [2e-8, 1e-8, 1e-8]}\n"
            "joints:\n  close: {type: fixed, a: b, b: b.end}\n");
  find_modes(&b, 7, 0);
  const double n2 = 4.0, exact = sqrt(pow(2 * PI, 4) * n2 * (n2 - 1) * (n2 - 1) / (n2 + 1));
  const double error = ga_modes_at(b.modes, 6)->im / exact - 1.0;
  const ga_coarse_part c = coarse_part(&b);
  assert_true(error > 0.005 && c.mode == 6);
  assert_true(fabs(c.error - error) < 0.25 * error);
  bench_close(&b);
}

/* One element; nothing is said about free motions, or where the beam is but a spring. */
static void one_element(void **state)
{
  (void)state;
  bench b = coarse_open(&COARSE[0], 1);
  find_modes(&b, 4, 0);
  const ga_coarse_part c = coarse_part(&b);
  assert_string_equal(c.part, "b");
  assert_int_equal(c.mode, 0);
  assert_int_equal(c.n_modes, 4);
  assert_true(fabs(c.error - 0.0273) < 0.002);
  bench_close(&b);
  b = coarse_open(&COARSE[1], 1);
  find_modes(&b, 6, 0); /* free motions */
  assert_int_equal(coarse_part(&b).n_modes, 0);
  bench_close(&b);
  b = bench_open(NULL,
                 "galpha: 1\nbodies:\n  b: {type: beam, from: [0, 0, 0], to: [1, 0, 0], elements: 1, " NUMBERS
                 "}\n"
                 "  m: {type: rigid, mass: 1000, inertia: [500, 500, 500], position: [1, 0, 0]}\n"
                 "joints: {clamp: {type: fixed, a: ground, b: b}, end: {type: fixed, a: b.end, b: m}}\n");
  find_modes(&b, 4, 0); /* the beam is a spring */
  assert_int_equal(coarse_part(&b).n_modes, 0);
  bench_close(&b);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(cantilever),
                                     cmocka_unit_test(waves_along_a_cantilever),
                                     cmocka_unit_test(long_rope),
                                     cmocka_unit_test(twisted_cantilever),
                                     cmocka_unit_test(thick_cantilevers),
                                     cmocka_unit_test(free_beam),
                                     cmocka_unit_test(tight_beam),
                                     cmocka_unit_test(ring),
                                     cmocka_unit_test(stiff_rings),
                                     cmocka_unit_test(bicycle),
                                     cmocka_unit_test(full_car),
                                     cmocka_unit_test(rhombus),
                                     cmocka_unit_test(slopes),
                                     cmocka_unit_test(too_few_elements),
                                     cmocka_unit_test(one_element),
                                     cmocka_unit_test(coarse_ring),
                                     cmocka_unit_test(off_axis_beam),
                                     cmocka_unit_test(far_off_axis)};
  return cmocka_run_group_tests_name("model: modes", tests, NULL, NULL);
}
