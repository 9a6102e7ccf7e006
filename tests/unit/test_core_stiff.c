/* Error control per step where something is stiff, has been stiff, or becomes stiff within a step. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core_rig.h"
#include <float.h>

/* ---- A ball above a floor, an oscillator beside it, and a state that knows neither ---- */

typedef struct scene {
  double floor;                       /* stiffness of the floor, m/s² per m^1.5 */
  double stiffness, amplitude, omega; /* q₁'' = −K(t) (q₁ − amplitude sin ωt), K(t) varies by */
  double varies, frequency;           /* varies sin(2π frequency t) */
  double rate;                        /* x' = rate sin(rate (t − 0.4)) from t = 0.4 on */
  double worst_x;
} scene;

static int scene_mass(void *user, const ga_point *p, double *out)
{
  (void)user;
  out[0] = p->vdot[0];
  out[1] = p->vdot[1];
  return 0;
}

static int scene_force(void *user, const ga_point *p, double *out)
{
  const scene *s = user;
  const double k = s->stiffness * (1.0 + s->varies * sin(8.0 * atan(1.0) * s->frequency * p->t));
  out[0] = -10.0 + s->floor * pow(fmax(-p->q[0], 0.0), 1.5);
  out[1] = -k * (p->q[1] - s->amplitude * sin(s->omega * p->t));
  return 0;
}

static int scene_state(void *user, const ga_point *p, double *out)
{
  const scene *s = user;
  out[0] = p->t > 0.4 ? s->rate * sin(s->rate * (p->t - 0.4)) : 0.0;
  return 0;
}

static int watch_x(void *user, const ga_stepper *st)
{
  scene *s = user;
  const ga_state *now = ga_stepper_state(st);
  const double exact = s->rate > 0.0 && now->t > 0.4 ? 1.0 - cos(s->rate * (now->t - 0.4)) : 0.0;
  s->worst_x = fmax(s->worst_x, fabs(now->x[0] - exact));
  return 0;
}

typedef struct stage {
  rig r;
  ga_simulator *sim;
} stage;

static const ga_factor PLANE[] = {{GA_RN, 2, GA_LEFT}};

/* The ball falls from 0.7 m; the oscillator follows from the beginning. */
static stage stage_open(scene *s, double tol, double t_end)
{
  const double q[2] = {0.7, 0.0}, v[2] = {0.0, s->amplitude * s->omega}, x[1] = {0.0};
  stage g = {.r = rig_open(NULL)};
  ga_simulate_opts o = ga_simulate_defaults();
  g.r.def.n_factors = 1;
  g.r.def.factors = PLANE;
  g.r.def.n_x = 1;
  g.r.def.mass = scene_mass;
  g.r.def.force = scene_force;
  g.r.def.state = scene_state;
  g.r.def.user = s;
  rig_build(&g.r);
  o.t_end = t_end;
  o.rtol = o.rtol_v = tol;
  o.atol = o.atol_v = 1e-2 * tol;
  o.rtol_x = 0.0;
  o.atol_x = 1e-4;
  o.observer = watch_x;
  o.user = s;
  assert_status(g.r.ctx, ga_simulator_create(g.r.ctx, g.r.st, &o, &g.sim), GA_OK);
  assert_status(g.r.ctx, ga_simulator_start(g.sim, NULL, 0.0, q, v, x, NULL, NULL, NULL), GA_OK);
  return g;
}

static void stage_close(stage *g)
{
  ga_simulator_destroy(&g->sim);
  rig_close(&g->r);
}

/* Of the ball, as a share of what it had. */
static double energy_lost(const stage *g, const scene *s)
{
  const ga_state *now = ga_stepper_state(g->r.st);
  const double in = fmax(-now->q[0], 0.0);
  return 1.0 - (0.5 * now->v[0] * now->v[0] + 10.0 * now->q[0] + 0.4 * s->floor * pow(in, 2.5)) / 7.0;
}

/* ---- Tests ---- */

/* Stiffness that was always there does not hide that of a contact, nor must its motion be followed because of
 * one. */
static void beside_a_contact(void **state)
{
  (void)state;
  static const struct {
    double tol, stiffness, amplitude, omega, lost;
    long steps;
  } row[] = {{1e-3, 1e10, 0.1, 10.0, 0.1, 500},
             {1e-4, 1e10, 1.0, 1.0, 0.01, 800},
             {1e-4, 1e8, 1.0, 1.0, 0.01, 800},
             {1e-5, 1e6, 0.1, 10.0, 0.002, 3000}};
  for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
    scene s = {
        .floor = 5e7, .stiffness = row[i].stiffness, .amplitude = row[i].amplitude, .omega = row[i].omega};
    stage g = stage_open(&s, row[i].tol, 3.0);
    assert_status(g.r.ctx, ga_simulator_run(g.sim), GA_OK);
    assert_near(energy_lost(&g, &s), 0.0, row[i].lost, "energy lost");
    assert_true(ga_simulator_stats(g.sim)->steps < row[i].steps);
    stage_close(&g);
  }
}

