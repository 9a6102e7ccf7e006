/* The advice of messages that only programs in C can meet, followed: each attempt fails with the message, and
 * works once it is made as the message says. tests/advice/run does the same for models, and sees that no text
 * with advice is left out of both. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core_rig.h"
#include "galpha/mbs.h"
#include "galpha/result.h"
#include <unistd.h>

/* An attempt: remedy 0 as it was, remedy i with the i-th of what the message says to do. */
typedef ga_status (*attempt_fn)(ga_context *ctx, int remedy);

/* ---- A mass of 1 kg in the plane, on a rod where phi is given ---- */

typedef struct plant {
  double length; /* of the rod, squared: Φ = (x² + y² − length)/2 */
  double edge;   /* [m] of x, from which on there is no force; 0: none */
  int undefined; /* what it is there: 1 the callback says so, 2 it is no number */
  int steep;     /* 1: the rod pulls with 8 atan(4 (λ − 3)) + λ/10, 2: with λ³ */
  double noise;  /* [N] of the force, from one evaluation to the next, */
  double slip;   /* [m] and of the rod's length */
  int wrong;     /* 1: the Jacobian has the wrong stiffness */
  double k;      /* stiffness, N/m along x */
  unsigned count;
} plant;

static double pull(const plant *p, double lambda)
{
  return p->steep == 1   ? 8 * atan(4 * (lambda - 3)) + 0.1 * lambda
         : p->steep == 2 ? lambda * lambda * lambda
                         : lambda;
}

static int plant_mass(void *user, const ga_point *p, double *out)
{
  (void)user;
  out[0] = p->vdot[0], out[1] = p->vdot[1];
  return 0;
}

static int free_force(void *user, const ga_point *p, double *out)
{
  plant *c = user;
  const int beyond = c->edge > 0 && p->q[0] >= c->edge;
  out[0] = -c->k * p->q[0] + c->noise * sin(1.7 * ++c->count), out[1] = -9.81;
  if (beyond && c->undefined == 2) out[0] = NAN;
  return beyond && c->undefined == 1;
}

static int rod_force(void *user, const ga_point *p, double *out)
{
  const int code = free_force(user, p, out);
  for (int i = 0; i < 2; i++) out[i] -= p->q[i] * pull(user, p->lambda[0]);
  return code;
}

static int rod_phi(void *user, const ga_point *p, double *out)
{
  plant *c = user;
  out[0] = 0.5 * (p->q[0] * p->q[0] + p->q[1] * p->q[1] - c->length) + c->slip * sin(1.7 * ++c->count);
  return 0;
}

static int rod_phi_dot(void *user, const ga_point *p, double *out)
{
  (void)user;
  out[0] = p->q[0] * p->v[0] + p->q[1] * p->v[1];
  return 0;
}

static const ga_factor PLANE = {GA_RN, 2, GA_LEFT};
static const double DOWN[] = {0.6, -0.8}, STILL[] = {0, 0}, RIGHT[] = {1, 0};

/* A system, its stepper and a start; each may fail. What was made is in *m. */
typedef struct made {
  ga_system *sys;
  ga_stepper *st;
} made;

static ga_system_def define(plant *c, int on_rod)
{
  ga_system_def def = ga_system_defaults();
  def.n_factors = 1, def.factors = &PLANE, def.user = c;
  def.mass = plant_mass, def.force = on_rod ? rod_force : free_force;
  if (on_rod) def.n_lambda = 1, def.phi = rod_phi, def.phi_dot = rod_phi_dot;
  return def;
}

static ga_status make(ga_context *ctx, const ga_system_def *def, const ga_stepper_opts *opts, made *m)
{
  const ga_status status = ga_system_create(ctx, def, &m->sys);
  return status ? status : ga_stepper_create(ctx, m->sys, opts, &m->st);
}

static ga_status begin(made *m, double h, const double *v, const double *lambda)
{
  ga_start_opts o = ga_start_defaults();
  o.h = h;
  return ga_stepper_start(m->st, &o, 0.0, DOWN, v, NULL, lambda, NULL, NULL);
}

static ga_status end(made *m, ga_status status)
{
  ga_stepper_destroy(&m->st);
  ga_system_destroy(&m->sys);
  return status;
}

/* Makes, starts and takes n steps of size h. */
static ga_status swing(ga_context *ctx, plant *c, int on_rod, const ga_stepper_opts *opts, const double *v,
                       double h, int n)
{
  const ga_system_def def = define(c, on_rod);
  made m = {0};
  ga_status status = make(ctx, &def, opts, &m);
  if (!status) status = begin(&m, h, v, NULL);
  for (int i = 0; !status && i < n; i++) status = ga_stepper_step(m.st, h);
  return end(&m, status);
}

/* ---- Core: systems and steppers ---- */

static int no_jacobian(void *user, const ga_point *p, ga_jacobian *J)
{
  (void)user, (void)p, (void)J;
  return 1;
}

static int nothing(void *user, const ga_point *p, double *out)
{
  (void)user, (void)p, (void)out;
  return 1;
}

