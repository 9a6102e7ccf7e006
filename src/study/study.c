/* Sweeps: what is to be run, which runs are finished, and their rows. */
#include "study/study.h"

#include "mbs/name.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_SIGNALS = 64 };
#define MOST_BYTES 4e9 /* of all rows */

ga_study_opts ga_study_defaults(void)
{
  return (ga_study_opts){0};
}

/* ---- Memory ---- */

void ga_study_destroy(ga_study **study)
{
  if (!study || !*study) return;
  ga_study *s = *study;
  ga_context *ctx = s->ctx;
  ga__journal_close(ctx, &s->journal);
  ga_model_destroy(&s->model);
  for (int i = 0; s->texts && i < s->n_texts; i++) ga__free(ctx, s->texts[i]);
  for (int i = 0; s->units && i < s->trial.n_measures; i++) ga__free(ctx, s->units[i]);
  for (long i = 0; s->row && i < s->n_runs; i++) ga__free(ctx, s->row[i].text);
  ga__free(ctx, s->texts);
  ga__free(ctx, s->units);
  ga__free(ctx, s->parameter_unit);
  ga__free(ctx, s->row);
  ga__free(ctx, s->values);
  ga__free(ctx, s->times);
  if (s->has_lock) pthread_mutex_destroy(&s->lock);
  ga__free(ctx, s);
  *study = NULL;
}

/* A copy that lives as long as the sweep. */
static char *keep_text(ga_study *s, const char *text)
{
  char *copy = ga__study_copy(s->ctx, text, strlen(text));
  if (copy) s->texts[s->n_texts++] = copy;
  return copy;
}

static ga_status copy_list(ga_study *s, int n, const char *const *from, const char ***to)
{
  *to = (const char **)(s->texts + s->n_texts); /* one behind the other */
  for (int i = 0; i < n; i++)
    if (!keep_text(s, from[i])) return ga__no_memory(s->ctx, "a sweep");
  return GA_OK;
}

static ga_status copy_opts(ga_study *s, const ga_study_opts *o)
{
  ga__trial *t = &s->trial;
  s->texts = ga__alloc(s->ctx, 2 * (size_t)o->n_measures + (size_t)o->n_signals + (size_t)o->n_given + 1,
                       sizeof *s->texts);
  if (!s->texts) return ga__no_memory(s->ctx, "a sweep");
  ga_status status = copy_list(s, o->n_measures, o->measures, (const char ***)&t->measures);
  if (!status) status = copy_list(s, o->n_measures, o->labels ? o->labels : o->measures, &s->labels);
  if (!status) status = copy_list(s, o->n_signals, o->signals, (const char ***)&t->signals);
  if (!status) status = copy_list(s, o->n_given, o->given, (const char ***)&t->given);
  if (!status && !(t->model = keep_text(s, o->model))) status = ga__no_memory(s->ctx, "a sweep");
  t->n_measures = o->n_measures;
  t->n_signals = o->n_signals;
  t->n_given = o->n_given;
  t->allow_library = o->allow_library;
  if (o->settings) s->settings = *o->settings;
  t->settings = &s->settings;
  return status;
}

static ga_status check_opts(ga_context *ctx, const ga_study_opts *o)
{
  static const char kind[] = "sweep";
  if (!o->model) return ga__refuse_null(ctx, "ga_study_create", "model");
  if (!o->design) return ga__refuse_null(ctx, "ga_study_create", "design");
  if (o->n_measures < 0) return ga__refuse_number(ctx, kind, "n_measures", o->n_measures, ">= 0");
  if (o->n_signals < 0 || o->n_signals > MOST_SIGNALS)
    return ga__refuse_number(ctx, kind, "n_signals", o->n_signals, "0 to 64");
  if (o->n_measures && !o->measures)
    return ga__refuse_missing(ctx, kind, "n_measures", o->n_measures, "measures");
  if (o->n_signals && !o->signals) return ga__refuse_missing(ctx, kind, "n_signals", o->n_signals, "signals");
  if (o->n_given && !(o->given && o->settings))
    return ga__refuse_missing(ctx, kind, "n_given", o->n_given, "given or settings");
  for (int i = 0; i < o->n_measures; i++)
    if (!o->measures[i] || (o->labels && !o->labels[i]))
      return ga__refuse_null(ctx, "ga_study_create", "measures");
  for (int i = 0; i < o->n_signals; i++)
    if (!o->signals[i]) return ga__refuse_null(ctx, "ga_study_create", "signals");
  return GA_OK;
}

