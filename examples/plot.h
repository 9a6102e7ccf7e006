/* Pictures by gnuplot, which runs as a process of its own. */
#ifndef GALPHA_EXAMPLES_PLOT_H
#define GALPHA_EXAMPLES_PLOT_H

#include <stdio.h>

/* Whether gnuplot can be asked for a file of that name: .svg or .png. */
int ex_plot_knows(const char *file);

/* gnuplot, waiting for commands, with its terminal and output set for the file; size in pixels of the .svg.
 * Ends with ex_plot_close(). NULL: it said on stderr what is wrong. */
FILE *ex_plot_open(const char *file, int width, int height);
/* Waits until the picture is there and says where; 0, or -1 when it said on stderr why there is none. */
int ex_plot_close(FILE *gnuplot, const char *file);

/* Text in gnuplot's single quotes. */
void ex_plot_quoted(FILE *gnuplot, const char *text);

#endif