/* States are as accurate in contacts as elsewhere. */
static void states_in_a_contact(void **state)
{
  (void)state;
  static const double floor_of[] = {1e4, 1e5, 1e7};
  for (size_t i = 0; i < sizeof floor_of / sizeof *floor_of; i++) {
    scene s = {.floor = floor_of[i], .stiffness = 1.0, .rate = 200.0};
    stage g = stage_open(&s, 1e-2, 0.6);
    assert_status(g.r.ctx, ga_simulator_run(g.sim), GA_OK);
    assert_true(s.worst_x < 5e-3);
    stage_close(&g);
  }
}

/* Stiffness that changes is no reason for short steps. */
static void stiffness_that_changes(void **state)
{
  (void)state;
  static const double frequency[] = {0.3, 1.0, 10.0};
  for (size_t i = 0; i < sizeof frequency / sizeof *frequency; i++) {
    scene s = {.stiffness = 1e8, .amplitude = 1.0, .omega = 1.0, .varies = 0.8, .frequency = frequency[i]};
    stage g = stage_open(&s, 1e-4, 20.0);
    assert_status(g.r.ctx, ga_simulator_run(g.sim), GA_OK);
    assert_near(ga_stepper_state(g.r.st)->q[1], sin(20.0), 1e-4, "q");
    assert_true(ga_simulator_stats(g.sim)->steps < 300);
    stage_close(&g);
  }
}

/* ---- Points on springs that stand for rods ---- */

typedef struct rods {
  int n; /* points in a row, 1 kg and 1 m from each other, level at the start */
  double k;
} rods;

static int rods_mass(void *user, const ga_point *p, double *out)
{
  memcpy(out, p->vdot, 2 * (size_t)((const rods *)user)->n * sizeof *out);
  return 0;
}

static int rods_force(void *user, const ga_point *p, double *out)
{
  const rods *r = user;
  for (int i = 0; i < r->n; i++) out[2 * i] = 0.0, out[2 * i + 1] = -9.81;
  for (int i = 0; i < r->n; i++) {
    const double *b = p->q + 2 * i, x = b[0] - (i ? b[-2] : 0.0), y = b[1] - (i ? b[-1] : 0.0);
    const double l = hypot(x, y), f = r->k * (l - 1.0) / l;
    out[2 * i] -= f * x, out[2 * i + 1] -= f * y;
    if (i) out[2 * i - 2] += f * x, out[2 * i - 1] += f * y;
  }
  return 0;
}

/* Steps to t = 2; *x is where the last point ends. */
static long swing(rods *s, double rho, double tol, double *x)
{
  static const ga_factor space[] = {{GA_RN, 2, GA_LEFT}, {GA_RN, 4, GA_LEFT}};
  const double q[] = {1.0, 0.0, 2.0, 0.0}, v[4] = {0.0};
  rig r = rig_open(NULL);
  ga_simulate_opts o = ga_simulate_defaults();
  ga_simulator *sim;
  r.def.n_factors = 1;
  r.def.factors = &space[s->n - 1];
  r.def.mass = rods_mass;
  r.def.force = rods_force;
  r.def.user = s;
  assert_int_equal(ga_scheme_rho(r.ctx, rho, &r.opts.scheme), GA_OK);
  rig_build(&r);
  o.t_end = 2.0;
  o.rtol = o.rtol_v = tol;
  o.atol = o.atol_v = 1e-2 * tol;
  assert_status(r.ctx, ga_simulator_create(r.ctx, r.st, &o, &sim), GA_OK);
  assert_status(r.ctx, ga_simulator_start(sim, NULL, 0.0, q, v, NULL, NULL, NULL, NULL), GA_OK);
  assert_status(r.ctx, ga_simulator_run(sim), GA_OK);
  *x = ga_stepper_state(r.st)->q[2 * s->n - 2];
  const long steps = ga_simulator_stats(sim)->steps;
  ga_simulator_destroy(&sim);
  rig_close(&r);
  return steps;
}

/* They turn, and pass the directions of the axes: that is no new stiffness. Neither how stiff they are nor ρ∞
 * matters; and the first steps, before the springs pull, are no longer than the others. */
static void springs_for_rods(void **state)
{
  static const double k[] = {1e8, 1e9, 1e10}, rho[] = {0.0, 0.05, 0.1, 0.8}, tol[] = {1e-4, 1e-6};
  /* with rods, in angles, by the classical method of Runge and Kutta with steps of 1e-4 s */
  static const double exact[] = {0.7935661953, -1.4341248175};
  (void)state;
  for (int n = 1; n <= 2; n++)
    for (size_t t = 0; t < 2; t++) {
      long least = 1000000, most = 0;
      for (size_t i = 0; i < 3; i++)
        for (size_t j = 0; j < 4; j++) {
          rods s = {n, k[i]};
          double x;
          const long steps = swing(&s, rho[j], tol[t], &x);
          least = steps < least ? steps : least;
          most = steps > most ? steps : most;
          assert_near(x, exact[n - 1], t ? 1e-3 : 2e-2, "end of the last rod");
        }
      assert_true(most < 2 * least);
    }
}

