/* Starts of machines: signals at the true state, initial values of joints, assembly, reports. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "mbs_shop.h"

/* ---- What the tests share ---- */

static void add_rod(shop *s, const char *name, double x, double y)
{
  ga_rigid_def d = ga_rigid_defaults();
  d.name = name;
  d.mass = 2.0;
  d.inertia[0] = 0.01, d.inertia[1] = d.inertia[2] = 0.2;
  d.com[0] = 0.5;
  d.pose.position[0] = x, d.pose.position[1] = y;
  SHOP_ADD(s, rigid, &d);
}

static void add_marker(shop *s, const char *name, const char *body, double x)
{
  ga_marker_def d = ga_marker_defaults();
  d.name = name;
  d.body = body;
  d.pose.position[0] = x;
  SHOP_ADD(s, marker, &d);
}

static void add_hinge(shop *s, const char *name, const char *a, const char *b)
{
  ga_joint_def d = ga_joint_defaults();
  d.name = name;
  d.kind = GA_JOINT_REVOLUTE;
  d.a = a;
  d.b = b;
  SHOP_ADD(s, joint, &d);
}

static ga_status start(shop *s, ga_start_report *report)
{
  double q[64], v[64], x[16];
  ga_stepper_opts o = ga_stepper_defaults();
  ga_start_opts so = ga_start_defaults();
  so.h = 1e-3;
  ga_stepper_destroy(&s->st);
  ga_status status = ga_machine_initial(s->m, q, v, x);
  if (!status) status = ga_stepper_create(s->ctx, ga_machine_system(s->m), &o, &s->st);
  return status ? status : ga_stepper_start(s->st, &so, 0.0, q, v, x, NULL, NULL, report);
}

static double signal(shop *s, const char *name)
{
  const int i = ga_machine_find_signal(s->m, name);
  double value;
  if (i < 0) fail_msg("there is no signal '%s'", name);
  assert_status(s->ctx, ga_machine_signals(s->m, NULL, ga_stepper_state(s->st), 1, &i, &value), GA_OK);
  return value;
}

/* ---- Signals in expressions ---- */

/* A rod on a hinge at the origin, along x, under gravity in y, with a force in y at its tip. */
static shop rod_with_force(ga_form form, const char *expression)
{
  shop s = shop_open(form, -9.81);
  ga_force_def f = ga_force_defaults();
  add_rod(&s, "rod", 0.01, 0.0); /* off the hinge by a centimetre */
  add_marker(&s, "tip", "rod", 1.0);
  add_hinge(&s, "hinge", "ground", "rod");
  f.name = "f";
  f.frame = "tip";
  f.force[1].expression = expression;
  SHOP_ADD(&s, force, &f);
  assert_status(s.ctx, ga_machine_build(s.m), GA_OK);
  return s;
}

static void expressions_see_the_true_state(void **state)
{
  static const char *const text[] = {"1/tip.x",          "sqrt(tip.x)",        "log(tip.x)",   "tip.y/tip.x",
                                     "1/(1 + hinge.mx)", "10/(hinge.fz + 10)", "2/hinge.fz^2", "1/tip.az"};
  (void)state;
  for (int form = GA_FORM_SPACE; form <= GA_FORM_SE3; form++)
    for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
      shop s = rod_with_force((ga_form)form, text[i]);
      ga_start_report report;
      const ga_status status = start(&s, &report);
      if (i == 7) { /* the hinge's axis is z: there is no acceleration along it */
        assert_status(s.ctx, status, GA_ERR_INCONSISTENT);
        assert_says(s.ctx, "force 'f': 1/tip.az is undefined while the start is computed, t = 0 (tip.az = ");
        assert_null(strstr(ga_context_error(s.ctx)->text, "smaller step"));
      } else {
        assert_status(s.ctx, status, GA_OK);
        assert_true(report.position.change > 1e-3); /* it was moved onto its hinge first */
      }
      if (i == 0) /* J' = 0.2 + 2·0.25 about the hinge */
        assert_near(signal(&s, "hinge.angle_acc"), 1.0 / (0.2 + 2.0 * 0.25), 1e-12, text[i]);
      shop_close(&s);
    }
}

static void undefined_expressions_are_named(void **state)
{
  static const struct {
    const char *text, *said;
  } cases[] = {{"1/tip.y", "force 'f': 1/tip.y is undefined while the start is computed, t = 0 (tip.y = 0)"},
               {"log(tip.x - 2)",
                "force 'f': log(tip.x - 2) is undefined while the start is computed, t = 0 (tip.x = 1)"},
               {"tip.y/tip.vx", "(tip.y = 0, tip.vx = 0)"},
               {"1/(hinge.fx - hinge.fx)", "(hinge.fx = "}};
  (void)state;
  for (int form = GA_FORM_SPACE; form <= GA_FORM_SE3; form++)
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
      shop s = rod_with_force((ga_form)form, cases[i].text);
      assert_status(s.ctx, start(&s, NULL), GA_ERR_INCONSISTENT);
      assert_says(s.ctx, cases[i].said);
      assert_null(strstr(ga_context_error(s.ctx)->text, "smaller step"));
      shop_close(&s);
    }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(expressions_see_the_true_state),
      cmocka_unit_test(undefined_expressions_are_named),
  };
  return cmocka_run_group_tests_name("mbs: starts", tests, rig_hook_klu, NULL);
}