/* ---- Overrides of a run ---- */

ga_status ga__study_sets_create(const ga_study *s, ga_context *ctx, ga__sets *out)
{
  const int varied = ga_design_n_parameters(s->design), constant = ga__design_n_constants(s->design);
  *out = (ga__sets){.n_varied = varied, .n = varied + constant};
  out->set = ga__alloc(ctx, (size_t)out->n + 1, sizeof *out->set);
  out->text = ga__alloc(ctx, (size_t)varied + 1, sizeof *out->text);
  out->value = ga__alloc(ctx, (size_t)varied + 1, sizeof *out->value);
  out->parameter = ga__alloc(ctx, (size_t)varied + 1, sizeof *out->parameter);
  if (!out->set || !out->text || !out->value || !out->parameter)
    return ga__no_memory(ctx, "parameters of a run");
  for (int i = 0; i < constant; i++) out->set[i] = ga__design_constant(s->design, i);
  for (int i = 0; i < varied; i++) {
    out->set[constant + i] = out->text[i];
    out->parameter[i] =
        (ga_study_parameter){.name = ga_design_name(s->design, i),
                             .unit = s->parameter_unit ? s->parameter_unit[i] : ga_design_unit(s->design, i)};
  }
  return GA_OK;
}

void ga__study_sets_free(ga_context *ctx, ga__sets *sets)
{
  ga__free(ctx, sets->set);
  ga__free(ctx, sets->text);
  ga__free(ctx, sets->value);
  ga__free(ctx, sets->parameter);
  *sets = (ga__sets){0};
}

ga_status ga__study_sets_fill(const ga_study *s, long run, ga__sets *sets)
{
  const ga_status status = ga_design_values(s->design, run, sets->value);
  for (int i = 0; i < sets->n_varied && !status; i++) {
    ga__design_print(s->design, i, sets->value[i], sets->text[i], sizeof sets->text[i]);
    sets->parameter[i].value = sets->value[i];
  }
  return status;
}

/* ---- The first look at the model ---- */

/* 1: an error is about the parameters given, and not about the model with their values. */
static int is_wrong_call(const ga_model *model)
{
  for (int i = 0; model && i < ga_model_n_messages(model); i++) {
    const ga_model_message *m = ga_model_message_at(model, i);
    if (m->level == GA_MESSAGE_ERROR && m->line == 0) return 1;
  }
  return 0;
}

/* Run 0 may be one that cannot be built, which its row will say; then the model as it is serves. */
static ga_status open_first(ga_study *s, ga__sets *sets, ga_run_settings *settings)
{
  ga_model *plain = NULL;
  ga_status status = ga__study_sets_fill(s, 0, sets);
  if (!status) status = ga__trial_open(s->ctx, &s->trial, sets->n, sets->set, &s->model, settings);
  if (status != GA_ERR_ARGUMENT || !s->model || ga_model_machine(s->model) || is_wrong_call(s->model))
    return status;
  const ga_status again =
      ga__trial_open(s->ctx, &s->trial, sets->n - sets->n_varied, sets->set, &plain, settings);
  if (again) {
    ga_model_destroy(&plain);
    return status;
  }
  ga_model_destroy(&s->model);
  s->model = plain;
  return GA_OK;
}

/* Numbers that are given without a unit have that of the model's own value, where it can be read with that.
 */
