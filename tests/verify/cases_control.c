/* Error control, estimates and events: what the simulator promises, measured. */
#include "bouncing_pendulum.h"
#include "papers.h"
#include "verify.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64, MOST_TOLERANCES = 5 };

static const char *const MODE[] = {"per step", "per unit step"};

/* ---- One run of the simulator ---- */

typedef struct control {
  const ex_problem *problem;
  ga_context *ctx;
  ga_system *sys;
  ga_stepper *st;
  ga_simulator *sim;
  ga_simulate_opts opts;
} control;

static ga_status control_open(control *c, const char *problem, ga_method method, double newton_tol)
{
  ga_system_def def = ga_system_defaults();
  ga_stepper_opts o = ga_stepper_defaults();
  memset(c, 0, sizeof *c);
  c->opts = ga_simulate_defaults();
  c->problem = ex_problem_find(problem);
  if (!c->problem) return GA_ERR_ARGUMENT;
  c->problem->define(&def);
  o.method = method;
  if (newton_tol > 0) o.newton.tol = newton_tol, o.newton.max_iterations = 30;
  ga_status status = ga_context_create(NULL, &c->ctx);
  if (!status) status = ga_scheme_rho(c->ctx, c->problem->rho, &o.scheme);
  if (!status) status = ga_system_create(c->ctx, &def, &c->sys);
  return status ? status : ga_stepper_create(c->ctx, c->sys, &o, &c->st);
}

/* To opts.t_end, from the problem's initial values. */
static ga_status control_run(control *c)
{
  const ex_problem *p = c->problem;
  ga_status status = ga_simulator_create(c->ctx, c->st, &c->opts, &c->sim);
  if (!status)
    status = ga_simulator_start(c->sim, NULL, 0, p->q0, p->v0, p->x0, p->lambda_guess, p->psi_guess, NULL);
  return status ? status : ga_simulator_run(c->sim);
}

static void control_close(control *c)
{
  ga_simulator_destroy(&c->sim);
  ga_stepper_destroy(&c->st);
  ga_system_destroy(&c->sys);
  ga_context_destroy(&c->ctx);
}

static int failed(const vf_sink *s, const control *c, ga_status status, const char *problem,
                  const char *title)
{
  if (!status) return 0;
  s->check(s->user, 0, problem, title,
           c->ctx && ga_context_error(c->ctx)->status ? ga_context_error(c->ctx)->text
                                                      : ga_status_text(status));
  return 1;
}

static double largest_difference(const double *a, const double *b, int n)
{
  double worst = 0;
  for (int i = 0; i < n; i++) worst = isnan(a[i]) ? INFINITY : fmax(worst, fabs(a[i] - b[i]));
  return worst;
}

/* Largest error of q and v at the time of the problem's reference. */
static double error_at_end(const control *c)
{
  const ga_state *s = ga_stepper_state(c->st);
  const ga_group *g = ga_system_group(c->sys);
  const ex_reference *ref = &c->problem->reference;
  return fmax(largest_difference(s->q, ref->q, ga_group_nq(g)),
              largest_difference(s->v, ref->v, ga_group_nv(g)));
}

static void set_tolerance(ga_simulate_opts *o, double tol)
{
  o->rtol = o->rtol_v = o->rtol_x = o->atol = o->atol_v = o->atol_x = tol;
}

/* ---- The error at the end against the tolerance ---- */

typedef struct slope_case {
  const char *problem;
  ga_error_mode mode;
  ga_method method;
  double tol;  /* loosest; a tenth of it each time */
  int n;       /* tolerances */
  int n_short; /* of them in the short selection */
} slope_case;

/* rtol = atol = tol, in all of q, v, x. Per unit step the error is proportional to it; per step, to its power
 * 2/3. The coarse end of each range is where steps resolve the motion: where another first step does not
 * change the error by more than a tenth, as it does by 5 for andrews at 1e-6 per step and by 2 at 1e-7. */
