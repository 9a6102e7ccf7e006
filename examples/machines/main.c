/* machine: runs one of the example machines and shows what came out. */
#define _GNU_SOURCE /* getopt_long */
#include "run.h"
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_FAILED = 1, EXIT_USAGE = 2 };

static const char usage[] =
    "usage: machine NAME [options]\n"
    "Simulates the machine NAME and compares its signals with references.\n\n"
    "  --h H             step [s] (default: the machine's)\n"
    "  --rtol R          error control with this tolerance instead of equal steps\n"
    "  --rho R           spectral radius at infinity, 0 to 1 (default: the machine's)\n"
    "  --t-end T         end time [s] (default: the machine's)\n"
    "  --method M        stabilized (default) or another of the library's: index3, soi2, ...\n"
    "  --form F          of rigid bodies: space (default), body or se3\n"
    "  --csv FILE        write all signals at every step to FILE\n"
    "  --list            list the machines\n"
    "  --help            this text\n";

typedef struct choice {
  const char *name;
  int value;
} choice;
static const choice FORMS[] = {
    {"space", GA_FORM_SPACE}, {"body", GA_FORM_BODY}, {"se3", GA_FORM_SE3}, {NULL, 0}};

typedef struct arguments {
  const mx_machine *machine;  /* NULL: nothing to run */
  double h, rho, t_end, rtol; /* NaN: the machine's */
  ga_method method;
  int form;
  const char *csv;
} arguments;

/* ---- Options ---- */

static int number_take(const char *option, const char *text, double low, double high, double *value)
{
  char *end = NULL;
  *value = strtod(text, &end);
  if (end != text && *end == '\0' && *value >= low && *value <= high) return 0;
  fprintf(stderr, "--%s: \"%s\" is not a number between %g and %g\n", option, text, low, high);
  return EXIT_USAGE;
}

static int choice_take(const char *option, const char *text, const choice *list, int *value)
{
  for (int i = 0; list[i].name; i++)
    if (strcmp(text, list[i].name) == 0) return *value = list[i].value, 0;
  fprintf(stderr, "--%s: \"%s\" is none of", option, text);
  for (int i = 0; list[i].name; i++) fprintf(stderr, "%s %s", i ? "," : "", list[i].name);
  fputc('\n', stderr);
  return EXIT_USAGE;
}

static int method_take(const char *text, ga_method *method)
{
  ga_method_info m;
  if (ga_method_find(text, method)) return 0;
  fprintf(stderr, "--method: \"%s\" is none of", text);
  for (int i = 0; ga_method_at(i, &m); i++) fprintf(stderr, "%s %s", i ? "," : "", m.name);
  fputc('\n', stderr);
  return EXIT_USAGE;
}

static int option_take(arguments *a, int option, const char *text)
{
  switch (option) {
  case 'h':
    return number_take("h", text, 1e-12, 1e6, &a->h);
  case 'e':
    return number_take("rtol", text, 1e-12, 1, &a->rtol);
  case 'r':
    return number_take("rho", text, 0, 1, &a->rho);
  case 't':
    return number_take("t-end", text, 1e-12, 1e9, &a->t_end);
  case 'm':
    return method_take(text, &a->method);
  case 'f':
    return choice_take("form", text, FORMS, &a->form);
  case 'c':
    return a->csv = text, 0;
  default:
    return EXIT_USAGE; /* getopt_long has said why */
  }
}

static int arguments_read(arguments *a, int argc, char **argv)
{
  static const struct option options[] = {
      {"h", required_argument, NULL, 'h'},      {"rtol", required_argument, NULL, 'e'},
      {"rho", required_argument, NULL, 'r'},    {"t-end", required_argument, NULL, 't'},
      {"method", required_argument, NULL, 'm'}, {"form", required_argument, NULL, 'f'},
      {"csv", required_argument, NULL, 'c'},    {"list", no_argument, NULL, 'l'},
      {"help", no_argument, NULL, 'H'},         {NULL, 0, NULL, 0}};
  const mx_machine *m;
  int option;
  *a = (arguments){
      .h = NAN, .rho = NAN, .t_end = NAN, .rtol = NAN, .method = GA_STABILIZED, .form = GA_FORM_SPACE};
  while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
    if (option == 'H') return fputs(usage, stdout), 0;
    for (int i = 0; option == 'l' && (m = mx_machine_at(i)) != NULL; i++)
      printf("  %-24s %s\n", m->name, m->title);
    if (option == 'l') return 0;
    if (option_take(a, option, optarg)) return EXIT_USAGE;
  }
  if (argc - optind != 1) return fprintf(stderr, "one machine is needed\n%s", usage), EXIT_USAGE;
  a->machine = mx_machine_find(argv[optind]);
  if (!a->machine) fprintf(stderr, "there is no machine \"%s\" (--list shows all)\n", argv[optind]);
  return a->machine ? 0 : EXIT_USAGE;
}

