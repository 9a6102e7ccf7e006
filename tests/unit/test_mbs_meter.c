/* Meters: energies that add up, turns of angles, saving. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "mbs/meter.h"
#include "mbs_rig.h"

#include "mbs/system.h"
#include "mbs/workspace.h"

enum { MOST = 64 };

/* ---- Energies ---- */

/* What a machine is made of beside its double pendulum. */
enum { PLAIN = 0, SPRINGS = 1, LOSSES = 2, FORCES = 4, DRIVE = 8, CONTROL = 16, KINDS = 32 };

static ga_context *functions;
static ga_function *wave, *cubic;

static int open_functions(void **state)
{
  ga_function_expr_opts o = ga_function_expr_defaults();
  (void)state;
  if (ga_context_create(NULL, &functions)) return -1;
  o.text = "0.4*sin(3*t) + 0.1*t";
  if (ga_function_create_expr(functions, &o, NULL, &wave)) return -1;
  o.text = "5*t^3";
  return ga_function_create_expr(functions, &o, NULL, &cubic);
}

static int close_functions(void **state)
{
  (void)state;
  ga_function_destroy(&wave);
  ga_function_destroy(&cubic);
  ga_context_destroy(&functions);
  return 0;
}

static void add_joint(const mbs_rig *r, const char *name, ga_joint_kind kind, const char *a, const char *b,
                      double x)
{
  ga_joint_def d = ga_joint_defaults();
  const double across[3] = {0.3 - x, 1, 0.2 + 0.8 * x};
  d.name = name;
  d.kind = kind;
  d.a = a;
  d.b = b;
  d.at_pose = 1;
  d.at = ga_pose_at(x, 0, 0);
  mbs_ok(r, ga_rotation_z_axis(r->ctx, across, NULL, d.at.rotation));
  mbs_ok(r, ga_machine_add_joint(r->m, &d));
}

static void add_arm(const mbs_rig *r, const char *name, double x)
{
  ga_rigid_def d = ga_rigid_defaults();
  const double J[6] = {0.05, 0.15, 0.17, 0.01, 0.005, -0.004};
  d.name = name;
  d.mass = 1.3;
  memcpy(d.inertia, J, sizeof J);
  d.com[0] = 0.5;
  d.pose = ga_pose_at(x, 0, 0);
  mbs_ok(r, ga_machine_add_rigid(r->m, &d));
}

static void add_springs(const mbs_rig *r)
{
  ga_spring_def d = ga_spring_defaults();
  d.name = "line";
  d.a = "anchor";
  d.b = "two";
  d.stiffness = 12;
  d.preload = 1;
  d.force = cubic;
  mbs_ok(r, ga_machine_add_spring(r->m, &d));
  d = ga_spring_defaults();
  d.name = "coil";
  d.coordinate = "elbow.angle";
  d.stiffness = 3;
  mbs_ok(r, ga_machine_add_spring(r->m, &d));
}

static void add_losses(const mbs_rig *r)
{
  ga_spring_def d = ga_spring_defaults();
  ga_friction_def f = ga_friction_defaults();
  d.name = "damper";
  d.a = "anchor";
  d.b = "one";
  d.damping = 0.8;
  mbs_ok(r, ga_machine_add_spring(r->m, &d));
  f.name = "brake";
  f.coordinate = "elbow.angle";
  f.level.value = 0.7;
  f.speed = 1;
  mbs_ok(r, ga_machine_add_friction(r->m, &f));
}

static void add_forces(const mbs_rig *r)
{
  ga_force_def d = ga_force_defaults();
  ga_actuator_def a = ga_actuator_defaults();
  d.name = "wind";
  d.frame = "two";
  d.force[0].value = 2;
  d.force[1].function = wave;
  d.torque[2].value = 0.3;
  mbs_ok(r, ga_machine_add_force(r->m, &d));
  d.name = "jet";
  d.axes = GA_AXES_BODY;
  mbs_ok(r, ga_machine_add_force(r->m, &d));
  a.name = "motor";
  a.coordinate = "elbow.angle";
  a.force.function = wave;
  mbs_ok(r, ga_machine_add_actuator(r->m, &a));
}

static void add_control(const mbs_rig *r)
{
  ga_actuator_def a = ga_actuator_defaults();
  ga_block_first_order_opts o = ga_block_first_order_defaults();
  ga_control_block *block = NULL;
  const ga_input in = {0, NULL, "elbow.angle_rate + 0.1*two.ax"};
  o.time_constant = 0.2;
  o.gain = -0.6;
  mbs_ok(r, ga_block_create_first_order(r->ctx, &o, &block));
  mbs_ok(r, ga_machine_add_block(r->m, "filter", block, &in));
  a.name = "servo";
  a.coordinate = "elbow.angle";
  a.force.expression = "filter";
  mbs_ok(r, ga_machine_add_actuator(r->m, &a));
}

static mbs_rig parts_of_machine(ga_form form, int what)
{
  mbs_rig r = mbs_open(form);
  ga_marker_def anchor = ga_marker_defaults();
  add_arm(&r, "one", 0);
  add_arm(&r, "two", 1);
  anchor.name = "anchor";
  anchor.body = "ground";
  anchor.pose = ga_pose_at(0.2, 0.6, 1.1);
  mbs_ok(&r, ga_machine_add_marker(r.m, &anchor));
  add_joint(&r, "shoulder", GA_JOINT_REVOLUTE, "ground", "one", 0);
  add_joint(&r, "elbow", GA_JOINT_CYLINDRICAL, "one", "two", 1);
  if (what & SPRINGS) add_springs(&r);
  if (what & LOSSES) add_losses(&r);
  if (what & FORCES) add_forces(&r);
  if (what & CONTROL) add_control(&r);
  if (what & DRIVE) {
    ga_drive_def d = ga_drive_defaults();
    d.name = "drive";
    d.coordinate = "shoulder.angle";
    d.function = wave;
    mbs_ok(&r, ga_machine_add_drive(r.m, &d));
  }
  return r;
}

static mbs_rig machine(ga_form form, int what)
{
  mbs_rig r = parts_of_machine(form, what);
  mbs_ok(&r, ga_machine_build(r.m));
  return r;
}

