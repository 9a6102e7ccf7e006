/* Arrays for the time of one call, from a stack of fixed size. */
#include "base/base_impl.h"

#include <math.h>
#include <stdint.h>

enum { APART = 8 }; /* numbers between two arrays, which belong to none */

#if defined(__SANITIZE_ADDRESS__)
#define FORBIDS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FORBIDS 1
#endif
#endif

#ifdef FORBIDS
#include <sanitizer/asan_interface.h>

static void forbid(double *from, size_t n)
{
  ASAN_POISON_MEMORY_REGION(from, n * sizeof *from);
}

static void allow(double *from, size_t n)
{
  ASAN_UNPOISON_MEMORY_REGION(from, n * sizeof *from);
  for (size_t i = 0; i < n; i++) from[i] = NAN; /* what earlier calls left must not matter */
}
#else
static void forbid(double *from, size_t n)
{
  (void)from, (void)n;
}

static void allow(double *from, size_t n)
{
  (void)from, (void)n;
}
#endif

static size_t numbers(const ga__stack *stack)
{
  return stack->depth * (stack->length + APART);
}

ga_status ga__stack_create(ga_context *ctx, size_t depth, size_t length, ga__stack *stack)
{
  *stack = (ga__stack){.depth = depth, .length = length};
  stack->base = length < SIZE_MAX / 2 ? ga__alloc(ctx, length + APART, depth * sizeof *stack->base) : NULL;
  if (stack->base) return GA_OK;
  *stack = (ga__stack){0};
  return ga__refuse(ctx, GA_ERR_MEMORY, GA_REASON_MEMORY,
                    &(ga__facts){.name = "work space", GA__NUMBERS({(double)depth * (double)length, NULL})});
}

void ga__stack_destroy(ga_context *ctx, ga__stack *stack)
{
  if (stack->base) allow(stack->base, numbers(stack));
  ga__free(ctx, stack->base);
  *stack = (ga__stack){0};
}

ga__scratch ga__stack_begin(ga__stack *stack)
{
  forbid(stack->base, numbers(stack));
  return (ga__scratch){stack, 0};
}

double *ga__take(ga__scratch *scratch, int n)
{
  ga__stack *stack = scratch->stack;
  const size_t at = scratch->used < stack->depth ? scratch->used : stack->depth - 1;
  double *array = stack->base + at * (stack->length + APART);
  if (n < 0 || (size_t)n > stack->length) return NULL;
  if (++scratch->used > stack->peak) stack->peak = scratch->used;
  forbid(array,
         numbers(stack) - at * (stack->length + APART)); /* all that calls before have taken from here on */
  allow(array, (size_t)n + 1);                           /* quads read a number behind the end (quad.h) */
  return array;
}

ga_status ga__stack_check(ga_context *ctx, const ga__stack *stack)
{
  if (stack->peak <= stack->depth) return GA_OK;
  return ga__refuse(ctx, GA_ERR_MEMORY, GA_REASON_MEMORY,
                    &(ga__facts){.name = "the work space of one call",
                                 GA__NUMBERS({(double)stack->peak * (double)stack->length, NULL})});
}
