/* Events and variables of machines: times against closed forms, orders, jumps of velocities against the
 * conservation of momentum, events of one time, resuming, refusals. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "mbs_shop.h"
#include <stdio.h>
#include <stdlib.h>

static const double G = 10.0;

/* ---- A run with events ---- */

enum { MOST = 200 };

typedef struct log {
  int n, event[MOST];
  double t[MOST];
} event_log;

typedef struct run {
  event_log log;
  ga_event_watch *watch;
  ga_simulator *sim;
  ga_simulate_opts opts;
  ga_stepper_opts stepper;
} run;

static int note(void *user, int event, const ga_state *s)
{
  event_log *log = user;
  assert_true(log->n < MOST);
  log->event[log->n] = event;
  log->t[log->n++] = s->t;
  return 0;
}

static run run_of(double t_end, double step)
{
  run r = {.opts = ga_simulate_defaults(), .stepper = ga_stepper_defaults()};
  r.opts.t_end = t_end;
  r.opts.fixed_h = step;
  r.opts.rtol = r.opts.rtol_v = r.opts.rtol_x = 1e-6;
  r.opts.atol = r.opts.atol_v = r.opts.atol_x = 1e-8;
  return r;
}

static void begin(shop *s, run *r)
{
  double q[64], v[64], x[16];
  r->log.n = 0;
  assert_status(s->ctx, ga_event_watch_create(s->ctx, s->m, note, &r->log, &r->watch), GA_OK);
  ga_event_watch_use(r->watch, &r->opts);
  assert_status(s->ctx, ga_stepper_create(s->ctx, ga_machine_system(s->m), &r->stepper, &s->st), GA_OK);
  assert_status(s->ctx, ga_simulator_create(s->ctx, s->st, &r->opts, &r->sim), GA_OK);
  assert_status(s->ctx, ga_machine_initial(s->m, q, v, x), GA_OK);
  assert_status(s->ctx, ga_simulator_start(r->sim, NULL, 0.0, q, v, x, NULL, NULL, NULL), GA_OK);
}

static void end(shop *s, run *r)
{
  ga_simulator_destroy(&r->sim);
  ga_stepper_destroy(&s->st);
  ga_event_watch_destroy(&r->watch);
}

static double read_signal(const shop *s, const char *name)
{
  const int i = ga_machine_find_signal(s->m, name);
  double value = NAN;
  assert_true(i >= 0);
  assert_int_equal(ga_machine_signals(s->m, NULL, ga_stepper_state(s->st), 1, &i, &value), GA_OK);
  return value;
}

static ga_event_def event_of(const char *name, const char *when, ga_event_direction direction)
{
  ga_event_def d = ga_event_defaults();
  d.name = name, d.when = when, d.direction = direction;
  return d;
}

static void add_event(shop *s, const char *name, const char *when, ga_event_direction direction,
                      const char *set, const char *to)
{
  ga_event_def d = event_of(name, when, direction);
  d.set = set, d.to = to;
  SHOP_ADD(s, event, &d);
}

static void add_variable(shop *s, const char *name, double value)
{
  const ga_variable_def d = {.name = name, .value = value};
  SHOP_ADD(s, variable, &d);
}

static int count(const event_log *log, int event)
{
  int n = 0;
  for (int i = 0; i < log->n; i++) n += log->event[i] == event;
  return n;
}

/* ---- Bounces ---- */

/* A ball dropped from 1 m, thrown back with 0.8 of its speed; another event counts, a third ends the run. */
static shop ball(void)
{
  shop s = shop_open(GA_FORM_SPACE, -G);
  ga_event_def stop = event_of("enough", "bounces - 4.5", GA_DIRECTION_RISING);
  stop.stop = 1;
  shop_point(&s, "ball", 0, 0, 1);
  add_variable(&s, "bounces", 0);
  add_event(&s, "bounce", "ball.z", GA_DIRECTION_FALLING, "ball.vz", "-0.8*ball.vz");
  add_event(&s, "count", "ball.z", GA_DIRECTION_FALLING, "bounces", "bounces + 1");
  add_event(&s, "top", "ball.vz", GA_DIRECTION_FALLING, NULL, NULL);
  SHOP_ADD(&s, event, &stop);
  return s;
}

/* Every method, equal steps and error control; at each bounce both events act, in their order, and the last
 * count makes the third event happen at the same time. */
