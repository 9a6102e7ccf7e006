/* galpha converge: halves the step, or the tolerance, and shows the errors and their order. */
#include "gnuplot.h"
#include "failure.h"
#include "task.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LEVELS = 16, REFERENCE_FINER = 4 };

/* The parts of a solution. */
typedef enum component { Q, V, VDOT, LAMBDA, PSI, X, Y, N_COMPONENTS } component;
static const char *const component_name[N_COMPONENTS] = {"q", "v", "vdot", "lambda", "psi", "x", "y"};

typedef struct solution { /* at the end of a run */
  double *part[N_COMPONENTS];
  double size; /* step or tolerance */
  double t;    /* [s] of its end */
  int event;   /* that has ended the run; −1: none */
  double steps;
  double error[N_COMPONENTS]; /* NaN where there is no such part */
} solution;

typedef struct study {
  app_task s;
  const app_arguments *a;
  int by_step; /* 1: the step is halved, 0: the tolerance */
  int n;       /* runs in the table */
  int length[N_COMPONENTS];
  solution run[MOST_LEVELS + 1]; /* the last one is the reference */
} study;

/* ---- One run ---- */

static void measure_lengths(study *t)
{
  static const ga_equation_block block[N_COMPONENTS] = {GA_BLOCK_V,   GA_BLOCK_V, GA_BLOCK_V, GA_BLOCK_LAMBDA,
                                                        GA_BLOCK_PSI, GA_BLOCK_X, GA_BLOCK_Y};
  const ga_system *sys = ga_machine_system(t->s.machine);
  for (int c = 0; c < N_COMPONENTS; c++) t->length[c] = ga_system_size(sys, block[c]);
  t->length[Q] = ga_group_nq(ga_system_group(sys));
}

static ga_status copy_state(study *t, solution *r, const ga_state *s)
{
  const double *const from[N_COMPONENTS] = {s->q, s->v, s->vdot, s->lambda, s->psi, s->x, s->y};
  for (int c = 0; c < N_COMPONENTS; c++) {
    const size_t n = (size_t)t->length[c];
    if (!(r->part[c] = calloc(n + 1, sizeof(double)))) return GA_ERR_MEMORY;
    memcpy(r->part[c], from[c], n * sizeof(double));
  }
  return GA_OK;
}

static ga_status run_once(study *t, solution *r, double size)
{
  const ga_simulate_opts opts = ga_simulate_defaults();
  ga_run_settings settings = t->s.settings;
  settings.output = 0.0; /* nothing is recorded */
  r->size = *(t->by_step ? &settings.step : &settings.tolerance) = size;
  ga_status status = app_task_prepare(&t->s, &settings, &opts);
  if (!status) status = app_task_start(&t->s, 0);
  if (!status) status = ga_simulator_run(t->s.simulator);
  r->event = ga_event_watch_stopped_by(t->s.events);
  if (status == GA_STOPPED && r->event >= 0) status = GA_OK; /* the states at the event are compared */
  if (status) return status;
  r->t = ga_stepper_state(t->s.stepper)->t;
  r->steps = (double)ga_simulator_stats(t->s.simulator)->steps;
  return copy_state(t, r, ga_stepper_state(t->s.stepper));
}

/* ---- Errors ---- */

static double norm_of_difference(const double *a, const double *b, int n)
{
  double sum = 0.0;
  for (int i = 0; i < n; i++) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sqrt(sum);
}

/* The difference of positions is the element of the Lie algebra that moves one to the other. */
static double error_of_q(const study *t, const double *q, const double *exact)
{
  const ga_group *group = ga_system_group(ga_machine_system(t->s.machine));
  const int nv = t->length[V];
  double *d = calloc(2 * (size_t)nv + 1, sizeof *d);
  if (!d) return NAN;
  ga_group_difference(group, d, exact, q);
  const double norm = norm_of_difference(d, d + nv, nv);
  free(d);
  return norm;
}

static void measure(const study *t, solution *r)
{
  const solution *exact = &t->run[t->n];
  for (int c = 0; c < N_COMPONENTS; c++)
    r->error[c] = t->length[c] == 0 ? NAN
                  : c == Q          ? error_of_q(t, r->part[Q], exact->part[Q])
                                    : norm_of_difference(r->part[c], exact->part[c], t->length[c]);
}

