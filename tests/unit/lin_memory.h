/* What the tests of matrices share: memory that counts and fails, for contexts and for SuiteSparse. Include
 * after cmocka.h. */
#ifndef GALPHA_TESTS_UNIT_LIN_MEMORY_H
#define GALPHA_TESTS_UNIT_LIN_MEMORY_H

#include "lin_matrices.h"
#include "seeds.h"
#include "sparse_memory.h"
#include <stdlib.h>
#include <string.h>

typedef struct memory {
  long count, live; /* allocations made, and not yet freed */
  long fail_at;     /* the allocation of this number fails; 0: none */
  int kept;         /* it was a change of size: what was there before stays, and may be enough */
  size_t most;      /* larger blocks are refused; 0: none */
} memory;

static void *counted(memory *m, void *old, size_t bytes)
{
  if (++m->count == m->fail_at) {
    m->kept = old != NULL;
    return NULL;
  }
  if (m->most && bytes > m->most) return NULL;
  void *block = realloc(old, bytes);
  if (block && !old) m->live++;
  return block;
}

static void *get_context(void *user, size_t bytes)
{
  return counted(user, NULL, bytes);
}

static void release_context(void *user, void *block)
{
  ((memory *)user)->live--;
  free(block);
}

/* KLU, BTF and AMD allocate through functions without user data. */
static memory klu_memory;
static void *klu_get(size_t bytes)
{
  return counted(&klu_memory, NULL, bytes);
}
static void *klu_get_again(void *block, size_t bytes)
{
  return counted(&klu_memory, block, bytes);
}
static void *klu_get_zeroed(size_t n, size_t size)
{
  void *block = klu_get(n * size);
  return block ? memset(block, 0, n * size) : NULL;
}
static void klu_release(void *block)
{
  if (block) klu_memory.live--;
  free(block);
}

typedef struct fixture {
  ga_context *ctx;
  memory memory;
  rig_random r;
  long n_errors, n_large; /* see is_usual() */
} fixture;

/* Errors of factors of random matrices have a long tail, whatever the pivots: most are below their limit, one
 * in twenty may be above, none by a factor of a hundred. 0: this one is. */
static inline int is_usual(fixture *f, double error, double limit)
{
  f->n_errors++;
  f->n_large += !(error <= limit);
  return error <= 100 * limit;
}

static int set_up(void **state)
{
  fixture *f = calloc(1, sizeof *f);
  if (!f) return -1;
  ga_context_opts opts = ga_context_defaults();
  opts.alloc = get_context;
  opts.release = release_context;
  opts.alloc_user = &f->memory;
  klu_memory = (memory){0};
  f->r = rig_seed(0);
  sparse_memory_use(klu_get, klu_get_zeroed, klu_get_again, klu_release);
  *state = f;
  return ga_context_create(&opts, &f->ctx);
}

/* Every test frees all it made. */
static int tear_down(void **state)
{
  fixture *f = *state;
  ga_context_destroy(&f->ctx);
  const long live = f->memory.live + klu_memory.live, n = f->n_errors, n_large = f->n_large;
  sparse_memory_reset();
  free(f);
  if (n_large > 1 + n / 20) print_error("%ld of %ld errors are above their limit\n", n_large, n);
  return live == 0 && n_large <= 1 + n / 20 ? 0 : -1;
}

#endif
