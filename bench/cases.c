#include "cases.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TIP "position of the tip [m]"
#define TOP "position [m] and rotation vector [rad]"

/* The tips at 1 s are those of chain_tip_by_extrapolation() with 12th order, converged to 1e-11: 10 rods in
 * 800 steps, 100 rods in 8000; at 0.2 s 1000 rods in 4000. */
static const bench_case cases[] = {
    {.name = "chain10",
     .title = "planar chain of 10 rods",
     .error = TIP,
     .rods = 10,
     .t_end = 1.0,
     .tip = {-0.89431685236132, -0.14656506474687},
     .newton_tol = 1e-5,
     .v_atol = 1.0,
     .lambda_atol = 1e3},
    {.name = "chain100",
     .title = "planar chain of 100 rods",
     .error = TIP,
     .rods = 100,
     .t_end = 1.0,
     .tip = {-0.90387531785526, -0.18078695422800},
     .newton_tol = 1e-5,
     .v_atol = 1.0,
     .lambda_atol = 1e3},
    {.name = "chain1000_200ms",
     .title = "planar chain of 1000 rods, 0.2 s only",
     .error = TIP,
     .rods = 1000,
     .t_end = 0.2,
     .tip = {0.93506367614245, -0.19620000000000},
     .newton_tol = 1e-5,
     .v_atol = 1.0,
     .lambda_atol = 1e3},
    {.name = "andrews",
     .title = "Andrews' squeezing mechanism",
     .error = "angle beta [rad]",
     .example = "andrews",
     .n_compared = 1,
     .newton_tol = 1e-6,
     .v_atol = 1e3,
     .lambda_atol = 1e3,
     .first_step = 1e-6,
     .peer = andrews_ida_model},
    {.name = "heavy_top",
     .title = "heavy top",
     .error = TOP,
     .example = "heavy_top",
     .newton_tol = 1e-7,
     .v_atol = 10.0,
     .lambda_atol = 1e3,
     .peer_example = "heavy_top_s3_right",
     .peer = top_ida_model},
    {.name = "heavy_top_papers",
     .title = "heavy top, rotations updated as in the papers",
     .error = TOP,
     .example = "heavy_top_left",
     .no_commutator = 1,
     .newton_tol = 1e-7,
     .v_atol = 10.0,
     .lambda_atol = 1e3,
     .peer_example = "heavy_top_s3_right",
     .peer = top_ida_model},
    {.name = "slider_crank",
     .title = "slider-crank with a massless hinge",
     .error = "coordinates [m] and [rad]",
     .example = "slider_crank",
     .newton_tol = 1e-7,
     .v_atol = 10.0,
     .lambda_atol = 1e3,
     .peer = slider_crank_ida_model},
    {.name = "spring_mass",
     .title = "controlled spring-mass system",
     .error = "position [m] and state of the controller",
     .example = "spring_mass",
     .newton_tol = 1e-7,
     .v_atol = 1.0,
     .lambda_atol = 1.0},
};

const bench_case *bench_case_find(const char *name)
{
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    if (strcmp(cases[i].name, name) == 0) return &cases[i];
  return NULL;
}

/* ---- Open and close ------------------------------------------------------------------------------------ */

static int is_chain(const bench_case *c)
{
  return c->rods > 0;
}

static double end_time(const bench_task *t)
{
  return is_chain(t->what) ? t->what->t_end : ex_problem_find(t->what->example)->t_end;
}

static int define(bench_task *t, ida_model *peer)
{
  t->def = ga_system_defaults();
  if (is_chain(t->what)) {
    t->chain = chain_create(t->what->rods);
    if (!t->chain) return -1;
    chain_define(t->chain, &t->def);
    t->q0 = t->chain->q0;
    t->v0 = t->chain->v0;
    *peer = chain_ida_model(t->chain);
  } else {
    const ex_problem *e = ex_problem_find(t->what->example);
    if (!e) return -1;
    e->define(&t->def);
    t->q0 = e->q0;
    t->v0 = e->v0;
    t->x0 = e->x0;
    *peer = t->what->peer ? t->what->peer() : example_ida_model(e);
  }
  return 0;
}

int bench_open(bench_task *t, const bench_case *what)
{
  ida_model peer;
  *t = (bench_task){.what = what, .ours = ga_stepper_defaults(), .control = ga_simulate_defaults()};
  t->ours.newton.tol = what->newton_tol;
  t->ours.commutator = !what->no_commutator;
  int rc = ga_context_create(NULL, &t->ctx);
  if (rc == 0) rc = define(t, &peer);
  if (rc == 0) rc = ga_system_create(t->ctx, &t->def, &t->sys);
  if (rc == 0) {
    t->ida = ida_peer_create(t->ctx, &peer);
    const ga_group *group = t->ida ? ida_peer_group(t->ida) : ga_system_group(t->sys);
    t->work = calloc((size_t)(ga_group_nv(group) + ga_group_nq(group) + t->def.n_x + 1), sizeof *t->work);
    if (!t->work) rc = -1;
  }
  if (rc != 0)
    fprintf(stderr, "%s: %s\n", what->name, t->ctx ? ga_context_error(t->ctx)->text : "out of memory");
  return rc;
}

