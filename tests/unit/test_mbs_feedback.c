/* Section forces and strains of beams, tensions of cables and amplitudes of modal bodies, fed back:
 * derivatives, and closed forms. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "mbs_shop.h"
#include "modal_rig.h"

static ga_beam_def odd_beam(rig_random *random)
{
  static const double diagonal[6] = {40, 25, 30, 6, 9, 7}, inertia[6] = {0.3, 0.2, 0.25, 0.02, -0.03, 0.01};
  ga_beam_def d = ga_beam_defaults();
  d.name = "beam";
  d.length = 1.3;
  d.elements = 2;
  for (int i = 0; i < 6; i++) {
    d.stiffness[7 * i] = diagonal[i];
    for (int j = 0; j < i; j++)
      d.stiffness[6 * i + j] = d.stiffness[6 * j + i] = rig_uniform(random, -1.2, 1.2);
  }
  d.mass_per_length = 1.7;
  d.centre[0] = 0.1, d.centre[1] = -0.2;
  memcpy(d.rotary_inertia, inertia, sizeof inertia);
  return d;
}

/* A force on a box that is a sum of signals. */
static void add_use(shop *s, const char *name, const char *expression)
{
  ga_force_def f = ga_force_defaults();
  f.name = name, f.frame = "box";
  f.force[1].expression = expression;
  SHOP_ADD(s, force, &f);
}

static void derivatives_of_beams_are_right(void **state)
{
  static const char *const place[3] = {"beam", "middle", "beam.end"};
  static const char *const sum[3] = {"%s.force_x + 2*%s.force_y*%s.force_z + %s.strain_x",
                                     "%s.moment_x - 3*%s.moment_y + %s.moment_z*%s.bend_y",
                                     "%s.shear_y*%s.shear_z - %s.twist_x + %s.bend_z"};
  (void)state;
  for (int form = 0; form < 3; form++)
    for (int variant = 0; variant < 4; variant++) {
      rig_random random = rig_seed(10 * form + variant);
      shop s = shop_open((ga_form)form, -9.81);
      ga_beam_def d = odd_beam(&random);
      d.formulation = variant == 1 ? GA_BEAM_CONSTANT_STRAIN : GA_BEAM_ACCURATE;
      d.damping = variant > 1 ? 0.2 : 0;
      d.curvature[1] = variant > 2 ? 0.7 : 0;
      if (variant > 1) d.load[1].expression = "3*sin(t)+beam.end.y";
      SHOP_ADD(&s, beam, &d);
      if (variant > 2) {
        ga_line_load_def load = ga_line_load_defaults();
        load.name = "load", load.body = "beam";
        load.from = 0.2, load.to = 0.65;
        load.axes = GA_AXES_BODY;
        load.load[0].value = 1, load.load[2].expression = "1+beam.end.x",
        load.moment[1].expression = "t+beam.x";
        SHOP_ADD(&s, line_load, &load);
      }
      shop_turned(&s, "middle", "beam", 0.65, 0, 0, 0, 0);
      shop_rigid(&s, "box", 1, 0.2, 0.4);
      for (int i = 0; i < 9; i++) {
        char name[24], text[200];
        const char *p = place[i / 3];
        snprintf(name, sizeof name, "use%d", i);
        snprintf(text, sizeof text, sum[i % 3], p, p, p, p);
        add_use(&s, name, text);
      }
      add_use(&s, "energy_use", "beam.strain_energy*sin(t)");
      shop_build(&s);
      shop_check(&s, &random, rig_brief() ? 1 : 3, 0.3, 1e-6, SHOP_FORM[form]);
      shop_close(&s);
    }
}

static void derivatives_of_cables_are_right(void **state)
{
  (void)state;
  for (int form = 0; form < 3; form++)
    for (int variant = 0; variant < 3; variant++) {
      rig_random random = rig_seed(10 * form + variant);
      shop s = shop_open((ga_form)form, -9.81);
      ga_cable_def d = ga_cable_defaults();
      d.name = "rope";
      for (int i = 0; i < 3; i++) d.from[i] = 0, d.to[i] = 0.5 + 0.1 * i;
      d.length = variant == 0 ? 1.5 : 0.7;
      d.elements = 2;
      d.stiffness = 20, d.mass_per_length = 2;
      d.damping = variant > 1 ? 0.1 : 0;
      d.load[0].expression = "1+rope.y";
      SHOP_ADD(&s, cable, &d);
      shop_turned(&s, "middle", "rope", 0.35, 0, 0, 0, 0);
      shop_rigid(&s, "box", 1, 0.2, 0.4);
      add_use(&s, "one", "rope.tension + 2*rope.fx*rope.fy - rope.fz");
      add_use(&s, "two", "middle.tension*middle.fx - middle.fz + middle.fy");
      add_use(&s, "three", "rope.end.tension*2 + rope.end.fx*rope.end.fz - rope.end.fy");
      add_use(&s, "four", "rope.strain_energy*cos(t)");
      shop_build(&s);
      shop_check(&s, &random, 3, 0.2, 1e-6, SHOP_FORM[form]);
      shop_close(&s);
    }
}