static void a_ball_bounces(void **state)
{
  (void)state;
  for (int method = GA_INDEX3; method <= GA_COLLOCATION; method++)
    for (int fixed = 0; fixed < 2; fixed++) {
      shop s = ball();
      run r = run_of(6, fixed ? 0.017 : 0);
      double t = sqrt(2 / G), v = sqrt(2 * G);
      int k = 0;
      shop_build(&s);
      r.stepper.method = (ga_method)method;
      if (method == GA_HHT_SOI2) assert_int_equal(ga_scheme_hht(s.ctx, -1.0 / 9.0, &r.stepper.scheme), GA_OK);
      begin(&s, &r);
      assert_status(s.ctx, ga_simulator_run(r.sim), GA_STOPPED);
      assert_int_equal(ga_event_watch_stopped_by(r.watch), 3);
      for (int i = 0; i < 5; i++) {
        assert_int_equal(r.log.event[k], 0);
        assert_near(r.log.t[k++], t, 1e-9, "bounce");
        assert_int_equal(r.log.event[k], 1);
        assert_near(r.log.t[k++], t, 1e-9, "count");
        v *= 0.8;
        if (i == 4) break;
        assert_int_equal(r.log.event[k], 2);
        assert_near(r.log.t[k++], t + v / G, 1e-9, "top");
        t += 2 * v / G;
      }
      assert_int_equal(r.log.event[k], 3);
      assert_int_equal(r.log.n, k + 1);
      assert_near(read_signal(&s, "bounces"), 5, 0, "variable");
      assert_near(read_signal(&s, "ball.vz"), v, 1e-9, "velocity after the jump");
      end(&s, &r);
      shop_close(&s);
    }
}

/* Without an end bounces accumulate at t = sqrt(2/g)(1 + 0.5)/(1 - 0.5): the run says so, with the name. */
static void bounces_that_accumulate_are_reported(void **state)
{
  (void)state;
  shop s = shop_open(GA_FORM_SPACE, -G);
  run r = run_of(6, 0);
  shop_point(&s, "ball", 0, 0, 1);
  add_event(&s, "bounce", "ball.z", GA_DIRECTION_FALLING, "ball.vz", "-0.5*ball.vz");
  shop_build(&s);
  begin(&s, &r);
  assert_status(s.ctx, ga_simulator_run(r.sim), GA_ERR_STEP);
  assert_int_equal(ga_context_error(s.ctx)->reason, GA_REASON_RESTARTS_PILE_UP);
  assert_string_equal(ga_context_error(s.ctx)->part, "bounce");
  assert_near(ga_stepper_state(s.st)->t, 3 * sqrt(2 / G), 1e-6, "where they accumulate");
  end(&s, &r);
  shop_close(&s);
}

/* ---- A relay with hysteresis ---- */

static const double TAU = 100, COLD = 5, HOT = 35;

static double time_from(double from, double to, double towards)
{
  return TAU * log((towards - from) / (towards - to));
}

/* Largest error of the switching times within 300 s. */
static double relay_error(ga_method method, double step, double tolerance)
{
  shop s = shop_open(GA_FORM_SPACE, 0);
  run r = run_of(300, step);
  ga_block_first_order_opts o = ga_block_first_order_defaults();
  ga_control_block *block = NULL;
  const ga_input u = {.expression = "5 + 30*heater"};
  double t = time_from(15, 22, HOT), most = 0;
  o.time_constant = TAU, o.initial_input = 15;
  shop_scalar(&s, "mass", 0, 0);
  add_variable(&s, "heater", 1);
  assert_status(s.ctx, ga_block_create_first_order(s.ctx, &o, &block), GA_OK);
  assert_status(s.ctx, ga_machine_add_block(s.m, "room", block, &u), GA_OK);
  add_event(&s, "warm", "room - 22", GA_DIRECTION_RISING, "heater", "0");
  add_event(&s, "cold", "room - 20", GA_DIRECTION_FALLING, "heater", "1");
  shop_build(&s);
  r.stepper.method = method;
  r.opts.rtol = r.opts.rtol_x = tolerance, r.opts.atol = r.opts.atol_x = 0.01 * tolerance;
  begin(&s, &r);
  assert_status(s.ctx, ga_simulator_run(r.sim), GA_OK);
  assert_int_equal(r.log.n, 20);
  for (int i = 0; i < r.log.n; i++) {
    assert_int_equal(r.log.event[i], i % 2);
    most = fmax(most, fabs(r.log.t[i] - t));
    t += i % 2 ? time_from(20, 22, HOT) : time_from(22, 20, COLD);
  }
  end(&s, &r);
  shop_close(&s);
  return most;
}

