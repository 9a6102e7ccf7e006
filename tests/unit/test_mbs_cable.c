/* Cables: derivatives, the elastic catenary, a string and a hanging rope against closed forms, going slack
 * and taut, what is refused. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "mbs/cable.h"
#include "mbs/element.h"
#include "mbs/meter.h"
#include "mbs/system.h"
#include "mbs/workspace.h"
#include "mbs_shop.h"
#include <stdlib.h>

static const double G = 9.81;

static ga_cable_def rope(double x, double z, double length, int elements)
{
  ga_cable_def d = ga_cable_defaults();
  d.name = "rope";
  for (int i = 0; i < 3; i++) d.from[i] = d.to[i] = 0;
  d.to[0] = x, d.to[2] = z;
  d.length = length;
  d.elements = elements;
  d.stiffness = 2000;
  d.mass_per_length = 1.5;
  return d;
}

static void pin(shop *s, const char *name, const char *frame, double x, double z)
{
  ga_joint_def j = ga_joint_defaults();
  j.name = name;
  j.kind = GA_JOINT_SPHERICAL;
  j.a = "ground", j.b = frame;
  j.at_pose = 1;
  j.at = ga_pose_at(x, 0, z);
  SHOP_ADD(s, joint, &j);
}

/* ---- Derivatives ---- */

static void derivatives_are_right(void **state)
{
  (void)state;
  for (int form = 0; form < 3; form++)
    for (int variant = 0; variant < 4; variant++) {
      rig_random random = rig_seed(10 * form + variant);
      shop s = shop_open((ga_form)form, -G);
      ga_cable_def d = rope(1, 0.3, variant % 2 ? 1.4 : 0.8, 3); /* slack, pretensioned */
      ga_line_load_def load = ga_line_load_defaults();
      d.damping = variant > 1 ? 0.1 : 0;
      d.load[0].value = 2, d.load[1].expression = "3*sin(t)+rope.end.vy";
      load.name = "wind", load.body = "rope";
      load.from = 0.2, load.to = 0.6;
      load.load[2].expression = "rope.y*rope.end.x";
      SHOP_ADD(&s, cable, &d);
      SHOP_ADD(&s, line_load, &load);
      shop_rigid(&s, "box", 1, 0.2, 0.4);
      ga_joint_def j = ga_joint_defaults();
      j.name = "ball", j.kind = GA_JOINT_SPHERICAL;
      j.a = "rope.end", j.b = "box";
      SHOP_ADD(&s, joint, &j);
      shop_build(&s);
      shop_check(&s, &random, 4, 0.2, 1e-6, SHOP_FORM[form]);
      shop_close(&s);
    }
}

/* ---- At rest ---- */

/* The elastic catenary (Irvine 1981): tension (H, V + w s), V upwards, H and V at its start such that it ends
 * at (x, z). */
typedef struct catenary {
  double H, V, w, EA;
} catenary;

static void catenary_at(const catenary *c, double s, double out[2])
{
  const double V = c->V + c->w * s;
  out[0] = c->H * s / c->EA + c->H / c->w * (asinh(V / c->H) - asinh(c->V / c->H));
  out[1] = (c->V * s + 0.5 * c->w * s * s) / c->EA + (hypot(c->H, V) - hypot(c->H, c->V)) / c->w;
}

static catenary catenary_between(double x, double z, double length, double w, double EA)
{
  catenary c = {w * length, -0.5 * w * length, w, EA};
  for (int i = 0; i < 100; i++) {
    double now[2], J[4];
    catenary_at(&c, length, now);
    for (int k = 0; k < 2; k++) {
      catenary moved = c;
      double there[2];
      const double d = 1e-6 * (c.H + fabs(c.V));
      *(k ? &moved.V : &moved.H) += d;
      catenary_at(&moved, length, there);
      for (int r = 0; r < 2; r++) J[2 * r + k] = (there[r] - now[r]) / d;
    }
    const double det = J[0] * J[3] - J[1] * J[2], e[2] = {x - now[0], z - now[1]};
    const double dH = (J[3] * e[0] - J[1] * e[1]) / det, dV = (J[0] * e[1] - J[2] * e[0]) / det;
    const double scale = fmin(1, 0.5 * c.H / (fabs(dH) + 1e-300));
    c.H += scale * dH;
    c.V += scale * dV;
  }
  double end[2];
  catenary_at(&c, length, end);
  assert_near(end[0], x, 1e-12, "reference");
  assert_near(end[1], z, 1e-12, "reference");
  return c;
}

