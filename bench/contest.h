/* Every code of the bench on every problem, behind one interface. */
#ifndef GALPHA_BENCH_CONTEST_H
#define GALPHA_BENCH_CONTEST_H

#include "cases.h"
#include "spatial_machine.h"
#include "spatial_peers.h"

typedef struct contest_problem {
  const char *name;  /* of its figures, and of a case of cases.h */
  int rods;          /* of a spatial chain; 0: a case */
  spatial_kind kind; /* of a spatial chain */
  int steps;         /* the coarsest number of equal steps */
  int full;          /* 1: with --full only; 2: IDA with --full only */
} contest_problem;

typedef enum contest_mode {
  CONTEST_AUTOMATIC, /* error control by the defaults, and one ladder of tolerances for all problems */
  CONTEST_EQUAL,     /* equal steps, with the Newton tolerance of the case */
  CONTEST_PER_STEP,
  CONTEST_PER_UNIT_STEP,
  CONTEST_IDA,
  CONTEST_SPATIAL_PEER
} contest_mode;

typedef struct contest_code {
  char key[32], title[40]; /* of its figures; of tables and pictures */
  contest_mode mode;
  ga_method method; /* ours */
  int order;        /* ours, with GA_COLLOCATION: 0 chosen */
  ida_form form;
  const spatial_peer *peer;
  const char *setting;        /* what is varied */
  const char *const *options; /* each has a curve of its own; ended by a NULL */
  double first, factor;       /* the first setting, and from one to the next */
  double fine;                /* curves end below this error, */
  int enough;                 /* with so many points: 2 where errors scatter */
} contest_code;

enum { CONTEST_CODES = 32 };

typedef struct contest { /* a problem ready to run */
  const contest_problem *what;
  char title[64];
  const char *error; /* what is compared at the end, by its largest component */
  spatial_chain chain;
  bench_task task;
  spatial_machine machine;
  void *model[CONTEST_CODES]; /* of spatial peers */
  int n_codes;
  contest_code codes[CONTEST_CODES]; /* those that can take the problem */
  double limit;                      /* [s] of CPU of one run */
} contest;

const contest_problem *contest_problem_at(int i); /* NULL at the end */

/* 0; otherwise it said on stderr what is wrong. contest_close() in any case. */
int contest_open(contest *c, const contest_problem *what, int full);
void contest_close(contest *c);

/* One run of a code with one of its options and out->setting; 0, or not: it failed, out->why says why.
 * SPATIAL_SKIPPED: the option makes no sense here. CPU time counts from the creation of the integrator to the
 * end time. */
int contest_run(contest *c, const contest_code *code, int option, point *out);

/* The reference by a second way: ours with order 10 at the finest tolerance. Its error, NaN where it fails.
 */
double contest_reference_off(contest *c);

/* Checks what the peers on the spatial chain rest on: its references, where that is quick, and the Jacobian
 * that IDA gets. 0: good. */
int contest_check(void);

#endif
