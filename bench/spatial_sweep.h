/* The peers on the spatial chain at equal tip error. */
#ifndef GALPHA_BENCH_SPATIAL_SWEEP_H
#define GALPHA_BENCH_SPATIAL_SWEEP_H

#include "report.h"
#include "spatial_peers.h"

/* Runs the peer from loose to tight until its tip error is below `target`, and prints the curve. */
void spatial_sweep(curve *c, const spatial_peer *peer, const spatial_chain *chain, double target);

/* [s] CPU time per simulated second of the fastest run of a curve with an error of at most `target`; NaN
 * where there is none. */
double spatial_least_time(const curve *c, const spatial_chain *chain, double target);

/* All peers on one chain; adds "spatial.<kind><n>.<peer>_s" to the report. */
void spatial_sweep_peers(report *r, spatial_kind kind, int n);

#endif
