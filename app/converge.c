/* galpha converge: halves the step, or the tolerance, and shows the errors and their order. */
#include "columns.h"
#include "failure.h"
#include "orders.h"
#include "task.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
  MOST_LEVELS = 16,
  REFERENCE_FINER = 4,
  MOST_QUANTITIES = 12,
  MOST_SIGNALS = 24, /* of a quantity */
  MOST_VARIANTS = 12,
  LABEL = 96
};
#define MOST_NUMBERS 5e7 /* of the reference that are kept */
#define SAME_TIME 1e-6   /* of a step: times that are the same */

/* What errors are measured of: a part of the state, or signals. */
typedef enum component { Q, V, VDOT, LAMBDA, PSI, X, Y, N_COMPONENTS } component;
static const char *const component_name[N_COMPONENTS] = {"q", "v", "vdot", "lambda", "psi", "x", "y"};
static const char *const component_symbol[N_COMPONENTS] = {"q", "v", "v\u0307", "λ",
                                                           "ψ", "x", "y"}; /* in pictures */

typedef struct quantity {
  char label[LABEL];
  const char *symbol; /* in pictures */
  int of_signals;
  component part;
  int signal[MOST_SIGNALS];
  int at, n; /* its numbers in a sample */
} quantity;

typedef struct samples { /* states of the reference, numbers of all quantities */
  long n, room;
  double *t, *z; /* [n], [n × width] */
} samples;

typedef struct level { /* one run */
  double size;         /* step or tolerance */
  double steps;
  double error[MOST_QUANTITIES];
} level;

typedef struct study { /* of one method and form */
  app_task s;
  const app_arguments *a;
  char label[LABEL]; /* "" if there is only one */
  int by_step;       /* 1: the step is halved, 0: the tolerance */
  int n;             /* runs in the table */
  int maximum, relative;
  const char *file; /* of the reference; NULL: a run */
  int n_quantities, width;
  quantity quantities[MOST_QUANTITIES];
  samples ref;
  double *now; /* [width] */
  double t_end;
  int event; /* that has ended the last run; −1: none */
  level level[MOST_LEVELS], reference;
  double every;     /* [s] distance of the reference's samples; 0: the end alone */
  level *measured;  /* the run being measured; NULL: the reference */
  long compared;    /* times at which the last run was compared */
  ga_status status; /* of the observer */
} study;

/* ---- Quantities ---- */

static int add_parts(study *t)
{
  static const ga_equation_block block[N_COMPONENTS] = {GA_BLOCK_V,   GA_BLOCK_V, GA_BLOCK_V, GA_BLOCK_LAMBDA,
                                                        GA_BLOCK_PSI, GA_BLOCK_X, GA_BLOCK_Y};
  const ga_system *sys = ga_machine_system(t->s.machine);
  for (int c = 0; c < N_COMPONENTS; c++) {
    const int n = c == Q ? ga_group_nq(ga_system_group(sys)) : ga_system_size(sys, block[c]);
    quantity *q = &t->quantities[t->n_quantities];
    if (n == 0) continue;
    *q = (quantity){.part = (component)c, .at = t->width, .n = n};
    snprintf(q->label, sizeof q->label, "%s", component_name[c]);
    q->symbol = component_symbol[c];
    t->width += n;
    t->n_quantities++;
  }
  return APP_DONE;
}

static const char *signal_at(const void *machine, int i)
{
  return ga_machine_signal_name(machine, i);
}

static int add_signal(study *t, quantity *q, const char *name)
{
  const int i = ga_machine_find_signal(t->s.machine, name);
  if (i < 0) {
    const char *nearest = app_nearest(name, ga_machine_n_signals(t->s.machine), signal_at, t->s.machine);
    return app_misused(t->a, "--signals: the model has no signal \"%s\"%s%s", name,
                       nearest ? "; the nearest is " : "", nearest ? nearest : "");
  }
  if (q->n == MOST_SIGNALS) return app_misused(t->a, "--signals: more than %d in one list", MOST_SIGNALS);
  q->signal[q->n++] = i;
  return APP_DONE;
}

