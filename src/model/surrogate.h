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

/* Replaces surrogate pairs in double-quoted texts, "\ud83d\ude00", by escapes of one character; other errors
 * of the text are kept. Returns GA_OK or GA_ERR_MEMORY; m has to be freed in both cases. */
ga_status ga__surrogates_mend(ga_context *ctx, const char *text, size_t length, ga__mended *m);
void ga__mended_free(ga_context *ctx, ga__mended *m);
/* Column in the original text of a place in the new one; all from 0. */
int ga__mended_column(const ga__mended *m, int line, int column);

#endif
