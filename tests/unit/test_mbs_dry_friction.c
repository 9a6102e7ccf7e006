/* Dry friction that sticks and slides: derivatives in every mode, switching times and orders against closed
 * forms, coupled frictions, saved states. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mbs_shop.h"

static const double PI = 3.14159265358979323846;

static void add_friction(shop *s, const char *name, const char *coordinate, double level, double stiction)
{
  ga_dry_friction_def d = ga_dry_friction_defaults();
  d.name = name;
  d.coordinate = coordinate;
  d.level.value = level;
  d.stiction = stiction;
  SHOP_ADD(s, dry_friction, &d);
}

static void add_joint(shop *s, const char *name, ga_joint_kind kind, const char *a, const char *b)
{
  ga_joint_def d = ga_joint_defaults();
  d.name = name;
  d.kind = kind;
  d.a = a, d.b = b;
  SHOP_ADD(s, joint, &d);
}

static void add_spring(shop *s, const char *coordinate, double stiffness, double rest)
{
  ga_spring_def d = ga_spring_defaults();
  d.name = "spring";
  d.coordinate = coordinate;
  d.stiffness = stiffness;
  d.rest = rest;
  SHOP_ADD(s, spring, &d);
}

/* ---- Derivatives ---- */

static void add_frictions(shop *s)
{
  ga_dry_friction_def d = ga_dry_friction_defaults();
  shop_rigid(s, "one", 0, 0, 0);
  shop_rigid(s, "two", 1.5, 0.4, 0.3);
  shop_rigid(s, "arm", 0, 2, 0);
  shop_point(s, "bob", 1, 1, 1);
  shop_marker(s, "p", "one", 0.2, -0.1, 0.3);
  shop_marker(s, "r", "two", -0.1, 0.2, 0.1);
  shop_marker(s, "pivot", "ground", 0, 2, 0);
  add_joint(s, "hinge", GA_JOINT_REVOLUTE, "pivot", "arm");
  d.name = "line";
  d.a = "p", d.b = "r";
  d.level = (ga_input){5, NULL, "bob.x"};
  SHOP_ADD(s, dry_friction, &d);
  add_friction(s, "brake", "hinge.angle", 2, 1.3);
}

static void derivatives_are_exact(void **state)
{
  rig_random random = rig_seed(0);
  (void)state;
  for (int form = 0; form < 3; form++) {
    shop s = shop_open((ga_form)form, -9.81);
    add_frictions(&s);
    shop_build(&s);
    shop_check(&s, &random, 16, 0.1, 1e-7, SHOP_FORM[form]); /* states at random: all modes */
    shop_close(&s);
  }
}

/* ---- Runs ---- */

enum { MOST_SWITCHES = 40 };

/* Times at which one of the modes changes, and the last values of signals. */
typedef struct history {
  int n_modes, n;
  double mode[4], t[MOST_SWITCHES];
} history;

static int observe(void *user, const ga_stepper *st)
{
  history *h = user;
  const ga_state *now = ga_stepper_state(st);
  for (int i = 0; i < h->n_modes; i++) {
    if (now->x[i] != h->mode[i] && h->mode[i] != 2 && h->n < MOST_SWITCHES) h->t[h->n++] = now->t;
    h->mode[i] = now->x[i];
  }
  return 0;
}

static ga_simulator *begin(shop *s, const shop_trial *r, history *h)
{
  for (int i = 0; i < 4; i++) h->mode[i] = 2;
  h->n = 0;
  ga_simulator *sim = shop_begin(s, r, observe, h);
  observe(h, s->st);
  return sim;
}

/* Runs to the end; s->st has the last state. */
static void run(shop *s, const shop_trial *r, history *h)
{
  ga_stepper_destroy(&s->st);
  ga_simulator *sim = begin(s, r, h);
  assert_status(s->ctx, ga_simulator_run(sim), GA_OK);
  ga_simulator_destroy(&sim);
}

/* ---- A block on a belt ---- */

/* 1 kg on a belt of 0.2 m/s, on a spring of 100 N/m, friction 4 N sliding and 6 N at rest. It sticks up to 6
 * N, 0.06 m; slides about 0.04 m, with ω = 10/s, from A = 0.02 m above that, until it has the speed of the
 * belt again: tan(ωτ/2) = −Aω/V, at 0.02 m. */
