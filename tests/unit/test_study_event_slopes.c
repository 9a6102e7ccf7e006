/* Derivatives of measures of runs with events, and at jumps whose times parameters move: against differences
 * of complete runs with the same steps, closed forms, and what is refused. */
#define _XOPEN_SOURCE 700 /* mkstemp */
#include "slopes_rig.h"

/* One table for all: a model, its measures, and the parameters with their values. */
typedef struct course {
  const char *name, *model, *measures[16];
  double width; /* [-] δ of the differences */
  double tolerance;
  struct {
    const char *name;
    double value;
  } by[8];
} course;

#define STEPS "step: 0.002, newton_tolerance: 1e-13}\n"

#define BALL(method)                                                                                         \
  "galpha: 1\n"                                                                                              \
  "parameters: {res: 0.8, g: 10, h: 1, m: 1, ground: 0.05}\n"                                                \
  "gravity: [0, 0, -g]\n"                                                                                    \
  "bodies: {ball: {type: point, mass: m, position: [0, 0, h]}}\n"                                            \
  "variables: {bounces: {value: 0}}\n"                                                                       \
  "events:\n"                                                                                                \
  "  bounce: {when: ball.z - ground, direction: falling, set: ball.vz, to: -res*ball.vz}\n"                  \
  "  count: {when: ball.z - ground, direction: falling, set: bounces, to: bounces + 1}\n"                    \
  "  enough: {when: bounces - 4.5, direction: rising, stop: true}\n"                                         \
  "simulation: {t_end: 6, step: 0.01, newton_tolerance: 1e-13, method: " method "}\n"

#define BOUNCES                                                                                              \
  {                                                                                                          \
    "final(t)", "final(ball.vz)", "max(abs(ball.vz))", "integral(ball.z)", "mean(ball.z)", "rms(ball.vz)",   \
        "std(ball.z)", "at(1, ball.z)", "at(1, ball.vz)", "min(ball.z)", "integral(t)",                      \
        "crossing(ball.z, 0.4, 3)"                                                                           \
  }

#define OF_BALL                                                                                              \
  {                                                                                                          \
    {"res", 0.8}, {"g", 10.0}, {"h", 1.0},                                                                   \
    {                                                                                                        \
      "ground", 0.05                                                                                         \
    }                                                                                                        \
  }

/* A pendulum beside a wall of two hinges, one of them redundant, which it hits; velocities jump by impulses.
 */
#define WALL(joints, method)                                                                                 \
  "galpha: 1\n"                                                                                              \
  "parameters: {L: 1, m: 2, g: 9.81, wall: -0.15, res: 0.6}\n"                                               \
  "gravity: [0, -g, 0]\n"                                                                                    \
  "bodies:\n"                                                                                                \
  "  rod: {type: planar, mass: m, inertia: m*L^2/12, com: [L/2, 0], angle: 0.2}\n"                           \
  "  arm: {type: planar, mass: 1, inertia: 0.1, position: [L*cos(0.2), L*sin(0.2)], com: [0.2, 0], "         \
  "angle: 0.5}\n"                                                                                            \
  "joints:\n"                                                                                                \
  "  hinge: {type: revolute, a: ground, b: rod, at: [0, 0, 0]}\n" joints                                     \
  "  elbow: {type: revolute, a: rod, b: arm, at: [L*cos(0.2), L*sin(0.2), 0]}\n"                             \
  "events:\n"                                                                                                \
  "  hit: {when: hinge.angle - wall, direction: falling, set: hinge.angle_rate, to: "                        \
  "-res*hinge.angle_rate}\n"                                                                                 \
  "simulation: {t_end: 0.5, " method STEPS
#define AGAIN "  again: {type: revolute, a: ground, b: rod, at: [0, 0, 0]}\n"
#define HITS                                                                                                 \
  {                                                                                                          \
    "final(hinge.angle)", "final(arm.x)", "final(elbow.angle_rate)", "final(hinge.fy)"                       \
  }
#define OF_WALL                                                                                              \
  {                                                                                                          \
    {"L", 1.0}, {"m", 2.0}, {"wall", -0.15},                                                                 \
    {                                                                                                        \
      "res", 0.6                                                                                             \
    }                                                                                                        \
  }

