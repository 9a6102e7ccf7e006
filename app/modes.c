/* galpha modes: frequencies, damping and shapes of small motions about a state of a model. */
#define _POSIX_C_SOURCE 200809L
#include "task.h"
#include "terminal.h"

#include "galpha/result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* If the equations change by more than this fraction during the time constant of the slowest mode, the state
 * is neither an equilibrium nor a steady motion. */
#define UNSTEADY 1e-4
#define POOR 1e-9 /* larger residuals cause a warning */

typedef struct study {
  const app_arguments *a;
  app_task s;
  ga_modes *modes;
  const ga_modes_info *info;
  ga_state at;                 /* about which */
  ga_machine_turning *turning; /* NULL: none */
  double *block;               /* of `at` where that is a state of steady turning */
  int n_signals;               /* all but energies, which are of second order */
  int *index;                  /* [n_signals] of them in the machine */
  const char **names, **units;
  double *values;           /* [n_signals] at the state */
  double *real, *imaginary; /* [modes][n_signals] */
} study;

static void study_close(study *t)
{
  ga_modes_destroy(&t->modes);
  ga_machine_turning_destroy(&t->turning);
  free(t->block);
  app_task_close(&t->s);
  free(t->index);
  free(t->names);
  free(t->units);
  free(t->values);
  free(t->real);
  free(t->imaginary);
}

/* ---- The state ---- */

/* The steady turning near the state reached: t->at. */
static int reach_turning(study *t)
{
  const ga_system *sys = ga_machine_system(t->s.machine);
  const size_t nq = (size_t)ga_group_nq(ga_system_group(sys)), n = (size_t)ga_system_n(sys),
               nv = (size_t)ga_system_size(sys, GA_BLOCK_V), nx = (size_t)ga_system_size(sys, GA_BLOCK_X),
               n_lambda = (size_t)ga_system_size(sys, GA_BLOCK_LAMBDA),
               n_psi = (size_t)ga_system_size(sys, GA_BLOCK_PSI),
               ny = (size_t)ga_system_size(sys, GA_BLOCK_Y);
  double *at = t->block = calloc(nq + nv + n + nx + 1, sizeof *at), *xdot = at + nq + nv + n;
  if (!at) return fputs("galpha: out of memory\n", stderr), APP_FAILED;
  const ga_turning_state z = {at,
                              at + nq,
                              at + nq + nv,
                              at + nq + 2 * nv,
                              at + nq + 2 * nv + n_lambda,
                              at + nq + 2 * nv + n_lambda + n_psi,
                              at + nq + 2 * nv + n_lambda + n_psi + nx};
  memcpy(z.q, t->at.q, nq * sizeof *at);
  memcpy(z.lambda, t->at.lambda, n_lambda * sizeof *at);
  memcpy(z.psi, t->at.psi, n_psi * sizeof *at);
  memcpy(z.x, t->at.x, nx * sizeof *at);
  memcpy(z.y, t->at.y, ny * sizeof *at);
  ga_status status = ga_machine_turning_create(t->s.ctx, t->s.machine, z.q, t->at.v, &t->turning);
  if (!status)
    status = ga_turning_solve(t->s.ctx, sys, ga_machine_turning_get(t->turning), t->at.t, &z, NULL);
  if (status) return app_task_explain(&t->s, t->a, "there is no steady turning", status), APP_FAILED;
  t->at.q = z.q, t->at.v = z.v, t->at.vdot = t->at.a = z.vdot, t->at.lambda = z.lambda, t->at.psi = z.psi;
  t->at.x = z.x, t->at.xdot = t->at.w = xdot, t->at.y = z.y;
  return APP_DONE;
}

static int reach_state(study *t)
{
  double at = t->s.settings.t_start;
  const int code = app_number(t->a, "at", "s", at, 1e12, &at);
  if (code) return code;
  const ga_status status = app_task_reach(&t->s, at);
  if (status) return app_task_explain(&t->s, t->a, "the state cannot be reached", status), APP_FAILED;
  t->at = *ga_stepper_state(t->s.stepper);
  return app_has(t->a, "turning") ? reach_turning(t) : APP_DONE;
}

