/* The limit cycle of a position control through backlash. A motor turns a load through play; the angle of the
 * load is fed back. Within the play and on either flank everything is linear: the reference is exact, by
 * matrix exponentials from one crossing to the next, and knows nothing of the library. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mbs_shop.h"

/* J₁ θ₁'' = u − T,  J₂ θ₂'' = n T − c θ₂',  T = k (d ∓ b) beyond ±b,  d = θ₁ − n θ₂
 * u = −kp n θ₂ − ki z − kd θ₁',  z' = n θ₂ */
typedef struct train {
  double J1, J2, k, b, n, c, kp, ki, kd;
} train;

static const train DIRECT = {0.02, 0.05, 50, 0.05, 1, 0.1, 4, 6, 0.3};
static const train GEARED = {0.02, 0.45, 50, 0.05, 3, 0.9, 4, 6, 0.3};

/* ---- The exact motion ---- */

enum { N = 6 }; /* θ₁, θ₁', θ₂, θ₂', z, 1 */

static void rates(double A[N * N], const train *p, int flank)
{
  memset(A, 0, N * N * sizeof *A);
  A[0 * N + 1] = A[2 * N + 3] = 1;
  A[4 * N + 2] = p->n;
  A[1 * N + 1] = -p->kd / p->J1;
  A[1 * N + 2] = -p->kp * p->n / p->J1;
  A[1 * N + 4] = -p->ki / p->J1;
  A[3 * N + 3] = -p->c / p->J2;
  if (!flank) return;
  const double torque[N] = {p->k, 0, -p->k * p->n, 0, 0, -p->k * p->b * flank};
  for (int i = 0; i < N; i++) {
    A[1 * N + i] -= torque[i] / p->J1;
    A[3 * N + i] += p->n * torque[i] / p->J2;
  }
}

/* z ← exp(A t) z, by Taylor's series over pieces that are short against the fastest motion. */
static void advance(double z[N], const double A[N * N], double t)
{
  double norm = 0;
  for (int i = 0; i < N * N; i++) norm = fmax(norm, fabs(A[i]));
  const int pieces = 1 + (int)(4 * sqrt(norm) * fabs(t));
  for (int k = 0; k < pieces; k++) {
    double term[N], next[N];
    memcpy(term, z, sizeof term);
    for (int order = 1; order < 20; order++) {
      for (int i = 0; i < N; i++) {
        next[i] = 0;
        for (int j = 0; j < N; j++) next[i] += A[i * N + j] * term[j];
        next[i] *= t / pieces / order;
      }
      memcpy(term, next, sizeof term);
      for (int i = 0; i < N; i++) z[i] += term[i];
    }
  }
}

static double twist(const train *p, const double z[N])
{
  return z[0] - p->n * z[2];
}

/* Advances to where f(z) passes from positive to 0 or below, within `step`; returns the time, or `step`. */
typedef double (*crossing_fn)(const train *p, const double z[N], int flank);

static double to_crossing(double z[N], const train *p, int flank, double step, crossing_fn f)
{
  double A[N * N], from[N], lo = 0, hi = step;
  rates(A, p, flank);
  memcpy(from, z, sizeof from);
  advance(z, A, step);
  if (f(p, z, flank) > 0) return step;
  for (int k = 0; k < 60; k++) {
    const double t = 0.5 * (lo + hi);
    memcpy(z, from, sizeof from);
    advance(z, A, t);
    if (f(p, z, flank) > 0)
      lo = t;
    else
      hi = t;
  }
  memcpy(z, from, sizeof from);
  advance(z, A, hi);
  return hi;
}

static double leaves(const train *p, const double z[N], int flank)
{
  return flank ? flank * twist(p, z) - p->b : p->b - fabs(twist(p, z));
}

static double load_rises(const train *p, const double z[N], int flank)
{
  (void)p, (void)flank;
  return z[3];
}

/* Advances to the next time at which the angle of the load is largest; returns how long that takes. */
static double to_top(double z[N], const train *p, int *flank)
{
  const double step = 2e-3;
  double t = 0;
  int rising = 0;
  for (int i = 0; i < 100000; i++) {
    double at[N];
    memcpy(at, z, sizeof at);
    const double piece = to_crossing(z, p, *flank, step, leaves);
    double top[N];
    memcpy(top, at, sizeof top);
    rising = rising || at[3] > 0;
    if (rising && at[3] > 0 && z[3] <= 0) {
      t += to_crossing(top, p, *flank, piece, load_rises);
      memcpy(z, top, sizeof top);
      return t;
    }
    t += piece;
    if (piece < step) *flank = *flank ? 0 : twist(p, z) > 0 ? 1 : -1;
  }
  fail_msg("no top");
  return t;
}

