/* Internals of the derivative checker (check.c, check_sweep.c). */
#ifndef GALPHA_CORE_CHECK_H
#define GALPHA_CORE_CHECK_H

#include "core/derivative.h"

enum { GA__MAX_FINDINGS = sizeof((ga_check_report *)0)->finding / sizeof(ga_check_finding) };

/* Wording of a finding: "<name> in row 3, ...: <given> 1.5, <expected> 2". */
typedef struct ga__finding_text {
  ga_check_what what;
  const char *name, *given, *expected;
  int digits; /* digits of both numbers */
} ga__finding_text;

typedef struct ga__checker {
  const ga_system *sys;
  const ga_point *p;
  ga__deriv deriv;
  double tol;
  ga_check_report report;
  double error[GA__MAX_FINDINGS];                 /* errors of the findings kept */
  const ga__finding_text *said[GA__MAX_FINDINGS]; /* their wordings */
  double *values;                                 /* [3 n_entries] given D, Q, G */
  double *expected;                               /* [n] */
  double *doubt;                                  /* [n] uncertainty of the differences */
  double *terms;                                  /* [n + n_lambda] of the equations, then of B v + Φ_t */
  double *row_size;                               /* [n] largest given entry of each row */
  double *given;                                  /* [n] */
  int *entry;                                     /* [n] of each row in one column, −1: none */
} ga__checker;

/* Compares given with expected, relative to scale + |expected|. doubt: uncertainty of `expected`; smaller
 * errors are not judged. */
void ga__check_compare(ga__checker *c, const ga__finding_text *said, int row, int col, double given,
                       double expected, double scale, double doubt);
/* Two numbers that must be equal to the last bit. */
void ga__check_same(ga__checker *c, const ga__finding_text *said, int row, int col, double given,
                    double expected);
/* The largest entry of each row in columns V (columns_v 1) or in the others (0) into c->row_size. */
void ga__check_rows(ga__checker *c, const double *values, int columns_v);
int ga__check_is_phi(const ga_system *sys, int row);

/* Compares the system's sweep, if it has one, with the single callbacks (check_sweep.c). */
ga_status ga__check_sweep(ga__checker *c);

#endif