/* Largest |balance|, and the energies at the end. */
static double worst_balance(ga_form form, int what, double h, int n, double energy[GA__N_ENERGIES])
{
  static const char *const name[GA__N_ENERGIES] = {"energy.kinetic", "energy.potential", "energy.dissipated",
                                                   "energy.input", "energy.balance"};
  mbs_rig r = machine(form, what);
  ga_meter *meter = NULL;
  double worst = 0;
  mbs_ok(&r, ga_meter_create(ga_machine_context(r.m), r.m, &meter));
  ga_stepper *st = mbs_start(&r, NAN, h, -1);
  mbs_ok(&r, ga_meter_start(meter, ga_stepper_state(st)));
  assert_true(mbs_signal(&r, meter, st, "energy.balance") == 0);
  for (int k = 0; k < n; k++) {
    mbs_ok(&r, ga_stepper_step(st, h));
    const double ahead =
        mbs_signal(&r, meter, st, "energy.balance"); /* before the meter has seen the state */
    mbs_ok(&r, ga_meter_update(meter, ga_stepper_state(st)));
    assert_near(mbs_signal(&r, meter, st, "energy.balance"), ahead, 1e-12, "balance ahead of the meter");
    worst = fmax(worst, fabs(mbs_signal(&r, meter, st, "energy.balance")));
  }
  for (int i = 0; i < GA__N_ENERGIES; i++) energy[i] = mbs_signal(&r, meter, st, name[i]);
  assert_near(energy[GA__DISSIPATED], mbs_signal(&r, meter, st, name[GA__DISSIPATED]), 0, "the same again");
  assert_true(mbs_signal(&r, NULL, st, "energy.dissipated") == 0 &&
              mbs_signal(&r, NULL, st, "energy.balance") == 0);
  ga_stepper_destroy(&st);
  ga_meter_destroy(&meter);
  assert_null(meter);
  mbs_close(&r);
  return worst;
}

/* Nothing of the energy is lost but by the method's own error of order 2, whatever the machine is made of. */
static void test_balance(void **state)
{
  (void)state;
  static const int made_of[] = {PLAIN, SPRINGS, LOSSES, FORCES, DRIVE, CONTROL, KINDS - 1};
  for (size_t k = rig_brief() ? sizeof made_of / sizeof *made_of - 1 : 0;
       k < sizeof made_of / sizeof *made_of; k++) {
    const int what = made_of[k];
    double e[GA__N_ENERGIES], coarse, fine;
    char text[48];
    const ga_form form = (ga_form)(k % 3);
    snprintf(text, sizeof text, "balance of machine %d", what);
    coarse = worst_balance(form, what, 2e-3, 500, e);
    fine = worst_balance(form, what, 1e-3, 1000, e);
    assert_near(log2(coarse / fine), 2, 0.15, text);
    assert_below(fine, 2e-3 * (1 + fabs(e[GA__KINETIC])), text);
    if (what & LOSSES)
      assert_true(e[GA__DISSIPATED] > 0.05);
    else
      assert_true(e[GA__DISSIPATED] == 0);
    if (what & (FORCES | DRIVE | CONTROL))
      assert_true(fabs(e[GA__INPUT]) > 0.05);
    else
      assert_true(e[GA__INPUT] == 0);
  }
}

/* A run that hands its states to two meters, one of which is loaded from the other after each step. */
typedef struct metered {
  const mbs_rig *r;
  ga_meter *meter, *loaded;
  double most; /* largest |balance|, before and after the meter has seen the state */
} metered;

static int see_state(void *user, const ga_stepper *st)
{
  metered *run = user;
  double saved[MOST];
  const double ahead = mbs_signal(run->r, run->meter, st, "energy.balance");
  mbs_ok(run->r, ga_meter_update(run->meter, ga_stepper_state(st)));
  mbs_ok(run->r, ga_meter_update(run->loaded, ga_stepper_state(st)));
  const double now = mbs_signal(run->r, run->meter, st, "energy.balance");
  assert_near(now, ahead, 1e-9, "balance ahead of the meter");
  assert_true(now == mbs_signal(run->r, run->loaded, st, "energy.balance"));
  assert_true(ga_meter_saved_size(run->meter) <= MOST);
  ga_meter_save(run->meter, saved);
  mbs_ok(run->r, ga_meter_load(run->loaded, saved));
  run->most = fmax(run->most, fabs(now));
  return 0;
}

/* Impacts of drives do work: of a mass of 2 kg brought from 0 to 3 m/s and then to −1 m/s 9 J and −8 J; of an
 * arm that hangs on, whatever the balance needs. */
static void test_impacts(void **state)
{
  (void)state;
  static const double at[] = {0.0, 0.5, 1.0, 2.0}, arm[] = {0.0, 0.0, 0.7, 0.2},
                      mass[] = {0.0, 0.0, 1.5, 0.5};
  for (int kind = 0; kind < 4; kind++) { /* the mass alone, and the arms in three forms */
    mbs_rig r = kind ? parts_of_machine((ga_form)(kind - 1), PLAIN) : mbs_open(GA_FORM_SPACE);
    ga_function *f = NULL;
    ga_table_opts table = ga_table_defaults();
    ga_drive_def d = ga_drive_defaults();
    table.x = at, table.y = kind ? arm : mass, table.n = 4;
    mbs_ok(&r, ga_function_create_table(r.ctx, &table, &f));
    if (!kind) {
      ga_scalar_def s = ga_scalar_defaults();
      s.name = "mass", s.mass = 2.0;
      mbs_ok(&r, ga_machine_add_scalar(r.m, &s));
    }
    d.name = "drive", d.coordinate = kind ? "shoulder.angle" : "mass", d.function = f, d.accept_impact = 1;
    mbs_ok(&r, ga_machine_add_drive(r.m, &d));
    mbs_ok(&r, ga_machine_build(r.m));
    metered run = {.r = &r};
    mbs_ok(&r, ga_meter_create(ga_machine_context(r.m), r.m, &run.meter));
    mbs_ok(&r, ga_meter_create(ga_machine_context(r.m), r.m, &run.loaded));
    ga_stepper *st = mbs_start(&r, NAN, 1e-3, -1);
    ga_simulator *sim = NULL;
    ga_simulate_opts o = ga_simulate_defaults();
    o.t_end = 2.0, o.fixed_h = 1e-3, o.observer = see_state, o.user = &run;
    mbs_ok(&r, ga_simulator_create(r.ctx, st, &o, &sim));
    double q[64], v[64];
    mbs_ok(&r, ga_machine_initial(r.m, q, v, NULL));
    ga_start_opts start = ga_start_defaults();
    start.max_change = 10;
    mbs_ok(&r, ga_simulator_start(sim, &start, 0.0, q, v, NULL, NULL, NULL, NULL));
    mbs_ok(&r, ga_meter_start(run.meter, ga_stepper_state(st)));
    mbs_ok(&r, ga_meter_start(run.loaded, ga_stepper_state(st)));
    while (ga_stepper_state(st)->t < 0.9) mbs_ok(&r, ga_simulator_step(sim));
    if (!kind)
      assert_near(mbs_signal(&r, run.meter, st, "energy.input"), 9.0, 1e-9, "input of the first impact");
    assert_int_equal(ga_simulator_run(sim), GA_OK);
    if (!kind) assert_near(mbs_signal(&r, run.meter, st, "energy.input"), 1.0, 1e-9, "input");
    assert_below(run.most, kind ? 2e-4 : 1e-9, "balance");
    assert_int_equal(ga_simulator_stats(sim)->restarts, 2);
    ga_simulator_destroy(&sim);
    ga_stepper_destroy(&st);
    ga_meter_destroy(&run.meter);
    ga_meter_destroy(&run.loaded);
    ga_machine_destroy(&r.m);
    ga_function_destroy(&f);
    mbs_close(&r);
  }
}

