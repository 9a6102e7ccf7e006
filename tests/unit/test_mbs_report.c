/* Mobility and redundant constraints in words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "mbs_rig.h"

static void add_body(const mbs_rig *r, const char *name, double x, double y, double z)
{
  ga_rigid_def d = mbs_body(name);
  d.pose = ga_pose_at(x, y, z);
  memset(d.velocity, 0, sizeof d.velocity);
  memset(d.omega, 0, sizeof d.omega);
  mbs_ok(r, ga_machine_add_rigid(r->m, &d));
}

static void add_hinge(const mbs_rig *r, const char *name, ga_joint_kind kind, const char *a, const char *b,
                      double x, double y, double z)
{
  ga_joint_def d = ga_joint_defaults();
  d.name = name, d.kind = kind, d.a = a, d.b = b;
  d.at_pose = 1;
  d.at = ga_pose_at(x, y, z);
  mbs_ok(r, ga_machine_add_joint(r->m, &d));
}

static ga_stepper *start(const mbs_rig *r)
{
  const ga_system *sys = ga_machine_system(r->m);
  double q[64], v[32];
  ga_stepper *st;
  ga_start_opts s = ga_start_defaults();
  mbs_ok(r, ga_machine_initial(r->m, q, v, NULL));
  mbs_ok(r, ga_stepper_create(r->ctx, sys, NULL, &st));
  s.h = 1e-3;
  mbs_ok(r, ga_stepper_start(st, &s, 0.0, q, v, NULL, NULL, NULL, NULL));
  return st;
}

static void expect(const mbs_rig *r, ga_stepper *st, const char *const *words)
{
  char text[2048], cut[10];
  int length = ga_machine_report(r->m, st, text, sizeof text);
  assert_int_equal(length, (int)strlen(text));
  assert_int_equal(ga_machine_report(r->m, st, cut, sizeof cut), length); /* as snprintf */
  assert_int_equal(strlen(cut), sizeof cut - 1);
  for (; *words; words++)
    if (!strstr(text, *words)) fail_msg("'%s' is not in\n%s", *words, text);
}

/* A door on three hinges along z: five rows of each but the first are redundant. */
static void test_door(void **state)
{
  (void)state;
  mbs_rig r = mbs_open(GA_FORM_SPACE);
  add_body(&r, "door", 0.5, 0, 1);
  add_hinge(&r, "hinge1", GA_JOINT_REVOLUTE, "ground", "door", 0, 0, 0.2);
  add_hinge(&r, "hinge2", GA_JOINT_REVOLUTE, "ground", "door", 0, 0, 1.0);
  add_hinge(&r, "hinge3", GA_JOINT_REVOLUTE, "ground", "door", 0, 0, 1.8);
  mbs_ok(&r, ga_machine_build(r.m));
  ga_stepper *st = start(&r);
  const char *const words[] = {"mobility 1: 6 velocities, 15 constraints, 10 of them redundant",
                               "hinge2: position along z is already fixed by hinge1",
                               "hinge3: rotation about x is already fixed by hinge1",
                               "hinge3: rotation about y is already fixed by hinge1",
                               "not unique",
                               NULL};
  expect(&r, st, words);
  assert_int_equal(ga_machine_report(r.m, NULL, NULL, 0), 0);
  ga_stepper_destroy(&st);
  mbs_close(&r);
}

static void test_pendulum(void **state)
{
  (void)state;
  mbs_rig r = mbs_open(GA_FORM_SPACE);
  add_body(&r, "bob", 0.5, 0, 1);
  add_hinge(&r, "ball", GA_JOINT_SPHERICAL, "ground", "bob", 0, 0, 0);
  mbs_ok(&r, ga_machine_build(r.m));
  ga_stepper *st = start(&r);
  char text[256];
  ga_machine_report(r.m, st, text, sizeof text);
  assert_string_equal(text, "mobility 3: 6 velocities, 3 constraints\n");
  ga_stepper_destroy(&st);
  mbs_close(&r);
}

