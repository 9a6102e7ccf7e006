/* Forces: springs, actuators, friction, bushings, contacts, and wrenches at frames. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "mbs/element.h"
#include "mbs_shop.h"
#include "mbs/system.h"
#include "mbs/workspace.h"

/* ---- Machines, one or more for every kind of force ---- */

/* Functions of force laws; one context of their own, so that a machine's can be checked for leaks. */
static ga_context *functions;
static ga_function *cubic, *damper, *wave, *table, *beyond;

static int open_functions(void **state)
{
  const double x[5] = {-1.5, -0.4, 0.1, 0.8, 2}, y[5] = {-40, -5, 2, 9, 70}, x2[2] = {0.3, 4},
               y2[2] = {5, 20};
  ga_table_opts o = ga_table_defaults();
  (void)state;
  assert_int_equal(ga_context_create(NULL, &functions), GA_OK);
  cubic = shop_function(functions, "12*t^3 + 4*t^2 - 1");
  damper = shop_function(functions, "3*tanh(2*t) + 0.2*t^3");
  wave = shop_function(functions, "2*sin(3*t) + 1");
  o.n = 5, o.x = x, o.y = y;
  assert_int_equal(ga_function_create_table(functions, &o, &table), GA_OK);
  o.n = 2, o.x = x2, o.y = y2;
  o.before = o.after = GA_EXTRAPOLATE_ERROR;
  assert_int_equal(ga_function_create_table(functions, &o, &beyond), GA_OK);
  return 0;
}

static int close_functions(void **state)
{
  (void)state;
  ga_function **const all[] = {&cubic, &damper, &wave, &table, &beyond};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) ga_function_destroy(all[i]);
  ga_context_destroy(&functions);
  return 0;
}

/* Two of everything, with markers. */
static void add_bodies(shop *s)
{
  shop_rigid(s, "base", 0, 0, 0);
  shop_rigid(s, "arm", 1.5, 0.4, 0.3);
  shop_planar(s, "slide", -1, 0.5);
  shop_planar(s, "crank", 1, -0.5);
  shop_point(s, "bob", 0.3, 1.2, -0.8);
  shop_marker(s, "p", "base", 0.2, 0.1, -0.3);
  shop_marker(s, "r", "arm", -0.1, 0.3, 0.2);
  shop_turned(s, "c", "crank", 0.3, -0.2, 0.1, 2, 0.6);
  shop_marker(s, "wall", "ground", 0.5, -1.5, 1.0);
}

static ga_spring_def spring_of(const char *name, const char *a, const char *b)
{
  ga_spring_def d = ga_spring_defaults();
  d.name = name;
  d.a = a;
  d.b = b;
  d.stiffness = 7;
  d.damping = 1.3;
  d.preload = 2;
  return d;
}

static void plain_springs(shop *s)
{
  ga_spring_def d = spring_of("s1", "p", "r");
  add_bodies(s);
  SHOP_ADD(s, spring, &d);
  d = spring_of("s2", "wall", "bob");
  d.rest = 0.7;
  SHOP_ADD(s, spring, &d);
  d = spring_of("s3", "slide", "c");
  SHOP_ADD(s, spring, &d);
  d = spring_of("s4", "c", "r");
  SHOP_ADD(s, spring, &d);
  d = spring_of("s5", "p", "ground");
  SHOP_ADD(s, spring, &d);
}

static void curved_springs(shop *s)
{
  ga_spring_def d = spring_of("s1", "p", "r");
  add_bodies(s);
  d.force = cubic;
  d.damper = damper;
  SHOP_ADD(s, spring, &d);
  d = spring_of("s2", "bob", "c");
  d.expression = "0.5*l^2*v + sin(t)*l + 2*arm.x*v - bob.vy^2";
  SHOP_ADD(s, spring, &d);
}

static void add_hinges(shop *s)
{
  ga_joint_def j = ga_joint_defaults();
  j.name = "hinge";
  j.kind = GA_JOINT_REVOLUTE;
  j.a = "p";
  j.b = "r";
  SHOP_ADD(s, joint, &j);
  j.name = "pin";
  j.a = "slide";
  j.b = "c";
  SHOP_ADD(s, joint, &j);
  shop_scalar(s, "rotor", 0.3, 0);
}

static void coordinate_springs(shop *s)
{
  static const char *const coordinate[3] = {"hinge.angle", "pin.angle", "rotor"};
  static const char *const name[3] = {"s1", "s2", "s3"};
  add_bodies(s);
  add_hinges(s);
  for (int i = 0; i < 3; i++) {
    ga_spring_def d = spring_of(name[i], NULL, NULL);
    d.coordinate = coordinate[i];
    d.expression = "l*v + rotor*l";
    SHOP_ADD(s, spring, &d);
  }
}