/* Constraints i of coordinates i and i + 1: without a pattern each might act on all of them. */
static ga_status many_etas(ga_context *ctx, int remedy)
{
  enum { N = 1300, CONSTRAINTS = N / 2 };
  static int row[N + 4 * CONSTRAINTS], col[N + 4 * CONSTRAINTS];
  const ga_factor factor = {GA_RN, N, GA_LEFT};
  ga_stepper_opts opts = ga_stepper_defaults();
  ga_system_def def = ga_system_defaults();
  made m = {0};
  for (int i = 0; i < N; i++) row[i] = col[i] = i;
  for (int i = 0; i < 4 * CONSTRAINTS; i++) {
    const int phi = N + i / 4, q = i / 4 + i % 2;
    row[N + i] = i % 4 < 2 ? phi : q;
    col[N + i] = i % 4 < 2 ? q : phi;
  }
  def.n_factors = 1, def.factors = &factor, def.n_lambda = CONSTRAINTS;
  def.mass = def.force = def.phi = nothing;
  def.jacobian = no_jacobian; /* differences would colour the columns first */
  if (remedy == 1) def.n_pattern = N + 4 * CONSTRAINTS, def.pattern_row = row, def.pattern_col = col;
  if (remedy == 2) opts.method = GA_INDEX3;
  return end(&m, make(ctx, &def, &opts, &m));
}

static ga_status dense_system(ga_context *ctx, int remedy)
{
  enum { N = 20010 };
  static int entry[N];
  plant c = {.length = 1};
  ga_system_def def = define(&c, 0);
  made m = {0};
  for (int i = 0; i < N; i++) entry[i] = i;
  def.n_x = N - 2, def.state = nothing;
  if (remedy) def.n_pattern = N, def.pattern_row = def.pattern_col = entry;
  return end(&m, ga_system_create(ctx, &def, &m.sys));
}

static ga_status negative_pattern(ga_context *ctx, int remedy)
{
  plant c = {.length = 1};
  ga_system_def def = define(&c, 0);
  made m = {0};
  def.n_pattern = remedy ? 0 : -1;
  return end(&m, ga_system_create(ctx, &def, &m.sys));
}

/* The constraint acts on no velocity, by the pattern. */
static ga_status no_pivot(ga_context *ctx, int remedy)
{
  static const int row[] = {0, 1, 2, 0, 2, 1}, col[] = {0, 1, 0, 2, 1, 2};
  ga_stepper_opts opts = ga_stepper_defaults();
  plant c = {.length = 1};
  ga_system_def def = define(&c, 1);
  made m = {0};
  opts.redundant = GA_REDUNDANT_REFUSE;
  def.n_pattern = remedy ? 6 : 2, def.pattern_row = row, def.pattern_col = col;
  return end(&m, make(ctx, &def, &opts, &m));
}

static ga_status unknown_kind(ga_context *ctx, int remedy)
{
  const ga_factor factor = {remedy ? GA_RN : (ga_factor_kind)17, 1, GA_LEFT};
  ga_group *g = NULL;
  const ga_status status = ga_group_create(ctx, 1, &factor, &g);
  ga_group_destroy(&g);
  return status;
}

static ga_status unknown_side(ga_context *ctx, int remedy)
{
  const ga_factor factor = {GA_SO3, 1, remedy == 0 ? (ga_side)5 : remedy == 1 ? GA_LEFT : GA_RIGHT};
  ga_group *g = NULL;
  const ga_status status = ga_group_create(ctx, 1, &factor, &g);
  ga_group_destroy(&g);
  return status;
}

static ga_status odd_scheme(ga_context *ctx, int remedy)
{
  ga_stepper_opts opts = ga_stepper_defaults();
  plant c = {.length = 1};
  opts.scheme.gamma += 0.1;
  if (remedy && ga_scheme_rho(ctx, 0.8, &opts.scheme)) return GA_ERR_ARGUMENT;
  return swing(ctx, &c, 1, &opts, STILL, 1e-2, 10);
}

/* ---- Core: starts ---- */

static ga_status first_size(ga_context *ctx, int remedy)
{
  const ga_stepper_opts opts = ga_stepper_defaults();
  plant c = {.length = 1};
  return swing(ctx, &c, 1, &opts, STILL, remedy ? 1e-2 : 0, 1);
}

static ga_status without_opts(ga_context *ctx, int remedy)
{
  const ga_stepper_opts opts = ga_stepper_defaults();
  plant c = {.length = 1};
  const ga_system_def def = define(&c, 1);
  ga_start_opts o = ga_start_defaults();
  made m = {0};
  ga_status status = make(ctx, &def, &opts, &m);
  o.h = 1e-2;
  if (!status) status = ga_stepper_start(m.st, remedy ? &o : NULL, 0, DOWN, STILL, NULL, NULL, NULL, NULL);
  return end(&m, status);
}

static ga_status assemble_without_opts(ga_context *ctx, int remedy)
{
  const ga_stepper_opts opts = ga_stepper_defaults();
  plant c = {.length = 1};
  const ga_system_def def = define(&c, 1);
  ga_start_opts o = ga_start_defaults();
  double q[] = {0.61, -0.8}, v[] = {0, 0};
  made m = {0};
  ga_status status = make(ctx, &def, &opts, &m);
  o.h = 1e-2;
  if (!status) status = ga_stepper_assemble(m.st, remedy ? &o : NULL, 0, q, v, NULL);
  return end(&m, status);
}

static int moving_phi(void *user, const ga_point *p, double *out)
{
  (void)user;
  out[0] = p->q[0] - DOWN[0] - 0.1 * p->t;
  return 0;
}

static int moving_phi_dot(void *user, const ga_point *p, double *out)
{
  (void)user;
  out[0] = p->v[0] - 0.1;
  return 0;
}

static int moving_force(void *user, const ga_point *p, double *out)
{
  (void)user;
  out[0] = -p->lambda[0], out[1] = -9.81;
  return 0;
}

