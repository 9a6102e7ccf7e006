/* The bench's problems, and one run of either code on them. */
#ifndef GALPHA_BENCH_CASES_H
#define GALPHA_BENCH_CASES_H

#include "peer_models.h"
#include "report.h"

typedef struct bench_case {
  const char *name, *title;
  const char *error;   /* what is compared at the end, by its largest component, and its unit */
  int rods;            /* of a chain; 0: a problem of examples/ */
  const char *example; /* its name */
  double t_end;
  double tip[2];     /* [m] of a chain, the reference; the examples bring their own */
  int n_compared;    /* coordinates of q that count, 0: all, in the algebra; and x */
  int no_commutator; /* 1: the group update of the papers */
  double newton_tol; /* the loosest power of ten that does not show at an error of 1e-5 */
  double v_atol, lambda_atol, first_step; /* of the peer, see ida_opts */
  const char *peer_example;               /* in whose coordinates the peer has it; NULL: in the same */
  ida_model (*peer)(void);                /* of an example; NULL: what the example says is enough */
} bench_case;

const bench_case *bench_case_find(const char *name); /* NULL where there is none such */

typedef struct bench_task { /* a case ready to run, and the settings of both codes */
  const bench_case *what;
  ga_context *ctx;
  chain *chain;
  ga_system_def def;
  ga_system *sys;
  const double *q0, *v0, *x0;
  ida_peer *ida; /* NULL: not in this build */
  double *work;
  ga_stepper_opts ours;     /* set by bench_open(): the defaults, but the case's commutator and newton_tol */
  ga_simulate_opts control; /* where bench_controlled() runs: its error mode */
  ida_opts theirs;          /* set by bench_theirs() */
} bench_task;

/* 0; otherwise it said on stderr what is wrong. bench_close() in any case. */
int bench_open(bench_task *t, const bench_case *what);
void bench_close(bench_task *t);
/* Settings of the peer for a form, as the case wants them. */
void bench_theirs(bench_task *t, ida_form form);

/* opts with that end, and all tolerances equal to tol. */
ga_simulate_opts bench_tolerances(ga_simulate_opts opts, double t_end, double tol);
/* Runs, as curve_measure() takes them; user is a bench_task. CPU time counts from the creation of the
 * integrator to the end time. */
int bench_steps(void *user, point *out);      /* out->setting equal steps */
int bench_controlled(void *user, point *out); /* error control: rtol and atol out->setting, of x and v too */
int bench_ida(void *user, point *out);        /* tolerance out->setting */

#endif
