/* galpha linearize: the linear model between inputs and outputs, at the start or at a time of the run. */
#include "call.h"
#include "task.h"

#include "galpha/result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Names of an option, given several times or with commas between them. */
typedef struct name_list {
  int n;
  char *text;         /* all of them, each ended by a 0 */
  const char **names; /* [n] */
} name_list;

static int read_names(const app_arguments *a, const char *option, name_list *out)
{
  const char *const *value;
  size_t size = 1, commas = 1;
  *out = (name_list){0};
  for (int i = 0; (value = app_values(a, option, i)) != NULL; i++) {
    size += strlen(value[0]) + 1;
    commas++;
    for (const char *c = value[0]; *c; c++) commas += *c == ',';
  }
  out->text = malloc(size);
  out->names = calloc(commas, sizeof *out->names);
  if (!out->text || !out->names) return fputs("galpha: out of memory\n", stderr), APP_FAILED;
  char *to = out->text;
  for (int i = 0; (value = app_values(a, option, i)) != NULL; i++)
    for (const char *from = value[0];; from++) {
      const size_t length = strcspn(from, ",");
      if (length == 0) return app_misused(a, "--%s: \"%s\" has an empty name", option, value[0]);
      out->names[out->n++] = to;
      memcpy(to, from, length);
      to[length] = '\0';
      to += length + 1;
      from += length;
      if (!*from) break;
    }
  return APP_DONE;
}

static void free_names(name_list *l)
{
  free(l->text);
  free(l->names);
}

static void print_list(const char *what, int n, const char *const *names, const char *const *units)
{
  printf("%-8s %d\n", what, n);
  for (int i = 0; i < n; i++)
    printf("  %s%s%s%s\n", names[i], *units[i] ? " [" : "", units[i], *units[i] ? "]" : "");
}

/* Rate of change of the matrices relative to the fastest motion of the linear model. */
#define UNSTEADY 1e-3

static void warn_of_point(const ga_state_space *f)
{
  double largest = 0.0;
  for (int i = 0; i < f->n * f->n; i++) largest = fmax(largest, fabs(f->A[i]));
  if (f->unsteady > UNSTEADY * fmax(1.0, sqrt(largest)))
    fprintf(stderr,
            "warning: at t = %g s the machine is neither in equilibrium nor in a steady motion: its matrices "
            "change "
            "by %.3g %% per second, and the linear model holds for this instant only\n",
            f->t, 100.0 * f->unsteady);
}

static int write_files(app_task *s, const app_arguments *a, const ga_state_space *f)
{
  const char *csv = app_text(a, "csv"), *given = app_text(a, "out");
  char *beside = given || csv ? NULL : app_beside(a->operands[0], "_linear.h5");
  const char *const file[2] = {given ? given : beside, csv};
  int code = APP_DONE;
  if (!given && !csv && !beside) return fputs("galpha: out of memory\n", stderr), APP_FAILED;
  for (int k = 0; k < 2 && !code; k++) {
    if (!file[k]) continue;
    const int error = app_output_check(file[k]);
    if (error)
      code = app_output_refused(a, file[k], error);
    else if (ga_model_reads(s->model, file[k]))
      code = app_output_is_source(a, file[k]);
    else if (ga_state_space_write(s->ctx, f, k == 0 ? GA_LINEAR_HDF5 : GA_LINEAR_CSV, file[k]))
      app_task_explain(s, a, "the file cannot be written", ga_context_error(s->ctx)->status), code = APP_FAILED;
    else
      printf("%s: %s\n", file[k], k == 0 ? "matrices A, B, C, D and names" : "table [A B; C D]");
  }
  free(beside);
  return code;
}

static int linearise(app_task *s, const app_arguments *a, const name_list *in, const name_list *out)
{
  ga_machine_linearisation *lin = NULL;
  const ga_state_space *f = NULL;
  double at = s->settings.t_start;
  int code = app_number(a, "at", "s", s->settings.t_start, 1e12, &at);
  if (code) return code;
  ga_status status =
      ga_machine_linearisation_create(s->ctx, s->machine, in->n, in->names, out->n, out->names, &lin);
  if (status) return app_call_keep_error(s->ctx), app_misused(a, "%s", ga_context_error(s->ctx)->text);
  status = app_task_reach(s, at);
  if (!status) status = ga_machine_linearisation_compute(lin, ga_stepper_state(s->stepper), &f);
  if (status) {
    app_task_explain(s, a, "the linear model cannot be computed", status);
    code = APP_FAILED;
  } else {
    printf("linear model about the state at t = %g s\n", f->t);
    print_list("states", f->n, f->state, f->state_unit);
    print_list("inputs", f->n_u, f->input, f->input_unit);
    print_list("outputs", f->n_y, f->output, f->output_unit);
    warn_of_point(f);
    code = write_files(s, a, f);
  }
  ga_machine_linearisation_destroy(&lin);
  return code;
}

int app_linearize(const app_arguments *a)
{
  app_task s = {0};
  name_list in = {0}, out = {0};
  int code = read_names(a, "inputs", &in);
  if (!code) code = read_names(a, "outputs", &out);
  if (!code) {
    code = app_task_open(&s, a);
    if (!code) code = linearise(&s, a, &in, &out);
    app_task_close(&s);
  }
  free_names(&in);
  free_names(&out);
  return code;
}
