/* What a run looks back on when it fails: states of its last steps, and of some before. */
#ifndef GALPHA_APP_WATCH_H
#define GALPHA_APP_WATCH_H

#include "task.h"

/* ---- Watching ---- */

enum {
  APP_RECENT = 32, /* states of the last steps, */
  APP_EVERY = 8,   /* or every so many while steps are equal and none is refused */
  APP_PAST = 32    /* states of the whole run, evenly among its steps */
};

typedef struct app_sample {
  double t, h;      /* [s] h: of the step that led here, 0: the start */
  long step;        /* number of the accepted step that led here */
  long rejected[3]; /* steps refused up to here: by error, by Newton, not evaluated */
  double *numbers;  /* the stepper's state, from q to the end of y; NULL: it is not kept */
} app_sample;

typedef struct app_watch {
  int nq, nv, n_lambda, n_psi, n_x, n_y;
  size_t n;      /* numbers of a state */
  double h;      /* [s] of equal steps; 0: error control */
  long every;    /* steps from one of the recent states to the next, where all is well */
  long next;     /* the step that is to be seen next, at the latest: */
  long refused;  /* one is to be seen where more than so many steps have been refused, */
  long careful;  /* and then all up to this one */
  long step;     /* the last one seen, */
  double t;      /* [s] and its time */
  long n_recent; /* seen; the last of them are there */
  int n_past;
  long stride;                                   /* steps between those of the past */
  long due;                                      /* the step that is the next of them */
  app_sample recent[APP_RECENT], past[APP_PAST]; /* recent ones go round */
  double *room;
} app_watch;

/* 0: out of memory. After the stepper. */
int app_watch_open(app_watch *w, const app_task *s);
void app_watch_close(app_watch *w);
/* Refused steps of all kinds. */
static inline long app_refused(const ga_simulate_stats *stats)
{
  return stats->rejected_error + stats->rejected_newton + stats->rejected_callback + stats->rejected_defect;
}
/* After the start, and after accepted steps from number `next` on, or where steps have been refused: the
 * stepper's state, and what the simulator has counted. */
void app_watch_step(app_watch *w, const ga_state *s, const ga_simulate_stats *stats);

/* The least and the largest value of a signal that needs no meter, at some samples since this run began or
 * was resumed and now. 0: it has none. */
int app_watch_range(const app_watch *w, const app_task *s, int signal, double range[2]);

/* ---- Looking back ---- */

enum { APP_SAMPLES = APP_RECENT + APP_PAST + 2, APP_UNITS = 16, APP_FINDINGS = 6 };

/* Signals at samples in the order of time; the last one may be where the step that failed was going. */
typedef struct app_history {
  const ga_machine *machine;
  int n_signals, n; /* samples */
  int before; /* the last sample before the changes asked for; <= 0: there is nothing to compare them with */
  int trial;  /* 1: the last sample is a trial */
  const app_sample *sample[APP_SAMPLES];
  app_sample now, tried;
  double *value;               /* [n][n_signals] */
  const char *unit[APP_UNITS]; /* of signals; NULL after the last */
  double largest[APP_UNITS];   /* value in each, before the changes asked for */
} app_history;

typedef struct app_finding {
  int signal, rank;
  int from, to;  /* samples */
  double change; /* from the one to the other */
  double ratio;  /* to what it had been ranging over before */
  double usual;  /* to what it usually changes by in as much time */
} app_finding;

/* 0: there are no states, or no memory. To be closed in any case. */
int app_history_open(app_history *h, const app_watch *w, const app_task *s, const ga_step_failure *f);
void app_history_close(app_history *h);
double app_history_step(const app_history *h); /* [s] mean of all steps */
double app_history_value(const app_history *h, int sample, int signal);
void app_history_range(const app_history *h, int signal, double *least, double *most); /* up to `before` */
/* What is nearer to the cause stands first: 1, 2 coordinates of joints and bodies, 3 rates, 4 what blocks and
 * 5 forces give, then what follows from all that. -1: not worth telling. */
int app_history_rank(const app_history *h, int signal);
/* The signals that changed unusually between two samples, by up to `most` times their range; groups: which
 * ranks, as bits. Returns how many were found, up to APP_FINDINGS. */
enum { APP_ALL_GROUPS = 7, APP_FORCES_ONLY = 2 };
int app_history_changes(app_history *h, int from, int to, double most, unsigned groups, app_finding *found);

#endif