static ga_equilibrium *rest(shop *s)
{
  ga_equilibrium *eq = NULL;
  double *q = calloc(4096, sizeof *q), *v = calloc(4096, sizeof *v);
  assert_non_null(q);
  assert_non_null(v);
  shop_build(s);
  assert_true(ga_machine_system(s->m)->nq <= 4096);
  assert_status(s->ctx, ga_machine_initial(s->m, q, v, NULL), GA_OK);
  assert_status(s->ctx, ga_equilibrium_create(s->ctx, ga_machine_system(s->m), NULL, &eq), GA_OK);
  assert_status(s->ctx, ga_equilibrium_solve(eq, 0, q, NULL, NULL), GA_OK);
  free(q);
  free(v);
  return eq;
}

/* Order 2 of places and tensions, of slack and of tight cables. */
static void it_hangs_as_the_elastic_catenary(void **state)
{
  static const double length[] = {12, 8.6, 7.0}; /* between ends that are 8.25 m apart */
  enum { LEVELS = 3 };
  (void)state;
  for (int k = 0; k < 3; k++) {
    const catenary c = catenary_between(8, -2, length[k], 1.5 * G, 2000);
    double error[LEVELS][3], at[2];
    catenary_at(&c, 0.25 * length[k], at);
    for (int level = 0; level < LEVELS; level++) {
      shop s = shop_open(GA_FORM_SPACE, -G);
      const ga_cable_def d = rope(8, -2, length[k], (rig_brief() ? 4 : 8) << level);
      SHOP_ADD(&s, cable, &d);
      ga_marker_def quarter = ga_marker_defaults();
      quarter.name = "quarter", quarter.body = "rope";
      quarter.pose = ga_pose_at(0.25 * length[k], 0, 0);
      SHOP_ADD(&s, marker, &quarter);
      pin(&s, "left", "rope", 0, 0);
      pin(&s, "right", "rope.end", 8, -2);
      ga_equilibrium *eq = rest(&s);
      const ga_state *now = ga_equilibrium_state(eq);
      error[level][0] = fabs(shop_signal(&s, now, "quarter.z") - at[1]);
      error[level][1] = fabs(shop_signal(&s, now, "rope.tension") - hypot(c.H, c.V));
      error[level][2] =
          fabs(shop_signal(&s, now, "quarter.tension") - hypot(c.H, c.V + c.w * 0.25 * length[k]));
      /* What joints hold is what the cable has at its ends, and all of its weight. */
      assert_near(shop_signal(&s, now, "rope.fx") + shop_signal(&s, now, "left.fx"), 0, 1e-8, "first end");
      assert_near(shop_signal(&s, now, "rope.end.fz") - shop_signal(&s, now, "right.fz"), 0, 1e-8, "end");
      assert_near(shop_signal(&s, now, "left.fz") + shop_signal(&s, now, "right.fz"), 1.5 * G * length[k],
                  1e-8, "weight");
      ga_equilibrium_destroy(&eq);
      shop_close(&s);
    }
    for (int i = 0; i < 3; i++)
      assert_near(log2(error[LEVELS - 2][i] / error[LEVELS - 1][i]), 2, rig_brief() ? 0.5 : 0.15, "order");
    assert_true(error[LEVELS - 1][0] < 0.02);
  }
}

