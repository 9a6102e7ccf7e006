/* Signals that cannot change: found by structure, compared with values at random states. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "mbs_shop.h"

enum { SPOTS = 24, MOST_SIGNALS = 1024 };
#define SAME 1e-12 /* of forces and positions of about 1 */

static void add_joint(shop *s, const char *name, ga_joint_kind kind, const char *a, const char *b)
{
  ga_joint_def d = ga_joint_defaults();
  d.name = name;
  d.kind = kind;
  d.a = a;
  d.b = b;
  SHOP_ADD(s, joint, &d);
}

static void add_sensor(shop *s, const char *name, ga_sensor_kind kind, const char *of, const char *from,
                       const char *axes)
{
  ga_sensor_def d = ga_sensor_defaults();
  d.name = name;
  d.kind = kind;
  d.of = of;
  if (from) d.from = from;
  if (axes) d.axes = axes;
  SHOP_ADD(s, sensor, &d);
}

/* Frames that rest, move in a plane, without rotation, and in any way; each seen along axes that rest, turn
 * about z and tumble. */
static shop make_frames(void)
{
  static const char *const frame[] = {"post", "up", "tilt", "bob", "free"}, *const axes[] = {NULL, "up",
                                                                                             "tilt", "post"};
  static char name[7 * 5 * 4][32];
  int n = 0;
  shop s = shop_open(GA_FORM_SPACE, -9.81);
  shop_planar(&s, "arm", 0.3, 0.2);
  shop_planar(&s, "rod", 1.1, -0.4);
  shop_point(&s, "bob", 0.5, 0.6, 0.7);
  shop_rigid(&s, "free", 1, 2, 3);
  shop_turned(&s, "post", "ground", 0.1, 0.2, 0.3, 2, 0.4);
  shop_turned(&s, "up", "arm", 0.2, 0.1, 0.25, 2, 0.6);
  shop_marker(&s, "tilt", "rod", 0.1, -0.2, 0.15);
  for (int kind = 0; kind <= GA_SENSOR_ANGULAR_VELOCITY; kind++)
    for (int i = 0; i < 5; i++)
      for (int k = 0; k < 4; k++, n++) {
        snprintf(name[n], sizeof name[n], "sensor%d", n);
        add_sensor(&s, name[n], (ga_sensor_kind)kind, frame[i], NULL, axes[k]);
      }
  add_sensor(&s, "between", GA_SENSOR_POSITION, "up", "tilt", NULL);
  add_sensor(&s, "from_free", GA_SENSOR_POSITION, "post", "free", NULL);
  return s;
}

/* Joints in a plane between frames of different heights, and one in space. */
static shop make_joints(void)
{
  static const ga_joint_kind kind[] = {GA_JOINT_FIXED, GA_JOINT_REVOLUTE, GA_JOINT_PRISMATIC,
                                       GA_JOINT_POINT_ON_LINE, GA_JOINT_DISTANCE};
  static char name[4 * 5][32];
  int n = 0;
  shop s = shop_open(GA_FORM_SPACE, -9.81);
  shop_planar(&s, "arm", 0.3, 0.2);
  shop_planar(&s, "rod", 1.1, -0.4);
  shop_rigid(&s, "free", 1, 2, 3);
  shop_turned(&s, "post", "ground", 0.1, 0.2, 0.3, 2, 0.4);
  shop_turned(&s, "up", "arm", 0.2, 0.1, 0.25, 2, 0.6);
  for (int k = 0; k < 5; k++) {
    snprintf(name[n], sizeof name[n], "joint%d", k);
    add_joint(&s, name[n++], kind[k], "arm", "rod");
    snprintf(name[n], sizeof name[n], "high%d", k);
    add_joint(&s, name[n++], kind[k], "post", "up");
    snprintf(name[n], sizeof name[n], "force%d", k);
    add_sensor(&s, name[n], GA_SENSOR_REACTION_FORCE, name[n - 1], NULL, "up");
    n++;
    snprintf(name[n], sizeof name[n], "torque%d", k);
    add_sensor(&s, name[n], GA_SENSOR_REACTION_TORQUE, name[n - 2], NULL, "up");
    n++;
  }
  add_joint(&s, "ball", GA_JOINT_SPHERICAL, "ground", "free");
  return s;
}