static const slope_case SLOPES[] = {
    {"heavy_top", GA_PER_UNIT_STEP, GA_STABILIZED, 1e-3, 4, 3},
    {"rolling_disk", GA_PER_UNIT_STEP, GA_STABILIZED, 1e-3, 4, 3},
    {"slider_crank", GA_PER_UNIT_STEP, GA_STABILIZED, 1e-3, 4, 2},
    {"andrews", GA_PER_UNIT_STEP, GA_STABILIZED, 1e-3, 4, 3},
    {"spring_mass", GA_PER_UNIT_STEP, GA_STABILIZED, 1e-3, 4, 4},
    {"car_axis", GA_PER_UNIT_STEP, GA_STABILIZED, 1e-2, 3, 2},
    {"rolling_disk", GA_PER_UNIT_STEP, GA_SOI2, 1e-4, 3, 0},
    {"andrews", GA_PER_UNIT_STEP, GA_SOI2, 1e-3, 3, 0},
    {"heavy_top", GA_PER_STEP, GA_STABILIZED, 1e-5, 4, 4},
    {"rolling_disk", GA_PER_STEP, GA_STABILIZED, 1e-6, 4, 4},
    {"slider_crank", GA_PER_STEP, GA_STABILIZED, 1e-5, 4, 4},
    {"andrews", GA_PER_STEP, GA_STABILIZED, 1e-8, 3, 3},
    {"spring_mass", GA_PER_STEP, GA_STABILIZED, 1e-5, 4, 4},
    {"car_axis", GA_PER_STEP, GA_STABILIZED, 1e-5, 4, 3},
};

/* Of the line through the points (log x, log y) by least squares. */
static double fitted_slope(const double *x, const double *y, int n)
{
  double sx = 0, sy = 0, sxx = 0, sxy = 0;
  for (int i = 0; i < n; i++) {
    const double a = log(x[i]), b = log(y[i]);
    sx += a, sy += b, sxx += a * a, sxy += a * b;
  }
  return (n * sxy - sx * sy) / (n * sxx - sx * sx);
}

static void run_slope(const vf_sink *s, const slope_case *c)
{
  const int n = s->brief ? c->n_short : c->n;
  const double low = c->mode == GA_PER_STEP ? 0.55 : 0.9, high = c->mode == GA_PER_STEP ? 0.75 : 1.1;
  double tol[MOST_TOLERANCES], error[MOST_TOLERANCES];
  char title[64], text[96];
  if (!n || !s->wanted(s->user, c->problem)) return;
  snprintf(title, sizeof title, "error control %s, %s", MODE[c->mode], vf_method_name(c->method));
  printf("\n%s: %s\n", c->problem, title);
  for (int i = 0; i < n; i++) {
    control k;
    ga_status status = control_open(&k, c->problem, c->method, 0);
    tol[i] = c->tol * pow(10, -i);
    k.opts.error = c->mode;
    k.opts.t_end = k.problem->reference.t;
    set_tolerance(&k.opts, tol[i]);
    if (!status) status = control_run(&k);
    if (failed(s, &k, status, c->problem, title)) {
      control_close(&k);
      return;
    }
    const ga_simulate_stats *stats = ga_simulator_stats(k.sim);
    error[i] = error_at_end(&k);
    printf(
        "  tolerance %.0e  error %9.2e  %7ld steps, %ld rejected, h %.1e to %.1e, estimate/tolerance %.2f\n",
        tol[i], error[i], stats->steps, stats->rejected_error + stats->rejected_newton, stats->h_smallest,
        stats->h_largest, stats->mean_error);
    control_close(&k);
  }
  const double slope = fitted_slope(tol, error, n);
  snprintf(text, sizeof text, "slope %.3f, expected %.2f to %.2f", slope, low, high);
  const int good = s->check(s->user, slope >= low && slope <= high, c->problem, title, text);
  printf("  %s   %s\n", text, good ? "ok" : "FAIL");
}

/* ---- Estimates against true local errors ---- */

/* The exact solution "from here" is that of the constrained system: from q, from v without the part normal to
 * the constraints that the index-3 forms carry, and from x; and that part is no local error in v₁ either. It
 * is computed by the stabilized form in PARTS steps. */
enum { PARTS = 64, SKIPPED = 150, SAMPLES = 40 }; /* what a start leaves is damped away by then */