/* The shape that a slack cable starts with, at limits: nearly taut, far down, its ends above each other. */
static void slack_cables_start_as_they_hang(void **state)
{
  static const double zero[3] = {0, 0, 0}, down[3] = {0, 0, -G};
  static const double to[][3] = {{3, 4, 0}, {3, 0, 4}, {0, 0, -2}, {1e-7, 0, 2}, {0, 0, 0}};
  static const double more[] = {1 + 1e-9, 1.001, 1.5, 100};
  enum { N = 2000 };
  static double s[N + 1], x[3 * (N + 1)];
  (void)state;
  for (size_t k = 0; k < sizeof to / sizeof *to; k++)
    for (size_t j = 0; j < sizeof more / sizeof *more; j++) {
      const double D = sqrt(to[k][0] * to[k][0] + to[k][1] * to[k][1] + to[k][2] * to[k][2]);
      const double length = (D > 0 ? D : 1) * more[j];
      double sum = 0, lowest = 0;
      for (int i = 0; i <= N; i++) s[i] = length * i / N;
      ga__cable_hang(zero, to[k], down, s, N, x);
      for (int i = 0; i < 3; i++) assert_near(x[3 * N + i], to[k][i], 0, "end");
      for (int i = 0; i < N; i++) {
        double d2 = 0;
        for (int c = 0; c < 3; c++)
          d2 += (x[3 * i + 3 + c] - x[3 * i + c]) * (x[3 * i + 3 + c] - x[3 * i + c]);
        sum += sqrt(d2);
        lowest = fmin(lowest, x[3 * i + 2]);
      }
      assert_near(sum / length, 1, 1e-3, "length along the curve"); /* a fold within one piece */
      assert_true(more[j] < 1.4 || lowest < -0.2 * (length - D));
    }
}

/* ---- Small motions ---- */

static double frequency(shop *s, const ga_state *at, int i)
{
  const ga_point p = {at->t, at->q, at->v, at->vdot, at->lambda, at->psi, at->x, at->y, 0, NULL};
  ga_modes_opts o = ga_modes_defaults();
  ga_modes *modes = NULL;
  o.n = i + 1;
  assert_status(s->ctx, ga_modes_create(s->ctx, ga_machine_system(s->m), &o, &p, &modes), GA_OK);
  const double im = ga_modes_at(modes, i)->im;
  ga_modes_destroy(&modes);
  return im;
}

/* ω = n π √(T/m)/l, of a string under tension, with order 4. */
static void taut_string_has_its_frequencies(void **state)
{
  double error[2][3];
  (void)state;
  for (int level = 0; level < 2; level++) {
    shop s = shop_open(GA_FORM_SPACE, 0);
    ga_cable_def d = rope(1, 0, 0.99, 12 << level);
    SHOP_ADD(&s, cable, &d);
    pin(&s, "left", "rope", 0, 0);
    pin(&s, "right", "rope.end", 1, 0);
    const ga_state *now = shop_start(&s);
    const double T = 2000 * 0.01 / 0.99, m = 1.5 * 0.99;
    assert_near(shop_signal(&s, now, "rope.tension"), T, 1e-10, "tension");
    for (int n = 1; n <= 3; n++)
      error[level][n - 1] = fabs(frequency(&s, now, 2 * n - 2) / (n * 3.14159265358979324 * sqrt(T / m)) - 1);
    shop_close(&s);
  }
  for (int i = 0; i < 3; i++) assert_near(log2(error[0][i] / error[1][i]), 4, 0.1, "order");
  assert_true(error[1][2] < 1e-4);
}

/* ω = j₀ₙ/2 √(g/l) of a rope that hangs by one end, j₀ₙ the zeros of Bessel's J₀. */
static void a_hanging_rope_swings(void **state)
{
  static const double zero[3] = {2.404825557695773, 5.520078110286311, 8.653727912911012};
  double error[2][3];
  (void)state;
  for (int level = 0; level < 2; level++) {
    shop s = shop_open(GA_FORM_SPACE, -G);
    ga_cable_def d = rope(0, -1, NAN, 20 << level);
    d.stiffness = 1e7;
    SHOP_ADD(&s, cable, &d);
    pin(&s, "top", "rope", 0, 0);
    ga_equilibrium *eq = rest(&s);
    for (int n = 0; n < 3; n++)
      error[level][n] = fabs(frequency(&s, ga_equilibrium_state(eq), 2 * n) / (zero[n] / 2 * sqrt(G)) - 1);
    ga_equilibrium_destroy(&eq);
    shop_close(&s);
  }
  for (int i = 0; i < 3; i++) assert_near(log2(error[0][i] / error[1][i]), 2, 0.2, "order");
  assert_true(error[1][0] < 1e-4 && error[1][2] < 4e-3);
}