/* The range of each signal over random states; not those of blocks. */
static void find_ranges(const shop *s, double range[MOST_SIGNALS])
{
  static double value[MOST_SIGNALS], low[MOST_SIGNALS], high[MOST_SIGNALS];
  rig_random random = rig_seed(1);
  const int n = ga_machine_n_signals(s->m);
  assert_true(n <= MOST_SIGNALS);
  for (int k = 0; k < SPOTS; k++) {
    rig_spot spot;
    shop_spot(&spot, s, &random, 0.6);
    const ga_state state = {.t = spot.p.t,
                            .q = spot.q,
                            .v = spot.v,
                            .vdot = spot.vdot,
                            .a = spot.vdot,
                            .lambda = spot.lambda,
                            .psi = spot.psi,
                            .x = spot.x,
                            .y = spot.y};
    assert_status(s->ctx, ga_machine_signals(s->m, NULL, &state, n, NULL, value), GA_OK);
    for (int i = 0; i < n; i++) {
      low[i] = k ? fmin(low[i], value[i]) : value[i];
      high[i] = k ? fmax(high[i], value[i]) : value[i];
    }
  }
  for (int i = 0; i < n; i++) range[i] = high[i] - low[i];
}

/* Those and only those that have one value at all states are said to be constant. */
static void compare(shop s)
{
  static double range[MOST_SIGNALS];
  int constant = 0;
  shop_build(&s);
  find_ranges(&s, range);
  for (int i = 0; i < ga_machine_n_signals(s.m); i++) {
    const int is = ga_machine_signal_is_constant(s.m, i);
    if (ga_machine_signal_kind(s.m, i) == GA_SIGNAL_ENERGY) {
      assert_false(is);
      continue;
    }
    if (is != (range[i] <= SAME))
      fail_msg("%s is said %s, and changes by %g", ga_machine_signal_name(s.m, i),
               is ? "to be constant" : "to change", range[i]);
    constant += is;
  }
  assert_true(constant > 20 && constant < ga_machine_n_signals(s.m) - 20);
  shop_close(&s);
}

static void test_frames(void **state)
{
  (void)state;
  compare(make_frames());
}

static void test_joints(void **state)
{
  (void)state;
  compare(make_joints());
}

static void check(const shop *s, const char *name, int expected)
{
  const int i = ga_machine_find_signal(s->m, name);
  if (i < 0) fail_msg("there is no '%s'", name);
  if (ga_machine_signal_is_constant(s->m, i) != expected)
    fail_msg("'%s' is %s", name, expected ? "constant" : "not constant");
}

/* Outputs: of a constant, of what follows from it alone, of time, of variables, which events change. */
static void test_outputs(void **state)
{
  (void)state;
  static const char *const of[] = {NULL, "level", "switch", "bob.x", NULL};
  static const char *const name[] = {"nothing", "after", "behind", "beside", "later"};
  shop s = shop_open(GA_FORM_SPACE, -9.81);
  const double two = 2;
  ga_block_constant_opts o = ga_block_constant_defaults();
  ga_block_gain_opts gain = ga_block_gain_defaults();
  ga_control_block *block = NULL;
  ga_variable_def variable = ga_variable_defaults();
  ga_function *time = shop_function(s.ctx, "t");
  o.value = &two;
  variable.name = "switch";
  shop_point(&s, "bob", 0.5, 0.6, 0.7);
  SHOP_ADD(&s, variable, &variable);
  assert_status(s.ctx, ga_block_create_constant(s.ctx, &o, &block), GA_OK);
  SHOP_ADD(&s, block, "level", block, NULL);
  for (int i = 0; i < 5; i++) {
    const ga_input in = {0.5, i == 4 ? time : NULL, of[i]};
    assert_status(s.ctx, ga_block_create_gain(s.ctx, &gain, &block), GA_OK);
    SHOP_ADD(&s, block, name[i], block, &in);
  }
  shop_build(&s);
  check(&s, "level", 1);
  check(&s, "nothing", 1);
  check(&s, "after", 1);
  check(&s, "switch", 0);
  check(&s, "behind", 0);
  check(&s, "beside", 0);
  check(&s, "later", 0);
  ga_function_destroy(&time);
  shop_close(&s);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_frames), cmocka_unit_test(test_joints),
                                     cmocka_unit_test(test_outputs)};
  return cmocka_run_group_tests_name("constant signals", tests, NULL, NULL);
}