static int compute(study *t)
{
  const ga_state *s = &t->at;
  const ga_point p = {s->t, s->q, s->v, s->vdot, s->lambda, s->psi, s->x, s->y, 0, NULL};
  ga_modes_opts opts = ga_modes_defaults();
  long n = 0;
  const int code = app_integer(t->a, "count", 1, 1000000, &n);
  if (code) return code;
  opts.n = (int)n;
  opts.turning = ga_machine_turning_get(t->turning);
  const ga_status status = ga_modes_create(t->s.ctx, ga_machine_system(t->s.machine), &opts, &p, &t->modes);
  t->info = ga_modes_get_info(t->modes);
  if (status) app_task_explain(&t->s, t->a, "the modes cannot be computed", status);
  return !status                                                         ? APP_DONE
         : ga_context_error(t->s.ctx)->reason == GA_REASON_TOO_FEW_MODES ? APP_USAGE
                                                                         : APP_FAILED;
}

/* ---- Shapes as signals ---- */

static int take_room(study *t)
{
  const size_t all = (size_t)ga_machine_n_signals(t->s.machine) + 1, n = (size_t)t->info->n;
  t->index = malloc(all * sizeof *t->index);
  t->names = calloc(all, sizeof *t->names);
  t->units = calloc(all, sizeof *t->units);
  t->values = calloc(all, sizeof *t->values);
  t->real = calloc(n * all, sizeof *t->real);
  t->imaginary = calloc(n * all, sizeof *t->imaginary);
  return t->index && t->names && t->units && t->values && t->real && t->imaginary;
}

static void choose_signals(study *t)
{
  for (int i = 0; i < ga_machine_n_signals(t->s.machine); i++) {
    if (ga_machine_signal_kind(t->s.machine, i) == GA_SIGNAL_ENERGY) continue;
    const char *name = ga_machine_signal_name(t->s.machine, i);
    t->names[t->n_signals] = name ? name : "";
    t->units[t->n_signals] = ga_machine_signal_unit(t->s.machine, i);
    t->index[t->n_signals++] = i;
  }
}

static int find_shapes(study *t)
{
  const ga_state *s = &t->at;
  if (!take_room(t)) return fputs("galpha: out of memory\n", stderr), APP_FAILED;
  choose_signals(t);
  ga_status status = ga_machine_signals(t->s.machine, NULL, s, t->n_signals, t->index, t->values);
  for (int i = 0; !status && i < t->info->n; i++) {
    const ga_mode *m = ga_modes_at(t->modes, i);
    const size_t at = (size_t)i * (size_t)t->n_signals;
    status = ga_machine_signal_slopes(t->s.machine, s, &m->real, t->n_signals, t->index, t->real + at);
    if (!status)
      status =
          ga_machine_signal_slopes(t->s.machine, s, &m->imaginary, t->n_signals, t->index, t->imaginary + at);
  }
  if (status) return app_task_explain(&t->s, t->a, "the shapes cannot be computed", status), APP_FAILED;
  return APP_DONE;
}

/* ---- The table ---- */

/* Name of the coordinate with the largest amplitude; of a state of a block if nothing moves. */
static void name_largest(const ga_system *sys, const ga_mode *m, char *text, size_t size)
{
  const struct {
    ga_equation_block block;
    const double *re, *im;
  } part[] = {{GA_BLOCK_V, m->real.q, m->imaginary.q}, {GA_BLOCK_X, m->real.x, m->imaginary.x}};
  *text = '\0';
  for (int k = 0; k < 2 && !*text; k++) {
    double most = 0.5; /* shapes have 1 somewhere */
    int at = -1;
    for (int i = 0; i < ga_system_size(sys, part[k].block); i++) {
      const double now = hypot(part[k].re[i], part[k].im[i]);
      if (now > most * (1.0 + 1e-9)) most = now, at = i;
    }
    if (at >= 0) ga_system_name(sys, part[k].block, at, text, size);
  }
}