/* A falling point: ½ m v² and −m g·x, to the last digits. */
static void test_values(void **state)
{
  (void)state;
  mbs_rig r = mbs_open(GA_FORM_SPACE);
  ga_point_def d = ga_point_defaults();
  ga_scalar_def s = ga_scalar_defaults();
  ga_planar_def p = mbs_planar("plate");
  d.name = "bob";
  d.mass = 2;
  d.position[0] = 1, d.position[1] = -2, d.position[2] = 3;
  d.velocity[0] = 0.5, d.velocity[1] = 1, d.velocity[2] = -1;
  s.name = "rotor";
  s.mass = 0.4;
  s.velocity = 7;
  s.position = 100; /* has no weight */
  mbs_ok(&r, ga_machine_add_point(r.m, &d));
  mbs_ok(&r, ga_machine_add_scalar(r.m, &s));
  r.m->opts.gravity[0] = 0.7;
  p.z = 0.25;
  mbs_ok(&r, ga_machine_add_planar(r.m, &p));
  mbs_ok(&r, ga_machine_build(r.m));
  ga_stepper *st = mbs_start(&r, NAN, 0.01, -1);
  const double c = cos(p.angle), sn = sin(p.angle), ox = c * p.com[0] - sn * p.com[1],
               oy = sn * p.com[0] + c * p.com[1];
  const double vx = p.velocity[0] - p.rate * oy, vy = p.velocity[1] + p.rate * ox;
  assert_near(mbs_signal(&r, NULL, st, "energy.kinetic"),
              2.25 + 0.2 * 49 + 0.5 * p.mass * (vx * vx + vy * vy) + 0.5 * p.inertia * p.rate * p.rate, 1e-12,
              "kinetic");
  assert_near(mbs_signal(&r, NULL, st, "energy.potential"),
              -2 * (0.7 * 1 + 1.5 * -2 - 9.81 * 3) -
                  p.mass * (0.7 * (p.position[0] + ox) + 1.5 * (p.position[1] + oy) - 9.81 * 0.25),
              1e-12, "potential");
  ga_stepper_destroy(&st);
  mbs_close(&r);
}

/* ---- Turns ---- */

/* A wheel on a hub, which a coil may use. */
static void add_wheel(const mbs_rig *r, double rate, int used)
{
  ga_rigid_def d = ga_rigid_defaults();
  ga_joint_def j = ga_joint_defaults();
  ga_spring_def s = ga_spring_defaults();
  d.name = "wheel";
  d.mass = 1;
  d.inertia[0] = d.inertia[1] = 1;
  d.inertia[2] = 2;
  d.omega[2] = rate;
  mbs_ok(r, ga_machine_add_rigid(r->m, &d));
  j.name = "hub";
  j.kind = GA_JOINT_REVOLUTE;
  j.a = "ground";
  j.b = "wheel";
  mbs_ok(r, ga_machine_add_joint(r->m, &j));
  s.name = "coil";
  s.coordinate = "hub.angle";
  if (used) mbs_ok(r, ga_machine_add_spring(r->m, &s));
}

static mbs_rig wheel(ga_form form, double rate, int used)
{
  mbs_rig r = mbs_open(form);
  add_wheel(&r, rate, used);
  mbs_ok(&r, ga_machine_build(r.m));
  return r;
}

/* Slow ones, and such that turn by more than half a turn in a step. */
static void test_turns(void **state)
{
  (void)state;
  static const double rate[] = {3, -25, 41, 0.5};
  const double h = 0.125;
  for (int used = 0; used < 2; used++)
    for (size_t k = 0; k < sizeof rate / sizeof *rate; k++) {
      mbs_rig r = wheel((ga_form)(k % 3), rate[k], used);
      ga_meter *meter = NULL;
      mbs_ok(&r, ga_meter_create(ga_machine_context(r.m), r.m, &meter));
      assert_int_equal(meter->simple, 1);
      ga_stepper *st = mbs_start(&r, NAN, h, -1);
      mbs_ok(&r, ga_meter_start(meter, ga_stepper_state(st)));
      for (int i = 1; i <= 40; i++) {
        mbs_ok(&r, ga_stepper_step(st, h));
        /* asked for before the meter knows of the step, and after */
        assert_near(mbs_signal(&r, meter, st, "hub.angle"), rate[k] * h * i, 1e-8, "angle");
        mbs_ok(&r, ga_meter_update(meter, ga_stepper_state(st)));
        assert_near(mbs_signal(&r, meter, st, "hub.angle"), rate[k] * h * i, 1e-8, "angle");
        const double plain = mbs_signal(&r, NULL, st, "hub.angle");
        if (used)
          assert_near(plain, rate[k] * h * i, 1e-8, "an angle that is used counts its turns itself");
        else
          assert_near(plain, remainder(rate[k] * h * i, 8 * atan(1)), 1e-8, "angle without a meter");
      }
      ga_stepper_destroy(&st);
      ga_meter_destroy(&meter);
      mbs_close(&r);
    }
}

/* A wheel that slows down, turns back and gets fast, α = 4 rad/s²: its angle is read at some steps, and near
 * the end after every step; it is right at any time, between steps too, however often it passes ±π. */
static void test_turns_by_rare_reads(void **state)
{
  (void)state;
  enum { STEPS = 700 };
  const double h = 0.02, begin = -6, alpha = 4;
  for (int form = 0; form < 3; form++) {
    mbs_rig r = mbs_open((ga_form)form);
    ga_force_def torque = ga_force_defaults();
    ga_meter *meter = NULL;
    int looks = 0, last = 0;
    add_wheel(&r, begin, 0);
    torque.name = "torque";
    torque.frame = "wheel";
    torque.torque[2].value = 2 * alpha;
    mbs_ok(&r, ga_machine_add_force(r.m, &torque));
    mbs_ok(&r, ga_machine_build(r.m));
    mbs_ok(&r, ga_meter_create(ga_machine_context(r.m), r.m, &meter));
    ga_stepper *st = mbs_start(&r, NAN, h, -1);
    mbs_ok(&r, ga_meter_start(meter, ga_stepper_state(st)));
    for (int i = 1; i <= STEPS; i++) {
      const double t = h * i, angle = (begin + 0.5 * alpha * t) * t;
      mbs_ok(&r, ga_stepper_step(st, h));
      assert_near(mbs_signal(&r, meter, st, "hub.angle"), angle, 1e-7 * (1 + fabs(angle)), "before");
      mbs_ok(&r, ga_meter_update(meter, ga_stepper_state(st)));
      assert_near(mbs_signal(&r, meter, st, "hub.angle"), angle, 1e-7 * (1 + fabs(angle)), "after");
      assert_near(meter->fastest, fabs(begin + alpha * t), 1e-8, "rate");
      looks += meter->moved == 0;
      last = meter->moved == 0 ? last + 1 : 0;
    }
    assert_true(looks > 50 && looks < STEPS);
    assert_true(last > 100); /* 0.5 rad in a step of 20 ms: from 12.5 rad/s on */
    assert_near(meter->input, 2 * alpha * (begin + 0.5 * alpha * h * STEPS) * h * STEPS, 1e-6, "work");
    ga_stepper_destroy(&st);
    ga_meter_destroy(&meter);
    mbs_close(&r);
  }
}

