/* Rigid stops: derivatives, bounces and rest at exact times, impacts shared by several bodies. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mbs_shop.h"

static ga_rigid_stop_def stop_of(const char *name, double lower, double upper, double restitution)
{
  ga_rigid_stop_def d = ga_rigid_stop_defaults();
  d.name = name;
  d.lower = lower, d.upper = upper;
  d.restitution = restitution;
  return d;
}

/* ---- Derivatives ---- */

static void add_stops(shop *s)
{
  ga_rigid_stop_def d = stop_of("line", 0.5, INFINITY, 0.5);
  ga_joint_def hinge = ga_joint_defaults();
  shop_rigid(s, "one", 0, 0, 0);
  shop_rigid(s, "two", 1.5, 0.4, 0.3);
  shop_rigid(s, "arm", 0, 2, 0);
  shop_marker(s, "p", "one", 0.2, -0.1, 0.3);
  shop_marker(s, "r", "two", -0.1, 0.2, 0.1);
  shop_marker(s, "pivot", "ground", 0, 2, 0);
  hinge.name = "hinge", hinge.kind = GA_JOINT_REVOLUTE, hinge.a = "pivot", hinge.b = "arm";
  SHOP_ADD(s, joint, &hinge);
  d.a = "p", d.b = "r";
  SHOP_ADD(s, rigid_stop, &d);
  d = stop_of("limit", -4, 4, 0);
  d.coordinate = "hinge.angle";
  SHOP_ADD(s, rigid_stop, &d);
}

static void derivatives_are_exact(void **state)
{
  rig_random random = rig_seed(0);
  (void)state;
  for (int form = 0; form < 3; form++) {
    shop s = shop_open((ga_form)form, -9.81);
    add_stops(&s);
    shop_build(&s);
    shop_check(&s, &random, 16, 0.1, 1e-7, SHOP_FORM[form]); /* states at random: free, and at rest */
    shop_close(&s);
  }
}

/* ---- Runs ---- */

enum { MOST_BOUNCES = 60 };

typedef struct history {
  int n;
  double t[MOST_BOUNCES], v; /* times at which the first velocity jumps */
} history;

static int observe(void *user, const ga_stepper *st)
{
  history *h = user;
  const ga_state *now = ga_stepper_state(st);
  if (h->v < 0 && now->v[0] >= 0 && h->n < MOST_BOUNCES) h->t[h->n++] = now->t;
  h->v = now->v[0];
  return 0;
}

static ga_simulator *begin(shop *s, ga_method method, double t_end, double fixed_h, history *h)
{
  return shop_begin(s, &(shop_trial){method, t_end, fixed_h, 1e-8}, observe, h);
}

static void run(shop *s, ga_method method, double t_end, double fixed_h, history *h)
{
  ga_stepper_destroy(&s->st);
  ga_simulator *sim = begin(s, method, t_end, fixed_h, h);
  assert_status(s->ctx, ga_simulator_run(sim), GA_OK);
  ga_simulator_destroy(&sim);
}

/* ---- A bouncing ball ---- */

/* Falls from 1 m with g = 10 m/s²; the floor returns 0.7 of the speed. From 5 s on a force grows by 2 N/s,
 * and lifts it at 10 s, as its weight is 10 N. */
static shop ball(void)
{
  shop s = shop_open(GA_FORM_SPACE, 0);
  ga_scalar_def d = ga_scalar_defaults();
  ga_actuator_def weight = ga_actuator_defaults();
  ga_rigid_stop_def floor = stop_of("floor", 0, INFINITY, 0.7);
  d.name = "ball", d.mass = 1, d.position = 1;
  SHOP_ADD(&s, scalar, &d);
  weight.name = "weight", weight.coordinate = "ball";
  weight.force.expression = "-10 + 2*max(t - 5, 0)";
  SHOP_ADD(&s, actuator, &weight);
  floor.coordinate = "ball";
  SHOP_ADD(&s, rigid_stop, &floor);
  return s;
}