static void print_table(const study *t)
{
  const ga_system *sys = ga_machine_system(t->s.machine);
  const int more = t->info->n_zero < t->info->n_all && ga_modes_at(t->modes, t->info->n - 1)->zero;
  if (t->turning) {
    double omega[3], c[3];
    ga_machine_turning_axis(t->turning, omega, c);
    printf("steady rotation with (%.6g, %.6g, %.6g) rad/s about an axis through (%.6g, %.6g, %.6g) m; in "
           "rotating axes:\n",
           omega[0], omega[1], omega[2], c[0], c[1], c[2]);
  }
  const int verbose = app_has(t->a, "verbose");
  printf("modes about the state at t = %.9g s; %d eigenvalue%s", t->at.t, t->info->n_all,
         t->info->n_all == 1 ? "" : "s");
  if (t->info->n_zero > 0) printf(", %s%d of them zero", more ? "at least " : "", t->info->n_zero);
  printf("\n%4s %18s %18s %16s %12s ", "", "real [1/s]", "imaginary [1/s]", "frequency [Hz]", "damping [-]");
  if (verbose) printf("%9s ", "residual");
  puts(" largest motion");
  for (int i = 0; i < t->info->n; i++) {
    const ga_mode *m = ga_modes_at(t->modes, i);
    char name[192];
    name_largest(sys, m, name, sizeof name);
    printf("%4d %18.11g %18.11g %16.10g %12.6g ", i + 1, m->re, m->im, m->frequency, m->damping);
    if (verbose) printf("%9.1e ", m->residual);
    printf(" %s\n", name);
  }
}

static double slowest(const study *t)
{
  for (int i = 0; i < t->info->n; i++) {
    const ga_mode *m = ga_modes_at(t->modes, i);
    if (!m->zero) return hypot(m->re, m->im);
  }
  return 0.0;
}

/* Beams and cables with too few elements are warnings of the log. */
static int check_elements(study *t)
{
  fflush(stdout);
  const ga_status status = ga_machine_check_modes(t->s.machine, &t->at, t->modes, 0, NULL, NULL);
  if (status) return app_task_explain(&t->s, t->a, "the modes cannot be checked", status), APP_FAILED;
  return APP_DONE;
}

static void print_warnings(const study *t)
{
  double worst = 0.0;
  int growing = 0;
  for (int i = 0; i < t->info->n; i++) {
    const ga_mode *m = ga_modes_at(t->modes, i);
    worst = fmax(worst, m->residual);
    growing += m->re > 1e-9 * hypot(m->re, m->im);
  }
  fflush(stdout);
  if (!(t->info->unsteady <= UNSTEADY * slowest(t)) && t->info->unsteady != 0.0)
    fprintf(stderr,
            t->turning
                ? "warning: the machine is not symmetric about the axis of rotation: in rotating axes the "
                  "equations change by %.3g %% per second, and these modes hold for this instant only\n"
                : "warning: neither an equilibrium nor a steady motion: the equations change by %.3g %% per "
                  "second, and these modes hold for this instant only\n",
            100.0 * t->info->unsteady);
  if (worst > POOR)
    fprintf(stderr, "warning: the modes are inaccurate: their relative residuals are up to %.1e\n", worst);
  if (growing)
    printf("unstable: %d mode%s grow%s\n", growing, growing == 1 ? "" : "s", growing == 1 ? "s" : "");
}

/* ---- Files ---- */

static void write_cell(FILE *out, const char *name, const char *what, const char *unit)
{
  fprintf(out, ",\"");
  for (; *name; name++) {
    if (*name == '"') fputc('"', out);
    fputc(*name, out);
  }
  fprintf(out, "%s%s%s%s\"", what, *unit ? " [" : "", unit, *unit ? "]" : "");
}

