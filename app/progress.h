/* Progress of a run on stderr: a bar on a terminal, a line for every tenth elsewhere, of runs that take some
 * time. */
#ifndef GALPHA_APP_PROGRESS_H
#define GALPHA_APP_PROGRESS_H

#include <stddef.h>

typedef enum app_progress_mode {
  APP_PROGRESS_NONE = 0,
  APP_PROGRESS_BAR,
  APP_PROGRESS_LINES
} app_progress_mode;

typedef struct app_progress { /* all 0: shows nothing */
  app_progress_mode mode;
  double t_start, t_from,
      t_end;          /* [s] t_from: where this run took over, after t_start where it was resumed */
  double began, last; /* [s] of the clock */
  int tenth;          /* lines: the last one reported, */
  double t_next;      /* [s] and where the next one is, but for rounding; bar: infinite */
  double looked;      /* [s] bar: when the clock was asked last, */
  long every, next;   /* steps from one such look to the next, and the step then; lines: LONG_MAX */
  int shown;          /* 1: a bar stands in the present line */
} app_progress;

double app_clock(void); /* [s] that only runs forward */
/* "3 min 10 s" */
void app_duration(char *text, size_t size, double seconds);

void app_progress_start(app_progress *p, int quiet, double t_start, double t_from, double t_end);
/* Is it time to show it? To be asked after step number `next`, after the first one beyond t_next, and
 * whenever else. */
int app_progress_due(app_progress *p, double t, long step);
void app_progress_show(app_progress *p, double t, double h);
void app_progress_clear(app_progress *p); /* before anything else is printed */

#endif