static const course COURSES[] = {
    {"ball", BALL("stabilized"), BOUNCES, 2e-4, 2e-7, OF_BALL},
    {"ball, collocation",
     BALL("collocation, order: 4"),
     BOUNCES,
     2e-4,
     2e-7,
     {{"res", 0.8}, {"ground", 0.05}}},
    {"ball, index 3", BALL("index3"), BOUNCES, 2e-4, 2e-7, {{"res", 0.8}, {"ground", 0.05}}},
    {"wall", WALL("", ""), HITS, 1e-4, 1e-8, OF_WALL},
    {"wall, redundant", WALL(AGAIN, ""), HITS, 1e-4, 1e-8, OF_WALL},
    {"wall, collocation", WALL(AGAIN, "method: collocation, "), HITS, 1e-4, 1e-7, OF_WALL},
    {"stop at an angle",
     "galpha: 1\n"
     "parameters: {L: 1, m: 2, last: -0.43, d: 0.3, g: 9.81}\n"
     "gravity: [0, -g, 0]\n"
     "bodies: {rod: {type: planar, mass: m, inertia: m*L^2/12, com: [L/2, 0]}}\n"
     "joints: {hinge: {type: revolute, a: ground, b: rod, at: [0, 0, 0]}}\n"
     "forces: {damper: {type: actuator, coordinate: hinge.angle, force: -d*hinge.angle_rate}}\n"
     "events: {stop: {when: hinge.angle - last, direction: falling, stop: true}}\n"
     "simulation: {t_end: 3, " STEPS,
     {"final(t)", "final(hinge.angle_rate)", "final(hinge.fy)", "max(hinge.fy)", "mean(hinge.angle^2)",
      "integral(hinge.angle)", "max(abs(hinge.angle_rate))", "min(hinge.angle)", "peak_time(-hinge.angle)"},
     1e-4,
     1e-7,
     {{"L", 1.0}, {"m", 2.0}, {"last", -0.43}, {"d", 0.3}, {"g", 9.81}}},
    {"bolt that breaks",
     "galpha: 1\n"
     "parameters: {L: 1, m: 2, load: 34, g: 9.81, depth: -3}\n"
     "gravity: [0, -g, 0]\n"
     "variables: {whole: {value: 1}}\n"
     "bodies: {rod: {type: planar, mass: m, inertia: m*L^2/12, com: [L/2, 0], angle: -0.3}}\n"
     "joints: {pin: {type: revolute, a: ground, b: rod, at: [0, 0, 0], active: whole}}\n"
     "events:\n"
     "  snap: {when: pin.fy - load, direction: rising, set: whole, to: 0}\n"
     "  down: {when: rod.y - depth, direction: falling, stop: true}\n"
     "simulation: {t_end: 3, " STEPS,
     {"final(t)", "final(rod.x)", "final(rod.vy)", "integral(pin.fy)", "max(pin.fy)", "mean(rod.vx^2)"},
     2e-5,
     1e-6,
     {{"L", 1.0}, {"m", 2.0}, {"load", 34.0}, {"g", 9.81}, {"depth", -3.0}}},
    {"carts that hook on",
     "galpha: 1\n"
     "parameters: {v: 1.3, ma: 2, mb: 1.5, k: 30, place: 0.7, c: 0.8}\n"
     "variables: {coupled: {value: 0}}\n"
     "bodies:\n"
     "  nose: {type: rigid, mass: ma, inertia: [1, 1, 1], velocity: [v, 0, 0]}\n"
     "  wagon: {type: rigid, mass: mb, inertia: [1, 1, 1], position: [place, 0, 0]}\n"
     "joints:\n"
     "  ra: {type: prismatic, a: ground, b: nose, at: {position: [0, 0, 0], rotation: {z_axis: [1, 0, 0]}}}\n"
     "  rb: {type: prismatic, a: ground, b: wagon, at: {position: [place, 0, 0], rotation: {z_axis: [1, 0, "
     "0]}}}\n"
     "  hook: {type: fixed, a: nose, b: wagon, active: coupled}\n"
     "forces: {s: {type: spring, coordinate: rb.displacement, stiffness: k, damping: c, rest: 0}}\n"
     "events:\n"
     "  meet: {when: nose.x - wagon.x, direction: rising, set: coupled, to: 1}\n"
     "  free: {when: t - 1.234, set: coupled, to: 0}\n"
     "simulation: {t_end: 1.5, " STEPS,
     {"final(nose.x)", "final(wagon.vx)", "max(nose.vx)", "crossing(nose.vx, 0)"},
     1e-4,
     1e-7,
     {{"v", 1.3}, {"mb", 1.5}, {"k", 30.0}}},
    {"switched spring",
     "galpha: 1\n"
     "parameters: {k: 20, k2: 60, start: 0.5, gap: 0.1, m: 1.5, c: 0.4}\n"
     "variables: {hard: {value: 0}}\n"
     "bodies: {x: {type: scalar, mass: m, position: start}}\n"
     "forces:\n"
     "  s1: {type: spring, coordinate: x, stiffness: k, damping: c, rest: 0}\n"
     "  s2: {type: actuator, coordinate: x, force: \"-hard*k2*(x - gap)\"}\n"
     "events:\n"
     "  on: {when: x - gap, direction: falling, set: hard, to: 1}\n"
     "  off: {when: x - gap, direction: rising, set: hard, to: 0}\n"
     "simulation: {t_end: 1.5, " STEPS,
     {"final(x)", "final(x.rate)", "final(x.acc)", "max(abs(x.acc))", "integral(x.acc)", "rms(x.acc)",
      "max(x.rate)", "crossing(x, 0, 2)", "at(0.7, x)", "min(x)"},
     1e-4,
     2e-7,
     {{"k", 20.0}, {"k2", 60.0}, {"start", 0.5}, {"gap", 0.1}, {"m", 1.5}, {"c", 0.4}}},
    {"thermostat",
     "galpha: 1\n"
     "parameters: {lo: 19.3, hi: 22.1, tau: 100, P: 40, outside: 5, begin: 20}\n"
     "variables: {heat: {value: 1}}\n"
     "blocks:\n"
     "  rate: {type: expression, inputs: {h: heat, T: lag}, expression: \"(outside + P*h - T)/tau\"}\n"
     "  lag: {type: integrator, inputs: [rate], initial: begin}\n"
     "events:\n"
     "  too_hot: {when: lag - hi, direction: rising, set: heat, to: 0}\n"
     "  too_cold: {when: lag - lo, direction: falling, set: heat, to: 1}\n"
     "simulation: {t_end: 150, step: 0.5, newton_tolerance: 1e-13}\n",
     {"final(lag)", "integral(rate)", "max(lag)", "crossing(lag, 21, 3)", "at(100, lag)", "mean(heat)",
      "crossing(rate, 0, 2)", "max(rate)"},
     2e-5,
     1e-6,
     {{"lo", 19.3}, {"hi", 22.1}, {"tau", 100.0}, {"P", 40.0}, {"outside", 5.0}, {"begin", 20.0}}},
    {"shot with drag",
     "galpha: 1\n"
     "parameters: {v: 12, angle: 0.7, cd: 0.05, m: 1, g: 9.81, h0: 1.2, slope: 0.1}\n"
     "gravity: [0, -g, 0]\n"
     "bodies: {p: {type: point, mass: m, position: [0, h0, 0], velocity: [v*cos(angle), v*sin(angle), 0]}}\n"
     "forces: {drag: {type: force, frame: p, force: [\"-cd*sqrt(p.vx^2 + p.vy^2)*p.vx\", \"-cd*sqrt(p.vx^2 + "
     "p.vy^2)*p.vy\", 0]}}\n"
     "events: {land: {when: p.y - slope*p.x, direction: falling, stop: true}}\n"
     "simulation: {t_end: 10, step: 0.01, newton_tolerance: 1e-13}\n",
     {"final(p.x)", "final(t)", "final(p.vy)", "integral(p.vx)", "max(p.y)", "mean(p.vy^2)", "final(p.vx*t)"},
     1e-4,
     1e-7,
     {{"v", 12.0}, {"angle", 0.7}, {"cd", 0.05}, {"m", 1.0}, {"g", 9.81}, {"h0", 1.2}, {"slope", 0.1}}},
    {"kick, and a switch at the time of a jump",
     "galpha: 1\n"
     "parameters: {T: 0.4113, k: 20, F: 3, m: 1.5, start: 0.2, push: 0.6, later: 0.8317}\n"
     "variables: {on: {value: 0}}\n"
     "bodies: {x: {type: scalar, mass: m, position: start}}\n"
     "forces:\n"
     "  s1: {type: spring, coordinate: x, stiffness: k, rest: 0}\n"
     "  a: {type: actuator, coordinate: x, force: \"F*step(t, T) + on*F\"}\n"
     "events:\n"
     "  kick: {when: t - later, set: x.rate, to: push + 0.5*x.rate}\n"
     "  switch: {when: t - T, set: on, to: 1}\n"
     "simulation: {t_end: 1.2, step: 0.002, newton_tolerance: 1e-13}\n",
     {"final(x)", "final(x.rate)", "integral(x.acc)", "max(x.acc)", "max(x.rate)", "min(x)"},
     1e-4,
     2e-7,
     {{"k", 20.0}, {"F", 3.0}, {"m", 1.5}, {"start", 0.2}, {"push", 0.6}, {"later", 0.8317}}},
    {"samples, whose output makes an event",
     "galpha: 1\n"
     "parameters: {k: 20, gain: 8, m: 1.5, start: 0.5, level: 0.12, less: 0.1}\n"
     "variables: {part: {value: 1}}\n"
     "bodies: {x: {type: scalar, mass: m, position: start}}\n"
     "blocks: {ctl: {type: gain, inputs: [x], gain: gain, sample_time: 0.05}}\n"
     "forces:\n"
     "  s1: {type: spring, coordinate: x, stiffness: k, damping: 0.3, rest: 0}\n"
     "  u: {type: actuator, coordinate: x, force: -part*ctl}\n"
     "events:\n"
     "  down: {when: x - level, direction: falling, set: part, to: less*part}\n"
     "  jump: {when: ctl + 1.1, direction: falling, set: x.rate, to: 0.5*x.rate}\n"
     "simulation: {t_end: 1.3, " STEPS,
     {"final(x)", "final(x.rate)", "max(abs(x.acc))", "min(x)"},
     1e-4,
     1e-7,
     {{"k", 20.0}, {"gain", 8.0}, {"m", 1.5}, {"start", 0.5}, {"level", 0.12}, {"less", 0.1}}},
    {"event that a jump makes",
     "galpha: 1\n"
     "parameters: {T: 0.3013, F: 2, push: 0.7, k: 10}\n"
     "bodies: {x: {type: scalar, mass: 1, position: 0.2}}\n"
     "forces:\n"
     "  p: {type: actuator, coordinate: x, force: \"F*step(t, T)\"}\n"
     "  s: {type: spring, coordinate: x, stiffness: k, rest: 0}\n"
     "events: {pushed: {when: x.acc - 0.5, direction: rising, set: x.rate, to: push + 2*x.rate}}\n"
     "simulation: {t_end: 0.9, step: 0.01, newton_tolerance: 1e-13}\n",
     {"final(x)", "final(x.rate)", "integral(x.acc)", "max(x.rate)", "integral(x.rate^2)"},
     2e-5,
     1e-7,
     {{"F", 2.0}, {"push", 0.7}, {"k", 10.0}}},
    {"from an equilibrium",
     "galpha: 1\n"
     "parameters: {k: 20, m: 1.5, g: 9.81, level: 0.1, res: 0.7, F: 5}\n"
     "bodies: {x: {type: scalar, mass: m}}\n"
     "forces:\n"
     "  s1: {type: spring, coordinate: x, stiffness: k, damping: 0.3, rest: 0}\n"
     "  w: {type: actuator, coordinate: x, force: \"-m*g + F*step(t, 0.1)\"}\n"
     "events: {hit: {when: x + m*g/k - level, direction: rising, set: x.rate, to: -res*x.rate}}\n"
     "simulation: {t_end: 1.3, from_equilibrium: true, " STEPS,
     {"final(x)", "final(x.rate)", "integral(x.acc)", "max(abs(x.acc))", "min(x)"},
     1e-4,
     1e-7,
     {{"k", 20.0}, {"m", 1.5}, {"g", 9.81}, {"level", 0.1}, {"res", 0.7}, {"F", 5.0}}},
    /* no event, but times of jumps and corners that a parameter moves */
    {"push",
     "galpha: 1\n"
     "parameters: {begin: 0.3013, F: 2, wide: 0.2}\n"
     "bodies: {x: {type: scalar, mass: 1}}\n"
     "forces: {s: {type: actuator, coordinate: x, force: \"F*(step(t, begin) - 0.5*step(t, begin + "
     "wide))\"}}\n"
     "simulation: {t_end: 1, step: 0.01, newton_tolerance: 1e-13}\n",
     {"integral(x.acc)", "mean(x.acc)", "rms(x.acc)", "std(x.acc)", "max(x.acc)", "crossing(x.acc, 1.5)",
      "crossing(x.acc, 1.5, 2)", "final(x)", "at(0.7, x)", "max(x.rate)"},
     1e-4,
     1e-7,
     {{"F", 2.0}, {"wide", 0.2}}},
};