static ga_status depends_on_t(ga_context *ctx, int remedy)
{
  const ga_stepper_opts opts = ga_stepper_defaults();
  const double v[] = {0.1, 0};
  plant c = {.length = 1};
  ga_system_def def = define(&c, 1);
  made m = {0};
  def.phi = moving_phi, def.force = moving_force;
  def.phi_dot = remedy == 2 ? moving_phi_dot : NULL;
  def.rheonomic = remedy == 1;
  ga_status status = make(ctx, &def, &opts, &m);
  if (!status) status = begin(&m, 1e-2, v, NULL);
  for (int i = 0; !status && i < 10; i++) status = ga_stepper_step(m.st, 1e-2);
  if (!status) assert_near(ga_stepper_state(m.st)->q[0], DOWN[0] + 0.01, 1e-9, "place");
  return end(&m, status);
}

static ga_status steep_pull(ga_context *ctx, int steep, double guess, int remedy)
{
  const ga_stepper_opts opts = ga_stepper_defaults();
  plant c = {.length = 1, .steep = steep};
  const ga_system_def def = define(&c, 1);
  made m = {0};
  ga_status status = make(ctx, &def, &opts, &m);
  if (!status) status = begin(&m, 1e-3, STILL, remedy ? &guess : NULL);
  if (!status) assert_near(pull(&c, ga_stepper_state(m.st)->lambda[0]), 9.81 * 0.8, 1e-8, "pull");
  return end(&m, status);
}

static ga_status flat_multiplier(ga_context *ctx, int remedy)
{
  return steep_pull(ctx, 2, 1.5, remedy);
}

static ga_status far_multiplier(ga_context *ctx, int remedy)
{
  return steep_pull(ctx, 1, 3.35, remedy);
}

/* A rod whose length is the root of −1. */
static ga_status no_length(ga_context *ctx, int remedy)
{
  const ga_stepper_opts opts = ga_stepper_defaults();
  plant c = {.length = remedy ? 1 : -1};
  const ga_system_def def = define(&c, 1);
  ga_start_opts o = ga_start_defaults();
  made m = {0};
  o.h = 1e-2, o.max_change = HUGE_VAL;
  ga_status status = make(ctx, &def, &opts, &m);
  if (!status) status = ga_stepper_start(m.st, &o, 0, DOWN, STILL, NULL, NULL, NULL, NULL);
  return end(&m, status);
}

static int twice_phi(void *user, const ga_point *p, double *out)
{
  rod_phi(user, p, out);
  out[1] = out[0];
  return 0;
}

static int twice_phi_dot(void *user, const ga_point *p, double *out)
{
  rod_phi_dot(user, p, out);
  out[1] = out[0];
  return 0;
}

static int twice_force(void *user, const ga_point *p, double *out)
{
  const int code = free_force(user, p, out);
  for (int i = 0; i < 2; i++) out[i] -= p->q[i] * (p->lambda[0] + p->lambda[1]);
  return code;
}

static ga_status repeated(ga_context *ctx, int remedy)
{
  ga_stepper_opts opts = ga_stepper_defaults();
  plant c = {.length = 1};
  ga_system_def def = define(&c, 1);
  made m = {0};
  opts.redundant = GA_REDUNDANT_REFUSE;
  if (!remedy) def.n_lambda = 2, def.phi = twice_phi, def.phi_dot = twice_phi_dot, def.force = twice_force;
  ga_status status = make(ctx, &def, &opts, &m);
  if (!status) status = begin(&m, 1e-3, STILL, NULL);
  return end(&m, status);
}

static int k_as_phi(void *user, const ga_point *p, double *out)
{
  return rod_phi_dot(user, p, out);
}

static int force_of_both(void *user, const ga_point *p, double *out)
{
  const int code = free_force(user, p, out);
  for (int i = 0; i < 2; i++) out[i] -= p->q[i] * (p->lambda[0] + p->psi[0]);
  return code;
}

static ga_status holonomic_twice(ga_context *ctx, int remedy)
{
  ga_stepper_opts opts = ga_stepper_defaults();
  plant c = {.length = 1};
  ga_system_def def = define(&c, 1);
  made m = {0};
  opts.method = remedy == 1 ? GA_STABILIZED : GA_SOI2;
  if (remedy != 2) def.n_psi = 1, def.k = k_as_phi, def.force = force_of_both;
  ga_status status = make(ctx, &def, &opts, &m);
  if (!status) status = begin(&m, 1e-3, STILL, NULL);
  return end(&m, status);
}

/* ---- Core: steps ---- */

/* The force is undefined where a long step looks, but the motion never gets. */
static ga_status beyond_the_edge(ga_context *ctx, int undefined, int remedy)
{
  const ga_stepper_opts opts = ga_stepper_defaults();
  plant c = {.edge = 0.79, .undefined = undefined, .k = 4};
  const ga_system_def def = define(&c, 0);
  made m = {0};
  ga_status status = make(ctx, &def, &opts, &m);
  if (!status) status = begin(&m, 1e-3, RIGHT, NULL);
  for (int i = 0; !status && i < 50; i++) status = ga_stepper_step(m.st, remedy ? 0.02 : 0.5);
  return end(&m, status);
}

static ga_status callback_says_no(ga_context *ctx, int remedy)
{
  return beyond_the_edge(ctx, 1, remedy);
}

static ga_status callback_is_nan(ga_context *ctx, int remedy)
{
  return beyond_the_edge(ctx, 2, remedy);
}

