/* Fits: shared by their files. */
#ifndef GALPHA_STUDY_FIT_H
#define GALPHA_STUDY_FIT_H

#include "study/problem.h"

enum { GA__MOST_NOTES = 48, GA__FIT_NOTE = 400 };

#define GA__EXACT_RANK 1e-8      /* [-] smallest singular value, over the largest, of scaled derivatives, */
#define GA__DIFFERENCE_RANK 1e-5 /* and of differences */

typedef struct ga__residual { /* one measured value */
  int data, column, group;
  long row;
  size_t at; /* among the values of the problem */
  double y;
} ga__residual;

typedef struct ga__group { /* values of one signal in all experiments */
  int known;               /* 1: sigma is given */
  long n;
  double sigma; /* [SI] */
} ga__group;

struct ga_fit {
  ga_context *ctx;
  ga_fit_opts o;
  ga__problem pr;
  ga__experiment *experiment; /* [n_data] */
  ga_run_settings *settings;  /* [n_data] */
  const char **given;         /* names of settings */
  double *times;              /* of all experiments, one after the other */
  const char **signals;       /* of all columns */
  int *group;                 /* [columns of all experiments] */
  int *slot;                  /* [columns of all experiments] which of the experiment's signals it is */
  long *row_time;             /* [rows of all experiments] which of its times; −1: not used */
  long n_rows_unused;
  ga__residual *residual; /* [m] */
  long m;
  ga__group *groups;
  int n_groups;
  ga__search_point now, trial;
  double *J, *r, *r_trial; /* [m × n] by columns, [m], [m] */
  double *R, *q, *D;       /* [n × n] by columns, [n], [n] sizes of columns */
  double *small;           /* work of small systems */
  double chi2, rest;       /* ‖r‖², and what no parameter reduces */
  double *curves;          /* of all columns, one after the other */
  double *covariance, *correlation;
  long *curve_at; /* [n_data + 1] */
  int *column_at; /* [n_data + 1] first column of an experiment */
  ga_fit_parameter parameter[GA__MOST_VARIED];
  ga_fit_column *columns;
  char note[GA__MOST_NOTES][GA__FIT_NOTE];
  const char *notes[GA__MOST_NOTES];
  ga_fit_report report;
  int has_result;
};

/* Residuals in units of their standard deviations; 0: a value is missing. */
int ga__fit_residuals(const ga_fit *f, const ga__search_point *e, double *r);
/* J, R, q, rest and D of f->now, whose slopes are there. */
void ga__fit_linearise(ga_fit *f);
/* (fit_step.c) One column of Householder's method below row k, applied to `others` further columns and to b. */
void ga__fit_reflect(long rows, int k, double *a, int others, long stride, double *b);
/* Householder: min ‖A x + b‖, A [rows × cols] by columns, both overwritten; x = 0 for columns without a part
 * of their own. */
void ga__fit_solve(int rows, int cols, double *A, double *b, double *x);
/* The step of least ‖q + R s‖² + λ‖D s‖² within the bounds; returns by how much ‖r‖² is reduced to first
 * order. */
double ga__fit_step(const ga_fit *f, const double *p, double lambda, double *s);
ga_status ga__fit_iterate(ga_fit *f);
/* Errors, intervals, notes. */
ga_status ga__fit_judge(ga_fit *f);
void ga__fit_note(ga_fit *f, const char *format, ...) GA_PRINTF(2, 3);

#endif
