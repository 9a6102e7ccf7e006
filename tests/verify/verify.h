/* Verification of orders, errors, drift and references: a case is one row of a table in cases_*.c. */
#ifndef VERIFY_VERIFY_H
#define VERIFY_VERIFY_H

#include "reference.h"

enum { VF_LEVELS = 5, VF_EXPECTS = 10 }; /* most step sizes of a case, and most rows of expectations */

/* What is measured. The first eight are compared with the reference trajectory, in the 2-norm of the
 * components [first, first+count); q as flat numbers, entries of rotation matrices included. */
typedef enum vf_quantity {
  VF_Q = 0,
  VF_V,
  VF_VDOT,
  VF_LAMBDA,
  VF_PSI,
  VF_X,
  VF_Y,
  VF_A,       /* a at the end, with the acceleration at t + (αm−αf) times the last step */
  VF_PHI,     /* Φ itself, its largest component among those chosen */
  VF_PHI_DOT, /* B v + Φ_t, likewise */
  VF_K,       /* k, likewise */
  VF_ENERGY,  /* |E − E(0)| */
  VF_PROBE    /* |probe − probe(0)| */
} vf_quantity;

typedef enum vf_measure {
  VF_MAX = 0, /* largest over the run */
  VF_END,     /* at the end */
  VF_VALUE,   /* component `first` itself at the end, not its error */
  VF_FLIPS    /* sign changes of the error of component `first` over the last 20 steps */
} vf_measure;

typedef enum vf_norm { VF_2NORM = 0, VF_MAXNORM } vf_norm;

typedef double (*vf_probe_fn)(const ga_state *s);

typedef struct vf_expect {
  const char *label; /* NULL ends the list */
  vf_quantity quantity;
  int first, count; /* count 0: all from first on */
  vf_measure measure;
  vf_norm norm;
  double order;            /* from the two finest steps; 0: not checked */
  double band;             /* how far the order may be off; 0: 0.1 */
  double value[VF_LEVELS]; /* expected, per step size; 0: not known */
  double tolerance;        /* relative, on value; 0: 2 % */
  double at_most;          /* bound at every step size; 0: none */
  vf_probe_fn probe;       /* for VF_PROBE */
} vf_expect;

typedef enum vf_start {
  VF_NAIVE = 0,  /* a₀ = vdot₀, w₀ = xdot₀, v₀ as given */
  VF_CONSISTENT, /* a₀ and w₀ shifted, v₀ as given */
  VF_PERTURBED   /* a₀ and w₀ shifted, v₀ moved by the offset of the index-3 form */
} vf_start;

typedef struct vf_case {
  const char *problem;
  const char *title;  /* what distinguishes the case */
  const char *source; /* where the expected values come from; "" where only orders are expected */
  ga_method method;
  vf_start start;
  double rho;
  double hht; /* 0: the scheme of rho; else that of HHT with this α */
  int commutator;
  ga_adjust adjust;
  int fixed_offset; /* 1: the index-3 form's offset in v does not follow h */
  ga_mass_alpha mass_alpha;
  int full_solve;
  int collocation;  /* order of GA_COLLOCATION */
  const double *v0; /* NULL: the problem's own; must satisfy its constraints */
  double t_end;     /* 0: the problem's */
  double h;         /* coarsest step; t_end must be a multiple of it */
  int levels;       /* number of step sizes */
  int ratio;        /* of one step size to the next; 0: 2 */
  double split; /* 0: constant steps; else alternately split·2h and (1−split)·2h, split of tenths or thirds */
  double project_at; /* 0: never; else the velocity is projected once, at this time */
  ga_projection projection;
  int in_short; /* 1: part of `verify --short` */
  vf_expect expect[VF_EXPECTS];
} vf_case;

/* A problem with a stepper as a case wants it. */
typedef struct vf_setup {
  const vf_case *c;
  const ex_problem *problem;
  ga_system_def def;
  ga_scheme scheme;
  ga_context *ctx;
  ga_system *sys;
  ga_stepper *st;
} vf_setup;

ga_status vf_setup_create(vf_setup *s, const vf_case *c, const ex_problem *problem);
ga_status vf_setup_start(vf_setup *s, double h); /* from the problem's initial values; h: the first step */
void vf_setup_destroy(vf_setup *s);
/* What went wrong, in words. Always 1. */
int vf_setup_fail(const vf_setup *s, const char *what, ga_status status, char *text, size_t size);

/* What was measured: value[level][row of expect]. */
typedef struct vf_result {
  double h[VF_LEVELS];
  double value[VF_LEVELS][VF_EXPECTS];
  long steps, iterations, at_floor;
  char failure[GA_ERROR_TEXT + 128]; /* empty where every run reached its end */
} vf_result;

/* Runs a case at all its step sizes; `problem` has the case's v0 already. ref holds the solution at every
 * time that the case looks at. */
void vf_case_run(const vf_case *c, const ex_problem *problem, vf_reference *ref, vf_result *result);
double vf_case_end(const vf_case *c, const ex_problem *problem);
/* Distance of the samples that a reference for this case needs, and whether the end alone would do. */
double vf_case_spacing(const vf_case *c, const ex_problem *problem);

/* Where checks outside the tables go. */
typedef struct vf_sink {
  void *user;
  int brief; /* 1: the short selection */
  int (*wanted)(void *user, const char *problem);
  int (*check)(void *user, int good, const char *problem, const char *title, const char *text); /* → good */
} vf_sink;

/* Error control, estimates and events (cases_control.c). */
void vf_control_run(const vf_sink *sink);

#endif