/* The rate of a look that is long past says nothing of where an angle went since: a wheel that is stopped,
 * and rests for 100 s, has not turned. */
static void test_turns_at_rest(void **state)
{
  (void)state;
  mbs_rig r = wheel(GA_FORM_SPACE, 5, 0);
  ga_meter *meter = NULL;
  ga_stepper *st = mbs_start(&r, NAN, 0.3, -1);
  const double stands[6] = {0};
  const int index = ga_machine_find_signal(r.m, "hub.angle");
  double angle;
  mbs_ok(&r, ga_meter_create(ga_machine_context(r.m), r.m, &meter));
  mbs_ok(&r, ga_meter_start(meter, ga_stepper_state(st)));
  for (int i = 0; i < 5; i++) {
    mbs_ok(&r, ga_stepper_step(st, 0.3));
    mbs_ok(&r, ga_meter_update(meter, ga_stepper_state(st)));
  }
  assert_true(meter->moved == 0);
  ga_state s = *ga_stepper_state(st);
  s.v = stands;
  for (int i = 0; i < 4; i++) {
    s.t += i < 2 ? 1e-3 : 100;
    mbs_ok(&r, ga_machine_signals(r.m, meter, &s, 1, &index, &angle));
    assert_near(angle, 7.5, 1e-8, "before the meter knows");
    mbs_ok(&r, ga_meter_update(meter, &s));
    assert_true(meter->moved > 0);
    mbs_ok(&r, ga_machine_signals(r.m, meter, &s, 1, &index, &angle));
    assert_near(angle, 7.5, 1e-8, "after");
  }
  ga_stepper_destroy(&st);
  ga_meter_destroy(&meter);
  mbs_close(&r);
}

static int moves_an_angle(const ga_meter *meter, const ga__node *node)
{
  for (int i = 0; i < meter->n_spin; i++)
    if (node->column[5] >= 0 && meter->spin[i] == node->v + node->column[5]) return 1;
  return 0;
}

/* Never less than the length of any ω in space, whatever velocities the form has, and not much more. */
static void test_fastest(void **state)
{
  (void)state;
  for (int form = 0; form < 3; form++) {
    mbs_rig r = machine((ga_form)form, FORCES | DRIVE);
    ga_meter *meter = NULL;
    ga_stepper *st = mbs_start(&r, NAN, 0.01, -1);
    mbs_ok(&r, ga_meter_create(ga_machine_context(r.m), r.m, &meter));
    mbs_ok(&r, ga_meter_start(meter, ga_stepper_state(st)));
    assert_int_equal(meter->watch, 0);
    assert_true(meter->n_spin > 0);
    for (int k = 0; k < 20; k++) {
      double most = 0;
      mbs_ok(&r, ga_stepper_step(st, 0.01));
      mbs_ok(&r, ga_meter_update(meter, ga_stepper_state(st)));
      const ga_point p = ga__point_of(ga_stepper_state(st));
      const ga__eval e = ga__eval_at(ga__workspace_own(r.m), &p, 1, 0);
      for (int i = 1; i < e.b->node.n; i++) {
        const double *w = e.kin[i].w + 3;
        if (!moves_an_angle(meter, GA__AT(e.b->node, ga__node, i))) continue;
        most = fmax(most, sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]));
      }
      assert_true(most > 0.01);
      assert_true(meter->fastest >= most * (1 - 1e-14));
      assert_true(meter->fastest <= most * (sqrt(3) + 1e-14));
    }
    ga_stepper_destroy(&st);
    ga_meter_destroy(&meter);
    mbs_close(&r);
  }
}

/* Each angle of a joint has turns of its own. */
static void test_turning(void **state)
{
  (void)state;
  mbs_rig r = mbs_open(GA_FORM_SPACE);
  static const char *const name[3] = {"cross.angle_x", "cross.angle_y", "hub.angle"};
  ga_meter *meter = NULL;
  double turns[3];
  add_arm(&r, "one", 0);
  add_arm(&r, "two", 1);
  add_joint(&r, "cross", GA_JOINT_UNIVERSAL, "ground", "one", 0);
  add_joint(&r, "hub", GA_JOINT_REVOLUTE, "one", "two", 1);
  mbs_ok(&r, ga_machine_build(r.m));
  mbs_ok(&r, ga_meter_create(ga_machine_context(r.m), r.m, &meter));
  ga_stepper *st = mbs_start(&r, NAN, 0.01, -1);
  mbs_ok(&r, ga_meter_start(meter, ga_stepper_state(st)));
  assert_int_equal(r.m->model->signals.n_turns, 3);
  assert_int_equal(meter->watch, 1); /* angles of a universal joint may change faster than its sides turn */
  mbs_ok(&r, ga_stepper_step(st, 0.01));
  mbs_ok(&r, ga_meter_update(meter, ga_stepper_state(st)));
  assert_true(meter->moved == 0);
  for (int i = 0; i < 3; i++) meter->turns[i] = 10 * (i + 1);
  for (int i = 0; i < 3; i++)
    turns[i] = mbs_signal(&r, meter, st, name[i]) - mbs_signal(&r, NULL, st, name[i]);
  for (int i = 0; i < 3; i++) assert_near(turns[i], 8 * atan(1) * 10 * (i + 1), 1e-9, name[i]);
  ga_stepper_destroy(&st);
  ga_meter_destroy(&meter);
  mbs_close(&r);
}

