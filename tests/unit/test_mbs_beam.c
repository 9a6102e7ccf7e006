/* Beams: derivatives of all they do in every form, rigid motion, statics against closed forms, energy, what
 * they refuse. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "lie/mat3.h"
#include "mbs/beam.h"
#include "mbs/meter.h"
#include "mbs_shop.h"
#include <stdlib.h>

/* A section without any symmetry: full 6×6 stiffness, the centre of mass off the axis. */
static ga_beam_def odd_beam(const char *name, int elements, ga_beam_kind formulation, rig_random *random)
{
  static const double diagonal[6] = {40, 25, 30, 6, 9, 7}, inertia[6] = {0.3, 0.2, 0.25, 0.02, -0.03, 0.01};
  ga_beam_def d = ga_beam_defaults();
  d.name = name;
  d.length = 1.3;
  d.elements = elements;
  d.formulation = formulation;
  for (int i = 0; i < 6; i++) {
    d.stiffness[7 * i] = diagonal[i];
    for (int j = 0; j < i; j++)
      d.stiffness[6 * i + j] = d.stiffness[6 * j + i] = rig_uniform(random, -1.2, 1.2);
  }
  d.mass_per_length = 1.7;
  memcpy(d.rotary_inertia, inertia, sizeof inertia);
  return d;
}

static void derivatives_are_right(void **state)
{
  (void)state;
  for (int form = 0; form < 3; form++)
    for (int variant = 0; variant < 8; variant++) {
      rig_random random = rig_seed(10 * form + variant);
      shop s = shop_open((ga_form)form, -9.81);
      ga_beam_def d = odd_beam(
          "beam", 2, variant == 1 || variant == 3 ? GA_BEAM_CONSTANT_STRAIN : GA_BEAM_ACCURATE, &random);
      d.damping = variant > 1 ? 0.2 : 0;
      if (variant > 5) /* sections with the inertia of thick beams */
        d.rotary_inertia[3] = d.rotary_inertia[4] = 0;
      else if (variant > 0)
        d.centre[0] = 0.1, d.centre[1] = -0.2;
      if (variant > 2) d.curvature[0] = 0.5, d.curvature[1] = -0.8, d.curvature[2] = 1.1;
      if (variant > 3) {
        d.axes = variant % 2 ? GA_AXES_BODY : GA_AXES_GROUND;
        d.load[0].value = 2, d.load[1].expression = "3*sin(t)+beam.end.y", d.load[2].value = -1;
        d.moment[0].value = 0.3, d.moment[2].expression = "0.4+beam.end.wx";
      }
      SHOP_ADD(&s, beam, &d);
      shop_build(&s);
      shop_check(&s, &random, rig_brief() ? 1 : 4, 0.3, 1e-6, SHOP_FORM[form]);
      shop_close(&s);
    }
}

/* ---- Forces within ---- */

static void turn_about(double R[9], const double axis[3], double angle)
{
  const double size = sqrt(axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2]);
  const double unit[3] = {axis[0] / size, axis[1] / size, axis[2] / size};
  double x[3];
  ga__beam_reference(unit, angle, x, R);
}

/* Node poses of one element: a random place, turned about a random axis by any angle. */
static void random_pose(ga__kin *k, rig_random *random, double reach, double turn)
{
  double axis[3];
  for (int i = 0; i < 3; i++) {
    k->x[i] = rig_uniform(random, -reach, reach);
    axis[i] = rig_uniform(random, 0.2, 1.0);
  }
  turn_about(k->R, axis, rig_uniform(random, -turn, turn));
}

/* y = G x of a pose. */
static void carry(ga__kin *to, const ga__kin *g, const ga__kin *k)
{
  for (int i = 0; i < 3; i++) {
    to->x[i] = g->x[i];
    for (int j = 0; j < 3; j++) {
      to->x[i] += g->R[3 * i + j] * k->x[j];
      to->R[3 * i + j] = 0;
      for (int m = 0; m < 3; m++) to->R[3 * i + j] += g->R[3 * i + m] * k->R[3 * m + j];
    }
  }
}

