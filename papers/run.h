/* One run of a figure: a problem in C or a model file, under a stepper or a simulator. */
#ifndef GALPHA_PAPERS_RUN_H
#define GALPHA_PAPERS_RUN_H

#include "papers_table.h"

enum { PP_COMPONENTS = 12 }; /* most of a quantity */

typedef struct pp_run {
  const pp_figure *f;
  const pp_series *s;
  const ex_problem *problem; /* NULL: there is no reference */
  ga_context *ctx;
  ga_model *model; /* NULL: the problem itself is run */
  const ga_machine *machine;
  ga_system *own; /* of the problem */
  const ga_system *sys;
  ga_run_settings settings;
  ga_scheme scheme;
  ga_stepper *st;
  ga_simulator *sim;
  int n_components[PP_QUANTITIES];
  int signal[PP_QUANTITIES][PP_COMPONENTS]; /* of the machine */
  double sign[PP_QUANTITIES][PP_COMPONENTS];
  double last_h, energy_start;
  int projected;
  char *failure;
  size_t failure_size;
} pp_run;

/* Creates everything and starts with the step h. 0, or 1 with the reason in failure. To be closed always. */
int pp_run_open(pp_run *r, const char *models, double h);
void pp_run_close(pp_run *r);
/* Step number k. */
int pp_run_step(pp_run *r, double h, long k);
/* Components of a quantity now; returns how many, −1 on failure. */
int pp_run_values(pp_run *r, int quantity, double out[PP_COMPONENTS]);
/* The same of a reference's point. */
int pp_point_values(const pp_run *r, int quantity, const ga_point *p, double out[PP_COMPONENTS]);
int pp_run_fail(pp_run *r, const char *what, ga_status status);

#endif
