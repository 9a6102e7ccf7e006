/* A sweep by several ranks (sweep_ranks.c). */
#ifndef GALPHA_APP_SWEEP_RANKS_H
#define GALPHA_APP_SWEEP_RANKS_H

#include "app.h"
#include "ranks.h"

#include "galpha/study.h"

typedef struct app_sweep_ranks {
  const app_ranks *ranks;
  ga_study *study;
  int busy;      /* other ranks */
  int idle;      /* 1: there is nothing to do */
  void *message; /* to be freed */
} app_sweep_ranks;

/* Rank 0: hears from all others whether they are ready, and hands out the first runs if all are. code: of its
 * own preparation. Returns an exit code. */
int app_sweep_greet(app_sweep_ranks *w, int code);
/* Rank 0: keeps the rows that have come, and hands out further runs. 0: it failed. */
int app_sweep_serve(app_sweep_ranks *w, int stop);
/* The others: all of their work. code, text: whether they are prepared, and why not. Returns an exit code. */
int app_sweep_work(app_sweep_ranks *w, int code, const char *text);

#endif
