/* Error bars of a run: from its difference to a second run, the follower, with half steps. */
#ifndef GALPHA_APP_BARS_H
#define GALPHA_APP_BARS_H

#include "task.h"

#include "galpha/result.h"

enum { APP_MOST_ROUNDS = 8 };

/* One round: a run with a smaller tolerance than the one before. */
typedef struct app_round {
  double tolerance;
  double error; /* largest error bar relative to the scale of its signal; NaN: unknown */
  double until; /* [s] the accuracy holds up to this time */
  double work;  /* steps times unknowns */
  double
      fell; /* error bar of the worst signal of the previous round, relative to its value there; NaN: none */
} app_round;

typedef struct app_bars {
  double accuracy; /* requested; 0: no error bars, and nothing else here is used */
  int too_much;    /* 1: a further round was not made, as too long and not explicitly requested */
  ga_stepper *stepper;
  ga_follower *follower;
  ga_meter *meter; /* of the follower */
  ga_status metered;
  ga_band *band, *before; /* before: of the previous round, its names are no longer valid; NULL: none */
  const char **names;     /* [n], then units [n]; borrowed by the band */
  double *first;          /* [n] signals of the leader */
  double *side[2];        /* [n] signals of the leader and of the follower before their last jumps */
  const int *index;       /* [n] of the machine's signals; borrowed */
  int n;
  const app_task *task;
  ga_event_watch *watch; /* of the follower; NULL: no event changes the motion */
  long met,
      ahead; /* events of the leader so far; those that the follower had met before it, when it was loaded */
  int changed;   /* 1: an event has changed the motion of the leader, which the follower does not know yet */
  int jumped;    /* 1: an event has changed its motion, and the meter has not seen that; */
  double energy; /* [J] before that */
  long restarts, edges; /* of the leader, already repeated by the follower */
  double t_side[2];     /* [s] of these */
  double t_jump[2];     /* [s] the leader's last restart, and the one before it */
  int before_jump;      /* 1: the leader stands before what its next restart changes */
  int n_rounds;         /* completed rounds */
  app_round round[APP_MOST_ROUNDS];
} app_bars;

/* Prepares a round, for signals index[n] of a prepared simulation. */
ga_status app_bars_prepare(app_bars *b, const app_task *s, int n, const int *index);
ga_status app_bars_start(app_bars *b, const app_task *s);
/* After the leader's step, or in its output callback: the follower's signals at state->t in values[n],
 * followed by their error bars. state: the leader's. */
ga_status app_bars_values(app_bars *b, const app_task *s, const ga_meter *leader, const ga_state *state,
                          const int *index, double *values);
/* After the leader's step: advances the follower to the same time. */
ga_status app_bars_step(app_bars *b, const app_task *s);
void app_bars_close(app_bars *b); /* fine after failures */
/* Discards a round that failed; the next one is compared with the round before it. */
void app_bars_drop(app_bars *b);

size_t app_bars_saved_size(const app_bars *b); /* of a checkpoint; 0 without error bars */
ga_status app_bars_save(app_bars *b, double *saved);
ga_status app_bars_load(app_bars *b, const double *saved);

/* ---- Rounds ---- */

typedef enum app_verdict { APP_REACHED, APP_TRY_AGAIN, APP_GIVE_UP } app_verdict;
/* Decides what follows after n rounds; *tolerance: of the next one. */
app_verdict app_bars_judge(const app_round *round, int n, double accuracy, double *tolerance);
/* Records the end of a round and calls app_bars_judge(). */
app_verdict app_bars_end(app_bars *b, const app_task *s, double steps, double *tolerance);

/* The worst signals with their error bars, for the summary. */
void app_bars_print(const app_bars *b, FILE *out);
/* Why the accuracy was not reached, on stderr. */
void app_bars_explain(const app_bars *b);

#endif
