/* Counts what galpha and the sparse solver below it hold in memory. */
#ifndef GALPHA_BENCH_MEMORY_H
#define GALPHA_BENCH_MEMORY_H

#include "galpha/base.h"

typedef struct memory_count {
  size_t live, peak;    /* [bytes] */
  size_t calls, sparse; /* requests for memory: galpha's own, and SuiteSparse's */
} memory_count;

/* A context whose allocations are counted; SuiteSparse's are too, until memory_context_end(). One
 * at a time. */
ga_status memory_context_begin(memory_count *count, ga_context **out);
void memory_context_end(ga_context **ctx);

#endif
