/* The first steps after a start, or a restart: their accelerations and forces are as good as later ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core_rig.h"

/* ---- Masses in the plane, one below the other, on rods or on springs that stand for rods ---- */

enum { LINKS_MOST = 3, RECORDS = 3000, STEPS_MOST = 40000 };

typedef struct chain {
  const char *name;
  int n;            /* masses of 1 kg, on rods of 1 m */
  double angle;     /* [rad] of all rods from the vertical at the start, at rest */
  double stiffness; /* [N/m] of springs in place of rods; 0: rods */
  double push;      /* [N] sideways on the last mass, from t_push on */
  double t_push;    /* [s] a break; 0: no push */
  double growth;    /* [N/s²] of a force sideways on the last mass, growth t² */
  double t_end;
} chain;

static int chain_mass(void *user, const ga_point *p, double *out)
{
  const chain *c = user;
  for (int i = 0; i < 2 * c->n; i++) out[i] = p->vdot[i];
  return 0;
}

/* From the mass before, or the pivot, to mass i. */
static double along(const double *q, int i, int k)
{
  return q[2 * i + k] - (i > 0 ? q[2 * (i - 1) + k] : 0.0);
}

static int chain_force(void *user, const ga_point *p, double *out)
{
  const chain *c = user;
  for (int i = 0; i < c->n; i++) out[2 * i] = 0.0, out[2 * i + 1] = -9.81;
  if (c->t_push > 0.0 && p->t >= c->t_push) out[2 * (c->n - 1)] += c->push;
  out[2 * (c->n - 1)] += c->growth * p->t * p->t;
  for (int i = 0; i < c->n; i++) {
    const double length = hypot(along(p->q, i, 0), along(p->q, i, 1));
    const double pull = c->stiffness > 0.0 ? c->stiffness * (length - 1.0) / length : p->lambda[i];
    for (int k = 0; k < 2; k++) {
      out[2 * i + k] -= pull * along(p->q, i, k);
      if (i > 0) out[2 * (i - 1) + k] += pull * along(p->q, i, k);
    }
  }
  return 0;
}

static int chain_phi(void *user, const ga_point *p, double *out)
{
  const chain *c = user;
  for (int i = 0; i < c->n; i++)
    out[i] = 0.5 * (along(p->q, i, 0) * along(p->q, i, 0) + along(p->q, i, 1) * along(p->q, i, 1) - 1.0);
  return 0;
}

static int chain_phi_dot(void *user, const ga_point *p, double *out)
{
  const chain *c = user;
  for (int i = 0; i < c->n; i++)
    out[i] = along(p->q, i, 0) * along(p->v, i, 0) + along(p->q, i, 1) * along(p->v, i, 1);
  return 0;
}

/* ---- Runs, with accelerations and forces at equal times ---- */

enum { SIGNALS = 3 * LINKS_MOST };

typedef struct record {
  int n_vdot, n_signals, n, n_steps;
  double value[RECORDS + 2][SIGNALS];
  double t[RECORDS + 2], step_end[STEPS_MOST];
  ga_simulate_stats stats;
} record;

static int note(void *user, const ga_state *s)
{
  record *r = user;
  assert_true(r->n < RECORDS + 2);
  r->t[r->n] = s->t;
  for (int i = 0; i < r->n_signals; i++)
    r->value[r->n][i] = i < r->n_vdot ? s->vdot[i] : s->lambda[i - r->n_vdot];
  r->n++;
  return 0;
}

static int note_step(void *user, const ga_stepper *st)
{
  record *r = user;
  assert_true(r->n_steps < STEPS_MOST);
  r->step_end[r->n_steps++] = ga_stepper_state(st)->t;
  return 0;
}

static void run(const chain *c, ga_method method, double tol, record *r)
{
  const ga_factor plane = {GA_RN, 2 * c->n, GA_LEFT};
  double q[2 * LINKS_MOST], v[2 * LINKS_MOST] = {0.0};
  chain own = *c;
  ga_context *ctx = rig_open_context();
  ga_system_def def = ga_system_defaults();
  ga_stepper_opts so = ga_stepper_defaults();
  ga_simulate_opts o = ga_simulate_defaults();
  ga_system *sys = NULL;
  ga_stepper *st = NULL;
  ga_simulator *sim = NULL;
  for (int i = 0; i < c->n; i++) q[2 * i] = (i + 1) * sin(c->angle), q[2 * i + 1] = -(i + 1) * cos(c->angle);
  def.user = &own, def.n_factors = 1, def.factors = &plane, def.mass = chain_mass, def.force = chain_force;
  if (c->stiffness == 0.0) def.n_lambda = c->n, def.phi = chain_phi, def.phi_dot = chain_phi_dot;
  so.method = method;
  o.t_end = c->t_end, o.rtol = tol, o.atol = o.atol_v = 1e-2 * tol, o.rtol_v = tol;
  o.user = r, o.output = note, o.observer = note_step;
  o.output_every = c->t_end / RECORDS, o.h_max = 0.1 * c->t_end, o.defect_points = 0;
  if (c->t_push > 0.0) o.n_breaks = 1, o.breaks = &own.t_push;
  r->n_vdot = 2 * c->n, r->n_signals = r->n_vdot + def.n_lambda, r->n = r->n_steps = 0;
  assert_status(ctx, ga_system_create(ctx, &def, &sys), GA_OK);
  assert_status(ctx, ga_stepper_create(ctx, sys, &so, &st), GA_OK);
  assert_status(ctx, ga_simulator_create(ctx, st, &o, &sim), GA_OK);
  assert_status(ctx, ga_simulator_start(sim, NULL, 0.0, q, v, NULL, NULL, NULL, NULL), GA_OK);
  assert_status(ctx, ga_simulator_run(sim), GA_OK);
  r->stats = *ga_simulator_stats(sim);
  ga_simulator_destroy(&sim);
  ga_stepper_destroy(&st);
  ga_system_destroy(&sys);
  rig_close_context(&ctx);
}