/* ---- Slack and taut ---- */

/* A weight falls into a rope of one element without mass to speak of: free fall, then half of an
 * oscillation, then flight again. Upwards it passes the length of the rope as fast as it came. */
static void a_weight_bounces_in_a_rope(void **state)
{
  enum { LEVELS = 3 };
  double value[LEVELS][3];
  (void)state;
  const double k = 2000, m = 2, fall = 0.3, v0 = sqrt(2 * G * fall), omega = sqrt(k / m);
  const double t_fall = sqrt(2 * fall / G); /* then ẍ = g − ω² x, x(0) = 0, ẋ(0) = v₀, until x = 0 */
  const double t_taut = 2 * (3.14159265358979324 - atan2(v0 * omega, G)) / omega;
  const double t_end = t_fall + t_taut + 0.1;
  const double height = -1 + v0 * 0.1 - 0.5 * G * 0.01;
  for (int level = 0; level < LEVELS; level++) {
    shop s = shop_open(GA_FORM_SPACE, -G);
    ga_cable_def d = rope(0, -0.7, 1, 1);
    d.stiffness = k, d.mass_per_length = 1e-12;
    SHOP_ADD(&s, cable, &d);
    ga_point_def p = ga_point_defaults();
    p.name = "weight", p.mass = m, p.position[2] = -0.7;
    SHOP_ADD(&s, point, &p);
    pin(&s, "top", "rope", 0, 0);
    ga_joint_def j = ga_joint_defaults();
    j.name = "knot", j.kind = GA_JOINT_SPHERICAL, j.a = "rope.end", j.b = "weight";
    SHOP_ADD(&s, joint, &j);
    shop_build(&s);
    ga_stepper_opts opts = ga_stepper_defaults();
    ga_simulate_opts o = ga_simulate_defaults();
    ga_simulator *sim = NULL;
    double q[RIG_MOST], v[RIG_MOST];
    o.t_end = t_end;
    o.atol = o.rtol = o.atol_v = o.rtol_v = 1e-3 * pow(0.125, level);
    assert_status(s.ctx, ga_machine_initial(s.m, q, v, NULL), GA_OK);
    assert_status(s.ctx, ga_stepper_create(s.ctx, ga_machine_system(s.m), &opts, &s.st), GA_OK);
    assert_status(s.ctx, ga_simulator_create(s.ctx, s.st, &o, &sim), GA_OK);
    assert_status(s.ctx, ga_simulator_start(sim, NULL, 0, q, v, NULL, NULL, NULL, NULL), GA_OK);
    assert_status(s.ctx, ga_simulator_run(sim), GA_OK);
    const ga_state *now = ga_stepper_state(s.st);
    value[level][0] = fabs(shop_signal(&s, now, "weight.z") - height);
    value[level][1] = fabs(shop_signal(&s, now, "weight.vz") - (v0 - G * 0.1));
    value[level][2] = shop_signal(&s, now, "rope.end.tension");
    assert_near(value[level][2], 0, 1e-6, "slack");
    ga_simulator_destroy(&sim);
    shop_close(&s);
  }
  for (int i = 0; i < 2; i++) {
    assert_true(value[0][i] < 0.05);
    assert_true(value[LEVELS - 1][i] < value[0][i] / 6); /* errors fall with tolerances */
    assert_true(value[LEVELS - 1][i] < 1e-3);
  }
}

