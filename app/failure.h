/* What a run looks back on when it fails: states of its last steps, and of some before. */
#ifndef GALPHA_APP_FAILURE_H
#define GALPHA_APP_FAILURE_H

#include "task.h"

enum {
  APP_RECENT = 32, /* states of the last steps */
  APP_PAST = 32    /* states of the whole run, evenly among its steps */
};

typedef struct app_moment {
  double t;
  long step;        /* number of the accepted step that led here */
  long rejected[3]; /* steps refused up to here: by error, by Newton, not evaluated */
  double *numbers;  /* q, v, vdot, λ, ψ, x, y */
} app_moment;

typedef struct app_watch {
  int nq, nv, n_lambda, n_psi, n_x, n_y;
  long steps; /* seen */
  int n_recent, n_past;
  long stride; /* steps between those of the past */
  app_moment recent[APP_RECENT], past[APP_PAST];
  double *room;
} app_watch;

/* 0: out of memory. After the stepper; costs a copy of the state for every step. */
int app_watch_open(app_watch *w, const app_task *s);
void app_watch_close(app_watch *w);
void app_watch_step(app_watch *w, const app_task *s); /* after the start, and after every accepted step */

/* What a failure is, in short: of the last step, or the text given where none failed. */
const char *app_failure_headline(const app_task *s, const char *text);
/* Why the last step failed, and which equations are off. On stderr, indented; nothing where no step failed.
 */
void app_failure_equations(const app_task *s);
/* The same, then what changed last, and what to try. */
void app_failure_report(const app_watch *w, const app_task *s);

#endif