/* A run that is saved in mid-contact goes on with the same bits. */
static void saved_in_a_contact(void **state)
{
  (void)state;
  scene s = {.floor = 1e6, .stiffness = 1e8, .amplitude = 0.1, .omega = 1.0};
  for (int steps = 1; steps <= 25; steps += 6) { /* into the contact */
    stage g = stage_open(&s, 1e-4, 1.0);
    double *saved = calloc(ga_simulator_saved_size(g.sim), sizeof *saved), end[2];
    assert_non_null(saved);
    for (int i = 0; i < steps; i += ga_stepper_state(g.r.st)->q[0] < 0.0)
      assert_int_equal(ga_simulator_step(g.sim), GA_OK);
    assert_true(ga_stepper_state(g.r.st)->q[0] < 0.0);
    assert_status(g.r.ctx, ga_simulator_save(g.sim, saved), GA_OK);
    assert_status(g.r.ctx, ga_simulator_run(g.sim), GA_OK);
    memcpy(end, ga_stepper_state(g.r.st)->q, sizeof end);
    stage_close(&g);
    g = stage_open(&s, 1e-4, 1.0);
    assert_status(g.r.ctx, ga_simulator_load(g.sim, saved), GA_OK);
    assert_status(g.r.ctx, ga_simulator_run(g.sim), GA_OK);
    assert_memory_equal(end, ga_stepper_state(g.r.st)->q, sizeof end);
    stage_close(&g);
    free(saved);
  }
}

/* ---- Equal steps that are long against a damped motion ---- */

/* q'' = 1 − λ v − ω² q, from rest at q = 0: the jerk −λ would change by hλ + h²ω² of its size in a step. The
 * slow motion is q' = 1/λ; without the shift of the start the first step is not off it. */
typedef struct damped {
  double lambda, omega;
} damped;

static int damped_force(void *user, const ga_point *p, double *out)
{
  const damped *d = user;
  out[0] = 1.0 - d->lambda * p->v[0] - d->omega * d->omega * p->q[0];
  return 0;
}

static int unit_mass(void *user, const ga_point *p, double *out)
{
  (void)user;
  out[0] = p->vdot[0];
  return 0;
}

static void damped_motions_start(void **state)
{
  static const struct {
    damped d;
    double h;
    int shifted; /* is the start? */
  } row[] = {{{1e4, 0}, 1e-2, 0},
             {{5, 3}, 1e-2, 1},
             {{1e4, 1e3}, 1e-2, 0},
             {{500, 0}, 1e-2, 1},
             {{1500, 0}, 1e-2, 0}};
  static const ga_factor line[] = {{GA_RN, 1, GA_LEFT}};
  (void)state;
  for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
    damped d = row[i].d;
    const double h = row[i].h, zero = 0.0, change = h * d.lambda + h * h * d.omega * d.omega;
    rig r = rig_open(NULL);
    ga_simulate_opts o = ga_simulate_defaults();
    ga_simulator *sim = NULL;
    ga_start_opts s = ga_start_defaults();
    ga_start_report report;
    r.def.n_factors = 1;
    r.def.factors = line;
    r.def.mass = unit_mass;
    r.def.force = damped_force;
    r.def.user = &d;
    rig_build(&r);
    s.h = h;
    assert_status(r.ctx, ga_stepper_start(r.st, &s, 0.0, &zero, &zero, NULL, NULL, NULL, &report), GA_OK);
    assert_near(report.jerk_change / change, 1.0, 1e-3, "change of the jerk");
    o.t_end = 20 * h;
    o.fixed_h = h;
    assert_status(r.ctx, ga_simulator_create(r.ctx, r.st, &o, &sim), GA_OK);
    assert_status(r.ctx, ga_simulator_start(sim, NULL, 0.0, &zero, &zero, NULL, NULL, NULL, &report), GA_OK);
    assert_int_equal(report.a_shift > 0.0, row[i].shifted);
    assert_status(r.ctx, ga_simulator_run(sim), GA_OK);
    if (!row[i].shifted && d.omega == 0.0) /* shifted it would be off by 0.1 h */
      assert_near(ga_stepper_state(r.st)->q[0] * d.lambda / (20 * h), 1.0, 0.05, "slow motion");
    ga_simulator_destroy(&sim);
    rig_close(&r);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(damped_motions_start), cmocka_unit_test(beside_a_contact),
      cmocka_unit_test(states_in_a_contact),  cmocka_unit_test(stiffness_that_changes),
      cmocka_unit_test(springs_for_rods),     cmocka_unit_test(saved_in_a_contact),
  };
  return cmocka_run_group_tests_name("core: what becomes stiff", tests, rig_hook_klu, NULL);
}
