/* Progress of a run on stderr: a bar on a terminal, otherwise a line for every tenth of the run. */
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
  double began, last; /* [s] clock time */
  int tenth;          /* lines: the last one reported */
  double t_next;      /* [s] lines: time of the next one, up to rounding; bar: infinite */
  double looked;      /* [s] bar: when the clock was last read */
  long every, next;   /* bar: steps between readings of the clock, and the next such step; lines: LONG_MAX */
  int shown;          /* 1: the current line of the terminal is a bar */
  int widest;         /* characters of the longest text beside the bar so far */
} app_progress;

double app_clock(void); /* [s] monotonic */
/* "3 min 10 s" */
void app_duration(char *text, size_t size, double seconds);

void app_progress_start(app_progress *p, int quiet, double t_start, double t_from, double t_end);
/* 1: progress should be shown now. Must be called after step number `next` and after the first step beyond
 * t_next; may be called at any time. */
int app_progress_due(app_progress *p, double t, long step);
void app_progress_show(app_progress *p, double t, double h);
/* The same for work that is counted from t_start = 0 to t_end, with words in place of the time. */
int app_progress_count_due(app_progress *p, double done);
void app_progress_count_show(app_progress *p, double done, const char *text);
void app_progress_clear(app_progress *p); /* before anything else is printed */

#endif