#define BELT 0.2

static const char *belt_text; /* motion of the belt */
static ga_function *belt_motion;

static shop belt_of(ga_form form)
{
  shop s = shop_open(form, 0);
  const double y[3] = {0, 1, 0};
  ga_rigid_def d = ga_rigid_defaults();
  ga_marker_def m = ga_marker_defaults();
  ga_drive_def drive = ga_drive_defaults();
  ga_spring_def spring = ga_spring_defaults();
  d.name = "belt";
  d.mass = 1;
  d.inertia[0] = d.inertia[1] = d.inertia[2] = 1;
  assert_int_equal(ga_rotation_axis_angle(s.ctx, y, PI / 2, d.pose.rotation), GA_OK); /* z along x */
  d.velocity[0] = BELT;
  SHOP_ADD(&s, rigid, &d);
  d.name = "block";
  SHOP_ADD(&s, rigid, &d);
  m.name = "track", m.body = "ground";
  m.pose = d.pose;
  SHOP_ADD(&s, marker, &m);
  m.name = "anchor";
  m.pose.position[0] = -10;
  SHOP_ADD(&s, marker, &m);
  add_joint(&s, "rail", GA_JOINT_PRISMATIC, "track", "belt");
  add_joint(&s, "slide", GA_JOINT_PRISMATIC, "belt", "block");
  belt_motion = shop_function(s.ctx, belt_text ? belt_text : "0.2*t");
  drive.name = "motor", drive.coordinate = "rail.displacement", drive.function = belt_motion;
  SHOP_ADD(&s, drive, &drive);
  spring.name = "spring", spring.a = "anchor", spring.b = "block";
  spring.stiffness = 100, spring.rest = 10;
  SHOP_ADD(&s, spring, &spring);
  add_friction(&s, "friction", "slide.displacement", 4, 1.5);
  return s;
}

static void close_belt(shop *s)
{
  ga_stepper_destroy(&s->st);
  ga_machine_destroy(&s->m);
  ga_function_destroy(&belt_motion);
  shop_close(s);
}

static double slide_time(void)
{
  return 2 * (PI - atan(0.02 * 10 / BELT)) / 10;
}

/* Position, velocity and friction force on the block at t. */
static void exact_belt(double t, double out[3])
{
  double x = 0, left = t, stick = 0.3;
  for (;; x = 0.02, stick = 0.2) {
    if (left < stick) {
      out[0] = x + BELT * left, out[1] = BELT, out[2] = 100 * out[0];
      return;
    }
    left -= stick;
    if (left < slide_time()) {
      const double c = cos(10 * left), s = sin(10 * left);
      out[0] = 0.04 + 0.02 * c + BELT / 10 * s, out[1] = -0.2 * s + BELT * c, out[2] = 4;
      return;
    }
    left -= slide_time();
  }
}

static void block_on_belt_switches_in_time(void **state)
{
  static const ga_method METHOD[] = {GA_STABILIZED, GA_INDEX3, GA_SOI2};
  (void)state;
  for (int k = 0; k < (rig_brief() ? 1 : 5); k++) {
    shop s = belt_of(k < 3 ? GA_FORM_SPACE : k == 3 ? GA_FORM_BODY : GA_FORM_SE3);
    history h = {.n_modes = 1};
    double want = 0, exact[3];
    shop_build(&s);
    run(&s, &(shop_trial){METHOD[k % 3], 3, 0, 1e-10}, &h);
    assert_int_equal(h.n, 9);
    for (int i = 0; i < h.n; i++) {
      want += i == 0 ? 0.3 : i % 2 ? slide_time() : 0.2;
      assert_near(h.t[i], want, 1e-6, "time of a switch");
    }
    exact_belt(3, exact);
    assert_near(shop_now(&s, "block.x"), exact[0], 1e-6, "position");
    assert_near(shop_now(&s, "block.vx"), exact[1], 1e-5, "velocity");
    close_belt(&s);
  }
}

