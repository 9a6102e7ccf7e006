#include "sensitivity_contest.h"

#include "cases.h"
#include "loaded.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The coordinates at the end by 8 forces, forwards, and the first coordinate there by 64, backwards. */
enum { FORWARD = 8, BACKWARD = LOADED_PARAMETERS, MOST_NV = 16 };

typedef struct rival_problem {
  const char *name; /* of a case, and of its figures */
  double force;     /* [N] or [N m]: size of the parameters */
} rival_problem;

static const rival_problem problems[] = {
    {"heavy_top", 1.0}, {"slider_crank", 0.1}, {"andrews", 1e-3}, {"spring_mass", 0.1}};

/* Where errors are compared, and curves end; what the two codes may differ by at their finest settings. */
static const double level = 1e-5, fine = 6e-6, agreement = 1e-5;
#define HALF_DECADE 0.31622776601683794

typedef struct rival { /* a problem, and one way of one code to run it */
  const rival_problem *what;
  bench_task task; /* IDA and its options */
  loaded_task ours;
  loaded theirs;
  int nv, backward;
  double reference[BACKWARD * MOST_NV], gradient[BACKWARD]; /* of all coordinates, and of the first one */
  double result[BACKWARD * MOST_NV];                        /* of the last run */
  loaded_run run;
  ida_slopes slopes;
} rival;

static double largest(const double *x, int n)
{
  double most = 0.0;
  for (int i = 0; i < n; i++) most = fmax(most, fabs(x[i]));
  return most;
}

static double difference(const double *x, const double *y, int n)
{
  double most = 0.0;
  for (int i = 0; i < n; i++) most = fmax(most, fabs(x[i] - y[i]));
  return most;
}

/* Forwards: the largest over the parameters of the error in units of the largest component; backwards: the
 * largest error in units of the largest component. */
static double distance(const rival *r, const double *x, const double *y)
{
  if (r->backward) return difference(x, y, BACKWARD) / largest(r->gradient, BACKWARD);
  double most = 0.0;
  for (int j = 0; j < FORWARD; j++)
    most = fmax(most,
                difference(x + j * r->nv, y + j * r->nv, r->nv) / largest(r->reference + j * r->nv, r->nv));
  return most;
}

static double error_of(const rival *r)
{
  return distance(r, r->result, r->backward ? r->gradient : r->reference);
}

/* ---- Reference: central differences of fourth order of runs by collocation
 * ------------------------------------- */

static ga_status end_of(const rival *r, const ga_system *sys, double *q)
{
  const ex_problem *x = r->ours.problem;
  ga_context *ctx = r->ours.ctx;
  ga_stepper *st = NULL;
  ga_simulator *sim = NULL;
  ga_stepper_opts opts = ga_stepper_defaults();
  const ga_simulate_opts run = bench_tolerances(ga_simulate_defaults(), x->t_end, 1e-12);
  opts.method = GA_COLLOCATION;
  opts.order = 10;
  ga_status status = ga_stepper_create(ctx, sys, &opts, &st);
  if (!status) status = ga_simulator_create(ctx, st, &run, &sim);
  if (!status)
    status = ga_simulator_start(sim, NULL, 0.0, x->q0, x->v0, x->x0, x->lambda_guess, x->psi_guess, NULL);
  if (!status) status = ga_simulator_run(sim);
  if (!status) memcpy(q, ga_stepper_state(st)->q, (size_t)ga_group_nq(ga_system_group(sys)) * sizeof *q);
  ga_simulator_destroy(&sim);
  ga_stepper_destroy(&st);
  return status;
}

/* By one parameter: (8 (d₊ − d₋) − (d₊₊ − d₋₋))/(12 δ), d from the end of the run itself. */
static ga_status reference_by(const rival *r, int j, const double *base, double *out)
{
  const double weight[GA_PARAMETER_VALUES] = {1.0, -8.0, 8.0, -1.0};
  double q[2 * MOST_NV], d[MOST_NV];
  ga_status status = GA_OK;
  memset(out, 0, (size_t)r->nv * sizeof *out);
  for (int m = 0; m < GA_PARAMETER_VALUES && !status; m++) {
    status = end_of(r, r->ours.at[j][m], q);
    if (status) break;
    ga_group_difference(ga_system_group(r->ours.sys), d, base, q);
    for (int i = 0; i < r->nv; i++) out[i] += weight[m] * d[i] / (12.0 * r->ours.list[j].step);
  }
  return status;
}

