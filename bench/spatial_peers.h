/* Other codes on the spatial chain, all behind one interface: a model made once, and runs of it. */
#ifndef GALPHA_BENCH_SPATIAL_PEERS_H
#define GALPHA_BENCH_SPATIAL_PEERS_H

#include "spatial_chain.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { SPATIAL_WHY = 160 };

typedef struct spatial_outcome {
  double tip[3]; /* [m] at the end */
  double steps, iterations, factorisations;
  char why[SPATIAL_WHY]; /* of a failure */
} spatial_outcome;

typedef struct spatial_peer {
  const char *name;    /* of its figures */
  const char *title;   /* code and method */
  const char *setting; /* what the accuracy given to run() is: "tolerance", "accuracy", "step [s]" */
  /* The chain as the code wants it; NULL on failure. */
  void *(*open)(const spatial_chain *c);
  /* Everything from the initial values to t_end; not 0: failed, out->why says why. Never
   * exits, never prints. */
  int (*run)(void *model, double accuracy, spatial_outcome *out);
  void (*close)(void *model);
} spatial_peer;

/* The peers of this build, ended by a NULL; those that are not installed by their names. */
const spatial_peer *const *spatial_peers(void);
const char *const *spatial_peers_missing(void);

/* One run on its own: CPU time [s] of run(), without open(); tip_error [m] against the reference, NaN without
 * one. NaN if it failed. */
double spatial_peer_cpu(const spatial_peer *peer, spatial_kind kind, int n, double accuracy,
                        double *tip_error);

extern const spatial_peer spatial_ida_ggl, spatial_ida_index1; /* with HAVE_SUNDIALS */
extern const spatial_peer spatial_simbody_merson;              /* with HAVE_SIMBODY */
extern const spatial_peer spatial_mujoco_rk4;                  /* with HAVE_MUJOCO */

#ifdef __cplusplus
}
#endif
#endif
