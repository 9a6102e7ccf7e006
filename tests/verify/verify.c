/* verify [--short] [--csv FILE] [NAME...]: runs the table of cases, prints what was measured beside what is
 * expected, and ends with the number of checks that passed and failed. Exit code 1 where one failed. */
#include "cases.h"
#include "collocation_models.h"
#include "conserve.h"
#include "machines.h"
#include "models.h"
#include "papers.h"
#include "same.h"

#include "papers_table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_REFERENCES = 128, CHECK_SAMPLES = 16 };

static const vf_table *const tables[] = {&vf_heavy_top_table, &vf_mechanism_table, &vf_rank_deficient_table,
                                         &vf_weighted_table, &vf_variable_table,
                                         &vf_collocation_table};

/* Case i of all tables in a row, NULL at the end. */
static const vf_case *case_at(int i)
{
  for (int k = 0; k < VF_COUNT(tables); i -= tables[k++]->n)
    if (i < tables[k]->n) return &tables[k]->cases[i];
  return NULL;
}

typedef struct kept_reference {
  const char *problem;
  const double *v0;
  vf_reference *ref;
} kept_reference;

typedef struct session {
  const char *title; /* only cases with this in their titles, and nothing else; NULL: all */
  int brief;
  int n_names;
  char **names;
  FILE *csv;
  kept_reference kept[MAX_REFERENCES];
  int n_kept;
  int passed, failed;
} session;

static int wanted(const session *s, const char *problem)
{
  for (int i = 0; i < s->n_names; i++)
    if (strcmp(s->names[i], problem) == 0) return 1;
  return s->n_names == 0;
}

static int has_case(const session *s, const char *problem)
{
  const vf_case *c;
  for (int i = 0; (c = case_at(i)) != NULL; i++)
    if (strcmp(c->problem, problem) == 0 && (!s->brief || c->in_short)) return 1;
  return 0;
}

/* One check: counted, and named where it failed. */
static int check(session *s, int good, const char *problem, const char *title, const char *text)
{
  if (good)
    s->passed++;
  else
    s->failed++;
  if (!good) printf("FAIL %s, %s: %s\n", problem, title, text);
  return good;
}

/* ---- References -------------------------------------------------------------------------------------- */

static int covers(const vf_reference *ref, double spacing, double end)
{
  const double ratio = spacing / vf_reference_spacing(ref);
  return fabs(ratio - nearbyint(ratio)) < 1e-9 * ratio && ratio > 0.5 &&
         vf_reference_spacing(ref) * (double)vf_reference_length(ref) > end * (1 - 1e-9);
}

/* A reference with samples at all multiples of spacing up to end: one that is there already, or a new one. */
static vf_reference *get_reference(session *s, const ex_problem *problem, double spacing, double end)
{
  char text[256] = "no room for another reference";
  for (int i = 0; i < s->n_kept; i++)
    if (s->kept[i].problem == problem->name && s->kept[i].v0 == problem->v0 &&
        covers(s->kept[i].ref, spacing, end))
      return s->kept[i].ref;
  vf_reference *ref = NULL;
  if (s->n_kept < MAX_REFERENCES)
    ref = vf_reference_create(problem, spacing, lround(end / spacing), text, sizeof text);
  check(s, ref != NULL, problem->name, "reference", text);
  if (ref) s->kept[s->n_kept++] = (kept_reference){problem->name, problem->v0, ref};
  return ref;
}

/* Largest difference relative to the largest value of its block (1 where that is smaller); 0 for unknown
 * ones. */
static double relative_difference(const ga_point *p, const double *const known[7], const vf_sizes *z)
{
  const double *mine[7] = {p->q, p->v, p->vdot, p->lambda, p->psi, p->x, p->y};
  const int length[7] = {z->nq, z->nv, z->nv, z->n_lambda, z->n_psi, z->n_x, z->n_y};
  double worst = 0;
  for (int b = 0; b < 7; b++) {
    double size = 1, difference = 0;
    for (int i = 0; known[b] && i < length[b]; i++) {
      size = fmax(size, fabs(known[b][i]));
      difference = fmax(difference, fabs(known[b][i] - mine[b][i]));
    }
    worst = fmax(worst, difference / size);
  }
  return worst;
}

static double difference_from_exact(const ex_problem *problem, const vf_reference *ref)
{
  const vf_sizes z = vf_reference_sizes(ref);
  double *q = calloc((size_t)(z.nq + 2 * z.nv + z.n_lambda + z.n_psi + 1), sizeof(double));
  double worst = q ? 0 : INFINITY;
  for (long i = 0; q && i <= vf_reference_length(ref); i++) {
    const ga_point p = vf_reference_at(ref, i);
    double *v = q + z.nq, *vdot = v + z.nv, *lambda = vdot + z.nv, *psi = lambda + z.n_lambda;
    problem->exact(p.t, q, v, vdot, lambda, psi);
    const double *const known[7] = {q, v, vdot, lambda, psi, NULL, NULL};
    worst = fmax(worst, relative_difference(&p, known, &z));
  }
  free(q);
  return worst;
}