/* Equal steps: order 2 of positions, velocities and forces while it sticks and while it slides. */
static void orders_are_kept(void **state)
{
  static const double END[2] = {0.3 + 0.25, 0.3 + 0.47123889803846897 + 0.1}; /* slides, sticks again */
  (void)state;
  shop s = belt_of(GA_FORM_SPACE);
  shop_build(&s);
  for (int k = 0; k < 2; k++) {
    double error[2][3], exact[3];
    history h = {.n_modes = 1};
    exact_belt(END[k], exact);
    for (int fine = 0; fine < 2; fine++) {
      run(&s, &(shop_trial){GA_STABILIZED, END[k], END[k] / (fine ? 106 : 53), 0}, &h);
      assert_int_equal(h.n, k + 1);
      error[fine][0] = fabs(shop_now(&s, "block.x") - exact[0]);
      error[fine][1] = fabs(shop_now(&s, "block.vx") - exact[1]);
      error[fine][2] = k ? fabs(shop_now(&s, "friction.force") - exact[2])
                         : fabs(shop_now(&s, "block.ax") - (4 - 100 * exact[0]));
    }
    for (int i = 0; i < 3; i++)
      if (!(error[1][i] <= error[0][i] / 3.2 + 1e-9))
        fail_msg("case %d, %d: %g, %g", k, i, error[0][i], error[1][i]);
  }
  close_belt(&s);
}

/* A saved state in the middle of sticking goes on with the same bits. */
static void resumes_with_equal_bits(void **state)
{
  (void)state;
  shop s = belt_of(GA_FORM_SPACE), other;
  const shop_trial r = {GA_STABILIZED, 3, 0, 1e-6};
  history h = {.n_modes = 1}, again = {.n_modes = 1};
  shop_build(&s);
  ga_simulator *sim = begin(&s, &r, &h);
  while (!(h.n == 2 && ga_stepper_state(s.st)->t > 0.8)) assert_status(s.ctx, ga_simulator_step(sim), GA_OK);
  assert_true(ga_stepper_state(s.st)->x[0] == 0);
  const size_t n = ga_simulator_saved_size(sim);
  double *saved = calloc(n, sizeof *saved);
  assert_status(s.ctx, ga_simulator_save(sim, saved), GA_OK);
  assert_status(s.ctx, ga_simulator_run(sim), GA_OK);
  other = s;
  other.st = NULL;
  ga_simulator *resumed = begin(&other, &r, &again);
  assert_status(s.ctx, ga_simulator_load(resumed, saved), GA_OK);
  assert_status(s.ctx, ga_simulator_run(resumed), GA_OK);
  const ga_state *a = ga_stepper_state(s.st), *b = ga_stepper_state(other.st);
  const ga_system *sys = ga_machine_system(s.m);
  assert_memory_equal(a->q, b->q, (size_t)sys->nq * sizeof(double));
  assert_memory_equal(a->v, b->v, (size_t)sys->nv * sizeof(double));
  assert_memory_equal(a->psi, b->psi, sizeof(double));
  free(saved);
  ga_simulator_destroy(&sim);
  ga_simulator_destroy(&resumed);
  ga_stepper_destroy(&other.st);
  close_belt(&s);
}

/* ---- Other closed forms ---- */

/* Free decay with dry friction: each half period π/10 s takes 2 F/k = 0.03 m off the amplitude, 0.1, 0.07,
 * 0.04, 0.01 m; there 1 N is less than the 1.5 N that hold it. */
static void oscillation_decays_and_stops(void **state)
{
  (void)state;
  shop s = shop_open(GA_FORM_SPACE, 0);
  history h = {.n_modes = 1};
  ga_scalar_def d = ga_scalar_defaults();
  d.name = "mass", d.mass = 1, d.position = 0.1;
  SHOP_ADD(&s, scalar, &d);
  add_spring(&s, "mass", 100, 0);
  add_friction(&s, "rub", "mass", 1.5, 1);
  shop_build(&s);
  run(&s, &(shop_trial){GA_STABILIZED, 20, 0, 1e-10}, &h);
  assert_int_equal(h.n, 3);
  for (int i = 0; i < 3; i++) assert_near(h.t[i], (i + 1) * PI / 10, 1e-6, "turning point");
  assert_near(shop_now(&s, "mass"), -0.01, 1e-7, "where it stays");
  assert_near(shop_now(&s, "mass.rate"), 0, 1e-12, "rate");
  assert_near(shop_now(&s, "rub.force"), -1, 1e-5, "holding force");
  assert_near(shop_now(&s, "rub.sticks"), 1, 0, "sticks");
  shop_close(&s);
}