static void a_relay_switches_in_time(void **state)
{
  (void)state;
  for (int method = GA_INDEX3; method <= GA_SOI2; method++) {
    const double coarse = relay_error((ga_method)method, 2, 1e-6),
                 fine = relay_error((ga_method)method, 1, 1e-6);
    assert_near(log2(coarse / fine), 2, 0.15, "order of switching times");
    if (rig_brief()) break;
    assert_true(relay_error((ga_method)method, 0.01, 1e-6) < 1e-6);
  }
  assert_true(relay_error(GA_STABILIZED, 0, 1e-11) < 1e-5);
}

/* ---- Nothing is missed ---- */

/* x = cos t exceeds 0.9999 for 0.028 s in each of 10 periods: 20 crossings, of which steps of 0.18 s see few.
 * Steps of any size up to a sixth of the period find all. */
static void two_crossings_in_a_step_are_found(void **state)
{
  (void)state;
  for (int k = 0; k < 3; k++) {
    shop s = shop_open(GA_FORM_SPACE, 0);
    run r = run_of(62.0, k == 0 ? 0 : k == 1 ? 0.17 : 0.43);
    ga_spring_def d = ga_spring_defaults();
    shop_scalar(&s, "mass", 1, 0);
    d.name = "spring", d.coordinate = "mass", d.stiffness = 3, d.rest = 0;
    SHOP_ADD(&s, spring, &d);
    add_event(&s, "turns", "mass.rate", GA_DIRECTION_FALLING, NULL, NULL);
    add_event(&s, "high", k == 2 ? "mass - 0.995" : "mass - 0.9999", GA_DIRECTION_BOTH, NULL, NULL);
    add_event(&s, "rises", k == 2 ? "mass - 0.995" : "mass - 0.9999", GA_DIRECTION_RISING, NULL, NULL);
    shop_build(&s);
    assert_int_equal(ga_scheme_rho(s.ctx, 1.0, &r.stepper.scheme), GA_OK); /* keeps the amplitude */
    if (k == 0) r.opts.rtol = r.opts.rtol_v = 1e-5, r.opts.atol = 1e-7;
    begin(&s, &r);
    assert_status(s.ctx, ga_simulator_run(r.sim), GA_OK);
    /* the first maximum is the start; each later one has two crossings, the start one */
    const int turns = count(&r.log, 0);
    assert_true(turns >= 9);
    assert_in_range(count(&r.log, 1), 2 * turns, 2 * turns + 2);
    assert_in_range(count(&r.log, 2), turns, turns + 1);
    end(&s, &r);
    shop_close(&s);
  }
}

/* Many crossings in each step, of time and of a, which moves with 1 m/s: sin 300 t has a zero at every
 * kπ/300. All are found, in order, also those of one direction. */
static void dense_crossings_are_found(void **state)
{
  (void)state;
  for (int k = 0; k < 3; k++) {
    shop s = shop_open(GA_FORM_SPACE, 0);
    run r = run_of(0.5, k == 0 ? 0 : k == 1 ? 0.1 : 0.5);
    double last[4] = {0};
    int seen[4] = {0};
    shop_scalar(&s, "a", 0, 1);
    add_event(&s, "by_time", "sin(300*t)", GA_DIRECTION_BOTH, NULL, NULL);
    add_event(&s, "by_place", "sin(300*a)", GA_DIRECTION_BOTH, NULL, NULL);
    add_event(&s, "rises", "sin(300*t)", GA_DIRECTION_RISING, NULL, NULL);
    add_event(&s, "falls", "sin(300*a)", GA_DIRECTION_FALLING, NULL, NULL);
    shop_build(&s);
    begin(&s, &r);
    assert_status(s.ctx, ga_simulator_run(r.sim), GA_OK);
    for (int i = 0; i < r.log.n; i++) {
      const int e = r.log.event[i];
      const double pi = 3.14159265358979324;
      const int zero = e < 2 ? seen[e] + 1 : e == 2 ? 2 * seen[e] + 2 : 2 * seen[e] + 1;
      assert_near(r.log.t[i], zero * pi / 300, 1e-12, "a zero of a sine");
      assert_true(r.log.t[i] > last[e]);
      last[e] = r.log.t[i];
      seen[e]++;
    }
    assert_int_equal(seen[0], 47);
    assert_int_equal(seen[1], 47);
    assert_int_equal(seen[2], 23);
    assert_int_equal(seen[3], 24);
    end(&s, &r);
    shop_close(&s);
  }
}

/* Pulses of width w along a, which moves with 1 m/s from 0, and in time; by jumps, smooth, and by a signal
 * whose expression jumps. Each has two crossings, and restarts at the first pulse. */