void bench_close(bench_task *t)
{
  ida_peer_destroy(&t->ida);
  free(t->work);
  t->work = NULL;
  ga_system_destroy(&t->sys);
  ga_context_destroy(&t->ctx);
  chain_destroy(&t->chain);
}

void bench_theirs(bench_task *t, ida_form form)
{
  t->theirs = ida_peer_defaults(form);
  t->theirs.v_atol = t->what->v_atol;
  t->theirs.lambda_atol = t->what->lambda_atol;
  t->theirs.first_step = t->what->first_step;
}

/* ---- Error --------------------------------------------------------------------------------------------- */

/* Of a state in the coordinates of `example`, whose group is `group`. */
static double end_error(const bench_task *t, const char *example, const ga_group *group, const double *q,
                        const double *x)
{
  if (is_chain(t->what)) {
    double tip[2];
    chain_tip(t->chain, q, tip);
    return fmax(fabs(tip[0] - t->what->tip[0]), fabs(tip[1] - t->what->tip[1]));
  }
  const ex_reference *reference = &ex_problem_find(example)->reference;
  const int n = t->what->n_compared > 0 ? t->what->n_compared : ga_group_nv(group);
  double *d = t->work, error = 0.0;
  ga_group_difference(group, d, reference->q, q);
  for (int i = 0; i < n; i++) error = fmax(error, fabs(d[i]));
  for (int i = 0; i < t->def.n_x; i++) error = fmax(error, fabs(x[i] - reference->x[i]));
  return error;
}

/* ---- One run ------------------------------------------------------------------------------------------- */

static int finish_ours(const bench_task *t, const ga_stepper *st, int rc, point *out)
{
  if (rc != GA_OK) {
    snprintf(out->why, sizeof out->why, "%.150s", ga_context_error(t->ctx)->text);
    return rc;
  }
  const ga_stats *n = ga_stepper_stats(st);
  const ga_state *s = ga_stepper_state(st);
  out->error = end_error(t, t->what->example, ga_system_group(t->sys), s->q, s->x);
  out->steps = (double)n->steps;
  out->iterations = (double)n->iterations;
  out->factorisations = (double)n->factorisations;
  return 0;
}

int bench_steps(void *user, point *out)
{
  const bench_task *t = user;
  ga_stepper *st = NULL;
  ga_start_opts start = ga_start_defaults();
  start.h = end_time(t) / out->setting;
  ga_status rc = ga_stepper_create(t->ctx, t->sys, &t->ours, &st);
  if (rc == GA_OK) rc = ga_stepper_start(st, &start, 0.0, t->q0, t->v0, t->x0, NULL, NULL, NULL);
  if (rc == GA_OK) rc = ga_stepper_run(st, start.h, (long)out->setting, NULL, NULL);
  const int result = finish_ours(t, st, rc, out);
  ga_stepper_destroy(&st);
  return result;
}

ga_simulate_opts bench_tolerances(ga_simulate_opts opts, double t_end, double tol)
{
  opts.t_end = t_end;
  opts.rtol = opts.rtol_v = opts.rtol_x = opts.atol = opts.atol_v = opts.atol_x = tol;
  return opts;
}

int bench_controlled(void *user, point *out)
{
  const bench_task *t = user;
  ga_stepper *st = NULL;
  ga_simulator *sim = NULL;
  const ga_simulate_opts opts = bench_tolerances(t->control, end_time(t), out->setting);
  ga_status rc = ga_stepper_create(t->ctx, t->sys, &t->ours, &st);
  if (rc == GA_OK) rc = ga_simulator_create(t->ctx, st, &opts, &sim);
  if (rc == GA_OK) rc = ga_simulator_start(sim, NULL, 0.0, t->q0, t->v0, t->x0, NULL, NULL, NULL);
  if (rc == GA_OK) rc = ga_simulator_run(sim);
  const int result = finish_ours(t, st, rc, out);
  ga_simulator_destroy(&sim);
  ga_stepper_destroy(&st);
  return result;
}

int bench_ida(void *user, point *out)
{
  const bench_task *t = user;
  const ga_group *group = ida_peer_group(t->ida);
  ida_opts opts = t->theirs;
  ida_counts n = {0};
  double *q = t->work + ga_group_nv(group), *x = q + ga_group_nq(group); /* errors go before them */
  opts.tol = out->setting;
  const int rc = ida_peer_run(t->ida, &opts, end_time(t), q, x, &n);
  if (rc != 0) {
    snprintf(out->why, sizeof out->why, "IDA's flag %d", rc);
    return rc;
  }
  out->error = end_error(t, t->what->peer_example ? t->what->peer_example : t->what->example, group, q, x);
  out->steps = (double)n.steps;
  out->iterations = (double)n.iterations;
  out->factorisations = (double)n.jacobians;
  return 0;
}
