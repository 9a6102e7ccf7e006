/* Memory of a document, and names found by a hash. */
#ifndef GALPHA_MODEL_POOL_H
#define GALPHA_MODEL_POOL_H

#include "model/message.h"

/* Many small blocks that are freed together. Start from {ctx}. */
typedef struct ga__pool {
  ga_context *ctx;
  struct ga__chunk *chunk; /* the latest first */
  size_t used, size;       /* of the latest */
} ga__pool;

void *ga__pool_take(ga__pool *pool, size_t bytes); /* zeroed; NULL: out of memory */
char *ga__pool_text(ga__pool *pool, const char *text,
                    size_t bytes); /* a copy with a 0; NULL: out of memory */
void ga__pool_destroy(ga__pool *pool);

/* Names numbered in the order they are added in, found by a hash. They are borrowed. Start from {ctx}. */
typedef struct ga__names {
  ga_context *ctx;
  int n, capacity;
  const char **name;
  int *bucket; /* twice the capacity, a power of 2; number + 1 */
} ga__names;

int ga__names_find(const ga__names *names, const char *name, size_t bytes); /* −1: not there */
/* Adds a name; returns its number, that of an existing one if it is a duplicate; −1: out of memory. */
int ga__names_add(ga__names *names, const char *name);
void ga__names_destroy(ga__names *names);
/* The most similar name to the first bytes of word; "": none, or the limit of searches is reached. */
void ga__names_nearest(char *nearest, ga__messages *m, const ga__names *names, const char *word,
                       size_t bytes);

#endif