static void narrow_pulses_are_found(void **state)
{
  static const double WIDTH[] = {0.3, 0.03, 1e-3, 1e-5, 1e-7};
  (void)state;
  for (int k = 0; k < 5 * 3; k++) {
    const double w = WIDTH[k % 5], half = sqrt(log(2.0));
    char text[5][96];
    const double at[5] = {3.3, 5.1234, 6.1234, 7.1, 8.7};
    shop s = shop_open(GA_FORM_SPACE, 0);
    run r = run_of(10, k / 5 == 0 ? 0 : k / 5 == 1 ? 0.1 : 0.37);
    shop_scalar(&s, "a", 0, 1);
    add_variable(&s, "n", 0);
    snprintf(text[0], 96, "step(a, 3.3) - step(a, 3.3 + %g) - 0.5", w);
    snprintf(text[1], 96, "exp(-((a - 5.1234)/%g)^2) - 0.5", w);
    snprintf(text[2], 96, "exp(-((t - 6.1234)/%g)^2) - 0.5", w);
    snprintf(text[3], 96, "step(t, 7.1) - step(t, 7.1 + %g) - 0.5", w);
    snprintf(text[4], 96, "step(a, 8.7) - step(a, 8.7 + %g)", w);
    ga_signal_def gate = ga_signal_defaults();
    gate.name = "gate", gate.expression = text[4];
    SHOP_ADD(&s, signal, &gate);
    gate.name = "twice", gate.expression = "2*gate";
    SHOP_ADD(&s, signal, &gate);
    add_event(&s, "by_place", text[0], GA_DIRECTION_BOTH, "n", "n + 1");
    for (int i = 1; i < 4; i++)
      add_event(&s, (const char *[]){"", "bell", "bell_of_time", "by_time"}[i], text[i], GA_DIRECTION_BOTH,
                NULL, NULL);
    add_event(&s, "by_signal", "1 - twice", GA_DIRECTION_FALLING, NULL, NULL);
    shop_build(&s);
    begin(&s, &r);
    assert_status(s.ctx, ga_simulator_run(r.sim), GA_OK);
    assert_int_equal(r.log.n, 9);
    for (int i = 0; i < 9; i++) {
      const int e = i / 2, last = i % 2;
      const double t = e == 1 || e == 2 ? at[e] + (2 * last - 1) * half * w : at[e] + last * w;
      assert_int_equal(r.log.event[i], e);
      assert_near(r.log.t[i], t, 1e-12 + 1e-7 * w, "edge of a pulse");
    }
    assert_near(read_signal(&s, "n"), 2, 0, "restarts");
    end(&s, &r);
    shop_close(&s);
  }
}

static void note_warning(void *user, ga_log_level level, const ga_error *message)
{
  (void)level;
  *(int *)user += message->reason == GA_REASON_EVENT_UNSURE;
}

/* What the search cannot exclude is reported: sin + cos never reaches 1.5. */
static void unsure_searches_are_reported(void **state)
{
  (void)state;
  for (int fine = 0; fine < 2; fine++) {
    shop s = shop_open(GA_FORM_SPACE, 0);
    int warnings = 0;
    run r = run_of(0.05, 0);
    shop_scalar(&s, "a", 0, 1);
    add_event(&s, "never", "step(sin(1e5*a) + cos(1e5*a), 1.5) - 0.5", GA_DIRECTION_BOTH, NULL, NULL);
    shop_build(&s);
    s.ctx->opts.log = note_warning, s.ctx->opts.log_user = &warnings;
    if (fine) r.opts.h_max = 2e-5; /* follows: "Limit the size of steps" */
    begin(&s, &r);
    assert_status(s.ctx, ga_simulator_run(r.sim), GA_OK);
    assert_int_equal(warnings, !fine);
    assert_int_equal(r.log.n, 0);
    end(&s, &r);
    shop_close(&s);
  }
}

/* Functions of time alone are met to rounding, whatever the steps are. */
static void times_are_met(void **state)
{
  (void)state;
  shop s = shop_open(GA_FORM_SPACE, 0);
  run r = run_of(3, 0.7);
  shop_scalar(&s, "mass", 1, 0.3);
  add_event(&s, "first", "t - 1.3", GA_DIRECTION_BOTH, NULL, NULL);
  add_event(&s, "push", "t - 2", GA_DIRECTION_RISING, "mass.rate", "2*mass");
  add_event(&s, "twice", "(t - 2.3)*(t - 2.4)", GA_DIRECTION_BOTH, NULL, NULL);
  add_event(&s, "end", "t - 3", GA_DIRECTION_BOTH, "mass.rate", "7");
  shop_build(&s);
  begin(&s, &r);
  assert_status(s.ctx, ga_simulator_run(r.sim), GA_OK);
  assert_int_equal(r.log.n, 5);
  const double exact[] = {1.3, 2, 2.3, 2.4, 3};
  for (int i = 0; i < 5; i++) assert_near(r.log.t[i], exact[i], 1e-14, "time");
  assert_near(read_signal(&s, "mass"), 1 + 0.6 + 2 * 1.6, 1e-12, "moved on with the new rate");
  assert_near(read_signal(&s, "mass.rate"), 7, 1e-12, "an event at the end acts");
  end(&s, &r);
  shop_close(&s);
}