static void ball_bounces_rests_and_leaves(void **state)
{
  static const ga_method METHOD[] = {GA_STABILIZED, GA_INDEX3, GA_SOI2, GA_STABILIZED};
  (void)state;
  for (int k = 0; k < 4; k++) { /* the last one by equal steps */
    shop s = ball();
    history h = {0};
    double t = sqrt(0.2), v = 0.7 * sqrt(20);
    int n = 0;
    shop_build(&s);
    run(&s, METHOD[k], 8, k == 3 ? 0.01 : 0, &h);
    for (; n < h.n && v > 1e-3; n++, t += v / 5, v *= 0.7) assert_near(h.t[n], t, 1e-8, "time of a bounce");
    assert_true(n >= 23);
    assert_near(shop_now(&s, "ball"), 0, 1e-10, "rests on the floor");
    assert_near(shop_now(&s, "floor.force"), 4, 1e-8, "force of the floor");
    assert_near(shop_now(&s, "floor.rests"), 1, 0, "rests");
    run(&s, METHOD[k], 11, k == 3 ? 0.01 : 0, &h);
    assert_near(shop_now(&s, "ball.rate"), 1, 1e-6, "leaves at 10 s");
    assert_near(shop_now(&s, "ball"), 1.0 / 3, k == 3 ? 5e-5 : 5e-6, "leaves at 10 s");
    shop_close(&s);
  }
}

static void resumes_with_equal_bits(void **state)
{
  (void)state;
  shop s = ball(), other;
  history h = {0}, again = {0};
  shop_build(&s);
  ga_simulator *sim = begin(&s, GA_STABILIZED, 9, 0, &h);
  while (h.n < 5) assert_status(s.ctx, ga_simulator_step(sim), GA_OK);
  double *saved = calloc(ga_simulator_saved_size(sim), sizeof *saved);
  assert_status(s.ctx, ga_simulator_save(sim, saved), GA_OK);
  assert_status(s.ctx, ga_simulator_run(sim), GA_OK);
  other = s;
  other.st = NULL;
  ga_simulator *resumed = begin(&other, GA_STABILIZED, 9, 0, &again);
  assert_status(s.ctx, ga_simulator_load(resumed, saved), GA_OK);
  assert_status(s.ctx, ga_simulator_run(resumed), GA_OK);
  const ga_state *a = ga_stepper_state(s.st), *b = ga_stepper_state(other.st);
  assert_memory_equal(a->q, b->q, 2 * sizeof(double));
  assert_memory_equal(a->psi, b->psi, sizeof(double));
  free(saved);
  ga_simulator_destroy(&sim);
  ga_simulator_destroy(&resumed);
  ga_stepper_destroy(&other.st);
  shop_close(&s);
}

/* ---- Limits that are close together ---- */

/* A load of 10 sin 3t N presses a mass against one limit after the other, as far apart as `gap`; 0: by two
 * stops. The load at 4 s is -5.37 N. */
static shop squeezed(double gap)
{
  shop s = shop_open(GA_FORM_SPACE, 0);
  ga_actuator_def push = ga_actuator_defaults();
  ga_rigid_stop_def d = stop_of("stop", 0, gap > 0 ? gap : INFINITY, 0);
  ga_scalar_def cart = ga_scalar_defaults();
  cart.name = "cart", cart.mass = 1;
  SHOP_ADD(&s, scalar, &cart);
  push.name = "push", push.coordinate = "cart", push.force.expression = "10*sin(3*t)";
  SHOP_ADD(&s, actuator, &push);
  d.coordinate = "cart";
  SHOP_ADD(&s, rigid_stop, &d);
  if (gap > 0) return s;
  d.name = "roof", d.lower = -INFINITY, d.upper = 0;
  SHOP_ADD(&s, rigid_stop, &d);
  return s;
}

static void close_limits_hold(void **state)
{
  static const ga_method METHOD[] = {GA_STABILIZED, GA_INDEX3, GA_SOI2};
  static const double GAP[] = {0, 1e-12, 1e-10, 1e-9, 1e-8, 1e-6}, STEP[] = {0, 0.01, 0.013, 0.1};
  (void)state;
  for (int k = 0; k < 6 * 3 * 4; k++) {
    history h = {0};
    const double gap = GAP[k % 6], step = STEP[k / 18];
    shop s = squeezed(gap);
    shop_build(&s);
    run(&s, METHOD[k / 6 % 3], 4, step, &h);
    assert_near(shop_now(&s, "cart"), 0, 1e-12 + 1e-2 * gap, "rests at the lower limit");
    assert_near(shop_now(&s, "stop.force"), -10 * sin(12), 1e-6, "force of the lower limit");
    shop_close(&s);
  }
}

