/* Work space of fixed size, used as a stack. */
#include "base/base_impl.h"

ga_status ga__arena_create(ga_context *ctx, size_t doubles, ga__arena *arena)
{
  *arena = (ga__arena){0};
  arena->base = ga__alloc(ctx, doubles, sizeof *arena->base);
  if (!arena->base)
    return ga__refuse(ctx, GA_ERR_MEMORY, GA_REASON_MEMORY,
                      &(ga__facts){.name = "work space", GA__NUMBERS({(double)doubles, NULL})});
  arena->size = doubles;
  return GA_OK;
}

void ga__arena_destroy(ga_context *ctx, ga__arena *arena)
{
  ga__free(ctx, arena->base);
  *arena = (ga__arena){0};
}

double *ga__arena_take(ga__arena *arena, size_t doubles)
{
  double *block;
  if (doubles > arena->size - arena->used) return NULL;
  block = arena->base + arena->used;
  arena->used += doubles;
  return block;
}
