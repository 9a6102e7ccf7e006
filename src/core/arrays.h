/* Arrays of one object, in one block of memory (arrays.c). */
#ifndef GALPHA_CORE_ARRAYS_H
#define GALPHA_CORE_ARRAYS_H

#include "base/base_impl.h"

typedef struct ga__array {
  double **array;
  size_t length; /* 0: points behind the array before */
} ga__array;

/* Allocates all arrays, zeroed and contiguous, in *block, to be freed by ga__free(). total, if not NULL,
 * receives its length. `what`: their purpose, for the error message. */
ga_status ga__arrays_create(ga_context *ctx, const ga__array *list, size_t n, const char *what,
                            double **block, size_t *total);

#define GA__ARRAYS(list) (list), sizeof(list) / sizeof *(list)

#endif
