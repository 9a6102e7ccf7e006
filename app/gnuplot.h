/* gnuplot as a subprocess: a script goes in, a picture comes out, both through files that we open ourselves.
 * No file's name is ever part of a script: gnuplot takes some of them for commands of a shell. */
#ifndef GALPHA_APP_GNUPLOT_H
#define GALPHA_APP_GNUPLOT_H

#include "app.h"

typedef struct app_gnuplot {
  FILE *to; /* the script */
  const char *file;
} app_gnuplot;

/* 1: a picture of this ending can be made. */
int app_gnuplot_knows(const char *file);
/* Begins a script with a picture of this size [pixels of an .svg]. Says on stderr what is wrong; returns an
 * exit code. */
int app_gnuplot_open(app_gnuplot *g, const app_arguments *a, const char *file, int width, int height);
/* Runs it. The file appears when the picture is complete; otherwise it stays as it was, and what gnuplot
 * complained of is printed. */
int app_gnuplot_close(app_gnuplot *g, const app_arguments *a);
/* 'text', with quotes within doubled and control characters as spaces. */
void app_gnuplot_quoted(FILE *to, const char *text);

#endif