/* "axle.fx,axle.fy" */
static int add_signals(study *t, const char *names)
{
  quantity *q = &t->quantities[t->n_quantities];
  int code = APP_DONE;
  if (t->n_quantities == MOST_QUANTITIES)
    return app_misused(t->a, "--signals: at most %d times", MOST_QUANTITIES);
  *q = (quantity){.of_signals = 1, .at = t->width};
  snprintf(q->label, sizeof q->label, "%s", names);
  while (!code) {
    const size_t n = strcspn(names, ",");
    char *name = app_trimmed(names, n);
    if (!name) return fputs("galpha: out of memory\n", stderr), APP_FAILED;
    code = add_signal(t, q, name);
    free(name);
    if (!names[n]) break;
    names += n + 1;
  }
  t->width += q->n;
  t->n_quantities++;
  return code;
}

static int find_quantities(study *t)
{
  const char *const *value;
  int code = APP_DONE, i = 0;
  while (!code && (value = app_values(t->a, "signals", i)) != NULL) code = add_signals(t, value[0]), i++;
  if (!code && i == 0) code = add_parts(t);
  t->now = calloc((size_t)t->width + 1, sizeof *t->now);
  return code ? code : t->now ? APP_DONE : (fputs("galpha: out of memory\n", stderr), APP_FAILED);
}

static ga_status sample(const study *t, const ga_state *s, double *out)
{
  const double *const from[N_COMPONENTS] = {s->q, s->v, s->vdot, s->lambda, s->psi, s->x, s->y};
  for (int i = 0; i < t->n_quantities; i++) {
    const quantity *q = &t->quantities[i];
    if (!q->of_signals) {
      memcpy(out + q->at, from[q->part], (size_t)q->n * sizeof *out);
      continue;
    }
    const ga_status status = ga_machine_signals(t->s.machine, NULL, s, q->n, q->signal, out + q->at);
    if (status) return status;
  }
  return GA_OK;
}

/* ---- Errors ---- */

static double norm_of_difference(const double *a, const double *b, int n)
{
  double sum = 0.0;
  for (int i = 0; i < n; i++) sum += (a[i] - (b ? b[i] : 0.0)) * (a[i] - (b ? b[i] : 0.0));
  return sqrt(sum);
}

/* The difference of positions is the element of the Lie algebra that moves one to the other. */
static double error_of_q(const study *t, const double *q, const double *exact)
{
  const ga_group *group = ga_system_group(ga_machine_system(t->s.machine));
  const int nv = ga_group_nv(group);
  double *d = calloc((size_t)nv + 1, sizeof *d);
  if (!d) return NAN;
  ga_group_difference(group, d, exact, q);
  const double norm = norm_of_difference(d, NULL, nv);
  free(d);
  return norm;
}

static void compare(study *t, const double *exact)
{
  for (int i = 0; i < t->n_quantities; i++) {
    const quantity *q = &t->quantities[i];
    double e = !q->of_signals && q->part == Q ? error_of_q(t, t->now + q->at, exact + q->at)
                                              : norm_of_difference(t->now + q->at, exact + q->at, q->n);
    if (t->relative) e /= norm_of_difference(exact + q->at, NULL, q->n);
    double *kept = &t->measured->error[i];
    if (!(e <= *kept)) *kept = e; /* also NaN, which stays */
  }
  t->compared++;
}

/* The reference's sample at a time; NULL: it has none. */
static const double *find_sample(const study *t, double time)
{
  long low = 0, high = t->ref.n - 1;
  const double close = SAME_TIME * (t->by_step ? t->level[t->n - 1].size : t->t_end * 1e-3);
  while (low < high) {
    const long middle = (low + high) / 2;
    if (t->ref.t[middle] < time - close)
      low = middle + 1;
    else
      high = middle;
  }
  return t->ref.n > 0 && fabs(t->ref.t[low] - time) <= close ? t->ref.z + low * t->width : NULL;
}