static void actuators(shop *s)
{
  ga_actuator_def d = ga_actuator_defaults();
  add_bodies(s);
  add_hinges(s);
  d.name = "a1";
  d.a = "p";
  d.b = "bob";
  d.force = (ga_input){1.5, wave, "2*arm.vx + rotor"};
  SHOP_ADD(s, actuator, &d);
  d = ga_actuator_defaults();
  d.name = "a2";
  d.coordinate = "hinge.angle";
  d.force = (ga_input){0, NULL, "bob.z"};
  SHOP_ADD(s, actuator, &d);
  d.name = "a3";
  d.coordinate = "rotor";
  d.force = (ga_input){3, NULL, NULL};
  SHOP_ADD(s, actuator, &d);
}

static void frictions(shop *s)
{
  ga_friction_def d = ga_friction_defaults();
  add_bodies(s);
  add_hinges(s);
  d.name = "f1";
  d.a = "r";
  d.b = "c";
  d.level = (ga_input){2, wave, "bob.x"};
  d.speed = 0.8;
  SHOP_ADD(s, friction, &d);
  d = ga_friction_defaults();
  d.name = "f2";
  d.coordinate = "pin.angle";
  d.level.value = 3;
  d.speed = 1.1;
  SHOP_ADD(s, friction, &d);
}

static ga_bushing_def bushing_of(const char *name, const char *a, const char *b, int n)
{
  rig_random random = rig_seed(0);
  ga_bushing_def d = ga_bushing_defaults();
  d.name = name;
  d.a = a;
  d.b = b;
  for (int i = 0; i < n; i++) {
    d.preload[i] = rig_uniform(&random, -2, 2);
    for (int j = 0; j < n; j++) {
      d.stiffness[6 * i + j] = rig_uniform(&random, -5, 5);
      d.damping[6 * i + j] = rig_uniform(&random, -1, 1);
    }
  }
  return d;
}

static void bushings(shop *s)
{
  ga_bushing_def d = bushing_of("u1", "p", "r", 6);
  add_bodies(s);
  SHOP_ADD(s, bushing, &d);
  d = bushing_of("u2", "wall", "p", 6);
  SHOP_ADD(s, bushing, &d);
  d = bushing_of("u3", "r", "bob", 3);
  SHOP_ADD(s, bushing, &d);
  d = bushing_of("u4", "c", "slide", 6);
  SHOP_ADD(s, bushing, &d);
}

/* Deep enough for all points of a check to be on one side. */
static ga_contact_def contact_of(const char *name, const char *plane, const char *point, double radius)
{
  ga_contact_def d = ga_contact_defaults();
  d.name = name;
  d.plane = plane;
  d.point = point;
  d.radius = radius;
  d.stiffness = 2;
  d.dissipation = 0.02;
  return d;
}

static void contacts(shop *s)
{
  ga_contact_def d = contact_of("k1", "p", "r", 6);
  add_bodies(s);
  d.mu = 0.4, d.speed = 0.7;
  SHOP_ADD(s, contact, &d);
  d = contact_of("k2", "wall", "c", 7);
  d.mu = 0.3, d.speed = 1;
  d.exponent = 2.2;
  SHOP_ADD(s, contact, &d);
  d = contact_of("k3", "r", "bob", 6);
  d.exponent = 1;
  SHOP_ADD(s, contact, &d);
}

/* With a spring, so that no row of the derivatives by q is zero: what follows the body does not depend on q
 * in its axes. */
static void wrenches(shop *s)
{
  ga_force_def d = ga_force_defaults();
  ga_spring_def spring = spring_of("s1", "p", "r");
  add_bodies(s);
  shop_scalar(s, "rotor", 0.3, 0);
  d.name = "w1";
  d.frame = "p";
  for (int i = 0; i < 3; i++) {
    d.force[i] = (ga_input){1 + i, i == 1 ? wave : NULL, i == 2 ? "bob.x + rotor" : NULL};
    d.torque[i] = (ga_input){2 - i, i == 2 ? wave : NULL, i == 0 ? "arm.vx" : NULL};
  }
  SHOP_ADD(s, spring, &spring);
  SHOP_ADD(s, force, &d);
  d.name = "w2";
  d.frame = "r";
  d.axes = GA_AXES_BODY;
  SHOP_ADD(s, force, &d);
  d.name = "w3";
  d.frame = "c";
  SHOP_ADD(s, force, &d);
  for (int i = 0; i < 3; i++) d.torque[i] = (ga_input){0, NULL, NULL};
  d.name = "w4";
  d.frame = "bob";
  SHOP_ADD(s, force, &d);
}

typedef struct machine {
  const char *name;
  void (*add)(shop *s);
} machine;

static const machine MACHINES[] = {{"plain springs", plain_springs},
                                   {"curved springs", curved_springs},
                                   {"springs on coordinates", coordinate_springs},
                                   {"actuators", actuators},
                                   {"friction", frictions},
                                   {"bushings", bushings},
                                   {"contacts", contacts},
                                   {"wrenches", wrenches}};
