/* Result files as operands, and the commands that only read them: export and info. */
#define _POSIX_C_SOURCE 200809L
#include "results.h"
#include "call.h"
#include "events.h"
#include "terminal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int app_result_open(const app_arguments *a, ga_context *ctx, const char *file, ga_result **out)
{
  const ga_status status = ga_result_open(ctx, file, out);
  const ga_error *e = ga_context_error(ctx);
  if (!status) return APP_DONE;
  app_call_keep_error(ctx);
  return app_misused(a, "%s", e->status == status ? e->text : ga_status_text(status));
}

void app_result_warn(ga_result *r, const char *file)
{
  static const char *const early[] = {[GA_RUN_RUNNING] = "has not ended: it is still running, or was killed",
                                      [GA_RUN_STOPPED] = "was stopped before its end",
                                      [GA_RUN_FAILED] = "failed before its end"};
  const ga_run_status status = ga_result_run_status(r);
  const long n = ga_result_n_records(r);
  double last = 0.0;
  if (status == GA_RUN_UNKNOWN || !early[status]) return;
  fprintf(stderr, "warning: %s: the run %s; ", file, early[status]);
  if (n > 0 && !ga_result_read(r, -1, n - 1, 1, &last))
    fprintf(stderr, "there are records up to t = %.9g s\n", last);
  else
    fputs("there are no records\n", stderr);
}

static const char *signal_at(const void *r, int i)
{
  return ga_result_signal_name(r, i);
}

int app_result_no_signal(const app_arguments *a, const ga_result *r, const char *file, const char *name)
{
  const char *nearest = app_nearest(name, ga_result_n_signals(r), signal_at, r);
  char left_out[APP_LEFT_OUT];
  app_result_left_out(r, left_out);
  if (nearest)
    return app_misused(a, "%s has no signal \"%s\"; the nearest is %s%s", file, name, nearest, left_out);
  return app_misused(a, "%s has no signal \"%s\"; galpha info %s --signals lists those it has%s", file, name,
                     file, left_out);
}

void app_result_left_out(const ga_result *r, char text[APP_LEFT_OUT])
{
  const char *given = ga_result_attribute(r, GA_RESULT_LEFT_OUT);
  const long n = given ? strtol(given, NULL, 10) : 0;
  *text = '\0';
  if (n > 0 && n < 1000000000)
    snprintf(text, APP_LEFT_OUT,
             "; %ld that cannot change were not recorded, galpha run --record '*' records all", n);
}

int app_result_has(const ga_result *r, const char *pattern)
{
  for (int i = 0; i < ga_result_n_signals(r); i++)
    if (app_matches(pattern, ga_result_signal_name(r, i))) return 1;
  return 0;
}

/* ---- export ---- */

/* Names of the signals that match the operands, in the order of the operands, each once; returns an exit
 * code. */
static int chosen_names(const app_arguments *a, const ga_result *r, const char **names, int *n)
{
  const int all = ga_result_n_signals(r);
  char *taken = calloc((size_t)all + 1, 1);
  int code = APP_DONE;
  if (!taken) return fputs("galpha: out of memory\n", stderr), APP_FAILED;
  for (int k = 1; k < a->n_operands && !code; k++) {
    const char *pattern = a->operands[k];
    if (!(strcmp(pattern, "time") == 0 && ga_result_find(r, pattern) < 0) && !app_result_has(r, pattern))
      code = app_result_no_signal(a, r, a->operands[0], pattern);
    for (int i = 0; i < all && !code; i++) {
      if (taken[i] || !app_matches(pattern, ga_result_signal_name(r, i))) continue;
      names[(*n)++] = ga_result_signal_name(r, i);
      taken[i] = 1;
    }
  }
  free(taken);
  return code;
}

/* Inserts the name of its error bars after each of the n names; the array is large enough. */
static int add_errors(const app_arguments *a, const ga_result *r, const char **names, int *n)
{
  if (ga_result_error(r, 0) < 0)
    return app_misused(a, "--errors: %s has no error bars; galpha run --accuracy makes them", a->operands[0]);
  for (int k = *n - 1; k >= 0; k--) {
    const char *name = names[k];
    names[2 * k] = name;
    names[2 * k + 1] = ga_result_signal_name(r, ga_result_error(r, ga_result_find(r, name)));
  }
  *n *= 2;
  return APP_DONE;
}

/* Writes to the standard output: the library writes files only, so a temporary file is copied, from a private
 * folder. */