/* Largest error of any signal over its range, at record k. */
static double error_at(const record *r, const record *exact, const double *range, int k)
{
  double worst = 0.0;
  for (int i = 0; i < r->n_signals; i++)
    if (range[i] > 0.0) worst = fmax(worst, fabs(r->value[k][i] - exact->value[k][i]) / range[i]);
  return worst;
}

static int by_size(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* The largest error within each step, from `from` on: of the first FIRST of them, and the median of all. */
enum { FIRST = 5 };

static void measure(const record *r, const record *exact, double from, double *first, double *median)
{
  static double of_step[STEPS_MOST];
  double range[SIGNALS];
  int n = 0, k = 0;
  for (int i = 0; i < r->n_signals; i++) {
    double low = HUGE_VAL, high = -HUGE_VAL;
    for (int j = 0; j < exact->n; j++)
      low = fmin(low, exact->value[j][i]), high = fmax(high, exact->value[j][i]);
    range[i] = high - low;
  }
  *first = 0.0;
  for (int s = 0, number = 0; s < r->n_steps; s++) {
    double worst = -1.0;
    for (; k < r->n && r->t[k] <= r->step_end[s]; k++)
      if (r->t[k] > from) worst = fmax(worst, error_at(r, exact, range, k));
    if (r->step_end[s] <= from) continue;
    if (number++ < FIRST) *first = fmax(*first, worst);
    if (worst >= 0.0) of_step[n++] = worst;
  }
  assert_true(n > 20);
  qsort(of_step, (size_t)n, sizeof *of_step, by_size);
  *median = of_step[n / 2];
}

static const chain CHAINS[] = {{.name = "let go", .n = 1, .angle = 1.2, .t_end = 3.0},
                               {.name = "let go level", .n = 1, .angle = 1.5707963267948966, .t_end = 3.0},
                               {.name = "two, let go", .n = 2, .angle = 1.0, .t_end = 2.0},
                               {.name = "three, let go", .n = 3, .angle = 0.7, .t_end = 2.0},
                               {.name = "pushed", .n = 1, .push = 6.0, .t_push = 0.7, .t_end = 3.0},
                               {.name = "three, pushed", .n = 3, .push = 8.0, .t_push = 0.7, .t_end = 3.0},
                               {.name = "a force that grows", .n = 1, .growth = 4.0, .t_end = 3.0}};
enum { N_CHAINS = sizeof CHAINS / sizeof *CHAINS };

/* Of steps that positions alone choose, the jerk being 0 as these motions begin, the first ones are off by up
 * to 19 times the median. */
#define MOST_FIRST 2.5

static void first_accelerations(void **state)
{
  static record exact, coarse;
  (void)state;
  for (int i = 0; i < N_CHAINS; i++) {
    const chain *c = &CHAINS[i];
    run(c, GA_STABILIZED, 1e-10, &exact);
    for (int digits = 3; digits <= 8; digits++) {
      double first, median;
      run(c, GA_STABILIZED, pow(10.0, -digits), &coarse);
      assert_int_equal(coarse.n, exact.n);
      measure(&coarse, &exact, c->t_push, &first, &median);
      if (first > MOST_FIRST * median)
        fail_msg("%s, tolerance 1e-%d: the first steps are off by %g, the median is %g", c->name, digits,
                 first, median);
    }
  }
}

static void first_accelerations_of_other_methods(void **state)
{
  static const ga_method METHODS[] = {GA_INDEX3, GA_SOI2, GA_WEIGHTED};
  static record exact, coarse;
  (void)state;
  run(&CHAINS[0], GA_STABILIZED, 1e-10, &exact);
  for (int i = 0; i < 3; i++) {
    double first, median;
    run(&CHAINS[0], METHODS[i], 1e-7, &coarse);
    measure(&coarse, &exact, 0.0, &first, &median);
    assert_below(first, MOST_FIRST * median, "accelerations and forces of the first steps");
  }
}

/* Springs of 1e4 and 1e8 N/m that stand for rods and start without their force: at first accelerations are
 * those of oscillations that no step follows. */
static void stiff_starts_stay_cheap(void **state)
{
  static record r;
  (void)state;
  for (double stiffness = 1e4; stiffness < 1e9; stiffness *= 1e2) {
    const chain c = {.n = 1, .angle = 1.2, .stiffness = stiffness, .t_end = 3.0};
    run(&c, GA_STABILIZED, 1e-4, &r);
    assert_in_range(r.stats.steps + r.stats.rejected_error, 100, 300);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(first_accelerations),
                                     cmocka_unit_test(first_accelerations_of_other_methods),
                                     cmocka_unit_test(stiff_starts_stay_cheap)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
