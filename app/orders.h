/* Pictures of errors over step sizes, with logarithmic axes and triangles of slope. */
#ifndef GALPHA_APP_ORDERS_H
#define GALPHA_APP_ORDERS_H

#include "gnuplot.h"

typedef struct app_error_curve {
  const char *label;
  int n;
  const double *size;  /* [n] steps or tolerances, descending */
  const double *error; /* [n] 0, infinite or NaN: not drawn */
  double slope;        /* whose triangle is drawn, if another curve has not got one; 0: none */
  int colour, dash;    /* from 0; those of the same colour belong together */
} app_error_curve;

typedef struct app_error_plot {
  const char *title, *x_label, *y_label;
  int enhanced; /* 1: labels have gnuplot's markup */
  int n;
  const app_error_curve *curves;
} app_error_plot;

/* Reports errors on stderr; returns an exit code. */
int app_draw_errors(const app_arguments *a, const char *file, const app_error_plot *p);

#endif