/* A massless body that turns freely: the message names it. */
static void test_massless(void **state)
{
  (void)state;
  mbs_rig r = mbs_open(GA_FORM_SPACE);
  ga_rigid_def ghost = ga_rigid_defaults();
  ga_stepper *st;
  ga_start_opts s = ga_start_defaults();
  double q[12], v[6];
  ghost.name = "ghost", ghost.massless = 1, ghost.mass = 0;
  ghost.pose = ga_pose_at(1, 0, 0);
  mbs_ok(&r, ga_machine_add_rigid(r.m, &ghost));
  add_hinge(&r, "ball", GA_JOINT_SPHERICAL, "ground", "ghost", 0, 0, 0);
  mbs_ok(&r, ga_machine_build(r.m));
  mbs_ok(&r, ga_machine_initial(r.m, q, v, NULL));
  mbs_ok(&r, ga_stepper_create(r.ctx, ga_machine_system(r.m), NULL, &st));
  s.h = 1e-3;
  assert_int_equal(ga_stepper_start(st, &s, 0.0, q, v, NULL, NULL, NULL, NULL), GA_ERR_SINGULAR);
  assert_says(r.ctx, "ghost");
  ga_stepper_destroy(&st);
  mbs_close(&r);
}

/* A long beam of fixed joints has small singular values, but nothing too many. */
static void test_long_beam(void **state)
{
  (void)state;
  const int n = rig_brief() ? 100 : 2000;
  mbs_rig r = mbs_open(GA_FORM_SPACE);
  char name[3][16], text[256];
  double *q = test_calloc(18 * (size_t)n, sizeof *q), *v = q + 12 * n;
  ga_stepper *st;
  ga_start_opts s = ga_start_defaults();
  for (int i = 0; i < n; i++) {
    snprintf(name[0], sizeof name[0], "link%d", i);
    snprintf(name[1], sizeof name[1], "weld%d", i);
    snprintf(name[2], sizeof name[2], i ? "link%d" : "ground", i - 1);
    add_body(&r, name[0], i + 0.5, 0, 0);
    add_hinge(&r, name[1], GA_JOINT_FIXED, name[2], name[0], i, 0, 0);
  }
  mbs_ok(&r, ga_machine_build(r.m));
  mbs_ok(&r, ga_machine_initial(r.m, q, v, NULL));
  mbs_ok(&r, ga_stepper_create(r.ctx, ga_machine_system(r.m), NULL, &st));
  s.h = 1e-3;
  mbs_ok(&r, ga_stepper_start(st, &s, 0.0, q, v, NULL, NULL, NULL, NULL));
  ga_machine_report(r.m, st, text, sizeof text);
  assert_non_null(strstr(text, "mobility 0"));
  assert_null(strstr(text, "redundant"));
  ga_stepper_destroy(&st);
  test_free(q);
  mbs_close(&r);
}

/* Two rods that cannot meet: which joint, and by how much. */
static void test_cannot_close(void **state)
{
  (void)state;
  mbs_rig r = mbs_open(GA_FORM_SPACE);
  ga_joint_def rod = ga_joint_defaults();
  ga_marker_def far = ga_marker_defaults();
  ga_stepper *st;
  ga_start_opts s = ga_start_defaults();
  double q[12], v[6];
  add_body(&r, "link", 0, 0, 0);
  add_hinge(&r, "pin", GA_JOINT_SPHERICAL, "ground", "link", 0, 0, 0);
  far.name = "far", far.body = "ground", far.pose = ga_pose_at(3, 0, 0);
  mbs_ok(&r, ga_machine_add_marker(r.m, &far));
  rod.name = "rod", rod.kind = GA_JOINT_DISTANCE, rod.a = "far", rod.b = "link", rod.length = 1.0;
  mbs_ok(&r, ga_machine_add_joint(r.m, &rod));
  mbs_ok(&r, ga_machine_build(r.m));
  mbs_ok(&r, ga_machine_initial(r.m, q, v, NULL));
  mbs_ok(&r, ga_stepper_create(r.ctx, ga_machine_system(r.m), NULL, &st));
  s.h = 1e-3;
  s.max_change = 100.0;
  assert_int_equal(ga_stepper_start(st, &s, 0.0, q, v, NULL, NULL, NULL, NULL), GA_ERR_INCONSISTENT);
  assert_says(r.ctx, "rod: length");
  assert_says(r.ctx, "violated by");
  ga_stepper_destroy(&st);
  mbs_close(&r);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_door), cmocka_unit_test(test_pendulum),
                                     cmocka_unit_test(test_massless), cmocka_unit_test(test_long_beam),
                                     cmocka_unit_test(test_cannot_close)};
  return cmocka_run_group_tests_name("mbs report", tests, NULL, NULL);
}
