/* Curves through points, and beams and cables along them: circles and lines are met exactly, other curves
 * with an order; what is refused. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "mbs/beam.h"
#include "mbs/curve.h"
#include "mbs_shop.h"

#define PI 3.14159265358979323846

/* A circle of radius 2 in an oblique plane, from (0, 0, 0) along `t`, at any angles: exact length, places,
 * frames that turn with the tangent alone. */
static void circles_are_exact(void **state)
{
  static const double angle[] = {0, 0.1, 0.7, 1.5, 1.6, 3.0, 4.4, 5.5};
  enum { N = sizeof angle / sizeof *angle };
  const double t[3] = {0.6, 0, 0.8}, inwards[3] = {0, 1, 0}, r = 2, across[3] = {-0.8, 0, 0.6};
  double p[3 * N], start[9], x[3], R[9], turn;
  (void)state;
  for (int i = 0; i < N; i++)
    for (int k = 0; k < 3; k++)
      p[3 * i + k] = 7 + r * (sin(angle[i]) * t[k] + (1 - cos(angle[i])) * inwards[k]);
  for (int k = 0; k < 3; k++)
    start[3 * k] = t[k], start[3 * k + 1] = inwards[k], start[3 * k + 2] = across[k];
  const ga__curve c = {p, N};
  int same;
  assert_int_equal(ga__curve_fault(&c, &same), 0);
  assert_near(ga__curve_length(&c), r * 5.5, 1e-12, "length");
  for (double s = 0; s <= 5.5; s += 0.11) {
    ga__curve_at(&c, start, r * s, x, R, &turn);
    assert_near(turn, s, 1e-12, "turn");
    for (int k = 0; k < 3; k++) {
      assert_near(x[k], 7 + r * (sin(s) * t[k] + (1 - cos(s)) * inwards[k]), 1e-12, "place");
      assert_near(R[3 * k], cos(s) * t[k] + sin(s) * inwards[k], 1e-12, "tangent");
      assert_near(R[3 * k + 2], start[3 * k + 2], 1e-12, "axis that does not turn");
    }
  }
}

static void lines_are_exact(void **state)
{
  const double p[] = {0, 0, 0, 1, 2, 2, 4, 8, 8}, t[3] = {1 / 3.0, 2 / 3.0, 2 / 3.0},
               none[3] = {NAN, NAN, NAN};
  double start[9], x[3], R[9], turn;
  (void)state;
  for (int n = 2; n <= 3; n++) {
    const ga__curve c = {p, n};
    assert_near(ga__curve_length(&c), n == 2 ? 3 : 12, 1e-14, "length");
    assert_int_equal(ga__section_axes(t, none, start), 1);
    ga__curve_at(&c, start, 2.4, x, R, &turn);
    for (int k = 0; k < 3; k++) assert_near(x[k], 2.4 * t[k], 1e-14, "place");
    assert_near(turn, 0, 1e-14, "turn");
  }
}

/* A helix: places between the points converge with order 3 or more in their distance, lengths with 4. */
static void a_helix_converges(void **state)
{
  enum { LEVELS = 4 };
  double length[LEVELS], place[LEVELS], p[3 * 200], start[9], x[3], R[9], turn;
  const double none[3] = {NAN, NAN, NAN}, whole = 2 * PI * sqrt(1 + 0.09);
  (void)state;
  for (int level = 0; level < LEVELS; level++) {
    const int n = 12 << level;
    for (int i = 0; i <= n; i++) {
      const double a = 2 * PI * i / n;
      p[3 * i] = cos(a), p[3 * i + 1] = sin(a), p[3 * i + 2] = 0.3 * a;
    }
    const ga__curve c = {p, n + 1};
    double t[3];
    ga__curve_tangent(&c, 0, t);
    ga__section_axes(t, none, start);
    length[level] = fabs(ga__curve_length(&c) - whole);
    place[level] = 0;
    for (int i = 0; i < 50; i++) {
      const double s = (i + 0.3) / 50;
      ga__curve_at(&c, start, s * ga__curve_length(&c), x, R, &turn);
      const double a = 2 * PI * s, d[3] = {x[0] - cos(a), x[1] - sin(a), x[2] - 0.3 * a};
      place[level] = fmax(place[level], sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]));
    }
  }
  assert_true(log2(place[2] / place[3]) > 2.7);
  assert_true(log2(length[2] / length[3]) > 3.5);
  assert_true(place[3] < 1e-5);
}

/* ---- Beams ---- */

static ga_beam_def plain_beam(void)
{
  static const double diagonal[6] = {1e4, 4e3, 4e3, 20, 30, 35};
  ga_beam_def d = ga_beam_defaults();
  d.name = "beam", d.elements = 6;
  for (int i = 0; i < 6; i++) d.stiffness[7 * i] = diagonal[i];
  d.mass_per_length = 1;
  for (int i = 0; i < 3; i++) d.rotary_inertia[i] = 0.1;
  return d;
}