static ga_status reference_make(rival *r)
{
  double base[2 * MOST_NV];
  ga_status status = end_of(r, r->ours.sys, base);
  for (int j = 0; j < BACKWARD && !status; j++) {
    status = reference_by(r, j, base, r->reference + j * r->nv);
    r->gradient[j] = r->reference[j * r->nv];
  }
  return status;
}

/* ---- Runs, as curves take them
 * ---------------------------------------------------------------------------------- */

static int run_ours(void *user, point *out)
{
  rival *r = user;
  ga_stats n = {0};
  if (r->run.steps > 0)
    r->run.steps = (long)out->setting;
  else
    r->run.tol = out->setting;
  const ga_status status = loaded_measure(&r->ours, &r->run, r->result, r->result, &n);
  if (status) {
    snprintf(out->why, sizeof out->why, "%.150s", ga_context_error(r->ours.ctx)->text);
    return status;
  }
  out->error = error_of(r);
  out->steps = (double)n.steps;
  out->iterations = (double)n.iterations;
  out->factorisations = (double)n.factorisations;
  return 0;
}

static int run_theirs(void *user, point *out)
{
  rival *r = user;
  ida_opts opts = r->task.theirs;
  ida_counts n = {0};
  const double t_end = r->ours.problem->t_end;
  opts.tol = out->setting;
  const int rc = r->backward ? ida_peer_adjoint(r->task.ida, &opts, &r->slopes, t_end, 0, r->result, &n)
                             : ida_peer_forward(r->task.ida, &opts, &r->slopes, t_end, r->result, &n);
  if (rc != 0) {
    snprintf(out->why, sizeof out->why, "IDAS's flag %d", rc);
    return rc;
  }
  out->error = error_of(r);
  out->steps = (double)n.steps;
  out->iterations = (double)n.iterations;
  out->factorisations = (double)n.jacobians;
  return 0;
}

/* ---- Ways to run them
 * ------------------------------------------------------------------------------------------- */

typedef struct way {
  curve curve;
  double time; /* [s] at the level; NAN: not reached */
  loaded_run run;
  ida_opts opts;
  ida_slopes slopes;
  int theirs;
} way;

static void take(rival *r, const way *w)
{
  r->run = w->run;
  if (w->theirs) r->task.theirs = w->opts, r->slopes = w->slopes;
}

static void measure_way(rival *r, way *w, curve_plan plan)
{
  const curve_run_fn run = w->theirs ? run_theirs : run_ours;
  w->time = NAN;
  take(r, w);
  if (curve_extend(&w->curve, plan.first, run, r) == GA_ERR_ARGUMENT && !w->theirs) return; /* refused */
  w->curve.n = 0;
  curve_walk(&w->curve, &plan, run, r);
  curve_measure(&w->curve, 0.05, run, r);
  w->time = curve_time_at(&w->curve, level);
}

/* Equal steps, error control, and error control of collocation where derivatives can have that. */
static int our_ways(rival *r, way *ways)
{
  static const struct {
    const char *name;
    ga_method method;
    long steps;
  } rows[] = {{"equal steps", GA_STABILIZED, 50},
              {"error control", GA_STABILIZED, 0},
              {"collocation", GA_COLLOCATION, 0}};
  const loaded_kind kind = r->backward ? LOADED_ADJOINT_PULLED : LOADED_FORWARD_EXACT;
  const int n = (int)(sizeof rows / sizeof *rows);
  for (int i = 0; i < n; i++) {
    way *w = &ways[i];
    *w = (way){.run = {.kind = kind,
                       .n = r->backward ? BACKWARD : FORWARD,
                       .method = rows[i].method,
                       .t_end = r->ours.problem->t_end,
                       .steps = rows[i].steps,
                       .last_alone = 1}};
    snprintf(w->curve.name, sizeof w->curve.name, "galpha, %s", rows[i].name);
    measure_way(r, w,
                rows[i].steps > 0
                    ? (curve_plan){.first = (double)rows[i].steps, .factor = 2.0, .fine = fine, .enough = 1}
                    : (curve_plan){.first = 1e-2, .factor = HALF_DECADE, .fine = fine, .enough = 2});
  }
  return n;
}

