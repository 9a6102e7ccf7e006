/* Pictures of the table of a sweep (sweep_plot.c). */
#ifndef GALPHA_APP_SWEEP_PLOT_H
#define GALPHA_APP_SWEEP_PLOT_H

#include "app.h"

/* 1: the file is such a table. */
int app_sweep_plot_takes(const char *file);
/* galpha plot TABLE NAME... -o FILE; returns an exit code. */
int app_sweep_plot(const app_arguments *a);

#endif