/* Turns come back from what was saved. */
static void test_saved_turns(void **state)
{
  (void)state;
  mbs_rig r = wheel(GA_FORM_SPACE, 9, 0);
  ga_meter *a = NULL, *b = NULL;
  double saved[MOST];
  mbs_ok(&r, ga_meter_create(ga_machine_context(r.m), r.m, &a));
  mbs_ok(&r, ga_meter_create(ga_machine_context(r.m), r.m, &b));
  ga_stepper *st = mbs_start(&r, NAN, 0.1, -1);
  assert_near(mbs_signal(&r, a, st, "energy.balance"), 0, 0, "a meter that was not started");
  mbs_ok(&r, ga_meter_start(a, ga_stepper_state(st)));
  for (int k = 0; k < 30; k++) {
    mbs_ok(&r, ga_stepper_step(st, 0.1));
    mbs_ok(&r, ga_meter_update(a, ga_stepper_state(st)));
  }
  assert_true(ga_meter_saved_size(a) <= MOST);
  ga_meter_save(a, saved);
  mbs_ok(&r, ga_meter_load(b, saved));
  assert_near(mbs_signal(&r, b, st, "hub.angle"), 9 * 3, 1e-8, "angle");
  ga_stepper_destroy(&st);
  ga_meter_destroy(&a);
  ga_meter_destroy(&b);
  mbs_close(&r);
}

/* ---- Saving, and what can go wrong ---- */

static void test_saving(void **state)
{
  (void)state;
  mbs_rig r = machine(GA_FORM_SPACE, KINDS - 1);
  ga_meter *a = NULL, *b = NULL;
  double saved[MOST], again[MOST];
  mbs_ok(&r, ga_meter_create(ga_machine_context(r.m), r.m, &a));
  mbs_ok(&r, ga_meter_create(ga_machine_context(r.m), r.m, &b));
  ga_stepper *st = mbs_start(&r, NAN, 0.01, -1);
  mbs_ok(&r, ga_meter_start(a, ga_stepper_state(st)));
  for (int k = 0; k < 10; k++) {
    mbs_ok(&r, ga_stepper_step(st, 0.01));
    mbs_ok(&r, ga_meter_update(a, ga_stepper_state(st)));
  }
  const size_t n = ga_meter_saved_size(a);
  assert_true(n > 0 && n <= MOST);
  ga_meter_save(a, saved);
  mbs_ok(&r, ga_meter_load(b, saved));
  for (int k = 0; k < 10; k++) {
    mbs_ok(&r, ga_stepper_step(st, 0.01));
    mbs_ok(&r, ga_meter_update(a, ga_stepper_state(st)));
    mbs_ok(&r, ga_meter_update(b, ga_stepper_state(st)));
  }
  ga_meter_save(a, saved);
  ga_meter_save(b, again);
  assert_memory_equal(saved, again, n * sizeof *saved);
  saved[2] = NAN;
  assert_status(r.ctx, ga_meter_load(b, saved), GA_ERR_NAN);
  ga_meter_save(b, saved);
  assert_memory_equal(saved, again, n * sizeof *saved);
  assert_status(r.ctx, ga_meter_load(b, NULL), GA_ERR_ARGUMENT);
  assert_int_equal(ga_meter_saved_size(NULL), 0);
  ga_meter_save(NULL, saved);
  ga_stepper_destroy(&st);
  ga_meter_destroy(&a);
  ga_meter_destroy(&b);
  ga_meter_destroy(&b);
  ga_meter_destroy(NULL);
  mbs_close(&r);
}

/* ---- Steps of higher order ---- */

/* A stepper by collocation at its start. */
static ga_stepper *start_collocation(const mbs_rig *r, int order)
{
  ga_stepper *st = NULL;
  ga_stepper_opts o = ga_stepper_defaults();
  ga_start_opts start = ga_start_defaults();
  double q[MBS_MOST], v[MBS_MOST], x[MBS_MOST];
  o.method = GA_COLLOCATION;
  o.order = order;
  o.newton.tol = 1e-14;
  o.newton.max_iterations = 50;
  start.h = 0.01;
  start.max_change = 10;
  mbs_ok(r, ga_machine_initial(r->m, q, v, x));
  mbs_ok(r, ga_stepper_create(r->ctx, ga_machine_system(r->m), &o, &st));
  mbs_ok(r, ga_stepper_start(st, &start, 0, q, v, x, NULL, NULL, NULL));
  return st;
}

/* energy.balance at t within the last step. */
static double balance_inside(const mbs_rig *r, const ga_meter *meter, ga_stepper *st, double t)
{
  double q[MBS_MOST], v[MBS_MOST], vdot[MBS_MOST], lambda[MBS_MOST], psi[MBS_MOST], x[MBS_MOST], y[MBS_MOST],
      balance;
  const ga_state s = {.t = t, .q = q, .v = v, .vdot = vdot, .lambda = lambda, .psi = psi, .x = x, .y = y};
  const int i = ga_machine_find_signal(r->m, "energy.balance");
  mbs_ok(r, ga_stepper_interpolate(st, t, q, v, vdot, lambda, psi, x, y));
  mbs_ok(r, ga_machine_signals(r->m, meter, &s, 1, &i, &balance));
  return balance;
}

/* Largest |balance| at the ends of n steps to t_end and, if not NULL, in their middles. follow 0: as if the
 * method had order 2. */
static double followed_balance(int what, int order, int n, int follow, double *middle)
{
  mbs_rig r = machine(GA_FORM_SPACE, what);
  ga_meter *meter = NULL;
  const double h = 0.8 / n;
  double worst = 0;
  mbs_ok(&r, ga_meter_create(ga_machine_context(r.m), r.m, &meter));
  ga_stepper *st = start_collocation(&r, order);
  mbs_ok(&r, ga_meter_start(meter, ga_stepper_state(st)));
  if (middle) *middle = 0;
  for (int k = 0; k < n; k++) {
    mbs_ok(&r, ga_stepper_step(st, h));
    if (follow) mbs_ok(&r, ga_meter_follow(meter, st));
    if (middle) *middle = fmax(*middle, fabs(balance_inside(&r, meter, st, (k + 0.5) * h)));
    mbs_ok(&r, ga_meter_update(meter, ga_stepper_state(st)));
    worst = fmax(worst, fabs(mbs_signal(&r, meter, st, "energy.balance")));
    if (follow) mbs_ok(&r, ga_meter_follow(meter, st)); /* again: nothing changes */
    assert_near(mbs_signal(&r, meter, st, "energy.balance"), mbs_signal(&r, meter, st, "energy.balance"), 0,
                "the same");
  }
  ga_stepper_destroy(&st);
  ga_meter_destroy(&meter);
  mbs_close(&r);
  return worst;
}

/* The balance has the order of the steps at their ends, with drives, losses, forces and controllers; within
 * them at least three, and it is of order 2 for a meter that does not follow. */