/* Whatever rigid motion carries an element, its strain and the forces in its axes are the same; forces and
 * moments within are in equilibrium. */
static void rigid_motion_strains_nothing(void **state)
{
  (void)state;
  for (int round = 0; round < 50; round++) {
    rig_random random = rig_seed(round);
    const ga_beam_def d =
        odd_beam("beam", 1, round % 2 ? GA_BEAM_CONSTANT_STRAIN : GA_BEAM_ACCURATE, &random);
    ga__beam_section section;
    assert_int_equal(ga__beam_section_make(&d, &section).reason, GA_REASON_NONE);
    const ga__beam_element e = {.section = &section, .L = 1.3, .d0 = {1.3, 0, 0, 0.2, -0.3, 0.4}};
    ga__kin node[2], moved[2], g;
    ga__beam_strain s, t;
    double n[6], gradient[6], w[12] = {0}, sum[6] = {0}, moment[3];
    random_pose(&node[0], &random, 1, 3);
    random_pose(&g, &random, 100, 1000);
    ga__beam_reference((const double[3]){0.5, -0.8, 0.6}, 1.1, moved[0].x, moved[0].R);
    carry(&node[1], &node[0], &moved[0]);
    for (int k = 0; k < 2; k++) carry(&moved[k], &g, &node[k]);
    assert_int_equal(ga__beam_strain_at(&s, &e, &node[0], &node[1]), 0);
    assert_int_equal(ga__beam_strain_at(&t, &e, &moved[0], &moved[1]), 0);
    for (int i = 0; i < 6; i++) assert_near(t.d[i], s.d[i], 2e-13, "strain after rigid motion");
    const double reference[6] = {1.1, 0, 0, 0.55, -0.88, 0.66}; /* what the pose was made of */
    for (int i = 0; i < 6; i++) assert_near(s.d[i], reference[i], 1e-14, "logarithm");
    ga__beam_force_within(&s, &e, n);
    ga__beam_gradient(&s, &e, n, gradient);
    ga__beam_add_wrench(&s, gradient, w);
    for (int k = 0; k < 2; k++)
      for (int i = 0; i < 3; i++) {
        const double *x = node[k].x, *f = w + 6 * k;
        moment[i] = x[(i + 1) % 3] * f[(i + 2) % 3] - x[(i + 2) % 3] * f[(i + 1) % 3];
        sum[i] += f[i];
        sum[3 + i] += f[3 + i] + moment[i];
      }
    for (int i = 0; i < 6; i++) assert_near(sum[i], 0, 2e-13, "equilibrium");
  }
}

/* ---- Forces as iterates ---- */

/* |(d − d₀)/L − S n| relative to the force: as a force, S⁻¹ of it. */
static double left_over(const ga__beam_strain *s, const ga__beam_element *e, const double n[6])
{
  double exact[6], most = 0;
  ga__beam_force_within(s, e, exact);
  for (int i = 0; i < 6; i++) most = fmax(most, fabs(n[i] - exact[i]));
  return most;
}

/* With forces as iterates: the gradient is right to second order of what they are off by, and after a step
 * along with a move of the ends they are off to second order of both. */