static const struct {
  const char *problem;
  double h;
  int in_short;
} LOCAL[] = {{"heavy_top", 2.5e-4, 1},
             {"heavy_top_left", 1e-4, 1},
             {"heavy_top_se3", 1e-4, 0},
             {"tumbling_top", 5e-4, 1},
             {"rank_deficient_d1", 5e-4, 0},
             {"rank_deficient_d2", 5e-4, 1},
             {"slider_crank_moving", 2.5e-4, 1},
             {"slider_crank_hht", 5e-4, 0},
             {"andrews", 1e-5, 1},
             {"pendulum", 1e-3, 0},
             {"car_axis", 5e-4, 0},
             {"test71", 1.25e-3, 1},
             {"test15", 2.5e-3, 1},
             {"rolling_disk", 2.5e-3, 1},
             {"mechatronic", 1e-3, 1},
             {"spring_mass", 5e-3, 1}};

typedef struct snapshot {
  double t, q[MOST], v[MOST], x[MOST], lambda[MOST], psi[MOST];
} snapshot;

static void copy(double *to, const double *from, int n)
{
  for (int i = 0; i < n; i++) to[i] = from[i];
}

static void take(snapshot *to, const control *c)
{
  const ga_state *s = ga_stepper_state(c->st);
  const ga_group *g = ga_system_group(c->sys);
  to->t = s->t;
  copy(to->q, s->q, ga_group_nq(g));
  copy(to->v, s->v, ga_group_nv(g));
  copy(to->x, s->x, ga_system_size(c->sys, GA_BLOCK_X));
  copy(to->lambda, s->lambda, ga_system_size(c->sys, GA_BLOCK_LAMBDA));
  copy(to->psi, s->psi, ga_system_size(c->sys, GA_BLOCK_PSI));
}

/* The exact solution from a snapshot on, after n steps of size h. */
static ga_status follow(control *exact, const snapshot *from, double h, int n, snapshot *to)
{
  ga_start_opts o = ga_start_defaults();
  o.h = h;
  o.max_change = 1e3;
  ga_status status =
      ga_stepper_start(exact->st, &o, from->t, from->q, from->v, from->x, from->lambda, from->psi, NULL);
  if (!status) status = ga_stepper_run(exact->st, h, n, NULL, NULL);
  if (!status) take(to, exact);
  return status;
}

/* Sums of squares of estimates, true errors, and their differences, for q, v, x. */
typedef struct sums {
  double estimate[3], truth[3], difference[3];
} sums;

static void add(sums *s, int which, const double *estimate, const double *truth, int n)
{
  for (int i = 0; i < n; i++) {
    s->estimate[which] += estimate[i] * estimate[i];
    s->truth[which] += truth[i] * truth[i];
    s->difference[which] += (estimate[i] - truth[i]) * (estimate[i] - truth[i]);
  }
}

/* One step of c, measured. */
static ga_status measure_step(control *c, control *exact, double h, sums *s)
{
  const ga_group *g = ga_system_group(c->sys);
  const int nv = ga_group_nv(g), nx = ga_system_size(c->sys, GA_BLOCK_X);
  double e_q[MOST], e_v[MOST], e_x[MOST], d[MOST];
  snapshot before, after, projected, true_end;
  take(&before, c);
  ga_status status = ga_stepper_step(c->st, h);
  if (!status) status = ga_stepper_error(c->st, e_q, e_v, e_x);
  if (status) return status;
  take(&after, c);
  status = follow(exact, &after, h / PARTS, 0, &projected);
  if (!status) status = follow(exact, &before, h / PARTS, PARTS, &true_end);
  if (status) return status;
  ga_group_difference(g, d, true_end.q, after.q);
  add(s, 0, e_q, d, nv);
  for (int i = 0; i < nv; i++) d[i] = projected.v[i] - true_end.v[i];
  add(s, 1, e_v, d, nv);
  for (int i = 0; i < nx; i++) d[i] = after.x[i] - true_end.x[i];
  add(s, 2, e_x, d, nx);
  return GA_OK;
}

