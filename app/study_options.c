/* Options of galpha sweep: which runs are made, and what is measured. */
#include "sweep.h"

#include "columns.h"
#include "table.h"

#include <stdlib.h>
#include <string.h>

static int no_memory(void)
{
  return fputs("galpha: out of memory\n", stderr), APP_FAILED;
}

int app_study_explain(const app_study *s, ga_status status)
{
  const ga_error *e = ga_context_error(s->ctx);
  fprintf(stderr, "galpha %s: %s\n", s->a->command->name,
          e->status == status ? e->text : ga_status_text(status));
  return status == GA_ERR_ARGUMENT ? APP_USAGE : APP_FAILED;
}

static int n_values(const app_arguments *a, const char *option)
{
  int n = 0;
  while (app_values(a, option, n)) n++;
  return n;
}

/* ---- Parameters ---- */

static int take_sampling(const app_arguments *a, ga_design_opts *o)
{
  const char *text = app_text(a, "sampling");
  long samples = 0, seed = 1, most = o->most;
  int code = app_integer(a, "samples", 1, 1000000000, &samples);
  if (!code) code = app_integer(a, "seed", 0, 1000000000, &seed);
  if (!code) code = app_integer(a, "max-runs", 1, 1000000000, &most);
  if (code) return code;
  o->samples = samples;
  o->seed = (unsigned long)seed;
  o->most = most;
  o->zip = app_has(a, "zip");
  if (!text || strcmp(text, "random") == 0) return APP_DONE;
  if (strcmp(text, "latin") != 0) return app_misused(a, "--sampling: \"%s\" is none of random, latin", text);
  o->sampling = GA_SAMPLE_LATIN;
  return APP_DONE;
}

/* Values are drawn only if there are distributions. */
static int check_sampling(const app_study *s, const ga_design_opts *o)
{
  int drawn = 0;
  for (int i = 0; i < o->n_set; i++)
    for (int k = 0; ga_distribution_at(k, NULL); k++) {
      const char *value = strchr(o->set[i], '='), *word = ga_distribution_at(k, NULL);
      const size_t n = strlen(word);
      if (!value) continue;
      value += 1 + strspn(value + 1, " ");
      if (strncmp(value, word, n) == 0 && value[n + strspn(value + n, " ")] == '(') drawn = 1;
    }
  static const char *const options[] = {"samples", "sampling", "seed"};
  for (size_t i = 0; i < 3 && !drawn; i++)
    if (app_has(s->a, options[i]))
      return app_misused(s->a, "--%s has no effect, since no parameter has a distribution", options[i]);
  if (drawn && !app_has(s->a, "samples"))
    return app_misused(s->a, "--samples is missing: how many values are drawn from the distributions");
  return APP_DONE;
}

static int make_design(app_study *s)
{
  ga_design_opts o = ga_design_defaults();
  app_table *table = NULL;
  const char *file = app_text(s->a, "runs");
  o.n_set = n_values(s->a, "set");
  s->set = calloc((size_t)o.n_set + 1, sizeof *s->set);
  if (!s->set) return no_memory();
  for (int i = 0; i < o.n_set; i++) s->set[i] = app_values(s->a, "set", i)[0];
  o.set = s->set;
  int code = take_sampling(s->a, &o);
  if (!code) code = check_sampling(s, &o);
  if (!code && file) code = app_table_read(s->a, s->ctx, file, app_no_time, &table);
  if (!code && file) {
    o.n_columns = table->n_columns;
    o.n_rows = table->n;
    o.names = (const char *const *)table->name;
    o.units = (const char *const *)table->unit;
    o.columns = table->value;
  }
  if (!code) {
    const ga_status status = ga_design_create(s->ctx, &o, &s->design);
    if (status) code = app_study_explain(s, status);
  }
  app_table_free(&table);
  return code;
}

/* ---- Measures and signals ---- */

/* 1: the text begins with "NAME=" of a measure's own name, which may be anything but a beginning of an
 * expression with a measure; *n: its length. */
static int has_name(const char *text, size_t *n)
{
  *n = strcspn(text, "=()<>!\"\n\r\t");
  return *n > strspn(text, " ") && text[*n] == '=' && text[*n + 1] != '=';
}

int app_measures_take(const app_arguments *a, int *n, char ***texts, char ***labels)
{
  const int n_operands = a->n_operands - 1, all = n_operands + n_values(a, "measure");
  *texts = calloc((size_t)all + 1, sizeof **texts);
  *labels = calloc((size_t)all + 1, sizeof **labels);
  if (!*texts || !*labels) return no_memory();
  for (*n = 0; *n < all; ++*n) {
    const char *text = *n < n_operands ? a->operands[1 + *n] : app_values(a, "measure", *n - n_operands)[0];
    size_t bytes;
    const int named = has_name(text, &bytes);
    const char *value = named ? text + bytes + 1 : text;
    (*texts)[*n] = app_trimmed(value, strlen(value));
    (*labels)[*n] = named ? app_trimmed(text, bytes) : app_trimmed(value, strlen(value));
    if (!(*texts)[*n] || !(*labels)[*n]) return ++*n, no_memory();
  }
  return APP_DONE;
}

/* --record a,b --record c */
static int take_signals(app_study *s)
{
  size_t room = 1;
  for (int i = 0; i < n_values(s->a, "record"); i++) room += strlen(app_values(s->a, "record", i)[0]) + 1;
  s->signals = calloc(room, sizeof *s->signals);
  if (!s->signals) return no_memory();
  for (int i = 0; i < n_values(s->a, "record"); i++)
    for (const char *at = app_values(s->a, "record", i)[0];;) {
      const size_t n = strcspn(at, ",");
      if (!(s->signals[s->n_signals++] = app_trimmed(at, n))) return no_memory();
      if (!at[n]) break;
      at += n + 1;
    }
  return APP_DONE;
}

static int take_settings(app_study *s)
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

int app_study_open(app_study *s, const app_arguments *a)
{
  *s = (app_study){.a = a};
  if (ga_context_create(NULL, &s->ctx)) return no_memory();
  int code = make_design(s);
  if (!code) code = app_measures_take(a, &s->n_measures, &s->measures, &s->labels);
  if (!code) code = take_signals(s);
  return code ? code : take_settings(s);
}

static void free_list(char **list, int n)
{
  for (int i = 0; list && i < n; i++) free(list[i]);
  free(list);
}

void app_measures_free(int n, char **texts, char **labels)
{
  free_list(texts, n);
  free_list(labels, n);
}

void app_study_close(app_study *s)
{
  ga_design_destroy(&s->design);
  ga_context_destroy(&s->ctx);
  free(s->set);
  app_measures_free(s->n_measures, s->measures, s->labels);
  free_list(s->signals, s->n_signals);
  free(s->given);
}
