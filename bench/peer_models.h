/* The bench's problems as the peer takes them. */
#ifndef GALPHA_BENCH_PEER_MODELS_H
#define GALPHA_BENCH_PEER_MODELS_H

#include "chain.h"
#include "ida_peer.h"

ida_model chain_ida_model(const chain *c); /* borrows c */
ida_model andrews_ida_model(void);         /* ex_andrews of examples/ */

#endif