static int show; /* 1: courses are named */

static void slopes_of_runs_with_events(void **state)
{
  (void)state;
  for (size_t i = 0; i < sizeof COURSES / sizeof *COURSES; i++) {
    const course *c = &COURSES[i];
    int n = 0;
    while (n < 16 && c->measures[n]) n++;
    slopes_width = c->width;
    for (int j = 0; j < 8 && c->by[j].name; j++) {
      if (show) printf("# %s by %s\n", c->name, c->by[j].name);
      compare(c->model, n, c->measures, c->by[j].name, c->by[j].value, c->tolerance);
    }
  }
}

static void derive(const char *text, int n, const char *const *measures, const char *by, double value,
                   outcome *out)
{
  char path[] = "/tmp/galpha_slopes_XXXXXX";
  write_model(path, text);
  run_model(path, n, measures, by, value, 1, out);
  unlink(path);
}

/* The time of the fifth bounce, T = t₀ (1 + 2 (r + r² + r³ + r⁴)), and the integral of the speed up to it. */
static void closed_forms(void **state)
{
  static const char *const measures[] = {"final(t)", "integral(abs(ball.vz))"};
  static outcome o;
  const double r = 0.8, g = 10.0, drop = 0.95, t0 = sqrt(2.0 * drop / g);
  (void)state;
  derive(BALL("stabilized"), 2, measures, "res", r, &o);
  assert_int_equal(o.refused | o.status, 0);
  assert_true(fabs(o.slope[0] - t0 * 2.0 * (1.0 + 2.0 * r + 3.0 * r * r + 4.0 * r * r * r)) < 1e-9);
  derive(BALL("stabilized"), 2, measures, "h", 1.0, &o);
  const double sum = r + r * r + pow(r, 3.0) + pow(r, 4.0),
               squares = r * r + pow(r, 4.0) + pow(r, 6.0) + pow(r, 8.0);
  assert_true(fabs(o.slope[0] - 0.5 * t0 / drop * (1.0 + 2.0 * sum)) < 1e-9);
  /* the way: drop (1 + 2 (r² + ...)); its integral has corners within steps */
  if (!(fabs(o.slope[1] - (1.0 + 2.0 * squares)) < 1e-4))
    fail_msg("%.9g", o.slope[1] - (1.0 + 2.0 * squares));
}

