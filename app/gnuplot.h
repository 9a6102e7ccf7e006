/* gnuplot as a subprocess: commands go through a pipe, without a shell. */
#ifndef GALPHA_APP_GNUPLOT_H
#define GALPHA_APP_GNUPLOT_H

#include "app.h"

#include <sys/types.h>

typedef struct app_gnuplot {
  FILE *to;         /* its standard input */
  FILE *complaints; /* its standard error */
  pid_t pid;
  const char *file;
} app_gnuplot;

/* 1: a picture of this ending can be made. */
int app_gnuplot_knows(const char *file);
/* Starts it with a picture of this size [pixels of an .svg]. Says on stderr what is wrong; returns an exit
 * code. */
int app_gnuplot_open(app_gnuplot *g, const app_arguments *a, const char *file, int width, int height);
/* Waits for it; says what it complained of. */
int app_gnuplot_close(app_gnuplot *g, const app_arguments *a);
/* 'text', with quotes within doubled and line ends as spaces. */
void app_gnuplot_quoted(FILE *to, const char *text);

#endif