static void check_difference(session *s, const ex_problem *problem, const char *what, double difference)
{
  char text[128];
  snprintf(text, sizeof text, "%s by %.2e, at most 1e-09", what, difference);
  const int good = check(s, difference <= 1e-9, problem->name, "reference", text);
  printf("  %-44s %10.2e   %s\n", what, difference, good ? "ok" : "FAIL");
}

/* The reference trajectory against what is known of the problem: its reference, its exact solution, its
 * constraints. */
static void check_reference(session *s, const ex_problem *problem)
{
  const ex_reference *known = &problem->reference;
  const double end = known->t > 0 ? known->t : problem->t_end;
  printf("\n%s: %s\n", problem->name, problem->title);
  const vf_reference *ref = get_reference(s, problem, end / CHECK_SAMPLES, end);
  if (!ref) return;
  const vf_sizes z = vf_reference_sizes(ref);
  if (known->t > 0) {
    const double *const blocks[7] = {known->q,   known->v, known->vdot, known->lambda,
                                     known->psi, known->x, known->y};
    const ga_point p = vf_reference_at(ref, CHECK_SAMPLES);
    check_difference(s, problem, "reference differs from the stored one",
                     relative_difference(&p, blocks, &z));
  }
  if (problem->exact)
    check_difference(s, problem, "reference differs from the exact solution",
                     difference_from_exact(problem, ref));
  check_difference(s, problem, "reference is off its constraints", vf_reference_drift(ref));
}

/* ---- Cases ------------------------------------------------------------------------------------------- */

static double observed_order(const vf_case *c, const vf_result *r, int row)
{
  const int last = c->levels - 1;
  if (last < 1 || c->expect[row].measure == VF_VALUE || c->expect[row].measure == VF_FLIPS) return NAN;
  return log(r->value[last - 1][row] / r->value[last][row]) / log(r->h[last - 1] / r->h[last]);
}

static int check_order(session *s, const vf_case *c, const vf_expect *e, double order)
{
  char text[160];
  const double band = e->band > 0 ? e->band : 0.1;
  if (!(e->order > 0)) return 1;
  snprintf(text, sizeof text, "%s has order %.3f, expected %.2f within %.2f", e->label, order, e->order,
           band);
  return check(s, fabs(order - e->order) <= band, c->problem, c->title, text);
}

static int check_value(session *s, const vf_case *c, const vf_expect *e, double h, double value,
                       double expected)
{
  char text[200];
  const double tolerance = e->tolerance > 0 ? e->tolerance : 0.02;
  int good = 1;
  if (expected != 0) {
    snprintf(text, sizeof text, "%s at h = %.4g is %.10g, expected %.10g within %.2g", e->label, h, value,
             expected, tolerance);
    good &= check(s, fabs(value - expected) <= tolerance * fabs(expected), c->problem, c->title, text);
  }
  if (e->at_most > 0) {
    snprintf(text, sizeof text, "%s at h = %.4g is %.4g, at most %.4g", e->label, h, value, e->at_most);
    good &= check(s, value <= e->at_most, c->problem, c->title, text);
  }
  return good;
}

static void print_numbers(const char *label, const double *numbers, int n, const char *format)
{
  printf("  %-12s", label);
  for (int i = 0; i < n; i++)
    if (numbers[i] != 0)
      printf(format, numbers[i]);
    else
      printf("           -");
  for (int i = n; i < VF_LEVELS; i++) printf("            ");
}

/* The row of a quantity: errors, order, verdict; below it what was expected, where that is known. */
static void report_row(session *s, const vf_case *c, const vf_result *r, int row)
{
  const vf_expect *e = &c->expect[row];
  const double order = observed_order(c, r, row);
  double numbers[VF_LEVELS];
  int good = check_order(s, c, e, order), known = 0;
  for (int level = 0; level < c->levels; level++) {
    numbers[level] = r->value[level][row];
    known |= e->value[level] != 0;
    good &= check_value(s, c, e, r->h[level], numbers[level], e->value[level]);
    if (s->csv)
      fprintf(s->csv, "%s,\"%s\",%s,%.17g,%.17g\n", c->problem, c->title, e->label, r->h[level],
              numbers[level]);
  }
  print_numbers(e->label, numbers, c->levels, e->measure == VF_VALUE ? " %11.6f" : "  %10.3e");
  if (isfinite(order))
    printf("  %5.2f", order);
  else
    printf("       ");
  if (e->order > 0)
    printf(" (%.0f)", e->order);
  else
    printf("    ");
  const int silent = !known && !(e->order > 0) && !(e->at_most > 0);
  printf("  %s\n", silent ? "measured" : good ? "ok" : "FAIL");
  if (known) {
    print_numbers("  expected", e->value, c->levels, e->measure == VF_VALUE ? " %11.6f" : "  %10.3e");
    putchar('\n');
  }
}