/* Two rods at right angles fold up where x = 0. */
static int folding_phi(void *user, const ga_point *p, double *out)
{
  (void)user;
  out[0] = p->q[0] * p->q[1];
  return 0;
}

static int folding_phi_dot(void *user, const ga_point *p, double *out)
{
  (void)user;
  out[0] = p->q[0] * p->v[1] + p->q[1] * p->v[0];
  return 0;
}

static int folding_force(void *user, const ga_point *p, double *out)
{
  (void)user;
  out[0] = -p->q[1] * p->lambda[0], out[1] = -p->q[0] * p->lambda[0];
  return 0;
}

/* A step that ends where both branches of x y = 0 meet, and shorter ones which do not. */
static ga_status singular_place(ga_context *ctx, int remedy)
{
  ga_stepper_opts opts = ga_stepper_defaults();
  plant c = {.length = 1};
  ga_system_def def = define(&c, 1);
  ga_start_opts o = ga_start_defaults();
  const double q[] = {0.5, 0}, v[] = {-1, 0};
  made m = {0};
  def.phi = folding_phi, def.phi_dot = folding_phi_dot, def.force = folding_force;
  opts.redundant = GA_REDUNDANT_REFUSE;
  o.h = remedy ? 0.15 : 0.5;
  ga_status status = make(ctx, &def, &opts, &m);
  if (!status) status = ga_stepper_start(m.st, &o, 0, q, v, NULL, NULL, NULL, NULL);
  for (int i = 0; !status && i < (remedy ? 7 : 1); i++) status = ga_stepper_step(m.st, o.h);
  return end(&m, status);
}

/* Constraints known to 1e-14 only, divided by h²: too much for a tolerance of 1e-10 in steps of 1e-4. */
static ga_status floor_of_index3(ga_context *ctx, int remedy)
{
  ga_stepper_opts opts = ga_stepper_defaults();
  plant c = {.length = 1, .slip = 1e-14};
  opts.method = remedy == 3 ? GA_STABILIZED : GA_INDEX3;
  opts.newton.max_iterations = 4;
  opts.newton.tol = remedy == 2 ? 1e-9 : 1e-10;
  return swing(ctx, &c, 1, &opts, STILL, remedy == 1 ? 1e-3 : 1e-4, 20);
}

/* Forces known to 1e-8 N only. */
static ga_status floor_of_stabilized(ga_context *ctx, int remedy)
{
  ga_stepper_opts opts = ga_stepper_defaults();
  plant c = {.length = 1, .noise = 1e-8};
  opts.newton.max_iterations = 2;
  opts.newton.tol = remedy == 2 ? 1e-8 : 1e-9;
  return swing(ctx, &c, 1, &opts, STILL, remedy == 1 ? 1e-5 : 1e-7, 20);
}

static int stiff_jacobian(void *user, const ga_point *p, ga_jacobian *J)
{
  const plant *c = user;
  (void)p;
  if (J->want & GA_WANT_D) J->D[0] = J->D[3] = J->shift_vdot;
  if (J->want & GA_WANT_Q) J->Q[0] = c->wrong ? -c->k : c->k;
  return 0;
}

/* A spring with the wrong sign in the Jacobian: a shorter step, where it counts less, or the right one. */
static ga_status wrong_jacobian(ga_context *ctx, int remedy)
{
  const ga_stepper_opts opts = ga_stepper_defaults();
  plant c = {.k = 1e4, .wrong = remedy != 2};
  ga_system_def def = define(&c, 0);
  made m = {0};
  const double h = remedy == 1 ? 1e-4 : 0.1;
  def.jacobian = stiff_jacobian;
  ga_status status = make(ctx, &def, &opts, &m);
  if (!status) status = begin(&m, h, RIGHT, NULL);
  for (int i = 0; !status && i < 5; i++) status = ga_stepper_step(m.st, h);
  return end(&m, status);
}

static int heavy_jacobian(void *user, const ga_point *p, ga_jacobian *J)
{
  const plant *c = user;
  (void)p;
  if (J->want & GA_WANT_D) J->D[0] = J->D[3] = (c->wrong ? 3.0 : 1.0) * J->shift_vdot;
  return 0;
}

/* Three times the mass in the Jacobian: guesses would not help, the checker does, which names it. */
static ga_status wrong_mass(ga_context *ctx, int remedy)
{
  const ga_stepper_opts opts = ga_stepper_defaults();
  plant c = {.wrong = !remedy};
  ga_system_def def = define(&c, 0);
  made m = {0};
  def.jacobian = heavy_jacobian;
  ga_status status = make(ctx, &def, &opts, &m);
  if (!status && !remedy) {
    const ga_point p = {.t = 0, .q = DOWN, .v = STILL, .vdot = RIGHT};
    ga_check_report report;
    assert_int_not_equal(ga_system_check(m.sys, &p, 1e-6, &report), GA_OK);
  }
  if (!status) status = begin(&m, 0.1, RIGHT, NULL);
  return end(&m, status);
}

/* ---- Core: simulators, and what is to be called first ---- */

static ga_status step_at_once(ga_context *ctx, int remedy)
{
  const ga_stepper_opts opts = ga_stepper_defaults();
  plant c = {.length = 1};
  const ga_system_def def = define(&c, 1);
  made m = {0};
  ga_status status = make(ctx, &def, &opts, &m);
  if (!status && remedy) status = begin(&m, 1e-2, STILL, NULL);
  if (!status) status = ga_stepper_step(m.st, 1e-2);
  return end(&m, status);
}