/* A stepper that is used alone keeps the modes of its start: its run through the floor is reported. */
static void passing_is_reported(void **state)
{
  (void)state;
  shop s = ball();
  history h = {0};
  ga_meter *meter = NULL;
  char text[256];
  shop_start(&s);
  assert_status(s.ctx, ga_meter_create(s.ctx, s.m, &meter), GA_OK);
  assert_status(s.ctx, ga_meter_start(meter, ga_stepper_state(s.st)), GA_OK);
  for (int i = 0; i < 50; i++) {
    assert_status(s.ctx, ga_stepper_step(s.st, 0.01), GA_OK);
    assert_status(s.ctx, ga_meter_update(meter, ga_stepper_state(s.st)), GA_OK);
  }
  assert_true(ga_meter_pull_text(meter, text, sizeof text) > 0);
  assert_non_null(strstr(text, "rigid stop 'floor' was passed, most at t = 0.5 s by 0.25"));
  /* follows: "its switch was missed; try error control, --tol 1e-6" */
  run(&s, GA_STABILIZED, 0.5, 0, &h);
  assert_true(shop_now(&s, "ball") > 0);
  ga_meter_destroy(&meter);
  shop_close(&s);
}

/* ---- Several bodies ---- */

static void add_point(shop *s, const char *name, double mass, double x, double v)
{
  ga_point_def d = ga_point_defaults();
  d.name = name;
  d.mass = mass;
  d.position[0] = x;
  d.velocity[0] = v;
  SHOP_ADD(s, point, &d);
}

static void add_contact(shop *s, const char *name, const char *a, const char *b, double restitution)
{
  ga_rigid_stop_def d = stop_of(name, 0.1, INFINITY, restitution);
  d.a = a, d.b = b;
  SHOP_ADD(s, rigid_stop, &d);
}

/* A ball that flies past a post of radius 0.1 m at rest, at 10 m/s and b = 0.05 m off its middle: steps of
 * free flight are far longer than the 17 ms in which it would be within the post. It hits it where the
 * distance is 0.1 m, and the component along the line between both is reversed; b = 0.15 m: it passes. */
static void fast_passes_are_found(void **state)
{
  (void)state;
  for (int k = 0; k < 9; k++) { /* the last ones by equal steps */
    const double b = k % 3 == 0 ? 0.05 : k % 3 == 1 ? 0.15 : 0.099, reach = b < 0.1 ? sqrt(0.01 - b * b) : 0;
    shop s = shop_open(GA_FORM_SPACE, 0);
    history h = {0};
    ga_point_def d = ga_point_defaults();
    d.name = "ball", d.mass = 2, d.position[0] = -20, d.position[1] = b, d.velocity[0] = 10;
    SHOP_ADD(&s, point, &d);
    add_contact(&s, "post", "ground", "ball", 1);
    shop_build(&s);
    ga_simulator *sim = shop_begin(
        &s, &(shop_trial){k / 3 == 1 ? GA_INDEX3 : GA_STABILIZED, 4, k < 6 ? 0 : 0.3, 1e-6}, observe, &h);
    assert_status(s.ctx, ga_simulator_run(sim), GA_OK);
    ga_simulator_destroy(&sim);
    const double nx = -reach / 0.1, t = (20 - reach) / 10, vn = b < 0.1 ? 10 * nx : 0;
    assert_near(shop_now(&s, "ball.vx"), 10 - 2 * vn * nx, 1e-9, "reversed along the line");
    assert_near(shop_now(&s, "ball.vy"), b < 0.1 ? -2 * vn * b / 0.1 : 0, 1e-9, "reversed along the line");
    assert_near(shop_now(&s, "ball.x"), -reach + (4 - t) * (10 - 2 * vn * nx), 1e-7, "place");
    shop_close(&s);
  }
}