static void mixed_iteration_has_order_two(void **state)
{
  (void)state;
  for (int round = 0; round < 20; round++) {
    rig_random random = rig_seed(round);
    const ga_beam_def d =
        odd_beam("beam", 1, round % 2 ? GA_BEAM_CONSTANT_STRAIN : GA_BEAM_ACCURATE, &random);
    ga__beam_section section;
    assert_int_equal(ga__beam_section_make(&d, &section).reason, GA_REASON_NONE);
    const ga__beam_element e = {.section = &section, .L = 1.3, .d0 = {1.3, 0, 0, 0.2, -0.3, 0.4}};
    double error[2][2], other[6], twist[12];
    ga__kin node[2], moved;
    ga__beam_strain s;
    for (int i = 0; i < 12; i++) twist[i] = rig_uniform(&random, -1, 1);
    for (int i = 0; i < 6; i++) other[i] = rig_uniform(&random, -5, 5);
    random_pose(&node[0], &random, 1, 3);
    ga__beam_reference((const double[3]){0.5, -0.8, 0.6}, 1.1, moved.x, moved.R);
    carry(&node[1], &node[0], &moved);
    assert_int_equal(ga__beam_strain_at(&s, &e, &node[0], &node[1]), 0);
    for (int level = 0; level < 2; level++) {
      const double size = level ? 5e-4 : 1e-3;
      double n[6], exact[6], g[6], mixed[6], moves[12], dd[6], dn[6];
      ga__beam_force_within(&s, &e, exact);
      ga__beam_gradient(&s, &e, exact, g);
      ga__beam_mixed_gradient(&s, &e, exact, mixed);
      for (int i = 0; i < 6; i++) assert_near(mixed[i], g[i], 1e-12, "with the force of the strain");
      for (int i = 0; i < 6; i++) n[i] = exact[i] + size * other[i];
      ga__beam_mixed_gradient(&s, &e, n, mixed);
      error[level][0] = 0;
      for (int i = 0; i < 6; i++) error[level][0] = fmax(error[level][0], fabs(mixed[i] - g[i]));
      for (int i = 0; i < 12; i++) moves[i] = size * twist[i];
      ga__beam_rate(&s, moves, dd);
      ga__beam_mixed_step(&s, &e, n, dd, dn);
      ga__kin after[2] = {node[0], node[1]};
      for (int k = 0; k < 2; k++) { /* x + δx, exp(δφ) R */
        double turn[9];
        const double *phi = moves + 6 * k + 3;
        turn_about(turn, phi, sqrt(phi[0] * phi[0] + phi[1] * phi[1] + phi[2] * phi[2]));
        for (int i = 0; i < 3; i++) after[k].x[i] += moves[6 * k + i];
        ga__mat3_mul(after[k].R, turn, node[k].R);
      }
      ga__beam_strain t;
      assert_int_equal(ga__beam_strain_at(&t, &e, &after[0], &after[1]), 0);
      for (int i = 0; i < 6; i++) n[i] += dn[i];
      error[level][1] = left_over(&t, &e, n);
    }
    if (round % 2 == 0) assert_near(log2(error[0][0] / error[1][0]), 2, 0.1, "order of the gradient");
    if (round % 2) assert_near(error[0][0], 0, 1e-12, "a linear gradient");
    assert_near(log2(error[0][1] / error[1][1]), 2, 0.1, "order of the step");
  }
}

/* ---- Sections ---- */

#define PI 3.14159265358979323846

static ga__beam_section shape_section(ga_section_kind kind, double a, double b, double c, double d)
{
  ga__beam_section s;
  ga_beam_def def = ga_beam_defaults();
  def.length = 1;
  def.section = kind;
  if (kind == GA_SECTION_RECTANGLE || kind == GA_SECTION_I)
    def.width = a, def.height = b;
  else
    def.diameter = a, def.wall = b;
  def.web = c, def.flange = d;
  def.young = 2.6, def.poisson = 0.3, def.density = 3; /* G = 1 */
  assert_int_equal(ga__beam_section_make(&def, &s).reason, GA_REASON_NONE);
  return s;
}

