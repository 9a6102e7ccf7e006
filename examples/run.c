#include "run.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Options ---- */

ex_options ex_options_defaults(void)
{
  const ga_stepper_opts stepper = ga_stepper_defaults();
  return (ex_options){
      .h = NAN, .rho = NAN, .t_end = NAN, .method = stepper.method, .commutator = stepper.commutator};
}

int ex_number_take(const char *option, const char *text, double low, double high, double *value)
{
  char *end = NULL;
  const double number = strtod(text, &end);
  if (end == text || *end != '\0') {
    fprintf(stderr, "%s: \"%s\" is not a number\n", option, text);
    return -1;
  }
  if (!(number >= low && number <= high)) {
    fprintf(stderr, "%s: %s is not between %g and %g\n", option, text, low, high);
    return -1;
  }
  *value = number;
  return 0;
}

static int method_take(const char *text, ga_method *method)
{
  ga_method_info m;
  if (ga_method_find(text, method)) return 0;
  fprintf(stderr, "--method: \"%s\" is none of", text);
  for (int i = 0; ga_method_at(i, &m); i++) fprintf(stderr, "%s %s", i ? "," : "", m.name);
  fputc('\n', stderr);
  return -1;
}

int ex_options_take(ex_options *opts, int option, const char *argument)
{
  switch (option) {
  case 'h':
    return ex_number_take("--h", argument, 1e-12, 1e6, &opts->h);
  case 'r':
    return ex_number_take("--rho", argument, 0.0, 1.0, &opts->rho);
  case 't':
    return ex_number_take("--t-end", argument, 1e-12, 1e9, &opts->t_end);
  case 'm':
    return method_take(argument, &opts->method);
  case 'c':
    opts->commutator = 0;
    return 0;
  default:
    return -1; /* getopt_long has said why */
  }
}

int ex_options_complete(ex_options *opts, const ex_problem *problem)
{
  if (isnan(opts->h)) opts->h = problem->h;
  if (isnan(opts->rho)) opts->rho = problem->rho;
  if (isnan(opts->t_end)) opts->t_end = problem->t_end;
  const double steps = ceil(opts->t_end / opts->h * (1.0 - 1e-12));
  if (steps > 1e9) {
    fprintf(stderr, "%g s in steps of %g s are %g steps; at most 1e9 are taken\n", opts->t_end, opts->h,
            steps);
    return -1;
  }
  opts->h = opts->t_end / fmax(steps, 1.0);
  return 0;
}

void ex_problems_list(FILE *out)
{
  const ex_problem *p;
  for (int i = 0; (p = ex_problem_at(i)) != NULL; i++) fprintf(out, "  %-20s %s\n", p->name, p->title);
}

enum { NAME_MAX_LENGTH = 64 }; /* what follows is not looked at */

static int name_length(const char *name)
{
  const size_t n = strlen(name);
  return n < NAME_MAX_LENGTH ? (int)n : NAME_MAX_LENGTH;
}

/* How many letters to insert, delete or replace; 0 where one name is part of the other. */
static int name_distance(const char *a, const char *b)
{
  int row[NAME_MAX_LENGTH + 1];
  const int na = name_length(a), nb = name_length(b);
  if (na > 0 && strstr(b, a)) return 0;
  for (int j = 0; j <= nb; j++) row[j] = j;
  for (int i = 1; i <= na; i++) {
    int diagonal = row[0]; /* of the row above */
    row[0] = i;
    for (int j = 1; j <= nb; j++) {
      const int above = row[j], replaced = diagonal + (a[i - 1] != b[j - 1]);
      int best = (above < row[j - 1] ? above : row[j - 1]) + 1;
      if (replaced < best) best = replaced;
      row[j] = best;
      diagonal = above;
    }
  }
  return row[nb];
}

static const ex_problem *nearest_problem(const char *name)
{
  const ex_problem *nearest = ex_problem_at(0), *p;
  for (int i = 1; (p = ex_problem_at(i)) != NULL; i++)
    if (name_distance(name, p->name) < name_distance(name, nearest->name)) nearest = p;
  return nearest;
}

const ex_problem *ex_problem_ask(int n, char *const *names, ex_options *opts, const char *usage)
{
  if (n != 1) {
    fprintf(stderr, "%s\n%s", n < 1 ? "which problem?" : "one problem at a time", usage);
    return NULL;
  }
  const ex_problem *problem = ex_problem_find(names[0]);
  if (!problem)
    fprintf(stderr, "there is no problem \"%s\"; the nearest name is \"%s\" (--list shows all)\n", names[0],
            nearest_problem(names[0])->name);
  return problem && ex_options_complete(opts, problem) == 0 ? problem : NULL;
}

void ex_task_print(const ex_problem *problem, const ex_options *opts)
{
  ga_method_info method = {0};
  ga_method_at((int)opts->method, &method);
  printf("%s: %s\n%s, rho_inf %g%s", problem->name, problem->title, method.title, opts->rho,
         opts->commutator ? "" : ", without the commutator term");
}

/* ---- One run ---- */

const char *const ex_component_name[EX_N_COMPONENTS] = {"q", "v", "vdot", "lambda", "psi", "x", "y"};

const double *ex_state_component(const ga_state *s, ex_component c)
{
  const double *const of[EX_N_COMPONENTS] = {s->q, s->v, s->vdot, s->lambda, s->psi, s->x, s->y};
  return of[c];
}