static int copy_out(ga_result *r, int n, const char **names, ga_status *status)
{
  const char *given = getenv("TMPDIR");
  char folder[2048], name[sizeof folder + 8], block[8192];
  size_t length = 0;
  snprintf(folder, sizeof folder, "%s/galpha-XXXXXX",
           given && strlen(given) < 1024 && *given ? given : "/tmp");
  if (!mkdtemp(folder))
    return fprintf(stderr, "galpha export: a temporary folder cannot be created: %s\n", strerror(errno)),
           APP_FAILED;
  snprintf(name, sizeof name, "%s/table", folder);
  *status = ga_result_export_csv(r, name, n, names);
  FILE *file = fopen(name, "rb");
  remove(name);
  remove(folder);
  app_terminal_data();
  while (file && (length = fread(block, 1, sizeof block, file)) > 0) fwrite(block, 1, length, stdout);
  if (file) fclose(file);
  return APP_DONE;
}

/* A line of names, then a line for each event. */
static int write_events(const app_arguments *a, const ga_result *r, const char *file)
{
  char *text = NULL;
  size_t length = 0;
  FILE *to = open_memstream(&text, &length);
  if (!to) return fputs("galpha: out of memory\n", stderr), APP_FAILED;
  fputs("time [s],event\n", to);
  for (long i = 0; i < ga_result_n_events(r); i++)
    fprintf(to, "%.17g,%s\n", ga_result_event_time(r, i), ga_result_event_name(r, i));
  const int failed = fclose(to), to_output = strcmp(file, "-") == 0;
  const int error = failed ? ENOMEM : to_output ? 0 : app_output_write(file, text, length);
  if (!error && to_output) app_terminal_data(), fwrite(text, 1, length, stdout);
  free(text);
  if (error) return app_output_refused(a, file, error);
  if (!to_output) printf("%s: %ld events\n", file, ga_result_n_events(r));
  return APP_DONE;
}

static int write_csv(const app_arguments *a, ga_context *ctx, ga_result *r, const char *file)
{
  if (app_has(a, "events") && (a->n_operands > 1 || app_has(a, "errors")))
    return app_misused(a, "--events exports no signals and no error bars");
  if (app_has(a, "events")) return write_events(a, r, file);
  const int to_output = strcmp(file, "-") == 0;
  const int errors = app_has(a, "errors");
  const char **names = calloc(2 * (size_t)ga_result_n_signals(r) + 1, sizeof *names);
  ga_status status = GA_OK;
  int n = 0;
  if (!names) return fputs("galpha: out of memory\n", stderr), APP_FAILED;
  int code = chosen_names(a, r, names, &n);
  if (a->n_operands == 1)
    for (n = 0; n < ga_result_n_signals(r); n++) names[n] = ga_result_signal_name(r, n);
  if (!code && errors) code = add_errors(a, r, names, &n);
  const char **used = a->n_operands > 1 || errors ? names : NULL;
  if (!code && to_output)
    code = copy_out(r, n, used, &status);
  else if (!code)
    status = ga_result_export_csv(r, file, n, used);
  if (status) code = (fprintf(stderr, "galpha export: %s\n", ga_context_error(ctx)->text), APP_FAILED);
  if (!code && !to_output) printf("%s: %ld records of %d signals\n", file, ga_result_n_records(r), n);
  free(names);
  return code;
}

/* Refuses to write over a result or a model. */
static int refuse_table(const app_arguments *a, const char *file)
{
  static const char *const others[] = {".yaml", ".yml", ".h5", ".hdf5"};
  if (app_same_file(file, a->operands[0])) return app_misused(a, "-o: %s is the result file itself", file);
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (app_ends_in(file, others[i]))
      return app_misused(a, "-o: %s ends like a model or a result; a table needs another name", file);
  return APP_DONE;
}

int app_export(const app_arguments *a)
{
  const char *out = app_text(a, "out"), *csv = app_text(a, "csv"), *given = out ? out : csv;
  if (out && csv && strcmp(out, csv) != 0) return app_misused(a, "-o and --csv name two files");
  char *beside = given ? NULL : app_beside(a->operands[0], app_has(a, "events") ? "_events.csv" : ".csv");
  const char *const file = given ? given : beside;
  ga_context *ctx = NULL;
  ga_result *r = NULL;
  if (!file) return fputs("galpha: out of memory\n", stderr), APP_FAILED;
  int code = refuse_table(a, file);
  if (!code && ga_context_create(NULL, &ctx)) code = (fputs("galpha: out of memory\n", stderr), APP_FAILED);
  if (!code) code = app_result_open(a, ctx, a->operands[0], &r);
  if (!code) app_result_warn(r, a->operands[0]);
  if (!code) code = write_csv(a, ctx, r, file);
  ga_result_close(&r);
  ga_context_destroy(&ctx);
  free(beside);
  return code;
}