typedef struct cycle {
  double top[N], period;
  int flank;
} cycle;

static cycle limit_cycle(const train *p)
{
  cycle c = {{0, 0, 0.3 / p->n, 0, 0, 1}, 0, -1};
  for (int k = 0; k < 400; k++) c.period = to_top(c.top, p, &c.flank);
  return c;
}

/* ---- The machine ---- */

typedef enum coupling { PLAY, DEAD_ZONE } coupling;

static void add_scalar(shop *s, const char *name, double mass, double position, double velocity)
{
  ga_scalar_def d = ga_scalar_defaults();
  d.name = name;
  d.mass = mass;
  d.position = position, d.velocity = velocity;
  SHOP_ADD(s, scalar, &d);
}

static void add_actuator(shop *s, const char *name, const char *coordinate, const char *force)
{
  ga_actuator_def d = ga_actuator_defaults();
  d.name = name;
  d.coordinate = coordinate;
  d.force.expression = force;
  SHOP_ADD(s, actuator, &d);
}

static void add_play(shop *s, const train *p, const double z[N])
{
  ga_stop_def d = ga_stop_defaults();
  const double now = twist(p, z); /* counted from the start */
  d.name = "teeth";
  d.coordinate = "motor", d.other = "load";
  d.ratio = -p->n;
  d.lower = -p->b - now, d.upper = p->b - now;
  d.stiffness = p->k;
  SHOP_ADD(s, stop, &d);
}

static void add_dead_zone(shop *s, const train *p)
{
  static char minus[64], plus[64];
  ga_block_dead_zone_opts o = ga_block_dead_zone_defaults();
  ga_control_block *block = NULL;
  ga_input in = {.expression = p->n > 1 ? "motor - 3*load" : "motor - load"};
  o.lower = -p->b, o.upper = p->b;
  assert_status(s->ctx, ga_block_create_dead_zone(s->ctx, &o, &block), GA_OK);
  SHOP_ADD(s, block, "wound", block, &in);
  snprintf(minus, sizeof minus, "-%g*wound", p->k);
  snprintf(plus, sizeof plus, "%g*wound", p->n * p->k);
  add_actuator(s, "at_motor", "motor", minus);
  add_actuator(s, "at_load", "load", plus);
}

static shop controlled(const train *p, coupling by, const double z[N])
{
  static char law[128], drag[64];
  shop s = shop_open(GA_FORM_SPACE, 0);
  ga_block_integrator_opts o = ga_block_integrator_defaults();
  ga_control_block *sum = NULL;
  ga_input in = {.expression = "load"};
  o.gain = p->n;
  o.initial = &z[4];
  add_scalar(&s, "motor", p->J1, z[0], z[1]);
  add_scalar(&s, "load", p->J2, z[2], z[3]);
  assert_status(s.ctx, ga_block_create_integrator(s.ctx, &o, &sum), GA_OK);
  SHOP_ADD(&s, block, "sum", sum, &in);
  snprintf(law, sizeof law, "-%g*load - %g*sum - %g*motor.rate", p->kp * p->n, p->ki, p->kd);
  snprintf(drag, sizeof drag, "-%g*load.rate", p->c);
  add_actuator(&s, "control", "motor", law);
  add_actuator(&s, "drag", "load", drag);
  if (by == PLAY)
    add_play(&s, p, z);
  else
    add_dead_zone(&s, p);
  return s;
}

/* The worst of the four coordinates and rates after a run from the top of the cycle, relative to their
 * sizes. */
static double error_after(const train *p, coupling by, const cycle *c, double periods, const shop_trial *how)
{
  static const char *const SIGNAL[] = {"motor", "motor.rate", "load", "load.rate"};
  shop s = controlled(p, by, c->top);
  shop_trial trial = *how;
  double worst = 0;
  trial.t_end = periods * c->period;
  trial.fixed_h = how->fixed_h > 0 ? c->period / ceil(c->period / how->fixed_h) : 0;
  shop_build(&s);
  ga_simulator *sim = shop_begin(&s, &trial, NULL, NULL);
  assert_status(s.ctx, ga_simulator_run(sim), GA_OK);
  for (int i = 0; i < 4; i++) {
    const double size = (i % 2 ? 6.283 / c->period : 1) * c->top[2] * (i < 2 ? p->n : 1);
    worst = fmax(worst, fabs(shop_now(&s, SIGNAL[i]) - c->top[i]) / size);
  }
  ga_simulator_destroy(&sim);
  shop_close(&s);
  return worst;
}