/* All combinations of form, linear solver, and the two options of either pass that matter. */
static int their_ways(rival *r, way *ways)
{
  static const char *const forms[] = {"GGL", "index 1"};
  int n = 0;
  for (int i = 0; i < 16; i++) {
    const int form = i & 1, dense = i >> 1 & 1, in_test = i >> 2 & 1, other = i >> 3 & 1;
    way *w = &ways[n];
    if (form == IDA_GGL && (r->backward || r->task.def.n_lambda == 0)) continue;
    bench_theirs(&r->task, (ida_form)form);
    *w = (way){.theirs = 1, .opts = r->task.theirs};
    w->opts.solver = dense ? IDA_DENSE : IDA_KLU_COLAMD;
    w->slopes = (ida_slopes){.n = r->backward ? BACKWARD : FORWARD,
                             .derivative = loaded_derivative,
                             .pullback = loaded_pullback,
                             .user = &r->theirs,
                             .typical = r->what->force,
                             .typical_gradient = largest(r->gradient, BACKWARD),
                             .staggered = other,
                             .polynomial = other,
                             .in_error_test = in_test,
                             .interval = 100};
    snprintf(w->curve.name, sizeof w->curve.name, "IDAS, %s, %s, %s%s", forms[form], dense ? "dense" : "KLU",
             r->backward ? (other ? "polynomials" : "cubics") : (other ? "staggered" : "simultaneous"),
             in_test ? ", error test" : "");
    measure_way(r, w, (curve_plan){.first = 1e-2, .factor = HALF_DECADE, .fine = fine, .enough = 2});
    n++;
  }
  return n;
}

static const way *best(const way *ways, int n)
{
  const way *found = NULL;
  for (int i = 0; i < n; i++)
    if (isfinite(ways[i].time) && (!found || ways[i].time < found->time)) found = &ways[i];
  return found;
}

/* ---- Figures
 * ---------------------------------------------------------------------------------------------------- */

/* [s] of CPU time of w at the level's setting with n parameters, 0: of the run alone; the least of a few. */
static double cost(rival *r, const way *w, int n)
{
  const point *at = curve_nearest(&w->curve, level);
  double least = HUGE_VAL, *q = r->result, *x = r->result + BACKWARD;
  ida_counts counts;
  take(r, w);
  r->run.n = r->slopes.n = n;
  if (n == 0) r->run.kind = LOADED_ALONE;
  if (w->run.steps > 0) r->run.steps = (long)at->setting;
  r->run.tol = r->task.theirs.tol = at->setting;
  if (w->theirs && r->backward) r->task.theirs.form = IDA_INDEX1;
  for (int i = 0; i < 5; i++) {
    const double from = cpu_now(), t_end = r->ours.problem->t_end;
    int rc;
    if (!w->theirs)
      rc = loaded_measure(&r->ours, &r->run, NULL, NULL, NULL);
    else if (n == 0)
      rc = ida_peer_run(r->task.ida, &r->task.theirs, t_end, q, x, &counts);
    else if (r->backward)
      rc = ida_peer_adjoint(r->task.ida, &r->task.theirs, &r->slopes, t_end, 0, q, &counts);
    else
      rc = ida_peer_forward(r->task.ida, &r->task.theirs, &r->slopes, t_end, q, &counts);
    if (rc != 0) return NAN;
    least = fmin(least, cpu_now() - from);
  }
  return least;
}

static void report_costs(report *out, rival *r, const way *w, const char *who)
{
  const double alone = cost(r, w, 0);
  if (r->backward) {
    const double all = cost(r, w, BACKWARD) / alone;
    printf("    %-40s adjoint of %d parameters %.2f runs\n", w->curve.name, BACKWARD, all);
    report_add(out, all, "sensitivity.%s.%s_adjoint_%d", r->what->name, who, BACKWARD);
    return;
  }
  const double one = cost(r, w, 1) / alone, all = cost(r, w, FORWARD) / alone;
  printf("    %-40s first parameter %.2f runs, each further one %.3f\n", w->curve.name, one,
         (all - one) / (FORWARD - 1));
  report_add(out, one, "sensitivity.%s.%s_forward_1", r->what->name, who);
  report_add(out, (all - one) / (FORWARD - 1), "sensitivity.%s.%s_forward_each", r->what->name, who);
}

