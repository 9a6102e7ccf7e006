/* A run in progress: records, statistics, checkpoints. */
#ifndef GALPHA_APP_RUNNER_H
#define GALPHA_APP_RUNNER_H

#include "bars.h"
#include "events.h"
#include "poses.h"
#include "watch.h"
#include "task.h"

#include "galpha/result.h"

/* Statistics of a run, with those before it was resumed; doubles, since they are part of checkpoints. */
typedef struct app_totals {
  double steps, rejected_error, rejected_newton, rejected_callback, rejected_defect, edges;
  double iterations, factorisations;
  double h_smallest, h_largest;      /* [s] */
  double phi, phi_dot, nonholonomic; /* largest residuals of constraints */
} app_totals;
enum { APP_N_TOTALS = sizeof(app_totals) / sizeof(double) };

typedef struct app_runner {
  app_task s;
  const app_arguments *a;
  char *file; /* of results */
  char *part; /* file.part, where a further round is recorded until it is complete */
  long checkpoint_every;
  double flush_every; /* [s] of the clock */

  ga_meter *meter;
  int metered;   /* 1: the meter is started */
  long wait;     /* steps until do_periodic_work() is needed, */
  double t_wait; /* [s] or the time when it is */
  ga_recorder *recorder;
  int n;          /* signals recorded */
  int *index;     /* [n] of the machine */
  double *values; /* [n], and [n] error bars or [n_own], and those of poses */
  int n_left_out; /* signals that cannot change and were not asked for */
  char **wanted;  /* [n_wanted] names and patterns of --record */
  int n_wanted;
  int n_own;      /* signals of the analysis itself, after those of the machine */
  const char *const *own_names, *const *own_units; /* [n_own] */
  const char *analysis;                            /* NULL: a run */
  app_poses poses;                                 /* rows after all these */
  app_bars bars;
  ga_status written;  /* status of the recorder, kept for the caller of callbacks */
  ga_status followed; /* status of the run in halved steps */
  int retried;        /* number of rounds that failed and were repeated with another tolerance */
  int in_part;        /* 1: the recorder writes r->part */
  char overflow[320]; /* which signal is infinite or not a number; empty: none. Then written is GA_ERR_NAN */

  app_totals before; /* of the runs before this one */
  app_totals worst;  /* of this one: residuals only */
  app_watch watch;
  app_events events;
  double *saved; /* buffer for a checkpoint */
  size_t n_saved;
  double t_saved;     /* [s] time of the checkpoint on the disk */
  int has_saved;      /* 1: there is one */
  double clock_saved; /* [s] clock time when it was written */
  int had_finished;   /* 1: the run to be resumed had finished */
} app_runner;

app_totals app_runner_totals(const app_runner *r);

/* ---- Records (record.c) ---- */

/* Sets the name of the result file; refuses an existing file of another kind. Returns an exit code. */
int app_record_file(app_runner *r);
/* Finds the signals to be recorded: those that --record or the model's `record` asks for, else all that can change. Returns an exit
 * code. */
int app_record_choose(app_runner *r);
/* The number of signals that are left out since they cannot change, for the reader. */
void app_record_print_left_out(const app_runner *r);
void app_record_free(app_runner *r);
/* Without the energies that are summed up along a run, for analyses that sum nothing up. */
void app_record_drop_work(app_runner *r);
/* Opens the result file and writes the model and the options. append 1: continues after its checkpoint. */
ga_status app_record_open(app_runner *r, int append);
/* Records a state. Opens the file if needed: a run that cannot be started does not
 * overwrite earlier results. */
ga_status app_record_state(app_runner *r, const ga_state *s);
/* 1: all of r->values are finite. Otherwise r->overflow names the first that is not. */
int app_record_is_finite(app_runner *r, double t);
/* Computes r->values: signals at a state, and their error bars. */
ga_status app_record_values(app_runner *r, const ga_state *s);
/* The file that is written: the result file, or that of a further round. */
const char *app_record_path(const app_runner *r);

/* The options that a run depends on, by name, as texts; NULL after the last. */
const char *app_record_option(const app_runner *r, int i, char *value, size_t size);

/* ---- Checkpoints (checkpoint.c) ---- */

ga_status app_checkpoint_prepare(app_runner *r); /* allocates it; after the simulator and the meter */
/* Saves what the run needs to continue from here. This drops factors and so changes the last bits of results;
 * therefore all runs of a model do it after the same steps. Writing to the disk changes nothing, so it is
 * done by the clock, or if must_write is 1. */
ga_status app_checkpoint_keep(app_runner *r, int must_write);
/* Restores the run from its file's checkpoint: *resumed 1; 0: there is none. Returns an exit code. */
int app_checkpoint_resume(app_runner *r, int *resumed);
/* With error bars: takes the tolerance of the round in the file. Returns an exit code. */
int app_checkpoint_tolerance(app_runner *r);

/* ---- The end (ending.c) ---- */

/* Closes the file, reports the end of the run and the contents of the file; returns the exit code.
 * stopped_by: the signal, 0: the run finished. */
int app_end_reported(app_runner *r, int stopped_by, double seconds);
/* Closes the file of a round that finished; another one with this tolerance follows. */
ga_status app_end_round(app_runner *r, double tolerance, double seconds);
/* Closes the file of a round that failed and is repeated with this tolerance. */
void app_end_retried(app_runner *r, double tolerance);
/* As app_end_reported(), of a run that failed. started 1: there is a state. */
int app_end_failed(app_runner *r, ga_status status, int started);

#endif