static ga_status measure_run(control *c, control *exact, double h, sums *s)
{
  const ex_problem *p = c->problem;
  ga_start_opts o = ga_start_defaults();
  o.h = h;
  ga_status status = ga_stepper_start(c->st, &o, 0, p->q0, p->v0, p->x0, p->lambda_guess, p->psi_guess, NULL);
  if (!status) status = ga_stepper_run(c->st, h, SKIPPED, NULL, NULL);
  for (int i = 0; !status && i < SAMPLES; i++) status = measure_step(c, exact, h, s);
  return status;
}

/* States fed by vdot, or nonholonomic constraints, are not for every method. */
static int suits(const ex_problem *p, ga_method method)
{
  ga_system_def def = ga_system_defaults();
  p->define(&def);
  return vf_method_suits(method, def.n_x > 0     ? VF_EXACT_METHODS
                                 : def.n_psi > 0 ? VF_NONHOLONOMIC_METHODS
                                                 : VF_ALL_METHODS);
}

static void run_local(const vf_sink *s, const char *problem, double h, ga_method method)
{
  static const char *const block[] = {"q", "v", "x"};
  control c, exact;
  sums sum = {{0}, {0}, {0}};
  char title[64], text[96];
  snprintf(title, sizeof title, "local errors, %s", vf_method_name(method));
  ga_status status = control_open(&c, problem, method, 1e-13);
  const ga_status other = control_open(&exact, problem, GA_STABILIZED, 1e-13);
  if (!status) status = other ? other : measure_run(&c, &exact, h, &sum);
  if (!failed(s, &c, status, problem, title)) {
    printf("  %-20s %-10s", problem, vf_method_name(method));
    for (int i = 0; i < 3 && sum.truth[i] > 0; i++) {
      const double ratio = sqrt(sum.estimate[i] / sum.truth[i]);
      snprintf(text, sizeof text, "estimate of %s is %.3f times the true error, within a factor 2 expected",
               block[i], ratio);
      s->check(s->user, ratio > 0.5 && ratio < 2, problem, title, text);
      printf("  %s %.3f (%.3f of %.1e)", block[i], ratio, sqrt(sum.difference[i] / sum.truth[i]),
             sqrt(sum.truth[i] / SAMPLES));
    }
    putchar('\n');
  }
  control_close(&c);
  control_close(&exact);
}

static void run_locals(const vf_sink *s)
{
  printf("\nLocal errors: estimate/true, (size of their difference, of the true error)\n");
  for (size_t i = 0; i < sizeof LOCAL / sizeof *LOCAL; i++)
    for (int method = 0; ga_method_at(method, NULL); method++)
      if (s->wanted(s->user, LOCAL[i].problem) && (!s->brief || LOCAL[i].in_short) &&
          vf_method_order((ga_method)method) == 2.0 && /* others estimate the error of the motion */
          suits(ex_problem_find(LOCAL[i].problem), (ga_method)method))
        run_local(s, LOCAL[i].problem, LOCAL[i].h, (ga_method)method);
}

/* ---- Stiffness: the steps are those of the slow motion ---- */

static void run_stiff(const vf_sink *s, const char *problem)
{
  control c;
  char text[96];
  if (!s->wanted(s->user, problem)) return;
  ga_status status = control_open(&c, problem, GA_STABILIZED, 0);
  c.opts.t_end = c.problem->t_end;
  if (!status) status = control_run(&c);
  if (!failed(s, &c, status, problem, "default options")) {
    const ga_simulate_stats *stats = ga_simulator_stats(c.sim);
    snprintf(text, sizeof text, "%ld steps, at most 200; error %.1e, at most 2e-2", stats->steps,
             error_at_end(&c));
    const int good =
        s->check(s->user, stats->steps <= 200 && error_at_end(&c) <= 2e-2, problem, "default options", text);
    printf("\n%s: default options\n  %s   %s\n", problem, text, good ? "ok" : "FAIL");
  }
  control_close(&c);
}

/* ---- Light cart-pole: eleven crossings, each about 1 µs wide ---- */

