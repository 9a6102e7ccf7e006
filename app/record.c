/* Contents of the result file of a run. */
#define _POSIX_C_SOURCE 200809L
#include "runner.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

/* ---- Which signals ---- */

static const char *signal_at(const void *machine, int i)
{
  return ga_machine_signal_name(machine, i);
}

static int no_signal(const app_runner *r, const char *name)
{
  const char *nearest = app_nearest(name, ga_machine_n_signals(r->s.machine), signal_at, r->s.machine);
  return app_misused(r->a, "there is no signal \"%s\" to record%s%s", name,
                     nearest ? "; the nearest is " : "", nearest ? nearest : "");
}

/* Names of --record, which may be repeated, with commas between them. */
static int take_wanted(app_runner *r)
{
  const char *const *given;
  for (int k = 0; (given = app_values(r->a, "record", k)) != NULL; k++)
    for (const char *at = given[0]; *(at += strspn(at, " "));) {
      size_t length = strcspn(at, ",");
      const char *const end = at + length;
      while (length > 0 && at[length - 1] == ' ') length--;
      char **grown = realloc(r->wanted, ((size_t)r->n_wanted + 1) * sizeof *grown);
      if (!grown) return APP_FAILED;
      r->wanted = grown;
      if (length > 0 && !(r->wanted[r->n_wanted++] = strndup(at, length))) return APP_FAILED;
      at = end + (*end == ',');
    }
  return APP_DONE;
}

/* 1: a file that is continued has the signals that cannot change too, as those of earlier versions do. */
static int continues_whole(const app_runner *r)
{
  ga_result *result = NULL;
  if (!app_has(r->a, "resume") || access(r->file, F_OK) != 0 || ga_result_open(r->s.ctx, r->file, &result))
    return 0;
  const int whole = ga_result_n_signals(result) > 0 && !ga_result_attribute(result, GA_RESULT_LEFT_OUT);
  ga_result_close(&result);
  return whole;
}

int app_record_choose(app_runner *r)
{
  const ga_machine *m = r->s.machine;
  const ga_run_settings *o = &r->s.settings;
  const int all = ga_machine_n_signals(m), whole = continues_whole(r);
  r->index = calloc((size_t)all + 1, sizeof *r->index);
  const size_t rows = 2 * (size_t)all + (size_t)r->n_own + (size_t)ga_machine_n_places(m);
  r->values = calloc(rows + 1, sizeof *r->values);
  if (!r->index || !r->values || take_wanted(r)) return fputs("galpha: out of memory\n", stderr), APP_FAILED;
  const int n = r->n_wanted > 0 ? r->n_wanted : o->n_record;
  const char *const *wanted = r->n_wanted > 0 ? (const char *const *)r->wanted : o->record;
  for (int k = 0; k < n; k++) {
    int found = 0;
    for (int i = 0; i < all && !found; i++) found = app_matches(wanted[k], signal_at(m, i));
    if (!found) return no_signal(r, wanted[k]);
  }
  for (int i = 0; i < all; i++) {
    int take = 0;
    for (int k = 0; k < n && !take; k++) take = app_matches(wanted[k], signal_at(m, i));
    if (n == 0) take = whole || !ga_machine_signal_is_constant(m, i);
    if (take) r->index[r->n++] = i;
    if (!take && n == 0) r->n_left_out++;
  }
  return o->poses ? app_poses_choose(&r->poses, m, r->n, r->index) : APP_DONE;
}

void app_record_print_left_out(const app_runner *r)
{
  if (r->n_left_out > 0) printf("; %d that cannot change are left out (--record '*': all)", r->n_left_out);
}

void app_record_free(app_runner *r)
{
  for (int i = 0; i < r->n_wanted; i++) free(r->wanted[i]);
  free(r->wanted);
  free(r->index);
  free(r->values);
  app_poses_free(&r->poses);
  free(r->file);
  free(r->part);
}

/* Rows before those of poses. */
static int rows_of_signals(const app_runner *r)
{
  return r->bars.accuracy > 0.0 ? 2 * r->n : r->n + r->n_own;
}

void app_record_drop_work(app_runner *r)
{
  static const char *const along_motion[] = {"energy.dissipated", "energy.input", "energy.balance"};
  int n = 0;
  for (int i = 0; i < r->n; i++) {
    int keep = 1;
    for (int k = 0; k < 3; k++)
      if (r->index[i] == ga_machine_find_signal(r->s.machine, along_motion[k])) keep = 0;
    if (keep) r->index[n++] = r->index[i];
  }
  r->n = n;
}

/* ---- The file ---- */

