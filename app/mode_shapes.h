/* Modes of a file of galpha modes as data of a page. */
#ifndef GALPHA_APP_MODE_SHAPES_H
#define GALPHA_APP_MODE_SHAPES_H

#include "galpha/galpha.h"
#include "galpha/result.h"

#include <stdio.h>

typedef struct app_mode_shapes {
  int n, nq, nv;
  double *q;                          /* [nq] the state */
  double *eigenvalue;                 /* [n][2] 1/s */
  double *frequency, *damping, *zero; /* [n] Hz, -, 1: it is one */
  double *real, *imaginary;           /* [n][nv] */
} app_mode_shapes;

/* 1: the file is one of galpha modes. */
int app_mode_shapes_is(ga_context *ctx, const char *file);
/* GA_ERR_FILE: something is missing or damaged. */
ga_status app_mode_shapes_read(ga_context *ctx, const char *file, app_mode_shapes *out);
void app_mode_shapes_free(ga_context *ctx, app_mode_shapes *m);
/* A list of objects: frequency, damping, eigenvalue, and for each mover the small displacement and rotation
 * of the real and the imaginary shape, 12 floats. GA_ERR_MEMORY. */
ga_status app_mode_shapes_write(const app_mode_shapes *m, const ga_machine *machine, FILE *to);

#endif