/* A quarter of a circle by points bends as the same beam by its curvature does; elements of other curves have
 * the poses that they are between as their reference, so that nothing strains them at the start. */
static void quarter_circles_are_those_of_curvature(void **state)
{
  double p[3 * 5], end[2][3];
  (void)state;
  for (int by_points = 0; by_points < 2; by_points++) {
    shop s = shop_open(GA_FORM_SPACE, -9.81);
    ga_beam_def d = plain_beam();
    ga_equilibrium *eq = NULL;
    double q[12 * RIG_MOST], v[12 * RIG_MOST];
    if (by_points) {
      for (int i = 0; i < 5; i++) {
        const double a = 0.5 * PI * i / 4;
        p[3 * i] = sin(a), p[3 * i + 1] = 1 - cos(a), p[3 * i + 2] = 0;
      }
      d.points = p, d.n_points = 5, d.point_size = 3;
    } else {
      d.length = 0.5 * PI, d.curvature[2] = 1;
    }
    SHOP_ADD(&s, beam, &d);
    memset(p, 0, sizeof p); /* the machine has a copy */
    ga_joint_def j = ga_joint_defaults();
    j.name = "wall", j.kind = GA_JOINT_FIXED, j.a = "ground", j.b = "beam";
    SHOP_ADD(&s, joint, &j);
    shop_build(&s);
    assert_status(s.ctx, ga_machine_initial(s.m, q, v, NULL), GA_OK);
    assert_status(s.ctx, ga_equilibrium_create(s.ctx, ga_machine_system(s.m), NULL, &eq), GA_OK);
    assert_status(s.ctx, ga_equilibrium_solve(eq, 0, q, NULL, NULL), GA_OK);
    end[by_points][0] = shop_signal(&s, ga_equilibrium_state(eq), "beam.end.z");
    end[by_points][1] = shop_signal(&s, ga_equilibrium_state(eq), "beam.moment_x");
    end[by_points][2] = shop_signal(&s, ga_equilibrium_state(eq), "beam.end.x");
    ga_equilibrium_destroy(&eq);
    shop_close(&s);
  }
  assert_true(fabs(end[0][0]) > 0.01);
  for (int i = 0; i < 3; i++) assert_near(end[1][i], end[0][i], 1e-9, "by points");
}

static void no_strain_at_the_start(void **state)
{
  const double p[] = {0, 0, 0, 1, 0.3, 0, 2, 0, 0.4, 3, 1, 0, 3.2, 2, 1};
  (void)state;
  shop s = shop_open(GA_FORM_SPACE, 0);
  ga_beam_def d = plain_beam();
  d.points = p, d.n_points = 5, d.point_size = 3, d.elements = 7;
  SHOP_ADD(&s, beam, &d);
  const ga_state *now = shop_start(&s);
  assert_near(shop_signal(&s, now, "beam.strain_energy"), 0, 1e-20, "energy");
  for (int k = 0; k < 3; k++)
    assert_near(shop_signal(&s, now,
                            k == 0   ? "beam.end.x"
                            : k == 1 ? "beam.end.y"
                                     : "beam.end.z"),
                p[12 + k], 1e-12, "end");
  shop_close(&s);
}

/* ---- Cables ---- */

static void cables_follow_points(void **state)
{
  double p[3 * 7];
  (void)state;
  for (int i = 0; i < 7; i++) p[3 * i] = sin(0.5 * i), p[3 * i + 1] = 0, p[3 * i + 2] = cos(0.5 * i);
  shop s = shop_open(GA_FORM_SPACE, 0);
  ga_cable_def d = ga_cable_defaults();
  d.name = "rope", d.elements = 6;
  d.points = p, d.n_points = 7, d.point_size = 3;
  d.stiffness = 100, d.mass_per_length = 1;
  d.length = 2.5; /* on 3 m */
  SHOP_ADD(&s, cable, &d);
  shop_turned(&s, "middle", "rope", 1.25, 0, 0, 0, 0);
  const ga_state *now = shop_start(&s);
  assert_near(shop_signal(&s, now, "middle.x"), sin(1.5), 1e-12, "middle");
  assert_near(shop_signal(&s, now, "rope.end.z"), cos(3), 1e-12, "end");
  const double chord = 2 * sin(0.25) / (2.5 / 6) - 1;
  assert_near(shop_signal(&s, now, "rope.strain_energy"), 0.5 * 100 * 2.5 * chord * chord, 1e-9, "energy");
  shop_close(&s);
}

