/* Parts of galpha sweep. */
#ifndef GALPHA_APP_SWEEP_H
#define GALPHA_APP_SWEEP_H

#include "progress.h"
#include "task.h"

#include "galpha/study.h"

/* Options that give a model's parameters, measures and settings. All 0: empty. */
typedef struct app_study {
  const app_arguments *a;
  ga_context *ctx;
  ga_design *design;
  const char **set;
  char **measures, **labels; /* [n_measures] */
  int n_measures;
  char **signals; /* [n_signals] */
  int n_signals;
  const char **given; /* [n_given] settings of the command line */
  int n_given;
  ga_run_settings settings;
} app_study;

long app_n_processors(void); /* that this process may use */
/* Reads them; returns an exit code. To be closed always. */
int app_study_open(app_study *s, const app_arguments *a);
void app_study_close(app_study *s);
/* Measures: operands behind the model, then those of --measure, each EXPRESSION or NAME=EXPRESSION; labels: their
 * names. Returns an exit code. To be freed always. */
int app_measures_take(const app_arguments *a, int *n, char ***texts, char ***labels);
void app_measures_free(int n, char **texts, char **labels);
/* "galpha sweep: text" of the last failure of the context, and an exit code for it. */
int app_study_explain(const app_study *s, ga_status status);

#endif