/* ---- The table ---- */

static void print_header(const study *t)
{
  const ga_run_settings *o = &t->s.settings;
  const char *title = ga_model_title(t->s.model);
  const solution *end = &t->run[t->n];
  char scheme[64], event[160] = "";
  app_scheme_text(o, scheme, sizeof scheme);
  if (end->event >= 0)
    snprintf(event, sizeof event, ", where the event '%s' ends each run",
             ga_machine_event_name(t->s.machine, end->event));
  printf("%s%s%s\n%s, %s; errors at t = %g s%s, relative to a run with %s %.3g\n\n", t->a->operands[0],
         *title ? ": " : "", title, app_choice(o, "method"), scheme, end->t, event,
         t->by_step ? "steps of" : "the tolerance", t->run[t->n].size);
  printf("%10s %8s", t->by_step ? "h [s]" : "tolerance", "steps");
  for (int c = 0; c < N_COMPONENTS; c++)
    if (t->length[c] > 0) printf("  %9s order", component_name[c]);
  putchar('\n');
}

static void print_row(const study *t, const solution *r, const solution *before)
{
  printf("%10.4g %8.0f", r->size, r->steps);
  for (int c = 0; c < N_COMPONENTS; c++) {
    if (t->length[c] == 0) continue;
    printf("  %9.3e", r->error[c]);
    if (before && before->error[c] > 0.0 && r->error[c] > 0.0)
      printf(" %5.2f", log(before->error[c] / r->error[c]) / log(before->size / r->size));
    else
      printf(" %5s", "-");
  }
  putchar('\n');
}

/* ---- The picture ---- */

/* Ticks at the runs, or at every second one: powers of ten would be too few. */
static void write_ticks(const study *t, FILE *to)
{
  enum { MOST_TICKS = 6 };
  const int every = (t->n + MOST_TICKS - 1) / MOST_TICKS;
  for (int i = 0; i < t->n; i += every) fprintf(to, "%s%.17g", i ? ", " : "set xtics (", t->run[i].size);
  fputs(")\n", to);
}

static void write_data(const study *t, FILE *to)
{
  fputs("$errors << EOD\n", to);
  for (int i = 0; i < t->n; i++) {
    fprintf(to, "%.17g", t->run[i].size);
    for (int c = 0; c < N_COMPONENTS; c++) {
      if (t->run[i].error[c] > 0.0)
        fprintf(to, " %.17g", t->run[i].error[c]);
      else
        fputs(" NaN", to); /* no such part, or zero, which has no logarithm */
    }
    fputc('\n', to);
  }
  fputs("EOD\n", to);
}

static int draw(const study *t, const char *file)
{
  app_gnuplot g;
  const double slope = t->by_step ? 2.0 : 1.0, first = t->run[0].size, last = t->run[t->n - 1].size;
  double top = 0.0; /* the guide starts above all errors */
  const char *title = ga_model_title(t->s.model);
  const int code = app_gnuplot_open(&g, t->a, file, 800, 600);
  if (code) return code;
  for (int c = 0; c < N_COMPONENTS; c++) top = fmax(top, t->run[0].error[c]);
  write_data(t, g.to);
  write_ticks(t, g.to);
  fputs("set title ", g.to);
  app_gnuplot_quoted(g.to, *title ? title : t->a->operands[0]);
  fprintf(g.to,
          " noenhanced\nset logscale xy\nset format y '10^{%%T}'\nset format x '%%.3g'\nset grid\nset key "
          "outside\n"
          "set xlabel '%s'\nset ylabel 'error at t = %g s, 2-norm'\nplot [%.17g:%.17g]",
          t->by_step ? "step h [s]" : "tolerance", t->s.settings.t_end, last / 1.5, first * 1.5);
  for (int c = 0; c < N_COMPONENTS; c++)
    if (t->length[c] > 0)
      fprintf(g.to, " $errors using 1:%d with linespoints linewidth 2 title '%s',", c + 2, component_name[c]);
  fprintf(g.to, " %.17g*x**%g with lines dashtype 2 linecolor rgb 'gray40' title 'slope %g'\n",
          2.0 * (top > 0.0 ? top : 1.0) / pow(first, slope), slope, slope);
  return app_gnuplot_close(&g, t->a);
}

/* ---- Warnings ---- */

