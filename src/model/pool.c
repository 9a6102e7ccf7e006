/* Memory of a document, and names found by a hash. */
#include "model/pool.h"

#include "mbs/name.h"
#include <limits.h>
#include <stdint.h>
#include <string.h>

/* ---- Pools ---- */

enum { FIRST_CHUNK = 4096, LARGEST_CHUNK = 1 << 20, FIRST_NAMES = 16 };

typedef union unit { /* of alignment */
  double number;
  void *pointer;
  long whole;
} unit;

typedef struct ga__chunk {
  struct ga__chunk *next;
  unit block[];
} ga__chunk;

void *ga__pool_take(ga__pool *pool, size_t bytes)
{
  if (bytes > SIZE_MAX / 4) return NULL;
  const size_t units = (bytes + sizeof(unit) - 1) / sizeof(unit);
  if (!pool->chunk || units > pool->size - pool->used) {
    size_t size = pool->chunk ? 2 * pool->size : FIRST_CHUNK / sizeof(unit);
    if (size > LARGEST_CHUNK / sizeof(unit)) size = LARGEST_CHUNK / sizeof(unit);
    if (size < units) size = units;
    ga__chunk *chunk = ga__alloc(pool->ctx, 1, sizeof *chunk + size * sizeof(unit));
    if (!chunk) return NULL;
    chunk->next = pool->chunk;
    pool->chunk = chunk;
    pool->size = size;
    pool->used = 0;
  }
  void *block = pool->chunk->block + pool->used;
  pool->used += units;
  return block;
}

char *ga__pool_text(ga__pool *pool, const char *text, size_t bytes)
{
  char *copy = bytes < SIZE_MAX ? ga__pool_take(pool, bytes + 1) : NULL;
  return copy && bytes > 0 ? memcpy(copy, text, bytes) : copy;
}

void ga__pool_destroy(ga__pool *pool)
{
  while (pool->chunk) {
    ga__chunk *next = pool->chunk->next;
    ga__free(pool->ctx, pool->chunk);
    pool->chunk = next;
  }
  *pool = (ga__pool){.ctx = pool->ctx};
}

/* ---- Names: open addressing, at most half full ---- */

/* FNV-1a */
static uint32_t hash(const char *name, size_t bytes)
{
  uint32_t h = 2166136261u;
  for (size_t i = 0; i < bytes; i++) h = (h ^ (unsigned char)name[i]) * 16777619u;
  return h;
}

/* The bucket of that name, or the empty one for it. */
static int *find_bucket(int *bucket, int capacity, const char *const *known, const char *name, size_t bytes)
{
  const uint32_t mask = 2 * (uint32_t)capacity - 1;
  uint32_t i = hash(name, bytes) & mask;
  while (bucket[i]) {
    const char *other = known[bucket[i] - 1];
    if (strncmp(other, name, bytes) == 0 && !other[bytes]) break;
    i = (i + 1) & mask;
  }
  return &bucket[i];
}

int ga__names_find(const ga__names *names, const char *name, size_t bytes)
{
  if (names->n == 0) return -1;
  return *find_bucket(names->bucket, names->capacity, names->name, name, bytes) - 1;
}

static int grow(ga__names *names)
{
  if (names->capacity > INT_MAX / 8) return 0;
  const int capacity = names->capacity ? 2 * names->capacity : FIRST_NAMES;
  const char **name = ga__alloc(names->ctx, (size_t)capacity, sizeof *name);
  int *bucket = ga__alloc(names->ctx, 2 * (size_t)capacity, sizeof *bucket);
  if (!name || !bucket) {
    ga__free(names->ctx, name);
    ga__free(names->ctx, bucket);
    return 0;
  }
  for (int i = 0; i < names->n; i++) {
    name[i] = names->name[i];
    *find_bucket(bucket, capacity, name, name[i], strlen(name[i])) = i + 1;
  }
  ga__free(names->ctx, names->name);
  ga__free(names->ctx, names->bucket);
  names->name = name;
  names->bucket = bucket;
  names->capacity = capacity;
  return 1;
}

int ga__names_add(ga__names *names, const char *name)
{
  const size_t bytes = strlen(name);
  const int found = ga__names_find(names, name, bytes);
  if (found >= 0) return found;
  if (names->n == names->capacity && !grow(names)) return -1;
  names->name[names->n] = name;
  *find_bucket(names->bucket, names->capacity, names->name, name, bytes) = names->n + 1;
  return names->n++;
}

void ga__names_destroy(ga__names *names)
{
  ga__free(names->ctx, names->name);
  ga__free(names->ctx, names->bucket);
  *names = (ga__names){.ctx = names->ctx};
}

static const char *name_at(const void *names, int i)
{
  return ((const ga__names *)names)->name[i];
}

void ga__names_nearest(char *nearest, ga__messages *m, const ga__names *names, const char *word, size_t bytes)
{
  nearest[0] = '\0';
  if (bytes < GA_TEXT_PIECE && ga__messages_may_search(m, names->n))
    ga__name_nearest(nearest, word, (int)bytes, name_at, names, names->n);
}
