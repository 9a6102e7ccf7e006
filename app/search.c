/* What galpha fit and galpha optimize share: options, the model with what was found, JSON. */
#define _POSIX_C_SOURCE 200809L /* open_memstream */
#include "search.h"

#include "call.h"
#include "sweep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int no_memory(void)
{
  return fputs("galpha: out of memory\n", stderr), APP_FAILED;
}

static const char **take_list(const app_arguments *a, const char *option, int *n)
{
  *n = 0;
  while (app_values(a, option, *n)) (*n)++;
  const char **list = calloc((size_t)*n + 1, sizeof *list);
  for (int i = 0; list && i < *n; i++) list[i] = app_values(a, option, i)[0];
  return list;
}

static int take_settings(app_search *s)
{
  ga_setting at;
  char option[APP_OPTION_NAME];
  int n = 0;
  while (ga_setting_at(n, NULL)) n++;
  s->settings = ga_run_defaults();
  s->given = calloc((size_t)n + 1, sizeof *s->given);
  if (!s->given) return no_memory();
  for (int i = 0; ga_setting_at(i, &at); i++) {
    app_option_name(&at, option);
    if (app_has(s->a, option)) s->given[s->n_given++] = at.name;
  }
  return app_settings_take(s->a, &s->settings);
}

static int read_model(app_search *s)
{
  ga_model_opts opts = ga_model_defaults();
  ga_run_settings all;
  opts.n_set = s->n_set;
  opts.set = s->set;
  opts.allow_library = app_has(s->a, "allow-library");
  opts.without_meshes = 1;
  const ga_status status = ga_model_read_file(s->ctx, s->a->operands[0], &opts, &s->model);
  if (s->model && (status || !app_has(s->a, "quiet"))) app_print_messages(s->model);
  if (status && s->model) return fprintf(stderr, "%s: the model has errors\n", s->a->operands[0]), APP_USAGE;
  if (status) return app_search_explain(s, status, NULL);
  all = *ga_model_settings(s->model);
  app_settings_take(s->a, &all);
  ga_run_choose_steps(&all, app_has(s->a, "step"), app_has(s->a, "tol"), 0);
  return app_settings_unused(s->a, &all);
}

int app_search_open(app_search *s, const app_arguments *a)
{
  *s = (app_search){.a = a, .jobs = app_n_processors()};
  if (ga_context_create(NULL, &s->ctx)) return no_memory();
  s->set = take_list(a, "set", &s->n_set);
  s->vary = take_list(a, "vary", &s->n_vary);
  if (!s->set || !s->vary) return no_memory();
  if (s->n_vary == 0)
    return app_misused(a, "--vary is missing: parameters of the model, as --vary k=10:1:100N/m");
  int code = app_integer(a, "jobs", 1, 1024, &s->jobs);
  if (!code) code = take_settings(s);
  return code ? code : read_model(s);
}

void app_search_close(app_search *s)
{
  ga_model_destroy(&s->model);
  ga_context_destroy(&s->ctx);
  free(s->set);
  free(s->vary);
  free(s->given);
}

int app_search_explain(const app_search *s, ga_status status, const ga_model *model)
{
  const ga_error *e = ga_context_error(s->ctx);
  if (model && !ga_model_machine(model)) {
    app_print_messages(model);
    fprintf(stderr, "%s: the model has errors with these parameters\n", s->a->operands[0]);
    return APP_USAGE;
  }
  fprintf(stderr, "galpha %s: %s\n", s->a->command->name,
          e->status == status ? e->text : ga_status_text(status));
  if (e->status == status) app_call_keep_error(s->ctx);
  return status == GA_ERR_ARGUMENT ? APP_USAGE : APP_FAILED;
}

int app_search_file(const app_search *s, const char *option, const char *const *endings, int *code)
{
  const char *path = app_text(s->a, option);
  int fits = 0;
  if (!path) return 0;
  for (int i = 0; endings[i]; i++) fits |= app_ends_in(path, endings[i]);
  if (!fits) {
    *code = app_misused(s->a, "--%s: %s does not end in %s", option, path, endings[0]);
    return 0;
  }
  int error = app_output_check(path);
  if (!error) error = app_output_folder(path);
  if (error) return *code = app_output_refused(s->a, path, error), 0;
  if (s->model && ga_model_reads(s->model, path)) return *code = app_output_is_source(s->a, path), 0;
  for (int i = 1; i < s->a->n_operands; i++)
    if (app_same_file(path, s->a->operands[i]))
      return *code = app_misused(s->a, "--%s: %s has the data", option, path), 0;
  return 1;
}

void app_search_set(char *text, size_t size, const char *name, double value, const char *unit)
{
  char number[40];
  for (int digits = 6; digits <= 17; digits++) {
    snprintf(number, sizeof number, "%.*g", digits, value);
    if (strtod(number, NULL) == value) break;
  }
  snprintf(text, size, "%s=%s%s%s", name, number, *unit ? " " : "", unit);
}

int app_search_write(const app_search *s, const char *file, int n, const char *const *set)
{
  ga_model_opts opts = ga_model_defaults();
  ga_model *model = NULL;
  const char **all = calloc((size_t)s->n_set + (size_t)n + 1, sizeof *all);
  if (!all) return no_memory();
  for (int i = 0; i < s->n_set; i++) all[i] = s->set[i];
  for (int i = 0; i < n; i++) all[s->n_set + i] = set[i];
  opts.n_set = s->n_set + n;
  opts.set = all;
  opts.allow_library = app_has(s->a, "allow-library");
  ga_status status = ga_model_read_file(s->ctx, s->a->operands[0], &opts, &model);
  if (!status) status = ga_model_write_file(model, file);
  ga_model_destroy(&model);
  free(all);
  return status ? app_search_explain(s, status, NULL) : APP_DONE;
}

/* ---- Texts ---- */

int app_text_open(app_text_file *t)
{
  *t = (app_text_file){0};
  t->to = open_memstream(&t->text, &t->length);
  return t->to ? APP_DONE : no_memory();
}

int app_text_write(app_text_file *t, const app_arguments *a, const char *path)
{
  const int lost = fclose(t->to) != 0;
  const int error = lost || !path ? 0 : app_output_write(path, t->text, t->length);
  free(t->text);
  if (lost) return no_memory();
  return error ? app_output_refused(a, path, error) : APP_DONE;
}

void app_json_text(FILE *to, const char *text)
{
  fputc('"', to);
  for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
    if (*c == '"' || *c == '\\')
      fprintf(to, "\\%c", *c);
    else if (*c < 0x20)
      fprintf(to, "\\u%04x", *c);
    else
      fputc(*c, to);
  }
  fputc('"', to);
}

void app_json_number(FILE *to, double x)
{
  if (isfinite(x))
    fprintf(to, "%.17g", x);
  else
    fputs("null", to);
}