/* A ramp of 2 N/s pulls the lower of two masses: friction of 4 N to the ground, 1.5 N between both. Both move
 * together from 2 s on, with (F − 4)/2, until the upper one would need more than 1.5 N: F = 7 N. */
static void stacked_masses_slide_in_turn(void **state)
{
  (void)state;
  shop s = shop_open(GA_FORM_SPACE, 0);
  history h = {.n_modes = 2};
  ga_force_def pull = ga_force_defaults();
  ga_marker_def m = ga_marker_defaults();
  const double y[3] = {0, 1, 0};
  ga_rigid_def body = ga_rigid_defaults();
  body.mass = 1;
  body.inertia[0] = body.inertia[1] = body.inertia[2] = 1;
  assert_int_equal(ga_rotation_axis_angle(s.ctx, y, PI / 2, body.pose.rotation), GA_OK);
  body.name = "lower";
  SHOP_ADD(&s, rigid, &body);
  body.name = "upper";
  SHOP_ADD(&s, rigid, &body);
  m.name = "track", m.body = "ground", m.pose = body.pose;
  SHOP_ADD(&s, marker, &m);
  add_joint(&s, "rail", GA_JOINT_PRISMATIC, "track", "lower");
  add_joint(&s, "slide", GA_JOINT_PRISMATIC, "lower", "upper");
  add_friction(&s, "ground_friction", "rail.displacement", 4, 1);
  add_friction(&s, "between", "slide.displacement", 1.5, 1);
  pull.name = "pull", pull.frame = "lower", pull.force[0].expression = "2*t";
  SHOP_ADD(&s, force, &pull);
  shop_build(&s);
  run(&s, &(shop_trial){GA_STABILIZED, 5, 0, 1e-9}, &h);
  assert_int_equal(h.n, 2);
  assert_near(h.t[0], 2, 1e-6, "both begin to slide");
  assert_near(h.t[1], 3.5, 1e-6, "the upper one begins to slide");
  /* (2t − 4)/2 to 3.5 s, then (2t − 5.5) and 1.5 */
  assert_near(shop_now(&s, "lower.vx"), 0.5 * 1.5 * 1.5 + (25 - 27.5) - (3.5 * 3.5 - 5.5 * 3.5), 1e-6,
              "lower");
  assert_near(shop_now(&s, "upper.vx"), 0.5 * 1.5 * 1.5 + 1.5 * 1.5, 1e-6, "upper");
  shop_close(&s);
}

/* A force that jumps above the limit releases at once; one below leaves all as it is, exactly. */
static void jumps_release(void **state)
{
  (void)state;
  for (int strong = 0; strong < 2; strong++) {
    shop s = shop_open(GA_FORM_SPACE, 0);
    history h = {.n_modes = 1};
    ga_scalar_def d = ga_scalar_defaults();
    ga_actuator_def push = ga_actuator_defaults();
    d.name = "mass", d.mass = 2, d.position = 0.1;
    SHOP_ADD(&s, scalar, &d);
    push.name = "push", push.coordinate = "mass";
    push.force.expression = strong ? "5*step(t, 1)" : "2.9*step(t, 1)";
    SHOP_ADD(&s, actuator, &push);
    add_friction(&s, "rub", "mass", 3, 1);
    shop_build(&s);
    run(&s, &(shop_trial){GA_STABILIZED, 3, 0, 1e-8}, &h);
    assert_int_equal(h.n, strong);
    if (strong) assert_near(h.t[0], 1, 1e-9, "release");
    assert_near(shop_now(&s, "mass"), strong ? 0.1 + 0.5 * 4 : 0.1, strong ? 1e-7 : 1e-14, "position");
    shop_close(&s);
  }
}

/* Two frictions of 1 N and 3 N on one coordinate hold 4 N together, though neither could do so alone;
 * whichever reaches its limit first stays there. */
