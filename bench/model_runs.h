/* Models from files, run by the simulator. */
#ifndef GALPHA_BENCH_MODEL_RUNS_H
#define GALPHA_BENCH_MODEL_RUNS_H

#include "galpha/model.h"

typedef struct model_counts {
  ga_stats stepper;
  ga_simulate_stats simulator;
  double seconds; /* of the processor, from the start on */
} model_counts;

/* Runs the model of this file with opts, whose t_end is that of the model, or shorter for models that take
 * long, and with rtol and atol of all kinds from `tol`. What fails is said in a line that begins with the
 * name. */
ga_status model_run(const char *path, const char *name, double tol, const ga_simulate_opts *opts,
                    model_counts *counts);
/* Calls visit for every model of a folder of the sources, in the order of their names, or for the one called
 * `only` (NULL: all). Returns the sum of what visit returned; *n grows by the number of models. */
int models_each(const char *folder, const char *only,
                int (*visit)(void *user, const char *path, const char *name), void *user, int *n);

#endif
