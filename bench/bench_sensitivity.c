/* What derivatives cost: a run with equal steps, the same with forward derivatives by 1 and 8 parameters, by
 * differences and by a callback, and with the adjoint for 1, 8 and 64 parameters, in units of the run. The
 * run and everything else includes the starts. bench/README.md explains the figures. */
#include "problem.h"
#include "report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST = 64, REPEATS = 3 };

/* A problem with forces p_j s_j(t) on its coordinates, p_j = 0. */
typedef struct loaded {
  ga_system_def inner;
  int nv, which; /* −1: none */
  double p;
} loaded;

static double shape_of(int j, double t)
{
  return (1.0 + 0.1 * j) * cos(0.3 * j + t);
}

static int force(void *user, const ga_point *p, double *out)
{
  const loaded *l = user;
  const int code = l->inner.force(l->inner.user, p, out);
  if (l->which >= 0) out[l->which % l->nv] += l->p * shape_of(l->which, p->t);
  return code;
}

#define PASSED_ON(name, type, what)                                                                          \
  static int name(void *user, const ga_point *p, type *out)                                                  \
  {                                                                                                          \
    const loaded *l = user;                                                                                  \
    return l->inner.what(l->inner.user, p, out);                                                             \
  }
PASSED_ON(mass, double, mass)
PASSED_ON(phi, double, phi)
PASSED_ON(phi_dot, double, phi_dot)
PASSED_ON(phi_acc, double, phi_acc)
PASSED_ON(k, double, k)
PASSED_ON(k_acc, double, k_acc)
PASSED_ON(state, double, state)
PASSED_ON(output, double, output)
PASSED_ON(output_guess, double, output_guess)
PASSED_ON(jacobian, ga_jacobian, jacobian)
#undef PASSED_ON

static void load(ga_system_def *def, loaded *l, int which, double p)
{
  l->inner = *def;
  l->which = which;
  l->p = p;
  def->user = l;
  def->sweep = NULL;
  if (def->mass) def->mass = mass;
  if (def->force) def->force = force;
  if (def->phi) def->phi = phi;
  if (def->phi_dot) def->phi_dot = phi_dot;
  if (def->phi_acc) def->phi_acc = phi_acc;
  if (def->k) def->k = k;
  if (def->k_acc) def->k_acc = k_acc;
  if (def->state) def->state = state;
  if (def->output) def->output = output;
  if (def->output_guess) def->output_guess = output_guess;
  if (def->jacobian) def->jacobian = jacobian;
}

static int exact(void *user, const ga_point *p, int parameter, ga_parameter_rates *out)
{
  const loaded *l = user;
  if (out->residual) out->residual[parameter % l->nv] = -shape_of(parameter, p->t);
  return 0;
}

static int pull(void *user, const ga_pullback *by, double *gradient)
{
  const loaded *l = user;
  for (int j = 0; j < MOST; j++) gradient[j] -= by->residual[j % l->nv] * shape_of(j, by->end->t);
  return 0;
}

static int seed(void *user, long step, const ga_state *s, ga_seed *out)
{
  (void)user, (void)step;
  out->v[0] += s->v[0];
  return 0;
}

/* One problem with its systems. */
typedef struct task {
  const ex_problem *problem;
  ga_context *ctx;
  ga_stepper_opts opts;
  loaded own, load[MOST][GA_PARAMETER_VALUES];
  ga_system *sys, *at[MOST][GA_PARAMETER_VALUES];
  ga_parameter list[MOST];
  double gradient[MOST];
  long steps;
} task;

static ga_status task_open(task *t, const ex_problem *problem, long steps)
{
  ga_status status = ga_context_create(NULL, &t->ctx);
  t->problem = problem;
  t->steps = steps;
  t->opts = ga_stepper_defaults();
  if (!status) status = ga_scheme_rho(t->ctx, problem->rho, &t->opts.scheme);
  for (int j = -1; j < MOST && !status; j++)
    for (int m = 0; m < (j < 0 ? 1 : GA_PARAMETER_VALUES) && !status; m++) {
      loaded *l = j < 0 ? &t->own : &t->load[j][m];
      ga_system_def def = ga_system_defaults();
      problem->define(&def);
      load(&def, l, j, (m < 2 ? m - 2 : m - 1) * 1e-3);
      status = ga_system_create(t->ctx, &def, j < 0 ? &t->sys : &t->at[j][m]);
      if (status) break;
      l->nv = ga_system_size(t->sys, GA_BLOCK_V);
      if (j < 0) continue;
      t->list[j].at[m].sys = t->at[j][m];
      t->list[j].step = 1e-3;
    }
  return status;
}

static void task_close(task *t)
{
  for (int j = 0; j < MOST; j++)
    for (int m = 0; m < GA_PARAMETER_VALUES; m++) ga_system_destroy(&t->at[j][m]);
  ga_system_destroy(&t->sys);
  ga_context_destroy(&t->ctx);
}