enum { N_MACHINES = sizeof MACHINES / sizeof *MACHINES };

/* ---- Derivatives ---- */

static void derivatives_are_exact(void **state)
{
  rig_random random = rig_seed(0);
  (void)state;
  for (int i = 0; i < N_MACHINES; i++)
    for (int form = 0; form < 3; form++) {
      char what[64];
      shop s = shop_open((ga_form)form, -9.81);
      snprintf(what, sizeof what, "%s, %s", MACHINES[i].name, SHOP_FORM[form]);
      MACHINES[i].add(&s);
      shop_build(&s);
      shop_check(&s, &random, 8, 0.15, 1e-7, what);
      shop_close(&s);
    }
}

/* Where contacts let go: nothing there, and no pull where they would. */
static void contact_lets_go(void **state)
{
  rig_random random = rig_seed(0);
  (void)state;
  for (int pulls = 0; pulls < 2; pulls++) {
    shop s = shop_open(GA_FORM_SPACE, 0);
    ga_contact_def d = contact_of("k", "wall", "bob", pulls ? 8 : 0);
    rig_spot spot;
    double f[RIG_MOST];
    shop_point(&s, "bob", 0, 0, 3);
    shop_turned(&s, "wall", "ground", 0, 0, 0, 0, 0);
    d.dissipation = 5;
    d.mu = 0.5, d.speed = 0.1;
    SHOP_ADD(&s, contact, &d);
    shop_build(&s);
    shop_spot(&spot, &s, &random, 0.1);
    if (pulls) spot.v[2] = 0.5; /* faster than 1/dissipation */
    const ga_system *sys = ga_machine_system(s.m);
    assert_int_equal(sys->def.force(sys->def.user, &spot.p, f), 0);
    for (int i = 0; i < 3; i++) assert_true(f[i] == 0);
    assert_status(s.ctx, ga_system_check(sys, &spot.p, 1e-9, NULL), GA_OK);
    shop_close(&s);
  }
}

/* ---- Free bodies ---- */

static void mass_hangs_on_spring(void **state)
{
  (void)state;
  shop s = shop_open(GA_FORM_SPACE, -10);
  ga_spring_def d = ga_spring_defaults();
  shop_point(&s, "bob", 0, 0, -1.5); /* 2 kg */
  d.name = "spring";
  d.a = "ground";
  d.b = "bob";
  d.stiffness = 100;
  d.rest = 1.3; /* 100 N/m · 0.2 m = 20 N */
  SHOP_ADD(&s, spring, &d);
  d.name = "slack"; /* at rest as it is */
  d.rest = NAN;
  SHOP_ADD(&s, spring, &d);
  const ga_state *now = shop_start(&s);
  for (int i = 0; i < 3; i++) assert_near(now->vdot[i], 0, 1e-12, "acceleration");
  assert_near(shop_signal(&s, now, "spring.force"), 20, 1e-12, "force of the spring");
  assert_near(shop_signal(&s, now, "spring.length"), 1.5, 1e-15, "length of the spring");
  assert_near(shop_signal(&s, now, "slack.force"), 0, 1e-13, "force of a spring at rest");
  shop_close(&s);
}

/* preload + table(l − rest) + damper(v) + expression, pulling at a scalar of 3 kg. */
static void spring_adds_up(void **state)
{
  double force[1], slope[1];
  (void)state;
  shop s = shop_open(GA_FORM_SPACE, 0);
  ga_spring_def d = ga_spring_defaults();
  shop_scalar(&s, "mass", 1.5, 0.6);
  d.name = "spring";
  d.coordinate = "mass";
  d.rest = 0.9;
  d.preload = 4;
  d.damping = 2;
  d.force = table;
  d.damper = damper;
  d.expression = "10*l + v + t";
  SHOP_ADD(&s, spring, &d);
  const ga_state *now = shop_start(&s);
  assert_int_equal(ga_function_eval(table, 0.6, 0, force, NULL), GA_OK);
  assert_near(force[0], 2 + 7 * 0.5 / 0.7, 1e-14, "table");
  assert_int_equal(ga_function_eval(damper, 0.6, 0, slope, NULL), GA_OK);
  const double sum = 4 + 2 * 0.6 + force[0] + slope[0] + 15.6;
  assert_near(now->vdot[0], -sum / 3, 1e-13, "acceleration");
  assert_near(shop_signal(&s, now, "spring.force"), sum, 1e-13, "force");
  shop_close(&s);
}