/* The results of both codes at the finest settings of their curves; whether they are the same. */
static int agree(report *out, rival *r, const way *ours, const way *theirs)
{
  static double x[BACKWARD * MOST_NV];
  point p = ours->curve.at[ours->curve.n - 1], q = theirs->curve.at[theirs->curve.n - 1];
  take(r, ours);
  int rc = run_ours(r, &p);
  memcpy(x, r->result, sizeof x);
  take(r, theirs);
  if (rc == 0) rc = run_theirs(r, &q);
  const double apart = rc == 0 ? distance(r, x, r->result) : NAN;
  report_add(out, apart, "sensitivity.%s.%sapart", r->what->name, r->backward ? "adjoint_" : "");
  if (apart < agreement && p.error < agreement && q.error < agreement) return 1;
  fprintf(stderr, "%s: derivatives of galpha and IDAS differ by %.1e; errors %.1e and %.1e\n", r->what->name,
          apart, p.error, q.error);
  return 0;
}

/* One direction of one problem; 0: good. */
static int contest_run_one(report *out, rival *r, int backward)
{
  static way ours[4], theirs[16];
  const char *name = r->what->name, *prefix = backward ? "adjoint_" : "";
  r->backward = backward;
  const int n = our_ways(r, ours), m = r->task.ida ? their_ways(r, theirs) : 0;
  printf("  %s, %s\n", name,
         backward ? "the first coordinate by 64 parameters, backwards" : "8 parameters, forwards");
  for (int i = 0; i < n + m; i++) {
    const way *w = i < n ? &ours[i] : &theirs[i - n];
    if (isfinite(w->time))
      printf("    %-52s %9.3f ms\n", w->curve.name, 1e3 * w->time);
    else
      printf("    %-52s not reached%s%s\n", w->curve.name, w->curve.at[0].why[0] ? ": " : "",
             w->curve.at[0].why);
  }
  const way *a = best(ours, n), *b = best(theirs, m);
  if (!a) {
    fprintf(stderr, "%s: no way of galpha reaches an error of %.0e\n", name, level);
    return 1;
  }
  report_add(out, a->time, "sensitivity.%s.%sours_s", name, prefix);
  report_costs(out, r, a, "ours");
  if (m == 0) return 0;
  if (!b) {
    fprintf(stderr, "%s: no way of IDAS reaches an error of %.0e\n", name, level);
    return 1;
  }
  report_add(out, b->time, "sensitivity.%s.%sidas_s", name, prefix);
  report_add(out, b->time / a->time, "sensitivity.%s.%sidas_over_ours_1e-5", name, prefix);
  report_costs(out, r, b, "idas");
  return !agree(out, r, a, b);
}

static int contest_open_problem(rival *r, const rival_problem *what)
{
  const bench_case *found = bench_case_find(what->name);
  ida_model model = found->peer ? found->peer() : example_ida_model(ex_problem_find(found->example));
  memset(r, 0, sizeof *r);
  r->what = what;
  if (bench_open(&r->task, found) != 0) return -1;
  if (loaded_open(&r->ours, ex_problem_find(found->example), 1e-3 * what->force) != GA_OK) return -1;
  r->nv = ga_system_size(r->ours.sys, GA_BLOCK_V);
  if (r->nv > MOST_NV) return -1;
  ida_peer_destroy(&r->task.ida);
  loaded_define(&r->theirs, &model.def, -1, 0.0);
  r->theirs.nv = r->nv;
  r->task.ida = ida_peer_create(r->task.ctx, &model);
  return reference_make(r) == GA_OK ? 0 : -1;
}

int sensitivity_contest(report *out, const bench_options *opts)
{
  static rival r;
  int failed = 0;
  printf("Derivatives at an error of %.0e, CPU time\n", level);
  for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
    if (!bench_wanted(opts, problems[i].name)) continue;
    if (contest_open_problem(&r, &problems[i]) == 0)
      failed += contest_run_one(out, &r, 0) + contest_run_one(out, &r, 1);
    else
      failed++, fprintf(stderr, "%s: %s\n", problems[i].name,
                        r.ours.ctx ? ga_context_error(r.ours.ctx)->text : "no start");
    loaded_close(&r.ours);
    bench_close(&r.task);
  }
  return failed;
}
