/* The table of settings of a run, inside the layer: rows are fields, as those of parts, with what follows
 * besides. (settings.c; read_settings.c reads them) */
#ifndef GALPHA_MODEL_SETTINGS_H
#define GALPHA_MODEL_SETTINGS_H

#include "galpha/model.h"
#include "mbs/field.h"

typedef struct ga__setting {
  const char *option;                     /* of the program; NULL: the field's name with - for _ */
  const char *help;                       /* its line there; NULL: the field's `about` */
  double from, to;                        /* of numbers; both 0: as the field's rule says */
  int or_zero;                            /* 1: 0 besides */
  const char *depends;                    /* the choice that decides whether it is used; NULL: it always is */
  unsigned long with;                     /* by which of its values, as bits; */
  int (*method)(const ga_method_info *m); /* in place of them where it depends on the method: 1: this one */
  int error_control, of_results;          /* as in ga_setting */
} ga__setting;

const ga__field *ga__setting_fields(int *n);
/* One row: is its number or choice possible? */
ga_status ga__setting_check(ga_context *ctx, int i, const ga_run_settings *settings);
/* Contradictions between settings that are possible each; number i = 0, 1, ..., 0: there are not so many. */
int ga__settings_contradiction(ga_context *ctx, int i, const ga_run_settings *settings, ga_status *status);
/* The facts of a setting that is given, but which another one leaves without a use; 0: it is used. */
int ga__setting_unused(const ga_setting *setting, const ga_run_settings *settings, ga_error *why);

#endif