static void frictions_share_a_load(void **state)
{
  (void)state;
  shop s = shop_open(GA_FORM_SPACE, 0);
  history h = {.n_modes = 2};
  ga_scalar_def d = ga_scalar_defaults();
  ga_actuator_def push = ga_actuator_defaults();
  d.name = "mass", d.mass = 2;
  SHOP_ADD(&s, scalar, &d);
  push.name = "push", push.coordinate = "mass";
  push.force.expression = "5*t";
  SHOP_ADD(&s, actuator, &push);
  add_friction(&s, "weak", "mass", 1, 1);
  add_friction(&s, "strong", "mass", 3, 1);
  shop_build(&s);
  run(&s, &(shop_trial){GA_STABILIZED, 0.79, 0, 1e-8}, &h);
  assert_near(shop_now(&s, "mass"), 0, 1e-9, "held");
  run(&s, &(shop_trial){GA_STABILIZED, 1.8, 0, 1e-9}, &h);
  assert_near(shop_now(&s, "mass.rate"), 5 * 0.5 / 2, 1e-6, "speed"); /* 5 (t − 0.8)²/2 N s on 2 kg */
  shop_close(&s);
}

/* A drive moves the coordinate: friction reverses with the motion, and never holds it. */
static void drive_reverses_friction(void **state)
{
  (void)state;
  shop s = shop_open(GA_FORM_SPACE, 0);
  history h = {.n_modes = 1};
  ga_scalar_def d = ga_scalar_defaults();
  ga_drive_def drive = ga_drive_defaults();
  ga_function *motion = shop_function(s.ctx, "0.1*sin(3*t)");
  d.name = "mass", d.mass = 2;
  SHOP_ADD(&s, scalar, &d);
  drive.name = "motor", drive.coordinate = "mass", drive.function = motion;
  SHOP_ADD(&s, drive, &drive);
  add_friction(&s, "rub", "mass", 3, 1.5);
  shop_build(&s);
  run(&s, &(shop_trial){GA_STABILIZED, 2, 0, 1e-8}, &h);
  assert_int_equal(h.n, 2);
  for (int i = 0; i < 2; i++) assert_near(h.t[i], (i + 0.5) * PI / 3, 1e-6, "reversal");
  assert_near(shop_now(&s, "motor.force"), -0.9 * 2 * sin(6.0) + 3, 1e-4, "force of the drive");
  ga_stepper_destroy(&s.st);
  ga_machine_destroy(&s.m);
  ga_function_destroy(&motion);
  shop_close(&s);
}

/* On an incline, g sin α against level: it stays, without creeping; or slides with the difference. */
static void block_stays_on_incline(void **state)
{
  (void)state;
  for (int slides = 0; slides < 2; slides++) {
    shop s = shop_open(GA_FORM_SPACE, -10);
    history h = {.n_modes = 1};
    const double y[3] = {0, 1, 0}, slope = 0.3, down = 2 * 10 * sin(slope); /* 2 kg */
    ga_rigid_def d = ga_rigid_defaults();
    ga_marker_def m = ga_marker_defaults();
    d.name = "block";
    d.mass = 2;
    d.inertia[0] = d.inertia[1] = d.inertia[2] = 1;
    assert_int_equal(ga_rotation_axis_angle(s.ctx, y, PI / 2 + slope, d.pose.rotation), GA_OK);
    SHOP_ADD(&s, rigid, &d);
    m.name = "track", m.body = "ground", m.pose = d.pose;
    SHOP_ADD(&s, marker, &m);
    add_joint(&s, "rail", GA_JOINT_PRISMATIC, "track", "block");
    add_friction(&s, "rub", "rail.displacement", slides ? 0.5 * down : 1.01 * down, 1);
    shop_build(&s);
    run(&s, &(shop_trial){GA_STABILIZED, 10, 0, 0}, &h);
    const double at = slides ? 0.5 * 0.25 * down * 100 : 0;
    assert_near(shop_now(&s, "rail.displacement"), at, slides ? 1e-6 * at : 1e-12, "displacement");
    if (!slides) assert_near(fabs(shop_now(&s, "rub.force")), down, 1e-9, "holding force");
    shop_close(&s);
  }
}

/* A level in proportion to the force that presses: 0.5 of 20 N stop 2 kg at 3 m/s after 0.6 s and 0.9 m; then
 * a force of 9 N does not move it. */