#define TWO                                                                                                  \
  "galpha: 1\n"                                                                                              \
  "parameters: {res: 0.8, ha: 1, hb: 1}\n"                                                                   \
  "gravity: [0, 0, -10]\n"                                                                                   \
  "bodies:\n"                                                                                                \
  "  a: {type: point, mass: 2, position: [0, 0, ha]}\n"                                                      \
  "  b: {type: point, mass: 1, position: [1, 0, hb]}\n"                                                      \
  "events:\n"                                                                                                \
  "  one: {when: a.z, direction: falling, set: a.vz, to: -res*a.vz}\n"                                       \
  "  two: {when: b.z, direction: falling, set: b.vz, to: -res*b.vz}\n"                                       \
  "simulation: {t_end: 1, step: 0.01}\n"

#define ONE(event, rest)                                                                                     \
  "galpha: 1\n"                                                                                              \
  "parameters: {h: 5, place: 5, late: 1, early: 0.4113, v: 0, quick: 0.5}\n"                                 \
  "gravity: [0, 0, -10]\n"                                                                                   \
  "variables: {n: {value: 0}}\n"                                                                             \
  "bodies: {a: {type: point, mass: 1, position: [0, 0, h], velocity: [0, 0, v]}}\n"                          \
  "forces: {f: {type: force, frame: a, force: [0, 0, \"step(t, quick)\"]}}\n"                                \
  "events: {e: " event "}\n"                                                                                 \
  "simulation: {t_end: 1, step: 0.01" rest "}\n"