/* An angle of a joint in space counts its turns. */
static void angles_count_turns(void **state)
{
  (void)state;
  for (int form = 0; form < 3; form++) {
    shop s = shop_open((ga_form)form, 0);
    run r = run_of(12, 0);
    ga_joint_def j = ga_joint_defaults();
    shop_rigid(&s, "arm", 0, 0, 0);
    j.name = "hinge", j.kind = GA_JOINT_REVOLUTE, j.a = "ground", j.b = "arm", j.at_pose = 1;
    j.at = ga_pose_identity(), j.angle = 0, j.angle_rate = 1;
    SHOP_ADD(&s, joint, &j);
    add_event(&s, "half", "hinge.angle - 3", GA_DIRECTION_BOTH, NULL, NULL);
    add_event(&s, "turned", "hinge.angle - 8", GA_DIRECTION_BOTH, "hinge.angle_rate", "-1");
    shop_build(&s);
    begin(&s, &r);
    assert_status(s.ctx, ga_simulator_run(r.sim), GA_OK);
    assert_int_equal(r.log.n, 2);
    assert_near(r.log.t[0], 3, 1e-3, "3 rad");
    assert_near(r.log.t[1], 8, 1e-3, "8 rad");
    assert_near(read_signal(&s, "hinge.angle_rate"), -1, 1e-6, "it turns back");
    end(&s, &r);
    shop_close(&s);
  }
}

/* ---- Velocities that are set ---- */

static void momentum(const shop *s, double p[6])
{
  static const char *const body[] = {"a", "b"}, *const axis[] = {"x", "y", "z"};
  memset(p, 0, 6 * sizeof *p);
  for (int k = 0; k < 2; k++) {
    double x[3], v[3];
    char name[8];
    for (int i = 0; i < 3; i++) {
      snprintf(name, sizeof name, "%s.%s", body[k], axis[i]), x[i] = read_signal(s, name);
      snprintf(name, sizeof name, "%s.v%s", body[k], axis[i]), v[i] = read_signal(s, name);
    }
    for (int i = 0; i < 3; i++) {
      const int j = (i + 1) % 3, l = (i + 2) % 3;
      p[i] += 2 * v[i]; /* points of 2 kg */
      p[3 + i] += 2 * (x[j] * v[l] - x[l] * v[j]);
    }
  }
}

/* Two mass points on a massless rod: the velocity of one is set; the rod keeps its length, and only the
 * impulse on that one changes momentum: none along y and z, and the other point gets what the rod passes on.
 */
static void impulses_obey_the_joints(void **state)
{
  (void)state;
  shop s = shop_open(GA_FORM_SPACE, 0);
  run r = run_of(1, 0);
  ga_joint_def j = ga_joint_defaults();
  double before[6], after[6];
  shop_point(&s, "a", 0, 0, 0);
  shop_point(&s, "b", 0.6, 0.8, 0);
  j.name = "rod", j.kind = GA_JOINT_DISTANCE, j.a = "a", j.b = "b";
  SHOP_ADD(&s, joint, &j);
  add_event(&s, "hit", "t - 0.5", GA_DIRECTION_BOTH, "a.vx", "3");
  shop_build(&s);
  r.opts.fixed_h = 0.1;
  begin(&s, &r);
  momentum(&s, before);
  while (r.log.n == 0) assert_status(s.ctx, ga_simulator_step(r.sim), GA_OK);
  momentum(&s, after);
  assert_near(read_signal(&s, "a.vx"), 3, 1e-12, "as set");
  for (int i = 1; i < 3; i++) assert_near(after[i], before[i], 1e-12, "no impulse along y and z");
  for (int i = 3; i < 6; i++) assert_near(after[i], before[i], 1e-12, "its line passes through the origin");
  const double along = 0.6 * (read_signal(&s, "b.vx") - read_signal(&s, "a.vx")) +
                       0.8 * (read_signal(&s, "b.vy") - read_signal(&s, "a.vy"));
  assert_near(along, 0, 1e-12, "the rod keeps its length");
  /* b moves along the rod: 2 kg (v_b) = S e, 2 kg v_a = J ex − S e, e·(v_b − v_a) = 0: S = 0.3 J, J = 6/0.82
   */
  assert_near(read_signal(&s, "b.vx"), 0.5 * 0.3 * 6 / 0.82 * 0.6, 1e-12, "passed on by the rod");
  end(&s, &r);
  shop_close(&s);
}