/* Two masses on a line: momentum is kept, the relative speed becomes −e of it. */
static void masses_share_an_impact(void **state)
{
  (void)state;
  for (int k = 0; k < 3; k++) {
    const double e = 0.5 * k, m1 = 1, m2 = 3, v1 = 2, v2 = -1, v = (m1 * v1 + m2 * v2) / (m1 + m2);
    shop s = shop_open(GA_FORM_SPACE, 0);
    history h = {0};
    add_point(&s, "left", m1, 0, v1);
    add_point(&s, "right", m2, 1, v2);
    add_contact(&s, "touch", "left", "right", e);
    shop_build(&s);
    run(&s, GA_STABILIZED, 0.5, 0, &h);
    assert_near(shop_now(&s, "left.vx"), v - e * (v1 - v2) * m2 / (m1 + m2), 1e-9, "left");
    assert_near(shop_now(&s, "right.vx"), v + e * (v1 - v2) * m1 / (m1 + m2), 1e-9, "right");
    if (k == 0) assert_near(shop_now(&s, "right.x") - shop_now(&s, "left.x"), 0.1, 1e-9, "together");
    shop_close(&s);
  }
}

/* Newton's cradle: the last of three that touch takes the speed of the first. */
static void speed_goes_through_a_row(void **state)
{
  (void)state;
  shop s = shop_open(GA_FORM_SPACE, 0);
  history h = {0};
  add_point(&s, "first", 1, 0, 2);
  add_point(&s, "second", 1, 0.5, 0);
  add_point(&s, "third", 1, 0.6, 0);
  add_contact(&s, "one", "first", "second", 1);
  add_contact(&s, "two", "second", "third", 1);
  shop_build(&s);
  run(&s, GA_STABILIZED, 0.6, 0, &h);
  assert_near(shop_now(&s, "first.vx"), 0, 1e-9, "first");
  assert_near(shop_now(&s, "second.vx"), 0, 1e-9, "second");
  assert_near(shop_now(&s, "third.vx"), 2, 1e-9, "third");
  shop_close(&s);
}

/* Two bodies on a hinge whose stop is elastic, free in the plane: energy is kept. */
static void elastic_stop_of_a_joint_keeps_energy(void **state)
{
  (void)state;
  for (int form = 0; form < 3; form++) {
    shop s = shop_open((ga_form)form, 0);
    history h = {0};
    ga_joint_def hinge = ga_joint_defaults();
    ga_rigid_stop_def d = stop_of("stop", -0.3, 0.3, 1);
    double before[2];
    ga_planar_def body = ga_planar_defaults();
    body.name = "one", body.mass = 1, body.inertia = 0.2;
    SHOP_ADD(&s, planar, &body);
    body.name = "two", body.mass = 2, body.position[0] = 1, body.com[0] = 0.4, body.rate = 3;
    SHOP_ADD(&s, planar, &body);
    ga_marker_def m = ga_marker_defaults();
    m.name = "pin", m.body = "one", m.pose = ga_pose_at(1, 0, 0);
    SHOP_ADD(&s, marker, &m);
    hinge.name = "hinge", hinge.kind = GA_JOINT_REVOLUTE, hinge.a = "pin", hinge.b = "two";
    SHOP_ADD(&s, joint, &hinge);
    d.coordinate = "hinge.angle";
    SHOP_ADD(&s, rigid_stop, &d);
    shop_build(&s);
    run(&s, GA_STABILIZED, 1e-4, 0, &h);
    before[0] = shop_now(&s, "energy.kinetic");
    before[1] = shop_now(&s, "hinge.angle_rate");
    run(&s, GA_STABILIZED, 3, 0, &h);
    assert_true(fabs(shop_now(&s, "hinge.angle")) <= 0.3 + 1e-9 && before[1] > 0.1);
    assert_near(shop_now(&s, "energy.kinetic"), before[0], 1e-5 * before[0], "energy");
    shop_close(&s);
  }
}

/* ---- Refusals, memory ---- */

/* A ball on a table that moves with z = 2 cm sin 15 t rests there from 1.03 s on. An event at each of its highest
 * points, which restarts the method and changes nothing else, finds it resting and leaves it there, and happens once. */
static int count_event(void *user, int event, const ga_state *s)
{
  (void)event, (void)s;
  ++*(int *)user;
  return 0;
}

