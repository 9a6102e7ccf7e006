/* Checkpoints, and runs that continue from them. */
#define _POSIX_C_SOURCE 200809L
#include "runner.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A checkpoint: LAYOUT, the lengths of the four parts, the totals, the simulator's numbers, the meter's,
 * those of error bars. */
#define LAYOUT 2.0
enum { N_HEAD = 5 };

ga_status app_checkpoint_prepare(app_runner *r)
{
  r->n_saved = N_HEAD + APP_N_TOTALS + ga_simulator_saved_size(r->s.simulator) +
               ga_meter_saved_size(r->meter) + app_bars_saved_size(&r->bars);
  free(r->saved);
  r->saved = calloc(r->n_saved, sizeof *r->saved);
  return r->saved ? GA_OK : GA_ERR_MEMORY;
}

static void head_of(const app_runner *r, double head[N_HEAD])
{
  head[0] = LAYOUT;
  head[1] = APP_N_TOTALS;
  head[2] = (double)ga_simulator_saved_size(r->s.simulator);
  head[3] = (double)ga_meter_saved_size(r->meter);
  head[4] = (double)app_bars_saved_size(&r->bars);
}

static ga_status write_down(app_runner *r)
{
  const double t = ga_stepper_state(r->s.stepper)->t;
  const ga_status status = r->written = ga_recorder_checkpoint(r->recorder, t, r->saved, r->n_saved);
  r->clock_saved = app_clock();
  if (status) return status;
  r->t_saved = t;
  r->has_saved = 1;
  return GA_OK;
}

ga_status app_checkpoint_keep(app_runner *r, int must_write)
{
  double *part = r->saved + N_HEAD;
  const app_totals totals = app_runner_totals(r);
  head_of(r, r->saved);
  memcpy(part, &totals, sizeof totals);
  ga_status status = ga_simulator_save(r->s.simulator, part += APP_N_TOTALS);
  if (status) return status;
  ga_meter_save(r->meter, part += ga_simulator_saved_size(r->s.simulator));
  status = app_bars_save(&r->bars, part + ga_meter_saved_size(r->meter));
  if (status) return status;
  if (!r->has_saved) must_write = 1; /* the first one, so that a run stopped early can be resumed */
  return must_write || app_clock() - r->clock_saved >= r->flush_every ? write_down(r) : GA_OK;
}

/* ---- Resuming ---- */

/* Checks that the options which results depend on are the same: --set if `set` is 1, all others if
 * it is 0. */
static int same_options(app_runner *r, const ga_result *result, int set)
{
  char value[512];
  const char *name, *was;
  for (int i = 0; (name = app_record_option(r, i, value, sizeof value)) != NULL; i++)
    if ((strcmp(name, "set") == 0) == set && (was = ga_result_attribute(result, name)) != NULL &&
        strcmp(was, value) != 0)
      return app_misused(r->a,
                         "--resume: %s was made with %s = \"%s\", now it is \"%s\"; only --t-end may change",
                         r->file, name, was, value);
  return APP_DONE;
}

/* Checks the end: error bars need a run of the same length, which determines their windows. */
static int same_end(const app_runner *r, const ga_result *result)
{
  const char *end = ga_result_attribute(result, "t_end");
  if (r->bars.accuracy == 0.0 || !end || strtod(end, NULL) == r->s.settings.t_end) return APP_DONE;
  return app_misused(
      r->a,
      "--resume: %s was made up to t = %s s; error bars are those of a whole run, so that --t-end "
      "cannot change: run it from the beginning, or with --tol",
      r->file, end);
}

/* Checks options and model. --set comes first, since the text of the model contains its values. */
static int same_run(app_runner *r, const ga_result *result)
{
  const int set = same_options(r, result, 1);
  if (set != APP_DONE) return set;
  if (strcmp(ga_result_model(result), ga_model_text(r->s.model)) != 0)
    return app_misused(
        r->a, "--resume: the model is not the one that %s was made of; run it from the beginning", r->file);
  const char *data = ga_result_attribute(result, "data");
  if (strcmp(data ? data : "", ga_model_data(r->s.model)) != 0)
    return app_misused(r->a,
                       "--resume: a file with matrices, which the model names, has changed since %s was made",
                       r->file);
  const int options = same_options(r, result, 0);
  return options == APP_DONE ? same_end(r, result) : options;
}

static ga_status load(app_runner *r, const double *saved)
{
  const double *part = saved + N_HEAD;
  memcpy(&r->before, part, sizeof r->before);
  ga_status status = ga_simulator_load(r->s.simulator, part += APP_N_TOTALS);
  if (!status) status = ga_meter_load(r->meter, part += ga_simulator_saved_size(r->s.simulator));
  if (!status) status = app_bars_load(&r->bars, part + ga_meter_saved_size(r->meter));
  r->metered = r->has_saved = status == GA_OK;
  return status;
}

static int fits(const app_runner *r, const double *saved, size_t n)
{
  double head[N_HEAD];
  head_of(r, head);
  return n == r->n_saved && memcmp(head, saved, sizeof head) == 0;
}

static int take_up(app_runner *r, ga_result *result, int *resumed)
{
  double t = 0.0;
  size_t n = 0;
  if (ga_result_checkpoint(result, &t, &n, NULL)) return APP_USAGE;
  if (n == 0) return APP_DONE;
  if (t > r->s.settings.t_end)
    return app_misused(r->a, "--resume: %s has come to t = %.9g s already; --t-end must be later", r->file,
                       t);
  double *saved = calloc(n, sizeof *saved);
  if (!saved) return fputs("galpha: out of memory\n", stderr), APP_FAILED;
  ga_status status = ga_result_checkpoint(result, &t, &n, saved);
  int code = APP_DONE;
  if (!status && !fits(r, saved, n))
    code = app_misused(r->a, "--resume: the checkpoint of %s belongs to another version of galpha", r->file);
  else if (!status)
    status = load(r, saved);
  free(saved);
  if (status) return app_task_explain(&r->s, r->a, "--resume", status), APP_USAGE;
  r->t_saved = t;
  *resumed = code == APP_DONE;
  return code;
}

int app_checkpoint_resume(app_runner *r, int *resumed)
{
  ga_result *result = NULL;
  *resumed = 0;
  if (access(r->file, F_OK) != 0) return APP_DONE;
  const ga_status status = ga_result_open(r->s.ctx, r->file, &result);
  if (status) return app_task_explain(&r->s, r->a, "--resume", status), APP_USAGE;
  const char *every = ga_result_attribute(result, "checkpoint_every");
  if (every && !app_has(r->a, "checkpoint-every")) r->checkpoint_every = strtol(every, NULL, 10);
  r->had_finished = ga_result_run_status(result) == GA_RUN_FINISHED;
  if (ga_result_verify(result)) fprintf(stderr, "warning: %s\n", ga_context_error(r->s.ctx)->text);
  int code = same_run(r, result);
  if (!code) code = take_up(r, result, resumed);
  ga_result_close(&result);
  return code;
}

int app_checkpoint_tolerance(app_runner *r)
{
  ga_result *result = NULL;
  if (r->bars.accuracy == 0.0 || access(r->file, F_OK) != 0) return APP_DONE;
  const ga_status status = ga_result_open(r->s.ctx, r->file, &result);
  if (status) return app_task_explain(&r->s, r->a, "--resume", status), APP_USAGE;
  const char *tolerance = ga_result_attribute(result, "tolerance");
  if (tolerance && strtod(tolerance, NULL) > 0.0) r->s.settings.tolerance = strtod(tolerance, NULL);
  ga_result_close(&result);
  return APP_DONE;
}