static void sections_are_right(void **state)
{
  (void)state;
  ga__beam_section s = shape_section(GA_SECTION_RECTANGLE, 2, 2, 0, 0);
  assert_near(s.K[0], 2.6 * 4, 1e-14, "EA");
  assert_near(s.K[21], 0.1405770149 * 16, 1e-9,
              "torsion of a square"); /* Timoshenko and Goodier: 0.1406 a⁴ */
  assert_near(s.K[28], 2.6 * 16 / 12.0, 1e-14, "EIy");
  assert_near(s.mass, 12, 1e-14, "mass");
  assert_near(s.J[0], 3 * 32 / 12.0, 1e-14, "Jx");
  s = shape_section(GA_SECTION_RECTANGLE, 0.01, 1, 0, 0);
  assert_near(s.K[21], 1e-6 / 3 * (1 - 0.63025 * 0.01), 1e-11, "torsion of a strip");
  assert_near(s.K[28] / s.K[35], 1e4, 1e-8, "EIy / EIz");
  s = shape_section(GA_SECTION_CIRCLE, 2, 0, 0, 0);
  assert_near(s.K[21], 0.5 * PI, 1e-14, "torsion of a circle");
  assert_near(s.K[7] / s.K[0] * 2.6, 6 * 1.3 / (7 + 6 * 0.3), 1e-14, "shear factor of a circle");
  s = shape_section(GA_SECTION_TUBE, 2, 0.001, 0, 0);
  assert_near(s.K[7] / s.K[0] * 2.6, 2 * 1.3 / (4 + 3 * 0.3), 1e-5, "shear factor of a thin tube");
  assert_near(s.K[28], 2.6 * PI / 4 * (1 - pow(0.999, 4)), 1e-14, "EI of a thin tube");
  s = shape_section(GA_SECTION_I, 0.1, 0.2, 0.006, 0.01);
  assert_near(s.K[0] / 2.6, 2 * 0.1 * 0.01 + 0.18 * 0.006, 1e-15, "A of an I section");
  assert_near(s.K[28] / 2.6, 2 * (0.1 * 1e-6 / 12 + 0.001 * 0.095 * 0.095) + 0.006 * 0.18 * 0.18 * 0.18 / 12,
              1e-15, "Iy of an I section");
}

/* ---- Motion ---- */

/* A soft bar on a hinge about y, 8 elements, that falls from the horizontal; turned as a whole by R. */
static shop falling(const double R[9], const double gravity[3], double damping)
{
  shop s = {NULL, NULL, NULL};
  ga_machine_opts o = ga_machine_defaults();
  memcpy(o.gravity, gravity, sizeof o.gravity);
  rig_memory = (rig_heap){0, 0, 0, 0};
  assert_int_equal(rig_context(&s.ctx), GA_OK);
  assert_status(s.ctx, ga_machine_create(s.ctx, &o, &s.m), GA_OK);
  ga_beam_def d = ga_beam_defaults();
  d.name = "bar";
  d.length = 1;
  d.elements = 8;
  d.section = GA_SECTION_RECTANGLE;
  d.width = 0.03, d.height = 0.02;
  d.young = 5e6, d.poisson = 0.4, d.density = 1100;
  d.damping = damping;
  memcpy(d.pose.rotation, R, sizeof d.pose.rotation);
  d.omega[0] = 0.5 * R[0], d.omega[1] = 0.5 * R[3], d.omega[2] = 0.5 * R[6]; /* it turns about its axis */
  SHOP_ADD(&s, beam, &d);
  ga_joint_def j = ga_joint_defaults();
  j.name = "ball";
  j.kind = GA_JOINT_SPHERICAL;
  j.a = "ground", j.b = "bar";
  SHOP_ADD(&s, joint, &j);
  return s;
}

