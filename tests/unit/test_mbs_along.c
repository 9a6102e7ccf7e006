/* Loads along a part of beams and cables: derivatives, closed forms, reactions, what is refused. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "mbs/along.h"
#include "mbs_shop.h"

static const double EI = 30, GA = 400, LENGTH = 1.2;

static void add_beam(shop *s, int elements, ga_beam_kind kind)
{
  static const double diagonal[6] = {1e4, GA, GA, 20, EI, EI}, inertia[6] = {0.3, 0.2, 0.25, 0, 0, 0};
  ga_beam_def d = ga_beam_defaults();
  d.name = "beam";
  d.length = LENGTH;
  d.elements = elements;
  d.formulation = kind;
  for (int i = 0; i < 6; i++) d.stiffness[7 * i] = diagonal[i];
  d.mass_per_length = 1.7;
  memcpy(d.rotary_inertia, inertia, sizeof inertia);
  SHOP_ADD(s, beam, &d);
}

static ga_line_load_def load_on(const char *name, double from, double to)
{
  ga_line_load_def d = ga_line_load_defaults();
  d.name = name;
  d.body = "beam";
  d.from = from, d.to = to;
  return d;
}

static void derivatives_are_right(void **state)
{
  (void)state;
  for (int form = 0; form < 3; form++)
    for (int variant = 0; variant < 2; variant++) {
      rig_random random = rig_seed(10 * form + variant);
      shop s = shop_open((ga_form)form, -9.81);
      add_beam(&s, 2, variant ? GA_BEAM_CONSTANT_STRAIN : GA_BEAM_ACCURATE);
      ga_line_load_def d = load_on("one", 0.2, 0.7);
      d.load[0].value = 2, d.load[1].expression = "3*sin(t)+beam.end.y";
      d.moment[0].value = 0.3, d.moment[2].expression = "0.4+beam.end.wx";
      SHOP_ADD(&s, line_load, &d);
      d = load_on("two", NAN, 0.5);
      d.axes = GA_AXES_BODY;
      d.load[1].value = 1.5, d.load[2].expression = "beam.end.x*beam.end.vz";
      d.moment[1].expression = "2+beam.end.y";
      SHOP_ADD(&s, line_load, &d);
      shop_build(&s);
      shop_check(&s, &random, 3, 0.3, 1e-6, SHOP_FORM[form]);
      shop_close(&s);
    }
}

/* A cantilever with a load q from a to b, so small that deflections are linear in it:
 *   w(l) = q/6EI [l s³ − s⁴/4] + q/2GA [s²]  from a to b, and the moment q [s²]/2 at the wall.
 * Loads that meet within it add up. */
static void deflections_are_those_of_beam_theory(void **state)
{
  const double q = -1e-6, a = 0.3, b = 0.75, l = LENGTH;
  (void)state;
  for (int elements = 1; elements <= 16; elements *= 4)
    for (int split = 0; split < 2; split++) {
      shop s = shop_open(GA_FORM_SPACE, 0);
      ga_equilibrium *eq = NULL;
      double x[2 * RIG_MOST * 12] = {0}, v[RIG_MOST * 12];
      add_beam(&s, elements, GA_BEAM_ACCURATE);
      ga_line_load_def d = load_on("one", a, split ? 0.5 : b);
      d.load[2].value = q;
      SHOP_ADD(&s, line_load, &d);
      if (split) {
        d = load_on("two", 0.5, b);
        d.load[2].value = q;
        SHOP_ADD(&s, line_load, &d);
      }
      ga_joint_def j = ga_joint_defaults();
      j.name = "wall", j.kind = GA_JOINT_FIXED, j.a = "ground", j.b = "beam";
      SHOP_ADD(&s, joint, &j);
      shop_build(&s);
      assert_status(s.ctx, ga_machine_initial(s.m, x, v, NULL), GA_OK);
      assert_status(s.ctx, ga_equilibrium_create(s.ctx, ga_machine_system(s.m), NULL, &eq), GA_OK);
      assert_status(s.ctx, ga_equilibrium_solve(eq, 0, x, NULL, NULL), GA_OK);
      const ga_state *now = ga_equilibrium_state(eq);
      const double bending = l * (b * b * b - a * a * a) - (b * b * b * b - a * a * a * a) / 4;
      const double w = q / (6 * EI) * bending + q / (2 * GA) * (b * b - a * a);
      /* Each element is exact for loads that are constant along it, but for terms of the fourth order in
       * its length, with which the compliance of the Magnus expansion ends. */
      const double order = pow(elements, -4) * 2e-2;
      assert_near(shop_signal(&s, now, "beam.end.z") / w, 1, fmax(order, 1e-8), "deflection");
      assert_near(shop_signal(&s, now, "wall.fz") / q, a - b, 1e-7, "reaction");
      assert_near(shop_signal(&s, now, "wall.my") / q, 0.5 * (b * b - a * a), 1e-6, "moment at the wall");
      assert_near(shop_signal(&s, now, "beam.force_z") / q, b - a, 1e-7, "force in the first section");
      assert_near(shop_signal(&s, now, "beam.moment_y") / q, -0.5 * (b * b - a * a), 1e-6, "moment there");
      ga_equilibrium_destroy(&eq);
      shop_close(&s);
    }
}

/* ---- What is refused ---- */

static void bad_loads_are_refused(void **state)
{
  static const struct {
    const char *body;
    double from, to, moment;
    ga_axes axes;
    const char *field;
  } bad[] = {
      {"nobody", NAN, NAN, 0, GA_AXES_GROUND, "body"}, {"box", NAN, NAN, 0, GA_AXES_GROUND, "body"},
      {"beam", -0.1, NAN, 0, GA_AXES_GROUND, "from"},  {"beam", NAN, 1.3, 0, GA_AXES_GROUND, "to"},
      {"beam", 0.6, 0.5, 0, GA_AXES_GROUND, "to"},     {"beam", 0.6, 0.6, 0, GA_AXES_GROUND, "to"},
      {"rope", NAN, NAN, 1, GA_AXES_GROUND, "moment"}, {"rope", NAN, NAN, 0, GA_AXES_BODY, "axes"},
  };
  (void)state;
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    shop s = shop_open(GA_FORM_SPACE, 0);
    add_beam(&s, 4, GA_BEAM_ACCURATE);
    shop_rigid(&s, "box", 0, 0, 0);
    ga_cable_def rope = ga_cable_defaults();
    rope.name = "rope";
    for (int k = 0; k < 3; k++) rope.from[k] = 0, rope.to[k] = 1;
    rope.stiffness = rope.mass_per_length = 1;
    SHOP_ADD(&s, cable, &rope);
    ga_line_load_def d = load_on("load", bad[i].from, bad[i].to);
    d.body = bad[i].body;
    d.load[0].value = 1, d.moment[1].value = bad[i].moment, d.axes = bad[i].axes;
    SHOP_ADD(&s, line_load, &d);
    assert_status(s.ctx, ga_machine_build(s.m), GA_ERR_ARGUMENT);
    assert_string_equal(ga_context_error(s.ctx)->part, "load");
    assert_string_equal(ga_context_error(s.ctx)->field, bad[i].field);
    shop_close(&s);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(derivatives_are_right),
      cmocka_unit_test(deflections_are_those_of_beam_theory),
      cmocka_unit_test(bad_loads_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