/* A rate that a drive prescribes cannot be set. */
static void held_velocities_are_refused(void **state)
{
  (void)state;
  shop s = shop_open(GA_FORM_SPACE, 0);
  run r = run_of(1, 0.1);
  ga_function *f = shop_function(s.ctx, "0.5*t");
  const ga_drive_def d = {.name = "drive", .coordinate = "mass", .function = f};
  shop_scalar(&s, "mass", 0, 0.5);
  SHOP_ADD(&s, drive, &d);
  add_event(&s, "hit", "t - 0.55", GA_DIRECTION_BOTH, "mass.rate", "3");
  shop_build(&s);
  begin(&s, &r);
  assert_status(s.ctx, ga_simulator_run(r.sim), GA_ERR_CALLBACK);
  assert_int_equal(ga_context_error(s.ctx)->reason, GA_REASON_EVENT_HELD);
  assert_string_equal(ga_context_error(s.ctx)->part, "hit");
  end(&s, &r);
  ga_machine_destroy(&s.m);
  ga_function_destroy(&f);
  shop_close(&s);
}

/* Friction that sticks, and a rigid floor with restitution 0.5, against closed forms: a mass slides by
 * v²m/(2F); a ball that is thrown up is back after 2v/g, one that is thrown down bounces at once. */
static void switches_give_way_to_impulses(void **state)
{
  (void)state;
  for (int fixed = 0; fixed < 2; fixed++) {
    shop s = shop_open(GA_FORM_SPACE, 0);
    run r = run_of(3, fixed ? 0.013 : 0);
    ga_dry_friction_def f = ga_dry_friction_defaults();
    ga_rigid_stop_def floor = ga_rigid_stop_defaults();
    ga_actuator_def weight = ga_actuator_defaults();
    shop_scalar(&s, "block", 0, 0); /* 3 kg */
    shop_scalar(&s, "carried", 0, 0);
    shop_scalar(&s, "ball", 0, 0);
    f.name = "table", f.coordinate = "block", f.level.value = 6, f.stiction = 1.5;
    SHOP_ADD(&s, dry_friction, &f);
    floor.name = "floor", floor.coordinate = "ball", floor.lower = 0, floor.restitution = 0.5;
    SHOP_ADD(&s, rigid_stop, &floor);
    weight.name = "weight", weight.coordinate = "ball", weight.force.value = -30;
    SHOP_ADD(&s, actuator, &weight);
    add_event(&s, "push", "t - 0.5", GA_DIRECTION_RISING, "block.rate", "1.2");
    add_event(&s, "up", "t - 0.25", GA_DIRECTION_RISING, "ball.rate", "4");
    add_event(&s, "down", "t - 2.2", GA_DIRECTION_RISING, "ball.rate", "-2");
    shop_build(&s);
    begin(&s, &r);
    while (ga_stepper_state(s.st)->t < 0.65) assert_status(s.ctx, ga_simulator_step(r.sim), GA_OK);
    double t = ga_stepper_state(s.st)->t, gone = t - 0.25;
    assert_near(read_signal(&s, "ball"), 4 * gone - 5 * gone * gone, 1e-7, "thrown up");
    while (ga_stepper_state(s.st)->t < 2.22) assert_status(s.ctx, ga_simulator_step(r.sim), GA_OK);
    t = ga_stepper_state(s.st)->t, gone = t - 2.2;
    assert_near(read_signal(&s, "block"), 0.5 * 1.2 * 1.2 * 3 / 6, 1e-7, "slides by v²m/(2F)");
    assert_near(read_signal(&s, "table.sticks"), 1, 0, "sticks again");
    assert_near(read_signal(&s, "ball"), 1 * gone - 5 * gone * gone, 1e-7, "bounces at once");
    end(&s, &r);
    shop_close(&s);
  }
}

/* ---- Forces that are switched ---- */