/* ---- info ---- */

enum { FEW_SIGNALS = 40 };

static void print_signals(const ga_result *r, int all)
{
  const int n = ga_result_n_signals(r), shown = all || n <= FEW_SIGNALS ? n : FEW_SIGNALS;
  char left_out[APP_LEFT_OUT];
  app_result_left_out(r, left_out);
  printf("signals      %d%s%s\n", n,
         ga_result_error(r, 0) >= 0 ? ", each with its error bars: plot --band, export --errors" : "",
         left_out);
  for (int i = 0; i < shown; i++)
    printf("  %s [%s]\n", ga_result_signal_name(r, i), ga_result_signal_unit(r, i));
  if (shown < n) printf("  and %d more; --signals lists all\n", n - shown);
}

/* 1: the setting has its usual value and is not shown. */
static int is_default(const ga_result *r, const char *name)
{
  static const struct {
    const char *name, *value;
  } usual[] = {{"accuracy", "0"}, {"atol", "0"},         {"rtol_v", "0"}, {"atol_v", "0"},  {"rtol_x", "0"},
               {"atol_x", "0"},   {"error", "per_step"}, {"norm", "max"}, {"poses", "true"}};
  for (size_t i = 0; i < sizeof usual / sizeof *usual; i++) {
    const char *value = strcmp(name, usual[i].name) == 0 ? ga_result_attribute(r, name) : NULL;
    if (value && strcmp(value, usual[i].value) == 0) return 1;
  }
  return 0;
}

/* 1: the setting has no effect: one of step and tolerance. */
static int has_no_effect(const ga_result *r, const char *name)
{
  const char *step = ga_result_attribute(r, "step");
  const int fixed = step && strtod(step, NULL) > 0.0;
  if (strcmp(name, fixed ? "tolerance" : "step") == 0) return 1;
  return is_default(r, name);
}

static void print_facts(const ga_result *r)
{
  for (int i = 0; i < ga_result_n_attributes(r); i++) {
    const char *name = ga_result_attribute_name(r, i), *value = ga_result_attribute(r, name);
    if (!value || !*value || strcmp(name, GA_RESULT_LEFT_OUT) == 0 || has_no_effect(r, name)) continue;
    printf("%-12s ", name);
    for (; *value; value++) putchar(*value == '\n' ? ' ' : *value); /* one fact, one line */
    putchar('\n');
  }
}

static int print_all(const app_arguments *a, ga_context *ctx, ga_result *r)
{
  const long n = ga_result_n_records(r);
  double first = 0.0, last = 0.0, t = 0.0;
  size_t length = 0;
  if (n > 0) ga_result_read(r, -1, 0, 1, &first); /* NaN where it is damaged, which is reported at the end */
  if (n > 0) ga_result_read(r, -1, n - 1, 1, &last);
  ga_result_checkpoint(r, &t, &length, NULL);
  printf("%s\n", a->operands[0]);
  print_facts(r);
  printf("records      %ld", n);
  if (n > 0) printf(", from t = %.9g s to %.9g s", first, last);
  putchar('\n');
  if (length > 0) printf("checkpoint   at t = %.9g s; galpha run --resume continues from it\n", t);
  app_events_list(r, stdout, app_has(a, "signals"));
  print_signals(r, app_has(a, "signals"));
  if (!ga_result_verify(r)) return APP_DONE;
  fprintf(stderr, "galpha info: %s\n", ga_context_error(ctx)->text);
  return APP_FAILED;
}

int app_info(const app_arguments *a)
{
  ga_context *ctx = NULL;
  ga_result *r = NULL;
  if (ga_context_create(NULL, &ctx)) return fputs("galpha: out of memory\n", stderr), APP_FAILED;
  int code = app_result_open(a, ctx, a->operands[0], &r);
  if (!code && app_has(a, "model") && !*ga_result_model(r))
    code = app_misused(a, "%s has no model, or one that is damaged", a->operands[0]);
  else if (!code && app_has(a, "model"))
    app_terminal_data(), fputs(ga_result_model(r), stdout);
  else if (!code && app_has(a, "names"))
    for (int i = 0; i < ga_result_n_signals(r); i++) puts(ga_result_signal_name(r, i));
  else if (!code)
    code = print_all(a, ctx, r);
  ga_result_close(&r);
  ga_context_destroy(&ctx);
  return code;
}
