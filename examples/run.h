/* What the programs `example` and `orders` share: options, one run of a problem, and its errors. */
#ifndef GALPHA_EXAMPLES_RUN_H
#define GALPHA_EXAMPLES_RUN_H

#include "problem.h"
#include <stdio.h>

enum { EX_EXIT_FAILED = 1, EX_EXIT_USAGE = 2 };

/* ---- Options ---- */

typedef struct ex_options { /* start from ex_options_defaults() */
  double h, rho, t_end;     /* NaN: what the problem says */
  ga_method method;
  int commutator;
} ex_options;

ex_options ex_options_defaults(void);

/* Entries of a getopt_long table, and their explanation. */
/* clang-format off */
#define EX_OPTIONS_LONG                               \
  {"h", required_argument, NULL, 'h'},                \
  {"rho", required_argument, NULL, 'r'},              \
  {"t-end", required_argument, NULL, 't'},            \
  {"method", required_argument, NULL, 'm'},           \
  {"no-commutator", no_argument, NULL, 'c'},          \
  {"list", no_argument, NULL, 'l'},                   \
  {"help", no_argument, NULL, 'H'}
/* clang-format on */
#define EX_OPTIONS_HELP                                                                                      \
  "  --h H             step [s] (default: the problem's)\n"                                                  \
  "  --rho R           spectral radius at infinity, 0 to 1 (default: the problem's)\n"                       \
  "  --t-end T         end time [s] (default: the problem's)\n"                                              \
  "  --method M        stabilized (default), index3, soi2, hht-soi2 or weighted\n"                           \
  "  --no-commutator   update rotations as in the papers, without the term (h²/12)[v_n,v₁]\n"             \
  "  --list            list the problems\n"                                                                  \
  "  --help            this text\n"

/* One option of the table other than list and help. 0: taken; otherwise it said on stderr what is wrong. */
int ex_options_take(ex_options *opts, int option, const char *argument);
/* The number in text, which must lie in [low, high]; 0: taken; otherwise it said on stderr what is wrong. */
int ex_number_take(const char *option, const char *text, double low, double high, double *value);

/* Replaces NaN by what the problem says, and h by the next smaller step that divides t_end. 0; otherwise it
 * said on stderr that this is too many steps. */
int ex_options_complete(ex_options *opts, const ex_problem *problem);

void ex_problems_list(FILE *out);
/* The problem named by the n arguments that are left, and opts completed for it. NULL: it said on stderr what
 * is wrong, with the nearest name where there is none such. */
const ex_problem *ex_problem_ask(int n, char *const *names, ex_options *opts, const char *usage);
/* Name, title and method, without an end of line. */
void ex_task_print(const ex_problem *problem, const ex_options *opts);

/* ---- One run ---- */

typedef enum ex_component {
  EX_Q,
  EX_V,
  EX_VDOT,
  EX_LAMBDA,
  EX_PSI,
  EX_X,
  EX_Y,
  EX_N_COMPONENTS
} ex_component;
extern const char *const ex_component_name[EX_N_COMPONENTS];

typedef struct ex_run {
  const ex_problem *problem;
  ex_options opts;
  long n; /* steps to t_end */
  ga_context *ctx;
  ga_system *sys;
  ga_stepper *st;
  ga_start_report report;
  double energy_start;            /* [J] NaN where the problem has none */
  int length[EX_N_COMPONENTS];    /* of the component in the state; of q: nq */
  double *error[EX_N_COMPONENTS]; /* after ex_run_measure(): state − reference, of q in the algebra, nv long;
                                     NULL where the problem has no such part or no reference at this time */
  double *memory;                 /* behind error[] */
} ex_run;

/* Creates everything and starts; opts are complete. Whatever the outcome, ex_run_close() ends it;
 * ex_run_explain() says why not. */
ga_status ex_run_open(ex_run *run, const ex_problem *problem, const ex_options *opts);
/* To t_end; observer may be NULL. */
ga_status ex_run_finish(ex_run *run, ga_observer_fn observer, void *user);
/* Fills error[] from the present state; returns how many components have a reference. */
int ex_run_measure(ex_run *run);
double ex_run_error_norm(const ex_run *run, ex_component c); /* 2-norm; NaN where error[c] is NULL */
int ex_run_error_length(const ex_run *run, ex_component c);
const double *ex_state_component(const ga_state *s, ex_component c);
void ex_run_explain(const ex_run *run, ga_status status, FILE *out);
void ex_run_close(ex_run *run);

#endif
