/* Beams: derivatives of all they do in every form, rigid motion, statics against closed forms, energy, what
 * they refuse. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "mbs/beam.h"
#include "mbs_shop.h"

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
    for (int variant = 0; variant < 6; variant++) {
      rig_random random = rig_seed(10 * form + variant);
      shop s = shop_open((ga_form)form, -9.81);
      ga_beam_def d = odd_beam("beam", 2, variant % 2 ? GA_BEAM_CONSTANT_STRAIN : GA_BEAM_ACCURATE, &random);
      d.damping = variant > 1 ? 0.2 : 0;
      if (variant > 0) d.centre[0] = 0.1, d.centre[1] = -0.2;
      if (variant > 2) d.curvature[0] = 0.5, d.curvature[1] = -0.8, d.curvature[2] = 1.1;
      if (variant > 3) {
        d.axes = variant > 4 ? GA_AXES_BODY : GA_AXES_GROUND;
        d.load[0].value = 2, d.load[1].expression = "3*sin(t)+beam.end.y", d.load[2].value = -1;
        d.moment[0].value = 0.3, d.moment[2].expression = "0.4+beam.end.wx";
      }
      SHOP_ADD(&s, beam, &d);
      shop_build(&s);
      shop_check(&s, &random, rig_brief() ? 1 : 4, 0.3, 1e-6, SHOP_FORM[form]);
      shop_close(&s);
    }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(derivatives_are_right),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