static ga_status find_units(ga_study *s, ga__sets *sets)
{
  ga_model *plain = NULL;
  ga_run_settings settings;
  int missing = 0;
  s->parameter_unit = ga__alloc(s->ctx, (size_t)sets->n_varied + 1, sizeof *s->parameter_unit);
  if (!s->parameter_unit) return ga__no_memory(s->ctx, "units of parameters");
  for (int i = 0; i < sets->n_varied; i++) {
    snprintf(s->parameter_unit[i], sizeof s->parameter_unit[i], "%s", ga_design_unit(s->design, i));
    sets->parameter[i].unit = s->parameter_unit[i];
    missing |= !*s->parameter_unit[i];
  }
  if (!missing) return GA_OK;
  ga__mute_errors(s->ctx);
  const ga_status status =
      ga__trial_open(s->ctx, &s->trial, sets->n - sets->n_varied, sets->set, &plain, &settings);
  ga__unmute_errors(s->ctx);
  for (int i = 0; i < sets->n_varied && !status; i++) {
    ga_model_parameter p;
    const int at = ga_model_find_parameter(plain, sets->parameter[i].name);
    if (!*s->parameter_unit[i] && at >= 0 && ga_model_parameter_at(plain, at, &p) && strcmp(p.unit, "1") != 0)
      snprintf(s->parameter_unit[i], sizeof s->parameter_unit[i], "%s", p.unit);
  }
  ga_model_destroy(&plain);
  return status == GA_ERR_MEMORY ? status : GA_OK;
}

static const char *signal_at(const void *machine, int i)
{
  return ga_machine_signal_name(machine, i);
}

static ga_status check_signals(ga_study *s)
{
  const ga_machine *m = ga_model_machine(s->model);
  for (int i = 0; i < s->trial.n_signals; i++) {
    const char *name = s->trial.signals[i];
    char nearest[GA_TEXT_PIECE];
    if (ga_machine_find_signal(m, name) >= 0) continue;
    ga__name_nearest(nearest, name, (int)strlen(name), signal_at, m, ga_machine_n_signals(m));
    return ga__study_refuse(s->ctx, "signal", name, NULL, nearest, "the model has none of this name");
  }
  return GA_OK;
}

/* Columns are found by their names. */
static ga_status check_name(const ga_study *s, const char *kind, const char *name)
{
  for (int i = 0; i < GA__N_OWN_COLUMNS; i++)
    if (strcmp(name, ga__study_own_columns[i]) == 0)
      return ga__study_refuse(s->ctx, kind, name, "another name", NULL,
                              "the table of a sweep has a column of this name");
  return GA_OK;
}

static ga_status check_names(const ga_study *s, const ga__sets *sets)
{
  ga_status status = GA_OK;
  for (int i = 0; i < s->trial.n_measures && !status; i++) status = check_name(s, "measure", s->labels[i]);
  for (int i = 0; i < sets->n_varied && !status; i++)
    status = check_name(s, "parameter", sets->parameter[i].name);
  return status;
}

static ga_status check_measures(ga_study *s, const ga__sets *sets)
{
  ga_measures *measures = NULL;
  ga_status status = ga_measures_create(s->ctx, ga_model_machine(s->model), s->trial.n_measures,
                                        s->trial.measures, sets->n_varied, sets->parameter, NULL, &measures);
  s->units = ga__alloc(s->ctx, (size_t)s->trial.n_measures + 1, sizeof *s->units);
  if (!status && !s->units) status = ga__no_memory(s->ctx, "units of measures");
  for (int i = 0; i < s->trial.n_measures && !status; i++) {
    const char *unit = ga_measures_unit(measures, i);
    s->units[i] = ga__study_copy(s->ctx, unit, strlen(unit));
    if (!s->units[i]) status = ga__no_memory(s->ctx, "units of measures");
    for (int k = 0; k < i && !status; k++)
      if (strcmp(s->labels[i], s->labels[k]) == 0)
        status =
            ga__study_refuse(s->ctx, "measure", s->labels[i], "different names", NULL, "it is given twice");
    for (int k = 0; k < sets->n_varied && !status; k++)
      if (strcmp(s->labels[i], sets->parameter[k].name) == 0)
        status = ga__study_refuse(s->ctx, "measure", s->labels[i], "another name", NULL,
                                  "a parameter has this name");
  }
  ga_measures_destroy(&measures);
  return status;
}

