/* The functions that SuiteSparse, and so KLU, gets its memory from; they carry no pointer of the caller. */
#ifndef GALPHA_TESTS_SPARSE_MEMORY_H
#define GALPHA_TESTS_SPARSE_MEMORY_H

#include <SuiteSparse_config.h>
#include <stdlib.h>

static inline void sparse_memory_use(void *(*get)(size_t bytes), void *(*zeroed)(size_t n, size_t size),
                                     void *(*again)(void *old, size_t bytes), void (*release)(void *block))
{
#if SUITESPARSE_MAIN_VERSION >= 7
  SuiteSparse_config_malloc_func_set(get);
  SuiteSparse_config_calloc_func_set(zeroed);
  SuiteSparse_config_realloc_func_set(again);
  SuiteSparse_config_free_func_set(release);
#else
  SuiteSparse_config.malloc_func = get;
  SuiteSparse_config.calloc_func = zeroed;
  SuiteSparse_config.realloc_func = again;
  SuiteSparse_config.free_func = release;
#endif
}

/* As it is before anyone asks for something else. */
static inline void sparse_memory_reset(void)
{
  sparse_memory_use(malloc, calloc, realloc, free);
}

#endif
