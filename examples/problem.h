/* What every example provides: a documented system, initial values, and a reference.
 *
 * Each examples/NAME.c defines its problems; examples/main.c runs one of them from the command line,
 * tests/verify measures their orders, bench/ their speed. */
#ifndef GALPHA_EXAMPLES_PROBLEM_H
#define GALPHA_EXAMPLES_PROBLEM_H

#include "galpha/galpha.h"

typedef struct ex_reference { /* the solution at one time; NULL: not known there */
  double t;
  const double *q, *v, *vdot, *lambda, *psi, *x, *y;
} ex_reference;

typedef struct ex_problem {
  const char *name;  /* as in file names and tables: "heavy_top" */
  const char *title; /* one line */
  /* Fills def (already at its defaults): sizes, callbacks, group. The arrays it points to are static. */
  void (*define)(ga_system_def *def);
  double t_end;
  double h;                               /* a sensible step */
  double rho;                             /* a sensible ρ∞ */
  const double *q0, *v0, *x0;             /* x0 NULL where there are no states */
  const double *lambda_guess, *psi_guess; /* NULL: zeros */
  ex_reference reference;                 /* computed independently; reference.t 0: none */
  /* Exact solution at any time, where there is one: fills the arrays of out that are not NULL; else NULL. */
  void (*exact)(double t, double *q, double *v, double *vdot, double *lambda, double *psi);
  /* Energy in J at a state, where it is conserved; else NULL. */
  double (*energy)(const ga_state *s);
} ex_problem;

/* All problems, by name; NULL where there is none such. ex_problem_at(i) lists them, NULL at the end. */
const ex_problem *ex_problem_find(const char *name);
const ex_problem *ex_problem_at(int i);

#endif