/* A falling ball is caught by a damper that an event switches on: then v' = −g − c v/m. */
static void a_ball_is_caught(void **state)
{
  (void)state;
  double error[2];
  for (int k = 0; k < 2; k++) {
    shop s = shop_open(GA_FORM_SPACE, -G);
    run r = run_of(1, k ? 0.01 : 0.02);
    ga_force_def f = ga_force_defaults();
    shop_point(&s, "ball", 0, 0, 1);
    add_variable(&s, "caught", 0);
    f.name = "net", f.frame = "ball", f.force[2].expression = "-8*caught*ball.vz";
    SHOP_ADD(&s, force, &f);
    add_event(&s, "catch", "ball.z - 0.2", GA_DIRECTION_FALLING, "caught", "1");
    shop_build(&s);
    begin(&s, &r);
    assert_status(s.ctx, ga_simulator_run(r.sim), GA_OK);
    const double t = 1 - sqrt(1.6 / G), c = 8.0 / 2.0, v0 = -sqrt(1.6 * G), v1 = -G / c;
    assert_near(r.log.t[0], sqrt(1.6 / G), 1e-12, "caught");
    const double z = 0.2 + v1 * t + (v0 - v1) * (1 - exp(-c * t)) / c;
    error[k] = fabs(read_signal(&s, "ball.z") - z);
    end(&s, &r);
    shop_close(&s);
  }
  assert_near(log2(error[0] / error[1]), 2, 0.15, "order behind the event");
}

/* ---- Resuming ---- */

static void it_resumes(void **state)
{
  (void)state;
  for (int method = GA_INDEX3; method <= GA_SOI2; method++) {
    shop s = ball();
    run r = run_of(2.3, 0), again = run_of(2.3, 0);
    shop_build(&s);
    shop other = s; /* the same machine with a stepper of its own */
    r.stepper.method = again.stepper.method = (ga_method)method;
    begin(&s, &r);
    begin(&other, &again);
    while (r.log.n < 5) assert_status(s.ctx, ga_simulator_step(r.sim), GA_OK);
    double *saved = calloc(ga_simulator_saved_size(r.sim), sizeof *saved);
    assert_status(s.ctx, ga_simulator_save(r.sim, saved), GA_OK);
    assert_status(other.ctx, ga_simulator_load(again.sim, saved), GA_OK);
    const int had = r.log.n;
    assert_status(s.ctx, ga_simulator_run(r.sim), GA_OK);
    assert_status(other.ctx, ga_simulator_run(again.sim), GA_OK);
    assert_int_equal(again.log.n, r.log.n - had);
    assert_true(again.log.n > 2);
    for (int i = 0; i < again.log.n; i++) {
      assert_int_equal(again.log.event[i], r.log.event[had + i]);
      assert_memory_equal(&again.log.t[i], &r.log.t[had + i], sizeof(double));
    }
    assert_memory_equal(ga_stepper_state(s.st)->q, ga_stepper_state(other.st)->q, 3 * sizeof(double));
    free(saved);
    end(&s, &r);
    end(&other, &again);
    shop_close(&s);
  }
}

/* ---- Energies ---- */

/* follows: "use energy.kinetic or energy.potential" */
/* A ball of 2 kg has 1 J at 1 m/s. */
static void energies_are_known(void **state)
{
  (void)state;
  shop s = shop_open(GA_FORM_SPACE, -G);
  run r = run_of(0.5, 0);
  shop_point(&s, "ball", 0, 0, 1);
  add_event(&s, "fast", "energy.kinetic - 1", GA_DIRECTION_RISING, NULL, NULL);
  add_event(&s, "low", "energy.potential - 19", GA_DIRECTION_FALLING, NULL, NULL);
  shop_build(&s);
  begin(&s, &r);
  assert_status(s.ctx, ga_simulator_run(r.sim), GA_OK);
  assert_int_equal(r.log.n, 2);
  for (int i = 0; i < 2; i++) assert_near(r.log.t[i], 0.1, 1e-9, "1 J exchanged");
  end(&s, &r);
  shop_close(&s);
}

/* ---- What is refused ---- */