static void actuator_pushes(void **state)
{
  (void)state;
  shop s = shop_open(GA_FORM_SPACE, 0);
  ga_actuator_def d = ga_actuator_defaults();
  shop_point(&s, "bob", 0, 3, 4);
  shop_point(&s, "other", 0, 0, 0);
  shop_scalar(&s, "mass", 0, 0);
  d.name = "piston";
  d.a = "other";
  d.b = "bob";
  d.force.value = 10;
  SHOP_ADD(&s, actuator, &d);
  d = ga_actuator_defaults();
  d.name = "motor";
  d.coordinate = "mass";
  d.force.value = 6;
  SHOP_ADD(&s, actuator, &d);
  const ga_state *now = shop_start(&s);
  const double expected[7] = {0, 3, 4, 0, -3, -4, 2};
  for (int i = 0; i < 7; i++) assert_near(now->vdot[i], expected[i], 1e-13, "acceleration");
  shop_close(&s);
}

static void friction_levels_off(void **state)
{
  static const double speed[3] = {5, 0.02, -5}, part[3] = {1, 0.96402758007581690, -1};
  (void)state;
  for (int i = 0; i < 3; i++) {
    shop s = shop_open(GA_FORM_SPACE, 0);
    ga_friction_def d = ga_friction_defaults();
    shop_scalar(&s, "mass", 0, speed[i]);
    d.name = "brake";
    d.coordinate = "mass";
    d.level.value = 6;
    d.speed = 0.01;
    SHOP_ADD(&s, friction, &d);
    assert_near(shop_start(&s)->vdot[0], -2 * part[i], 1e-14, "deceleration");
    shop_close(&s);
  }
}

/* A body displaced by δ in the axes of a turned frame, and turned about that frame's z. */
static void bushing_pulls_back(void **state)
{
  static const double delta[3] = {0.1, -0.2, 0.3}, angle = 0.5, turn = 0.6;
  (void)state;
  for (int form = 0; form < 3; form++) {
    shop s = shop_open((ga_form)form, 0);
    ga_bushing_def u = ga_bushing_defaults();
    ga_rigid_def d = ga_rigid_defaults();
    const double about[3] = {0, 0, 1}, c = cos(turn), n = sin(turn);
    shop_turned(&s, "seat", "ground", 1, 2, 3, 2, turn);
    d.name = "block";
    d.mass = 2;
    d.inertia[0] = d.inertia[1] = d.inertia[2] = 0.5;
    d.pose = ga_pose_at(1 + c * delta[0] - n * delta[1], 2 + n * delta[0] + c * delta[1], 3 + delta[2]);
    assert_int_equal(ga_rotation_axis_angle(s.ctx, about, turn + angle, d.pose.rotation), GA_OK);
    SHOP_ADD(&s, rigid, &d);
    u.name = "bushing";
    u.a = "seat";
    u.b = "block";
    for (int i = 0; i < 6; i++) u.stiffness[7 * i] = 10 * (i + 1);
    u.preload[1] = 3;
    u.stiffness[5] = 4; /* the angle about z pulls along x */
    SHOP_ADD(&s, bushing, &u);
    const ga_state *now = shop_start(&s);
    const double F[3] = {10 * delta[0] + 4 * angle, 3 + 20 * delta[1], 30 * delta[2]};
    double a[3] = {-(c * F[0] - n * F[1]) / 2, -(n * F[0] + c * F[1]) / 2, -F[2] / 2};
    assert_near(shop_signal(&s, now, "block.ax"), a[0], 1e-12, "along x");
    assert_near(shop_signal(&s, now, "block.ay"), a[1], 1e-12, "along y");
    assert_near(shop_signal(&s, now, "block.az"), a[2], 1e-12, "along z");
    assert_near(now->vdot[5], -60 * angle / 0.5, 1e-11, "about z");
    assert_near(now->vdot[3], 0, 1e-12, "about x");
    assert_near(now->vdot[4], 0, 1e-12, "about y");
    shop_close(&s);
  }
}

/* Bodies turned far about z, on bushings that are as stiff about x and y: their angles there are 0. */
static void bushing_turns_far(void **state)
{
  static const double angle[] = {1.4, 1.6, 2.5, -3.0};
  (void)state;
  for (int form = 0; form < 3; form++)
    for (int i = 0; i < 4; i++) {
      shop s = shop_open((ga_form)form, 0);
      ga_bushing_def u = ga_bushing_defaults();
      ga_rigid_def d = ga_rigid_defaults();
      const double about[3] = {0, 0, 1};
      d.name = "block";
      d.mass = 2;
      d.inertia[0] = d.inertia[1] = d.inertia[2] = 0.5;
      assert_int_equal(ga_rotation_axis_angle(s.ctx, about, angle[i], d.pose.rotation), GA_OK);
      SHOP_ADD(&s, rigid, &d);
      u.name = "mount", u.a = "ground", u.b = "block";
      for (int k = 3; k < 6; k++) u.stiffness[7 * k] = 10;
      SHOP_ADD(&s, bushing, &u);
      const ga_state *now = shop_start(&s);
      assert_near(now->vdot[5], -10 * angle[i] / 0.5, 1e-12, "about z");
      assert_near(now->vdot[3], 0, 1e-12, "about x");
      assert_near(now->vdot[4], 0, 1e-12, "about y");
      shop_close(&s);
    }
}