/* ---- Tests ---- */

static void reference_is_a_limit_cycle(void **state)
{
  (void)state;
  const cycle direct = limit_cycle(&DIRECT), geared = limit_cycle(&GEARED);
  double z[N];
  int flank = direct.flank;
  memcpy(z, direct.top, sizeof z);
  assert_near(to_top(z, &DIRECT, &flank), direct.period, 1e-9, "period");
  assert_near(z[2], direct.top[2], 1e-9, "amplitude");
  assert_true(direct.top[2] > DIRECT.b); /* it is one, and not rest */
  assert_near(geared.top[2], direct.top[2] / 3, 1e-9, "the same train seen through a gear of 3");
  assert_near(geared.period, direct.period, 1e-9, "its period");
}

static void error_control_follows_the_cycle(void **state)
{
  (void)state;
  for (int k = 0; k < 4; k++) {
    const train *p = k / 2 ? &GEARED : &DIRECT;
    const cycle c = limit_cycle(p);
    double error[2];
    for (int i = 0; i < 2; i++)
      error[i] =
          error_after(p, (coupling)(k % 2), &c, 2, &(shop_trial){GA_STABILIZED, 0, 0, i ? 1e-9 : 1e-7});
    if (!(error[1] < 5e-4 && error[1] < error[0] / 10))
      fail_msg("case %d: errors %g and %g", k, error[0], error[1]);
  }
}

/* Order 2, though the flanks are left and met within the steps. */
static void equal_steps_have_order_two(void **state)
{
  static const ga_method METHOD[] = {GA_INDEX3, GA_STABILIZED, GA_SOI2};
  (void)state;
  const cycle c = limit_cycle(&DIRECT);
  for (int m = 0; m < 3; m++)
    for (int by = 0; by < 2; by++) {
      double error[2];
      for (int i = 0; i < 2; i++)
        error[i] = error_after(&DIRECT, (coupling)by, &c, 1,
                               &(shop_trial){METHOD[m], 0, c.period / (i ? 4000 : 2000), 0});
      const double order = log2(error[0] / error[1]);
      if (!(order > 1.9 && order < 2.1 && error[0] < 3e-3))
        fail_msg("method %d, coupling %d: errors %g and %g, order %g", m, by, error[0], error[1], order);
    }
}

/* From another state the motion ends in the same cycle: amplitude and period of its last round. */
typedef struct tops {
  double t[64], size[64];
  int n;
} tops;

static int note_top(void *user, int event, const ga_state *s)
{
  tops *out = user;
  (void)event;
  if (out->n < 64) out->t[out->n] = s->t, out->size[out->n++] = s->q[1];
  return 0;
}

static void motion_ends_in_the_cycle(void **state)
{
  (void)state;
  const cycle c = limit_cycle(&DIRECT);
  const double from[N] = {0, 0, 0.5, 0, 0, 1};
  shop s = controlled(&DIRECT, PLAY, from);
  ga_event_def top = ga_event_defaults();
  ga_event_watch *watch = NULL;
  tops seen = {.n = 0};
  top.name = "top", top.when = "load.rate", top.direction = GA_DIRECTION_FALLING;
  SHOP_ADD(&s, event, &top);
  shop_build(&s);
  ga_simulator *sim =
      shop_begin_watched(&s, &(shop_trial){GA_STABILIZED, 60 * c.period, 0, 1e-7}, note_top, &seen, &watch);
  assert_status(s.ctx, ga_simulator_run(sim), GA_OK);
  assert_true(seen.n > 30);
  assert_near(seen.t[seen.n - 1] - seen.t[seen.n - 2], c.period, 1e-4 * c.period, "period");
  assert_near(seen.size[seen.n - 1], c.top[2], 2e-4 * c.top[2], "amplitude");
  ga_simulator_destroy(&sim);
  ga_event_watch_destroy(&watch);
  shop_close(&s);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(reference_is_a_limit_cycle),
      cmocka_unit_test(error_control_follows_the_cycle),
      cmocka_unit_test(equal_steps_have_order_two),
      cmocka_unit_test(motion_ends_in_the_cycle),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