/* ---- Times at which signals are kept ---- */

static ga_status make_times(ga_study *s, const ga_run_settings *o)
{
  const double span = o->t_end - o->t_start, n = o->output > 0.0 ? floor(span / o->output + 1e-9) + 1.0 : 0.0;
  if (s->trial.n_signals == 0) return GA_OK;
  if (n < 1.0)
    return ga__study_refuse(s->ctx, "setting", "output", "a time above 0", NULL,
                            "signals are kept at equal distances of time, and it is not given");
  if (n * s->trial.n_signals * (double)s->n_runs * sizeof(double) > MOST_BYTES)
    return ga__refuse(s->ctx, GA_ERR_ARGUMENT, GA_REASON_TOO_MANY,
                      &(ga__facts){.field = "values over time",
                                   .detail = "a larger output, or fewer signals, need less",
                                   GA__NUMBERS({n * s->trial.n_signals * (double)s->n_runs, NULL},
                                               {MOST_BYTES / sizeof(double), NULL})});
  s->times = ga__alloc(s->ctx, (size_t)n, sizeof *s->times);
  if (!s->times) return ga__no_memory(s->ctx, "times of a sweep");
  s->trial.n_times = (int)n;
  for (int i = 0; i < s->trial.n_times; i++) s->times[i] = fmin(o->t_start + o->output * i, o->t_end);
  s->trial.times = s->times;
  return GA_OK;
}

/* ---- What rows depend on ---- */

typedef uint64_t digest; /* FNV-1a */

static void add_bytes(digest *d, const void *bytes, size_t n)
{
  const unsigned char *at = bytes;
  for (size_t i = 0; i < n; i++) *d = (*d ^ at[i]) * 1099511628211u;
}

static void add_text(digest *d, const char *text)
{
  add_bytes(d, text, strlen(text) + 1);
}

static void add_settings(digest *d, const ga_study *s)
{
  for (int i = 0; i < s->trial.n_given; i++) {
    ga_setting at;
    if (!ga_setting_find(s->trial.given[i], &at)) continue;
    add_text(d, at.name);
    add_bytes(d, (const char *)&s->settings + at.offset,
              at.type == GA_SETTING_NUMBER ? sizeof(double) : sizeof(int));
  }
}

static ga_status make_digest(ga_study *s, ga__sets *sets, digest *out)
{
  const char *text = NULL;
  digest d = 14695981039346656037u;
  ga_status status = ga_model_write_text(s->model, &text, NULL);
  if (status) return status;
  add_text(&d, ga_version());
  add_text(&d, text);
  add_text(&d, ga_model_data(s->model));
  for (int i = 0; i < s->trial.n_measures; i++)
    add_text(&d, s->trial.measures[i]), add_text(&d, s->labels[i]);
  for (int i = 0; i < s->trial.n_signals; i++) add_text(&d, s->trial.signals[i]);
  add_bytes(&d, s->times, (size_t)s->trial.n_times * sizeof *s->times);
  add_settings(&d, s);
  for (int i = 0; i < sets->n - sets->n_varied; i++) add_text(&d, sets->set[i]);
  for (int i = 0; i < sets->n_varied; i++)
    add_text(&d, sets->parameter[i].name), add_text(&d, sets->parameter[i].unit);
  for (long i = 0; i < s->n_runs && !status; i++) {
    status = ga_design_values(s->design, i, sets->value);
    add_bytes(&d, sets->value, (size_t)sets->n_varied * sizeof *sets->value);
  }
  *out = d;
  return status;
}