static ga_status keep_sample(study *t, double time)
{
  samples *r = &t->ref;
  if (r->n == r->room) {
    const long room = r->room ? 2 * r->room : 64;
    double *more_t = realloc(r->t, (size_t)room * sizeof *more_t);
    if (more_t) r->t = more_t;
    double *more_z = realloc(r->z, (size_t)room * (size_t)t->width * sizeof *more_z);
    if (more_z) r->z = more_z;
    if (!more_t || !more_z) return GA_ERR_MEMORY;
    r->room = room;
  }
  r->t[r->n] = time;
  memcpy(r->z + r->n++ * t->width, t->now, (size_t)t->width * sizeof *t->now);
  return GA_OK;
}

/* After every step with --max: the reference is kept, others are compared with it. */
static int observe(void *user, const ga_stepper *st)
{
  study *t = user;
  const ga_state *s = ga_stepper_state(st);
  const double steps = (s->t - t->s.settings.t_start) / t->every;
  const double *exact = t->measured ? find_sample(t, s->t) : NULL;
  if (t->measured ? !exact : fabs(steps - nearbyint(steps)) > SAME_TIME) return 0;
  t->status = sample(t, s, t->now);
  if (!t->status && t->measured)
    compare(t, exact);
  else if (!t->status)
    t->status = keep_sample(t, s->t);
  return t->status != GA_OK;
}

/* ---- Runs ---- */

/* Compares or keeps the state at the end of a run, which an event may have ended. */
static ga_status finish(study *t, level *l)
{
  const ga_state *s = ga_stepper_state(t->s.stepper);
  const double *exact = t->ref.z + (t->ref.n - 1) * t->width;
  l->steps = (double)ga_simulator_stats(t->s.simulator)->steps;
  if (t->maximum) return GA_OK;
  const ga_status status = sample(t, s, t->now);
  if (!status && t->measured && t->file) exact = find_sample(t, s->t);
  if (!status && t->measured && exact) compare(t, exact);
  return status || t->measured ? status : keep_sample(t, s->t);
}

static ga_status run_once(study *t, level *l, double size)
{
  ga_simulate_opts opts = ga_simulate_defaults();
  ga_run_settings settings = t->s.settings;
  settings.output = 0.0; /* nothing is recorded */
  t->measured = l == &t->reference ? NULL : l;
  t->compared = 0;
  t->status = GA_OK;
  if (t->maximum) opts.observer = observe, opts.user = t;
  l->size = *(t->by_step ? &settings.step : &settings.tolerance) = size;
  ga_status status = app_task_prepare(&t->s, &settings, &opts);
  if (!status) status = app_task_start(&t->s, 0);
  if (!status) status = ga_simulator_run(t->s.simulator);
  t->event = ga_event_watch_stopped_by(t->s.events);
  if (t->status) return t->status;
  if (status == GA_STOPPED && t->event >= 0) status = GA_OK; /* the states at the event are compared */
  if (status) return status;
  t->t_end = ga_stepper_state(t->s.stepper)->t;
  return finish(t, l);
}

/* The first step divides the time, so that all are equal. */
static double first_size(const study *t)
{
  const ga_run_settings *o = &t->s.settings;
  const double span = o->t_end - o->t_start;
  return t->by_step ? span / fmax(ceil(span / o->step * (1.0 - 1e-12)), 1.0) : o->tolerance;
}

static int explain(study *t, double size, ga_status status)
{
  char what[64];
  snprintf(what, sizeof what, "with a %s of %.3g", t->by_step ? "step" : "tolerance", size);
  app_task_explain(&t->s, t->a, what, status);
  app_failure_equations(&t->s);
  return APP_FAILED;
}