int ex_run_error_length(const ex_run *run, ex_component c)
{
  return run->length[c == EX_Q ? EX_V : c];
}

static void lengths_set(ex_run *run)
{
  const ga_group *group = ga_system_group(run->sys);
  static const ga_equation_block block[EX_N_COMPONENTS] = {
      GA_BLOCK_V, GA_BLOCK_V, GA_BLOCK_V, GA_BLOCK_LAMBDA, GA_BLOCK_PSI, GA_BLOCK_X, GA_BLOCK_Y};
  for (int c = 0; c < EX_N_COMPONENTS; c++) run->length[c] = ga_system_size(run->sys, block[c]);
  run->length[EX_Q] = ga_group_nq(group);
}

static ga_status stepper_create(ex_run *run)
{
  ga_stepper_opts opts = ga_stepper_defaults();
  const ga_status status = ga_scheme_rho(run->ctx, run->opts.rho, &opts.scheme);
  if (status) return status;
  opts.method = run->opts.method;
  opts.commutator = run->opts.commutator;
  return ga_stepper_create(run->ctx, run->sys, &opts, &run->st);
}

ga_status ex_run_open(ex_run *run, const ex_problem *problem, const ex_options *opts)
{
  ga_system_def def = ga_system_defaults();
  ga_start_opts start = ga_start_defaults();
  ga_status status;

  *run = (ex_run){.problem = problem, .opts = *opts, .energy_start = NAN};
  run->n = lround(opts->t_end / opts->h);
  problem->define(&def);
  if ((status = ga_context_create(NULL, &run->ctx)) != GA_OK) return status;
  if ((status = ga_system_create(run->ctx, &def, &run->sys)) != GA_OK) return status;
  if ((status = stepper_create(run)) != GA_OK) return status;
  lengths_set(run);

  start.h = run->opts.h;
  status = ga_stepper_start(run->st, &start, 0.0, problem->q0, problem->v0, problem->x0,
                            problem->lambda_guess, problem->psi_guess, &run->report);
  if (status == GA_OK && problem->energy) run->energy_start = problem->energy(ga_stepper_state(run->st));
  return status;
}

ga_status ex_run_finish(ex_run *run, ga_observer_fn observer, void *user)
{
  return ga_stepper_run(run->st, run->opts.h, run->n, observer, user);
}

/* Puts the solution at t into the places `at` of the components; at[c] becomes NULL where it is not known. */
static void reference_fill(const ex_run *run, double t, double *at[EX_N_COMPONENTS])
{
  const ex_problem *p = run->problem;
  const ex_reference *r = &p->reference;
  const double *const given[EX_N_COMPONENTS] = {r->q, r->v, r->vdot, r->lambda, r->psi, r->x, r->y};
  const int there = r->t > 0.0 && fabs(r->t - t) <= 1e-9 * r->t;

  for (int c = 0; c < EX_N_COMPONENTS; c++) {
    const int by_formula = p->exact && c < EX_X;
    if (run->length[c] == 0 || (!by_formula && !(there && given[c])))
      at[c] = NULL;
    else if (!by_formula)
      memcpy(at[c], given[c], (size_t)run->length[c] * sizeof(double));
  }
  if (p->exact) p->exact(t, at[EX_Q], at[EX_V], at[EX_VDOT], at[EX_LAMBDA], at[EX_PSI]);
}

int ex_run_measure(ex_run *run)
{
  const ga_state *s = ga_stepper_state(run->st);
  const ga_group *group = ga_system_group(run->sys);
  const size_t nv = (size_t)run->length[EX_V];
  size_t total = nv; /* for the difference of q, which is not as long as q */
  int known = 0;

  for (int c = 0; c < EX_N_COMPONENTS; c++) total += (size_t)run->length[c], run->error[c] = NULL;
  if (!run->memory) run->memory = calloc(total + 1, sizeof *run->memory);
  if (!run->memory || !s) return 0;
  double *place = run->memory + nv;
  for (int c = 0; c < EX_N_COMPONENTS; place += run->length[c], c++) run->error[c] = place;
  reference_fill(run, s->t, run->error);

  if (run->error[EX_Q]) {
    ga_group_difference(group, run->memory, run->error[EX_Q], s->q);
    run->error[EX_Q] = run->memory;
    known++;
  }
  for (int c = EX_V; c < EX_N_COMPONENTS; c++) {
    if (!run->error[c]) continue;
    const double *now = ex_state_component(s, (ex_component)c);
    for (int i = 0; i < run->length[c]; i++) run->error[c][i] = now[i] - run->error[c][i];
    known++;
  }
  return known;
}

double ex_run_error_norm(const ex_run *run, ex_component c)
{
  double sum = 0.0;
  if (!run->error[c]) return NAN;
  for (int i = 0; i < ex_run_error_length(run, c); i++) sum += run->error[c][i] * run->error[c][i];
  return sqrt(sum);
}

void ex_run_explain(const ex_run *run, ga_status status, FILE *out)
{
  const ga_error *error = run->ctx ? ga_context_error(run->ctx) : NULL;
  fprintf(out, "%s failed: %s", run->problem->name, ga_status_text(status));
  if (error && error->status != GA_OK) fprintf(out, "\n%s", error->text);
  fputc('\n', out);
}

void ex_run_close(ex_run *run)
{
  ga_stepper_destroy(&run->st);
  ga_system_destroy(&run->sys);
  ga_context_destroy(&run->ctx);
  free(run->memory);
  run->memory = NULL;
}
