/* The bench's problems as the peer takes them. */
#ifndef GALPHA_BENCH_PEER_MODELS_H
#define GALPHA_BENCH_PEER_MODELS_H

#include "chain.h"
#include "ida_peer.h"
#include "problem.h"

ida_model chain_ida_model(const chain *c); /* borrows c */
ida_model andrews_ida_model(void);         /* ex_andrews of examples/ */
ida_model slider_crank_ida_model(void);    /* ex_slider_crank */
ida_model top_ida_model(void);             /* the heavy top, its rotation a unit quaternion */
/* A problem of examples/; enough for one without constraints, the others add their derivatives. */
ida_model example_ida_model(const ex_problem *problem);

#endif