/* Signals of a file at all its times. */
static int read_reference(study *t)
{
  for (int i = 0; i < t->n_quantities; i++)
    for (int k = 0; k < t->quantities[i].n; k++) {
      const int signal = t->quantities[i].signal[k];
      const app_columns from = {t->a,
                                t->s.ctx,
                                "reference",
                                t->file,
                                {ga_machine_signal_unit(t->s.machine, signal), NULL},
                                "this signal's"};
      app_column c = {0};
      int code = app_column_read(&from, ga_machine_signal_name(t->s.machine, signal), &c);
      if (!code && t->ref.n == 0) {
        t->ref = (samples){.n = c.n, .room = c.n};
        t->ref.t = calloc((size_t)c.n + 1, sizeof(double));
        t->ref.z = calloc((size_t)c.n * (size_t)t->width + 1, sizeof(double));
      }
      if (!code && (!t->ref.t || !t->ref.z)) code = (fputs("galpha: out of memory\n", stderr), APP_FAILED);
      for (long r = 0; !code && r < c.n && r < t->ref.n; r++) {
        t->ref.t[r] = c.t[r];
        t->ref.z[r * t->width + t->quantities[i].at + k] = c.y[r];
      }
      app_column_free(&c);
      if (code) return code;
    }
  return t->ref.n > 0 ? APP_DONE : app_misused(t->a, "--reference: %s has no records", t->file);
}

static int make_reference(study *t)
{
  const double size = t->level[t->n - 1].size / REFERENCE_FINER;
  if (t->file) return read_reference(t);
  t->every = t->maximum ? t->level[t->n - 1].size : 0.0;
  const double span = t->s.settings.t_end - t->s.settings.t_start;
  if (t->maximum && span / t->every * t->width > MOST_NUMBERS)
    return app_misused(
        t->a,
        "--max would keep %.2g numbers of the reference; choose --signals, fewer --levels or a larger --step",
        span / t->every * t->width);
  const ga_status status = run_once(t, &t->reference, size);
  return status ? explain(t, size, status) : APP_DONE;
}

/* NaN and infinite errors, and times that the reference does not have. */
static int check_errors(const study *t, const level *l)
{
  if (t->compared == 0)
    return app_misused(t->a,
                       "--reference: %s has no record at %s; records at multiples of the steps are needed",
                       t->file, t->maximum ? "the time of any step" : "the end of the run");
  for (int i = 0; i < t->n_quantities; i++) {
    if (isfinite(l->error[i])) continue;
    fprintf(stderr,
            t->relative ? "galpha converge: the relative error of %s is undefined: the reference is 0 at a "
                          "time that is compared; leave out --relative\n"
                        : "galpha converge: the error of %s is infinite or not a number: the model's numbers "
                          "are too large or too small to compute with; check their units\n",
            t->quantities[i].label);
    return APP_FAILED;
  }
  return APP_DONE;
}

static int run_all(study *t)
{
  double size = first_size(t);
  for (int i = 0; i < t->n; i++, size *= 0.5) t->level[i].size = size;
  int code = make_reference(t);
  for (int i = 0; i < t->n && !code; i++) {
    level *l = &t->level[i];
    const ga_status status = run_once(t, l, l->size);
    code = status ? explain(t, l->size, status) : check_errors(t, l);
  }
  return code;
}

/* ---- The table ---- */

static void print_reference(const study *t)
{
  if (t->file)
    printf("compared with %s", t->file);
  else
    printf("relative to a run with %s %.3g", t->by_step ? "steps of" : "the tolerance", t->reference.size);
}

static void print_header(const study *t)
{
  const ga_run_settings *o = &t->s.settings;
  const char *title = ga_model_title(t->s.model);
  char scheme[64], event[160] = "";
  app_scheme_text(o, scheme, sizeof scheme);
  if (t->event >= 0)
    snprintf(event, sizeof event, ", where the event '%s' ends each run",
             ga_machine_event_name(t->s.machine, t->event));
  printf("%s%s%s\n%s, %s%s; ", t->a->operands[0], *title ? ": " : "", title,
         *t->label ? t->label : app_choice(o, "method"), scheme, "");
  if (t->maximum)
    printf("largest errors at %ld steps of the finest run up to t = %g s%s, ", t->compared, t->t_end, event);
  else
    printf("errors at t = %g s%s, ", t->t_end, event);
  print_reference(t);
  printf("; 2-norms%s\n\n", t->relative ? ", divided by that of the reference at the same time" : "");
  printf("%10s %8s", t->by_step ? "h [s]" : "tolerance", "steps");
  for (int i = 0; i < t->n_quantities; i++) printf("  %9s order", t->quantities[i].label);
  putchar('\n');
}

