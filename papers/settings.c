#include "papers_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int fail(char *text, size_t size, const char *what, const char *name)
{
  snprintf(text, size, "setting \"%s\": %s", name, what);
  return 1;
}

static int take_number(const ga_setting *at, const char *value, void *place, char *text, size_t size)
{
  char *end = NULL;
  const double number = strtod(value, &end);
  if (end == value || *end) return fail(text, size, "not a number", at->name);
  if (at->type == GA_SETTING_INTEGER)
    *(int *)place = (int)number;
  else
    *(double *)place = number;
  return 0;
}

static int take(const char *name, const char *value, ga_run_settings *o, char *text, size_t size)
{
  ga_setting at;
  if (!ga_setting_find(name, &at)) return fail(text, size, "there is none such", name);
  void *place = (char *)o + at.offset;
  if (at.type == GA_SETTING_FLAG) {
    *(int *)place = strcmp(value, "true") == 0;
    return *(int *)place || strcmp(value, "false") == 0 ? 0
                                                        : fail(text, size, "neither true nor false", name);
  }
  if (at.type != GA_SETTING_CHOICE) return take_number(&at, value, place, text, size);
  for (int i = 0; i < at.n_choices; i++)
    if (strcmp(value, at.choices[i]) == 0) return *(int *)place = i, 0;
  return fail(text, size, "no such choice", name);
}

int pp_settings_read(const char *given, ga_run_settings *o, char *text, size_t size)
{
  char pair[96];
  while (*given) {
    const size_t n = strcspn(given, " ");
    snprintf(pair, sizeof pair, "%.*s", (int)n, given);
    char *equals = strchr(pair, '=');
    if (!equals) return fail(text, size, "no value", pair);
    *equals = '\0';
    if (take(pair, equals + 1, o, text, size)) return 1;
    given += n + strspn(given + n, " ");
  }
  return 0;
}