static void test_followed(void **state)
{
  static const int order[] = {3, 4, 5, 6, 8};
  static const int parts[] = {SPRINGS | DRIVE, SPRINGS | FORCES, SPRINGS | LOSSES, KINDS - 1};
  (void)state;
  for (int i = 0; i < 5; i++)
    for (int k = 0; k < (rig_brief() ? 1 : 4); k++) {
      const int n = order[i] > 6 ? 16 : 32;
      double coarse_inside, fine_inside;
      const double coarse = followed_balance(parts[k], order[i], n, 1, &coarse_inside),
                   fine = followed_balance(parts[k], order[i], 2 * n, 1, &fine_inside),
                   plain = followed_balance(parts[k], order[i], 2 * n, 0, NULL);
      const double seen = log2(coarse / fine);
      if (!(seen > order[i] - 0.6 && seen < order[i] + 1.5) && fine > 1e-12)
        fail_msg("parts %d, order %d: balance off by %.2e, then %.2e: order %.2f", parts[k], order[i], coarse,
                 fine, seen);
      if (!(log2(coarse_inside / fine_inside) > 2.7) && fine_inside > 1e-11)
        fail_msg("parts %d, order %d: within steps %.2e, then %.2e", parts[k], order[i], coarse_inside,
                 fine_inside);
      assert_true(order[i] < 4 || plain > 3 * fine);
    }
}

/* Saved between two steps, a meter goes on to the same bits, however often it looks at states within them; a
 * stepper of another machine is refused, one of order 2 has no nodes. */
static void test_following(void **state)
{
  (void)state;
  mbs_rig r = machine(GA_FORM_SPACE, KINDS - 1), other = {.ctx = r.ctx};
  ga_meter *a = NULL, *b = NULL;
  double saved[MOST], again[MOST], begin, at[GA_MOST_NODES];
  ga_state node;
  mbs_ok(&r, ga_machine_create(r.ctx, NULL, &other.m));
  add_arm(&other, "alone", 0);
  mbs_ok(&r, ga_machine_build(other.m));
  mbs_ok(&r, ga_meter_create(ga_machine_context(r.m), r.m, &a));
  mbs_ok(&r, ga_meter_create(ga_machine_context(r.m), r.m, &b));
  ga_stepper *st = start_collocation(&r, 6), *plain = mbs_start(&r, NAN, 0.01, -1),
             *alien = mbs_start(&other, NAN, 0.01, -1);
  mbs_ok(&r, ga_meter_follow(a, st)); /* not started: nothing to do */
  mbs_ok(&r, ga_meter_start(a, ga_stepper_state(st)));
  assert_int_equal(ga_stepper_nodes(st, &begin, at), 0);
  assert_status(r.ctx, ga_stepper_node(st, 0, &node), GA_ERR_ARGUMENT);
  for (int k = 0; k < 6; k++) {
    mbs_ok(&r, ga_stepper_step(st, 0.02));
    mbs_ok(&r, ga_meter_follow(a, st));
    mbs_ok(&r, ga_meter_update(a, ga_stepper_state(st)));
    if (k == 2) {
      ga_meter_save(a, saved);
      mbs_ok(&r, ga_meter_load(b, saved));
    } else if (k > 2) {
      mbs_ok(&r, ga_meter_follow(b, st));
      balance_inside(&r, b, st, 0.02 * k + 0.013);
      mbs_ok(&r, ga_meter_update(b, ga_stepper_state(st)));
    }
  }
  ga_meter_save(a, saved);
  ga_meter_save(b, again);
  assert_memory_equal(saved, again, ga_meter_saved_size(a) * sizeof *saved);
  assert_int_equal(ga_stepper_nodes(st, &begin, at), 4);
  assert_true(begin == at[0] && at[3] == ga_stepper_state(st)->t && at[1] > at[0] && at[2] > at[1] &&
              at[3] > at[2]);
  mbs_ok(&r, ga_stepper_node(st, 1, &node));
  assert_true(node.t == at[1] && !node.a);
  assert_status(r.ctx, ga_stepper_node(st, 4, &node), GA_ERR_ARGUMENT);
  mbs_ok(&r, ga_stepper_step(plain, 0.01));
  assert_int_equal(ga_stepper_nodes(plain, &begin, at), 0);
  mbs_ok(&r, ga_meter_follow(a, plain));
  assert_status(ga_machine_context(r.m), ga_meter_follow(a, alien), GA_ERR_ARGUMENT);
  mbs_ok(&r, ga_stepper_undo(st));
  assert_int_equal(ga_stepper_nodes(st, &begin, at), 0);
  ga_stepper_destroy(&st);
  ga_stepper_destroy(&plain);
  ga_stepper_destroy(&alien);
  ga_meter_destroy(&a);
  ga_meter_destroy(&b);
  ga_machine_destroy(&other.m);
  mbs_close(&r);
}

/* ---- What a step costs ---- */

static ga__powers powers_of(const mbs_rig *r, ga_stepper *st)
{
  const ga_point p = ga__point_of(ga_stepper_state(st));
  const ga__eval e = ga__eval_at(ga__workspace_own(r->m), &p, 1, 1);
  ga__powers all;
  assert_int_equal(ga__elements_powers(&e, &all), 0);
  return all;
}

/* What cannot lose power nor put any in is left out of a step, and makes no difference to any bit. */
static void test_left_out(void **state)
{
  (void)state;
  for (int what = 0; what < KINDS; what++) {
    mbs_rig r = machine(what % 2 ? GA_FORM_SPACE : GA_FORM_SE3, what);
    ga_meter *meter = NULL;
    ga_stepper *st = mbs_start(&r, NAN, 0.01, -1);
    double dissipated = 0, input = 0;
    mbs_ok(&r, ga_meter_create(ga_machine_context(r.m), r.m, &meter));
    mbs_ok(&r, ga_meter_start(meter, ga_stepper_state(st)));
    ga__powers last = powers_of(&r, st);
    for (int k = 0; k < 5; k++) {
      const double t = ga_stepper_state(st)->t;
      mbs_ok(&r, ga_stepper_step(st, 0.01));
      mbs_ok(&r, ga_meter_update(meter, ga_stepper_state(st)));
      const ga__powers now = powers_of(&r, st);
      const double h = ga_stepper_state(st)->t - t;
      dissipated += 0.5 * h * (last.lost + now.lost);
      input += 0.5 * h * (last.in + now.in);
      last = now;
    }
    assert_true(meter->dissipated == dissipated && meter->input == input);
    assert_true((dissipated != 0) == ((what & LOSSES) != 0));
    assert_true((input != 0) == ((what & (FORCES | DRIVE | CONTROL)) != 0));
    assert_true(meter->t == ga_stepper_state(st)->t);
    ga_stepper_destroy(&st);
    ga_meter_destroy(&meter);
    mbs_close(&r);
  }
}