/* Refuses to replace an existing file that is not a result. */
static int check_file(const app_runner *r)
{
  static const unsigned char hdf5[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
  unsigned char begin[8];
  if (app_output_check(r->file) < 0)
    return app_misused(r->a, "%s exists and is not a regular file; results need one", r->file);
  if (ga_model_reads(r->s.model, r->file)) return app_output_is_source(r->a, r->file);
  FILE *f = fopen(r->file, "rb");
  if (!f) return APP_DONE;
  const size_t n = fread(begin, 1, sizeof begin, f);
  fclose(f);
  if (n == 0 || (n == sizeof begin && memcmp(begin, hdf5, sizeof hdf5) == 0)) return APP_DONE;
  return app_misused(r->a, "%s exists and is not a result file; it is left as it is", r->file);
}

int app_record_file(app_runner *r)
{
  const char *file = app_text(r->a, "out");
  char ending[32] = ".h5";
  if (r->analysis) snprintf(ending, sizeof ending, "_%s.h5", r->analysis);
  r->file = file ? malloc(strlen(file) + 1) : app_beside(r->a->operands[0], ending);
  r->part = r->file ? malloc((file ? strlen(file) : strlen(r->file)) + sizeof ".part") : NULL;
  if (!r->part) return fputs("galpha: out of memory\n", stderr), APP_FAILED;
  if (file) strcpy(r->file, file);
  sprintf(r->part, "%s.part", r->file);
  return check_file(r);
}

/* The shortest text that is read back as the same number. */
static void number_text(char *text, size_t size, double number)
{
  for (int digits = 6; digits <= 17; digits++) {
    snprintf(text, size, "%.*g", digits, number);
    if (strtod(text, NULL) == number) return;
  }
}

/* A setting as a text; equal texts mean equal settings. */
static void setting_text(const ga_run_settings *o, const ga_setting *at, char *value, size_t size)
{
  const void *member = (const char *)o + at->offset;
  if (at->type == GA_SETTING_NUMBER)
    number_text(value, size, *(const double *)member);
  else if (at->type == GA_SETTING_CHOICE)
    snprintf(value, size, "%s", app_choice(o, at->name));
  else if (at->type == GA_SETTING_INTEGER)
    snprintf(value, size, "%d", *(const int *)member);
  else
    snprintf(value, size, "%s", *(const int *)member ? "true" : "false");
}

const char *app_record_option(const app_runner *r, int i, char *value, size_t size)
{
  ga_setting at;
  int n = 0;
  for (int k = 0; ga_setting_at(k, &at); k++) {
    if (strcmp(at.name, "t_end") == 0) continue; /* the end may change */
    if (!ga_setting_is_used(&at, &r->s.settings) || n++ != i) continue;
    return setting_text(&r->s.settings, &at, value, size), at.name;
  }
  if (i == n) return number_text(value, size, (double)r->checkpoint_every), "checkpoint_every";
  static const char *const others[] = {"set", "record", "a0"};
  if (i - n - 1 >= (int)(sizeof others / sizeof *others)) return NULL;
  const char *const *given, *const name = others[i - n - 1];
  size_t used = 0;
  if (size) value[0] = '\0';
  for (int k = 0; (given = app_values(r->a, name, k)) != NULL && used < size; k++)
    used += (size_t)snprintf(value + used, size - used, "%s%s", k ? "; " : "", given[0]);
  return name;
}

enum { MOST_ATTRIBUTES = 96, ATTRIBUTE = 512, N_OTHER_ATTRIBUTES = 8 };

/* What the last digits of results may depend on: "gcc 12.2.0, optimised, Linux x86_64". */
static void build_text(char *text, size_t size)
{
#if defined(__clang__)
  const char *const compiler = ""; /* __VERSION__ contains the name */
#elif defined(__GNUC__)
  const char *const compiler = "gcc ";
#else
  const char *const compiler = "unknown compiler ";
#endif
#ifdef __VERSION__
  const char *const version = __VERSION__;
#else
  const char *const version = "";
#endif
#ifdef __OPTIMIZE__
  const char *const how = "optimised";
#else
  const char *const how = "not optimised";
#endif
  struct utsname system;
  const int known = uname(&system) >= 0;
  snprintf(text, size, "%s%s, %s%s%s%s%s", compiler, version, how, known ? ", " : "",
           known ? system.sysname : "", known ? " " : "", known ? system.machine : "");
}

const char *app_record_path(const app_runner *r)
{
  return r->in_part ? r->part : r->file;
}

/* "hinge.angle:error", one after the other. */
static char *error_names(const app_runner *r)
{
  size_t size = 1;
  for (int i = 0; i < r->n; i++)
    size += strlen(ga_machine_signal_name(r->s.machine, r->index[i])) + sizeof GA_RESULT_ERROR;
  char *names = malloc(size), *at = names;
  for (int i = 0; names && i < r->n; i++)
    at += sprintf(at, "%s%s", ga_machine_signal_name(r->s.machine, r->index[i]), GA_RESULT_ERROR) + 1;
  return names;
}

ga_status app_record_open(app_runner *r, int append)
{
  ga_recorder_opts opts = ga_recorder_defaults();
  const char *attributes[2 * MOST_ATTRIBUTES], *name;
  char values[MOST_ATTRIBUTES][ATTRIBUTE];
  const int own = r->n + r->n_own, rows = rows_of_signals(r), m = rows + r->poses.n;
  const char **names = calloc(2 * (size_t)m + 1, sizeof *names);
  char *bars = error_names(r);
  if (!names || !bars) return free(names), free(bars), GA_ERR_MEMORY;
  for (int i = 0; i < r->n; i++) {
    names[i] = ga_machine_signal_name(r->s.machine, r->index[i]);
    names[m + i] = ga_machine_signal_unit(r->s.machine, r->index[i]);
  }
  for (int i = r->n; i < own; i++) {
    names[i] = r->own_names[i - r->n];
    names[m + i] = r->own_units[i - r->n];
  }
  for (int i = own; i < rows; i++) {
    names[i] = i == r->n ? bars : names[i - 1] + strlen(names[i - 1]) + 1;
    names[m + i] = names[m + i - r->n];
  }
  for (int i = rows; i < m; i++) {
    names[i] = r->poses.name[i - rows];
    names[m + i] = app_poses_unit(names[i]);
  }
  int n = 0;
  for (; n < MOST_ATTRIBUTES - N_OTHER_ATTRIBUTES &&
         (name = app_record_option(r, n, values[n], ATTRIBUTE)) != NULL;
       n++)
    attributes[2 * n] = name;
  number_text(values[n], ATTRIBUTE, r->s.settings.t_end), attributes[2 * n++] = "t_end";
  snprintf(values[n], ATTRIBUTE, "%s", r->a->operands[0]), attributes[2 * n++] = "model_file";
  snprintf(values[n], ATTRIBUTE, "%s", ga_model_title(r->s.model)), attributes[2 * n++] = "title";
  ga_result_library(values[n], ATTRIBUTE), attributes[2 * n++] = "library";
  build_text(values[n], ATTRIBUTE), attributes[2 * n++] = "build";
  if (*ga_model_data(r->s.model))
    snprintf(values[n], ATTRIBUTE, "%s", ga_model_data(r->s.model)), attributes[2 * n++] = "data";
  snprintf(values[n], ATTRIBUTE, "%d", r->n_left_out), attributes[2 * n++] = GA_RESULT_LEFT_OUT;
  if (r->analysis) snprintf(values[n], ATTRIBUTE, "%s", r->analysis), attributes[2 * n++] = "analysis";
  for (int i = 0; i < n; i++) attributes[2 * i + 1] = values[i];
  opts.n_signals = m;
  opts.names = names;
  opts.units = names + m;
  opts.model = ga_model_text(r->s.model);
  opts.n_attributes = n;
  opts.attributes = attributes;
  opts.flush_seconds = r->flush_every;
  opts.append = append;
  opts.n_events = r->events.watch ? ga_machine_n_events(r->s.machine) : 0;
  opts.event_names = r->events.names;
  const ga_status status = ga_recorder_create(r->s.ctx, app_record_path(r), &opts, &r->recorder);
  free(names);
  free(bars);
  return status;
}

int app_record_is_finite(app_runner *r, double t)
{
  double sum = 0.0; /* stays 0 if all are finite, else NaN */
  int i = 0;
  for (int k = 0; k < r->n; k++) sum += 0.0 * r->values[k];
  if (sum == 0.0) return 1;
  while (i < r->n - 1 && isfinite(r->values[i])) i++;
  snprintf(r->overflow, sizeof r->overflow,
           "the signal '%s' is %g at t = %.9g s: the model's numbers are too large or too small to compute "
           "with; check "
           "their units",
           ga_machine_signal_name(r->s.machine, r->index[i]), r->values[i], t);
  return 0;
}

/* A record at a jump is the state on one side of it, a few roundings away; functions of time are evaluated
 * there too. */
ga_status app_record_values(app_runner *r, const ga_state *s)
{
  ga_state at = *s;
  if (s->a && r->s.stepper) at.t = ga_stepper_state(r->s.stepper)->t; /* not between steps */
  const ga_status status = r->bars.accuracy > 0.0
                               ? app_bars_values(&r->bars, &r->s, r->meter, &at, r->index, r->values)
                               : ga_machine_signals(r->s.machine, r->meter, &at, r->n, r->index, r->values);
  return status ? status : app_poses_values(&r->poses, r->s.machine, &at, r->values + rows_of_signals(r));
}

ga_status app_record_state(app_runner *r, const ga_state *s)
{
  const ga_status status = r->written ? r->written : app_record_values(r, s);
  if (status && !r->written) *(r->bars.accuracy > 0.0 ? &r->followed : &r->written) = status;
  if (!status && !app_record_is_finite(r, s->t)) r->written = GA_ERR_NAN;
  if (!status && !r->written && !r->recorder) r->written = app_record_open(r, 0);
  if (!status && !r->written) r->written = ga_recorder_add(r->recorder, s->t, r->values);
  return status ? status : r->written;
}