static const struct {
  const char *model, *measure, *by;
  double value;
  const char *words; /* NULL: it has a derivative */
} REFUSALS[] = {
    {TWO, "final(a.z)", "ha", 1.0, "event 'two': another event happens at the same time"},
    {TWO, "final(a.z)", "res", 0.8, NULL},
    {ONE("{when: a.z + h - 4.95, direction: falling, stop: true}", ""), "final(t)", "h", 5.0, NULL},
    {ONE("{when: t - late, set: n, to: 1}", ""), "final(a.z)", "late", 1.0,
     "event 'e': it happens exactly at the end of the run"},
    {ONE("{when: t - late, set: n, to: 1}", ""), "final(a.z)", "h", 5.0, NULL},
    {ONE("{when: t - late, stop: true}", ""), "final(a.z)", "late", 1.0, "exactly at the end of the run"},
    {ONE("{when: t - late - 1e-16, stop: true}", ""), "final(a.z)", "late", 1.0, "at the end of the run"},
    {ONE("{when: \"a.z - place + 5*t\", set: n, to: 1}", ""), "final(a.z)", "place", 5.0,
     "event 'e': its condition is 0 where the motion begins"},
    {ONE("{when: \"a.z - place - 5*t\", set: n, to: 1, direction: rising}", ""), "final(a.z)", "place", 5.0,
     NULL},
    {ONE("{when: t - quick, set: n, to: 1}", ""), "final(a.z)", "h", 5.0, NULL},
    {ONE("{when: t - early, set: n, to: 1}", ""), "final(a.z)", "early", 0.4113, NULL},
    {ONE("{when: t - early - 0.0887, set: n, to: 1}", ""), "final(a.z)", "early", 0.4113,
     "this parameter decides whether"},
    {ONE("{when: \"(a.z - 3)^3\", set: n, to: 1}", ""), "final(a.z)", "h", 5.0, "only touches its condition"},
    {ONE("{when: \"(a.z > 3) - 0.5\", set: n, to: 1}", ""), "final(a.z)", "h", 5.0, "has a corner or a jump"},
    {ONE("{when: a.z - 3, set: a.vz, to: \"abs(a.z - 3)\"}", ""), "final(a.z)", "place", 5.0, NULL},
    {ONE("{when: a.z - 3, set: a.vz, to: \"abs(h - 5)\"}", ""), "final(a.z)", "h", 5.0,
     "has a corner or a jump"},
    {ONE("{when: t - early, set: a.vz, to: 1}", ""), "at(0.4113, a.vz)", "early", 0.4113,
     "its time is that of an event"},
    {ONE("{when: t - early, set: a.vz, to: 1}", ""), "at(0.4113, a.vz)", "h", 5.0, NULL},
    {"galpha: 1\nparameters: {last: 2, v: 0.3}\nbodies: {x: {type: scalar, mass: 1, velocity: v}}\n"
     "simulation: {t_end: last, step: 0.01}\n",
     "final(x)", "last", 2.0, "the time at which the run begins or ends depends on it"},
    {"galpha: 1\nparameters: {last: 2, v: 0.3}\nbodies: {x: {type: scalar, mass: 1, velocity: v}}\n"
     "simulation: {t_end: last, step: 0.01}\n",
     "final(x)", "v", 0.3, NULL},
    {ONE("{when: t - early, stop: true}", ""), "at(0.4113, a.z)", "early", 0.4113,
     "its time is that of an event"},
};

static void what_has_no_derivative_is_refused(void **state)
{
  static outcome o;
  (void)state;
  for (size_t i = 0; i < sizeof REFUSALS / sizeof *REFUSALS; i++) {
    derive(REFUSALS[i].model, 1, &REFUSALS[i].measure, REFUSALS[i].by, REFUSALS[i].value, &o);
    if (!REFUSALS[i].words) {
      if (o.status || o.refused) fail_msg("case %d: %s, %s", (int)i, o.text, o.error);
    } else if (!o.refused || !strstr(o.text, REFUSALS[i].words)) {
      fail_msg("case %d: refused %d, \"%s\", %.9g", (int)i, o.refused, o.text, o.slope[0]);
    }
  }
}

int main(int argc, char **argv)
{
  show = argc > 1 && strcmp(argv[1], "show") == 0;
  const struct CMUnitTest tests[] = {cmocka_unit_test(slopes_of_runs_with_events),
                                     cmocka_unit_test(closed_forms),
                                     cmocka_unit_test(what_has_no_derivative_is_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
