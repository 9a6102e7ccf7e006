/* Files of `galpha papers`: pictures and data of figures, and the gallery. */
#ifndef GALPHA_APP_PAPERS_H
#define GALPHA_APP_PAPERS_H

#include "gnuplot.h"
#include "papers_table.h"

/* Draws a result as folder/NAME.svg; reports errors on stderr; returns an exit code. */
int app_paper_draw(const app_arguments *a, const pp_result *r, const char *file);
/* The numbers of a picture as comma-separated values: errors over steps, or values over time. */
int app_paper_data(const app_arguments *a, const pp_result *r, const char *file);

/* One figure of the gallery. */
typedef struct app_shown {
  const pp_result *result;
  const char *picture; /* file; NULL: there is none */
  double seconds;      /* CPU time */
} app_shown;
int app_gallery_write(const app_arguments *a, int n, const app_shown *shown, const char *file);

#endif