typedef enum kind { PLAIN, FORWARD, FORWARD_EXACT, ADJOINT, ADJOINT_PULLED } kind;

static ga_status begin(task *t, ga_stepper *st, ga_sensitivity *se, ga_adjoint *adjoint)
{
  const ex_problem *x = t->problem;
  ga_start_opts o = ga_start_defaults();
  o.h = x->h;
  ga_status status = ga_stepper_start(st, &o, 0.0, x->q0, x->v0, x->x0, x->lambda_guess, x->psi_guess, NULL);
  if (!status && se) status = ga_sensitivity_begin(se);
  if (!status && adjoint) status = ga_adjoint_begin(adjoint);
  return status;
}

static ga_status run(task *t, kind what, int n)
{
  ga_stepper *st = NULL;
  ga_sensitivity *se = NULL;
  ga_adjoint *adjoint = NULL;
  ga_adjoint_opts opts = ga_adjoint_defaults();
  for (int j = 0; j < n; j++) {
    t->list[j].derivative = what == FORWARD_EXACT ? exact : NULL;
    t->list[j].user = &t->own;
  }
  if (what == ADJOINT_PULLED) opts.pullback = pull, opts.user = &t->own;
  ga_status status = ga_stepper_create(t->ctx, t->sys, &t->opts, &st);
  if (!status && (what == FORWARD || what == FORWARD_EXACT))
    status = ga_sensitivity_create(t->ctx, st, n, t->list, &se);
  if (!status && (what == ADJOINT || what == ADJOINT_PULLED))
    status = ga_adjoint_create(t->ctx, st, n, t->list, &opts, &adjoint);
  if (!status) status = begin(t, st, se, adjoint);
  for (long i = 0; i < t->steps && !status; i++) {
    status = ga_stepper_step(st, t->problem->h);
    if (!status && se) status = ga_sensitivity_step(se);
    if (!status && adjoint) status = ga_adjoint_step(adjoint);
  }
  if (!status && adjoint) status = ga_adjoint_gradient(adjoint, seed, NULL, t->gradient);
  ga_adjoint_destroy(&adjoint);
  ga_sensitivity_destroy(&se);
  ga_stepper_destroy(&st);
  return status;
}

/* [s] of CPU time, the least of a few; negative: it failed. */
static double measure(task *t, kind what, int n)
{
  double least = HUGE_VAL;
  for (int i = 0; i < REPEATS; i++) {
    const clock_t from = clock();
    if (run(t, what, n)) {
      fprintf(stderr, "%s: %s\n", t->problem->name, ga_context_error(t->ctx)->text);
      return -1.0;
    }
    least = fmin(least, (double)(clock() - from) / CLOCKS_PER_SEC);
  }
  return least;
}

static int measure_problem(report *r, const char *name, long steps)
{
  static const struct {
    kind what;
    int n;
    const char *figure;
  } ROWS[] = {{FORWARD, 1, "forward_1"},         {FORWARD, 8, "forward_8"}, {FORWARD_EXACT, 1, "exact_1"},
              {FORWARD_EXACT, 8, "exact_8"},     {ADJOINT, 1, "adjoint_1"}, {ADJOINT, 8, "adjoint_8"},
              {ADJOINT_PULLED, 64, "adjoint_64"}};
  static task t;
  memset(&t, 0, sizeof t);
  const ex_problem *problem = ex_problem_find(name);
  int failed = !problem || task_open(&t, problem, steps) != GA_OK;
  const double alone = failed ? -1.0 : measure(&t, PLAIN, 0);
  if (alone > 0.0) printf("  %-16s %5ld steps, %8.3f ms alone;", name, steps, 1e3 * alone);
  for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS && alone > 0.0; i++) {
    const double with = measure(&t, ROWS[i].what, ROWS[i].n);
    failed |= with < 0.0;
    if (with < 0.0) break;
    report_add(r, with / alone, "sensitivity_%s_%s", name, ROWS[i].figure);
    printf(" %s %.2f", ROWS[i].figure, with / alone);
  }
  putchar('\n');
  task_close(&t);
  return failed || alone <= 0.0;
}

int main(int argc, char **argv)
{
  static const struct {
    const char *name;
    long steps;
  } PROBLEMS[] = {{"heavy_top", 10000}, {"slider_crank", 10000}, {"mechatronic", 10000}, {"andrews31", 3000}};
  static report r;
  bench_options o;
  int failed = 0;
  const int code = bench_options_read(&o, argc, argv, "the name of a problem");
  if (code >= 0) return code;
  printf("galpha %s, derivatives by parameters, in units of the run alone\n", ga_version());
  for (size_t i = 0; i < sizeof PROBLEMS / sizeof *PROBLEMS; i++)
    if (!o.only || strcmp(o.only, PROBLEMS[i].name) == 0)
      failed += measure_problem(&r, PROBLEMS[i].name, PROBLEMS[i].steps);
  return bench_finish(&r, &o) || failed;
}