static ga_status project_at_once(ga_context *ctx, int remedy)
{
  const ga_stepper_opts opts = ga_stepper_defaults();
  plant c = {.length = 1};
  const ga_system_def def = define(&c, 1);
  made m = {0};
  ga_status status = make(ctx, &def, &opts, &m);
  if (!status && remedy) status = begin(&m, 1e-2, STILL, NULL);
  if (!status) status = ga_stepper_project_velocity(m.st, (ga_projection)0, NULL);
  return end(&m, status);
}

static ga_status residuals_at_once(ga_context *ctx, int remedy)
{
  const ga_stepper_opts opts = ga_stepper_defaults();
  plant c = {.length = 1};
  const ga_system_def def = define(&c, 1);
  double phi;
  made m = {0};
  ga_status status = make(ctx, &def, &opts, &m);
  if (!status && remedy) status = begin(&m, 1e-2, STILL, NULL);
  if (!status) status = ga_stepper_constraint_residuals(m.st, &phi, NULL, NULL);
  return end(&m, status);
}

static ga_status simulate_at_once(ga_context *ctx, int remedy)
{
  const ga_stepper_opts opts = ga_stepper_defaults();
  ga_simulate_opts o = ga_simulate_defaults();
  plant c = {.length = 1};
  const ga_system_def def = define(&c, 1);
  ga_simulator *sim = NULL;
  made m = {0};
  o.t_end = 1;
  ga_status status = make(ctx, &def, &opts, &m);
  if (!status) status = ga_simulator_create(ctx, m.st, &o, &sim);
  if (!status && remedy) status = ga_simulator_start(sim, NULL, 0, DOWN, STILL, NULL, NULL, NULL, NULL);
  if (!status) status = ga_simulator_step(sim);
  ga_simulator_destroy(&sim);
  return end(&m, status);
}

static ga_status many_outputs(ga_context *ctx, int remedy)
{
  const ga_stepper_opts opts = ga_stepper_defaults();
  ga_simulate_opts o = ga_simulate_defaults();
  plant c = {.length = 1};
  const ga_system_def def = define(&c, 1);
  ga_simulator *sim = NULL;
  made m = {0};
  o.t_end = 1, o.output_every = remedy ? 0.01 : 1e-12;
  ga_status status = make(ctx, &def, &opts, &m);
  if (!status) status = ga_simulator_create(ctx, m.st, &o, &sim);
  if (!status) status = ga_simulator_start(sim, NULL, 0, DOWN, STILL, NULL, NULL, NULL, NULL);
  if (!status) status = ga_simulator_run(sim);
  ga_simulator_destroy(&sim);
  return end(&m, status);
}

static ga_status follow_at_once(ga_context *ctx, int remedy)
{
  const ga_stepper_opts opts = ga_stepper_defaults();
  const ga_follower_opts o = ga_follower_defaults();
  plant c = {.length = 1};
  const ga_system_def def = define(&c, 1);
  ga_follower *f = NULL;
  made lead = {0}, m = {0};
  ga_status status = make(ctx, &def, &opts, &lead);
  if (!status) status = make(ctx, &def, &opts, &m);
  if (!status) status = begin(&lead, 1e-2, STILL, NULL);
  if (!status) status = ga_follower_create(ctx, m.st, &o, &f);
  if (!status && remedy) status = ga_follower_start(f, NULL, 1e-2, ga_stepper_state(lead.st));
  if (!status) status = ga_follower_restart(f, 0, 1e-2);
  ga_follower_destroy(&f);
  end(&lead, GA_OK);
  return end(&m, status);
}

/* A state that jumps by 10⁹ a second at once, which no step is short enough for. */
static int burst(void *user, const ga_point *p, double *out)
{
  (void)user;
  out[0] = p->q[0] > 0.8 ? 2e9 : 0;
  return 0;
}

static ga_status jump_of_a_state(ga_context *ctx, int remedy)
{
  const ga_stepper_opts opts = ga_stepper_defaults();
  ga_simulate_opts o = ga_simulate_defaults();
  plant c = {.length = 1};
  ga_system_def def = define(&c, 0);
  const double x0 = 0;
  ga_simulator *sim = NULL;
  made m = {0};
  def.n_x = 1, def.state = burst;
  o.t_end = 1;
  o.h_min = remedy == 2 ? 1e-15 : 1e-6;
  if (remedy == 1) o.atol_x = 1e5;
  ga_status status = make(ctx, &def, &opts, &m);
  if (!status) status = ga_simulator_create(ctx, m.st, &o, &sim);
  if (!status) status = ga_simulator_start(sim, NULL, 0, DOWN, RIGHT, &x0, NULL, NULL, NULL);
  if (!status) status = ga_simulator_run(sim);
  if (!status) assert_near(ga_stepper_state(m.st)->x[0], 2e9 * 0.8, 1e6, "state");
  ga_simulator_destroy(&sim);
  return end(&m, status);
}

/* ---- Tables ---- */

static ga_status monotone_map(ga_context *ctx, int remedy)
{
  const double x[] = {0, 1}, z[] = {0, 1, 1, 2};
  ga_table2d_opts o = ga_table2d_defaults();
  ga_table2d *map = NULL;
  o.nx = o.ny = 2, o.x = o.y = x, o.z = z;
  o.interpolation = remedy ? GA_INTERPOLATE_SPLINE : GA_INTERPOLATE_MONOTONE;
  const ga_status status = ga_table2d_create(ctx, &o, &map);
  ga_table2d_destroy(&map);
  return status;
}