/* Every 50th row (t, x, θ) of an independent solution in minimal coordinates. */
static const double CART_POLE[][3] = {
    {0.5, 1.60422835423697, -0.64879910743099},  {1.0, 1.99893462497608, -1.52467551575873},
    {2.0, 0.0171520506421194, 1.38531681018844}, {3.0, 1.90984680210204, -1.14291931385275},
    {4.0, 0.324839623022988, 0.741181650146066}, {5.0, 0.48673208657959, 0.538987649706609},
    {6.0, 1.86223907562422, -1.03967752264967},  {7.0, 0.0309785463488219, 1.32123728656747},
    {8.0, 1.99681978175361, -1.49104789235433},  {9.0, 1.03973180727128e-05, 1.56623621284529},
    {9.5, 1.38736119307719, -0.397769100457186}, {10.0, 1.99976328249177, -1.54912944189709}};

static double angle_of(const double *q)
{
  return atan2(q[1] - q[0], -q[2]);
}

typedef struct cart_pole_sum {
  const ex_problem *problem;
  double x, angle; /* sums of squares */
  long rows;
} cart_pole_sum;

static int add_row(void *user, const ga_state *s)
{
  cart_pole_sum *sum = user;
  double q[3];
  sum->problem->exact(s->t, q, NULL, NULL, NULL, NULL);
  sum->x += (s->q[0] - q[0]) * (s->q[0] - q[0]);
  sum->angle += pow(remainder(angle_of(s->q) - angle_of(q), 2 * acos(-1.0)), 2);
  sum->rows++;
  return 0;
}

static void check_cart_pole_rows(const vf_sink *s, const ex_problem *p)
{
  double worst = 0, q[3];
  char text[96];
  for (size_t i = 0; i < sizeof CART_POLE / sizeof *CART_POLE; i++) {
    p->exact(CART_POLE[i][0], q, NULL, NULL, NULL, NULL);
    worst = fmax(worst, fmax(fabs(q[0] - CART_POLE[i][1]), fabs(angle_of(q) - CART_POLE[i][2])));
  }
  snprintf(text, sizeof text, "exact solution differs from the stored rows by %.1e, at most 1e-9", worst);
  s->check(s->user, worst <= 1e-9, p->name, "reference", text);
}

static void run_cart_pole(const vf_sink *s)
{
  static const double tolerance[] = {1e-5, 1e-6, 1e-7, 1e-8};
  double previous = INFINITY;
  if (!s->wanted(s->user, "cart_pole")) return;
  printf("\ncart_pole: error control per step, rms over 1001 rows\n");
  check_cart_pole_rows(s, ex_problem_find("cart_pole"));
  for (int i = s->brief ? 1 : 0; i < (s->brief ? 3 : 4); i++) {
    control c;
    ga_status status = control_open(&c, "cart_pole", GA_STABILIZED, 0);
    cart_pole_sum sum = {c.problem, 0, 0, 0};
    set_tolerance(&c.opts, tolerance[i]);
    c.opts.t_end = 10;
    c.opts.output_every = 0.01;
    c.opts.output = add_row;
    c.opts.user = &sum;
    if (!status) status = control_run(&c);
    if (!failed(s, &c, status, "cart_pole", "error control")) {
      char text[160];
      const ga_simulate_stats *stats = ga_simulator_stats(c.sim);
      const double rows = (double)sum.rows, rms = sqrt(sum.x / rows);
      snprintf(text, sizeof text,
               "tolerance %.0e  %6ld steps, %ld rejected, h %.1e to %.1e  rms x %.2e, angle %.2e",
               tolerance[i], stats->steps, stats->rejected_error + stats->rejected_newton, stats->h_smallest,
               stats->h_largest, rms, sqrt(sum.angle / rows));
      printf("  %s\n", text);
      s->check(s->user, sum.rows == 1001 && rms < previous, "cart_pole", "error control", text);
      previous = rms;
    }
    control_close(&c);
  }
}

/* ---- Events: the times of the impacts ---- */

typedef struct impacts {
  int n;
  double t[BOUNCING_PENDULUM_IMPACTS + 1], speed[BOUNCING_PENDULUM_IMPACTS + 1];
} impacts;

static int distance_from_wall(void *user, const ga_point *p, double *g)
{
  (void)user;
  return bouncing_pendulum_event(NULL, p, g);
}

static int note_impact(void *user, int event, const ga_state *s, double *q, double *v, double *x)
{
  impacts *i = user;
  if (i->n <= BOUNCING_PENDULUM_IMPACTS) {
    i->t[i->n] = s->t;
    i->speed[i->n++] = hypot(s->v[0], s->v[1]);
  }
  return v ? bouncing_pendulum_impact(NULL, event, s, q, v, x) : 0;
}