ga_status ga__study_outdated(ga_context *ctx, const char *path, const char *of)
{
  char text[120];
  snprintf(text, sizeof text,
           "its file has changed while the %s was running, so that its runs do not belong together", of);
  return ga__refuse(ctx, GA_ERR_INCONSISTENT, GA_REASON_OTHER,
                    &(ga__facts){.kind = "model", .part = path, .detail = text});
}

ga_status ga__study_check_model(ga_study *s)
{
  ga__sets sets = {0};
  ga_run_settings settings;
  ga_model *first = s->model;
  digest now = 0;
  s->model = NULL;
  ga_status status = ga__study_sets_create(s, s->ctx, &sets);
  if (!status) status = open_first(s, &sets, &settings);
  if (!status) status = make_digest(s, &sets, &now);
  ga__study_sets_free(s->ctx, &sets);
  ga_model_destroy(&s->model);
  s->model = first;
  if (status == GA_ERR_MEMORY || (!status && now == s->digest)) return status;
  return ga__study_outdated(s->ctx, s->trial.model, "sweep");
}

/* ---- Rows ---- */

int ga_study_width(const ga_study *s)
{
  return s ? s->trial.n_measures + s->trial.n_signals * s->trial.n_times : 0;
}

/* Keeps a row; the lock is held. */
static ga_status keep_row(ga_study *s, const ga_study_row *row)
{
  ga__row *r = &s->row[row->run];
  const size_t width = (size_t)ga_study_width(s);
  if (width) memcpy(s->values + (size_t)row->run * width, row->values, width * sizeof *s->values);
  ga__free(s->ctx, r->text);
  r->text = NULL;
  if (*row->text && !(r->text = ga__study_copy(s->ctx, row->text, strlen(row->text))))
    return ga__no_memory(s->ctx, "a row of a sweep");
  if (r->status == GA_STUDY_NOT_RUN) {
    s->n_done++;
    s->n_failed += row->status == GA_STUDY_FAILED;
    s->n_inaccurate += row->status == GA_STUDY_INACCURATE;
  }
  r->status = row->status;
  r->warnings = row->warnings;
  return GA_OK;
}

static ga_status keep_old_row(void *user, const ga_study_row *row)
{
  return keep_row(user, row);
}

ga_status ga_study_store(ga_study *study, const ga_study_row *row)
{
  if (!study) return GA_ERR_ARGUMENT;
  if (!row || !row->values || !row->text) return ga__null_argument(study->ctx);
  if (row->run < 0 || row->run >= study->n_runs)
    return ga__refuse_number(study->ctx, "sweep", "run", (double)row->run, "a number of its runs");
  pthread_mutex_lock(&study->lock);
  ga_status status = study->journal ? ga__journal_add(study->ctx, study->journal, row) : GA_OK;
  if (!status) status = keep_row(study, row);
  pthread_mutex_unlock(&study->lock);
  return status;
}

long ga_study_take(ga_study *study)
{
  long run = -1;
  if (!study) return -1;
  pthread_mutex_lock(&study->lock);
  while (study->next < study->n_runs && study->row[study->next].status != GA_STUDY_NOT_RUN) study->next++;
  if (study->next < study->n_runs) run = study->next++;
  pthread_mutex_unlock(&study->lock);
  return run;
}

static ga_status make_rows(ga_study *s)
{
  const size_t width = (size_t)ga_study_width(s), n = (size_t)s->n_runs;
  s->row = ga__alloc(s->ctx, n, sizeof *s->row);
  s->values = ga__alloc(s->ctx, n * width + 1, sizeof *s->values);
  if (!s->row || !s->values) return ga__no_memory(s->ctx, "rows of a sweep");
  for (size_t i = 0; i < n; i++) s->row[i].status = GA_STUDY_NOT_RUN;
  for (size_t i = 0; i < n * width; i++) s->values[i] = NAN;
  return GA_OK;
}