/* ---- Machines ---- */

static ga_status new_machine(ga_context *ctx, ga_machine **m)
{
  const ga_machine_opts o = ga_machine_defaults();
  ga_scalar_def d = ga_scalar_defaults();
  d.name = "u", d.mass = 1;
  const ga_status status = ga_machine_create(ctx, &o, m);
  return status ? status : ga_machine_add_scalar(*m, &d);
}

/* One part is added, wrong as `remedy` 0. */
typedef ga_status (*add_fn)(ga_context *ctx, ga_machine *m, int remedy);

static ga_status with_machine(ga_context *ctx, add_fn add, int remedy)
{
  ga_machine *m = NULL;
  ga_status status = new_machine(ctx, &m);
  if (!status) status = add(ctx, m, remedy);
  if (!status) status = ga_machine_build(m);
  ga_machine_destroy(&m);
  return status;
}

#define MACHINE(name)                                                                                        \
  static ga_status name##_of(ga_context *ctx, ga_machine *m, int remedy);                                    \
  static ga_status name(ga_context *ctx, int remedy)                                                         \
  {                                                                                                          \
    return with_machine(ctx, name##_of, remedy);                                                             \
  }                                                                                                          \
  static ga_status name##_of(ga_context *ctx, ga_machine *m, int remedy)

MACHINE(missing_body) /* follows: "{field} is {detail}; give {expected}" */
{
  ga_marker_def d = ga_marker_defaults();
  (void)ctx;
  d.name = "k", d.body = remedy ? "ground" : NULL;
  return ga_machine_add_marker(m, &d);
}

MACHINE(empty_body)
{
  ga_marker_def d = ga_marker_defaults();
  (void)ctx;
  d.name = "k", d.body = remedy ? "ground" : "";
  return ga_machine_add_marker(m, &d);
}

MACHINE(empty_coordinate)
{
  ga_spring_def d = ga_spring_defaults();
  (void)ctx;
  d.name = "s", d.coordinate = "u", d.stiffness = 1, d.rest = 0;
  d.a = remedy ? NULL : "";
  return ga_machine_add_spring(m, &d);
}

MACHINE(empty_expression)
{
  ga_actuator_def d = ga_actuator_defaults();
  (void)ctx;
  d.name = "f", d.coordinate = "u", d.force.expression = remedy ? NULL : "";
  return ga_machine_add_actuator(m, &d);
}

MACHINE(odd_flag)
{
  ga_scalar_def d = ga_scalar_defaults();
  (void)ctx;
  if (!remedy) d.rotational = 3;
  d.name = "w", d.mass = 1;
  return ga_machine_add_scalar(m, &d);
}

MACHINE(no_definition)
{
  ga_scalar_def d = ga_scalar_defaults();
  (void)ctx;
  d.name = "w", d.mass = 1;
  return ga_machine_add_scalar(m, remedy ? &d : NULL);
}

MACHINE(name_twice)
{
  ga_scalar_def d = ga_scalar_defaults();
  (void)ctx;
  d.name = remedy ? "w" : "u", d.mass = 1;
  return ga_machine_add_scalar(m, &d);
}

/* What needs a function: it has to outlive the machine. */
static ga_status with_function(ga_context *ctx, int remedy,
                               ga_status (*use)(ga_machine *m, const ga_function *f, int remedy))
{
  ga_function *f = NULL;
  ga_machine *m = NULL;
  ga_status status = ga_function_create_constant(ctx, 0, &f);
  if (!status) status = new_machine(ctx, &m);
  if (!status) status = use(m, f, remedy);
  if (!status && !ga_machine_system(m)) status = ga_machine_build(m);
  ga_machine_destroy(&m);
  ga_function_destroy(&f);
  return status;
}

static ga_status use_drive(ga_machine *m, const ga_function *f, int remedy)
{
  ga_drive_def d = ga_drive_defaults();
  d.name = "d", d.coordinate = "u", d.function = remedy ? f : NULL;
  return ga_machine_add_drive(m, &d);
}

static ga_status drive_without_function(ga_context *ctx, int remedy)
{
  return with_function(ctx, remedy, use_drive);
}

static ga_status use_names(ga_machine *m, const ga_function *f, int remedy)
{
  const ga_status status = ga_machine_add_function(m, "g", f);
  return status ? status : ga_machine_add_function(m, remedy ? "h" : "g", f);
}

static ga_status function_twice(ga_context *ctx, int remedy)
{
  return with_function(ctx, remedy, use_names);
}

static ga_status use_late(ga_machine *m, const ga_function *f, int remedy)
{
  const ga_status status = remedy ? GA_OK : ga_machine_build(m);
  return status ? status : ga_machine_add_function(m, "g", f);
}

static ga_status function_late(ga_context *ctx, int remedy)
{
  return with_function(ctx, remedy, use_late);
}

MACHINE(part_late)
{
  ga_scalar_def d = ga_scalar_defaults();
  const ga_status status = remedy ? GA_OK : ga_machine_build(m);
  (void)ctx;
  d.name = "w", d.mass = 1;
  return status ? status : ga_machine_add_scalar(m, &d);
}

MACHINE(no_block)
{
  const ga_block_gain_opts o = ga_block_gain_defaults();
  const ga_input in = {.value = 1};
  ga_control_block *block = NULL;
  const ga_status status = remedy ? ga_block_create_gain(ctx, &o, &block) : GA_OK;
  return status ? status : ga_machine_add_block(m, "b", block, &in);
}

static ga_status turn_by_null(ga_context *ctx, int remedy)
{
  const double given[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  double R[9];
  return ga_rotation_matrix(ctx, remedy ? given : NULL, R);
}

static ga_status turn_by_nan(ga_context *ctx, int remedy)
{
  const double given[9] = {1, 0, 0, 0, remedy ? 1 : NAN, 0, 0, 0, 1};
  double R[9];
  return ga_rotation_matrix(ctx, given, R);
}

static ga_status turn_without_sequence(ga_context *ctx, int remedy)
{
  const double angle[3] = {0.1, 0.2, 0.3};
  double R[9];
  return ga_rotation_euler(ctx, remedy ? "zxz" : NULL, angle, R);
}

/* Before a machine is built, and after. */
typedef ga_status (*ask_fn)(const ga_machine *m);

static ga_status ask_before(ga_context *ctx, ask_fn ask, int remedy)
{
  ga_machine *m = NULL;
  ga_status status = new_machine(ctx, &m);
  if (!status && remedy) status = ga_machine_build(m);
  if (!status) status = ask(m);
  ga_machine_destroy(&m);
  return status;
}

static ga_status ask_drives(const ga_machine *m)
{
  return ga_machine_check_drives(m, 0, 1);
}

static ga_status drives_at_once(ga_context *ctx, int remedy)
{
  return ask_before(ctx, ask_drives, remedy);
}

static ga_status ask_meter(const ga_machine *m)
{
  ga_meter *meter = NULL;
  const ga_status status = ga_meter_create(ga_machine_context(m), m, &meter);
  ga_meter_destroy(&meter);
  return status;
}

static ga_status meter_at_once(ga_context *ctx, int remedy)
{
  return ask_before(ctx, ask_meter, remedy);
}

static ga_status ask_initial(const ga_machine *m)
{
  double q[1], v[1], x[1];
  return ga_machine_initial(m, q, v, x);
}

static ga_status initial_at_once(ga_context *ctx, int remedy)
{
  return ask_before(ctx, ask_initial, remedy);
}

static ga_status meter_without_state(ga_context *ctx, int remedy)
{
  const ga_stepper_opts opts = ga_stepper_defaults();
  ga_start_opts o = ga_start_defaults();
  const double q = 0, v = 0;
  ga_machine *m = NULL;
  ga_meter *meter = NULL;
  ga_stepper *st = NULL;
  o.h = 1e-2;
  ga_status status = new_machine(ctx, &m);
  if (!status) status = ga_machine_build(m);
  if (!status) status = ga_meter_create(ga_machine_context(m), m, &meter);
  if (!status) status = ga_stepper_create(ctx, ga_machine_system(m), &opts, &st);
  if (!status && remedy) status = ga_stepper_start(st, &o, 0, &q, &v, NULL, NULL, NULL, NULL);
  if (!status) status = ga_meter_start(meter, ga_stepper_state(st));
  ga_stepper_destroy(&st);
  ga_meter_destroy(&meter);
  ga_machine_destroy(&m);
  return status;
}

/* ---- Results ---- */

static const char *const SIGNAL[] = {"s"};

static ga_recorder_opts one_signal(void)
{
  ga_recorder_opts o = ga_recorder_defaults();
  o.n_signals = 1, o.names = SIGNAL;
  return o;
}

/* A file of its own for an attempt: what it says is in the way, or nothing. */
static void name_file(char *path, size_t size, const char *name)
{
  snprintf(path, size, "/tmp/galpha-advice-%ld-%s.h5", (long)getpid(), name);
  unlink(path);
}

static ga_status record_to(ga_context *ctx, const char *path, const ga_recorder_opts *o)
{
  ga_recorder *r = NULL;
  const ga_status status = ga_recorder_create(ctx, path, o, &r);
  ga_recorder_destroy(&r);
  return status;
}

static ga_status file_in_the_way(ga_context *ctx, int remedy)
{
  const ga_recorder_opts o = one_signal();
  char path[100], other[100];
  name_file(path, sizeof path, "way");
  name_file(other, sizeof other, "way2");
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs("a note", file);
  fclose(file);
  if (remedy == 1) unlink(path);
  const ga_status status = record_to(ctx, remedy == 2 ? other : path, &o);
  unlink(path), unlink(other);
  return status;
}

static ga_status file_in_use(ga_context *ctx, int remedy)
{
  const ga_recorder_opts o = one_signal();
  char path[100], other[100];
  ga_recorder *first = NULL;
  name_file(path, sizeof path, "use");
  name_file(other, sizeof other, "use2");
  ga_status status = ga_recorder_create(ctx, path, &o, &first);
  if (remedy == 1) ga_recorder_destroy(&first);
  if (!status) status = record_to(ctx, remedy == 2 ? other : path, &o);
  ga_recorder_destroy(&first);
  unlink(path), unlink(other);
  return status;
}

static ga_status file_without_checkpoint(ga_context *ctx, int remedy)
{
  ga_recorder_opts o = one_signal();
  char path[100];
  name_file(path, sizeof path, "anew");
  ga_status status = record_to(ctx, path, &o);
  o.append = !remedy;
  if (!status) status = record_to(ctx, path, &o);
  unlink(path);
  return status;
}

/* ---- All of them ---- */

typedef struct advice {
  const char *words; /* of the text, as the sources and the message have them */
  attempt_fn attempt;
  int n_remedies;
} advice;

static const advice ADVICE[] = {
    {"the multipliers η need them: declare a pattern, or take GA_INDEX3", many_etas, 2},
    {"declare pattern_row and pattern_col", dense_system, 1},
    {"n_pattern is -1; it must be >= 0 (0: a dense system)", negative_pattern, 1},
    {"Check the pattern's entries there", no_pivot, 1},
    {"factors[0].kind is 17, which is not a ga_factor_kind; its values are 0 to 4", unknown_kind, 1},
    {"factors[0].side is 5, which is not a ga_side; its values are 0 to 1", unknown_side, 2},
    {"; ga_scheme_rho() gives parameters that fit together", odd_scheme, 1},
    {"h is 0; it must be > 0, the size of the first step", first_size, 1},
    {"ga_stepper_start: opts is NULL; give ga_start_defaults() with h set", without_opts, 1},
    {"ga_stepper_assemble: opts is NULL; give ga_start_defaults() with h set", assemble_without_opts, 1},
    {"; set rheonomic = 1, or better, give phi_dot", depends_on_t, 2},
    {"; give guesses near the multipliers' values", flat_multiplier, 1},
    {"where f is nonlinear in them, give guesses for lambda and psi", far_multiplier, 1},
    {"correct the Jacobian, ga_system_check() names the entry", wrong_mass, 1},
    {"Correct lengths, axes or initial positions", no_length, 1},
    {"A constraint that repeats another one must be removed", repeated, 1},
    {"; take GA_STABILIZED, or remove it", holonomic_twice, 2},
    {"; a smaller step may help", callback_says_no, 1},
    {"A smaller step may help", callback_is_nan, 1},
    {"smaller step may pass a singular position", singular_place, 1},
    {"take a larger step, a larger newton.tol, or GA_STABILIZED", floor_of_index3, 3},
    {"take a larger step or a larger newton.tol", floor_of_stabilized, 2},
    {"Try a smaller step. If it converges slowly at every step", wrong_jacobian, 2},
    {"ga_stepper_step: it must be called after ga_stepper_start()", step_at_once, 1},
    {"ga_stepper_project_velocity: it must be called after ga_stepper_start()", project_at_once, 1},
    {"ga_stepper_constraint_residuals: it must be called after ga_stepper_start()", residuals_at_once, 1},
    {"ga_simulator_step: it must be called after ga_simulator_start()", simulate_at_once, 1},
    {"ga_follower_restart: it must be called after ga_follower_start()", follow_at_once, 1},
    {"too many outputs: 1e+12; 1000000000 is the limit; raise output_every", many_outputs, 1},
    {"Otherwise raise its tolerance or lower h_min", jump_of_a_state, 2},
    {"interpolation monotone is not available for tables of two variables; use spline", monotone_map, 1},
    {" is missing; give the name of ", missing_body, 1},
    {"; give the name of ", empty_body, 1},
    {"; give NULL where there is none", empty_coordinate, 1},
    {"; give NULL where there is none", empty_expression, 1},
    {"it must be 0 or 1: start from the kind's defaults", odd_flag, 1},
    {"its definition is NULL; give one that begins with the kind's defaults", no_definition, 1},
    {"has this name already; give another", name_twice, 1},
    {"another has this name already; give another", function_twice, 1},
    {"; give it, or speed, acceleration, follow or follow_speed", drive_without_function, 1},
    {"add functions before ga_machine_build()", function_late, 1},
    {"add parts before ga_machine_build()", part_late, 1},
    {"block is NULL; give one of galpha/control.h", no_block, 1},
    {"rotation: matrix is NULL", turn_by_null, 1},
    {"rotation: matrix[4] is nan; it must be finite", turn_by_nan, 1},
    {"rotation: sequence is NULL", turn_without_sequence, 1},
    {"ga_machine_check_drives: it must be called after ga_machine_build()", drives_at_once, 1},
    {"ga_meter_create: it must be called after ga_machine_build()", meter_at_once, 1},
    {"ga_machine_initial: it must be called after ga_machine_build()", initial_at_once, 1},
    {"ga_meter_start: the state is NULL", meter_without_state, 1},
    {"is not a result file (it exists already); remove it or choose another name", file_in_the_way, 2},
    {"another run is writing into it; wait for its end or choose another name", file_in_use, 2},
    {"has no checkpoint to go on from; start anew", file_without_checkpoint, 1},
}; /* the end of ADVICE */

static void advice_helps(void **state)
{
  (void)state;
  for (size_t i = 0; i < sizeof ADVICE / sizeof *ADVICE; i++) {
    const advice *a = &ADVICE[i];
    for (int remedy = 0; remedy <= a->n_remedies; remedy++) {
      ga_context *ctx = NULL;
      assert_int_equal(ga_context_create(NULL, &ctx), GA_OK);
      const ga_status status = a->attempt(ctx, remedy);
      const char *text = ga_context_error(ctx)->text;
      if (remedy == 0 && (status == GA_OK || !strstr(text, a->words)))
        fail_msg("'%s' is not said: status %d, '%s'", a->words, (int)status, text);
      if (remedy > 0 && status != GA_OK)
        fail_msg("'%s', advice %d does not help: status %d, '%s'", a->words, remedy, (int)status, text);
      ga_context_destroy(&ctx);
    }
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(advice_helps)};
  return cmocka_run_group_tests_name("advice of messages", tests, NULL, NULL);
}
