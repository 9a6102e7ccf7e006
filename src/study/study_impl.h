/* Internals of the study layer. */
#ifndef GALPHA_STUDY_IMPL_H
#define GALPHA_STUDY_IMPL_H

#include "base/base_impl.h"
#include "galpha/study.h"

#include <stdint.h>

/* "KIND 'PART': ..." about a text that is not understood; expected and nearest may be NULL. GA_ERR_ARGUMENT.
 */
ga_status ga__study_refuse(ga_context *ctx, const char *kind, const char *part, const char *expected,
                           const char *nearest, const char *format, ...) GA_PRINTF(6, 7);
/* The model's files have changed while its runs, `of` a sweep, a fit, ..., were made. GA_ERR_INCONSISTENT. */
ga_status ga__study_outdated(ga_context *ctx, const char *path, const char *of);
/* A copy of n bytes without blanks at both ends; NULL: no memory. */
char *ga__study_copy(ga_context *ctx, const char *text, size_t n);

/* ---- Random numbers by counters (random.c) ---- */

/* Philox 4×32 with 10 rounds (Salmon and others 2011): the numbers of a counter, by a key. */
void ga__philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);
/* In (0, 1), of 53 bits: number `index` of stream `stream`, by the seed. */
double ga__random(uint64_t seed, uint32_t stream, uint64_t index);

/* ---- Distributions (distribution.c) ---- */

typedef enum ga__distribution_kind {
#define GA__DISTRIBUTION_ENUM(name, word, needs, plain, text) GA__##name,
  GA_DISTRIBUTION_LIST(GA__DISTRIBUTION_ENUM)
#undef GA__DISTRIBUTION_ENUM
      GA__N_DISTRIBUTIONS
} ga__distribution_kind;

typedef struct ga__distribution {
  ga__distribution_kind kind;
  double p[3];
  double min, max; /* where it is truncated; infinite: not */
} ga__distribution;

extern const char *const ga__distribution_words[GA__N_DISTRIBUTIONS];
int ga__distribution_needs(ga__distribution_kind kind); /* arguments, */
int ga__distribution_plain(ga__distribution_kind kind); /* of which the last ones are plain numbers */
/* What its arguments must be; NULL: they are right. */
const char *ga__distribution_fault(const ga__distribution *d);
/* The value below which the part u of all draws lies. */
double ga__distribution_quantile(const ga__distribution *d, double u);
double ga__normal_quantile(double u);

/* ---- One parameter of a design (axis.c) ---- */

typedef enum ga__axis_kind { GA__AXIS_CONSTANT, GA__AXIS_LIST, GA__AXIS_DRAWN } ga__axis_kind;

typedef struct ga__axis {
  ga__axis_kind kind;
  char *name, *constant;    /* constant: the text of its value */
  char unit[GA_TEXT_PIECE]; /* of SI; "": none was given */
  long n;                   /* of a list */
  double *value;            /* [n] */
  ga__distribution drawn;
} ga__axis;

/* "k=1:10:0.5kN/m"; most: numbers that a list may have. */
ga_status ga__axis_read(ga_context *ctx, const char *text, long most, ga__axis *out);
void ga__axis_free(ga_context *ctx, ga__axis *axis);

/* ---- Designs (design.c) ---- */

int ga__design_n_constants(const ga_design *design);
/* "name=text" of constant i, */
const char *ga__design_constant(const ga_design *design, int i);
/* and of a parameter that varies, as the model's reader takes it. */
void ga__design_print(const ga_design *design, int which, double value, char *text, size_t size);

/* ---- Runs (trial.c) ---- */

typedef struct ga__trial { /* what all runs of a study share */
  const char *model;
  int allow_library;
  const ga_run_settings *settings;
  int n_given;
  const char *const *given;
  int n_measures;
  const char *const *measures;
  int n_signals; /* kept at these times */
  const char *const *signals;
  int n_times;
  const double *times; /* ascending */
} ga__trial;

typedef struct ga__outcome { /* of one run */
  double *measures;          /* [n_measures] */
  double *scales;            /* [n_measures] */
  double *series;            /* [n_signals × n_times] NaN behind the end of the run */
  int warnings;
  char text[GA_ERROR_TEXT]; /* the first warning, or why a measure has no value */
} ga__outcome;

typedef struct ga__derived { /* derivatives beside a run */
  int n;
  ga_model_variation *const *by; /* [n] of the model */
  const int *parameter;          /* [n] number among those of the measures; −1: none */
  double *series;                /* [n × n_signals × n_times] NaN behind the end of the run */
  double *measures;              /* [n × n_measures] */
  int refused; /* 1: the run has none, or not all: the context's error, or `text`, says why */
  char text[GA_ERROR_TEXT];
} ga__derived;

/* The model with these overrides; *out exists after errors of the model too. settings: those of the run. */
ga_status ga__trial_open(ga_context *ctx, const ga__trial *t, int n_set, const char *const *set,
                         ga_model **out, ga_run_settings *settings);
/* One run, with these settings. stop and derived may be NULL. */
ga_status ga__trial_run(ga_context *ctx, const ga__trial *t, const ga_model *model,
                        const ga_run_settings *settings, int n_parameters,
                        const ga_study_parameter *parameters, const volatile int *stop, ga__outcome *out,
                        ga__derived *derived);
void ga__trial_note(ga__outcome *out, const char *text);

/* ---- The journal: finished runs on the disk (journal.c) ---- */

typedef struct ga__journal ga__journal;

typedef ga_status (*ga__journal_fn)(void *user, const ga_study_row *row);
/* Opens or creates it. digest: of all that the rows depend on. resume 1: rows that it has are handed out; a
 * torn row at its end is cut off. */
ga_status ga__journal_open(ga_context *ctx, const char *path, uint64_t digest, int width, long n_runs,
                           int resume, ga__journal_fn row, void *user, ga__journal **out);
/* The row is in the file, whatever happens to the process, when this returns. */
ga_status ga__journal_add(ga_context *ctx, ga__journal *j, const ga_study_row *row);
void ga__journal_close(ga_context *ctx, ga__journal **j);

#endif