/* Between planar bodies the angle is counted on beyond half a turn, and begins within it, whatever turns the
 * body is given with. */
static void bushing_counts_turns(void **state)
{
  static const double k = 10, inertia = 0.5, rate = 40;
  (void)state;
  shop s = shop_open(GA_FORM_SPACE, 0);
  ga_bushing_def u = ga_bushing_defaults();
  ga_planar_def d = ga_planar_defaults();
  d.name = "disk", d.mass = 1, d.inertia = inertia;
  d.angle = 8 * atan(1) + 0.2, d.rate = rate;
  SHOP_ADD(&s, planar, &d);
  shop_turned(&s, "seat", "ground", 0, 0, 0, 2, 0.2);
  u.name = "mount", u.a = "seat", u.b = "disk";
  for (int i = 0; i < 6; i++) u.stiffness[7 * i] = k;
  SHOP_ADD(&s, bushing, &u);
  const ga_state *now = shop_start(&s);
  assert_near(shop_signal(&s, now, "mount.mz"), 0, 1e-12, "no torque at the start");
  const double w = sqrt(k / inertia), most = rate / w; /* φ = most sin(w t), 8.9 rad */
  for (int i = 0; i < 350; i++) assert_int_equal(ga_stepper_step(s.st, 1e-3), GA_OK);
  now = ga_stepper_state(s.st);
  assert_near(shop_signal(&s, now, "mount.mz"), k * most * sin(w * now->t), 1e-3, "torque");
  assert_near(shop_signal(&s, now, "mount.mx"), 0, 1e-12, "about x");
  assert_near(shop_signal(&s, now, "mount.my"), 0, 1e-12, "about y");
  shop_close(&s);
}

/* In space it turns over at half a turn: a meter says so, and when; after what was saved, too. */
static void bushing_turns_over(void **state)
{
  (void)state;
  shop s = shop_open(GA_FORM_SPACE, 0);
  ga_bushing_def u = ga_bushing_defaults();
  ga_rigid_def d = ga_rigid_defaults();
  ga_meter *meter = NULL, *other = NULL;
  char text[512], again[512];
  double saved[64];
  d.name = "block", d.mass = 2;
  d.inertia[0] = d.inertia[1] = d.inertia[2] = 0.5;
  d.omega[2] = 10;
  SHOP_ADD(&s, rigid, &d);
  u.name = "mount", u.a = "ground", u.b = "block";
  u.stiffness[35] = 1e-3, u.damping[28] = 1;
  SHOP_ADD(&s, bushing, &u);
  shop_start(&s);
  assert_int_equal(ga_meter_create(ga_machine_context(s.m), s.m, &meter), GA_OK);
  assert_int_equal(ga_meter_create(ga_machine_context(s.m), s.m, &other), GA_OK);
  assert_int_equal(ga_meter_start(meter, ga_stepper_state(s.st)), GA_OK);
  for (int i = 0; i < 40; i++) {
    if (i == 31) assert_int_equal(ga_meter_pull_text(meter, text, sizeof text), 0); /* 3.1 of π rad */
    assert_int_equal(ga_stepper_step(s.st, 0.01), GA_OK);
    assert_int_equal(ga_meter_update(meter, ga_stepper_state(s.st)), GA_OK);
  }
  ga_meter_pull_text(meter, text, sizeof text);
  assert_non_null(strstr(text, "bushing 'mount' turns over about z, at t = 0.32 s"));
  assert_null(strstr(text, "about x"));
  assert_null(strstr(text, "about y")); /* damped only, so that nothing jumps */
  assert_true(ga_meter_saved_size(meter) <= 64);
  ga_meter_save(meter, saved);
  assert_int_equal(ga_meter_load(other, saved), GA_OK);
  ga_meter_pull_text(other, again, sizeof again);
  assert_string_equal(again, text);
  ga_meter_destroy(&meter);
  ga_meter_destroy(&other);
  shop_close(&s);
}

static ga_rigid_def ball_of(const char *name, double radius, double z)
{
  ga_rigid_def d = ga_rigid_defaults();
  d.name = name;
  d.mass = 2;
  d.inertia[0] = d.inertia[1] = d.inertia[2] = 0.4 * 2 * radius * radius;
  d.pose = ga_pose_at(0, 0, z);
  return d;
}