/* A rope that swings from the horizontal, with damping: order 2 in equal steps, energy balance. */
static void a_swinging_rope_has_order_two(void **state)
{
  static const char *const signal[] = {"rope.end.x", "rope.end.vz", "top.fz", "rope.tension",
                                       "energy.balance"};
  enum { N = sizeof signal / sizeof *signal, LEVELS = 4 };
  double value[LEVELS][N];
  (void)state;
  for (int level = 0; level < LEVELS; level++) {
    const int steps = (rig_brief() ? 5 : 200) << level;
    shop s = shop_open(GA_FORM_SPACE, -G);
    ga_meter *meter = NULL;
    ga_cable_def d = rope(1, 0, NAN, 6);
    d.stiffness = 200, d.mass_per_length = 0.5, d.damping = 0.01;
    SHOP_ADD(&s, cable, &d);
    pin(&s, "top", "rope", 0, 0);
    shop_start(&s);
    assert_status(s.ctx, ga_meter_create(s.ctx, s.m, &meter), GA_OK);
    assert_status(s.ctx, ga_meter_start(meter, ga_stepper_state(s.st)), GA_OK);
    for (int i = 0; i < steps; i++) {
      assert_status(s.ctx, ga_stepper_step(s.st, (rig_brief() ? 5e-3 : 0.4) / steps), GA_OK);
      assert_status(s.ctx, ga_meter_update(meter, ga_stepper_state(s.st)), GA_OK);
    }
    for (int i = 0; i < N; i++) {
      const int index = ga_machine_find_signal(s.m, signal[i]);
      assert_true(index >= 0);
      assert_status(
          s.ctx, ga_machine_signals(s.m, meter, ga_stepper_state(s.st), 1, &index, &value[level][i]), GA_OK);
    }
    ga_meter_destroy(&meter);
    shop_close(&s);
  }
  for (int i = 0; i < N && !rig_brief(); i++)
    assert_near(log2(fabs((value[1][i] - value[2][i]) / (value[2][i] - value[3][i]))), 2, 0.3, signal[i]);
  assert_true(fabs(value[LEVELS - 1][4]) < (rig_brief() ? 1e-2 : 1e-4));
}

/* Nothing that damping does adds energy, and it never pushes. */
static void damping_takes_energy(void **state)
{
  (void)state;
  for (int round = 0; round < 200; round++) {
    rig_random random = rig_seed(round);
    shop s = shop_open(GA_FORM_SPACE, 0);
    ga_cable_def d = rope(1, 0, 1, 1);
    d.damping = 0.5;
    SHOP_ADD(&s, cable, &d);
    shop_build(&s);
    rig_spot spot;
    shop_spot(&spot, &s, &random, 0.4);
    memset(spot.vdot, 0, 6 * sizeof *spot.vdot);
    ga__powers power;
    const ga__eval e = ga__eval_at(ga__workspace_own(s.m), &spot.p, 1, 1);
    memset(&power, 0, sizeof power);
    assert_int_equal(ga__elements_powers(&e, &power), 0);
    assert_true(power.lost >= 0);
    double f[6] = {0};
    assert_int_equal(ga__elements_force(&e, f), 0);
    double along = 0;
    for (int i = 0; i < 3; i++) along += f[i] * (spot.q[3 + i] - spot.q[i]);
    assert_true(along >= 0);
    shop_close(&s);
  }
}

/* ---- What is refused ---- */

typedef void (*spoil_fn)(ga_cable_def *d);
#define SPOIL(name, ...)                                                                                     \
  static void name(ga_cable_def *d)                                                                          \
  {                                                                                                          \
    __VA_ARGS__;                                                                                             \
  }
