/* A run in progress: what it records, what it counts, and how it can go on after its end. */
#ifndef GALPHA_APP_RUNNER_H
#define GALPHA_APP_RUNNER_H

#include "bars.h"
#include "watch.h"
#include "task.h"

#include "galpha/result.h"

/* Counts of a run, those before it was resumed included; plain numbers, since checkpoints hold them. */
typedef struct app_totals {
  double steps, rejected_error, rejected_newton, rejected_callback, rejected_defect, edges;
  double iterations, factorisations;
  double h_smallest, h_largest;      /* [s] */
  double phi, phi_dot, nonholonomic; /* largest residuals of constraints seen */
} app_totals;
enum { APP_N_TOTALS = sizeof(app_totals) / sizeof(double) };

typedef struct app_runner {
  app_task s;
  const app_arguments *a;
  char *file; /* of results */
  char *part; /* where a further round is recorded, until it is complete: file.part */
  long checkpoint_every;
  double flush_every; /* [s] of the clock */

  ga_meter *meter;
  int metered;   /* 1: the meter has its start */
  long wait;     /* there is more to do than count after so many steps, */
  double t_wait; /* [s] or at this time */
  ga_recorder *recorder;
  int n;          /* signals recorded */
  int *index;     /* [n] of the machine */
  double *values; /* [n], and [n] error bars or [n_own] */
  int n_own;      /* signals of the analysis itself, behind those of the machine */
  const char *const *own_names, *const *own_units; /* [n_own] */
  const char *analysis;                            /* NULL: a run */
  app_bars bars;
  ga_status written;  /* of the recorder, remembered beyond callbacks, */
  ga_status followed; /* and of the run in halved steps */
  int retried;        /* how often a round failed, and was made again with another tolerance */
  int in_part;        /* 1: the recorder writes r->part */
  char overflow[320]; /* which signal is infinite or not a number; empty: none. Then written is GA_ERR_NAN */

  app_totals before; /* of the runs before this one */
  app_totals worst;  /* of this one: residuals only */
  app_watch watch;
  double *saved; /* room for a checkpoint */
  size_t n_saved;
  double t_saved;     /* [s] time of the one that is on the disk */
  int has_saved;      /* 1: there is one */
  double clock_saved; /* [s] when it was written */
  int had_finished;   /* 1: the run that is to go on had come to its end */
} app_runner;

app_totals app_runner_totals(const app_runner *r);

/* ---- What is recorded (record.c) ---- */

/* Takes the name of the result file, which must not be there as something else. Returns an exit code. */
int app_record_file(app_runner *r);
/* Finds the signals that the settings ask for. Returns an exit code. */
int app_record_choose(app_runner *r);
/* Opens the result file, with the model and the options in it. append: goes on after its checkpoint. */
ga_status app_record_open(app_runner *r, int append);
/* Opens the file where none is open yet: a run that cannot be started leaves the last one's results alone. */
ga_status app_record_state(app_runner *r, const ga_state *s);
/* 1: all of r->values are numbers. Otherwise r->overflow names the first that is not. */
int app_record_is_finite(app_runner *r, double t);
/* Signals at a state of the simulation into r->values, with their error bars. */
ga_status app_record_values(app_runner *r, const ga_state *s);
/* Where records go: the file, or that of a further round. */
const char *app_record_path(const app_runner *r);

/* The options that a run depends on, by name, as texts; NULL after the last. */
const char *app_record_option(const app_runner *r, int i, char *value, size_t size);

/* ---- Checkpoints (checkpoint.c) ---- */

ga_status app_checkpoint_prepare(app_runner *r); /* room for it; after the simulator and the meter */
/* Keeps what the run needs to go on from here. All runs of a model do this after the same steps, because it
 * changes bits: factors are dropped. Whether it is written to the disk does not matter, so that goes by the
 * clock, unless it must. */
ga_status app_checkpoint_keep(app_runner *r, int must_write);
/* Takes the run up from its file's checkpoint: *resumed 1; 0 where there is none. Returns an exit code. */
int app_checkpoint_resume(app_runner *r, int *resumed);
/* With error bars, the tolerance is that of the file's round. Returns an exit code. */
int app_checkpoint_tolerance(app_runner *r);

/* ---- The end (ending.c) ---- */

/* Closes the file, reports how the run ended and what is in the file; return the exit code. stopped_by: a
 * signal, 0: it came to its end. started: there is a state. */
int app_end_told(app_runner *r, int stopped_by, double seconds);
/* A round came to its end and another one is to follow, with this tolerance: its file is complete. */
ga_status app_end_round(app_runner *r, double tolerance, double seconds);
/* A round failed, and is made again with this tolerance. */
void app_end_retried(app_runner *r, double tolerance);
int app_end_failed(app_runner *r, ga_status status, int started);

#endif