static void print_row(const study *t, const level *l, const level *before)
{
  printf("%10.4g %8.0f", l->size, l->steps);
  for (int i = 0; i < t->n_quantities; i++) {
    const int wide = (int)strlen(t->quantities[i].label);
    printf("  %*.3e", wide > 9 ? wide : 9, l->error[i]);
    if (before && before->error[i] > 0.0 && l->error[i] > 0.0)
      printf(" %5.2f", log(before->error[i] / l->error[i]) / log(before->size / l->size));
    else
      printf(" %5s", "-");
  }
  putchar('\n');
}

/* ---- The picture ---- */

static int draw(const study *studies, int n_studies, const char *file)
{
  static double sizes[MOST_VARIANTS][MOST_LEVELS], errors[MOST_VARIANTS * MOST_QUANTITIES][MOST_LEVELS];
  static char labels[MOST_VARIANTS * MOST_QUANTITIES][2 * LABEL + 4];
  app_error_curve curves[MOST_VARIANTS * MOST_QUANTITIES];
  const study *t = &studies[0];
  const char *title = ga_model_title(t->s.model);
  char y_label[160];
  int n = 0;
  for (int s = 0; s < n_studies; s++)
    for (int q = 0; q < studies[s].n_quantities; q++, n++) {
      for (int i = 0; i < t->n; i++) {
        sizes[s][i] = studies[s].level[i].size;
        errors[n][i] = studies[s].level[i].error[q];
      }
      snprintf(labels[n], sizeof labels[n], "%s%s%s", studies[s].label, *studies[s].label ? ": " : "",
               studies[s].quantities[q].symbol ? studies[s].quantities[q].symbol
                                               : studies[s].quantities[q].label);
      curves[n] = (app_error_curve){labels[n],
                                    t->n,
                                    sizes[s],
                                    errors[n],
                                    n            ? 0.0
                                    : t->by_step ? 2.0
                                                 : 1.0,
                                    n_studies > 1 ? s : q,
                                    n_studies > 1 ? q : 0};
    }
  snprintf(y_label, sizeof y_label, "%s%serror%s, 2-norm", t->maximum ? "largest " : "",
           t->relative ? "relative " : "", t->maximum ? "" : " at the end");
  const app_error_plot p = {
      *title ? title : t->a->operands[0], t->by_step ? "step h [s]" : "tolerance", y_label, 0, n, curves};
  return app_draw_errors(t->a, file, &p);
}

/* ---- Warnings ---- */

/* 1: all runs, the reference too, made as many steps. */
static int same_steps(const study *t)
{
  for (int i = 0; i < t->n; i++)
    if (t->level[i].steps != t->reference.steps) return 0;
  return 1;
}

/* 1: errors of positions, velocities or signals are above rounding and do not decrease to half from the first
 * run to the last. */
static int does_not_converge(const study *t)
{
  for (int k = 0; k < t->n_quantities; k++) {
    const quantity *q = &t->quantities[k];
    double size = 0.0;
    if (!q->of_signals && q->part > V) continue;
    for (long r = 0; r < t->ref.n; r++)
      for (int i = 0; i < q->n; i++) size = fmax(size, fabs(t->ref.z[r * t->width + q->at + i]));
    const double first = t->level[0].error[k], last = t->level[t->n - 1].error[k];
    if (last > 0.5 * first && last > 1e-9 * (t->relative ? 1.0 : size)) return 1;
  }
  return 0;
}

