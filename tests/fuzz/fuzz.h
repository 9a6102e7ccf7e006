/* What the fuzz targets share: a context whose blocks are counted, so that a leak is a failure at once. */
#ifndef GALPHA_TESTS_FUZZ_H
#define GALPHA_TESTS_FUZZ_H

#include "galpha/base.h"
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static long fuzz_live;

static inline void *fuzz_get(void *user, size_t bytes)
{
  void *block = malloc(bytes);
  (void)user;
  if (block) fuzz_live++;
  return block;
}

static inline void fuzz_release(void *user, void *block)
{
  (void)user;
  fuzz_live--;
  free(block);
}

static inline ga_context *fuzz_open(void)
{
  ga_context_opts o = ga_context_defaults();
  ga_context *ctx = NULL;
  o.alloc = fuzz_get;
  o.release = fuzz_release;
  return ga_context_create(&o, &ctx) ? NULL : ctx;
}

static inline void fuzz_close(ga_context *ctx)
{
  ga_context_destroy(&ctx);
  if (fuzz_live != 0) abort();
}

#endif