static mx_options options_of(const arguments *a)
{
  mx_options o = mx_options_of(a->machine);
  if (!isnan(a->t_end)) o.t_end = a->t_end;
  if (!isnan(a->rho)) o.rho = a->rho;
  if (!isnan(a->h)) o.rtol = 0, o.h = a->h;
  if (!isnan(a->rtol)) o.rtol = a->rtol;
  if (o.rtol == 0) o.h = o.t_end / ceil(o.t_end / o.h * (1 - 1e-12)); /* a step that divides the time */
  o.method = a->method;
  o.form = (ga_form)a->form;
  return o;
}

/* ---- All signals ---- */

typedef struct csv {
  FILE *file;
  double *value;
} csv;

static int csv_line(void *user, mx_run *run, const ga_state *s)
{
  csv *out = user;
  const ga_machine *m = run->b.m;
  const int n = ga_machine_n_signals(m);
  if (!out->value) {
    out->value = calloc((size_t)n + 1, sizeof(double));
    fputs("t", out->file);
    for (int i = 0; i < n; i++) fprintf(out->file, ",%s", ga_machine_signal_name(m, i));
    fputc('\n', out->file);
  }
  if (!out->value || ga_machine_signals(m, run->meter, s, n, NULL, out->value)) return 1;
  fprintf(out->file, "%.17g", s->t);
  for (int i = 0; i < n; i++) fprintf(out->file, ",%.17g", out->value[i]);
  fputc('\n', out->file);
  return ferror(out->file);
}

static int csv_write(const arguments *a, const mx_options *o)
{
  char text[1024] = "";
  mx_run run;
  csv out = {fopen(a->csv, "w"), NULL};
  if (!out.file) return fprintf(stderr, "cannot write %s: %s\n", a->csv, strerror(errno)), EXIT_FAILED;
  ga_status status = mx_run_open(&run, a->machine, o, NULL);
  if (!status) status = mx_run_finish(&run, csv_line, &out);
  if (status) mx_run_explain(&run, status, text, sizeof text);
  mx_run_close(&run);
  free(out.value);
  if (fclose(out.file) || status) fprintf(stderr, "%s: %s\n", a->csv, text);
  return status ? EXIT_FAILED : 0;
}

/* ---- What is printed ---- */

static void print_result(const mx_machine *m, const mx_options *o, const mx_result *r)
{
  printf("%s\n", r->mobility);
  if (r->n > 0)
    printf("  %-44s %18s  %10s  %8s\n", "signal", "last value", m->rtol > 0 ? "rms error" : "error", "at t");
  for (int k = 0; k < r->n; k++)
    printf("  %-44.44s %18.12g  %10.2e  %8.4g\n", m->reference[k].signal, r->last[k], r->error[k], r->at[k]);
  printf("\nenergy balance: off by at most %.2e J\n", r->energy);
  printf("%ld steps, %ld iterations (%.2f per step), %ld Jacobians, %ld factorisations, rcond %.1e\n",
         r->simulate.steps, r->stats.iterations,
         r->simulate.steps ? (double)r->stats.iterations / (double)r->simulate.steps : 0.0,
         r->stats.jacobians, r->stats.factorisations, r->stats.rcond);
  if (o->rtol > 0)
    printf("%ld rejected by the error test, %ld by Newton, steps from %.2e to %.2e s\n",
           r->simulate.rejected_error, r->simulate.rejected_newton, r->simulate.h_smallest,
           r->simulate.h_largest);
}

int main(int argc, char **argv)
{
  arguments a;
  mx_result r;
  int result = arguments_read(&a, argc, argv);
  if (result || !a.machine) return result;
  const mx_options o = options_of(&a);
  printf("%s: %s\n", a.machine->name, a.machine->title);
  if (o.rtol > 0)
    printf("rho_inf %g, relative tolerance %g to t = %g s\n\n", o.rho, o.rtol, o.t_end);
  else
    printf("rho_inf %g, %.0f steps of %g s to t = %g s\n\n", o.rho, round(o.t_end / o.h), o.h, o.t_end);
  if (mx_compare(a.machine, &o, &r))
    return fprintf(stderr, "%s: %s\n", a.machine->name, r.failure), EXIT_FAILED;
  print_result(a.machine, &o, &r);
  return a.csv ? csv_write(&a, &o) : 0;
}
