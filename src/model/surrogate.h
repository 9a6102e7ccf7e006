/* Escapes of JSON that libyaml does not know. */
#ifndef GALPHA_MODEL_SURROGATE_H
#define GALPHA_MODEL_SURROGATE_H

#include "base/base_impl.h"

typedef struct ga__pair {
  int line, column; /* from 0, in the mended text */
} ga__pair;

typedef struct ga__mended {
  char *text; /* NULL: there was nothing to mend */
  size_t length;
  int n, capacity;
  ga__pair *pair;
} ga__mended;

/* Writes pairs of surrogates in double-quoted texts, "\ud83d\ude00", as escapes of one character. What is
 * wrong with the text otherwise stays. GA_ERR_MEMORY, or GA_OK; to be freed in both cases. */
ga_status ga__surrogates_mend(ga_context *ctx, const char *text, size_t length, ga__mended *m);
void ga__mended_free(ga_context *ctx, ga__mended *m);
/* Of a place in the mended text, the column in the one that was given; all from 0. */
int ga__mended_column(const ga__mended *m, int line, int column);

#endif