static void write_csv_rows(const study *t, FILE *out)
{
  fputs("mode,real [1/s],imaginary [1/s],frequency [Hz],damping,zero,residual", out);
  for (int k = 0; k < t->n_signals; k++) {
    write_cell(out, t->names[k], ":real", t->units[k]);
    write_cell(out, t->names[k], ":imaginary", t->units[k]);
  }
  fputc('\n', out);
  for (int i = 0; i < t->info->n; i++) {
    const ga_mode *m = ga_modes_at(t->modes, i);
    const size_t at = (size_t)i * (size_t)t->n_signals;
    fprintf(out, "%d,%.17g,%.17g,%.17g,%.17g,%d,%.3g", i + 1, m->re, m->im, m->frequency, m->damping, m->zero,
            m->residual);
    for (int k = 0; k < t->n_signals; k++)
      fprintf(out, ",%.17g,%.17g", t->real[at + (size_t)k], t->imaginary[at + (size_t)k]);
    fputc('\n', out);
  }
}

static int write_csv(const study *t, const char *path)
{
  char *bytes = NULL;
  size_t size = 0;
  FILE *memory = open_memstream(&bytes, &size);
  if (!memory) return fputs("galpha: out of memory\n", stderr), APP_FAILED;
  write_csv_rows(t, memory);
  const int bad = ferror(memory);
  if (fclose(memory) || bad) return free(bytes), fputs("galpha: out of memory\n", stderr), APP_FAILED;
  int error = 0;
  if (strcmp(path, "-") == 0) {
    app_terminal_data();
    fwrite(bytes, 1, size, stdout);
  } else {
    error = app_output_write(path, bytes, size);
  }
  free(bytes);
  if (error) return app_output_refused(t->a, path, error);
  return APP_DONE;
}

/* `width` numbers of every mode; NULL: out of memory. */
static double *collect(const study *t, int width, double (*value)(const ga_mode *m, int i))
{
  double *out = calloc((size_t)t->info->n * (size_t)width + 1, sizeof *out);
  for (int i = 0; out && i < t->info->n; i++)
    for (int k = 0; k < width; k++)
      out[(size_t)i * (size_t)width + (size_t)k] = value(ga_modes_at(t->modes, i), k);
  return out;
}

static double eigenvalue(const ga_mode *m, int i)
{
  return i ? m->im : m->re;
}
static double frequency(const ga_mode *m, int i)
{
  return (void)i, m->frequency;
}
static double damping(const ga_mode *m, int i)
{
  return (void)i, m->damping;
}
static double residual(const ga_mode *m, int i)
{
  return (void)i, m->residual;
}
static double is_zero(const ga_mode *m, int i)
{
  return (void)i, m->zero;
}
static double real_q(const ga_mode *m, int i)
{
  return m->real.q[i];
}
static double imaginary_q(const ga_mode *m, int i)
{
  return m->imaginary.q[i];
}