static void add_coil(const mbs_rig *r, const char *name, const char *coordinate)
{
  ga_spring_def d = ga_spring_defaults();
  d.name = name;
  d.coordinate = coordinate;
  d.stiffness = 3;
  d.damping = 0.7;
  d.rest = 0.1;
  mbs_ok(r, ga_machine_add_spring(r->m, &d));
}

/* A scalar body's coordinate, angles of planar bodies against the ground and each other: their laws need no
 * frames, and their lengths and rates are the same bits as those of the signals, which take them from
 * frames. */
static mbs_rig linear_parts(void)
{
  mbs_rig r = mbs_open(GA_FORM_SPACE);
  ga_planar_def upper = mbs_planar("upper"), lower = mbs_planar("lower");
  ga_scalar_def rotor = ga_scalar_defaults();
  rotor.name = "rotor";
  rotor.mass = 2;
  rotor.rotational = 1;
  rotor.position = 0.4;
  rotor.velocity = -1.3;
  for (int i = 0; i < 2; i++) /* both turn about the origin */
    upper.position[i] = upper.velocity[i] = lower.position[i] = lower.velocity[i] = 0;
  mbs_ok(&r, ga_machine_add_planar(r.m, &upper));
  mbs_ok(&r, ga_machine_add_planar(r.m, &lower));
  mbs_ok(&r, ga_machine_add_scalar(r.m, &rotor));
  for (int i = 0; i < 2; i++) {
    ga_joint_def d = ga_joint_defaults();
    d.name = i ? "elbow" : "hinge";
    d.kind = GA_JOINT_REVOLUTE;
    d.a = i ? "upper" : "ground";
    d.b = i ? "lower" : "upper";
    mbs_ok(&r, ga_machine_add_joint(r.m, &d));
  }
  add_coil(&r, "one", "hinge.angle");
  add_coil(&r, "two", "elbow.angle");
  add_coil(&r, "three", "rotor");
  return r;
}

static mbs_rig linear_machine(void)
{
  mbs_rig r = linear_parts();
  mbs_ok(&r, ga_machine_build(r.m));
  return r;
}

static void test_linear(void **state)
{
  (void)state;
  mbs_rig r = linear_machine();
  ga_meter *meter = NULL;
  ga_stepper *st = mbs_start(&r, NAN, 0.01, -1);
  mbs_ok(&r, ga_meter_create(ga_machine_context(r.m), r.m, &meter));
  mbs_ok(&r, ga_meter_start(meter, ga_stepper_state(st)));
  assert_int_equal(meter->needs_kin, 0);
  assert_int_equal(meter->n_work_terms, 3);
  for (int k = 0; k < 20; k++) {
    static const char *const name[3][3] = {{"one.length", "one.rate", "one.force"},
                                           {"two.length", "two.rate", "two.force"},
                                           {"three.length", "three.rate", "three.force"}};
    double lost = 0;
    mbs_ok(&r, ga_stepper_step(st, 0.01));
    mbs_ok(&r, ga_meter_update(meter, ga_stepper_state(st)));
    for (int i = 0; i < 3; i++) {
      const double length = mbs_signal(&r, NULL, st, name[i][0]), v = mbs_signal(&r, NULL, st, name[i][1]);
      assert_true(v != 0);
      lost += (0.7 * v + 0.0) * v;
      assert_near(mbs_signal(&r, NULL, st, name[i][2]), 3 * (length - 0.1) + 0.7 * v, 1e-15, "force");
    }
    assert_true(meter->lost == lost);
  }
  ga_stepper_destroy(&st);
  ga_meter_destroy(&meter);
  mbs_close(&r);
}

/* Actuators of a constant and of an output along coordinates, and dampers: nothing else is asked for their
 * powers, and these are the same bits as those of the laws. A function of time is asked for. */
static void test_simple(void **state)
{
  (void)state;
  static const char *const coordinate[] = {"elbow.angle", "hinge.angle", "rotor"};
  for (int timed = 0; timed < 2; timed++) {
    mbs_rig r = linear_parts();
    ga_meter *meter = NULL;
    double dissipated = 0, input = 0;
    for (int i = 0; i < 3; i++) {
      static const char *const name[] = {"a", "b", "c"};
      ga_actuator_def a = ga_actuator_defaults();
      a.name = name[i];
      a.coordinate = coordinate[i];
      if (i < 2)
        a.force.value = 0.3 - i;
      else
        a.force.expression = "-0.2*elbow.angle_rate";
      if (timed && i == 1) a.force.function = wave;
      mbs_ok(&r, ga_machine_add_actuator(r.m, &a));
    }
    mbs_ok(&r, ga_machine_build(r.m));
    ga_stepper *st = mbs_start(&r, NAN, 0.01, -1);
    mbs_ok(&r, ga_meter_create(ga_machine_context(r.m), r.m, &meter));
    assert_int_equal(meter->n_work_terms, 6);
    assert_int_equal(meter->simple, !timed);
    mbs_ok(&r, ga_meter_start(meter, ga_stepper_state(st)));
    ga__powers last = powers_of(&r, st);
    for (int k = 0; k < 20; k++) {
      const double t = ga_stepper_state(st)->t;
      mbs_ok(&r, ga_stepper_step(st, 0.01));
      mbs_ok(&r, ga_meter_update(meter, ga_stepper_state(st)));
      const ga__powers now = powers_of(&r, st);
      const double h = ga_stepper_state(st)->t - t;
      dissipated += 0.5 * h * (last.lost + now.lost);
      input += 0.5 * h * (last.in + now.in);
      last = now;
      assert_true(now.lost > 0 && now.in != 0);
      assert_true(meter->lost == now.lost && meter->in == now.in && meter->t == ga_stepper_state(st)->t);
      assert_true(meter->dissipated == dissipated && meter->input == input);
    }
    ga_stepper_destroy(&st);
    ga_meter_destroy(&meter);
    mbs_close(&r);
  }
}

/* Of bushings, those without damping whose stiffnesses are symmetric are conservative; of springs, those
 * without a damper, a force function or a formula. */
