/* gnuplot as a subprocess. Script and picture go through files that this program opens. File names are never
 * part of a script: gnuplot would run some of them as shell commands. */
#ifndef GALPHA_APP_GNUPLOT_H
#define GALPHA_APP_GNUPLOT_H

#include "app.h"

typedef struct app_gnuplot {
  FILE *to; /* the script */
  const char *file;
} app_gnuplot;

/* Size and letters of a picture. Lengths are in pixels of an .svg, 96 in an inch. */
typedef struct app_look {
  double width, height;
  double letters; /* height of letters; 14 is the usual size */
  char font[128]; /* its name */
  double dpi;     /* of a .png */
} app_look;

app_look app_look_defaults(void);
/* Reads --size "84mm x 60mm" and --font "Helvetica,8". Reports errors on stderr; returns an exit code. */
int app_look_read(const app_arguments *a, app_look *look);

/* 1: a picture of this ending can be made. */
int app_gnuplot_knows(const char *file);
/* Begins a script for a picture of this look. Reports errors on stderr; returns an exit code. */
int app_gnuplot_open_look(app_gnuplot *g, const app_arguments *a, const char *file, const app_look *look);
/* The same with the usual letters. */
int app_gnuplot_open(app_gnuplot *g, const app_arguments *a, const char *file, int width, int height);
/* Runs the script. The file is only replaced by a complete picture; otherwise gnuplot's
 * messages are printed. */
int app_gnuplot_close(app_gnuplot *g, const app_arguments *a);
/* 'text', with quotes within doubled and control characters as spaces. */
void app_gnuplot_quoted(FILE *to, const char *text);
/* The same for labels of one line: a space behind an index would be lost, so that spaces do not break. */
void app_gnuplot_label(FILE *to, const char *text);

#endif