/* docs/modes.md has the table of datasets. */
static int write_file(const study *t, const char *path)
{
  const ga_state *s = &t->at;
  const ga_system *sys = ga_machine_system(t->s.machine);
  const int n = t->info->n, nv = ga_system_size(sys, GA_BLOCK_V), nq = ga_group_nq(ga_system_group(sys));
  const struct {
    const char *name, *unit;
    int width; /* 0: a vector */
    double (*value)(const ga_mode *m, int i);
  } own[] = {{"modes/eigenvalue", "1/s", 2, eigenvalue},
             {"modes/frequency", "Hz", 0, frequency},
             {"modes/damping", "1", 0, damping},
             {"modes/residual", "1", 0, residual},
             {"modes/zero", "1", 0, is_zero},
             {"modes/q_real", "", nv, real_q},
             {"modes/q_imaginary", "", nv, imaginary_q}};
  enum { OWN = sizeof own / sizeof *own };
  ga_table table[OWN + 8];
  double *numbers[OWN];
  int complete = 1, at = OWN;
  for (int i = 0; i < OWN; i++) {
    numbers[i] = collect(t, own[i].width ? own[i].width : 1, own[i].value);
    complete = complete && numbers[i];
    table[i] = (ga_table){
        .name = own[i].name, .unit = own[i].unit, .rows = n, .cols = own[i].width, .numbers = numbers[i]};
  }
  table[at++] = (ga_table){.name = "modes/real", .rows = n, .cols = t->n_signals, .numbers = t->real};
  table[at++] =
      (ga_table){.name = "modes/imaginary", .rows = n, .cols = t->n_signals, .numbers = t->imaginary};
  table[at++] = (ga_table){.name = "names", .rows = t->n_signals, .texts = t->names};
  table[at++] = (ga_table){.name = "units", .rows = t->n_signals, .texts = t->units};
  table[at++] = (ga_table){.name = "state/values", .rows = t->n_signals, .numbers = t->values};
  table[at++] = (ga_table){.name = "state/time", .unit = "s", .rows = 1, .numbers = &s->t};
  table[at++] = (ga_table){.name = "state/q", .rows = nq, .numbers = s->q};
  table[at++] = (ga_table){.name = "state/v", .rows = nv, .numbers = s->v};
  const char *const attributes[] = {"title", ga_model_title(t->s.model), "file", t->a->operands[0]};
  const ga_tables all = {"galpha modes 1", at, table, ga_model_text(t->s.model), 2, attributes};
  const ga_status status = complete ? ga_tables_write(t->s.ctx, path, &all) : GA_ERR_MEMORY;
  for (int i = 0; i < OWN; i++) free(numbers[i]);
  if (status) return app_task_explain(&t->s, t->a, "the modes cannot be written", status), APP_FAILED;
  printf("%s: %d mode%s of %d signals\n", path, n, n == 1 ? "" : "s", t->n_signals);
  return APP_DONE;
}

/* ---- The command ---- */

/* Refuses to replace an existing file that is not HDF5, or that the model is read from. */
static int check_file(const app_arguments *a, const ga_model *model, const char *path)
{
  static const unsigned char hdf5[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
  unsigned char begin[8];
  const int error = path ? app_output_check(path) : 0;
  if (error) return app_output_refused(a, path, error);
  if (path && ga_model_reads(model, path)) return app_output_is_source(a, path);
  FILE *f = path ? fopen(path, "rb") : NULL;
  if (!f) return APP_DONE;
  const size_t n = fread(begin, 1, sizeof begin, f);
  fclose(f);
  if (n == 0 || (n == sizeof begin && memcmp(begin, hdf5, sizeof hdf5) == 0)) return APP_DONE;
  return app_misused(a, "%s exists and is not an HDF5 file; it is left as it is", path);
}

int app_modes(const app_arguments *a)
{
  study t = {.a = a};
  const char *file = app_text(a, "out"), *csv = app_text(a, "csv");
  static const char *const others[] = {".yaml", ".yml", ".h5", ".hdf5"};
  for (size_t i = 0; csv && i < sizeof others / sizeof *others; i++)
    if (app_ends_in(csv, others[i]))
      return app_misused(a, "--csv: %s ends like a model or a result; a table needs another name", csv);
  int code = app_task_open(&t.s, a);
  if (!code) code = check_file(a, t.s.model, file);
  if (!code && csv && ga_model_reads(t.s.model, csv)) code = app_output_is_source(a, csv);
  if (!code) code = reach_state(&t);
  if (!code) code = compute(&t);
  if (!code && (file || csv)) code = find_shapes(&t);
  if (!code && !(csv && strcmp(csv, "-") == 0)) print_table(&t);
  if (!code) print_warnings(&t);
  if (!code) code = check_elements(&t);
  if (!code && csv) code = write_csv(&t, csv);
  if (!code && file) code = write_file(&t, file);
  study_close(&t);
  return code;
}
