/* The context: allocator, log and last error. */
#include "base/base_impl.h"
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

ga_context_opts ga_context_defaults(void)
{
  return (ga_context_opts){.log_level = GA_LOG_WARNING};
}

ga_status ga_context_create(const ga_context_opts *opts, ga_context **out)
{
  ga_context_opts used = opts ? *opts : ga_context_defaults();
  ga_context *ctx;
  if (!out) return GA_ERR_ARGUMENT;
  *out = NULL;
  if (!used.alloc != !used.release) return GA_ERR_ARGUMENT;
  ctx = used.alloc ? used.alloc(used.alloc_user, sizeof *ctx) : malloc(sizeof *ctx);
  if (!ctx) return GA_ERR_MEMORY;
  *ctx = (ga_context){.opts = used, .error = ga__error_none()};
  *out = ctx;
  return GA_OK;
}

void ga_context_destroy(ga_context **ctx)
{
  if (!ctx || !*ctx) return;
  const ga_context_opts *o = &(*ctx)->opts;
  ga__heap_close(&(*ctx)->heap);
  if (o->release)
    o->release(o->alloc_user, *ctx);
  else
    free(*ctx);
  *ctx = NULL;
}

const ga_error *ga_context_error(const ga_context *ctx)
{
  /* For callers that print the error although the context could not be created. */
  static const ga_error no_context = {.status = GA_ERR_ARGUMENT,
                                      .reason = GA_REASON_OTHER,
                                      .t = NAN,
                                      .h = NAN,
                                      .block = -1,
                                      .index = -1,
                                      .text = "there is no context"};
  if (!ctx) return &no_context;
  ga_context *own = (ga_context *)ctx; /* not const: only ga_context_create() makes contexts */
  ga_error_say(&own->error, GA_SAY_ALL, own->text, sizeof own->text);
  own->error.text = own->text;
  return &own->error;
}

void ga_context_clear_error(ga_context *ctx)
{
  if (ctx) ctx->error = ga__error_none();
}

void *ga__alloc(ga_context *ctx, size_t count, size_t size)
{
  size_t bytes;
  void *block;
  if (size > 0 && count > SIZE_MAX / size) return NULL;
  bytes = count * size;
  if (bytes == 0) bytes = 1; /* malloc(0) may return NULL, which would read as a failure */
  if (!ctx->opts.alloc) return ga__heap_alloc(&ctx->heap, bytes);
  block = ctx->opts.alloc(ctx->opts.alloc_user, bytes);
  return block ? memset(block, 0, bytes) : NULL;
}

void ga__free(ga_context *ctx, void *block)
{
  if (!block) return;
  if (ctx->opts.release)
    ctx->opts.release(ctx->opts.alloc_user, block);
  else
    ga__heap_free(&ctx->heap, block);
}
