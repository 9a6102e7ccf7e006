#define _DEFAULT_SOURCE /* struct winsize */
#include "progress.h"
#include "call.h"
#include "streams.h"
#include "terminal.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define REDRAW 0.1   /* [s] between two updates of the bar */
#define PATIENCE 0.5 /* [s] before the first line is printed */
enum {
  MOST_COLUMNS = 200,
  LEAST_BAR = 5,
  MOST_BAR = 40,
  MOST_BETWEEN_LOOKS = 256,
  USUAL_TEXT = 60 /* letters beside the bar */
};

double app_clock(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void app_duration(char *text, size_t size, double seconds)
{
  if (!(seconds < 1e9))
    snprintf(text, size, "a long time");
  else if (seconds >= 3600.0)
    snprintf(text, size, "%ld h %02ld min", (long)seconds / 3600, (long)seconds / 60 % 60);
  else if (seconds >= 60.0)
    snprintf(text, size, "%ld min %02ld s", (long)seconds / 60, (long)seconds % 60);
  else
    snprintf(text, size, seconds < 9.95 ? "%.2g s" : "%.0f s", seconds);
}

static void set_tenth(app_progress *p, int tenth)
{
  p->tenth = tenth;
  if (p->mode != APP_PROGRESS_LINES) return;
  p->t_next = p->t_start + 0.1 * (tenth + 1) * (1.0 - 1e-9) * (p->t_end - p->t_start);
}

void app_progress_start(app_progress *p, int quiet, double t_start, double t_from, double t_end)
{
  *p = (app_progress){.t_start = t_start, .t_from = t_from, .t_end = t_end};
  p->mode = quiet || app_call_is_made() ? APP_PROGRESS_NONE : isatty(STDERR_FILENO) ? APP_PROGRESS_BAR : APP_PROGRESS_LINES;
  p->began = p->last = p->looked = app_clock();
  p->every = 1;
  p->next = p->mode == APP_PROGRESS_BAR ? 0 : LONG_MAX;
  p->t_next = HUGE_VAL;
  set_tenth(p, (int)(10.0 * (t_from - t_start) / (t_end - t_start)));
}

/* "t = 4.2 s, 0.83 of real time, h = 0.001 s, 12 s left" */
static void describe(const app_progress *p, char *text, size_t size, double t, double h)
{
  char left[32];
  const double elapsed = p->last - p->began;
  const double speed = elapsed > 0.0 ? (t - p->t_from) / elapsed : 0.0;
  if (speed > 0.0)
    app_duration(left, sizeof left, (p->t_end - t) / speed);
  else
    snprintf(left, sizeof left, "?");
  snprintf(text, size, "t = %.6g s, %.3g x real time, h = %.2g s, %s left", t, speed, h, left);
}

static int columns(void)
{
  struct winsize w;
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &w) != 0 || w.ws_col == 0) return 80;
  return w.ws_col < MOST_COLUMNS ? w.ws_col : MOST_COLUMNS;
}

static void draw(app_progress *p, double fraction, const char *text)
{
  char bar[MOST_BAR + 1];
  if (p->widest < USUAL_TEXT) p->widest = USUAL_TEXT;
  if ((int)strlen(text) > p->widest)
    p->widest = (int)strlen(text);             /* the bar does not grow again: it is steady */
  const int room = columns() - p->widest - 11; /* " 42 % [", "] ", and the last column */
  const int length = room > MOST_BAR ? MOST_BAR : room;
  memset(bar, '.', MOST_BAR);
  bar[length < 0 ? 0 : length] = '\0';
  for (int i = 0; i < length && i < (int)(fraction * length + 0.5); i++) bar[i] = '#';
  app_terminal_control("\r\033[K");
  if (length >= LEAST_BAR)
    fprintf(stderr, "%3.0f %% [%s] %s", 100.0 * fraction, bar, text);
  else
    fprintf(stderr, "%3.0f %% %.*s", 100.0 * fraction, columns() - 7, text);
  fflush(stderr);
  p->shown = 1;
}

static double fraction_of(const app_progress *p, double t)
{
  return (t - p->t_start) / (p->t_end - p->t_start);
}

static int tenth_of(const app_progress *p, double t)
{
  return (int)(10.0 * fraction_of(p, t) * (1.0 + 1e-12));
}

/* 1: it is time for an update. Reading the clock is expensive, so with fast steps it is not read after every
 * step. */
static int is_time_to_update(app_progress *p, long step)
{
  const double now = app_clock(), since = now - p->looked;
  if (since > 0.5 * REDRAW)
    p->every = 1;
  else if (since < REDRAW / 16 && p->every < MOST_BETWEEN_LOOKS)
    p->every *= 2;
  p->next = step + p->every;
  p->looked = now;
  return now - p->last >= REDRAW;
}

/* 1: another tenth of the run is done; not within the first PATIENCE seconds. */
static int line_is_due(app_progress *p, double t)
{
  if (t < p->t_next || tenth_of(p, t) <= p->tenth) return 0;
  if (app_clock() - p->began > PATIENCE) return 1;
  set_tenth(p, tenth_of(p, t));
  return 0;
}

int app_progress_due(app_progress *p, double t, long step)
{
  if (p->mode == APP_PROGRESS_NONE) return 0;
  if (p->mode == APP_PROGRESS_LINES) return line_is_due(p, t);
  return step >= p->next && is_time_to_update(p, step);
}

void app_progress_show(app_progress *p, double t, double h)
{
  char text[160];
  p->last = app_clock();
  set_tenth(p, tenth_of(p, t));
  describe(p, text, sizeof text, t, h);
  if (p->mode == APP_PROGRESS_BAR)
    draw(p, fraction_of(p, t), text);
  else
    fprintf(stderr, "%3d %%  %s\n", 10 * p->tenth, text);
}

void app_progress_clear(app_progress *p)
{
  if (p->shown) app_terminal_control("\r\033[K");
  p->shown = 0;
}

/* ---- Counted work ---- */

int app_progress_count_due(app_progress *p, double done)
{
  if (p->mode == APP_PROGRESS_BAR) return app_clock() - p->last >= REDRAW;
  return p->mode == APP_PROGRESS_LINES && line_is_due(p, done);
}

void app_progress_count_show(app_progress *p, double done, const char *text)
{
  char whole[200], left[32];
  p->last = app_clock();
  set_tenth(p, tenth_of(p, done));
  const double rate = (done - p->t_from) / (p->last - p->began);
  if (rate > 0.0)
    app_duration(left, sizeof left, (p->t_end - done) / rate);
  else
    snprintf(left, sizeof left, "?");
  snprintf(whole, sizeof whole, "%s, %s left", text, left);
  if (p->mode == APP_PROGRESS_BAR)
    draw(p, fraction_of(p, done), whole);
  else
    fprintf(stderr, "%3d %%  %s\n", 10 * p->tenth, whole);
}