/* At rest where k δ^1.5 = m g; sliding, friction μ N slows the ball down and makes it turn. */
static void ball_rests_and_slides(void **state)
{
  const double depth = pow(20.0 / 5000, 1 / 1.5), radius = 0.3;
  (void)state;
  for (int slides = 0; slides < 2; slides++) {
    shop s = shop_open(GA_FORM_SPACE, -10);
    ga_rigid_def d = ball_of("ball", radius, radius - depth);
    ga_contact_def k = contact_of("floor", "ground", "ball", radius);
    if (slides) d.velocity[0] = 3;
    SHOP_ADD(&s, rigid, &d);
    k.stiffness = 5000;
    k.mu = 0.5, k.speed = 1e-6;
    SHOP_ADD(&s, contact, &k);
    const ga_state *now = shop_start(&s);
    assert_near(now->vdot[0], slides ? -5 : 0, 1e-10, "along x");
    assert_near(now->vdot[2], 0, 1e-10, "along z");
    assert_near(now->vdot[4], slides ? 0.5 * 20 * radius / d.inertia[0] : 0, 1e-8, "about y");
    shop_close(&s);
  }
}

/* A ball that rolls does not slide, also on a plane that moves along with it. */
static void rolling_ball_feels_no_friction(void **state)
{
  (void)state;
  shop s = shop_open(GA_FORM_SPACE, 0);
  ga_rigid_def d = ball_of("ball", 0.3, 0.29), floor = ball_of("floor", 1, 0);
  ga_contact_def k = contact_of("touch", "floor", "ball", 0.3);
  d.velocity[0] = 3, d.velocity[1] = -1.5;
  d.omega[0] = 5, d.omega[1] = 10;
  floor.velocity[2] = 0.5;
  d.velocity[2] = 0.5;
  SHOP_ADD(&s, rigid, &d);
  SHOP_ADD(&s, rigid, &floor);
  k.mu = 0.5, k.speed = 0.1;
  SHOP_ADD(&s, contact, &k);
  const ga_state *now = shop_start(&s);
  const double N = 2 * pow(0.01, 1.5);
  for (int i = 0; i < 12; i++)
    assert_near(now->vdot[i], i == 2 ? N / 2 : i == 8 ? -N / 2 : 0, 1e-15, "acceleration");
  shop_close(&s);
}

/* A force at an off-centre marker, of a body that is turned by 90° about z: follower and dead load. */
static void forces_follow_or_not(void **state)
{
  (void)state;
  for (int axes = 0; axes < 2; axes++) {
    shop s = shop_open(GA_FORM_SPACE, 0);
    ga_rigid_def d = ball_of("block", 0.5, 0);
    ga_force_def w = ga_force_defaults();
    const double z[3] = {0, 0, 1};
    assert_int_equal(ga_rotation_axis_angle(s.ctx, z, acos(0.0), d.pose.rotation), GA_OK);
    SHOP_ADD(&s, rigid, &d);
    shop_turned(&s, "tip", "block", 0.5, 0, 0, 2, 0); /* at (0, 0.5, 0) in the ground's frame */
    w.name = "push";
    w.frame = "tip";
    w.axes = axes ? GA_AXES_BODY : GA_AXES_GROUND;
    w.force[0].value = 8;
    w.torque[0].value = 1;
    SHOP_ADD(&s, force, &w);
    const ga_state *now = shop_start(&s);
    const double J = d.inertia[0];
    const double dead[6] = {4, 0, 0, 1 / J, 0, -4 / J}, follower[6] = {0, 4, 0, 0, 1 / J, 0};
    for (int i = 0; i < 6; i++)
      assert_near(now->vdot[i], axes ? follower[i] : dead[i], 1e-13, "acceleration");
    shop_close(&s);
  }
}

/* ---- Energy ---- */

/* Energy stored by forces at q. */
static double stored_at(const shop *s, const rig_spot *spot, const double *q, double *lost, double *in)
{
  ga__mbs_model *b = s->m->model;
  ga_point p = spot->p;
  ga__powers now = {0, 0, 0, 0, 0};
  ga__kin *kin = calloc((size_t)b->node.n, sizeof *kin);
  p.q = q;
  for (int i = 0; i < b->node.n; i++) ga__kin_initial(b, i, kin); /* with rotations of nodes that have none */
  ga__kin_at(b, q, p.v, p.vdot, kin);
  const ga__eval e = {s->m, b, &p, kin, ga__workspace_own(s->m)};
  for (int i = b->first_unswept; i < b->element.n; i++) {
    const ga__element *el = ga__element_at(b, i);
    if (el->type->force && el->type->powers) assert_int_equal(el->type->powers(&e, el, &now), 0);
  }
  free(kin);
  *lost = now.lost;
  *in = now.in;
  return now.potential;
}

/* Power of the forces on the bodies. */
static double power_at(const shop *s, const rig_spot *spot)
{
  ga__mbs_model *b = s->m->model;
  double f[RIG_MOST] = {0}, power = 0;
  const ga__eval e = ga__eval_at(ga__workspace_own(s->m), &spot->p, 1, 1);
  for (int i = b->first_unswept; i < b->element.n; i++) {
    const ga__element *el = ga__element_at(b, i);
    if (el->type->force && el->type->powers) assert_int_equal(el->type->force(&e, el, f), 0);
  }
  for (int i = 0; i < b->nv; i++) power += f[i] * spot->v[i];
  return power;
}

