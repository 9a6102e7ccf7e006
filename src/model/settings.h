/* The table of settings of a run: fields, as of parts, with additional data. (settings.c; read_settings.c
 * reads them) */
#ifndef GALPHA_MODEL_SETTINGS_H
#define GALPHA_MODEL_SETTINGS_H

#include "galpha/model.h"
#include "mbs/field.h"

typedef struct ga__setting {
  const char *option;                     /* of the program; NULL: the field's name with - for _ */
  const char *help;                       /* its line there; NULL: the field's `about` */
  double from, to;                        /* of numbers; both 0: as the field's rule says */
  int or_zero;                            /* 1: 0 is allowed too */
  const char *depends;                    /* setting that decides whether it is used; NULL: always used */
  unsigned long with;                     /* bits of the values of `depends` for which it is used, or */
  int (*method)(const ga_method_info *m); /* if it depends on the method: 1: this method uses it */
  int error_control, of_results;          /* as in ga_setting */
} ga__setting;

const ga__field *ga__setting_fields(int *n);
/* One row: is its number or choice possible? */
ga_status ga__setting_check(ga_context *ctx, int i, const ga_run_settings *settings);
/* Contradiction number i = 0, 1, ... between settings that are valid by themselves; returns 0: no more. */
int ga__settings_contradiction(ga_context *ctx, int i, const ga_run_settings *settings, ga_status *status);
/* The error for a setting that has no effect because of another one; returns 0: it is used. */
int ga__setting_unused(const ga_setting *setting, const ga_run_settings *settings, ga_error *why);

#endif
