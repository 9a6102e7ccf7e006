/* orders: halves the step again and again, and shows at which order the errors fall. */
#define _GNU_SOURCE /* getopt_long */
#include "plot.h"
#include "run.h"
#include <getopt.h>
#include <math.h>

enum { MAX_HALVINGS = 20 };

static const char usage[] =
    "usage: orders NAME [options]\n"
    "Simulates the problem NAME with smaller and smaller steps; prints the errors at the end and their "
    "order.\n\n" EX_OPTIONS_HELP "  --levels N        how often the step is halved (default 5)\n"
    "  -o, --output FILE picture of the errors, .svg or .png, made by gnuplot\n";

typedef struct arguments {
  const ex_problem *problem; /* NULL: nothing to run, listed or helped */
  ex_options opts;
  int halvings;
  const char *output; /* NULL: no picture */
} arguments;

typedef struct row { /* one run */
  double h;
  long n;
  double error[EX_N_COMPONENTS]; /* 2-norms, NaN where there is none */
} row;

static int arguments_read(arguments *a, int argc, char **argv)
{
  static const struct option options[] = {EX_OPTIONS_LONG,
                                          {"levels", required_argument, NULL, 'n'},
                                          {"output", required_argument, NULL, 'o'},
                                          {NULL, 0, NULL, 0}};
  double halvings = 5.0;
  int option;

  *a = (arguments){.opts = ex_options_defaults()};
  while ((option = getopt_long(argc, argv, "o:", options, NULL)) != -1) {
    if (option == 'H') return fputs(usage, stdout), 0;
    if (option == 'l') return ex_problems_list(stdout), 0;
    if (option == 'o') {
      a->output = optarg;
      if (!ex_plot_knows(optarg)) {
        fprintf(stderr, "-o: \"%s\" ends neither in .svg nor in .png\n", optarg);
        return EX_EXIT_USAGE;
      }
    } else if (option == 'n' ? ex_number_take("--levels", optarg, 0.0, MAX_HALVINGS, &halvings)
                             : ex_options_take(&a->opts, option, optarg))
      return EX_EXIT_USAGE;
  }
  a->halvings = (int)halvings;
  a->problem = ex_problem_ask(argc - optind, argv + optind, &a->opts, usage);
  return a->problem ? 0 : EX_EXIT_USAGE;
}

/* ---- The runs and their table ---- */

static int measure(row *r, const arguments *a, double h)
{
  ex_options opts = a->opts;
  ex_run run;
  int known = 0;
  opts.h = h;
  if (ex_options_complete(&opts, a->problem)) return -1;

  ga_status status = ex_run_open(&run, a->problem, &opts);
  if (status == GA_OK) status = ex_run_finish(&run, NULL, NULL);
  if (status) {
    ex_run_explain(&run, status, stderr);
  } else if ((known = ex_run_measure(&run)) == 0) {
    fprintf(stderr, "no reference of %s is known at t = %g s\n", a->problem->name, opts.t_end);
  } else {
    *r = (row){.h = opts.h, .n = run.n};
    for (int c = 0; c < EX_N_COMPONENTS; c++) r->error[c] = ex_run_error_norm(&run, (ex_component)c);
  }
  ex_run_close(&run);
  return known > 0 ? 0 : -1;
}

static void print_header(const arguments *a, const row *first)
{
  ex_task_print(a->problem, &a->opts);
  printf(", errors at t = %g s\n\n", a->opts.t_end);
  printf("%10s %8s", "h [s]", "steps");
  for (int c = 0; c < EX_N_COMPONENTS; c++)
    if (!isnan(first->error[c])) printf("  %9s order", ex_component_name[c]);
  putchar('\n');
}

/* The order against the row before (NULL: there is none): log of the ratio of errors over that of steps. */
static void print_row(const row *r, const row *before)
{
  printf("%10.4g %8ld", r->h, r->n);
  for (int c = 0; c < EX_N_COMPONENTS; c++) {
    if (isnan(r->error[c])) continue;
    printf("  %9.3e", r->error[c]);
    if (before && before->error[c] > 0.0 && r->error[c] > 0.0)
      printf(" %5.2f", log(before->error[c] / r->error[c]) / log(before->h / r->h));
    else
      printf(" %5s", "-");
  }
  putchar('\n');
  fflush(stdout);
}

/* ---- The picture ---- */

static void plot_write(FILE *out, const arguments *a, const row *rows, int n)
{
  double top = 0.0; /* largest error at the largest step: the guide starts above it */
  fprintf(out, "$errors << EOD\n");
  for (int i = 0; i < n; i++) {
    fprintf(out, "%.17g", rows[i].h);
    for (int c = 0; c < EX_N_COMPONENTS; c++) {
      if (rows[i].error[c] > 0.0)
        fprintf(out, " %.17g", rows[i].error[c]);
      else
        fputs(" NaN", out); /* no component, or nothing a logarithm could show */
    }
    fputc('\n', out);
  }
  for (int c = 0; c < EX_N_COMPONENTS; c++) top = fmax(top, rows[0].error[c]);

  fprintf(out, "EOD\nset title ");
  ex_plot_quoted(out, a->problem->title);
  fprintf(out,
          " noenhanced\nset logscale xy\nset format xy '10^{%%T}'\nset grid\nset key outside\n"
          "set xlabel 'step h [s]'\nset ylabel 'error at t = %g s, 2-norm'\nplot [%.17g:%.17g]",
          a->opts.t_end, rows[n - 1].h / 1.5, rows[0].h * 1.5);
  for (int c = 0; c < EX_N_COMPONENTS; c++)
    if (!isnan(rows[0].error[c]))
      fprintf(out, " $errors using 1:%d with linespoints linewidth 2 title '%s',", c + 2,
              ex_component_name[c]);
  fprintf(out, " %.17g*x**2 with lines dashtype 2 linecolor rgb 'gray40' title 'slope 2'\n",
          2.0 * (top > 0.0 ? top : 1.0) / (rows[0].h * rows[0].h));
}

static int plot(const arguments *a, const row *rows, int n)
{
  FILE *out = ex_plot_open(a->output, 800, 600);
  if (!out) return EX_EXIT_FAILED;
  plot_write(out, a, rows, n);
  return ex_plot_close(out, a->output) == 0 ? 0 : EX_EXIT_FAILED;
}

static int converge(const arguments *a)
{
  row rows[MAX_HALVINGS + 1];
  int n = 0, result = 0;
  for (double h = a->opts.h; n <= a->halvings; h /= 2.0, n++) {
    if (measure(&rows[n], a, h)) {
      result = EX_EXIT_FAILED; /* what came before is still worth a picture */
      break;
    }
    if (n == 0) print_header(a, &rows[0]);
    print_row(&rows[n], n > 0 ? &rows[n - 1] : NULL);
  }
  if (a->output && n > 0) {
    const int plotted = plot(a, rows, n);
    if (!result) result = plotted;
  }
  return result;
}

int main(int argc, char **argv)
{
  arguments a;
  const int result = arguments_read(&a, argc, argv);
  return result || !a.problem ? result : converge(&a);
}