SPOIL(no_from, d->from[1] = NAN)
SPOIL(no_to, d->to[0] = d->to[1] = d->to[2] = NAN)
SPOIL(same_ends, for (int i = 0; i < 3; i++) d->to[i] = d->from[i]; d->length = NAN)
SPOIL(no_length, d->length = 0)
SPOIL(negative_length, d->length = -1)
SPOIL(infinite_length, d->length = INFINITY)
SPOIL(no_elements, d->elements = 0)
SPOIL(no_stiffness, d->stiffness = 0)
SPOIL(negative_stiffness, d->stiffness = -1)
SPOIL(no_mass, d->mass_per_length = 0)
SPOIL(negative_damping, d->damping = -1)
SPOIL(half_round, d->stiffness = d->mass_per_length = 0; d->diameter = 0.01; d->young = 1e9)
SPOIL(two_sections, d->diameter = 0.01; d->young = 1e9; d->density = 1000)
SPOIL(nan_load, d->load[2].value = NAN)

static void bad_cables_are_refused(void **state)
{
  static const struct {
    spoil_fn spoil;
    const char *field;
  } bad[] = {{no_from, "from"},
             {no_to, "to"},
             {same_ends, "to"},
             {no_length, "length"},
             {negative_length, "length"},
             {infinite_length, "length"},
             {no_elements, "elements"},
             {no_stiffness, "stiffness"},
             {negative_stiffness, "stiffness"},
             {no_mass, "mass_per_length"},
             {negative_damping, "damping"},
             {half_round, "density"},
             {two_sections, "stiffness"},
             {nan_load, "load"}};
  (void)state;
  shop s = shop_open(GA_FORM_SPACE, 0);
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    ga_cable_def d = rope(1, 0, 1, 2);
    bad[i].spoil(&d);
    assert_status(s.ctx, ga_machine_add_cable(s.m, &d), GA_ERR_ARGUMENT);
    assert_string_equal(ga_context_error(s.ctx)->field, bad[i].field);
    assert_string_equal(ga_context_error(s.ctx)->part, "rope");
    assert_int_equal(s.m->n_parts, 1);
  }
  shop_close(&s);
}

static void markers_are_on_it(void **state)
{
  static const struct {
    double at[3];
    ga_reason reason;
  } bad[] = {{{1.5, 0, 0}, GA_REASON_OFF_BEAM},
             {{-0.1, 0, 0}, GA_REASON_OFF_BEAM},
             {{0.5, 0.1, 0}, GA_REASON_OFF_CABLE}};
  const ga_cable_def d = rope(1, 0, 1.2, 4);
  (void)state;
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    shop s = shop_open(GA_FORM_SPACE, 0);
    SHOP_ADD(&s, cable, &d);
    shop_turned(&s, "odd", "rope", bad[i].at[0], bad[i].at[1], bad[i].at[2], 0, 0);
    assert_status(s.ctx, ga_machine_build(s.m), GA_ERR_ARGUMENT);
    assert_int_equal(ga_context_error(s.ctx)->reason, bad[i].reason);
    assert_string_equal(ga_context_error(s.ctx)->part, "odd");
    shop_close(&s);
  }
}

static shop loaded_rope(void)
{
  shop s = shop_open(GA_FORM_SE3, -G);
  ga_cable_def d = rope(1, 0, 1.2, 3);
  ga_line_load_def load = ga_line_load_defaults();
  load.name = "wind", load.body = "rope", load.to = 0.5;
  load.load[1].expression = "rope.end.y";
  d.load[1].expression = "rope.end.y";
  SHOP_ADD(&s, cable, &d);
  SHOP_ADD(&s, line_load, &load);
  pin(&s, "left", "rope", 0, 0);
  return s;
}

static void memory_may_fail(void **state)
{
  (void)state;
  shop_fail_memory(loaded_rope);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(derivatives_are_right),
      cmocka_unit_test(it_hangs_as_the_elastic_catenary),
      cmocka_unit_test(slack_cables_start_as_they_hang),
      cmocka_unit_test(taut_string_has_its_frequencies),
      cmocka_unit_test(a_hanging_rope_swings),
      cmocka_unit_test(a_weight_bounces_in_a_rope),
      cmocka_unit_test(a_swinging_rope_has_order_two),
      cmocka_unit_test(damping_takes_energy),
      cmocka_unit_test(bad_cables_are_refused),
      cmocka_unit_test(markers_are_on_it),
      cmocka_unit_test(memory_may_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