/* How many impacts there are to be: all five to 7 s, or the first alone. */
static ga_status run_impacts(control *c, ga_event_action action, double h, double tol, impacts *seen)
{
  const ga_event event = {-1, action};
  ga_status status = control_open(c, "bouncing_pendulum", GA_STABILIZED, 0);
  memset(seen, 0, sizeof *seen);
  c->opts.t_end = action == GA_EVENT_RESTART ? 7 : 1;
  c->opts.fixed_h = h;
  c->opts.error = GA_PER_UNIT_STEP;
  set_tolerance(&c->opts, tol);
  c->opts.n_events = 1;
  c->opts.events = &event;
  c->opts.event_function = distance_from_wall;
  c->opts.on_event = note_impact;
  c->opts.user = seen;
  if (!status) status = control_run(c);
  return action == GA_EVENT_STOP && status == GA_STOPPED && ga_simulator_last_event(c->sim) == 0 ? GA_OK
                                                                                                 : status;
}

static double impact_error(const impacts *seen, double *speed)
{
  double worst = 0;
  *speed = 0;
  for (int i = 0; i < seen->n && i < BOUNCING_PENDULUM_IMPACTS; i++) {
    worst = fmax(worst, fabs(seen->t[i] - bouncing_pendulum_time[i]));
    *speed = fmax(*speed, fabs(seen->speed[i] - bouncing_pendulum_speed[i]));
  }
  return worst;
}

static void run_bouncing(const vf_sink *s, ga_event_action action, int controlled)
{
  static const char *const name[] = {"record", "stop", "restart"};
  enum { LEVELS = 4 };
  double size[LEVELS], error[LEVELS];
  char title[64], text[128];
  const int expected = action == GA_EVENT_RESTART ? BOUNCING_PENDULUM_IMPACTS : 1;
  const double order = controlled ? 1 : 2;
  snprintf(title, sizeof title, "impacts, %s, %s", name[action],
           controlled ? "error control per unit step" : "equal steps");
  printf("\nbouncing_pendulum: %s\n", title);
  for (int i = 0; i < LEVELS; i++) {
    control c;
    impacts seen;
    double speed;
    size[i] = controlled ? 1e-3 * pow(0.1, i) : 0.02 * pow(0.5, i);
    ga_status status = run_impacts(&c, action, controlled ? 0 : size[i], controlled ? size[i] : 1e-4, &seen);
    if (failed(s, &c, status, "bouncing_pendulum", title)) {
      control_close(&c);
      return;
    }
    error[i] = impact_error(&seen, &speed);
    snprintf(text, sizeof text, "%d impacts, expected %d", seen.n, expected);
    s->check(s->user, seen.n == expected, "bouncing_pendulum", title, text);
    printf("  %s %.1e  %6ld steps  times %.2e, speeds %.2e\n", controlled ? "tolerance" : "h", size[i],
           ga_simulator_stats(c.sim)->steps, error[i], speed);
    control_close(&c);
  }
  const double slope = fitted_slope(size, error, LEVELS);
  snprintf(text, sizeof text, "error of the times has slope %.2f, expected %.0f within 0.15", slope, order);
  const int good = s->check(s->user, fabs(slope - order) < 0.15, "bouncing_pendulum", title, text);
  printf("  %s   %s\n", text, good ? "ok" : "FAIL");
}

void vf_control_run(const vf_sink *s)
{
  for (size_t i = 0; i < sizeof SLOPES / sizeof *SLOPES; i++) run_slope(s, &SLOPES[i]);
  run_locals(s);
  run_stiff(s, "stiff_pair_1e6");
  run_stiff(s, "stiff_pair_1e9");
  run_cart_pole(s);
  if (!s->wanted(s->user, "bouncing_pendulum")) return;
  for (int action = GA_EVENT_RECORD; action <= GA_EVENT_RESTART; action++)
    run_bouncing(s, (ga_event_action)action, 0);
  run_bouncing(s, GA_EVENT_RESTART, 1);
}
