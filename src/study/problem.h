/* Runs of a model as a function of some of its parameters, with derivatives: what fits and optimisations
 * evaluate. */
#ifndef GALPHA_STUDY_PROBLEM_H
#define GALPHA_STUDY_PROBLEM_H

#include "study/study_impl.h"

enum { GA__MOST_VARIED = 64 };

typedef struct ga__varied { /* a parameter that varies; numbers in SI units */
  char name[GA_TEXT_PIECE];
  char unit[GA_TEXT_PIECE];      /* as given with its values; "": none */
  char known[GA_PARAMETER_UNIT]; /* of the model, for reports */
  double start, lower, upper;    /* start NaN: the model's value; bounds may be infinite */
  double scale;                  /* > 0: a typical size */
  double step;                   /* [-] of differences of runs, over its size; 0: not known yet */
} ga__varied;

/* "k", "k=3 N/m", "k=1:10:1000N/m": start, lower and upper bound, of which each may be missing. */
ga_status ga__varied_read(ga_context *ctx, const char *text, ga__varied *out);

typedef struct ga__experiment { /* runs of one kind */
  ga__trial trial;
  int n_set; /* parameters that only it has */
  const char *const *set;
  size_t at; /* its measures, then its series, among all values */
  ga_run_settings
      *chosen; /* its settings where their tolerance was chosen here: differences need a smaller one */
} ga__experiment;

typedef enum ga__derivation { GA__NO_SLOPES, GA__EXACT_SLOPES, GA__DIFFERENCES } ga__derivation;

typedef struct ga__search_point { /* at one point */
  double *p;                      /* [n] */
  int failed;                     /* 1: a run failed; text says why */
  ga__derivation derived;
  char text[GA_ERROR_TEXT]; /* also why there are no exact derivatives */
  double *values;           /* [n_values] */
  double *scales;           /* [n_values] of measures only */
  double *slopes;           /* [n × n_values] */
} ga__search_point;

typedef int (*ga__problem_poll_fn)(void *user);

typedef struct ga__problem {
  ga_context *ctx;
  const char *command; /* for messages: "fit" */
  ga_model *model;     /* at the start; also after an error of the model */
  int n;
  ga__varied varied[GA__MOST_VARIED];
  int n_set; /* parameters of all experiments */
  const char *const *set;
  int n_experiments;
  ga__experiment *experiment; /* [n_experiments] of the caller */
  size_t n_values;
  int jobs, differences;   /* differences 1: exact derivatives are not tried any more */
  char why[GA_ERROR_TEXT]; /* why not; "": they are */
  double seconds;          /* between polls */
  ga__problem_poll_fn poll;
  void *user;
  long runs, failed, n_differences; /* runs made, those that failed, evaluations with differences */
} ga__problem;

/* Reads the model twice: for values at which nothing is given, and with the start. All members up to `poll`
 * are set by the caller but model, varied, n_values and `at`; experiments need their model and settings only.
 */
ga_status ga__problem_open(ga__problem *pr, int n, const char *const *vary);
/* Lays out the values of experiments, when these are complete. */
void ga__problem_lay_out(ga__problem *pr);
void ga__problem_close(ga__problem *pr);
ga_status ga__search_point_create(const ga__problem *pr, ga__search_point *e);
void ga__search_point_destroy(const ga__problem *pr, ga__search_point *e);
/* At e->p. GA_OK also where a run failed. GA_STOPPED: by poll. */
ga_status ga__problem_evaluate(ga__problem *pr, int slopes, ga__search_point *e);

/* Slopes by differences of runs beside a point whose values are there. */
ga_status ga__problem_difference(ga__problem *pr, ga__search_point *e);

/* Settings of runs without error bars: a tolerance that derivatives can be trusted with where the model gives
 * none. Returns 1 where it is chosen here. */
int ga__problem_settings(const ga_run_settings *model, const ga_run_settings *given, int n_given,
                         const char *const *names, ga_run_settings *out);
/* The same experiment, about to be derived by differences. */
void ga__problem_refine(ga__problem *pr);

#endif