static void rest_outlives_events(void **state)
{
  (void)state;
  for (int k = 0; k < 2; k++) {
    shop s = shop_open(GA_FORM_SPACE, -10);
    ga_joint_def j = ga_joint_defaults();
    ga_drive_def d = ga_drive_defaults();
    ga_rigid_stop_def stop = ga_rigid_stop_defaults();
    ga_event_def e = ga_event_defaults();
    ga_simulate_opts o = ga_simulate_defaults();
    ga_function *motion = NULL;
    ga_wave_opts wave = ga_wave_defaults();
    ga_event_watch *watch = NULL;
    ga_simulator *sim = NULL;
    double q[32], v[32], x[8];
    int n = 0;
    shop_point(&s, "table", 0, 0, 0);
    shop_point(&s, "ball", 0, 0, 0.5);
    j.name = "rail", j.kind = GA_JOINT_POINT_ON_LINE, j.a = "ground", j.b = "table";
    SHOP_ADD(&s, joint, &j);
    j.name = "way", j.b = "ball";
    SHOP_ADD(&s, joint, &j);
    wave.amplitude = 0.02, wave.frequency = 15 / 6.28318530717958648;
    assert_status(s.ctx, ga_function_create_wave(s.ctx, &wave, &motion), GA_OK);
    d.name = "shaker", d.coordinate = "rail.displacement", d.function = motion;
    SHOP_ADD(&s, drive, &d);
    stop.name = "stop", stop.a = "table", stop.b = "ball", stop.lower = 0.1, stop.restitution = 0.3;
    SHOP_ADD(&s, rigid_stop, &stop);
    e.name = "top", e.when = "ball.vz", e.direction = GA_DIRECTION_FALLING, e.restart = k;
    SHOP_ADD(&s, event, &e);
    shop_build(&s);
    o.t_end = 30, o.rtol = o.rtol_v = o.rtol_x = 1e-5, o.atol = o.atol_v = o.atol_x = 1e-7;
    assert_status(s.ctx, ga_event_watch_create(s.ctx, s.m, count_event, &n, &watch), GA_OK);
    ga_event_watch_use(watch, &o);
    assert_status(s.ctx, ga_stepper_create(s.ctx, ga_machine_system(s.m), NULL, &s.st), GA_OK);
    assert_status(s.ctx, ga_simulator_create(s.ctx, s.st, &o, &sim), GA_OK);
    assert_status(s.ctx, ga_machine_initial(s.m, q, v, x), GA_OK);
    assert_status(s.ctx, ga_simulator_start(sim, NULL, 0, q, v, x, NULL, NULL, NULL), GA_OK);
    assert_status(s.ctx, ga_simulator_run(sim), GA_OK);
    const ga_state *at = ga_stepper_state(s.st);
    assert_near(shop_signal(&s, at, "ball.z"), 0.1 + 0.02 * sin(15.0 * 30), 2e-5, "a ball that rests");
    assert_near(shop_signal(&s, at, "stop.rests"), 1, 0, "rests");
    assert_in_range(n, 70, 77);
    ga_simulator_destroy(&sim);
    ga_event_watch_destroy(&watch);
    ga_stepper_destroy(&s.st);
    ga_machine_destroy(&s.m);
    ga_function_destroy(&motion);
    shop_close(&s);
  }
}

static void start_beyond_is_refused(void **state)
{
  (void)state;
  shop s = shop_open(GA_FORM_SPACE, 0);
  ga_rigid_stop_def d = stop_of("stop", -1, 0.5, 0);
  shop_scalar(&s, "mass", 0.6, 0);
  d.coordinate = "mass";
  SHOP_ADD(&s, rigid_stop, &d);
  assert_int_equal(ga_machine_build(s.m), GA_ERR_INCONSISTENT);
  assert_int_equal(ga_context_error(s.ctx)->reason, GA_REASON_STARTS_BEYOND_STOP);
  shop_close(&s);
}

static shop unbuilt(void)
{
  shop s = shop_open(GA_FORM_SPACE, 0);
  add_stops(&s);
  return s;
}

static void memory_may_end(void **state)
{
  (void)state;
  shop_fail_memory(unbuilt);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(derivatives_are_exact),    cmocka_unit_test(ball_bounces_rests_and_leaves),
      cmocka_unit_test(resumes_with_equal_bits),  cmocka_unit_test(masses_share_an_impact),
      cmocka_unit_test(speed_goes_through_a_row), cmocka_unit_test(elastic_stop_of_a_joint_keeps_energy),
      cmocka_unit_test(start_beyond_is_refused),  cmocka_unit_test(memory_may_end),
      cmocka_unit_test(close_limits_hold),        cmocka_unit_test(passing_is_reported),
      cmocka_unit_test(fast_passes_are_found),
      cmocka_unit_test(rest_outlives_events),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