/* Along any motion: power of the forces = power put in − power lost − rate of what is stored. */
static void books_balance(const shop *s, rig_random *random, const char *what)
{
  const ga_group *group = ga_machine_system(s->m)->group;
  const double h = 1e-3, weight[4] = {1.0 / 12, -8.0 / 12, 8.0 / 12, -1.0 / 12};
  static const int at[4] = {-2, -1, 1, 2};
  rig_spot spot;
  double rate = 0, lost, in, q[RIG_MOST], d[RIG_MOST];
  shop_spot(&spot, s, random, 0.15);
  const double power = power_at(s, &spot);
  for (int k = 0; k < 4; k++) {
    for (int i = 0; i < ga_group_nv(group); i++) d[i] = at[k] * h * spot.v[i];
    ga_group_move(group, q, spot.q, d);
    rate += weight[k] / h * stored_at(s, &spot, q, &lost, &in);
  }
  stored_at(s, &spot, spot.q, &lost, &in);
  assert_near(power, in - lost - rate, 1e-7 * (fabs(power) + fabs(in) + fabs(lost) + fabs(rate) + 1), what);
}

static void energy_is_accounted_for(void **state)
{
  rig_random random = rig_seed(0);
  (void)state;
  for (int i = 0; i < N_MACHINES; i++) {
    shop s = shop_open(GA_FORM_SPACE, 0);
    MACHINES[i].add(&s);
    shop_build(&s);
    for (int k = 0; k < 10; k++) books_balance(&s, &random, MACHINES[i].name);
    shop_close(&s);
  }
}

/* The work of a table with kinks, and what has no integral from 0. */
static void tables_store_energy(void **state)
{
  double in, lost;
  rig_spot spot = {.v = {0.7}};
  (void)state;
  spot.p = (ga_point){0, spot.q, spot.v, spot.vdot, spot.lambda, spot.psi, spot.x, spot.y, 0, NULL};
  for (int reaches = 0; reaches < 2; reaches++) {
    shop s = shop_open(GA_FORM_SPACE, 0);
    ga_spring_def d = ga_spring_defaults();
    shop_scalar(&s, "mass", 1.5, 0.7);
    d.name = "spring";
    d.coordinate = "mass";
    d.rest = 0;
    d.force = reaches ? table : beyond;
    SHOP_ADD(&s, spring, &d);
    shop_build(&s);
    const double at[1] = {1.5};
    const double stored = stored_at(&s, &spot, at, &lost, &in);
    /* trapezia: 0 to 0.1 from 0.6 to 2, to 0.8 up to 9, to 1.5 up to 9 + 61·0.7/1.2 */
    const double y0 = 2 - 0.1 * 7 / 0.5, y3 = 9 + 61 * 0.7 / 1.2;
    const double area = 0.05 * (y0 + 2) + 0.35 * (2 + 9) + 0.35 * (9 + y3);
    assert_near(stored, reaches ? area : 0, 1e-9, "stored");
    assert_near(in, reaches ? 0 : -0.7 * (5 + 15 * 1.2 / 3.7), 1e-13, "put in");
    assert_true(lost == 0);
    shop_close(&s);
  }
}

/* ---- What is refused ---- */

static void refuse(void (*add)(shop *s), ga_status expected, const char *says, const char *says_too)
{
  shop s = shop_open(GA_FORM_SPACE, 0);
  add_bodies(&s);
  add(&s);
  assert_status(s.ctx, ga_machine_build(s.m), expected);
  assert_says(s.ctx, says);
  assert_says(s.ctx, says_too);
  assert_null(ga_machine_system(s.m));
  shop_close(&s);
}

static void add_unknown_frame(shop *s)
{
  ga_spring_def d = spring_of("s1", "p", "arn");
  SHOP_ADD(s, spring, &d);
}

static void add_coincident(shop *s)
{
  ga_spring_def d = spring_of("s1", "here", "ground");
  ga_rigid_def b = ball_of("ball", 1, 0);
  SHOP_ADD(s, rigid, &b);
  shop_turned(s, "here", "ball", 0, 0, 0, 0, 0.3);
  SHOP_ADD(s, spring, &d);
}

static void add_same_body(shop *s)
{
  ga_bushing_def d = bushing_of("u1", "p", "base", 6);
  SHOP_ADD(s, bushing, &d);
}

static void add_same_body_contact(shop *s)
{
  ga_contact_def d = contact_of("k1", "ground", "wall", 1);
  SHOP_ADD(s, contact, &d);
}

