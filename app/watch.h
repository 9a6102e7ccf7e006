/* History of a run for the report of a failure: states of its last steps, and of some before. */
#ifndef GALPHA_APP_WATCH_H
#define GALPHA_APP_WATCH_H

#include "task.h"

/* ---- Recording ---- */

enum {
  APP_RECENT = 32, /* states of the last steps */
  APP_EVERY = 8,   /* steps between them while steps are equal and none is rejected */
  APP_PAST = 32    /* states of the whole run, evenly among its steps */
};

typedef struct app_sample {
  double t, h;      /* [s] h: of the step that led here, 0: the start */
  long step;        /* number of the accepted step that led here */
  long rejected[3]; /* steps rejected so far: by error, by Newton, undefined values */
  double *numbers;  /* the stepper's state, from q to the end of y; NULL: not kept */
} app_sample;

typedef struct app_watch {
  int nq, nv, n_lambda, n_psi, n_x, n_y;
  size_t n;      /* numbers of a state */
  double h;      /* [s] of equal steps; 0: error control */
  long every;    /* steps between recent states while no step is rejected */
  long next;     /* latest step for the next sample */
  long refused;  /* rejected steps at the last sample; more of them need a sample at once, */
  long careful;  /* and samples of all steps up to this one */
  long step;     /* last sampled step */
  double t;      /* [s] its time */
  long n_recent; /* samples so far; the last APP_RECENT are kept */
  int n_past;
  long stride;                                   /* steps between samples of the past */
  long due;                                      /* the next such step */
  app_sample recent[APP_RECENT], past[APP_PAST]; /* recent: a ring buffer */
  double *room;
} app_watch;

/* After the stepper is created; returns 0: out of memory. */
int app_watch_open(app_watch *w, const app_task *s);
void app_watch_close(app_watch *w);
/* Rejected steps of all kinds. */
static inline long app_rejected(const ga_simulate_stats *stats)
{
  return stats->rejected_error + stats->rejected_newton + stats->rejected_callback + stats->rejected_defect;
}
/* Takes a sample: after the start, and after accepted steps from number `next` on or if steps have been
 * rejected. */
void app_watch_step(app_watch *w, const ga_state *s, const ga_simulate_stats *stats);

/* Smallest and largest value, at the samples since the start or resume and now, of a signal that needs no
 * meter; returns 0: unknown. */
int app_watch_range(const app_watch *w, const app_task *s, int signal, double range[2]);

/* ---- History ---- */

enum { APP_SAMPLES = APP_RECENT + APP_PAST + 2, APP_UNITS = 16, APP_FINDINGS = 6 };

/* Signals at the samples, in order of time; the last one may be the end of the failed step. */
typedef struct app_history {
  const ga_machine *machine;
  int n_signals, n; /* samples */
  int before;       /* the last sample before the changes of interest; <= 0: nothing to compare with */
  int trial;        /* 1: the last sample is a trial */
  const app_sample *sample[APP_SAMPLES];
  app_sample now, tried;
  double *value;               /* [n][n_signals] */
  const char *unit[APP_UNITS]; /* of signals; NULL after the last */
  double largest[APP_UNITS];   /* largest value in each unit, up to `before` */
} app_history;

typedef struct app_finding {
  int signal, rank;
  int from, to;  /* samples */
  double change; /* from the one to the other */
  double ratio;  /* of the change to its range before */
  double usual;  /* of the change to its usual change in the same time */
} app_finding;

/* Returns 0: there are no states, or out of memory. Has to be closed in any case. */
int app_history_open(app_history *h, const app_watch *w, const app_task *s, const ga_step_failure *f);
void app_history_close(app_history *h);
double app_history_step(const app_history *h); /* [s] mean of all steps */
double app_history_value(const app_history *h, int sample, int signal);
void app_history_range(const app_history *h, int signal, double *least, double *most); /* up to `before` */
/* Rank by closeness to the cause: 1, 2 coordinates of joints and bodies, 3 rates, 4 outputs of blocks, 5
 * forces, then signals that follow from these. -1: not reported. */
int app_history_rank(const app_history *h, int signal);
/* Signals that changed unusually between two samples, by up to `most` times their range; groups: bits.
 * Returns their number, up to APP_FINDINGS. */
enum { APP_ALL_GROUPS = 7, APP_FORCES_ONLY = 2 };
int app_history_changes(app_history *h, int from, int to, double most, unsigned groups, app_finding *found);

#endif