/* ---- Creation ---- */

static ga_status prepare(ga_study *s, const ga_study_opts *o, ga__sets *sets)
{
  ga_run_settings settings;
  ga_status status = ga__study_sets_create(s, s->ctx, sets);
  if (!status) status = find_units(s, sets);
  if (!status) status = open_first(s, sets, &settings);
  if (!status) status = check_signals(s);
  if (!status) status = check_names(s, sets);
  if (!status) status = check_measures(s, sets);
  if (!status) status = make_times(s, &settings);
  if (!status) status = make_rows(s);
  if (!status) status = make_digest(s, sets, &s->digest);
  if (!status && o->journal)
    status = ga__journal_open(s->ctx, o->journal, s->digest, ga_study_width(s), s->n_runs, o->resume,
                              keep_old_row, s, &s->journal);
  return status;
}

ga_status ga_study_create(ga_context *ctx, const ga_study_opts *opts, ga_study **out)
{
  ga__sets sets = {0};
  if (out) *out = NULL;
  if (!ctx) return GA_ERR_ARGUMENT;
  if (!opts || !out) return ga__null_argument(ctx);
  ga_status status = check_opts(ctx, opts);
  if (status) return status;
  ga_study *s = ga__alloc(ctx, 1, sizeof *s);
  if (!s) return ga__no_memory(ctx, "a sweep");
  s->ctx = ctx;
  s->design = opts->design;
  s->n_runs = ga_design_n_runs(opts->design);
  s->has_lock = pthread_mutex_init(&s->lock, NULL) == 0;
  status = s->has_lock ? copy_opts(s, opts) : ga__no_memory(ctx, "a lock");
  if (!status) status = prepare(s, opts, &sets);
  ga__study_sets_free(ctx, &sets);
  if (status && !s->model) ga_study_destroy(&s);
  *out = s;
  return status;
}

/* ---- What is known of it ---- */

const ga_model *ga_study_model(const ga_study *study)
{
  return study ? study->model : NULL;
}

int ga_study_n_measures(const ga_study *study)
{
  return study ? study->trial.n_measures : 0;
}

const char *ga_study_label(const ga_study *study, int i)
{
  return study && i >= 0 && i < study->trial.n_measures ? study->labels[i] : NULL;
}

const char *ga_study_unit(const ga_study *study, int i)
{
  return study && study->units && i >= 0 && i < study->trial.n_measures ? study->units[i] : NULL;
}

/* While threads change it. */
static long read_count(const ga_study *study, const long *count)
{
  pthread_mutex_t *lock = (pthread_mutex_t *)&study->lock;
  pthread_mutex_lock(lock);
  const long n = *count;
  pthread_mutex_unlock(lock);
  return n;
}

long ga_study_n_done(const ga_study *study)
{
  return study ? read_count(study, &study->n_done) : 0;
}

long ga_study_n_failed(const ga_study *study)
{
  return study ? read_count(study, &study->n_failed) : 0;
}

long ga_study_n_inaccurate(const ga_study *study)
{
  return study ? read_count(study, &study->n_inaccurate) : 0;
}

unsigned long long ga_study_digest(const ga_study *study)
{
  return study ? study->digest : 0;
}

ga_study_status ga_study_status_of(const ga_study *study, long run)
{
  return study && study->row && run >= 0 && run < study->n_runs ? study->row[run].status : GA_STUDY_NOT_RUN;
}

const double *ga_study_values(const ga_study *study, long run)
{
  if (!study || !study->values || run < 0 || run >= study->n_runs) return NULL;
  return study->values + (size_t)run * (size_t)ga_study_width(study);
}

const char *ga_study_text(const ga_study *study, long run)
{
  if (!study || !study->row || run < 0 || run >= study->n_runs || !study->row[run].text) return "";
  return study->row[run].text;
}