/* A cage with a recovery matrix, and a beam with displacements of second order. */
static ga_modal_body *odd_body(ga_context *ctx, int of_beam)
{
  static const char *const name[2] = {"root", "tip"}, *const stress[1] = {"stress"};
  static const double at[2] = {0, 1.3};
  ga_reduction_opts o = ga_reduction_defaults();
  rig_random random = rig_seed(7);
  ga_modal_body *body = NULL;
  o.modes = 3;
  if (of_beam) {
    const ga_beam_def d = odd_beam(&random);
    assert_status(ctx, ga_modal_body_create_beam(ctx, &d, 2, at, name, &o, &body), GA_OK);
    return body;
  }
  test_mesh *t = mesh_cage(40);
  double row[21];
  for (int i = 0; i < 21; i++) row[i] = i % 4 - 1.3;
  mesh_close(ctx, t);
  t->mesh.n_recovered = 1, t->mesh.recovery = row, t->mesh.recovered_name = stress;
  assert_status(ctx, ga_modal_body_create(ctx, &t->mesh, &o, &body), GA_OK);
  mesh_free(ctx, &t);
  return body;
}

static void derivatives_of_modal_bodies_are_right(void **state)
{
  (void)state;
  for (int form = 0; form < 3; form++)
    for (int of_beam = 0; of_beam < 2; of_beam++) {
      ga_context *ctx;
      rig_random random = rig_seed(10 * form + of_beam);
      rig_memory = (rig_heap){0, 0, 0, 0};
      assert_int_equal(rig_context(&ctx), GA_OK);
      ga_modal_body *body = odd_body(ctx, of_beam);
      const rig_heap kept = rig_memory;
      shop s = shop_open((ga_form)form, -9.81);
      ga_modal_def d = ga_modal_defaults();
      d.name = "arm", d.body = body;
      SHOP_ADD(&s, modal, &d);
      shop_rigid(&s, "box", 1, 0.2, 0.4);
      add_use(&s, "one", "arm.amplitude1 + 2*arm.amplitude2*arm.amplitude5 - arm.strain_energy*sin(t)");
      add_use(&s, "two", "arm.tip.displacement_x*arm.tip.displacement_z - arm.root.rotation_y*3");
      add_use(&s, "three", of_beam ? "arm.tip.rotation_x + arm.tip.rotation_z^2" : "arm.stress*arm.tip.x");
      shop_build(&s);
      shop_check(&s, &random, rig_brief() ? 1 : 3, 0.2, 1e-6, SHOP_FORM[form]);
      shop_close(&s);
      rig_memory = kept;
      ga_modal_body_destroy(&body);
      ga_context_destroy(&ctx);
      assert_int_equal(rig_memory.live, 0);
    }
}

static double at_rest(shop *s, const char *signal)
{
  ga_equilibrium *eq = NULL;
  double q[12 * RIG_MOST], v[12 * RIG_MOST];
  shop_build(s);
  assert_status(s->ctx, ga_machine_initial(s->m, q, v, NULL), GA_OK);
  assert_status(s->ctx, ga_equilibrium_create(s->ctx, ga_machine_system(s->m), NULL, &eq), GA_OK);
  assert_status(s->ctx, ga_equilibrium_solve(eq, 0, q, NULL, NULL), GA_OK);
  const double value = shop_signal(s, ga_equilibrium_state(eq), signal);
  ga_equilibrium_destroy(&eq);
  return value;
}

/* A cantilever pulled up at its end by P = P₀ − k κ, κ = bend_y at the wall = −P l/EI: P = P₀/(1
 * − k l/EI). */
static void a_strain_gauge_relieves_a_beam(void **state)
{
  static const double diagonal[6] = {1e5, 1e5, 1e5, 20, 30, 30};
  (void)state;
  shop s = shop_open(GA_FORM_SPACE, 0);
  ga_beam_def d = ga_beam_defaults();
  d.name = "beam", d.length = 2, d.elements = 4;
  for (int i = 0; i < 6; i++) d.stiffness[7 * i] = diagonal[i];
  d.mass_per_length = 1;
  for (int i = 0; i < 3; i++) d.rotary_inertia[i] = 0.1;
  SHOP_ADD(&s, beam, &d);
  ga_joint_def j = ga_joint_defaults();
  j.name = "wall", j.kind = GA_JOINT_FIXED, j.a = "ground", j.b = "beam";
  SHOP_ADD(&s, joint, &j);
  ga_force_def f = ga_force_defaults();
  f.name = "pull", f.frame = "beam.end";
  f.force[2].expression = "1e-5 + 45*beam.bend_y";
  SHOP_ADD(&s, force, &f);
  assert_near(at_rest(&s, "beam.force_z") / (1e-5 / (1 + 45 * 2 / 30.0)), 1, 1e-7, "force with feedback");
  shop_close(&s);
}

