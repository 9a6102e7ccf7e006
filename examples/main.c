/* example: runs one of the problems and shows what came out. */
#define _GNU_SOURCE /* getopt_long */
#include "run.h"
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <string.h>

static const char usage[] =
    "usage: example NAME [options]\n"
    "Simulates the problem NAME and compares its end with the reference.\n\n" EX_OPTIONS_HELP
    "  --csv FILE        write every step as a line of FILE\n";

typedef struct arguments {
  const ex_problem *problem; /* NULL: nothing to run, listed or helped */
  ex_options opts;
  const char *csv; /* NULL: none */
} arguments;

static int arguments_read(arguments *a, int argc, char **argv)
{
  static const struct option options[] = {
      EX_OPTIONS_LONG, {"csv", required_argument, NULL, 'f'}, {NULL, 0, NULL, 0}};
  int option;

  *a = (arguments){.opts = ex_options_defaults()};
  while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
    if (option == 'H') return fputs(usage, stdout), 0;
    if (option == 'l') return ex_problems_list(stdout), 0;
    if (option == 'f')
      a->csv = optarg;
    else if (ex_options_take(&a->opts, option, optarg))
      return EX_EXIT_USAGE;
  }
  a->problem = ex_problem_ask(argc - optind, argv + optind, &a->opts, usage);
  return a->problem ? 0 : EX_EXIT_USAGE;
}

/* ---- CSV ---- */

typedef struct csv {
  FILE *file;
  const ex_run *run;
} csv;

static void csv_header(const csv *out)
{
  fputs("t", out->file);
  for (int c = 0; c < EX_N_COMPONENTS; c++)
    for (int i = 0; i < out->run->length[c]; i++) fprintf(out->file, ",%s%d", ex_component_name[c], i);
  fputc('\n', out->file);
}

/* ga_observer_fn: one line; stops when the file cannot be written. */
static int csv_line(void *user, const ga_stepper *st)
{
  const csv *out = user;
  const ga_state *s = ga_stepper_state(st);
  fprintf(out->file, "%.17g", s->t);
  for (int c = 0; c < EX_N_COMPONENTS; c++) {
    const double *value = ex_state_component(s, (ex_component)c);
    for (int i = 0; i < out->run->length[c]; i++) fprintf(out->file, ",%.17g", value[i]);
  }
  fputc('\n', out->file);
  return ferror(out->file);
}

/* ---- What is printed ---- */

static void print_start(const ex_run *run)
{
  char text[4096];
  ga_start_report_text(run->sys, &run->report, text, sizeof text);
  const size_t n = strlen(text);
  printf("%s%s\n", text, n > 0 && text[n - 1] == '\n' ? "" : "\n");
}

/* One component: its values, and beside them its errors where they belong together; the difference of a q on
 * a group is shorter than q itself and stands below it. */
static void print_component(const ex_run *run, ex_component c)
{
  const double *value = ex_state_component(ga_stepper_state(run->st), c), *error = run->error[c];
  const int n = run->length[c], n_error = error ? ex_run_error_length(run, c) : 0;
  const char *name = ex_component_name[c];
  char label[32];

  for (int i = 0; i < n; i++) {
    snprintf(label, sizeof label, "%s[%d]", name, i);
    printf("  %-12s %22.15g", label, value[i]);
    if (n_error == n) printf("  %10.2e", error[i]);
    putchar('\n');
  }
  for (int i = 0; n_error != n && i < n_error; i++) {
    snprintf(label, sizeof label, "%s error %d", name, i);
    printf("  %-12s %22s  %10.2e\n", label, "", error[i]);
  }
  if (n_error > 0) printf("  %-12s %22s  %10.2e\n", name, "2-norm of the error", ex_run_error_norm(run, c));
}

static void print_end(ex_run *run)
{
  const int known = ex_run_measure(run);
  const ga_state *s = ga_stepper_state(run->st);
  double phi = 0.0, phi_dot = 0.0, k = 0.0;

  printf("  at t = %-6g %22s  %10s\n", s->t, "value", known ? "error" : "");
  for (int c = 0; c < EX_N_COMPONENTS; c++) print_component(run, (ex_component)c);
  if (!known) printf("  (no reference is known at this time)\n");

  if (ga_stepper_constraint_residuals(run->st, &phi, &phi_dot, &k) == GA_OK) {
    putchar('\n');
    if (run->length[EX_LAMBDA]) printf("constraints: position %.1e, velocity %.1e\n", phi, phi_dot);
    if (run->length[EX_PSI]) printf("nonholonomic constraints: %.1e\n", k);
  }
  if (run->problem->energy)
    printf("energy: %.10g J at the start, change %.2e J\n", run->energy_start,
           run->problem->energy(s) - run->energy_start);
}

static void print_stats(const ga_stats *s)
{
  printf("\n%ld steps, %ld iterations (%.2f per step), %ld residuals\n", s->steps, s->iterations,
         s->steps ? (double)s->iterations / (double)s->steps : 0.0, s->residuals);
  printf("%ld Jacobians, %ld of the constraints alone, %ld factorisations, %ld solves, rcond %.1e\n",
         s->jacobians, s->constraint_jacobians, s->factorisations, s->solves, s->rcond);
  if (s->difference_jacobians)
    printf("%ld Jacobians by differences in %d groups, for lack of a callback\n", s->difference_jacobians,
           s->difference_groups);
  if (s->at_floor) printf("%ld steps ended at the floor of rounding\n", s->at_floor);
}

/* ---- The run ---- */

static int run_to_end(ex_run *run, FILE *file)
{
  csv out = {file, run};
  ex_task_print(run->problem, &run->opts);
  printf(", %ld steps of %g s to t = %g s\n\n", run->n, run->opts.h, run->opts.t_end);
  print_start(run);
  if (file) csv_header(&out);
  const ga_status status = ex_run_finish(run, file ? csv_line : NULL, &out);
  if (status == GA_STOPPED) return 0; /* the file could not be written, which its owner will say */
  if (status) {
    ex_run_explain(run, status, stderr);
    return EX_EXIT_FAILED;
  }
  print_end(run);
  print_stats(ga_stepper_stats(run->st));
  return 0;
}

static int simulate(const arguments *a)
{
  ex_run run;
  FILE *file = NULL;
  int result = EX_EXIT_FAILED;

  if (a->csv && !(file = fopen(a->csv, "w"))) {
    fprintf(stderr, "cannot write %s: %s\n", a->csv, strerror(errno));
    return EX_EXIT_FAILED;
  }
  const ga_status status = ex_run_open(&run, a->problem, &a->opts);
  if (status)
    ex_run_explain(&run, status, stderr);
  else
    result = run_to_end(&run, file);
  ex_run_close(&run);

  if (file) {
    const int broken = ferror(file);
    if (fclose(file) || broken) {
      fprintf(stderr, "cannot write all of %s: %s\n", a->csv, strerror(errno));
      result = EX_EXIT_FAILED;
    }
  }
  return result;
}

int main(int argc, char **argv)
{
  arguments a;
  const int result = arguments_read(&a, argc, argv);
  return result || !a.problem ? result : simulate(&a);
}
