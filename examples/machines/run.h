/* One run of a machine: its signals at given times, its energy, and how far both are from what is known. */
#ifndef GALPHA_EXAMPLES_MACHINES_RUN_H
#define GALPHA_EXAMPLES_MACHINES_RUN_H

#include "machine.h"

typedef struct mx_options { /* start from mx_options_of() */
  ga_form form;
  ga_method method;
  double h, rho, t_end, rtol; /* rtol 0: equal steps */
} mx_options;

mx_options mx_options_of(const mx_machine *machine);

/* Expressions in t and the signals, and their values at ascending times. */
typedef struct mx_samples {
  int n_texts;
  const char *const *texts;
  int n_times;
  const double *times;
  double *values; /* [n_times*n_texts], filled by the run */
} mx_samples;

typedef struct mx_run {
  const mx_machine *machine;
  mx_options opts;
  mx_builder b;
  ga_stepper *st;
  ga_meter *meter;
  ga_simulator *sim;
  ga_start_report report;
  mx_samples samples;
  ga_expr **expr;             /* [n_texts] */
  int n_signals;              /* of the machine */
  double *signal;             /* [n_signals + 1] the last one is t */
  int *used, n_used;          /* signals that expressions use */
  double *used_value;         /* [n_used] */
  int energy_at, row;         /* signal of the balance; next row of samples */
  double energy0, energy_off; /* [J] balance at the start, largest deviation from it */
  ga_status status;           /* of a callback */
} mx_run;

/* Builds and starts; samples may be NULL, and are borrowed. Whatever comes out, mx_run_close() ends it, and
 * mx_run_explain() says why it failed. */
ga_status mx_run_open(mx_run *run, const mx_machine *machine, const mx_options *opts,
                      const mx_samples *samples);
/* To t_end, filling samples. each (may be NULL) is called at the start and after every step, and stops the
 * run by a value other than 0. */
typedef int (*mx_each_fn)(void *user, mx_run *run, const ga_state *s);
ga_status mx_run_finish(mx_run *run, mx_each_fn each, void *user);
void mx_run_explain(const mx_run *run, ga_status status, char *text, int size);
void mx_run_close(mx_run *run);

/* A machine against its references. */
typedef struct mx_result {
  int n;                            /* references */
  double error[MX_MOST_REFERENCES]; /* largest over all rows, or root mean square if machine->rtol > 0 */
  double at[MX_MOST_REFERENCES];    /* [s] where it is largest */
  double last[MX_MOST_REFERENCES];  /* the signal at the last time compared */
  double energy;                    /* [J] largest error of the balance */
  ga_start_report report;
  ga_stats stats;
  ga_simulate_stats simulate;
  char mobility[2048];               /* ga_machine_report() */
  char failure[GA_ERROR_TEXT + 128]; /* empty where all went well */
} mx_result;

/* 0; otherwise result->failure says why not. */
int mx_compare(const mx_machine *machine, const mx_options *opts, mx_result *result);

#endif