/* A load on a vertical rope, lifted by half of what the rope holds at its top: T = (m + M) g − T/2. */
static void a_tension_is_fed_back(void **state)
{
  (void)state;
  shop s = shop_open(GA_FORM_SPACE, -9.81);
  ga_cable_def d = ga_cable_defaults();
  d.name = "rope";
  for (int i = 0; i < 3; i++) d.from[i] = 0, d.to[i] = i == 2 ? -2 : 0;
  d.elements = 5, d.stiffness = 1e4, d.mass_per_length = 0.7, d.length = 1.996; /* pulled a little */
  SHOP_ADD(&s, cable, &d);
  shop_point(&s, "load", 0, 0, -2);
  ga_joint_def j = ga_joint_defaults();
  j.name = "top", j.kind = GA_JOINT_SPHERICAL, j.a = "ground", j.b = "rope";
  SHOP_ADD(&s, joint, &j);
  j.name = "hook", j.a = "rope.end", j.b = "load";
  SHOP_ADD(&s, joint, &j);
  ga_force_def f = ga_force_defaults();
  f.name = "lift", f.frame = "load";
  f.force[2].expression = "0.5*rope.tension";
  SHOP_ADD(&s, force, &f);
  assert_near(at_rest(&s, "rope.tension"), (0.7 * 1.996 + 2) * 9.81 / 1.5, 1e-8, "tension with feedback");
  shop_close(&s);
}

static shop feeding(void)
{
  rig_random random = rig_seed(0);
  shop s = shop_open(GA_FORM_BODY, -9.81);
  const ga_beam_def d = odd_beam(&random);
  SHOP_ADD(&s, beam, &d);
  shop_rigid(&s, "box", 1, 0.2, 0.4);
  add_use(&s, "use", "beam.force_x + beam.end.bend_y + beam.strain_energy");
  return s;
}

static void memory_may_fail(void **state)
{
  (void)state;
  shop_fail_memory(feeding);
}

/* A cantilever pulled at its end by P = P₀ − k w, w its deflection there: w = P₀/(3 EI/l³ + k). */
static void a_modal_body_is_held_by_feedback(void **state)
{
  static const char *const name[2] = {"root", "tip"};
  static const double at[2] = {0, 2};
  const double EI = 3e4, l = 2, k = 5e3, P = 10;
  ga_context *ctx;
  ga_modal_body *body = NULL;
  ga_beam_def beam = ga_beam_defaults();
  (void)state;
  beam.name = "beam", beam.length = l, beam.elements = 8, beam.mass_per_length = 3;
  for (int i = 0; i < 6; i++) beam.stiffness[7 * i] = i < 3 ? 1e10 : EI;
  for (int i = 0; i < 3; i++) beam.rotary_inertia[i] = 1e-3;
  rig_memory = (rig_heap){0, 0, 0, 0};
  assert_int_equal(rig_context(&ctx), GA_OK);
  assert_status(ctx, ga_modal_body_create_beam(ctx, &beam, 2, at, name, NULL, &body), GA_OK);
  const rig_heap kept = rig_memory;
  shop s = shop_open(GA_FORM_SPACE, 0);
  ga_modal_def d = ga_modal_defaults();
  ga_joint_def j = ga_joint_defaults();
  ga_force_def f = ga_force_defaults();
  ga_sensor_def w = ga_sensor_defaults();
  d.name = "arm", d.body = body;
  SHOP_ADD(&s, modal, &d);
  j.name = "wall", j.kind = GA_JOINT_FIXED, j.a = "ground", j.b = "arm.root";
  SHOP_ADD(&s, joint, &j);
  f.name = "pull", f.frame = "arm.tip"; /* seen from the root: both move against the mean axes */
  f.force[2].expression =
      "10 - 5e3*(arm.tip.displacement_z - arm.root.displacement_z + 2*arm.root.rotation_y)";
  SHOP_ADD(&s, force, &f);
  w.name = "w", w.kind = GA_SENSOR_POSITION, w.of = "arm.tip";
  SHOP_ADD(&s, sensor, &w);
  assert_near(at_rest(&s, "w.z") / (P / (3 * EI / (l * l * l) + k)), 1, 1e-4, "deflection");
  shop_close(&s);
  rig_memory = kept;
  ga_modal_body_destroy(&body);
  ga_context_destroy(&ctx);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(derivatives_of_beams_are_right),
      cmocka_unit_test(derivatives_of_cables_are_right),
      cmocka_unit_test(derivatives_of_modal_bodies_are_right),
      cmocka_unit_test(a_modal_body_is_held_by_feedback),
      cmocka_unit_test(a_strain_gauge_relieves_a_beam),
      cmocka_unit_test(a_tension_is_fed_back),
      cmocka_unit_test(memory_may_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
