/* Sweeps: shared by their files. */
#ifndef GALPHA_STUDY_STUDY_H
#define GALPHA_STUDY_STUDY_H

#include "study/study_impl.h"

#include <pthread.h>

typedef struct ga__row { /* beside its numbers */
  ga_study_status status;
  int warnings;
  char *text; /* NULL: none */
} ga__row;

struct ga_study {
  ga_context *ctx; /* with the lock held while threads run */
  const ga_design *design;
  ga__trial trial;
  ga_run_settings settings;
  const char **labels; /* [n_measures] */
  char **units;        /* [n_measures] */
  char **texts;        /* [n_texts] copies that the above point to */
  int n_texts;
  double *times;
  ga_model *model;                           /* of run 0 */
  char (*parameter_unit)[GA_PARAMETER_UNIT]; /* [parameters that vary] of SI; "": none */
  uint64_t digest;                           /* of all that rows depend on */
  ga__journal *journal;
  pthread_mutex_t lock;
  int has_lock;
  long n_runs, next, n_done, n_failed, n_inaccurate;
  ga__row *row;   /* [n_runs] */
  double *values; /* [n_runs × width] */
};

/* Columns that every table has. */
enum { GA__COLUMN_RUN, GA__COLUMN_STATUS, GA__COLUMN_WARNINGS, GA__COLUMN_MESSAGE, GA__N_OWN_COLUMNS };
extern const char *const ga__study_own_columns[GA__N_OWN_COLUMNS];

/* The overrides of one run, as texts and values. */
typedef struct ga__sets {
  int n, n_varied;
  const char **set;                /* [n] constants first */
  char (*text)[3 * GA_TEXT_PIECE]; /* [n_varied] */
  double *value;                   /* [n_varied] */
  ga_study_parameter *parameter;   /* [n_varied] */
} ga__sets;

ga_status ga__study_sets_create(const ga_study *s, ga_context *ctx, ga__sets *out);
void ga__study_sets_free(ga_context *ctx, ga__sets *sets);
ga_status ga__study_sets_fill(const ga_study *s, long run, ga__sets *sets);
/* GA_ERR_INCONSISTENT: the model's file has changed since the sweep was created. */
ga_status ga__study_check_model(ga_study *s);

#endif
