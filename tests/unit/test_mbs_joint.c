/* Joints: every kind's derivatives, what it holds and leaves free, its reaction, its coordinates, its
 * messages. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "mbs_rig.h"

#define TOL 1e-7

static ga_joint_def joint(const char *name, ga_joint_kind kind, const char *a, const char *b)
{
  ga_joint_def d = ga_joint_defaults();
  d.name = name;
  d.kind = kind;
  d.a = a;
  d.b = b;
  d.pitch = 0.3;
  d.ratio = -1.7;
  return d;
}

/* Bodies one and two with frames m1, m2 on them, and g1 on the ground. */
static mbs_rig two_bodies(ga_form form, int planar)
{
  mbs_rig r = mbs_open(form);
  if (planar) {
    ga_planar_def one = mbs_planar("one"), two = mbs_planar("two");
    mbs_ok(&r, ga_machine_add_planar(r.m, &one));
    mbs_ok(&r, ga_machine_add_planar(r.m, &two));
  } else {
    ga_rigid_def one = mbs_body("one"), two = mbs_body("two");
    mbs_ok(&r, ga_machine_add_rigid(r.m, &one));
    mbs_ok(&r, ga_machine_add_rigid(r.m, &two));
  }
  mbs_marker(&r, "m1", "one", planar);
  mbs_marker(&r, "m2", "two", planar);
  mbs_marker(&r, "g1", "ground", planar);
  return r;
}

static int is_coupling(ga_joint_kind kind)
{
  return kind == GA_JOINT_GEAR || kind == GA_JOINT_RACK;
}

static void test_tangents(void **state)
{
  (void)state;
  const char *const pair[3][2] = {{"m1", "m2"}, {"g1", "m2"}, {"m1", "g1"}};
  for (int kind = 0; kind < GA_N_JOINTS; kind++)
    for (int k = 0; k < 3 && !is_coupling((ga_joint_kind)kind); k++) {
      mbs_rig r = two_bodies(GA_FORM_SPACE, 0);
      ga_joint_def d = joint("j", (ga_joint_kind)kind, pair[k][0], pair[k][1]);
      mbs_ok(&r, ga_machine_add_joint(r.m, &d));
      mbs_ok(&r, ga_machine_build(r.m));
      mbs_check(&r, ga_joint_name((ga_joint_kind)kind), 10, 0.3, TOL);
      mbs_close(&r);
    }
}

static void test_planar_tangents(void **state)
{
  (void)state;
  const ga_joint_kind kinds[] = {GA_JOINT_FIXED,         GA_JOINT_REVOLUTE, GA_JOINT_PRISMATIC,
                                 GA_JOINT_POINT_ON_LINE, GA_JOINT_DISTANCE, GA_JOINT_ROD,
                                 GA_JOINT_PARALLEL};
  const char *const pair[3][2] = {{"m1", "m2"}, {"g1", "m2"}, {"m1", "g1"}};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    for (int k = 0; k < 3; k++) {
      mbs_rig r = two_bodies(GA_FORM_SPACE, 1);
      ga_joint_def d = joint("j", kinds[i], pair[k][0], pair[k][1]);
      mbs_ok(&r, ga_machine_add_joint(r.m, &d));
      mbs_ok(&r, ga_machine_build(r.m));
      mbs_check(&r, ga_joint_name(kinds[i]), 10, 0.3, TOL);
      mbs_close(&r);
    }
}

/* Gears, racks, screws and drives between joints that share bodies, in space and in the plane. */
static void test_coupling_tangents(void **state)
{
  (void)state;
  for (int planar = 0; planar < 2; planar++) {
    mbs_rig r = two_bodies(GA_FORM_SPACE, planar);
    ga_motion_opts law = ga_motion_defaults();
    ga_function *f;
    mbs_ok(&r, ga_function_create_motion(r.ctx, &law, &f));
    ga_scalar_def rotor = ga_scalar_defaults();
    rotor.name = "rotor";
    rotor.mass = 0.1;
    mbs_ok(&r, ga_machine_add_scalar(r.m, &rotor));
    ga_joint_def j1 = joint("j1", GA_JOINT_REVOLUTE, "g1", "m1"),
                 j2 = joint("j2", GA_JOINT_REVOLUTE, "m1", "m2");
    ga_joint_def j3 = joint("j3", GA_JOINT_PRISMATIC, "g1", "m2");
    ga_joint_def gear = joint("gear", GA_JOINT_GEAR, "j1.angle", "j2"),
                 rack = joint("rack", GA_JOINT_RACK, "j3", "j2.angle");
    ga_joint_def motor = joint("motor", GA_JOINT_GEAR, "rotor", "j1");
    ga_drive_def drive = ga_drive_defaults(), slide = ga_drive_defaults();
    drive.name = "drive", drive.coordinate = "j2.angle", drive.function = f;
    slide.name = "slide", slide.coordinate = "j3", slide.function = f;
    const ga_joint_def *const all[] = {&j1, &j2, &j3, &gear, &rack, &motor};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) mbs_ok(&r, ga_machine_add_joint(r.m, all[i]));
    mbs_ok(&r, ga_machine_add_drive(r.m, &drive));
    mbs_ok(&r, ga_machine_add_drive(r.m, &slide));
    mbs_ok(&r, ga_machine_build(r.m));
    mbs_check(&r, planar ? "planar couplings" : "couplings", 20, 0.3, TOL);
    ga_machine_destroy(&r.m);
    ga_function_destroy(&f);
    mbs_close(&r);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_tangents), cmocka_unit_test(test_planar_tangents),
                                     cmocka_unit_test(test_coupling_tangents)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
