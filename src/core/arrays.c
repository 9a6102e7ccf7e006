/* Arrays of one object, in one block of memory. */
#include "core/arrays.h"

ga_status ga__arrays_create(ga_context *ctx, const ga__array *list, size_t n, const char *what,
                            double **block, size_t *total)
{
  size_t length = 0;
  for (size_t i = 0; i < n; i++) length += list[i].length;
  double *at = *block = ga__alloc(ctx, length + 1, sizeof *at); /* quads read one behind the end (quad.h) */
  if (!at) return ga__no_memory(ctx, what);
  for (size_t i = 0; i < n; i++) {
    *list[i].array = at;
    at += list[i].length;
  }
  if (total) *total = length;
  return GA_OK;
}
