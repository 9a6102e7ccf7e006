/* Other codes on the spatial chain, all behind one interface: a model made once, and runs of it. */
#ifndef GALPHA_BENCH_SPATIAL_PEERS_H
#define GALPHA_BENCH_SPATIAL_PEERS_H

#include "spatial_chain.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { SPATIAL_WHY = 160 };

typedef struct spatial_outcome {
  double limit;  /* [s] given to run(): of CPU time, after which equal steps may be given up */
  double tip[3]; /* [m] at the end */
  double steps, iterations, factorisations;
  char why[SPATIAL_WHY]; /* of a failure */
} spatial_outcome;

typedef struct spatial_peer {
  const char *name;           /* of its figures */
  const char *title;          /* of the code */
  const char *setting;        /* what the accuracy given to run() is: "tolerance", "accuracy", "step [s]" */
  double first, factor;       /* the loosest setting, and from one to the next */
  const char *const *options; /* methods, orders, solvers: each has a curve of its own; ended by a NULL */
  /* The chain as the code wants it; NULL on failure. */
  void *(*open)(const spatial_chain *c);
  /* Everything from the initial values to t_end with options[option]; not 0: failed, out->why says why.
   * SPATIAL_SKIPPED: this option makes no sense for the chain. Never exits, never prints. */
  int (*run)(void *model, int option, double accuracy, spatial_outcome *out);
  void (*close)(void *model);
} spatial_peer;

enum { SPATIAL_SKIPPED = 1000 };

/* The peers of this build, ended by a NULL; those that are not installed by their names. */
const spatial_peer *const *spatial_peers(void);
const char *const *spatial_peers_missing(void);

extern const spatial_peer spatial_ida_ggl, spatial_ida_index1; /* with HAVE_SUNDIALS */
extern const spatial_peer spatial_mujoco;                      /* with HAVE_MUJOCO */

/* Of the module that HAVE_SIMBODY names: its only symbol, `spatial_simbody`. */
extern const spatial_peer spatial_simbody;

#ifdef __cplusplus
}
#endif
#endif