static void print_warnings(const study *t)
{
  if (!t->by_step && !t->file && same_steps(t))
    fprintf(stderr,
            "warning: all runs made the same %.0f steps, so their differences say nothing about the error: "
            "what all "
            "of them missed does not show; try --step %.2g\n",
            t->level[0].steps, (t->s.settings.t_end - t->s.settings.t_start) / (t->level[0].steps + 1.0));
  else if (does_not_converge(t) && t->file)
    fprintf(stderr,
            "warning: the errors do not decrease with %s: the file is of another motion, or not more "
            "accurate than these "
            "runs; or something jumps with the motion\n",
            t->by_step ? "the step" : "the tolerance");
  else if (does_not_converge(t))
    fprintf(stderr,
            "warning: the errors do not decrease with %s: something jumps with the motion, or acts for less "
            "than a "
            "step; results are as uncertain as these errors\n",
            t->by_step ? "the step" : "the tolerance");
}

/* Each method has a reference of its own: do they agree? */
static void compare_references(const study *t, const study *first)
{
  if (t == first || t->file || !t->quantities[0].of_signals) return;
  const double *mine = t->ref.z + (t->ref.n - 1) * t->width,
               *other = first->ref.z + (first->ref.n - 1) * t->width;
  for (int i = 0; i < t->n_quantities; i++) {
    const quantity *q = &t->quantities[i];
    const double apart = norm_of_difference(mine + q->at, other + q->at, q->n) /
                         (t->relative ? norm_of_difference(other + q->at, NULL, q->n) : 1.0);
    if (apart > t->level[t->n - 1].error[i] + first->level[t->n - 1].error[i])
      fprintf(stderr,
              "warning: %s: the references of %s and %s differ by %.2g at the end, more than the smallest "
              "errors in "
              "the table\n",
              q->label, first->label, t->label, apart);
  }
}

/* ---- The command ---- */

typedef struct variants {
  int n;
  int has_method[MOST_VARIANTS], has_form[MOST_VARIANTS];
  ga_method method[MOST_VARIANTS];
  ga_form form[MOST_VARIANTS];
} variants;

static int find_choice(const app_arguments *a, const char *option, const char *name, size_t n, int *out)
{
  static const char *const forms[] = {
      [GA_FORM_SPACE] = "space", [GA_FORM_BODY] = "body", [GA_FORM_SE3] = "se3"};
  ga_method_info m;
  const int of_method = strcmp(option, "methods") == 0;
  char all[160] = "";
  for (int i = 0; of_method ? ga_method_at(i, &m) : i < 3; i++) {
    const char *at = of_method ? m.name : forms[i];
    if (strlen(at) == n && strncmp(at, name, n) == 0) return *out = i, APP_DONE;
    snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", i ? ", " : "", at);
  }
  return app_misused(a, "--%s: \"%.*s\" is none of %s", option, (int)n, name, all);
}

/* Choices of a list with commas; *n 0: the option is not given. */
static int take_list(const app_arguments *a, const char *option, int choice[MOST_VARIANTS], int *n)
{
  const char *names = app_text(a, option);
  for (*n = 0; names;) {
    const size_t length = strcspn(names, ",");
    if (*n == MOST_VARIANTS) return app_misused(a, "--%s: at most %d names", option, MOST_VARIANTS);
    const int code = find_choice(a, option, names, length, &choice[(*n)++]);
    if (code) return code;
    names = names[length] ? names + length + 1 : NULL;
  }
  return APP_DONE;
}

static int find_variants(const app_arguments *a, variants *v)
{
  int methods[MOST_VARIANTS], forms[MOST_VARIANTS], n_methods, n_forms;
  int code = take_list(a, "methods", methods, &n_methods);
  if (!code) code = take_list(a, "form", forms, &n_forms);
  if (code) return code;
  if (n_methods && app_has(a, "method")) return app_misused(a, "--methods and --method exclude each other");
  for (int m = 0; m < (n_methods ? n_methods : 1); m++)
    for (int f = 0; f < (n_forms ? n_forms : 1); f++) {
      if (v->n == MOST_VARIANTS)
        return app_misused(a, "at most %d methods and forms in one picture", MOST_VARIANTS);
      v->has_method[v->n] = n_methods > 0;
      v->has_form[v->n] = n_forms > 0;
      v->method[v->n] = n_methods ? (ga_method)methods[m] : GA_STABILIZED;
      v->form[v->n++] = n_forms ? (ga_form)forms[f] : GA_FORM_SPACE;
    }
  return APP_DONE;
}