static const double ONE[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, DOWN[3] = {0, 0, -9.81};

static double *started_numbers(shop *s)
{
  const ga_system *sys = ga_machine_system(s->m);
  double *all = calloc((size_t)(sys->nq + sys->n + 1), sizeof *all);
  assert_non_null(all);
  return all;
}

static void start(shop *s)
{
  const ga_stepper_opts opts = ga_stepper_defaults();
  ga_start_opts o = ga_start_defaults();
  o.h = 1e-3;
  shop_build(s);
  double *q = started_numbers(s), *v = started_numbers(s);
  assert_status(s->ctx, ga_machine_initial(s->m, q, v, NULL), GA_OK);
  assert_status(s->ctx, ga_stepper_create(s->ctx, ga_machine_system(s->m), &opts, &s->st), GA_OK);
  assert_status(s->ctx, ga_stepper_start(s->st, &o, 0, q, v, NULL, NULL, NULL, NULL), GA_OK);
  free(q);
  free(v);
}

/* The same machine turned as a whole moves the same, turned. */
static void results_turn_with_the_machine(void **state)
{
  static const char *const axis[3] = {"bar.end.x", "bar.end.y", "bar.end.z"};
  double R[9], g[3], x[2][3], within[2];
  (void)state;
  turn_about(R, (const double[3]){0.3, -0.5, 0.8}, 1000);
  for (int i = 0; i < 3; i++) g[i] = -9.81 * R[3 * i + 2];
  for (int k = 0; k < 2; k++) {
    shop s = k ? falling(R, g, 0.01) : falling(ONE, DOWN, 0.01);
    start(&s);
    const int steps = rig_brief() ? 20 : 200;
    for (int i = 0; i < steps; i++) assert_status(s.ctx, ga_stepper_step(s.st, 2e-3), GA_OK);
    for (int i = 0; i < 3; i++) x[k][i] = shop_signal(&s, ga_stepper_state(s.st), axis[i]);
    within[k] = shop_signal(&s, ga_stepper_state(s.st), "bar.end.bend_y") +
                shop_signal(&s, ga_stepper_state(s.st), "bar.strain_energy");
    shop_close(&s);
  }
  assert_true(x[0][2] < (rig_brief() ? -0.001 : -0.5));
  for (int i = 0; i < 3; i++)
    assert_near(x[1][i], R[3 * i] * x[0][0] + R[3 * i + 1] * x[0][1] + R[3 * i + 2] * x[0][2], 1e-10,
                "a turned machine");
  assert_near(within[1], within[0], 1e-10, "within");
}

/* Order 2 in positions, velocities, reactions and forces within, and of the energy balance with damping. */
static void motion_has_order_two(void **state)
{
  static const char *const signal[] = {"bar.end.x",  "bar.end.vz",     "ball.fz",
                                       "bar.end.wy", "energy.balance", "bar.force_x"};
  enum { N = sizeof signal / sizeof *signal, LEVELS = 4 };
  double value[LEVELS][N];
  (void)state;
  for (int level = 0; level < LEVELS; level++) {
    const int steps = (rig_brief() ? 5 : 400) << level; /* brief: no order is asked for */
    shop s = falling(ONE, DOWN, 0.02);
    ga_meter *meter = NULL;
    start(&s);
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
  for (int i = 0; i < N && !rig_brief(); i++) {
    const double rough = fabs(value[LEVELS - 3][i] - value[LEVELS - 2][i]),
                 fine = fabs(value[LEVELS - 2][i] - value[LEVELS - 1][i]);
    assert_near(log2(rough / fine), 2, 0.25, signal[i]);
  }
  assert_true(fabs(value[LEVELS - 1][4]) < (rig_brief() ? 1e-2 : 1e-5));
}

/* A slender cantilever that is let go, in equal steps that its waves cross thousands of elements in: it can
 * be started, says so, and falls as it would in smaller steps. */
static void stiff_beams_start(void **state)
{
  static const struct {
    int elements;
    double h, off; /* [s], [m] from the limit of short steps */
  } row[] = {{100, 5e-4, 1e-5}, {100, 1e-3, 1e-5}, {20, 5e-4, 2e-6}, {20, 2.5e-4, 5e-7}, {20, 1e-4, 1e-7}};
  (void)state;
  for (int k = rig_brief() ? 2 : 0; k < (rig_brief() ? 3 : 5); k++) {
    shop s = shop_open(GA_FORM_SPACE, -9.81);
    ga_beam_def d = ga_beam_defaults();
    d.name = "strip";
    d.length = 1;
    d.elements = row[k].elements;
    d.damping = 1e-4;
    d.section = GA_SECTION_RECTANGLE;
    d.width = 0.02, d.height = 0.005;
    d.young = 7e10, d.poisson = 0.33, d.density = 2700;
    SHOP_ADD(&s, beam, &d);
    ga_joint_def j = ga_joint_defaults();
    j.name = "wall";
    j.kind = GA_JOINT_FIXED;
    j.a = "ground", j.b = "strip";
    SHOP_ADD(&s, joint, &j);
    shop_build(&s);
    ga_stepper_opts opts = ga_stepper_defaults();
    ga_start_opts start_opts = ga_start_defaults();
    ga_simulate_opts o = ga_simulate_defaults();
    ga_simulator *sim = NULL;
    double *q = started_numbers(&s), *v = started_numbers(&s);
    o.t_end = 0.03;
    o.fixed_h = row[k].h;
    assert_status(s.ctx, ga_machine_initial(s.m, q, v, NULL), GA_OK);
    assert_status(s.ctx, ga_stepper_create(s.ctx, ga_machine_system(s.m), &opts, &s.st), GA_OK);
    assert_status(s.ctx, ga_simulator_create(s.ctx, s.st, &o, &sim), GA_OK);
    assert_status(s.ctx, ga_simulator_start(sim, &start_opts, 0, q, v, NULL, NULL, NULL, NULL), GA_OK);
    assert_status(s.ctx, ga_simulator_run(sim), GA_OK);
    assert_near(shop_signal(&s, ga_stepper_state(s.st), "strip.end.z"),
                row[k].elements == 20 ? -6.29971e-3 : -6.2925e-3, row[k].off, "falls as in short steps");
    ga_simulator_destroy(&sim);
    free(q);
    free(v);
    shop_close(&s);
  }
}

/* ---- What is refused ---- */

typedef void (*spoil_fn)(ga_beam_def *d);
/* A section of another kind, without the numbers. */
static void take_shape(ga_beam_def *d, ga_section_kind kind)
{
  d->section = kind;
  d->mass_per_length = 0;
  memset(d->stiffness, 0, sizeof d->stiffness);
  memset(d->rotary_inertia, 0, sizeof d->rotary_inertia);
}

static void take_ends(ga_beam_def *d)
{
  d->pose = ga_pose_identity();
  d->length = 0;
  memset(d->curvature, 0, sizeof d->curvature);
  for (int i = 0; i < 3; i++) d->from[i] = 0, d->to[i] = i + 1;
}

static void take_circle(ga_beam_def *d)
{
  take_shape(d, GA_SECTION_CIRCLE);
  d->diameter = d->young = d->density = 1;
}

#define SPOIL(name, ...)                                                                                     \
  static void name(ga_beam_def *d)                                                                           \
  {                                                                                                          \
    __VA_ARGS__;                                                                                             \
  }
SPOIL(no_length, d->length = 0)
SPOIL(infinite_length, d->length = INFINITY)
SPOIL(from_alone, take_ends(d); d->to[0] = NAN)
SPOIL(to_half, take_ends(d); d->to[1] = d->to[2] = NAN)
SPOIL(same_ends, take_ends(d); for (int i = 0; i < 3; i++) d->from[i] = d->to[i] = i)
SPOIL(up_along, take_ends(d); for (int i = 0; i < 3; i++) d->to[i] = d->up[i] = i)
SPOIL(bent_between, take_ends(d); d->curvature[1] = 1)
SPOIL(no_elements, d->elements = 0)
SPOIL(asymmetric, d->stiffness[1] += 1)
SPOIL(indefinite, d->stiffness[1] = d->stiffness[6] = 1e3)
SPOIL(negative_stiffness, d->stiffness[28] = -1)
SPOIL(no_stiffness, d->stiffness[14] = 0)
SPOIL(no_mass, d->mass_per_length = 0)
SPOIL(no_rotary, d->rotary_inertia[0] = 0)
SPOIL(negative_damping, d->damping = -1)
SPOIL(unknown_section, d->section = (ga_section_kind)9)
SPOIL(no_width, take_shape(d, GA_SECTION_RECTANGLE); d->young = d->density = 1)
SPOIL(thick_wall, take_circle(d); d->section = GA_SECTION_TUBE; d->wall = 0.6)
SPOIL(no_young, take_circle(d); d->young = 0)
SPOIL(odd_poisson, take_circle(d); d->poisson = 0.7)
SPOIL(no_density, take_circle(d); d->density = 0)
/* what would be without effect */
SPOIL(length_and_ends, take_ends(d); d->length = 1)
SPOIL(pose_and_ends, take_ends(d); d->pose.position[2] = 1)
SPOIL(up_at_pose, d->up[0] = d->up[1] = 0; d->up[2] = 1)
SPOIL(numbers_and_width, d->width = 1)
SPOIL(numbers_and_young, d->young = 1)
SPOIL(numbers_and_torsion, d->torsion_constant = 1)
SPOIL(circle_and_stiffness, take_circle(d); d->stiffness[0] = 1)
SPOIL(circle_and_mass, take_circle(d); d->mass_per_length = 1)
SPOIL(circle_and_height, take_circle(d); d->height = 1)
SPOIL(circle_and_wall, take_circle(d); d->wall = 0.1)
SPOIL(nan_load, d->load[1].value = NAN)

static void bad_beams_are_refused(void **state)
{
  static const struct {
    spoil_fn spoil;
    const char *field;
  } bad[] = {{no_length, "length"},
             {infinite_length, "length"},
             {from_alone, "to"},
             {to_half, "to"},
             {same_ends, "to"},
             {up_along, "up"},
             {bent_between, "curvature"},
             {no_elements, "elements"},
             {asymmetric, "stiffness"},
             {indefinite, "stiffness"},
             {negative_stiffness, "stiffness"},
             {no_stiffness, "stiffness"},
             {no_mass, "mass_per_length"},
             {no_rotary, "rotary_inertia"},
             {negative_damping, "damping"},
             {unknown_section, "section"},
             {no_width, "width"},
             {thick_wall, "wall"},
             {no_young, "young"},
             {odd_poisson, "poisson"},
             {no_density, "density"},
             {nan_load, "load"},
             {length_and_ends, "length"},
             {pose_and_ends, "pose"},
             {up_at_pose, "up"},
             {numbers_and_width, "width"},
             {numbers_and_young, "young"},
             {numbers_and_torsion, "torsion_constant"},
             {circle_and_stiffness, "stiffness"},
             {circle_and_mass, "mass_per_length"},
             {circle_and_height, "height"},
             {circle_and_wall, "wall"}};
  (void)state;
  shop s = shop_open(GA_FORM_SPACE, 0);
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    rig_random random = rig_seed((int)i);
    ga_beam_def d = odd_beam("beam", 2, GA_BEAM_ACCURATE, &random);
    bad[i].spoil(&d);
    assert_status(s.ctx, ga_machine_add_beam(s.m, &d), GA_ERR_ARGUMENT);
    assert_string_equal(ga_context_error(s.ctx)->field, bad[i].field);
    assert_string_equal(ga_context_error(s.ctx)->part, "beam");
    assert_int_equal(s.m->n_parts, 1);
  }
  shop_close(&s);
}

/* A marker of the name that its end would have: the beam is not there either. */
static void the_end_needs_a_name(void **state)
{
  rig_random random = rig_seed(0);
  const ga_beam_def d = odd_beam("beam", 2, GA_BEAM_ACCURATE, &random);
  (void)state;
  shop s = shop_open(GA_FORM_SPACE, 0);
  shop_marker(&s, "beam.end", "ground", 0, 0, 0);
  assert_status(s.ctx, ga_machine_add_beam(s.m, &d), GA_ERR_ARGUMENT);
  assert_int_equal(ga_context_error(s.ctx)->reason, GA_REASON_NAME_TAKEN);
  assert_int_equal(ga__find_part(s.m, "beam"), -1);
  assert_int_equal(s.m->n_parts, 2);
  shop_close(&s);
}

/* ---- Markers ---- */

static void nodes_are_where_markers_are(void **state)
{
  static const double at[] = {0.3, 0.3 + 1e-9, 1.29, 0.0, 1.3};
  static const char *const name[] = {"one", "same", "late", "first", "last"};
  rig_random random = rig_seed(0);
  ga_beam_def d = odd_beam("beam", 4, GA_BEAM_ACCURATE, &random);
  (void)state;
  d.curvature[2] = 0.8;
  shop s = shop_open(GA_FORM_SPACE, 0);
  SHOP_ADD(&s, beam, &d);
  for (int i = 0; i < 5; i++) shop_turned(&s, name[i], "beam", at[i], 0.1, 0, 0, 0);
  const ga_state *now = shop_start(&s);
  assert_int_equal(ga_machine_system(s.m)->nv, 6 * 6); /* 1 + 3 + 1 elements */
  for (int i = 0; i < 5; i++) {
    char signal[40];
    double x[3], R[9];
    ga__beam_reference(d.curvature, at[i], x, R);
    snprintf(signal, sizeof signal, "%s.x", name[i]);
    assert_near(shop_signal(&s, now, signal), x[0] + 0.1 * R[1], i == 1 ? 1e-10 : 1e-14, signal);
    snprintf(signal, sizeof signal, "%s.y", name[i]);
    assert_near(shop_signal(&s, now, signal), x[1] + 0.1 * R[4], i == 1 ? 1e-10 : 1e-14, signal);
  }
  shop_close(&s);
  s = shop_open(GA_FORM_SPACE, 0);
  SHOP_ADD(&s, beam, &d);
  shop_turned(&s, "beyond", "beam", 1.31, 0, 0, 0, 0);
  assert_status(s.ctx, ga_machine_build(s.m), GA_ERR_ARGUMENT);
  assert_int_equal(ga_context_error(s.ctx)->reason, GA_REASON_OFF_BEAM);
  assert_string_equal(ga_context_error(s.ctx)->part, "beyond");
  assert_near(ga_context_error(s.ctx)->number[0].value, 1.31, 1e-15, "where");
  shop_close(&s);
}

static shop loaded_beam(void)
{
  rig_random random = rig_seed(0);
  shop s = shop_open(GA_FORM_SE3, -9.81);
  ga_beam_def d = odd_beam("beam", 2, GA_BEAM_ACCURATE, &random);
  d.load[1].expression = "beam.end.y";
  SHOP_ADD(&s, beam, &d);
  return s;
}

static void memory_may_fail(void **state)
{
  (void)state;
  shop_fail_memory(loaded_beam);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(derivatives_are_right),
      cmocka_unit_test(rigid_motion_strains_nothing),
      cmocka_unit_test(mixed_iteration_has_order_two),
      cmocka_unit_test(sections_are_right),
      cmocka_unit_test(results_turn_with_the_machine),
      cmocka_unit_test(motion_has_order_two),
      cmocka_unit_test(stiff_beams_start),
      cmocka_unit_test(bad_beams_are_refused),
      cmocka_unit_test(the_end_needs_a_name),
      cmocka_unit_test(nodes_are_where_markers_are),
      cmocka_unit_test(memory_may_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
