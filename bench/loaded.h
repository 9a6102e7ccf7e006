/* Problems with parameters: forces p_j s_j(t) on their coordinates, p_j = 0, whose derivatives are known. */
#ifndef GALPHA_BENCH_LOADED_H
#define GALPHA_BENCH_LOADED_H

#include "problem.h"

enum { LOADED_PARAMETERS = 64 };

typedef struct loaded {
  ga_system_def inner;
  int nv, which; /* parameter that is not 0; −1: none */
  double p;      /* its value */
} loaded;

/* Puts the forces into def, whose callbacks l then passes on; l->nv is to be set before the first call. */
void loaded_define(loaded *l, ga_system_def *def, int which, double p);
/* ∂r/∂p_j, and of all of them; user is a loaded. */
int loaded_derivative(void *user, const ga_point *p, int parameter, ga_parameter_rates *out);
int loaded_pullback(void *user, const ga_pullback *by, double *gradient);

/* A problem with its systems at all values of all parameters. */
typedef struct loaded_task {
  const ex_problem *problem;
  ga_context *ctx;
  loaded own, load[LOADED_PARAMETERS][GA_PARAMETER_VALUES];
  ga_system *sys, *at[LOADED_PARAMETERS][GA_PARAMETER_VALUES];
  ga_parameter list[LOADED_PARAMETERS];
} loaded_task;

/* step: δ of the parameters. loaded_close() in any case. */
ga_status loaded_open(loaded_task *t, const ex_problem *problem, double step);
void loaded_close(loaded_task *t);

typedef enum loaded_kind {
  LOADED_ALONE,
  LOADED_FORWARD,
  LOADED_FORWARD_EXACT,
  LOADED_ADJOINT,
  LOADED_ADJOINT_PULLED
} loaded_kind;

typedef struct loaded_run {
  loaded_kind kind;
  int n; /* parameters */
  ga_method method;
  double t_end;
  long steps;     /* of equal size; 0: error control, */
  double tol;     /* by this */
  int last_alone; /* the adjoint's number is q[0] of the end; 0: the sum of v[0]²/2 at the ends of all steps
                   */
} loaded_run;

/* One run, starts included. slope[n][nv] of q at the end in the algebra, gradient[n]; both may be NULL. */
ga_status loaded_measure(loaded_task *t, const loaded_run *run, double *slope, double *gradient,
                         ga_stats *stats);

#endif