static void what_is_wrong_is_refused(void **state)
{
  (void)state;
  static const struct {
    const char *when, *set, *to;
    ga_reason reason;
  } bad[] = {{"ball.zz", NULL, NULL, GA_REASON_UNKNOWN_SIGNAL},
             {"energy.input - 1", NULL, NULL, GA_REASON_EVENT_ENERGY},
             {"ball.z > 0.5[m]", NULL, NULL, GA_REASON_EVENT_ONE_SIDED},
             {"ball.z < 0.5[m] && t > 1[s]", NULL, NULL, GA_REASON_EVENT_ONE_SIDED},
             {"(ball.z - 0.5[m])^2", NULL, NULL, GA_REASON_EVENT_ONE_SIDED},
             {"-abs(ball.z)", NULL, NULL, GA_REASON_EVENT_ONE_SIDED},
             {"0", NULL, NULL, GA_REASON_EVENT_ONE_SIDED},
             {"ball.z", "ball.z", "1", GA_REASON_EVENT_TARGET},
             {"ball.z", "ball.az", "1", GA_REASON_EVENT_TARGET},
             {"ball.z", "lag", "1", GA_REASON_EVENT_TARGET},
             {"ball.z", "rod", "1", GA_REASON_EVENT_TARGET},
             {"ball.z", "ball.vq", "1", GA_REASON_UNKNOWN_SIGNAL},
             {"ball.z", "ball.vz", "2*nothing", GA_REASON_UNKNOWN_SIGNAL},
             {"ball.z - ball.vz", NULL, NULL, GA_REASON_SUM_OF_DIMENSIONS},
             {"energy.kinetic - ball.z", NULL, NULL, GA_REASON_SUM_OF_DIMENSIONS},
             {"ball.z", "ball.vz", "t - ball.x", GA_REASON_SUM_OF_DIMENSIONS},
             {"ball.z", "ball.vz", "-ball.z", GA_REASON_EVENT_UNIT}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    shop s = shop_open(GA_FORM_SPACE, -G);
    ga_block_first_order_opts o = ga_block_first_order_defaults();
    ga_control_block *block = NULL;
    ga_joint_def j = ga_joint_defaults();
    const ga_input u = {.value = 1};
    o.time_constant = 1;
    shop_point(&s, "ball", 0, 0, 1);
    j.name = "rod", j.kind = GA_JOINT_DISTANCE, j.a = "ground", j.b = "ball";
    SHOP_ADD(&s, joint, &j);
    assert_status(s.ctx, ga_block_create_first_order(s.ctx, &o, &block), GA_OK);
    assert_status(s.ctx, ga_machine_add_block(s.m, "lag", block, &u), GA_OK);
    add_event(&s, "wrong", bad[i].when, GA_DIRECTION_BOTH, bad[i].set, bad[i].to);
    assert_status(s.ctx, ga_machine_build(s.m), GA_ERR_ARGUMENT);
    assert_int_equal(ga_context_error(s.ctx)->reason, bad[i].reason);
    assert_string_equal(ga_context_error(s.ctx)->part, "wrong");
    shop_close(&s);
  }
  shop s = shop_open(GA_FORM_SPACE, -G);
  ga_event_def d = event_of("half", "t", GA_DIRECTION_BOTH);
  d.set = "v";
  assert_status(s.ctx, ga_machine_add_event(s.m, &d), GA_ERR_ARGUMENT);
  assert_int_equal(ga_context_error(s.ctx)->reason, GA_REASON_FIELD_MISSING);
  d.set = NULL, d.when = NULL;
  assert_status(s.ctx, ga_machine_add_event(s.m, &d), GA_ERR_ARGUMENT);
  d.when = "t", d.direction = (ga_event_direction)3;
  assert_status(s.ctx, ga_machine_add_event(s.m, &d), GA_ERR_ARGUMENT);
  const ga_variable_def nan = {.name = "n", .value = NAN};
  assert_status(s.ctx, ga_machine_add_variable(s.m, &nan), GA_ERR_ARGUMENT);
  assert_int_equal(ga_machine_n_events(s.m), 0);
  shop_close(&s);
}

static void memory_may_fail(void **state)
{
  (void)state;
  shop_fail_memory(ball);
  for (long n = 1, failed = 1; failed; n += rig_brief() ? 7 : 1) {
    shop s = ball();
    ga_event_watch *watch = NULL;
    shop_build(&s);
    rig_memory.fail_at = rig_memory.count + n;
    const ga_status status = ga_event_watch_create(s.ctx, s.m, NULL, NULL, &watch);
    failed = rig_memory.count >= rig_memory.fail_at;
    rig_memory.fail_at = 0;
    assert_int_equal(status, failed ? GA_ERR_MEMORY : GA_OK);
    assert_true(failed == !watch);
    ga_event_watch_destroy(&watch);
    shop_close(&s);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_ball_bounces),
      cmocka_unit_test(bounces_that_accumulate_are_reported),
      cmocka_unit_test(a_relay_switches_in_time),
      cmocka_unit_test(two_crossings_in_a_step_are_found),
      cmocka_unit_test(dense_crossings_are_found),
      cmocka_unit_test(narrow_pulses_are_found),
      cmocka_unit_test(unsure_searches_are_reported),
      cmocka_unit_test(times_are_met),
      cmocka_unit_test(angles_count_turns),
      cmocka_unit_test(impulses_obey_the_joints),
      cmocka_unit_test(held_velocities_are_refused),
      cmocka_unit_test(switches_give_way_to_impulses),
      cmocka_unit_test(a_ball_is_caught),
      cmocka_unit_test(it_resumes),
      cmocka_unit_test(energies_are_known),
      cmocka_unit_test(what_is_wrong_is_refused),
      cmocka_unit_test(memory_may_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
