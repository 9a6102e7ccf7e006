#include "memory.h"
#include "../tests/sparse_memory.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER = 16 }; /* before every block, keeps its size and its alignment */

static memory_count *sparse_count; /* SuiteSparse's hooks carry no pointer of the caller */

static void *count_resize(memory_count *c, void *block, size_t bytes)
{
  char *base = block ? (char *)block - HEADER : NULL;
  size_t old = 0;
  if (base) memcpy(&old, base, sizeof old);
  if (bytes > SIZE_MAX - HEADER || !(base = realloc(base, bytes + HEADER))) return NULL;
  memcpy(base, &bytes, sizeof bytes);
  c->live += bytes - old;
  if (c->live > c->peak) c->peak = c->live;
  return base + HEADER;
}

static void count_release(void *user, void *block)
{
  memory_count *c = user;
  size_t bytes;
  if (!block) return;
  memcpy(&bytes, (char *)block - HEADER, sizeof bytes);
  c->live -= bytes;
  free((char *)block - HEADER);
}

static void *count_alloc(void *user, size_t bytes)
{
  ((memory_count *)user)->calls++;
  return count_resize(user, NULL, bytes);
}
static void *sparse_malloc(size_t bytes)
{
  sparse_count->sparse++;
  return count_resize(sparse_count, NULL, bytes);
}
static void *sparse_realloc(void *block, size_t bytes)
{
  sparse_count->sparse++;
  return count_resize(sparse_count, block, bytes);
}
static void sparse_free(void *block)
{
  count_release(sparse_count, block);
}

static void *sparse_calloc(size_t n, size_t size)
{
  if (size > 0 && n > SIZE_MAX / size) return NULL;
  sparse_count->sparse++;
  void *block = count_resize(sparse_count, NULL, n * size);
  return block ? memset(block, 0, n * size) : NULL;
}

ga_status memory_context_begin(memory_count *count, ga_context **out)
{
  ga_context_opts opts = ga_context_defaults();
  *count = (memory_count){0};
  opts.alloc = count_alloc;
  opts.release = count_release;
  opts.alloc_user = count;
  sparse_count = count;
  sparse_memory_use(sparse_malloc, sparse_calloc, sparse_realloc, sparse_free);
  return ga_context_create(&opts, out);
}

void memory_context_end(ga_context **ctx)
{
  ga_context_destroy(ctx);
  sparse_memory_reset();
}
