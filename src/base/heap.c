/* Memory of contexts whose caller gives no allocator: malloc, and a few large blocks kept for later requests.
 *
 * Blocks of a certain size are mapped by the system for each request and unmapped on release, whatever malloc
 * has free, and each of their pages costs a page fault when it is touched first: four times the pages of the
 * peak for a start of 1e5 nodes, a third of its time. Released ones are therefore kept and given out again,
 * with the length of the request: realloc moves the pages of such blocks, and copies nothing.
 *
 * What is kept and what is in use are together never more than what has been in use before, and what is kept
 * is at most a part of what is in use. */
#include "base/base_impl.h"

#include <stdalign.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Shorter blocks are reused by malloc itself: glibc maps none below this, once such a block has been
 * released. */
#define LARGE ((size_t)32 << 20)
/* No more is kept than what is in use over this. */
enum { USED_OVER_KEPT = 2 };

/* Before each block; keeps its alignment. */
typedef union header {
  size_t bytes; /* of the block without the header */
  max_align_t align;
} header;

static size_t length(const void *block)
{
  return ((const header *)block - 1)->bytes;
}

static void *take_out(ga__heap *heap, int i)
{
  void *block = heap->block[i];
  heap->kept -= length(block);
  heap->block[i] = heap->block[--heap->n_kept];
  return block;
}

static void drop_smallest(ga__heap *heap)
{
  int least = 0;
  for (int i = 1; i < heap->n_kept; i++)
    if (length(heap->block[i]) < length(heap->block[least])) least = i;
  free((header *)take_out(heap, least) - 1);
}

void ga__heap_close(ga__heap *heap)
{
  while (heap->n_kept > 0) drop_smallest(heap);
}

static void limit(ga__heap *heap)
{
  if (heap->used > heap->peak) heap->peak = heap->used;
  while (heap->n_kept > 0 &&
         (heap->kept > heap->used / USED_OVER_KEPT || heap->kept > heap->peak - heap->used))
    drop_smallest(heap);
}

static void *enclose(ga__heap *heap, header *h, size_t bytes)
{
  if (!h) return NULL;
  h->bytes = bytes;
  heap->used += bytes;
  limit(heap);
  return h + 1;
}

static size_t difference(size_t a, size_t b)
{
  return a > b ? a - b : b - a;
}

/* The kept block of the nearest length, made as long as asked for; NULL: there is none, or no memory. */
static header *reuse(ga__heap *heap, size_t bytes)
{
  int best = 0;
  if (bytes < LARGE || heap->n_kept == 0) return NULL;
  for (int i = 1; i < heap->n_kept; i++)
    if (difference(length(heap->block[i]), bytes) < difference(length(heap->block[best]), bytes)) best = i;
  header *old = (header *)take_out(heap, best) - 1, *h = old;
  if (old->bytes != bytes) h = realloc(old, sizeof *h + bytes);
  if (!h) free(old);
  return h;
}

void *ga__heap_alloc(ga__heap *heap, size_t bytes)
{
  if (bytes > SIZE_MAX - sizeof(header)) return NULL;
  header *h = reuse(heap, bytes);
  if (h) {
    memset(h + 1, 0, bytes);
    return enclose(heap, h, bytes);
  }
  h = calloc(1, sizeof *h + bytes); /* pages of large blocks are zero already */
  if (!h && heap->n_kept > 0) {
    ga__heap_close(heap);
    h = calloc(1, sizeof *h + bytes);
  }
  return enclose(heap, h, bytes);
}

void ga__heap_free(ga__heap *heap, void *block)
{
  heap->used -= length(block);
  if (length(block) < LARGE) {
    free((header *)block - 1);
  } else {
    if (heap->n_kept == GA__HEAP_KEPT) drop_smallest(heap);
    heap->kept += length(block);
    heap->block[heap->n_kept++] = block;
  }
  limit(heap);
}