static void test_conservative(void **state)
{
  (void)state;
  mbs_rig r = mbs_open(GA_FORM_SPACE);
  static const char *const names[] = {"symmetric", "skew", "damped", "plain", "shaped", "written"};
  ga_meter *meter = NULL;
  add_arm(&r, "one", 1);
  for (int i = 0; i < 3; i++) {
    ga_bushing_def d = ga_bushing_defaults();
    d.name = names[i];
    d.a = "ground";
    d.b = "one";
    for (int k = 0; k < 6; k++) d.stiffness[7 * k] = 10;
    d.stiffness[6 * 0 + 2] = d.stiffness[6 * 2 + 0] = 3;
    if (i == 1) d.stiffness[6 * 2 + 0] = 2;
    if (i == 2) d.damping[7 * 4] = 0.1;
    mbs_ok(&r, ga_machine_add_bushing(r.m, &d));
  }
  for (int i = 3; i < 6; i++) {
    ga_spring_def d = ga_spring_defaults();
    d.name = names[i];
    d.a = "ground";
    d.b = "one";
    d.stiffness = 4;
    if (i == 4) d.force = cubic;
    if (i == 5) d.expression = "0.1*l";
    mbs_ok(&r, ga_machine_add_spring(r.m, &d));
  }
  mbs_ok(&r, ga_machine_build(r.m));
  mbs_ok(&r, ga_meter_create(ga_machine_context(r.m), r.m, &meter));
  assert_int_equal(meter->n_work_terms, 4);
  for (int i = 0; i < 4; i++) {
    static const char *const expected[] = {"skew", "damped", "shaped", "written"};
    const ga__element *el = ga__element_at(r.m->model, meter->work_term[i].element);
    assert_string_equal(r.m->part[el->part].name, expected[i]);
  }
  ga_meter_destroy(&meter);
  mbs_close(&r);
}

/* Signals of one state share what was worked out for the one before: in any order they are the same bits. */
static void test_any_order(void **state)
{
  (void)state;
  for (int k = 0; k < 3; k++) {
    mbs_rig opened = k < 2 ? machine(k ? GA_FORM_SE3 : GA_FORM_SPACE, KINDS - 1) : linear_machine(),
            *r = &opened;
    enum { ROOM = 256 };
    double all[ROOM], mixed[ROOM], one;
    int order[ROOM];
    rig_random random = rig_seed(0);
    ga_stepper *st = mbs_start(r, NAN, 0.01, -1);
    const int n = ga_machine_n_signals(r->m);
    assert_true(n <= ROOM);
    for (int i = 0; i < 3; i++) mbs_ok(r, ga_stepper_step(st, 0.01));
    const ga_state *s = ga_stepper_state(st);
    mbs_ok(r, ga_machine_signals(r->m, NULL, s, 0, NULL, all));
    for (int i = 0; i < n; i++) {
      mbs_ok(r, ga_machine_signals(r->m, NULL, s, 1, &i, &one));
      if (memcmp(&one, &all[i], sizeof one) != 0)
        fail_msg("%s: %.17g, alone %.17g", ga_machine_signal_name(r->m, i), all[i], one);
    }
    for (int round = 0; round < 20; round++) {
      for (int i = 0; i < ROOM; i++) order[i] = rig_below(&random, n);
      mbs_ok(r, ga_machine_signals(r->m, NULL, s, ROOM, order, mixed));
      for (int i = 0; i < ROOM; i++)
        if (memcmp(&mixed[i], &all[order[i]], sizeof one) != 0)
          fail_msg("%s: %.17g, in another order %.17g", ga_machine_signal_name(r->m, order[i]), all[order[i]],
                   mixed[i]);
    }
    ga_stepper_destroy(&st);
    mbs_close(r);
  }
}

static void test_messages(void **state)
{
  (void)state;
  mbs_rig r = machine(GA_FORM_SPACE, PLAIN), other = {r.ctx, NULL};
  ga_machine_opts o = ga_machine_defaults();
  ga_meter *meter = NULL;
  ga_state early;
  double value;
  const int i = 0;
  mbs_ok(&r, ga_machine_create(r.ctx, &o, &other.m));
  assert_status(r.ctx, ga_meter_create(ga_machine_context(other.m), other.m, &meter), GA_ERR_ORDER);
  assert_null(meter);
  assert_status(r.ctx, ga_meter_create(ga_machine_context(r.m), r.m, NULL), GA_ERR_ARGUMENT);
  assert_int_equal(ga_meter_create(ga_machine_context(NULL), NULL, &meter), GA_ERR_ARGUMENT);
  for (int k = 1; k <= 5; k++) { /* all of its allocations */
    rig_memory.fail_at = rig_memory.count + k;
    assert_status(r.ctx, ga_meter_create(ga_machine_context(r.m), r.m, &meter), GA_ERR_MEMORY);
    assert_null(meter);
  }
  rig_memory.fail_at = 0;
  mbs_ok(&r, ga_meter_create(ga_machine_context(r.m), r.m, &meter));
  ga_stepper *st = mbs_start(&r, NAN, 0.01, -1);
  assert_status(r.ctx, ga_meter_update(meter, ga_stepper_state(st)), GA_ERR_ORDER);
  assert_call_error(r.ctx, GA_REASON_CALL_ORDER, "ga_meter_update", NULL);
  assert_status(r.ctx, ga_meter_start(meter, NULL), GA_ERR_ARGUMENT);
  mbs_ok(&r, ga_meter_start(meter, ga_stepper_state(st)));
  early = *ga_stepper_state(st);
  early.t = -1;
  assert_status(r.ctx, ga_meter_update(meter, &early), GA_ERR_ARGUMENT);
  assert_call_error(r.ctx, GA_REASON_TIME_OUT_OF_RANGE, "ga_meter_update", NULL);
  assert_error_number(r.ctx, 0, -1);
  assert_error_number(r.ctx, 1, 0);
  assert_status(r.ctx, ga_meter_update(meter, NULL), GA_ERR_ARGUMENT);
  assert_int_equal(ga_meter_update(NULL, &early), GA_ERR_ARGUMENT);
  assert_int_equal(ga_meter_start(NULL, &early), GA_ERR_ARGUMENT);
  mbs_ok(&other, ga_machine_build(other.m));
  assert_status(r.ctx, ga_machine_signals(other.m, meter, ga_stepper_state(st), 1, &i, &value),
                GA_ERR_ARGUMENT);
  assert_call_error(r.ctx, GA_REASON_NOT_OF_THIS_MACHINE, "ga_machine_signals", "meter");
  ga_stepper_destroy(&st);
  ga_meter_destroy(&meter);
  ga_machine_destroy(&other.m);
  mbs_close(&r);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_balance),       cmocka_unit_test(test_values),
      cmocka_unit_test(test_impacts),       cmocka_unit_test(test_turns),
      cmocka_unit_test(test_turning),       cmocka_unit_test(test_saved_turns),
      cmocka_unit_test(test_saving),        cmocka_unit_test(test_left_out),
      cmocka_unit_test(test_followed),      cmocka_unit_test(test_following),
      cmocka_unit_test(test_linear),        cmocka_unit_test(test_any_order),
      cmocka_unit_test(test_conservative),  cmocka_unit_test(test_turns_by_rare_reads),
      cmocka_unit_test(test_turns_at_rest), cmocka_unit_test(test_fastest),
      cmocka_unit_test(test_simple),        cmocka_unit_test(test_messages),
  };
  return cmocka_run_group_tests_name("mbs meters", tests, open_functions, close_functions);
}