static void run_case(session *s, const vf_case *c)
{
  const ex_problem *found = ex_problem_find(c->problem);
  vf_result result;
  if (!check(s, found != NULL, c->problem, c->title, "there is no such problem")) return;
  ex_problem problem = *found;
  if (c->v0) problem.v0 = c->v0;
  vf_reference *ref = get_reference(s, &problem, vf_case_spacing(c, &problem), vf_case_end(c, &problem));
  if (!ref) return;
  vf_case_run(c, &problem, ref, &result);
  printf("\n%s: %s, %s %.3g%s%s\n", c->problem, c->title, c->hht != 0 ? "HHT" : "rho",
         c->hht != 0 ? c->hht : c->rho, c->source[0] ? "   " : "", c->source);
  print_numbers("h", result.h, c->levels, "  %10.3e");
  const double steps = (double)(result.steps > 0 ? result.steps : 1);
  printf("  order   %.2f iterations per step\n", (double)result.iterations / steps);
  if (!check(s, !result.failure[0], c->problem, c->title, result.failure)) return;
  for (int row = 0; row < VF_EXPECTS && c->expect[row].label; row++) report_row(s, c, &result, row);
}

/* ---- Pairs of runs ----------------------------------------------------------------------------------- */

static void run_pairs(session *s)
{
  vf_same pair;
  printf("\nRuns that must end alike: largest relative difference\n");
  for (int i = 0; vf_same_at(i, &pair); i++) {
    char text[GA_ERROR_TEXT + 128];
    if (!wanted(s, pair.problem) || (s->brief && !pair.in_short)) continue;
    const ex_problem *problem = ex_problem_find(pair.problem);
    if (!check(s, problem != NULL, pair.problem, pair.title, "there is no such problem")) continue;
    const double difference = vf_same_run(&pair, problem, text, sizeof text);
    if (!isnan(difference))
      snprintf(text, sizeof text, "the runs differ by %.2e, at most %.2g", difference, pair.tolerance);
    const int good = check(s, difference <= pair.tolerance, pair.problem, pair.title, text);
    printf("  %-18s %-48s %9.2e (%.0e)  %s\n", pair.problem, pair.title, difference, pair.tolerance,
           good ? "ok" : "FAIL");
  }
}

static int sink_wanted(void *user, const char *problem)
{
  return wanted(user, problem);
}

static int sink_check(void *user, int good, const char *problem, const char *title, const char *text)
{
  return check(user, good, problem, title, text);
}

static int parse(session *s, int argc, char **argv)
{
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--short") == 0) {
      s->brief = 1;
    } else if (strcmp(argv[i], "--title") == 0 && i + 1 < argc) {
      s->title = argv[++i];
    } else if (strcmp(argv[i], "--csv") == 0 && i + 1 < argc) {
      s->csv = fopen(argv[++i], "w");
      if (!s->csv) return fprintf(stderr, "verify: cannot write %s\n", argv[i]), 1;
      fprintf(s->csv, "problem,case,quantity,h,value\n");
    } else if (argv[i][0] != '-' &&
               (ex_problem_find(argv[i]) || mx_machine_find(argv[i]) || pp_figure_find(argv[i]) ||
                strcmp(argv[i], "conserve") == 0 || strcmp(argv[i], "models") == 0)) {
      argv[s->n_names++] = argv[i];
    } else {
      return fprintf(stderr,
                     "usage: verify [--short] [--title PART] [--csv FILE] [PROBLEM | MACHINE | FIGURE | conserve | models ...]\n"
                     "no such problem, machine or option: %s\n",
                     argv[i]),
             1;
    }
  }
  s->names = argv;
  return 0;
}

static int has_title(const session *s, const vf_case *c)
{
  return !s->title || strstr(c->title, s->title);
}

static int finish(session *s)
{
  for (int i = 0; i < s->n_kept; i++) vf_reference_destroy(&s->kept[i].ref);
  int broken = 0;
  if (s->csv) broken = ferror(s->csv) | fclose(s->csv);
  if (broken) fprintf(stderr, "verify: the CSV file could not be written completely\n");
  printf("\n%d passed, %d failed\n", s->passed, s->failed);
  return s->failed > 0 || broken;
}

int main(int argc, char **argv)
{
  session s = {0};
  if (parse(&s, argc, argv)) return 2;
  const ex_problem *problem;
  for (int i = 0; (problem = ex_problem_at(i)) != NULL; i++)
    if (wanted(&s, problem->name) && (!s.brief || has_case(&s, problem->name))) check_reference(&s, problem);
  const vf_case *c;
  for (int i = 0; (c = case_at(i)) != NULL; i++)
    if (wanted(&s, c->problem) && (!s.brief || c->in_short) && has_title(&s, c)) run_case(&s, c);
  const vf_sink sink = {&s, s.brief, sink_wanted, sink_check};
  if (!s.title || strstr("collocation", s.title)) vf_collocation_models(&sink);
  if (!s.title || strstr("collocation control", s.title)) vf_collocation_control(&sink);
  if (s.title) return finish(&s);
  run_pairs(&s);
  vf_control_run(&sink);
  vf_machines_run(&sink);
  vf_models_run(&sink);
  vf_papers_run(&sink);
  vf_conserve_run(&sink);
  return finish(&s);
}