static void level_follows_a_reaction(void **state)
{
  (void)state;
  for (int form = 0; form < 3; form++) {
    shop s = shop_open((ga_form)form, -10);
    history h = {.n_modes = 1};
    const double y[3] = {0, 1, 0};
    ga_rigid_def d = ga_rigid_defaults();
    ga_marker_def m = ga_marker_defaults();
    ga_dry_friction_def rub = ga_dry_friction_defaults();
    ga_force_def pull = ga_force_defaults();
    d.name = "sledge";
    d.mass = 2;
    d.inertia[0] = d.inertia[1] = d.inertia[2] = 1;
    d.velocity[0] = 3;
    assert_int_equal(ga_rotation_axis_angle(s.ctx, y, PI / 2, d.pose.rotation), GA_OK);
    SHOP_ADD(&s, rigid, &d);
    m.name = "track", m.body = "ground", m.pose = d.pose;
    SHOP_ADD(&s, marker, &m);
    add_joint(&s, "rail", GA_JOINT_PRISMATIC, "track", "sledge");
    rub.name = "rub", rub.coordinate = "rail.displacement";
    rub.level.expression = "0.5*abs(rail.fz)";
    SHOP_ADD(&s, dry_friction, &rub);
    pull.name = "pull", pull.frame = "sledge", pull.force[0].expression = "9*step(t, 1)";
    SHOP_ADD(&s, force, &pull);
    shop_build(&s);
    run(&s, &(shop_trial){GA_STABILIZED, 2, 0, 1e-9}, &h);
    assert_int_equal(h.n, 1);
    assert_near(h.t[0], 0.6, 1e-6, "where it stops");
    assert_near(shop_now(&s, "sledge.x"), 0.9, 1e-7, "position");
    assert_near(shop_now(&s, "rub.force"), -9, 1e-7, "holding force");
    shop_close(&s);
  }
}

/* A level that stops the motion within the rounding of times cannot be followed, and is refused by name. */
static void too_strong_is_refused(void **state)
{
  (void)state;
  for (int k = 0; k < 2; k++) {
    shop s = shop_open(GA_FORM_SPACE, 0);
    history h = {0};
    ga_dry_friction_def f = ga_dry_friction_defaults();
    shop_scalar(&s, "mass", 0, 1);
    f.name = "brake", f.coordinate = "mass", f.level.value = k ? 1e30 : 3e9;
    SHOP_ADD(&s, dry_friction, &f);
    shop_build(&s);
    if (k == 0) {
      run(&s, &(shop_trial){GA_STABILIZED, 1, 0, 1e-6}, &h);
      assert_near(shop_now(&s, "mass"), 0.5e-9, 1e-15, "stops after v²m/(2F)");
    } else {
      ga_simulator *sim = begin(&s, &(shop_trial){GA_STABILIZED, 1, 0, 1e-6}, &h);
      assert_status(s.ctx, ga_simulator_run(sim), GA_ERR_INCONSISTENT);
      assert_int_equal(ga_context_error(s.ctx)->reason, GA_REASON_FRICTION_TOO_STRONG);
      assert_string_equal(ga_context_error(s.ctx)->part, "brake");
      ga_simulator_destroy(&sim);
    }
    shop_close(&s);
  }
}

/* ---- Memory ---- */

static shop unbuilt(void)
{
  shop s = shop_open(GA_FORM_SPACE, 0);
  add_frictions(&s);
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
      cmocka_unit_test(derivatives_are_exact),
      cmocka_unit_test(block_on_belt_switches_in_time),
      cmocka_unit_test(orders_are_kept),
      cmocka_unit_test(resumes_with_equal_bits),
      cmocka_unit_test(oscillation_decays_and_stops),
      cmocka_unit_test(stacked_masses_slide_in_turn),
      cmocka_unit_test(jumps_release),
      cmocka_unit_test(block_stays_on_incline),
      cmocka_unit_test(level_follows_a_reaction),
      cmocka_unit_test(too_strong_is_refused),
      cmocka_unit_test(frictions_share_a_load),
      cmocka_unit_test(drive_reverses_friction),
      cmocka_unit_test(memory_may_end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