/* 1: all runs, the reference too, made as many steps. */
static int same_steps(const study *t)
{
  for (int i = 0; i < t->n; i++)
    if (t->run[i].steps != t->run[t->n].steps) return 0;
  return 1;
}

/* 1: the errors of positions or velocities are above rounding and do not decrease to half from the first run
 * to the last. */
static int does_not_converge(const study *t)
{
  for (int c = Q; c <= V; c++) {
    double size = 0.0;
    for (int i = 0; i < t->length[c]; i++) size = fmax(size, fabs(t->run[t->n].part[c][i]));
    const double first = t->run[0].error[c], last = t->run[t->n - 1].error[c];
    if (last > 0.5 * first && last > 1e-9 * size) return 1;
  }
  return 0;
}

static void print_warnings(const study *t)
{
  if (!t->by_step && same_steps(t))
    fprintf(stderr,
            "warning: all runs made the same %.0f steps, so their differences say nothing about the error: "
            "what all "
            "of them missed does not show; try --step %.2g\n",
            t->run[0].steps, (t->s.settings.t_end - t->s.settings.t_start) / (t->run[0].steps + 1.0));
  else if (does_not_converge(t))
    fprintf(stderr,
            "warning: the errors do not decrease with %s: something jumps with the motion, or acts for less "
            "than a "
            "step; results are as uncertain as these errors\n",
            t->by_step ? "the step" : "the tolerance");
}

/* ---- The command ---- */

/* The first step divides the time, so that all are equal. */
static double first_size(const study *t)
{
  const ga_run_settings *o = &t->s.settings;
  const double span = o->t_end - o->t_start;
  return t->by_step ? span / fmax(ceil(span / o->step * (1.0 - 1e-12)), 1.0) : o->tolerance;
}

static int run_all(study *t)
{
  double size = first_size(t);
  for (int i = 0; i <= t->n; i++, size *= 0.5) {
    if (i == t->n) size = 2.0 * size / REFERENCE_FINER;
    const ga_status status = run_once(t, &t->run[i], size);
    if (!status) continue;
    char what[64];
    snprintf(what, sizeof what, "with a %s of %.3g", t->by_step ? "step" : "tolerance", size);
    app_task_explain(&t->s, t->a, what, status);
    app_failure_equations(&t->s);
    return APP_FAILED;
  }
  for (int i = 0; i < t->n; i++) {
    measure(t, &t->run[i]);
    for (int c = 0; c < N_COMPONENTS; c++) {
      if (t->length[c] == 0 || isfinite(t->run[i].error[c])) continue;
      fprintf(stderr,
              "galpha converge: the error of %s is %g: the model's numbers are too large or too small to "
              "compute with; "
              "check their units\n",
              component_name[c], t->run[i].error[c]);
      return APP_FAILED;
    }
  }
  return APP_DONE;
}

/* Without -o a picture that cannot be drawn is no failure. */
static int draw_picture(const study *t, const char *file)
{
  if (file) return draw(t, file);
  char *beside = app_beside(t->a->operands[0], "_orders.svg");
  if (!beside) return fputs("galpha: out of memory\n", stderr), APP_FAILED;
  draw(t, beside);
  free(beside);
  return APP_DONE;
}

int app_converge(const app_arguments *a)
{
  study t = {.a = a};
  const char *file = app_text(a, "out");
  long levels = 5;
  int code = app_integer(a, "levels", 2, MOST_LEVELS, &levels);
  if (code) return code;
  if (file && !app_gnuplot_knows(file))
    return app_misused(a, "\"%s\" ends neither in .svg nor in .png nor in .pdf", file);
  t.n = (int)levels;
  code = app_task_open(&t.s, a);
  if (!code) {
    t.by_step = t.s.settings.step > 0.0;
    measure_lengths(&t);
    code = run_all(&t);
  }
  if (!code) {
    print_header(&t);
    for (int i = 0; i < t.n; i++) print_row(&t, &t.run[i], i > 0 ? &t.run[i - 1] : NULL);
    fflush(stdout);
    print_warnings(&t);
    code = draw_picture(&t, file);
  }
  for (int i = 0; i <= t.n; i++)
    for (int c = 0; c < N_COMPONENTS; c++) free(t.run[i].part[c]);
  app_task_close(&t.s);
  return code;
}