/* 1: bodies that rotate in space, which alone have a form. */
static int has_rotations(const ga_machine *m)
{
  const ga_group *g = ga_system_group(ga_machine_system(m));
  for (int i = 0; i < ga_group_n_factors(g); i++)
    if (ga_group_factor(g, i, NULL, NULL).kind != GA_RN) return 1;
  return 0;
}

static int open_study(study *t, const app_arguments *a, const variants *v, int i)
{
  static const char *const form_names[] = {"space", "body", "se3"};
  int code = app_task_open_as(&t->s, a, v->has_method[i] ? &v->method[i] : NULL,
                              v->has_form[i] ? &v->form[i] : NULL);
  if (code) return code;
  if (v->has_form[i] && !has_rotations(t->s.machine))
    return app_misused(a, "--form has no effect: no body of %s rotates in space", a->operands[0]);
  t->by_step = t->s.settings.step > 0.0;
  if (v->n > 1)
    snprintf(t->label, sizeof t->label, "%s%s%s", app_choice(&t->s.settings, "method"),
             v->has_form[i] ? ", " : "", v->has_form[i] ? form_names[v->form[i]] : "");
  if (t->maximum && !t->by_step)
    return app_misused(a, "--max compares at every step and needs equal steps; add --step");
  if ((t->relative || t->file) && !app_has(a, "signals"))
    return app_misused(a, "--%s needs --signals", t->file ? "reference" : "relative");
  return find_quantities(t);
}

static int run_study(study *t, const study *first)
{
  const int code = run_all(t);
  if (code) return code;
  if (t != first) putchar('\n');
  print_header(t);
  for (int i = 0; i < t->n; i++) print_row(t, &t->level[i], i > 0 ? &t->level[i - 1] : NULL);
  fflush(stdout);
  print_warnings(t);
  compare_references(t, first);
  return APP_DONE;
}

/* Without -o a picture that cannot be drawn is no failure. */
static int draw_picture(const study *t, int n, const char *file)
{
  if (file) return draw(t, n, file);
  char *beside = app_beside(t->a->operands[0], "_orders.svg");
  if (!beside) return fputs("galpha: out of memory\n", stderr), APP_FAILED;
  draw(t, n, beside);
  free(beside);
  return APP_DONE;
}

static void close_study(study *t)
{
  free(t->ref.t);
  free(t->ref.z);
  free(t->now);
  app_task_close(&t->s);
}

int app_converge(const app_arguments *a)
{
  variants v = {0};
  const char *file = app_text(a, "out");
  long levels = 5;
  int code = app_integer(a, "levels", 2, MOST_LEVELS, &levels);
  if (!code) code = find_variants(a, &v);
  if (code) return code;
  if (file && !app_gnuplot_knows(file))
    return app_misused(a, "\"%s\" ends neither in .svg nor in .png nor in .pdf", file);
  study *studies = calloc((size_t)v.n, sizeof *studies);
  if (!studies) return fputs("galpha: out of memory\n", stderr), APP_FAILED;
  int n = 0;
  for (; n < v.n && !code; n++) {
    study *t = &studies[n];
    *t = (study){.a = a,
                 .n = (int)levels,
                 .maximum = app_has(a, "max"),
                 .relative = app_has(a, "relative"),
                 .file = app_text(a, "reference")};
    code = open_study(t, a, &v, n);
    if (!code) code = run_study(t, studies);
  }
  if (!code) code = draw_picture(studies, v.n, file);
  for (int i = 0; i < n; i++) close_study(&studies[i]);
  free(studies);
  return code;
}