/* ---- What is refused ---- */

static void bad_points_are_refused(void **state)
{
  static const double straight[] = {0, 0, 0, 1, 0, 0, 2, 0, 0}, twice[] = {0, 0, 0, 1, 0, 0, 1, 0, 0},
                      back[] = {0, 0, 0, 1, 0, 0, 0.1, 0, 0}, odd[] = {0, 0, 0, 1, NAN, 0, 2, 0, 0};
  const struct {
    const double *p;
    int n, size;
    ga_reason reason;
    const char *field;
    int number; /* of the point */
    double from, length, curvature;
  } bad[] = {
      {twice, 3, 3, GA_REASON_POINTS_COINCIDE, "points", 3, NAN, 0, 0},
      {back, 3, 3, GA_REASON_POINTS_TURN_BACK, "points", 2, NAN, 0, 0},
      {odd, 3, 3, GA_REASON_OUT_OF_RANGE, "points", 0, NAN, 0, 0},
      {straight, 1, 3, GA_REASON_WRONG_COUNT, "points", 1, NAN, 0, 0},
      {straight, 3, 2, GA_REASON_WRONG_COUNT, "points", 2, NAN, 0, 0},
      {straight, 3, 3, GA_REASON_OUT_OF_RANGE, "from", 0, 1, 0, 0},
      {straight, 3, 3, GA_REASON_OUT_OF_RANGE, "length", 0, NAN, 1, 0},
      {straight, 3, 3, GA_REASON_OUT_OF_RANGE, "curvature", 0, NAN, 0, 1},
  };
  (void)state;
  shop s = shop_open(GA_FORM_SPACE, 0);
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    ga_beam_def d = plain_beam();
    d.points = bad[i].p, d.n_points = bad[i].n, d.point_size = bad[i].size;
    for (int k = 0; k < 3; k++) d.from[k] = bad[i].from;
    d.length = bad[i].length, d.curvature[2] = bad[i].curvature;
    assert_status(s.ctx, ga_machine_add_beam(s.m, &d), GA_ERR_ARGUMENT);
    assert_int_equal(ga_context_error(s.ctx)->reason, bad[i].reason);
    assert_string_equal(ga_context_error(s.ctx)->field, bad[i].field);
    if (bad[i].number) assert_near(ga_context_error(s.ctx)->number[0].value, bad[i].number, 0, "which");
    assert_int_equal(s.m->n_parts, 1);
    if (i > 5) continue;
    ga_cable_def c = ga_cable_defaults();
    c.name = "rope", c.stiffness = c.mass_per_length = 1;
    c.points = bad[i].p, c.n_points = bad[i].n, c.point_size = bad[i].size;
    for (int k = 0; k < 3; k++) c.from[k] = bad[i].from;
    assert_status(s.ctx, ga_machine_add_cable(s.m, &c), GA_ERR_ARGUMENT);
    assert_int_equal(ga_context_error(s.ctx)->reason, bad[i].reason);
    assert_string_equal(ga_context_error(s.ctx)->field, bad[i].field);
  }
  shop_close(&s);
}

/* Elements that would be bent by whole turns are not taken for straight ones. */
static void too_few_elements_are_refused(void **state)
{
  double p[3 * 33];
  (void)state;
  for (int i = 0; i < 33; i++)
    p[3 * i] = cos(2 * PI * i / 8.0), p[3 * i + 1] = sin(2 * PI * i / 8.0), p[3 * i + 2] = 0.1 * i;
  for (int elements = 1; elements <= 18; elements += 1) { /* four turns: 16 elements are at the limit */
    shop s = shop_open(GA_FORM_SPACE, 0);
    ga_beam_def d = plain_beam();
    d.points = p, d.n_points = 33, d.point_size = 3, d.elements = elements;
    SHOP_ADD(&s, beam, &d);
    if (elements < 15) {
      assert_status(s.ctx, ga_machine_build(s.m), GA_ERR_ARGUMENT);
      assert_int_equal(ga_context_error(s.ctx)->reason, GA_REASON_TOO_FEW_ELEMENTS);
      const int advised = (int)ga_context_error(s.ctx)->number[2].value;
      assert_true(advised >= 40 && advised < 100);
    } else if (elements > 16) {
      assert_status(s.ctx, ga_machine_build(s.m), GA_OK);
    }
    shop_close(&s);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(circles_are_exact),      cmocka_unit_test(lines_are_exact),
      cmocka_unit_test(a_helix_converges),      cmocka_unit_test(quarter_circles_are_those_of_curvature),
      cmocka_unit_test(no_strain_at_the_start), cmocka_unit_test(cables_follow_points),
      cmocka_unit_test(bad_points_are_refused), cmocka_unit_test(too_few_elements_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