static void add_turning_point(shop *s)
{
  ga_bushing_def d = bushing_of("u1", "p", "bob", 6);
  SHOP_ADD(s, bushing, &d);
}

static void add_torque_on_point(shop *s)
{
  ga_force_def d = ga_force_defaults();
  d.name = "w1";
  d.frame = "bob";
  d.torque[1].value = 1;
  SHOP_ADD(s, force, &d);
}

static void add_unknown_signal(shop *s)
{
  ga_spring_def d = spring_of("s1", "p", "r");
  d.expression = "l + arm.xx";
  SHOP_ADD(s, spring, &d);
}

static void add_unknown_input(shop *s)
{
  ga_force_def d = ga_force_defaults();
  d.name = "w1";
  d.frame = "p";
  d.torque[2].expression = "bobb.x";
  SHOP_ADD(s, force, &d);
}

static void add_unknown_coordinate(shop *s)
{
  ga_friction_def d = ga_friction_defaults();
  d.name = "f1";
  d.coordinate = "hinge.angle";
  d.level.value = 1;
  d.speed = 1;
  SHOP_ADD(s, friction, &d);
}

static void mistakes_are_named(void **state)
{
  (void)state;
  refuse(add_unknown_frame, GA_ERR_ARGUMENT, "'s1'", "'arn'");
  refuse(add_coincident, GA_ERR_INCONSISTENT, "spring 's1'", "'here' and 'ground' coincide");
  refuse(add_same_body, GA_ERR_ARGUMENT, "bushing 'u1'", "'p' and 'base' are on the same body");
  refuse(add_same_body_contact, GA_ERR_ARGUMENT, "contact 'k1'", "'ground' and 'wall' are on the same body");
  refuse(add_turning_point, GA_ERR_ARGUMENT, "bushing 'u1'", "'bob' belongs to a point");
  refuse(add_torque_on_point, GA_ERR_ARGUMENT, "force 'w1'", "'bob' belongs to a point");
  refuse(add_unknown_signal, GA_ERR_ARGUMENT, "'s1'", "arm.xx");
  refuse(add_unknown_input, GA_ERR_ARGUMENT, "'w1'", "bobb.x");
  refuse(add_unknown_coordinate, GA_ERR_ARGUMENT, "'f1'", "'hinge.angle'");
}

/* A table that ends: the evaluation says whose it is. */
static void force_without_value_is_named(void **state)
{
  (void)state;
  shop s = shop_open(GA_FORM_SPACE, 0);
  ga_spring_def d = ga_spring_defaults();
  rig_spot spot;
  rig_random random = rig_seed(0);
  double f[RIG_MOST];
  shop_scalar(&s, "mass", 0, 0);
  d.name = "stop";
  d.coordinate = "mass";
  d.rest = 0;
  d.force = beyond;
  SHOP_ADD(&s, spring, &d);
  shop_build(&s);
  shop_spot(&spot, &s, &random, 0.1);
  const ga_system *sys = ga_machine_system(s.m);
  assert_true(sys->def.force(sys->def.user, &spot.p, f) > 0);
  assert_says(s.ctx, "spring 'stop'");
  assert_says(s.ctx, "force");
  shop_close(&s);
}

/* Every allocation of a build fails once: nothing stays behind, and the next try goes well. */
static void memory_runs_out(void **state)
{
  (void)state;
  for (int i = 0; i < N_MACHINES; i++) {
    shop s = shop_open(GA_FORM_BODY, 0);
    MACHINES[i].add(&s);
    const long before = rig_memory.live;
    for (int n = 1;; n++) {
      rig_memory.fail_at = rig_memory.count + n;
      const ga_status status = ga_machine_build(s.m);
      if (!status) break;
      assert_int_equal(status, GA_ERR_MEMORY);
      assert_int_equal(rig_memory.live, before);
    }
    rig_memory.fail_at = 0;
    shop_close(&s);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(derivatives_are_exact),
      cmocka_unit_test(contact_lets_go),
      cmocka_unit_test(mass_hangs_on_spring),
      cmocka_unit_test(spring_adds_up),
      cmocka_unit_test(actuator_pushes),
      cmocka_unit_test(friction_levels_off),
      cmocka_unit_test(bushing_pulls_back),
      cmocka_unit_test(bushing_turns_far),
      cmocka_unit_test(bushing_counts_turns),
      cmocka_unit_test(bushing_turns_over),
      cmocka_unit_test(ball_rests_and_slides),
      cmocka_unit_test(rolling_ball_feels_no_friction),
      cmocka_unit_test(forces_follow_or_not),
      cmocka_unit_test(energy_is_accounted_for),
      cmocka_unit_test(tables_store_energy),
      cmocka_unit_test(mistakes_are_named),
      cmocka_unit_test(force_without_value_is_named),
      cmocka_unit_test(memory_runs_out),
  };
  return cmocka_run_group_tests(tests, open_functions, close_functions);
}
