/* Error bars of a run: a second run along with it, in steps of half the size, and what both differ by. */
#ifndef GALPHA_APP_BARS_H
#define GALPHA_APP_BARS_H

#include "task.h"

#include "galpha/result.h"

enum { APP_MOST_ROUNDS = 8 };

/* One run of several, each with a smaller tolerance than the one before. */
typedef struct app_round {
  double tolerance;
  double error; /* largest error bar over the scale of its signal; NaN: not known */
  double until; /* [s] up to where the accuracy is kept */
  double work;  /* steps times unknowns */
  double fell; /* to this part of it has that error bar come which was the worst one of the round before; NaN:
                  none */
} app_round;

typedef struct app_bars {
  double accuracy; /* wanted; 0: no error bars, and all else here is not used */
  int too_much;    /* 1: nobody has asked for the work that a further round would be */
  ga_stepper *stepper;
  ga_follower *follower;
  ga_meter *meter; /* of the follower */
  ga_status metered;
  ga_band *band, *before; /* before: that of the round before, with its own names gone; NULL: none */
  const char **names;     /* [n], then units [n], as the band borrows them */
  double *first;          /* [n] signals of the run that leads */
  int n;
  long restarts, edges; /* of the leader that the follower has made too */
  int n_rounds;         /* that have ended */
  app_round round[APP_MOST_ROUNDS];
} app_bars;

/* For signals index[n] of a simulation that has been prepared; again for every round. */
ga_status app_bars_prepare(app_bars *b, const app_task *s, int n, const int *index);
ga_status app_bars_start(app_bars *b, const app_task *s);
/* After the leader's step, or within it from its outputs: the follower's signals at s->t into values[n],
 * error bars behind them. s: the leader's state. */
ga_status app_bars_values(app_bars *b, const app_task *s, const ga_meter *leader, const ga_state *state,
                          const int *index, double *values);
/* After the leader's step: the follower ends there, too. */
ga_status app_bars_step(app_bars *b, const app_task *s);
void app_bars_close(app_bars *b); /* fine after failures */
/* Forgets a round that failed: what the next one is compared with is the one before it. */
void app_bars_drop(app_bars *b);

size_t app_bars_saved_size(const app_bars *b); /* of a checkpoint; 0 without error bars */
ga_status app_bars_save(app_bars *b, double *saved);
ga_status app_bars_load(app_bars *b, const double *saved);

/* ---- Rounds ---- */

typedef enum app_verdict { APP_REACHED, APP_TRY_AGAIN, APP_GIVE_UP } app_verdict;
/* What is to be done after n rounds; *tolerance: of the next one. */
app_verdict app_bars_judge(const app_round *round, int n, double accuracy, double *tolerance);
/* Notes how the round just ended, and judges it. */
app_verdict app_bars_end(app_bars *b, const app_task *s, double steps, double *tolerance);

/* The worst signals with their error bars, for the summary. */
void app_bars_print(const app_bars *b, FILE *out);
/* Why the accuracy was not reached, on stderr. */
void app_bars_explain(const app_bars *b);

#endif
